/* candle.h - how a public trade changes the candle of its interval (json.md J9, candles). Pure.
 *
 * Units. As struct row_candle. */
#ifndef BASE_CANDLE_H
#define BASE_CANDLE_H

#include "base/row_history.h"

/* Adds a trade that comes after those in the candle. One of a later interval begins a new candle; a
 * candle without trades is empty. */
void candle_add(struct row_candle *candle, enum row_interval interval,
                const struct row_trade *trade);

#endif
