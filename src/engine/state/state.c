#include "engine/state/state.h"

#include "base/arena.h"

enum { STATE_PAGE_BYTES = 4096 };

/* Where each table begins; all NULL in a dry run. */
struct pieces {
    struct engine *engine;
    void *accounts;
    void *portfolios;
    void *holdings;
    void *account_positions;
    void *leverages;
    void *credentials;
    void *orders;
    void *order_map;
    void *expiries;
    void *dead_men;
    void *mmps;
    void *arms;
    void *passkeys;
    void *deposits;
    void *duplicates;
    void *liquidation_waits;
    void *liquidation_owed;
    void *liquidation_rest;
    void *work;
    uint64_t *holders;
    void *subaccounts;
    void *conditionals;
    void *withdrawals;
    void *samples;
    uint8_t *ladders;
    void *pages; /* of the ladders */
};

static uint32_t slots(const struct option_engine *capacity, enum option option)
{
    uint64_t count = capacity->values[option];

    INVARIANT(count > 0 && count <= UINT32_MAX / 2);
    return (uint32_t)count;
}

static uint32_t window_ms(const struct option_engine *capacity)
{
    return slots(capacity, OPTION_exchange_clock_past_ms) +
           slots(capacity, OPTION_exchange_clock_future_ms);
}

/* Words of each depth of a bitmap over the portfolios, one more than needed so that a search may
 * look past the last. */
static void holder_words(uint32_t portfolio_slots, size_t words[MARKET_HOLDER_DEPTH])
{
    size_t bits = portfolio_slots;

    for (unsigned depth = 0; depth < MARKET_HOLDER_DEPTH; depth++) {
        words[depth] = bits / 64 + 1;
        bits = words[depth];
    }
}

static size_t holder_words_market(uint32_t portfolio_slots)
{
    size_t words[MARKET_HOLDER_DEPTH], sum = 0;

    holder_words(portfolio_slots, words);
    for (unsigned depth = 0; depth < MARKET_HOLDER_DEPTH; depth++)
        sum += words[depth];
    return sum;
}

static void *alloc(struct arena *arena, size_t bytes)
{
    return arena_alloc(arena, bytes, 1, CC_CACHE_LINE);
}

/* Allocates every piece. Returns the number of leading bytes that a start touches. */
static size_t alloc_pieces(struct arena *arena, const struct option_engine *capacity,
                           struct pieces *pieces)
{
    uint32_t accounts = slots(capacity, OPTION_engine_accounts);
    uint32_t portfolios = slots(capacity, OPTION_engine_portfolios);
    uint32_t orders = slots(capacity, OPTION_engine_orders);

