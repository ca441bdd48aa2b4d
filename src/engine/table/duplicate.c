#include "engine/table/duplicate.h"

#include "base/account_id.h"
#include "engine/table/image_read.h"

/* Slices that a window of ids spans, with both partly covered ends; rounded to a power of two. */
static uint32_t duplicate_slice_count(uint32_t window_ms)
{
    uint64_t slices = ((uint64_t)window_ms + 2 * DUPLICATE_SLACK_MS) / DUPLICATE_SLICE_MS + 2;
    uint32_t count = 1;

    INVARIANT(slices <= 1u << 30);
    while (count < slices)
        count *= 2;
    return count;
}

static size_t duplicate_index_bytes(uint32_t slots)
{
    return hash_index_bytes(slots);
}

static size_t duplicate_rows_bytes(uint32_t slots)
{
    return ((size_t)slots + 1) * sizeof(struct duplicate_slot);
}

static size_t duplicate_slices_bytes(uint32_t window_ms)
{
    size_t bytes = duplicate_slice_count(window_ms) * sizeof(struct duplicate_slice);

    return (bytes + CC_CACHE_LINE - 1) / CC_CACHE_LINE * CC_CACHE_LINE;
}

size_t duplicate_bytes(uint32_t slots, uint32_t window_ms, uint32_t accounts)
{
    return duplicate_index_bytes(slots) + duplicate_rows_bytes(slots) +
           duplicate_slices_bytes(window_ms) + accounts * sizeof(struct duplicate_owner);
}

/* Slices of a part: all that a window spans, partly covered ones too, are in DUPLICATE_PARTS. */
static uint32_t duplicate_part_slices(uint32_t window_ms)
{
    uint32_t slices = (window_ms + 2 * DUPLICATE_SLACK_MS) / DUPLICATE_SLICE_MS + 2;

    return (slices + DUPLICATE_PARTS - 2) / (DUPLICATE_PARTS - 1);
}

void duplicate_init(struct duplicate *set, void *memory, uint32_t slots, uint32_t window_ms,
                    uint32_t accounts)
{
    unsigned char *rows = (unsigned char *)memory + duplicate_index_bytes(slots);
    unsigned char *slices = rows + duplicate_rows_bytes(slots);
    unsigned char *owners = slices + duplicate_slices_bytes(window_ms);

    INVARIANT(slots != 0 && slots <= DUPLICATE_SLOTS_MAX);
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    *set = (struct duplicate){
        .rows = (struct duplicate_slot *)(void *)rows,
        .slices = (struct duplicate_slice *)(void *)slices,
        .slice_mask = duplicate_slice_count(window_ms) - 1,
        .slots = slots,
        .limit = slots,
        .fresh = 1,
        .owners = (struct duplicate_owner *)(void *)owners,
        .owner_count = accounts,
        .part_slices = duplicate_part_slices(window_ms),
    };
    hash_index_init(&set->index, memory, slots);
}

void duplicate_set_limit(struct duplicate *set, uint32_t limit)
{
    INVARIANT(limit <= set->slots);
    INVARIANT(limit >= set->count);
    set->limit = limit;
}

const struct duplicate_row *duplicate_find(const struct duplicate *set, uint64_t hash,
                                           uint64_t account, const uint64_t id[2])
{
    struct hash_index_probe probe = hash_index_probe(&set->index, hash);

    while (hash_index_next(&set->index, &probe)) {
        const struct duplicate_row *row = &set->rows[probe.index].row;
        if (CC_LIKELY(row->id[0] == id[0] && row->id[1] == id[1] && row->account == account))
            /* the row of a dropped slice does not match, although it is not freed yet */
            return duplicate_id_ms(id) >= duplicate_floor_ms(set) ? row : NULL;
    }
    return NULL;
}

uint64_t duplicate_floor_ms(const struct duplicate *set)
{
    return set->first_slice * DUPLICATE_SLICE_MS;
}

/* Puts the whole list before the dead rows. Only its last row is written. */
static void duplicate_drop_slice(struct duplicate *set, struct duplicate_slice *slice)
{
    if (slice->head == 0)
        return;
    INVARIANT(set->count >= slice->count);
    set->rows[slice->tail].next = set->dead_head;
    set->dead_head = slice->head;
    set->count -= slice->count;
    *slice = (struct duplicate_slice){ 0 };
}

void duplicate_advance(struct duplicate *set, uint64_t t_ms, uint32_t past_ms)
{
    uint64_t reach_ms = (uint64_t)past_ms + DUPLICATE_SLACK_MS;
    uint64_t first = t_ms < reach_ms ? 0 : (t_ms - reach_ms) / DUPLICATE_SLICE_MS;

    if (CC_LIKELY(first <= set->first_slice))
        return;
    uint64_t end = first < set->end_slice ? first : set->end_slice;
    for (uint64_t slice = set->first_slice; slice < end; slice++)
        duplicate_drop_slice(set, &set->slices[slice & set->slice_mask]);
    set->first_slice = first;
}

