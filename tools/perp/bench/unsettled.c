#include "perp/bench/unsettled.h"

#include <stdio.h>
#include <stdlib.h>

static const char HOST[] = "\r\nHost: ";

bool unsettled_init(struct unsettled *unsettled, uint32_t places)
{
    *unsettled = (struct unsettled){ .first = UNSETTLED_NONE, .last = UNSETTLED_NONE };
    unsettled->requests = malloc(places * sizeof *unsettled->requests);
    if (unsettled->requests == NULL)
        return false;
    for (uint32_t i = 0; i < places; i++)
        unsettled->requests[i].next = i + 1 < places ? i + 1 : UNSETTLED_NONE;
    return true;
}

void unsettled_free(struct unsettled *unsettled)
{
    free(unsettled->requests);
    unsettled->requests = NULL;
}

uint32_t unsettled_keep(struct unsettled *unsettled, uint32_t row, uint64_t now_ns,
                        const struct load_request *request)
{
    uint32_t number = unsettled->free;

    INVARIANT(number != UNSETTLED_NONE && request->count <= LOAD_REQUEST_MAX);
    struct unsettled_request *kept = &unsettled->requests[number];
    unsettled->free = kept->next;
    kept->row = row;
    kept->first_ns = now_ns;
    kept->count = request->count;
    memcpy(kept->bytes, request->bytes, request->count);
    return number;
}

void unsettled_settle(struct unsettled *unsettled, uint32_t number)
{
    unsettled->requests[number].next = unsettled->free;
    unsettled->free = number;
}

void unsettled_wait(struct unsettled *unsettled, uint32_t number)
{
    unsettled->requests[number].next = UNSETTLED_NONE;
    if (unsettled->last == UNSETTLED_NONE)
        unsettled->first = number;
    else
        unsettled->requests[unsettled->last].next = number;
    unsettled->last = number;
    unsettled->waiting++;
}

uint32_t unsettled_next(struct unsettled *unsettled)
{
    uint32_t number = unsettled->first;

    if (number == UNSETTLED_NONE)
        return number;
    unsettled->first = unsettled->requests[number].next;
    if (unsettled->first == UNSETTLED_NONE)
        unsettled->last = UNSETTLED_NONE;
    unsettled->waiting--;
    return number;
}

size_t unsettled_write(const struct unsettled *unsettled, uint32_t number, const char *host,
                       uint64_t at_least, uint8_t *out)
{
    const struct unsettled_request *kept = &unsettled->requests[number];
    const uint8_t *end = kept->bytes + kept->count;
    const uint8_t *line = memmem(kept->bytes, kept->count, HOST, sizeof HOST - 1);
    const uint8_t *after = NULL;
    char lines[UNSETTLED_MORE];

    if (line != NULL)
        after = memmem(line + 2, (size_t)(end - line) - 2, "\r\n", 2);
    if (after == NULL) { /* no request of HTTP/1.1 */
        memcpy(out, kept->bytes, kept->count);
        return kept->count;
    }
    int count = snprintf(lines, sizeof lines, "\r\nHost: %.*s", UNSETTLED_HOST_MAX - 8, host);
    if (memcmp(kept->bytes, "GET ", 4) == 0 && at_least != 0)
        count += snprintf(lines + count, sizeof lines - (size_t)count, "\r\nX-Min-Sequence: %lu",
                          at_least);
    size_t head = (size_t)(line - kept->bytes), rest = (size_t)(end - after);
    memcpy(out, kept->bytes, head);
    memcpy(out + head, lines, (size_t)count);
    memcpy(out + head + (size_t)count, after, rest);
    return head + (size_t)count + rest;
}
