#include "net/conn/conn.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/region.h"

enum { PAGE = 4096 };

static const uint64_t time_ns[CONN_TIMES] = {
    [CONN_TIME_IDLE] = 75 * CONN_SECOND_NS, /* wire.md W10 */
    [CONN_TIME_HANDSHAKE] = 10 * CONN_SECOND_NS, [CONN_TIME_HEAD] = 10 * CONN_SECOND_NS,
    [CONN_TIME_BODY] = 30 * CONN_SECOND_NS,      [CONN_TIME_LINGER] = 2 * CONN_SECOND_NS,
};

static size_t in_pages(size_t bytes)
{
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static size_t conns_bytes(uint32_t capacity)
{
    return in_pages(sizeof(struct conn) * capacity);
}

size_t conn_table_bytes(uint32_t capacity)
{
    return (size_t)CONN_SPILLED_MAX * CONN_INPUT_BYTES + (size_t)capacity * CONN_INPUT_KEEP +
           conns_bytes(capacity) + in_pages(crowd_bytes(capacity)) +
           (1 + CONN_QUEUES) * sizeof(uint32_t) * capacity;
}

int conn_table_init(struct conn_table *table, uint32_t capacity, struct mix_key hash_key)
{
    INVARIANT(capacity > 0 && (capacity & (capacity - 1)) == 0);
    size_t total = conn_table_bytes(capacity);
    void *memory = region_map(REGION_connections, total);
    *table = (struct conn_table){ .capacity = capacity };
    if (memory == NULL)
        return -ENOMEM;
    table->memory = memory;
    table->memory_bytes = total;
    table->large_inputs = memory;
    table->inputs = table->large_inputs + (size_t)CONN_SPILLED_MAX * CONN_INPUT_BYTES;
    table->conns = (void *)(table->inputs + (size_t)capacity * CONN_INPUT_KEEP);
    uint8_t *crowd = (uint8_t *)table->conns + conns_bytes(capacity);
    table->free = (void *)(crowd + in_pages(crowd_bytes(capacity)));
    table->free_count = capacity;
    for (uint32_t i = 0; i < capacity; i++)
        table->free[i] = capacity - 1 - i;
    for (uint16_t i = 0; i < CONN_SPILLED_MAX; i++)
        table->rooms[i] = i;
    for (unsigned i = 0; i < CONN_TIMES; i++)
        table->times[i] = (struct conn_list){ CONN_NONE, CONN_NONE };
    for (unsigned i = 0; i < CONN_QUEUES; i++)
        table->queues[i].items = table->free + (1 + i) * (size_t)capacity;
    crowd_init(&table->crowd, crowd, table->conns, capacity, hash_key);
    return 0;
}

void conn_table_free(struct conn_table *table)
{
    if (table->memory != NULL)
        region_unmap(table->memory, table->memory_bytes);
    table->memory = NULL;
}

struct conn *conn_open(struct conn_table *table)
{
    if (table->free_count == 0)
        return NULL;
    uint32_t index = table->free[--table->free_count];
    struct conn *conn = conn_at(table, index);
    struct conn fresh = {
        .open = true,
        .file = -1,
        .index = index,
        .pending_head = CONN_NONE,
        .pending_tail = CONN_NONE,
        .time = CONN_TIMES,
        .time_previous = CONN_NONE,
        .time_next = CONN_NONE,
        .crowd_row = CONN_NONE,
        .queued = conn->queued,
    };
    *conn = fresh;
    output_init(&conn->output);
    output_init(&conn->wire);
    table->open_count++;
    INVARIANT(table->open_count + table->free_count == table->capacity);
    return conn;
}

static void unlink_time(struct conn_table *table, struct conn *conn)
{
    if (conn->time == CONN_TIMES)
        return;
    struct conn_list *list = &table->times[conn->time];
    if (conn->time_previous == CONN_NONE)
        list->head = conn->time_next;
    else
        conn_at(table, conn->time_previous)->time_next = conn->time_next;
    if (conn->time_next == CONN_NONE)
        list->tail = conn->time_previous;
    else
        conn_at(table, conn->time_next)->time_previous = conn->time_previous;
    conn->time = CONN_TIMES;
}

static void unspill(struct conn_table *table, struct conn *conn)
{
    uint32_t at = 0;
    while (at < table->spilled_count && table->spilled[at] != conn->index)
        at++;
    INVARIANT(at < table->spilled_count);
    table->spilled_count--;
    table->rooms[table->spilled_count] = conn->room;
    memmove(&table->spilled[at], &table->spilled[at + 1],
            (table->spilled_count - at) * sizeof table->spilled[0]);
    conn->spilled = false;
}

/* The connection that yields: of the address with the most of those that hold too much, the one
 * that has held it longest. A handshake yields to nobody. NULL: there is none. */
static struct conn *find_hoarder(const struct conn_table *table)
{
    uint64_t addresses[CONN_SPILLED_MAX];
    struct conn *hoarder = NULL;
    uint32_t most = 0;
    for (uint32_t i = 0; i < table->spilled_count; i++)
        addresses[i] = conn_at(table, table->spilled[i])->address;
    for (uint32_t i = 0; i < table->spilled_count; i++) {
        struct conn *conn = conn_at(table, table->spilled[i]);
        uint32_t same = 0;
        for (uint32_t k = 0; k < table->spilled_count; k++)
            same += addresses[k] == addresses[i];
        if (same > most && conn->phase != CONN_HANDSHAKE) {
            most = same;
            hoarder = conn;
        }
    }
    return hoarder;
}

void conn_retire(struct conn_table *table, struct conn *conn)
{
    conn_input_consume(table, conn, conn_input_bytes(conn));
    if (conn->phase == CONN_HEAD || conn->phase == CONN_BODY) {
        conn->last = true;
        conn_phase_move(&conn->phase, CONN_HEAD);
        conn->blocked = false;
        conn->continue_due = false;
        conn->complete_bytes = 0;
        conn->scanned = 0;
    } else {
        conn->broken = true; /* nothing of it was accepted, or it is a stream */
    }
    conn_queue_push(table, CONN_DIRTY, conn);
}

/* Where the connection's input begins. */
static uint8_t *input_base(const struct conn_table *table, const struct conn *conn)
{
    return (uint8_t *)conn_input(table, conn) - conn->input_start;
}

/* Gives the connection one of the large inputs. False: all are taken and stay so. */
static bool spill(struct conn_table *table, struct conn *conn)
{
    if (table->spilled_count == CONN_SPILLED_MAX) {
        struct conn *hoarder = find_hoarder(table);
        if (hoarder == NULL)
            return false;
        conn_retire(table, hoarder);
    }
    const uint8_t *from = input_base(table, conn);
    conn->room = table->rooms[table->spilled_count];
    table->spilled[table->spilled_count++] = conn->index;
    conn->spilled = true;
    memcpy(input_base(table, conn), from, conn->input_end);
    return true;
}

/* Returns a large input, and of the other one the memory after the first page to the kernel. */
static void give_input_back(struct conn_table *table, struct conn *conn)
{
    uint8_t *own = table->inputs + (size_t)conn->index * CONN_INPUT_KEEP;
    if (conn->spilled) {
        (void)madvise(input_base(table, conn), CONN_INPUT_BYTES, MADV_DONTNEED);
        unspill(table, conn);
    }
    if (conn->input_high > PAGE)
        (void)madvise(own + PAGE, CONN_INPUT_KEEP - PAGE, MADV_DONTNEED);
    conn->input_high = 0;
}

void conn_close(struct conn_table *table, struct conn *conn)
{
    INVARIANT(conn->open && conn->pending_head == CONN_NONE && conn->output.bytes == 0 &&
              conn->wire.bytes == 0 && conn->tls == NULL);
    INVARIANT(conn->pending_count == 0);
    unlink_time(table, conn);
    give_input_back(table, conn);
    conn->open = false;
    table->open_count--;
    table->free[table->free_count++] = conn->index;
    INVARIANT(table->open_count + table->free_count == table->capacity);
    INVARIANT(table->spilled_count <= table->open_count);
}

/* Moves the input to its front. */
static void compact(struct conn_table *table, struct conn *conn)
{
    memmove(input_base(table, conn), conn_input(table, conn), conn_input_bytes(conn));
    conn->input_end -= conn->input_start;
    conn->input_start = 0;
}

bool conn_input_append(struct conn_table *table, struct conn *conn, const void *bytes, size_t count)
{
    uint32_t bound = conn->spilled ? CONN_INPUT_BYTES : CONN_INPUT_KEEP;
    if (count > bound - conn->input_end && conn->input_start > 0)
        compact(table, conn);
    if (count > CONN_INPUT_BYTES - conn->input_end)
        return false;
    if (!conn->spilled && conn->input_end + count > CONN_INPUT_KEEP && !spill(table, conn))
        return false;
    memcpy(input_base(table, conn) + conn->input_end, bytes, count);
    conn->input_end += (uint32_t)count;
    if (conn->input_end > conn->input_high)
        conn->input_high = conn->input_end;
    return true;
}

void conn_input_consume(struct conn_table *table, struct conn *conn, size_t count)
{
    INVARIANT(count <= conn_input_bytes(conn));
    conn->input_start += (uint32_t)count;
    if (conn->input_start == conn->input_end) {
        conn->input_start = 0;
        conn->input_end = 0;
        give_input_back(table, conn);
    } else if (conn->input_start > CONN_INPUT_KEEP / 2) {
        /* Moves the rest at most once for each half of the buffer that was used. */
        compact(table, conn);
    }
}

/* Makes it the last of the time-out. */
static void relink_time(struct conn_table *table, struct conn *conn, enum conn_time time)
{
    struct conn_list *list = &table->times[time];
    unlink_time(table, conn);
    conn->time = (uint8_t)time;
    conn->time_previous = list->tail;
    conn->time_next = CONN_NONE;
    if (list->tail == CONN_NONE)
        list->head = conn->index;
    else
        conn_at(table, list->tail)->time_next = conn->index;
    list->tail = conn->index;
}

void conn_time_start(struct conn_table *table, struct conn *conn, enum conn_time time,
                     uint64_t now_ns)
{
    const struct conn_list *list = &table->times[time];
    conn->deadline_ns = now_ns + time_ns[time];
    if (conn->time != time || list->tail != conn->index)
        relink_time(table, conn, time);
    if (time == CONN_TIME_IDLE || time == CONN_TIME_HEAD || time == CONN_TIME_BODY)
        crowd_hear(&table->crowd, conn);
}

struct conn *conn_time_expired(struct conn_table *table, uint64_t now_ns, enum conn_time *time)
{
    for (unsigned i = 0; i < CONN_TIMES; i++) {
        uint32_t index = table->times[i].head;
        if (index == CONN_NONE || conn_at(table, index)->deadline_ns > now_ns)
            continue;
        *time = (enum conn_time)i;
        unlink_time(table, conn_at(table, index));
        return conn_at(table, index);
    }
    return NULL;
}

struct conn *conn_time_oldest(const struct conn_table *table, enum conn_time time)
{
    uint32_t index = table->times[time].head;
    return index == CONN_NONE ? NULL : conn_at(table, index);
}

uint64_t conn_time_next_ns(const struct conn_table *table)
{
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < CONN_TIMES; i++) {
        uint32_t index = table->times[i].head;
        if (index != CONN_NONE && conn_at(table, index)->deadline_ns < next)
            next = conn_at(table, index)->deadline_ns;
    }
    return next;
}
