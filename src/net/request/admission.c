#include "net/request/admission.h"

#include <stdio.h>

#include "base/credential_field.h"
#include "base/field.h"
#include "base/text.h"
#include "base/uuid.h"
#include "crypto/eip712.h"

/* An item of a batch (W3, code 8). */
enum {
    BATCH_COUNT_AT = 16,
    BATCH_ITEMS_AT = 24,
    ITEM_BYTES = 64,
    ITEM_OP_AT = 0,
    ITEM_ID_AT = 32,
    ITEM_PLACES = 0, /* op: the id is the new order's own */
};

enum { HEADER_VERSION_AT = 0, HEADER_TYPE_AT = 1, HEADER_CODE_AT = 2, HEADER_PAD_AT = 4 };

static bool is_operator(const struct request *request)
{
    return request->signer == SIGNER_OPERATOR;
}

/* Whether a key of this type may sign the code (W2, signer; W4's list for Secp256k1). */
static bool can_sign(const struct request *request, uint8_t type)
{
    switch ((enum signer)request->signer) {
    case SIGNER_SESSION:
    case SIGNER_OPERATOR:
        return type == SIGNATURE_ED25519;
    case SIGNER_NEW_SECP256K1:
        return type == SIGNATURE_SECP256K1;
    case SIGNER_NEW_PASSKEY:
        return type == SIGNATURE_PASSKEY;
    case SIGNER_SESSION_OR_MASTER:
    case SIGNER_MASTER:
    case SIGNER_ADMIN:
        /* By its form a session may sign a master's request; the answer is then a status. */
        return type != SIGNATURE_SECP256K1 || eip712_is_signable(request->code);
    case SIGNER_NONE:
    case SIGNER_NODE:
        return false;
    }
    return false;
}

bool admission_check_signer(const struct request *request, uint8_t type,
                            struct problem_detail *problem)
{
    if (CC_LIKELY(can_sign(request, type)))
        return true;
    return problem_detail_set_number(problem, PROBLEM_request_type_not_allowed, request->code,
                                     "signature_type %u cannot sign request type %u", type,
                                     request->code);
}

bool admission_check_header(const uint8_t *payload, struct problem_detail *problem)
{
    if (payload[HEADER_VERSION_AT] != REQUEST_VERSION)
        return problem_detail_set(problem, PROBLEM_unsupported_version, NULL,
                                  "header version %u; this service speaks version %d",
                                  payload[HEADER_VERSION_AT], REQUEST_VERSION);
    if (cc_load32(payload + HEADER_PAD_AT) != 0)
        return problem_detail_set(problem, PROBLEM_malformed_payload, "padding",
                                  "the header's bytes 4 to 7 are not zero");
    if (payload[HEADER_TYPE_AT] > SIGNATURE_PASSKEY)
        return problem_detail_set(problem, PROBLEM_malformed_payload, "signature_type",
                                  "signature_type %u is none of 0, 1, 2", payload[HEADER_TYPE_AT]);
    return true;
}

/* The row of the code, if the path takes it; without a path, if any does. */
static const struct request *check_code(uint16_t code, const struct route_path *path,
                                        struct problem_detail *problem)
{
    if (CC_LIKELY(path != NULL && route_has_code(path, code)))
        return request_find(code);
    const struct request *request = request_find(code);
    bool has_path = request != NULL && request->path[0] != '\0' && request->built;
    if (has_path && path == NULL)
        return request;
    if (!has_path)
        problem_detail_set_number(problem, PROBLEM_request_type_not_allowed, code,
                                  "request type %u has no path", code);
    else
        problem_detail_set_number(problem, PROBLEM_request_type_not_allowed, code,
                                  "request type %u belongs to %s", code, request->path);
    return NULL;
}

static bool check_length(const struct request *request, const uint8_t *body, uint32_t body_bytes,
                         struct problem_detail *problem)
{
    if (request->form == BODY_FIXED && body_bytes != request->body_bytes)
        return problem_detail_set(problem, PROBLEM_malformed_payload, "payload",
                                  "%s has a body of %u bytes, not %u", request->name,
                                  request->body_bytes, body_bytes);
    if (request->form == BODY_BATCH) {
        uint32_t count = body_bytes < BATCH_ITEMS_AT ? 0 : cc_load16(body + BATCH_COUNT_AT);
        if (body_bytes != BATCH_ITEMS_AT + count * ITEM_BYTES)
            return problem_detail_set(problem, PROBLEM_malformed_payload, "payload",
                                      "a batch of %u items has a body of %u bytes, not %u", count,
                                      BATCH_ITEMS_AT + count * ITEM_BYTES, body_bytes);
    }
    const uint8_t *id;
    uint32_t id_bytes;
    if (request->form == BODY_CREDENTIAL &&
        !credential_field_find(request->code, body, body_bytes, &id, &id_bytes))
        return problem_detail_set(problem, PROBLEM_malformed_payload, "credential_id_len",
                                  "the body of %s has %u bytes; it must end with a credential id "
                                  "of credential_id_len bytes, 1 to 256, padded to 8",
                                  request->name, body_bytes);
    if (request->code == REQUEST_find_account && cc_load64(body) != 0)
        return problem_detail_set(problem, PROBLEM_malformed_payload, "payload",
                                  "the body of %s is not 8 zero bytes", request->name);
    if (request->form == BODY_TEXT && body_bytes == 0)
        return problem_detail_set(problem, PROBLEM_malformed_payload, "payload",
                                  "%s has an empty body", request->name);
    return true;
}

