#include "engine/state/deposit.h"

#include "base/rule.h"
#include "engine/account/cash.h"
#include "engine/risk/risk.h"
#include "engine/state/state.h"
#include "engine/table/image_read.h"
#include "engine/table/whole_lines.h"

#define COVERED(field) +sizeof(((struct deposit *)0)->field)
static_assert(sizeof(struct deposit) == 0 DEPOSIT_FIELDS(COVERED),
              "every byte of a deposit is in its field list");
#undef COVERED

/* Body of code 1003 (W3a). */
struct credit_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint64_t amount;
    uint8_t external_ref[DEPOSIT_REF_BYTES];
};

static_assert(sizeof(struct credit_body) == 56, "W3a: code 1003");

static size_t rows_bytes(uint32_t slots)
{
    return whole_lines(((size_t)slots + 1) * sizeof(struct deposit));
}

size_t deposit_table_bytes(uint32_t slots)
{
    return rows_bytes(slots) + hash_index_bytes(slots);
}

void deposit_table_init(struct deposit_table *table, void *memory, uint32_t slots)
{
    *table = (struct deposit_table){ .rows = memory, .slots = slots };
    hash_index_init(&table->map, (uint8_t *)memory + rows_bytes(slots), slots);
}

static bool is_seen(const struct deposit_table *table, uint64_t hash, const uint8_t *external_ref)
{
    struct hash_index_probe probe = hash_index_probe(&table->map, hash);

    while (hash_index_next(&table->map, &probe))
        if (memcmp(table->rows[probe.index].external_ref, external_ref, DEPOSIT_REF_BYTES) == 0)
            return true;
    return false;
}

static void map_in(struct deposit_table *table, uint64_t hash, uint32_t index)
{
    uint32_t place = hash_index_insert(&table->map, hash, index);
    (void)place; /* a reference is never taken out */
}

static void remember(struct engine *engine, uint64_t hash, const uint8_t *external_ref)
{
    struct deposit_table *table = &engine->deposits_seen;
    uint32_t index = ++table->count;

    table->rows[index].sequence = engine->sequence;
    memcpy(table->rows[index].external_ref, external_ref, DEPOSIT_REF_BYTES);
    map_in(table, hash, index);
}

/* The named portfolio, or portfolio 0 of its subaccount when there is none (R10). The exchange's
 * own account takes no deposits: 1006 tops the fund up. */
static uint32_t receiver(const struct engine *engine, const struct credit_body *body)
{
    if (body->account_id == 0 ||
        !subaccount_is_open(engine, body->account_id, body->subaccount_index))
        return PORTFOLIO_NONE; /* all subaccounts of a CLOSED account are CLOSED */
    uint32_t portfolio =
        portfolio_find(engine, body->account_id, body->subaccount_index, body->portfolio_index);
    if (portfolio == PORTFOLIO_NONE)
        portfolio = portfolio_find(engine, body->account_id, body->subaccount_index, 0);
    return portfolio;
}

enum status deposit_credit(struct engine *engine, const struct command *command,
                           struct engine_result *result)
{
    struct deposit_table *table = &engine->deposits_seen;
    struct credit_body body;

    memcpy(&body, command_body(command), sizeof body);
    uint64_t hash = mix_credential(engine->key, 0, body.external_ref, DEPOSIT_REF_BYTES);
    if (is_seen(table, hash, body.external_ref)) {
        result->reason = REASON_already_credited;
        return STATUS_request_completed;
    }
    uint32_t portfolio = receiver(engine, &body);
    if (portfolio == PORTFOLIO_NONE)
        return ROW_STATUS(portfolio);
    if (body.amount == 0)
        return ROW_STATUS(size_zero);
    risk_touch(engine, portfolio);
    if (!cash_fits(engine, portfolio, body.amount))
        return STATUS_rejected_invalid_size;
    if (table->count >= table->limit)
        return ROW_STATUS(room);
    remember(engine, hash, body.external_ref);
    engine->deposits += (int64_t)body.amount;
    cash_credit(engine, portfolio, CASH_deposit, (int64_t)body.amount);
    return STATUS_request_completed;
}

enum status deposit_top_up(struct engine *engine, const struct command *command,
                           struct engine_result *result)
{
    uint64_t amount = cc_load64(command_body(command));

    (void)result;
    if (amount == 0)
        return ROW_STATUS(size_zero);
    risk_touch(engine, 0);
    int64_t cash = engine->portfolios.rows[0].cash;
    if (amount > (uint64_t)DEPOSIT_FUND_MAX || cash > DEPOSIT_FUND_MAX - (int64_t)amount)
        return STATUS_rejected_invalid_size;
    engine->top_ups += (int64_t)amount;
    cash_credit(engine, 0, CASH_fund, (int64_t)amount);
    return STATUS_request_completed;
}

bool deposit_load(struct engine *engine, struct image_read *read)
{
    struct deposit_table *table = &engine->deposits_seen;
    struct deposit *row = NULL;
    uint64_t last = 0;

    for (; image_read_begins(read, 0 DEPOSIT_FIELDS(IMAGE_READ_BYTES)); read->row++) {
        if (table->count == table->limit)
            return image_read_refuse(read, "more deposits than the configuration allows");
        row = &table->rows[table->count + 1];
        DEPOSIT_FIELDS(IMAGE_READ)
        if (row->sequence <= last || row->sequence > engine->sequence)
            return image_read_refuse(read, "the deposits are not in the order of their crediting");
        last = row->sequence;
        uint64_t hash = mix_credential(engine->key, 0, row->external_ref, DEPOSIT_REF_BYTES);
        if (is_seen(table, hash, row->external_ref))
            return image_read_refuse(read, "a reference of a deposit stands twice");
        map_in(table, hash, ++table->count);
    }
    return read->wrong == NULL;
}
