#include "net/ask.h"

#include "base/base64.h"
#include "base/uuid.h"
#include "crypto/secret.h"

enum { DEPTH_DEFAULT = 50, DEPTH_MAX = 1000, PARAMETER_MAX = 32, NO_PIN = -1 };

/* A whole number in minimum..maximum. */
static bool read_number(const char *text, int count, uint64_t minimum, uint64_t maximum,
                        uint32_t *value)
{
    uint64_t number = 0;
    if (count <= 0 || count > 10)
        return false;
    for (int i = 0; i < count; i++) {
        unsigned digit = (unsigned char)text[i] - (unsigned)'0';
        if (digit > 9)
            return false;
        number = number * 10 + digit;
    }
    *value = (uint32_t)number;
    return number >= minimum && number <= maximum;
}

/* Query parameter `name`; `absent` when it is not there, UINT32_MAX: it must be. */
static bool take_number(const struct conn *conn, const char *text, const char *name,
                        uint32_t absent, uint32_t minimum, uint32_t maximum, uint32_t *value,
                        struct mistake *mistake)
{
    char number[PARAMETER_MAX];
    int count = route_parameter(text + conn->head.query.at, conn->head.query.count, name, number,
                                sizeof number);
    *value = absent;
    if (count == -1 && absent != UINT32_MAX)
        return true;
    if (count == -1)
        return mistake_set(mistake, PROBLEM_invalid_parameter, name, "%s is missing", name);
    if (read_number(number, count, minimum, maximum, value))
        return true;
    return mistake_set(mistake, PROBLEM_invalid_parameter, name, "%s must be %u to %u", name,
                       minimum, maximum);
}

/* The API key of X-API-KEY. */
static bool authenticate(struct gate *gate, const struct conn *conn, const char *text,
                         struct keyring_entry *entry, struct mistake *mistake)
{
    uint8_t secret[SECRET_BYTES];
    uint8_t hash[HASH_BYTES];
    if (!conn->head.has_api_key)
        return mistake_set(mistake, PROBLEM_invalid_api_key, NULL, "X-API-KEY is missing");
    ptrdiff_t count = base64_decode(secret, sizeof secret, text + conn->head.api_key.at,
                                    conn->head.api_key.count, NULL);
    if (count != SECRET_BYTES)
        return mistake_set(mistake, PROBLEM_invalid_api_key, NULL,
                           "X-API-KEY is not the Base64 of %d bytes", SECRET_BYTES);
    secret_hash(hash, gate->config.secret_key, secret);
    secret_wipe(secret, sizeof secret);
    struct keyring_key key = keyring_key(KEYRING_API, 0, hash);
    if (!keyring_find(gate->config.keyring, &key, entry) || entry->state != KEYRING_LIVE ||
        (entry->expires_at_ns != 0 && entry->expires_at_ns <= gate->unix_ns))
        return mistake_set(mistake, PROBLEM_invalid_api_key, NULL,
                           "X-API-KEY names no live API key");
    return true;
}

static bool fill_order(const struct conn *conn, struct query *query, struct mistake *mistake)
{
    struct uuid id;
    query->kind = QUERY_order;
    if (!uuid_parse(&id, conn->route.argument, conn->route.argument_bytes))
        return mistake_set(mistake, PROBLEM_invalid_parameter, "id", "id is not a UUID");
    memcpy(query->id, id.bytes, sizeof query->id);
    return true;
}

static bool fill_balance(const struct conn *conn, const char *text, struct query *query,
                         struct mistake *mistake)
{
    query->kind = QUERY_balance;
    if (!take_number(conn, text, "subaccount_index", UINT32_MAX, 0, INT32_MAX,
                     &query->subaccount_index, mistake) ||
        !take_number(conn, text, "portfolio_index", UINT32_MAX, 0, INT32_MAX,
                     &query->portfolio_index, mistake))
        return false;
    if (query->pin != NO_PIN && (uint32_t)query->pin != query->subaccount_index)
        return mistake_set(mistake, PROBLEM_subaccount_not_permitted, NULL,
                           "the API key is pinned to subaccount %d", query->pin);
    return true;
}

static bool fill_private(struct gate *gate, const struct conn *conn, const char *text,
                         struct query *query, struct mistake *mistake)
{
    struct keyring_entry entry;
    if (!authenticate(gate, conn, text, &entry, mistake))
        return false;
    query->account_id = entry.account_id;
    query->pin = entry.subaccount_pin;
    if (conn->route.kind == ROUTE_ORDER)
        return fill_order(conn, query, mistake);
    if (conn->route.kind == ROUTE_BALANCE)
        return fill_balance(conn, text, query, mistake);
    query->kind = QUERY_account;
    return true;
}

static bool fill_market(const struct conn *conn, const char *text, struct query *query,
                        struct mistake *mistake)
{
    query->kind = conn->route.kind == ROUTE_BOOK ? QUERY_book : QUERY_market;
    if (conn->route.argument_bytes >= QUERY_MARKET_BYTES)
        return mistake_set(mistake, PROBLEM_not_found, NULL, "no such market");
    memcpy(query->market, conn->route.argument, conn->route.argument_bytes);
    if (query->kind == QUERY_market)
        return true;
    return take_number(conn, text, "depth", DEPTH_DEFAULT, 1, DEPTH_MAX, &query->limit, mistake);
}

