#include "engine/trade/match.h"

#include "engine/risk/fee.h"
#include "engine/risk/rests.h"
#include "engine/risk/risk.h"
#include "engine/trade/fill.h"
#include "engine/trade/prefetch.h"
#include "engine/trade/resting.h"

#define MATCH_VALUE_MAX (UINT64_C(1) << 60)                       /* R1: N */
#define MATCH_CASH_MAX  (PORTFOLIO_CASH_MAX - (INT64_C(1) << 54)) /* room for one command's PnL */

enum {
    MATCH_LONG = 8, /* from so many makers on, prefetching pays */
    LOOKAHEAD = 4,  /* orders that a long walk knows before it meets them; a power of two */
};
#define LOOKAHEAD_NONE UINT32_MAX

/* The next orders of the level that a long walk is in. */
struct lookahead {
    uint32_t turn; /* which of them is the nearest, LOOKAHEAD_NONE: they are of another level */
    uint32_t orders[LOOKAHEAD];
};

/* A walk in progress. */
struct walk {
    const struct match_taker *taker;
    struct market *market;
    struct match *match;
    uint64_t reducible; /* what a reduce-only taker may still fill */
    uint64_t stamp;
    uint64_t makers_most;
    struct fill_house house; /* of the taker, while rebates are spent */
    int128 equity;           /* E of a house taker before the walk */
    uint32_t day;            /* of t: what a fee tier goes by */
    uint8_t fee_tier;        /* of the taker */
    struct lookahead ahead;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool is_worse(const struct order *maker, uint64_t price, const struct market *market)
{
    return margin_price_is_worse((enum order_side)maker->side, price, market->mark);
}

/* What a position counts in the open interest. */
static int64_t longs(int64_t position)
{
    return position > 0 ? position : 0;
}

/* True if R4's maker test applies to this fill. */
static bool must_test(const struct portfolio *portfolio, const struct order *maker, uint64_t price,
                      uint64_t mark, int64_t position, uint64_t quantity)
{
    if (margin_price_is_worse((enum order_side)maker->side, price, mark))
        return true;
    if (CC_LIKELY(!portfolio->flagged))
        return false;
    bool opposes = maker->side == ORDER_LONG ? position < 0 : position > 0;
    return !opposes || quantity > margin_abs(position);
}

/* True if position notional and cash stay within R1's bounds, whatever PnL the fill realises. */
static bool within_bounds(const struct portfolio *portfolio, int64_t position, uint64_t mark)
{
    return (uint128)margin_abs(position) * mark <= MATCH_VALUE_MAX &&
           portfolio->cash <= MATCH_CASH_MAX && portfolio->cash >= -MATCH_CASH_MAX;
}

/* Meets a live order of another account: it fills, fails the maker test, or has nothing to fill. */
static void walk_maker(struct engine *engine, struct walk *walk, const struct order *maker,
                       struct holding *holding, const struct portfolio *portfolio, uint64_t price)
{
    const struct market *market = walk->market;
    struct match *match = walk->match;
    bool walked = holding->walk_stamp == walk->stamp;
    int64_t position = holding->size + (walked ? holding->walk_quantity : 0);
    int64_t equity = walked ? holding->walk_equity : 0;
    uint64_t quantity =
        least(least(match->remaining, walk->reducible), margin_usable(maker, position));

    if (quantity == 0)
        return; /* reduce-only without a position left: the act finds it dead */
    uint64_t notional = price * quantity;
    int64_t moved = maker->side == ORDER_LONG ? (int64_t)quantity : -(int64_t)quantity;
    int128 against_mark = margin_fill_equity(market->mark, price, moved);
    const struct account *owner = state_account(engine, maker->account);
    if (CC_UNLIKELY(owner->volume_day != walk->day))
        fee_begin_day(engine, maker->account);
    uint8_t maker_tier = owner->fee_tier;
    struct fill_fees fees = {
        .maker = fee_amount(notional, market->record.maker_ppm[maker_tier]),
        .taker = fee_amount(notional, market->record.taker_ppm[walk->fee_tier]),
    };
    if (CC_UNLIKELY(walk->house.kind != FILL_TRADE))
        fill_house_fees(&walk->house, notional, walk->equity + match->equity - against_mark, &fees);

