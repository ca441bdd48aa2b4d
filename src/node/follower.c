#include "node/follower.h"

#include <errno.h>

#include "base/hash.h"
#include "base/problem.h"
#include "base/row.h"
#include "engine/audit.h"
#include "engine/order_state.h"
#include "node/counter.h"
#include "node/ended_row.h"
#include "node/query.h"

enum { HASH_RECORD_BYTES = 40 };

/* Keeps an order at the moment it ends, while its record is still in the table. */
static void follower_emit(struct engine_sink *sink, const struct effect *effect)
{
    /* The sink is the first member. */
    struct follower_sink *follower = (struct follower_sink *)(void *)sink;
    if (effect->code != EFFECT_order_state)
        return;
    struct effect_order_state state;
    memcpy(&state, effect->bytes, sizeof state);
    if (!order_state_is_final((enum order_state)state.status))
        return;

    struct ended_order order;
    if (effect->record == EFFECT_NO_RECORD)
        ended_row_of_refusal(&order, effect, &state);
    else
        ended_row_of_record(&order, effect, &state);
    ended_add(follower->ended, &order);
}

void follower_sink_init(struct follower_sink *sink, struct ended *ended)
{
    sink->sink.emit = follower_emit;
    sink->ended = ended;
}

static void show(struct follower *follower)
{
    atomic_store_explicit(&follower->applied_time_ns, engine_time(follower->engine),
                          memory_order_relaxed);
    /* Release: who reads `applied` may count on the time beside it (pairs: node_applied). */
    atomic_store_explicit(&follower->applied, engine_sequence(follower->engine),
                          memory_order_release);
}

void follower_init(struct follower *follower, struct engine *engine, struct follow *follow,
                   const struct journal *journal, const struct clock *clock, struct mix_key key,
                   uint64_t lag_max_ns, int commands_a_turn)
{
    struct follower_sink sink = follower->sink; /* recovery has used it */
    INVARIANT(commands_a_turn > 0);
    memset(follower, 0, sizeof *follower);
    follower->sink = sink;
    follower->engine = engine;
    follower->follow = follow;
    follower->journal = journal;
    follower->clock = clock;
    follower->key = key;
    follower->lag_max_ns = lag_max_ns;
    follower->commands_a_turn = commands_a_turn;
    show(follower);
}

void follower_link_add(struct follower *follower, const struct follower_link *link)
{
    INVARIANT(follower->link_count < FOLLOWER_LINKS_MAX);
    follower->links[follower->link_count++] = *link;
}

bool follower_hash_agrees(const struct engine *engine, const struct command *command)
{
    uint64_t lanes[EFFECT_LANES];
    uint8_t hash[HASH_BYTES];

    if (command->code != REQUEST_effects_hash)
        return true;
    const uint8_t *body = command_body(command);
    if (command_body_bytes(command) != HASH_RECORD_BYTES ||
        cc_load64(body) != engine_sequence(engine))
        return false;
    engine_effects_lanes(engine, lanes);
    hash_blake2b256(hash, lanes, sizeof lanes);
    return memcmp(hash, body + sizeof(uint64_t), sizeof hash) == 0;
}

/* R2's invariants at a checkpoint; a failed one is remembered, the process lives. */
static void audit(struct follower *follower)
{
    struct row_audit row;

    audit_read(follower->engine, &row, NULL);
    uint32_t failed = ~(uint32_t)row.invariants & QUERY_INVARIANTS_ALL;
    if (failed != 0)
        atomic_fetch_or_explicit(&follower->invariants_failed, failed, memory_order_relaxed);
}

static int apply(struct follower *follower, const struct record_view *record, uint64_t sequence)
{
    struct engine_result result;
    struct command *command = rebuild_command(&follower->rebuilt, record, follower->key);

    if (sequence != engine_sequence(follower->engine) + 1)
        return -EBADMSG;
    if (!follower_hash_agrees(follower->engine, command)) {
        atomic_store_explicit(&follower->diverged, true, memory_order_relaxed);
        return -EBADMSG;
    }
    engine_apply(follower->engine, command, &follower->sink.sink, &result);
    counter_add(&follower->counters.commands);
    if (command->code == REQUEST_effects_hash) {
        counter_add(&follower->counters.hashes);
        audit(follower);
    }
    return 0;
}

uint64_t follower_lag_ns(const struct follower *follower)
{
    uint64_t applied = atomic_load_explicit(&follower->applied, memory_order_acquire);
    if (applied >= journal_durable_seq(follower->journal))
        return 0;
    uint64_t shown_ns = atomic_load_explicit(&follower->applied_time_ns, memory_order_relaxed);
    uint64_t now_ns = clock_now_ns(follower->clock);
    return now_ns > shown_ns ? now_ns - shown_ns : 0;
}

/* Answers one query, or says that it must wait. */
static bool answer(struct follower *follower, const struct follower_link *link,
                   const struct query *query)
{
    uint64_t lag_ns = 0;
    uint64_t stamp = query->stamp;

#if defined(PLANTED_BUG) && PLANTED_BUG == 5 /* a read may show less than was acknowledged */
    stamp = 0;
#endif
    if (stamp > engine_sequence(follower->engine)) {
        lag_ns = follower_lag_ns(follower);
        if (lag_ns <= follower->lag_max_ns)
            return false;
        counter_add(&follower->counters.lagging);
    }
    struct reply *reply = ring_claim(link->replies, 1);
    INVARIANT(reply != NULL); /* credits: queries sent - replies taken < reply ring size */
    *reply = (struct reply){
        .token = query->token,
        .applied = engine_sequence(follower->engine),
        .time_ns = engine_time(follower->engine),
        .received_ticks = query->received_ticks,
        .buffer = REPLY_NO_BUFFER,
        .kind = query->kind,
    };
    if (lag_ns != 0) {
        reply->problem = PROBLEM_not_ready;
        reply->lag_ms = lag_ns / 1000000;
    } else {
        query_run(follower->engine, follower->sink.ended, query, link->pool, reply);
    }
    counter_add(&follower->counters.queries);
    return true;
}

static int serve(struct follower *follower, const struct follower_link *link, int budget)
{
    uint64_t ready = ring_ready(link->queries);
    uint64_t done = 0;

    while (done < ready && (int)done < budget) {
        const struct query *query = ring_at(link->queries, done);
        if (!answer(follower, link, query))
            break;
        done++;
    }
    if (done != 0) {
        ring_release(link->queries, done);
        ring_publish(link->replies);
    }
    return (int)done;
}

int follower_step(struct follower *follower)
{
    struct record_view record;
    uint64_t sequence;
    int work = 0;

    while (work < follower->commands_a_turn) {
        int got = follow_next(follower->follow, &record, &sequence);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        int applied = apply(follower, &record, sequence);
        if (applied < 0)
            return applied;
        work++;
    }
    if (work != 0)
        show(follower);
    for (uint32_t i = 0; i < follower->link_count; i++)
        work += serve(follower, &follower->links[i], FOLLOWER_QUERIES_A_TURN);
    return work;
}
