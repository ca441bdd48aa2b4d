/* Queries of reads: each parameter's bounds and defaults, pins, credentials, what a problem of the
 * follower says (interface.md Reads; wire.md W7, W10; json.md J1 Paging, J6, J8). */
#include <stdio.h>

#include "check.h"
#include "net/fixture.h"

static struct fixture fixture;
static struct protocol *protocol;
static char head[1024], body[262144];

/* GETs a target, with an API key or NULL. Gives the status. */
static int get(const char *target, const char *key)
{
    char text[2048];
    struct wire wire;
    struct wire_answer answer;
    int count = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: x\r\n%s%s%s\r\n", target,
                         key == NULL                       ? ""
                         : strncmp(key, "Bearer ", 7) == 0 ? "Authorization: "
                                                           : "X-API-KEY: ",
                         key != NULL ? key : "", key != NULL ? "\r\n" : "");
    wire_open(&wire, &fixture, protocol, false);
    wire_send(&wire, text, (size_t)count, 0);
    CHECK(wire_answer(&wire, &answer, false));
    strcpy(head, answer.head);
    memcpy(body, answer.body, answer.body_bytes);
    body[answer.body_bytes] = '\0';
    wire_free(&wire);
    return answer.status;
}

enum { KEY_NONE, KEY_WHOLE, KEY_PINNED };

static const char *key_of(int key)
{
    return key == KEY_NONE ? NULL : key == KEY_WHOLE ? fixture.api_key : fixture.pinned_api_key;
}

#define ALL  "/api/v1/orders"
#define FILL "/api/v1/fills?subaccount_index=0"
#define LONG "AAAAAAAAAAAAAAAABBBBBBBBBBBBBBBBCCCCCCCCCCCCCCCCDDDDDDDDDDDDDDDD"
#define POS  "/api/v1/positions"
#define LAST "/api/v1/markets/BTC-PERP/trades"
#define A32  "AAAAAAAAAAAAAAAAAAAAAAAAAAA-PERP"

