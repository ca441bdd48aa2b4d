"""Who is liquidated and how (rules.md R7): checks, waits, the book and the backstop;
auto-deleveraging is in adl.py."""
import adl
import forced
import place
import risk
from market import PPM, cdiv

from wire import (CASH_FUND, CASH_LIQUIDATION, FILLED, HALTED, IN_LIQUIDATION, LIQUIDATE_TYPE,
                  PORTFOLIO_ACTIVE, REASON)
from work_item import LIQUIDATION, Item

MS = 10**6
ACTION_GAP, FIFTH_GAP = 100 * MS, 30000 * MS
WHOLE_NOTIONAL = 100000 * 10**6
POSITION_MAX, COST_MAX, NOTIONAL_MAX, FUND_MAX = 2**42, 2**52, 2**60, 2**62


def legs_of(portfolio):
    return [holding for holding in portfolio.holdings.values() if holding.size]


def by_margin(legs):
    """MM descending, ties lower asset id."""
    return sorted(legs, key=lambda leg: (-leg.margins()[1], leg.market.id))


# ---- checks

def judge(exchange, portfolio, equity, maintenance):
    """What a check finds. The fund is never judged, nor who is in the middle of an action."""
    if portfolio.number == 0 or portfolio.busy():
        return
    legs = legs_of(portfolio)
    if not legs and portfolio.cash < 0:
        exchange.counts["fund pays a cash below 0"] += 1
        pay_from_fund(exchange, portfolio, -portfolio.cash)
        equity = 0
    if portfolio.status == PORTFOLIO_ACTIVE and legs and equity < maintenance:
        if all(leg.market.index_valid(exchange.t, exchange.max_age) for leg in legs):
            enter(exchange, portfolio, equity, maintenance)
        else:
            exchange.counts["liquidation waits for a mark"] += 1
            wait_for_marks(exchange, legs)
    elif portfolio.status == IN_LIQUIDATION:
        if not legs or equity * 100 >= maintenance * 105:
            exchange.counts["leaves liquidation"] += 1
            leave(exchange, portfolio, equity, maintenance)
        else:
            plan(exchange, portfolio, legs)


def enter(exchange, portfolio, equity, maintenance):
    exchange.counts["liquidation begins"] += 1
    portfolio.status = IN_LIQUIDATION
    show_status(exchange, portfolio, equity, maintenance)
    end_orders(exchange, portfolio)
    queue(exchange, portfolio)


def leave(exchange, portfolio, equity, maintenance):
    portfolio.status = PORTFOLIO_ACTIVE
    portfolio.wait_until = None
    for holding in portfolio.holdings.values():
        holding.fifth_at = None
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
        item.portfolio = portfolio
        exchange.work.queue.append(item)


def ready_at(portfolio, leg):
    """t from which on an action may sell of this leg."""
    gap = portfolio.acted_at + ACTION_GAP if portfolio.acted_at is not None else 0
    return max(gap, leg.fifth_at + FIFTH_GAP if leg.fifth_at is not None else 0)


def may_act(exchange, portfolio, legs):
    if any(not leg.market.index_valid(exchange.t, exchange.max_age) for leg in legs):
        return False
    equity, _, maintenance = portfolio.risk()
    if 3 * equity < 2 * maintenance:
        return all(leg.market.state != HALTED for leg in legs)
    return bool(ready_legs(exchange, portfolio, legs))


def ready_legs(exchange, portfolio, legs):
    return [leg for leg in legs if leg.market.matches(exchange.t, exchange.max_age)
            and exchange.t >= ready_at(portfolio, leg)]


def plan(exchange, portfolio, legs):
    """In liquidation and not well: its item is queued, or it waits. An item that is queued waits
    when it leaves."""
    if portfolio.liquidation is not None:
        return
    if may_act(exchange, portfolio, legs):
        queue(exchange, portfolio)
        return
    wait_for_marks(exchange, legs)
    if any(not leg.market.index_valid(exchange.t, exchange.max_age) for leg in legs):
        portfolio.wait_until = None
        return
    equity, _, maintenance = portfolio.risk()
    deadline = None
    for leg in legs:
        if 3 * equity < 2 * maintenance:
            leg.market.waited |= leg.market.state == HALTED
        elif not leg.market.matches(exchange.t, exchange.max_age):
            leg.market.waited = True
        else:
            at = ready_at(portfolio, leg)
            deadline = at if deadline is None else min(deadline, at)
    exchange.counts["liquidation waits for " + ("time" if deadline else "a market")] += 1
    if portfolio.wait_until != deadline:
        portfolio.wait_until = deadline
        if deadline is not None:
            exchange.work.add_wait(portfolio)


