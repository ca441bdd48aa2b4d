#include "node/recover/fold.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/region.h"
#include "engine/image/image.h"
#include "node/recover/replay.h"
#include "node/recover/snapshot_image.h"

enum { PAGE_BYTES = 4096, SNAPSHOTS_LOOKED_AT = 64 };

/* ---- memory ---------------------------------------------------------------------------------- */

/* Capacities that no record 2013 is below: the first one asks for more, and gets it. */
static void smallest_layout(struct option_engine *layout)
{
    memset(layout, 0, sizeof *layout);
    for (int option = 0; option < OPTION_COUNT; option++)
        layout->values[option] = option_row((enum option)option)->minimum;
}

static int lay_out(struct fold *fold, const struct option_engine *layout,
                   const struct exchange_file *exchange)
{
    size_t bytes = (engine_bytes(layout) + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
    void *memory = region_map(REGION_engines, bytes);

    if (memory == NULL)
        return -ENOMEM;
    fold->memory = memory;
    fold->memory_bytes = bytes;
    fold->engine = engine_init(memory, bytes, mix_key_load(exchange->hash_key), layout);
    return 0;
}

void fold_free(struct fold *fold)
{
    if (fold->memory != NULL)
        region_unmap(fold->memory, fold->memory_bytes);
    memset(fold, 0, sizeof *fold);
}

/* ---- the image of an engine ------------------------------------------------------------------ */

struct hash_sink {
    struct image_sink sink; /* first */
    struct hash_state state;
};

static void hash_image_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    hash_add(&((struct hash_sink *)(void *)sink)->state, bytes, count);
}

void fold_image_hash(struct engine *engine, uint8_t out[HASH_BYTES])
{
    struct hash_sink sink = { .sink = { .bytes = hash_image_bytes } };

    hash_begin(&sink.state);
    image_write(engine, &sink.sink);
    hash_end(&sink.state, out);
}

/* ---- from a snapshot ------------------------------------------------------------------------- */

uint32_t fold_parts(const struct snapshot *snapshot, struct image_part parts[SNAPSHOT_SECTIONS_MAX])
{
    for (uint32_t i = 0; i < snapshot->head.section_count; i++) {
        const struct snapshot_section *section = &snapshot->sections[i];
        parts[i] = (struct image_part){ section->code, section->version, section->bytes,
                                        section->byte_count };
    }
    return snapshot->head.section_count;
}

static enum refusal_kind image_refused(struct refusal *refusal, uint64_t sequence,
                                       const struct image_problem *problem)
{
    return refusal_set(refusal, REFUSAL_record_refused,
                       "snapshot %" PRIu64 ": section %" PRIu32 ", row %" PRIu64 ": %s", sequence,
                       problem->section, problem->row, problem->text);
}

/* Makes fold->engine from a snapshot in memory; raises `layout` to the capacities it needs. */
static enum refusal_kind load_image(struct fold *fold, const struct snapshot *snapshot,
                                    struct option_engine *layout,
                                    const struct exchange_file *exchange, struct refusal *refusal)
{
    struct image_part parts[SNAPSHOT_SECTIONS_MAX];
    struct image_problem problem = { .text = "" };
    struct option_engine needs;
    uint32_t count = fold_parts(snapshot, parts);

    if (!image_needs(parts, count, &needs, &problem))
        return image_refused(refusal, snapshot->head.sequence, &problem);
    replay_raise_layout(layout, &needs);
    int failed = lay_out(fold, layout, exchange);
    if (failed != 0)
        return refusal_machine(refusal, "memory for the engine", failed);
    if (!image_load(fold->engine, parts, count, &problem)) {
        fold_free(fold);
        return image_refused(refusal, snapshot->head.sequence, &problem);
    }
    return REFUSAL_none;
}

