#include "net/request/payload_report.h"

#include <openssl/sha.h>

#include "base/dump.h"
#include "base/json_scan.h"
#include "base/message.h"
#include "base/status.h"
#include "net/json/ack.h"
#include "net/request/admission.h"
#include "net/request/key_lookup.h"
#include "net/request/passkey_verdict.h"

enum { PROOF_MAX = 160, CODE_AT = 2, TYPE_AT = 1, SIGNATURE_LENGTH = 64 };

/* What a client sent, read as far as it can be: unlike an envelope it may have any length. */
struct sent {
    uint8_t payload[REQUEST_PAYLOAD_MAX];
    uint8_t key[PROOF_MAX], signature[PROOF_MAX];
    char client_data[ASSERTION_CLIENT_DATA_MAX];
    uint8_t assertion[ASSERTION_BYTES_MAX]; /* base/assertion.h, of a whole passkey envelope */
    size_t assertion_bytes;
    size_t payload_bytes, key_bytes, signature_bytes, client_data_bytes;
    uint32_t mistakes; /* of its Base64 */
    bool passkey;
    struct problem_detail problem; /* of the envelope, code PROBLEM_none: none */
};

/* ---- reading -------------------------------------------------------------------------------- */

static size_t read_member(struct sent *sent, const struct json_member *member, void *bytes,
                          size_t capacity)
{
    char text[REQUEST_ENVELOPE_MAX];
    if (member->kind != JSON_STRING)
        return 0;
    ptrdiff_t count = json_scan_unescape(&member->value, text, sizeof text);
    if (count < 0)
        return 0;
    ptrdiff_t length =
        signing_mistake_decode(bytes, capacity, text, (size_t)count, &sent->mistakes);
    return length < 0 ? 0 : (size_t)length;
}

static void read_json(struct sent *sent, const char *body, size_t count)
{
    struct json_member members[] = { JSON_MEMBER("payload"), JSON_MEMBER("public_key"),
                                     JSON_MEMBER("signature"), JSON_MEMBER("client_data_json") };
    size_t error_at = 0;
    if (json_scan_members(body, count, members, CC_COUNT(members), &error_at) != JSON_OK)
        return;
    sent->payload_bytes = read_member(sent, &members[0], sent->payload, sizeof sent->payload);
    sent->key_bytes = read_member(sent, &members[1], sent->key, sizeof sent->key);
    sent->signature_bytes = read_member(sent, &members[2], sent->signature, sizeof sent->signature);
    sent->client_data_bytes =
        read_member(sent, &members[3], sent->client_data, sizeof sent->client_data);
    sent->passkey = members[3].kind == JSON_STRING;
}

/* A frame is split by its header; a wallet's signature makes it a byte longer. */
static void read_frame(struct sent *sent, const char *body, size_t count)
{
    size_t key_bytes = count > TYPE_AT && body[TYPE_AT] == SIGNATURE_ED25519 ? 32 : 33;
    size_t tail = key_bytes + SIGNATURE_LENGTH;
    if (count >= tail && (count - tail) % 8 == 1 && key_bytes == 33)
        tail++;
    if (count < tail || count - tail > REQUEST_PAYLOAD_MAX)
        return;
    sent->payload_bytes = count - tail;
    sent->key_bytes = key_bytes;
    sent->signature_bytes = tail - key_bytes;
    memcpy(sent->payload, body, sent->payload_bytes);
    memcpy(sent->key, body + sent->payload_bytes, key_bytes);
    memcpy(sent->signature, body + sent->payload_bytes + key_bytes, sent->signature_bytes);
}

static void read_sent(struct sent *sent, const char *body, size_t count, bool octets)
{
    uint8_t space[ENVELOPE_SPACE];
    struct envelope envelope;
    memset(sent, 0, sizeof *sent);
    if (octets ? envelope_frame(&envelope, (const uint8_t *)body, count, space, &sent->problem)
               : envelope_json(&envelope, body, count, space, &sent->problem)) {
        sent->problem.code = PROBLEM_none;
        sent->assertion_bytes = envelope.extra_bytes;
        memcpy(sent->assertion, envelope.signature + SIGNATURE_LENGTH, envelope.extra_bytes);
    }
    if (octets)
        read_frame(sent, body, count);
    else
        read_json(sent, body, count);
}

