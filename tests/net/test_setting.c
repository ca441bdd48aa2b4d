/* PUT /api/v1/leverage: body, credential, the command of wire.md W3b, its place among the signed
 * requests of its connection, and every outcome of rules.md R11's row 2001 as HTTP. */
#include <stdio.h>

#include "base/base64.h"
#include "base/reason.h"
#include "base/status.h"
#include "check.h"
#include "crypto/secret.h"
#include "net/command/job.h"
#include "net/fixture.h"

#define PATH       "/api/v1/leverage"
#define PLACE_PATH "/api/v1/trading/order/place/limit"
#define JSON_TYPE  "Content-Type: application/json\r\n"
#define GOOD \
    "{\"leverage\":10,\"market\":\"ETH-PERP\",\"portfolio_index\":0,\"subaccount_index\":1}"

static struct fixture fixture;
static struct protocol *protocol;
static struct wire_answer answer;

static size_t make(char *text, size_t capacity, const char *method, const char *headers,
                   const char *key, const char *body)
{
    int count = snprintf(text, capacity,
                         "%s " PATH " HTTP/1.1\r\nHost: x\r\n%s%s%s%sContent-Length: %zu\r\n\r\n%s",
                         method, headers, key != NULL ? "X-API-KEY: " : "", key != NULL ? key : "",
                         key != NULL ? "\r\n" : "", strlen(body), body);
    CHECK(count > 0 && (size_t)count < capacity);
    return (size_t)count;
}

/* One request on a connection of its own; the answer stays in `wire`. Gives the status. */
static int put(struct wire *wire, const char *headers, const char *key, const char *body)
{
    static char text[20000];
    size_t count = make(text, sizeof text, "PUT", headers, key, body);
    wire_open(wire, &fixture, protocol, false);
    wire_send(wire, text, count, 0);
    CHECK(wire_answer(wire, &answer, false));
    return answer.status;
}

static void stores_and_shows(void)
{
    /* W3b: credential_id 16[0] portfolio_id[16] leverage u32[32] asset[36]. */
    static const uint8_t tail[24] = { 7, 0, 0, 0, 0,  0, 0, 0, 1, 0, 0, 0,
                                      0, 0, 0, 0, 10, 0, 0, 0, 2, 0, 0, 0 };
    struct wire wire;
    struct keyring_row entry;
    uint8_t hash[32];
    CHECK(put(&wire, JSON_TYPE, fixture.trading_api_key, GOOD) == 200);
    static const char want[] = "{\"leverage\":10,\"market\":\"ETH-PERP\",\"portfolio_index\":0,"
                               "\"subaccount_index\":1,\"account_id\":7}";
    CHECK(answer.body_bytes == sizeof want - 1 && wire_has(&answer, want));
    CHECK(strstr(answer.head, "\r\nContent-Type: application/json\r\n") != NULL);
    char sequence[64];
    (void)snprintf(sequence, sizeof sequence, "\r\nX-Sequence: %llu\r\n",
                   (unsigned long long)fixture.sequence);
    CHECK(strstr(answer.head, sequence) != NULL);
    const struct command *command = (const void *)fixture.last_command;
    CHECK(command->code == 2001 && command->kind == COMMAND_UNSIGNED && command->flags == 0);
    CHECK(command->payload_bytes == 40 && command->key_bytes == 0 && command->slot_count == 1);
    CHECK(memcmp(command_body(command) + 16, tail, sizeof tail) == 0);
    uint8_t secret[32];
    memset(secret, 0x63, sizeof secret); /* the fixture's trading key */
    secret_hash(hash, fixture.config.secret_key, secret);
    struct keyring_key key = keyring_key(KEYRING_API, 0, hash);
    CHECK(keyring_find(fixture.keyring, &key, &entry));
    CHECK(memcmp(command_body(command), entry.credential_id.bytes, 16) == 0);
    wire_free(&wire);
    /* A pinned key acts on its own subaccount; unknown members are ignored, escapes resolved. */
    CHECK(put(&wire, "Content-Type: Application/JSON; charset=utf-8\r\n",
              fixture.pinned_trading_api_key,
              "{\"more\":[1],\"subaccount_index\":1,\"portfolio_index\":2147483647,"
              "\"market\":\"BTC\\u002dPERP\",\"leverage\":2147483647}") == 200);
    CHECK(wire_has(&answer, "{\"leverage\":2147483647,\"market\":\"BTC-PERP\","));
    CHECK(cc_load32(command_body(command) + 28) == INT32_MAX);
    CHECK(cc_load32(command_body(command) + 32) == INT32_MAX);
    CHECK(cc_load32(command_body(command) + 36) == 1);
    wire_free(&wire);
}

