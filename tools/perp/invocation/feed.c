#include "perp/invocation/feed.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "perp/invocation/arguments.h"
#include "perp/invocation/exit_code.h"
#include "perp/request/instant.h"

enum {
    SILENCE_MS = 15000,   /* three heartbeats (W9): the connection leads nowhere */
    RETRY_FIRST_MS = 100, /* each loss in a row doubles it */
    RETRY_MAX_MS = 1000,
    CLOSE_POLICY = 1008, /* the key of the login has ended */
    TOLD_MAX = 3,        /* two nodes that tell each other do not hold it for ever */
};

static const uint64_t ms_ns = 1000000, patience_ns = UINT64_C(30000000000);

static volatile sig_atomic_t signaled;

static void on_signal(int number)
{
    signaled = number;
}

bool feed_begin(struct feed *feed, struct context *context)
{
    const struct sigaction action = { .sa_handler = on_signal };
    *feed = (struct feed){ .context = context };
    if (!context_connection(context, &feed->client))
        return false;
    if (client_has_more(&feed->client))
        feed->patient_ns = instant_monotonic_ns() + patience_ns;
    sigemptyset(&feed->ends);
    sigaddset(&feed->ends, SIGINT);
    sigaddset(&feed->ends, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &feed->ends, &feed->before);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    return true;
}

void feed_end(struct feed *feed)
{
    const struct timespec now = { 0 };
    client_stream_close(&feed->stream);
    client_close(&feed->client);
    while (sigtimedwait(&feed->ends, NULL, &now) > 0)
        ; /* one that came in the meantime has had its effect */
    (void)sigprocmask(SIG_SETMASK, &feed->before, NULL);
}

static const char *command_of(const struct feed *feed)
{
    return feed->context->arguments->command->words;
}

/* The connection is over: the next is opened after a pause, of a list at the next address. */
static void drop(struct feed *feed)
{
    client_stream_close(&feed->stream);
    client_next(&feed->client);
    feed->is_open = false;
    feed->told = 0;
    feed->retry_ms = feed->retry_ms == 0 ? RETRY_FIRST_MS : 2 * feed->retry_ms;
    if (feed->retry_ms > RETRY_MAX_MS)
        feed->retry_ms = RETRY_MAX_MS;
    feed->retry_ns = instant_monotonic_ns() + feed->retry_ms * ms_ns;
}

void feed_restart(struct feed *feed, const char *why)
{
    if (why != NULL)
        fprintf(stderr, "perp %s: %s\n", command_of(feed), why);
    drop(feed);
}

/* Whether the exchange is waited for. */
static bool waits(const struct feed *feed)
{
    return feed->was_open || feed->patient_ns > instant_monotonic_ns();
}

/* A loss: FEED_QUIET if the exchange is waited for. */
static enum feed_event lose(struct feed *feed, const char *why)
{
    (void)context_fail(feed->context, EXIT_CODE_connection, "%s", why);
    drop(feed);
    return waits(feed) ? FEED_QUIET : FEED_ENDED;
}

