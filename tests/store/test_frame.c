/* Frames and segment headers byte by byte (journal.md, Frame and Segment). */
#include <errno.h>

#include "base/crc32c.h"
#include "check.h"
#include "store/frame.h"
#include "store/segment.h"

static uint8_t bytes[8192];
static uint8_t journal_id[16];

static struct frame_header sample(void)
{
    struct frame_header header = {
        .boot = 0x0101,
        .segment = 0x0202,
        .number = 0x0303,
        .first_sequence = 0x0404,
        .last_sequence = 0x0405,
        .durable_frame = 0x0301,
        .length = 512,
        .record_count = 2,
        .record_bytes = 64,
    };

    for (uint8_t i = 0; i < 16; i++)
        journal_id[i] = (uint8_t)(0xA0 + i);
    memcpy(header.journal_id, journal_id, sizeof journal_id);
    for (uint8_t i = 0; i < 32; i++)
        header.previous_hash[i] = (uint8_t)(0xC0 + i);
    return header;
}

/* Two ticks: records of 32 bytes. */
static void build(void)
{
    struct frame_header header = sample();
    uint8_t body[8] = { 1 };
    struct record_view tick = { .t_ns = 5, .code = 2000, .payload_bytes = 8, .payload = body };

    memset(bytes, 0, sizeof bytes);
    CHECK(record_encode(bytes + 128, &tick) == 32);
    tick.t_ns = 6;
    CHECK(record_encode(bytes + 160, &tick) == 32);
    frame_seal(bytes, &header);
}

static int decode(struct frame_header *out, size_t available)
{
    return frame_decode(out, bytes, available, journal_id, 0x0202, 512);
}

static void frame_offsets(void)
{
    build();
    CHECK(memcmp(bytes, "perpdFRM", 8) == 0);
    CHECK(cc_load16(bytes + 8) == 1);
    CHECK(cc_load16(bytes + 10) == 128);
    CHECK(cc_load32(bytes + 12) == crc32c(bytes + 16, 512 - 16));
    CHECK(memcmp(bytes + 16, journal_id, 16) == 0);
    CHECK(cc_load64(bytes + 32) == 0x0101);
    CHECK(cc_load64(bytes + 40) == 0x0202);
    CHECK(cc_load64(bytes + 48) == 0x0303);
    CHECK(cc_load64(bytes + 56) == 0x0404);
    CHECK(cc_load64(bytes + 64) == 0x0405);
    CHECK(cc_load64(bytes + 72) == 0x0301);
    CHECK(cc_load32(bytes + 80) == 512);
    CHECK(cc_load32(bytes + 84) == 2);
    CHECK(cc_load32(bytes + 88) == 64);
    CHECK(cc_load32(bytes + 92) == 0);
    CHECK(bytes[96] == 0xC0 && bytes[127] == 0xC0 + 31);
}

static void segment_offsets(void)
{
    struct segment_header header = { .number = 0x1122, .boot = 0x3344, .block_bytes = 512 };
    struct segment_header back;
    char path[DISK_PATH_BYTES];
    uint64_t number = 0;

    memset(header.journal_id, 0xA1, 16);
    memset(header.exchange_id, 0xB2, 32);
    memset(header.hash_key, 0xC3, 16);
    memset(bytes, 0xEE, sizeof bytes);
    segment_encode(bytes, &header);
    CHECK(memcmp(bytes, "perpdSEG", 8) == 0);
    CHECK(cc_load16(bytes + 8) == 1);
    CHECK(cc_load16(bytes + 10) == 128);
    CHECK(cc_load32(bytes + 12) == crc32c(bytes + 16, 112));
    CHECK(bytes[16] == 0xA1 && bytes[31] == 0xA1);
    CHECK(bytes[32] == 0xB2 && bytes[63] == 0xB2);
    CHECK(bytes[64] == 0xC3 && bytes[79] == 0xC3);
    CHECK(cc_load64(bytes + 80) == 0x1122);
    CHECK(cc_load64(bytes + 88) == 0x3344);
    CHECK(cc_load32(bytes + 96) == 512);
    for (size_t i = 100; i < 4096; i++)
        CHECK(bytes[i] == 0);
    CHECK(bytes[4096] == 0xEE);
    CHECK(segment_decode(&back, bytes) == 0);
    CHECK(back.number == 0x1122 && back.boot == 0x3344 && back.block_bytes == 512);
    for (size_t i = 0; i < 4096; i++) {
        bytes[i] ^= 0x10;
        CHECK(segment_decode(&back, bytes) == -EBADMSG);
        bytes[i] ^= 0x10;
    }
    for (uint32_t block = 256; block <= 8192; block += 256) {
        header.block_bytes = block;
        segment_encode(bytes, &header);
        bool lawful = block == 512 || block == 1024 || block == 2048 || block == 4096;
        CHECK((segment_decode(&back, bytes) == 0) == lawful);
    }
    segment_path(path, 42, true);
    CHECK(strcmp(path, "journal/0000000042.seg") == 0);
    segment_path(path, 42, false);
    CHECK(strcmp(path, "journal/0000000042.next") == 0);
    CHECK(segment_number_of("0000000042.seg", &number) && number == 42);
    CHECK(!segment_number_of("0000000042.next", &number));
    CHECK(!segment_number_of("000000042.seg", &number));
    CHECK(!segment_number_of("00000000042.seg", &number));
    CHECK(!segment_number_of("0000000042.segx", &number));
    CHECK(!segment_number_of("", &number));
}

