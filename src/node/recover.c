#include "node/recover.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/mman.h>

#include "base/log.h"
#include "engine/image.h"
#include "engine/image_load.h"
#include "node/fold.h"
#include "node/mirror.h"
#include "node/replay.h"
#include "store/segment.h"

enum { LISTED_MAX = 64, PRIMARY = 0, REPLICA = 1, RULES_VERSION_AT = 8 };

/* One recovery under way. */
struct recovering {
    struct core *core;
    struct refusal *refusal;
    uint64_t sequences[LISTED_MAX]; /* of the snapshot files, newest first */
    int count;
    uint64_t frame;            /* newest that a snapshot covers */
    bool from_genesis;         /* whatever snapshots there are */
    struct snapshot_head seen; /* with from_genesis: compared in passing; sequence 0: none */
    uint32_t found_version;    /* with REPLAY_rules_version: of the record */
    struct mirror mirror;      /* applies to the replica */
};

/* ---- memory ---------------------------------------------------------------------------------- */

static void unmap(struct core *core, size_t at)
{
    if (core->memory[at] != NULL)
        munmap(core->memory[at], core->memory_bytes);
    core->memory[at] = NULL;
}

void recover_unmap(struct core *core)
{
    unmap(core, PRIMARY);
    unmap(core, REPLICA);
}

void recover_unmap_primary(struct core *core)
{
    unmap(core, PRIMARY);
}

