#include "net/response/read_send.h"

#include "net/json/ack.h"
#include "net/request/api_caller.h"
#include "net/request/charge.h"
#include "net/request/leadership.h"

enum {
    ANSWER_BYTES = 4096, /* of one record, with its head */
    ROW_BYTES = 1024,
    LEVEL_BYTES = 64,
    BOOK_ORDER_BYTES = 128,
    /* Unsent and expected answers of a connection, at most: half of what it may hold. */
    EXPECTED_MAX = OUTPUT_CONNECTION_MAX / 2,
    PIPELINED_MAX = REPLY_BUFFERS / 4, /* of all connections */
    AUDIT_PERIOD_NS = 1000000000,
    BUFFER_WAIT_NS = 1000000000,
};

static_assert(4 * REPLY_BUFFER_BYTES <= EXPECTED_MAX, "any one answer may come");

int read_send_init(struct read_sender *sender, struct context *context)
{
    const struct net_config *config = context->config;
    *sender = (struct read_sender){ .context = context };
    /* A reply must find room in its ring, too. */
    return reply_share_init(&sender->buffers, context->conns.capacity,
                            config->replies->slot_mask + 1, config->hash_key);
}

void read_send_free(struct read_sender *sender)
{
    reply_share_free(&sender->buffers);
}

static uint64_t durable(const struct read_sender *sender)
{
    const struct net_source *source = &sender->context->config->source;
    return source->durable(source->context);
}

/* The longest answer to a query. As JSON a row of a page is shorter than 1,024 bytes, a level than
 * 64, a single order of a book than 128, and any other list than four full reply buffers
 * (tests/net/test_large_pages.c). */
static uint32_t longest_answer(const struct query *query)
{
    switch (query_extent_of(query->kind)) {
    case QUERY_EXTENT_ONE:
        if (query->kind == QUERY_receipt) /* an acknowledgement may have it */
            return ANSWER_BYTES + ACK_BYTES_MAX;
        return query->kind == QUERY_pairing_result ? ANSWER_BYTES + QUERY_PAIRING_TEXT_MAX
                                                   : ANSWER_BYTES;
    case QUERY_EXTENT_PAGE:
        return ANSWER_BYTES + query->limit * ROW_BYTES;
    case QUERY_EXTENT_LEVELS:
        return ANSWER_BYTES +
               query->limit * 2 *
                   (query->kind == QUERY_book_orders ? BOOK_ORDER_BYTES : LEVEL_BYTES);
    case QUERY_EXTENT_ALL:
        return 4 * REPLY_BUFFER_BYTES;
    }
    return ANSWER_BYTES;
}

/* Sends the query of a read that has a buffer, in the slot that the ring gave. */
static void send(struct read_sender *sender, struct pending *pending, struct query *slot)
{
    pending->query.token = pending_token(&sender->context->pendings, pending);
    /* Loaded after the request was read: the answer shows everything acknowledged before. */
    pending->query.stamp = durable(sender);
    *slot = pending->query;
    ring_publish(sender->context->config->queries);
    pending_move(pending, PENDING_ASKED);
    sender->queries_out++;
}

/* Sends the read, or lets it wait for a buffer. */
static void send_or_wait(struct read_sender *sender, const struct conn *conn,
                         struct pending *pending)
{
    if (reply_share_claim(&sender->buffers, conn, pending)) {
        struct query *slot = ring_claim(sender->context->config->queries, 1);
        if (CC_LIKELY(slot != NULL)) {
            send(sender, pending, slot);
            return;
        }
        reply_share_release(&sender->buffers, pending);
    }
    pending_move(pending, PENDING_CREDIT);
    pending->deadline_ns = sender->context->now_ns + BUFFER_WAIT_NS;
    reply_share_wait(&sender->buffers, &sender->context->pendings, conn, pending);
}

/* A read takes effect after the writes before it, one of which may have revoked its key. */
static bool may_still_ask(struct read_sender *sender, struct pending *pending)
{
    struct keyring_row row;
    if (pending->caller.kind == 0 || pending->is_checked ||
        api_caller_is_live(sender->context->config, sender->context->unix_ns, &pending->caller,
                           &row))
        return true;
    const struct keyring_key caller = pending->caller;
    pending->kind = PENDING_PROBLEM;
    pending_move(pending, PENDING_DONE);
    return api_caller_refuse(&caller, &pending->problem);
}

