/* The screen of the demo at three sizes, equal to tests/perp_demo/golden/COLUMNSxROWS.txt; its
 * blocks; and quantiles between two readings of /metrics. `--write` writes the golden files, which
 * are then to be looked at. */
#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "perp_demo/scrape.h"
#include "perp_demo/view.h"

enum { LINE_BYTES = 4096 };

static void fill_book(struct view *view, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct view_level *bid = &view->bids[i], *ask = &view->asks[i];
        bid->amount = 0.5 + i % 7;
        ask->amount = 1 + i % 5;
        snprintf(bid->price, sizeof bid->price, "%u.0", 100000 - i);
        snprintf(ask->price, sizeof ask->price, "%u.5", 100000 + i);
        snprintf(bid->size, sizeof bid->size, "%.5f", bid->amount);
        snprintf(ask->size, sizeof ask->size, "%.5f", ask->amount);
    }
    view->bid_count = view->ask_count = count;
    for (uint32_t i = 0; i < 2 * count; i++) {
        struct view_trade *trade = &view->trades[i];
        snprintf(trade->price, sizeof trade->price, "%u.0", 100000 - i % 3);
        snprintf(trade->size, sizeof trade->size, "0.%05u", 1000 + i);
        snprintf(trade->time, sizeof trade->time, "12:34:%02u.%03u", 59 - i % 60, 999 - i);
        trade->sells = i % 3 == 1;
    }
    view->trade_count = 2 * count;
}

static struct view *an_exchange(uint32_t levels)
{
    static struct view view;
    static const char *const names[] = { "BTC-PERP", "ETH-PERP", "SOL-PERP", "XRP-PERP",
                                         "DOGE-PERP" };
    view = (struct view){
        .elapsed_s = 754,
        .trades_s = 247,
        .journal_bytes = 12345678,
        .durability = "local",
        .address = "http://localhost:8080/",
        .operator_page = "operator http://localhost:8081/",
        .keys = "1-5 market  k kill -9 perpd  q end",
        .chosen = 1,
        .stages = { { "verified", 50300, 492e3 },
                    { "pushed", 52000, 492e3 },
                    { "sequenced", 96000, 803e3 },
                    { "matched", 117e3, 950e3 },
                    { "released", 1.3e6, 9.96e6 },
                    { "sent", 2e6, 12e6 } },
        .stage_count = 6,
        .refusals = { { "rejected_order_not_found", 1191 },
                      { "rejected_post_only_would_cross_book", 222 } },
        .refusal_count = 2,
        .tries = { "try: export PERP_CONFIG=build/release/demo.AbCdEf/perp.ini",
                   "./build/release/perp order BTC-PERP buy 0.01 101000 --explain" },
    };
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        struct view_market *market = &view.markets[i];
        market->name = names[i];
        strcpy(market->index, "100000.0");
        strcpy(market->bid, i == 3 ? "-" : "99999.5");
        strcpy(market->bid_size, i == 3 ? "-" : "0.01000");
        strcpy(market->ask, "100000.5");
        strcpy(market->ask_size, "12345.00000");
        strcpy(market->last, "100000.5");
        market->taken_usdc = 1039979 * (i + 1);
        market->trades_s = 47;
    }
    for (int i = 0; i < 20; i++) {
        series_add(&view.requests_s, 500 + 10 * i);
        series_add(&view.p50_ns, 1.9e6);
        series_add(&view.p99_ns, i == 15 ? 80e6 : 8e6);
    }
    fill_book(&view, levels);
    return &view;
}

/* The terminal's text, a line each without the spaces at its end. */
static void read_screen(int rows, char *text)
{
    char line[LINE_BYTES];

    for (int row = 0; row < rows; row++) {
        mvinnstr(row, 0, line, (int)sizeof line - 1);
        size_t length = strlen(line);
        while (length > 0 && line[length - 1] == ' ')
            length--;
        memcpy(text, line, length);
        text[length] = '\n';
        text += length + 1;
    }
    *text = '\0';
}

static void check_size(const char *folder, int columns, int rows, bool writes)
{
    static char text[1 << 18], golden[1 << 18];
    char path[512];

    CHECK(resize_term(rows, columns) == OK);
    view_draw(an_exchange(view_levels((uint32_t)rows)));
    read_screen(rows, text);
    snprintf(path, sizeof path, "%s/tests/perp_demo/golden/%dx%d.txt", folder, columns, rows);
    FILE *file = fopen(path, writes ? "w" : "r");
    CHECK(file != NULL);
    if (writes) {
        CHECK(fputs(text, file) >= 0);
    } else {
        golden[fread(golden, 1, sizeof golden - 1, file)] = '\0';
        if (strcmp(text, golden) != 0)
            fprintf(stderr, "%s differs from:\n%s", path, text);
        CHECK(strcmp(text, golden) == 0);
    }
    fclose(file);
}

