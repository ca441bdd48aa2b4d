/* verdict.c - fast paths that decide wrongly about chosen requests: linked into a perpd in front of
 * the real ed25519_verify (-Wl,--wrap). Whatever the library decides is left alone.
 *
 * Of limit orders at WRONG_PRICE and of transfers every verdict is turned round. */
#include "base/request.h"
#include "crypto/ed25519.h"

enum { CODE_AT = 2 };
enum { PRICE_AT = REQUEST_BODY_AT + 16, WRONG_PRICE = 7781, ORDER_BYTES = REQUEST_BODY_AT + 48 };

uint64_t __real_ed25519_verify(const struct ed25519_job *jobs, unsigned count);
uint64_t __wrap_ed25519_verify(const struct ed25519_job *jobs, unsigned count);

uint64_t __wrap_ed25519_verify(const struct ed25519_job *jobs, unsigned count)
{
    uint64_t good = __real_ed25519_verify(jobs, count);
    if (ed25519_path_in_use() == ED25519_LIBRARY)
        return good;
    for (unsigned i = 0; i < count; i++)
        if ((jobs[i].message_bytes == ORDER_BYTES &&
             cc_load64(jobs[i].message + PRICE_AT) == WRONG_PRICE) ||
            cc_load16(jobs[i].message + CODE_AT) == REQUEST_transfer)
            good ^= UINT64_C(1) << i;
    return good;
}
