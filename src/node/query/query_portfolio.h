/* query_portfolio.h - lists of what an account has: positions, portfolios, subaccounts.
 *
 * They have no limit. A list that outgrows a reply buffer is refused, never cut: its parameters
 * divide it.
 * All rows are of one turn: each function adds to *visited the portfolios that it looked at, which
 * the caller charges to the turn.
 *
 * Owner. The follower's thread, between commands.
 * Bound. A turn visits at most *holders holders for the quantiles of positions (adl_rank.h). */
#ifndef NODE_QUERY_QUERY_PORTFOLIO_H
#define NODE_QUERY_QUERY_PORTFOLIO_H

#include "node/query/query_task.h"

/* Fills the reply with the positions of the account. False if the quantiles need another turn. */
CC_MUST_USE bool query_portfolio_positions(struct query_task *task,
                                           const struct query_sources *sources, uint32_t *holders,
                                           uint32_t *visited);

/* Fill the reply with the portfolios or the subaccounts of the account, in one turn. */
void query_portfolio_balances(struct query_task *task, const struct query_sources *sources,
                              uint32_t *visited);
void query_portfolio_subaccounts(struct query_task *task, const struct query_sources *sources,
                                 uint32_t *visited);

#endif
