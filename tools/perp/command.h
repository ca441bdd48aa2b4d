/* command.h - every command of perp and the exit codes they share. */
#ifndef PERP_COMMAND_H
#define PERP_COMMAND_H

#include "perp/arguments.h"
#include "perp/cash_command.h"
#include "perp/context.h"
#include "perp/order_command.h"
#include "perp/store_command.h"

/* clang-format off */
#define EXIT_CODE_LIST(X) \
    X(accepted,   0, "done: the exchange accepted the request, or the command worked") \
    X(rejected,   1, "the exchange answered and refused: the status says why; of a data directory: it is wrong somewhere") \
    X(usage,      2, "the command line, the configuration or a local file is wrong; nothing was sent") \
    X(problem,    3, "the exchange answered with an HTTP error and a problem object; of a data directory: it is none") \
    X(connection, 4, "no connection, or it ended before the answer: the request may have been executed") \
    X(malformed,  5, "decode: the bytes are no payload, or one that the exchange refuses") \
    X(drifting,   6, "time: half of the window of request ids is used up by this machine's clock") \
    X(clock,      7, "time: ids of this machine's clock are refused")

/* Sets of flags that go together. */
#define FLAGS_SIGNED  (FLAG(explain) | FLAG(dry_run) | FLAG(binary) | FLAG(id))
#define FLAGS_WHERE   (FLAG(account) | FLAG(subaccount) | FLAG(portfolio))
#define FLAGS_ORDER   (FLAGS_SIGNED | FLAGS_WHERE | FLAG(session_key) | FLAG(ack))
#define FLAGS_MASTER  (FLAGS_SIGNED | FLAG(account) | FLAG(master_key))
#define FLAGS_LIST    (FLAG(api_key) | FLAG(portfolio) | FLAG(all))
#define FLAGS_PAGE    (FLAG(limit) | FLAG(offset) | FLAG(before))
#define FLAGS_KEY     (FLAG(label) | FLAG(scope) | FLAG(pin))

