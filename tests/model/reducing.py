"""Reduce-only orders beyond the position that they oppose (rules.md R3)."""
from wire import CANCELED, FOK, IOC, REASON

ORDERS = 4        # of a side that may rest, whatever they hold ...
ORDERS_MANY = 1   # ... or so many, when the account has more records in the market than
RECORDS = 16
AT_ONCE = 64      # orders that one step of the work ends at most


def room(holding):
    """How many may rest before they must lie within the position."""
    market = holding.market.id
    records = sum(1 for one in holding.portfolio.siblings
                  if (held := one.holdings.get(market)) and (held.size or held.orders))
    return ORDERS_MANY if records > RECORDS else ORDERS


def opposing(holding, but=None):
    """Those that oppose the position, dead ones too."""
    return [order for order in holding.orders
            if order.reduce_only and order.side * holding.size < 0 and order is not but]


def refused(order, holding):
    """Row 24 of one that could rest: the case, or nothing. Of a replacement nothing is left in the
    sums, and its old order has no remainder."""
    if order.expiry in (IOC, FOK) or holding.reducing(order.side) < abs(holding.size):
        return ""
    count = sum(1 for other in opposing(holding) if other.remaining)
    if count < room(holding):
        return ""
    return "24 beyond the position" if count >= ORDERS else "24 behind one"


def place_in_book(order):
    """What is larger of an order further back in the book."""
    return -order.side * order.price, order.stamp


def left(exchange, holding, filled=None):
    """A fill left a smaller position, and of `filled` nothing: whether to look at it later."""
    alone = len(holding.portfolio.siblings) <= 1
    if holding.excess() and len(opposing(holding, filled)) > (ORDERS if alone else ORDERS_MANY):
        exchange.counts["reduce-only orders left"] += 1
        holding.exceeds = True
        exchange.work.queue_excess(holding.portfolio)


def end_hindmost(exchange, holding, most):
    """From the last one in the book on, while others that are enough hold the position. Gives how
    many ended."""
    live = [order for order in opposing(holding) if not exchange.dead_state(order)]
    live.sort(key=place_in_book)
    gone, enough = 0, room(holding)
    while gone < most and len(live) > enough and sum(
            order.remaining for order in live[:-1]) >= abs(holding.size):
        exchange.remove(live.pop(), CANCELED, REASON["reduce_only"])
        gone += 1
    exchange.counts["reduce-only orders behind others"] += gone
    if enough == ORDERS_MANY:
        exchange.counts["reduce-only orders behind one"] += gone
    return gone
