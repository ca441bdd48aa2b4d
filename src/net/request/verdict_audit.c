#include "net/request/verdict_audit.h"

#include "crypto/secret.h"

void verdict_audit_seed(struct verdict_audit *audit)
{
    uint8_t secret[MIX_KEY_BYTES];
    int failed = secret_random(secret, sizeof secret);
    INVARIANT(failed == 0);
    audit->secret = mix_key_load(secret);
    secret_wipe(secret, sizeof secret);
}

/* Whether this verdict is audited: drawn by the secret, or because all bad signatures are. */
static bool is_chosen(struct verdict_audit *audit, bool good)
{
    uint64_t number = ++audit->verdicts;
    uint64_t first = mix_word(audit->secret, number);
    uint64_t drawn = mix_fold(first ^ audit->secret.high, audit->secret.low | 1);
    return drawn % VERDICT_AUDIT_INTERVAL == 0 || (!good && audit->rejects);
}

void verdict_audit_report(struct verdict_audit *audit, const struct ed25519_job *job, bool good,
                          enum ed25519_path path)
{
    if (audit->ring != NULL && is_chosen(audit, good))
        verdict_audit_dispute(audit, job, good, path);
}

void verdict_audit_dispute(struct verdict_audit *audit, const struct ed25519_job *job, bool good,
                           enum ed25519_path path)
{
    struct ring *ring = audit->ring;
    if (ring == NULL)
        return;
    uint32_t slots = audited_verdict_slots((uint32_t)job->message_bytes);
    struct audited_verdict *audited = ring_claim(ring, slots);
    if (audited == NULL) {
        (*audit->skipped)++;
        return;
    }
    audited->slot_count = (uint16_t)slots;
    audited->message_bytes = (uint16_t)job->message_bytes;
    audited->path = (uint8_t)path;
    audited->good = good;
    memcpy(audited->key, job->key, sizeof audited->key);
    memcpy(audited->signature, job->signature, sizeof audited->signature);
    if (job->message_bytes != 0) /* an empty one may be NULL */
        memcpy(audited->message, job->message, job->message_bytes);
    ring_publish(ring);
}