/* What is refused, and how it names itself. */
static const struct {
    int line;
    const char *name, *target;
    int key, status;
    const char *code, *part;
} refusals[] = {
#define R(name, target, key, status, code, part)        \
    {                                                   \
        __LINE__, name, target, key, status, code, part \
    }
    R("limit 0", ALL "?limit=0", KEY_WHOLE, 400, "invalid_parameter",
      "\"detail\":\"limit must be 1 to 1000\",\"parameter\":\"limit\"}"),
    R("limit 0 of positions", POS "?limit=0", KEY_WHOLE, 400, "invalid_parameter", "\"limit\"}"),
    R("limit 1001", ALL "?limit=1001", KEY_WHOLE, 400, "invalid_parameter", "\"limit\"}"),
    R("limit empty", ALL "?limit=", KEY_WHOLE, 400, "invalid_parameter", "\"limit\"}"),
    R("limit signed", ALL "?limit=-1", KEY_WHOLE, 400, "invalid_parameter", "\"limit\"}"),
    R("limit plus", ALL "?limit=%2B1", KEY_WHOLE, 400, "invalid_parameter", "\"limit\"}"),
    R("limit decimal", FILL "&limit=1.0", KEY_WHOLE, 400, "invalid_parameter", "\"limit\"}"),
    R("limit twice", FILL "&limit=1&limit=2", KEY_WHOLE, 400, "invalid_parameter", "\"limit\"}"),
    R("limit of trades", LAST "?limit=1001", KEY_NONE, 400, "invalid_parameter", "\"limit\"}"),
    R("offset beyond 64 bits", ALL "?offset=18446744073709551616", KEY_WHOLE, 400,
      "invalid_parameter", "\"offset\"}"),
    R("offset signed", FILL "&offset=-1", KEY_WHOLE, 400, "invalid_parameter", "\"offset\"}"),
    R("offset word", LAST "?offset=x", KEY_NONE, 400, "invalid_parameter", "\"offset\"}"),
    R("before_sequence", ALL "?before_sequence=x", KEY_WHOLE, 400, "invalid_parameter",
      "\"before_sequence\"}"),
    R("before_index", LAST "?before_sequence=1&before_index=-1", KEY_NONE, 400, "invalid_parameter",
      "\"before_index\"}"),
    R("subaccount_index beyond int32", ALL "?subaccount_index=2147483648", KEY_WHOLE, 400,
      "invalid_parameter", "\"subaccount_index\"}"),
    R("portfolio_index beyond int32", ALL "?portfolio_index=2147483648", KEY_WHOLE, 400,
      "invalid_parameter", "\"portfolio_index\"}"),
    R("portfolio_index signed", POS "?portfolio_index=-1", KEY_WHOLE, 400, "invalid_parameter",
      "\"portfolio_index\"}"),
    R("fills of no subaccount", "/api/v1/fills", KEY_WHOLE, 400, "invalid_parameter",
      "\"detail\":\"subaccount_index is missing\",\"parameter\":\"subaccount_index\"}"),
    R("status in lower case", ALL "?status=open", KEY_WHOLE, 400, "invalid_parameter",
      "\"parameter\":\"status\"}"),
    R("status empty", ALL "?status=", KEY_WHOLE, 400, "invalid_parameter", "\"status\"}"),
    R("status twice", ALL "?status=OPEN&status=OPEN", KEY_WHOLE, 400, "invalid_parameter",
      "\"status\"}"),
    R("market empty", POS "?market=", KEY_WHOLE, 400, "invalid_market", "no such market"),
    R("market of 320 letters", POS "?market=" LONG LONG LONG LONG LONG, KEY_WHOLE, 400,
      "invalid_market", "no such market"),
    R("market of 33 bytes", POS "?market=A" A32, KEY_WHOLE, 400, "invalid_market",
      "no such market"),
    R("market of 33 bytes in orders", ALL "?market=A" A32, KEY_WHOLE, 400, "invalid_market",
      "no such market"),
    R("market twice", ALL "?market=A&market=A", KEY_WHOLE, 400, "invalid_parameter",
      "\"parameter\":\"market\"}"),
    R("market of 33 bytes in a path", "/api/v1/markets/A" A32 "/trades", KEY_NONE, 404, "not_found",
      "no such market"),
    R("request id", "/api/v1/requests/0198c0de", KEY_WHOLE, 400, "invalid_parameter",
      "\"parameter\":\"id\"}"),
    /* W7: another subaccount than the pinned key's. */
    R("pin, orders", ALL "?subaccount_index=0", KEY_PINNED, 403, "subaccount_not_permitted",
      "pinned to subaccount 1"),
    R("pin, fills", FILL, KEY_PINNED, 403, "subaccount_not_permitted", "pinned to subaccount 1"),
    R("pin, positions", POS "?subaccount_index=2", KEY_PINNED, 403, "subaccount_not_permitted",
      "pinned to subaccount 1"),
    /* W10: missing or invalid on any X-API-KEY endpoint. */
    R("key, orders", ALL "?limit=0", KEY_NONE, 401, "invalid_api_key", "X-API-KEY is missing"),
    R("key, fills", FILL, KEY_NONE, 401, "invalid_api_key", "X-API-KEY is missing"),
    R("key, positions", POS, KEY_NONE, 401, "invalid_api_key", "X-API-KEY is missing"),
    R("key, subaccounts", "/api/v1/subaccounts", KEY_NONE, 401, "invalid_api_key", "missing"),
    R("key, balances", "/api/v1/portfolio/cash_balances", KEY_NONE, 401, "invalid_api_key",
      "missing"),
    R("key, request", "/api/v1/requests/x", KEY_NONE, 401, "invalid_api_key", "missing"),
};

static void bad_values_are_refused(void)
{
    for (size_t i = 0; i < CC_COUNT(refusals); i++) {
        char want[64];
        uint32_t queries = fixture.query_count;
        int status = get(refusals[i].target, key_of(refusals[i].key));
        if (status != refusals[i].status || strstr(body, refusals[i].part) == NULL)
            fprintf(stderr, "%d %s\n", status, body);
        CHECK_ROW(&refusals[i], status == refusals[i].status);
        (void)snprintf(want, sizeof want, "\"code\":\"%s\"", refusals[i].code);
        CHECK_ROW(&refusals[i], strstr(body, want) != NULL);
        CHECK_ROW(&refusals[i], strstr(body, refusals[i].part) != NULL);
        CHECK_ROW(&refusals[i], fixture.query_count == queries);
    }
}

#define ANY QUERY_ANY_INDEX

