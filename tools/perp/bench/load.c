#include "perp/bench/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "perp/bench/stream_message.h"
#include "perp/bench/unfinished.h"
#include "perp/request/instant.h"

enum {
    EVENTS = 256,
    SPIN_NS = 60000, /* a sleep ends at most so much late; the rest is waited for awake */
    SLEEP_NS_MOST = 10000000,
    PAUSE_MS_FIRST = 100, /* between two machines that are asked for the same */
    PAUSE_MS_MOST = 1000,
    TOLD_MOST = 3, /* leaders in a row, before the list goes on */
};

#define SILENT_NS UINT64_C(2000000000) /* without an answer the next machine is asked */
#define RULE_NS   UINT64_C(30000000000)

struct connection {
    int fd; /* -1: it has ended */
    uint32_t oldest, in_flight;
    uint32_t unwritten; /* the newest of those in flight, without a byte written */
    size_t in_used;     /* bytes of an answer that is not whole */
    size_t out_begin, out_end;
    uint32_t *rows; /* ring of `depth`: those in flight */
    uint64_t *ids;  /* of a stream: theirs */
    char *in;
    uint8_t *out;
    /* Of several machines. */
    uint32_t *kept;    /* ring of `depth`: numbers of unfinished.h */
    uint64_t heard_ns; /* of the last answer, or of the first request behind it */
    uint64_t again_ns; /* when it is opened again */
    uint32_t pause_ms, told;
    char leader[ANSWER_LEADER_MAX];
};

struct sender {
    struct load *load;
    struct connection *connections;
    int poll_file;
    uint32_t next; /* connection that is looked at first */
    uint32_t in_flight, places, alive;
    uint64_t begin_ns;
    uint64_t told_ns;
    /* Of several machines. */
    struct unfinished unfinished;
    uint32_t closed;    /* connections that wait to be opened again */
    uint64_t looked_ns; /* for silent ones */
    uint64_t sequence;  /* the highest that was acknowledged */
    size_t request_max; /* as it is sent */
};

static uint64_t passed(const struct sender *sender)
{
    return instant_monotonic_ns() - sender->begin_ns;
}

/* Goes on to another machine: what is in flight waits to be sent again. `leader`: host:port, "": no
 * one was told. */
static void leave(struct sender *sender, struct connection *connection, const char *leader)
{
    const struct load *load = sender->load;

    (void)epoll_ctl(sender->poll_file, EPOLL_CTL_DEL, connection->fd, NULL);
    connection->fd = -1;
    for (; connection->in_flight > 0; connection->in_flight--, sender->in_flight--) {
        unfinished_wait(&sender->unfinished, connection->kept[connection->oldest]);
        connection->oldest = (connection->oldest + 1) % load->depth;
    }
    connection->unwritten = 0;
    connection->in_used = connection->out_begin = connection->out_end = 0;
    connection->again_ns = passed(sender);
    connection->told = leader[0] != '\0' && connection->told < TOLD_MOST ? connection->told + 1 : 0;
    snprintf(connection->leader, sizeof connection->leader, "%s",
             connection->told != 0 ? leader : "");
    if (connection->told == 0) {
        connection->again_ns += connection->pause_ms * UINT64_C(1000000);
        connection->pause_ms *= 2;
        if (connection->pause_ms > PAUSE_MS_MOST)
            connection->pause_ms = PAUSE_MS_MOST;
    }
    sender->closed++;
}

static void lose(struct sender *sender, struct connection *connection)
{
    struct load *load = sender->load;

    if (load->connect != NULL) {
        load->lost_connections++;
        leave(sender, connection, "");
        return;
    }
    (void)epoll_ctl(sender->poll_file, EPOLL_CTL_DEL, connection->fd, NULL);
    connection->fd = -1;
    sender->in_flight -= connection->in_flight;
    sender->places -= load->depth;
    sender->alive--;
    load->lost_connections++;
}

