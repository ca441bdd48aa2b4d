"""Generator of requests that are wrong: one to three fields of a good one broken."""
import keys
import wire
from wire import ALL16, ALL32, AMEND, CANCEL, CANCEL_ALL, FOK, IOC, ORACLE, REPLACE

SECOND, MS = 1000000000, 1000000
OPERATOR, ORACLE_KEY = b"\x11" * 32, b"\x22" * 32


class FaultCommands:
    def make_bad(self, exchange):
        """One field of a good order broken, chosen so that each row of R11 is met."""
        names = ("cancel", "oracle", "cancel_all", "place", "place", "place", "place", "amend",
                 "replace", "replace", "replace", "replace", "market", "market", "leverage")
        return getattr(self, "bad_" + self.random.choice(names))(exchange)

    def faults(self, choices):
        """One to three of the faults, so that the order of the rows is met too."""
        return self.random.choices(choices, k=self.random.choice((1, 1, 1, 2, 2, 3)))

    def bad_place(self, exchange):
        rng = self.random
        fields = self.order_fields(exchange)
        account, key = fields[0], self.fresh[fields[0]]
        market = exchange.markets[fields[10]]
        now = self.clock
        for name, value in self.faults((
                (3, 0), (3, fields[3] + 1), (3, market.max_price + market.tick), (3, 2**40),
                (3, market.mark * 111 // 100 // market.tick * market.tick),
                (3, market.mark * 89 // 100 // market.tick * market.tick),
                (4, 0), (4, -2**63), (4, fields[4] + 1), (4, 2**40), (4, market.lot),
                (4, market.max_size + market.lot), (4, market.max_size), (5, now - 1),
                (5, now + 91 * 86400 * SECOND), (5, 2**63), (6, 2), (7, 2), (7, 1), (8, 4), (9, 1),
                (10, 0), (10, ALL16), (10, 77), (11, 1), (2, 1), (1, 1), (0, 3000), ("key", None),
                ("post", IOC), ("post", FOK), ("old key", None), ("other key", None),
                ("master", None))):
            if name == "key":
                key = b"\x77" * 32
            elif name == "other key":
                key = self.fresh[self.account()]
            elif name == "old key":
                key = rng.choice(self.sessions[account])
            elif name == "master":
                key = keys.secp256k1_public(account)
            elif name == "post":
                fields[6], fields[5] = 1, value
            else:
                fields[name] = value
        return self.place(fields, key)

    def bad_cancel(self, exchange):
        rng = self.random
        if not self.recent:
            return self.make_place(exchange)
        account, key, order_id, asset = rng.choice(self.recent)
        fields = [account, 0, 0, order_id, asset, 0, 0]
        for name, value in self.faults((
                (0, self.account()), (1, 1), (2, 1), (2, ALL32), (3, bytes(16)),
                (3, wire.uuid7(self.clock // MS, 5)), (4, 0), (4, ALL16), (4, 88),
                (4, asset % 3 + 1), (5, 1), (6, 1))):
            fields[name] = value
        return self.signed(CANCEL, wire.CANCEL_BODY.pack(*fields), self.fresh.get(account, key))

    def bad_cancel_all(self, exchange):
        account = self.account()
        fields = [account, 0, 0, ALL16, 0, 1, 0, 0]
        for name, value in self.faults(((0, 3000), (1, 1), (2, 1), (3, 0), (3, 66), (4, 1), (5, 3),
                                        (6, 2), (7, 1))):
            fields[name] = value
        return self.signed(CANCEL_ALL, wire.CANCEL_ALL_BODY.pack(*fields), self.fresh[account])

    def bad_oracle(self, exchange):
        rng = self.random
        asset = 1 + rng.choice(self.regime["records"])
        fields = [self.clock, self.prices[asset], asset, 0, 3, 0]
        for name, value in self.faults(((0, self.clock - 11 * SECOND), (0, self.clock + 2 * SECOND),
                                        (0, 5), (1, 0), (1, 2**40), (2, 0), (2, ALL16), (2, 55),
                                        (3, 1), (5, 1))):
            fields[name] = value
        key = ORACLE_KEY
        if rng.random() < 0.1:
            key = rng.choice((OPERATOR, b"\x55" * 32))
        return self.signed(ORACLE, wire.ORACLE_BODY.pack(*fields), key)

    def change(self, fields, choices):
        for name, value in self.faults(choices):
            fields[name] = value
        return fields

    def bad_amend(self, exchange):
        if not self.recent:
            return self.make_place(exchange)
        account, key, order_id, asset, _ = self.target(exchange)
        fields = [account, 0, 0, order_id, 1000, 0, asset, 0, 0]
        self.change(fields, ((0, self.account()), (1, 1), (2, 1), (2, ALL32), (3, bytes(16)),
                             (3, wire.uuid7(self.clock // MS, 5)), (4, 0), (4, 1), (5, 77),
                             (6, 0), (6, ALL16), (6, 88), (6, asset % 3 + 1), (7, 1), (8, 1)))
        return self.signed(AMEND, wire.AMEND_BODY.pack(*fields), key)

    def bad_replace(self, exchange):
        if not self.recent:
            return self.make_place(exchange)
        fields, key = self.replace_fields(exchange)
        asset, now = fields[11], self.clock
        market = exchange.markets.get(asset) or next(iter(exchange.markets.values()))
        self.change(fields, (
            (0, self.account()), (1, 1), (2, 1), (3, bytes(16)),
            (3, wire.uuid7(now // 10**6, 5)), (4, 0), (4, fields[4] + 1), (4, 2**40),
            (4, market.max_price + market.tick),
            (4, market.mark * 111 // 100 // market.tick * market.tick),
            (4, market.mark * 89 // 100 // market.tick * market.tick), (5, 0), (5, -fields[5]),
            (5, -2**63), (5, 2**40), (5, fields[5] + 1), (5, market.max_size + market.lot),
            (5, market.max_size), (5, -market.lot), (5, market.lot), (6, IOC), (6, FOK),
            (6, now - 1), (6, now + 91 * 86400 * SECOND), (6, 2**63), (7, 2), (8, 2), (8, 1),
            (9, 4), (10, 1), (11, 0), (11, ALL16), (11, 77), (11, asset % 3 + 1), (12, 1),
            (13, 99)))
        return self.signed(REPLACE, wire.REPLACE_BODY.pack(*fields), key)

    def bad_market(self, exchange):
        fields = self.market_fields(exchange)
        key = self.fresh[fields[0]]
        market = exchange.markets[fields[5]]
        self.change(fields, (
            (0, 3000), (1, 1), (2, 1), (3, 0), (3, -2**63), (3, fields[3] + 1), (3, 2**40),
            (3, market.lot), (3, market.max_size), (3, market.max_size + market.lot),
            (4, market.slippage), (4, market.slippage + 1), (4, 1), (4, 2**32 - 1), (5, 0),
            (5, ALL16), (5, 77), (6, 1), (7, 2), (7, 1), (8, 4), (9, b"\0\0\1\0\0\0")))
        return self.market_order(fields, key)

    def bad_leverage(self, exchange):
        if not exchange.credentials.api_keys:
            return self.make_place(exchange)
        fields = self.leverage_fields(exchange)
        self.change(fields, ((0, bytes(16)), (0, wire.uuid7(self.clock // MS, 3)),
                             (1, self.account()), (2, 1), (3, 1), (4, 0), (4, 101), (4, 2**32 - 1),
                             (5, 0), (5, ALL16), (5, 77)))
        return self.leverage(fields)
