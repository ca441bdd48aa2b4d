#include "net/request/verdict_audit.h"

/* Whether this verdict is audited: by its number, or because all bad signatures are. */
static bool is_chosen(struct verdict_audit *audit, bool good)
{
    audit->verdicts++;
    return audit->verdicts % VERDICT_AUDIT_INTERVAL == 0 || (!good && audit->rejects);
}

void verdict_audit_report(struct verdict_audit *audit, const struct ed25519_job *job, bool good,
                          enum ed25519_path path)
{
    struct ring *ring = audit->ring;
    if (ring == NULL || !is_chosen(audit, good))
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
    memcpy(audited->message, job->message, job->message_bytes);
    ring_publish(ring);
}
