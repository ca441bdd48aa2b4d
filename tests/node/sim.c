#include "sim.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "crypto/ed25519.h"
#include "crypto/second_path.h"
#include "sim_reads.h"
#include "sim_world.h"
#include "support/sim/disk_sim.h"

enum {
    HTTP_ODDS = 3,       /* so many requests of four go over HTTP */
    AUDIT_INTERVAL = 64, /* sequences */
    ASK_TRIES = 16,
    STOP_ODDS = 8, /* one look at snapshots and archive in so many */
    STOP_CALLS = 16,
    HOUR_ODDS = 3,  /* seeds that pass a full hour, */
    CLOSE_ODDS = 8, /* and that close the market: one in so many */
    CHILD_ODDS = 4, /* one turn of the background thread in so many its child is done */
};

#define START_NS       UINT64_C(1755582431232000000) /* 05:47:11 */
#define HOUR_NS        UINT64_C(1755583200000000000) /* 06:00 UTC: positions pay funding (R5) */
#define BEFORE_HOUR_NS UINT64_C(8000000000)

/* How often each step is taken, out of STEP_WEIGHTS; the odds of the rare ones are theirs. */
/* clang-format off */
#define STEP_LIST(X) \
    X(send, 4) X(match, 3) X(journal, 3) X(follow, 2) X(take, 1) X(port, 4) X(clock, 1) \
    X(query, 2) X(background, 2)
#define RARE_LIST(X) \
    X(crash, 1300) X(kill, 2600) X(clean, 2500) X(diskerror, 4000) X(diskfull, 4000) \
    X(diskslow, 3000) X(clock, 1200) X(hangup, 900)
/* clang-format on */

enum {
#define X(name, weight) STEP_##name, STEP_##name##_last = STEP_##name + (weight)-1,
    STEP_LIST(X)
#undef X
        STEP_WEIGHTS
};

void CC_PRINTF(2, 3) sim_fail(struct sim *sim, const char *format, ...)
{
    va_list arguments;
    if (sim->outcome->failed)
        return;
    sim->outcome->failed = true;
    va_start(arguments, format);
    vsnprintf(sim->outcome->failure, SIM_FAILURE_BYTES, format, arguments);
    va_end(arguments);
}

void sim_note(struct sim *sim, const char *what, uint64_t a, uint64_t b)
{
    struct sim_trace *trace = &sim->outcome->trace;
    snprintf(trace->lines[trace->count++ % SIM_TRACE_LINES], SIM_TRACE_BYTES,
             "step %lu: %s %lu %lu", sim->outcome->steps, what, a, b);
}

/* ---- requests and answers -------------------------------------------------------------------- */

/* The hash of a new API key's secret, which net adds. */
static void add_hash(struct sim *sim, struct traffic_sent *sent)
{
    struct command *command = traffic_command(sent);
    uint16_t made = sim->traffic.sent[sent->original].makes;
    if (command->extra_bytes == 0 || made == TRAFFIC_NONE)
        return;
    sim->traffic.credentials[made].is_known = true;
    secret_hash(command->bytes + command->payload_bytes + command->key_bytes + SIGNATURE_BYTES,
                sim->core.exchange.secret_key, sim->traffic.credentials[made].secret);
}

static bool push(struct sim *sim, struct traffic_sent *sent)
{
    struct command *command = traffic_command(sent);
    add_hash(sim, sent);
    struct sim_link *link = &sim->link;
    void *slot = ring_claim(&link->commands, command->slot_count);
    INVARIANT(slot != NULL); /* sim_link_has_credit */
    memcpy(slot, command, command_bytes(command));
    ring_publish(&link->commands);
    link->outstanding++;
    return true;
}

