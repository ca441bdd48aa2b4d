#include "perp/request/outcome.h"

#include <stdio.h>

#include "base/json_scan.h"
#include "perp/request/binary_ack.h"

/* clang-format off */
/*    status or problem code, what to look at */
#define HINT_LIST(X) \
    X(duplicate_request_id, \
      "this request id was used before; nothing was done a second time; without --ack binary the " \
      "answer says how it ended") \
    X(request_dropped, \
      "the exchange is busy or the id is too old; nothing was done: send it again with a " \
      "new id") \
    X(retry_required, \
      "the exchange is not ready; nothing was done: send it again with the same --id") \
    X(rejected_unauthorized, \
      "the key is unknown, expired or revoked for this account, or may not sign this " \
      "request: check --account and the key file") \
    X(rejected_rate_limited, \
      "too many requests of this account; wait and send it again") \
    X(order_rejected_invalid, \
      "a field has a value that is not allowed; --explain shows every byte") \
    X(order_rejected_expired, \
      "the time in the request has passed; for oracle prices it must be newer than the last" \
      " one") \
    X(order_rejected_internal, \
      "a table of the exchange is full or a bound was met; nothing was changed") \
    X(rejected_invalid_portfolio_id, \
      "account, subaccount or portfolio does not exist or is closed: check --account, " \
      "--subaccount, --portfolio") \
    X(rejected_invalid_price, \
      "the price must be a multiple of the tick, at most the market's max_price and inside " \
      "the price band around the mark: perp markets") \
    X(rejected_invalid_size, \
      "the size must be a multiple of the lot, between min_size and max_order_size, and " \
      "worth at least min_notional: perp markets") \
    X(rejected_order_not_found, \
      "no such live order in this portfolio and market: perp orders --open") \
    X(rejected_size_zero, \
      "a size of nothing: to take all of an order away use perp cancel") \
    X(rejected_size_not_equal, \
      "the order has another remaining size than was expected; nothing was changed: perp show") \
    X(rejected_slippage_exceeds_maximum, \
      "the book is thinner than the slippage allows, or the slippage is above the market's " \
      "max_slippage_ppm: perp book, perp markets") \
    X(rejected_mark_price_zero, \
      "a market that this portfolio is in has no valid mark price: the oracle is late") \
    X(rejected_invalid_order_flags, \
      "these flags do not go together: post-only needs a time in force that can rest") \
    X(invalid_reduce_only_order, \
      "reduce-only needs a position on the other side, and FOK no more than its size; beside four " \
      "that hold all of it no other may rest: perp orders --open, perp cancel, or --tif IOC") \
    X(self_trade_prevention, \
      "it would have met an order of the same account; --stp says what to do then") \
    X(rejected_max_open_orders_exceeded, \
      "this portfolio has as many resting orders as the exchange allows: perp exchange") \
    X(rejected_post_only_would_cross_book, \
      "post-only, and an order rests at this price or better on the other side") \
    X(rejected_market_not_found, \
      "perp markets lists the markets") \
    X(rejected_market_cancel_only, \
      "the market takes cancels only; after a price jump it opens again by itself") \
    X(insufficient_margin_to_place, \
      "not enough margin for the order to rest: perp balance") \
    X(insufficient_margin_to_trade, \
      "not enough margin for what would trade now: perp balance") \
    X(rejected_f_o_k_not_fully_filled_low_liquidity, \
      "the book does not hold the whole size up to this price") \
    X(rejected_f_o_k_not_fully_filled_insufficient_margin, \
      "not enough margin for the whole size: perp balance") \
    X(session_rejected, \
      "the master key does not belong to this account, or the session key, its life or its " \
      "scope is not allowed") \
    X(master_key_rejected_invalid, \
      "the key is no point of its curve, is a master key already, or is one too many: " \
      "perp masterkey list") \
    X(master_key_rejected_unauthorized, \
      "sign with an admin key of the account: --master-key") \
    X(master_key_rejected_self_removal, \
      "no key removes itself: sign with another admin key") \
    X(master_key_rejected_last_key, \
      "an account keeps an admin key: perp masterkey add makes another first") \
    X(session_not_revoked, \
      "the session of --session-key is unknown, expired or ended before: perp session list") \
    X(session_rejected_max_sessions, \
      "revoke a session or let one expire first") \
    X(creation_rejected, \
      "this master key already owns an account, or a field is not allowed") \
    X(account_created_session_failed, \
      "the account exists, its session does not: perp session create") \
    X(request_timestamp_out_of_window, \
      "the clocks of this machine and of the exchange differ (perp time), or the id is old") \
    X(invalid_signature, \
      "the exchange computed another message or the key is not the one of the signature; " \
      "master keys sign for one exchange id") \
    X(signature_type_mismatch, \
      "this request is signed by the other kind of key") \
    X(invalid_api_key, \
      "make one with: perp apikey create") \
    X(request_type_not_allowed, \
      "this exchange does not take this request here") \
    X(portfolio_not_found, \
      "check --subaccount and --portfolio") \
    X(not_found, \
      "this exchange has nothing there: an unknown market, or a part that it does not have") \
    X(rate_limited, \
      "too many requests from here: wait and send it again") \
    X(invalid_market, \
      "perp markets lists the markets") \
    X(order_not_found, \
      "no such order of this account") \
    X(request_not_found, \
      "not executed so far; when its id is older than the window of request ids it never will be") \
    X(read_only_key, \
      "this key only reads; make one that writes: perp apikey create --scope READ_WRITE") \
    X(subaccount_not_permitted, \
      "this key is pinned to another subaccount: check --subaccount") \
    X(insufficient_free_equity, \
      "not enough margin at that leverage: perp balance, perp positions") \
    X(portfolio_not_active, \
      "the portfolio is closed or in liquidation: perp balances") \
    X(not_ready, \
      "the exchange is starting, its reads are behind, or the rows asked for are older than " \
      "those it keeps")
