"""Generator of batches, atomic and not, and of what protects makers: dead-man, MMP, disconnect, the
operator's cancel."""
import wire
from wire import (ALL16, ALL32, ARM, BATCH, DISCONNECT, FOK, GTC, IOC, OPERATOR_CANCEL, RESET_MMP,
                  SCHEDULE_CANCEL, SET_MMP)

OPERATOR = b"\x11" * 32
SECOND, MS = 1000000000, 1000000
PLACE, REDUCE, REPLACE, CANCEL = range(4)


class BatchCommands:
    # ---- batches

    def make_batch(self, exchange):
        rng = self.random
        account = self.account()
        atomic = rng.random() < 0.5
        portfolio = exchange.portfolios.get((account, 0, 0), exchange.by_number[0])
        count = rng.choice((1, 2, 2, 3, 3, 4, 5, 8, 20))
        self.batch_ids = []
        items = [self.batch_item(exchange, portfolio, atomic) for _ in range(count)]
        head = [account, 0, 0, count, int(atomic), bytes(5)]
        if rng.random() < 0.05:
            self.change(head, ((0, 3000), (1, 1), (2, 1), (4, 2), (5, b"\0\1\0\0\0")))
        if rng.random() < 0.01:
            items, head[3] = [], 0
        body = wire.BATCH_HEAD.pack(*head) + b"".join(wire.BATCH_ITEM.pack(*item) for item in items)
        return self.signed(BATCH, body, self.key_of(account))

    def fresh_id(self):
        self.id_count += 1
        return wire.uuid7(self.clock // MS, self.random.getrandbits(42) << 32 | self.id_count)

    def batch_item(self, exchange, portfolio, atomic):
        """Fields of an item (W3); atomic ones are mostly such that they pass."""
        rng = self.random
        own = [order for holding in portfolio.holdings.values() for order in holding.orders]
        op = rng.choice((PLACE, PLACE, REDUCE, REPLACE, CANCEL)) if own else PLACE
        fields = self.order_fields(exchange)
        asset, price, quantity, expiry = fields[10], fields[3], fields[4], fields[5]
        market = exchange.markets[asset]
        post_only, reduce_only = fields[6], fields[7]
        order_id, expected = self.fresh_id(), 0
        if op == PLACE and rng.random() < 0.02 and self.batch_ids:
            order_id = rng.choice(self.batch_ids)
        if op != PLACE:
            order = rng.choice(own)
            if rng.random() < 0.93:
                order_id, market, asset = order.id, order.market, order.market.id
            if op == REDUCE:
                quantity = rng.choice((market.lot, order.remaining // 2 // market.lot * market.lot,
                                       order.remaining, order.remaining + market.lot))
            elif op == REPLACE:
                sign = 1 if quantity > 0 else -1
                if asset != fields[10]:
                    price, quantity = order.price, sign * order.remaining
                size = rng.choice((abs(quantity), order.remaining, order.remaining // 2))
                quantity = order.side * max(market.lot, size // market.lot * market.lot)
                if (order.side != sign and market.mark) or rng.random() < 0.3:
                    price = order.price
                reduce_only = order.reduce_only
                expiry = order.expiry
            if rng.random() < 0.2:
                expected = rng.choice((order.remaining, order.remaining, order.remaining + 1))
        if atomic and rng.random() < 0.97:
            post_only, reduce_only = 1, reduce_only and rng.random() < 0.3
            expiry = GTC if expiry in (IOC, FOK) else expiry
            side = 1 if quantity > 0 else -1
            best = market.side(-side).best()
            if best and (price - best) * side >= 0 and rng.random() < 0.9:
                price = max(market.tick, best - side * market.tick)
        item = [op, post_only, reduce_only, fields[8], asset, 0, price, quantity, expiry, order_id,
                expected, 0]
        if rng.random() < (0.01 if atomic else 0.05):
            self.change(item, ((0, 4), (0, 9), (1, 2), (2, 2), (3, 4), (4, 0), (4, ALL16), (4, 77),
                               (5, 1), (6, 0), (6, price + 1), (7, 0), (7, -abs(quantity)),
                               (7, -2**63), (8, 1), (8, 0), (8, self.clock - 1), (9, bytes(16)),
                               (9, wire.uuid7(self.clock // MS - 80000, 4)), (11, 1)))
        if op == PLACE:
            self.batch_ids.append(item[9])
            self.recent.append((portfolio.account, self.key_of(portfolio.account), item[9],
                                item[4] or 1))
        return item

    def make_walk(self, exchange):
        """A batch of large orders that mostly walk far and are refused."""
        rng = self.random
        account = self.account()
        market = exchange.markets[1 + rng.choice(self.regime["records"])]
        if not market.mark:
            return self.make_oracle(exchange)
        side, atomic = rng.choice((1, -1)), rng.random() < 0.15
        price = market.mark * (1000 + 90 * side) // 1000 // market.tick * market.tick
        size = min(10**15 // price, market.max_size) // market.lot * market.lot
        items = []
        for _ in range(rng.choice((1, 8, 64, 64))):
            expiry = rng.choice((FOK, FOK, FOK, GTC))
            post_only = int(atomic or expiry == GTC and rng.random() < 0.5)
            items.append([PLACE, post_only, 0, rng.randrange(4), market.id, 0, price, side * size,
                          GTC if post_only else expiry, self.fresh_id(), 0, 0])
        body = wire.BATCH_HEAD.pack(account, 0, 0, len(items), int(atomic), bytes(5)) + b"".join(
            wire.BATCH_ITEM.pack(*item) for item in items)
        return self.signed(BATCH, body, self.key_of(account))

    # ---- protection

    def make_schedule(self, exchange):
        rng = self.random
        account = self.account()
        ahead = rng.choice((0, 0, SECOND, SECOND - 50 * MS, rng.randrange(SECOND, 3 * SECOND),
                            rng.randrange(SECOND, 3 * SECOND), 86400 * SECOND, 86401 * SECOND))
        fields = [*self.some_portfolio(exchange, account), self.clock + ahead if ahead else 0]
        if rng.random() < 0.06:
            self.change(fields, ((1, 1), (1, 9), (2, 7), (3, 5)))
        return self.signed(SCHEDULE_CANCEL, wire.SCHEDULE_BODY.pack(*fields), self.key_of(account))

    def make_mmp(self, exchange):
        """Limits that a few fills reach."""
        rng = self.random
        fields = self.order_fields(exchange)
        account, asset, size = fields[0], fields[10], abs(fields[4])
        window = rng.choice((1, 50, 300, 1000, 5000, 60000))
        frozen = rng.choice((0, 5, 40, 200, 1500))
        most, net = rng.choice(((size * 2, 0), (0, size * 2), (size * 3, size), (size, size),
                                (size * 20, 0)))
        body = [account, 0, 0, asset, 0, window, frozen, 0, most, net]
        draw = rng.random()
        if draw < 0.08:
            body[5:] = [0] * 5
        elif draw < 0.3:
            reset = [account, 0, 0, asset, 0, 0]
            if rng.random() < 0.1:
                self.change(reset, ((1, 1), (2, 7), (3, 0), (3, ALL16), (3, 77), (4, 1), (5, 1)))
            return self.signed(RESET_MMP, wire.RESET_MMP_BODY.pack(*reset), self.key_of(account))
        if rng.random() < 0.08:
            self.change(body, ((1, 1), (2, 7), (3, 0), (3, ALL16), (3, 77), (4, 1), (5, 0), (7, 1),
                               (8, 0), (9, 0)))
        return self.signed(SET_MMP, wire.MMP_BODY.pack(*body), self.key_of(account))

    def make_arm(self, exchange):
        """Arms by a few ids; disconnects of those."""
        rng = self.random
        arm_id = bytes([rng.randrange(12)]) * 16
        if rng.random() < 0.4:
            return (0, DISCONNECT, wire.DISCONNECT_BODY.pack(arm_id), b"", self.clock)
        if not exchange.credentials.api_keys:
            return self.make_place(exchange)
        account, key_id = self.some_key(exchange)
        fields = [arm_id, key_id, account, 0, rng.choice((0, 500, 10000)), rng.random() < 0.85,
                  bytes(7)]
        if rng.random() < 0.15:
            self.change(fields, ((1, bytes(16)), (2, self.account()), (3, 1), (3, 9), (5, 2),
                                 (6, b"\0\0\1\0\0\0\0")))
        return (0, ARM, wire.ARM_BODY.pack(*fields), b"", self.clock)

    def make_operator_cancel(self, exchange):
        rng = self.random
        account = self.account()
        order_id, asset = bytes(16), rng.choice((ALL16, 1 + rng.choice(self.regime["records"])))
        where = rng.choice(([account, 0, 0], [account, 0, ALL32], [account, ALL32, ALL32],
                            [account, ALL32, 0]))
        if rng.random() < 0.6:
            orders = [order for order in (*exchange.orders.values(),
                                          *exchange.conditionals.orders.values())]
            if orders:
                order = rng.choice(orders)
                order_id, asset = order.id, order.market.id
                where = rng.choice((list(order.owner.id()), [order.owner.account, ALL32, ALL32]))
        fields = [*where, order_id, asset, 0, 0]
        if rng.random() < 0.12:
            self.change(fields, ((0, 0), (0, 3000), (1, 9), (2, 9), (3, wire.uuid7(5, 5)), (4, 0),
                                 (4, ALL16), (4, 77), (5, 1), (6, 1)))
        return self.signed(OPERATOR_CANCEL, wire.OPERATOR_CANCEL_BODY.pack(*fields), OPERATOR)
