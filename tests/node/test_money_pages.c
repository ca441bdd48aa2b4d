/* Funding payments and rates, the fund and the fee account over HTTP, with rows that six hours of
 * funding have made (json.md J1, J2, J6; wire.md W7): filters, bounds of time, pages. Then the
 * channel `funding` through a seventh (J9).
 *
 * By hand (R5): without 360 samples the premium is 0, so r8 = 0 + clamp(100,000, -500,000, 500,000)
 * = 100,000 ppb and the rate 12,500 ppb = 0.0000125. At hour k the index is 100,000 + 100 k USDC,
 * and 0.3 BTC pay 30,000 * (1,000,000 + 1,000 k) * 12,500 / 1e9 = 375,000 + 375 k micro-USDC: the
 * long -cdiv, the short floor, the same number. Nothing is left for the fund. */
#include "base/base64.h"
#include "check.h"
#include "core_member.h"
#include "net/protocol.h"

enum { LONG, SHORT, MEMBERS };
enum { HOURS = 6, CONNECTIONS = 8, ANSWER_BYTES = 1 << 17, SIZE_RAW = 30000, MID_RAW = 1000000 };

#define HOUR_NS  UINT64_C(3600000000000)
#define FIRST_NS UINT64_C(1755583200000000000) /* 06:00 UTC, the first behind the rig's start */
#define MS_NS    UINT64_C(1000000)

static struct core_member members[MEMBERS];
static struct protocol protocol;
static struct address_claims streams_of;
static struct conn *conn;
static char answer[ANSWER_BYTES];

static uint64_t source_durable(void *context)
{
    (void)context;
    return journal_durable_seq(core_rig.core.journal);
}

static uint64_t source_applied(void *context)
{
    (void)context;
    return engine_sequence(core_rig.core.replica);
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

static void open_gate(void)
{
    const struct core *core = &core_rig.core;
    struct net_config config = {
        .wake_file = -1,
        .commands = &core_rig.links[0].commands,
        .answers = &core_rig.links[0].answers,
        .queries = &core_rig.links[0].queries,
        .replies = &core_rig.links[0].replies,
        .reply_pool = &core_rig.links[0].pool,
        .keyring = core->keyring,
        .symbols = &core->primary_sink.symbols,
        .events = &core->events,
        .books = &core_rig.core.books,
        .private_log = &core->private_log,
        .streams_of = &streams_of,
        .stream_connections = 1,
        .stream_subscriptions = 2,
        .stream_backlog = 1 << 20,
        .clock = &core_rig.clock,
        .options = &core->options,
        .source = { .durable = source_durable,
                    .applied = source_applied,
                    .ready = source_ready,
                    .facts = source_facts,
                    .metrics = source_metrics },
        .hash_key = mix_key_load(core->exchange.hash_key),
        .durability = "local",
        .epoch = 1,
        .credit_wait_ms = 2,
        .output_pool_bytes = 1 << 22,
    };

    CHECK(host_list_add(&config.hosts, "x"));
    CHECK(address_claims_init(&streams_of, CONNECTIONS, (struct mix_key){ 3, 5 }) == 0);
    memcpy(config.secret_key, core->exchange.secret_key, sizeof config.secret_key);
    CHECK(protocol_init(&protocol, &config, CONNECTIONS) == 0);
    protocol_turn_begin(&protocol);
    conn = protocol_open(&protocol, false);
    CHECK(conn != NULL);
    (void)protocol_turn_end(&protocol);
}

/* All bytes that stand in the connection's output; gives their number. */
static size_t take_output(size_t used)
{
    const uint8_t *bytes;
    size_t count;

    while (conn_queue_count(&protocol.context.conns, CONN_DIRTY) > 0)
        (void)conn_queue_pop(&protocol.context.conns, CONN_DIRTY);
    protocol_mark_sent(&protocol);
    while ((count = output_next(&protocol.context.outputs, &conn->output, &bytes)) > 0) {
        CHECK(used + count < sizeof answer);
        memcpy(answer + used, bytes, count);
        used += count;
        output_sent(&protocol.context.outputs, &conn->output, count);
        pipeline_resume(&protocol.pipeline, conn);
    }
    return used;
}

/* Sends bytes, none or some, runs turns and takes what is answered, which ends with a 0. */
static void exchange(char *bytes, size_t count)
{
    size_t used = 0;

    protocol_turn_begin(&protocol);
    if (count != 0)
        protocol_receive(&protocol, conn, bytes, count);
    (void)protocol_turn_end(&protocol);
    for (int turn = 0; turn < 8; turn++) {
        CHECK(core_follow(&core_rig.core) >= 0);
        protocol_turn_begin(&protocol);
        (void)protocol_turn_end(&protocol);
        used = take_output(used);
    }
    for (size_t i = 0; i < used; i++) /* heads of WebSocket frames have zeros */
        answer[i] = answer[i] != '\0' ? answer[i] : ' ';
    answer[used] = '\0';
}

/* GET by whoever, NULL: by nobody; gives the body, of which `status` is the HTTP status. */
static const char *get(const struct core_member *who, const char *path, unsigned *status)
{
    char request[512], key[BASE64_TEXT_BYTES(SECRET_BYTES) + 1] = "";

    if (who != NULL)
        base64_encode(key, who->api_secret, sizeof who->api_secret);
    int count = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n%s%s%s\r\n", path,
                         who != NULL ? "X-API-KEY: " : "", key, who != NULL ? "\r\n" : "");
    CHECK(count > 0 && (size_t)count < sizeof request);
    exchange(request, (size_t)count);
    CHECK(sscanf(answer, "HTTP/1.1 %u", status) == 1);
    const char *body = strstr(answer, "\r\n\r\n");
    CHECK(body != NULL);
    return body + 4;
}

