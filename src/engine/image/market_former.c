#include "engine/image/market_former.h"

#include "engine/state/state.h"
#include "engine/table/image_read.h"

/* A record as it was. */
struct former_record {
    char symbol[MARKET_SYMBOL_BYTES];
    char base[MARKET_SYMBOL_BYTES];
    uint64_t tick_size;
    uint64_t lot_size;
    uint64_t min_size;
    uint64_t max_order_size;
    uint64_t min_notional;
    uint64_t impact_notional;
    uint64_t max_price;
    uint64_t effective_at_ns;
    struct market_tier tiers[MARKET_TIERS_MAX];
    int32_t maker_ppm[MARKET_FEE_TIERS];
    int32_t taker_ppm[MARKET_FEE_TIERS];
    uint32_t max_leverage;
    uint32_t tier_count;
    uint32_t price_band_ppm;
    uint32_t max_slippage_ppm;
    uint16_t asset_id;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t state;
    uint8_t zero[3];
};

static_assert(sizeof(struct former_record) == 520, "the bytes of a record of versions 1 to 3");

/* What a row had that is not in a market any more. */
struct former {
    struct former_record record;
    uint64_t valid_price;
    uint64_t valid_ns;
    uint64_t hold_prices[3];
    uint64_t reduce_only_ns;
    uint8_t hold_count;
};

/* clang-format off */
/* The fields of version 1 in their order; O: of struct former, N: of struct market. */
#define FORMER_FIELDS_1(O, N) \
    O(record) N(next_tiers) N(next_tier_count) N(next_max_leverage) N(index_price) N(publish_ns) \
    O(valid_price) O(valid_ns) O(hold_prices) N(mark) N(ema) N(last_price) N(second_ns) \
    N(max_abs_size) N(book_seq) N(trade_seq) N(funding_pool) N(scan_max) N(state) \
    N(former_state) O(hold_count) N(mark_valid) N(tier_generation)
#define FORMER_FIELDS_2(O, N) FORMER_FIELDS_1(O, N) N(cancel_sequence)
#define FORMER_FIELDS_3(O, N) \
    FORMER_FIELDS_2(O, N) N(premium_sum) N(premium_slot) N(funding_hour) N(funding_index) \
    N(funding_rate_ppb) O(reduce_only_ns) N(premium_count) N(funding_epoch) N(funding_from) \
    N(funding_open) N(waited) N(premium_ppb) N(funding_epoch_hour)
/* clang-format on */

#define BYTES_OLD(field) +sizeof(((struct former *)0)->field)
#define BYTES_NEW(field) +sizeof(((struct market *)0)->field)
#define READ_OLD(field)  image_read_bytes(read, &former.field, sizeof former.field);
#define READ_NEW(field)  image_read_bytes(read, &market->field, sizeof market->field);

size_t market_former_bytes(uint32_t version)
{
    if (version == 1)
        return 0 FORMER_FIELDS_1(BYTES_OLD, BYTES_NEW);
    if (version == 2)
        return 0 FORMER_FIELDS_2(BYTES_OLD, BYTES_NEW);
    return 0 FORMER_FIELDS_3(BYTES_OLD, BYTES_NEW);
}

static void convert_record(struct market_record *record, const struct former_record *former)
{
#define TAKE(field) memcpy(&record->field, &former->field, sizeof former->field);
    TAKE(symbol)
    TAKE(base)
    TAKE(tiers)
    TAKE(maker_ppm)
    TAKE(taker_ppm)
#undef TAKE
    record->tick_size = former->tick_size;
    record->lot_size = former->lot_size;
    record->min_size = former->min_size;
    record->max_order_size = former->max_order_size;
    record->min_notional = former->min_notional;
    record->impact_notional = former->impact_notional;
    record->max_price = former->max_price;
    record->effective_at_ns = former->effective_at_ns;
    record->max_leverage = former->max_leverage;
    record->tier_count = former->tier_count;
    record->price_band_ppm = former->price_band_ppm;
    record->max_slippage_ppm = former->max_slippage_ppm;
    record->asset_id = former->asset_id;
    record->price_decimals = former->price_decimals;
    record->size_decimals = former->size_decimals;
    record->state = former->state;
    record->mark_book_ppm = MARKET_BOOK_FOLLOWS;
    record->oracle_sources_min = 1;
    memcpy(record->zero, former->zero, sizeof record->zero);
    record->absent = former->zero[2]; /* not 0: refused */
}

/* Its prices are the run; it began with the newest update. */
static void convert_hold(struct market *market, const struct former *former)
{
    uint64_t low = UINT64_MAX, high = 0;

    market->hold_count = former->hold_count;
    if (former->hold_count == 0 || former->hold_count > MARKET_HOLD_UPDATES)
        return;
    for (uint32_t i = 0; i < former->hold_count; i++) {
        low = former->hold_prices[i] < low ? former->hold_prices[i] : low;
        high = former->hold_prices[i] > high ? former->hold_prices[i] : high;
    }
    market->run_low = low;
    market->run_high = high;
    market->run_newest = former->hold_prices[former->hold_count - 1];
    market->run_first_ns = market->publish_ns;
    market->anchor = former->valid_price;
}

void market_former_load(const struct engine *engine, struct image_read *read, struct market *market)
{
    struct former former;

    memset(&former, 0, sizeof former);
    if (read->version == 1) {
        FORMER_FIELDS_1(READ_OLD, READ_NEW)
    } else if (read->version == 2) {
        FORMER_FIELDS_2(READ_OLD, READ_NEW)
        market->cancel_sequence = order_stamp_behind(market->cancel_sequence);
    } else {
        FORMER_FIELDS_3(READ_OLD, READ_NEW)
    }
    convert_record(&market->record, &former.record);
    convert_hold(market, &former);
    if (read->version < 3) { /* nobody owes funding for the hour of such an image */
        market->premium_slot = engine->t_ns / MARKET_SLOT_NS;
        market->funding_hour = engine->t_ns / MARKET_HOUR_NS;
    }
}
