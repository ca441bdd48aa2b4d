/* view.h - the demo's screen: a fixed grid on the whole terminal, drawn of plain data.
 *
 *   headline                       rates, latency, durability
 *   address and keys
 *   markets                        one row each, the chosen one marked
 *   depth ladder of the chosen  |  its tape
 *   the last minute, refusals   |  stages of a request
 *   what to try
 *
 * All rows above the smallest size go to ladder and tape. A smaller terminal is told so.
 *
 * Owner. One thread, with the terminal open (screen.h). Units. As the fields say. */
#ifndef PERP_DEMO_VIEW_H
#define PERP_DEMO_VIEW_H

#include "base/decimal.h"
#include "perp_demo/listing.h"
#include "perp_demo/series.h"

enum {
    VIEW_ROWS_MIN = 24,
    VIEW_COLUMNS_MIN = 80,
    VIEW_LEVELS = 100, /* of a side, and trades of the tape; a higher terminal shows no more */
    VIEW_STAGES = 6,
    VIEW_REFUSALS = 3,
    VIEW_TEXT = 256,
};

struct view_level {
    char price[DECIMAL_TEXT_MAX], size[DECIMAL_TEXT_MAX];
    double amount; /* the size, for the length of its bar */
};

struct view_trade {
    char price[DECIMAL_TEXT_MAX], size[DECIMAL_TEXT_MAX];
    char time[16]; /* 12:34:56.789 */
    bool sells;    /* the taker */
};

struct view_market {
    const char *name;
    char index[DECIMAL_TEXT_MAX], bid[DECIMAL_TEXT_MAX], bid_size[DECIMAL_TEXT_MAX],
        ask[DECIMAL_TEXT_MAX], ask_size[DECIMAL_TEXT_MAX], last[DECIMAL_TEXT_MAX];
    double taken_usdc, trades_s;
};

struct view_stage {
    const char *name;
    double p50_ns, p99_ns;
};

struct view_refusal {
    const char *name;
    uint64_t count;
};

struct view {
    uint64_t elapsed_s, accepted, rejected, takes;
    double trades_s, journal_bytes;
    const char *durability;
    char address[VIEW_TEXT];       /* of the web console */
    char operator_page[VIEW_TEXT]; /* of the operator's page; shown where there is room */
    char keys[VIEW_TEXT];          /* what keys do, and what happened */
    struct view_market markets[LISTING_MARKETS];
    uint32_t chosen;                                        /* market */
    struct view_level bids[VIEW_LEVELS], asks[VIEW_LEVELS]; /* best first */
    uint32_t bid_count, ask_count;
    struct view_trade trades[VIEW_LEVELS]; /* newest first */
    uint32_t trade_count;
    struct series requests_s, p50_ns, p99_ns; /* of each second */
    struct view_stage stages[VIEW_STAGES];
    uint32_t stage_count;
    struct view_refusal refusals[VIEW_REFUSALS]; /* most frequent first */
    uint32_t refusal_count;
    char tries[2][VIEW_TEXT];
};

/* How many levels of a side, and trades, a terminal of so many rows shows: at least 3. */
uint32_t view_levels(uint32_t rows);

/* Draws everything and shows it. */
void view_draw(const struct view *view);

#endif
