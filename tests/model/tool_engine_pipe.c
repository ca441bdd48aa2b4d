/* The engine behind a pipe: a model in another language sends commands and reads what they caused.
 *
 * Request, little-endian:  u32 bytes that follow; u8 what; u8 kind; u16 code; u32 flags;
 *                          u64 clock_ns (b, o, p, s, u: account id); then
 *   'c'  u16 payload_bytes, u16 key_bytes, u16 extra_bytes, u16 zero; payload, key, extra
 *        (kind 0: the body alone; kind 1: Header, RequestId, body; the signature is not looked at;
 *        flags: of enum command_flag)
 *   'b'  u32 subaccount, u32 portfolio   -> struct row_balance (base/row.h), or nothing
 *   's'  u32 subaccount, u32 zero        -> struct row_subaccount, or nothing
 *   'k'  32 bytes of symbol, u32 depth   -> struct row_book, then struct row_level each
 *   'm'  32 bytes of symbol              -> struct row_mark, or nothing
 *   'o'                                  -> struct row_order of each live order
 *   'p'                                  -> struct row_position of each position
 *   'u'                                  -> struct row_account, or nothing
 *   'a'                                  -> struct row_audit
 * Reply:  u32 bytes that follow; for 'c' u64 sequence, u64 t_ns, u8 status, u8 reason,
 *   u8 original_status, u8 members, u32 effect_count, u64 account_id, then per effect u16 code,
 *   u16 asset, u32 index, 48 bytes (wire.md W3c).
 * Replies are in the order of the requests and are flushed when the input has nothing more ready.
 *
 * Bound. A request has at most REQUEST_MAX bytes, a reply holds at most EFFECTS_MAX effects. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/row.h"
#include "crypto/derive.h"
#include "engine/engine.h"
#include "engine/view/audit.h"
#include "engine/view/read_orders.h"
#include "engine/view/read_positions.h"
#include "engine/whole_subaccount.h"

enum {
    REQUEST_MAX = 8192,
    EFFECTS_MAX = 1 << 16,
    EFFECT_BYTES = 56,
    REPLY_HEAD_BYTES = 104,
    REPLY_MAX = REPLY_HEAD_BYTES + EFFECTS_MAX * EFFECT_BYTES,
    HEAD_BYTES = 16,
    DEPTH_MAX = 1000,
};

static const struct mix_key key = { 0x243F6A8885A308D3, 0x13198A2E03707344 };

struct pipe_sink {
    struct engine_sink sink; /* first */
    uint32_t count;
    uint8_t *at;
};

static uint8_t reply[REPLY_MAX];

static void collect(struct engine_sink *sink, const struct effect *effect)
{
    struct pipe_sink *pipe = (struct pipe_sink *)(void *)sink;
    if (pipe->count == EFFECTS_MAX) {
        fprintf(stderr, "more than %d effects of one command\n", EFFECTS_MAX);
        exit(1);
    }
    pipe->count++;
    cc_store16(pipe->at, effect->code);
    cc_store16(pipe->at + 2, effect->asset_id);
    cc_store32(pipe->at + 4, effect->index);
    memcpy(pipe->at + 8, effect->bytes, EFFECT_BODY_BYTES);
    pipe->at += EFFECT_BYTES;
}

static void send_reply(uint32_t bytes)
{
    fwrite(&bytes, sizeof bytes, 1, stdout);
    fwrite(reply, 1, bytes, stdout);
}

static struct command *compose(const uint8_t *request)
{
    static alignas(64) uint8_t bytes[sizeof(struct command) + REQUEST_MAX];
    struct command *command = (struct command *)(void *)bytes;
    memset(command, 0, sizeof *command);
    command->kind = request[1];
    command->code = cc_load16(request + 2);
    command->flags = (uint8_t)cc_load32(request + 4);
    command->payload_bytes = cc_load16(request + HEAD_BYTES);
    command->key_bytes = cc_load16(request + HEAD_BYTES + 2);
    command->extra_bytes = cc_load16(request + HEAD_BYTES + 4);

