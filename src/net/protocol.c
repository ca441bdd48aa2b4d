#include "net/protocol.h"

#include "net/entrance.h"
#include "net/parser.h"
#include "net/reads.h"
#include "net/request/charge.h"

#define PAUSE_LOOK_NS UINT64_C(5000000)

int protocol_init(struct protocol *protocol, const struct net_config *config, uint32_t connections)
{
    protocol->config = *config;
    route_init(
        &protocol->routes,
        (struct route_features){ .testnet = config->options->values[OPTION_exchange_testnet] != 0,
                                 .debug = config->debug_payload,
                                 .console = config->console,
                                 .latency = config->latency });
    int error = context_init(&protocol->context, &protocol->config, connections);
    if (error == 0)
        error = pipeline_init(&protocol->pipeline, &protocol->context);
    if (error == 0)
        error = job_table_create(&protocol->jobs, &protocol->pipeline);
    if (error == 0)
        error = stream_socket_init(&protocol->streams, protocol->jobs);
    if (error != 0) {
        protocol_free(protocol);
        return error;
    }
    verify_init(&protocol->verifier, protocol->jobs);
    command_send_init(&protocol->sender, protocol->jobs);
    return 0;
}

void protocol_free(struct protocol *protocol)
{
    stream_socket_free(&protocol->streams);
    job_table_destroy(protocol->jobs);
    pipeline_free(&protocol->pipeline);
    context_free(&protocol->context);
    protocol->jobs = NULL;
}

struct conn *protocol_open(struct protocol *protocol, bool admin)
{
    struct conn *conn = conn_open(&protocol->context.conns);
    if (conn == NULL)
        return NULL;
    conn->admin = admin;
    protocol->context.metrics.counters.connections_accepted++;
    conn_time_start(&protocol->context.conns, conn, CONN_TIME_IDLE, protocol->context.now_ns);
    return conn;
}

void protocol_abandon(struct protocol *protocol, struct conn *conn)
{
    pipeline_drop(&protocol->pipeline, conn);
    conn_input_consume(&protocol->context.conns, conn, conn_input_bytes(conn));
    conn->last = true;
    conn_phase_move(&conn->phase, CONN_HEAD);
    conn->blocked = false;
    conn->continue_due = false;
    conn->reads_held = false;
    conn->expected_bytes = 0;
    context_mark_dirty(&protocol->context, conn);
}

/* Keeps the bytes; closes the connection if it holds too much. */
static void keep(struct protocol *protocol, struct conn *conn, const char *bytes, size_t count)
{
    if (count > 0 && !conn_input_append(&protocol->context.conns, conn, bytes, count))
        conn_retire(&protocol->context.conns, conn);
}

/* A round reaches the connection. A batch may have cost more than it had. */
static void give_turns(struct conn *conn)
{
    conn->turns += PROTOCOL_QUANTUM;
    if (conn->turns > PROTOCOL_QUANTUM)
        conn->turns = PROTOCOL_QUANTUM;
}

/* Accepts requests from the kept input. */
static void run_kept(struct protocol *protocol, struct conn *conn)
{
    give_turns(conn);
    size_t before = conn_input_bytes(conn);
    size_t count = before;
    size_t used = parser_run(protocol, conn, conn_input(&protocol->context.conns, conn), &count);
    conn->input_end -= (uint32_t)(before - count);
    conn_input_consume(&protocol->context.conns, conn, used);
}

/* A connection that waits only for the next turn must return by itself. One of which something was
 * under way (crowd.h), and is no more, is placed again. */
static void requeue(struct protocol *protocol, struct conn *conn)
{
    if (conn->blocked && (protocol->budget == 0 || !pending_available(&protocol->context.pendings)))
        conn_queue_push(&protocol->context.conns, CONN_READY, conn);
    if (conn->crowd_kind == CROWD_BUSY)
        crowd_hear(&protocol->context.conns.crowd, conn);
    context_mark_dirty(&protocol->context, conn);
}

void protocol_receive(struct protocol *protocol, struct conn *conn, char *bytes, size_t count)
{
    protocol->context.metrics.counters.received_bytes += count;
    conn->received_ticks = clock_ticks();
    protocol->looks -= protocol->looks > 0;
    if (conn->broken || conn->lingering || (conn->last && conn->phase == CONN_HEAD))
        return;
    if (conn_input_bytes(conn) == 0) {
        size_t left = count;
        give_turns(conn);
        size_t used = parser_run(protocol, conn, bytes, &left);
        keep(protocol, conn, bytes + used, left - used);
    } else {
        keep(protocol, conn, bytes, count);
        if (!conn->broken && !conn->blocked)
            run_kept(protocol, conn);
    }
    requeue(protocol, conn);
}

