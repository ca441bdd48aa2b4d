#include "node/match/matcher.h"

#include "engine/state/disconnect.h"
#include "engine/trade/prefetch.h"

enum { PREFETCH_AHEAD = 4 }; /* commands between fetching an order and applying its cancel */

void matcher_init(struct matcher *matcher, struct engine *engine, struct journal *journal,
                  const struct clock *clock, struct engine_sink *sink)
{
    memset(matcher, 0, sizeof *matcher);
    sequencer_init(&matcher->sequencer, engine, journal, clock, sink);
    matcher->outside_t_ns = clock_now_ns(clock);
    matcher->disconnect_restart.due_ns = UINT64_MAX;
}

void matcher_guard(struct matcher *matcher, struct fault_mark *mark,
                   const struct poison_file *poison)
{
    matcher->sequencer.mark = mark;
    matcher->poison = poison;
}

void matcher_link(struct matcher *matcher, struct ring *commands, struct ring *answers)
{
    INVARIANT(matcher->link_count < MATCHER_LINKS_MAX);
    matcher->links[matcher->link_count++] = (struct matcher_link){ commands, answers };
}

static void fill_answer(struct answer *answer, const struct command *command,
                        const struct engine_result *result, uint64_t release_sequence,
                        uint32_t sequenced_ticks)
{
    *answer = (struct answer){
        .token = command->token,
        .sequence = result->sequence,
        .release_sequence = release_sequence,
        .processed_at_ns = result->processed_at_ns,
        .original_processed_at_ns = result->original_processed_at_ns,
        .account_id = result->account_id,
        .expires_at_ns = result->expires_at_ns,
        .received_ticks = command->received_ticks,
        .verified_ticks = command->verified_ticks,
        .pushed_ticks = command->pushed_ticks,
        .sequenced_ticks = sequenced_ticks,
        .matched_ticks = clock_ticks_since(command->received_ticks),
        .code = command->code,
        .status = (uint8_t)result->status,
        .reason = (uint8_t)result->reason,
        .original_status = (uint8_t)result->original_status,
        .members = (uint8_t)result->members,
        .order_status = result->order_status,
        .price_decimals = result->price_decimals,
        .best_bid = result->best_bid,
        .best_ask = result->best_ask,
        .book_seq = result->book_seq,
    };
    if (result->retry_after_ms != 0) /* in the location of original_processed_at_ns */
        answer->retry_after_ms = result->retry_after_ms;
    if (result->rule != 0) /* in the location of original_status */
        answer->rule = result->rule;
    memcpy(answer->id, result->id, sizeof answer->id);
    if ((result->members & ANSWER_HAS_ORDER) != 0) { /* in the location of the other members */
        answer->remaining = result->remaining;
        answer->filled = result->filled;
        answer->filled_notional = result->filled_notional;
        answer->quantity_ahead = result->quantity_ahead;
        answer->book_handle = result->book_handle;
    }
    if (result->item_count != 0) { /* in the location of all of them */
        INVARIANT(result->members == 0 && result->item_count <= MESSAGE_ITEMS_MAX);
        memcpy(answer->results, result->results, sizeof answer->results);
        answer->item_count = result->item_count;
    }
    if ((result->members & ANSWER_HAS_INDEXES) != 0) { /* in the location of the expiry */
        INVARIANT((result->members & (ANSWER_HAS_EXPIRY | ANSWER_HAS_ORDER)) == 0);
        answer->subaccount_index = result->subaccount_index;
        answer->portfolio_index = result->portfolio_index;
    }
}

/* The location of a client's command, in case it is the last one. */
static uint64_t location_of(const struct matcher *matcher, const struct matcher_link *link,
                            const struct command *command)
{
    const struct ring *ring = link->commands;
    size_t slot = (size_t)((const uint8_t *)command - ring->slots) / MESSAGE_SLOT_BYTES;

    return fault_location_slot((uint32_t)(link - matcher->links), (uint32_t)slot);
}

