/* read.h - the state as rows of base/row.h, as of the last applied command.
 *
 * The thread that owns the engine (the follower) calls these functions between commands. They
 * change nothing. An order that is dead at the engine's t is shown as it will end (R3). The caller
 * owns the rows; a function that returns false leaves *row unspecified. */
#ifndef ENGINE_VIEW_READ_H
#define ENGINE_VIEW_READ_H

#include "base/compiler.h"
#include "base/query_message.h"
#include "base/row.h"

struct engine;
struct engine_sink;

/* The filter of a list. For a pinned key the caller sets the subaccount of the pin. */
struct read_filter {
    uint64_t account_id;
    uint32_t subaccount_index;       /* QUERY_ANY_INDEX: all */
    uint32_t portfolio_index;        /* likewise */
    char market[QUERY_MARKET_BYTES]; /* zero-padded symbol; empty: all */
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

/* Shows a live order by (account, id); with pin >= 0 only an order of that subaccount. False: there
 * is none. */
CC_MUST_USE bool read_order(const struct engine *engine, uint64_t account_id, const uint8_t id[16],
                            int32_t pin, struct row_order *row);

/* Shows an order of the table as it is. `order` is the `record` of the effects 2101, 2102 and 2107,
 * valid while they are emitted. */
void read_order_record(const struct engine *engine, uint32_t order, struct row_order *row);

/* Shows the `record` of a 2107 as a row of a book: its handle, and what is left of its size. The
 * price is the effect's. */
void read_order_queued(const struct engine *engine, uint32_t order, struct row_book_order *row);

/* Shows an order of the table as a read does: a dead order as it will end. */
void read_order_shown(const struct engine *engine, uint32_t order, struct row_order *row);

/* Shows the cash, equity and margin of a portfolio. False: no such portfolio. */
CC_MUST_USE bool read_balance(const struct engine *engine, uint64_t account_id,
                              uint32_t subaccount_index, uint32_t portfolio_index,
                              struct row_balance *row);

/* Moves the two indexes to the first portfolio of the account from there on, by subaccount, then
 * portfolio. CLOSED portfolios count too. False: there is none. */
CC_MUST_USE bool read_portfolio_from(const struct engine *engine, uint64_t account_id,
                                     uint32_t *subaccount_index, uint32_t *portfolio_index);

/* Shows a subaccount without its portfolios; the indexes are dense from 0. False: no such
 * subaccount. */
CC_MUST_USE bool read_subaccount_begin(const struct engine *engine, uint64_t account_id,
                                       uint32_t subaccount_index, struct row_subaccount *row);

/* Adds `most` of its portfolios to the row, CLOSED ones count too, from *portfolio_index on, which
 * moves behind them. Returns how many are left. */
CC_MUST_USE uint32_t read_subaccount_add(const struct engine *engine, uint64_t account_id,
                                         uint32_t *portfolio_index, uint32_t most,
                                         struct row_subaccount *row);

/* Shows an account with its fee tier. False: no such account. */
CC_MUST_USE bool read_account(const struct engine *engine, uint64_t account_id,
                              struct row_account *row);

/* The id of the account that is at number `slot` of the table, from 0 without a gap. False: so many
 * there are not. */
CC_MUST_USE bool read_account_at(const struct engine *engine, uint32_t slot, uint64_t *account_id);

/* Whether the slot of this id is another account's. */
CC_MUST_USE bool read_account_has_gone(const struct engine *engine, uint64_t account_id);

/* Gives the sink (classify) the class of every account. */
void read_classes(const struct engine *engine, struct engine_sink *sink);

/* The seq of an account's newest private event (W9): while an effect that is one is emitted, its
 * own. The account exists. */
CC_MUST_USE uint64_t read_private_seq(const struct engine *engine, uint64_t account_id);

/* Returns the number of markets, CLOSED ones too. */
uint32_t read_market_count(const struct engine *engine);

/* Shows the k-th market in ascending asset id, k < read_market_count. */
void read_market(const struct engine *engine, uint32_t k, struct row_market *row);

/* Shows the market with this zero-padded symbol. False: there is none. */
CC_MUST_USE bool read_market_named(const struct engine *engine, const char symbol[32],
                                   struct row_market *row);

/* Returns the state of the k-th market in ascending asset id. For a market with an oracle hold it
 * is the state after the hold (R5), while the clock has a gap that after the gap (R9). */
uint8_t read_market_state(const struct engine *engine, uint32_t k);

/* What an operator watches of a market. */
struct read_market_health {
    char symbol[32];     /* zero-padded */
    uint64_t publish_ns; /* of the index price; 0: none was, or the market is CLOSED */
    uint16_t asset_id;
    uint8_t state; /* as read_market_state */
    bool is_mark_valid;
};

/* Shows it of the k-th market in ascending asset id. */
void read_market_health(const struct engine *engine, uint32_t k, struct read_market_health *health);

/* Shows mark, index and premium of the market with this zero-padded symbol. False: no market. */
CC_MUST_USE bool read_mark(const struct engine *engine, const char symbol[32],
                           struct row_mark *row);

/* Sets the full hour (unix ns) and the index price of a market's last funding epoch. The asset
 * exists. */
void read_funding_epoch(const struct engine *engine, uint16_t asset_id, uint64_t *hour_ns,
                        uint64_t *index_price);

/* True if the body of code 1001 defines the market of its asset id as it is now, with the tiers
 * that wait for their time. The first state and the time of the tiers do not count. False too if
 * `text` does not parse (market_record.h). */
CC_MUST_USE bool read_market_is(const struct engine *engine, const uint8_t *text,
                                size_t text_bytes);

/* The sequence of a market's public events (W9); 0: there is no such market. */
CC_MUST_USE uint64_t read_book_seq(const struct engine *engine, uint16_t asset_id);

/* Shows the book of a market. `levels` has room for 2 * depth: up to `depth` bids, then up to
 * `depth` asks, best first. False: no such market. */
CC_MUST_USE bool read_book(const struct engine *engine, const char symbol[32], uint32_t depth,
                           struct row_book *row, struct row_level *levels);

/* Shows the single orders of a book, dead ones too as in its levels (R3). `orders` has room for
 * 2 * limit: up to `limit` bids, then up to `limit` asks, best first, each level in the order of
 * its queue; row->bid_count and ask_count count them. False: no such market. */
CC_MUST_USE bool read_book_orders(const struct engine *engine, const char symbol[32],
                                  uint32_t limit, struct row_book *row,
                                  struct row_book_order *orders);

/* Sets the cash of the insurance fund 0/0/0 and of the fee account (micro-USDC). */
void read_house(const struct engine *engine, int64_t *fund, int64_t *fees);

/* Returns how many portfolios the engine has room for, 0/0/0 included. */
CC_MUST_USE uint32_t read_portfolio_slots(const struct engine *engine);

/* Returns what portfolios IN_LIQUIDATION owe (I9), micro-USDC. */
CC_MUST_USE int128 read_owed(const struct engine *engine);

/* Returns what the exchange has beyond what it owes (R2, solvency), micro-USDC; below 0: short. */
CC_MUST_USE int128 read_solvency(const struct engine *engine);

/* Returns the claims of R2's solvency: the sum of max(0, cash) of all portfolios but 0/0/0. Visits
 * each of them. */
CC_MUST_USE int128 read_claims(const struct engine *engine);

/* Returns the number of items of deferred work. */
uint32_t read_work_count(const struct engine *engine);

/* Returns the number of pending withdrawals. *amount gets their sum (micro-USDC). */
uint32_t read_withdrawals_pending(const struct engine *engine, int64_t *amount);

/* A credential as the node's keyring and the lists need it. */
struct read_credential {
    uint64_t account_id;
    uint64_t expires_ns; /* UINT64_MAX: never */
    int32_t pin;
    uint8_t kind; /* enum effect_credential_kind */
    uint8_t scope;
    uint8_t key_bytes; /* 32 or 33 */
    bool is_admin;     /* a master key that manages keys */
    uint8_t key[33];
    uint8_t id[16]; /* master keys have none */
    uint64_t created_ns;
    const uint8_t *passkey_id; /* of a master key that is a passkey, else NULL */
    uint16_t passkey_id_bytes;
};
/* Shows a credential by its table index (`record` of effect 2118). */
void read_credential(const struct engine *engine, uint32_t credential,
                     struct read_credential *view);

/* Shows the next live credential in order of creation, without the master keys of CLOSED accounts,
 * which sign nothing any more. *cursor starts at 0; the caller does not change it between calls.
 * False after the last. At a start the node fills its keyring with it. */
CC_MUST_USE bool read_credential_at(const struct engine *engine, uint32_t *cursor,
                                    struct read_credential *view);

/* The same of the master keys of an account that exists, CLOSED or not, oldest first. */
CC_MUST_USE bool read_master_key_at(const struct engine *engine, uint64_t account_id,
                                    uint32_t *cursor, struct read_credential *view);

#endif