void payload_report_search(const struct context *context, const char *body, size_t count,
                           bool octets, struct signing_finding *finding)
{
    struct sent sent;
    read_sent(&sent, body, count, octets);
    const struct signing_case search = {
        .payload = sent.payload,
        .payload_bytes = sent.payload_bytes,
        .key = sent.key,
        .key_bytes = sent.key_bytes,
        .signature = sent.signature,
        .signature_bytes = sent.signature_bytes,
        .eip712 = &context->eip712,
        .client_data = sent.passkey ? sent.client_data : NULL,
        .client_data_bytes = sent.client_data_bytes,
    };
    signing_mistake_find(&search, finding);
    finding->mistakes |= sent.mistakes;
}

/* ---- checks --------------------------------------------------------------------------------- */

struct checks {
    struct writer *writer;
    unsigned count;
};

/* A check that could not be judged, because one before it failed, has neither code nor detail. */
static void write_check(struct checks *checks, const char *name, bool good, const char *code,
                        const char *detail)
{
    struct writer *writer = checks->writer;
    writer_text(writer, checks->count++ > 0 ? ",{\"check\":\"" : "{\"check\":\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\",\"ok\":");
    writer_bool(writer, good);
    if (!good && code != NULL) {
        WRITER_TEXT(writer, ",\"code\":\"");
        writer_text(writer, code);
        WRITER_TEXT(writer, "\",\"detail\":");
        writer_string(writer, detail, strlen(detail));
    }
    WRITER_TEXT(writer, "}");
}

static void write_verdict(struct checks *checks, const char *name, bool judged, bool good,
                          const struct problem_detail *problem)
{
    write_check(checks, name, judged && good, judged && !good ? problem_code(problem->code) : NULL,
                problem->detail);
}

/* The row of a code that this exchange takes on some path; else NULL with a problem. */
static const struct request *find_request(const struct sent *sent, struct problem_detail *problem)
{
    uint16_t code = cc_load16(sent->payload + CODE_AT);
    const struct request *request = request_find(code);
    if (request != NULL && request->built && request->path[0] != '\0')
        return request;
    (void)problem_detail_set_number(problem, PROBLEM_request_type_not_allowed, code,
                                    "request type %u has no path", code);
    return NULL;
}

/* Step 11 of R11: the status that an unknown key gets. */
static void write_key_check(const struct context *context, struct checks *checks,
                            const struct request *request, const struct sent *sent)
{
    alignas(8) uint8_t bytes[sizeof(struct command) + REQUEST_FRAME_MAX];
    struct command *command = (struct command *)(void *)bytes;
    if (request == NULL || sent->key_bytes > 33 || sent->key_bytes < 32) {
        write_check(checks, "key", false, NULL, NULL);
        return;
    }
    *command = (struct command){ .code = request->code,
                                 .kind = COMMAND_SIGNED,
                                 .payload_bytes = (uint16_t)sent->payload_bytes,
                                 .key_bytes = (uint16_t)sent->key_bytes };
    memcpy(command->bytes, sent->payload, sent->payload_bytes);
    memcpy(command->bytes + sent->payload_bytes, sent->key, sent->key_bytes);
    bool known = request->signer == SIGNER_NEW_SECP256K1 ||
                 key_lookup_is_known(context->config, request, command);
    write_check(checks, "key", known, status_name(ack_unauthorized(request->code)),
                "no live key of this account, or of this operator code, is this public key");
}