/* Did the process abort on this very request: it is answered without a trace, as by a peek. */
static bool is_poison(const struct matcher *matcher, const struct command *command, uint64_t t_ns,
                      struct engine_result *result)
{
    if (matcher->poison == NULL || CC_LIKELY(matcher->poison->row_count == 0) ||
        command->kind == COMMAND_UNSIGNED)
        return false;
    uint64_t account = command->duplicate_account != 0 ? command->duplicate_account
                                                       : cc_load64(command_body(command));
    if (!poison_file_has(matcher->poison, account, command_request_id(command)))
        return false;
    *result =
        (struct engine_result){ .processed_at_ns = t_ns, .status = STATUS_order_rejected_internal };
    return true;
}

/* An operator that sets a state judges for itself. */
static void leave_stages(struct matcher *matcher, const struct command *command)
{
    if (command->code == REQUEST_market_state)
        staged_restart_judge(&matcher->staged_restart, cc_load16(command_body(command)));
    else if (command->code == REQUEST_halt_all)
        staged_restart_judge(&matcher->staged_restart, STAGED_RESTART_ALL);
}

/* Whether it is a 2011 whose arm was set again or has ended since: it leaves no trace. */
static bool is_late_end(const struct matcher *matcher, const struct command *command, uint64_t t_ns,
                        struct engine_result *result)
{
    struct disconnect_arm arm;
    uint64_t id[2];

    if (CC_LIKELY(command->code != REQUEST_cancel_on_disconnect))
        return false;
    memcpy(id, command_body(command), sizeof id);
    *result = (struct engine_result){ .processed_at_ns = t_ns, .status = STATUS_request_completed };
    return !disconnect_find_arm(matcher->sequencer.engine, id, &arm) ||
           arm.armed_sequence != command->armed_sequence;
}

/* Sequences and answers one command of a client. False when the journal has no room: the command
 * stays in its ring. */
static bool sequence_command(struct matcher *matcher, const struct matcher_link *link,
                             struct command *command)
{
    struct engine_result result;
    uint64_t t_ns =
        engine_time_next(matcher->sequencer.engine, clock_now_ns(matcher->sequencer.clock));
    uint32_t sequenced_ticks = clock_ticks_since(command->received_ticks);

    if (engine_peek(matcher->sequencer.engine, command, t_ns, &result) ||
        is_poison(matcher, command, t_ns, &result) ||
        is_late_end(matcher, command, t_ns, &result)) {
        published_add(&matcher->counters.peeked, 1);
    } else {
        uint8_t *room = sequencer_reserve(&matcher->sequencer, command);
        if (room == NULL)
            return false;
        sequencer_run(&matcher->sequencer, command, location_of(matcher, link, command), t_ns, room,
                      &result);
        published_add(&matcher->counters.commands, 1);
        matcher->outside_t_ns = t_ns;
        if (CC_UNLIKELY(result.sign_count_fell))
            published_add(&matcher->counters.sign_counts_fallen, 1);
        if (CC_UNLIKELY(staged_restart_cares(&matcher->staged_restart)) &&
            result.status == STATUS_request_completed)
            leave_stages(matcher, command);
    }
    published_add(&matcher->counters.status[result.status], 1);

    struct answer *answer = ring_claim(link->answers, 1);
    INVARIANT(answer != NULL); /* credits: commands sent - answers read < answer ring size */
    /* A peek leaves when everything it may have seen is durable (rules.md R11). */
    uint64_t release_sequence = engine_sequence(matcher->sequencer.engine);
    fill_answer(answer, command, &result, release_sequence, sequenced_ticks);
    return true;
}

/* The commands of a turn, in ring order. */
struct batch {
    struct command *commands[MATCHER_RING_TURN];
    uint32_t count;
};

static void gather(struct batch *batch, const struct matcher_link *link, uint32_t budget)
{
    uint64_t slots = ring_ready(link->commands);
    uint64_t at = 0;

    for (batch->count = 0; at < slots && batch->count < budget; batch->count++) {
        /* The slots are ours until the release: the stamp is written in location. */
        struct command *command = (struct command *)ring_at(link->commands, at);
        batch->commands[batch->count] = command;
        at += command->slot_count;
    }
}

