#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/config.h"
#include "base/hash.h"
#include "crypto/derive.h"
#include "engine/audit.h"
#include "engine/image.h"
#include "node/core.h"
#include "node/market_file.h"
#include "sim_link.h"
#include "sim_reads.h"
#include "sim_traffic.h"
#include "store/disk_sim.h"

enum {
    LINKS = 2, /* net threads */
    SEGMENT_BYTES = 64 << 10,
    BUFFER_BYTES = 64 << 10,
    FRAME_BYTES = 8 << 10,
    BLOCK_BYTES = 512,
    LATENCY_MAX = 12,
    HISTORY_ROWS = 1 << 12,
    BOUNDARIES_MAX = 1 << 16,
    QUIESCE_TURNS_MAX = 1 << 14,
    CRASH_ODDS = 700, /* one step in so many */
    CLEAN_ODDS = 4000,
    FOLLOWER_COMMANDS = 24, /* a turn: behind often enough that stamps matter */
};

#define START_NS   UINT64_C(1755582431232000000)
#define LAG_MAX_NS UINT64_C(3600000000000)

/* What the primary's hash was after a sequence. */
struct boundary {
    uint64_t sequence;
    uint64_t lanes[EFFECT_LANES];
};

struct sim {
    struct sim_outcome *outcome;
    struct clock clock;
    struct disk *disk;
    struct core core;
    struct traffic traffic;
    struct market_file markets;
    struct sim_link links[LINKS];
    struct boundary *boundaries; /* ascending sequence */
    uint32_t boundary_count;
    uint32_t answered_from; /* first entry that may still be TRAFFIC_ANSWERED */
};

static void CC_PRINTF(2, 3) fail(struct sim *sim, const char *format, ...)
{
    va_list arguments;
    if (sim->outcome->failed)
        return;
    sim->outcome->failed = true;
    va_start(arguments, format);
    vsnprintf(sim->outcome->failure, SIM_FAILURE_BYTES, format, arguments);
    va_end(arguments);
}

static void configure(struct sim *sim)
{
    static struct config config;
    char operator_key[80], oracle_keys[80];
    uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    char text[BASE64_TEXT_BYTES(32) + 1];

    base64_encode(text, sim->traffic.operator_key, 32);
    snprintf(operator_key, sizeof operator_key, "--exchange.operator_key=%s", text);
    base64_encode(text, sim->traffic.oracle_key, 32);
    snprintf(oracle_keys, sizeof oracle_keys, "--exchange.oracle_keys=%s", text);
    const char *argv[] = { "sim",
                           operator_key,
                           oracle_keys,
                           "--engine.accounts=64",
                           "--engine.portfolios=64",
                           "--engine.orders=4096",
                           "--engine.positions=256",
                           "--engine.credentials=1024",
                           "--engine.deposits=1024",
                           "--engine.ladder_pages=256",
                           "--engine.work_per_command=4",
                           "--limits.duplicate_slots=32768",
                           NULL };
    enum config_outcome outcome = config_load(&config, (int)CC_COUNT(argv) - 1, argv, NULL);
    INVARIANT(outcome == CONFIG_RUN);
    ptrdiff_t bytes = config_engine_text(&config, sim->core.exchange.exchange_id, body);
    INVARIANT(bytes > 0);
    bool parsed = core_configure(&sim->core, body, (uint32_t)bytes);
    INVARIANT(parsed);
    config_free(&config);
}

/* A client's request or read goes through any net thread. */
static struct sim_link *any_link(struct sim *sim)
{
    return &sim->links[traffic_below(&sim->traffic, LINKS)];
}

/* What recovery must have brought back, before anything new is sequenced. */
static void check_recovered(struct sim *sim);

