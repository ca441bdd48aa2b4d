/* problem_detail.h - what a client did wrong, kept small until its request is answered (json.md
 * J8).
 *
 * The detail says what is wrong and where. The extra member of the problem code gives the field,
 * the parameter or a number. Net thread only; owns nothing.
 *
 * Bound. The detail is cut at PROBLEM_DETAIL_TEXT_MAX - 1 bytes; it never repeats what the client
 *        sent, except numbers. */
#ifndef NET_HTTP_PROBLEM_DETAIL_H
#define NET_HTTP_PROBLEM_DETAIL_H

#include "base/compiler.h"
#include "base/problem.h"

enum { PROBLEM_DETAIL_TEXT_MAX = 152 };

struct problem_detail {
    const char *member; /* static: envelope member, body field, header or parameter; or NULL */
    uint64_t number;    /* of the problem's extra member: request_type, max_bytes, ... */
    uint16_t code;      /* enum problem; 0: none */
    bool has_number;
    char detail[PROBLEM_DETAIL_TEXT_MAX];
};

/* Fills *problem and gives false, so that a check can end with `return problem_detail_set(...)`. */
bool problem_detail_set(struct problem_detail *problem, enum problem code, const char *member,
                        const char *format, ...) CC_PRINTF(4, 5);

/* The same with the number of the extra member. */
bool problem_detail_set_number(struct problem_detail *problem, enum problem code, uint64_t number,
                               const char *format, ...) CC_PRINTF(4, 5);

#endif
