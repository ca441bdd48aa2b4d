#include "net/request/pairing_body.h"

#include "base/base64.h"
#include "base/json_scan.h"
#include "crypto/p256.h"
#include "crypto/secret.h"

enum { SESSION_BYTES = 32, TEXT_MAX = QUERY_PAIRING_TEXT_MAX };

static_assert(P256_POINT_BYTES + SESSION_BYTES == QUERY_PAIRING_KEYS_BYTES, "both keys");

/* The body is one JSON object; interface.md has one code for whatever is wrong with it. */
static bool read_members(const char *text, size_t count, struct json_member *members,
                         size_t member_count, struct problem_detail *problem)
{
    size_t error_at = 0;
    enum json_error error = json_scan_members(text, count, members, member_count, &error_at);
    return error == JSON_OK ||
           problem_detail_set(problem, PROBLEM_malformed_payload, NULL, "%s, at byte %zu",
                              json_scan_error_text(error), error_at);
}

/* The text of a member without its escapes; -1 with *problem set. */
static ptrdiff_t read_text(const struct json_member *member, char text[TEXT_MAX],
                           struct problem_detail *problem)
{
    if (member->kind != JSON_STRING) {
        (void)problem_detail_set(problem, PROBLEM_malformed_payload, member->name, "%s %s",
                                 member->name,
                                 member->kind == JSON_NONE ? "is missing" : "is not a string");
        return -1;
    }
    ptrdiff_t count = json_scan_unescape(&member->value, text, TEXT_MAX);
    if (count > 0)
        return count;
    (void)problem_detail_set(problem, PROBLEM_malformed_payload, member->name,
                             "%s has not 1 to %d characters", member->name, TEXT_MAX);
    return -1;
}

/* A member that is the Base64 of exactly `size` bytes. */
static bool read_key(const struct json_member *member, size_t size, uint8_t *bytes,
                     struct problem_detail *problem)
{
    char text[TEXT_MAX];
    ptrdiff_t count = read_text(member, text, problem);
    if (count < 0)
        return false;
    return base64_decode(bytes, size, text, (size_t)count, NULL) == (ptrdiff_t)size ||
           problem_detail_set(problem, PROBLEM_malformed_payload, member->name,
                              "%s is not the standard Base64 of %zu bytes", member->name, size);
}

static bool read_keys(const char *text, size_t count, struct pairing_body *made,
                      struct problem_detail *problem)
{
    struct json_member members[] = { JSON_MEMBER("ecdh_pub"), JSON_MEMBER("session_pub") };
    uint8_t *point = (uint8_t *)made->bytes;
    if (!read_members(text, count, members, CC_COUNT(members), problem) ||
        !read_key(&members[0], P256_POINT_BYTES, point, problem))
        return false;
    if (!p256_is_point(point))
        return problem_detail_set(problem, PROBLEM_malformed_payload, members[0].name,
                                  "ecdh_pub is not an uncompressed point of P-256");
    made->count = QUERY_PAIRING_KEYS_BYTES;
    return read_key(&members[1], SESSION_BYTES, point + P256_POINT_BYTES, problem);
}

static bool read_ciphertext(const char *text, size_t count, struct pairing_body *made,
                            struct problem_detail *problem)
{
    struct json_member member = JSON_MEMBER("ciphertext");
    uint8_t bytes[TEXT_MAX];
    if (!read_members(text, count, &member, 1, problem))
        return false;
    ptrdiff_t length = read_text(&member, made->bytes, problem);
    if (length < 0)
        return false;
    made->count = (uint32_t)length;
    return base64_decode(bytes, sizeof bytes, made->bytes, (size_t)length, NULL) >= 0 ||
           problem_detail_set(problem, PROBLEM_malformed_payload, member.name,
                              "ciphertext is not standard Base64");
}

static bool make_token(const struct net_config *config, struct query *query,
                       struct pairing_body *made, struct problem_detail *problem)
{
    if (secret_random(made->bytes, SECRET_BYTES) != 0 ||
        secret_random(query->id, sizeof query->id) != 0)
        return problem_detail_set(problem, PROBLEM_not_ready, NULL,
                                  "the process has no random bytes for a token");
    made->count = SECRET_BYTES;
    secret_hash(query->token_hash, config->secret_key, (const uint8_t *)made->bytes);
    return true;
}

bool pairing_body_read(const struct net_config *config, const char *text, size_t count,
                       struct query *query, struct pairing_body *made,
                       struct problem_detail *problem)
{
    made->count = 0;
    if (query->kind == QUERY_pairing_deposit)
        return read_keys(text, count, made, problem);
    if (query->kind == QUERY_pairing_complete)
        return read_ciphertext(text, count, made, problem);
    INVARIANT(query->kind == QUERY_pairing_open);
    return (count == 0 || read_members(text, count, NULL, 0, problem)) &&
           make_token(config, query, made, problem);
}
