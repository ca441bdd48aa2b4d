#include "reference/meanings.h"

#include <stdio.h>

#include "base/problem.h"
#include "base/reason.h"
#include "base/status.h"

static const char *const statuses[STATUS_COUNT] = {
    [STATUS_request_completed] = "accepted and executed",
    [STATUS_duplicate_request_id] =
        "this id was executed before; original_status is what came of it. The request is not "
        "executed again",
    [STATUS_request_dropped] =
        "not executed, the id is unused: the exchange was too busy or the id had left the window. "
        "Send the same request again, or a new id when this one is old",
    [STATUS_retry_required] = "not executed, the id is unused: the exchange is not ready for it. "
                              "Send the same request again after a moment",
    [STATUS_rejected_unauthorized] =
        "the key is unknown, expired or revoked, or its kind, scope or pin does not reach this",
    [STATUS_rejected_rate_limited] = "more requests than the account may send. Wait and send again",
    [STATUS_rejected_account_suspended] =
        "the operator suspended the account; cancels and reductions still work",
    [STATUS_order_rejected_invalid] =
        "a field is out of range, a pad is not zero, or a rule of this request type refuses it; "
        "`reason` says which where one is defined",
    [STATUS_order_rejected_expired] = "expiry, or the time of an oracle price, is not after now",
    [STATUS_order_rejected_internal] =
        "a table of the exchange is full, or an amount beyond what it can hold would come of it",
    [STATUS_order_rejected_invalid_market] = "asset is 0, or 0xFFFF where all is not allowed",
    [STATUS_rejected_invalid_portfolio_id] =
        "the portfolio, subaccount or account does not exist or is CLOSED",
    [STATUS_rejected_invalid_price] =
        "the price is 0, off the tick, above max_price, or a buy above or "
        "a sell below the band around the mark",
    [STATUS_rejected_invalid_size] =
        "the size is off the lot, below the minimum or above a maximum, or the notional is",
    [STATUS_rejected_size_zero] = "quantity, reduce_by or amount is 0",
    [STATUS_rejected_size_not_equal] =
        "expected_remaining is not what remains: the order changed on the way. Read it and decide "
        "again",
    [STATUS_rejected_order_not_found] = "the order does not exist, or has ended",
    [STATUS_rejected_invalid_uuid] = "order_id is no UUIDv7",
    [STATUS_rejected_mark_price_zero] =
        "the market has no valid mark price now: no price of an oracle came, or the last is old",
    [STATUS_rejected_invalid_order_flags] =
        "post_only, reduce_only, stp, expiry or live_tif has a value, or a combination, that is "
        "not allowed",
    [STATUS_invalid_reduce_only_order] =
        "reduce-only without an opposite position, or FOK and larger than it; or it could rest, "
        "and "
        "four reduce-only orders or more (one, where the account is in the market with over 16 "
        "portfolios) hold the whole position already: cancel one, or send it as IOC",
    [STATUS_rejected_slippage_exceeds_maximum] =
        "max_slippage_ppm is above the market's maximum, or the best price is beyond it",
    [STATUS_rejected_self_transfer] = "from and to are the same portfolio",
    [STATUS_self_trade_prevention] =
        "the order would trade with one of its own account, and its stp mode refuses that",
    [STATUS_rejected_max_open_orders_exceeded] =
        "as many orders rest as the portfolio, the account or accounts of its class may have",
    [STATUS_rejected_post_only_would_cross_book] = "post-only, and it would trade at once",
    [STATUS_rejected_market_not_found] = "no market has this asset id",
    [STATUS_rejected_market_halted] = "the market is HALTED",
    [STATUS_rejected_market_reduce_only] = "the market is REDUCE_ONLY and the order is not",
    [STATUS_rejected_market_post_only] = "the market is POST_ONLY and the order is not",
    [STATUS_rejected_market_cancel_only] = "the market is CANCEL_ONLY",
    [STATUS_market_closed] = "the market is CLOSED for good",
    [STATUS_insufficient_margin_to_place] = "the margin is too small for this order to rest",
    [STATUS_insufficient_margin_to_trade] = "the margin is too small for what would trade at once",
    [STATUS_rejected_insufficient_free_equity] =
        "the amount is above what may leave the portfolio; GET /portfolio/balance has it as "
        "withdrawable_now",
    [STATUS_rejected_f_o_k_not_fully_filled_insufficient_margin] =
        "FOK, and the margin is too small for all of it",
    [STATUS_rejected_f_o_k_not_fully_filled_low_liquidity] =
        "FOK, and the book does not have all of it within the price",
    [STATUS_rejected_max_conditional_orders_exceeded] =
        "as many conditional orders wait as the portfolio or the account may have",
    [STATUS_rejected_trigger_already_satisfied] = "the trigger's condition is true already",
    [STATUS_conditional_order_on_books] =
        "the conditional order has fired and rests: cancel it as an order, by code 3",
    [STATUS_conditional_order_not_found] = "the conditional order does not exist, or has ended",
    [STATUS_rejected_conditional_order_expired] =
        "expiry of the conditional order is not after now",
    [STATUS_rejected_invalid_trigger] =
        "the trigger price is 0, off the tick or above max_price, its source is unknown, or the "
        "limit price does not fit the kind of order",
    [STATUS_master_key_added] = "the master key was added",
    [STATUS_master_key_removed] =
        "the master key was removed, with what the rules say ends with it",
    [STATUS_master_key_rejected_invalid] =
        "the key is no point of its curve, is a master key already, is not there to be removed, "
        "or the account has as many as it may",
    [STATUS_master_key_rejected_unauthorized] =
        "the signing key is unknown, or may not add or remove master keys",
    [STATUS_master_key_rejected_self_removal] = "a key cannot remove itself: sign with another",
    [STATUS_master_key_rejected_last_key] = "the last admin key of an account stays",
    [STATUS_session_created] = "the session may sign from now on",
    [STATUS_session_revoked] = "the session, or all of them, may sign no more",
    [STATUS_session_rejected] =
        "the signer may not make or end sessions, or the session's key, scope, pin or life is not "
        "allowed, or there is no such session",
    [STATUS_session_rejected_max_sessions] =
        "the account, or the signing key, has as many live sessions as it may",
    [STATUS_account_created_with_session] = "the account and its first session exist",
    [STATUS_creation_rejected] =
        "no account was made: the key is a master key already, or the label or a pad is not "
        "allowed",
    [STATUS_account_created_session_failed] =
        "the account exists without a session: make one by code 13",
};

