/* portfolio_row.h - the row of a CLOSED portfolio is given back, its index is not (W8, slots; R10).
 * Owned by the engine.
 *
 *   2002 ──> CLOSED, with a row ── a minute later, and nothing speaks of it ──> CLOSED, without one
 *            <── something does: it is looked at again a minute later               │
 *   ACTIVE <── a row again, its first name: 2003 (if the share has room), 1003 <────┘
 *
 * So long as a request id of the 24 that made it could come again its row is there, and answers it
 * (W5). Portfolio 0 of an open subaccount keeps its row: a credit goes to it when the table
 * has no row left. Portfolio 0 of subaccount 0 keeps it as long as its account is there.
 *
 * Units.  Times unix ns.
 * Bound.  A command looks at PORTFOLIO_ROW_LOOKS_MAX rows. */
#ifndef ENGINE_STATE_PORTFOLIO_ROW_H
#define ENGINE_STATE_PORTFOLIO_ROW_H

#include "engine/state/state.h"

enum { PORTFOLIO_ROW_LOOKS_MAX = 4 };

/* Whether a portfolio that is there is CLOSED. `portfolio`: its index, PORTFOLIO_NONE: it has no
 * row. */
CC_MUST_USE static inline bool portfolio_is_closed(const struct engine *engine, uint32_t portfolio)
{
    return portfolio == PORTFOLIO_NONE ||
           engine->portfolios.rows[portfolio].status == PORTFOLIO_CLOSED;
}

/* Whether its row will be looked at: it is CLOSED, and not 0/0 of its account. */
CC_MUST_USE static inline bool portfolio_row_may_go(const struct portfolio *portfolio)
{
    return portfolio->status == PORTFOLIO_CLOSED &&
           (portfolio->subaccount_index | portfolio->portfolio_index) != 0;
}

/* Whether the portfolio has been made and has no row. `account`: its slot, or ACCOUNT_NONE. */
CC_MUST_USE bool portfolio_row_is_gone(const struct engine *engine, uint32_t account,
                                       uint32_t subaccount_index, uint32_t portfolio_index);

/* The name of a portfolio that nobody has named: "Main", or "Portfolio N", closed by zeros. */
void portfolio_row_first_name(uint8_t name[PORTFOLIO_NAME_BYTES], uint32_t portfolio_index);

/* Whether nothing in the engine but its own rows speaks of the portfolio. */
CC_MUST_USE bool portfolio_row_is_idle(const struct engine *engine, uint32_t portfolio);

/* Whether the table has a row left, whatever the shares say. */
CC_MUST_USE bool portfolio_row_fits(const struct engine *engine);

/* The portfolio has become CLOSED, or its row cannot go yet: it is looked at when no id that is now
 * in the window can come again. */
void portfolio_row_look_later(struct engine *engine, uint32_t portfolio);

/* Gives back rows whose time has come, and looks later at those that something speaks of. Not
 * during a run of deleveraging, which knows portfolios by their rows. Called before a command. */
void portfolio_row_release(struct engine *engine);

/* Sets the timer of a portfolio that was loaded from an image. */
void portfolio_row_load(struct engine *engine, uint32_t portfolio);

#endif
