/* order_log.h - the newest ended orders, in the order of their ends, in the follower's memory. The
 * file of the store has all of them (history_keep.h).
 *
 *   placed ──> live: in the engine alone ──end──> row ──commit──> also in the file
 *
 * An order has its rank in lists, the (sequence, index) of its placement, whenever it ends. Of
 * orders of one command and account: those that enter the book have the index of the engine;
 * refused items of a batch have indexes from ORDER_SUMMARY_REFUSED on; those that the engine makes
 * itself come after them.
 *
 * The id of an order that a request of its own places is that request's, so request_log.h leads to
 * its rank. `ids` has the ranks of all others: items of batches, orders that the engine makes.
 *
 * Of REJECTED placements, only the last ORDER_LOG_REJECTED of an account are shown (W10); an older
 * one counts as never placed. A conditional order that was REJECTED when it fired stays.
 *
 * Owner. The follower's thread.
 * Bound. `capacity` rows and ids, and a number for each account. */
#ifndef NODE_HISTORY_ORDER_LOG_H
#define NODE_HISTORY_ORDER_LOG_H

#include "node/history/history_ring.h"
#include "node/history/id_map.h"
#include "node/history/order_summary.h"

enum { ORDER_LOG_REJECTED = 1024 };

struct order_row {
    struct history_link link; /* (sequence, index) of its end */
    uint64_t ended_sequence;
    uint64_t rejection; /* placed REJECTED: rejections of the account up to this one, else 0 */
    struct order_summary order;
};

/* Where the order of an id was placed. */
struct order_id_row {
    struct history_link link; /* sequence of its placement */
    uint64_t account_id;
    struct uuid id;
    uint64_t index; /* of its placement */
};

struct order_account {
    uint64_t rejection_count;
    uint64_t placed_sequence; /* of its newest placement */
    uint32_t placed_next;     /* above the indexes of that command */
    uint32_t zero;
};

struct order_log {
    struct history_ring ring; /* of struct order_row, a chain for each account */
    struct history_ring ids;  /* of struct order_id_row, one chain */
    struct id_map map;        /* of the rows of `ring` */
    struct order_account *accounts;
    uint64_t newest_dropped_ms; /* date of the newest dropped id */
    bool dropped;
};

/* `capacity` is a power of two. 0, or -ENOMEM with nothing to free. */
CC_MUST_USE int order_log_init(struct order_log *log, uint32_t capacity, uint32_t account_count,
                               struct mix_key key);
void order_log_free(struct order_log *log);

/* The account of this slot is new: it has no orders yet. */
void order_log_begin(struct order_log *log, uint32_t slot);

/* Records that the orders that an account had up to `sequence` are not kept, `rejection_count`
 * REJECTED placements among them; the log must be empty. Their ids are dated `newest_ms` at most.
 * Live orders are in the engine. */
void order_log_forget(struct order_log *log, uint64_t account_id, uint64_t sequence,
                      uint64_t newest_ms, uint64_t rejection_count);

/* Takes the order of a 2101 of the command with this sequence, whose request has `request_id`, or
 * no request: NULL. The index of the order is adjusted. */
void order_log_append(struct order_log *log, struct order_summary *order, uint64_t sequence,
                      const uint8_t *request_id);

/* The row of the newest ended order of the account with this id, or NULL. Valid until the next
 * append. */
const struct order_row *order_log_find(const struct order_log *log, uint64_t account_id,
                                       const struct uuid *id);

/* Whether an id that is neither live nor found may belong to an order that is no longer here. */
bool order_log_may_have_dropped(const struct order_log *log, const struct uuid *id);

/* False for a REJECTED order that is older than the last ones of its account. */
bool order_log_is_shown(const struct order_log *log, const struct order_row *row);

#endif
