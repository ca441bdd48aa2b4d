/* command_watch.c - reads the order book again and again. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/timestamp.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"
#include "perp/request/instant.h"

enum { TARGET_MAX = 256, DEPTH_DEFAULT = 10, DEPTH_MAX = 1000, MS_MIN = 50, MS_MAX = 3600000 };

static const char erase_line[] = "\033[K", home[] = "\033[H", erase_below[] = "\033[J";

struct watch {
    char target[TARGET_MAX];
    int64_t interval_ms;
    uint64_t count; /* 0: until Ctrl-C */
    bool terminal;  /* redraw in place; else a line a read */
    sigset_t ends;  /* the signals that end it */
};

static bool read_interval(struct context *context, int64_t *interval_ms)
{
    const char *text = context->arguments->values[FLAG_interval];
    *interval_ms = 1000;
    return text == NULL ||
           decimal_parse(text, strlen(text), 3, MS_MIN, MS_MAX, interval_ms) == DECIMAL_OK ||
           context_fail(context, EXIT_CODE_usage, "--interval '%.40s' is no time of 0.05 to 3600 s",
                        text);
}

/* Draws the whole book over the previous one. */
static void redraw(const struct client_answer *answer)
{
    char *text = NULL;
    size_t count = 0;
    FILE *page = open_memstream(&text, &count);
    INVARIANT(page != NULL);
    report_book(page, answer->body, answer->body_count);
    fclose(page);
    fputs(home, stdout);
    for (const char *at = text; *at != '\0';) {
        size_t line = strcspn(at, "\n");
        fprintf(stdout, "%.*s%s\n", (int)line, at, erase_line);
        at += line + (at[line] == '\n');
    }
    fputs(erase_below, stdout);
    free(text);
}

static void show_best(const json_t *levels, const char *side)
{
    const json_t *best = json_array_get(levels, 0);
    const char *price = json_string_value(json_array_get(best, 0));
    const char *size = json_string_value(json_array_get(best, 1));
    fprintf(stdout, "  %s %s x %s", side, price != NULL ? price : "-", size != NULL ? size : "-");
}

/* The best of both sides in one line. */
static void show_line(const struct client_answer *answer)
{
    char now[TIMESTAMP_TEXT_BYTES + 1];
    json_t *root = json_loadb(answer->body, answer->body_count, 0, NULL);
    const char *market = json_string_value(json_object_get(root, "market"));
    timestamp_format_ms(instant_now_ns() / 1000000, now);
    fprintf(stdout, "%s  %s  book %lld", now, market != NULL ? market : "?",
            (long long)json_integer_value(json_object_get(root, "seq")));
    show_best(json_object_get(root, "bids"), "bid");
    show_best(json_object_get(root, "asks"), "ask");
    fprintf(stdout, "\n");
    json_decref(root);
}

/* Waits for the next read; true when a signal ended the wait. */
static bool wait_next(const struct watch *watch)
{
    struct timespec interval = { .tv_sec = watch->interval_ms / 1000,
                                 .tv_nsec = watch->interval_ms % 1000 * 1000000 };
    return sigtimedwait(&watch->ends, NULL, &interval) > 0;
}

/* Reads until the count is reached or a signal comes. An exchange that was there once is waited
 * for when it goes away. */
static int run(struct context *context, const struct watch *watch)
{
    struct client_answer answer;
    bool seen = false;
    for (uint64_t reads = 1;; reads++) {
        int code = EXIT_CODE_accepted;
        if (!context_get(context, watch->target, false, &answer))
            code = context->exit_code;
        else if (context->arguments->json)
            report_answer(stdout, answer.body, answer.body_count, true, NULL);
        else if (watch->terminal)
            redraw(&answer);
        else
            show_line(&answer);
        if (fflush(stdout) != 0)
            return EXIT_CODE_accepted; /* the reader has gone */
        bool away =
            code == EXIT_CODE_connection || (code == EXIT_CODE_problem && answer.status == 503);
        seen |= code == EXIT_CODE_accepted;
        if (reads == watch->count || (code != EXIT_CODE_accepted && !(seen && away)))
            return code;
        if (wait_next(watch))
            return EXIT_CODE_accepted;
    }
}

int command_watch_book(struct context *context)
{
    const char *market = context->arguments->words[0];
    struct watch watch = { .terminal = isatty(STDOUT_FILENO) != 0 };
    uint64_t depth;
    if (!choice_market(context, market) || !read_interval(context, &watch.interval_ms) ||
        !choice_number(context, FLAG_depth, 1, DEPTH_MAX, DEPTH_DEFAULT, &depth) ||
        !choice_number(context, FLAG_count, 1, INT64_MAX, 0, &watch.count))
        return context->exit_code;
    snprintf(watch.target, sizeof watch.target, "/api/v1/markets/%s/book?depth=%llu", market,
             (unsigned long long)depth);
    sigemptyset(&watch.ends);
    sigaddset(&watch.ends, SIGINT);
    sigaddset(&watch.ends, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &watch.ends, NULL);
    if (watch.terminal && !context->arguments->json)
        fputs("\033[2J", stdout);
    int code = run(context, &watch);
    (void)sigprocmask(SIG_UNBLOCK, &watch.ends, NULL);
    return code;
}
