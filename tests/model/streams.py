"""Seeded random command streams. The generator looks at the model's state only to aim near what is
interesting; what it draws from is in regimes.py."""
import random
from base64 import b64encode
from collections import deque

import keys
import wire
from generate_access import AccessCommands
from generate_batches import BatchCommands
from generate_cash import CashCommands, TREASURY
from generate_clauses import ClauseCommands
from generate_conditionals import ConditionalCommands
from generate_faults import FaultCommands
from generate_orders import OrderCommands
from generate_risk import RiskCommands
from generate_rules import RuleCommands
from generate_scenes import SceneCommands
from generate_states import StateCommands
from generate_walls import WallCommands
import regimes_risk  # its regimes
from regimes import CAPACITY, CALM, MARKETS, REGIMES, USDC
from wire import (BOOT, BY_PASSKEY, CONFIGURATION, CREATE_ACCOUNT, CREATE_PASSKEY_ACCOUNT, DEFINE,
                  DEPOSIT, HEADERS, ORACLE, PASSKEY_HEADERS, PLACE, SESSION_HEADERS, SIGNED, TICK)

SECOND, MS = 1000000000, 1000000
DAY = 86400 * SECOND
START = 1767268800 * SECOND  # 2026-01-01 12:00 UTC
OPERATOR, ORACLE_KEY = b"\x11" * 32, b"\x22" * 32


