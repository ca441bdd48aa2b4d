#include "net/request/charge.h"

/* Rows that are passed over, and rows that are shown, for one read. */
enum { ROWS_A_TOKEN = 10000, ROWS_TOKENS_MAX = 100, SHOWN_A_TOKEN = 100 };

/* After a token that was waited for, until the next one is looked for: no more often than all
 * pauses are. */
enum { NEXT_MS = 5 };

#define MS_NS UINT64_C(1000000)

static const char *const details[CLIENT_RATE_KINDS] = {
    [CLIENT_RATE_PUBLIC] = "this address has used up its public reads (limits.public_rate)",
    [CLIENT_RATE_SIGNATURE] = "this address has used up its signatures (limits.signature_rate)",
    [CLIENT_RATE_CREATION] = "this address has used up its new accounts (limits.creation_rate)",
    [CLIENT_RATE_READ] = "this key has used up its reads (limits.read_rate)",
};

/* After too many refusals of the address's bucket the connection waits. */
static void pause_if_often(struct context *context, struct conn *conn, enum client_rate_kind kind,
                           uint64_t address, uint64_t wait_ms)
{
    if (conn == NULL || conn->pause_ns != 0 || kind == CLIENT_RATE_READ ||
        client_rate_refusals(context->config->client_rates, kind, address) < CHARGE_PATIENCE)
        return;
    conn->pause_ns = context->now_ns + wait_ms * MS_NS;
    conn->owes_records = false;
    conn->pause_kind = (uint8_t)kind;
    conn->has_token = false; /* one of another bucket, that nothing has spent */
    if (conn->pause_ns < context->pause_next_ns)
        context->pause_next_ns = conn->pause_ns;
    conn_queue_push(&context->conns, CONN_PAUSED, conn);
}

/* Takes the token that the connection waited for, or others from the bucket. The ms until there
 * are so many. */
static uint64_t spend(struct context *context, struct conn *conn, enum client_rate_kind kind,
                      uint64_t client, uint32_t cost)
{
    struct client_rate *rates = context->config->client_rates;
    if (conn != NULL && conn->has_token && conn->pause_kind == kind) {
        conn->has_token = false;
        /* What comes behind it waits as it has, unless the bucket has filled up meanwhile. */
        if (kind == CLIENT_RATE_PUBLIC &&
            client_rate_state(rates, kind, client, context->now_ns).remaining == 0)
            pause_if_often(context, conn, kind, client, NEXT_MS);
        if (--cost == 0)
            return 0;
    }
    uint64_t wait_ms = client_rate_take(rates, kind, client, cost, context->now_ns);
    if (CC_UNLIKELY(wait_ms != 0) && context_catch_up(context))
        wait_ms = client_rate_again(rates, kind, client, cost, context->now_ns);
    return wait_ms;
}

static bool charge(struct context *context, struct conn *conn, enum client_rate_kind kind,
                   uint64_t client, uint32_t cost, struct problem_detail *problem)
{
    if (conn->admin || context->config->client_rates == NULL)
        return true;
    uint64_t wait_ms = spend(context, conn, kind, client, cost);
    if (kind == CLIENT_RATE_PUBLIC || kind == CLIENT_RATE_READ)
        conn->rate =
            client_rate_state(context->config->client_rates, kind, client, context->now_ns);
    if (CC_LIKELY(wait_ms == 0))
        return true;
    context->metrics.counters.rate_limited++;
    pause_if_often(context, conn, kind, conn->address, wait_ms);
    return problem_detail_set_number(problem, PROBLEM_rate_limited, wait_ms, "%s", details[kind]);
}

/* What passing over so many rows costs. */
static uint32_t tokens_of(uint64_t offset)
{
    uint64_t more = offset / ROWS_A_TOKEN;
    return (uint32_t)(more < ROWS_TOKENS_MAX ? more : ROWS_TOKENS_MAX);
}

/* Charges the key, and for a refusal its address: else connections of a key without tokens would be
 * read on and answered as fast as they ask. The answer tells what the key's bucket has. */
static bool charge_key(struct context *context, struct conn *conn, const struct keyring_key *key,
                       uint32_t cost, struct problem_detail *problem)
{
    if (CC_LIKELY(
            charge(context, conn, CLIENT_RATE_READ, client_rate_of_key(key->bytes), cost, problem)))
        return true;
    uint64_t wait_ms = spend(context, conn, CLIENT_RATE_PUBLIC, conn->address, 1);
    if (wait_ms != 0)
        pause_if_often(context, conn, CLIENT_RATE_PUBLIC, conn->address, wait_ms);
    return false;
}

bool charge_read(struct context *context, struct conn *conn, const struct keyring_key *caller,
                 uint64_t offset, struct problem_detail *problem)
{
    uint32_t cost = 1 + tokens_of(offset);
    if (caller != NULL && caller->kind != 0)
        context_prove(context, conn);
    if (caller == NULL || caller->kind == 0)
        return charge(context, conn, CLIENT_RATE_PUBLIC, conn->address, cost, problem);
    return charge_key(context, conn, caller, cost, problem);
}

