"""Generator of losses that nobody can pay: closings at a mean that is far from the mark, and a fund
that takes positions over, refuses them, or pays more than it has."""
import wire
from regimes import USDC
from wire import ACTIVE, CLOSED, GTC, HALTED, IOC, REDUCE_ONLY, TOP_UP

MS = 1000000
OPERATOR = b"\x11" * 32


class LossCommands:
    def worth_at_least(self, exchange, account, amount):
        """The account's equity, behind a deposit if it has less."""
        equity = exchange.portfolios[account, 0, 0].risk()[0]
        if equity < amount:
            self.pending.append(self.deposit(account, amount - equity))
        return max(equity, amount)

    # ---- closings

    def make_settled(self, exchange):
        """Seconds at a price, then in one market after another a step, a trade and the end."""
        rng = self.random
        markets = exchange.markets.values()
        opened = [market for market in markets if market.state == ACTIVE and market.index]
        if not opened or exchange.work.is_busy():
            return self.make_tick(exchange)
        if len(opened) == len(markets) and len(opened[0].samples) < 58:
            for _ in range(rng.randrange(59, 75)):  # the mean is of 60 at least
                self.clock += 1000 * MS
                self.pending.append(self.make_tick(exchange))
            return self.pending.popleft()
        market, loser, up = rng.choice(opened), rng.choice((1, 2)), rng.choice((1, -1))
        price = self.prices[market.id] = market.index * (100 + up * rng.randrange(3, 10)) // 100
        self.pending.append(self.update(market, price))
        value = self.worth_at_least(exchange, loser, rng.randrange(30, 300) * USDC)
        for account in (3, 4):
            self.worth_at_least(exchange, account, 9000 * USDC)
        lots = max(2, min(value, 4000 * USDC) * rng.randrange(12, 19) // price // market.lot)
        price = price // market.tick * market.tick
        for account, part in ((3, lots // 2), (4, lots)):  # short behind a fall
            self.pending.append(self.place([account, 0, 0, price, -up * part * market.lot, GTC, 0,
                                            0, 0, 0, market.id, 0], self.fresh[account]))
        self.pending.append(self.place([loser, 0, 0, price, up * lots * market.lot, IOC, 0, 0, 1,
                                        0, market.id, 0], self.fresh[loser]))
        if rng.random() < 0.05:
            self.pending.append(self.make_fund(exchange))
        self.pending += [self.set_state(market, REDUCE_ONLY, 1), self.set_state(market, CLOSED, 1)]
        return self.pending.popleft()

    # ---- the book, the fund, and what it cannot pay

    def make_loss(self, exchange):
        """Account 1 or 2 loses to account 3: to the book, to the fund, or more than it has, with a
        second position that is frozen or without."""
        for market in exchange.markets.values():
            if market.state == HALTED:
                return self.set_state(market, ACTIVE, 0)
        if command := self.unrest(exchange) or self.flatten(exchange):
            return command
        rng, fund = self.random, exchange.by_number[0]
        numbers = rng.sample(self.regime["records"], 2)
        market, frozen = (exchange.markets[1 + number] for number in numbers)
        self.clock += 61000 * MS  # no price of before is a reference
        kind = rng.choice(("book", "fund", "gap"))
        holds = any(one.size for one in fund.holdings.values())
        if holds and rng.random() < 0.9:
            kind = "gap"
        value = rng.randrange(900, 3000) * USDC if kind == "fund" else 20000 * USDC
        account = rng.choice((1, 2))
        equity = self.worth_at_least(exchange, account, value // 16)
        value = min(15 * equity, 20000 * USDC)
        self.worth_at_least(exchange, 3, 40000 * USDC)
        if kind == "fund":
            least = value * rng.randrange(30, 80) // 100
        else:
            least = rng.randrange(100) * USDC if kind == "gap" else -2**60
        if fund.cash < least:
            self.pending.append(self.signed(TOP_UP, wire.TOP_UP_BODY.pack(least - fund.cash),
                                            OPERATOR))
        side, price = self.back(market, 0.25, 0.45)
        size = self.size_worth(market, value)
        self.trade(market, account, 3, side * size)
        if kind == "gap" and not holds and rng.random() < 0.7:
            self.trade(frozen, account, 3, rng.choice((1, -1))
                       * self.size_worth(frozen, 30 * USDC))
            self.pending.append(self.set_state(frozen, HALTED, 0))
        if kind != "gap":
            part = rng.uniform(0.7, 1) if kind == "book" else rng.uniform(0, 0.66)
            left = market.maintenance_margin(size * market.mark) * part
            price = market.mark - side * max(0, int(equity - left) // size)
        if kind == "book":
            at = price // market.tick * market.tick
            for part in (size // market.lot // 2 * market.lot, size):
                self.pending.append(self.place([3, 0, 0, at, side * part, GTC, 0, 0, 0, 0,
                                                market.id, 0], self.fresh[3]))
        first = self.first_of(market)  # of who has much more than its margin
        price = self.prices[market.id] = max(first // 5, min(first * 5, price))
        self.aim(market, price)
        return self.pending.popleft()
