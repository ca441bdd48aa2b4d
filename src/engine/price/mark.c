#include "engine/price/mark.h"

#include "base/rule.h"
#include "engine/price/funding.h"
#include "engine/price/premium.h"
#include "engine/state/access.h"
#include "engine/state/trigger.h"
#include "engine/table/order_record.h"

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

static bool has_rested(const struct engine *engine, uint32_t order)
{
    return order_entered_ns(&engine->orders, order) + MARK_REST_NS <= engine->t_ns;
}

/* Returns the quantity of the orders of a level that count (R5), at most a little above `enough`.
 * Their times of entry rise: if the last has rested all have, and behind the first that has not
 * there is none that has. Each look takes one from *left, which is not 0. */
static uint64_t rested_quantity(const struct engine *engine, const struct book_level *level,
                                uint32_t *left, uint64_t enough)
{
    bool all = has_rested(engine, level->tail);
    uint32_t looks = *left, at = level->head;
    uint64_t quantity = 0;

    while (at != ORDER_NONE && looks != 0 && quantity < enough) {
        const struct order *order = &engine->orders.hot[at];
        looks--;
        if (!all && !has_rested(engine, at))
            break;
        if ((order->flags & (ORDER_REDUCE_ONLY | ORDER_WAS_REDUCING)) == 0)
            quantity += order->remaining;
        at = order->next;
    }
    *left = looks;
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
        uint64_t enough = (uint64_t)((wanted - notional + price - 1) / price);
        const struct book_level *at = book_level_at(&market->book.sides[side], tick);
        uint64_t level = rested_quantity(engine, at, &left, enough);
        if (level >= enough) {
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

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    value = value < low ? low : value;
    return value > high ? high : value;
}

uint64_t mark_third(const struct engine *engine, uint32_t market_index)
{
    const struct market *market = &engine->markets.rows[market_index];
    uint32_t book = market_record_book_ppm(&market->record);
    int64_t third = market_matches(market) ? book_third(market) : 0;

    if (third == 0)
        return 0;
    third = clamp(third, money_ppm_up(market->index_price, MONEY_PPM - book),
                  money_ppm_down(market->index_price, MONEY_PPM + book));
    return (uint64_t)third;
}

/* Of a market that closes (R9): on its way from the index to the mean of the samples. */
static int64_t closing_mark(const struct engine *engine, uint32_t index)
{
    const struct market *market = &engine->markets.rows[index];
    uint64_t since = engine->t_ns - market->announced_ns - MARK_CLOSING_NS;
    uint64_t seconds = since / MARKET_SECOND_NS;
    uint64_t mean_price = samples_mean(engine, index, 1);
    int64_t price = (int64_t)market->index_price;

    if (mean_price == 0)
        return price;
    seconds = seconds < MARK_CLOSING_SECONDS ? seconds : MARK_CLOSING_SECONDS;
    return price + ((int64_t)mean_price - price) * (int64_t)seconds / MARK_CLOSING_SECONDS;
}

static uint64_t mark_of(const struct engine *engine, uint32_t market_index)
{
    const struct market *market = &engine->markets.rows[market_index];
    int64_t index = (int64_t)market->index_price;
    int64_t trend = index + (market->ema >> MARK_EMA_SHIFT);
    uint32_t book = market_record_book_ppm(&market->record);
    int64_t low = money_ppm_up(market->index_price, MONEY_PPM - book);
    int64_t high = money_ppm_down(market->index_price, MONEY_PPM + book);
    int64_t third = (int64_t)mark_third(engine, market_index);
    int64_t mark;

    if (market->announced_ns != 0 && engine->t_ns - market->announced_ns >= MARK_CLOSING_NS)
        mark = closing_mark(engine, market_index);
    else if (third == 0)
        mark = clamp(mean(index, trend), low, high);
    else
        mark = clamp(middle(index, trend, third), low, high);
    return mark < 1 ? 1 : (uint64_t)mark;
}

/* True if a price, which may be any, is further from the reference than this part of it. */
static bool is_beyond(uint64_t price, uint64_t reference, uint64_t part_ppm)
{
    return (uint128)money_distance(price, reference) * MONEY_PPM > (uint128)reference * part_ppm;
}

/* R3: holders were last checked at a mark that is further away than the lowest tier's margin. */
static bool is_gap(const struct market *market)
{
    return market->checked_mark != 0 &&
           is_beyond(market->mark, market->checked_mark, market->record.tiers[0].mmr_ppm);
}

/* Computes and emits the mark, if the index is valid and the market neither HALTED nor CLOSED. A
 * mark beyond R1's bound halts the market instead. */
static void recompute(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);

    if (market->state == MARKET_HALTED || market->state == MARKET_CLOSED ||
        !market_mark_is_valid(engine, index))
        return;
    uint64_t mark = mark_of(engine, index);
    if (CC_UNLIKELY((uint128)mark * market->max_abs_size > MARK_VALUE_MAX)) {
        market_set_state(engine, index, MARKET_HALTED, CAUSE_ORACLE);
        return;
    }
    bool moved = mark != market->mark || !market->mark_valid; /* becoming valid counts too */
    market->mark = mark;
    market->mark_valid = true;
    if (moved)
        recheck_mark_moved(engine, index);
    if (CC_UNLIKELY(is_gap(market)))
        work_queue_begin_gap(engine, index);
    recheck_waiting(engine, index);
    mark_emit(engine, index);
    trigger_mark_computed(engine, index);
}

/* True if the price is more than a tenth from the reference (0: there is none). */
static bool is_far(uint64_t price, uint64_t reference)
{
    return reference != 0 && is_beyond(price, reference, MARK_HOLD_PPM);
}

