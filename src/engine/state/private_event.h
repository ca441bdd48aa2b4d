/* private_event.h - counts the private events of an account: their seq (wire.md W9); owned by the
 * engine.
 *
 * An effect that is a private event raises the counter of its account before it is emitted, so a
 * sink that asks for the counter has the seq of the event (W3c). */
#ifndef ENGINE_STATE_PRIVATE_EVENT_H
#define ENGINE_STATE_PRIVATE_EVENT_H

#include "engine/state/state.h"

/* Raises the counter of the account that owns the portfolio. */
static inline void private_event_add(struct engine *engine, uint32_t portfolio, uint32_t count)
{
    engine->accounts.rows[engine->portfolios.rows[portfolio].account].private_seq += count;
}

/* The same for the portfolio of a holding. */
static inline void private_event_of_holding(struct engine *engine, uint32_t holding)
{
    private_event_add(engine, engine->holdings.rows[holding].portfolio, 1);
}

#endif
