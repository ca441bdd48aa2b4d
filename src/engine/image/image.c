#include "engine/image/image.h"

#include "engine/liquidate/liquidation_load.h"
#include "engine/state/state_fields.h"
#include "engine/table/order_record.h"
#include "engine/work/work.h"

#define COVERED(field) +sizeof(((struct order *)0)->field)
static_assert(sizeof(struct order) == 0 IMAGE_ORDER_FIELDS(COVERED) IMAGE_ORDER_GATHERED(COVERED)
                                          IMAGE_ORDER_CACHES(COVERED),
              "every byte of an order's hot line is in one of its field lists");
#undef COVERED
#define COVERED(field) +sizeof(((struct order_record *)0)->field)
static_assert(offsetof(struct order_record, zero) == 0 IMAGE_ORDER_RECORD_FIELDS(COVERED),
              "every byte of what is gathered of an order is in its field list");
#undef COVERED
#define COVERED(field) +sizeof(((struct engine *)0)->field)
static_assert(offsetof(struct engine, accounts) - offsetof(struct engine, deposits) ==
                  0 STATE_FIELDS(COVERED) STATE_CONFIGURATION(COVERED) STATE_CACHES(COVERED),
              "every byte of the engine's own fields is in one of their lists");
#undef COVERED

uint32_t image_version(enum image_section section)
{
    static const uint32_t versions[IMAGE_SECTION_END] = {
#define X(name, code, version) [code] = (version),
        IMAGE_SECTION_LIST(X)
#undef X
    };

    INVARIANT(section < IMAGE_SECTION_END && versions[section] != 0);
    return versions[section];
}

static void begin(struct image_sink *sink, enum image_section section)
{
    if (sink->section != NULL)
        sink->section(sink, section, image_version(section));
}

static void write_engine(const struct engine *row, struct image_sink *sink)
{
    begin(sink, IMAGE_engine);
    STATE_FIELDS(IMAGE_FIELD)
}

static void write_configuration(const struct engine *row, struct image_sink *sink)
{
    begin(sink, IMAGE_configuration);
    STATE_CONFIGURATION(IMAGE_FIELD)
}

static void write_accounts(const struct engine *engine, struct image_sink *sink)
{
    begin(sink, IMAGE_accounts);
    for (uint32_t i = 0; i < engine->accounts.count; i++) {
        const struct account *row = &engine->accounts.rows[i];
        ACCOUNT_FIELDS(IMAGE_FIELD)
    }
}

static void write_credentials(const struct engine *engine, struct image_sink *sink)
{
    begin(sink, IMAGE_credentials);
    for (uint32_t i = engine->credentials.head; i != CREDENTIAL_NONE;) {
        const struct credential *row = &engine->credentials.rows[i];
        CREDENTIAL_FIELDS(IMAGE_FIELD)
        i = row->next;
    }
}

static void write_portfolios(const struct engine *engine, struct image_sink *sink)
{
    begin(sink, IMAGE_portfolios);
    for (uint32_t i = 0; i < engine->portfolios.count; i++) {
        const struct portfolio *row = &engine->portfolios.rows[i];
        PORTFOLIO_FIELDS(IMAGE_FIELD)
    }
}

static void write_holdings(const struct engine *engine, struct image_sink *sink)
{
    begin(sink, IMAGE_holdings);
    for (uint32_t i = 0; i < engine->portfolios.count; i++) {
        uint32_t at = engine->portfolios.rows[i].holding_head;
        while (at != HOLDING_NONE) {
            const struct holding *row = &engine->holdings.rows[at];
            HOLDING_FIELDS(IMAGE_FIELD)
            at = row->next;
        }
    }
}

static void write_order(const struct engine *engine, struct image_sink *sink, uint32_t order)
{
    uint32_t holding = engine->orders.hot[order].holding;

    image_u64(sink, engine->holdings.rows[holding].portfolio);
    {
        const struct order *row = &engine->orders.hot[order];
        IMAGE_ORDER_FIELDS(IMAGE_FIELD)
    }
    {
        struct order_record record = order_record_of(&engine->orders, order), *row = &record;
        IMAGE_ORDER_RECORD_FIELDS(IMAGE_FIELD)
    }
    image_u64(sink, engine->orders.cold[order].handle);
}

