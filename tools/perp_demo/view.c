#include "perp_demo/view.h"

#include <math.h>
#include <ncurses.h>
#include <stdio.h>

#include "perp_demo/screen.h"

enum {
    MARKETS_AT = 2,
    DEPTH_AT = MARKETS_AT + 1 + LISTING_MARKETS,
    PANEL_ROWS = 1 + VIEW_STAGES,
    TRY_ROWS = 2,
    BELOW_DEPTH = PANEL_ROWS + TRY_ROWS,
    WIDE = 104, /* columns from which the markets show sizes, the tape milliseconds */
};

_Static_assert(DEPTH_AT + 1 + 6 + BELOW_DEPTH == VIEW_ROWS_MIN, "three levels a side at least");

uint32_t view_levels(uint32_t rows)
{
    uint32_t extra = rows > VIEW_ROWS_MIN ? (rows - VIEW_ROWS_MIN) / 2 : 0;

    return 3 + extra < VIEW_LEVELS ? 3 + extra : VIEW_LEVELS;
}

static void title(int row, int column, int columns, const char *text)
{
    attron(A_BOLD);
    mvprintw(row, column, "%-*.*s", columns, columns, text);
    attroff(A_BOLD);
}

/* A duration in at most 6 characters; "-" for a negative one: nothing was measured. */
static void duration_text(double ns, char text[16])
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    size_t unit = 0;

    if (ns < 0) {
        snprintf(text, 16, "-");
        return;
    }
    for (; ns >= 999.5 && unit < CC_COUNT(units) - 1; unit++)
        ns /= 1000;
    snprintf(text, 16, ns < 9.95 && unit > 0 ? "%.1f %s" : "%.0f %s", ns, units[unit]);
}

/* Eighths of a column: part / whole of `columns`, then spaces. */
static void draw_bar(double part, double whole, int columns)
{
    static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    int length = whole > 0 ? (int)(fmin(part / whole, 1) * columns * 8 + 0.5) : 0;

    for (int i = 0; i < length / 8; i++)
        addstr("█");
    addstr(eighths[length % 8]);
}

/* ---- the upper rows -------------------------------------------------------------------------- */

/* At the right end of the row. */
static void draw_right(int row, int columns, const char *text)
{
    mvprintw(row, columns - (int)strlen(text) - 1, "%s", text);
}

static void draw_headline(const struct view *view, int columns)
{
    char p50[16], p99[16], text[VIEW_TEXT];

    duration_text(series_last(&view->p50_ns), p50);
    duration_text(series_last(&view->p99_ns), p99);
    int used =
        snprintf(text, sizeof text,
                 " perpd demo %02llu:%02llu  %.0f requests/s  %.0f trades/s  ack p50 %s "
                 "p99 %s",
                 (unsigned long long)view->elapsed_s / 60, (unsigned long long)view->elapsed_s % 60,
                 series_last(&view->requests_s), view->trades_s, p50, p99);
    if (columns >= WIDE && used > 0)
        snprintf(text + used, sizeof text - (size_t)used, "  durable: %s  journal %.1f MB",
                 view->durability, view->journal_bytes / 1e6);
    attron(A_REVERSE);
    mvprintw(0, 0, "%-*.*s", columns, columns, text);
    attroff(A_REVERSE);
    mvprintw(1, 0, " %s", view->address);
    mvprintw(1, (int)strlen(view->address) + 3, "%.*s", columns - (int)strlen(view->address) - 4,
             view->keys);
    if (columns >= WIDE)
        draw_right(1, columns, view->operator_page);
}

