#include "engine/state/credential.h"

#include "base/uuid.h"
#include "engine/state/share_count.h"
#include "engine/table/image_read.h"

#define COVERED(field) +sizeof(((struct credential *)0)->field)
static_assert(sizeof(struct credential) == 0 CREDENTIAL_FIELDS(COVERED) CREDENTIAL_CACHES(COVERED),
              "every byte of a credential is in one of its field lists");
#undef COVERED

#define CREDENTIAL_MS UINT64_C(1000000)

enum { SESSION_KEY_BYTES = 32 };

size_t credential_table_bytes(uint32_t slots)
{
    return slot_table_bytes(slots, sizeof(struct credential)) + 2 * hash_index_bytes(slots) +
           timer_heap_bytes(slots);
}

void credential_table_init(struct credential_table *table, void *memory, uint32_t slots)
{
    uint8_t *at = memory;

    *table = (struct credential_table){ .rows = memory, .slots = slot_table_init(slots) };
    at += slot_table_bytes(slots, sizeof(struct credential));
    hash_index_init(&table->by_key, at, slots);
    at += hash_index_bytes(slots);
    hash_index_init(&table->by_sequence, at, slots);
    at += hash_index_bytes(slots);
    timer_heap_init(&table->releases, at, slots);
}

/* Sessions are found under their account, master keys anywhere (R11, code 11). */
static uint64_t key_hash(const struct engine *engine, uint64_t account, const uint8_t *key,
                         uint32_t key_bytes)
{
    return mix_credential(engine->key, key_bytes == SESSION_KEY_BYTES ? account : 0, key,
                          key_bytes);
}

static uint64_t sequence_hash(const struct engine *engine, uint64_t sequence)
{
    return mix_fold(sequence ^ engine->key.low, engine->key.high ^ UINT64_C(0x9E3779B97F4A7C15));
}

static bool key_is(const struct credential *credential, const uint8_t *key, uint32_t key_bytes)
{
    const uint8_t *own = credential->key;

    return credential->key_bytes == key_bytes &&
           ((cc_load64(own) ^ cc_load64(key)) | (cc_load64(own + 8) ^ cc_load64(key + 8)) |
            (cc_load64(own + 16) ^ cc_load64(key + 16)) |
            (cc_load64(own + 24) ^ cc_load64(key + 24))) == 0 &&
           (key_bytes == SESSION_KEY_BYTES || own[SESSION_KEY_BYTES] == key[SESSION_KEY_BYTES]);
}

/* A live session or master key of the account with this key. */
static bool is_signer(const struct credential *credential, uint32_t account, const uint8_t *key,
                      uint32_t key_bytes, uint64_t t_ns)
{
    return credential->account == account &&
           (credential->kind == CREDENTIAL_SESSION || credential_is_master(credential)) &&
           key_is(credential, key, key_bytes) && credential_is_live(credential, t_ns);
}

uint32_t credential_find(const struct engine *engine, uint32_t account, const uint8_t *key,
                         uint32_t key_bytes, uint64_t t_ns)
{
    const struct hash_index *map = &engine->credentials.by_key;

    if (key_bytes != SESSION_KEY_BYTES && key_bytes != CREDENTIAL_KEY_BYTES)
        return CREDENTIAL_NONE;
    const struct credential *rows = engine->credentials.rows;
    if (account < engine->accounts.count) {
        uint32_t hint = engine->accounts.rows[account].signer_hint;
        if (hint != CREDENTIAL_NONE && is_signer(&rows[hint], account, key, key_bytes, t_ns))
            return hint;
    }
    struct hash_index_probe probe =
        hash_index_probe(map, key_hash(engine, account, key, key_bytes));
    while (hash_index_next(map, &probe))
        if (is_signer(&rows[probe.index], account, key, key_bytes, t_ns))
            return probe.index;
    return CREDENTIAL_NONE;
}