/* What the follower is asked. */
static const struct {
    int line;
    const char *name, *target;
    int key;
    struct query want;
} questions[] = {
#define Q(name, target, key, ...)                \
    {                                            \
        __LINE__, name, target, key, __VA_ARGS__ \
    }
    Q("orders", ALL, KEY_WHOLE,
      { .kind = QUERY_orders,
        .subaccount_index = ANY,
        .portfolio_index = ANY,
        .limit = 100,
        .status = QUERY_ANY_STATUS,
        .pin = -1 }),
    Q("orders, everything",
      ALL "?limit=1000&offset=18446744073709551615&subaccount_index=2147483647&"
          "portfolio_index=2147483647&market=" A32 "&status=PARTIALLY_FILLED&"
          "before_sequence=18446744073709551615&before_index=4294967294&unknown=1&unknown=2",
      KEY_WHOLE,
      { .kind = QUERY_orders,
        .subaccount_index = INT32_MAX,
        .portfolio_index = INT32_MAX,
        .limit = 1000,
        .offset = UINT64_MAX,
        .status = 5,
        .pin = -1,
        .market = A32,
        .before_sequence = UINT64_MAX,
        .before_index = UINT32_MAX - 1 }),
    Q("orders of a pinned key", ALL "?limit=1&subaccount_index=1&status=OPEN", KEY_PINNED,
      { .kind = QUERY_orders,
        .subaccount_index = 1,
        .portfolio_index = ANY,
        .limit = 1,
        .status = 0,
        .pin = 1 }),
    Q("the pin alone", ALL "?status=EXPIRED", KEY_PINNED,
      { .kind = QUERY_orders,
        .subaccount_index = ANY,
        .portfolio_index = ANY,
        .limit = 100,
        .status = 6,
        .pin = 1 }),
    Q("before an index alone", ALL "?before_index=0", KEY_WHOLE,
      { .kind = QUERY_orders,
        .subaccount_index = ANY,
        .portfolio_index = ANY,
        .limit = 100,
        .status = QUERY_ANY_STATUS,
        .pin = -1 }),
    Q("an index that no row has", LAST "?before_sequence=7&before_index=18446744073709551615",
      KEY_NONE,
      { .kind = QUERY_trades,
        .subaccount_index = ANY,
        .portfolio_index = ANY,
        .limit = 100,
        .status = QUERY_ANY_STATUS,
        .pin = -1,
        .market = "BTC-PERP",
        .before_sequence = 7,
        .before_index = UINT32_MAX }),
    /* Rows lower than (0, k): there are none, as there are none lower than (1, 0). */
    Q("before the first", FILL "&before_sequence=0&before_index=9", KEY_WHOLE,
      { .kind = QUERY_fills,
        .portfolio_index = ANY,
        .limit = 100,
        .status = QUERY_ANY_STATUS,
        .pin = -1,
        .before_sequence = 1 }),
    Q("fills", FILL "&portfolio_index=3&limit=2&offset=4", KEY_WHOLE,
      { .kind = QUERY_fills,
        .portfolio_index = 3,
        .limit = 2,
        .offset = 4,
        .status = QUERY_ANY_STATUS,
        .pin = -1 }),
    Q("positions", POS "?portfolio_index=0&market=BTC%2dPERP", KEY_WHOLE,
      { .kind = QUERY_positions,
        .subaccount_index = ANY,
        .status = QUERY_ANY_STATUS,
        .pin = -1,
        .market = "BTC-PERP" }),
    Q("positions have no status", POS "?status=x", KEY_PINNED,
      { .kind = QUERY_positions,
        .subaccount_index = ANY,
        .portfolio_index = ANY,
        .status = QUERY_ANY_STATUS,
        .pin = 1 }),
    Q("a part of the positions", POS "?limit=2&offset=3", KEY_PINNED,
      { .kind = QUERY_positions,
        .subaccount_index = ANY,
        .portfolio_index = ANY,
        .status = QUERY_ANY_STATUS,
        .limit = 2,
        .offset = 3,
        .pin = 1 }),
    Q("balances", "/api/v1/portfolio/cash_balances?subaccount=x", KEY_PINNED,
      { .kind = QUERY_balances,
        .subaccount_index = ANY,
        .portfolio_index = ANY,
        .status = QUERY_ANY_STATUS,
        .pin = 1 }),
    Q("balances of a part", "/api/v1/portfolio/cash_balances?subaccount_index=1&portfolio_index=7",
      KEY_PINNED,
      { .kind = QUERY_balances,
        .subaccount_index = 1,
        .portfolio_index = 7,
        .status = QUERY_ANY_STATUS,
        .pin = 1 }),
    Q("subaccounts", "/api/v1/subaccounts", KEY_WHOLE,
      { .kind = QUERY_subaccounts,
        .subaccount_index = ANY,
        .portfolio_index = ANY,
        .status = QUERY_ANY_STATUS,
        .pin = -1 }),
    Q("request", "/api/v1/requests/0198C0DE-0000-7000-8000-0000000000A1", KEY_PINNED,
      { .kind = QUERY_request,
        .subaccount_index = ANY,
        .portfolio_index = ANY,
        .status = QUERY_ANY_STATUS,
        .pin = 1,
        .id = { 0x01, 0x98, 0xc0, 0xde, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xa1 } }),
    Q("trades", LAST "?limit=5&offset=2", KEY_NONE,
      { .kind = QUERY_trades,
        .subaccount_index = ANY,
        .portfolio_index = ANY,
        .limit = 5,
        .offset = 2,
        .status = QUERY_ANY_STATUS,
        .pin = -1,
        .market = "BTC-PERP" }),
};

