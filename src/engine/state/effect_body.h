/* effect_body.h - the 48 bytes of each effect, as wire.md W3c lists them: fields, then zeros.
 *
 * A sink copies the bytes of an effect into one of these. effects.c asserts the 48 bytes.
 *
 * Units. Amounts micro-USDC, prices and sizes raw, rates ppb, times unix ns. */
#ifndef ENGINE_STATE_EFFECT_BODY_H
#define ENGINE_STATE_EFFECT_BODY_H

#include "base/compiler.h"

enum effect_cash_kind {
    CASH_trade,
    CASH_fee,
    CASH_funding,
    CASH_transfer,
    CASH_deposit,
    CASH_withdrawal,
    CASH_withdrawal_reverted,
    CASH_faucet,
    CASH_liquidation,
    CASH_adl,
    CASH_fund,
    CASH_settlement,
};

enum effect_liquidity { LIQUIDITY_TAKER, LIQUIDITY_MAKER };
enum effect_book_action { BOOK_ADD, BOOK_REDUCE, BOOK_DELETE, BOOK_EXECUTE };
enum effect_timer_kind { TIMER_EXPIRY, TIMER_DEAD_MAN, TIMER_DISCONNECT, TIMER_MMP };
enum effect_cause {
    CAUSE_OPERATOR,
    CAUSE_ORACLE,
    CAUSE_FUND,
    CAUSE_INVARIANT,
    CAUSE_RESTART,
    CAUSE_CLOCK,
    CAUSE_RESTORED,
};
enum effect_credential_kind {
    EFFECT_CREDENTIAL_SESSION,
    EFFECT_CREDENTIAL_API_KEY,
    EFFECT_CREDENTIAL_DEVICE_KEY,
    EFFECT_CREDENTIAL_MASTER_KEY,
};
enum effect_credential_action { CREDENTIAL_ADDED, CREDENTIAL_REMOVED, CREDENTIAL_EXPIRED };
enum effect_account_what {
    ACCOUNT_WHAT_ACCOUNT,
    ACCOUNT_WHAT_SUBACCOUNT,
    ACCOUNT_WHAT_PORTFOLIO,
    ACCOUNT_WHAT_TIER,
    ACCOUNT_WHAT_SUSPENDED,
};

enum effect_withdrawal_outcome {
    WITHDRAWAL_SETTLED,
    WITHDRAWAL_REVERTED,
    WITHDRAWAL_PENDING = 255
};

enum { EFFECT_NO_ITEM = 255, EFFECT_NO_STATE = 255 };

struct effect_portfolio_id {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
};

struct effect_answer {
    uint8_t request_id[16];
    uint64_t account_id;
    uint16_t status;
    uint8_t reason;
    uint8_t item; /* of a batch, else EFFECT_NO_ITEM */
    uint8_t rule; /* enum operator_rule, of a refused operator code */
    uint8_t pad[3];
    uint8_t zero[16];
};

struct effect_order_state {
    uint8_t order_id[16];
    uint64_t remaining;
    uint64_t filled;
    uint64_t price;
    uint8_t status; /* enum order_state */
    uint8_t reason;
    uint8_t side;
    uint8_t order_type;
    uint16_t asset_id;
    uint8_t pad[2];
};

struct effect_fill {
    uint8_t order_id[16];
    uint64_t price;
    int64_t quantity; /* signed by the side of the order */
    int64_t fee;
    uint32_t index;    /* of its fill id among the ids of the command (R3) */
    uint8_t liquidity; /* enum effect_liquidity */
    uint8_t pad[3];
};

struct effect_position {
    struct effect_portfolio_id portfolio;
    int64_t size;
    int64_t cost;
    int64_t net_funding;
    uint16_t asset_id;
    uint8_t pad[6];
};

struct effect_cash {
    struct effect_portfolio_id portfolio;
    int64_t amount; /* never 0 */
    int64_t balance_after;
    uint64_t ref; /* index of the id it refers to, or an account */
    uint8_t kind; /* enum effect_cash_kind */
    uint8_t pad[7];
};

struct effect_book_level {
    uint64_t price;
    uint64_t size; /* 0: the level is gone */
    uint32_t orders;
    uint8_t side;
    uint8_t pad[3];
    uint64_t book_seq;
    uint16_t asset_id;
    uint8_t pad2[2];
    uint8_t zero[12];
};

struct effect_book_order {
    uint8_t order_id[16];
    uint64_t price;
    uint64_t quantity;
    uint64_t book_seq;
    uint16_t asset_id;
    uint8_t pad[2];
    uint8_t side;
    uint8_t action; /* enum effect_book_action */
    uint8_t pad2[2];
};

struct effect_trade {
    uint64_t price;
    uint64_t size;
    uint64_t trade_seq;
    uint64_t book_seq;
    uint16_t asset_id;
    uint8_t pad[2];
    uint8_t taker_side;
    uint8_t flags;
    uint8_t pad2[2];
    uint8_t zero[8];
};

struct effect_mark {
    uint64_t index;
    uint64_t mark;
    int64_t ema;
    int64_t premium_ppb;
    uint16_t asset_id;
    uint8_t pad[2];
    uint8_t valid;
    uint8_t pad2[3];
    uint8_t zero[8];
};

struct effect_market_state {
    uint16_t asset_id;
    uint8_t pad[2];
    uint8_t state; /* enum market_state */
    uint8_t cause; /* enum effect_cause */
    uint8_t pad2[2];
    uint64_t price;
    uint8_t zero[32];
};

struct effect_timer {
    struct effect_portfolio_id portfolio;
    uint8_t kind; /* enum effect_timer_kind */
    uint8_t pad[3];
    uint16_t asset_id;
    uint8_t pad2[2];
    uint8_t zero[24];
};

/* A master key's `key` is the x coordinate of its point; all 33 bytes are in the record. */
struct effect_credential {
    uint8_t key[32]; /* session public key, or keyed hash of a secret */
    uint64_t account_id;
    int32_t pin;
    uint8_t kind;   /* enum effect_credential_kind */
    uint8_t action; /* enum effect_credential_action */
    uint8_t scope;
    uint8_t pad;
};

struct effect_account {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t status;
    uint8_t fee_tier;
    uint8_t what; /* enum effect_account_what */
    uint8_t pad[5];
    uint8_t zero[24];
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
