"""test_fairness.py - hostile peers of perf/hostile.py from other addresses, one after the other
(wire.md W8, W10): beside each of them a funded maker quotes and cancels, a newcomer opens an
account, is funded, trades and reads; and what the peer took is given back.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import client
import ws_client
from client import Account, frame, payload_of
from eip712 import CREATE_PORTFOLIO
from harness import Suite, Table, perpd_program
from request_body import portfolio_body
from world import BTC, BTC_PRICE, SLOW_FOLLOWER, USDC, seen

HOSTILE = pathlib.Path(__file__).resolve().parents[2] / "perf/hostile.py"
FEW_FILES = 1024  # descriptors: a table of 512 connections
STRANGERS, STREAMS = 40, 16  # addresses, and streams of each: 640
suite = Suite("fairness")  # how fast the others are beside them: perf/fairness.py
DONE = "request_completed"
PORTFOLIOS = 16_384
ORDERS = 30
READS = 50
GROWTH_MAX = 400 << 20  # input, output and reply buffers of a thread and its tables, all in use
KEPT_MAX = 128 << 20  # of it afterwards: buffers of replies, 16 MiB of output, rows of accounts
OPTIONS = ["--limits.account_portfolios=16384", "--limits.portfolios=16384",
           f"--engine.portfolios={2 * PORTFOLIOS}", "--engine.accounts=16384",
           "--engine.orders=65536", "--engine.positions=4096", "--engine.credentials=16384",
           "--engine.deposits=4096", "--exchange.oracle_max_age_ms=0",
           "--limits.rate_limits=on", SLOW_FOLLOWER]


class World:
    def __init__(self, perpd):
        self.perpd, self.exchange = perpd, perpd.exchange
        assert self.exchange.set_price(BTC_PRICE, BTC)["status"] == DONE
        self.maker = Account(self.exchange, 100_000 * USDC)
        self.key = ""
        program = pathlib.Path(perpd.program).read_bytes()
        self.instrumented = re.search(b"__asan_init|__tsan_init", program) is not None

    def many_portfolios(self):
        """The API key of an account with as many portfolios as it may have, all but one empty."""
        if self.key:
            return
        account = Account(self.exchange, 10_000 * USDC)
        client.PATHS[CREATE_PORTFOLIO] = "/api/v1/portfolio/create"
        with self.exchange.open() as connection:
            for first in range(1, PORTFOLIOS, 64):
                many = range(first, min(first + 64, PORTFOLIOS))
                for _ in many:
                    payload = payload_of(CREATE_PORTFOLIO, portfolio_body(account.id),
                                         account.session)
                    connection.send(self.exchange.wrap(client.PATHS[CREATE_PORTFOLIO], payload,
                                                       account.session, binary=True))
                for _ in many:
                    answer = connection.receive()
                    assert answer.status == 200, answer
        self.key = account.api_key

    def others_go_on(self, table):
        """Every answer right; the wait of the slowest of the maker's orders, in seconds."""
        worst, bid = 0.0, BTC_PRICE - 1000
        with self.exchange.open() as connection:
            for number in range(ORDERS):
                begun = time.monotonic()
                placed = connection.exchange(self.exchange.signed(
                    client.PLACE_LIMIT, client.limit_body(self.maker.id, bid - number, 20),
                    self.maker.session)).json
                worst = max(worst, time.monotonic() - begun)
                table.same("the maker quotes", placed["status"], DONE)
        cancelled = self.maker.cancel_all()
        table.same("and cancels", cancelled["status"], DONE)
        newcomer = Account(self.exchange, 2_000 * USDC)
        table.same("the newcomer trades", newcomer.limit(bid, 20)["status"], DONE)
        for _ in range(READS):  # a buffer for the reply is his at once
            read = newcomer.read("/api/v1/orders")
            table.true("and sees it", read.status == 200 and len(read.json) == 1, read)
        table.same("his cancel", newcomer.cancel_all()["status"], DONE)
        return worst


