#include "engine/price/mark.h"

#include "engine/price/funding.h"
#include "engine/price/premium.h"
#include "engine/risk/margin.h"
#include "engine/state/trigger.h"

#define MARK_FUTURE_NS MARKET_SECOND_NS /* the furthest a publish time may lie after t */
#define MARK_VALUE_MAX ((uint128)1 << 60)

void mark_emit(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    struct effect_mark body = {
        .index = market->index_price,
        .mark = market->mark,
        .ema = market->ema,
        .premium_ppb = market->premium_ppb,
        .asset_id = market->record.asset_id,
        .valid = market->mark_valid,
    };

    market_next_seq(market);
    effects_emit(engine, EFFECT_mark, index, market->record.asset_id, &body);
}

/* Marks the index as not valid any more, and emits that once. */
static void lose_mark(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);

    if (!market->mark_valid)
        return;
    market->mark_valid = false;
    mark_emit(engine, index);
}

static int64_t best_price(const struct market *market, enum order_side side)
{
    uint32_t tick = book_best(&market->book, side);

    if (tick == BOOK_TICK_NONE)
        return 0;
    return (int64_t)(book_price(&market->book, side, tick) * market->record.tick_size);
}

/* Returns the quantity of the first `most` orders of a level. */
static uint64_t quantity_of_first(const struct engine *engine, const struct market *market,
                                  enum order_side side, uint32_t tick, uint32_t most)
{
    uint64_t quantity = 0;
    uint32_t at = book_head(&market->book, side, tick);

    for (uint32_t count = 0; count < most && at != ORDER_NONE; count++) {
        quantity += engine->orders.hot[at].remaining;
        at = engine->orders.hot[at].next;
    }
    return quantity;
}

uint64_t mark_impact(const struct engine *engine, uint32_t market_index, bool bids)
{
    const struct market *market = &engine->markets.rows[market_index];
    enum order_side side = bids ? ORDER_LONG : ORDER_SHORT;
    uint32_t left = (uint32_t)state_option(engine, OPTION_engine_makers_max);
    uint128 wanted = market->record.impact_notional;
    uint128 quantity = 0, notional = 0;

    for (uint32_t tick = book_best(&market->book, side);
         tick != BOOK_TICK_NONE && wanted != 0 && left != 0;
         tick = book_next(&market->book, side, tick)) {
        uint64_t price = book_price(&market->book, side, tick) * market->record.tick_size;
        uint32_t orders = book_order_count(&market->book, side, tick);
        uint64_t level = orders <= left ? book_quantity(&market->book, side, tick)
                                        : quantity_of_first(engine, market, side, tick, left);
        left -= orders <= left ? orders : left;
        if (notional + (uint128)level * price >= wanted) {
            /* average = wanted / (quantity + rest / price), in one fraction */
            uint128 above = wanted * price;
            uint128 below = quantity * price + (wanted - notional);
            return (uint64_t)(bids ? above / below : (above + below - 1) / below);
        }
        quantity += level;
        notional += (uint128)level * price;
    }
    return 0;
}

static int64_t middle(int64_t a, int64_t b, int64_t c)
{
    int64_t low = a < b ? a : b, high = a < b ? b : a;

    if (c < low)
        return low;
    return c > high ? high : c;
}

/* The floor of the mean, of negative numbers too (R1): the shift is arithmetic. */
static int64_t mean(int64_t a, int64_t b)
{
    return (a + b) >> 1;
}

/* Returns the third price of the median, from best bid, best ask and last trade; 0: none exists. */
static int64_t book_third(const struct market *market)
{
    int64_t known[3], bid = best_price(market, ORDER_LONG), ask = best_price(market, ORDER_SHORT);
    uint32_t count = 0;

    if (bid != 0)
        known[count++] = bid;
    if (ask != 0)
        known[count++] = ask;
    if (market->last_price != 0)
        known[count++] = (int64_t)market->last_price;
    if (count == 3)
        return middle(known[0], known[1], known[2]);
    if (count == 2)
        return mean(known[0], known[1]);
    return count == 1 ? known[0] : 0;
}

static uint64_t mark_of(const struct market *market)
{
    int64_t index = (int64_t)market->index_price;
    int64_t trend = index + (market->ema >> MARK_EMA_SHIFT);
    int64_t third = book_third(market);
    int64_t mark = third == 0 ? mean(index, trend) : middle(index, trend, third);
    int64_t low = money_ppm_up(market->index_price, MONEY_PPM - MARK_CLAMP_PPM);
    int64_t high = money_ppm_down(market->index_price, MONEY_PPM + MARK_CLAMP_PPM);

    mark = mark < low ? low : mark;
    mark = mark > high ? high : mark;
    return mark < 1 ? 1 : (uint64_t)mark;
}

/* Computes and emits the mark, if the index is valid and the market neither HALTED nor CLOSED. A
 * mark beyond R1's bound halts the market instead. */
static void recompute(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);

    if (market->state == MARKET_HALTED || market->state == MARKET_CLOSED ||
        !market_mark_is_valid(engine, index))
        return;
    uint64_t mark = mark_of(market);
    if (CC_UNLIKELY((uint128)mark * market->max_abs_size > MARK_VALUE_MAX)) {
        market_set_state(engine, index, MARKET_HALTED, CAUSE_ORACLE);
        return;
    }
    bool moved = mark != market->mark || !market->mark_valid; /* becoming valid counts too */
    market->mark = mark;
    market->mark_valid = true;
    if (moved)
        recheck_mark_moved(engine, index);
    recheck_waiting(engine, index);
    mark_emit(engine, index);
    trigger_mark_computed(engine, index);
}

