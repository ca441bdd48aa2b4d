/* lane_sha512.h - eight hashes of R, A and a message, the challenges of signatures. Pure. */
#ifndef CRYPTO_LANE_SHA512_H
#define CRYPTO_LANE_SHA512_H

#include "base/compiler.h"

struct lane_sha512_input {
    const uint8_t *r;   /* 32 bytes */
    const uint8_t *key; /* 32 bytes */
    const uint8_t *message;
    size_t message_bytes; /* any number, independent of the other lanes */
};

/* hashes[i] = SHA-512(r, key, message) of input i, as eight little-endian words of its bytes; 1 ..
 * 8 inputs. The longest message determines the time. */
void lane_sha512(uint64_t hashes[][8], const struct lane_sha512_input *inputs, unsigned count);

#endif
