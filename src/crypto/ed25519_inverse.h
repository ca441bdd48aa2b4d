/* ed25519_inverse.h - 1/x in the field of p = 2^255 - 19. Pure; its time depends on x. */
#ifndef CRYPTO_ED25519_INVERSE_H
#define CRYPTO_ED25519_INVERSE_H

#include "crypto/ed25519_field.h"

/* inverse = 1/x, and 0 for x = 0. Input: loose. Output: reduced (ed25519_field.h). About 1.4 us. */
void ed25519_inverse(struct ed25519_field *inverse, const struct ed25519_field *x);

#endif
