#include "node/query/query_money.h"

#include "engine/view/read.h"

enum { LIMIT_MAX = 1000 };

#define MS_NS UINT64_C(1000000)

static_assert(LIMIT_MAX * sizeof(struct row_payment) <= REPLY_BUFFER_BYTES, "fits");
static_assert(sizeof(struct row_list) + LIMIT_MAX * sizeof(struct row_house) <= REPLY_BUFFER_BYTES,
              "fits");
static_assert(sizeof(struct row_list) + LIMIT_MAX * sizeof(struct row_cash) <= REPLY_BUFFER_BYTES,
              "fits");
static_assert(sizeof(struct row_list) + LIMIT_MAX * sizeof(struct row_liquidation) <=
                  REPLY_BUFFER_BYTES,
              "fits");
static_assert(sizeof(struct row_list) + LIMIT_MAX * sizeof(struct row_rate) <= REPLY_BUFFER_BYTES,
              "fits");

bool query_money_is(const struct query *query)
{
    return query->kind == QUERY_payments || query->kind == QUERY_rates ||
           query->kind == QUERY_liquidations || query->kind == QUERY_fund ||
           query->kind == QUERY_fees || query->kind == QUERY_cash;
}

/* A list of one market, which the path names. */
static bool is_of_market(const struct query *query)
{
    return query->kind == QUERY_rates || query->kind == QUERY_liquidations;
}

static enum history_table table_of(const struct query_task *task)
{
    switch ((enum query_kind)task->query.kind) {
    case QUERY_payments:
        return HISTORY_PAYMENTS;
    case QUERY_cash:
        return HISTORY_CASH;
    case QUERY_rates:
        return HISTORY_RATES;
    case QUERY_liquidations:
        return HISTORY_LIQUIDATIONS;
    case QUERY_fund:
        return HISTORY_FUND;
    default:
        INVARIANT(task->query.kind == QUERY_fees);
        return HISTORY_FEES;
    }
}

static uint64_t key_of(const struct query_task *task)
{
    if (task->query.kind == QUERY_payments || task->query.kind == QUERY_cash)
        return task->query.account_id;
    return is_of_market(&task->query) ? task->asset_id : 0;
}

bool query_money_begin(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    bool is_named = is_of_market(query);

    if (is_named || query->market[0] != '\0') {
        const struct market_name *market =
            market_names_find(&sources->history->names, query->market);
        if (market == NULL) {
            query_task_refuse(task, is_named ? PROBLEM_not_found : PROBLEM_invalid_market);
            return false;
        }
        task->asset_id = market->asset_id;
    }
    task->offset = query->offset;
    task->below_sequence = query->before_sequence == 0 ? UINT64_MAX : query->before_sequence;
    task->below_index = query->before_index;
    bool is_account = query->kind == QUERY_payments || query->kind == QUERY_cash;
    uint64_t chain = is_account ? query_task_chain(sources, query->account_id) : key_of(task);
    task->at = history_ring_below(sources->history->keep.rings[table_of(task)], chain,
                                  task->below_sequence, task->below_index);
    return true;
}

/* The object before the rows of a list; its count is written at the end. */
static void put_head(struct query_task *task, const struct query_sources *sources)
{
    struct row_list list = { 0 };
    int64_t fund, fees;

    if (is_of_market(&task->query)) {
        const struct market_name *market =
            market_names_of(&sources->history->names, task->asset_id);
        memcpy(list.market, market->symbol, sizeof list.market);
        list.price_decimals = market->price_decimals;
        list.size_decimals = market->size_decimals;
    } else if (task->query.kind != QUERY_cash) {
        read_house(sources->engine, &fund, &fees);
        list.balance = task->query.kind == QUERY_fund ? fund : fees;
    }
    query_task_put(task, &list, sizeof list);
}

static bool admits_hour(const struct query *query, uint64_t hour_ns)
{
    return hour_ns <= query->end_ns && hour_ns >= query->start_ns;
}

