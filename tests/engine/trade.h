/* trade.h - a market that trades, for tests of placing, matching, margin and marks: accounts with
 * cash, an index, and short ways to place orders and to look at what became of them.
 *
 * Prices are raw with one decimal (1,000,000 is 100,000.0 USDC), quantities raw with five (100,000
 * is 1 BTC): price * quantity is micro-USDC. */
#ifndef TESTS_ENGINE_TRADE_H
#define TESTS_ENGINE_TRADE_H

#include "engine/state/state.h"
#include "host.h"
#include "rig.h"

enum { TRADE_ACCOUNTS = 6 };

#define TRADE_MARK UINT64_C(1000000)
#define TRADE_CASH (100000 * HOST_USDC) /* of each account */
#define TRADE_GTC  UINT64_MAX
#define TRADE_IOC  UINT64_C(0)
#define TRADE_FOK  UINT64_C(1)
#define TRADE_OK   STATUS_request_completed

/* Opens the host with accounts 1..TRADE_ACCOUNTS, each with TRADE_CASH, the index at 100,000. */
void trade_open(struct host *host, const char *overrides);

/* A further market with the decimals of the first, its index at TRADE_MARK too. */
void trade_add_market(struct host *host, const char *symbol, uint16_t asset);

/* Code 1002 of the operator. */
enum status trade_set_state(struct host *host, uint16_t asset, uint8_t state);

/* A limit order of account n: positive quantity buys. */
enum status trade_limit(struct host *host, uint32_t n, int64_t quantity, uint64_t price);
enum status trade_tif(struct host *host, uint32_t n, int64_t quantity, uint64_t price,
                      uint64_t expiry);
enum status trade_post(struct host *host, uint32_t n, int64_t quantity, uint64_t price);
enum status trade_reduce(struct host *host, uint32_t n, int64_t quantity, uint64_t price,
                         uint64_t expiry);
enum status trade_stp(struct host *host, uint32_t n, int64_t quantity, uint64_t price,
                      uint64_t expiry, uint8_t stp);

/* Places and CHECKs that it completed; gives the order's id. */
struct trade_id {
    uint8_t bytes[16];
};
struct trade_id trade_rest(struct host *host, uint32_t n, int64_t quantity, uint64_t price);

/* Codes 1, 2 and 5. `order` as in host_limit; a market order reads quantity, flags and asset. */
enum status trade_cut(struct host *host, uint32_t n, struct trade_id id, uint64_t reduce_by,
                      uint64_t expected);
enum status trade_replace(struct host *host, uint32_t n, struct trade_id id,
                          const struct host_order *order, uint64_t expected);
enum status trade_at_market(struct host *host, uint32_t n, const struct host_order *order,
                            uint32_t slippage_ppm);

/* The id of the last request. */
struct trade_id trade_last_id(const struct host *host);

/* Moves the index (and, with an empty book, the mark) in steps that are not held. */
void trade_index(struct host *host, uint64_t price);

struct portfolio *trade_portfolio(const struct host *host, uint32_t n);
int64_t trade_cash(const struct host *host, uint32_t n);
int64_t trade_size(const struct host *host, uint32_t n);
int64_t trade_cost(const struct host *host, uint32_t n);
struct market *trade_market(const struct host *host);

/* Remaining of a resting order, 0: it does not rest. */
uint64_t trade_remaining(const struct host *host, uint32_t n, struct trade_id id);

/* Index of a resting order, ORDER_NONE: it does not rest. */
uint32_t trade_order(const struct host *host, uint32_t n, struct trade_id id);

/* The k-th order_state of the last command. CHECKs that there is one. */
struct effect_order_state trade_state(const struct host *host, uint32_t k);
struct effect_order_state trade_last_state(const struct host *host);
struct effect_trade trade_trade(const struct host *host, uint32_t k);
uint32_t trade_effects(const struct host *host, enum effect_code code);

/* Recounts every cached figure of margin from nothing and compares (margin_view); behind finished
 * scans also that none was missed whose margin is short (R7). */
void trade_check_figures(const struct host *host);

#endif
