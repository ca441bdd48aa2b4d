/* arguments.h - parses the command line of perp.
 *
 * One table of flags and one of commands (commands.def) serve parsing, help texts, manual pages and
 * completion. */
#ifndef PERP_INVOCATION_ARGUMENTS_H
#define PERP_INVOCATION_ARGUMENTS_H

#include <stdio.h>

#include "perp/invocation/settings.h"

enum { ARGUMENTS_WORDS_MAX = 8, ARGUMENTS_ERROR_MAX = 1024, ARGUMENTS_NAME_MAX = 32 };

/* clang-format off */
/* A name ends in _bare if another row has the same word with a value: --market MARKET filters a
 * list, --market makes a market order. The command decides which one is meant. */
/*    name           value       help */
#define FLAG_LIST(X) \
    X(help,          NULL,       "what the command does and takes") \
    X(output,        "FORMAT",   "-o: table (for people) or json (for programs); default table") \
    X(config,        "FILE",     "configuration file instead of ~/.config/perp/config") \
    X(profile,       "NAME",     "section of the configuration file; default 'default'") \
    X(explain,       NULL,       "print the bytes signed and the curl command that sends the same") \
    X(dry_run,       NULL,       "sign, but send nothing; --explain then shows what would be sent") \
    X(binary,        NULL,       "send the binary frame instead of the JSON envelope") \
    X(id,            "UUID",     "request id (UUIDv7); the same id again never acts twice") \
    X(tif,           "WHEN",     "GTC, IOC, FOK or GTT:TIME as GTT:2030-01-31T12:00:00Z; default GTC") \
    X(post_only,     NULL,       "rest or be rejected, never take") \
    X(reduce_only,   NULL,       "only shrink the position") \
    X(stp,           "MODE",     "meeting an own order: EXPIRE_TAKER (default), EXPIRE_MAKER, " \
                                 "EXPIRE_BOTH, DECREMENT") \
    X(side,          "SIDE",     "cancel-all: buys or sells (default both); amend: buy or sell") \
    X(all,           NULL,       "every portfolio of the subaccount") \
    X(market_bare,   NULL,       "a market order: no PRICE, never rests") \
    X(max_slippage,  "SLIPPAGE", "how far from the mark it may trade: 0.5% or 5000ppm; default the market's") \
    X(ack,           "ACK",      "full: all evidence of what happened; binary: 64 bytes; receipt: what the exchange signs of it") \
    X(reduce_by,     "SIZE",     "take this much off; the order keeps its priority") \
    X(size,          "SIZE",     "new remaining size; default as it is") \
    X(price,         "PRICE",    "new price; default as it is; bench: that the oracle publishes") \
    X(expected_remaining, "SIZE", "change nothing unless this much of the order is left") \
    X(open,          NULL,       "only orders that are live") \
    X(status,        "STATUS",   "only orders of this order_status") \
    X(limit,         "N",        "rows to show, 1 to 20000; default 100") \
    X(offset,        "N",        "rows to pass over first") \
    X(before,        "PLACE",    "only rows older than SEQUENCE:INDEX") \
    X(interval,      "SECONDS",  "least time between two pictures, 0.05 to 3600; default top: 1, watch: each change") \
    X(count,         "N",        "watch: end after so many lines or books; top: pictures; time: samples, default 8") \
    X(depth,         "N",        "levels of each side, 1 to 1000; default 10") \
    X(label,         "TEXT",     "a name for people, at most 32 bytes") \
    X(scope,         "SCOPE",    "session: FULL_ACCESS (default) or TRADING_ONLY; API key: READ " \
                                 "(default) or READ_WRITE") \
    X(pin,           "INDEX",    "only this subaccount; default the whole account") \
    X(expires,       "TIME",     "end of its life, as 2030-01-31T12:00:00Z; default 30 days, of an order none") \
    X(signer,        "WHICH",    "session (default) or master") \
    X(new_key,       "FILE",     "session key file to be admitted; made when it does not exist") \
    X(ref,           "HEX",      "64 hex digits naming the payment: the same one credits once; default fresh") \
    X(sources,       "N",        "number of price sources behind the price; default 1") \
    X(out,           "FILE",     "write the secret to this file (mode 0600) instead of printing it") \
    X(save,          NULL,       "keep the result in the profile of the configuration file") \
    X(show,          NULL,       "print the secret too") \
    X(force,         NULL,       "overwrite an existing file; market state: CLOSED without its hour of REDUCE_ONLY") \
    X(oco,           "UUID",     "group of which the first that fires cancels the others") \
    X(conditional,   NULL,       "conditional orders that wait too") \
    X(format,        "FORM",     "base64, hex or raw; default: told from the text") \
    X(frame,         NULL,       "the bytes are a binary frame: payload, public key, signature") \
    X(exchange_id,   "HEX",      "exchange_id of GET /exchange, by which a Secp256k1 signature is verified") \
    X(data,          "DIR",      "data directory; default PERPD_STORE_DATA, else ./perpd-data; bench: where to make it") \
    X(archive_copy,  "DIR",      "the store.archive_copy of the exchange: read where archive/ lacks a file or has a wrong one") \
    X(from,          "SEQUENCE", "the first record; follow: default what comes from now on; watch: what comes after this seq") \
    X(to,            "SEQUENCE", "the last record; default the journal's last; restore: or a time")  \
    X(code,          "N",        "only records of this request code") \
    X(from_snapshot, "SEQUENCE", "begin behind this snapshot; 0: at the first record") \
    X(hash,          NULL,       "show effects hash and image hash") \
    X(timing,        NULL,       "time each command by the TSC, and show the times by kind of command") \
    X(diff,          NULL,       "say what differs first: from the directory's own hashes and snapshots, or from OTHER") \
    X(accept_end,    "SEQUENCE", "the sequence with which the journal ends, as the refusal says") \
    X(follow,        NULL,       "go on with each frame as it becomes durable, until a signal ends it") \
    X(head,          "FILE",     "heads that somebody kept: as GET /heads shows them, or their bytes") \
    X(journal,       "DIR",      "data directory whose journal must have what the receipt says") \
    X(memory,        NULL,       "show what the memory of the perpd of --admin-url is for instead") \
    X(root,          "DIR",      "read /proc and /sys below this folder, as of another machine's copy") \
    X(reason,        "TEXT",     "why, 1 to 64 characters; kept in the data directory") \
    X(rate,          "RATE",     "requests that are due a second; default 1000") \
    X(schedule,      "FORM",     "constant (default), poisson, bursts:N, ramp:FROM:TO:STEPS, closed") \
    X(seconds,       "S",        "length of a pass, of each step of a ramp; default 5") \
    X(warm_up,       "S",        "the same load before each pass, in no figure; default 1") \
    X(repeats,       "N",        "passes, 1 to 1000; default 1") \
    X(connections,   "N",        "open connections, 1 to 16384; default 64") \
    X(pipeline,      "N",        "requests in flight on a connection, 1 to 256; default 1") \
    X(accounts,      "N",        "accounts that sign, 1 to 100000; default 16") \
    X(mix,           "KINDS",    "parts of place, amend, cancel, market, read; default place=1") \
    X(sign,          "WHEN",     "ahead (default): before the run; inline: when a request is sent") \
    X(corpus,        "FILE",     "send what 'bench gen' signed instead") \
    X(seed,          "N",        "of the requests and of the schedule; default 1") \
    X(perpd,         "FILE",     "the perpd to start; default the one beside perp") \
    X(durability,    "MODE",     "store.durability of it: local (default) or none") \
    X(set,           "OPTIONS",  "further options of it, as node.topology=shared,net.threads=1") \
    X(results,       "DIR",      "write result.json, percentiles, histogram log and pictures there") \
    X(admin_url,     "URL",      "admin listener of the exchange; bench: of that at --url, for the server's figures") \
    X(beside,        "COMMAND",  "a shell command that runs beside the load; PERF_URL is the address") \
    X(tolerance,     "PERCENT",  "what B may be worse by, 0 to 1000; default 5") \
    X(start_in,      "S",        "seconds from the signing to the first request; default 10, with --run 0") \
    X(run,           "COMMAND",  "shell command that sends the corpus: PERP_CORPUS, PERP_URL, PERP_ADMIN_URL, PERP_DATA") \
    X(commands,      "N",        "bench journal: signed commands, 1 to 100000000; default 1000000") \
    X(websocket,     NULL,       "send over streams, as the op 'signed'") \
    X(market,        "MARKET",   "lists: only this market; decode: show prices and sizes in its units; bench: the market")
