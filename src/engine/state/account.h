/* account.h - the table of accounts; owned by the engine.
 *
 * An account's id has its index here, the slot, and the slot's generation (account_id.h). Inside
 * the engine an account is its slot: an id that comes from outside is looked up first. Account 0 is
 * the exchange's own (R1), users start at 1, no id is given twice.
 *
 * Units. Volumes in micro-USDC, times unix ns. */
#ifndef ENGINE_STATE_ACCOUNT_H
#define ENGINE_STATE_ACCOUNT_H

#include "base/account_id.h"
#include "base/compiler.h"
#include "base/status.h"
#include "engine/state/effect_body.h"
#include "engine/state/share.h"
#include "engine/table/free_rows.h"

enum { ACCOUNT_LABEL_BYTES = 32, ACCOUNT_VOLUME_DAYS = 14, ACCOUNT_TIER_BY_VOLUME = 255 };

#define ACCOUNT_MARKETS_ALL UINT16_MAX
#define ACCOUNT_DAY_NS      (UINT64_C(86400) * 1000000000)
#define ACCOUNT_FAUCET_MAX  (INT64_C(100000) * 1000000) /* test money in 24 h (W7), micro-USDC */

/* clang-format off */
/*    status   may become */
#define ACCOUNT_STATUS_LIST(X)                                                                       \
    X(ACTIVE,  TO(CLOSED))                                                                         \
    X(CLOSED,  TO(FREE))                                                                           \
    X(FREE,    TO(ACTIVE)) /* nobody's, until another one gets the slot (account_give_back) */
/* clang-format on */

enum account_status {
#define X(name, next) ACCOUNT_##name,
    ACCOUNT_STATUS_LIST(X)
#undef X
        ACCOUNT_STATUS_COUNT
};

/* The first line is what orders and fills touch, but for the day's bucket of `volume`. */
struct account {
    uint32_t volume_day;   /* UTC day of the newest bucket; 0: none yet */
    uint8_t status;        /* enum account_status */
    uint8_t fee_tier;      /* in force: tier_override, or the volume's */
    uint8_t volume_tier;   /* that the volume made */
    uint8_t tier_override; /* of operator 1009, ACCOUNT_TIER_BY_VOLUME: none */
    bool suspended;        /* by operator 1005 */
    bool cancel_queued;    /* its cancellation list is in the queue (account_list.h) ... */
    uint8_t share_class;   /* enum share_class */
    bool has_many;         /* it has had more than one portfolio */
    uint32_t generation;   /* of its slot, of which others may have had it (account_id.h) */
    int128 cash;           /* of its portfolios */
    uint64_t private_seq;  /* of its newest private event (W9, private_event.h) */
    uint32_t counts[SHARE_TABLE_COUNT]; /* its rows in each table (share.h), dead orders too */
    uint32_t signer_hint;               /* credential that signed last: tried before the map */
    uint16_t cancel_market;             /* ... for this market, or ACCOUNT_MARKETS_ALL; ... */
    uint8_t zero[2];
    uint32_t portfolio_head;
    uint64_t walk_paid_ns; /* until then it pays for refused walks (walk_debt.h); of account 0:
                                 all unfunded accounts together */
    uint32_t subaccount_count;
    uint32_t api_key_count;   /* live */
    uint32_t credential_head; /* its sessions and API keys, all live ones (credential.h) */
    uint32_t portfolio_tail;  /* portfolios in order of creation */
    uint32_t subaccount_head; /* its subaccount 0 (subaccount.h) */
    uint32_t master_head;     /* its live master keys, oldest first (credential.h) */
    uint64_t faucet_ns;       /* t of the first credit of the faucet's 24 h (W7), 0: none */
    int64_t faucet_amount;    /* credited since then */
    uint64_t volume[ACCOUNT_VOLUME_DAYS]; /* by UTC day mod 14 (R6) */
    uint64_t created_sequence;
    uint64_t created_ns;
    uint8_t label[ACCOUNT_LABEL_BYTES];
    uint64_t cancel_sequence;   /* ... stamp: older orders are dead; ... */
    uint32_t cancel_subaccount; /* ... where it goes on */
    uint32_t cancel_portfolio;
    int64_t net_deposits;  /* over its life: deposits, faucet, less withdrawals requested (R10) */
    int64_t funding;       /* the larger of that and cash when either was last moved (W8, slots) */
    uint64_t unfunded_ns;  /* t at which it was made, last became unfunded, or was passed over */
    uint32_t ended_head;   /* its credentials that are not live and still kept (credential.h) */
    uint32_t holding_head; /* of more than one portfolio: its holdings (account_position.h) */
    uint8_t pad[32];
};

static_assert(sizeof(struct account) == 6 * CC_CACHE_LINE, "rows stay on lines");
static_assert(offsetof(struct account, counts[SHARE_positions + 1]) == CC_CACHE_LINE,
              "orders and fills touch one line, and what they make and free is counted there");

/* clang-format off */
#define ACCOUNT_FIELDS(X) \
    X(created_sequence) X(created_ns) X(label) X(volume) X(volume_day) X(subaccount_count) \
    X(api_key_count) X(status) X(fee_tier) X(tier_override) X(suspended) X(faucet_ns) \
    X(faucet_amount) X(volume_tier) X(net_deposits) X(private_seq) X(funding) X(generation) \
    X(unfunded_ns) X(walk_paid_ns)
