#include "perp/data/signature_check.h"

#include "base/command_hash.h"
#include "base/message.h"
#include "crypto/ed25519.h"
#include "crypto/operator_message.h"
#include "crypto/passkey.h"
#include "crypto/secp256k1.h"

int signature_check_init(struct eip712 *eip712, const uint8_t exchange_id[32])
{
    /* Uses another path than the server's first one, to prove records by other arithmetic. */
    int failed = ed25519_init(ED25519_LIBRARY);
    if (failed == 0)
        failed = secp256k1_init();
    if (failed == 0)
        failed = p256_init();
    if (failed == 0)
        eip712_init(eip712, exchange_id);
    return failed;
}

/* The codes that the node may author without a signature (journal.md, Record, kind). */
static bool may_be_unsigned(const struct request *request)
{
    return request->signer == SIGNER_NODE || request->code == REQUEST_market_define ||
           request->code == REQUEST_market_state || request->code == REQUEST_halt_all;
}

static const char *check_ed25519(const struct eip712 *eip712, uint32_t rules_version,
                                 const struct record_view *record)
{
    static uint8_t buffer[OPERATOR_MESSAGE_MAX];
    struct operator_message message = { record->payload, record->payload_bytes };
    if (record->payload_bytes > REQUEST_PAYLOAD_MAX)
        return "its payload is too long";
    if (rules_version >= OPERATOR_RULES_VERSION)
        message = operator_message_of(buffer, eip712->salt, record->payload, record->payload_bytes);
    const struct ed25519_job job = { record->key, record->signature, message.bytes, message.count,
                                     NULL };
    if (record->key_bytes != ED25519_KEY_BYTES)
        return "an Ed25519 signature without a key of 32 bytes";
    return ed25519_verify(&job, 1) == 1 ? NULL : "its Ed25519 signature is wrong";
}

static const char *check_secp256k1(const struct eip712 *eip712, const struct record_view *record)
{
    struct eip712_hashes hashes;
    if (record->key_bytes != SECP256K1_KEY_BYTES)
        return "a Secp256k1 signature without a key of 33 bytes";
    if (eip712_hash(eip712, record->payload, record->payload_bytes, &hashes) != 0)
        return "a Secp256k1 key cannot sign this payload";
    return secp256k1_verify(record->key, hashes.digest, record->signature)
               ? NULL
               : "its Secp256k1 signature is wrong";
}

/* Origin and relying party were judged when the request came; the options may differ by now. */
static const char *check_passkey(const struct record_view *record)
{
    struct assertion assertion;
    uint32_t secret = command_hash_bytes(record->code, true, record->extra, record->extra_bytes);
    if (record->kind != RECORD_PASSKEY || record->payload[1] != SIGNATURE_PASSKEY)
        return "its kind and the signature type of its payload differ";
    if (record->key_bytes != P256_KEY_BYTES)
        return "a passkey's signature without a key of 33 bytes";
    if (record->extra_bytes < secret ||
        !assertion_read(&assertion, record->extra, record->extra_bytes - secret))
        return "a passkey's signature without the WebAuthn fields";
    enum problem problem = passkey_check(NULL, NULL, record->key, record->payload,
                                         record->payload_bytes, &assertion, record->signature);
    if (problem == PROBLEM_invalid_signature)
        return "its passkey signature is wrong";
    return problem == PROBLEM_none ? NULL : passkey_problem_text(problem);
}

const char *signature_check_record(const struct eip712 *eip712, uint32_t rules_version,
                                   const struct record_view *record)
{
    const struct request *request = request_find(record->code);
    if (request == NULL)
        return "its code is not in the table";
    if (record->kind == RECORD_UNSIGNED)
        return may_be_unsigned(request) ? NULL : "it has no signature, and its code needs one";
    if (request->signer == SIGNER_NODE)
        return "it is signed, and its code is the node's own";
    if (record->payload_bytes < REQUEST_BODY_AT || record->payload[0] != REQUEST_VERSION ||
        cc_load16(record->payload + 2) != record->code)
        return "its payload is of another version or request type";
    if (record->kind == RECORD_PASSKEY || record->payload[1] == SIGNATURE_PASSKEY)
        return check_passkey(record);
    if (record->payload[1] == SIGNATURE_ED25519)
        return check_ed25519(eip712, rules_version, record);
    if (record->payload[1] == SIGNATURE_SECP256K1)
        return check_secp256k1(eip712, record);
    return "its signature type is unknown";
}
