/* Every vector of tests/vectors/perpd sent as a client sends it: envelope and frame through the
 * whole of net. What this binary has no path for is refused as such; the crypto tests judge the
 * rest. */
#include <jansson.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/hex.h"
#include "base/request.h"
#include "check.h"
#include "net/fixture.h"

#define OCTETS "application/octet-stream"
#define JSON   "application/json"

static struct fixture fixture;
static struct protocol *protocol;

static json_t *load(const char *name)
{
    const char *source = getenv("PERPD_SOURCE");
    char path[4096];
    json_error_t error;
    (void)snprintf(path, sizeof path, "%s/tests/vectors/perpd/%s.json",
                   source != NULL ? source : ".", name);
    json_t *document = json_load_file(path, 0, &error);
    if (document == NULL)
        fprintf(stderr, "%s: %s\n", path, error.text);
    CHECK(document != NULL);
    return document;
}

static void begin(uint64_t now_ms, const char *exchange_id)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    if (exchange_id != NULL)
        CHECK(hex_decode(fixture.config.exchange_id, 32, exchange_id, 64));
    clock_set(&fixture.clock, now_ms * 1000000);
    protocol = fixture_protocol(&fixture, 64);
}

static void end(void)
{
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

static char last_body[65536];

/* Sends a body; gives the status, the problem code or "" in `code`, and the answer in last_body. */
static int post(const char *path, const char *media, const void *body, size_t count, char code[64])
{
    static char text[32768];
    struct wire wire;
    struct wire_answer answer;
    size_t bytes = fixture_post(text, sizeof text, path, media, body, count);
    wire_open(&wire, &fixture, protocol, false);
    wire_send(&wire, text, bytes, 0);
    CHECK(wire_answer(&wire, &answer, false));
    const char *at = memmem(answer.body, answer.body_bytes, "\"code\":\"", 8);
    code[0] = '\0';
    if (at != NULL)
        (void)snprintf(code, 64, "%.*s", (int)strcspn(at + 8, "\""), at + 8);
    (void)snprintf(last_body, sizeof last_body, "%.*s", (int)answer.body_bytes, answer.body);
    int status = answer.status;
    wire_free(&wire);
    return status;
}

static void judge(const char *name, const struct request *request, bool valid, const char *media,
                  const void *body, size_t count)
{
    char code[64];
    int status = post(request->path, media, body, count, code);
    bool right;
    if (!request->built) /* no path, or a path of another code */
        right = status == 404 || (status == 400 && strcmp(code, "request_type_not_allowed") == 0);
    else if (valid)
        right = status == 200;
    else
        right = status == 401 && strcmp(code, "invalid_signature") == 0;
    if (!right)
        fprintf(stderr, "%s as %s: %d %s\n", name, media, status, code);
    CHECK(right);
}

/* J6: integers of a message are numbers up to 2^53 - 1, above them decimal strings; the vectors
 * have strings. */
static void check_message(const json_t *want, json_t *shown)
{
    const char *name;
    json_t *value;
    CHECK(json_object_size(want) == json_object_size(shown));
    json_object_foreach(shown, name, value)
    {
        char text[32] = "";
        const json_t *wanted = json_object_get(want, name);
        if (json_is_integer(value))
            (void)snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
        CHECK(wanted != NULL);
        CHECK(text[0] != '\0' ? strcmp(text, json_string_value(wanted)) == 0
                              : json_equal(value, wanted));
    }
}

/* W4, W7: the preview of a payload is the typed data and the digest of its vector, whatever the
 * clock. */
static void check_preview(const json_t *vector)
{
    char code[64];
    const json_t *wanted = json_object_get(vector, "typed_data");
    const json_t *payload = json_object_get(json_object_get(vector, "envelope"), "payload");
    json_t *body = json_pack("{sO}", "payload", payload);
    char *text = json_dumps(body, JSON_COMPACT);
    clock_set(&fixture.clock, UINT64_C(1000000000000000000));
    CHECK(post("/api/v1/eip712/preview", JSON, text, strlen(text), code) == 200);
    json_t *shown = json_loads(last_body, JSON_REJECT_DUPLICATES, NULL);
    CHECK(shown != NULL && json_object_size(shown) == 4);
    const json_t *typed = json_object_get(shown, "typed_data");
    CHECK(json_object_size(typed) == 4);
    static const char *const members[] = { "types", "primaryType", "domain" };
    for (size_t i = 0; i < CC_COUNT(members); i++)
        CHECK(json_equal(json_object_get(typed, members[i]), json_object_get(wanted, members[i])));
    check_message(json_object_get(wanted, "message"), json_object_get(typed, "message"));
    static const char *const hashes[] = { "domain_separator", "struct_hash", "digest" };
    for (size_t i = 0; i < CC_COUNT(hashes); i++)
        CHECK(json_equal(json_object_get(shown, hashes[i]), json_object_get(vector, hashes[i])));
    json_decref(shown);
    json_decref(body);
    free(text);
}

static unsigned signed_vectors(const char *file)
{
    json_t *document = load(file);
    json_t *vector;
    size_t i;
    unsigned count = 0;
    json_array_foreach(json_object_get(document, "vectors"), i, vector)
    {
        uint8_t payload[REQUEST_FRAME_MAX], id[16];
        const char *name = json_string_value(json_object_get(vector, "name"));
        const char *hex = json_string_value(json_object_get(vector, "payload_hex"));
        const char *frame = json_string_value(json_object_get(vector, "binary_frame_hex"));
        const char *exchange_id = json_string_value(json_object_get(vector, "exchange_id"));
        int code = (int)json_integer_value(json_object_get(vector, "request_type"));
        bool valid = json_is_true(json_object_get(vector, "valid"));
        const struct request *request = request_find((uint32_t)code);
        CHECK(request != NULL && hex_decode(payload, strlen(hex) / 2, hex, strlen(hex)));
        if (request->signer == SIGNER_OPERATOR) /* the vectors are of rules 5: not bound (W4) */
            valid = false;
        memcpy(id, payload + 8, 16);
        begin(__builtin_bswap64(cc_load64(id)) >> 16, exchange_id);
        char *json = json_dumps(json_object_get(vector, "envelope"), JSON_COMPACT);
        judge(name, request, valid, JSON, json, strlen(json));
        if (frame != NULL) {
            CHECK(hex_decode(payload, strlen(frame) / 2, frame, strlen(frame)));
            judge(name, request, valid, OCTETS, payload, strlen(frame) / 2);
        }
        free(json);
        if (valid && json_object_get(vector, "typed_data") != NULL)
            check_preview(vector);
        end();
        count++;
    }
    json_decref(document);
    return count;
}

/* The verdict on a request id, in an order signed for it. */
static unsigned id_vectors(void)
{
    json_t *document = load("uuid7");
    json_t *vector;
    size_t i;
    unsigned count = 0;
    json_array_foreach(json_object_get(document, "vectors"), i, vector)
    {
        uint8_t body[48], frame[256];
        char code[64];
        const char *hex = json_string_value(json_object_get(vector, "hex"));
        const char *verdict = json_string_value(json_object_get(vector, "verdict"));
        begin((uint64_t)json_integer_value(json_object_get(vector, "now_ms")), NULL);
        fixture_order(body);
        size_t bytes = fixture_payload(&fixture, frame, 0, 0, body, sizeof body);
        CHECK(hex_decode(frame + 8, 16, hex, strlen(hex)));
        memcpy(frame + bytes, fixture.session.key, 32);
        signer_ed25519_sign(&fixture.session, frame, bytes, frame + bytes + 32);
        int status = post("/api/v1/trading/order/place/limit", OCTETS, frame, bytes + 96, code);
        if (strcmp(verdict, "accept") == 0)
            CHECK(status == 200);
        else
            CHECK(status == 400 && strcmp(code, verdict) == 0);
        end();
        count++;
    }
    json_decref(document);
    return count;
}

/* What net answers to a vector: its failing_check, or "" when the command is pushed. */
static const char *passkey_problem(const json_t *vector)
{
    static const char *const names[][2] = {
        { "type", "passkey_type" },
        { "challenge", "passkey_challenge" },
        { "origin", "passkey_origin" },
        { "crossOrigin", "passkey_cross_origin" },
        { "rpIdHash", "passkey_rp_id" },
        { "flags UP", "passkey_user_presence" },
        { "flags UV", "passkey_user_verification" },
        { "signature", "invalid_signature" },
        { "public_key", "passkey_public_key_mismatch" },
    };
    if (json_is_true(json_object_get(vector, "valid")))
        return "";
    for (size_t i = 0; i < CC_COUNT(names); i++)
        if (strcmp(names[i][0], json_string_value(json_object_get(vector, "failing_check"))) == 0)
            return names[i][1];
    CHECK(!"an unknown check");
    return NULL;
}

/* The command has the key that is stored, and the assertion as it was sent. */
static void check_passkey_command(const json_t *envelope, const uint8_t key[33])
{
    const struct command *command = (const void *)fixture.last_command;
    const char *client = json_string_value(json_object_get(envelope, "client_data_json"));
    char text[4096];
    struct assertion assertion;
    CHECK(command->kind == COMMAND_PASSKEY && command->key_bytes == 33);
    CHECK(memcmp(command_key(command), key, 33) == 0);
    CHECK(assertion_read(&assertion, command_extra(command), command->extra_bytes));
    (void)base64_encode(text, assertion.client_data, assertion.client_data_bytes);
    CHECK(strcmp(text, client) == 0);
}

/* W4, each check with its own code. To another account the credential id is unknown. */
static unsigned passkey_vectors(void)
{
    json_t *document = load("passkey");
    json_t *vector;
    size_t i;
    unsigned count = 0;
    json_array_foreach(json_object_get(document, "vectors"), i, vector)
    {
        uint8_t payload[REQUEST_PAYLOAD_MAX], key[33], id[256];
        char code[64];
        const json_t *envelope = json_object_get(vector, "envelope");
        const char *hex = json_string_value(json_object_get(vector, "payload_hex"));
        const char *key_hex = json_string_value(json_object_get(vector, "stored_public_key"));
        const char *id_text = json_string_value(json_object_get(envelope, "credential_id"));
        CHECK(hex_decode(payload, strlen(hex) / 2, hex, strlen(hex)));
        CHECK(hex_decode(key, sizeof key, key_hex, strlen(key_hex)));
        ptrdiff_t id_bytes = base64_decode(id, sizeof id, id_text, strlen(id_text), NULL);
        CHECK(id_bytes > 0);
        const struct request *request = request_find(cc_load16(payload + 2));
        begin(__builtin_bswap64(cc_load64(payload + 8)) >> 16, NULL);
        char *json = json_dumps(envelope, JSON_COMPACT);
        CHECK(post(request->path, JSON, json, strlen(json), code) == 401);
        CHECK(strcmp(code, "invalid_signature") == 0 && fixture.command_count == 0);
        fixture_passkey(&fixture, key, id, (size_t)id_bytes);
        int status = post(request->path, JSON, json, strlen(json), code);
        bool right = strcmp(code, passkey_problem(vector)) == 0;
        if (!right)
            fprintf(stderr, "%s: %d %s\n", json_string_value(json_object_get(vector, "name")),
                    status, code);
        CHECK(right && status == (code[0] == '\0' ? 200 : 401));
        CHECK(fixture.command_count == (code[0] == '\0'));
        if (code[0] == '\0')
            check_passkey_command(envelope, key);
        free(json);
        end();
        count++;
    }
    json_decref(document);
    return count;
}

int main(void)
{
    CHECK(signed_vectors("ed25519") >= 33);
    CHECK(signed_vectors("eip712") >= 30);
    CHECK(id_vectors() >= 18);
    CHECK(passkey_vectors() >= 18);
    return 0;
}