static int lay_out(struct core *core)
{
    struct mix_key key = mix_key_load(core->exchange.hash_key);
    struct engine **engines[] = { &core->primary, &core->replica };

    recover_unmap(core);
    core->memory_bytes = (engine_bytes(&core->layout) + 4095) & ~(size_t)4095;
    for (size_t i = 0; i < CC_COUNT(core->memory); i++) {
        void *memory = mmap(NULL, core->memory_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return -errno;
        core->memory[i] = memory;
        *engines[i] = engine_init(memory, core->memory_bytes, key, &core->layout);
    }
    history_destroy(core->follower.sink.history);
    struct history *history = history_create(
        core->config.history_rows, (uint32_t)core->layout.values[OPTION_engine_accounts] + 1, key);
    history_sink_init(&core->follower.sink, history);
    return history == NULL ? -ENOMEM : 0;
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
static enum refusal_kind load_both(struct core *core, const struct snapshot *snapshot,
                                   const struct image_part *parts, struct refusal *refusal)
{
    uint32_t count = snapshot->head.section_count;
    struct load loads[] = { { .engine = core->primary, .parts = parts, .count = count },
                            { .engine = core->replica, .parts = parts, .count = count } };
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

static enum refusal_kind load_snapshot(struct core *core, const struct snapshot *snapshot,
                                       struct refusal *refusal)
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
    (void)replay_raise_layout(&core->layout, &needs);
    int failed = lay_out(core);
    if (failed != 0)
        return refusal_machine(refusal, "memory for the engine", failed);
    enum refusal_kind kind = load_both(core, snapshot, parts, refusal);
    if (kind != REFUSAL_none)
        return kind;
    history_forget(core->follower.sink.history, core->replica);
    core->snapshot_sequence = head->sequence;
    core->rules_version = head->rules_version;
    return REFUSAL_none;
}

/* The newest snapshot that is whole, else an older one. *config gets the frame that it ends with,
 * 0 without one. */
static enum refusal_kind begin_state(struct recovering *recovering, struct recovery_config *config)
{
    struct core *core = recovering->core;
    struct snapshot snapshot;

    core->snapshot_sequence = 0;
    core->rules_version = ENGINE_RULES_VERSION;
    config->after_frame = 0;
    for (int i = 0; i < recovering->count && !recovering->from_genesis; i++) {
        refusal_clear(recovering->refusal);
        int failed = snapshot_read(core->config.disk, &core->exchange, recovering->sequences[i],
                                   &snapshot, recovering->refusal);
        if (failed == -ENOMEM)
            return refusal_machine(recovering->refusal, "memory for a snapshot", failed);
        if (recovering->refusal->kind == REFUSAL_snapshot_foreign)
            return REFUSAL_snapshot_foreign; /* a mixture of directories, not damage */
        if (failed != 0) {
            log_line(LOG_ERROR, "snapshot", "sequence=%lu is passed over: %s",
                     recovering->sequences[i], recovering->refusal->text);
            continue;
        }
        config->after_frame = snapshot.head.frame;
        memcpy(config->after_hash, snapshot.head.frame_hash, HASH_BYTES);
        enum refusal_kind kind = load_snapshot(core, &snapshot, recovering->refusal);
        snapshot_close(&snapshot);
        return kind;
    }
    refusal_clear(recovering->refusal);
    int failed = lay_out(core);
    return failed == 0 ? REFUSAL_none
                       : refusal_machine(recovering->refusal, "memory for the engine", failed);
}

/* ---- records --------------------------------------------------------------------------------- */

/* A sink that keeps nothing: the keyring is filled once recovery is over. */
static void ignore_effect(struct engine_sink *sink, const struct effect *effect)
{
    (void)sink;
    (void)effect;
}

/* Whether the state at the newest snapshot's sequence is the one that it holds. */
static bool is_as_seen(const struct recovering *recovering)
{
    uint8_t hash[HASH_BYTES];

    if (recovering->seen.sequence != engine_sequence(recovering->core->primary))
        return true;
    fold_image_hash(recovering->core->primary, hash);
    return memcmp(hash, recovering->seen.image_hash, sizeof hash) == 0;
}

static enum replay_refusal admit(struct recovering *recovering, const struct command *command)
{
    struct core *core = recovering->core;
    enum replay_refusal refused = REPLAY_rules_version;

    recovering->found_version = core->rules_version;
    if (replay_follows(core->rules_version, command->code)) {
        refused = replay_admit(core->primary, &core->layout, command);
        if (refused == REPLAY_rules_version && command_body_bytes(command) >= 2 * RULES_VERSION_AT)
            recovering->found_version = cc_load32(command_body(command) + RULES_VERSION_AT);
    }
    if (refused == REPLAY_ADMITTED)
        core->rules_version = ENGINE_RULES_VERSION;
    return refused;
}

static int replay(void *context, uint64_t sequence, uint64_t frame,
                  const struct record_view *record)
{
    struct recovering *recovering = context;
    struct core *core = recovering->core;
    struct engine_result result;
    struct engine_sink ignore = { .emit = ignore_effect, .ignores = UINT32_MAX };
    const _Atomic bool *give_up = core->config.give_up;
    (void)frame;

    if (give_up != NULL && atomic_load_explicit(give_up, memory_order_relaxed)) /* a flag alone */
        return REPLAY_given_up;
    struct command *command =
        rebuild_command(&core->rebuilt, record, mix_key_load(core->exchange.hash_key));
    enum replay_refusal refused = admit(recovering, command);
    if (refused != REPLAY_ADMITTED)
        return (int)refused;
    engine_apply(core->primary, command, &ignore, &result);
    INVARIANT(result.sequence == sequence);
    mirror_apply(&recovering->mirror, command);
    /* relaxed: shown on /readyz, decide nothing. */
    atomic_store_explicit(&core->replay_to, core->recovered.position.tail.last_sequence,
                          memory_order_relaxed);
    atomic_store_explicit(&core->replayed, sequence, memory_order_relaxed);
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
                engine_sequence(recovering->core->primary), recovering->found_version,
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

/* Whether every record there ever was stands in journal/, and they are few. */
static bool is_young(const struct core *core)
{
    uint64_t most = core->config.history_replay_bytes / core->config.segment_bytes;
    struct segment_range range;

    return most > 0 && segment_range_of(core->config.disk, &range) == 0 && range.min == 0 &&
           !is_begun(core->config.disk, most);
}

/* Reads what the snapshots' heads say. A young exchange is replayed whole, unless its records are
 * of another rules_version. */
static enum refusal_kind look(struct recovering *recovering)
{
    struct core *core = recovering->core;
    struct snapshot_head head;
    struct refusal why;

    recovering->count = snapshot_list(core->config.disk, recovering->sequences, LISTED_MAX);
    if (recovering->count < 0 && recovering->count != -ENOENT)
        return refusal_machine(recovering->refusal, "listing its snapshots", recovering->count);
    recovering->from_genesis = is_young(core);
    for (int i = 0; i < recovering->count; i++) {
        refusal_clear(&why);
        if (snapshot_read_head(core->config.disk, &core->exchange, recovering->sequences[i], &head,
                               &why) != 0) {
            if (why.kind != REFUSAL_snapshot_foreign)
                continue; /* said when it is read, or when it is counted (snapshotter.h) */
            *recovering->refusal = why;
            return why.kind;
        }
        if (recovering->seen.sequence == 0)
            recovering->seen = head;
        if (head.frame > recovering->frame)
            recovering->frame = head.frame;
        if (head.rules_version != ENGINE_RULES_VERSION)
            recovering->from_genesis = false;
    }
    if (!recovering->from_genesis)
        recovering->seen.sequence = 0;
    return REFUSAL_none;
}

/* Whether the snapshot that was compared in passing has sections of older versions: the same state
 * then has other bytes. */
static bool is_seen_older(const struct recovering *recovering)
{
    const struct core *core = recovering->core;
    struct snapshot snapshot;
    bool older = false;

    if (snapshot_read(core->config.disk, &core->exchange, recovering->seen.sequence, &snapshot,
                      NULL) != 0)
        return false;
    for (uint32_t i = 0; i < snapshot.head.section_count && !older; i++) {
        const struct snapshot_section *section = &snapshot.sections[i];
        older = section->code != 0 && section->code < IMAGE_SECTION_END &&
                section->version < image_version(section->code);
    }
    snapshot_close(&snapshot);
    return older;
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
        recovering->from_genesis = false;
        recovering->seen.sequence = 0;
        return true;
    }
    if (error != (int)REPLAY_image_hash || !is_seen_older(recovering))
        return false;
    recovering->seen.sequence = 0;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum refusal_kind recover_state(struct core *core, struct refusal *refusal)
{
    struct recovering recovering = { .core = core, .refusal = refusal };
    enum refusal_kind kind = look(&recovering);
    struct recovery_config config = {
        .disk = core->config.disk,
        .exchange = &core->exchange,
        .segment_bytes = core->config.segment_bytes,
        .apply = replay,
        .context = &recovering,
        .durable_frame = recovering.frame,
    };

    while (kind == REFUSAL_none) {
        kind = begin_state(&recovering, &config);
        if (kind != REFUSAL_none)
            break;
        uint64_t from = engine_sequence(core->primary);
        atomic_store_explicit(&core->replay_from, from, memory_order_relaxed);
        atomic_store_explicit(&core->replayed, from, memory_order_relaxed);
        mirror_begin(&recovering.mirror, core->replica, &core->follower.sink,
                     core->config.recovers_on_two_threads);
        kind = recovery_run(&config, &core->recovered, refusal);
        mirror_end(&recovering.mirror);
        if (kind != REFUSAL_record_refused)
            break;
        if (!is_tried_again(&recovering)) {
            explain(&recovering);
            break;
        }
        refusal_clear(refusal);
        kind = REFUSAL_none;
    }
    return kind;
}
