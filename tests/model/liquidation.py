"""Who is liquidated and how (rules.md R7): checks, waits, the book, netting and the backstop;
auto-deleveraging is in adl.py."""
import adl
import forced
import place
import risk
from market import PPM, cdiv

from wire import (CASH_FUND, CASH_LIQUIDATION, FILLED, IN_LIQUIDATION, LIQUIDATE_TYPE,
                  PORTFOLIO_ACTIVE, REASON)
from work_item import LIQUIDATION, Item

MS = 10**6
ACTION_GAP, LEG_GAP = 100 * MS, 1000 * MS
WHOLE_NOTIONAL = 2000 * 10**6
PENALTY_PPM = 5000
DAY = 86400 * 10**9
POSITION_MAX, COST_MAX, NOTIONAL_MAX, FUND_MAX = 2**42, 2**52, 2**60, 2**62


def legs_of(portfolio):
    return [holding for holding in portfolio.holdings.values() if holding.size]


def by_margin(legs):
    """MM descending, ties lower asset id."""
    return sorted(legs, key=lambda leg: (-leg.margins()[1], leg.market.id))


def is_live(exchange, leg):
    return not leg.market.frozen(exchange.t, exchange.max_age)


def live_legs(exchange, portfolio):
    return [leg for leg in legs_of(portfolio) if is_live(exchange, leg)]


def better_equity(legs, equity):
    """E with these legs at the better of mark and index."""
    return equity + sum((leg.market.better(leg.size) - leg.market.mark) * leg.size
                        for leg in legs)


def is_low(exchange, portfolio, equity, maintenance):
    """Below two thirds of MM, with live legs at the better of mark and index."""
    return 3 * better_equity(live_legs(exchange, portfolio), equity) < 2 * maintenance


# ---- checks

def judge(exchange, portfolio, equity, maintenance):
    """What a check finds. The fund is never judged, nor who is in the middle of an action."""
    if portfolio.number == 0 or portfolio.busy():
        return
    legs = legs_of(portfolio)
    if not legs and portfolio.cash < 0:
        exchange.counts["fund pays a cash below 0"] += 1
        pay_deficit(exchange, portfolio)
        equity = 0
    if portfolio.status == PORTFOLIO_ACTIVE and legs and equity < maintenance:
        sure = [leg for leg in legs
                if is_live(exchange, leg) and leg.market.announced_at is None]
        if better_equity(sure, equity) < maintenance:
            enter(exchange, portfolio, equity, maintenance)
        else:
            exchange.counts["not liquidated by a book"] += 1
    elif portfolio.status == IN_LIQUIDATION:
        if not legs or equity * 100 >= maintenance * 105:
            exchange.counts["leaves liquidation"] += 1
            leave(exchange, portfolio, equity, maintenance)
        else:
            plan(exchange, portfolio)
    portfolio.owed = max(0, -equity) if portfolio.status == IN_LIQUIDATION else 0


def enter(exchange, portfolio, equity, maintenance):
    exchange.counts["liquidation begins"] += 1
    portfolio.status = IN_LIQUIDATION
    show_status(exchange, portfolio, equity, maintenance)
    end_orders(exchange, portfolio)
    plan(exchange, portfolio)


def leave(exchange, portfolio, equity, maintenance):
    portfolio.status = PORTFOLIO_ACTIVE
    portfolio.wait_until, portfolio.owed, portfolio.netted = None, 0, False
    for holding in portfolio.holdings.values():
        holding.wait_until = None
    show_status(exchange, portfolio, equity, maintenance)


def show_status(exchange, portfolio, equity, maintenance):
    clamped = min(max(equity, -2**63), 2**63 - 1)
    exchange.emit(2112, *portfolio.id(), clamped, maintenance, portfolio.status)


def end_orders(exchange, portfolio):
    exchange.end_all_orders(portfolio, REASON["liquidation"])


def queue(exchange, portfolio):
    portfolio.wait_until = None
    if portfolio.liquidation is None:
        item = portfolio.liquidation = Item(LIQUIDATION)
        item.portfolio, item.again = portfolio, False
        exchange.work.add(item)


def ready_at(portfolio, leg):
    """t from which on an action may sell of this leg."""
    gap = portfolio.acted_at + ACTION_GAP if portfolio.acted_at is not None else 0
    return max(gap, leg.wait_until or 0)


def may_act(exchange, portfolio):
    legs = live_legs(exchange, portfolio)
    if not legs:
        return False
    equity, _, maintenance = portfolio.risk()
    return is_low(exchange, portfolio, equity, maintenance) or bool(
        ready_legs(exchange, portfolio))


def ready_legs(exchange, portfolio):
    return [leg for leg in legs_of(portfolio) if leg.market.matches(exchange.t, exchange.max_age)
            and exchange.t >= ready_at(portfolio, leg)]


