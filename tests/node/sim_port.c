/* Net threads of a simulated exchange: the whole of net but its sockets, and the other ends of its
 * connections, which send requests in pieces, several at once, and hang up. */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "sim_sign.h"
#include "sim_world.h"

enum {
    CONNECTIONS = 8, /* a power of two above SIM_CLIENTS */
    REQUEST_BYTES = 1024,
    BINARY_ODDS = 2,
    SPOILT_ODDS = 200,
    ACK_BYTES = 64, /* the binary acknowledgement (wire.md W5) */
    OUTPUT_BYTES = 1 << 20,
};

void sim_port_make(struct sim_port *port)
{
    sim_link_make(&port->link);
    port->protocol = aligned_alloc(128, (sizeof *port->protocol + 127) & ~(size_t)127);
    INVARIANT(port->protocol != NULL);
    memset(port->protocol, 0, sizeof *port->protocol);
}

void sim_port_free(struct sim_port *port)
{
    sim_link_free(&port->link);
    free(port->protocol);
}

static uint64_t source_durable(void *context)
{
    return journal_durable_seq(((struct sim *)context)->core.journal);
}

static uint64_t source_applied(void *context)
{
    /* relaxed: one thread */
    return atomic_load_explicit(&((struct sim *)context)->core.follower.applied,
                                memory_order_relaxed);
}

static bool source_ready(void *context)
{
    (void)context;
    return true;
}

static void source_facts(void *context, struct net_facts *facts)
{
    (void)context;
    memset(facts, 0, sizeof *facts);
}

static size_t source_metrics(void *context, char *text, size_t capacity)
{
    (void)context;
    (void)text;
    (void)capacity;
    return 0;
}

static void hang_up(struct sim *sim, struct sim_port *port, struct sim_client *client)
{
    for (uint32_t i = 0; i < client->waiting_count; i++)
        sim->traffic.sent[client->waiting[i]].state = TRAFFIC_LOST;
    if (client->conn != NULL)
        protocol_close(port->protocol, client->conn);
    client->conn = NULL;
    client->send_count = client->sent = client->received_count = client->waiting_count = 0;
}

struct net_config sim_port_config(struct sim *sim, struct sim_link *link)
{
    static struct symbols symbols; /* of no use to signed requests */
    const struct core *core = &sim->core;
    struct net_config config = {
        .wake_file = -1,
        .commands = &link->commands,
        .answers = &link->answers,
        .queries = &link->queries,
        .replies = &link->replies,
        .reply_pool = &link->pool,
        .keyring = core->keyring,
        .symbols = &symbols,
        .clock = &sim->net_clock,
        .options = &core->options,
        .source = { .context = sim,
                    .durable = source_durable,
                    .applied = source_applied,
                    .ready = source_ready,
                    .facts = source_facts,
                    .metrics = source_metrics },
        .hash_key = mix_key_load(core->exchange.hash_key),
        .durability = "local",
        .rules_version = 1,
        .epoch = 1,
        .credit_wait_ms = 2,
        .output_pool_bytes = OUTPUT_BYTES,
    };
    INVARIANT(host_list_add(&config.hosts, "x"));
    memcpy(config.secret_key, core->exchange.secret_key, sizeof config.secret_key);
    memcpy(config.exchange_id, core->exchange.exchange_id, sizeof config.exchange_id);
    return config;
}

void sim_port_open(struct sim *sim, struct sim_port *port)
{
    const struct net_config config = sim_port_config(sim, &port->link);
    memset(port->protocol, 0, sizeof *port->protocol);
    int failed = protocol_init(port->protocol, &config, CONNECTIONS);
    INVARIANT(failed == 0);
    for (uint32_t i = 0; i < SIM_CLIENTS; i++) {
        struct sim_client *client = &port->clients[i];
        client->conn = NULL;
        client->send_count = client->sent = client->received_count = client->waiting_count = 0;
    }
}

void sim_port_close(struct sim_port *port)
{
    if (port->protocol->jobs != NULL)
        protocol_free(port->protocol);
    for (uint32_t i = 0; i < SIM_CLIENTS; i++) {
        port->clients[i].conn = NULL;
        port->clients[i].waiting_count = 0;
    }
}

