#include "store/file_head.h"

#include "base/crc32c.h"

void file_head_seal(uint8_t *bytes, size_t count, const struct file_kind *kind)
{
    INVARIANT(count >= FILE_HEAD_BYTES);
    struct file_head head = {
        .format_version = kind->format_version,
        .header_bytes = kind->header_bytes,
        .crc = crc32c(bytes + FILE_HEAD_BYTES, count - FILE_HEAD_BYTES),
    };

    memcpy(head.magic, kind->magic, sizeof head.magic);
    memcpy(bytes, &head, sizeof head);
}

bool file_head_is(const uint8_t *bytes, const struct file_kind *kind)
{
    struct file_head head;

    memcpy(&head, bytes, sizeof head);
    return memcmp(head.magic, kind->magic, sizeof head.magic) == 0 &&
           head.format_version == kind->format_version && head.header_bytes == kind->header_bytes;
}

bool file_head_is_intact(const uint8_t *bytes, size_t count)
{
    INVARIANT(count >= FILE_HEAD_BYTES);
    return cc_load32(bytes + offsetof(struct file_head, crc)) ==
           crc32c(bytes + FILE_HEAD_BYTES, count - FILE_HEAD_BYTES);
}
