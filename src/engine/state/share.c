#include "engine/state/share.h"

#include "engine/state/share_count.h"

#define SHARE_USDC INT64_C(1000000)
#define SHARE_PPM  UINT64_C(1000000)

#define NO_BASE UINT32_MAX

/* W8. At the default sizes it takes 6,144 accounts or more to fill by base rows what small ones may
 * have, for any table, each with limits.funding_small. Unfunded ones have bounds of their own where
 * there is no base (share_cap). */
const uint32_t share_base[SHARE_CLASS_COUNT][SHARE_TABLE_COUNT] = {
    [SHARE_CLASS_unfunded] = {
        [SHARE_accounts] = NO_BASE,
        [SHARE_subaccounts] = NO_BASE,
        [SHARE_portfolios] = NO_BASE,
        [SHARE_orders] = 8,
        [SHARE_conditionals] = NO_BASE,
        [SHARE_positions] = 4,
        [SHARE_leverages] = NO_BASE,
        [SHARE_mmps] = NO_BASE,
        [SHARE_credentials] = SHARE_CREATION_CREDENTIALS,
        [SHARE_arms] = 1,
        [SHARE_withdrawals] = 1,
    },
    [SHARE_CLASS_small] = {
        [SHARE_accounts] = NO_BASE,
        [SHARE_subaccounts] = 2,
        [SHARE_portfolios] = 4,
        [SHARE_orders] = 32,
        [SHARE_conditionals] = 16,
        [SHARE_positions] = 8,
        [SHARE_leverages] = 4,
        [SHARE_mmps] = 4,
        [SHARE_credentials] = 8,
        [SHARE_arms] = 4,
        [SHARE_withdrawals] = 2,
    },
    [SHARE_CLASS_full] = {
        NO_BASE, NO_BASE, NO_BASE, NO_BASE, NO_BASE, NO_BASE, NO_BASE, NO_BASE, NO_BASE, NO_BASE,
        NO_BASE,
    },
};
_Static_assert(SHARE_TABLE_COUNT == 11, "a base for each");

static enum option size_of(enum share_table table)
{
    static const uint16_t sizes[] = {
#define X(name, size) OPTION_##size,
        SHARE_TABLE_LIST(X)
#undef X
    };
    return (enum option)sizes[table];
}

/* The class of what an account has brought in. A threshold of 0 is below nobody. */
static uint8_t class_of(const struct engine *engine, int64_t funding)
{
    int64_t amount = funding > 0 ? funding : 0;

    if (amount < (int64_t)state_option(engine, OPTION_limits_funding_small) * SHARE_USDC)
        return SHARE_CLASS_unfunded;
    if (amount < (int64_t)state_option(engine, OPTION_limits_funding_full) * SHARE_USDC)
        return SHARE_CLASS_small;
    return SHARE_CLASS_full;
}

/* Gives an account its class, and emits it to the sink of the running command. */
static void classify(struct engine *engine, uint32_t account, uint8_t class)
{
    struct engine_sink *sink = engine->applying.sink;

    engine->accounts.rows[account].share_class = class;
    if (account != 0 && class == SHARE_CLASS_unfunded)
        timer_heap_set(&engine->accounts.unfunded, account,
                       engine->accounts.rows[account].unfunded_ns, account);
    else if (account != 0)
        timer_heap_remove(&engine->accounts.unfunded, account);
    if (sink != NULL && sink->classify != NULL)
        sink->classify(sink, state_account_id(engine, account), class);
}

/* The same of one that had another class perhaps: it may have become unfunded. */
static void reclassify(struct engine *engine, uint32_t account, uint8_t class)
{
    struct account *owner = &engine->accounts.rows[account];

    if (class == SHARE_CLASS_unfunded && owner->share_class != class)
        owner->unfunded_ns = engine->t_ns;
    classify(engine, account, class);
}

