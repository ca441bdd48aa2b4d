/* query_message.h - the messages of reads between roles: query and reply.
 *
 *   net ── query ring (1 slot) ──> follower
 *   net <── reply ring (1 slot) ── follower, rows in a buffer of the pool (row.h)
 *
 * Owner.  A message is its producer's until published, its consumer's until released (ring.h).
 * Order.  A reply may overtake those of older queries: net puts answers in request order.
 * Units.  Times are unix ns, ticks are the cycle counter. */
#ifndef BASE_QUERY_MESSAGE_H
#define BASE_QUERY_MESSAGE_H

#include "base/message.h"

enum query_kind {
    QUERY_order,       /* account, id, pin -> struct row_order */
    QUERY_orders,      /* account, pin, filters, page -> struct row_order, newest placing first */
    QUERY_fills,       /* account, pin, filters, page -> struct row_fill, newest first */
    QUERY_request,     /* account, id, pin -> struct row_request */
    QUERY_positions,   /* account, pin, filters -> struct row_position, by portfolio, asset id */
    QUERY_balance,     /* account, subaccount, portfolio -> struct row_balance */
    QUERY_balances,    /* account, pin -> struct row_balance by subaccount, portfolio */
    QUERY_subaccounts, /* account, pin -> struct row_subaccount, ascending */
    QUERY_account,     /* account -> struct row_account */
    QUERY_markets,     /* -> struct row_market, ascending asset id */
    QUERY_market,      /* market -> struct row_market */
    QUERY_book,        /* market, depth -> struct row_book, then row_level bids, asks */
    QUERY_trades,      /* market, page -> struct row_trades, then row_trade, newest first */
    QUERY_audit,       /* -> struct row_audit, then row_audit_market */
    QUERY_payments,    /* account, place, filters, page -> struct row_payment, newest first */
    QUERY_rates,       /* market, times, page -> struct row_list, then row_rate, newest first */
    QUERY_fund,        /* page -> struct row_list, then row_house, newest first */
    QUERY_fees,        /* likewise of the fee account */
    QUERY_mark,        /* market -> struct row_mark */
    QUERY_withdrawals, /* outcome, page -> struct row_list, then row_withdrawal, newest first */
    QUERY_KIND_COUNT
};

enum {
    QUERY_MARKET_BYTES = 32,
    QUERY_ANY_STATUS = 255, /* no filter by order_status */
};

/* No filter by subaccount_index or portfolio_index: indexes are at most INT32_MAX. */
#define QUERY_ANY_INDEX UINT32_MAX

struct query {
    uint64_t token;
    uint64_t stamp; /* durable_seq loaded after the request was read: run when applied >= stamp */
    uint64_t received_ticks;
    uint64_t account_id;
    uint32_t subaccount_index; /* of lists: a filter, QUERY_ANY_INDEX for none */
    uint32_t portfolio_index;
    int32_t pin;    /* of the credential; -1 = none */
    uint32_t limit; /* rows of a page; levels a side of a book */
    union {
        uint8_t id[16];
        struct { /* payments, rates: of the hour, both inclusive */
            uint64_t start_ns;
            uint64_t end_ns;
        };
    };
    char market[QUERY_MARKET_BYTES]; /* zero-padded symbol, at most 31 bytes; empty: no filter */
    uint16_t kind;                   /* enum query_kind */
    uint8_t status;                  /* orders, withdrawals: a filter, QUERY_ANY_STATUS for none */
    uint8_t zero;
    uint32_t before_index;    /* with before_sequence */
    uint64_t before_sequence; /* pages: only rows with a lower (sequence, index); 0: all */
    uint64_t offset;          /* pages: rows to pass over */
    uint8_t zero2[8];
};

static_assert(sizeof(struct query) == MESSAGE_SLOT_BYTES, "one slot");

enum { REPLY_NO_BUFFER = 0xFFFF, REPLY_BUFFERS = 64, REPLY_BUFFER_BYTES = 512 * 1024 };

/* What PROBLEM_not_ready means in a reply. */
enum reply_cause {
    REPLY_POOL_EMPTY,
    REPLY_LAG,      /* the follower is lag_ms behind */
    REPLY_NOT_KEPT, /* the answer lies beyond the rows kept in memory: those from kept_from on */
};

struct reply {
    uint64_t token;
    uint64_t applied; /* X-Sequence: the sequence the rows show */
    uint64_t time_ns; /* its engine time */
    uint64_t received_ticks;
    uint64_t lag_ms;    /* with REPLY_LAG */
    uint64_t kept_from; /* sequence, with REPLY_NOT_KEPT */
    uint32_t row_bytes; /* used bytes of the buffer */
    uint32_t row_count;
    uint16_t buffer;  /* index in the pool, REPLY_NO_BUFFER for none; net gives it back */
    uint16_t problem; /* enum problem, 0 = rows */
    uint16_t kind;    /* enum query_kind */
    uint8_t cause;    /* enum reply_cause, with PROBLEM_not_ready */
    uint8_t more;     /* wrapped lists: 1 when rows follow behind the last one */
    uint8_t zero[64];
};

static_assert(sizeof(struct reply) == MESSAGE_SLOT_BYTES, "one slot");

#endif