void duplicate_set_floor(struct duplicate *set, uint64_t floor_ms)
{
    INVARIANT(set->count == 0);
    INVARIANT(floor_ms % DUPLICATE_SLICE_MS == 0);
    set->first_slice = floor_ms / DUPLICATE_SLICE_MS;
}

/* Removes the first dead row from the index and frees it. Its own line was prefetched
 * DUPLICATE_AHEAD frees before, and its index line half as many frees before, when its index slot
 * was known. A cache miss here would cost more than an insert. */
static void duplicate_free_dead(struct duplicate *set)
{
    uint32_t dead = set->dead_head;
    struct duplicate_slot *slot = &set->rows[dead];
    uint32_t *fetching = &set->fetching[set->freed++ % CC_COUNT(set->fetching)];
    uint32_t near = set->rows[*fetching].map_slot;

    CC_PREFETCH(&set->index.buckets[near >> HASH_INDEX_BUCKET_SHIFT]);
    CC_PREFETCH(&set->rows[slot->ahead]);
    *fetching = slot->ahead;
    hash_index_remove(&set->index, slot->home, slot->map_slot);
    set->dead_head = slot->next;
    slot->next = set->free_head;
    set->free_head = dead;
}

/* The line of an account's counts, or NULL: rows under this number are not counted. An account in a
 * slot that others had counts theirs too, while they live. */
static struct duplicate_owner *duplicate_owner(const struct duplicate *set, uint64_t account)
{
    uint64_t slot = account_id_hashed(account);

    return slot < set->owner_count ? &set->owners[slot] : NULL;
}

/* Forgets the parts without a live row. */
static void duplicate_forget(const struct duplicate *set, struct duplicate_owner *owner)
{
    uint64_t first = set->first_slice / set->part_slices;

    for (unsigned i = 0; i < DUPLICATE_PARTS && owner->first < first; i++, owner->first++) {
        uint32_t *count = &owner->counts[owner->first % DUPLICATE_PARTS];
        owner->total -= *count;
        *count = 0;
    }
    if (owner->first < first) /* all were */
        owner->first = first;
}

uint32_t duplicate_count(const struct duplicate *set, uint64_t account)
{
    const struct duplicate_owner *counted = duplicate_owner(set, account);

    if (counted == NULL)
        return 0;
    struct duplicate_owner owner = *counted;
    duplicate_forget(set, &owner);
    return owner.total;
}

uint64_t duplicate_wait_ms(const struct duplicate *set, uint64_t account)
{
    const struct duplicate_owner *counted = duplicate_owner(set, account);

    if (counted == NULL)
        return 1;
    struct duplicate_owner owner = *counted;
    duplicate_forget(set, &owner);
    for (unsigned i = 0; i < DUPLICATE_PARTS; i++) {
        uint64_t part = owner.first + i;
        if (owner.counts[part % DUPLICATE_PARTS] != 0)
            return ((part + 1) * set->part_slices - set->first_slice) * DUPLICATE_SLICE_MS;
    }
    return 1;
}

static void duplicate_own(struct duplicate *set, uint64_t account, uint64_t slice)
{
    struct duplicate_owner *owner = duplicate_owner(set, account);

    if (owner == NULL)
        return;
    duplicate_forget(set, owner);
    uint64_t part = slice / set->part_slices, last = owner->first + DUPLICATE_PARTS - 1;
    owner->counts[(part < last ? part : last) % DUPLICATE_PARTS]++;
    owner->total++;
}

void duplicate_insert(struct duplicate *set, uint64_t hash, const struct duplicate_row *row)
{
    uint64_t number = duplicate_id_ms(row->id) / DUPLICATE_SLICE_MS;
    struct duplicate_slice *slice = &set->slices[number & set->slice_mask];

    INVARIANT(set->count < set->limit);
    INVARIANT(number >= set->first_slice);
    INVARIANT(number - set->first_slice <= set->slice_mask);
    if (set->dead_head != 0)
        duplicate_free_dead(set); /* live + dead <= slots: one is enough */
    uint32_t index = set->free_head;
    if (index != 0)
        set->free_head = set->rows[index].next;
    else
        index = set->fresh++;
    INVARIANT(index <= set->slots);

    struct duplicate_slot *slot = &set->rows[index];
    slot->row = *row;
    slot->home = (uint32_t)(hash >> 32);
    slot->map_slot = hash_index_insert(&set->index, hash, index);
    slot->next = slice->head;
    slice->tail = slice->head != 0 ? slice->tail : index;
    slice->head = index;
    slot->ahead = slice->recent[slice->count % DUPLICATE_AHEAD];
    slice->recent[slice->count % DUPLICATE_AHEAD] = index;
    slice->count++;
    set->end_slice = number < set->end_slice ? set->end_slice : number + 1;
    set->count++;
    duplicate_own(set, row->account, number);
}

