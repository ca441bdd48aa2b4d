#include "net/response/sequence_wait.h"

bool sequence_wait_add(struct sequence_wait *wait, struct conn *conn, uint64_t sequence,
                       uint64_t now_ns)
{
    uint32_t of_address = 0;
    INVARIANT(!conn->waits_sequence);
    if (wait->count == SEQUENCE_WAIT_MAX)
        return false;
    for (uint32_t i = 0; i < wait->count; i++)
        of_address += wait->waiters[i].address == conn->address;
    if (of_address >= SEQUENCE_WAIT_ADDRESS_MAX)
        return false;
    wait->waiters[wait->count++] = (struct sequence_waiter){
        .sequence = sequence,
        .deadline_ns = now_ns + SEQUENCE_WAIT_NS,
        .address = conn->address,
        .conn = conn->index,
    };
    conn->waits_sequence = true;
    return true;
}

static void remove_at(struct sequence_wait *wait, struct conn *conn, uint32_t at)
{
    wait->count--;
    memmove(&wait->waiters[at], &wait->waiters[at + 1],
            (wait->count - at) * sizeof wait->waiters[0]);
    conn->waits_sequence = false;
}

void sequence_wait_remove(struct sequence_wait *wait, struct conn *conn)
{
    uint32_t at = 0;
    if (!conn->waits_sequence)
        return;
    while (at < wait->count && wait->waiters[at].conn != conn->index)
        at++;
    INVARIANT(at < wait->count);
    remove_at(wait, conn, at);
}

uint32_t sequence_wait_next(struct sequence_wait *wait, struct conn_table *conns, uint64_t durable,
                            uint64_t now_ns)
{
    for (uint32_t at = 0; at < wait->count; at++) {
        const struct sequence_waiter *waiter = &wait->waiters[at];
        uint32_t index = waiter->conn;
        if (waiter->sequence > durable && waiter->deadline_ns > now_ns)
            continue;
        remove_at(wait, conn_at(conns, index), at);
        return index;
    }
    return CONN_NONE;
}

uint64_t sequence_wait_deadline_ns(const struct sequence_wait *wait)
{
    return wait->count == 0 ? UINT64_MAX : wait->waiters[0].deadline_ns;
}
