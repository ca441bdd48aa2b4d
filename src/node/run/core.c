#include "node/run/core.h"

#include <errno.h>

#include "base/log.h"
#include "engine/view/capacity.h"
#include "node/recover/fold.h"
#include "node/run/rotation.h"
#include "node/run/writer.h"
#include "store/era.h"
#include "store/history_folder.h"

enum {
    BOOT_BODY_BYTES = 24,
    RESTORED_BODY_BYTES = 128,
    KEYRING_RETIRED_A_TURN = 64,
    KEYRING_ADDED_A_TURN = 2 * MATCHER_COMMANDS_A_TURN, /* a new account: master key and session */
};

#define TAKEOVER_STAGED_NS UINT64_C(10000000000) /* a gap above it is a staged restart */

enum refusal_kind core_create(struct core *core, const struct core_config *config,
                              struct refusal *refusal)
{
    memset(core, 0, sizeof *core);
    core->config = *config;
    return exchange_file_open(config->disk, config->exchange_id, &core->exchange, &core->is_new,
                              refusal);
}

bool core_configure(struct core *core, const uint8_t *body, uint32_t body_bytes)
{
    INVARIANT(body_bytes <= sizeof core->configuration);
    if (!option_parse_engine(&core->options, body, body_bytes))
        return false;
    memcpy(core->configuration, body, body_bytes);
    core->configuration_bytes = body_bytes;
    return true;
}

int core_make_keyring(struct core *core)
{
    uint32_t credentials = (uint32_t)core->options.values[OPTION_engine_credentials];
    core->keyring_places = 2 * credentials + KEYRING_ADDED_A_TURN; /* until durable: tombstones */
    return keyring_init(&core->keyring, core->keyring_places, core->exchange.hash_key);
}

static bool makes_heads(const struct core *core)
{
    return core->config.signing != NULL && core->config.durability != JOURNAL_NONE;
}

static enum refusal_kind open_heads(struct core *core, struct refusal *refusal)
{
    if (!makes_heads(core))
        return REFUSAL_none;
    int failed = head_keeper_open(&core->heads, core->config.disk, &core->exchange,
                                  &core->config.signing->signer);
    return failed != 0 ? refusal_machine(refusal, "reading heads", failed) : REFUSAL_none;
}

static int make_snapshotter(struct core *core)
{
    const struct core_config *config = &core->config;
    struct history_keep *keep = &core->follower.sink.history->keep;
    struct snapshotter_config snapshotter = {
        .disk = config->disk,
        .exchange = &core->exchange,
        .clock = config->clock,
        .journal = core->journal,
        .pool = core->pool,
        .applied = &core->follower.applied,
        .host = config->snapshotter,
        .fold = &core->follower.fold,
        .archive_copy = config->archive_copy,
        .is_late = &core->follower.bound.halvings,
        .is_common = config->durability >= JOURNAL_REPLICATED,
        .is_kept = history_keep_has,
        .history = keep,
        .history_synced = &keep->synced,
        .segment_bytes = config->segment_bytes,
        .tail_bytes = config->snapshot_tail_bytes,
        .archive_keep_ns = config->archive_keep_ns,
        .segment = core->recovered.position.segment,
    };
    slice_fold_init(&core->follower.fold, config->disk, &core->exchange, &core->frames, keep);
    int failed = config->scrub_rate == 0 ? 0
                                         : scrub_init(&core->scrub, config->disk, &core->exchange,
                                                      config->archive_copy, config->scrub_rate);
    return failed != 0 ? failed : snapshotter_init(&core->snapshotter, &snapshotter);
}

/* A start that would be too long slows admission until a snapshot is made. */
static void bound_start(struct core *core)
{
    struct restart_bound *bound = &core->follower.bound;

    if (core->config.restart_target_ns == 0 || core->config.snapshotter.begin == NULL)
        return;
    bound->snapshot = &core->snapshotter.counters.sequence;
    bound->rates = core->config.account_rates;
    bound->target_ns = core->config.restart_target_ns;
    restart_bound_begin(bound, core->engines.snapshot_sequence, engine_sequence(core->replica),
                        core->engines.replay_ns);
}