static void draw_market(const struct view *view, uint32_t place, int row, bool is_wide)
{
    const struct view_market *market = &view->markets[place];
    bool is_chosen = place == view->chosen;

    attron(is_chosen ? A_BOLD : A_NORMAL);
    mvprintw(row, 0, "%s%u %-9s %11s", is_chosen ? ">" : " ", place + 1, market->name,
             market->index);
    if (is_wide)
        printw(" %12s", market->bid_size);
    attron(screen_color(SCREEN_BID));
    printw(" %11s", market->bid);
    attroff(screen_color(SCREEN_BID));
    attron(screen_color(SCREEN_ASK));
    printw(" %11s", market->ask);
    attroff(screen_color(SCREEN_ASK));
    if (is_wide)
        printw(" %12s", market->ask_size);
    printw(" %11s %10.0f %8.0f", market->last, market->taken_usdc, market->trades_s);
    attroff(A_BOLD);
}

static void draw_markets(const struct view *view, int columns)
{
    char text[VIEW_TEXT];
    bool is_wide = columns >= WIDE;

    snprintf(text, sizeof text, "  %-9s %11s%s %11s %11s%s %11s %10s %8s", "market", "index",
             is_wide ? "     bid size" : "", "bid", "ask", is_wide ? "     ask size" : "", "last",
             "USDC taken", "trades/s");
    title(MARKETS_AT, 0, columns, text);
    for (uint32_t i = 0; i < LISTING_MARKETS; i++)
        draw_market(view, i, MARKETS_AT + 1 + (int)i, is_wide);
}

/* ---- depth and tape -------------------------------------------------------------------------- */

static void draw_level(const struct view_level *level, int row, int columns, double most,
                       enum screen_hue hue)
{
    attron(screen_color(hue));
    mvprintw(row, 0, " %11s", level->price);
    attroff(screen_color(hue));
    printw(" %11s ", level->size);
    attron(screen_color(hue));
    draw_bar(level->amount, most, columns - 27);
    attroff(screen_color(hue));
}

/* The asks stand on the bids; all bars have one scale. */
static void draw_depth(const struct view *view, int columns, uint32_t levels)
{
    char text[VIEW_TEXT];
    double most = 0;

    snprintf(text, sizeof text, " %s depth", view->markets[view->chosen].name);
    title(DEPTH_AT, 0, columns, text);
    for (uint32_t i = 0; i < levels; i++) {
        if (i < view->ask_count)
            most = fmax(most, view->asks[i].amount);
        if (i < view->bid_count)
            most = fmax(most, view->bids[i].amount);
    }
    int middle = DEPTH_AT + 1 + (int)levels;
    for (uint32_t i = 0; i < levels; i++) {
        if (i < view->ask_count)
            draw_level(&view->asks[i], middle - 1 - (int)i, columns, most, SCREEN_ASK);
        if (i < view->bid_count)
            draw_level(&view->bids[i], middle + (int)i, columns, most, SCREEN_BID);
    }
    if (view->ask_count == 0)
        mvprintw(middle - 1, 1, "no asks");
    if (view->bid_count == 0)
        mvprintw(middle, 1, "no bids");
}

static void draw_tape(const struct view *view, int column, int columns, uint32_t rows)
{
    int time_columns = columns >= WIDE / 2 ? 12 : 8;
    char text[VIEW_TEXT];

    snprintf(text, sizeof text, "%s tape", view->markets[view->chosen].name);
    title(DEPTH_AT, column, columns, text);
    for (uint32_t i = 0; i < rows && i < view->trade_count; i++) {
        const struct view_trade *trade = &view->trades[i];
        enum screen_hue hue = trade->sells ? SCREEN_ASK : SCREEN_BID;
        mvprintw(DEPTH_AT + 1 + (int)i, column, "%.*s ", time_columns, trade->time);
        attron(screen_color(hue));
        addstr(trade->sells ? "sell" : "buy ");
        attroff(screen_color(hue));
        printw(" %11s %11s", trade->size, trade->price);
    }
    if (view->trade_count == 0)
        mvprintw(DEPTH_AT + 1, column, "no trades yet");
}

/* ---- the last minute and the stages ---------------------------------------------------------- */

static void draw_series(const struct series *series, int row, int columns, const char *name,
                        const char *value)
{
    char text[SERIES_VALUES * SERIES_BLOCK_BYTES + 1];
    int room = columns - 11 - 9;

    series_draw(series, room < SERIES_VALUES ? (uint32_t)room : SERIES_VALUES, text);
    mvprintw(row, 0, " %-10s%s", name, text);
    mvprintw(row, columns - 8, "%7s", value);
}