/* Whether it is an audit that comes too early. Its connection is asked again in each turn. */
static bool must_wait(struct read_sender *sender, struct conn *conn, const struct query *query)
{
    struct context *context = sender->context;
    if (query->kind != QUERY_audit)
        return false;
    if (context->now_ns >= sender->audit_ns) {
        sender->audit_ns = context->now_ns + AUDIT_PERIOD_NS;
        sender->audit_waits = false;
        return false;
    }
    sender->audit_waits = true;
    conn_queue_push(&context->conns, CONN_STARVED, conn);
    return true;
}

enum sequence_wait_room read_send_await(struct read_sender *sender, struct conn *conn,
                                        struct pending *pending, uint64_t min_sequence)
{
    uint64_t account_id = pending->kind == PENDING_READ ? pending->query.account_id : 0;
    pending->min_sequence = min_sequence;
    if (min_sequence <= durable(sender))
        return SEQUENCE_WAIT_ROOM;
    pending->deadline_ns = sender->context->now_ns + SEQUENCE_WAIT_NS;
    return sequence_wait_add(&sender->sequences, conn, account_id, min_sequence,
                             sender->context->now_ns);
}

/* Refuses a held request whose sequence did not come in time, or whose slot another has. */
static void refuse_late(struct pending *pending, uint64_t sequence)
{
    const uint64_t wanted = pending->min_sequence;
    const bool given = pending->deadline_ns == SEQUENCE_WAIT_GIVEN;
    pending->kind = PENDING_PROBLEM;
    pending_move(pending, PENDING_DONE);
    if (given)
        (void)problem_detail_set(&pending->problem, PROBLEM_not_ready, NULL,
                                 "another read has the slot of this one, which waited for its "
                                 "X-Min-Sequence");
    else
        (void)problem_detail_set(
            &pending->problem, PROBLEM_not_ready, NULL,
            "X-Min-Sequence is %llu, and sequence %llu is the newest after a wait "
            "of 1 s",
            (unsigned long long)wanted, (unsigned long long)sequence);
}

/* What becomes of a held request before a query is sent. */
enum held { HELD_WAITS, HELD_DONE, HELD_ASKS };

static enum held judge_held(struct read_sender *sender, struct pending *pending)
{
    const uint64_t sequence = pending->min_sequence != 0 ? durable(sender) : 0;
    if (pending->min_sequence > sequence) {
        if (pending->deadline_ns > sender->context->now_ns)
            return HELD_WAITS;
        refuse_late(pending, sequence);
        return HELD_DONE;
    }
    if (pending->kind == PENDING_LOCAL) {
        pending_move(pending, PENDING_DONE);
        return HELD_DONE;
    }
    return may_still_ask(sender, pending) ? HELD_ASKS : HELD_DONE;
}

bool read_send_held(struct read_sender *sender, struct conn *conn)
{
    bool is_new = false;
    conn->reads_held = false;
    for (uint32_t at = conn->pending_head; at != PENDING_NONE;) {
        struct pending *pending = pending_at(&sender->context->pendings, at);
        if (pending->kind == PENDING_WRITE && pending->state != PENDING_DONE)
            return is_new;
        bool is_pipelined = at != conn->pending_head;
        at = pending->next;
        if (pending->state != PENDING_HELD)
            continue;
        enum held held = judge_held(sender, pending);
        if (held == HELD_WAITS)
            return is_new;
        if (held == HELD_DONE) {
            is_new = true;
            continue;
        }
        uint32_t bytes = longest_answer(&pending->query);
        if (conn->output.bytes + conn->expected_bytes + bytes > EXPECTED_MAX ||
            (is_pipelined && sender->context->pendings.pipelined >= PIPELINED_MAX)) {
            conn->reads_held = true;
            return is_new;
        }
        if (must_wait(sender, conn, &pending->query))
            return is_new;
        pending->pipelined = is_pipelined;
        sender->context->pendings.pipelined += is_pipelined;
        pending->expected_bytes = bytes;
        conn->expected_bytes += bytes;
        send_or_wait(sender, conn, pending);
    }
    return is_new;
}