static void start(struct sim *sim)
{
    struct refusal refusal = { 0 };
    struct core_config config = {
        .disk = sim->disk,
        .clock = &sim->clock,
        .markets = sim->markets.markets,
        .market_count = 1,
        .durability = JOURNAL_LOCAL,
        .segment_bytes = SEGMENT_BYTES,
        .journal_buffer_bytes = BUFFER_BYTES,
        .frames_in_flight = JOURNAL_FRAMES_MAX,
        .group_bytes = 1,
        .frame_bytes_max = FRAME_BYTES,
        .history_rows = HISTORY_ROWS,
        .follower_lag_max_ns = LAG_MAX_NS,
        .follower_commands_a_turn = FOLLOWER_COMMANDS,
    };
    if (core_create(&sim->core, &config, &refusal) != REFUSAL_none) {
        fail(sim, "open: %s", refusal.text);
        return;
    }
    sim->traffic.key = mix_key_load(sim->core.exchange.hash_key);
    configure(sim);
    for (uint32_t i = 0; i < LINKS; i++)
        sim_link_reset(&sim->links[i]);
    int no_memory = core_make_keyring(&sim->core);
    INVARIANT(no_memory == 0);
    if (core_recover(&sim->core, &refusal) != REFUSAL_none) {
        fail(sim, "recovery: %s", refusal.text);
        return;
    }
    for (uint32_t i = 0; i < LINKS; i++)
        sim_link_join(&sim->links[i], &sim->core);
    check_recovered(sim);
    /* W5: a start waits until the clock has reached the last journalled t. */
    enum core_opening opening = core_open(&sim->core);
    for (; opening == CORE_CLOCK_BEHIND; opening = core_open(&sim->core))
        clock_advance(&sim->clock, 1000000);
    if (opening != CORE_OPENED)
        fail(sim, "the start was refused: %d", opening);
}

static const struct boundary *find_boundary(const struct sim *sim, uint64_t sequence)
{
    uint32_t low = 0, high = sim->boundary_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sim->boundaries[middle].sequence < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < sim->boundary_count && sim->boundaries[low].sequence == sequence;
    return found ? &sim->boundaries[low] : NULL;
}

static void note_boundary(struct sim *sim)
{
    uint64_t sequence = engine_sequence(sim->core.primary);
    uint32_t last = sim->boundary_count;
    if (last != 0 && sim->boundaries[last - 1].sequence == sequence)
        return;
    if (last == BOUNDARIES_MAX)
        return;
    sim->boundaries[last].sequence = sequence;
    engine_effects_lanes(sim->core.primary, sim->boundaries[last].lanes);
    sim->boundary_count++;
}

static void check_lanes(struct sim *sim, const struct engine *engine, const char *who)
{
    uint64_t lanes[EFFECT_LANES];
    const struct boundary *known = find_boundary(sim, engine_sequence(engine));
    if (known == NULL)
        return;
    engine_effects_lanes(engine, lanes);
    sim->outcome->checked_hashes++;
    if (memcmp(lanes, known->lanes, sizeof lanes) != 0)
        fail(sim, "%s differs from the primary at sequence %lu", who, known->sequence);
}

/* Sends an acknowledged request again, at the peek only: it must be known with its outcome. */
static void check_duplicate(struct sim *sim, struct traffic_sent *sent)
{
    struct engine_result result;
    struct command *command = traffic_command(sent);
    uint64_t t_ns = engine_time_next(sim->core.primary, clock_now_ns(&sim->clock));

    derive_command(command, sim->traffic.key);
    bool known = engine_peek(sim->core.primary, command, t_ns, &result);
    if (known && result.status == STATUS_request_dropped)
        return; /* older than the window */
    sim->outcome->checked_duplicates++;
    if (!known || result.status != STATUS_duplicate_request_id)
        fail(sim, "acknowledged sequence %lu is not known after recovery", sent->answer.sequence);
    else if (result.original_status != sent->answer.status ||
             result.original_processed_at_ns != sent->answer.processed_at_ns)
        fail(sim, "acknowledged sequence %lu has another outcome", sent->answer.sequence);
}

/* An id that is consumed: R11 row 3 leaves it unused when the credential is unknown. */
static bool consumed(const struct traffic_sent *sent)
{
    return sent->state == TRAFFIC_ACKED && sent->answer.sequence != 0 &&
           sent->answer.status != STATUS_rejected_unauthorized &&
           sent->answer.status != STATUS_session_rejected;
}

static void check_recovered(struct sim *sim)
{
    uint64_t recovered = engine_sequence(sim->core.primary);

    while (sim->boundary_count != 0 &&
           sim->boundaries[sim->boundary_count - 1].sequence > recovered)
        sim->boundary_count--;
    check_lanes(sim, sim->core.primary, "the recovered state");
    check_lanes(sim, sim->core.replica, "the recovered follower");
    for (uint32_t i = 0; i < sim->traffic.sent_count; i++) {
        struct traffic_sent *sent = &sim->traffic.sent[i];
        if (sent->state == TRAFFIC_SENT || sent->state == TRAFFIC_ANSWERED)
            sent->state = TRAFFIC_LOST;
        if (!consumed(sent))
            continue;
        if (sent->answer.sequence > recovered)
            fail(sim, "acknowledged sequence %lu is lost: recovered to %lu", sent->answer.sequence,
                 recovered);
        else
            check_duplicate(sim, sent);
    }
}

