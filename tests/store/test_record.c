/* Records byte by byte (journal.md, Record). */
#include <errno.h>

#include "check.h"
#include "store/record.h"

static uint8_t pattern[RECORD_BYTES_MAX];

/* A limit order is 24 + 72 + 32 + 64 = 192 bytes. */
static void every_offset(void)
{
    struct record_view record = {
        .t_ns = 0x0807060504030201U,
        .code = 0x1211,
        .kind = RECORD_SIGNED,
        .payload_bytes = 72,
        .key_bytes = 32,
        .payload = pattern,
        .key = pattern + 100,
        .signature = pattern + 200,
    };
    uint8_t bytes[192];

    CHECK(record_length(RECORD_SIGNED, 72, 32, 0) == 192);
    CHECK(record_encode(bytes, &record) == 192);
    for (uint8_t i = 0; i < 8; i++)
        CHECK(bytes[i] == i + 1);
    CHECK(cc_load32(bytes + 8) == 192);
    CHECK(bytes[12] == 0x11 && bytes[13] == 0x12);
    CHECK(bytes[14] == 1);
    CHECK(bytes[15] == 0);
    CHECK(cc_load16(bytes + 16) == 72);
    CHECK(cc_load16(bytes + 18) == 32);
    CHECK(cc_load16(bytes + 20) == 0);
    CHECK(cc_load16(bytes + 22) == 0);
    CHECK(memcmp(bytes + 24, pattern, 72) == 0);
    CHECK(memcmp(bytes + 96, pattern + 100, 32) == 0);
    CHECK(memcmp(bytes + 128, pattern + 200, 64) == 0);
}

static void there_and_back(void)
{
    static const struct {
        int line;
        const char *name;
        uint8_t kind;
        uint16_t payload_bytes;
        uint16_t key_bytes;
        uint16_t extra_bytes;
        uint32_t length; /* by hand: 24 + parts + 64 for a signature, up to a multiple of 8 */
    } rows[] = {
        { __LINE__, "tick", RECORD_UNSIGNED, 8, 0, 0, 32 },
        { __LINE__, "empty body", RECORD_UNSIGNED, 0, 0, 0, 24 },
        { __LINE__, "body of a market", RECORD_UNSIGNED, 4120, 0, 0, 4144 },
        { __LINE__, "33-byte key", RECORD_SIGNED, 72, 33, 0, 200 },
        { __LINE__, "largest batch", RECORD_SIGNED, 4144, 32, 0, 4264 },
        { __LINE__, "secret's hash", RECORD_SIGNED, 72, 32, 32, 224 },
        { __LINE__, "passkey", RECORD_PASSKEY, 104, 33, 8 + 16 + 37 + 120, 408 },
        { __LINE__, "all at their largest", RECORD_PASSKEY, 4144, 33, 3368, 7640 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct record_view record = {
            .t_ns = i,
            .code = (uint16_t)i,
            .kind = rows[i].kind,
            .payload_bytes = rows[i].payload_bytes,
            .key_bytes = rows[i].key_bytes,
            .extra_bytes = rows[i].extra_bytes,
            .payload = pattern + 1,
            .key = pattern + 2,
            .signature = pattern + 3,
            .extra = pattern + 4,
        };
        uint8_t bytes[RECORD_BYTES_MAX + 8];
        struct record_view back;

        memset(bytes, 0xEE, sizeof bytes);
        CHECK_ROW(&rows[i], record_encode(bytes, &record) == rows[i].length);
        CHECK_ROW(&rows[i], bytes[rows[i].length] == 0xEE);
        CHECK_ROW(&rows[i], record_decode(&back, bytes, rows[i].length) == 0);
        CHECK_ROW(&rows[i], back.t_ns == i && back.code == i && back.kind == rows[i].kind);
        CHECK_ROW(&rows[i], back.length == rows[i].length);
        CHECK_ROW(&rows[i], back.payload_bytes == rows[i].payload_bytes);
        CHECK_ROW(&rows[i], memcmp(back.payload, pattern + 1, rows[i].payload_bytes) == 0);
        CHECK_ROW(&rows[i], back.key_bytes == rows[i].key_bytes);
        CHECK_ROW(&rows[i], back.extra_bytes == rows[i].extra_bytes);
        if (rows[i].kind != RECORD_UNSIGNED) {
            CHECK_ROW(&rows[i], memcmp(back.key, pattern + 2, rows[i].key_bytes) == 0);
            CHECK_ROW(&rows[i], memcmp(back.signature, pattern + 3, 64) == 0);
        }
        if (rows[i].extra_bytes > 0)
            CHECK_ROW(&rows[i], memcmp(back.extra, pattern + 4, rows[i].extra_bytes) == 0);
        CHECK_ROW(&rows[i], record_decode(&back, bytes, rows[i].length - 1) == -EBADMSG);
    }
}

static void refused(void)
{
    static const struct {
        int line;
        const char *name;
        int offset; /* of the byte changed in a record of 104 + 33 + 64 + 0 + 24 = 225 -> 232 */
        uint8_t value;
    } rows[] = {
        { __LINE__, "length too long", 8, 240 },
        { __LINE__, "length too short", 8, 224 },
        { __LINE__, "length not of 8", 8, 231 },
        { __LINE__, "kind 3", 14, 3 },
        { __LINE__, "kind 0 with a key", 14, 0 },
        { __LINE__, "byte 15", 15, 1 },
        { __LINE__, "payload longer", 16, 112 },
        { __LINE__, "payload enormous", 17, 0xFF },
        { __LINE__, "key of 31", 18, 31 },
        { __LINE__, "extra of 8", 20, 8 },
        { __LINE__, "byte 22", 22, 1 },
        { __LINE__, "byte 23", 23, 1 },
        { __LINE__, "first byte of padding", 225, 1 },
        { __LINE__, "last byte of padding", 231, 1 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct record_view record = {
            .kind = RECORD_SIGNED,
            .payload_bytes = 104,
            .key_bytes = 33,
            .payload = pattern,
            .key = pattern,
            .signature = pattern,
        };
        uint8_t bytes[256] = { 0 };
        struct record_view back;

        CHECK(record_encode(bytes, &record) == 232);
        CHECK(record_decode(&back, bytes, sizeof bytes) == 0);
        bytes[rows[i].offset] = rows[i].value;
        CHECK_ROW(&rows[i], record_decode(&back, bytes, sizeof bytes) == -EBADMSG);
    }
}

/* The payload of a signed request begins with a header of 8 and a request id of 16 (wire.md W1). */
static void too_short(void)
{
    for (uint8_t kind = RECORD_UNSIGNED; kind <= RECORD_PASSKEY; kind++) {
        for (uint16_t payload_bytes = 0; payload_bytes <= 32; payload_bytes++) {
            bool is_signed = kind != RECORD_UNSIGNED;
            uint16_t key_bytes = is_signed ? 32 : 0;
            uint8_t bytes[160] = { 0 };
            struct record_view back;

            cc_store32(bytes + 8, record_length(kind, payload_bytes, key_bytes, 0));
            bytes[14] = kind;
            cc_store16(bytes + 16, payload_bytes);
            cc_store16(bytes + 18, key_bytes);
            int want = is_signed && payload_bytes < 24 ? -EBADMSG : 0;
            CHECK(record_decode(&back, bytes, sizeof bytes) == want);
        }
    }
}

int main(void)
{
    struct record_view none;

    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)(i * 7 + i / 256 + 1);
    every_offset();
    there_and_back();
    refused();
    too_short();
    CHECK(record_decode(&none, pattern, 23) == -EBADMSG);
    return 0;
}
