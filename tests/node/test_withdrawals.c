/* The operator's list of withdrawals (json.md J7): what is pending comes from the state, whatever
 * memory has dropped; how one has ended comes from the log, or the page is refused; pages and steps
 * give the same rows. Written by hand: withdrawal k is of account 1 + k % 3 and k USDC. */
#include "check.h"
#include "engine/purse.h"
#include "engine/state/withdrawal.h"
#include "exchange.h"

enum { ACCOUNTS = 3, CAPACITY = 16, COUNT = 40 };
enum { SETTLED, REVERTED }; /* W3a, 1004 */

#define OK STATUS_request_completed

static struct exchange exchange;
static struct reply_pool pool;
static struct adl_rank *ranks;
static struct row_withdrawal want[COUNT]; /* oldest first */

static void request(uint32_t k)
{
    const struct purse_place place = { 0, 0 };
    uint32_t n = 1 + k % ACCOUNTS;

    CHECK(purse_withdraw(&exchange.host, n, place, (k + 1) * HOST_USDC) == OK);
    want[k] = (struct row_withdrawal){
        .account_id = n,
        .amount = (k + 1) * HOST_USDC,
        .requested_at_ns = engine_time(exchange.host.engine),
        .sequence = engine_sequence(exchange.host.engine),
    };
    memcpy(want[k].id, exchange.host.result.id, sizeof want[k].id);
    memset(want[k].destination, (int)(0xA0 + n), sizeof want[k].destination); /* purse.c */
}

static void settle(uint32_t k, uint8_t outcome)
{
    CHECK(purse_settle(&exchange.host, want[k].id, outcome) == OK);
    want[k].outcome = outcome == SETTLED ? ROW_WITHDRAWAL_SETTLED : ROW_WITHDRAWAL_REVERTED;
}

/* Answers in steps of `step` rows. NULL: refused for what is not kept. */
static const uint8_t *ask(const struct query *query, uint32_t step, struct query_task *task)
{
    struct query_sources from = { .engine = exchange.host.engine,
                                  .history = exchange.sink.history,
                                  .ranks = ranks };
    struct query_budget budget = { .rows = step, .holders = 1 };

    for (bool done = query_begin(task, &from, query, &pool, &budget); !done;) {
        budget.rows = step;
        done = query_step(task, &from, &pool, &budget);
    }
    if (task->reply.problem != PROBLEM_none) {
        CHECK(task->reply.problem == PROBLEM_not_ready && task->reply.cause == REPLY_NOT_KEPT);
        return NULL;
    }
    reply_pool_free(&pool, task->reply.buffer);
    return task->rows;
}

static struct query of(uint8_t status, uint32_t limit)
{
    return (struct query){ .kind = QUERY_withdrawals, .status = status, .limit = limit };
}

/* All pages of `limit` rows are those of `want` with this outcome, newest first, down to
 * `oldest`. */
static void check_pages(uint8_t status, uint32_t limit, uint32_t step, uint32_t oldest)
{
    struct query query = of(status, limit);
    struct query_task task;
    uint32_t k = COUNT;
    bool more = true;

    while (more) {
        struct row_list list;
        struct row_withdrawal row = { 0 };
        const uint8_t *rows = ask(&query, step, &task);
        CHECK(rows != NULL);
        memcpy(&list, rows, sizeof list);
        CHECK(list.count <= limit && (task.reply.more == 0 || list.count == limit));
        for (uint32_t i = 0; i < list.count; i++) {
            memcpy(&row, rows + sizeof list + i * sizeof row, sizeof row);
            do
                CHECK(k-- > oldest);
            while (status != QUERY_ANY_STATUS && want[k].outcome != status);
            CHECK(memcmp(&row, &want[k], sizeof row) == 0);
        }
        more = task.reply.more != 0;
        query.before_sequence = row.sequence;
        query.before_index = row.index;
    }
    while (k-- > oldest)
        CHECK(status != QUERY_ANY_STATUS && want[k].outcome != status);
}

