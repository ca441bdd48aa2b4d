#include "store_run.h"

#include <errno.h>

#include "check.h"
#include "support/sim/disk_sim.h"
#include "support/sim/sim_image.h"

enum { TURNS_MAX = 100000, CODE = 2000 };

struct store_options store_run_options(void)
{
    return (struct store_options){
        .durability = JOURNAL_LOCAL,
        .segment_bytes = 32768,
        .frames_in_flight = 4,
        .group_bytes = 0,
        .frame_bytes_max = 8192,
        .buffer_bytes = 1 << 16,
    };
}

/* What stands in a record is a function of its word; if it is dense no shorter when compressed. */
static void payload_fill(uint8_t *out, uint32_t count, uint64_t word, bool is_dense)
{
    cc_store64(out, word);
    for (uint32_t i = 8; i < count; i++) {
        out[i] = (uint8_t)(word >> (is_dense ? 56 : i % 57));
        if (is_dense)
            word = word * UINT64_C(6364136223846793005) + 1;
    }
}

static int apply(void *context, uint64_t sequence, uint64_t frame, const struct record_view *record)
{
    struct store_run *run = context;
    uint8_t want[RECORD_PAYLOAD_MAX];

    CHECK(frame > 0);
    run->applied++;
    if (sequence != run->applied || sequence > run->model->published || record->code != CODE ||
        record->kind != RECORD_UNSIGNED || record->payload_bytes < 8) {
        run->wrong = true;
        return 0;
    }
    payload_fill(want, record->payload_bytes, run->model->words[sequence], run->model->is_dense);
    run->wrong |= memcmp(want, record->payload, record->payload_bytes) != 0;
    return 0;
}

static enum refusal_kind recover(struct store_run *run)
{
    struct recovery_config config = {
        .disk = run->disk,
        .exchange = &run->exchange,
        .segment_bytes = run->options.segment_bytes,
        .apply = apply,
        .context = run,
    };

    return recovery_run(&config, &run->recovered, &run->refusal);
}

enum refusal_kind store_run_begin(struct store_run *run, struct disk *disk,
                                  struct store_model *model, const struct store_options *options)
{
    struct segment_pool_config pool = { .disk = disk, .exchange = &run->exchange, .ahead = 2 };
    struct journal_config journal = { .disk = disk, .exchange = &run->exchange };
    enum refusal_kind kind;
    bool is_new;

    *run = (struct store_run){ .disk = disk, .model = model, .options = *options };
    kind = exchange_file_open(disk, NULL, &run->exchange, &is_new, &run->refusal);
    if (kind == REFUSAL_none)
        kind = recover(run);
    if (kind != REFUSAL_none)
        return kind;
    /* journal.md: a prefix that holds every acknowledged command. */
    CHECK(!run->wrong);
    CHECK(run->applied == run->recovered.position.tail.last_sequence);
    CHECK(run->applied >= model->acknowledged);
    CHECK(run->applied <= model->published);
    model->published = run->applied;
    model->acknowledged = run->applied;

    pool.boot = run->recovered.boot;
    pool.first = run->recovered.position.segment;
    pool.existing_end = run->recovered.segment_end;
    pool.segment_bytes = options->segment_bytes;
    run->pool = segment_pool_create(&pool);
    CHECK(run->pool);
    journal.pool = run->pool;
    journal.position = run->recovered.position;
    journal.witness = run->recovered.witness_slots;
    journal.clock = options->clock;
    journal.durability = options->durability;
    journal.boot = run->recovered.boot;
    journal.buffer_bytes = options->buffer_bytes;
    journal.segment_bytes = options->segment_bytes;
    journal.frames_in_flight = options->frames_in_flight;
    journal.group_bytes = options->group_bytes;
    journal.frame_bytes_max = options->frame_bytes_max;
    run->journal = journal_create(&journal);
    CHECK(run->journal);
    return REFUSAL_none;
}

bool store_run_publish(struct store_run *run, uint32_t payload_bytes)
{
    struct store_model *model = run->model;
    uint8_t payload[RECORD_PAYLOAD_MAX];
    struct record_view record = {
        .t_ns = model->published + 1,
        .code = CODE,
        .kind = RECORD_UNSIGNED,
        .payload_bytes = (uint16_t)payload_bytes,
        .payload = payload,
    };
    uint64_t word = sim_image_random(&model->random);
    uint8_t *out =
        journal_reserve(run->journal, record_length(RECORD_UNSIGNED, payload_bytes, 0, 0));

    if (!out)
        return false;
    payload_fill(payload, payload_bytes, word, model->is_dense);
    (void)record_encode(out, &record);
    CHECK(model->published < STORE_RUN_SEQUENCES_MAX);
    model->words[++model->published] = word;
    journal_publish(run->journal);
    return true;
}

int store_run_step(struct store_run *run)
{
    int prepared = segment_pool_step(run->pool, run->now_ns += 100000000);
    int work = journal_step(run->journal);

    (void)prepared; /* a machine that refuses leaves the pool short; the journal then waits */
    if (run->options.durability == JOURNAL_LOCAL)
        run->model->acknowledged = journal_durable_seq(run->journal);
    CHECK(journal_durable_seq(run->journal) <= run->model->published);
    return work;
}

int store_run_settle(struct store_run *run, int turns)
{
    int work = 0;

    while (turns-- > 0 && work >= 0 && !journal_idle(run->journal))
        work = store_run_step(run);
    return work < 0 ? work : 0;
}

int store_run_stop(struct store_run *run)
{
    int work = 0;

    journal_stop(run->journal);
    for (int turn = 0; turn < TURNS_MAX && work >= 0 && !journal_stopped(run->journal); turn++)
        work = store_run_step(run);
    if (work >= 0)
        CHECK(journal_stopped(run->journal));
    return work < 0 ? work : 0;
}

void store_run_end(struct store_run *run)
{
    journal_destroy(run->journal);
    segment_pool_destroy(run->pool);
    run->journal = NULL;
    run->pool = NULL;
}
