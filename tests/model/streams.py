"""Seeded random command streams. A regime is a set of numbers below; what they leave out comes
from CALM. The generator looks at the model's state only to aim near what is interesting."""
import json
import random
from base64 import b64encode
from collections import deque

import keys
import wire
from wire import (ALL16, ALL32, BOOT, CANCEL, CANCEL_ALL, CONFIGURATION, CREATE_ACCOUNT,
                  CREATE_SESSION, DEFINE, DEPOSIT, FOK, GTC, HEADERS, IOC, ORACLE, PLACE,
                  REVOKE_SESSION, TICK)

SECOND, MS = 1000000000, 1000000
START = 1767268800 * SECOND  # 2026-01-01 12:00 UTC: no stream reaches a midnight
OPERATOR, ORACLE_KEY = b"\x11" * 32, b"\x22" * 32
USDC = 1000000

FEES = [{"tier": tier, "maker_fee_rate": maker, "taker_fee_rate": taker} for tier, maker, taker in
        ((0, "0.00015", "0.00045"), (1, "0.00012", "0.0004"), (2, "0.00008", "0.00035"),
         (3, "0.00004", "0.0003"), (4, "0", "0.00028"), (5, "-0.00002", "0.00026"))]
REBATES = [dict(row, maker_fee_rate="-0.0001") for row in FEES]


def tiers(*rows):
    return [{"upper_notional": upper, "max_leverage": leverage} for upper, leverage in rows]


def record(symbol, number, price_decimals, **values):
    base = {"market": symbol + "-PERP", "asset_id": number, "base": symbol,
            "price_decimals": price_decimals, "size_decimals": 6 - price_decimals,
            "tick_size": "1", "lot_size": "1", "min_size": "1", "max_order_size": "1",
            "min_notional": "10", "impact_notional": "20000", "max_leverage": 50,
            "tiers": tiers(("50000", 50), ("200000", 25), (None, 10)), "price_band_ppm": 100000,
            "max_slippage_ppm": 50000, "fees": FEES}
    base.update(values)
    return wire.pad8(json.dumps(base, separators=(",", ":")).encode())


# (record, first index raw, quantity raw worth about 1,000 USDC)
MARKETS = (
    (record("BTC", 1, 1, tick_size="0.1", lot_size="0.00001", min_size="0.00001",
            max_order_size="10995116.27775"), 1000000, 1000),
    (record("ETH", 2, 2, tick_size="0.05", lot_size="0.001", min_size="0.005",
            max_order_size="400", impact_notional="6000", max_leverage=20,
            tiers=tiers(("20000", 20), ("80000", 10), (None, 3))), 300000, 3330),
    (record("XRP", 3, 6, tick_size="0.0001", lot_size="1", min_size="1", max_order_size="400000",
            impact_notional="3000", max_leverage=20, fees=REBATES,
            tiers=tiers(("30000", 20), ("100000", 10), (None, 3))), 2500000, 400),
    # Positions so large that a jump of the index passes R1's bound of the mark.
    (record("SHIB", 4, 6, tick_size="0.000001", max_order_size="1000000000000",
            min_notional="0"), 1040, 200000000000),
)

# What the pipe's engine is laid out for.
CAPACITY = {"engine.accounts": "4096", "engine.portfolios": "8192", "engine.orders": "65536",
            "engine.positions": "65536", "engine.credentials": "16384",
            "engine.deposits": "65536", "limits.duplicate_slots": "2097152"}

CALM = {
    "accounts": 12, "records": (0, 1, 2), "options": {}, "deposit": (20000, 2000000),
    "step_ms": (1, 12),
    "weights": {"place": 70, "cancel": 14, "cancel_all": 0.7, "oracle": 6, "tick": 3, "bad": 3,
                "session": 0.3, "signup": 0.1, "duplicate": 1, "window": 0.3, "deposit": 0.2},
    "tif": (60, 15, 10, 15),          # GTC, IOC, FOK, GTT
    "stp": (1, 1, 1, 1), "post_only": 0.15, "reduce_only": 0.12,
    "spread_ppm": 3000, "far": 0.1,   # how far from the mark a price lies
    "size": 1.0, "gtt_ms": (5, 4000), "move_ppm": 400, "jump": 0.0, "silence": 0.0,
}

