#include "net/http/parameter.h"

#include "net/http/route.h"

bool parameter_read_number(const char *text, size_t count, uint64_t *value)
{
    uint64_t number = 0;
    if (count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned digit = (unsigned char)text[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(number, UINT64_C(10), &number) ||
            __builtin_add_overflow(number, (uint64_t)digit, &number))
            return false;
    }
    *value = number;
    return true;
}

enum parameter_found parameter_text(const struct parameters *query, const char *name,
                                    char value[PARAMETER_TEXT_MAX], struct problem_detail *problem)
{
    int count = route_parameter(query->text, query->count, name, value, PARAMETER_TEXT_MAX);
    if (count == -1)
        return PARAMETER_ABSENT;
    if (count >= 0)
        return PARAMETER_GIVEN;
    if (count == -3) {
        (void)problem_detail_set(problem, PROBLEM_invalid_parameter, name, "%s is too long", name);
        return PARAMETER_LONG;
    }
    if (count == -4)
        (void)problem_detail_set(problem, PROBLEM_invalid_parameter, name,
                                 "a query has at most %d parameters", ROUTE_PARAMETERS_MAX);
    else
        (void)problem_detail_set(problem, PROBLEM_invalid_parameter, name,
                                 "%s is there twice or not well-formed", name);
    return PARAMETER_BAD;
}

enum parameter_found parameter_number(const struct parameters *query, const char *name,
                                      uint64_t minimum, uint64_t maximum, uint64_t *value,
                                      struct problem_detail *problem)
{
    char text[PARAMETER_TEXT_MAX];
    uint64_t number = 0;
    enum parameter_found found = parameter_text(query, name, text, problem);
    if (found == PARAMETER_ABSENT)
        return PARAMETER_ABSENT;
    if (found != PARAMETER_GIVEN || !parameter_read_number(text, strlen(text), &number) ||
        number < minimum || number > maximum) {
        (void)problem_detail_set(problem, PROBLEM_invalid_parameter, name,
                                 "%s must be %llu to %llu", name, (unsigned long long)minimum,
                                 (unsigned long long)maximum);
        return PARAMETER_BAD; /* no number is that long */
    }
    *value = number;
    return PARAMETER_GIVEN;
}