static void step_send(struct sim *sim)
{
    uint64_t burst = 1 + sim_below(sim, 12);

    for (; burst > 0; burst--) {
        if (!sim_link_has_credit(&sim->link)) {
            sim->outcome->ring_full++;
            return;
        }
        /* Clients' clocks are those of the net threads, more or less. */
        uint64_t now_ns = clock_now_ns(&sim->net_clock) + sim_below(sim, UINT64_C(1000000));
        struct traffic_sent *sent = traffic_next(&sim->traffic, now_ns);
        if (sent == NULL)
            return;
        sim->outcome->revocations += sent->ends != TRAFFIC_NONE;
        bool is_signed = traffic_command(sent)->kind == COMMAND_SIGNED;
        bool http = is_signed && sim_may(sim, SIM_EVENT_http) && sim_below(sim, 4) < HTTP_ODDS;
        if (!http || !sim_port_send(sim, &sim->ports[sim_below(sim, SIM_PORTS)], sent))
            push(sim, sent);
    }
}

/* What of the rule book was done, and by whom. */
static void count_code(struct sim *sim, struct traffic_sent *sent)
{
    struct sim_outcome *outcome = sim->outcome;
    const struct command *command = traffic_command(sent);

    outcome->suspended += sent->answer.status == STATUS_rejected_account_suspended;
    if (sent->answer.status != STATUS_request_completed)
        return;
    outcome->conditionals += command->code == REQUEST_place_conditional_order;
    outcome->batches += command->code == REQUEST_order_batch;
    outcome->transfers += command->code == REQUEST_transfer;
    outcome->withdrawals += command->code == REQUEST_withdraw;
    outcome->subaccounts += command->code == REQUEST_create_subaccount;
    outcome->portfolios += command->code == REQUEST_create_portfolio;
    outcome->schedules += command->code == REQUEST_schedule_cancel_all;
    outcome->protections += command->code == REQUEST_set_mmp;
    outcome->suspensions += command->code == REQUEST_suspend_account;
    outcome->top_ups += command->code == REQUEST_fund_top_up;
    outcome->operator_cancels += command->code == REQUEST_operator_cancel;
    outcome->fee_tiers += command->code == REQUEST_set_fee_tier;
    outcome->arms += command->code == REQUEST_disconnect_arm;
}

void sim_acknowledge(struct sim *sim, struct traffic_sent *sent)
{
    sent->state = TRAFFIC_ACKED;
    sim->outcome->acknowledged++;
    sim->outcome->completed += sent->answer.status == STATUS_request_completed;
    count_code(sim, sent);
    sim->outcome->digest =
        (sim->outcome->digest ^ sent->answer.sequence ^ (uint64_t)sent->answer.status << 56) *
        0x9E3779B97F4A7C15u;
    sim_check_answer(sim, sent);
    traffic_learn(&sim->traffic, sent);
}

/* Answers of a link come in order of sequence, and the engine's time rises with it (W5). */
static void check_order(struct sim *sim, const struct answer *answer)
{
    struct sim_link *link = &sim->link;

    if (answer->release_sequence < link->release_last)
        sim_fail(sim, "release sequences of a link go back: %lu", answer->release_sequence);
    link->release_last = answer->release_sequence;
    if (answer->sequence == 0)
        return;
    if (answer->sequence <= link->sequence_last || answer->processed_at_ns <= link->processed_last)
        sim_fail(sim, "sequence %lu is behind %lu, or its time is", answer->sequence,
                 link->sequence_last);
    link->sequence_last = answer->sequence;
    link->processed_last = answer->processed_at_ns;
}

/* What a net thread takes from its ring is held until it is durable. */
void sim_take(struct sim *sim)
{
    struct sim_link *link = &sim->link;
    uint64_t ready = ring_ready(&link->answers);
    uint64_t durable = journal_durable_seq(sim->core.journal);

    for (uint64_t i = 0; i < ready; i++) {
        const struct answer *answer = ring_at(&link->answers, i);
        struct traffic_sent *sent = &sim->traffic.sent[answer->token];
        check_order(sim, answer);
        sent->answer = *answer;
        sent->state = TRAFFIC_ANSWERED;
        if (answer->token < sim->answered_from)
            sim->answered_from = (uint32_t)answer->token;
    }
    if (ready != 0)
        ring_release(&link->answers, ready);
    link->outstanding -= (uint32_t)ready;
    for (uint32_t i = sim->answered_from; i < sim->traffic.sent_count; i++) {
        struct traffic_sent *sent = &sim->traffic.sent[i];
        if (sent->state == TRAFFIC_ANSWERED && sent->answer.release_sequence <= durable)
            sim_acknowledge(sim, sent);
        if (i == sim->answered_from && sent->state != TRAFFIC_ANSWERED)
            sim->answered_from++;
    }
}

