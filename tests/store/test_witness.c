/* The file `witness` (journal.md, Witness): its bytes, when it is written, that no answer waits for
 * it, and what a start makes of a journal that does not reach it. */
#include <errno.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "check.h"
#include "store/segment.h"
#include "store/witness.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"

enum { BLOCK = 512, PAYLOAD = 3000, NS_PER_S = 1000000000 };

static struct store_model model;
static struct clock test_clock;

static struct disk *disk_new(void)
{
    struct disk_sim_config config = { .seed = 21, .block_bytes = BLOCK, .latency_max = 1 };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk);
    memset(&model, 0, sizeof model);
    clock_init_simulated(&test_clock, UINT64_C(7) * NS_PER_S);
    return disk;
}

static struct store_options options_timed(void)
{
    struct store_options options = store_run_options();

    options.clock = &test_clock;
    return options;
}

static struct witness newest(struct disk *disk, const struct exchange_file *exchange)
{
    struct slot_location place;
    struct witness witness;

    CHECK(witness_read(disk, exchange, &witness, &place) == 0);
    return witness;
}

static void publish(struct store_run *run, int count)
{
    for (int i = 0; i < count; i++) {
        CHECK(store_run_publish(run, PAYLOAD));
        CHECK(store_run_settle(run, 100) == 0);
    }
}

/* A disk with so many frames, each of 7 blocks, after a clean stop. */
static struct disk *disk_of(int frames)
{
    struct store_options options = options_timed();
    struct disk *disk = disk_new();
    struct store_run run;

    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    publish(&run, frames);
    CHECK(store_run_stop(&run) == 0);
    disk_sim_crash(disk, 1);
    store_run_end(&run);
    return disk;
}

static enum refusal_kind begin(struct store_run *run, struct disk *disk)
{
    struct store_options options = options_timed();
    enum refusal_kind kind = store_run_begin(run, disk, &model, &options);

    disk_sim_kill(disk, 1);
    if (kind == REFUSAL_none)
        store_run_end(run);
    return kind;
}

/* ---- format ---------------------------------------------------------------------------------- */

static void offsets(void)
{
    struct disk *disk = disk_of(9);
    struct store_run run;
    uint8_t newest_bytes[SLOT_BYTES] = { 0 };
    uint8_t bytes[SLOT_BYTES];
    uint64_t counters = 0;

    CHECK(disk_sim_file_bytes(disk, "witness") == 4 * 4096);
    CHECK(begin(&run, disk) == REFUSAL_none);
    for (uint64_t slot = 0; slot < 4; slot++) {
        disk_sim_peek(disk, "witness", slot * 4096, bytes, sizeof bytes);
        CHECK(memcmp(bytes, "perpdWIT", 8) == 0);
        CHECK(cc_load16(bytes + 8) == 1);
        CHECK(cc_load16(bytes + 10) == 4096);
        CHECK(cc_load32(bytes + 12) == crc32c(bytes + 16, 4080));
        CHECK(memcmp(bytes + 16, run.exchange.journal_id, 16) == 0);
        CHECK(memcmp(bytes + 32, run.exchange.exchange_id, 32) == 0);
        CHECK(cc_load64(bytes + 136) == cc_load64(bytes + 96)); /* alone its frames say it too */
        for (size_t i = 144; i < sizeof bytes; i++)
            CHECK(bytes[i] == 0);
        if (cc_load64(bytes + 120) > counters)
            memcpy(newest_bytes, bytes, sizeof bytes);
        counters = cc_load64(bytes + 120) > counters ? cc_load64(bytes + 120) : counters;
    }
    CHECK(memcmp(newest_bytes + 64, run.recovered.position.tail.hash, 32) == 0);
    CHECK(cc_load64(newest_bytes + 96) == 2);   /* this boot */
    CHECK(cc_load64(newest_bytes + 104) == 10); /* with the closing frame */
    CHECK(cc_load64(newest_bytes + 112) == 9);
    CHECK(cc_load64(newest_bytes + 128) == UINT64_C(7) * NS_PER_S);
    disk_sim_destroy(disk);
}

