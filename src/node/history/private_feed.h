/* private_feed.h - makes the private events of accounts from effects (wire.md W9, W3c; json.md J9).
 *
 *   history_sink ── effects, rows of the logs ──> private_feed_* ──> private_log
 *
 * Each effect that raises the counter of its account (private_event.h) gives an event with that
 * seq.
 *
 * Owner. The follower's thread; recovery before it. */
#ifndef NODE_HISTORY_PRIVATE_FEED_H
#define NODE_HISTORY_PRIVATE_FEED_H

#include "base/private_log.h"
#include "engine/state/effects.h"

struct history;
struct order_summary;

struct private_feed {
    struct private_log *log; /* NULL: nobody is shown anything; the file may keep them */
    uint64_t answered;       /* sequence of the command whose 2100 came last */
};

/* Adds the event of a 2101. `order` is as the order log has it. */
void private_feed_order(struct private_feed *feed, struct history *history,
                        const struct effect *effect, const struct order_summary *order);

/* Adds the events of any other effect. The fill and money logs have it already. */
void private_feed_add(struct private_feed *feed, struct history *history,
                      const struct effect *effect);

#endif
