#include "net/response/sequence_wait.h"

#include "base/fair_share.h"
#include "base/query_message.h"

static enum sequence_wait_room room_for(const struct sequence_wait *wait, uint64_t address,
                                        uint64_t account_id)
{
    uint32_t of_address = 0, of_account = 0, free = SEQUENCE_WAIT_MAX - wait->count;

    for (uint32_t i = 0; i < wait->count; i++) {
        of_address += wait->waiters[i].address == address;
        of_account += wait->waiters[i].account_id == account_id;
    }
    if (free == 0)
        return SEQUENCE_WAIT_FULL;
    if (!fair_share_has_room(of_address, free))
        return SEQUENCE_WAIT_OF_ADDRESS;
    if (account_id != 0 && !fair_share_has_room(of_account, free))
        return SEQUENCE_WAIT_OF_ACCOUNT;
    return SEQUENCE_WAIT_ROOM;
}

enum sequence_wait_room sequence_wait_add(struct sequence_wait *wait, struct conn *conn,
                                          uint64_t account_id, uint64_t sequence, uint64_t now_ns)
{
    uint64_t address = conn->admin ? QUERY_ADMIN_ADDRESS : conn->address;
    enum sequence_wait_room room = room_for(wait, address, account_id);

    INVARIANT(!conn->waits_sequence);
    if (room != SEQUENCE_WAIT_ROOM)
        return room;
    wait->waiters[wait->count++] = (struct sequence_waiter){
        .sequence = sequence,
        .deadline_ns = now_ns + SEQUENCE_WAIT_NS,
        .address = address,
        .account_id = account_id,
        .conn = conn->index,
    };
    conn->waits_sequence = true;
    return SEQUENCE_WAIT_ROOM;
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
