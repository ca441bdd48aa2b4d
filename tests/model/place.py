"""Placing limit and market orders, and carrying out what a walk decided (rules.md R3)."""
import reducing
import risk
from fees import fee_of
from market import Order
from rows import first_rows, limit_rows, market_rows, status_of
from walk import DROP, FILL, Walk, cross_refused, decide
from wire import (ADD, ADL_TYPE, CANCELED, CASH_FEE, CASH_TRADE, EXECUTE, FILLED, GTC, IOC,
                  LIMIT_TYPE, LIQUIDATE_TYPE, MARKET_BODY, MARKET_TYPE, OPEN, PARTIALLY_FILLED,
                  PLACE_BODY, REASON, REDUCE, REJECTED, STATUS, STOP_LIMIT, TAKE_PROFIT, uuid7_of)

S = STATUS
PRICED = LIMIT_TYPE, STOP_LIMIT, TAKE_PROFIT, LIQUIDATE_TYPE, ADL_TYPE  # their price is shown


def new_order(exchange, order_id, portfolio, market, quantity, order=None):
    order = order or Order()
    order.id, order.owner, order.market = order_id, portfolio, market
    order.side = 1 if quantity >= 0 else -1
    order.remaining, order.filled = abs(quantity), 0
    order.type, order.post_only = LIMIT_TYPE, 0
    order.stamp, order.entered, order.was_reducing = exchange.take_stamp(), exchange.t, False
    order.placed, order.value = (exchange.sequence, exchange.t, exchange.item), 0
    order.level, order.lists, order.handle = None, {}, 0
    order.status = None
    return order


def addressed(exchange, portfolio_id, asset, padded, enters=False, post_only=0):
    """Rows 5 to 9: (status, portfolio, market). `enters`: an order of the portfolio may enter."""
    portfolio = exchange.hierarchy.open_portfolio(portfolio_id)
    if portfolio is None:
        return S["rejected_invalid_portfolio_id"], None, None
    if enters:
        exchange.protection.before_entry(portfolio)
    risk.touch(exchange, portfolio)
    if asset in (0, 0xFFFF):
        return S["order_rejected_invalid_market"], portfolio, None
    market = exchange.markets.get(asset)
    if market is None:
        return S["rejected_market_not_found"], portfolio, None
    if not padded and post_only == 1 and exchange.protection.frozen(portfolio, market):
        exchange.reason = REASON["mmp_frozen"]
        exchange.counts["refused by mmp"] += 1
        padded = True
    return S["order_rejected_invalid"] if padded else 0, portfolio, market


def refuse(exchange, order, status):
    """A placement that is kept as REJECTED."""
    order.status, exchange.subject = REJECTED, order
    exchange.emit(2101, order.id, order.remaining, 0, shown_price(order), REJECTED, status,
                  order.side < 0, order.type, order.market.id, owner=order.owner)
    return status


def refuse_row(exchange, order, case):
    exchange.counts["row " + case] += 1
    note_reason(exchange, case)
    status = S[status_of(case)]
    return refuse(exchange, order, status) if int(case[:2]) >= 13 else status


def note_reason(exchange, case):
    if case == "10 gap":
        exchange.reason = REASON["market_gap"]


def shown_price(order):
    return order.price if order.type in PRICED else 0


def place(exchange, request_id, body):
    """Code 0 from row 5 on. Gives the status."""
    (owner, subaccount, index, price, quantity, expiry, post_only, reduce_only, stp, pad, asset,
     pad2) = PLACE_BODY.unpack(body)
    status, portfolio, market = addressed(exchange, (owner, subaccount, index), asset, pad or pad2,
                                          True, post_only)
    if status:
        return status
    terms = price, quantity, expiry, post_only, reduce_only, stp
    return place_limit(exchange, limit_order(exchange, request_id, portfolio, market, terms),
                       quantity)


def limit_order(exchange, order_id, portfolio, market, terms):
    """`terms`: price, quantity, expiry, post_only, reduce_only, stp."""
    order = new_order(exchange, order_id, portfolio, market, terms[1])
    order.price, order.expiry = terms[0], terms[2]
    order.post_only, order.reduce_only, order.stp = terms[3:]
    return order


