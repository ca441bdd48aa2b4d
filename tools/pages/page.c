#include "pages/page.h"

enum { LINE_COLUMNS = 78 };

/* Writes one character as man(7) needs it: a hyphen becomes a minus sign, so that flags can be
 * copied. Returns the columns of source written. */
static size_t put_character(struct page *page, char character)
{
    const char *form = character == '\\'   ? "\\e"
                       : character == '-'  ? "\\-"
                       : character == '\'' ? "\\(aq"
                       : character == '~'  ? "\\(ti"
                                           : NULL;
    if (form == NULL) {
        fputc(character, page->out);
        return 1;
    }
    fputs(form, page->out);
    return strlen(form);
}

/* Appends text to the current line. */
static void put(struct page *page, const char *text)
{
    for (; *text != '\0'; text++)
        (void)put_character(page, *text);
}

/* Writes text on lines of its own, broken at blanks. A line never begins with a dot or an
 * apostrophe, which would make it a request. */
static void put_filled(struct page *page, const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t count = strcspn(text, " \n"), width = 0;
        /* A character has at most four columns. */
        if (column > 0 && column + 1 + count > LINE_COLUMNS - 12) {
            fputc('\n', page->out);
            column = 0;
        } else if (column > 0) {
            fputc(' ', page->out);
            width = 1;
        }
        if (column == 0 && text[0] == '.')
            fputs("\\&", page->out);
        for (size_t i = 0; i < count; i++)
            width += put_character(page, text[i]);
        column += width;
        text += count;
        text += strspn(text, " \n");
    }
    fputc('\n', page->out);
    page->headed = false;
}

void page_begin(struct page *page, const char *name, const char *section, const char *summary)
{
    fputs(".\\\" Made by perp-pages from the tables of the source; do not edit.\n.TH ", page->out);
    for (const char *at = name; *at != '\0'; at++)
        fputc(*at - 'a' + 'A', page->out);
    fprintf(page->out, " %s %s \"perpd %s\" perpd\n.SH NAME\n", section, page->date, page->version);
    put(page, name);
    fputs(" \\- ", page->out);
    put(page, summary);
    fputc('\n', page->out);
}

void page_section(struct page *page, const char *title)
{
    fprintf(page->out, ".SH %s\n", title);
    page->headed = true;
}

void page_subsection(struct page *page, const char *title)
{
    fputs(".SS \"", page->out);
    put(page, title);
    fputs("\"\n", page->out);
    page->headed = true;
}

void page_paragraph(struct page *page, const char *text)
{
    if (!page->headed)
        fputs(".PP\n", page->out);
    put_filled(page, text);
}

void page_item(struct page *page, const char *term, const char *value, const char *text)
{
    fputs(".TP\n\\fB", page->out);
    put(page, term);
    fputs("\\fR", page->out);
    if (value != NULL) {
        fputs(" \\fI", page->out);
        put(page, value);
        fputs("\\fR", page->out);
    }
    fputc('\n', page->out);
    put_filled(page, text);
}

void page_example(struct page *page, const char *text)
{
    if (!page->headed)
        fputs(".PP\n", page->out);
    fputs(".nf\n.RS\n", page->out);
    put(page, text);
    fputs("\n.RE\n.fi\n", page->out);
    page->headed = false;
}
