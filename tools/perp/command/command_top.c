/* command_top.c - every market at a glance, and how far the exchange is, while they change. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/timestamp.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/invocation/feed.h"
#include "perp/print/report.h"
#include "perp/print/screen.h"
#include "perp/request/instant.h"

enum {
    PICTURE_MS = 1000,
    TICKERS_MS = 5000, /* between two reads of what is of 24 h */
    MARKETS_MAX = 60,  /* four subscriptions each, and 256 on a connection without an option (W9) */
    TRADES_KEPT = 64,
    TRADE_COLUMNS = 61,
    HEAD_ROWS = 3, /* the exchange, an empty row, the names of columns */
};

static const uint64_t ms_ns = 1000000;

/* What a stream tells of a market, over what GET /tickers told before. */
struct top_market {
    char name[33];
    json_t *ticker;    /* with what the channels bbo and mark have changed */
    const char *state; /* of `known_states`, or "-" */
    char funding[16];  /* what the hour's funding would be, in percent; "-": not told */
    uint64_t trades;   /* updates since the last picture */
    double trade_rate; /* a second, of the last picture */
    uint32_t price_digits, size_digits; /* behind the point, the most that were seen */
};

struct top_trade {
    struct top_market *market;
    json_t *data;
};

struct top {
    struct context *context;
    struct feed feed;
    bool is_terminal;
    uint64_t shown, count;
    int64_t interval_ms;
    uint64_t next_ns, tickers_ns; /* CLOCK_MONOTONIC of the next picture and of the next read */
    uint64_t drawn_ns, drawn_seq; /* of the last picture */
    uint64_t engine_seq;          /* the newest of any frame */
    json_t *status;
    uint32_t market_count, left_out;
    struct top_market markets[MARKETS_MAX];
    struct top_trade trades[TRADES_KEPT + 1]; /* newest first, and room for one */
    uint32_t trade_count;
};

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "-";
}

static uint64_t number_of(const json_t *object, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(object, name));
}

/* ---- what is known --------------------------------------------------------------------------- */

/* The names outlive the frames that told them. */
static const char *state_named(const char *name)
{
    static const char *const known_states[] = { "ACTIVE",      "POST_ONLY", "REDUCE_ONLY",
                                                "CANCEL_ONLY", "HALTED",    "CLOSED" };
    for (size_t k = 0; k < CC_COUNT(known_states); k++)
        if (strcmp(known_states[k], name) == 0)
            return known_states[k];
    return "-";
}

static struct top_market *find_market(struct top *top, const char *name)
{
    for (uint32_t k = 0; k < top->market_count; k++)
        if (strcmp(top->markets[k].name, name) == 0)
            return top->markets + k;
    return NULL;
}

/* Takes a ticker. The first read decides which markets are shown; later ones bring new figures. */
static void take_ticker(struct top *top, json_t *ticker, bool is_first)
{
    const char *name = text_of(ticker, "market");
    struct top_market *market = find_market(top, name);
    bool fits = strlen(name) < sizeof market->name; /* else it is no market of perpd's */
    if (market == NULL && is_first && fits && top->market_count < MARKETS_MAX) {
        market = top->markets + top->market_count++;
        snprintf(market->name, sizeof market->name, "%s", name);
        market->state = "-";
        snprintf(market->funding, sizeof market->funding, "-");
    }
    if (market == NULL) {
        top->left_out += is_first;
        return;
    }
    json_decref(market->ticker);
    market->ticker = json_incref(ticker);
}

/* Reads what has no channel. False after a printed error. */
static bool read_tickers(struct top *top, bool is_first)
{
    struct client_answer answer;
    size_t index;
    json_t *ticker;
    top->tickers_ns = instant_monotonic_ns() + TICKERS_MS * ms_ns;
    if (!context_get(top->context, "/api/v1/tickers", false, &answer))
        return false;
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    json_array_foreach(json_object_get(root, "tickers"), index, ticker)
        take_ticker(top, ticker, is_first);
    json_decref(root);
    return true;
}

static void ask_all(struct top *top)
{
    static const char *const channels[] = { "bbo", "mark", "trades", "market_state" };
    feed_ask(&top->feed, json_pack("{s:s, s:s}", "op", "subscribe", "channel", "status"));
    for (uint32_t k = 0; k < top->market_count; k++)
        for (size_t i = 0; i < CC_COUNT(channels) && top->feed.is_open; i++)
            feed_ask(&top->feed, json_pack("{s:s, s:s, s:s}", "op", "subscribe", "channel",
                                           channels[i], "market", top->markets[k].name));
}

