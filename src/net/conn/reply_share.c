#include "net/conn/reply_share.h"

#include <errno.h>

#include "base/fair_share.h"
#include "base/region.h"

struct reply_address {
    uint64_t address;
    uint32_t next; /* in its chain, or in the list of free rows */
    uint32_t held;
    uint32_t first, last; /* its reads that wait */
    uint32_t turn_next, turn_previous;
};

int reply_share_init(struct reply_share *share, uint32_t connections, uint32_t buffers,
                     struct mix_key hash_key)
{
    uint32_t capacity = connections + REPLY_BUFFERS;
    size_t row_bytes = capacity * sizeof(struct reply_address);
    size_t bytes = row_bytes + 2 * (size_t)connections * sizeof(uint32_t);

    *share = (struct reply_share){ .capacity = capacity,
                                   .mask = 2 * connections - 1,
                                   .free_head = PENDING_NONE,
                                   .hash_key = hash_key,
                                   .buffers = buffers < REPLY_BUFFERS ? buffers : REPLY_BUFFERS,
                                   .turn_head = PENDING_NONE,
                                   .turn_tail = PENDING_NONE,
                                   .oldest = PENDING_NONE,
                                   .newest = PENDING_NONE };
    void *memory = region_map(REGION_requests, bytes);
    if (memory == NULL)
        return -ENOMEM;
    share->memory_bytes = bytes;
    share->rows = memory;
    share->buckets = (uint32_t *)(void *)((uint8_t *)memory + row_bytes);
    return 0;
}