REGIMES = {
    "calm": {},
    "thin": {"options": {"exchange.oracle_max_age_ms": "0"}, "silence": 0.01,
             "tif": (25, 15, 45, 15), "post_only": 0.35, "accounts": 6, "spread_ppm": 6000,
             "weights": dict(CALM["weights"], cancel=30)},
    "poor": {"options": {"exchange.oracle_max_age_ms": "700"}, "deposit": (50, 3000),
             "size": 2.5, "move_ppm": 9000, "spread_ppm": 20000,
             "accounts": 16, "weights": dict(CALM["weights"], oracle=16, deposit=0.05)},
    "broke": {"deposit": (100, 500), "size": 0.6, "move_ppm": 16000, "spread_ppm": 30000,
              "accounts": 16, "far": 0.3, "jump": 0.05,
              "weights": dict(CALM["weights"], oracle=20, deposit=0.1)},
    "reducing": {"reduce_only": 0.55, "size": 1.5, "spread_ppm": 2500,
                 "options": {"engine.work_per_command": "3"}},
    "self": {"accounts": 3, "spread_ppm": 2500, "tif": (45, 20, 20, 15), "reduce_only": 0.2},
    "fast": {"move_ppm": 20000, "jump": 0.03, "silence": 0.004, "spread_ppm": 20000,
             "step_ms": (1, 60), "weights": dict(CALM["weights"], oracle=25)},
    "short": {"gtt_ms": (1, 60), "tif": (10, 10, 5, 75), "step_ms": (1, 9),
              "options": {"engine.work_per_command": "2"},
              "weights": dict(CALM["weights"], cancel_all=2.5)},
    "bad": {"weights": dict(CALM["weights"], bad=40, duplicate=8, window=4, session=5, signup=1),
            "options": {"limits.open_orders": "12", "limits.sessions_per_parent": "4"}},
    "crowded": {"accounts": 30, "spread_ppm": 900, "options": {"engine.makers_max": "5",
                "engine.work_per_command": "7"}, "size": 2.0, "move_ppm": 2000},
    "full": {"options": {"limits.duplicate_slots": "1024", "exchange.clock_past_ms": "1000",
                         "exchange.clock_future_ms": "100"}, "step_ms": (1, 9)},
    "halt": {"records": (0, 3), "deposit": (900000000, 2000000000), "halt_at": 0.5, "streams": 8},
    "table": {"options": {"engine.orders": "90"}, "far": 0.4},
}


