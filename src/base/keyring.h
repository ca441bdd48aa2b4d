/* keyring.h - which credentials may sign or read: one writer, any number of lock-free readers.
 *
 * The keyring only saves work. A net thread looks up the owner of a key before it verifies the
 * signature; the engine decides (rules.md R11). A revoked key stays as a tombstone until the
 * sequence that ended it is durable; until then its requests still go to the engine.
 *
 *   matcher (or recovery)                     net threads
 *   keyring_add()      -- slots, map -->      keyring_find() copies the row out
 *   keyring_end()
 *   keyring_retire(durable_seq)
 *
 * Order. A slot is a sequence lock. The writer makes its version odd, writes, and makes it even
 *        with release. A reader copies between two equal even versions (pairs: keyring_find), so
 *        its copy is of one piece. It then compares the key again, because a retired slot may
 *        belong to another key by now. The map of the slots is Concurrency Kit's ck_hs (single
 *        writer, lock-free readers).
 * Wait.  A reader retries only while its slot is being written. Nothing blocks.
 * Owner. The writer calls every function but keyring_find, keyring_walk and keyring_count.
 * Bound. keyring_init allocates all memory: slots for `capacity` rows, and a map with four cells
 *        a slot. The map never grows, so no old map has to be freed while readers use it and no
 *        epochs are needed. Full: -ENOSPC, nothing changed.
 * Units. ns of the engine's time; sequences of the journal. */
#ifndef BASE_KEYRING_H
#define BASE_KEYRING_H

#include "base/compiler.h"
#include "base/uuid.h"

enum { KEYRING_KEY_BYTES = 33 };

enum keyring_kind {
    KEYRING_SESSION = 1, /* Ed25519 key, 32 bytes, of an account */
    KEYRING_MASTER,      /* compressed secp256k1 key, 33 bytes, found without an account */
    KEYRING_API,         /* keyed hash of the secret, 32 bytes, likewise */
    KEYRING_DEVICE,      /* likewise */
    KEYRING_PASSKEY,     /* BLAKE2b-256 of the credential id, 32 bytes, likewise */
};

enum keyring_state { KEYRING_LIVE, KEYRING_TOMBSTONE };

/* What a credential is found by. Unused bytes are zero: make it with keyring_key. */
struct keyring_key {
    uint64_t account_id; /* of a session, else 0 */
    uint8_t kind;        /* enum keyring_kind */
    uint8_t bytes[KEYRING_KEY_BYTES];
    uint8_t zero[6];
};

static_assert(sizeof(struct keyring_key) == 48, "hashed and compared as bytes");

struct keyring_row {
    struct keyring_key key;
    struct uuid credential_id; /* session, API or device key id; zero for a master key */
    uint64_t account_id;       /* the owner, for every kind */
    uint64_t expires_at_ns;    /* 0: never */
    uint64_t sequence;         /* that created it; of a tombstone: that ended it */
    int32_t subaccount_pin;    /* -1: whole account */
    uint8_t scope; /* sessions 0 FULL_ACCESS, 1 TRADING_ONLY; API keys 0 READ, 1 READ_WRITE */
    uint8_t state; /* enum keyring_state */
    uint8_t admin; /* 1: a master key that is an admin key */
    uint8_t public_key[KEYRING_KEY_BYTES]; /* of a passkey, compressed; else zero */
};

static_assert(sizeof(struct keyring_row) == 128, "copied in whole words");

struct keyring;

/* Returns the key of a credential. Sessions are found by account and bytes, as a request names
 * both. The others belong to one account of the exchange and are found by their bytes alone:
 * `account_id` is ignored, and the caller compares that of the row. */
struct keyring_key keyring_key(enum keyring_kind kind, uint64_t account_id, const uint8_t *bytes);

/* Allocates a keyring for `capacity` rows, tombstones included. `hash_key` is the 16-byte key of
 * the data directory: without it no client can choose keys that collide. Returns 0 or -ENOMEM. */
CC_MUST_USE int keyring_init(struct keyring **keyring, uint32_t capacity,
                             const uint8_t hash_key[16]);
void keyring_free(struct keyring *keyring);

/* Adds the row, or replaces that of the same key, tombstone or not. Returns 0, or -ENOSPC when
 * the keyring is full; then nothing has changed. */
CC_MUST_USE int keyring_add(struct keyring *keyring, const struct keyring_row *row);

/* Turns the live key into a tombstone of `sequence`. False if no such key is live. Sequences must
 * not decrease from call to call. */
bool keyring_end(struct keyring *keyring, const struct keyring_key *key, uint64_t sequence);

/* Removes the tombstones with a sequence up to `durable_seq`, at most `limit` of them (0: no
 * limit). Returns how many. */
uint32_t keyring_retire(struct keyring *keyring, uint64_t durable_seq, uint32_t limit);

/* Copies the row of the key, live or tombstone, to *row. False if it is absent; *row is then
 * unchanged. Any thread. */
CC_MUST_USE bool keyring_find(const struct keyring *keyring, const struct keyring_key *key,
                              struct keyring_row *row);

/* Copies the next live row in the order of the slots to *row; *cursor is 0 at the beginning.
 * False if there is none. A walk meets every row that is live throughout, and may meet rows
 * that are added or ended meanwhile. Any thread. */
CC_MUST_USE bool keyring_walk(const struct keyring *keyring, uint32_t *cursor,
                              struct keyring_row *row);

/* Returns the number of rows, tombstones included. Any thread. */
uint32_t keyring_count(const struct keyring *keyring);

#endif
