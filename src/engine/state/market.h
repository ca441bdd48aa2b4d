/* market.h - the table of markets: record, state, prices, book, holders; owned by the engine.
 *
 * The index of a market is its rank in order of definition; markets are never removed.
 *
 * Units. Prices and sizes raw, ema raw * 2^20 (R5), times unix ns. */
#ifndef ENGINE_STATE_MARKET_H
#define ENGINE_STATE_MARKET_H

#include "base/compiler.h"
#include "base/status.h"
#include "engine/state/effects.h"
#include "engine/table/book.h"
#include "engine/table/market_record.h"

enum { ENGINE_MARKETS_MAX = 128, MARKET_HOLD_UPDATES = 3, MARKET_HOLDER_DEPTH = 4 };

enum { MARKET_ASSET_ALL = 0xFFFF }; /* the asset id of "every market" (W1) */

#define MARKET_NONE UINT32_MAX

/* What happens to every market again and again: mark, sample of the premium, funding (R5). */
#define MARKET_SECOND_NS UINT64_C(1000000000)
#define MARKET_SLOT_NS   (5 * MARKET_SECOND_NS)
#define MARKET_HOUR_NS   (3600 * MARKET_SECOND_NS)

struct market {
    struct market_record record;                     /* tiers: those in force */
    struct market_tier next_tiers[MARKET_TIERS_MAX]; /* in force from record.effective_at_ns */
    uint32_t next_tier_count;                        /* 0: none */
    uint32_t next_max_leverage;
    uint64_t index_price; /* last accepted oracle price, 0: none; written by mark */
    uint64_t publish_ns;  /* publish time of the last oracle update, held ones included */
    uint64_t run_low;     /* while held: lowest and highest price of the run of held updates, ... */
    uint64_t run_high;    /* ... which lie within 2 %, ... */
    uint64_t run_newest;  /* ... its newest price ... */
    uint64_t run_first_ns;   /* ... and the publish time of its first */
    uint64_t anchor;         /* reference when the first of holds in a row began (R5) */
    uint64_t hold_until_ns;  /* t of the end of the last hold, 0: none yet */
    uint64_t taken_ns;       /* t of the last price taken by a run or by 1010, 0: none yet */
    uint64_t reference_from; /* second from which on samples count for the reference */
    uint64_t announced_ns;   /* t at which its closing was announced (R9), 0: it was not */
    uint64_t draw;           /* first 8 bytes of the signature of the newest update (R7, Fund) */
    uint64_t mark;           /* last computed, 0: never */
    uint64_t checked_mark;   /* of the last scan that finished outside a gap (R3), 0: none yet */
    int64_t ema;
    uint64_t last_price;   /* of the last trade, 0: none */
    uint64_t second_ns;    /* full second of t at which ema and mark were last made */
    uint64_t max_abs_size; /* running maximum of |size| of its holdings (R1) */
    uint64_t book_seq;     /* raised by each public event (W9) */
    uint64_t trade_seq;
    int64_t funding_pool;
    uint64_t open_interest;      /* sum of the long positions */
    uint64_t scan_max;           /* max_abs_size being made exact by the running mark scan */
    uint64_t cancel_sequence;    /* stamp: older orders not reduce-only are dead (R3); 0: no list */
    int64_t premium_sum;         /* of the hour's samples, ppb (R5) */
    uint64_t premium_slot;       /* t / 5 s of the last of them */
    int64_t premium_ppb;         /* the last sample */
    uint64_t funding_hour;       /* t / 1 h of the last hour that was opened or skipped */
    uint64_t funding_epoch_hour; /* of the epoch: its hour, ... */
    uint64_t funding_index;      /* ... index, ... */
    int64_t funding_rate_ppb;    /* ... and rate */
    uint32_t premium_count;
    uint32_t funding_epoch; /* raised by each settlement that opens; 0: none yet */
    uint32_t funding_from;  /* portfolio number that the epoch goes on at, while it is open */
    bool funding_open;      /* positions of the epoch before funding_epoch may be left */
    bool waited;            /* a portfolio that it keeps from being liquidated waits (R7) */
    bool funding_queued;    /* it is in the queue (work.h) */
    bool in_gap;            /* a mark that its holders were not checked at (R3) */
    uint8_t state;          /* enum market_state; written by market_set_state */
    uint8_t former_state;   /* to return to when the hold ends */
    uint8_t hold_count;     /* held updates in the run, at most MARKET_HOLD_UPDATES; 0: not held */
    bool mark_valid;        /* as of its last computation or loss (R5) */
    uint8_t clock_state;    /* to return to when the gap of the clock ends; 0: none is open */
    bool passes_hour;       /* an hour until the next full second is passed over (R9) */
    uint8_t zero[6];
    uint32_t tier_generation; /* raised when other tiers come in force: margin's figures are old */
    struct book book;
    uint64_t *holders[MARKET_HOLDER_DEPTH]; /* bitmap of portfolio numbers, [0] a bit each */
};

/* clang-format off */
#define MARKET_TIER_FIELDS(X) \
    X(upper_notional) X(initial_deduction) X(maintenance_deduction) X(max_leverage) X(imr_ppm) \
    X(mmr_ppm) X(zero)
#define MARKET_RECORD_FIELDS(X) \
    X(symbol) X(base) X(tick_size) X(lot_size) X(min_size) X(max_order_size) X(min_notional) \
    X(impact_notional) X(max_price) X(effective_at_ns) X(tiers) X(maker_ppm) X(taker_ppm) \
    X(max_leverage) X(tier_count) X(price_band_ppm) X(max_slippage_ppm) X(asset_id) \
    X(price_decimals) X(size_decimals) X(state) X(zero) X(absent) X(mark_book_ppm) \
    X(oracle_sources_min) X(position_limit) X(open_interest_limit)
