/* States folded from the files of a simulated exchange: the snapshotter's child, and what proves
 * it: every way to a state gives the same image. */
#include <stdlib.h>

#include "node/recover/fold.h"
#include "sim_world.h"

enum { STOP_ODDS = 8, STOP_CALLS = 12 };

enum { GENESIS_ODDS = 2 }; /* one snapshot in so many is compared with a fold from the beginning */

static struct fold_config config_of(struct sim *sim, enum fold_start start)
{
    return (struct fold_config){
        .disk = sim->disk,
        .exchange = &sim->core.exchange,
        .segment_bytes = sim->profile.segment_bytes,
        .start = start,
        .last_segment = UINT64_MAX,
        .last_sequence = UINT64_MAX,
    };
}

/* The image of what is folded up to a sequence; false when the fold is refused. */
static bool folded_hash(struct sim *sim, enum fold_start start, uint64_t last_sequence,
                        uint8_t out[32])
{
    struct fold_config config = config_of(sim, start);
    struct refusal refusal = { 0 };
    struct fold fold;

    config.last_sequence = last_sequence;
    if (fold_run(&config, &fold, &refusal) != REFUSAL_none) {
        sim_fail(sim, "a fold up to sequence %lu is refused: %s", last_sequence, refusal.text);
        return false;
    }
    if (last_sequence != UINT64_MAX && fold.sequence != last_sequence)
        sim_fail(sim, "a fold up to sequence %lu ends at %lu", last_sequence, fold.sequence);
    sim_check_lanes(sim, fold.engine, "a folded state");
    fold_image_hash(fold.engine, out);
    fold_free(&fold);
    sim->outcome->folds++;
    return true;
}

/* What the clients know of the journal: the entry that was acknowledged at each sequence. */
struct known {
    struct sim *sim;
    uint32_t *entries; /* [sequence_end], number of the entry + 1; 0: none */
    uint64_t sequence_end;
    uint64_t last_t_ns;
    uint64_t found;
};

/* A record stands where its acknowledgement says, at the time it says, and time rises. */
static int check_record(void *context, const struct chain_frame *frame, uint64_t sequence,
                        const struct record_view *record, const struct command *command,
                        const struct engine_result *result)
{
    struct known *known = context;
    struct sim *sim = known->sim;
    (void)frame;
    (void)result;

    if (sequence == 1) /* a fold begins again when a record 2013 asks for larger tables */
        known->last_t_ns = known->found = 0;
    if (record->t_ns <= known->last_t_ns)
        sim_fail(sim, "the time of sequence %lu is not behind that before it", sequence);
    known->last_t_ns = record->t_ns;
    if (sequence >= known->sequence_end || known->entries[sequence] == 0)
        return 0;
    struct traffic_sent *sent = &sim->traffic.sent[known->entries[sequence] - 1];
    const struct command *wanted = traffic_command(sent);
    known->found++;
    if (command->code != wanted->code || command->payload_bytes != wanted->payload_bytes ||
        memcmp(command_payload(command), command_payload(wanted), wanted->payload_bytes) != 0)
        sim_fail(sim, "sequence %lu was acknowledged as another command's", sequence);
    if (sent->answer.processed_at_ns != 0 && sent->answer.processed_at_ns != record->t_ns)
        sim_fail(sim, "sequence %lu was acknowledged with another time", sequence);
    return 0;
}

/* Every acknowledged command stands in the journal, in its place. */
static void check_journal(struct sim *sim)
{
    struct fold_config config = config_of(sim, FOLD_GENESIS);
    struct known known = { .sim = sim };
    struct refusal refusal = { 0 };
    uint64_t wanted = 0;
    struct fold fold;

    for (uint32_t i = 0; i < sim->traffic.sent_count; i++)
        if (sim->traffic.sent[i].state == TRAFFIC_ACKED &&
            sim->traffic.sent[i].answer.sequence >= known.sequence_end)
            known.sequence_end = sim->traffic.sent[i].answer.sequence + 1;
    known.entries = calloc(known.sequence_end + 1, sizeof *known.entries);
    INVARIANT(known.entries != NULL);
    for (uint32_t i = 0; i < sim->traffic.sent_count; i++) {
        const struct traffic_sent *sent = &sim->traffic.sent[i];
        if (sent->state != TRAFFIC_ACKED || sent->answer.sequence == 0)
            continue;
        if (known.entries[sent->answer.sequence] != 0)
            sim_fail(sim, "sequence %lu was acknowledged twice", sent->answer.sequence);
        known.entries[sent->answer.sequence] = i + 1;
        wanted++;
    }
    config.visit = check_record;
    config.context = &known;
    if (fold_run(&config, &fold, &refusal) != REFUSAL_none)
        sim_fail(sim, "the journal is refused: %s", refusal.text);
    else
        fold_free(&fold);
    if (known.found != wanted)
        sim_fail(sim, "%lu of %lu acknowledged commands stand in the journal", known.found, wanted);
    sim->outcome->records += known.found;
    free(known.entries);
}