    const uint8_t *from = request + HEAD_BYTES + 8;
    uint8_t *to = command->bytes;
    memcpy(to, from, (size_t)command->payload_bytes + command->key_bytes);
    from += command->payload_bytes + command->key_bytes;
    to += command->payload_bytes + command->key_bytes;
    memset(to, 0, command_signature_bytes(command));
    memcpy(to + command_signature_bytes(command), from, command->extra_bytes);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    derive_command(command, key);
    return command;
}

static void run_command(struct engine *engine, const uint8_t *request)
{
    struct engine_result result;
    struct pipe_sink sink = { .sink = { collect }, .at = reply + REPLY_HEAD_BYTES };
    struct command *command = compose(request);

    command->t_ns = engine_time_next(engine, cc_load64(request + 8));
    if (command->kind == COMMAND_UNSIGNED || !engine_peek(engine, command, command->t_ns, &result))
        engine_apply(engine, command, &sink.sink, &result);
    memset(reply, 0, REPLY_HEAD_BYTES);
    cc_store64(reply, result.sequence);
    cc_store64(reply + 8, result.processed_at_ns);
    reply[16] = result.status;
    reply[17] = result.reason;
    reply[18] = result.original_status;
    reply[19] = result.members;
    cc_store32(reply + 20, sink.count);
    cc_store64(reply + 24, result.account_id);
    cc_store64(reply + 32, engine_has_work(engine));
    const uint64_t evidence[] = { result.remaining,      result.filled,      result.filled_notional,
                                  result.quantity_ahead, result.best_bid,    result.best_ask,
                                  result.book_seq,       result.order_status };
    memcpy(reply + 40, evidence, sizeof evidence);
    send_reply((uint32_t)(sink.at - reply));
}

static void run_balance(const struct engine *engine, const uint8_t *request)
{
    struct row_balance row;
    bool found = read_balance(engine, cc_load64(request + 8), cc_load32(request + HEAD_BYTES),
                              cc_load32(request + HEAD_BYTES + 4), &row);
    memcpy(reply, &row, sizeof row);
    send_reply(found ? (uint32_t)sizeof row : 0);
}

static void run_subaccount(const struct engine *engine, const uint8_t *request)
{
    struct row_subaccount row;
    bool found =
        whole_subaccount(engine, cc_load64(request + 8), cc_load32(request + HEAD_BYTES), &row);
    memcpy(reply, &row, sizeof row);
    send_reply(found ? (uint32_t)sizeof row : 0);
}

static void run_book(const struct engine *engine, const uint8_t *request)
{
    static struct row_level levels[2 * DEPTH_MAX];
    struct row_book row;
    char symbol[32];
    uint32_t depth = cc_load32(request + HEAD_BYTES + sizeof symbol);
    memcpy(symbol, request + HEAD_BYTES, sizeof symbol);
    if (depth > DEPTH_MAX || !read_book(engine, symbol, depth, &row, levels)) {
        send_reply(0);
        return;
    }
    size_t bytes = (row.bid_count + row.ask_count) * sizeof levels[0];
    memcpy(reply, &row, sizeof row);
    memcpy(reply + sizeof row, levels, bytes);
    send_reply((uint32_t)(sizeof row + bytes));
}

static void run_mark(const struct engine *engine, const uint8_t *request)
{
    struct row_mark row;
    char symbol[32];
    memcpy(symbol, request + HEAD_BYTES, sizeof symbol);
    bool found = read_mark(engine, symbol, &row);
    memcpy(reply, &row, sizeof row);
    send_reply(found ? (uint32_t)sizeof row : 0);
}

/* Every row of the account. */
static struct read_filter everything(uint64_t account_id)
{
    return (struct read_filter){ .account_id = account_id,
                                 .subaccount_index = QUERY_ANY_INDEX,
                                 .portfolio_index = QUERY_ANY_INDEX,
                                 .status = QUERY_ANY_STATUS };
}

