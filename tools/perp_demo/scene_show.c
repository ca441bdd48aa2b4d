/* scene_show.c - what the exchange says of its markets, in lines, and what to try next. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "perp/request/instant.h"
#include "perp_demo/scene.h"
#include "perp_demo/screen.h"

enum { RATE_NS = 1000000000 };

/* A number as the exchange says it, but with as many decimals as a multiple of `step` may have, so
 * that those of a column stand under each other; "-": there is none. */
static void align(const char *number, unsigned decimals, int64_t step, char text[DECIMAL_TEXT_MAX])
{
    const char *point = number == NULL ? NULL : strchr(number, '.');
    size_t given = point == NULL ? 0 : strlen(point + 1);

    for (; step > 0 && step % 10 == 0 && decimals > 0; step /= 10)
        decimals--;
    size_t zeros = number == NULL || given >= decimals ? 0 : decimals - given;
    snprintf(text, DECIMAL_TEXT_MAX, "%s%s%.*s", number == NULL ? "-" : number,
             zeros != 0 && point == NULL ? "." : "", (int)zeros, "000000000000000000");
}

static void align_price(const struct instrument *record, const char *price,
                        char text[DECIMAL_TEXT_MAX])
{
    align(price, record->price_decimals, record->tick, text);
}

static void align_size(const struct instrument *record, const char *size,
                       char text[DECIMAL_TEXT_MAX])
{
    align(size, record->size_decimals, record->lot, text);
}

/* Levels of one side for the screen; how many there are. */
static uint32_t read_levels(const json_t *side, const struct instrument *record,
                            struct view_level levels[VIEW_LEVELS])
{
    uint32_t count = 0;

    for (; count < json_array_size(side) && count < VIEW_LEVELS; count++) {
        struct view_level *level = &levels[count];
        const json_t *row = json_array_get(side, count);
        const char *price = json_string_value(json_array_get(row, 0));
        const char *size = json_string_value(json_array_get(row, 1));
        align_price(record, price, level->price);
        align_size(record, size, level->size);
        level->amount = size != NULL ? strtod(size, NULL) : 0;
    }
    return count;
}

/* The tape for the screen, newest first; how many rows there are. */
static uint32_t read_tape(const json_t *rows, const struct instrument *record,
                          struct view_trade trades[VIEW_LEVELS])
{
    enum { DAY_MS = 86400000 };
    uint32_t count = 0;