static uint32_t write_side(const struct engine *engine, struct image_sink *sink,
                           const struct book *book, enum order_side side)
{
    uint32_t count = 0;

    for (uint32_t tick = book_best(book, side); tick != BOOK_TICK_NONE;
         tick = book_next(book, side, tick)) {
        uint32_t order = book_head(book, side, tick);
        for (; order != ORDER_NONE; order = engine->orders.hot[order].next, count++)
            write_order(engine, sink, order);
    }
    return count;
}

static void write_orders(const struct engine *engine, struct image_sink *sink)
{
    uint32_t count = 0;

    begin(sink, IMAGE_orders);
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        const struct book *book = &engine->markets.rows[i].book;
        count += write_side(engine, sink, book, ORDER_LONG);
        count += write_side(engine, sink, book, ORDER_SHORT);
    }
    /* Between commands every live order rests, but the one that fired and goes on (R3). */
    INVARIANT(count + (engine->conditionals.going != ORDER_NONE) == engine->orders.count);
}

static void write_markets(const struct engine *engine, struct image_sink *sink)
{
    begin(sink, IMAGE_markets);
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        const struct market *row = &engine->markets.rows[i];
        MARKET_FIELDS(IMAGE_FIELD)
    }
}

static void write_deposits(const struct engine *engine, struct image_sink *sink)
{
    begin(sink, IMAGE_deposits);
    for (uint32_t i = 1; i <= engine->deposits_seen.count; i++) {
        const struct deposit *row = &engine->deposits_seen.rows[i];
        DEPOSIT_FIELDS(IMAGE_FIELD)
    }
}

static void write_duplicates(struct engine *engine, struct image_sink *sink)
{
    struct duplicate_cursor cursor;

    begin(sink, IMAGE_duplicates);
    image_u64(sink, duplicate_floor_ms(&engine->duplicates));
    for (duplicate_first(&engine->duplicates, &cursor); cursor.row != NULL;
         duplicate_next(&engine->duplicates, &cursor))
        image_bytes(sink, cursor.row, sizeof *cursor.row);
}

static void write_leverages(const struct engine *engine, struct image_sink *sink)
{
    uint32_t count = 0;

    begin(sink, IMAGE_leverages);
    for (uint32_t i = 0; i < engine->portfolios.count && count < engine->leverages.slots.count;
         i++) {
        uint32_t at = leverage_first(engine, i);
        for (; at != LEVERAGE_NONE; at = engine->leverages.rows[at].next, count++) {
            const struct leverage *row = &engine->leverages.rows[at];
            LEVERAGE_FIELDS(IMAGE_FIELD)
        }
    }
}

static void write_subaccounts(const struct engine *engine, struct image_sink *sink)
{
    begin(sink, IMAGE_subaccounts);
    for (uint32_t i = 0; i < engine->subaccounts.count; i++) {
        const struct subaccount *row = &engine->subaccounts.rows[i];
        SUBACCOUNT_FIELDS(IMAGE_FIELD)
    }
}

static void write_withdrawals(const struct engine *engine, struct image_sink *sink)
{
    begin(sink, IMAGE_withdrawals);
    for (uint32_t i = engine->withdrawals.head; i != WITHDRAWAL_NONE;) {
        const struct withdrawal *row = &engine->withdrawals.rows[i];
        WITHDRAWAL_FIELDS(IMAGE_FIELD)
        i = row->next;
    }
}

void image_write(struct engine *engine, struct image_sink *sink)
{
    write_engine(engine, sink);
    write_configuration(engine, sink);
    write_accounts(engine, sink);
    write_credentials(engine, sink);
    write_portfolios(engine, sink);
    write_holdings(engine, sink);
    write_orders(engine, sink);
    write_markets(engine, sink);
    write_deposits(engine, sink);
    write_duplicates(engine, sink);
    begin(sink, IMAGE_work);
    work_image(engine, sink);
    write_leverages(engine, sink);
    begin(sink, IMAGE_conditionals);
    conditional_image(engine, sink);
    begin(sink, IMAGE_mmps);
    mmp_image(engine, sink);
    write_subaccounts(engine, sink);
    write_withdrawals(engine, sink);
    begin(sink, IMAGE_arms);
    disconnect_image(engine, sink);
    begin(sink, IMAGE_samples);
    samples_image(engine, sink);
    begin(sink, IMAGE_liquidation);
    liquidation_load_image(engine, sink);
    begin(sink, IMAGE_passkeys);
    passkey_image(engine, sink);
}
