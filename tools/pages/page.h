/* page.h - manual pages in the man(7) language, written piece by piece.
 *
 * Owner. One thread; writes to the stream it is given. */
#ifndef PAGES_PAGE_H
#define PAGES_PAGE_H

#include <stdio.h>

#include "base/compiler.h"

struct page {
    FILE *out;
    const char *date, *version;
    bool headed; /* the last line is a heading: a paragraph follows by itself */
};

/* The heading of the page and its NAME section. */
void page_begin(struct page *page, const char *name, const char *section, const char *summary);

/* A section or, within one, a subsection. */
void page_section(struct page *page, const char *title);
void page_subsection(struct page *page, const char *title);

/* A paragraph, filled: a line feed in the text is a blank. */
void page_paragraph(struct page *page, const char *text);

/* A term in bold, its value in italics (NULL: none), and what it means. */
void page_item(struct page *page, const char *term, const char *value, const char *text);

/* Lines shown as they are. */
void page_example(struct page *page, const char *text);

#endif