/* clang-format on */

bool outcome_is_done(const struct outcome *outcome)
{
    uint32_t status = outcome->kind == OUTCOME_DUPLICATE ? outcome->original : outcome->status;
    return (outcome->kind == OUTCOME_ACCEPTED || outcome->kind == OUTCOME_DUPLICATE) &&
           (status == STATUS_request_completed || status == STATUS_session_created ||
            status == STATUS_session_revoked || status == STATUS_account_created_with_session ||
            status == STATUS_account_created_session_failed || status == STATUS_master_key_added ||
            status == STATUS_master_key_removed);
}

static uint32_t find_status(const char *word)
{
    for (uint32_t i = 0; i < STATUS_COUNT; i++) {
        if (strcmp(word, status_name((enum status)i)) == 0)
            return i;
    }
    return STATUS_COUNT;
}

static void copy(char *text, size_t capacity, const struct json_member *member)
{
    ptrdiff_t count = -1;
    text[0] = '\0';
    if (member->kind != JSON_STRING)
        return;
    if (member->value.count < capacity)
        count = json_scan_unescape(&member->value, text, capacity - 1);
    else if (!member->value.escaped) {
        memcpy(text, member->value.text, capacity - 1);
        count = (ptrdiff_t)capacity - 1;
    }
    text[count > 0 ? count : 0] = '\0';
}

static uint64_t number(const struct json_member *member)
{
    uint64_t value = 0;
    return member->kind == JSON_NUMBER && json_scan_uint64(&member->value, &value) ? value : 0;
}

enum {
    STATUS_MEMBER,
    SUCCESS_MEMBER,
    MESSAGE_MEMBER,
    REASON_MEMBER,
    SEQUENCE_MEMBER,
    PROCESSED_MEMBER,
    ORIGINAL_MEMBER,
    ORIGINAL_PROCESSED_MEMBER,
    ACCOUNT_MEMBER,
    API_KEY_MEMBER,
    DEVICE_KEY_MEMBER,
    REVOKED_MEMBER,
    CODE_MEMBER,
    DETAIL_MEMBER,
    FIELD_MEMBER,
    RULE_MEMBER,
    PARAMETER_MEMBER,
    SERVER_TIME_MEMBER,
    MEMBERS
};

static void read_problem(struct outcome *outcome, const struct json_member *members)
{
    outcome->kind = OUTCOME_PROBLEM;
    copy(outcome->word, sizeof outcome->word, &members[CODE_MEMBER]);
    copy(outcome->detail, sizeof outcome->detail, &members[DETAIL_MEMBER]);
    copy(outcome->parameter, sizeof outcome->parameter,
         &members[members[FIELD_MEMBER].kind == JSON_STRING ? FIELD_MEMBER : PARAMETER_MEMBER]);
    outcome->server_time_ms = number(&members[SERVER_TIME_MEMBER]);
}

static void judge(struct outcome *outcome)
{
    outcome->kind = OUTCOME_ACCEPTED;
    if (outcome->status == STATUS_duplicate_request_id)
        outcome->kind = OUTCOME_DUPLICATE;
    else if (!outcome_is_done(outcome))
        outcome->kind = OUTCOME_REJECTED;
}