/* ---- reads ----------------------------------------------------------------------------------- */

/* Asks for something of an order whose placing was acknowledged. */
static void step_ask(struct sim *sim)
{
    struct sim_link *link = &sim->link;
    if (link->query_in_flight || sim->traffic.sent_count == 0 || !sim_may(sim, SIM_EVENT_reads))
        return;
    struct traffic_sent *sent = NULL;
    uint32_t pick = 0;
    for (int i = 0; i < ASK_TRIES && sent == NULL; i++) {
        pick = (uint32_t)sim_below(sim, sim->traffic.sent_count);
        sent = &sim->traffic.sent[pick];
        if (sent->state != TRAFFIC_ACKED || traffic_command(sent)->code != 0 ||
            sent->answer.status != STATUS_request_completed)
            sent = NULL;
    }
    if (sent == NULL)
        return;

    sim_reads_ask(&link->query, sent, traffic_random(&sim->traffic));
    link->query.token = pick;
    link->query.stamp = journal_durable_seq(sim->core.journal);
    link->query_of_ended = sent->ended;
    link->query_in_flight = true;
    struct query *query = ring_claim(&link->queries, 1);
    INVARIANT(query != NULL);
    *query = link->query;
    ring_publish(&link->queries);
}

static void take_reply(struct sim *sim)
{
    struct sim_link *link = &sim->link;
    if (ring_ready(&link->replies) == 0)
        return;
    const struct reply *reply = ring_at(&link->replies, 0);
    struct traffic_sent *sent = &sim->traffic.sent[reply->token];
    sim->outcome->checked_reads++;
    if (reply->applied > journal_durable_seq(sim->core.journal))
        sim_fail(sim, "a read shows sequence %lu, which is not durable", reply->applied);
    bool has_rows = reply->buffer != REPLY_NO_BUFFER, filled = false;
    const uint8_t *rows = has_rows ? reply_pool_at(&link->pool, reply->buffer) : NULL;
    const char *wrong = sim_reads_judge(link, reply, rows, sent, &filled);
    if (wrong == NULL && reply->cause == REPLY_NOT_KEPT && link->query.kind == QUERY_fills &&
        sim->history_folder[0] != '\0' && !sim->has_gap)
        wrong = "fills are in the history and are not shown";
    if (wrong != NULL)
        sim_fail(sim, "read %u of acknowledged sequence %lu: %s", link->query.kind,
                 sent->answer.sequence, wrong);
    sim->outcome->checked_fills += filled;
    if (has_rows)
        reply_pool_free(&link->pool, reply->buffer);
    ring_release(&link->replies, 1);
    link->query_in_flight = false;
}

static void step_query(struct sim *sim)
{
    take_reply(sim);
    step_ask(sim);
}

/* ---- the roles ------------------------------------------------------------------------------- */

void sim_step_match(struct sim *sim)
{
    core_match(&sim->core);
    sim_check_note(sim);
    if (engine_sequence(sim->core.primary) >= sim->audited + AUDIT_INTERVAL) {
        sim->audited = engine_sequence(sim->core.primary);
        sim_check_audit(sim, sim->core.primary, "the primary");
    }
}

/* What a role says of the disk: an error that was made ends the process, any other is a failure. */
static void judge(struct sim *sim, int work, const char *who)
{
    if (work >= 0)
        return;
    if (!sim->is_faulty)
        sim_fail(sim, "%s failed: %d", who, work);
    sim_note(sim, who, (uint64_t)-work, 0);
    sim->is_dead = true;
}

void sim_step_journal(struct sim *sim)
{
    judge(sim, core_journal(&sim->core), "the journal");
}

