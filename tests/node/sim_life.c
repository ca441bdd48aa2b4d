/* Lives of a simulated process: how it starts, what goes wrong with it, how it ends. */
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/config.h"
#include "base/mix.h"
#include "crypto/ed25519.h"
#include "crypto/secp256k1.h"
#include "sim_sign.h"
#include "sim_world.h"
#include "support/sim/disk_sim.h"

enum {
    HISTORY_ROWS = 1 << 12,
    PRIVATE_EVENTS = 65536, /* of an account, in the history */
    START_TRIES = 8,
    RECRASH_ODDS = 3, /* one start in so many dies of a disk that stops */
    RECRASH_CALLS = 60,
    VARY_ODDS = 2,
    FAULT_CALLS = 40,
    ROT_ODDS = 10,
    REAL_ODDS = 25,
    AUDIT_ODDS = 16,
    OPTIONS = 19,
    CLASS_ODDS = 3, /* in which accounts have classes */
    OPTION_BYTES = 96,
    LAST_TURNS = 8, /* of net threads behind an error of the disk */
};

#define LAG_MAX_NS UINT64_C(3600000000000)
#define SECOND_NS  UINT64_C(1000000000)

/* ---- what a start is made of ----------------------------------------------------------------- */

static uint32_t one_of(struct sim *sim, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t pick = sim_below(sim, 3);
    return pick == 0 ? a : pick == 1 ? b : c;
}

static void grow(struct sim *sim, uint32_t *capacity, uint32_t most)
{
    if (sim_below(sim, 3) == 0 && *capacity < most)
        *capacity += *capacity / 2;
}

/* Another configuration: process options at will, capacities upwards. */
static void vary(struct sim *sim)
{
    struct sim_profile *profile = &sim->profile;

    profile->slots = one_of(sim, 64, 128, 256);
    profile->frame_bytes = one_of(sim, 8 << 10, 8 << 10, 16 << 10);
    profile->buffer_bytes = one_of(sim, 32 << 10, 64 << 10, 128 << 10);
    profile->frames_in_flight = 1 + (uint32_t)sim_below(sim, JOURNAL_FRAMES_MAX);
    profile->group_bytes = one_of(sim, 1, 1, 1024);
    profile->follower_commands = (int)one_of(sim, 8, 24, 64);
    profile->latency = one_of(sim, 2, 12, 24);
    if (profile->audits_every_command)
        profile->follower_commands = 1;
    profile->tail_segments = one_of(sim, 1, 2, 4);
    profile->history_replay_bytes = one_of(sim, 0, 0, 1 << 20);
    profile->open_orders = one_of(sim, 20, 100, 2000);
    profile->makers_max = one_of(sim, 2, 16, 4096);
    profile->work_per_command = one_of(sim, 1, 4, 64);
    profile->sessions = one_of(sim, 16, 32, 64);
    profile->clock_past_ms = one_of(sim, 5000, 30000, 30000);
    grow(sim, &profile->accounts, 256);
    grow(sim, &profile->portfolios, 256);
    grow(sim, &profile->orders, 8192);
    grow(sim, &profile->positions, 512);
    grow(sim, &profile->credentials, 2048);
    grow(sim, &profile->deposits, 2048);
    grow(sim, &profile->duplicate_slots, 1 << 16);
}

void sim_profile_init(struct sim *sim, uint64_t seed)
{
    sim->profile = (struct sim_profile){
        .accounts = 64,
        .portfolios = 64,
        .orders = 4096,
        .positions = 256,
        .credentials = 1024,
        .deposits = 1024,
        .duplicate_slots = 1 << 15,
    };
    sim->profile.block_bytes = one_of(sim, 512, 512, 4096);
    sim->profile.segment_bytes = one_of(sim, 32 << 10, 64 << 10, 64 << 10);
    sim->profile.real_signatures = seed % REAL_ODDS == 0;
    sim->profile.audits_every_command = seed % AUDIT_ODDS == 1;
    sim->profile.has_classes = seed % CLASS_ODDS == 2;
    vary(sim);
}

