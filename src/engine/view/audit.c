#include "engine/view/audit.h"

#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "engine/state/liquidation_step.h"
#include "engine/state/share_count.h"
#include "engine/state/state.h"
#include "engine/trade/resting.h"
#include "engine/view/read.h"

enum { AUDIT_INVARIANTS = 10, AUDIT_ALL = (1 << AUDIT_INVARIANTS) - 1 };

static_assert(ENGINE_MARKETS_MAX == 64 * AUDIT_MARKET_WORDS, "a bit for every market");

/* An audit in progress. */
struct audit {
    const struct engine *engine;
    struct row_audit *row;
    struct audit_verdict verdict;
    struct row_audit_market sums[ENGINE_MARKETS_MAX];
    int128 value; /* of all positions at the marks */
    uint64_t longs[ENGINE_MARKETS_MAX];
    uint64_t sizes;   /* of the positions that account_position.h counts, whatever their sides */
    uint32_t counted; /* the records of them */
    uint32_t orders;
};

/* Records that I<number> failed in this market; MARKET_NONE: in no single one. */
static void fail(struct audit *audit, unsigned number, uint32_t market)
{
    uint16_t bit = (uint16_t)(1u << (number - 1));

    audit->verdict.failed |= bit;
    audit->row->invariants &= (uint16_t)~bit;
    if (market == MARKET_NONE)
        audit->verdict.of_all = true;
    else
        audit->verdict.markets[market / 64] |= UINT64_C(1) << (market % 64);
}

/* The sums of one side, counted from the orders. */
struct recount {
    struct holding_side sums;
    bool price_is_bounded;
};

static void count_order(const struct engine *engine, const struct holding *holding, uint32_t index,
                        struct recount recounts[2])
{
    const struct order *order = &engine->orders.hot[index];
    struct recount *recount = &recounts[order->side];
    uint64_t price = resting_price(engine, order), bound = holding->sides[order->side].price_bound;
    int64_t size = (int64_t)order->remaining, notional = (int64_t)(price * order->remaining);

    recount->sums.order_count++;
    if ((order->flags & ORDER_REDUCE_ONLY) != 0) {
        recount->sums.reduce_size += size;
        recount->sums.reduce_notional += notional;
        return;
    }
    recount->sums.margin_count++;
    recount->sums.size += size;
    recount->sums.notional += notional;
    if (order->side == ORDER_LONG ? price > bound : price < bound)
        recount->price_is_bounded = false;
}

static uint32_t side_differences(const struct holding_side *kept, const struct recount *counted)
{
    const struct holding_side *sums = &counted->sums;

    return (uint32_t)(kept->size != sums->size) + (kept->notional != sums->notional) +
           (kept->reduce_size != sums->reduce_size) +
           (kept->reduce_notional != sums->reduce_notional) +
           (kept->order_count != sums->order_count) + (kept->margin_count != sums->margin_count) +
           !counted->price_is_bounded;
}

/* Counts the differences of I6 in one holding. *orders gets its number of orders. */
static uint32_t holding_differences(const struct engine *engine, const struct holding *holding,
                                    uint32_t *orders)
{
    struct recount recounts[2] = { { .price_is_bounded = true }, { .price_is_bounded = true } };
    uint64_t rank = 0;
    uint32_t wrong = 0;

    for (uint32_t at = holding->order_head; at != ORDER_NONE;
         at = engine->orders.cold[at].list_next) {
        count_order(engine, holding, at, recounts);
        wrong += order_rank(&engine->orders, at) < rank; /* oldest first */
        rank = order_rank(&engine->orders, at);
    }
    *orders = recounts[0].sums.order_count + recounts[1].sums.order_count;
    for (unsigned side = 0; side < 2; side++)
        wrong += side_differences(&holding->sides[side], &recounts[side]);
    return wrong;
}

static uint32_t record_differences(const struct engine *engine, uint32_t portfolio,
                                   const struct holding *holding, uint32_t *orders)
{
    const struct market *market = &engine->markets.rows[holding->market];
    uint64_t magnitude = holding->size < 0 ? -(uint64_t)holding->size : (uint64_t)holding->size;
    uint32_t wrong = holding_differences(engine, holding, orders);

    wrong += holding->portfolio != portfolio;
    wrong += magnitude > market->max_abs_size;
    wrong += holding->leverage != leverage_setting(engine, portfolio, holding->market);
    return wrong;
}

/* A sum of the whole portfolio is wrong: I6 fails in every market in which it has a holding. */
static void fail_portfolio(struct audit *audit, const struct portfolio *portfolio)
{
    uint32_t at = portfolio->holding_head;

    if (at == HOLDING_NONE)
        fail(audit, 6, MARKET_NONE);
    for (; at != HOLDING_NONE; at = audit->engine->holdings.rows[at].next)
        fail(audit, 6, audit->engine->holdings.rows[at].market);
}

/* A settlement pays the losers first (R9). Until it is complete the sizes do not add up to zero,
 * and the pool already holds the value of the positions that are left. */
static bool is_settling(const struct engine *engine, uint32_t market)
{
    return engine->settlements[market].pass != SETTLEMENT_NONE;
}