void sim_step_follow(struct sim *sim)
{
    uint64_t before = engine_sequence(sim->core.replica);

    judge(sim, core_follow(&sim->core), "the follower");
    uint64_t after = engine_sequence(sim->core.replica);
    if (after > journal_durable_seq(sim->core.journal))
        sim_fail(sim, "the follower shows %lu, which is not durable", after);
    sim_check_lanes(sim, sim->core.replica, "the follower");
    if (after != before && sim->profile.audits_every_command)
        sim_check_audit(sim, sim->core.replica, "the follower");
}

/* A segment that cannot be prepared is begun again later; a full disk is no death. */
void sim_step_background(struct sim *sim)
{
    uint64_t now_ns = clock_monotonic_ns(&sim->net_clock);
    int written = core_keep_history(&sim->core, now_ns);
    if (written < 0)
        sim_fail(sim, "the history was not written: %d", written);
    int prepared = core_prepare(&sim->core, now_ns);
    if (prepared < 0 && !sim->is_faulty && sim->full_until == 0)
        sim_fail(sim, "preparation failed: %d", prepared);
    if (!sim_may(sim, SIM_EVENT_snapshots))
        return;
    bool may_stop = sim_stop_soon(sim, STOP_ODDS, STOP_CALLS);
    core_snapshot(&sim->core, now_ns);
    sim_scrub_step(sim, now_ns);
    sim->outcome->crashes_in_archive += sim_stopped(sim, may_stop);
    if (sim_below(sim, CHILD_ODDS) == 0)
        sim_step_child(sim);
}

static bool is_drained(const struct sim *sim)
{
    for (uint32_t i = 0; i < SIM_PORTS; i++)
        if (!sim_port_is_idle(&sim->ports[i]))
            return false;
    return sim->link.outstanding == 0 &&
           engine_sequence(sim->core.replica) == engine_sequence(sim->core.primary) &&
           !engine_has_work(sim->core.primary);
}

void sim_quiesce(struct sim *sim)
{
    for (int turn = 0; turn < SIM_QUIESCE_TURNS && !sim->outcome->failed; turn++) {
        sim_step_match(sim);
        sim_step_journal(sim);
        sim_step_follow(sim);
        sim_take(sim);
        take_reply(sim);
        for (uint32_t i = 0; i < SIM_PORTS; i++)
            sim_port_step(sim, &sim->ports[i]);
        sim_step_background(sim);
        if (is_drained(sim)) {
            sim_check_arms(sim);
            if (sim->watch != NULL)
                sim_watch_check(sim, sim->watch);
            return;
        }
        clock_advance(&sim->clock, 100000);
        clock_advance(&sim->net_clock, 100000);
    }
    sim_fail(sim, "it does not come to rest");
}

/* ---- the scheduler --------------------------------------------------------------------------- */

/* One of the rare things, when its odds have it. */
static bool step_rare(struct sim *sim)
{
#define X(name, odds) bool is_##name = sim_below(sim, odds) == 0 && sim_may(sim, SIM_EVENT_##name);
    RARE_LIST(X)
#undef X
    if (is_crash || is_kill)
        sim_die(sim, is_crash);
    else if (is_clean)
        sim_restart_clean(sim);
    else if (is_diskerror)
        sim_fault_disk(sim);
    else if (is_diskfull)
        sim_fill_disk(sim);
    else if (is_diskslow)
        sim_slow_disk(sim);
    else if (is_clock)
        sim_jump_clock(sim);
    else if (is_hangup)
        sim_port_hang_up(sim, &sim->ports[sim_below(sim, SIM_PORTS)]);
    return is_crash || is_kill || is_clean || is_diskerror || is_diskfull || is_diskslow ||
           is_clock || is_hangup;
}

