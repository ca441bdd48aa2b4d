#include "net/conn/pending.h"

#include <errno.h>

#include "base/region.h"
#include "crypto/secret.h"

/* The answer of a write while a query for its receipt is on its way. */
struct pending_kept {
    struct answer answer;
    uint8_t secret[SECRET_BYTES];
};

static struct pending_kept *kept_of(const struct pending_pool *pool, const struct pending *pending)
{
    return &pool->kept[pending_index(pool, pending)];
}

const struct answer *pending_answer(const struct pending_pool *pool, const struct pending *pending)
{
    return pending->is_kept ? &kept_of(pool, pending)->answer : &pending->answer;
}

const uint8_t *pending_secret(const struct pending_pool *pool, const struct pending *pending)
{
    return pending->is_kept ? kept_of(pool, pending)->secret : pending->secret;
}

int pending_pool_init(struct pending_pool *pool, uint32_t capacity)
{
    *pool = (struct pending_pool){ .capacity = capacity, .free_head = PENDING_NONE };
    pool->items = region_map(REGION_requests, sizeof *pool->items * capacity);
    pool->kept = region_map(REGION_requests, sizeof *pool->kept * capacity);
    if (pool->items != NULL && pool->kept != NULL)
        return 0;
    pending_pool_free(pool);
    return -ENOMEM;
}

void pending_pool_free(struct pending_pool *pool)
{
    if (pool->items != NULL)
        region_unmap(pool->items, sizeof *pool->items * pool->capacity);
    if (pool->kept != NULL)
        region_unmap(pool->kept, sizeof *pool->kept * pool->capacity);
    pool->items = NULL;
    pool->kept = NULL;
}

/* A pending that is in no list. */
static struct pending *alloc(struct pending_pool *pool, const struct conn *conn,
                             uint32_t conn_index, enum pending_kind kind, enum pending_state state)
{
    uint32_t index = pool->free_head;
    if (index != PENDING_NONE) {
        pool->free_head = pending_at(pool, index)->next;
    } else {
        INVARIANT(pool->touched < pool->capacity);
        index = pool->touched++;
    }
    pool->used++;
    INVARIANT(pool->used <= pool->touched);
    struct pending *pending = pending_at(pool, index);
    pending->next = PENDING_NONE;
    pending->conn = conn_index;
    pending->generation++;
    pending->kind = (uint8_t)kind;
    pending_move(pending, state);
    pending->last = conn->last;
    pending->no_body = conn->head.method == HTTP_HEAD;
    pending->minor = conn->head.minor;
    pending->origin = conn->origin;
    pending->asks_timing = conn->head.asks_timing;
    pending->rate = conn->rate;
    if (kind == PENDING_WRITE) {
        pending->account_id = 0;
        pending->places = 0;
    }
    pending->min_sequence = 0;
    pending->has_secret = false;
    pending->is_logout = false;
    pending->has_device = false;
    pending->by_device = false;
    pending->sets_cookie = false;
    pending->is_kept = false;
    pending->is_checked = false;
    pending->wrote = false;
    pending->is_op = false;
    pending->is_op_frame = false;
    pending->is_page = false;
    pending->pipelined = false;
    pending->payload = BODY_NONE;
    pending->expected_bytes = 0;
    pending->share = PENDING_NONE;
    pending->received_ticks = conn->received_ticks;
    pending->deadline_ns = 0;
    pending->allow = NULL;
    return pending;
}

struct pending *pending_add_own(struct pending_pool *pool, uint64_t received_ticks)
{
    const struct conn nobody = { .received_ticks = received_ticks };
    return alloc(pool, &nobody, CONN_NONE, PENDING_WRITE, PENDING_QUEUED);
}

struct pending *pending_add(struct pending_pool *pool, struct conn *conn, enum pending_kind kind,
                            enum pending_state state)
{
    struct pending *pending = alloc(pool, conn, conn->index, kind, state);
    uint32_t index = pending_index(pool, pending);
    conn->rate = (struct client_rate_state){ 0 };
    if (conn->pending_tail == PENDING_NONE)
        conn->pending_head = index;
    else
        pending_at(pool, conn->pending_tail)->next = index;
    conn->pending_tail = index;
    conn->pending_count++;
    INVARIANT(conn->pending_count <= CONN_PENDING_MAX);
    return pending;
}

