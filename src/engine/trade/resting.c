#include "engine/trade/resting.h"

#include "engine/risk/rests.h"
#include "engine/risk/risk.h"
#include "engine/state/market_price.h"
#include "engine/table/order_fill_inline.h"
#include "engine/trade/resting_emit_inline.h"

static void emit_state(struct engine *engine, const struct market *market, uint32_t index,
                       uint64_t price)
{
    resting_emit_state_into(engine, NULL, market, index, price,
                            order_filled(&engine->orders, index));
}

void resting_emit_state(struct engine *engine, uint32_t index)
{
    const struct order *order = &engine->orders.hot[index];
    const struct market *market = state_market(engine, order->market);

    emit_state(engine, market, index, resting_price_in(market, order));
}

static void emit_book(struct engine *engine, struct market *market, uint32_t index, uint64_t price,
                      enum effect_book_action action, uint64_t quantity)
{
    resting_emit_book_into(engine, NULL, market, index, price, action, quantity);
}

/* Emits 2101, 2107, 2106 of an order as it is now; the quantity is the action's. */
static void emit(struct engine *engine, struct market *market, uint32_t index, uint64_t price,
                 enum effect_book_action action, uint64_t quantity)
{
    if (action == BOOK_ADD) /* the seq of the 2107 that follows; 2101 shows it already */
        engine->orders.cold[index].handle = market->book_seq + 1;
    resting_emit_state_into(engine, NULL, market, index, price,
                            order_filled(&engine->orders, index));
    resting_emit_book_into(engine, NULL, market, index, price, action, quantity);
}

bool resting_is_near(const struct engine *engine, uint32_t market, enum order_side side,
                     uint32_t tick)
{
    const struct market *row = &engine->markets.rows[market];
    uint64_t price = book_price(&row->book, side, tick) * row->record.tick_size;

    return price >= market_price_low(row) && price <= market_price_high(row);
}

uint32_t resting_room(const struct engine *engine, uint32_t market, enum order_side side,
                      uint32_t tick)
{
    const struct book_pages *pages = engine->markets.rows[market].book.pages;
    bool is_near = resting_is_near(engine, market, side, tick);
    uint32_t most = pages->limit - (is_near ? 0 : pages->limit / RESTING_NEAR_PART);

    return most > pages->used ? most - pages->used : 0;
}

bool resting_fits(const struct engine *engine, uint32_t market, enum order_side side, uint32_t tick)
{
    const struct book *book = &engine->markets.rows[market].book;

    if (CC_LIKELY(book->pages->used < book->pages->limit - book->pages->limit / RESTING_NEAR_PART))
        return true;
    return book_has_page(book, side, tick) || resting_room(engine, market, side, tick) != 0;
}

void resting_add_sums(struct holding *holding, const struct order *order, uint64_t price)
{
    struct holding_side *side = &holding->sides[order->side];
    int64_t size = (int64_t)order->remaining;
    int64_t notional = size * (int64_t)price;

    side->order_count++;
    if (order->flags & ORDER_REDUCE_ONLY) {
        side->reduce_size += size;
        side->reduce_notional += notional;
        return;
    }
    if (side->margin_count == 0 ||
        (order->side == ORDER_LONG ? price > side->price_bound : price < side->price_bound))
        side->price_bound = price;
    side->margin_count++;
    INVARIANT(side->margin_count <= side->order_count);
    side->size += size;
    side->notional += notional;
}

void resting_subtract_sums(struct holding *holding, const struct order *order, uint64_t price,
                           uint64_t quantity, bool all)
{
    struct holding_side *side = &holding->sides[order->side];
    int64_t size = (int64_t)quantity;
    int64_t notional = size * (int64_t)price;

    INVARIANT(side->order_count != 0);
    if (all)
        side->order_count--;
    if (order->flags & ORDER_REDUCE_ONLY) {
        side->reduce_size -= size;
        side->reduce_notional -= notional;
        INVARIANT(side->reduce_size >= 0 && side->reduce_notional >= 0);
        INVARIANT(side->order_count != side->margin_count || side->reduce_size == 0);
        return;
    }
    side->size -= size;
    side->notional -= notional;
    INVARIANT(side->size >= 0 && side->notional >= 0);
    INVARIANT(side->margin_count != 0);
    if (all && --side->margin_count == 0) {
        INVARIANT(side->size == 0 && side->notional == 0);
        side->price_bound = 0;
    }
    INVARIANT(side->margin_count <= side->order_count);
}

