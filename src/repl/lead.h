/* lead.h - the leader's writes to the log: each frame put once, under the fence of the epoch.
 *
 *   lead_send(n) ──> { leader is mine, log/n is not there } put log/n   else: read both
 *   lead_done()  <── landed │ log/n holds my bytes: landed │ anything else: the fence is lost
 *
 * The first frame of a term deletes, in the same transaction, what lies after it: frames of
 * leaders before that landed after a gap. So nothing is sent after it before it has landed.
 *
 * Order.  Frames land in any order; they count in the contiguous prefix only (lead.landed).
 * Wait.   Nothing blocks. A request is asked until it is answered; with `no space` again after
 *         LEAD_SPACE_RETRY_NS.
 * Owner.  One thread. The bytes of a frame are the caller's, and stay until it has landed.
 * Bound.  LEAD_FRAMES_MAX frames. */
#ifndef REPL_LEAD_H
#define REPL_LEAD_H

#include "base/histogram.h"
#include "repl/repl_key.h"

enum { LEAD_FRAMES_MAX = 16 };

#define LEAD_SPACE_RETRY_NS UINT64_C(1000000000)

/* clang-format off */
/*    state      may become */
#define LEAD_STATE_LIST(X)                                                                         \
    X(GOES,   TO(LOST) | TO(FAILED))                                                               \
    X(LOST,   0) /* another leads, or nobody: nothing more is sent, for ever */                    \
    X(FAILED, 0) /* etcd refuses this client: `text` */
/* clang-format on */

enum lead_state {
#define X(name, next) LEAD_##name,
    LEAD_STATE_LIST(X)
#undef X
        LEAD_STATE_COUNT
};

struct lead_frame {
    const uint8_t *bytes; /* NULL: none in this slot */
    size_t count;
    uint64_t number;
    uint64_t sent_ns;  /* first */
    uint64_t again_ns; /* there was no space: when it is sent again; 0: it is in flight */
    bool has_landed;
};

struct lead {
    struct etcd *etcd;
    const char *cluster; /* outlives it */
    int64_t epoch;
    uint64_t first;  /* frame of the term */
    uint64_t landed; /* the last of the contiguous prefix */
    enum lead_state state;
    const char *text;
    uint64_t found_there;      /* retries whose frame was in the log already */
    struct histogram *commits; /* gets the time from the sending of each frame until it counts, ns;
                                  NULL: nobody asks. Set after lead_begin */
    struct lead_frame frames[LEAD_FRAMES_MAX]; /* frame n at n modulo their number */
};

/* Begins a term: the log ends with the frame `last`. */
void lead_begin(struct lead *lead, struct etcd *etcd, const char *cluster, int64_t epoch,
                uint64_t last);

/* Sends the next frame. True, or false while there is no slot, or the first of the term has not
 * landed: ask again later. */
CC_MUST_USE bool lead_send(struct lead *lead, const uint8_t *bytes, size_t count, uint64_t number,
                           uint64_t now_ns);

/* Takes an answer of REPL_LEAD. */
void lead_done(struct lead *lead, const struct etcd_done *done, uint64_t now_ns);

/* Sends again what is due. */
void lead_step(struct lead *lead, uint64_t now_ns);

/* How long the oldest frame that does not count has been on its way; 0: there is none. */
CC_MUST_USE uint64_t lead_oldest_ns(const struct lead *lead, uint64_t now_ns);

#endif