/* The snapshot that a fold begins with: *sequence, 0 for none. */
static enum refusal_kind choose(const struct fold_config *config, struct snapshot *snapshot,
                                bool *found, struct refusal *refusal)
{
    uint64_t sequences[SNAPSHOTS_LOOKED_AT];
    int count = 1;

    *found = false;
    if (config->start == FOLD_GENESIS)
        return REFUSAL_none;
    sequences[0] = config->start_sequence;
    if (config->start == FOLD_NEWEST)
        count = snapshot_list(config->disk, sequences, SNAPSHOTS_LOOKED_AT);
    if (count < 0 && count != -ENOENT)
        return refusal_machine(refusal, "listing its snapshots", count);
    for (int i = 0; i < count && !*found; i++) {
        if (sequences[i] > config->last_sequence)
            continue;
        refusal_clear(refusal);
        int failed = snapshot_read(config->disk, config->exchange, sequences[i], snapshot, refusal);
        *found = failed == 0;
        if (failed == -ENOMEM || (failed != 0 && config->start == FOLD_SNAPSHOT)) {
            if (refusal->kind == REFUSAL_none)
                return refusal_machine(refusal, "reading a snapshot", failed);
            return refusal->kind;
        }
    }
    refusal_clear(refusal); /* one that is not whole is passed over */
    return REFUSAL_none;
}

/* ---- records --------------------------------------------------------------------------------- */

/* One fold under way. */
struct folding {
    const struct fold_config *config;
    struct fold *fold;
    struct refusal *refusal;
    struct option_engine layout;
    uint32_t rules_version; /* of the state so far */
    struct rebuild_buffer rebuilt;
};

static void apply_command(const struct fold_config *config, struct engine *engine,
                          const struct command *command, struct engine_result *result)
{
    struct engine_sink ignore = replay_ignoring();
    struct engine_sink *sink = config->sink != NULL ? config->sink : &ignore;

    if (config->apply != NULL)
        config->apply(config->apply_context, engine, command, sink, result);
    else
        engine_apply(engine, command, sink, result);
}

static int apply_record(struct folding *folding, const struct chain_frame *frame, uint64_t sequence,
                        const struct record_view *record)
{
    const struct fold_config *config = folding->config;
    struct fold *fold = folding->fold;
    struct engine_result result;

    if (config->give_up != NULL &&
        atomic_load_explicit(config->give_up, memory_order_relaxed)) /* a flag alone */
        return REPLAY_given_up;
    struct command *command =
        rebuild_command(&folding->rebuilt, record, mix_key_load(config->exchange->hash_key));
    enum replay_refusal refused = REPLAY_rules_version;
    if (replay_follows(folding->rules_version, command->code))
        refused = replay_admit(fold->engine, &folding->layout, command);
    if (refused != REPLAY_ADMITTED)
        return (int)refused;
    folding->rules_version = ENGINE_RULES_VERSION;
    apply_command(config, fold->engine, command, &result);
    INVARIANT(result.sequence == sequence);
    fold->sequence = sequence;
    fold->records++;
    fold->hashes += command->code == REQUEST_effects_hash;
    if (config->visit == NULL)
        return 0;
    return config->visit(config->context, frame, sequence, record, command, &result);
}

static enum refusal_kind record_refused(struct folding *folding, const struct chain_frame *frame,
                                        uint64_t sequence, uint16_t code, int error)
{
    struct refusal *refusal = folding->refusal;

    refusal->error = error;
    refusal->segment = frame->segment;
    refusal->offset = frame->offset;
    return refusal_set(refusal, REFUSAL_record_refused,
                       "sequence %" PRIu64 ", code %u, in frame %" PRIu64 ", segment %" PRIu64
                       ", offset %" PRIu64,
                       sequence, code, frame->header.number, frame->segment, frame->offset);
}

/* Applies a frame's records up to the target; *whole: all of them. */
static enum refusal_kind apply_frame(struct folding *folding, const struct chain_frame *frame,
                                     bool *whole)
{
    struct frame_records records;
    struct record_view record;
    uint64_t sequence = 0;
    int found;

    *whole = true;
    frame_records_begin(&records, &frame->header, frame->bytes);
    while ((found = frame_records_next(&records, &record, &sequence)) > 0) {
        if (sequence > folding->config->last_sequence) {
            *whole = false;
            return REFUSAL_none;
        }
        int error = apply_record(folding, frame, sequence, &record);
        if (error != 0)
            return record_refused(folding, frame, sequence, record.code, error);
    }
    if (found < 0)
        return refusal_set(folding->refusal, REFUSAL_record_malformed,
                           "frame %" PRIu64 ", segment %" PRIu64 ", offset %" PRIu64,
                           frame->header.number, frame->segment, frame->offset);
    return REFUSAL_none;
}

