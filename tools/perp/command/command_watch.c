/* command_watch.c - shows a book, trades or what happens to an account while it happens. */
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
#include "perp/request/client_book.h"
#include "perp/request/instant.h"

enum {
    DEPTH_DEFAULT = 10,
    DEPTH_MAX = 1000,
    PICTURE_MS = 50, /* between two pictures of a terminal, without --interval */
    IDLE_MS = 1000,
    BOOK_ROWS = 3, /* that are no levels (report_book) */
};

static const uint64_t ms_ns = 1000000;

struct watch {
    struct context *context;
    struct feed feed;
    const char *channel, *market; /* market NULL: of an account */
    uint64_t shown, count;        /* lines or pictures; count 0: until Ctrl-C */
    uint64_t seq;                 /* of the last frame; of trades or private has_seq */
    uint64_t epoch;               /* of the stream (W9); 0: not told yet */
    bool has_seq;
    bool is_seen;     /* seq is of a frame, not of --from */
    bool is_behind;   /* said of the nodes since the last frame */
    bool is_asked;    /* frames before the reply are of a subscription that has ended */
    bool is_terminal; /* redraw in place */
    char key[SETTINGS_VALUE_MAX];
    bool is_device_key;
    /* Of a book. */
    struct client_book book;
    uint32_t depth, channel_depth;
    int64_t interval_ms;
    uint64_t next_ns; /* no picture before */
    bool is_changed;  /* since the last picture */
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

/* Counts what was shown. False: it is enough, or the reader has gone. */
static bool show_more(struct watch *watch)
{
    watch->shown++;
    return fflush(stdout) == 0 && watch->shown != watch->count;
}

/* ---- what is asked --------------------------------------------------------------------------- */

static void ask_login(struct watch *watch)
{
    feed_ask(&watch->feed, json_pack("{s:s, s:s}", "op", "login",
                                     watch->is_device_key ? "device_key" : "api_key", watch->key));
}

/* Subscribes, or goes on after the last frame. */
static void ask_channel(struct watch *watch)
{
    bool is_book = watch->channel_depth != 0;
    json_t *op = json_pack("{s:s, s:s}", "op", watch->has_seq ? "resume" : "subscribe", "channel",
                           watch->channel);
    if (watch->market != NULL)
        (void)json_object_set_new(op, "market", json_string(watch->market));
    if (is_book)
        (void)json_object_set_new(op, "depth", json_integer(watch->channel_depth));
    if (watch->has_seq)
        (void)json_object_set_new(op, "from_seq", json_integer((json_int_t)watch->seq));
    watch->is_asked = true;
    feed_ask(&watch->feed, op);
}

/* Another epoch: the journal was cut or replaced, and what follows the last frame is not known. */
static void take_reply(struct watch *watch, const json_t *reply, const char *op)
{
    uint64_t epoch = number_of(reply, "epoch");
    bool is_other = watch->epoch != 0 && epoch != watch->epoch;
    watch->is_asked = false;
    watch->epoch = epoch;
    if (is_other)
        watch->is_seen = false;
    if (!is_other || strcmp(op, "resume") != 0)
        return;
    fprintf(stderr,
            "perp %s: the exchange has another history than before (epoch %" PRIu64
            "): what was shown may be void\n",
            watch->context->arguments->command->words, epoch);
    watch->has_seq = false;
    ask_channel(watch);
}

/* Whether a whole or a gap is older than what was shown: of a node that is behind the one before.
 * Then another connection is opened; nothing older is shown, and nothing twice. */
static bool leaves_behind(struct watch *watch, const json_t *frame)
{
    const char *type = text_of(frame, "type");
    bool is_start = strcmp(type, "snapshot") == 0 || strcmp(type, "gap") == 0;
    uint64_t seq = number_of(frame, "seq");
    if (!is_start || !watch->is_seen || seq >= watch->seq) {
        watch->is_behind = false;
        return false;
    }
    if (!watch->is_behind)
        fprintf(stderr,
                "perp %s: %s is behind: it has seq %" PRIu64 ", %" PRIu64 " was shown: not used\n",
                watch->context->arguments->command->words, watch->feed.client.authority, seq,
                watch->seq);
    watch->is_behind = true;
    feed_restart(&watch->feed, NULL);
    return true;
}

/* ---- the book -------------------------------------------------------------------------------- */

static void show_best(const json_t *levels, const char *side)
{
    const json_t *best = json_array_get(levels, 0);
    const char *price = json_string_value(json_array_get(best, 0));
    const char *size = json_string_value(json_array_get(best, 1));
    fprintf(stdout, "  %s %s x %s", side, price != NULL ? price : "-", size != NULL ? size : "-");
}

/* The best of both sides in one line. */
static void show_bests(const json_t *book)
{
    char time[TIMESTAMP_TEXT_BYTES + 1];
    timestamp_format_ms(number_of(book, "time_ns") / ms_ns, time);
    fprintf(stdout, "%s  %s  book %" PRIu64, time, text_of(book, "market"), number_of(book, "seq"));
    show_best(json_object_get(book, "bids"), "bid");
    show_best(json_object_get(book, "asks"), "ask");
    fprintf(stdout, "\n");
}

/* Shows the book as it is. False: that was the last picture. */
static bool show_book(struct watch *watch)
{
    uint32_t depth = watch->depth;
    if (watch->is_terminal && 2 * depth + BOOK_ROWS > screen_size().rows)
        depth = screen_size().rows > BOOK_ROWS + 1 ? (screen_size().rows - BOOK_ROWS) / 2 : 1;
    json_t *book = client_book_json(&watch->book, watch->market, depth);
    INVARIANT(book != NULL);
    if (watch->context->arguments->json) {
        report_object(stdout, json_incref(book), true);
    } else if (watch->is_terminal) {
        struct screen_page page;
        char *text = json_dumps(book, JSON_COMPACT);
        INVARIANT(text != NULL);
        screen_page_begin(&page);
        report_book(page.out, text, strlen(text));
        screen_page_end(&page);
        screen_draw(page.text);
        free(page.text);
        free(text);
    } else {
        show_bests(book);
    }
    json_decref(book);
    watch->is_changed = false;
    watch->next_ns = instant_monotonic_ns() + (uint64_t)watch->interval_ms * ms_ns;
    return show_more(watch);
}

/* Takes a frame of the book. False: that was the last picture. */
static bool take_book(struct watch *watch, const json_t *frame)
{
    if (leaves_behind(watch, frame))
        return true;
    enum client_book_state state = client_book_apply(&watch->book, frame);
    if (state == CLIENT_BOOK_CHANGED) {
        watch->seq = watch->book.seq;
        watch->is_seen = true;
    }
    switch (state) {
    case CLIENT_BOOK_BROKEN:
        fprintf(stderr, "perp watch book: a frame is missing or wrong: asked for again\n");
        ask_channel(watch);
        return true;
    case CLIENT_BOOK_CHANGED:
        watch->is_changed = true;
        return watch->next_ns > instant_monotonic_ns() || show_book(watch);
    case CLIENT_BOOK_SAME:
        break;
    }
    return true;
}

/* ---- trades and private events --------------------------------------------------------------- */

static void show_trade(const json_t *trade)
{
    char time[TIMESTAMP_TEXT_BYTES + 1];
    timestamp_format_ms(number_of(trade, "time"), time);
    fprintf(stdout, "%s  %8" PRIu64 "  %-5s  %16s  %16s%s\n", time, number_of(trade, "trade_seq"),
            text_of(trade, "taker_side"), text_of(trade, "price"), text_of(trade, "size"),
            json_is_true(json_object_get(trade, "liquidation")) ? "  liquidation" : "");
}

/* What people are shown of an event: the members by name. One that is not in the table is shown
 * with all. */
static const struct {
    const char *event, *members;
} events[] = {
    { "order", "market side order_type order_status reason price remaining_size filled_size id" },
    { "fill", "market side liquidity price quantity fee trade_seq id" },
    { "position", "market side size average_entry_price net_funding" },
    { "balance", "kind amount balance_after market" },
    { "funding", "market amount funding_rate position_size" },
    { "transfer", "kind amount withdrawal_id" },
    { "liquidation", "status market level price size equity maintenance_margin" },
    { "mmp", "market frozen frozen_until_ns" },
    { "session", "kind action id public_key" },
};

/* One member as " name=value"; a nested one as a JSON text, null and absent ones not at all. */
static void show_member(const char *name, const json_t *value)
{
    if (value == NULL || json_is_null(value))
        return;
    fprintf(stdout, " %s=", name);
    if (json_is_string(value))
        fprintf(stdout, "%s", json_string_value(value));
    else
        (void)json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
}

static const char *members_of(const char *event)
{
    for (size_t k = 0; k < sizeof events / sizeof events[0]; k++)
        if (strcmp(events[k].event, event) == 0)
            return events[k].members;
    return NULL;
}

static void show_event(const json_t *frame)
{
    const json_t *data = json_object_get(frame, "data");
    const char *event = text_of(data, "event"), *names = members_of(event), *name;
    char time[TIMESTAMP_TEXT_BYTES + 1], wanted[64];
    json_t *value;
    timestamp_format_ms(number_of(frame, "time_ns") / ms_ns, time);
    fprintf(stdout, "%s  %8" PRIu64 "  %-11s %" PRIu64 "/%" PRIu64, time, number_of(frame, "seq"),
            event, number_of(data, "subaccount_index"), number_of(data, "portfolio_index"));
    for (; names != NULL && *names != '\0'; names += strspn(names, " ")) {
        size_t count = strcspn(names, " ");
        snprintf(wanted, sizeof wanted, "%.*s", (int)count, names);
        show_member(wanted, json_object_get(data, wanted));
        names += count;
    }
    if (members_of(event) == NULL)
        json_object_foreach((json_t *)(uintptr_t)data, name, value) show_member(name, value);
    fprintf(stdout, "\n");
}

static void show_gap(const struct watch *watch, const json_t *frame)
{
    fprintf(stderr,
            "perp %s: what came after seq %" PRIu64 " up to seq %" PRIu64
            " is no longer kept for streams: %s shows it\n",
            watch->context->arguments->command->words, number_of(frame, "prev_seq"),
            number_of(frame, "seq"),
            watch->market != NULL ? "perp trades" : "perp orders, perp fills and the other lists");
}

/* The trades of a snapshot, newest last. */
static bool show_snapshot(struct watch *watch, const json_t *trades)
{
    for (size_t k = json_array_size(trades); k-- != 0;) {
        show_trade(json_array_get(trades, k));
        if (!show_more(watch))
            return false;
    }
    return true;
}

/* Takes a frame of trades or private. False: that was the last line. */
static bool take_events(struct watch *watch, const json_t *frame)
{
    const char *type = text_of(frame, "type");
    const json_t *data = json_object_get(frame, "data");
    bool is_snapshot = strcmp(type, "snapshot") == 0, is_gap = strcmp(type, "gap") == 0;
    if (leaves_behind(watch, frame))
        return true;
    if (!is_snapshot && watch->has_seq && number_of(frame, "prev_seq") != watch->seq) {
        fprintf(stderr, "perp %s: a frame is missing: asked for again\n",
                watch->context->arguments->command->words);
        ask_channel(watch);
        return true;
    }
    watch->seq = number_of(frame, "seq");
    watch->has_seq = watch->is_seen = true;
    if (is_gap)
        show_gap(watch, frame);
    if (strcmp(type, "heartbeat") == 0)
        return true;
    if (watch->context->arguments->json) {
        report_object(stdout, json_incref((json_t *)(uintptr_t)frame), true);
        return show_more(watch);
    }
    if (is_snapshot)
        return show_snapshot(watch, json_object_get(data, "trades"));
    if (is_gap)
        return true;
    if (watch->market != NULL)
        show_trade(data);
    else
        show_event(frame);
    return show_more(watch);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Takes a message. False: the command is done. */
static bool take(struct watch *watch, const json_t *message)
{
    const char *channel = json_string_value(json_object_get(message, "channel"));
    const char *op = json_string_value(json_object_get(message, "op"));
    if (op != NULL && strcmp(op, "login") == 0)
        ask_channel(watch);
    else if (op != NULL)
        take_reply(watch, message, op);
    if (op != NULL || watch->is_asked || channel == NULL || strcmp(channel, watch->channel) != 0)
        return true;
    return watch->channel_depth != 0 ? take_book(watch, message) : take_events(watch, message);
}

static uint32_t wait_ms(const struct watch *watch)
{
    uint64_t now_ns = instant_monotonic_ns();
    if (!watch->is_changed)
        return IDLE_MS;
    return watch->next_ns > now_ns ? (uint32_t)((watch->next_ns - now_ns) / ms_ns + 1) : 0;
}

static int run(struct watch *watch)
{
    bool goes_on = feed_begin(&watch->feed, watch->context);
    if (!goes_on)
        return watch->context->exit_code;
    while (goes_on) {
        json_t *message = NULL;
        enum feed_event event = feed_next(&watch->feed, wait_ms(watch), &message);
        if (event == FEED_ENDED)
            break;
        if (event == FEED_OPENED && watch->key[0] != '\0')
            ask_login(watch);
        else if (event == FEED_OPENED)
            ask_channel(watch);
        else if (event == FEED_MESSAGE)
            goes_on = take(watch, message);
        json_decref(message);
        if (goes_on && watch->is_changed && watch->next_ns <= instant_monotonic_ns())
            goes_on = show_book(watch);
    }
    int code = goes_on ? watch->context->exit_code : EXIT_CODE_accepted;
    feed_end(&watch->feed);
    return code;
}

int command_watch_book(struct context *context)
{
    static const uint32_t depths[] = { 1, 10, 50, DEPTH_MAX }; /* of the channel (W9) */
    static struct watch watch;
    uint64_t depth;
    watch = (struct watch){ .context = context, .channel = "book" };
    watch.market = context->arguments->words[0];
    watch.is_terminal = screen_is_terminal() && !context->arguments->json;
    if (!choice_market(context, watch.market) ||
        !choice_interval(context, watch.is_terminal ? PICTURE_MS : 0, &watch.interval_ms) ||
        !choice_number(context, FLAG_depth, 1, DEPTH_MAX, DEPTH_DEFAULT, &depth) ||
        !choice_number(context, FLAG_count, 1, INT64_MAX, 0, &watch.count) ||
        !context_market(context, watch.market))
        return context->exit_code;
    size_t k = 0;
    while (depths[k] < depth)
        k++;
    watch.depth = (uint32_t)depth;
    watch.channel_depth = depths[k];
    client_book_init(&watch.book, context->record.price_decimals);
    if (watch.is_terminal)
        screen_begin();
    return run(&watch);
}

/* The flags of a channel that nothing conflates. */
static bool read_flags(struct watch *watch)
{
    const char *from = watch->context->arguments->values[FLAG_from];
    watch->has_seq = from != NULL;
    return (from == NULL || choice_sequence(watch->context, from, 0, &watch->seq)) &&
           choice_number(watch->context, FLAG_count, 1, INT64_MAX, 0, &watch->count);
}

int command_watch_trades(struct context *context)
{
    static struct watch watch;
    watch = (struct watch){ .context = context, .channel = "trades" };
    watch.market = context->arguments->words[0];
    if (!choice_market(context, watch.market) || !read_flags(&watch))
        return context->exit_code;
    return run(&watch);
}

int command_watch_private(struct context *context)
{
    static struct watch watch;
    watch = (struct watch){ .context = context, .channel = "private" };
    watch.is_device_key =
        !context_is_set(context, SETTING_api_key) && context_is_set(context, SETTING_device_key);
    bool has_key = watch.is_device_key ? context_device_key(context, watch.key)
                                       : context_api_key(context, watch.key);
    int code = has_key && read_flags(&watch) ? run(&watch) : context->exit_code;
    explicit_bzero(watch.key, sizeof watch.key);
    return code;
}