static void good_values_are_asked(void)
{
    for (size_t i = 0; i < CC_COUNT(questions); i++) {
        struct query want = questions[i].want;
        uint32_t queries = fixture.query_count;
        CHECK_ROW(&questions[i], get(questions[i].target, key_of(questions[i].key)) == 200);
        CHECK_ROW(&questions[i], fixture.query_count == queries + 1);
        CHECK_ROW(&questions[i], strstr(head, "\r\nX-Sequence: 4720\r\n") != NULL);
        struct query asked = fixture.last_query;
        asked.token = asked.stamp = asked.received_ticks = 0;
        if (questions[i].key != KEY_NONE)
            want.account_id = FIXTURE_ACCOUNT;
        CHECK_ROW(&questions[i], memcmp(&asked, &want, sizeof want) == 0);
    }
}

/* J1: what the interface calls a list is a bare array, also an empty one. */
static void lists_are_bare(void)
{
    CHECK(get(FILL, fixture.api_key) == 200 && strcmp(body, "[]") == 0);
    CHECK(get(POS, fixture.api_key) == 200 && strcmp(body, "[]") == 0);
    CHECK(get(ALL, fixture.api_key) == 200 && strncmp(body, "[{\"account_id\":7,", 17) == 0);
    CHECK(get("/api/v1/subaccounts", fixture.api_key) == 200);
    CHECK(strcmp(body, "[{\"subaccount_index\":0,\"status\":\"ACTIVE\",\"portfolio_count\":1,"
                       "\"cash_balance\":\"0\"}]") == 0);
    CHECK(get(LAST, NULL) == 200);
    CHECK(strcmp(body, "{\"market\":\"BTC-PERP\",\"seq\":9001,\"trades\":[],"
                       "\"next_before_sequence\":null,\"next_before_index\":null}") == 0);
}

#define PAIRING "/api/v1/device-pairing/0198c0de-0000-7000-8000-0000000000b1/result"
#define BEARER  "Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
static void problems_of_the_follower(void)
{
    static const struct {
        int line;
        const char *name, *target;
        enum problem problem;
        enum reply_cause cause;
        int status;
        const char *part;
    } rows[] = {
        { __LINE__, "market of a filter", POS "?market=NO-PERP", PROBLEM_invalid_market, 0, 400,
          "\"code\":\"invalid_market\",\"detail\":\"no such market\"}" },
        { __LINE__, "list too long", "/api/v1/subaccounts", PROBLEM_invalid_parameter, 0, 400,
          "\"parameter\":\"subaccount_index\"" },
        { __LINE__, "account", "/api/v1/account", PROBLEM_account_not_found, 0, 404,
          "\"code\":\"account_not_found\"" },
        { __LINE__, "market of a path", LAST, PROBLEM_not_found, 0, 404,
          "\"code\":\"not_found\",\"detail\":\"no such market\"}" },
        { __LINE__, "request", "/api/v1/requests/0198c0de-0000-7000-8000-0000000000a1",
          PROBLEM_request_not_found, 0, 404, "\"code\":\"request_not_found\"" },
        { __LINE__, "pairing", PAIRING, PROBLEM_pairing_expired, 0, 410,
          "\"code\":\"pairing_expired\",\"detail\":\"a pairing lives 120 seconds: open "
          "another\"}" },
        { __LINE__, "lag", ALL, PROBLEM_not_ready, REPLY_LAG, 503,
          "\"code\":\"not_ready\",\"detail\":\"reads lag 1400 ms behind\",\"lag_ms\":1400}" },
        { __LINE__, "not kept", ALL, PROBLEM_not_ready, REPLY_NOT_KEPT, 503,
          "\"code\":\"not_ready\",\"detail\":\"the answer needs older rows than those kept in "
          "memory, which begin with sequence 4242\"}" },
        { __LINE__, "no buffer", ALL, PROBLEM_not_ready, REPLY_POOL_EMPTY, 503,
          "\"detail\":\"too many reads are being answered at the moment\"}" },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        fixture.next_problem = rows[i].problem;
        fixture.next_cause = rows[i].cause;
        bool is_pairing = strcmp(rows[i].target, PAIRING) == 0;
        CHECK_ROW(&rows[i],
                  get(rows[i].target, is_pairing ? BEARER : fixture.api_key) == rows[i].status);
        CHECK_ROW(&rows[i], strstr(body, rows[i].part) != NULL);
        CHECK_ROW(&rows[i], strstr(head, "\r\nX-Sequence: 4720\r\n") != NULL);
    }
    fixture.next_problem = PROBLEM_none;
}