def beside(world, table, kind, settles_s=0.3):
    """Others go on beside the peer; then its connections and the memory that it took are gone."""
    world.others_go_on(table)
    before = world.perpd.rss_bytes()
    peer = subprocess.Popen([sys.executable, HOSTILE, kind], stderr=subprocess.PIPE,
                            env={**os.environ, "PERF_KEY": world.key, "PYTHONPATH": "",
                                 "PERF_URL": f"http://127.0.0.1:{world.exchange.port}"})
    try:
        table.true("the peer is at work", has_come(world, peer), kind)
        time.sleep(settles_s)
        worst = world.others_go_on(table)
        table.same("the peer still is", peer.poll(), None)
        grown = world.perpd.rss_bytes() - before
        table.true("memory meanwhile", world.instrumented or grown <= GROWTH_MAX,
                   f"grew by {grown >> 20} MiB")
    finally:
        peer.send_signal(signal.SIGKILL)
        peer.communicate()
    left = seen(lambda: int(world.exchange.admin("/metrics").body.decode().split(
        "\nperpd_net_connections_open ")[1].split("\n")[0]) < 16, True)
    table.true("its connections are gone", left, kind)
    kept = world.instrumented or seen(
        lambda: world.perpd.rss_bytes() - before <= KEPT_MAX, True, 20)
    table.true("its memory too", kept, f"{world.perpd.rss_bytes() - before >> 20} MiB")
    print(f"{kind}: slowest order {1000 * worst:.1f} ms, memory {grown >> 20} MiB")


def has_come(world, peer):
    """Whether its connections are there."""
    def opened():
        text = world.exchange.admin("/metrics").body.decode()
        return int(text.split("\nperpd_net_connections_accepted_total ")[1].split("\n")[0])

    first = opened()
    return seen(lambda: opened() > first or peer.poll() is not None, True) and peer.poll() is None


def case_of(kind, settles_s=0.3, prepare=lambda world: None):
    def case(world):
        table = Table()
        prepare(world)
        beside(world, table, kind, settles_s)
        return table.wrong
    case.__name__ = kind
    suite.case(case)


for name in ("reads1", "reads16", "reads64", "readers", "missing", "unknown", "books", "creations",
             "burst", "forged"):
    case_of(name)
case_of("portfolios", prepare=World.many_portfolios)
case_of("deaf", settles_s=1)
case_of("idle", settles_s=2)


class Few(client.Perpd):
    """perpd with FEW_FILES descriptors."""

    def arguments(self):
        return ["sh", "-c", f'ulimit -n {FEW_FILES}; exec "$@"', "sh", *super().arguments()]


def strangers_of(exchange):
    """Their streams that were let in, all that there is room for, and the refused ones closed."""
    held = []
    for number in range(STRANGERS * STREAMS):
        stranger = exchange.open(source=f"127.77.0.{1 + number % STRANGERS}")
        try:
            stranger.send(ws_client.handshake())
            if stranger.receive(body=False).status == 101:
                held.append(stranger)
                continue
        except (OSError, EOFError):  # refused before it asked
            pass
        stranger.close()
    return held


@suite.case
def few_descriptors(world):
    """W10, Connections: strangers' streams hold the table of 512 of a perpd with 1,024 descriptors,
    about 12 of each address. 20 newcomers come in, each costing them one; the maker has
    8 connections at once, more than strangers yield, for he has proved his key."""
    table = Table()
    with Few(world.perpd.program, "--net.threads=1", *OPTIONS) as perpd:
        there = World(perpd)
        strangers = strangers_of(perpd.exchange)
        most = 512 - 51 - 25  # less the tenth for proved keys, and what the world had open
        table.true("streams of strangers", most <= len(strangers) <= 512 - 51, len(strangers))
        there.others_go_on(table)
        held = []
        for number in range(20):
            newcomer = perpd.exchange.open(source=f"127.88.0.{1 + number}")
            newcomer.send(client.request_bytes("GET", "/api/v1/time"))
            table.same("a newcomer", newcomer.receive().status, 200)
            held.append(newcomer)
        for number in range(8):
            maker = perpd.exchange.open(source="127.99.0.1")
            order = client.limit_body(there.maker.id, BTC_PRICE - 3000 - number, 20)
            placed = maker.exchange(
                perpd.exchange.signed(client.PLACE_LIMIT, order, there.maker.session))
            table.true("a connection of the maker's", placed.status == 200 and
                       placed.json["status"] == DONE, placed)
            held.append(maker)
        there.others_go_on(table)
        for connection in strangers + held:
            connection.close()
        table.same("it stops", perpd.stop(), 0)
    return table.wrong


def main():
    client.check_vectors()
    only = sys.argv[2:]
    with client.Perpd(perpd_program(), *OPTIONS) as perpd:
        result = suite.run(World(perpd), only)
        audit = perpd.exchange.audit()
        if not all(audit[f"i{number}"] for number in range(1, 7)) or audit["recount_differences"]:
            print(f"FAILED audit (R2): {audit}")
            result = 1
        if perpd.stop() != 0:
            print(f"FAILED stop: {perpd.log()}")
            result = 1
    return result


if __name__ == "__main__":
    sys.exit(main())