uint32_t credential_find_master(const struct engine *engine, const uint8_t *key)
{
    const struct hash_index *map = &engine->credentials.by_key;
    struct hash_index_probe probe =
        hash_index_probe(map, key_hash(engine, 0, key, CREDENTIAL_KEY_BYTES));

    while (hash_index_next(map, &probe))
        if (key_is(&engine->credentials.rows[probe.index], key, CREDENTIAL_KEY_BYTES))
            return probe.index;
    return CREDENTIAL_NONE;
}

uint32_t credential_find_sequence(const struct engine *engine, uint64_t sequence,
                                  enum credential_kind kind)
{
    const struct hash_index *map = &engine->credentials.by_sequence;
    struct hash_index_probe probe = hash_index_probe(map, sequence_hash(engine, sequence));

    while (hash_index_next(map, &probe)) {
        const struct credential *credential = &engine->credentials.rows[probe.index];
        if (credential->created_sequence == sequence && credential->kind == kind)
            return probe.index;
    }
    return CREDENTIAL_NONE;
}

uint32_t credential_find_sequence_master(const struct engine *engine, uint64_t sequence)
{
    const struct hash_index *map = &engine->credentials.by_sequence;
    struct hash_index_probe probe = hash_index_probe(map, sequence_hash(engine, sequence));

    while (hash_index_next(map, &probe)) {
        const struct credential *credential = &engine->credentials.rows[probe.index];
        if (credential->created_sequence == sequence && credential_is_master(credential))
            return probe.index;
    }
    return CREDENTIAL_NONE;
}

uint32_t credential_find_id(const struct engine *engine, const uint8_t id[16],
                            enum credential_kind kind)
{
    const uint64_t wrap = UINT64_C(1) << 40;
    uint64_t low = (__builtin_bswap64(cc_load64(id + 8)) >> 22) & (wrap - 1);
    uint64_t sequence = (engine->sequence & ~(wrap - 1)) | low;

    for (;; sequence -= wrap) {
        uint32_t found = credential_find_sequence(engine, sequence, kind);
        uint8_t own[16];
        if (found != CREDENTIAL_NONE) {
            credential_id(&engine->credentials.rows[found], own);
            if (memcmp(own, id, sizeof own) == 0)
                return found;
        }
        if (sequence < wrap)
            return CREDENTIAL_NONE;
    }
}

uint32_t credential_find_device(const struct engine *engine, uint32_t account,
                                const uint8_t hash[32])
{
    const struct hash_index *map = &engine->credentials.by_key;
    const struct credential *rows = engine->credentials.rows;
    struct hash_index_probe probe =
        hash_index_probe(map, key_hash(engine, account, hash, SESSION_KEY_BYTES));

    while (hash_index_next(map, &probe))
        if (rows[probe.index].kind == CREDENTIAL_DEVICE_KEY &&
            rows[probe.index].account == account &&
            key_is(&rows[probe.index], hash, SESSION_KEY_BYTES) &&
            credential_is_live(&rows[probe.index], engine->t_ns))
            return probe.index;
    return CREDENTIAL_NONE;
}

uint8_t credential_effect_kind(const struct credential *credential)
{
    static const uint8_t kinds[] = {
        [CREDENTIAL_SESSION] = EFFECT_CREDENTIAL_SESSION,
        [CREDENTIAL_API_KEY] = EFFECT_CREDENTIAL_API_KEY,
        [CREDENTIAL_MASTER_SECP256K1] = EFFECT_CREDENTIAL_MASTER_KEY,
        [CREDENTIAL_MASTER_PASSKEY] = EFFECT_CREDENTIAL_MASTER_KEY,
        [CREDENTIAL_SCOPED_SECP256K1] = EFFECT_CREDENTIAL_MASTER_KEY,
        [CREDENTIAL_SCOPED_PASSKEY] = EFFECT_CREDENTIAL_MASTER_KEY,
        [CREDENTIAL_DEVICE_KEY] = EFFECT_CREDENTIAL_DEVICE_KEY,
    };
    return kinds[credential->kind];
}

