/* operator_rule.h - the rules of a market record and of the operator's other bodies, each with the
 * field that breaks it: what a refusal of 1001, 1002, 1004 or 1008 says beside its status. The last
 * ones are of withdrawals (10): the field names the table in which the account has too many rows.
 *
 * The number of a rule is its rank in the list from 1 on; 0 is none. It comes in the answer of the
 * engine and in effect 2100; the acknowledgement says field and rule as text (json.md J4).
 *
 * Order.  New rules go to the end: numbers stay. */
#ifndef BASE_OPERATOR_RULE_H
#define BASE_OPERATOR_RULE_H

#include "base/compiler.h"

/* clang-format off */
/*    rule                field, what it must be */
#define OPERATOR_RULE_LIST(X) \
    X(record_text,        "body", "one JSON object in UTF-8, no member twice, nothing after it") \
    X(record_member,      "body", "no member beside those of the market record") \
    X(market,             "market", "required; <BASE>-PERP, A-Z and 0-9, at most 32 bytes") \
    X(base,               "base", "required; the part of market before -PERP") \
    X(asset_id,           "asset_id", "required; integer 1 to 65534") \
    X(price_decimals,     "price_decimals", "required; integer 0 to 6") \
    X(size_decimals,      "size_decimals", "required; integer, 6 - price_decimals") \
    X(tick_size,          "tick_size", "required; decimal text, 1 to 2^40 - 1 raw units") \
    X(lot_size,           "lot_size", "required; decimal text, 1 to 2^40 - 1 raw units") \
    X(max_order_size,     "max_order_size", \
      "required; decimal text, a multiple of lot_size, 1 to 2^40 - 1 raw units") \
    X(min_size,           "min_size", \
      "required; decimal text, a multiple of lot_size, at most max_order_size") \
    X(max_price,          "max_price", \
      "the lower of tick_size * (2^24 - 1) and 2^40 - 1 raw units, or absent") \
    X(min_notional,       "min_notional", "required; decimal text, 0 to 2^60 micro-USDC") \
    X(impact_notional,    "impact_notional", "required; decimal text, 1 to 2^60 micro-USDC") \
    X(max_leverage,       "max_leverage", "required; integer 1 to 100") \
    X(price_band_ppm,     "price_band_ppm", "required; integer 1 to 999999") \
    X(max_slippage_ppm,   "max_slippage_ppm", "required; integer 1 to 999999") \
    X(effective_at_ns,    "effective_at_ns", "integer above 0, or absent") \
    X(funding_interval_s, "funding_interval_s", "3600, or absent") \
    X(mark_book_ppm,      "mark_book_ppm", \
      "integer 0 to half the first tier's mmr_ppm, or absent") \
    X(oracle_sources_min, "oracle_sources_min", "integer 1 to 16, or absent") \
    X(position_limit,     "position_limit", "decimal text, 0 to 2^60 micro-USDC, or absent") \
    X(open_interest_limit, "open_interest_limit", \
      "decimal text, 0 to 2^60 micro-USDC, or absent") \
    X(state,              "state", "the name of a market state, or absent") \
    X(tiers,              "tiers", \
      "required; 1 to 8 objects of upper_notional, max_leverage and, if sent, imr_ppm, mmr_ppm") \
    X(tier_upper,         "tiers.upper_notional", \
      "null or decimal text, 10^6 to 2^60 micro-USDC") \
    X(tier_leverage,      "tiers.max_leverage", "integer 1 to 100") \
    X(tier_imr,           "tiers.imr_ppm", "1000000 / max_leverage rounded down, or absent") \
    X(tier_mmr,           "tiers.mmr_ppm", "half of imr_ppm rounded down, or absent") \
    X(tier_of_market,     "tiers.max_leverage", "in the first tier at most the market's") \
    X(tier_ascends,       "tiers.upper_notional", "above that of the tier before") \
    X(tier_falls,         "tiers.max_leverage", "at most that of the tier before") \
    X(tier_end,           "tiers.upper_notional", "null in the last tier") \
    X(fees,               "fees", \
      "required; 6 objects of tier, maker_fee_rate, taker_fee_rate and nothing else") \
    X(fee_tier,           "fees.tier", "0 to 5 in order") \
    X(fee_maker,          "fees.maker_fee_rate", \
      "decimal text of whole ppm, -0.999999 to 0.999999") \
    X(fee_taker,          "fees.taker_fee_rate", "decimal text of whole ppm, 0 to 0.999999") \
    X(fee_rebate,         "fees.maker_fee_rate", \
      "no rebate above the taker fee of any tier") \
    X(new_effective,      "effective_at_ns", "absent in the record of a new market") \
    X(new_state,          "state", "not CLOSED in the record of a new market") \
    X(name_taken,         "market", "not the name of another market") \
    X(market_room,        "asset_id", "of a market that exists: there are 128, no more fit") \
    X(name_stays,         "market", "the name that the market of this asset_id has") \
    X(decimals_stay,      "price_decimals", "as the market has it: decimals never change") \
    X(tick_stays,         "tick_size", "as the market has it: the tick never changes") \
    X(lot_stays,          "lot_size", "as the market has it: the lot never changes") \
    X(notice_absent,      "effective_at_ns", \
      "required: a tier or max_leverage becomes tighter") \
    X(notice_idle,        "effective_at_ns", \
      "absent: no tier and no max_leverage becomes tighter") \
    X(notice_short,       "effective_at_ns", "at least 24 h after now") \
    X(book_kept,          "mark_book_ppm", \
      "required: the one in force is above half the first tier's new mmr_ppm") \
    X(record_closed,      "asset_id", "not of a CLOSED market: its record never changes") \
    X(asset,              "asset", "one market: neither 0 nor 65535") \
    X(asset_unknown,      "asset", "the asset_id of a market") \
    X(pad,                "pad", "zero") \
    X(state_code,         "state", "0 to 5") \
    X(force,              "force", "0 or 1") \
    X(asset_closed,       "asset", "not of a CLOSED market: it stays CLOSED") \
    X(close_notice,       "force", \
      "1, or the closing was announced 1 h ago or more (REDUCE_ONLY with force 1)") \
    X(state_of_all,       "state", "0 to 4: markets are closed one by one") \
    X(withdrawal_id,      "withdrawal_id", "of a pending withdrawal: one has one outcome") \
    X(outcome,            "outcome", "0 (settled) or 1 (reverted)") \
    X(reverted_cash,      "outcome", \
      "not 1 now: with this amount the portfolio's cash would be above its bound") \
    X(clock_announce,     "force", \
      "0 while the clock has a gap: no closing is announced before 1011 has confirmed it") \
    X(gap_none,           "gap_ns", "of a gap of the clock that is open: there is none") \
    X(gap_other,          "gap_ns", "the gap of the clock that is open, as GET /readyz shows it") \
    X(fall_orders,        "orders", \
      "with what is left at most 64, or what the lower class has room for: cancel orders first") \
    X(fall_conditionals,  "conditionals", \
      "with what is left none, or what the lower class has room for: cancel what waits first") \
    X(fall_positions,     "positions", \
      "with what is left at most 16, or what the lower class has room for: close positions first") \
    X(fall_leverages,     "leverages", \
      "with what is left none, or what the lower class has room for: set the default first") \
    X(fall_mmps,          "mmps", \
      "with what is left none, or what the lower class has room for: set all to 0 first") \
    X(fall_credentials,   "credentials", \
      "with what is left at most 8, or what the lower class has room for: revoke keys first, " \
      "whose rows go a minute later") \
    X(fall_arms,          "arms", \
      "with what is left at most 8, or what the lower class has room for: disarm first") \
    X(fall_withdrawals,   "withdrawals", \
      "with what is left at most 16, or what the lower class has room for: wait until others " \
      "are settled") \
    X(fall_portfolios,    "portfolios", \
      "with what is left at most 2, or what the lower class has room for: close portfolios and " \
      "subaccounts first, whose rows go a minute later") \
    X(fall_subaccounts,   "subaccounts", \
      "with what is left 1, or what the lower class has room for: close the others and their " \
      "portfolios first, whose rows go a minute later")
/* clang-format on */

enum operator_rule {
    OPERATOR_RULE_none = 0,
#define X(name, field, text) OPERATOR_RULE_##name,
    OPERATOR_RULE_LIST(X)
#undef X
        OPERATOR_RULE_END
};

static_assert(OPERATOR_RULE_END <= 256, "a rule is one byte in effect 2100");

/* The field that breaks a rule and what it must be: static storage; NULL for none and for a number
 * outside the list. */
const char *operator_rule_field(uint32_t rule);
const char *operator_rule_text(uint32_t rule);

#endif
