/* adl_quantile: fifths of a market's side by score (json.md J2; rules.md R7, Score), by hand and
 * against a count over all holders. */
#include "check.h"
#include "engine/rig.h"
#include "engine/view/read_positions.h"
#include "exchange.h"
#include "node/history/adl_rank.h"

enum { ACCOUNTS = 60, MANY = 5000 };

static struct exchange exchange;
static uint64_t seed = 11;

static uint8_t quantile_of(const struct adl_rank_side *side, int128 score)
{
    uint8_t quantile = 0;
    while (side->any && quantile < ADL_RANK_LAST && score >= side->bounds[quantile])
        quantile++;
    return quantile;
}

/* The rank-th of `count` from above (0 the first) is in fifth floor(5 * rank / count). */
static void check_parts(void)
{
    static const struct row {
        int line;
        const char *name;
        uint32_t count;
        int scores[10];
        uint8_t want[10];
    } rows[] = {
        { __LINE__, "one", 1, { 5 }, { 4 } },
        { __LINE__, "two", 2, { 5, 3 }, { 4, 2 } },
        { __LINE__, "five", 5, { 1, 2, 3, 4, 5 }, { 0, 1, 2, 3, 4 } },
        { __LINE__, "six", 6, { 6, 5, 4, 3, 2, 1 }, { 4, 4, 3, 2, 1, 0 } },
        { __LINE__,
          "ten",
          10,
          { 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 },
          { 4, 4, 3, 3, 2, 2, 1, 1, 0, 0 } },
        { __LINE__, "losing", 3, { -1, -7, -3 }, { 4, 1, 3 } },
        { __LINE__, "equal", 4, { 2, 2, 2, 2 }, { 4, 4, 4, 4 } },
    };
    struct adl_rank_side side;
    int128 scores[10];

    adl_rank_part(scores, 0, &side);
    CHECK(!side.any && quantile_of(&side, 5) == 0);
    for (const struct row *row = rows; row < rows + CC_COUNT(rows); row++) {
        for (uint32_t k = 0; k < row->count; k++)
            scores[k] = row->scores[k];
        adl_rank_part(scores, row->count, &side);
        for (uint32_t k = 0; k < row->count; k++)
            CHECK_ROW(row, quantile_of(&side, row->scores[k]) == row->want[k]);
    }
}

/* Positions of many sizes and equities: every account trades a little with another. */
static void make_positions(void)
{
    for (uint32_t n = 1; n + 1 <= ACCOUNTS; n += 2) {
        struct host_order order = { .price = 999000 + 100 * rig_below(&seed, 20),
                                    .quantity = 1000 + (int64_t)rig_below(&seed, 900000),
                                    .expiry = UINT64_MAX };
        CHECK(host_limit(&exchange.host, n, &order) == STATUS_request_completed);
        order.quantity = -order.quantity;
        CHECK(host_limit(&exchange.host, n + 1, &order) == STATUS_request_completed);
    }
    CHECK(host_oracle(&exchange.host, HOST_BTC, 1003000) == STATUS_request_completed);
}

struct holder {
    int64_t size;
    int128 score;
    uint32_t account;
};

static uint32_t take_holders(struct holder *holders)
{
    uint32_t count = 0;
    for (uint32_t n = 1; n <= exchange.account_count; n++) {
        struct read_filter filter = { .account_id = n,
                                      .subaccount_index = QUERY_ANY_INDEX,
                                      .portfolio_index = QUERY_ANY_INDEX };
        struct read_positions cursor;
        struct row_position row;
        read_positions_begin(&cursor, exchange.host.engine, &filter);
        while (read_positions_next(&cursor, exchange.host.engine, &row))
            holders[count++] = (struct holder){ row.size, cursor.score, n };
    }
    return count;
}

/* Fifth of a holder among those of its side, by counting. */
static uint8_t want_of(const struct holder *holders, uint32_t count, const struct holder *one)
{
    uint32_t above = 0, of_side = 0;
    for (uint32_t k = 0; k < count; k++) {
        if ((holders[k].size < 0) != (one->size < 0))
            continue;
        of_side++;
        above += holders[k].score > one->score;
    }
    return (uint8_t)(4 - 5 * above / of_side);
}

