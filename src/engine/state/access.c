#include "engine/state/access.h"

#include "base/field.h"
#include "base/request.h"
#include "base/rule.h"
#include "engine/state/portfolio_row.h"

enum { ACCESS_EVERY_PORTFOLIO = -1 };

/* What a code needs beyond a live credential of its signer's kind. */
enum reach {
    REACH_ANY,        /* nothing here */
    REACH_SUBACCOUNT, /* the subaccount, which follows the account in its body */
    REACH_TRANSFER,   /* both sides' as far as they are of its account */
    REACH_ACCOUNT,    /* no pin */
};

/* Codes in the order of their rows; the others are REACH_ANY and not exempt. */
static const struct demand {
    uint8_t reach;     /* enum reach */
    bool is_exempt;    /* of row suspended */
    bool needs_access; /* FULL_ACCESS, whatever signs (R11) */
} demands[REQUEST_revoke_api_key + 1] = {
    [REQUEST_place_limit_order] = { REACH_SUBACCOUNT, false, false },
    [REQUEST_order_reduction] = { REACH_SUBACCOUNT, true, false },
    [REQUEST_order_replacement] = { REACH_SUBACCOUNT, false, false },
    [REQUEST_order_cancel] = { REACH_SUBACCOUNT, true, false },
    [REQUEST_cancel_all_orders] = { REACH_SUBACCOUNT, true, false },
    [REQUEST_place_market_order] = { REACH_SUBACCOUNT, false, false },
    [REQUEST_place_conditional_order] = { REACH_SUBACCOUNT, false, false },
    [REQUEST_conditional_order_cancel] = { REACH_SUBACCOUNT, true, false },
    [REQUEST_order_batch] = { REACH_SUBACCOUNT, false, false },
    [REQUEST_transfer] = { REACH_TRANSFER, false, true },
    [REQUEST_withdraw] = { REACH_SUBACCOUNT, false, true },
    [REQUEST_create_session] = { REACH_ANY, true, false },
    [REQUEST_revoke_session] = { REACH_ANY, true, false },
    [REQUEST_revoke_all_sessions] = { REACH_ANY, true, false },
    [REQUEST_add_admin_secp256k1_master_key] = { REACH_ANY, true, false },
    [REQUEST_remove_admin_secp256k1_master_key] = { REACH_ANY, true, false },
    [REQUEST_add_admin_passkey_master_key] = { REACH_ANY, true, false },
    [REQUEST_remove_admin_passkey_master_key] = { REACH_ANY, true, false },
    [REQUEST_add_scoped_secp256k1_master_key] = { REACH_ANY, true, false },
    [REQUEST_remove_scoped_secp256k1_master_key] = { REACH_ANY, true, false },
    [REQUEST_add_scoped_passkey_master_key] = { REACH_ANY, true, false },
    [REQUEST_remove_scoped_passkey_master_key] = { REACH_ANY, true, false },
    [REQUEST_create_subaccount] = { REACH_ACCOUNT, false, true },
    [REQUEST_close_subaccount] = { REACH_SUBACCOUNT, false, true },
    [REQUEST_create_portfolio] = { REACH_SUBACCOUNT, false, true },
    [REQUEST_schedule_cancel_all] = { REACH_SUBACCOUNT, true, false },
    [REQUEST_set_mmp] = { REACH_SUBACCOUNT, false, false },
    [REQUEST_reset_mmp] = { REACH_SUBACCOUNT, false, false },
    [REQUEST_close_account] = { REACH_ACCOUNT, false, true },
    [REQUEST_login] = { REACH_ANY, true, true },
    [REQUEST_create_api_key] = { REACH_ANY, false,
                                 true }, /* its pin is the own matter of 33 to 35 */
    [REQUEST_revoke_api_key] = { REACH_ANY, true, true },
};

uint64_t access_account(const struct command *command)
{
    return cc_load64(command_body(command));
}

