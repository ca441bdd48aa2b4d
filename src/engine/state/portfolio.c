#include "engine/state/portfolio.h"

#include "base/rule.h"
#include "base/text.h"
#include "engine/state/access.h"
#include "engine/state/effects_emit_inline.h"
#include "engine/state/portfolio_row.h"
#include "engine/state/share_count.h"
#include "engine/table/image_read.h"
#include "engine/table/whole_lines.h"

#define COVERED(field) +sizeof(((struct portfolio *)0)->field)
static_assert(sizeof(struct portfolio) == 0 PORTFOLIO_FIELDS(COVERED) PORTFOLIO_CACHES(COVERED),
              "every byte of a portfolio is in one of its field lists");
#undef COVERED

/* A row of the table that is nobody's. */
static const struct portfolio free_portfolio = {
    .status = PORTFOLIO_FREE,
    .holding_head = HOLDING_NONE,
    .account_next = PORTFOLIO_NONE,
};

static size_t rows_bytes(uint32_t slots)
{
    return whole_lines((size_t)slots * sizeof(struct portfolio));
}

size_t portfolio_table_bytes(uint32_t slots)
{
    return rows_bytes(slots) + 2 * hash_index_bytes(slots) + whole_lines(free_rows_bytes(slots)) +
           whole_lines(timer_heap_bytes(slots)) + 2 * whole_lines(slots * sizeof(uint32_t));
}

void portfolio_table_init(struct portfolio_table *table, void *memory, uint32_t slots)
{
    uint8_t *at = (uint8_t *)memory + rows_bytes(slots);

    *table = (struct portfolio_table){ .rows = memory, .slots = slots };
    hash_index_init(&table->map, at, slots);
    at += hash_index_bytes(slots);
    hash_index_init(&table->by_sequence, at, slots);
    at += hash_index_bytes(slots);
    free_rows_init(&table->free, at, slots);
    at += whole_lines(free_rows_bytes(slots));
    timer_heap_init(&table->releases, at, slots);
    at += whole_lines(timer_heap_bytes(slots));
    table->account_prev = (void *)at;
    table->withdrawals = (void *)(at + whole_lines(slots * sizeof(uint32_t)));
}

struct effect_portfolio_id portfolio_effect_id(const struct engine *engine, uint32_t index)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];

    return (struct effect_portfolio_id){ state_account_id(engine, portfolio->account),
                                         portfolio->subaccount_index, portfolio->portfolio_index };
}

/* Places of the heap of deadlines count from 1. */
static uint32_t timer_index(uint32_t portfolio)
{
    return portfolio + 1;
}

static uint64_t key_hash(const struct engine *engine, uint32_t account, uint32_t subaccount_index,
                         uint32_t portfolio_index)
{
    uint64_t key = (uint64_t)subaccount_index << 32 | portfolio_index;

    key =
        mix_fold(account ^ engine->key.low, key ^ engine->key.high ^ UINT64_C(0xE7037ED1A0B428DB));
    return mix_fold(key ^ engine->key.high, UINT64_C(0x8CB92BA72F3D8DD7));
}

/* An account's first portfolio is its 0/0, which is in no map. */
uint32_t portfolio_find(const struct engine *engine, uint32_t account, uint32_t subaccount_index,
                        uint32_t portfolio_index)
{
    const struct portfolio_table *table = &engine->portfolios;

    if (account >= engine->accounts.count)
        return PORTFOLIO_NONE;
    if ((subaccount_index | portfolio_index) == 0)
        return engine->accounts.rows[account].portfolio_head;
    struct hash_index_probe probe =
        hash_index_probe(&table->map, key_hash(engine, account, subaccount_index, portfolio_index));
    while (hash_index_next(&table->map, &probe)) {
        const struct portfolio *portfolio = &table->rows[probe.index];
        if (portfolio->account == account && portfolio->subaccount_index == subaccount_index &&
            portfolio->portfolio_index == portfolio_index)
            return probe.index;
    }
    return PORTFOLIO_NONE;
}

static uint64_t sequence_hash(const struct engine *engine, uint64_t sequence)
{
    return mix_fold(sequence ^ engine->key.low, engine->key.high ^ UINT64_C(0xD6E8FEB86659FD93));
}

/* A command makes at most one for a 24. Those of the first images do not say which. */
static bool has_sequence(const struct portfolio *portfolio)
{
    return portfolio->portfolio_index != 0 && portfolio->created_sequence != 0 &&
           !portfolio->reopened;
}

