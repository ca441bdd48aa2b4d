/* pb.h - protobuf by hand: a writer from back to front, and a reader that never leaves its bytes.
 *
 * Back to front, the length of a message inside a message is known when it is written, and a value
 * of 64 KiB is copied once. */
#ifndef REPL_PB_H
#define REPL_PB_H

#include "repl/etcd.h"

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

/* Writes downwards from the end of `bytes`; what is written is bytes[at .. room). */
struct pb_writer {
    uint8_t *bytes;
    size_t at, room;
};

static inline size_t pb_count(const struct pb_writer *writer)
{
    return writer->room - writer->at;
}

/* The room is computed by the caller: running out of it is a bug. */
static inline void pb_put(struct pb_writer *writer, const void *bytes, size_t count)
{
    INVARIANT(count <= writer->at);
    writer->at -= count;
    if (count > 0)
        memcpy(writer->bytes + writer->at, bytes, count);
}

static inline void pb_put_varint(struct pb_writer *writer, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;
    for (; value >= 128; value >>= 7)
        bytes[count++] = (uint8_t)(value | 128);
    bytes[count++] = (uint8_t)value;
    pb_put(writer, bytes, count);
}

/* A number; 0 is left out, as protobuf leaves it out. */
static inline void pb_put_number(struct pb_writer *writer, uint32_t field, uint64_t value)
{
    if (value == 0)
        return;
    pb_put_varint(writer, value);
    pb_put_varint(writer, (uint64_t)field << 3 | PB_VARINT);
}

/* What was written since `mark` (pb_count then) becomes a field of its own. */
static inline void pb_wrap(struct pb_writer *writer, uint32_t field, size_t mark)
{
    pb_put_varint(writer, pb_count(writer) - mark);
    pb_put_varint(writer, (uint64_t)field << 3 | PB_BYTES);
}

/* Bytes; none are left out. */
static inline void pb_put_bytes(struct pb_writer *writer, uint32_t field, struct etcd_bytes bytes)
{
    if (bytes.count == 0)
        return;
    size_t mark = pb_count(writer);
    pb_put(writer, bytes.bytes, bytes.count);
    pb_wrap(writer, field, mark);
}

/* One field after the other; `is_bad` once the bytes are no message. */
struct pb_reader {
    const uint8_t *next, *end;
    uint32_t field;
    enum pb_wire wire;
    uint64_t number;         /* PB_VARINT; of a fixed field 0: etcd's messages have none */
    struct etcd_bytes bytes; /* PB_BYTES, inside the bytes that are read */
    bool is_bad;
};

static inline struct pb_reader pb_reader(struct etcd_bytes bytes)
{
    const uint8_t *next = bytes.bytes;
    return (struct pb_reader){ .next = next, .end = next + bytes.count };
}

static inline uint64_t pb_get_varint(struct pb_reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && reader->next < reader->end; shift += 7) {
        uint8_t byte = *reader->next++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    reader->is_bad = true;
    return 0;
}

/* The next field; false at the end, and where `is_bad` has become true. */
static inline bool pb_next(struct pb_reader *reader)
{
    if (reader->is_bad || reader->next == reader->end)
        return false;
    uint64_t tag = pb_get_varint(reader);
    reader->field = (uint32_t)(tag >> 3);
    reader->wire = (enum pb_wire)(tag & 7);
    reader->number = 0;
    reader->bytes = (struct etcd_bytes){ 0 };
    uint64_t count = 0;
    if (reader->is_bad || tag >> 3 == 0 || tag >> 32 != 0)
        reader->is_bad = true;
    else if (reader->wire == PB_VARINT)
        reader->number = pb_get_varint(reader);
    else if (reader->wire == PB_BYTES)
        count = pb_get_varint(reader);
    else if (reader->wire == PB_FIXED64)
        count = 8;
    else if (reader->wire == PB_FIXED32)
        count = 4;
    else
        reader->is_bad = true;
    if (reader->is_bad || count > (uint64_t)(reader->end - reader->next)) {
        reader->is_bad = true;
        return false;
    }
    if (reader->wire == PB_BYTES)
        reader->bytes = (struct etcd_bytes){ reader->next, count };
    reader->next += count;
    return true;
}

/* Whether the field is `field`; of another wire type than `wire` the message is bad. */
static inline bool pb_is(struct pb_reader *reader, uint32_t field, enum pb_wire wire)
{
    if (reader->field != field)
        return false;
    reader->is_bad |= reader->wire != wire;
    return !reader->is_bad;
}

#endif