static uint32_t count_of(const char *text, const char *piece)
{
    uint32_t count = 0;

    while ((text = strstr(text, piece)) != NULL) {
        text += strlen(piece);
        count++;
    }
    return count;
}

/* ---- what happens ---------------------------------------------------------------------------- */

/* The funding of hour k. */
static void pay_hour(uint64_t k)
{
    clock_set(&core_rig.clock, FIRST_NS + k * HOUR_NS - 1000 * MS_NS);
    core_member_publish(MID_RAW + 1000 * k); /* valid when the hour comes */
    core_rig_run(0);
    clock_set(&core_rig.clock, FIRST_NS + k * HOUR_NS);
    core_rig_run(0);
    clock_advance(&core_rig.clock, 200 * MS_NS);
    core_rig_run(0);
}

static void live(void)
{
    memset(members, 0, sizeof members);
    core_rig_make();
    core_rig_start();
    for (uint8_t n = 0; n < MEMBERS; n++)
        core_member_join(&members[n], (uint8_t)(n + 1));
    core_member_publish(MID_RAW);
    (void)core_member_order(&members[SHORT], MID_RAW, -SIZE_RAW);
    (void)core_member_order(&members[LONG], MID_RAW, SIZE_RAW);
    core_rig_run(0);
    for (uint64_t k = 0; k < HOURS; k++)
        pay_hour(k);
}

/* ---- payments -------------------------------------------------------------------------------- */

/* The payments of hours `newest` down to `oldest`, to the letter but for ids and sequences. */
static void check_payments(const char *parameters, int member, int newest, int oldest)
{
    char path[256], piece[256];
    unsigned status;

    snprintf(path, sizeof path, "/api/v1/funding-payments?subaccount_index=0&portfolio_index=0%s",
             parameters);
    const char *at = get(&members[member], path, &status);
    CHECK(status == 200 && at[0] == '[');
    CHECK(strstr(at, "\"id\":\"00000000-") == NULL); /* each has its own (R3) */
    CHECK(count_of(at, "\"funding_rate\":\"0.0000125\"") == (uint32_t)(newest - oldest + 1));
    for (int k = newest; k >= oldest; k--) {
        snprintf(piece, sizeof piece,
                 "\"market\":\"BTC-PERP\",\"funding_rate\":\"0.0000125\",\"payment\":\"%s0.%06d\"",
                 member == LONG ? "-" : "", 375000 + 375 * k);
        char *end = strrchr(piece, '"');
        while (end[-1] == '0') /* decimals are trimmed */
            end--;
        strcpy(end, "\"");
        at = strstr(at, piece);
        CHECK(at != NULL);
        snprintf(piece, sizeof piece, ",\"position_size\":\"%s0.3\",\"time\":%lu,",
                 member == LONG ? "" : "-", (FIRST_NS + (uint64_t)k * HOUR_NS) / MS_NS);
        CHECK(strncmp(strchr(strstr(at, "\"payment\""), ','), piece, strlen(piece)) == 0);
        snprintf(piece, sizeof piece, "\"index_price\":\"%d\"}", 100000 + 100 * k);
        at = strstr(at, piece);
        CHECK(at != NULL);
    }
}