/* clang-format on */

enum flag {
#define X(name, value, initial, help) FLAG_##name,
    SETTINGS_LIST(X)
#undef X
#define X(name, value, help) FLAG_##name,
        FLAG_LIST(X)
#undef X
            FLAG_COUNT
};

typedef uint128 flag_set; /* bit FLAG_x */
static_assert(FLAG_COUNT <= 128, "a set of flags is one flag_set");
static_assert((int)FLAG_url == (int)SETTING_url, "a setting is a flag of the same number");

#define FLAG(name) ((flag_set)1 << FLAG_##name)

struct context;

typedef int command_handler(struct context *context);

/* A row of the table of commands (commands.def). */
struct command_row {
    const char *words;
    command_handler *handler;
    const char *positionals; /* "[X]": may be left out */
    flag_set flags;          /* besides those of every command */
    const char *summary, *text;
};

struct arguments {
    const struct command_row *table; /* every command */
    size_t table_count;
    const struct command_row *command;
    const char *values[FLAG_COUNT]; /* NULL: not given; "" for a flag without value */
    const char *words[ARGUMENTS_WORDS_MAX];
    uint32_t word_count;
    bool json; /* -o json */
};

enum arguments_result {
    ARGUMENTS_OK,
    ARGUMENTS_HELP,  /* `error` is empty: help was asked for; command NULL: of everything */
    ARGUMENTS_WRONG, /* a sentence in `error` */
};

/* Reads a command line of the commands in `table`, which outlives *arguments. */
enum arguments_result arguments_parse(struct arguments *arguments, const struct command_row *table,
                                      size_t table_count, int argc, char **argv,
                                      char error[ARGUMENTS_ERROR_MAX]);

/* One row of the flags as people write it. */
struct arguments_flag {
    char name[ARGUMENTS_NAME_MAX];      /* without the dashes */
    const char *value, *initial, *help; /* value NULL: has none; initial "": no default */
};

void arguments_flag(struct arguments_flag *row, enum flag flag);

/* Every flag of a command, with those of every command; NULL: only those. */
flag_set arguments_flags(const struct command_row *command);

/* The help of the command that was named, or of everything if none was, on a stream. */
void arguments_help(FILE *out, const struct arguments *arguments);

static inline bool arguments_has(const struct arguments *arguments, enum flag flag)
{
    return arguments->values[flag] != NULL;
}

#endif
