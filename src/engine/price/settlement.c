#include "engine/price/settlement.h"

#include "engine/price/funding.h"
#include "engine/price/mark.h"
#include "engine/risk/fund.h"
#include "engine/risk/ledger.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/state/private_event.h"
#include "engine/state/samples.h"
#include "engine/table/image_read.h"
#include "engine/table/image_sink.h"

#define SETTLEMENT_NOTICE_NS  (3600 * MARKET_SECOND_NS)
#define SETTLEMENT_VALUE_MAX  ((uint128)1 << 60) /* R1: N */
#define SETTLEMENT_AMOUNT_MAX ((int128)1 << 65)  /* in an image: g * D' fits 128 bits */

#define COVERED(field) +sizeof(((struct settlement *)0)->field)
static_assert(sizeof(struct settlement) == 0 SETTLEMENT_FIELDS(COVERED) SETTLEMENT_CACHES(COVERED),
              "every byte of a settlement is in one of its field lists");
#undef COVERED

/* --- the command ------------------------------------------------------------------------------ */

bool settlement_may_begin(const struct engine *engine, uint32_t index, bool by_force)
{
    const struct market *market = &engine->markets.rows[index];

    return by_force || (market->announced_ns != 0 &&
                        engine->t_ns - market->announced_ns >= SETTLEMENT_NOTICE_NS);
}

/* Returns T: the mean of the samples, or the last mark if the market was not closing, if there are
 * too few samples or if their mean breaks R1's bound. */
static uint64_t settlement_price(const struct engine *engine, uint32_t index)
{
    const struct market *market = &engine->markets.rows[index];
    uint64_t mean = samples_mean(engine, index, SAMPLES_LEAST);

    if (market->announced_ns == 0 || mean == 0 ||
        (uint128)mean * market->max_abs_size > SETTLEMENT_VALUE_MAX)
        return market->mark;
    return mean;
}

void settlement_begin(struct engine *engine, uint32_t index)
{
    struct settlement *settlement = &engine->settlements[index];

    funding_complete(engine, index);
    mark_settle_at(engine, index, settlement_price(engine, index));
    state_market(engine, index)->announced_ns = 0;
    work_queue_leave_gap(engine, index);
    market_set_state(engine, index, MARKET_CLOSED, CAUSE_OPERATOR);
    mark_emit(engine, index);
    INVARIANT(settlement->pass == SETTLEMENT_NONE);
    settlement->pass = SETTLEMENT_LOSSES;
    work_queue_push(engine, WORK_SETTLEMENT, index);
}

/* --- one position ----------------------------------------------------------------------------- */

/* T * s - c. */
static int64_t profit_of(const struct market *market, const struct holding *holding)
{
    return (int64_t)market->mark * holding->size - holding->cost;
}

static bool has_position(const struct engine *engine, uint32_t portfolio)
{
    uint32_t at = engine->portfolios.rows[portfolio].holding_head;

    while (at != HOLDING_NONE && engine->holdings.rows[at].size == 0)
        at = engine->holdings.rows[at].next;
    return at != HOLDING_NONE;
}

static void emit_settled(struct engine *engine, uint32_t index, int64_t profit, int64_t cut)
{
    const struct holding *holding = state_holding(engine, index);
    const struct market *market = state_market(engine, holding->market);
    struct effect_settlement body = {
        .portfolio = portfolio_effect_id(engine, holding->portfolio),
        .price = market->mark,
        .profit = profit,
        .cut = cut,
        .asset_id = market->record.asset_id,
    };

    effects_emit(engine, EFFECT_settlement, index, body.asset_id, &body);
}

/* Emits 2103 of an ended position and clears its fields, so that equal states stay equal. */
static void emit_gone(struct engine *engine, uint32_t index)
{
    struct holding *holding = state_holding(engine, index);
    uint16_t asset_id = state_market(engine, holding->market)->record.asset_id;
    struct effect_position body = {
        .portfolio = portfolio_effect_id(engine, holding->portfolio),
        .net_funding = holding->net_funding,
        .asset_id = asset_id,
    };

    private_event_add(engine, holding->portfolio, 1);
    effects_emit(engine, EFFECT_position, index, asset_id, &body);
    holding->net_funding = 0;
    holding->position_ns = 0;
    holding->position_sequence = 0;
    holding->position_index = 0;
    holding->liquidation_ns = 0;
}

