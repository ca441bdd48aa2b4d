/* What a node of a cluster shows while it may be behind the others (replication.md, A node;
 * wire.md, W9): its status says so, its streams have no heartbeat and take no subscription that
 * would begin with what is old, and a key that it has never had is no wrong one. */
#include <stdio.h>

#include "check.h"
#include "crypto/secret.h"
#include "net/fixture.h"
#include "net/stream_wire.h"

enum { STALENESS_MS = 250 };

#define SECOND_NS UINT64_C(1000000000)

static struct fixture fixture;
static struct protocol *protocol;
static struct net_standing standing;
static bool is_fresh = true;

static bool cluster_leads(void *context, const char **leader)
{
    (void)context;
    *leader = NULL;
    return !standing.is_replica;
}

static bool cluster_is_fresh(void *context)
{
    (void)context;
    return standing.is_replica || is_fresh;
}

static void cluster_standing(void *context, struct net_standing *out)
{
    (void)context;
    *out = standing;
}

/* A node as net_source.c describes it: a standby of that age, or a leader. */
static void become(bool is_replica, uint64_t age_ns, bool leader_is_fresh)
{
    bool is_stale = is_replica ? age_ns > STALENESS_MS * UINT64_C(1000000) : !leader_is_fresh;

    standing = (struct net_standing){ 7, is_replica, age_ns };
    is_fresh = leader_is_fresh;
    fixture.facts = (struct net_facts){ .applied = 4720,
                                        .is_standby = is_replica,
                                        .is_stale = is_stale,
                                        .not_ready = (is_replica ? NET_NOT_ACCEPTING : 0u) |
                                                     (is_stale ? NET_NOT_FOLLOWER : 0u) };
}

static const struct row {
    int line;
    const char *name;
    bool is_replica;
    uint64_t age_ns;
    bool is_fresh;
    const char *state;
    bool is_stale;
} rows[] = {
    { __LINE__, "a leader", false, 0, true, "\"state\":\"ready\"", false },
    { __LINE__, "a standby", true, 250000000, false, "\"state\":\"ready\"", false },
    { __LINE__, "a standby cut off", true, 250000001, false, "\"state\":\"lagging\"", true },
    { __LINE__, "a leader past its deadline", false, 0, false, "\"state\":\"lagging\"", true },
};

static void turn_later(struct wire *stream, uint64_t by_ns)
{
    clock_advance(&fixture.clock, by_ns);
    for (unsigned i = 0; i < 4; i++)
        wire_turn(stream);
}

static void begin_all(struct wire *stream)
{
    char text[128];
    open_stream(stream, &fixture, protocol);
    ask(stream, "{\"op\":\"subscribe\",\"channel\":\"status\"}");
    ask(stream, "{\"op\":\"subscribe\",\"channel\":\"trades\",\"market\":\"BTC-PERP\"}");
    CHECK(has_come(stream, "\"channel\":\"trades\",\"market\":\"BTC-PERP\",\"seq\""));
    (void)snprintf(text, sizeof text, "{\"op\":\"login\",\"api_key\":\"%s\"}", fixture.api_key);
    ask(stream, text);
    ask(stream, "{\"op\":\"subscribe\",\"channel\":\"private\"}");
    CHECK(has_come(stream, "\"channel\":\"private\",\"seq\""));
}

/* Seconds of silence are no close: it goes on when it has caught up. */
static void no_heartbeat_while_stale(void)
{
    for (const struct row *row = rows; row < rows + CC_COUNT(rows); row++) {
        struct wire stream;
        become(false, 0, true);
        begin_all(&stream);
        turn_later(&stream, 5 * SECOND_NS);
        CHECK_ROW(row, has_come(&stream, "\"type\":\"heartbeat\""));
        CHECK_ROW(row, has_come(&stream, "\"type\":\"heartbeat\""));
        become(row->is_replica, row->age_ns, row->is_fresh);
        turn_later(&stream, SECOND_NS / 4);
        CHECK_ROW(row, !row->is_stale || has_come(&stream, row->state));
        turn_later(&stream, 5 * SECOND_NS);
        CHECK_ROW(row, has_come(&stream, row->state)); /* that of each 5 s */
        turn_later(&stream, SECOND_NS);
        stream.read = 0;
        for (unsigned i = 0; i < 2; i++) /* those of before */
            CHECK_ROW(row, has_come(&stream, "\"type\":\"heartbeat\""));
        CHECK_ROW(row, has_come(&stream, "\"type\":\"heartbeat\"") == !row->is_stale);
        CHECK_ROW(row, stream.conn != NULL);
        stream.read = stream.count;
        become(false, 0, true);
        turn_later(&stream, row->is_stale ? SECOND_NS / 4 : 5 * SECOND_NS);
        CHECK_ROW(row, has_come(&stream, "\"type\":\"heartbeat\""));
        CHECK_ROW(row, has_come(&stream, "\"type\":\"heartbeat\""));
        wire_free(&stream);
    }
}

