/* rule.h - R11's order of checks: the steps of the network thread and the rows of the engine, each
 * with number, name, status and what it checks.
 *
 * perp-reference prints these tables into docs/spec/rules.md. Code refuses by the name of a row or
 * of a step: ROW_STATUS(size), STEP_STATUS(no_credit). Steps 1 to 10 answer with problems.
 *
 * Order.  A request meets the steps, then the rows, each in the order of its list. */
#ifndef BASE_RULE_H
#define BASE_RULE_H

#include "base/status.h"

/* clang-format off */
/*    step   name                   status, check */
#define STEP_LIST(X) \
    X("11",  not_ready,             retry_required, \
      "the engine is not ready, or the process has no random bytes for a secret") \
    X("11",  revoked_by_session,    session_rejected, \
      "code 14 is signed by a session, on another path than /logout") \
    X("11",  key_absent,            rejected_unauthorized, \
      "the keyring does not have the key") \
    X("11",  key_of_session_codes,  session_rejected, \
      "the same, of codes 13 to 15 and 33") \
    X("11",  key_of_key_codes,      master_key_rejected_unauthorized, \
      "the same, of codes 16 to 20 and 28 to 31") \
    X("12",  account_rate,          rejected_rate_limited, \
      "the account has used up its writes, or its cancels (W8)") \
    X("13",  no_credit,             request_dropped, \
      "the command ring gave no credit for `net.credit_wait_ms`")

