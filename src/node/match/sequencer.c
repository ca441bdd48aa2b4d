#include "node/match/sequencer.h"

enum { MARKET_STATE_BODY_BYTES = 8, MARKET_STATE_AT = 4 }; /* W3a: 1002 */

void sequencer_init(struct sequencer *sequencer, struct engine *engine, struct journal *journal,
                    const struct clock *clock, struct engine_sink *sink)
{
    memset(sequencer, 0, sizeof *sequencer);
    sequencer->engine = engine;
    sequencer->journal = journal;
    sequencer->clock = clock;
    sequencer->sink = sink;
    sequencer->mark = &sequencer->unwatched;
    sequencer->last_t_ns = engine_time(engine);
}

uint8_t *sequencer_reserve(struct sequencer *sequencer, const struct command *command)
{
    uint32_t bytes = record_length(command->kind, command->payload_bytes, command->key_bytes,
                                   command->extra_bytes);
    return journal_reserve(sequencer->journal, bytes);
}

void sequencer_run(struct sequencer *sequencer, struct command *command, uint64_t location,
                   uint64_t t_ns, uint8_t *room, struct engine_result *result)
{
    struct record_view record;

    command->t_ns = t_ns;
    fault_begin(sequencer->mark, location);
    engine_apply(sequencer->engine, command, sequencer->sink, result);
    rebuild_record(&record, command);
    record_encode(room, &record);
    fault_end(sequencer->mark);
    journal_publish(sequencer->journal);
    sequencer->last_t_ns = t_ns;
}

bool sequencer_author(struct sequencer *sequencer, uint16_t code, const void *body,
                      uint32_t body_bytes, struct engine_result *result)
{
    INVARIANT(body_bytes % 8 == 0);
    INVARIANT(body_bytes <= REQUEST_BODY_MAX);
    struct record_view record = {
        .code = code,
        .kind = RECORD_UNSIGNED,
        .payload_bytes = (uint16_t)body_bytes,
        .payload = body,
    };
    struct mix_key unused = { 0, 0 }; /* an unsigned command carries no hashes */
    struct command *command = rebuild_command(&sequencer->buffer, &record, unused);
    command->flags = 0;

    uint8_t *room = sequencer_reserve(sequencer, command);
    if (room == NULL)
        return false;
    uint64_t t_ns = engine_time_next(sequencer->engine, clock_now_ns(sequencer->clock));
    sequencer_run(sequencer, command, fault_location_code(code), t_ns, room, result);
    published_add(&sequencer->authored, 1);
    return true;
}

bool sequencer_hash_is_due(const struct sequencer *sequencer)
{
    uint64_t sequence_now = engine_sequence(sequencer->engine);
    return sequence_now != 0 && sequence_now % SEQUENCER_HASH_INTERVAL == 0;
}

void sequencer_hash_point(const struct engine *engine, struct hash_point *point)
{
    point->sequence = engine_sequence(engine);
    engine_effects_hash(engine, point->hash);
}

/* A 2015 of the sequence now. */
static bool author_hash(struct sequencer *sequencer)
{
    struct engine_result result;
    struct hash_point point;
    uint8_t body[HASH_POINT_BYTES];

    sequencer_hash_point(sequencer->engine, &point);
    cc_store64(body, point.sequence);
    memcpy(body + 8, point.hash, sizeof point.hash);
    return sequencer_author(sequencer, REQUEST_effects_hash, body, sizeof body, &result);
}

/* Shows the state before the 2015 that is due; true once the vote on it is over. */
static bool is_agreed(struct sequencer *sequencer)
{
    struct hash_point point;

    if (CC_LIKELY(sequencer->vote == NULL))
        return true;
    /* relaxed: no other memory is read through it. */
    uint64_t agreed = atomic_load_explicit(&sequencer->vote->agreed, memory_order_relaxed);
    uint64_t sequence = engine_sequence(sequencer->engine);
    if (agreed < sequence && sequencer->voted != sequence) {
        sequencer_hash_point(sequencer->engine, &point);
        hash_board_set(&sequencer->vote->primary, &point);
        sequencer->voted = sequence;
    }
    return agreed >= sequence;
}

bool sequencer_author_hash(struct sequencer *sequencer)
{
    return !sequencer_hash_is_due(sequencer) || (is_agreed(sequencer) && author_hash(sequencer));
}

bool sequencer_author_boot(struct sequencer *sequencer, const void *body, uint32_t body_bytes)
{
    bool is_due = sequencer_hash_is_due(sequencer);
    struct engine_result result;

    return sequencer_author(sequencer, REQUEST_boot, body, body_bytes, &result) &&
           (!is_due || author_hash(sequencer));
}

bool sequencer_author_market_state(struct sequencer *sequencer, uint16_t asset_id,
                                   enum market_state state)
{
    struct engine_result result;
    uint8_t body[MARKET_STATE_BODY_BYTES] = { 0 };

    cc_store16(body, asset_id);
    body[MARKET_STATE_AT] = (uint8_t)state;
    return sequencer_author(sequencer, REQUEST_market_state, body, sizeof body, &result);
}
