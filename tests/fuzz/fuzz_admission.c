/* Payloads from strangers (wire.md W2, W3; rules.md R11, steps 6 to 9) on every path that takes
 * signed requests: what is admitted is of the path's codes and has its length, version, pads, id
 * and time; what is refused says why. The first two bytes choose the path and the length of the
 * key. */
#include <stdlib.h>

#include "base/uuid.h"
#include "net/request/admission.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct admission_window window = { UINT64_C(1755582431232), 30000, 5000 };

static void check(const struct request *request, const struct envelope *envelope,
                  const struct route_path *path)
{
    const uint8_t *payload = envelope->payload;
    const uint8_t *id = payload + REQUEST_HEADER_BYTES;
    uint64_t at_ms = 0;

    for (unsigned i = 0; i < 6; i++)
        at_ms = at_ms << 8 | id[i];
    if (payload[0] != REQUEST_VERSION || payload[1] > SIGNATURE_PASSKEY ||
        cc_load32(payload + 4) != 0 || cc_load16(payload + 2) != request->code)
        abort();
    if (!route_has_code(path, request->code) || !request->built)
        abort();
    if (id[6] >> 4 != 7 || id[8] >> 6 != 2)
        abort();
    if (at_ms + window.past_ms < window.now_ms || at_ms > window.now_ms + window.future_ms)
        abort();
    if (request->form == BODY_FIXED &&
        envelope->payload_bytes != REQUEST_BODY_AT + request->body_bytes)
        abort();
    if (envelope->key_bytes != (payload[1] == SIGNATURE_ED25519 ? 32 : 33) ||
        envelope->passkey != (payload[1] == SIGNATURE_PASSKEY))
        abort();
}

/* The times of most inputs are made right, or hardly one would get past step 8. */
static void make_good(uint8_t *payload)
{
    payload[0] = REQUEST_VERSION;
    memset(payload + 4, 0, 4);
    for (unsigned i = 0; i < 6; i++)
        payload[8 + i] = (uint8_t)(window.now_ms >> (40 - 8 * i));
    payload[14] = 0x70 | (payload[14] & 0x0F);
    payload[16] = 0x80 | (payload[16] & 0x3F);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct route_table table;
    struct problem_detail problem = { 0 };

    if (table.count == 0)
        route_init(&table, (struct route_features){ true, true, true, true });
    if (size < 2 + REQUEST_BODY_AT || size - 2 > REQUEST_PAYLOAD_MAX)
        return 0;
    const struct route_path *path = &table.paths[data[0] % table.count];
    if (path->kind != ROUTE_SIGNED)
        return 0;
    /* An envelope's payload is a multiple of 8; the copy has its exact size. */
    size_t count = (size - 2) / 8 * 8;
    uint8_t *payload = malloc(count);
    memcpy(payload, data + 2, count);
    if (data[1] < 0xe0)
        make_good(payload);
    struct envelope envelope = { .payload = payload,
                                 .key = payload + count,
                                 .payload_bytes = (uint32_t)count,
                                 .key_bytes = 32 + data[1] % 2,
                                 .passkey = data[1] % 4 == 3,
                                 .key_sent = true };
    const struct request *request = admission_check(&envelope, path, &window, &problem);
    if (request != NULL)
        check(request, &envelope, path);
    else if (problem.code == PROBLEM_none)
        abort();
    free(payload);
    return 0;
}
