#include "net/fixture.h"

#include <stdio.h>
#include <sys/mman.h>

#include "base/base64.h"
#include "base/uuid.h"
#include "check.h"
#include "crypto/ed25519.h"
#include "crypto/operator_message.h"
#include "crypto/second_path.h"
#include "crypto/secret.h"
#include "net/fixture_rows.h"

#define EPOCH_NS UINT64_C(1755582431240112233)

static uint64_t source_durable(void *context)
{
    return ((struct fixture *)context)->durable;
}

static uint64_t source_applied(void *context)
{
    return ((struct fixture *)context)->applied;
}

static bool source_ready(void *context)
{
    return ((struct fixture *)context)->ready;
}

static void source_facts(void *context, struct net_facts *facts)
{
    *facts = ((struct fixture *)context)->facts;
}

static size_t source_metrics(void *context, char *text, size_t capacity)
{
    (void)context;
    int count = snprintf(text, capacity, "node_line 1\n");
    return (size_t)count;
}

static void init_ring(struct ring *ring, uint32_t slots)
{
    void *memory = NULL;
    size_t bytes = (ring_bytes(slots, MESSAGE_SLOT_BYTES) + 63) & ~(size_t)63;
    CHECK(posix_memalign(&memory, 64, bytes) == 0);
    memset(memory, 0, bytes);
    ring_init(ring, memory, slots, MESSAGE_SLOT_BYTES);
}

static void init_options(struct fixture *fixture)
{
    struct option_engine *options = &fixture->options;
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_row(i);
        if (row->engine && row->type == OPTION_TYPE_INT)
            options->values[i] = strtoull(row->initial, NULL, 10);
    }
    options->has_operator_key = true;
    memcpy(options->operator_key, fixture->operator.key, 32);
    memcpy(options->oracle_keys[0], fixture->oracle.key, 32);
    options->oracle_key_count = 1;
}

static void add_key(struct fixture *fixture, uint64_t account_id, enum keyring_kind kind,
                    const uint8_t *bytes, int32_t pin, uint8_t scope)
{
    struct keyring_row entry = { 0 };
    uint64_t named = kind == KEYRING_API ? 0 : account_id;
    entry.key = keyring_key(kind, named, bytes);
    entry.account_id = account_id;
    entry.subaccount_pin = pin;
    entry.scope = scope;
    entry.admin = kind == KEYRING_MASTER;
    entry.sequence = 1;
    memset(entry.credential_id.bytes, bytes[0], sizeof entry.credential_id.bytes);
    CHECK(keyring_add(fixture->keyring, &entry) == 0);
}

struct keyring_key fixture_key(const struct fixture *fixture, const char *api_key)
{
    uint8_t secret[32], hash[HASH_BYTES];
    CHECK(base64_decode(secret, sizeof secret, api_key, strlen(api_key), NULL) == 32);
    secret_hash(hash, fixture->config.secret_key, secret);
    return keyring_key(KEYRING_API, 0, hash);
}

void fixture_passkey(struct fixture *fixture, const uint8_t key[33], const uint8_t *credential_id,
                     size_t credential_id_bytes)
{
    struct keyring_row entry = {
        .account_id = FIXTURE_ACCOUNT, .subaccount_pin = -1, .admin = 1, .sequence = 1
    };
    uint8_t hash[HASH_BYTES];
    hash_blake2b256(hash, credential_id, credential_id_bytes);
    entry.key = keyring_key(KEYRING_PASSKEY, FIXTURE_ACCOUNT, hash);
    memcpy(entry.public_key, key, sizeof entry.public_key);
    CHECK(keyring_add(fixture->keyring, &entry) == 0);
}

static void add_api_key(struct fixture *fixture, uint64_t account_id, uint8_t fill, int32_t pin,
                        uint8_t scope, char text[45])
{
    uint8_t hash[32];
    memset(fixture->api_secret, fill, 32);
    secret_hash(hash, fixture->config.secret_key, fixture->api_secret);
    add_key(fixture, account_id, KEYRING_API, hash, pin, scope);
    (void)base64_encode(text, fixture->api_secret, 32);
}