/* What the pool gives to a settled portfolio that is below 0 with this equity: all that it lacks if
 * it holds nothing else, otherwise at most what it lost in this market since it was solvent
 * (R9). */
static int64_t lack_of(const struct engine *engine, uint32_t owner, int128 equity, int128 lost)
{
    int64_t cash = engine->portfolios.rows[owner].cash;

    if (owner == FUND_PORTFOLIO)
        return 0;
    if (!has_position(engine, owner))
        return cash < 0 ? -cash : 0;
    if (equity >= 0)
        return 0;
    return (int64_t)(-equity < lost ? -equity : lost);
}

/* Turns the position of an up-to-date portfolio into cash, less `cut`. If it is below 0 then, the
 * pool pays (lack_of). Returns that payment. */
static int64_t settle(struct engine *engine, uint32_t index, int64_t profit, int64_t cut)
{
    struct holding *holding = state_holding(engine, index);
    struct market *market = state_market(engine, holding->market);
    uint32_t owner = holding->portfolio;
    int128 equity = margin_equity(state_portfolio(engine, owner)) - cut;
    int128 lost = profit > 0 ? 0 : margin_loss(engine, holding);
    int64_t before = holding->size;

    market->funding_pool -= (int64_t)market->mark * holding->size - cut;
    holding->size = 0;
    holding->cost = 0;
    holding_move(engine, holding, before);
    holding->funding_epoch = 0;
    emit_settled(engine, index, profit, cut);
    ledger_post(engine, owner, CASH_settlement, profit, 0);
    ledger_post(engine, owner, CASH_settlement, -cut, 0);
    int64_t lacks = lack_of(engine, owner, equity, lost);
    market->funding_pool -= lacks;
    ledger_post(engine, owner, CASH_settlement, lacks, 0);
    emit_gone(engine, index);
    recheck_holding(engine, index);
    return lacks;
}

/* --- the passes ------------------------------------------------------------------------------- */

static void settle_loss(struct engine *engine, struct settlement *settlement, uint32_t index)
{
    const struct holding *holding = state_holding(engine, index);
    int64_t profit = profit_of(state_market(engine, holding->market), holding);

    if (profit > 0)
        settlement->profits += profit;
    else
        settlement->shortfall += settle(engine, index, profit, 0);
}

/* Returns min(cdiv(g * D', G), g, max(0, E)), and 0 for account 0. E does not move between the
 * refresh of the portfolio and its settlement: it contains the profit, as value or as cash. */
static int64_t cut_of(const struct settlement *settlement, const struct portfolio *portfolio,
                      int64_t profit)
{
    int128 equity = margin_equity(portfolio);

    if (settlement->shortfall == 0 || portfolio->account == 0 || equity <= 0)
        return 0;
    int128 cut = money_cdiv(profit * settlement->shortfall, settlement->profits);
    cut = cut > profit ? profit : cut;
    return (int64_t)(cut > equity ? equity : cut);
}

static void settle_profit(struct engine *engine, const struct settlement *settlement,
                          uint32_t index)
{
    const struct holding *holding = state_holding(engine, index);
    int64_t profit = profit_of(state_market(engine, holding->market), holding);
    int64_t cut = cut_of(settlement, state_portfolio(engine, holding->portfolio), profit);

    (void)settle(engine, index, profit, cut);
}

/* Begins the second pass: the fund pays min(D, max(0, its cash)) into the pool. */
static void begin_profits(struct engine *engine, uint32_t index)
{
    struct settlement *settlement = &engine->settlements[index];

    risk_refresh(engine, FUND_PORTFOLIO);
    int64_t cash = state_portfolio(engine, FUND_PORTFOLIO)->cash;
    int64_t paid = cash > 0 ? cash : 0;
    if (settlement->shortfall < paid)
        paid = (int64_t)settlement->shortfall;
    funding_to_fund(engine, -paid);
    state_market(engine, index)->funding_pool += paid;
    settlement->shortfall -= paid;
    settlement->pass = SETTLEMENT_PROFITS;
    settlement->from = 0;
}

