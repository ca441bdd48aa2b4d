/* A small file is replaced whole: wherever the power goes there is the old one or the new one, and
 * after a replacement that has returned the new one. */
#include <errno.h>

#include "check.h"
#include "store/small_file.h"
#include "support/sim/disk_sim.h"

enum { CALLS = 5, SEEDS = 40 }; /* open, write, sync, rename, sync of the directory */

static const uint8_t before[300] = { 1, 2, 3 };
static const uint8_t after[700] = { 9, 8, 7 };

static struct disk *disk_new(uint64_t seed)
{
    struct disk_sim_config config = { .seed = seed, .block_bytes = 512, .latency_max = 1 };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk != NULL);
    CHECK(disk_make_folder(disk, "") == 0 && disk_sync_folder(disk, "") == 0);
    return disk;
}

static bool holds(struct disk *disk, const uint8_t *bytes, size_t count)
{
    uint8_t read[sizeof after + 1];

    return small_file_read(disk, "name", read, sizeof read) == (int64_t)count &&
           memcmp(read, bytes, count) == 0;
}

static void test_replace(void)
{
    struct disk *disk = disk_new(1);
    uint8_t read[2];

    CHECK(small_file_read(disk, "name", read, sizeof read) == -ENOENT);
    CHECK(small_file_replace(disk, "name", after, sizeof after) == 0);
    CHECK(holds(disk, after, sizeof after));
    CHECK(small_file_replace(disk, "name", before, sizeof before) == 0);
    CHECK(holds(disk, before, sizeof before)); /* and nothing of the longer one */
    CHECK(small_file_read(disk, "name", read, sizeof read) == 2 && read[0] == 1 && read[1] == 2);
    disk_sim_destroy(disk);
}

/* The power goes at each call; what a lost write leaves is the seed's. */
static void test_power(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (uint64_t call = 1; call <= CALLS + 1; call++) {
            struct disk *disk = disk_new(seed);
            CHECK(small_file_replace(disk, "name", before, sizeof before) == 0);
            disk_sim_fail(disk, 0, DISK_SIM_EIO, false); /* calls count from here */
            disk_sim_stop_at(disk, call);
            int error = small_file_replace(disk, "name", after, sizeof after);
            CHECK((error == 0) == (call > CALLS));
            disk_sim_stop_at(disk, 0);
            disk_sim_crash(disk, seed * 100 + call);
            CHECK(holds(disk, after, sizeof after) ||
                  (error != 0 && holds(disk, before, sizeof before)));
            disk_sim_destroy(disk);
        }
}

/* Every call that fails is told. */
static void test_errors(void)
{
    for (uint64_t call = 1; call <= CALLS; call++) {
        struct disk *disk = disk_new(7);
        disk_sim_fail(disk, call, DISK_SIM_EIO, false);
        CHECK(small_file_replace(disk, "name", after, sizeof after) == -EIO);
        disk_sim_destroy(disk);
    }
}

int main(void)
{
    test_replace();
    test_power();
    test_errors();
    return 0;
}