class Stream(OrderCommands, ConditionalCommands, BatchCommands, CashCommands, AccessCommands,
             StateCommands, RiskCommands, RuleCommands, ClauseCommands, WallCommands,
             SceneCommands, FaultCommands):
    def __init__(self, name, seed, source, commands):
        self.regime = dict(CALM, **REGIMES[name])
        self.halt_at = commands * self.regime.get("halt_at", 1)
        self.random = random.Random(f"{name} {seed}")
        self.clock = START + self.random.randrange(SECOND)
        self.options = {**CAPACITY, **self.regime["options"],
                        "exchange.operator_key": b64encode(OPERATOR).decode(),
                        "exchange.oracle_keys": b64encode(ORACLE_KEY).decode()}
        if self.regime["treasury"]:
            self.options["exchange.treasury_key"] = b64encode(TREASURY).decode()
        else:
            self.options["exchange.signing_public"] = b64encode(TREASURY).decode()
        self.source = source
        self.endings = deque()  # accounts that are being closed
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
        self.pending = deque()  # commands that follow at once
        activity = self.regime["activity"]
        self.numbers = range(1, self.regime["accounts"] + 1)
        self.shares = [1 / (1 + number) ** activity for number in range(self.regime["accounts"])]

    # ---- building blocks

    def signed(self, code, body, key, milliseconds=None, extra=b""):
        if milliseconds is None:
            milliseconds = self.clock // MS - self.random.randrange(3)
        self.id_count += 1
        number = self.random.getrandbits(42) << 32 | self.id_count
        request_id = wire.uuid7(milliseconds, number)
        if keys.is_passkey(key):
            if code == CREATE_ACCOUNT:
                code = CREATE_PASSKEY_ACCOUNT
            return (BY_PASSKEY, code, PASSKEY_HEADERS[code] + request_id + body, key, self.clock,
                    keys.assertion(key) + extra)
        header = HEADERS[code] if len(key) == 33 else SESSION_HEADERS[code]
        return (SIGNED, code, header + request_id + body, key, self.clock, extra)

    def key_of(self, account):
        """The latest session of an account; of one that does not exist, any key."""
        return self.fresh.get(account) or self.fresh[1]

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
        for number in regime["records"] if len(regime["records"]) > 4 else ():
            yield self.signed(ORACLE, wire.ORACLE_BODY.pack(
                self.clock, MARKETS[number][1], number + 1, 0, 3, 0), ORACLE_KEY)
        for account in range(1, regime["accounts"] + 1):
            key = self.new_key()
            self.fresh[account] = key
            self.sessions[account] = [key]
            yield self.signed(CREATE_ACCOUNT, wire.ACCOUNT_BODY.pack(
                key, 0, b"account %d" % account, 1, bytes(7)), keys.secp256k1_public(account))
            low, high = regime["deposit"]
            yield self.deposit(account, self.random.randrange(low, high) * USDC)
            yield self.api_key(account, wire.READ_WRITE)

    def own_treasurer(self):
        return TREASURY if self.regime["treasury"] else OPERATOR

    def deposit(self, account, amount, exchange=None):
        self.id_count += 1
        reference = self.id_count.to_bytes(32, "little")
        if self.random.random() < 0.1:
            reference = (self.id_count // 2).to_bytes(32, "little")
        where = account, 0, 0
        if exchange and account in exchange.hierarchy.accounts:
            where = self.some_portfolio(exchange, account)
            if self.random.random() < 0.1:
                where[2] = 40  # the portfolio 0 of the subaccount gets it
        return self.signed(DEPOSIT, wire.DEPOSIT_BODY.pack(*where, amount, reference),
                           self.treasurer() if exchange else self.own_treasurer())

    def next(self, exchange):
        """One more command."""
        low, high = self.regime["step_ms"]
        self.clock += self.random.randrange(low * 100000, high * MS)
        if exchange.gap:  # the node's clock stands
            self.clock = exchange.t
        name = self.random.choices(self.names, self.weights)[0]
        if self.clock // MS < self.silent_until and name == "oracle":
            name = "place"
        if self.pending:
            return self.pending.popleft()
        if self.random.random() < self.regime["midnight"] and not exchange.gap:
            self.pass_midnight()
        command = getattr(self, "make_" + name)(exchange)
        if command[0] != 0:
            self.sent.append(command)
        return command

    def pass_midnight(self):
        """To just before or behind a midnight, now and then over days without trade."""
        day = self.clock // DAY + self.random.choice((1, 1, 1, 1, 1, 1, 1, 2, 5, 13, 14, 15))
        self.clock = day * DAY + self.random.randrange(-40 * MS, 40 * MS)

    def account(self):
        return self.random.choices(self.numbers, self.shares)[0]

    # ---- commands

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
            price = int(bound * rng.uniform(0.97, 1.1))
        if rng.random() < regime["outliers"]:
            price = price * 11 // 10  # an outlier
        if exchange.markets[asset].is_held and rng.random() < 0.3:
            price = price * rng.choice((97, 99, 101, 103)) // 100
        if asset == 4 and self.id_count > self.halt_at:  # as far as that only the operator goes
            self.pending.append(self.accept(exchange.markets[asset], price))
        publish = self.clock - rng.randrange(-40 * MS, 60 * MS)
        sources = rng.choice((3, 3, 3, 3, 3, 3, 2, 4))
        return self.signed(ORACLE, wire.ORACLE_BODY.pack(publish, price, asset, 0, sources, 0),
                           ORACLE_KEY)

    def make_tick(self, exchange):
        kind = int(self.random.random() < 0.2)
        return (0, TICK, bytes([kind]) + bytes(7), b"", self.clock)

    def make_deposit(self, exchange):
        rng = self.random
        account = self.account() if rng.random() < 0.9 else 4000
        amount = 0 if rng.random() < 0.1 else rng.randrange(self.regime["deposit"][1]) * USDC // 4
        return self.deposit(account, amount, exchange)

    def make_duplicate(self, exchange):
        if not self.sent:
            return self.make_place(exchange)
        kind, code, payload, key, _, extra = self.random.choice(self.sent)
        return kind, code, payload, key, self.clock, extra

    def make_window(self, exchange):
        """Ids at and beyond both ends of the engine's window."""
        fields = self.order_fields(exchange)
        rng = self.random
        now = max(exchange.t + 1, self.clock) // MS
        edge = rng.choice((now - exchange.past, now + exchange.future))
        return self.signed(PLACE, wire.PLACE_BODY.pack(*fields), self.fresh[fields[0]],
                           edge + rng.choice((-2000, -1, 0, 1, 2000)))