void protocol_end_of_input(struct protocol *protocol, struct conn *conn)
{
    conn->ended = true;
    if (!conn->blocked) { /* an incomplete request will not be completed */
        conn->last = true;
        conn_phase_move(&conn->phase, CONN_HEAD);
        conn_input_consume(&protocol->context.conns, conn, conn_input_bytes(conn));
    }
    context_mark_dirty(&protocol->context, conn);
}

/* ---- turns ---------------------------------------------------------------------------------- */

static void accept_answers(struct protocol *protocol)
{
    struct ring *ring = protocol->config.answers;
    uint64_t ready = ring_ready(ring);
    uint64_t taken = 0;
    /* Release sequences never decrease from answer to answer, so the first that must wait delays
     * none that may leave. */
    while (taken < ready) {
        const struct answer *answer = ring_at(ring, taken);
        if (answer->release_sequence > protocol->durable)
            break;
        if (answer->code == REQUEST_disconnect_arm)
            stream_arm_answered(&protocol->streams, answer);
        command_send_answer(&protocol->sender, answer);
        taken++;
    }
    if (taken > 0)
        ring_release(ring, taken);
    protocol->work += (uint32_t)taken;
}

/* Writing a long page takes a third of a millisecond, and the matcher may be on this thread: the
 * rest of the ring waits for the next turn. */
static void accept_replies(struct protocol *protocol, uint64_t end_ticks)
{
    struct ring *ring = protocol->config.replies;
    uint64_t ready = ring_ready(ring);
    uint64_t taken = 0;
    while (taken < ready && protocol->pipeline.responses.written < PROTOCOL_TURN_BYTES &&
           (taken == 0 || clock_ticks() < end_ticks))
        reads_reply(&protocol->pipeline, ring_at(ring, taken++));
    if (taken > 0)
        ring_release(ring, taken);
    protocol->work += (uint32_t)taken;
}

/* Retries connections whose answer found no room, or whose audit came too early. */
static void feed_starved(struct protocol *protocol)
{
    uint32_t count = conn_queue_count(&protocol->context.conns, CONN_STARVED);
    for (uint32_t i = 0; i < count; i++) {
        struct conn *conn = conn_queue_pop(&protocol->context.conns, CONN_STARVED);
        if (!conn->open)
            continue;
        pipeline_advance(&protocol->pipeline, conn);
        context_mark_dirty(&protocol->context, conn);
    }
}

/* Lets connections go on whose address has tokens for them again. One that brings nothing is not
 * given a token. */
static void end_pauses(struct protocol *protocol)
{
    struct context *context = &protocol->context;
    uint32_t count = conn_queue_count(&context->conns, CONN_PAUSED);
    if (context->now_ns < context->pause_next_ns)
        return;
    context->pause_next_ns = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        struct conn *conn = conn_queue_pop(&context->conns, CONN_PAUSED);
        if (!conn->open || conn->broken || conn->pause_ns == 0)
            continue;
        if (!conn->blocked && conn->pause_ns <= context->now_ns) {
            conn->pause_ns = 0;
            context_mark_dirty(context, conn); /* it may be received from again */
        } else if (conn->pause_ns <= context->now_ns && charge_redeem(context, conn)) {
            conn_queue_push(&context->conns, CONN_READY, conn);
        } else {
            conn_queue_push(&context->conns, CONN_PAUSED, conn);
            if (conn->pause_ns < context->pause_next_ns)
                context->pause_next_ns = conn->pause_ns;
        }
    }
    /* With many paused connections a look costs: one every few milliseconds is enough. */
    if (context->pause_next_ns < context->now_ns + PAUSE_LOOK_NS)
        context->pause_next_ns = context->now_ns + PAUSE_LOOK_NS;
}

/* Reaches each connection of the queue once, until the budget or the time is used up; at least one.
 * False: nothing more is to be had from the queue in this turn. */
