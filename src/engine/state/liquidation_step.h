/* liquidation_step.h - what liquidation is in the middle of between two slices of work: an order or
 * a run of deleveraging (rules.md R7). Owned by the engine; part of its image.
 *
 * Units.  Times unix ns, prices raw, amounts micro-USDC. */
#ifndef ENGINE_STATE_LIQUIDATION_STEP_H
#define ENGINE_STATE_LIQUIDATION_STEP_H

#include "engine/state/market.h"
#include "engine/state/portfolio.h"
#include "engine/table/rank_heap.h"
#include "engine/table/timer_heap.h"

enum { DELEVERAGE_ROWS = 256, DELEVERAGE_FRUITLESS_MAX = 4 };

struct deleverage_leg {
    uint64_t price; /* of pass 1, fixed when the run begins; at a fill it is held in the band */
    uint32_t market;
};

struct deleverage_row {
    int128 score;
    uint32_t portfolio;
};

/* A run (deleverage.h). */
struct deleverage {
    int64_t rounding; /* what the fund may keep of what is left (step 3) */
    uint32_t leg_count;
    uint32_t leg;       /* the one being worked on */
    uint32_t pass;      /* 1, 2 */
    bool ranking;       /* holders are being met; else rows are being filled */
    bool gave;          /* a row of this ranking has given something */
    bool left_out;      /* more could give than there are rows: they are the rest */
    uint32_t fruitless; /* rankings in a row that gave nothing */
    uint32_t from;      /* portfolio number that the ranking goes on at */
    uint32_t row_count; /* ranked so far */
    uint32_t next_row;  /* the next to fill */
    uint64_t mark;      /* of the leg's market when the scan began */
    struct deleverage_leg legs[ENGINE_MARKETS_MAX]; /* the fund may have one in each */
    struct deleverage_row rows[DELEVERAGE_ROWS];    /* best first */
};

/* What the head of the queue is in the middle of. */
/* clang-format off */
/*    step     may become */
#define LIQUIDATION_STEP_LIST(X)                                                                   \
    X(IDLE,    TO(ORDER) | TO(UNWIND) | TO(RUN))                                                   \
    X(ORDER,   TO(IDLE))  /* the taker's slot (own_order.h) holds an order of L1 */                \
    X(UNWIND,  TO(IDLE))  /* or one of the fund */                                                 \
    X(RUN,     TO(IDLE))  /* L3 */
/* clang-format on */

enum liquidation_step {
#define X(name, next) LIQUIDATION_##name,
    LIQUIDATION_STEP_LIST(X)
#undef X
        LIQUIDATION_STEP_COUNT
};

struct liquidation {
    struct timer_heap waits; /* portfolios by liquidation_wake_ns, rank = portfolio */
    uint32_t portfolio;      /* whose order or run it is */
    uint8_t step;            /* enum liquidation_step */
    bool fund_is_done;       /* the item of the fund has made its run */
    uint32_t penalty_ppm;    /* of an order of L1 */
    int128 owed_total;       /* sum of `owed` (R2) */
    int128 *owed;            /* by portfolio: max(0, -E) at the last check of one IN_LIQUIDATION */
    bool unwind_queued[ENGINE_MARKETS_MAX];
    struct deleverage run;
    struct rank_heap rest; /* whom the scan of the run's leg has left out of its rows */
};

struct engine;

/* The only writer of the step but for a load. The table must allow the move (INVARIANT). */
void liquidation_step_move(struct liquidation *liquidation, enum liquidation_step next);

/* Whether an L3 run of the portfolio is under way: no order, transfer or withdrawal of it. */
CC_MUST_USE bool liquidation_step_is_running(const struct engine *engine, uint32_t portfolio);

/* Whether an order or a run of the portfolio is under way: not judged before its end. */
CC_MUST_USE bool liquidation_step_is_busy(const struct engine *engine, uint32_t portfolio);

/* Whether the record is that of an order under way: it stays, with or without a position. */
CC_MUST_USE bool liquidation_step_holds(const struct engine *engine, uint32_t holding);

/* During a run: whether it is the market of the leg that is being closed against its holders. */
CC_MUST_USE bool liquidation_step_ranks(const struct engine *engine, uint32_t market);

#endif
