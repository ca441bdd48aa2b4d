/* instrument.h - what a client must know of a market: its number and its scales.
 *
 * Units. Prices and sizes raw (integers of price_decimals and size_decimals), amounts micro-USDC.
 * Owner. Pure functions of a record; any thread. */
#ifndef PERP_REQUEST_INSTRUMENT_H
#define PERP_REQUEST_INSTRUMENT_H

#include "base/decimal.h"

enum { INSTRUMENT_NAME_MAX = 33, INSTRUMENT_ERROR_MAX = 512 };

struct instrument {
    char market[INSTRUMENT_NAME_MAX];
    uint16_t asset_id;
    uint8_t price_decimals, size_decimals;
    int64_t tick, lot, min_size, max_order_size;
};

/* Reads the record of `market` from the answer of GET /api/v1/markets. False leaves a sentence in
 * `error`: for an unknown market it names the known ones. */
CC_MUST_USE bool instrument_parse(struct instrument *record, const char *text, size_t count,
                                  const char *market, char error[INSTRUMENT_ERROR_MAX]);

/* Decimal text to raw units. False leaves a sentence in `error`. Tick and lot are left to the
 * exchange: its answer is the truth about them. */
CC_MUST_USE bool instrument_price(const struct instrument *record, const char *text, int64_t *raw,
                                  char error[INSTRUMENT_ERROR_MAX]);
CC_MUST_USE bool instrument_size(const struct instrument *record, const char *text, int64_t *raw,
                                 char error[INSTRUMENT_ERROR_MAX]);

/* Is the price a multiple of the tick, the size of the lot. */
static inline bool instrument_on_tick(const struct instrument *record, int64_t price)
{
    return price % record->tick == 0;
}

static inline bool instrument_on_lot(const struct instrument *record, int64_t size)
{
    return size % record->lot == 0;
}

#endif
