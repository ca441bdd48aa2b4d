/* forge.h - signatures of fourteen kinds, good, spoilt and crafted, for comparing verifiers.
 *
 * Each kind aims at one way in which verifiers differ: bits flipped in each part, S beyond L,
 * points of small order, encodings that are not canonical, and keys and R with a part of small
 * order, for which the equation always holds up to that part and exactly only sometimes. */
#ifndef TESTS_CRYPTO_FORGE_H
#define TESTS_CRYPTO_FORGE_H

#include "crypto/signer.h"

enum {
    FORGE_SIGNERS = 48,
    FORGE_MIXED = 16, /* keys with a part of small order, whose secret scalar is known */
    FORGE_KEYS = FORGE_SIGNERS + FORGE_MIXED,
    FORGE_MESSAGE_MAX = 4096,
    FORGE_KINDS = 14,
};

struct forge {
    uint64_t state;
    struct signer_ed25519 signers[FORGE_SIGNERS];
    uint8_t keys[FORGE_KEYS][32]; /* those of the signers, then the mixed ones */
    uint8_t scalars[FORGE_KEYS][32];
};

struct forged {
    unsigned kind;      /* below FORGE_KINDS */
    unsigned key_index; /* of keys, FORGE_KEYS when the key was spoilt */
    uint8_t key[32];
    uint8_t signature[64];
    size_t message_bytes;
    uint8_t message[FORGE_MESSAGE_MAX];
};

/* Keys that follow from the seed. */
void forge_init(struct forge *forge, uint64_t seed);

/* The next number; a bound of 0 is the whole range. */
uint64_t forge_random(struct forge *forge, uint64_t bound);

/* The next case: a random kind, key, length of message and place of the fault. */
void forge_next(struct forge *forge, struct forged *forged);

#endif