static void emit(struct engine *engine, uint32_t index, enum effect_credential_action action)
{
    const struct credential *credential = &engine->credentials.rows[index];
    struct effect_credential body = {
        .account_id = state_account_id(engine, credential->account),
        .pin = credential->pin,
        .kind = credential_effect_kind(credential),
        .action = (uint8_t)action,
        .scope = credential->scope,
    };

    /* A compressed point gives its x coordinate: all but the first byte. */
    memcpy(body.key, credential->key + credential->key_bytes - sizeof body.key, sizeof body.key);
    engine->accounts.rows[credential->account].private_seq++;
    effects_emit(engine, EFFECT_credential, index, 0, &body);
}

/* A session that has ended is found by its sequence alone: however often its key is used again, one
 * record has it in by_key. */
static void end(struct engine *engine, uint32_t index, enum effect_credential_action action)
{
    struct credential *credential = &engine->credentials.rows[index];
    uint64_t hash = key_hash(engine, credential->account, credential->key, credential->key_bytes);

    INVARIANT(credential->ended_sequence == 0);
    credential->ended_sequence = engine->sequence;
    hash_index_remove(&engine->credentials.by_key, (uint32_t)(hash >> 32), credential->key_slot);
    emit(engine, index, action);
}

/* Which credential is newer: a command makes a master key first. */
static uint64_t rank_of(const struct credential *row)
{
    return row->created_sequence << 1 | !credential_is_master(row);
}

/* One that is not live any more is among those of its account, by creation: the list is the same
 * whenever they came into it. */
static void link_ended(struct engine *engine, uint32_t index)
{
    struct credential *rows = engine->credentials.rows;
    uint32_t *link = &engine->accounts.rows[rows[index].account].ended_head;

    while (*link != CREDENTIAL_NONE && rank_of(&rows[*link]) > rank_of(&rows[index]))
        link = &rows[*link].account_next;
    rows[index].account_next = *link;
    *link = index;
}

/* Takes the credentials that have ended out of the list of the account. */
static void prune(struct engine *engine, struct account *account)
{
    struct credential *rows = engine->credentials.rows;
    uint32_t *link = &account->credential_head;

    while (*link != CREDENTIAL_NONE) {
        uint32_t at = *link;
        if (credential_is_live(&rows[at], engine->t_ns)) {
            link = &rows[at].account_next;
            continue;
        }
        *link = rows[at].account_next;
        link_ended(engine, at);
    }
}

/* Adds a live one to its list of the account. */
static void link_account(struct engine *engine, uint32_t index)
{
    struct credential *rows = engine->credentials.rows;
    struct account *account = &engine->accounts.rows[rows[index].account];
    uint32_t *link = &account->credential_head;

    if (credential_is_master(&rows[index]))
        for (link = &account->master_head; *link != CREDENTIAL_NONE;
             link = &rows[*link].account_next)
            ;
    rows[index].account_next = *link;
    *link = index;
}

/* Rows of one time go in the order of their creation; a command makes a master key first. */
static void set_release(struct credential_table *table, uint32_t index)
{
    const struct credential *row = &table->rows[index];

    timer_heap_set(&table->releases, index, row->release_ns, rank_of(row));
}

/* Takes one out of the list of its account that begins there. */
static void unlink_from(struct engine *engine, uint32_t *head, uint32_t index)
{
    struct credential *rows = engine->credentials.rows;
    uint32_t *link = head;

    while (*link != index) {
        INVARIANT(*link != CREDENTIAL_NONE);
        link = &rows[*link].account_next;
    }
    *link = rows[index].account_next;
}