/* A CLOSED account has no valid credential, though its master keys keep their rows. */
static uint32_t credential_of(const struct engine *engine, const struct command *command,
                              uint64_t t_ns)
{
    uint32_t account = account_find(engine, access_account(command));

    if (account == ACCOUNT_NONE || engine->accounts.rows[account].status == ACCOUNT_CLOSED)
        return CREDENTIAL_NONE;
    uint32_t found =
        credential_find(engine, account, command_key(command), command->key_bytes, t_ns);
    /* Keys of two curves may have the same bytes. */
    bool is_passkey = credential_is_passkey(&engine->credentials.rows[found]);
    return is_passkey == (command->kind == COMMAND_PASSKEY) ? found : CREDENTIAL_NONE;
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
    if (signer == SIGNER_NEW_SECP256K1 || signer == SIGNER_NEW_PASSKEY) {
        *account = command->duplicate_account;
        return true;
    }
    *account = access_account(command);
    return credential_of(engine, command, t_ns) != CREDENTIAL_NONE;
}

static bool kind_is_right(const struct credential *credential, enum signer signer, uint32_t code)
{
    bool is_session = credential->kind == CREDENTIAL_SESSION;

    if (signer == SIGNER_SESSION)
        return is_session;
    if (signer == SIGNER_ADMIN)
        return credential_is_admin(credential);
    if (code == REQUEST_revoke_session && is_session)
        return true; /* on /logout, itself */
    return signer == SIGNER_SESSION_OR_MASTER || !is_session;
}

/* R10: a pinned credential reaches its subaccount alone. Another account's side of a transfer is
 * a matter of row portfolio. */
static bool is_in_reach(const struct credential *credential, enum reach reach, const uint8_t *body)
{
    uint32_t pin = (uint32_t)credential->pin;

    if (reach == REACH_ANY || credential->pin == CREDENTIAL_NO_PIN)
        return true;
    if (reach == REACH_ACCOUNT || pin != cc_load32(body + 8))
        return false;
    return reach != REACH_TRANSFER || cc_load64(body + 16) != cc_load64(body) ||
           pin == cc_load32(body + 24);
}

enum access access_check(struct engine *engine, const struct command *command)
{
    uint8_t signer = request_find(command->code)->signer;

    if (signer == SIGNER_OPERATOR)
        return operator_key_is_configured(engine, command) ? ACCESS_GRANTED : ACCESS_UNKNOWN;
    if (signer == SIGNER_NEW_SECP256K1 || signer == SIGNER_NEW_PASSKEY)
        return ACCESS_GRANTED;
    uint32_t index = credential_of(engine, command, engine->t_ns);
    if (index == CREDENTIAL_NONE)
        return ACCESS_UNKNOWN;
    const struct credential *credential = &engine->credentials.rows[index];
    engine->applying.credential = index;
    engine->applying.account = credential->account;
    engine->accounts.rows[credential->account].signer_hint = index;
    const struct demand *demand = &demands[command->code];
    bool is_granted = kind_is_right(credential, (enum signer)signer, command->code) &&
                      !(demand->needs_access && credential->scope != SCOPE_FULL_ACCESS) &&
                      is_in_reach(credential, demand->reach, command_body(command));
    return is_granted ? ACCESS_GRANTED : ACCESS_LACKING;
}

bool access_is_suspended(const struct engine *engine, const struct command *command)
{
    if (command->code >= CC_COUNT(demands) || demands[command->code].is_exempt)
        return false;
    uint8_t signer = request_find(command->code)->signer;
    bool has_account = signer != SIGNER_NEW_SECP256K1 && signer != SIGNER_NEW_PASSKEY;
    return has_account && engine->accounts.rows[engine->applying.account].suspended;
}

enum status access_refusal(uint32_t code)
{
    switch (code) {
    case REQUEST_create_session:
    case REQUEST_revoke_session:
    case REQUEST_revoke_all_sessions:
    case REQUEST_login:
        return ROW_STATUS(credential_of_session);
    case REQUEST_add_admin_secp256k1_master_key:
    case REQUEST_remove_admin_secp256k1_master_key:
    case REQUEST_add_admin_passkey_master_key:
    case REQUEST_remove_admin_passkey_master_key:
    case REQUEST_add_scoped_secp256k1_master_key:
    case REQUEST_remove_scoped_secp256k1_master_key:
    case REQUEST_add_scoped_passkey_master_key:
    case REQUEST_remove_scoped_passkey_master_key:
        return ROW_STATUS(credential_of_key_codes);
    default:
        return ROW_STATUS(credential);
    }
}