/* Writes what waits. The requests of it are sent now. */
static void flush(struct sender *sender, struct connection *connection)
{
    struct load *load = sender->load;
    uint64_t now_ns = passed(sender);

    for (; connection->unwritten > 0; connection->unwritten--) {
        uint32_t at = connection->oldest + connection->in_flight - connection->unwritten;
        struct load_row *row = &load->rows[connection->rows[at % load->depth]];
        if (row->sent_ns == LOAD_NEVER)
            row->sent_ns = now_ns;
    }
    while (connection->out_begin < connection->out_end) {
        ssize_t wrote = send(connection->fd, connection->out + connection->out_begin,
                             connection->out_end - connection->out_begin, MSG_NOSIGNAL);
        if (wrote < 0 && errno == ENOTSOCK)
            wrote = write(connection->fd, connection->out + connection->out_begin,
                          connection->out_end - connection->out_begin);
        if (wrote < 0 && errno == EAGAIN)
            return;
        if (wrote <= 0) {
            lose(sender, connection);
            return;
        }
        connection->out_begin += (size_t)wrote;
    }
    connection->out_begin = connection->out_end = 0;
}

static void flush_all(struct sender *sender)
{
    for (uint32_t i = 0; i < sender->load->connection_count; i++) {
        struct connection *connection = &sender->connections[i];
        if (connection->fd >= 0 && connection->out_end != 0)
            flush(sender, connection);
    }
}

/* A connection with a free slot; NULL: there is none. */
static struct connection *free_place(struct sender *sender)
{
    const struct load *load = sender->load;

    if (sender->in_flight == sender->places)
        return NULL;
    for (uint32_t i = 0; i < load->connection_count; i++) {
        struct connection *connection = &sender->connections[sender->next];
        sender->next = sender->next + 1 == load->connection_count ? 0 : sender->next + 1;
        if (connection->fd >= 0 && connection->in_flight < load->depth)
            return connection;
    }
    return NULL;
}

/* Room for another request behind what waits to be written. */
static uint8_t *reserve(const struct sender *sender, struct connection *connection)
{
    INVARIANT(connection->out != NULL);
    if (connection->out_begin == connection->out_end)
        connection->out_begin = connection->out_end = 0;
    if (connection->out_end + sender->request_max > sender->load->depth * sender->request_max) {
        memmove(connection->out, connection->out + connection->out_begin,
                connection->out_end - connection->out_begin);
        connection->out_end -= connection->out_begin;
        connection->out_begin = 0;
    }
    return connection->out + connection->out_end;
}

/* A request of this row, whose bytes are behind those that wait, is in flight. */
static uint32_t take_place(struct sender *sender, struct connection *connection, uint32_t row,
                           size_t bytes)
{
    uint32_t place = (connection->oldest + connection->in_flight) % sender->load->depth;

    connection->out_end += bytes;
    connection->rows[place] = row;
    if (connection->in_flight == 0)
        connection->heard_ns = passed(sender);
    connection->in_flight++;
    connection->unwritten++;
    sender->in_flight++;
    return place;
}

/* Sends what unfinished.h keeps as this number. */
static void send_kept(struct sender *sender, struct connection *connection, uint32_t number)
{
    const struct load *load = sender->load;
    uint32_t index = (uint32_t)(connection - sender->connections);
    size_t bytes = unfinished_write(&sender->unfinished, number, load->host(load->context, index),
                                    sender->sequence, reserve(sender, connection));
    uint32_t row = sender->unfinished.requests[number].row;

    connection->kept[take_place(sender, connection, row, bytes)] = number;
}

static void post(struct sender *sender, struct connection *connection, uint32_t index)
{
    struct load *load = sender->load;
    struct load_request request;

    load->make(load->context, index, &request);
    INVARIANT(request.count <= LOAD_REQUEST_MAX);
    load->rows[index].kind = request.kind;
    load->rows[index].is_read = request.is_read;
    load->sent++;
    if (load->connect != NULL) {
        send_kept(sender, connection,
                  unfinished_keep(&sender->unfinished, index, passed(sender), &request));
        return;
    }
    memcpy(reserve(sender, connection), request.bytes, request.count);
    uint32_t place = take_place(sender, connection, index, request.count);
    if (load->is_stream)
        connection->ids[place] = stream_message_id(request.bytes);
}

static void begin_row(struct load *load, uint64_t due_ns)
{
    load->rows[load->due_count++] =
        (struct load_row){ .due_ns = due_ns, .sent_ns = LOAD_NEVER, .done_ns = LOAD_NEVER };
}

