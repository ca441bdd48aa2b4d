/* signing_variant.h - payloads and domains as clients make them by mistake (signing_mistake.h).
 *
 * Owner. Any thread; pure. */
#ifndef CRYPTO_SIGNING_VARIANT_H
#define CRYPTO_SIGNING_VARIANT_H

#include "base/request.h"

enum {
    SIGNING_VARIANT_COUNT = 11,
    SIGNING_VARIANT_BYTES = REQUEST_PAYLOAD_MAX + 32, /* an id as text is 20 bytes longer */
    SIGNING_DOMAIN_COUNT = 6,
};

/* A payload with one mistake. */
struct signing_variant {
    uint8_t bytes[SIGNING_VARIANT_BYTES];
    size_t count;
    uint8_t mistake; /* enum signing_mistake */
};

/* Makes the variant of that number, below SIGNING_VARIANT_COUNT, of a payload of at most
 * REQUEST_PAYLOAD_MAX bytes. False if it does not differ from the payload. */
CC_MUST_USE bool signing_variant_make(struct signing_variant *variant, unsigned number,
                                      const uint8_t *payload, size_t count);

/* The mistakes that a payload shows by itself: a set of SIGNING_MISTAKE(name). */
CC_MUST_USE uint32_t signing_variant_seen(const uint8_t *payload, size_t count);

/* The separator of another domain than that of the salt, by its number below
 * SIGNING_DOMAIN_COUNT. */
void signing_variant_domain(unsigned number, const uint8_t salt[32], uint8_t separator[32]);

#endif
