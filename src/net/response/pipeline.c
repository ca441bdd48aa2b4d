#include "net/response/pipeline.h"

#include "net/request/charge.h"

int pipeline_init(struct pipeline *pipeline, struct context *context)
{
    pipeline->context = context;
    pipeline->evicting = CONN_NONE;
    int error = read_send_init(&pipeline->reads, context);
    if (error == 0)
        error = response_writer_init(&pipeline->responses, context);
    return error;
}

void pipeline_free(struct pipeline *pipeline)
{
    response_writer_free(&pipeline->responses);
    read_send_free(&pipeline->reads);
}

void pipeline_starve(struct pipeline *pipeline, struct conn *starved)
{
    struct context *context = pipeline->context;
    uint64_t oldest_ns = UINT64_MAX;
    struct conn *victim = NULL;
    conn_queue_push(&context->conns, CONN_STARVED, starved);
    if (pipeline->evicting != CONN_NONE)
        return;
    address_tally_begin(&context->tally);
    for (uint32_t i = 0; i < context->conns.capacity; i++) {
        const struct conn *conn = conn_at(&context->conns, i);
        if (conn->open && !conn->broken)
            address_tally_add(&context->tally, conn->address,
                              (uint64_t)conn->output.bytes + conn->wire.bytes);
    }
    for (uint32_t i = 0; i < context->conns.capacity; i++) {
        struct conn *conn = conn_at(&context->conns, i);
        uint64_t since = conn_unsent_since_ns(&context->outputs, conn);
        if (conn->open && !conn->broken && conn->address == context->tally.address &&
            since < oldest_ns) {
            oldest_ns = since;
            victim = conn;
        }
    }
    if (victim == NULL)
        return;
    pipeline->evicting = victim->index;
    victim->broken = true;
    pipeline->context->metrics.counters.output_pool_closed++;
    context_mark_dirty(pipeline->context, victim);
}

/* Frees what the outcome of a request holds besides its pending. */
static void free_outcome(struct pipeline *pipeline, struct pending *pending)
{
    struct context *context = pipeline->context;
    body_pool_free(&context->bodies, pending->payload);
    if (pending->kind == PENDING_READ)
        read_send_release(&pipeline->reads, pending);
    else if (pending->kind == PENDING_LOCAL)
        body_pool_free(&context->bodies, pending->local.body);
}

void pipeline_remove_first(struct pipeline *pipeline, struct conn *conn)
{
    free_outcome(pipeline, pending_at(&pipeline->context->pendings, conn->pending_head));
    pending_remove_first(&pipeline->context->pendings, conn);
}

/* Writes the answers at the front of the pipeline. False: the output pool had no room. */
static bool flush(struct pipeline *pipeline, struct conn *conn)
{
    if (conn->stream != NULL) { /* its outcomes are no HTTP answers: stream.h takes them */
        if (conn->pending_head != PENDING_NONE &&
            pending_at(&pipeline->context->pendings, conn->pending_head)->state == PENDING_DONE)
            conn_queue_push(&pipeline->context->conns, CONN_SHOWN, conn);
        return true;
    }
    while (conn->pending_head != PENDING_NONE) {
        struct pending *pending = pending_at(&pipeline->context->pendings, conn->pending_head);
        if (pending->state != PENDING_DONE)
            return true;
        if (!response_write(&pipeline->responses, conn, pending))
            return false;
        free_outcome(pipeline, pending);
        pending_remove_first(&pipeline->context->pendings, conn);
        context_mark_dirty(pipeline->context, conn);
    }
    if (conn->continue_due) {
        if (!response_write_continue(&pipeline->responses, conn))
            return false;
        conn->continue_due = false;
        context_mark_dirty(pipeline->context, conn);
    }
    return true;
}

/* Writes answers, then sends reads that may go now; repeats while that refuses a read. */
static void advance(struct pipeline *pipeline, struct conn *conn)
{
    do {
        if (!flush(pipeline, conn) && !conn->broken)
            pipeline_starve(pipeline, conn);
    } while (read_send_held(&pipeline->reads, conn));
    if (conn->reads_held) /* it may be one that waits for its peer */
        crowd_hear(&pipeline->context->conns.crowd, conn);
}

void pipeline_resume(struct pipeline *pipeline, struct conn *conn)
{
    if (conn->reads_held && !conn->broken)
        advance(pipeline, conn);
    if (conn->blocked)
        conn_queue_push(&pipeline->context->conns, CONN_READY, conn);
}

void pipeline_advance(struct pipeline *pipeline, struct conn *conn)
{
    if (conn->broken)
        return;
    advance(pipeline, conn);
    pipeline_resume(pipeline, conn);
}

void pipeline_finish(struct pipeline *pipeline, struct pending *pending)
{
    struct conn *conn = context_conn(pipeline->context, pending);
    if (conn == NULL) {
        pending_free(&pipeline->context->pendings, pending);
        return;
    }
    pending_move(pending, PENDING_DONE);
    pipeline_advance(pipeline, conn);
}

void pipeline_refuse(struct pipeline *pipeline, struct conn *conn,
                     const struct problem_detail *problem, const char *allow)
{
    struct problem_detail answered = *problem;
    charge_mistake(pipeline->context, conn, &answered);
    struct pending *pending =
        pending_add(&pipeline->context->pendings, conn, PENDING_PROBLEM, PENDING_DONE);
    pending->problem = answered;
    pending->allow = answered.code == problem->code ? allow : NULL;
    pipeline_advance(pipeline, conn);
}

void pipeline_drop(struct pipeline *pipeline, struct conn *conn)
{
    struct context *context = pipeline->context;
    sequence_wait_remove(&pipeline->reads.sequences, conn);
    while (conn->pending_head != PENDING_NONE) {
        struct pending *pending = pending_at(&context->pendings, conn->pending_head);
        conn->pending_head = pending->next;
        conn->pending_count--;
        if (pending->state == PENDING_DONE)
            free_outcome(pipeline, pending);
        else if (pending->state == PENDING_HELD || pending->state == PENDING_CREDIT)
            body_pool_free(&context->bodies, pending->payload);
        if (pending->state == PENDING_CREDIT)
            read_send_leave(&pipeline->reads, pending);
        if (pending->state == PENDING_DONE || pending->state == PENDING_HELD ||
            pending->state == PENDING_CREDIT)
            pending_free(&context->pendings, pending);
        else
            pending->conn = CONN_NONE; /* freed when its answer comes */
    }
    INVARIANT(conn->pending_count == 0);
    conn->pending_tail = PENDING_NONE;
    if (pipeline->evicting == conn->index)
        pipeline->evicting = CONN_NONE;
    output_clear(&context->outputs, &conn->output);
}
