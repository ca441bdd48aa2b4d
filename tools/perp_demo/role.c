#include "perp_demo/role.h"

#include "perp_demo/maker.h"
#include "perp_demo/oracle.h"
#include "perp_demo/taker.h"

static const struct role roles[ROLE_COUNT] = {
#define X(name, count, turn_ms, leverage, frames, turn) \
    { #name, count, turn_ms, leverage, frames, turn },
    ROLE_LIST(X)
#undef X
};

const struct role *role_at(enum role_index index)
{
    INVARIANT(index < ROLE_COUNT);
    return &roles[index];
}

const struct role *role_find(const char *name)
{
    for (size_t i = 0; i < ROLE_COUNT; i++) {
        if (strcmp(roles[i].name, name) == 0)
            return &roles[i];
    }
    return NULL;
}