static enum refusal_kind recover_both(struct core *core, struct refusal *refusal)
{
    const struct core_config *config = &core->config;
    struct recover_config from = {
        .disk = config->disk,
        .exchange = &core->exchange,
        .clock = config->clock,
        .sink = &core->follower.sink,
        .private_log = &core->private_log,
        .history_file = core->history_file,
        .capacities = core->options,
        .segment_bytes = config->segment_bytes,
        .history_rows = config->history_rows,
        .private_events = config->private_events,
        .history_replay_bytes = config->history_replay_bytes,
        .remakes_history = config->remakes_history,
        .is_on_two_threads = config->recovers_on_two_threads,
        .give_up = config->give_up,
        .agree = config->agree,
        .agree_context = config->agree_context,
    };
    enum refusal_kind kind = recover_state(&core->engines, &from, refusal);

    core->recovered = core->engines.chain;
    core->primary = core->engines.primary;
    core->replica = core->engines.replica;
    return kind;
}

/* Opens the history's file. A damaged one is set aside. A start goes on without one: full disk. */
static void open_history(struct core *core)
{
    const char *folder = core->config.history_folder;

    if (folder == NULL)
        return;
    int failed = history_file_open(&core->history_file, folder, core->exchange.exchange_id);
    if (failed == -EBADMSG) {
        log_line(LOG_ERROR, "history", "history/data.mdb is damaged: it is now data.mdb.damaged");
        core->history_was_damaged = true;
        failed = history_folder_set_aside(folder);
        if (failed == 0)
            failed = history_file_open(&core->history_file, folder, core->exchange.exchange_id);
    }
    if (failed != 0)
        log_line(LOG_ERROR, "history", "history/ is not opened: %s: rows stay in memory",
                 strerror(-failed));
}

enum refusal_kind core_recover(struct core *core, struct refusal *refusal)
{
    open_history(core);
    enum refusal_kind kind = recover_both(core, refusal);
    if (kind == REFUSAL_none)
        kind = rotation_check(core, refusal);
    if (kind == REFUSAL_none)
        kind = open_heads(core, refusal);
    if (kind != REFUSAL_none)
        return kind;
    int failed = frame_board_init(&core->frames);
    if (failed == 0)
        failed = writer_make(core);
    if (failed != 0)
        return refusal_machine(refusal, "the journal's writer", failed);
    struct follow *follow = follow_create(core->journal);
    if (follow == NULL)
        return refusal_machine(refusal, "the follower", -ENOMEM);

    engine_set_grant(core->primary, core->config.id_grant);
    primary_sink_init(&core->primary_sink, core->keyring, core->config.key_keeper,
                      core->config.account_rates);
    failed = follower_init(&core->follower, core->replica, follow, core->journal,
                           core->config.clock, mix_key_load(core->exchange.hash_key),
                           core->config.follower_lag_max_ns, core->config.follower_commands_a_turn);
    if (failed != 0)
        return refusal_machine(refusal, "the follower", failed);
    head_maker_init(&core->follower.heads, core->config.clock, core->journal,
                    makes_heads(core) ? &core->frames : NULL);
    core->follower.head_log = makes_heads(core) ? &core->heads.log : NULL;
    failed = query_frames_init(&core->follower.frames, core->journal,
                               makes_heads(core) ? &core->config.signing->signer : NULL);
    if (failed == 0)
        failed = event_log_init(&core->events);
    if (failed == 0)
        failed = book_log_init(&core->orders);
    if (failed == 0)
        failed = book_board_init(&core->books);
    if (failed != 0)
        return refusal_machine(refusal, "what reads and streams show", failed);
    history_sink_show(&core->follower.sink, &core->events, &core->orders, core->replica);
    core->follower.books.board = &core->books;
    failed = make_snapshotter(core);
    if (failed != 0)
        return refusal_machine(refusal, "looking at what is stored", failed);
    bound_start(core);
    matcher_init(&core->matcher, core->primary, core->journal, core->config.clock,
                 &core->primary_sink.sink);
    core->follower.tick_wanted = &core->matcher.tick_wanted;
    alarm_watch(&core->matcher.alarm, &core->follower.alarm, core->pool);
    failed = disconnect_restart_load(&core->matcher.disconnect_restart, core->primary);
    if (failed != 0)
        return refusal_machine(refusal, "the arms of the run before", failed);
    return REFUSAL_none;
}

void core_link(struct core *core, const struct follower_link *link, struct ring *commands,
               struct ring *answers)
{
    follower_link_add(&core->follower, link);
    matcher_link(&core->matcher, commands, answers);
}

static void author(struct core *core, uint16_t code, const void *body, uint32_t body_bytes,
                   struct engine_result *result)
{
    struct sequencer *sequencer = &core->matcher.sequencer;
    bool has_room = sequencer_author_hash(sequencer) &&
                    sequencer_author(sequencer, code, body, body_bytes, result);
    INVARIANT(has_room); /* the journal's buffer is empty at a start and holds far more */
}

