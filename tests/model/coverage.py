"""What a run of 10^6 commands must have met, and how often."""
import states
import wire
from walk import MODES

STATES = "OPEN FILLED CANCELED REJECTED UNTRIGGERED PARTIALLY_FILLED EXPIRED".split()

# Statuses that the built commands cannot give: of keys of other kinds;
# and of a portfolio beyond 2^60 micro-USDC, for which the streams are too poor (tests/engine has
# it).
UNREACHABLE = """order_rejected_internal master_key_added master_key_removed
master_key_rejected_invalid master_key_rejected_unauthorized master_key_rejected_self_removal
master_key_rejected_last_key""".split()

ROWS = """10 halted,10 cancel-only,10 post-only,10 reduce-only,11 bool,11 stp,11 post-only,
11 expiry,12,15,16 beyond 2^40,16 lot,16 min,16 max,16 position,16 markets,17 zero,17 tick,17 max,
17b notional,17b cost,19 never,19 here,20,21,24 no position,24 FOK,
26,27,10 gap""".replace("\n", "").split(",")

ENDS = ["OPEN", "FILLED", "PARTIALLY_FILLED", "EXPIRED"] + [
    "CANCELED " + reason for reason in
    """match_limit user_cancel cancel_all time_in_force reduce_only self_trade_prevention
    insufficient_margin_to_trade market_state""".split()]

# Statuses of the codes whose streams are not mostly placements.
TARGETED = """request_completed duplicate_request_id rejected_unauthorized order_rejected_invalid
order_rejected_invalid_market rejected_invalid_portfolio_id rejected_invalid_size rejected_size_zero
rejected_size_not_equal rejected_order_not_found rejected_invalid_uuid rejected_market_not_found
"""
STATUSES_OF = {
    1: TARGETED,
    # Row 26 lets every replacement in: its old self is not counted.
    2: TARGETED + """order_rejected_expired rejected_invalid_price rejected_mark_price_zero
    rejected_invalid_order_flags invalid_reduce_only_order self_trade_prevention
    rejected_post_only_would_cross_book rejected_market_halted rejected_market_cancel_only
    rejected_market_post_only rejected_market_reduce_only
    insufficient_margin_to_place insufficient_margin_to_trade""",
    5: """request_completed duplicate_request_id rejected_unauthorized order_rejected_invalid
    order_rejected_invalid_market rejected_invalid_portfolio_id rejected_invalid_size
    rejected_size_zero rejected_mark_price_zero rejected_invalid_order_flags
    invalid_reduce_only_order rejected_slippage_exceeds_maximum self_trade_prevention
    rejected_market_not_found rejected_market_halted rejected_market_cancel_only
    rejected_market_post_only rejected_market_reduce_only insufficient_margin_to_trade""",
    15: "session_revoked",
    1002: """request_completed rejected_unauthorized order_rejected_invalid
    order_rejected_invalid_market rejected_market_not_found""",
    1008: "request_completed order_rejected_invalid",
    1011: "request_completed rejected_unauthorized order_rejected_invalid",
    34: "request_completed rejected_unauthorized order_rejected_invalid",
    35: "request_completed rejected_unauthorized order_rejected_invalid",
    2001: """request_completed rejected_unauthorized rejected_invalid_portfolio_id
    rejected_market_not_found order_rejected_invalid""",
}
SAME_PLACE = """same size,smaller,margin short,expiry changed,stp changed,post_only 0 to 1,
post_only 1 to 0,reduce_only 0 to 1,reduce_only 1 to 0""".replace("\n", "").split(",")
AMENDED = """code 1 CAS hit,code 1 CAS miss,code 1 reduces,code 1 cancels,code 1 below min_size,
code 2 CAS hit,code 2 CAS miss,code 2 lost place price,code 2 lost place size,code 2 trades,
code 2 trades and rests,code 2 ends resting,code 2 ends used up,code 2 ends canceled,
code 2 refused at the walk,code 2 reduce-only behind an older list,
code 2 at the limit of open orders,code 2 row 16 side,code 2 row 11 IOC FOK,
target dead""".replace("\n", "").split(",")
TAKEN = """market FILLED,market in part,market not filled,market not filled empty side,
row 22 all dead,market row 22 best price,market row 22 parameter,market row 21,
market row 24 no position,market row 19 never""".replace("\n", "").split(",")
LEVERAGES = """lowered,raised,kept,back to default,refused by equity,read-only key,
pinned key,invalid""".replace("\n", "").split(",")
TIERS = [f"{side} tier {tier}" for side in ("maker", "taker") for tier in range(6)]