/* An answer that refuses: FEED_QUIET if the exchange has no time just now and is waited for. */
static enum feed_event refuse(struct feed *feed, const struct client_answer *answer)
{
    struct outcome outcome;
    char why[CLIENT_ERROR_MAX];
    bool is_later = answer->status == 503 || answer->status == 429 || answer->status == 421;
    if (waits(feed) && is_later) {
        outcome_read(&outcome, answer);
        snprintf(why, sizeof why, "HTTP %u %s: %s", answer->status, outcome.word, outcome.detail);
        return lose(feed, why);
    }
    context_refuse(feed->context, answer);
    drop(feed);
    return FEED_ENDED;
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum feed_event open_stream(struct feed *feed)
{
    struct client_stream_ask ask;
    struct client_answer answer;
    if (!client_stream_ask(&ask))
        return lose(feed, "no random bytes");
    if (client_call(&feed->client, &ask.request, &answer) != 0)
        return lose(feed, feed->client.error);
    if (answer.status == 421 && feed->told < TOLD_MAX &&
        client_follow(&feed->client, answer.leader)) {
        feed->told++;
        return FEED_QUIET; /* the next one is opened there, at once */
    }
    if (answer.status != 101)
        return refuse(feed, &answer);
    if (!client_stream_agrees(&ask, &answer))
        return lose(feed, "the answer to the handshake is of another one");
    if (client_stream_open(&feed->stream, &feed->client) != 0)
        return lose(feed, "out of memory");
    feed->is_open = true;
    feed->told = 0;
    feed->heard_ns = instant_monotonic_ns();
    return FEED_OPENED;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* A reply that refuses an op, as the answer over HTTP that it would be. */
static enum feed_event refuse_op(struct feed *feed, const json_t *refusal)
{
    char *text = json_dumps(refusal, JSON_COMPACT);
    const struct client_answer answer = {
        .status = (uint32_t)json_integer_value(json_object_get(refusal, "status")),
        .body = text != NULL ? text : "",
        .body_count = text != NULL ? strlen(text) : 0,
        .is_problem = true,
    };
    enum feed_event event = refuse(feed, &answer);
    free(text);
    return event;
}

static enum feed_event give(struct feed *feed, char *text, size_t count, json_t **message)
{
    json_t *root = json_loadb(text, count, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    feed->heard_ns = instant_monotonic_ns();
    if (!json_is_object(root)) {
        json_decref(root);
        return lose(feed, "a message of the stream is no JSON object");
    }
    const json_t *refusal = json_object_get(root, "problem");
    if (refusal != NULL) {
        enum feed_event event = refuse_op(feed, refusal);
        json_decref(root);
        return event;
    }
    feed->was_open |= json_object_get(root, "channel") != NULL;
    feed->retry_ms = 0;
    *message = root;
    return FEED_MESSAGE;
}

/* Why no message came. */
static enum feed_event explain(struct feed *feed, int error)
{
    char why[CLIENT_ERROR_MAX];
    const struct client_stream *stream = &feed->stream;
    if (error == -EINTR)
        return signaled != 0 ? FEED_ENDED : FEED_QUIET; /* a process that was stopped goes on */
    if (error == -ETIMEDOUT) {
        if (instant_monotonic_ns() - feed->heard_ns < SILENCE_MS * ms_ns)
            return FEED_QUIET;
        snprintf(why, sizeof why, "%s has sent nothing for %d s", feed->client.authority,
                 SILENCE_MS / 1000);
    } else if (error == -ESHUTDOWN) {
        snprintf(why, sizeof why, "%s has closed the stream: %u%s%s", feed->client.authority,
                 stream->close_code, stream->close_reason[0] != '\0' ? " " : "",
                 stream->close_reason);
        feed->was_open &= stream->close_code != CLOSE_POLICY;
    } else if (error == -EPROTO) {
        snprintf(why, sizeof why, "%s sent what is no frame of a stream", feed->client.authority);
    } else {
        snprintf(why, sizeof why, "%s",
                 feed->client.error[0] != '\0' ? feed->client.error : "out of memory");
    }
    return lose(feed, why);
}

/* Waits while no connection is open. */
static enum feed_event pause_for(struct feed *feed, uint64_t ns)
{
    const struct timespec wait = { .tv_sec = (time_t)(ns / 1000000000),
                                   .tv_nsec = (long)(ns % 1000000000) };
    return sigtimedwait(&feed->ends, NULL, &wait) > 0 ? FEED_ENDED : FEED_QUIET;
}

enum feed_event feed_next(struct feed *feed, uint32_t wait_ms, json_t **message)
{
    char *text = NULL;
    size_t count = 0;
    feed->context->exit_code = EXIT_CODE_accepted;
    if (!feed->is_open) {
        uint64_t now_ns = instant_monotonic_ns(), most_ns = wait_ms * ms_ns;
        if (feed->retry_ns <= now_ns)
            return open_stream(feed);
        uint64_t left_ns = feed->retry_ns - now_ns;
        return pause_for(feed, left_ns < most_ns ? left_ns : most_ns);
    }
    int error = client_stream_next(&feed->stream, &feed->before, wait_ms, &text, &count);
    return error == 0 ? give(feed, text, count, message) : explain(feed, error);
}

void feed_ask(struct feed *feed, json_t *op)
{
    char *text = json_dumps(op, JSON_COMPACT);
    INVARIANT(text != NULL && feed->is_open);
    if (client_stream_send(&feed->stream, text, strlen(text)) != 0)
        feed_restart(feed, "out of memory");
    free(text);
    json_decref(op);
}