/* ---- when ------------------------------------------------------------------------------------ */

/* At a start, at the first frame of a segment, once a second, and at a clean stop. */
static void written_when(void)
{
    struct store_options options = options_timed();
    struct disk *disk = disk_new();
    struct store_run run;

    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    CHECK(newest(disk, &run.exchange).frame == 0 && newest(disk, &run.exchange).boot == 1);
    publish(&run, 3);
    CHECK(newest(disk, &run.exchange).frame == 0); /* no second is over */
    clock_advance(&test_clock, NS_PER_S - 1);
    publish(&run, 1);
    CHECK(newest(disk, &run.exchange).frame == 0);
    clock_advance(&test_clock, 1);
    CHECK(store_run_step(&run) == 1 && store_run_settle(&run, 100) == 0); /* without a new frame */
    CHECK(newest(disk, &run.exchange).frame == 4 && newest(disk, &run.exchange).sequence == 4);
    CHECK(newest(disk, &run.exchange).wall_ns == UINT64_C(8) * NS_PER_S);
    clock_advance(&test_clock, 10 * UINT64_C(1000000000));
    CHECK(store_run_step(&run) == 0); /* it is named already */
    publish(&run, 1);
    CHECK(store_run_settle(&run, 100) == 0);
    CHECK(newest(disk, &run.exchange).frame == 5);
    publish(&run, 4); /* eight fit in a segment of 56 blocks behind its header: 9 is in the next */
    CHECK(store_run_settle(&run, 100) == 0);
    CHECK(newest(disk, &run.exchange).frame == 9);
    publish(&run, 2);
    CHECK(newest(disk, &run.exchange).frame == 9);
    CHECK(store_run_stop(&run) == 0);
    CHECK(newest(disk, &run.exchange).frame == 12 && newest(disk, &run.exchange).sequence == 11);
    disk_sim_crash(disk, 3);
    store_run_end(&run);
    CHECK(begin(&run, disk) == REFUSAL_none && run.recovered.clean_stop);
    disk_sim_destroy(disk);
}

/* With `none` it keeps what the start found, whatever is written. */
static void none_promises_nothing(void)
{
    struct store_options options = options_timed();
    struct disk *disk = disk_of(5);
    struct store_run run;

    options.durability = JOURNAL_NONE;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    for (int i = 0; i < 20; i++) {
        clock_advance(&test_clock, NS_PER_S);
        publish(&run, 1);
    }
    CHECK(store_run_stop(&run) == 0);
    CHECK(newest(disk, &run.exchange).frame == 6);
    disk_sim_crash(disk, 7);
    store_run_end(&run);
    CHECK(begin(&run, disk) == REFUSAL_none);
    disk_sim_destroy(disk);
}