static enum refusal_kind apply_chain(struct folding *folding, struct chain *chain)
{
    struct fold *fold = folding->fold;
    struct chain_frame frame;
    bool whole = true;
    int found = 0;

    while (whole && fold->sequence < folding->config->last_sequence &&
           (found = chain_next(chain, &frame)) > 0) {
        enum refusal_kind kind = apply_frame(folding, &frame, &whole);
        if (kind != REFUSAL_none)
            return kind;
        fold->frame_end = frame.header.last_sequence;
        fold->journal_bytes += frame.header.length;
        fold->position = chain_position(chain);
        if (!whole)
            return REFUSAL_none;
        fold->frame = frame.header.number;
        fold->boot = frame.header.boot;
        memcpy(fold->frame_hash, fold->position.tail.hash, sizeof fold->frame_hash);
    }
    return found < 0 ? folding->refusal->kind : REFUSAL_none;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Loads the initial state and opens the chain after it. */
static enum refusal_kind begin(struct folding *folding, struct chain_config *chain)
{
    const struct fold_config *config = folding->config;
    struct fold *fold = folding->fold;
    struct snapshot snapshot;
    bool found;
    enum refusal_kind kind = choose(config, &snapshot, &found, folding->refusal);

    if (kind != REFUSAL_none)
        return kind;
    folding->rules_version = ENGINE_RULES_VERSION;
    if (!found) {
        int failed = lay_out(fold, &folding->layout, config->exchange);
        return failed == 0 ? REFUSAL_none
                           : refusal_machine(folding->refusal, "memory for the engine", failed);
    }
    kind = load_image(fold, &snapshot, &folding->layout, config->exchange, folding->refusal);
    if (kind == REFUSAL_none) {
        const struct snapshot_head *head = &snapshot.head;
        folding->rules_version = head->rules_version;
        fold->start_sequence = fold->sequence = fold->frame_end = head->sequence;
        fold->frame = chain->after_frame = head->frame;
        fold->boot = head->boot;
        memcpy(fold->frame_hash, head->frame_hash, HASH_BYTES);
        memcpy(chain->after_hash, head->frame_hash, HASH_BYTES);
    }
    snapshot_close(&snapshot);
    return kind;
}

static enum refusal_kind run_once(struct folding *folding)
{
    const struct fold_config *config = folding->config;
    struct chain_config behind = {
        .disk = config->disk,
        .exchange = config->exchange,
        .segment_bytes = config->segment_bytes,
        .last_segment = config->last_segment,
    };
    struct chain *chain = NULL;
    enum refusal_kind kind = begin(folding, &behind);

    if (kind == REFUSAL_none)
        kind = chain_open(&chain, &behind, folding->refusal);
    if (kind == REFUSAL_none) {
        folding->fold->position = chain_position(chain);
        kind = apply_chain(folding, chain);
    }
    if (chain != NULL)
        chain_close(chain);
    if (kind != REFUSAL_none)
        fold_free(folding->fold);
    return kind;
}

enum refusal_kind fold_run(const struct fold_config *config, struct fold *out,
                           struct refusal *refusal)
{
    struct folding *folding = aligned_alloc(alignof(struct folding), sizeof *folding);
    enum refusal_kind kind;

