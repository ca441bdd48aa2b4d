"""Rows 10 to 26 of R11 for orders that are placed or replaced (rules.md R11).

Each gives the case that refuses, "" when none does; the first two characters of a case are its
row."""
import reducing
from market import cdiv
from wire import (CANCEL_ONLY, CLOSED, FOK, GTC, HALTED, IN_LIQUIDATION, IOC, POST_ONLY,
                  REDUCE_ONLY)

SIZE_MAX = 2**40 - 1
POSITION_MAX, NOTIONAL_MAX, COST_MAX = 2**42, 2**50, 2**52
MARKETS_MAX = 64  # that a portfolio is in

STATUS_OF_ROW = {"10": "rejected_market_halted", "11": "rejected_invalid_order_flags",
                 "12": "order_rejected_expired", "15": "rejected_size_zero",
                 "16": "rejected_invalid_size", "17": "rejected_invalid_price",
                 "19": "rejected_mark_price_zero", "20": "rejected_invalid_price",
                 "21": "rejected_invalid_size", "22": "rejected_slippage_exceeds_maximum",
                 "18": "rejected_invalid_trigger", "23": "rejected_trigger_already_satisfied",
                 "24": "invalid_reduce_only_order",
                 "25": "rejected_max_conditional_orders_exceeded",
                 "26": "rejected_max_open_orders_exceeded", "27": "insufficient_margin_to_place",
                 "34": "order_rejected_internal"}
STATUS_OF_CASE = {"10 closed": "market_closed",
                  "12 conditional": "rejected_conditional_order_expired",
                  "10 cancel-only": "rejected_market_cancel_only",
                  "10 post-only": "rejected_market_post_only",
                  "10 gap": "rejected_market_post_only",
                  "10 reduce-only": "rejected_market_reduce_only",
                  "17b notional": "rejected_invalid_size", "17b cost": "rejected_invalid_size"}


def status_of(case):
    return STATUS_OF_CASE.get(case) or STATUS_OF_ROW[case[:2]]


def state_refused(order, waits=False):
    """Row 10. `waits`: a conditional order, which a gap does not refuse (R3)."""
    state = order.market.state
    if state == HALTED:
        return "10 halted"
    if state == CLOSED:
        return "10 closed"
    if state == CANCEL_ONLY:
        return "10 cancel-only"
    if state == POST_ONLY and not order.post_only:
        return "10 post-only"
    if order.market.in_gap and not order.post_only and not waits:
        return "10 gap"
    return "10 reduce-only" if state == REDUCE_ONLY and not order.reduce_only else ""


def flags_refused(order, limits, t):
    """Row 11 of a limit kind."""
    expiry = order.expiry
    if order.post_only > 1 or order.reduce_only > 1:
        return "11 bool"
    if order.stp > 3:
        return "11 stp"
    if order.post_only and expiry in (IOC, FOK):
        return "11 post-only"
    if expiry not in (IOC, FOK, GTC) and (expiry > t + limits["limits.gtt_max_s"] * 10**9
                                          or expiry > 2**63 - 1):
        return "11 expiry"
    return ""


def first_rows(exchange, order):
    """Rows 10 to 12 of a limit kind."""
    case = state_refused(order) or flags_refused(order, exchange.limits, exchange.t)
    if not case and order.expiry not in (IOC, FOK) and order.expiry <= exchange.t:
        return "12"
    return case


def size_refused(order, quantity, size, holding, shares=None):
    """Rows 15 and 16. `shares`: of an order that makes a record; one that waits makes none."""
    market = order.market
    if quantity == 0:
        return "15"
    if quantity == -2**63 or size > SIZE_MAX:
        return "16 beyond 2^40"
    if size % market.lot:
        return "16 lot"
    if size < market.min_size:
        return "16 min"
    if size > market.max_size:
        return "16 max"
    if not (holding and (holding.size or holding.orders)):
        used = sum(1 for other in order.owner.holdings.values() if other.size or other.orders)
        if used >= MARKETS_MAX:
            return "16 markets"
        if shares and not shares.record_fits(order.owner.account):
            return "16 share"
    resting = (holding.all_buy if quantity > 0 else holding.all_sell) if holding else 0
    position = abs(holding.size) if holding else 0
    return "16 position" if position + resting + size > POSITION_MAX else ""


def price_refused(order):
    """Row 17."""
    if order.price == 0:
        return "17 zero"
    if order.price % order.market.tick:
        return "17 tick"
    return "17 max" if order.price > order.market.max_price else ""


def notional_refused(order, size, holding):
    """Row 17b."""
    value = order.price * size
    if value > NOTIONAL_MAX:
        return "17b notional"
    if holding is None:
        return ""
    resting = holding.all_buy_notional if order.side > 0 else holding.all_sell_notional
    return "17b cost" if abs(holding.cost) + resting + value > COST_MAX else ""


