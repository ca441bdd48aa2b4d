"""Orders that stand already: reduction, replacement, cancel (rules.md R3, R11 codes 1, 2 and 3)."""
import risk
from market import Order
from place import act, addressed, finish, limit_order, note_reason
from protection import POST_ONLY_LIST, REDUCE_ONLY_LIST
from rows import first_rows, limit_rows, status_of
from walk import MODES, Walk, cross_refused, decide, margin_passed
from wire import (AMEND_BODY, CANCELED, CANCEL_BODY, DELETE, FOK, GTC, IOC, OPEN, PARTIALLY_FILLED,
                  REASON, REDUCE, REPLACE_BODY, STATUS, is_uuid7)

S = STATUS


def target_rows(exchange, portfolio_id, order_id, asset, padded, enters=False, post_only=0):
    """Rows 5 to 9: (status, portfolio, market)."""
    status, portfolio, market = addressed(exchange, portfolio_id, asset, padded, enters, post_only)
    if portfolio and not is_uuid7(order_id):
        status, exchange.reason = S["rejected_invalid_uuid"], 0
    return status, portfolio, market


def find(exchange, portfolio, order_id, market):
    """Row 13: the order, when it is of this portfolio and market and alive."""
    order = exchange.orders.get((portfolio.account, order_id))
    if order is None or order.owner is not portfolio or order.market is not market:
        return None
    if exchange.dead_state(order):
        exchange.counts["target dead"] += 1
        return None
    exchange.subject = order
    return order


def cancel(exchange, body):
    account, subaccount, index, order_id, asset, pad, pad2 = CANCEL_BODY.unpack(body)
    status, portfolio, market = target_rows(exchange, (account, subaccount, index), order_id,
                                            asset, pad or pad2)
    if status:
        return status
    return cancel_order(exchange, portfolio, market, order_id)


def cancel_order(exchange, portfolio, market, order_id):
    """From row 13 on."""
    order = find(exchange, portfolio, order_id, market)
    if order is None:
        return S["rejected_order_not_found"]
    exchange.remove(order, CANCELED, REASON["user_cancel"])
    return 0


def note(exchange, code, what):
    exchange.counts[f"code {code} {what}"] += 1


def size_expected(exchange, code, order, expected):
    """Row 14."""
    if not expected:
        return True
    note(exchange, code, "CAS hit" if expected == order.remaining else "CAS miss")
    return expected == order.remaining


# ---- reduction

def reduce(exchange, body):
    """Code 1: never meets a market's state, its marks or a margin test."""
    (account, subaccount, index, order_id, by, expected, asset, pad, pad2) = \
        AMEND_BODY.unpack(body)
    status, portfolio, market = target_rows(exchange, (account, subaccount, index), order_id,
                                            asset, pad or pad2)
    if status:
        return status
    return reduce_order(exchange, portfolio, market, order_id, by, expected)


def reduce_order(exchange, portfolio, market, order_id, by, expected):
    """From row 13 on."""
    order = find(exchange, portfolio, order_id, market)
    if order is None:
        return S["rejected_order_not_found"]
    if status := reduce_rows(exchange, order, by, expected):
        return status
    reduce_by(exchange, order, by)
    return 0


def reduce_rows(exchange, order, by, expected):
    """Rows 14 to 16."""
    if not size_expected(exchange, 1, order, expected):
        return S["rejected_size_not_equal"]
    if by == 0:
        return S["rejected_size_zero"]
    left = order.remaining - by
    # as an item of a batch it has a sign
    if by < 0 or left > 0 and by % order.market.lot:
        return S["rejected_invalid_size"]
    if 0 < left * order.price < order.market.min_notional:
        note(exchange, 1, "leaves dust reduce-only" if order.reduce_only else "leaves dust")
        return S["rejected_invalid_size"]
    return 0


def reduce_by(exchange, order, by):
    left = order.remaining - by
    if left <= 0:
        note(exchange, 1, "cancels")
        exchange.remove(order, CANCELED, REASON["user_cancel"])
    else:
        note(exchange, 1, "below min_size" if left < order.market.min_size else "reduces")
        change_in_place(exchange, order, left)


def change_in_place(exchange, order, remaining, **flags):
    """Remaining size and flags of a resting order, which keeps its priority."""
    by = order.remaining - remaining
    order.holding.count(order, -order.remaining)
    order.remaining = remaining
    for name, value in flags.items():
        setattr(order, name, value)
    order.holding.count(order, remaining)
    risk.changed(exchange, order.owner)
    order.level.size -= by
    finish(exchange, order, PARTIALLY_FILLED if order.filled else OPEN, 0)
    if by:
        exchange.show(order, REDUCE, by)


# ---- replacement

def replace(exchange, body):
    """Code 2: the whole place path with the old rest taken out; refused, nothing changes."""
    (account, subaccount, index, order_id, price, quantity, expiry, post_only, reduce_only, stp,
     pad, asset, pad2, expected) = REPLACE_BODY.unpack(body)
    status, portfolio, market = target_rows(exchange, (account, subaccount, index), order_id,
                                            asset, pad or pad2, True, post_only)
    if status:
        return status
    terms = price, quantity, expiry, post_only, reduce_only, stp
    return replace_order(exchange, limit_order(exchange, order_id, portfolio, market, terms),
                         quantity, expected)


