/* tail.h - the frames of the log in order, as a standby takes them.
 *
 *   ranges from the next frame on, page by page ──> one watch after the first page's revision
 *        every row into its slot ───> tail_next: the next one, once its whole revision has come
 *
 * A frame after a gap waits; if the log drops it, it is dropped here. tail_finish ends the watch
 * and reads what there is now: after it tail_next gives the rest, and tail_is_finished says that
 * the contiguous log ends there. The caller checks that each frame follows the one before.
 *
 * Wait.   Nothing blocks.
 * Owner.  One thread. Bytes that tail_next gives stay until tail_pop or tail_done.
 * Bound.  TAIL_FRAMES_MAX frames and TAIL_BYTES_MAX bytes are held; more end the watch, and ranges
 *         begin again when they are taken. */
#ifndef REPL_TAIL_H
#define REPL_TAIL_H

#include "repl/repl_key.h"

enum {
    TAIL_FRAMES_MAX = 1024,    /* a power of two */
    TAIL_BYTES_MAX = 8 << 20,  /* beyond it nothing more is asked for */
    TAIL_PAGE_ROWS = 32,       /* of 64 KiB; fewer once a page was too large, more of short ones */
    TAIL_PAGE_ROWS_MAX = 256,  /* as an answer of etcd may have */
    TAIL_PAGE_BYTES = 1 << 20, /* about */
    TAIL_GAP_MAX = 16          /* frames: as many as a leader sends before the first has landed */
};

#define TAIL_RETRY_NS UINT64_C(100000000)

/* clang-format off */
/*    state      may become */
#define TAIL_STATE_LIST(X)                                                                         \
    /* begins with a range in the next step */                                                     \
    X(IDLE,     TO(IDLE) | TO(READS) | TO(WATCHES) | TO(FINISHED) | TO(GONE) | TO(FAILED))         \
    X(READS,    TO(IDLE) | TO(FAILED)) /* a range is asked for */                                  \
    X(WATCHES,  TO(IDLE) | TO(FAILED))                                                             \
    X(FINISHED, TO(IDLE)) /* nothing more comes */                                                 \
    /* the next frame is not in etcd, and one that a leader sent later is */                       \
    X(GONE,     0)                                                                                 \
    X(FAILED,   0) /* `text` */
/* clang-format on */

enum tail_state {
#define X(name, next) TAIL_##name,
    TAIL_STATE_LIST(X)
#undef X
        TAIL_STATE_COUNT
};

struct tail_frame {
    uint8_t *bytes; /* NULL: none */
    size_t count;
    uint64_t number;
};

struct tail {
    struct etcd *etcd;
    const char *cluster; /* outlives it */
    uint64_t next;       /* frame that tail_next gives next */
    enum tail_state state;
    const char *text;
    bool finishes;      /* tail_finish was called */
    bool is_whole;      /* no row of a revision is outstanding */
    int64_t revision;   /* of the first page; 0: none yet */
    uint64_t page_from; /* first frame of the page that is asked for */
    bool has_gap;       /* the first page does not begin with the next frame */
    uint32_t page_rows;
    uint32_t rows_max; /* of a page: less once an answer was too large */
    uint64_t tag;      /* of the request under way: the newest; older ones are ignored */
    uint64_t again_ns; /* not before it; 0: at once */
    size_t held_bytes;
    uint32_t held;
    struct tail_frame frames[TAIL_FRAMES_MAX]; /* frame n at n modulo their number */
};

/* Begins after the frame `last`. */
void tail_begin(struct tail *tail, struct etcd *etcd, const char *cluster, uint64_t last);

/* Frees what is held, and gives up the request under way. */
void tail_end(struct tail *tail);

/* Asks for what is to be asked for. */
void tail_step(struct tail *tail, uint64_t now_ns);

/* Accepts an answer of REPL_TAIL. */
void tail_done(struct tail *tail, const struct etcd_done *done, uint64_t now_ns);

/* Gives the next frame of the log: true with *bytes and *count; false: it is not there yet. The
 * same frame again until tail_pop. */
CC_MUST_USE bool tail_next(struct tail *tail, const uint8_t **bytes, size_t *count);
void tail_pop(struct tail *tail);

/* This node was elected: read to the end of what is there. */
void tail_finish(struct tail *tail);
CC_MUST_USE bool tail_is_finished(const struct tail *tail);

/* Whether every frame that counts, as far as was seen, was given while the watch goes on. Frames
 * after a gap may be there: a leader that died left them. */
CC_MUST_USE bool tail_is_at_end(const struct tail *tail);

#endif
