#include "net/stream/stream_view.h"

#include <stdlib.h>

#include "base/crc32c.h"
#include "net/json/json_field.h"
#include "net/stream/stream_binary.h"

enum { CRC_LEVELS = 25 /* a side (J9) */, DECIMAL_MAX = 64 /* bytes of a decimal */ };

static uint32_t depth_of(const struct stream_view *view)
{
    return book_board_depths[view->depth_index];
}

static void free_levels(struct stream_view *view)
{
    free(view->levels.bids);
    free(view->spare.bids);
    free(view);
}

static bool make_levels(struct stream_levels *levels, uint32_t depth)
{
    levels->bids = calloc(2 * (size_t)depth, sizeof *levels->bids);
    levels->asks = levels->bids == NULL ? NULL : levels->bids + depth;
    return levels->bids != NULL;
}

struct stream_view *stream_view_use(struct streams *streams, uint32_t symbol_index,
                                    uint16_t asset_id, unsigned depth_index)
{
    struct stream_view *view = streams->views;
    while (view != NULL && (view->symbol_index != symbol_index || view->depth_index != depth_index))
        view = view->next;
    if (view != NULL) {
        view->users++;
        return view;
    }
    view = calloc(1, sizeof *view);
    if (view == NULL)
        return NULL;
    view->symbol_index = symbol_index;
    view->asset_id = asset_id;
    view->depth_index = (uint8_t)depth_index;
    if (!make_levels(&view->levels, depth_of(view)) || !make_levels(&view->spare, depth_of(view))) {
        free_levels(view);
        return NULL;
    }
    view->users = 1;
    view->next = streams->views;
    streams->views = view;
    book_board_want(streams->pipeline->context->config->books, symbol_index, asset_id, depth_index);
    return view;
}

void stream_view_drop(struct streams *streams, struct stream_view *view)
{
    struct stream_view **at = &streams->views;
    if (--view->users != 0)
        return;
    while (*at != view)
        at = &(*at)->next;
    *at = view->next;
    book_board_drop(streams->pipeline->context->config->books, view->symbol_index,
                    view->depth_index);
    free_levels(view);
}

/* ---- states ---------------------------------------------------------------------------------- */

static bool is_equal(const struct row_level *a, uint32_t a_count, const struct row_level *b,
                     uint32_t b_count)
{
    return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof *a) == 0);
}

static bool is_best_equal(const struct row_level *a, uint32_t a_count, const struct row_level *b,
                          uint32_t b_count)
{
    uint32_t count = a_count != 0 && b_count != 0;
    return a_count == 0 || b_count == 0 ? a_count == b_count : is_equal(a, count, b, count);
}

/* `spare` is the newer state: the two are swapped. */
static enum stream_view_change step(struct stream_view *view, uint64_t seq, uint64_t engine_seq,
                                    uint64_t time_ns)
{
    struct stream_levels before = view->levels, now = view->spare;
    bool was_filled = view->is_filled;
    view->levels = now;
    view->spare = before;
    view->seq = seq;
    view->engine_seq = engine_seq;
    view->time_ns = time_ns;
    view->is_filled = true;
    if (was_filled && is_equal(before.bids, before.bid_count, now.bids, now.bid_count) &&
        is_equal(before.asks, before.ask_count, now.asks, now.ask_count))
        return STREAM_VIEW_SAME;
    view->has_crc = false;
    if (!was_filled)
        return STREAM_VIEW_BEGUN;
    return is_best_equal(before.bids, before.bid_count, now.bids, now.bid_count) &&
                   is_best_equal(before.asks, before.ask_count, now.asks, now.ask_count)
               ? STREAM_VIEW_DEEPER
               : STREAM_VIEW_BEST;
}

