/* snapshot FOLDER - a data directory with two snapshots, for test_snapshot_format.py: the same
 * bytes each time but for the ids that the directory draws. */
#include "check.h"
#include "store/disk_real.h"
#include "store/snapshot.h"

static void put(struct disk *disk, const struct exchange_file *exchange, uint64_t sequence,
                uint32_t sections)
{
    struct snapshot_writer *writer = snapshot_begin(disk, exchange, sequence);
    struct snapshot_head head = { .sequence = sequence,
                                  .frame = sequence - 7,
                                  .t_ns = UINT64_C(1700000000123456789),
                                  .boot = 3,
                                  .rules_version = 12 };
    static uint8_t bytes[1 << 17];

    CHECK(writer);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 31 + (i >> 12));
    for (uint32_t i = 1; i <= sections; i++) {
        snapshot_section_begin(writer, 10 * i, 100 + i);
        snapshot_bytes(writer, bytes, (size_t)i * i * 17 - 17); /* the first one is empty */
    }
    memset(head.effects_hash, 0x51, sizeof head.effects_hash);
    memset(head.frame_hash, 0x52, sizeof head.frame_hash);
    CHECK(snapshot_end(writer, &head) == 0);

    struct snapshot snapshot; /* past the page cache, where the file system allows */
    struct refusal why;

    CHECK(snapshot_read(disk, exchange, sequence, &snapshot, &why) == 0);
    CHECK(memcmp(&snapshot.head, &head, sizeof head) == 0);
    for (uint32_t i = 0; i < sections; i++)
        CHECK(memcmp(snapshot.sections[i].bytes, bytes, snapshot.sections[i].byte_count) == 0);
    snapshot_close(&snapshot);
}

int main(int argc, char **argv)
{
    struct exchange_file exchange;
    struct refusal refusal;
    bool ring_refused;
    bool is_new;
    int error;

    CHECK(argc == 2);
    struct disk *disk = disk_real_open(argv[1], &error, &ring_refused);

    CHECK(disk);
    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    put(disk, &exchange, 1000, 3);
    put(disk, &exchange, UINT64_C(9007199254740993), SNAPSHOT_SECTIONS_MAX);
    disk_real_close(disk);
    return 0;
}
