#include "base/keyring.h"

#include <ck_hs.h>
#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mix.h"

enum {
    KEY_WORDS = sizeof(struct keyring_key) / 8,
    ROW_WORDS = sizeof(struct keyring_row) / 8,
    CELLS_PER_SLOT = 4, /* the map is at most a quarter full: short probes, no growth */
};

/* The slot of one row. The words are atomic because a reader may copy them while they change; the
 * version is odd then. Only the writer uses the lists. */
struct slot {
    _Atomic uint64_t version;
    _Atomic uint64_t words[ROW_WORDS]; /* a struct keyring_row, its key first */
    uint64_t hash;                     /* of its key */
    uint32_t next, before;             /* ring of tombstones by sequence; free slots: next */
};

static_assert(offsetof(struct keyring_row, key) == 0, "the first words of a slot are its key");

struct keyring {
    ck_hs_t map; /* of pointers to the words of slots */
    struct mix_key hash_key;
    uint32_t capacity;
    uint64_t newest_end; /* sequence of the newest tombstone ever */
    uint32_t free_head;  /* of the slots that had a row; 0: none */
    _Atomic uint32_t count;
    _Atomic uint32_t used; /* slots that ever had a row: 1 .. used */
    struct slot slots[];   /* rows are 1 .. capacity; 0 closes the ring of tombstones */
};

/* ck_hs writes all of it at once. */
static void *map_malloc(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory != NULL)
        arena_advise_huge(memory, bytes);
    return memory;
}

/* ck_hs sets `defer` when it replaced the map while readers may use the old one. The map is sized
 * so that this does not happen. If a run of cells fills up all the same, the old map is never
 * freed. */
static void map_free(void *memory, size_t bytes, bool defer)
{
    (void)bytes;
    if (!defer)
        free(memory);
}

static struct ck_malloc map_allocator = { .malloc = map_malloc, .free = map_free };

/* ck_hs calls it only when it replaces the map. */
static unsigned long map_hash(const void *words, unsigned long seed)
{
    const struct slot *slot = (const void *)((const uint8_t *)words - offsetof(struct slot, words));
    (void)seed;
    return slot->hash;
}

/* Compares the words of a slot with a key: a struct keyring_key, or the words of the slot that is
 * being put. The words may change meanwhile: slot_read reads a match again as a whole. */
static bool map_compare(const void *words, const void *key)
{
    const _Atomic uint64_t *word = words;
    uint64_t difference = 0;
    for (unsigned i = 0; i < KEY_WORDS; i++) /* acquire: as in slot_copy */
        difference |= atomic_load_explicit(&word[i], memory_order_acquire) ^
                      cc_load64((const uint8_t *)key + 8 * (size_t)i);
    return difference == 0;
}

struct keyring_key keyring_key(enum keyring_kind kind, uint64_t account_id, const uint8_t *bytes)
{
    struct keyring_key key = { .kind = (uint8_t)kind };
    if (kind == KEYRING_SESSION)
        key.account_id = account_id;
    memcpy(key.bytes, bytes, kind == KEYRING_MASTER ? KEYRING_KEY_BYTES : KEYRING_KEY_BYTES - 1);
    return key;
}

static uint64_t key_hash(const struct keyring *keyring, const struct keyring_key *key)
{
    uint64_t account = key->account_id ^ (uint64_t)key->kind << 48;
    return mix_credential(keyring->hash_key, account, key->bytes, KEYRING_KEY_BYTES);
}

static struct slot *map_get(const struct keyring *keyring, const struct keyring_key *key)
{
    /* The map's reading functions take a pointer that is not const but change nothing. */
    ck_hs_t *map = (ck_hs_t *)(uintptr_t)&keyring->map;
    uint8_t *words = ck_hs_get(map, key_hash(keyring, key), key);
    return words != NULL ? (void *)(words - offsetof(struct slot, words)) : NULL;
}