struct hash_sink {
    struct image_sink sink; /* first */
    struct hash_state hash;
};

static void hash_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    hash_add(&((struct hash_sink *)(void *)sink)->hash, bytes, count);
}

static void image_hash(struct engine *engine, uint8_t out[HASH_BYTES])
{
    struct hash_sink sink = { .sink = { .bytes = hash_bytes } };
    hash_begin(&sink.hash);
    image_write(engine, &sink.sink);
    hash_end(&sink.hash, out);
}

static void step_send(struct sim *sim)
{
    uint64_t burst = 1 + traffic_below(&sim->traffic, 12);
    for (; burst > 0; burst--) {
        struct sim_link *link = any_link(sim);
        if (!sim_link_has_credit(link))
            return;
        struct traffic_sent *sent = traffic_next(&sim->traffic, clock_now_ns(&sim->clock));
        if (sent == NULL)
            return;
        struct command *command = traffic_command(sent);
        void *slot = ring_claim(&link->commands, command->slot_count);
        INVARIANT(slot != NULL);
        memcpy(slot, command, command_bytes(command));
        ring_publish(&link->commands);
        link->outstanding++;
    }
}

/* A retry of a request whose outcome the client has must not change that outcome. */
static void check_retry(struct sim *sim, const struct traffic_sent *sent)
{
    const struct traffic_sent *original = &sim->traffic.sent[sent->original];
    const struct answer *answer = &sent->answer;
    if (!sent->is_retry || !consumed(original) || answer->status == STATUS_request_dropped)
        return;
    if (answer->status != STATUS_duplicate_request_id)
        fail(sim, "a retry of acknowledged sequence %lu was executed again",
             original->answer.sequence);
    else if (answer->original_status != original->answer.status)
        fail(sim, "a retry of sequence %lu names another outcome", original->answer.sequence);
}

/* An answer leaves: from here on the client counts on it. */
static void acknowledge(struct sim *sim, struct traffic_sent *sent)
{
    sent->state = TRAFFIC_ACKED;
    sim->outcome->acknowledged++;
    sim->outcome->completed += sent->answer.status == STATUS_request_completed;
    sim->outcome->digest =
        (sim->outcome->digest ^ sent->answer.sequence ^ (uint64_t)sent->answer.status << 56) *
        0x9E3779B97F4A7C15u;
    check_retry(sim, sent);
    traffic_learn(&sim->traffic, sent);
}

/* What a net thread takes from its ring; it is held until it is durable. */
static void take_answers(struct sim *sim, struct sim_link *link)
{
    uint64_t ready = ring_ready(&link->answers);

    for (uint64_t i = 0; i < ready; i++) {
        const struct answer *answer = ring_at(&link->answers, i);
        if (answer->release_sequence < link->release_last)
            fail(sim, "release sequences of a link go back: %lu", answer->release_sequence);
        link->release_last = answer->release_sequence;
        sim->traffic.sent[answer->token].answer = *answer;
        sim->traffic.sent[answer->token].state = TRAFFIC_ANSWERED;
    }
    if (ready != 0)
        ring_release(&link->answers, ready);
    link->outstanding -= (uint32_t)ready;
}

static void release_answers(struct sim *sim)
{
    for (uint32_t i = sim->answered_from; i < sim->traffic.sent_count; i++) {
        struct traffic_sent *sent = &sim->traffic.sent[i];
        if (sent->state == TRAFFIC_ANSWERED &&
            sent->answer.release_sequence <= journal_durable_seq(sim->core.journal))
            acknowledge(sim, sent);
        if (i == sim->answered_from &&
            (sent->state == TRAFFIC_ACKED || sent->state == TRAFFIC_LOST))
            sim->answered_from++;
    }
}

/* Asks for something of an order whose placing was acknowledged. */
static void step_query(struct sim *sim)
{
    struct sim_link *link = any_link(sim);
    if (link->query_in_flight || sim->traffic.sent_count == 0)
        return;
    uint32_t pick = (uint32_t)traffic_below(&sim->traffic, sim->traffic.sent_count);
    struct traffic_sent *sent = &sim->traffic.sent[pick];
    struct command *command = traffic_command(sent);
    if (sent->state != TRAFFIC_ACKED || sent->is_retry || command->code != 0 ||
        sent->answer.status != STATUS_request_completed)
        return;

    sim_reads_ask(&link->query, sent, traffic_random(&sim->traffic));
    link->query.token = pick;
    link->query.stamp = journal_durable_seq(sim->core.journal);
    struct query *query = ring_claim(&link->queries, 1);
    INVARIANT(query != NULL);
    *query = link->query;
    ring_publish(&link->queries);
    link->query_in_flight = true;
}