/* A name that is too long loses what most begin with. */
static const char *refusal_name(const struct view_refusal *refusal, int columns)
{
    static const char prefix[] = "rejected_";
    bool is_long = (int)strlen(refusal->name) > columns;

    return is_long && strncmp(refusal->name, prefix, sizeof prefix - 1) == 0
               ? refusal->name + sizeof prefix - 1
               : refusal->name;
}

static void draw_minute(const struct view *view, int at, int columns)
{
    char p50[16], p99[16], rate[16];

    duration_text(series_last(&view->p50_ns), p50);
    duration_text(series_last(&view->p99_ns), p99);
    snprintf(rate, sizeof rate, "%.0f", series_last(&view->requests_s));
    title(at, 0, columns, " the last minute");
    draw_series(&view->requests_s, at + 1, columns, "requests/s", rate);
    draw_series(&view->p50_ns, at + 2, columns, "ack p50", p50);
    draw_series(&view->p99_ns, at + 3, columns, "ack p99", p99);
    for (uint32_t i = 0; i < VIEW_REFUSALS; i++) {
        const struct view_refusal *refusal = &view->refusals[i];
        if (i < view->refusal_count)
            mvprintw(at + 4 + (int)i, 0, " %-*.*s%7llu", columns - 9, columns - 9,
                     refusal_name(refusal, columns - 9), (unsigned long long)refusal->count);
        else if (i == 0)
            mvprintw(at + 4, 0, " nothing was refused");
    }
}

/* A full bar is the greatest p99; the dense part reaches to p50, the light one to p99. */
static void draw_stages(const struct view *view, int at, int column, int columns)
{
    char text[VIEW_TEXT], p50[16], p99[16];
    int room = columns - 10 - 16;
    double most = 0;

    snprintf(text, sizeof text, "%-*s%8s%8s", columns - 16, "stage, since received", "p50", "p99");
    title(at, column, columns, text);
    for (uint32_t i = 0; i < view->stage_count; i++)
        most = fmax(most, view->stages[i].p99_ns);
    for (uint32_t i = 0; i < view->stage_count; i++) {
        const struct view_stage *stage = &view->stages[i];
        int row = at + 1 + (int)i;
        duration_text(stage->p50_ns, p50);
        duration_text(stage->p99_ns, p99);
        mvprintw(row, column, "%-10.9s", stage->name);
        int light = most > 0 ? (int)(stage->p99_ns / most * room + 0.5) : 0;
        for (int k = 0; k < light; k++)
            addstr("░");
        move(row, column + 10);
        attron(screen_color(SCREEN_BID));
        draw_bar(stage->p50_ns, most, room);
        attroff(screen_color(SCREEN_BID));
        mvprintw(row, column + columns - 16, "%8s%8s", p50, p99);
    }
}

void view_draw(const struct view *view)
{
    int rows, columns;

    getmaxyx(stdscr, rows, columns);
    erase();
    if (rows < VIEW_ROWS_MIN || columns < VIEW_COLUMNS_MIN) {
        mvprintw(0, 0, "%dx%d is too small: %dx%d", columns, rows, VIEW_COLUMNS_MIN, VIEW_ROWS_MIN);
        refresh();
        return;
    }
    uint32_t levels = view_levels((uint32_t)rows);
    int left = columns / 2, panel = DEPTH_AT + 1 + 2 * (int)levels;
    draw_headline(view, columns);
    draw_markets(view, columns);
    draw_depth(view, left, levels);
    draw_tape(view, left, columns - left - 1, 2 * levels);
    draw_minute(view, panel, left);
    draw_stages(view, panel, left, columns - left - 1);
    for (int i = 0; i < TRY_ROWS; i++)
        mvprintw(panel + PANEL_ROWS + i, 0, " %.*s", columns - 2, view->tries[i]);
    refresh();
}