/* Opens connections again whose time has come. */
static void open_again(struct sender *sender)
{
    const struct load *load = sender->load;
    uint64_t now_ns = passed(sender);

    for (uint32_t i = 0; sender->closed > 0 && i < load->connection_count; i++) {
        struct connection *connection = &sender->connections[i];
        struct epoll_event event = { .events = EPOLLIN, .data.u32 = i };
        if (connection->fd >= 0 || connection->again_ns > now_ns)
            continue;
        sender->closed--;
        connection->fd = load->connect(load->context, i,
                                       connection->leader[0] != '\0' ? connection->leader : NULL);
        if (connection->fd < 0 ||
            epoll_ctl(sender->poll_file, EPOLL_CTL_ADD, connection->fd, &event) != 0)
            leave(sender, connection, "");
    }
}

/* Leaves machines that have not answered for long. */
static void leave_silent(struct sender *sender)
{
    const struct load *load = sender->load;
    uint64_t now_ns = passed(sender);

    if (now_ns - sender->looked_ns < PAUSE_MS_FIRST * UINT64_C(1000000))
        return;
    sender->looked_ns = now_ns;
    for (uint32_t i = 0; i < load->connection_count; i++) {
        struct connection *connection = &sender->connections[i];
        if (connection->fd >= 0 && connection->in_flight > 0 &&
            now_ns - connection->heard_ns > SILENT_NS)
            leave(sender, connection, "");
    }
}

/* The client rule: what waits goes over connections that are open. */
static void send_again(struct sender *sender)
{
    struct connection *connection;
    uint32_t number;

    if (sender->load->connect == NULL)
        return;
    leave_silent(sender);
    open_again(sender);
    while (sender->unfinished.waiting > 0 && (connection = free_place(sender)) != NULL) {
        number = unfinished_next(&sender->unfinished);
        if (passed(sender) - sender->unfinished.requests[number].first_ns > RULE_NS) {
            unfinished_drop(&sender->unfinished, number); /* it stays without an answer */
            continue;
        }
        send_kept(sender, connection, number);
        sender->load->resent++;
        flush(sender, connection);
    }
}

/* Sends what is due by now and finds a slot. */
static void send_due(struct sender *sender)
{
    struct load *load = sender->load;
    uint64_t now_ns = passed(sender);
    bool has_queued = false;

    while (load->sent < load->row_count) {
        if (load->due_ns != NULL && load->due_ns[load->sent] > now_ns)
            break;
        if (sender->in_flight + sender->unfinished.waiting >= sender->places)
            break;
        struct connection *connection = free_place(sender);
        if (connection == NULL)
            break;
        if (load->due_ns == NULL)
            begin_row(load, now_ns);
        post(sender, connection, load->sent);
        if (load->depth == 1)
            flush(sender, connection);
        has_queued |= load->depth > 1;
    }
    if (has_queued)
        flush_all(sender);
}

/* The request of this id becomes the oldest. False: none in flight has it. */
static bool find_request(const struct load *load, struct connection *connection, uint64_t id)
{
    for (uint32_t i = 0; i < connection->in_flight; i++) {
        uint32_t at = (connection->oldest + i) % load->depth;
        if (connection->ids[at] == id) {
            uint32_t row = connection->rows[at];
            connection->rows[at] = connection->rows[connection->oldest];
            connection->ids[at] = connection->ids[connection->oldest];
            connection->rows[connection->oldest] = row;
            return true;
        }
    }
    return false;
}

/* Of several machines: the answer to the oldest in flight. False: another one is asked, so nothing
 * more is to be read of this connection. */
static bool finishes(struct sender *sender, struct connection *connection, struct load_row *row,
                     const char *text, size_t bytes)
{
    const struct load *load = sender->load;
    char leader[ANSWER_LEADER_MAX];

    connection->heard_ns = passed(sender);
    if (answer_is_open(&row->answer)) {
        answer_read_leader(text, bytes, leader);
        leave(sender, connection, leader);
        return false;
    }
    answer_read_original(&row->answer, text, bytes, load->outcomes);
    uint64_t sequence = row->is_read ? 0 : answer_read_sequence(text, bytes);
    if (sequence > sender->sequence)
        sender->sequence = sequence;
    unfinished_drop(&sender->unfinished, connection->kept[connection->oldest]);
    connection->told = 0;
    connection->pause_ms = PAUSE_MS_FIRST;
    return true;
}

