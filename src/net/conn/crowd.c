#include "net/conn/crowd.h"

static size_t rows_bytes(uint32_t capacity)
{
    return capacity * sizeof(struct crowd_row);
}

static size_t counts_bytes(uint32_t capacity)
{
    return (capacity + (size_t)1) * sizeof(struct crowd_count);
}

size_t crowd_bytes(uint32_t capacity)
{
    return rows_bytes(capacity) + counts_bytes(capacity) + capacity * sizeof(uint32_t);
}

void crowd_init(struct crowd *crowd, void *memory, struct conn *conns, uint32_t capacity,
                struct mix_key hash_key)
{
    uint8_t *counts = (uint8_t *)memory + rows_bytes(capacity);
    *crowd = (struct crowd){
        .conns = conns,
        .mask = capacity - 1,
        .hash_key = hash_key,
        .rows = memory,
        .counts = (void *)counts,
        .hashes = (void *)(counts + counts_bytes(capacity)),
    };
    for (uint32_t i = 0; i < capacity; i++) {
        crowd->hashes[i] = CONN_NONE;
        crowd->rows[i].next = i + 1 < capacity ? i + 1 : CONN_NONE;
    }
    for (uint32_t i = 0; i <= capacity; i++) {
        crowd->counts[i].rows = 0;
        for (unsigned k = 0; k < CROWD_KINDS; k++)
            crowd->counts[i].lists[k] = (struct crowd_list){ CONN_NONE, CONN_NONE };
    }
}

/* Where the number of the first row with the hash of the address is. */
static uint32_t *hash_of(const struct crowd *crowd, uint64_t address)
{
    uint64_t hash = mix_word(crowd->hash_key, address);
    return &crowd->hashes[hash & crowd->mask];
}

/* Takes the row from those of its count with a connection of the kind. */
static void unlink_row(struct crowd *crowd, const struct crowd_row *row, unsigned kind)
{
    struct crowd_list *list = &crowd->counts[row->count].lists[kind];
    uint32_t previous = row->links[kind].previous, next = row->links[kind].next;
    if (previous == CONN_NONE)
        list->head = next;
    else
        crowd->rows[previous].links[kind].next = next;
    if (next == CONN_NONE)
        list->tail = previous;
    else
        crowd->rows[next].links[kind].previous = previous;
}

/* Puts it behind them. */
static void link_row(struct crowd *crowd, struct crowd_row *row, unsigned kind)
{
    struct crowd_list *list = &crowd->counts[row->count].lists[kind];
    uint32_t at = (uint32_t)(row - crowd->rows);
    INVARIANT(row->count > 0);
    row->links[kind].previous = list->tail;
    row->links[kind].next = CONN_NONE;
    if (list->tail == CONN_NONE)
        list->head = at;
    else
        crowd->rows[list->tail].links[kind].next = at;
    list->tail = at;
}

