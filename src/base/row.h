/* row.h - binary rows of a reply: the follower writes them, net formats them as JSON.
 *
 * Owner. The follower owns a reply buffer until it publishes the reply, then net until it frees the
 *        buffer.
 * Units. Prices and sizes are raw, with the market's decimals in the row; amounts are micro-USDC,
 *        times unix ns. Rows are multiples of 8 bytes, without gaps between them. */
#ifndef BASE_ROW_H
#define BASE_ROW_H

#include "base/compiler.h"
#include "base/share_list.h"

struct row_order {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t id[16];
    char market[32];
    uint64_t initial;
    uint64_t remaining;
    uint64_t filled;
    int128 filled_notional; /* micro-USDC; average price = this / filled */
    uint64_t price;
    uint64_t expiry; /* 0 IOC, 1 FOK, UINT64_MAX GTC, else unix ns */
    uint64_t sequence;
    uint64_t time_ns;
    uint64_t updated_at_ns;
    uint64_t book_handle; /* 0: it does not rest */
    uint64_t
        trigger_price; /* conditional kinds only, triggered or not; also the next and those below */
    uint8_t oco_group[16]; /* all zero: none */
    uint32_t index;
    uint8_t status;     /* order_status number of wire.md */
    uint8_t order_type; /* order_type number */
    uint8_t side;       /* 0 LONG, 1 SHORT */
    uint8_t reason;     /* enum reason, 0 none */
    uint8_t post_only;
    uint8_t reduce_only;
    uint8_t stp;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t trigger_source; /* 0 MARK, 1 LAST, 2 INDEX */
    uint8_t live_tif;       /* after it is triggered: 0 IOC, 1 FOK, 2 GTC */
    uint8_t zero[1];
};

enum { ROW_NAME_BYTES = 32 };

struct row_balance {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    int64_t cash_balance; /* free = max(0, withdrawable) (R4) */
    int64_t withdrawable;
    int128 equity;
    int128 initial_margin;
    int128 maintenance_margin;
    char name[ROW_NAME_BYTES];
    int64_t withdrawable_now; /* what may leave it now (R10) */
    uint8_t status;           /* 0 ACTIVE, 1 IN_LIQUIDATION, 2 CLOSED */
    uint8_t zero[7];
};

struct row_subaccount {
    uint32_t subaccount_index;
    uint32_t portfolio_count; /* ACTIVE and IN_LIQUIDATION */
    int128 cash_balance;      /* sum of the free cash of its portfolios */
    uint8_t status;           /* 0 ACTIVE, 1 CLOSED */
    uint8_t zero[7];
    uint64_t pad;
};

struct row_session {
    uint8_t id[16];
    uint64_t created_ns;
    uint64_t expires_ns;
    uint8_t key[32];
    uint8_t master[33]; /* the key that made it */
    uint8_t has_master;
    uint8_t scope; /* 0 FULL_ACCESS, 1 TRADING_ONLY */
    uint8_t zero;
    int32_t pin; /* subaccount, -1: none */
};

struct row_master_key {
    uint64_t created_ns;
    uint8_t key[33];
    uint8_t is_passkey; /* else Secp256k1 */
    uint8_t is_admin;   /* else scoped */
    uint8_t scope;      /* 0 FULL_ACCESS, 1 TRADING_ONLY */
    int32_t pin;        /* subaccount, -1: none */
    uint16_t id_bytes;  /* of a passkey's credential id, else 0 */
    uint8_t zero[6];
    uint8_t id[256];
};

struct row_pairing {
    uint8_t id[16];
    uint64_t expires_ns;
    uint8_t ecdh[65]; /* uncompressed P-256; with has_keys, as the next */
    uint8_t session[32];
    uint8_t status; /* 0 PENDING, 1 DEPOSITED, 2 COMPLETED */
    uint8_t has_keys;
    uint8_t zero;
    uint32_t text_bytes; /* of the ciphertext in Base64, which follows the row; 0: none */
};

struct row_api_key {
    uint8_t id[16];
    uint64_t created_ns;
    uint64_t expires_ns; /* of a device key */
    char label[ROW_NAME_BYTES];
    int32_t pin;   /* subaccount, -1: none */
    uint8_t scope; /* 0 READ, 1 READ_WRITE */
    uint8_t is_device;
    uint8_t zero[2];
};

struct row_position {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t id[16];
    char market[32];
    int64_t size; /* signed */
    int64_t cost; /* micro-USDC; average entry price = cost / size */
    int64_t net_funding;
    uint64_t mark_price;
    int128 unrealized_pnl;
    int128 initial_margin; /* of the market: IM_m, MM_m (R4) */
    int128 maintenance_margin;
    uint64_t liquidation_price; /* 0: none */
    uint32_t leverage;
    uint8_t adl_quantile; /* 0..4, 4 = first to be deleveraged */
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero;
};

