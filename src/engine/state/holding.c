#include "engine/state/holding.h"

#include "engine/state/share_count.h"
#include "engine/table/image_read.h"

#define COVERED(field) +sizeof(((struct holding_side *)0)->field)
static_assert(sizeof(struct holding_side) == 0 HOLDING_SIDE_FIELDS(COVERED),
              "every byte of a side is in its field list");
#undef COVERED
#define COVERED(field) +sizeof(((struct holding *)0)->field)
static_assert(sizeof(struct holding) == 0 HOLDING_FIELDS(COVERED) HOLDING_CACHES(COVERED),
              "every byte of a holding is in one of its field lists");
#undef COVERED

size_t holding_table_bytes(uint32_t slots)
{
    return slot_table_bytes(slots, sizeof(struct holding)) + hash_index_bytes(slots);
}

void holding_table_init(struct holding_table *table, void *memory, uint32_t slots)
{
    *table = (struct holding_table){ .rows = memory, .slots = slot_table_init(slots) };
    hash_index_init(&table->map,
                    (uint8_t *)memory + slot_table_bytes(slots, sizeof(struct holding)), slots);
}

static uint64_t key_hash(const struct engine *engine, uint32_t portfolio, uint32_t market)
{
    return mix_fold(((uint64_t)portfolio << 16 | market) ^ engine->key.low,
                    engine->key.high ^ UINT64_C(0x9E3779B97F4A7C15));
}

uint32_t holding_find(const struct engine *engine, uint32_t portfolio, uint32_t market)
{
    const struct hash_index *map = &engine->holdings.map;
    uint32_t first = engine->portfolios.rows[portfolio].holding_head;

    /* The list ascends, and most portfolios have one: the first decides nearly every search. */
    if (first == HOLDING_NONE || engine->holdings.rows[first].market > market)
        return HOLDING_NONE;
    if (engine->holdings.rows[first].market == market)
        return first;
    struct hash_index_probe probe = hash_index_probe(map, key_hash(engine, portfolio, market));

    while (hash_index_next(map, &probe)) {
        const struct holding *holding = &engine->holdings.rows[probe.index];
        if (holding->portfolio == portfolio && holding->market == market)
            return probe.index;
    }
    return HOLDING_NONE;
}

bool holding_over_markets(const struct engine *engine, uint32_t portfolio, uint32_t market)
{
    const struct portfolio *owner = &engine->portfolios.rows[portfolio];

    return owner->holding_count >= PORTFOLIO_MARKETS_MAX && owner->account != 0 &&
           holding_find(engine, portfolio, market) == HOLDING_NONE;
}

/* Sets the bit of the portfolio in the market's holders, and the bits above it. */
static void holders_add(struct market *market, uint32_t portfolio)
{
    uint32_t at = portfolio;

    for (unsigned depth = 0; depth < MARKET_HOLDER_DEPTH; depth++) {
        market->holders[depth][at >> 6] |= UINT64_C(1) << (at & 63);
        at >>= 6;
    }
}

static void holders_remove(struct market *market, uint32_t portfolio)
{
    uint32_t at = portfolio;

    for (unsigned depth = 0; depth < MARKET_HOLDER_DEPTH; depth++) {
        uint64_t *word = &market->holders[depth][at >> 6];
        *word &= ~(UINT64_C(1) << (at & 63));
        if (*word != 0)
            break;
        at >>= 6;
    }
}

/* Links a new record into its portfolio's list, which is sorted by market. */
static void portfolio_link(struct engine *engine, uint32_t index)
{
    struct holding *holding = &engine->holdings.rows[index];
    struct portfolio *owner = &engine->portfolios.rows[holding->portfolio];
    uint32_t *link = &owner->holding_head;

    while (*link != HOLDING_NONE && engine->holdings.rows[*link].market < holding->market)
        link = &engine->holdings.rows[*link].next;
    holding->next = *link;
    *link = index;
    owner->holding_count++;
}

static void portfolio_unlink(struct engine *engine, uint32_t index)
{
    struct holding *holding = &engine->holdings.rows[index];
    struct portfolio *owner = &engine->portfolios.rows[holding->portfolio];
    uint32_t *link = &owner->holding_head;

    while (*link != index) {
        INVARIANT(*link != HOLDING_NONE);
        link = &engine->holdings.rows[*link].next;
    }
    *link = holding->next;
    owner->holding_count--;
}

/* Into the map, the portfolio's list and the market's holders. */
static void enter(struct engine *engine, uint32_t index)
{
    struct holding *holding = &engine->holdings.rows[index];
    uint64_t hash = key_hash(engine, holding->portfolio, holding->market);

    uint32_t account = engine->portfolios.rows[holding->portfolio].account;
    holding->map_slot = hash_index_insert(&engine->holdings.map, hash, index);
    account_position_enter(engine, index);
    share_add(engine, account, SHARE_positions);
    portfolio_link(engine, index);
    holders_add(&engine->markets.rows[holding->market], holding->portfolio);
}