#define ACCOUNT_FIELDS_6(X) \
    X(created_sequence) X(created_ns) X(label) X(volume) X(volume_day) X(subaccount_count) \
    X(api_key_count) X(status) X(fee_tier) X(tier_override) X(suspended) X(faucet_ns) \
    X(faucet_amount) X(volume_tier) X(net_deposits) X(private_seq) X(funding) X(generation) \
    X(unfunded_ns)
#define ACCOUNT_FIELDS_5(X) \
    X(created_sequence) X(created_ns) X(label) X(volume) X(volume_day) X(subaccount_count) \
    X(api_key_count) X(status) X(fee_tier) X(tier_override) X(suspended) X(faucet_ns) \
    X(faucet_amount) X(volume_tier) X(net_deposits) X(private_seq) X(funding)
#define ACCOUNT_FIELDS_4(X) \
    X(created_sequence) X(created_ns) X(label) X(volume) X(volume_day) X(subaccount_count) \
    X(api_key_count) X(status) X(fee_tier) X(tier_override) X(suspended) X(faucet_ns) \
    X(faucet_amount) X(volume_tier) X(net_deposits) X(private_seq)
#define ACCOUNT_FIELDS_3(X) \
    X(created_sequence) X(created_ns) X(label) X(volume) X(volume_day) X(subaccount_count) \
    X(api_key_count) X(status) X(fee_tier) X(tier_override) X(suspended) X(faucet_ns) \
    X(faucet_amount) X(volume_tier) X(net_deposits)
#define ACCOUNT_FIELDS_2(X) \
    X(created_sequence) X(created_ns) X(label) X(volume) X(volume_day) X(subaccount_count) \
    X(api_key_count) X(status) X(fee_tier) X(tier_override) X(suspended) X(faucet_ns) \
    X(faucet_amount) X(volume_tier)
#define ACCOUNT_FIELDS_1(X) \
    X(created_sequence) X(created_ns) X(label) X(volume) X(volume_day) X(subaccount_count) \
    X(api_key_count) X(status) X(fee_tier)
#define ACCOUNT_CACHES(X) \
    X(credential_head) X(portfolio_head) X(portfolio_tail) X(signer_hint) X(subaccount_head) \
    X(cancel_queued) X(cancel_market) X(cancel_sequence) X(cancel_subaccount) \
    X(cancel_portfolio) X(master_head) X(counts) X(share_class) X(has_many) X(cash) X(zero) \
    X(ended_head) X(holding_head) X(pad)
/* clang-format on */

/* The UTC day of t. */
static inline uint32_t account_day(uint64_t t_ns)
{
    return (uint32_t)(t_ns / ACCOUNT_DAY_NS);
}

/* The only writer of a status after the creation. The table must allow the move (INVARIANT). */
static inline void account_move(struct account *account, enum account_status next)
{
#define TO(name)               (1u << ACCOUNT_##name)
#define X(name, next_statuses) next_statuses,
    static const uint8_t allowed[ACCOUNT_STATUS_COUNT] = { ACCOUNT_STATUS_LIST(X) };
#undef X
#undef TO

    INVARIANT(account->status < ACCOUNT_STATUS_COUNT);
    INVARIANT((allowed[account->status] >> next & 1u) != 0);
    account->status = (uint8_t)next;
}

struct account_table {
    struct account *rows; /* [slots] */
    uint32_t slots;       /* laid out */
    uint32_t limit;       /* may be used (engine.accounts) */
    uint32_t count;       /* in use or FREE, account 0 included */
    struct free_rows free;
    struct timer_heap unfunded; /* those of the class, but account 0: by unfunded_ns, slot */
};

struct engine;
struct image_read;
struct command;
struct engine_result;

#define ACCOUNT_NONE UINT32_MAX

/* The slot of the account, or ACCOUNT_NONE when the id is unknown. Account 0 and CLOSED ones are
 * found as well. */
CC_MUST_USE uint32_t account_find(const struct engine *engine, uint64_t account_id);

size_t account_table_bytes(uint32_t slots);
void account_table_init(struct account_table *table, void *memory, uint32_t slots);

/* Whether there is room for an account with its subaccount, portfolio, master key and session, in
 * the shares of an account that has brought in nothing. */
CC_MUST_USE bool account_fits(const struct engine *engine);

/* A new account with its subaccount 0 and portfolio 0 "Main" (R10); it fits. Gives its id. */
uint32_t account_add(struct engine *engine, const uint8_t label[ACCOUNT_LABEL_BYTES]);

/* Makes the slot of an account that has no rows left FREE, for another one: the id is nobody's. */
void account_give_back(struct engine *engine, uint32_t id);

/* An unfunded account that may not be taken (reclaim.h) goes after all others. */
void account_pass_over(struct engine *engine, uint32_t id);

/* 2119 of an account as it now is. */
void account_emit(struct engine *engine, uint32_t id, enum effect_account_what what);

/* account_add, and the effect 2119 that says so. */
uint32_t account_create(struct engine *engine, const uint8_t label[ACCOUNT_LABEL_BYTES]);

/* Code 32 after row suspended. Costs what its sessions and API keys do. */
CC_MUST_USE enum status account_close(struct engine *engine, const struct command *command,
                                      struct engine_result *result);

/* Code 1005. */
CC_MUST_USE enum status account_suspend(struct engine *engine, const struct command *command,
                                        struct engine_result *result);

/* Section 3 of an image: the accounts, as yet without portfolios, sessions and keys. */
CC_MUST_USE bool account_load(struct engine *engine, struct image_read *read);

#endif