static void add_holding(struct audit *audit, uint32_t portfolio, const struct holding *holding,
                        uint32_t *orders)
{
    const struct engine *engine = audit->engine;
    struct row_audit_market *sums = &audit->sums[holding->market];
    const struct account *owner =
        &engine->accounts.rows[engine->portfolios.rows[portfolio].account];
    uint32_t of_holding;
    uint32_t wrong = record_differences(engine, portfolio, holding, &of_holding);

    audit->row->cost += holding->cost;
    if (!is_settling(engine, holding->market))
        audit->value += (int128)engine->markets.rows[holding->market].mark * holding->size;
    audit->value -= holding->cost;
    sums->size_sum += holding->size;
    audit->longs[holding->market] += holding->size > 0 ? (uint64_t)holding->size : 0;
    if (account_position_counts(owner)) {
        audit->sizes += holding->size < 0 ? -(uint64_t)holding->size : (uint64_t)holding->size;
        audit->counted++;
    }
    sums->cost_sum += holding->cost;
    audit->row->recount_differences += wrong;
    if (wrong != 0)
        fail(audit, 6, holding->market);
    if (of_holding != 0 && engine->portfolios.rows[portfolio].status == PORTFOLIO_CLOSED)
        fail(audit, 4, holding->market);
    *orders += of_holding;
}

static void add_portfolio(struct audit *audit, uint32_t index)
{
    const struct engine *engine = audit->engine;
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    uint32_t orders = 0, holdings = 0;

    audit->row->cash += portfolio->cash;
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next, holdings++)
        add_holding(audit, index, &engine->holdings.rows[at], &orders);
    uint32_t wrong = (uint32_t)(orders != portfolio->open_order_count) +
                     (uint32_t)(holdings != portfolio->holding_count);
    audit->row->recount_differences += wrong;
    if (wrong != 0)
        fail_portfolio(audit, portfolio);
    audit->orders += orders;
}

static uint64_t best_price(const struct market *market, enum order_side side)
{
    uint32_t tick = book_best(&market->book, side);

    if (tick == BOOK_TICK_NONE)
        return 0;
    return book_price(&market->book, side, tick) * market->record.tick_size;
}

static void finish_market(struct audit *audit, uint32_t index)
{
    const struct market *market = &audit->engine->markets.rows[index];
    struct row_audit_market *sums = &audit->sums[index];

    sums->best_bid = best_price(market, ORDER_LONG);
    sums->best_ask = best_price(market, ORDER_SHORT);
    sums->funding_pool = market->funding_pool;
    sums->price_decimals = market->record.price_decimals;
    sums->size_decimals = market->record.size_decimals;
    memcpy(sums->market, market->record.symbol, sizeof sums->market);
    audit->row->funding_pool += market->funding_pool;
    if (sums->size_sum != 0 && !is_settling(audit->engine, index))
        fail(audit, 1, index);
    if (audit->longs[index] != market->open_interest) {
        audit->row->recount_differences++;
        fail(audit, 6, index);
    }
    if (sums->best_bid != 0 && sums->best_ask != 0 && sums->best_bid >= sums->best_ask)
        fail(audit, 5, index);
}

/* The rows of the tables against what their owners count (share.h), and that against the sums of
 * the classes. */
static uint32_t share_differences(const struct engine *engine)
{
    uint32_t free_accounts = 0;

    for (uint32_t i = 0; i < engine->accounts.count; i++)
        free_accounts += engine->accounts.rows[i].status == ACCOUNT_FREE;
    const uint32_t rows[SHARE_TABLE_COUNT] = {
        [SHARE_accounts] = engine->accounts.count - free_accounts,
        [SHARE_subaccounts] = engine->subaccounts.count - engine->subaccounts.free.heap.count,
        [SHARE_portfolios] = engine->portfolios.count - engine->portfolios.free.heap.count,
        [SHARE_orders] =
            engine->orders.count - (uint32_t)(engine->conditionals.going != ORDER_NONE),
        [SHARE_conditionals] = engine->conditionals.count,
        [SHARE_positions] = engine->holdings.slots.count,
        [SHARE_leverages] = engine->leverages.slots.count,
        [SHARE_mmps] = engine->mmps.slots.count,
        [SHARE_credentials] = engine->credentials.slots.count,
        [SHARE_arms] = engine->arms.slots.count,
        [SHARE_withdrawals] = engine->withdrawals.slots.count,
    };
    uint32_t used[SHARE_TABLE_COUNT][SHARE_CLASS_COUNT] = { 0 }, differences = 0;
    uint32_t extra[SHARE_TABLE_COUNT][SHARE_CLASS_COUNT] = { 0 };

    for (uint32_t i = 0; i < engine->accounts.count; i++) {
        const struct account *account = &engine->accounts.rows[i];
        const uint32_t class = account->share_class;
        for (uint32_t table = 0; table < SHARE_TABLE_COUNT; table++) {
            used[table][class] += account->counts[table];
            extra[table][class] +=
                share_extra(class, (enum share_table)table, account->counts[table]);
        }
    }
    for (uint32_t table = 0; table < SHARE_TABLE_COUNT; table++) {
        uint32_t sum = 0;
        for (uint32_t class = 0; class < SHARE_CLASS_COUNT; class ++) {
            const struct share_use *use = &engine->share.tables[table];
            differences += used[table][class] != use->used[class];
            differences += extra[table][class] != use->extra[class];
            sum += used[table][class];
        }
        differences += sum != rows[table];
    }
    return differences;
}

