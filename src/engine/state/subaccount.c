#include "engine/state/subaccount.h"

#include "base/rule.h"
#include "engine/state/access.h"
#include "engine/state/portfolio_row.h"
#include "engine/state/share_count.h"
#include "engine/table/image_read.h"
#include "engine/table/whole_lines.h"

#define COVERED(field) +sizeof(((struct subaccount *)0)->field)
static_assert(sizeof(struct subaccount) == 0 SUBACCOUNT_FIELDS(COVERED) SUBACCOUNT_CACHES(COVERED),
              "every byte of a subaccount is in one of its field lists");
#undef COVERED

/* A record of the table that is nobody's. */
static const struct subaccount free_subaccount = { .status = SUBACCOUNT_FREE };

static size_t rows_bytes(uint32_t slots)
{
    return whole_lines((size_t)slots * sizeof(struct subaccount));
}

size_t subaccount_table_bytes(uint32_t slots)
{
    return rows_bytes(slots) + 2 * hash_index_bytes(slots) + free_rows_bytes(slots);
}

void subaccount_table_init(struct subaccount_table *table, void *memory, uint32_t slots)
{
    uint8_t *at = (uint8_t *)memory + rows_bytes(slots);

    *table = (struct subaccount_table){ .rows = memory, .slots = slots };
    hash_index_init(&table->map, at, slots);
    at += hash_index_bytes(slots);
    hash_index_init(&table->by_sequence, at, slots);
    free_rows_init(&table->free, at + hash_index_bytes(slots), slots);
}

static uint64_t key_hash(const struct engine *engine, uint32_t account, uint32_t subaccount_index)
{
    uint64_t key = mix_fold(account ^ engine->key.low,
                            subaccount_index ^ engine->key.high ^ UINT64_C(0x8EBC6AF09C88C6E3));
    return mix_fold(key ^ engine->key.high, UINT64_C(0x589965CC75374CC3));
}

uint32_t subaccount_find(const struct engine *engine, uint32_t account, uint32_t subaccount_index)
{
    const struct subaccount_table *table = &engine->subaccounts;

    if (account >= engine->accounts.count ||
        subaccount_index >= engine->accounts.rows[account].subaccount_count)
        return SUBACCOUNT_NONE;
    if (subaccount_index == 0)
        return engine->accounts.rows[account].subaccount_head;
    struct hash_index_probe probe =
        hash_index_probe(&table->map, key_hash(engine, account, subaccount_index));
    while (hash_index_next(&table->map, &probe)) {
        const struct subaccount *row = &table->rows[probe.index - 1];
        if (row->account == account && row->subaccount_index == subaccount_index)
            return probe.index - 1;
    }
    return SUBACCOUNT_NONE;
}

uint32_t subaccount_portfolio_count(const struct engine *engine, uint32_t account,
                                    uint32_t subaccount_index)
{
    uint32_t record = subaccount_find(engine, account, subaccount_index);

    if (record != SUBACCOUNT_NONE)
        return engine->subaccounts.rows[record].portfolio_count;
    return account < engine->accounts.count &&
           subaccount_index < engine->accounts.rows[account].subaccount_count;
}

bool subaccount_is_open(const struct engine *engine, uint32_t account, uint32_t subaccount_index)
{
    uint32_t record = subaccount_find(engine, account, subaccount_index);

    return record != SUBACCOUNT_NONE &&
           engine->subaccounts.rows[record].status == SUBACCOUNT_ACTIVE;
}

static uint64_t sequence_hash(const struct engine *engine, uint64_t sequence)
{
    return mix_fold(sequence ^ engine->key.low, engine->key.high ^ UINT64_C(0xA3B195354A39B70D));
}

/* A command makes at most one for a 22. The first images have only the accounts' own. */
static bool has_sequence(const struct engine *engine, const struct subaccount *row)
{
    return row->subaccount_index != 0 &&
           row->created_sequence != engine->accounts.rows[row->account].created_sequence;
}

uint32_t subaccount_find_sequence(const struct engine *engine, uint64_t sequence)
{
    const struct hash_index *map = &engine->subaccounts.by_sequence;
    struct hash_index_probe probe = hash_index_probe(map, sequence_hash(engine, sequence));

    while (hash_index_next(map, &probe))
        if (engine->subaccounts.rows[probe.index - 1].created_sequence == sequence)
            return probe.index - 1;
    return SUBACCOUNT_NONE;
}

/* The record becomes a subaccount of its account, the next one or one that it has counted, without
 * portfolios. */
static void enter(struct engine *engine, uint32_t record)
{
    struct subaccount_table *table = &engine->subaccounts;
    uint32_t account = table->rows[record].account, slot;
    uint32_t index = table->rows[record].subaccount_index;

    if (index == engine->accounts.rows[account].subaccount_count)
        engine->accounts.rows[account].subaccount_count++;
    share_add(engine, account, SHARE_subaccounts);
    if (index == 0) {
        engine->accounts.rows[account].subaccount_head = record;
        return;
    }
    slot = hash_index_insert(&table->map, key_hash(engine, account, index), record + 1);
    if (has_sequence(engine, &table->rows[record]))
        slot = hash_index_insert(&table->by_sequence,
                                 sequence_hash(engine, table->rows[record].created_sequence),
                                 record + 1);
    (void)slot; /* it is searched when one is removed, which is rare */
}

