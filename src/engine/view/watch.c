#include "engine/view/watch.h"

#include "base/money.h"
#include "base/request.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "engine/state/market_price.h"
#include "engine/state/state.h"

enum { WATCH_PENALTY_PPM_MAX = 5000 /* R7, L1 */, WATCH_PPB = 1000000000 };

static void fail(struct watch *watch, unsigned number, uint32_t market)
{
    watch->verdict.failed |= (uint16_t)(1u << (number - 1));
    if (market == MARKET_NONE)
        watch->verdict.of_all = true;
    else
        watch->verdict.markets[market / 64] |= UINT64_C(1) << (market % 64);
}

/* I10 failed for a portfolio: in each of its markets, without one in all. */
static void fail_portfolio(struct watch *watch, const struct engine *engine, uint32_t index)
{
    uint32_t at = engine->portfolios.rows[index].holding_head;

    if (at == HOLDING_NONE)
        fail(watch, 10, MARKET_NONE);
    for (; at != HOLDING_NONE; at = engine->holdings.rows[at].next)
        fail(watch, 10, engine->holdings.rows[at].market);
}

static void allow(struct watch *watch, uint32_t portfolio, int128 amount)
{
    if (watch->is_begun && portfolio < watch->count && amount > 0)
        watch->rows[portfolio].allowed += amount;
}

/* Every holder of the market may lose his size times `distance`. */
static void allow_holders(struct watch *watch, const struct engine *engine, uint32_t market,
                          uint64_t distance)
{
    for (uint32_t i = 0; i < watch->count && distance != 0; i++)
        for (uint32_t at = engine->portfolios.rows[i].holding_head; at != HOLDING_NONE;
             at = engine->holdings.rows[at].next)
            if (engine->holdings.rows[at].market == market)
                allow(watch, i, (int128)margin_abs(engine->holdings.rows[at].size) * distance);
}

/* A move of the index that no effect has shown before. */
static void allow_move(struct watch *watch, const struct engine *engine, uint32_t index)
{
    uint64_t now = engine->markets.rows[index].index_price, before = watch->indexes[index];

    if (now == before)
        return;
    watch->indexes[index] = now;
    allow_holders(watch, engine, index, money_distance(now, before));
}

static int128 equity_at_index(const struct engine *engine, uint32_t index)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    int128 equity = portfolio->cash;

    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next) {
        const struct holding *holding = &engine->holdings.rows[at];
        equity += (int128)engine->markets.rows[holding->market].index_price * holding->size -
                  holding->cost;
    }
    return equity;
}

void watch_begin(struct watch *watch, const struct engine *engine)
{
    INVARIANT(engine->portfolios.count <= watch->capacity);
    watch->count = engine->portfolios.count;
    watch->is_begun = true;
    for (uint32_t k = 0; k < ENGINE_MARKETS_MAX; k++)
        watch->indexes[k] = k < engine->markets.count ? engine->markets.rows[k].index_price : 0;
    for (uint32_t i = 0; i < watch->count; i++)
        watch->rows[i] = (struct watch_row){ .equity = equity_at_index(engine, i) };
    for (uint32_t k = 0; k < engine->markets.count; k++) {
        const struct market *market = &engine->markets.rows[k];
        if (engine->settlements[k].pass != SETTLEMENT_NONE) /* at the mark, which is T (R9) */
            allow_holders(watch, engine, k, money_distance(market->mark, market->index_price));
    }
}

/* --- effects ---------------------------------------------------------------------------------- */

/* I7: whether the price is one that this side of a fill may have. A taker may get better than the
 * band; what the engine fills for both sides may not leave it. */
static bool is_in_band(const struct market *market, const struct order *order,
                       const struct effect_fill *fill)
{
    bool is_low = fill->price < market_price_low(market);
    bool is_high = fill->price > market_price_high(market);
    bool buys = fill->quantity > 0;

    if (order->order_type == ORDER_AUTO_DELEVERAGE ||
        (order->order_type == ORDER_LIQUIDATE && fill->liquidity == LIQUIDITY_MAKER))
        return !is_low && !is_high;
    if (fill->liquidity == LIQUIDITY_MAKER)
        return true;
    return buys ? !is_high : !is_low;
}

static bool is_made_by_engine(const struct order *order)
{
    return order->order_type == ORDER_LIQUIDATE || order->order_type == ORDER_AUTO_DELEVERAGE;
}

/* The highest fee rate that a fill of the market may have: its tiers', or the penalty's. */
static int32_t fee_rate_max(const struct market_record *record, bool made_by_engine)
{
    int32_t most = made_by_engine ? WATCH_PENALTY_PPM_MAX : 0;

    for (uint32_t k = 0; k < MARKET_FEE_TIERS; k++) {
        most = record->taker_ppm[k] > most ? record->taker_ppm[k] : most;
        most = record->maker_ppm[k] > most ? record->maker_ppm[k] : most;
    }
    return most;
}

