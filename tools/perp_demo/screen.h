/* screen.h - the terminal as a screen: alternate buffer, colours, keys, size.
 *
 * Owner. One thread. The screen leaves nothing behind: screen_close gives the terminal back as it
 * was, and exit() calls it. */
#ifndef PERP_DEMO_SCREEN_H
#define PERP_DEMO_SCREEN_H

#include "base/compiler.h"

enum screen_hue { SCREEN_BID = 1, SCREEN_ASK };

/* Takes standard output over. False: it is no terminal, or one that cannot be drawn on; nothing
 * has changed. */
CC_MUST_USE bool screen_open(void);

/* Does nothing when it is not open. */
void screen_close(void);

/* The next key that was pressed, 0: none. A changed size is taken over, and is no key; Ctrl-L has
 * all of the screen drawn again. */
int screen_key(void);

uint32_t screen_rows(void);

/* What attron takes for a colour; the terminal's own where it has none. */
int screen_color(enum screen_hue hue);

#endif
