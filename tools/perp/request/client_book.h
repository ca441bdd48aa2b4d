/* client_book.h - the order book of a market as a client keeps it: made of the frames of the
 * channel `book`, and proved by the checksums in them (json.md J9).
 *
 *   subscribe ──> snapshot, updates, heartbeats ──> client_book_apply ──> the best levels
 *   a frame is missing, or wrong ──> CLIENT_BOOK_BROKEN ──> the caller subscribes again
 *
 * Owner. One thread.
 * Bound. CLIENT_BOOK_LEVELS a side; a frame that needs more is wrong. */
#ifndef PERP_REQUEST_CLIENT_BOOK_H
#define PERP_REQUEST_CLIENT_BOOK_H

#include "perp/request/instrument.h"

struct json_t; /* jansson.h */

enum {
    CLIENT_BOOK_LEVELS = 2048, /* twice the deepest channel: an update may add before it deletes */
    CLIENT_BOOK_TEXT = 24,
};

struct client_book_level {
    int64_t price; /* raw */
    char price_text[CLIENT_BOOK_TEXT];
    char size_text[CLIENT_BOOK_TEXT];
};

struct client_book_side {
    uint32_t count;
    struct client_book_level levels[CLIENT_BOOK_LEVELS]; /* best first */
};

struct client_book {
    unsigned price_decimals;
    bool is_filled; /* it has had a snapshot and nothing wrong since */
    uint64_t seq, engine_seq, time_ns;
    struct client_book_side bids, asks;
};

enum client_book_state {
    CLIENT_BOOK_SAME,    /* a heartbeat that agrees, or an update before a snapshot */
    CLIENT_BOOK_CHANGED, /* a snapshot or an update */
    CLIENT_BOOK_BROKEN,  /* the frame does not fit: the book is empty and wants a snapshot */
};

void client_book_init(struct client_book *book, unsigned price_decimals);

/* Takes a frame of the channel. */
enum client_book_state client_book_apply(struct client_book *book, const struct json_t *frame);

/* The checksum of json.md J9. */
CC_MUST_USE uint32_t client_book_crc(const struct client_book *book);

/* The book as GET /markets/{m}/book shows it, `depth` levels a side at most; the caller's to
 * release. NULL without memory. */
CC_MUST_USE struct json_t *client_book_json(const struct client_book *book, const char *market,
                                            uint32_t depth);

#endif