    if (CC_UNLIKELY(!within_bounds(portfolio, position + moved, market->mark)))
        match->guard = true;
    else if (CC_UNLIKELY(must_test(portfolio, maker, price, market->mark, position, quantity)) &&
             !margin_maker_passes(engine, holding, position, moved, equity,
                                  against_mark - fees.maker, is_worse(maker, price, market))) {
        match->refused++;
        return;
    }
    holding->walk_stamp = walk->stamp;
    holding->walk_quantity = position + moved - holding->size;
    holding->walk_equity = (int64_t)(equity + against_mark - fees.maker);
    match->interest += longs(position + moved) - longs(position);
    match->filled += quantity;
    match->notional += notional;
    match->remaining -= quantity;
    match->equity -= against_mark + fees.taker;
    if (CC_UNLIKELY(walk->house.kind != FILL_TRADE))
        fill_house_spend(&walk->house, fees.maker);
    walk->reducible -= walk->taker->reduce_only ? quantity : 0;
}

/* Meets an order of the taker's account (R3, STP). True when the walk ends here. */
static bool walk_own(struct walk *walk, const struct order *maker)
{
    struct match *match = walk->match;

    match->self = true;
    switch ((enum match_stp)walk->taker->stp) {
    case STP_EXPIRE_TAKER:
        match->self_first = match->filled == 0;
        match->makers--; /* it is not changed */
        match->stop = MATCH_SELF;
        return true;
    case STP_EXPIRE_BOTH:
        match->stop = MATCH_BOTH;
        return true;
    case STP_EXPIRE_MAKER:
        return false;
    case STP_DECREMENT:
        if (match->remaining <= maker->remaining) {
            match->used_up = true;
            match->stop = MATCH_DONE;
            return true;
        }
        match->remaining -= maker->remaining;
        return false;
    }
    return false;
}

/* True, with match->stop set, if the walk ends before it meets the next maker. */
static bool walk_is_over(struct walk *walk)
{
    struct match *match = walk->match;

    if (match->remaining == 0)
        match->stop = MATCH_DONE;
    else if (walk->reducible == 0)
        match->stop = MATCH_REDUCED;
    else if (match->makers == walk->makers_most)
        match->stop = MATCH_MAX;
    else
        return false;
    return true;
}

/* Notes the next orders of the level after `at`; after its last, any. */
static void look_ahead(const struct engine *engine, struct lookahead *ahead, uint32_t at)
{
    for (uint32_t i = 0; i < LOOKAHEAD; i++)
        ahead->orders[i] = at = engine->orders.hot[at].next;
    ahead->turn = 0;
}

/* What a walk reads of a maker. */
enum fetch {
    FETCH_LIFE,    /* whether it is dead */
    FETCH_MARGIN,  /* its margin too */
    FETCH_FIGURES, /* all of its records: the walk refreshes their figures */
};

/* Prefetches for a long walk, which memory latency limits: the line of the order five ahead, the
 * holding and account of the order four ahead, and the portfolio and the expiry of the order two
 * ahead, as far as the walk reads them. */
static inline void fetch_for_walk(const struct engine *engine, struct lookahead *ahead, uint32_t at,
                                  enum fetch what)
{
    if (ahead->turn == LOOKAHEAD_NONE)
        look_ahead(engine, ahead, at);