/* True if the price is more than 10 % from the last valid index, within 60 s after it. */
static bool must_hold(const struct engine *engine, const struct market *market, uint64_t price)
{
    uint64_t last = market->valid_price;
    uint64_t move = price > last ? price - last : last - price;

    return last != 0 && engine->t_ns - market->valid_ns <= MARK_HOLD_WITHIN_NS &&
           move * 100 > last * MARK_HOLD_PERCENT;
}

/* Sets the index. Portfolios that wait for it are checked again in any state: a HALTED market gets
 * no new mark, but does not keep a portfolio from selling its other legs. */
static void accept_price(struct engine *engine, uint32_t index, uint64_t price)
{
    struct market *market = state_market(engine, index);

    market->index_price = price;
    market->valid_price = price;
    market->valid_ns = engine->t_ns;
    recheck_waiting(engine, index);
    recompute(engine, index);
}

/* Begins a hold. It never loosens the state: a market that takes no orders keeps its state. */
static void begin_hold(struct engine *engine, uint32_t index, uint64_t price)
{
    struct market *market = state_market(engine, index);

    market->hold_count = 1;
    market->hold_prices[0] = price;
    market->former_state = market->state;
    if (market->state < MARKET_CANCEL_ONLY)
        market_set_state(engine, index, MARKET_CANCEL_ONLY, CAUSE_ORACLE);
    lose_mark(engine, index);
}

/* Adds the next update of a held market. True when the last three agree; the newest then counts. */
static bool hold_agrees(struct market *market, uint64_t price)
{
    uint64_t *held = market->hold_prices;

    if (market->hold_count == MARKET_HOLD_UPDATES) {
        held[0] = held[1];
        held[1] = held[2];
        market->hold_count--;
    }
    held[market->hold_count++] = price;
    if (market->hold_count < MARKET_HOLD_UPDATES)
        return false;
    uint64_t low = held[0], high = held[0];
    for (uint32_t i = 1; i < MARKET_HOLD_UPDATES; i++) {
        low = held[i] < low ? held[i] : low;
        high = held[i] > high ? held[i] : high;
    }
    return (high - low) * 100 <= low * MARK_HOLD_AGREE_PERCENT;
}

static void clear_hold(struct market *market)
{
    market->hold_count = 0;
    memset(market->hold_prices, 0, sizeof market->hold_prices);
    market->former_state = 0;
}

/* Ends a hold whose updates agree: the market returns to its former state. */
static void resolve_hold(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    enum market_state former = (enum market_state)market->former_state;

    clear_hold(market);
    if (market->state == MARKET_CANCEL_ONLY)
        market_set_state(engine, index, former, CAUSE_ORACLE);
}

void mark_end_hold(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);

    if (market->hold_count == 0)
        return;
    uint64_t price = market->hold_prices[market->hold_count - 1];
    clear_hold(market);
    accept_price(engine, index, price);
}

void mark_leave_halt(struct engine *engine, uint32_t index)
{
    recompute(engine, index);
}

void mark_settle_at(struct engine *engine, uint32_t index, uint64_t price)
{
    struct market *market = state_market(engine, index);
    bool moved = price != market->mark;

    clear_hold(market);
    market->mark = price;
    market->mark_valid = false;
    if (moved)
        recheck_mark_moved(engine, index);
}

enum status mark_oracle(struct engine *engine, uint32_t index, uint64_t publish_ns, uint64_t price)
{
    struct market *market = state_market(engine, index);
    uint64_t age_ns = state_option(engine, OPTION_exchange_oracle_max_age_ms) * 1000000;

    if (price == 0 || price > MARKET_RAW_MAX)
        return STATUS_rejected_invalid_price;
    if (publish_ns <= market->publish_ns || publish_ns > INT64_MAX)
        return STATUS_order_rejected_expired;
    if (age_ns != 0 && (publish_ns > engine->t_ns + MARK_FUTURE_NS ||
                        (publish_ns < engine->t_ns && engine->t_ns - publish_ns > age_ns)))
        return STATUS_order_rejected_expired;
    market->publish_ns = publish_ns;
    if (market->hold_count == 0 && must_hold(engine, market, price)) {
        begin_hold(engine, index, price);
        return STATUS_request_completed;
    }
    if (market->hold_count != 0) {
        if (!hold_agrees(market, price))
            return STATUS_request_completed;
        resolve_hold(engine, index);
    }
    accept_price(engine, index, price);
    return STATUS_request_completed;
}

/* ema += tdiv((x << 20) - ema, 150), x = (impact mid or mid) - index; x = 0 without two sides. */
static void update_ema(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    int64_t bid = best_price(market, ORDER_LONG), ask = best_price(market, ORDER_SHORT);
    int64_t x = 0;

    if (bid != 0 && ask != 0) {
        int64_t impact_bid = (int64_t)mark_impact(engine, index, true);
        int64_t impact_ask = (int64_t)mark_impact(engine, index, false);
        bool both = impact_bid != 0 && impact_ask != 0;
        x = (both ? mean(impact_bid, impact_ask) : mean(bid, ask)) - (int64_t)market->index_price;
    }
    market->ema += (x * (INT64_C(1) << MARK_EMA_SHIFT) - market->ema) / MARK_EMA_SECONDS;
}

void mark_second(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);

    market->second_ns = engine->t_ns - engine->t_ns % MARKET_SECOND_NS;
    if (market_mark_is_valid(engine, index)) {
        update_ema(engine, index);
        recompute(engine, index);
        samples_append(engine, index);
    } else {
        lose_mark(engine, index);
    }
    funding_hour(engine, index);
    premium_sample(engine, index);
}
