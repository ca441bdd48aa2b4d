/* signing_key.h - the exchange's own key, with which it signs heads: the file `signing.key` of the
 * data directory (journal.md, Signing key).
 *
 * Made once, at the first start of a directory that `exchange` names no key for, and never again: a
 * start without it, or with another, is refused. Blocks; belongs to the start. */
#ifndef NODE_RUN_SIGNING_KEY_H
#define NODE_RUN_SIGNING_KEY_H

#include "crypto/signer.h"
#include "store/exchange_file.h"

/* Reads or makes the key and checks it against `exchange` and against `wanted`, the option
 * exchange.signing_public (NULL: not set). The refusal's text says what is wrong. */
CC_MUST_USE enum refusal_kind signing_key_open(struct disk *disk,
                                               const struct exchange_file *exchange,
                                               const uint8_t *wanted, struct signer_ed25519 *signer,
                                               struct refusal *refusal);

#endif