REQUIRED = dict.fromkeys(
    ["status " + name for name in wire.STATUSES if name not in UNREACHABLE]
    + [f"code {code} {name}" for code, names in STATUSES_OF.items() for name in names.split()]
    + ["row " + row for row in ROWS] + ["order " + end for end in ENDS]
    + ["accepted " + tif for tif in ("GTC", "GTT", "IOC", "FOK")]
    + ["filled " + tif for tif in ("resting kinds", "IOC", "FOK")]
    + ["contact " + mode for mode in MODES] + ["code 2 contact " + mode for mode in MODES]
    + ["code 2 kept place " + case for case in SAME_PLACE] + AMENDED + TAKEN + TIERS
    + ["leverage " + case for case in LEVERAGES] + ["state " + name for name in states.NAMES]
    + ["maker test", "passed by the reducing rule", "expired by timer", "hold",
       "tier rises", "tier falls", "rebate", "withdrawal refused insurance_fund_deficit"],
    40)
# Rare by their nature: a full set of sums at a bound, one account at a time, little to aim at.
REQUIRED.update({"code 2 kept place margin short": 30, "code 2 row 16 position": 1,
                 "row 22 all dead": 30, "market row 19 never": 20,
                 "all of several sessions revoked": 30})
REQUIRED.update({"code 2 lost place list": 20, "state in a hold": 300,
                 "code 1002 rejected_unauthorized": 20,
                 "code 1002 order_rejected_invalid": 40,
                 "code 1002 order_rejected_invalid_market": 20,
                 "code 1002 rejected_market_not_found": 10, "code 1008 request_completed": 30,
                 "code 1008 order_rejected_invalid": 10,
                 "gap of the clock": 1000, "gap of the clock within another": 1000,
                 "state in a gap of the clock": 1000, "restored in a gap of the clock": 1000,
                 "funding skipped behind a gap": 1000, "code 1011 request_completed": 1000,
                 "code 1011 order_rejected_invalid": 40, "code 1011 rejected_unauthorized": 1})
# Liquidation at each level, deleveraging fills, payments of funding.
REQUIRED.update(dict.fromkeys(("L1", "L3", "ADL", "funding"), 1000))
# What keeps a gang out.
REQUIRED.update(dict.fromkeys(
    ["gap", "gap ends", "row 10 gap", "code 2 row 10 gap", "market row 10 gap", "row 19 here",
     "beyond a limit of the market", "hold ended by a near price", "hold ended by a run",
     "hold ended by the operator", "no unwind in this second", "unwind", "netting",
     "L3 pass 2", "fired order goes on", "not liquidated by a book",
     "withdrawal refused market_gap", "refused subaccount_not_closed",
     "status master_key_rejected_last_key", "row 24 beyond the position",
     "needs margin for reduce-only orders", "reduce-only excess",
     "reduce-only orders behind others", "code 1 leaves dust reduce-only",
     "row 24 behind one", "reduce-only orders behind one", "premium that nobody could meet",
     "impact price without a young order", "impact price without a reduce-only order"],
    1000))
REQUIRED.update({"code 2 row 24 beyond the position": 3, "fired row 24 beyond the position": 3,
                 "excess that a plan does not pay for": 300})