static void configure(struct sim *sim)
{
    static struct config config;
    const struct sim_profile *profile = &sim->profile;
    uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    char operator_key[BASE64_TEXT_BYTES(32) + 1], oracle_key[BASE64_TEXT_BYTES(32) + 1];
    char texts[OPTIONS][OPTION_BYTES];
    const char *argv[OPTIONS + 2] = { "sim" };
    int count = 0;

    base64_encode(operator_key, sim->traffic.operator.key, 32);
    base64_encode(oracle_key, sim->traffic.oracle.key, 32);
#define ADD(...) snprintf(texts[count++], OPTION_BYTES, __VA_ARGS__)
    ADD("--exchange.operator_key=%s", operator_key);
    ADD("--exchange.oracle_keys=%s", oracle_key);
    ADD("--engine.accounts=%u", profile->accounts);
    ADD("--engine.portfolios=%u", profile->portfolios);
    ADD("--engine.orders=%u", profile->orders);
    ADD("--engine.positions=%u", profile->positions);
    ADD("--engine.credentials=%u", profile->credentials);
    ADD("--engine.deposits=%u", profile->deposits);
    ADD("--engine.ladder_pages=256");
    ADD("--engine.work_per_command=%u", profile->work_per_command);
    ADD("--engine.makers_max=%u", profile->makers_max);
    ADD("--limits.duplicate_slots=%u", profile->duplicate_slots);
    ADD("--limits.open_orders=%u", profile->open_orders);
    ADD("--limits.sessions=%u", profile->sessions);
    ADD("--limits.funding_small=%u", profile->has_classes ? 10 : 0);
    ADD("--limits.funding_full=%u", profile->has_classes ? 1000 : 0);
    ADD("--exchange.clock_past_ms=%u", profile->clock_past_ms);
#undef ADD
    INVARIANT(count <= OPTIONS);
    for (int i = 0; i < count; i++)
        argv[i + 1] = texts[i];
    enum config_outcome outcome = config_load(&config, count + 1, argv, NULL);
    INVARIANT(outcome == CONFIG_RUN);
    ptrdiff_t bytes = config_engine_text(&config, sim->core.exchange.exchange_id, NULL, body);
    INVARIANT(bytes > 0);
    bool parsed = core_configure(&sim->core, body, (uint32_t)bytes);
    INVARIANT(parsed);
    config_free(&config);
}

/* ---- starts ---------------------------------------------------------------------------------- */

static enum refusal_kind open_core(struct sim *sim, struct refusal *refusal)
{
    const struct sim_profile *profile = &sim->profile;
    struct core_config config = {
        .disk = sim->disk,
        .clock = &sim->clock,
        .markets = sim->markets.markets,
        .market_count = 1,
        .durability = JOURNAL_LOCAL,
        .segment_bytes = profile->segment_bytes,
        .journal_buffer_bytes = profile->buffer_bytes,
        .frames_in_flight = profile->frames_in_flight,
        .group_bytes = profile->group_bytes,
        .frame_bytes_max = profile->frame_bytes,
        .history_rows = HISTORY_ROWS,
        .private_events = PRIVATE_EVENTS,
        .history_folder = sim->history_folder[0] != '\0' ? sim->history_folder : NULL,
        .history_replay_bytes = profile->history_replay_bytes,
        .remakes_history = true,
        .clock_gap_max_ns = UINT64_C(3600000000000),
        .snapshot_tail_bytes = (uint64_t)profile->tail_segments * profile->segment_bytes,
        .follower_lag_max_ns = LAG_MAX_NS,
        .follower_commands_a_turn = profile->follower_commands,
        .archive_copy = sim->scrub.second != NULL ? &sim->scrub.copy : NULL,
        .scrub_rate = UINT64_MAX,
    };
    if (sim_may(sim, SIM_EVENT_snapshots))
        config.snapshotter = sim_child_host(sim);
    enum refusal_kind kind = core_create(&sim->core, &config, refusal);
    if (kind != REFUSAL_none)
        return kind;
    sim_scrub_begin(sim);
    sim->traffic.key = mix_key_load(sim->core.exchange.hash_key);
    sim_sign_begin(profile->real_signatures, traffic_random(&sim->traffic),
                   sim->core.exchange.exchange_id);
    configure(sim);
    int no_memory = core_make_keyring(&sim->core);
    INVARIANT(no_memory == 0);
    sim_history_rot(sim);
    kind = core_recover(&sim->core, refusal);
    if (sim->core.history_file != NULL)
        sim->has_gap = sim->has_gap || history_file_from(sim->core.history_file) != 1;
    if (kind != REFUSAL_none)
        core_destroy(&sim->core);
    return kind;
}

/* W5: a start waits until the clock has reached the last journalled t. */
static void open_for_commands(struct sim *sim)
{
    enum core_opening opening = core_open(&sim->core);
    for (; opening == CORE_CLOCK_BEHIND; opening = core_open(&sim->core)) {
        clock_advance(&sim->clock, 1000000);
        clock_advance(&sim->net_clock, 1000000);
    }
    if (opening != CORE_OPENED)
        sim_fail(sim, "the start was refused: %d", opening);
    sim->opened_sequence = engine_sequence(sim->core.primary);
    sim->outcome->arms_found += sim->core.matcher.disconnect_restart.count;
    if (clock_now_ns(&sim->clock) < sim->core.recovered.last_t_ns)
        sim_fail(sim, "it opened before the last journalled time");
}