/* R11: an unknown market is told behind the portfolio, a leverage outside 1..max behind that: the
 * engine is asked with asset 0 (no market) and leverage 0 (no multiplier). */
static void what_the_engine_judges(void)
{
    static const struct {
        int line;
        const char *name, *body;
        uint32_t leverage, asset_id;
    } rows[] = {
        { __LINE__, "unknown market",
          "{\"leverage\":1,\"market\":\"NO-PERP\",\"portfolio_index\":0,\"subaccount_index\":0}", 1,
          0 },
        { __LINE__, "empty market",
          "{\"leverage\":1,\"market\":\"\",\"portfolio_index\":0,\"subaccount_index\":0}", 1, 0 },
        { __LINE__, "market of 40 bytes",
          "{\"leverage\":1,\"market\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\","
          "\"portfolio_index\":0,\"subaccount_index\":0}",
          1, 0 },
        { __LINE__, "a market and a zero byte",
          "{\"leverage\":1,\"market\":\"BTC-PERP\\u0000\",\"portfolio_index\":0,"
          "\"subaccount_index\":0}",
          1, 0 },
        { __LINE__, "leverage 0",
          "{\"leverage\":0,\"market\":\"BTC-PERP\",\"portfolio_index\":0,\"subaccount_index\":0}",
          0, 1 },
        { __LINE__, "negative leverage",
          "{\"leverage\":-1,\"market\":\"BTC-PERP\",\"portfolio_index\":0,\"subaccount_index\":0}",
          0, 1 },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct wire wire;
        uint32_t commands = fixture.command_count;
        (void)put(&wire, JSON_TYPE, fixture.trading_api_key, rows[i].body);
        CHECK_ROW(&rows[i], fixture.command_count == commands + 1);
        const struct command *command = (const void *)fixture.last_command;
        CHECK_ROW(&rows[i], cc_load32(command_body(command) + 32) == rows[i].leverage);
        CHECK_ROW(&rows[i], cc_load32(command_body(command) + 36) == rows[i].asset_id);
        wire_free(&wire);
    }
}

enum { KEY_NONE, KEY_READ, KEY_PINNED_READ, KEY_TRADING, KEY_PINNED_TRADING, KEY_BAD };