enum stream_view_change stream_view_refresh(struct stream_view *view, const struct reply *reply,
                                            const uint8_t *rows)
{
    struct row_book book;
    struct stream_levels *spare = &view->spare;
    memcpy(&book, rows, sizeof book);
    view->price_decimals = book.price_decimals;
    view->size_decimals = book.size_decimals;
    if (view->is_filled && book.book_seq <= view->seq)
        return STREAM_VIEW_SAME;
    INVARIANT(book.bid_count <= depth_of(view) && book.ask_count <= depth_of(view));
    spare->bid_count = book.bid_count;
    spare->ask_count = book.ask_count;
    rows += sizeof book;
    memcpy(spare->bids, rows, book.bid_count * sizeof *spare->bids);
    rows += book.bid_count * sizeof *spare->bids;
    memcpy(spare->asks, rows, book.ask_count * sizeof *spare->asks);
    return step(view, book.book_seq, reply->applied, reply->time_ns);
}

enum stream_view_change stream_view_look(struct stream_view *view, const struct book_board *board)
{
    uint64_t version = book_board_version(board, view->symbol_index);
    struct book_board_head head;
    struct stream_levels *spare = &view->spare;
    if (!view->is_filled || version == view->version)
        return STREAM_VIEW_SAME;
    if (!book_board_read(board, view->symbol_index, depth_of(view), &head, spare->bids,
                         spare->asks))
        return STREAM_VIEW_TORN;
    view->version = version;
    if (head.book_seq <= view->seq || head.depth < depth_of(view))
        return STREAM_VIEW_SAME;
    spare->bid_count = head.bid_count;
    spare->ask_count = head.ask_count;
    return step(view, head.book_seq, head.applied, head.time_ns);
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* The levels of a side, as they are written one after the other. */
struct side {
    const struct stream_view *view;
    struct writer *writer;
    bool is_asks;
    bool is_binary;
    bool has_some;
};

/* ["price","size"], with a comma before it unless it is the first of its side; or a message. */
static void write_level(struct side *side, uint64_t price, uint64_t size)
{
    const struct stream_view *view = side->view;
    struct writer *writer = side->writer;
    if (side->is_binary) {
        const struct stream_message_level message = {
            .head = stream_binary_head(STREAM_MESSAGE_LEVEL, sizeof message, view->asset_id,
                                       view->seq, view->time_ns),
            .price = price,
            .size = size,
            .side = side->is_asks,
        };
        writer_bytes(writer, &message, sizeof message);
        return;
    }
    writer_text(writer, side->has_some ? ",[" : "[");
    writer_decimal(writer, price, view->price_decimals);
    WRITER_TEXT(writer, ",");
    writer_decimal(writer, size, view->size_decimals);
    WRITER_TEXT(writer, "]");
    side->has_some = true;
}

static void write_side(struct side side, const struct row_level *levels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        write_level(&side, levels[i].price, levels[i].size);
}

/* Levels of `now` that `before` has not so, and those that only `before` has, with size 0; both are
 * best first. */
static void write_changes(struct side side, const struct row_level *before, uint32_t before_count,
                          const struct row_level *now, uint32_t now_count)
{
    uint32_t i = 0, k = 0;
    while (i < before_count || k < now_count) {
        bool is_both = i < before_count && k < now_count && before[i].price == now[k].price;
        if (is_both) {
            if (before[i].size != now[k].size)
                write_level(&side, now[k].price, now[k].size);
            i++;
            k++;
        } else if (k == now_count ||
                   (i < before_count && (before[i].price > now[k].price) != side.is_asks)) {
            write_level(&side, before[i++].price, 0);
        } else {
            write_level(&side, now[k].price, now[k].size);
            k++;
        }
    }
}

void stream_view_whole(const struct stream_view *view, struct writer *writer)
{
    const struct side bids = { view, writer, false, false, false };
    const struct side asks = { view, writer, true, false, false };
    WRITER_TEXT(writer, "{\"bids\":[");
    write_side(bids, view->levels.bids, view->levels.bid_count);
    WRITER_TEXT(writer, "],\"asks\":[");
    write_side(asks, view->levels.asks, view->levels.ask_count);
    WRITER_TEXT(writer, "]}");
}

void stream_view_changes(const struct stream_view *view, struct writer *writer)
{
    const struct stream_levels *before = &view->spare, *now = &view->levels;
    const struct side bids = { view, writer, false, false, false };
    const struct side asks = { view, writer, true, false, false };
    WRITER_TEXT(writer, "{\"bids\":[");
    write_changes(bids, before->bids, before->bid_count, now->bids, now->bid_count);
    WRITER_TEXT(writer, "],\"asks\":[");
    write_changes(asks, before->asks, before->ask_count, now->asks, now->ask_count);
    WRITER_TEXT(writer, "]}");
}

void stream_view_whole_binary(const struct stream_view *view, struct writer *writer)
{
    const struct stream_levels *levels = &view->levels;
    write_side((struct side){ view, writer, false, true, false }, levels->bids, levels->bid_count);
    write_side((struct side){ view, writer, true, true, false }, levels->asks, levels->ask_count);
}

void stream_view_changes_binary(const struct stream_view *view, struct writer *writer)
{
    const struct stream_levels *before = &view->spare, *now = &view->levels;
    const struct side bids = { view, writer, false, true, false };
    const struct side asks = { view, writer, true, true, false };
    write_changes(bids, before->bids, before->bid_count, now->bids, now->bid_count);
    write_changes(asks, before->asks, before->ask_count, now->asks, now->ask_count);
}

void stream_view_best_binary(const struct stream_view *view, struct writer *writer)
{
    const struct stream_levels *levels = &view->levels;
    struct stream_message_best message = {
        .head = stream_binary_head(STREAM_MESSAGE_BEST, sizeof message, view->asset_id, view->seq,
                                   view->time_ns),
    };
    if (levels->bid_count != 0) {
        message.bid_price = levels->bids[0].price;
        message.bid_size = levels->bids[0].size;
    }
    if (levels->ask_count != 0) {
        message.ask_price = levels->asks[0].price;
        message.ask_size = levels->asks[0].size;
    }
    writer_bytes(writer, &message, sizeof message);
}

static void write_best(struct writer *writer, const struct row_level *levels, uint32_t count,
                       const struct stream_view *view, const char *price, const char *size)
{
    writer_text(writer, price);
    if (count == 0)
        WRITER_TEXT(writer, "null");
    else
        writer_decimal(writer, levels[0].price, view->price_decimals);
    writer_text(writer, size);
    if (count == 0)
        WRITER_TEXT(writer, "null");
    else
        writer_decimal(writer, levels[0].size, view->size_decimals);
}

void stream_view_best(const struct stream_view *view, struct writer *writer)
{
    const struct stream_levels *levels = &view->levels;
    write_best(writer, levels->bids, levels->bid_count, view, "{\"bid_price\":", ",\"bid_size\":");
    write_best(writer, levels->asks, levels->ask_count, view, ",\"ask_price\":", ",\"ask_size\":");
    WRITER_TEXT(writer, "}");
}

/* The decimal without its quotes, and `end`. */
static uint32_t crc_of(uint32_t crc, uint64_t value, unsigned scale, char end)
{
    char text[DECIMAL_MAX];
    struct writer writer = writer_begin(text, sizeof text);
    writer_decimal(&writer, value, scale);
    INVARIANT(!writer.full && writer.at[-1] == '"');
    writer.at[-1] = end;
    return crc32c_extend(crc, text + 1, writer_count(&writer) - 1);
}

static uint32_t crc_of_side(const struct stream_view *view, uint32_t crc,
                            const struct row_level *levels, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < CRC_LEVELS; i++) {
        crc = crc_of(crc, levels[i].price, view->price_decimals, ':');
        crc = crc_of(crc, levels[i].size, view->size_decimals, ';');
    }
    return crc;
}

uint32_t stream_view_crc(struct stream_view *view)
{
    const struct stream_levels *levels = &view->levels;
    if (!view->has_crc) {
        view->crc = crc_of_side(view, 0, levels->bids, levels->bid_count);
        view->crc = crc_of_side(view, view->crc, levels->asks, levels->ask_count);
    }
    view->has_crc = true;
    return view->crc;
}