void sim_check_folds(struct sim *sim, const uint8_t image[32])
{
    uint8_t hash[32];

    check_journal(sim);
    if (sim->outcome->failed)
        return;
    if (folded_hash(sim, FOLD_GENESIS, UINT64_MAX, hash) && memcmp(hash, image, sizeof hash) != 0)
        sim_fail(sim, "the image folded from the first record differs");
    if (!sim->outcome->failed && folded_hash(sim, FOLD_NEWEST, UINT64_MAX, hash) &&
        memcmp(hash, image, sizeof hash) != 0)
        sim_fail(sim, "the image folded from the newest snapshot differs");
}

/* ---- the snapshotter's child ----------------------------------------------------------------- */

static int child_begin(void *context, uint64_t last_segment, bool is_forced)
{
    struct sim *sim = context;
    (void)is_forced;
    sim->child = (struct sim_child){ .last_segment = last_segment, .is_running = true };
    return 0;
}

static int child_poll(void *context)
{
    struct sim *sim = context;
    return sim->child.is_running ? 0 : sim->child.succeeded ? 1 : -1;
}

static void child_end(void *context)
{
    struct sim *sim = context;
    sim->child.is_running = false;
    sim->child.succeeded = false;
}

struct snapshotter_host sim_child_host(struct sim *sim)
{
    return (struct snapshotter_host){
        .context = sim,
        .begin = child_begin,
        .poll = child_poll,
        .end = child_end,
    };
}

/* A snapshot is the primary's state at its sequence, and that of a fold from the beginning. */
static void check_snapshot(struct sim *sim, struct engine *engine, const struct snapshot_head *head)
{
    uint8_t hash[32];

    sim_check_lanes(sim, engine, "a snapshot");
    if (head->sequence > journal_durable_seq(sim->core.journal))
        sim_fail(sim, "a snapshot of sequence %lu, which is not durable", head->sequence);
    if (sim_below(sim, GENESIS_ODDS) == 0 && folded_hash(sim, FOLD_GENESIS, head->sequence, hash) &&
        memcmp(hash, head->image_hash, sizeof hash) != 0)
        sim_fail(sim, "the snapshot of sequence %lu is not what its records give", head->sequence);
}

/* All of its work at once, while the rest of the exchange stands still. */
void sim_step_child(struct sim *sim)
{
    struct fold_config config = config_of(sim, FOLD_NEWEST);
    struct refusal refusal = { 0 };
    struct snapshot_head head;
    struct fold fold;

    if (!sim->child.is_running)
        return;
    config.last_segment = sim->child.last_segment;
    bool may_stop = sim_stop_soon(sim, STOP_ODDS, STOP_CALLS);
    enum refusal_kind kind = fold_run(&config, &fold, &refusal);
    if (kind == REFUSAL_none) {
        struct frame_tail tail = {
            .number = fold.frame,
            .last_sequence = fold.frame_end,
            .boot = fold.boot,
        };
        memcpy(tail.hash, fold.frame_hash, sizeof tail.hash);
        kind = fold_write_snapshot(fold.engine, sim->disk, &sim->core.exchange, &tail, &head,
                                   &refusal);
        if (kind == REFUSAL_none)
            check_snapshot(sim, fold.engine, &head);
        fold_free(&fold);
    }
    sim_note(sim, kind == REFUSAL_none ? "snapshot" : "no snapshot", config.last_segment, kind);
    if (kind != REFUSAL_none && !sim->is_faulty && sim->full_until == 0)
        sim_fail(sim, "the child failed: %s", refusal.text);
    sim->outcome->crashes_in_child += sim_stopped(sim, may_stop);
    sim->child.is_running = false;
    sim->child.succeeded = kind == REFUSAL_none;
    sim->outcome->snapshots += kind == REFUSAL_none;
}
