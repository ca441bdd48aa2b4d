/* The operator's list of withdrawals (json.md J7): what is pending comes from the state, whatever
 * memory has dropped; how one has ended comes from memory and file, or the page is refused; pages
 * and steps give the same rows, also while withdrawals end between two steps. Written by hand:
 * withdrawal k is of account 1 + k % 3 and k USDC. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "engine/purse.h"
#include "engine/rig.h"
#include "engine/state/withdrawal.h"
#include "exchange.h"
#include "store/history_folder.h"

enum { ACCOUNTS = 3, CAPACITY = 16, COUNT = 40, STARTS = 6, ROUNDS = 12, MORE = 3 };
enum { SETTLED, REVERTED }; /* W3a, 1004 */

#define OK STATUS_request_completed

static struct exchange exchange;
static struct reply_pool pool;
static struct adl_rank *ranks;
static struct row_withdrawal want[STARTS * ROUNDS * MORE + COUNT]; /* oldest first */
static uint32_t count = COUNT;                                     /* of them */

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
    uint32_t k = count;
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

    for (uint32_t limit = 1; limit <= 41; limit += 5)
        for (uint32_t step = 1; step <= 64; step *= 4) {
            check_pages(QUERY_ANY_STATUS, limit, step, 0);
            check_pages(ROW_WITHDRAWAL_SETTLED, limit, step, 0);
            check_pages(ROW_WITHDRAWAL_REVERTED, limit, step, 0);
        }

    struct query query = of(ROW_WITHDRAWAL_PENDING, 1);
    struct query_task task;
    query.offset = 29; /* of 30 pending the oldest, k = 1 */
    const uint8_t *rows = ask(&query, 1000, &task);
    CHECK(rows != NULL && task.reply.more == 0);
    CHECK(memcmp(rows + sizeof(struct row_list), &want[1], sizeof *want) == 0);
}

/* Without a file memory has the last 16 ends: the 17th drops the first. What was requested after
 * the oldest end that is kept is shown; what was requested before it may lack rows. */
