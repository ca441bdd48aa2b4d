#include "node/recover/recover.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>

#include "base/log.h"
#include "base/region.h"
#include "engine/image/image.h"
#include "engine/image/image_load.h"
#include "node/recover/fold.h"
#include "node/recover/replay.h"
#include "node/recover/replica_replay.h"
#include "store/archive.h"
#include "store/segment.h"

enum { LISTED_MAX = 64, PRIMARY = 0, REPLICA = 1 };

/* One recovery under way. */
struct recovering {
    struct recover_engines *engines;
    struct refusal *refusal;
    uint64_t sequences[LISTED_MAX]; /* of the snapshot files, newest first */
    int count;
    struct frame_mark marks[LISTED_MAX]; /* of those with a whole head */
    uint32_t mark_count;
    uint64_t frame;              /* newest that a snapshot covers */
    bool from_genesis;           /* whatever snapshots there are */
    bool is_whole;               /* archive/ and journal/ hold every record since the first */
    bool remakes_history;        /* from_genesis because the history lacks rows */
    int begin_count;             /* no record of an earlier rules_version follows the first ones */
    struct snapshot_head newest; /* that is whole to its head; sequence 0: none */
    struct snapshot_head seen;   /* with from_genesis: compared in passing; sequence 0: none */
    struct hash_point mark;      /* of the history's file; sequence 0: none */
    uint64_t relisted;           /* segments, if archive/index was made again; else 0 */
    struct recovery_result former;        /* of a run that is done again, or 0 */
    struct replica_replay replica_replay; /* applies to the replica */
};

/* ---- memory ---------------------------------------------------------------------------------- */

static void unmap(struct recover_engines *engines, size_t at)
{
    if (engines->memory[at] != NULL)
        region_unmap(engines->memory[at], engines->memory_bytes);
    engines->memory[at] = NULL;
}

void recover_unmap(struct recover_engines *engines)
{
    unmap(engines, PRIMARY);
    unmap(engines, REPLICA);
}

void recover_unmap_primary(struct recover_engines *engines)
{
    unmap(engines, PRIMARY);
}

static int lay_out(struct recover_engines *engines)
{
    struct mix_key key = mix_key_load(engines->config.exchange->hash_key);
    struct engine **both[] = { &engines->primary, &engines->replica };

    recover_unmap(engines);
    engines->memory_bytes = (engine_bytes(&engines->layout) + 4095) & ~(size_t)4095;
    for (size_t i = 0; i < CC_COUNT(engines->memory); i++) {
        void *memory = region_map(REGION_engines, engines->memory_bytes);
        if (memory == NULL)
            return -ENOMEM;
        engines->memory[i] = memory;
        *both[i] = engine_init(memory, engines->memory_bytes, key, &engines->layout);
    }
    uint32_t account_count = (uint32_t)engines->layout.values[OPTION_engine_accounts] + 1;
    struct private_log *log = engines->config.private_log;
    int failed = log == NULL ? 0 : private_log_init(log, account_count);
    history_destroy(engines->config.sink->history);
    struct history *history = history_create(engines->config.history_rows, account_count, key);
    history_sink_init(engines->config.sink, history, log);
    if (failed != 0)
        return failed;
    failed = history == NULL ? -ENOMEM : history_attach(history, engines->config.history_file);
    if (failed == 0)
        history_keep_private(history, engines->config.private_events);
    return failed;
}

static enum refusal_kind refuse_layout(const struct recover_engines *engines,
                                       struct refusal *refusal, int error)
{
    if (error != -ENOMEM)
        return refusal_machine(refusal, "memory for the engine", error);
    refusal->error = error;
    return refusal_set(
        refusal, REFUSAL_memory,
        "%zu bytes, twice, beside the newest history; less with smaller "
        "engine.orders, engine.positions, engine.portfolios, engine.ladder_pages and "
        "limits.duplicate_slots, or raise ulimit -v",
        engines->memory_bytes);
}

/* ---- from a snapshot ------------------------------------------------------------------------- */

