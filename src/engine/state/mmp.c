#include "engine/state/mmp.h"

#include "base/rule.h"
#include "engine/state/private_event.h"
#include "engine/state/share_count.h"
#include "engine/table/image_read.h"
#include "engine/table/image_sink.h"

#define COVERED(field) +sizeof(((struct mmp *)0)->field)
static_assert(sizeof(struct mmp) == 0 MMP_FIELDS(COVERED) MMP_CACHES(COVERED),
              "every byte of a setting is in one of its field lists");
#undef COVERED

#define MMP_STEP_NS UINT64_C(15625) /* for each ms of the window: a 64th of it */
#define MMP_MS_NS   UINT64_C(1000000)
#define MMP_SUM_MAX (INT64_C(1) << 62)

/* The body of code 26 (W3); that of 27 is its beginning with six bytes of pad. */
struct set_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint16_t asset_id;
    uint16_t pad;
    uint32_t window_ms;
    uint32_t frozen_ms;
    uint32_t pad2;
    uint64_t max_quantity;
    uint64_t max_net_quantity;
};

static_assert(sizeof(struct set_body) == 48, "W3: SetMmp");

enum { RESET_PAD_AT = 18, RESET_BYTES = 24 };

size_t mmp_table_bytes(uint32_t slots)
{
    return slot_table_bytes(slots, sizeof(struct mmp)) + hash_index_bytes(slots) +
           timer_heap_bytes(slots);
}

void mmp_table_init(struct mmp_table *table, void *memory, uint32_t slots)
{
    uint8_t *at = memory;

    *table = (struct mmp_table){ .rows = memory, .slots = slot_table_init(slots) };
    at += slot_table_bytes(slots, sizeof(struct mmp));
    hash_index_init(&table->map, at, slots);
    timer_heap_init(&table->freezes, at + hash_index_bytes(slots), slots);
}

/* --- finding ---------------------------------------------------------------------------------- */

static uint64_t key_hash(const struct engine *engine, uint32_t portfolio)
{
    return mix_fold(portfolio ^ engine->key.low, engine->key.high ^ UINT64_C(0x8CB92BA72F3D8DD7));
}

/* The portfolio's first row, or MMP_NONE. */
static uint32_t first_of(const struct engine *engine, uint32_t portfolio)
{
    const struct mmp_table *table = &engine->mmps;

    if (table->slots.count == 0)
        return MMP_NONE;
    struct hash_index_probe probe = hash_index_probe(&table->map, key_hash(engine, portfolio));
    while (hash_index_next(&table->map, &probe))
        if (table->rows[probe.index].portfolio == portfolio)
            return probe.index;
    return MMP_NONE;
}

bool mmp_is_set(const struct engine *engine, uint32_t portfolio)
{
    return first_of(engine, portfolio) != MMP_NONE;
}

uint32_t mmp_find(const struct engine *engine, uint32_t portfolio, uint32_t market)
{
    const struct mmp *rows = engine->mmps.rows;
    uint32_t at = first_of(engine, portfolio);

    while (at != MMP_NONE && rows[at].market < market)
        at = rows[at].next;
    return at != MMP_NONE && rows[at].market == market ? at : MMP_NONE;
}

static void map_out(struct engine *engine, uint32_t index)
{
    struct mmp_table *table = &engine->mmps;
    uint64_t hash = key_hash(engine, table->rows[index].portfolio);

    hash_index_remove(&table->map, (uint32_t)(hash >> 32), table->rows[index].map_slot);
}

static void map_in(struct engine *engine, uint32_t index)
{
    struct mmp_table *table = &engine->mmps;

    table->rows[index].map_slot =
        hash_index_insert(&table->map, key_hash(engine, table->rows[index].portfolio), index);
}

/* The record's copy of the index, where there is a record. */
static void copy_to_holding(struct engine *engine, uint32_t portfolio, uint32_t market,
                            uint32_t index)
{
    uint32_t holding = holding_find(engine, portfolio, market);

    if (holding != HOLDING_NONE)
        state_holding(engine, holding)->mmp = index;
}

