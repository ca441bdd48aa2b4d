/* Reads, byte for byte against the examples of json.md J2, J6 and J7, and the pages of the admin
 * listener. */
#include <jansson.h>
#include <stdio.h>

#include "check.h"
#include "net/fixture.h"

static struct fixture fixture;
static struct protocol *protocol;

/* GETs a path, with an API key or NULL; the body ends up in `body`. Gives the status. */
static int get(const char *path, const char *key, bool admin, char *head, char *body)
{
    char text[1024];
    struct wire wire;
    struct wire_answer answer;
    int count = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: x\r\n%s%s%s%s\r\n", path,
                         key != NULL ? "X-API-KEY: " : "", key != NULL ? key : "",
                         key != NULL ? "\r\n" : "", admin ? FIXTURE_TOKEN : "");
    wire_open(&wire, &fixture, protocol, admin);
    wire_send(&wire, text, (size_t)count, 0);
    CHECK(wire_answer(&wire, &answer, false));
    strcpy(head, answer.head);
    memcpy(body, answer.body, answer.body_bytes);
    body[answer.body_bytes] = '\0';
    wire_free(&wire);
    return answer.status;
}

#define ORDER_ID    "0198c0de-0000-7000-8000-0000000000a1"
#define SLOT(TABLE) "{\"table\":\"" TABLE "\",\"used\":0,\"bound\":0}"

static const struct {
    int line;
    const char *name, *path;
    bool with_key;
    const char *body;
} rows[] = {
    { __LINE__, "order", "/api/v1/orders/" ORDER_ID, true,
      "{\"account_id\":7,\"subaccount_index\":0,\"portfolio_index\":0,\"id\":\"" ORDER_ID "\","
      "\"initial_size\":\"0.5\",\"remaining_size\":\"0.2\",\"market\":\"BTC-PERP\","
      "\"order_status\":\"PARTIALLY_FILLED\",\"order_type\":\"LIMIT\",\"side\":\"SHORT\","
      "\"time_in_force\":\"GTC\",\"post_only\":false,\"reduce_only\":false,\"expires_at\":null,"
      "\"price\":\"100000\",\"filled_size\":\"0.3\",\"average_price\":\"100000\","
      "\"stp\":\"EXPIRE_TAKER\",\"trigger_price\":null,\"trigger_source\":null,\"oco_group\":null,"
      "\"sequence\":4711,\"index\":0,\"time\":1755582431240,\"time_ns\":1755582431240112233,"
      "\"updated_at_ns\":1755582431900112233,\"book_handle\":8990}" },
    { __LINE__, "balance", "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0", true,
      "{\"account_id\":7,\"subaccount_index\":0,\"portfolio_index\":0,\"cash_balance\":\"7495.75\","
      "\"name\":\"Main\",\"status\":\"ACTIVE\",\"equity\":\"9998.5\","
      "\"initial_margin\":\"2499.75\",\"maintenance_margin\":\"299.97\","
      "\"withdrawable\":\"7495.75\",\"withdrawable_now\":\"7495\"}" },
    /* clang-format off */
    { __LINE__, "account", "/api/v1/account", true,
      "{\"account_id\":7,\"status\":\"ACTIVE\",\"fee_tier\":0,\"maker_fee_rate\":\"0.00015\","
      "\"taker_fee_rate\":\"0.00045\",\"volume_14d\":\"1.5\",\"label\":\"desk \\\"A\\\"\","
      "\"subaccount_count\":1,\"slots\":{\"class\":\"unfunded\",\"tables\":["
      SLOT("accounts") ","
      SLOT("subaccounts") ","
      SLOT("portfolios") ","
      SLOT("orders") ","
      SLOT("conditionals") ","
      SLOT("positions") ","
      SLOT("leverages") ","
      SLOT("mmps") ","
      SLOT("credentials") ","
      SLOT("arms") ","
      SLOT("withdrawals")
      "]}}" },
    /* clang-format on */
    { __LINE__, "book", "/api/v1/markets/BTC%2DPERP/book?depth=1", false,
      "{\"market\":\"BTC-PERP\",\"seq\":9001,\"engine_seq\":4720,\"time_ns\":1755582431240112233,"
      "\"bids\":[[\"99999.9\",\"0.4\"]],\"asks\":[[\"100000\",\"0.2\"]]}" },
    { __LINE__, "market", "/api/v1/markets/BTC-PERP", false,
      "{\"market\":\"BTC-PERP\",\"asset_id\":1,\"base\":\"BTC\",\"price_decimals\":1,"
      "\"size_decimals\":5,\"tick_size\":\"0.1\",\"lot_size\":\"0.00001\",\"min_size\":\"0.00001\","
      "\"max_order_size\":\"10995116.27775\",\"min_notional\":\"10\",\"impact_notional\":\"20000\","
      "\"max_leverage\":50,\"tiers\":[{\"upper_notional\":\"20000000\",\"max_leverage\":50,"
      "\"imr_ppm\":20000,\"mmr_ppm\":10000},{\"upper_notional\":null,\"max_leverage\":5,"
      "\"imr_ppm\":200000,\"mmr_ppm\":100000}],\"price_band_ppm\":100000,"
      "\"max_slippage_ppm\":50000,\"mark_book_ppm\":2500,\"oracle_sources_min\":1,"
      "\"position_limit\":\"0\",\"open_interest_limit\":\"0\",\"fees\":[{\"tier\":0,\"maker_fee_"
      "rate\":\"0.00015\","
      "\"taker_fee_rate\":\"0.00045\"},{\"tier\":1,\"maker_fee_rate\":\"0.00012\","
      "\"taker_fee_rate\":\"0.0004\"},{\"tier\":2,\"maker_fee_rate\":\"0.00008\","
      "\"taker_fee_rate\":\"0.00035\"},{\"tier\":3,\"maker_fee_rate\":\"0.00004\","
      "\"taker_fee_rate\":\"0.0003\"},{\"tier\":4,\"maker_fee_rate\":\"0\","
      "\"taker_fee_rate\":\"0.00028\"},{\"tier\":5,\"maker_fee_rate\":\"-0.00002\","
      "\"taker_fee_rate\":\"0.00026\"}],\"funding_interval_s\":3600,\"max_price\":\"1677721.5\","
      "\"state\":\"ACTIVE\"}" },
    { __LINE__, "typed data", "/api/v1/eip712/15", false,
      "{\"types\":{\"EIP712Domain\":[{\"name\":\"name\",\"type\":\"string\"},{\"name\":\"version\","
      "\"type\":\"string\"},{\"name\":\"salt\",\"type\":\"bytes32\"}],\"RevokeAllSessions\":["
      "{\"name\":\"action\",\"type\":\"string\"},{\"name\":\"accountId\",\"type\":\"uint64\"},"
      "{\"name\":\"requestId\",\"type\":\"string\"},{\"name\":\"signedAt\",\"type\":\"string\"},"
      "{\"name\":\"payload\",\"type\":\"bytes\"}]},\"primaryType\":\"RevokeAllSessions\","
      "\"domain\":{\"name\":\"Perpetuals\",\"version\":\"1\",\"salt\":"
      "\"0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\"}}" },
    { __LINE__, "time", "/api/v1/time", false,
      "{\"time_ms\":1755582431240,\"time_ns\":1755582431240112233}" },
};

