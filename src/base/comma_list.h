/* comma_list.h - the items of a text that commas join, as options have them. Pure; any thread.
 *
 * Owner. The list and its items point into the text, which must outlive them.
 * Bound. A text of n commas has n + 1 items: an empty text has one, which is empty. */
#ifndef BASE_COMMA_LIST_H
#define BASE_COMMA_LIST_H

#include "base/compiler.h"

struct comma_list {
    const char *rest; /* NULL after the last item */
    size_t count;     /* bytes of the rest */
};

/* The items of `count` bytes at `text`, which need no zero after them. */
CC_MUST_USE static inline struct comma_list comma_list_of(const char *text, size_t count)
{
    return (struct comma_list){ text, count };
}

/* Sets *item and its *count of bytes to the next item, without a zero after it. False after the
 * last one; both are then unchanged. */
CC_MUST_USE static inline bool comma_list_next(struct comma_list *list, const char **item,
                                               size_t *count)
{
    size_t at = 0;

    if (list->rest == NULL)
        return false;
    while (at < list->count && list->rest[at] != ',')
        at++;
    *item = list->rest;
    *count = at;
    if (at == list->count)
        *list = (struct comma_list){ NULL, 0 };
    else
        *list = (struct comma_list){ list->rest + at + 1, list->count - at - 1 };
    return true;
}

#endif
