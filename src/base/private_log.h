/* private_log.h - private events of accounts for streams (wire.md W9): one writer, any number of
 * readers that it never waits for.
 *
 *   recovery, follower ── private_log_add ──> lane of the account: its newest events by seq
 *                                                  └── private_log_read <── net threads
 *
 * An event is found by (account, seq): a lane has one slot for each seq modulo its length, and the
 * accounts of a lane overwrite each other's. An account with many events so shortens what those of
 * its lane can resume, and no other's.
 *
 * Order. A slot is a sequence lock: the writer makes its version odd, writes, makes it even. A
 *        reader copies between two equal even versions, and then compares account and seq.
 *        private_log_newest is stored after the slot.
 * Wait.  Nothing blocks or retries. A reader that is too slow loses events, never the writer.
 * Owner. The writer is one thread at a time, recovery before the follower; any thread reads.
 * Bound. PRIVATE_LOG_LANES lanes of PRIVATE_LOG_LANE events, and a number for each account; pages
 *        are touched as events come. */
#ifndef BASE_PRIVATE_LOG_H
#define BASE_PRIVATE_LOG_H

#include "base/account_id.h"
#include "base/row.h"
#include "base/row_history.h"

enum { PRIVATE_LOG_LANES = 16, PRIVATE_LOG_LANE = 16384, PRIVATE_LOG_WORDS = 34 };

/* The events of J9, in its order. */
enum private_kind {
    PRIVATE_ORDER,
    PRIVATE_FILL,
    PRIVATE_POSITION,
    PRIVATE_BALANCE,
    PRIVATE_FUNDING,
    PRIVATE_TRANSFER,
    PRIVATE_LIQUIDATION,
    PRIVATE_MMP,
    PRIVATE_SESSION,
};

struct private_order {
    struct row_order row;
    uint8_t request_id[16]; /* all zero: derived */
};

struct private_position {
    uint8_t id[16]; /* with a size */
    char market[32];
    int64_t size; /* signed; 0: closed */
    int64_t cost;
    int64_t net_funding;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero[6];
};

enum private_transfer_kind {
    PRIVATE_TRANSFER_BETWEEN,
    PRIVATE_TRANSFER_DEPOSIT,
    PRIVATE_TRANSFER_FAUCET,
    PRIVATE_TRANSFER_WITHDRAWAL,
    PRIVATE_TRANSFER_SETTLED,
    PRIVATE_TRANSFER_REVERTED,
};

/* PRIVATE_OUTSIDE as an index: not a portfolio of the exchange. */
#define PRIVATE_OUTSIDE UINT32_MAX

struct private_transfer {
    uint8_t withdrawal_id[16]; /* of the last three kinds */
    int64_t amount;
    uint32_t from_subaccount, from_portfolio;
    uint32_t to_subaccount, to_portfolio;
    uint8_t kind; /* enum private_transfer_kind */
    uint8_t zero[7];
};

struct private_liquidation {
    int128 equity;
    int128 maintenance;
    char market[32]; /* empty: a change of the status alone, as the next four */
    uint64_t price;
    int64_t size;
    uint8_t status; /* of the portfolio: 0 ACTIVE, 1 IN_LIQUIDATION */
    uint8_t level;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero[12];
};

struct private_mmp {
    char market[32];
    uint64_t frozen_until_ns; /* 0: not frozen, UINT64_MAX: until it is reset */
};

struct private_session {
    uint8_t id[16];
    uint8_t key[33];
    uint8_t kind;   /* session, api_key, device_key, master_key (wire.md W3c) */
    uint8_t action; /* added, removed, expired */
    uint8_t zero[5];
};

/* An event with what its JSON needs. Those of a portfolio name it here; of a session event both
 * indexes are PRIVATE_OUTSIDE. */
struct private_event {
    uint64_t account_id;
    uint64_t seq;      /* of the account */
    uint64_t sequence; /* of its command */
    uint64_t time_ns;  /* of that, unix ns */
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t kind; /* enum private_kind */
    uint8_t zero[7];
    union {
        struct private_order order;
        struct row_fill fill;
        struct private_position position;
        struct row_cash cash;
        struct row_payment payment;
        struct private_transfer transfer;
        struct private_liquidation liquidation;
        struct private_mmp mmp;
        struct private_session session;
    };
};

static_assert(sizeof(struct private_event) == PRIVATE_LOG_WORDS * sizeof(uint64_t), "whole words");

struct private_log {
    struct private_log_slot *slots; /* NULL: before private_log_init */
    _Atomic uint64_t *newest;       /* [account_count], seq of the newest event here; 0: none */
    uint64_t account_count;
    CC_NO_SHARE _Atomic uint64_t count;
};

/* Makes an empty log for account ids below account_count; one that was made before is freed. 0 or
 * -ENOMEM. The log must be all zeros before the first time, and has no reader. */
CC_MUST_USE int private_log_init(struct private_log *log, uint64_t account_count);
void private_log_free(struct private_log *log);

/* Adds an event. Those of an account come with ascending seq. */
void private_log_add(struct private_log *log, const struct private_event *event);

/* How many events were ever added. */
CC_MUST_USE static inline uint64_t private_log_count(const struct private_log *log)
{
    return atomic_load_explicit(&log->count, memory_order_acquire); /* pairs: private_log_add */
}

/* Seq of the newest event of an account that was added; 0: none. */
CC_MUST_USE static inline uint64_t private_log_newest(const struct private_log *log,
                                                      uint64_t account_id)
{
    INVARIANT(account_id_slot(account_id) < log->account_count);
    return atomic_load_explicit(&log->newest[account_id_slot(account_id)],
                                memory_order_acquire); /* pairs: private_log_add */
}

/* Copies an event. False: it is not there (any more). */
CC_MUST_USE bool private_log_read(const struct private_log *log, uint64_t account_id, uint64_t seq,
                                  struct private_event *event);

/* Gives the lowest seq from which on the events up to `newest` are there, as far as those of other
 * accounts have not made holes: newest + 1 when it is not there itself. */
CC_MUST_USE uint64_t private_log_oldest(const struct private_log *log, uint64_t account_id,
                                        uint64_t newest);

#endif