void share_bounds(const struct engine *engine, uint32_t size, uint32_t bound[SHARE_CLASS_COUNT])
{
    uint64_t small = size * state_option(engine, OPTION_limits_share_small_ppm) / SHARE_PPM;
    uint64_t unfunded = size * state_option(engine, OPTION_limits_share_unfunded_ppm) / SHARE_PPM;

    bound[SHARE_CLASS_unfunded] = (uint32_t)unfunded;
    bound[SHARE_CLASS_small] = (uint32_t)small;
    bound[SHARE_CLASS_full] = size;
}

static void set_bounds(struct engine *engine)
{
    for (uint32_t i = 0; i < SHARE_TABLE_COUNT; i++) {
        struct share_use *use = &engine->share.tables[i];
        share_bounds(engine, (uint32_t)state_option(engine, size_of((enum share_table)i)),
                     use->bound);
        /* Never more than what small ones have beside it: equal shares keep nothing apart. */
        uint32_t unfunded = use->bound[SHARE_CLASS_unfunded], small = use->bound[SHARE_CLASS_small];
        uint32_t beside = small > unfunded ? small - unfunded : 0;
        use->newcomers = unfunded < beside ? unfunded : beside;
        if (class_of(engine, 0) != SHARE_CLASS_unfunded)
            use->newcomers = 0;
    }
}

static void count_all(struct engine *engine, uint32_t account, int32_t sign)
{
    const struct account *owner = &engine->accounts.rows[account];

    for (uint32_t i = 0; i < SHARE_TABLE_COUNT; i++) {
        struct share_use *use = &engine->share.tables[i];
        const uint32_t class = owner->share_class;
        use->used[class] += (uint32_t)sign * owner->counts[i];
        use->extra[class] +=
            (uint32_t)sign * share_extra(class, (enum share_table)i, owner->counts[i]);
    }
}

void share_clear(struct engine *engine)
{
    memset(&engine->share, 0, sizeof engine->share);
    set_bounds(engine);
}

void share_use_options(struct engine *engine)
{
    share_clear(engine);
    for (uint32_t i = 0; i < engine->accounts.count; i++) {
        const struct account *owner = &engine->accounts.rows[i];
        if (owner->status == ACCOUNT_FREE)
            continue;
        reclassify(engine, i, i == 0 ? SHARE_CLASS_full : class_of(engine, owner->funding));
        count_all(engine, i, 1);
    }
}

void share_begin(struct engine *engine, uint32_t account)
{
    const struct account *owner = &engine->accounts.rows[account];

    classify(engine, account, account == 0 ? SHARE_CLASS_full : class_of(engine, owner->funding));
    share_add(engine, account, SHARE_accounts);
}

void share_refund(struct engine *engine, uint32_t account)
{
    struct account *owner = &engine->accounts.rows[account];
    int128 cash = owner->cash < INT64_MAX ? owner->cash : INT64_MAX;

    if (account == 0) {
        owner->funding = 0;
        return;
    }
    owner->funding = cash > owner->net_deposits ? (int64_t)cash : owner->net_deposits;
    uint8_t class = class_of(engine, owner->funding);
    if (class == owner->share_class)
        return;
    count_all(engine, account, -1);
    reclassify(engine, account, class);
    count_all(engine, account, 1);
}

/* The bound of an option, or of an unfunded account the smaller one. */
static uint32_t least(const struct engine *engine, const struct account *owner, enum option option,
                      uint32_t unfunded)
{
    uint64_t cap = state_option(engine, option);

    return owner->share_class == SHARE_CLASS_unfunded && unfunded < cap ? unfunded : (uint32_t)cap;
}

uint32_t share_cap(const struct engine *engine, uint32_t account, enum share_table table)
{
    const struct account *owner = &engine->accounts.rows[account];

    switch (table) {
    case SHARE_subaccounts:
        return least(engine, owner, OPTION_limits_subaccounts, SHARE_UNFUNDED_SUBACCOUNTS);
    case SHARE_portfolios:
        return least(engine, owner, OPTION_limits_account_portfolios, SHARE_UNFUNDED_PORTFOLIOS);
    case SHARE_orders:
        return (uint32_t)state_option(engine, OPTION_limits_account_open_orders);
    case SHARE_conditionals:
        return least(engine, owner, OPTION_limits_account_conditionals, 0);
    case SHARE_leverages:
    case SHARE_mmps:
        return least(engine, owner, OPTION_limits_account_rows, 0);
    case SHARE_credentials:
        return least(engine, owner, OPTION_limits_account_credentials, SHARE_UNFUNDED_CREDENTIALS);
    case SHARE_withdrawals:
        return (uint32_t)state_option(engine, OPTION_limits_account_withdrawals);
    case SHARE_arms:
        return DISCONNECT_ARMS_MAX;
    default:
        return UINT32_MAX;
    }
}

