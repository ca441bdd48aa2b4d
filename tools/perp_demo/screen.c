#include "perp_demo/screen.h"

#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONTROL_L = 'L' & 31 };

static SCREEN *terminal; /* NULL: not open */

bool screen_open(void)
{
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return false;
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* whatever the environment says: terminals are */
    (void)fflush(stdout);
    terminal = newterm(NULL, stdout, stdin);
    if (terminal == NULL)
        return false;
    (void)atexit(screen_close);
    (void)cbreak();
    (void)noecho();
    (void)curs_set(0);
    (void)nodelay(stdscr, true);
    (void)keypad(stdscr, true);
    if (has_colors()) {
        (void)start_color();
        (void)use_default_colors();
        (void)init_pair(SCREEN_BID, COLOR_GREEN, -1);
        (void)init_pair(SCREEN_ASK, COLOR_RED, -1);
    }
    return true;
}

void screen_close(void)
{
    if (terminal == NULL)
        return;
    (void)endwin();
    delscreen(terminal);
    terminal = NULL;
}

int screen_key(void)
{
    for (;;) {
        int key = getch();
        if (key == ERR)
            return 0;
        if (key == CONTROL_L)
            (void)clearok(curscr, true);
        if (key != KEY_RESIZE)
            return key;
    }
}

uint32_t screen_rows(void)
{
    return (uint32_t)getmaxy(stdscr);
}

int screen_color(enum screen_hue hue)
{
    return has_colors() ? COLOR_PAIR(hue) : A_NORMAL;
}