/* J6, J9: the status channel's data. */
static void status_says_what_is(void)
{
    fixture.facts =
        (struct net_facts){ .durable = 4721, .applied = 4720, .lag_ms = 3, .history_from = 5 };
    CHECK(get("/api/v1/status", NULL) == 200);
    CHECK(strcmp(body, "{\"state\":\"ready\",\"applied\":4720,\"durable\":4721,\"lag_ms\":3,"
                       "\"history_from_sequence\":5}") == 0);
    CHECK(strstr(head, "\r\nX-Sequence: 4720\r\n") != NULL);
    fixture.facts.fund_deficit = fixture.facts.profits_wait = true;
    CHECK(get("/api/v1/status", NULL) == 200);
    CHECK(strstr(body,
                 ",\"history_from_sequence\":5,\"insurance_fund_deficit\":true,\"text\":\"profits "
                 "are paid "
                 "again when the insurance fund is whole; deposits can be withdrawn\"}") != NULL);
    fixture.facts.fund_deficit = fixture.facts.profits_wait = false;
    fixture.facts.maintenance_ns = 1755582431950112233;
    CHECK(get("/api/v1/status", NULL) == 200);
    CHECK(strncmp(body, "{\"state\":\"ready\",", 17) == 0);
    CHECK(strstr(body, ",\"history_from_sequence\":5,\"maintenance_at_ns\":1755582431950112233}"));
    fixture.facts.maintains = true;
    CHECK(get("/api/v1/status", NULL) == 200);
    CHECK(strncmp(body, "{\"state\":\"maintenance\",", 23) == 0);
    fixture.facts.not_ready = NET_NOT_FOLLOWER;
    CHECK(get("/api/v1/status", NULL) == 200);
    CHECK(strncmp(body, "{\"state\":\"lagging\",", 19) == 0);
    fixture.facts.not_ready = NET_NOT_FOLLOWER | NET_NOT_ACCEPTING;
    CHECK(get("/api/v1/status", NULL) == 200);
    CHECK(strncmp(body, "{\"state\":\"draining\",", 20) == 0);
    fixture.facts.not_ready = 0;
    fixture.ready = false;
    CHECK(get("/api/v1/status", NULL) == 503);
    CHECK(strstr(body, "\"code\":\"not_ready\",\"detail\":\"the service is recovering\"") != NULL);
    fixture.ready = true;
}

