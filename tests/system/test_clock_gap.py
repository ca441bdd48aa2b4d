"""test_clock_gap.py - a start whose clock is a day ahead, a day behind, and right again (rules.md
R9, wire.md W5): nothing is charged, nothing expires, time stands, and one command ends it.

    python3 test_clock_gap.py BUILD [CASE...]
"""
import json
import mmap
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

import client
from client import PLACE_LIMIT, Account, Perpd, Secp256k1Key, b64, limit_body, new_id
from harness import Suite, Table, only
from world import BTC, BTC_PRICE, DAY, SECOND, USDC

suite = Suite("clock gap")
BUILD = pathlib.Path(sys.argv[1])
HOUR = 3600 * SECOND
DONE = "request_completed"
WAIT_S = 100


class World:
    """An exchange, two accounts that hold a position against each other, orders that end."""

    def __init__(self):
        self.perpd = Perpd(BUILD / "tests" / "perpd_stepped", *client.SMALL_TABLES)
        self.step_file = self.perpd.folder / "step"
        self.step_file.write_bytes(bytes(8))
        with open(self.step_file, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 8)
        os.environ["STEPPED_CLOCK"] = str(self.step_file)
        self.exchange = self.perpd.start()
        operator = self.perpd.operator
        key = self.perpd.folder / "operator.key"
        key.touch(mode=0o600)
        key.write_text(f"curve = ed25519\npublic = {b64(operator.public)}\n"
                       f"secret = {b64(operator._secret[:32])}\n")
        assert self.exchange.set_price(BTC_PRICE, BTC)["status"] == DONE
        self.long, self.short = (Account(self.exchange, 100_000 * USDC) for _ in range(2))
        self.short.limit(BTC_PRICE, -1000)
        self.long.limit(BTC_PRICE, 1000)
        self.hourly, self.lasting = new_id(), new_id()
        for raw, expiry in ((self.hourly, HOUR), (self.lasting, 30 * DAY)):
            answer = self.exchange.send(PLACE_LIMIT, limit_body(
                self.long.id, 950_000, 100, expiry=time.time_ns() + expiry), self.long.session, raw)
            assert answer.json["status"] == DONE, answer

    def step(self, ns):
        self.page[:] = struct.pack("<q", ns)

    def again(self, step_ns, number=signal.SIGTERM):
        self.perpd.stop(number)
        self.perpd.process.stdout.close()
        self.step(step_ns)
        self.exchange = self.perpd.start()
        self.long.exchange = self.short.exchange = self.exchange

    def now_ns(self):
        return self.exchange.get("/api/v1/time").json["time_ns"]

    def ready(self):
        answer = self.exchange.admin("/readyz")
        return answer.status, answer.json

    def states(self):
        return {market["market"]: market["state"]
                for market in self.exchange.get("/api/v1/markets").json["markets"]}

    def held(self):
        """What the accounts have: cash, positions, orders."""
        paths = ("/api/v1/portfolio/cash_balances", "/api/v1/positions",
                 "/api/v1/funding-payments?subaccount_index=0&portfolio_index=0",
                 "/api/v1/orders?status=OPEN",
                 "/api/v1/cash/history?subaccount_index=0&limit=1000")
        return {(who.id, path): who.read(path).json for who in (self.long, self.short)
                for path in paths}

    def perp(self, *words):
        return subprocess.run(
            [BUILD / "perp", *words, "--url", f"http://127.0.0.1:{self.exchange.port}",
             "--operator-key", self.perpd.folder / "operator.key"],
            capture_output=True, text=True, timeout=WAIT_S)

    def wait(self, look):
        until = time.monotonic() + WAIT_S
        while not look() and time.monotonic() < until:
            time.sleep(0.02)
        return look()

    def order_status(self, raw):
        return self.long.order(raw).json["order_status"]


KEPT = {"/api/v1/positions": ("market", "side", "size"),
        "/api/v1/portfolio/cash_balances": ("cash_balance",)}


def plain(held):
    """Without what moves with the mark, and with how it is known."""
    return [[path, [{name: row[name] for name in KEPT[path]} for row in body]
             if path in KEPT else body] for (_, path), body in held.items()]


