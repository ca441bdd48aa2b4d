#include "engine/risk/margin.h"

#include "engine/risk/rests.h"
#include "engine/risk/risk.h"
#include "engine/risk/stress.h"
#include "engine/table/image_read.h"

enum { MARGIN_CLOSED_PART = 1000 }; /* of what a frozen market lets go: E may fall by this part */

/* The terms of one market (R4), IM with the slack of its open loss. */
struct figures {
    int128 initial;
    int128 loose;
    int64_t value;
    int64_t maintenance;
};

/* IM(worst * mark); `leverage` as set, 0: the default. */
static int128 initial_of_worst(const struct market *market, uint32_t leverage, int64_t size,
                               struct rests rests)
{
    return tier_initial(market->record.tiers,
                        (uint128)rests_worst(size, rests.buys, rests.sells) * market->mark,
                        leverage_in_force(market, leverage));
}

/* What the tiers of entry count for the taker's market: `elsewhere` is the sum of |s| of the
 * account's other portfolios in it. */
struct entry_terms {
    const struct market *market;
    uint64_t elsewhere;
    uint32_t leverage; /* as set, 0: the default */
};

/* R4, tiers of entry: max(IM(worst * mark), cdiv(IM(G * mark) * worst, G)). */
static int128 initial_of_entry(const struct entry_terms *terms, int64_t size, struct rests rests)
{
    const struct market *market = terms->market;
    uint64_t worst = rests_worst(size, rests.buys, rests.sells), whole = worst + terms->elsewhere;
    uint32_t leverage = leverage_in_force(market, terms->leverage);
    const struct market_tier *tiers = market->record.tiers;
    int128 alone = tier_initial(tiers, (uint128)worst * market->mark, leverage);

    if (CC_LIKELY(terms->elsewhere == 0) || worst == 0)
        return alone;
    int128 together = money_cdiv(
        tier_initial(tiers, (uint128)whole * market->mark, leverage) * (int128)worst, whole);
    return together > alone ? together : alone;
}

static int64_t maintenance_of(const struct market *market, int64_t size)
{
    return tier_maintenance(market->record.tiers, margin_abs(size) * market->mark);
}

/* Adds what a side's orders can lose at most against the mark; `loose` grows by what may be too
 * much. Orders that all rest at the bound lose exactly that. */
static void add_open_loss(struct figures *figures, const struct holding_side *side, int64_t worse)
{
    if (CC_LIKELY(worse <= 0 || side->size == 0))
        return;
    int128 most = (int128)worse * side->size;
    bool one_price = (int128)side->price_bound * side->size == side->notional;

    figures->initial += most;
    if (!one_price)
        figures->loose += most;
}

static void add_open_losses(const struct market *market, const struct holding *holding,
                            struct figures *figures)
{
    const struct holding_side *buys = &holding->sides[ORDER_LONG];
    const struct holding_side *sells = &holding->sides[ORDER_SHORT];
    int64_t mark = (int64_t)market->mark;

    add_open_loss(figures, buys, (int64_t)buys->price_bound - mark);
    add_open_loss(figures, sells, mark - (int64_t)sells->price_bound);
}

static inline void set_position_figures(const struct market *market, const struct holding *holding,
                                        struct figures *figures)
{
    figures->value = (int64_t)market->mark * holding->size - holding->cost;
    figures->maintenance = maintenance_of(market, holding->size);
}

static inline void set_order_figures(const struct market *market, const struct holding *holding,
                                     struct figures *figures)
{
    figures->initial =
        initial_of_worst(market, holding->leverage, holding->size, rests_now(holding));
    figures->loose = 0;
    add_open_losses(market, holding, figures);
}

static void holding_figures(const struct market *market, const struct holding *holding,
                            struct figures *figures)
{
    set_position_figures(market, holding, figures);
    set_order_figures(market, holding, figures);
}

static void put_position_figures(struct portfolio *portfolio, struct holding *holding,
                                 const struct figures *figures)
{
    portfolio->value += figures->value - holding->figure_value;
    portfolio->maintenance += figures->maintenance - holding->figure_maintenance;
    holding->figure_value = figures->value;
    holding->figure_maintenance = figures->maintenance;
}

static void put_order_figures(struct portfolio *portfolio, struct holding *holding,
                              const struct figures *figures)
{
    portfolio->initial += figures->initial - holding->figure_initial;
    portfolio->loose += figures->loose - holding->figure_loose;
    holding->figure_initial = figures->initial;
    holding->figure_loose = figures->loose;
}

static void put_figures(struct portfolio *portfolio, struct holding *holding,
                        const struct figures *figures)
{
    put_position_figures(portfolio, holding, figures);
    put_order_figures(portfolio, holding, figures);
}

