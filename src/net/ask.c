#include "net/ask.h"

#include "net/caller.h"
#include "net/parameter.h"
#include "net/question.h"

enum {
    ANSWER_BYTES = 4096, /* of one record, with its head */
    ROW_BYTES = 1024,
    LEVEL_BYTES = 64,
    /* Answers of reads that a connection may have unsent or coming: half of what it may hold. */
    EXPECTED_MAX = OUTPUT_CONNECTION_MAX / 2,
    BEHIND_MAX = REPLY_BUFFERS / 4, /* of all connections */
};

static_assert(4 * REPLY_BUFFER_BYTES <= EXPECTED_MAX, "any one answer may come");

/* The request type that the path names. */
static bool fill_eip712(const struct conn *conn, struct pending_local *local,
                        struct mistake *mistake)
{
    uint64_t code = UINT64_MAX;
    if (!parameter_read_number(conn->route.argument, conn->route.argument_bytes, &code) ||
        code >= UINT16_MAX || !eip712_signable((uint16_t)code))
        return mistake_set(mistake, PROBLEM_not_found, NULL,
                           "no request type of this number is signed as typed data");
    local->code = (uint16_t)code;
    return true;
}

static bool fill_local(struct gate *gate, const struct conn *conn, const char *head_text,
                       struct pending_local *local, struct mistake *mistake)
{
    struct keyring_entry entry;
    local->kind = conn->route.kind;
    bool needs_state =
        local->kind == ROUTE_STATUS || (local->kind == ROUTE_LIMITS && conn->head.has_api_key);
    if (needs_state && !gate->config.source.ready(gate->config.source.context) &&
        !gate->context.draining)
        return mistake_set(mistake, PROBLEM_not_ready, NULL, "the service is recovering");
    if (local->kind == ROUTE_EIP712)
        return fill_eip712(conn, local, mistake);
    if (local->kind == ROUTE_LIMITS && conn->head.has_api_key) {
        local->keyed = true;
        if (!caller_find(&gate->config, gate->context.unix_ns, &conn->head, head_text, &entry,
                         mistake))
            return false;
        local->caller = entry.key;
    }
    return true;
}

void ask_take(struct gate *gate, struct conn *conn, const char *head_text)
{
    struct query query;
    struct keyring_key caller;
    struct mistake mistake;
    struct pending_local local = { 0 };
    bool local_read = conn->route.kind != ROUTE_QUERY; /* answered here, at its turn */
    gate->context.metrics.counters.reads++;
    struct pending *pending =
        pending_add(&gate->context.pendings, conn, local_read ? PENDING_LOCAL : PENDING_READ,
                    local_read ? PENDING_DONE : PENDING_HELD);
    if (local_read ? fill_local(gate, conn, head_text, &local, &mistake)
                   : question_fill(&gate->config, gate->context.unix_ns, conn, head_text, &query,
                                   &caller, &mistake)) {
        if (local_read) {
            pending->local = local;
        } else {
            pending->query = query;
            /* Nothing stands before it: its key is as live as it was a moment ago. */
            if (conn->pending_head == pending_index(&gate->context.pendings, pending))
                caller.kind = 0;
            pending->caller = caller;
        }
    } else {
        pending->kind = PENDING_MISTAKE;
        pending->state = PENDING_DONE;
        pending->mistake = mistake;
    }
    gate_settle(gate, conn);
}

/* The longest answer to a query. A row of a page is shorter than 1,024 bytes as JSON, a level than
 * 64, any other list than four times a full reply buffer (tests/net/test_large_pages.c). */
static uint32_t longest_answer(const struct query *query)
{
    switch (query_extent_of(query->kind)) {
    case QUERY_EXTENT_ONE:
        break;
    case QUERY_EXTENT_PAGE:
        return ANSWER_BYTES + query->limit * ROW_BYTES;
    case QUERY_EXTENT_LEVELS:
        return ANSWER_BYTES + query->limit * 2 * LEVEL_BYTES;
    case QUERY_EXTENT_ALL:
        return 4 * REPLY_BUFFER_BYTES;
    }
    return ANSWER_BYTES;
}

