/* read_ticker.h - a market at a glance, as of the last applied command (json.md J6).
 *
 * Owner. The thread that owns the engine; nothing is changed. */
#ifndef ENGINE_VIEW_READ_TICKER_H
#define ENGINE_VIEW_READ_TICKER_H

#include "base/row_ticker.h"

struct engine;

/* Shows the market of this asset id, which exists: all of the row but the figures of its day, which
 * are 0. */
void read_ticker(const struct engine *engine, uint16_t asset_id, struct row_ticker *row);

#endif
