#include "engine/state/withdrawal.h"

#include "base/row_history.h"
#include "base/uuid.h"
#include "engine/state/share_count.h"
#include "engine/table/image_read.h"

#define COVERED(field) +sizeof(((struct withdrawal *)0)->field)
static_assert(sizeof(struct withdrawal) == 0 WITHDRAWAL_FIELDS(COVERED) WITHDRAWAL_CACHES(COVERED),
              "every byte of a withdrawal is in one of its field lists");
#undef COVERED

/* --- the table -------------------------------------------------------------------------------- */

size_t withdrawal_table_bytes(uint32_t slots)
{
    return slot_table_bytes(slots, sizeof(struct withdrawal)) + hash_index_bytes(slots) +
           timer_heap_bytes(slots);
}

void withdrawal_table_init(struct withdrawal_table *table, void *memory, uint32_t slots)
{
    uint8_t *at = memory;

    *table = (struct withdrawal_table){ .rows = memory, .slots = slot_table_init(slots) };
    at += slot_table_bytes(slots, sizeof(struct withdrawal));
    hash_index_init(&table->map, at, slots);
    at += hash_index_bytes(slots);
    timer_heap_init(&table->releases, at, slots);
}

static uint64_t sequence_hash(const struct engine *engine, uint64_t sequence)
{
    return mix_fold(sequence ^ engine->key.low, engine->key.high ^ UINT64_C(0x2D358DCCAA6C78A5));
}

uint32_t withdrawal_find_sequence(const struct engine *engine, uint64_t sequence)
{
    const struct withdrawal_table *table = &engine->withdrawals;

    if (table->slots.count == 0)
        return WITHDRAWAL_NONE;
    struct hash_index_probe probe = hash_index_probe(&table->map, sequence_hash(engine, sequence));
    while (hash_index_next(&table->map, &probe))
        if (table->rows[probe.index].created_sequence == sequence)
            return probe.index;
    return WITHDRAWAL_NONE;
}

void withdrawal_id(const struct withdrawal *withdrawal, uint8_t id[16])
{
    struct uuid uuid =
        uuid_engine(withdrawal->created_ns, withdrawal->created_sequence, withdrawal->id_index);
    memcpy(id, uuid.bytes, sizeof uuid.bytes);
}

/* An id holds the lower 40 bits of the sequence (R3). */
uint32_t withdrawal_find(const struct engine *engine, const uint8_t id[16])
{
    const uint64_t wrap = UINT64_C(1) << 40;
    uint64_t low = (__builtin_bswap64(cc_load64(id + 8)) >> 22) & (wrap - 1);
    uint64_t sequence = (engine->sequence & ~(wrap - 1)) | low;

    for (;; sequence -= wrap) {
        uint32_t found = withdrawal_find_sequence(engine, sequence);
        uint8_t own[16];
        if (found != WITHDRAWAL_NONE) {
            withdrawal_id(&engine->withdrawals.rows[found], own);
            if (memcmp(own, id, sizeof own) == 0)
                return found;
        }
        if (sequence < wrap)
            return WITHDRAWAL_NONE;
    }
}

uint32_t withdrawal_older(const struct engine *engine, uint32_t at)
{
    const struct withdrawal_table *table = &engine->withdrawals;

    return at == WITHDRAWAL_NONE ? table->tail : table->rows[at].prev;
}

bool withdrawal_read(const struct engine *engine, uint32_t at, struct row_withdrawal *row)
{
    const struct withdrawal *withdrawal = &engine->withdrawals.rows[at];

    if (withdrawal->created_sequence == 0)
        return false;
    struct effect_portfolio_id id = portfolio_effect_id(engine, withdrawal->portfolio);
    *row = (struct row_withdrawal){
        .account_id = id.account_id,
        .subaccount_index = id.subaccount_index,
        .portfolio_index = id.portfolio_index,
        .amount = withdrawal->amount,
        .requested_at_ns = withdrawal->created_ns,
        .sequence = withdrawal->created_sequence,
        .outcome =
            withdrawal->ended_sequence == 0 ? ROW_WITHDRAWAL_PENDING : ROW_WITHDRAWAL_SETTLED,
    };
    withdrawal_id(withdrawal, row->id);
    memcpy(row->destination, withdrawal->destination, sizeof row->destination);
    return true;
}

static struct subaccount *subaccount_of(struct engine *engine, const struct withdrawal *row)
{
    return &engine->subaccounts.rows[engine->portfolios.rows[row->portfolio].subaccount];
}

