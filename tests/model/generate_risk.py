"""Generator of what breaks portfolios: positions at the edge of their margin, index moves that are
aimed at one of them, top-ups of the fund, hours of funding and settlements."""
import wire
from market import SECOND
from regimes import MARKETS, USDC
from wire import (ACTIVE, CLOSED, GTC, IOC, LEVERAGE, MARKET_STATE, ORACLE, REDUCE_ONLY, TOP_UP)

MS = 1000000
HOUR = 3600 * SECOND
OPERATOR, ORACLE_KEY = b"\x11" * 32, b"\x22" * 32


def strained(holding):
    """How much of its portfolio's equity its maintenance margin is."""
    return holding.margins()[1] / max(1, holding.portfolio.risk()[0])


class RiskCommands:
    # ---- positions at the edge

    def make_pair(self, exchange):
        """Two accounts open against each other with most of what one of them may."""
        rng = self.random
        one, other = rng.sample(self.numbers, 2)
        market = exchange.markets[1 + rng.choice(self.regime["records"])]
        mark = market.mark
        if not mark:
            return self.make_oracle(exchange)
        portfolio = exchange.portfolios[one, 0, 0]
        free = portfolio.balance()[0]
        leverage = portfolio.holding(market).leverage
        size = int(free * leverage * rng.uniform(0.2, 0.99)) // mark
        size = min(size, market.max_size) // market.lot * market.lot
        if size < market.min_size or size * mark < market.min_notional:
            return self.deposit(one, rng.randrange(*self.regime["deposit"]) * USDC)
        price = mark // market.tick * market.tick or market.tick
        side = rng.choice((1, -1))
        maker = [other, 0, 0, price, -side * size, GTC, 0, 0, 0, 0, market.id, 0]
        taker = [one, 0, 0, price, side * size, IOC, 0, 0, 1, 0, market.id, 0]
        self.pending.append(self.place(taker, self.fresh[one]))
        return self.place(maker, self.fresh[other])

    def make_lever(self, exchange):
        """The highest leverage for somebody."""
        if not exchange.credentials.api_keys:
            return self.make_place(exchange)
        fields = self.leverage_fields(exchange)
        fields[4] = exchange.markets[fields[5]].max_leverage
        return (0, LEVERAGE, wire.LEVERAGE_BODY.pack(*fields), b"", self.clock, b"")

    # ---- index moves

    def make_crash(self, exchange):
        """Moves the index to where a portfolio has some part of its maintenance margin left."""
        rng = self.random
        found = [holding for portfolio in exchange.by_number[1:]
                 for holding in portfolio.holdings.values() if holding.size
                 and holding.market.state != CLOSED]
        if not found:
            return self.make_pair(exchange)
        holding = max(rng.choices(found, k=4), key=strained)
        market, portfolio = holding.market, holding.portfolio
        equity, _, maintenance = portfolio.risk()
        part = rng.choices((rng.uniform(0.7, 1.0), rng.uniform(0, 0.66), -rng.uniform(0, 3),
                            rng.uniform(1.0, 1.1)), self.regime["crash"])[0]
        move = (int(maintenance * part) - equity) // holding.size
        price = market.mark + move
        gap = rng.random() < self.regime["gap"]
        if gap:
            price = int(market.mark * rng.choice((0.4, 0.6, 0.75, 0.85, 1.15, 1.3, 1.6)))
        first = self.first_of(market)
        price = max(first // 5, min(first * 5, price))
        self.prices[market.id] = price
        self.aim(market, price)
        return self.pending.popleft()

    @staticmethod
    def first_of(market):
        """Where its index began."""
        return MARKETS[market.id - 1][1]

    def aim(self, market, price):
        """As many updates as it takes to get there: three in a hold."""
        near = abs(price - market.index) * 10 <= market.index
        for number in range(1 if near else 3):
            self.pending.append(self.update(market, price, number))
            if not near:  # a run is as long as two seconds
                self.clock += 1100 * MS
        if not near:
            self.pending.append(self.accept(market, price))

    def update(self, market, price, number=0):
        publish = max(self.clock, market.publish_ts + 1) + number
        return self.signed(ORACLE, wire.ORACLE_BODY.pack(publish, price, market.id, 0, 3, 0),
                           ORACLE_KEY)

    def make_heal(self, exchange):
        """A deposit for who is in liquidation: well again, or not quite."""
        rng = self.random
        sick = [portfolio for portfolio in exchange.by_number[1:]
                if portfolio.status == wire.IN_LIQUIDATION]
        if not sick:
            return self.make_crash(exchange)
        portfolio = rng.choice(sick)
        equity, _, maintenance = portfolio.risk()
        wanted = maintenance * rng.choice((104, 105, 106, 70, 66)) // 100 - equity
        return self.deposit(portfolio.account, max(1, wanted + rng.randrange(-1, 2)))

    def make_fund(self, exchange):
        amount = self.random.randrange(*self.regime["top_up"]) * USDC
        return self.signed(TOP_UP, wire.TOP_UP_BODY.pack(amount), OPERATOR)

    def make_wait(self, exchange):
        """Beyond the waits of 100 ms and 30 s."""
        self.clock += self.random.choice((40, 99, 100, 101, 3000, 29999, 30001)) * MS
        return self.make_tick(exchange)

    # ---- funding

    def make_hour(self, exchange):
        """Just before or behind a full hour, now and then one that is passed over."""
        rng = self.random
        hour = self.clock // HOUR + rng.choice((1, 1, 1, 1, 1, 1, 1, 1, 2, 3))
        self.clock = max(self.clock, hour * HOUR + rng.randrange(-2 * SECOND, 2 * SECOND))
        return self.make_tick(exchange)

    # ---- settlement

    def make_close(self, exchange):
        """REDUCE_ONLY, then CLOSED after the hour, by force, or too early."""
        rng = self.random
        opened = [market for market in exchange.markets.values() if market.state != CLOSED]
        if len(opened) <= self.regime["keep"]:
            return self.make_place(exchange)
        market = max(rng.choices(opened, k=4), key=lambda one: one.max_position * one.mark)
        draw = rng.random()
        if draw < 0.5 and market.state == ACTIVE:
            return self.set_state(market, REDUCE_ONLY, 1)
        if draw < 0.6:
            self.clock += rng.choice((HOUR - SECOND, HOUR, HOUR + SECOND))
        if draw > 0.5 and market.mark:  # far from what the positions were opened at
            self.aim(market, int(market.mark * rng.choice((0.6, 0.8, 1.25, 1.5))))
            self.pending.append(self.set_state(market, CLOSED, 1))
            return self.pending.popleft()
        return self.set_state(market, CLOSED, int(rng.random() < (0.3 if draw < 0.5 else 0.7)))

    def set_state(self, market, state, force):
        return self.signed(MARKET_STATE, wire.STATE_BODY.pack(market.id, 0, state, force, 0),
                           OPERATOR)