def plan(exchange, portfolio):
    """In liquidation and not well: its item is queued, or it waits, for the next time of a leg or
    for markets. An item that is queued waits when it leaves."""
    if portfolio.liquidation is not None:
        return
    if may_act(exchange, portfolio):
        queue(exchange, portfolio)
        return
    deadline = None
    for leg in legs_of(portfolio):
        if leg.market.matches(exchange.t, exchange.max_age):
            at = ready_at(portfolio, leg)
            deadline = at if deadline is None else min(deadline, at)
        else:
            leg.market.waited = True
    exchange.counts["liquidation waits for " + ("time" if deadline else "a market")] += 1
    if portfolio.wait_until != deadline:
        portfolio.wait_until = deadline
        if deadline is not None:
            exchange.work.add_wait(portfolio)


def market_moved(exchange, market):
    """A mark was computed or a state changed: who waits for it is looked at again."""
    if market.waited:
        market.waited = False
        exchange.work.queue_scan(market)


# ---- the item of a portfolio

def perform(exchange, item, units):
    """One step: a maker met, a holder ranked, a fill; what is done in one piece may cost more."""
    portfolio = item.portfolio
    risk.check(exchange, portfolio)
    if portfolio.run is not None:
        used = portfolio.run.step()
    elif portfolio.action is not None:
        used = act(exchange, portfolio)
    elif portfolio.number == 0 and begin_fund_run(exchange, item):
        used = portfolio.run.step()
    elif portfolio.number == 0 or portfolio.status != IN_LIQUIDATION or not may_act(
            exchange, portfolio):
        exchange.work.done(item)
        portfolio.liquidation = None
        if portfolio.status == IN_LIQUIDATION:
            plan(exchange, portfolio)
        return units
    else:
        used = begin(exchange, portfolio)
    risk.flush(exchange)
    return units - min(units, used)


def begin(exchange, portfolio):
    """A new action, at the level that equity asks for."""
    equity, _, maintenance = portfolio.risk()
    if not is_low(exchange, portfolio, equity, maintenance):
        portfolio.netted = False
        begin_action(exchange, portfolio, equity, maintenance)
        return act(exchange, portfolio)
    end_orders(exchange, portfolio)
    legs = by_margin(live_legs(exchange, portfolio))
    if not portfolio.netted:
        portfolio.netted = True
        return net(exchange, portfolio, legs, equity, maintenance)
    portfolio.netted = False
    if equity >= 0 and backstop(exchange, portfolio, legs, equity, maintenance):
        return len(legs)
    portfolio.run = adl.Run(exchange, portfolio, legs,
                            adl.prices_of(exchange, legs, equity, maintenance))
    return portfolio.run.step()


# ---- level 1

