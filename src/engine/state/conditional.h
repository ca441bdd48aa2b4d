/* conditional.h - orders that wait for a price: the table of the untriggered ones (rules.md R8).
 * Owned by the engine.
 *
 *   conditional_alloc ── fields ── conditional_enter ──> waits ── conditional_end ──> ended, free
 *                                                         │ ^
 *                     conditional_kill: dead, still listed v │ trigger.h: in a tree or in the queue
 *
 * Order.  A portfolio's and a market's list are by placing sequence, oldest first: one command
 *         makes at most one. A dead one is ended and freed by the portfolio's cancellation list
 *         (work.h), by its expiry, or by the list of a market that is CLOSED.
 * Owner.  An index is valid from conditional_alloc to conditional_release; 0 is never given.
 * Bound.  `limit` at a time (engine.orders), refusal by count alone; limits.conditional_orders of a
 *         portfolio. A walk here is over one portfolio's list at most.
 * Units.  Prices and quantities raw, times unix ns. */
#ifndef ENGINE_STATE_CONDITIONAL_H
#define ENGINE_STATE_CONDITIONAL_H

#include "base/row.h"
#include "engine/state/effects.h"
#include "engine/state/market.h"
#include "engine/table/hash_index.h"
#include "engine/table/order.h"
#include "engine/table/timer_heap.h"

enum { CONDITIONAL_NONE = 0 };

enum conditional_source { SOURCE_MARK, SOURCE_LAST, SOURCE_INDEX, SOURCE_COUNT };
enum conditional_direction { TRIGGER_RISING, TRIGGER_FALLING, TRIGGER_DIRECTIONS };
enum conditional_wait { WAITS_NOWHERE, WAITS_IN_TREE, WAITS_IN_QUEUE };

/* Which of a portfolio's orders a list is for; sides as code 4's byte. */
enum conditional_sides { CONDITIONAL_BOTH, CONDITIONAL_BUYS, CONDITIONAL_SELLS };
enum conditional_which { CONDITIONAL_ALL, CONDITIONAL_REDUCE_ONLY, CONDITIONAL_NOT_REDUCE_ONLY };

struct conditional {
    uint64_t id[2];  /* as in struct order */
    uint64_t oco[2]; /* group, zero: none */
    uint64_t trigger_price;
    uint64_t price; /* limit; 0: of a market kind */
    uint64_t quantity;
    uint64_t expiry_ns; /* of its life while untriggered, as signed */
    uint64_t placed_sequence;
    uint64_t placed_ns;
    uint64_t hit_price; /* of the source when it was last queued, 0: never */
    uint64_t hash;      /* mix_id of (account, id): slot in the map, and weight in its tree */
    uint32_t account;
    uint32_t portfolio;
    uint32_t slippage_ppm;
    uint16_t market;
    uint8_t side;
    uint8_t order_type;
    uint8_t flags;       /* as in struct order: the time in force is GTC or GTT */
    uint8_t source;      /* enum conditional_source */
    uint8_t live_tif;    /* enum order_tif once triggered */
    uint8_t kill_reason; /* reason of the list that killed it, 0: none has */
    bool armed;          /* it was queued when its market stopped firing (trigger.h) */
    uint8_t waits_in;    /* enum conditional_wait */
    uint8_t state;       /* UNTRIGGERED; its end while that is emitted */
    uint8_t reason;
    uint32_t left; /* in its tree; in the queue: the one before */
    uint32_t right;
    uint32_t batch;     /* in the queue: number of its item (trigger.h) */
    uint32_t list_next; /* of the portfolio */
    uint32_t list_prev;
    uint32_t market_next; /* of the market */
    uint32_t market_prev;
    uint32_t map_slot;
    uint32_t zero[2];
};

static_assert(sizeof(struct conditional) == 160, "rows of 160 bytes");

/* What an order that was triggered keeps of it, beside its record in the table of orders: by that
 * index, valid when its order_type is one of R8. */
struct conditional_origin {
    uint64_t trigger_price;
    uint64_t oco[2];
    uint8_t source;
    uint8_t live_tif;
    uint8_t zero[6];
};

/* clang-format off */
#define CONDITIONAL_FIELDS(X) \
    X(id) X(oco) X(trigger_price) X(price) X(quantity) X(expiry_ns) X(placed_sequence) \
    X(placed_ns) X(hit_price) X(account) X(portfolio) X(slippage_ppm) X(market) X(side) \
    X(order_type) X(flags) X(source) X(live_tif) X(kill_reason) X(armed)
#define CONDITIONAL_CACHES(X) \
    X(hash) X(waits_in) X(state) X(reason) X(left) X(right) X(batch) X(list_next) X(list_prev) \
    X(market_next) X(market_prev) X(map_slot) X(zero)
#define CONDITIONAL_ORIGIN_FIELDS(X) \
    X(trigger_price) X(oco) X(source) X(live_tif)
#define CONDITIONAL_ORIGIN_CACHES(X) X(zero)
/* clang-format on */