/* Adds an order at the end of its level in the book, and to the sums. Emits it. */
static void enter_book(struct engine *engine, uint32_t index)
{
    const struct order *order = &engine->orders.hot[index];
    struct market *market = state_market(engine, order->market);
    uint64_t price = resting_price_in(market, order);
    bool inserted = book_insert(&market->book, index);

    INVARIANT(inserted);
    resting_add_sums(state_holding(engine, order->holding), order, price);
    rests_changed(engine, order->holding);
    emit(engine, market, index, price, BOOK_ADD, order->remaining);
}

static void set_expiry(struct engine *engine, uint32_t index)
{
    uint64_t expiry_ns = order_expiry(&engine->orders, index);

    timer_heap_set(&engine->expiries, index, expiry_ns, order_rank(&engine->orders, index));
    work_queue_timer_set(engine, expiry_ns);
}

void resting_insert(struct engine *engine, uint32_t index, uint64_t hash)
{
    const struct order *order = &engine->orders.hot[index];

    INVARIANT(index != ORDER_NONE && index < engine->orders.fresh);
    order_map_insert(&engine->order_map, hash, index);
    holding_link(engine, order->holding, index);
    if (order_tif(order) == ORDER_GTT)
        set_expiry(engine, index);
    enter_book(engine, index);
}

uint32_t resting_find(struct engine *engine, uint32_t market, const uint8_t *id, uint64_t hash)
{
    uint64_t words[2];

    memcpy(words, id, sizeof words);
    uint32_t index = order_map_find(&engine->order_map, hash, engine->applying.account, words);
    if (index == ORDER_NONE)
        return ORDER_NONE;
    const struct order *order = &engine->orders.hot[index];
    const struct holding *holding = state_holding(engine, order->holding);
    const struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
    if (holding->portfolio != engine->applying.portfolio || order->market != market ||
        resting_is_dead(engine, order, index, holding, portfolio))
        return ORDER_NONE;
    return index;
}

/* Removes an order from map, list and timers. The caller removes it from the book. */
static void unlink_order(struct engine *engine, uint32_t index)
{
    const struct order *order = &engine->orders.hot[index];

    INVARIANT(index != ORDER_NONE && index < engine->orders.fresh);
    order_map_remove(&engine->order_map, engine->key, index);
    work_queue_order_leaves(engine, index);
    holding_unlink(engine, index);
    if (order_tif(order) == ORDER_GTT)
        timer_heap_remove(&engine->expiries, index);
}

void resting_remove(struct engine *engine, uint32_t index, enum order_state state, uint8_t reason)
{
    struct order *order = &engine->orders.hot[index];
    struct market *market = state_market(engine, order->market);
    uint64_t price = resting_price_in(market, order);

    book_remove(&market->book, index);
    resting_subtract_sums(state_holding(engine, order->holding), order, price, order->remaining,
                          true);
    unlink_order(engine, index);
    rests_changed(engine, order->holding);
    order_move(order, order_filled(&engine->orders, index), state);
    order->reason = reason;
    emit(engine, market, index, price, BOOK_DELETE, order->remaining);
    order_release(&engine->orders, index);
}

void resting_set_terms(struct engine *engine, uint32_t index, const struct resting_terms *terms)
{
    struct order *order = &engine->orders.hot[index];
    struct order_extra *extra = order_extra(&engine->orders, index);
    bool was_timed = order_tif(order) == ORDER_GTT;

    order->flags = terms->flags;
    extra->expiry_ns = terms->expiry_ns;
    extra->updated_ns = engine->t_ns;
    if (order_tif(order) == ORDER_GTT)
        set_expiry(engine, index);
    else if (was_timed)
        timer_heap_remove(&engine->expiries, index);
}

void resting_change(struct engine *engine, uint32_t index, uint64_t fall,
                    const struct resting_terms *terms)
{
    struct order *order = &engine->orders.hot[index];
    struct holding *holding = state_holding(engine, order->holding);
    struct market *market = state_market(engine, order->market);
    uint64_t price = resting_price_in(market, order);

    resting_subtract_sums(holding, order, price, order->remaining, true);
    if (fall != 0)
        book_reduce(&market->book, index, fall);
    resting_set_terms(engine, index, terms);
    resting_add_sums(holding, order, price);
    rests_changed(engine, order->holding);
    emit_state(engine, market, index, price);
    if (fall != 0)
        emit_book(engine, market, index, price, BOOK_REDUCE, fall);
}

