#include "node/history_ring.h"

#include <errno.h>
#include <stdlib.h>

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
    if (ring->rows != NULL && ring->heads != NULL)
        return 0;
    history_ring_free(ring);
    return -ENOMEM;
}

void history_ring_free(struct history_ring *ring)
{
    free(ring->rows);
    free(ring->heads);
    *ring = (struct history_ring){ 0 };
}

static bool is_kept(const struct history_ring *ring, uint64_t position)
{
    return position < ring->added && ring->added - position <= ring->mask + 1;
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
    return ring->added <= ring->mask ? NULL : link_at(ring, ring->added);
}

/* Myers' rule: two jumps of equal length are joined into one. Where the rule needs a dropped row,
 * the jump is a step. */
static uint64_t far_of(const struct history_ring *ring, uint64_t older)
{
    if (!is_kept(ring, older))
        return older;
    const struct history_link *one = link_at(ring, older);
    if (!is_kept(ring, one->far))
        return older;
    const struct history_link *two = link_at(ring, one->far);
    if (!is_kept(ring, two->far))
        return older;
    const struct history_link *three = link_at(ring, two->far);
    return one->ordinal - two->ordinal == two->ordinal - three->ordinal ? two->far : older;
}

void *history_ring_add(struct history_ring *ring, uint32_t key, uint64_t sequence, uint32_t index)
{
    INVARIANT(key < ring->key_count);
    struct history_head *head = &ring->heads[key];
    uint64_t position = ring->added;
    uint64_t older = head->newest_next == 0 ? HISTORY_NONE : head->newest_next - 1;
    struct history_link made = {
        .older = older,
        .far = older,
        .sequence = sequence,
        .index = index,
    };

    if (older == HISTORY_NONE) {
        head->first_sequence = sequence;
        head->first_index = index;
    } else if (is_kept(ring, older)) {
        const struct history_link *before = link_at(ring, older);
        INVARIANT(history_link_below(before, sequence, index));
        made.far = far_of(ring, older);
        made.ordinal = before->ordinal + 1;
    }
    struct history_link *link = link_at(ring, position); /* may be one of those just read */
    memset(link, 0, ring->row_bytes);
    *link = made;
    ring->added++;
    head->newest_next = position + 1;
    return link;
}

uint64_t history_ring_below(const struct history_ring *ring, uint64_t key, uint64_t sequence,
                            uint32_t index)
{
    if (key >= ring->key_count || ring->heads[key].newest_next == 0)
        return HISTORY_NONE;
    const struct history_head *head = &ring->heads[key];
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