enum status access_portfolio(struct engine *engine, const struct command *command)
{
    const uint8_t *body = command_body(command);
    uint32_t subaccount = cc_load32(body + 8), index = cc_load32(body + 12);

    engine->applying.portfolio = PORTFOLIO_NONE;
    if (command->code == REQUEST_cancel_all_orders && index == (uint32_t)ACCESS_EVERY_PORTFOLIO) {
        return subaccount_is_open(engine, engine->applying.account, subaccount)
                   ? STATUS_request_completed
                   : ROW_STATUS(portfolio);
    }
    uint32_t portfolio = access_open_portfolio(engine, engine->applying.account, body + 8);
    if (portfolio == PORTFOLIO_NONE)
        return ROW_STATUS(portfolio);
    engine->applying.portfolio = portfolio;
    return STATUS_request_completed;
}

uint32_t access_open_portfolio(const struct engine *engine, uint32_t account,
                               const uint8_t indexes[8])
{
    uint32_t portfolio =
        portfolio_find(engine, account, cc_load32(indexes), cc_load32(indexes + 4));

    if (portfolio != PORTFOLIO_NONE &&
        engine->portfolios.rows[portfolio].status == PORTFOLIO_CLOSED)
        return PORTFOLIO_NONE;
    return portfolio;
}

/* W7, W10: the plain writes that a device key may make. */
static bool allows_device_key(uint16_t code)
{
    return code == REQUEST_portfolio_close || code == REQUEST_portfolio_reopen ||
           code == REQUEST_rename_portfolio;
}

enum status access_api_key(const struct engine *engine, const uint8_t credential_id[16],
                           uint64_t account_id, uint32_t subaccount_index,
                           struct engine_result *result)
{
    uint16_t code = engine->applying.command->code;
    uint32_t index = credential_find_id(engine, credential_id, CREDENTIAL_API_KEY);

    if (index == CREDENTIAL_NONE && allows_device_key(code))
        index = credential_find_id(engine, credential_id, CREDENTIAL_DEVICE_KEY);
    const struct credential *key = &engine->credentials.rows[index];
    if (index == CREDENTIAL_NONE || !credential_is_live(key, engine->t_ns))
        return ROW_STATUS(credential);
    if (key->scope != SCOPE_READ_WRITE) {
        result->reason = REASON_read_only_key;
        return ROW_STATUS(credential);
    }
    if (key->pin != CREDENTIAL_NO_PIN && (uint32_t)key->pin != subaccount_index) {
        result->reason = REASON_subaccount_not_permitted;
        return ROW_STATUS(credential);
    }
    return state_account_id(engine, key->account) == account_id ? STATUS_request_completed
                                                                : ROW_STATUS(portfolio);
}

enum status access_key_portfolio(const struct engine *engine, const uint8_t credential_id[16],
                                 uint64_t account_id, uint32_t subaccount_index,
                                 uint32_t portfolio_index, uint32_t *portfolio,
                                 struct engine_result *result)
{
    enum status status =
        access_api_key(engine, credential_id, account_id, subaccount_index, result);

    if (status != STATUS_request_completed)
        return status;
    *portfolio = portfolio_find(engine, account_id_slot(account_id), subaccount_index,
                                portfolio_index); /* the key is of that account */
    if (*portfolio == PORTFOLIO_NONE && !portfolio_row_is_gone(engine, account_id_slot(account_id),
                                                               subaccount_index, portfolio_index))
        return ROW_STATUS(portfolio);
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

const struct field *access_unclean_field(const struct command *command)
{
    size_t count;
    const struct field *fields = field_table(command->code, &count);

    INVARIANT(fields != NULL);
    for (size_t i = 0; i < count; i++)
        if (!field_is_clean(&fields[i], command_body(command) + fields[i].offset))
            return &fields[i];
    return NULL;
}