static void init_keys(struct fixture *fixture)
{
    uint8_t seed[32];
    for (unsigned i = 0; i < 32; i++)
        seed[i] = (uint8_t)i;
    char error[RELYING_PARTY_ERROR_BYTES];
    CHECK(signer_init() == 0 && p256_init() == 0 && second_path_init() == 0);
    CHECK(relying_party_read(&fixture->config.relying_party, "", "", true, error));
    signer_ed25519(&fixture->session, seed);
    memset(seed, 0x51, sizeof seed);
    signer_ed25519(&fixture->stranger, seed);
    memset(seed, 0x52, sizeof seed);
    signer_ed25519(&fixture->operator, seed);
    memset(seed, 0x53, sizeof seed);
    signer_ed25519(&fixture->oracle, seed);
    memset(fixture->master_secret, 0x11, 32);
    CHECK(signer_secp256k1_key(fixture->master_secret, fixture->master_key));
    static const uint8_t hash_key[16] = { 1, 2, 3 };
    CHECK(keyring_init(&fixture->keyring, 1024, hash_key) == 0);
    add_key(fixture, FIXTURE_ACCOUNT, KEYRING_SESSION, fixture->session.key, -1, 0);
    add_key(fixture, FIXTURE_ACCOUNT, KEYRING_MASTER, fixture->master_key, -1, 0);
    add_api_key(fixture, FIXTURE_ACCOUNT, 0x63, -1, 1, fixture->trading_api_key);
    add_api_key(fixture, FIXTURE_ACCOUNT, 0x64, 1, 1, fixture->pinned_trading_api_key);
    add_api_key(fixture, FIXTURE_OTHER, 0x65, -1, 0, fixture->other_api_key);
    add_api_key(fixture, FIXTURE_ACCOUNT, 0x61, 1, 0, fixture->pinned_api_key);
    add_api_key(fixture, FIXTURE_ACCOUNT, 0x62, -1, 0, fixture->api_key);
}