/* At most MATCHER_RING_TURN commands of one link; a full journal clears *room_left. */
static uint32_t drain_link(struct matcher *matcher, const struct matcher_link *link,
                           uint32_t budget, bool *room_left)
{
    struct batch batch;
    uint64_t used = 0;
    uint32_t taken = 0;

    gather(&batch, link, budget);
    for (uint32_t i = 0; i < batch.count; i++)
        prefetch_buckets(matcher->sequencer.engine, batch.commands[i]);
    for (; taken < batch.count; taken++) {
        if (taken + PREFETCH_AHEAD < batch.count)
            prefetch_records(matcher->sequencer.engine, batch.commands[taken + PREFETCH_AHEAD]);
        if (!sequencer_author_hash(&matcher->sequencer) ||
            !sequence_command(matcher, link, batch.commands[taken])) {
            *room_left = false;
            break;
        }
        used += batch.commands[taken]->slot_count;
    }
    if (taken != 0) {
        ring_release(link->commands, used);
        ring_publish(link->answers);
    }
    return taken;
}

static uint32_t drain(struct matcher *matcher, bool *room_left)
{
    uint32_t taken = 0;
    uint32_t idle_links = 0;

    while (*room_left && taken < MATCHER_COMMANDS_A_TURN && idle_links < matcher->link_count) {
        const struct matcher_link *link = &matcher->links[matcher->link_next];
        uint32_t budget = MATCHER_COMMANDS_A_TURN - taken;
        if (budget > MATCHER_RING_TURN)
            budget = MATCHER_RING_TURN;
        uint32_t n = drain_link(matcher, link, budget, room_left);
        taken += n;
        idle_links = n == 0 ? idle_links + 1 : 0;
        matcher->link_next = (matcher->link_next + 1) % matcher->link_count;
    }
    return taken;
}

uint32_t matcher_drop(struct matcher *matcher)
{
    const struct engine *engine = matcher->sequencer.engine;
    const struct engine_result dropped = { .processed_at_ns = engine_time(engine),
                                           .status = STATUS_request_dropped };
    uint32_t count = 0;

    for (uint32_t i = 0; i < matcher->link_count; i++) {
        const struct matcher_link *link = &matcher->links[i];
        uint64_t used = 0, slots = ring_ready(link->commands);
        for (; used < slots; count++) {
            const struct command *command = ring_at(link->commands, used);
            struct answer *answer = ring_claim(link->answers, 1);
            INVARIANT(answer != NULL); /* as sequence_command */
            fill_answer(answer, command, &dropped, engine_sequence(engine), 0);
            published_add(&matcher->counters.status[dropped.status], 1);
            used += command->slot_count;
        }
        if (used == 0)
            continue;
        ring_release(link->commands, used);
        ring_publish(link->answers);
    }
    return count;
}

static bool author_tick(struct matcher *matcher, uint8_t kind)
{
    uint8_t body[8] = { kind };
    struct engine_result result;
    atomic_store_explicit(&matcher->tick_wanted, false, memory_order_relaxed);
    return sequencer_author(&matcher->sequencer, REQUEST_tick, body, sizeof body, &result);
}

/* Until when ticks go on without a command: every id that could still come is too old then. */
static uint64_t awake_until_ns(const struct matcher *matcher)
{
    const struct option_engine *options = engine_options(matcher->sequencer.engine);
    uint64_t window_ms = MATCHER_AWAKE_MS;

    if (options != NULL)
        window_ms += options->values[OPTION_exchange_clock_past_ms] +
                     options->values[OPTION_exchange_clock_future_ms];
    return matcher->outside_t_ns + window_ms * 1000000;
}

/* When a tick is due: at a deadline of the engine, a second after the last command while ids of
 * clients may still come, and when a reader wants to know that time has passed. Who leads a cluster
 * shows its standbys so that what they have is new. */
static uint64_t tick_due_ns(const struct matcher *matcher)
{
    const struct engine *engine = matcher->sequencer.engine;
    bool leads = matcher->sequencer.vote != NULL; /* a cluster */
    uint64_t tick_ns =
        matcher->sequencer.last_t_ns + (leads ? MATCHER_LEADER_TICK_NS : MATCHER_TICK_NS);
    uint64_t due_ns = engine_next_deadline(engine);

    if (due_ns <= clock_now_ns(matcher->sequencer.clock))
        due_ns = engine_next_needed(engine);
    /* relaxed: a bool, and a turn late is no harm. */
    if (!leads && tick_ns > awake_until_ns(matcher) &&
        !atomic_load_explicit(&matcher->tick_wanted, memory_order_relaxed))
        return due_ns;
    return due_ns < tick_ns ? due_ns : tick_ns;
}