/* Inline: nearly every order and fill comes to it by margin_bring. */
static inline __attribute__((always_inline)) void
refresh(struct engine *engine, struct portfolio *portfolio, struct holding *holding)
{
    const struct market *market = &engine->markets.rows[holding->market];
    uint64_t made_at = margin_figure_mark(market);
    struct figures figures;

    if (holding->figure_mark != (made_at | RESTS_CHANGED)) {
        set_position_figures(market, holding, &figures);
        put_position_figures(portfolio, holding, &figures);
    }
    set_order_figures(market, holding, &figures);
    put_order_figures(portfolio, holding, &figures);
    holding->figure_mark = made_at;
}

void margin_bring(struct engine *engine, struct portfolio *portfolio)
{
    uint32_t stale = portfolio->stale_holding;
    /* those of a changed one stay named: the flush gives back what of them is empty */
    uint32_t left = portfolio->changed ? stale : HOLDING_NONE;

    if (CC_LIKELY(portfolio->figure_epoch == engine->recheck.mark_epoch)) {
        if (stale == HOLDING_NONE)
            return;
        if (CC_LIKELY(stale != RECHECK_STALE_MANY)) {
            refresh(engine, portfolio, state_holding(engine, stale));
            portfolio->stale_holding = left;
            return;
        }
    }
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;) {
        struct holding *holding = state_holding(engine, at);
        const struct market *market = &engine->markets.rows[holding->market];
        if (holding->figure_mark != margin_figure_mark(market))
            refresh(engine, portfolio, holding);
        at = holding->next;
    }
    portfolio->figure_epoch = engine->recheck.mark_epoch;
    portfolio->unseen = true;
    portfolio->stale_holding = left;
}

void margin_drop(struct engine *engine, uint32_t index)
{
    static const struct figures nothing;
    struct holding *holding = state_holding(engine, index);
    struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);

    put_figures(portfolio, holding, &nothing);
    if (portfolio->stale_holding == index)
        portfolio->stale_holding = HOLDING_NONE;
}

/* The sum of max(0, price - mark) * q for buys and max(0, mark - price) * q for sells over the
 * holding's orders, and exact price bounds on the way. */
static int128 walk_open_loss(const struct engine *engine, const struct market *market,
                             struct holding *holding)
{
    const struct order_table *orders = &engine->orders;
    uint64_t bounds[2] = { 0, UINT64_MAX };
    int128 loss = 0;

    for (uint32_t at = holding->order_head; at != ORDER_NONE; at = orders->cold[at].list_next) {
        const struct order *order = &orders->hot[at];
        if (order->flags & ORDER_REDUCE_ONLY)
            continue;
        uint64_t ticks = book_price(&market->book, order->side, order->tick);
        uint64_t price = ticks * market->record.tick_size;
        int64_t worse = (int64_t)(price - market->mark);
        if (order->side == ORDER_SHORT)
            worse = -worse;
        if (worse > 0)
            loss += (int128)worse * (int64_t)order->remaining;
        if (order->side == ORDER_LONG ? price > bounds[0] : price < bounds[1])
            bounds[order->side] = price;
    }
    for (uint32_t side = 0; side < 2; side++)
        holding->sides[side].price_bound =
            holding->sides[side].margin_count == 0 ? 0 : bounds[side];
    return loss;
}

void margin_resolve(struct engine *engine, struct portfolio *portfolio)
{
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE && portfolio->loose != 0;) {
        struct holding *holding = state_holding(engine, at);
        if (holding->figure_loose != 0) {
            const struct market *market = &engine->markets.rows[holding->market];
            INVARIANT(holding->figure_mark == margin_figure_mark(market));
            int128 loss = walk_open_loss(engine, market, holding);
            struct figures figures = { .value = holding->figure_value,
                                       .maintenance = holding->figure_maintenance };
            figures.initial = loss + initial_of_worst(market, holding->leverage, holding->size,
                                                      rests_now(holding));
            INVARIANT(figures.initial <= holding->figure_initial);
            put_figures(portfolio, holding, &figures);
        }
        at = holding->next;
    }
    INVARIANT(portfolio->loose == 0);
}

/* What one order loses when it fills, against the mark. */
static int128 order_loss(const struct market *market, uint8_t side, uint64_t price, int64_t size)
{
    int64_t worse = (int64_t)(price - market->mark);

    if (side == ORDER_SHORT)
        worse = -worse;
    return worse > 0 ? (int128)worse * size : 0;
}