static void reads_are_the_examples(void)
{
    static char head[1024], body[65536];
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        int status =
            get(rows[i].path, rows[i].with_key ? fixture.api_key : NULL, false, head, body);
        if (status != 200 || strcmp(body, rows[i].body) != 0)
            fprintf(stderr, "%d %s\n", status, body);
        CHECK_ROW(&rows[i], status == 200 && strcmp(body, rows[i].body) == 0);
        CHECK_ROW(&rows[i], strstr(head, "\r\nX-Sequence: 4720\r\n") != NULL);
        CHECK_ROW(&rows[i], strstr(head, "\r\nContent-Type: application/json\r\n") != NULL);
    }
    CHECK(get("/api/v1/markets", NULL, false, head, body) == 200);
    CHECK(strncmp(body, "{\"markets\":[{\"market\":\"BTC-PERP\",", 33) == 0);
}

/* W7: a key pinned to a subaccount names no other one; the follower is told the pin. */
static void pinned_keys_reach_their_subaccount(void)
{
    static char head[1024], body[65536];
    CHECK(get("/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0",
              fixture.pinned_api_key, false, head, body) == 403);
    CHECK(strstr(body, "\"code\":\"subaccount_not_permitted\"") != NULL);
    CHECK(get("/api/v1/portfolio/balance?subaccount_index=1&portfolio_index=0",
              fixture.pinned_api_key, false, head, body) == 200);
    CHECK(fixture.last_query.pin == 1 && fixture.last_query.account_id == FIXTURE_ACCOUNT);
    CHECK(get("/api/v1/orders/" ORDER_ID, fixture.pinned_api_key, false, head, body) == 200);
    CHECK(fixture.last_query.pin == 1);
    CHECK(get("/api/v1/orders/" ORDER_ID, fixture.api_key, false, head, body) == 200);
    CHECK(fixture.last_query.pin == -1);
}

