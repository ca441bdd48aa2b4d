/* Records and frames of the journal from arbitrary bytes: what decodes is inside its buffer, and
 * encodes to the same bytes again (journal.md: pads are zero, lengths agree). */
#include <stdlib.h>

#include "base/crc32c.h"
#include "store/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_record(const struct record_view *record, const uint8_t *at, size_t available)
{
    _Alignas(8) static uint8_t again[RECORD_BYTES_MAX];

    if (record->length > available || record->length > RECORD_BYTES_MAX)
        abort();
    if (record_encode(again, record) != record->length || memcmp(again, at, record->length) != 0)
        abort();
}

static void fuzz_frame(uint8_t *bytes, size_t size)
{
    struct frame_header header;
    struct frame_records records;
    struct record_view record;
    uint64_t sequence;
    uint32_t length;

    /* Magic, versions, ids and checksum are made right, or nothing would get past them. */
    memcpy(bytes, "perpdFRM", 8);
    cc_store16(bytes + 8, FRAME_VERSION);
    cc_store16(bytes + 10, FRAME_HEADER_BYTES);
    memset(bytes + 16, 7, FRAME_JOURNAL_ID_BYTES);
    cc_store64(bytes + 40, 3);
    length = cc_load32(bytes + 80);
    if (length <= 16 || length > size)
        return;
    cc_store32(bytes + 12, crc32c(bytes + 16, length - 16));
    if (frame_decode(&header, bytes, size, bytes + 16, 3, 512) != 0)
        return;
    frame_records_begin(&records, &header, bytes);
    while (frame_records_next(&records, &record, &sequence) == 1)
        check_record(&record, record.payload - RECORD_HEADER_BYTES, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view record;
    uint8_t *bytes = aligned_alloc(64, (size + 64) / 64 * 64);

    memcpy(bytes, data, size);
    if (record_decode(&record, bytes, size) == 0)
        check_record(&record, bytes, size);
    if (size >= FRAME_HEADER_BYTES)
        fuzz_frame(bytes, size);
    free(bytes);
    return 0;
}