bool sim_port_send(struct sim *sim, struct sim_port *port, struct traffic_sent *sent)
{
    struct sim_client *client = &port->clients[sim_below(sim, SIM_CLIENTS)];
    const struct command *command = traffic_command(sent);
    bool binary = command->code <= REQUEST_place_market_order && sim_below(sim, BINARY_ODDS) == 0;
    uint32_t frame = (uint32_t)command->payload_bytes + command->key_bytes + SIGNATURE_BYTES;

    if (client->waiting_count == SIM_CLIENT_REQUESTS ||
        client->send_count + REQUEST_BYTES > SIM_CLIENT_BYTES)
        return false;
    if (client->conn == NULL) {
        protocol_turn_begin(port->protocol);
        client->conn = protocol_open(port->protocol, false);
        (void)protocol_turn_end(port->protocol);
        INVARIANT(client->conn != NULL);
    }
    sent->is_spoilt = sim_may(sim, SIM_EVENT_badsignature) && sim_below(sim, SPOILT_ODDS) == 0;
    sim_sign(&sim->traffic, sent);
    char *to = client->sending + client->send_count;
    int head = snprintf(to, REQUEST_BYTES,
                        "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\n"
                        "%sContent-Length: %u\r\n\r\n",
                        request_find(command->code)->path,
                        binary ? "Accept: application/octet-stream\r\n" : "", frame);
    INVARIANT(head > 0 && (uint32_t)head + frame <= REQUEST_BYTES);
    memcpy(to + head, command->bytes, frame);
    client->send_count += (uint32_t)head + frame;
    client->waiting[client->waiting_count++] = (uint32_t)command->token;
    sim->outcome->http_requests++;
    return true;
}

/* ---- what comes back ------------------------------------------------------------------------- */

static bool number_behind(const char *text, size_t count, const char *name, uint64_t *value)
{
    const char *at = memmem(text, count, name, strlen(name));
    if (at != NULL)
        *value = strtoull(at + strlen(name), NULL, 10);
    return at != NULL;
}