/* Copies the slot between two equal even versions, so that the copy is of one update. */
static void slot_copy(const struct slot *slot, uint64_t words[ROW_WORDS])
{
    uint64_t before, after;
    do {
        /* acquire (pairs: slot_write): the words read next are at least as new as this version. */
        before = atomic_load_explicit(&slot->version, memory_order_acquire);
        for (unsigned i = 0; i < ROW_WORDS; i++) /* acquire: a newer word shows its odd version */
            words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
        after = atomic_load_explicit(&slot->version, memory_order_relaxed);
    } while (CC_UNLIKELY(before != after || (before & 1) != 0));
}

static bool slot_read(const struct slot *slot, const struct keyring_key *key,
                      struct keyring_row *row)
{
    uint64_t words[ROW_WORDS];
    slot_copy(slot, words);
    if (memcmp(words, key, sizeof *key) != 0)
        return false;
    memcpy(row, words, sizeof *row);
    return true;
}

static void slot_write(struct slot *slot, const struct keyring_row *row)
{
    uint64_t words[ROW_WORDS];
    memcpy(words, row, sizeof words);
    /* relaxed: only the writer changes it. The odd version is seen before any new word, because
     * each word is stored with release after it. */
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);
    atomic_store_explicit(&slot->version, version + 1, memory_order_relaxed);
    for (unsigned i = 0; i < ROW_WORDS; i++) /* release (pairs: slot_copy) */
        atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
    atomic_store_explicit(&slot->version, version + 2, memory_order_release);
}

/* Returns the slot of a key and copies its row; NULL if it is absent. */
static struct slot *find(const struct keyring *keyring, const struct keyring_key *key,
                         struct keyring_row *row)
{
    struct slot *slot = map_get(keyring, key);
    return slot != NULL && slot_read(slot, key, row) ? slot : NULL;
}

static uint32_t slot_index(const struct keyring *keyring, const struct slot *slot)
{
    return (uint32_t)(slot - keyring->slots);
}

/* The ring of tombstones: slot 0's next is the oldest, its before the newest; 0 closes the ring. */
static void tombstone_append(struct keyring *keyring, struct slot *slot)
{
    struct slot *head = &keyring->slots[0];
    uint32_t index = slot_index(keyring, slot);
    slot->next = 0;
    slot->before = head->before;
    keyring->slots[head->before].next = index;
    head->before = index;
}

static void tombstone_remove(struct keyring *keyring, struct slot *slot)
{
    keyring->slots[slot->before].next = slot->next;
    keyring->slots[slot->next].before = slot->before;
    slot->next = 0;
    slot->before = 0;
}

static void slot_release(struct keyring *keyring, struct slot *slot)
{
    slot->next = keyring->free_head;
    keyring->free_head = slot_index(keyring, slot);
    /* relaxed: a single number (pairs: keyring_count). */
    atomic_fetch_sub_explicit(&keyring->count, 1, memory_order_relaxed);
}

int keyring_init(struct keyring **keyring, uint32_t capacity, const uint8_t hash_key[16])
{
    size_t bytes = sizeof(struct keyring) + ((size_t)capacity + 1) * sizeof(struct slot);
    struct keyring *made = calloc(1, bytes);
    if (made == NULL)
        return -ENOMEM;
    if (!ck_hs_init(&made->map, CK_HS_MODE_SPMC | CK_HS_MODE_OBJECT | CK_HS_MODE_DELETE, map_hash,
                    map_compare, &map_allocator, (uint64_t)CELLS_PER_SLOT * capacity, 0)) {
        free(made);
        return -ENOMEM;
    }
    made->hash_key = mix_key_load(hash_key);
    made->capacity = capacity;
    *keyring = made;
    return 0;
}

void keyring_free(struct keyring *keyring)
{
    if (keyring == NULL)
        return;
    ck_hs_destroy(&keyring->map);
    free(keyring);
}

/* Maps a key that is absent to its slot. It reuses the first cell of the probe that is free or was
 * freed, so that keys that come and go do not lengthen the probes. */
static bool map_put(struct keyring *keyring, struct slot *slot, const struct keyring_key *key)
{
    slot->hash = key_hash(keyring, key);
    return ck_hs_put_unique(&keyring->map, slot->hash, (const void *)slot->words);
}

