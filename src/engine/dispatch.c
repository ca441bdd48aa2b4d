#include "engine/dispatch.h"

#include "base/rule.h"
#include "engine/account/api_key.h"
#include "engine/account/credit.h"
#include "engine/account/device_key.h"
#include "engine/account/faucet.h"
#include "engine/account/leverage_set.h"
#include "engine/account/master_key.h"
#include "engine/account/operator_cancel.h"
#include "engine/account/portfolio_close.h"
#include "engine/account/session.h"
#include "engine/account/signup.h"
#include "engine/account/transfer.h"
#include "engine/account/withdraw.h"
#include "engine/engine.h"
#include "engine/price/clock_gap.h"
#include "engine/price/mark.h"
#include "engine/price/market_state.h"
#include "engine/risk/fee.h"
#include "engine/risk/risk.h"
#include "engine/standing/conditional_order.h"
#include "engine/standing/connection_end.h"
#include "engine/standing/schedule.h"
#include "engine/state/access.h"
#include "engine/state/leverage.h"
#include "engine/state/state.h"
#include "engine/trade/amend.h"
#include "engine/trade/batch.h"
#include "engine/trade/cancel.h"
#include "engine/trade/place.h"
#include "engine/view/capacity.h"

/* --- commands of the node and of operators ---------------------------------------------------- */

static void apply_boot(struct engine *engine, const struct command *command)
{
    const uint8_t *body = command_body(command);

    engine->boot = cc_load64(body);
    engine->rules_version = cc_load32(body + 8);
    clock_gap_open(engine, (int64_t)cc_load64(body + 16));
}

/* Applies code 2013. A configuration with less room than is in use is refused, and the one before
 * stays in force. */
static enum status apply_configuration(struct engine *engine, const struct command *command)
{
    struct option_engine next;
    enum option short_of;

    if (!option_parse_engine(&next, command_body(command), command_body_bytes(command)) ||
        !capacity_suffices(engine, &next, &short_of))
        return STATUS_order_rejected_invalid;
    INVARIANT(state_is_laid_out_for(engine, &next)); /* the node must ensure it */
    state_use_options(engine, &next);
    engine->configuration_bytes = command_body_bytes(command);
    memset(engine->configuration, 0, sizeof engine->configuration);
    memcpy(engine->configuration, command_body(command), engine->configuration_bytes);
    return STATUS_request_completed;
}

/* Applies code 2018: 2013 names the new key from here on. The node has checked its signature. */
static enum status apply_signing_key(struct engine *engine, const struct command *command)
{
    return option_change_signing_public(&engine->options, engine->configuration,
                                        engine->configuration_bytes, command_body(command))
               ? STATUS_request_completed
               : STATUS_order_rejected_invalid;
}

/* Applies code 1000: checks pads, rows market_id and market, and CLOSED. mark_oracle checks price
 * and time (R5). */
static enum status apply_oracle(struct engine *engine, const struct command *command,
                                struct engine_result *result)
{
    const uint8_t *body = command_body(command);
    uint32_t market;

    (void)result;
    market = market_find(engine, cc_load16(body + 16));
    if (!access_body_is_clean(command) ||
        (market != MARKET_NONE &&
         cc_load16(body + 20) < state_market(engine, market)->record.oracle_sources_min))
        return STATUS_order_rejected_invalid;
    enum status status = market_of_asset(engine, cc_load16(body + 16), &market);
    if (status != STATUS_request_completed)
        return status;
    if (engine->markets.rows[market].state == MARKET_CLOSED)
        return ROW_STATUS(market_closed);
    uint64_t draw = command->kind == COMMAND_UNSIGNED ? 0 : cc_load64(command_signature(command));
    return mark_oracle(engine, market, cc_load64(body), cc_load64(body + 8), draw);
}