static void read_write(struct outcome *outcome, const struct json_member *members)
{
    bool success_style = members[SUCCESS_MEMBER].kind != JSON_NONE;
    char original[OUTCOME_TEXT_MAX];
    copy(outcome->word, sizeof outcome->word,
         &members[success_style ? MESSAGE_MEMBER : STATUS_MEMBER]);
    copy(outcome->reason, sizeof outcome->reason, &members[REASON_MEMBER]);
    copy(outcome->parameter, sizeof outcome->parameter, &members[FIELD_MEMBER]);
    copy(outcome->detail, sizeof outcome->detail, &members[RULE_MEMBER]);
    outcome->is_device_key = members[DEVICE_KEY_MEMBER].kind != JSON_NONE;
    copy(outcome->secret, sizeof outcome->secret,
         &members[outcome->is_device_key ? DEVICE_KEY_MEMBER : API_KEY_MEMBER]);
    copy(original, sizeof original, &members[ORIGINAL_MEMBER]);
    outcome->sequence = number(&members[SEQUENCE_MEMBER]);
    outcome->processed_at_ns = number(&members[PROCESSED_MEMBER]);
    outcome->account_id = number(&members[ACCOUNT_MEMBER]);
    outcome->original_processed_at_ns = number(&members[ORIGINAL_PROCESSED_MEMBER]);
    outcome->status = find_status(outcome->word);
    outcome->original = find_status(original);
    judge(outcome);
}

/* W6: the answer of /logout has no status. */
static void read_logout(struct outcome *outcome, bool is_revoked)
{
    outcome->status = is_revoked ? STATUS_session_revoked : STATUS_session_rejected;
    snprintf(outcome->word, sizeof outcome->word, "%s",
             is_revoked ? "session_revoked" : "session_not_revoked");
    judge(outcome);
}

/* The 64 bytes mark a duplicate, but do not have the outcome of the original. */
static void read_binary(struct outcome *outcome, const struct binary_ack *ack)
{
    outcome->status = ack->status;
    outcome->sequence = ack->sequence;
    outcome->processed_at_ns = ack->processed_at_ns;
    snprintf(outcome->word, sizeof outcome->word, "%s", status_name((enum status)ack->status));
    judge(outcome);
}

void outcome_read(struct outcome *outcome, const struct client_answer *answer)
{
    struct json_member members[MEMBERS] = {
        [STATUS_MEMBER] = JSON_MEMBER("status"),
        [SUCCESS_MEMBER] = JSON_MEMBER("success"),
        [MESSAGE_MEMBER] = JSON_MEMBER("message"),
        [REASON_MEMBER] = JSON_MEMBER("reason"),
        [SEQUENCE_MEMBER] = JSON_MEMBER("sequence"),
        [PROCESSED_MEMBER] = JSON_MEMBER("processed_at_ns"),
        [ORIGINAL_MEMBER] = JSON_MEMBER("original_status"),
        [ORIGINAL_PROCESSED_MEMBER] = JSON_MEMBER("original_processed_at_ns"),
        [ACCOUNT_MEMBER] = JSON_MEMBER("account_id"),
        [API_KEY_MEMBER] = JSON_MEMBER("api_key"),
        [DEVICE_KEY_MEMBER] = JSON_MEMBER("device_key"),
        [REVOKED_MEMBER] = JSON_MEMBER("session_revoked"),
        [CODE_MEMBER] = JSON_MEMBER("code"),
        [DETAIL_MEMBER] = JSON_MEMBER("detail"),
        [FIELD_MEMBER] = JSON_MEMBER("field"),
        [RULE_MEMBER] = JSON_MEMBER("rule"),
        [PARAMETER_MEMBER] = JSON_MEMBER("parameter"),
        [SERVER_TIME_MEMBER] = JSON_MEMBER("server_time_ms"),
    };
    *outcome = (struct outcome){ .kind = OUTCOME_UNREADABLE,
                                 .http_status = answer->status,
                                 .status = STATUS_COUNT,
                                 .original = STATUS_COUNT };
    struct binary_ack ack;
    if (answer->status == 200 && answer->is_binary) {
        if (binary_ack_read(&ack, answer->body, answer->body_count))
            read_binary(outcome, &ack);
        return;
    }
    if (json_scan_members(answer->body, answer->body_count, members, MEMBERS, NULL) != JSON_OK)
        return;
    if (answer->status != 200 && members[CODE_MEMBER].kind == JSON_STRING)
        read_problem(outcome, members);
    else if (answer->status == 200 && (members[STATUS_MEMBER].kind == JSON_STRING ||
                                       members[MESSAGE_MEMBER].kind == JSON_STRING))
        read_write(outcome, members);
    else if (answer->status == 200 && members[REVOKED_MEMBER].kind != JSON_NONE)
        read_logout(outcome, members[REVOKED_MEMBER].kind == JSON_TRUE);
}

const char *outcome_hint(const char *word)
{
#define X(name, text)             \
    if (strcmp(word, #name) == 0) \
        return text;
    HINT_LIST(X)
#undef X
    return NULL;
}
