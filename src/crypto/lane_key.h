/* lane_key.h - eight public keys that have no table: their points and multiples of them. Pure. */
#ifndef CRYPTO_LANE_KEY_H
#define CRYPTO_LANE_KEY_H

#include "crypto/lane_point.h"

#ifdef LANE_WORD_AVAILABLE

/* -A for each of `count` keys (1 .. 8). Bit i of the result is set when key i is the encoding of a
 * point; other lanes hold the identity. The keys' y must be below p (RFC 8032, 5.1.3, asks it; the
 * caller checks it), and x = 0 does not occur with it: both its points are of small order.
 * After ed25519_base_init. */
lane_mask lane_key_decode(struct lane_point *negated, const uint8_t *const keys[], unsigned count);

/* sum = h P for each lane; h is biased by ED25519_SCALAR_BIAS_4BIT, word by word. 64 additions and
 * 252 doublings. After ed25519_base_init. */
void lane_key_multiply(struct lane_point *sum, const struct lane_point *p,
                       const uint64_t h[4][LANES]);

#endif
#endif
