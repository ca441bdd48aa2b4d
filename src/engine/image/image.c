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

/* ---- pieces ---------------------------------------------------------------------------------- */

/* A writer of one section writes about `rows` rows more, and says whether that was all. */
typedef bool write_section(struct engine *engine, struct image_sink *sink,
                           struct image_cursor *cursor, uint32_t rows);

/* The rows of a table that come next: those from the returned one to *end. */
static uint32_t next_rows(struct image_cursor *cursor, uint32_t count, uint32_t rows, uint32_t *end)
{
    uint32_t from = cursor->at;

    *end = count - from < rows ? count : from + rows;
    cursor->at = *end;
    return from;
}

static bool write_engine(struct engine *row, struct image_sink *sink, struct image_cursor *cursor,
                         uint32_t rows)
{
    (void)cursor;
    (void)rows;
    STATE_FIELDS(IMAGE_FIELD)
    return true;
}

static bool write_configuration(struct engine *row, struct image_sink *sink,
                                struct image_cursor *cursor, uint32_t rows)
{
    (void)cursor;
    (void)rows;
    STATE_CONFIGURATION(IMAGE_FIELD)
    return true;
}

static bool write_accounts(struct engine *engine, struct image_sink *sink,
                           struct image_cursor *cursor, uint32_t rows)
{
    uint32_t end, i = next_rows(cursor, engine->accounts.count, rows, &end);

    for (; i < end; i++) {
        const struct account *row = &engine->accounts.rows[i];
        ACCOUNT_FIELDS(IMAGE_FIELD)
    }
    return end == engine->accounts.count;
}

static bool write_credentials(struct engine *engine, struct image_sink *sink,
                              struct image_cursor *cursor, uint32_t rows)
{
    uint32_t written = 0;

    if (!cursor->is_within)
        cursor->at = engine->credentials.head;
    for (; cursor->at != CREDENTIAL_NONE && written < rows; written++) {
        const struct credential *row = &engine->credentials.rows[cursor->at];
        CREDENTIAL_FIELDS(IMAGE_FIELD)
        cursor->at = row->next;
    }
    return cursor->at == CREDENTIAL_NONE;
}

static bool write_portfolios(struct engine *engine, struct image_sink *sink,
                             struct image_cursor *cursor, uint32_t rows)
{
    uint32_t end, i = next_rows(cursor, engine->portfolios.count, rows, &end);

    for (; i < end; i++) {
        const struct portfolio *row = &engine->portfolios.rows[i];
        PORTFOLIO_FIELDS(IMAGE_FIELD)
    }
    return end == engine->portfolios.count;
}

static bool write_holdings(struct engine *engine, struct image_sink *sink,
                           struct image_cursor *cursor, uint32_t rows)
{
    uint32_t end, i = next_rows(cursor, engine->portfolios.count, rows, &end);

    for (; i < end; i++) {
        uint32_t at = engine->portfolios.rows[i].holding_head;
        while (at != HOLDING_NONE) {
            const struct holding *row = &engine->holdings.rows[at];
            HOLDING_FIELDS(IMAGE_FIELD)
            at = row->next;
        }
    }
    return end == engine->portfolios.count;
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
    image_u64(sink, order_entered_ns(&engine->orders, order));
}

/* The side whose best tick the cursor is at. */
static void begin_side(const struct engine *engine, struct image_cursor *cursor,
                       enum order_side side)
{
    const struct book *book = &engine->markets.rows[cursor->at].book;

    cursor->side = side;
    cursor->tick = book_best(book, side);
    cursor->order =
        cursor->tick == BOOK_TICK_NONE ? ORDER_NONE : book_head(book, side, cursor->tick);
}

/* The side is done with. */
static void next_side(const struct engine *engine, struct image_cursor *cursor)
{
    if (cursor->side == ORDER_LONG) {
        begin_side(engine, cursor, ORDER_SHORT);
        return;
    }
    cursor->at++;
    if (cursor->at < engine->markets.count)
        begin_side(engine, cursor, ORDER_LONG);
}

static bool write_orders(struct engine *engine, struct image_sink *sink,
                         struct image_cursor *cursor, uint32_t rows)
{
    uint32_t written = 0;

    if (!cursor->is_within && engine->markets.count != 0)
        begin_side(engine, cursor, ORDER_LONG);
    while (cursor->at < engine->markets.count && written < rows) {
        const struct book *book = &engine->markets.rows[cursor->at].book;
        for (; cursor->order != ORDER_NONE && written < rows; written++) {
            write_order(engine, sink, cursor->order);
            cursor->order = engine->orders.hot[cursor->order].next;
        }
        if (cursor->order != ORDER_NONE)
            break;
        if (cursor->tick != BOOK_TICK_NONE)
            cursor->tick = book_next(book, cursor->side, cursor->tick);
        if (cursor->tick == BOOK_TICK_NONE)
            next_side(engine, cursor);
        else
            cursor->order = book_head(book, cursor->side, cursor->tick);
    }
    cursor->count += written;
    if (cursor->at < engine->markets.count)
        return false;
    /* Between commands every live order rests, but the one that fired and goes on (R3). */
    INVARIANT(cursor->count + (engine->conditionals.going != ORDER_NONE) == engine->orders.count);
    return true;
}

