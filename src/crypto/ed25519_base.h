/* ed25519_base.h - the multiples of the generator B, and the constants of the curve.
 *
 * [S]B is a sum of 32 terms digit * 256^i with -128 <= digit <= 127. Each term costs one look-up
 * and one addition; there are no doublings. The table has 393,216 bytes, is shared by all threads
 * and fits the second-level cache of the machines served.
 *
 * Everything is derived from the definitions of RFC 8032, 5.1, not typed: d = -121665/121666,
 * sqrt(-1) = 2^((p-1)/4), B = the point of y = 4/5 whose x is even.
 *
 * Owner. ed25519_base_init writes it once, before threads; read-only afterwards. */
#ifndef CRYPTO_ED25519_BASE_H
#define CRYPTO_ED25519_BASE_H

#include "crypto/ed25519_table.h"

enum { ED25519_BASE_POSITIONS = 32, ED25519_BASE_MULTIPLES = 128 };

/* ed25519_base[position * 128 + multiple - 1] = multiple * 256^position * B. */
extern struct ed25519_multiple ed25519_base[ED25519_BASE_POSITIONS * ED25519_BASE_MULTIPLES];

/* Derives the constants (ed25519_point.h) and the table. Later calls do nothing. Before threads. */
void ed25519_base_init(void);

#endif
