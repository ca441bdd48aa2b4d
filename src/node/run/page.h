/* page.h - a page of Prometheus text of a bounded size. The thread that has it. */
#ifndef NODE_RUN_PAGE_H
#define NODE_RUN_PAGE_H

#include <stddef.h>

#include "base/compiler.h"

struct page {
    char *text;
    size_t capacity; /* bytes; once a line did not fit, those used */
    size_t used;
};

/* Adds whole lines. What does not fit is left out, and nothing follows it. */
void CC_PRINTF(2, 3) page_line(struct page *page, const char *format, ...);

#endif
