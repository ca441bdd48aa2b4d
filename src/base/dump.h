/* dump.h - every byte of a signed payload named: offset, size, name, kind and value, from the table
 * of base/field.h. What cannot be a payload is refused with the offset of the first wrong byte.
 *
 * Owner. One thread; no allocation, no output of its own. */
#ifndef BASE_DUMP_H
#define BASE_DUMP_H

#include "base/compiler.h"

enum { DUMP_NAME_MAX = 64, DUMP_VALUE_MAX = 320, DUMP_ERROR_MAX = 320 };

struct dump_row {
    size_t offset, size;
    char name[DUMP_NAME_MAX];
    const char *kind;           /* "u8", "price", "pad", ... */
    char value[DUMP_VALUE_MAX]; /* for people; long text is cut */
    const char *remark;         /* NULL, or why the exchange refuses this value */
};

/* Decimals of the payload's market, for prices and sizes; NULL where unknown. */
struct dump_scale {
    unsigned price_decimals, size_decimals;
    const char *market;
};

typedef void dump_emit(void *context, const uint8_t *bytes, const struct dump_row *row);

enum dump_form { DUMP_PAYLOAD, DUMP_FRAME };

/* Gives the rows of all `count` bytes in ascending offset, pads included; a frame ends with
 * public_key and signature. False, with a sentence that names the offset, before any row when the
 * bytes are no payload or frame. */
CC_MUST_USE bool dump_rows(const uint8_t *bytes, size_t count, enum dump_form form,
                           const struct dump_scale *scale, dump_emit *emit, void *context,
                           char error[DUMP_ERROR_MAX]);

/* The same for the body alone of a request code, as the node journals it (record kind 0): offsets
 * from the body's start. */
CC_MUST_USE bool dump_body_rows(uint32_t code, const uint8_t *body, size_t count,
                                const struct dump_scale *scale, dump_emit *emit, void *context,
                                char error[DUMP_ERROR_MAX]);

/* Bytes that follow the payload in a frame, or 0 for a signature type that no frame can carry. */
size_t dump_tail_bytes(uint8_t signature_type);

#endif