static const struct {
    int line;
    const char *name, *headers;
    int key;
    const char *body;
    int status;
    const char *code, *part;
} refusals[] = {
#define R(name, headers, key, body, status, code, part)        \
    {                                                          \
        __LINE__, name, headers, key, body, status, code, part \
    }
    R("no type", "", KEY_TRADING, GOOD, 415, "unsupported_media_type", "Content-Type is missing"),
    R("frame", "Content-Type: application/octet-stream\r\n", KEY_TRADING, GOOD, 415,
      "unsupported_media_type", "must be application/json"),
    R("no JSON", JSON_TYPE, KEY_TRADING, "leverage=1", 400, "malformed_json", ""),
    R("empty", JSON_TYPE, KEY_TRADING, "", 400, "malformed_json", ""),
    R("array", JSON_TYPE, KEY_TRADING, "[]", 400, "malformed_json", ""),
    R("twice", JSON_TYPE, KEY_TRADING, "{\"leverage\":1,\"leverage\":1}", 400, "malformed_json",
      "twice"),
    R("leverage missing", JSON_TYPE, KEY_TRADING,
      "{\"market\":\"BTC-PERP\",\"portfolio_index\":0,\"subaccount_index\":0}", 400,
      "invalid_parameter", "\"detail\":\"leverage is missing\",\"parameter\":\"leverage\"}"),
    R("leverage no number", JSON_TYPE, KEY_TRADING,
      "{\"leverage\":\"10\",\"market\":\"BTC-PERP\",\"portfolio_index\":0,\"subaccount_index\":0}",
      400, "invalid_parameter", "\"detail\":\"leverage is not an integer\""),
    R("leverage a fraction", JSON_TYPE, KEY_TRADING,
      "{\"leverage\":1.5,\"market\":\"BTC-PERP\",\"portfolio_index\":0,\"subaccount_index\":0}",
      400, "invalid_parameter", "\"parameter\":\"leverage\"}"),
    R("leverage beyond int32", JSON_TYPE, KEY_TRADING,
      "{\"leverage\":2147483648,\"market\":\"A\",\"portfolio_index\":0,\"subaccount_index\":0}",
      400, "invalid_parameter", "\"parameter\":\"leverage\"}"),
    R("market missing", JSON_TYPE, KEY_TRADING,
      "{\"leverage\":1,\"portfolio_index\":0,\"subaccount_index\":0}", 400, "invalid_parameter",
      "\"parameter\":\"market\"}"),
    R("market no string", JSON_TYPE, KEY_TRADING,
      "{\"leverage\":1,\"market\":null,\"portfolio_index\":0,\"subaccount_index\":0}", 400,
      "invalid_parameter", "\"detail\":\"market is not a string\",\"parameter\":\"market\"}"),
    R("portfolio_index missing", JSON_TYPE, KEY_TRADING,
      "{\"leverage\":1,\"market\":\"BTC-PERP\",\"subaccount_index\":0}", 400, "invalid_parameter",
      "\"parameter\":\"portfolio_index\"}"),
    R("portfolio_index negative", JSON_TYPE, KEY_TRADING,
      "{\"leverage\":1,\"market\":\"A\",\"portfolio_index\":-1,\"subaccount_index\":0}", 400,
      "invalid_parameter", "\"parameter\":\"portfolio_index\"}"),
    R("subaccount_index missing", JSON_TYPE, KEY_TRADING,
      "{\"leverage\":1,\"market\":\"BTC-PERP\",\"portfolio_index\":0}", 400, "invalid_parameter",
      "\"parameter\":\"subaccount_index\"}"),
    R("subaccount_index a list", JSON_TYPE, KEY_TRADING,
      "{\"leverage\":1,\"market\":\"A\",\"portfolio_index\":0,\"subaccount_index\":[0]}", 400,
      "invalid_parameter", "\"parameter\":\"subaccount_index\"}"),
    /* R11, *credential*: unknown key, scope, pin, in that order; the JSON is read before. */
    R("no key", JSON_TYPE, KEY_NONE, GOOD, 401, "invalid_api_key", "X-API-KEY is missing"),
    R("bad key", JSON_TYPE, KEY_BAD, GOOD, 401, "invalid_api_key", "names no live API key"),
    R("no key and no JSON", JSON_TYPE, KEY_NONE, "{", 400, "malformed_json", ""),
    R("READ", JSON_TYPE, KEY_READ, GOOD, 403, "read_only_key", "scope READ"),
    R("READ before the pin", JSON_TYPE, KEY_PINNED_READ,
      "{\"leverage\":1,\"market\":\"A\",\"portfolio_index\":0,\"subaccount_index\":0}", 403,
      "read_only_key", "scope READ"),
    R("pinned elsewhere", JSON_TYPE, KEY_PINNED_TRADING,
      "{\"leverage\":1,\"market\":\"A\",\"portfolio_index\":0,\"subaccount_index\":0}", 403,
      "subaccount_not_permitted", "pinned to subaccount 1"),
};

