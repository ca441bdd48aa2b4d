/* ed25519.h - verification of Ed25519 signatures over raw payload bytes (wire.md W4).
 *
 * Verdicts are strict and cofactorless, those of libsodium 1.0.18's crypto_sign_verify_detached. A
 * signature (R, S) of message M under key A is good when S < L, R is not of small order, A is a
 * canonical encoding of a point of the curve that is not of small order, and encode([S]B -
 * [SHA-512(R, A, M) mod L]A) equals the 32 bytes of R. Points of mixed order pass.
 *
 * Three paths give the same verdicts and differ in speed:
 *
 *   lanes    AVX-512 IFMA, eight signatures at a time (ed25519_lanes.h)
 *   comb     portable code over the same tables (ed25519_comb.h)
 *   library  libsodium, without tables
 *
 * ed25519_init chooses the first path that this machine has and that passes its self-test.
 * ed25519_drop removes a path whose verdict was found wrong later.
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

/* From the fastest to the slowest. */
enum ed25519_path { ED25519_LANES, ED25519_COMB, ED25519_LIBRARY, ED25519_PATHS };

struct ed25519_job {
    const uint8_t *key;       /* 32 bytes */
    const uint8_t *signature; /* 64 bytes */
    const uint8_t *message;
    size_t message_bytes;
    const struct ed25519_table
        *table; /* of this key, valid during the call; NULL if there is none */
};

/* Derives the constants, tests every path that this machine has (ed25519_selftest.h) and chooses
 * the first one from `first` on that passes. Returns 0, or -EIO when none passes. Call it once at
 * start, before threads; a later call chooses again. */
CC_MUST_USE int ed25519_init(enum ed25519_path first);

/* Returns the path in use. Any thread. */
CC_MUST_USE enum ed25519_path ed25519_path_in_use(void);

/* Returns "lanes", "comb" or "library"; static storage. */
CC_MUST_USE const char *ed25519_path_name(enum ed25519_path path);

/* Returns why the path cannot be used: it is before `first`, the machine lacks it, its self-test
 * failed, or it was dropped. NULL when it can. Static storage. Any thread. */
CC_MUST_USE const char *ed25519_refusal(enum ed25519_path path);

/* Verifies `count` jobs (at most ED25519_BATCH_MAX) by the path in use. Bit i of the result is set
 * when job i is good. Jobs with and without a table may be mixed. Any thread. */
CC_MUST_USE uint64_t ed25519_verify(const struct ed25519_job *jobs, unsigned count);

/* The same by a given path, chosen or not; the machine must have it (ed25519_refusal). It is for
 * tests and for the audit of a verdict by a second path. */
CC_MUST_USE uint64_t ed25519_verify_by(enum ed25519_path path, const struct ed25519_job *jobs,
                                       unsigned count);

/* Returns the path that decides whether a verdict of `path` was right: one that shares no
 * arithmetic with it, the library or of the library the comb; while the library may not judge, of
 * the lanes the comb. ED25519_PATHS when none of them has passed its self-test, or a verdict of it
 * was found wrong. A path before the `first` of ed25519_init may judge. Any thread. */
CC_MUST_USE enum ed25519_path ed25519_judge_of(enum ed25519_path path);

/* Removes a path whose verdict differed from that of another; every thread stops using it with its
 * next call. The path that comes next has much in common with it and must pass its self-test
 * again. The last path left stays in use. Returns the path in use afterwards. One thread at a
 * time. */
enum ed25519_path ed25519_drop(enum ed25519_path path);

/* True if a session may be created for this key (rules.md R11, code 13): its y is below p and its
 * order is not small. An encoding that is no point of the curve passes: such a session can never
 * sign. */
CC_MUST_USE bool ed25519_key_is_valid(const uint8_t key[ED25519_KEY_BYTES]);

#endif