enum status dispatch_unsigned(struct engine *engine, const struct command *command,
                              struct engine_result *result, uint32_t *units)
{
    switch (command->code) {
    case REQUEST_market_define:
        return market_define(engine, command, result);
    case REQUEST_market_state:
        return market_state_set(engine, command, result);
    case REQUEST_halt_all:
        return market_state_set_all(engine, command, result);
    case REQUEST_clock_confirm:
        return clock_gap_confirm(engine, command, result);
    case REQUEST_tick:
        if (command_body(command)[0] == 1) /* kind: work */
            *units = ENGINE_WORK_TICK_UNITS;
        return STATUS_request_completed;
    case REQUEST_set_leverage:
        return leverage_set(engine, command, result);
    case REQUEST_portfolio_close:
        return portfolio_close(engine, command, result);
    case REQUEST_portfolio_reopen:
        return portfolio_reopen(engine, command, result);
    case REQUEST_faucet_credit:
        return faucet_credit(engine, command, result);
    case REQUEST_rename_portfolio:
        return portfolio_rename(engine, command, result);
    case REQUEST_cancel_on_disconnect:
        connection_end(engine, command);
        return STATUS_request_completed;
    case REQUEST_disconnect_arm:
        return disconnect_set(engine, command, result);
    case REQUEST_configuration:
        return apply_configuration(engine, command);
    case REQUEST_boot:
        apply_boot(engine, command);
        return STATUS_request_completed;
    case REQUEST_effects_hash: /* the node has compared it */
    case REQUEST_lead:         /* who leads from here on: it changes no state */
        return STATUS_request_completed;
    case REQUEST_restored:
        market_state_restored(engine);
        return STATUS_request_completed;
    case REQUEST_signing_key:
        return apply_signing_key(engine, command);
    default:
        INVARIANT(!"the node authored a code without a handler");
        return STATUS_order_rejected_internal;
    }
}

/* True for the codes before which a dead-man deadline fires (R10, Dead-man switch). */
static bool enters_orders(uint16_t code)
{
    return code == REQUEST_place_limit_order || code == REQUEST_order_replacement ||
           code == REQUEST_place_market_order || code == REQUEST_place_conditional_order ||
           code == REQUEST_order_batch || code == REQUEST_schedule_cancel_all;
}

static void refresh_portfolios(struct engine *engine)
{
    const struct applying *applying = &engine->applying;
    uint32_t subaccount = cc_load32(command_body(applying->command) + 8);

    if (applying->portfolio != PORTFOLIO_NONE) {
        if (enters_orders(applying->command->code))
            schedule_refresh(engine, applying->portfolio);
        risk_refresh(engine, applying->portfolio);
        return;
    }
    uint32_t record = subaccount_find(engine, applying->account, subaccount);
    uint32_t count = engine->subaccounts.rows[record].portfolio_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t portfolio = portfolio_find(engine, applying->account, subaccount, i);
        if (portfolio != PORTFOLIO_NONE) /* CLOSED, without a row */
            risk_refresh(engine, portfolio);
    }
}

/* --- signed codes ----------------------------------------------------------------------------- */

/* The step before a handler: nothing, or row portfolio of the portfolio_id at the head of the body
 * and the refresh of the portfolios that it names (check-on-touch). */
enum before { BEFORE_NOTHING, BEFORE_PORTFOLIO };

