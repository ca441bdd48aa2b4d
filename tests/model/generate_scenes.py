"""Generator of scenes that end in one rare clause, again and again: losses that nobody can pay,
closings, gaps of a market and of the clock, bounds of an account. The last account is the bank, who
is on the other side."""
import keys
import liquidation
import wire
from regimes import USDC
from wire import (ACTIVE, BOOT, CANCEL_ALL, CLOSED, CREATE_PORTFOLIO, GTC, HALTED, IOC,
                  MARKET_ORDER, MARKET_STATE, REDUCE_ONLY, REPLACE, TOP_UP)

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

    def loser(self):
        return self.random.choice(self.numbers[:-1])

    def equity(self, exchange, account):
        return exchange.portfolios[account, 0, 0].risk()[0]

    def worth(self, exchange, account, amount):
        """A deposit if the account has less. Gives its equity then."""
        equity = self.equity(exchange, account)
        if equity < amount:
            yield self.deposit(account, amount - equity)
        return max(equity, amount)

    def stake(self, exchange, account, least=0):
        """Cash for who has too little to lose."""
        if self.equity(exchange, account) < max(least, STAKE[0] * USDC):
            wanted = self.random.randrange(STAKE[0] * USDC, STAKE[1] * USDC)
            yield from self.worth(exchange, account, max(least, wanted))

    def top_up(self, amount):
        return self.signed(TOP_UP, wire.TOP_UP_BODY.pack(amount), self.own_treasurer())

    def rest(self, market, account, price, size):
        """An order at or below this price."""
        price = max(market.tick, price // market.tick * market.tick)
        return self.place([account, 0, 0, price, size, GTC, 0, 0, 0, 0, market.id, 0],
                          self.fresh[account])

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

    # ---- R3

    def scene_gap(self, exchange):
        """Everybody has an order; the index moves, and until the scan is done they replace it, or
        trade."""
        rng = self.random
        while True:
            market = self.some_market(exchange)
            if market.is_held or market.state != ACTIVE or not market.index:
                yield from self.quiet(exchange)
            yield from self.work_off(exchange, 60)
            for account in self.numbers:
                holding = exchange.portfolios[account, 0, 0].holding(market)
                if not holding.orders:
                    yield from self.stake(exchange, account)
                    yield self.rest(market, account, market.mark * 97 // 100,
                                    self.size_worth(market, 20 * USDC))
            if rng.random() < 0.5:
                self.trade(market, self.loser(), self.bank(), rng.choice((1, -1))
                           * self.size_worth(market, 100 * USDC))
                yield from self.follow()
                yield from self.work_off(exchange, 60)
            yield self.move(market, self.toward(market) * -rng.randrange(11000, 40000))
            while market.in_gap:
                yield self.in_gap(exchange, market)

    def in_gap(self, exchange, market):
        rng, account = self.random, self.random.choice(self.numbers)
        orders = list(exchange.portfolios[account, 0, 0].holding(market).orders)
        size = self.size_worth(market, 20 * USDC)
        if rng.random() < 0.5 or not orders:
            return self.signed(MARKET_ORDER, wire.MARKET_BODY.pack(
                account, 0, 0, rng.choice((1, -1)) * size, 0, market.id, 0, 0, 1, bytes(6)),
                               self.fresh[account])
        price = max(market.tick, market.mark * 97 // 100 // market.tick * market.tick)
        return self.signed(REPLACE, wire.REPLACE_BODY.pack(
            account, 0, 0, orders[0].id, price, size, GTC, rng.random() < 0.1, 0, 0, 0, market.id,
            0, 0), self.fresh[account])

    # ---- R7

    def scene_loss(self, exchange):
        """Somebody loses to the bank: to the book, to the fund, or more than it has, with a second
        position that is frozen or without."""
        rng, fund, bank = self.random, exchange.by_number[0], self.bank()
        while True:
            yield from self.quiet(exchange)
            market, frozen = self.two_markets(exchange)
            self.clock += 61 * SECOND  # no price of before is a reference
            kind = rng.choice(("book", "fund", "gap"))
            holds = any(one.size for one in fund.holdings.values())
            if holds and rng.random() < 0.9:
                kind = "gap"
            value = rng.randrange(900, 3000) * USDC if kind == "fund" else 20000 * USDC
            account = self.loser()
            equity = yield from self.worth(exchange, account, value // 16)
            value = min(15 * equity, 20000 * USDC)
            least = {"fund": value * rng.randrange(30, 80) // 100,
                     "gap": rng.randrange(100) * USDC}.get(kind, -2**60)
            if fund.cash < least:
                yield self.top_up(least - fund.cash)
            side, price = self.back(market, 0.25, 0.45)
            size = self.size_worth(market, value)
            self.trade(market, account, bank, side * size)
            if kind == "gap" and not holds and rng.random() < 0.7:
                self.trade(frozen, account, bank, rng.choice((1, -1))
                           * self.size_worth(frozen, 30 * USDC))
                self.pending.append(self.set_state(frozen, HALTED, 0))
            if kind != "gap":
                part = rng.uniform(0.7, 1) if kind == "book" else rng.uniform(0, 0.66)
                left = market.maintenance_margin(size * market.mark) * part
                price = market.mark - side * max(0, int(equity - left) // size)
            if kind == "book":
                for part in (size // market.lot // 2 * market.lot, size):
                    self.pending.append(self.rest(market, bank, price, side * part))
            first = self.first_of(market)  # of who has much more than its margin
            price = self.prices[market.id] = max(first // 5, min(first * 5, price))
            self.aim(market, price)
            yield from self.follow()

    def scene_spent(self, exchange):
        """The fund takes about what it can; then the marks move against it, again and again."""
        rng, bank = self.random, self.bank()
        while True:
            yield from self.quiet(exchange)
            markets, loser = self.two_markets(exchange), self.loser()
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
            if rng.random() < 0.5:
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
        for _ in range(4 if size else 0):
            yield self.rest(market, self.bank(), market.mark, part if size > 0 else -part)
        for _ in range(3 if size else 0):
            self.clock += SECOND
            yield self.make_tick(exchange)

    # ---- R9

    def seconds(self, exchange, count):
        for _ in range(count):
            self.clock += SECOND
            yield self.make_tick(exchange)

    def scene_settled(self, exchange):
        """Seconds at a price, then in one market after another a step, a trade and the end."""
        rng, markets = self.random, exchange.markets.values()
        while True:
            opened = [market for market in markets if market.state == ACTIVE and market.index]
            if not opened or exchange.work.is_busy():
                yield self.make_tick(exchange)
                continue
            if len(opened) == len(markets) and len(opened[0].samples) < 58:
                yield from self.seconds(exchange, rng.randrange(59, 75))  # a mean is of 60
            market, loser, up = rng.choice(opened), rng.choice((1, 2)), rng.choice((1, -1))
            price = market.index * (100 + up * rng.randrange(3, 10)) // 100
            self.prices[market.id] = price
            yield self.update(market, price)
            value = yield from self.worth(exchange, loser, rng.randrange(30, 300) * USDC)
            for account in (3, 4):
                yield from self.worth(exchange, account, 9000 * USDC)
            lots = max(2, min(value, 4000 * USDC) * rng.randrange(12, 19) // price // market.lot)
            for account, part in ((3, lots // 2), (4, lots)):  # short behind a fall
                yield self.rest(market, account, price, -up * part * market.lot)
            yield self.place([loser, 0, 0, price // market.tick * market.tick,
                              up * lots * market.lot, IOC, 0, 0, 1, 0, market.id, 0],
                             self.fresh[loser])
            if rng.random() < 0.05:
                yield self.make_fund(exchange)
            yield self.set_state(market, REDUCE_ONLY, 1)
            yield self.set_state(market, CLOSED, 1)

    def scene_hour(self, exchange):
        """All markets are announced with positions in them, and closed behind their hour; in most
        of them the index moves in the last half of it."""
        rng, markets = self.random, exchange.markets.values()
        while True:
            opened = [market for market in markets if market.state != CLOSED]
            for market in opened:
                account = self.loser()
                yield from self.stake(exchange, account)
                self.trade(market, account, self.bank(), rng.choice((1, -1)) * self.size_worth(
                    market, self.equity(exchange, account) * rng.randrange(1, 6) // 10))
                yield from self.follow()
                yield self.set_state(market, REDUCE_ONLY, 1)
            self.clock += rng.randrange(1700, 3200) * SECOND
            for market in opened:
                if rng.random() < 0.8:
                    yield self.update(market, market.index * rng.randrange(92, 109) // 100)
            yield from self.seconds(exchange, rng.randrange(55, 70))
            for market in opened:
                self.clock = max(self.clock, market.announced_at + HOUR)
                yield self.set_state(market, CLOSED, 0)
            if not opened:
                yield self.make_tick(exchange)

    def scene_clock(self, exchange):
        """A start whose clock is far off, states that are set then, its confirmation."""
        rng = self.random
        while True:
            for _ in range(rng.choice((1, 2, 2))):
                step = rng.choice((-1, 1, 1)) * rng.randrange(1, 10**14)
                yield 0, BOOT, wire.BOOT_BODY.pack(1, 1, 0, step), b"", self.clock
                if rng.random() < 0.3:
                    yield 0, wire.RESTORED, bytes(wire.RESTORED_BODY.size), b"", self.clock
                for _ in range(rng.randrange(2)):
                    state = rng.choice((ACTIVE, ACTIVE, REDUCE_ONLY, HALTED))
                    yield self.by(MARKET_STATE, self.state_body(
                        1 + rng.choice(self.regime["records"]), state))
            if rng.random() < 0.3:
                body = wire.CLOCK_CONFIRM_BODY.pack(exchange.gap + 1, 0)
                yield self.by(wire.CLOCK_CONFIRM, body)
            while exchange.gap:
                body = wire.CLOCK_CONFIRM_BODY.pack(exchange.gap, 0)
                yield self.by(wire.CLOCK_CONFIRM, body)
            self.clock += rng.randrange(2 * HOUR)
            yield self.make_tick(exchange)

    # ---- W8

    def scene_bounds(self, exchange):
        """An account takes all rows of a kind that it may have, and asks for more."""
        rng = self.random
        while True:
            account, table = rng.choice(self.numbers), rng.choice(("credentials", "portfolios"))
            bound, has = exchange.shares.cap(account, table)
            for _ in range(max(0, bound - has) + 2):
                if table == "credentials":
                    yield self.api_key(account, wire.READ_WRITE)
                else:
                    yield self.signed(CREATE_PORTFOLIO, wire.CREATE_PORTFOLIO_BODY.pack(
                        account, 0, 0, b""), keys.secp256k1_public(account))
