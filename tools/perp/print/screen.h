/* screen.h - a picture that a terminal shows in the place of the one before.
 *
 * Owner. One thread; writes to standard output and nowhere else. */
#ifndef PERP_PRINT_SCREEN_H
#define PERP_PRINT_SCREEN_H

#include <stdio.h>

#include "base/compiler.h"

/* Characters of a picture. */
struct screen_size {
    uint32_t columns, rows;
};

/* Whether standard output is a terminal. */
CC_MUST_USE bool screen_is_terminal(void);

/* The terminal's size as it is now; 80 x 24 if it does not say. */
CC_MUST_USE struct screen_size screen_size(void);

/* Clears the terminal for the first picture. */
void screen_begin(void);

/* Draws `text` over the picture before: its first rows, each cut to the terminal's width, as many
 * as there is room for. Text is ASCII. */
void screen_draw(const char *text);

/* Text made by a stream, for screen_draw; the caller's to free. */
struct screen_page {
    FILE *out;
    char *text;
    size_t count;
};

void screen_page_begin(struct screen_page *page);
void screen_page_end(struct screen_page *page);

#endif
