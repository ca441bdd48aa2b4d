/* The whole net thread over real sockets: io_uring, a matcher in its own thread, clients that
 * pipeline, dribble, vanish and flood. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "net/fixture.h"
#include "net/net.h"

enum { FILES_MAX = 128 /* descriptors of this process */, PAGE_MAX = 256 * 1024 /* of /metrics */ };

static struct fixture fixture;
static struct net *net;
static _Atomic bool stop_matcher, stop_net;
static int wake_file;
static uint16_t public_port, admin_port;
static _Atomic bool net_is_up;
static struct net_diagnosis diagnosis;

static void wake(void)
{
    uint64_t one = 1;
    CHECK(write(wake_file, &one, sizeof one) == sizeof one);
}

static void *run_matcher(void *argument)
{
    (void)argument;
    while (!stop_matcher) {
        if (fixture_match(&fixture) + fixture_follow(&fixture) > 0)
            wake();
        else
            usleep(50);
    }
    return NULL;
}

static void *run_net(void *argument)
{
    (void)argument;
    while (!stop_net) {
        if (net_step(net) > 0)
            continue;
        net_wait(net, 5000000);
        uint64_t count;
        (void)!read(wake_file, &count, sizeof count); /* nonblocking */
    }
    net_drain(net);
    while (!net_drained(net)) /* a socket takes time; turns of a fast processor do not */
        if (net_step(net) == 0)
            net_wait(net, 5000000);
    net_destroy(net);
    return NULL;
}

/* The net thread shares the descriptors of this process: on a busy machine it closes those of
 * clients that are gone only while this thread waits. */
static int dial(uint16_t port)
{
    int file;
    while ((file = socket(AF_INET, SOCK_STREAM, 0)) < 0 && errno == EMFILE)
        usleep(1000);
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval timeout = { .tv_sec = 60 };
    CHECK(file >= 0);
    CHECK(setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0);
    CHECK(connect(file, (struct sockaddr *)&address, sizeof address) == 0);
    return file;
}

static void send_all(int file, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t sent = send(file, at, count, MSG_NOSIGNAL);
        CHECK(sent > 0);
        at += sent;
        count -= (size_t)sent;
    }
}

/* Reads until `count` answers are complete; gives the bytes read. */
static size_t read_answers(int file, char *text, size_t capacity, unsigned count)
{
    size_t have = 0, at = 0;
    while (count > 0) {
        text[have] = '\0';
        const char *end = strstr(text + at, "\r\n\r\n");
        if (end != NULL) {
            const char *length = strstr(text + at, "Content-Length: ");
            CHECK(length != NULL && length < end);
            size_t total = (size_t)(end - text) + 4 + strtoul(length + 16, NULL, 10);
            if (total <= have) {
                at = total;
                count--;
                continue;
            }
        }
        ssize_t received = recv(file, text + have, capacity - 1 - have, 0);
        CHECK(received > 0);
        have += (size_t)received;
    }
    return have;
}

static size_t make_order(char *text, size_t capacity)
{
    uint8_t body[48], frame[512];
    fixture_order(body);
    size_t count = fixture_frame(&fixture, frame, 0, &fixture.session, body, 48);
    return fixture_post(text, capacity, "/api/v1/trading/order/place/limit",
                        "application/octet-stream", frame, count);
}

static void one_order(void)
{
    char text[4096];
    int file = dial(public_port);
    size_t count = make_order(text, sizeof text);
    send_all(file, text, count);
    read_answers(file, text, sizeof text, 1);
    CHECK(strncmp(text, "HTTP/1.1 200 OK\r\n", 17) == 0);
    CHECK(strstr(text, "\"status\":\"request_completed\"") != NULL);
    close(file);
}

/* More pipelined requests than a turn, a connection's window or one receive buffer hold. */
static void pipelined_orders(void)
{
    enum { ORDERS = 300 };
    size_t capacity = 1 << 20, used = 0;
    char *text = malloc(capacity);
    int file = dial(public_port);
    for (unsigned i = 0; i < ORDERS; i++)
        used += make_order(text + used, capacity - used);
    send_all(file, text, used);
    read_answers(file, text, capacity, ORDERS);
    unsigned completed = 0;
    for (const char *at = text; (at = strstr(at, "request_completed")) != NULL; at++)
        completed++;
    CHECK(completed == ORDERS);
    close(file);
    free(text);
}

static void dribbled_order(void)
{
    char text[4096];
    int file = dial(public_port);
    size_t count = make_order(text, sizeof text);
    for (size_t i = 0; i < count; i += 7) {
        send_all(file, text + i, count - i < 7 ? count - i : 7);
        usleep(200);
    }
    read_answers(file, text, sizeof text, 1);
    CHECK(strstr(text, "request_completed") != NULL);
    close(file);
}

static void read_and_close(void)
{
    static const char request[] =
        "GET /api/v1/markets/BTC-PERP/book?depth=1 HTTP/1.1\r\nHost: x\r\n"
        "Connection: close\r\n\r\n";
    char text[4096];
    int file = dial(public_port);
    send_all(file, request, sizeof request - 1);
    read_answers(file, text, sizeof text, 1);
    CHECK(strstr(text, "\r\nConnection: close\r\n") != NULL);
    CHECK(strstr(text, "\"bids\":[[\"99999.9\",\"0.4\"]]") != NULL);
    CHECK(recv(file, text, sizeof text, 0) == 0);
    close(file);
}

