/* echo.c - the least that a server over io_uring can do: whatever it reads, it answers with the
 * same HTTP 200. The baseline of the transport in perf/run: no parsing, no routes, no limits.
 *
 * `perf-echo` listens on a free port of 127.0.0.1, prints "ready PORT", and serves until it is
 * killed. One thread; a read, then a write, of each connection in turn. */
#include <arpa/inet.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"

enum { CONNECTIONS = 1024, INPUT_BYTES = 4096, ENTRIES = 2048, ACCEPT = -1 };

static const char ANSWER[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

struct connection {
    int fd; /* 0: free */
    bool is_writing;
    char input[INPUT_BYTES];
};

static struct connection connections[CONNECTIONS];
static struct io_uring ring;

static struct io_uring_sqe *next_entry(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);

    if (entry == NULL) {
        (void)io_uring_submit(&ring);
        entry = io_uring_get_sqe(&ring);
    }
    if (entry == NULL)
        abort();
    return entry;
}

static void begin_accept(int listener)
{
    struct io_uring_sqe *entry = next_entry();

    io_uring_prep_accept(entry, listener, NULL, NULL, SOCK_CLOEXEC);
    io_uring_sqe_set_data64(entry, (uint64_t)ACCEPT);
}

static void begin_turn(size_t at, bool writes)
{
    struct connection *connection = &connections[at];
    struct io_uring_sqe *entry = next_entry();

    connection->is_writing = writes;
    if (writes)
        io_uring_prep_send(entry, connection->fd, ANSWER, sizeof ANSWER - 1, 0);
    else
        io_uring_prep_recv(entry, connection->fd, connection->input, INPUT_BYTES, 0);
    io_uring_sqe_set_data64(entry, at);
}

static void take_connection(int fd)
{
    for (size_t i = 0; i < CONNECTIONS; i++) {
        if (connections[i].fd != 0)
            continue;
        connections[i].fd = fd;
        begin_turn(i, false);
        return;
    }
    (void)close(fd);
}

static void take_turn(size_t at, int result)
{
    if (result <= 0) {
        (void)close(connections[at].fd);
        connections[at].fd = 0;
        return;
    }
    begin_turn(at, !connections[at].is_writing);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("perf-echo %s\n", version_text) < 0;
    if (argc > 1) {
        fprintf(stderr, "perf-echo: '%.60s' is one word too many\n", argv[1]);
        return 2;
    }
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, CONNECTIONS) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        io_uring_queue_init(ENTRIES, &ring,
                            IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) != 0) {
        perror("perf-echo");
        return 1;
    }
    printf("ready %u\n", ntohs(address.sin_port));
    (void)fflush(stdout);
    begin_accept(listener);
    for (;;) {
        struct io_uring_cqe *done;
        if (io_uring_submit_and_wait(&ring, 1) < 0)
            return 1;
        while (io_uring_peek_cqe(&ring, &done) == 0) {
            uint64_t at = io_uring_cqe_get_data64(done);
            int result = done->res;
            io_uring_cqe_seen(&ring, done);
            if (at != (uint64_t)ACCEPT) {
                take_turn(at, result);
                continue;
            }
            if (result >= 0)
                take_connection(result);
            begin_accept(listener);
        }
    }
}