void reply_share_free(struct reply_share *share)
{
    if (share->rows != NULL)
        region_unmap(share->rows, share->memory_bytes);
    share->rows = NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Where the chain of the address begins; the numbers of rows in it are one more than their index,
 * so that memory of zeros has none. */
static uint32_t *chain_of(const struct reply_share *share, uint64_t address)
{
    uint64_t hash = mix_word(share->hash_key, address);
    return &share->buckets[hash & share->mask];
}

static uint64_t address_of(const struct conn *conn)
{
    return conn->admin ? QUERY_ADMIN_ADDRESS : conn->address;
}

/* The row of the address; PENDING_NONE: it has none. */
static uint32_t find(const struct reply_share *share, uint64_t address)
{
    for (uint32_t number = *chain_of(share, address); number != 0;
         number = share->rows[number - 1].next)
        if (share->rows[number - 1].address == address)
            return number - 1;
    return PENDING_NONE;
}

static uint32_t make(struct reply_share *share, uint64_t address)
{
    uint32_t *chain = chain_of(share, address);
    uint32_t row = share->free_head;

    if (row != PENDING_NONE) {
        share->free_head = share->rows[row].next;
    } else {
        INVARIANT(share->touched < share->capacity);
        row = share->touched++;
    }
    share->rows[row] = (struct reply_address){
        .address = address, .next = *chain, .first = PENDING_NONE, .last = PENDING_NONE
    };
    *chain = row + 1;
    return row;
}

static uint32_t find_or_make(struct reply_share *share, uint64_t address)
{
    uint32_t row = find(share, address);
    return row != PENDING_NONE ? row : make(share, address);
}

/* An address that neither holds nor waits gives its row back. */
static void end_if_unused(struct reply_share *share, uint32_t row)
{
    struct reply_address *address = &share->rows[row];
    uint32_t *at = chain_of(share, address->address);

    if (address->held != 0 || address->first != PENDING_NONE)
        return;
    while (*at != row + 1)
        at = &share->rows[*at - 1].next;
    *at = address->next;
    address->next = share->free_head;
    share->free_head = row;
}

static bool may_hold(const struct reply_share *share, uint32_t held)
{
    return fair_share_has_room(held, share->buffers - share->held);
}

static void hold(struct reply_share *share, uint32_t row, struct pending *pending)
{
    share->rows[row].held++;
    share->held++;
    pending->share = row;
}

bool reply_share_claim(struct reply_share *share, const struct conn *conn, struct pending *pending)
{
    uint32_t row = find(share, address_of(conn));

    INVARIANT(pending->share == PENDING_NONE);
    if (row == PENDING_NONE
            ? !may_hold(share, 0)
            : share->rows[row].first != PENDING_NONE || !may_hold(share, share->rows[row].held))
        return false;
    hold(share, row != PENDING_NONE ? row : make(share, address_of(conn)), pending);
    return true;
}

void reply_share_release(struct reply_share *share, struct pending *pending)
{
    uint32_t row = pending->share;

    INVARIANT(row < share->touched && share->rows[row].held > 0 && share->held > 0);
    pending->share = PENDING_NONE;
    share->rows[row].held--;
    share->held--;
    end_if_unused(share, row);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void turn_push(struct reply_share *share, uint32_t row)
{
    share->rows[row].turn_next = PENDING_NONE;
    share->rows[row].turn_previous = share->turn_tail;
    if (share->turn_tail == PENDING_NONE)
        share->turn_head = row;
    else
        share->rows[share->turn_tail].turn_next = row;
    share->turn_tail = row;
}

static void turn_remove(struct reply_share *share, uint32_t row)
{
    const struct reply_address *address = &share->rows[row];

    if (address->turn_previous == PENDING_NONE)
        share->turn_head = address->turn_next;
    else
        share->rows[address->turn_previous].turn_next = address->turn_next;
    if (address->turn_next == PENDING_NONE)
        share->turn_tail = address->turn_previous;
    else
        share->rows[address->turn_next].turn_previous = address->turn_previous;
}

void reply_share_wait(struct reply_share *share, const struct pending_pool *pool,
                      const struct conn *conn, struct pending *pending)
{
    uint32_t index = pending_index(pool, pending);
    uint32_t row = find_or_make(share, address_of(conn));
    struct reply_address *address = &share->rows[row];

    INVARIANT(pending->share == PENDING_NONE);
    pending->wait_row = row;
    pending->wait_next = PENDING_NONE;
    pending->wait_previous = address->last;
    pending->newer = PENDING_NONE;
    pending->older = share->newest;
    if (address->last != PENDING_NONE) {
        pending_at(pool, address->last)->wait_next = index;
    } else {
        address->first = index;
        turn_push(share, row);
    }
    address->last = index;
    if (share->newest != PENDING_NONE)
        pending_at(pool, share->newest)->newer = index;
    else
        share->oldest = index;
    share->newest = index;
}

static void unlink_read(struct reply_share *share, const struct pending_pool *pool,
                        const struct pending *pending)
{
    struct reply_address *address = &share->rows[pending->wait_row];

    if (pending->wait_previous == PENDING_NONE)
        address->first = pending->wait_next;
    else
        pending_at(pool, pending->wait_previous)->wait_next = pending->wait_next;
    if (pending->wait_next == PENDING_NONE)
        address->last = pending->wait_previous;
    else
        pending_at(pool, pending->wait_next)->wait_previous = pending->wait_previous;
    if (pending->older == PENDING_NONE)
        share->oldest = pending->newer;
    else
        pending_at(pool, pending->older)->newer = pending->newer;
    if (pending->newer == PENDING_NONE)
        share->newest = pending->older;
    else
        pending_at(pool, pending->newer)->older = pending->older;
}

void reply_share_leave(struct reply_share *share, const struct pending_pool *pool,
                       struct pending *pending)
{
    uint32_t row = pending->wait_row;

    unlink_read(share, pool, pending);
    if (share->rows[row].first == PENDING_NONE)
        turn_remove(share, row);
    end_if_unused(share, row);
}

struct pending *reply_share_next(const struct reply_share *share, const struct pending_pool *pool)
{
    if (share->held == share->buffers)
        return NULL;
    for (uint32_t row = share->turn_head; row != PENDING_NONE; row = share->rows[row].turn_next)
        if (may_hold(share, share->rows[row].held))
            return pending_at(pool, share->rows[row].first);
    return NULL;
}

void reply_share_accept(struct reply_share *share, const struct pending_pool *pool,
                        struct pending *pending)
{
    uint32_t row = pending->wait_row;

    hold(share, row, pending);
    unlink_read(share, pool, pending);
    turn_remove(share, row);
    if (share->rows[row].first != PENDING_NONE)
        turn_push(share, row);
}

struct pending *reply_share_oldest(const struct reply_share *share, const struct pending_pool *pool)
{
    return share->oldest == PENDING_NONE ? NULL : pending_at(pool, share->oldest);
}