static void check_positions(struct adl_rank *rank, struct reply_pool *pool)
{
    struct query_sources sources = { .engine = exchange.host.engine,
                                     .history = exchange.sink.history,
                                     .ranks = rank };
    struct holder holders[2 * ACCOUNTS];
    uint32_t count = take_holders(holders), seen[5] = { 0 };

    CHECK(count == ACCOUNTS);
    for (uint32_t k = 0; k < count; k++) {
        struct query query = { .kind = QUERY_positions,
                               .account_id = holders[k].account,
                               .subaccount_index = QUERY_ANY_INDEX,
                               .portfolio_index = QUERY_ANY_INDEX,
                               .pin = -1 };
        struct query_task task;
        struct query_budget budget = { .rows = 100, .holders = 7 };
        uint32_t steps = 1;
        for (bool done = query_begin(&task, &sources, &query, pool, &budget); !done; steps++) {
            budget.holders = 7;
            done = query_step(&task, &sources, pool, &budget);
        }
        /* The first read makes the bounds, seven holders a turn; within a second no other does. */
        CHECK(k == 0 ? steps == ACCOUNTS / 7 + 1 : steps == 1);
        CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == 1);
        const struct row_position *row = (const struct row_position *)(const void *)task.rows;
        CHECK(row->size == holders[k].size);
        CHECK(row->adl_quantile == want_of(holders, count, &holders[k]));
        seen[row->adl_quantile]++;
        reply_pool_free(pool, task.reply.buffer);
    }
    for (uint32_t k = 0; k < CC_COUNT(seen); k++)
        CHECK(seen[k] != 0);
}

/* Made anew when older than a second of engine time, and only then; old ones serve for one second
 * more while that is done. */
static void check_age(struct adl_rank *rank)
{
    const struct market_names *names = &exchange.sink.history->names;
    const struct engine *engine = exchange.host.engine;
    uint32_t holders = 1000;

    uint64_t made_ns = engine_time(engine); /* of check_positions: nothing came since */
    host_tick(&exchange.host, HOST_SECOND_NS - 1);
    CHECK(engine_time(engine) <= made_ns + ADL_RANK_AGE_NS);
    CHECK(adl_rank_make(rank, engine, names, HOST_BTC, engine_time(engine), &holders));
    CHECK(holders == 1000);
    host_tick(&exchange.host, 2);
    holders = 10; /* not enough for all: the old ones serve */
    CHECK(adl_rank_make(rank, engine, names, HOST_BTC, engine_time(engine), &holders));
    CHECK(holders == 0);
    holders = 1000; /* the look goes on where it was */
    CHECK(adl_rank_make(rank, engine, names, HOST_BTC, engine_time(engine), &holders));
    CHECK(holders == 1000 - (ACCOUNTS - 10));
    host_tick(&exchange.host, 2 * HOST_SECOND_NS + 1);
    holders = 10; /* too old to serve */
    CHECK(!adl_rank_make(rank, engine, names, HOST_BTC, engine_time(engine), &holders));
    /* A look at one market that another one's read interrupts is finished first. */
    holders = 1000;
    CHECK(adl_rank_make(rank, engine, names, EXCHANGE_ETH, engine_time(engine), &holders));
    CHECK(holders == 1000 - (ACCOUNTS - 10));
}

/* More holders of a side than samples: every second one parts them well enough. */
static void check_many(struct adl_rank *rank)
{
    static struct holder holders[2 * MANY];
    struct host_order order = { .quantity = -MANY * INT64_C(40000), .expiry = UINT64_MAX };
    uint32_t off = 0, budget = 2 * MANY;

    exchange_open(&exchange, 1024, MANY);
    order.price = 1000000;
    CHECK(host_limit(&exchange.host, 1, &order) == STATUS_request_completed);
    for (uint32_t n = 2; n <= MANY; n++) {
        exchange.host.clock_ns += UINT64_C(100000);
        order.quantity = 2000 + (int64_t)rig_below(&seed, 38000);
        CHECK(host_limit(&exchange.host, n, &order) == STATUS_request_completed);
    }
    CHECK(host_oracle(&exchange.host, HOST_BTC, 1001000) == STATUS_request_completed);
    market_names_refresh(&exchange.sink.history->names, exchange.host.engine);
    CHECK(adl_rank_make(rank, exchange.host.engine, &exchange.sink.history->names, HOST_BTC,
                        engine_time(exchange.host.engine), &budget));
    uint32_t count = take_holders(holders);
    CHECK(count == MANY && count - 1 > ADL_RANK_SAMPLES);
    for (uint32_t k = 0; k < count; k += 10) {
        int quantile = adl_rank_of(rank, HOST_BTC, holders[k].size, holders[k].score);
        int want = want_of(holders, count, &holders[k]);
        CHECK(quantile - want <= 1 && want - quantile <= 1);
        off += quantile != want;
    }
    CHECK(off < MANY / 10 / 20); /* one in twenty, near the bounds */
    exchange_close(&exchange);
}

int main(void)
{
    struct reply_pool pool;
    void *memory = aligned_alloc(64, REPLY_POOL_BYTES);
    struct adl_rank *rank = adl_rank_create();

    CHECK(memory != NULL && rank != NULL);
    reply_pool_init(&pool, memory);
    check_parts();
    exchange_open(&exchange, 1024, ACCOUNTS);
    make_positions();
    check_positions(rank, &pool);
    check_age(rank);
    exchange_close(&exchange);
    adl_rank_destroy(rank);
    CHECK((rank = adl_rank_create()) != NULL);
    check_many(rank);
    adl_rank_destroy(rank);
    free(memory);
    return 0;
}