/* The rows that count against share_cap of that table. */
static uint32_t counted(const struct engine *engine, uint32_t account, enum share_table table)
{
    const struct account *owner = &engine->accounts.rows[account];

    if (table == SHARE_leverages || table == SHARE_mmps)
        return owner->counts[SHARE_leverages] + owner->counts[SHARE_mmps];
    return owner->counts[table];
}

bool share_fits(const struct engine *engine, uint32_t account, enum share_table table,
                uint32_t count)
{
    uint32_t cap = share_cap(engine, account, table);
    uint32_t has = counted(engine, account, table);

    return has <= cap && count <= cap - has && share_leaves(engine, account, table, count);
}

/* Of each table the rows that an account keeps in every class. UINT32_MAX: all, since no command of
 * their owner gives them back. */
static const uint32_t kept_in_fall[SHARE_TABLE_COUNT] = {
    [SHARE_accounts] = UINT32_MAX,
    [SHARE_subaccounts] = SHARE_UNFUNDED_SUBACCOUNTS,
    [SHARE_portfolios] = SHARE_UNFUNDED_PORTFOLIOS,
    [SHARE_orders] = SHARE_FALL_ORDERS,
    [SHARE_positions] = SHARE_FALL_POSITIONS,
    [SHARE_credentials] = SHARE_UNFUNDED_CREDENTIALS,
    [SHARE_arms] = SHARE_FALL_ARMS,
    [SHARE_withdrawals] = SHARE_FALL_WITHDRAWALS,
};

/* Whether the classes from `class` to below the account's own have room for `count` rows more. */
static bool fall_fits(const struct engine *engine, uint32_t account, uint8_t class,
                      enum share_table table, uint32_t count)
{
    const struct account *owner = &engine->accounts.rows[account];

    /* An unfunded account has no more by its own bound, so that newcomers find theirs. */
    if ((table == SHARE_subaccounts || table == SHARE_portfolios) && class == SHARE_CLASS_unfunded)
        return false;
    return count <= share_room_below(engine, class, owner->share_class, table) &&
           share_extra_fits(engine, class, table, 0, count);
}

enum share_table share_stops_fall(const struct engine *engine, uint32_t account, uint64_t amount)
{
    const struct account *owner = &engine->accounts.rows[account];
    int128 cash = owner->cash - (int128)amount;
    int128 brought = (int128)owner->net_deposits - (int128)amount;
    int128 funding = cash > brought ? cash : brought;
    uint8_t class = class_of(engine, funding < INT64_MAX ? (int64_t)funding : INT64_MAX);

    if (account == 0 || class >= owner->share_class)
        return SHARE_TABLE_COUNT;
    for (uint32_t i = 0; i < SHARE_TABLE_COUNT; i++) {
        uint32_t count = owner->counts[i] + (i == SHARE_withdrawals ? 1u : 0);
        if (count > kept_in_fall[i] &&
            !fall_fits(engine, account, class, (enum share_table)i, count))
            return (enum share_table)i;
    }
    return SHARE_TABLE_COUNT;
}

uint32_t share_size(const struct engine *engine, enum share_table table)
{
    return engine->share.tables[table].bound[SHARE_CLASS_full];
}

uint32_t share_used(const struct engine *engine, enum share_table table, enum share_class class)
{
    return engine->share.tables[table].used[class];
}

bool share_fits_new(const struct engine *engine, enum share_table table, uint32_t count)
{
    return count <= share_room(engine, class_of(engine, 0), table);
}
