#include "net/request/shadow.h"

/* Whether this verdict is to be looked at: by its number, or a refusal when all of those are. */
static bool is_chosen(struct shadow_choice *choice, bool good)
{
    choice->verdicts++;
    return choice->verdicts % SHADOW_INTERVAL == 0 || (!good && choice->rejects);
}

void shadow_tell(struct shadow_choice *choice, const struct command *command, bool good,
                 enum ed25519_path path)
{
    struct ring *ring = choice->ring;
    if (ring == NULL || !is_chosen(choice, good))
        return;
    uint32_t slots = shadow_slots(command->payload_bytes);
    struct shadow *shadow = ring_claim(ring, slots);
    if (shadow == NULL) {
        (*choice->skipped)++;
        return;
    }
    shadow->slot_count = (uint16_t)slots;
    shadow->message_bytes = command->payload_bytes;
    shadow->path = (uint8_t)path;
    shadow->good = good;
    memcpy(shadow->key, command_key(command), sizeof shadow->key);
    memcpy(shadow->signature, command_signature(command), sizeof shadow->signature);
    memcpy(shadow->message, command_payload(command), command->payload_bytes);
    ring_publish(ring);
}
