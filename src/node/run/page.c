#include "node/run/page.h"

#include <stdarg.h>
#include <stdio.h>

void CC_PRINTF(2, 3) page_line(struct page *page, const char *format, ...)
{
    va_list arguments;
    size_t left = page->capacity - page->used;

    va_start(arguments, format);
    int wrote = vsnprintf(page->text + page->used, left, format, arguments);
    va_end(arguments);
    if (wrote > 0 && (size_t)wrote < left)
        page->used += (size_t)wrote;
    else
        page->capacity = page->used; /* full: nothing follows a line that was left out */
}