bool charge_subscription(struct context *context, struct conn *conn,
                         const struct keyring_key *login, struct problem_detail *problem)
{
    if (login->kind == 0)
        return charge(context, conn, CLIENT_RATE_PUBLIC, conn->address, 1, problem);
    return charge_key(context, conn, login, 1, problem);
}

void charge_frame(struct context *context, struct conn *conn)
{
    struct problem_detail unused;
    (void)!charge(context, conn, CLIENT_RATE_PUBLIC, conn->address, 1, &unused);
}

void charge_records(struct context *context, struct conn *conn)
{
    struct client_rate *rates = context->config->client_rates;
    uint64_t wait_ms =
        client_rate_take(rates, CLIENT_RATE_PUBLIC, conn->address, 1, context->now_ns);
    if (wait_ms == 0)
        return;
    client_rate_owe(rates, CLIENT_RATE_PUBLIC, conn->address, 1, context->now_ns);
    pause_if_often(context, conn, CLIENT_RATE_PUBLIC, conn->address, wait_ms);
    conn->owes_records = conn->pause_ns != 0;
}

void charge_past(struct context *context, const struct conn *conn, const struct keyring_key *login,
                 uint32_t *past)
{
    bool is_of_key = login->kind != 0;
    enum client_rate_kind kind = is_of_key ? CLIENT_RATE_READ : CLIENT_RATE_PUBLIC;
    uint64_t client = is_of_key ? client_rate_of_key(login->bytes) : conn->address;

    if (++*past < SHOWN_A_TOKEN)
        return;
    *past = 0;
    client_rate_owe(context->config->client_rates, kind, client, 1, context->now_ns);
}

/* What an answer costs beside what was paid before it was asked for. */
static uint32_t owed_for(const struct query *query, const struct reply *reply)
{
    enum query_extent extent = query_extent_of(query->kind);
    uint32_t owed = 0;

    if (query->kind == QUERY_private_events ||
        (extent != QUERY_EXTENT_PAGE && extent != QUERY_EXTENT_ALL))
        return 0;
    if (reply->row_count > SHOWN_A_TOKEN)
        owed = (reply->row_count - 1) / SHOWN_A_TOKEN;
    uint32_t looked = reply->rows_visited / ROWS_A_TOKEN, paid = tokens_of(query->offset);
    if (extent == QUERY_EXTENT_PAGE && looked > paid)
        owed += looked - paid;
    return owed;
}

void charge_answer(struct context *context, const struct query *query,
                   const struct keyring_key *caller, const struct reply *reply,
                   struct client_rate_state *state)
{
    struct client_rate *rates = context->config->client_rates;
    enum client_rate_kind kind = caller->kind != 0 ? CLIENT_RATE_READ : CLIENT_RATE_PUBLIC;
    uint64_t client = caller->kind != 0 ? client_rate_of_key(caller->bytes) : query->address;

    if (rates == NULL || query->address == QUERY_ADMIN_ADDRESS)
        return;
    uint32_t owed = owed_for(query, reply);
    if (CC_LIKELY(owed == 0))
        return;
    client_rate_owe(rates, kind, client, owed, context->now_ns);
    *state = client_rate_state(rates, kind, client, context->now_ns);
}

void charge_mistake(struct context *context, struct conn *conn, struct problem_detail *problem)
{
    switch (problem_http_status(problem->code)) {
    case 400:
    case 401:
    case 403:
    case 404:
    case 405:
    case 413:
    case 415:
    case 421:
    case 431:
        (void)!charge(context, conn, CLIENT_RATE_PUBLIC, conn->address, 1, problem);
        return;
    default:
        return;
    }
}

bool charge_signature(struct context *context, struct conn *conn, struct problem_detail *problem)
{
    return charge(context, conn, CLIENT_RATE_SIGNATURE, conn->address, 1, problem);
}

uint64_t charge_creation(struct context *context, struct conn *conn, uint64_t address)
{
    if (context->config->client_rates == NULL)
        return 0;
    uint64_t wait_ms = spend(context, conn, CLIENT_RATE_CREATION, address, 1);
    if (wait_ms != 0)
        pause_if_often(context, conn, CLIENT_RATE_CREATION, address, wait_ms);
    else /* an hour may pass until it has one: no connection waits for that */
        wait_ms = newcomer_rate_take(context->config->newcomer_rate, address, context->now_ns);
    return wait_ms;
}

bool charge_redeem(struct context *context, struct conn *conn)
{
    INVARIANT(conn->pause_ns != 0 && conn->pause_ns <= context->now_ns && !conn->has_token);
    uint64_t wait_ms =
        client_rate_redeem(context->config->client_rates, (enum client_rate_kind)conn->pause_kind,
                           conn->address, context->now_ns);
    conn->has_token = wait_ms == 0;
    conn->pause_ns = wait_ms == 0 ? 0 : context->now_ns + wait_ms * MS_NS;
    return conn->has_token;
}
