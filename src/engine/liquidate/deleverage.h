/* deleverage.h - L3: a run that closes a portfolio against the holders of the other side (rules.md
 * R7, L3). Owned by the engine.
 *
 *   begin: prices ── per leg: rank ── fills ── rank ── ... pass 1, pass 2 ──> end: cash is settled
 *
 * Order.  Legs by maintenance margin, largest first, ties by lower asset id. A ranking meets the
 *         market's holders by portfolio and keeps the best 256 by score, ties by account,
 *         subaccount, portfolio, the fund last. Whoever changes behind it is met once more at
 *         once, so that nobody leaves the ranks by moving a position between two slices.
 * Bound.  One holder met or one place of the ranking is a unit. A ranking gives at least a lot, but
 *         for DELEVERAGE_FRUITLESS_MAX in a row of pass 1.
 * Units.  Prices and sizes raw, amounts micro-USDC. */
#ifndef ENGINE_LIQUIDATE_DELEVERAGE_H
#define ENGINE_LIQUIDATE_DELEVERAGE_H

#include "base/compiler.h"
#include "engine/state/portfolio.h"

enum { DELEVERAGE_PLACES = 256, DELEVERAGE_FRUITLESS_MAX = 4 };

struct deleverage_leg {
    uint64_t price; /* of pass 1, fixed when the run begins */
    uint32_t market;
};

struct deleverage_place {
    int128 score;
    uint32_t portfolio;
};

struct deleverage {
    int64_t rounding; /* what the fund may keep of what is left (step 3) */
    uint32_t leg_count;
    uint32_t leg;         /* the one being worked on */
    uint32_t pass;        /* 1, 2 */
    bool ranking;         /* holders are being met; else places are being filled */
    bool gave;            /* a place of this ranking has given something */
    bool left_out;        /* more could give than there are places */
    uint32_t fruitless;   /* rankings in a row that gave nothing */
    uint32_t from;        /* portfolio number that the ranking goes on at */
    uint32_t place_count; /* ranked so far */
    uint32_t place;       /* of them, the next to fill */
    struct deleverage_leg legs[PORTFOLIO_MARKETS_MAX];
    struct deleverage_place places[DELEVERAGE_PLACES]; /* best first */
};

struct engine;

/* Fixes the prices of the portfolio's legs; its figures are up to date, all marks valid. */
void deleverage_begin(struct engine *engine, uint32_t portfolio);

/* Goes on until the units are used up or the run is over. True: it is over, nothing is left but to
 * judge the portfolio. */
CC_MUST_USE bool deleverage_go_on(struct engine *engine, uint32_t portfolio, uint32_t *units);

/* During a run: whether it is the market of the leg that is being closed. */
CC_MUST_USE bool deleverage_ranks(const struct engine *engine, uint32_t market);

/* During a run: the portfolio, up to date, has traded in that market. If it was met already it has
 * its place by what it is now. */
void deleverage_moved(struct engine *engine, uint32_t portfolio);

#endif
