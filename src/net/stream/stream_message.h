/* stream_message.h - what the subprotocol perps.bin.v1 sends (wire.md W9): fixed structs, each
 * after the same head. A message of the WebSocket is a frame and what follows it, or one
 * acknowledgement.
 *
 *   update of a book   [frame][level][level]..
 *   event of private   [frame][order]
 *   heartbeat          [frame]
 *   answer             [ack]
 *
 * Units. Little-endian. Prices and sizes are raw integers of the market, amounts micro-USDC, times
 *        unix ns, enums the numbers of wire.md. Pads are zero. An id of 16 zeros is none.
 * This header needs nothing of the project: a client may copy it. */
#ifndef NET_STREAM_STREAM_MESSAGE_H
#define NET_STREAM_STREAM_MESSAGE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_MESSAGE_SUBPROTOCOL "perps.bin.v1"

enum stream_message_template {
    STREAM_MESSAGE_LEVEL = 1,
    STREAM_MESSAGE_TRADE = 2,
    STREAM_MESSAGE_BEST = 3,
    STREAM_MESSAGE_ORDER = 4,
    STREAM_MESSAGE_FILL = 5,
    STREAM_MESSAGE_ACK = 6,
    STREAM_MESSAGE_FRAME = 16,
    STREAM_MESSAGE_GAP = 17,
    STREAM_MESSAGE_POSITION = 18,
    STREAM_MESSAGE_BALANCE = 19,
    STREAM_MESSAGE_FUNDING = 20,
    STREAM_MESSAGE_TRANSFER = 21,
    STREAM_MESSAGE_LIQUIDATION = 22,
    STREAM_MESSAGE_MMP = 23,
    STREAM_MESSAGE_SESSION = 24,
};

/* stream_message_frame.channel */
enum {
    STREAM_MESSAGE_OF_BOOK = 1,
    STREAM_MESSAGE_OF_TRADES = 2,
    STREAM_MESSAGE_OF_BBO = 3,
    STREAM_MESSAGE_OF_PRIVATE = 4,
};

/* stream_message_frame.type */
enum stream_message_type {
    STREAM_MESSAGE_SNAPSHOT = 1,
    STREAM_MESSAGE_UPDATE = 2,
    STREAM_MESSAGE_HEARTBEAT = 3,
    STREAM_MESSAGE_IS_GAP = 4,
};

enum {
    STREAM_MESSAGE_HAS_CRC = 1,    /* flags of the head of a frame: crc is there */
    STREAM_MESSAGE_LIQUIDATED = 1, /* flags of a trade: of a liquidation */
    STREAM_MESSAGE_PORTFOLIO = 1,  /* flags of a liquidation: the event is of a market too */
    STREAM_MESSAGE_NOWHERE = -1,   /* an index of a transfer, as uint32_t: not of the exchange */
};

/* `length` counts the message with its head, a multiple of 8. `market` is the asset id, 0: none.
 * `seq` and `time_ns` are those of the frame, of a trade in a snapshot its own. */
struct stream_message_head {
    uint16_t template;
    uint16_t length;
    uint16_t market;
    uint16_t flags;
    uint64_t seq;
    uint64_t time_ns;
};

/* What a frame of json.md J9 has outside of its data. */
struct stream_message_frame {
    struct stream_message_head head;
    uint64_t prev_seq;
    uint64_t engine_seq;
    uint8_t channel;
    uint8_t type;
    uint8_t zero[2];
    uint32_t crc;
};

struct stream_message_level {
    struct stream_message_head head;
    uint64_t price;
    uint64_t size; /* 0: the level is gone */
    uint8_t side;  /* 0 bids, 1 asks */
    uint8_t zero[7];
};

struct stream_message_trade {
    struct stream_message_head head;
    uint64_t price;
    uint64_t size;
    uint8_t taker_side;
    uint8_t flags;
    uint8_t zero[6];
    uint64_t trade_seq;
};

struct stream_message_best {
    struct stream_message_head head;
    uint64_t bid_price; /* 0, as its size: that side is empty */
    uint64_t bid_size;
    uint64_t ask_price;
    uint64_t ask_size;
};

struct stream_message_order {
    struct stream_message_head head;
    uint8_t order_id[16];
    uint64_t remaining;
    uint64_t filled;
    uint64_t price; /* 0: the kind of order has none */
    uint8_t status;
    uint8_t reason;
    uint8_t side;
    uint8_t zero[5];
};

struct stream_message_fill {
    struct stream_message_head head;
    uint8_t fill_id[16];
    uint8_t order_id[16];
    uint64_t price;
    uint64_t size;
    int64_t fee;
    uint8_t liquidity;
    uint8_t side;
    uint8_t zero[6];
};

/* The binary acknowledgement of W5 after a head, whose seq is its sequence. */
struct stream_message_ack {
    struct stream_message_head head;
    uint8_t ack[64];
};

struct stream_message_gap {
    struct stream_message_head head;
    uint64_t from_seq;
    uint64_t oldest_seq;
};

struct stream_message_position {
    struct stream_message_head head;
    uint8_t id[16]; /* zero: closed */
    int64_t size;   /* signed; 0: closed */
    int64_t cost;   /* average entry price = cost / size */
    int64_t net_funding;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
};

