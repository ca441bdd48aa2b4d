#include "engine/trade/fill.h"

#include "engine/risk/fee.h"
#include "engine/risk/fund.h"
#include "engine/risk/ledger.h"
#include "engine/risk/margin.h"
#include "engine/state/effects_emit_inline.h"
#include "engine/state/private_event.h"
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

/* One side of a trade in progress. */
struct party {
    const struct order *order;
    struct holding *holding;
    struct account *owner;
    uint32_t order_index;
    int64_t quantity; /* signed */
    int64_t realised;
    int64_t fee;
    uint32_t fill_index;
    uint8_t liquidity;
};

/* Moves a position and its id. Ends reduce-only orders if the position closes or flips, and those
 * that it leaves behind others when it becomes smaller (R3). */
static void move_position(struct engine *engine, struct market *market, struct party *party,
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
    if (CC_UNLIKELY(ends && state_portfolio(engine, holding->portfolio)->conditional_count != 0))
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
    market->max_abs_size = size > market->max_abs_size ? size : market->max_abs_size;
    market->scan_max = size > market->scan_max ? size : market->scan_max;
    holding_move(engine, holding, before);
    recheck_traded(engine, party->order->holding);
    if (CC_UNLIKELY(has_reducing) && !ends && margin_abs(before) > size)
        excess_left(engine, party->order->holding);
}

static void emit_fill(struct engine *engine, const struct market *market, const struct party *party,
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
    effects_emit_inline(engine, EFFECT_fill, party->order_index, market->record.asset_id, &body);
}

static void move_cash(struct engine *engine, const struct party *party)
{
    uint32_t portfolio = party->holding->portfolio;

    if (party->realised != 0) /* most fills close nothing */
        ledger_post(engine, portfolio, CASH_trade, party->realised, party->fill_index);
    ledger_post(engine, portfolio, CASH_fee, -party->fee, party->fill_index);
    engine->fee_account += party->fee;
}

/* Moves the cash of a fill with a house taker: the fund gets the penalty and pays a rebate. */
static void move_house_cash(struct engine *engine, const struct party *maker,
                            const struct party *taker)
{
    uint32_t of_maker = maker->holding->portfolio, of_taker = taker->holding->portfolio;

    ledger_post(engine, of_taker, CASH_trade, taker->realised, taker->fill_index);
    ledger_post(engine, of_taker, CASH_liquidation, -taker->fee, taker->fill_index);
    ledger_post(engine, of_maker, CASH_trade, maker->realised, maker->fill_index);
    ledger_post(engine, of_maker, CASH_fee, -maker->fee, maker->fill_index);
    ledger_post(engine, FUND_PORTFOLIO, CASH_liquidation, taker->fee, taker->fill_index);
    if (maker->fee < 0)
        ledger_post(engine, FUND_PORTFOLIO, CASH_fee, maker->fee, maker->fill_index);
    else
        engine->fee_account += maker->fee;
}

/* Emits 2103. Clears the id of a closed position afterwards, so that equal states stay equal. */
static void emit_position(struct engine *engine, const struct market *market,
                          const struct party *party)
{
    struct holding *holding = party->holding;
    const struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
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
static void set_house_fees(struct engine *engine, struct fill_house *house, struct party *maker,
                           struct party *taker, uint64_t price, uint64_t notional)
{
    const struct holding *holding = taker->holding;
    struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
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
                         uint64_t notional, const struct party *maker, const struct party *taker)
{
    if (house->kind != FILL_LIQUIDATION)
        fee_count_volume(maker->owner, engine->t_ns, notional);
    if (house->kind == FILL_TRADE)
        fee_count_volume(taker->owner, engine->t_ns, notional);
}

void fill_execute(struct engine *engine, uint32_t maker_index, uint32_t taker_index,
                  uint64_t quantity, struct fill_house *house)
{
    const struct order *maker_order = &engine->orders.hot[maker_index];
    struct order *taker_order = &engine->orders.hot[taker_index];
    struct market *market = state_market(engine, maker_order->market);
    struct account *maker_owner = state_account(engine, maker_order->account);
    struct account *taker_owner = state_account(engine, taker_order->account);
    uint64_t price = resting_price_in(market, maker_order);
    uint64_t notional = price * quantity;
    int64_t signed_quantity =
        taker_order->side == ORDER_LONG ? (int64_t)quantity : -(int64_t)quantity;
    uint32_t side_and_flags =
        taker_order->side | (house->kind == FILL_LIQUIDATION ? TRADE_LIQUIDATION << 8 : 0);
    struct party maker = {
        .order = maker_order,
        .holding = state_holding(engine, maker_order->holding),
        .owner = maker_owner,
        .order_index = maker_index,
        .quantity = -signed_quantity,
        .fee = fee_amount(notional, market->record.maker_ppm[maker_owner->fee_tier]),
        .liquidity = LIQUIDITY_MAKER,
    };
    struct party taker = {
        .order = taker_order,
        .holding = state_holding(engine, taker_order->holding),
        .owner = taker_owner,
        .order_index = taker_index,
        .quantity = signed_quantity,
        .fee = fee_amount(notional, market->record.taker_ppm[taker_owner->fee_tier]),
        .liquidity = LIQUIDITY_TAKER,
    };

    if (CC_UNLIKELY(house->kind != FILL_TRADE))
        set_house_fees(engine, house, &maker, &taker, price, notional);
    bool filled = resting_fill(engine, market, maker_index, quantity, price);
    taker_order->remaining -= quantity;
    order_add_fill(&engine->orders, taker_index, quantity, notional);
    move_position(engine, market, &maker, price);
    move_position(engine, market, &taker, price);
    count_volume(engine, house, notional, &maker, &taker);

    emit_trade(engine, market, maker_order->market, price, quantity, side_and_flags);
    emit_fill(engine, market, &maker, price);
    emit_fill(engine, market, &taker, price);
    if (CC_LIKELY(house->kind == FILL_TRADE)) {
        move_cash(engine, &taker);
        move_cash(engine, &maker);
    } else {
        move_house_cash(engine, &maker, &taker);
    }
    emit_position(engine, market, &maker);
    emit_position(engine, market, &taker);
    trigger_traded(engine, maker_order->market, price);
    uint32_t mmp = maker.holding->mmp;
    if (CC_UNLIKELY(mmp != MMP_NONE))
        mmp_count(engine, mmp, maker.quantity);
    resting_emit(engine, market, maker_index, price, BOOK_EXECUTE, quantity);
    if (filled)
        order_release(&engine->orders, maker_index);
}

/* Fills all that is left of an order of the engine, outside the book. Returns its side. */
static struct party own_party(struct engine *engine, uint32_t index, uint64_t price,
                              uint8_t liquidity)
{
    struct order *order = &engine->orders.hot[index];
    uint64_t quantity = order->remaining;
    struct party party = {
        .order = order,
        .holding = state_holding(engine, order->holding),
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
    struct party maker = own_party(engine, maker_index, price, LIQUIDITY_MAKER);
    struct party taker = own_party(engine, taker_index, price, LIQUIDITY_TAKER);

    INVARIANT(maker.quantity == -taker.quantity);
    move_position(engine, market, &maker, price);
    move_position(engine, market, &taker, price);
    emit_fill(engine, market, &maker, price);
    emit_fill(engine, market, &taker, price);
    ledger_post(engine, taker.holding->portfolio, kind, taker.realised, taker.fill_index);
    ledger_post(engine, maker.holding->portfolio, kind, maker.realised, maker.fill_index);
    emit_position(engine, market, &maker);
    emit_position(engine, market, &taker);
}
