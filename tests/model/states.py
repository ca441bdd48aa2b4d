"""The states of a market (rules.md R9): codes 1002 and 1008, by the operator and by the node."""
import liquidation
import settlement
from protection import MARKET
from wire import (ALL16, CANCEL_ONLY, CLOSED, HALT_ALL_BODY, HALTED, REASON, REDUCE_ONLY,
                  RULE_ASSET, RULE_ASSET_CLOSED, RULE_ASSET_UNKNOWN, RULE_CLOSE_NOTICE, RULE_FORCE,
                  RULE_PAD, RULE_STATE_CODE, RULE_STATE_OF_ALL, STATE_BODY, STATUS)

S = STATUS
CAUSE_OPERATOR, CAUSE_ORACLE, CAUSE_FUND, CAUSE_INVARIANT, CAUSE_RESTART = range(5)
NAMES = "ACTIVE POST_ONLY REDUCE_ONLY CANCEL_ONLY HALTED".split()


def enter(exchange, market, state, cause):
    """2111, and what entering the state does to resting orders."""
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
    set_state(exchange, market, state, cause_of(state, is_signed),
              state == REDUCE_ONLY and force == 1)
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