void resting_lift(struct engine *engine, uint32_t index)
{
    const struct order *order = &engine->orders.hot[index];
    struct market *market = state_market(engine, order->market);
    uint64_t price = resting_price_in(market, order);

    book_remove(&market->book, index);
    resting_subtract_sums(state_holding(engine, order->holding), order, price, order->remaining,
                          true);
    rests_changed(engine, order->holding);
    emit_book(engine, market, index, price, BOOK_DELETE, order->remaining);
}

void resting_return(struct engine *engine, uint32_t index)
{
    enter_book(engine, index);
}

void resting_drop(struct engine *engine, uint32_t index)
{
    unlink_order(engine, index);
}

void resting_reduce(struct engine *engine, uint32_t index, uint64_t quantity)
{
    struct order *order = &engine->orders.hot[index];
    struct market *market = state_market(engine, order->market);
    uint64_t price = resting_price_in(market, order);

    book_reduce(&market->book, index, quantity);
    resting_subtract_sums(state_holding(engine, order->holding), order, price, quantity, false);
    rests_changed(engine, order->holding);
    order_extra(&engine->orders, index)->updated_ns = engine->t_ns;
    emit(engine, market, index, price, BOOK_REDUCE, quantity);
}

bool resting_fill(struct engine *engine, struct market *market, uint32_t index, uint64_t quantity,
                  uint64_t price, bool unseen)
{
    struct order *order = &engine->orders.hot[index];
    bool filled = book_fill(&market->book, index, quantity);

    resting_subtract_sums(state_holding(engine, order->holding), order, price, quantity, filled);
    if (filled && unseen && !order->has_extra && index != engine->applying.resting) {
        order_move(order, quantity, ORDER_FILLED); /* nobody reads what it has filled */
    } else {
        struct order_extra *extra =
            order_add_fill_inline(&engine->orders, index, quantity, quantity * price);
        extra->updated_ns = engine->t_ns;
    }
    if (filled)
        unlink_order(engine, index);
    return filled;
}

/* A list that may cover an order, and its reason. */
struct list {
    uint64_t stamp;
    uint8_t reason;
};

/* Returns the oldest list that covers an order of this stamp, the first of several of one age;
 * NULL: none covers it. */
static const struct list *oldest(const struct list *lists, uint32_t count, uint64_t stamp)
{
    const struct list *found = NULL;

    for (uint32_t i = 0; i < count; i++)
        if (stamp < lists[i].stamp && (found == NULL || lists[i].stamp < found->stamp))
            found = &lists[i];
    return found;
}

enum order_state resting_death(const struct engine *engine, uint32_t index, uint8_t *reason)
{
    const struct order *order = &engine->orders.hot[index];
    const struct holding *holding = &engine->holdings.rows[order->holding];
    const struct portfolio *portfolio = &engine->portfolios.rows[holding->portfolio];

    *reason = REASON_none;
    if (CC_LIKELY(!resting_is_covered(engine, order, holding, portfolio)))
        return resting_has_expired(engine, order, index) ? ORDER_EXPIRED : ORDER_NEW;
    bool is_reduce_only = (order->flags & ORDER_REDUCE_ONLY) != 0;
    bool is_post_only = (order->flags & ORDER_POST_ONLY) != 0;
    const struct market *market = &engine->markets.rows[order->market];
    bool is_closed = market->state == MARKET_CLOSED; /* its list then covers every order */
    struct list lists[] = {
        { holding->sides[order->side].cancel_sequence, holding->side_reasons[order->side] },
        { portfolio->cancel_sequence, portfolio->cancel_reason },
        { is_reduce_only ? holding->reduce_cancel_sequence : 0, REASON_reduce_only },
        { is_reduce_only && !is_closed ? 0 : market->cancel_sequence, REASON_market_state },
        { is_post_only ? holding->post_cancel_sequence : 0, REASON_mmp },
    };

    if (cancel_list_covers(engine, order->account, order->market, order->stamp)) {
        const struct account *account = &engine->accounts.rows[order->account];
        struct list *renewed = &lists[account->cancel_market == ACCOUNT_MARKETS_ALL ? 1 : 0];
        if (renewed->stamp < account->cancel_sequence)
            *renewed = (struct list){ account->cancel_sequence, REASON_operator };
    }
    const struct list *list = oldest(lists, CC_COUNT(lists), order->stamp);
    if (list != NULL)
        *reason = list->reason;
    else if (portfolio_dead_man_has_come(portfolio, engine->t_ns))
        *reason = REASON_dead_man;
    else if (is_closed)
        *reason = REASON_market_state;
    return *reason == REASON_none ? ORDER_EXPIRED : ORDER_CANCELED;
}
