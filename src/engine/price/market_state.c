#include "engine/price/market_state.h"

#include "base/field.h"
#include "base/rule.h"
#include "engine/price/mark.h"
#include "engine/price/settlement.h"
#include "engine/state/access.h"
#include "engine/state/state.h"

/* Offsets in the bodies of W3a. */
enum { STATE_ASSET_AT = 0, STATE_AT = 4, STATE_FORCE_AT = 5, STATE_OF_ALL_AT = 0 };

void market_state_move(struct engine *engine, uint32_t index, enum market_state state,
                       enum effect_cause cause)
{
    bool was_halted = state_market(engine, index)->state == MARKET_HALTED;

    market_set_state(engine, index, state, cause);
    if (was_halted && state != MARKET_HALTED)
        mark_leave_halt(engine, index);
}

static enum effect_cause cause_of(const struct command *command, enum market_state state)
{
    if (command->kind != COMMAND_UNSIGNED)
        return CAUSE_OPERATOR;
    return state == MARKET_HALTED ? CAUSE_INVARIANT : CAUSE_RESTART;
}

/* A state takes no price: a held market stays held, its state is the stricter of CANCEL_ONLY and
 * this one, and the hold returns to it (R5). Each state calls a closing off, or announces it. */
static void set(struct engine *engine, uint32_t index, enum market_state state, bool announces,
                enum effect_cause cause)
{
    struct market *market = state_market(engine, index);

    market->announced_ns = announces ? engine->t_ns : 0;
    if (market->hold_count != 0) {
        market->former_state = (uint8_t)state;
        state = state < MARKET_CANCEL_ONLY ? MARKET_CANCEL_ONLY : state;
    }
    market_state_move(engine, index, state, cause);
}

/* Closes a market. Only the operator may, and not too early (R9). */
static enum status close(struct engine *engine, const struct command *command, uint32_t index,
                         struct engine_result *result)
{
    bool by_force = command_body(command)[STATE_FORCE_AT] != 0;

    if (command->kind == COMMAND_UNSIGNED || !settlement_may_begin(engine, index, by_force))
        return result_refuse(result, OPERATOR_RULE_close_notice, STATUS_order_rejected_invalid);
    settlement_begin(engine, index);
    return STATUS_request_completed;
}

/* The rule of 1002 and 1008 that the body breaks by a field that is not clean. */
static enum operator_rule unclean_rule(const struct command *command)
{
    const struct field *field = access_unclean_field(command);

    if (field == NULL)
        return OPERATOR_RULE_none;
    if (field->kind == FIELD_PAD)
        return OPERATOR_RULE_pad;
    return field->kind == FIELD_BOOL ? OPERATOR_RULE_force : OPERATOR_RULE_state_code;
}

enum status market_state_set(struct engine *engine, const struct command *command,
                             struct engine_result *result)
{
    const uint8_t *body = command_body(command);
    uint32_t index;

    enum status status = market_of_asset(engine, cc_load16(body + STATE_ASSET_AT), &index);
    if (status != STATUS_request_completed)
        return result_refuse(result,
                             status == ROW_STATUS(market_id) ? OPERATOR_RULE_asset
                                                             : OPERATOR_RULE_asset_unknown,
                             status);
    enum operator_rule unclean = unclean_rule(command);
    if (unclean != OPERATOR_RULE_none)
        return result_refuse(result, unclean, STATUS_order_rejected_invalid);
    if (state_market(engine, index)->state == MARKET_CLOSED)
        return result_refuse(result, OPERATOR_RULE_asset_closed, ROW_STATUS(market_closed));
    if (body[STATE_AT] == MARKET_CLOSED)
        return close(engine, command, index, result);
    enum market_state state = (enum market_state)body[STATE_AT];
    bool announces = state == MARKET_REDUCE_ONLY && body[STATE_FORCE_AT] == 1;
    if (announces && engine->clock_step_ns != 0) /* its hour would end with the gap */
        return result_refuse(result, OPERATOR_RULE_clock_announce, STATUS_order_rejected_invalid);
    set(engine, index, state, announces, cause_of(command, state));
    return STATUS_request_completed;
}

static void set_all(struct engine *engine, enum market_state state, enum effect_cause cause)
{
    const struct market_table *table = &engine->markets;

    for (uint32_t k = 0; k < table->count; k++)
        if (table->rows[table->sorted[k]].state != MARKET_CLOSED)
            set(engine, table->sorted[k], state, false, cause);
}

enum status market_state_set_all(struct engine *engine, const struct command *command,
                                 struct engine_result *result)
{
    uint8_t state = command_body(command)[STATE_OF_ALL_AT];

    if (state > MARKET_HALTED)
        return result_refuse(result, OPERATOR_RULE_state_of_all, STATUS_order_rejected_invalid);
    enum operator_rule unclean = unclean_rule(command);
    if (unclean != OPERATOR_RULE_none)
        return result_refuse(result, unclean, STATUS_order_rejected_invalid);
    set_all(engine, (enum market_state)state, cause_of(command, (enum market_state)state));
    return STATUS_request_completed;
}

void market_state_restored(struct engine *engine)
{
    set_all(engine, MARKET_HALTED, CAUSE_RESTORED);
}

/* True if the market accepts orders, or will after its hold or a gap of the clock: a held market is
 * CANCEL_ONLY, but its former state may be looser. */
static bool is_open(const struct engine *engine, uint32_t index)
{
    const struct market *market = &engine->markets.rows[index];
    enum market_state state = market_own_state(engine, index);

    if (state < MARKET_CANCEL_ONLY)
        return true;
    return state == MARKET_CANCEL_ONLY && market->hold_count != 0 &&
           market->former_state < MARKET_CANCEL_ONLY;
}

uint16_t market_state_next_open(const struct engine *engine, uint16_t after)
{
    const struct market_table *table = &engine->markets;

    for (uint32_t k = 0; k < table->count; k++) {
        const struct market *market = &table->rows[table->sorted[k]];
        if (market->record.asset_id > after && is_open(engine, table->sorted[k]))
            return market->record.asset_id;
    }
    return 0;
}

uint16_t market_state_unhalted(const struct engine *engine, uint32_t index)
{
    const struct market *market = &engine->markets.rows[index];

    if (index >= engine->markets.count || market_own_state(engine, index) >= MARKET_HALTED)
        return 0;
    return market->record.asset_id;
}
