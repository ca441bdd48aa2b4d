/* writer.h - appends text to a bounded buffer. Net thread only.
 *
 * Wait.  Nothing here allocates or formats through stdio: this is the hot path of every answer.
 * Owner. The buffer is the caller's. After an overflow `full` stays true and the text is invalid.
 *        */
#ifndef NET_HTTP_WRITER_H
#define NET_HTTP_WRITER_H

#include "base/compiler.h"

struct writer {
    char *start;
    char *at;
    char *end; /* one past the last byte that may be written */
    bool full;
};

static inline struct writer writer_begin(char *buffer, size_t capacity)
{
    return (struct writer){ .start = buffer, .at = buffer, .end = buffer + capacity };
}

static inline size_t writer_count(const struct writer *writer)
{
    return (size_t)(writer->at - writer->start);
}

static inline void writer_bytes(struct writer *writer, const void *bytes, size_t count)
{
    if (CC_UNLIKELY(count > (size_t)(writer->end - writer->at))) {
        writer->full = true;
        return;
    }
    memcpy(writer->at, bytes, count);
    writer->at += count;
}

/* A string literal. */
#define WRITER_TEXT(writer, literal) writer_bytes((writer), "" literal, sizeof(literal) - 1)

/* A zero-terminated text, without escapes. */
void writer_text(struct writer *writer, const char *text);
void writer_uint(struct writer *writer, uint64_t value);
void writer_int(struct writer *writer, int64_t value);
void writer_bool(struct writer *writer, bool value);

/* JSON values with their quotes. */
void writer_string(struct writer *writer, const char *text, size_t count); /* with JSON escapes */
void writer_decimal(struct writer *writer, int128 value, unsigned scale);
void writer_uuid(struct writer *writer, const uint8_t id[16]);
void writer_base64(struct writer *writer, const uint8_t *bytes, size_t count); /* up to 256 bytes */
void writer_hex(struct writer *writer, const uint8_t *bytes, size_t count);    /* up to 64 bytes */
void writer_iso(struct writer *writer, uint64_t unix_ns); /* J1 iso, milliseconds */

#endif
