#include "net/conn/crowd.h"

#include <errno.h>
#include <stdlib.h>

int crowd_init(struct crowd *crowd, struct conn *conns, uint32_t capacity, struct mix_key hash_key)
{
    *crowd = (struct crowd){
        .conns = conns,
        .mask = capacity - 1,
        .hash_key = hash_key,
        .rows = calloc(capacity, sizeof *crowd->rows),
        .hashes = malloc(capacity * sizeof *crowd->hashes),
        .counts = malloc((capacity + (size_t)1) * sizeof *crowd->counts),
    };
    if (crowd->rows == NULL || crowd->hashes == NULL || crowd->counts == NULL) {
        crowd_free(crowd);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < capacity; i++) {
        crowd->hashes[i] = crowd->counts[i] = CONN_NONE;
        crowd->rows[i].next = i + 1 < capacity ? i + 1 : CONN_NONE;
    }
    crowd->counts[capacity] = CONN_NONE;
    return 0;
}

void crowd_free(struct crowd *crowd)
{
    free(crowd->rows);
    free(crowd->hashes);
    free(crowd->counts);
    crowd->rows = NULL;
    crowd->hashes = crowd->counts = NULL;
}

/* Where the number of the first row with the hash of the address is. */
static uint32_t *hash_of(const struct crowd *crowd, uint64_t address)
{
    uint64_t hash = mix_fold(address ^ crowd->hash_key.low, crowd->hash_key.high | 1);
    return &crowd->hashes[hash & crowd->mask];
}

/* Takes the row from those of its count. */
static void unlink_count(struct crowd *crowd, const struct crowd_row *row)
{
    if (row->more_previous == CONN_NONE)
        crowd->counts[row->count] = row->more_next;
    else
        crowd->rows[row->more_previous].more_next = row->more_next;
    if (row->more_next != CONN_NONE)
        crowd->rows[row->more_next].more_previous = row->more_previous;
}

/* Puts the row among those of the count. */
static void link_count(struct crowd *crowd, struct crowd_row *row, uint32_t count)
{
    uint32_t at = (uint32_t)(row - crowd->rows);
    row->count = count;
    row->more_previous = CONN_NONE;
    row->more_next = crowd->counts[count];
    if (row->more_next != CONN_NONE)
        crowd->rows[row->more_next].more_previous = at;
    crowd->counts[count] = at;
}

static struct crowd_row *find_or_make(struct crowd *crowd, uint64_t address)
{
    uint32_t *hash = hash_of(crowd, address);
    uint32_t at = *hash;
    while (at != CONN_NONE && crowd->rows[at].address != address)
        at = crowd->rows[at].next;
    if (at != CONN_NONE)
        return &crowd->rows[at];
    at = crowd->free;
    INVARIANT(at != CONN_NONE);
    struct crowd_row *row = &crowd->rows[at];
    crowd->free = row->next;
    row->address = address;
    row->next = *hash;
    *hash = at;
    for (unsigned i = 0; i < CROWD_KINDS; i++)
        row->lists[i] = (struct crowd_list){ CONN_NONE, CONN_NONE };
    return row;
}

/* The row has no connection any more. */
static void free_row(struct crowd *crowd, struct crowd_row *row)
{
    uint32_t at = (uint32_t)(row - crowd->rows);
    uint32_t *link = hash_of(crowd, row->address);
    while (*link != at)
        link = &crowd->rows[*link].next;
    *link = row->next;
    row->next = crowd->free;
    crowd->free = at;
}

static void unlist(struct crowd *crowd, struct conn *conn)
{
    if (conn->crowd_kind == CROWD_BUSY)
        return;
    struct crowd_list *list = &crowd->rows[conn->crowd_row].lists[conn->crowd_kind];
    if (conn->crowd_previous == CONN_NONE)
        list->head = conn->crowd_next;
    else
        crowd->conns[conn->crowd_previous].crowd_next = conn->crowd_next;
    if (conn->crowd_next == CONN_NONE)
        list->tail = conn->crowd_previous;
    else
        crowd->conns[conn->crowd_next].crowd_previous = conn->crowd_previous;
    conn->crowd_kind = CROWD_BUSY;
}

void crowd_queue(struct crowd *crowd, struct conn *conn, enum crowd_kind kind)
{
    INVARIANT(crowd_has(conn));
    struct crowd_list *lists = crowd->rows[conn->crowd_row].lists;
    if (conn->crowd_kind == kind && (kind == CROWD_BUSY || lists[kind].tail == conn->index))
        return;
    unlist(crowd, conn);
    if (kind == CROWD_BUSY)
        return;
    conn->crowd_kind = (uint8_t)kind;
    conn->crowd_previous = lists[kind].tail;
    conn->crowd_next = CONN_NONE;
    if (conn->crowd_previous == CONN_NONE)
        lists[kind].head = conn->index;
    else
        crowd->conns[conn->crowd_previous].crowd_next = conn->index;
    lists[kind].tail = conn->index;
}

enum crowd_kind crowd_kind_of(const struct conn *conn)
{
    bool is_paused = conn->blocked && conn->pause_ns != 0;
    if (conn->pending_count > 0 || (conn->blocked && !is_paused) || conn->time == CONN_TIME_LINGER)
        return CROWD_BUSY;
    if (conn->stream != NULL)
        return conn->has_proved ? CROWD_PROVED_STREAM : CROWD_STREAM;
    if (conn->has_proved)
        return CROWD_PROVED;
    return is_paused || conn->time != CONN_TIME_IDLE ? CROWD_BEGUN : CROWD_IDLE;
}

void crowd_enter(struct crowd *crowd, struct conn *conn)
{
    INVARIANT(!crowd_has(conn));
    struct crowd_row *row = find_or_make(crowd, conn->address);
    if (row->count > 0)
        unlink_count(crowd, row);
    link_count(crowd, row, row->count + 1);
    if (row->count > crowd->most)
        crowd->most = row->count;
    conn->crowd_row = (uint32_t)(row - crowd->rows);
    conn->crowd_kind = CROWD_BUSY;
    crowd_queue(crowd, conn, crowd_kind_of(conn));
}

void crowd_leave(struct crowd *crowd, struct conn *conn)
{
    if (!crowd_has(conn))
        return;
    struct crowd_row *row = &crowd->rows[conn->crowd_row];
    unlist(crowd, conn);
    conn->crowd_row = CONN_NONE;
    unlink_count(crowd, row);
    if (row->count == crowd->most && crowd->counts[row->count] == CONN_NONE)
        crowd->most--; /* this row has as many */
    if (row->count > 1) {
        link_count(crowd, row, row->count - 1);
        return;
    }
    row->count = 0;
    free_row(crowd, row);
}

struct conn *crowd_first(const struct crowd *crowd, enum crowd_kind kind)
{
    if (crowd->most == 0)
        return NULL;
    uint32_t at = crowd->rows[crowd->counts[crowd->most]].lists[kind].head;
    return at == CONN_NONE ? NULL : &crowd->conns[at];
}
