/* image_sink.h - where the bytes of an image go, field by field: the other side of image_read.h.
 *
 * Units. Integers little-endian. */
#ifndef ENGINE_TABLE_IMAGE_SINK_H
#define ENGINE_TABLE_IMAGE_SINK_H

#include "base/compiler.h"

struct image_sink {
    /* Begins a section; its bytes follow. May be NULL. */
    void (*section)(struct image_sink *sink, uint32_t code, uint32_t version);
    /* Gets the next bytes of the section; they are valid during the call. */
    void (*bytes)(struct image_sink *sink, const void *bytes, size_t count);
};

static inline void image_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    sink->bytes(sink, bytes, count);
}

/* For a field list: writes a field of `row` to `sink`. */
#define IMAGE_FIELD(field) image_bytes(sink, &row->field, sizeof row->field);

static inline void image_u64(struct image_sink *sink, uint64_t value)
{
    sink->bytes(sink, &value, sizeof value);
}

#endif
