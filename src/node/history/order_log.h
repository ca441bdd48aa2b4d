/* order_log.h - the newest orders in the order of their placing, kept in the follower's memory.
 *
 * A row is made by an order's first 2101 and completed by its last. Between them the order is live
 * and a reader takes it from the engine. A live order whose row was dropped is still in the engine;
 * when it ends it goes to `ended` (ended_orders.h), where it is found by id but in no list.
 *
 *   place ──> row, live ──end──> row, ended ──ring full──> lost
 *                └──ring full──> engine only ──end──> ended: by id only
 *
 * Of placements that were REJECTED only the last ORDER_LOG_REJECTED of an account are shown (W10);
 * an older one is as good as never placed. A conditional order that was REJECTED when it fired
 * stays.
 *
 * A command may place several orders of an account: their indexes rise in the order in which they
 * are told, one that would not is raised. An ended order that was shown and is in no row any more
 * is *lost*: a list that would need it is refused, never cut short.
 *
 * Owner. The follower's thread.
 * Bound. `capacity` rows here and in `ended`, an account's marks for each account. */
#ifndef NODE_HISTORY_ORDER_LOG_H
#define NODE_HISTORY_ORDER_LOG_H

#include "node/history/history_ring.h"
#include "node/history/id_map.h"
#include "node/history/order_summary.h"

enum { ORDER_LOG_REJECTED = 1024 };

struct order_row {
    struct history_link link; /* (sequence, index) of its placing */
    struct order_summary order;
    uint64_t rejection; /* placed REJECTED: rejections of the account up to this one, else 0 */
};

/* What lists of an account can no longer show: places of the newest and the oldest such order. */
struct order_lost {
    uint64_t newest_sequence, oldest_sequence;
    uint32_t newest_index, oldest_index;
    bool any;
};

struct order_account {
    uint64_t rejection_count;
    uint64_t rejection_lost; /* `rejection` of the newest that is lost, 0: none */
    struct order_lost lost;
    struct order_lost lost_rejected; /* in force while rejection_lost would be shown */
};

struct order_log {
    struct history_ring ring; /* of struct order_row, a chain for each account */
    struct id_map map;
    struct order_account *accounts;
    struct ended_orders *ended;
    uint64_t newest_dropped_ms; /* date of the newest lost id */
    bool dropped;
};

/* `capacity` a power of two; 0 or -ENOMEM, then there is nothing to free. */
CC_MUST_USE int order_log_init(struct order_log *log, uint32_t capacity, uint32_t account_count,
                               struct mix_key key);
void order_log_free(struct order_log *log);

/* Of an empty log: the account has had orders of whatever kind up to `sequence`, and none of them
 * is kept. Their ids are dated `newest_ms` at most. Live ones are in the engine. */
void order_log_forget(struct order_log *log, uint64_t account_id, uint64_t sequence,
                      uint64_t newest_ms);

/* An order as a 2101 of the command with this sequence tells it. */
void order_log_append(struct order_log *log, const struct order_summary *order, uint64_t sequence);

/* An ended order of the account by its id, or NULL. Valid until the next tell. */
const struct order_summary *order_log_find(const struct order_log *log, uint64_t account_id,
                                           const struct uuid *id);

/* The index at which lists show the order of this id, live or ended, or `otherwise` when it is in
 * none. */
uint32_t order_log_index(const struct order_log *log, uint64_t account_id, const uint8_t id[16],
                         uint32_t otherwise);

/* Whether an id that is neither live nor found may be that of an order no longer kept. */
bool order_log_may_have_dropped(const struct order_log *log, const struct uuid *id);

/* False for a REJECTED order beyond the last of its account. */
bool order_log_is_shown(const struct order_log *log, const struct order_row *row);

/* Whether a lost order may lie below place (sequence, index) and at or above the other. `rejected`
 * and `others` say which kinds the list would show. */
bool order_log_lost_between(const struct order_log *log, uint64_t account_id, bool rejected,
                            bool others, uint64_t below_sequence, uint32_t below_index,
                            uint64_t from_sequence, uint32_t from_index);

#endif
