/* problem.h - every problem code of wire.md W7 with its HTTP status, and the HTTP statuses' titles.
 *
 * The list is the published one: it also has codes that this binary does not produce. */
#ifndef BASE_PROBLEM_H
#define BASE_PROBLEM_H

#include "base/compiler.h"

/* clang-format off */
#define PROBLEM_LIST(X) \
    X(malformed_request, 400)               X(malformed_payload, 400) \
    X(malformed_json, 400)                  X(invalid_base64, 400) \
    X(request_id_not_v7, 400)               X(request_timestamp_out_of_window, 400) \
    X(request_type_not_allowed, 400)        X(unsupported_version, 400) \
    X(passkey_requires_json, 400)           X(invalid_parameter, 400) \
    X(invalid_market, 400) \
    X(invalid_signature, 401)               X(signature_type_mismatch, 401) \
    X(passkey_public_key_mismatch, 401)     X(passkey_type, 401) \
    X(passkey_challenge, 401)               X(passkey_origin, 401) \
    X(passkey_cross_origin, 401)            X(passkey_rp_id, 401) \
    X(passkey_user_presence, 401)           X(passkey_user_verification, 401) \
    X(invalid_api_key, 401)                 X(invalid_device_key, 401) \
    X(invalid_token, 401) \
    X(subaccount_not_permitted, 403)        X(read_only_key, 403) \
    X(origin_not_allowed, 403)              X(host_not_allowed, 421) \
    X(not_leader, 421) \
    X(not_found, 404)                       X(portfolio_not_found, 404) \
    X(order_not_found, 404)                 X(account_not_found, 404) \
    X(request_not_found, 404) \
    X(method_not_allowed, 405)              X(request_timeout, 408) \
    X(portfolio_not_active, 409)            X(portfolio_not_empty, 409) \
    X(portfolio_not_closed, 409)            X(subaccount_not_active, 409) \
    X(insufficient_free_equity, 409)        X(faucet_limit_exceeded, 409) \
    X(limit_reached, 409) \
    X(pairing_already_used, 409)            X(pairing_not_deposited, 409) \
    X(pairing_expired, 410)                 X(payload_too_large, 413) \
    X(unsupported_media_type, 415)          X(rate_limited, 429) \
    X(headers_too_large, 431)               X(internal_error, 500) \
    X(not_ready, 503)                       X(outcome_unknown, 503) \
    X(too_many_connections, 503)

#define HTTP_STATUS_LIST(X) \
    X(200, "OK") X(201, "Created") X(204, "No Content") X(304, "Not Modified") X(307, "Temporary Redirect") \
    X(400, "Bad Request") X(401, "Unauthorized") X(403, "Forbidden") X(404, "Not Found") \
    X(405, "Method Not Allowed") X(408, "Request Timeout") X(409, "Conflict") X(410, "Gone") \
    X(413, "Payload Too Large") X(415, "Unsupported Media Type") X(421, "Misdirected Request") \
    X(429, "Too Many Requests") \
    X(431, "Request Header Fields Too Large") X(500, "Internal Server Error") \
    X(503, "Service Unavailable")
/* clang-format on */

enum problem {
    PROBLEM_none, /* no problem: never sent */
#define X(name, status) PROBLEM_##name,
    PROBLEM_LIST(X)
#undef X
        PROBLEM_END
};

/* Returns the snake_case code of a problem of the list; static storage. */
const char *problem_code(enum problem problem);
/* Returns the HTTP status of a problem, 400 to 503. */
uint32_t problem_http_status(enum problem problem);
/* Returns the reason phrase of an HTTP status of the list above; "" for any other. Static
 * storage. */
const char *problem_http_title(uint32_t http_status);

#endif
