/* page.h - manual pages in the man(7) language, written piece by piece.
 *
 * Owner. One thread; it writes to the stream of the page. */
#ifndef PAGES_PAGE_H
#define PAGES_PAGE_H

#include <stdio.h>

#include "base/compiler.h"

struct page {
    FILE *out;
    const char *date, *version;
    bool headed; /* the last line is a heading: it begins the paragraph */
};

/* Begins a page: its heading and its NAME section. */
void page_begin(struct page *page, const char *name, const char *section, const char *summary);

/* Begin a section and, within one, a subsection. */
void page_section(struct page *page, const char *title);
void page_subsection(struct page *page, const char *title);

/* Writes a filled paragraph; a line feed in the text is a blank. */
void page_paragraph(struct page *page, const char *text);

/* Writes a term in bold, its value in italics (NULL: none), and its meaning. */
void page_item(struct page *page, const char *term, const char *value, const char *text);

/* Writes lines as they are. */
void page_example(struct page *page, const char *text);

#endif
