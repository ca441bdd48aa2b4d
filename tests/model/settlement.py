"""Code 1002 CLOSED: the settlement of a market (rules.md R9, Closing a market)."""
import funding
import liquidation
import risk
from market import SECOND, cdiv
from protection import MARKET
from wire import CASH_FUND, CASH_SETTLEMENT, CLOSED, REASON
from work_item import Item, SETTLEMENT

SAMPLES_S, SAMPLES_LEAST = 1800, 60
HOUR = 3600 * SECOND
MARK_VALUE_MAX = 2**60


def sample(exchange, market):
    """The index at a full second at which it is valid."""
    second = exchange.t // SECOND
    market.samples.append((second, market.index, exchange.t))
    while market.samples[0][0] <= second - SAMPLES_S:
        market.samples.popleft()


def price_of(exchange, market):
    """The floor of the mean of the last half hour, or the last mark."""
    if market.announced_at is None:  # by force, and it was not closing
        return market.mark
    price = market.mean_of_samples(exchange.t, SAMPLES_LEAST)
    if price is None or price * market.max_position > MARK_VALUE_MAX:
        return market.mark
    exchange.counts["settled at the mean"] += 1
    return price


def may_close(exchange, market, force):
    """Announced an hour ago and not called off, unless it is forced."""
    since = market.announced_at
    return bool(force) or since is not None and exchange.t - since >= HOUR


def close(exchange, market, cause):
    if market.funding:
        exchange.counts["funding completed by closing"] += 1
        funding.complete(exchange, market)
    market.end_hold(exchange.t)
    market.state, market.kept = CLOSED, None
    market.settling, market.in_gap = True, False
    exchange.counts["state CLOSED"] += 1
    before, market.mark = market.mark, price_of(exchange, market)
    market.announced_at = None
    exchange.show_state(market, cause, market.mark)
    exchange.show_mark(market, 0)
    if market.mark != before:
        exchange.mark_epoch += 1
        exchange.work.queue_scan(market)
    for portfolio in exchange.by_number:
        holding = portfolio.holdings.get(market.id)
        for order in holding.orders if holding else ():
            order.lists[MARKET] = exchange.next_stamp(), REASON["market_state"]
    exchange.work.queue_market_list(market)
    liquidation.market_moved(exchange, market)
    item = Item(SETTLEMENT)
    item.market, item.cursor, item.inside = market, 0, False
    market.gains = market.shortfall = 0
    exchange.work.add(item)


def perform(exchange, item, units):
    """Two passes over the holders and a unit between them; `inside`: in the second one."""
    market = item.market
    while units:
        holding = funding.next_holder(exchange, item)
        if holding is None and not item.inside:
            units -= 1
            fund_pays(exchange, market)
            item.inside, item.cursor = True, 0
            continue
        if holding is None:
            exchange.work.done(item)
            funding.pay_fund(exchange, market)
            market.settling = False
            exchange.show_mark(market, 1)
            risk.flush(exchange)
            break
        units -= 1
        if holding.size:
            risk.touch(exchange, holding.portfolio)
            (second_pass if item.inside else first_pass)(exchange, holding)
        risk.flush(exchange)
    return units


def first_pass(exchange, holding):
    """Who loses pays; what he cannot pay is the shortfall."""
    market = holding.market
    profit = market.mark * holding.size - holding.cost
    if profit > 0:
        market.gains += profit
        return
    exchange.counts["settled with a loss"] += 1
    market.shortfall += leave(exchange, holding, profit, 0)


def second_pass(exchange, holding):
    """Who gains gets it, less a share of the shortfall that the fund did not pay."""
    market, portfolio = holding.market, holding.portfolio
    profit = market.mark * holding.size - holding.cost
    cut = 0
    if portfolio.account and market.shortfall:
        equity = portfolio.risk()[0]  # the profit is in it either way
        cut = min(cdiv(profit * market.shortfall, market.gains), profit, max(0, equity))
        exchange.counts["settled with a cut"] += cut > 0
    exchange.counts["settled with a profit"] += 1
    leave(exchange, holding, profit, cut)


def leave(exchange, holding, profit, cut):
    """The position goes; gives what the pool paid so that nobody is left below 0 without one."""
    market, portfolio = holding.market, holding.portfolio
    who = portfolio.account, portfolio.subaccount, portfolio.index
    lost = 0 if profit > 0 else holding.lost()
    market.funding_pool -= market.mark * holding.size - cut
    exchange.emit(2121, *who, market.mark, profit, cut, market.id)
    holding.size = holding.cost = 0
    holding.exceeds = False
    for amount in (profit, -cut):
        if amount:
            exchange.cash(portfolio, amount, 0, CASH_SETTLEMENT)
    given = shortfall_of(portfolio, lost)
    if given:
        market.funding_pool -= given
        exchange.counts["settled with a shortfall"] += 1
        exchange.cash(portfolio, given, 0, CASH_SETTLEMENT)
    exchange.show_position(holding)
    holding.net_funding = 0
    risk.changed(exchange, portfolio)
    return given


def shortfall_of(portfolio, lost):
    """What a portfolio below 0 gets from the pool: no more than it lost in this market since it was
    solvent, of one that holds nothing else all of it."""
    if portfolio.number == 0:
        return 0
    if not any(each.size for each in portfolio.holdings.values()):
        return max(0, -portfolio.cash)
    return max(0, min(-portfolio.risk()[0], lost))


def fund_pays(exchange, market):
    """Between the passes: as much of the shortfall as the fund has."""
    fund = exchange.by_number[0]
    risk.touch(exchange, fund)
    amount = min(market.shortfall, max(0, fund.cash))
    if amount:
        exchange.counts["settlement paid by the fund"] += 1
        exchange.cash(fund, -amount, 0, CASH_FUND)
        market.funding_pool += amount
        market.shortfall -= amount
    risk.flush(exchange)