static void release(struct engine *engine, uint32_t index)
{
    struct credential_table *table = &engine->credentials;
    struct credential *credential = &table->rows[index];
    uint64_t hash = sequence_hash(engine, credential->created_sequence);

    INVARIANT(credential_expires(credential) || credential->ended_sequence != 0);
    INVARIANT(!credential_is_live(credential, engine->t_ns));
    if (credential->ended_sequence == 0)
        end(engine, index, CREDENTIAL_EXPIRED);
    struct account *owner = &engine->accounts.rows[credential->account];
    prune(engine, owner); /* it may be there yet */
    unlink_from(engine, &owner->ended_head, index);
    if (credential->passkey != PASSKEY_NONE)
        passkey_release(engine, credential->passkey);
    share_drop(engine, credential->account, SHARE_credentials);
    hash_index_remove(&table->by_sequence, (uint32_t)(hash >> 32), credential->sequence_slot);
    timer_heap_remove(&table->releases, index);
    *(credential->prev != CREDENTIAL_NONE ? &table->rows[credential->prev].next : &table->head) =
        credential->next;
    *(credential->next != CREDENTIAL_NONE ? &table->rows[credential->next].prev : &table->tail) =
        credential->prev;
    *credential = (struct credential){ .next = slot_table_free(&table->slots, index) };
}

void credential_release_ended(struct engine *engine)
{
    const struct timer_heap *releases = &engine->credentials.releases;

    for (unsigned i = 0; i < CREDENTIAL_RELEASES_MAX; i++) {
        if (timer_heap_deadline(releases) > engine->t_ns)
            break;
        release(engine, timer_heap_first(releases));
    }
}

uint64_t credential_keep_until(const struct engine *engine)
{
    uint64_t window_ms = state_option(engine, OPTION_exchange_clock_past_ms) +
                         state_option(engine, OPTION_exchange_clock_future_ms) +
                         2 * DUPLICATE_SLACK_MS + 1000;
    return engine->t_ns + window_ms * CREDENTIAL_MS;
}

/* A session of this key that has expired is over for good before the key gets another one: who
 * follows the effects by key must not hear of its end afterwards. */
static void end_expired(struct engine *engine, const struct credential_make *make)
{
    const struct hash_index *map = &engine->credentials.by_key;
    struct hash_index_probe probe =
        hash_index_probe(map, key_hash(engine, make->account, make->key, make->key_bytes));

    while (hash_index_next(map, &probe)) {
        const struct credential *credential = &engine->credentials.rows[probe.index];
        if (credential->account != make->account || credential->kind != CREDENTIAL_SESSION ||
            !key_is(credential, make->key, make->key_bytes))
            continue;
        INVARIANT(!credential_is_live(credential, engine->t_ns));
        end(engine, probe.index, CREDENTIAL_EXPIRED);
        return;
    }
}

static uint32_t alloc(struct credential_table *table)
{
    uint32_t index = slot_table_alloc(&table->slots, table->rows[table->slots.free_head].next);

    return index;
}

/* A row that is filled goes to the end of the list of all. */
static void link_last(struct credential_table *table, uint32_t index)
{
    table->rows[index].prev = table->tail;
    table->rows[index].next = CREDENTIAL_NONE;
    *(table->tail != CREDENTIAL_NONE ? &table->rows[table->tail].next : &table->head) = index;
    table->tail = index;
}

uint32_t credential_create(struct engine *engine, const struct credential_make *make)
{
    struct credential_table *table = &engine->credentials;

    if (make->kind == CREDENTIAL_SESSION)
        end_expired(engine, make);
    uint32_t index = alloc(table);
    struct credential *credential = &table->rows[index];
    INVARIANT(make->key_bytes <= sizeof credential->key);
    *credential = (struct credential){
        .created_sequence = engine->sequence,
        .created_ns = engine->t_ns,
        .expires_ns = make->expires_ns,
        .parent_sequence = make->parent_sequence,
        .key_bytes = make->key_bytes,
        .kind = make->kind,
        .scope = make->scope,
        .pin = make->pin,
        .account = make->account,
        .passkey = make->passkey,
    };
    memcpy(credential->key, make->key, make->key_bytes);
    if (make->label != NULL)
        memcpy(credential->label, make->label, sizeof credential->label);
    link_last(table, index);
    uint64_t hash = key_hash(engine, make->account, make->key, make->key_bytes);
    credential->key_slot = hash_index_insert(&table->by_key, hash, index);
    credential->sequence_slot =
        hash_index_insert(&table->by_sequence, sequence_hash(engine, engine->sequence), index);
    if (credential_expires(credential)) {
        uint64_t keep_ns = credential_keep_until(engine);
        credential->release_ns = make->expires_ns > keep_ns ? make->expires_ns : keep_ns;
        set_release(table, index);
    }
    link_account(engine, index);
    share_add(engine, make->account, SHARE_credentials);
    emit(engine, index, CREDENTIAL_ADDED);
    return index;
}