static void net_refuses(void)
{
    const char *keys[] = { NULL,
                           fixture.api_key,
                           fixture.pinned_api_key,
                           fixture.trading_api_key,
                           fixture.pinned_trading_api_key,
                           "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" };
    for (size_t i = 0; i < CC_COUNT(refusals); i++) {
        struct wire wire;
        char want[64];
        uint32_t commands = fixture.command_count;
        int status = put(&wire, refusals[i].headers, keys[refusals[i].key], refusals[i].body);
        (void)snprintf(want, sizeof want, "\"code\":\"%s\"", refusals[i].code);
        if (status != refusals[i].status || !wire_has(&answer, refusals[i].part))
            fprintf(stderr, "%.*s\n", (int)answer.body_bytes, answer.body);
        CHECK_ROW(&refusals[i], status == refusals[i].status);
        CHECK_ROW(&refusals[i], wire_has(&answer, want) && wire_has(&answer, refusals[i].part));
        CHECK_ROW(&refusals[i], fixture.command_count == commands);
        wire_free(&wire);
    }
}

static void other_methods_and_sizes(void)
{
    static char text[20000];
    struct wire wire;
    static const char *const methods[] = { "POST", "DELETE", "PATCH" };
    for (size_t i = 0; i < CC_COUNT(methods); i++) {
        size_t count =
            make(text, sizeof text, methods[i], JSON_TYPE, fixture.trading_api_key, "{}");
        wire_open(&wire, &fixture, protocol, false);
        wire_send(&wire, text, count, 0);
        CHECK(wire_answer(&wire, &answer, false) && answer.status == 405);
        CHECK(strstr(answer.head, "\r\nAllow: PUT, OPTIONS\r\n") != NULL);
        wire_free(&wire);
    }
    static char large[8194];
    memset(large, ' ', sizeof large - 1);
    memcpy(large, GOOD, sizeof GOOD - 1);
    CHECK(put(&wire, JSON_TYPE, fixture.trading_api_key, large) == 413);
    CHECK(wire_has(&answer, "\"max_bytes\":8192"));
    wire_free(&wire);
    large[8192] = '\0';
    CHECK(put(&wire, JSON_TYPE, fixture.trading_api_key, large) == 200);
    wire_free(&wire);
}

/* R11, row 2001: the status and its reason. */
static void outcomes_are_http(void)
{
    static const struct {
        int line;
        const char *name;
        enum status status;
        uint8_t reason;
        int http;
        const char *code;
    } rows[] = {
        { __LINE__, "key revoked meanwhile", STATUS_rejected_unauthorized, 0, 401,
          "invalid_api_key" },
        { __LINE__, "READ", STATUS_rejected_unauthorized, REASON_read_only_key, 403,
          "read_only_key" },
        { __LINE__, "pin", STATUS_rejected_unauthorized, REASON_subaccount_not_permitted, 403,
          "subaccount_not_permitted" },
        { __LINE__, "portfolio", STATUS_rejected_invalid_portfolio_id, 0, 404,
          "portfolio_not_found" },
        { __LINE__, "closed", STATUS_order_rejected_invalid, REASON_portfolio_not_active, 409,
          "portfolio_not_active" },
        { __LINE__, "market", STATUS_rejected_market_not_found, 0, 400, "invalid_market" },
        { __LINE__, "leverage", STATUS_order_rejected_invalid, REASON_invalid_parameter, 400,
          "invalid_parameter" },
        { __LINE__, "margin", STATUS_order_rejected_invalid, REASON_insufficient_free_equity, 409,
          "insufficient_free_equity" },
        { __LINE__, "internal", STATUS_order_rejected_internal, 0, 500, "internal_error" },
        { __LINE__, "share used up", STATUS_order_rejected_invalid, REASON_limit_reached, 409,
          "limit_reached" },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct wire wire;
        char want[64];
        fixture.next_answer =
            (struct answer){ .status = (uint8_t)rows[i].status, .reason = rows[i].reason };
        int status = put(&wire, JSON_TYPE, fixture.trading_api_key, GOOD);
        (void)snprintf(want, sizeof want, "\"code\":\"%s\"", rows[i].code);
        CHECK_ROW(&rows[i], status == rows[i].http && wire_has(&answer, want));
        CHECK_ROW(&rows[i],
                  strstr(answer.head, "\r\nContent-Type: application/problem+json\r\n") != NULL);
        CHECK_ROW(&rows[i], strstr(answer.head, "\r\nX-Sequence: ") != NULL);
        bool names = wire_has(&answer, "\"parameter\":\"leverage\"}");
        CHECK_ROW(&rows[i], names == (rows[i].http == 400 && rows[i].reason != 0));
        wire_free(&wire);
    }
    fixture.next_answer = (struct answer){ 0 };
}