void pending_become_receipt(struct pending_pool *pool, struct pending *pending, uint64_t account_id)
{
    struct pending_kept *kept = kept_of(pool, pending);
    struct query query = {
        .received_ticks = pending->received_ticks,
        .account_id = account_id,
        .pin = -1, /* who signed it may see it */
        .kind = QUERY_receipt,
    };

    kept->answer = pending->answer;
    if (pending->has_secret) {
        memcpy(kept->secret, pending->secret, sizeof kept->secret);
        secret_wipe(pending->secret, sizeof pending->secret);
    }
    memcpy(query.id, pending->request_id, sizeof query.id);
    pending->is_kept = true;
    pending->kind = PENDING_READ;
    pending_move(pending, PENDING_HELD);
    pending->query = query;
    pending->caller = (struct keyring_key){ 0 }; /* the engine has judged the credential */
}

struct pending *pending_replace(struct pending_pool *pool, struct conn *conn,
                                struct pending *before, struct pending *sent)
{
    INVARIANT(sent->state == PENDING_SENT && sent->conn == conn->index);
    struct pending *made = alloc(pool, conn, conn->index, PENDING_PROBLEM, PENDING_DONE);
    uint32_t index = pending_index(pool, made);
    made->next = sent->next;
    made->last = sent->last;
    made->no_body = sent->no_body;
    made->minor = sent->minor;
    made->origin = sent->origin;
    made->asks_timing = sent->asks_timing;
    made->rate = sent->rate;
    made->received_ticks = sent->received_ticks;
    made->is_op = sent->is_op;
    made->is_op_frame = sent->is_op_frame;
    made->has_op_id = sent->has_op_id;
    memcpy(made->op_request, sent->op_request, sizeof made->op_request); /* or its op_id */
    if (before == NULL)
        conn->pending_head = index;
    else
        before->next = index;
    if (conn->pending_tail == pending_index(pool, sent))
        conn->pending_tail = index;
    sent->next = PENDING_NONE;
    sent->conn = CONN_NONE;
    return made;
}

void pending_free(struct pending_pool *pool, struct pending *pending)
{
    INVARIANT(pool->used > 0 && pool->pipelined >= pending->pipelined);
    INVARIANT(pending->share == PENDING_NONE);
    if (pending->has_secret && pending->is_kept)
        secret_wipe(kept_of(pool, pending)->secret, sizeof pending->secret);
    else if (pending->has_secret)
        secret_wipe(pending->secret, sizeof pending->secret);
    pending->has_secret = false;
    pool->pipelined -= pending->pipelined;
    pending->pipelined = false;
    pending->conn = CONN_NONE;
    pending_move(pending, PENDING_FREE);
    pending->next = pool->free_head;
    pool->free_head = pending_index(pool, pending);
    pool->used--;
    INVARIANT(pool->pipelined <= pool->used);
}

void pending_remove_first(struct pending_pool *pool, struct conn *conn)
{
    INVARIANT(conn->pending_head != PENDING_NONE && conn->pending_count > 0);
    struct pending *pending = pending_at(pool, conn->pending_head);
    INVARIANT(pending->conn == conn->index && conn->expected_bytes >= pending->expected_bytes);
    conn->expected_bytes -= pending->expected_bytes;
    conn->pending_head = pending->next;
    if (conn->pending_head == PENDING_NONE)
        conn->pending_tail = PENDING_NONE;
    conn->pending_count--;
    INVARIANT((conn->pending_head == PENDING_NONE) == (conn->pending_count == 0));
    INVARIANT(conn->pending_count > 0 || conn->expected_bytes == 0);
    pending_free(pool, pending);
}

uint64_t pending_token(const struct pending_pool *pool, const struct pending *pending)
{
    return (uint64_t)pending->generation << 32 | pending_index(pool, pending);
}

struct pending *pending_of(struct pending_pool *pool, uint64_t token)
{
    uint32_t index = (uint32_t)token;
    struct pending *pending = pending_at(pool, index);
    INVARIANT(pending->generation == (uint32_t)(token >> 32));
    INVARIANT(pending->state == PENDING_SENT || pending->state == PENDING_ASKED);
    return pending;
}

bool pending_lives(const struct pending_pool *pool, uint64_t token)
{
    const struct pending *pending = pending_at(pool, (uint32_t)token);
    return pending->generation == (uint32_t)(token >> 32) && pending->state != PENDING_FREE;
}