uint64_t matcher_deadline_ns(const struct matcher *matcher)
{
    uint64_t tick_ns = tick_due_ns(matcher);
    return matcher->disconnect_restart.due_ns < tick_ns ? matcher->disconnect_restart.due_ns
                                                        : tick_ns;
}

bool matcher_is_held(const struct matcher *matcher)
{
    for (uint32_t i = 0; i < matcher->link_count; i++)
        if (ring_ready(matcher->links[i].commands) != 0)
            return true;
    return sequencer_hash_is_due(&matcher->sequencer) ||
           engine_has_work(matcher->sequencer.engine) ||
           clock_now_ns(matcher->sequencer.clock) >= matcher_deadline_ns(matcher);
}

static bool is_arm_due(const struct matcher *matcher)
{
    return CC_UNLIKELY(matcher->disconnect_restart.due_ns != UINT64_MAX) &&
           clock_now_ns(matcher->sequencer.clock) >= matcher->disconnect_restart.due_ns;
}

/* The gap of the clock is over: what counts seconds from the start counts them from here. */
static void end_gap(struct matcher *matcher)
{
    stopped_clock_end(&matcher->stopped_clock, engine_time(matcher->sequencer.engine));
    uint64_t now_ns = clock_now_ns(matcher->sequencer.clock);
    disconnect_restart_open(&matcher->disconnect_restart, now_ns);
    matcher->staged_restart.began_ns = now_ns;
}

/* While the clock is stopped: is the gap confirmed, is the clock right, is a tick due. Returns
 * the number of commands. */
static uint32_t mind_gap(struct matcher *matcher, bool *room_left)
{
    struct stopped_clock *stopped = &matcher->stopped_clock;
    struct sequencer *sequencer = &matcher->sequencer;
    int64_t gap_ns = engine_clock_gap_ns(sequencer->engine);

    if (gap_ns == 0) {
        end_gap(matcher);
        return 0;
    }
    if (stopped_clock_is_right(stopped))
        *room_left = stopped_clock_author(sequencer, gap_ns);
    else if (stopped_clock_ticks(stopped, MATCHER_STOPPED_TICK_NS))
        *room_left = sequencer_author_hash(sequencer) && author_tick(matcher, 0);
    else
        return 0;
    return *room_left;
}

uint32_t matcher_step(struct matcher *matcher)
{
    bool room_left = true;
    uint32_t work = 0;

    if (CC_UNLIKELY(matcher->stopped_clock.is_open))
        work += mind_gap(matcher, &room_left);
    if (CC_UNLIKELY(alarm_is_due(&matcher->alarm)))
        work += alarm_step(&matcher->alarm, &matcher->sequencer, &room_left);
    if (matcher->alarm.is_short || matcher->alarm.is_closed)
        staged_restart_leave(&matcher->staged_restart, STAGED_RESTART_ALL);
    if (room_left &&
        staged_restart_is_due(&matcher->staged_restart, clock_now_ns(matcher->sequencer.clock)))
        work += staged_restart_step(&matcher->staged_restart, &matcher->sequencer, &room_left);
    if (room_left && is_arm_due(matcher))
        work +=
            disconnect_restart_step(&matcher->disconnect_restart, &matcher->sequencer, &room_left);
    if (!is_arm_due(matcher))
        work += drain(matcher, &room_left);
    if (room_left && sequencer_hash_is_due(&matcher->sequencer)) {
        room_left = sequencer_author_hash(&matcher->sequencer);
        work += room_left;
    }
    if (room_left && clock_now_ns(matcher->sequencer.clock) >= tick_due_ns(matcher)) {
        room_left = author_tick(matcher, 0);
        work += room_left;
    } else if (room_left && work == 0 && engine_has_work(matcher->sequencer.engine)) {
        room_left = author_tick(matcher, 1);
        work += room_left;
    }
    if (!room_left)
        published_add(&matcher->counters.journal_full, 1);
    return work;
}
