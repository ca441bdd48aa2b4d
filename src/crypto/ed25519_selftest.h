/* ed25519_selftest.h - tests whether a path decides fixed cases correctly on this machine.
 *
 * The vectors are those of RFC 8032, those of C2SP/CCTV that tell strict from lenient and
 * cofactorless from cofactored verdicts, good ones of the lengths that requests have, such as are
 * good but for the order of R or of the key, and good ones changed so that they are bad.
 *
 * Owner. One thread at a time, after ed25519_base_init. */
#ifndef CRYPTO_ED25519_SELFTEST_H
#define CRYPTO_ED25519_SELFTEST_H

#include "crypto/ed25519.h"

/* Verifies 86 vectors by the path, with each kind of table, without and with all kinds in one call.
 * Its own two paths also check keys that no signature shows. True if every verdict is correct. The
 * machine must have the path. About 10 ms. */
CC_MUST_USE bool ed25519_selftest(enum ed25519_path path);

#endif