/* Key order: the id's bytes, then the account. */
static bool duplicate_before(const struct duplicate_row *a, const struct duplicate_row *b)
{
    uint64_t a_high = __builtin_bswap64(a->id[0]), b_high = __builtin_bswap64(b->id[0]);
    uint64_t a_low = __builtin_bswap64(a->id[1]), b_low = __builtin_bswap64(b->id[1]);

    if (a_high != b_high)
        return a_high < b_high;
    if (a_low != b_low)
        return a_low < b_low;
    return a->account < b->account;
}

/* Merges two sorted lists. Returns the head. */
static uint32_t duplicate_merge(struct duplicate_slot *rows, uint32_t a, uint32_t b)
{
    uint32_t head = 0;
    uint32_t *link = &head;

    while (a != 0 && b != 0) {
        uint32_t *first = duplicate_before(&rows[b].row, &rows[a].row) ? &b : &a;
        *link = *first;
        link = &rows[*first].next;
        *first = *link;
    }
    *link = a != 0 ? a : b;
    return head;
}

/* Sorts a slice's list in place, by a merge sort with a binary counter of sorted runs. */
static void duplicate_sort(struct duplicate *set, struct duplicate_slice *slice)
{
    uint32_t runs[32] = { 0 }; /* runs[k]: 0 or a list of 2^k rows */
    uint32_t sorted = 0;

    for (uint32_t at = slice->head; at != 0;) {
        uint32_t run = at;
        uint32_t k = 0;
        at = set->rows[at].next;
        set->rows[run].next = 0;
        for (; runs[k] != 0; k++) {
            run = duplicate_merge(set->rows, runs[k], run);
            runs[k] = 0;
        }
        runs[k] = run;
    }
    for (uint32_t k = 0; k < CC_COUNT(runs); k++)
        sorted = duplicate_merge(set->rows, runs[k], sorted);
    slice->head = sorted;
    for (slice->tail = sorted; sorted != 0; sorted = set->rows[sorted].next)
        slice->tail = sorted;
}

/* Moves the cursor to the first row of the first slice that has one, from its own slice on. */
static void duplicate_enter(struct duplicate *set, struct duplicate_cursor *cursor)
{
    for (; cursor->slice < set->end_slice; cursor->slice++) {
        struct duplicate_slice *slice = &set->slices[cursor->slice & set->slice_mask];
        if (slice->head == 0)
            continue;
        duplicate_sort(set, slice);
        cursor->row = &set->rows[slice->head].row;
        return;
    }
    cursor->row = NULL;
}

void duplicate_first(struct duplicate *set, struct duplicate_cursor *cursor)
{
    *cursor = (struct duplicate_cursor){ .slice = set->first_slice };
    duplicate_enter(set, cursor);
}

void duplicate_next(struct duplicate *set, struct duplicate_cursor *cursor)
{
    INVARIANT(cursor->row != NULL);
    uint32_t next = ((const struct duplicate_slot *)(const void *)cursor->row)->next;

    if (next != 0) {
        cursor->row = &set->rows[next].row;
        return;
    }
    cursor->slice++;
    duplicate_enter(set, cursor);
}

static const char *duplicate_wrong(const struct duplicate *set, const struct duplicate_row *row,
                                   uint64_t hash)
{
    uint64_t number = duplicate_id_ms(row->id) / DUPLICATE_SLICE_MS;

    if (set->count == set->limit)
        return "more request ids than the configuration allows";
    if (number < set->first_slice || number - set->first_slice > set->slice_mask)
        return "a request id is outside the window";
    if (duplicate_find(set, hash, row->account, row->id) != NULL)
        return "a request id stands twice";
    return NULL;
}

bool duplicate_load(struct duplicate *set, struct mix_key key, struct image_read *read)
{
    uint64_t floor_ms;

    if (!image_read_u64(read, &floor_ms))
        return false;
    if (floor_ms % DUPLICATE_SLICE_MS != 0 || floor_ms > IMAGE_READ_TIME_MAX)
        return image_read_refuse(read, "the window of request ids begins inside a slice");
    duplicate_set_floor(set, floor_ms);
    for (; image_read_begins(read, sizeof(struct duplicate_row)); read->row++) {
        struct duplicate_row row;
        image_read_bytes(read, &row, sizeof row);
        uint64_t hash = mix_id(key, account_id_hashed(row.account), (const uint8_t *)row.id);
        const char *wrong = duplicate_wrong(set, &row, hash);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        duplicate_insert(set, hash, &row);
    }
    return read->wrong == NULL;
}
