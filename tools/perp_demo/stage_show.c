/* stage_show.c - the live view: book, trades, rates, latencies, and what to try next. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "perp/instant.h"
#include "perp_demo/stage.h"

enum { LEVELS = 8, TEXT_MAX_BYTES = 160, BAR_MAX = 14 };

struct level {
    char price[DECIMAL_TEXT_MAX], size[DECIMAL_TEXT_MAX];
};

struct book {
    struct level bids[LEVELS], asks[LEVELS];
    size_t bid_count, ask_count;
};

static size_t read_side(struct level *levels, const json_t *array)
{
    size_t count = 0;
    for (; count < LEVELS && count < json_array_size(array); count++) {
        const json_t *level = json_array_get(array, count);
        const char *price = json_string_value(json_array_get(level, 0));
        const char *size = json_string_value(json_array_get(level, 1));
        snprintf(levels[count].price, sizeof levels[count].price, "%s", price ? price : "?");
        snprintf(levels[count].size, sizeof levels[count].size, "%s", size ? size : "?");
    }
    return count;
}

static void read_book(struct stage *stage, struct book *book)
{
    struct client_request request = { .method = "GET",
                                      .target =
                                          "/api/v1/markets/" PROVISION_MARKET "/book?depth=8" };
    struct client_answer answer;
    *book = (struct book){ 0 };
    if (client_call(&stage->client, &request, &answer) != 0 || answer.status != 200)
        return;
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    book->bid_count = read_side(book->bids, json_object_get(root, "bids"));
    book->ask_count = read_side(book->asks, json_object_get(root, "asks"));
    json_decref(root);
}

static void read_metrics(struct stage *stage)
{
    struct client_request request = { .method = "GET", .target = "/metrics" };
    struct client_answer answer;
    if (client_call(&stage->admin, &request, &answer) == 0 && answer.status == 200)
        scrape_read(&stage->scrape, answer.body, answer.body_count);
}

static void price_text(const struct stage *stage, int64_t raw, char text[DECIMAL_TEXT_MAX])
{
    decimal_format(text, raw, stage->record.price_decimals);
}

static void trade_text(const struct stage *stage, size_t back, char text[TEXT_MAX_BYTES])
{
    text[0] = '\0';
    if (back >= stage->trade_count || back >= STAGE_TRADES_SHOWN)
        return;
    const struct stage_trade *trade =
        &stage->trades[(stage->trade_count - 1 - back) % STAGE_TRADES_SHOWN];
    char size[DECIMAL_TEXT_MAX], price[DECIMAL_TEXT_MAX];
    int64_t amount = trade->size < 0 ? -trade->size : trade->size;
    decimal_format(size, amount, stage->record.size_decimals);
    price_text(stage, trade->notional / amount, price);
    snprintf(text, TEXT_MAX_BYTES, "%-8s %s %9s @ %s", trade->taker,
             trade->size < 0 ? "sells" : "buys ", size, price);
}

static void show_book(const struct stage *stage, const struct book *book)
{
    char trade[TEXT_MAX_BYTES];
    size_t row = 0;
    printf("\033[1m  %-5s %12s %12s          %s\033[0m\033[K\n", "book", "price", "size",
           "last trades, as the takers see them");
    for (size_t i = LEVELS; i-- > 0; row++) {
        const struct level *level = &book->asks[i];
        bool there = i < book->ask_count;
        trade_text(stage, row, trade);
        printf("  \033[31m%-5s %12s %12s\033[0m          %s\033[K\n", there ? "ask" : "",
               there ? level->price : "", there ? level->size : "", trade);
    }
    for (size_t i = 0; i < LEVELS; i++, row++) {
        const struct level *level = &book->bids[i];
        bool there = i < book->bid_count;
        trade_text(stage, row, trade);
        printf("  \033[32m%-5s %12s %12s\033[0m          %s\033[K\n", there ? "bid" : "",
               there ? level->price : "", there ? level->size : "", trade);
    }
}

static void show_stages(const struct stage *stage)
{
    printf("\033[1m  stage of a signed request     p50         p99   (since received; node's "
           "clock)\033[0m\033[K\n");
    for (uint32_t i = 0; i < stage->scrape.stage_count; i++) {
        const struct scrape_stage *row = &stage->scrape.stages[i];
        double p50 = scrape_quantile(row, 0.5), p99 = scrape_quantile(row, 0.99);
        if (p50 >= 0 && p99 >= 0)
            printf("  %-24s %8.0f us %8.0f us\033[K\n", row->name, p50 / 1000, p99 / 1000);
    }
    uint64_t p50_ns = 0, p99_ns = 0;
    for (int i = 0; i < STAGE_PLAYERS; i++) {
        p50_ns = stage->players[i].p50_ns > p50_ns ? stage->players[i].p50_ns : p50_ns;
        p99_ns = stage->players[i].p99_ns > p99_ns ? stage->players[i].p99_ns : p99_ns;
    }
    printf("  %-24s %8llu us %8llu us   (slowest client's own clock)\033[K\n", "round trip",
           (unsigned long long)p50_ns / 1000, (unsigned long long)p99_ns / 1000);
}

static void show_rejections(const struct stage *stage)
{
    printf("\033[1m  answers\033[0m");
    for (int i = 0; i < STATUS_COUNT; i++) {
        uint64_t count = stage_status(stage, (enum status)i);
        if (count > 0)
            printf("  %s %llu", status_name((enum status)i), (unsigned long long)count);
    }
    printf("\033[K\n");
}

static void show_headline(const struct stage *stage)
{
    static uint64_t last_ns, last_sent, last_trades;
    static double orders_s, trades_s;
    uint64_t now_ns = instant_monotonic_ns(), sent = stage_sent(stage);
    uint64_t trades = stage_trades(stage);
    if (last_ns == 0 || now_ns - last_ns >= 1000000000) {
        double seconds = last_ns == 0 ? INFINITY : (double)(now_ns - last_ns) / 1e9;
        orders_s = (double)(sent - last_sent) / seconds;
        trades_s = (double)(trades - last_trades) / seconds;
        last_ns = now_ns;
        last_sent = sent;
        last_trades = trades;
    }
    char price[DECIMAL_TEXT_MAX];
    uint64_t elapsed_s = (now_ns - stage->begin_ns) / 1000000000;
    price_text(stage, (int64_t)feed_price(stage->feed), price);
    printf("%s  %s  %02llu:%02llu  index %s  requests/s %.0f  trades/s %.0f  accepted %llu  "
           "rejected %llu  trades %llu  journal %.1f MB",
           stage->live ? "\033[7m perpd demo \033[0m" : "demo:", PROVISION_MARKET,
           (unsigned long long)elapsed_s / 60, (unsigned long long)elapsed_s % 60, price, orders_s,
           trades_s, (unsigned long long)stage_status(stage, STATUS_request_completed),
           (unsigned long long)stage_rejected(stage), (unsigned long long)trades,
           (double)stage->scrape.journal_record_bytes / 1e6);
    printf("%s\n", stage->live ? "\033[K" : "");
}

void stage_show_hints(const struct stage *stage)
{
    printf("  try, in another terminal (you are account %llu, with 100,000 USDC):\n",
           (unsigned long long)stage->you.account_id);
    printf("    export PERP_CONFIG=%s/perp.ini\n", stage->folder);
    printf("    %s/perp order BTC-PERP buy 0.01 101000 --tif IOC --explain\n", stage->bin);
    printf("    %s/perp balance; %s/perp book BTC-PERP\n", stage->bin, stage->bin);
    printf("    curl -s '%s/api/v1/markets/BTC-PERP/book?depth=3'; curl -s %s/audit\n", stage->url,
           stage->admin_url);
}

void stage_show(struct stage *stage)
{
    struct book book;
    read_metrics(stage);
    if (!stage->live) {
        show_headline(stage);
        fflush(stdout);
        return;
    }
    read_book(stage, &book);
    printf("\033[H");
    show_headline(stage);
    printf("\033[K\n");
    show_book(stage, &book);
    printf("\033[K\n");
    show_stages(stage);
    show_rejections(stage);
    printf("\033[K\n");
    stage_show_hints(stage);
    printf("  Ctrl-C settles everything and stops.\033[K\n\033[J");
    fflush(stdout);
}
