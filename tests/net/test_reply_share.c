/* Who gets a reply buffer (roles.md, Flow control): an address while it holds less than half as
 * many as are free; reads that wait go in turn by address, and in order within one. First by hand,
 * then a long random run against a plain list that is searched anew each time. */
#include <stdlib.h>

#include "check.h"
#include "net/conn/reply_share.h"

enum { CONNS = 64, READS = 512, ALL = 77, STEPS = 6000 };

static struct reply_share share;
static struct pending_pool pool;
static struct conn conns[CONNS];

static void begin(uint32_t buffers)
{
    CHECK(pending_pool_init(&pool, READS) == 0);
    CHECK(reply_share_init(&share, CONNS, buffers, (struct mix_key){ 3, 5 }) == 0);
    for (uint32_t i = 0; i < CONNS; i++)
        conns[i] = (struct conn){ .open = true,
                                  .index = i,
                                  .pending_head = PENDING_NONE,
                                  .pending_tail = PENDING_NONE,
                                  .address = i };
}

static void end(void)
{
    CHECK(share.held == 0 && share.oldest == PENDING_NONE && share.turn_head == PENDING_NONE);
    reply_share_free(&share);
    pending_pool_free(&pool);
}

static struct pending *new_read(uint32_t conn)
{
    struct pending *pending = pending_add(&pool, &conns[conn], PENDING_READ, PENDING_HELD);
    conns[conn].pending_head = PENDING_NONE; /* the lists of connections are not asked for here */
    conns[conn].pending_tail = PENDING_NONE;
    conns[conn].pending_count = 0;
    return pending;
}

/* Takes as many as the address may have; *last is its last one. */
static uint32_t take_all(uint32_t conn, struct pending **last)
{
    uint32_t count = 0;
    struct pending *pending = new_read(conn);
    while (reply_share_claim(&share, &conns[conn], pending)) {
        *last = pending;
        pending = new_read(conn);
        count++;
    }
    pending_free(&pool, pending);
    return count;
}

static struct pending *wait_one(uint32_t conn)
{
    struct pending *pending = new_read(conn);
    CHECK(!reply_share_claim(&share, &conns[conn], pending));
    reply_share_wait(&share, &pool, &conns[conn], pending);
    return pending;
}

static void give(struct pending *pending)
{
    reply_share_release(&share, pending);
    pending_free(&pool, pending);
}

/* 64 buffers: 22 + 14 + 10 + 6 + 4 + 3 + 2 + 1 + 1 + 1 = 64; each number is the least h with
 * 2 h >= free - h, free being what those before left. */
static void by_hand(void)
{
    static const uint32_t shares[] = { 22, 14, 10, 6, 4, 3, 2, 1, 1, 1 };
    struct pending *held[CC_COUNT(shares)];
    begin(1000); /* no more than there are */
    for (uint32_t i = 0; i < CC_COUNT(shares); i++)
        CHECK(take_all(i, &held[i]) == shares[i]);
    CHECK(share.held == REPLY_BUFFERS);

    /* All are taken. Two of the greedy 0 wait, then one each of 20 and 21, who have none. */
    struct pending *first = wait_one(0), *second = wait_one(0);
    struct pending *newcomer = wait_one(20), *other = wait_one(21);
    CHECK(reply_share_next(&share, &pool) == NULL);
    give(held[0]); /* one is free, and 0 still holds 21: others go first */
    CHECK(reply_share_next(&share, &pool) == newcomer);
    reply_share_accept(&share, &pool, newcomer);
    CHECK(reply_share_next(&share, &pool) == NULL);
    give(held[1]);
    CHECK(reply_share_next(&share, &pool) == other);
    CHECK(reply_share_oldest(&share, &pool) == first);
    reply_share_leave(&share, &pool, first); /* it has waited too long */
    pending_free(&pool, first);
    CHECK(reply_share_oldest(&share, &pool) == second);
    reply_share_leave(&share, &pool, other); /* its connection closes */
    pending_free(&pool, other);
    CHECK(reply_share_next(&share, &pool) == NULL);
    reply_share_leave(&share, &pool, second);
    pending_free(&pool, second);
    CHECK(reply_share_oldest(&share, &pool) == NULL);

    /* What is free now goes to none that holds more than its share, and to a newcomer at once. */
    CHECK(take_all(0, &first) == 0 && take_all(2, &second) == 0);
    struct pending *last = new_read(40);
    CHECK(reply_share_claim(&share, &conns[40], last));
    for (uint32_t i = 0; i < pool.touched; i++)
        if (pool.items[i].share != PENDING_NONE)
            give(&pool.items[i]);
    end();
}