void fixture_init(struct fixture *fixture, bool simulated_clock, uint32_t ring_slots)
{
    memset(fixture, 0, sizeof *fixture);
    CHECK(ed25519_init(ED25519_LANES) == 0 && secp256k1_init() == 0);
    if (simulated_clock)
        clock_init_simulated(&fixture->clock, EPOCH_NS);
    else
        CHECK(clock_init(&fixture->clock) == 0);
    struct ring *rings[] = { &fixture->commands, &fixture->answers, &fixture->queries,
                             &fixture->replies };
    for (unsigned i = 0; i < CC_COUNT(rings); i++)
        init_ring(rings[i], ring_slots);
    fixture->memory = mmap(NULL, REPLY_POOL_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(fixture->memory != MAP_FAILED);
    reply_pool_init(&fixture->pool, fixture->memory);
    memset(fixture->config.secret_key, 0x77, 32);
    for (unsigned i = 0; i < 32; i++)
        fixture->config.exchange_id[i] = (uint8_t)i;
    memset(fixture->config.admin_token, '7', NET_ADMIN_TOKEN_BYTES);
    init_keys(fixture);
    init_options(fixture);
    eip712_init(&fixture->eip712, fixture->config.exchange_id);
    fixture->ready = true;
    fixture->config.listen = "127.0.0.1:0";
    CHECK(origin_list_read(&fixture->config.origins, "https://a.example,http://b.example:3000"));
    CHECK(host_list_add(&fixture->config.hosts, "x,a,localhost,127.0.0.1,[::1]"));
    fixture->config.admin_listen = "127.0.0.1:0";
    fixture->config.wake_file = -1;
    fixture->config.commands = &fixture->commands;
    fixture->config.answers = &fixture->answers;
    fixture->config.queries = &fixture->queries;
    fixture->config.replies = &fixture->replies;
    fixture->config.reply_pool = &fixture->pool;
    fixture->config.keyring = fixture->keyring;
    static const char btc[SYMBOL_BYTES] = "BTC-PERP", eth[SYMBOL_BYTES] = "ETH-PERP";
    symbols_add(&fixture->symbols, btc, 1);
    symbols_add(&fixture->symbols, eth, 2);
    fixture->config.symbols = &fixture->symbols;
    CHECK(event_log_init(&fixture->events) == 0 && book_board_init(&fixture->books) == 0);
    CHECK(book_log_init(&fixture->orders) == 0);
    const struct mix_key key = { 3, 5 };
    CHECK(address_claims_init(&fixture->connections_of, NET_CONNECTIONS_MAX, key) == 0);
    CHECK(address_claims_init(&fixture->streams_of, NET_CONNECTIONS_MAX, key) == 0);
    fixture->config.events = &fixture->events;
    CHECK(private_log_init(&fixture->private_log, FIXTURE_OTHER + 1) == 0);
    fixture->config.private_log = &fixture->private_log;
    fixture->config.books = &fixture->books;
    fixture->config.orders = &fixture->orders;
    fixture->config.connections_of = &fixture->connections_of;
    fixture->config.streams_of = &fixture->streams_of;
    fixture->config.connections = NET_CONNECTIONS_MAX;
    fixture->config.stream_connections = 2;
    fixture->config.stream_subscriptions = 256;
    fixture->config.stream_backlog = 1 << 20;
    fixture->config.clock = &fixture->clock;
    fixture->config.options = &fixture->options;
    fixture->config.source = (struct net_source){
        .context = fixture,
        .durable = source_durable,
        .applied = source_applied,
        .ready = source_ready,
        .facts = source_facts,
        .metrics = source_metrics,
    };
    fixture->config.hash_key = (struct mix_key){ 3, 5 };
    fixture->config.durability = "local";
    fixture->config.rules_version = 1;
    fixture->config.epoch = 1;
    fixture->config.credit_wait_ms = 2;
    fixture->config.output_pool_bytes = 8 << 20;
}

void fixture_free(struct fixture *fixture)
{
    keyring_free(fixture->keyring);
    free(fixture->commands.slots);
    free(fixture->answers.slots);
    free(fixture->queries.slots);
    free(fixture->replies.slots);
    event_log_free(&fixture->events);
    private_log_free(&fixture->private_log);
    book_board_free(&fixture->books);
    book_log_free(&fixture->orders);
    address_claims_free(&fixture->connections_of);
    address_claims_free(&fixture->streams_of);
    (void)munmap(fixture->memory, REPLY_POOL_BYTES);
}

void fixture_widen_commands(struct fixture *fixture, uint32_t slots)
{
    CHECK(ring_ready(&fixture->commands) == 0);
    free(fixture->commands.slots);
    init_ring(&fixture->commands, slots);
}

uint32_t fixture_match(struct fixture *fixture)
{
    uint64_t ready = ring_ready(&fixture->commands);
    uint64_t taken = 0;
    uint32_t count = 0;
    while (taken < ready) {
        const struct command *command = ring_at(&fixture->commands, taken);
        struct answer *answer = ring_claim(&fixture->answers, 1);
        CHECK(answer != NULL); /* credits: an answer always finds room */
        CHECK(command->slot_count >= 1 &&
              command_bytes(command) <= (uint32_t)command->slot_count * MESSAGE_SLOT_BYTES);
        memcpy(fixture->last_command, command, command_bytes(command));
        *answer = fixture->next_answer;
        answer->token = command->token;
        answer->code = command->code;
        answer->sequence = ++fixture->sequence;
        answer->release_sequence = fixture->sequence;
        answer->processed_at_ns = EPOCH_NS;
        answer->received_ticks = command->received_ticks;
        answer->verified_ticks = command->verified_ticks;
        answer->pushed_ticks = command->pushed_ticks;
        ring_publish(&fixture->answers);
        taken += command->slot_count;
        fixture->command_count++;
        count++;
    }
    if (taken > 0)
        ring_release(&fixture->commands, taken);
    if (!fixture->hold_durable) {
        fixture->durable = fixture->sequence;
        fixture->applied = fixture->sequence;
    }
    return count;
}

static uint32_t write_rows(uint16_t kind, uint8_t *out)
{
    CHECK(kind < QUERY_KIND_COUNT);
    if (canned_rows[kind].count != 0)
        memcpy(out, canned_rows[kind].bytes, canned_rows[kind].count);
    return canned_rows[kind].count;
}

static void repeat_order(struct fixture *fixture, struct reply *reply)
{
    uint8_t *rows = reply_pool_at(&fixture->pool, reply->buffer);
    for (; reply->row_count < fixture->order_rows; reply->row_count++) {
        memcpy(rows + reply->row_bytes, &order_row, sizeof order_row);
        reply->row_bytes += (uint32_t)sizeof order_row;
    }
}

/* The oldest trades of history that follow the query's seq, newest first: it has those of seq
 * 9000, 8998, .. */
static void write_trades(const struct fixture *fixture, const struct query *query,
                         struct reply *reply)
{
    uint8_t *rows = reply_pool_at(&fixture->pool, reply->buffer);
    struct row_trades list = trades_row;
    uint32_t newer = 0; /* that follow */
    while (newer < fixture->trade_rows && 9000 - 2 * newer > query->before_sequence)
        newer++;
    list.trade_count = newer < query->limit ? newer : query->limit;
    memcpy(rows, &list, sizeof list);
    for (uint32_t i = newer - list.trade_count; i < newer; i++) {
        uint64_t seq = 9000 - 2 * i;
        const struct row_trade row = {
            .price = 1, .size = 1, .trade_seq = seq, .seq = seq, .sequence = seq
        };
        memcpy(rows + reply->row_bytes, &row, sizeof row);
        reply->row_bytes += (uint32_t)sizeof row;
    }
    reply->more = newer > query->limit;
}

/* Whether the trades that the query asks for are kept. */
static bool has_lost_trades(const struct fixture *fixture, const struct query *query)
{
    uint64_t oldest = 9000 - 2 * (uint64_t)fixture->trade_rows + 2;
    return fixture->trades_lost || (fixture->trades_more && query->before_sequence < oldest);
}

/* Events as fixture_private makes them, of the page that the query asks for. */
static void write_privates(const struct fixture *fixture, const struct query *query,
                           struct reply *reply)
{
    uint8_t *rows = reply_pool_at(&fixture->pool, reply->buffer);
    uint64_t seq = query->before_sequence + 1;
    reply->row_count = 0;
    reply->row_bytes = 0;
    for (; seq >= fixture->private_from && seq <= fixture->private_to &&
           reply->row_count < query->limit;
         seq++) {
        struct private_event event = fixture_private(query->account_id, seq, 0);
        memcpy(rows + reply->row_bytes, &event, sizeof event);
        reply->row_bytes += (uint32_t)sizeof event;
        reply->row_count++;
    }
}

uint32_t fixture_follow(struct fixture *fixture)
{
    uint64_t ready = ring_ready(&fixture->queries);
    uint32_t count = 0;
    while (count < ready) {
        const struct query *query = ring_at(&fixture->queries, count);
        if (query->stamp > fixture->applied)
            break;
        struct reply *reply = ring_claim(&fixture->replies, 1);
        CHECK(reply != NULL);
        fixture->last_query = *query;
        *reply = (struct reply){ .token = query->token,
                                 .applied = fixture->applied,
                                 .time_ns = EPOCH_NS,
                                 .buffer = REPLY_NO_BUFFER,
                                 .problem = (uint16_t)fixture->next_problem,
                                 .row_count = 1,
                                 .cause = (uint8_t)fixture->next_cause,
                                 .kept_from = 4242,
                                 .rows_visited = fixture->next_visited,
                                 .kind = query->kind };
        if (reply->problem == PROBLEM_not_ready && reply->cause == REPLY_LAG)
            reply->lag_ms = 1400;
        bool is_private = query->kind == QUERY_private_events;
        bool is_there = query->before_sequence + 1 >= fixture->private_from &&
                        query->before_sequence < fixture->private_to;
        if (is_private && !is_there && !fixture->privates_coming) {
            reply->problem = PROBLEM_not_ready;
            reply->cause = REPLY_NOT_KEPT;
        }
        if (reply->problem == PROBLEM_none && !is_private && canned_rows[query->kind].bytes == NULL)
            reply->problem = PROBLEM_not_ready; /* a read that no test of net asks for */
        if (query->kind == QUERY_trades_after && has_lost_trades(fixture, query)) {
            reply->problem = PROBLEM_not_ready;
            reply->cause = REPLY_NOT_KEPT;
        } else if (query->kind == QUERY_trades_after && fixture->trades_stop != 0 &&
                   query->before_sequence >= fixture->trades_stop) {
            reply->problem = PROBLEM_not_ready;
            reply->cause = (uint8_t)fixture->trades_cause;
        }
        if (reply->problem == PROBLEM_none) {
            reply->buffer = reply_pool_alloc(&fixture->pool);
            if (reply->buffer == REPLY_NO_BUFFER)
                reply->problem = PROBLEM_not_ready;
            else
                reply->row_bytes =
                    write_rows(query->kind, reply_pool_at(&fixture->pool, reply->buffer));
            reply->row_count = reply->row_bytes != 0;
            if (query->kind == QUERY_orders && reply->row_bytes != 0)
                repeat_order(fixture, reply);
            if (query->kind == QUERY_trades_after && reply->row_bytes != 0)
                write_trades(fixture, query, reply);
            if (is_private && reply->problem == PROBLEM_none)
                write_privates(fixture, query, reply);
        }
        ring_publish(&fixture->replies);
        fixture->query_count++;
        count++;
    }
    if (count > 0)
        ring_release(&fixture->queries, count);
    return count;
}

void fixture_request_id(struct fixture *fixture, uint8_t id[16])
{
    uint8_t random[10] = { 0 };
    uint32_t number = ++fixture->request_number;
    memcpy(random, &number, sizeof number);
    struct uuid made = uuid_make_v7(clock_now_ns(&fixture->clock) / 1000000, random);
    memcpy(id, made.bytes, 16);
}

size_t fixture_payload(struct fixture *fixture, uint8_t *payload, uint16_t code, uint8_t type,
                       const void *body, size_t body_bytes)
{
    memset(payload, 0, 8);
    payload[0] = 1;
    payload[1] = type;
    cc_store16(payload + 2, code);
    fixture_request_id(fixture, payload + 8);
    memcpy(payload + 24, body, body_bytes);
    return 24 + body_bytes;
}

void fixture_sign(const struct fixture *fixture, uint8_t *frame, size_t count,
                  const struct signer_ed25519 *signer)
{
    uint8_t buffer[OPERATOR_MESSAGE_MAX];
    struct operator_message message =
        operator_message_of(buffer, fixture->config.exchange_id, frame, count);
    memcpy(frame + count, signer->key, 32);
    signer_ed25519_sign(signer, message.bytes, message.count, frame + count + 32);
}

size_t fixture_frame(struct fixture *fixture, uint8_t *frame, uint16_t code,
                     const struct signer_ed25519 *signer, const void *body, size_t body_bytes)
{
    size_t count = fixture_payload(fixture, frame, code, 0, body, body_bytes);
    fixture_sign(fixture, frame, count, signer);
    return count + 96;
}

size_t fixture_master_frame(struct fixture *fixture, uint8_t *frame, uint16_t code,
                            const uint8_t secret[32], const void *body, size_t body_bytes)
{
    struct eip712_hashes hashes;
    size_t count = fixture_payload(fixture, frame, code, 1, body, body_bytes);
    CHECK(signer_secp256k1_key(secret, frame + count));
    CHECK(eip712_hash(&fixture->eip712, frame, count, &hashes) == 0);
    CHECK(signer_secp256k1_sign(secret, hashes.digest, frame + count + 33));
    return count + 97;
}

size_t fixture_envelope(char *json, const uint8_t *frame, size_t frame_bytes)
{
    static char payload[6000];
    char key[64], signature[96];
    size_t tail = frame[1] == 0 ? 96 : 97;
    (void)base64_encode(payload, frame, frame_bytes - tail);
    (void)base64_encode(key, frame + frame_bytes - tail, tail - 64);
    (void)base64_encode(signature, frame + frame_bytes - 64, 64);
    int count = sprintf(json, "{\"payload\":\"%s\",\"signature\":\"%s\",\"public_key\":\"%s\"}",
                        payload, signature, key);
    return (size_t)count;
}

void fixture_order(uint8_t body[48])
{
    memset(body, 0, 48);
    cc_store64(body, FIXTURE_ACCOUNT);
    cc_store64(body + 16, 1000000);
    cc_store64(body + 24, (uint64_t)-50000);
    cc_store64(body + 32, UINT64_MAX);
    body[40] = 1;
    cc_store16(body + 44, 1);
}

size_t fixture_post(char *text, size_t capacity, const char *path, const char *media,
                    const void *body, size_t body_bytes)
{
    int count = snprintf(text, capacity,
                         "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n"
                         "Content-Length: %zu\r\n\r\n",
                         path, media, body_bytes);
    CHECK((size_t)count + body_bytes < capacity);
    memcpy(text + count, body, body_bytes);
    return (size_t)count + body_bytes;
}

size_t fixture_order_post(struct fixture *fixture, char *text, size_t capacity)
{
    uint8_t body[48], frame[512];
    fixture_order(body);
    size_t count = fixture_frame(fixture, frame, 0, &fixture->session, body, sizeof body);
    return fixture_post(text, capacity, "/api/v1/trading/order/place/limit",
                        "application/octet-stream", frame, count);
}
