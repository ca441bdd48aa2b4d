#include "node/serve/book_writer.h"

#include "engine/view/read.h"

/* Writes the market if it has changed; the levels copied. */
static uint32_t write_market(struct book_writer *writer, const struct engine *engine,
                             uint32_t symbol_index, uint32_t depth, uint16_t asset_id)
{
    struct row_book row;

    if (read_book_seq(engine, asset_id) == book_board_seq(writer->board, symbol_index))
        return 0;
    market_names_refresh(&writer->names, engine);
    const struct market_name *name = market_names_of(&writer->names, asset_id);
    bool is_there = read_book(engine, name->symbol, depth, &row, writer->levels);
    INVARIANT(is_there);
    const struct book_board_head head = {
        .book_seq = row.book_seq,
        .applied = engine_sequence(engine),
        .time_ns = engine_time(engine),
        .depth = depth,
        .bid_count = row.bid_count,
        .ask_count = row.ask_count,
    };
    book_board_write(writer->board, symbol_index, &head, writer->levels);
    return row.bid_count + row.ask_count;
}

bool book_writer_run(struct book_writer *writer, const struct engine *engine)
{
    uint32_t copied = 0;
    uint16_t asset_id = SYMBOL_NONE;

    /* relaxed: a want that is not seen yet is seen in the turn of its query. */
    if (writer->board == NULL ||
        atomic_load_explicit(&writer->board->wanted, memory_order_relaxed) == 0)
        return true;
    for (uint32_t i = 0; i < SYMBOLS_MAX; i++) {
        uint32_t symbol_index = (writer->next + i) % SYMBOLS_MAX;
        uint32_t depth = book_board_wanted(writer->board, symbol_index, &asset_id);
        if (depth != 0)
            copied += write_market(writer, engine, symbol_index, depth, asset_id);
        if (copied >= BOOK_WRITER_LEVELS_A_TURN) {
            writer->next = (symbol_index + 1) % SYMBOLS_MAX;
            return i + 1 == SYMBOLS_MAX;
        }
    }
    return true;
}