struct load {
    struct engine *engine;
    const struct image_part *parts;
    uint32_t count;
    struct image_problem problem;
    bool loaded;
};

static void *load_one(void *context)
{
    struct load *load = context;
    load->loaded = image_load(load->engine, load->parts, load->count, &load->problem);
    return NULL;
}

static enum refusal_kind image_refused(struct refusal *refusal, uint64_t sequence,
                                       const struct image_problem *problem)
{
    return refusal_set(refusal, REFUSAL_snapshot_damaged,
                       "snapshot %" PRIu64 ": section %" PRIu32 ", row %" PRIu64 ": %s", sequence,
                       problem->section, problem->row, problem->text);
}

/* Both engines at once, on two threads if there are two. */
static enum refusal_kind load_both(struct recover_engines *engines, const struct snapshot *snapshot,
                                   const struct image_part *parts, struct refusal *refusal)
{
    uint32_t count = snapshot->head.section_count;
    struct load loads[] = { { .engine = engines->primary, .parts = parts, .count = count },
                            { .engine = engines->replica, .parts = parts, .count = count } };
    pthread_t other;
    bool is_other = pthread_create(&other, NULL, load_one, &loads[REPLICA]) == 0;

    load_one(&loads[PRIMARY]);
    if (is_other)
        pthread_join(other, NULL);
    else
        load_one(&loads[REPLICA]);
    for (size_t i = 0; i < CC_COUNT(loads); i++)
        if (!loads[i].loaded)
            return image_refused(refusal, snapshot->head.sequence, &loads[i].problem);
    return REFUSAL_none;
}

static enum refusal_kind load_snapshot(struct recover_engines *engines,
                                       const struct snapshot *snapshot, struct refusal *refusal)
{
    struct image_part parts[SNAPSHOT_SECTIONS_MAX];
    struct image_problem problem = { .text = "" };
    const struct snapshot_head *head = &snapshot->head;
    struct option_engine needs;

    if (head->rules_version > ENGINE_RULES_VERSION)
        return refusal_set(refusal, REFUSAL_record_refused,
                           "snapshot %" PRIu64 " has rules_version %" PRIu32
                           "; a binary of that version must recover it (this one has %d)",
                           head->sequence, head->rules_version, ENGINE_RULES_VERSION);
    if (!image_needs(parts, fold_parts(snapshot, parts), &needs, &problem))
        return image_refused(refusal, head->sequence, &problem);
    (void)replay_raise_layout(&engines->layout, &needs);
    int failed = lay_out(engines);
    if (failed != 0)
        return refuse_layout(engines, refusal, failed);
    enum refusal_kind kind = load_both(engines, snapshot, parts, refusal);
    if (kind != REFUSAL_none)
        return kind;
    const struct exchange_file *exchange = engines->config.exchange;
    engines->snapshot_sequence = head->sequence;
    engines->rules_version = head->rules_version;
    engines->is_origin_told =
        exchange->era_count != 0 && head->frame > exchange->eras[exchange->era_count - 1].frame;
    return REFUSAL_none;
}

/* Whether the history's file is of this journal, as far as it says something of the state now. */
static bool is_of_history(const struct recovering *recovering)
{
    const struct engine *engine = recovering->engines->primary;
    uint8_t hash[HASH_BYTES];

    if (CC_LIKELY(recovering->mark.sequence != engine_sequence(engine)))
        return true;
    engine_effects_hash(engine, hash);
    return recovering->mark.sequence == 0 || memcmp(hash, recovering->mark.hash, sizeof hash) == 0;
}

/* Begins with one snapshot. False if it is damaged; else *kind says how it went. */
static bool begin_with(struct recovering *recovering, uint64_t sequence,
                       struct recovery_config *config, enum refusal_kind *kind)
{
    struct recover_engines *engines = recovering->engines;
    struct snapshot snapshot;

