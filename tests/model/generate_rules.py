"""Generator of what the former rules did not have: code 1010, closings that are announced, accounts
that hold both sides of a market, held runs, prices that go on while a hold lasts."""
import keys
import wire
from market import SECOND
from wire import (ACTIVE, ALL16, CANCEL_ONLY, CREATE_PORTFOLIO, GTC, IOC, MARKET_STATE, REDUCE_ONLY,
                  TRANSFER)

MS = 1000000
OPERATOR, ORACLE_KEY = b"\x11" * 32, b"\x22" * 32


class RuleCommands:
    def some_market(self, exchange):
        return exchange.markets[1 + self.random.choice(self.regime["records"])]

    # ---- oracle

    def accept(self, market, price):
        fields = [price, market.id, bytes(6)]
        if self.random.random() < 0.1:
            self.change(fields, ((1, 0), (1, ALL16), (1, 55), (2, bytes(5) + b"\1"),
                                 (0, price * 103 // 100), (0, price * 97 // 100), (0, 0)))
        key = ORACLE_KEY if self.random.random() < 0.03 else OPERATOR
        return self.signed(wire.INDEX_ACCEPT, wire.INDEX_ACCEPT_BODY.pack(*fields), key)

    def make_accept(self, exchange):
        """Of a market that is held, mostly; the price as the operator knows it."""
        rng = self.random
        held = [market for market in exchange.markets.values() if market.is_held]
        market = rng.choice(held) if held and rng.random() < 0.95 else self.some_market(exchange)
        price = market.run[-1][1] if market.run else market.index
        near = price * rng.choice((98, 100, 100, 100, 102)) // 100 + rng.randrange(-1, 2)
        return self.accept(market, max(0, near))

    def make_run(self, exchange):
        """Held updates over some seconds, which agree or not; now and then the first one again."""
        rng, market = self.random, self.some_market(exchange)
        if not market.index:
            return self.make_oracle(exchange)
        price = market.index * rng.choice((75, 82, 88, 112, 118, 125)) // 100
        for _ in range(rng.randrange(2, 6)):
            one = price * rng.choice((98, 99, 100, 100, 101, 102)) // 100
            if rng.random() < 0.1:
                one = market.index
            if rng.random() < 0.1:
                price = one = price * rng.choice((88, 112)) // 100
            self.pending.append(self.update(market, one))
            self.clock += rng.choice((300, 700, 999, 1000, 1001, 2000)) * MS
        self.prices[market.id] = price
        return self.pending.popleft()

    # ---- closing

    def make_announce(self, exchange):
        rng, market = self.random, self.some_market(exchange)
        away = market.announced_at is not None
        draw = rng.random()
        if away and draw < 0.6:  # on its way to the settlement price
            self.clock += rng.choice((60, 600, 1200, 1799, 1800)) * SECOND
            return self.update(market, market.index * rng.choice((97, 99, 100, 101)) // 100)
        if away and draw < 0.8:
            return self.set_state(market, rng.choice((ACTIVE, CANCEL_ONLY)), 0)
        return self.set_state(market, REDUCE_ONLY, 1)

    # ---- both sides of a market in one account

    def twin(self, exchange, account):
        """The second portfolio of subaccount 0, or what makes it and gives it cash."""
        found = exchange.portfolios.get((account, 0, 1))
        master = keys.secp256k1_public(account)
        if found is None:
            fields = account, 0, 0, b""
            self.pending.append(self.signed(
                CREATE_PORTFOLIO, wire.CREATE_PORTFOLIO_BODY.pack(*fields), master))
        free = exchange.portfolios[account, 0, 0].balance()[0]
        if found is None or not found.cash:
            body = wire.TRANSFER_BODY.pack(account, 0, 0, account, 0, 1, max(1, free // 2))
            self.pending.append(self.signed(TRANSFER, body, master))
        return found if found is not None and found.cash else None

    def make_twins(self, exchange):
        """One account long in a portfolio and short in the other, against two others."""
        rng, market = self.random, self.some_market(exchange)
        one, other = rng.sample(self.numbers, 2)
        if not market.mark:
            return self.make_oracle(exchange)
        if self.twin(exchange, one) is None:
            return self.pending.popleft() if self.pending else self.make_oracle(exchange)
        side = rng.choice((1, -1))
        price = market.mark // market.tick * market.tick or market.tick
        for index in range(2):
            portfolio = exchange.portfolios[one, 0, index]
            value = portfolio.balance()[0] * market.leverage * rng.uniform(0.3, 0.99)
            size = min(int(value) // market.mark, market.max_size) // market.lot * market.lot
            if size < market.min_size or size * market.mark < market.min_notional:
                continue
            turn = side if index else -side
            maker = [other, 0, 0, price, -turn * size, GTC, 0, 0, 0, 0, market.id, 0]
            taker = [one, 0, index, price, turn * size, IOC, 0, 0, 1, 0, market.id, 0]
            self.pending += [self.place(maker, self.fresh[other]),
                             self.place(taker, self.fresh[one])]
        return self.pending.popleft() if self.pending else self.make_pair(exchange)

