/* verdict_audit.h - a sample of the verdicts on signatures, verified again by another path.
 *
 *   net thread: verdict ── one of VERDICT_AUDIT_INTERVAL ──> ring ──> keys thread (key_keeper.h)
 *
 * A secret of the thread draws them: nobody knows which of his signatures are looked at again.
 * The second path is independent of the first. If their verdicts differ, our code or the machine
 * computes wrongly. The option and the counters call this audit "shadow".
 *
 * Wait.  Nothing waits: a verdict that finds no room is counted and dropped.
 * Owner. The net thread is the ring's producer. */
#ifndef NET_REQUEST_VERDICT_AUDIT_H
#define NET_REQUEST_VERDICT_AUDIT_H

#include "base/message.h"
#include "base/mix.h"
#include "crypto/ed25519.h"
#include "crypto/operator_message.h"
#include "net/conn/net_config.h"

enum { VERDICT_AUDIT_INTERVAL = 4096 };

/* A verdict with everything it was made from; takes as many slots of MESSAGE_SLOT_BYTES as
 * audited_verdict_slots says. */
struct audited_verdict {
    uint16_t slot_count;
    uint16_t message_bytes;
    uint8_t path; /* enum ed25519_path in use when it was made */
    bool good;
    uint8_t key[ED25519_KEY_BYTES];
    uint8_t signature[ED25519_SIGNATURE_BYTES];
    uint8_t message[];
};

static inline uint32_t audited_verdict_slots(uint32_t message_bytes)
{
    return (uint32_t)(sizeof(struct audited_verdict) + message_bytes + MESSAGE_SLOT_BYTES - 1) /
           MESSAGE_SLOT_BYTES;
}

static_assert((sizeof(struct audited_verdict) + OPERATOR_MESSAGE_MAX + MESSAGE_SLOT_BYTES - 1) /
                      MESSAGE_SLOT_BYTES <=
                  RING_MESSAGE_SLOTS_MAX,
              "the longest signed message is one message of a ring");

/* Which verdicts are reported. */
struct verdict_audit {
    struct ring *ring;     /* NULL: none */
    bool rejects;          /* every bad signature too */
    struct mix_key secret; /* draws the sample */
    uint64_t verdicts;     /* so far */
    uint64_t *skipped;     /* counts those that found no room */
};

/* Makes `audit->secret`. The other members are set by the caller. */
void verdict_audit_seed(struct verdict_audit *audit);

/* Reports the verdict on the Ed25519 signature of a job, if it is of the sample. `path` is the path
 * in use before the signature was verified. */
void verdict_audit_report(struct verdict_audit *audit, const struct ed25519_job *job, bool good,
                          enum ed25519_path path);

/* Reports a verdict that is disputed, whether it is of the sample or not. */
void verdict_audit_dispute(struct verdict_audit *audit, const struct ed25519_job *job, bool good,
                           enum ed25519_path path);

#endif