REQUIRED.update({"L1 fill": 1000, "L2": 1000, "L2 refused": 1000,
                 "L3 leaves frozen legs": 1000, "fund deleveraged": 1000,
                 "L3 paid by the fund": 1000, "L3 leaves a deficit": 1000, "fund below 0": 1000,
                 "fund at 0 again": 1000, "unwind fill": 1000,
                 "leaves liquidation": 100, "liquidation wakes": 100,
                 "liquidation waits for a market": 50,
                 "liquidation waits for time": 100,
                 "forced order goes on": 2, "funding epoch": 1000, "funding skipped": 50,
                 "funding completed by the next": 20, "funding completed by closing": 2,
                 "state CLOSED": 100, "closed by force": 50, "closed after its hour": 1000,
                 "settled at the mean": 1000, "settled with a loss": 1000,
                 "settled with a profit": 1000, "settled with a shortfall": 1000,
                 "settled with a cut": 1000, "row 10 closed": 100})
REQUIRED.update({"mark anew behind a halt": 20, "index of a halted market waited for": 2})
REQUIRED["halted by mark"] = 2  # once a market: its streams end with it
REQUIRED["row 17b cost"] = 20   # the bound of the position is nearly always met first

# Of single codes or of few regimes.
REQUIRED.update(dict.fromkeys(
    ["status " + name for name in """rejected_account_suspended rejected_self_transfer market_closed
    rejected_conditional_order_expired conditional_order_on_books
    rejected_max_conditional_orders_exceeded master_key_added master_key_removed
    master_key_rejected_invalid master_key_rejected_unauthorized
    master_key_rejected_self_removal""".split()], 20))
REQUIRED.update(dict.fromkeys(
    ["order CANCELED " + reason for reason in "oco dead_man disconnect mmp operator".split()]
    + ["order UNTRIGGERED", "withdrawal settled", "withdrawal reverted", "dead-man",
       "mmp freeze ends by time", "refused by mmp", "atomic done", "atomic aborted by an item",
       "disconnect", "accounts of passkeys", "operator cancels all", "operator cancels one",
       "fired and accepted",
       "fired and rejected", "tier set"], 100))
REQUIRED.update(dict.fromkeys(
    ["atomic aborted by margin", "dead-man by touch", "armed", "refused limit_reached",
     "refused portfolio_not_closed", "reopened by a credit"], 20))
# Rarer since the streams are many.
REQUIRED.update({"status session_rejected_max_sessions": 5, "row 16 position": 5,
                 "row 17b cost": 1, "code 2 insufficient_margin_to_trade": 10,
                 "code 2 kept place margin short": 5, "code 2 row 16 position": 0,
                 "code 2 reduce-only behind an older list": 20, "armed": 5,
                 "all of several sessions revoked": 10, "reopened by a credit": 10})
# Shares and bounds of accounts (W8, slots).
REQUIRED.update(dict.fromkeys(
    ["bound of an account: " + table for table in ("credentials", "leverages", "mmps",
                                                   "portfolios", "withdrawals")]
    + ["share of a class: " + table for table in ("orders", "conditionals", "portfolios")]
    + ["account taken", "account passed over", "no room for an account",
       "row of a key given back", "row of a withdrawal given back",
       "row of a portfolio given back", "row of a portfolio again",
       "row of a subaccount given back", "half of a class: portfolios"], 10))
REQUIRED["rows stop a fall: conditionals"] = 1
# Refused walks (W8).
REQUIRED.update({"owes for walks": 300, "waits for walks": 40})
# What a run has to meet a thousand times.
REQUIRED.update(dict.fromkeys(
    ["trigger", "oco", "mmp", "market state", "status duplicate_request_id"]
    + ["contact " + mode for mode in MODES], 1000))


def order_end(status, reason):
    return f"order {STATES[status]}" + (f" {wire.reason_name(reason)}" if reason else "")


def missing(counts, share):
    """Lines about what occurred too rarely in `share` of 10^6 commands. A smaller run has to meet
    half of its share of what 10^6 have to meet 50 times; rarer things it may miss."""
    wanted = {name: least if share == 1 else int(least * share / 2)
              for name, least in REQUIRED.items() if share == 1 or least >= 50}
    return [f"{name}: {counts[name]} times, at least {least} wanted"
            for name, least in wanted.items() if counts[name] < least]
