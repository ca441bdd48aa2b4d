/* mistake.h - what a client did wrong, kept small until it is its turn to be answered (json.md J8).
 *
 * A mistake names itself: the detail says what and where, the extra member of its problem code
 * says which field or parameter, or which number. Net thread only; owns nothing.
 *
 * Bound. The detail is cut at MISTAKE_DETAIL_MAX - 1 bytes; it never repeats what the client sent,
 *        numbers apart. */
#ifndef NET_HTTP_MISTAKE_H
#define NET_HTTP_MISTAKE_H

#include "base/cc.h"
#include "base/problem.h"

enum { MISTAKE_DETAIL_MAX = 152 };

struct mistake {
    const char *member; /* static: the envelope member, body field, header or parameter; or NULL */
    uint64_t number;    /* of the problem's extra member: request_type, max_bytes, ... */
    uint16_t problem;   /* enum problem; 0: none */
    bool has_number;
    char detail[MISTAKE_DETAIL_MAX];
};

/* Fills *mistake and gives false, so that a check can end with `return mistake_set(...)`. */
bool mistake_set(struct mistake *mistake, enum problem problem, const char *member,
                 const char *format, ...) CC_PRINTF(4, 5);

/* The same with the number of the extra member. */
bool mistake_number(struct mistake *mistake, enum problem problem, uint64_t number,
                    const char *format, ...) CC_PRINTF(4, 5);

#endif
