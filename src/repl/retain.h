/* retain.h - the leader's keeping of the log in bounds: which segments the vault has, and the
 * deletion of the frames that it has (replication.md, Retention).
 *
 *   segment sealed ──> vault ──retain_offer──> { leader is mine } put segment/<n>
 *   segment/<n> + `keep` bytes below the end ──> { leader is mine } delete log/ to its last frame
 *                                            ──> compact
 *
 * Order.  A frame goes only when the pointer of its segment is put. The newest RETAIN_FRAMES_MIN
 *         frames stay whatever they hold: a reader tells by them that its next frame is gone.
 * Wait.   Nothing blocks; one request is in flight. A refusal is asked again later, and what is not
 *         deleted stays: nothing depends on it but etcd's size.
 * Owner.  One thread. */
#ifndef REPL_RETAIN_H
#define REPL_RETAIN_H

#include "repl/cluster_row.h"
#include "repl/repl_key.h"

enum {
    RETAIN_FRAMES_MIN = 64, /* above TAIL_GAP_MAX */
    RETAIN_A_TIME = 512     /* frames that one transaction deletes */
};

#define RETAIN_RETRY_NS UINT64_C(1000000000)

/* clang-format off */
/*    state      may become */
#define RETAIN_STATE_LIST(X)                                                                       \
    X(LOWEST,   TO(SEGMENTS)) /* which is the lowest frame of the log? */                          \
    X(SEGMENTS, TO(RESTS)) /* which segments has the vault? */                                     \
    X(RESTS,    TO(PUTS) | TO(LOOKS) | TO(DELETES))                                                \
    X(PUTS,     TO(RESTS)) /* a pointer */                                                         \
    X(LOOKS,    TO(RESTS)) /* at the pointer of the next segment to go */                          \
    X(DELETES,  TO(COMPACTS)) /* its frames */                                                     \
    X(COMPACTS, TO(RESTS))
/* clang-format on */

enum retain_state {
#define X(name, next) RETAIN_##name,
    RETAIN_STATE_LIST(X)
#undef X
        RETAIN_STATE_COUNT
};

struct retain {
    struct etcd *etcd;
    const char *cluster; /* outlives it */
    int64_t epoch;
    uint64_t keep_bytes;
    enum retain_state state;
    bool is_asked;     /* the state's request is in flight */
    uint64_t again_ns; /* not before it */
    uint64_t tag;
    uint64_t page_from;            /* segment */
    uint64_t lowest;               /* frame of the log, or below it; 0: not known */
    bool has_newest;               /* a segment is in the vault */
    struct cluster_segment newest; /* the last one that has a pointer */
    bool is_offered;
    struct cluster_segment offer;
    uint64_t low;                /* no frame of a lower segment is in the log */
    struct cluster_segment goes; /* of DELETES and COMPACTS */
    int64_t revision;
    uint64_t deleted; /* frames, for metrics */
};

/* Begins a term; `keep_bytes` of frames stay below the newest segment of the vault. */
void retain_begin(struct retain *retain, struct etcd *etcd, const char *cluster, int64_t epoch,
                  uint64_t keep_bytes);

/* Ends the term: gives up what is asked. */
void retain_end(struct retain *retain);

/* Whether it is known which segments the vault has, and no offer is under way. */
CC_MUST_USE bool retain_wants(const struct retain *retain);

/* The segment after the newest is in the vault, whole and read back. segment->log_bytes is of its
 * own frames. False: it does not follow the newest. */
CC_MUST_USE bool retain_offer(struct retain *retain, const struct cluster_segment *segment);

/* `landed`: the last frame that counts. */
void retain_step(struct retain *retain, uint64_t landed, uint64_t now_ns);

/* Takes an answer of REPL_RETAIN. */
void retain_done(struct retain *retain, const struct etcd_done *done, uint64_t now_ns);

#endif