uint32_t holding_get(struct engine *engine, uint32_t portfolio, uint32_t market)
{
    struct holding_table *table = &engine->holdings;
    uint32_t index = holding_find(engine, portfolio, market);

    if (index != HOLDING_NONE)
        return index;
    index = slot_table_alloc(&table->slots, table->rows[table->slots.free_head].next);
    table->rows[index] = (struct holding){
        .portfolio = portfolio,
        .market = (uint16_t)market,
        .mark_seen = engine->markets.rows[market].mark,
        .leverage = (uint16_t)leverage_setting(engine, portfolio, market),
        .mmp = mmp_find(engine, portfolio, market),
    };
    enter(engine, index);
    return index;
}

void holding_free_empty(struct engine *engine, uint32_t index)
{
    struct holding_table *table = &engine->holdings;
    struct holding *holding = &table->rows[index];

    INVARIANT(index != HOLDING_NONE);
    if (holding->size != 0 || holding->order_head != ORDER_NONE)
        return;
    INVARIANT(holding->cost == 0);
    INVARIANT(holding->sides[0].order_count == 0 && holding->sides[1].order_count == 0);
    if (CC_UNLIKELY(holding->account_position != ACCOUNT_POSITION_NONE))
        account_position_leave(engine, index);
    share_drop(engine, engine->portfolios.rows[holding->portfolio].account, SHARE_positions);
    portfolio_unlink(engine, index);
    holders_remove(&engine->markets.rows[holding->market], holding->portfolio);
    uint64_t hash = key_hash(engine, holding->portfolio, holding->market);
    hash_index_remove(&table->map, (uint32_t)(hash >> 32), holding->map_slot);
    *holding = (struct holding){ .next = slot_table_free(&table->slots, index) };
}

void holding_move(struct engine *engine, struct holding *holding, int64_t before)
{
    struct market *market = &engine->markets.rows[holding->market];

    if (CC_UNLIKELY(holding->exceeds) &&
        (holding->size == 0 || (holding->size < 0) != (before < 0)))
        holding->exceeds = false;
    market->open_interest +=
        (uint64_t)(holding->size > 0 ? holding->size : 0) - (uint64_t)(before > 0 ? before : 0);
    if (CC_UNLIKELY(holding->account_position != ACCOUNT_POSITION_NONE))
        account_position_move(engine, holding->account_position, before, holding->size);
}

void holding_link(struct engine *engine, uint32_t index, uint32_t order)
{
    struct holding *holding = &engine->holdings.rows[index];
    struct order_cold *cold = &engine->orders.cold[order];

    INVARIANT(engine->orders.hot[order].holding == index);
    INVARIANT(holding->order_tail == ORDER_NONE ||
              engine->orders.hot[holding->order_tail].stamp <= engine->orders.hot[order].stamp);
    uint32_t before = holding->order_tail, *link = &holding->order_head;
    while (CC_UNLIKELY(before != ORDER_NONE &&
                       order_rank(&engine->orders, order) < order_rank(&engine->orders, before)))
        before = engine->orders.cold[before].list_prev;
    if (before != ORDER_NONE)
        link = &engine->orders.cold[before].list_next;
    cold->list_prev = before;
    cold->list_next = *link;
    *(*link == ORDER_NONE ? &holding->order_tail : &engine->orders.cold[*link].list_prev) = order;
    *link = order;
    struct portfolio *owner = &engine->portfolios.rows[holding->portfolio];
    owner->open_order_count++;
    share_add(engine, owner->account, SHARE_orders);
}

void holding_unlink(struct engine *engine, uint32_t order)
{
    struct order_cold *cold = &engine->orders.cold[order];
    struct holding *holding = &engine->holdings.rows[engine->orders.hot[order].holding];
    struct portfolio *owner = &engine->portfolios.rows[holding->portfolio];

    if (cold->list_prev == ORDER_NONE)
        holding->order_head = cold->list_next;
    else
        engine->orders.cold[cold->list_prev].list_next = cold->list_next;
    if (cold->list_next == ORDER_NONE)
        holding->order_tail = cold->list_prev;
    else
        engine->orders.cold[cold->list_next].list_prev = cold->list_prev;
    cold->list_next = ORDER_NONE;
    cold->list_prev = ORDER_NONE;
    INVARIANT(owner->open_order_count > 0);
    owner->open_order_count--;
    share_drop(engine, owner->account, SHARE_orders);
}

uint32_t holding_next_holder(const struct engine *engine, uint32_t market, uint32_t from)
{
    uint64_t *const *levels = engine->markets.rows[market].holders;
    uint32_t at = from;

    INVARIANT(from <= engine->portfolios.slots);
    for (unsigned depth = 0; depth < MARKET_HOLDER_DEPTH; depth++) {
        uint64_t bits = levels[depth][at >> 6] >> (at & 63);
        if (bits != 0) {
            at += (uint32_t)__builtin_ctzll(bits);
            while (depth-- > 0)
                at = at << 6 | (uint32_t)__builtin_ctzll(levels[depth][at]);
            return holding_find(engine, at, market);
        }
        at = (at >> 6) + 1;
    }
    return HOLDING_NONE;
}

