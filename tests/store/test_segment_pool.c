/* Segments are prepared ahead, at a bounded rate, and never named before they are synced zeros. */
#include <errno.h>

#include "check.h"
#include "store/disk_sim.h"
#include "store/segment_pool.h"

enum {
    SEGMENT = 3 << 20, /* three chunks */
    RATE = 1 << 20     /* one a second */
};

static struct exchange_file exchange;

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

    CHECK(segment_pool_take(pool, 0, &block_bytes) == -EAGAIN);
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

    file = segment_pool_take(pool, 0, &block_bytes);
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
    file = segment_pool_take(pool, 1, &block_bytes);
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

int main(void)
{
    memset(&exchange, 0x11, sizeof exchange);
    rate();
    never_half();
    existing();
    no_space();
    return 0;
}
