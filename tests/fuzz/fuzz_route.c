/* Targets from strangers, as a whole request line (wire.md W7, W10): the destination's path
 * begins as the target does, its argument has its bound and is no part of another, and whatever
 * is not found is refused with 404 or 405. */
#include <stdlib.h>

#include "net/http/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct route *route, const struct problem_detail *problem, bool found,
                  const char *allow)
{
    if (!found) {
        if (problem->code != PROBLEM_not_found && problem->code != PROBLEM_method_not_allowed &&
            problem->code != PROBLEM_invalid_parameter)
            abort();
        if ((problem->code == PROBLEM_method_not_allowed) != (allow != NULL))
            abort();
        return;
    }
    if (route->kind == ROUTE_NONE || problem->code != PROBLEM_none)
        abort();
    if (route->argument_bytes >= ROUTE_ARGUMENT_MAX ||
        memchr(route->argument, '\0', ROUTE_ARGUMENT_MAX) == NULL)
        abort();
    if ((route->kind == ROUTE_SIGNED || route->kind == ROUTE_PLAIN) && route->path == NULL)
        abort();
    if (route->kind == ROUTE_OPTIONS && allow == NULL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct route_table tables[2];
    static const char tail[] = " HTTP/1.1\r\nHost: x\r\n\r\n";
    struct http_head head = { 0 };

    if (tables[0].count == 0) {
        route_init(&tables[0], (struct route_features){ 0 });
        route_init(&tables[1], (struct route_features){ true, true, true, true });
    }
    if (size < 1 || size > 2048)
        return 0;
    /* A copy of the exact size: a read past its end is found. */
    size_t count = size - 1 + sizeof tail - 1;
    char *text = malloc(count);
    memcpy(text, data + 1, size - 1);
    memcpy(text + size - 1, tail, sizeof tail - 1);
    if (http_parse(&head, text, count) == (int)count) {
        struct route route = { 0 };
        struct problem_detail problem = { 0 };
        const char *allow = NULL;
        bool found = route_find(&tables[data[0] & 1], &head, text, (data[0] & 2) != 0, &route,
                                &problem, &allow);
        check(&route, &problem, found, allow);
    }
    free(text);
    return 0;
}
