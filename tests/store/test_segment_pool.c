/* Segments are prepared ahead, at a bounded rate, and never named before they are synced zeros.
 *
 * A sample takes one pair of call and seed in N of the second crashes. */
#include <errno.h>

#include "check.h"
#include "sample.h"
#include "store/segment_pool.h"
#include "support/sim/disk_sim.h"

enum {
    SEGMENT = 3 << 20, /* three chunks */
    RATE = 1 << 20     /* one a second */
};

static struct exchange_file exchange;
static struct test_sample sample;

static struct disk *disk_new(uint64_t bytes_max)
{
    struct disk_sim_config config = {
        .seed = 1, .block_bytes = 4096, .latency_max = 1, .bytes_max = bytes_max
    };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk);
    CHECK(disk_make_folder(disk, "") == 0 && disk_make_folder(disk, "journal") == 0);
    CHECK(disk_sync_folder(disk, "") == 0);
    return disk;
}

static struct segment_pool *pool_new(struct disk *disk, uint64_t first, uint64_t existing_end,
                                     uint64_t rate)
{
    struct segment_pool_config config = {
        .disk = disk,
        .exchange = &exchange,
        .boot = 3,
        .first = first,
        .existing_end = existing_end,
        .bytes_per_s = rate,
        .segment_bytes = SEGMENT,
        .ahead = 2,
    };
    struct segment_pool *pool = segment_pool_create(&config);

    CHECK(pool);
    return pool;
}

static void rate(void)
{
    const uint64_t second = 1000000000;
    struct disk *disk = disk_new(0);
    struct segment_pool *pool = pool_new(disk, 0, 0, RATE);
    uint32_t block_bytes = 0;
    uint64_t written = 0;
    uint64_t now = 0;
    int file;

    CHECK(segment_pool_pop(pool, 0, &block_bytes) == -EAGAIN);
    for (int steps = 0; segment_pool_ready(pool) < 2; steps++) {
        uint64_t due = segment_pool_due_ns(pool);
        int done;

        CHECK(steps < 100 && due != UINT64_MAX);
        if (due > now) {
            CHECK(segment_pool_step(pool, due - 1) == 0); /* not before its time */
            now = due;
        }
        done = segment_pool_step(pool, now);
        CHECK(done > 0 && done <= SEGMENT_POOL_CHUNK_BYTES);
        written += done > 1 ? (uint64_t)done : 0;
        CHECK(written <= (now / second + 1) * RATE + UINT64_C(2) * SEGMENT_FRAMES_OFFSET);
    }
    CHECK(now >= 5 * second && now <= 6 * second); /* six chunks at one a second */
    CHECK(segment_pool_due_ns(pool) == UINT64_MAX);
    CHECK(segment_pool_step(pool, now + second) == 0);
    CHECK(!disk_sim_exists(disk, "journal/0000000000.next"));
    CHECK(disk_sim_file_bytes(disk, "journal/0000000001.seg") == SEGMENT);

    file = segment_pool_pop(pool, 0, &block_bytes);
    CHECK(file >= 0 && block_bytes == 4096);
    CHECK(segment_pool_ready(pool) == 1 && segment_pool_due_ns(pool) <= now);
    disk_close(disk, file);
    segment_pool_destroy(pool);
    disk_sim_destroy(disk);
}

/* At every call of the preparation a power loss leaves a `.next`, or a whole segment of zeros. */
static void never_half(void)
{
    static uint8_t bytes[SEGMENT];

    for (uint64_t call = 1; call < 12; call++) {
        for (uint64_t seed = 0; seed < 6; seed++) {
            struct disk *disk = disk_new(0);
            struct segment_pool *pool = pool_new(disk, 0, 0, 0);
            struct segment_header header;

            disk_sim_stop_at(disk, call);
            while (segment_pool_step(pool, 0) > 0)
                continue;
            disk_sim_crash(disk, seed);
            segment_pool_destroy(pool);
            if (disk_sim_exists(disk, "journal/0000000000.seg")) {
                CHECK(disk_sim_file_bytes(disk, "journal/0000000000.seg") == SEGMENT);
                disk_sim_peek(disk, "journal/0000000000.seg", 0, bytes, SEGMENT);
                CHECK(segment_decode(&header, bytes) == 0);
                CHECK(header.number == 0 && header.boot == 3 && header.block_bytes == 4096);
                for (size_t i = SEGMENT_FRAMES_OFFSET; i < SEGMENT; i++)
                    CHECK(bytes[i] == 0);
            }
            disk_sim_destroy(disk);
        }
    }
}