static void test_pages(void)
{
    for (uint32_t k = 0; k < COUNT; k++)
        request(k);
    for (uint32_t k = 0; k < COUNT; k += 4)
        settle(k, k % 8 == 0 ? SETTLED : REVERTED);
    for (uint32_t limit = 1; limit <= 41; limit += 5)
        for (uint32_t step = 1; step <= 64; step *= 4)
            check_pages(ROW_WITHDRAWAL_PENDING, limit, step, 0);

    /* Of 40 rows the log keeps 16, 24 to 39. A page that they fill is served, and so is one that
     * ends with the oldest; one that needs a row behind them is refused. */
    struct query_task task;
    struct row_list list;
    struct query query = of(QUERY_ANY_STATUS, CAPACITY);
    const uint8_t *rows = ask(&query, 3, &task);
    CHECK(rows != NULL);
    memcpy(&list, rows, sizeof list);
    CHECK(list.count == CAPACITY && task.reply.more == 1);
    CHECK(memcmp(rows + sizeof list, &want[COUNT - 1], sizeof *want) == 0);
    query.limit = CAPACITY + 1;
    CHECK(ask(&query, 3, &task) == NULL);
    CHECK(task.reply.kept_from <= want[COUNT - CAPACITY].sequence + 1);
    CHECK(task.reply.kept_from > want[COUNT - CAPACITY - 1].sequence);
    query = of(ROW_WITHDRAWAL_REVERTED, 2); /* 36 and 28; 32 and 24 are settled */
    rows = ask(&query, 3, &task);
    CHECK(rows != NULL);
    CHECK(memcmp(rows + sizeof list, &want[36], sizeof *want) == 0);
    CHECK(memcmp(rows + sizeof list + sizeof *want, &want[28], sizeof *want) == 0);
    query.limit = 3; /* the third may be among what is dropped */
    CHECK(ask(&query, 3, &task) == NULL);
    query = of(ROW_WITHDRAWAL_PENDING, 1);
    query.offset = 29; /* of 30 pending the oldest, k = 1, which the log has dropped long ago */
    rows = ask(&query, 1000, &task);
    CHECK(rows != NULL && task.reply.more == 0);
    CHECK(memcmp(rows + sizeof list, &want[1], sizeof *want) == 0);
}

/* A start from a snapshot keeps no rows: what is pending is known all the same. */
static void test_forgotten(void)
{
    struct history *kept = exchange.sink.history;
    struct query query = of(QUERY_ANY_STATUS, 1);
    struct query_task task;

    exchange.sink.history = history_create(CAPACITY, ACCOUNTS + 2, exchange.host.key);
    CHECK(exchange.sink.history != NULL);
    history_forget(exchange.sink.history, exchange.host.engine);
    check_pages(ROW_WITHDRAWAL_PENDING, 7, 5, 0);
    CHECK(ask(&query, 1000, &task) == NULL);
    query.status = ROW_WITHDRAWAL_SETTLED;
    CHECK(ask(&query, 1000, &task) == NULL);
    history_destroy(exchange.sink.history);
    exchange.sink.history = kept;
}

/* Whoever has gone while a query stood at it does not end the page, or begin it again. */
static void test_release_between_steps(void)
{
    struct query_sources from = { .engine = exchange.host.engine,
                                  .history = exchange.sink.history,
                                  .ranks = ranks };
    struct query_budget budget = { .rows = 12 };
    struct query query = of(ROW_WITHDRAWAL_PENDING, 1000);
    struct query_task task;
    struct row_withdrawal row;
    struct row_list list;
    const struct purse_place place = { 0, 0 };

    for (uint32_t k = 0; k < COUNT; k++)
        if (want[k].outcome == ROW_WITHDRAWAL_PENDING && k >= 20)
            settle(k, SETTLED);
    CHECK(!query_begin(&task, &from, &query, &pool, &budget)); /* stands at 28 */
    exchange.host.clock_ns += 200 * HOST_SECOND_NS; /* no request id of them passes any more */
    CHECK(host_oracle(&exchange.host, HOST_BTC, 1000000) == OK);
    CHECK(host_oracle(&exchange.host, EXCHANGE_ETH, 400000) == OK);
    for (uint32_t i = 0; i < 10; i++) /* each takes out four that have ended */
        CHECK(purse_withdraw(&exchange.host, 1, place, HOST_USDC) == OK);
    CHECK(withdrawal_find(exchange.host.engine, want[28].id) == WITHDRAWAL_NONE);
    do
        budget.rows = 1000;
    while (!query_step(&task, &from, &pool, &budget));
    memcpy(&list, task.rows, sizeof list);
    CHECK(list.count == 15); /* 1 to 19 but for the multiples of 4 */
    for (uint32_t i = 0, k = 20; i < list.count; i++) {
        do
            k--;
        while (k % 4 == 0);
        memcpy(&row, task.rows + sizeof list + i * sizeof row, sizeof row);
        CHECK(memcmp(&row, &want[k], sizeof row) == 0);
    }
    reply_pool_free(&pool, task.reply.buffer);
}

int main(void)
{
    void *memory = aligned_alloc(64, REPLY_POOL_BYTES);

    CHECK(memory != NULL);
    reply_pool_init(&pool, memory);
    ranks = adl_rank_create();
    CHECK(ranks != NULL);
    exchange_open(&exchange, CAPACITY, ACCOUNTS);
    test_pages();
    test_forgotten();
    test_release_between_steps();
    exchange_close(&exchange);
    adl_rank_destroy(ranks);
    free(memory);
    return 0;
}
