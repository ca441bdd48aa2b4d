/* ed25519_comb.h - Ed25519 verification in portable code, by the tables of ed25519_table.h.
 *
 * [S]B + [h](-A) takes 32 + 64 additions of multiples from tables and 4 doublings (28 with a small
 * table). The sums of up to eight jobs share one inversion. A job without a table also decodes its
 * key and takes 252 doublings.
 *
 * Verdicts are those of ed25519.h. libsodium computes only the hash.
 *
 * Owner. Any thread, after ed25519_base_init. */
#ifndef CRYPTO_ED25519_COMB_H
#define CRYPTO_ED25519_COMB_H

#include "crypto/ed25519.h"

/* Verifies `count` jobs, at most ED25519_BATCH_MAX. Bit i of the result is set when job i is
 * good. */
CC_MUST_USE uint64_t ed25519_comb_verify(const struct ed25519_job *jobs, unsigned count);

#endif
