#include "engine/portfolio.h"

#include "engine/image_read.h"
#include "engine/state.h"

#define COVERED(field) +sizeof(((struct portfolio *)0)->field)
static_assert(sizeof(struct portfolio) == 0 PORTFOLIO_FIELDS(COVERED) PORTFOLIO_CACHES(COVERED),
              "every byte of a portfolio is in one of its field lists");
#undef COVERED

uint32_t portfolio_find(const struct engine *engine, uint64_t account_id, uint32_t subaccount_index,
                        uint32_t portfolio_index)
{
    const struct account *account = account_find(engine, account_id);

    if (account == NULL)
        return PORTFOLIO_NONE;
    uint32_t index = account->portfolio_head;
    while (index != PORTFOLIO_NONE) {
        const struct portfolio *portfolio = &engine->portfolios.rows[index];
        if (portfolio->subaccount_index == subaccount_index &&
            portfolio->portfolio_index == portfolio_index)
            break;
        index = portfolio->account_next;
    }
    return index;
}

/* To the end of its account's list. */
static void link_last(struct engine *engine, uint32_t index)
{
    struct portfolio *rows = engine->portfolios.rows;
    struct account *owner = &engine->accounts.rows[rows[index].account];

    if (owner->portfolio_head == PORTFOLIO_NONE)
        owner->portfolio_head = index;
    else
        rows[owner->portfolio_tail].account_next = index;
    owner->portfolio_tail = index;
}

uint32_t portfolio_add(struct engine *engine, uint32_t account, uint32_t subaccount_index,
                       uint32_t portfolio_index, const char *name)
{
    struct portfolio_table *table = &engine->portfolios;

    INVARIANT(table->count < table->slots);
    uint32_t index = table->count++;
    struct portfolio *portfolio = &table->rows[index];
    *portfolio = (struct portfolio){
        .account = account,
        .subaccount_index = subaccount_index,
        .portfolio_index = portfolio_index,
        .holding_head = HOLDING_NONE,
        .account_next = PORTFOLIO_NONE,
        .status = PORTFOLIO_ACTIVE,
    };
    for (size_t i = 0; i < sizeof portfolio->name && name[i] != '\0'; i++)
        portfolio->name[i] = (uint8_t)name[i];
    link_last(engine, index);
    return index;
}

void portfolio_cash(struct engine *engine, uint32_t index, enum effect_cash_kind kind,
                    int64_t amount, uint64_t ref)
{
    struct portfolio *portfolio = &engine->portfolios.rows[index];

    if (amount == 0)
        return;
    portfolio->cash += amount;
    struct effect_cash body = {
        .portfolio.account_id = portfolio->account,
        .amount = amount,
        .balance_after = portfolio->cash,
        .ref = ref,
    };
    effects_put(&body, offsetof(struct effect_cash, portfolio.subaccount_index),
                portfolio->subaccount_index, portfolio->portfolio_index);
    effects_put(&body, offsetof(struct effect_cash, kind), kind, 0);
    effects_emit(engine, EFFECT_cash, index, 0, &body);
}

static const char *wrong_with(const struct engine *engine, const struct portfolio *row)
{
    if (row->account >= engine->accounts.count)
        return "a portfolio has an account that does not exist";
    if (row->subaccount_index >= engine->accounts.rows[row->account].subaccount_count)
        return "a portfolio has a subaccount that does not exist";
    if (portfolio_find(engine, row->account, row->subaccount_index, row->portfolio_index) !=
        PORTFOLIO_NONE)
        return "a portfolio stands twice";
    if (row->status > PORTFOLIO_CLOSED || !image_read_is_bool(&row->flagged))
        return "a portfolio has a status that does not exist";
    if (!image_read_is_money(row->cash) || !image_read_is_wide(row->slack_maintenance) ||
        !image_read_is_wide(row->slack_initial))
        return "a portfolio has amounts beyond every bound";
    if (row->cancel_sequence > order_stamp_behind(engine->sequence))
        return "a portfolio has a cancellation by a command to come";
    return NULL;
}

static bool every_account_has_one(const struct engine *engine)
{
    for (uint32_t i = 0; i < engine->accounts.count; i++)
        if (engine->accounts.rows[i].portfolio_head == PORTFOLIO_NONE)
            return false;
    return engine->accounts.count != 0 && engine->portfolios.rows[0].account == 0;
}

bool portfolio_load(struct engine *engine, struct image_read *read)
{
    struct portfolio_table *table = &engine->portfolios;
    struct portfolio *row = NULL;
    size_t row_bytes = read->version == 1 ? 0 PORTFOLIO_FIELDS_1(IMAGE_READ_BYTES)
                                          : 0 PORTFOLIO_FIELDS(IMAGE_READ_BYTES);

    for (table->count = 0; image_read_begins(read, row_bytes); read->row++) {
        if (table->count == table->limit)
            return image_read_refuse(read, "more portfolios than the configuration allows");
        row = &table->rows[table->count];
        *row = (struct portfolio){
            .holding_head = HOLDING_NONE,
            .account_next = PORTFOLIO_NONE,
        };
        if (read->version == 1) {
            PORTFOLIO_FIELDS_1(IMAGE_READ)
            row->cancel_sequence = order_stamp_behind(row->cancel_sequence);
        } else {
            PORTFOLIO_FIELDS(IMAGE_READ)
        }
        const char *wrong = wrong_with(engine, row);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        row->open_order_count = 0; /* counted anew (order_load) */
        link_last(engine, table->count++);
    }
    if (read->wrong == NULL && !every_account_has_one(engine))
        return image_read_refuse(read, "an account has no portfolio");
    return read->wrong == NULL;
}