static void parameters_name_themselves(void)
{
    static char head[1024], body[65536];
    CHECK(get("/api/v1/portfolio/balance?portfolio_index=0", fixture.api_key, false, head, body) ==
          400);
    CHECK(strstr(body, "\"detail\":\"subaccount_index is missing\","
                       "\"parameter\":\"subaccount_index\"}") != NULL);
    CHECK(get("/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=-1", fixture.api_key,
              false, head, body) == 400);
    CHECK(strstr(body, "\"parameter\":\"portfolio_index\"}") != NULL);
    CHECK(get("/api/v1/orders/0198c0de", fixture.api_key, false, head, body) == 400);
    CHECK(strstr(body, "\"detail\":\"id is not a UUID\",\"parameter\":\"id\"}") != NULL);
    CHECK(get("/api/v1/markets/A/book?unknown=1&depth=%37", NULL, false, head, body) == 200);
    CHECK(fixture.last_query.limit == 7);
    CHECK(get("/api/v1/markets/A/book", NULL, false, head, body) == 200);
    CHECK(fixture.last_query.limit == 50);
}

static void problems_of_the_follower(void)
{
    static char head[1024], body[65536];
    static const struct {
        int line;
        const char *name, *path;
        enum problem problem;
        int status;
    } problems[] = {
        { __LINE__, "order", "/api/v1/orders/" ORDER_ID, PROBLEM_order_not_found, 404 },
        { __LINE__, "portfolio", "/api/v1/portfolio/balance?subaccount_index=9&portfolio_index=0",
          PROBLEM_portfolio_not_found, 404 },
        { __LINE__, "market", "/api/v1/markets/X-PERP", PROBLEM_not_found, 404 },
    };
    for (size_t i = 0; i < CC_COUNT(problems); i++) {
        char want[64];
        fixture.next_problem = problems[i].problem;
        CHECK_ROW(&problems[i],
                  get(problems[i].path, fixture.api_key, false, head, body) == problems[i].status);
        (void)snprintf(want, sizeof want, "\"code\":\"%s\"", problem_code(problems[i].problem));
        CHECK_ROW(&problems[i], strstr(body, want) != NULL);
        CHECK_ROW(&problems[i], strstr(head, "\r\nX-Sequence: 4720\r\n") != NULL);
    }
    fixture.next_problem = PROBLEM_none;
}

