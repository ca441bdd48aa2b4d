#include "net/request/envelope.h"

#include "base/base64.h"
#include "base/json_scan.h"
#include "net/request/base64_run.h"

enum {
    ED25519_TAIL = 32 + 64,
    SECP256K1_TAIL = 33 + 64,
    SIGNATURE_LENGTH = 64,
    SIGNATURE_SHOWN_MAX = 80, /* what is looked at to say what is wrong: DER has at most 72 */
    KEY_LENGTH_MAX = 33,
    PLAIN_MAX = 8192, /* the longest text of a member */
};

enum member {
    PAYLOAD,
    SIGNATURE,
    PUBLIC_KEY,
    CREDENTIAL_ID,
    AUTHENTICATOR_DATA,
    CLIENT_DATA_JSON,
    MEMBERS
};

static const char *const member_names[MEMBERS] = {
    "payload", "signature", "public_key", "credential_id", "authenticator_data", "client_data_json",
};

/* Decodes one member into `out`. Returns its length, or -1 with *problem set. */
static ptrdiff_t decode(const struct json_member *member, const char *name, uint8_t *out,
                        size_t capacity, struct problem_detail *problem)
{
    char plain[PLAIN_MAX];
    const char *text = member->value.text;
    size_t count = member->value.count;
    size_t error_at = 0;
    if (CC_UNLIKELY(member->value.escaped)) {
        ptrdiff_t length = json_scan_unescape(&member->value, plain, sizeof plain);
        if (length < 0) {
            problem_detail_set(problem, PROBLEM_malformed_payload, name,
                               "%s has more than %zu bytes", name, capacity);
            return -1;
        }
        text = plain;
        count = (size_t)length;
    }
    ptrdiff_t length = base64_decode(out, capacity, text, count, &error_at);
    if (CC_LIKELY(length >= 0))
        return length;
    if (length == -1)
        problem_detail_set(problem, PROBLEM_invalid_base64, name,
                           "%s is not standard Base64 at character %zu", name, error_at);
    else
        problem_detail_set(problem, PROBLEM_malformed_payload, name, "%s has more than %zu bytes",
                           name, capacity);
    return -1;
}

static bool need_string(const struct json_member *member, struct problem_detail *problem)
{
    if (CC_LIKELY(member->kind == JSON_STRING))
        return true;
    if (member->kind == JSON_NONE)
        return problem_detail_set(problem, PROBLEM_malformed_payload, member->name, "%s is missing",
                                  member->name);
    return problem_detail_set(problem, PROBLEM_malformed_payload, member->name,
                              "%s is not a string", member->name);
}

/* W1: a payload is Header, RequestId and a body, a multiple of 8. */
static bool check_payload_length(size_t count, struct problem_detail *problem)
{
    const char *name = member_names[PAYLOAD];
    if (count < REQUEST_BODY_AT)
        return problem_detail_set(problem, PROBLEM_malformed_payload, name,
                                  "the payload has %zu bytes; header and request id alone are %d",
                                  count, REQUEST_BODY_AT);
    if (count > REQUEST_PAYLOAD_MAX)
        return problem_detail_set(problem, PROBLEM_malformed_payload, name,
                                  "the payload has %zu bytes; at most %d are allowed", count,
                                  REQUEST_PAYLOAD_MAX);
    if (count % 8 != 0)
        return problem_detail_set(problem, PROBLEM_malformed_payload, name,
                                  "the payload has %zu bytes, not a multiple of 8", count);
    return true;
}

static bool check_key_length(size_t count, struct problem_detail *problem)
{
    if (count == 32 || count == 33)
        return true;
    return problem_detail_set(problem, PROBLEM_malformed_payload, member_names[PUBLIC_KEY],
                              "public_key has %zu bytes, neither 32 nor 33", count);
}

/* `bytes` are the first of the signature, at least 1 if count is not 0. */
static bool check_signature_length(const uint8_t *bytes, size_t count,
                                   struct problem_detail *problem)
{
    if (CC_LIKELY(count == SIGNATURE_LENGTH))
        return true;
    if (count == SIGNATURE_LENGTH + 1)
        return problem_detail_set(problem, PROBLEM_malformed_payload, member_names[SIGNATURE],
                                  "signature has 65 bytes: r, s and v, as wallets give it; leave "
                                  "out v, the last byte");
    if (count > SIGNATURE_LENGTH && bytes[0] == 0x30)
        return problem_detail_set(problem, PROBLEM_malformed_payload, member_names[SIGNATURE],
                                  "signature has %zu bytes and looks like DER; send r and s, 32 "
                                  "bytes each",
                                  count);
    return problem_detail_set(problem, PROBLEM_malformed_payload, member_names[SIGNATURE],
                              "signature has %zu bytes, not %d", count, SIGNATURE_LENGTH);
}

