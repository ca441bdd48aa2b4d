#include "store/record_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/disk.h"
#include "store/record.h"

bool record_buffer_make(struct record_buffer *buffer, uint64_t bytes)
{
    *buffer = (struct record_buffer){ .words = aligned_alloc(DISK_ALIGNMENT, bytes),
                                      .mask = bytes / 8 - 1,
                                      .bytes = bytes };
    if (buffer->words == NULL)
        return false;
    /* Every page is touched here, so that none is faulted in beside a command. */
    arena_advise_huge((void *)buffer->words, bytes);
    memset((void *)buffer->words, 0, bytes);
    return true;
}

void record_buffer_free(struct record_buffer *buffer)
{
    free(buffer->words);
    buffer->words = NULL;
}

uint32_t record_buffer_measure(const struct record_buffer *buffer, uint64_t position, uint64_t tail,
                               uint32_t limit, uint32_t *count)
{
    uint32_t bytes = 0;

    *count = 0;
    while (position + bytes < tail) {
        /* relaxed: `tail` was loaded with acquire; the length is in the record's second word */
        uint64_t word = atomic_load_explicit(
            &buffer->words[((position + bytes) / 8 + 1) & buffer->mask], memory_order_relaxed);
        uint32_t length = (uint32_t)word;

        INVARIANT(length >= RECORD_HEADER_BYTES && length % 8 == 0 && length <= RECORD_BYTES_MAX);
        if (bytes + length > limit)
            break;
        bytes += length;
        ++*count;
    }
    return bytes;
}

void record_buffer_copy(const struct record_buffer *buffer, uint64_t position, uint8_t *out,
                        uint32_t count)
{
    const uint8_t *bytes = (const uint8_t *)(const void *)buffer->words;
    uint64_t from = position & (buffer->bytes - 1);
    uint64_t first = buffer->bytes - from;

    if (first > count)
        first = count;
    memcpy(out, bytes + from, first);
    memcpy(out + first, bytes, count - first);
}

uint32_t record_buffer_length(const struct record_buffer *buffer, uint64_t position)
{
    return (uint32_t)atomic_load_explicit(&buffer->words[(position / 8 + 1) & buffer->mask],
                                          memory_order_acquire);
}

void record_buffer_load(const struct record_buffer *buffer, uint64_t position, uint8_t *out,
                        uint32_t count)
{
    uint64_t word = position / 8;

    for (uint32_t i = 0; i < count; i += 8)
        cc_store64(out + i, atomic_load_explicit(&buffer->words[word++ & buffer->mask],
                                                 memory_order_acquire));
}
