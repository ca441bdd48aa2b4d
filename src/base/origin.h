/* origin.h - origins of web pages (RFC 6454: scheme, host, port) that may read answers in a browser
 * (wire.md W7). Pure; any thread.
 *
 * Owner. A list points into the text that it was made from, which must outlive it.
 * Bound. ORIGIN_LIST_MAX origins of at most ORIGIN_BYTES_MAX bytes. */
#ifndef BASE_ORIGIN_H
#define BASE_ORIGIN_H

#include "base/host.h"

enum {
    ORIGIN_LIST_MAX = 32,
    ORIGIN_BYTES_MAX = 255,
    ORIGIN_NONE = 0,
    ORIGIN_ANY = ORIGIN_LIST_MAX + 1,
};

/* scheme://host[:port], cut at the marks; neither host nor port is judged. */
struct origin_parts {
    bool is_https;
    struct host_name host;
    struct host_name port; /* without the colon; text NULL: there is no colon */
};

struct origin_list {
    struct host_name origins[ORIGIN_LIST_MAX];
    uint32_t count;
    bool any; /* the text was "*" */
};

/* Cuts an origin in its parts, which point into the text. False if it does not begin with https://
 * or http://; *parts is then undefined. */
CC_MUST_USE bool origin_split(const char *text, size_t count, struct origin_parts *parts);

/* Fills the list from "*" or from comma-separated "http://host[:port]" and "https://host[:port]".
 * An empty text gives an empty list. False for another text; the list is then undefined. */
CC_MUST_USE bool origin_list_read(struct origin_list *list, const char *text);

/* The index of an Origin header's value in the list: ORIGIN_NONE, 1 to ORIGIN_LIST_MAX, or
 * ORIGIN_ANY. Browsers send origins in lower case; the comparison is exact. */
uint8_t origin_list_find(const struct origin_list *list, const char *text, size_t count);

/* The text for Access-Control-Allow-Origin; `index` is not ORIGIN_NONE. */
struct host_name origin_list_at(const struct origin_list *list, uint8_t index);

#endif
