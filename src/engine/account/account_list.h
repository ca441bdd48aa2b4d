/* account_list.h - all orders of an account end (code 1007; R10, 1007 for a large account): those
 * of an account with many portfolios are dead at once by one stamp, and handed over to its
 * portfolios by the work.
 *
 *   account_list_begin ──> queued: covers what is older ── a unit a portfolio ──> finished
 *                          ^                            │
 *                          └── begun again, from the front
 *
 * Order.  Subaccount, then portfolio. A portfolio is refreshed when the list comes to it. The list
 *         is then entered in the portfolio's own lists, whose work emits and removes the orders.
 * Bound.  An account has one list at a time: one for all markets, or for a single one. */
#ifndef ENGINE_ACCOUNT_ACCOUNT_LIST_H
#define ENGINE_ACCOUNT_ACCOUNT_LIST_H

#include "engine/state/state.h"

/* Kills every order of the account that is there, of the market (MARKET_NONE: of all), with the
 * reason `operator`. False, and nothing is done: it has no more than CANCEL_LIST_AT_ONCE
 * portfolios, or a list for other markets has not finished. */
CC_MUST_USE bool account_list_begin(struct engine *engine, uint32_t account, uint32_t market);

/* WORK_ACCOUNT_LIST (work.h). */
CC_MUST_USE bool account_list_unit(struct engine *engine, uint32_t account, uint32_t *units);
void account_list_finish(struct engine *engine, uint32_t account);
void account_list_image(const struct engine *engine, uint32_t account, struct image_sink *sink);
CC_MUST_USE bool account_list_load(struct engine *engine, uint32_t account,
                                   struct image_read *read);

#endif
