/* credential.h - master keys, sessions, API and device keys of all accounts; owned by the engine.
 *
 * A session is (account, public key) (R10); a master key belongs to one account anywhere; an API
 * or device key is the keyed hash of its secret. Whether one has expired is decided by t alone,
 * so expiry needs no timer. An ended credential is kept until no request id that could repeat
 * its creation passes the window any more: a duplicate answers with its id (W5). Then a command
 * takes it out, whatever it is.
 *
 * Owner.  Indexes are valid until the command ends; index 0 is a dummy and never given.
 * Units.  Times unix ns.
 * Bound.  A command takes out at most CREDENTIAL_RELEASES_MAX ended ones. */
#ifndef ENGINE_STATE_CREDENTIAL_H
#define ENGINE_STATE_CREDENTIAL_H

#include "base/compiler.h"
#include "engine/state/credential_kind.h"
#include "engine/table/hash_index.h"
#include "engine/table/slot_table.h"
#include "engine/table/timer_heap.h"

enum {
    CREDENTIAL_NONE = 0,
    CREDENTIAL_KEY_BYTES = 33,
    CREDENTIAL_LABEL_BYTES = 32,
    CREDENTIAL_RELEASES_MAX = 4,
    CREDENTIAL_NO_PIN = -1,
};

struct credential {
    uint64_t created_sequence;
    uint64_t created_ns;      /* with the sequence: its id (R3), index 0 */
    uint64_t expires_ns;      /* UINT64_MAX: never; it is expired when expires_ns <= t */
    uint64_t ended_sequence;  /* of its revocation, or of a successor; 0: none */
    uint64_t release_ns;      /* t from which it need not be kept, once it has ended */
    uint64_t parent_sequence; /* created_sequence of the key that made it, 0: none */
    uint8_t label[CREDENTIAL_LABEL_BYTES];
    uint8_t key[CREDENTIAL_KEY_BYTES];
    uint8_t key_bytes; /* 32 or 33 */
    uint8_t kind;      /* enum credential_kind */
    uint8_t scope;
    int32_t pin; /* subaccount, or CREDENTIAL_NO_PIN */
    uint32_t account;
    uint32_t account_next; /* list of the account's master keys, oldest first; of the others,
                              newest first; or of those that are not live, newest first */
    uint32_t next;         /* all credentials in order of creation; in the free list: next free */
    uint32_t prev;
    uint32_t key_slot; /* in by_key, until it ends */
    uint32_t sequence_slot;
    uint32_t passkey; /* of a master key that is one (passkey.h), else PASSKEY_NONE */
    uint8_t zero[4];
};

/* clang-format off */
#define CREDENTIAL_FIELDS(X) \
    X(created_sequence) X(created_ns) X(expires_ns) X(ended_sequence) X(release_ns) \
    X(parent_sequence) X(label) X(key) X(key_bytes) X(kind) X(scope) X(pin) X(account)
#define CREDENTIAL_CACHES(X) \
    X(account_next) X(next) X(prev) X(key_slot) X(sequence_slot) X(passkey) X(zero)
/* clang-format on */

struct credential_table {
    struct credential *rows;  /* [slots + 1] */
    struct hash_index by_key; /* those that have not been ended */
    struct hash_index by_sequence;
    struct timer_heap releases; /* sessions, and the others that have ended, by release_ns */
    struct slot_table slots;    /* limit: engine.credentials */
    uint32_t head;              /* oldest */
    uint32_t tail;
};

/* What a new credential is; the rest is t, sequence and table. */
struct credential_make {
    const uint8_t *key; /* key_bytes of it */
    uint32_t account;
    uint8_t key_bytes;
    uint8_t kind;
    uint8_t scope;
    int32_t pin;
    uint64_t expires_ns;
    uint64_t parent_sequence;
    uint32_t passkey;     /* of a master key that is one */
    const uint8_t *label; /* CREDENTIAL_LABEL_BYTES, or NULL */
};

struct engine;
struct image_read;

size_t credential_table_bytes(uint32_t slots);
void credential_table_init(struct credential_table *table, void *memory, uint32_t slots);

static inline bool credential_is_live(const struct credential *credential, uint64_t t_ns)
{
    return credential->ended_sequence == 0 && t_ns < credential->expires_ns;
}

static inline bool credential_is_master(const struct credential *credential)
{
    return credential->kind >= CREDENTIAL_MASTER_SECP256K1 &&
           credential->kind <= CREDENTIAL_SCOPED_PASSKEY;
}

