"""Generator of conditional orders and their cancels, good ones and wrong ones."""
import wire
from wire import (ALL16, ALL32, CONDITIONAL, CONDITIONAL_CANCEL, GTC, STOP_LIMIT, STOP_MARKET,
                  TAKE_PROFIT, TAKE_PROFIT_MARKET)

SECOND, MS = 1000000000, 1000000
STOPS = (STOP_LIMIT, STOP_MARKET)
MARKET_KINDS = (STOP_MARKET, TAKE_PROFIT_MARKET)
MARK, LAST, INDEX = range(3)


class ConditionalCommands:
    def conditional_fields(self, exchange):
        """A trigger that mostly lies a little beyond its source, on the side where it waits."""
        rng, regime = self.random, self.regime
        fields = self.order_fields(exchange)
        account, price, quantity, asset = fields[0], fields[3], fields[4], fields[10]
        market = exchange.markets[asset]
        kind = rng.choice((STOP_LIMIT, STOP_MARKET, TAKE_PROFIT, TAKE_PROFIT_MARKET))
        source = rng.choice((MARK, LAST, LAST, INDEX))
        base = (market.mark, market.last, market.index)[source] or market.mark or price
        above = (quantity > 0) == (kind in STOPS)
        away = int(base * regime["trigger_ppm"] * abs(rng.gauss(0, 1)) / 1000000)
        away = max(away, market.tick) if rng.random() < 0.96 else -away
        trigger = (base + away if above else base - away) // market.tick * market.tick
        tif = 0
        if kind in MARKET_KINDS:
            price = 0
        else:
            tif = rng.choice((0, 1, 2, 2, 2))
        post_only = tif == 2 and rng.random() < regime["post_only"]
        expiry = GTC if rng.random() < 0.7 else self.good_till()
        group = bytes(16)
        if rng.random() < regime["group"]:
            group = bytes([1 + rng.randrange(2)]) * 16
        slippage = rng.choice(regime["slippage"]) if kind in MARKET_KINDS else 0
        return [*fields[:3], max(market.tick, trigger), price, quantity, expiry, post_only,
                fields[7], fields[8], kind, asset, 0, slippage, source, tif, 0, group]

    def conditional(self, fields, key):
        command = self.signed(CONDITIONAL, wire.CONDITIONAL_BODY.pack(*fields), key)
        self.recent.append((*fields[:1], key, command[2][8:24], fields[11] or 1))
        return command

    def make_conditional(self, exchange):
        fields = self.conditional_fields(exchange)
        return self.conditional(fields, self.key_of(fields[0]))

    def make_conditional_cancel(self, exchange):
        """Mostly of one that waits; now and then of one that has fired, or of any order."""
        rng = self.random
        waiting = list(exchange.conditionals.orders.values())
        fields = None
        if waiting and rng.random() < 0.7:
            order = rng.choice(waiting)
            fields = [*order.owner.id(), order.id, order.market.id, 0, 0]
        elif rng.random() < 0.5:
            fired = [order for order in exchange.orders.values() if order.type >= STOP_LIMIT]
            if fired:
                order = rng.choice(fired)
                fields = [*order.owner.id(), order.id, order.market.id, 0, 0]
        if fields is None:
            if not self.recent:
                return self.make_place(exchange)
            account, _, order_id, asset = rng.choice(self.recent)
            fields = [account, 0, 0, order_id, asset, 0, 0]
        if rng.random() < 0.12:
            for name, value in self.faults((
                    (0, self.account()), (1, 1), (2, 1), (2, ALL32), (3, bytes(16)),
                    (3, wire.uuid7(self.clock // MS, 5)), (4, 0), (4, ALL16), (4, 88),
                    (4, fields[4] % 3 + 1), (5, 1), (6, 1))):
                fields[name] = value
        return self.signed(CONDITIONAL_CANCEL, wire.CANCEL_BODY.pack(*fields),
                           self.key_of(fields[0]))

    def make_bad_conditional(self, exchange):
        fields = self.conditional_fields(exchange)
        key = self.key_of(fields[0])
        market, now = exchange.markets[fields[11]], self.clock
        self.change(fields, (
            (0, 3000), (1, 1), (2, 1), (3, 0), (3, fields[3] + 1), (3, 2**40), (3, market.mark),
            (3, market.max_price + market.tick), (4, 0), (4, fields[3]), (4, fields[4] + 1),
            (4, market.max_price + market.tick), (5, 0), (5, -2**63), (5, fields[5] + 1),
            (5, 2**40), (5, market.lot), (5, -market.lot), (5, market.max_size + market.lot),
            (6, 0), (6, 1), (6, now - 1), (6, now + 91 * 86400 * SECOND), (6, 2**63), (7, 2),
            (7, 1), (8, 2), (8, 1), (9, 4), (10, 0), (10, 1), (10, 6), (10, 9), (11, 0),
            (11, ALL16), (11, 77), (12, 1), (13, market.slippage + 1), (13, market.slippage),
            (13, 2**32 - 1), (14, 3), (15, 3), (15, 1), (15, 0), (16, 1)))
        return self.conditional(fields, key)