/* Decodes a member that only a passkey sends, of `least` to `most` bytes, to `out`. Returns its
 * length, or 0 with *problem set. */
static uint16_t read_passkey_part(const struct json_member *member, size_t least, size_t most,
                                  uint8_t *out, struct problem_detail *problem)
{
    if (!need_string(member, problem))
        return 0;
    ptrdiff_t count = decode(member, member->name, out, most, problem);
    if (count >= 0 && (size_t)count < least)
        (void)problem_detail_set(problem, PROBLEM_malformed_payload, member->name,
                                 "%s has %td bytes, fewer than %zu", member->name, count, least);
    return count < 0 || (size_t)count < least ? 0 : (uint16_t)count;
}

/* The WebAuthn fields, after the signature, in the form of base/assertion.h. */
static bool read_assertion(struct envelope *envelope, const struct json_member *members,
                           uint8_t *out, struct problem_detail *problem)
{
    const struct json_member *client_data = &members[CLIENT_DATA_JSON];
    struct assertion parts = { 0 };
    uint8_t *at = out + ASSERTION_HEADER_BYTES;
    size_t error_at = 0;
    parts.credential_id_bytes =
        read_passkey_part(&members[CREDENTIAL_ID], 1, ASSERTION_CREDENTIAL_MAX, at, problem);
    if (parts.credential_id_bytes == 0)
        return false;
    at += parts.credential_id_bytes;
    parts.authenticator_data_bytes =
        read_passkey_part(&members[AUTHENTICATOR_DATA], ASSERTION_AUTHENTICATOR_MIN,
                          ASSERTION_AUTHENTICATOR_MAX, at, problem);
    if (parts.authenticator_data_bytes == 0)
        return false;
    at += parts.authenticator_data_bytes;
    parts.client_data_bytes =
        read_passkey_part(client_data, 1, ASSERTION_CLIENT_DATA_MAX, at, problem);
    if (parts.client_data_bytes == 0)
        return false;
    enum json_error error =
        json_scan_members((const char *)at, parts.client_data_bytes, NULL, 0, &error_at);
    if (error != JSON_OK)
        return problem_detail_set(problem, PROBLEM_malformed_payload, client_data->name,
                                  "client_data_json at byte %zu: %s", error_at,
                                  json_scan_error_text(error));
    assertion_write_header(out, &parts);
    envelope->extra_bytes = (uint32_t)(at + parts.client_data_bytes - out);
    return true;
}

static bool read_payload(struct envelope *envelope, const struct json_member *member,
                         uint8_t *space, struct problem_detail *problem)
{
    size_t capacity = envelope->passkey ? ENVELOPE_PASSKEY_PAYLOAD_MAX : REQUEST_PAYLOAD_MAX;
    ptrdiff_t count = decode(member, member->name, space, capacity, problem);
    if (count < 0 || !check_payload_length((size_t)count, problem))
        return false;
    envelope->payload = space;
    envelope->payload_bytes = (uint32_t)count;
    return true;
}

/* Key (optional for a passkey) and signature, after the payload. */
static bool read_proof(struct envelope *envelope, const struct json_member *members, uint8_t *space,
                       struct problem_detail *problem)
{
    uint8_t *key = space + envelope->payload_bytes;
    ptrdiff_t count = KEY_LENGTH_MAX;
    envelope->key_sent = !envelope->passkey || members[PUBLIC_KEY].kind != JSON_NONE;
    if (!envelope->key_sent) {
        memset(key, 0, KEY_LENGTH_MAX);
    } else {
        if (!need_string(&members[PUBLIC_KEY], problem))
            return false;
        count =
            decode(&members[PUBLIC_KEY], member_names[PUBLIC_KEY], key, KEY_LENGTH_MAX, problem);
        if (count < 0 || !check_key_length((size_t)count, problem))
            return false;
        if (envelope->passkey && count != KEY_LENGTH_MAX)
            return problem_detail_set(problem, PROBLEM_malformed_payload, member_names[PUBLIC_KEY],
                                      "a passkey's public_key has 33 bytes");
    }
    envelope->key = key;
    envelope->key_bytes = (uint32_t)count;
    envelope->signature = key + count;
    uint8_t signature[SIGNATURE_SHOWN_MAX];
    ptrdiff_t length =
        decode(&members[SIGNATURE], member_names[SIGNATURE], signature, sizeof signature, problem);
    if (length < 0 || !check_signature_length(signature, (size_t)length, problem))
        return false;
    memcpy(key + count, signature, SIGNATURE_LENGTH);
    return true;
}

