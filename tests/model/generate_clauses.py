"""Generator of what random commands meet seldom: scenes of a few commands in which one clause of
the rules decides."""
import keys
import wire
from cash import WITHDRAWAL_LEAST
from regimes import USDC
from wire import (ACTIVE, CANCEL_ONLY, CLOSE_ACCOUNT, GTC, IOC, MARKET_STATE, POST_ONLY,
                  REDUCE_ONLY, REMOVE_ADMIN, REMOVE_ADMIN_PASSKEY, TRANSFER, WITHDRAW)

MS = 1000000
OPERATOR = b"\x11" * 32


class ClauseCommands:
    # ---- keys and accounts

    def make_last_key(self, exchange):
        """The admin keys of an account go, signed by one of them, which then names itself."""
        account = self.account()
        admins = [key for key, master in exchange.credentials.masters.items()
                  if master.account == account and master.admin]
        for key in (*admins[1:], admins[0]):
            code = REMOVE_ADMIN_PASSKEY if keys.is_passkey(key) else REMOVE_ADMIN
            self.pending.append(self.signed(code, wire.KEY_BODY.pack(account, key, bytes(7)),
                                            admins[0]))
        return self.pending.popleft()

    def make_close_early(self, _exchange):
        """An account whose subaccount 0 trades on."""
        account = self.account()
        return self.signed(CLOSE_ACCOUNT, account.to_bytes(8, "little"), self.signer_of(account))

    # ---- profits

    def make_profit(self, exchange):
        """Out with more than was brought, while marks move; first with what was brought."""
        rng, money = self.random, exchange.money
        found = [portfolio for portfolio in exchange.by_number[1:]
                 if money.free(portfolio) >= WITHDRAWAL_LEAST]
        rich = [one for one in found if money.free(one) > max(0, money.net[one.account])]
        if not found:
            return self.make_pair(exchange)
        portfolio = rng.choice(rich or found)
        free, brought = money.free(portfolio), max(0, money.net[portfolio.account])
        if rich:
            amount = rng.choice((free, brought + 1, rng.randrange(brought, free) + 1))
        else:
            amount = free
        body = wire.WITHDRAW_BODY.pack(*portfolio.id(), max(WITHDRAWAL_LEAST, amount),
                                       rng.randbytes(20), 0)
        return self.signed(WITHDRAW, body, keys.secp256k1_public(portfolio.account))

    # ---- losses

    def back(self, market, least, most):
        """A side that loses by a move of the index toward where it began, and the price then."""
        rng = self.random
        first = self.first_of(market)
        down = rng.random() < (0.9 if market.index > first else 0.1)
        part = rng.uniform(least, most) * (-1 if down else 1)
        return (1 if down else -1), int(market.index * (1 + part))

    def trade(self, market, one, other, size, index=0):
        """Portfolio `index` of `one` takes `size` of `other` at the mark."""
        price = market.mark // market.tick * market.tick or market.tick
        self.pending.append(self.place(
            [other, 0, 0, price, -size, GTC, 0, 0, 0, 0, market.id, 0], self.fresh[other]))
        self.pending.append(self.place(
            [one, 0, index, price, size, IOC, 0, 0, 1, 0, market.id, 0], self.fresh[one]))

    def size_worth(self, market, value):
        return max(market.min_size, value // market.mark // market.lot * market.lot)

    def unrest(self, exchange):
        """What has to end before a scene can begin, or nothing."""
        for number in self.regime["records"]:
            market = exchange.markets[1 + number]
            if market.is_held:
                return self.accept(market, market.run[-1][1])
            if market.state == REDUCE_ONLY:
                return self.set_state(market, ACTIVE, 0)
            if not market.index:
                return self.update(market, market.index or self.prices[market.id])
        if exchange.work.is_busy() and self.random.random() < 0.95:
            return self.make_tick(exchange)
        return None

    def flatten(self, exchange):
        """The third account takes over what is left of a scene."""
        for account in (1, 2):
            for holding in exchange.portfolios[account, 0, 0].holdings.values():
                if holding.size:
                    self.trade(holding.market, 3, account, holding.size)
        return self.pending.popleft() if self.pending else None

    def make_cornered(self, exchange):
        """One loses to another, who in the same instant loses more in a second market and has
        nothing to give."""
        if command := self.unrest(exchange) or self.flatten(exchange):
            return command
        rng = self.random
        one, two = (exchange.markets[1 + number] for number in self.regime["records"][:2])
        loser, taken = rng.sample((1, 2), 2)
        cash, other, third = (exchange.portfolios[account, 0, 0].risk()[0]
                              for account in (loser, taken, 3))
        if cash < 100 * USDC:
            more = rng.randrange(100, 3000) * USDC
            self.pending.append(self.deposit(loser, more))
            cash += more
        value = min(cash, 7000 * USDC) * 19
        more = max(USDC, value * rng.randrange(30, 60) // 100 - other)
        worth = (other + more - value // 20) * 18
        self.pending.append(self.deposit(taken, more))
        self.pending.append(self.deposit(3, max(USDC, (worth + value) // 15 - third)))
        (side, fall), (turn, crash) = self.back(one, 0.055, 0.07), self.back(two, 0.08, 0.095)
        self.trade(one, loser, taken, side * self.size_worth(one, value))
        self.trade(two, taken, 3, turn * self.size_worth(two, worth))
        self.pending.append(self.update(one, fall))
        body = wire.WITHDRAW_BODY.pack(loser, 0, 0, USDC, rng.randbytes(20), 0)
        self.pending.append(self.signed(WITHDRAW, body, keys.secp256k1_public(loser)))
        self.pending.append(self.update(two, crash))
        self.prices[one.id], self.prices[two.id] = fall, crash
        self.clock += 61000 * MS  # no price of before is a reference
        return self.pending.popleft()

    def make_leaning(self, exchange):
        """An index at which somebody just has its maintenance margin, and a book that leans on the
        mark from the next second on: it alone must liquidate nobody."""
        if command := self.unrest(exchange):
            return command
        found = [holding for account in (1, 2)
                 for holding in exchange.portfolios[account, 0, 0].holdings.values()
                 if holding.size]
        if not found:
            return self.leaning_position(exchange)
        holding = found[0]
        market, side = holding.market, 1 if holding.size > 0 else -1
        price, steps = market.mark, 0
        equity, _, maintenance = holding.portfolio.risk()
        step = max(1, market.mark // 20000)
        while steps < 1800 and equity + (price - side * step - market.mark) * holding.size >= (
                maintenance - holding.margins()[1]
                + market.maintenance_margin(abs(holding.size) * (price - side * step))):
            price, steps = price - side * step, steps + 1
        body = wire.CANCEL_ALL_BODY.pack(3, 0, 0, market.id, 0, 0, 0, 0)
        self.pending.append(self.signed(wire.CANCEL_ALL, body, self.fresh[3]))
        if steps in (0, 1800) or self.random.random() < 0.1:  # too rich, or too old
            self.trade(market, holding.portfolio.account, 3, -holding.size)
            return self.pending.popleft()
        self.pending.append(self.update(market, price))
        worth = self.size_worth(market, 2 * market.impact_notional)
        for turn, off in ((1, 3 if side > 0 else 2), (-1, 2 if side > 0 else 3)):
            at = price * (10**6 - side * off * market.book_ppm) // 10**6
            at = max(market.tick, at // market.tick * market.tick)
            self.pending.append(self.place(
                [3, 0, 0, at, turn * worth, GTC, 1, 0, 0, 0, market.id, 0], self.fresh[3]))
        for _ in range(2):
            self.clock = (self.clock // 1000 // MS + 1) * 1000 * MS
            self.pending.append(self.make_tick(exchange))
        if self.random.random() < 0.6:
            self.lean_unmet(exchange, market)
        self.prices[market.id] = price
        return self.pending.popleft()

    def lean_unmet(self, exchange, market):
        """The same book while nobody can trade with it, for some samples of the premium."""
        for state in (self.random.choice((POST_ONLY, CANCEL_ONLY)), ACTIVE):
            body = wire.STATE_BODY.pack(market.id, 0, state, 0, 0)
            self.pending.append(self.signed(MARKET_STATE, body, OPERATOR))
            for _ in range(3 if state != ACTIVE else 0):
                self.clock = (self.clock // 5000 // MS + 1) * 5000 * MS
                self.pending.append(self.make_tick(exchange))

    def leaning_position(self, exchange):
        """Of account 1 or 2, against the third, with most of what it may."""
        rng, account = self.random, self.random.choice((1, 2))
        market = self.some_market(exchange)
        free = exchange.portfolios[account, 0, 0].balance()[0]
        value = min(free, 7000 * USDC) * 18
        self.pending.append(self.deposit(3, rng.randrange(40000, 90000) * USDC))
        if free < 400 * USDC:
            self.pending.append(self.deposit(account, rng.randrange(500, 3000) * USDC))
            return self.pending.popleft()
        self.clock += 61000 * MS  # no price of before is a reference
        self.trade(market, account, 3, rng.choice((1, -1)) * self.size_worth(market, value))
        return self.pending.popleft()

    def make_netted(self, exchange):
        """An account long in a portfolio and short in another; the index moves against one."""
        if command := self.unrest(exchange):
            return command
        rng = self.random
        account, third = rng.choice((1, 2)), rng.choice((3, 4, 5))
        if self.twin(exchange, account) is None:
            return self.pending.popleft() if self.pending else self.make_tick(exchange)
        both = [exchange.portfolios[account, 0, index] for index in range(2)]
        for index, portfolio in enumerate(both):
            for holding in portfolio.holdings.values():
                if holding.size:
                    self.trade(holding.market, account, third, -holding.size, index)
        if self.pending:
            return self.pending.popleft()
        self.clock += 61000 * MS  # no price of before is a reference
        market = self.some_market(exchange)
        side, price = self.back(market, 0.055, 0.085)
        turn = rng.randrange(2)
        self.level(both)
        for index, portfolio in enumerate(both):
            value = min(max(0, portfolio.balance()[0]), 7000 * USDC) * 18
            sign = side if index == turn else -side
            self.trade(market, account, third, sign * self.size_worth(market, value), index)
        self.pending.append(self.update(market, price))
        self.prices[market.id] = price
        return self.deposit(third, rng.randrange(1000, 14000) * USDC)

    def level(self, both):
        """Half of what one portfolio has more than the other goes there."""
        poor, rich = sorted(both, key=lambda one: one.balance()[0])
        more = rich.balance()[0] - poor.balance()[0]
        if more > 200 * USDC:
            body = wire.TRANSFER_BODY.pack(*rich.id(), *poor.id(), more // 2)
            self.pending.append(self.signed(TRANSFER, body, keys.secp256k1_public(rich.account)))
        elif rich.balance()[0] < 200 * USDC:
            self.pending.append(self.deposit(rich.account, self.random.randrange(900) * USDC))
