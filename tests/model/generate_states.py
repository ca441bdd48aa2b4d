"""Generator of market states: by the operator and by the node, good ones and wrong ones."""
import wire
from wire import (ACTIVE, ALL16, BOOT, CANCEL_ONLY, HALT_ALL, HALTED, MARKET_STATE, POST_ONLY,
                  REDUCE_ONLY, REPLACE)

HOUR = 3600 * 10**9
OPERATOR, ORACLE_KEY = b"\x11" * 32, b"\x22" * 32


class StateCommands:
    def make_state(self, exchange):
        """A market leaves ACTIVE for a while; what is not ACTIVE mostly returns to it."""
        rng = self.random
        asset = 1 + rng.choice(self.regime["records"])
        away = exchange.markets[asset].state != ACTIVE
        state = ACTIVE if rng.random() < (0.75 if away else 0.1) else rng.choice(
            (POST_ONLY, REDUCE_ONLY, REDUCE_ONLY, CANCEL_ONLY, HALTED))
        if exchange.work.is_busy() and rng.random() < 0.3:
            state = rng.choice((ACTIVE, REDUCE_ONLY))  # while a list may be worked off
        if rng.random() < 0.12:
            return self.turn_plain(exchange, asset)
        if rng.random() < 0.06:
            return self.by(HALT_ALL, self.halt_body(state))
        return self.by(MARKET_STATE, self.state_body(asset, state))

    def turn_plain(self, exchange, asset):
        """REDUCE_ONLY, ACTIVE at once, and a reduce-only order that becomes another kind where it
        stands, most often while the list that spared it is worked off."""
        known = [order for order in exchange.orders.values() if order.reduce_only
                 and order.market.id == asset and order.owner.account in self.fresh]
        states = [self.signed(MARKET_STATE, wire.STATE_BODY.pack(asset, 0, state, 0, 0), OPERATOR)
                  for state in (REDUCE_ONLY, ACTIVE)]
        self.pending.extend(states[1:])
        for order in self.random.sample(known, min(2, len(known))):
            account = order.owner.account
            body = wire.REPLACE_BODY.pack(
                account, 0, 0, order.id, order.price, order.side * order.remaining, wire.GTC, 0, 0,
                0, 0, asset, 0, 0)
            self.pending.append(self.signed(REPLACE, body, self.fresh[account]))
        return states[0]

    def make_gap(self, exchange):
        """A start that finds its clock far off; its confirmation, good ones and wrong ones. Behind
        one the clock has gone on by hours."""
        rng = self.random
        if not exchange.gap and rng.random() < 0.85:
            return self.make_state(exchange)
        if rng.random() < (0.25 if exchange.gap else 0.9):
            draw = rng.random()
            if draw < 0.04:
                body = wire.SIGNING_KEY_BODY.pack(ORACLE_KEY, b"")
                return 0, wire.SIGNING_KEY, body, b"", self.clock
            if draw < 0.2:
                return 0, wire.RESTORED, bytes(wire.RESTORED_BODY.size), b"", self.clock
            step = rng.choice((-1, 1, 1)) * rng.randrange(1, 10**14)
            return (0, BOOT, wire.BOOT_BODY.pack(1, 1, 0, 0 if rng.random() < 0.1 else step), b"",
                    self.clock)
        fields = [exchange.gap, 0]
        if rng.random() < 0.4:
            fields[rng.randrange(2)] += 1
        command = self.by(wire.CLOCK_CONFIRM, wire.CLOCK_CONFIRM_BODY.pack(*fields))
        if rng.random() < 0.5:
            self.clock += rng.randrange(2 * HOUR)
        return command

    def by(self, code, body):
        """Signed by the operator, now and then authored by the node."""
        draw = self.random.random()
        if draw < 0.15:
            return (0, code, body, b"", self.clock)
        return self.signed(code, body, ORACLE_KEY if draw > 0.98 else OPERATOR)

    def state_body(self, asset, state):
        fields = [asset, 0, state, int(self.random.random() < 0.1), 0]
        if self.random.random() < 0.12:
            for name, value in self.faults(((0, 0), (0, ALL16), (0, 55), (1, 1), (2, 5), (2, 6),
                                            (3, 2), (4, 1))):
                fields[name] = value
        return wire.STATE_BODY.pack(*fields)

    def halt_body(self, state):
        draw = self.random.random()
        return wire.HALT_ALL_BODY.pack(5 if draw < 0.1 else state,
                                       bytes(6) + bytes([draw > 0.9]))
