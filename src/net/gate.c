#include "net/gate.h"

#include "net/ask.h"
#include "net/inbound.h"

int gate_init(struct gate *gate, const struct net_config *config, uint32_t connections)
{
    gate->config = *config;
    route_init(&gate->routes, config->options->values[OPTION_exchange_testnet] != 0);
    int error = context_init(&gate->context, &gate->config, connections);
    if (error == 0)
        error = pipeline_init(&gate->pipeline, &gate->context);
    if (error == 0)
        error = staging_create(&gate->staging, &gate->pipeline);
    if (error != 0) {
        gate_free(gate);
        return error;
    }
    verifier_init(&gate->verifier, gate->staging);
    command_sender_init(&gate->sender, gate->staging);
    return 0;
}

void gate_free(struct gate *gate)
{
    staging_destroy(gate->staging);
    pipeline_free(&gate->pipeline);
    context_free(&gate->context);
    gate->staging = NULL;
}

struct conn *gate_open(struct gate *gate, bool admin)
{
    struct conn *conn = conn_open(&gate->context.conns);
    if (conn == NULL)
        return NULL;
    conn->admin = admin;
    gate->context.metrics.counters.connections_accepted++;
    conn_time_start(&gate->context.conns, conn, CONN_TIME_IDLE, gate->context.now_ns);
    return conn;
}

/* The bytes are kept, or the connection holds too much. */
static void keep(struct gate *gate, struct conn *conn, const char *bytes, size_t count)
{
    if (count > 0 && !conn_input_append(&gate->context.conns, conn, bytes, count)) {
        conn->broken = true;
        context_touch(&gate->context, conn);
    }
}

/* Takes requests from the kept input. */
static void run_kept(struct gate *gate, struct conn *conn)
{
    size_t before = conn_input_bytes(conn);
    size_t count = before;
    size_t used = inbound_run(gate, conn, conn_input(&gate->context.conns, conn), &count);
    conn->input_end -= (uint32_t)(before - count);
    conn_input_take(&gate->context.conns, conn, used);
}

/* A connection that waits for nothing but the next turn must come back by itself. */
static void requeue(struct gate *gate, struct conn *conn)
{
    if (conn->blocked && (gate->budget == 0 || !pending_available(&gate->context.pendings)))
        conn_queue_push(&gate->context.conns, CONN_READY, conn);
    context_touch(&gate->context, conn);
}

void gate_receive(struct gate *gate, struct conn *conn, char *bytes, size_t count)
{
    gate->context.metrics.counters.received_bytes += count;
    conn->received_ticks = clock_ticks();
    if (conn->broken || conn->lingering || (conn->last && conn->phase == CONN_HEAD))
        return;
    if (conn_input_bytes(conn) == 0) {
        size_t left = count;
        size_t used = inbound_run(gate, conn, bytes, &left);
        keep(gate, conn, bytes + used, left - used);
    } else {
        keep(gate, conn, bytes, count);
        if (!conn->broken && !conn->blocked)
            run_kept(gate, conn);
    }
    requeue(gate, conn);
}

void gate_end_of_input(struct gate *gate, struct conn *conn)
{
    conn->ended = true;
    if (!conn->blocked) { /* what is incomplete stays so */
        conn->last = true;
        conn->phase = CONN_HEAD;
        conn_input_take(&gate->context.conns, conn, conn_input_bytes(conn));
    }
    context_touch(&gate->context, conn);
}

/* ---- turns ---------------------------------------------------------------------------------- */

static void take_answers(struct gate *gate)
{
    struct ring *ring = gate->config.answers;
    uint64_t ready = ring_ready(ring);
    uint64_t taken = 0;
    /* Release sequences do not go back from answer to answer: the first that must wait holds up
     * none that may go. */
    while (taken < ready) {
        const struct answer *answer = ring_at(ring, taken);
        if (answer->release_sequence > gate->durable)
            break;
        command_send_answer(&gate->sender, answer);
        taken++;
    }
    if (taken > 0)
        ring_release(ring, taken);
    gate->work += (uint32_t)taken;
}

/* A long page takes a third of a millisecond to write, and the matcher may be on this thread: what
 * is left in the ring comes in the next turn. */
static void take_replies(struct gate *gate)
{
    struct ring *ring = gate->config.replies;
    uint64_t ready = ring_ready(ring);
    uint64_t taken = 0;
    while (taken < ready && gate->pipeline.responder.written < GATE_TURN_BYTES)
        ask_reply(&gate->pipeline, ring_at(ring, taken++));
    if (taken > 0)
        ring_release(ring, taken);
    gate->work += (uint32_t)taken;
}

/* Connections whose answer found no room try again. */
static void feed_starved(struct gate *gate)
{
    uint32_t count = conn_queue_count(&gate->context.conns, CONN_STARVED);
    for (uint32_t i = 0; i < count; i++) {
        struct conn *conn = conn_queue_pop(&gate->context.conns, CONN_STARVED);
        if (conn->open)
            pipeline_advance(&gate->pipeline, conn);
    }
}

