#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "perp/request/instant.h"

static bool failed(const char *what)
{
    fprintf(stderr, "load: %s\n", what);
    return false;
}

static bool post(struct load *load, struct load_connection *connection, uint64_t due_ns,
                 uint64_t sent_ns)
{
    const struct load_order *order = &load->orders[load->sent++];
    connection->due_ns = due_ns;
    connection->sent_ns = sent_ns;
    connection->is_busy = true;
    return write(connection->fd, order->text, order->bytes) == order->bytes ||
           failed("an order was not written");
}

/* Returns the bytes of the whole answer in the input; 0 if it is not whole. */
static size_t answer_bytes(const struct load_connection *connection)
{
    const char *text = connection->input;
    const char *end = memmem(text, connection->input_count, "\r\n\r\n", 4);
    if (end == NULL)
        return 0;
    const char *length = memmem(text, (size_t)(end - text), "Content-Length: ", 16);
    size_t bytes = (size_t)(end - text) + 4;
    if (length != NULL)
        bytes += strtoul(length + 16, NULL, 10);
    return bytes <= connection->input_count ? bytes : 0;
}

/* Adds the latencies of the order in flight as they are now: those it had, or the least that they
 * can become. */
static void add_latency(struct load *load, const struct load_connection *connection)
{
    uint64_t now = instant_monotonic_ns();
    histogram_add(&load->latency_ns, now - connection->due_ns);
    histogram_add(&load->service_ns, now - connection->sent_ns);
}

static bool take_answer(struct load *load, struct load_connection *connection)
{
    char *input = connection->input;
    ssize_t got = read(connection->fd, input + connection->input_count,
                       sizeof connection->input - connection->input_count);
    if (got < 0 && errno == EAGAIN)
        return true;
    if (got <= 0)
        return failed("the server closed a connection");
    connection->input_count += (size_t)got;
    size_t bytes = answer_bytes(connection);
    if (bytes == 0)
        return connection->input_count < sizeof connection->input ||
               failed("an answer is too long");
    load->answered++;
    load->accepted += memmem(input, bytes, "\"status\":\"request_completed\"", 28) != NULL;
    load->problems += memcmp(input, "HTTP/1.1 200", 12) != 0;
    add_latency(load, connection);
    memmove(input, input + bytes, connection->input_count - bytes);
    connection->input_count -= bytes;
    connection->is_busy = false;
    return true;
}

static bool take_answers(struct load *load, int poll_file, int wait_ms)
{
    struct epoll_event events[256];
    int ready = epoll_wait(poll_file, events, (int)CC_COUNT(events), wait_ms);
    for (int i = 0; i < ready; i++)
        if (!take_answer(load, &load->connections[events[i].data.u32]))
            return false;
    return true;
}

static uint64_t due_ns_of(const struct load *load, uint64_t begin_ns, uint32_t order)
{
    return load->rate_per_s == 0 ? instant_monotonic_ns()
                                 : begin_ns + (uint64_t)(order * 1e9 / load->rate_per_s);
}

/* Sends what is due by now on the connections that are free. */
static bool send_due(struct load *load, uint64_t begin_ns)
{
    for (uint32_t i = 0; i < load->connection_count && load->sent < load->order_count; i++) {
        struct load_connection *connection = &load->connections[i];
        uint64_t due_ns = due_ns_of(load, begin_ns, load->sent), now = instant_monotonic_ns();
        if (due_ns > now)
            break;
        if (!connection->is_busy && !post(load, connection, due_ns, now))
            return false;
    }
    return true;
}

/* Awaits what is in flight, then adds every due order that has no answer. */
static bool end_open_loop(struct load *load, int poll_file, uint64_t begin_ns)
{
    uint64_t end_ns = instant_monotonic_ns() + load->drain_ns;
    while (load->answered < load->sent && instant_monotonic_ns() < end_ns)
        if (!take_answers(load, poll_file, 10))
            return false;
    for (uint32_t i = 0; i < load->connection_count; i++)
        if (load->connections[i].is_busy)
            add_latency(load, &load->connections[i]);
    for (uint32_t i = load->sent; i < load->order_count; i++)
        histogram_add(&load->latency_ns, instant_monotonic_ns() - due_ns_of(load, begin_ns, i));
    return true;
}

static bool run(struct load *load, int poll_file)
{
    uint64_t begin_ns = instant_monotonic_ns();
    while (instant_monotonic_ns() - begin_ns < load->run_ns && load->answered < load->order_count)
        if (!send_due(load, begin_ns) ||
            !take_answers(load, poll_file, load->rate_per_s > 0 ? 0 : 10))
            return false;
    load->took_ns = instant_monotonic_ns() - begin_ns;
    return load->rate_per_s == 0 || end_open_loop(load, poll_file, begin_ns);
}

bool load_run(struct load *load)
{
    int poll_file = epoll_create1(EPOLL_CLOEXEC);
    bool is_ready = poll_file >= 0;

    for (uint32_t i = 0; is_ready && i < load->connection_count; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data.u32 = i };
        is_ready = epoll_ctl(poll_file, EPOLL_CTL_ADD, load->connections[i].fd, &event) == 0;
    }
    bool is_done = is_ready ? run(load, poll_file) : failed(strerror(errno));
    if (poll_file >= 0)
        (void)close(poll_file);
    return is_done;
}

bool load_is_valid(const struct load *load)
{
    return load->rate_per_s == 0 ||
           (uint64_t)load->answered * 100 >= (uint64_t)load->order_count * LOAD_VALID_PERCENT;
}
