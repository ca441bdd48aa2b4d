#include "engine/trade/fill.h"

#include "engine/risk/fee.h"
#include "engine/risk/fund.h"
#include "engine/risk/ledger.h"
#include "engine/risk/ledger_post_inline.h"
#include "engine/risk/margin.h"
#include "engine/state/effects_emit_inline.h"
#include "engine/state/private_event.h"
#include "engine/state/recheck_inline.h"
#include "engine/state/trigger.h"
#include "engine/trade/excess.h"
#include "engine/trade/resting.h"

enum { TRADE_LIQUIDATION = 1 }; /* flag of a 2108 */

int64_t fill_position(struct fill_position *position, int64_t quantity, uint64_t price,
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

static inline __attribute__((always_inline)) struct fill_party
party_of(struct engine *engine, uint32_t index, uint8_t liquidity)
{
    struct order *order = &engine->orders.hot[index];
    const struct market_record *record = &state_market(engine, order->market)->record;
    struct holding *holding = state_holding(engine, order->holding);
    struct account *owner = state_account(engine, order->account);
    bool is_maker = liquidity == LIQUIDITY_MAKER;

    return (struct fill_party){
        .order = order,
        .holding = holding,
        .portfolio = state_portfolio(engine, holding->portfolio),
        .owner = owner,
        .volume = fee_volume_today(owner, engine->t_ns),
        .order_index = index,
        .fee_ppm =
            is_maker ? record->maker_ppm[owner->fee_tier] : record->taker_ppm[owner->fee_tier],
        .liquidity = liquidity,
    };
}

struct fill_party fill_party_of(struct engine *engine, uint32_t index, uint8_t liquidity)
{
    return party_of(engine, index, liquidity);
}

/* Moves a position and its id. Ends reduce-only orders if the position closes or flips, and those
 * that it leaves behind others when it becomes smaller (R3). */
static void move_position(struct engine *engine, struct market *market, struct fill_party *party,
                          uint64_t price)
{
    struct holding *holding = party->holding;
    struct fill_position position = { holding->size, holding->cost };
    bool opened;

    party->realised = fill_position(&position, party->quantity, price, &opened);
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

static void emit_fill(struct engine *engine, const struct market *market,
                      const struct fill_party *party, uint64_t price)
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
    effects_emit_inline(engine, EFFECT_fill, party->order_index, market->record.asset_id, &body);
}

static void post(struct engine *engine, const struct fill_party *party, enum effect_cash_kind kind,
                 int64_t amount)
{
    ledger_post_inline(engine, party->holding->portfolio, party->portfolio, party->owner, kind,
                       amount, party->fill_index);
}

static void move_cash(struct engine *engine, const struct fill_party *party)
{
    if (party->realised != 0) /* most fills close nothing */
        post(engine, party, CASH_trade, party->realised);
    post(engine, party, CASH_fee, -party->fee);
    engine->fee_account += party->fee;
}

/* Moves the cash of a fill with a house taker: the fund gets the penalty and pays a rebate. */
static void move_house_cash(struct engine *engine, const struct fill_party *maker,
                            const struct fill_party *taker)
{
    post(engine, taker, CASH_trade, taker->realised);
    post(engine, taker, CASH_liquidation, -taker->fee);
    post(engine, maker, CASH_trade, maker->realised);
    post(engine, maker, CASH_fee, -maker->fee);
    ledger_post(engine, FUND_PORTFOLIO, CASH_liquidation, taker->fee, taker->fill_index);
    if (maker->fee < 0)
        ledger_post(engine, FUND_PORTFOLIO, CASH_fee, maker->fee, maker->fill_index);
    else
        engine->fee_account += maker->fee;
}

/* Emits 2103. Clears the id of a closed position afterwards, so that equal states stay equal. */
static void emit_position(struct engine *engine, const struct market *market,
                          const struct fill_party *party)
{
    struct holding *holding = party->holding;
    const struct portfolio *portfolio = party->portfolio;
    int64_t size = holding->size, cost = holding->cost;
    CC_OPAQUE(size); /* just stored one by one: a load of both would wait for all earlier stores */
    struct effect_position body = {
        .portfolio.account_id = account_id_of(portfolio->account, party->owner->generation),
        .size = size,
        .cost = cost,
        .net_funding = holding->net_funding,
    };

    effects_put(&body, offsetof(struct effect_position, portfolio.subaccount_index),
                portfolio->subaccount_index, portfolio->portfolio_index);
    effects_put(&body, offsetof(struct effect_position, asset_id), market->record.asset_id, 0);
    party->owner->private_seq++;
    effects_emit_inline(engine, EFFECT_position, party->order->holding, market->record.asset_id,
                        &body);
    if (holding->size == 0) {
        holding->net_funding = 0;
        holding->position_ns = 0;
        holding->position_sequence = 0;
        holding->position_index = 0;
    }
}

static void emit_trade(struct engine *engine, struct market *market, uint32_t market_index,
                       uint64_t price, uint64_t quantity, uint32_t side_and_flags)
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
    effects_emit_inline(engine, EFFECT_trade, market_index, market->record.asset_id, &body);
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
static void count_volume(const struct engine *engine, const struct fill_house *house,
                         uint64_t notional, const struct fill_party *maker,
                         const struct fill_party *taker)
{
    INVARIANT(maker->owner->volume_day == account_day(engine->t_ns));
    INVARIANT(taker->owner->volume_day == maker->owner->volume_day);
    if (house->kind != FILL_LIQUIDATION)
        fee_count_volume(maker->volume, notional);
    if (house->kind == FILL_TRADE)
        fee_count_volume(taker->volume, notional);
}

void fill_execute(struct engine *engine, uint32_t maker_index, struct fill_party *taker,
                  uint64_t quantity, struct fill_house *house)
{
    struct fill_party maker = party_of(engine, maker_index, LIQUIDITY_MAKER);
    uint32_t market_index = maker.order->market;
    struct market *market = state_market(engine, market_index);
    uint64_t price = resting_price_in(market, maker.order);
    uint64_t notional = price * quantity;
    uint32_t side_and_flags =
        taker->order->side | (house->kind == FILL_LIQUIDATION ? TRADE_LIQUIDATION << 8 : 0);

    taker->quantity = taker->order->side == ORDER_LONG ? (int64_t)quantity : -(int64_t)quantity;
    taker->fee = fee_amount(notional, taker->fee_ppm);
    maker.quantity = -taker->quantity;
    maker.fee = fee_amount(notional, maker.fee_ppm);
    if (CC_UNLIKELY(house->kind != FILL_TRADE))
        set_house_fees(engine, house, &maker, taker, price, notional);
    bool filled = resting_fill(engine, market, maker_index, quantity, price);
    taker->order->remaining -= quantity;
    order_add_fill(&engine->orders, taker->order_index, quantity, notional);
    move_position(engine, market, &maker, price);
    move_position(engine, market, taker, price);
    count_volume(engine, house, notional, &maker, taker);

    emit_trade(engine, market, market_index, price, quantity, side_and_flags);
    emit_fill(engine, market, &maker, price);
    emit_fill(engine, market, taker, price);
    if (CC_LIKELY(house->kind == FILL_TRADE)) {
        move_cash(engine, taker);
        move_cash(engine, &maker);
    } else {
        move_house_cash(engine, &maker, taker);
    }
    emit_position(engine, market, &maker);
    emit_position(engine, market, taker);
    trigger_traded(engine, market_index, price);
    uint32_t mmp = maker.holding->mmp;
    if (CC_UNLIKELY(mmp != MMP_NONE))
        mmp_count(engine, mmp, maker.quantity);
    resting_emit(engine, market, maker_index, price, BOOK_EXECUTE, quantity);
    if (filled)
        order_release(&engine->orders, maker_index);
}

/* Fills all that is left of an order of the engine, outside the book. Returns its side. */
static struct fill_party own_party(struct engine *engine, uint32_t index, uint64_t price,
                                   uint8_t liquidity)
{
    struct order *order = &engine->orders.hot[index];
    struct holding *holding = state_holding(engine, order->holding);
    uint64_t quantity = order->remaining;
    struct fill_party party = {
        .order = order,
        .holding = holding,
        .portfolio = state_portfolio(engine, holding->portfolio),
        .owner = state_account(engine, order->account),
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
    emit_fill(engine, market, &maker, price);
    emit_fill(engine, market, &taker, price);
    post(engine, &taker, kind, taker.realised);
    post(engine, &maker, kind, maker.realised);
    emit_position(engine, market, &maker);
    emit_position(engine, market, &taker);
}