struct stream_message_balance {
    struct stream_message_head head; /* market 0: the movement is of none */
    uint8_t ref_id[16];
    int64_t amount;
    int64_t balance_after;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint32_t index; /* among the effects of its sequence (json.md J1, at) */
    uint8_t kind;   /* the kinds of rules.md R2 in their order */
    uint8_t zero[3];
};

struct stream_message_funding {
    struct stream_message_head head;
    uint8_t id[16];
    int64_t payment; /* what the portfolio received */
    int64_t size;    /* signed */
    int64_t rate_ppb;
    uint64_t index_price;
    uint64_t hour_ns; /* the full hour that was paid */
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint32_t index;
    uint8_t zero[4];
};

struct stream_message_transfer {
    struct stream_message_head head;
    uint8_t withdrawal_id[16];
    int64_t amount;
    uint32_t from_subaccount_index, from_portfolio_index;
    uint32_t to_subaccount_index, to_portfolio_index;
    uint8_t kind; /* the kinds of json.md J9 in their order */
    uint8_t zero[7];
};

struct stream_message_liquidation {
    struct stream_message_head head; /* market 0: a change of the status alone */
    uint8_t equity[16];              /* two's complement, as the next */
    uint8_t maintenance_margin[16];
    uint64_t price; /* with a market, as the next two */
    int64_t size;   /* signed change */
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t status; /* 0 ACTIVE, 1 IN_LIQUIDATION */
    uint8_t level;
    uint8_t zero[6];
};

struct stream_message_mmp {
    struct stream_message_head head;
    uint64_t frozen_until_ns; /* 0: not frozen, 2^64 - 1: until it is reset */
    uint32_t subaccount_index;
    uint32_t portfolio_index;
};

struct stream_message_session {
    struct stream_message_head head;
    uint8_t id[16];         /* of a master key zero */
    uint8_t public_key[33]; /* of a session (32 bytes) or master key, else zero */
    uint8_t kind;           /* session, api_key, device_key, master_key */
    uint8_t action;         /* added, removed, expired */
    uint8_t zero[5];
};

#define STREAM_MESSAGE_AT(name, member, at) \
    static_assert(offsetof(struct stream_message_##name, member) == (at), "wire.md W9")
#define STREAM_MESSAGE_SIZE(name, bytes) \
    static_assert(sizeof(struct stream_message_##name) == (bytes), "wire.md W9")

STREAM_MESSAGE_SIZE(head, 24);
STREAM_MESSAGE_AT(head, length, 2);
STREAM_MESSAGE_AT(head, market, 4);
STREAM_MESSAGE_AT(head, flags, 6);
STREAM_MESSAGE_AT(head, seq, 8);
STREAM_MESSAGE_AT(head, time_ns, 16);
STREAM_MESSAGE_SIZE(frame, 48);
STREAM_MESSAGE_AT(frame, engine_seq, 32);
STREAM_MESSAGE_AT(frame, channel, 40);
STREAM_MESSAGE_AT(frame, type, 41);
STREAM_MESSAGE_AT(frame, crc, 44);
STREAM_MESSAGE_SIZE(level, 48);
STREAM_MESSAGE_AT(level, side, 40);
STREAM_MESSAGE_SIZE(trade, 56);
STREAM_MESSAGE_AT(trade, taker_side, 40);
STREAM_MESSAGE_AT(trade, flags, 41);
STREAM_MESSAGE_AT(trade, trade_seq, 48);
STREAM_MESSAGE_SIZE(best, 56);
STREAM_MESSAGE_AT(best, ask_price, 40);
STREAM_MESSAGE_SIZE(order, 72);
STREAM_MESSAGE_AT(order, remaining, 40);
STREAM_MESSAGE_AT(order, price, 56);
STREAM_MESSAGE_AT(order, status, 64);
STREAM_MESSAGE_AT(order, side, 66);
STREAM_MESSAGE_SIZE(fill, 88);
STREAM_MESSAGE_AT(fill, order_id, 40);
STREAM_MESSAGE_AT(fill, fee, 72);
STREAM_MESSAGE_AT(fill, liquidity, 80);
STREAM_MESSAGE_SIZE(ack, 88);
STREAM_MESSAGE_SIZE(gap, 40);
STREAM_MESSAGE_SIZE(position, 72);
STREAM_MESSAGE_AT(position, subaccount_index, 64);
STREAM_MESSAGE_SIZE(balance, 72);
STREAM_MESSAGE_AT(balance, index, 64);
STREAM_MESSAGE_AT(balance, kind, 68);
STREAM_MESSAGE_SIZE(funding, 96);
STREAM_MESSAGE_AT(funding, hour_ns, 72);
STREAM_MESSAGE_AT(funding, index, 88);
STREAM_MESSAGE_SIZE(transfer, 72);
STREAM_MESSAGE_AT(transfer, to_subaccount_index, 56);
STREAM_MESSAGE_AT(transfer, kind, 64);
STREAM_MESSAGE_SIZE(liquidation, 88);
STREAM_MESSAGE_AT(liquidation, price, 56);
STREAM_MESSAGE_AT(liquidation, status, 80);
STREAM_MESSAGE_SIZE(mmp, 40);
STREAM_MESSAGE_AT(mmp, subaccount_index, 32);
STREAM_MESSAGE_SIZE(session, 80);
STREAM_MESSAGE_AT(session, public_key, 40);
STREAM_MESSAGE_AT(session, kind, 73);

#undef STREAM_MESSAGE_AT
#undef STREAM_MESSAGE_SIZE

#endif
