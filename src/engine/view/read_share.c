#include "engine/view/read_share.h"

#include "engine/state/share.h"
#include "engine/state/state.h"

bool read_share(const struct engine *engine, uint64_t account_id, uint32_t size,
                struct read_share *share)
{
    uint32_t slot = account_find(engine, account_id);

    if (slot == ACCOUNT_NONE)
        return false;
    share->share_class = engine->accounts.rows[slot].share_class;
    share_bounds(engine, size, share->bound);
    return true;
}