    pieces->engine = alloc(arena, sizeof(struct engine));
    pieces->accounts = alloc(arena, account_table_bytes(accounts));
    pieces->portfolios = alloc(arena, portfolio_table_bytes(portfolios));
    pieces->holdings = alloc(arena, holding_table_bytes(slots(capacity, OPTION_engine_positions)));
    pieces->account_positions =
        alloc(arena, account_position_table_bytes(slots(capacity, OPTION_engine_positions)));
    pieces->leverages =
        alloc(arena, leverage_table_bytes(slots(capacity, OPTION_engine_positions)));
    pieces->credentials =
        alloc(arena, credential_table_bytes(slots(capacity, OPTION_engine_credentials)));
    pieces->orders = alloc(arena, order_table_bytes(orders));
    pieces->order_map = alloc(arena, order_map_bytes(orders));
    pieces->expiries = alloc(arena, timer_heap_bytes(orders));
    pieces->deposits = alloc(arena, deposit_table_bytes(slots(capacity, OPTION_engine_deposits)));
    pieces->duplicates =
        alloc(arena, duplicate_bytes(slots(capacity, OPTION_limits_duplicate_slots),
                                     window_ms(capacity), accounts));
    pieces->work = alloc(arena, work_queue_bytes(capacity));
    pieces->liquidation_waits = alloc(arena, timer_heap_bytes(portfolios));
    pieces->liquidation_owed = alloc(arena, portfolios * sizeof(int128));
    pieces->liquidation_rest = alloc(arena, rank_heap_bytes(portfolios));
    pieces->holders =
        alloc(arena, ENGINE_MARKETS_MAX * holder_words_market(portfolios) * sizeof(uint64_t));
    size_t resident = arena->used;
    pieces->subaccounts = alloc(arena, subaccount_table_bytes(portfolios));
    pieces->conditionals = alloc(arena, conditional_table_bytes(orders));
    pieces->withdrawals =
        alloc(arena, withdrawal_table_bytes(slots(capacity, OPTION_engine_deposits)));
    pieces->samples = alloc(arena, samples_bytes());
    pieces->dead_men = alloc(arena, timer_heap_bytes(portfolios));
    pieces->mmps = alloc(arena, mmp_table_bytes(slots(capacity, OPTION_engine_positions)));
    pieces->arms = alloc(arena, disconnect_table_bytes(slots(capacity, OPTION_engine_credentials)));
    pieces->passkeys =
        alloc(arena, passkey_table_bytes(slots(capacity, OPTION_engine_credentials)));
    pieces->ladders = alloc(arena, ENGINE_MARKETS_MAX * book_bytes(BOOK_TICKS_MAX));
    pieces->pages = alloc(arena, book_pages_bytes(slots(capacity, OPTION_engine_ladder_pages)));
    return resident;
}

size_t state_bytes(const struct option_engine *capacity, size_t *resident)
{
    struct pieces pieces;
    struct arena arena;

    arena_init(&arena, NULL, 0);
    size_t before = alloc_pieces(&arena, capacity, &pieces);
    if (resident != NULL)
        *resident = before;
    return arena.used;
}

static void init_markets(struct engine *engine, const struct pieces *pieces, uint32_t ladder_pages)
{
    struct market_table *table = &engine->markets;
    uint64_t *at = pieces->holders;
    size_t words[MARKET_HOLDER_DEPTH];

    holder_words(engine->portfolios.slots, words);
    table->ladders = pieces->ladders;
    book_pages_init(&table->pages, pieces->pages, ladder_pages);
    table->tiers_due_ns = UINT64_MAX;
    for (uint32_t i = 0; i < ENGINE_MARKETS_MAX; i++) {
        for (unsigned depth = 0; depth < MARKET_HOLDER_DEPTH; depth++) {
            table->rows[i].holders[depth] = at;
            at += words[depth];
        }
    }
}

struct engine *state_init(void *memory, size_t bytes, const struct option_engine *capacity)
{
    struct pieces pieces;
    struct arena arena;

    INVARIANT((uintptr_t)memory % STATE_PAGE_BYTES == 0);
    arena_init(&arena, memory, bytes);
    (void)alloc_pieces(&arena, capacity, &pieces);
    struct engine *engine = pieces.engine;
    uint32_t orders = slots(capacity, OPTION_engine_orders);

