/* archive_segment DIR SEGMENT - archives a sealed segment of a data directory that nobody runs on,
 * and takes it out of journal/, as a running perpd does once two snapshots lie above it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/archive.h"
#include "store/disk_real.h"
#include "store/segment.h"

int main(int argc, char **argv)
{
    struct exchange_file exchange;
    struct archive archive;
    struct refusal refusal;
    char path[DISK_PATH_BYTES];
    bool ring_refused;
    int failed;

    if (argc != 3 || chdir(argv[1]) != 0)
        return 2;
    uint64_t segment = strtoull(argv[2], NULL, 10);
    struct disk *disk = disk_real_open(".", &failed, &ring_refused);
    if (disk == NULL)
        return 1;
    if (exchange_file_read(disk, &exchange) != 0)
        return 1;
    if (archive_open(&archive, disk, &exchange, &refusal) != REFUSAL_none) {
        fprintf(stderr, "%s\n", refusal.text);
        return 1;
    }
    failed = archive_store(&archive, disk, &exchange, segment, SEGMENT_BYTES_DEFAULT);
    archive_close(&archive);
    disk_real_close(disk);
    segment_path(path, segment, true);
    if (failed == 0 && unlink(path) != 0)
        failed = -1;
    if (failed != 0)
        fprintf(stderr, "archive_segment: %d\n", failed);
    return failed == 0 ? 0 : 1;
}