uint32_t portfolio_find_sequence(const struct engine *engine, uint64_t sequence)
{
    const struct hash_index *map = &engine->portfolios.by_sequence;
    struct hash_index_probe probe = hash_index_probe(map, sequence_hash(engine, sequence));

    while (hash_index_next(map, &probe))
        if (engine->portfolios.rows[probe.index].created_sequence == sequence)
            return probe.index;
    return PORTFOLIO_NONE;
}

/* The row becomes a portfolio of its account and subaccount. */
static void enter(struct engine *engine, uint32_t index, uint32_t subaccount)
{
    struct portfolio_table *table = &engine->portfolios;
    uint32_t slot;
    struct portfolio *portfolio = &table->rows[index];
    struct account *owner = &engine->accounts.rows[portfolio->account];
    bool is_first = owner->portfolio_head == PORTFOLIO_NONE;
    bool is_second = !is_first && !account_position_counts(owner);

    portfolio->subaccount = subaccount;
    if (portfolio->portfolio_index == engine->subaccounts.rows[subaccount].portfolio_count)
        engine->subaccounts.rows[subaccount].portfolio_count++;
    engine->subaccounts.rows[subaccount].portfolio_rows++;
    share_add(engine, portfolio->account, SHARE_portfolios);
    *(is_first ? &owner->portfolio_head : &table->rows[owner->portfolio_tail].account_next) = index;
    table->account_prev[index] = owner->portfolio_tail;
    owner->portfolio_tail = index;
    INVARIANT(is_first == ((portfolio->subaccount_index | portfolio->portfolio_index) == 0));
    if (is_first)
        return;
    owner->has_many = true;
    if (is_second)
        account_position_begin(engine, owner->portfolio_head);
    slot = hash_index_insert(&table->map,
                             key_hash(engine, portfolio->account, portfolio->subaccount_index,
                                      portfolio->portfolio_index),
                             index);
    if (has_sequence(portfolio))
        slot = hash_index_insert(&table->by_sequence,
                                 sequence_hash(engine, portfolio->created_sequence), index);
    (void)slot; /* it is searched when one is removed, which is rare */
}

void portfolio_give_back(struct engine *engine, uint32_t index)
{
    struct portfolio_table *table = &engine->portfolios;
    const struct portfolio *portfolio = &table->rows[index];
    uint32_t account = portfolio->account, subaccount = portfolio->subaccount;

    INVARIANT(portfolio->holding_count == 0 && portfolio->cash == 0 && !portfolio->changed);
    leverage_forget(engine, index);
    mmp_forget(engine, index);
    timer_heap_remove(&engine->dead_men, timer_index(index));
    timer_heap_remove(&table->releases, timer_index(index));
    if ((portfolio->subaccount_index | portfolio->portfolio_index) != 0)
        hash_index_erase(
            &table->map,
            key_hash(engine, account, portfolio->subaccount_index, portfolio->portfolio_index),
            index);
    if (has_sequence(portfolio))
        hash_index_erase(&table->by_sequence, sequence_hash(engine, portfolio->created_sequence),
                         index);
    share_drop(engine, account, SHARE_portfolios);
    table->rows[index] = free_portfolio;
    free_rows_add(&table->free, index);
    if (--engine->subaccounts.rows[subaccount].portfolio_rows == 0)
        subaccount_give_back(engine, subaccount);
}

/* A row without a name, in no list of its account. */
static uint32_t new_row(struct engine *engine, uint32_t subaccount, uint32_t portfolio_index)
{
    struct portfolio_table *table = &engine->portfolios;
    const struct subaccount *owner = &engine->subaccounts.rows[subaccount];

    uint32_t index = free_rows_alloc(&table->free, &table->count);
    INVARIANT(index < table->slots);
    table->rows[index] = (struct portfolio){
        .created_sequence = engine->sequence,
        .account = owner->account,
        .subaccount_index = owner->subaccount_index,
        .portfolio_index = portfolio_index,
        .holding_head = HOLDING_NONE,
        .account_next = PORTFOLIO_NONE,
        .status = PORTFOLIO_ACTIVE,
    };
    return index;
}

uint32_t portfolio_add(struct engine *engine, uint32_t subaccount, const char *name)
{
    uint32_t index =
        new_row(engine, subaccount, engine->subaccounts.rows[subaccount].portfolio_count);
    struct portfolio *portfolio = &engine->portfolios.rows[index];

    for (size_t i = 0; i < sizeof portfolio->name && name[i] != '\0'; i++)
        portfolio->name[i] = (uint8_t)name[i];
    enter(engine, index, subaccount);
    return index;
}