/* Segments that stand already are opened, not made again; one of another journal is refused. */
static void existing(void)
{
    struct disk *disk = disk_new(0);
    struct segment_pool *pool = pool_new(disk, 0, 0, 0);
    const uint8_t mark = 0x5A;
    uint32_t block_bytes;
    uint8_t byte;
    int file;

    CHECK(segment_pool_fill(pool, 0) >= 0 && segment_pool_ready(pool) == 2);
    segment_pool_destroy(pool);
    disk_sim_poke(disk, "journal/0000000001.seg", SEGMENT - 1, &mark, 1);

    pool = pool_new(disk, 1, 2, 0);
    CHECK(segment_pool_fill(pool, 0) >= 0 && segment_pool_ready(pool) == 2);
    file = segment_pool_pop(pool, 1, &block_bytes);
    CHECK(file >= 0 && disk_read(disk, file, SEGMENT - 1, &byte, 1) == 1 && byte == mark);
    CHECK(disk_sim_exists(disk, "journal/0000000002.seg"));
    disk_close(disk, file);
    segment_pool_destroy(pool);

    exchange.journal_id[0] ^= 1;
    pool = pool_new(disk, 1, 3, 0);
    CHECK(segment_pool_step(pool, 0) == -EBADMSG);
    CHECK(segment_pool_error(pool) == -EBADMSG && segment_pool_ready(pool) == 0);
    exchange.journal_id[0] ^= 1;
    segment_pool_destroy(pool);
    disk_sim_destroy(disk);
}

/* No space: said, tried again after a second, and forgotten once it succeeds. */
static void no_space(void)
{
    struct disk *disk = disk_new(SEGMENT + 4096);
    struct segment_pool *pool = pool_new(disk, 0, 0, 0);
    uint64_t now = 1;

    CHECK(segment_pool_fill(pool, now) == -ENOSPC);
    CHECK(segment_pool_ready(pool) == 1 && segment_pool_error(pool) == -ENOSPC);
    CHECK(segment_pool_step(pool, now + SEGMENT_POOL_RETRY_NS - 1) == 0);
    CHECK(segment_pool_due_ns(pool) == now + SEGMENT_POOL_RETRY_NS);
    now += SEGMENT_POOL_RETRY_NS;
    disk_sim_remove(disk, "journal/0000000000.seg"); /* space is back */
    for (int i = 0; i < 10 && segment_pool_ready(pool) < 2; i++)
        CHECK(segment_pool_step(pool, now) > 0);
    CHECK(segment_pool_ready(pool) == 2 && segment_pool_error(pool) == 0);
    segment_pool_destroy(pool);
    disk_sim_destroy(disk);
}

/* ---- recycling ------------------------------------------------------------------------------- */

enum { SMALL = 64 << 10, MARK = 0x5A, LAST_OFFSET = SMALL - 4096 };

static struct disk *small_disk(uint64_t bytes_max)
{
    struct disk *disk = disk_new(bytes_max);

    CHECK(disk_make_folder(disk, "snapshot") == 0 && disk_make_folder(disk, "archive") == 0);
    CHECK(disk_sync_folder(disk, "") == 0);
    return disk;
}

static struct segment_pool *small_pool(struct disk *disk, uint64_t first, uint64_t existing_end)
{
    struct segment_pool_config config = {
        .disk = disk,
        .exchange = &exchange,
        .boot = 3,
        .first = first,
        .existing_end = existing_end,
        .segment_bytes = SMALL,
        .ahead = 2,
    };
    struct segment_pool *pool = segment_pool_create(&config);

    CHECK(pool);
    return pool;
}

/* Takes a segment and writes into its first and last block. */
static void segment_use(struct disk *disk, struct segment_pool *pool, uint64_t number)
{
    uint8_t bytes[4096];
    uint32_t block_bytes;
    int file = segment_pool_pop(pool, number, &block_bytes);

    CHECK(file >= 0);
    memset(bytes, MARK, sizeof bytes);
    CHECK(disk_write(disk, file, SEGMENT_FRAMES_OFFSET, bytes, sizeof bytes) == 0);
    CHECK(disk_write(disk, file, LAST_OFFSET, bytes, sizeof bytes) == 0);
    CHECK(disk_sync(disk, file) == 0);
    disk_close(disk, file);
}

/* Segments 0 to 3 were written and stand, 4 and 5 are prepared; the pool will make 6 when 4 is
 * taken. */
static struct segment_pool *written_pool(struct disk *disk)
{
    struct segment_pool *pool = small_pool(disk, 0, 0);

