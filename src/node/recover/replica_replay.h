/* replica_replay.h - the replica's half of a recovery, on its own thread: it applies the commands
 * that the primary has applied, in the same order.
 *
 * Rows that the history's file has are not made again: the history begins behind its `applied`, as
 * it begins behind a snapshot of that sequence (history_forget), or behind the snapshot.
 *
 *   recovery: primary, replica_replay_apply ── ring of commands ──> thread: history, replica
 *
 * Wait.   replica_replay_apply waits while the ring is full, replica_replay_end until it is empty.
 * Owner.  Between begin and end the engine and the sink belong to the thread. All three calls are
 *         one thread's. If no thread is wanted, or none can start, replica_replay_apply applies.
 * Bound.  One ring of REPLICA_REPLAY_SLOTS. */
#ifndef NODE_RECOVER_REPLICA_REPLAY_H
#define NODE_RECOVER_REPLICA_REPLAY_H

#include <pthread.h>

#include "base/ring.h"
#include "engine/engine.h"
#include "node/history/history.h"

enum { REPLICA_REPLAY_SLOTS = 1 << 13 };

struct replica_replay {
    struct engine *engine;
    struct history_sink *sink;
    uint64_t passed; /* up to this sequence no rows are made; 0: the history has begun */
    struct ring ring;
    void *memory; /* of the ring; NULL: no thread */
    pthread_t thread;
    _Atomic bool ends;
};

/* Lends the engine and its sink to a thread of its own; without one (on_thread false, or the thread
 * cannot be made) replica_replay_apply applies at once. The sink's history is empty. */
void replica_replay_begin(struct replica_replay *replay, struct engine *engine,
                          struct history_sink *sink, bool on_thread);

/* Takes a copy of the next command. */
void replica_replay_apply(struct replica_replay *replay, const struct command *command);

/* Waits until every command is applied; then the engine belongs to the caller again. */
void replica_replay_end(struct replica_replay *replay);

#endif
