#include "engine/standing/firing.h"

#include "engine/risk/risk.h"
#include "engine/standing/schedule.h"
#include "engine/state/evidence.h"
#include "engine/state/trigger.h"
#include "engine/trade/order_plan.h"
#include "engine/trade/place.h"

static void emit_trigger(struct engine *engine, uint32_t index)
{
    const struct conditional *row = &engine->conditionals.rows[index];
    uint16_t asset_id = engine->markets.rows[row->market].record.asset_id;
    struct effect_trigger body = { .source_price = row->hit_price, .asset_id = asset_id };

    memcpy(body.order_id, row->id, sizeof body.order_id);
    effects_emit(engine, EFFECT_trigger, EFFECT_CONDITIONAL | index, asset_id, &body);
}

/* The others of its group in the portfolio that wait, whatever becomes of it. */
static void cancel_group(struct engine *engine, uint32_t index)
{
    struct conditional *rows = engine->conditionals.rows;
    const struct conditional *row = &rows[index];
    uint32_t at = state_portfolio(engine, row->portfolio)->conditional_head;
    uint8_t reason;

    if ((row->oco[0] | row->oco[1]) == 0)
        return;
    while (at != CONDITIONAL_NONE) {
        uint32_t next = rows[at].list_next;
        if (at != index && rows[at].oco[0] == row->oco[0] && rows[at].oco[1] == row->oco[1] &&
            conditional_death(engine, at, &reason) == ORDER_NEW)
            conditional_end(engine, at, ORDER_CANCELED, REASON_oco);
        at = next;
    }
}

/* The wire's expiry of its life once triggered. */
static uint64_t live_expiry(const struct conditional *row)
{
    return row->live_tif == ORDER_GTC ? UINT64_MAX : row->live_tif;
}

static struct order_request request_of(const struct engine *engine, const struct conditional *row)
{
    bool is_buy = row->side == ORDER_LONG;

    return (struct order_request){
        .price = row->price,
        .signed_quantity = is_buy ? (int64_t)row->quantity : -(int64_t)row->quantity,
        .expiry = live_expiry(row),
        .slippage_ppm = row->slippage_ppm,
        .portfolio = row->portfolio,
        .account = row->account,
        .replaced = ORDER_NONE,
        .asset_id = engine->markets.rows[row->market].record.asset_id,
        .order_type = row->order_type,
        .fires = true,
        .post_only = (row->flags & ORDER_POST_ONLY) != 0,
        .reduce_only = (row->flags & ORDER_REDUCE_ONLY) != 0,
        .stp = (row->flags >> ORDER_STP_SHIFT) & 3u,
    };
}

/* R8's rows at t of this command; it has left every list. Gives the makers met. */
static uint32_t place(struct engine *engine, uint32_t index)
{
    struct conditional *row = &engine->conditionals.rows[index];
    struct order_request request = request_of(engine, row);
    struct place_name name = {
        .id = (const uint8_t *)row->id,
        .hash = row->hash,
        .account = row->account,
        .conditional = index,
    };
    struct engine_result *result = NULL;

    if (engine->applying.untriggered == index) { /* it is what the command placed (evidence.h) */
        result = engine->applying.answer;
        engine->applying.untriggered = CONDITIONAL_NONE;
    }
    engine->applying.makers = 0;
    enum status status = order_request_form(engine, &request, false);
    if (status == STATUS_request_completed)
        status = place_request(engine, &name, &request, result);
    if (status != STATUS_request_completed) {
        row->state = ORDER_REJECTED;
        row->reason = request.reason != REASON_none ? request.reason : (uint8_t)status;
        conditional_emit(engine, index);
        evidence_of_refusal(engine, result, row->quantity);
    }
    conditional_release(&engine->conditionals, index);
    return engine->applying.makers;
}

/* What is left of an order that fired and met makers_max makers, with its limit as it was then
 * (R3). */
static void go_on(struct engine *engine, uint32_t *units)
{
    uint32_t index = engine->conditionals.going, makers = 0;
    const struct order *order = &engine->orders.hot[index];
    struct order_plan plan;
    struct order_request request;
    struct engine_result *result = /* what the command placed */
        engine->applying.resting == index ? engine->applying.answer : NULL;

    engine->conditionals.going = ORDER_NONE;
    *units -= 1;
    risk_refresh(engine, state_holding(engine, order->holding)->portfolio);
    if (!trigger_may_fire(engine, order->market)) {
        order_plan_give_up(engine, index, REASON_market_state);
    } else if (order_request_resume(engine, index, &request) != STATUS_request_completed) {
        order_plan_give_up(engine, index, STATUS_insufficient_margin_to_trade);
    } else {
        engine->applying.makers = 0;
        enum status status = order_plan_decide(engine, &request, &plan);
        makers = engine->applying.makers;
        if (status != STATUS_request_completed)
            order_plan_give_up(engine, index, (uint8_t)status);
        else
            order_plan_act(engine, &request, &plan, index, 0, result);
    }
    risk_flush(engine);
    *units -= makers < *units ? makers : *units;
}

bool firing_unit(struct engine *engine, uint32_t batch, uint32_t *units)
{
    if (CC_UNLIKELY(engine->conditionals.going != ORDER_NONE)) {
        go_on(engine, units);
        return true;
    }
    uint32_t index = trigger_next(engine, batch), makers;
    uint8_t reason;

    if (index == CONDITIONAL_NONE)
        return false;
    const struct conditional *row = &engine->conditionals.rows[index];
    *units -= 1;
    enum order_state death = conditional_death(engine, index, &reason);
    if (death != ORDER_NEW) {
        conditional_end(engine, index, death, reason);
        return true;
    }
    if (!trigger_may_fire(engine, row->market)) {
        trigger_arm(engine, index);
        return true;
    }
    schedule_refresh(engine, row->portfolio);
    risk_refresh(engine, row->portfolio);
    death = conditional_death(engine, index, &reason);
    if (death != ORDER_NEW) { /* found by the refresh */
        conditional_end(engine, index, death, reason);
        return true;
    }
    emit_trigger(engine, index);
    cancel_group(engine, index);
    conditional_leave(engine, index);
    makers = place(engine, index);
    risk_flush(engine);
    *units -= makers < *units ? makers : *units;
    return true;
}
