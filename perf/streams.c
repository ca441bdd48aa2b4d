/* streams.c - subscribers of a channel beside signed orders, for perf/streams.py, which starts
 * perpd and signs them.
 *
 * `perf-streams PORT SUBSCRIBERS RATE SECONDS FILE CHANNEL text|binary KEY`: FILE has requests
 * of REQUEST_BYTES, each of which makes a trade; KEY is the API key of `private`. One thread sends
 * them by a fixed schedule on one connection and reads all sockets. A delay is from when the
 * acknowledgement of a trade was read, which leaves as soon as it is durable, until its update was
 * read; 0 if that came first. It prints `acknowledged updates p50_us p99_us early`: early are
 * updates that came before. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/version.h"

enum {
    REQUEST_BYTES = 336,
    LEFT_MAX = 16384, /* bytes of a frame, or of an answer, that is not whole */
    READ_BYTES = 65536,
    SEQUENCES = 1 << 22,
    DELAYS = 1 << 21, /* microseconds */
    EVENTS = 256,
    FRAME_TEMPLATE = 16, /* of perps.bin.v1 */
    MESSAGE_BYTES = 48,
};

#define SECOND_NS UINT64_C(1000000000)
#define DRAIN_NS  (2 * SECOND_NS)

struct peer {
    int fd;
    uint32_t left;
    char bytes[LEFT_MAX];
};

