#include "net/request/verdict_audit.h"

/* Whether this verdict is audited: by its number, or because all bad signatures are. */
static bool is_chosen(struct verdict_audit *audit, bool good)
{
    audit->verdicts++;
    return audit->verdicts % VERDICT_AUDIT_INTERVAL == 0 || (!good && audit->rejects);
}

void verdict_audit_report(struct verdict_audit *audit, const struct command *command, bool good,
                          enum ed25519_path path)
{
    struct ring *ring = audit->ring;
    if (ring == NULL || !is_chosen(audit, good))
        return;
    uint32_t slots = audited_verdict_slots(command->payload_bytes);
    struct audited_verdict *audited = ring_claim(ring, slots);
    if (audited == NULL) {
        (*audit->skipped)++;
        return;
    }
    audited->slot_count = (uint16_t)slots;
    audited->message_bytes = command->payload_bytes;
    audited->path = (uint8_t)path;
    audited->good = good;
    memcpy(audited->key, command_key(command), sizeof audited->key);
    memcpy(audited->signature, command_signature(command), sizeof audited->signature);
    memcpy(audited->message, command_payload(command), command->payload_bytes);
    ring_publish(ring);
}