    const struct order *hot = engine->orders.hot;
    uint32_t turn = ahead->turn++ % LOOKAHEAD;
    uint32_t far = ahead->orders[(turn + LOOKAHEAD - 1) % LOOKAHEAD];
    uint32_t near = ahead->orders[(turn + 1) % LOOKAHEAD];
    const struct holding *holding = &engine->holdings.rows[hot[far].holding];
    uint32_t owner = engine->holdings.rows[hot[near].holding].portfolio;
    const struct portfolio *portfolio = &engine->portfolios.rows[owner];

    ahead->orders[turn] = hot[far].next;
    CC_PREFETCH(&hot[hot[far].next]);
    CC_PREFETCH(holding);
    CC_PREFETCH(&holding->sides[hot[far].side].cancel_sequence);
    CC_PREFETCH(&engine->accounts.rows[hot[far].account]);
    CC_PREFETCH(portfolio);
    if (what != FETCH_LIFE) {
        const struct account *account = &engine->accounts.rows[hot[near].account];
        CC_PREFETCH(&portfolio->slack_maintenance);
        if (CC_UNLIKELY(account->volume_day != account_day(engine->t_ns)))
            prefetch_lines(account->volume, sizeof account->volume); /* its tier is made of them */
    }
    if (CC_UNLIKELY(order_tif(&hot[far]) == ORDER_GTT))
        CC_PREFETCH(&engine->orders.cold[far]);
    if (CC_UNLIKELY(order_tif(&hot[near]) == ORDER_GTT))
        CC_PREFETCH(&engine->orders.extras[order_extra_row(&engine->orders, near)]);
    if (CC_UNLIKELY(what == FETCH_FIGURES)) {
        prefetch_lines(holding, sizeof *holding);
        prefetch_portfolio(portfolio);
    }
}

/* The position that the last walk's fills leave. */
static int64_t walk_leaves(const struct engine *engine, const struct holding *holding)
{
    bool walked = holding->walk_stamp == engine->recheck.walk_count;

    return holding->size + (walked ? holding->walk_quantity : 0);
}

/* Prefetches for an act, which writes nearly every line of a maker and knows the path of the walk:
 * the line of the order eight ahead, the records of the order four ahead, and the portfolio of the
 * order two ahead. The buckets of the id map are nearly each on a page of its own, and a fetch ends
 * when its page is found: of eight makers at once, so that these searches overlap. `bucket`: of
 * today in an account's volumes, where anything fills. A line that is not needed is as dear as one
 * that is. */
static void fetch_for_act(const struct engine *engine, uint32_t met, ptrdiff_t bucket, bool fills)
{
    const struct order *hot = engine->orders.hot;
    const uint32_t *path = &engine->path.orders[met];
    uint32_t far = path[STATE_PATH_AHEAD], middle = path[STATE_PATH_AHEAD / 2], near = path[2];
    const struct holding *holding = &engine->holdings.rows[hot[near].holding];
    const struct account *owner = &engine->accounts.rows[hot[middle].account];

    CC_PREFETCH(&hot[far]);
    CC_PREFETCH(&engine->orders.cold[middle]);
    if (met % STATE_PATH_AHEAD == 0)
        for (uint32_t i = 0; i < STATE_PATH_AHEAD; i++)
            order_map_prefetch_slot(&engine->order_map, &hot[path[i]]);
    prefetch_lines(&engine->holdings.rows[hot[middle].holding], sizeof(struct holding));
    CC_PREFETCH(owner);
    if (CC_LIKELY(fills))
        CC_PREFETCH(&owner->volume[bucket]);
    prefetch_portfolio(&engine->portfolios.rows[holding->portfolio]);
    if (CC_UNLIKELY(order_tif(&hot[near]) == ORDER_GTT)) { /* its deadline leaves */
        CC_PREFETCH(&engine->orders.extras[order_extra_row(&engine->orders, near)]);
        timer_heap_prefetch(&engine->expiries, near);
    }
    if (holding->order_head == holding->order_tail && walk_leaves(engine, holding) == 0)
        holding_prefetch_slot(&engine->holdings, holding); /* it may be freed */
}

/* Notes a maker in the path. */
static void note_maker(struct engine *engine, uint32_t at)
{
    struct path *path = &engine->path;

    if (CC_LIKELY(path->count < STATE_PATH_MAX))
        path->orders[path->count++] = at;
}

/* True if a portfolio must be refreshed before its figures are used. One that has seen the current
 * marks need not be, unless it lacks maintenance margin: the obstacle to its liquidation may be
 * gone although no mark moved. The time of its last check must not matter, as an image does not
 * have it. */
static bool must_refresh(const struct engine *engine, const struct portfolio *portfolio)
{
    return portfolio->figure_epoch != engine->recheck.mark_epoch ||
           portfolio->slack_maintenance < 0 || portfolio->status == PORTFOLIO_IN_LIQUIDATION;
}

/* Walks the orders of one level in their queue. True when the walk ends here. */
static bool walk_level(struct engine *engine, struct walk *walk, uint32_t head, uint64_t price)
{
    walk->ahead.turn = LOOKAHEAD_NONE;
    for (uint32_t at = head; at != ORDER_NONE;) {
        const struct order *maker = &engine->orders.hot[at];
        struct holding *holding = state_holding(engine, maker->holding);
        uint32_t owner = holding->portfolio;
        const struct portfolio *portfolio = state_portfolio(engine, owner);

        if (walk_is_over(walk))
            return true;
        bool is_behind = must_refresh(engine, portfolio);
        if (walk->match->makers++ >= MATCH_LONG)
            fetch_for_walk(engine, &walk->ahead, at, is_behind ? FETCH_FIGURES : FETCH_MARGIN);
        else
            CC_PREFETCH(&engine->orders.hot[maker->next]);
        note_maker(engine, at);
        if (CC_UNLIKELY(is_behind))
            risk_refresh(engine, owner);
        if (CC_LIKELY(!resting_is_dead(engine, maker, at, holding, portfolio))) {
            if (CC_LIKELY(maker->account != walk->taker->account))
                walk_maker(engine, walk, maker, holding, portfolio, price);
            else if (walk_own(walk, maker))
                return true;
        }
        at = maker->next;
    }
    return false;
}

void match_walk(struct engine *engine, const struct match_taker *taker, struct match *match)
{
    struct market *market = state_market(engine, taker->market);
    enum order_side other = book_opposite((enum order_side)taker->side);
    fee_refresh(engine, taker->account);
    struct walk walk = {
        .taker = taker,
        .market = market,
        .match = match,
        .reducible = taker->reduce_only ? margin_abs(taker->position) : UINT64_MAX,
        .stamp = ++engine->recheck.walk_count,
        .makers_most = taker->makers_most,
        .house = taker->house,
        .equity = margin_equity(state_portfolio(engine, taker->portfolio)),
        .day = account_day(engine->t_ns),
        .fee_tier = engine->accounts.rows[taker->account].fee_tier,
    };
    uint32_t tick = book_best(&market->book, other);

    engine->path.count = 0;
    *match = (struct match){ .remaining = taker->quantity, .stop = MATCH_BOOK };
    while (tick <= taker->limit_tick && tick != BOOK_TICK_NONE) {
        uint64_t price = book_price(&market->book, other, tick) * market->record.tick_size;
        if (walk_level(engine, &walk, book_head(&market->book, other, tick), price))
            break;
        tick = book_next(&market->book, other, tick);
    }
    if (match->stop == MATCH_BOOK) {
        if (match->remaining == 0)
            match->stop = MATCH_DONE;
        else if (walk.reducible == 0)
            match->stop = MATCH_REDUCED;
    }
    const struct portfolio *portfolio = state_portfolio(engine, taker->portfolio);
    int64_t moved = taker->side == ORDER_LONG ? (int64_t)match->filled : -(int64_t)match->filled;
    if (match->filled != 0 && !within_bounds(portfolio, taker->position + moved, market->mark))
        match->guard = true;
}

/* Returns the first live order of a level from `at` on, or ORDER_NONE. Every dead order that it
 * passes costs one of *left. */
static uint32_t first_live(const struct engine *engine, uint32_t at, uint64_t *left)
{
    for (; at != ORDER_NONE && *left != 0; at = engine->orders.hot[at].next, --*left) {
        const struct order *maker = &engine->orders.hot[at];
        const struct holding *holding = &engine->holdings.rows[maker->holding];
        const struct portfolio *portfolio = &engine->portfolios.rows[holding->portfolio];
        if (!resting_is_dead(engine, maker, at, holding, portfolio))
            return at;
    }
    return ORDER_NONE;
}

uint64_t match_best_live(const struct engine *engine, uint32_t market, enum order_side side,
                         uint32_t *passed)
{
    const struct book *book = &engine->markets.rows[market].book;
    uint64_t most = state_option(engine, OPTION_engine_makers_max), left = most;
    uint32_t at = ORDER_NONE;

    for (uint32_t tick = book_best(book, side);
         tick != BOOK_TICK_NONE && left != 0 && at == ORDER_NONE;
         tick = book_next(book, side, tick))
        at = first_live(engine, book_head(book, side, tick), &left);
    *passed = (uint32_t)(most - left);
    return at == ORDER_NONE ? 0 : resting_price(engine, &engine->orders.hot[at]);
}

bool match_crosses(struct engine *engine, const struct match_taker *taker, struct match *match)
{
    struct lookahead ahead;
    const struct market *market = state_market(engine, taker->market);
    enum order_side other = book_opposite((enum order_side)taker->side);
    uint32_t tick = book_best(&market->book, other);

    engine->path.count = 0;
    *match = (struct match){ .remaining = taker->quantity, .stop = MATCH_BOOK };
    for (; tick <= taker->limit_tick && tick != BOOK_TICK_NONE;
         tick = book_next(&market->book, other, tick)) {
        uint32_t at = book_head(&market->book, other, tick);
        ahead.turn = LOOKAHEAD_NONE;
        for (; at != ORDER_NONE; at = engine->orders.hot[at].next) {
            const struct order *maker = &engine->orders.hot[at];
            const struct holding *holding = state_holding(engine, maker->holding);
            const struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
            if (!resting_is_dead(engine, maker, at, holding, portfolio))
                return true;
            if (match->makers == taker->makers_most)
                return true;
            if (match->makers++ >= MATCH_LONG)
                fetch_for_walk(engine, &ahead, at, FETCH_LIFE);
            note_maker(engine, at);
        }
    }
    return false;
}

/* Applies STP between the taker's and the maker's order of one account. */
static void act_own(struct engine *engine, const struct match_taker *taker, struct order *order,
                    uint32_t maker)
{
    uint64_t size = engine->orders.hot[maker].remaining;

    if (taker->stp == STP_DECREMENT && order->remaining < size) {
        resting_reduce(engine, maker, order->remaining);
        return;
    }
    if (taker->stp == STP_DECREMENT && order->remaining > size)
        order->remaining -= size;
    resting_remove(engine, maker, ORDER_CANCELED, STATUS_self_trade_prevention);
}

/* Repeats the walk's maker test on figures that include the fills so far. */
static bool act_refuses(struct engine *engine, const struct market *market, uint32_t at,
                        uint64_t price, uint64_t quantity, const struct fill_house *house)
{
    const struct order *maker = &engine->orders.hot[at];
    const struct holding *holding = state_holding(engine, maker->holding);
    struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
    uint64_t notional = price * quantity;
    int64_t moved = maker->side == ORDER_LONG ? (int64_t)quantity : -(int64_t)quantity;

    if (!must_test(portfolio, maker, price, market->mark, holding->size, quantity))
        return false;
    margin_bring(engine, portfolio);
    uint8_t tier = engine->accounts.rows[maker->account].fee_tier;
    struct fill_fees fees = { .maker = fee_amount(notional, market->record.maker_ppm[tier]) };
    if (CC_UNLIKELY(house->kind != FILL_TRADE))
        fill_house_fees(house, notional, 0, &fees);
    return !margin_maker_passes(engine, holding, holding->size, moved, 0,
                                margin_fill_equity(market->mark, price, moved) - fees.maker,
                                is_worse(maker, price, market));
}

/* Removes, reduces or fills the maker at the head of the book. Returns the filled quantity. */
static uint64_t act_maker(struct engine *engine, const struct match_taker *taker,
                          const struct match *match, struct fill_house *house,
                          struct fill_party *party, uint32_t at)
{
    struct order *order = party->order;
    const struct order *maker = &engine->orders.hot[at];
    const struct holding *holding = state_holding(engine, maker->holding);
    const struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
    const struct market *market = state_market(engine, maker->market);
    uint64_t price = resting_price(engine, maker);

