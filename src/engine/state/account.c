#include "engine/state/account.h"

#include "base/rule.h"
#include "engine/state/access.h"
#include "engine/state/share_count.h"
#include "engine/table/image_read.h"
#include "engine/table/whole_lines.h"

#define COVERED(field) +sizeof(((struct account *)0)->field)
static_assert(sizeof(struct account) == 0 ACCOUNT_FIELDS(COVERED) ACCOUNT_CACHES(COVERED),
              "every byte of an account is in one of its field lists");
#undef COVERED

uint32_t account_find(const struct engine *engine, uint64_t account_id)
{
    uint32_t slot = account_id_slot(account_id);

    if (slot >= engine->accounts.count || state_account_id(engine, slot) != account_id ||
        CC_UNLIKELY(engine->accounts.rows[slot].status == ACCOUNT_FREE))
        return ACCOUNT_NONE;
    return slot;
}

static size_t rows_bytes(uint32_t slots)
{
    return (size_t)slots * sizeof(struct account);
}

size_t account_table_bytes(uint32_t slots)
{
    return rows_bytes(slots) + whole_lines(free_rows_bytes(slots)) + timer_heap_bytes(slots);
}

void account_table_init(struct account_table *table, void *memory, uint32_t slots)
{
    uint8_t *at = memory;

    *table = (struct account_table){ .rows = memory, .slots = slots };
    at += rows_bytes(slots);
    free_rows_init(&table->free, at, slots);
    timer_heap_init(&table->unfunded, at + whole_lines(free_rows_bytes(slots)), slots);
}

bool account_fits(const struct engine *engine)
{
    const struct account_table *table = &engine->accounts;
    bool has_slot = table->free.heap.count != 0 || table->count < table->limit;

    return has_slot && share_fits_new(engine, SHARE_accounts, 1) &&
           share_fits_new(engine, SHARE_subaccounts, 1) &&
           share_fits_new(engine, SHARE_portfolios, 1) &&
           share_fits_new(engine, SHARE_credentials, SHARE_CREATION_CREDENTIALS);
}

uint32_t account_add(struct engine *engine, const uint8_t label[ACCOUNT_LABEL_BYTES])
{
    struct account_table *table = &engine->accounts;

    uint32_t id = free_rows_alloc(&table->free, &table->count);
    INVARIANT(id < table->slots);
    table->rows[id] = (struct account){
        .generation = table->rows[id].generation,
        .created_sequence = engine->sequence,
        .created_ns = engine->t_ns,
        .unfunded_ns = engine->t_ns,
        .credential_head = CREDENTIAL_NONE,
        .master_head = CREDENTIAL_NONE,
        .portfolio_head = PORTFOLIO_NONE,
        .portfolio_tail = PORTFOLIO_NONE,
        .tier_override = ACCOUNT_TIER_BY_VOLUME,
        .status = ACCOUNT_ACTIVE,
    };
    memcpy(table->rows[id].label, label, ACCOUNT_LABEL_BYTES);
    share_begin(engine, id);
    (void)subaccount_add(engine, id);
    return id;
}

/* A row of the table that is nobody's. */
static struct account free_row(uint32_t generation)
{
    return (struct account){
        .status = ACCOUNT_FREE,
        .generation = generation,
        .credential_head = CREDENTIAL_NONE,
        .master_head = CREDENTIAL_NONE,
        .portfolio_head = PORTFOLIO_NONE,
        .portfolio_tail = PORTFOLIO_NONE,
    };
}

/* The slot of the last generation is not given again. */
static void add_free(struct account_table *table, uint32_t id)
{
    if (table->rows[id].generation != ACCOUNT_ID_GENERATION_MAX)
        free_rows_add(&table->free, id);
}

void account_give_back(struct engine *engine, uint32_t id)
{
    struct account_table *table = &engine->accounts;

    INVARIANT(id != 0);
    share_drop(engine, id, SHARE_accounts);
    for (uint32_t i = 0; i < SHARE_TABLE_COUNT; i++)
        INVARIANT(table->rows[id].counts[i] == 0);
    timer_heap_remove(&table->unfunded, id);
    account_move(&table->rows[id], ACCOUNT_FREE);
    table->rows[id] = free_row(table->rows[id].generation + 1);
    add_free(table, id);
}

void account_pass_over(struct engine *engine, uint32_t id)
{
    engine->accounts.rows[id].unfunded_ns = engine->t_ns;
    timer_heap_set(&engine->accounts.unfunded, id, engine->t_ns, id);
}

void account_emit(struct engine *engine, uint32_t id, enum effect_account_what what)
{
    const struct account *account = &engine->accounts.rows[id];
    struct effect_account body = {
        .account_id = state_account_id(engine, id),
        .status = account->status,
        .fee_tier = account->fee_tier,
        .what = (uint8_t)what,
    };

    effects_emit(engine, EFFECT_account, id, 0, &body);
}

uint32_t account_create(struct engine *engine, const uint8_t label[ACCOUNT_LABEL_BYTES])
{
    uint32_t id = account_add(engine, label);

    account_emit(engine, id, ACCOUNT_WHAT_ACCOUNT);
    return id;
}

enum status account_close(struct engine *engine, const struct command *command,
                          struct engine_result *result)
{
    uint32_t id = engine->applying.account;

    (void)command;
    if (!subaccount_all_closed(engine, id)) {
        result->reason = REASON_subaccount_not_closed;
        return STATUS_order_rejected_invalid;
    }
    credential_revoke_all(engine, id);
    account_move(&engine->accounts.rows[id], ACCOUNT_CLOSED);
    account_emit(engine, id, ACCOUNT_WHAT_ACCOUNT);
    return STATUS_request_completed;
}