static bool fill(struct gate *gate, const struct conn *conn, const char *text, struct query *query,
                 struct mistake *mistake)
{
    memset(query, 0, sizeof *query);
    query->pin = NO_PIN;
    query->received_ticks = conn->received_ticks;
    if (!gate->config.source.ready(gate->config.source.context))
        return mistake_set(mistake, PROBLEM_not_ready, NULL, "the service is recovering");
    switch ((enum route_kind)conn->route.kind) {
    case ROUTE_ORDER:
    case ROUTE_BALANCE:
    case ROUTE_ACCOUNT:
        return fill_private(gate, conn, text, query, mistake);
    case ROUTE_MARKET:
    case ROUTE_BOOK:
        return fill_market(conn, text, query, mistake);
    case ROUTE_MARKETS:
        query->kind = QUERY_markets;
        return true;
    default:
        INVARIANT(conn->route.kind == ROUTE_AUDIT);
        query->kind = QUERY_audit;
        return true;
    }
}

/* Answered by the net thread itself, at their turn. */
static bool is_local(enum route_kind kind)
{
    return kind == ROUTE_TIME || kind == ROUTE_EXCHANGE || kind == ROUTE_EIP712 ||
           kind == ROUTE_LIVEZ || kind == ROUTE_READYZ || kind == ROUTE_METRICS;
}

static void take_local(struct gate *gate, struct conn *conn)
{
    struct pending *pending = pending_add(&gate->pendings, conn, PENDING_LOCAL, PENDING_DONE);
    uint32_t code = UINT16_MAX;
    if (conn->route.kind == ROUTE_EIP712 &&
        (!read_number(conn->route.argument, conn->route.argument_bytes, 0, UINT16_MAX - 1, &code) ||
         !eip712_signable((uint16_t)code))) {
        pending->kind = PENDING_MISTAKE;
        (void)mistake_set(&pending->mistake, PROBLEM_not_found, NULL,
                          "no request type of this number is signed as typed data");
        return;
    }
    pending->local = (struct pending_local){ .kind = conn->route.kind, .code = (uint16_t)code };
}

void ask_take(struct gate *gate, struct conn *conn, const char *head_text)
{
    gate->counters.reads++;
    if (is_local(conn->route.kind)) {
        take_local(gate, conn);
        gate_settle(gate, conn);
        return;
    }
    struct query query;
    struct mistake mistake;
    struct pending *pending = pending_add(&gate->pendings, conn, PENDING_READ, PENDING_HELD);
    if (fill(gate, conn, head_text, &query, &mistake)) {
        pending->query = query;
    } else {
        pending->kind = PENDING_MISTAKE;
        pending->state = PENDING_DONE;
        pending->mistake = mistake;
    }
    gate_settle(gate, conn);
}

/* Sends the query; false without credit or room. */
static bool send(struct gate *gate, struct pending *pending)
{
    if (gate->queries_out >= gate->reply_credits)
        return false;
    struct query *slot = ring_claim(gate->config.queries, 1);
    if (slot == NULL)
        return false;
    pending->query.token = pending_token(&gate->pendings, pending);
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
    pending->deadline_ns = gate->now_ns + (uint64_t)gate->config.credit_wait_ms * UINT64_C(1000000);
    gate->asking[gate->asking_tail++ % PENDING_MAX] = pending_index(&gate->pendings, pending);
}

void ask_release(struct gate *gate, struct conn *conn)
{
    for (uint32_t at = conn->pending_head; at != PENDING_NONE;) {
        struct pending *pending = &gate->pendings.items[at];
        if (pending->kind == PENDING_WRITE && pending->state != PENDING_DONE)
            return;
        at = pending->next;
        if (pending->state != PENDING_HELD)
            continue;
        /* Those that wait are older: they go first. */
        if (gate->asking_head != gate->asking_tail || !send(gate, pending))
            wait_for_credit(gate, pending);
    }
}

uint32_t ask_run(struct gate *gate)
{
    uint32_t done = 0;
    while (gate->asking_head != gate->asking_tail) {
        struct pending *pending =
            &gate->pendings.items[gate->asking[gate->asking_head % PENDING_MAX]];
        struct conn *conn = pending->conn == CONN_NONE ? NULL : &gate->conns.conns[pending->conn];
        if (conn == NULL) {
            gate->asking_head++;
            pending_free(&gate->pendings, pending);
        } else if (send(gate, pending)) {
            gate->asking_head++;
        } else if (pending->deadline_ns <= gate->now_ns) {
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
    struct pending *pending = pending_of(&gate->pendings, reply->token);
    INVARIANT(gate->queries_out > 0);
    gate->queries_out--;
    gate->counters.replies++;
    if (pending->conn == CONN_NONE) {
        if (reply->buffer != REPLY_NO_BUFFER)
            reply_pool_give(gate->config.reply_pool, reply->buffer);
        pending_free(&gate->pendings, pending);
        return;
    }
    pending->reply = *reply;
    pending->state = PENDING_DONE;
    gate_stamp(gate, NET_STAGE_read, clock_ticks() - pending->received_ticks);
    gate_settle(gate, &gate->conns.conns[pending->conn]);
}

uint64_t ask_deadline_ns(const struct gate *gate)
{
    if (gate->asking_head == gate->asking_tail)
        return UINT64_MAX;
    return gate->pendings.items[gate->asking[gate->asking_head % PENDING_MAX]].deadline_ns;
}
