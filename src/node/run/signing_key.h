/* signing_key.h - the exchange's own key, with which it signs heads: the file `signing.key` of the
 * data directory (journal.md, Signing key).
 *
 * Made once, at the first start of a directory that `exchange` names no key for, and never again: a
 * start without it, or with another, is refused. Another key takes its place when the former one
 * has signed it; the file keeps that as the body of a record 2018, so that any start whose journal
 * has a former key can say it there.
 *
 * Blocks; belongs to the start, or to a program that holds the directory's lock. */
#ifndef NODE_RUN_SIGNING_KEY_H
#define NODE_RUN_SIGNING_KEY_H

#include "crypto/attest.h"
#include "store/exchange_file.h"

enum { SIGNING_KEY_ROTATIONS_MAX = 32 };

struct signing_key {
    struct signer_ed25519 signer;
    uint32_t count; /* rotations that the file keeps */
    uint8_t rotations[SIGNING_KEY_ROTATIONS_MAX][ATTEST_ROTATION_BYTES]; /* oldest first */
};

/* Reads or makes the key and checks it against `exchange`, which may name a former one, and against
 * `wanted`, the option exchange.signing_public (NULL: not set). The refusal says what is wrong. */
CC_MUST_USE enum refusal_kind signing_key_open(struct disk *disk,
                                               const struct exchange_file *exchange,
                                               const uint8_t *wanted, struct signing_key *key,
                                               struct refusal *refusal);

/* The first rotation to apply where `former` is the key in force; `count`: it is the key itself;
 * -1: no signed way leads from it to this key. */
CC_MUST_USE int signing_key_after(const struct signing_key *key, const uint8_t exchange_id[32],
                                  const uint8_t former[SIGNER_ED25519_KEY_BYTES]);

/* Puts a new key in the place of the one in the file, which the former one signs. The file holds
 * the former or the new one, whenever this is interrupted; of 32 rotations the oldest is left out.
 * `key` is then the new one. */
CC_MUST_USE enum refusal_kind signing_key_rotate(struct disk *disk,
                                                 const struct exchange_file *exchange,
                                                 struct signing_key *key, struct refusal *refusal);

#endif