/* Sets the index. Portfolios that wait for it are checked again in any state: a HALTED market gets
 * no new mark, but does not keep a portfolio from selling its other legs. */
static void accept_price(struct engine *engine, uint32_t index, uint64_t price)
{
    struct market *market = state_market(engine, index);

    market->index_price = price;
    recheck_waiting(engine, index);
    recompute(engine, index);
}

/* --- held updates (R5) ------------------------------------------------------------------------ */

static void begin_run(struct market *market, uint64_t price)
{
    market->hold_count = 1;
    market->run_low = price;
    market->run_high = price;
    market->run_newest = price;
    market->run_first_ns = market->publish_ns;
}

/* The next held update joins the run, or begins a new one when it does not lie within 2 % of all of
 * it. True: the run is taken at this price. */
static bool join_run(struct market *market, uint64_t price)
{
    uint64_t low = price < market->run_low ? price : market->run_low;
    uint64_t high = price > market->run_high ? price : market->run_high;

    if (is_beyond(high, low, MARK_HOLD_AGREE_PPM)) {
        begin_run(market, price);
        return false;
    }
    market->run_low = low;
    market->run_high = high;
    market->run_newest = price;
    market->hold_count = (uint8_t)(market->hold_count + (market->hold_count < MARKET_HOLD_UPDATES));
    return market->hold_count == MARKET_HOLD_UPDATES &&
           market->publish_ns - market->run_first_ns >= MARK_RUN_NS &&
           !is_beyond(price, market->anchor, MARK_ANCHOR_PPM);
}

/* Begins a hold. It never loosens the state: a market that takes no orders keeps its state. */
static void begin_hold(struct engine *engine, uint32_t index, uint64_t price, uint64_t reference)
{
    struct market *market = state_market(engine, index);

    if (market->hold_until_ns == 0 || engine->t_ns - market->hold_until_ns > MARK_HOLD_WITHIN_NS)
        market->anchor = reference;
    begin_run(market, price);
    enum market_state state = market_own_state(engine, index);
    market->former_state = (uint8_t)state;
    if (state < MARKET_CANCEL_ONLY)
        market_set_state(engine, index, MARKET_CANCEL_ONLY, CAUSE_ORACLE);
    lose_mark(engine, index);
}

static void clear_hold(struct engine *engine, struct market *market)
{
    market->hold_count = 0;
    market->run_low = market->run_high = market->run_newest = market->run_first_ns = 0;
    market->former_state = 0;
    market->hold_until_ns = engine->t_ns;
}

/* Ends a hold: the market returns to its former state. */
static void end_hold(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    enum market_state former = (enum market_state)market->former_state;

    clear_hold(engine, market);
    market_set_state(engine, index, former, CAUSE_ORACLE);
}

/* Takes a held price; what was sampled before is no reference any more. */
static void accept_held(struct engine *engine, uint32_t index, uint64_t price)
{
    samples_begin_reference(engine, index);
    end_hold(engine, index);
    accept_price(engine, index, price);
}

enum status mark_accept_index(struct engine *engine, const struct command *command,
                              struct engine_result *result)
{
    const uint8_t *body = command_body(command);
    uint64_t price = cc_load64(body);
    uint32_t index;

    (void)result;
    enum status status = market_of_asset(engine, cc_load16(body + 8), &index);
    if (status != STATUS_request_completed)
        return status;
    struct market *market = state_market(engine, index);
    if (!access_body_is_clean(command))
        return STATUS_order_rejected_invalid;
    if (market->state == MARKET_CLOSED)
        return ROW_STATUS(market_closed);
    if (market->hold_count == 0)
        return STATUS_order_rejected_invalid;
    uint64_t newest = market->run_newest;
    if (is_beyond(price, newest, MARK_HOLD_AGREE_PPM))
        return STATUS_rejected_invalid_price;
    accept_held(engine, index, newest);
    return STATUS_request_completed;
}

void mark_leave_halt(struct engine *engine, uint32_t index)
{
    recompute(engine, index);
}

void mark_settle_at(struct engine *engine, uint32_t index, uint64_t price)
{
    struct market *market = state_market(engine, index);
    bool moved = price != market->mark;

    if (market->hold_count != 0)
        clear_hold(engine, market);
    market->mark = price;
    market->mark_valid = false;
    if (moved)
        recheck_mark_moved(engine, index);
}

enum status mark_oracle(struct engine *engine, uint32_t index, uint64_t publish_ns, uint64_t price,
                        uint64_t draw)
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
    market->draw = draw;
    uint64_t reference = samples_reference(engine, index);
    if (reference == 0)
        reference = market->index_price;
    if (!is_far(price, reference)) {
        if (market->hold_count != 0)
            end_hold(engine, index);
        accept_price(engine, index, price);
    } else if (market->hold_count == 0) {
        begin_hold(engine, index, price, reference);
    } else if (join_run(market, price)) {
        accept_held(engine, index, price);
    }
    return STATUS_request_completed;
}

/* ema += tdiv((x << 20) - ema, 150), x = impact mid - index within b of it; x = 0 without both
 * impact prices, or when nobody may meet what rests. */
static void update_ema(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    uint32_t book = market_record_book_ppm(&market->record);
    int64_t most = money_ppm_down(market->index_price, book), x = 0;

    if (book != 0 && market_may_meet(market)) {
        int64_t bid = (int64_t)mark_impact(engine, index, true);
        int64_t ask = bid == 0 ? 0 : (int64_t)mark_impact(engine, index, false);
        if (bid != 0 && ask != 0)
            x = clamp(mean(bid, ask) - (int64_t)market->index_price, -most, most);
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
    market->passes_hour = false;
}
