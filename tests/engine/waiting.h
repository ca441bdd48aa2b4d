/* waiting.h - short ways to place orders that wait for a price, and to look at what became of them
 * (codes 6 and 7), on top of trade.h. */
#ifndef TESTS_ENGINE_WAITING_H
#define TESTS_ENGINE_WAITING_H

#include "trade.h"

/* What code 6 carries; zeros as on the wire, but expiry 0 means GTC and asset 0 HOST_BTC. */
struct waiting {
    uint64_t trigger;
    uint64_t price;
    int64_t quantity;
    uint64_t expiry;
    uint64_t oco; /* low word of the group */
    uint32_t slippage_ppm;
    uint32_t portfolio; /* index in subaccount 0 */
    uint16_t asset;
    uint8_t type;   /* enum order_type */
    uint8_t source; /* 0 mark, 1 last, 2 index */
    uint8_t live;   /* live_tif */
    uint8_t post_only, reduce_only, stp;
    bool expiry_as_is; /* expiry 0 is 0 */
};

enum { WAITING_BODY_BYTES = 80 };

/* The body of code 6; for tests that damage it. */
void waiting_body(uint32_t n, const struct waiting *order, uint8_t body[WAITING_BODY_BYTES]);
enum status waiting_send(struct host *host, uint32_t n, const uint8_t body[WAITING_BODY_BYTES]);

/* Of account n. */
enum status waiting_place(struct host *host, uint32_t n, const struct waiting *order);

/* Places and CHECKs that it completed; gives the order's id. */
struct trade_id waiting_rest(struct host *host, uint32_t n, const struct waiting *order);

enum status waiting_cancel(struct host *host, uint32_t n, struct trade_id id);

/* Code 4 with include_conditional. */
enum status waiting_cancel_all(struct host *host, uint32_t n, uint16_t asset, uint8_t side);

/* The row of an untriggered order, dead ones too; NULL: there is none. */
const struct conditional *waiting_row(const struct host *host, uint32_t n, struct trade_id id);

/* The state that the last command told of the order last. CHECKs that it did. */
struct effect_order_state waiting_state(const struct host *host, struct trade_id id);

/* Recounts every list, tree, map, queue and timer of the untriggered orders. */
void waiting_check(const struct host *host);

#endif