/* R4's reducing rule: what E and MM become, with the stress and the value of what is closed. */
struct reduction {
    int128 equity;
    int128 maintenance;
    int128 equity_after;
    int128 maintenance_after;
    int128 stress;
    int128 closed_value;
};

static bool reducing_rule(const struct reduction *is)
{
    if (is->equity_after - is->stress >= is->maintenance_after)
        return true;
    if (is->equity_after < 0)
        return false;
    if (is->stress != 0)
        return is->equity_after >= is->equity - money_cdiv(is->closed_value, MARGIN_CLOSED_PART);
    return is->equity_after - is->maintenance_after >= is->equity - is->maintenance;
}

/* What IM_m may become when the effect is to reduce (IM' <= IM): what it was. An old rest lets a
 * smaller one rest in its stead and pays for nothing else: where something trades it is left
 * out. */
static int128 reduced_bound(const struct entry_terms *terms, const struct holding *holding,
                            const struct margin_change *change)
{
    bool trades = change->size_after != holding->size;

    if (!trades)
        return initial_of_entry(terms, holding->size, rests_now(holding));
    return initial_of_entry(terms, holding->size, rests_before(holding, change)) -
           order_loss(terms->market, change->side, change->out_price, change->out_size);
}

/* --- frozen markets and tiers of entry -------------------------------------------------------- */

static uint64_t size_elsewhere(const struct engine *engine, const struct holding *holding)
{
    return engine->account_positions.rows[holding->account_position].size -
           margin_abs(holding->size);
}

int128 margin_entry_surcharge(const struct engine *engine, uint32_t index, uint32_t without)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    const struct account *owner = &engine->accounts.rows[portfolio->account];
    int128 more = 0;

    if (!account_position_counts(owner))
        return 0;
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next) {
        const struct holding *holding = &engine->holdings.rows[at];
        const struct market *market = &engine->markets.rows[holding->market];
        struct entry_terms terms = { market, size_elsewhere(engine, holding), holding->leverage };
        if (holding->market == without || terms.elsewhere == 0)
            continue;
        struct rests rests = rests_now(holding);
        more += initial_of_entry(&terms, holding->size, rests) -
                initial_of_worst(market, holding->leverage, holding->size, rests);
    }
    return more;
}

/* What the account's other portfolios hold in the market; `holding`: of this one, or
 * HOLDING_NONE. */
static uint64_t elsewhere_of(const struct engine *engine, uint32_t portfolio, uint32_t market,
                             uint32_t holding)
{
    const struct account *owner =
        &engine->accounts.rows[engine->portfolios.rows[portfolio].account];

    if (!account_position_counts(owner))
        return 0;
    if (holding != HOLDING_NONE)
        return size_elsewhere(engine, &engine->holdings.rows[holding]);
    return account_position_size(engine, engine->portfolios.rows[portfolio].account, market);
}

bool margin_beyond_position_limit(const struct engine *engine, uint32_t portfolio,
                                  uint32_t market_index, uint32_t holding_index)
{
    const struct market *market = &engine->markets.rows[market_index];
    const struct holding *holding = &engine->holdings.rows[holding_index];
    uint64_t limit = market->record.position_limit;

    if (limit == 0)
        return false;
    uint64_t worst = rests_worst(holding->size, holding->sides[ORDER_LONG].size,
                                 holding->sides[ORDER_SHORT].size);
    return (uint128)(worst + elsewhere_of(engine, portfolio, market_index, holding_index)) *
               market->mark >
           limit;
}

/* R4: an effect that makes the position or the resting part larger must stay below the limits of
 * the account's position and of the market's open interest. Reduce-only orders are in neither. */
static bool beyond_limits(const struct entry_terms *terms, const struct holding *holding,
                          const struct margin_change *change)
{
    const struct market_record *record = &terms->market->record;
    int64_t buys = holding->sides[ORDER_LONG].size, sells = holding->sides[ORDER_SHORT].size;
    bool grows = margin_abs(change->size_after) > margin_abs(holding->size) ||
                 change->rest_size > change->out_size;

    if (CC_LIKELY(record->position_limit == 0 && record->open_interest_limit == 0) || !grows)
        return false;
    *(change->side == ORDER_LONG ? &buys : &sells) += change->rest_size - change->out_size;
    uint64_t worst = rests_worst(change->size_after, buys, sells);
    if (record->position_limit != 0 &&
        (uint128)(worst + terms->elsewhere) * terms->market->mark > record->position_limit)
        return true;
    return record->open_interest_limit != 0 && change->size_after != holding->size &&
           (uint128)(terms->market->open_interest + (uint64_t)change->interest) *
                   terms->market->mark >
               record->open_interest_limit;
}

