/* money_log.h - the newest funding payments, funding rates, liquidations, and movements of the fund
 * and of the fee account, in the follower's memory.
 *
 *   2105, then its 2104 ──> payment        2110 open ──> rate
 *   2104 of 0/0/0 ──> fund                 2104 of kind fee ──> fee account, except fees that the
 *                                          fund pays (the rebates of a liquidation, R7)
 *   2104 of an account ──> its cash ledger
 *   2113 ──> liquidation
 *
 * Owner. The follower's thread.
 * Bound. `capacity` rows of each kind.
 * Units. As struct row_payment, row_rate, row_liquidation and row_house. */
#ifndef NODE_HISTORY_MONEY_LOG_H
#define NODE_HISTORY_MONEY_LOG_H

#include "base/row_history.h"
#include "engine/state/effects.h"
#include "node/history/history_ring.h"

struct market_names;

struct payment_row {
    struct history_link link;
    uint8_t id[16];
    uint64_t account_id;
    int64_t payment;
    int64_t size;
    int64_t rate_ppb;
    uint64_t index_price;
    uint64_t hour_ns;
    uint64_t time_ns;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint16_t asset_id;
    uint8_t zero[6];
};

struct rate_row {
    struct history_link link;
    int64_t rate_ppb;
    uint64_t index_price;
    uint64_t hour_ns;
    uint64_t time_ns;
    uint16_t asset_id;
    uint8_t zero[6];
};

struct liquidation_row {
    struct history_link link;
    uint64_t price;
    uint64_t size;
    uint64_t time_ns;
    uint16_t asset_id;
    uint8_t side; /* of the position */
    uint8_t level;
    uint8_t zero[4];
};

struct house_row {
    struct history_link link;
    int64_t amount;
    int64_t balance_after;
    uint64_t time_ns;
    uint8_t ref_id[16]; /* with has_ref */
    uint16_t asset_id;  /* 0: none */
    uint8_t kind;       /* enum effect_cash_kind */
    bool has_ref;
    uint8_t zero[4];
};

/* A row of the cash ledger (R2). */
struct cash_row {
    struct house_row movement;
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
};

enum money_house { MONEY_FUND, MONEY_FEES, MONEY_HOUSES };

struct money_log {
    struct history_ring payments;             /* a chain for each account */
    struct history_ring rates;                /* a chain for each asset id */
    struct history_ring liquidations;         /* likewise */
    struct history_ring houses[MONEY_HOUSES]; /* one chain each */
    struct history_ring cash;                 /* a chain for each account */
    uint64_t liquidation_sequence; /* of the last public trade that was a liquidation's */
    uint16_t asset_id;             /* of the last fill or payment */
    struct payment_row *unnamed;   /* the payment whose 2104 comes next */
};

/* `capacity` and cash_capacity, of the ledger, are powers of two. 0, or -ENOMEM with nothing to
 * free. */
CC_MUST_USE int money_log_init(struct money_log *log, uint32_t capacity, uint32_t cash_capacity,
                               uint32_t account_count);
void money_log_free(struct money_log *log);

/* Gets effects 2102, 2104, 2105, 2108, 2110 and 2113 in order. `index` is that of J1's `at`. */
void money_log_append(struct money_log *log, const struct effect *effect, uint32_t index);

/* Show a kept row as a row of a reply: names, no index of a table. */
void money_log_show_payment(const struct payment_row *payment, const struct market_names *names,
                            struct row_payment *row);
void money_log_show_rate(const struct rate_row *rate, struct row_rate *row);
void money_log_show_liquidation(const struct liquidation_row *liquidation,
                                struct row_liquidation *row);
void money_log_show_cash(const struct cash_row *cash, const struct market_names *names,
                         struct row_cash *row);
void money_log_show_house(const struct house_row *house, const struct market_names *names,
                          struct row_house *row);

#endif
