/* row_history.h - binary rows of past events: fills, public trades, requests (see row.h).
 *
 * Owner. As in row.h: the follower until the reply is published, then net.
 * Units. Prices and sizes are raw, with the market's decimals in the row; amounts are micro-USDC,
 *        times unix ns. `sequence` and `index` order every list (json.md J1, `at`). */
#ifndef BASE_ROW_HISTORY_H
#define BASE_ROW_HISTORY_H

#include "base/compiler.h"

struct row_fill {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t id[16];
    uint8_t request_id[16]; /* of the order */
    char market[32];
    uint64_t price;
    uint64_t quantity;
    int64_t fee;
    uint64_t sequence;
    uint64_t time_ns;
    uint64_t trade_seq; /* 0: null (ADL and takeover) */
    uint32_t index;
    uint8_t side;      /* of the order: 0 LONG, 1 SHORT */
    uint8_t liquidity; /* 0 TAKER, 1 MAKER */
    uint8_t price_decimals;
    uint8_t size_decimals;
};

/* Public trades of a market: this row, then trade_count struct row_trade, newest first. */
struct row_trades {
    char market[32];
    uint64_t book_seq;
    uint32_t trade_count;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero[2];
};

struct row_trade {
    uint64_t price;
    uint64_t size;
    uint64_t trade_seq;
    uint64_t seq; /* of the market (wire.md W9) */
    uint64_t sequence;
    uint64_t time_ns;
    uint32_t index; /* of the maker's fill, the effect that made the trade */
    uint8_t taker_side;
    uint8_t liquidation;
    uint8_t zero[2];
};

enum row_interval {
    ROW_INTERVAL_1M,
    ROW_INTERVAL_5M,
    ROW_INTERVAL_15M,
    ROW_INTERVAL_1H,
    ROW_INTERVAL_4H,
    ROW_INTERVAL_1D,
    ROW_INTERVALS
};

/* Candles of a market: this row, then candle_count struct row_candle, oldest first. */
struct row_candles {
    char market[32];
    uint64_t seq; /* of the market's newest trade (wire.md W9); 0: it had none */
    uint32_t candle_count;
    uint8_t interval; /* enum row_interval */
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero;
};

/* The public trades of one interval, at least one. */
struct row_candle {
    uint64_t start_ms;
    uint64_t open, high, low, close;
    uint64_t volume;   /* raw size; it and the notional end at INT64_MAX */
    uint64_t notional; /* micro-USDC */
    uint64_t trade_count;
};

struct row_payment {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t id[16];
    char market[32];
    int64_t payment; /* what the portfolio received */
    int64_t size;    /* signed */
    int64_t rate_ppb;
    uint64_t index_price;
    uint64_t hour_ns; /* the full hour that was paid */
    uint64_t time_ns; /* t of its command */
    uint64_t sequence;
    uint32_t index;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero[2];
};

/* The head of a list that is an object: this row, then `count` rows, newest first. */
struct row_list {
    char market[32]; /* rates, liquidations */
    union {
        int64_t balance;   /* of the fund or the fee account */
        uint64_t book_seq; /* of the market */
    };
    uint32_t count;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero[2];
};

/* Frames of the journal as they lie in their segment; their bytes follow. */
struct row_frames {
    uint64_t first_frame, last_frame; /* last < first: none is there yet */
    uint64_t segment, offset;         /* of the first byte */
    uint64_t last_sequence;           /* of the last frame */
    uint64_t boot;                    /* of the first frame */
    uint32_t block_bytes;             /* of the segment */
    uint32_t first_length;            /* bytes of the first frame; more than `bytes`: a piece */
    uint32_t bytes;
    uint8_t zero[4];
};

struct row_seal {
    uint64_t open_segment; /* those below it are sealed */
    uint8_t sealed;        /* 1: by this request */
    uint8_t zero[7];
};

struct row_rate {
    int64_t rate_ppb;
    uint64_t index_price;
    uint64_t hour_ns;
    uint64_t time_ns;
    uint64_t sequence;
    uint32_t index;
    uint8_t zero[4];
};

/* A piece of a position that was liquidated (wire.md W3c, 2113). */
struct row_liquidation {
    uint64_t price;
    uint64_t size;
    uint64_t time_ns;
    uint64_t sequence;
    uint32_t index;
    uint8_t side;  /* of the position */
    uint8_t level; /* 1 book, 2 fund, 3 deleveraging, 4 netting */
    uint8_t zero[2];
};

/* A market has taken a state. */
struct row_market_state {
    uint64_t settlement_price; /* of a closed market */
    uint8_t state;             /* market state number */
    uint8_t cause;             /* wire.md W3c, or ROW_CAUSE_NONE */
    uint8_t price_decimals;
    uint8_t zero[5];
};

enum { ROW_CAUSE_NONE = 255 };

/* A movement of the fund's or the fee account's cash. */
struct row_house {
    char market[32]; /* empty: none */
    uint8_t ref_id[16];
    int64_t amount;
    int64_t balance_after;
    uint64_t time_ns;
    uint64_t sequence;
    uint32_t index;
    uint8_t kind; /* the kinds of R2 in their order */
    uint8_t has_ref;
    uint8_t zero[2];
};

/* A row of the cash ledger of a portfolio. */
struct row_cash {
    struct row_house movement;
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
};

enum row_withdrawal_outcome {
    ROW_WITHDRAWAL_PENDING,
    ROW_WITHDRAWAL_SETTLED,
    ROW_WITHDRAWAL_REVERTED,
};

/* A withdrawal, pending or ended. */
struct row_withdrawal {
    uint8_t id[16];
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint64_t amount;
    uint64_t requested_at_ns;
    uint64_t sequence;
    uint32_t index; /* among the withdrawals of its command, which creates one: 0 */
    uint8_t destination[20];
    uint8_t outcome; /* enum row_withdrawal_outcome */
    uint8_t zero[7];
};

enum row_request_member {
    ROW_REQUEST_ACCOUNT = 1, /* account_id */
    ROW_REQUEST_SESSION = 2, /* id is a session_id */
    ROW_REQUEST_API_KEY = 4, /* id is an api_key_id */
    ROW_REQUEST_SUBACCOUNT = 8,
    ROW_REQUEST_PORTFOLIO = 16,
    ROW_REQUEST_WITHDRAWAL = 32, /* id is a withdrawal_id */
};

enum { ROW_RESULTS_MAX = 64 };

/* A request as it was acknowledged, with the ids of what it created. */
struct row_request {
    uint8_t request_id[16];
    uint64_t sequence;
    uint64_t processed_at_ns;
    uint64_t account_id;
    uint8_t id[16];
    uint16_t code;   /* enum request_type */
    uint8_t status;  /* enum status */
    uint8_t reason;  /* enum reason */
    uint8_t members; /* enum row_request_member bits */
    uint8_t result_count;
    uint8_t zero[2];
    uint32_t subaccount_index; /* with ROW_REQUEST_SUBACCOUNT, and so on */
    uint32_t portfolio_index;
    uint8_t results[ROW_RESULTS_MAX]; /* of a batch: enum status of each item */
};

#endif
