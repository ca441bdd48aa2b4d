"""Generator of good orders, amendments and cancels, with near misses among them."""
import wire
from regimes import MARKETS
from wire import (ALL16, ALL32, AMEND, CANCEL, CANCEL_ALL, FOK, GTC, IOC, MARKET_ORDER, PLACE,
                  REPLACE)

MS = 1000000


class OrderCommands:
    def order_fields(self, exchange, asset=None):
        rng, regime = self.random, self.regime
        account = self.account()
        asset = asset or 1 + rng.choice(regime["records"])
        market = exchange.markets[asset]
        side = rng.choice((1, -1))
        reduce_only = rng.random() < regime["reduce_only"]
        portfolio = exchange.portfolios.get((account, 0, 0), exchange.by_number[0])
        held = portfolio.holdings.get(asset)
        position = held.size if held else 0
        if reduce_only and position and rng.random() < 0.9:
            side = -1 if position > 0 else 1
        base = market.mark or self.prices[asset]
        span = base * regime["spread_ppm"] // 1000000
        price = base - side * int(rng.triangular(-span, span, span * 0.1))
        if rng.random() < regime["far"]:
            price -= side * span * rng.randrange(4, 30)
        price = max(market.tick, price // market.tick * market.tick)
        unit = MARKETS[asset - 1][2]
        size = int(unit * regime["size"] * rng.choice((0.1, 0.5, 1, 2, 5, 12)) * rng.random())
        if reduce_only and position and rng.random() < 0.5:
            size = abs(position) * rng.choice((1, 1, 2, 3)) // rng.choice((1, 2))
        if rng.random() < 0.99:
            size = min(size, market.max_size)
        size = max(market.min_size, size // market.lot * market.lot)
        tif = rng.choices((GTC, IOC, FOK, 2), regime["tif"])[0]
        if tif == 2:
            tif = self.good_till()
        post_only = tif > 1 and rng.random() < regime["post_only"]
        stp = rng.choices(range(4), regime["stp"])[0]
        return [account, 0, 0, price, side * size, tif, post_only, reduce_only, stp, 0, asset, 0]

    def place(self, fields, key):
        command = self.signed(PLACE, wire.PLACE_BODY.pack(*fields), key)
        self.recent.append((fields[0], key, command[2][8:24], fields[10] or 1))
        return command

    def make_place(self, exchange):
        fields = self.order_fields(exchange)
        return self.place(fields, self.fresh[fields[0]])

    def make_cancel(self, exchange):
        if not self.recent:
            return self.make_place(exchange)
        account, key, order_id, asset, _ = self.target(exchange)
        return self.signed(CANCEL, wire.CANCEL_BODY.pack(account, 0, 0, order_id, asset, 0, 0), key)

    def make_cancel_all(self, exchange):
        rng = self.random
        account = self.account()
        asset = rng.choice((ALL16, 1 + rng.choice(self.regime["records"])))
        body = wire.CANCEL_ALL_BODY.pack(account, 0, rng.choice((0, ALL32)), asset, 0,
                                         rng.choice((0, 0, 1, 2)), rng.randrange(2), 0)
        return self.signed(CANCEL_ALL, body, self.fresh[account])

    def good_till(self):
        low, high = self.regime["gtt_ms"]
        return self.clock + self.random.randrange(low * MS, high * MS)

    def target(self, exchange):
        """An order to change, mostly a live one: (account, key, order id, asset, order or None)."""
        rng = self.random
        if rng.random() < 0.5:
            market = exchange.markets[1 + rng.choice(self.regime["records"])]
            side = market.side(rng.choice((1, -1)))
            if side.keys:
                level = side.levels[-side.sign * rng.choice(side.keys)]
                order = rng.choice(list(level.orders))
                account = order.owner.account
                return account, self.fresh[account], order.id, market.id, order
        for _ in range(1 if rng.random() < 0.1 else 12):
            account, key, order_id, asset = rng.choice(self.recent)
            order = exchange.orders.get((account, order_id))
            if order:
                break
        return account, self.fresh.get(account, key), order_id, asset, order

    def expected(self, order, size):
        """The member of compare-and-set: absent, right, or the size of another time."""
        rng = self.random
        if order is None or rng.random() < 0.6:
            return 0
        return rng.choice((size, size, size, order.remaining + order.filled,
                           max(0, size - order.market.lot)))

    def make_amend(self, exchange):
        if not self.recent:
            return self.make_place(exchange)
        rng = self.random
        account, key, order_id, asset, order = self.target(exchange)
        size = order.remaining if order else 1000
        lot = exchange.markets[asset].lot if asset in exchange.markets else 1
        by = rng.choice((rng.randrange(size + 1) // lot * lot, rng.randrange(size + 1) // lot * lot,
                         rng.randrange(size + 1) // lot * lot, size // 4 // lot * lot, lot,
                         max(lot, size - lot), size, size + lot, 2**64 - 1, rng.randrange(size + 2),
                         0))
        body = wire.AMEND_BODY.pack(account, 0, 0, order_id, by, self.expected(order, size), asset,
                                    0, 0)
        return self.signed(AMEND, body, key)

    def replace_fields(self, exchange):
        rng = self.random
        account, key, order_id, asset, order = self.target(exchange)
        other = self.order_fields(exchange, asset if asset in exchange.markets else None)
        if order is None:
            return [account, 0, 0, order_id, *other[3:10], asset, 0, 0], key
        price, size, market = order.price, order.remaining, order.market
        if rng.random() < 0.55:
            price = other[3]
            if rng.random() < 0.5:  # toward the other side of the book, or into it
                best = market.side(-order.side).best() or market.mark
                price = best + rng.randrange(-3, 4) * market.tick
        draw = rng.random()
        if draw < 0.35:
            size = max(market.lot, rng.randrange(size + 1) // market.lot * market.lot)
        elif draw < 0.6:
            size = max(size, abs(other[4]))
        expiry = order.expiry if rng.random() < 0.75 else rng.choice((GTC, self.good_till()))
        post_only, reduce_only, stp = order.post_only, order.reduce_only, order.stp
        if rng.random() < 0.2:
            post_only = not post_only
        if rng.random() < (0.6 if reduce_only else 0.15):
            reduce_only = not reduce_only
        if rng.random() < 0.25:
            stp = other[8]
        return [account, 0, 0, order_id, price, order.side * size, expiry, post_only, reduce_only,
                stp, 0, asset, 0, self.expected(order, order.remaining)], key

    def make_replace(self, exchange):
        if not self.recent:
            return self.make_place(exchange)
        fields, key = self.replace_fields(exchange)
        return self.signed(REPLACE, wire.REPLACE_BODY.pack(*fields), key)

    def market_fields(self, exchange):
        fields = self.order_fields(exchange)
        slippage = self.random.choice(self.regime["slippage"])
        return [fields[0], 0, 0, fields[4], slippage, fields[10], 0, fields[7], fields[8], bytes(6)]

    def market_order(self, fields, key):
        command = self.signed(MARKET_ORDER, wire.MARKET_BODY.pack(*fields), key)
        self.recent.append((fields[0], key, command[2][8:24], fields[5] or 1))
        return command

    def make_market(self, exchange):
        fields = self.market_fields(exchange)
        return self.market_order(fields, self.fresh[fields[0]])