/* J6: the limits of /exchange, and no member of a bucket that is not there (W8). */
static void limits_are_those_of_exchange(void)
{
    CHECK(get("/api/v1/limits", NULL) == 200);
    CHECK(strncmp(body, "{\"limits\":{", 11) == 0);
    CHECK(strstr(body, "},\"rate_limits\":false}") != NULL && strstr(body, "remaining") == NULL);
    size_t limits_bytes = (size_t)(strstr(body, "},\"rate_limits\"") - body) - 1;
    char limits[4096];
    memcpy(limits, body + 1, limits_bytes);
    limits[limits_bytes] = '\0';
    CHECK(strstr(limits, "\"open_orders\":2000") != NULL);
    CHECK(get("/api/v1/limits", fixture.api_key) == 200);
    CHECK(strncmp(body + 1, limits, limits_bytes) == 0);
    CHECK(strncmp(body + 1 + limits_bytes, "},\"rate_limits\":false,\"slots\":{\"class\":\"", 40) ==
          0);
    CHECK(get("/api/v1/limits", "AAAA") == 401);
    CHECK(strstr(body, "\"code\":\"invalid_api_key\"") != NULL);
    CHECK(get("/api/v1/exchange", NULL) == 200 && strstr(body, limits) != NULL);
    /* R6: the ladder of volumes. */
    CHECK(strstr(body, "\"fee_tiers\":[{\"tier\":0,\"volume_14d\":\"0\"},"
                       "{\"tier\":1,\"volume_14d\":\"5000000\"},"
                       "{\"tier\":2,\"volume_14d\":\"25000000\"},"
                       "{\"tier\":3,\"volume_14d\":\"100000000\"},"
                       "{\"tier\":4,\"volume_14d\":\"500000000\"},"
                       "{\"tier\":5,\"volume_14d\":\"2000000000\"}]") != NULL);
    fixture.ready = false; /* no key is known yet: 503, not 401 */
    CHECK(get("/api/v1/limits", fixture.api_key) == 503);
    CHECK(get("/api/v1/limits", NULL) == 200);
    CHECK(get(ALL, fixture.api_key) == 503);
    fixture.ready = true;
}

/* roles.md, Flow control: nothing is stalled but the one at fault. Whoever sends many reads
 * behind one that takes long is not asked for all of them: their replies would keep the 64 buffers
 * until the first is there. A read with nothing in front of it is asked at once. */
static void few_overtake(void)
{
    enum { READS = 60, BEHIND = 16, WIRES = 3 };
    static const char one[] =
        "GET /api/v1/markets/BTC-PERP/book?depth=1 HTTP/1.1\r\nHost: x\r\n\r\n";
    static char text[READS * sizeof one];
    struct wire wires[WIRES];
    struct wire_answer answer;
    uint32_t before = fixture.query_count;
    size_t count = 0;
    for (unsigned i = 0; i < READS; i++) {
        memcpy(text + count, one, sizeof one - 1);
        count += sizeof one - 1;
    }
    fixture.hold_durable = true; /* the follower answers nothing yet */
    fixture.applied = fixture.durable - 1;
    for (unsigned i = 0; i < WIRES; i++) {
        wire_open(&wires[i], &fixture, protocol, false);
        wire_send(&wires[i], text, count, 0);
    }
    for (unsigned turn = 0; turn < 2 * READS; turn++)
        wire_turn(&wires[turn % WIRES]);
    CHECK(fixture.query_count == before && protocol->pipeline.reads.queries_out == WIRES + BEHIND);
    wire_free(&wires[0]); /* its replies are still to come */
    CHECK(protocol->pipeline.reads.queries_out == WIRES + BEHIND &&
          protocol->context.pendings.pipelined == BEHIND);
    fixture.applied = fixture.durable;
    fixture.hold_durable = false;
    for (unsigned turn = 0; turn < 2 * WIRES * READS; turn++)
        wire_turn(&wires[1 + turn % (WIRES - 1)]);
    for (unsigned i = 1; i < WIRES; i++) {
        for (unsigned k = 0; k < READS; k++)
            CHECK(wire_answer(&wires[i], &answer, false) && answer.status == 200);
        wire_free(&wires[i]);
    }
    CHECK(fixture.query_count == before + (WIRES - 1) * READS + 1 + BEHIND);
    CHECK(protocol->pipeline.reads.queries_out == 0 && protocol->context.pendings.pipelined == 0 &&
          protocol->context.pendings.used == 0);
}

int main(void)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    protocol = fixture_protocol(&fixture, 64);
    fixture.applied = fixture.durable = fixture.sequence = 4720;
    bad_values_are_refused();
    good_values_are_asked();
    lists_are_bare();
    problems_of_the_follower();
    status_says_what_is();
    limits_are_those_of_exchange();
    few_overtake();
    CHECK(protocol->context.pendings.used == 0 && protocol->context.conns.open_count == 0);
    CHECK(fixture.pool.free == UINT64_MAX);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
    return 0;
}
