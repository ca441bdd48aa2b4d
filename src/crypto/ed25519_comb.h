/* ed25519_comb.h - Ed25519 verification in portable code, by the tables of ed25519_table.h.
 *
 * [S]B + [h](-A) is 32 + 64 additions of table entries and 4 doublings (28 with a small table); the
 * sums of up to eight jobs share one inversion. A job without a table costs a decoding of its key
 * and 252 doublings.
 *
 * Verdicts are those of ed25519.h; libsodium gives the hash only.
 *
 * Owner. Any thread, after ed25519_base_init. */
#ifndef CRYPTO_ED25519_COMB_H
#define CRYPTO_ED25519_COMB_H

#include "crypto/ed25519.h"

/* Bit i of the result is set when job i is good; count at most ED25519_BATCH_MAX. */
CC_MUST_USE uint64_t ed25519_comb_verify(const struct ed25519_job *jobs, unsigned count);

#endif
