/* follower.h - the role that serves: applies durable commands to its own engine, answers queries.
 *
 *   journal ── durable records ──> follower_step ──> replica engine, history
 *   net thread ── query ring ──>        │ applied >= stamp
 *   net thread <── reply ring ──────────┤ rows in a pool buffer
 *                     put aside <───────┘ not finished in this turn: continues in the next
 *
 * Order.  A query begins when applied >= its stamp, so that a read sees everything that was durable
 *         when it was received. Queries of a ring begin in order. A query that needs more rows than
 *         a turn allows is put aside and later ones go on: replies may overtake it.
 * Wait.   follower_step blocks only to read a segment file, after the journal buffer overran it.
 *         The matcher never waits for it: while it lags by more than the bound, queries get 503.
 * Bound.  At most FOLLOWER_ASIDE_MAX queries of a link are aside, so that half of its buffers stay
 *         free for others, of each address fewer than half as many as slots are left before; one
 *         more gets not_ready. A turn visits FOLLOWER_ROWS_A_TURN rows, about
 *         half of them for queries put aside, and FOLLOWER_ROWS_SPARE more for queries that begin
 *         after these are used up. A step visits QUERY_TASK_ROWS_A_TURN, while records come
 *         FOLLOWER_ROWS_A_QUERY, and none begins behind FOLLOWER_IDLE_NS or FOLLOWER_BUSY_NS, but
 *         the first of each ring
 *         and of each link's queries put aside. What is left in the rings begins in the next turn.
 *         The positions of an account are made in one turn; what they cost beyond those rows ends
 *         the turn.
 * Owner.  One thread, which owns the replica engine and its history. `applied` and the other
 *         atomics are read by any thread. */
#ifndef NODE_SERVE_FOLLOWER_H
#define NODE_SERVE_FOLLOWER_H

#include "base/clock.h"
#include "base/published.h"
#include "base/reply_pool.h"
#include "base/ring.h"
#include "base/row.h"
#include "engine/engine.h"
#include "node/history/history.h"
#include "node/match/alarm.h"
#include "node/query/query.h"
#include "node/query/query_frames.h"
#include "node/recover/rebuild.h"
#include "node/recover/slice_fold.h"
#include "node/serve/book_writer.h"
#include "node/serve/head_maker.h"
#include "node/serve/restart_bound.h"
#include "store/follow.h"

enum {
    FOLLOWER_LINKS_MAX = 64,
    FOLLOWER_COMMANDS_A_TURN = 256 + 64, /* the matcher's, and 64 to catch up: perpd's budget; the
                                            simulator uses less */
    FOLLOWER_QUERIES_A_TURN = 64,
    FOLLOWER_ROWS_A_TURN = 4 * QUERY_TASK_ROWS_A_TURN,
    FOLLOWER_ROWS_A_QUERY = 1000, /* least number for a new query */
    FOLLOWER_ROWS_SPARE = 40 * FOLLOWER_ROWS_A_QUERY,
    FOLLOWER_ASIDE_MAX = REPLY_BUFFERS / 2,
};

#define FOLLOWER_BUSY_NS     UINT64_C(200000)   /* for queries of a turn while records come ... */
#define FOLLOWER_BUSY_FOR_NS UINT64_C(10000000) /* ... and for so long after the last */
#define FOLLOWER_IDLE_NS     UINT64_C(1000000)

/* Rings to and from one net thread and its reply buffers. */
struct follower_link {
    struct ring *queries;
    struct ring *replies;
    struct reply_pool *pool;
};

/* Queries of one link that take several turns, the next to continue first. */
struct follower_aside {
    uint32_t count;
    struct query_task tasks[FOLLOWER_ASIDE_MAX];
};

struct follower_counters {
    struct published commands;
    struct published queries;
    struct published lagging;  /* queries refused because it lagged */
    struct published aside;    /* queries put aside */
    struct published given_up; /* queries refused because too many were aside */
    struct published hashes;   /* records 2015 compared */
};

struct follower {
    struct engine *engine;
    struct query_frames frames; /* of the journal; all zeros: not served */
    _Atomic bool *tick_wanted;  /* the matcher's, set by queries; NULL: there is none */
    struct follow *follow;
    const struct journal *journal;
    const struct clock *clock;
    struct mix_key key;
    struct history_sink sink;
    struct adl_rank *ranks;
    struct pairing_table pairings;
    const struct head_log *head_log; /* that reads show; NULL: none */
    uint64_t lag_max_ns;
    uint64_t began_ns; /* node clock: its lag does not count the time before */
    int commands_a_turn;
    struct follower_link links[FOLLOWER_LINKS_MAX];
    struct follower_aside *aside; /* [FOLLOWER_LINKS_MAX] */
    uint32_t link_count;
    uint32_t link_next; /* the link that is served first */
    struct rebuild_buffer rebuilt;
    struct book_writer books;
    struct head_maker heads;    /* makes none until it is given frames */
    struct slice_fold fold;     /* a snapshot in the place of a child's; all zeros: none is made */
    struct restart_bound bound; /* of a start; estimates nothing until it is given a snapshot */
    struct follower_counters counters;
    struct exchange_counters exchange_counters;
    uint64_t marked_ns;     /* clock_monotonic_ns of the last mark of the history */
    uint64_t marked;        /* its sequence */
    uint64_t answer_end_ns; /* clock_monotonic_ns: no query begins a step after it in this turn */
    uint64_t busy_until_ns; /* likewise: records have come lately */
    uint32_t slice_rows;    /* of a query's step in this turn */
    struct watch watch;     /* of I7, I8 and I10 */
    bool watches_command;   /* I10 of the next command: it follows a checkpoint */
    _Atomic uint64_t applied;
    _Atomic uint64_t applied_time_ns;
    _Atomic uint32_t invariants_failed; /* bit k - 1: I<k> of R2 failed */
    struct alarm_box alarm;             /* failures that the matcher must act on */
    _Atomic bool diverged;              /* a 2015 differed: the process must end */
    struct hash_vote *vote;             /* of a cluster; NULL: none */
    bool has_shown_hash;                /* there, in this turn */
};

/* Takes over `engine` as recovery left it, and the sink that recovery used, which holds the history
 * so far. `follow` reads the records after that. 0 or -ENOMEM. */
CC_MUST_USE int follower_init(struct follower *follower, struct engine *engine,
                              struct follow *follow, const struct journal *journal,
                              const struct clock *clock, struct mix_key key, uint64_t lag_max_ns,
                              int commands_a_turn);

/* Frees what follower_init allocated, and the history. Works in every state after zeroing. */
void follower_free(struct follower *follower);

/* Adds the rings of a net thread, which outlive the follower. Before the first step. */
void follower_link_add(struct follower *follower, const struct follower_link *link);

/* After the last turn, any thread: writes what is left of the history, durably. The rows or
 * -errno. */
CC_MUST_USE int follower_end_history(struct follower *follower);

/* One turn: records, then queries. Returns the work done; -EBADMSG if the replica differs from the
 * journal's effects_hash or a segment is damaged; -errno if it cannot be read. */
CC_MUST_USE int follower_step(struct follower *follower);

/* The lag while a durable record is not applied, else 0: node clock minus the applied t, or minus
 * its own beginning if nothing was applied since. */
uint64_t follower_lag_ns(const struct follower *follower);

#endif