/* Whole: magic, version, CRC, journal id, bounds and segment number are right. */
static void whole(void)
{
    struct frame_header back;
    uint8_t other_id[16] = { 0 };

    build();
    CHECK(decode(&back, sizeof bytes) == 0);
    CHECK(back.boot == 0x0101 && back.segment == 0x0202 && back.number == 0x0303);
    CHECK(back.first_sequence == 0x0404 && back.last_sequence == 0x0405);
    CHECK(back.durable_frame == 0x0301 && back.length == 512 && back.record_count == 2);
    CHECK(back.record_bytes == 64 && back.previous_hash[31] == 0xC0 + 31);
    CHECK(decode(&back, 512) == 0);
    CHECK(decode(&back, 511) == -EBADMSG); /* it would cross its segment's end */
    CHECK(decode(&back, 127) == -EBADMSG);
    CHECK(frame_decode(&back, bytes, 512, other_id, 0x0202, 512) == -EBADMSG);
    CHECK(frame_decode(&back, bytes, 512, journal_id, 0x0203, 512) == -EBADMSG);
    CHECK(frame_decode(&back, bytes, 512, journal_id, 0x0202, 4096) == -EBADMSG);
    for (size_t i = 0; i < 512; i++) {
        bytes[i] ^= 0x04;
        CHECK(decode(&back, sizeof bytes) == -EBADMSG);
        bytes[i] ^= 0x04;
    }
}

/* Bounds that a right CRC does not excuse. */
static void bounds(void)
{
    static const struct {
        int line;
        const char *name;
        int offset;
        uint32_t value;
    } rows[] = {
        { __LINE__, "frame 0", 48, 0 },
        { __LINE__, "sequence 0", 56, 0 },
        { __LINE__, "last below first", 64, 0x0403 },
        { __LINE__, "length not of a block", 80, 500 },
        { __LINE__, "length 0", 80, 0 },
        { __LINE__, "count without its sequences", 84, 3 },
        { __LINE__, "bytes without records", 84, 0 },
        { __LINE__, "more bytes than fit", 88, 512 - 127 },
        { __LINE__, "byte 92", 92, 1 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct frame_header back;

        build();
        cc_store32(bytes + rows[i].offset, rows[i].value);
        if (rows[i].offset == 84 && rows[i].value == 0)
            cc_store64(bytes + 64, 0x0403); /* agrees with the count */
        cc_store32(bytes + 12, crc32c(bytes + 16, 512 - 16));
        CHECK_ROW(&rows[i], decode(&back, sizeof bytes) == -EBADMSG);
    }
}

static void chains(void)
{
    struct frame_header header = sample();
    struct frame_tail tail = { .number = 0x0302, .last_sequence = 0x0403, .boot = 0x0101 };
    struct frame_tail start;
    uint8_t exchange_id[32];
    uint8_t hash[HASH_BYTES];

    memcpy(tail.hash, header.previous_hash, sizeof tail.hash);
    CHECK(frame_chains(&tail, &header));
    header.boot++; /* a later start */
    CHECK(frame_chains(&tail, &header));
    header.boot -= 2;
    CHECK(!frame_chains(&tail, &header));
    header = sample();
    header.number++;
    CHECK(!frame_chains(&tail, &header));
    header = sample();
    header.first_sequence++;
    CHECK(!frame_chains(&tail, &header));
    header = sample();
    header.previous_hash[0] ^= 1;
    CHECK(!frame_chains(&tail, &header));

    build();
    header = sample();
    frame_tail_advance(&tail, &header, bytes);
    hash_blake2b256(hash, bytes, 512);
    CHECK(tail.number == 0x0303 && tail.last_sequence == 0x0405 && tail.boot == 0x0101);
    CHECK(memcmp(tail.hash, hash, sizeof hash) == 0);

    memset(exchange_id, 7, sizeof exchange_id);
    hash_blake2b256(hash, exchange_id, sizeof exchange_id);
    frame_tail_start(&start, exchange_id);
    CHECK(start.number == 0 && start.last_sequence == 0 && start.boot == 0);
    CHECK(memcmp(start.hash, hash, sizeof hash) == 0);
}

static void records(void)
{
    struct frame_header header = sample();
    struct frame_records at;
    struct record_view record;
    uint64_t sequence = 0;

    build();
    frame_records_begin(&at, &header, bytes);
    CHECK(frame_records_next(&at, &record, &sequence) == 1);
    CHECK(sequence == 0x0404 && record.t_ns == 5);
    CHECK(frame_records_next(&at, &record, &sequence) == 1);
    CHECK(sequence == 0x0405 && record.t_ns == 6);
    CHECK(frame_records_next(&at, &record, &sequence) == 0);

    header.record_count = 1; /* bytes are left over */
    frame_records_begin(&at, &header, bytes);
    CHECK(frame_records_next(&at, &record, &sequence) == 1);
    CHECK(frame_records_next(&at, &record, &sequence) == -EBADMSG);
    header.record_count = 3; /* one is missing */
    frame_records_begin(&at, &header, bytes);
    CHECK(frame_records_next(&at, &record, &sequence) == 1);
    CHECK(frame_records_next(&at, &record, &sequence) == 1);
    CHECK(frame_records_next(&at, &record, &sequence) == -EBADMSG);
}

int main(void)
{
    frame_offsets();
    segment_offsets();
    whole();
    bounds();
    chains();
    records();
    return 0;
}