/*    words, handler, positionals, flags, summary, text */
#define COMMAND_LIST(X) \
    X("keys new", command_keys_new, "CURVE FILE", FLAG(show) | FLAG(force), \
      "make a signing key", \
      "CURVE is ed25519 (sessions, operator, oracle) or secp256k1 (master keys). FILE gets mode\n" \
      "0600. Only the public key is printed, unless --show.") \
    X("keys show", command_keys_show, "FILE", FLAG(show), \
      "print the public key of a key file", "") \
    X("account create", command_account_create, "", \
      FLAGS_SIGNED | FLAG(master_key) | FLAG(session_key) | FLAG(label) | FLAG(scope) | \
      FLAG(expires) | FLAG(save), \
      "open an account with a master key and a first session", \
      "Signed by --master-key (EIP-712), which becomes the first admin key; --session-key is\n" \
      "admitted with it. Key files that do not exist are made. --save keeps account and keys in\n" \
      "the profile.") \
    X("account show", command_account_show, "", FLAG(api_key), \
      "the account of the API key", "") \
    X("session create", command_session_create, "", \
      FLAGS_MASTER | FLAG(new_key) | FLAG(session_key) | FLAG(scope) | FLAG(pin) | FLAG(expires), \
      "admit another session key", \
      "Signed by --master-key. The key admitted is --new-key, else --session-key.") \
    X("session revoke", command_session_revoke, "PUBLIC_KEY", FLAGS_MASTER, \
      "end a session", "PUBLIC_KEY is the Base64 public key of the session, or its key file.") \
    X("session revoke-all", command_session_revoke_all, "", FLAGS_MASTER, \
      "end every session", "Signed by --master-key. API keys stay: perp apikey revoke.") \
    X("apikey create", command_apikey_create, "", \
      FLAGS_MASTER | FLAGS_KEY | FLAG(session_key) | FLAG(signer) | FLAG(out) | FLAG(save), \
      "make an API key for reads and settings", \
      "A key of --scope READ_WRITE also sets a leverage. It is shown once and never again: --out\n" \
      "writes it to a file, --save into the profile.") \
    X("apikey revoke", command_apikey_revoke, "API_KEY_ID", \
      FLAGS_MASTER | FLAG(session_key) | FLAG(signer), \
      "end an API key", "API_KEY_ID is the api_key_id that was shown when it was made.") \
    X("deposit", command_operator_deposit, "AMOUNT", \
      FLAGS_SIGNED | FLAGS_WHERE | FLAG(operator_key) | FLAG(ref), \
      "credit a portfolio (operator)", "AMOUNT in USDC, at most 6 decimals.") \
    X("oracle", command_operator_oracle, "MARKET PRICE", \
      FLAGS_SIGNED | FLAG(oracle_key) | FLAG(sources), \
      "publish an index price (oracle)", "Signed by --oracle-key. The publish time is now.") \
    X("market define", command_operator_market, "FILE", FLAGS_SIGNED | FLAG(operator_key), \
      "define or change a market (operator)", \
      "FILE holds one market record as JSON; '-' reads standard input.") \
    X("market state", command_operator_state, "MARKET STATE", \
      FLAGS_SIGNED | FLAG(operator_key) | FLAG(force), \
      "say what a market lets in (operator)", \
      "STATE is ACTIVE, POST_ONLY, REDUCE_ONLY, CANCEL_ONLY, HALTED or CLOSED. Entering REDUCE_ONLY\n" \
      "cancels every resting order that is not reduce-only. A held index is taken as it is now.\n" \
      "CLOSED is final: it settles every position, after an hour of REDUCE_ONLY or with --force.") \
    X("market halt-all", command_operator_halt, "[STATE]", FLAGS_SIGNED | FLAG(operator_key), \
      "halt every market, or give all of them STATE (operator)", \
      "STATE as for 'market state'; HALTED without it.") \
    X("order", command_trade_order, "MARKET SIDE SIZE [PRICE]", \
      FLAGS_ORDER | FLAG(tif) | FLAG(post_only) | FLAG(reduce_only) | FLAG(stp) | \
      FLAG(market_bare) | FLAG(max_slippage), \
      "place a limit order, or a market order", \
      "SIDE is buy or sell. SIZE is in base units, PRICE in USDC, both plain decimals. --market in\n" \
      "place of PRICE takes what the book has, no further from the mark than --max-slippage. The\n" \
      "order's id is the request id. After a lost answer send the same line with --id: it never\n" \
      "acts twice.") \
    X("amend", command_amend_order, "MARKET ORDER_ID", \
      FLAGS_ORDER | FLAG(api_key) | FLAG(reduce_by) | FLAG(size) | FLAG(price) | FLAG(tif) | \
      FLAG(post_only) | FLAG(reduce_only) | FLAG(stp) | FLAG(side) | FLAG(expected_remaining), \
      "change a resting order", \
      "--reduce-by makes it smaller; it keeps its place. The other flags replace it: what they do\n" \
      "not name stays as the exchange shows it (read with the API key), and when the size is kept\n" \
      "the order must still be that large, or nothing is changed. A lower size alone keeps the\n" \
      "place, another price or a higher size loses it. With --side nothing is read: --size and\n" \
      "--price are needed and the rest is as in a new order.") \
    X("cancel", command_trade_cancel, "MARKET ORDER_ID", FLAGS_ORDER, \
      "cancel one order", "") \
    X("cancel-all", command_trade_cancel_all, "[MARKET]", \
      FLAGS_ORDER | FLAG(side) | FLAG(all) | FLAG(conditional), \
      "cancel every order of a portfolio", "Without MARKET: in all markets.") \
    ORDER_COMMAND_LIST(X) \
    CASH_COMMAND_LIST(X) \
    X("show", command_read_order, "ORDER_ID", FLAG(api_key), \
      "one order", "") \
    X("orders", command_list_orders, "", \
      FLAGS_LIST | FLAGS_PAGE | FLAG(subaccount) | FLAG(market) | FLAG(status) | FLAG(open), \
      "orders, newest first", \
      "Every order of the account that the key sees, or those that the flags name. -o json shows\n" \
      "all their members.") \
    X("fills", command_list_fills, "", FLAGS_LIST | FLAGS_PAGE | FLAG(subaccount), \
      "fills of a subaccount, newest first", "") \
    X("positions", command_list_positions, "", FLAGS_LIST | FLAG(market), \
      "open positions with mark, liquidation price and margins", "") \
    X("leverage", command_leverage_market, "MARKET [N]", \
      FLAG(api_key) | FLAG(subaccount) | FLAG(portfolio), \
      "set the leverage of a portfolio in a market, or show it", \
      "Needs an API key of scope READ_WRITE to set it. Without N: that of the open position.") \
    X("request", command_read_request, "REQUEST_ID", FLAG(api_key), \
      "what became of a signed request", \
      "'request_not_found' says that it was not executed; once its id is older than the window of\n" \
      "request ids it never will be.") \
    X("balances", command_list_balances, "", FLAG(api_key), \
      "every portfolio with its cash, equity and margins", "") \
    X("subaccounts", command_list_subaccounts, "", FLAG(api_key), \
      "every subaccount with its cash", "") \
    X("balance", command_read_balance, "", FLAG(api_key) | FLAG(subaccount) | FLAG(portfolio), \
      "cash, equity and margins of a portfolio", "") \
    X("book", command_read_book, "MARKET", FLAG(depth), \
      "the order book", "") \
    X("watch book", command_watch_book, "MARKET", FLAG(depth) | FLAG(interval) | FLAG(count), \
      "the order book, read again and again", \
      "Redraws a terminal; elsewhere it prints one line a read, with -o json the whole answer.\n" \
      "Ctrl-C ends it.") \
    X("trades", command_list_trades, "MARKET", FLAG(limit) | FLAG(before), \
      "public trades, newest first", "") \
    X("markets", command_read_markets, "[MARKET]", 0, \
      "market records", "") \
    X("exchange", command_read_exchange, "", 0, \
      "what this exchange is and has", "") \
    X("status", command_read_status, "", 0, \
      "is the exchange ready, and how far it is", "") \
    X("limits", command_read_limits, "", FLAG(api_key), \
      "the exchange's limits, and what is left of yours", "") \
    X("time", command_time_offset, "", FLAG(count), \
      "this machine's clock against the exchange's", \
      "offset_ns is the exchange's clock minus this one's, from the shortest of the round trips,\n" \
      "and known to half of it. The verdict compares it with the window of request ids: ok,\n" \
      "drifting (exit code 6) or refused (exit code 7).") \
    X("decode", command_decode, "[TEXT]", FLAG(format) | FLAG(frame) | FLAG(market), \
      "name every byte of a signed payload", \
      "TEXT is a payload in Base64 or hex, or a whole JSON envelope; without it, or for '-',\n" \
      "standard input is read. --frame: the binary frame, which ends with public key and signature.") \
    STORE_COMMAND_LIST(X)
/* clang-format on */

enum exit_code {
#define X(name, code, help) EXIT_CODE_##name = (code),
    EXIT_CODE_LIST(X)
#undef X
};

typedef int command_handler(struct context *context);

struct command_row {
    const char *words;
    command_handler *handler;
    const char *positionals; /* "[X]": may be left out */
    uint64_t flags;          /* besides those that every command takes */
    const char *summary, *text;
};

#define X(words, handler, positionals, flags, summary, text) int handler(struct context *context);
COMMAND_LIST(X)
#undef X

/* All commands in the order of the table; *count gets their number. */
const struct command_row *command_table(size_t *count);

#endif
