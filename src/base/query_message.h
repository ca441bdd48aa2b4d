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

/* How many rows answer a query. */
enum query_extent {
    QUERY_EXTENT_ONE,    /* one record */
    QUERY_EXTENT_PAGE,   /* at most `limit` rows */
    QUERY_EXTENT_LEVELS, /* at most `limit` levels or orders a side of a book */
    QUERY_EXTENT_ALL,    /* every row there is; the buffer bounds them */
};

/* Every read that the follower answers. Further tables have one row for each: the parameters and
 * the JSON in net, the steps in node.
 *    kind         extent     asked with -> rows of the reply (row.h, row_history.h) */
/* clang-format off */
#define QUERY_LIST(X)                                                                             \
    X(order,       ONE)    /* account, id, pin -> row_order */                                    \
    X(orders,      PAGE)   /* account, pin, filters, page -> row_order, newest placing first */   \
    X(fills,       PAGE)   /* account, pin, filters, page -> row_fill, newest first */            \
    X(request,     ONE)    /* account, id, pin -> row_request */                                  \
    X(receipt,     ONE)    /* account, id, pin -> a signed receipt, its bytes */                  \
    X(positions,   ALL)    /* account, pin, filters -> row_position, by portfolio, asset id */    \
    X(balance,     ONE)    /* account, subaccount, portfolio -> row_balance */                    \
    X(balances,    ALL)    /* account, pin -> row_balance by subaccount, portfolio */             \
    X(subaccounts, ALL)    /* account, pin -> row_subaccount, ascending */                        \
    X(account,     ONE)    /* account -> row_account */                                           \
    X(limits,      ONE)    /* the same */                                                         \
    X(sessions,    ALL)    /* account, pin -> row_session, newest first */                        \
    X(master_keys, ALL)    /* account, pin -> row_master_key, oldest first */                     \
    X(api_keys,    ALL)    /* account, pin -> row_api_key, API then device, newest first */       \
    X(markets,     ALL)    /* -> row_market, ascending asset id */                                \
    X(market,      ONE)    /* market -> row_market */                                             \
    X(book,        LEVELS) /* market, depth -> row_book, then row_level bids, asks */             \
    X(book_orders, LEVELS) /* market, orders a side -> row_book, then row_book_order likewise */  \
    X(trades,      PAGE)   /* market, page -> row_trades, then row_trade, newest first */         \
    X(candles,     PAGE)   /* market, interval, times, limit -> row_candles, then row_candle */   \
    X(ticker,      ONE)    /* market -> row_ticker */                                             \
    X(tickers,     ALL)    /* -> row_ticker, ascending asset id */                                \
    X(audit,       ALL)    /* -> row_audit, then row_audit_market */                              \
    X(payments,    PAGE)   /* account, place, filters, page -> row_payment, newest first */       \
    X(cash,        PAGE)   /* account, subaccount, filters, page -> row_list, then row_cash */    \
    X(rates,       PAGE)   /* market, times, page -> row_list, then row_rate, newest first */     \
    X(liquidations, PAGE)  /* market, page -> row_list, then row_liquidation, newest first */     \
    X(fund,        PAGE)   /* page -> row_list, then row_house, newest first */                   \
    X(fees,        PAGE)   /* likewise of the fee account */                                      \
    X(mark,        ONE)    /* market -> row_mark */                                               \
    X(heads,       PAGE)   /* limit -> signed heads, HEAD_LOG_BYTES each, newest first */         \
    X(frames,      ONE)    /* frame in before_sequence, bytes to skip in offset -> row_frames */  \
    X(seal,        ONE)    /* -> row_seal */                                                      \
    X(withdrawals, PAGE)   /* outcome, page -> row_list, then row_withdrawal, newest first */     \
    X(private_events, PAGE) /* account, seq before it, sequence -> private_event, oldest first */ \
    X(trades_after, PAGE)  /* market, seq before them -> as trades: the oldest that follow it */      \
    X(pairing_open, ONE)   /* account, pin, random id, token hash -> row_pairing */               \
    X(pairing_deposit, ONE) /* id, token hash, payload: both keys -> row_pairing */               \
    X(pairing,     ONE)    /* account, pin, id -> row_pairing */                                  \
    X(pairing_complete, ONE) /* account, pin, id, payload: text -> row_pairing */                 \
    X(pairing_result, ONE) /* id, token hash -> row_pairing, then the text */
/* clang-format on */

enum query_kind {
#define X(name, extent) QUERY_##name,
    QUERY_LIST(X)
#undef X
        QUERY_KIND_COUNT
};

/* The kind's extent as in the table. */
CC_MUST_USE static inline enum query_extent query_extent_of(enum query_kind kind)
{
    static const uint8_t extents[QUERY_KIND_COUNT] = {
#define X(name, extent) [QUERY_##name] = QUERY_EXTENT_##extent,
        QUERY_LIST(X)
#undef X
    };
    INVARIANT((unsigned)kind < QUERY_KIND_COUNT);
    return (enum query_extent)extents[kind];
}