/* ---- the form that clients send: one pass --------------------------------------------------- */

/* A position in a body. */
struct cursor {
    const char *at, *end;
};

static void skip_space(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\n' ||
                                        *cursor->at == '\r' || *cursor->at == '\t'))
        cursor->at++;
}

/* Skips white space and the expected character. */
static bool skip(struct cursor *cursor, char c)
{
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

/* Reads the name of one of the three members, its colon and the opening quote of its value.
 * MEMBERS: something else is there. */
static enum member parse_name(struct cursor *cursor)
{
    skip_space(cursor);
    for (enum member place = PAYLOAD; place <= PUBLIC_KEY; place++) {
        const char *name = member_names[place];
        size_t count = strlen(name);
        if ((size_t)(cursor->end - cursor->at) >= count + 2 && cursor->at[0] == '"' &&
            cursor->at[count + 1] == '"' && memcmp(cursor->at + 1, name, count) == 0) {
            cursor->at += count + 2;
            return skip(cursor, ':') && skip(cursor, '"') ? place : MEMBERS;
        }
    }
    return MEMBERS;
}

/* The targets of the members of an envelope, and which members came. */
struct parts {
    uint8_t *bytes[PUBLIC_KEY + 1];
    size_t capacity[PUBLIC_KEY + 1];
    ptrdiff_t count[PUBLIC_KEY + 1]; /* -1: not seen */
};

static bool parse_members(struct cursor *cursor, struct parts *parts)
{
    bool more;
    if (!skip(cursor, '{'))
        return false;
    do {
        enum member place = parse_name(cursor);
        size_t used;
        if (place == MEMBERS || parts->count[place] >= 0)
            return false;
        parts->count[place] = base64_run(parts->bytes[place], parts->capacity[place], cursor->at,
                                         (size_t)(cursor->end - cursor->at), &used);
        if (parts->count[place] < 0)
            return false;
        cursor->at += used;
        if (cursor->at == cursor->end || *cursor->at++ != '"') /* no white space before it */
            return false;
        more = skip(cursor, ',');
    } while (more);
    if (!skip(cursor, '}'))
        return false;
    skip_space(cursor);
    return cursor->at == cursor->end;
}

/* Reads an object of payload, signature and public_key, each once, in any order, in plain Base64 of
 * the right length: the form that correct clients send. False for any other body; the envelope is
 * then undefined, and the strict reader finds the problem. */
static bool read_plain(struct envelope *envelope, const char *body, size_t count, uint8_t *space)
{
    uint8_t proof[SIGNATURE_LENGTH + KEY_LENGTH_MAX];
    struct cursor cursor = { body, body + count };
    struct parts parts = {
        .bytes = { space, proof, proof + SIGNATURE_LENGTH },
        .capacity = { REQUEST_PAYLOAD_MAX, SIGNATURE_LENGTH, KEY_LENGTH_MAX },
        .count = { -1, -1, -1 },
    };

    if (!parse_members(&cursor, &parts))
        return false;
    ptrdiff_t payload_bytes = parts.count[PAYLOAD], key_bytes = parts.count[PUBLIC_KEY];
    if (payload_bytes < REQUEST_BODY_AT || payload_bytes % 8 != 0 || key_bytes < 32 ||
        parts.count[SIGNATURE] != SIGNATURE_LENGTH)
        return false;
    envelope->passkey = false;
    envelope->key_sent = true;
    envelope->extra_bytes = 0;
    envelope->payload = space;
    envelope->payload_bytes = (uint32_t)payload_bytes;
    envelope->key = space + payload_bytes;
    envelope->key_bytes = (uint32_t)key_bytes;
    envelope->signature = envelope->key + key_bytes;
    memcpy(space + payload_bytes, proof + SIGNATURE_LENGTH, (size_t)key_bytes);
    memcpy(space + payload_bytes + key_bytes, proof, SIGNATURE_LENGTH);
    return true;
}

bool envelope_json_strict(struct envelope *envelope, const char *body, size_t count, uint8_t *space,
                          struct problem_detail *problem)
{
    struct json_member members[MEMBERS] = {
        [PAYLOAD] = JSON_MEMBER("payload"),
        [SIGNATURE] = JSON_MEMBER("signature"),
        [PUBLIC_KEY] = JSON_MEMBER("public_key"),
        [CREDENTIAL_ID] = JSON_MEMBER("credential_id"),
        [AUTHENTICATOR_DATA] = JSON_MEMBER("authenticator_data"),
        [CLIENT_DATA_JSON] = JSON_MEMBER("client_data_json"),
    };
    size_t error_at = 0;
    enum json_error error = json_scan_members(body, count, members, MEMBERS, &error_at);
    if (CC_UNLIKELY(error != JSON_OK))
        return problem_detail_set(problem, PROBLEM_malformed_json, NULL, "at byte %zu: %s",
                                  error_at, json_scan_error_text(error));
    envelope->passkey = members[CREDENTIAL_ID].kind != JSON_NONE;
    envelope->extra_bytes = 0;
    if (CC_UNLIKELY(!envelope->passkey && count > REQUEST_ENVELOPE_MAX))
        return problem_detail_set_number(problem, PROBLEM_payload_too_large, REQUEST_ENVELOPE_MAX,
                                         "a signed envelope has at most %d bytes",
                                         REQUEST_ENVELOPE_MAX);
    if (!need_string(&members[PAYLOAD], problem) || !need_string(&members[SIGNATURE], problem))
        return false;
    if (!read_payload(envelope, &members[PAYLOAD], space, problem))
        return false;
    if (!read_proof(envelope, members, space, problem))
        return false;
    return CC_LIKELY(!envelope->passkey) ||
           read_assertion(envelope, members,
                          space + envelope->payload_bytes + KEY_LENGTH_MAX + SIGNATURE_LENGTH,
                          problem);
}

bool envelope_json(struct envelope *envelope, const char *body, size_t count, uint8_t *space,
                   struct problem_detail *problem)
{
    if (CC_LIKELY(count <= REQUEST_ENVELOPE_MAX && read_plain(envelope, body, count, space)))
        return true;
    return envelope_json_strict(envelope, body, count, space, problem);
}

bool envelope_frame(struct envelope *envelope, const uint8_t *body, size_t count, uint8_t *space,
                    struct problem_detail *problem)
{
    const char *name = member_names[PAYLOAD];
    if (CC_UNLIKELY(count > REQUEST_FRAME_MAX))
        return problem_detail_set_number(problem, PROBLEM_payload_too_large, REQUEST_FRAME_MAX,
                                         "a binary frame has at most %d bytes", REQUEST_FRAME_MAX);
    if (CC_UNLIKELY(count < REQUEST_HEADER_BYTES))
        return problem_detail_set(problem, PROBLEM_malformed_payload, name,
                                  "the frame has %zu bytes, fewer than a header", count);
    if (CC_UNLIKELY(body[0] != REQUEST_VERSION))
        return problem_detail_set(problem, PROBLEM_unsupported_version, NULL,
                                  "header version %u; this service speaks version %d", body[0],
                                  REQUEST_VERSION);
    if (body[1] == SIGNATURE_PASSKEY)
        return problem_detail_set(problem, PROBLEM_passkey_requires_json, NULL,
                                  "a passkey request is sent as JSON");
    if (CC_UNLIKELY(body[1] > SIGNATURE_PASSKEY))
        return problem_detail_set(problem, PROBLEM_malformed_payload, "signature_type",
                                  "signature_type %u is none of 0, 1, 2", body[1]);
    size_t tail = body[1] == SIGNATURE_ED25519 ? ED25519_TAIL : SECP256K1_TAIL;
    if (CC_UNLIKELY(count < REQUEST_BODY_AT + tail))
        return problem_detail_set(
            problem, PROBLEM_malformed_payload, name,
            "the frame has %zu bytes; header, request id, key and signature are %zu", count,
            REQUEST_BODY_AT + tail);
    if (tail == SECP256K1_TAIL && (count - tail) % 8 == 1)
        return problem_detail_set(problem, PROBLEM_malformed_payload, member_names[SIGNATURE],
                                  "the frame is a byte too long: a wallet's signature of 65 bytes "
                                  "ends with v; leave it out");
    if (!check_payload_length(count - tail, problem))
        return false;
    memcpy(space, body, count);
    envelope->passkey = false;
    envelope->key_sent = true;
    envelope->extra_bytes = 0;
    envelope->payload = space;
    envelope->payload_bytes = (uint32_t)(count - tail);
    envelope->key = space + envelope->payload_bytes;
    envelope->key_bytes = (uint32_t)(tail - SIGNATURE_LENGTH);
    envelope->signature = envelope->key + envelope->key_bytes;
    return true;
}
