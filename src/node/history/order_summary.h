/* order_summary.h - an order as history keeps it: made from effect 2101, later shown to a read.
 *
 * Owner. The follower's thread.
 * Units. As struct row_order. */
#ifndef NODE_HISTORY_ORDER_SUMMARY_H
#define NODE_HISTORY_ORDER_SUMMARY_H

#include "base/row.h"
#include "base/uuid.h"
#include "engine/state/effects.h"

struct market_names;

/* Index of the first item of a batch that is refused: after those of every order that enters. */
enum { ORDER_SUMMARY_REFUSED = 1 << 16 };

struct order_summary {
    uint64_t account_id; /* id_map.h: right before the id */
    struct uuid id;
    uint64_t initial;
    uint64_t remaining; /* of an ended order: left unfilled when it ended */
    uint64_t filled;
    uint64_t filled_notional; /* micro-USDC, at most 2^50 (R1) */
    uint64_t price;
    uint64_t expiry;
    uint64_t sequence; /* of its placement, as index and time_ns */
    uint64_t time_ns;
    uint64_t updated_at_ns;
    uint64_t trigger_price; /* of the conditional kinds, as the next and below */
    uint8_t oco_group[16];
    uint32_t index;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint16_t asset_id;
    uint8_t status; /* enum order_state */
    uint8_t order_type;
    uint8_t side;
    uint8_t reason; /* enum reason */
    uint8_t stp;
    bool post_only;
    bool reduce_only;
    uint8_t trigger_source;
    uint8_t live_tif;
    bool is_refusal; /* its placement was refused, by the final 2101 of it */
};

/* Makes the summary from effect 2101: from the record that the effect names, which is still in the
 * engine's table; or, if a refused placement never had a record, from its command (codes 0, 5 and
 * 6, or the batch item with its id). An order that the engine made in an earlier command is dated
 * by its end, because no row can be inserted between others. */
void order_summary_make(struct order_summary *order, const struct effect *effect,
                        const struct effect_order_state *state);

/* FILLED, CANCELED, REJECTED or EXPIRED. */
CC_MUST_USE bool order_summary_is_final(const struct order_summary *order);

/* Fills the row of a read. */
void order_summary_show(const struct order_summary *order, const struct market_names *names,
                        struct row_order *row);

#endif
