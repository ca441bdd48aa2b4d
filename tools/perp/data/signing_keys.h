/* signing_keys.h - the keys with which an exchange signed its heads and receipts, as its journal
 * names them: 2013 the first one, each 2018 the next, signed by the one before (journal.md, Signing
 * key).
 *
 *   walk from the first frame: signing_keys_pass ──> signing_keys_are: is it one of that time?
 *
 * Owner. The command's thread.
 * Bound. SIGNING_KEYS_MAX keys; a journal with more is a finding. */
#ifndef PERP_DATA_SIGNING_KEYS_H
#define PERP_DATA_SIGNING_KEYS_H

#include "crypto/attest.h"
#include "perp/data/data_directory.h"
#include "store/chain.h"

enum { SIGNING_KEYS_MAX = 1024 };

struct signing_keys {
    uint64_t first_frame; /* that was seen: after a pruned archive the first key may be unknown */
    uint32_t count;
    struct {
        uint64_t sequence; /* in force from here on */
        uint8_t key[ATTEST_KEY_BYTES];
    } rows[SIGNING_KEYS_MAX];
};

/* Sees the records of a frame. NULL, or what is wrong with one: a sentence that lives as long as
 * the program; *sequence is that record's. */
CC_MUST_USE const char *signing_keys_pass(struct signing_keys *keys,
                                          const struct exchange_file *exchange,
                                          const struct chain_frame *frame, uint64_t *sequence);

/* Tries the key that was in force at `sequence`, then each that came after it, until `is_signed`
 * says yes. With no key in the journal, the one that `exchange` names. */
CC_MUST_USE bool signing_keys_find(
    const struct signing_keys *keys, const struct exchange_file *exchange, uint64_t sequence,
    bool (*is_signed)(const void *what, const uint8_t key[ATTEST_KEY_BYTES]), const void *what);

#endif