static void payments(void)
{
    char text[128];
    unsigned status;
    uint64_t first_ms = FIRST_NS / MS_NS, hour_ms = HOUR_NS / MS_NS;

    check_payments("", LONG, 5, 0);
    check_payments("", SHORT, 5, 0);
    check_payments("&limit=2", LONG, 5, 4);
    check_payments("&limit=2&offset=3", LONG, 2, 1);
    check_payments("&limit=1000&offset=5", LONG, 0, 0);
    check_payments("&offset=6", LONG, -1, 0);
    check_payments("&market=BTC-PERP", LONG, 5, 0);
    check_payments("&market=ETH-PERP", LONG, -1, 0);
    /* Both bounds are inclusive, to the millisecond. */
    snprintf(text, sizeof text, "&start_time=%lu&end_time=%lu", first_ms + 2 * hour_ms,
             first_ms + 4 * hour_ms);
    check_payments(text, LONG, 4, 2);
    snprintf(text, sizeof text, "&start_time=%lu&end_time=%lu", first_ms + 2 * hour_ms + 1,
             first_ms + 4 * hour_ms - 1);
    check_payments(text, LONG, 3, 3);
    snprintf(text, sizeof text, "&start_time=%lu&offset=1&limit=1", first_ms + 3 * hour_ms);
    check_payments(text, LONG, 4, 4);
    snprintf(text, sizeof text, "&end_time=%lu", first_ms - 1);
    check_payments(text, LONG, -1, 0);

    const char *body = get(
        &members[LONG], "/api/v1/funding-payments?subaccount_index=0&portfolio_index=1", &status);
    CHECK(status == 200 && strcmp(body, "[]") == 0);
    body = get(&members[LONG],
               "/api/v1/funding-payments?subaccount_index=0&portfolio_index=0&market=NO-PERP",
               &status);
    CHECK(status == 400 && strstr(body, "\"code\":\"invalid_market\"") != NULL);
    body =
        get(&members[LONG],
            "/api/v1/funding-payments?subaccount_index=0&portfolio_index=0&start_time=-1", &status);
    CHECK(status == 400 && strstr(body, "\"parameter\":\"start_time\"") != NULL);
    body = get(NULL, "/api/v1/funding-payments?subaccount_index=0&portfolio_index=0", &status);
    CHECK(status == 401 && strstr(body, "\"code\":\"invalid_api_key\"") != NULL);
}

/* ---- rates, and the exchange's own ----------------------------------------------------------- */

static uint64_t number_behind(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    CHECK(at != NULL);
    return strncmp(at + strlen(name), "null", 4) == 0 ? UINT64_MAX
                                                      : strtoull(at + strlen(name), NULL, 10);
}

/* An amount behind a name, in micro-USDC. */
static int64_t amount_behind(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    CHECK(at != NULL && at[strlen(name)] == '"');
    at += strlen(name) + 1;
    bool is_negative = *at == '-';
    at += is_negative;
    int64_t value = 0;
    int decimals = -1; /* no point yet */
    for (; *at != '"'; at++) {
        if (*at == '.') {
            decimals = 0;
            continue;
        }
        value = value * 10 + (*at - '0');
        decimals += decimals >= 0;
    }
    for (decimals = decimals < 0 ? 0 : decimals; decimals < 6; decimals++)
        value *= 10;
    return is_negative ? -value : value;
}

/* Page after page, newest first, each with the hours that follow. */
static void rates(uint32_t limit)
{
    char path[256], piece[128], more[128] = "";
    int k = HOURS - 1;
    unsigned status;

    for (bool is_last = false; !is_last;) {
        snprintf(path, sizeof path, "/api/v1/markets/BTC-PERP/funding-rates?limit=%u%s", limit,
                 more);
        const char *body = get(NULL, path, &status);
        CHECK(status == 200);
        uint32_t count = count_of(body, "\"funding_rate\":\"0.0000125\"");
        const char *at = body;
        for (uint32_t i = 0; i < count; i++, k--) {
            snprintf(piece, sizeof piece, "\"index_price\":\"%d\",\"time\":%lu,", 100000 + 100 * k,
                     (FIRST_NS + (uint64_t)k * HOUR_NS) / MS_NS);
            at = strstr(at, piece);
            CHECK(at != NULL);
        }
        uint64_t sequence = number_behind(body, "\"next_before_sequence\":");
        uint64_t index = number_behind(body, "\"next_before_index\":");
        is_last = sequence == UINT64_MAX;
        CHECK(is_last == (index == UINT64_MAX) && (is_last || count == limit));
        snprintf(more, sizeof more, "&before_sequence=%lu&before_index=%lu", sequence, index);
    }
    CHECK(k == -1);
}