static void admin_pages(void)
{
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
                                  "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"
                                  "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    static char text[PAGE_MAX];
    int file = dial(admin_port);
    send_all(file, request, sizeof request - 1);
    read_answers(file, text, sizeof text, 3);
    CHECK(strstr(text, "{\"live\":true}") != NULL && strstr(text, "\"ready\":true") != NULL);
    CHECK(strstr(text, "node_line 1\n") != NULL &&
          strstr(text, "perpd_net_requests_total ") != NULL);
    close(file);
}

/* The client reads the whole refusal though it goes on sending. */
static void refused_while_sending(void)
{
    static const char request[] =
        "POST /api/v1/trading/order/place/limit HTTP/1.1\r\nHost: x\r\n"
        "Content-Type: application/json\r\nContent-Length: 999999\r\n\r\n";
    char text[65536] = { 0 };
    int file = dial(public_port);
    send_all(file, request, sizeof request - 1);
    memset(text, 'x', sizeof text);
    for (unsigned i = 0; i < 4; i++)
        (void)!send(file, text, sizeof text, MSG_NOSIGNAL);
    read_answers(file, text, sizeof text, 1);
    CHECK(strncmp(text, "HTTP/1.1 413 ", 13) == 0);
    close(file);
}

static void vanishing_clients(void)
{
    char text[4096];
    for (unsigned i = 0; i < 200; i++) {
        int file = dial(public_port);
        size_t count = make_order(text, sizeof text);
        send_all(file, text, i % 3 == 0 ? count / 2 : count);
        struct linger linger = { .l_onoff = 1, .l_linger = 0 };
        if (i % 2 == 0)
            CHECK(setsockopt(file, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) == 0);
        close(file);
    }
    one_order();
}

/* A half-closed client still gets its answer. */
static void half_closed(void)
{
    char text[4096];
    int file = dial(public_port);
    size_t count = make_order(text, sizeof text);
    send_all(file, text, count);
    CHECK(shutdown(file, SHUT_WR) == 0);
    read_answers(file, text, sizeof text, 1);
    CHECK(strstr(text, "request_completed") != NULL);
    close(file);
}

/* A client that sends and never reads: its input stops being read, nothing grows, others go on. */
static void slow_reader(void)
{
    static const char request[] = "GET /api/v1/exchange HTTP/1.1\r\nHost: x\r\n\r\n";
    enum { COUNT = 200 };
    char block[COUNT * (sizeof request - 1)];
    int file = dial(public_port);
    for (unsigned i = 0; i < COUNT; i++)
        memcpy(block + i * (sizeof request - 1), request, sizeof request - 1);
    uint64_t sent = 0;
    for (unsigned i = 0; i < 2000; i++) {
        ssize_t part = send(file, block, sizeof block, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (part < 0 && errno == EAGAIN)
            usleep(500);
        else if (part <= 0)
            break;
        else
            sent += (uint64_t)part;
    }
    CHECK(sent < 64 << 20); /* back-pressure reached the client */
    one_order();
    close(file);
}

/* Takes all descriptors and leaves connections in the backlog for so long. */
static void exhaust(uint32_t microseconds)
{
    int files[FILES_MAX];
    unsigned count = 0;
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(public_port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    while (count < FILES_MAX && (files[count] = socket(AF_INET, SOCK_STREAM, 0)) >= 0)
        count++;
    for (unsigned i = 0; i < count; i++)
        CHECK(connect(files[i], (struct sockaddr *)&address, sizeof address) == 0);
    usleep(microseconds);
    while (count > 0)
        close(files[--count]);
}

static unsigned long accept_failures(void)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    static char text[PAGE_MAX];
    int file = dial(admin_port);
    send_all(file, request, sizeof request - 1);
    read_answers(file, text, sizeof text, 1);
    const char *failures = strstr(text, "\nperpd_net_accept_failures_total ");
    CHECK(failures != NULL);
    close(file);
    return strtoul(failures + 33, NULL, 10);
}

/* Out of descriptors: accepting pauses and goes on when some are free again. On a busy machine the
 * net thread may sleep through it, so for longer and longer. */
static void out_of_descriptors(void)
{
    uint32_t microseconds = 150000;
    do {
        exhaust(microseconds);
        one_order();
        microseconds *= 2;
    } while (accept_failures() == 0 && microseconds < 40000000);
    CHECK(accept_failures() > 0);
}

int main(void)
{
    pthread_t matcher, thread;
    fixture_init(&fixture, false, FIXTURE_SLOTS);
    wake_file = eventfd(0, EFD_NONBLOCK);
    fixture.config.wake_file = wake_file;
    int error = net_create(&net, &fixture.config, &diagnosis);
    if (error != 0) {
        fprintf(stderr, "%s\n", diagnosis.text);
        return 1;
    }
    public_port = net_port(net);
    admin_port = net_admin_port(net);
    CHECK(public_port != 0 && admin_port != 0 && strcmp(net_host(net), "127.0.0.1") == 0);
    net_is_up = true;
    /* The limit counts when an accept is armed: before the thread starts. */
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = FILES_MAX;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(pthread_create(&matcher, NULL, run_matcher, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, run_net, NULL) == 0);
    one_order();
    pipelined_orders();
    dribbled_order();
    read_and_close();
    admin_pages();
    refused_while_sending();
    vanishing_clients();
    half_closed();
    slow_reader();
    out_of_descriptors();
    stop_net = true;
    wake();
    CHECK(pthread_join(thread, NULL) == 0);
    stop_matcher = true;
    CHECK(pthread_join(matcher, NULL) == 0);
    fixture_free(&fixture);
    close(wake_file);
    return 0;
}