static uint64_t acknowledged_ns[SEQUENCES], first_sequence;
static uint32_t delays[DELAYS];
static uint64_t updates, acknowledged, early;
static bool is_binary;

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static int dial(uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail("perf-streams: connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void say(int fd, const void *bytes, size_t count)
{
    if (write(fd, bytes, count) != (ssize_t)count)
        fail("perf-streams: write");
}

/* The number behind `name`; 0: it is not there. */
static uint64_t number_of(const char *text, size_t count, const char *name)
{
    const char *at = memmem(text, count, name, strlen(name));
    return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 10);
}

/* A frame's type: that of a text, or byte 41 of a message of the subprotocol (wire.md W9). */
static bool is_of(const char *frame, size_t count, const char *name, uint8_t number)
{
    char wanted[32];
    if (is_binary && count >= MESSAGE_BYTES && frame[0] == FRAME_TEMPLATE)
        return (uint8_t)frame[41] == number;
    int bytes = snprintf(wanted, sizeof wanted, "\"type\":\"%s\"", name);
    return memmem(frame, count, wanted, (size_t)bytes) != NULL;
}

static void take_update(const char *frame, size_t count, uint64_t at_ns)
{
    uint64_t sequence = 0;
    if (!is_of(frame, count, "update", 2))
        return;
    if (is_binary)
        memcpy(&sequence, frame + 32, sizeof sequence);
    else
        sequence = number_of(frame, count, "\"engine_seq\":");
    uint64_t place = sequence - first_sequence;
    uint64_t from_ns = first_sequence != 0 && place < SEQUENCES ? acknowledged_ns[place] : 0;
    uint64_t us = from_ns != 0 && from_ns < at_ns ? (at_ns - from_ns) / 1000 : 0;
    updates++;
    early += from_ns == 0;
    delays[us < DELAYS ? us : DELAYS - 1]++;
}

/* Where the first frame's data begin, and how many bytes it has; 0: it is not whole. */
static size_t read_frame(const char *bytes, size_t count, size_t *length)
{
    size_t head = 2;
    if (count < 4)
        return 0;
    *length = (uint8_t)bytes[1];
    if (*length == 126) {
        *length = (size_t)(uint8_t)bytes[2] << 8 | (uint8_t)bytes[3];
        head = 4;
    }
    if (*length > LEFT_MAX && count < head + *length)
        fail("perf-streams: a frame that is too long");
    return count < head + *length ? 0 : head;
}

/* The bytes of the first frame; 0: it is not whole. */
static size_t take_frame(const char *bytes, size_t count, uint64_t at_ns)
{
    size_t length, head = read_frame(bytes, count, &length);
    if (head == 0)
        return 0;
    take_update(bytes + head, length, at_ns);
    return head + length;
}

static void say_op(int fd, const char *op)
{
    char frame[256] = { (char)0x81, (char)(0x80 | strlen(op)) }; /* its mask is zeros */
    if (strlen(op) > 125)
        fail("perf-streams: an op that is too long");
    memcpy(frame + 6, op, strlen(op));
    say(fd, frame, 6 + strlen(op));
}

/* Reads until the snapshot has come, which is the last before an update; nothing is traded yet. */
static void await_snapshot(struct peer *peer)
{
    for (bool is_there = false; !is_there;) {
        ssize_t more = read(peer->fd, peer->bytes + peer->left, LEFT_MAX - peer->left);
        if (more <= 0)
            fail("perf-streams: no snapshot");
        peer->left += (uint32_t)more;
        size_t length, head, at = 0;
        while ((head = read_frame(peer->bytes + at, peer->left - at, &length)) != 0) {
            const char *frame = peer->bytes + at + head;
            if (memmem(frame, length, "\"problem\"", 9) != NULL) {
                fprintf(stderr, "perf-streams: %.*s\n", (int)length, frame);
                exit(2);
            }
            is_there |= is_of(frame, length, "snapshot", 1);
            at += head + length;
        }
        memmove(peer->bytes, peer->bytes + at, peer->left - at);
        peer->left -= (uint32_t)at;
    }
}

/* Opens a stream that is subscribed to the channel, of `private` by the API key. */
static void subscribe(struct peer *peer, uint16_t port, const char *channel, const char *key)
{
    static const char handshake[] =
        "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: "
        "Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    static const char named[] = "Sec-WebSocket-Protocol: perps.bin.v1\r\n";
    bool is_private = strcmp(channel, "private") == 0;
    char op[160];
    size_t got = 0;
    peer->fd = dial(port);
    say(peer->fd, handshake, sizeof handshake - 1);
    if (is_binary)
        say(peer->fd, named, sizeof named - 1);
    say(peer->fd, "\r\n", 2);
    while (got < 4 || memcmp(peer->bytes + got - 4, "\r\n\r\n", 4) != 0) {
        if (got == LEFT_MAX || read(peer->fd, peer->bytes + got, 1) != 1)
            fail("perf-streams: handshake");
        got++;
    }
    if (memcmp(peer->bytes, "HTTP/1.1 101", strlen("HTTP/1.1 101")) != 0)
        fail("perf-streams: no stream");
    snprintf(op, sizeof op, "{\"op\":\"login\",\"api_key\":\"%s\"}", key);
    if (is_private)
        say_op(peer->fd, op);
    snprintf(op, sizeof op, "{\"op\":\"subscribe\",\"channel\":\"%s\"%s}", channel,
             is_private ? "" : ",\"market\":\"BTC-PERP\"");
    say_op(peer->fd, op);
    await_snapshot(peer);
}

/* The bytes of the first answer; 0: it is not whole. */
static size_t take_answer(const char *bytes, size_t count, uint64_t at_ns)
{
    const char *end = memmem(bytes, count, "\r\n\r\n", 4);
    if (end == NULL)
        return 0;
    size_t head = (size_t)(end - bytes) + 4;
    size_t length = (size_t)number_of(bytes, head, "Content-Length: ");
    if (count < head + length)
        return 0;
    uint64_t sequence = number_of(bytes + head, length, "\"sequence\":");
    if (memmem(bytes + head, length, "request_completed", strlen("request_completed")) == NULL ||
        sequence == 0) {
        fprintf(stderr, "perf-streams: %.*s\n", (int)length, bytes + head);
        exit(2);
    }
    if (first_sequence == 0)
        first_sequence = sequence;
    if (sequence - first_sequence < SEQUENCES)
        acknowledged_ns[sequence - first_sequence] = at_ns;
    acknowledged++;
    return head + length;
}

static void take(struct peer *peer, bool is_orders)
{
    static char buffer[LEFT_MAX + READ_BYTES];
    memcpy(buffer, peer->bytes, peer->left);
    ssize_t got = read(peer->fd, buffer + peer->left, READ_BYTES - 1);
    uint64_t at_ns = now_ns();
    size_t at = 0, used;
    if (got <= 0)
        fail("perf-streams: read");
    size_t count = peer->left + (size_t)got;
    buffer[count] = '\0';
    while ((used = is_orders ? take_answer(buffer + at, count - at, at_ns)
                             : take_frame(buffer + at, count - at, at_ns)) != 0)
        at += used;
    if (count - at > LEFT_MAX)
        fail("perf-streams: what is left is too long");
    peer->left = (uint32_t)(count - at);
    memcpy(peer->bytes, buffer + at, peer->left);
}

static void watch(int poll, struct peer *peer, uint64_t number)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = number };
    if (epoll_ctl(poll, EPOLL_CTL_ADD, peer->fd, &event) != 0)
        fail("perf-streams: epoll");
}

