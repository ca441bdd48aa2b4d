/* fair_share.h - how much one of many may hold of what all of them share: an address or an account
 * may have one more while it holds less than half as many as are free.
 *
 * Alone it has a third, two have a half together, and however many come something is left for the
 * next one. */
#ifndef BASE_FAIR_SHARE_H
#define BASE_FAIR_SHARE_H

#include "base/compiler.h"

/* Whether a holder of `held` may take one of the `free` ones. */
CC_MUST_USE static inline bool fair_share_has_room(uint32_t held, uint32_t free)
{
    return 2 * (uint64_t)held < free;
}

#endif