struct row_account {
    uint64_t account_id;
    int128 volume_14d; /* micro-USDC */
    int32_t maker_fee_ppm;
    int32_t taker_fee_ppm;
    uint32_t subaccount_count;
    uint8_t status; /* 0 ACTIVE, 1 CLOSED */
    uint8_t fee_tier;
    uint8_t share_class; /* enum share_class */
    uint8_t zero;
    char label[32];
    uint64_t private_seq;                    /* of the newest private event (wire.md W9) */
    uint32_t slots_used[SHARE_TABLE_COUNT];  /* its rows in each table (W8, Slots) */
    uint32_t slots_bound[SHARE_TABLE_COUNT]; /* how many it may have, UINT32_MAX: no own bound */
};

enum { ROW_TIERS_MAX = 8, ROW_FEE_TIERS = 6 };

struct row_tier {
    uint64_t upper_notional; /* micro-USDC; 0: unbounded */
    uint32_t max_leverage;
    uint32_t imr_ppm;
    uint32_t mmr_ppm;
    uint32_t zero;
};

struct row_market {
    char market[32];
    char base[32];
    uint64_t tick_size; /* raw */
    uint64_t lot_size;
    uint64_t min_size;
    uint64_t max_order_size;
    uint64_t min_notional; /* micro-USDC */
    uint64_t impact_notional;
    uint64_t max_price; /* raw */
    uint32_t max_leverage;
    uint32_t price_band_ppm;
    uint32_t max_slippage_ppm;
    uint16_t asset_id;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t state; /* market state number */
    uint8_t tier_count;
    uint8_t next_tier_count; /* with effective_at_ns */
    uint8_t zero[5];
    uint64_t effective_at_ns; /* 0: none */
    uint64_t position_limit;  /* micro-USDC, 0: none */
    uint64_t open_interest_limit;
    uint32_t mark_book_ppm; /* in force; never sent, it follows the tiers */
    uint32_t oracle_sources_min;
    struct row_tier tiers[ROW_TIERS_MAX];
    struct row_tier next_tiers[ROW_TIERS_MAX];
    int32_t maker_fee_ppm[ROW_FEE_TIERS];
    int32_t taker_fee_ppm[ROW_FEE_TIERS];
};

/* A book: this row, then bid_count bids and ask_count asks, best first. */
struct row_book {
    char market[32];
    uint64_t book_seq;
    uint32_t bid_count;
    uint32_t ask_count;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero[6];
};

struct row_level {
    uint64_t price;
    uint64_t size;
};

/* The single orders of a book: a row_book that counts orders, then this row for each of bid_count
 * bids and ask_count asks, best first, each level in the order of its queue. */
struct row_book_order {
    uint64_t price;
    uint64_t size;
    uint64_t handle; /* seq of its add */
};

struct row_mark {
    char market[32];
    uint64_t book_seq;
    uint64_t mark_price;  /* 0: never computed */
    uint64_t index_price; /* 0: none yet */
    int64_t premium_ppb;  /* last sample */
    int64_t predicted_rate_ppb;
    int64_t book_term;    /* slow average of the book less the index (R5: ema), signed */
    uint64_t third_price; /* 0: none, or the market does not match */
    uint32_t clamp_ppm;   /* how far from the index the mark may be */
    uint8_t valid;
    uint8_t in_gap;
    uint8_t price_decimals;
    uint8_t state; /* market state number; with mark_price the settlement price of a closed one */
};

/* Every term of R2's invariants at one sequence, then market_count struct row_audit_market. */
struct row_audit {
    int128 cash; /* micro-USDC, all portfolios with 0/0/0 */
    int128 cost;
    int64_t fee_account;
    int64_t withdrawals_pending;
    int128 funding_pool;
    int128 deposits;
    int128 faucet;
    int128 top_ups;
    int128 withdrawals_settled;
    int128 owed;   /* I9 */
    int128 claims; /* what portfolios have in cash, without 0/0/0 */
    int64_t fund;  /* cash of 0/0/0 */
    uint32_t recount_differences;
    uint32_t market_count;
    uint16_t invariants; /* bit k - 1 = I<k> holds */
    uint8_t zero[14];
};

struct row_audit_market {
    char market[32];
    int64_t size_sum; /* raw; 0 when I1 holds */
    int64_t zero;
    int128 cost_sum;   /* micro-USDC */
    uint64_t best_bid; /* raw; 0: none */
    uint64_t best_ask;
    int64_t funding_pool;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t pad[6];
};

#endif
