/* stress.h - what frozen markets and gaps take off the equity of a portfolio before it pays for
 * something (rules.md R4, Stress).
 *
 * Units.  Amounts micro-USDC. */
#ifndef ENGINE_RISK_STRESS_H
#define ENGINE_RISK_STRESS_H

#include "engine/risk/rests.h"

/* The stress of one record, with what rests of its orders as `rests` has it. */
CC_MUST_USE int128 stress_of_holding(const struct engine *engine, const struct holding *holding,
                                     struct rests rests);

/* The stress of a portfolio as it stands; `without`: but of this market, MARKET_NONE: of all. */
CC_MUST_USE int128 stress_of_portfolio(const struct engine *engine, uint32_t portfolio,
                                       uint32_t without);

#endif
