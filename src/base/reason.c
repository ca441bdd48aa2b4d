#include "base/reason.h"

#include "base/status.h"

static const char *const reason_names[] = {
#define X(name) #name,
    REASON_LIST(X)
#undef X
};

static_assert(CC_COUNT(reason_names) == REASON_END - REASON_FIRST, "one name a reason");
static_assert(REASON_invalid_destination == 158, "wire.md lists 31 reasons from 128");
static_assert(REASON_END <= 256, "a reason is one byte on the wire");

const char *reason_name(uint32_t reason)
{
    if (reason == REASON_none)
        return NULL;
    if (reason < STATUS_COUNT)
        return status_name((enum status)reason);
    if (reason >= REASON_FIRST && reason < REASON_END)
        return reason_names[reason - REASON_FIRST];
    return "";
}
