/* ed25519.h - verification of Ed25519 signatures over raw payload bytes (wire.md W4).
 *
 * Verdicts are libsodium 1.0.18's crypto_sign_verify_detached: strict and cofactorless; S >= L,
 * small-order R, non-canonical and small-order keys are refused, mixed-order ones are not.
 *
 * Wait.  Pure computation, about 50 us a signature.
 * Owner. Any thread after ed25519_init. Keys, messages and signatures are public: nothing here runs
 *        in constant time. */
#ifndef CRYPTO_ED25519_H
#define CRYPTO_ED25519_H

#include "base/cc.h"

enum {
    ED25519_KEY_BYTES = 32,
    ED25519_SIGNATURE_BYTES = 64,
    ED25519_BATCH_MAX = 64,
};

struct ed25519_job {
    const uint8_t *key;       /* 32 bytes */
    const uint8_t *signature; /* 64 bytes */
    const uint8_t *message;
    size_t message_bytes;
};

/* Once at start, before threads: makes the library ready and checks it against fixed vectors that
 * tell strict from cofactored verdicts. 0, or -EIO when the library does not decide as specified.
 * */
CC_MUST_USE int ed25519_init(void);

/* Verifies `count` (at most ED25519_BATCH_MAX) jobs; bit i of the result is set when job i is
 * good. */
CC_MUST_USE uint64_t ed25519_verify(const struct ed25519_job *jobs, unsigned count);

/* May a session be made for this key (rules.md R11, code 13): its y is below p and its order is not
 * small. An encoding that is no curve point passes: such a session can never sign. */
CC_MUST_USE bool ed25519_key_valid(const uint8_t key[ED25519_KEY_BYTES]);

#endif
