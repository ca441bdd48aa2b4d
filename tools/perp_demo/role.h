/* role.h - who takes part in the demo: one table. */
#ifndef PERP_DEMO_ROLE_H
#define PERP_DEMO_ROLE_H

#include "perp_demo/bot.h"

/* clang-format off */
/*    role       processes  ms a turn  leverage  sends frames  a turn */
#define ROLE_LIST(X) \
    X(ladder,    1,           50,       0,       false,        maker_ladder) \
    X(grid,      1,          100,      10,       false,        maker_grid) \
    X(inventory, 1,           50,       5,       false,        maker_inventory) \
    X(quoter,    1,           25,      20,       false,        maker_quoter) \
    X(taker,     4,           80,       0,       true,         taker_crowd) \
    X(whale,     1,         1500,       3,       true,         taker_whale) \
    X(oracle,    1,          200,       0,       false,        oracle_step)
/* clang-format on */

enum role_index {
#define X(name, count, turn_ms, leverage, frames, turn) ROLE_##name,
    ROLE_LIST(X)
#undef X
        ROLE_COUNT
};

/* All processes, the oracle included. */
#define X(name, count, turn_ms, leverage, frames, turn) +(count)
enum { ROLE_PROCESSES = ROLE_LIST(X) };
#undef X

struct role {
    const char *name;
    uint32_t count;    /* processes */
    uint32_t turn_ms;  /* from one turn to the next */
    uint32_t leverage; /* set in every market; 0: the default */
    bool sends_frames;
    void (*turn)(struct bot *bot);
};

/* The row of a role. */
const struct role *role_at(enum role_index index);

/* NULL: there is none of that name. */
const struct role *role_find(const char *name);

#endif