/* The taker test with all its terms. Out of line: passes_at_once decides nearly every order. */
static __attribute__((noinline)) bool passes_in_full(struct engine *engine, uint32_t index,
                                                     uint32_t market_index, uint32_t holding_index,
                                                     const struct margin_change *change)
{
    static const struct holding nothing;
    const struct market *market = &engine->markets.rows[market_index];
    const struct holding *holding =
        holding_index == HOLDING_NONE ? &nothing : state_holding(engine, holding_index);
    struct portfolio *portfolio = state_portfolio(engine, index);
    struct entry_terms terms = {
        .market = market,
        .elsewhere = elsewhere_of(engine, index, market_index, holding_index),
        .leverage = holding_index == HOLDING_NONE ? leverage_setting(engine, index, market_index)
                                                  : holding->leverage,
    };

    if (beyond_limits(&terms, holding, change))
        return false;
    int128 becomes = initial_of_entry(&terms, change->size_after, rests_after(holding, change)) +
                     order_loss(market, change->side, change->rest_price, change->rest_size);
    if (CC_UNLIKELY(change->out_size != 0))
        becomes -= order_loss(market, change->side, change->out_price, change->out_size);
    int128 stress = stress_of_portfolio(engine, index, market_index);
    if (holding_index != HOLDING_NONE)
        stress += stress_of_holding(engine, holding, rests_before(holding, change));
    int128 equity = margin_equity(portfolio);
    int128 equity_after = equity + change->equity;
    int128 initial = portfolio->initial + margin_entry_surcharge(engine, index, market_index);
    if (equity_after - stress >= initial + becomes)
        return true; /* whatever the record's part of IM was */
    int128 was = initial_of_worst(market, terms.leverage, holding->size, rests_now(holding));
    if (equity_after - stress >= initial - was + becomes)
        return true;

    int64_t maintenance_change =
        maintenance_of(market, change->size_after) - maintenance_of(market, holding->size);
    uint64_t before = margin_abs(holding->size);
    uint64_t moved = margin_abs(change->size_after - holding->size);
    bool closes = change->side == ORDER_LONG ? holding->size < 0 : holding->size > 0;
    struct reduction reduction = {
        .equity = equity,
        .maintenance = portfolio->maintenance,
        .equity_after = equity_after,
        .maintenance_after = portfolio->maintenance + maintenance_change,
        .stress = stress,
        .closed_value =
            closes ? (int128)(moved < before ? moved : before) * (int128)market->mark : 0,
    };
    if (becomes <= reduced_bound(&terms, holding, change) && reducing_rule(&reduction))
        return true;
    if (equity_after - stress < initial - portfolio->loose - was + becomes)
        return false;
    initial -= portfolio->initial;
    margin_resolve(engine, portfolio);
    risk_refresh(engine, index); /* slacks always follow from the figures */
    return equity_after - stress >= portfolio->initial + initial - was + becomes;
}

/* True if the taker test passes by its first terms alone, as it does for nearly every order: the
 * market has no limits, is not frozen and in no gap, the portfolio is its account's only one and
 * has no other market, and E' pays for all of IM before the effect and IM_m after it. */
static bool passes_at_once(const struct engine *engine, const struct portfolio *portfolio,
                           uint32_t market_index, uint32_t holding_index,
                           const struct margin_change *change)
{
    const struct market *market = &engine->markets.rows[market_index];
    const struct holding *holding = &engine->holdings.rows[holding_index];

    if ((market->record.position_limit | market->record.open_interest_limit) != 0 ||
        account_position_counts(&engine->accounts.rows[portfolio->account]) ||
        portfolio->holding_head != holding_index || holding_index == HOLDING_NONE ||
        holding->next != HOLDING_NONE || market->in_gap || market_is_frozen(engine, market_index))
        return false;
    int128 becomes = initial_of_worst(market, holding->leverage, change->size_after,
                                      rests_after(holding, change)) +
                     order_loss(market, change->side, change->rest_price, change->rest_size);
    if (CC_UNLIKELY(change->out_size != 0))
        becomes -= order_loss(market, change->side, change->out_price, change->out_size);
    return margin_equity(portfolio) + change->equity >= portfolio->initial + becomes;
}

bool margin_taker_passes(struct engine *engine, uint32_t index, uint32_t market_index,
                         uint32_t holding_index, const struct margin_change *change)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];

    return CC_LIKELY(passes_at_once(engine, portfolio, market_index, holding_index, change)) ||
           passes_in_full(engine, index, market_index, holding_index, change);
}