/* Steps 10 and 11 of R11 for a passkey: the key is found before the signature can be judged. */
static void write_passkey_checks(const struct context *context, struct checks *checks,
                                 const struct request *request, const struct sent *sent)
{
    alignas(8) uint8_t bytes[sizeof(struct command) + ENVELOPE_SPACE];
    struct command *command = (struct command *)(void *)bytes;
    bool key_sent = sent->key_bytes == P256_KEY_BYTES;
    if (request == NULL || sent->assertion_bytes == 0 ||
        (request->signer == SIGNER_NEW_PASSKEY && !key_sent)) {
        write_check(checks, "signature", false, NULL, NULL);
        write_check(checks, "key", false, NULL, NULL);
        return;
    }
    *command = (struct command){ .code = request->code,
                                 .kind = COMMAND_PASSKEY,
                                 .payload_bytes = (uint16_t)sent->payload_bytes,
                                 .key_bytes = P256_KEY_BYTES,
                                 .extra_bytes = (uint16_t)sent->assertion_bytes };
    uint8_t *at = command->bytes;
    memcpy(at, sent->payload, sent->payload_bytes);
    at += sent->payload_bytes;
    memcpy(at, sent->key, P256_KEY_BYTES);
    memcpy(at + P256_KEY_BYTES, sent->signature, SIGNATURE_LENGTH);
    memcpy(at + P256_KEY_BYTES + SIGNATURE_LENGTH, sent->assertion, sent->assertion_bytes);
    struct passkey_verdict verdict =
        passkey_verdict(context->config, NULL, request, command, key_sent);
    bool known = request->signer == SIGNER_NEW_PASSKEY ||
                 key_lookup_is_known(context->config, request, command);
    bool good = verdict.problem == PROBLEM_none;
    write_check(checks, "signature", good, good ? NULL : problem_code(verdict.problem),
                verdict.detail);
    write_check(checks, "key", known, problem_code(PROBLEM_invalid_signature),
                "this account has no passkey with this credential id");
}

/* The checks of the net thread, R11 steps 5 to 11. */
static void write_checks(const struct context *context, const struct sent *sent,
                         const struct signing_finding *finding, struct writer *writer)
{
    struct checks checks = { .writer = writer };
    struct problem_detail problem = { 0 };
    const struct option_engine *options = context->config->options;
    const struct admission_window window = {
        .now_ms = context->unix_ns / 1000000,
        .past_ms = options->values[OPTION_exchange_clock_past_ms],
        .future_ms = options->values[OPTION_exchange_clock_future_ms],
    };
    const struct envelope envelope = { .key_bytes = (uint32_t)sent->key_bytes,
                                       .passkey = sent->passkey };
    const uint8_t *payload = sent->payload;
    bool whole = sent->payload_bytes >= REQUEST_BODY_AT;
    bool has_signature = whole && sent->key_bytes > 0 && sent->signature_bytes > 0;
    WRITER_TEXT(writer, ",\"checks\":[");
    write_verdict(&checks, "envelope", true, sent->problem.code == PROBLEM_none, &sent->problem);
    bool header = whole && admission_check_header(payload, &problem);
    write_verdict(&checks, "header", whole, header, &problem);
    const struct request *request = whole ? find_request(sent, &problem) : NULL;
    write_verdict(&checks, "request_type", whole, request != NULL, &problem);
    bool body = request != NULL &&
                admission_check_body(request, payload + REQUEST_BODY_AT,
                                     (uint32_t)sent->payload_bytes - REQUEST_BODY_AT, &problem);
    write_verdict(&checks, "body", request != NULL, body, &problem);
    bool signer = request != NULL && admission_check_signer(request, payload[TYPE_AT], &problem);
    write_verdict(&checks, "signer", request != NULL, signer, &problem);
    bool versions = body && admission_check_versions(request, payload, &problem);
    write_verdict(&checks, "request_id", body, versions, &problem);
    bool times = versions && admission_check_times(request, payload, &window, &problem);
    write_verdict(&checks, "clock", versions, times, &problem);
    bool has_key = header && (sent->key_bytes > 0 || sent->passkey);
    bool key = has_key && admission_check_key(&envelope, payload[TYPE_AT], &problem);
    write_verdict(&checks, "signature_type", has_key, key, &problem);
    if (whole && sent->passkey && payload[TYPE_AT] == SIGNATURE_PASSKEY) {
        write_passkey_checks(context, &checks, body ? request : NULL, sent);
    } else {
        write_check(&checks, "signature", finding->good,
                    has_signature ? problem_code(PROBLEM_invalid_signature) : NULL,
                    "the signature does not verify");
        write_key_check(context, &checks, body ? request : NULL, sent);
    }
    WRITER_TEXT(writer, "]");
}

/* ---- the rest of the report ----------------------------------------------------------------- */

static void write_hex(struct writer *writer, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    WRITER_TEXT(writer, "\"");
    for (size_t i = 0; i < count; i++) {
        const char pair[2] = { digits[bytes[i] >> 4], digits[bytes[i] & 15] };
        writer_bytes(writer, pair, sizeof pair);
    }
    WRITER_TEXT(writer, "\"");
}

