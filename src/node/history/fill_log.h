/* fill_log.h - the newest fills of all accounts and the newest public trades of all markets, in the
 * follower's memory.
 *
 * A fill is identified by (sequence, index). The index counts the effects 2102, 2104 and 2105 of
 * its sequence (json.md J1, `at`). A trade has the index of its maker's fill, the effect after it.
 *
 * Owner. The follower's thread.
 * Bound. `capacity` rows of each kind, a head for each account and each asset id.
 * Units. As struct row_fill and struct row_trade. */
#ifndef NODE_HISTORY_FILL_LOG_H
#define NODE_HISTORY_FILL_LOG_H

#include "base/row_history.h"
#include "engine/state/effects.h"
#include "node/history/history_ring.h"

struct market_names;

struct fill_row {
    struct history_link link;
    uint64_t account_id;
    uint8_t order_id[16];
    uint64_t price;
    uint64_t quantity;
    int64_t fee;
    uint64_t time_ns;
    uint64_t trade_seq; /* 0: none */
    uint32_t id_index;  /* of the fill's id among the ids of its command (R3) */
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint16_t asset_id;
    uint8_t side;
    uint8_t liquidity;
};

struct trade_row {
    struct history_link link;
    uint64_t price;
    uint64_t size;
    uint64_t trade_seq;
    uint64_t seq; /* of the market (W9) */
    uint64_t time_ns;
    uint16_t asset_id;
    uint8_t taker_side;
    uint8_t liquidation;
    uint8_t zero[4];
};

enum { FILL_LOG_ASSETS = 1 << 16 };

struct fill_log {
    struct history_ring fills;  /* of struct fill_row, a chain for each account */
    struct history_ring trades; /* of struct trade_row, a chain for each asset id */
    uint64_t sequence;          /* of the effects being counted */
    uint64_t trade_seq;         /* of the trade whose fills come next */
    uint32_t counted;           /* 2102, 2104 and 2105 effects of it so far */
    uint32_t fills_due;         /* fills that the trade still has */
};

/* `capacity` is a power of two. 0, or -ENOMEM with nothing to free. */
CC_MUST_USE int fill_log_init(struct fill_log *log, uint32_t capacity, uint32_t account_count);
void fill_log_free(struct fill_log *log);

/* Gets every effect in order and records 2102, 2104, 2105 and 2108. */
void fill_log_append(struct fill_log *log, const struct effect *effect);

/* Show a kept row as a row of a reply: names, no index of a table. */
void fill_log_show_fill(const struct fill_row *fill, const struct market_names *names,
                        struct row_fill *row);
void fill_log_show_trade(const struct trade_row *trade, struct row_trade *row);

#endif
