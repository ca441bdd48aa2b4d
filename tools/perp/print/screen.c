#include "perp/print/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS = 80, ROWS = 24 };

static const char clear_all[] = "\033[2J", home[] = "\033[H", erase_line[] = "\033[K";
static const char erase_below[] = "\033[J";

bool screen_is_terminal(void)
{
    return isatty(STDOUT_FILENO) != 0;
}

struct screen_size screen_size(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return (struct screen_size){ COLUMNS, ROWS };
    return (struct screen_size){ size.ws_col, size.ws_row };
}

void screen_begin(void)
{
    fputs(clear_all, stdout);
}

void screen_draw(const char *text)
{
    struct screen_size size = screen_size();
    fputs(home, stdout);
    for (uint32_t row = 0; *text != '\0' && row < size.rows; row++) {
        size_t line = strcspn(text, "\n");
        size_t shown = line < size.columns ? line : size.columns;
        /* A line that fills the row leaves nothing to erase, and erasing would take its end. */
        fprintf(stdout, "%s%.*s%s", row != 0 ? "\r\n" : "", (int)shown, text,
                shown < size.columns ? erase_line : "");
        text += line + (text[line] == '\n');
    }
    fputs(erase_below, stdout);
}

void screen_page_begin(struct screen_page *page)
{
    page->text = NULL;
    page->count = 0;
    page->out = open_memstream(&page->text, &page->count);
    INVARIANT(page->out != NULL);
}

void screen_page_end(struct screen_page *page)
{
    int error = fclose(page->out);
    page->out = NULL;
    INVARIANT(error == 0 && page->text != NULL);
}
