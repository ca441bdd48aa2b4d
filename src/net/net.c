#include "net/net.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crypto/secret.h"
#include "net/entrance.h"
#include "net/http/asset.h"
#include "net/parser.h"
#include "net/protocol.h"
#include "net/request/rate_limit.h"
#include "net/secure.h"
#include "net/socket/listener.h"
#include "net/socket/uring.h"

enum {
    LISTENERS = 2,
    PUBLIC = 0,
    ADMIN = 1,
    FILES_RESERVED = 128, /* descriptors for other uses than connections */
    CONNECTIONS_MIN = 128,
    ACCEPT_PAUSE_NS = 100000000, /* no accepts after the process ran out of descriptors */
};

struct net {
    struct protocol protocol;
    struct secure secure;
    struct uring uring;
    struct listener listeners[LISTENERS];
    bool accepting[LISTENERS]; /* an accept is armed */
    uint64_t accept_again_ns;  /* 0: now */
    int wake_file;
};

/* The capacity of the connection table: a power of two below the limit of descriptors, which the
 * threads of the port share. */
static uint32_t connection_capacity(uint32_t threads)
{
    struct rlimit limit;
    uint32_t capacity = NET_CONNECTIONS_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return CONNECTIONS_MIN;
    if (limit.rlim_cur < limit.rlim_max && limit.rlim_cur < NET_CONNECTIONS_MAX + FILES_RESERVED) {
        limit.rlim_cur = limit.rlim_max < NET_CONNECTIONS_MAX + FILES_RESERVED
                             ? limit.rlim_max
                             : NET_CONNECTIONS_MAX + FILES_RESERVED;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    while (capacity > CONNECTIONS_MIN && capacity * threads + FILES_RESERVED > limit.rlim_cur)
        capacity /= 2;
    return capacity;
}

static int refuse_address(int error, const char *option, const char *address,
                          struct net_diagnosis *diagnosis)
{
    diagnosis->bad_address = error == -EINVAL;
    if (error == -EINVAL)
        (void)snprintf(diagnosis->text, sizeof diagnosis->text, "%s: %s is not an address:port",
                       option, address);
    else
        (void)snprintf(diagnosis->text, sizeof diagnosis->text, "%s: cannot listen on %s: %s",
                       option, address, strerror(-error));
    return error;
}

static int open_listeners(struct net *net, const struct net_config *config,
                          struct net_diagnosis *diagnosis)
{
    int error =
        config->first != NULL
            ? listener_join(&net->listeners[PUBLIC], &config->first->listeners[PUBLIC])
            : listener_open(&net->listeners[PUBLIC], config->listen, config->port_threads > 1);
    if (error != 0)
        return refuse_address(error, "net.listen", config->listen, diagnosis);
    if (config->admin_listen == NULL)
        return 0;
    error = listener_open(&net->listeners[ADMIN], config->admin_listen, false);
    return error == 0 ? 0 : refuse_address(error, "admin.listen", config->admin_listen, diagnosis);
}

static int make_tables(struct net *net, const struct net_config *config,
                       struct net_diagnosis *diagnosis)
{
    uint32_t count = connection_capacity(config->port_threads > 1 ? config->port_threads : 1);
    int error = protocol_init(&net->protocol, config, count);

    if (error == 0)
        error = secure_init(&net->secure, &net->protocol, config->tls);
    if (error == 0)
        return 0;
    diagnosis->kernel_lacks = true;
    (void)snprintf(diagnosis->text, sizeof diagnosis->text,
                   "no memory for %" PRIu32 " connections (%zu bytes; fewer with a smaller ulimit "
                   "-n) and net.output_pool (%" PRIu64 " bytes)",
                   count, conn_table_bytes(count), config->output_pool_bytes);
    return error;
}

bool net_has_console(void)
{
    return asset_find_page(false) >= 0;
}

int net_create(struct net **net, const struct net_config *config, struct net_diagnosis *diagnosis)
{
    struct net *made = calloc(1, sizeof *made);
    *net = NULL;
    *diagnosis = (struct net_diagnosis){ 0 };
    if (made == NULL)
        return -ENOMEM;
    made->listeners[PUBLIC].file = -1;
    made->listeners[ADMIN].file = -1;
    made->wake_file = config->wake_file;
    int error = uring_init(&made->uring, diagnosis->text, sizeof diagnosis->text);
    if (error != 0)
        diagnosis->kernel_lacks = true;
    if (error == 0)
        error = open_listeners(made, config, diagnosis);
    if (error == 0)
        error = make_tables(made, config, diagnosis);
    if (error != 0) {
        net_destroy(made);
        return error;
    }
    *net = made;
    return 0;
}

int net_hold_secrets(struct net *net)
{
    return secret_hold(&net->protocol.config, sizeof net->protocol.config);
}

void net_destroy(struct net *net)
{
    if (net == NULL)
        return;
    for (uint32_t i = 0;
         i < net->protocol.context.conns.capacity && net->protocol.context.conns.memory != NULL;
         i++)
        if (conn_at(&net->protocol.context.conns, i)->open &&
            conn_at(&net->protocol.context.conns, i)->file >= 0)
            (void)close(conn_at(&net->protocol.context.conns, i)->file);
    listener_close(&net->listeners[PUBLIC]);
    listener_close(&net->listeners[ADMIN]);
    uring_close(&net->uring); /* ends operations in flight before their memory is unmapped */
    secure_free(&net->secure);
    protocol_free(&net->protocol);
    free(net);
}

/* ---- one connection ------------------------------------------------------------------------- */

static void arm_receive(struct net *net, struct conn *conn)
{
    conn->receiving = true;
    uring_receive(&net->uring, conn->file, conn->index, conn->bulk);
}

static void stop_receive(struct net *net, struct conn *conn)
{
    if (!conn->receiving || conn->cancelling)
        return;
    conn->cancelling = true;
    uring_cancel(&net->uring, uring_user_data(URING_RECEIVE, conn->index));
}

/* Closes the connection once no operation of it is in flight. */
static void abandon(struct net *net, struct conn *conn)
{
    if (conn->receiving || conn->sending) {
        if (!conn->aborted)
            (void)shutdown(conn->file, SHUT_RDWR); /* ends a send and a receive in flight */
        conn->aborted = true;
        stop_receive(net, conn);
        return;
    }
    (void)close(conn->file);
    conn->file = -1;
    secure_close(&net->secure, conn);
    protocol_close(&net->protocol, conn);
}

static bool is_between_requests(const struct conn *conn)
{
    return conn->phase != CONN_BODY && conn->phase != CONN_STREAM && conn->scanned == 0 &&
           conn_input_bytes(conn) == 0;
}

/* Does for a connection what is due after a turn: send, receive, shut down, close. */
static void attend(struct net *net, struct conn *conn)
{
    struct protocol *protocol = &net->protocol;
    struct output *wire = conn_wire(conn);
    const uint8_t *bytes;
    if (protocol->context.draining && is_between_requests(conn)) {
        conn->last = true;
        conn_phase_move(&conn->phase, CONN_HEAD);
    }
    if (!conn->broken)
        secure_seal(&net->secure, conn);
    bool finished = protocol_is_finished(conn) && wire->bytes == 0 && !conn->sending;
    if (conn->broken || (finished && conn->ended)) {
        conn->broken = true;
        abandon(net, conn);
        return;
    }
    if (!conn->sending && wire->bytes > 0) {
        size_t count = output_next(&protocol->context.outputs, wire, &bytes);
        conn->sending = true;
        uring_send(&net->uring, conn->file, bytes, count, conn->index);
    }
    if (finished && !conn->lingering) {
        /* Closing now could destroy the answer while the peer still sends (RFC 9112, 9.6). */
        conn->lingering = true;
        (void)shutdown(conn->file, SHUT_WR);
        conn_time_start(&protocol->context.conns, conn, CONN_TIME_LINGER, protocol->context.now_ns);
    }
    if (conn_input_bytes(conn) >= CONN_INPUT_KEEP || conn->wire.bytes > 2 * SECURE_WIRE_BYTES ||
        (conn->owes_records && conn->pause_ns != 0) || (conn->discards && !finished)) {
        conn->bulk = true;
        stop_receive(net, conn);
    } else if (!conn->receiving && !conn->ended) {
        arm_receive(net, conn);
    }
}

static void attend_dirty(struct net *net)
{
    struct conn_table *conns = &net->protocol.context.conns;
    uint32_t count = conn_queue_count(conns, CONN_DIRTY);
    for (uint32_t i = 0; i < count; i++) {
        struct conn *conn = conn_queue_pop(conns, CONN_DIRTY);
        if (conn->open && conn->file >= 0)
            attend(net, conn);
    }
}

/* ---- completions ---------------------------------------------------------------------------- */

static void arm_accepts(struct net *net)
{
    if (net->protocol.context.draining)
        return;
    if (net->accept_again_ns != 0 && net->accept_again_ns > net->protocol.context.now_ns)
        return;
    net->accept_again_ns = 0;
    for (uint32_t i = 0; i < LISTENERS; i++) {
        if (net->listeners[i].file < 0 || net->accepting[i])
            continue;
        net->accepting[i] = true;
        uring_accept(&net->uring, net->listeners[i].file, i);
    }
}

/* Closes a socket with the reason. */
static void refuse(struct net *net, int file)
{
    char text[ENTRANCE_REFUSAL_BYTES];
    size_t count = entrance_refusal(&net->protocol.context, text);
    (void)!send(file, text, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)close(file);
}

/* Closes a connection that was not admitted, with the reason. */
static void turn_away(struct net *net, struct conn *conn)
{
    refuse(net, conn->file);
    conn->file = -1;
    protocol_close(&net->protocol, conn);
}

static void on_accept(struct net *net, const struct io_uring_cqe *cqe, uint32_t listener)
{
    struct protocol *protocol = &net->protocol;
    if ((cqe->flags & IORING_CQE_F_MORE) == 0)
        net->accepting[listener] = false;
    if (cqe->res < 0) {
        protocol->context.metrics.counters.accept_failures++;
        if (cqe->res != -ECONNABORTED && cqe->res != -EINTR && cqe->res != -EAGAIN)
            net->accept_again_ns = protocol->context.now_ns + ACCEPT_PAUSE_NS;
        return;
    }
    struct peer peer;
    (void)peer_of_socket(cqe->res, &peer);
    uint64_t address = rate_limit_address(&peer);
    if (listener == PUBLIC && !entrance_make_room(&protocol->context)) {
        protocol->context.metrics.counters.connections_refused++;
        refuse(net, cqe->res);
        return;
    }
    struct conn *conn =
        protocol->context.draining ? NULL : protocol_open(protocol, listener == ADMIN);
    if (conn == NULL) {
        protocol->context.metrics.counters.accept_failures++;
        (void)close(cqe->res);
        return;
    }
    conn->file = cqe->res;
    conn->address = address;
    if (listener == PUBLIC && peer_list_has(&protocol->config.proxies, &peer)) {
        conn_phase_move(&conn->phase, CONN_PROXY);
    } else if (listener == PUBLIC && !entrance_admit(&protocol->context, conn)) {
        turn_away(net, conn);
        return;
    }
    if (listener == PUBLIC)
        secure_accept(&net->secure, conn);
    arm_receive(net, conn);
}

static void on_receive(struct net *net, const struct io_uring_cqe *cqe, struct conn *conn)
{
    struct protocol *protocol = &net->protocol;
    INVARIANT(conn->open);
    if (cqe->flags & IORING_CQE_F_BUFFER) {
        conn->discards |= conn->last && conn->phase == CONN_HEAD && !conn->lingering;
        if (cqe->res > 0)
            secure_receive(&net->secure, conn, (char *)uring_buffer(&net->uring, cqe),
                           (size_t)cqe->res);
        uring_give_buffer(&net->uring, cqe);
    }
    if ((cqe->flags & IORING_CQE_F_MORE) == 0) {
        conn->receiving = false;
        conn->cancelling = false;
    }
    if (cqe->res == 0)
        secure_end_of_input(&net->secure, conn);
    else if (cqe->res < 0 && cqe->res != -ENOBUFS && cqe->res != -ECANCELED)
        conn->broken = true;
    context_mark_dirty(&protocol->context, conn);
}

static void on_send(struct net *net, const struct io_uring_cqe *cqe, struct conn *conn)
{
    struct protocol *protocol = &net->protocol;
    INVARIANT(conn->open && conn->sending);
    conn->sending = false;
    if (cqe->res < 0) {
        conn->broken |= cqe->res != -EINTR && cqe->res != -EAGAIN;
    } else {
        protocol->context.metrics.counters.sent_bytes += (uint32_t)cqe->res;
        output_sent(&protocol->context.outputs, conn_wire(conn), (size_t)cqe->res);
        if (conn->time == CONN_TIME_IDLE)
            conn_time_start(&protocol->context.conns, conn, CONN_TIME_IDLE,
                            protocol->context.now_ns);
        else
            crowd_hear(&protocol->context.conns.crowd, conn);
        pipeline_resume(&protocol->pipeline, conn);
    }
    context_mark_dirty(&protocol->context, conn);
}

static void on_completion(struct net *net, const struct io_uring_cqe *cqe)
{
    uint32_t index = (uint32_t)cqe->user_data;
    switch ((enum uring_operation)(cqe->user_data >> 56)) {
    case URING_ACCEPT:
        on_accept(net, cqe, index);
        break;
    case URING_RECEIVE:
        on_receive(net, cqe, conn_at(&net->protocol.context.conns, index));
        break;
    case URING_SEND:
        on_send(net, cqe, conn_at(&net->protocol.context.conns, index));
        break;
    case URING_WAKE:
        if ((cqe->flags & IORING_CQE_F_MORE) == 0)
            uring_watch(&net->uring, net->wake_file);
        break;
    case URING_CANCEL:
        break;
    }
}

/* Handles completions while the turn may accept requests; the others wait in the ring. */
static uint32_t run_completions(struct net *net)
{
    struct io_uring *ring = &net->uring.ring;
    struct io_uring_cqe *cqe;
    unsigned head;
    uint32_t seen = 0;
    io_uring_for_each_cqe(ring, head, cqe)
    {
        if (net->protocol.budget == 0 || net->protocol.looks == 0)
            break;
        on_completion(net, cqe);
        seen++;
    }
    io_uring_cq_advance(ring, seen);
    return seen;
}

/* ---- turns ---------------------------------------------------------------------------------- */

static void start(struct net *net)
{
    INVARIANT(uring_start(&net->uring) == 0); /* it fails only if there is a second owner */
    if (net->wake_file >= 0)
        uring_watch(&net->uring, net->wake_file);
}

unsigned net_step(struct net *net)
{
    if (CC_UNLIKELY(!net->uring.started))
        start(net);
    protocol_turn_begin(&net->protocol);
    secure_begin(&net->secure);
    arm_accepts(net);
    uint32_t work = run_completions(net);
    work += protocol_turn_end(&net->protocol);
    work += secure_run(&net->secure);
    attend_dirty(net);
    uring_flush(&net->uring);
    protocol_mark_sent(&net->protocol);
    if (work != 0) {
        context_measure(&net->protocol.context);
        net_metrics_publish(&net->protocol.context.metrics);
    }
    return work;
}

/* When the next thing is due by the clock alone (a credit wait, a time-out), clock_monotonic_ns;
 * UINT64_MAX: never. */
static uint64_t deadline_ns(const struct net *net)
{
    uint64_t deadline = protocol_deadline_ns(&net->protocol);
    if (net->accept_again_ns != 0 && net->accept_again_ns < deadline)
        deadline = net->accept_again_ns;
    return deadline;
}

void net_wait(struct net *net, uint64_t timeout_ns)
{
    if (!net->uring.started || uring_is_ready(&net->uring) || protocol_has_work(&net->protocol))
        return;
    uint64_t now = clock_monotonic_ns(net->protocol.config.clock);
    uint64_t deadline = deadline_ns(net);
    if (deadline <= now)
        return;
    if (deadline - now < timeout_ns)
        timeout_ns = deadline - now;
    uring_wait(&net->uring, timeout_ns);
}

void net_drain(struct net *net)
{
    struct protocol *protocol = &net->protocol;
    if (protocol->context.draining)
        return;
    protocol->context.draining = true;
    stream_feed_drain(&protocol->streams);
    for (uint32_t i = 0; i < LISTENERS; i++) {
        if (net->accepting[i] && net->uring.started)
            uring_cancel(&net->uring, uring_user_data(URING_ACCEPT, i));
        listener_close(&net->listeners[i]);
    }
    for (uint32_t i = 0; i < protocol->context.conns.capacity; i++)
        if (conn_at(&protocol->context.conns, i)->open)
            context_mark_dirty(&protocol->context, conn_at(&protocol->context.conns, i));
}

bool net_drained(const struct net *net)
{
    return net->protocol.context.pendings.used == 0 && net->protocol.context.outputs.used == 0;
}

void net_set_certificate(struct net *net, struct tls_server *tls)
{
    secure_replace(&net->secure, tls);
}

uint16_t net_port(const struct net *net)
{
    return net->listeners[PUBLIC].port;
}

uint16_t net_admin_port(const struct net *net)
{
    return net->listeners[ADMIN].port;
}

const char *net_host(const struct net *net)
{
    return net->listeners[PUBLIC].host;
}

bool net_awaits_answers(const struct net *net)
{
    return net->protocol.sender.commands_out != 0 ||
           net->protocol.pipeline.reads.sequences.count != 0;
}

bool net_has_streams(const struct net *net)
{
    return published_get(&net->protocol.streams.open) != 0;
}

void net_show_others(struct net *net, const struct net *const *all, uint32_t count)
{
    struct net_metrics *metrics = &net->protocol.context.metrics;
    metrics->other_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (all[i] == net)
            continue;
        INVARIANT(metrics->other_count < NET_METRICS_OTHERS_MAX);
        metrics->others[metrics->other_count++] = &all[i]->protocol.context.metrics;
    }
}
