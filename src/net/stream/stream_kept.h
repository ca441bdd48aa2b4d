/* stream_kept.h - texts that many frames carry, each made once by a network thread: what an entry
 * of a log is to every stream.
 *
 * Owner. The net thread. */
#ifndef NET_STREAM_STREAM_KEPT_H
#define NET_STREAM_STREAM_KEPT_H

#include "net/stream/stream_message.h"
#include "net/stream/stream_state.h"

enum { STREAM_PRIVATE_BINARY_MAX = 96 /* bytes of a private event as a message */ };

/* An entry of a log as text from its "engine_seq" to its last brace; a trade also as a message. */
struct stream_coded {
    uint64_t number; /* 1 + that of the entry; 0: none */
    uint64_t seq;
    uint64_t engine_seq;
    uint64_t time_ns;
    uint32_t symbol_index; /* of its market */
    uint32_t channel;      /* enum stream_channel; STREAM_CHANNELS: it is of none */
    uint32_t count;
    uint8_t price_decimals, size_decimals; /* of a trade, as the next */
    struct row_trade trade;
    uint8_t binary[sizeof(struct stream_message_trade)];
    char text[STREAM_CODED_MAX];
};

/* What a trade made of a candle, as text from its "engine_seq" to its last brace. */
struct stream_candle_coded {
    uint64_t number; /* stream_coded.number * ROW_INTERVALS + the interval */
    uint32_t count;
    char text[STREAM_CANDLE_MAX];
};

/* A private event as text from its "engine_seq" to its last brace, and as a message. */
struct stream_private_coded {
    uint64_t account_id; /* 0: none */
    uint64_t seq;
    uint64_t engine_seq;
    uint64_t time_ns;
    uint32_t count;
    uint32_t binary_count;
    uint32_t subaccounts[2]; /* that it is of; PRIVATE_OUTSIDE: of the whole account alone */
    uint8_t binary[STREAM_PRIVATE_BINARY_MAX];
    char text[STREAM_PRIVATE_MAX];
};

#endif
