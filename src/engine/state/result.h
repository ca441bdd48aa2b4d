/* result.h - the result of a command: status, ids and evidence. The node makes the answer of it.
 *
 * Units. Times unix ns, amounts micro-USDC, prices and quantities raw. */
#ifndef ENGINE_STATE_RESULT_H
#define ENGINE_STATE_RESULT_H

#include "base/compiler.h"
#include "base/message.h"
#include "base/operator_rule.h"
#include "base/reason.h"
#include "base/status.h"

struct engine_result {
    uint64_t sequence; /* 0: refused before it was sequenced */
    uint64_t processed_at_ns;
    uint64_t account_id; /* valid with ANSWER_HAS_ACCOUNT; the others likewise */
    uint64_t expires_at_ns;
    uint64_t original_processed_at_ns;
    uint64_t retry_after_ms; /* of rejected_rate_limited */
    uint64_t remaining;      /* evidence (evidence.h); raw quantities and prices, micro-USDC */
    uint64_t filled;
    uint64_t filled_notional;
    uint64_t quantity_ahead;
    uint64_t book_handle; /* 0: the order does not rest */
    uint64_t best_bid;
    uint64_t best_ask;
    uint64_t book_seq;
    uint8_t id[16];
    uint8_t status; /* enum status */
    uint8_t reason; /* enum reason */
    uint8_t rule;   /* enum operator_rule: what a refused 10, 1001, 1002, 1004 or 1008 breaks */
    uint8_t original_status;
    uint8_t members;      /* enum answer_member bits */
    uint8_t order_status; /* enum order_state */
    uint8_t price_decimals;
    uint8_t item_count;   /* of a batch: number of `results`; 0: it was refused before its items */
    bool sign_count_fell; /* a passkey's; counted, no refusal */
    uint32_t subaccount_index; /* valid with ANSWER_HAS_INDEXES */
    uint32_t portfolio_index;
    uint8_t results[MESSAGE_ITEMS_MAX]; /* enum status of each item */
};

/* Notes the rule that an operator's command breaks. Returns its status. */
CC_MUST_USE static inline enum status result_refuse(struct engine_result *result,
                                                    enum operator_rule rule, enum status status)
{
    result->rule = (uint8_t)rule;
    return status;
}

#endif