/* clang-format off */
/*    code                       before     handler */
#define DISPATCH_LIST(X) \
    X(place_limit_order,         PORTFOLIO, place_limit) \
    X(order_reduction,           PORTFOLIO, amend_reduce) \
    X(order_replacement,         PORTFOLIO, amend_replace) \
    X(order_cancel,              PORTFOLIO, cancel_order) \
    X(cancel_all_orders,         PORTFOLIO, cancel_all) \
    X(place_market_order,        PORTFOLIO, place_market) \
    X(place_conditional_order,   PORTFOLIO, conditional_order_place) \
    X(conditional_order_cancel,  PORTFOLIO, conditional_order_cancel) \
    X(order_batch,               PORTFOLIO, batch_apply) \
    X(transfer,                  NOTHING,   transfer_cash) \
    X(withdraw,                  PORTFOLIO, withdraw_request) \
    X(schedule_cancel_all,       PORTFOLIO, schedule_cancel_all) \
    X(set_mmp,                   PORTFOLIO, mmp_set) \
    X(reset_mmp,                 PORTFOLIO, mmp_reset) \
    X(operator_cancel,           NOTHING,   operator_cancel) \
    X(create_account_secp256k1,  NOTHING,   signup_create) \
    X(create_account_passkey,    NOTHING,   signup_create) \
    X(create_session,            NOTHING,   session_create) \
    X(revoke_session,            NOTHING,   session_revoke) \
    X(revoke_all_sessions,       NOTHING,   session_revoke_all) \
    X(add_admin_secp256k1_master_key,     NOTHING, master_key_add) \
    X(add_admin_passkey_master_key,       NOTHING, master_key_add) \
    X(add_scoped_secp256k1_master_key,    NOTHING, master_key_add) \
    X(add_scoped_passkey_master_key,      NOTHING, master_key_add) \
    X(remove_admin_secp256k1_master_key,  NOTHING, master_key_remove) \
    X(remove_admin_passkey_master_key,    NOTHING, master_key_remove) \
    X(remove_scoped_secp256k1_master_key, NOTHING, master_key_remove) \
    X(remove_scoped_passkey_master_key,   NOTHING, master_key_remove) \
    X(create_subaccount,         NOTHING,   subaccount_create) \
    X(close_subaccount,          NOTHING,   subaccount_close) \
    X(create_portfolio,          NOTHING,   portfolio_create) \
    X(close_account,             NOTHING,   account_close) \
    X(login,                     NOTHING,   device_key_create) \
    X(create_api_key,            NOTHING,   api_key_create) \
    X(revoke_api_key,            NOTHING,   api_key_revoke) \
    X(oracle_price,              NOTHING,   apply_oracle) \
    X(market_define,             NOTHING,   market_define) \
    X(market_state,              NOTHING,   market_state_set) \
    X(halt_all,                  NOTHING,   market_state_set_all) \
    X(deposit_credit,            NOTHING,   credit_deposit) \
    X(withdrawal_settle,         NOTHING,   withdraw_settle) \
    X(suspend_account,           NOTHING,   account_suspend) \
    X(fund_top_up,               NOTHING,   credit_fund) \
    X(set_fee_tier,              NOTHING,   fee_set_tier) \
    X(index_accept,              NOTHING,   mark_accept_index) \
    X(clock_confirm,             NOTHING,   clock_gap_confirm)
/* clang-format on */

static enum before before_of(uint16_t code)
{
    switch (code) {
#define X(code, first, function) \
    case REQUEST_##code:         \
        return BEFORE_##first;
        DISPATCH_LIST(X)
#undef X
    default:
        INVARIANT(!"a code without a handler was routed");
        return BEFORE_NOTHING;
    }
}

/* Calls each handler by its name: its address would come from a table outside the engine. */
static enum status handle(struct engine *engine, const struct command *command,
                          struct engine_result *result)
{
    switch (command->code) {
#define X(code, first, function) \
    case REQUEST_##code:         \
        return function(engine, command, result);
        DISPATCH_LIST(X)
#undef X
    default:
        return STATUS_order_rejected_internal;
    }
}

enum status dispatch_signed(struct engine *engine, const struct command *command,
                            struct engine_result *result)
{
    enum before before = before_of(command->code);

    if (access_is_suspended(engine, command))
        return ROW_STATUS(suspended);
    if (before == BEFORE_PORTFOLIO) {
        enum status status = access_portfolio(engine, command);
        if (status != STATUS_request_completed)
            return status;
        refresh_portfolios(engine);
    }
    return handle(engine, command, result);
}