static bool check_text(const struct field *field, const char *text, size_t count,
                       struct problem_detail *problem)
{
    if (text_field_is_valid(text, count))
        return true;
    size_t length = text_trim(text, count);
    const char *wrong = memchr(text, '\0', length) != NULL ? "holds a zero byte" : "is not UTF-8";
    return problem_detail_set(problem, PROBLEM_malformed_payload, field->name, "%s %s", field->name,
                              wrong);
}

/* W1: texts are UTF-8 without zeros inside, pins are -1 or an index. */
static bool check_fields(const struct request *request, const uint8_t *body, uint32_t body_bytes,
                         struct problem_detail *problem)
{
    size_t count;
    const struct field *fields = field_table(request->code, &count);
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        const uint8_t *at = body + field->offset;
        if (field->kind == FIELD_TEXT || field->kind == FIELD_DOCUMENT) {
            if (!check_text(field, (const char *)at, field_bytes(field, body_bytes), problem))
                return false;
        } else if (field->kind == FIELD_PIN && (int32_t)cc_load32(at) < -1) {
            return problem_detail_set(problem, PROBLEM_malformed_payload, field->name,
                                      "%s is %d; -1 or an index is allowed", field->name,
                                      (int32_t)cc_load32(at));
        }
    }
    return true;
}

bool admission_check_body(const struct request *request, const uint8_t *body, uint32_t body_bytes,
                          struct problem_detail *problem)
{
    return check_length(request, body, body_bytes, problem) &&
           check_fields(request, body, body_bytes, problem);
}

enum { WHOSE_BYTES = 40 };

/* The owner of an id, for the detail of a problem: the request, or an item, counted from 0. */
static void name_id(char whose[WHOSE_BYTES], int item)
{
    if (item < 0)
        (void)snprintf(whose, WHOSE_BYTES, "the request id");
    else
        (void)snprintf(whose, WHOSE_BYTES, "the order id of item %d", item);
}

static bool check_version(const uint8_t *id, int item, struct problem_detail *problem)
{
    char whose[WHOSE_BYTES];
    struct uuid uuid;
    uuid_load(&uuid, id);
    if (CC_LIKELY(uuid_is_v7(&uuid)))
        return true;
    name_id(whose, item);
    return problem_detail_set(problem, PROBLEM_request_id_not_v7, NULL,
                              "%s is not a UUIDv7: version %u, variant %u", whose, id[6] >> 4,
                              id[8] >> 6);
}

static bool check_time(const uint8_t *id, int item, const struct admission_window *window,
                       struct problem_detail *problem)
{
    char whose[WHOSE_BYTES];
    struct uuid uuid;
    uuid_load(&uuid, id);
    uint64_t id_ms = uuid_time_ms(&uuid);
    if (CC_LIKELY(id_ms + window->past_ms >= window->now_ms &&
                  id_ms <= window->now_ms + window->future_ms))
        return true;
    name_id(whose, item);
    if (id_ms < window->now_ms)
        return problem_detail_set_number(
            problem, PROBLEM_request_timestamp_out_of_window, window->now_ms,
            "%s is %llu ms old; at most %llu ms are allowed", whose,
            (unsigned long long)(window->now_ms - id_ms), (unsigned long long)window->past_ms);
    return problem_detail_set_number(
        problem, PROBLEM_request_timestamp_out_of_window, window->now_ms,
        "%s is %llu ms ahead; at most %llu ms are allowed", whose,
        (unsigned long long)(id_ms - window->now_ms), (unsigned long long)window->future_ms);
}

/* The items of a batch, and their number; 0 for other requests. */
static const uint8_t *batch_items(const struct request *request, const uint8_t *payload, int *count)
{
    const uint8_t *body = payload + REQUEST_BODY_AT;
    *count = CC_LIKELY(request->form != BODY_BATCH) ? 0 : cc_load16(body + BATCH_COUNT_AT);
    return body + BATCH_ITEMS_AT;
}