static void run(struct peer *peers, uint64_t subscribers, uint64_t rate, uint64_t seconds,
                const char *requests)
{
    struct epoll_event events[EVENTS];
    int poll = epoll_create1(0);
    uint64_t sent = 0, total = rate * seconds;
    for (uint64_t i = 0; i <= subscribers; i++)
        watch(poll, &peers[i], i);
    uint64_t begun_ns = now_ns();
    for (uint64_t at_ns = begun_ns; at_ns < begun_ns + seconds * SECOND_NS + DRAIN_NS;
         at_ns = now_ns()) {
        for (; sent < total && begun_ns + sent * SECOND_NS / rate <= at_ns; sent++)
            say(peers[0].fd, requests + sent * REQUEST_BYTES, REQUEST_BYTES);
        int count = epoll_wait(poll, events, EVENTS, 1);
        for (int i = 0; i < count; i++)
            take(&peers[events[i].data.u64], events[i].data.u64 == 0);
    }
    close(poll);
}

static unsigned percentile(unsigned percent)
{
    uint64_t passed = 0;
    for (unsigned us = 0; us < DELAYS; us++) {
        passed += delays[us];
        if (passed * 100 >= updates * percent)
            return us;
    }
    return DELAYS;
}

static uint64_t read_number(const char *text, const char *name, uint64_t most)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && number <= most)
        return number;
    fprintf(stderr, "perf-streams: %s '%.40s' is no number up to %lu\n", name, text, most);
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("perf-streams %s\n", version_text);
        return 0;
    }
    if (argc != 9) {
        fprintf(stderr, "perf-streams: eight words: PORT SUBSCRIBERS RATE SECONDS FILE CHANNEL "
                        "text|binary KEY\n");
        return 2;
    }
    is_binary = strcmp(argv[7], "binary") == 0;
    if (!is_binary && strcmp(argv[7], "text") != 0) {
        fprintf(stderr, "perf-streams: '%.40s' is neither text nor binary\n", argv[7]);
        return 2;
    }
    uint16_t port = (uint16_t)read_number(argv[1], "PORT", UINT16_MAX);
    uint64_t subscribers = read_number(argv[2], "SUBSCRIBERS", 60000);
    uint64_t rate = read_number(argv[3], "RATE", 100000);
    uint64_t seconds = read_number(argv[4], "SECONDS", 3600);
    size_t bytes = (size_t)(rate * seconds) * REQUEST_BYTES;
    static struct peer *peers;
    static char *requests;
    peers = calloc(subscribers + 1, sizeof *peers);
    requests = malloc(bytes);
    FILE *file = fopen(argv[5], "rb");
    if (peers == NULL || requests == NULL || file == NULL ||
        fread(requests, 1, bytes, file) != bytes)
        fail("perf-streams: the file of requests");
    fclose(file);
    peers[0].fd = dial(port);
    for (uint64_t i = 1; i <= subscribers; i++)
        subscribe(&peers[i], port, argv[6], argv[8]);
    run(peers, subscribers, rate, seconds, requests);
    printf("%lu %lu %u %u %lu\n", acknowledged, updates, percentile(50), percentile(99), early);
    return 0;
}