    for (uint64_t n = 0; n < 4; n++) {
        CHECK(segment_pool_fill(pool, 0) >= 0);
        segment_use(disk, pool, n);
    }
    CHECK(segment_pool_fill(pool, 0) >= 0);
    CHECK(segment_pool_ready(pool) == 2);
    return pool;
}

/* Each segment that has its name is whole: as it was written, or zeros behind its header. Those
 * that stand have numbers without a gap. Gives the first and the end of them. */
static void journal_check(struct disk *disk, uint64_t *first, uint64_t *end)
{
    static uint8_t bytes[SMALL];
    bool is_over = false;

    *first = UINT64_MAX;
    *end = 0;
    for (uint64_t n = 0; n < 16; n++) {
        struct segment_header header;
        char path[DISK_PATH_BYTES];
        uint8_t want = n < 4 ? MARK : 0;

        segment_path(path, n, true);
        if (!disk_sim_exists(disk, path)) {
            is_over = *first != UINT64_MAX;
            continue;
        }
        CHECK(!is_over);
        *first = *first == UINT64_MAX ? n : *first;
        *end = n + 1;
        CHECK(disk_sim_file_bytes(disk, path) == SMALL);
        disk_sim_peek(disk, path, 0, bytes, SMALL);
        CHECK(segment_decode(&header, bytes) == 0 && header.number == n);
        for (size_t i = SEGMENT_FRAMES_OFFSET; i < SMALL; i++)
            CHECK(bytes[i] == (i < SEGMENT_FRAMES_OFFSET + 4096 || i >= LAST_OFFSET ? want : 0));
    }
}

/* The lowest retired one becomes the next; no space is taken; the others keep their names. */
static void recycled(void)
{
    struct disk *disk = small_disk(6 * SMALL + 4096); /* exactly those that stand */
    struct segment_pool *pool = written_pool(disk);
    uint64_t first;
    uint64_t end;

    segment_use(disk, pool, 4);
    CHECK(segment_pool_fill(pool, 1) == -ENOSPC);
    CHECK(segment_pool_ready(pool) == 1 && segment_pool_error(pool) == -ENOSPC);
    segment_pool_retire(pool, 0);
    segment_pool_retire(pool, 1);
    CHECK(segment_pool_retired(pool) == 2);
    CHECK(segment_pool_fill(pool, 1) >= 0);
    CHECK(segment_pool_ready(pool) == 2 && segment_pool_error(pool) == 0);
    CHECK(segment_pool_retired(pool) == 1);
    CHECK(!disk_sim_exists(disk, "journal/0000000000.seg"));
    CHECK(!disk_sim_exists(disk, "journal/0000000006.next"));
    CHECK(disk_sim_exists(disk, "journal/0000000001.seg"));
    segment_use(disk, pool, 5);
    segment_pool_retire(pool, 2);
    CHECK(segment_pool_fill(pool, 1) >= 0);
    CHECK(segment_pool_retired(pool) == 1);
    CHECK(!disk_sim_exists(disk, "journal/0000000001.seg"));
    CHECK(disk_sim_exists(disk, "journal/0000000007.seg"));
    disk_sim_poke(disk, "journal/0000000004.seg", SEGMENT_FRAMES_OFFSET, (uint8_t[4096]){ 0 },
                  4096);
    disk_sim_poke(disk, "journal/0000000004.seg", LAST_OFFSET, (uint8_t[4096]){ 0 }, 4096);
    disk_sim_poke(disk, "journal/0000000005.seg", SEGMENT_FRAMES_OFFSET, (uint8_t[4096]){ 0 },
                  4096);
    disk_sim_poke(disk, "journal/0000000005.seg", LAST_OFFSET, (uint8_t[4096]){ 0 }, 4096);
    journal_check(disk, &first, &end);
    CHECK(first == 2 && end == 8);
    segment_pool_destroy(pool);
    disk_sim_destroy(disk);
}

/* A pool that goes on with what stands, as the next start does. */
static struct segment_pool *later_pool(struct disk *disk)
{
    uint64_t first;
    uint64_t end;

    journal_check(disk, &first, &end);
    CHECK(first <= 1 && end >= 6);
    return small_pool(disk, 4, end);
}

static void fill_to(struct segment_pool *pool)
{
    int done;

    do
        done = segment_pool_step(pool, 0);
    while (done > 0);
}

/* The process dies at every call of a recycling, by a kill or a power loss; the next one is cut
 * short at every call by a power loss: what has a name is whole, and no number is missing. */