    refusal_clear(recovering->refusal);
    int failed = snapshot_read(engines->config.disk, engines->config.exchange, sequence, &snapshot,
                               recovering->refusal);
    if (failed == -ENOMEM) {
        *kind = refusal_machine(recovering->refusal, "memory for a snapshot", failed);
        return true;
    }
    if (recovering->refusal->kind == REFUSAL_snapshot_foreign) {
        *kind = REFUSAL_snapshot_foreign; /* a mixture of directories, not damage */
        return true;
    }
    if (failed != 0) {
        log_line(LOG_ERROR, "snapshot", "sequence=%lu is passed over: %s", sequence,
                 recovering->refusal->text);
        return false;
    }
    config->after_frame = snapshot.head.frame;
    memcpy(config->after_hash, snapshot.head.frame_hash, HASH_BYTES);
    *kind = load_snapshot(engines, &snapshot, recovering->refusal);
    snapshot_close(&snapshot);
    if (*kind == REFUSAL_none && !is_of_history(recovering)) {
        *kind =
            refusal_set(recovering->refusal, REFUSAL_record_refused, "sequence %" PRIu64, sequence);
        recovering->refusal->error = (int)REPLAY_history;
        replay_explain(recovering->refusal);
    }
    return true;
}

/* Whether the history lacks rows that no replay behind a snapshot makes, and the one of every
 * record can. */
static bool must_remake(struct recovering *recovering)
{
    if (!recovering->is_whole || recovering->count == 0)
        return false;
    recovering->is_whole = false; /* tried once */
    recovering->from_genesis = recovering->remakes_history = true;
    recovering->seen = recovering->newest;
    log_line(LOG_WARN, "history",
             "rows are missing, and every record is replayed from the first on to make them again");
    return true;
}

/* The newest snapshot that is whole and leaves no gap in the history's file; else every record, if
 * they are all there; else the newest whole snapshot. None that is older than one of an earlier
 * rules_version will do: records of that version lie between. *config gets the frame that it ends
 * with, 0 without one. */
static enum refusal_kind begin_state(struct recovering *recovering, struct recovery_config *config)
{
    struct recover_engines *engines = recovering->engines;
    struct history_file *file = engines->config.history_file;
    uint64_t applied = file == NULL ? UINT64_MAX : history_file_applied(file);
    int count = recovering->from_genesis ? 0 : recovering->begin_count;
    enum refusal_kind kind = REFUSAL_none;

    engines->snapshot_sequence = 0;
    engines->rules_version = ENGINE_RULES_VERSION;
    engines->is_origin_told = false;
    config->after_frame = 0;
    for (int leaves_gap = 0; leaves_gap <= 1; leaves_gap++) {
        if (leaves_gap == 1 && count > 0 && must_remake(recovering))
            break;
        for (int i = 0; i < count; i++)
            if ((recovering->sequences[i] > applied) == leaves_gap &&
                begin_with(recovering, recovering->sequences[i], config, &kind))
                return kind;
    }
    refusal_clear(recovering->refusal);
    int failed = lay_out(engines);
    return failed == 0 ? REFUSAL_none : refuse_layout(engines, recovering->refusal, failed);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Whether the state at the newest snapshot's sequence is the one that it holds. */
static bool is_as_seen(const struct recovering *recovering)
{
    uint8_t hash[HASH_BYTES];

    if (recovering->seen.sequence != engine_sequence(recovering->engines->primary))
        return true;
    fold_image_hash(recovering->engines->primary, hash);
    return memcmp(hash, recovering->seen.image_hash, sizeof hash) == 0;
}

static enum replay_refusal admit(struct recovering *recovering, const struct command *command)
{
    struct recover_engines *engines = recovering->engines;
    enum replay_refusal refused = REPLAY_rules_version;

