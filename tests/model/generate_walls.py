"""Generator of reduce-only orders beyond what they can close."""
import keys
import wire
from regimes import USDC
from wire import ACTIVE, CREATE_PORTFOLIO, GTC, IOC, TRANSFER, WITHDRAW

SIBLINGS = 19  # portfolios of an account: more than 16 records in a market, or just not


class WallCommands:
    def siblings(self, exchange, account):
        return exchange.hierarchy.subaccounts_of(account)[0].portfolios

    def make_sibling(self, exchange):
        """An account gets one more portfolio, and one without a record in a market gets an order
        there, or one that has nothing but orders there ends them."""
        rng, market = self.random, self.some_market(exchange)
        account = rng.choice(self.numbers)
        within, master = self.siblings(exchange, account), keys.secp256k1_public(account)
        if not market.mark:
            return self.make_oracle(exchange)
        if len(within) < SIBLINGS:
            amount = max(1, within[0].balance()[0] // (SIBLINGS + 2))
            self.pending.append(self.signed(
                CREATE_PORTFOLIO, wire.CREATE_PORTFOLIO_BODY.pack(account, 0, 0, b""), master))
            self.pending.append(self.signed(TRANSFER, wire.TRANSFER_BODY.pack(
                account, 0, 0, account, 0, len(within), amount), master))
            return self.pending.popleft()
        records = [one for one in within if (held := one.holdings.get(market.id))
                   and (held.size or held.orders)]
        idle = [one for one in within if one.holdings.get(market.id) and one not in records
                or not one.holdings.get(market.id)]
        if idle and (len(records) < 18 or rng.random() < 0.3):
            portfolio, side = rng.choice(idle), rng.choice((1, -1))
            size = self.size_worth(market, 2 * market.min_notional)
            return self.place([*portfolio.id(), self.away(market, side), side * size, GTC, 0, 0, 1,
                               0, market.id, 0], self.fresh[account])
        small = [one for one in records if not one.holdings[market.id].size] or records
        for portfolio in rng.sample(small, min(len(small), 2)):
            for order in list(portfolio.holdings[market.id].orders)[:4]:
                body = wire.CANCEL_BODY.pack(*portfolio.id(), order.id, market.id, 0, 0)
                self.pending.append(self.signed(wire.CANCEL, body, self.fresh[account]))
        return self.pending.popleft() if self.pending else self.make_wall(exchange)

    def make_wall(self, exchange):
        """Reduce-only orders of one holder, as many as his position covers and more; then less of a
        position, cash that leaves, orders that fire into them."""
        rng = self.random
        account, other = rng.sample(self.numbers, 2)
        market = self.some_market(exchange)
        if not market.mark or market.state != ACTIVE:
            return self.unrest(exchange) or self.make_tick(exchange)
        index = rng.randrange(len(self.siblings(exchange, account)))
        portfolio = exchange.portfolios[account, 0, index]
        held = portfolio.holdings.get(market.id)
        if not held or not held.size or rng.random() < 0.15:
            value = max(30 * USDC, portfolio.balance()[0] * rng.randrange(1, 19))
            self.trade(market, account, other, rng.choice((1, -1)) * self.size_worth(market, value),
                       index)
            return self.pending.popleft()
        size, side = abs(held.size), -1 if held.size > 0 else 1
        many = rng.random() < 0.4  # as many as the position covers, and then most of it is closed
        count = rng.randrange(5, 15) if many else rng.randrange(1, 8)
        for _ in range(count):
            part = size // count if many else size * rng.choice((1, 2, 3, 6, 12, 24)) // 6
            self.pending.append(self.place(
                [account, 0, index, self.away(market, side), side * self.lots(market, part),
                 rng.choice((GTC, GTC, GTC, IOC)), 0, 1, 1, 0, market.id, 0], self.fresh[account]))
        draw = rng.random() * (0.3 if many else 1)
        if draw < 0.3:
            part = self.lots(market, size * rng.randrange(1, 10) // 10)
            self.trade(market, account, other, side * part, index)
        elif draw < 0.5:
            left = max(1, portfolio.balance()[0] - rng.randrange(3) * held.margins()[0])
            body = wire.WITHDRAW_BODY.pack(account, 0, index, left, rng.randbytes(20), 0)
            self.pending.append(self.signed(WITHDRAW, body, keys.secp256k1_public(account)))
        resting = [one for one in held.orders if one.reduce_only]
        if 0.5 <= draw < 0.75:
            for order in resting[:rng.randrange(6)]:
                body = wire.CANCEL_BODY.pack(account, 0, index, order.id, market.id, 0, 0)
                self.pending.append(self.signed(wire.CANCEL, body, self.fresh[account]))
        elif draw >= 0.75 and resting:
            order = rng.choice(resting)
            part = self.lots(market, order.remaining * rng.randrange(1, 13) // 6)
            body = wire.REPLACE_BODY.pack(
                account, 0, index, order.id, rng.choice((order.price, self.away(market, side))),
                side * part, GTC, 0, 1, 1, 0, market.id, 0, 0)
            self.pending.append(self.signed(wire.REPLACE, body, self.fresh[account]))
        return self.pending.popleft()

    def make_cut(self, exchange):
        """Reduce-only orders of one holder, cut to about what row 21 asks, or to a lot."""
        rng = self.random
        portfolio = rng.choice(self.siblings(exchange, rng.choice(self.numbers)))
        orders = [order for holding in portfolio.holdings.values() for order in holding.orders
                  if order.reduce_only and not exchange.dead_state(order)]
        if not orders:
            return self.make_wall(exchange)
        for order in rng.sample(orders, min(len(orders), 4)):
            lot = order.market.lot
            least = -(-order.market.min_notional // order.price)
            left = rng.choice((lot, least // lot * lot, -(-least // lot) * lot))
            body = wire.AMEND_BODY.pack(*portfolio.id(), order.id, max(lot, order.remaining - left),
                                        0, order.market.id, 0, 0)
            self.pending.append(self.signed(wire.AMEND, body, self.fresh[portfolio.account]))
        return self.pending.popleft()

    def lots(self, market, size):
        return max(market.min_size, size // market.lot * market.lot)

    def away(self, market, side):
        """A price at which an order of that side rests."""
        price = market.mark * (10**6 - side * self.random.randrange(300, 30000)) // 10**6
        return max(market.tick, price // market.tick * market.tick)