enum status account_suspend(struct engine *engine, const struct command *command,
                            struct engine_result *result)
{
    const uint8_t *body = command_body(command);
    uint32_t id = account_find(engine, cc_load64(body));
    bool suspended = body[8] == 1;

    (void)result;
    if (id == 0 || id == ACCOUNT_NONE)
        return ROW_STATUS(portfolio);
    if (!access_body_is_clean(command))
        return STATUS_order_rejected_invalid;
    struct account *account = &engine->accounts.rows[id];
    if (account->suspended != suspended) {
        account->suspended = suspended;
        account_emit(engine, id, ACCOUNT_WHAT_SUSPENDED);
    }
    return STATUS_request_completed;
}

static const char *wrong_with(const struct engine *engine, const struct account *row,
                              bool read_funding)
{
    if (row->status == ACCOUNT_FREE) {
        struct account nobody = free_row(row->generation);
        if (engine->accounts.count == 1 || row->generation == 0 ||
            memcmp(row, &nobody, sizeof nobody) != 0)
            return "an account is nobody's and has something";
    } else if (row->status > ACCOUNT_CLOSED)
        return "an account has a status that does not exist";
    if (!image_read_is_bool(&row->suspended) ||
        (row->tier_override >= MARKET_FEE_TIERS && row->tier_override != ACCOUNT_TIER_BY_VOLUME))
        return "an account has a mark of the operator that does not exist";
    if (row->faucet_ns > engine->t_ns || row->faucet_amount < 0 ||
        row->faucet_amount > (row->faucet_ns == 0 ? 0 : ACCOUNT_FAUCET_MAX))
        return "an account was given what it cannot have been";
    uint8_t in_force =
        row->tier_override == ACCOUNT_TIER_BY_VOLUME ? row->volume_tier : row->tier_override;
    if (row->volume_tier >= MARKET_FEE_TIERS || row->fee_tier != in_force)
        return "an account has a fee tier that does not exist";
    if (row->volume_day > account_day(engine->t_ns))
        return "an account has a volume of a day to come";
    if (!image_read_is_money(row->net_deposits) ||
        (read_funding &&
         (row->funding == SHARE_FUNDING_UNKNOWN || row->funding < row->net_deposits)))
        return "an account has deposits beyond every bound";
    if (row->created_sequence > engine->sequence)
        return "an account was created by a command to come";
    if (row->generation > ACCOUNT_ID_GENERATION_MAX)
        return "an account has a generation that cannot be";
    if (row->unfunded_ns > engine->t_ns)
        return "an account became unfunded at a time to come";
    return NULL;
}

bool account_load(struct engine *engine, struct image_read *read)
{
    struct account_table *table = &engine->accounts;
    struct account *row = NULL;
    size_t row_bytes = 0 ACCOUNT_FIELDS(IMAGE_READ_BYTES);

    if (read->version == 1)
        row_bytes = 0 ACCOUNT_FIELDS_1(IMAGE_READ_BYTES);
    if (read->version == 2)
        row_bytes = 0 ACCOUNT_FIELDS_2(IMAGE_READ_BYTES);
    if (read->version == 3)
        row_bytes = 0 ACCOUNT_FIELDS_3(IMAGE_READ_BYTES);
    if (read->version == 4)
        row_bytes = 0 ACCOUNT_FIELDS_4(IMAGE_READ_BYTES);
    if (read->version == 5)
        row_bytes = 0 ACCOUNT_FIELDS_5(IMAGE_READ_BYTES);
    if (read->version == 6)
        row_bytes = 0 ACCOUNT_FIELDS_6(IMAGE_READ_BYTES);

    share_clear(engine);
    for (table->count = 0; image_read_begins(read, row_bytes); read->row++) {
        if (table->count == table->limit)
            return image_read_refuse(read, "more accounts than the configuration allows");
        row = &table->rows[table->count++];
        *row = (struct account){
            .credential_head = CREDENTIAL_NONE,
            .master_head = CREDENTIAL_NONE,
            .portfolio_head = PORTFOLIO_NONE,
            .portfolio_tail = PORTFOLIO_NONE,
            .tier_override = ACCOUNT_TIER_BY_VOLUME,
            .funding = SHARE_FUNDING_UNKNOWN, /* portfolio_load has the cash */
            .unfunded_ns = engine->t_ns,
        };
        if (read->version == 1) {
            ACCOUNT_FIELDS_1(IMAGE_READ)
            row->volume_tier = row->fee_tier;
        } else if (read->version == 2) {
            ACCOUNT_FIELDS_2(IMAGE_READ)
        } else if (read->version == 3) {
            ACCOUNT_FIELDS_3(IMAGE_READ)
        } else if (read->version == 4) {
            ACCOUNT_FIELDS_4(IMAGE_READ)
        } else if (read->version == 5) {
            ACCOUNT_FIELDS_5(IMAGE_READ)
        } else if (read->version == 6) {
            ACCOUNT_FIELDS_6(IMAGE_READ)
        } else {
            ACCOUNT_FIELDS(IMAGE_READ)
        }
        const char *wrong = wrong_with(engine, row, read->version > 4);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        row->api_key_count = 0; /* counted again (credential_load) */
        if (row->status == ACCOUNT_FREE)
            add_free(table, table->count - 1);
        else
            share_begin(engine, table->count - 1);
    }
    return read->wrong == NULL;
}