uint32_t portfolio_add_again(struct engine *engine, uint32_t subaccount, uint32_t portfolio_index)
{
    uint32_t index = new_row(engine, subaccount, portfolio_index);
    struct portfolio *portfolio = &engine->portfolios.rows[index];

    INVARIANT(portfolio_index < engine->subaccounts.rows[subaccount].portfolio_count);
    portfolio->status = PORTFOLIO_CLOSED;
    portfolio->reopened = true;
    portfolio_row_first_name(portfolio->name, portfolio_index);
    enter(engine, index, subaccount);
    return index;
}

/* 2119 of a portfolio as it now is. */
static void emit(struct engine *engine, uint32_t index)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    struct effect_account body = {
        .account_id = state_account_id(engine, portfolio->account),
        .subaccount_index = portfolio->subaccount_index,
        .portfolio_index = portfolio->portfolio_index,
        .status = portfolio->status,
        .fee_tier = engine->accounts.rows[portfolio->account].fee_tier,
        .what = ACCOUNT_WHAT_PORTFOLIO,
    };

    effects_emit(engine, EFFECT_account, index, 0, &body);
}

void portfolio_end(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    portfolio_move(portfolio, PORTFOLIO_CLOSED);
    portfolio_row_first_name(portfolio->name, portfolio->portfolio_index);
    portfolio_row_look_later(engine, index);
    emit(engine, index);
}

void portfolio_enter_dead_man(struct engine *engine, uint32_t index)
{
    uint64_t deadline_ns = state_portfolio(engine, index)->dead_man_ns;

    if (deadline_ns == 0) {
        timer_heap_remove(&engine->dead_men, timer_index(index));
        return;
    }
    timer_heap_set(&engine->dead_men, timer_index(index), deadline_ns, index);
    work_queue_timer_set(engine, deadline_ns);
}

void portfolio_wake(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    if (portfolio->status != PORTFOLIO_CLOSED)
        return;
    portfolio_move(portfolio, PORTFOLIO_ACTIVE);
    portfolio->release_ns = 0;
    timer_heap_remove(&engine->portfolios.releases, timer_index(index));
    emit(engine, index);
}

/* --- codes 24, 2002, 2003 and 2010 ------------------------------------------------------------ */

/* Body of code 24 (W3). */
struct create_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t pad;
    char name[PORTFOLIO_NAME_BYTES];
};

static_assert(sizeof(struct create_body) == 48, "W3: code 24");

/* What the commands of an API key that name a portfolio begin with (W3b). */
struct key_body {
    uint8_t credential_id[16];
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
};

static_assert(sizeof(struct key_body) == PORTFOLIO_HEAD_BYTES, "W3b: codes 2002 and 2003");

enum status portfolio_create(struct engine *engine, const struct command *command,
                             struct engine_result *result)
{
    struct create_body body;
    uint8_t first[PORTFOLIO_NAME_BYTES];

    memcpy(&body, command_body(command), sizeof body);
    uint32_t record = subaccount_find(engine, engine->applying.account, body.subaccount_index);
    if (record == SUBACCOUNT_NONE || engine->subaccounts.rows[record].status == SUBACCOUNT_CLOSED)
        return ROW_STATUS(portfolio);
    size_t name_bytes = text_trim(body.name, sizeof body.name);
    if (!access_body_is_clean(command) || text_has_control(body.name, name_bytes))
        return STATUS_order_rejected_invalid;
    uint32_t index = engine->subaccounts.rows[record].portfolio_count;
    if (index >= state_option(engine, OPTION_limits_portfolios) ||
        !share_fits(engine, engine->applying.account, SHARE_portfolios, 1)) {
        result->reason = REASON_limit_reached;
        return STATUS_order_rejected_invalid;
    }
    portfolio_row_first_name(first, index);
    emit(engine, portfolio_add(engine, record, name_bytes != 0 ? body.name : (char *)first));
    result->subaccount_index = body.subaccount_index;
    result->portfolio_index = index;
    result->members |= ANSWER_HAS_INDEXES;
    return STATUS_request_completed;
}

enum status portfolio_of_command(const struct engine *engine, const struct command *command,
                                 uint32_t *index, struct engine_result *result)
{
    struct key_body body;

    memcpy(&body, command_body(command), sizeof body);
    return access_key_portfolio(engine, body.credential_id, body.account_id, body.subaccount_index,
                                body.portfolio_index, index, result);
}

