#include "base/book_board.h"

#include <errno.h>

#include "base/region.h"

enum {
    HEAD_WORDS = sizeof(struct book_board_head) / sizeof(uint64_t),
    LEVEL_WORDS = sizeof(struct row_level) / sizeof(uint64_t),
    SIDE_WORDS = BOOK_BOARD_DEPTH_MAX * LEVEL_WORDS,
};

struct book_board_row {
    CC_NO_SHARE _Atomic uint64_t begun;
    _Atomic uint64_t done;
    _Atomic uint32_t wants[BOOK_BOARD_DEPTHS];
    _Atomic uint16_t asset_id;
    _Atomic uint64_t head[HEAD_WORDS];
    _Atomic uint64_t bids[SIDE_WORDS];
    _Atomic uint64_t asks[SIDE_WORDS];
};

const uint16_t book_board_depths[BOOK_BOARD_DEPTHS] = { 1, 10, 50, BOOK_BOARD_DEPTH_MAX };

static const size_t mapped_bytes = SYMBOLS_MAX * sizeof(struct book_board_row);

int book_board_init(struct book_board *board)
{
    void *memory = region_map(REGION_books, mapped_bytes);
    if (memory == NULL)
        return -ENOMEM;
    board->rows = memory;
    return 0;
}

void book_board_free(struct book_board *board)
{
    if (board->rows != NULL)
        region_unmap(board->rows, mapped_bytes);
    board->rows = NULL;
}

void book_board_want(struct book_board *board, uint32_t symbol_index, uint16_t asset_id,
                     unsigned depth_index)
{
    struct book_board_row *row = &board->rows[symbol_index];
    INVARIANT(symbol_index < SYMBOLS_MAX && depth_index < BOOK_BOARD_DEPTHS);
    atomic_store_explicit(&row->asset_id, asset_id, memory_order_relaxed);
    /* Release: a reader that sees the want sees its asset id (pairs: book_board_wanted). */
    atomic_fetch_add_explicit(&row->wants[depth_index], 1, memory_order_release);
    atomic_fetch_add_explicit(&board->wanted, 1, memory_order_release);
}

void book_board_drop(struct book_board *board, uint32_t symbol_index, unsigned depth_index)
{
    /* relaxed: a market that is written once too often harms nobody. */
    atomic_fetch_sub_explicit(&board->rows[symbol_index].wants[depth_index], 1,
                              memory_order_relaxed);
    atomic_fetch_sub_explicit(&board->wanted, 1, memory_order_relaxed);
}

uint32_t book_board_wanted(const struct book_board *board, uint32_t symbol_index,
                           uint16_t *asset_id)
{
    const struct book_board_row *row = &board->rows[symbol_index];
    for (unsigned i = BOOK_BOARD_DEPTHS; i-- > 0;)
        if (atomic_load_explicit(&row->wants[i], memory_order_acquire) != 0) { /* pairs: _want */
            *asset_id = atomic_load_explicit(&row->asset_id, memory_order_relaxed);
            return book_board_depths[i];
        }
    return 0;
}

uint64_t book_board_seq(const struct book_board *board, uint32_t symbol_index)
{
    return atomic_load_explicit(&board->rows[symbol_index].head[0], memory_order_relaxed);
}

void book_board_write(struct book_board *board, uint32_t symbol_index,
                      const struct book_board_head *head, const struct row_level *levels)
{
    static_assert(offsetof(struct book_board_head, book_seq) == 0, "book_board_seq reads it");
    struct book_board_row *row = &board->rows[symbol_index];
    uint64_t version = atomic_load_explicit(&row->begun, memory_order_relaxed) + 1;
    INVARIANT(head->bid_count <= BOOK_BOARD_DEPTH_MAX && head->ask_count <= BOOK_BOARD_DEPTH_MAX);
    atomic_store_explicit(&row->begun, version, memory_order_relaxed);
    /* Before the words: a reader that sees one of them sees `begun` (pairs: book_board_read). */
    atomic_thread_fence(memory_order_release);
    published_words_set(row->head, head, HEAD_WORDS);
    published_words_set(row->bids, levels, (size_t)head->bid_count * LEVEL_WORDS);
    published_words_set(row->asks, levels + head->bid_count, (size_t)head->ask_count * LEVEL_WORDS);
    atomic_store_explicit(&row->done, version, memory_order_release); /* pairs: book_board_read */
    published_add(&board->writes, 1);
}

uint64_t book_board_version(const struct book_board *board, uint32_t symbol_index)
{
    return atomic_load_explicit(&board->rows[symbol_index].done, memory_order_relaxed);
}

bool book_board_read(const struct book_board *board, uint32_t symbol_index, uint32_t depth,
                     struct book_board_head *head, struct row_level *bids, struct row_level *asks)
{
    const struct book_board_row *row = &board->rows[symbol_index];
    uint64_t version = atomic_load_explicit(&row->done, memory_order_acquire); /* pairs: _write */
    if (version == 0)
        return false;
    published_words_get(row->head, head, HEAD_WORDS);
    uint32_t most = depth < BOOK_BOARD_DEPTH_MAX ? depth : BOOK_BOARD_DEPTH_MAX;
    head->bid_count = head->bid_count < most ? head->bid_count : most;
    head->ask_count = head->ask_count < most ? head->ask_count : most;
    published_words_get(row->bids, bids, (size_t)head->bid_count * LEVEL_WORDS);
    published_words_get(row->asks, asks, (size_t)head->ask_count * LEVEL_WORDS);
    atomic_thread_fence(memory_order_acquire); /* pairs: book_board_write */
    return atomic_load_explicit(&row->begun, memory_order_relaxed) == version;
}