static void take_reply(struct sim *sim, struct sim_link *link)
{
    if (ring_ready(&link->replies) == 0)
        return;
    const struct reply *reply = ring_at(&link->replies, 0);
    struct traffic_sent *sent = &sim->traffic.sent[reply->token];
    sim->outcome->checked_reads++;
    if (reply->applied > journal_durable_seq(sim->core.journal))
        fail(sim, "a read shows sequence %lu, which is not durable", reply->applied);
    bool has_rows = reply->buffer != REPLY_NO_BUFFER, filled;
    const uint8_t *rows = has_rows ? reply_pool_at(&link->pool, reply->buffer) : NULL;
    const char *wrong = sim_reads_judge(&link->query, reply, rows, sent, &filled);
    if (wrong != NULL)
        fail(sim, "read %u of acknowledged sequence %lu: %s", link->query.kind,
             sent->answer.sequence, wrong);
    sim->outcome->checked_fills += filled;
    if (has_rows)
        reply_pool_give(&link->pool, reply->buffer);
    ring_release(&link->replies, 1);
    link->query_in_flight = false;
}

static void step_journal(struct sim *sim)
{
    int work = core_journal(&sim->core);
    if (work < 0)
        fail(sim, "the journal failed: %d", work);
}

static void step_follow(struct sim *sim)
{
    int work = core_follow(&sim->core);
    if (work < 0)
        fail(sim, "the follower failed: %d", work);
    if (engine_sequence(sim->core.replica) > journal_durable_seq(sim->core.journal))
        fail(sim, "the follower shows %lu, which is not durable",
             engine_sequence(sim->core.replica));
    check_lanes(sim, sim->core.replica, "the follower");
}

static void step_match(struct sim *sim)
{
    core_match(&sim->core);
    note_boundary(sim);
}

static void step_clock(struct sim *sim)
{
    uint64_t odds = traffic_below(&sim->traffic, 64);
    uint64_t step_ns = traffic_below(&sim->traffic, 3000000);
    if (odds == 0)
        step_ns = traffic_below(&sim->traffic, UINT64_C(1500000000));
    clock_advance(&sim->clock, step_ns);
}

/* Until everything that was sent is durable, applied and answered. */
static void quiesce(struct sim *sim)
{
    for (int turn = 0; turn < QUIESCE_TURNS_MAX && !sim->outcome->failed; turn++) {
        bool drained = true;
        for (uint32_t i = 0; i < LINKS; i++)
            drained = drained && ring_ready(&sim->links[i].commands) == 0;
        step_match(sim);
        step_journal(sim);
        step_follow(sim);
        for (uint32_t i = 0; i < LINKS; i++) {
            take_answers(sim, &sim->links[i]);
            take_reply(sim, &sim->links[i]);
        }
        release_answers(sim);
        int prepared = core_prepare(&sim->core, clock_monotonic_ns(&sim->clock));
        if (prepared < 0)
            fail(sim, "preparation failed: %d", prepared);
        uint64_t sequence = engine_sequence(sim->core.primary);
        if (drained && engine_sequence(sim->core.replica) == sequence &&
            !engine_has_work(sim->core.primary))
            return;
    }
    fail(sim, "it does not come to rest");
}

static void check_equal_images(struct sim *sim)
{
    uint8_t primary[HASH_BYTES], replica[HASH_BYTES];
    struct row_audit audit;

    image_hash(sim->core.primary, primary);
    image_hash(sim->core.replica, replica);
    if (memcmp(primary, replica, sizeof primary) != 0)
        fail(sim, "the images of primary and follower differ");
    audit_read(sim->core.replica, &audit, NULL);
    if (audit.invariants != QUERY_INVARIANTS_ALL || audit.recount_differences != 0)
        fail(sim, "an invariant failed: %02x, %u differences", audit.invariants,
             audit.recount_differences);
}

