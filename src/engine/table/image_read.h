/* image_read.h - reads the bytes of one section of an image, field by field. Pure.
 *
 *   for (; image_read_begins(read, 0 ROW_FIELDS(IMAGE_READ_BYTES)); read->row++) {
 *       row = ...;
 *       ROW_FIELDS(IMAGE_READ)
 *       if (...) return image_read_refuse(read, "...");
 *   }
 *   return read->wrong == NULL;
 *
 * Bound. No read goes beyond the section: image_read_begins checks the length before each row. */
#ifndef ENGINE_TABLE_IMAGE_READ_H
#define ENGINE_TABLE_IMAGE_READ_H

#include "base/compiler.h"

/* The greatest distance from zero of a time, a sum or an amount in an image. Twice it fits the
 * type. */
#define IMAGE_READ_TIME_MAX  (UINT64_C(1) << 63)
#define IMAGE_READ_MONEY_MAX (INT64_C(1) << 62)
#define IMAGE_READ_WIDE_MAX  ((int128)1 << 100)
#define IMAGE_READ_MARK_MAX  ((UINT64_C(1) << 41) - 1) /* 2^40 and 5 % (R5); margin_figure_mark */

struct image_read {
    const uint8_t *at;
    uint64_t left;
    uint64_t row;      /* number of the row that is being read, from 0 */
    const char *wrong; /* why the section is refused; NULL: not refused */
    uint32_t version;
};

/* Refuses the section for this reason, a sentence with static storage. Returns false. */
static inline bool image_read_refuse(struct image_read *read, const char *text)
{
    read->wrong = text;
    return false;
}

/* Copies the next `count` bytes. The caller has checked that the section has them. */
static inline void image_read_bytes(struct image_read *read, void *into, size_t count)
{
    INVARIANT(count <= read->left);
    memcpy(into, read->at, count);
    read->at += count;
    read->left -= count;
}

/* True if a row of this size follows. False at the end; false and refused if fewer bytes are
 * left. */
static inline bool image_read_begins(struct image_read *read, size_t row_bytes)
{
    if (read->left == 0)
        return false;
    return read->left >= row_bytes || image_read_refuse(read, "the section ends inside a row");
}

/* Reads the next word. False and refused if fewer bytes are left. */
CC_MUST_USE static inline bool image_read_u64(struct image_read *read, uint64_t *value)
{
    if (read->left < sizeof *value)
        return image_read_refuse(read, "the section ends inside a row");
    image_read_bytes(read, value, sizeof *value);
    return true;
}

/* For a field list: read a field of `row` from `read`, and add its size. */
#define IMAGE_READ(field)       image_read_bytes(read, &row->field, sizeof row->field);
#define IMAGE_READ_BYTES(field) +sizeof row->field

/* True if the byte of a bool is 0 or 1. Check this before the field is used as a bool. */
static inline bool image_read_is_bool(const bool *field)
{
    uint8_t byte;
    memcpy(&byte, field, sizeof byte);
    return byte <= 1;
}

static inline bool image_read_is_money(int64_t value)
{
    return value >= -IMAGE_READ_MONEY_MAX && value <= IMAGE_READ_MONEY_MAX;
}

static inline bool image_read_is_wide(int128 value)
{
    return value >= -IMAGE_READ_WIDE_MAX && value <= IMAGE_READ_WIDE_MAX;
}

/* True if all bytes are zero, as the writer leaves unused bytes. */
static inline bool image_read_is_zero(const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint8_t any = 0;

    for (size_t i = 0; i < count; i++)
        any |= at[i];
    return any == 0;
}

#endif
