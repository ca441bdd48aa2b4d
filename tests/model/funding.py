"""Premium samples, the hourly rate and its payments (rules.md R5)."""
from market import SECOND, cdiv, tdiv
from wire import CASH_FUNDING, CLOSED, HALTED

PPB = 10**9
SAMPLE, HOUR = 5 * SECOND, 3600 * SECOND
SAMPLES_NEEDED = 360
BASE_PPB, CLAMP_PPB = 100000, 500000       # of eight hours
RATE_MAX_PPB = 40000000                    # of one


def premium(market, makers_max):
    """max(0, impact bid - index) - max(0, index - impact ask), ppb of the index."""
    below, above = market.impact(market.bids, makers_max), market.impact(market.asks, makers_max)
    over = max(0, below[0] // below[1] - market.index) if below else 0
    under = max(0, market.index - cdiv(*above)) if above else 0
    return tdiv((over - under) * PPB, market.index)


def rate_of(total, count):
    """ppb of one hour from the sum of the hour's samples."""
    average = tdiv(total, count) if count >= SAMPLES_NEEDED else 0
    eight_hours = average + min(max(BASE_PPB - average, -CLAMP_PPB), CLAMP_PPB)
    return min(max(tdiv(eight_hours, 8), -RATE_MAX_PPB), RATE_MAX_PPB)


def payment_of(size, index, rate):
    """What a position gets: rounded against it."""
    owed = size * index * rate
    return -cdiv(owed, PPB) if owed > 0 else -owed // PPB


def sample(exchange, market):
    """A sample of each 5 s, made by the second of the market."""
    slot = exchange.t // SAMPLE
    if slot > market.premium_slot:
        market.premium_slot = slot
        market.premium = premium(market, exchange.makers_max)
        market.premium_sum += market.premium
        market.premium_count += 1


def hour(exchange, market):
    """The full hour: opens an epoch, or skips it."""
    now = exchange.t // HOUR
    if now == market.funding_hour:
        return
    market.funding_hour = now
    total, count = market.premium_sum, market.premium_count
    market.premium_sum = market.premium_count = 0
    if market.state in (HALTED, CLOSED) or not market.index_valid(exchange.t, exchange.max_age):
        exchange.counts["funding skipped"] += 1
        return
    if market.funding:
        exchange.counts["funding completed by the next"] += 1
        complete(exchange, market)
    open_epoch(exchange, market, rate_of(total, count))


def show(exchange, market, is_open):
    market.book_seq += 1
    exchange.emit(2110, market.funding_index, market.funding_rate, market.funding_hour * HOUR,
                  market.funding_pool, market.epoch, market.id, is_open)


def open_epoch(exchange, market, rate):
    market.epoch += 1
    market.funding_index, market.funding_rate = market.index, rate
    exchange.mark_epoch += 1
    exchange.counts["funding"] += 1
    show(exchange, market, 1)
    exchange.work.queue_funding(market)


def settle(exchange, holding):
    """One position whose epoch is behind."""
    market, portfolio = holding.market, holding.portfolio
    if not holding.size or holding.epoch == market.epoch:
        return
    holding.epoch = market.epoch
    payment = payment_of(holding.size, market.funding_index, market.funding_rate)
    market.funding_pool -= payment
    holding.net_funding += payment
    index = exchange.id_index
    exchange.id_index += 1
    exchange.counts["funding payment"] += 1
    exchange.emit(2105, portfolio.account, portfolio.subaccount, portfolio.index, payment,
                  holding.size, market.funding_rate, market.id, market.epoch)
    if payment:
        exchange.cash(portfolio, payment, index, CASH_FUNDING)


def settle_portfolio(exchange, portfolio):
    """All of a portfolio's positions whose epoch is behind, before anything of it is read."""
    for _, holding in sorted(portfolio.holdings.items()):
        settle(exchange, holding)


def complete(exchange, market):
    """What is left of the open epoch, at once."""
    for portfolio in exchange.by_number:
        if market.id in portfolio.holdings:
            settle(exchange, portfolio.holdings[market.id])
    close_epoch(exchange, market)


def close_epoch(exchange, market):
    """Every position is settled: the pool's remainder goes to the fund."""
    rest, market.funding_pool = market.funding_pool, 0
    market.funding = None
    show(exchange, market, 0)
    if rest:
        exchange.cash(exchange.by_number[0], rest, 0, CASH_FUNDING)
