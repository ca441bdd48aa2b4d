#include "engine/trade/fill.h"

#include "engine/risk/fee.h"
#include "engine/risk/fund.h"
#include "engine/risk/ledger.h"
#include "engine/risk/ledger_post_inline.h"
#include "engine/risk/margin.h"
#include "engine/state/recheck_inline.h"
#include "engine/state/trigger.h"
#include "engine/table/order_fill_inline.h"
#include "engine/trade/excess.h"
#include "engine/trade/resting_emit_inline.h"

enum { TRADE_LIQUIDATION = 1 }; /* flag of a 2108 */

/* The effects of a fill. */
#define FILL_EFFECTS                                                                \
    (EFFECT_BIT(EFFECT_trade) | EFFECT_BIT(EFFECT_fill) | EFFECT_BIT(EFFECT_cash) | \
     EFFECT_BIT(EFFECT_position) | EFFECT_BIT(EFFECT_order_state) |                 \
     EFFECT_BIT(EFFECT_book_order) | EFFECT_BIT(EFFECT_book_level))

/* Inline wherever it is used: an argument `rows` is known there. */
#define FILL_INLINE static inline __attribute__((always_inline))

FILL_INLINE int64_t move(struct fill_position *position, int64_t quantity, uint64_t price,
                         bool *opened)
{
    int64_t raw_price = (int64_t)price;
    int64_t closed = 0, realised = 0, before = position->cost;

    *opened = position->size == 0;
    if (position->size != 0 && (position->size < 0) != (quantity < 0)) {
        uint64_t size = margin_abs(position->size), part = margin_abs(quantity);
        *opened = part > size;
        part = part > size ? size : part;
        closed = quantity < 0 ? -(int64_t)part : (int64_t)part;
        int64_t released = money_share(position->cost, part, size);
        realised = -(raw_price * closed) - released;
        position->cost -= released;
        position->size += closed;
    }
    position->cost += raw_price * (quantity - closed);
    position->size += quantity - closed;
    INVARIANT(position->cost - before == raw_price * quantity + realised);
    INVARIANT(position->size != 0 || position->cost == 0);
    return realised;
}

int64_t fill_position(struct fill_position *position, int64_t quantity, uint64_t price,
                      bool *opened)
{
    return move(position, quantity, price, opened);
}

FILL_INLINE struct effect_portfolio_id id_of(const struct portfolio *portfolio,
                                             const struct account *owner)
{
    return (struct effect_portfolio_id){
        .account_id = account_id_of(portfolio->account, owner->generation),
        .subaccount_index = portfolio->subaccount_index,
        .portfolio_index = portfolio->portfolio_index,
    };
}

FILL_INLINE struct fill_party party_of(struct engine *engine, uint32_t index, uint8_t liquidity,
                                       uint32_t day, ptrdiff_t bucket)
{
    struct order *order = &engine->orders.hot[index];
    const struct market_record *record = &state_market(engine, order->market)->record;
    struct holding *holding = state_holding(engine, order->holding);
    struct account *owner = state_account(engine, order->account);
    struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
    bool is_maker = liquidity == LIQUIDITY_MAKER;

    return (struct fill_party){
        .order = order,
        .holding = holding,
        .portfolio = portfolio,
        .owner = owner,
        .volume = &owner->volume[bucket],
        .day = day,
        .id = id_of(portfolio, owner),
        .order_index = index,
        .fee_ppm =
            is_maker ? record->maker_ppm[owner->fee_tier] : record->taker_ppm[owner->fee_tier],
        .liquidity = liquidity,
    };
}

struct fill_party fill_party_of(struct engine *engine, uint32_t index, uint8_t liquidity)
{
    uint32_t day = account_day(engine->t_ns);

    return party_of(engine, index, liquidity, day, day % ACCOUNT_VOLUME_DAYS);
}

/* Moves a position and its id. Ends reduce-only orders if the position closes or flips, and those
 * that it leaves behind others when it becomes smaller (R3). */
FILL_INLINE void move_position(struct engine *engine, struct market *market,
                               struct fill_party *party, uint64_t price)
{
    struct holding *holding = party->holding;
    struct fill_position position = { holding->size, holding->cost };
    bool opened;

