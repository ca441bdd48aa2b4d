/* Snapshot files from arbitrary bytes, as they are and with ids and checksums made right: what is
 * read lies inside the file and has the hash that it says; no bytes are more than refused. */
#include <errno.h>
#include <stdlib.h>

#include "base/crc32c.h"
#include "store/snapshot.h"
#include "support/sim/disk_sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEQUENCE = 7, HEAD = SNAPSHOT_IMAGE_OFFSET };

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void read_back(struct disk *disk, const struct exchange_file *exchange, size_t size)
{
    uint8_t hash[HASH_BYTES];
    struct snapshot_head head;
    struct snapshot snapshot;
    struct refusal why;
    int error = snapshot_read(disk, exchange, SEQUENCE, &snapshot, &why);
    uint64_t bytes = 0;

    must(error == 0 || error == -EBADMSG || error == -EXDEV);
    must((error == 0) == (why.kind == REFUSAL_none));
    if (error < 0)
        return;
    must(snapshot_read_head(disk, exchange, SEQUENCE, &head, NULL) == 0);
    must(memcmp(&head, &snapshot.head, sizeof head) == 0);
    must(head.image_bytes == size - HEAD && head.section_count <= SNAPSHOT_SECTIONS_MAX);
    for (uint32_t i = 0; i < head.section_count; i++) {
        must(snapshot.sections[i].bytes == snapshot.memory + bytes);
        bytes += snapshot.sections[i].byte_count;
    }
    must(bytes == head.image_bytes);
    hash_blake2b256(hash, snapshot.memory, bytes);
    must(memcmp(hash, head.image_hash, sizeof hash) == 0);
    snapshot_close(&snapshot);
}

/* Without this nothing would get past the header. */
static void make_right(uint8_t *bytes, size_t size)
{
    uint32_t sections = bytes[116] % 5;
    uint8_t *table = bytes + SNAPSHOT_HEADER_BYTES;

    memcpy(bytes, "perpdSNP", 8);
    cc_store16(bytes + 8, SNAPSHOT_VERSION);
    cc_store16(bytes + 10, SNAPSHOT_HEADER_BYTES);
    memset(bytes + 16, 0, 64);
    cc_store64(bytes + 80, SEQUENCE);
    cc_store32(bytes + 116, sections);
    cc_store64(bytes + 120, size - HEAD);
    memset(bytes + 224, 0, 32);
    memset(table + 32 * sections, 0, HEAD - SNAPSHOT_HEADER_BYTES - 32 * sections);
    for (uint32_t i = 0; i < sections; i++) {
        uint8_t *row = table + 32 * i;
        uint64_t offset = cc_load64(row + 8);
        uint64_t count = cc_load64(row + 16);

        if (offset <= size && count <= size - offset)
            cc_store32(row + 24, crc32c(bytes + offset, count));
    }
    hash_blake2b256(bytes + 160, bytes + HEAD, size - HEAD);
    cc_store32(bytes + 12, crc32c(bytes + 16, SNAPSHOT_HEADER_BYTES - 16 + 32 * sections));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct disk_sim_config config = { .seed = 1, .block_bytes = 512 };
    struct exchange_file exchange = { 0 };
    struct disk *disk = disk_sim_create(&config);
    uint8_t *bytes;
    int file;

    must(disk && disk_make_folder(disk, "") == 0 && disk_make_folder(disk, "snapshot") == 0);
    for (int right = 0; right < 2; right++) {
        /* The table is what is worth mutating: the zeros behind it are added here. */
        size_t head = size < 512 ? size : 512;
        size_t total = right ? HEAD + size - head : size;

        if (right && size < SNAPSHOT_HEADER_BYTES)
            break;
        bytes = calloc(1, total + 1);
        must(bytes);
        memcpy(bytes, data, right ? head : size);
        if (right) {
            memcpy(bytes + HEAD, data + head, size - head);
            make_right(bytes, total);
        }
        file = disk_open(disk, "snapshot/7.snap", DISK_CREATE);
        must(file >= 0 && (total == 0 || disk_write(disk, file, 0, bytes, total) == 0));
        disk_close(disk, file);
        read_back(disk, &exchange, total);
        free(bytes);
    }
    disk_sim_destroy(disk);
    return 0;
}