/*    row    name                   status, check */
#define ROW_LIST(X) \
    X("0",   window,                request_dropped, \
      "id outside the engine's window (W5); peek") \
    X("1",   duplicate,             duplicate_request_id, \
      "(account of the credential, id) seen; peek") \
    X("2",   duplicates_share,      rejected_rate_limited, \
      "the account has its share of the duplicate set (W8); peek") \
    X("2",   duplicates_full,       retry_required, \
      "no room in the duplicate set, of which an eighth is kept for codes 1, 3, 4, 7 and those of " \
      "operators; peek") \
    X("2",   walks_owed,            rejected_rate_limited, \
      "codes 0, 2, 5 and a batch with an op 0 or 2: the account owes for refused walks (W8); peek") \
    X("3",   credential,            rejected_unauthorized, \
      "key unknown, expired (expires_at <= t) or revoked for the body's account; its kind, " \
      "scope or pin does not reach the code") \
    X("3",   credential_of_session, session_rejected, \
      "the same, of codes 13 to 15 and 33") \
    X("3",   credential_of_key_codes, master_key_rejected_unauthorized, \
      "the same, of codes 16 to 20 and 28 to 31; the signer is no admin key") \
    X("4",   suspended,             rejected_account_suspended, \
      "account suspended") \
    X("5",   portfolio,             rejected_invalid_portfolio_id, \
      "portfolio missing or CLOSED") \
    X("6",   target_id,             rejected_invalid_uuid, \
      "target order id not UUIDv7 (1, 2, 3, 7, batch)") \
    X("7",   market_id,             order_rejected_invalid_market, \
      "asset id 0, or 0xFFFF where not allowed") \
    X("8",   market,                rejected_market_not_found, \
      "asset id unknown") \
    X("9",   form,                  order_rejected_invalid, \
      "pad or reserved byte not zero; unknown side, op or order type; batch of no items; op " \
      "forbidden in an atomic batch") \
    X("9",   mmp_frozen,            order_rejected_invalid, \
      "post-only while market-maker protection has frozen the record (reason `mmp_frozen`)") \
    X("10",  market_closed,         market_closed, \
      "market CLOSED (placing, replacing)") \
    X("10",  market_halted,         rejected_market_halted, \
      "market HALTED") \
    X("10",  market_cancel_only,    rejected_market_cancel_only, \
      "market CANCEL_ONLY") \
    X("10",  market_post_only,      rejected_market_post_only, \
      "market POST_ONLY or in a gap (R3), order not post-only") \
    X("10",  market_reduce_only,    rejected_market_reduce_only, \
      "market REDUCE_ONLY, order not reduce-only") \
    X("11",  flags,                 rejected_invalid_order_flags, \
      "bool not 0 or 1; stp > 3; post-only with IOC or FOK; expiry beyond t + " \
      "`limits.gtt_max_s` or 2^63 - 1; IOC or FOK in a replacement or in code 6; live_tif") \
    X("12",  expiry,                order_rejected_expired, \
      "expiry <= t") \
    X("12",  expiry_of_conditional, rejected_conditional_order_expired, \
      "the same, of code 6") \
    X("13",  target,                rejected_order_not_found, \
      "target order absent or final (1, 2, 3)") \
    X("14",  expected_remaining,    rejected_size_not_equal, \
      "expected_remaining not 0 and not the remainder") \
    X("15",  size_zero,             rejected_size_zero, \
      "quantity, reduce_by or amount 0") \
    X("16",  size,                  rejected_invalid_size, \
      "not a multiple of the lot; below the minimum; above the maximum; -2^63; another side " \
      "in a replacement; R1's bounds of quantity, position and markets; a market more than the " \
      "account's share of `engine.positions` (W8) has room for") \
    X("17",  price,                 rejected_invalid_price, \
      "price 0, off the tick or above max_price (limit kinds)") \
    X("17b", notional,              rejected_invalid_size, \
      "R1's bounds of notional; market kinds at their limit, if there is a mark") \
    X("18",  trigger,               rejected_invalid_trigger, \
      "trigger price 0, off the tick or above max_price; unknown source; a market kind with " \
      "a price, a limit kind without") \
    X("19",  mark,                  rejected_mark_price_zero, \
      "no mark yet; not reduce-only and this market is frozen (R4)") \
    X("20",  price_band,            rejected_invalid_price, \
      "price outside the band (limit kinds)") \
    X("21",  min_notional,          rejected_invalid_size, \
      "notional (market kinds: at the mark) below min_notional, and not reduce-only of the " \
      "whole position or more") \
    X("22",  slippage,              rejected_slippage_exceeds_maximum, \
      "slippage above the market's maximum; best opposite price beyond the bound (market " \
      "kinds)") \
    X("23",  trigger_is_met,        rejected_trigger_already_satisfied, \
      "trigger condition true already") \
    X("24",  reduce_only,           invalid_reduce_only_order, \
      "reduce-only without an opposite position; reduce-only FOK larger than it; it could rest, " \
      "and 4 or more reduce-only orders of its side rest that hold the position's size, 1 or more " \
      "where the account has over 16 records in the market (R3)") \
    X("25",  conditional_count,     rejected_max_conditional_orders_exceeded, \
      "the portfolio has `limits.conditional_orders`, its account `limits.account_conditionals`, " \
      "or the account's share is used up (W8); an unfunded account has none") \
    X("26",  order_count,           rejected_max_open_orders_exceeded, \
      "could rest, and the portfolio has `limits.open_orders`, its account " \
      "`limits.account_open_orders`, or the account's share is used up (W8); of every order: no " \
      "free row of `engine.orders`") \
    X("27",  liquidation,           insufficient_margin_to_place, \
      "equity below 0; portfolio IN_LIQUIDATION and the order not reducing (reduce-only, or " \
      "opposite to the position and not larger), or its L3 run is under way") \
    X("28",  post_only_crosses,     rejected_post_only_would_cross_book, \
      "post-only, and a live opposite order is at or through the limit, or " \
      "`engine.makers_max` dead ones are") \
    X("29",  self_trade,            self_trade_prevention, \
      "self-contact before any fill (mode 0), or any self-contact of FOK in mode 0 or 2") \
    X("30",  fok_liquidity,         rejected_f_o_k_not_fully_filled_low_liquidity, \
      "FOK, and the walk fills less") \
    X("31",  fok_margin,            rejected_f_o_k_not_fully_filled_insufficient_margin, \
      "R4's taker test fails: FOK") \
    X("32",  margin_to_trade,       insufficient_margin_to_trade, \
      "R4's taker test fails: something would trade") \
    X("33",  margin_to_place,       insufficient_margin_to_place, \
      "R4's taker test fails: it would only rest") \
    X("34",  room,                  order_rejected_internal, \
      "no page of a ladder left for that price (R3), or a bound that only the walk sees (R1)") \
    X("35",  completed,             request_completed, \
      "otherwise")
/* clang-format on */

enum rule_row {
#define X(number, name, status, check) ROW_##name,
    ROW_LIST(X)
#undef X
        ROW_COUNT
};

enum rule_step {
#define X(number, name, status, check) STEP_##name,
    STEP_LIST(X)
#undef X
        STEP_COUNT
};

/* The statuses as constants, so that a refusal costs no look-up. */
enum rule_status {
#define X(number, name, status, check) ROW_STATUS_##name = STATUS_##status,
    ROW_LIST(X)
#undef X
#define X(number, name, status, check) STEP_STATUS_##name = STATUS_##status,
        STEP_LIST(X)
#undef X
};

/* The status (enum status) of a row, of a step; the name is known to the compiler. */
#define ROW_STATUS(name)  ((enum status)ROW_STATUS_##name)
#define STEP_STATUS(name) ((enum status)STEP_STATUS_##name)

/* A row or a step of the table; static storage. */
struct rule {
    const char *number;
    const char *name;
    const char *check;
    uint8_t status; /* enum status */
};

const struct rule *rule_row(enum rule_row row);
const struct rule *rule_step(enum rule_step step);

#endif