    party->realised = move(&position, party->quantity, price, &opened);
    party->fill_index = state_next_id(engine);
    if (opened) {
        holding->position_ns = engine->t_ns;
        holding->position_sequence = engine->sequence;
        holding->position_index = state_next_id(engine);
        holding->net_funding = 0;
    }
    bool ends = holding->size != 0 && (opened || position.size == 0);
    if (CC_UNLIKELY(ends && party->portfolio->conditional_count != 0))
        conditional_kill(engine, holding->portfolio, holding->market, CONDITIONAL_BOTH,
                         CONDITIONAL_REDUCE_ONLY, REASON_reduce_only);
    bool has_reducing = (holding->sides[0].reduce_size | holding->sides[1].reduce_size) != 0;
    if (CC_UNLIKELY(has_reducing) && ends) {
        holding->reduce_cancel_sequence = state_stamp(engine);
        work_queue_cancel(engine, party->order->holding);
    }
    int64_t before = holding->size;
    holding->size = position.size;
    holding->cost = position.cost;
    holding->funding_epoch = position.size != 0 ? market->funding_epoch : 0;
    uint64_t size = margin_abs(position.size);
    if (CC_UNLIKELY(size > market->max_abs_size))
        market->max_abs_size = size;
    if (CC_UNLIKELY(size > market->scan_max))
        market->scan_max = size;
    holding_move(engine, holding, before);
    recheck_traded_inline(engine, party->portfolio, holding, party->order->holding);
    if (CC_UNLIKELY(has_reducing) && !ends && margin_abs(before) > size)
        excess_left(engine, party->order->holding);
}

FILL_INLINE void emit_fill(struct engine *engine, struct effects_rows *rows,
                           const struct market *market, const struct fill_party *party,
                           uint64_t price)
{
    const struct order *order = party->order;
    struct effect_fill body = {
        .price = price,
        .quantity = party->quantity,
        .fee = party->fee,
    };

    effects_put(&body, offsetof(struct effect_fill, index), party->fill_index, party->liquidity);
    cc_store64(body.order_id, order->id[0]);
    cc_store64(body.order_id + 8, order->id[1]);
    party->owner->private_seq++;
    effects_emit_into(engine, rows, EFFECT_fill, party->order_index, market->record.asset_id,
                      &body);
}

FILL_INLINE void post(struct engine *engine, struct effects_rows *rows,
                      const struct fill_party *party, enum effect_cash_kind kind, int64_t amount)
{
    struct ledger_party of = {
        .portfolio = party->portfolio,
        .owner = party->owner,
        .id = party->id,
        .index = party->holding->portfolio,
    };

    ledger_post_inline(engine, rows, of, kind, amount, party->fill_index);
}

FILL_INLINE void move_cash(struct engine *engine, struct effects_rows *rows,
                           const struct fill_party *party)
{
    if (party->realised != 0) /* most fills close nothing */
        post(engine, rows, party, CASH_trade, party->realised);
    post(engine, rows, party, CASH_fee, -party->fee);
    engine->fee_account += party->fee;
}

/* Moves the cash of a fill with a house taker: the fund gets the penalty and pays a rebate. */
static void move_house_cash(struct engine *engine, const struct fill_party *maker,
                            const struct fill_party *taker)
{
    post(engine, NULL, taker, CASH_trade, taker->realised);
    post(engine, NULL, taker, CASH_liquidation, -taker->fee);
    post(engine, NULL, maker, CASH_trade, maker->realised);
    post(engine, NULL, maker, CASH_fee, -maker->fee);
    ledger_post(engine, FUND_PORTFOLIO, CASH_liquidation, taker->fee, taker->fill_index);
    if (maker->fee < 0)
        ledger_post(engine, FUND_PORTFOLIO, CASH_fee, maker->fee, maker->fill_index);
    else
        engine->fee_account += maker->fee;
}

/* 2103. Clears the id of a closed position afterwards, so that equal states stay equal. */
FILL_INLINE void emit_position(struct engine *engine, struct effects_rows *rows,
                               const struct market *market, const struct fill_party *party)
{
    struct holding *holding = party->holding;
    int64_t size = holding->size, cost = holding->cost;
    CC_OPAQUE(size); /* just stored one by one: a load of both would wait for all earlier stores */
    struct effect_position body = {
        .portfolio = party->id,
        .size = size,
        .cost = cost,
        .net_funding = holding->net_funding,
    };

    effects_put(&body, offsetof(struct effect_position, asset_id), market->record.asset_id, 0);
    party->owner->private_seq++;
    effects_emit_into(engine, rows, EFFECT_position, party->order->holding, market->record.asset_id,
                      &body);
    if (holding->size == 0) {
        holding->net_funding = 0;
        holding->position_ns = 0;
        holding->position_sequence = 0;
        holding->position_index = 0;
    }
}