/* Puts the row behind those of the count. With 0 it has no connection. */
static void set_count(struct crowd *crowd, struct crowd_row *row, uint32_t count)
{
    for (unsigned i = 0; i < CROWD_KINDS; i++)
        if (row->lists[i].head != CONN_NONE)
            unlink_row(crowd, row, i);
    crowd->counts[row->count].rows -= row->count > 0;
    row->count = count;
    crowd->counts[count].rows += count > 0;
    for (unsigned i = 0; i < CROWD_KINDS; i++)
        if (row->lists[i].head != CONN_NONE)
            link_row(crowd, row, i);
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

/* Takes it from the list that it is in. */
static void unlist(struct crowd *crowd, struct crowd_list *list, const struct conn *conn)
{
    if (conn->crowd_previous == CONN_NONE)
        list->head = conn->crowd_next;
    else
        crowd->conns[conn->crowd_previous].crowd_next = conn->crowd_next;
    if (conn->crowd_next == CONN_NONE)
        list->tail = conn->crowd_previous;
    else
        crowd->conns[conn->crowd_next].crowd_previous = conn->crowd_previous;
}

static void list_last(struct crowd *crowd, struct crowd_list *list, struct conn *conn)
{
    conn->crowd_previous = list->tail;
    conn->crowd_next = CONN_NONE;
    if (list->tail == CONN_NONE)
        list->head = conn->index;
    else
        crowd->conns[list->tail].crowd_next = conn->index;
    list->tail = conn->index;
}

/* Its address has its place by its first connection: without it, it is behind the others. */
static void leave_list(struct crowd *crowd, struct conn *conn)
{
    if (conn->crowd_kind == CROWD_BUSY)
        return;
    struct crowd_row *row = &crowd->rows[conn->crowd_row];
    struct crowd_list *list = &row->lists[conn->crowd_kind];
    bool was_first = list->head == conn->index;
    unlist(crowd, list, conn);
    if (was_first)
        unlink_row(crowd, row, conn->crowd_kind);
    if (was_first && list->head != CONN_NONE)
        link_row(crowd, row, conn->crowd_kind);
    conn->crowd_kind = CROWD_BUSY;
}

void crowd_queue(struct crowd *crowd, struct conn *conn, enum crowd_kind kind)
{
    INVARIANT(crowd_has(conn));
    struct crowd_row *row = &crowd->rows[conn->crowd_row];
    if (conn->crowd_kind == kind) {
        if (kind == CROWD_BUSY)
            return;
        bool is_last = row->lists[kind].tail == conn->index;
        bool is_first = row->lists[kind].head == conn->index;
        if (is_last && (!is_first || row->links[kind].next == CONN_NONE))
            return; /* its address is the last, too, or has its place by another one */
    }
    leave_list(crowd, conn);
    if (kind == CROWD_BUSY)
        return;
    conn->crowd_kind = (uint8_t)kind;
    list_last(crowd, &row->lists[kind], conn);
    if (row->lists[kind].head == conn->index)
        link_row(crowd, row, kind);
}

void crowd_pass(struct crowd *crowd, struct conn *conn)
{
    INVARIANT(crowd_has(conn) && conn->crowd_kind != CROWD_BUSY);
    struct crowd_list *list = &crowd->rows[conn->crowd_row].lists[conn->crowd_kind];
    unlist(crowd, list, conn);
    list_last(crowd, list, conn);
}

void crowd_pass_address(struct crowd *crowd, const struct conn *conn)
{
    INVARIANT(crowd_has(conn) && conn->crowd_kind != CROWD_BUSY);
    struct crowd_row *row = &crowd->rows[conn->crowd_row];
    unlink_row(crowd, row, conn->crowd_kind);
    link_row(crowd, row, conn->crowd_kind);
}

enum crowd_kind crowd_kind_of(const struct conn *conn)
{
    bool is_paused =
        conn->blocked && (conn->pause_ns != 0 || conn->output.bytes > CONN_OUTPUT_PAUSE);
    /* Until the peer reads: no answer is being made. */
    bool is_held = conn->reads_held && conn->output.bytes > 0 && conn->expected_bytes == 0;
    bool is_under_way = conn->pending_count > 0 || (conn->blocked && !is_paused);
    if ((is_under_way && !is_held) || conn->time == CONN_TIME_LINGER)
        return CROWD_BUSY;
    if (conn->stream != NULL)
        return conn->has_proved ? CROWD_PROVED_STREAM : CROWD_STREAM;
    if (conn->has_proved)
        return CROWD_PROVED;
    return is_paused || is_held || conn->time != CONN_TIME_IDLE ? CROWD_BEGUN : CROWD_IDLE;
}

void crowd_enter(struct crowd *crowd, struct conn *conn)
{
    INVARIANT(!crowd_has(conn));
    struct crowd_row *row = find_or_make(crowd, conn->address);
    set_count(crowd, row, row->count + 1);
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
    uint32_t count = row->count;
    INVARIANT(count > 0 && count <= crowd->most);
    leave_list(crowd, conn);
    conn->crowd_row = CONN_NONE;
    set_count(crowd, row, count - 1);
    if (count == crowd->most && crowd->counts[count].rows == 0)
        crowd->most--; /* this row has as many */
    if (row->count == 0)
        free_row(crowd, row);
}

struct conn *crowd_first(const struct crowd *crowd, enum crowd_kind kind)
{
    const struct crowd_count *count = &crowd->counts[crowd->most];
    INVARIANT(crowd->most == 0 || count->rows > 0);
    uint32_t at = count->lists[kind].head;
    if (at == CONN_NONE)
        return NULL;
    INVARIANT(crowd->rows[at].count == crowd->most);
    uint32_t first = crowd->rows[at].lists[kind].head;
    INVARIANT(first != CONN_NONE);
    return &crowd->conns[first];
}
