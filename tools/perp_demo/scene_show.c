/* scene_show.c - the live view: markets, trades, rates, latencies, and what to try next. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "perp/request/instant.h"
#include "perp_demo/scene.h"

enum { TEXT_MAX_BYTES = 160, RATE_NS = 1000000000 };

static void read_best(const json_t *side, char price[DECIMAL_TEXT_MAX], char size[DECIMAL_TEXT_MAX])
{
    const json_t *level = json_array_get(side, 0);
    const char *price_text = json_string_value(json_array_get(level, 0));
    const char *size_text = json_string_value(json_array_get(level, 1));
    snprintf(price, DECIMAL_TEXT_MAX, "%s", price_text != NULL ? price_text : "-");
    snprintf(size, DECIMAL_TEXT_MAX, "%s", size_text != NULL ? size_text : "");
}

/* The answer of a public read as JSON; NULL: none, as while perpd starts. */
static json_t *read_public(struct scene *scene, uint32_t place, const char *rest)
{
    char target[96];
    struct client_request request = { .method = "GET", .target = target };
    struct client_answer answer;
    snprintf(target, sizeof target, "/api/v1/markets/%s/%s", listing_at(place)->market, rest);
    if (client_call(&scene->client, &request, &answer) != 0 || answer.status != 200)
        return NULL;
    return json_loadb(answer.body, answer.body_count, 0, NULL);
}

static bool read_market(struct scene *scene, uint32_t place)
{
    struct scene_market *market = &scene->markets[place];
    json_t *book = read_public(scene, place, "book?depth=1");
    json_t *trades = read_public(scene, place, "trades?limit=1");
    const json_t *trade = json_array_get(json_object_get(trades, "trades"), 0);
    const char *price = json_string_value(json_object_get(trade, "price"));
    read_best(json_object_get(book, "bids"), market->bid, market->bid_size);
    read_best(json_object_get(book, "asks"), market->ask, market->ask_size);
    snprintf(market->last, sizeof market->last, "%s", price != NULL ? price : "-");
    if (trade != NULL)
        market->trade_seq = (uint64_t)json_integer_value(json_object_get(trade, "trade_seq"));
    bool read = book != NULL && trades != NULL;
    json_decref(book);
    json_decref(trades);
    return read;
}

static void read_metrics(struct scene *scene)
{
    struct client_request request = { .method = "GET", .target = "/metrics" };
    struct client_answer answer;
    if (client_call(&scene->admin, &request, &answer) == 0 && answer.status == 200)
        scrape_read(&scene->scrape, answer.body, answer.body_count);
}

static void price_text(const struct scene *scene, uint32_t market, int64_t raw,
                       char text[DECIMAL_TEXT_MAX])
{
    snprintf(text, DECIMAL_TEXT_MAX, "-");
    if (raw != 0)
        decimal_format(text, raw, scene->records[market].price_decimals);
}

static void show_markets(const struct scene *scene)
{
    printf("\033[1m  %-10s %10s %12s %12s %12s %12s %12s %9s %9s\033[0m\033[K\n", "market", "index",
           "bid size", "bid", "ask", "ask size", "last", "1,000 USD", "trades/s");
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        const struct scene_market *market = &scene->markets[i];
        char index[DECIMAL_TEXT_MAX];
        price_text(scene, i, (int64_t)feed_price(scene->feed, i), index);
        printf("  %-10s %10s %12s \033[32m%12s\033[0m \033[31m%12s\033[0m %12s %12s %9.0f "
               "%9.0f\033[K\n",
               listing_at(i)->market, index, market->bid_size, market->bid, market->ask,
               market->ask_size, market->last, (double)market->notional / 1e9, market->trades_s);
    }
}

static void show_trades(const struct scene *scene)
{
    printf("\033[1m  last trades, as the takers see them\033[0m\033[K\n");
    for (size_t back = 0; back < SCENE_TRADES_SHOWN && back < scene->trade_count; back++) {
        const struct scene_trade *trade =
            &scene->trades[(scene->trade_count - 1 - back) % SCENE_TRADES_SHOWN];
        char size[DECIMAL_TEXT_MAX], price[DECIMAL_TEXT_MAX];
        int64_t amount = trade->size < 0 ? -trade->size : trade->size;
        decimal_format(size, amount, scene->records[trade->market].size_decimals);
        price_text(scene, trade->market, trade->notional / amount, price);
        printf("  %-8s %s %12s %-9s @ %12s\033[K\n", trade->taker,
               trade->size < 0 ? "\033[31msells\033[0m" : "\033[32mbuys \033[0m", size,
               listing_at(trade->market)->market, price);
    }
}

static void show_stages(const struct scene *scene)
{
    printf("\033[1m  stage of a signed request     p50         p99   (since received; node's "
           "clock; durability %s)\033[0m\033[K\n",
           scene->provision.durability);
    for (uint32_t i = 0; i < scene->scrape.stage_count; i++) {
        const struct scrape_stage *row = &scene->scrape.stages[i];
        double p50 = scrape_quantile(row, 0.5), p99 = scrape_quantile(row, 0.99);
        if (p50 >= 0 && p99 >= 0)
            printf("  %-24s %8.0f us %8.0f us\033[K\n", row->name, p50 / 1000, p99 / 1000);
    }
}

