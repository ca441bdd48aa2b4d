/* http_map_body.h - the code that the variants of http_map share.
 *
 * A variant defines HTTP_MAP_VARIANT, includes this header, defines
 *
 *   static inline struct marks mark_block(const char text[64]);
 *
 * and ends with HTTP_MAP_DEFINE(its name). Without HTTP_MAP_VARIANT the header is empty: its
 * functions are static and complete only in a variant. */
#ifndef NET_HTTP_HTTP_MAP_BODY_H
#define NET_HTTP_HTTP_MAP_BODY_H

#include "net/http/http.h"
#include "net/http/http_map.h"

#ifdef HTTP_MAP_VARIANT

enum { BLOCK = HTTP_MAP_BLOCK, NOT_YET = -1, FAULTY = -2 };

static_assert((int)HTTP_MAP_BYTES_MAX == (int)HTTP_HEAD_MAX, "a map holds a head");

/* One bit for each of 64 bytes. */
struct marks {
    uint64_t stop; /* no token character */
    uint64_t cr;
    uint64_t lf;
    uint64_t control; /* neither CR, LF nor tab */
};

static inline struct marks mark_block(const char *text);

/* The marks of up to 64 bytes; bits from `left` up are zero. */
static inline struct marks mark_bytes(const char *text, size_t left)
{
    if (CC_LIKELY(left >= BLOCK))
        return mark_block(text);
    char padded[BLOCK] = { 0 };
    memcpy(padded, text, left);
    struct marks marks = mark_block(padded);
    uint64_t valid = (UINT64_C(1) << left) - 1;
    marks.stop &= valid;
    marks.cr &= valid;
    marks.lf &= valid;
    marks.control &= valid;
    return marks;
}

/* The state between two blocks. */
struct carry {
    uint64_t after_cr; /* 1: the byte before was CR */
    uint64_t after_lf; /* 1: the byte before was LF */
    uint64_t empty;    /* 1: the byte before was the CR of an empty line */
};

/* Checks one block and searches the empty line. Returns the offset after its LF in the block, or
 * NOT_YET, or FAULTY with *at. Faults after the empty line do not count. */
static inline int check_block(const struct marks *marks, size_t left, struct carry *carry,
                              uint8_t *fault, uint32_t *at)
{
    uint64_t valid = left >= BLOCK ? UINT64_MAX : (UINT64_C(1) << left) - 1;
    uint64_t expected = (marks->cr << 1) | carry->after_cr;
    uint64_t empty = marks->cr & ((marks->lf << 1) | carry->after_lf);
    uint64_t ends = marks->lf & ((empty << 1) | carry->empty);
    uint64_t looked = ends == 0 ? valid : (ends & -ends) | ((ends & -ends) - 1);
    uint64_t wrong = ((marks->lf ^ expected) | marks->control) & looked;
    if (CC_UNLIKELY(wrong != 0)) {
        uint64_t first = wrong & -wrong;
        *at = (uint32_t)__builtin_ctzll(wrong);
        *fault = marks->control & first ? HTTP_FAULT_CONTROL : HTTP_FAULT_LINE_END;
        return FAULTY;
    }
    if (ends != 0)
        return __builtin_ctzll(ends) + 1;
    if (left >= BLOCK) {
        carry->after_cr = marks->cr >> 63;
        carry->after_lf = marks->lf >> 63;
        carry->empty = empty >> 63;
    }
    return NOT_YET;
}

/* As http_map_scan. */
static int scan_pieces(const char *text, size_t from, size_t count, uint8_t *fault,
                       uint32_t *fault_at)
{
    struct carry carry = { 0 };
    if (from > 0) {
        carry.after_cr = text[from - 1] == '\r';
        carry.after_lf = text[from - 1] == '\n';
        carry.empty = carry.after_cr && from > 1 && text[from - 2] == '\n';
    }
    size_t limit = count < HTTP_HEAD_MAX ? count : HTTP_HEAD_MAX;
    for (size_t at = from; at < limit; at += BLOCK) {
        struct marks marks = mark_bytes(text + at, limit - at);
        uint32_t place = 0;
        int end = check_block(&marks, limit - at, &carry, fault, &place);
        if (end >= 0)
            return (int)at + end;
        if (end == FAULTY) {
            *fault_at = (uint32_t)at + place;
            return -1;
        }
    }
    if (count < HTTP_HEAD_MAX)
        return 0;
    *fault = HTTP_FAULT_TOO_LARGE;
    *fault_at = HTTP_HEAD_MAX;
    return -1;
}

/* As http_map_head. */
static int map_head(struct http_map *map, const char *text, size_t count, uint8_t *fault,
                    uint32_t *fault_at)
{
    struct carry carry = { 0 };
    size_t limit = count < HTTP_HEAD_MAX ? count : HTTP_HEAD_MAX;
    map->words = 0;
    for (size_t at = 0; at < limit; at += BLOCK) {
        struct marks marks = mark_bytes(text + at, limit - at);
        uint32_t place = 0;
        map->stop[map->words] = marks.stop;
        map->cr[map->words++] = marks.cr;
        int end = check_block(&marks, limit - at, &carry, fault, &place);
        if (end >= 0)
            return (int)at + end;
        if (CC_UNLIKELY(end == FAULTY)) {
            *fault_at = (uint32_t)at + place;
            return -1;
        }
    }
    if (count < HTTP_HEAD_MAX)
        return 0;
    *fault = HTTP_FAULT_TOO_LARGE;
    *fault_at = HTTP_HEAD_MAX;
    return -1;
}

#define HTTP_MAP_DEFINE(name) \
    const struct http_map_variant name = { .head = map_head, .scan = scan_pieces }

#endif
#endif
