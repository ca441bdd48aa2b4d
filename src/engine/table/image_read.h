/* image_read.h - the bytes of one section of an image, taken field by field. Pure.
 *
 *   for (; image_read_begins(read, 0 ROW_FIELDS(IMAGE_READ_BYTES)); read->row++) {
 *       row = ...;
 *       ROW_FIELDS(IMAGE_READ)
 *       if (...) return image_read_refuse(read, "...");
 *   }
 *   return read->wrong == NULL;
 *
 * Bound. Nothing is read beyond the section: image_read_begins looks before a row is taken. */
#ifndef ENGINE_TABLE_IMAGE_READ_H
#define ENGINE_TABLE_IMAGE_READ_H

#include "base/compiler.h"

/* How far any time, sum or money of an image may be from zero: twice it fits the type. */
#define IMAGE_READ_TIME_MAX  (UINT64_C(1) << 63)
#define IMAGE_READ_MONEY_MAX (INT64_C(1) << 62)
#define IMAGE_READ_WIDE_MAX  ((int128)1 << 100)
#define IMAGE_READ_MARK_MAX  ((UINT64_C(1) << 41) - 1) /* 2^40 and 5 % (R5); margin_figure_mark */

struct image_read {
    const uint8_t *at;
    uint64_t left;
    uint64_t row;      /* number of the row being read, from 0 */
    const char *wrong; /* why the section is refused; NULL: it is not */
    uint32_t version;
};

static inline bool image_read_refuse(struct image_read *read, const char *text)
{
    read->wrong = text;
    return false;
}

/* The next bytes; the caller has seen that they are there. */
static inline void image_read_bytes(struct image_read *read, void *into, size_t count)
{
    INVARIANT(count <= read->left);
    memcpy(into, read->at, count);
    read->at += count;
    read->left -= count;
}

/* Whether a row follows: false at the end, and when what is left is too short for one. */
static inline bool image_read_begins(struct image_read *read, size_t row_bytes)
{
    if (read->left == 0)
        return false;
    return read->left >= row_bytes || image_read_refuse(read, "the section ends inside a row");
}

/* The next word, false: it is not there. */
CC_MUST_USE static inline bool image_read_u64(struct image_read *read, uint64_t *value)
{
    if (read->left < sizeof *value)
        return image_read_refuse(read, "the section ends inside a row");
    image_read_bytes(read, value, sizeof *value);
    return true;
}

/* For a field list: the field of `row` comes from `read`, and how many bytes it has. */
#define IMAGE_READ(field)       image_read_bytes(read, &row->field, sizeof row->field);
#define IMAGE_READ_BYTES(field) +sizeof row->field

/* Whether the byte of a bool holds one: it must not be looked at as a bool before. */
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

/* Whether all bytes are zero: what a lawful writer left unused. */
static inline bool image_read_is_zero(const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint8_t any = 0;

    for (size_t i = 0; i < count; i++)
        any |= at[i];
    return any == 0;
}

#endif