def place_limit(exchange, order, quantity):
    """Rows 10 to 35."""
    case = first_rows(exchange, order) or limit_rows(exchange, order, quantity, order.owner)
    if case:
        return refuse_row(exchange, order, case)
    return enter(exchange, order)


def place_market(exchange, request_id, body):
    """Code 5 from row 5 on."""
    (owner, subaccount, index, quantity, slippage, asset, pad, reduce_only, stp, pad2) = \
        MARKET_BODY.unpack(body)
    status, portfolio, market = addressed(exchange, (owner, subaccount, index), asset,
                                          pad or any(pad2), True)
    if status:
        return status
    order = new_order(exchange, request_id, portfolio, market, quantity)
    order.type, order.price, order.expiry = MARKET_TYPE, 0, IOC
    order.reduce_only, order.stp = reduce_only, stp
    if case := market_rows(exchange, order, quantity, portfolio, slippage):
        exchange.counts["market row " + case] += 1
        exchange.walks.refused += exchange.walks.passed
        return refuse_row(exchange, order, case)
    status = enter(exchange, order)
    if status:
        exchange.walks.refused += exchange.walks.passed
    if not status:
        book = market.side(-order.side)
        exchange.counts["market " + (
            "FILLED" if not order.remaining else "in part" if order.filled else
            "not filled empty side" if not book.keys else "not filled")] += 1
    return status


def enter(exchange, order):
    """Rows 28 to 35 of a placement."""
    walk = Walk(exchange, order, order.owner)
    status = decide(exchange, walk)
    exchange.walks.note(walk, status)
    if status:
        return refuse(exchange, order, status)
    act(exchange, walk)
    return 0


def act(exchange, walk):
    """Executes the plan, then settles what is left of the taker."""
    order, portfolio, market = walk.order, walk.portfolio, walk.order.market
    exchange.subject = order
    order.holding = portfolio.holding(market)
    for kind, maker, what in walk.actions:
        if kind == DROP:  # a fill before it may have put the maker on a list
            exchange.remove(maker, *(exchange.dead_state(maker) or what))
        elif kind == FILL:
            fill(exchange, order, maker, what)
        else:
            shrink(exchange, maker, what)
    order.remaining = walk.left
    if walk.left == 0:
        finish(exchange, order, FILLED if order.filled else CANCELED, 0)
    elif walk.rests():
        finish(exchange, order, PARTIALLY_FILLED if order.filled else OPEN, 0)
        rest(exchange, order)
    elif walk.ended != REASON["match_limit"] or not exchange.conditionals.keeps(order):
        finish(exchange, order, CANCELED, walk.ended or REASON["time_in_force"])


def finish(exchange, order, status, reason):
    order.status = status
    exchange.note_state(status, reason)
    exchange.emit(2101, order.id, order.remaining, order.filled, shown_price(order), status,
                  reason, order.side < 0, order.type, order.market.id, owner=order.owner)


def rest(exchange, order):
    holding = order.holding
    last = next(reversed(holding.orders), None)
    holding.orders[order] = order
    if last and last.placed > order.placed:  # entered again: among its own age
        holding.orders = dict(sorted(holding.orders.items(), key=lambda item: item[0].placed))
    holding.count(order, order.remaining)
    risk.changed(exchange, order.owner)
    order.owner.order_count += 1
    order.market.side(order.side).insert(order)
    exchange.orders[order.owner.account, order.id] = order
    exchange.show(order, ADD, order.remaining)
    if order.expiry != GTC:
        exchange.work.add_expiry(order)


def shrink(exchange, maker, by):
    """DECREMENT on the larger maker."""
    maker.holding.count(maker, -by)
    risk.changed(exchange, maker.owner)
    maker.remaining -= by
    maker.level.size -= by
    finish(exchange, maker, PARTIALLY_FILLED if maker.filled else OPEN, 0)
    exchange.show(maker, REDUCE, by)


class Moved:
    """What a fill did to the position of one side."""
    __slots__ = ("holding", "realised", "index", "ended", "smaller")


