/* market_change.h - a market's record beside the one that is to follow it: what R10 allows. Pure.
 *
 * Units. As market_record.h. */
#ifndef ENGINE_TABLE_MARKET_CHANGE_H
#define ENGINE_TABLE_MARKET_CHANGE_H

#include "engine/table/market_record.h"

#define MARKET_NOTICE_NS (UINT64_C(86400) * 1000000000) /* of tighter tiers (R10) */

/* True if some notional up to 2^60 has a higher margin under `next` than under `now` (R10). */
CC_MUST_USE bool market_change_is_tighter(const struct market_record *next,
                                          const struct market_record *now);

/* The record of a change that did not send optional members takes them from `now`. False: its tiers
 * do not allow the mark_book_ppm that it keeps. */
CC_MUST_USE bool market_change_keep_absent(struct market_record *next,
                                           const struct market_record *now);

/* The rule of R10 that a change at t_ns breaks: decimals, tick, lot and name stay for ever, tighter
 * tiers are announced. `is_tighter`: of market_change_is_tighter. */
CC_MUST_USE enum operator_rule market_change_rule(const struct market_record *next,
                                                  const struct market_record *now, bool is_tighter,
                                                  uint64_t t_ns);

#endif
