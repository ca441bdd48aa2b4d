/* parameter.h - values of query parameters within their bounds (wire.md W7). Pure.
 *
 * Unknown parameters are ignored. A known parameter may come once. */
#ifndef NET_HTTP_PARAMETER_H
#define NET_HTTP_PARAMETER_H

#include "net/http/problem_detail.h"

enum {
    PARAMETER_TEXT_MAX = 256, /* of a value, with its closing zero */
};

enum parameter_found {
    PARAMETER_ABSENT, /* *value is unchanged */
    PARAMETER_GIVEN,
    PARAMETER_BAD,  /* *problem says what is wrong with it */
    PARAMETER_LONG, /* likewise; of a text: longer than any valid one */
};

/* The query string: the part of a target after its '?'. */
struct parameters {
    const char *text;
    size_t count;
};

/* The value of parameter `name`, percent signs and '+' decoded, zero-terminated. */
CC_MUST_USE enum parameter_found parameter_text(const struct parameters *query, const char *name,
                                                char value[PARAMETER_TEXT_MAX],
                                                struct problem_detail *problem);

/* A whole number in minimum..maximum, decimal digits only. */
CC_MUST_USE enum parameter_found parameter_number(const struct parameters *query, const char *name,
                                                  uint64_t minimum, uint64_t maximum,
                                                  uint64_t *value, struct problem_detail *problem);

/* Decimal digits only, at most UINT64_MAX. */
CC_MUST_USE bool parameter_read_number(const char *text, size_t count, uint64_t *value);

#endif
