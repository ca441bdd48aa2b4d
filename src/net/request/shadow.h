/* shadow.h - verdicts on signatures that are looked at a second time, by another path, elsewhere.
 *
 *   net thread: verdict ── one of SHADOW_INTERVAL ──> ring ──> the keys thread (key_keeper.h)
 *
 * The second look is independent of the path that gave the verdict; a difference means that our
 * arithmetic is wrong, or the machine's.
 *
 * Wait.  Nothing waits: a verdict that finds no room is counted and forgotten.
 * Owner. The net thread is the ring's producer. */
#ifndef NET_REQUEST_SHADOW_H
#define NET_REQUEST_SHADOW_H

#include "base/message.h"
#include "crypto/ed25519.h"
#include "net/conn/net_config.h"

enum { SHADOW_INTERVAL = 4096 };

/* A verdict with everything it was made from; takes as many slots of MESSAGE_SLOT_BYTES as
 * shadow_slots says. */
struct shadow {
    uint16_t slot_count;
    uint16_t message_bytes;
    uint8_t path; /* enum ed25519_path in use when it was made */
    bool good;
    uint8_t key[ED25519_KEY_BYTES];
    uint8_t signature[ED25519_SIGNATURE_BYTES];
    uint8_t message[];
};

static inline uint32_t shadow_slots(uint32_t message_bytes)
{
    return (uint32_t)(sizeof(struct shadow) + message_bytes + MESSAGE_SLOT_BYTES - 1) /
           MESSAGE_SLOT_BYTES;
}

static_assert((sizeof(struct shadow) + REQUEST_PAYLOAD_MAX + MESSAGE_SLOT_BYTES - 1) /
                      MESSAGE_SLOT_BYTES <=
                  RING_MESSAGE_SLOTS_MAX,
              "the longest payload is one message of a ring");

/* Which verdicts are told. */
struct shadow_choice {
    struct ring *ring; /* NULL: none are */
    bool rejects;      /* every refusal too */
    uint64_t verdicts; /* so far */
    uint64_t *skipped; /* counts those that found no room */
};

/* A verdict on a request's Ed25519 signature; `path` was in use before it was made. */
void shadow_tell(struct shadow_choice *choice, const struct command *command, bool good,
                 enum ed25519_path path);

#endif
