#include "net/request/passkey_verdict.h"

#include "net/request/key_lookup.h"

struct passkey_verdict passkey_verdict(const struct net_config *config, struct p256_cache *cache,
                                       const struct request *request, struct command *command,
                                       bool key_sent)
{
    uint8_t *key = command->bytes + command->payload_bytes;
    struct assertion assertion;
    struct keyring_row row;
    bool is_whole = assertion_read(&assertion, command_extra(command), command->extra_bytes);
    INVARIANT(is_whole && command->key_bytes == P256_KEY_BYTES);
    if (request->signer != SIGNER_NEW_PASSKEY) {
        if (!key_lookup_passkey(config, request, command, &row))
            return (struct passkey_verdict){ PROBLEM_invalid_signature,
                                             "the credential id is unknown" };
        if (key_sent && memcmp(key, row.public_key, P256_KEY_BYTES) != 0)
            return (struct passkey_verdict){ PROBLEM_passkey_public_key_mismatch,
                                             "public_key is not the one of this credential id" };
        memcpy(key, row.public_key, P256_KEY_BYTES);
    }
    enum problem problem =
        passkey_check(&config->relying_party, cache, key, command_payload(command),
                      command->payload_bytes, &assertion, command_signature(command));
    return (struct passkey_verdict){ problem,
                                     problem == PROBLEM_none ? "" : passkey_problem_text(problem) };
}