static enum status refuse(struct engine_result *result, enum reason reason)
{
    result->reason = (uint8_t)reason;
    return STATUS_order_rejected_invalid;
}

enum status portfolio_reopen(struct engine *engine, const struct command *command,
                             struct engine_result *result)
{
    struct key_body body;
    uint32_t index;
    enum status status = portfolio_of_command(engine, command, &index, result);

    if (status != STATUS_request_completed)
        return status;
    if (!portfolio_is_closed(engine, index))
        return refuse(result, REASON_portfolio_not_closed);
    memcpy(&body, command_body(command), sizeof body);
    uint32_t account = account_id_slot(body.account_id);
    if (!subaccount_is_open(engine, account, body.subaccount_index))
        return refuse(result, REASON_subaccount_not_active);
    if (index == PORTFOLIO_NONE) {
        if (!share_fits(engine, account, SHARE_portfolios, 1))
            return refuse(result, REASON_limit_reached);
        uint32_t record = subaccount_find(engine, account, body.subaccount_index);
        index = portfolio_add_again(engine, record, body.portfolio_index);
    }
    portfolio_wake(engine, index);
    return STATUS_request_completed;
}

enum status portfolio_rename(struct engine *engine, const struct command *command,
                             struct engine_result *result)
{
    uint32_t index;
    enum status status = portfolio_of_command(engine, command, &index, result);

    if (status != STATUS_request_completed)
        return status;
    if (portfolio_is_closed(engine, index))
        return refuse(result, REASON_portfolio_not_active);
    memcpy(state_portfolio(engine, index)->name, command_body(command) + sizeof(struct key_body),
           PORTFOLIO_NAME_BYTES);
    emit(engine, index);
    return STATUS_request_completed;
}

/* --- the image -------------------------------------------------------------------------------- */

/* clang-format off */
#define PORTFOLIO_FIELDS_3(X) \
    X(slack_maintenance) X(slack_initial) X(cash) X(cancel_sequence) X(name) X(account) \
    X(subaccount_index) X(portfolio_index) X(open_order_count) X(status) X(flagged) \
    X(dead_man_ns) X(liquidation_ns) X(created_sequence) X(cancel_reason) \
    X(liquidation_wake_ns) X(netted)
#define PORTFOLIO_FIELDS_2(X) \
    X(slack_maintenance) X(slack_initial) X(cash) X(cancel_sequence) X(name) X(account) \
    X(subaccount_index) X(portfolio_index) X(open_order_count) X(status) X(flagged) \
    X(dead_man_ns) X(liquidation_ns) X(created_sequence) X(cancel_reason) \
    X(liquidation_wake_ns)
#define PORTFOLIO_FIELDS_1(X) \
    X(slack_maintenance) X(slack_initial) X(cash) X(cancel_sequence) X(name) X(account) \
    X(subaccount_index) X(portfolio_index) X(open_order_count) X(status) X(flagged)
/* clang-format on */

/* `subaccount`: its record, or SUBACCOUNT_NONE. */
static const char *wrong_with(const struct engine *engine, const struct portfolio *row,
                              uint32_t subaccount)
{
    if (row->account >= engine->accounts.count)
        return "a portfolio has an account that does not exist";
    if (subaccount == SUBACCOUNT_NONE)
        return "a portfolio has a subaccount that does not exist";
    if (row->portfolio_index > engine->subaccounts.rows[subaccount].portfolio_count ||
        (engine->accounts.rows[row->account].portfolio_head == PORTFOLIO_NONE) !=
            ((row->subaccount_index | row->portfolio_index) == 0) ||
        portfolio_find(engine, row->account, row->subaccount_index, row->portfolio_index) !=
            PORTFOLIO_NONE)
        return "the portfolios of a subaccount are not in the order of their indexes";
    if (row->created_sequence > engine->sequence ||
        (has_sequence(row) &&
         portfolio_find_sequence(engine, row->created_sequence) != PORTFOLIO_NONE))
        return "a portfolio was created by a command to come, or by that of another one";
    if (row->status >= PORTFOLIO_STATUS_COUNT || !image_read_is_bool(&row->flagged) ||
        !image_read_is_bool(&row->netted) || !image_read_is_bool(&row->reopened))
        return "a portfolio has a status that does not exist";
    if ((row->release_ns != 0) != portfolio_row_may_go(row) ||
        row->release_ns > IMAGE_READ_TIME_MAX)
        return "a portfolio's row is looked at when it cannot be";
    if (row->status != PORTFOLIO_CLOSED &&
        engine->subaccounts.rows[subaccount].status == SUBACCOUNT_CLOSED)
        return "a portfolio of a closed subaccount is open";
    if (!image_read_is_money(row->cash) || !image_read_is_wide(row->slack_maintenance) ||
        !image_read_is_wide(row->slack_initial))
        return "a portfolio has amounts beyond every bound";
    if ((row->cancel_sequence == 0) != (row->cancel_reason == REASON_none) ||
        (row->cancel_reason != REASON_none && row->cancel_reason != REASON_liquidation &&
         row->cancel_reason != REASON_dead_man && row->cancel_reason != REASON_disconnect &&
         row->cancel_reason != REASON_operator))
        return "a portfolio's list has no reason that can be";
    if (row->dead_man_ns > IMAGE_READ_TIME_MAX)
        return "a dead-man's deadline that cannot be";
    if (row->cancel_sequence > order_stamp_behind(engine->sequence))
        return "a portfolio has a cancellation by a command to come";
    return NULL;
}

