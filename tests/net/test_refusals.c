/* Every refusal of the network thread, as a client sees it: HTTP status, problem code, detail,
 * extra member (rules.md R11, wire.md W1, W3, W4, W10, json.md J8). */
#include <stdio.h>

#include "base/base64.h"
#include "check.h"
#include "net/fixture.h"

#define ORDER_PATH    "/api/v1/trading/order/place/limit"
#define CANCEL_PATH   "/api/v1/trading/order/cancel"
#define SESSION_PATH  "/api/v1/auth/sessions/create"
#define REVOKE_PATH   "/api/v1/auth/sessions/revoke"
#define CREATE_PATH   "/api/v1/account/create"
#define KEYS_PATH     "/api/v1/api-keys"
#define OPERATOR_PATH "/api/v1/operator"
#define OCTETS        "application/octet-stream"
#define JSON          "application/json"
#define HOST          "Host: x\r\n"

static struct fixture fixture;
static struct protocol *protocol;

/* Sends the bytes on a new connection; checks the first answer and whether the connection stays. */
static void expect(const void *row_pointer, const void *bytes, size_t count, int status,
                   const char *code, const char *part, bool closes)
{
    const struct {
        int line;
        const char *name;
    } *row = row_pointer;
    struct wire wire;
    struct wire_answer answer;
    char want[128];
    wire_open(&wire, &fixture, protocol, false);
    wire_send(&wire, bytes, count, 0);
    CHECK_ROW(row, wire_answer(&wire, &answer, false));
    if (answer.status != status || !wire_has(&answer, part))
        fprintf(stderr, "%s%.*s\n", answer.head, (int)answer.body_bytes, answer.body);
    CHECK_ROW(row, answer.status == status);
    if (status >= 400) {
        (void)snprintf(want, sizeof want,
                       "{\"type\":\"urn:perps:problem:%s\",\"title\":\"%s\",\"status\":%d,", code,
                       problem_http_title((uint32_t)status), status);
        CHECK_ROW(row, strncmp(answer.body, want, strlen(want)) == 0);
        CHECK_ROW(row,
                  strstr(answer.head, "\r\nContent-Type: application/problem+json\r\n") != NULL);
    } else {
        (void)snprintf(want, sizeof want, "\"%s\"", code);
        CHECK_ROW(row, wire_has(&answer, want));
    }
    CHECK_ROW(row, wire_has(&answer, part));
    CHECK_ROW(row, (wire.conn == NULL) == closes);
    CHECK_ROW(row, (strstr(answer.head, "\r\nConnection: close\r\n") != NULL) == closes);
    wire_free(&wire);
}

