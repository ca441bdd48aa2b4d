/* ed25519_selftest.h - does a path decide fixed cases as specified, on this machine.
 *
 * Owner. Any thread, after ed25519_base_init. */
#ifndef CRYPTO_ED25519_SELFTEST_H
#define CRYPTO_ED25519_SELFTEST_H

#include "crypto/ed25519.h"

/* Verifies every vector by the path, with and without tables; the machine must have the path. */
CC_MUST_USE bool ed25519_selftest(enum ed25519_path path);

#endif
