/* parameter.h - values of query parameters within their bounds (wire.md W7). Pure.
 *
 * Names that nobody asks for are ignored; a name that is asked for comes at most once. */
#ifndef NET_HTTP_PARAMETER_H
#define NET_HTTP_PARAMETER_H

#include "net/http/problem_detail.h"

enum {
    PARAMETER_TEXT_MAX = 256, /* of a value, with its closing zero */
};

enum parameter_found {
    PARAMETER_ABSENT, /* *value is untouched */
    PARAMETER_GIVEN,
    PARAMETER_BAD,  /* *problem says what is wrong with it */
    PARAMETER_LONG, /* likewise; of a text: longer than any that means something */
};

/* What stands behind the '?' of a target. */
struct parameters {
    const char *text;
    size_t count;
};

/* The value of parameter `name`, percent signs and '+' resolved, zero-ended. */
CC_MUST_USE enum parameter_found parameter_text(const struct parameters *query, const char *name,
                                                char value[PARAMETER_TEXT_MAX],
                                                struct problem_detail *problem);

/* A whole number in minimum..maximum, decimal digits alone. */
CC_MUST_USE enum parameter_found parameter_number(const struct parameters *query, const char *name,
                                                  uint64_t minimum, uint64_t maximum,
                                                  uint64_t *value, struct problem_detail *problem);

/* Decimal digits alone, at most UINT64_MAX. */
CC_MUST_USE bool parameter_read_number(const char *text, size_t count, uint64_t *value);

#endif