/* Sums of accounts against a recount. An order that fired and goes on is in the
 * table and rests nowhere. */
static uint32_t total_differences(const struct audit *audit)
{
    const struct engine *engine = audit->engine;
    const struct account_position_table *positions = &engine->account_positions;
    uint32_t going = engine->conditionals.going != ORDER_NONE, orders = 0, holdings = 0;
    uint64_t sizes = 0;

    for (uint32_t i = 0; i < engine->accounts.count; i++)
        orders += engine->accounts.rows[i].counts[SHARE_orders];
    for (uint32_t i = 1; i < positions->slots.fresh; i++) {
        sizes += positions->rows[i].size;
        holdings += positions->rows[i].count;
    }
    return (uint32_t)(audit->orders + going != engine->orders.count) +
           (uint32_t)(orders != audit->orders) + (uint32_t)(sizes != audit->sizes) +
           (uint32_t)(holdings != audit->counted) + share_differences(engine);
}

/* I9. A portfolio that is up to date, and whose liquidation is not under way, was checked last as
 * it is now. */
static bool owes_what_it_lacks(const struct engine *engine, uint32_t index)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    int128 owed = engine->liquidation.owed[index];
    struct margin_standing standing;

    if (index == FUND_PORTFOLIO || portfolio->status != PORTFOLIO_IN_LIQUIDATION)
        return owed == 0;
    if (owed < 0 || liquidation_step_is_busy(engine, index))
        return owed >= 0;
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next)
        if (engine->holdings.rows[at].figure_mark !=
            margin_figure_mark(&engine->markets.rows[engine->holdings.rows[at].market]))
            return true;
    margin_standing(engine, index, &standing);
    return owed == (standing.equity < 0 ? -standing.equity : 0);
}

static void check_owed(struct audit *audit)
{
    const struct engine *engine = audit->engine;
    int128 owed = 0;
    bool is_right = true;

    for (uint32_t i = 0; i < engine->portfolios.count; i++) {
        owed += engine->liquidation.owed[i];
        is_right &= owes_what_it_lacks(engine, i);
    }
    if (!is_right || owed != engine->liquidation.owed_total)
        fail(audit, 9, MARKET_NONE);
}

static void finish_totals(struct audit *audit)
{
    const struct engine *engine = audit->engine;
    struct row_audit *row = audit->row;

    row->fee_account = engine->fee_account;
    row->fund = engine->portfolios.rows[FUND_PORTFOLIO].cash;
    row->owed = engine->liquidation.owed_total;
    row->claims = read_claims(engine);
    row->withdrawals_pending = engine->withdrawals_pending;
    row->deposits = engine->deposits;
    row->faucet = engine->faucet;
    row->top_ups = engine->top_ups;
    row->withdrawals_settled = engine->withdrawals_settled;
    int128 others = (int128)row->fee_account + row->withdrawals_pending + row->funding_pool;
    int128 sources = row->deposits + row->faucet + row->top_ups - row->withdrawals_settled;
    if (row->cash - row->cost + others != sources)
        fail(audit, 2, MARKET_NONE);
    if (row->cash + audit->value + others != sources)
        fail(audit, 3, MARKET_NONE);
    check_owed(audit);
    uint32_t wrong = total_differences(audit);
    row->recount_differences += wrong;
    if (wrong != 0)
        fail(audit, 6, MARKET_NONE);
}

static void run(struct audit *audit, const struct engine *engine, struct row_audit *row)
{
    memset(audit, 0, sizeof *audit);
    *row = (struct row_audit){ .market_count = engine->markets.count, .invariants = AUDIT_ALL };
    audit->engine = engine;
    audit->row = row;
    for (uint32_t i = 0; i < engine->portfolios.count; i++)
        add_portfolio(audit, i);
    for (uint32_t k = 0; k < engine->markets.count; k++)
        finish_market(audit, engine->markets.sorted[k]);
    finish_totals(audit);
}

void audit_read(const struct engine *engine, struct row_audit *row,
                struct row_audit_market *markets)
{
    struct audit audit;

    run(&audit, engine, row);
    for (uint32_t k = 0; markets != NULL && k < engine->markets.count; k++)
        markets[k] = audit.sums[engine->markets.sorted[k]];
}

bool audit_judge(const struct engine *engine, struct audit_verdict *verdict)
{
    struct audit audit;
    struct row_audit row;

    run(&audit, engine, &row);
    *verdict = audit.verdict;
    return row.invariants == AUDIT_ALL;
}

bool audit_holds(const struct engine *engine)
{
    struct audit_verdict verdict;

    return audit_judge(engine, &verdict);
}