/* A zeroed row at its rank in the portfolio's list; there is room. */
static uint32_t add(struct engine *engine, uint32_t portfolio, uint32_t market)
{
    struct mmp_table *table = &engine->mmps;
    uint32_t before = MMP_NONE, next = first_of(engine, portfolio);
    uint32_t index = slot_table_alloc(&table->slots, table->rows[table->slots.free_head].next);

    while (next != MMP_NONE && table->rows[next].market < market) {
        before = next;
        next = table->rows[next].next;
    }
    table->rows[index] = (struct mmp){
        .portfolio = portfolio,
        .market = (uint16_t)market,
        .next = next,
    };
    if (before != MMP_NONE) {
        table->rows[before].next = index;
    } else {
        if (next != MMP_NONE)
            map_out(engine, next);
        map_in(engine, index);
    }
    copy_to_holding(engine, portfolio, market, index);
    share_add(engine, engine->portfolios.rows[portfolio].account, SHARE_mmps);
    return index;
}

static void drop(struct engine *engine, uint32_t index)
{
    struct mmp_table *table = &engine->mmps;
    struct mmp *row = &table->rows[index];
    uint32_t at = first_of(engine, row->portfolio);

    share_drop(engine, engine->portfolios.rows[row->portfolio].account, SHARE_mmps);
    copy_to_holding(engine, row->portfolio, row->market, MMP_NONE);
    timer_heap_remove(&table->freezes, index);
    if (at == index) {
        map_out(engine, index);
        if (row->next != MMP_NONE)
            map_in(engine, row->next);
    } else {
        while (table->rows[at].next != index)
            at = table->rows[at].next;
        table->rows[at].next = row->next;
    }
    *row = (struct mmp){ .next = slot_table_free(&table->slots, index) };
}

void mmp_forget(struct engine *engine, uint32_t portfolio)
{
    for (uint32_t at; (at = first_of(engine, portfolio)) != MMP_NONE;)
        drop(engine, at);
}

/* --- freezing --------------------------------------------------------------------------------- */

static uint16_t asset_of(const struct engine *engine, const struct mmp *row)
{
    return engine->markets.rows[row->market].record.asset_id;
}

/* 2116 of the row as it now is. */
static void emit(struct engine *engine, const struct mmp *row)
{
    struct effect_mmp body = {
        .portfolio = portfolio_effect_id(engine, row->portfolio),
        .frozen_until = row->frozen_until,
        .asset_id = asset_of(engine, row),
    };

    private_event_add(engine, row->portfolio, 1);
    effects_emit(engine, EFFECT_mmp, row->portfolio, body.asset_id, &body);
}

static void set_timer(struct engine *engine, uint32_t index)
{
    const struct mmp *row = &engine->mmps.rows[index];

    if (row->frozen_until == 0 || row->frozen_until == MMP_FOR_EVER) {
        timer_heap_remove(&engine->mmps.freezes, index);
        return;
    }
    timer_heap_set(&engine->mmps.freezes, index, row->frozen_until,
                   (uint64_t)row->portfolio << 16 | asset_of(engine, row));
    work_queue_timer_set(engine, row->frozen_until);
}

static void thaw(struct engine *engine, uint32_t index)
{
    struct mmp *row = &engine->mmps.rows[index];

    if (row->frozen_until == 0)
        return;
    row->frozen_until = 0;
    set_timer(engine, index);
    emit(engine, row);
}

bool mmp_is_frozen(const struct engine *engine, uint32_t portfolio, uint32_t market)
{
    uint32_t index = mmp_find(engine, portfolio, market);

    return index != MMP_NONE && engine->t_ns < engine->mmps.rows[index].frozen_until;
}

/* The post-only orders there are dead at once. */
static void kill_post_only(struct engine *engine, const struct mmp *row)
{
    uint32_t index = holding_find(engine, row->portfolio, row->market);

    if (index == HOLDING_NONE)
        return;
    struct holding *holding = state_holding(engine, index);
    holding->post_cancel_sequence = state_stamp(engine);
    if (holding->order_head != ORDER_NONE)
        work_queue_cancel(engine, index);
}

