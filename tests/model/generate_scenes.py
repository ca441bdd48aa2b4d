"""Generator of scenes that end in one rare clause, again and again: a fund that took about what it
can and is deleveraged, with the last account, the bank, on the other side; gaps of the clock."""
import liquidation
import wire
from regimes import USDC
from wire import ACTIVE, BOOT, CANCEL_ALL, GTC, HALTED, MARKET_STATE, REDUCE_ONLY, TOP_UP

MS = 1000000
SECOND = 1000 * MS
HOUR = 3600 * SECOND
STAKE = (200, 3000)  # USDC that somebody loses


class SceneCommands:
    scene = None  # the commands of the stream's scene; it never ends

    def make_scene(self, exchange):
        if self.scene is None:
            self.scene = getattr(self, "scene_" + self.regime["scene"])(exchange)
        return next(self.scene)

    # ---- what scenes are made of

    def follow(self):
        """The commands that wait; all but the first are given before the scene goes on."""
        if self.pending:
            yield self.pending.popleft()

    def bank(self):
        return self.numbers[-1]

    def equity(self, exchange, account):
        return exchange.portfolios[account, 0, 0].risk()[0]

    def top_up(self, amount):
        return self.signed(TOP_UP, wire.TOP_UP_BODY.pack(amount), self.own_treasurer())

    def work_off(self, exchange, most):
        for _ in range(most):
            if not exchange.work.is_busy():
                break
            yield self.make_tick(exchange)

    def quiet(self, exchange):
        """Takes away what a scene has left: holds, states, who is in liquidation, debts, orders
        and positions."""
        bank, markets = self.bank(), exchange.markets.values()
        for market in markets:
            if market.is_held:
                yield self.accept(market, market.run[-1][1])
            if market.state != ACTIVE:
                yield self.set_state(market, ACTIVE, 0)
            if not market.index:
                yield self.update(market, self.prices[market.id])
        for account in self.numbers:
            portfolio = exchange.portfolios[account, 0, 0]
            if portfolio.status == wire.IN_LIQUIDATION:
                equity, _, maintenance = portfolio.risk()
                yield self.deposit(account, max(USDC, 2 * maintenance - equity))
        yield from self.work_off(exchange, 30)
        if exchange.by_number[0].cash < 0:
            yield self.top_up(-exchange.by_number[0].cash)
        if exchange.orders:
            for market in markets:
                yield self.signed(CANCEL_ALL, wire.CANCEL_ALL_BODY.pack(
                    bank, 0, 0, market.id, 0, 0, 0, 0), self.fresh[bank])
        for account in self.numbers[:-1]:
            for holding in list(exchange.portfolios[account, 0, 0].holdings.values()):
                if holding.size:
                    self.trade(holding.market, account, bank, -holding.size)
        yield from self.follow()
        if self.equity(exchange, bank) < 500000 * USDC:
            yield self.deposit(bank, 2000000 * USDC)

    def stake(self, exchange, account, least=0):
        """Cash for who has too little to lose."""
        wanted = max(least, self.random.randrange(STAKE[0] * USDC, STAKE[1] * USDC))
        equity = self.equity(exchange, account)
        if equity < max(least, STAKE[0] * USDC):
            yield self.deposit(account, wanted - equity)

    def toward(self, market):
        """The side that loses by a move to where the index began, mostly."""
        return self.back(market, 0, 0)[0]

    def move(self, market, ppm):
        """An update that no price of before is a reference of."""
        self.clock += 61 * SECOND
        price = self.prices[market.id] = market.index * (10**6 + ppm) // 10**6
        return self.update(market, price)

    def ppm_to(self, exchange, account, market, part):
        """The move of a market that leaves so many maintenance margins of a portfolio."""
        portfolio = exchange.portfolios[account, 0, 0]
        size = portfolio.holding(market).size
        equity, _, maintenance = portfolio.risk()
        if not size:
            return 0
        price = market.mark + (int(maintenance * part) - equity) // size
        return max(-98000, min(98000, price * 10**6 // market.index - 10**6))

    def two_markets(self, exchange):
        return [exchange.markets[1 + number]
                for number in self.random.sample(self.regime["records"], 2)]

    # ---- R7

    def scene_spent(self, exchange):
        """The fund takes about what it can; then the marks move against it, again and again."""
        rng, bank = self.random, self.bank()
        while True:
            yield from self.quiet(exchange)
            markets, loser = self.two_markets(exchange), rng.choice(self.numbers[:-1])
            fund = max(0, exchange.by_number[0].risk()[0])
            yield from self.stake(exchange, loser, fund // 4)
            value = self.equity(exchange, loser) * 9
            sides = [self.toward(market) for market in markets]
            for market, side in zip(markets, sides):
                self.trade(market, loser, bank, side * self.size_worth(market, value))
            yield from self.follow()
            if value > 2 * fund:
                yield self.top_up(value * 1000 // rng.randrange(1700, 2050) - fund)
            yield self.move(markets[0], -sides[0] * 47500)
            yield self.move(markets[1], self.ppm_to(exchange, loser, markets[1],
                                                    rng.uniform(0.1, 0.6)))
            yield from self.work_off(exchange, 12)
            if rng.random() < 0.3:
                yield from self.sell(exchange, markets[0])
            for number in range(rng.randrange(6, 12)):
                step = rng.randrange(88000, 97000) if number < 2 else rng.randrange(56000, 70000)
                for market, side in zip(markets, sides):
                    yield self.move(market, -side * step)
                    yield from self.work_off(exchange, 4)
                if liquidation.gross(exchange.by_number[0]) < 3 * self.equity(exchange, 0):
                    break  # it has given most away

    def sell(self, exchange, market):
        """Some seconds in which the fund sells to makers of little."""
        size = exchange.by_number[0].holding(market).size
        part = max(market.min_size, abs(size) // 30 // market.lot * market.lot)
        price = max(market.tick, market.mark // market.tick * market.tick)
        for _ in range(4 if size else 0):
            yield self.place([self.bank(), 0, 0, price, part if size > 0 else -part, GTC, 0, 0, 0,
                              0, market.id, 0], self.fresh[self.bank()])
        for _ in range(3 if size else 0):
            self.clock += SECOND
            yield self.make_tick(exchange)

    # ---- R9

    def scene_clock(self, exchange):
        """A start whose clock is far off, states that are set then, its confirmation."""
        rng = self.random
        while True:
            for _ in range(rng.choice((1, 2, 2))):
                step = rng.choice((-1, 1, 1)) * rng.randrange(1, 10**14)
                yield 0, BOOT, wire.BOOT_BODY.pack(1, 1, 0, step), b"", self.clock
                for _ in range(rng.randrange(2)):
                    state = rng.choice((ACTIVE, ACTIVE, REDUCE_ONLY, HALTED))
                    yield self.by(MARKET_STATE, self.state_body(
                        1 + rng.choice(self.regime["records"]), state))
            if rng.random() < 0.3:
                yield self.by(wire.CLOCK_CONFIRM, wire.CLOCK_CONFIRM_BODY.pack(exchange.gap + 1, 0))
            while exchange.gap:
                yield self.by(wire.CLOCK_CONFIRM, wire.CLOCK_CONFIRM_BODY.pack(exchange.gap, 0))
            self.clock += rng.randrange(2 * HOUR)
            yield self.make_tick(exchange)