void credential_revoke(struct engine *engine, uint32_t index)
{
    struct credential *credential = &engine->credentials.rows[index];
    uint64_t keep_ns = credential_keep_until(engine);

    INVARIANT(credential_is_live(credential, engine->t_ns));
    if (credential_is_master(credential)) {
        unlink_from(engine, &engine->accounts.rows[credential->account].master_head, index);
        link_ended(engine, index);
    }
    if (credential->passkey != PASSKEY_NONE)
        passkey_end(engine, credential->passkey);
    credential->release_ns = keep_ns;
    set_release(&engine->credentials, index);
    end(engine, index, CREDENTIAL_REMOVED);
}

void credential_revoke_children(struct engine *engine, uint32_t parent)
{
    const struct credential *rows = engine->credentials.rows;
    uint32_t at = engine->accounts.rows[rows[parent].account].credential_head;

    for (; at != CREDENTIAL_NONE; at = rows[at].account_next)
        if (rows[at].kind == CREDENTIAL_SESSION &&
            rows[at].parent_sequence == rows[parent].created_sequence &&
            credential_is_live(&rows[at], engine->t_ns))
            credential_revoke(engine, at);
}

void credential_revoke_all(struct engine *engine, uint32_t account)
{
    const struct credential *rows = engine->credentials.rows;
    uint32_t at = engine->accounts.rows[account].credential_head;

    for (; at != CREDENTIAL_NONE; at = rows[at].account_next)
        if (credential_is_live(&rows[at], engine->t_ns))
            credential_revoke(engine, at);
    engine->accounts.rows[account].api_key_count = 0;
}

void credential_forget(struct engine *engine, uint32_t account)
{
    struct account *owner = &engine->accounts.rows[account];

    credential_revoke_all(engine, account);
    while (owner->master_head != CREDENTIAL_NONE)
        credential_revoke(engine, owner->master_head);
    prune(engine, owner);
    while (owner->ended_head != CREDENTIAL_NONE)
        release(engine, owner->ended_head);
    owner->signer_hint = CREDENTIAL_NONE;
}

struct credential_count credential_count_sessions(struct engine *engine, uint32_t account,
                                                  uint64_t parent_sequence)
{
    struct credential_count count = { 0, 0 };
    struct account *owner = &engine->accounts.rows[account];

    prune(engine, owner);
    for (uint32_t i = owner->credential_head; i != CREDENTIAL_NONE;
         i = engine->credentials.rows[i].account_next) {
        if (engine->credentials.rows[i].kind != CREDENTIAL_SESSION)
            continue;
        count.account++;
        count.parent += engine->credentials.rows[i].parent_sequence == parent_sequence;
    }
    return count;
}

uint32_t credential_count_devices(struct engine *engine, uint32_t account)
{
    struct account *owner = &engine->accounts.rows[account];
    uint32_t count = 0;

    prune(engine, owner);
    for (uint32_t i = owner->credential_head; i != CREDENTIAL_NONE;
         i = engine->credentials.rows[i].account_next)
        count += engine->credentials.rows[i].kind == CREDENTIAL_DEVICE_KEY;
    return count;
}

struct credential_master_count credential_count_masters(const struct engine *engine,
                                                        uint32_t account)
{
    const struct credential *rows = engine->credentials.rows;
    struct credential_master_count count = { 0, 0 };
    uint32_t at = engine->accounts.rows[account].master_head;

    for (; at != CREDENTIAL_NONE; at = rows[at].account_next)
        *(credential_is_admin(&rows[at]) ? &count.admin : &count.scoped) += 1;
    return count;
}

void credential_id(const struct credential *credential, uint8_t id[16])
{
    struct uuid uuid = uuid_engine(credential->created_ns, credential->created_sequence, 0);
    memcpy(id, uuid.bytes, sizeof uuid.bytes);
}

