#include "node/match/alarm.h"

#include <errno.h>

#include "base/log.h"
#include "engine/price/market_state.h"
#include "engine/table/market_record.h"

enum { STATE_OF_ALL_BODY_BYTES = 8, STATE_OF_ALL_AT = 0 }; /* W3a: 1008 */

void alarm_raise(struct alarm_box *box, const struct audit_verdict *verdict)
{
    /* relaxed: ordered by `raised`. */
    for (unsigned i = 0; i < AUDIT_MARKET_WORDS; i++)
        atomic_fetch_or_explicit(&box->markets[i], verdict->markets[i], memory_order_relaxed);
    atomic_fetch_or_explicit(&box->failed, verdict->failed, memory_order_relaxed);
    if (verdict->of_all)
        atomic_store_explicit(&box->of_all, true, memory_order_relaxed);
    atomic_store_explicit(&box->raised, true, memory_order_release); /* pairs: collect */
}

void alarm_watch(struct alarm *alarm, struct alarm_box *box, const struct segment_pool *pool)
{
    alarm->box = box;
    alarm->pool = pool;
}

void alarm_watch_log(struct alarm *alarm, const _Atomic bool *is_full)
{
    alarm->is_full = is_full;
}

/* Moves the verdicts in the box to `pending`. */
static void collect(struct alarm *alarm)
{
    struct alarm_box *box = alarm->box;
    struct audit_verdict *pending = &alarm->pending;

    if (box == NULL || !atomic_exchange_explicit(&box->raised, false, memory_order_acquire))
        return; /* pairs: alarm_raise */
    for (unsigned i = 0; i < AUDIT_MARKET_WORDS; i++)
        pending->markets[i] |= atomic_exchange_explicit(&box->markets[i], 0, memory_order_relaxed);
    pending->failed |= (uint16_t)atomic_exchange_explicit(&box->failed, 0, memory_order_relaxed);
    pending->of_all |= atomic_exchange_explicit(&box->of_all, false, memory_order_relaxed);
    alarm->is_pending = true;
}

/* Whether any market is not halted yet. */
static bool is_any_unhalted(const struct engine *engine)
{
    for (uint32_t index = 0; index < 64 * AUDIT_MARKET_WORDS; index++)
        if (market_state_unhalted(engine, index) != 0)
            return true;
    return false;
}

static uint32_t halt_all(struct alarm *alarm, struct sequencer *sequencer, bool *room_left)
{
    struct engine_result result;
    uint8_t body[STATE_OF_ALL_BODY_BYTES] = { 0 };

    body[STATE_OF_ALL_AT] = MARKET_HALTED;
    if (is_any_unhalted(sequencer->engine)) {
        *room_left = sequencer_author_hash(sequencer) &&
                     sequencer_author(sequencer, REQUEST_halt_all, body, sizeof body, &result);
        if (!*room_left)
            return 0;
        published_add(&alarm->counters.halts, 1);
        log_line(LOG_ERROR, "invariant",
                 "failed=0x%02x sequence=%lu: every market is halted until the operator opens it",
                 alarm->pending.failed, result.sequence);
    }
    alarm->pending = (struct audit_verdict){ 0 };
    return 1;
}

static uint32_t halt_markets(struct alarm *alarm, struct sequencer *sequencer, bool *room_left)
{
    uint32_t authored = 0;

    for (uint32_t index = 0; index < 64 * AUDIT_MARKET_WORDS; index++) {
        uint64_t *word = &alarm->pending.markets[index / 64];
        uint64_t bit = UINT64_C(1) << (index % 64);
        if ((*word & bit) == 0)
            continue;
        uint16_t asset_id = market_state_unhalted(sequencer->engine, index);
        if (asset_id != 0) {
            *room_left = sequencer_author_hash(sequencer) &&
                         sequencer_author_market_state(sequencer, asset_id, MARKET_HALTED);
            if (!*room_left)
                return authored;
            authored++;
            published_add(&alarm->counters.halts, 1);
            log_line(LOG_ERROR, "invariant",
                     "failed=0x%02x asset=%u sequence=%lu: the market is halted until the operator "
                     "opens it",
                     alarm->pending.failed, asset_id, engine_sequence(sequencer->engine));
        }
        *word &= ~bit;
    }
    alarm->pending = (struct audit_verdict){ 0 };
    return authored;
}

static uint32_t act_on_invariants(struct alarm *alarm, struct sequencer *sequencer, bool *room_left)
{
    collect(alarm);
    if (!alarm->is_pending)
        return 0;
    uint32_t authored = alarm->pending.of_all ? halt_all(alarm, sequencer, room_left)
                                              : halt_markets(alarm, sequencer, room_left);
    alarm->is_pending = !*room_left;
    return authored;
}

/* Logs each transition once. */
static void log_short(struct alarm *alarm, bool is_short)
{
    if (alarm->is_short == is_short)
        return;
    alarm->is_short = is_short;
    if (is_short)
        log_line(LOG_ERROR, "segments",
                 "ready=%u: %s; every market takes cancels only until the operator sets its state",
                 segment_pool_ready(alarm->pool), strerror(-segment_pool_error(alarm->pool)));
    else
        log_line(LOG_WARN, "segments",
                 "are prepared again; the markets keep the states that they have");
}

/* The same of the cluster's log. */
static void log_full(struct alarm *alarm, bool is_closed)
{
    if (alarm->is_closed == is_closed)
        return;
    alarm->is_closed = is_closed;
    if (is_closed)
        log_line(LOG_ERROR, "cluster",
                 "etcd is nearly full: every market takes cancels only until the operator sets its "
                 "state");
    else
        log_line(LOG_WARN, "cluster",
                 "etcd has room again; the markets keep the states that they have");
}

static uint32_t act_on_room(struct alarm *alarm, struct sequencer *sequencer, bool *room_left)
{
    uint32_t authored = 0;

    if (alarm->pool != NULL)
        log_short(alarm, alarm_wants_segments(alarm->pool));
    if (alarm->is_full != NULL)
        log_full(alarm, atomic_load_explicit(alarm->is_full, memory_order_relaxed)); /* a flag */
    if (!alarm->is_short && !alarm->is_closed)
        return 0;
    uint16_t asset_id = market_state_next_open(sequencer->engine, 0);
    for (; asset_id != 0; asset_id = market_state_next_open(sequencer->engine, asset_id)) {
        *room_left = sequencer_author_hash(sequencer) &&
                     sequencer_author_market_state(sequencer, asset_id, MARKET_CANCEL_ONLY);
        if (!*room_left)
            break;
        authored++;
        published_add(&alarm->counters.closings, 1);
    }
    return authored;
}

uint32_t alarm_step(struct alarm *alarm, struct sequencer *sequencer, bool *room_left)
{
    uint32_t authored = act_on_invariants(alarm, sequencer, room_left);

    return *room_left ? authored + act_on_room(alarm, sequencer, room_left) : authored;
}
