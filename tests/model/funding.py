"""Premium samples, the hourly rate and its payments (rules.md R5)."""
import risk
from market import SECOND, cdiv, tdiv
from wire import CASH_FUND, CASH_FUNDING, CLOSED, HALTED
from work_item import FUNDING, Item

PPB = 10**9
SAMPLE, HOUR = 5 * SECOND, 3600 * SECOND
SAMPLES_NEEDED = 360
BASE_PPB, CLAMP_PPB = 100000, 500000       # of eight hours


def premium(market, exchange):
    """max(0, impact bid - index) - max(0, index - impact ask), ppb of the index."""
    below, above = market.impact(market.bids, exchange), market.impact(market.asks, exchange)
    if not below or not above:
        return 0
    over = max(0, below[0] // below[1] - market.index)
    under = max(0, market.index - cdiv(*above))
    most = 1000 * max(market.book_ppm, market.tiers[0][2] // 4)
    return min(max(tdiv((over - under) * PPB, market.index), -most), most)


def rate_of(total, count, initial_ppm):
    """ppb of one hour from the sum of the hour's samples: at most a quarter of the lowest initial
    margin."""
    average = tdiv(total, count) if count >= SAMPLES_NEEDED else 0
    eight_hours = average + min(max(BASE_PPB - average, -CLAMP_PPB), CLAMP_PPB)
    most = 250 * initial_ppm
    return min(max(tdiv(eight_hours, 8), -most), most)


def payment_of(size, index, rate):
    """What a position gets: rounded against it."""
    owed = size * index * rate
    return -cdiv(owed, PPB) if owed > 0 else -owed // PPB


def sample(exchange, market):
    """The first second of a slot of 5 s takes its sample, or the slot has none."""
    slot = exchange.t // SAMPLE
    if slot == market.premium_slot:
        return
    market.premium_slot = slot
    if market.state not in (HALTED, CLOSED) and market.index_valid(exchange.t, exchange.max_age):
        market.premium = premium(market, exchange)
        if market.premium and not market.may_be_met():
            exchange.counts["premium that nobody could meet"] += 1
            market.premium = 0
        market.premium_sum += market.premium
        market.premium_count += 1


def hour(exchange, market):
    """The first second of an hour settles or skips it (R5)."""
    before, now = market.funding_hour, exchange.t // HOUR
    if now == before:
        return
    total, count = market.premium_sum, market.premium_count
    market.funding_hour, market.premium_sum, market.premium_count = now, 0, 0
    if market.passes_hour or market.state in (HALTED, CLOSED) or not market.index_valid(
            exchange.t, exchange.max_age):
        exchange.counts["funding skipped"] += 1
        exchange.counts["funding skipped behind a gap"] += market.passes_hour
        return
    if before != now - 1:
        exchange.counts["funding hours passed over"] += 1
        total = count = 0
    item = market.funding  # its place in the queue stays
    if item:
        exchange.counts["funding completed by the next"] += 1
        complete(exchange, market)
    market.epoch += 1
    market.epoch_hour = now * HOUR
    market.funding_index = market.index
    market.funding_rate = rate_of(total, count, market.tiers[0][1])
    exchange.mark_epoch += 1
    exchange.counts["funding epoch"] += 1
    exchange.counts["funding rate " + ("up" if market.funding_rate > 0 else "down")] += 1
    show(exchange, market, 1)
    if item is None:
        item = Item(FUNDING)
        exchange.work.add(item)
    market.funding, item.market, item.cursor = item, market, 0


def show(exchange, market, is_open):
    market.book_seq += 1
    exchange.emit(2110, market.funding_index, market.funding_rate, market.epoch_hour,
                  market.funding_pool, market.epoch, market.id, is_open)


def is_behind(holding):
    return holding.size != 0 and holding.epoch != holding.market.epoch


def settle(exchange, holding):
    """One position whose epoch is behind. A payment of 0 is none."""
    market, portfolio = holding.market, holding.portfolio
    holding.epoch = market.epoch
    payment = payment_of(holding.size, market.funding_index, market.funding_rate)
    if not payment:
        return
    exchange.payments += 1
    exchange.counts["funding"] += 1
    market.funding_pool -= payment
    holding.net_funding += payment
    index = exchange.id_index
    exchange.id_index += 1
    exchange.emit(2105, portfolio.account, portfolio.subaccount, portfolio.index, payment,
                  holding.size, market.funding_rate, market.id, market.epoch)
    exchange.cash(portfolio, payment, index, CASH_FUNDING)


def settle_portfolio(exchange, portfolio):
    """A portfolio is settled whole, in order of definition, before anything of it is read."""
    for holding in sorted(portfolio.holdings.values(), key=lambda each: each.market.ordinal):
        if is_behind(holding):
            settle(exchange, holding)


def perform(exchange, item, units):
    """One holder that is looked at: a unit, and one each payment of it beyond the first."""
    holding = next_holder(exchange, item) if item.market.funding else None
    if holding is None:
        exchange.work.done(item)
        if item.market.funding is not None:  # else it was completed at once
            close_epoch(exchange, item.market)
        return units
    before = exchange.payments
    if is_behind(holding):
        risk.touch(exchange, holding.portfolio)
    return units - min(units, max(1, exchange.payments - before))


def next_holder(exchange, item):
    """The market's holders by portfolio number, from item.cursor on."""
    portfolios, asset = exchange.by_number, item.market.id
    while item.cursor < len(portfolios):
        holding = portfolios[item.cursor].holdings.get(asset)
        item.cursor += 1
        if holding is not None and (holding.size or holding.orders):
            return holding
    return None


def complete(exchange, market):
    """What is left of the open epoch, at once."""
    for portfolio in exchange.by_number:
        holding = portfolio.holdings.get(market.id)
        if holding is not None and is_behind(holding):
            risk.touch(exchange, portfolio)
    close_epoch(exchange, market)


def close_epoch(exchange, market):
    """Every position is settled: the pool's remainder goes to the fund."""
    market.funding = None
    pay_fund(exchange, market)
    show(exchange, market, 0)


def pay_fund(exchange, market):
    """The pool's end value, positive or negative."""
    fund, rest = exchange.by_number[0], market.funding_pool
    market.funding_pool = 0
    if rest:
        risk.touch(exchange, fund)
        exchange.cash(fund, rest, 0, CASH_FUND)