static void check_edges(void)
{
    char text[LINE_BYTES];
    struct view *view = an_exchange(0);

    /* Nothing yet: no book, no trade, no refusal, no value. */
    CHECK(resize_term(24, 80) == OK);
    view->refusal_count = view->stage_count = 0;
    view->requests_s = view->p50_ns = view->p99_ns = (struct series){ 0 };
    series_add(&view->p50_ns, -1);
    series_add(&view->p99_ns, -1);
    view_draw(view);
    mvinnstr(0, 0, text, 80);
    CHECK(strstr(text, "ack p50 - p99 - ") != NULL);
    mvinnstr(11, 0, text, 8);
    CHECK(strcmp(text, " no asks") == 0);
    mvinnstr(12, 0, text, 8);
    CHECK(strcmp(text, " no bids") == 0);
    mvinnstr(9, 40, text, 13);
    CHECK(strcmp(text, "no trades yet") == 0);
    mvinnstr(19, 1, text, 19);
    CHECK(strcmp(text, "nothing was refused") == 0);
    /* Too small: it says what it needs, and does not write beyond. */
    CHECK(resize_term(23, 80) == OK);
    view_draw(view);
    mvinnstr(0, 0, text, 29);
    CHECK(strcmp(text, "80x23 is too small: 80x24    ") == 0);
    CHECK(resize_term(1, 10) == OK);
    view_draw(view);
    CHECK(view_levels(1) == 3 && view_levels(24) == 3 && view_levels(25) == 3);
    CHECK(view_levels(26) == 4 && view_levels(100000) == VIEW_LEVELS);
}

static void check_series(void)
{
    struct series series = { 0 };
    char text[SERIES_VALUES * SERIES_BLOCK_BYTES + 1];

    series_draw(&series, 4, text);
    CHECK(strcmp(text, "    ") == 0 && series_last(&series) == 0);
    for (int i = 0; i <= 7; i++)
        series_add(&series, i);
    series_draw(&series, 60, text);
    CHECK(strncmp(text, "          ", 10) == 0);
    CHECK(strcmp(text + 52, "▁▂▃▄▅▆▇█") == 0);
    /* 20 columns: three seconds each, the greatest of them; 7 6 5 | 4 3 2 | 1 0. */
    series_draw(&series, 20, text);
    CHECK(strcmp(text + 17, "▂▅█") == 0);
    /* A minute later they are forgotten; a second without a value (-1) is no value. */
    for (int i = 0; i < 59; i++)
        series_add(&series, -1);
    series_add(&series, 5);
    series_draw(&series, 60, text);
    CHECK(strncmp(text, "          ", 10) == 0 && strcmp(text + 59, "█") == 0);
    CHECK(series_last(&series) == 5);
}

static void read_stage(struct scrape *scrape, unsigned low, unsigned middle, unsigned all)
{
    char text[1024];
    int count = snprintf(text, sizeof text,
                         "perpd_net_stage_latency_ns_bucket{stage=\"sent\",le=\"1000\"} %u\n"
                         "perpd_net_stage_latency_ns_bucket{stage=\"sent\",le=\"2000\"} %u\n"
                         "perpd_net_stage_latency_ns_bucket{stage=\"sent\",le=\"+Inf\"} %u\n"
                         "perpd_net_stage_ns{stage=\"sent\",quantile=\"0.5\"} 777\n",
                         low, middle, all);
    scrape_read(scrape, text, (size_t)count);
}

static void check_quantiles_between(void)
{
    static struct scrape before, now;

    read_stage(&before, 100, 100, 100);
    read_stage(&now, 110, 120, 120);
    const struct scrape_stage *former = scrape_find(&before, "sent");
    const struct scrape_stage *stage = scrape_find(&now, "sent");
    /* 10 came up to 1000 and 10 from there to 2000: the median is 1000, p75 their middle. */
    CHECK(scrape_quantile_between(former, stage, 0.5) == 1000);
    CHECK(scrape_quantile_between(former, stage, 0.75) == 1500);
    CHECK(scrape_quantile_between(former, stage, 0.25) == 500);
    CHECK(scrape_quantile_between(stage, stage, 0.5) < 0);     /* none came */
    double median = scrape_quantile_between(NULL, stage, 0.5); /* the 60th of 110 in 0 to 1000 */
    CHECK(median > 545.45 && median < 545.46);
    CHECK(scrape_quantile(stage, 0.5) == 777);
    /* A new process counts from zero. */
    read_stage(&now, 0, 2, 4);
    CHECK(scrape_quantile_between(former, stage, 0.5) == 2000);
    CHECK(scrape_quantile_between(former, stage, 0.99) == 2000); /* beyond the last end */
}

int main(int argc, char **argv)
{
    const char *folder = getenv("PERPD_SOURCE");
    FILE *nowhere = fopen("/dev/null", "r+");
    bool writes = argc > 1 && strcmp(argv[1], "--write") == 0;

    CHECK(folder != NULL && nowhere != NULL);
    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    SCREEN *screen = newterm("xterm", nowhere, nowhere);
    CHECK(screen != NULL);
    check_size(folder, 80, 24, writes);
    check_size(folder, 120, 40, writes);
    check_size(folder, 200, 60, writes);
    check_edges();
    endwin();
    delscreen(screen);
    fclose(nowhere);
    check_series();
    check_quantiles_between();
    return 0;
}