int keyring_add(struct keyring *keyring, const struct keyring_row *row)
{
    INVARIANT(row->key.kind >= KEYRING_SESSION && row->key.kind <= KEYRING_PASSKEY);
    INVARIANT(row->state == KEYRING_LIVE);
    struct keyring_row known;
    struct slot *slot = find(keyring, &row->key, &known);
    if (slot != NULL) {
        if (known.state == KEYRING_TOMBSTONE)
            tombstone_remove(keyring, slot);
        slot_write(slot, row);
        return 0;
    }
    /* relaxed: its own word. A slot that never had a row is not touched before its first. */
    uint32_t used = atomic_load_explicit(&keyring->used, memory_order_relaxed);
    bool fresh = keyring->free_head == 0;
    if (fresh && used == keyring->capacity)
        return -ENOSPC;
    slot = &keyring->slots[fresh ? used + 1 : keyring->free_head];
    uint32_t next_free = slot->next; /* 0 in a fresh one */
    /* The slot is complete before the map points to it; the map stores with release. */
    slot_write(slot, row);
    if (!map_put(keyring, slot, &row->key))
        return -ENOSPC;
    /* release (pairs: keyring_walk): slots up to `used` are initialized. */
    if (fresh)
        atomic_store_explicit(&keyring->used, used + 1, memory_order_release);
    keyring->free_head = next_free;
    slot->next = 0;
    slot->before = 0;
    atomic_fetch_add_explicit(&keyring->count, 1, memory_order_relaxed); /* a single number */
    return 0;
}

bool keyring_end(struct keyring *keyring, const struct keyring_key *key, uint64_t sequence)
{
    struct keyring_row row;
    struct slot *slot = find(keyring, key, &row);
    if (slot == NULL || row.state == KEYRING_TOMBSTONE)
        return false;
    INVARIANT(keyring->newest_end <= sequence);
    keyring->newest_end = sequence;
    row.state = KEYRING_TOMBSTONE;
    row.sequence = sequence;
    slot_write(slot, &row);
    tombstone_append(keyring, slot);
    return true;
}

uint32_t keyring_retire(struct keyring *keyring, uint64_t durable_seq, uint32_t limit)
{
    uint32_t retired = 0;
    while (keyring->slots[0].next != 0 && (limit == 0 || retired < limit)) {
        struct slot *slot = &keyring->slots[keyring->slots[0].next];
        uint64_t words[ROW_WORDS];
        for (unsigned i = 0; i < ROW_WORDS; i++) /* relaxed: the writer reads its own words */
            words[i] = atomic_load_explicit(&slot->words[i], memory_order_relaxed);
        struct keyring_row row;
        memcpy(&row, words, sizeof row);
        INVARIANT(row.state == KEYRING_TOMBSTONE);
        if (row.sequence > durable_seq)
            break;
        const void *removed = ck_hs_remove(&keyring->map, slot->hash, &row.key);
        INVARIANT(removed == slot->words);
        tombstone_remove(keyring, slot);
        slot_release(keyring, slot);
        retired++;
    }
    return retired;
}

bool keyring_find(const struct keyring *keyring, const struct keyring_key *key,
                  struct keyring_row *row)
{
    return find(keyring, key, row) != NULL;
}

bool keyring_walk(const struct keyring *keyring, uint32_t *cursor, struct keyring_row *row)
{
    INVARIANT(*cursor <= keyring->capacity);
    /* acquire (pairs: keyring_add): the slots up to it have had a row. */
    while (*cursor < atomic_load_explicit(&keyring->used, memory_order_acquire)) {
        uint64_t words[ROW_WORDS];
        slot_copy(&keyring->slots[++*cursor], words);
        memcpy(row, words, sizeof *row);
        if (row->state == KEYRING_LIVE) /* a freed slot still holds its tombstone */
            return true;
    }
    return false;
}

uint32_t keyring_count(const struct keyring *keyring)
{
    return atomic_load_explicit(&keyring->count, memory_order_relaxed); /* a single number */
}