def fill(exchange, taker, maker, quantity):
    market, price = maker.market, maker.price
    begin_fill(exchange, taker, maker, quantity, 0)
    notional = price * quantity
    maker_fee = fee_of(notional, market.maker_ppm[maker.owner.volumes.rate])
    taker_fee = fee_of(notional, market.taker_ppm[taker.owner.volumes.rate])
    exchange.note_tiers(maker, taker, maker_fee)
    maker.owner.volumes.add(exchange.t, notional)
    taker.owner.volumes.add(exchange.t, notional)
    exchange.protection.maker_filled(maker.holding, maker.side * quantity)
    of_maker, of_taker = move_positions(exchange, maker, taker, quantity, price)
    exchange.emit(2102, maker.id, price, maker.side * quantity, maker_fee, of_maker.index, 1,
                  owner=maker.owner)
    exchange.emit(2102, taker.id, price, taker.side * quantity, taker_fee, of_taker.index, 0,
                  owner=taker.owner)
    pay(exchange, taker.owner, of_taker.realised, taker_fee, of_taker.index)
    pay(exchange, maker.owner, of_maker.realised, maker_fee, of_maker.index)
    exchange.fee_account += maker_fee + taker_fee
    exchange.show_position(maker.holding)
    exchange.show_position(taker.holding)
    end_reduce_only(exchange, of_maker, of_taker, maker if quantity == maker.remaining else None)
    end_fill(exchange, taker, maker, quantity)


def begin_fill(exchange, taker, maker, quantity, flags):
    market = maker.market
    maker.holding.count(maker, -quantity)
    market.trade_seq += 1
    market.book_seq += 1
    exchange.emit(2108, maker.price, quantity, market.trade_seq, market.book_seq, market.id,
                  taker.side < 0, flags)


def move_positions(exchange, maker, taker, quantity, price):
    """Both positions and their ids (R3): (Moved of the maker, of the taker)."""
    moved = []
    for order in (maker, taker):
        holding, market, of_order = order.holding, order.market, Moved()
        of_order.holding, before = holding, holding.size
        risk.changed(exchange, order.owner)
        if exchange.run is not None and exchange.run.ranks(market):
            order.owner.moved = True
        of_order.realised, opened = holding.trade(order.side * quantity, price)
        of_order.index = exchange.id_index
        exchange.id_index += 1 + opened
        if opened:
            holding.position_id = uuid7_of(exchange.t, exchange.sequence, of_order.index + 1)
            holding.net_funding, holding.epoch = 0, market.epoch
        of_order.ended = before * holding.size <= 0 and before != 0
        of_order.smaller = not of_order.ended and abs(holding.size) < abs(before)
        market.max_position = max(market.max_position, abs(holding.size))
        market.scan_position = max(market.scan_position, abs(holding.size))
        moved.append(of_order)
    return moved


def end_reduce_only(exchange, of_maker, of_taker, used_up=None):
    """At once, of a position that is 0 now or has turned; of one that is smaller what stands behind
    others (R3); not a maker that is filled."""
    for of_order in (of_maker, of_taker):
        if of_order.ended:
            of_order.holding.exceeds = False
            exchange.end_reduce_only(of_order.holding, used_up)
        elif of_order.smaller:
            reducing.left(exchange, of_order.holding, used_up)


def end_fill(exchange, taker, maker, quantity):
    """The last price; what is left of both orders; the maker's place in the book."""
    notional = maker.price * quantity
    maker.market.last = maker.price
    exchange.conditionals.traded(maker.market)
    for order in (taker, maker):
        order.filled += quantity
        order.value += notional
    maker.remaining -= quantity
    maker.level.size -= quantity
    if maker.remaining == 0:
        finish(exchange, maker, FILLED, 0)
        exchange.take_out(maker)
    else:
        finish(exchange, maker, PARTIALLY_FILLED, 0)
    exchange.show(maker, EXECUTE, quantity)


def pay(exchange, portfolio, realised, fee, index):
    if realised:
        exchange.cash(portfolio, realised, index, CASH_TRADE)
    if fee:
        exchange.cash(portfolio, -fee, index, CASH_FEE)