void subaccount_give_back(struct engine *engine, uint32_t record)
{
    struct subaccount_table *table = &engine->subaccounts;
    struct subaccount *row = &table->rows[record];

    INVARIANT(row->withdrawals_pending == 0 && row->portfolio_rows == 0);
    if (row->subaccount_index != 0)
        hash_index_erase(&table->map, key_hash(engine, row->account, row->subaccount_index),
                         record + 1);
    if (has_sequence(engine, row))
        hash_index_erase(&table->by_sequence, sequence_hash(engine, row->created_sequence),
                         record + 1);
    share_drop(engine, row->account, SHARE_subaccounts);
    subaccount_move(row, SUBACCOUNT_FREE);
    *row = free_subaccount;
    free_rows_add(&table->free, record);
}

uint32_t subaccount_add(struct engine *engine, uint32_t account)
{
    struct subaccount_table *table = &engine->subaccounts;

    uint32_t record = free_rows_alloc(&table->free, &table->count);
    INVARIANT(record < table->slots);
    table->rows[record] = (struct subaccount){
        .created_sequence = engine->sequence,
        .account = account,
        .subaccount_index = engine->accounts.rows[account].subaccount_count,
        .status = SUBACCOUNT_ACTIVE,
    };
    enter(engine, record);
    portfolio_add(engine, record, "Main");
    return record;
}

bool subaccount_all_closed(const struct engine *engine, uint32_t account)
{
    const struct portfolio *rows = engine->portfolios.rows;
    uint32_t at = engine->accounts.rows[account].portfolio_head;

    for (; at != PORTFOLIO_NONE; at = rows[at].account_next)
        if (engine->subaccounts.rows[rows[at].subaccount].status != SUBACCOUNT_CLOSED)
            return false;
    return true;
}

/* --- codes 22 and 23 -------------------------------------------------------------------------- */

static void emit(struct engine *engine, uint32_t record)
{
    const struct subaccount *row = &engine->subaccounts.rows[record];
    struct effect_account body = {
        .account_id = state_account_id(engine, row->account),
        .subaccount_index = row->subaccount_index,
        .status = row->status,
        .fee_tier = engine->accounts.rows[row->account].fee_tier,
        .what = ACCOUNT_WHAT_SUBACCOUNT,
    };

    effects_emit(engine, EFFECT_account, row->account, 0, &body);
}

enum status subaccount_create(struct engine *engine, const struct command *command,
                              struct engine_result *result)
{
    uint32_t account = engine->applying.account;
    uint32_t count = engine->accounts.rows[account].subaccount_count;

    (void)command;
    if (count >= state_option(engine, OPTION_limits_subaccounts) ||
        !share_fits(engine, account, SHARE_subaccounts, 1) ||
        !share_fits(engine, account, SHARE_portfolios, 1)) {
        result->reason = REASON_limit_reached;
        return STATUS_order_rejected_invalid;
    }
    emit(engine, subaccount_add(engine, account));
    result->subaccount_index = count;
    result->portfolio_index = 0;
    result->members |= ANSWER_HAS_INDEXES;
    return STATUS_request_completed;
}

static bool has_open_portfolio(const struct engine *engine, const struct subaccount *row)
{
    for (uint32_t i = 0; i < row->portfolio_count; i++) {
        uint32_t portfolio = portfolio_find(engine, row->account, row->subaccount_index, i);
        if (!portfolio_is_closed(engine, portfolio))
            return true;
    }
    return false;
}

enum status subaccount_close(struct engine *engine, const struct command *command,
                             struct engine_result *result)
{
    uint32_t record =
        subaccount_find(engine, engine->applying.account, cc_load32(command_body(command) + 8));

    if (!access_body_is_clean(command))
        return STATUS_order_rejected_invalid;
    if (record == SUBACCOUNT_NONE || engine->subaccounts.rows[record].status == SUBACCOUNT_CLOSED)
        return ROW_STATUS(portfolio);
    struct subaccount *row = &engine->subaccounts.rows[record];
    if (has_open_portfolio(engine, row))
        result->reason = REASON_portfolio_not_closed;
    else if (row->withdrawals_pending != 0)
        result->reason = REASON_withdrawal_pending;
    if (result->reason != REASON_none)
        return STATUS_order_rejected_invalid;
    subaccount_move(row, SUBACCOUNT_CLOSED);
    emit(engine, record);
    return STATUS_request_completed;
}

/* --- the image -------------------------------------------------------------------------------- */

/* The first one of an account has index 0. If all that were made have records, or it is not one of
 * those that the account has counted, it is its next one. */
