/* poison_share.h - a command that ended one node of a cluster is refused by the others too
 * (replication.md, A node).
 *
 *   start of the node that it ended ──> key poison/<account>/<id>, for 12 min
 *        each node: poison_share_step ──> mail ──> poison_share_accept ──> the matcher's rows
 *
 * Wait.  A step asks etcd three questions and waits at most SURVEY_WAIT_NS for each.
 * Owner. The steward's thread; _begin before any thread, _accept the matcher's.
 * Bound. POISON_SHARE_OWN rows of this node, POISON_SHARE_MAX keys that are looked at. */
#ifndef NODE_RUN_POISON_SHARE_H
#define NODE_RUN_POISON_SHARE_H

#include "node/recover/poison_file.h"
#include "repl/etcd.h"

enum {
    POISON_SHARE_OWN = 16,
    POISON_SHARE_MAX = 64,
    POISON_SHARE_BYTES = 32,
    POISON_SHARE_S = 720 /* an id is taken for 660 s at most: exchange.clock_* */
};

struct poison_share {
    struct poison_row own[POISON_SHARE_OWN]; /* of this node's file, to be put */
    uint32_t own_count;
    uint64_t own_due_ns, own_pause_ns;        /* not put sooner; 0: etcd took the last one */
    struct poison_row seen[POISON_SHARE_MAX]; /* sent to the matcher, a ring */
    uint32_t seen_count;
    uint64_t due_ns;
    struct poison_row mail; /* the steward's until is_full */
    _Atomic bool is_full;
};

/* Takes the requests that `file` has noted in the last POISON_SHARE_S. now_ns: unix. */
void poison_share_begin(struct poison_share *share, const struct poison_file *file,
                        uint64_t now_ns);

/* Four times a second: puts one of this node's, reads all. What etcd does not take is put again
 * after pauses that grow to 16 s, and logged once. now_ns: clock_monotonic_ns. */
void poison_share_step(struct poison_share *share, struct etcd *etcd, const char *cluster,
                       uint64_t now_ns);

/* Adds one that came to the rows that the matcher refuses. */
void poison_share_accept(struct poison_share *share, struct poison_file *file);

#endif
