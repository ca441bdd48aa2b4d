/* engine_venue.h - a running engine for the engine benchmarks: one market, traders with cash, an
 * index price of 100,000, and orders of one trader. One C file of a program includes it. */
#ifndef BENCH_ENGINE_VENUE_H
#define BENCH_ENGINE_VENUE_H

#include "engine/engine.h"
#include "engine_load.h"

static const uint8_t OPERATOR_KEY[32] = { 1 }, ORACLE_KEY[32] = { 2 };

static uint64_t venue_deposit = UINT64_C(100000000000000); /* of each trader, micro-USDC */
static const char *venue_accounts = "131072";

static int compare_rows(const void *a, const void *b)
{
    return strcmp((*(const struct option_row *const *)a)->name,
                  (*(const struct option_row *const *)b)->name);
}

/* Writes the body of a record 2013 with the defaults, two keys and tables for the load. */
static uint32_t configuration(char body[LOAD_BODY_MAX])
{
    const struct option_row *rows[OPTION_COUNT];
    uint32_t count = 0, at = 0;

    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (option_row((enum option)i)->engine && option_row((enum option)i)->built)
            rows[count++] = option_row((enum option)i);
    qsort(rows, count, sizeof rows[0], compare_rows);
    memset(body, 0, LOAD_BODY_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = rows[i]->name, *value = rows[i]->initial;
        if (strcmp(name, "exchange.operator_key") == 0)
            value = "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        if (strcmp(name, "exchange.oracle_keys") == 0)
            value = "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        if (strcmp(name, "exchange.id") == 0)
            value = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        if (strcmp(name, "limits.open_orders") == 0 ||
            strcmp(name, "limits.account_open_orders") == 0)
            value = "100000";
        if (strcmp(name, "engine.orders") == 0)
            value = "2097152";
        if (strcmp(name, "engine.accounts") == 0)
            value = venue_accounts;
        if (strcmp(name, "engine.portfolios") == 0 || strcmp(name, "engine.positions") == 0)
            value = strcmp(venue_accounts, value) > 0 || strlen(venue_accounts) > strlen(value)
                        ? venue_accounts
                        : value;
        if (strcmp(name, "engine.credentials") == 0 && strlen(venue_accounts) > 6)
            value = "4194304";
        if (strcmp(name, "engine.deposits") == 0 && strlen(venue_accounts) > 6)
            value = "2097152";
        at += (uint32_t)snprintf(body + at, LOAD_BODY_MAX - at, "%s=%s\n", name, value);
    }
    return (at + 7) & ~7u;
}

static void add_traders(struct load_venue *venue, uint32_t traders)
{
    for (uint32_t n = 1; n <= traders; n++) {
        uint8_t create[80] = { 0 }, deposit[56] = { 0 }, master[33];
        load_key(0xA5, n, master, sizeof master);
        load_key(0x5A, n, create, 32);
        load_request(venue, REQUEST_create_account_secp256k1, create, sizeof create, master,
                     sizeof master);
        cc_store64(deposit, n);
        cc_store64(deposit + 16, venue_deposit);
        cc_store32(deposit + 24, n);
        load_request(venue, REQUEST_deposit_credit, deposit, sizeof deposit, OPERATOR_KEY, 32);
    }
}

static void oracle_body(uint8_t body[24], uint64_t publish_ns, uint64_t price)
{
    memset(body, 0, 24);
    cc_store64(body, publish_ns);
    cc_store64(body + 8, price);
    cc_store16(body + 16, 1);
    cc_store16(body + 20, 1); /* source */
}

/* Opens the venue. `prepare` runs after the configuration, when the duplicate set is open; it may
 * be NULL. */
static void venue_open(struct load_venue *venue, uint32_t traders,
                       void (*prepare)(struct load_venue *venue))
{
    static const uint8_t boot[24] = { 1, 0, 0, 0, 0, 0, 0, 0, ENGINE_RULES_VERSION };
    static struct option_engine capacity;
    static char body[LOAD_BODY_MAX];
    uint8_t oracle[24];
    uint32_t body_bytes = configuration(body);

    *venue = (struct load_venue){ .t_ns = LOAD_START_NS, .random = 1 };
    venue->sink.sink.emit = load_count;
    if (!option_parse_engine(&capacity, (const uint8_t *)body, body_bytes))
        abort();
    venue->bytes = engine_bytes(&capacity);
    venue->memory = load_map(venue->bytes);
    madvise(venue->memory, engine_bytes_resident(&capacity) & ~(size_t)4095, MADV_POPULATE_WRITE);
    venue->engine = engine_init(venue->memory, venue->bytes, LOAD_KEY, &capacity);
    load_node(venue, REQUEST_boot, boot, sizeof boot);
    load_node(venue, REQUEST_configuration, body, body_bytes);
    if (prepare != NULL)
        prepare(venue);
    memset(body, 0, sizeof body);
    memcpy(body, LOAD_MARKET, sizeof LOAD_MARKET);
    load_node(venue, REQUEST_market_define, body, (sizeof LOAD_MARKET + 7) & ~7u);
    add_traders(venue, traders);
    oracle_body(oracle, venue->t_ns + 1000, LOAD_PRICE);
    load_request(venue, REQUEST_oracle_price, oracle, sizeof oracle, ORACLE_KEY, 32);
}

static void venue_close(struct load_venue *venue)
{
    munmap(venue->memory, venue->bytes);
}

/* Makes a limit order of trader n in a zeroed slot: GTC, EXPIRE_MAKER. */
static void order_build(struct load_venue *venue, struct command *command, uint32_t n,
                        int64_t quantity, uint64_t price)
{
    uint8_t body[48] = { 0 }, key[32];

    cc_store64(body, n);
    cc_store64(body + 16, price);
    cc_store64(body + 24, (uint64_t)quantity);
    cc_store64(body + 32, UINT64_MAX);
    body[42] = 1;
    cc_store16(body + 44, 1);
    load_key(0x5A, n, key, sizeof key);
    load_sign(venue, command, REQUEST_place_limit_order, body, sizeof body, key, sizeof key);
}

#endif