static int get_account(struct wire *wire)
{
    static char text[512];
    int count = snprintf(text, sizeof text,
                         "GET /api/v1/account HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\n\r\n",
                         fixture.api_key);
    wire_open(wire, &fixture, protocol, false);
    wire_send(wire, text, (size_t)count, 0);
    return wire_answer(wire, &answer, false) ? answer.status : 0;
}

/* R11, "A keyring entry carries the sequence that made or ended it": until that is durable the
 * engine refuses a write, in sequence, also one that net would have refused by its scope; a read
 * sees the state before it. From then on net answers 401, whether the entry is gone or not. */
static void revoked_keys(void)
{
    struct wire wire;
    const char *keys[] = { fixture.trading_api_key, fixture.api_key };
    uint64_t durable = fixture.durable;
    for (size_t i = 0; i < CC_COUNT(keys); i++) {
        struct keyring_key key = fixture_key(&fixture, keys[i]);
        CHECK(keyring_end(fixture.keyring, &key, durable + 1000));
        uint32_t commands = fixture.command_count;
        fixture.next_answer = (struct answer){ .status = STATUS_rejected_unauthorized };
        CHECK(put(&wire, JSON_TYPE, keys[i], GOOD) == 401);
        CHECK(wire_has(&answer, "\"code\":\"invalid_api_key\""));
        CHECK(strstr(answer.head, "\r\nX-Sequence: ") != NULL);
        CHECK(fixture.command_count == commands + 1);
        wire_free(&wire);
    }
    CHECK(get_account(&wire) == 200);
    wire_free(&wire);

    fixture.next_answer = (struct answer){ 0 };
    fixture.sequence = fixture.durable = fixture.applied = durable + 1000;
    uint32_t commands = fixture.command_count;
    for (size_t i = 0; i < CC_COUNT(keys); i++) {
        CHECK(put(&wire, JSON_TYPE, keys[i], GOOD) == 401);
        CHECK(wire_has(&answer, "names no live API key"));
        wire_free(&wire);
    }
    CHECK(get_account(&wire) == 401 && fixture.command_count == commands);
    wire_free(&wire);
}

/* 503 when not ready, and when no credit came in time: there is no id to send again. */
static void not_ready(void)
{
    struct wire wire;
    fixture.ready = false;
    CHECK(put(&wire, JSON_TYPE, fixture.trading_api_key, GOOD) == 503);
    CHECK(wire_has(&answer, "\"code\":\"not_ready\",\"detail\":\"the service is recovering\"}"));
    wire_free(&wire);
    fixture.ready = true;
    uint32_t credits = protocol->sender.answer_credits;
    uint32_t wait_ms = protocol->config.credit_wait_ms;
    protocol->sender.answer_credits = 0;
    protocol->config.credit_wait_ms = 0;
    CHECK(put(&wire, JSON_TYPE, fixture.trading_api_key, GOOD) == 503);
    CHECK(wire_has(&answer, "\"code\":\"not_ready\""));
    CHECK(strstr(answer.head, "\r\nX-Sequence: ") != NULL);
    protocol->sender.answer_credits = credits;
    protocol->config.credit_wait_ms = wait_ms;
    wire_free(&wire);
}

static size_t append_order(char *text, size_t capacity)
{
    uint8_t body[48], frame[256];
    fixture_order(body);
    size_t count = fixture_frame(&fixture, frame, 0, &fixture.session, body, sizeof body);
    return fixture_post(text, capacity, PLACE_PATH, "application/octet-stream", frame, count);
}