struct conn *read_send_awaited(struct read_sender *sender)
{
    if (sender->sequences.count == 0)
        return NULL;
    bool given = false;
    uint32_t index = sequence_wait_next(&sender->sequences, &sender->context->conns,
                                        durable(sender), sender->context->now_ns, &given);
    if (index == CONN_NONE)
        return NULL;
    struct conn *conn = conn_at(&sender->context->conns, index);
    if (given) /* its newest request waits, and none has come after it */
        pending_at(&sender->context->pendings, conn->pending_tail)->deadline_ns =
            SEQUENCE_WAIT_GIVEN;
    return conn;
}

struct pending *read_send_waiting(struct read_sender *sender, uint32_t *done)
{
    const struct pending_pool *pool = &sender->context->pendings;
    struct pending *pending;
    while ((pending = reply_share_next(&sender->buffers, pool)) != NULL) {
        struct query *slot = ring_claim(sender->context->config->queries, 1);
        if (slot == NULL)
            break;
        reply_share_accept(&sender->buffers, pool, pending);
        send(sender, pending, slot);
        (*done)++;
    }
    pending = reply_share_oldest(&sender->buffers, pool);
    if (pending == NULL || pending->deadline_ns > sender->context->now_ns)
        return NULL;
    reply_share_leave(&sender->buffers, pool, pending);
    (*done)++;
    pending->kind = PENDING_PROBLEM;
    pending_move(pending, PENDING_DONE);
    (void)problem_detail_set(&pending->problem, PROBLEM_not_ready, NULL,
                             "too many reads are waiting");
    return pending;
}

bool read_send_has_work(const struct read_sender *sender)
{
    return reply_share_next(&sender->buffers, &sender->context->pendings) != NULL;
}

void read_send_release(struct read_sender *sender, struct pending *pending)
{
    if (pending->kind == PENDING_READ && pending->state == PENDING_DONE &&
        pending->reply.buffer != REPLY_NO_BUFFER)
        reply_pool_free(sender->context->config->reply_pool, pending->reply.buffer);
    if (pending->share != PENDING_NONE)
        reply_share_release(&sender->buffers, pending);
}

void read_send_leave(struct read_sender *sender, struct pending *pending)
{
    reply_share_leave(&sender->buffers, &sender->context->pendings, pending);
}

/* What the node shows may have grown too old since the read was taken: it waited, or the node gave
 * the lead away. The result of the client's own write is shown, and a stream judges for itself. */
static void refuse_old(struct read_sender *sender, struct pending *pending)
{
    struct problem_detail problem;
    if (pending->is_kept || pending->wrote || pending->is_page ||
        leadership_read(sender->context->config, pending->min_sequence != 0, &problem))
        return;
    read_send_release(sender, pending);
    pending->kind = PENDING_PROBLEM;
    pending->problem = problem;
}

struct pending *read_send_reply(struct read_sender *sender, const struct reply *reply)
{
    struct context *context = sender->context;
    struct pending *pending = pending_of(&context->pendings, reply->token);
    INVARIANT(sender->queries_out > 0);
    sender->queries_out--;
    context->metrics.counters.replies++;
    charge_answer(context, &pending->query, &pending->caller, reply, &pending->rate);
    if (pending->conn == CONN_NONE) {
        if (reply->buffer != REPLY_NO_BUFFER)
            reply_pool_free(context->config->reply_pool, reply->buffer);
        reply_share_release(&sender->buffers, pending);
        body_pool_free(&context->bodies, pending->payload);
        pending_free(&context->pendings, pending);
        return NULL;
    }
    if (reply->buffer == REPLY_NO_BUFFER)
        reply_share_release(&sender->buffers, pending);
    pending->reply = *reply;
    pending_move(pending, PENDING_DONE);
    refuse_old(sender, pending);
    net_metrics_stamp(&context->metrics, NET_STAGE_read, clock_ticks() - pending->received_ticks);
    return pending;
}

uint64_t read_send_deadline_ns(const struct read_sender *sender)
{
    uint64_t deadline = UINT64_MAX;
    const struct pending *oldest = reply_share_oldest(&sender->buffers, &sender->context->pendings);
    if (oldest != NULL)
        deadline = oldest->deadline_ns;
    if (sequence_wait_deadline_ns(&sender->sequences) < deadline)
        deadline = sequence_wait_deadline_ns(&sender->sequences);
    /* One that was due at this turn's time has been sent, or its connection has closed. */
    if (sender->audit_waits && sender->audit_ns > sender->context->now_ns &&
        sender->audit_ns < deadline)
        deadline = sender->audit_ns;
    return deadline;
}