enum {
    QUERY_MARKET_BYTES = 32,
    QUERY_TOKEN_HASH_BYTES = 32,
    QUERY_PAIRING_KEYS_BYTES = 65 + 32, /* ecdh_pub, session_pub */
    QUERY_PAIRING_TEXT_MAX = 4096,      /* characters of a ciphertext in Base64 */
    QUERY_ANY_STATUS = 255,             /* no filter by order_status */
};

/* No filter by subaccount_index or portfolio_index: indexes are at most INT32_MAX. */
#define QUERY_ANY_INDEX UINT32_MAX

#define QUERY_NO_START UINT64_MAX

#define QUERY_NO_LIMIT 0 /* of positions, balances and subaccounts: all rows */

#define QUERY_ADMIN_ADDRESS UINT64_MAX /* of no client: IPv6 has no host there */

struct query {
    uint64_t token;
    uint64_t stamp; /* durable_seq loaded after the request was read: run when applied >= stamp */
    uint64_t received_ticks;
    uint64_t account_id;
    uint32_t subaccount_index; /* of lists: a filter, QUERY_ANY_INDEX for none */
    uint32_t portfolio_index;
    int32_t pin;    /* of the credential; -1 = none */
    uint32_t limit; /* rows of a page, or QUERY_NO_LIMIT; levels or orders a side of a book */
    union {
        uint8_t id[16];
        struct { /* payments, rates: of the hour; cash: of the row; candles: their begin; both
                    inclusive */
            uint64_t start_ns; /* candles: QUERY_NO_START for the newest */
            uint64_t end_ns;
        };
    };
    union {
        char market[QUERY_MARKET_BYTES];            /* zero-padded symbol; empty: no filter */
        uint8_t token_hash[QUERY_TOKEN_HASH_BYTES]; /* pairings: the keyed hash of the token */
    };
    uint16_t kind;    /* enum query_kind */
    uint8_t status;   /* orders, withdrawals; cash: kind; a filter, QUERY_ANY_STATUS for none */
    uint8_t interval; /* candles: enum row_interval */
    union {
        uint32_t before_index;  /* with before_sequence */
        uint32_t payload_bytes; /* pairings */
    };
    union {
        struct {
            uint64_t before_sequence; /* pages: only rows with a lower (sequence, index); 0: all;
                                         private_events, trades_after: the seq that they
                                         follow */
            uint64_t offset; /* pages, lists: rows to pass over; private_events: the sequence
                                by which the first has happened, UINT64_MAX: not known */
        };
        const uint8_t *payload; /* pairings: what the request brings; the net thread keeps it
                                   unchanged until it has the reply */
    };
    uint64_t address; /* of the client (rate_limit.h), or QUERY_ADMIN_ADDRESS: of admin.listen */
};

static_assert(sizeof(struct query) == MESSAGE_SLOT_BYTES, "one slot");

enum { REPLY_NO_BUFFER = 0xFFFF, REPLY_BUFFERS = 64, REPLY_BUFFER_BYTES = 512 * 1024 };

enum { QUERY_POSITIONS_MAX = 2730 }; /* rows of positions that fit a buffer */

/* What PROBLEM_not_ready means in a reply. */
enum reply_cause {
    REPLY_POOL_EMPTY,
    REPLY_LAG,      /* the follower is lag_ms behind */
    REPLY_LONG,     /* the address has too many queries that need several turns */
    REPLY_NOT_KEPT, /* the answer lies beyond the rows kept in memory: those from kept_from on */
};

/* And PROBLEM_rate_limited: whose pairings are so many that one more must wait. */
enum reply_owner {
    REPLY_OF_ACCOUNT,
    REPLY_OF_CLASS, /* the account's class and those below it (share_list.h) */
    REPLY_OF_ADDRESS,
};

struct reply {
    uint64_t token;
    uint64_t applied; /* X-Sequence: the sequence the rows show */
    uint64_t time_ns; /* its engine time */
    uint64_t received_ticks;
    uint64_t lag_ms;    /* with REPLY_LAG; with rate_limited: until it may succeed */
    uint64_t kept_from; /* sequence, with REPLY_NOT_KEPT */
    uint32_t row_bytes; /* used bytes of the buffer */
    uint32_t row_count;
    uint16_t buffer;       /* index in the pool, REPLY_NO_BUFFER for none; net gives it back */
    uint16_t problem;      /* enum problem, 0 = rows */
    uint16_t kind;         /* enum query_kind */
    uint8_t cause;         /* enum reply_cause, with rate_limited enum reply_owner */
    uint8_t more;          /* wrapped lists: 1 when rows follow the last one */
    uint32_t rows_visited; /* to find the rows, those beside them too */
    uint8_t zero[60];
};

static_assert(sizeof(struct reply) == MESSAGE_SLOT_BYTES, "one slot");

#endif