static bool write_markets(struct engine *engine, struct image_sink *sink,
                          struct image_cursor *cursor, uint32_t rows)
{
    (void)cursor;
    (void)rows;
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        const struct market *row = &engine->markets.rows[i];
        MARKET_FIELDS(IMAGE_FIELD)
    }
    return true;
}

static bool write_deposits(struct engine *engine, struct image_sink *sink,
                           struct image_cursor *cursor, uint32_t rows)
{
    uint32_t end, i = next_rows(cursor, engine->deposits_seen.count, rows, &end);

    for (; i < end; i++) {
        const struct deposit *row = &engine->deposits_seen.rows[i + 1];
        DEPOSIT_FIELDS(IMAGE_FIELD)
    }
    return end == engine->deposits_seen.count;
}

static bool write_duplicates(struct engine *engine, struct image_sink *sink,
                             struct image_cursor *cursor, uint32_t rows)
{
    struct duplicate_cursor *at = &cursor->duplicates;
    uint32_t written = 0;

    if (!cursor->is_within) {
        image_u64(sink, duplicate_floor_ms(&engine->duplicates));
        duplicate_first(&engine->duplicates, at);
    }
    for (; at->row != NULL && written < rows; written++) {
        image_bytes(sink, at->row, sizeof *at->row);
        duplicate_next(&engine->duplicates, at);
    }
    return at->row == NULL;
}

static bool write_leverages(struct engine *engine, struct image_sink *sink,
                            struct image_cursor *cursor, uint32_t rows)
{
    uint32_t end, i = next_rows(cursor, engine->portfolios.count, rows, &end);
    uint32_t all = engine->leverages.slots.count;

    for (; i < end && cursor->count < all; i++) {
        uint32_t at = leverage_first(engine, i);
        for (; at != LEVERAGE_NONE; at = engine->leverages.rows[at].next, cursor->count++) {
            const struct leverage *row = &engine->leverages.rows[at];
            LEVERAGE_FIELDS(IMAGE_FIELD)
        }
    }
    return end == engine->portfolios.count || cursor->count >= all;
}

static bool write_subaccounts(struct engine *engine, struct image_sink *sink,
                              struct image_cursor *cursor, uint32_t rows)
{
    uint32_t end, i = next_rows(cursor, engine->subaccounts.count, rows, &end);

    for (; i < end; i++) {
        const struct subaccount *row = &engine->subaccounts.rows[i];
        SUBACCOUNT_FIELDS(IMAGE_FIELD)
    }
    return end == engine->subaccounts.count;
}

static bool write_withdrawals(struct engine *engine, struct image_sink *sink,
                              struct image_cursor *cursor, uint32_t rows)
{
    uint32_t written = 0;

    if (!cursor->is_within)
        cursor->at = engine->withdrawals.head;
    for (; cursor->at != WITHDRAWAL_NONE && written < rows; written++) {
        const struct withdrawal *row = &engine->withdrawals.rows[cursor->at];
        WITHDRAWAL_FIELDS(IMAGE_FIELD)
        cursor->at = row->next;
    }
    return cursor->at == WITHDRAWAL_NONE;
}

/* Sections that their owners write in one piece. */
#define WRITE_WHOLE(name, write)                                             \
    static bool write_##name(struct engine *engine, struct image_sink *sink, \
                             struct image_cursor *cursor, uint32_t rows)     \
    {                                                                        \
        (void)cursor;                                                        \
        (void)rows;                                                          \
        write(engine, sink);                                                 \
        return true;                                                         \
    }
WRITE_WHOLE(work, work_image)
WRITE_WHOLE(conditionals, conditional_image)
WRITE_WHOLE(mmps, mmp_image)
WRITE_WHOLE(arms, disconnect_image)
WRITE_WHOLE(samples, samples_image)
WRITE_WHOLE(liquidation, liquidation_load_image)
WRITE_WHOLE(passkeys, passkey_image)
#undef WRITE_WHOLE

/* ---- the whole ------------------------------------------------------------------------------- */

static const struct {
    enum image_section section;
    write_section *write;
} sections[] = {
#define X(name, code, version) { IMAGE_##name, write_##name },
    IMAGE_SECTION_LIST(X)
#undef X
};

bool image_write_piece(struct engine *engine, struct image_sink *sink, struct image_cursor *cursor,
                       uint32_t rows)
{
    enum image_section section = sections[cursor->section].section;

    if (!cursor->is_within && sink->section != NULL)
        sink->section(sink, section, image_version(section));
    bool is_whole = sections[cursor->section].write(engine, sink, cursor, rows);
    cursor->is_within = true;
    if (is_whole)
        *cursor = (struct image_cursor){ .section = cursor->section + 1 };
    return cursor->section == CC_COUNT(sections);
}

void image_write(struct engine *engine, struct image_sink *sink)
{
    struct image_cursor cursor = { 0 };

    while (!image_write_piece(engine, sink, &cursor, UINT32_MAX))
        continue;
}