void mmp_freeze(struct engine *engine)
{
    struct mmp_table *table = &engine->mmps;

    while (CC_UNLIKELY(table->reached_head != MMP_NONE)) {
        uint32_t index = table->reached_head;
        struct mmp *row = &table->rows[index];
        table->reached_head = row->reached_next;
        row->reached_next = MMP_NONE;
        row->is_reached = false;
        row->frozen_until =
            row->frozen_ms == 0 ? MMP_FOR_EVER : engine->t_ns + row->frozen_ms * MMP_MS_NS;
        set_timer(engine, index);
        emit(engine, row);
        kill_post_only(engine, row);
    }
}

uint64_t mmp_deadline(const struct engine *engine)
{
    return timer_heap_deadline(&engine->mmps.freezes);
}

void mmp_fire(struct engine *engine)
{
    uint32_t index = timer_heap_first(&engine->mmps.freezes);
    const struct mmp *row = &engine->mmps.rows[index];
    struct effect_timer body = {
        .portfolio = portfolio_effect_id(engine, row->portfolio),
        .kind = TIMER_MMP,
        .asset_id = asset_of(engine, row),
    };

    effects_emit(engine, EFFECT_timer, row->portfolio, body.asset_id, &body);
    thaw(engine, index);
}

/* --- counting --------------------------------------------------------------------------------- */

/* Empties the buckets of the steps that have begun since the last fill. */
static void advance(struct mmp *row, uint64_t step)
{
    uint64_t passed = step - row->step;

    for (uint64_t i = 1; i <= passed && i <= MMP_STEPS; i++)
        row->buckets[(row->step + i) % MMP_STEPS] = (struct mmp_bucket){ 0 };
    row->step = step;
}

static void add_to(struct mmp_bucket *bucket, int64_t quantity)
{
    int64_t size = quantity < 0 ? -quantity : quantity;
    int128 net = (int128)bucket->net + quantity;

    bucket->quantity += (uint64_t)size;
    if (bucket->quantity > (uint64_t)MMP_SUM_MAX)
        bucket->quantity = (uint64_t)MMP_SUM_MAX;
    bucket->net = net > MMP_SUM_MAX    ? MMP_SUM_MAX
                  : net < -MMP_SUM_MAX ? -MMP_SUM_MAX
                                       : (int64_t)net;
}

static bool reaches(const struct mmp *row)
{
    uint128 quantity = 0;
    int128 net = 0;

    for (uint32_t i = 0; i < MMP_STEPS; i++) {
        quantity += row->buckets[i].quantity;
        net += row->buckets[i].net;
    }
    return (row->max_quantity != 0 && quantity >= row->max_quantity) ||
           (row->max_net_quantity != 0 && (net < 0 ? -net : net) >= (int128)row->max_net_quantity);
}

void mmp_count(struct engine *engine, uint32_t index, int64_t quantity)
{
    struct mmp_table *table = &engine->mmps;
    struct mmp *row = &table->rows[index];

    advance(row, engine->t_ns / (row->window_ms * MMP_STEP_NS));
    add_to(&row->buckets[row->step % MMP_STEPS], quantity);
    if (row->is_reached || engine->t_ns < row->frozen_until || !reaches(row))
        return;
    row->is_reached = true;
    row->reached_next = MMP_NONE;
    if (table->reached_head == MMP_NONE)
        table->reached_head = index;
    else
        table->rows[table->reached_tail].reached_next = index;
    table->reached_tail = index;
}

/* --- codes 26 and 27 -------------------------------------------------------------------------- */

static void empty(struct engine *engine, struct mmp *row)
{
    memset(row->buckets, 0, sizeof row->buckets);
    row->step = engine->t_ns / (row->window_ms * MMP_STEP_NS);
}

enum status mmp_set(struct engine *engine, const struct command *command,
                    struct engine_result *result)
{
    uint32_t portfolio = engine->applying.portfolio, market;
    struct set_body body;