FILL_INLINE void emit_trade(struct engine *engine, struct effects_rows *rows, struct market *market,
                            uint32_t market_index, uint64_t price, uint64_t quantity,
                            uint32_t side_and_flags)
{
    struct effect_trade body = {
        .price = price,
        .size = quantity,
        .trade_seq = ++market->trade_seq,
        .book_seq = market_next_seq(market),
    };

    effects_put(&body, offsetof(struct effect_trade, asset_id), market->record.asset_id,
                side_and_flags);
    market->last_price = price;
    effects_emit_into(engine, rows, EFFECT_trade, market_index, market->record.asset_id, &body);
}

void fill_house_fees(const struct fill_house *house, uint64_t notional, int128 equity_after,
                     struct fill_fees *fees)
{
    int64_t penalty = money_ppm_up(notional, house->penalty_ppm);

    if (equity_after < penalty)
        penalty = equity_after > 0 ? (int64_t)equity_after : 0;
    fees->taker = house->kind == FILL_LIQUIDATION ? penalty : 0;
    if (fees->maker < -house->rebates)
        fees->maker = -house->rebates;
}

/* Sets what the house taker and its maker pay. The penalty depends on E after the fill. */
static void set_house_fees(struct engine *engine, struct fill_house *house,
                           struct fill_party *maker, struct fill_party *taker, uint64_t price,
                           uint64_t notional)
{
    const struct holding *holding = taker->holding;
    struct portfolio *portfolio = taker->portfolio;
    struct fill_fees fees = { .maker = maker->fee };

    margin_bring(engine, portfolio);
    fill_house_fees(
        house, notional,
        margin_equity(portfolio) +
            margin_fill_equity(state_market(engine, holding->market)->mark, price, taker->quantity),
        &fees);
    fill_house_spend(house, fees.maker);
    maker->fee = fees.maker;
    taker->fee = fees.taker;
}

/* Adds the fill to the volumes of R6. Liquidations and the fund do not count. */
static void count_volume(const struct fill_house *house, uint64_t notional,
                         const struct fill_party *maker, const struct fill_party *taker)
{
    INVARIANT(maker->owner->volume_day == taker->day);
    INVARIANT(taker->owner->volume_day == taker->day);
    if (house->kind != FILL_LIQUIDATION)
        fee_count_volume(maker->volume, notional);
    if (house->kind == FILL_TRADE)
        fee_count_volume(taker->volume, notional);
}

/* A fill whose parties have moved: what is left is its cash and its effects. */
struct fill {
    struct market *market;
    const struct fill_party *maker;
    const struct fill_party *taker;
    uint64_t price;
    uint64_t quantity;
    uint64_t maker_filled; /* in all */
    uint32_t market_index;
    uint8_t kind; /* enum fill_kind */
};

/* Moves the cash and emits the fill. With rows: no house taker, nobody is the fund. */
FILL_INLINE void emit_all(struct engine *engine, struct effects_rows *rows, const struct fill *fill)
{
    struct market *market = fill->market;
    const struct fill_party *maker = fill->maker, *taker = fill->taker;
    uint64_t price = fill->price, quantity = fill->quantity;
    uint32_t flags = fill->kind == FILL_LIQUIDATION ? TRADE_LIQUIDATION << 8 : 0;

    emit_trade(engine, rows, market, fill->market_index, price, quantity,
               taker->order->side | flags);
    emit_fill(engine, rows, market, maker, price);
    emit_fill(engine, rows, market, taker, price);
    if (rows != NULL || CC_LIKELY(fill->kind == FILL_TRADE)) {
        move_cash(engine, rows, taker);
        move_cash(engine, rows, maker);
    } else {
        move_house_cash(engine, maker, taker);
    }
    emit_position(engine, rows, market, maker);
    emit_position(engine, rows, market, taker);
    trigger_traded(engine, fill->market_index, price);
    uint32_t mmp = maker->holding->mmp;
    if (CC_UNLIKELY(mmp != MMP_NONE))
        mmp_count(engine, mmp, maker->quantity);
    resting_emit_state_into(engine, rows, market, maker->order_index, price, fill->maker_filled);
    resting_emit_book_into(engine, rows, market, maker->order_index, price, BOOK_EXECUTE, quantity);
}

