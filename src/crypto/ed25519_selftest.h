/* ed25519_selftest.h - does a path decide fixed cases as specified, on this machine.
 *
 * Vectors are RFC 8032's, those of C2SP/CCTV that tell strict from lenient and cofactorless from
 * cofactored verdicts, and changes to good ones that make them bad.
 *
 * Owner. One thread at a time, after ed25519_base_init. */
#ifndef CRYPTO_ED25519_SELFTEST_H
#define CRYPTO_ED25519_SELFTEST_H

#include "crypto/ed25519.h"

/* Verifies 35 vectors by the path, with each table and without; the machine must have the
 * path. Below 5 ms. */
CC_MUST_USE bool ed25519_selftest(enum ed25519_path path);

#endif
