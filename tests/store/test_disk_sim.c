/* The simulated disk keeps the law of disk.h and uses all of it: what was synced survives every
 * crash; of what was not, every lawful remainder is seen under some seed. */
#include <errno.h>

#include "check.h"
#include "support/sim/disk_sim.h"
#include "support/sim/sim_image.h"

enum { BLOCK = 512, SEEDS = 400 };

static struct disk *disk_new(uint64_t seed, uint32_t latency_max)
{
    struct disk_sim_config config = { .seed = seed,
                                      .block_bytes = BLOCK,
                                      .latency_max = latency_max };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk);
    CHECK(disk_make_folder(disk, "") == 0);
    CHECK(disk_make_folder(disk, "journal") == 0);
    CHECK(disk_sync_folder(disk, "") == 0);
    return disk;
}

/* A durable file of `blocks` blocks, each full of `fill`. */
static int file_new(struct disk *disk, const char *path, int blocks, uint8_t fill)
{
    int file = disk_open(disk, path, DISK_CREATE);
    uint8_t bytes[BLOCK];

    CHECK(file >= 0);
    memset(bytes, fill, sizeof bytes);
    for (int i = 0; i < blocks; i++)
        CHECK(disk_write(disk, file, (uint64_t)i * BLOCK, bytes, sizeof bytes) == 0);
    CHECK(disk_sync(disk, file) == 0);
    CHECK(disk_sync_folder(disk, "journal") == 0);
    return file;
}

static uint8_t first_byte(struct disk *disk, const char *path, int block)
{
    uint8_t bytes[BLOCK];

    disk_sim_peek(disk, path, (uint64_t)block * BLOCK, bytes, sizeof bytes);
    for (int i = 1; i < BLOCK; i++)
        CHECK(bytes[i] == bytes[0]); /* a block is never torn inside */
    return bytes[0];
}

/* A write in flight over three blocks: each of the eight outcomes, and no other. Rewritten blocks
 * keep any version. */
static void torn_writes(void)
{
    int seen[8] = { 0 };
    int versions[4] = { 0 };

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct disk *disk = disk_new(seed, 0);
        int file = file_new(disk, "journal/a", 5, 1);
        uint8_t bytes[3 * BLOCK];
        int outcome = 0;

        memset(bytes, 2, sizeof bytes);
        CHECK(disk_submit(disk, file, BLOCK, bytes, sizeof bytes, 7, true) == 0);
        memset(bytes, 3, BLOCK);
        CHECK(disk_write(disk, file, 4 * BLOCK, bytes, BLOCK) == 0);
        memset(bytes, 4, BLOCK);
        CHECK(disk_write(disk, file, 4 * BLOCK, bytes, BLOCK) == 0);
        disk_sim_crash(disk, seed);
        CHECK(first_byte(disk, "journal/a", 0) == 1);
        for (int i = 0; i < 3; i++) {
            uint8_t byte = first_byte(disk, "journal/a", 1 + i);

            CHECK(byte == 1 || byte == 2);
            outcome |= (byte == 2) << i;
        }
        seen[outcome]++;
        CHECK(first_byte(disk, "journal/a", 4) != 2);
        CHECK(first_byte(disk, "journal/a", 4) <= 4);
        versions[first_byte(disk, "journal/a", 4) - 1]++;
        disk_sim_destroy(disk);
    }
    for (int i = 0; i < 8; i++)
        CHECK(seen[i] > SEEDS / 40);
    CHECK(versions[0] > SEEDS / 6 && versions[2] > SEEDS / 6 && versions[3] > SEEDS / 6);
}

/* A durable write that was reaped is never lost; one that was not durable may be, until a sync. */
static void reaped_writes(void)
{
    int lost = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct disk *disk = disk_new(seed, 3);
        int file = file_new(disk, "journal/a", 3, 1);
        struct disk_done done[4];
        uint8_t bytes[BLOCK];
        int count = 0;

        memset(bytes, 2, sizeof bytes);
        CHECK(disk_submit(disk, file, 0, bytes, BLOCK, 0, true) == 0);
        CHECK(disk_submit(disk, file, BLOCK, bytes, BLOCK, 1, false) == 0);
        CHECK(disk_submit(disk, file, 2 * BLOCK, bytes, BLOCK, 2, false) == 0);
        while (count < 3)
            count += disk_reap(disk, done, 4);
        CHECK(first_byte(disk, "journal/a", 1) == 2); /* readable at once */
        if (seed % 2 == 0)
            CHECK(disk_sync(disk, file) == 0);
        disk_sim_crash(disk, seed);
        CHECK(first_byte(disk, "journal/a", 0) == 2);
        if (seed % 2 == 0)
            CHECK(first_byte(disk, "journal/a", 1) == 2);
        lost += first_byte(disk, "journal/a", 1) == 1;
        disk_sim_destroy(disk);
    }
    CHECK(lost > SEEDS / 8);
}