static void step(struct sim *sim)
{
    uint64_t pick = sim_below(sim, STEP_WEIGHTS);

    if (sim->is_dead) {
        sim_die(sim, sim_below(sim, 2) == 0);
        return;
    }
    if ((sim->full_until != 0 && sim->outcome->steps > sim->full_until) ||
        (sim->slow_until != 0 && sim->outcome->steps > sim->slow_until)) {
        if (!sim->is_faulty)
            sim_end_faults(sim);
    }
    if (step_rare(sim))
        return;
    if (pick <= STEP_send_last)
        step_send(sim);
    else if (pick <= STEP_match_last)
        sim_step_match(sim);
    else if (pick <= STEP_journal_last)
        sim_step_journal(sim);
    else if (pick <= STEP_follow_last)
        sim_step_follow(sim);
    else if (pick <= STEP_take_last)
        sim_take(sim);
    else if (pick <= STEP_port_last)
        sim_port_step(sim, &sim->ports[pick % SIM_PORTS]);
    else if (pick <= STEP_clock_last)
        sim_step_clock(sim);
    else if (pick <= STEP_query_last)
        step_query(sim);
    else
        sim_step_background(sim);
}

static void create(struct sim *sim, uint64_t seed)
{
    int no_library =
        signer_init() | ed25519_init(ED25519_LANES) | secp256k1_init() | second_path_init();
    INVARIANT(no_library == 0);
    log_set_descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
    traffic_init(&sim->traffic, seed);
    sim->traffic.duplicates = sim_may(sim, SIM_EVENT_duplicates);
    sim->traffic.rules = sim_may(sim, SIM_EVENT_rules);
    sim->traffic.closes = seed % CLOSE_ODDS == 3;
    sim->traffic.revokes = sim_may(sim, SIM_EVENT_revocations);
    sim_profile_init(sim, seed);
    sim_history_make(sim, seed);
    sim_scrub_make(sim, seed);
    struct disk_sim_config disk = {
        .seed = seed,
        .block_bytes = sim->profile.block_bytes,
        .latency_max = sim->profile.latency,
    };
    uint64_t start_ns = seed % HOUR_ODDS == 2 ? HOUR_NS - BEFORE_HOUR_NS : START_NS;
    clock_init_simulated(&sim->clock, start_ns);
    clock_init_simulated(&sim->net_clock, start_ns);
    sim->disk = disk_sim_create(&disk);
    sim_link_make(&sim->link);
    for (uint32_t i = 0; i < SIM_PORTS; i++)
        sim_port_make(&sim->ports[i]);
    if (sim_may(sim, SIM_EVENT_streams))
        sim->watch = sim_watch_make(seed);
    sim->boundaries = calloc(SIM_BOUNDARIES_MAX, sizeof *sim->boundaries);
    INVARIANT(sim->disk != NULL && sim->boundaries != NULL);
    bool loaded = market_file_load(&sim->markets, "");
    INVARIANT(loaded);
}

static void destroy(struct sim *sim)
{
    for (uint32_t i = 0; i < SIM_PORTS; i++) {
        sim_port_close(&sim->ports[i]);
        sim_port_free(&sim->ports[i]);
    }
    if (sim->watch != NULL) {
        sim_watch_close(sim->watch);
        sim_watch_free(sim->watch);
    }
    core_destroy(&sim->core);
    sim_history_free(sim);
    sim_scrub_free(sim);
    disk_sim_destroy(sim->disk);
    market_file_free(&sim->markets);
    traffic_free(&sim->traffic);
    sim_link_free(&sim->link);
    free(sim->boundaries);
    free(sim);
}

void sim_run(uint64_t seed, uint64_t steps, uint32_t disabled, struct sim_outcome *outcome)
{
    struct sim *sim = aligned_alloc(128, (sizeof *sim + 127) & ~(size_t)127);
    INVARIANT(sim != NULL);
    memset(sim, 0, sizeof *sim);
    memset(outcome, 0, sizeof *outcome);
    sim->outcome = outcome;
    sim->disabled = disabled;
    create(sim, seed);
    sim_start(sim);
    while (outcome->steps < steps && !outcome->failed) {
        outcome->steps++;
        step(sim);
        if (sim->watch != NULL && !outcome->failed)
            sim_watch_step(sim, sim->watch);
    }
    if (!outcome->failed && sim->is_dead)
        sim_die(sim, true);
    if (!outcome->failed)
        sim_restart_clean(sim);
    if (!outcome->failed)
        sim_check_credentials(sim);
    if (!outcome->failed)
        sim_scrub_settle(sim);
    destroy(sim);
}