static inline bool credential_is_admin(const struct credential *credential)
{
    return credential->kind == CREDENTIAL_MASTER_SECP256K1 ||
           credential->kind == CREDENTIAL_MASTER_PASSKEY;
}

static inline bool credential_is_passkey(const struct credential *credential)
{
    return credential->kind == CREDENTIAL_MASTER_PASSKEY ||
           credential->kind == CREDENTIAL_SCOPED_PASSKEY;
}

/* Whether its time ends it: sessions and device keys. */
static inline bool credential_expires(const struct credential *credential)
{
    return credential->kind == CREDENTIAL_SESSION || credential->kind == CREDENTIAL_DEVICE_KEY;
}

/* Index of the live session (32 bytes) or master key (33 bytes) of the account with this key at
 * time t, or CREDENTIAL_NONE. */
CC_MUST_USE uint32_t credential_find(const struct engine *engine, uint32_t account,
                                     const uint8_t *key, uint32_t key_bytes, uint64_t t_ns);

/* Index of the live master key of any account, a CLOSED one included, or CREDENTIAL_NONE. */
CC_MUST_USE uint32_t credential_find_master(const struct engine *engine, const uint8_t *key);

/* Index of the kept credential of this kind made by command `sequence`, or CREDENTIAL_NONE. */
CC_MUST_USE uint32_t credential_find_sequence(const struct engine *engine, uint64_t sequence,
                                              enum credential_kind kind);

/* Index of the kept master key made by command `sequence`, or CREDENTIAL_NONE. */
CC_MUST_USE uint32_t credential_find_sequence_master(const struct engine *engine,
                                                     uint64_t sequence);

/* Index of the kept credential of this kind with this id, live or not, or CREDENTIAL_NONE. Cost: a
 * lookup for every 2^40 commands since genesis, whose sequences an id cannot tell apart. */
CC_MUST_USE uint32_t credential_find_id(const struct engine *engine, const uint8_t id[16],
                                        enum credential_kind kind);

/* Index of the live device key of the account with this hash, or CREDENTIAL_NONE. */
CC_MUST_USE uint32_t credential_find_device(const struct engine *engine, uint32_t account,
                                            const uint8_t hash[32]);

/* Takes out up to CREDENTIAL_RELEASES_MAX ended ones that need not be kept at t; emits 2118 of
 * those that expired. Called before each command. */
void credential_release_ended(struct engine *engine);

/* Makes one (share_fits) and emits 2118, after that of an expired session of the same key.
 * Gives its index. */
uint32_t credential_create(struct engine *engine, const struct credential_make *make);

/* Ends a live credential now; emits 2118. What it made stays. */
void credential_revoke(struct engine *engine, uint32_t credential);

/* Ends the live sessions that this credential made, newest first. */
void credential_revoke_children(struct engine *engine, uint32_t credential);

/* Ends all live sessions and API keys of the account, newest first: its master keys keep their
 * rows. */
void credential_revoke_all(struct engine *engine, uint32_t account);

/* Ends and takes out all credentials of an account that goes, ended ones too: those that are live
 * with 2118, newest first, then its master keys, oldest first. */
void credential_forget(struct engine *engine, uint32_t account);

/* The last t at which a repetition of a request applied now passes the window (W5), and a second
 * for the roundings of milliseconds and slices. */
uint64_t credential_keep_until(const struct engine *engine);

/* Live sessions of the account, and those of one parent. Expired and revoked ones leave the list
 * of the account here. */
struct credential_count {
    uint32_t account;
    uint32_t parent;
};
struct credential_count credential_count_sessions(struct engine *engine, uint32_t account,
                                                  uint64_t parent_sequence);

/* Live device keys of the account; its list loses the expired and revoked ones as above. */
CC_MUST_USE uint32_t credential_count_devices(struct engine *engine, uint32_t account);

/* Live master keys of the account. */
struct credential_master_count {
    uint32_t admin;
    uint32_t scoped;
};
CC_MUST_USE struct credential_master_count credential_count_masters(const struct engine *engine,
                                                                    uint32_t account);

/* Its kind as effects and reads number it (enum effect_credential_kind). */
uint8_t credential_effect_kind(const struct credential *credential);

/* Its id: R3's rule over created_ns and created_sequence. */
void credential_id(const struct credential *credential, uint8_t id[16]);

/* Section 4 of an image, into the empty table; the accounts are there. */
CC_MUST_USE bool credential_load(struct engine *engine, struct image_read *read);

#endif