/* Completions come in any order, all of them, each once. */
static void completion_orders(void)
{
    int first[4] = { 0 };

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct disk *disk = disk_new(seed, 4);
        int file = file_new(disk, "journal/a", 4, 1);
        uint8_t bytes[BLOCK] = { 0 };
        unsigned mask = 0;
        int order = 0;

        for (uint64_t tag = 0; tag < 4; tag++)
            CHECK(disk_submit(disk, file, tag * BLOCK, bytes, BLOCK, tag, true) == 0);
        for (int turn = 0; turn < 5; turn++) {
            struct disk_done done[4];
            int count = disk_reap(disk, done, 4);

            for (int i = 0; i < count; i++) {
                CHECK(done[i].result == BLOCK && (mask >> done[i].tag & 1U) == 0);
                mask |= 1U << done[i].tag;
                if (order++ == 0)
                    first[done[i].tag]++;
            }
        }
        CHECK(mask == 15 && disk_sim_in_flight(disk) == 0);
        disk_sim_destroy(disk);
    }
    for (int i = 0; i < 4; i++)
        CHECK(first[i] > SEEDS / 12);
}

/* Names: a prefix of a folder's changes survives; a rename is the one or the other. */
static void names(void)
{
    int outcomes[3] = { 0 };

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct disk *disk = disk_new(seed, 1);
        int file = file_new(disk, "journal/a", 1, 1);
        int other = disk_open(disk, "journal/b", DISK_CREATE);
        bool renamed;
        bool made;

        CHECK(file >= 0 && other >= 0);
        CHECK(disk_rename(disk, "journal/a", "journal/c") == 0);
        CHECK(!disk_sim_exists(disk, "journal/a") && disk_sim_exists(disk, "journal/c"));
        disk_sim_crash(disk, seed);
        made = disk_sim_exists(disk, "journal/b");
        renamed = disk_sim_exists(disk, "journal/c");
        CHECK(disk_sim_exists(disk, "journal/a") != renamed);
        CHECK(made || !renamed); /* in the order they were made */
        outcomes[made + renamed]++;
        disk_sim_destroy(disk);
    }
    for (int i = 0; i < 3; i++)
        CHECK(outcomes[i] > SEEDS / 6);
}

/* A removed name is gone at once and may come back, with its bytes, until its folder is synced. */
static void removals(void)
{
    int back = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct disk *disk = disk_new(seed, 1);
        int file = file_new(disk, "journal/a", 1, 1);
        const bool is_synced = seed % 2 == 0;
        uint8_t byte = 0;

        CHECK(disk_remove(disk, "journal/a") == 0);
        CHECK(!disk_sim_exists(disk, "journal/a"));
        CHECK(disk_remove(disk, "journal/a") == -ENOENT);
        CHECK(disk_open(disk, "journal/a", 0) == -ENOENT);
        if (is_synced)
            CHECK(disk_sync_folder(disk, "journal") == 0);
        CHECK(disk_read(disk, file, 0, &byte, 1) == 1 && byte == 1); /* who has it open */
        disk_sim_crash(disk, seed);
        if (disk_sim_exists(disk, "journal/a")) {
            CHECK(!is_synced && first_byte(disk, "journal/a", 0) == 1);
            back++;
        }
        disk_sim_destroy(disk);
    }
    CHECK(back > SEEDS / 8 && back < SEEDS * 3 / 8);
}

/* A file that is emptied is, until it is synced, what it was, empty, or a mixture with what was
 * written since; afterwards what it was never comes back. */
static void emptied(void)
{
    int outcomes[3] = { 0 };

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct disk *disk = disk_new(seed, 1);
        uint8_t bytes[BLOCK];
        uint8_t byte;
        int file;

        disk_close(disk, file_new(disk, "journal/a", 3, 1));
        file = disk_open(disk, "journal/a", DISK_CREATE);
        CHECK(file >= 0 && disk_size(disk, file) == 0);
        CHECK(disk_read(disk, file, 0, bytes, BLOCK) == 0);
        memset(bytes, 2, sizeof bytes);
        CHECK(disk_write(disk, file, 0, bytes, BLOCK) == 0);
        CHECK(disk_size(disk, file) == BLOCK);
        if (seed % 4 == 0)
            CHECK(disk_sync(disk, file) == 0);
        disk_sim_crash(disk, seed);
        CHECK(seed % 4 != 0 || disk_sim_file_bytes(disk, "journal/a") == BLOCK);
        if (disk_sim_file_bytes(disk, "journal/a") == 0) {
            outcomes[0]++;
        } else {
            byte = first_byte(disk, "journal/a", 0);
            CHECK(byte == 2 || (byte == 1 && seed % 4 != 0));
            outcomes[byte]++;
        }
        disk_sim_destroy(disk);
    }
    for (int i = 0; i < 3; i++)
        CHECK(outcomes[i] > SEEDS / 10);
}