    for (; count < json_array_size(rows) && count < VIEW_LEVELS; count++) {
        struct view_trade *trade = &trades[count];
        const json_t *row = json_array_get(rows, count);
        const char *price = json_string_value(json_object_get(row, "price"));
        const char *size = json_string_value(json_object_get(row, "size"));
        const char *side = json_string_value(json_object_get(row, "taker_side"));
        uint32_t ms = (uint32_t)(json_integer_value(json_object_get(row, "time")) % DAY_MS);
        align_price(record, price, trade->price);
        align_size(record, size, trade->size);
        snprintf(trade->time, sizeof trade->time, "%02u:%02u:%02u.%03u", ms / 3600000 % 24,
                 ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
        trade->sells = side != NULL && strcmp(side, "SHORT") == 0;
    }
    return count;
}

static void read_best(const json_t *side, const struct instrument *record,
                      char price[DECIMAL_TEXT_MAX], char size[DECIMAL_TEXT_MAX])
{
    const json_t *level = json_array_get(side, 0);
    const char *price_text = json_string_value(json_array_get(level, 0));
    const char *size_text = json_string_value(json_array_get(level, 1));
    align_price(record, price_text, price);
    align_size(record, size_text, size);
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
    struct view_market *market = &scene->view.markets[place];
    const struct instrument *record = &scene->records[place];
    struct view *view = scene->live && place == scene->view.chosen ? &scene->view : NULL;
    uint32_t levels = view != NULL ? view_levels(screen_rows()) : 1;
    char depth[32], limit[32];
    snprintf(depth, sizeof depth, "book?depth=%u", levels);
    snprintf(limit, sizeof limit, "trades?limit=%u", view != NULL ? 2 * levels : 1);
    json_t *book = read_public(scene, place, depth);
    json_t *trades = read_public(scene, place, limit);
    const json_t *trade = json_array_get(json_object_get(trades, "trades"), 0);
    const char *price = json_string_value(json_object_get(trade, "price"));
    read_best(json_object_get(book, "bids"), record, market->bid, market->bid_size);
    read_best(json_object_get(book, "asks"), record, market->ask, market->ask_size);
    align_price(record, price, market->last);
    if (trade != NULL)
        scene->markets[place].trade_seq =
            (uint64_t)json_integer_value(json_object_get(trade, "trade_seq"));
    bool read = book != NULL && trades != NULL;
    if (read && view != NULL) {
        view->bid_count = read_levels(json_object_get(book, "bids"), record, view->bids);
        view->ask_count = read_levels(json_object_get(book, "asks"), record, view->asks);
        view->trade_count = read_tape(json_object_get(trades, "trades"), record, view->trades);
    }
    json_decref(book);
    json_decref(trades);
    return read;
}

void scene_show_read_metrics(struct scene *scene)
{
    struct client_request request = { .method = "GET", .target = "/metrics" };
    struct client_answer answer;
    if (client_call(&scene->admin, &request, &answer) == 0 && answer.status == 200)
        scrape_read(&scene->scrape, answer.body, answer.body_count);
}

bool scene_show_measure(struct scene *scene, struct scrape *before)
{
    static uint64_t last_ns, last_sent;
    uint64_t now_ns = instant_monotonic_ns(), sent = scene_sum_sent(scene);
    bool is_second = last_ns == 0 || now_ns - last_ns >= RATE_NS;

    if (!scene_cluster_aim(scene))
        return false; /* nobody leads now */
    if (is_second && before != NULL)
        *before = scene->scrape;
    scene_show_read_metrics(scene);
    (void)scene_show_read(scene);
    if (!is_second)
        return false;
    double seconds = last_ns == 0 ? INFINITY : (double)(now_ns - last_ns) / 1e9;
    scene->requests_s = (double)(sent - last_sent) / seconds;
    for (int i = 0; i < LISTING_MARKETS; i++) {
        struct scene_market *market = &scene->markets[i];
        uint64_t trades = market->trade_seq - market->seq_before;
        scene->view.markets[i].trades_s = (double)trades / seconds;
        market->seq_before = market->trade_seq;
    }
    last_ns = now_ns;
    last_sent = sent;
    return true;
}

static void show_headline(const struct scene *scene)
{
    double trades_s = 0, p50 = -1, p99 = -1;
    const struct scrape_stage *sent = scrape_find(&scene->scrape, "sent");
    uint64_t elapsed_s = (instant_monotonic_ns() - scene->begin_ns) / 1000000000;
    for (int i = 0; i < LISTING_MARKETS; i++)
        trades_s += scene->view.markets[i].trades_s;
    if (sent != NULL) {
        p50 = scrape_quantile(sent, 0.5) / 1000;
        p99 = scrape_quantile(sent, 0.99) / 1000;
    }
    printf(
        "demo: %02llu:%02llu  requests/s %.0f  trades/s %.0f  accepted %llu  rejected %llu  "
        "takes %llu  ack p50 %.0f us p99 %.0f us (durability %s)  journal %.1f MB\n",
        (unsigned long long)elapsed_s / 60, (unsigned long long)elapsed_s % 60, scene->requests_s,
        trades_s, (unsigned long long)scene_sum_status(scene, STATUS_request_completed),
        (unsigned long long)scene_sum_rejected(scene), (unsigned long long)scene_sum_trades(scene),
        p50, p99, scene->provision.durability, (double)scene->scrape.journal_record_bytes / 1e6);
}

static void show_markets(const struct scene *scene)
{
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        const struct view_market *market = &scene->view.markets[i];
        printf("  %-9s bid %s ask %s last %s traded %.0f USDC, %.0f/s\n", listing_at(i)->market,
               market->bid, market->ask, market->last, (double)scene->markets[i].notional / 1e6,
               market->trades_s);
    }
}

void scene_show_hints(const struct scene *scene)
{
    const struct cluster *cluster = &scene->cluster;
    const struct server *shown =
        cluster->is_on && cluster->leader >= 0 ? &cluster->nodes[cluster->leader] : &scene->server;
    const char *bin = scene->bin, *data = shown->data[0] != '\0' ? shown->data : "data";
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u", shown->port);
    printf("  console %s\n  operator %s\n", shown->console_url, shown->operator_url);
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
    printf("    curl -s -H \"Authorization: Bearer $(cat %s/%s/admin.token)\" %s/audit\n",
           scene->folder, data, shown->admin_url);
    if (cluster->is_on)
        printf("    %s/perp cluster status --data %s/%s --admin-url %s\n", bin, scene->folder, data,
               shown->admin_url);
    printf("    curl -s '%s/api/v1/markets/XRP-PERP/trades?limit=5'; curl -s %s/api/v1/status\n",
           url, url);
}

void scene_show_price(const struct instrument *record, uint64_t raw, char text[DECIMAL_TEXT_MAX])
{
    char price[DECIMAL_TEXT_MAX];

    decimal_format(price, (int64_t)raw, record->price_decimals);
    align_price(record, price, text);
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
    (void)scene_show_measure(scene, NULL);
    show_headline(scene);
    show_markets(scene);
    fflush(stdout);
}
