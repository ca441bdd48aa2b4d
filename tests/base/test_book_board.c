/* book_board: what a reader copies is one state whole, or known not to be; wants decide how deep a
 * market is written. */
#include <pthread.h>
#include <unistd.h>

#include "base/book_board.h"
#include "check.h"

enum { WRITES = 20000, PAUSE_WRITES = 1000, WHOLE = 50, PLACE = 3, ASSET = 77, LEVELS = 50 };

static struct book_board board;
static _Atomic bool has_enough; /* whole reads */
static uint64_t last;           /* seq that was written */

/* State `seq`: all its numbers follow from seq. */
static void write_state(uint64_t seq)
{
    struct row_level levels[2 * LEVELS];
    const struct book_board_head head = {
        .book_seq = seq,
        .applied = 2 * seq,
        .depth = LEVELS,
        .bid_count = LEVELS - (uint32_t)(seq % 2),
        .ask_count = LEVELS,
    };
    for (uint32_t i = 0; i < head.bid_count + head.ask_count; i++)
        levels[i] = (struct row_level){ .price = seq + i, .size = ~seq };
    book_board_write(&board, PLACE, &head, levels);
}

static void check_state(const struct book_board_head *head, const struct row_level *bids,
                        const struct row_level *asks, uint32_t depth)
{
    uint64_t seq = head->book_seq;
    uint32_t bid_count = LEVELS - (uint32_t)(seq % 2);
    CHECK(head->applied == 2 * seq && head->depth == LEVELS);
    CHECK(head->bid_count == (depth < bid_count ? depth : bid_count));
    CHECK(head->ask_count == (depth < LEVELS ? depth : LEVELS));
    for (uint32_t i = 0; i < head->bid_count; i++)
        CHECK(bids[i].price == seq + i && bids[i].size == ~seq);
    for (uint32_t i = 0; i < head->ask_count; i++)
        CHECK(asks[i].price == seq + bid_count + i && asks[i].size == ~seq);
}

static void *write_all(void *unused)
{
    for (uint64_t seq = 2; seq < WRITES || !atomic_load(&has_enough); seq++) {
        write_state(seq);
        last = seq;
        if (seq % PAUSE_WRITES == 0)
            usleep(1); /* or a reader on a busy machine might see nothing whole */
    }
    return unused;
}

static void check_wants(void)
{
    uint16_t asset_id = 0;
    CHECK(book_board_wanted(&board, PLACE, &asset_id) == 0);
    book_board_want(&board, PLACE, ASSET, 1);
    book_board_want(&board, PLACE, ASSET, 3);
    book_board_want(&board, PLACE, ASSET, 1);
    CHECK(book_board_wanted(&board, PLACE, &asset_id) == 1000 && asset_id == ASSET);
    book_board_drop(&board, PLACE, 3);
    CHECK(book_board_wanted(&board, PLACE, &asset_id) == 10);
    book_board_drop(&board, PLACE, 1);
    CHECK(book_board_wanted(&board, PLACE, &asset_id) == 10);
    book_board_drop(&board, PLACE, 1);
    CHECK(book_board_wanted(&board, PLACE, &asset_id) == 0);
    CHECK(book_board_wanted(&board, PLACE + 1, &asset_id) == 0);
}

int main(void)
{
    struct row_level bids[LEVELS], asks[LEVELS];
    struct book_board_head head;
    pthread_t writer;
    uint64_t newest = 0, whole = 0;

    CHECK(book_board_init(&board) == 0);
    check_wants();
    CHECK(!book_board_read(&board, PLACE, 1, &head, bids, asks));
    CHECK(book_board_version(&board, PLACE) == 0 && book_board_seq(&board, PLACE) == 0);
    write_state(1);
    CHECK(book_board_version(&board, PLACE) == 1 && book_board_seq(&board, PLACE) == 1);
    CHECK(book_board_version(&board, PLACE + 1) == 0);
    for (uint32_t depth = 1; depth <= LEVELS; depth++) {
        CHECK(book_board_read(&board, PLACE, depth, &head, bids, asks));
        check_state(&head, bids, asks, depth);
    }
    CHECK(pthread_create(&writer, NULL, write_all, NULL) == 0);
    while (whole < WHOLE || book_board_version(&board, PLACE) < WRITES) {
        if (!book_board_read(&board, PLACE, LEVELS, &head, bids, asks))
            continue;
        check_state(&head, bids, asks, LEVELS);
        CHECK(head.book_seq >= newest);
        newest = head.book_seq;
        whole++;
    }
    atomic_store(&has_enough, true);
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(book_board_read(&board, PLACE, LEVELS, &head, bids, asks));
    CHECK(head.book_seq == last && published_get(&board.writes) == last);
    book_board_free(&board);
    return 0;
}
