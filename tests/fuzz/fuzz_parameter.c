/* Query strings from strangers (wire.md W7): a value is there when its name is there once, a number
 * is within its bounds and its digits are those that were sent, nothing is read behind the end. */
#include <stdio.h>
#include <stdlib.h>

#include "net/http/parameter.h"
#include "net/http/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How often the name stands there, cut at every '&' and the first '=' behind it. */
static unsigned occurrences(const char *text, size_t size, const char *name)
{
    unsigned found = 0;
    size_t at = 0;

    while (at < size) {
        size_t stop = at;
        while (stop < size && text[stop] != '&')
            stop++;
        size_t end = at;
        while (end < stop && text[end] != '=')
            end++;
        found += end - at == strlen(name) && memcmp(text + at, name, end - at) == 0;
        at = stop + 1;
    }
    return found;
}

/* Of the query, the empty ones too. */
static unsigned parameter_count(const char *text, size_t count)
{
    unsigned found = 0;

    for (size_t i = 0; i < count; i++)
        found += i == 0 || text[i - 1] == '&';
    return found;
}

static void fuzz_text(const struct parameters *query)
{
    char value[PARAMETER_TEXT_MAX];
    struct problem_detail problem = { 0 };
    unsigned there = occurrences(query->text, query->count, "market");
    enum parameter_found found = parameter_text(query, "market", value, &problem);

    if (parameter_count(query->text, query->count) > ROUTE_PARAMETERS_MAX) {
        if (found != PARAMETER_BAD || problem.code == PROBLEM_none)
            abort();
        return;
    }
    if ((found == PARAMETER_ABSENT) != (there == 0))
        abort();
    if (found == PARAMETER_GIVEN && (there != 1 || strlen(value) >= sizeof value))
        abort();
    if ((found >= PARAMETER_BAD) != (problem.code != PROBLEM_none))
        abort();
}

static void fuzz_number(const struct parameters *query, uint64_t minimum, uint64_t maximum)
{
    char value[PARAMETER_TEXT_MAX];
    char again[PARAMETER_TEXT_MAX];
    struct problem_detail problem = { 0 };
    uint64_t number = 0;

    if (parameter_number(query, "limit", minimum, maximum, &number, &problem) != PARAMETER_GIVEN)
        return;
    if (number < minimum || number > maximum)
        abort();
    if (parameter_text(query, "limit", value, &problem) != PARAMETER_GIVEN)
        abort();
    const char *digits = value;
    while (digits[0] == '0' && digits[1] != '\0')
        digits++;
    (void)snprintf(again, sizeof again, "%llu", (unsigned long long)number);
    if (strcmp(digits, again) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of the exact size: a read past its end is found. */
    char *text = malloc(size > 0 ? size : 1);

    memcpy(text, data, size);
    const struct parameters query = { text, size };
    fuzz_text(&query);
    fuzz_number(&query, 1, 1000);
    fuzz_number(&query, 0, UINT64_MAX);
    free(text);
    return 0;
}
