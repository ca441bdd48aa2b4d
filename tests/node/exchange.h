/* exchange.h - an engine whose effects go into a history, and a list of all that ever happened.
 *
 * The list is made from the effects and the commands by what wire.md W3c says of them, without the
 * files that it checks: orders in placing order, fills, trades and requests as they come. */
#ifndef TESTS_NODE_EXCHANGE_H
#define TESTS_NODE_EXCHANGE_H

#include "engine/host.h"
#include "node/history/history.h"
#include "node/query/query.h"

enum { EXCHANGE_ETH = 2, EXCHANGE_ROWS_MAX = 1 << 16 };

struct exchange_order {
    uint64_t account, sequence, remaining, filled, price;
    uint64_t ended_sequence; /* 0: it lives */
    uint32_t ended_number;   /* orders that had ended before */
    uint32_t index;          /* among those that the command placed */
    uint8_t id[16];
    uint16_t asset;
    uint8_t status, reason, side, order_type;
};

struct exchange_fill {
    uint64_t account, sequence, price, quantity, trade_seq;
    int64_t fee;
    uint32_t index;
    uint16_t asset;
    uint8_t order_id[16];
    uint8_t side, liquidity;
};

struct exchange_cash {
    uint64_t account, sequence;
    int64_t amount, balance_after;
    uint32_t index, subaccount, portfolio;
    uint8_t kind;
};

struct exchange_trade {
    uint64_t sequence, price, size, trade_seq, time_ns;
    uint64_t seq; /* of the market */
    uint32_t index;
    uint16_t asset;
    uint8_t taker_side;
};

struct exchange_request {
    uint64_t account, sequence;
    uint16_t code;
    uint8_t id[16];
    uint8_t status, reason, result_count;
    uint8_t results[64]; /* of a batch: the status of each item */
};

struct exchange {
    struct host host; /* first */
    struct history_sink sink;
    uint32_t capacity;
    uint32_t account_count;
    uint64_t seed; /* of exchange_random_run */
    bool rich;     /* it sends conditional orders, batches, protection and withdrawals too */
    uint32_t replaced, market_orders; /* that succeeded in it */
    uint64_t counted_sequence;        /* effects 2102, 2104, 2105 of it so far */
    uint32_t counted;
    uint64_t batch_sequence; /* items of a batch that were answered in it so far */
    uint8_t batch_count, batch_results[64];
    uint64_t trade_seq;
    uint32_t trade_index; /* of the effect 2108: its fills are the next two */
    uint32_t order_count, ended_count, fill_count, cash_count, trade_count, request_count;
    struct exchange_order orders[EXCHANGE_ROWS_MAX];
    struct exchange_fill fills[EXCHANGE_ROWS_MAX];
    struct exchange_trade trades[EXCHANGE_ROWS_MAX];
    struct exchange_cash cash[EXCHANGE_ROWS_MAX]; /* of accounts, not of the fund */
    struct exchange_request requests[EXCHANGE_ROWS_MAX];
};

/* Markets BTC-PERP and ETH-PERP at a mark of 100,000 and 4,000 USDC, `accounts` accounts (ids from
 * 1) with 100,000,000 USDC each, and a history of `capacity` rows of each kind that has room for
 * one account more. */
void exchange_open(struct exchange *exchange, uint32_t capacity, uint32_t accounts);
void exchange_close(struct exchange *exchange);

/* The history's next commit has what has happened. */
void exchange_publish(struct exchange *exchange);

/* Begins a query that one turn completes; its buffer is back in the pool. */
struct query_task exchange_ask(struct exchange *exchange, struct reply_pool *pool,
                               const struct query *query);

/* Code 5. `quantity` is signed. */
enum status exchange_market_order(struct exchange *exchange, uint32_t account, uint16_t asset,
                                  int64_t quantity, bool reduce_only);

#endif