static bool is_next(const struct engine *engine, const struct subaccount *row, bool keeps_all)
{
    const struct account *owner = &engine->accounts.rows[row->account];
    uint32_t index = row->subaccount_index;

    if (keeps_all)
        return index == owner->subaccount_count;
    return index < owner->subaccount_count &&
           (index == 0) == (owner->counts[SHARE_subaccounts] == 0) &&
           (index == 0 || subaccount_find(engine, row->account, index) == SUBACCOUNT_NONE);
}

/* `keeps_all`: the image is older than records that are given back. */
static const char *wrong_with(const struct engine *engine, const struct subaccount *row,
                              bool keeps_all)
{
    if (row->account >= engine->accounts.count ||
        engine->accounts.rows[row->account].status == ACCOUNT_FREE)
        return "a subaccount has an account that does not exist";
    if (!is_next(engine, row, keeps_all))
        return "the subaccounts of an account are not in the order of their indexes";
    if (row->status > SUBACCOUNT_CLOSED)
        return "a subaccount has a status that does not exist";
    if (row->created_sequence > engine->sequence ||
        (has_sequence(engine, row) &&
         subaccount_find_sequence(engine, row->created_sequence) != SUBACCOUNT_NONE))
        return "a subaccount was created by a command to come, or by that of another one";
    return NULL;
}

/* Those of an image that had no section of them: as many as its accounts count. */
static bool make_of_accounts(struct engine *engine, struct image_read *read)
{
    struct subaccount_table *table = &engine->subaccounts;

    for (uint32_t id = 0; id < engine->accounts.count; id++) {
        struct account *account = &engine->accounts.rows[id];
        uint32_t count = account->subaccount_count;
        account->subaccount_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (table->count == table->limit)
                return image_read_refuse(read, "more subaccounts than the configuration allows");
            table->rows[table->count] = (struct subaccount){
                .created_sequence = account->created_sequence,
                .account = id,
                .subaccount_index = i,
            };
            enter(engine, table->count++);
        }
    }
    return true;
}

/* Its subaccount 0, and not more than were ever allowed. */
static bool every_account_has_one(const struct engine *engine)
{
    for (uint32_t i = 0; i < engine->accounts.count; i++) {
        const struct account *account = &engine->accounts.rows[i];
        bool has = account->counts[SHARE_subaccounts] != 0 &&
                   account->subaccount_count <= SUBACCOUNT_INDEXES_MAX;
        if (account->status == ACCOUNT_FREE ? account->subaccount_count != 0 : !has)
            return false;
    }
    return true;
}

/* The records in the order of their creation, each with those before it. */
static bool enter_all(struct engine *engine, struct image_read *read)
{
    struct subaccount_table *table = &engine->subaccounts;
    uint32_t record;

    while (free_rows_sort_next(&table->free, &record)) {
        const char *wrong = wrong_with(engine, &table->rows[record], read->version == 1);
        read->row = record;
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        enter(engine, record);
    }
    for (record = 0; record < table->count; record++)
        if (table->rows[record].status == SUBACCOUNT_FREE)
            free_rows_add(&table->free, record);
    return true;
}

static bool read_rows(struct engine *engine, struct image_read *read)
{
    struct subaccount_table *table = &engine->subaccounts;
    struct subaccount *row = NULL;
    bool is_old = read->version == 1;
    size_t row_bytes =
        is_old ? 0 SUBACCOUNT_FIELDS_1(IMAGE_READ_BYTES) : 0 SUBACCOUNT_FIELDS(IMAGE_READ_BYTES);

    for (uint32_t id = 0; is_old && id < engine->accounts.count; id++)
        engine->accounts.rows[id].subaccount_count = 0;
    for (; image_read_begins(read, row_bytes); read->row++) {
        if (table->count == table->limit)
            return image_read_refuse(read, "more subaccounts than the configuration allows");
        row = &table->rows[table->count];
        *row = (struct subaccount){ 0 };
        if (is_old) { /* its portfolios, which all have rows, count again */
            SUBACCOUNT_FIELDS_1(IMAGE_READ)
        } else {
            SUBACCOUNT_FIELDS(IMAGE_READ)
        }
        if (row->status != SUBACCOUNT_FREE)
            free_rows_sort_add(&table->free, table->count, row->created_sequence);
        else if (memcmp(row, &free_subaccount, sizeof free_subaccount) != 0)
            return image_read_refuse(read, "a subaccount is nobody's and has something");
        table->count++;
    }
    return read->wrong == NULL && enter_all(engine, read);
}

/* The count of an account is computed again where all that were made have records. */
bool subaccount_load(struct engine *engine, struct image_read *read)
{
    engine->subaccounts.count = 0;
    if (!(read->version == 0 ? make_of_accounts(engine, read) : read_rows(engine, read)))
        return false;
    return every_account_has_one(engine) || image_read_refuse(read, "an account has no subaccount");
}