/* Sends the query; false without credit or room. */
static bool send(struct gate *gate, struct pending *pending)
{
    if (gate->queries_out >= gate->reply_credits)
        return false;
    struct query *slot = ring_claim(gate->config.queries, 1);
    if (slot == NULL)
        return false;
    pending->query.token = pending_token(&gate->context.pendings, pending);
    /* Loaded now, after the request was read: what is acknowledged by now will be seen. */
    pending->query.stamp = gate->config.source.durable(gate->config.source.context);
    *slot = pending->query;
    ring_publish(gate->config.queries);
    pending->state = PENDING_ASKED;
    gate->queries_out++;
    return true;
}

static void wait_for_credit(struct gate *gate, struct pending *pending)
{
    pending->state = PENDING_CREDIT;
    pending->deadline_ns =
        gate->context.now_ns + (uint64_t)gate->config.credit_wait_ms * UINT64_C(1000000);
    gate->asking[gate->asking_tail++ % PENDING_MAX] =
        pending_index(&gate->context.pendings, pending);
}

/* A read takes effect behind the writes before it: its key may have been revoked by one of them. */
static bool may_still_ask(struct gate *gate, struct pending *pending)
{
    struct keyring_entry entry;
    if (pending->caller.kind == 0 ||
        caller_is_live(&gate->config, gate->context.unix_ns, &pending->caller, &entry))
        return true;
    pending->kind = PENDING_MISTAKE;
    pending->state = PENDING_DONE;
    return caller_gone(&pending->mistake);
}

bool ask_release(struct gate *gate, struct conn *conn)
{
    bool refused = false;
    conn->reads_held = false;
    for (uint32_t at = conn->pending_head; at != PENDING_NONE;) {
        struct pending *pending = &gate->context.pendings.items[at];
        if (pending->kind == PENDING_WRITE && pending->state != PENDING_DONE)
            return refused;
        bool is_behind = at != conn->pending_head;
        at = pending->next;
        if (pending->state != PENDING_HELD)
            continue;
        if (!may_still_ask(gate, pending)) {
            refused = true;
            continue;
        }
        uint32_t bytes = longest_answer(&pending->query);
        if (conn->output.bytes + conn->expected_bytes + bytes > EXPECTED_MAX ||
            (is_behind && gate->context.pendings.behind >= BEHIND_MAX)) {
            conn->reads_held = true;
            return refused;
        }
        pending->behind = is_behind;
        gate->context.pendings.behind += is_behind;
        pending->expected_bytes = bytes;
        conn->expected_bytes += bytes;
        /* Those that wait are older: they go first. */
        if (gate->asking_head != gate->asking_tail || !send(gate, pending))
            wait_for_credit(gate, pending);
    }
    return refused;
}

uint32_t ask_run(struct gate *gate)
{
    uint32_t done = 0;
    while (gate->asking_head != gate->asking_tail) {
        struct pending *pending =
            &gate->context.pendings.items[gate->asking[gate->asking_head % PENDING_MAX]];
        struct conn *conn = context_conn(&gate->context, pending);
        if (conn == NULL) {
            gate->asking_head++;
            pending_free(&gate->context.pendings, pending);
        } else if (send(gate, pending)) {
            gate->asking_head++;
        } else if (pending->deadline_ns <= gate->context.now_ns) {
            gate->asking_head++;
            pending->kind = PENDING_MISTAKE;
            pending->state = PENDING_DONE;
            (void)mistake_set(&pending->mistake, PROBLEM_not_ready, NULL,
                              "too many reads are waiting");
            gate_settle(gate, conn);
        } else {
            break;
        }
        done++;
    }
    return done;
}

void ask_reply(struct gate *gate, const struct reply *reply)
{
    struct pending *pending = pending_of(&gate->context.pendings, reply->token);
    INVARIANT(gate->queries_out > 0);
    gate->queries_out--;
    gate->context.metrics.counters.replies++;
    if (pending->conn == CONN_NONE) {
        if (reply->buffer != REPLY_NO_BUFFER)
            reply_pool_give(gate->config.reply_pool, reply->buffer);
        pending_free(&gate->context.pendings, pending);
        return;
    }
    pending->reply = *reply;
    pending->state = PENDING_DONE;
    net_metrics_stamp(&gate->context.metrics, NET_STAGE_read,
                      clock_ticks() - pending->received_ticks);
    gate_settle(gate, &gate->context.conns.conns[pending->conn]);
}

uint64_t ask_deadline_ns(const struct gate *gate)
{
    if (gate->asking_head == gate->asking_tail)
        return UINT64_MAX;
    return gate->context.pendings.items[gate->asking[gate->asking_head % PENDING_MAX]].deadline_ns;
}
