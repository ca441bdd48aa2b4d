/* heartbeat.h - whether each of a few threads has turned since it was last asked: what the watchdog
 * of the service manager is fed by.
 *
 *   thread ── counts its turns ──> word        heartbeat_all_moved: each word beside what it was
 *
 * Order.  Relaxed: a count alone; that it moves is all that is asked of it.
 * Owner.  The asking thread; each word is its own thread's.
 * Bound.  HEARTBEAT_WORDS_MAX words. */
#ifndef NODE_RUN_HEARTBEAT_H
#define NODE_RUN_HEARTBEAT_H

#include "base/compiler.h"

enum { HEARTBEAT_WORDS_MAX = 4 };

struct heartbeat {
    const _Atomic uint64_t *words[HEARTBEAT_WORDS_MAX];
    uint64_t seen[HEARTBEAT_WORDS_MAX];
    uint32_t count;
};

/* One more word, which must outlive the heartbeat; the same one twice counts once. */
void heartbeat_add(struct heartbeat *heartbeat, const _Atomic uint64_t *word);

/* True when every word has moved since it was added or since this last gave true. Of those that
 * have moved before the others nothing is forgotten: a thread that stands still withholds it. */
CC_MUST_USE bool heartbeat_all_moved(struct heartbeat *heartbeat);

#endif