#define MARKET_FIELDS_4(X) \
    X(record) X(next_tiers) X(next_tier_count) X(next_max_leverage) X(index_price) X(publish_ns) \
    X(mark) X(ema) X(last_price) X(second_ns) X(max_abs_size) X(book_seq) X(trade_seq) \
    X(funding_pool) X(scan_max) X(state) X(former_state) X(mark_valid) X(tier_generation) \
    X(cancel_sequence) X(premium_sum) X(premium_slot) X(funding_hour) X(funding_index) \
    X(funding_rate_ppb) X(premium_count) X(funding_epoch) X(funding_from) X(funding_open) \
    X(waited) X(premium_ppb) X(funding_epoch_hour) X(run_low) X(run_high) X(run_newest) \
    X(run_first_ns) X(hold_count) X(anchor) X(hold_until_ns) X(taken_ns) X(reference_from) \
    X(announced_ns) X(draw) X(checked_mark) X(in_gap)
#define MARKET_FIELDS(X) MARKET_FIELDS_4(X) X(clock_state) X(passes_hour)
#define MARKET_CACHES(X) X(funding_queued) X(open_interest) X(book) X(holders) X(zero)
/* clang-format on */

struct market_table {
    struct market rows[ENGINE_MARKETS_MAX];
    uint32_t count;
    uint64_t tiers_due_ns;   /* earliest effective_at_ns of next_tiers, UINT64_MAX: none */
    struct book_pages pages; /* of the ladders of all books */
    uint8_t *ladders;        /* ENGINE_MARKETS_MAX pieces of book_bytes(BOOK_TICKS_MAX) */
    uint8_t sorted[ENGINE_MARKETS_MAX]; /* indexes by ascending asset id */
    uint8_t by_asset[1 << 16];          /* index + 1, 0: unknown */
};

struct engine;
struct command;
struct engine_result;

/* Index of a market by its asset id, or MARKET_NONE. */
CC_MUST_USE uint32_t market_find(const struct engine *engine, uint32_t asset_id);

/* Rows market_id and market of R11: *index is the market that a body names, or the status of the
 * row that it fails. */
CC_MUST_USE enum status market_of_asset(const struct engine *engine, uint16_t asset_id,
                                        uint32_t *index);

/* Code 1001: parses, checks and defines or changes a market (J5, R10). */
CC_MUST_USE enum status market_define(struct engine *engine, const struct command *command,
                                      struct engine_result *result);

/* Makes what is kept of the newest market (its record is set) beside its row: the ways to find it
 * and an empty book. */
void market_enter(struct engine *engine);

/* Computes tiers_due_ns. */
void market_find_due(struct market_table *table);

/* Puts the next tiers of every market in force whose time has come. */
void market_activate_tiers(struct engine *engine);

/* The state that the market has, or returns to when the gap of the clock ends (R9). */
CC_MUST_USE enum market_state market_own_state(const struct engine *engine, uint32_t market);

/* The only writer of a market's state: emits 2111. Nothing happens when it has that state. Entering
 * REDUCE_ONLY puts the orders that are not reduce-only on the market's cancellation list, CLOSED
 * every one (R9; by settlement_begin alone). While the clock has a gap the market stays HALTED: any
 * state but CLOSED is kept as what it returns to, and nothing is emitted. */
void market_set_state(struct engine *engine, uint32_t market, enum market_state state,
                      enum effect_cause cause);

/* A fund deficit, and whatever else may only make a state stricter: a market that is looser than
 * `state` takes it, a held one returns to it at the loosest (R9, who sets a state). */
void market_tighten(struct engine *engine, uint32_t market, enum market_state state,
                    enum effect_cause cause);

/* True if the market's index is valid now (R5): it was accepted, is not held and is not stale. For
 * a CLOSED market: true if its settlement is complete. */
CC_MUST_USE bool market_mark_is_valid(const struct engine *engine, uint32_t market);

/* R4: it is HALTED, its index is not valid, or its settlement is not complete. */
CC_MUST_USE bool market_is_frozen(const struct engine *engine, uint32_t market);

/* R4: what a frozen market takes off for this value of a position, micro-USDC: a tenth, or all of
 * it. */
CC_MUST_USE uint128 market_stress(const struct engine *engine, uint32_t market, uint128 value);

/* Whether orders meet, conditional orders fire and a liquidation sells into the book (R9), a valid
 * mark provided. */
static inline bool market_matches(const struct market *market)
{
    return market->state == MARKET_ACTIVE || market->state == MARKET_REDUCE_ONLY;
}

/* Whether a taker may meet what rests: a gap lets nobody take (R3). */
static inline bool market_may_meet(const struct market *market)
{
    return market_matches(market) && !market->in_gap;
}

/* Leverage of accounts that chose none: min(20, the market's maximum) (R4). */
static inline uint32_t market_leverage(const struct market *market)
{
    return market->record.max_leverage < MARKET_LEVERAGE_DEFAULT ? market->record.max_leverage
                                                                 : MARKET_LEVERAGE_DEFAULT;
}

/* The sequence of the market's next public event (W9: raised before each 2106-2111). */
static inline uint64_t market_next_seq(struct market *market)
{
    return ++market->book_seq;
}

#endif
