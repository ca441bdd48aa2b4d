#include "engine/access.h"

#include "base/field.h"
#include "base/request.h"
#include "engine/state.h"

enum { ACCESS_EVERY_PORTFOLIO = -1 };

uint64_t access_account(const struct command *command)
{
    return cc_load64(command_body(command));
}

static uint32_t credential_of(const struct engine *engine, const struct command *command,
                              uint64_t t_ns)
{
    return credential_find(engine, access_account(command), command_key(command),
                           command->key_bytes, t_ns);
}

/* W3a: which configured key signs which operator code. */
static bool operator_key_is_configured(const struct engine *engine, const struct command *command)
{
    const struct option_engine *options = &engine->options;
    const uint8_t *key = command_key(command);
    bool is_treasury = command->code == REQUEST_deposit_credit ||
                       command->code == REQUEST_withdrawal_settle ||
                       command->code == REQUEST_fund_top_up;

    if (command->key_bytes != sizeof options->operator_key)
        return false;
    if (command->code == REQUEST_oracle_price) {
        for (uint32_t i = 0; i < options->oracle_key_count; i++)
            if (memcmp(options->oracle_keys[i], key, sizeof options->oracle_keys[i]) == 0)
                return true;
        return false;
    }
    if (is_treasury && options->has_treasury_key)
        return memcmp(options->treasury_key, key, sizeof options->treasury_key) == 0;
    return options->has_operator_key &&
           memcmp(options->operator_key, key, sizeof options->operator_key) == 0;
}

bool access_duplicate_account(const struct engine *engine, const struct command *command,
                              uint64_t t_ns, uint64_t *account)
{
    uint8_t signer = request_find(command->code)->signer;

    if (signer == SIGNER_OPERATOR) {
        *account = command->duplicate_account;
        return operator_key_is_configured(engine, command);
    }
    if (signer == SIGNER_NEW_SECP256K1) {
        *account = command->duplicate_account;
        return true;
    }
    *account = access_account(command);
    return credential_of(engine, command, t_ns) != CREDENTIAL_NONE;
}

/* R10: what a session of this scope, or a master key, may sign. */
static bool kind_is_right(const struct credential *credential, enum signer signer)
{
    bool is_session = credential->kind == CREDENTIAL_SESSION;

    if (signer == SIGNER_SESSION)
        return is_session;
    if (signer == SIGNER_SESSION_OR_MASTER)
        return !is_session || credential->scope == SCOPE_FULL_ACCESS;
    return !is_session;
}

/* Codes of portfolios: the pin of the credential is the subaccount of the portfolio_id. */
static bool pin_is_right(const struct credential *credential, const struct command *command)
{
    bool names_portfolio = command->code <= REQUEST_place_market_order; /* codes 0 to 5 */

    return !names_portfolio || credential->pin == CREDENTIAL_NO_PIN ||
           (uint32_t)credential->pin == cc_load32(command_body(command) + 8);
}

enum access access_check(struct engine *engine, const struct command *command)
{
    uint8_t signer = request_find(command->code)->signer;

    if (signer == SIGNER_OPERATOR)
        return operator_key_is_configured(engine, command) ? ACCESS_GRANTED : ACCESS_UNKNOWN;
    if (signer == SIGNER_NEW_SECP256K1)
        return ACCESS_GRANTED;
    uint32_t index = credential_of(engine, command, engine->t_ns);
    if (index == CREDENTIAL_NONE)
        return ACCESS_UNKNOWN;
    const struct credential *credential = &engine->credentials.rows[index];
    engine->turn.credential = index;
    engine->turn.account = credential->account;
    engine->accounts.rows[credential->account].signer_hint = index;
    return kind_is_right(credential, signer) && pin_is_right(credential, command) ? ACCESS_GRANTED
                                                                                  : ACCESS_LACKING;
}

enum status access_refusal(uint32_t code)
{
    return code == REQUEST_create_session || code == REQUEST_revoke_session ||
                   code == REQUEST_revoke_all_sessions
               ? STATUS_session_rejected
               : STATUS_rejected_unauthorized;
}

enum status access_portfolio(struct engine *engine, const struct command *command)
{
    const uint8_t *body = command_body(command);
    uint32_t subaccount = cc_load32(body + 8), index = cc_load32(body + 12);

    engine->turn.portfolio = PORTFOLIO_NONE;
    if (command->code == REQUEST_cancel_all_orders && index == (uint32_t)ACCESS_EVERY_PORTFOLIO) {
        const struct account *account = &engine->accounts.rows[engine->turn.account];
        return subaccount < account->subaccount_count ? STATUS_request_completed
                                                      : STATUS_rejected_invalid_portfolio_id;
    }
    uint32_t portfolio = portfolio_find(engine, engine->turn.account, subaccount, index);
    if (portfolio == PORTFOLIO_NONE ||
        engine->portfolios.rows[portfolio].status == PORTFOLIO_CLOSED)
        return STATUS_rejected_invalid_portfolio_id;
    engine->turn.portfolio = portfolio;
    return STATUS_request_completed;
}

static bool field_is_clean(const struct field *field, const uint8_t *bytes)
{
    if (field->kind == FIELD_BOOL)
        return bytes[0] <= 1;
    if (field->kind == FIELD_ENUM)
        return field_enum_name(field, bytes[0]) != NULL;
    if (field->kind == FIELD_PAD)
        for (uint32_t i = 0; i < field->size; i++)
            if (bytes[i] != 0)
                return false;
    return true;
}

bool access_body_is_clean(const struct command *command)
{
    size_t count;
    const struct field *fields = field_table(command->code, &count);

    INVARIANT(fields != NULL);
    for (size_t i = 0; i < count; i++)
        if (!field_is_clean(&fields[i], command_body(command) + fields[i].offset))
            return false;
    return true;
}