static void run_ready(struct gate *gate)
{
    uint32_t count = conn_queue_count(&gate->context.conns, CONN_READY);
    for (uint32_t i = 0; i < count && gate->budget > 0; i++) {
        struct conn *conn = conn_queue_pop(&gate->context.conns, CONN_READY);
        if (!conn->open || conn->broken || !conn->blocked)
            continue;
        run_kept(gate, conn);
        if (conn->ended && !conn->blocked)
            gate_end_of_input(gate, conn);
        requeue(gate, conn);
    }
}

void gate_turn_begin(struct gate *gate)
{
    gate->context.now_ns = clock_monotonic_ns(gate->config.clock);
    gate->context.unix_ns = clock_now_ns(gate->config.clock);
    gate->durable = gate->config.source.durable(gate->config.source.context);
#if defined(PLANTED_BUG) && PLANTED_BUG == 8 /* an answer leaves net too early */
    gate->durable += 1;
#endif
    gate->work = 0;
    gate->pipeline.responder.written = 0;
    verify_begin(&gate->verifier);
    take_answers(gate);
    take_replies(gate);
    if (conn_queue_count(&gate->context.conns, CONN_STARVED) > 0)
        feed_starved(gate);
    /* Who waits since an earlier turn and what arrives now get half of it each, and what the other
     * leaves: neither can keep the other out. */
    gate->budget = NET_TURN_REQUESTS / 2;
    run_ready(gate);
    gate->budget += NET_TURN_REQUESTS / 2;
}

static void time_out(struct gate *gate, struct conn *conn, enum conn_time time)
{
    if (time == CONN_TIME_LINGER) {
        conn->broken = true;
        context_touch(&gate->context, conn);
        return;
    }
    uint64_t since_ns = output_since_ns(&gate->context.outputs, &conn->output);
    bool is_deaf = since_ns != UINT64_MAX && gate->context.now_ns - since_ns >= CONN_DEAF_NS;
    if (!is_deaf && (conn->blocked || conn->pending_count > 0)) { /* we make it wait */
        conn_time_start(&gate->context.conns, conn, time, gate->context.now_ns);
        return;
    }
    gate->context.metrics.counters.timeouts++;
    if (time == CONN_TIME_IDLE || is_deaf) {
        conn->broken = true;
        context_touch(&gate->context, conn);
        return;
    }
    struct problem_detail problem;
    (void)problem_detail_set(&problem, PROBLEM_request_timeout, NULL,
                             time == CONN_TIME_HEAD
                                 ? "the head was not complete 10 s after its first byte"
                                 : "the body was not complete 30 s after the head");
    conn_input_take(&gate->context.conns, conn, conn_input_bytes(conn));
    conn->phase = CONN_HEAD;
    conn->allow = NULL;
    conn_time_start(&gate->context.conns, conn, CONN_TIME_IDLE, gate->context.now_ns);
    inbound_refuse(gate, conn, &problem);
}

static void run_times(struct gate *gate)
{
    if (conn_time_next_ns(&gate->context.conns) > gate->context.now_ns)
        return;
    for (unsigned i = 0; i < NET_TURN_REQUESTS; i++) {
        enum conn_time time = CONN_TIMES;
        struct conn *conn = conn_time_expired(&gate->context.conns, gate->context.now_ns, &time);
        if (conn == NULL)
            return;
        time_out(gate, conn, time);
        gate->work++;
    }
}

uint32_t gate_turn_end(struct gate *gate)
{
    run_ready(gate);
    gate->work += verify_run(&gate->verifier);
    gate->work += command_send_run(&gate->sender);
    gate->work += ask_run(&gate->pipeline);
    run_times(gate);
    return gate->work;
}

void gate_close(struct gate *gate, struct conn *conn)
{
    pipeline_drop(&gate->pipeline, conn);
    gate->context.metrics.counters.connections_closed++;
    conn_release(&gate->context.conns, conn);
}

uint64_t gate_deadline_ns(const struct gate *gate)
{
    uint64_t deadline = conn_time_next_ns(&gate->context.conns);
    uint64_t other = command_send_deadline_ns(&gate->sender);
    if (other < deadline)
        deadline = other;
    other = read_send_deadline_ns(&gate->pipeline.reads);
    return other < deadline ? other : deadline;
}

bool gate_has_work(const struct gate *gate)
{
    struct ring *answers = gate->config.answers;
    if (conn_queue_count(&gate->context.conns, CONN_READY) > 0 ||
        conn_queue_count(&gate->context.conns, CONN_TOUCHED) > 0 ||
        verify_has_work(&gate->verifier) || command_send_has_work(&gate->sender) ||
        ring_ready(gate->config.replies) > 0)
        return true;
    if (ring_ready(answers) == 0)
        return false;
    const struct answer *answer = ring_at(answers, 0);
    return answer->release_sequence <= gate->config.source.durable(gate->config.source.context);
}
