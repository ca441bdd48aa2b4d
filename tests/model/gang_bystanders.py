"""Two bounds of the rules: what the engine fills lies within the band of the mark; and
the bystander's bound: in a command that an account did not sign, what a portfolio may lose, valued
at the index."""
from wire import ADL_TYPE, LIQUIDATE_TYPE

PPM = 10**6


class Nobody:
    """Looks at nothing."""

    def before(self):
        pass

    def after(self, signer):
        pass

    def filled(self, maker, taker, quantity, price):
        pass

    def settled(self, portfolio, market, price, cut):
        pass


class Bystanders:
    """Every portfolio but the fund's, around each command of the exchange."""

    def __init__(self, exchange):
        self.exchange = exchange
        self.broken = []     # (command, portfolio, fall or price, bound or mark)
        self.checked = 0
        self.known = []      # (portfolio, equity at the index, {market: (size, index)})
        self.bounds = {}     # portfolio -> what its fills of this command may cost

    def equity(self, portfolio):
        return portfolio.cash + sum(holding.market.index * holding.size - holding.cost
                                    for holding in portfolio.holdings.values())

    def before(self):
        self.bounds = {}
        self.known = [(each, self.equity(each), [(holding.market, abs(holding.size),
                                                  holding.market.index)
                                                 for holding in each.holdings.values()
                                                 if holding.size])
                      for each in self.exchange.by_number[1:]]

    def filled(self, maker, taker, quantity, price):
        """Before a fill. Of an order of its own the distance of its price from the index and the
        fee; of what the engine made the distance of the mark, the band, the penalty, the share."""
        market = taker.market
        engine_made = taker.type in (LIQUIDATE_TYPE, ADL_TYPE)
        low, high = market.band_of(market.mark)
        if maker.type < LIQUIDATE_TYPE:  # a maker may offer more than the band
            low, high = (0, high) if taker.side > 0 else (low, price)
        if engine_made and not low <= price <= high:
            self.broken.append((self.exchange.sequence, taker.owner.id(), price, market.mark))
        for order in (maker, taker):
            distance = (order.price if order.type < LIQUIDATE_TYPE else price) - market.index
            bound = quantity * max(0, distance * order.side) + quantity * price // 1000 + 1
            if engine_made and (order is taker or order.type >= LIQUIDATE_TYPE):
                bound = quantity * (abs(market.mark - market.index)
                                    + market.mark * market.band // PPM)
                bound += quantity * price * 5000 // PPM + 2 * quantity + 4
                if order is taker:  # what is left of its equity goes to the fund
                    bound += max(0, order.owner.risk()[0])
            self.bounds[order.owner] = self.bounds.get(order.owner, 0) + bound

    def settled(self, portfolio, market, price, cut):
        """R9: the distance of the settlement price from the index, and the cut."""
        size = abs(portfolio.holdings[market.id].size)
        self.bounds[portfolio] = (self.bounds.get(portfolio, 0)
                                  + size * abs(price - market.index) + cut)

    def after(self, signer):
        for portfolio, equity, positions in self.known:
            if portfolio.account == signer:
                continue
            bound = self.bounds.get(portfolio, 0) + sum(
                size * abs(market.index - index) for market, size, index in positions)
            fall = equity - self.equity(portfolio)
            self.checked += 1
            if fall > bound:
                self.broken.append((self.exchange.sequence, portfolio.id(), fall, bound))