/* False: it is no answer to a request in flight, or the end of a stream. */
static bool take_one(struct sender *sender, struct connection *connection, const char *text,
                     size_t bytes)
{
    struct load *load = sender->load;
    struct answer answer;

    if (load->is_stream) {
        uint64_t id = 0;
        enum stream_message message =
            stream_message_accept(&answer, text, bytes, load->outcomes, &id);
        if (message == STREAM_MESSAGE_OTHER)
            return true;
        if (message == STREAM_MESSAGE_END || !find_request(load, connection, id))
            return false;
    } else if (connection->in_flight == 0) {
        return false;
    }
    struct load_row *row = &load->rows[connection->rows[connection->oldest % load->depth]];
    if (load->is_stream)
        row->answer = answer;
    else
        answer_accept(&row->answer, text, bytes, row->is_read, load->outcomes);
    if (load->connect != NULL && !finishes(sender, connection, row, text, bytes))
        return true;
    row->done_ns = passed(sender);
    connection->oldest = (connection->oldest + 1) % load->depth;
    connection->in_flight--;
    sender->in_flight--;
    load->answered++;
    return true;
}

/* The bytes of the answer at the begin; 0: it is not whole. */
static size_t whole_bytes(const struct load *load, const char *text, size_t count)
{
    return load->is_stream ? stream_message_bytes(text, count) : answer_bytes(text, count);
}

static void take_answers(struct sender *sender, struct connection *connection)
{
    const struct load *load = sender->load;
    ssize_t got = read(connection->fd, connection->in + connection->in_used,
                       LOAD_ANSWER_MAX - connection->in_used);
    size_t at = 0, bytes;

    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        lose(sender, connection);
        return;
    }
    connection->in_used += (size_t)got;
    connection->in[connection->in_used] = '\0';
    while ((bytes = whole_bytes(load, connection->in + at, connection->in_used - at)) != 0) {
        if (!take_one(sender, connection, connection->in + at, bytes)) {
            lose(sender, connection);
            return;
        }
        if (connection->fd < 0) /* it went on to another machine */
            return;
        at += bytes;
    }
    memmove(connection->in, connection->in + at, connection->in_used - at);
    connection->in_used -= at;
    if (connection->in_used == LOAD_ANSWER_MAX) /* longer than any that is asked for */
        lose(sender, connection);
}

/* Waits for answers, at most `wait_ns`. */
static void wait_for_answers(struct sender *sender, uint64_t wait_ns)
{
    struct epoll_event events[EVENTS];
    struct timespec wait = { .tv_nsec = (long)wait_ns };
    int ready = epoll_pwait2(sender->poll_file, events, EVENTS, &wait, NULL);

    for (int i = 0; i < ready; i++) {
        struct connection *connection = &sender->connections[events[i].data.u32];
        if (connection->fd >= 0)
            take_answers(sender, connection);
        if (connection->fd >= 0 && connection->out_end != 0)
            flush(sender, connection);
    }
}

/* How long nothing is due, less what a sleep may end late. */
static uint64_t idle_ns(const struct sender *sender)
{
    const struct load *load = sender->load;
    uint64_t now_ns = passed(sender), until_ns = load->run_ns;

    if (load->due_ns != NULL && load->sent < load->row_count)
        until_ns = load->due_ns[load->sent];
    if (load->due_ns == NULL || sender->in_flight == sender->places)
        until_ns = now_ns + SLEEP_NS_MOST; /* an answer ends the wait */
    if (until_ns > load->run_ns)
        until_ns = load->run_ns;
    if (until_ns < now_ns + SPIN_NS)
        return 0;
    uint64_t wait_ns = until_ns - now_ns - SPIN_NS;
    return wait_ns < SLEEP_NS_MOST ? wait_ns : SLEEP_NS_MOST;
}

static void tell(struct sender *sender, uint64_t now_ns)
{
    struct load *load = sender->load;

    if (load->progress == NULL || now_ns - sender->told_ns < 1000000000)
        return;
    sender->told_ns = now_ns;
    load->progress(load->context, load, now_ns);
}

