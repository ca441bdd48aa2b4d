/* adl_rank.h - the rank of a position among those of its market and side, in fifths.
 *
 * It is the `adl_quantile` of a read: 4 is deleveraged first (rules.md R7, Score; json.md J2).
 *
 * For each market and side, four scores divide the holders into fifths. A scan of the holders
 * computes them in slices over several turns, when a read needs them and the last ones are older
 * than ADL_RANK_AGE_NS. Until the scan ends, scores up to ADL_RANK_AGE_MAX_NS old are used. One
 * scan runs at a time: a read that needs another market helps to finish the current scan first.
 *
 * Owner.  The follower's thread, between commands.
 * Bound.  A scan visits each holder once. Up to ADL_RANK_SAMPLES holders of a side are all sampled;
 *         of more, every second, fourth, ..., so that at least half of the samples are used.
 * Units.  Scores as in the engine's reads; times are engine time in ns. */
#ifndef NODE_HISTORY_ADL_RANK_H
#define NODE_HISTORY_ADL_RANK_H

#include "node/history/market_names.h"

enum {
    ADL_RANK_SAMPLES = 4096,
    ADL_RANK_HOLDERS_A_TURN = 512,
    ADL_RANK_LAST = 4,
};

#define ADL_RANK_AGE_NS     UINT64_C(1000000000)
#define ADL_RANK_AGE_MAX_NS UINT64_C(2000000000)

/* The scores that divide one side: bounds[k - 1] and above is quantile k or higher. */
struct adl_rank_side {
    int128 bounds[ADL_RANK_LAST];
    bool any; /* it has holders */
};

struct adl_rank;

/* NULL without memory. */
struct adl_rank *adl_rank_create(void);
void adl_rank_destroy(struct adl_rank *rank);

/* True if the market's bounds are fresh enough for a read that began at begun_ns. Otherwise scans
 * at most *holders holders, and subtracts from *holders those that it visited. */
CC_MUST_USE bool adl_rank_make(struct adl_rank *rank, const struct engine *engine,
                               const struct market_names *names, uint16_t asset_id,
                               uint64_t begun_ns, uint32_t *holders);

/* The quantile of a nonzero position by the current bounds. */
uint8_t adl_rank_of(const struct adl_rank *rank, uint16_t asset_id, int64_t size, int128 score);

/* Computes the bounds of `count` scores and sorts them. The highest fifth is quantile 4, and so on;
 * equal scores get the higher of their quantiles. */
void adl_rank_part(int128 *scores, uint32_t count, struct adl_rank_side *side);

#endif
