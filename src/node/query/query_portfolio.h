/* query_portfolio.h - lists of what an account has: positions, portfolios, subaccounts.
 *
 * They are whole, or the part that the query's limit and offset name. What outgrows a reply buffer
 * is refused, never cut: its parameters divide it.
 * Positions are all of one turn, and *visited grows by the holdings that were looked at, which the
 * caller charges to it. The other two are made in slices: a row is of the turn that made it, none
 * older than the reply's sequence.
 *
 * Owner. The follower's thread, between commands.
 * Bound. A turn visits at most *holders holders for the quantiles of positions (adl_rank.h). */
#ifndef NODE_QUERY_QUERY_PORTFOLIO_H
#define NODE_QUERY_QUERY_PORTFOLIO_H

#include "node/query/query_task.h"

enum { QUERY_PORTFOLIO_ROWS = 8 }; /* what a portfolio that is visited costs a turn, in rows */

/* Fills the reply with the positions of the account. False if the quantiles need another turn. */
CC_MUST_USE bool query_portfolio_positions(struct query_task *task,
                                           const struct query_sources *sources, uint32_t *holders,
                                           uint32_t *visited);

/* Before the first of the next two. */
void query_portfolio_begin(struct query_task *task);

/* Fill the reply with the portfolios or the subaccounts of the account. Each portfolio takes
 * QUERY_PORTFOLIO_ROWS of *rows, CLOSED ones too. False: they are used up, and more are left. */
CC_MUST_USE bool query_portfolio_balances(struct query_task *task,
                                          const struct query_sources *sources, uint32_t *rows);
CC_MUST_USE bool query_portfolio_subaccounts(struct query_task *task,
                                             const struct query_sources *sources, uint32_t *rows);

#endif
