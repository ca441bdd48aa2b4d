/* heartbeat.h - reports whether each of a few threads has made a turn since the last check: the
 * service manager's watchdog is fed only then.
 *
 *   thread ── counts its turns ──> word        heartbeat_all_moved: compares each with the last
 *
 * Order.  Relaxed: only the fact that a count moves matters.
 * Owner.  The checking thread; each word is written by its own thread.
 * Bound.  HEARTBEAT_WORDS_MAX words. */
#ifndef NODE_RUN_HEARTBEAT_H
#define NODE_RUN_HEARTBEAT_H

#include "base/published.h"

enum { HEARTBEAT_WORDS_MAX = 4 };

struct heartbeat {
    const struct published *words[HEARTBEAT_WORDS_MAX];
    uint64_t seen[HEARTBEAT_WORDS_MAX];
    uint32_t count;
};

/* Adds a word, which must outlive the heartbeat. Adding it twice counts once. */
void heartbeat_add(struct heartbeat *heartbeat, const struct published *word);

/* True if every word has moved since it was added, or since the last true. Moves seen by earlier
 * calls count, so that only a thread that makes no turns withholds it. */
CC_MUST_USE bool heartbeat_all_moved(struct heartbeat *heartbeat);

#endif