static void houses(void)
{
    char path[128];
    unsigned status;
    const char *body = get(NULL, "/api/v1/fee-account", &status);

    /* 30,000 USDC: 450 ppm of the taker, 150 of the maker; told in that order. */
    CHECK(status == 200 && strstr(body, "{\"balance\":\"18\",\"deficit\":false,") == body);
    CHECK(count_of(body, "\"kind\":\"fee\"") == 2);
    CHECK(count_of(body, "\"market\":\"BTC-PERP\",\"ref_id\":\"") == 2); /* those of their fill */
    CHECK(strstr(body, "\"amount\":\"4.5\",\"balance_after\":\"18\"") != NULL);
    CHECK(strstr(body, "\"amount\":\"13.5\",\"balance_after\":\"13.5\"") != NULL);
    body = get(NULL, "/api/v1/fee-account?limit=1", &status);
    CHECK(strstr(body, "\"amount\":\"4.5\"") != NULL && strstr(body, "\"13.5\"") == NULL);
    snprintf(path, sizeof path, "/api/v1/fee-account?limit=1&before_sequence=%lu&before_index=%lu",
             number_behind(body, "\"next_before_sequence\":"),
             number_behind(body, "\"next_before_index\":"));
    body = get(NULL, path, &status);
    CHECK(strstr(body, "\"amount\":\"4.5\"") == NULL && strstr(body, "\"13.5\"") != NULL);
    body = get(NULL, "/api/v1/insurance-fund", &status); /* no pool left anything */
    CHECK(status == 200 &&
          strcmp(body, "{\"balance\":\"0\",\"deficit\":false,\"history\":[],"
                       "\"next_before_sequence\":null,\"next_before_index\":null}") == 0);
}

/* The ledger of a member, page by page: each balance is the one before and the amount, the newest
 * is its cash, and the amounts sum to it. */
static void check_ledger(int member, uint32_t limit, uint32_t rows)
{
    static const int64_t cash[MEMBERS] = {
        [LONG] = 1000000000000 - 13500000 - 2255625, /* deposit, fee, 6 * 375,000 + 15 * 375 */
        [SHORT] = 1000000000000 - 4500000 + 2255625,
    };
    char path[256], more[128] = "";
    unsigned status;
    int64_t balance = cash[member];
    uint32_t count = 0;

    for (bool is_last = false; !is_last;) {
        snprintf(path, sizeof path, "/api/v1/cash/history?subaccount_index=0&limit=%u%s", limit,
                 more);
        const char *body = get(&members[member], path, &status);
        CHECK(status == 200 && strstr(body, "{\"history\":[") == body);
        uint32_t of_page = 0;
        for (const char *at = body; (at = strstr(at, "\"amount\":")) != NULL; at++, of_page++) {
            CHECK(amount_behind(at, "\"balance_after\":") == balance);
            balance -= amount_behind(at, "\"amount\":");
        }
        uint64_t sequence = number_behind(body, "\"next_before_sequence\":");
        is_last = sequence == UINT64_MAX;
        CHECK(is_last || of_page == limit);
        count += of_page;
        snprintf(more, sizeof more, "&before_sequence=%lu&before_index=%lu", sequence,
                 number_behind(body, "\"next_before_index\":"));
    }
    CHECK(balance == 0 && count == rows);
}

