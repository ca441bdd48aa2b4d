#include "perp/request/client_book.h"

#include <jansson.h>
#include <stdio.h>

#include "base/crc32c.h"

enum { CRC_LEVELS = 25 };

void client_book_init(struct client_book *book, unsigned price_decimals)
{
    *book = (struct client_book){ .price_decimals = price_decimals };
}

/* The place of a price in a side, or where it would be. */
static uint32_t place_of(const struct client_book_side *side, int64_t price, bool is_bid)
{
    uint32_t low = 0, high = side->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int64_t there = side->levels[middle].price;
        if (is_bid ? there > price : there < price)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sets or deletes one level. False: what the frame says cannot be. */
static bool change(struct client_book_side *side, bool is_bid,
                   const struct client_book_level *level)
{
    uint32_t at = place_of(side, level->price, is_bid);
    bool is_there = at < side->count && side->levels[at].price == level->price;
    bool is_delete = strcmp(level->size_text, "0") == 0;
    struct client_book_level *place = side->levels + at;
    if (is_delete) {
        if (!is_there)
            return false;
        side->count--;
        memmove(place, place + 1, (side->count - at) * sizeof *place);
        return true;
    }
    if (!is_there) {
        if (side->count == CLIENT_BOOK_LEVELS)
            return false;
        memmove(place + 1, place, (side->count - at) * sizeof *place);
        side->count++;
    }
    *place = *level;
    return true;
}

static bool read_level(const struct client_book *book, const json_t *row,
                       struct client_book_level *level)
{
    const char *price = json_string_value(json_array_get(row, 0));
    const char *size = json_string_value(json_array_get(row, 1));
    if (price == NULL || size == NULL || strlen(price) >= sizeof level->price_text ||
        strlen(size) >= sizeof level->size_text ||
        decimal_parse(price, strlen(price), book->price_decimals, 1, INT64_MAX, &level->price) !=
            DECIMAL_OK)
        return false;
    memcpy(level->price_text, price, strlen(price) + 1);
    memcpy(level->size_text, size, strlen(size) + 1);
    return true;
}

static bool apply_side(struct client_book *book, struct client_book_side *side, const json_t *rows)
{
    size_t index;
    json_t *row;
    if (!json_is_array(rows))
        return false;
    json_array_foreach((json_t *)(uintptr_t)rows, index, row)
    {
        struct client_book_level level;
        if (!read_level(book, row, &level) || !change(side, side == &book->bids, &level))
            return false;
    }
    return true;
}

static uint64_t number_of(const json_t *frame, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(frame, name));
}

/* False: the frame does not fit what is there. */
static bool apply(struct client_book *book, const json_t *frame, const char *type)
{
    const json_t *data = json_object_get(frame, "data"), *crc = json_object_get(frame, "crc");
    bool is_snapshot = strcmp(type, "snapshot") == 0;
    if (is_snapshot) {
        book->bids.count = 0;
        book->asks.count = 0;
        book->is_filled = true;
    } else if (number_of(frame, "prev_seq") != book->seq) {
        return false;
    }
    if (strcmp(type, "heartbeat") != 0 &&
        (!apply_side(book, &book->bids, json_object_get(data, "bids")) ||
         !apply_side(book, &book->asks, json_object_get(data, "asks"))))
        return false;
    book->seq = number_of(frame, "seq");
    book->engine_seq = number_of(frame, "engine_seq");
    book->time_ns = number_of(frame, "time_ns");
    return crc == NULL || json_integer_value(crc) == (json_int_t)client_book_crc(book);
}

enum client_book_state client_book_apply(struct client_book *book, const json_t *frame)
{
    const char *type = json_string_value(json_object_get(frame, "type"));
    if (type == NULL)
        return CLIENT_BOOK_BROKEN;
    if (!book->is_filled && strcmp(type, "snapshot") != 0)
        return CLIENT_BOOK_SAME;
    if (apply(book, frame, type))
        return strcmp(type, "heartbeat") == 0 ? CLIENT_BOOK_SAME : CLIENT_BOOK_CHANGED;
    client_book_init(book, book->price_decimals);
    return CLIENT_BOOK_BROKEN;
}

static uint32_t crc_side(uint32_t crc, const struct client_book_side *side)
{
    char text[2 * CLIENT_BOOK_TEXT + 2];
    for (uint32_t k = 0; k < side->count && k < CRC_LEVELS; k++) {
        const struct client_book_level *level = side->levels + k;
        int count = snprintf(text, sizeof text, "%s:%s;", level->price_text, level->size_text);
        crc = crc32c_extend(crc, text, (size_t)count);
    }
    return crc;
}

uint32_t client_book_crc(const struct client_book *book)
{
    return crc_side(crc_side(0, &book->bids), &book->asks);
}

static json_t *side_json(const struct client_book_side *side, uint32_t depth)
{
    json_t *rows = json_array();
    for (uint32_t k = 0; k < side->count && k < depth; k++)
        (void)json_array_append_new(
            rows, json_pack("[s, s]", side->levels[k].price_text, side->levels[k].size_text));
    return rows;
}

json_t *client_book_json(const struct client_book *book, const char *market, uint32_t depth)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "market", market, "seq",
                     (json_int_t)book->seq, "engine_seq", (json_int_t)book->engine_seq, "time_ns",
                     (json_int_t)book->time_ns, "bids", side_json(&book->bids, depth), "asks",
                     side_json(&book->asks, depth));
}
