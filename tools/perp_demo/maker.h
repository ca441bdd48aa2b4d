/* maker.h - four ways to make a market. Each turn deals with one of the five, in rotation.
 *
 *   ladder     three levels a side around the middle, amended as it moves: replaced at another
 *              price or size (code 2), or reduced in their place (code 1)
 *   grid       orders on fixed lines of price, which stay until they trade or are far away
 *   inventory  one bid and one ask around a price that leans against what is held, as Avellaneda
 *              and Stoikov (2008) have it, good for a few seconds
 *   quoter     the best bid and ask of the book, joined or improved by a tick, many times a second
 *
 * All are post-only. Levels and sizes are the demo's, not advice.
 * Owner. The bot's thread. */
#ifndef PERP_DEMO_MAKER_H
#define PERP_DEMO_MAKER_H

#include "perp_demo/bot.h"

void maker_ladder(struct bot *bot);
void maker_grid(struct bot *bot);
void maker_inventory(struct bot *bot);
void maker_quoter(struct bot *bot);

#endif
