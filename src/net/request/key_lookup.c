#include "net/request/key_lookup.h"

#include "base/assertion.h"
#include "base/hash.h"
#include "net/request/admission.h"

/* Whether the configuration lets the key sign this operator code (W3a). */
static bool operator_key_fits(const struct option_engine *options, uint16_t code,
                              const uint8_t *key)
{
    if (code == REQUEST_oracle_price) {
        for (uint32_t i = 0; i < options->oracle_key_count; i++)
            if (memcmp(options->oracle_keys[i], key, 32) == 0)
                return true;
        return false;
    }
    bool is_treasury = code == REQUEST_deposit_credit || code == REQUEST_withdrawal_settle ||
                       code == REQUEST_fund_top_up;
    if (is_treasury && options->has_treasury_key)
        return memcmp(options->treasury_key, key, 32) == 0;
    return options->has_operator_key && memcmp(options->operator_key, key, 32) == 0;
}

/* Whether the request is of the account that has the key: it names it, or asks for it. */
static bool is_named(const struct keyring_row *row, const struct request *request,
                     const struct command *command)
{
    return request->code == REQUEST_find_account ||
           row->account_id == admission_account(request, command_body(command));
}

bool key_lookup_passkey(const struct net_config *config, const struct request *request,
                        const struct command *command, struct keyring_row *row)
{
    uint8_t hash[HASH_BYTES];
    struct assertion assertion;
    bool is_whole = assertion_read(&assertion, command_extra(command), command->extra_bytes);
    INVARIANT(is_whole); /* envelope.c wrote it */
    hash_blake2b256(hash, assertion.credential_id, assertion.credential_id_bytes);
    struct keyring_key name = keyring_key(KEYRING_PASSKEY, 0, hash);
    struct keyring_row found;
    if (!keyring_find(config->keyring, &name, &found) || !is_named(&found, request, command))
        return false;
    *row = found;
    return true;
}

bool key_lookup_is_known(const struct net_config *config, const struct request *request,
                         const struct command *command)
{
    const uint8_t *key = command_key(command);
    struct keyring_row row;
    if (request->signer == SIGNER_OPERATOR)
        return operator_key_fits(config->options, request->code, key);
    if (request->signer == SIGNER_NEW_SECP256K1 || request->signer == SIGNER_NEW_PASSKEY)
        return false;
    if (command->kind == COMMAND_PASSKEY)
        return key_lookup_passkey(config, request, command, &row);
    uint64_t account = admission_account(request, command_body(command));
    bool is_session = command->bytes[1] == SIGNATURE_ED25519;
    struct keyring_key name =
        keyring_key(is_session ? KEYRING_SESSION : KEYRING_MASTER, account, key);
    return keyring_find(config->keyring, &name, &row) && is_named(&row, request, command);
}

bool key_lookup_owner(const struct net_config *config, const struct request *request,
                      const struct command *command, uint64_t durable_seq, struct keyring_row *row)
{
    struct keyring_key name = keyring_key(KEYRING_MASTER, 0, command_key(command));
    bool is_found =
        command->kind == COMMAND_PASSKEY
            ? key_lookup_passkey(config, request, command, row)
            : command->bytes[1] == SIGNATURE_SECP256K1 && keyring_find(config->keyring, &name, row);
    return is_found && row->state == KEYRING_LIVE && row->sequence <= durable_seq;
}

static void refuse(const struct net_config *config, enum rate_limit_kind kind, uint64_t wait_ms,
                   struct problem_detail *problem)
{
    if (kind == RATE_LIMIT_UNKNOWN_KEY)
        (void)problem_detail_set_number(problem, PROBLEM_rate_limited, wait_ms,
                                        "signatures of keys that are not known: %u/s an address",
                                        config->unknown_key_rate);
    else
        (void)problem_detail_set_number(problem, PROBLEM_rate_limited, wait_ms,
                                        "wrong signatures: %u/s an address",
                                        config->bad_signature_rate);
}

bool key_lookup_is_slow(const struct rate_limit *limits, const struct conn *conn,
                        const struct request *request, bool is_known, uint64_t now_ns)
{
    if (!is_known || conn->last_signature_bad)
        return true;
    if (request->signer == SIGNER_OPERATOR)
        return false;
    if (key_lookup_is_judged_twice(request))
        return true;
    if (conn->last_signature_good)
        return false;
    return rate_limit_wait_ms(limits, conn->address, RATE_LIMIT_BAD_SIGNATURE, now_ns) != 0;
}

bool key_lookup_is_charged(const struct net_config *config, bool is_known)
{
    return !is_known && config->source.ready(config->source.context);
}

bool key_lookup_refuses(const struct net_config *config, const struct rate_limit *limits,
                        uint64_t address, bool is_known, bool last_signature_bad, uint64_t now_ns,
                        struct problem_detail *problem)
{
    bool is_strange = key_lookup_is_charged(config, is_known);
    enum rate_limit_kind kind = is_strange ? RATE_LIMIT_UNKNOWN_KEY : RATE_LIMIT_BAD_SIGNATURE;
    if (!is_strange && !last_signature_bad)
        return false;
    uint64_t wait_ms = rate_limit_wait_ms(limits, address, kind, now_ns);
    if (wait_ms != 0)
        refuse(config, kind, wait_ms, problem);
    return wait_ms != 0;
}

bool key_lookup_charge_bad(const struct net_config *config, struct rate_limit *limits,
                           uint64_t address, uint64_t now_ns, struct problem_detail *problem)
{
    uint64_t wait_ms = rate_limit_wait_ms(limits, address, RATE_LIMIT_BAD_SIGNATURE, now_ns);
    if (wait_ms != 0) {
        refuse(config, RATE_LIMIT_BAD_SIGNATURE, wait_ms, problem);
        return true;
    }
    rate_limit_charge(limits, address, RATE_LIMIT_BAD_SIGNATURE, now_ns);
    return false;
}