static bool configuration_differs(const struct core *core)
{
    size_t bytes = 0;
    const uint8_t *last = engine_configuration(core->primary, &bytes);
    return bytes != core->configuration_bytes || memcmp(last, core->configuration, bytes) != 0;
}

static enum core_opening define_markets(struct core *core)
{
    struct engine_result result;
    uint8_t body[REQUEST_BODY_MAX];
    for (uint32_t i = 0; i < core->config.market_count; i++) {
        const struct core_market *market = &core->config.markets[i];
        uint32_t padded = (market->text_bytes + 7) & ~7u;
        if (padded > sizeof body)
            return CORE_MARKET_REFUSED;
        memset(body, 0, sizeof body);
        memcpy(body, market->text, market->text_bytes);
        author(core, REQUEST_market_define, body, padded, &result);
        if (result.status != STATUS_request_completed)
            return CORE_MARKET_REFUSED;
    }
    return CORE_OPENED;
}

/* Closes the markets of a staged restart, after their former states are on disk. */
static enum core_opening begin_stages(struct core *core, uint64_t last_ns)
{
    struct staged_restart *restart = &core->matcher.staged_restart;
    uint64_t now_ns = clock_now_ns(core->config.clock);

    if (staged_restart_load(restart, core->primary, core->config.disk, core->exchange.exchange_id,
                            last_ns, now_ns) != 0)
        return CORE_DISK_FAILED;
    if (staged_restart_store(restart, core->config.disk, core->exchange.exchange_id) != 0)
        return CORE_DISK_FAILED;
    uint16_t asset_id = staged_restart_next_open(restart, core->primary, 0);
    for (; asset_id != 0; asset_id = staged_restart_next_open(restart, core->primary, asset_id)) {
        struct sequencer *sequencer = &core->matcher.sequencer;
        bool has_room = sequencer_author_hash(sequencer) &&
                        sequencer_author_market_state(sequencer, asset_id, MARKET_CANCEL_ONLY);
        INVARIANT(has_room); /* as author */
    }
    return CORE_OPENED;
}

static enum stopped_clock_verdict judge_clock(struct core *core)
{
    return stopped_clock_judge(&core->matcher.stopped_clock, core->config.clock,
                               core->config.clock_gap_max_ns, engine_time(core->primary),
                               core->recovered.witness.wall_ns);
}

static void author_boot(struct core *core, uint64_t boot)
{
    uint8_t body[BOOT_BODY_BYTES] = { 0 };

    cc_store64(body, boot);
    cc_store32(body + 8, ENGINE_RULES_VERSION);
    cc_store64(body + 16, (uint64_t)stopped_clock_gap_ns(&core->matcher.stopped_clock));
    bool has_room = sequencer_author_boot(&core->matcher.sequencer, body, sizeof body);
    INVARIANT(has_room); /* as author */
}

/* A gap that the run before left open, and this start does not have. */
static void author_clock(struct core *core)
{
    if (core->matcher.stopped_clock.is_open || engine_clock_gap_ns(core->primary) == 0)
        return;
    bool has_room =
        stopped_clock_author(&core->matcher.sequencer, engine_clock_gap_ns(core->primary));
    INVARIANT(has_room); /* as author */
}

/* The journal took up another one, and no command of it says so yet: all markets are halted. */
static void author_restored(struct core *core)
{
    uint8_t body[RESTORED_BODY_BYTES] = { 0 };
    struct engine_result result;
    struct era_row row;

    if (core->exchange.era_count == 0 || core->engines.is_origin_told)
        return;
    int failed = era_read(core->config.disk, &core->exchange, &row);
    INVARIANT(failed == 0 && core->exchange.era_count != 0); /* this start has read it */
    memcpy(body, row.former_id, sizeof row.former_id);
    cc_store64(body + 16, row.sequence);
    cc_store64(body + 24, row.frame);
    memcpy(body + 32, row.frame_hash, sizeof row.frame_hash);
    memcpy(body + 64, row.reason, sizeof row.reason);
    author(core, REQUEST_restored, body, sizeof body, &result);
    core->engines.is_origin_told = true;
    log_line(LOG_WARN, "restored", "goes on after sequence %lu: all markets are halted",
             row.sequence);
}

enum core_opening core_open(struct core *core)
{
    struct engine_result result;
    bool is_first = engine_sequence(core->primary) == 0;
    uint64_t last_ns = engine_time(core->primary);