static void join(struct sim *sim)
{
    sim_link_reset(&sim->link, sim->profile.slots);
    sim_link_join(&sim->link, &sim->core);
    for (uint32_t i = 0; i < SIM_PORTS; i++) {
        sim_link_reset(&sim->ports[i].link, sim->profile.slots);
        sim_link_join(&sim->ports[i].link, &sim->core);
        sim_port_open(sim, &sim->ports[i]);
    }
    if (sim->watch != NULL) {
        sim_link_reset(sim_watch_link(sim->watch), sim->profile.slots);
        sim_link_join(sim_watch_link(sim->watch), &sim->core);
        sim_watch_open(sim, sim->watch);
    }
}

/* A byte of the newest snapshot, or of the two newest, is another one. */
static void rot(struct sim *sim, struct disk *disk)
{
    uint64_t sequences[SNAPSHOT_KEPT];
    char path[DISK_PATH_BYTES];
    uint8_t byte;
    int count = snapshot_list(disk, sequences, SNAPSHOT_KEPT);

    if (!sim_may(sim, SIM_EVENT_rot) || count < 1 || sim_below(sim, ROT_ODDS) != 0)
        return;
    if (sim_below(sim, 2) == 0)
        count = 1;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "snapshot/%lu.snap", sequences[i]);
        uint64_t at = sim_below(sim, disk_sim_file_bytes(disk, path));
        disk_sim_peek(disk, path, at, &byte, 1);
        byte ^= (uint8_t)(1 + sim_below(sim, 255));
        disk_sim_poke(disk, path, at, &byte, 1);
        sim_note(sim, "snapshot damaged", sequences[i], at);
        sim->outcome->snapshots_damaged++;
    }
}

/* The process is gone; of what it wrote stays what a kill or a power loss leaves. */
static void lose(struct sim *sim, struct disk *survivor, bool power_loss)
{
    if (power_loss)
        disk_sim_crash(survivor, traffic_random(&sim->traffic));
    else
        disk_sim_kill(survivor, traffic_random(&sim->traffic));
    rot(sim, survivor);
    sim_scrub_lose(sim, power_loss);
    disk_sim_destroy(sim->disk);
    sim->disk = survivor;
    disk_sim_set_full(survivor, false);
    sim->is_faulty = false;
    sim->is_calm = false;
    sim->is_dead = false;
    sim->full_until = sim->slow_until = 0;
}