static bool status_behind(const char *text, size_t count, const char *name, uint8_t *status)
{
    const char *at = memmem(text, count, name, strlen(name));
    if (at == NULL)
        return false;
    at += strlen(name);
    for (unsigned i = 0; i < STATUS_COUNT; i++) {
        const char *word = status_name(i);
        if (word == NULL)
            continue;
        size_t length = strlen(word);
        if (length < (size_t)(text + count - at) && memcmp(at, word, length) == 0 &&
            at[length] == '"') {
            *status = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static void read_id(const char *text, size_t count, const char *name, struct answer *answer)
{
    const char *at = memmem(text, count, name, strlen(name));
    if (at == NULL)
        return;
    at += strlen(name);
    for (unsigned i = 0, digits = 0; digits < 32; i++) {
        char c = at[i];
        if (c == '-')
            continue;
        uint8_t value = (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        answer->id[digits / 2] = (uint8_t)(answer->id[digits / 2] << 4 | value);
        digits++;
    }
    answer->members |= ANSWER_HAS_ID;
}

/* An acknowledgement, in either form. False: it is a problem. */
static bool read_answer(const char *body, size_t count, struct answer *answer)
{
    memset(answer, 0, sizeof *answer);
    if (count == ACK_BYTES && body[0] != '{') {
        answer->status = (uint8_t)body[0];
        answer->processed_at_ns = cc_load64(body + 8);
        answer->sequence = cc_load64(body + 16);
        return true;
    }
    if (!status_behind(body, count, "\"status\":\"", &answer->status) &&
        !status_behind(body, count, "\"message\":\"", &answer->status))
        return false;
    (void)number_behind(body, count, "\"sequence\":", &answer->sequence);
    (void)number_behind(body, count, ",\"processed_at_ns\":", &answer->processed_at_ns);
    if (number_behind(body, count, "\"account_id\":", &answer->account_id))
        answer->members |= ANSWER_HAS_ACCOUNT;
    read_id(body, count, "\"api_key_id\":\"", answer);
    read_id(body, count, "\"withdrawal_id\":\"", answer);
    if (status_behind(body, count, "\"original_status\":\"", &answer->original_status))
        answer->members |= ANSWER_HAS_ORIGINAL;
    return true;
}

/* Why net may refuse: its clock has gone on (a request that is late, or not complete in time), or
 * the signature is wrong. */
static void take_problem(struct sim *sim, struct traffic_sent *sent, const char *body, size_t count)
{
    bool late = memmem(body, count, "request_timestamp_out_of_window", 31) != NULL ||
                memmem(body, count, "request_timeout", 15) != NULL;
    bool bad = memmem(body, count, "invalid_signature", 17) != NULL;

    sent->state = TRAFFIC_REFUSED;
    sim->outcome->http_problems++;
    sim->outcome->bad_signatures += bad && sent->is_spoilt;
    if (!late && !(bad && sent->is_spoilt))
        sim_fail(sim, "a request was refused: %.*s", (int)(count < 120 ? count : 120), body);
}

/* The oldest request of the connection has its answer. */
static void take_response(struct sim *sim, struct sim_client *client, const char *body,
                          size_t count)
{
    struct traffic_sent *sent = &sim->traffic.sent[client->waiting[0]];

    INVARIANT(client->waiting_count > 0);
    client->waiting_count--;
    memmove(client->waiting, client->waiting + 1, client->waiting_count * sizeof *client->waiting);
    if (!read_answer(body, count, &sent->answer)) {
        take_problem(sim, sent, body, count);
        return;
    }
    if (sent->is_spoilt)
        sim_fail(sim, "a request with a wrong signature was taken: status %u", sent->answer.status);
    if (sent->answer.sequence > journal_durable_seq(sim->core.journal))
        sim_fail(sim, "sequence %lu was answered before it was durable", sent->answer.sequence);
    sim_acknowledge(sim, sent);
}

static void read_responses(struct sim *sim, struct sim_client *client)
{
    const char *text = client->received;
    size_t left = client->received_count;

    while (left > 0 && !sim->outcome->failed) {
        const char *end = memmem(text, left, "\r\n\r\n", 4);
        uint64_t body = 0;
        if (end == NULL)
            break;
        size_t head = (size_t)(end - text) + 4;
        (void)number_behind(text, head, "Content-Length: ", &body);
        if (left < head + body)
            break;
        take_response(sim, client, text + head, body);
        text += head + body;
        left -= head + body;
    }
    memmove(client->received, text, left);
    client->received_count = (uint32_t)left;
}

/* The transport's part: all bytes out; a connection that the protocol ends is closed. */
static void transport(struct sim *sim, struct sim_port *port)
{
    struct protocol *protocol = port->protocol;
    const uint8_t *bytes;

    while (conn_queue_count(&protocol->context.conns, CONN_DIRTY) > 0)
        (void)conn_queue_pop(&protocol->context.conns, CONN_DIRTY);
    protocol_mark_sent(protocol);
    for (uint32_t i = 0; i < SIM_CLIENTS; i++) {
        struct sim_client *client = &port->clients[i];
        size_t count;
        while (client->conn != NULL && !client->conn->broken &&
               (count = output_next(&protocol->context.outputs, &client->conn->output, &bytes)) >
                   0) {
            INVARIANT(client->received_count + count <= SIM_CLIENT_BYTES);
            memcpy(client->received + client->received_count, bytes, count);
            client->received_count += (uint32_t)count;
            output_sent(&protocol->context.outputs, &client->conn->output, count);
            pipeline_resume(&protocol->pipeline, client->conn);
            read_responses(sim, client);
        }
        if (client->conn != NULL && (client->conn->broken || protocol_is_finished(client->conn)))
            hang_up(sim, port, client);
    }
}

void sim_port_step(struct sim *sim, struct sim_port *port)
{
    uint64_t out = port->protocol->sender.commands_out;

    protocol_turn_begin(port->protocol);
    for (uint32_t i = 0; i < SIM_CLIENTS; i++) {
        struct sim_client *client = &port->clients[i];
        uint32_t left = client->send_count - client->sent;
        if (client->conn == NULL || left == 0)
            continue;
        uint32_t piece = sim_below(sim, 4) == 0 ? (uint32_t)sim_below(sim, left) + 1 : left;
        protocol_receive(port->protocol, client->conn, client->sending + client->sent, piece);
        client->sent += piece;
        if (client->sent == client->send_count)
            client->send_count = client->sent = 0;
    }
    (void)protocol_turn_end(port->protocol);
    const struct command_sender *sender = &port->protocol->sender;
    if (sender->commands_out > out &&
        sender->commands_out >=
            sender->answer_credits - sender->answer_credits / COMMAND_CREDITS_KEPT)
        sim->outcome->ring_full++;
    transport(sim, port);
}

void sim_port_hang_up(struct sim *sim, struct sim_port *port)
{
    struct sim_client *client = &port->clients[sim_below(sim, SIM_CLIENTS)];
    if (client->conn == NULL)
        return;
    sim_note(sim, "hang up", client->waiting_count, 0);
    sim->outcome->hang_ups++;
    hang_up(sim, port, client);
}

bool sim_port_is_idle(const struct sim_port *port)
{
    for (uint32_t i = 0; i < SIM_CLIENTS; i++)
        if (port->clients[i].waiting_count != 0 || port->clients[i].send_count != 0)
            return false;
    return port->protocol->sender.commands_out == 0;
}
