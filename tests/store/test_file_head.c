/* The first 16 bytes of the files of a data directory (journal.md): magic u8[8], format_version
 * u16[8], header_bytes u16[10], crc u32[12], CRC32C of what follows. */
#include "base/crc32c.h"
#include "check.h"
#include "store/file_head.h"

enum { COUNT = 100 };

static const struct file_kind kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'X', 'Y', 'Z' },
    .format_version = 0x0102,
    .header_bytes = 0x0304,
};

static uint8_t bytes[COUNT];

int main(void)
{
    for (size_t i = 0; i < COUNT; i++)
        bytes[i] = (uint8_t)(i * 7);
    file_head_seal(bytes, COUNT, &kind);
    CHECK(memcmp(bytes, "perpdXYZ\x02\x01\x04\x03", 12) == 0);
    CHECK(cc_load32(bytes + 12) == crc32c(bytes + 16, COUNT - 16));
    CHECK(bytes[16] == (uint8_t)(16 * 7));
    CHECK(file_head_is(bytes, &kind) && file_head_is_intact(bytes, COUNT));

    /* The first twelve bytes say what the file is; the checksum covers those after the head. */
    for (size_t i = 0; i < COUNT; i++) {
        bytes[i] ^= 1;
        CHECK(file_head_is(bytes, &kind) == (i >= 12));
        CHECK(file_head_is_intact(bytes, COUNT) == (i < 12));
        bytes[i] ^= 1;
    }
    CHECK(!file_head_is_intact(bytes, COUNT - 1));
    return 0;
}