def stands(table, row, world, before, known_ns, gap_ns):
    """While the gap is open: time stands, everything is halted, nothing has happened."""
    status, ready = world.ready()
    table.same(f"{row}: readyz", status, 503)
    table.same(f"{row}: reasons", ready["reasons"], ["clock_gap"])
    table.true(f"{row}: clock_gap_ns", abs(ready.get("clock_gap_ns", 0) - gap_ns) < HOUR, ready)
    table.true(f"{row}: its alarm", '\nperpd_alarm{name="clock_gap"} 1\n' in
               world.exchange.admin("/metrics").body.decode())
    table.same(f"{row}: GET /status", world.exchange.get("/api/v1/status").json["clock_gap_ns"],
               ready["clock_gap_ns"])
    first = world.now_ns()
    table.true(f"{row}: time is the last t",
               known_ns - 60 * SECOND < first < known_ns + 300 * SECOND, (first, known_ns))
    table.same(f"{row}: every market is halted", set(world.states().values()), {"HALTED"})
    table.same(f"{row}: nothing was charged, nothing ended", plain(world.held()), before)
    answer = world.exchange.send(PLACE_LIMIT, limit_body(world.long.id, 940_000, 100),
                                 world.long.session, new_id(first // 10**6))
    table.same(f"{row}: an order of the time that /time shows", answer.json["status"],
               "rejected_market_halted")
    ticks = world.exchange.admin("/metrics").body.decode()
    table.true(f"{row}: a second later", world.wait(
        lambda: world.exchange.admin("/metrics").body.decode() != ticks))
    table.true(f"{row}: time stands", world.now_ns() - first < SECOND // 1000)
    return ready["clock_gap_ns"]


@suite.case
def ahead_and_behind(world):
    """A day ahead, twice; confirmed. A day behind; confirmed. Then it comes right by itself."""
    table = Table()
    states = world.states()
    before, known_ns = plain(world.held()), world.now_ns()
    world.again(DAY)
    stands(table, "ahead", world, before, known_ns, DAY)
    world.again(DAY, signal.SIGKILL)
    gap_ns = stands(table, "ahead, killed", world, before, known_ns, DAY)
    wrong = world.perp("admin", "clock", "yes")
    table.same("another word", wrong.returncode, 2)
    shown = world.perp("admin", "clock")
    table.true("perp admin clock", str(gap_ns) in shown.stdout, shown)
    done = world.perp("admin", "clock", "confirm")
    table.same("perp admin clock confirm", (done.returncode, done.stderr), (0, ""))
    table.true("ready again", world.wait(lambda: world.ready()[0] == 200), world.ready())
    table.true("the states return", world.wait(lambda: world.states() == states))
    table.true("time is the clock's", abs(world.now_ns() - time.time_ns() - DAY) < 60 * SECOND)
    table.true("what has ended by then ends now",
               world.wait(lambda: world.order_status(world.hourly) == "EXPIRED"))
    table.same("what has not stays", world.order_status(world.lasting), "OPEN")
    for who in (world.long, world.short):
        table.same("hours passed over are not charged", who.read(
            "/api/v1/funding-payments?subaccount_index=0&portfolio_index=0").json, [])
    table.same("nothing to confirm", world.perp("admin", "clock", "confirm").returncode, 2)

    before, known_ns = plain(world.held()), world.now_ns()
    world.again(0)
    stands(table, "behind", world, before, known_ns, -DAY)
    done = world.perp("admin", "clock", "confirm")
    table.same("behind: confirm", (done.returncode, done.stderr), (0, ""))
    table.true("behind: the states return", world.wait(lambda: world.states() == states))
    first = world.now_ns()
    table.true("behind: time goes on", world.wait(lambda: world.now_ns() > first + SECOND))
    table.true("behind: from where it stood", world.wait(
        lambda: known_ns < world.now_ns() < known_ns + 600 * SECOND))
    table.true("behind: the clock is told to be wrong",
               world.wait(lambda: world.ready()[1]["reasons"] == ["clock"]), world.ready())

    before, known_ns = plain(world.held()), world.now_ns()
    world.again(0)
    stands(table, "behind again", world, before, known_ns, -DAY)
    world.step(DAY)
    table.true("it comes right by itself", world.wait(lambda: world.ready()[0] == 200),
               world.ready())
    table.true("by itself: the states return", world.wait(lambda: world.states() == states))
    before = plain(world.held())
    world.again(2 * DAY)
    table.same("ahead and not confirmed", world.ready()[1]["reasons"], ["clock_gap"])
    world.again(DAY)
    table.same("a start with the right clock ends it", world.ready()[0], 200)
    table.true("right clock: the states return", world.wait(lambda: world.states() == states))
    table.same("right clock: nothing was charged", plain(world.held()), before)
    return table.wrong


if __name__ == "__main__":
    world = World()
    try:
        code = suite.run(world, sys.argv[2:])
    finally:
        world.perpd.remove()
    sys.exit(code)
