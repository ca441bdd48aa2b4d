/* file_head.h - the first 16 bytes of every binary file and frame of a data directory: what it is,
 * its version, the size of its header, and the checksum of the bytes after them (journal.md).
 *
 * Any thread; no state. */
#ifndef STORE_FILE_HEAD_H
#define STORE_FILE_HEAD_H

#include "base/compiler.h"

struct file_head {
    uint8_t magic[8];
    uint16_t format_version;
    uint16_t header_bytes;
    uint32_t crc; /* CRC32C of the bytes after the head */
};

enum { FILE_HEAD_BYTES = 16 };

static_assert(sizeof(struct file_head) == FILE_HEAD_BYTES, "journal.md, Data directory");
static_assert(offsetof(struct file_head, format_version) == 8, "journal.md, Data directory");
static_assert(offsetof(struct file_head, header_bytes) == 10, "journal.md, Data directory");
static_assert(offsetof(struct file_head, crc) == 12, "journal.md, Data directory");

/* One kind of file. */
struct file_kind {
    uint8_t magic[8];
    uint16_t format_version;
    uint16_t header_bytes;
};

/* Writes the head of `kind` over the first 16 of `count` bytes; the others are final. */
void file_head_seal(uint8_t *bytes, size_t count, const struct file_kind *kind);

/* True if the bytes, at least 16, begin with the head of `kind`. */
CC_MUST_USE bool file_head_is(const uint8_t *bytes, const struct file_kind *kind);

/* True if `count` (16 or more) bytes have the checksum that their head says. */
CC_MUST_USE bool file_head_is_intact(const uint8_t *bytes, size_t count);

#endif
