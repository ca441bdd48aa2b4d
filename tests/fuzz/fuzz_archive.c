/* The archive from arbitrary bytes (journal.md, Archive). The first byte chooses:
 *   0  the text of archive/index: what is accepted is written again as the same text;
 *   1  a file: what unpacks and is a segment packs and unpacks to the same segment;
 *   2  the plain contents of a file, packed here, so that more than zstd's checks is met. */
#include <stdlib.h>
#include <zstd.h>

#include "base/crc32c.h"
#include "store/archive_file.h"
#include "store/archive_index.h"
#include "store/segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEGMENT = 64 << 10 };

static struct exchange_file exchange;
static uint8_t segment[SEGMENT];
static uint8_t again[SEGMENT];

static void fuzz_index(const uint8_t *data, size_t size)
{
    struct archive archive;
    uint64_t line;
    size_t bytes;
    char *text;

    if (archive_index_decode(&archive, (const char *)data, size, &exchange, &line) < 0) {
        if (archive.rows || line == 0)
            abort();
        return;
    }
    if (archive_index_encode(&text, &bytes, &archive, &exchange) < 0 || bytes != size ||
        memcmp(text, data, size) != 0)
        abort();
    free(text);
    archive_close(&archive);
}

static void fuzz_file(const uint8_t *data, size_t size)
{
    struct archive_row entry;
    size_t file_bytes;
    uint8_t *file;

    if (archive_file_unpack(segment, SEGMENT, data, size) < 0 ||
        archive_file_survey(&entry, segment, SEGMENT, &exchange, 3, NULL) < 0)
        return;
    if (entry.first_frame == 0 || entry.last_frame < entry.first_frame || entry.segment != 3)
        abort();
    if (archive_file_pack(&file, &file_bytes, segment, SEGMENT) < 0 ||
        archive_file_unpack(again, SEGMENT, file, file_bytes) < 0 ||
        memcmp(again, segment, SEGMENT) != 0)
        abort();
    free(file);
}

/* Frames whose head, ids and checksum are made right as far as they stand in the bytes. */
static void fuzz_plain(const uint8_t *data, size_t size)
{
    struct segment_header header = segment_header_of(&exchange, 3, 1, 512);
    size_t plain_bytes = SEGMENT_FRAMES_OFFSET + size;
    uint8_t *plain = malloc(plain_bytes);
    size_t bound = ZSTD_compressBound(plain_bytes);
    uint8_t *file = malloc(bound);

    if (!plain || !file)
        abort();
    segment_encode(plain, &header);
    memcpy(plain + SEGMENT_FRAMES_OFFSET, data, size);
    for (size_t at = 0; size - at >= FRAME_HEADER_BYTES;) {
        uint8_t *frame = plain + SEGMENT_FRAMES_OFFSET + at;
        uint32_t record_bytes = cc_load32(frame + 88) % 1024;
        uint32_t length = (FRAME_HEADER_BYTES + record_bytes + 511) / 512 * 512;
        static uint8_t whole[4096];

        if (record_bytes > size - at - FRAME_HEADER_BYTES)
            break;
        memcpy(frame, "perpdFRM", 8);
        cc_store16(frame + 8, FRAME_VERSION);
        cc_store16(frame + 10, FRAME_HEADER_BYTES);
        memcpy(frame + 16, exchange.journal_id, FRAME_JOURNAL_ID_BYTES);
        cc_store64(frame + 40, 3);
        cc_store32(frame + 80, length);
        cc_store32(frame + 88, record_bytes);
        cc_store32(frame + 92, 0);
        memset(whole, 0, length);
        memcpy(whole, frame, FRAME_HEADER_BYTES + record_bytes);
        cc_store32(frame + 12, crc32c(whole + 16, length - 16));
        at += FRAME_HEADER_BYTES + record_bytes;
    }
    size_t packed = ZSTD_compress(file, bound, plain, plain_bytes, 1);

    if (!ZSTD_isError(packed))
        fuzz_file(file, packed);
    free(file);
    free(plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > SEGMENT)
        return 0;
    switch (data[0] % 3) {
    case 0:
        fuzz_index(data + 1, size - 1);
        break;
    case 1:
        fuzz_file(data + 1, size - 1);
        break;
    default:
        fuzz_plain(data + 1, size - 1);
        break;
    }
    return 0;
}