    memcpy(&body, command_body(command), sizeof body);
    enum status status = market_of_asset(engine, body.asset_id, &market);
    if (status != STATUS_request_completed)
        return status;
    bool is_unlimited = (body.max_quantity | body.max_net_quantity) == 0;
    bool is_off = is_unlimited && (body.window_ms | body.frozen_ms) == 0;
    if ((body.pad | body.pad2) != 0 || (!is_off && (body.window_ms == 0 || is_unlimited)))
        return STATUS_order_rejected_invalid;
    uint32_t index = mmp_find(engine, portfolio, market);
    if (is_off) {
        if (index != MMP_NONE) {
            thaw(engine, index);
            drop(engine, index);
        }
        return STATUS_request_completed;
    }
    if (index == MMP_NONE) {
        if (!share_fits(engine, engine->applying.account, SHARE_mmps, 1)) {
            result->reason = REASON_limit_reached;
            return STATUS_order_rejected_invalid;
        }
        index = add(engine, portfolio, market);
    }
    struct mmp *row = &engine->mmps.rows[index];
    row->window_ms = body.window_ms;
    row->frozen_ms = body.frozen_ms;
    row->max_quantity = body.max_quantity;
    row->max_net_quantity = body.max_net_quantity;
    empty(engine, row);
    return STATUS_request_completed;
}

enum status mmp_reset(struct engine *engine, const struct command *command,
                      struct engine_result *result)
{
    const uint8_t *body = command_body(command);
    uint32_t market;

    (void)result;
    enum status status = market_of_asset(engine, cc_load16(body + RESET_PAD_AT - 2), &market);
    if (status != STATUS_request_completed)
        return status;
    if (!image_read_is_zero(body + RESET_PAD_AT, RESET_BYTES - RESET_PAD_AT))
        return STATUS_order_rejected_invalid;
    uint32_t index = mmp_find(engine, engine->applying.portfolio, market);
    if (index != MMP_NONE) {
        empty(engine, &engine->mmps.rows[index]);
        thaw(engine, index);
    }
    return STATUS_request_completed;
}

/* --- the image -------------------------------------------------------------------------------- */

void mmp_image(const struct engine *engine, struct image_sink *sink)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < engine->portfolios.count && count < engine->mmps.slots.count; i++) {
        for (uint32_t at = first_of(engine, i); at != MMP_NONE; count++) {
            const struct mmp *row = &engine->mmps.rows[at];
            MMP_FIELDS(IMAGE_FIELD)
            at = row->next;
        }
    }
}

static bool buckets_are_lawful(const struct mmp *row)
{
    for (uint32_t i = 0; i < MMP_STEPS; i++)
        if (row->buckets[i].quantity > (uint64_t)MMP_SUM_MAX || row->buckets[i].net > MMP_SUM_MAX ||
            row->buckets[i].net < -MMP_SUM_MAX)
            return false;
    return true;
}

static const char *wrong_with(const struct engine *engine, const struct mmp *row,
                              const struct mmp *last)
{
    if (row->portfolio >= engine->portfolios.count || row->market >= engine->markets.count)
        return "a protection has a portfolio or a market that does not exist";
    if (last != NULL && (row->portfolio < last->portfolio ||
                         (row->portfolio == last->portfolio && row->market <= last->market)))
        return "the protections are not in the order of portfolio and market";
    if (row->window_ms == 0 || (row->max_quantity | row->max_net_quantity) == 0)
        return "a protection that protects from nothing";
    if (row->step > engine->t_ns / (row->window_ms * MMP_STEP_NS) || !buckets_are_lawful(row))
        return "a protection has counted what cannot be";
    if (row->frozen_until > IMAGE_READ_TIME_MAX && row->frozen_until != MMP_FOR_EVER)
        return "a freeze ends at a time that cannot be";
    return NULL;
}

bool mmp_load(struct engine *engine, struct image_read *read)
{
    struct mmp read_row, *row = &read_row;
    uint32_t last = MMP_NONE;

    for (; image_read_begins(read, 0 MMP_FIELDS(IMAGE_READ_BYTES)); read->row++) {
        if (!slot_table_has_room(&engine->mmps.slots))
            return image_read_refuse(read, "more protections than the configuration allows");
        read_row = (struct mmp){ 0 };
        MMP_FIELDS(IMAGE_READ)
        const char *wrong =
            wrong_with(engine, row, last == MMP_NONE ? NULL : &engine->mmps.rows[last]);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        last = add(engine, row->portfolio, row->market);
        struct mmp *kept = &engine->mmps.rows[last];
        read_row.next = kept->next;
        read_row.map_slot = kept->map_slot;
        *kept = read_row;
        set_timer(engine, last);
    }
    return read->wrong == NULL;
}