    engine->capacity = *capacity;
    account_table_init(&engine->accounts, pieces.accounts, slots(capacity, OPTION_engine_accounts));
    portfolio_table_init(&engine->portfolios, pieces.portfolios,
                         slots(capacity, OPTION_engine_portfolios));
    subaccount_table_init(&engine->subaccounts, pieces.subaccounts,
                          slots(capacity, OPTION_engine_portfolios));
    holding_table_init(&engine->holdings, pieces.holdings,
                       slots(capacity, OPTION_engine_positions));
    account_position_table_init(&engine->account_positions, pieces.account_positions,
                                slots(capacity, OPTION_engine_positions));
    leverage_table_init(&engine->leverages, pieces.leverages,
                        slots(capacity, OPTION_engine_positions));
    credential_table_init(&engine->credentials, pieces.credentials,
                          slots(capacity, OPTION_engine_credentials));
    order_table_init(&engine->orders, pieces.orders, orders);
    order_map_init(&engine->order_map, pieces.order_map, orders, engine->orders.hot);
    timer_heap_init(&engine->expiries, pieces.expiries, orders);
    timer_heap_init(&engine->dead_men, pieces.dead_men, slots(capacity, OPTION_engine_portfolios));
    mmp_table_init(&engine->mmps, pieces.mmps, slots(capacity, OPTION_engine_positions));
    disconnect_table_init(&engine->arms, pieces.arms, slots(capacity, OPTION_engine_credentials));
    passkey_table_init(&engine->passkeys, pieces.passkeys,
                       slots(capacity, OPTION_engine_credentials));
    conditional_table_init(&engine->conditionals, pieces.conditionals, orders);
    deposit_table_init(&engine->deposits_seen, pieces.deposits,
                       slots(capacity, OPTION_engine_deposits));
    withdrawal_table_init(&engine->withdrawals, pieces.withdrawals,
                          slots(capacity, OPTION_engine_deposits));
    duplicate_init(&engine->duplicates, pieces.duplicates,
                   slots(capacity, OPTION_limits_duplicate_slots), window_ms(capacity),
                   engine->accounts.slots);
    work_queue_init(&engine->work, pieces.work, capacity);
    timer_heap_init(&engine->liquidation.waits, pieces.liquidation_waits,
                    slots(capacity, OPTION_engine_portfolios));
    engine->liquidation.owed = pieces.liquidation_owed;
    rank_heap_init(&engine->liquidation.rest, pieces.liquidation_rest,
                   slots(capacity, OPTION_engine_portfolios));
    recheck_init(&engine->recheck);
    init_markets(engine, &pieces, slots(capacity, OPTION_engine_ladder_pages));
    samples_init(&engine->samples, pieces.samples);
    return engine;
}

bool state_is_laid_out_for(const struct engine *engine, const struct option_engine *options)
{
    static const uint16_t tables[] = {
        OPTION_engine_accounts,     OPTION_engine_portfolios,      OPTION_engine_orders,
        OPTION_engine_positions,    OPTION_engine_credentials,     OPTION_engine_deposits,
        OPTION_engine_ladder_pages, OPTION_limits_duplicate_slots,
    };

    for (size_t i = 0; i < CC_COUNT(tables); i++)
        if (options->values[tables[i]] > engine->capacity.values[tables[i]])
            return false;
    return window_ms(options) <= window_ms(&engine->capacity);
}

void state_use_options(struct engine *engine, const struct option_engine *options)
{
    const uint64_t *values = options->values;

    engine->options = *options;
    engine->accounts.limit = (uint32_t)values[OPTION_engine_accounts];
    engine->portfolios.limit = (uint32_t)values[OPTION_engine_portfolios];
    engine->subaccounts.limit = (uint32_t)values[OPTION_engine_portfolios];
    engine->holdings.slots.limit = (uint32_t)values[OPTION_engine_positions];
    engine->account_positions.slots.limit = (uint32_t)values[OPTION_engine_positions];
    engine->mmps.slots.limit = (uint32_t)values[OPTION_engine_positions];
    engine->leverages.slots.limit = (uint32_t)values[OPTION_engine_positions];
    engine->credentials.slots.limit = (uint32_t)values[OPTION_engine_credentials];
    engine->arms.slots.limit = (uint32_t)values[OPTION_engine_credentials];
    engine->deposits_seen.limit = (uint32_t)values[OPTION_engine_deposits];
    engine->withdrawals.slots.limit = (uint32_t)values[OPTION_engine_deposits];
    engine->markets.pages.limit = (uint32_t)values[OPTION_engine_ladder_pages];
    order_table_set_limit(&engine->orders, (uint32_t)values[OPTION_engine_orders]);
    engine->conditionals.limit = (uint32_t)values[OPTION_engine_orders];
    duplicate_set_limit(&engine->duplicates, (uint32_t)values[OPTION_limits_duplicate_slots]);
    share_use_options(engine);
}
