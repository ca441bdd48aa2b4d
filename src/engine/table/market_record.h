/* market_record.h - a market's record: the strict JSON of code 1001 (json.md J5) as integers. Pure.
 *
 * Units. Prices and sizes raw, amounts micro-USDC, rates ppm, times unix ns. */
#ifndef ENGINE_TABLE_MARKET_RECORD_H
#define ENGINE_TABLE_MARKET_RECORD_H

#include "base/operator_rule.h"
#include "engine/table/tier.h"

enum {
    MARKET_SYMBOL_BYTES = 32, /* zero-padded, all may be used */
    MARKET_TIERS_MAX = 8,
    MARKET_FEE_TIERS = 6,
    MARKET_ASSET_MAX = 65534,
    MARKET_LEVERAGE_MAX = 100,
    MARKET_SOURCES_MAX = 16, /* of an oracle update (R5) */
};

#define MARKET_RAW_MAX      ((INT64_C(1) << 40) - 1) /* R1: price, quantity */
#define MARKET_NOTIONAL_MAX (INT64_C(1) << 60)
#define MARKET_BOOK_FOLLOWS UINT32_MAX /* mark_book_ppm was never sent: it follows the tiers */

/* clang-format off */
/*    state        code  may become (rules.md R9, moves) */
#define MARKET_STATE_LIST(X)                   \
    X(ACTIVE,      0,    ALL_BUT(ACTIVE))      \
    X(POST_ONLY,   1,    ALL_BUT(POST_ONLY))   \
    X(REDUCE_ONLY, 2,    ALL_BUT(REDUCE_ONLY)) \
    X(CANCEL_ONLY, 3,    ALL_BUT(CANCEL_ONLY)) \
    X(HALTED,      4,    ALL_BUT(HALTED))      \
    X(CLOSED,      5,    0)
/* clang-format on */

enum market_state {
#define X(name, code, next) MARKET_##name = (code),
    MARKET_STATE_LIST(X)
#undef X
        MARKET_STATE_COUNT
};

/* The table in one word: a move is bit 8 * from + to. */
static const uint64_t market_record_moves = 0
#define ALL_BUT(name)       (((1ull << MARKET_STATE_COUNT) - 1) & ~(1ull << MARKET_##name))
#define X(name, code, next) | (uint64_t)(next) << 8 * (code)
    MARKET_STATE_LIST(X);
#undef X
#undef ALL_BUT

/* True if the table allows the move. A state never becomes itself. */
CC_MUST_USE static inline bool market_record_may_become(enum market_state from,
                                                        enum market_state to)
{
    INVARIANT((unsigned)from < MARKET_STATE_COUNT);
    INVARIANT((unsigned)to < MARKET_STATE_COUNT);
    return (market_record_moves >> (8 * (unsigned)from + (unsigned)to)) & 1u;
}

/* The optional members that a record did not send; a change keeps what the market had. */
enum market_record_absent {
    MARKET_ABSENT_BOOK = 1,
    MARKET_ABSENT_SOURCES = 2,
    MARKET_ABSENT_POSITION = 4,
    MARKET_ABSENT_INTEREST = 8,
};

struct market_record {
    char symbol[MARKET_SYMBOL_BYTES]; /* without a final zero when it fills them */
    char base[MARKET_SYMBOL_BYTES];
    uint64_t tick_size;
    uint64_t lot_size;
    uint64_t min_size;
    uint64_t max_order_size;
    uint64_t min_notional;
    uint64_t impact_notional;
    uint64_t max_price;           /* min(2^40 - 1, tick * (2^24 - 1)) (W7) */
    uint64_t effective_at_ns;     /* of the tiers; 0: at once */
    uint64_t position_limit;      /* of an account, notional; 0: none (R4) */
    uint64_t open_interest_limit; /* of the market, notional; 0: none */
    struct market_tier tiers[MARKET_TIERS_MAX];
    int32_t maker_ppm[MARKET_FEE_TIERS];
    int32_t taker_ppm[MARKET_FEE_TIERS];
    uint32_t max_leverage;
    uint32_t tier_count;
    uint32_t price_band_ppm;
    uint32_t max_slippage_ppm;
    uint32_t mark_book_ppm; /* b of R5, or MARKET_BOOK_FOLLOWS */
    uint32_t oracle_sources_min;
    uint16_t asset_id;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t state;  /* first state of a new market */
    uint8_t absent; /* as parsed: bits of enum market_record_absent */
    uint8_t zero[2];
};

/* Parses the body of code 1001 (zero-padded text). Returns the first rule that it breaks: of the
 * text from its begin to its end, then a missing member, then the rules in the order of their list;
 * *record is then unspecified. */
CC_MUST_USE enum operator_rule market_record_read(struct market_record *record, const uint8_t *body,
                                                  size_t body_bytes);

/* The same for who does not ask which rule. False: it breaks one. */
CC_MUST_USE static inline bool market_record_parse(struct market_record *record,
                                                   const uint8_t *body, size_t body_bytes)
{
    return market_record_read(record, body, body_bytes) == OPERATOR_RULE_none;
}

/* b of R5, ppm: what a book may add to the mark. */
static inline uint32_t market_record_book_ppm(const struct market_record *record)
{
    return record->mark_book_ppm == MARKET_BOOK_FOLLOWS ? record->tiers[0].mmr_ppm / 4
                                                        : record->mark_book_ppm;
}

/* True if every byte of a record from an image obeys the rules of J5, R1, R4 and R6. Its tiers may
 * have changed since it was parsed. */
CC_MUST_USE bool market_record_holds(const struct market_record *record);

#endif