    engines->refused_version = engines->rules_version;
    if (replay_follows(engines->rules_version, command->code)) {
        refused = replay_admit(engines->primary, &engines->layout, command);
        if (refused == REPLAY_rules_version)
            engines->refused_version = replay_version(command);
    }
    if (refused == REPLAY_ADMITTED)
        engines->rules_version = ENGINE_RULES_VERSION;
    return refused;
}

/* A 2017 of the newest row of `origin`. */
static bool is_of_origin(const struct exchange_file *exchange, const struct command *command)
{
    return command->code == REQUEST_restored && exchange->era_count != 0 &&
           memcmp(command_body(command), exchange->eras[exchange->era_count - 1].journal_id,
                  EXCHANGE_FILE_JOURNAL_ID_BYTES) == 0;
}

static int replay(void *context, uint64_t sequence, uint64_t frame,
                  const struct record_view *record)
{
    struct recovering *recovering = context;
    struct recover_engines *engines = recovering->engines;
    struct engine_result result;
    struct engine_sink ignore = replay_ignoring(); /* the keyring is filled once recovery is over */
    const _Atomic bool *give_up = engines->config.give_up;
    (void)frame;

    if (give_up != NULL && atomic_load_explicit(give_up, memory_order_relaxed)) /* a flag alone */
        return REPLAY_given_up;
    struct command *command = rebuild_command(&engines->rebuilt, record,
                                              mix_key_load(engines->config.exchange->hash_key));
    enum replay_refusal refused = admit(recovering, command);
    if (refused != REPLAY_ADMITTED)
        return (int)refused;
    engine_apply(engines->primary, command, &ignore, &result);
    INVARIANT(result.sequence == sequence);
    engines->is_origin_told =
        engines->is_origin_told || is_of_origin(engines->config.exchange, command);
    replica_replay_apply(&recovering->replica_replay, command);
    /* relaxed: shown on /readyz, decide nothing. */
    atomic_store_explicit(&engines->replay_to, engines->chain.position.tail.last_sequence,
                          memory_order_relaxed);
    atomic_store_explicit(&engines->replayed, sequence, memory_order_relaxed);
    if (!is_of_history(recovering))
        return (int)REPLAY_history;
    return is_as_seen(recovering) ? 0 : (int)REPLAY_image_hash;
}

static void explain(const struct recovering *recovering)
{
    struct refusal *refusal = recovering->refusal;

    if (refusal->error != (int)REPLAY_rules_version) {
        replay_explain(refusal);
        return;
    }
    refusal_set(refusal, REFUSAL_record_refused,
                "the journal behind sequence %" PRIu64 " was written under rules_version %" PRIu32
                "; a binary of that version must recover it first and stop cleanly, which writes a "
                "snapshot (this one has rules_version %d)",
                engine_sequence(recovering->engines->primary), recovering->engines->refused_version,
                ENGINE_RULES_VERSION);
}

/* ---- where to begin -------------------------------------------------------------------------- */

static bool is_begun(struct disk *disk, uint64_t segment)
{
    char path[DISK_PATH_BYTES];
    uint64_t magic = 0;

    segment_path(path, segment, true);
    int file = disk_open(disk, path, 0);
    if (file < 0)
        return false;
    int64_t count = disk_read(disk, file, SEGMENT_FRAMES_OFFSET, &magic, sizeof magic);
    disk_close(disk, file);
    return count == sizeof magic && magic != 0;
}

/* Whether journal/ holds every record since the first, and they are few. */
static bool is_young(const struct recover_engines *engines)
{
    uint64_t most = engines->config.history_replay_bytes / engines->config.segment_bytes;
    struct segment_range range;

    return most > 0 && segment_range_of(engines->config.disk, &range) == 0 && range.min == 0 &&
           !is_begun(engines->config.disk, most);
}

/* Whether archive/ and journal/ name every segment since the first. A list of the archive that is
 * lost is made again; if it cannot be, recovery_run refuses it. */
static bool is_whole(struct recovering *recovering)
{
    const struct recover_config *config = &recovering->engines->config;
    struct archive archive = { 0 };
    struct segment_range range;
    struct refusal why;

    refusal_clear(&why);
    if (segment_range_of(config->disk, &range) != 0)
        return false;
    bool begins = range.min == 0;
    if (archive_mend(&archive, config->disk, config->exchange, config->segment_bytes, range.min,
                     &recovering->relisted, &why) == REFUSAL_none)
        begins = begins || (archive.count > 0 && archive.rows[0].segment == 0);
    archive_close(&archive);
    return begins;
}

/* Reads the heads of the snapshots. A young exchange is replayed whole, unless its records are of
 * another rules_version. */
static enum refusal_kind look(struct recovering *recovering)
{
    struct recover_engines *engines = recovering->engines;
    struct snapshot_head head;
    struct refusal why;