static const struct {
    int line;
    const char *name, *text;
    int status;
    const char *code, *part;
    bool closes;
} head_rows[] = {
#define H(name, text, status, code, part, closes)        \
    {                                                    \
        __LINE__, name, text, status, code, part, closes \
    }
    H("no path", "GET /nothing HTTP/1.1\r\n" HOST "\r\n", 404, "not_found", "no such path", false),
    H("code not built", "POST /api/v1/auth/scoped-keys/replace HTTP/1.1\r\n" HOST "\r\n", 404,
      "not_found", "no such path", false),
    H("admin page on the public listener", "GET /metrics HTTP/1.1\r\n" HOST "\r\n", 404,
      "not_found", "no such path", false),
    H("method", "GET " ORDER_PATH " HTTP/1.1\r\n" HOST "\r\n", 405, "method_not_allowed",
      "this path takes POST", false),
    H("method of a read", "POST /api/v1/time HTTP/1.1\r\n" HOST "\r\n", 405, "method_not_allowed",
      "this path takes GET", false),
    H("DELETE with body", "DELETE /api/v1/time HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc",
      405, "method_not_allowed", "this path takes GET", false),
    H("bare LF", "GET /api/v1/time HTTP/1.1\nHost: x\r\n\r\n", 400, "malformed_request",
      "a line does not end with CR LF, at byte 25 of the head", true),
    H("no host", "GET /api/v1/time HTTP/1.1\r\n\r\n", 400, "malformed_request",
      "there is no Host header", true),
    H("length and coding",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      400, "malformed_request", "Content-Length together with Transfer-Encoding", true),
    H("version", "GET /api/v1/time HTTP/3.0\r\n" HOST "\r\n", 400, "malformed_request",
      "the version is not HTTP/1.0 or HTTP/1.1", true),
    H("GET with body", "GET /api/v1/time HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx", 400,
      "malformed_request", "a GET or HEAD request has no body", true),
    H("no type", "POST " ORDER_PATH " HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", 415,
      "unsupported_media_type", "Content-Type is missing", false),
    H("other type",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
      415, "unsupported_media_type", "Content-Type must be application/json", false),
    H("X-Ack of another kind",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nX-Ack: brief\r\nContent-Length: 2\r\n\r\n{}",
      400, "invalid_parameter",
      "\"detail\":\"X-Ack is none of full, binary and receipt\",\"parameter\":\"X-Ack\"}", false),
    H("X-Ack: binary with an envelope",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nX-Ack: binary\r\nContent-Length: 2\r\n\r\n{}",
      400, "invalid_parameter", "\"parameter\":\"X-Ack\"}", false),
    H("body too large",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nContent-Length: 16385\r\n\r\n",
      413, "payload_too_large", "\"max_bytes\":16384", true),
    H("frame too large",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: application/octet-stream\r\nContent-Length: 4242\r\n\r\n",
      413, "payload_too_large", "\"max_bytes\":4241", true),
    H("path before size", "POST /nothing HTTP/1.1\r\n" HOST "Content-Length: 99999999999\r\n\r\n",
      404, "not_found", "no such path", true),
    H("chunk extension",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;a\r\n",
      400, "malformed_request", "a chunked body must be plain chunks", true),
    H("not JSON",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nContent-Length: 4\r\n\r\n{\"a}",
      400, "malformed_json", "at byte 4: ", false),
    H("no object",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n[]",
      400, "malformed_json", "at byte 0: ", false),
    H("empty body",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST "Content-Type: application/json\r\n\r\n", 400,
      "malformed_json", "at byte 0: ", false),
    H("member twice",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"a\":1,\"a\":2}",
      400, "malformed_json", "at byte ", false),
    H("no payload",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
      400, "malformed_payload", "\"detail\":\"payload is missing\",\"field\":\"payload\"", false),
    H("payload no string",
      "POST " ORDER_PATH " HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"payload\":7}",
      400, "malformed_payload", "payload is not a string", false),
    H("key missing", "GET /api/v1/account HTTP/1.1\r\n" HOST "\r\n", 401, "invalid_api_key",
      "X-API-KEY is missing", false),
    H("key no base64", "GET /api/v1/account HTTP/1.1\r\n" HOST "X-API-KEY: ___\r\n\r\n", 401,
      "invalid_api_key", "X-API-KEY is not the Base64 of 32 bytes", false),
    H("key unknown",
      "GET /api/v1/account HTTP/1.1\r\n" HOST
      "X-API-KEY: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
      401, "invalid_api_key", "X-API-KEY names no live API key", false),
    H("depth", "GET /api/v1/markets/BTC-PERP/book?depth=0 HTTP/1.1\r\n" HOST "\r\n", 400,
      "invalid_parameter", "\"detail\":\"depth must be 1 to 1000\",\"parameter\":\"depth\"", false),
    H("depth above", "GET /api/v1/markets/BTC-PERP/book?depth=1001 HTTP/1.1\r\n" HOST "\r\n", 400,
      "invalid_parameter", "depth must be 1 to 1000", false),
    H("depth no number", "GET /api/v1/markets/BTC-PERP/book?depth=1e1 HTTP/1.1\r\n" HOST "\r\n",
      400, "invalid_parameter", "depth must be 1 to 1000", false),
    H("depth twice", "GET /api/v1/markets/A/book?depth=1&depth=1 HTTP/1.1\r\n" HOST "\r\n", 400,
      "invalid_parameter", "depth must be 1 to 1000", false),
    H("market too long",
      "GET /api/v1/markets/AAAAAAAAAAAAAAAAAAAAAAAAAAAA-PERP HTTP/1.1\r\n" HOST "\r\n", 404,
      "not_found", "no such market", false),
    H("typed data of a session's code", "GET /api/v1/eip712/0 HTTP/1.1\r\n" HOST "\r\n", 404,
      "not_found", "no request type of this number", false),
    H("typed data of a passkey's code", "GET /api/v1/eip712/12 HTTP/1.1\r\n" HOST "\r\n", 404,
      "not_found", "no request type of this number", false),
    H("preview without media",
      "POST /api/v1/eip712/preview HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", 415,
      "unsupported_media_type", "application/json is taken", false),
    H("preview too long",
      "POST /api/v1/eip712/preview HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nContent-Length: 8193\r\n\r\n",
      413, "payload_too_large", "\"max_bytes\":8192", true),
    H("preview by PUT",
      "PUT /api/v1/eip712/preview HTTP/1.1\r\n" HOST
      "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
      405, "method_not_allowed", "this path takes POST", false),
    H("typed data of no code", "GET /api/v1/eip712/99999999999 HTTP/1.1\r\n" HOST "\r\n", 404,
      "not_found", "no request type of this number", false),
};

static void heads_and_reads(void)
{
    for (size_t i = 0; i < CC_COUNT(head_rows); i++)
        expect(&head_rows[i], head_rows[i].text, strlen(head_rows[i].text), head_rows[i].status,
               head_rows[i].code, head_rows[i].part, head_rows[i].closes);
}

/* W7: what a preview refuses; the clock and the signature are not among it. */
static const struct {
    int line;
    const char *name, *body;
    int status;
    const char *code, *part;
} preview_rows[] = {
#define P(name, body, status, code, part)        \
    {                                            \
        __LINE__, name, body, status, code, part \
    }
    P("a duplicate member", "{\"payload\":\"\",\"payload\":\"\"}", 400, "malformed_json", "byte"),
    P("no payload", "{}", 400, "malformed_payload", "payload is missing"),
    P("a payload that is a number", "{\"payload\":1}", 400, "malformed_payload", "not a string"),
    P("URL-safe Base64", "{\"payload\":\"AQ-_\"}", 400, "invalid_base64", "at character 2"),
    P("a header alone", "{\"payload\":\"AQEPAAAAAAA=\"}", 400, "malformed_payload",
      "header and request id alone are 24"),
    P("another version", "{\"payload\":\"AgEPAAAAAAAAAAAAAABwAIAAAAAAAAAABwAAAAAAAAA=\"}", 400,
      "unsupported_version", "header version 2"),
    P("a pad of the header", "{\"payload\":\"AQEPAAEAAAAAAAAAAABwAIAAAAAAAAAABwAAAAAAAAA=\"}", 400,
      "malformed_payload", "bytes 4 to 7"),
    P("a session's code", "{\"payload\":\"AQEDAAAAAAAAAAAAAABwAIAAAAAAAAAABwAAAAAAAAA=\"}", 400,
      "request_type_not_allowed", "\"request_type\":3"),
    P("an unknown code", "{\"payload\":\"AQH//wAAAAAAAAAAAABwAIAAAAAAAAAABwAAAAAAAAA=\"}", 400,
      "request_type_not_allowed", "\"request_type\":65535"),
    P("Ed25519", "{\"payload\":\"AQAPAAAAAAAAAAAAAABwAIAAAAAAAAAABwAAAAAAAAA=\"}", 400,
      "malformed_payload", "\"field\":\"signature_type\""),
    P("a body that is too short", "{\"payload\":\"AQEPAAAAAAAAAAAAAABwAIAAAAAAAAAA\"}", 400,
      "malformed_payload", "a body of 0 bytes"),
    P("a pad of the body",
      "{\"payload\":\"AQEXAAAAAAAAAAAAAABwAIAAAAAAAAAABwAAAAAAAAABAAAAAQAAAA==\"}", 400,
      "malformed_payload", "\"field\":\"padding\""),
#undef P
};

static void previews(void)
{
    for (size_t i = 0; i < CC_COUNT(preview_rows); i++) {
        char text[1024];
        size_t count = fixture_post(text, sizeof text, "/api/v1/eip712/preview", "application/json",
                                    preview_rows[i].body, strlen(preview_rows[i].body));
        expect(&preview_rows[i], text, count, preview_rows[i].status, preview_rows[i].code,
               preview_rows[i].part, false);
    }
}

enum signs { SESSION, STRANGER, OPERATOR, ORACLE, MASTER, OTHER_MASTER };

/* One signed request: what is changed in the payload before it is signed, or in the frame after. */
static const struct signed_row {
    int line;
    const char *name, *path;
    uint16_t code;
    uint8_t signs; /* enum signs */
    uint16_t body_bytes;
    int32_t at;    /* place changed before signing, from the start of the payload; -1: none */
    uint8_t bytes; /* of the value put there */
    uint64_t value;
    bool after;   /* the change is made after signing */
    int16_t grow; /* bytes added to (taken from) the payload */
    int status;
    const char *code_name, *part;
} signed_rows[] = {
#define S(name, path, code, signs, body, at, bytes, value, after, grow, status, problem, part)   \
    {                                                                                            \
        __LINE__, name, path, code, signs, body, at, bytes, value, after, grow, status, problem, \
            part                                                                                 \
    }
    S("good", ORDER_PATH, 0, SESSION, 48, -1, 0, 0, false, 0, 200, "request_completed",
      "\"sequence\":"),
    S("version", ORDER_PATH, 0, SESSION, 48, 0, 1, 2, false, 0, 400, "unsupported_version",
      "header version 2"),
    S("header pad", ORDER_PATH, 0, SESSION, 48, 7, 1, 1, false, 0, 400, "malformed_payload",
      "\"field\":\"padding\""),
    S("signature type 3", ORDER_PATH, 0, SESSION, 48, 1, 1, 3, false, 0, 400, "malformed_payload",
      "signature_type 3 is none of 0, 1, 2"),
    S("code of another path", CANCEL_PATH, 0, SESSION, 48, -1, 0, 0, false, 0, 400,
      "request_type_not_allowed",
      "\"detail\":\"request type 0 belongs to " ORDER_PATH "\",\"request_type\":0"),
    S("code not built", ORDER_PATH, 5, SESSION, 40, -1, 0, 0, false, 0, 400,
      "request_type_not_allowed", "\"request_type\":5"),
    S("reserved code", ORDER_PATH, 18, SESSION, 48, -1, 0, 0, false, 0, 400,
      "request_type_not_allowed", "request type 18 has no path"),
    S("node's code", ORDER_PATH, 2000, SESSION, 8, -1, 0, 0, false, 0, 400,
      "request_type_not_allowed", "request type 2000 has no path"),
    S("unknown code", ORDER_PATH, 65535, SESSION, 48, -1, 0, 0, false, 0, 400,
      "request_type_not_allowed", "\"request_type\":65535"),
    S("body too short", ORDER_PATH, 0, SESSION, 48, -1, 0, 0, false, -8, 400, "malformed_payload",
      "place_limit_order has a body of 48 bytes, not 40"),
    S("body too long", ORDER_PATH, 0, SESSION, 48, -1, 0, 0, false, 8, 400, "malformed_payload",
      "place_limit_order has a body of 48 bytes, not 56"),
    S("not a multiple of 8", ORDER_PATH, 0, SESSION, 48, -1, 0, 0, false, 4, 400,
      "malformed_payload", "the payload has 76 bytes, not a multiple of 8"),
    S("id version 4", ORDER_PATH, 0, SESSION, 48, 14, 1, 0x40, false, 0, 400, "request_id_not_v7",
      "version 4"),
    S("id variant", ORDER_PATH, 0, SESSION, 48, 16, 1, 0xC0, false, 0, 400, "request_id_not_v7",
      "variant 3"),
    S("pin below -1", SESSION_PATH, 13, MASTER, 56, 24 + 48, 4, 0xFFFFFFFE, false, 0, 400,
      "malformed_payload",
      "\"detail\":\"subaccount_pin is -2; -1 or an index is "
      "allowed\",\"field\":\"subaccount_pin\""),
    S("zero in a text", CREATE_PATH, 11, MASTER, 80, 24 + 41, 1, 'a', false, 0, 400,
      "malformed_payload", "\"detail\":\"label holds a zero byte\",\"field\":\"label\""),
    S("text not UTF-8", KEYS_PATH, 34, MASTER, 48, 24 + 16, 1, 0xFF, false, 0, 400,
      "malformed_payload", "\"detail\":\"label is not UTF-8\",\"field\":\"label\""),
    S("secp256k1 on an order", ORDER_PATH, 0, SESSION, 48, 1, 1, 1, false, 1, 400,
      "request_type_not_allowed", "signature_type 1 cannot sign request type 0"),
    S("Ed25519 on account creation", CREATE_PATH, 11, SESSION, 80, -1, 0, 0, false, 0, 400,
      "request_type_not_allowed", "signature_type 0 cannot sign request type 11"),
    S("bad signature", ORDER_PATH, 0, SESSION, 48, 24 + 16, 8, 999, true, 0, 401,
      "invalid_signature", "the signature does not verify"),
    S("bad signature of a stranger", ORDER_PATH, 0, STRANGER, 48, 24 + 16, 8, 999, true, 0, 401,
      "invalid_signature", "the signature does not verify"),
    S("bad master signature", SESSION_PATH, 13, MASTER, 56, 24 + 40, 8, 5, true, 0, 401,
      "invalid_signature", "the signature does not verify"),
    S("unknown session", ORDER_PATH, 0, STRANGER, 48, -1, 0, 0, false, 0, 200,
      "rejected_unauthorized",
      "{\"status\":\"rejected_unauthorized\",\"processed_at_ns\":1755582431240112233}"),
    S("session of another account", ORDER_PATH, 0, SESSION, 48, 24, 8, 8, false, 0, 200,
      "rejected_unauthorized", "processed_at_ns"),
    S("unknown master", SESSION_PATH, 13, OTHER_MASTER, 56, -1, 0, 0, false, 0, 200,
      "session_rejected",
      "{\"success\":false,\"message\":\"session_rejected\",\"processed_at_ns\":"
      "1755582431240112233}"),
    S("unknown master, API key", KEYS_PATH, 34, OTHER_MASTER, 48, -1, 0, 0, false, 0, 200,
      "rejected_unauthorized", "\"success\":false"),
    S("session revokes on the wrong path", REVOKE_PATH, 14, SESSION, 40, -1, 0, 0, false, 0, 200,
      "session_rejected", "\"success\":false"),
    S("new account", CREATE_PATH, 11, OTHER_MASTER, 80, -1, 0, 0, false, 0, 200,
      "request_completed", "\"sequence\":"),
    S("operator", OPERATOR_PATH, 1003, OPERATOR, 56, -1, 0, 0, false, 0, 200, "request_completed",
      "\"sequence\":"),
    S("oracle", OPERATOR_PATH, 1000, ORACLE, 24, -1, 0, 0, false, 0, 200, "request_completed",
      "\"sequence\":"),
    S("operator is no oracle", OPERATOR_PATH, 1000, OPERATOR, 24, -1, 0, 0, false, 0, 200,
      "rejected_unauthorized", "\"status\""),
    S("oracle is no operator", OPERATOR_PATH, 1003, ORACLE, 56, -1, 0, 0, false, 0, 200,
      "rejected_unauthorized", "\"status\""),
    S("session is no operator", OPERATOR_PATH, 1003, SESSION, 56, -1, 0, 0, false, 0, 200,
      "rejected_unauthorized", "\"status\""),
    S("market text not UTF-8", OPERATOR_PATH, 1001, OPERATOR, 16, 24, 1, 0xC3, false, 0, 400,
      "malformed_payload", "\"field\":\"record\""),
};

static const struct signer_ed25519 *ed25519_signer(uint8_t signs)
{
    switch (signs) {
    case STRANGER:
        return &fixture.stranger;
    case OPERATOR:
        return &fixture.operator;
    case ORACLE:
        return &fixture.oracle;
    default:
        return &fixture.session;
    }
}

/* Builds the frame of a row; gives its length. */
static size_t build(const struct signed_row *row, uint8_t *frame)
{
    uint8_t body[REQUEST_BODY_MAX] = { 0 };
    bool is_master = row->signs >= MASTER;
    struct eip712_hashes hashes;
    if (row->code == 0)
        fixture_order(body);
    else if (row->code != 11 && row->code < 1000)
        cc_store64(body, FIXTURE_ACCOUNT);
    size_t count =
        fixture_payload(&fixture, frame, row->code, is_master ? 1 : 0, body, row->body_bytes);
    int grow = row->grow == 1 ? 0 : row->grow;
    if (grow > 0)
        memset(frame + count, 0, (size_t)grow);
    count = (size_t)((ptrdiff_t)count + grow);
    if (row->at >= 0 && !row->after)
        memcpy(frame + row->at, &row->value, row->bytes);
    if (is_master) {
        uint8_t secret[32];
        memset(secret, row->signs == MASTER ? 0x11 : 0x22, sizeof secret);
        CHECK_ROW(row, signer_secp256k1_key(secret, frame + count));
        if (eip712_hash(&fixture.eip712, frame, count, &hashes) != 0)
            memset(&hashes, 0, sizeof hashes);
        CHECK_ROW(row, signer_secp256k1_sign(secret, hashes.digest, frame + count + 33));
        count += 97;
    } else {
        const struct signer_ed25519 *signer = ed25519_signer(row->signs);
        fixture_sign(&fixture, frame, count, signer);
        count += 96;
        if (row->grow == 1) /* a 33-byte key's tail */
            count++;
    }
    if (row->at >= 0 && row->after)
        memcpy(frame + row->at, &row->value, row->bytes);
    return count;
}

static void signed_requests(void)
{
    static char text[16384];
    uint8_t frame[REQUEST_FRAME_MAX + 64];
    for (size_t i = 0; i < CC_COUNT(signed_rows); i++) {
        const struct signed_row *row = &signed_rows[i];
        size_t frame_bytes = build(row, frame);
        size_t count = fixture_post(text, sizeof text, row->path, OCTETS, frame, frame_bytes);
        expect(row, text, count, row->status, row->code_name, row->part, false);
        if (frame[1] > 1 || row->grow == 1)
            continue;
        /* The same three values as JSON, under a fresh id. */
        static char json[12288];
        frame_bytes = build(row, frame);
        size_t json_bytes = fixture_envelope(json, frame, frame_bytes);
        count = fixture_post(text, sizeof text, row->path, JSON, json, json_bytes);
        expect(row, text, count, row->status, row->code_name, row->part, false);
    }
}

/* W5: -30,000 ms <= id - now <= +5,000 ms, both ends included. */
static void window_is_exact(void)
{
    static const struct {
        int line;
        const char *name;
        int64_t offset_ms;
        int status;
        const char *code, *part;
    } rows[] = {
        { __LINE__, "oldest", -30000, 200, "request_completed", "sequence" },
        { __LINE__, "too old", -30001, 400, "request_timestamp_out_of_window",
          "\"detail\":\"the request id is 30001 ms old; at most 30000 ms are allowed\","
          "\"server_time_ms\":1755582431240}" },
        { __LINE__, "furthest", 5000, 200, "request_completed", "sequence" },
        { __LINE__, "too far", 5001, 400, "request_timestamp_out_of_window",
          "the request id is 5001 ms ahead; at most 5000 ms are allowed" },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint8_t body[48], frame[256];
        char text[1024];
        fixture_order(body);
        size_t count = fixture_payload(&fixture, frame, 0, 0, body, 48);
        uint64_t ms = (uint64_t)(INT64_C(1755582431240) + rows[i].offset_ms);
        uint64_t high = __builtin_bswap64(ms << 16);
        memcpy(frame + 8, &high, 6);
        memcpy(frame + count, fixture.session.key, 32);
        signer_ed25519_sign(&fixture.session, frame, count, frame + count + 32);
        count = fixture_post(text, sizeof text, ORDER_PATH, OCTETS, frame, count + 96);
        expect(&rows[i], text, count, rows[i].status, rows[i].code, rows[i].part, false);
    }
}

#define K32 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define K33 "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC"
#define SIGNATURE \
    "MDOYaB3LoxeAoDfi7JgBluJZrLngl/B9omH1yjEviFMI8tE0wk7OT9K6zlbyBIMvhPkZf+laJJf8P6HNe9gDAg=="

#define E(name, type, format, status, code, part)        \
    {                                                    \
        __LINE__, name, type, format, status, code, part \
    }

#define PLAIN(key) "{\"payload\":\"%s\",\"signature\":\"" SIGNATURE "\",\"public_key\":\"" key "\"}"

#define PASSKEY(more) "{\"payload\":\"%s\",\"signature\":\"" SIGNATURE "\"," more "}"
#define AUTHENTICATOR "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="

/* JSON envelopes that fail before or beside the payload; %s is a fresh payload of type 0 or 2. */
static const struct envelope_row {
    int line;
    const char *name;
    uint8_t type;
    const char *format;
    int status;
    const char *code, *part;
} envelope_rows[] = {
    E("no signature", 0, "{\"payload\":\"%s\",\"public_key\":\"" K32 "\"}", 400,
      "malformed_payload", "signature is missing"),
    E("no key", 0, "{\"payload\":\"%s\",\"signature\":\"" SIGNATURE "\"}", 400, "malformed_payload",
      "\"detail\":\"public_key is missing\",\"field\":\"public_key\""),
    E("null key", 0, "{\"payload\":\"%s\",\"signature\":\"" SIGNATURE "\",\"public_key\":null}",
      400, "malformed_payload", "public_key is not a string"),
    E("URL-safe Base64", 0, PLAIN("AAAAAAAAAAAAAAAAAAAA_AAAAAAAAAAAAAAAAAAAAAA="), 400,
      "invalid_base64",
      "\"detail\":\"public_key is not standard Base64 at character 20\",\"field\":\"public_key\""),
    E("key of 31 bytes", 0, PLAIN("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="), 400,
      "malformed_payload", "public_key has 31 bytes, neither 32 nor 33"),
    E("key of 34 bytes", 0, PLAIN("AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=="), 400,
      "malformed_payload", "public_key has more than 33 bytes"),
    E("short signature", 0,
      "{\"payload\":\"%s\",\"signature\":\"AAAA\",\"public_key\":\"" K32 "\"}", 400,
      "malformed_payload", "\"detail\":\"signature has 3 bytes, not 64\",\"field\":\"signature\""),
    E("key of the other curve", 0, PLAIN(K33), 401, "signature_type_mismatch",
      "the header says Ed25519, whose keys have 32 bytes; this one has 33"),
    E("plain envelope under a passkey header", 2, PLAIN(K33), 401, "signature_type_mismatch",
      "the header says passkey, the envelope is not a passkey's"),
    E("passkey envelope under header 0", 0,
      PASSKEY("\"credential_id\":\"AAAA\",\"authenticator_data\":\"" AUTHENTICATOR
              "\",\"client_data_json\":\"e30=\""),
      401, "signature_type_mismatch", "the header says Ed25519, the envelope is a passkey's"),
    E("unknown passkey", 2,
      PASSKEY("\"credential_id\":\"AAAA\",\"authenticator_data\":\"" AUTHENTICATOR
              "\",\"client_data_json\":\"e30=\""),
      401, "invalid_signature", "the credential id is unknown"),
    E("passkey with an Ed25519 key", 2,
      PASSKEY("\"public_key\":\"" K32
              "\",\"credential_id\":\"AAAA\",\"authenticator_data\":\"" AUTHENTICATOR
              "\",\"client_data_json\":\"e30=\""),
      400, "malformed_payload", "a passkey's public_key has 33 bytes"),
    E("empty credential id", 2,
      PASSKEY("\"credential_id\":\"\",\"authenticator_data\":\"" AUTHENTICATOR
              "\",\"client_data_json\":\"e30=\""),
      400, "malformed_payload", "credential_id has 0 bytes, fewer than 1"),
    E("no authenticator data", 2,
      PASSKEY("\"credential_id\":\"AAAA\",\"client_data_json\":\"e30=\""), 400, "malformed_payload",
      "authenticator_data is missing"),
    E("authenticator data of 36 bytes", 2,
      PASSKEY("\"credential_id\":\"AAAA\",\"authenticator_data\":"
              "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"client_data_json\":\"e30=\""),
      400, "malformed_payload", "authenticator_data has 36 bytes, fewer than 37"),
    E("client data no JSON", 2,
      PASSKEY("\"credential_id\":\"AAAA\",\"authenticator_data\":\"" AUTHENTICATOR
              "\",\"client_data_json\":\"AAAA\""),
      400, "malformed_payload", "\"detail\":\"client_data_json at byte 0: "),
    E("client data with a member twice", 2,
      PASSKEY("\"credential_id\":\"AAAA\",\"authenticator_data\":\"" AUTHENTICATOR
              "\",\"client_data_json\":\"eyJhIjoxLCJhIjoyfQ==\""),
      400, "malformed_payload", "\"field\":\"client_data_json\""),
    E("unknown members are ignored", 0,
      "{\"x\":[1,{\"payload\":2}],\"payload\":\"%s\",\"signature\":\"" SIGNATURE
      "\",\"public_key\":\"" K32 "\"}",
      401, "invalid_signature", "the signature does not verify"),
    E("escapes are resolved", 0,
      "{\"pay\\u006coad\":\"%s\",\"signature\":\"MDOYaB3LoxeAoDfi7JgBluJZrLngl\\/"
      "B9omH1yjEviFMI8tE0wk7OT9K6zlbyBIMvhPkZf+laJJf8P6HNe9gDAg==\",\"public_key\":\"" K32 "\"}",
      401, "invalid_signature", "the signature does not verify"),
};

static void envelopes(void)
{
    static char text[16384], json[8192];
    for (size_t i = 0; i < CC_COUNT(envelope_rows); i++) {
        const struct envelope_row *row = &envelope_rows[i];
        uint8_t body[56] = { FIXTURE_ACCOUNT }, payload[128];
        char base64[256];
        /* Only a master's code can be a passkey's. */
        uint16_t code = row->type == 2 ? 13 : 0;
        size_t count =
            fixture_payload(&fixture, payload, code, row->type, body, code == 13 ? 56 : 48);
        (void)base64_encode(base64, payload, count);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int length = snprintf(json, sizeof json, row->format, base64);
#pragma GCC diagnostic pop
        count = fixture_post(text, sizeof text, code == 13 ? SESSION_PATH : ORDER_PATH, JSON, json,
                             (size_t)length);
        expect(row, text, count, row->status, row->code, row->part, false);
    }
}

/* W1: a plain envelope has at most 8,192 bytes, known once it is parsed. */
static void plain_envelope_above_8192(void)
{
    static const struct {
        int line;
        const char *name;
    } row = { __LINE__, "8193" };
    static char json[8300], text[9000];
    memset(json, ' ', sizeof json);
    memcpy(json, "{\"payload\":\"\",\"signature\":\"\",\"public_key\":\"\"", 44);
    json[8191] = '}';
    size_t count = fixture_post(text, sizeof text, ORDER_PATH, JSON, json, 8192);
    expect(&row, text, count, 400, "malformed_payload", "the payload has 0 bytes", false);
    json[8191] = ' ';
    json[8192] = '}';
    count = fixture_post(text, sizeof text, ORDER_PATH, JSON, json, 8193);
    expect(&row, text, count, 413, "payload_too_large", "\"max_bytes\":8192", false);
}

/* 431, and 404 before it where the path is known. */
static void long_heads(void)
{
    static const struct {
        int line;
        const char *name;
    } row = { __LINE__, "long head" };
    static char text[32768];
    for (int known = 0; known < 2; known++) {
        size_t count = (size_t)sprintf(
            text, "GET %s HTTP/1.1\r\n" HOST "A: ", known ? "/api/v1/time" : "/nothing");
        memset(text + count, 'a', sizeof text - count);
        if (known)
            expect(&row, text, sizeof text, 431, "headers_too_large", "exceed 16384 bytes", true);
        else
            expect(&row, text, sizeof text, 404, "not_found", "no such path", true);
    }
}

int main(void)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    protocol = fixture_protocol(&fixture, 64);
    heads_and_reads();
    previews();
    signed_requests();
    window_is_exact();
    envelopes();
    plain_envelope_above_8192();
    long_heads();
    CHECK(protocol->context.pendings.used == 0 && protocol->context.outputs.used == 0 &&
          protocol->context.conns.open_count == 0);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
    return 0;
}