static void recycled_and_cut_short(void)
{
    uint64_t crashes = 0;

    for (uint64_t call = 1; call <= 12; call++) {
        for (uint64_t seed = 0; seed < 12; seed++) {
            if (!sample_takes(&sample, call + seed))
                continue;
            struct disk *disk = small_disk(0);
            struct segment_pool *pool = written_pool(disk);
            uint64_t first;
            uint64_t end;

            disk_close(disk, segment_pool_pop(pool, 4, &(uint32_t){ 0 }));
            segment_pool_retire(pool, 0);
            disk_sim_stop_at(disk, call);
            fill_to(pool);
            CHECK(segment_pool_ready(pool) == 1 + (call > 9)); /* 9 calls make one */
            if (seed % 2 == 0)
                disk_sim_kill(disk, seed);
            else
                disk_sim_crash(disk, seed);
            segment_pool_destroy(pool);
            journal_check(disk, &first, &end);
            for (uint64_t again = 1; again <= 12; again++) {
                struct disk *copy = disk_sim_copy(disk);

                pool = later_pool(copy);
                CHECK(segment_pool_fill(pool, 0) >= 0);
                disk_close(copy, segment_pool_pop(pool, 4, &(uint32_t){ 0 }));
                if (first == 0)
                    segment_pool_retire(pool, 0);
                disk_sim_stop_at(copy, again);
                fill_to(pool);
                disk_sim_crash(copy, seed * 100 + again);
                segment_pool_destroy(pool);
                journal_check(copy, &first, &end);
                CHECK(end >= 6);
                disk_sim_destroy(copy);
                crashes++;
            }
            disk_sim_destroy(disk);
        }
    }
    printf("recycling: %llu second crashes\n", (unsigned long long)crashes);
}

/* A full disk gives a later process what an earlier one had begun to use again. */
static void recycled_on_a_full_disk(void)
{
    for (uint64_t call = 4; call <= 9; call++) { /* 1 to 3: two syncs and the renaming */
        struct disk *disk = small_disk(6 * SMALL + 4096);
        struct segment_pool *pool = written_pool(disk);
        uint64_t first;
        uint64_t end;

        disk_close(disk, segment_pool_pop(pool, 4, &(uint32_t){ 0 }));
        segment_pool_retire(pool, 0);
        disk_sim_stop_at(disk, call);
        fill_to(pool);
        disk_sim_kill(disk, call);
        segment_pool_destroy(pool);
        journal_check(disk, &first, &end);
        CHECK(first == 1);
        pool = later_pool(disk);
        CHECK(segment_pool_fill(pool, 0) >= 0);
        disk_close(disk, segment_pool_pop(pool, 4, &(uint32_t){ 0 }));
        CHECK(segment_pool_fill(pool, 0) >= 0); /* the seventh, of the first's bytes */
        journal_check(disk, &first, &end);
        CHECK(first == 1 && end == 7);
        segment_pool_destroy(pool);
        disk_sim_destroy(disk);
    }
}

/* Refused at every call: said, tried again after a second, and the retired file is used. */
static void recycled_and_refused(void)
{
    bool is_over = false;

    for (uint64_t call = 1; !is_over; call++) {
        struct disk *disk = small_disk(0);
        struct segment_pool *pool = written_pool(disk);
        uint64_t first;
        uint64_t end;

        disk_close(disk, segment_pool_pop(pool, 4, &(uint32_t){ 0 }));
        segment_pool_retire(pool, 0);
        disk_sim_fail(disk, call, call % 2 == 0 ? DISK_SIM_EIO : DISK_SIM_ENOSPC, false);
        fill_to(pool);
        is_over = segment_pool_ready(pool) == 2;
        CHECK(is_over || segment_pool_error(pool) < 0);
        CHECK(segment_pool_step(pool, SEGMENT_POOL_RETRY_NS - 1) == 0);
        CHECK(segment_pool_fill(pool, SEGMENT_POOL_RETRY_NS) >= 0);
        CHECK(segment_pool_ready(pool) == 2 && segment_pool_retired(pool) == 0);
        disk_sim_crash(disk, call);
        segment_pool_destroy(pool);
        journal_check(disk, &first, &end);
        CHECK(first == 1 && end == 7);
        disk_sim_destroy(disk);
    }
}

int main(void)
{
    sample = sample_read();
    memset(&exchange, 0x11, sizeof exchange);
    exchange.era_count = 0;
    rate();
    never_half();
    existing();
    no_space();
    recycled();
    recycled_and_cut_short();
    recycled_on_a_full_disk();
    recycled_and_refused();
    return 0;
}
