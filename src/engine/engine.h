/* engine.h - the deterministic state machine: it applies commands and emits effects and answers.
 *
 *   peek: R11, rows window to walks_owed ── answered, no trace
 *        │ not answered
 *   apply: sequence + 1 ─ timers due ─ check-on-touch ─ own effect ─ 2100 ─ deferred work
 *
 * It uses no clock, I/O, allocation, float, atomics or globals: time and configuration come in
 * commands, memory comes from the caller. Two engines that apply the same commands are
 * bit-identical.
 *
 * Owner.  One thread at a time; a process may have several engines.
 * Order.  2014, 2013, one 1001 per market, then any command (journal.md). Every signed command that
 *         is not replayed has passed engine_peek with the same t.
 * Units.  Times unix ns, amounts micro-USDC. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/hash.h"
#include "base/mix.h"
#include "base/option.h"
#include "engine/state/effects.h"
#include "engine/state/result.h"

enum { ENGINE_RULES_VERSION = 7, ENGINE_WORK_TICK_UNITS = 1024 };

struct engine;
struct image_sink;

/* Returns the bytes of an engine of these capacities: the INT values engine.accounts, .portfolios,
 * .orders, .positions, .credentials, .deposits, .ladder_pages, limits.duplicate_slots,
 * exchange.clock_past_ms and .clock_future_ms. */
size_t engine_bytes(const struct option_engine *capacity);

/* Returns the number of leading bytes to touch at a start: the tables that every command reads. */
size_t engine_bytes_resident(const struct option_engine *capacity);

/* Prepares an engine in `memory`, engine_bytes(capacity) zero bytes, 4096-aligned, that outlive it.
 * `capacity` sets the layout. Each record 2013 sets what may be used, and must not exceed it. */
struct engine *engine_init(void *memory, size_t bytes, struct mix_key key,
                           const struct option_engine *capacity);

/* Returns t of the command that is sequenced next: max(previous + 1, clock), in unix ns (R3). */
uint64_t engine_time_next(const struct engine *engine, uint64_t clock_ns);

/* Checks rows window to walks_owed of a signed command at time t. True: *result is its answer,
 * and it gets no sequence. False: apply it. It changes nothing. */
CC_MUST_USE bool engine_peek(const struct engine *engine, const struct command *command,
                             uint64_t t_ns, struct engine_result *result);

/* Sets how many live request ids the peek lets one account have; 0, as at first: any number. It is
 * no part of the state: what is refused so leaves no trace. */
void engine_set_grant(struct engine *engine, uint32_t ids);

/* True if a record of a journal can be applied as the next command: its code has a handler, its
 * parts have the sizes that the handler reads, and t rises. False: another binary wrote the record,
 * or it is damaged. */
CC_MUST_USE bool engine_admits(const struct engine *engine, const struct command *command);

/* Applies a command at command->t_ns (> engine_time), emits its effects to the sink and fills
 * *result. It cannot fail: a refusal is a result. */
void engine_apply(struct engine *engine, const struct command *command, struct engine_sink *sink,
                  struct engine_result *result);

uint64_t engine_sequence(const struct engine *engine); /* of the last command, 0: none */
uint64_t engine_time(const struct engine *engine);     /* its t */

/* Returns the gap of the clock that is open, which a 1011 must name; 0: none (R9). */
int64_t engine_clock_gap_ns(const struct engine *engine);

/* Returns t of the next timer, when the node authors 2000 of kind 0; UINT64_MAX: none, as while the
 * clock has a gap. */
uint64_t engine_next_deadline(const struct engine *engine);

/* The same without the full seconds of markets that nobody waits for: whose index is not valid, or
 * never becomes old. They are made up for with the next command. */
uint64_t engine_next_needed(const struct engine *engine);

/* True if deferred work is queued: without other commands the node authors 2000 of kind 1. */
bool engine_has_work(const struct engine *engine);

/* Copies the state of effects_hash. */
void engine_effects_lanes(const struct engine *engine, uint64_t lanes[EFFECT_LANES]);

/* The value that records, snapshots and heads name: BLAKE2b-256 of such a copy's 64 bytes. Here and
 * in the next one the caller hashes: the engine links to no library. */
static inline void engine_lanes_hash(const uint64_t lanes[EFFECT_LANES], uint8_t hash[HASH_BYTES])
{
    hash_blake2b256(hash, lanes, EFFECT_LANES * sizeof lanes[0]);
}

/* The same of the state now. */
static inline void engine_effects_hash(const struct engine *engine, uint8_t hash[HASH_BYTES])
{
    uint64_t lanes[EFFECT_LANES];

    engine_effects_lanes(engine, lanes);
    engine_lanes_hash(lanes, hash);
}

/* Writes the canonical image of the whole state through the sink (image.h). */
void engine_image(struct engine *engine, struct image_sink *sink);

/* Returns the body of the last 2013, zero-padded; NULL and *bytes 0 before the first. The engine
 * owns it; the next 2013 changes it. */
const uint8_t *engine_configuration(const struct engine *engine, size_t *bytes);
/* Returns the options of the last 2013, owned by the engine; NULL before the first. */
const struct option_engine *engine_options(const struct engine *engine);

#endif