/* A clean stop loses nothing: what is recovered has the image of what was stopped. */
static void restart_clean(struct sim *sim)
{
    uint8_t before[HASH_BYTES], after[HASH_BYTES];

    quiesce(sim);
    if (sim->outcome->failed)
        return;
    check_equal_images(sim);
    image_hash(sim->core.primary, before);
    core_stop(&sim->core);
    for (int turn = 0; !core_stopped(&sim->core) && !sim->outcome->failed; turn++) {
        step_journal(sim);
        step_follow(sim);
        int prepared = core_prepare(&sim->core, clock_monotonic_ns(&sim->clock));
        if (turn == QUIESCE_TURNS_MAX || prepared < 0)
            fail(sim, "the clean stop does not end");
    }
    core_destroy(&sim->core);
    struct disk *old = sim->disk;
    sim->disk = disk_sim_copy(old);
    disk_sim_destroy(old);
    disk_sim_crash(sim->disk, traffic_random(&sim->traffic)); /* the lock goes with the process */

    start(sim);
    if (sim->outcome->failed)
        return;
    if (!sim->core.recovered.clean_stop)
        fail(sim, "a clean stop was not recognised");
    /* The replica has not seen this start's commands yet: it is what recovery made. */
    image_hash(sim->core.replica, after);
    if (memcmp(before, after, sizeof before) != 0)
        fail(sim, "the image after a clean stop differs");
    sim->outcome->restarts_clean++;
}

static void crash(struct sim *sim)
{
    uint32_t in_flight = journal_counters(sim->core.journal).in_flight;
    struct disk *survivor = disk_sim_copy(sim->disk);
    INVARIANT(survivor != NULL);

    sim->outcome->crashes++;
    sim->outcome->crashes_in_flight += in_flight >= 2;
    if ((traffic_random(&sim->traffic) & 3) == 0)
        disk_sim_kill(survivor, traffic_random(&sim->traffic));
    else
        disk_sim_crash(survivor, traffic_random(&sim->traffic));
    core_destroy(&sim->core);
    disk_sim_destroy(sim->disk);
    sim->disk = survivor;
    clock_advance(&sim->clock, traffic_below(&sim->traffic, UINT64_C(2000000000)));
    start(sim);
}

static void step(struct sim *sim)
{
    uint64_t pick = traffic_below(&sim->traffic, 16);
    if (traffic_below(&sim->traffic, CRASH_ODDS) == 0) {
        crash(sim);
        return;
    }
    if (traffic_below(&sim->traffic, CLEAN_ODDS) == 0) {
        restart_clean(sim);
        return;
    }
    if (pick < 4)
        step_send(sim);
    else if (pick < 7)
        step_match(sim);
    else if (pick < 10)
        step_journal(sim);
    else if (pick < 12)
        step_follow(sim);
    else if (pick == 12) {
        take_answers(sim, any_link(sim));
        release_answers(sim);
    } else if (pick == 13)
        step_clock(sim);
    else if (pick == 14)
        step_query(sim);
    else {
        take_reply(sim, any_link(sim));
        int prepared = core_prepare(&sim->core, clock_monotonic_ns(&sim->clock));
        if (prepared < 0)
            fail(sim, "preparation failed: %d", prepared);
    }
}

static void create(struct sim *sim, uint64_t seed)
{
    struct disk_sim_config disk = {
        .seed = seed,
        .block_bytes = BLOCK_BYTES,
        .latency_max = LATENCY_MAX,
    };
    clock_init_simulated(&sim->clock, START_NS);
    traffic_init(&sim->traffic, seed);
    sim->disk = disk_sim_create(&disk);
    for (uint32_t i = 0; i < LINKS; i++)
        sim_link_make(&sim->links[i]);
    sim->boundaries = calloc(BOUNDARIES_MAX, sizeof *sim->boundaries);
    INVARIANT(sim->disk != NULL && sim->boundaries != NULL);
    bool loaded = market_file_load(&sim->markets, "");
    INVARIANT(loaded);
}

static void destroy(struct sim *sim)
{
    core_destroy(&sim->core);
    disk_sim_destroy(sim->disk);
    market_file_free(&sim->markets);
    traffic_free(&sim->traffic);
    for (uint32_t i = 0; i < LINKS; i++)
        sim_link_free(&sim->links[i]);
    free(sim->boundaries);
    free(sim);
}

void sim_run(uint64_t seed, uint64_t steps, struct sim_outcome *outcome)
{
    struct sim *sim = aligned_alloc(128, (sizeof *sim + 127) & ~(size_t)127);
    INVARIANT(sim != NULL);
    memset(sim, 0, sizeof *sim);
    memset(outcome, 0, sizeof *outcome);
    sim->outcome = outcome;
    create(sim, seed);
    start(sim);
    while (outcome->steps < steps && !outcome->failed) {
        outcome->steps++;
        step(sim);
    }
    if (!outcome->failed)
        restart_clean(sim);
    destroy(sim);
}
