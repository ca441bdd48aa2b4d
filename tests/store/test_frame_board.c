/* frame_board: a sequence is found in the frame that holds it, while that is one of the newest. */
#include "check.h"
#include "store/frame_board.h"

static struct frame_board board;

/* Frame n holds the sequences 10 n + 1 to 10 n + 10 and has a hash of bytes n % 256. */
static void add(uint64_t n, uint32_t records)
{
    struct frame_header header = { .number = n,
                                   .first_sequence = 10 * n + 1,
                                   .last_sequence = 10 * n + 10,
                                   .record_count = records,
                                   .boot = n / 7,
                                   .segment = n / 100 };
    uint8_t hash[HASH_BYTES];

    memset(hash, (int)(n % 256), sizeof hash);
    frame_board_add(&board, &header, hash);
}

static bool finds(uint64_t sequence, uint64_t n)
{
    struct frame_location place;

    return frame_board_find(&board, sequence, &place) && place.number == n &&
           place.first_sequence == 10 * n + 1 && place.last_sequence == 10 * n + 10 &&
           place.boot == n / 7 && place.segment == n / 100 && place.hash[0] == n % 256 &&
           place.hash[HASH_BYTES - 1] == n % 256;
}

int main(void)
{
    struct frame_location place;
    uint64_t n = 0;

    CHECK(frame_board_init(&board) == 0);
    CHECK(!frame_board_find(&board, 1, &place));
    add(n, 10);
    CHECK(finds(1, 0) && finds(10, 0));
    CHECK(!frame_board_find(&board, 0, &place) && !frame_board_find(&board, 11, &place));

    add(++n, 0); /* holds no sequence */
    CHECK(!frame_board_find(&board, 11, &place) && finds(10, 0));
    add(n, 10);
    CHECK(finds(11, 1) && finds(20, 1) && finds(10, 0));

    while (n + 1 < FRAME_BOARD_SLOTS)
        add(++n, 10);
    CHECK(finds(1, 0) && finds(10 * n + 10, n));
    add(++n, 10); /* in place of frame 0 */
    CHECK(!frame_board_find(&board, 10, &place) && finds(11, 1) && finds(10 * n + 1, n));
    add(n += 2, 10); /* a frame of another journal is missing */
    CHECK(!frame_board_find(&board, 10 * n, &place) && finds(10 * n + 1, n));
    frame_board_free(&board);
    return 0;
}