/* Files that come and go do not use the medium up. */
static void many_files(void)
{
    struct disk *disk = disk_new(1, 1);

    for (int i = 0; i < 3000; i++) {
        int file = disk_open(disk, "journal/a", DISK_CREATE);

        CHECK(file >= 0);
        disk_close(disk, file);
        CHECK(disk_rename(disk, "journal/a", "journal/b") == 0);
        CHECK(disk_sync_folder(disk, "journal") == 0);
        if (i % 3 == 0)
            CHECK(disk_remove(disk, "journal/b") == 0);
    }
    disk_sim_destroy(disk);
}

/* A killed process loses no write that was read back; one in flight happens whole or not at all. */
static void kills(void)
{
    int landed = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct disk *disk = disk_new(seed, 0);
        int file = file_new(disk, "journal/a", 3, 1);
        uint8_t bytes[2 * BLOCK];

        memset(bytes, 2, sizeof bytes);
        CHECK(disk_write(disk, file, 0, bytes, BLOCK) == 0);
        CHECK(disk_submit(disk, file, BLOCK, bytes, 2 * BLOCK, 1, true) == 0);
        CHECK(disk_lock(disk) == 0);
        CHECK(disk_lock(disk) == -EWOULDBLOCK);
        disk_sim_kill(disk, seed);
        CHECK(disk_lock(disk) == 0);
        CHECK(first_byte(disk, "journal/a", 0) == 2);
        CHECK(first_byte(disk, "journal/a", 1) == first_byte(disk, "journal/a", 2));
        landed += first_byte(disk, "journal/a", 1) == 2;
        disk_sim_destroy(disk);
    }
    CHECK(landed > SEEDS / 3 && landed < SEEDS * 2 / 3);
}

/* The n-th changing call fails as asked, and only that one. */
static void faults(void)
{
    struct disk *disk = disk_new(1, 1);
    int file = file_new(disk, "journal/a", 4, 1);
    uint8_t bytes[4 * BLOCK];
    struct disk_done done;

    memset(bytes, 2, sizeof bytes);
    disk_sim_fail(disk, 2, DISK_SIM_EIO, false);
    CHECK(disk_write(disk, file, 0, bytes, BLOCK) == 0);
    CHECK(disk_sync(disk, file) == -EIO);
    CHECK(disk_sync(disk, file) == 0);
    disk_sim_fail(disk, 1, DISK_SIM_ENOSPC, true);
    CHECK(disk_write(disk, file, 0, bytes, BLOCK) == -ENOSPC);
    CHECK(disk_allocate(disk, file, 8 * BLOCK) == -ENOSPC);
    disk_sim_fail(disk, 2, DISK_SIM_SHORT, false); /* 1: the submission, 2: its completion */
    CHECK(disk_submit(disk, file, 0, bytes, 4 * BLOCK, 9, true) == 0);
    CHECK(disk_reap(disk, &done, 1) == 1);
    CHECK(done.tag == 9 && done.result >= 0 && done.result < 4 * BLOCK && done.result % BLOCK == 0);
    disk_sim_stop_at(disk, 1);
    CHECK(disk_sync(disk, file) == -EIO);
    CHECK(disk_write(disk, file, 0, bytes, BLOCK) == -EIO);
    disk_sim_destroy(disk);
}

/* A copy crashes as the original does, and neither touches the other. */
static void copies(void)
{
    struct disk *disk = disk_new(5, 0);
    int file = file_new(disk, "journal/a", 3, 1);
    uint8_t bytes[3 * BLOCK];
    struct disk *copy;
    uint64_t digest;

    memset(bytes, 2, sizeof bytes);
    CHECK(disk_submit(disk, file, 0, bytes, sizeof bytes, 1, true) == 0);
    copy = disk_sim_copy(disk);
    CHECK(copy);
    digest = disk_sim_digest(disk);
    disk_sim_crash(copy, 3);
    CHECK(disk_sim_digest(disk) == digest);
    disk_sim_crash(disk, 3);
    CHECK(disk_sim_digest(disk) == disk_sim_digest(copy));
    disk_sim_destroy(copy);
    disk_sim_destroy(disk);
}

int main(void)
{
    torn_writes();
    reaped_writes();
    completion_orders();
    names();
    removals();
    emptied();
    many_files();
    kills();
    faults();
    copies();
    return 0;
}