static void test_dropped(void)
{
    struct query query = of(QUERY_ANY_STATUS, 3);
    struct query_task task;

    for (uint32_t k = 21; k < 30; k++)
        if (k % 4 != 0)
            settle(k, SETTLED);
    CHECK(ask(&query, 3, &task) == NULL);
    CHECK(task.reply.kept_from > want[COUNT - 1].sequence);
    query.status = ROW_WITHDRAWAL_REVERTED;
    CHECK(ask(&query, 3, &task) == NULL);
    for (; count < COUNT + 2; count++)
        request(count);
    settle(COUNT, REVERTED);
    query.limit = 1;
    const uint8_t *rows = ask(&query, 3, &task);
    CHECK(rows != NULL && task.reply.more == 1);
    CHECK(memcmp(rows + sizeof(struct row_list), &want[COUNT], sizeof *want) == 0);
    query.status = QUERY_ANY_STATUS;
    query.limit = 2;
    rows = ask(&query, 3, &task);
    CHECK(rows != NULL && task.reply.more == 1);
    CHECK(memcmp(rows + sizeof(struct row_list), &want[COUNT + 1], sizeof *want) == 0);
    query.limit = 3;
    CHECK(ask(&query, 3, &task) == NULL);
    check_pages(ROW_WITHDRAWAL_PENDING, 7, 5, 0);
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
    struct query_budget budget = { .rows = 14 };
    struct query query = of(ROW_WITHDRAWAL_PENDING, 1000);
    struct query_task task;
    struct row_withdrawal row;
    struct row_list list;
    const struct purse_place place = { 0, 0 };

    for (uint32_t k = 20; k < count; k++)
        if (want[k].outcome == ROW_WITHDRAWAL_PENDING)
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

/* ---- with a file ----------------------------------------------------------------------------- */

static struct history_file *file;
static char folder[] = "/tmp/perpd-withdrawals-XXXXXX";
static uint64_t seed = 11, history_now_ns = 5000000000;
static uint32_t in_turns, ended_between;

static uint32_t below(uint32_t bound)
{
    return rig_below(&seed, bound);
}

/* A new process. `lost`: what was not committed is in a gap, as of a start from a snapshot. */
static void start_again(bool is_lost)
{
    static const uint8_t id[HISTORY_ID_BYTES] = { 1 };
    struct history_keep *keep = &exchange.sink.history->keep;

    if (!is_lost)
        CHECK(history_keep_flush(keep, true) >= 0);
    history_destroy(exchange.sink.history);
    history_file_close(file);
    CHECK(history_file_open(&file, folder, id) == 0);
    exchange.sink.history = history_create(CAPACITY * 64, ACCOUNTS + 2, exchange.host.key);
    CHECK(exchange.sink.history != NULL && history_attach(exchange.sink.history, file) == 0);
    history_forget(exchange.sink.history, exchange.host.engine);
}

static uint32_t end_one(void)
{
    uint32_t k = below(count);

    if (want[k].outcome != ROW_WITHDRAWAL_PENDING)
        return 0;
    settle(k, below(2) == 0 ? SETTLED : REVERTED);
    return 1;
}

static void turn_history(void)
{
    struct history_keep *keep = &exchange.sink.history->keep;

    exchange_publish(&exchange);
    history_now_ns += below(3) == 0 ? 1000000000 : 0;
    CHECK(history_keep_step(keep, history_now_ns) >= 0);
}

/* One page of all while withdrawals end: each is there once, as it was at some moment of the
 * page. */
static void check_growing(void)
{
    struct query_sources from = { .engine = exchange.host.engine,
                                  .history = exchange.sink.history,
                                  .ranks = ranks };
    struct query_budget budget = { .rows = 1 + below(9), .holders = 1 };
    struct query query = of(QUERY_ANY_STATUS, 1000);
    struct query_task task;
    struct row_list list;

    bool done = query_begin(&task, &from, &query, &pool, &budget);
    for (; !done; in_turns++) {
        history_keep_end(&exchange.sink.history->keep);
        ended_between += end_one();
        turn_history();
        budget.rows = 1 + below(9);
        done = query_step(&task, &from, &pool, &budget);
    }
    history_keep_end(&exchange.sink.history->keep);
    CHECK(task.reply.problem == PROBLEM_none);
    memcpy(&list, task.rows, sizeof list);
    CHECK(list.count == count);
    for (uint32_t i = 0; i < count; i++) {
        struct row_withdrawal row;
        memcpy(&row, task.rows + sizeof list + i * sizeof row, sizeof row);
        const struct row_withdrawal *now = &want[count - 1 - i];
        CHECK(row.outcome == now->outcome || row.outcome == ROW_WITHDRAWAL_PENDING);
        row.outcome = now->outcome;
        CHECK(memcmp(&row, now, sizeof row) == 0);
    }
    reply_pool_free(&pool, task.reply.buffer);
}

static void check_file(void)
{
    static const uint8_t statuses[] = { ROW_WITHDRAWAL_PENDING, ROW_WITHDRAWAL_SETTLED,
                                        ROW_WITHDRAWAL_REVERTED, QUERY_ANY_STATUS };

    for (size_t i = 0; i < CC_COUNT(statuses); i++)
        check_pages(statuses[i], 1 + below(50), 1 + below(40), 0);
}

/* Whatever has ended is listed after any start; only a start that leaves a gap takes the rows that
 * were requested before its end away, and not one that is pending. */
static void test_file(void)
{
    static const uint8_t id[HISTORY_ID_BYTES] = { 1 };
    struct query_task task;

    CHECK(mkdtemp(folder) != NULL && history_file_open(&file, folder, id) == 0);
    exchange_open(&exchange, CAPACITY * 64, ACCOUNTS);
    CHECK(history_file_begin(file) == 0 &&
          history_file_commit(file, engine_sequence(exchange.host.engine)) == 0);
    CHECK(history_attach(exchange.sink.history, file) == 0);
    count = 0;
    for (uint32_t start = 0; start < STARTS; start++) {
        for (uint32_t round = 0; round < ROUNDS; round++) {
            for (uint32_t i = 0; i < MORE; i++)
                request(count++);
            (void)(end_one() + end_one());
            if (below(4) == 0) { /* the engine frees what has ended */
                exchange.host.clock_ns += 200 * HOST_SECOND_NS;
                CHECK(host_oracle(&exchange.host, HOST_BTC, 1000000) == OK);
                CHECK(host_oracle(&exchange.host, EXCHANGE_ETH, 400000) == OK);
            }
            turn_history();
            if (round % 4 == 3)
                check_growing();
            check_file();
        }
        start_again(false);
        check_file();
    }
    CHECK(in_turns > 100 && ended_between > 20);
    request(count++);
    request(count++);
    settle(count - 1, SETTLED);
    start_again(true);
    struct query query = of(ROW_WITHDRAWAL_SETTLED, 1);
    CHECK(ask(&query, 1000, &task) == NULL);
    CHECK(task.reply.kept_from == engine_sequence(exchange.host.engine) + 1);
    check_pages(ROW_WITHDRAWAL_PENDING, 7, 100, 0);
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
    test_dropped();
    test_forgotten();
    test_release_between_steps();
    exchange_close(&exchange);
    test_file();
    exchange_close(&exchange);
    history_file_close(file);
    CHECK(history_folder_remove(folder) == 0);
    adl_rank_destroy(ranks);
    free(memory);
    return 0;
}
