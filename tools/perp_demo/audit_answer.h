/* audit_answer.h - GET /audit as numbers, and the comparison of it with the demo's own books.
 *
 * Units. micro-USDC; sizes raw of their market. */
#ifndef PERP_DEMO_AUDIT_ANSWER_H
#define PERP_DEMO_AUDIT_ANSWER_H

#include "perp/request/client.h"
#include "perp/request/instrument.h"
#include "perp_demo/listing.h"

#define AUDIT_TOTAL_LIST(X) \
    X(cash)                 \
    X(cost)                 \
    X(fee_account)          \
    X(withdrawals_pending) X(funding_pool) X(deposits) X(faucet) X(top_ups) X(withdrawals_settled)

enum { AUDIT_INVARIANTS = 6 };

struct audit_answer {
    uint64_t sequence;
#define X(name) int64_t name;
    AUDIT_TOTAL_LIST(X)
#undef X
    struct {
        int64_t size_sum, cost_sum;
        bool book_empty;
    } markets[LISTING_MARKETS];
    bool holds[AUDIT_INVARIANTS]; /* i1..i6 as the exchange says */
    int64_t recount_differences;
};

/* Asks the admin listener. False: a message was printed. */
CC_MUST_USE bool audit_answer_read(struct audit_answer *audit, struct client *admin,
                                   const struct instrument records[LISTING_MARKETS]);

/* I2 from the terms: what came in is what is there. */
bool audit_answer_balances(const struct audit_answer *audit);

#endif
