/* window.h - which request ids the engine accepts at a time t (W5). Owned by the engine. */
#ifndef ENGINE_STATE_WINDOW_H
#define ENGINE_STATE_WINDOW_H

#include "engine/state/state.h"

#define WINDOW_MS UINT64_C(1000000)

/* The engine's own window, and nothing that the duplicate set has forgotten. Only reads. */
static inline bool window_holds(const struct engine *engine, uint64_t id_ms, uint64_t t_ns)
{
    uint64_t past_ms = state_option(engine, OPTION_exchange_clock_past_ms) + DUPLICATE_SLACK_MS;
    uint64_t future_ms = state_option(engine, OPTION_exchange_clock_future_ms) + DUPLICATE_SLACK_MS;
    uint64_t t_ms = t_ns / WINDOW_MS;

    return t_ms <= id_ms + past_ms && id_ms <= t_ms + future_ms &&
           id_ms >= duplicate_floor_ms(&engine->duplicates);
}

#endif
