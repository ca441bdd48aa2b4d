/* lane_key.h - eight public keys without tables: their points and multiples of these. Pure. */
#ifndef CRYPTO_LANE_KEY_H
#define CRYPTO_LANE_KEY_H

#include "crypto/lane_point.h"

#ifdef LANE_WORD_AVAILABLE

/* Decodes `count` keys (1 .. 8) to -A, one a lane. Bit i of the result is set when key i encodes a
 * point; the other lanes hold the identity. Input: the caller has checked that each y is below p
 * (RFC 8032, 5.1.3) and that no key is of small order, so x is not 0. Output: as in lane_point.h.
 * After ed25519_base_init. */
lane_mask lane_key_decode(struct lane_point *negated, const uint8_t *const keys[], unsigned count);

/* sum = h P in each lane, by 64 additions and 252 doublings. Input: h is biased by
 * ED25519_SCALAR_BIAS_4BIT, word by word; p as in lane_point.h. Output: as in lane_point.h. After
 * ed25519_base_init. */
void lane_key_multiply(struct lane_point *sum, const struct lane_point *p,
                       const uint64_t h[4][LANES]);

#endif
#endif