/* --- from an image ---------------------------------------------------------------------------- */

/* A position is at its market's epoch, or one before it while the epoch is open and the work has
 * not been there (funding.h). */
static bool epoch_holds(const struct market *market, const struct holding *row)
{
    if (row->size == 0)
        return row->funding_epoch == 0;
    if (row->funding_epoch == market->funding_epoch)
        return true;
    return market->funding_open && row->funding_epoch + 1 == market->funding_epoch &&
           row->portfolio >= market->funding_from;
}

static const char *wrong_position(const struct engine *engine, const struct holding *row)
{
    const struct market *market = &engine->markets.rows[row->market];

    if (!image_read_is_money(row->size) || !image_read_is_money(row->cost) ||
        !image_read_is_money(row->net_funding) || (row->size == 0 && row->cost != 0))
        return "a position is beyond every bound";
    uint64_t size = (uint64_t)(row->size < 0 ? -row->size : row->size);
    if (size > market->max_abs_size || (uint128)size * market->mark > (uint128)IMAGE_READ_MONEY_MAX)
        return "a position is larger than its market's largest";
    if (!epoch_holds(market, row))
        return "a position is at an epoch that its market is not at";
    if (row->position_sequence > engine->sequence || row->position_ns > engine->t_ns ||
        row->reduce_cancel_sequence > order_stamp_behind(engine->sequence) ||
        row->post_cancel_sequence > order_stamp_behind(engine->sequence) ||
        row->liquidation_ns > engine->t_ns)
        return "a position is of a command to come";
    for (unsigned side = 0; side < 2; side++)
        if ((row->sides[side].cancel_sequence == 0) != (row->side_reasons[side] == REASON_none) ||
            (row->side_reasons[side] != REASON_none &&
             row->side_reasons[side] != REASON_cancel_all &&
             row->side_reasons[side] != REASON_operator))
            return "a side's list has no reason that can be";
    for (unsigned side = 0; side < 2; side++)
        if (row->sides[side].cancel_sequence > order_stamp_behind(engine->sequence) ||
            row->sides[side].price_bound > (uint64_t)MARKET_RAW_MAX)
            return "a side's bounds cannot be";
    return NULL;
}

static const char *wrong_with(const struct engine *engine, const struct holding *row,
                              const struct holding *last)
{
    if (row->portfolio >= engine->portfolios.count || row->market >= engine->markets.count)
        return "a record has a portfolio or a market that does not exist";
    if (last != NULL && (row->portfolio < last->portfolio ||
                         (row->portfolio == last->portfolio && row->market <= last->market)))
        return "the records are not in the order of portfolio and market";
    if (holding_over_markets(engine, row->portfolio, row->market))
        return "a portfolio has records in too many markets";
    if (row->mark_seen > IMAGE_READ_MARK_MAX)
        return "a record has seen a mark that cannot be";
    return wrong_position(engine, row);
}

/* The sums of its orders are counted again from their rows (order_load). */
static void empty_side(struct holding_side *side)
{
    *side = (struct holding_side){
        .price_bound = side->price_bound,
        .cancel_sequence = side->cancel_sequence,
    };
}

/* Before there were stamps a list was the sequence of the last command that it covers. */
static void stamp_lists(struct holding *row)
{
    row->reduce_cancel_sequence = order_stamp_behind(row->reduce_cancel_sequence);
    for (unsigned side = 0; side < 2; side++)
        row->sides[side].cancel_sequence = order_stamp_behind(row->sides[side].cancel_sequence);
    for (unsigned side = 0; side < 2; side++)
        row->side_reasons[side] =
            row->sides[side].cancel_sequence == 0 ? REASON_none : REASON_cancel_all;
}

bool holding_load(struct engine *engine, struct image_read *read)
{
    struct holding_table *table = &engine->holdings;
    const struct holding *last = NULL;
    struct holding *row = NULL;
    size_t row_bytes = read->version == 1 ? 0 HOLDING_FIELDS_1(IMAGE_READ_BYTES)
                                          : 0 HOLDING_FIELDS(IMAGE_READ_BYTES);

    for (; image_read_begins(read, row_bytes); read->row++) {
        if (!slot_table_has_room(&table->slots))
            return image_read_refuse(read, "more records than the configuration allows");
        row = &table->rows[table->slots.fresh];
        if (read->version == 1) {
            HOLDING_FIELDS_1(IMAGE_READ)
            stamp_lists(row);
        } else {
            HOLDING_FIELDS(IMAGE_READ)
        }
        const char *wrong = wrong_with(engine, row, last);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        for (unsigned side = 0; side < 2; side++)
            empty_side(&row->sides[side]);
        row->leverage = (uint16_t)leverage_setting(engine, row->portfolio, row->market);
        row->mmp = mmp_find(engine, row->portfolio, row->market);
        uint32_t index = slot_table_alloc(&table->slots, 0); /* nothing was freed yet */
        enter(engine, index);
        holding_move(engine, row, 0);
        last = row;
    }
    return read->wrong == NULL;
}