static void write_field(void *context, const uint8_t *bytes, const struct dump_row *row)
{
    struct writer *writer = context;
    writer_text(writer, row->offset > 0 ? ",{\"offset\":" : "{\"offset\":");
    writer_uint(writer, row->offset);
    WRITER_TEXT(writer, ",\"size\":");
    writer_uint(writer, row->size);
    WRITER_TEXT(writer, ",\"name\":\"");
    writer_text(writer, row->name);
    WRITER_TEXT(writer, "\",\"kind\":\"");
    writer_text(writer, row->kind);
    WRITER_TEXT(writer, "\",\"hex\":");
    write_hex(writer, bytes, row->size);
    WRITER_TEXT(writer, ",\"value\":");
    writer_string(writer, row->value, strlen(row->value));
    WRITER_TEXT(writer, "}");
}

/* What the key's curve signs: SHA-512 of the bytes stands for Ed25519, which signs them whole. */
static void write_digest(const struct context *context, const struct sent *sent,
                         struct writer *writer)
{
    uint8_t hash[SHA512_DIGEST_LENGTH];
    struct eip712_hashes hashes;
    WRITER_TEXT(writer, ",\"digest\":");
    if (sent->payload_bytes < REQUEST_HEADER_BYTES) {
        WRITER_TEXT(writer, "null");
    } else if (sent->payload[TYPE_AT] == SIGNATURE_ED25519) {
        write_hex(writer, SHA512(sent->payload, sent->payload_bytes, hash), SHA512_DIGEST_LENGTH);
    } else if (sent->payload[TYPE_AT] == SIGNATURE_PASSKEY) {
        write_hex(writer, SHA256(sent->payload, sent->payload_bytes, hash), SHA256_DIGEST_LENGTH);
    } else if (eip712_hash(&context->eip712, sent->payload, sent->payload_bytes, &hashes) == 0) {
        write_hex(writer, hashes.digest, sizeof hashes.digest);
    } else {
        WRITER_TEXT(writer, "null");
    }
}

static void write_mistakes(const struct signing_finding *finding, struct writer *writer)
{
    bool first = true;
    WRITER_TEXT(writer, ",\"mistakes\":[");
    for (unsigned i = 0; i < SIGNING_MISTAKE_COUNT; i++) {
        if ((finding->mistakes >> i & 1) == 0)
            continue;
        const char *text = signing_mistake_text((enum signing_mistake)i);
        writer_text(writer, first ? "{\"mistake\":\"" : ",{\"mistake\":\"");
        writer_text(writer, signing_mistake_name((enum signing_mistake)i));
        WRITER_TEXT(writer, "\",\"detail\":");
        writer_string(writer, text, strlen(text));
        WRITER_TEXT(writer, "}");
        first = false;
    }
    WRITER_TEXT(writer, "],\"proved\":");
    writer_bool(writer, finding->proved);
}

void payload_report_write(const struct context *context, const char *body, size_t count,
                          bool octets, const struct signing_finding *finding, struct writer *writer)
{
    struct sent sent;
    char error[DUMP_ERROR_MAX];
    read_sent(&sent, body, count, octets);
    WRITER_TEXT(writer, "{\"request_type\":");
    if (sent.payload_bytes < REQUEST_BODY_AT) {
        WRITER_TEXT(writer, "null,\"name\":null,\"request_id\":null");
    } else {
        const struct request *request = request_find(cc_load16(sent.payload + CODE_AT));
        writer_uint(writer, cc_load16(sent.payload + CODE_AT));
        WRITER_TEXT(writer, ",\"name\":");
        if (request != NULL)
            writer_string(writer, request->name, strlen(request->name));
        else
            WRITER_TEXT(writer, "null");
        WRITER_TEXT(writer, ",\"request_id\":");
        writer_uuid(writer, sent.payload + REQUEST_HEADER_BYTES);
    }
    WRITER_TEXT(writer, ",\"fields\":[");
    bool named =
        dump_rows(sent.payload, sent.payload_bytes, DUMP_PAYLOAD, NULL, write_field, writer, error);
    WRITER_TEXT(writer, "]");
    if (!named) {
        WRITER_TEXT(writer, ",\"fields_error\":");
        writer_string(writer, error, strlen(error));
    }
    write_digest(context, &sent, writer);
    write_checks(context, &sent, finding, writer);
    write_mistakes(finding, writer);
    WRITER_TEXT(writer, "}");
}