uint64_t admission_places(const struct request *request, const uint8_t *payload)
{
    int count;
    const uint8_t *items = batch_items(request, payload, &count);
    uint64_t places = 0;
    if (request->code == REQUEST_place_limit_order || request->code == REQUEST_place_market_order ||
        request->code == REQUEST_place_conditional_order)
        return 1;
    for (int i = 0; i < count; i++)
        places |= (uint64_t)(items[i * ITEM_BYTES + ITEM_OP_AT] == ITEM_PLACES) << i;
    return places;
}

uint32_t admission_cost(const struct request *request, const uint8_t *payload)
{
    int count;
    (void)batch_items(request, payload, &count);
    return count > 1 ? (uint32_t)count : 1;
}

bool admission_check_versions(const struct request *request, const uint8_t *payload,
                              struct problem_detail *problem)
{
    int count;
    const uint8_t *items = batch_items(request, payload, &count);
    if (!check_version(payload + REQUEST_HEADER_BYTES, -1, problem))
        return false;
    for (int i = 0; i < count; i++)
        if (items[i * ITEM_BYTES + ITEM_OP_AT] == ITEM_PLACES &&
            !check_version(items + i * ITEM_BYTES + ITEM_ID_AT, i, problem))
            return false;
    return true;
}

bool admission_check_times(const struct request *request, const uint8_t *payload,
                           const struct admission_window *window, struct problem_detail *problem)
{
    int count;
    const uint8_t *items = batch_items(request, payload, &count);
    if (!check_time(payload + REQUEST_HEADER_BYTES, -1, window, problem))
        return false;
    for (int i = 0; i < count; i++)
        if (items[i * ITEM_BYTES + ITEM_OP_AT] == ITEM_PLACES &&
            !check_time(items + i * ITEM_BYTES + ITEM_ID_AT, i, window, problem))
            return false;
    return true;
}

/* W3, code 12: nobody knows the key of an account that does not exist yet. */
static bool check_new_key(const struct request *request, const struct envelope *envelope,
                          struct problem_detail *problem)
{
    if (request->signer != SIGNER_NEW_PASSKEY || !envelope->passkey || envelope->key_sent)
        return true;
    return problem_detail_set(problem, PROBLEM_malformed_payload, "public_key",
                              "public_key is missing: %s brings a new passkey", request->name);
}

/* W3, Auth part: the envelope and its key must match the header's signature_type. */
bool admission_check_key(const struct envelope *envelope, uint8_t type,
                         struct problem_detail *problem)
{
    static const char *const names[] = { "Ed25519", "Secp256k1", "passkey" };
    if (envelope->passkey != (type == SIGNATURE_PASSKEY))
        return problem_detail_set(problem, PROBLEM_signature_type_mismatch, NULL,
                                  "the header says %s, the envelope is %s", names[type],
                                  envelope->passkey ? "a passkey's" : "not a passkey's");
    uint32_t wanted = type == SIGNATURE_ED25519 ? 32 : 33;
    if (type != SIGNATURE_PASSKEY && envelope->key_bytes != wanted)
        return problem_detail_set(problem, PROBLEM_signature_type_mismatch, NULL,
                                  "the header says %s, whose keys have %u bytes; this one has %u",
                                  names[type], wanted, envelope->key_bytes);
    return true;
}

const struct request *admission_check(const struct envelope *envelope,
                                      const struct route_path *path,
                                      const struct admission_window *window,
                                      struct problem_detail *problem)
{
    const uint8_t *payload = envelope->payload;
    const uint8_t *body = payload + REQUEST_BODY_AT;
    uint32_t body_bytes = envelope->payload_bytes - REQUEST_BODY_AT;
    uint16_t code = cc_load16(payload + HEADER_CODE_AT);
    uint8_t type = payload[HEADER_TYPE_AT];

    if (!admission_check_header(payload, problem))
        return NULL;
    const struct request *request = check_code(code, path, problem);
    if (request == NULL)
        return NULL;
    if (!admission_check_body(request, body, body_bytes, problem))
        return NULL;
    if (!admission_check_signer(request, type, problem) ||
        !check_new_key(request, envelope, problem) ||
        !admission_check_versions(request, payload, problem) ||
        !admission_check_times(request, payload, window, problem) ||
        !admission_check_key(envelope, type, problem))
        return NULL;
    return request;
}

uint64_t admission_account(const struct request *request, const uint8_t *body)
{
    if (is_operator(request))
        return 0;
    size_t count;
    const struct field *fields = field_table(request->code, &count);
    if (count == 0 || fields[0].offset != 0 ||
        (fields[0].kind != FIELD_PORTFOLIO && fields[0].kind != FIELD_ACCOUNT))
        return 0;
    return cc_load64(body);
}