void sim_start(struct sim *sim)
{
    struct refusal refusal = { 0 };

    if (sim_may(sim, SIM_EVENT_clock) && sim_below(sim, 4) == 0) { /* set back while it was down */
        clock_set(&sim->clock, clock_now_ns(&sim->net_clock) - sim_below(sim, 2 * SECOND_NS));
        sim->outcome->clock_back++;
    }
    for (int attempt = 0; attempt < START_TRIES && !sim->outcome->failed; attempt++) {
        bool dies = attempt + 1 < START_TRIES && sim_may(sim, SIM_EVENT_recrash) &&
                    sim_below(sim, RECRASH_ODDS) == 0;
        if (sim_may(sim, SIM_EVENT_configuration) && sim_below(sim, VARY_ODDS) == 0) {
            vary(sim);
            sim->outcome->configurations++;
        }
        disk_sim_set_latency(sim->disk, sim->profile.latency);
        disk_sim_stop_at(sim->disk, dies ? 1 + sim_below(sim, RECRASH_CALLS) : 0);
        sim->is_faulty = dies;
        refusal_clear(&refusal);
        enum refusal_kind kind = open_core(sim, &refusal);
        if (kind == REFUSAL_none) {
            sim->outcome->snapshot_starts += sim->core.engines.snapshot_sequence != 0;
            join(sim);
            sim_check_recovered(sim);
            open_for_commands(sim);
            return;
        }
        if (kind != REFUSAL_machine || !dies) {
            sim_fail(sim, "recovery: %s", refusal.text);
            return;
        }
        sim_note(sim, "dies in recovery", (uint64_t)attempt, 0);
        sim->outcome->crashes_in_recovery++;
        struct disk *survivor = disk_sim_copy(sim->disk);
        INVARIANT(survivor != NULL);
        lose(sim, survivor, sim_below(sim, 4) != 0);
    }
    sim_fail(sim, "it does not start");
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* What the exchange did by itself in this run of it. */
static void count_exchange(struct sim_outcome *outcome, const struct exchange_counters *counters)
{
    outcome->triggers += published_get(&counters->triggers);
    outcome->freezes += published_get(&counters->freezes);
    outcome->settled += published_get(&counters->withdrawals_settled);
    outcome->reverted += published_get(&counters->withdrawals_reverted);
    outcome->held += published_get(&counters->holds);
    outcome->liquidated += published_get(&counters->liquidated);
    outcome->liquidated_book += published_get(&counters->liquidations[0]);
    outcome->liquidated_fund += published_get(&counters->liquidations[1]);
    outcome->liquidated_adl += published_get(&counters->liquidations[2]);
    outcome->funding_payments += published_get(&counters->funding_payments);
    outcome->settlements += published_get(&counters->settlements);
}

static void close_core(struct sim *sim)
{
    const struct snapshotter_counters *counters = &sim->core.snapshotter.counters;

    /* relaxed: one thread */
    sim->outcome->archived += published_get(&counters->archived);
    sim->outcome->retired += published_get(&counters->retired);
    count_exchange(sim->outcome, &sim->core.follower.exchange_counters);
    sim->outcome->arms_ended += sim->core.matcher.disconnect_restart.next;
    core_destroy(&sim->core);
}

static void close_ports(struct sim *sim)
{
    for (uint32_t i = 0; i < SIM_PORTS; i++)
        sim_port_close(&sim->ports[i]);
    if (sim->watch != NULL)
        sim_watch_close(sim->watch);
}

void sim_die(struct sim *sim, bool power_loss)
{
    uint32_t in_flight = journal_counters(sim->core.journal).in_flight;
    struct disk *survivor = disk_sim_copy(sim->disk);
    INVARIANT(survivor != NULL);

    sim_note(sim, power_loss ? "power loss" : "kill", journal_durable_seq(sim->core.journal),
             in_flight);
    sim->outcome->crashes += power_loss;
    sim->outcome->kills += !power_loss;
    sim->outcome->crashes_in_flight += in_flight >= 2;
    if (sim->is_dead) /* nothing may be acknowledged behind the error */
        for (uint32_t i = 0; i < LAST_TURNS; i++) {
            sim_take(sim);
            sim_port_step(sim, &sim->ports[i % SIM_PORTS]);
        }
    close_ports(sim);
    disk_sim_fail(sim->disk, 0, DISK_SIM_EIO, false); /* the journal waits for its writes to end */
    disk_sim_stop_at(sim->disk, 0);
    close_core(sim);
    lose(sim, survivor, power_loss);
    uint64_t down_ns = sim_below(sim, 2 * SECOND_NS);
    clock_advance(&sim->clock, down_ns);
    clock_advance(&sim->net_clock, down_ns);
    sim_start(sim);
}

/* A clean stop leaves a snapshot of its last sequence. */
static void stop_with_snapshot(struct sim *sim)
{
    struct refusal refusal = { 0 };
    if (sim_may(sim, SIM_EVENT_snapshots) &&
        core_write_snapshot(&sim->core, &refusal) != REFUSAL_none)
        sim_fail(sim, "the snapshot of a clean stop is refused: %s", refusal.text);
}

void sim_restart_clean(struct sim *sim)
{
    uint8_t before[32], after[32];

    sim_note(sim, "clean stop", engine_sequence(sim->core.primary), 0);
    sim_end_faults(sim);
    sim->is_calm = true;
    sim_quiesce(sim);
    if (sim->outcome->failed)
        return;
    sim_check_images(sim);
    sim_image_hash(sim->core.primary, before);
    core_stop(&sim->core);
    for (int turn = 0; !core_stopped(&sim->core) && !sim->outcome->failed; turn++) {
        sim_step_journal(sim);
        sim_step_follow(sim);
        sim_step_background(sim);
        clock_advance(&sim->net_clock, 100000); /* a segment that was refused is begun again */
        if (turn == SIM_QUIESCE_TURNS)
            sim_fail(sim, "the clean stop does not end");
    }
    if (sim->outcome->failed)
        return;
    if (core_end_history(&sim->core) < 0)
        sim_fail(sim, "the history of a clean stop was not written");
    stop_with_snapshot(sim);
    sim_check_folds(sim, before);
    close_ports(sim);
    close_core(sim);
    struct disk *survivor = disk_sim_copy(sim->disk);
    INVARIANT(survivor != NULL);
    lose(sim, survivor, true); /* the lock goes with the process; the power may too */
    uint64_t crashes = sim->outcome->crashes_in_recovery;
    sim_start(sim);
    if (sim->outcome->failed)
        return;
    /* A start that came so far that it has written is a boot of its own. */
    bool from_its_end =
        sim->core.engines.snapshot_sequence != 0 && sim->core.recovered.records == 0;
    if (!sim->core.recovered.clean_stop && !from_its_end &&
        crashes == sim->outcome->crashes_in_recovery)
        sim_fail(sim, "a clean stop was not recognised");
    /* The replica has not seen this start's commands yet: it is what recovery made. */
    sim_image_hash(sim->core.replica, after);
    if (memcmp(before, after, sizeof before) != 0)
        sim_fail(sim, "the image after a clean stop differs");
    sim->outcome->restarts_clean++;
}

/* ---- faults ---------------------------------------------------------------------------------- */

void sim_fault_disk(struct sim *sim)
{
    enum disk_sim_fault fault = sim_below(sim, 3) == 0 ? DISK_SIM_SHORT : DISK_SIM_EIO;
    uint64_t call = 1 + sim_below(sim, FAULT_CALLS);

    if (sim->is_faulty)
        return;
    sim_note(sim, "disk fails", call, fault);
    disk_sim_fail(sim->disk, call, fault, sim_below(sim, 2) == 0);
    sim->is_faulty = true;
    sim->outcome->disk_errors++;
}

bool sim_stop_soon(struct sim *sim, uint64_t odds, uint64_t calls)
{
    if (!sim_may(sim, SIM_EVENT_recrash) || sim->is_faulty || sim->is_calm ||
        sim_below(sim, odds) != 0)
        return false;
    disk_sim_stop_at(sim->disk, 1 + sim_below(sim, calls));
    sim->is_faulty = true;
    return true;
}

bool sim_stopped(struct sim *sim, bool was_armed)
{
    if (!was_armed)
        return false;
    if (disk_sim_is_stopped(sim->disk)) {
        sim->is_dead = true;
        return true;
    }
    disk_sim_stop_at(sim->disk, 0);
    sim->is_faulty = false;
    return false;
}

void sim_fill_disk(struct sim *sim)
{
    if (sim->is_faulty || sim->full_until != 0)
        return;
    sim->full_until = sim->outcome->steps + 100 + sim_below(sim, 400);
    sim_note(sim, "disk full until", sim->full_until, 0);
    disk_sim_set_full(sim->disk, true);
    sim->outcome->disk_full++;
}

void sim_slow_disk(struct sim *sim)
{
    if (sim->slow_until != 0)
        return;
    sim->slow_until = sim->outcome->steps + 50 + sim_below(sim, 200);
    sim_note(sim, "disk slow until", sim->slow_until, 0);
    disk_sim_set_latency(sim->disk, 200);
    sim->outcome->disk_slow++;
}

void sim_end_faults(struct sim *sim)
{
    disk_sim_fail(sim->disk, 0, DISK_SIM_EIO, false);
    disk_sim_stop_at(sim->disk, 0);
    disk_sim_set_full(sim->disk, false);
    disk_sim_set_latency(sim->disk, sim->profile.latency);
    sim->is_faulty = false;
    sim->full_until = sim->slow_until = 0;
}

void sim_step_clock(struct sim *sim)
{
    uint64_t step_ns = sim_below(sim, 3000000);
    if (sim_below(sim, 64) == 0)
        step_ns = sim_below(sim, UINT64_C(1500000000));
    else if (sim_below(sim, 4) == 0)
        step_ns = sim_below(sim, UINT64_C(200000000));
    clock_advance(&sim->clock, step_ns);
    clock_advance(&sim->net_clock, step_ns);
}

void sim_jump_clock(struct sim *sim)
{
    uint64_t net_ns = clock_now_ns(&sim->net_clock);

    switch (sim_below(sim, 4)) {
    case 0: /* set back: the engine's time must not follow (W5) */
    case 1:
        sim->outcome->clock_back++;
        clock_set(&sim->clock, net_ns - sim_below(sim, 3 * SECOND_NS));
        break;
    case 2: /* set right again */
        clock_set(&sim->clock, net_ns);
        break;
    default: /* the whole machine stood still */
        sim->outcome->clock_forward++;
        net_ns += sim_below(sim, sim_below(sim, 4) == 0 ? 45 * SECOND_NS : 3 * SECOND_NS);
        clock_set(&sim->net_clock, net_ns);
        clock_set(&sim->clock, net_ns);
        break;
    }
    sim_note(sim, "clock jumps", clock_now_ns(&sim->clock), net_ns);
}