    recovering->count = snapshot_list(engines->config.disk, recovering->sequences, LISTED_MAX);
    if (recovering->count < 0 && recovering->count != -ENOENT)
        return refusal_machine(recovering->refusal, "listing its snapshots", recovering->count);
    recovering->from_genesis = is_young(engines);
    recovering->begin_count = recovering->count;
    recovering->is_whole = engines->config.remakes_history && is_whole(recovering);
    for (int i = 0; i < recovering->count; i++) {
        refusal_clear(&why);
        if (snapshot_read_head(engines->config.disk, engines->config.exchange,
                               recovering->sequences[i], &head, &why) != 0) {
            if (why.kind != REFUSAL_snapshot_foreign)
                continue; /* logged when it is read or counted (snapshotter.h) */
            *recovering->refusal = why;
            return why.kind;
        }
        struct frame_mark *mark = &recovering->marks[recovering->mark_count++];
        *mark = (struct frame_mark){ .snapshot = head.sequence, .frame = head.frame };
        memcpy(mark->hash, head.frame_hash, sizeof mark->hash);
        if (recovering->newest.sequence == 0)
            recovering->newest = head;
        if (head.frame > recovering->frame)
            recovering->frame = head.frame;
        if (head.rules_version != ENGINE_RULES_VERSION) {
            recovering->from_genesis = recovering->is_whole = false;
            if (i < recovering->begin_count)
                recovering->begin_count = i + 1;
        }
    }
    if (recovering->from_genesis)
        recovering->seen = recovering->newest;
    return REFUSAL_none;
}

/* Whether the snapshot that was compared in passing has sections of older versions: the same state
 * then has other bytes. */
static bool is_seen_older(const struct recovering *recovering)
{
    const struct recover_engines *engines = recovering->engines;
    struct snapshot snapshot;
    bool older = false;

    if (snapshot_read(engines->config.disk, engines->config.exchange, recovering->seen.sequence,
                      &snapshot, NULL) != 0)
        return false;
    for (uint32_t i = 0; i < snapshot.head.section_count && !older; i++) {
        const struct snapshot_section *section = &snapshot.sections[i];
        older = section->code != 0 && section->code < IMAGE_SECTION_END &&
                section->version < image_version(section->code);
    }
    snapshot_close(&snapshot);
    return older;
}

static void begin_with_snapshots(struct recovering *recovering)
{
    recovering->from_genesis = recovering->remakes_history = false;
    recovering->seen.sequence = 0;
}

/* Whether the archive kept rows of the history from being made again: damage of what a start behind
 * a snapshot does not read. That start is tried then, and its history has a gap. */
static bool is_history_given_up(struct recovering *recovering, enum refusal_kind kind)
{
    if (!recovering->remakes_history || kind == REFUSAL_none || kind == REFUSAL_record_refused ||
        kind == REFUSAL_machine || kind == REFUSAL_memory)
        return false;
    log_line(LOG_ERROR, "history", "rows cannot be made again: %s", recovering->refusal->text);
    begin_with_snapshots(recovering);
    return true;
}

/* Whether a refused replay is tried once more, and how. The bound of each: it was not so before. */
static bool is_tried_again(struct recovering *recovering)
{
    int error = recovering->refusal->error;

    if (error == (int)REPLAY_layout_too_small)
        return true; /* a later 2013 has larger tables: with those */
    if (!recovering->from_genesis || recovering->count <= 0)
        return false;
    if (error == (int)REPLAY_rules_version) { /* few records, but older ones than the snapshots */
        begin_with_snapshots(recovering);
        return true;
    }
    if (error != (int)REPLAY_image_hash || !is_seen_older(recovering))
        return false;
    recovering->seen.sequence = 0;
    return true;
}

/* The log of a cluster says which frames it has. */
static enum refusal_kind agree(void *context, const struct frame_tail *tails, uint32_t count,
                               uint64_t least, uint64_t *keep, struct refusal *refusal)
{
    const struct recover_config *config = &((const struct recovering *)context)->engines->config;

    return config->agree(config->agree_context, tails, count, least, keep, refusal);
}

/* Adds what a run that was done again has cut and mended, and the next one does not find. */
static void add_former(struct recovery_result *result, const struct recovery_result *former)
{
    result->cut_bytes += former->cut_bytes;
    result->cut_frames += former->cut_frames;
    result->witness_damaged |= former->witness_damaged;
    result->exchange_damaged |= former->exchange_damaged;
    result->is_upgraded = result->is_upgraded || former->is_upgraded;
    if (former->discarded_frames == 0)
        return;
    result->discarded_frames = former->discarded_frames;
    result->discarded_first = former->discarded_first;
    result->discarded_last = former->discarded_last;
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum refusal_kind recover_state(struct recover_engines *engines,
                                const struct recover_config *config, struct refusal *refusal)
{
    engines->config = *config;
    engines->layout = config->capacities;
    struct recovering recovering = { .engines = engines, .refusal = refusal };
    if (config->history_file != NULL)
        recovering.mark = *history_file_mark(config->history_file);
    enum refusal_kind kind = look(&recovering);
    struct recovery_config chain = {
        .disk = config->disk,
        .exchange = config->exchange,
        .segment_bytes = config->segment_bytes,
        .apply = replay,
        .context = &recovering,
        .durable_frame = recovering.frame,
        .marks = recovering.marks,
        .mark_count = recovering.mark_count,
        .agree = config->agree == NULL ? NULL : agree,
    };

    while (kind == REFUSAL_none) {
        kind = begin_state(&recovering, &chain);
        if (kind != REFUSAL_none)
            break;
        uint64_t from = engine_sequence(engines->primary);
        atomic_store_explicit(&engines->replay_from, from, memory_order_relaxed);
        atomic_store_explicit(&engines->replayed, from, memory_order_relaxed);
        replica_replay_begin(&recovering.replica_replay, engines->replica, config->sink,
                             config->is_on_two_threads);
        uint64_t began_ns = clock_monotonic_ns(config->clock);
        kind = recovery_run(&chain, &engines->chain, refusal);
        replica_replay_end(&recovering.replica_replay);
        if (recovering.relisted > 0)
            engines->chain.archive_relisted = recovering.relisted;
        add_former(&engines->chain, &recovering.former);
        engines->replay_ns = clock_monotonic_ns(config->clock) - began_ns;
        if (kind == REFUSAL_none &&
            history_keep_cut(&config->sink->history->keep, engine_sequence(engines->primary))) {
            recovering.mark = *history_file_mark(config->history_file);
            recovering.former = engines->chain;
            continue;
        }
        if (kind == REFUSAL_record_refused && !is_tried_again(&recovering)) {
            explain(&recovering);
            break;
        }
        if (kind != REFUSAL_record_refused && !is_history_given_up(&recovering, kind))
            break;
        refusal_clear(refusal);
        kind = REFUSAL_none;
    }
    return kind;
}

uint32_t recover_percent(const struct recover_engines *engines)
{
    /* relaxed: shown, decides nothing. */
    uint64_t from = atomic_load_explicit(&engines->replay_from, memory_order_relaxed);
    uint64_t to = atomic_load_explicit(&engines->replay_to, memory_order_relaxed);
    uint64_t at = atomic_load_explicit(&engines->replayed, memory_order_relaxed);

    if (to == 0)
        return 0;
    return at >= to ? 100 : at <= from ? 0 : (uint32_t)((at - from) * 100 / (to - from));
}
