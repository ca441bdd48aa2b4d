/* Signed bodies from strangers (wire.md W1, W3): what is taken lies in the caller's space with the
 * limits of W1; a frame that is taken is the bytes that came; a refusal says why. */
#include <stdlib.h>

#include "net/request/envelope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A passkey's WebAuthn fields follow the signature, within W1's bounds; nobody else has any. */
static void check_assertion(const struct envelope *envelope)
{
    struct assertion assertion;

    if (!envelope->passkey) {
        if (envelope->extra_bytes != 0 || !envelope->key_sent)
            abort();
        return;
    }
    if (envelope->payload_bytes > ENVELOPE_PASSKEY_PAYLOAD_MAX ||
        !assertion_read(&assertion, envelope->signature + 64, envelope->extra_bytes))
        abort();
}

static void check(const struct envelope *envelope, const uint8_t *space)
{
    if (envelope->payload < space || envelope->payload_bytes < 24 ||
        envelope->payload_bytes > REQUEST_PAYLOAD_MAX || envelope->payload_bytes % 8 != 0)
        abort();
    if (envelope->key_bytes != 33 && (envelope->key_bytes != 32 || envelope->passkey))
        abort();
    if (envelope->key != envelope->payload + envelope->payload_bytes)
        abort();
    if (envelope->signature + 64 + envelope->extra_bytes > space + ENVELOPE_SPACE)
        abort();
    check_assertion(envelope);
}

/* The pass over the form that clients send and the strict reader say the same. */
static void check_passes(const struct envelope *taken, bool was_taken, const uint8_t *body,
                         size_t size)
{
    struct envelope strict = { 0 };
    struct problem_detail problem;
    uint8_t *space = malloc(ENVELOPE_SPACE);

    if (envelope_json_strict(&strict, (const char *)body, size, space, &problem) != was_taken)
        abort();
    if (was_taken &&
        (strict.payload_bytes != taken->payload_bytes || strict.key_bytes != taken->key_bytes ||
         strict.passkey != taken->passkey ||
         memcmp(strict.payload, taken->payload, strict.payload_bytes + strict.key_bytes + 64) != 0))
        abort();
    free(space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct envelope envelope;
    struct problem_detail problem;
    uint8_t *space = malloc(ENVELOPE_SPACE);
    uint8_t *body = malloc(size > 0 ? size : 1);

    memcpy(body, data, size);
    memset(&envelope, 0, sizeof envelope);
    memset(&problem, 0, sizeof problem);
    bool taken = envelope_json(&envelope, (const char *)body, size, space, &problem);
    if (taken)
        check(&envelope, space);
    check_passes(&envelope, taken, body, size);
    memset(&envelope, 0, sizeof envelope);
    memset(&problem, 0, sizeof problem);
    if (envelope_frame(&envelope, body, size, space, &problem)) {
        check(&envelope, space);
        if (envelope.payload_bytes + envelope.key_bytes + 64 != size ||
            memcmp(envelope.payload, body, size) != 0)
            abort();
    }
    free(body);
    free(space);
    return 0;
}
