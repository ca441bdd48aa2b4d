#include "net/response/sequence_wait.h"

#include "base/fair_share.h"
#include "base/query_message.h"

/* What decides about one more read of an address and an account. */
struct claim {
    uint32_t own;        /* the holder of the address; if it has none, one of nobody */
    uint32_t own_slots;  /* what it has */
    uint32_t most;       /* the holder with the most slots */
    uint32_t of_account; /* the slots of the account */
    uint32_t free;
};

static struct claim claim_of(const struct sequence_wait *wait, uint64_t address,
                             uint64_t account_id)
{
    struct claim claim = { .own = SEQUENCE_WAIT_MAX,
                           .free = SEQUENCE_WAIT_MAX - (wait->count - wait->given) };
    uint32_t nobody = 0;

    for (uint32_t i = 0; i < SEQUENCE_WAIT_MAX; i++) {
        const struct sequence_holder *holder = &wait->holders[i];
        if (holder->slots == 0)
            nobody = i;
        else if (holder->address == address)
            claim.own = i;
        if (holder->slots > wait->holders[claim.most].slots)
            claim.most = i;
    }
    if (claim.own != SEQUENCE_WAIT_MAX)
        claim.own_slots = wait->holders[claim.own].slots;
    else
        claim.own = nobody;
    for (uint32_t i = 0; i < wait->count; i++)
        claim.of_account += wait->waiters[i].account_id == account_id &&
                            wait->waiters[i].deadline_ns != SEQUENCE_WAIT_GIVEN;
    return claim;
}

static enum sequence_wait_room room_for(const struct claim *claim, uint64_t account_id)
{
    if (claim->free == 0)
        return SEQUENCE_WAIT_FULL;
    if (!fair_share_has_room(claim->own_slots, claim->free))
        return SEQUENCE_WAIT_OF_ADDRESS;
    if (account_id != 0 && !fair_share_has_room(claim->of_account, claim->free))
        return SEQUENCE_WAIT_OF_ACCOUNT;
    return SEQUENCE_WAIT_ROOM;
}

/* Ends the oldest wait of the holder, or, SEQUENCE_WAIT_MAX, of no account. False: none. */
static bool end_oldest(struct sequence_wait *wait, uint32_t holder)
{
    for (uint32_t i = 0; i < wait->count; i++) {
        struct sequence_waiter *waiter = &wait->waiters[i];
        if (waiter->deadline_ns == SEQUENCE_WAIT_GIVEN ||
            (holder != SEQUENCE_WAIT_MAX ? waiter->holder != holder : waiter->account_id != 0))
            continue;
        waiter->deadline_ns = SEQUENCE_WAIT_GIVEN;
        wait->holders[waiter->holder].slots--;
        wait->given++;
        return true;
    }
    return false;
}

/* Makes room for a read that has none. False: nobody has to give it. */
static bool displace(struct sequence_wait *wait, const struct claim *claim, uint64_t account_id)
{
    const uint32_t most = wait->holders[claim->most].slots;

    if (wait->count == CC_COUNT(wait->waiters))
        return false;
    if (2 * (claim->own_slots + 1) <= most &&
        (account_id == 0 || 2 * (claim->of_account + 1) <= most))
        return end_oldest(wait, claim->most);
    return most < 2 && account_id != 0 && claim->of_account == 0 && claim->own_slots == 0 &&
           end_oldest(wait, SEQUENCE_WAIT_MAX);
}

enum sequence_wait_room sequence_wait_add(struct sequence_wait *wait, struct conn *conn,
                                          uint64_t account_id, uint64_t sequence, uint64_t now_ns)
{
    uint64_t address = conn->admin ? QUERY_ADMIN_ADDRESS : conn->address;
    struct claim claim = claim_of(wait, address, account_id);
    enum sequence_wait_room room = room_for(&claim, account_id);

    INVARIANT(!conn->waits_sequence);
    if (room != SEQUENCE_WAIT_ROOM) {
        if (!displace(wait, &claim, account_id))
            return room;
        claim = claim_of(wait, address, account_id); /* nobody's row may just have come free */
    }
    if (wait->count == CC_COUNT(wait->waiters))
        return SEQUENCE_WAIT_FULL;
    wait->holders[claim.own].address = address;
    wait->holders[claim.own].slots++;
    wait->waiters[wait->count++] = (struct sequence_waiter){
        .sequence = sequence,
        .deadline_ns = now_ns + SEQUENCE_WAIT_NS,
        .account_id = account_id,
        .conn = conn->index,
        .holder = claim.own,
    };
    conn->waits_sequence = true;
    return SEQUENCE_WAIT_ROOM;
}

static void remove_at(struct sequence_wait *wait, struct conn *conn, uint32_t at)
{
    const struct sequence_waiter *waiter = &wait->waiters[at];

    if (waiter->deadline_ns == SEQUENCE_WAIT_GIVEN)
        wait->given--;
    else
        wait->holders[waiter->holder].slots--;
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
                            uint64_t now_ns, bool *given)
{
    for (uint32_t at = 0; at < wait->count; at++) {
        const struct sequence_waiter *waiter = &wait->waiters[at];
        uint32_t index = waiter->conn;
        if (waiter->sequence > durable && waiter->deadline_ns > now_ns)
            continue;
        *given = waiter->deadline_ns == SEQUENCE_WAIT_GIVEN;
        remove_at(wait, conn_at(conns, index), at);
        return index;
    }
    return CONN_NONE;
}

uint64_t sequence_wait_deadline_ns(const struct sequence_wait *wait)
{
    if (wait->count == 0)
        return UINT64_MAX;
    return wait->given != 0 ? 0 : wait->waiters[0].deadline_ns;
}