/* Whether `a` happened after `b`. */
static bool is_later(const json_t *a, const json_t *b)
{
    uint64_t at = number_of(a, "sequence"), other = number_of(b, "sequence");
    return at != other ? at > other : number_of(a, "index") > number_of(b, "index");
}

static void note_digits(uint32_t *most, const json_t *data, const char *name)
{
    uint32_t digits = report_fraction(json_string_value(json_object_get(data, name)));
    *most = digits > *most ? digits : *most;
}

/* Keeps a trade among the newest of all markets. One that is kept comes again with a snapshot. */
static void keep_trade(struct top *top, struct top_market *market, json_t *data)
{
    uint32_t at = 0;
    while (at < top->trade_count && is_later(top->trades[at].data, data))
        at++;
    if (at == TRADES_KEPT || (at < top->trade_count && !is_later(data, top->trades[at].data)))
        return;
    memmove(top->trades + at + 1, top->trades + at, (top->trade_count - at) * sizeof *top->trades);
    top->trades[at] = (struct top_trade){ market, json_incref(data) };
    if (top->trade_count == TRADES_KEPT)
        json_decref(top->trades[TRADES_KEPT].data);
    else
        top->trade_count++;
    note_digits(&market->size_digits, data, "size");
    note_digits(&market->price_digits, data, "price");
}

/* Takes the newest trades of a snapshot, or one that has happened since. */
static void take_trades(struct top *top, struct top_market *market, json_t *data, bool is_update)
{
    size_t index;
    json_t *trade;
    json_array_foreach(json_object_get(data, "trades"), index, trade)
        keep_trade(top, market, trade);
    if (!is_update)
        return;
    keep_trade(top, market, data);
    market->trades++;
    (void)json_object_set(market->ticker, "last_price", json_object_get(data, "price"));
}

static void take_mark(struct top_market *market, const json_t *data)
{
    const char *rate = json_string_value(json_object_get(data, "predicted_funding_rate"));
    if (rate != NULL)
        snprintf(market->funding, sizeof market->funding, "%+.4f", strtod(rate, NULL) * 100);
}

/* Copies the members of `data` that a ticker has too. */
static void take_members(const struct top_market *market, const json_t *data)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)data, name,
                        value) if (json_object_get(market->ticker, name) != NULL)(void)
        json_object_set(market->ticker, name, value);
}