static void run_orders(const struct engine *engine, const uint8_t *request)
{
    struct read_filter filter = everything(cc_load64(request + 8));
    static struct read_orders cursor;
    struct row_order row;
    uint32_t bytes = 0;
    read_orders_begin(&cursor, &filter, 0, 0);
    while (bytes + sizeof row <= sizeof reply && read_orders_next(&cursor, engine, &row)) {
        memcpy(reply + bytes, &row, sizeof row);
        bytes += (uint32_t)sizeof row;
    }
    send_reply(bytes);
}

static void run_positions(const struct engine *engine, const uint8_t *request)
{
    struct read_filter filter = everything(cc_load64(request + 8));
    struct read_positions cursor;
    struct row_position row;
    uint32_t bytes = 0;
    read_positions_begin(&cursor, engine, &filter);
    while (bytes + sizeof row <= sizeof reply && read_positions_next(&cursor, engine, &row)) {
        memcpy(reply + bytes, &row, sizeof row);
        bytes += (uint32_t)sizeof row;
    }
    send_reply(bytes);
}

static void run_account(const struct engine *engine, const uint8_t *request)
{
    struct row_account row;
    bool found = read_account(engine, cc_load64(request + 8), &row);
    memcpy(reply, &row, sizeof row);
    send_reply(found ? (uint32_t)sizeof row : 0);
}

static void run_audit(const struct engine *engine)
{
    struct row_audit row;
    audit_read(engine, &row, NULL);
    memcpy(reply, &row, sizeof row);
    send_reply(sizeof row);
}

static struct engine *make_engine(void)
{
    struct option_engine capacity = { .values = {
                                          [OPTION_engine_accounts] = 4096,
                                          [OPTION_engine_portfolios] = 8192,
                                          [OPTION_engine_orders] = 65536,
                                          [OPTION_engine_positions] = 65536,
                                          [OPTION_engine_credentials] = 16384,
                                          [OPTION_engine_deposits] = 65536,
                                          [OPTION_engine_ladder_pages] = 65536,
                                          [OPTION_limits_duplicate_slots] = 1 << 21,
                                          [OPTION_exchange_clock_past_ms] = 30000,
                                          [OPTION_exchange_clock_future_ms] = 5000,
                                      } };
    size_t bytes = (engine_bytes(&capacity) + 4095) & ~(size_t)4095;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return engine_init(memory, bytes, key, &capacity);
}

/* Nothing more to read at once: what was answered must be seen by the model. */
static void flush_if_idle(void)
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    if (poll(&input, 1, 0) == 0)
        fflush(stdout);
}

/* False: no such request. */
static bool run(struct engine *engine, const uint8_t *request)
{
    switch (request[0]) {
    case 'c':
        run_command(engine, request);
        return true;
    case 'b':
        run_balance(engine, request);
        return true;
    case 's':
        run_subaccount(engine, request);
        return true;
    case 'k':
        run_book(engine, request);
        return true;
    case 'm':
        run_mark(engine, request);
        return true;
    case 'o':
        run_orders(engine, request);
        return true;
    case 'p':
        run_positions(engine, request);
        return true;
    case 'u':
        run_account(engine, request);
        return true;
    case 'a':
        run_audit(engine);
        return true;
    default:
        return false;
    }
}

int main(void)
{
    static uint8_t request[REQUEST_MAX];
    struct engine *engine = make_engine();
    uint32_t bytes;

    setvbuf(stdin, NULL, _IONBF, 0);
    while (fread(&bytes, sizeof bytes, 1, stdin) == 1) {
        if (bytes < HEAD_BYTES || bytes > sizeof request || fread(request, bytes, 1, stdin) != 1 ||
            !run(engine, request))
            return 1;
        flush_if_idle();
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