def wait_for_marks(exchange, legs):
    for leg in legs:
        if not leg.market.index_valid(exchange.t, exchange.max_age):
            leg.market.waited = True


def market_moved(exchange, market):
    """A mark was computed or a state changed: who waits for it is looked at again."""
    if market.waited:
        market.waited = False
        exchange.work.queue_scan(market)


# ---- the item of a portfolio

def perform(exchange, item, units):
    portfolio = item.portfolio
    while units:
        risk.check(exchange, portfolio)
        legs = legs_of(portfolio)
        if portfolio.run is not None:
            used = portfolio.run.step(units)
        elif portfolio.action is not None:
            used = act(exchange, portfolio, units)
        elif portfolio.status != IN_LIQUIDATION or not may_act(exchange, portfolio, legs):
            exchange.work.queue.popleft()
            portfolio.liquidation = None
            if portfolio.status == IN_LIQUIDATION:
                plan(exchange, portfolio, legs)
            break
        else:
            used = begin(exchange, portfolio, legs, units)
        units -= min(units, used)
        risk.flush(exchange)
    return units


def begin(exchange, portfolio, legs, units):
    """A new action, at the level that equity asks for."""
    equity, _, maintenance = portfolio.risk()
    if 3 * equity >= 2 * maintenance:
        begin_action(exchange, portfolio, legs, equity, maintenance)
        return act(exchange, portfolio, units)
    end_orders(exchange, portfolio)
    if backstop(exchange, portfolio, by_margin(legs), equity):
        return len(legs)
    portfolio.run = adl.Run(exchange, portfolio, by_margin(legs), equity, maintenance)
    return portfolio.run.step(units)


# ---- level 1

def begin_action(exchange, portfolio, legs, equity, maintenance):
    leg = by_margin(ready_legs(exchange, portfolio, legs))[0]
    market, size = leg.market, abs(leg.size)
    quantity = size
    if size * market.mark > WHOLE_NOTIONAL and leg.fifth_at is None:
        quantity = min(size, cdiv(cdiv(size, 5), market.lot) * market.lot)
        leg.fifth_at = exchange.t
        exchange.counts["L1 fifth"] += 1
    portfolio.acted_at = exchange.t
    exchange.counts["L1"] += 1
    limit = limit_of(leg, equity, maintenance)
    portfolio.action = forced.Action(exchange, leg, quantity, limit, 1)


def limit_of(leg, equity, maintenance):
    """Where the leg's share of equity is gone, not beyond its maintenance rate."""
    market, size = leg.market, abs(leg.size)
    mark, rate = market.mark, market.tier(size * market.mark)[2]
    share = equity * leg.margins()[1] // maintenance // size
    if leg.size > 0:
        price = max(mark - share, cdiv(mark * (PPM - rate), PPM))
    else:
        price = min(mark + share, mark * (PPM + rate) // PPM)
    return forced.limit_inside(market, -1 if leg.size > 0 else 1, price)


def act(exchange, portfolio, units):
    used = portfolio.action.step(units)
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
    exchange.emit(2102, maker.id, price, maker.side * quantity, 0, of_maker.index, 1)
    exchange.emit(2102, taker.id, price, taker.side * quantity, 0, of_taker.index, 0)
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


# ---- level 2

def backstop(exchange, portfolio, legs, equity):
    """The fund takes everything at the mark, when it can bear it."""
    fund = exchange.by_number[0]
    risk.touch(exchange, fund)
    if not fund_can(exchange, fund, legs, equity):
        exchange.counts["L2 refused"] += 1
        return False
    exchange.counts["L2"] += 1
    for leg in legs:
        deal(exchange, leg, fund.holding(leg.market), abs(leg.size), leg.market.mark,
             LIQUIDATE_TYPE, 2)
    pay_from_fund(exchange, portfolio, -portfolio.cash)
    return True


def fund_can(exchange, fund, legs, equity):
    """Its equity carries the margin of what it has then, and R1's bounds hold."""
    fund_equity, _, maintenance = fund.risk()
    for leg in legs:
        own, mark = fund.holding(leg.market), leg.market.mark
        size, cost = own.after(leg.size, mark)
        if (abs(size) > POSITION_MAX or abs(cost) > COST_MAX or abs(size) * mark > NOTIONAL_MAX):
            return False
        maintenance += leg.market.maintenance_margin(abs(size) * mark) - own.margins()[1]
    return fund_equity + equity >= maintenance and abs(fund.cash + equity) <= FUND_MAX
