#include "engine/image/conditional_load.h"

#include "engine/state/state.h"
#include "engine/table/image_read.h"
#include "engine/trade/resting.h"

static const char *wrong_terms(const struct engine *engine, const struct conditional *row)
{
    const struct market_record *record = &engine->markets.rows[row->market].record;
    const uint64_t most = (uint64_t)MARKET_RAW_MAX;
    uint8_t life = row->flags >> ORDER_TIF_SHIFT;

    if (row->side > ORDER_SHORT || !conditional_is_kind(row->order_type) ||
        row->source >= SOURCE_COUNT || row->live_tif > ORDER_GTC ||
        (life != ORDER_GTC && life != ORDER_GTT) ||
        (life == ORDER_GTC) != (row->expiry_ns + 1 == 0))
        return "an untriggered order has terms with which it cannot wait";
    if (row->quantity == 0 || row->quantity > most || row->trigger_price == 0 ||
        row->trigger_price > record->max_price || row->price > record->max_price ||
        row->price % record->tick_size != 0 || row->hit_price > IMAGE_READ_MARK_MAX ||
        order_type_is_market(row->order_type) != (row->price == 0))
        return "an untriggered order has a price or a size beyond every bound";
    if (row->kill_reason >= REASON_END || (row->armed && row->hit_price == 0))
        return "an untriggered order has a fate that it cannot have";
    return NULL;
}

static const char *wrong_with(const struct engine *engine, const struct conditional *row,
                              const struct conditional *last)
{
    if (row->portfolio >= engine->portfolios.count || row->market >= engine->markets.count)
        return "an untriggered order has a portfolio or a market that does not exist";
    if (row->account != engine->portfolios.rows[row->portfolio].account)
        return "an untriggered order has the account of another portfolio";
    if (row->placed_sequence > engine->sequence || row->placed_ns > engine->t_ns)
        return "an untriggered order is of a command to come";
    if (last != NULL &&
        (row->portfolio < last->portfolio ||
         (row->portfolio == last->portfolio && row->placed_sequence <= last->placed_sequence)))
        return "the untriggered orders are not in the order of portfolio and placing";
    return wrong_terms(engine, row);
}

static bool load_rows(struct engine *engine, struct image_read *read)
{
    struct conditional_table *table = &engine->conditionals;
    const struct conditional *last = NULL;
    uint64_t count;

    if (!image_read_u64(read, &count))
        return false;
    for (; read->row < count; read->row++) {
        struct conditional *row;
        uint32_t index = conditional_alloc(table);
        if (index == CONDITIONAL_NONE)
            return image_read_refuse(read, "more untriggered orders than the configuration allows");
        row = &table->rows[index];
        if (read->left < 0 CONDITIONAL_FIELDS(IMAGE_READ_BYTES))
            return image_read_refuse(read, "the section ends inside a row");
        CONDITIONAL_FIELDS(IMAGE_READ)
        if (!image_read_is_bool(&row->armed))
            return image_read_refuse(read, "an untriggered order has a fate that it cannot have");
        const char *wrong = wrong_with(engine, row, last);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        row->hash = mix_id(engine->key, row->account, (const uint8_t *)row->id);
        if (conditional_find(engine, row->account, (const uint8_t *)row->id, row->hash) !=
                CONDITIONAL_NONE ||
            order_map_find(&engine->order_map, row->hash, row->account, row->id) != ORDER_NONE)
            return image_read_refuse(read, "the id of an order stands twice");
        conditional_enter(engine, index);
        last = row;
    }
    return true;
}

static bool load_origins(struct engine *engine, struct image_read *read, const struct book *book,
                         enum order_side side)
{
    for (uint32_t tick = book_best(book, side); tick != BOOK_TICK_NONE;
         tick = book_next(book, side, tick)) {
        uint32_t order = book_head(book, side, tick);
        for (; order != ORDER_NONE; order = engine->orders.hot[order].next) {
            struct conditional_origin *row = &engine->conditionals.origins[order];
            if (!conditional_is_kind(engine->orders.hot[order].order_type))
                continue;
            if (read->left < 0 CONDITIONAL_ORIGIN_FIELDS(IMAGE_READ_BYTES))
                return image_read_refuse(read, "the section ends inside a row");
            CONDITIONAL_ORIGIN_FIELDS(IMAGE_READ)
            if (row->source >= SOURCE_COUNT || row->live_tif > ORDER_GTC ||
                row->trigger_price == 0 || row->trigger_price > (uint64_t)MARKET_RAW_MAX)
                return image_read_refuse(read, "a triggered order had terms that cannot be");
        }
    }
    return true;
}

/* --- the markets' lists ----------------------------------------------------------------------- */

/* Merges two lists in the order of placing. Returns the head. It does not write the prev links. */
static uint32_t merge(struct conditional *rows, uint32_t left, uint32_t right)
{
    uint32_t head = CONDITIONAL_NONE, *end = &head;

    while (left != CONDITIONAL_NONE && right != CONDITIONAL_NONE) {
        uint32_t *first =
            conditional_rank(&rows[left]) < conditional_rank(&rows[right]) ? &left : &right;
        *end = *first;
        end = &rows[*first].market_next;
        *first = *end;
    }
    *end = left != CONDITIONAL_NONE ? left : right;
    return head;
}

/* Sorts the list of a market by placing: the rows of an image come by portfolio, but a market that
 * closes ends its orders in the order of placing. runs[k] has 2^k rows or none. */
static void sort_market(struct conditional_table *table, uint32_t market)
{
    uint32_t runs[32] = { CONDITIONAL_NONE }, at = table->market_heads[market];
    uint32_t sorted = CONDITIONAL_NONE, prev = CONDITIONAL_NONE;

    while (at != CONDITIONAL_NONE) {
        uint32_t next = table->rows[at].market_next, k = 0;
        table->rows[at].market_next = CONDITIONAL_NONE;
        for (; runs[k] != CONDITIONAL_NONE; k++) {
            at = merge(table->rows, runs[k], at);
            runs[k] = CONDITIONAL_NONE;
        }
        runs[k] = at;
        at = next;
    }
    for (size_t k = 0; k < CC_COUNT(runs); k++)
        sorted = merge(table->rows, runs[k], sorted);
    table->market_heads[market] = sorted;
    for (at = sorted; at != CONDITIONAL_NONE; at = table->rows[at].market_next) {
        table->rows[at].market_prev = prev;
        prev = at;
    }
    table->market_tails[market] = prev;
}

bool conditional_load(struct engine *engine, struct image_read *read)
{
    if (read->version == 0)
        return true;
    if (!load_rows(engine, read))
        return false;
    for (uint32_t i = 0; i < engine->markets.count; i++)
        sort_market(&engine->conditionals, i);
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        const struct book *book = &engine->markets.rows[i].book;
        if (!load_origins(engine, read, book, ORDER_LONG) ||
            !load_origins(engine, read, book, ORDER_SHORT))
            return false;
    }
    return read->left == 0 ||
           image_read_refuse(read, "more bytes than the untriggered orders take");
}