static bool run_round(struct protocol *protocol, enum conn_queue_kind kind, uint64_t end_ticks)
{
    struct conn_table *conns = &protocol->context.conns;
    uint32_t count = conn_queue_count(conns, kind);
    uint32_t before = protocol->budget;
    for (uint32_t i = 0; i < count && protocol->budget > 0; i++) {
        struct conn *conn = conn_queue_pop(conns, kind);
        if (!conn->open || conn->broken || !conn->blocked)
            continue;
        run_kept(protocol, conn);
        if (conn->ended && !conn->blocked)
            protocol_end_of_input(protocol, conn);
        requeue(protocol, conn);
        if (clock_ticks() >= end_ticks)
            return false;
    }
    return protocol->budget > 0 && protocol->budget != before;
}

static void run_ready(struct protocol *protocol)
{
    while (run_round(protocol, CONN_READY, UINT64_MAX))
        ;
}

/* Whether the work for a command is not done: it is to be verified, sent or answered. */
static bool has_commands(const struct protocol *protocol)
{
    const struct job_table *jobs = protocol->jobs;
    return protocol->sender.commands_out > 0 || jobs->free_count < JOBS_MAX ||
           conn_queue_count(&protocol->context.conns, CONN_READY) > 0;
}

/* The turn of the reads, and of what else is no command. */
static void accept_reads(struct protocol *protocol)
{
    uint64_t now_ticks = clock_ticks();
    uint64_t end_ticks = UINT64_MAX;
    if (has_commands(protocol))
        end_ticks = now_ticks + (now_ticks - protocol->begun_ticks) * PROTOCOL_READ_PERCENT /
                                    (100 - PROTOCOL_READ_PERCENT);
    uint32_t left = protocol->budget;
    protocol->taking = PROTOCOL_READS;
    protocol->budget = NET_TURN_REQUESTS;
    accept_replies(protocol, end_ticks);
    while (run_round(protocol, CONN_READS, end_ticks))
        ;
    protocol->taking = PROTOCOL_COMMANDS;
    protocol->budget = left;
}

void protocol_turn_begin(struct protocol *protocol)
{
    protocol->context.now_ns = clock_monotonic_ns(protocol->config.clock);
    protocol->context.unix_ns = clock_now_ns(protocol->config.clock);
    protocol->durable = protocol->config.source.durable(protocol->config.source.context);
    protocol->work = 0;
    protocol->pipeline.responses.written = 0;
    protocol->begun_ticks = clock_ticks();
    protocol->looks = PROTOCOL_TURN_LOOKS;
    protocol->taking = PROTOCOL_COMMANDS;
    verify_begin(&protocol->verifier);
    accept_answers(protocol);
    const struct net_source *source = &protocol->config.source;
    if (CC_UNLIKELY(source->gave_up != NULL) && source->gave_up(source->context))
        protocol->work += command_send_give_up(&protocol->sender);
    if (conn_queue_count(&protocol->context.conns, CONN_STARVED) > 0)
        feed_starved(protocol);
    if (conn_queue_count(&protocol->context.conns, CONN_PAUSED) > 0)
        end_pauses(protocol);
    /* Connections that wait since an earlier turn get half of the budget, new bytes the other half;
     * each also gets what the other leaves. Neither can starve the other. */
    protocol->budget = NET_TURN_REQUESTS / 2;
    run_ready(protocol);
    protocol->budget += NET_TURN_REQUESTS / 2;
}

static void time_out(struct protocol *protocol, struct conn *conn, enum conn_time time)
{
    if (time == CONN_TIME_LINGER) {
        conn->broken = true;
        context_mark_dirty(&protocol->context, conn);
        return;
    }
    uint64_t since_ns = conn_unsent_since_ns(&protocol->context.outputs, conn);
    bool is_deaf = since_ns != UINT64_MAX && protocol->context.now_ns - since_ns >= CONN_DEAF_NS;
    if (!is_deaf && (conn->blocked || conn->pending_count > 0)) { /* it waits for us */
        conn_time_start(&protocol->context.conns, conn, time, protocol->context.now_ns);
        return;
    }
    protocol->context.metrics.counters.timeouts++;
    if (time == CONN_TIME_HANDSHAKE)
        protocol->context.metrics.counters.tls_handshakes_late++;
    if (time == CONN_TIME_IDLE || time == CONN_TIME_HANDSHAKE || is_deaf ||
        conn->phase == CONN_PROXY) {
        conn->broken = true;
        context_mark_dirty(&protocol->context, conn);
        return;
    }
    struct problem_detail problem;
    (void)problem_detail_set(&problem, PROBLEM_request_timeout, NULL,
                             time == CONN_TIME_HEAD
                                 ? "the head was not complete 10 s after its first byte"
                                 : "the body was not complete 30 s after the head");
    conn_input_consume(&protocol->context.conns, conn, conn_input_bytes(conn));
    conn_phase_move(&conn->phase, CONN_HEAD);
    conn->allow = NULL;
    conn->origin = ORIGIN_NONE;
    conn_time_start(&protocol->context.conns, conn, CONN_TIME_IDLE, protocol->context.now_ns);
    parser_refuse(protocol, conn, &problem);
}