static void run(struct sender *sender)
{
    struct load *load = sender->load;
    uint64_t now_ns;

    if (load->due_ns != NULL)
        while (load->due_count < load->row_count)
            begin_row(load, load->due_ns[load->due_count]);
    while (load->begin_ns > instant_monotonic_ns())
        usleep(100);
    sender->begin_ns = load->begin_ns != 0 ? load->begin_ns : instant_monotonic_ns();
    while ((now_ns = passed(sender)) < load->run_ns && sender->alive > 0) {
        if (load->answered == load->row_count)
            break;
        send_again(sender);
        send_due(sender);
        wait_for_answers(sender, idle_ns(sender));
        tell(sender, now_ns);
    }
    send_due(sender); /* what became due in the last turn */
    load->took_ns = now_ns;
    flush_all(sender);
    while (sender->in_flight + sender->unfinished.waiting > 0 &&
           passed(sender) < now_ns + load->drain_ns) {
        send_again(sender);
        wait_for_answers(sender, SLEEP_NS_MOST);
    }
    load->end_ns = passed(sender);
    /* What is due later is due all the same: it is as late as the end that was planned. */
    if (load->due_ns != NULL && load->answered < load->row_count) {
        load->took_ns = load->took_ns < load->run_ns ? load->run_ns : load->took_ns;
        load->end_ns = load->end_ns < load->run_ns ? load->run_ns : load->end_ns;
    }
}

static bool prepare(struct sender *sender)
{
    const struct load *load = sender->load;

    for (uint32_t i = 0; i < load->connection_count; i++) {
        struct connection *connection = &sender->connections[i];
        struct epoll_event event = { .events = EPOLLIN, .data.u32 = i };
        connection->fd = load->files[i];
        connection->rows = calloc(load->depth, sizeof *connection->rows);
        connection->ids = calloc(load->depth, sizeof *connection->ids);
        connection->kept = calloc(load->depth, sizeof *connection->kept);
        connection->in = malloc(LOAD_ANSWER_MAX + 1);
        connection->out = malloc(load->depth * sender->request_max);
        connection->pause_ms = PAUSE_MS_FIRST;
        if (connection->rows == NULL || connection->ids == NULL || connection->kept == NULL ||
            connection->in == NULL || connection->out == NULL ||
            epoll_ctl(sender->poll_file, EPOLL_CTL_ADD, connection->fd, &event) != 0)
            return false;
    }
    return true;
}

bool load_run(struct load *load, char error[128])
{
    struct sender sender = { .load = load,
                             .poll_file = epoll_create1(EPOLL_CLOEXEC),
                             .places = load->connection_count * load->depth,
                             .alive = load->connection_count,
                             .request_max = LOAD_REQUEST_MAX };

    INVARIANT(load->depth >= 1 && load->depth <= LOAD_DEPTH_MAX && load->connection_count >= 1);
    INVARIANT(sender.places <= LOAD_PLACES_MAX);
    (void)prctl(PR_SET_TIMERSLACK, 1);
    sender.connections = calloc(load->connection_count, sizeof *sender.connections);
    bool is_ready = sender.poll_file >= 0 && sender.connections != NULL;
    if (load->connect != NULL) {
        sender.request_max += UNFINISHED_MORE;
        is_ready = is_ready && unfinished_init(&sender.unfinished, sender.places);
    }
    is_ready = is_ready && prepare(&sender);
    if (is_ready)
        run(&sender);
    else
        snprintf(error, 128, "%s", strerror(errno));
    for (uint32_t i = 0; sender.connections != NULL && i < load->connection_count; i++) {
        free(sender.connections[i].rows);
        free(sender.connections[i].ids);
        free(sender.connections[i].kept);
        free(sender.connections[i].in);
        free(sender.connections[i].out);
    }
    free(sender.connections);
    unfinished_free(&sender.unfinished);
    if (sender.poll_file >= 0)
        (void)close(sender.poll_file);
    return is_ready;
}

bool load_is_valid(const struct load *load)
{
    if (load->due_ns == NULL)
        return load->answered > 0 && (load->lost_connections == 0 || load->connect != NULL);
    return (uint64_t)load->answered * 100 >= (uint64_t)load->due_count * LOAD_VALID_PERCENT;
}

uint64_t load_latency_ns(const struct load *load, const struct load_row *row)
{
    return (row->done_ns == LOAD_NEVER ? load->end_ns : row->done_ns) - row->due_ns;
}

uint64_t load_service_ns(const struct load *load, const struct load_row *row)
{
    if (row->sent_ns == LOAD_NEVER)
        return LOAD_NEVER;
    return (row->done_ns == LOAD_NEVER ? load->end_ns : row->done_ns) - row->sent_ns;
}
