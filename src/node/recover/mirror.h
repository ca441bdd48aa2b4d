/* mirror.h - the replica's half of a recovery, on a thread of its own: what the primary has applied
 * is applied to the replica beside it, in the same order.
 *
 *   recovery: primary, mirror_apply ── ring of commands ──> mirror's thread: history, replica
 *
 * Wait.   mirror_apply waits while the ring is full, mirror_end until it is empty.
 * Owner.  Between begin and end the engine and the sink are the mirror's; both calls and
 *         mirror_apply are one thread's. Without a thread, or not wanted, mirror_apply applies.
 * Bound.  One ring of MIRROR_SLOTS. */
#ifndef NODE_RECOVER_MIRROR_H
#define NODE_RECOVER_MIRROR_H

#include <pthread.h>

#include "base/ring.h"
#include "engine/engine.h"
#include "node/history/history.h"

enum { MIRROR_SLOTS = 1 << 13 };

struct mirror {
    struct engine *engine;
    struct history_sink *sink;
    struct ring ring;
    void *memory; /* of the ring; NULL: no thread */
    pthread_t thread;
    _Atomic bool ends;
};

void mirror_begin(struct mirror *mirror, struct engine *engine, struct history_sink *sink,
                  bool on_thread);

/* The next command; it is copied. */
void mirror_apply(struct mirror *mirror, const struct command *command);

/* Everything given is applied, and the engine is the caller's again. */
void mirror_end(struct mirror *mirror);

#endif