/* J6: what this binary has, and nothing else. */
static void exchange_lists_what_is_built(void)
{
    static char head[1024], body[65536];
    CHECK(get("/api/v1/exchange", NULL, false, head, body) == 200);
    json_t *document = json_loads(body, 0, NULL);
    CHECK(document != NULL);
    CHECK(strcmp(json_string_value(json_object_get(document, "exchange_id")),
                 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f") == 0);
    CHECK(json_array_size(json_object_get(document, "statuses")) == 56);
    CHECK(json_array_size(json_object_get(document, "reasons")) == 31);
    json_t *window = json_object_get(document, "request_id_window_ms");
    CHECK(json_integer_value(json_object_get(window, "past")) == 30000);
    CHECK(json_integer_value(json_object_get(window, "future")) == 5000);
    json_t *limits = json_object_get(document, "limits");
    CHECK(json_integer_value(json_object_get(limits, "open_orders")) == 2000);
    CHECK(json_is_integer(json_object_get(limits, "read_rate")));
    json_t *types = json_object_get(document, "request_types");
    json_t *type;
    size_t i;
    json_array_foreach(types, i, type)
    {
        const struct request *request =
            request_find((uint32_t)json_integer_value(json_object_get(type, "code")));
        CHECK(request != NULL && request->built);
    }
    size_t count, built = 0;
    const struct request *requests = request_table(&count);
    for (size_t k = 0; k < count; k++)
        built += requests[k].built;
    CHECK(json_array_size(types) == built);
    json_decref(document);
}

/* wire.md W10: /audit and /admin/... need the token, the other pages none. */
static void admin_token(void)
{
    static const struct {
        const char *name, *path, *header;
        int status;
    } requests[] = {
        { "none", "/audit", "", 401 },
        { "another page", "/admin/withdrawals", "", 401 },
        { "right", "/audit", FIXTURE_TOKEN, 200 },
        { "scheme in capitals", "/audit", "AUTHORIZATION: BEARER " TOKEN "\r\n", 200 },
        { "another scheme", "/audit", "Authorization: Basic " TOKEN "\r\n", 401 },
        { "no scheme", "/audit", "Authorization: " TOKEN "\r\n", 401 },
        { "cut", "/audit", "Authorization: Bearer 7777\r\n", 401 },
        { "longer", "/audit", "Authorization: Bearer " TOKEN "7\r\n", 401 },
        { "last digit wrong", "/audit", "Authorization: Bearer " TOKEN_63 "8\r\n", 401 },
        { "two spaces", "/audit", "Authorization: Bearer  " TOKEN_63 "\r\n", 401 },
        { "twice", "/audit", FIXTURE_TOKEN FIXTURE_TOKEN, 400 },
        { "as an API key", "/audit", "X-API-KEY: " TOKEN "\r\n", 401 },
        { "open page", "/livez", "", 200 },
        { "open page", "/readyz", "", 503 }, /* as admin_pages left it */
        { "open page", "/metrics", "", 200 },
        { "open page, wrong token", "/metrics", "Authorization: Bearer 7\r\n", 200 },
        { "no page", "/admin", "", 404 },
    };
    for (size_t i = 0; i < CC_COUNT(requests); i++) {
        char text[1024];
        struct wire wire;
        struct wire_answer answer;
        clock_advance(&fixture.clock, 2000000000); /* an audit a second */
        int count = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n",
                             requests[i].path, requests[i].header);
        wire_open(&wire, &fixture, protocol, true);
        wire_send(&wire, text, (size_t)count, 0);
        CHECK(wire_answer(&wire, &answer, false));
        if (answer.status != requests[i].status)
            fprintf(stderr, "%s: %d\n", requests[i].name, answer.status);
        CHECK(answer.status == requests[i].status);
        CHECK((answer.status == 401) == wire_has(&answer, "\"code\":\"invalid_token\""));
        wire_free(&wire);
    }
}

/* wire.md W10: an audit is computed at most once a second; those that come earlier wait. */
static void audit_once_a_second(void)
{
    static const char request[] = "GET /audit HTTP/1.1\r\nHost: x\r\n" FIXTURE_TOKEN "\r\n";
    struct wire first, second;
    struct wire_answer answer;
    clock_advance(&fixture.clock, 2000000000);
    uint32_t count = fixture.query_count;
    wire_open(&first, &fixture, protocol, true);
    wire_open(&second, &fixture, protocol, true);
    wire_send(&first, request, sizeof request - 1, 0);
    wire_send(&first, request, sizeof request - 1, 0);
    wire_send(&second, request, sizeof request - 1, 0);
    CHECK(wire_answer(&first, &answer, false) && !wire_answer(&first, &answer, false));
    CHECK(!wire_answer(&second, &answer, false) && fixture.query_count == count + 1);
    CHECK(protocol_deadline_ns(protocol) <= clock_monotonic_ns(&fixture.clock) + 1000000000);
    clock_advance(&fixture.clock, 999999000);
    wire_turn(&second);
    CHECK(fixture.query_count == count + 1);
    clock_advance(&fixture.clock, 1000);
    for (int turn = 0; turn < 3; turn++) {
        wire_turn(&first);
        wire_turn(&second);
    }
    CHECK(fixture.query_count == count + 2);
    bool served = wire_answer(&first, &answer, false);
    CHECK(served != wire_answer(&second, &answer, false));
    wire_free(served ? &first : &second);
    clock_advance(&fixture.clock, 1000000000); /* a closed connection leaves nothing behind */
    for (int turn = 0; turn < 3; turn++)
        wire_turn(served ? &second : &first);
    CHECK(fixture.query_count == count + 3);
    CHECK(wire_answer(served ? &second : &first, &answer, false));
    CHECK(protocol_deadline_ns(protocol) > clock_monotonic_ns(&fixture.clock));
    wire_free(served ? &second : &first);
}

/* wire.md W7: an answer says to a browser that pages of net.cors_origins may read it. */
static void pages_of_others(void)
{
#define EXPOSED                                                                         \
    "\r\nVary: Origin\r\nAccess-Control-Expose-Headers: X-Sequence, X-Server-Time-Ns, " \
    "X-Term, X-Staleness-Ms, X-Leader, Retry-After, RateLimit-Limit, "                  \
    "RateLimit-Remaining, RateLimit-Reset, Server-Timing\r\n"
    static const struct {
        int line;
        const char *name, *request;
        bool admin;
        int status;
        const char *origin; /* NULL: not one header for pages */
    } requests[] = {
#define P(...) { __LINE__, __VA_ARGS__ }
        P("listed", "GET /api/v1/time HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n\r\n",
          false, 200, "https://a.example"),
        P("the second", "GET /a HTTP/1.1\r\nHost: x\r\nOrigin: http://b.example:3000\r\n\r\n",
          false, 404, "http://b.example:3000"),
        P("refused write",
          "PUT /api/v1/leverage HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
          "Origin: https://a.example\r\n\r\n{}",
          false, 415, "https://a.example"),
        P("other Host", "GET / HTTP/1.1\r\nHost: y\r\nOrigin: https://a.example\r\n\r\n", false,
          421, "https://a.example"),
        P("none", "GET /api/v1/time HTTP/1.1\r\nHost: x\r\n\r\n", false, 200, NULL),
        P("longer", "GET /api/v1/time HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example.b\r\n\r\n",
          false, 200, NULL),
        P("another scheme", "GET /a HTTP/1.1\r\nHost: x\r\nOrigin: http://a.example\r\n\r\n", false,
          404, NULL),
        P("another port", "GET /a HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example:1\r\n\r\n",
          false, 404, NULL),
        P("no origin", "GET /a HTTP/1.1\r\nHost: x\r\nOrigin: null\r\n\r\n", false, 404, NULL),
        P("admin", "GET /livez HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n\r\n", true, 200,
          NULL),
        P("OPTIONS",
          "OPTIONS /api/v1/leverage HTTP/1.1\r\nHost: x\r\n"
          "Origin: https://a.example\r\n\r\n",
          false, 204, "https://a.example"),
        P("OPTIONS of a stranger",
          "OPTIONS /api/v1/leverage HTTP/1.1\r\nHost: x\r\n"
          "Origin: https://c.example\r\n\r\n",
          false, 204, NULL),
        P("OPTIONS, no path", "OPTIONS /a HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n\r\n",
          false, 404, "https://a.example"),
    };
    for (size_t i = 0; i < CC_COUNT(requests); i++) {
        char want[128];
        struct wire wire;
        struct wire_answer answer;
        wire_open(&wire, &fixture, protocol, requests[i].admin);
        wire_send(&wire, requests[i].request, strlen(requests[i].request), 0);
        CHECK_ROW(&requests[i], wire_answer(&wire, &answer, requests[i].status == 204));
        CHECK_ROW(&requests[i], answer.status == requests[i].status);
        if (requests[i].origin == NULL) {
            CHECK_ROW(&requests[i], strstr(answer.head, "Access-Control") == NULL);
            CHECK_ROW(&requests[i], strstr(answer.head, "Vary") == NULL);
        } else {
            (void)snprintf(want, sizeof want,
                           "\r\nAccess-Control-Allow-Origin: %s"
                           "\r\nVary",
                           requests[i].origin);
            CHECK_ROW(&requests[i], strstr(answer.head, want) != NULL);
            CHECK_ROW(&requests[i], strstr(answer.head, EXPOSED) != NULL);
            bool preflight = strstr(answer.head, "\r\nAccess-Control-Allow-Methods: PUT, OPTIONS"
                                                 "\r\nAccess-Control-Allow-Headers: Accept, "
                                                 "Authorization, Content-Type, X-Ack, X-API-KEY, "
                                                 "X-DEVICE-KEY, X-Min-Sequence, X-Timing"
                                                 "\r\nAccess-Control-Max-Age: 600\r\n") != NULL;
            CHECK_ROW(&requests[i], preflight == (requests[i].status == 204));
        }
        wire_free(&wire);
    }
}

static void admin_pages(void)
{
    static char head[1024], body[262144];
    CHECK(get("/livez", NULL, true, head, body) == 200 && strcmp(body, "{\"live\":true}") == 0);
    fixture.facts = (struct net_facts){ .durable = 4721,
                                        .applied = 4720,
                                        .lag_ms = 3,
                                        .clock_difference_ms = -2,
                                        .replay_percent = 100 };
    CHECK(get("/readyz", NULL, true, head, body) == 200);
    CHECK(strcmp(body, "{\"ready\":true,\"reasons\":[],\"applied\":4720,\"durable\":4721,"
                       "\"lag_ms\":3,\"clock_difference_ms\":-2,"
                       "\"replay_percent\":100}") == 0);
    fixture.facts.not_ready = NET_NOT_RECOVERED | NET_NOT_SEGMENTS;
    CHECK(get("/readyz", NULL, true, head, body) == 503);
    CHECK(strncmp(body, "{\"ready\":false,\"reasons\":[\"recovery\",\"segments\"],", 47) == 0);
    CHECK(get("/audit", NULL, true, head, body) == 200);
    CHECK(strcmp(body,
                 "{\"sequence\":4720,\"markets\":[{\"market\":\"BTC-PERP\",\"size_sum\":\"0\","
                 "\"cost_sum\":\"0\",\"best_bid\":\"99999.9\",\"best_ask\":null,"
                 "\"funding_pool\":\"0\"}],\"totals\":{\"cash\":\"5\",\"cost\":\"0\","
                 "\"fee_account\":\"0\",\"withdrawals_pending\":\"0\",\"funding_pool\":\"0\","
                 "\"deposits\":\"5\",\"faucet\":\"0\",\"top_ups\":\"0\","
                 "\"withdrawals_settled\":\"0\"},\"i1\":true,\"i2\":true,\"i3\":true,"
                 "\"i4\":true,\"i5\":true,\"i6\":true,\"i7\":true,\"i8\":true,\"i9\":true,\"i10\":"
                 "true,\"solvency\":{\"fund\":\"-3\",\"fee_"
                 "account\":\"0\","
                 "\"owed\":\"1\",\"net\":\"-4\",\"claims\":\"8\",\"short\":true},\"recount_"
                 "differences\":0}") == 0);
    CHECK(get("/metrics", NULL, true, head, body) == 200);
    CHECK(strncmp(body, "node_line 1\n", 12) == 0);
    CHECK(strstr(body, "\nperpd_net_requests_total ") != NULL);
    CHECK(strstr(body, "\nperpd_net_stage_ns{stage=\"read\",quantile=\"0.99\"} ") != NULL);
    CHECK(strstr(head, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n") != NULL);
    CHECK(get("/api/v1/time", NULL, true, head, body) == 404);
}

/* J6: the buckets that hold a value, each with the greatest one that it counts. Of an octave each
 * has a 32nd: 100 is in [100, 101], 1,000,000 in [524288 + 29 * 16384, 524288 + 30 * 16384). */
static void latency_in_buckets(void)
{
    static const uint64_t values[] = { 5, 100, 101, 1000000, UINT64_C(1) << 40 };
    static char head[1024], body[65536];
    static struct net_metrics other;
    struct net_metrics *metrics = &protocol->context.metrics;

    for (size_t i = 0; i < CC_COUNT(values); i++)
        histogram_add(&metrics->stages[NET_STAGE_matched], values[i]);
    histogram_add(&other.stages[NET_STAGE_matched], 5);
    metrics->others[0] = &other;
    metrics->other_count = 1;
    protocol->config.since_ns = 77;
    CHECK(get("/api/v1/latency", NULL, true, head, body) == 200);
    CHECK(strstr(body, "{\"since_ns\":77,\"stages\":[{\"stage\":\"verified\",") == body);
    CHECK(strstr(body, "{\"stage\":\"matched\",\"count\":6,\"sum_ns\":1099512627987,\"buckets\":"
                       "[[5,2],[101,2],[1015807,1],[1099511627775,1]]}") != NULL);
    CHECK(strstr(body, "{\"stage\":\"released\",\"count\":0,\"sum_ns\":0,\"buckets\":[]}") != NULL);
    CHECK(get("/api/v1/latency", NULL, false, head, body) == 404); /* the fixture has no testnet */
    metrics->other_count = 0;
}

int main(void)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    protocol = fixture_protocol(&fixture, 64);
    fixture.applied = fixture.durable = fixture.sequence = 4720;
    reads_are_the_examples();
    pinned_keys_reach_their_subaccount();
    parameters_name_themselves();
    problems_of_the_follower();
    exchange_lists_what_is_built();
    pages_of_others();
    admin_pages();
    latency_in_buckets();
    admin_token();
    audit_once_a_second();
    CHECK(protocol->context.pendings.used == 0 && protocol->context.conns.open_count == 0);
    CHECK(fixture.pool.free == UINT64_MAX);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
    return 0;
}
