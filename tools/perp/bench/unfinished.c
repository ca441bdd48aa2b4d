#include "perp/bench/unfinished.h"

#include <stdio.h>
#include <stdlib.h>

static const char HOST[] = "\r\nHost: ";

bool unfinished_init(struct unfinished *unfinished, uint32_t places)
{
    *unfinished = (struct unfinished){ .first = UNFINISHED_NONE, .last = UNFINISHED_NONE };
    unfinished->requests = malloc(places * sizeof *unfinished->requests);
    if (unfinished->requests == NULL)
        return false;
    for (uint32_t i = 0; i < places; i++)
        unfinished->requests[i].next = i + 1 < places ? i + 1 : UNFINISHED_NONE;
    return true;
}

void unfinished_free(struct unfinished *unfinished)
{
    free(unfinished->requests);
    unfinished->requests = NULL;
}

uint32_t unfinished_keep(struct unfinished *unfinished, uint32_t row, uint64_t now_ns,
                         const struct load_request *request)
{
    uint32_t number = unfinished->free;

    INVARIANT(number != UNFINISHED_NONE && request->count <= LOAD_REQUEST_MAX);
    struct unfinished_request *kept = &unfinished->requests[number];
    unfinished->free = kept->next;
    kept->row = row;
    kept->first_ns = now_ns;
    kept->count = request->count;
    memcpy(kept->bytes, request->bytes, request->count);
    return number;
}

void unfinished_drop(struct unfinished *unfinished, uint32_t number)
{
    unfinished->requests[number].next = unfinished->free;
    unfinished->free = number;
}

void unfinished_wait(struct unfinished *unfinished, uint32_t number)
{
    unfinished->requests[number].next = UNFINISHED_NONE;
    if (unfinished->last == UNFINISHED_NONE)
        unfinished->first = number;
    else
        unfinished->requests[unfinished->last].next = number;
    unfinished->last = number;
    unfinished->waiting++;
}

uint32_t unfinished_next(struct unfinished *unfinished)
{
    uint32_t number = unfinished->first;

    if (number == UNFINISHED_NONE)
        return number;
    unfinished->first = unfinished->requests[number].next;
    if (unfinished->first == UNFINISHED_NONE)
        unfinished->last = UNFINISHED_NONE;
    unfinished->waiting--;
    return number;
}

size_t unfinished_write(const struct unfinished *unfinished, uint32_t number, const char *host,
                        uint64_t at_least, uint8_t *out)
{
    const struct unfinished_request *kept = &unfinished->requests[number];
    const uint8_t *end = kept->bytes + kept->count;
    const uint8_t *line = memmem(kept->bytes, kept->count, HOST, sizeof HOST - 1);
    const uint8_t *after = NULL;
    char lines[UNFINISHED_MORE];

    if (line != NULL)
        after = memmem(line + 2, (size_t)(end - line) - 2, "\r\n", 2);
    if (after == NULL) { /* no request of HTTP/1.1 */
        memcpy(out, kept->bytes, kept->count);
        return kept->count;
    }
    int count = snprintf(lines, sizeof lines, "\r\nHost: %.*s", UNFINISHED_HOST_MAX - 8, host);
    if (memcmp(kept->bytes, "GET ", 4) == 0 && at_least != 0)
        count += snprintf(lines + count, sizeof lines - (size_t)count, "\r\nX-Min-Sequence: %lu",
                          at_least);
    size_t head = (size_t)(line - kept->bytes), rest = (size_t)(end - after);
    memcpy(out, kept->bytes, head);
    memcpy(out + head, lines, (size_t)count);
    memcpy(out + head + (size_t)count, after, rest);
    return head + (size_t)count + rest;
}