    if (CC_UNLIKELY(resting_is_dead(engine, maker, at, holding, portfolio))) {
        uint8_t reason;
        enum order_state state = resting_death(engine, at, &reason);
        resting_remove(engine, at, state, reason);
        return 0;
    }
    if (CC_UNLIKELY(maker->account == taker->account)) {
        act_own(engine, taker, order, at);
        return 0;
    }
    uint64_t quantity = least(order->remaining, margin_usable(maker, holding->size));
    if (taker->reduce_only)
        quantity = least(quantity, margin_abs(party->holding->size));
    INVARIANT(quantity != 0);
    if (CC_UNLIKELY(match->refused != 0) &&
        act_refuses(engine, market, at, price, quantity, house)) {
        resting_remove(engine, at, ORDER_CANCELED, STATUS_insufficient_margin_to_trade);
        return 0;
    }
    bool clipped = quantity < maker->remaining && quantity < order->remaining;
    fill_execute(engine, at, party, quantity, house);
    if (CC_UNLIKELY(clipped && resting_is_dead(engine, maker, at, holding, portfolio)))
        resting_remove(engine, at, ORDER_CANCELED, REASON_reduce_only);
    return quantity;
}

void match_act(struct engine *engine, const struct match_taker *taker, const struct match *match,
               uint32_t order)
{
    struct market *market = state_market(engine, taker->market);
    enum order_side other = book_opposite((enum order_side)taker->side);
    struct fill_house house = taker->house;
    uint64_t filled = 0;
    uint64_t before = order_filled_notional(&engine->orders, order); /* a replaced order's fills */

    /* The taker's portfolio is first in the list of portfolios to check. Each maker's is checked at
     * once, unless a maker was refused: then act_refuses reads `flagged` again, so all checks wait
     * for the end. */
    rests_changed(engine, engine->orders.hot[order].holding);
    uint32_t last = engine->recheck.changed_head;
    if (match->makers == 0)
        return;
    struct fill_party party = fill_party_of(engine, order, LIQUIDITY_TAKER);
    ptrdiff_t bucket = party.volume - party.owner->volume;
    for (uint32_t met = 0; met < match->makers; met++) {
        uint32_t tick = book_best(&market->book, other);
        INVARIANT(tick <= taker->limit_tick);
        uint32_t at = book_head(&market->book, other, tick);
        if (match->makers > MATCH_LONG && met < STATE_PATH_MAX)
            fetch_for_act(engine, met, bucket, match->filled != 0);
        filled += act_maker(engine, taker, match, &house, &party, at);
        if (CC_LIKELY(match->refused == 0))
            risk_flush_until(engine, last);
    }
    INVARIANT(filled == match->filled);
    INVARIANT(order_filled_notional(&engine->orders, order) - before == match->notional);
}