static const char *const reasons[REASON_END - REASON_FIRST] = {
#define REASON(name) [REASON_##name - REASON_FIRST]
    REASON(match_limit) = "the order met `engine.makers_max` makers; what was left was canceled",
    REASON(mmp_frozen) = "makers' protection has frozen the portfolio in this market",
    REASON(batch_aborted) = "an item of an atomic batch failed, so none was executed",
    REASON(market_gap) = "the market's mark moved further than its holders were checked for",
    REASON(insurance_fund_deficit) = "profits wait until the insurance fund is whole",
    REASON(already_credited) = "a deposit of this external_ref was credited before",
    REASON(max_sessions_exceeded) = "the limit of live sessions",
    REASON(limit_reached) = "the limit of this kind of object for the account or subaccount",
    REASON(subaccount_not_permitted) = "the key is pinned to another subaccount",
    REASON(read_only_key) = "the API key has scope READ",
    REASON(portfolio_not_active) = "the portfolio is CLOSED or IN_LIQUIDATION",
    REASON(portfolio_not_empty) = "the portfolio holds cash, a position or an order",
    REASON(portfolio_not_closed) = "a portfolio that must be CLOSED is not",
    REASON(subaccount_not_active) = "the subaccount is CLOSED",
    REASON(subaccount_not_closed) = "a subaccount of the account is not CLOSED",
    REASON(withdrawal_pending) = "a withdrawal of the subaccount is not settled",
    REASON(insufficient_free_equity) = "the margin is too small for the new leverage",
    REASON(invalid_parameter) = "a number is outside its bounds",
    REASON(faucet_limit_exceeded) = "the account had its test money of 24 hours",
    REASON(user_cancel) = "canceled by code 3, 7 or a reduction of all of it",
    REASON(cancel_all) = "canceled by code 4",
    REASON(time_in_force) = "the rest of an IOC or market order",
    REASON(reduce_only) =
        "a reduce-only order with no position left to reduce, or others in front hold all of it",
    REASON(oco) = "the other order of its OCO group fired or ended",
    REASON(dead_man) = "the deadline of code 25 passed",
    REASON(disconnect) = "the connection that guarded it ended",
    REASON(mmp) = "makers' protection canceled it",
    REASON(liquidation) = "the portfolio was liquidated",
    REASON(market_state) = "the market's state allows it no more",
    REASON(operator) = "canceled by the operator",
    REASON(invalid_destination) = "the destination is the zero address",
#undef REASON
};

