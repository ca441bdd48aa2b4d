"""The states of a market (rules.md R9): codes 1002 and 1008, by the operator and by the node."""
import liquidation
import settlement
from protection import MARKET
from wire import (ALL16, CANCEL_ONLY, CLOCK_CONFIRM_BODY, CLOSED, HALT_ALL_BODY, HALTED, REASON,
                  REDUCE_ONLY, RULE_ASSET, RULE_ASSET_CLOSED, RULE_ASSET_UNKNOWN,
                  RULE_CLOCK_ANNOUNCE, RULE_CLOSE_NOTICE, RULE_FORCE, RULE_GAP_NONE,
                  RULE_GAP_OTHER, RULE_PAD, RULE_STATE_CODE, RULE_STATE_OF_ALL, STATE_BODY, STATUS)

S = STATUS
(CAUSE_OPERATOR, CAUSE_ORACLE, CAUSE_FUND, CAUSE_INVARIANT, CAUSE_RESTART, CAUSE_CLOCK,
 CAUSE_RESTORED) = range(7)
NAMES = "ACTIVE POST_ONLY REDUCE_ONLY CANCEL_ONLY HALTED".split()


def own(market):
    """The state that it has, or returns to when the gap of the clock ends."""
    return market.state if market.kept is None else market.kept


def enter(exchange, market, state, cause):
    """2111, and what entering the state does to resting orders. While the clock has a gap: what it
    returns to."""
    if market.kept is not None:
        exchange.counts["state in a gap of the clock"] += 1
        market.kept = state
        return
    if market.state == state:
        return
    exchange.counts["state " + NAMES[state]] += 1
    exchange.counts["market state"] += 1
    market.state = state
    exchange.show_state(market, cause)
    if state == REDUCE_ONLY:
        market.list_stamp = stamp = exchange.next_stamp()
        for portfolio in exchange.by_number:
            holding = portfolio.holdings.get(market.id)
            for order in holding.orders if holding else ():
                if not order.reduce_only:
                    order.lists[MARKET] = stamp, REASON["market_state"]
        exchange.work.queue_market_list(market)
    liquidation.market_moved(exchange, market)


def move(exchange, market, state, cause):
    """A market that leaves HALTED has the mark of its index at once (R5)."""
    was_halted = market.state == HALTED
    enter(exchange, market, state, cause)
    if was_halted and state != HALTED:
        exchange.counts["mark anew behind a halt"] += 1
        exchange.recompute(market)


def set_state(exchange, market, state, cause, announces=False):
    """While it is held, what the hold returns to; no price is taken (R5)."""
    market.announced_at = exchange.t if announces else None
    if market.is_held:
        exchange.counts["state in a hold"] += 1
        market.former_state = state
        state = max(state, CANCEL_ONLY)
    move(exchange, market, state, cause)


def cause_of(state, is_signed):
    if is_signed:
        return CAUSE_OPERATOR
    return CAUSE_INVARIANT if state == HALTED else CAUSE_RESTART


def set_one(exchange, body, is_signed):
    """Code 1002."""
    asset, pad, state, force, pad2 = STATE_BODY.unpack(body)
    if asset in (0, ALL16):
        return exchange.refuse(RULE_ASSET, "order_rejected_invalid_market")
    market = exchange.markets.get(asset)
    if market is None:
        return exchange.refuse(RULE_ASSET_UNKNOWN, "rejected_market_not_found")
    for is_wrong, rule in ((pad, RULE_PAD), (state > CLOSED, RULE_STATE_CODE),
                           (force > 1, RULE_FORCE), (pad2, RULE_PAD)):
        if is_wrong:
            return exchange.refuse(rule)
    if market.state == CLOSED:
        return exchange.refuse(RULE_ASSET_CLOSED, "market_closed")
    if state == CLOSED:
        if not is_signed or not settlement.may_close(exchange, market, force):
            return exchange.refuse(RULE_CLOSE_NOTICE)
        exchange.counts["closed " + ("by force" if force else "after its hour")] += 1
        settlement.close(exchange, market, CAUSE_OPERATOR)
        return 0
    announces = state == REDUCE_ONLY and force == 1
    if announces and exchange.gap:
        return exchange.refuse(RULE_CLOCK_ANNOUNCE)
    set_state(exchange, market, state, cause_of(state, is_signed), announces)
    return 0


def set_all(exchange, body, is_signed):
    """Code 1008."""
    state, pad = HALT_ALL_BODY.unpack(body)
    if state > HALTED:
        return exchange.refuse(RULE_STATE_OF_ALL)
    if any(pad):
        return exchange.refuse(RULE_PAD)
    for _, market in sorted(exchange.markets.items()):
        if market.state != CLOSED:
            set_state(exchange, market, state, cause_of(state, is_signed))
    return 0


def restore(exchange):
    """Code 2017: all markets are HALTED, until the operator opens them."""
    exchange.counts["restored" + (" in a gap of the clock" if exchange.gap else "")] += 1
    for _, market in sorted(exchange.markets.items()):
        if market.state != CLOSED:
            set_state(exchange, market, HALTED, CAUSE_RESTORED)
    return 0


def change_key(exchange):
    """Code 2018: the configuration names another signing key, if it names one."""
    named = bool(exchange.limits["exchange.signing_public"])
    exchange.counts["another signing key" + ("" if named else " in the place of none")] += 1
    return 0 if named else S["order_rejected_invalid"]


# ---- a gap of the clock (R9)

def halt_by_clock(exchange, market):
    former = market.state
    enter(exchange, market, HALTED, CAUSE_CLOCK)
    market.kept = former


def begin_gap(exchange, step):
    """The step of a 2014."""
    if not step:
        return
    exchange.counts["gap of the clock" + (" within another" if exchange.gap else "")] += 1
    if not exchange.gap:
        for _, market in sorted(exchange.markets.items()):
            if market.state != CLOSED:
                halt_by_clock(exchange, market)
    exchange.gap = step


def confirm_gap(exchange, body, is_signed):
    """Code 1011."""
    gap, pad = CLOCK_CONFIRM_BODY.unpack(body)
    if pad:
        return exchange.refuse(RULE_PAD)
    if not exchange.gap:
        return exchange.refuse(RULE_GAP_NONE)
    if gap != exchange.gap:
        return exchange.refuse(RULE_GAP_OTHER)
    exchange.gap = 0
    for _, market in sorted(exchange.markets.items()):
        if market.kept is not None:
            former, market.kept = market.kept, None
            market.passes_hour = gap > 0 or not is_signed
            move(exchange, market, former, CAUSE_CLOCK)
    return 0