/* The orders of one market, source and direction, by trigger price (trigger.h). */
struct conditional_tree {
    uint64_t nearest; /* the trigger that is met first; of no order: one that no price meets */
    uint32_t root;
};

struct conditional_table {
    struct conditional *rows;           /* [slots + 1] */
    struct conditional_origin *origins; /* [slots + 1], by index of an order */
    struct hash_index map;
    struct timer_heap expiries; /* rank: conditional_rank */
    uint32_t slots;
    uint32_t limit;
    uint32_t count;
    uint32_t fresh;
    uint32_t free_head; /* linked by left */
    uint32_t market_heads[ENGINE_MARKETS_MAX];
    uint32_t market_tails[ENGINE_MARKETS_MAX];
    struct conditional_tree trees[ENGINE_MARKETS_MAX][SOURCE_COUNT][TRIGGER_DIRECTIONS];
    uint32_t going;      /* order that fired, met makers_max makers and goes on (R3), ORDER_NONE */
    uint32_t queue_head; /* of those to be fired, all items */
    uint32_t queue_tail;
    uint32_t batch_first; /* number of the oldest item in the queue of work */
    uint32_t batch_count;
};

struct engine;
struct image_read;
struct image_sink;

size_t conditional_table_bytes(uint32_t slots);

/* `memory`: conditional_table_bytes(slots) zero bytes, 64-byte aligned, that outlive the table. */
void conditional_table_init(struct conditional_table *table, void *memory, uint32_t slots);

/* A zeroed row in state UNTRIGGERED, or CONDITIONAL_NONE when `limit` are in use. */
CC_MUST_USE uint32_t conditional_alloc(struct conditional_table *table);

/* Makes a row whose fields are set findable, listed, timed, and waiting for its price; hash too. */
void conditional_enter(struct engine *engine, uint32_t index);

/* Removes it from all of these. Its row stays until conditional_release. */
void conditional_leave(struct engine *engine, uint32_t index);

void conditional_release(struct conditional_table *table, uint32_t index);

/* Removes it, emits its end (2101: conditional_emit) and releases it. */
void conditional_end(struct engine *engine, uint32_t index, enum order_state state, uint8_t reason);
void conditional_emit(struct engine *engine, uint32_t index);

/* The untriggered order of (account, id) that lives, or CONDITIONAL_NONE. */
CC_MUST_USE uint32_t conditional_find_live(const struct engine *engine, uint32_t account,
                                           const uint8_t id[16], uint64_t hash);
/* The same, dead ones too. */
CC_MUST_USE uint32_t conditional_find(const struct engine *engine, uint32_t account,
                                      const uint8_t id[16], uint64_t hash);

/* What a dead one has become at the engine's t; NEW when it lives (as resting_death). */
CC_MUST_USE enum order_state conditional_death(const struct engine *engine, uint32_t index,
                                               uint8_t *reason);

/* Kills those of the portfolio that the list is for: at once they are neither fired nor found. They
 * are released by the portfolio's cancellation list, which this queues. market MARKET_NONE: all. */
void conditional_kill(struct engine *engine, uint32_t portfolio, uint32_t market,
                      enum conditional_sides sides, enum conditional_which which, uint8_t reason);

/* The portfolio's oldest one that a list has killed, or CONDITIONAL_NONE. */
CC_MUST_USE uint32_t conditional_first_killed(const struct engine *engine, uint32_t portfolio);

/* Releases the oldest one of a CLOSED market (`market_state`). False: there is none. */
CC_MUST_USE bool conditional_drop_of_market(struct engine *engine, uint32_t market);

/* The first expiry timer is due: 2115, then 2101. */
void conditional_expire(struct engine *engine);

/* The row that reads show, as it is now; of a triggered one only what its origin adds. */
void conditional_record(const struct engine *engine, uint32_t index, struct row_order *row);
void conditional_add_origin(const struct engine *engine, uint32_t order, struct row_order *row);

/* An order of R8 takes the row's place: what it keeps. */
void conditional_keep_origin(struct engine *engine, uint32_t index, uint32_t order);

/* Section 13: the rows by portfolio and placing, then the origins of the orders of section 7. */
void conditional_image(const struct engine *engine, struct image_sink *sink);

/* Placing order, in one with order_rank: one command places at most one. */
static inline uint64_t conditional_rank(const struct conditional *row)
{
    return row->placed_sequence << 16;
}

static inline bool conditional_is_kind(uint8_t order_type)
{
    return order_type >= ORDER_STOP_LIMIT && order_type <= ORDER_TAKE_PROFIT_MARKET;
}

/* R8: a buying stop and a selling take-profit wait for the price to rise. */
static inline enum conditional_direction conditional_direction(const struct conditional *row)
{
    bool is_stop = row->order_type == ORDER_STOP_LIMIT || row->order_type == ORDER_STOP_MARKET;

    return is_stop == (row->side == ORDER_LONG) ? TRIGGER_RISING : TRIGGER_FALLING;
}

#endif
