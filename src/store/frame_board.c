#include "store/frame_board.h"

void frame_board_add(struct frame_board *board, const struct frame_header *header,
                     const uint8_t hash[HASH_BYTES])
{
    struct frame_location location = { .number = header->number,
                                       .first_sequence = header->first_sequence,
                                       .last_sequence = header->last_sequence,
                                       .boot = header->boot,
                                       .segment = header->segment };

    if (header->record_count == 0)
        return;
    memcpy(location.hash, hash, sizeof location.hash);
    row_log_add(&board->rows, &location);
}

bool frame_board_find(const struct frame_board *board, uint64_t sequence,
                      struct frame_location *location)
{
    uint64_t end = row_log_count(&board->rows);
    uint64_t low = end > FRAME_BOARD_SLOTS ? end - FRAME_BOARD_SLOTS : 0, high = end;

    while (low < high) { /* the first frame that ends at the sequence or above */
        uint64_t middle = low + (high - low) / 2;
        if (!row_log_read(&board->rows, middle, location) || location->last_sequence < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && row_log_read(&board->rows, low, location) &&
           location->first_sequence <= sequence && sequence <= location->last_sequence;
}