class Stream:
    def __init__(self, name, seed, source, commands):
        self.regime = dict(CALM, **REGIMES[name])
        self.halt_at = commands * self.regime.get("halt_at", 1)
        self.random = random.Random(f"{name} {seed}")
        self.clock = START + self.random.randrange(SECOND)
        self.options = {**CAPACITY, **self.regime["options"],
                        "exchange.operator_key": b64encode(OPERATOR).decode(),
                        "exchange.oracle_keys": b64encode(ORACLE_KEY).decode()}
        self.source = source
        self.id_count = 0
        self.fresh = {}      # account -> key of its latest session
        self.sessions = {}   # account -> session keys, dead ones too
        self.recent = deque(maxlen=400)  # (account, key, order id, asset)
        self.sent = deque(maxlen=40)
        self.prices = {}     # asset -> what the oracle sends next
        self.silent_until = 0
        self.names = list(self.regime["weights"])
        self.weights = list(self.regime["weights"].values())
        self.keys = keys.ed25519_keys()

    # ---- building blocks

    def signed(self, code, body, key, milliseconds=None):
        if milliseconds is None:
            milliseconds = self.clock // MS - self.random.randrange(3)
        self.id_count += 1
        number = self.random.getrandbits(42) << 32 | self.id_count
        request_id = wire.uuid7(milliseconds, number)
        return (1, code, HEADERS[code] + request_id + body, key, self.clock)

    def new_key(self):
        return next(self.keys)

    def setup(self):
        """The commands that every stream begins with."""
        regime = self.regime
        yield (0, BOOT, wire.BOOT_BODY.pack(1, 1, 0, 0), b"", self.clock)
        yield (0, CONFIGURATION, wire.configuration(self.source, self.options), b"", self.clock)
        for number in regime["records"]:
            text, price, _ = MARKETS[number]
            self.prices[number + 1] = price
            yield (0, DEFINE, text, b"", self.clock)
        for account in range(1, regime["accounts"] + 1):
            key = self.new_key()
            self.fresh[account] = key
            self.sessions[account] = [key]
            yield self.signed(CREATE_ACCOUNT, wire.ACCOUNT_BODY.pack(
                key, 0, b"account %d" % account, 1, bytes(7)), keys.secp256k1_public(account))
            low, high = regime["deposit"]
            yield self.deposit(account, self.random.randrange(low, high) * USDC)

    def deposit(self, account, amount):
        self.id_count += 1
        reference = self.id_count.to_bytes(32, "little")
        if self.random.random() < 0.1:
            reference = (self.id_count // 2).to_bytes(32, "little")
        return self.signed(DEPOSIT, wire.DEPOSIT_BODY.pack(account, 0, 0, amount, reference),
                           OPERATOR)

    def next(self, exchange):
        """One more command."""
        low, high = self.regime["step_ms"]
        self.clock += self.random.randrange(low * 100000, high * MS)
        name = self.random.choices(self.names, self.weights)[0]
        if self.clock // MS < self.silent_until and name == "oracle":
            name = "place"
        command = getattr(self, "make_" + name)(exchange)
        if command[0] == 1:
            self.sent.append(command)
        return command

    def account(self):
        return self.random.randrange(1, self.regime["accounts"] + 1)

    # ---- commands

    def order_fields(self, exchange):
        rng, regime = self.random, self.regime
        account = self.account()
        asset = 1 + rng.choice(regime["records"])
        market = exchange.markets[asset]
        side = rng.choice((1, -1))
        reduce_only = rng.random() < regime["reduce_only"]
        portfolio = exchange.portfolios[account, 0, 0]
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
        size = max(market.min_size, size // market.lot * market.lot)
        tif = rng.choices((GTC, IOC, FOK, 2), regime["tif"])[0]
        if tif == 2:
            tif = self.clock + rng.randrange(regime["gtt_ms"][0] * MS, regime["gtt_ms"][1] * MS)
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
        account, key, order_id, asset = self.random.choice(self.recent)
        return self.signed(CANCEL, wire.CANCEL_BODY.pack(account, 0, 0, order_id, asset, 0, 0),
                           self.fresh.get(account, key))

    def make_cancel_all(self, exchange):
        rng = self.random
        account = self.account()
        asset = rng.choice((ALL16, 1 + rng.choice(self.regime["records"])))
        body = wire.CANCEL_ALL_BODY.pack(account, 0, rng.choice((0, ALL32)), asset, 0,
                                         rng.choice((0, 0, 1, 2)), rng.randrange(2), 0)
        return self.signed(CANCEL_ALL, body, self.fresh[account])

    def make_oracle(self, exchange):
        rng, regime = self.random, self.regime
        if rng.random() < regime["silence"]:
            self.silent_until = self.clock // MS + rng.choice((
                rng.randrange(9000, 13000), rng.randrange(9000, 13000), 61000))
        asset = 1 + rng.choice(regime["records"])
        price, first = self.prices[asset], MARKETS[asset - 1][1]
        if exchange.markets[asset].mark == 0 or rng.random() >= regime["jump"]:
            move = rng.gauss(0, 1) * regime["move_ppm"] / 4
            pull = (first - price) / first * 20000  # back to where it began, slowly
            price += int(price * (move + pull / 20) / 1000000)
        else:
            price = int(price * rng.choice((0.85, 0.88, 0.9, 1.1, 1.12, 1.2)))
        price = self.prices[asset] = max(first // 4, min(first * 4, price))
        if asset == 4 and self.id_count > self.halt_at:
            bound = 2**60 // max(1, exchange.markets[4].max_position)  # of the mark (R1)
            price = int(bound * rng.uniform(0.97, 1.005))
        if rng.random() < 0.02:
            price = price * 11 // 10  # an outlier
        if exchange.markets[asset].is_held and rng.random() < 0.3:
            price = price * rng.choice((97, 99, 101, 103)) // 100
        publish = self.clock - rng.randrange(-40 * MS, 60 * MS)
        return self.signed(ORACLE, wire.ORACLE_BODY.pack(publish, price, asset, 0, 3, 0),
                           ORACLE_KEY)

    def make_tick(self, exchange):
        kind = int(self.random.random() < 0.2)
        return (0, TICK, bytes([kind]) + bytes(7), b"", self.clock)

    def make_deposit(self, exchange):
        rng = self.random
        account = self.account() if rng.random() < 0.9 else 4000
        amount = 0 if rng.random() < 0.1 else rng.randrange(self.regime["deposit"][1]) * USDC // 4
        return self.deposit(account, amount)

    def make_duplicate(self, exchange):
        if not self.sent:
            return self.make_place(exchange)
        kind, code, payload, key, _ = self.random.choice(self.sent)
        return kind, code, payload, key, self.clock

    def make_window(self, exchange):
        """Ids at and beyond both ends of the engine's window."""
        fields = self.order_fields(exchange)
        rng = self.random
        now = max(exchange.t + 1, self.clock) // MS
        edge = rng.choice((now - exchange.past, now + exchange.future))
        return self.signed(PLACE, wire.PLACE_BODY.pack(*fields), self.fresh[fields[0]],
                           edge + rng.choice((-2000, -1, 0, 1, 2000)))

    def make_signup(self, exchange):
        """More accounts, with a key that is taken or a session that is not allowed."""
        rng = self.random
        account = exchange.accounts + 1
        number = rng.choice((account, 1))
        expires = rng.choice((0, self.clock - 1))
        key = self.new_key()
        if number == account:
            self.fresh[account] = key
            self.sessions[account] = [key]
        return self.signed(CREATE_ACCOUNT, wire.ACCOUNT_BODY.pack(
            key, expires, b"late", rng.randrange(2), bytes(7)), keys.secp256k1_public(number))

    def make_session(self, exchange):
        """Sessions that end: by time, by revocation; pinned ones."""
        rng = self.random
        account = self.account()
        if rng.random() < 0.5:
            key = rng.choice(self.sessions[account][1:] or [self.new_key()])
            body = wire.REVOKE_BODY.pack(account, key)
            return self.signed(REVOKE_SESSION, body, keys.secp256k1_public(account))
        key = self.new_key()
        self.sessions[account].append(key)
        expires = rng.choice((0, self.clock + rng.randrange(SECOND), self.clock - 5,
                              self.clock + 200 * 86400 * SECOND))
        body = wire.SESSION_BODY.pack(account, key, expires, rng.choice((-1, 0, 0, 1)),
                                      rng.choice((0, 1, 1, 2)), bytes(3))
        return self.signed(CREATE_SESSION, body, keys.secp256k1_public(account))

    def make_bad(self, exchange):
        """One field of a good order broken, chosen so that each row of R11 is met."""
        rng = self.random
        kind = rng.randrange(8)
        if kind == 0:
            return self.bad_cancel(exchange)
        if kind == 1:
            return self.bad_oracle()
        if kind == 2:
            return self.bad_cancel_all()
        return self.bad_place(exchange)

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

    def bad_cancel_all(self):
        account = self.account()
        fields = [account, 0, 0, ALL16, 0, 1, 0, 0]
        for name, value in self.faults(((0, 3000), (1, 1), (2, 1), (3, 0), (3, 66), (4, 1), (5, 3),
                                        (6, 2), (7, 1))):
            fields[name] = value
        return self.signed(CANCEL_ALL, wire.CANCEL_ALL_BODY.pack(*fields), self.fresh[account])

    def bad_oracle(self):
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
