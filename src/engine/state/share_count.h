/* share_count.h - the counts of share.h, inline for the tables that every order and fill touches.
 * Owned by the engine. */
#ifndef ENGINE_STATE_SHARE_COUNT_H
#define ENGINE_STATE_SHARE_COUNT_H

#include "base/fair_share.h"
#include "engine/state/state.h"

/* Of `count` rows those beyond share_base. */
static inline uint32_t share_extra(uint32_t class, enum share_table table, uint32_t count)
{
    const uint32_t base = share_base[class][table];

    return count > base ? count - base : 0;
}

/* The account has `more` rows more in the table; negative: fewer. */
static inline void share_count(struct engine *engine, uint32_t account, enum share_table table,
                               int32_t more)
{
    struct account *owner = &engine->accounts.rows[account];
    struct share_use *use = &engine->share.tables[table];
    const uint32_t class = owner->share_class, has = owner->counts[table] + (uint32_t)more;

    if (class != SHARE_CLASS_full)
        use->extra[class] +=
            share_extra(class, table, has) - share_extra(class, table, owner->counts[table]);
    owner->counts[table] = has;
    use->used[class] += (uint32_t)more;
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

/* How many rows more accounts of the class may have in the table together, by the bounds of the
 * classes from it to below `end`. All others leave newcomers what these have not used. */
static inline uint32_t share_room_below(const struct engine *engine, uint32_t class, uint32_t end,
                                        enum share_table table)
{
    const struct share_use *use = &engine->share.tables[table];
    uint32_t used = 0, room = UINT32_MAX;

    for (uint32_t i = 0; i < end; i++) {
        used += use->used[i];
        uint32_t kept = 0;
        if (i >= SHARE_CLASS_small && class != SHARE_CLASS_unfunded &&
            use->used[SHARE_CLASS_unfunded] < use->newcomers)
            kept = use->newcomers - use->used[SHARE_CLASS_unfunded];
        uint32_t left = use->bound[i] > used + kept ? use->bound[i] - used - kept : 0;
        room = i >= class && left < room ? left : room;
    }
    return room;
}

/* The same by the bounds of all classes. */
static inline uint32_t share_room(const struct engine *engine, uint32_t class,
                                  enum share_table table)
{
    return share_room_below(engine, class, SHARE_CLASS_COUNT, table);
}

/* Whether an account of the class with `has` rows may have `count` more beside what all have beyond
 * share_base. */
static inline bool share_extra_fits(const struct engine *engine, uint32_t class,
                                    enum share_table table, uint32_t has, uint32_t count)
{
    const struct share_use *use = &engine->share.tables[table];
    const uint32_t kept = class == SHARE_CLASS_small ? use->newcomers : 0;
    const uint32_t bound = use->bound[class] > kept ? (use->bound[class] - kept) / 2 : 0;
    const uint64_t more = share_extra(class, table, has + count) - share_extra(class, table, has);

    return more == 0 || use->extra[class] + more <= bound;
}

enum { SHARE_LAST_PART = 4 }; /* the last 1/n of a table is given by shares */

/* Whether an account of the class with `has` rows may have `count` more of what is left in the
 * table: while that is little it must have less than half as many (fair_share.h). Where there are
 * no classes there is no such rule. */
static inline bool share_last_fits(const struct engine *engine, uint32_t class,
                                   enum share_table table, uint32_t has, uint32_t count)
{
    const uint32_t left = share_room(engine, SHARE_CLASS_full, table);

    if (class == SHARE_CLASS_unfunded || count == 0 ||
        left >= engine->share.tables[table].bound[SHARE_CLASS_full] / SHARE_LAST_PART)
        return true;
    return fair_share_has_room(has + count - 1, left) ||
           (state_option(engine, OPTION_limits_funding_small) == 0 &&
            state_option(engine, OPTION_limits_funding_full) == 0);
}

/* Whether its class and the table leave the account `count` rows more, whatever its own bounds:
 * share_fits asks those too. */
static inline bool share_leaves(const struct engine *engine, uint32_t account,
                                enum share_table table, uint32_t count)
{
    const struct account *owner = &engine->accounts.rows[account];
    const uint32_t class = owner->share_class;

    return count <= share_room(engine, class, table) &&
           share_extra_fits(engine, class, table, owner->counts[table], count) &&
           share_last_fits(engine, class, table, owner->counts[table], count);
}

#endif
