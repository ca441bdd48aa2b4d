/* order_log.h - the newest orders, in the order of their placement, in the follower's memory.
 *
 * An order's first 2101 adds a row and its last one completes it. In between the order is live, and
 * a reader gets it from the engine. A live order whose row was dropped is still in the engine; when
 * it ends it moves to `ended` (ended_orders.h), where it is found by id but is in no list.
 *
 *   placed ──> row, live ──end──> row, ended ──ring full──> lost
 *                 └──ring full──> engine only ──end──> ended: by id only
 *
 * Of REJECTED placements, only the last ORDER_LOG_REJECTED of an account are shown (W10); an older
 * one counts as never placed. A conditional order that was REJECTED when it fired stays.
 *
 * A command may place several orders of an account. Their indexes rise in the order of their
 * effects; an index that would not rise is raised. An ended order that was shown and has no row any
 * more is *lost*: a list that would need it is refused, never cut short.
 *
 * Owner. The follower's thread.
 * Bound. `capacity` rows here and in `ended`, and marks for each account. */
#ifndef NODE_HISTORY_ORDER_LOG_H
#define NODE_HISTORY_ORDER_LOG_H

#include "node/history/history_ring.h"
#include "node/history/id_map.h"
#include "node/history/order_summary.h"

enum { ORDER_LOG_REJECTED = 1024 };

struct order_row {
    struct history_link link; /* (sequence, index) of its placement */
    struct order_summary order;
    uint64_t rejection; /* placed REJECTED: rejections of the account up to this one, else 0 */
};

/* The newest and the oldest order that lists of an account can no longer show. */
struct order_lost {
    uint64_t newest_sequence, oldest_sequence;
    uint32_t newest_index, oldest_index;
    bool any;
};

struct order_account {
    uint64_t rejection_count;
    uint64_t rejection_lost; /* `rejection` of the newest that is lost, 0: none */
    struct order_lost lost;
    struct order_lost lost_rejected; /* applies while rejection_lost would be shown */
};

struct order_log {
    struct history_ring ring; /* of struct order_row, a chain for each account */
    struct id_map map;
    struct order_account *accounts;
    struct ended_orders *ended;
    uint64_t newest_dropped_ms; /* date of the newest lost id */
    bool dropped;
};

/* `capacity` is a power of two. 0, or -ENOMEM with nothing to free. */
CC_MUST_USE int order_log_init(struct order_log *log, uint32_t capacity, uint32_t account_count,
                               struct mix_key key);
void order_log_free(struct order_log *log);

/* Records that the account's orders up to `sequence` are not kept; the log must be empty. Their ids
 * are dated `newest_ms` at most. Live orders are in the engine. */
void order_log_forget(struct order_log *log, uint64_t account_id, uint64_t sequence,
                      uint64_t newest_ms);

/* Adds or completes an order from a 2101 of the command with this sequence. */
void order_log_append(struct order_log *log, const struct order_summary *order, uint64_t sequence);

/* Finds an ended order of the account by its id, or NULL. Valid until the next append. */
const struct order_summary *order_log_find(const struct order_log *log, uint64_t account_id,
                                           const struct uuid *id);

/* The index of the order of this id, live or ended, in lists; `otherwise` if no list has it. */
uint32_t order_log_index(const struct order_log *log, uint64_t account_id, const uint8_t id[16],
                         uint32_t otherwise);

/* Whether an id that is neither live nor found may belong to an order that is no longer kept. */
bool order_log_may_have_dropped(const struct order_log *log, const struct uuid *id);

/* False for a REJECTED order that is older than the last ones of its account. */
bool order_log_is_shown(const struct order_log *log, const struct order_row *row);

/* Whether a lost order may lie below the first (sequence, index) and at or above the second.
 * `rejected` and `others` select the kinds that the list would show. */
bool order_log_lost_between(const struct order_log *log, uint64_t account_id, bool rejected,
                            bool others, uint64_t below_sequence, uint32_t below_index,
                            uint64_t from_sequence, uint32_t from_index);

#endif
