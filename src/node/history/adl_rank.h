/* adl_rank.h - the place of a position among those of its market and side, in fifths.
 *
 * It is the `adl_quantile` of a read: 4 is deleveraged first (rules.md R7, Score; json.md J2).
 *
 * Of each market and side four scores are kept that part its holders into fifths. They are made by
 * a look through the holders, in slices over turns, when a read asks and those at hand are older
 * than ADL_RANK_AGE_NS; up to ADL_RANK_AGE_MAX_NS they serve meanwhile. One look runs at a time:
 * who needs another market's first helps to finish it.
 *
 * Owner.  The follower's thread, between commands.
 * Bound.  A look visits each holder once. Up to ADL_RANK_SAMPLES holders of a side all count; of
 *         more, every second, fourth, ... so that between half and all of the samples are used.
 * Units.  Scores as the engine gives them (read_positions.h), times engine time in ns. */
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

/* The scores that part one side: quantile k and above from bound[k - 1] on. */
struct adl_rank_side {
    int128 bounds[ADL_RANK_LAST];
    bool any; /* it has holders */
};

struct adl_rank;

/* NULL without memory. */
struct adl_rank *adl_rank_create(void);
void adl_rank_destroy(struct adl_rank *rank);

/* True when a market's bounds serve a read that began at begun_ns; works on them while they are
 * older than that by ADL_RANK_AGE_NS. At most *holders are visited, which falls by those that were.
 */
CC_MUST_USE bool adl_rank_make(struct adl_rank *rank, const struct engine *engine,
                               const struct market_names *names, uint16_t asset_id,
                               uint64_t begun_ns, uint32_t *holders);

/* Quantile of a position that is not 0, by the bounds at hand. */
uint8_t adl_rank_of(const struct adl_rank *rank, uint16_t asset_id, int64_t size, int128 score);

/* The bounds of `count` scores, which are sorted on the way: the fifth of the highest is quantile
 * 4, and so on; equal scores have the higher of their quantiles. */
void adl_rank_part(int128 *scores, uint32_t count, struct adl_rank_side *side);

#endif