static void take(struct top *top, json_t *frame)
{
    const char *channel = text_of(frame, "channel"), *type = text_of(frame, "type");
    json_t *data = json_object_get(frame, "data");
    if (json_object_get(frame, "op") != NULL || data == NULL)
        return;
    if (number_of(frame, "engine_seq") > top->engine_seq)
        top->engine_seq = number_of(frame, "engine_seq");
    if (strcmp(channel, "status") == 0 && json_object_size(data) != 0) {
        json_decref(top->status);
        top->status = json_incref(data);
        return;
    }
    struct top_market *market = find_market(top, text_of(frame, "market"));
    if (market == NULL || strcmp(type, "heartbeat") == 0)
        return;
    if (strcmp(channel, "market_state") == 0) {
        market->state = state_named(text_of(data, "state"));
    } else if (strcmp(channel, "trades") == 0) {
        take_trades(top, market, data, strcmp(type, "update") == 0);
    } else {
        take_members(market, data);
        take_mark(market, data);
    }
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* The change of the last price in 24 h, as "+1.25"; "-" without one. */
static void change_text(const json_t *ticker, char *text, size_t bytes)
{
    const char *last = json_string_value(json_object_get(ticker, "last_price"));
    const char *open = json_string_value(json_object_get(ticker, "open_24h"));
    double before = open != NULL ? strtod(open, NULL) : 0;
    if (last == NULL || before <= 0)
        snprintf(text, bytes, "-");
    else
        snprintf(text, bytes, "%+.2f", (strtod(last, NULL) / before - 1) * 100);
    if (strcmp(text, "-0.00") == 0 || strcmp(text, "+0.00") == 0)
        snprintf(text, bytes, "0.00");
}

/* An amount in at most six characters, as 12.3M. */
static void short_text(const char *amount, char *text, size_t bytes)
{
    static const char units[] = " kMGT";
    double value = strtod(amount, NULL);
    size_t unit = 0;
    while (value >= 999.95 && unit + 2 < sizeof units) {
        value /= 1000;
        unit++;
    }
    snprintf(text, bytes, unit == 0 ? "%.4g" : "%.1f%c", value, units[unit]);
}

/* A column of the markets, shown in terminals in which a blank is left behind it. `member`: of the
 * ticker. */
static const struct {
    const char *title, *member;
    int width;
    uint32_t columns;
} columns[] = {
    { "LAST", "last_price", 11, 24 },
    { "24H%", NULL, 7, 31 },
    { "BID", "bid_price", 11, 42 },
    { "ASK", "ask_price", 11, 53 },
    { "MARK", "mark_price", 11, 64 },
    { "VOL USDC", "notional_24h", 9, 73 },
    { "TR/S", NULL, 6, 79 },
    { "FUND%/H", NULL, 10, 89 },
    { "INDEX", "index_price", 11, 100 },
    { "OPEN INT", "open_interest", 10, 110 },
    { "HIGH 24H", "high_24h", 11, 121 },
    { "LOW 24H", "low_24h", 11, 132 },
};

static void cell_text(const struct top_market *market, size_t column, char *text, size_t bytes)
{
    const char *title = columns[column].title, *member = columns[column].member;
    if (strcmp(title, "24H%") == 0)
        change_text(market->ticker, text, bytes);
    else if (strcmp(title, "FUND%/H") == 0)
        snprintf(text, bytes, "%s", market->funding);
    else if (member == NULL)
        snprintf(text, bytes, "%.1f", market->trade_rate);
    else if (strcmp(member, "notional_24h") == 0 || strcmp(member, "open_interest") == 0)
        short_text(text_of(market->ticker, member), text, bytes);
    else
        report_padded(text_of(market->ticker, member), market->price_digits, text, bytes);
}

static void write_markets(const struct top *top, FILE *out, struct screen_size size, uint32_t most)
{
    fprintf(out, "%-12s", "MARKET");
    for (size_t i = 0; i < CC_COUNT(columns); i++)
        if (columns[i].columns <= size.columns)
            fprintf(out, "%*s", columns[i].width, columns[i].title);
    fprintf(out, "\n");
    for (uint32_t k = 0; k < top->market_count && k < most; k++) {
        const struct top_market *market = top->markets + k;
        bool is_active = strcmp(market->state, "ACTIVE") == 0 || strcmp(market->state, "-") == 0;
        fprintf(out, "%-12.12s", market->name);
        for (size_t i = 0; i < CC_COUNT(columns); i++) {
            char text[64];
            cell_text(market, i, text, sizeof text);
            if (columns[i].columns <= size.columns && (is_active || i != 0))
                fprintf(out, "%*s", columns[i].width, text);
            else if (columns[i].columns <= size.columns)
                fprintf(out, "%*s", columns[i].width, market->state);
        }
        fprintf(out, "\n");
    }
    uint32_t hidden = top->left_out + (top->market_count > most ? top->market_count - most : 0);
    if (hidden != 0)
        fprintf(out, "and %u more\n", hidden);
}

static void write_status(const struct top *top, FILE *out, double rate)
{
    char time[TIMESTAMP_TEXT_BYTES + 1];
    timestamp_format_ms(instant_now_ns() / ms_ns, time);
    fprintf(out, "%s  %s  sequence %" PRIu64 " +%.0f/s  lag %" PRIu64 " ms  %.8s\n",
            top->feed.is_open ? top->feed.client.authority : "no connection",
            text_of(top->status, "state"), top->engine_seq, rate, number_of(top->status, "lag_ms"),
            time + 11);
    const char *text = json_string_value(json_object_get(top->status, "text"));
    bool is_deficit = json_is_true(json_object_get(top->status, "insurance_fund_deficit"));
    fprintf(out, "%s%s%s\n", is_deficit ? "INSURANCE FUND DEFICIT  " : "", text != NULL ? text : "",
            json_object_get(top->status, "clock_gap_ns") != NULL ? "  GAP OF THE CLOCK" : "");
}

static void write_trades(const struct top *top, FILE *out, uint32_t most)
{
    if (most < 3 || top->trade_count == 0)
        return;
    fprintf(out, "\n%-12s  %-12s  %-5s %12s %14s\n", "TIME", "MARKET", "TAKER", "PRICE", "SIZE");
    for (uint32_t k = 0; k < top->trade_count && k + 2 < most; k++) {
        const struct top_market *market = top->trades[k].market;
        const json_t *data = top->trades[k].data;
        char time[TIMESTAMP_TEXT_BYTES + 1], price[64], size[64];
        timestamp_format_ms(number_of(data, "time"), time);
        report_padded(text_of(data, "price"), market->price_digits, price, sizeof price);
        report_padded(text_of(data, "size"), market->size_digits, size, sizeof size);
        fprintf(out, "%.12s  %-12.12s  %-5s %12s %14s%s\n", time + 11, market->name,
                text_of(data, "taker_side"), price, size,
                json_is_true(json_object_get(data, "liquidation")) ? "  liquidation" : "");
    }
}

/* Prices of a market are shown with as many digits behind the point. */
static void note_prices(struct top_market *market)
{
    for (size_t i = 0; i < CC_COUNT(columns); i++)
        if (columns[i].member != NULL && strstr(columns[i].member, "_price") != NULL)
            note_digits(&market->price_digits, market->ticker, columns[i].member);
}

/* Everything as one JSON object. */
static void show_json(const struct top *top)
{
    json_t *markets = json_array();
    for (uint32_t k = 0; k < top->market_count; k++) {
        json_t *row = json_copy(top->markets[k].ticker);
        (void)json_object_set_new(row, "state", json_string(top->markets[k].state));
        (void)json_object_set_new(row, "trade_rate", json_real(top->markets[k].trade_rate));
        (void)json_array_append_new(markets, row);
    }
    json_t *whole = json_pack("{s:I, s:O?, s:o}", "engine_seq", (json_int_t)top->engine_seq,
                              "status", top->status, "markets", markets);
    INVARIANT(whole != NULL);
    report_object(stdout, whole, true);
}

/* Shows how things stand. False: that was the last picture. */
static bool show(struct top *top)
{
    struct screen_size size = screen_size();
    uint64_t now_ns = instant_monotonic_ns();
    double seconds = (double)(now_ns - top->drawn_ns) / 1e9;
    double rate = top->drawn_seq != 0 ? (double)(top->engine_seq - top->drawn_seq) / seconds : 0;
    for (uint32_t k = 0; k < top->market_count; k++) {
        top->markets[k].trade_rate =
            top->drawn_seq != 0 ? (double)top->markets[k].trades / seconds : 0;
        top->markets[k].trades = 0;
        note_prices(top->markets + k);
    }
    top->drawn_ns = now_ns;
    top->drawn_seq = top->engine_seq;
    top->next_ns = now_ns + (uint64_t)top->interval_ms * ms_ns;
    if (top->context->arguments->json) {
        show_json(top);
    } else {
        struct screen_page page;
        uint32_t room = size.rows > HEAD_ROWS ? size.rows - HEAD_ROWS : 0;
        uint32_t most = top->is_terminal && top->market_count + 1 > room ? room : MARKETS_MAX;
        uint32_t used = (most < top->market_count ? most : top->market_count) + 1;
        screen_page_begin(&page);
        write_status(top, page.out, rate);
        write_markets(top, page.out, size, most > 1 && most < top->market_count ? most - 1 : most);
        if (size.columns > TRADE_COLUMNS)
            write_trades(top, page.out, room > used ? room - used : 0);
        screen_page_end(&page);
        if (top->is_terminal)
            screen_draw(page.text);
        else
            fprintf(stdout, "%s\n", page.text);
        free(page.text);
    }
    top->shown++;
    return fflush(stdout) == 0 && top->shown != top->count;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static int run(struct top *top)
{
    int code = EXIT_CODE_accepted;
    bool goes_on = true;
    top->next_ns = instant_monotonic_ns() + (uint64_t)top->interval_ms * ms_ns / 2;
    while (goes_on) {
        json_t *message = NULL;
        uint64_t now_ns = instant_monotonic_ns();
        uint32_t wait_ms =
            top->next_ns > now_ns ? (uint32_t)((top->next_ns - now_ns) / ms_ns + 1) : 0;
        enum feed_event event = feed_next(&top->feed, wait_ms, &message);
        code = top->context->exit_code;
        if (event == FEED_ENDED)
            break;
        if (event == FEED_OPENED)
            ask_all(top);
        if (event == FEED_MESSAGE)
            take(top, message);
        json_decref(message);
        now_ns = instant_monotonic_ns();
        if (top->feed.is_open && now_ns >= top->tickers_ns && !read_tickers(top, false))
            feed_restart(&top->feed, "the figures of 24 h cannot be read");
        if (now_ns >= top->next_ns)
            goes_on = show(top);
    }
    return goes_on ? code : EXIT_CODE_accepted;
}

static void free_all(struct top *top)
{
    for (uint32_t k = 0; k < top->market_count; k++)
        json_decref(top->markets[k].ticker);
    for (uint32_t k = 0; k < top->trade_count; k++)
        json_decref(top->trades[k].data);
    json_decref(top->status);
}

int command_top(struct context *context)
{
    static struct top top;
    top = (struct top){ .context = context };
    top.is_terminal = screen_is_terminal() && !context->arguments->json;
    if (!choice_interval(context, PICTURE_MS, &top.interval_ms) ||
        !choice_number(context, FLAG_count, 1, INT64_MAX, 0, &top.count) ||
        !read_tickers(&top, true) || !feed_begin(&top.feed, context)) {
        free_all(&top);
        return context->exit_code;
    }
    if (top.is_terminal)
        screen_begin();
    int code = run(&top);
    feed_end(&top.feed);
    free_all(&top);
    return code;
}
