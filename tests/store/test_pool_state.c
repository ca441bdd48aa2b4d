/* The preparation of a segment (segment_pool.h): zeros, then header and name, then the next one; it
 * may be given up anywhere. Every pair of states is tried, with and without an open file. */
#include "aborts.h"
#include "check.h"
#include "store/pool_state.h"

static const struct row {
    int line;
    const char *name;
    enum pool_state from, to;
} moves[] = {
    { __LINE__, "a file is opened", POOL_WAITING, POOL_ZEROING },
    { __LINE__, "none could be opened", POOL_WAITING, POOL_WAITING },
    { __LINE__, "all zeros are written", POOL_ZEROING, POOL_NAMING },
    { __LINE__, "a chunk could not be written", POOL_ZEROING, POOL_WAITING },
    { __LINE__, "it has its name, or could not get it", POOL_NAMING, POOL_WAITING },
};

struct attempt {
    enum pool_state from, to;
    bool has_file;
};

static void move(void *context)
{
    const struct attempt *attempt = context;
    enum pool_state state = attempt->from;
    pool_state_move(&state, attempt->to, attempt->has_file);
}

static bool is_listed(enum pool_state from, enum pool_state to)
{
    for (size_t i = 0; i < CC_COUNT(moves); i++)
        if (moves[i].from == from && moves[i].to == to)
            return true;
    return false;
}

int main(void)
{
    for (size_t i = 0; i < CC_COUNT(moves); i++) {
        const struct row *row = &moves[i];
        enum pool_state state = row->from;
        pool_state_move(&state, row->to, row->to != POOL_WAITING);
        CHECK_ROW(row, state == row->to);
    }
    for (unsigned from = 0; from <= POOL_STATE_COUNT; from++)
        for (unsigned to = 0; to <= POOL_STATE_COUNT; to++)
            for (int has_file = 0; has_file < 2; has_file++) {
                struct attempt attempt = { (enum pool_state)from, (enum pool_state)to,
                                           has_file != 0 };
                bool allowed = is_listed(attempt.from, attempt.to) &&
                               attempt.has_file == (attempt.to != POOL_WAITING);
                CHECK(aborts(move, &attempt) == !allowed);
            }
    return 0;
}
