"""Auto-deleveraging (rules.md R7 L3): a run of one portfolio, in steps."""
from bisect import insort

import liquidation
import risk
import states
from market import PPM
from wire import ADL_TYPE, CASH_ADL, POST_ONLY

CASH_KIND = CASH_ADL
HEAP, CLAMP, PRICE_MAX = 256, 2**62, 2**40 - 1
FRUITLESS_MOST = 4  # rankings of pass 1 in a row that gave nothing


def clamp(value):
    return min(max(value, -CLAMP), CLAMP)


def score_of(holding, equity):
    """Profit and leverage of a position at its mark."""
    mark, size = holding.market.mark, holding.size
    profit = clamp((mark * size - holding.cost) * PPM // max(1, abs(holding.cost)))
    leverage = clamp(abs(size) * mark * PPM // max(1, equity))
    if profit >= 0:
        return profit * leverage // PPM
    return profit * PPM // max(1, leverage)


def prices_of(legs, equity, maintenance):
    """p of each leg: where its share of the equity is gone, also of one below 0."""
    shares, prices, rest = [], [], 0
    for leg in legs:
        share = equity * leg.margins()[1] // maintenance
        size, mark = abs(leg.size), leg.market.mark
        if leg.size < 0 and mark + share // size < 1:
            fixed = -(mark - 1) * size
            rest += share - fixed
            share = fixed
        shares.append(share)
    longs = sum(leg.margins()[1] for leg in legs if leg.size > 0)
    for leg, share in zip(legs, shares):
        size, mark = abs(leg.size), leg.market.mark
        if leg.size > 0:
            if rest:
                share += rest * leg.margins()[1] // longs
            price = mark - share // size
        else:
            price = mark + share // size
        prices.append(min(max(price, 1), PRICE_MAX))
    return prices


class Run:
    def __init__(self, exchange, portfolio, legs, equity, maintenance):
        self.exchange, self.portfolio, self.legs = exchange, portfolio, legs
        self.prices = prices_of(legs, equity, maintenance)
        self.rounding = sum(abs(leg.size) for leg in legs) + 2 * len(legs)
        exchange.counts["L3"] += 1
        exchange.run = self
        self.at = -1
        self.next_leg()

    def next_leg(self):
        self.at += 1
        self.pass_two = self.exchange.by_number[0].cash < 0
        self.fruitless = 0
        if self.pass_two and self.at < len(self.legs):
            self.exchange.counts["L3 leg without pass 1"] += 1
        self.rank()

    def rank(self):
        """Begins a ranking."""
        self.cursor, self.ranked, self.ready = 0, [], False
        self.gave = self.left_out = False

    def rank_anew(self, nobody):
        """No place is left: of those who were ranked, or nobody was."""
        self.fruitless = 0 if self.gave else self.fruitless + 1
        if (nobody or self.fruitless == FRUITLESS_MOST) and not self.pass_two:
            self.exchange.counts["L3 pass 2"] += 1
            self.pass_two = True
        self.rank()

    def step(self, units):
        """One holder ranked, or one fill. What ends a pass, a leg or the run is free."""
        leg = self.legs[self.at]
        used = self.fill(leg) if self.ready else self.meet(leg)
        risk.flush(self.exchange)
        if not leg.size:
            self.next_leg()
        elif self.ready and not self.ranked:
            self.rank_anew(False)
        if self.at == len(self.legs):
            self.finish()
        return used

    def meet(self, leg):
        portfolios = self.exchange.by_number
        while self.cursor < len(portfolios):
            holding = portfolios[self.cursor].holdings.get(leg.market.id)
            self.cursor += 1
            if holding is not None and (holding.size or holding.orders):
                if holding.size * leg.size < 0:
                    risk.touch(self.exchange, holding.portfolio)
                    self.offer(leg, holding)
                return 1
        if self.ranked:
            self.ready = True
            return self.fill(leg)
        self.rank_anew(not self.left_out)
        return self.meet(leg)

    def offer(self, leg, holding):
        """A place for an opposite holder that can give; the best 256 are kept."""
        if not self.gives(leg, holding, abs(holding.size)):
            return
        owner = holding.portfolio
        score = score_of(holding, owner.risk()[0])
        insort(self.ranked, ((owner.account == 0, -score, *owner.id()), holding),
               key=lambda entry: entry[0])
        if len(self.ranked) > HEAP:
            self.ranked.pop()
            self.left_out = True

    def ranks(self, market):
        return self.at < len(self.legs) and self.legs[self.at].market is market

    def moved(self, portfolio):
        """Who has traded in the leg's market and was met already has its place by what it is."""
        if self.at == len(self.legs) or not self.ready and portfolio.number >= self.cursor:
            return
        leg = self.legs[self.at]
        kept = [entry for entry in self.ranked if entry[1].portfolio is not portfolio]
        if len(kept) < len(self.ranked):
            self.exchange.counts["L3 rank anew of who moved"] += 1
        self.ranked = kept
        holding = portfolio.holdings.get(leg.market.id)
        if holding is not None and holding.size * leg.size < 0:
            self.offer(leg, holding)

    def gives(self, leg, holding, most):
        """Down to the lot when the price is worse for it than the mark (pass 1)."""
        price, mark = self.prices[self.at], leg.market.mark
        worse = (price - mark) * leg.size
        if self.pass_two or worse <= 0:
            return most
        equity = holding.portfolio.risk()[0]
        capacity = max(0, equity) // abs(price - mark) // leg.market.lot * leg.market.lot
        return min(most, capacity)

    def fill(self, leg):
        holding = self.ranked.pop(0)[1]
        risk.touch(self.exchange, holding.portfolio)
        if holding.size * leg.size >= 0:
            return 1
        quantity = self.gives(leg, holding, min(abs(leg.size), abs(holding.size)))
        if not quantity:
            self.exchange.counts["ADL passed over"] += 1
            return 1
        price = leg.market.mark if self.pass_two else self.prices[self.at]
        self.exchange.counts["ADL"] += 1
        self.gave = True
        liquidation.deal(self.exchange, leg, holding, quantity, price, ADL_TYPE, 3)
        return 1

    def finish(self):
        """The fund pays what is missing, or takes the rounding."""
        exchange, portfolio = self.exchange, self.portfolio
        portfolio.run = exchange.run = None
        if portfolio.cash < 0:
            exchange.counts["L3 paid by the fund"] += 1
            liquidation.pay_from_fund(exchange, portfolio, -portfolio.cash)
            if exchange.by_number[0].cash < 0:
                exchange.counts["L3 leaves a deficit"] += 1
                for leg in self.legs:
                    tighten(exchange, leg.market)
        elif portfolio.cash > 0:
            liquidation.pay_from_fund(exchange, portfolio, -min(portfolio.cash, self.rounding))
        liquidation.leave(exchange, portfolio, portfolio.cash, 0)


def tighten(exchange, market):
    """A deficit: nobody opens anything. A stricter state stays (R9)."""
    if market.is_held and market.former_state <= POST_ONLY:
        market.former_state = states.REDUCE_ONLY
    if market.state <= POST_ONLY:
        states.enter(exchange, market, states.REDUCE_ONLY, states.CAUSE_FUND)
