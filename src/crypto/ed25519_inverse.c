#include "crypto/ed25519_inverse.h"

void ed25519_inverse(struct ed25519_field *inverse, const struct ed25519_field *x)
{
    ed25519_field_power_inverse(inverse, x);
}