/* Its portfolio 0 has a row, or any one if it is CLOSED. Whether its account has ever had another
 * one is found on the way. */
static bool every_subaccount_has_one(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->subaccounts.count; i++) {
        const struct subaccount *row = &engine->subaccounts.rows[i];
        if (row->status == SUBACCOUNT_FREE)
            continue;
        if (row->portfolio_rows == 0 ||
            (row->status == SUBACCOUNT_ACTIVE &&
             portfolio_find(engine, row->account, row->subaccount_index, 0) == PORTFOLIO_NONE))
            return false;
        struct account *owner = &engine->accounts.rows[row->account];
        if (owner->subaccount_count > 1 || row->portfolio_count > 1)
            owner->has_many = true;
    }
    return engine->accounts.count != 0 && engine->portfolios.rows[0].account == 0;
}

/* Of an image that is older than funding: as if it had last moved when the image was written. */
static void find_funding(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->accounts.count; i++)
        if (engine->accounts.rows[i].funding == SHARE_FUNDING_UNKNOWN)
            share_refund(engine, i);
}

/* The rows in the order of their creation, each with those before it. */
static bool enter_all(struct engine *engine, struct image_read *read)
{
    struct portfolio_table *table = &engine->portfolios;
    uint32_t index;

    while (free_rows_sort_next(&table->free, &index)) {
        struct portfolio *row = &table->rows[index];
        uint32_t subaccount = subaccount_find(engine, row->account, row->subaccount_index);
        const char *wrong = wrong_with(engine, row, subaccount);
        read->row = index;
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        row->open_order_count = 0; /* counted again (order_load) */
        engine->accounts.rows[row->account].cash += row->cash;
        enter(engine, index, subaccount);
        portfolio_enter_dead_man(engine, index);
        portfolio_row_load(engine, index);
    }
    for (index = 0; index < table->count; index++)
        if (table->rows[index].status == PORTFOLIO_FREE)
            free_rows_add(&table->free, index);
    find_funding(engine);
    return every_subaccount_has_one(engine) ||
           image_read_refuse(read, "a subaccount has no portfolio");
}

bool portfolio_load(struct engine *engine, struct image_read *read)
{
    struct portfolio_table *table = &engine->portfolios;
    struct portfolio *row = NULL;
    size_t row_bytes = 0 PORTFOLIO_FIELDS(IMAGE_READ_BYTES);

    if (read->version == 1)
        row_bytes = 0 PORTFOLIO_FIELDS_1(IMAGE_READ_BYTES);
    if (read->version == 2)
        row_bytes = 0 PORTFOLIO_FIELDS_2(IMAGE_READ_BYTES);
    if (read->version == 3)
        row_bytes = 0 PORTFOLIO_FIELDS_3(IMAGE_READ_BYTES);

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
        } else if (read->version == 2) {
            PORTFOLIO_FIELDS_2(IMAGE_READ)
        } else if (read->version == 3) {
            PORTFOLIO_FIELDS_3(IMAGE_READ)
        } else {
            PORTFOLIO_FIELDS(IMAGE_READ)
        }
        if (read->version < 4 && portfolio_row_may_go(row)) /* as if it had just been closed */
            row->release_ns = credential_keep_until(engine);
        if (row->status != PORTFOLIO_FREE)
            free_rows_sort_add(&table->free, table->count, row->created_sequence);
        else if (memcmp(row, &free_portfolio, sizeof free_portfolio) != 0)
            return image_read_refuse(read, "a portfolio is nobody's and has something");
        table->count++;
    }
    return read->wrong == NULL && enter_all(engine, read);
}
