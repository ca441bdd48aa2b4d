"""What a run of 10^6 commands must have met, and how often."""
import wire

STATES = "OPEN FILLED CANCELED REJECTED UNTRIGGERED PARTIALLY_FILLED EXPIRED".split()
MODES = "EXPIRE_TAKER EXPIRE_MAKER EXPIRE_BOTH DECREMENT".split()

# Statuses that the built commands cannot give: of other codes, of states that only an operator
# sets, of conditional orders, of suspension and of the network thread.
UNREACHABLE = """rejected_rate_limited rejected_account_suspended rejected_size_not_equal
rejected_slippage_exceeds_maximum rejected_self_transfer rejected_market_reduce_only
rejected_market_post_only market_closed rejected_insufficient_free_equity
rejected_max_conditional_orders_exceeded rejected_trigger_already_satisfied
conditional_order_on_books conditional_order_not_found rejected_conditional_order_expired
rejected_invalid_trigger master_key_added master_key_removed master_key_rejected_invalid
master_key_rejected_unauthorized master_key_rejected_self_removal
master_key_rejected_last_key""".split()

ROWS = """10 halted,10 cancel-only,11 bool,11 stp,11 post-only,11 expiry,12,15,16 beyond 2^40,
16 lot,16 min,16 max,16 position,17 zero,17 tick,17 max,17b notional,17b cost,19 never,19 here,
19 elsewhere,20,21,24 no position,24 FOK,26""".replace("\n", "").split(",")

ENDS = ["OPEN", "FILLED", "PARTIALLY_FILLED", "EXPIRED"] + [
    "CANCELED " + reason for reason in
    """match_limit user_cancel cancel_all time_in_force reduce_only self_trade_prevention
    insufficient_margin_to_trade""".split()]

REQUIRED = dict.fromkeys(
    ["status " + name for name in wire.STATUSES if name not in UNREACHABLE]
    + ["row " + row for row in ROWS] + ["order " + end for end in ENDS]
    + ["accepted " + tif for tif in ("GTC", "GTT", "IOC", "FOK")]
    + ["filled " + tif for tif in ("resting kinds", "IOC", "FOK")]
    + ["contact " + mode for mode in MODES]
    + ["maker test", "passed by the reducing rule", "expired by timer", "hold", "hold released"],
    100)
REQUIRED["halted by mark"] = 2  # once a market: its streams end with it
REQUIRED["row 17b cost"] = 20   # the bound of the position is nearly always met first


def order_end(status, reason):
    return f"order {STATES[status]}" + (f" {wire.reason_name(reason)}" if reason else "")


def missing(counts):
    """Lines about what occurred too rarely."""
    return [f"{name}: {counts[name]} times, at least {least} wanted"
            for name, least in REQUIRED.items() if counts[name] < least]
