/* rests.h - what rests on the sides of a record, for its initial margin: B and S of rules.md R4,
 * with what the reduce-only orders exceed the position by. Owned by the engine.
 *
 * Units.  Sizes raw. A position is signed by its side. */
#ifndef ENGINE_RISK_RESTS_H
#define ENGINE_RISK_RESTS_H

#include "engine/risk/margin.h"
#include "engine/state/recheck_inline.h"

/* Added to figure_mark: of the figures of that mark only IM is out of date. */
#define RESTS_CHANGED (UINT64_C(1) << 63)

/* What rests of the holding's orders changed, its position did not: as recheck_holding, but its
 * value and its MM stay. */
static inline void rests_changed(struct engine *engine, uint32_t index)
{
    struct holding *holding = state_holding(engine, index);
    uint64_t made_at = holding->figure_mark;

    recheck_holding_inline(engine, state_portfolio(engine, holding->portfolio), holding, index);
    if (made_at != 0)
        holding->figure_mark = made_at | RESTS_CHANGED;
}

/* The side whose orders oppose the position, which is not 0. */
static inline enum order_side rests_opposing(int64_t size)
{
    return size < 0 ? ORDER_LONG : ORDER_SHORT;
}

/* By how much this quantity of reduce-only orders exceeds a position that they oppose. */
static inline int64_t rests_beyond(int64_t size, int64_t reduce)
{
    int64_t magnitude = (int64_t)margin_abs(size);

    return reduce > magnitude ? reduce - magnitude : 0;
}

/* R4: by how much the record's reduce-only orders exceed the position. */
static inline int64_t rests_excess(const struct holding *holding)
{
    if (CC_LIKELY((holding->sides[0].reduce_size | holding->sides[1].reduce_size) == 0) ||
        holding->size == 0)
        return 0;
    return rests_beyond(holding->size, holding->sides[rests_opposing(holding->size)].reduce_size);
}

/* worst = max(|s|, |s + B|, |s - S|). */
static inline uint64_t rests_worst(int64_t size, int64_t buys, int64_t sells)
{
    uint64_t worst = margin_abs(size);
    uint64_t bought = margin_abs(size + buys), sold = margin_abs(size - sells);

    worst = bought > worst ? bought : worst;
    return sold > worst ? sold : worst;
}

/* What rests on the sides of a record: B and S of R4. */
struct rests {
    int64_t buys;
    int64_t sells;
};

/* What rests now, with the excess of the reduce-only orders. */
static inline struct rests rests_now(const struct holding *holding)
{
    struct rests rests = { holding->sides[ORDER_LONG].size, holding->sides[ORDER_SHORT].size };
    int64_t excess = rests_excess(holding);

    if (CC_UNLIKELY(excess != 0))
        *(holding->size < 0 ? &rests.buys : &rests.sells) += excess;
    return rests;
}

/* What rests without the old rest of a replacement. */
static inline struct rests rests_before(const struct holding *holding,
                                        const struct margin_change *change)
{
    struct rests rests = rests_now(holding);
    int64_t *own = change->side == ORDER_LONG ? &rests.buys : &rests.sells;

    *own -= change->out_size;
    if (CC_UNLIKELY(change->out_reduce != 0) && holding->size != 0 &&
        rests_opposing(holding->size) == change->side) {
        int64_t reduce = holding->sides[change->side].reduce_size;
        *own -= rests_beyond(holding->size, reduce) -
                rests_beyond(holding->size, reduce - change->out_reduce);
    }
    return rests;
}

/* The excess after an effect, on the side that opposes the position then. Who makes a position
 * smaller does not pay for it: that of the other orders is what it was, less what is closed. */
static inline int64_t rests_excess_after(const struct holding *holding,
                                         const struct margin_change *change)
{
    int64_t before = holding->size, after = change->size_after;
    enum order_side side = rests_opposing(after);
    bool own = side == change->side;
    int64_t others = holding->sides[side].reduce_size - (own ? change->out_reduce : 0);
    int64_t excess = rests_beyond(after, others);
    int64_t more = own ? rests_beyond(after, others + change->rest_reduce) - excess : 0;
    int64_t closed = (int64_t)margin_abs(before) - (int64_t)margin_abs(after);

    if ((before < 0) == (after < 0) && closed > 0) {
        excess = rests_beyond(before, others) - closed;
        excess = excess < 0 ? 0 : excess;
    }
    return excess + more;
}

/* What rests after an effect. */
static inline struct rests rests_after(const struct holding *holding,
                                       const struct margin_change *change)
{
    struct rests rests = { holding->sides[ORDER_LONG].size, holding->sides[ORDER_SHORT].size };
    int64_t reduce = holding->sides[0].reduce_size | holding->sides[1].reduce_size;

    *(change->side == ORDER_LONG ? &rests.buys : &rests.sells) +=
        change->rest_size - change->out_size;
    if (CC_UNLIKELY((reduce | change->rest_reduce) != 0) && change->size_after != 0)
        *(change->size_after < 0 ? &rests.buys : &rests.sells) +=
            rests_excess_after(holding, change);
    return rests;
}

#endif
