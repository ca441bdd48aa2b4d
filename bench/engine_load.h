/* engine_load.h - an engine with one market and traders, and signed orders in the form that the
 * matcher gets, for the engine benchmarks. One C file of a program includes it.
 *
 * Units. Those of the engine: raw prices with one decimal, raw quantities with five (BTC-PERP). */
#ifndef BENCH_ENGINE_LOAD_H
#define BENCH_ENGINE_LOAD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/state/state.h"

enum {
    LOAD_ACCOUNTS = 64,
    LOAD_SLOT_BYTES = 2 * MESSAGE_SLOT_BYTES, /* an order has two ring slots */
    LOAD_BODY_MAX = 4120,
    LOAD_PRICE = 1000000,
};

static const uint64_t LOAD_START_NS = 1760000000000000000;
static const struct mix_key LOAD_KEY = { 0x0123456789ABCDEF, 0xFEDCBA9876543210 };

/* The market of W10, as json.md J5 writes it. */
static const char LOAD_MARKET[] =
    "{\"market\":\"BTC-PERP\",\"asset_id\":1,\"base\":\"BTC\",\"price_decimals\":1,"
    "\"size_decimals\":5,\"tick_size\":\"0.1\",\"lot_size\":\"0.00001\",\"min_size\":\"0.00001\","
    "\"max_order_size\":\"10995116.27775\",\"min_notional\":\"10\",\"impact_notional\":\"20000\","
    "\"max_leverage\":50,\"tiers\":[{\"upper_notional\":\"20000000\",\"max_leverage\":50},"
    "{\"upper_notional\":\"100000000\",\"max_leverage\":25},{\"upper_notional\":\"500000000\","
    "\"max_leverage\":10},{\"upper_notional\":null,\"max_leverage\":5}],\"price_band_ppm\":100000,"
    "\"max_slippage_ppm\":50000,\"fees\":["
    "{\"tier\":0,\"maker_fee_rate\":\"0.00015\",\"taker_fee_rate\":\"0.00045\"},"
    "{\"tier\":1,\"maker_fee_rate\":\"0.00012\",\"taker_fee_rate\":\"0.0004\"},"
    "{\"tier\":2,\"maker_fee_rate\":\"0.00008\",\"taker_fee_rate\":\"0.00035\"},"
    "{\"tier\":3,\"maker_fee_rate\":\"0.00004\",\"taker_fee_rate\":\"0.0003\"},"
    "{\"tier\":4,\"maker_fee_rate\":\"0\",\"taker_fee_rate\":\"0.00028\"},"
    "{\"tier\":5,\"maker_fee_rate\":\"-0.00002\",\"taker_fee_rate\":\"0.00026\"}]}";

/* Counts the effects; a primary's sink does little more. */
struct load_sink {
    struct engine_sink sink; /* first */
    uint64_t effect_count;
    uint64_t trade_count;
};

struct load_venue {
    struct load_sink sink;
    struct engine *engine;
    void *memory;
    size_t bytes;
    uint64_t t_ns;
    uint64_t random;
};

static inline uint64_t load_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint32_t load_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((load_random(state) >> 32) * bound >> 32);
}

static inline void *load_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static void load_count(struct engine_sink *sink, const struct effect *effect)
{
    struct load_sink *counts = (struct load_sink *)sink;
    counts->effect_count++;
    counts->trade_count += effect->code == EFFECT_trade;
}

static void load_key(uint8_t kind, uint32_t n, uint8_t *key, uint32_t bytes)
{
    memset(key, kind, bytes);
    key[0] = 2;
    memcpy(key + 1, &n, sizeof n);
}

/* Makes a signed request in `command` (zeroed), dated inside the window of t. */
static inline void load_sign(struct load_venue *venue, struct command *command, uint16_t code,
                             const void *body, uint32_t body_bytes, const uint8_t *key,
                             uint32_t key_bytes)
{
    uint64_t ms = venue->t_ns / 1000000 - load_below(&venue->random, 64);
    uint64_t id[2] = { __builtin_bswap64(ms << 16 | 0x7000),
                       (load_random(&venue->random) & ~UINT64_C(0xC0)) | 0x80 };
    uint64_t account;

    command->t_ns = venue->t_ns;
    command->code = code;
    command->kind = COMMAND_SIGNED;
    command->flags = COMMAND_SESSION_KEY_VALID;
    command->payload_bytes = (uint16_t)(REQUEST_BODY_AT + body_bytes);
    command->key_bytes = (uint16_t)key_bytes;
    memcpy(command->bytes + REQUEST_HEADER_BYTES, id, sizeof id);
    memcpy(command->bytes + REQUEST_BODY_AT, body, body_bytes);
    memcpy(command->bytes + command->payload_bytes, key, key_bytes);
    memcpy(&account, body, sizeof account);
    if (code == REQUEST_create_account_secp256k1 || code >= REQUEST_oracle_price) {
        memcpy(&account, key, sizeof account);
        command->duplicate_account = account | UINT64_C(1) << 63;
        account = command->duplicate_account;
    }
    command->request_hash = mix_id(LOAD_KEY, account, (const uint8_t *)id);
    if (code == REQUEST_order_cancel || code == REQUEST_order_reduction ||
        code == REQUEST_order_replacement)
        command->target_hash = mix_id(LOAD_KEY, account, command_body(command) + 16);
}

/* Peeks, then applies, as the matcher does. */
static inline enum status load_apply(struct load_venue *venue, const struct command *command)
{
    struct engine_result result;

    if (!engine_peek(venue->engine, command, command->t_ns, &result))
        engine_apply(venue->engine, command, &venue->sink.sink, &result);
    return (enum status)result.status;
}

static inline void load_node(struct load_venue *venue, uint16_t code, const void *body,
                             uint32_t body_bytes)
{
    alignas(16) uint8_t space[sizeof(struct command) + LOAD_BODY_MAX] = { 0 };
    struct command *command = (struct command *)(void *)space;

    command->t_ns = ++venue->t_ns;
    command->code = code;
    command->payload_bytes = (uint16_t)body_bytes;
    memcpy(command->bytes, body, body_bytes);
    if (load_apply(venue, command) != STATUS_request_completed)
        abort();
}

static inline void load_request(struct load_venue *venue, uint16_t code, const void *body,
                                uint32_t body_bytes, const uint8_t *key, uint32_t key_bytes)
{
    alignas(16) uint8_t space[1024] = { 0 };
    struct command *command = (struct command *)(void *)space;

    venue->t_ns += 1000;
    load_sign(venue, command, code, body, body_bytes, key, key_bytes);
    enum status status = load_apply(venue, command);
    if (status != STATUS_request_completed && status != STATUS_account_created_with_session)
        abort();
}

#endif
