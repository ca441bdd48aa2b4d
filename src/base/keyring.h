/* keyring.h - which credentials may sign or read: one writer, any number of lock-free readers.
 *
 * The keyring only spares work: it tells a net thread whose key a request names before the
 * signature is verified; the engine decides (rules.md R11). A revoked key stays as a tombstone
 * until the sequence that ended it is durable; until then its requests go to the engine.
 *
 *   matcher (or recovery)                     net threads
 *   keyring_add()      -- slots, map -->      keyring_find() copies the entry out
 *   keyring_end()
 *   keyring_retire(durable_seq)
 *
 * Order. A slot is a sequence lock: the writer makes its version odd, writes, makes it even with
 *        release; a reader copies between two equal even versions (pairs: keyring_find) and then
 *        compares the key again, for a retired slot may have been given to another key. The map
 *        of the slots is Concurrency Kit's ck_hs (single writer, lock-free readers).
 * Wait.  Readers retry only while their slot is being written. Nothing blocks.
 * Owner. Every function but keyring_find, keyring_walk and keyring_count is the writer's.
 * Bound. All memory is taken by keyring_init and freed by keyring_free: slots for `capacity`
 *        entries and a map of four times as many places, so that it never grows and there is
 *        nothing to reclaim while readers live (hence no epochs). Full: -ENOSPC, nothing changed.
 * Units. ns of the engine's time; sequences of the journal. */
#ifndef BASE_KEYRING_H
#define BASE_KEYRING_H

#include "base/cc.h"
#include "base/uuid.h"

enum { KEYRING_KEY_BYTES = 33 };

enum keyring_kind {
    KEYRING_SESSION = 1, /* Ed25519 key, 32 bytes, of an account */
    KEYRING_MASTER,      /* compressed secp256k1 key, 33 bytes, of an account */
    KEYRING_API,         /* keyed hash of the secret, 32 bytes, found without an account */
    KEYRING_DEVICE,      /* likewise */
};

enum keyring_state { KEYRING_LIVE, KEYRING_TOMBSTONE };

/* What a credential is found by; unused bytes are zero (make it with keyring_key). */
struct keyring_key {
    uint64_t account_id; /* 0 for API and device keys */
    uint8_t kind;        /* enum keyring_kind */
    uint8_t bytes[KEYRING_KEY_BYTES];
    uint8_t zero[6];
};

static_assert(sizeof(struct keyring_key) == 48, "hashed and compared as bytes");

struct keyring_entry {
    struct keyring_key key;
    struct uuid credential_id; /* session, API or device key id; zero for a master key */
    uint64_t account_id;       /* whose it is, for every kind */
    uint64_t expires_at_ns;    /* 0: never */
    uint64_t sequence;         /* that made it; of a tombstone: that ended it */
    int32_t subaccount_pin;    /* -1: whole account */
    uint8_t scope; /* sessions 0 FULL_ACCESS, 1 TRADING_ONLY; API keys 0 READ, 1 READ_WRITE */
    uint8_t state; /* enum keyring_state */
    uint8_t admin; /* 1: a master key that is an admin key */
    uint8_t zero;
};

static_assert(sizeof(struct keyring_entry) == 96, "copied in whole words");

struct keyring;

/* The key of a credential. `account_id` counts for sessions and master keys, which are named
 * together with the account in the body; API and device keys are found by their hash alone. */
struct keyring_key keyring_key(enum keyring_kind kind, uint64_t account_id, const uint8_t *bytes);

/* Room for `capacity` entries, tombstones included. `hash_key` (16 bytes of the data directory)
 * keeps clients from choosing keys that collide. 0 or -ENOMEM. */
CC_MUST_USE int keyring_init(struct keyring **keyring, uint32_t capacity,
                             const uint8_t hash_key[16]);
void keyring_free(struct keyring *keyring);

/* Adds the entry, or replaces the one of the same key (a tombstone comes to life). -ENOSPC when
 * full. */
CC_MUST_USE int keyring_add(struct keyring *keyring, const struct keyring_entry *entry);

/* The key was ended by `sequence`: it becomes a tombstone. False when there is no such live key.
 * Sequences do not decrease from call to call. */
bool keyring_end(struct keyring *keyring, const struct keyring_key *key, uint64_t sequence);

/* Takes out the tombstones whose sequence is at or below `durable_seq`; gives their number, at most
 * `limit` a call (0: no limit). */
uint32_t keyring_retire(struct keyring *keyring, uint64_t durable_seq, uint32_t limit);

/* Copies the entry of the key, live or tombstone. False: absent. Any thread. */
CC_MUST_USE bool keyring_find(const struct keyring *keyring, const struct keyring_key *key,
                              struct keyring_entry *entry);

/* The next entry that is live, in the order of their places; *cursor is 0 at the beginning. False:
 * there is none. Whatever was live before the first call and is not ended before the last is met;
 * what comes and goes meanwhile may be. Any thread. */
CC_MUST_USE bool keyring_walk(const struct keyring *keyring, uint32_t *cursor,
                              struct keyring_entry *entry);

/* Entries, tombstones included. Any thread. */
uint32_t keyring_count(const struct keyring *keyring);

#endif
