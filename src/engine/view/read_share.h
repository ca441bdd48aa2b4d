/* read_share.h - what an account may have of a bounded table that is none of the engine's: by the
 * shares of its class, as of the last applied command. */
#ifndef ENGINE_VIEW_READ_SHARE_H
#define ENGINE_VIEW_READ_SHARE_H

#include "base/compiler.h"
#include "base/share_list.h"

struct engine;

struct read_share {
    uint8_t share_class; /* enum share_class */
    uint32_t bound[SHARE_CLASS_COUNT];
};

/* The class of an account, and how many rows of a table of `size` rows each class and those below
 * it may have (W8, slots). Called by the thread that owns the engine. False: no such account. */
CC_MUST_USE bool read_share(const struct engine *engine, uint64_t account_id, uint32_t size,
                            struct read_share *share);

#endif