    if (!is_first && judge_clock(core) == STOPPED_CLOCK_WAITS)
        return CORE_CLOCK_BEHIND;
    if (!capacity_suffices(core->primary, &core->options, &core->short_option))
        return CORE_CAPACITY_TOO_SMALL;
    primary_sink_load(&core->primary_sink, core->primary);
    author_boot(core, core->recovered.boot);
    author_restored(core);
    rotation_author(core);
    if (is_first || configuration_differs(core))
        author(core, REQUEST_configuration, core->configuration, core->configuration_bytes,
               &result);
    author_clock(core);
    enum core_opening opening = CORE_OPENED;
    if (core->config.is_staged)
        opening = begin_stages(core, last_ns);
    if (is_first && opening == CORE_OPENED) /* its markets are new: nothing was interrupted */
        opening = define_markets(core);
    if (opening == CORE_OPENED && !core->matcher.stopped_clock.is_open)
        disconnect_restart_open(&core->matcher.disconnect_restart,
                                clock_now_ns(core->config.clock));
    return opening;
}

/* ---- in a cluster ---------------------------------------------------------------------------- */

enum core_opening core_stand_by(struct core *core)
{
    if (!capacity_suffices(core->primary, &core->options, &core->short_option))
        return CORE_CAPACITY_TOO_SMALL;
    primary_sink_load(&core->primary_sink, core->primary);
    int failed = following_begin(&core->following, core->primary, &core->primary_sink.sink,
                                 core->journal, mix_key_load(core->exchange.hash_key),
                                 &core->engines.layout, core->engines.rules_version);
    return failed == 0 ? CORE_OPENED : CORE_NO_MEMORY;
}

int core_follow_log(struct core *core)
{
    uint32_t retired =
        keyring_retire(core->keyring, journal_durable_seq(core->journal), KEYRING_RETIRED_A_TURN);
    int work = following_step(&core->following);

    return work < 0 ? work : work + (int)(retired + matcher_drop(&core->matcher));
}

bool core_is_current(const struct core *core)
{
    uint64_t shown = journal_durable_seq(core->journal);

    return engine_sequence(core->primary) == shown &&
           atomic_load_explicit(&core->follower.applied, memory_order_acquire) == shown;
}

enum core_opening core_lead(struct core *core, uint64_t term,
                            const uint8_t lead[CORE_LEAD_BODY_BYTES])
{
    struct disconnect_restart *arms = &core->matcher.disconnect_restart;
    uint64_t last_ns = engine_time(core->primary);
    uint64_t now_ns = clock_now_ns(core->config.clock);
    struct engine_result result;

    INVARIANT(core_is_current(core));
    if (!rotation_is_lawful(core))
        return CORE_KEY_DIFFERS;
    if (judge_clock(core) == STOPPED_CLOCK_WAITS)
        return CORE_CLOCK_BEHIND;
    following_end(&core->following);
    disconnect_restart_free(arms);
    if (disconnect_restart_load(arms, core->primary) != 0)
        return CORE_NO_MEMORY;
    core->matcher.sequencer.last_t_ns = last_ns;
    if (engine_sequence(core->primary) != exchange_file_first_sequence(&core->exchange) - 1)
        core->engines.is_origin_told = true; /* by another leader */
    head_maker_rest(&core->follower.heads, false);
    author_boot(core, term);
    author(core, REQUEST_lead, lead, CORE_LEAD_BODY_BYTES, &result);
    author_restored(core);
    rotation_author(core);
    author_clock(core);
    enum core_opening opening = CORE_OPENED;
    if (core->config.is_staged && now_ns - last_ns > TAKEOVER_STAGED_NS)
        opening = begin_stages(core, last_ns);
    if (opening == CORE_OPENED && !core->matcher.stopped_clock.is_open)
        disconnect_restart_open(arms, now_ns);
    return opening;
}

uint32_t core_match(struct core *core)
{
    uint32_t work =
        keyring_retire(core->keyring, journal_durable_seq(core->journal), KEYRING_RETIRED_A_TURN);

    /* While the disk is stuck, tombstones stay: commands wait before the slots run out. */
    if (keyring_count(core->keyring) + KEYRING_ADDED_A_TURN <= core->keyring_places)
        work += matcher_step(&core->matcher);
    return work;
}

int core_journal(struct core *core)
{
    return journal_step(core->journal);
}

int core_follow(struct core *core)
{
    return follower_step(&core->follower);
}

int core_prepare(struct core *core, uint64_t now_ns)
{
    return segment_pool_step(core->pool, now_ns);
}