/* admin.listen counts as one address, whichever its clients have. */
static void admin(void)
{
    struct pending *last;
    begin(REPLY_BUFFERS);
    conns[1].address = 5;
    conns[2].address = 5;
    conns[2].admin = true;
    CHECK(take_all(1, &last) == 22 && take_all(2, &last) == 14);
    conns[3].address = 6;
    conns[3].admin = true;
    CHECK(take_all(3, &last) == 0);
    for (uint32_t i = 0; i < pool.touched; i++)
        if (pool.items[i].share != PENDING_NONE)
            give(&pool.items[i]);
    end();
}

/* ---- against a list -------------------------------------------------------------------------- */

static struct row {
    struct pending *pending; /* NULL: unused */
    uint64_t since;          /* it waits, in this order; 0: it holds a buffer */
    uint32_t address;
} rows[READS];

static uint64_t turns[CONNS]; /* when an address last joined the end of the turns */
static uint64_t now;

static uint32_t held_of(uint32_t address)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < READS; i++)
        held += rows[i].pending != NULL && rows[i].since == 0 &&
                (address == ALL || rows[i].address == address);
    return held;
}

static struct row *first_of(uint32_t address)
{
    struct row *first = NULL;
    for (uint32_t i = 0; i < READS; i++)
        if (rows[i].pending != NULL && rows[i].since != 0 &&
            (address == ALL || rows[i].address == address) &&
            (first == NULL || rows[i].since < first->since))
            first = &rows[i];
    return first;
}

static bool may(uint32_t address)
{
    return 2 * held_of(address) < REPLY_BUFFERS - held_of(ALL);
}

static struct row *next_by_list(void)
{
    uint32_t best = CONNS;
    for (uint32_t address = 0; address < CONNS; address++)
        if (first_of(address) != NULL && may(address) &&
            (best == CONNS || turns[address] < turns[best]))
            best = address;
    return best == CONNS ? NULL : first_of(best);
}

static void add(struct row *row, uint32_t conn)
{
    *row = (struct row){ .pending = new_read(conn), .address = (uint32_t)conns[conn].address };
    bool waits = first_of(row->address) != NULL;
    row->since = ++now; /* it holds none while we ask */
    bool takes = !waits && may(row->address);
    CHECK(reply_share_claim(&share, &conns[conn], row->pending) == takes);
    if (takes) {
        row->since = 0;
        return;
    }
    reply_share_wait(&share, &pool, &conns[conn], row->pending);
    if (!waits)
        turns[row->address] = now;
}

static void remove_row(struct row *row)
{
    if (row->since == 0)
        reply_share_release(&share, row->pending);
    else
        reply_share_leave(&share, &pool, row->pending);
    pending_free(&pool, row->pending);
    row->pending = NULL;
}

static void look(bool accept)
{
    struct row *next = next_by_list(), *oldest = first_of(ALL);
    CHECK(reply_share_next(&share, &pool) == (next == NULL ? NULL : next->pending));
    CHECK(reply_share_oldest(&share, &pool) == (oldest == NULL ? NULL : oldest->pending));
    CHECK(share.held == held_of(ALL));
    if (!accept || next == NULL)
        return;
    reply_share_accept(&share, &pool, next->pending);
    next->since = 0;
    turns[next->address] = ++now;
}

static void at_random(void)
{
    begin(REPLY_BUFFERS);
    srandom(1);
    for (uint32_t i = 0; i < CONNS; i++)
        conns[i].address = i / 4; /* 16 addresses */
    for (uint32_t step = 0; step < STEPS; step++) {
        struct row *row = &rows[(uint32_t)random() % READS];
        bool grows = step / 1000 % 2 == 0; /* full and empty in turn */
        uint32_t conn = random() % 3 == 0 ? (uint32_t)random() % 4 : (uint32_t)random() % CONNS;
        if (row->pending == NULL)
            add(row, conn);
        else if (!grows || random() % 4 == 0)
            remove_row(row);
        look(random() % 2 == 0);
    }
    for (uint32_t i = 0; i < READS; i++)
        if (rows[i].pending != NULL)
            remove_row(&rows[i]);
    CHECK(pool.used == 0);
    end();
}

int main(void)
{
    by_hand();
    admin();
    at_random();
    return 0;
}