    memset(out, 0, sizeof *out);
    refusal_clear(refusal);
    if (folding == NULL)
        return refusal_machine(refusal, "memory", -ENOMEM);
    *folding = (struct folding){ .config = config, .fold = out, .refusal = refusal };
    smallest_layout(&folding->layout);
    do { /* a 2013 of larger tables: once more with those */
        refusal_clear(refusal);
        kind = run_once(folding);
    } while (kind == REFUSAL_record_refused && refusal->error == REPLAY_layout_too_small);
    if (kind == REFUSAL_record_refused)
        replay_explain(refusal);
    free(folding);
    return kind;
}

/* ---- writing a snapshot ---------------------------------------------------------------------- */

/* Reads the snapshot of a sequence, loads it into a fresh engine and compares the image of that
 * with `image_hash`. */
static enum refusal_kind verify(struct disk *disk, const struct exchange_file *exchange,
                                uint64_t sequence, const uint8_t image_hash[HASH_BYTES],
                                struct snapshot_head *head, struct refusal *refusal)
{
    struct option_engine layout;
    struct snapshot snapshot;
    struct fold fold = { 0 };
    uint8_t loaded[HASH_BYTES];

    refusal_clear(refusal);
    int failed = snapshot_read(disk, exchange, sequence, &snapshot, refusal);
    if (failed != 0)
        return refusal->kind != REFUSAL_none
                   ? refusal->kind
                   : refusal_machine(refusal, "reading a snapshot", failed);
    smallest_layout(&layout);
    enum refusal_kind kind = load_image(&fold, &snapshot, &layout, exchange, refusal);
    *head = snapshot.head;
    snapshot_close(&snapshot);
    if (kind != REFUSAL_none)
        return kind;
    fold_image_hash(fold.engine, loaded);
    fold_free(&fold);
    if (memcmp(loaded, image_hash, HASH_BYTES) != 0)
        return refusal_set(refusal, REFUSAL_record_refused,
                           "snapshot %" PRIu64 ": another state than the one written", sequence);
    return REFUSAL_none;
}

enum refusal_kind fold_write_snapshot(struct engine *engine, struct disk *disk,
                                      const struct exchange_file *exchange,
                                      const struct frame_tail *tail, struct snapshot_head *head,
                                      struct refusal *refusal)
{
    uint64_t sequence = engine_sequence(engine);
    uint8_t image_hash[HASH_BYTES];

    INVARIANT(sequence > 0 && tail->last_sequence == sequence);
    fold_image_hash(engine, image_hash);
    if (verify(disk, exchange, sequence, image_hash, head, refusal) == REFUSAL_none &&
        head->frame == tail->number && memcmp(head->frame_hash, tail->hash, HASH_BYTES) == 0)
        return REFUSAL_none; /* it exists already */

    refusal_clear(refusal);
    struct snapshot_image image = snapshot_image_to(snapshot_begin(disk, exchange, sequence));
    if (image.writer == NULL)
        return refusal_machine(refusal, "memory for a snapshot", -ENOMEM);
    image_write(engine, &image.sink);
    *head = snapshot_image_head(engine, tail->number, tail->boot, tail->hash);
    int failed = snapshot_end(image.writer, head);
    if (failed != 0)
        return refusal_machine(refusal, "writing a snapshot", failed);
    enum refusal_kind kind = verify(disk, exchange, sequence, image_hash, head, refusal);
    if (kind != REFUSAL_none && (failed = snapshot_remove(disk, sequence)) != 0)
        return refusal_machine(refusal, "removing a snapshot that cannot be read", failed);
    return kind;
}

enum refusal_kind fold_snapshot(struct disk *disk, const struct exchange_file *exchange,
                                uint32_t segment_bytes, uint64_t last_segment,
                                struct refusal *refusal)
{
    struct fold_config config = {
        .disk = disk,
        .exchange = exchange,
        .segment_bytes = segment_bytes,
        .start = FOLD_NEWEST,
        .last_segment = last_segment,
        .last_sequence = UINT64_MAX,
    };
    struct snapshot_head head;
    struct fold fold;
    enum refusal_kind kind = fold_run(&config, &fold, refusal);

    if (kind != REFUSAL_none)
        return kind;
    struct frame_tail tail = { .number = fold.frame,
                               .last_sequence = fold.frame_end,
                               .boot = fold.boot };
    memcpy(tail.hash, fold.frame_hash, sizeof tail.hash);
    kind = fold_write_snapshot(fold.engine, disk, exchange, &tail, &head, refusal);
    fold_free(&fold);
    return kind;
}