static void show_answers(const struct scene *scene)
{
    printf("\033[1m  answers\033[0m");
    for (int i = 0; i < STATUS_COUNT; i++) {
        uint64_t count = scene_sum_status(scene, (enum status)i);
        if (count > 0)
            printf("  %s %llu", status_name((enum status)i), (unsigned long long)count);
    }
    printf("\033[K\n");
}

/* Rates over the last second or so; gives requests a second. */
static double update_rates(struct scene *scene)
{
    static uint64_t last_ns, last_sent;
    static double requests_s;
    uint64_t now_ns = instant_monotonic_ns(), sent = scene_sum_sent(scene);
    if (last_ns != 0 && now_ns - last_ns < RATE_NS)
        return requests_s;
    double seconds = last_ns == 0 ? INFINITY : (double)(now_ns - last_ns) / 1e9;
    requests_s = (double)(sent - last_sent) / seconds;
    for (int i = 0; i < LISTING_MARKETS; i++) {
        struct scene_market *market = &scene->markets[i];
        market->trades_s = (double)(market->trade_seq - market->seq_before) / seconds;
        market->seq_before = market->trade_seq;
    }
    last_ns = now_ns;
    last_sent = sent;
    return requests_s;
}

static void show_headline(struct scene *scene)
{
    double requests_s = update_rates(scene), trades_s = 0, p50 = -1, p99 = -1;
    const struct scrape_stage *sent = scrape_find(&scene->scrape, "sent");
    uint64_t elapsed_s = (instant_monotonic_ns() - scene->begin_ns) / 1000000000;
    for (int i = 0; i < LISTING_MARKETS; i++)
        trades_s += scene->markets[i].trades_s;
    if (sent != NULL) {
        p50 = scrape_quantile(sent, 0.5) / 1000;
        p99 = scrape_quantile(sent, 0.99) / 1000;
    }
    printf("%s %02llu:%02llu  requests/s %.0f  trades/s %.0f  accepted %llu  rejected %llu  "
           "takes %llu  ack p50 %.0f us p99 %.0f us (durability %s)  journal %.1f MB",
           scene->live ? "\033[7m perpd demo \033[0m" : "demo:", (unsigned long long)elapsed_s / 60,
           (unsigned long long)elapsed_s % 60, requests_s, trades_s,
           (unsigned long long)scene_sum_status(scene, STATUS_request_completed),
           (unsigned long long)scene_sum_rejected(scene),
           (unsigned long long)scene_sum_trades(scene), p50, p99, scene->provision.durability,
           (double)scene->scrape.journal_record_bytes / 1e6);
    printf("%s\n", scene->live ? "\033[K" : "");
}

static void show_plain(const struct scene *scene)
{
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        const struct scene_market *market = &scene->markets[i];
        printf("  %-9s bid %s ask %s last %s traded %.0f USDC, %.0f/s\n", listing_at(i)->market,
               market->bid, market->ask, market->last, (double)market->notional / 1e6,
               market->trades_s);
    }
}

void scene_show_hints(const struct scene *scene)
{
    const char *bin = scene->bin, *url = scene->server.url;
    printf("  try, in another terminal (you are account %llu, with 100,000 USDC):\n",
           (unsigned long long)scene->you.account_id);
    if (scene->seconds != 0)
        printf("  (only read in a run with --seconds: its sums are those of the players alone)\n");
    printf("    export PERP_CONFIG=%s/perp.ini\n", scene->folder);
    printf("    %s/perp order BTC-PERP buy 0.01 101000 --tif IOC --explain\n", bin);
    printf("    %s/perp order ETH-PERP sell 0.5 --market; %s/perp positions\n", bin, bin);
    printf("    %s/perp leverage SOL-PERP 5; %s/perp fills; %s/perp balance\n", bin, bin, bin);
    printf("    %s/perp watch book BTC-PERP; %s/perp trades DOGE-PERP\n", bin, bin);
    printf("    curl -s '%s/api/v1/markets/SOL-PERP/book?depth=3'\n", url);
    printf("    curl -s -H \"Authorization: Bearer $(cat %s/data/admin.token)\" %s/audit\n",
           scene->folder, scene->server.admin_url);
    printf("    curl -s '%s/api/v1/markets/XRP-PERP/trades?limit=5'; curl -s %s/api/v1/status\n",
           url, url);
}

bool scene_show_read(struct scene *scene)
{
    bool read = true;
    for (uint32_t i = 0; i < LISTING_MARKETS; i++)
        read = read_market(scene, i) && read;
    return read;
}

void scene_show(struct scene *scene)
{
    read_metrics(scene);
    (void)scene_show_read(scene);
    if (scene->live)
        printf("\033[H");
    show_headline(scene);
    if (!scene->live) {
        show_plain(scene);
        fflush(stdout);
        return;
    }
    if (scene->back_ns != 0)
        printf("  perpd was killed (SIGKILL) and ready again after %.0f ms\033[K\n",
               (double)(scene->back_ns - scene->killed_ns) / 1e6);
    printf("\033[K\n");
    show_markets(scene);
    printf("\033[K\n");
    show_trades(scene);
    printf("\033[K\n");
    show_stages(scene);
    show_answers(scene);
    printf("\033[K\n");
    scene_show_hints(scene);
    printf("  Ctrl-C settles everything and stops.\033[K\n\033[J");
    fflush(stdout);
}