static void nothing_old_begins(void)
{
    static const char *const ops[] = {
        "{\"op\":\"subscribe\",\"channel\":\"book\",\"market\":\"BTC-PERP\"}",
        "{\"op\":\"resume\",\"channel\":\"trades\",\"market\":\"BTC-PERP\",\"from_seq\":1}",
        "{\"op\":\"subscribe\",\"channel\":\"private\"}",
        "{\"op\":\"resume\",\"channel\":\"private\",\"from_seq\":0}",
    };
    for (const struct row *row = rows; row < rows + CC_COUNT(rows); row++)
        for (size_t i = 0; i < CC_COUNT(ops); i++) {
            struct wire stream;
            become(false, 0, true);
            begin_all(&stream);
            become(row->is_replica, row->age_ns, row->is_fresh);
            stream.read = stream.count;
            ask(&stream, ops[i]);
            CHECK_ROW(row, has_come(&stream, "\"code\":\"not_ready\"") == row->is_stale);
            if (row->is_stale && row->is_replica)
                CHECK_ROW(row, has_come(&stream, "\"lag_ms\":251"));
            ask(&stream, "{\"op\":\"unsubscribe\",\"channel\":\"trades\",\"market\":\"BTC-PERP\"}");
            CHECK_ROW(row, has_come(&stream, "{\"op\":\"unsubscribe\",\"channel\":\"trades\""));
            ask(&stream, "{\"op\":\"subscribe\",\"channel\":\"status\"}");
            CHECK_ROW(row, has_come(&stream, row->state));
            wire_free(&stream);
        }
}

static int get_account(const char *api_key, const char *part)
{
    struct wire wire;
    struct wire_answer answer;
    char text[256];
    int count =
        snprintf(text, sizeof text,
                 "GET /api/v1/account HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\n\r\n", api_key);
    wire_open(&wire, &fixture, protocol, false);
    wire_send(&wire, text, (size_t)count, 0);
    CHECK(wire_answer(&wire, &answer, false));
    CHECK(wire_has(&answer, part) &&
          (answer.status == 503) == (strstr(answer.head, "Retry-After: 1\r\n") != NULL));
    wire_free(&wire);
    return answer.status;
}

/* What a login with the key is answered. */
static bool login_says(const char *api_key, const char *part)
{
    struct wire stream;
    char text[128];
    open_stream(&stream, &fixture, protocol);
    (void)snprintf(text, sizeof text, "{\"op\":\"login\",\"api_key\":\"%s\"}", api_key);
    ask(&stream, text);
    bool is_said = has_come(&stream, part);
    wire_free(&stream);
    return is_said;
}

static void a_new_key_is_not_refused(void)
{
    static const char new_key[] = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=";
    uint8_t hash[32];

    become(false, 0, true);
    CHECK(get_account(new_key, "\"invalid_api_key\"") == 401);
    CHECK(login_says(new_key, "\"invalid_api_key\""));
    become(true, 1, false);
    CHECK(get_account(new_key, "\"not_ready\"") == 503);
    CHECK(login_says(new_key, "\"not_ready\""));
    CHECK(get_account("short", "\"invalid_api_key\"") == 401); /* no node has it */
    CHECK(login_says("short", "\"invalid_api_key\""));
    secret_hash(hash, fixture.config.secret_key, fixture.api_secret);
    const struct keyring_key key = keyring_key(KEYRING_API, 0, hash);
    CHECK(keyring_end(fixture.keyring, &key, 4720));
    CHECK(get_account(fixture.api_key, "\"invalid_api_key\"") == 401); /* it knows that it ended */
    CHECK(login_says(fixture.api_key, "\"invalid_api_key\""));
}

int main(void)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    protocol = fixture_protocol(&fixture, 64);
    fixture.applied = fixture.durable = fixture.sequence = 4720;
    protocol->config.staleness_ms = STALENESS_MS;
    protocol->config.source.leads = cluster_leads;
    protocol->config.source.is_fresh = cluster_is_fresh;
    protocol->config.source.standing = cluster_standing;
    no_heartbeat_while_stale();
    nothing_old_begins();
    a_new_key_is_not_refused();
    fixture_end(&fixture, protocol);
    return 0;
}