def penalty_of(leg):
    """ppm of what level 1 sells of this leg."""
    return min(PENALTY_PPM, leg.market.tier(abs(leg.size) * leg.market.mark)[2] // 4)


def quantity_of(leg, equity, maintenance):
    """What brings E to 1.2 MM when it is sold at the mark."""
    market, size = leg.market, abs(leg.size)
    notional = size * market.mark
    if notional <= WHOLE_NOTIONAL:
        return size
    rate = market.tier(notional)[2]
    value = cdiv((12 * maintenance - 10 * equity) * PPM, 12 * rate - 10 * penalty_of(leg))
    quantity = max(cdiv(value, market.mark), cdiv(size, 5))
    return min(size, cdiv(quantity, market.lot) * market.lot)


def begin_action(exchange, portfolio, equity, maintenance):
    leg = by_margin(ready_legs(exchange, portfolio))[0]
    portfolio.acted_at = exchange.t
    leg.wait_until = exchange.t + LEG_GAP
    exchange.counts["L1"] += 1
    portfolio.action = forced.Action(exchange, leg, quantity_of(leg, equity, maintenance),
                                     limit_of(leg, equity, maintenance), 1)
    portfolio.action.penalty = penalty_of(leg)


def limit_of(leg, equity, maintenance):
    """Where a sale with its penalty would leave E/MM as it is; within the band of the mark."""
    market, size = leg.market, abs(leg.size)
    notional = size * market.mark
    share = equity * leg.margins()[1] // maintenance - cdiv(notional * penalty_of(leg), PPM)
    distance = max(0, share) // size
    low, high = market.band_of(market.mark)
    if leg.size > 0:
        price = max(low, max(market.mark, market.index) - distance)
    else:
        price = min(high, min(market.mark, market.index) + distance)
    return forced.limit_inside(market, -1 if leg.size > 0 else 1, price)


def act(exchange, portfolio):
    used = portfolio.action.step(1)
    if portfolio.action.done:
        portfolio.action = None
        risk.changed(exchange, portfolio)
    return used


# ---- fills between two portfolios outside the book

def deal(exchange, leg, other, quantity, price, kind, level):
    """The loser TAKER, the other MAKER, each with an order made with the fill and FILLED."""
    side = -1 if leg.size > 0 else 1
    taker = forced.new_order(exchange, leg, side, quantity, price, kind)
    maker = forced.new_order(exchange, other, -side, quantity, price, kind)
    of_maker, of_taker = place.move_positions(exchange, maker, taker, quantity, price)
    exchange.emit(2102, maker.id, price, maker.side * quantity, 0, of_maker.index, 1,
                  owner=maker.owner)
    exchange.emit(2102, taker.id, price, taker.side * quantity, 0, of_taker.index, 0,
                  owner=taker.owner)
    cash_kind = CASH_LIQUIDATION if level == 2 else adl.CASH_KIND
    for owner, moved in ((taker.owner, of_taker), (maker.owner, of_maker)):
        if moved.realised:
            exchange.cash(owner, moved.realised, moved.index, cash_kind)
    exchange.show_position(other)
    exchange.show_position(leg)
    for order in (maker, taker):
        order.filled, order.value, order.remaining = quantity, quantity * price, 0
        place.finish(exchange, order, FILLED, 0)
    forced.show_liquidation(exchange, taker, price, quantity, level)
    place.end_reduce_only(exchange, of_maker, of_taker)


def pay_from_fund(exchange, portfolio, amount):
    """Moves cash from the fund, or to it when negative: the portfolio's row first."""
    if amount:
        exchange.cash(portfolio, amount, 0, CASH_FUND)
        exchange.cash(exchange.by_number[0], -amount, portfolio.account, CASH_FUND)


def pay_deficit(exchange, portfolio):
    """All that is missing, counted in the day of the allowance."""
    count_day(exchange)
    exchange.paid -= portfolio.cash
    pay_from_fund(exchange, portfolio, -portfolio.cash)


def count_day(exchange):
    day = exchange.t // DAY
    if day != exchange.paid_day:
        exchange.paid_day, exchange.paid = day, 0


def allowance(exchange):
    """A of R7: what the fund may still pay today."""
    count_day(exchange)
    return max(0, max(0, exchange.by_number[0].cash) // 20 - exchange.paid)


# ---- netting

def net(exchange, portfolio, legs, equity, maintenance):
    """Against opposite positions of the account's other portfolios; gives those looked at."""
    looked_at = 0
    shares = adl.shares_of(legs, equity, maintenance)
    for leg, share in zip(legs, shares):
        price = adl.price_at(leg.market, leg.size, 0 if equity >= 0 else share)
        for other in portfolio.siblings:
            if not leg.size:
                break
            if other is portfolio:
                continue
            looked_at += 1
            holding = other.holdings.get(leg.market.id)
            if holding is None or holding.size * leg.size >= 0:
                continue
            risk.touch(exchange, other)
            quantity = adl.bearable(leg, holding, price)
            if quantity:
                exchange.counts["netting"] += 1
                deal(exchange, leg, holding, quantity, price, adl.ADL_TYPE, 4)
    risk.changed(exchange, portfolio)
    return max(1, looked_at)


# ---- level 2

def backstop(exchange, portfolio, legs, equity, maintenance):
    """The fund takes every live leg at the mark, when it can bear it; it never pays for that."""
    fund = exchange.by_number[0]
    risk.touch(exchange, fund)
    left = legs_of(portfolio)
    cash = portfolio.cash + sum(leg.market.mark * leg.size - leg.cost for leg in legs)
    share = cash
    if len(left) > len(legs):
        share = equity * sum(leg.margins()[1] for leg in legs) // maintenance
    share = min(share, max(0, cash))
    if not fund_can(fund, legs, share):
        exchange.counts["L2 refused"] += 1
        return False
    exchange.counts["L2"] += 1
    for leg in legs:
        deal(exchange, leg, fund.holding(leg.market), abs(leg.size), leg.market.mark,
             LIQUIDATE_TYPE, 2)
    pay_from_fund(exchange, portfolio, -share)
    return True


def gross(portfolio):
    return sum(abs(leg.size) * leg.market.mark for leg in portfolio.holdings.values())


def fund_can(fund, legs, share):
    """Its equity carries the margin of what it has then, five times it all of that and twice it
    each market; R1's bounds hold."""
    equity, _, maintenance = fund.risk()
    equity += share
    total = gross(fund)
    for leg in legs:
        own, mark = fund.holding(leg.market), leg.market.mark
        size, cost = own.after(leg.size, mark)
        value = abs(size) * mark
        if (abs(size) > POSITION_MAX or abs(cost) > COST_MAX or value > NOTIONAL_MAX
                or value > 2 * equity):
            return False
        total += value - abs(own.size) * mark
        maintenance += leg.market.maintenance_margin(value) - own.margins()[1]
    return (equity >= maintenance and total <= 5 * equity
            and abs(fund.cash + share) <= FUND_MAX)


# ---- a fund that has too much

def fund_scanned(exchange, fund):
    """Ten times its equity and more: it is deleveraged at the mark."""
    if gross(fund) > 10 * fund.risk()[0]:
        queue(exchange, fund)


def begin_fund_run(exchange, item):
    """When its item has its turn: once."""
    fund = item.portfolio
    legs = by_margin(live_legs(exchange, fund))
    if item.again or not legs:
        return False
    exchange.counts["fund deleveraged"] += 1
    item.again = True
    fund.run = adl.FundRun(exchange, fund, legs)
    return True