/* Fields that no other row has a say in. */
static const char *wrong_alone(const struct engine *engine, const struct credential *row)
{
    bool is_master = credential_is_master(row);

    if (row->kind > CREDENTIAL_DEVICE_KEY || row->scope > SCOPE_TRADING_ONLY ||
        row->pin < CREDENTIAL_NO_PIN)
        return "a credential has a kind, a scope or a pin that does not exist";
    if (row->key_bytes != (is_master ? CREDENTIAL_KEY_BYTES : SESSION_KEY_BYTES) ||
        (!is_master && row->key[SESSION_KEY_BYTES] != 0))
        return "a credential has a key of a wrong length";
    if (row->account >= engine->accounts.count ||
        engine->accounts.rows[row->account].status == ACCOUNT_FREE)
        return "a credential has an account that does not exist";
    if (row->created_sequence == 0 || row->created_sequence > engine->sequence ||
        row->parent_sequence > row->created_sequence)
        return "a credential was created by a command to come";
    if (row->ended_sequence != 0 &&
        (row->ended_sequence < row->created_sequence || row->ended_sequence > engine->sequence))
        return "a credential has an end that it cannot have";
    if (credential_expires(row) && row->ended_sequence == 0 && row->release_ns < row->expires_ns)
        return "a session or device key is given back before it ends";
    return NULL;
}

/* Its rank among the others. */
static const char *wrong_among(const struct engine *engine, const struct credential *row)
{
    const struct credential *last = &engine->credentials.rows[engine->credentials.tail];

    /* A command creates one, or a master key and its first session. */
    if (row->created_sequence < last->created_sequence ||
        (row->created_sequence == last->created_sequence && !credential_is_master(last)))
        return "the credentials are not in the order of their creation";
    if (credential_find_sequence(engine, row->created_sequence, (enum credential_kind)row->kind) !=
        CREDENTIAL_NONE)
        return "a command created two credentials of a kind";
    if (credential_is_master(row) && row->ended_sequence == 0 &&
        credential_find_master(engine, row->key) != CREDENTIAL_NONE)
        return "a master key stands twice";
    if (row->kind == CREDENTIAL_SESSION && row->ended_sequence == 0 &&
        credential_find(engine, row->account, row->key, row->key_bytes, 0) != CREDENTIAL_NONE)
        return "a session's key stands twice";
    return NULL;
}

/* What credential_create and credential_revoke make beside the row. */
static void enter(struct engine *engine, uint32_t index)
{
    struct credential_table *table = &engine->credentials;
    struct credential *row = &table->rows[index];

    link_last(table, index);
    share_add(engine, row->account, SHARE_credentials);
    row->sequence_slot =
        hash_index_insert(&table->by_sequence, sequence_hash(engine, row->created_sequence), index);
    if (row->ended_sequence == 0)
        row->key_slot = hash_index_insert(
            &table->by_key, key_hash(engine, row->account, row->key, row->key_bytes), index);
    if (credential_expires(row) || row->ended_sequence != 0)
        set_release(table, index);
    if (credential_is_live(row, engine->t_ns))
        link_account(engine, index);
    else
        link_ended(engine, index);
    if (row->kind == CREDENTIAL_API_KEY && row->ended_sequence == 0)
        engine->accounts.rows[row->account].api_key_count++;
}

bool credential_load(struct engine *engine, struct image_read *read)
{
    struct credential_table *table = &engine->credentials;
    struct credential *row = NULL;

    for (; image_read_begins(read, 0 CREDENTIAL_FIELDS(IMAGE_READ_BYTES)); read->row++) {
        if (!slot_table_has_room(&table->slots))
            return image_read_refuse(read, "more credentials than the configuration allows");
        row = &table->rows[table->slots.fresh];
        CREDENTIAL_FIELDS(IMAGE_READ)
        const char *wrong = wrong_alone(engine, row);
        if (wrong == NULL)
            wrong = wrong_among(engine, row);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        enter(engine, alloc(table));
    }
    return read->wrong == NULL;
}
