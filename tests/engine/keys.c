#include "keys.h"

#include "base/request.h"
#include "check.h"

struct keys_id keys_make(struct host *host, uint32_t n, uint8_t scope, int32_t pin)
{
    uint8_t body[48] = { 0 }, session[32], hash[32] = { 0x77 };
    struct keys_id id;

    host_session_key(n, session);
    cc_store64(body, n);
    cc_store32(body + 8, (uint32_t)pin);
    body[12] = scope;
    cc_store64(hash + 8, ++host->id_count);
    struct host_request request = { .code = REQUEST_create_api_key,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = session,
                                    .key_bytes = sizeof session,
                                    .extra = hash,
                                    .extra_bytes = sizeof hash };
    CHECK(host_signed(host, &request) == STATUS_request_completed);
    memcpy(id.bytes, host->result.id, sizeof id.bytes);
    return id;
}

enum status keys_revoke(struct host *host, uint32_t n, struct keys_id key)
{
    uint8_t body[24] = { 0 }, session[32];

    host_session_key(n, session);
    cc_store64(body, n);
    memcpy(body + 8, key.bytes, sizeof key.bytes);
    struct host_request request = { .code = REQUEST_revoke_api_key,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = session,
                                    .key_bytes = sizeof session };
    return host_signed(host, &request);
}

enum status keys_leverage(struct host *host, struct keys_id key, uint32_t n, uint16_t asset,
                          uint32_t leverage)
{
    uint8_t body[40] = { 0 };

    memcpy(body, key.bytes, sizeof key.bytes);
    cc_store64(body + 16, n);
    cc_store32(body + 32, leverage);
    cc_store16(body + 36, asset);
    return host_unsigned(host, REQUEST_set_leverage, body, sizeof body);
}
