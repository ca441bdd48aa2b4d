#include "net/http/problem_detail.h"

#include <stdarg.h>
#include <stdio.h>

static void fill(struct problem_detail *problem, enum problem code, const char *format,
                 va_list list)
{
    memset(problem, 0, offsetof(struct problem_detail, detail));
    problem->code = (uint16_t)code;
    (void)vsnprintf(problem->detail, sizeof problem->detail, format, list);
}

bool problem_detail_set(struct problem_detail *problem, enum problem code, const char *member,
                        const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fill(problem, code, format, list);
    va_end(list);
    problem->member = member;
    return false;
}

bool problem_detail_set_number(struct problem_detail *problem, enum problem code, uint64_t number,
                               const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fill(problem, code, format, list);
    va_end(list);
    problem->number = number;
    problem->has_number = true;
    return false;
}