/* One deposit, one fee and six payments of each (the file's head says how much). */
static void ledger(void)
{
    static const struct {
        const char *parameters;
        uint32_t rows;
    } filters[] = {
        { "&kind=funding", HOURS },
        { "&kind=fee", 1 },
        { "&kind=deposit", 1 },
        { "&kind=withdrawal", 0 },
        { "&portfolio_index=0", HOURS + 2 },
        { "&portfolio_index=1", 0 },
        { "&offset=3", HOURS - 1 },
        { "&kind=funding&limit=2&offset=3", 2 },
    };
    static const struct {
        const char *path;
        unsigned status;
        const char *piece;
    } refused[] = {
        { "/api/v1/cash/history", 400, "\"parameter\":\"subaccount_index\"" },
        { "/api/v1/cash/history?subaccount_index=0&kind=Fee", 400, "\"parameter\":\"kind\"" },
        { "/api/v1/cash/history?subaccount_index=0&end_time=x", 400, "\"parameter\":\"end_time\"" },
    };
    char path[256];
    unsigned status;

    for (uint32_t limit = 1; limit <= HOURS + 3; limit++) {
        check_ledger(LONG, limit, HOURS + 2);
        check_ledger(SHORT, limit, HOURS + 2);
    }
    for (size_t i = 0; i < CC_COUNT(filters); i++) {
        snprintf(path, sizeof path, "/api/v1/cash/history?subaccount_index=0%s",
                 filters[i].parameters);
        const char *body = get(&members[LONG], path, &status);
        CHECK(status == 200 && count_of(body, "\"kind\":") == filters[i].rows);
    }
    const char *body =
        get(&members[LONG], "/api/v1/cash/history?subaccount_index=0&kind=fee", &status);
    CHECK(strstr(body, "\"kind\":\"fee\",\"amount\":\"-13.5\",") != NULL);
    CHECK(strstr(body, "\"market\":\"BTC-PERP\",\"ref_id\":\"") != NULL);
    body = get(&members[LONG], "/api/v1/cash/history?subaccount_index=0&kind=funding&limit=1",
               &status);
    CHECK(strstr(body, "\"kind\":\"funding\",\"amount\":\"-0.376875\",\"balance_after\":"
                       "\"999984.244375\",\"market\":\"BTC-PERP\",\"ref_id\":") != NULL);
    /* Rows of the third payment's millisecond, and of all but it. */
    uint64_t third_ms =
        number_behind(get(&members[LONG],
                          "/api/v1/cash/history?subaccount_index=0&kind=funding&offset=3", &status),
                      "\"time\":");
    snprintf(path, sizeof path,
             "/api/v1/cash/history?subaccount_index=0&start_time=%lu&end_time=%lu", third_ms,
             third_ms);
    CHECK(count_of(get(&members[LONG], path, &status), "\"kind\":\"funding\"") == 1);
    snprintf(path, sizeof path, "/api/v1/cash/history?subaccount_index=0&start_time=%lu",
             third_ms + 1);
    CHECK(count_of(get(&members[LONG], path, &status), "\"kind\":") == 3);
    for (size_t i = 0; i < CC_COUNT(refused); i++) {
        body = get(&members[LONG], refused[i].path, &status);
        CHECK(status == refused[i].status && strstr(body, refused[i].piece) != NULL);
    }
    body = get(NULL, "/api/v1/cash/history?subaccount_index=0", &status);
    CHECK(status == 401 && strstr(body, "\"code\":\"invalid_api_key\"") != NULL);
}

/* ---- the channel ----------------------------------------------------------------------------- */

static void ask(const char *text)
{
    char frame[256] = { '\x81' };
    size_t count = strlen(text);

    CHECK(count <= 125);
    frame[1] = (char)(0x80 | count); /* masked with zeros */
    memcpy(frame + 6, text, count);
    exchange(frame, 6 + count);
}

/* BTC's first frame in the answer is of that type and has the rate of hour k, to the letter. */
static uint64_t check_rate(const char *type, int k)
{
    char piece[256];
    const char *at = strstr(answer, "{\"channel\":\"funding\",\"market\":\"BTC-PERP\",");

    CHECK(at != NULL && count_of(answer, "\"funding_rate\"") == 1);
    snprintf(piece, sizeof piece,
             "\"type\":\"%s\",\"data\":{\"funding_rate\":\"0.0000125\","
             "\"index_price\":\"%d\",\"time\":%lu,\"time_ns\":",
             type, 100000 + 100 * k, (FIRST_NS + (uint64_t)k * HOUR_NS) / MS_NS);
    CHECK(strstr(at, piece) != NULL);
    return number_behind(at, "\"seq\":");
}

static void channel(void)
{
    char handshake[] = "GET /api/v1/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                       "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

    exchange(handshake, sizeof handshake - 1);
    CHECK(strstr(answer, "HTTP/1.1 101 ") == answer);
    ask("{\"op\":\"subscribe\",\"channel\":\"funding\",\"market\":\"ETH-PERP\"}");
    CHECK(strstr(answer, "\"type\":\"snapshot\",\"data\":{}}") != NULL); /* it had no index */
    ask("{\"op\":\"subscribe\",\"channel\":\"funding\",\"market\":\"BTC-PERP\"}");
    uint64_t seq = check_rate("snapshot", HOURS - 1);
    CHECK(number_behind(answer, "\"prev_seq\":") == seq);
    pay_hour(HOURS);
    exchange(NULL, 0);
    CHECK(check_rate("update", HOURS) > seq && number_behind(answer, "\"prev_seq\":") == seq);
}

int main(void)
{
    CHECK(signer_init() == 0);
    live();
    open_gate();
    payments();
    for (uint32_t limit = 1; limit <= HOURS + 1; limit++)
        rates(limit);
    houses();
    ledger();
    channel();
    protocol_free(&protocol);
    address_claims_free(&streams_of);
    core_rig_kill();
    core_rig_free();
    return 0;
}
