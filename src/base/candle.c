#include "base/candle.h"

#include "base/money.h"

#define MINUTE_NS UINT64_C(60000000000)
#define MS_NS     UINT64_C(1000000)

static const uint16_t minutes[ROW_INTERVALS] = {
    [ROW_INTERVAL_1M] = 1,  [ROW_INTERVAL_5M] = 5,   [ROW_INTERVAL_15M] = 15,
    [ROW_INTERVAL_1H] = 60, [ROW_INTERVAL_4H] = 240, [ROW_INTERVAL_1D] = 1440,
};

void candle_add(struct row_candle *candle, enum row_interval interval,
                const struct row_trade *trade)
{
    uint64_t span_ns = minutes[interval] * MINUTE_NS;
    uint64_t start_ms = trade->time_ns / span_ns * (span_ns / MS_NS);

    if (candle->trade_count == 0 || candle->start_ms != start_ms)
        *candle = (struct row_candle){
            .start_ms = start_ms,
            .open = trade->price,
            .high = trade->price,
            .low = trade->price,
        };
    candle->high = trade->price > candle->high ? trade->price : candle->high;
    candle->low = trade->price < candle->low ? trade->price : candle->low;
    candle->close = trade->price;
    candle->volume = (uint64_t)money_clamp((int128)candle->volume + trade->size);
    candle->notional =
        (uint64_t)money_clamp((int128)candle->notional + (int128)trade->price * trade->size);
    candle->trade_count++;
}
