/* effect_event.h - the 48 bytes of the effects of what the engine does by itself and of cash on its
 * way out (wire.md W3c): fields, then zeros. The others are in effect_body.h.
 *
 * Units. Amounts micro-USDC, prices and sizes raw, rates ppb, times unix ns. */
#ifndef ENGINE_STATE_EFFECT_EVENT_H
#define ENGINE_STATE_EFFECT_EVENT_H

#include "engine/state/effect_body.h"

enum effect_withdrawal_outcome {
    WITHDRAWAL_SETTLED,
    WITHDRAWAL_REVERTED,
    WITHDRAWAL_PENDING = 255
};

struct effect_funding_payment {
    struct effect_portfolio_id portfolio;
    int64_t payment; /* what the portfolio gets */
    int64_t size;
    int64_t rate_ppb;
    uint16_t asset_id;
    uint8_t pad[2];
    uint32_t epoch;
};

struct effect_funding_epoch {
    uint64_t index;
    int64_t rate_ppb;
    uint64_t hour; /* its full UTC hour, unix ns */
    int64_t pool;
    uint32_t epoch;
    uint16_t asset_id;
    uint8_t pad[2];
    uint8_t open; /* 1: opened, 0: complete */
    uint8_t pad2[7];
};

struct effect_portfolio_state {
    struct effect_portfolio_id portfolio;
    int64_t equity; /* clamped to 64 bits */
    int64_t maintenance;
    uint8_t status; /* enum portfolio_status */
    uint8_t pad[15];
};

struct effect_liquidation {
    struct effect_portfolio_id portfolio;
    uint64_t price;
    int64_t size; /* signed: what leaves the position */
    uint16_t asset_id;
    uint8_t pad[2];
    uint8_t level; /* 1, 2, 3 */
    uint8_t pad2[11];
};

struct effect_trigger {
    uint8_t order_id[16];
    uint64_t source_price;
    uint16_t asset_id;
    uint8_t pad[22];
};

struct effect_mmp {
    struct effect_portfolio_id portfolio;
    uint64_t frozen_until; /* UINT64_MAX: until it is reset; 0: not frozen */
    uint16_t asset_id;
    uint8_t pad[22];
};

struct effect_fund {
    int64_t cash;
    int64_t amount;
    uint8_t deficit;
    uint8_t pad[31];
};

struct effect_withdrawal {
    uint8_t withdrawal_id[16];
    struct effect_portfolio_id portfolio;
    uint64_t amount;
    uint8_t outcome; /* enum effect_withdrawal_outcome */
    uint8_t pad[7];
};

struct effect_settlement {
    struct effect_portfolio_id portfolio;
    uint64_t price;
    int64_t profit;
    int64_t cut;
    uint16_t asset_id;
    uint8_t pad[6];
};

#endif
