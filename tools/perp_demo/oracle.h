/* oracle.h - moves the prices outside and signs them for the exchange (code 1000).
 *
 * Owner. The bot's thread; it is the feed's one writer. */
#ifndef PERP_DEMO_ORACLE_H
#define PERP_DEMO_ORACLE_H

#include "perp_demo/bot.h"

/* One step of every market's walk. They are correlated: each step has a part that all share. */
void oracle_step(struct bot *bot);

#endif
