/* A node's part in an election (elect_state.h; replication.md, Session and election): without a
 * lease it has no part, it leads after it stood only, and what it lost it does not get back. Every
 * pair of states is tried, with and without a lease. */
#include "aborts.h"
#include "check.h"
#include "repl/elect_state.h"

static const struct row {
    int line;
    const char *name;
    enum elect_state from, to;
} moves[] = {
    { __LINE__, "a lease is granted", ELECT_SESSION, ELECT_FOLLOWS },
    { __LINE__, "the lease ended while it followed", ELECT_FOLLOWS, ELECT_SESSION },
    { __LINE__, "nobody leads", ELECT_FOLLOWS, ELECT_STANDS },
    { __LINE__, "the lease ended in the election", ELECT_STANDS, ELECT_SESSION },
    { __LINE__, "another leads, or it gave up", ELECT_STANDS, ELECT_FOLLOWS },
    { __LINE__, "it won", ELECT_STANDS, ELECT_ELECTED },
    { __LINE__, "it gives the lead away", ELECT_ELECTED, ELECT_HANDS },
    { __LINE__, "its key or its lease is gone", ELECT_ELECTED, ELECT_LOST },
    { __LINE__, "the lead is given", ELECT_HANDS, ELECT_FOLLOWS },
    { __LINE__, "another took it before", ELECT_HANDS, ELECT_LOST },
    { __LINE__, "etcd or the data refuse", ELECT_SESSION, ELECT_FAILED },
    { __LINE__, "likewise", ELECT_FOLLOWS, ELECT_FAILED },
    { __LINE__, "likewise", ELECT_STANDS, ELECT_FAILED },
    { __LINE__, "likewise", ELECT_ELECTED, ELECT_FAILED },
    { __LINE__, "likewise", ELECT_HANDS, ELECT_FAILED },
    { __LINE__, "the answer that told of the loss also tells of damage", ELECT_LOST, ELECT_FAILED },
    { __LINE__, "a second reason", ELECT_FAILED, ELECT_FAILED },
};

struct attempt {
    enum elect_state from, to;
    bool has_lease;
};

static void move(void *context)
{
    const struct attempt *attempt = context;
    enum elect_state state = attempt->from;
    elect_state_move(&state, attempt->to, attempt->has_lease);
}

static bool is_listed(enum elect_state from, enum elect_state to)
{
    for (size_t i = 0; i < CC_COUNT(moves); i++)
        if (moves[i].from == from && moves[i].to == to)
            return true;
    return false;
}

/* A final state may still have the lease, or not. */
static bool fits(enum elect_state state, bool has_lease)
{
    return state == ELECT_LOST || state == ELECT_FAILED || has_lease == (state != ELECT_SESSION);
}

int main(void)
{
    for (size_t i = 0; i < CC_COUNT(moves); i++) {
        const struct row *row = &moves[i];
        enum elect_state state = row->from;
        elect_state_move(&state, row->to, row->to != ELECT_SESSION);
        CHECK_ROW(row, state == row->to);
    }
    for (unsigned from = 0; from <= ELECT_STATE_COUNT; from++)
        for (unsigned to = 0; to <= ELECT_STATE_COUNT; to++)
            for (int has_lease = 0; has_lease < 2; has_lease++) {
                struct attempt attempt = { (enum elect_state)from, (enum elect_state)to,
                                           has_lease != 0 };
                bool allowed =
                    is_listed(attempt.from, attempt.to) && fits(attempt.to, attempt.has_lease);
                CHECK(aborts(move, &attempt) == !allowed);
            }
    return 0;
}
