/* share_count.h - the counts of share.h, inline for the tables that every order and fill touches.
 * Owned by the engine. */
#ifndef ENGINE_STATE_SHARE_COUNT_H
#define ENGINE_STATE_SHARE_COUNT_H

#include "engine/state/state.h"

/* Of `count` keys those beyond an account's creation. */
static inline uint32_t share_extra(uint32_t count)
{
    return count > SHARE_CREATION_CREDENTIALS ? count - SHARE_CREATION_CREDENTIALS : 0;
}

/* The account has `more` rows more in the table; negative: fewer. */
static inline void share_count(struct engine *engine, uint32_t account, enum share_table table,
                               int32_t more)
{
    struct account *owner = &engine->accounts.rows[account];

    if (table == SHARE_credentials && owner->share_class == SHARE_CLASS_unfunded)
        engine->share.extra_credentials +=
            share_extra(owner->counts[table] + (uint32_t)more) - share_extra(owner->counts[table]);
    owner->counts[table] += (uint32_t)more;
    engine->share.tables[table].used[owner->share_class] += (uint32_t)more;
}

static inline void share_add(struct engine *engine, uint32_t account, enum share_table table)
{
    share_count(engine, account, table, 1);
}

static inline void share_drop(struct engine *engine, uint32_t account, enum share_table table)
{
    INVARIANT(engine->accounts.rows[account].counts[table] != 0);
    share_count(engine, account, table, -1);
}

/* How many rows more accounts of the class may have in the table together. */
static inline uint32_t share_room(const struct engine *engine, uint32_t class,
                                  enum share_table table)
{
    const struct share_use *use = &engine->share.tables[table];
    uint32_t used = 0, room = UINT32_MAX;

    for (uint32_t i = 0; i < SHARE_CLASS_COUNT; i++) {
        used += use->used[i];
        uint32_t left = use->bound[i] > used ? use->bound[i] - used : 0;
        room = i >= class && left < room ? left : room;
    }
    return room;
}

#endif
