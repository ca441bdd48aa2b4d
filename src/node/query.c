#include "node/query.h"

#include "base/problem.h"
#include "base/row.h"
#include "engine/audit.h"
#include "engine/read.h"
#include "node/ended_row.h"

/* Where the rows of one query go. */
struct rows {
    uint8_t *bytes;
    struct reply *reply;
};

static void refuse(struct rows *rows, enum problem problem)
{
    rows->reply->problem = (uint16_t)problem;
}

static void fill(struct rows *rows, size_t row_bytes, uint32_t row_count)
{
    INVARIANT(row_bytes <= REPLY_BUFFER_BYTES);
    rows->reply->row_bytes = (uint32_t)row_bytes;
    rows->reply->row_count = row_count;
}

static void run_order(const struct engine *engine, const struct ended *ended,
                      const struct query *query, struct rows *rows)
{
    struct row_order row;
    struct uuid id;

    uuid_load(&id, query->id);
    if (!read_order(engine, query->account_id, query->id, query->pin, &row)) {
        const struct ended_order *order = ended_find(ended, query->account_id, &id);
        if (order == NULL) {
            bool dropped = ended_may_have_dropped(ended, &id);
            refuse(rows, dropped ? PROBLEM_not_ready : PROBLEM_order_not_found);
            return;
        }
        if (query->pin >= 0 && order->subaccount_index != (uint32_t)query->pin) {
            refuse(rows, PROBLEM_order_not_found);
            return;
        }
        ended_row_show(&row, order, engine);
    }
    memcpy(rows->bytes, &row, sizeof row);
    fill(rows, sizeof row, 1);
}

static void run_balance(const struct engine *engine, const struct query *query, struct rows *rows)
{
    struct row_balance row;
    if (!read_balance(engine, query->account_id, query->subaccount_index, query->portfolio_index,
                      &row)) {
        refuse(rows, PROBLEM_portfolio_not_found);
        return;
    }
    memcpy(rows->bytes, &row, sizeof row);
    fill(rows, sizeof row, 1);
}

static void run_account(const struct engine *engine, const struct query *query, struct rows *rows)
{
    struct row_account row;
    if (!read_account(engine, query->account_id, &row)) {
        refuse(rows, PROBLEM_account_not_found);
        return;
    }
    memcpy(rows->bytes, &row, sizeof row);
    fill(rows, sizeof row, 1);
}

static void run_markets(const struct engine *engine, struct rows *rows)
{
    struct row_market row;
    uint32_t market_count = read_market_count(engine);

    for (uint32_t k = 0; k < market_count; k++) {
        read_market(engine, k, &row);
        memcpy(rows->bytes + k * sizeof row, &row, sizeof row);
    }
    fill(rows, market_count * sizeof row, market_count);
}

static void run_market(const struct engine *engine, const struct query *query, struct rows *rows)
{
    struct row_market row;
    if (!read_market_named(engine, query->market, &row)) {
        refuse(rows, PROBLEM_not_found);
        return;
    }
    memcpy(rows->bytes, &row, sizeof row);
    fill(rows, sizeof row, 1);
}

static void run_book(const struct engine *engine, const struct query *query, struct rows *rows)
{
    struct row_book row;
    uint32_t depth = query->limit < QUERY_DEPTH_MAX ? query->limit : QUERY_DEPTH_MAX;
    /* The buffer is aligned for rows (reply_pool.h), and so is the place behind the first one. */
    static_assert(sizeof(struct row_book) % alignof(struct row_level) == 0, "levels follow it");
    struct row_level *levels = (struct row_level *)(void *)(rows->bytes + sizeof row);

    if (!read_book(engine, query->market, depth, &row, levels)) {
        refuse(rows, PROBLEM_not_found);
        return;
    }
    memcpy(rows->bytes, &row, sizeof row);
    uint32_t level_count = row.bid_count + row.ask_count;
    fill(rows, sizeof row + level_count * sizeof *levels, 1 + level_count);
}

static void run_audit(const struct engine *engine, struct rows *rows)
{
    struct row_audit row;
    static_assert(sizeof(struct row_audit) % alignof(struct row_audit_market) == 0, "rows follow");
    struct row_audit_market *markets =
        (struct row_audit_market *)(void *)(rows->bytes + sizeof row);

    audit_read(engine, &row, markets);
    memcpy(rows->bytes, &row, sizeof row);
    fill(rows, sizeof row + row.market_count * sizeof *markets, 1 + row.market_count);
}

void query_run(const struct engine *engine, const struct ended *ended, const struct query *query,
               struct reply_pool *pool, struct reply *reply)
{
    uint16_t buffer = reply_pool_take(pool);
    if (buffer == REPLY_NO_BUFFER) {
        reply->problem = PROBLEM_not_ready;
        return;
    }
    struct rows rows = { reply_pool_at(pool, buffer), reply };
    switch ((enum query_kind)query->kind) {
    case QUERY_order:
        run_order(engine, ended, query, &rows);
        break;
    case QUERY_balance:
        run_balance(engine, query, &rows);
        break;
    case QUERY_account:
        run_account(engine, query, &rows);
        break;
    case QUERY_markets:
        run_markets(engine, &rows);
        break;
    case QUERY_market:
        run_market(engine, query, &rows);
        break;
    case QUERY_book:
        run_book(engine, query, &rows);
        break;
    case QUERY_audit:
        run_audit(engine, &rows);
        break;
    case QUERY_orders:
    case QUERY_fills:
    case QUERY_request:
    case QUERY_positions:
    case QUERY_balances:
    case QUERY_subaccounts:
    case QUERY_trades:
        reply->problem = PROBLEM_not_ready;
        reply->cause = REPLY_NOT_KEPT;
        break;
    case QUERY_KIND_COUNT:
        INVARIANT(false);
    }
    if (reply->problem != PROBLEM_none)
        reply_pool_give(pool, buffer); /* a problem carries no rows; it was never net's */
    else
        reply->buffer = buffer;
}