static void run_times(struct protocol *protocol)
{
    if (conn_time_next_ns(&protocol->context.conns) > protocol->context.now_ns)
        return;
    for (unsigned i = 0; i < NET_TURN_REQUESTS; i++) {
        enum conn_time time = CONN_TIMES;
        struct conn *conn =
            conn_time_expired(&protocol->context.conns, protocol->context.now_ns, &time);
        if (conn == NULL)
            return;
        time_out(protocol, conn, time);
        protocol->work++;
    }
}

/* Whether the turn has had work, or has some behind its signatures. */
static bool has_other_work(const struct protocol *protocol)
{
    const struct conn_table *conns = &protocol->context.conns;
    return protocol->work > 0 || conn_queue_count(conns, CONN_READS) > 0 ||
           conn_shaking_count(conns) > 0 || ring_ready(protocol->config.replies) > 0 ||
           stream_feed_has_work(&protocol->streams);
}

uint32_t protocol_turn_end(struct protocol *protocol)
{
    run_ready(protocol);
    protocol->work += stream_arm_run(&protocol->streams, &protocol->sender);
    protocol->work += verify_run(&protocol->verifier, has_other_work(protocol));
    protocol->work += command_send_run(&protocol->sender);
    accept_reads(protocol);
    protocol->work += reads_run(&protocol->pipeline);
    protocol->work += stream_op_show(&protocol->streams);
    protocol->work += stream_feed_run(&protocol->streams);
    run_times(protocol);
    return protocol->work;
}

void protocol_close(struct protocol *protocol, struct conn *conn)
{
    stream_socket_close(conn);
    pipeline_drop(&protocol->pipeline, conn);
    output_clear(&protocol->context.outputs, &conn->wire);
    protocol->context.metrics.counters.connections_closed++;
    entrance_leave(&protocol->context, conn);
    conn_close(&protocol->context.conns, conn);
}

uint64_t protocol_deadline_ns(const struct protocol *protocol)
{
    uint64_t deadline = conn_time_next_ns(&protocol->context.conns);
    uint64_t other = command_send_deadline_ns(&protocol->sender);
    if (other < deadline)
        deadline = other;
    other = stream_feed_deadline_ns(&protocol->streams);
    if (other < deadline)
        deadline = other;
    other = stream_arm_deadline_ns(&protocol->streams);
    if (other < deadline)
        deadline = other;
    if (protocol->context.pause_next_ns < deadline)
        deadline = protocol->context.pause_next_ns;
    other = read_send_deadline_ns(&protocol->pipeline.reads);
    return other < deadline ? other : deadline;
}

bool protocol_has_work(const struct protocol *protocol)
{
    struct ring *answers = protocol->config.answers;
    if (conn_queue_count(&protocol->context.conns, CONN_READY) > 0 ||
        conn_queue_count(&protocol->context.conns, CONN_READS) > 0 ||
        conn_queue_count(&protocol->context.conns, CONN_DIRTY) > 0 ||
        conn_shaking_count(&protocol->context.conns) > 0 ||
        conn_queue_count(&protocol->context.conns, CONN_SHAKEN) > 0 ||
        stream_feed_has_work(&protocol->streams) || verify_has_work(&protocol->verifier) ||
        command_send_has_work(&protocol->sender) || ring_ready(protocol->config.replies) > 0 ||
        read_send_has_work(&protocol->pipeline.reads))
        return true;
    if (ring_ready(answers) == 0)
        return false;
    const struct answer *answer = ring_at(answers, 0);
    return answer->release_sequence <=
           protocol->config.source.durable(protocol->config.source.context);
}