uint32_t withdrawal_add(struct engine *engine, const struct withdrawal *row)
{
    struct withdrawal_table *table = &engine->withdrawals;
    uint32_t index = slot_table_alloc(&table->slots, table->rows[table->slots.free_head].next);

    share_add(engine, engine->portfolios.rows[row->portfolio].account, SHARE_withdrawals);
    engine->portfolios.withdrawals[row->portfolio]++;
    table->rows[index] = *row;
    table->rows[index].prev = table->tail;
    table->rows[index].next = WITHDRAWAL_NONE;
    *(table->tail != WITHDRAWAL_NONE ? &table->rows[table->tail].next : &table->head) = index;
    table->tail = index;
    table->rows[index].map_slot =
        hash_index_insert(&table->map, sequence_hash(engine, row->created_sequence), index);
    if (row->ended_sequence == 0)
        subaccount_of(engine, row)->withdrawals_pending++;
    else
        timer_heap_set(&table->releases, index, row->release_ns, row->created_sequence);
    return index;
}

static void release(struct engine *engine, uint32_t index)
{
    struct withdrawal_table *table = &engine->withdrawals;
    struct withdrawal *row = &table->rows[index];
    uint64_t hash = sequence_hash(engine, row->created_sequence);

    INVARIANT(row->ended_sequence != 0);
    share_drop(engine, engine->portfolios.rows[row->portfolio].account, SHARE_withdrawals);
    engine->portfolios.withdrawals[row->portfolio]--;
    hash_index_remove(&table->map, (uint32_t)(hash >> 32), row->map_slot);
    timer_heap_remove(&table->releases, index);
    *(row->prev != WITHDRAWAL_NONE ? &table->rows[row->prev].next : &table->head) = row->next;
    *(row->next != WITHDRAWAL_NONE ? &table->rows[row->next].prev : &table->tail) = row->prev;
    *row = (struct withdrawal){ .next = slot_table_free(&table->slots, index) };
}

void withdrawal_release_ended(struct engine *engine)
{
    const struct timer_heap *releases = &engine->withdrawals.releases;

    for (unsigned i = 0; i < WITHDRAWAL_RELEASES_MAX; i++) {
        if (timer_heap_deadline(releases) > engine->t_ns)
            break;
        release(engine, timer_heap_first(releases));
    }
}

bool withdrawal_fits(const struct engine *engine, uint64_t amount)
{
    return engine->withdrawals_pending <= WITHDRAWAL_PENDING_MAX - (int64_t)amount;
}

void withdrawal_end(struct engine *engine, uint32_t index)
{
    struct withdrawal *row = &engine->withdrawals.rows[index];

    INVARIANT(row->ended_sequence == 0);
    row->ended_sequence = engine->sequence;
    row->release_ns = credential_keep_until(engine);
    timer_heap_set(&engine->withdrawals.releases, index, row->release_ns, row->created_sequence);
    subaccount_of(engine, row)->withdrawals_pending--;
    engine->withdrawals_pending -= (int64_t)row->amount;
}

/* --- the image -------------------------------------------------------------------------------- */

static const char *wrong_with(const struct engine *engine, const struct withdrawal *row)
{
    const struct withdrawal_table *table = &engine->withdrawals;

    if (row->portfolio == 0 || row->portfolio >= engine->portfolios.count ||
        engine->portfolios.rows[row->portfolio].status == PORTFOLIO_FREE)
        return "a withdrawal has a portfolio that does not exist";
    if (row->amount < WITHDRAWAL_MIN || row->amount > (uint64_t)PORTFOLIO_CASH_MAX)
        return "a withdrawal has an amount that cannot leave";
    if (row->created_sequence <= table->rows[table->tail].created_sequence ||
        row->created_sequence > engine->sequence || row->created_ns > engine->t_ns)
        return "the withdrawals are not in the order of their creation";
    if (row->id_index >= UUID_ENGINE_INDEX_MAX)
        return "a withdrawal has an id that no command makes";
    if (row->release_ns < row->created_ns || row->release_ns > IMAGE_READ_TIME_MAX ||
        (row->ended_sequence != 0 &&
         (row->ended_sequence <= row->created_sequence || row->ended_sequence > engine->sequence)))
        return "a withdrawal has an end that it cannot have";
    return NULL;
}

/* What is pending adds up to what the engine says. */
bool withdrawal_load(struct engine *engine, struct image_read *read)
{
    int128 pending = 0;

    for (;; read->row++) {
        struct withdrawal loaded = { 0 }, *row = &loaded;
        if (!image_read_begins(read, 0 WITHDRAWAL_FIELDS(IMAGE_READ_BYTES)))
            break;
        if (!slot_table_has_room(&engine->withdrawals.slots))
            return image_read_refuse(read, "more withdrawals than the configuration allows");
        WITHDRAWAL_FIELDS(IMAGE_READ)
        const char *wrong = wrong_with(engine, row);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        (void)withdrawal_add(engine, row);
        pending += row->ended_sequence == 0 ? (int64_t)row->amount : 0;
    }
    if (read->wrong == NULL && pending != engine->withdrawals_pending)
        return image_read_refuse(read, "what is pending is not the sum of the withdrawals");
    return read->wrong == NULL;
}
