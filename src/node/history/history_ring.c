#include "node/history/history_ring.h"

#include <errno.h>
#include <stdlib.h>

#include "base/region.h"

int history_ring_init(struct history_ring *ring, uint32_t capacity, size_t row_bytes,
                      uint32_t key_count)
{
    INVARIANT(capacity != 0 && (capacity & (capacity - 1)) == 0);
    INVARIANT(capacity <= 1u << 30); /* so differences of ordinals do not wrap */
    INVARIANT(row_bytes % sizeof(uint64_t) == 0 && row_bytes >= sizeof(struct history_link));
    *ring = (struct history_ring){
        .rows = calloc(capacity, row_bytes),
        .heads = calloc(key_count, sizeof *ring->heads),
        .mask = capacity - 1,
        .row_bytes = (uint32_t)row_bytes,
        .key_count = key_count,
    };
    region_name(REGION_history, ring->rows, capacity * row_bytes);
    if (ring->rows != NULL && ring->heads != NULL)
        return 0;
    history_ring_free(ring);
    return -ENOMEM;
}

void history_ring_free(struct history_ring *ring)
{
    region_forget(ring->rows);
    free(ring->rows);
    free(ring->heads);
    *ring = (struct history_ring){ 0 };
}

static bool is_kept(const struct history_ring *ring, uint64_t position)
{
    return position >= ring->base && position < ring->added &&
           ring->added - position <= ring->mask + 1;
}

/* calloc and rows of whole words: every row is aligned for a link. */
static struct history_link *link_at(const struct history_ring *ring, uint64_t position)
{
    return (struct history_link *)(void *)(ring->rows + (position & ring->mask) * ring->row_bytes);
}

const void *history_ring_at(const struct history_ring *ring, uint64_t position)
{
    return is_kept(ring, position) ? link_at(ring, position) : NULL;
}

void *history_ring_victim(const struct history_ring *ring)
{
    return ring->added - ring->base <= ring->mask ? NULL : link_at(ring, ring->added);
}

void history_ring_forget(struct history_ring *ring, uint32_t key, uint64_t sequence)
{
    INVARIANT(key < ring->key_count && ring->added <= 1);
    ring->base = 1;
    ring->added = 1;
    ring->forgotten_sequence = sequence;
    ring->heads[key] = (struct history_ring_head){
        .newest_next = 1,
        .sequence = sequence,
        .index = UINT32_MAX,
        .far = HISTORY_NONE,
        .far_far = HISTORY_NONE,
    };
}

void history_ring_begin(struct history_ring *ring, uint32_t key)
{
    INVARIANT(key < ring->key_count);
    ring->heads[key] = (struct history_ring_head){ 0 };
}

uint64_t history_ring_dropped_sequence(const struct history_ring *ring)
{
    const struct history_link *oldest = history_ring_victim(ring);

    /* Of the oldest one's command some rows may be dropped. */
    return oldest != NULL ? oldest->sequence : ring->forgotten_sequence;
}

/* A new milestone. Myers' rule: two jumps of equal length are joined into one, else the jump is to
 * the one before. A jump into dropped rows leads nowhere: it is not joined. */
static void link_milestone(const struct history_ring *ring, struct history_ring_head *head,
                           struct history_link *made)
{
    uint64_t far = head->far, far_far = head->far_far;
    uint32_t ordinal = head->ordinal / HISTORY_STRIDE - 1; /* of the one before */
    uint32_t far_ordinal = head->far_ordinal;
    bool joins =
        is_kept(ring, far_far) && ordinal - far_ordinal == far_ordinal - head->far_far_ordinal;

    made->far = joins ? far_far : head->milestone;
    made->far_ordinal = joins ? head->far_far_ordinal : ordinal;
    const struct history_link *joined = joins ? link_at(ring, far_far) : NULL;
    head->milestone = ring->added;
    head->far = made->far;
    head->far_ordinal = made->far_ordinal;
    head->far_far = joins ? joined->far : far;
    head->far_far_ordinal = joins ? joined->far_ordinal : far_ordinal;
}

uint32_t history_ring_next_index(const struct history_ring *ring, uint32_t key, uint64_t sequence)
{
    INVARIANT(key < ring->key_count);
    const struct history_ring_head *head = &ring->heads[key];

    return head->newest_next != 0 && head->sequence == sequence ? head->index + 1 : 0;
}

void *history_ring_add(struct history_ring *ring, uint32_t key, uint64_t sequence, uint32_t index)
{
    INVARIANT(key < ring->key_count);
    struct history_ring_head *head = &ring->heads[key];
    struct history_link made = {
        .older = HISTORY_NONE,
        .far = HISTORY_NONE,
        .sequence = sequence,
        .index = index,
    };

    if (head->newest_next == 0) {
        head->first_sequence = sequence;
        head->first_index = index;
        head->milestone = ring->added;
        head->far = HISTORY_NONE;
        head->far_far = HISTORY_NONE;
    } else {
        INVARIANT(head->sequence < sequence || (head->sequence == sequence && head->index < index));
        made.older = head->newest_next - 1;
        made.far = head->milestone;
        if (++head->ordinal % HISTORY_STRIDE == 0)
            link_milestone(ring, head, &made);
    }
    struct history_link *link = link_at(ring, ring->added); /* may be the one just read */
    memset(link, 0, ring->row_bytes);
    *link = made;
    ring->added++;
    head->newest_next = ring->added;
    head->sequence = sequence;
    head->index = index;
    return link;
}

uint64_t history_ring_below(const struct history_ring *ring, uint64_t key, uint64_t sequence,
                            uint32_t index)
{
    if (key >= ring->key_count || ring->heads[key].newest_next == 0)
        return HISTORY_NONE;
    const struct history_ring_head *head = &ring->heads[key];
    if (head->first_sequence > sequence ||
        (head->first_sequence == sequence && head->first_index >= index))
        return HISTORY_NONE;
    uint64_t at = head->newest_next - 1;
    while (is_kept(ring, at)) {
        const struct history_link *link = link_at(ring, at);
        if (history_link_below(link, sequence, index))
            break;
        bool is_far = is_kept(ring, link->far) &&
                      !history_link_below(link_at(ring, link->far), sequence, index);
        at = is_far ? link->far : link->older;
    }
    return at;
}
