"""Auto-deleveraging (rules.md R7 L3): a run of one portfolio, in steps."""
from bisect import insort

import liquidation
import risk
import states
from market import PPM, cdiv
from wire import ADL_TYPE, CASH_ADL, POST_ONLY

CASH_KIND = CASH_ADL
HEAP, CLAMP, PRICE_MAX = 256, 2**62, 2**40 - 1
FILL_UNITS = 4
FRUITLESS_MOST = 4  # rankings of pass 1 in a row that gave nothing


def clamp(value):
    return min(max(value, -CLAMP), CLAMP)


def score_of(holding):
    """Profit of a position at its mark, by its cost."""
    profit = holding.market.mark * holding.size - holding.cost
    return clamp(profit * PPM // max(1, abs(holding.cost)))


def shares_of(legs, equity, maintenance):
    """e of each live leg: of equity by margin; a deficit where it arose (R7 L3 1). What a frozen
    leg has lost stays with it: it is no deficit that no leg shows."""
    if equity >= 0:
        return [equity * leg.margins()[1] // maintenance for leg in legs]
    deficit = -equity
    losses = [leg.lost() for leg in legs]
    total = sum(leg.lost() for leg in liquidation.legs_of(legs[0].portfolio))
    shares = []
    for leg, loss in zip(legs, losses):
        share = -cdiv(min(deficit, total) * loss, total) if total else 0
        if deficit > total:
            notional = abs(leg.size) * leg.market.mark
            share -= min(cdiv((deficit - total) * leg.margins()[1], maintenance),
                         notional * leg.market.tiers[0][2] // PPM)
        shares.append(share)
    return shares


def price_at(market, size, share):
    """Where that share of the equity is gone, within the band of the mark."""
    price = market.mark - (1 if size > 0 else -1) * (share // abs(size))
    low, high = market.band_of(market.mark)
    return min(max(price, low), high)


def prices_of(exchange, legs, equity, maintenance):
    """p of each leg; of a deficit the other side bears up to m1, and what the fund's day does not
    carry."""
    prices, paid_by_fund = [], liquidation.allowance(exchange)
    for leg, share in zip(legs, shares_of(legs, equity, maintenance)):
        mark, size = leg.market.mark, abs(leg.size)
        sign = 1 if leg.size > 0 else -1
        if equity >= 0:
            price = mark - sign * (share // size)
        else:
            deficit, distance = -equity, -(share // size)
            bound = max(mark * leg.market.tiers[0][2] // PPM,
                        cdiv(distance * max(0, deficit - paid_by_fund), deficit))
            price = mark + sign * min(distance, bound, mark * leg.market.band // PPM)
        prices.append(min(max(price, 1), PRICE_MAX))
    return prices


def bearable(leg, holding, price):
    """How much of the leg the other side can take at a price: when it is worse for it than the
    mark, no more than leaves its own equity at 0, down to the lot."""
    most, mark = min(abs(leg.size), abs(holding.size)), leg.market.mark
    if (price - mark) * leg.size <= 0:
        return most
    capacity = max(0, holding.portfolio.risk()[0]) // abs(price - mark)
    return min(most, capacity // leg.market.lot * leg.market.lot)


class Run:
    only_pass_two = False

    def __init__(self, exchange, portfolio, legs, prices):
        self.exchange, self.portfolio, self.legs = exchange, portfolio, legs
        self.prices = prices
        self.rounding = sum(abs(leg.size) for leg in legs) + 2 * len(legs)
        exchange.counts["L3"] += 1
        exchange.run = self
        self.at = -1
        self.next_leg()

    def next_leg(self):
        self.at += 1
        self.pass_two = self.only_pass_two
        self.fruitless = 0
        self.rank()

    def rank(self):
        """Begins a ranking by a scan."""
        self.cursor, self.ranked, self.ready = 0, [], False
        self.gave = self.left_out = False
        self.rest = []
        if self.at < len(self.legs):
            self.mark = self.legs[self.at].market.mark

    def rank_anew(self, nobody):
        """No place is left: of those who were ranked, or nobody was. The next are of the rest,
        unless the mark has moved since the scan or nobody has given anything."""
        if self.rest and (not self.ready or
                          self.gave and self.mark == self.legs[self.at].market.mark):
            self.exchange.counts["L3 ranks the rest"] += 1
            if self.ready:
                self.fruitless = 0
            self.ranked, self.rest = self.rest[:HEAP], self.rest[HEAP:]
            self.ready, self.gave, self.left_out = True, False, bool(self.rest)
            return
        self.fruitless = 0 if self.gave else self.fruitless + 1
        if (nobody or self.fruitless == FRUITLESS_MOST) and not self.pass_two:
            self.exchange.counts["L3 pass 2"] += 1
            self.pass_two = True
        self.rank()

    def step(self):
        """One holder ranked or passed over, or one fill: gives the units. What ends a pass, a leg
        or the run is free."""
        if self.at >= len(self.legs):
            self.finish()
            return 1
        leg = self.legs[self.at]
        used = 1
        if self.ready and not self.ranked and leg.size and liquidation.is_live(self.exchange, leg):
            self.rank_anew(False)  # the last one has traded
        if liquidation.is_live(self.exchange, leg):
            used = self.fill(leg) if self.ready else self.meet(leg)
            risk.flush(self.exchange)
        if self.at >= len(self.legs):
            self.finish()
            return used
        if not leg.size or not liquidation.is_live(self.exchange, leg):
            self.next_leg()
        elif self.ready and not self.ranked:
            self.rank_anew(False)
        if self.at >= len(self.legs):
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
        """A place for an opposite holder that can give: among the best 256, or in the rest."""
        if not self.gives(leg, holding, abs(holding.size)):
            return
        owner = holding.portfolio
        score = score_of(holding)
        entry = (owner.account == 0, -score, *owner.id()), holding
        among = self.rest if self.rest and self.rest[0][0] < entry[0] else self.ranked
        insort(among, entry, key=lambda entry: entry[0])
        if len(self.ranked) > HEAP:
            self.rest.insert(0, self.ranked.pop())
        self.left_out |= bool(self.rest)

    def ranks(self, market):
        return self.at < len(self.legs) and self.legs[self.at].market is market

    def moved(self, portfolio):
        """Who has traded in the leg's market and was met already has its place by what it is."""
        if self.at >= len(self.legs) or not self.ready and portfolio.number >= self.cursor:
            return
        leg = self.legs[self.at]
        kept = [entry for entry in self.ranked if entry[1].portfolio is not portfolio]
        if len(kept) < len(self.ranked):
            self.exchange.counts["L3 rank anew of who moved"] += 1
        self.ranked = kept
        self.rest = [entry for entry in self.rest if entry[1].portfolio is not portfolio]
        holding = portfolio.holdings.get(leg.market.id)
        if holding is not None and holding.size * leg.size < 0:
            self.offer(leg, holding)

    def price(self, leg):
        """At the fill: in pass 1 within the band of the mark."""
        mark = leg.market.mark
        if self.pass_two:
            return mark
        low, high = leg.market.band_of(mark)
        return min(max(self.prices[self.at], low), high)

    def gives(self, leg, holding, most):
        return min(most, bearable(leg, holding, self.price(leg)))

    def fill(self, leg):
        holding = self.ranked.pop(0)[1]
        risk.touch(self.exchange, holding.portfolio)
        if holding.size * leg.size >= 0:
            return 1
        quantity = self.gives(leg, holding, min(abs(leg.size), abs(holding.size)))
        if not quantity:
            self.exchange.counts["ADL passed over"] += 1
            return 1
        price = self.price(leg)
        self.exchange.counts["ADL"] += 1
        self.gave = True
        liquidation.deal(self.exchange, leg, holding, quantity, price, ADL_TYPE, 3)
        return FILL_UNITS

    def finish(self):
        """The fund pays what is missing, or takes the rounding; a frozen leg lets it wait."""
        exchange, portfolio = self.exchange, self.portfolio
        portfolio.run = exchange.run = None
        if liquidation.legs_of(portfolio):
            exchange.counts["L3 leaves frozen legs"] += 1
            risk.changed(exchange, portfolio)
            return
        if portfolio.cash < 0:
            exchange.counts["L3 paid by the fund"] += 1
            liquidation.pay_deficit(exchange, portfolio)
            if exchange.by_number[0].cash < 0:
                exchange.counts["L3 leaves a deficit"] += 1
                for leg in self.legs:
                    tighten(exchange, leg.market)
        elif portfolio.cash > 0:
            liquidation.pay_from_fund(exchange, portfolio, -min(portfolio.cash, self.rounding))
        liquidation.leave(exchange, portfolio, portfolio.cash, 0)


class FundRun(Run):
    """Of the fund's legs, at the mark, until its positions are five times its equity."""
    only_pass_two = True

    def __init__(self, exchange, fund, legs):
        super().__init__(exchange, fund, legs, [leg.market.mark for leg in legs])

    def next_leg(self):
        super().next_leg()
        if liquidation.gross(self.portfolio) <= 5 * self.portfolio.risk()[0]:
            self.at = len(self.legs)

    def fill(self, leg):
        used = super().fill(leg)
        if liquidation.gross(self.portfolio) <= 5 * self.portfolio.risk()[0]:
            self.at = len(self.legs)
        return used

    def finish(self):
        self.portfolio.run = self.exchange.run = None


def tighten(exchange, market):
    """A deficit: nobody opens anything. A stricter state stays (R9)."""
    if market.is_held and market.former_state <= POST_ONLY:
        market.former_state = states.REDUCE_ONLY
    if states.own(market) <= POST_ONLY:
        states.enter(exchange, market, states.REDUCE_ONLY, states.CAUSE_FUND)
