/* Every due order is in the figures: of a server that answers all, that pauses for good, and that
 * closes. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "load.h"

enum { CONNECTIONS = 4, ORDERS = 100, RUN_MS = 500, DRAIN_MS = 200 };

static const char accepted[] =
    "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n{\"status\":\"request_completed\"}";
static const char refused[] = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}";

struct server {
    int files[CONNECTIONS];
    uint32_t answers; /* so many it gives, every tenth a refusal */
    bool closes;      /* then it closes; else it is silent */
};

static void *serve(void *argument)
{
    struct server *server = argument;
    struct pollfd polls[CONNECTIONS];
    char text[LOAD_ORDER_BYTES];
    uint32_t left = server->answers;

    for (int i = 0; i < CONNECTIONS; i++)
        polls[i] = (struct pollfd){ .fd = server->files[i], .events = POLLIN };
    while (poll(polls, CONNECTIONS, -1) > 0) {
        for (int i = 0; i < CONNECTIONS; i++) {
            if (polls[i].revents == 0)
                continue;
            if (read(polls[i].fd, text, sizeof text) <= 0)
                return NULL;
            if (left == 0 && server->closes)
                shutdown(polls[i].fd, SHUT_RDWR);
            if (left == 0)
                continue;
            const char *answer = left % 10 == 0 ? refused : accepted;
            /* In two pieces: an answer may come so. */
            CHECK(write(polls[i].fd, answer, 20) == 20);
            CHECK(write(polls[i].fd, answer + 20, strlen(answer) - 20) > 0);
            left--;
        }
    }
    return NULL;
}

/* Runs 100 orders, in an open loop due within half a second, against such a server. */
static bool run(struct load *load, double rate_per_s, uint32_t answers, bool closes)
{
    static struct load_order orders[ORDERS];
    static struct load_connection connections[CONNECTIONS];
    struct server server = { .answers = answers, .closes = closes };
    pthread_t thread;
    int pair[2];

    for (int i = 0; i < ORDERS; i++)
        orders[i].bytes = (uint16_t)snprintf((char *)orders[i].text, LOAD_ORDER_BYTES, "order");
    for (int i = 0; i < CONNECTIONS; i++) {
        CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
        connections[i] = (struct load_connection){ .fd = pair[0] };
        server.files[i] = pair[1];
    }
    *load = (struct load){ .connections = connections,
                           .connection_count = CONNECTIONS,
                           .orders = orders,
                           .order_count = ORDERS,
                           .rate_per_s = rate_per_s,
                           .run_ns = RUN_MS * UINT64_C(1000000),
                           .drain_ns = DRAIN_MS * UINT64_C(1000000) };
    CHECK(pthread_create(&thread, NULL, serve, &server) == 0);
    bool is_done = load_run(load);
    for (int i = 0; i < CONNECTIONS; i++)
        shutdown(connections[i].fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    for (int i = 0; i < CONNECTIONS; i++) {
        close(connections[i].fd);
        close(server.files[i]);
    }
    return is_done;
}

static void check_all_answered(void)
{
    static struct load load;

    for (int is_open = 0; is_open < 2; is_open++) {
        CHECK(run(&load, is_open ? 1e6 : 0, ORDERS, false));
        CHECK(load.sent == ORDERS && load.answered == ORDERS);
        CHECK(load.accepted == ORDERS - ORDERS / 10 && load.problems == ORDERS / 10);
        CHECK(histogram_count(&load.latency_ns) == ORDERS);
        CHECK(histogram_count(&load.service_ns) == ORDERS);
        CHECK(load_is_valid(&load));
    }
}

/* The server stops for good after 40 orders: 4 are in flight and 56 are never sent. With 200 due in
 * a second, order 40 is due after 0.2 s, and waits at the end of run and drain for at least 0.5 s;
 * the 60 without an answer are due at equal distances, the last 5 ms before the end of the run. */
static void check_silent(void)
{
    static struct load load;
    const uint64_t ms = 1000000;

    CHECK(run(&load, 200, 40, false));
    CHECK(load.answered == 40 && load.sent == 44);
    CHECK(histogram_count(&load.latency_ns) == ORDERS);
    CHECK(histogram_count(&load.service_ns) == 44);
    CHECK(histogram_max(&load.latency_ns) >= 500 * ms);
    CHECK(histogram_quantile(&load.latency_ns, 900000) >= 440 * ms);
    CHECK(histogram_quantile(&load.latency_ns, 500000) >= 240 * ms);
    CHECK(!load_is_valid(&load));
}

/* 99 of 100 are enough, 98 are not. */
static void check_validity(void)
{
    struct load load = { .rate_per_s = 1, .order_count = ORDERS, .answered = 99 };

    CHECK(load_is_valid(&load));
    load.answered = 98;
    CHECK(!load_is_valid(&load));
    load.rate_per_s = 0;
    CHECK(load_is_valid(&load));
}

int main(void)
{
    static struct load load;

    (void)signal(SIGPIPE, SIG_IGN);
    check_all_answered();
    check_silent();
    check_validity();
    CHECK(!run(&load, 1e6, 10, true));
    CHECK(load.answered == 10);
    return 0;
}
