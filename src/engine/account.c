#include "engine/account.h"

#include "engine/state.h"

#define COVERED(field) +sizeof(((struct account *)0)->field)
static_assert(sizeof(struct account) == 0 ACCOUNT_FIELDS(COVERED) ACCOUNT_CACHES(COVERED),
              "every byte of an account is in one of its field lists");
#undef COVERED

const struct account *account_find(const struct engine *engine, uint64_t account_id)
{
    if (account_id >= engine->accounts.count)
        return NULL;
    return &engine->accounts.rows[account_id];
}

bool account_fits(const struct engine *engine)
{
    return engine->accounts.count < engine->accounts.limit &&
           engine->portfolios.count < engine->portfolios.limit;
}

uint32_t account_add(struct engine *engine, const uint8_t label[ACCOUNT_LABEL_BYTES])
{
    struct account_table *table = &engine->accounts;

    INVARIANT(table->count < table->slots);
    uint32_t id = table->count++;
    table->rows[id] = (struct account){
        .created_sequence = engine->sequence,
        .created_ns = engine->t_ns,
        .session_head = CREDENTIAL_NONE,
        .portfolio_head = PORTFOLIO_NONE,
        .portfolio_tail = PORTFOLIO_NONE,
        .subaccount_count = 1,
        .status = ACCOUNT_ACTIVE,
    };
    memcpy(table->rows[id].label, label, ACCOUNT_LABEL_BYTES);
    portfolio_add(engine, id, 0, 0, "Main");
    return id;
}

void account_tell(struct engine *engine, uint32_t id, enum effect_account_what what)
{
    const struct account *account = &engine->accounts.rows[id];
    struct effect_account body = {
        .account_id = id,
        .status = account->status,
        .fee_tier = account->fee_tier,
        .what = (uint8_t)what,
    };

    effects_emit(engine, EFFECT_account, id, 0, &body);
}

uint32_t account_create(struct engine *engine, const uint8_t label[ACCOUNT_LABEL_BYTES])
{
    uint32_t id = account_add(engine, label);

    account_tell(engine, id, ACCOUNT_WHAT_ACCOUNT);
    return id;
}