static bool admits_cash(const struct query *query, const struct cash_row *cash)
{
    return cash->subaccount_index == query->subaccount_index &&
           (query->portfolio_index == QUERY_ANY_INDEX ||
            cash->portfolio_index == query->portfolio_index) &&
           (query->status == QUERY_ANY_STATUS || cash->movement.kind == query->status) &&
           cash->movement.time_ns <= query->end_ns && cash->movement.time_ns >= query->start_ns;
}

/* Shows the row when the query lets it in and the offset has passed. */
static void look_at(struct query_task *task, const struct query_sources *sources, const void *at)
{
    const struct query *query = &task->query;
    const struct market_names *names = &sources->history->names;
    union {
        struct row_payment payment;
        struct row_rate rate;
        struct row_liquidation liquidation;
        struct row_house house;
        struct row_cash cash;
    } row;
    size_t row_bytes;

    if (query->kind == QUERY_payments) {
        const struct payment_row *payment = at;
        if (payment->subaccount_index != query->subaccount_index ||
            payment->portfolio_index != query->portfolio_index ||
            (task->asset_id != 0 && payment->asset_id != task->asset_id) ||
            !admits_hour(query, payment->hour_ns))
            return;
        money_log_show_payment(payment, names, &row.payment);
        row_bytes = sizeof row.payment;
    } else if (query->kind == QUERY_rates) {
        const struct rate_row *rate = at;
        if (!admits_hour(query, rate->hour_ns))
            return;
        money_log_show_rate(rate, &row.rate);
        row_bytes = sizeof row.rate;
    } else if (query->kind == QUERY_cash) {
        const struct cash_row *cash = at;
        if (!admits_cash(query, cash))
            return;
        money_log_show_cash(cash, names, &row.cash);
        row_bytes = sizeof row.cash;
    } else if (query->kind == QUERY_liquidations) {
        money_log_show_liquidation(at, &row.liquidation);
        row_bytes = sizeof row.liquidation;
    } else {
        money_log_show_house(at, names, &row.house);
        row_bytes = sizeof row.house;
    }
    if (task->offset != 0) {
        task->offset--;
        return;
    }
    query_task_put(task, &row, row_bytes);
}

/* Rows get older: after the first one before the requested hour there are none. */
static bool is_past(const struct query *query, const void *at)
{
    if (query->kind == QUERY_payments)
        return ((const struct payment_row *)at)->hour_ns < query->start_ns;
    if (query->kind == QUERY_cash)
        return ((const struct cash_row *)at)->movement.time_ns < query->start_ns;
    return query->kind == QUERY_rates && ((const struct rate_row *)at)->hour_ns < query->start_ns;
}

static void end(struct query_task *task, const struct query_sources *sources)
{
    struct row_list list;

    if (task->query.kind == QUERY_payments)
        return;
    memcpy(&list, task->rows, sizeof list);
    list.count = task->reply.row_count - 1;
    if (is_of_market(&task->query))
        list.book_seq = read_book_seq(sources->engine, task->asset_id);
    memcpy(task->rows, &list, sizeof list);
    task->reply.more = query_task_has_more(task, sources, table_of(task), key_of(task));
}

bool query_money_step(struct query_task *task, const struct query_sources *sources,
                      uint32_t *rows_left)
{
    bool has_head = task->query.kind != QUERY_payments;
    uint32_t rows = *rows_left < QUERY_TASK_ROWS_A_TURN ? *rows_left : QUERY_TASK_ROWS_A_TURN;

    if (has_head && task->reply.row_count == 0)
        put_head(task, sources);
    uint32_t most = task->query.limit < LIMIT_MAX ? task->query.limit : LIMIT_MAX;
    while (task->reply.row_count - has_head < most) {
        const struct history_link *link =
            query_task_row(task, sources, table_of(task), key_of(task));
        if (link == NULL && task->reply.problem != PROBLEM_none)
            return true;
        if (link == NULL)
            break;
        if (rows == 0)
            return false;
        rows--;
        *rows_left -= 1;
        look_at(task, sources, link);
        bool is_last = is_past(&task->query, link);
        query_task_pass(task, link);
        if (is_last)
            task->at = HISTORY_NONE;
    }
    end(task, sources);
    return true;
}
