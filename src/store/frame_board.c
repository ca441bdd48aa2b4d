#include "store/frame_board.h"

#include <errno.h>
#include <stdlib.h>

enum { PLACE_WORDS = sizeof(struct frame_place) / sizeof(uint64_t) };

struct frame_board_slot {
    _Atomic uint64_t words[PLACE_WORDS];
};

int frame_board_init(struct frame_board *board)
{
    board->slots = calloc(FRAME_BOARD_SLOTS, sizeof *board->slots);
    return board->slots == NULL ? -ENOMEM : 0;
}

void frame_board_free(struct frame_board *board)
{
    free(board->slots);
    board->slots = NULL;
}

void frame_board_add(struct frame_board *board, const struct frame_header *header,
                     const uint8_t hash[HASH_BYTES])
{
    struct frame_place place = { .number = header->number,
                                 .first_sequence = header->first_sequence,
                                 .last_sequence = header->last_sequence,
                                 .boot = header->boot,
                                 .segment = header->segment };
    uint64_t words[PLACE_WORDS];

    if (header->record_count == 0)
        return;
    memcpy(place.hash, hash, sizeof place.hash);
    memcpy(words, &place, sizeof words);
    /* relaxed: the writer's own. */
    uint64_t number = atomic_load_explicit(&board->count, memory_order_relaxed);
    struct frame_board_slot *slot = &board->slots[number % FRAME_BOARD_SLOTS];
    /* relaxed: each word below is a release, so a reader that saw one sees this. */
    atomic_store_explicit(&board->begun, number + 1, memory_order_relaxed);
    for (size_t i = 0; i < PLACE_WORDS; i++) /* release (pairs: place_read) */
        atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
    atomic_store_explicit(&board->count, number + 1, memory_order_release); /* pairs: find */
}

/* False: it was overwritten meanwhile. */
static bool place_read(const struct frame_board *board, uint64_t number, struct frame_place *place)
{
    const struct frame_board_slot *slot = &board->slots[number % FRAME_BOARD_SLOTS];
    uint64_t words[PLACE_WORDS];

    for (size_t i = 0; i < PLACE_WORDS; i++) /* acquire (pairs: frame_board_add) */
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
    memcpy(place, words, sizeof words);
    return atomic_load_explicit(&board->begun, memory_order_relaxed) <= number + FRAME_BOARD_SLOTS;
}

bool frame_board_find(const struct frame_board *board, uint64_t sequence, struct frame_place *place)
{
    /* acquire (pairs: frame_board_add): the words of what was counted. */
    uint64_t end = atomic_load_explicit(&board->count, memory_order_acquire);
    uint64_t low = end > FRAME_BOARD_SLOTS ? end - FRAME_BOARD_SLOTS : 0, high = end;

    while (low < high) { /* the first frame that ends at the sequence or above */
        uint64_t middle = low + (high - low) / 2;
        if (!place_read(board, middle, place) || place->last_sequence < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && place_read(board, low, place) && place->first_sequence <= sequence &&
           sequence <= place->last_sequence;
}
