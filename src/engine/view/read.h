/* read.h - views of the state for reads: rows of base/row.h as of the last applied command.
 *
 * Called by the thread that owns the engine (the follower) between commands. Nothing is settled or
 * changed; an order that is dead at the engine's t is shown as it will end (R3). */
#ifndef ENGINE_VIEW_READ_H
#define ENGINE_VIEW_READ_H

#include "base/compiler.h"
#include "base/query_message.h"
#include "base/row.h"

struct engine;

/* What a list is asked for; a pinned key's subaccount is the caller's to put in. */
struct read_filter {
    uint64_t account_id;
    uint32_t subaccount_index;       /* QUERY_ANY_INDEX: every one */
    uint32_t portfolio_index;        /* likewise */
    char market[QUERY_MARKET_BYTES]; /* zero-padded symbol; empty: every one */
    uint8_t status;                  /* orders: order_status number, or QUERY_ANY_STATUS */
};

static inline bool read_filter_admits(const struct read_filter *filter, uint32_t subaccount_index,
                                      uint32_t portfolio_index)
{
    return (filter->subaccount_index == QUERY_ANY_INDEX ||
            filter->subaccount_index == subaccount_index) &&
           (filter->portfolio_index == QUERY_ANY_INDEX ||
            filter->portfolio_index == portfolio_index);
}

/* A live order by (account, id); pin >= 0: only of that subaccount. False: there is none. */
CC_MUST_USE bool read_order(const struct engine *engine, uint64_t account_id, const uint8_t id[16],
                            int32_t pin, struct row_order *row);

/* The row of an order in the table: `record` of effects 2101, 2102, 2107 while they are told. */
void read_order_record(const struct engine *engine, uint32_t order, struct row_order *row);

/* The row of an order in the table as a read shows it: a dead one as it will end. */
void read_order_shown(const struct engine *engine, uint32_t order, struct row_order *row);

/* False: no such portfolio. */
CC_MUST_USE bool read_balance(const struct engine *engine, uint64_t account_id,
                              uint32_t subaccount_index, uint32_t portfolio_index,
                              struct row_balance *row);

/* The first portfolio of the account at or behind (*subaccount_index, *portfolio_index), in that
 * order; CLOSED ones are found as well. False: there is none. */
CC_MUST_USE bool read_portfolio_from(const struct engine *engine, uint64_t account_id,
                                     uint32_t *subaccount_index, uint32_t *portfolio_index);

/* False: no such subaccount; they are dense from 0. */
CC_MUST_USE bool read_subaccount(const struct engine *engine, uint64_t account_id,
                                 uint32_t subaccount_index, struct row_subaccount *row);

/* False: no such account. */
CC_MUST_USE bool read_account(const struct engine *engine, uint64_t account_id,
                              struct row_account *row);

uint32_t read_market_count(const struct engine *engine);

/* The k-th market in ascending asset id, k < read_market_count. */
void read_market(const struct engine *engine, uint32_t k, struct row_market *row);

/* False: no market of that zero-padded symbol. */
CC_MUST_USE bool read_market_named(const struct engine *engine, const char symbol[32],
                                   struct row_market *row);

/* Whether the record that a 1001 body makes is the one in force (or waiting for its time) of the
 * market of its asset id; its first state does not count. `text` parses (market_record.h). */
CC_MUST_USE bool read_market_is(const struct engine *engine, const uint8_t *text,
                                size_t text_bytes);

/* Book of a market: *row, then up to `depth` bids and asks in `levels` (room for 2 * depth), best
 * first. False: no such market. */
CC_MUST_USE bool read_book(const struct engine *engine, const char symbol[32], uint32_t depth,
                           struct row_book *row, struct row_level *levels);

/* A credential by its table index (`record` of effect 2118). */
struct read_credential {
    uint64_t account_id;
    uint64_t expires_ns; /* UINT64_MAX: never */
    int32_t pin;
    uint8_t kind; /* enum effect_credential_kind */
    uint8_t scope;
    uint8_t key_bytes; /* 32 or 33 */
    uint8_t zero;
    uint8_t key[33];
    uint8_t id[16]; /* not of master keys */
};
void read_credential(const struct engine *engine, uint32_t credential,
                     struct read_credential *view);

/* The next live credential in order of creation; *cursor is 0 at first, and not touched between.
 * False behind the last. For a start: the keyring is filled from these. */
CC_MUST_USE bool read_credential_at(const struct engine *engine, uint32_t *cursor,
                                    struct read_credential *view);

#endif
