"""Orders that the engine makes (rules.md R7): LIQUIDATE against the book, between its
steps. They never rest and take no row of R11."""
import place
import risk
import walk
from fees import fee_of
from market import PPM, SECOND, Order, cdiv
from wire import (CANCELED, CASH_FEE, CASH_LIQUIDATION, CASH_TRADE, FILLED, IOC, LIQUIDATE_TYPE,
                  REASON, uuid7_of)

MASK = 2**64 - 1
GOLDEN, FIRST, SECOND_FACTOR = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9,
                                0x94D049BB133111EB)


def new_order(exchange, holding, side, quantity, price, kind):
    """Its id takes the next index of the command."""
    order = Order()
    order.id = uuid7_of(exchange.t, exchange.sequence, exchange.id_index)
    exchange.id_index += 1
    order.owner, order.market, order.holding = holding.portfolio, holding.market, holding
    order.side, order.remaining, order.price = side, quantity, price
    order.filled = order.value = 0
    order.type, order.post_only, order.reduce_only = kind, 0, 1
    order.expiry, order.stp, order.level, order.lists = IOC, walk.STP_MAKER, None, {}
    order.handle = 0
    order.placed, order.stamp = (exchange.sequence, exchange.t, 0), 0
    return order


def limit_inside(market, side, price):
    """To the tick, a sell up and a buy down, and a price that a market has."""
    price = min(max(price, 1), market.max_price)
    return (price // market.tick if side > 0 else cdiv(price, market.tick)) * market.tick


class Action:
    """A LIQUIDATE order of a portfolio (level 1) or of the fund (level 0)."""

    def __init__(self, exchange, holding, quantity, limit, level):
        self.exchange, self.level = exchange, level
        side = -1 if holding.size > 0 else 1
        self.order = new_order(exchange, holding, side, quantity, limit, LIQUIDATE_TYPE)
        self.done = False
        self.penalty = 0  # ppm, of level 1

    def step(self, units):
        """Meets up to that many makers; gives the units that it took."""
        exchange, order = self.exchange, self.order
        if order.holding.size * order.side >= 0:
            self.end(CANCELED, REASON["reduce_only"])
            return 1
        if not order.market.matches(exchange.t, exchange.max_age):
            self.end(CANCELED, REASON["market_state"])
            return 1
        plan = walk.Walk(exchange, order, order.owner)
        plan.most, plan.forced = units, self
        self.rebates = max(0, exchange.by_number[0].cash) if self.level else 0
        left = self.rebates
        plan.run()
        self.rebates = left
        for kind, maker, what in plan.actions:
            if kind == walk.DROP:
                exchange.remove(maker, *(exchange.dead_state(maker) or what))
            else:
                self.fill(maker, what)
        order.remaining = plan.left
        if plan.left == 0:
            self.end(FILLED, 0)
        elif plan.ended != REASON["match_limit"]:
            self.end(CANCELED, plan.ended or REASON["time_in_force"])
        else:
            exchange.counts["forced order goes on"] += 1
        return max(1, plan.met)

    def maker_fee(self, maker, notional):
        """Its normal fee; a rebate only as far as the fund can pay it."""
        fee = fee_of(notional, maker.market.maker_ppm[maker.owner.volumes.rate])
        return fee if fee >= 0 else -min(-fee, self.rebates)

    def walked(self, fee):
        self.rebates += min(0, fee)

    def fill(self, maker, quantity):
        exchange, taker = self.exchange, self.order
        notional = maker.price * quantity
        place.begin_fill(exchange, taker, maker, quantity, self.level)
        exchange.protection.maker_filled(maker.holding, maker.side * quantity)
        maker_fee = self.maker_fee(maker, notional)
        self.walked(maker_fee)
        if not self.level:
            maker.owner.volumes.add(exchange.t, notional)
        of_maker, of_taker = place.move_positions(exchange, maker, taker, quantity, maker.price)
        penalty = 0
        if self.level:
            equity = taker.owner.risk()[0] + of_taker.realised
            penalty = min(cdiv(notional * self.penalty, PPM), max(0, equity))
        exchange.emit(2102, maker.id, maker.price, maker.side * quantity, maker_fee,
                      of_maker.index, 1, owner=maker.owner)
        exchange.emit(2102, taker.id, maker.price, taker.side * quantity, penalty,
                      of_taker.index, 0, owner=taker.owner)
        self.pay(maker.owner, of_maker, maker_fee, of_taker, penalty)
        exchange.show_position(maker.holding)
        exchange.show_position(taker.holding)
        place.end_reduce_only(exchange, of_maker, of_taker,
                              maker if quantity == maker.remaining else None)
        place.end_fill(exchange, taker, maker, quantity)
        exchange.counts["L1 fill" if self.level else "unwind fill"] += 1

    def pay(self, owner, of_maker, maker_fee, of_taker, penalty):
        exchange, taker, fund = self.exchange, self.order.owner, self.exchange.by_number[0]
        rows = ((taker, of_taker.realised, of_taker.index, CASH_TRADE),
                (taker, -penalty, of_taker.index, CASH_LIQUIDATION),
                (owner, of_maker.realised, of_maker.index, CASH_TRADE),
                (owner, -maker_fee, of_maker.index, CASH_FEE),
                (fund, penalty, of_taker.index, CASH_LIQUIDATION),
                (fund, min(0, maker_fee), of_maker.index, CASH_FEE))
        for portfolio, amount, ref, kind in rows:
            if amount:
                exchange.cash(portfolio, amount, ref, kind)
        exchange.fee_account += max(0, maker_fee)

    def end(self, status, reason):
        order, exchange = self.order, self.exchange
        self.done = True
        place.finish(exchange, order, status, reason)
        if self.level and order.filled:
            show_liquidation(exchange, order, order.value // order.filled, order.filled, 1)
        risk.changed(exchange, order.owner)


def show_liquidation(exchange, order, price, quantity, level):
    """2113; the size is what leaves the position."""
    owner = order.owner
    order.market.book_seq += 1
    exchange.emit(2113, owner.account, owner.subaccount, owner.index, price,
                  -order.side * quantity, order.market.id, level)


# ---- the fund sells what it took

def queue_unwind(exchange, market):
    """Each second of a market in which the fund has a position."""
    holding = exchange.by_number[0].holdings.get(market.id)
    if holding is not None and holding.size and market.unwind is None:
        market.unwind = exchange.work.queue_unwind(market)


def perform_unwind(exchange, item, units):
    market, fund = item.market, exchange.by_number[0]
    while units and market.unwind:
        risk.touch(exchange, fund)
        if item.inside is None:
            holding = fund.holdings[market.id]
            if holding.size and market.matches(exchange.t, exchange.max_age):
                item.inside = unwind_order(exchange, holding)
                units -= item.inside is None
        if item.inside is not None:
            units -= item.inside.step(units)
        if item.inside is None or item.inside.done:
            exchange.work.done(item)
            market.unwind = None
        risk.flush(exchange)
    return units


def chance(signature, second):
    """r of R7: the low 16 bits of the mix of the newest update's signature and the second."""
    mixed = (int.from_bytes(signature[:8], "little") ^ second * GOLDEN) & MASK
    mixed = (mixed ^ mixed >> 30) * FIRST & MASK
    mixed = (mixed ^ mixed >> 27) * SECOND_FACTOR & MASK
    return (mixed ^ mixed >> 31) & 0xFFFF


def unwind_order(exchange, holding):
    """5 to 15 % of the position, at least a lot, within 10 bps of the mark; or nothing."""
    market, size = holding.market, abs(holding.size)
    drawn = chance(market.signature, exchange.t // SECOND)
    if drawn & 1:
        exchange.counts["no unwind in this second"] += 1
        return None
    part = size * (5 + (drawn >> 1) % 11) // 100
    quantity = min(size, max(market.lot, part // market.lot * market.lot))
    side = -1 if holding.size > 0 else 1
    edge = market.mark * (PPM + side * 1000)
    price = edge // PPM if side > 0 else cdiv(edge, PPM)
    exchange.counts["unwind"] += 1
    return Action(exchange, holding, quantity, limit_inside(market, side, price), 0)