bool margin_maker_passes(const struct engine *engine, const struct holding *holding, int64_t before,
                         int64_t quantity, int128 walked, int128 fill_equity, bool is_worse)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[holding->portfolio];
    const struct market *market = &engine->markets.rows[holding->market];
    int64_t after = before + quantity;
    bool reduces =
        before != 0 && (before < 0) != (quantity < 0) && margin_abs(quantity) <= margin_abs(before);
    int128 other_markets = portfolio->maintenance - holding->figure_maintenance;
    int128 equity = margin_equity(portfolio) + walked;
    struct reduction reduction = {
        .equity = equity,
        .maintenance = other_markets + maintenance_of(market, before),
        .equity_after = equity + fill_equity,
        .maintenance_after = other_markets + maintenance_of(market, after),
        .stress = stress_of_portfolio(engine, holding->portfolio, holding->market),
        .closed_value = (int128)margin_abs(quantity) * (int128)market->mark,
    };

    if (reduces)
        return !is_worse || reducing_rule(&reduction);
    return reduction.equity_after - reduction.stress >= reduction.maintenance_after;
}

void margin_part(const struct engine *engine, const struct holding *holding,
                 struct margin_part *part)
{
    const struct market *market = &engine->markets.rows[holding->market];
    struct holding copy = *holding; /* the walk also tightens bounds */
    struct figures figures;

    holding_figures(market, holding, &figures);
    part->value = figures.value;
    part->maintenance = figures.maintenance;
    part->initial = initial_of_worst(market, holding->leverage, holding->size, rests_now(holding)) +
                    walk_open_loss(engine, market, &copy);
}

void margin_view(const struct engine *engine, uint32_t index, struct margin_view *view)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    int128 value = 0;

    *view = (struct margin_view){ .equity = portfolio->cash };
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;) {
        const struct holding *holding = &engine->holdings.rows[at];
        struct margin_part part;
        margin_part(engine, holding, &part);
        value += part.value;
        view->maintenance += part.maintenance;
        view->initial += part.initial;
        at = holding->next;
    }
    view->equity += value;
    view->withdrawable = portfolio->cash + (value < 0 ? value : 0) - view->initial;
}

int128 margin_equity_now(const struct engine *engine, uint32_t index, uint128 *gross)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    int128 equity = portfolio->cash;

    *gross = 0;
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next) {
        const struct holding *holding = &engine->holdings.rows[at];
        uint64_t mark = engine->markets.rows[holding->market].mark;
        equity += (int64_t)mark * holding->size - holding->cost;
        *gross += (uint128)margin_abs(holding->size) * mark;
    }
    return equity;
}

void margin_standing(const struct engine *engine, uint32_t index, struct margin_standing *standing)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];

    *standing = (struct margin_standing){ .equity = portfolio->cash };
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;) {
        const struct holding *holding = &engine->holdings.rows[at];
        const struct market *market = &engine->markets.rows[holding->market];
        standing->equity += (int64_t)market->mark * holding->size - holding->cost;
        standing->maintenance += maintenance_of(market, holding->size);
        at = holding->next;
    }
}

/* --- from an image ---------------------------------------------------------------------------- */

/* Figures at today's mark are what they would be made now, or, where an order list was walked, at
 * most that and less by no more than the slack. */
static bool figures_hold(const struct market *market, const struct holding *holding)
{
    struct figures made;

    holding_figures(market, holding, &made);
    if (holding->figure_value != made.value || holding->figure_maintenance != made.maintenance)
        return false;
    if (holding->figure_loose != 0)
        return holding->figure_loose == made.loose && holding->figure_initial == made.initial;
    return holding->figure_initial <= made.initial &&
           holding->figure_initial >= made.initial - made.loose;
}

const char *margin_load(struct engine *engine, uint32_t index)
{
    const struct holding *holding = state_holding(engine, index);
    const struct market *market = state_market(engine, holding->market);
    struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);

    for (unsigned side = 0; side < 2; side++)
        if (holding->sides[side].margin_count == 0 && holding->sides[side].price_bound != 0)
            return "a side without orders has a price bound";
    if (!image_read_is_money(holding->figure_value) ||
        !image_read_is_money(holding->figure_maintenance) ||
        !image_read_is_wide(holding->figure_initial) || !image_read_is_wide(holding->figure_loose))
        return "a record has figures beyond every bound";
    if (holding->figure_mark == margin_figure_mark(market) && !figures_hold(market, holding))
        return "the figures of a record are not those of its mark";
    portfolio->value += holding->figure_value;
    portfolio->maintenance += holding->figure_maintenance;
    portfolio->initial += holding->figure_initial;
    portfolio->loose += holding->figure_loose;
    return NULL;
}