def replace_order(exchange, new, quantity, expected):
    """From row 10 on."""
    portfolio, market = new.owner, new.market
    if case := replace_terms(exchange, new):
        return refused(exchange, case)
    old = find(exchange, portfolio, new.id, market)
    if old is None:
        return S["rejected_order_not_found"]
    if not size_expected(exchange, 2, old, expected):
        return S["rejected_size_not_equal"]
    new = of_kind(new, old)
    new.filled, new.value, new.placed = old.filled, old.value, old.placed
    rest, initial_before = old.remaining, portfolio.entry_initial()
    take_out_of_sums(old)
    status, walk = judge(exchange, new, quantity, old, (rest, initial_before))
    put_back(old, rest)
    if walk and status:
        note(exchange, 2, "refused at the walk")
    if status:
        return status
    if keeps_place(new, old, rest):
        keep(exchange, old, new)
    else:
        enter_again(exchange, old, walk)
    return 0


def replace_terms(exchange, new):
    """Rows 10 to 12: the case, or nothing."""
    case = first_rows(exchange, new)
    return "11 IOC FOK" if not case and new.expiry in (IOC, FOK) else case


def of_kind(new, old):
    """A conditional order that has fired keeps its kind and its trigger."""
    if type(old) is type(new):
        return new
    made = type(old)()
    for slot in Order.__slots__:
        if hasattr(new, slot):
            setattr(made, slot, getattr(new, slot))
    for slot in ("type", *type(old).__slots__):
        setattr(made, slot, getattr(old, slot))
    return made


def refused(exchange, case):
    note(exchange, 2, "row " + case)
    note_reason(exchange, case)
    return S[status_of(case)]


def take_out_of_sums(old):
    """The old self neither blocks nor pays for the new: nothing of it is left to sum."""
    old.holding.count(old, -old.remaining)
    old.remaining = 0
    old.owner.order_count -= 1


def put_back(old, rest):
    old.remaining = rest
    old.holding.count(old, rest)
    old.owner.order_count += 1


def keeps_place(new, old, rest):
    return new.price == old.price and new.remaining <= rest and not joins_list(new, old)


def joins_list(new, old):
    """In its place it would fall under the market's cancellation list that spared it."""
    return old.reduce_only and not new.reduce_only and old.stamp < old.market.list_stamp


def judge(exchange, new, quantity, old, before, with_margin=True):
    """Rows 15 to 33: (status, walk or None). `before`: the old rest, IM with it. Without margin it
    is an item of an atomic batch, which ends at row 28."""
    rest, initial_before = before
    if quantity and new.side != old.side:
        return refused(exchange, "16 side"), None
    if case := limit_rows(exchange, new, quantity, new.owner, True):
        return refused(exchange, case), None
    walk = Walk(exchange, new, new.owner)
    walk.rest_before = 0 if old.reduce_only else rest
    if keeps_place(new, old, rest):
        if with_margin and not margin_passed(walk, initial_before):
            note(exchange, 2, "kept place margin short")
            return S["insufficient_margin_to_place"], walk
        return 0, walk
    if not with_margin:
        return S["rejected_post_only_would_cross_book"] if cross_refused(walk) else 0, walk
    status = decide(exchange, walk, initial_before)
    if walk.contact:
        note(exchange, 2, "contact " + MODES[new.stp])
    return status, walk


def keep(exchange, old, new):
    flags = "post_only reduce_only stp expiry".split()
    for name in flags:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            note(exchange, 2, f"kept place {name} " + (
                f"{before} to {after}" if name.endswith("only") else "changed"))
    note(exchange, 2, "kept place " + ("smaller" if new.remaining < old.remaining
                                        else "same size"))
    if new.reduce_only > old.reduce_only and old.stamp < old.holding.list_stamp:
        note(exchange, 2, "reduce-only behind an older list")
    release_covered(exchange, old, new)
    due, old.was_reducing = old.expiry, old.was_reducing or old.reduce_only
    change_in_place(exchange, old, new.remaining, **{name: getattr(new, name) for name in flags})
    if old.expiry not in (due, GTC):
        exchange.work.add_expiry(old)


def release_covered(exchange, old, new):
    """R3, orders that change in their place: an order that turns into a kind is on no list of that
    kind made before; what such a list still covers goes first."""
    holding = old.holding
    if new.reduce_only > old.reduce_only and old.stamp < holding.list_stamp:
        release_list(exchange, holding, REDUCE_ONLY_LIST)
        holding.list_stamp = 0
    if new.post_only > old.post_only and old.stamp < holding.post_stamp:
        note(exchange, 2, "post-only behind an older list")
        release_list(exchange, holding, POST_ONLY_LIST)
        holding.post_stamp = 0


def release_list(exchange, holding, which):
    for order in list(holding.orders):
        if which in order.lists:
            note(exchange, 2, "releases what a list covers")
            exchange.release(order)


def enter_again(exchange, old, walk):
    """Leaves the queue and goes through the place path to the back of its new level."""
    new = walk.order
    if old.owner.order_count == exchange.open_orders:
        note(exchange, 2, "at the limit of open orders")
    exchange.take_out(old)
    exchange.show(old, DELETE, old.remaining)
    act(exchange, walk)
    note(exchange, 2, "lost place " + ("price" if new.price != old.price else
                                       "list" if joins_list(new, old) else "size"))
    if walk.filled:
        note(exchange, 2, "trades")
    note(exchange, 2, "ends " + ("resting" if new.level else "used up" if not new.remaining
                                 else "canceled"))
    if new.level and walk.filled:
        note(exchange, 2, "trades and rests")
