/* ed25519.h - verification of Ed25519 signatures over raw payload bytes (wire.md W4).
 *
 * Verdicts are strict and cofactorless, as libsodium 1.0.18's crypto_sign_verify_detached: a
 * signature (R, S) of message M under key A is good when S < L, R is not of small order, A is a
 * canonical encoding of a point of the curve that is not of small order, and
 * encode([S]B - [SHA-512(R, A, M) mod L]A) equals the 32 bytes of R. Points of mixed order pass.
 *
 * Three paths decide alike and differ in speed:
 *
 *   lanes    AVX-512 IFMA, eight signatures at a time (ed25519_lanes.h)
 *   comb     portable code over the same tables (ed25519_comb.h)
 *   library  libsodium, without tables
 *
 * ed25519_init takes the first that this machine has and that passes its test; ed25519_drop takes
 * one out of use when its verdict was found wrong later.
 *
 * Wait.  Pure computation: about 2.6 us a signature in lanes, 12 us in the comb, 50 us in the
 *        library.
 * Owner. Any thread after ed25519_init. Keys, messages and signatures are public: nothing here runs
 *        in constant time. */
#ifndef CRYPTO_ED25519_H
#define CRYPTO_ED25519_H

#include "crypto/ed25519_table.h"

enum {
    ED25519_KEY_BYTES = 32,
    ED25519_SIGNATURE_BYTES = 64,
    ED25519_BATCH_MAX = 64,
};

/* From the fastest to the last resort. */
enum ed25519_path { ED25519_LANES, ED25519_COMB, ED25519_LIBRARY, ED25519_PATHS };

struct ed25519_job {
    const uint8_t *key;       /* 32 bytes */
    const uint8_t *signature; /* 64 bytes */
    const uint8_t *message;
    size_t message_bytes;
    const struct ed25519_table *table; /* of this key, living through the call, or NULL: unknown */
};

/* Once at start, before threads: derives the constants, tests every path from `first` on that this
 * machine has (35 vectors each, among them those that tell strict from cofactored verdicts;
 * below 5 ms) and chooses the first that passes. 0, or -EIO when none does. A later call chooses
 * again. */
CC_MUST_USE int ed25519_init(enum ed25519_path first);

/* The path in use. Any thread. */
CC_MUST_USE enum ed25519_path ed25519_path_of_use(void);

/* "lanes", "comb", "library". */
CC_MUST_USE const char *ed25519_path_name(enum ed25519_path path);

/* Why the path is not to be used: it comes before `first`, the machine lacks it, its self-test
 * failed, or it was dropped. NULL when nothing speaks against it. The text is constant. Any
 * thread. */
CC_MUST_USE const char *ed25519_refusal(enum ed25519_path path);

/* Verifies `count` (at most ED25519_BATCH_MAX) jobs by the path in use; bit i of the result is set
 * when job i is good. Jobs with a table and without may be mixed. */
CC_MUST_USE uint64_t ed25519_verify(const struct ed25519_job *jobs, unsigned count);

/* The same by one path, whether chosen or not; the machine must have it (ed25519_refusal). For
 * tests and for the second look at a verdict. */
CC_MUST_USE uint64_t ed25519_verify_by(enum ed25519_path path, const struct ed25519_job *jobs,
                                       unsigned count);

/* Takes a path out of use, in all threads from their next call on: its verdict differed from
 * another's. Gives the path in use then; the last one left stays. One thread at a time. */
enum ed25519_path ed25519_drop(enum ed25519_path path);

/* May a session be made for this key (rules.md R11, code 13): its y is below p and its order is not
 * small. An encoding that is no curve point passes: such a session can never sign. */
CC_MUST_USE bool ed25519_key_valid(const uint8_t key[ED25519_KEY_BYTES]);

#endif
