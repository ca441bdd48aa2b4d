/* stream_kept.h - texts that many frames carry, each made once by a network thread: what an entry
 * of a log is to every stream.
 *
 * Owner. The net thread. */
#ifndef NET_STREAM_STREAM_KEPT_H
#define NET_STREAM_STREAM_KEPT_H

#include "net/stream/stream_state.h"

/* An entry of a log as text from its "engine_seq" to its last brace. */
struct stream_coded {
    uint64_t number; /* 1 + that of the entry; 0: none */
    uint64_t seq;
    uint32_t symbol_index; /* of its market */
    uint32_t channel;      /* enum stream_channel; STREAM_CHANNELS: it is of none */
    uint32_t count;
    uint8_t price_decimals, size_decimals; /* of a trade, as the next */
    struct row_trade trade;
    char text[STREAM_CODED_MAX];
};

/* What a trade made of a candle, as text from its "engine_seq" to its last brace. */
struct stream_candle_coded {
    uint64_t number; /* stream_coded.number * ROW_INTERVALS + the interval */
    uint32_t count;
    char text[STREAM_CANDLE_MAX];
};

/* A private event as text from its "engine_seq" to its last brace. */
struct stream_private_coded {
    uint64_t account_id; /* 0: none */
    uint64_t seq;
    uint32_t count;
    uint32_t subaccounts[2]; /* that it is of; PRIVATE_OUTSIDE: of the whole account alone */
    char text[STREAM_PRIVATE_MAX];
};

#endif