def marks_refused(exchange, order):
    """Row 19."""
    t, age = exchange.t, exchange.max_age
    if order.market.mark == 0:
        return "19 never"
    if order.reduce_only:
        return ""
    return "19 here" if order.market.frozen(t, age) else ""


def too_small(order, value, size, holding):
    """Row 21: a reduce-only order may be as small as the position that it closes whole."""
    if value >= order.market.min_notional:
        return False
    return not (order.reduce_only and size >= abs(holding.size if holding else 0))


def reduce_only_refused(order, size, holding):
    """Row 24."""
    if not order.reduce_only:
        return ""
    position = holding.size if holding else 0
    if position * order.side >= 0:
        return "24 no position"
    if order.expiry == FOK and size > abs(position):
        return "24 FOK"
    return reducing.refused(order, holding)


def liquidation_refused(order, size, conditional=False):
    """Row 27; under water, and while it is deleveraged (R7 L3), it places nothing at all."""
    if order.owner.run is not None or order.owner.risk()[0] < 0:
        return "27"
    if order.owner.status != IN_LIQUIDATION or order.reduce_only:
        return ""
    holding = order.owner.holdings.get(order.market.id)
    position = holding.size if holding else 0
    if not conditional and position * order.side < 0 and size <= abs(position):
        return ""
    return "27"


def table_full(exchange):
    """Row 26 of every new order."""
    return max(len(exchange.orders) + 1, exchange.orders_needed) > exchange.order_slots


def limit_rows(exchange, order, quantity, portfolio, replaces=False):
    """Rows 15 to 26 of a limit kind."""
    market, price, size = order.market, order.price, abs(quantity)
    holding = portfolio.holdings.get(market.id)
    case = (size_refused(order, quantity, size, holding, exchange.shares) or price_refused(order)
            or notional_refused(order, size, holding) or marks_refused(exchange, order))
    if case:
        return case
    if order.side * (price - market.mark) * 10**6 > market.mark * market.band:
        return "20"
    if too_small(order, price * size, size, holding):
        return "21"
    if case := reduce_only_refused(order, size, holding):
        return case
    if order.expiry not in (IOC, FOK) and (
            portfolio.order_count >= exchange.open_orders or
            sum(each.order_count for each in portfolio.siblings) >= exchange.account_open_orders
            or not replaces and not exchange.shares.resting_fits(portfolio.account)):
        return "26"
    if not replaces and table_full(exchange):
        return "26 table"
    return liquidation_refused(order, size)


# ---- market orders

def slippage_limit(market, side, ppm):
    """mark * (1 +- slippage), rounded to the tick inside the bound."""
    edge, step = market.mark * (10**6 + side * ppm), 10**6 * market.tick
    price = (edge // step if side > 0 else cdiv(edge, step)) * market.tick
    return min(max(price, market.tick), market.max_price)


def best_live(exchange, side):
    """The best price of a live order, 0 when there is none within makers_max dead ones."""
    walks = exchange.walks
    for level in side.all():
        for order in level.orders:
            if not exchange.dead_state(order):
                return level.price
            walks.passed += 1
            if walks.passed == exchange.makers_max:
                exchange.counts["row 22 meets makers_max"] += 1
                return 0
    if walks.passed:
        exchange.counts["row 22 all dead"] += 1
    return 0


def market_rows(exchange, order, quantity, portfolio, slippage):
    """Rows 10 to 24 of a market order, whose limit order.price becomes at row 17b."""
    market, size = order.market, abs(quantity)
    holding = portfolio.holdings.get(market.id)
    case = state_refused(order)
    if not case and order.reduce_only > 1:
        case = "11 bool"
    if not case and order.stp > 3:
        case = "11 stp"
    case = case or size_refused(order, quantity, size, holding, exchange.shares)
    if case:
        return case
    if market.mark:
        order.price = slippage_limit(market, order.side, slippage or market.slippage)
        if case := notional_refused(order, size, holding):
            return case
    if case := marks_refused(exchange, order):
        return case
    if too_small(order, market.mark * size, size, holding):
        return "21"
    if slippage > market.slippage:
        return "22 parameter"
    exchange.walks.passed = 0
    best = best_live(exchange, market.side(-order.side))
    if best and (best - order.price) * order.side > 0:
        return "22 best price"
    band = slippage_limit(market, order.side, market.band)  # R3: where the walk stops as well
    order.price = min(order.price, band) if order.side > 0 else max(order.price, band)
    if case := reduce_only_refused(order, size, holding):
        return case
    return "26 table" if table_full(exchange) else liquidation_refused(order, size)
