#include "net/request/preview_body.h"

#include "base/base64.h"
#include "base/field.h"
#include "base/json_scan.h"
#include "net/request/admission.h"

enum { TEXT_MAX = REQUEST_ENVELOPE_MAX };

static const char payload_name[] = "payload";

/* The bytes of the member `payload`; -1 with *problem set. */
static ptrdiff_t read_payload(const char *text, size_t count, uint8_t payload[REQUEST_PAYLOAD_MAX],
                              struct problem_detail *problem)
{
    struct json_member member = JSON_MEMBER("payload");
    char plain[TEXT_MAX];
    size_t error_at = 0;
    enum json_error error = json_scan_members(text, count, &member, 1, &error_at);
    if (error != JSON_OK) {
        (void)problem_detail_set(problem, PROBLEM_malformed_json, NULL, "%s, at byte %zu",
                                 json_scan_error_text(error), error_at);
        return -1;
    }
    if (member.kind != JSON_STRING) {
        (void)problem_detail_set(problem, PROBLEM_malformed_payload, payload_name,
                                 member.kind == JSON_NONE ? "payload is missing"
                                                          : "payload is not a string");
        return -1;
    }
    ptrdiff_t length = json_scan_unescape(&member.value, plain, sizeof plain);
    INVARIANT(length >= 0); /* the whole body has at most TEXT_MAX bytes */
    ptrdiff_t bytes = base64_decode(payload, REQUEST_PAYLOAD_MAX, plain, (size_t)length, &error_at);
    if (bytes == -1)
        (void)problem_detail_set(problem, PROBLEM_invalid_base64, payload_name,
                                 "payload is not standard Base64 at character %zu", error_at);
    else if (bytes < 0)
        (void)problem_detail_set(problem, PROBLEM_malformed_payload, payload_name,
                                 "payload has more than %d bytes", REQUEST_PAYLOAD_MAX);
    return bytes < 0 ? -1 : bytes;
}

/* W1: every pad byte of the body is zero. The body has the length of its request type. */
static bool check_pads(const struct request *request, const uint8_t *body, size_t body_bytes,
                       struct problem_detail *problem)
{
    size_t count;
    const struct field *fields = field_table(request->code, &count);
    for (size_t i = 0; i < count; i++) {
        size_t skipped = fields[i].kind == FIELD_CREDENTIAL ? cc_load16(body + fields[i - 1].offset)
                         : fields[i].kind == FIELD_PAD      ? 0
                                                            : field_bytes(&fields[i], body_bytes);
        const uint8_t *pad = body + fields[i].offset + skipped;
        if (!cc_is_zero(pad, field_bytes(&fields[i], body_bytes) - skipped))
            return problem_detail_set(problem, PROBLEM_malformed_payload, "padding",
                                      "a pad byte of the body is not zero, at or after offset %zu",
                                      (size_t)(pad - body));
    }
    return true;
}

bool preview_body_read(const struct eip712 *eip712, const char *text, size_t count,
                       uint8_t payload[REQUEST_PAYLOAD_MAX], size_t *payload_bytes,
                       struct eip712_hashes *hashes, struct problem_detail *problem)
{
    ptrdiff_t length = read_payload(text, count, payload, problem);
    if (length < 0)
        return false;
    if (length < REQUEST_BODY_AT)
        return problem_detail_set(problem, PROBLEM_malformed_payload, payload_name,
                                  "the payload has %td bytes; header and request id alone are %d",
                                  length, REQUEST_BODY_AT);
    if (!admission_check_header(payload, problem))
        return false;
    uint16_t code = cc_load16(payload + 2);
    if (!eip712_is_signable(code))
        return problem_detail_set_number(problem, PROBLEM_request_type_not_allowed, code,
                                         "request type %u is not signed as typed data", code);
    if (payload[1] != SIGNATURE_SECP256K1)
        return problem_detail_set(problem, PROBLEM_malformed_payload, "signature_type",
                                  "typed data is signed by Secp256k1, signature_type 1, not %u",
                                  payload[1]);
    const struct request *request = request_find(code);
    const uint8_t *body = payload + REQUEST_BODY_AT;
    size_t body_bytes = (size_t)length - REQUEST_BODY_AT;
    if (eip712_hash(eip712, payload, (size_t)length, hashes) != 0)
        return problem_detail_set(problem, PROBLEM_malformed_payload, payload_name,
                                  "a body of %zu bytes does not fit %s", body_bytes, request->name);
    *payload_bytes = (size_t)length;
    return admission_check_body(request, body, (uint32_t)body_bytes, problem) &&
           check_pads(request, body, body_bytes, problem);
}