bool settlement_unit(struct engine *engine, uint32_t index, uint32_t *units)
{
    struct settlement *settlement = &engine->settlements[index];
    uint32_t at = holding_next_holder(engine, index, settlement->from);

    if (at == HOLDING_NONE && settlement->pass == SETTLEMENT_PROFITS)
        return false;
    *units -= 1;
    if (at == HOLDING_NONE) {
        begin_profits(engine, index);
        return true;
    }
    const struct holding *holding = state_holding(engine, at);
    settlement->from = holding->portfolio + 1;
    if (holding->size == 0)
        return true;
    risk_refresh(engine, holding->portfolio);
    if (settlement->pass == SETTLEMENT_LOSSES)
        settle_loss(engine, settlement, at);
    else
        settle_profit(engine, settlement, at);
    risk_flush(engine);
    return true;
}

void settlement_finish(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    int64_t pool = market->funding_pool;

    engine->settlements[index] = (struct settlement){ 0 };
    market->funding_pool = 0;
    funding_to_fund(engine, pool);
    market->mark_valid = true;
    mark_emit(engine, index);
}

/* --- image ------------------------------------------------------------------------------------ */

void settlement_image(const struct engine *engine, uint32_t index, struct image_sink *sink)
{
    const struct settlement *row = &engine->settlements[index];

    SETTLEMENT_FIELDS(IMAGE_FIELD)
}

/* True if G fits the positions. The second pass divides by G, so G contains the profits of all that
 * are left, and only positions with a profit are left. */
static bool profits_hold(const struct engine *engine, uint32_t index,
                         const struct settlement *settlement)
{
    const struct market *market = &engine->markets.rows[index];
    int128 passed = 0, left = 0;
    uint32_t at = holding_next_holder(engine, index, 0);

    while (at != HOLDING_NONE) {
        const struct holding *holding = &engine->holdings.rows[at];
        int64_t profit = profit_of(market, holding);
        if (settlement->pass == SETTLEMENT_PROFITS && holding->size != 0 && profit <= 0)
            return false;
        if (holding->portfolio < settlement->from)
            passed += profit > 0 ? profit : 0;
        else
            left += profit > 0 ? profit : 0;
        at = holding_next_holder(engine, index, holding->portfolio + 1);
    }
    return settlement->pass == SETTLEMENT_LOSSES ? settlement->profits == passed
                                                 : settlement->profits >= left;
}

bool settlement_load(struct engine *engine, uint32_t index, struct image_read *read)
{
    struct settlement made = { 0 }, *row = &made;

    if (index >= engine->markets.count || engine->markets.rows[index].state != MARKET_CLOSED)
        return image_read_refuse(read, "a settlement of no market that is closed");
    if (read->left < 0 SETTLEMENT_FIELDS(IMAGE_READ_BYTES))
        return image_read_refuse(read, "the section ends inside a settlement");
    SETTLEMENT_FIELDS(IMAGE_READ)
    if (engine->settlements[index].pass != SETTLEMENT_NONE)
        return image_read_refuse(read, "a settlement is queued twice");
    if ((row->pass != SETTLEMENT_LOSSES && row->pass != SETTLEMENT_PROFITS) ||
        row->from > engine->portfolios.count || row->shortfall < 0 || row->profits < 0 ||
        row->shortfall > SETTLEMENT_AMOUNT_MAX || row->profits > SETTLEMENT_AMOUNT_MAX ||
        !profits_hold(engine, index, row))
        return image_read_refuse(read, "a settlement that cannot be");
    engine->settlements[index] = made;
    return true;
}

bool settlement_holds(const struct engine *engine)
{
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        const struct market *market = &engine->markets.rows[i];
        bool is_open = engine->settlements[i].pass != SETTLEMENT_NONE;
        if (market->state != MARKET_CLOSED)
            continue;
        if (market->mark_valid == is_open || market->hold_count != 0 || market->funding_open)
            return false;
        if (!is_open && (holding_next_holder(engine, i, 0) != HOLDING_NONE ||
                         market->funding_pool != 0 || market->cancel_sequence != 0))
            return false;
    }
    return true;
}