/* A slot whose write hangs holds up no frame; a clean stop alone waits for it. */
static void off_the_path(void)
{
    struct store_options options = options_timed();
    struct disk *disk = disk_new();
    struct store_run run;

    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    publish(&run, 1);
    clock_advance(&test_clock, NS_PER_S);
    disk_sim_set_latency(disk, 0);
    CHECK(store_run_step(&run) == 1 && disk_sim_in_flight(disk) == 1); /* the slot */
    disk_sim_set_latency(disk, 1);
    for (uint64_t i = 2; i < 6; i++) {
        CHECK(store_run_publish(&run, PAYLOAD));
        for (int turn = 0; turn < 10; turn++)
            CHECK(store_run_step(&run) >= 0);
        CHECK(model.acknowledged == i);
        CHECK(disk_sim_in_flight(disk) == 1);
    }
    journal_stop(run.journal);
    for (int turn = 0; turn < 10; turn++)
        CHECK(store_run_step(&run) >= 0);
    CHECK(!journal_stopped(run.journal));
    disk_sim_complete(disk, 0);
    CHECK(store_run_stop(&run) == 0);
    CHECK(newest(disk, &run.exchange).frame == 6);
    disk_sim_kill(disk, 1);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

/* ---- what a start makes of it ---------------------------------------------------------------- */

/* The newest segments gone, or all of them: refused with both numbers, and nothing is written. */
static void end_is_lost(void)
{
    struct disk *disk = disk_of(30);
    struct segment_range range;
    uint64_t digest;
    char path[DISK_PATH_BYTES];
    struct store_run run;

    CHECK(segment_range_of(disk, &range) == 0 && range.max >= 3);
    for (uint64_t n = range.max; n > range.min; n--) {
        segment_path(path, n, true);
        disk_sim_remove(disk, path);
        digest = disk_sim_digest(disk);
        struct disk *copy = disk_sim_copy(disk);

        enum refusal_kind kind = begin(&run, copy);
        bool is_prepared = n * 8 >= 32; /* 30 frames and the closing one end in segment 3 */
        CHECK((kind == REFUSAL_none) == is_prepared);
        if (!is_prepared) {
            CHECK(kind == REFUSAL_witness_ahead || kind == REFUSAL_frame_damaged);
            CHECK(refusal_exit_code(kind) == 3);
            CHECK(kind != REFUSAL_witness_ahead || strstr(run.refusal.text, "names frame 31"));
            CHECK(disk_sim_digest(copy) == digest);
        }
        disk_sim_destroy(copy);
    }
    disk_sim_destroy(disk);
}

/* Any one slot of the newest is enough; older ones let an older end pass; none: refused. */
static void slots_damaged(void)
{
    struct disk *disk = disk_of(12);

    for (uint32_t damaged = 0; damaged < 17; damaged++) {
        struct disk *copy = disk_sim_copy(disk);
        struct store_run run;

        for (uint32_t i = 0; i < 4 && damaged < 16; i++)
            if ((damaged & 1U << i) != 0)
                disk_sim_poke(copy, "witness", i * 4096 + 2000, "x", 1);
        if (damaged == 16)
            disk_sim_remove(copy, "witness");
        enum refusal_kind kind = begin(&run, copy);
        CHECK(kind == (damaged < 15 ? REFUSAL_none : REFUSAL_witness_damaged));
        CHECK(refusal_exit_code(REFUSAL_witness_damaged) == 3);
        if (kind == REFUSAL_none) {
            CHECK(run.recovered.witness_damaged == damaged);
            CHECK(begin(&run, copy) == REFUSAL_none && run.recovered.witness_damaged == 0);
        }
        disk_sim_destroy(copy);
    }
    disk_sim_destroy(disk);
}

/* Another chain of the same journal up to the same frame, with every sum right. */
static void other_chain(void)
{
    struct disk *one = disk_of(2);
    struct disk *other = disk_sim_copy(one);
    struct store_model before = model;
    uint8_t slots[SLOT_FILE_BYTES];
    struct store_run run;

    for (int i = 0; i < 2; i++) {
        struct store_options options = options_timed();
        struct disk *disk = i == 0 ? one : other;

        model = before;
        model.random = 77 + (uint64_t)i;
        CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
        CHECK(segment_pool_fill(run.pool, 0) >= 0);
        publish(&run, 3);
        CHECK(store_run_stop(&run) == 0);
        disk_sim_crash(disk, 1);
        store_run_end(&run);
    }
    disk_sim_peek(one, "witness", 0, slots, sizeof slots);
    disk_sim_poke(other, "witness", 0, slots, sizeof slots);
    CHECK(begin(&run, other) == REFUSAL_witness_differs);
    CHECK(refusal_exit_code(REFUSAL_witness_differs) == 3);
    disk_sim_destroy(one);
    disk_sim_destroy(other);
}

/* One that ran once more, and what is left of it when all but `exchange` is put back. */
static struct disk *disk_put_back(struct disk *disk)
{
    struct disk *older = disk_sim_copy(disk);
    struct store_options options = options_timed();
    uint8_t slots[SLOT_FILE_BYTES];
    struct store_run run;

    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    publish(&run, 3);
    CHECK(store_run_stop(&run) == 0);
    disk_sim_crash(disk, 1);
    store_run_end(&run);
    disk_sim_peek(disk, "exchange", 0, slots, sizeof slots);
    disk_sim_poke(older, "exchange", 0, slots, sizeof slots);
    return older;
}

/* `exchange` counts a start that nothing else knows: refused, and nothing is written. A slot that
 * is not whole may have been that start's. A start that a crash cut anywhere is no such thing. */
static void older_but_for_exchange(void)
{
    struct disk *disk = disk_of(12);
    struct store_model before = model;
    struct disk *older = disk_put_back(disk);
    struct store_run run;
    bool is_over = false;

    uint64_t digest = disk_sim_digest(older);
    CHECK(begin(&run, older) == REFUSAL_witness_older);
    CHECK(refusal_exit_code(REFUSAL_witness_older) == 3);
    CHECK(strstr(run.refusal.text, "is of start 1, `exchange` of start 2, the journal ends with "
                                   "frame 13, sequence 12"));
    CHECK(disk_sim_digest(older) == digest);
    for (uint64_t call = 1; !is_over; call++) {
        struct disk *copy = disk_sim_copy(disk);

        disk_sim_stop_at(copy, call);
        is_over = begin(&run, copy) == REFUSAL_none && !disk_sim_is_stopped(copy);
        disk_sim_crash(copy, call);
        CHECK(begin(&run, copy) == REFUSAL_none);
        disk_sim_destroy(copy);
    }
    disk_sim_poke(older, "witness", 2000, "x", 1);
    model = before;
    CHECK(begin(&run, older) == REFUSAL_none);
    disk_sim_destroy(older);
    disk_sim_destroy(disk);
}

/* A directory of the former format has no witness; it gets one once, also when it crashes. */
static void former_format(void)
{
    static const struct file_kind former = { .magic = { 'p', 'e', 'r', 'p', 'd', 'E', 'X', 'C' },
                                             .format_version = 1,
                                             .header_bytes = 256 };
    struct disk *disk = disk_of(12);
    uint8_t bytes[SLOT_BYTES];
    bool is_over = false;

    disk_sim_peek(disk, "exchange", 0, bytes, sizeof bytes);
    memset(bytes + 120, 0, sizeof bytes - 120);
    file_head_seal(bytes, 256, &former);
    int file = disk_open(disk, "exchange", DISK_CREATE);
    CHECK(file >= 0 && disk_write(disk, file, 0, bytes, 256) == 0 && disk_sync(disk, file) == 0);
    disk_close(disk, file);
    disk_sim_remove(disk, "witness");
    for (uint64_t call = 1; !is_over; call++) {
        struct disk *copy = disk_sim_copy(disk);
        struct store_run run;

        disk_sim_stop_at(copy, call);
        is_over = begin(&run, copy) == REFUSAL_none && !disk_sim_is_stopped(copy);
        CHECK(!is_over || run.recovered.is_upgraded);
        disk_sim_crash(copy, call);
        CHECK(begin(&run, copy) == REFUSAL_none);
        CHECK(newest(copy, &run.exchange).frame == 13);
        CHECK(begin(&run, copy) == REFUSAL_none && !run.recovered.is_upgraded);
        disk_sim_remove(copy, "witness");
        CHECK(begin(&run, copy) == REFUSAL_witness_damaged);
        disk_sim_destroy(copy);
    }
    disk_sim_destroy(disk);
}

/* A full disk: the slots are there, so a start needs no space. */
static void full_disk(void)
{
    struct disk *disk = disk_of(5);
    struct store_run run;

    disk_sim_set_full(disk, true);
    for (uint64_t boot = 2; boot < 8; boot++) {
        CHECK(begin(&run, disk) == REFUSAL_none);
        CHECK(run.recovered.boot == boot && newest(disk, &run.exchange).boot == boot);
    }
    disk_sim_destroy(disk);
}

int main(void)
{
    offsets();
    written_when();
    none_promises_nothing();
    off_the_path();
    end_is_lost();
    slots_damaged();
    other_chain();
    older_but_for_exchange();
    former_format();
    full_disk();
    return 0;
}
