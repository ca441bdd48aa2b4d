#include "engine/account/withdraw.h"

#include "base/field.h"
#include "base/rule.h"
#include "engine/account/cash.h"
#include "engine/risk/fund.h"
#include "engine/risk/risk.h"
#include "engine/state/access.h"
#include "engine/state/private_event.h"
#include "engine/state/state.h"

enum { DESTINATION_BYTES = 20 };

/* Body of code 10 (W3). */
struct request_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint64_t amount;
    uint8_t destination[DESTINATION_BYTES];
    uint32_t pad;
};

static_assert(sizeof(struct request_body) == 48, "W3: code 10");

static void emit(struct engine *engine, const struct withdrawal *row,
                 enum effect_withdrawal_outcome outcome)
{
    struct effect_withdrawal body = {
        .portfolio = portfolio_effect_id(engine, row->portfolio),
        .amount = row->amount,
        .outcome = (uint8_t)outcome,
    };

    withdrawal_id(row, body.withdrawal_id);
    private_event_add(engine, row->portfolio, 1);
    effects_emit(engine, EFFECT_withdrawal, row->portfolio, 0, &body);
}

/* R10: why what is beyond the account's net deposits waits, REASON_none: it does not. */
static uint8_t profit_waits(const struct engine *engine, const struct account *owner,
                            uint64_t amount)
{
    if ((int128)amount <= (owner->net_deposits > 0 ? owner->net_deposits : 0))
        return REASON_none;
    if (work_queue_is_moving(engine))
        return REASON_market_gap;
    return fund_exchange_is_short(engine) ? REASON_insurance_fund_deficit : REASON_none;
}

/* The answer to an account that has too many rows for the class it would fall to. */
static enum operator_rule rule_of_fall(enum share_table table)
{
    static const uint8_t rules[SHARE_TABLE_COUNT] = {
        [SHARE_orders] = OPERATOR_RULE_fall_orders,
        [SHARE_conditionals] = OPERATOR_RULE_fall_conditionals,
        [SHARE_positions] = OPERATOR_RULE_fall_positions,
        [SHARE_leverages] = OPERATOR_RULE_fall_leverages,
        [SHARE_mmps] = OPERATOR_RULE_fall_mmps,
        [SHARE_credentials] = OPERATOR_RULE_fall_credentials,
        [SHARE_arms] = OPERATOR_RULE_fall_arms,
        [SHARE_withdrawals] = OPERATOR_RULE_fall_withdrawals,
        [SHARE_portfolios] = OPERATOR_RULE_fall_portfolios,
        [SHARE_subaccounts] = OPERATOR_RULE_fall_subaccounts,
    };

    return (enum operator_rule)rules[table];
}

enum status withdraw_request(struct engine *engine, const struct command *command,
                             struct engine_result *result)
{
    static const uint8_t nowhere[DESTINATION_BYTES];
    uint32_t portfolio = engine->applying.portfolio;
    struct request_body body;

    memcpy(&body, command_body(command), sizeof body);
    if (!access_body_is_clean(command))
        return STATUS_order_rejected_invalid;
    if (body.amount == 0)
        return ROW_STATUS(size_zero);
    if (body.amount < WITHDRAWAL_MIN)
        return STATUS_rejected_invalid_size;
    if (!cash_is_free(engine, portfolio, body.amount))
        return STATUS_rejected_insufficient_free_equity;
    struct account *owner = &engine->accounts.rows[engine->applying.account];
    result->reason = profit_waits(engine, owner, body.amount);
    if (result->reason != REASON_none)
        return STATUS_rejected_insufficient_free_equity;
    if (memcmp(body.destination, nowhere, sizeof nowhere) == 0) {
        result->reason = REASON_invalid_destination;
        return STATUS_order_rejected_invalid;
    }
    if (!share_fits(engine, engine->applying.account, SHARE_withdrawals, 1)) {
        result->reason = REASON_limit_reached;
        return STATUS_order_rejected_invalid;
    }
    enum share_table over = share_stops_fall(engine, engine->applying.account, body.amount);
    if (over != SHARE_TABLE_COUNT) {
        result->reason = REASON_limit_reached;
        return result_refuse(result, rule_of_fall(over), STATUS_order_rejected_invalid);
    }
    if (!withdrawal_fits(engine, body.amount))
        return ROW_STATUS(room);
    struct withdrawal row = {
        .created_sequence = engine->sequence,
        .created_ns = engine->t_ns,
        .amount = body.amount,
        .release_ns = credential_keep_until(engine),
        .portfolio = portfolio,
        .id_index = state_next_id(engine),
    };
    memcpy(row.destination, body.destination, sizeof row.destination);
    (void)withdrawal_add(engine, &row);
    engine->withdrawals_pending += (int64_t)body.amount;
    owner->net_deposits -= (int64_t)body.amount;
    cash_debit(engine, portfolio, CASH_withdrawal, (int64_t)body.amount);
    share_refund(engine, engine->applying.account);
    emit(engine, &row, WITHDRAWAL_PENDING);
    withdrawal_id(&row, result->id);
    result->members |= ANSWER_HAS_ID;
    return STATUS_request_completed;
}

/* The rule that a 1004 of withdrawal `index` breaks. */
static enum operator_rule settle_rule(const struct engine *engine, const struct command *command,
                                      uint32_t index)
{
    const struct field *field = access_unclean_field(command);

    if (field != NULL)
        return field->kind == FIELD_PAD ? OPERATOR_RULE_pad : OPERATOR_RULE_outcome;
    bool is_pending =
        index != WITHDRAWAL_NONE && engine->withdrawals.rows[index].ended_sequence == 0;
    return is_pending ? OPERATOR_RULE_none : OPERATOR_RULE_withdrawal_id;
}

enum status withdraw_settle(struct engine *engine, const struct command *command,
                            struct engine_result *result)
{
    const uint8_t *body = command_body(command);
    uint32_t index = withdrawal_find(engine, body);
    struct withdrawal *row = &engine->withdrawals.rows[index];
    bool is_reverted = body[16] == WITHDRAWAL_REVERTED;

    enum operator_rule broken = settle_rule(engine, command, index);
    if (broken != OPERATOR_RULE_none)
        return result_refuse(result, broken, STATUS_order_rejected_invalid);
    if (is_reverted) {
        risk_refresh(engine, row->portfolio);
        if (!cash_fits(engine, row->portfolio, row->amount))
            return result_refuse(result, OPERATOR_RULE_reverted_cash,
                                 STATUS_order_rejected_internal);
    }
    withdrawal_end(engine, index);
    if (is_reverted) {
        uint32_t owner = state_portfolio(engine, row->portfolio)->account;
        engine->accounts.rows[owner].net_deposits += (int64_t)row->amount;
        cash_credit(engine, row->portfolio, CASH_withdrawal_reverted, (int64_t)row->amount);
        share_refund(engine, owner);
    } else {
        engine->withdrawals_settled += (int64_t)row->amount;
    }
    emit(engine, row, is_reverted ? WITHDRAWAL_REVERTED : WITHDRAWAL_SETTLED);
    return STATUS_request_completed;
}