static const char *const problems[PROBLEM_END] = {
    [PROBLEM_malformed_request] =
        ("the bytes are no HTTP/1.1 request, or one that proxies could read in two ways; the "
         "connection closes"),
    [PROBLEM_malformed_payload] =
        ("a member of the envelope is missing or has a wrong length, a pad of the Header is not "
         "zero, or a text is none; `field` names it, `padding` a pad"),
    [PROBLEM_malformed_json] = "the body is no JSON object in UTF-8, or has a member twice",
    [PROBLEM_invalid_base64] = "not standard Base64 with its padding; `field` names the member",
    [PROBLEM_request_id_not_v7] = "the request id is no UUIDv7",
    [PROBLEM_request_timestamp_out_of_window] =
        ("the time in the request id is too old or ahead; server_time_ms is the exchange's. Make "
         "a new id, by a clock that is right"),
    [PROBLEM_request_type_not_allowed] =
        "this path does not take the request type, or this kind of key cannot sign it",
    [PROBLEM_unsupported_version] = "the Header's version is not 1",
    [PROBLEM_passkey_requires_json] = "a passkey signs in a JSON envelope, not in a frame",
    [PROBLEM_invalid_parameter] = "`parameter` is missing or out of its bounds",
    [PROBLEM_invalid_market] = "no market has this symbol",
    [PROBLEM_invalid_signature] =
        ("the signature does not verify under the key, or the credential id is unknown. POST "
         "/api/v1/debug/payload and `perp decode` say why"),
    [PROBLEM_signature_type_mismatch] = "the Header's signature_type is not that of the key",
    [PROBLEM_passkey_public_key_mismatch] = "the public_key sent along is not the passkey's",
    [PROBLEM_passkey_type] = "the client data's type is not `webauthn.get`",
    [PROBLEM_passkey_challenge] = "the challenge is not the SHA-256 of the payload",
    [PROBLEM_passkey_origin] = "the page's origin is not in `exchange.passkey_origins`",
    [PROBLEM_passkey_cross_origin] = "the page ran in a frame of another origin",
    [PROBLEM_passkey_rp_id] = "the assertion is for another relying party",
    [PROBLEM_passkey_user_presence] = "the authenticator did not see a user",
    [PROBLEM_passkey_user_verification] =
        "the authenticator did not verify the user: ask for userVerification `required`",
    [PROBLEM_invalid_api_key] = "X-API-KEY is missing, unknown or revoked",
    [PROBLEM_invalid_device_key] = "the device key is missing, unknown, expired or revoked",
    [PROBLEM_invalid_token] = "the bearer token is missing or not that of this resource",
    [PROBLEM_subaccount_not_permitted] = "the key is pinned to another subaccount",
    [PROBLEM_read_only_key] = "the API key has scope READ and this writes",
    [PROBLEM_origin_not_allowed] = "a page of this origin may not do this",
    [PROBLEM_outcome_unknown] = ("it may have been executed or not: the leader of the cluster "
                                 "cannot tell; send the same bytes "
                                 "again, here or to another node"),
    [PROBLEM_not_leader] = "another node of the cluster leads: `leader`, header X-Leader",
    [PROBLEM_host_not_allowed] = "Host is not one of `net.hosts`",
    [PROBLEM_too_many_connections] =
        "this address has `limits.connections` open; the connection closes",
    [PROBLEM_not_found] = "no such path, or no such object",
    [PROBLEM_portfolio_not_found] = "no such portfolio of this account",
    [PROBLEM_order_not_found] = "no such order of this account, or its record is gone",
    [PROBLEM_account_not_found] = "no such account",
    [PROBLEM_request_not_found] =
        "not executed as of X-Sequence; once the window has passed, never",
    [PROBLEM_method_not_allowed] = "Allow has the methods of this path",
    [PROBLEM_request_timeout] = "head or body did not arrive in time; the connection closes",
    [PROBLEM_portfolio_not_active] = "the portfolio is CLOSED or IN_LIQUIDATION",
    [PROBLEM_portfolio_not_empty] = "the portfolio holds cash, a position or an order",
    [PROBLEM_portfolio_not_closed] = "only a CLOSED portfolio can be reopened",
    [PROBLEM_subaccount_not_active] = "the subaccount is CLOSED",
    [PROBLEM_insufficient_free_equity] = "the margin is too small for the new leverage",
    [PROBLEM_limit_reached] =
        "the account, or accounts of its class, may have no more of this kind",
    [PROBLEM_faucet_limit_exceeded] = "the account had its test money of 24 hours",
    [PROBLEM_pairing_already_used] = "this step of the pairing was done before",
    [PROBLEM_pairing_not_deposited] = "the new device has not deposited its keys",
    [PROBLEM_pairing_expired] = "the pairing's time is over: begin another",
    [PROBLEM_payload_too_large] = "the body is longer than max_bytes",
    [PROBLEM_unsupported_media_type] =
        ("Content-Type is neither application/json nor, for signed writes, "
         "application/octet-stream"),
    [PROBLEM_rate_limited] = "too many requests; send again after retry_after_ms",
    [PROBLEM_headers_too_large] = "the head is above 16,384 bytes or 64 header fields",
    [PROBLEM_internal_error] = "a fault of the exchange; it is in its log",
    [PROBLEM_not_ready] = "reads lag behind or the exchange stops; send again after a moment",
};