/* For a sink that takes some of them: each when what it speaks of has just changed. */
static __attribute__((noinline)) void emit_each(struct engine *engine, const struct fill *fill)
{
    emit_all(engine, NULL, fill);
}

void fill_execute(struct engine *engine, uint32_t maker_index, struct fill_party *taker,
                  uint64_t quantity, struct fill_house *house)
{
    ptrdiff_t bucket = taker->volume - taker->owner->volume;
    struct fill_party maker = party_of(engine, maker_index, LIQUIDITY_MAKER, taker->day, bucket);
    uint32_t market_index = maker.order->market;
    struct market *market = state_market(engine, market_index);
    uint64_t price = resting_price_in(market, maker.order);
    uint64_t notional = price * quantity;

    taker->quantity = taker->order->side == ORDER_LONG ? (int64_t)quantity : -(int64_t)quantity;
    taker->fee = fee_amount(notional, taker->fee_ppm);
    maker.quantity = -taker->quantity;
    maker.fee = fee_amount(notional, maker.fee_ppm);
    if (CC_UNLIKELY(house->kind != FILL_TRADE))
        set_house_fees(engine, house, &maker, taker, price, notional);
    bool unseen =
        CC_LIKELY(house->kind == FILL_TRADE) && effects_are_ignored(engine, FILL_EFFECTS) &&
        maker.holding->portfolio != FUND_PORTFOLIO && taker->holding->portfolio != FUND_PORTFOLIO;
    struct fill fill = { .market = market,
                         .maker = &maker,
                         .taker = taker,
                         .price = price,
                         .quantity = quantity,
                         .maker_filled = order_filled(&engine->orders, maker_index) + quantity,
                         .market_index = market_index,
                         .kind = house->kind };
    bool filled = resting_fill(engine, market, maker_index, quantity, price, unseen);
    taker->order->remaining -= quantity;
    (void)order_add_fill_inline(&engine->orders, taker->order_index, quantity, notional);
    move_position(engine, market, &maker, price);
    move_position(engine, market, taker, price);
    count_volume(house, notional, &maker, taker);

    if (CC_LIKELY(unseen)) {
        struct effects_rows rows;
        effects_rows_begin(engine, &rows);
        emit_all(engine, &rows, &fill);
        effects_fold_rows(&engine->effects, &rows);
    } else {
        emit_each(engine, &fill);
    }
    if (filled)
        order_release(&engine->orders, maker_index);
}

/* Fills all that is left of an order of the engine, outside the book. Returns its side. */
static struct fill_party own_party(struct engine *engine, uint32_t index, uint64_t price,
                                   uint8_t liquidity)
{
    struct order *order = &engine->orders.hot[index];
    struct holding *holding = state_holding(engine, order->holding);
    struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
    struct account *owner = state_account(engine, order->account);
    uint64_t quantity = order->remaining;
    struct fill_party party = {
        .order = order,
        .holding = holding,
        .portfolio = portfolio,
        .owner = owner,
        .id = id_of(portfolio, owner),
        .order_index = index,
        .quantity = order->side == ORDER_LONG ? (int64_t)quantity : -(int64_t)quantity,
        .liquidity = liquidity,
    };

    order->remaining = 0;
    order_add_fill(&engine->orders, index, quantity, quantity * price);
    return party;
}

void fill_between(struct engine *engine, uint32_t maker_index, uint32_t taker_index, uint64_t price,
                  enum effect_cash_kind kind)
{
    struct market *market = state_market(engine, engine->orders.hot[maker_index].market);
    struct fill_party maker = own_party(engine, maker_index, price, LIQUIDITY_MAKER);
    struct fill_party taker = own_party(engine, taker_index, price, LIQUIDITY_TAKER);

    INVARIANT(maker.quantity == -taker.quantity);
    move_position(engine, market, &maker, price);
    move_position(engine, market, &taker, price);
    emit_fill(engine, NULL, market, &maker, price);
    emit_fill(engine, NULL, market, &taker, price);
    post(engine, NULL, &taker, kind, taker.realised);
    post(engine, NULL, &maker, kind, maker.realised);
    emit_position(engine, NULL, market, &maker);
    emit_position(engine, NULL, market, &taker);
}