/* roles.md, Order within a connection: commands enter the ring in the order received, a read
 * behind a write sees it. */
static void keeps_its_place(void)
{
    static char text[8192];
    struct wire wire;
    size_t count = append_order(text, sizeof text);
    count +=
        make(text + count, sizeof text - count, "PUT", JSON_TYPE, fixture.trading_api_key, GOOD);
    count += append_order(text + count, sizeof text - count);
    count +=
        make(text + count, sizeof text - count, "PUT", JSON_TYPE, fixture.trading_api_key, GOOD);
    static const char read[] = "GET /api/v1/markets HTTP/1.1\r\nHost: x\r\n\r\n";
    memcpy(text + count, read, sizeof read - 1);
    count += sizeof read - 1;

    uint64_t before = fixture.sequence;
    uint32_t queries = fixture.query_count;
    fixture.hold_durable = true;
    wire_open(&wire, &fixture, protocol, false);
    wire_send(&wire, text, count, 0);
    CHECK(fixture.sequence == before + 4 && fixture.query_count == queries);
    CHECK(!wire_answer(&wire, &answer, false));
    fixture.durable = fixture.applied = before + 3;
    wire_turn(&wire);
    CHECK(fixture.query_count == queries); /* the read waits for the last write */
    fixture.durable = fixture.applied = before + 4;
    for (unsigned i = 0; i < 4; i++)
        wire_turn(&wire);
    for (unsigned i = 1; i <= 4; i++) {
        char want[64];
        (void)snprintf(want, sizeof want,
                       i % 2 == 1 ? "\"sequence\":%llu}" : "X-Sequence: %llu\r\n",
                       (unsigned long long)(before + i));
        CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
        CHECK(i % 2 == 1 ? wire_has(&answer, want) : strstr(answer.head, want) != NULL);
    }
    CHECK(wire_answer(&wire, &answer, false) && wire_has(&answer, "{\"markets\":["));
    wire_free(&wire);
    fixture.hold_durable = false;
}

/* Without credits the job slot (256) fill; whoever comes then is not read on, and nobody is
 * refused whose wait has not ended. */
static void waits_for_a_slot(void)
{
    enum { CONNECTIONS = 5, EACH = 60 };
    static char text[EACH * 512];
    struct wire wires[CONNECTIONS];
    uint32_t credits = protocol->sender.answer_credits;
    uint32_t wait_ms = protocol->config.credit_wait_ms;
    uint32_t commands = fixture.command_count;
    size_t count = 0;
    for (unsigned i = 0; i < EACH; i++)
        count += make(text + count, sizeof text - count, "PUT", JSON_TYPE, fixture.trading_api_key,
                      GOOD);
    protocol->sender.answer_credits = 0;
    protocol->config.credit_wait_ms = 60000;
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        wire_open(&wires[i], &fixture, protocol, false);
        wire_send(&wires[i], text, count, 0);
    }
    CHECK(!job_table_has_room(protocol->jobs) && fixture.command_count == commands);
    protocol->sender.answer_credits = credits;
    for (unsigned turn = 0; turn < 40; turn++)
        for (unsigned i = 0; i < CONNECTIONS; i++)
            wire_turn(&wires[i]);
    CHECK(fixture.command_count == commands + CONNECTIONS * EACH);
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        for (unsigned k = 0; k < EACH; k++)
            CHECK(wire_answer(&wires[i], &answer, false) && answer.status == 200);
        wire_free(&wires[i]);
    }
    protocol->config.credit_wait_ms = wait_ms;
}

int main(void)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    protocol = fixture_protocol(&fixture, 64);
    stores_and_shows();
    what_the_engine_judges();
    net_refuses();
    other_methods_and_sizes();
    outcomes_are_http();
    not_ready();
    keeps_its_place();
    waits_for_a_slot();
    revoked_keys(); /* last: it ends them */
    CHECK(protocol->context.pendings.used == 0 && protocol->context.conns.open_count == 0);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
    return 0;
}
