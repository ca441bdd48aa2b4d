#include "net/http/mistake.h"

#include <stdarg.h>
#include <stdio.h>

static void fill(struct mistake *mistake, enum problem problem, const char *format, va_list list)
{
    memset(mistake, 0, offsetof(struct mistake, detail));
    mistake->problem = (uint16_t)problem;
    (void)vsnprintf(mistake->detail, sizeof mistake->detail, format, list);
}

bool mistake_set(struct mistake *mistake, enum problem problem, const char *member,
                 const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fill(mistake, problem, format, list);
    va_end(list);
    mistake->member = member;
    return false;
}

bool mistake_number(struct mistake *mistake, enum problem problem, uint64_t number,
                    const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fill(mistake, problem, format, list);
    va_end(list);
    mistake->number = number;
    mistake->has_number = true;
    return false;
}
