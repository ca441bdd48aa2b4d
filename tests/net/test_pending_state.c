/* The moves of a request in flight, written down by hand: every pair of states. A move that is
 * allowed is made, by a request that fits, and every other one aborts; so does an allowed one of a
 * request that does not fit the state. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "net/conn/pending.h"

static const struct row {
    int line;
    const char *name;
    enum pending_state state;
    const char *next;  /* space after each word */
    const char *kinds; /* that a request in the state can be of */
    const char *conn;  /* "yes", "no", or "any": whether its connection is there */
} rows[] = {
#define R(state, next, kinds, conn)                          \
    {                                                        \
        __LINE__, #state, PENDING_##state, next, kinds, conn \
    }
    R(FREE, "QUEUED HELD DONE ", "WRITE READ LOCAL PROBLEM ", "no"),
    R(QUEUED, "SENT DONE FREE ", "WRITE ", "any"),
    R(SENT, "DONE HELD FREE ", "WRITE ", "any"),
    R(HELD, "CREDIT ASKED DONE FREE ", "READ LOCAL ", "yes"),
    R(CREDIT, "ASKED DONE FREE ", "READ ", "yes"),
    R(ASKED, "DONE FREE ", "READ ", "any"),
    R(DONE, "FREE ", "WRITE READ LOCAL PROBLEM ", "yes"),
#undef R
};

static const char *const kind_names[] = { "WRITE ", "READ ", "LOCAL ", "PROBLEM " };

/* No word of the lists is the end of another. */
static bool names(const char *list, const char *word)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%s ", word);
    return strstr(list, text) != NULL;
}

/* Whether pending_move comes back from the move. */
static bool moves(enum pending_state from, enum pending_state to, enum pending_kind kind,
                  bool has_conn)
{
    struct pending pending = { .state = (uint8_t)from,
                               .kind = (uint8_t)kind,
                               .conn = has_conn ? 0 : CONN_NONE };
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)fclose(stderr); /* what an invariant says when it fails */
        pending_move(&pending, to);
        _exit(pending.state == to ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT : WEXITSTATUS(status) == 0);
    return WIFEXITED(status);
}

static void moves_are_those_of_the_table(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++)
        for (size_t j = 0; j < CC_COUNT(rows); j++) {
            const struct row *from = &rows[i], *to = &rows[j];
            bool may = names(from->next, to->name);
            CHECK_ROW(from, pending_state_may_become(from->state, to->state) == may);
            for (unsigned kind = 0; kind < PENDING_KINDS; kind++) {
                bool fits = strstr(to->kinds, kind_names[kind]) != NULL;
                CHECK_ROW(from, moves(from->state, to->state, kind, true) ==
                                    (may && fits && strcmp(to->conn, "no") != 0));
                CHECK_ROW(from, moves(from->state, to->state, kind, false) ==
                                    (may && fits && strcmp(to->conn, "yes") != 0));
            }
        }
}

/* The pool's own moves, from an empty slot to an empty slot. */
static void the_pool_moves_too(void)
{
    static struct pending_pool pool;
    struct conn conn = { .index = 0, .pending_head = PENDING_NONE, .pending_tail = PENDING_NONE };
    CHECK(pending_pool_init(&pool, 2) == 0);
    struct pending *write = pending_add(&pool, &conn, PENDING_WRITE, PENDING_QUEUED);
    struct pending *read = pending_add(&pool, &conn, PENDING_READ, PENDING_HELD);
    CHECK(!pending_available(&pool) && conn.pending_count == 2);
    pending_move(write, PENDING_SENT);
    uint64_t token = pending_token(&pool, write);
    CHECK(pending_of(&pool, token) == write);
    pending_move(write, PENDING_DONE);
    pending_remove_first(&pool, &conn);
    CHECK(write->state == PENDING_FREE && pool.used == 1);
    pending_move(read, PENDING_CREDIT);
    pending_move(read, PENDING_ASKED);
    pending_move(read, PENDING_DONE);
    pending_remove_first(&pool, &conn);
    CHECK(read->state == PENDING_FREE && pool.used == 0 && conn.pending_count == 0);
    pending_pool_free(&pool);
}

int main(void)
{
    CHECK(CC_COUNT(rows) == PENDING_STATE_COUNT && CC_COUNT(kind_names) == PENDING_KINDS);
    moves_are_those_of_the_table();
    the_pool_moves_too();
    return 0;
}