uint32_t core_snapshot(struct core *core, uint64_t now_ns)
{
    return snapshotter_step(&core->snapshotter, now_ns);
}

int core_keep_history(struct core *core, uint64_t now_ns)
{
    return history_keep_step(&core->follower.sink.history->keep, now_ns);
}

int core_end_history(struct core *core)
{
    return follower_end_history(&core->follower);
}

uint64_t core_scrub(struct core *core, uint64_t now_ns)
{
    if (core->config.scrub_rate == 0)
        return 0;
    core->scrub.open_segment = journal_written_segment(core->journal);
    uint64_t work = scrub_step(&core->scrub, now_ns);
    if (core->scrub.finding[0] != '\0')
        log_line(LOG_ERROR, "scrub", "%s", core->scrub.finding);
    return work;
}

int core_keep_heads(struct core *core, uint64_t now_ns)
{
    return makes_heads(core) ? head_keeper_step(&core->heads, &core->follower.heads, now_ns) : 0;
}

/* The head of the closing frame, and those that wait. */
static int end_heads(struct core *core, const struct frame_tail *tail)
{
    struct head_draft draft;
    struct frame_location frame = { .number = tail->number,
                                    .first_sequence = tail->last_sequence + 1,
                                    .last_sequence = tail->last_sequence,
                                    .boot = tail->boot };

    if (!makes_heads(core) || head_maker_rests(&core->follower.heads))
        return 0;
    memcpy(frame.hash, tail->hash, sizeof frame.hash);
    int failed = core_keep_heads(core, clock_monotonic_ns(core->config.clock));
    if (failed < 0)
        return failed;
    head_maker_draft_fill(&draft, &frame, clock_now_ns(core->config.clock), core->replica);
    failed = head_keeper_add(&core->heads, &draft);
    return failed == 0 ? head_keeper_sync(&core->heads) : failed;
}

void core_stop(struct core *core)
{
    slice_fold_end(&core->follower.fold);
    journal_stop(core->journal);
}

bool core_stopped(const struct core *core)
{
    return journal_stopped(core->journal) &&
           atomic_load_explicit(&core->follower.applied, memory_order_acquire) ==
               journal_durable_seq(core->journal);
}

enum refusal_kind core_write_snapshot(struct core *core, struct refusal *refusal)
{
    struct frame_tail tail = journal_tail(core->journal);
    struct snapshot_head head;
    uint8_t primary[HASH_BYTES], replica[HASH_BYTES];

    INVARIANT(core_stopped(core));
    snapshotter_end(&core->snapshotter);
    int failed = end_heads(core, &tail);
    if (failed != 0)
        log_line(LOG_ERROR, "heads", "the head of the stop was not kept: %s", strerror(-failed));
    fold_image_hash(core->primary, primary);
    fold_image_hash(core->replica, replica);
    if (memcmp(primary, replica, sizeof primary) != 0) {
        atomic_store_explicit(&core->follower.diverged, true, memory_order_relaxed);
        return refusal_set(refusal, REFUSAL_record_refused,
                           "the follower's image differs from the primary's at sequence %lu",
                           engine_sequence(core->replica));
    }
    recover_unmap_primary(&core->engines); /* room for the engine that proves the snapshot */
    enum refusal_kind kind = fold_write_snapshot(core->replica, core->config.disk, &core->exchange,
                                                 &tail, &head, refusal);
    if (kind == REFUSAL_none)
        snapshotter_count(&core->snapshotter);
    return kind;
}

void core_destroy(struct core *core)
{
    following_end(&core->following);
    if (core->follower.follow != NULL)
        follow_destroy(core->follower.follow);
    if (core->journal != NULL)
        journal_destroy(core->journal);
    if (core->pool != NULL)
        segment_pool_destroy(core->pool);
    if (core->keyring != NULL)
        keyring_free(core->keyring);
    frame_board_free(&core->frames);
    head_keeper_close(&core->heads);
    if (core->config.scrub_rate != 0 && core->scrub.disk != NULL)
        scrub_free(&core->scrub);
    disconnect_restart_free(&core->matcher.disconnect_restart);
    follower_free(&core->follower);
    event_log_free(&core->events);
    book_log_free(&core->orders);
    private_log_free(&core->private_log);
    book_board_free(&core->books);
    history_file_close(core->history_file);
    recover_unmap(&core->engines);
    snapshotter_end(&core->snapshotter);
    snapshotter_free(&core->snapshotter);
    memset(core, 0, sizeof *core);
}