static void see_fill(struct watch *watch, const struct effect *effect)
{
    const struct engine *engine = effect->engine;
    const struct order *order = &engine->orders.hot[effect->record];
    const struct market *market = &engine->markets.rows[order->market];
    uint32_t portfolio = engine->holdings.rows[order->holding].portfolio;
    struct effect_fill fill;

    memcpy(&fill, effect->bytes, sizeof fill);
    if (!is_in_band(market, order, &fill))
        fail(watch, 7, order->market);
    if (!watch->is_begun)
        return;
    allow_move(watch, engine, order->market);
    bool engine_made = is_made_by_engine(order);
    uint128 quantity = margin_abs(fill.quantity);
    int64_t worse = (int64_t)(fill.price - market->index_price);
    int128 fee_most = money_cdiv(
        (int128)quantity * fill.price * fee_rate_max(&market->record, engine_made), MONEY_PPM);
    uint64_t distance = (worse > 0) == (fill.quantity > 0) ? margin_abs(worse) : 0;
    if (engine_made)
        distance = money_distance(market->mark, market->index_price) +
                   (uint64_t)money_ppm_up(market->mark, market->record.price_band_ppm);
    allow(watch, portfolio, (int128)quantity * distance);
    allow(watch, portfolio, fill.fee < fee_most ? fill.fee : fee_most);
}

/* What a portfolio in liquidation pays to the fund beside its fills: the share of L2, the rest of
 * L3. */
static void see_cash(struct watch *watch, const struct effect *effect)
{
    struct effect_cash cash;

    memcpy(&cash, effect->bytes, sizeof cash);
    if (cash.kind == CASH_fund && cash.amount < 0 &&
        effect->engine->portfolios.rows[effect->record].status == PORTFOLIO_IN_LIQUIDATION)
        allow(watch, effect->record, -(int128)cash.amount);
}

static void see_funding(struct watch *watch, const struct effect *effect)
{
    const struct engine *engine = effect->engine;
    const struct holding *holding = &engine->holdings.rows[effect->record];
    const struct market *market = &engine->markets.rows[holding->market];
    struct effect_funding_payment paid;

    memcpy(&paid, effect->bytes, sizeof paid);
    uint64_t rate = margin_abs(paid.rate_ppb);
    int128 most =
        money_cdiv((int128)margin_abs(paid.size) * market->funding_index * rate, WATCH_PPB);
    allow(watch, holding->portfolio, -(int128)paid.payment < most ? -(int128)paid.payment : most);
}

/* I8: a withdrawal while the exchange is short. */
static void see_withdrawal(struct watch *watch, const struct effect *effect)
{
    const struct engine *engine = effect->engine;
    const struct portfolio *portfolio = &engine->portfolios.rows[effect->record];
    int128 after = engine->accounts.rows[portfolio->account].net_deposits;
    struct effect_withdrawal withdrawal;

    memcpy(&withdrawal, effect->bytes, sizeof withdrawal);
    int128 before = after + withdrawal.amount;
    if (withdrawal.outcome == WITHDRAWAL_PENDING && fund_exchange_is_short(engine) &&
        after < (before < 0 ? before : 0))
        fail(watch, 8, MARKET_NONE);
}

/* A market closes: its holders are settled at the mark (R9). */
static void see_state(struct watch *watch, const struct effect *effect)
{
    const struct market *market = &effect->engine->markets.rows[effect->record];

    if (market->state == MARKET_CLOSED)
        allow_holders(watch, effect->engine, effect->record,
                      money_distance(market->mark, market->index_price));
}

/* R9: what a winner gives to those who could not pay. */
static void see_settlement(struct watch *watch, const struct effect *effect)
{
    struct effect_settlement settlement;

    memcpy(&settlement, effect->bytes, sizeof settlement);
    allow(watch, effect->engine->holdings.rows[effect->record].portfolio, settlement.cut);
}

void watch_effect(struct watch *watch, const struct effect *effect)
{
    switch (effect->code) {
    case EFFECT_fill:
        see_fill(watch, effect);
        break;
    case EFFECT_withdrawal:
        see_withdrawal(watch, effect);
        break;
    case EFFECT_cash:
        see_cash(watch, effect);
        break;
    case EFFECT_funding_payment:
        see_funding(watch, effect);
        break;
    case EFFECT_mark:
        if (watch->is_begun)
            allow_move(watch, effect->engine, effect->record);
        break;
    case EFFECT_market_state:
        if (watch->is_begun)
            see_state(watch, effect);
        break;
    case EFFECT_settlement:
        see_settlement(watch, effect);
        break;
    default:
        break;
    }
}

/* The slot of the account that signed the command, 0 (the fund's): none did. */
static uint32_t signer_of(const struct command *command)
{
    bool is_signed = command->kind != COMMAND_UNSIGNED && command->code < REQUEST_oracle_price &&
                     command->code != REQUEST_create_account_secp256k1 &&
                     command->code != REQUEST_create_account_passkey;

    return is_signed ? account_id_slot(cc_load64(command_body(command))) : 0;
}

bool watch_end(struct watch *watch, const struct engine *engine, const struct command *command,
               struct audit_verdict *verdict)
{
    uint32_t signer = signer_of(command);

    for (uint32_t k = 0; k < engine->markets.count && watch->is_begun; k++)
        allow_move(watch, engine, k);
    for (uint32_t i = FUND_PORTFOLIO + 1; i < watch->count && watch->is_begun; i++) {
        const struct watch_row *row = &watch->rows[i];
        if (engine->portfolios.rows[i].account != signer &&
            row->equity - equity_at_index(engine, i) > row->allowed)
            fail_portfolio(watch, engine, i);
    }
    watch->is_begun = false;
    *verdict = watch->verdict;
    watch->verdict = (struct audit_verdict){ 0 };
    return verdict->failed == 0;
}
