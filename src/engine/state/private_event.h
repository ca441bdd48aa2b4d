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
    state_account(engine, state_portfolio(engine, portfolio)->account)->private_seq += count;
}

/* The same for the account of an order, whose portfolio is the account's. */
static inline void private_event_of_order(struct engine *engine, const struct order *order)
{
    state_account(engine, order->account)->private_seq++;
}

#endif
