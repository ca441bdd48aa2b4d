/* http_map.h - the first pass over a request head (http.h): bit maps of 64 bytes a step, up to the
 * empty line, with line ends and control characters checked. Pure.
 *
 * There are three variants; http_map_choose picks one at start. All share http_map_body.h and
 * differ in how they compare 64 bytes; the scalar variant compares one byte at a time.
 *
 * Owner. Any thread, after http_map_choose. */
#ifndef NET_HTTP_HTTP_MAP_H
#define NET_HTTP_HTTP_MAP_H

#include "base/cpu.h"

enum {
    HTTP_MAP_BYTES_MAX = 16384, /* of a head: HTTP_HEAD_MAX */
    HTTP_MAP_BLOCK = 64,
    HTTP_MAP_WORDS_MAX = HTTP_MAP_BYTES_MAX / HTTP_MAP_BLOCK + 1,
};

/* A bit for each byte. */
struct http_map {
    uint64_t stop[HTTP_MAP_WORDS_MAX]; /* no token character */
    uint64_t cr[HTTP_MAP_WORDS_MAX];
    uint32_t words; /* in use */
};

/* Call once, before any thread; again only in tests. `level` is at most cpu_level(). */
void http_map_choose(enum cpu_level level);

/* Fills the map up to the empty line. Returns the length of the head; 0 if its end is not within
 * the `count` bytes; -1 with *fault (enum http_fault) and *fault_at. */
CC_MUST_USE int http_map_head(struct http_map *map, const char *text, size_t count, uint8_t *fault,
                              uint32_t *fault_at);

/* The same without a map; the bytes before `from` have been scanned before. */
CC_MUST_USE int http_map_scan(const char *text, size_t from, size_t count, uint8_t *fault,
                              uint32_t *fault_at);

/* ---- the variants, for http_map.c and its test --------------------------------------------- */

struct http_map_variant {
    int (*head)(struct http_map *map, const char *text, size_t count, uint8_t *fault,
                uint32_t *fault_at);
    int (*scan)(const char *text, size_t from, size_t count, uint8_t *fault, uint32_t *fault_at);
};

extern const struct http_map_variant http_map_scalar, http_map_avx2, http_map_avx512;

#endif