const char *meaning_of_status(uint32_t status)
{
    return status < CC_COUNT(statuses) ? statuses[status] : NULL;
}

const char *meaning_of_reason(uint32_t reason)
{
    return reason >= REASON_FIRST && reason < REASON_END ? reasons[reason - REASON_FIRST] : NULL;
}

const char *meaning_of_problem(uint32_t problem)
{
    return problem < CC_COUNT(problems) ? problems[problem] : NULL;
}

static bool is_said(const char *meaning, const char *kind, const char *name)
{
    if (meaning != NULL)
        return true;
    fprintf(stderr, "perp-reference: tools/reference/meanings.c has no sentence for %s %s\n", kind,
            name);
    return false;
}

bool meanings_are_complete(void)
{
    bool complete = true;
    for (uint32_t i = 0; i < STATUS_COUNT; i++)
        complete &= is_said(meaning_of_status(i), "status", status_name((enum status)i));
    for (uint32_t i = REASON_FIRST; i < REASON_END; i++)
        complete &= is_said(meaning_of_reason(i), "reason", reason_name(i));
    for (uint32_t i = PROBLEM_none + 1; i < PROBLEM_END; i++)
        complete &= is_said(meaning_of_problem(i), "problem", problem_code((enum problem)i));
    return complete;
}
