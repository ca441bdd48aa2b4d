"""test_stream_events.py - the channels of a market beside trades and books: each event once, equal
to REST's.

W: wire.md, R: rules.md, J: json.md.
"""
import json
import pathlib
import shutil
import signal
import struct
import sys
import time
from decimal import Decimal
from random import Random

import client
import test_restart
from client import IOC, MARKET_STATE, PATHS, Connection, request_bytes, state_body
from harness import Suite, Table
from test_lists import SPANS, candles_of
from test_restart import DONE
from test_stream_private import Private, seal
from test_streams import ETH_PRICE, LEVELS, MEMBERS, World, follow, place_bids, subscribe
from world import BTC, BTC_PRICE, ETH, USDC
from ws_client import Stream

suite = Suite("stream_events")
FEW_EVENTS = 1500
FEW = f"--store.private_events={FEW_EVENTS}"
CANDLE_MEMBERS = [*MEMBERS[:2], "interval", *MEMBERS[2:]]


def values(candle):
    """As candles_of gives them."""
    return (candle["start_time"], *(Decimal(candle[name]) for name in (
        "open", "high", "low", "close", "volume", "notional")), candle["trade_count"])


@suite.case
def marks(world):
    """J9: each mark once, equal to GET /mark at its seq; trades of the market are not in it."""
    table, stream = Table(), Stream(world.exchange)
    stream.ask(op="subscribe", channel="mark", market="ETH-PERP", id=3)
    table.same("the reply", stream.next(), {"op": "subscribe", "id": 3, "channel": "mark",
                                           "market": "ETH-PERP", "epoch": 1})
    shown, compared = stream.next(), 0
    table.same("a snapshot", (list(shown), shown["type"], shown["prev_seq"]),
               (MEMBERS, "snapshot", shown["seq"]))
    maker, taker = world.account(), world.account()
    for number in range(12):
        price, seq = ETH_PRICE + 10 * number, shown["seq"]
        world.exchange.set_price(price, ETH)
        if number % 4 == 0:
            world.trade(maker, taker)
        while shown["data"]["index_price"] != f"{price / 100:g}" or shown["seq"] == seq:
            before, shown = shown, stream.next()
            table.same("prev_seq", (shown["type"], shown["prev_seq"]), ("update", before["seq"]))
            table.true("seq rises", shown["seq"] > before["seq"], shown)
        rest = world.exchange.get("/api/v1/markets/ETH-PERP/mark").json
        if rest["seq"] == shown["seq"]:
            compared += 1
            table.same(f"{number}: as REST", shown["data"], {
                name: rest[name] for name in shown["data"]})
            table.same("its members", list(shown["data"]), list(rest)[4:])
    world.exchange.set_price(ETH_PRICE, ETH)
    table.true("compared", compared >= 3, compared)
    stream.end()
    return table.wrong


@suite.case
def market_states(world):
    """J9: the state now, then each change with its cause; a state that does not change is none."""
    table, stream = Table(), Stream(world.exchange)
    stream.ask(op="subscribe", channel="market_state", market="ETH-PERP", id=3)
    table.same("the reply", stream.next(), {"op": "subscribe", "id": 3, "channel": "market_state",
                                           "market": "ETH-PERP", "epoch": 1})
    shown = stream.next()
    table.same("a snapshot", (list(shown), shown["type"], shown["prev_seq"], shown["data"]),
               (MEMBERS, "snapshot", shown["seq"], {"state": "ACTIVE", "cause": None}))
    for state, name in ((2, "REDUCE_ONLY"), (2, None), (4, "HALTED"), (0, "ACTIVE")):
        ack = world.exchange.ack(MARKET_STATE, state_body(ETH, state), world.exchange.operator)
        if name is None:
            continue
        before, shown = shown, stream.next()
        table.same(name, (list(shown), shown["type"], shown["prev_seq"], shown["engine_seq"],
                          shown["data"]),
                   (MEMBERS, "update", before["seq"], ack["sequence"],
                    {"state": name, "cause": "operator"}))
        table.same("REST", world.exchange.get("/api/v1/markets/ETH-PERP").json["state"], name)
    stream.end()
    return table.wrong


class Candles:
    """A client's newest candle of each interval, and what it has to be."""

    def __init__(self, table, world):
        self.table, self.world, self.stream = table, world, Stream(world.exchange)
        self.shown = {interval: self.subscribe(interval) for interval in SPANS}

    def subscribe(self, interval):
        named = {"channel": "candles", "market": "ETH-PERP", "interval": interval}
        self.stream.ask(op="subscribe", id=8, **named)
        self.table.same("the reply", self.stream.next(),
                        {"op": "subscribe", "id": 8, **named, "epoch": 1})
        shown = self.stream.next()
        self.table.same("a snapshot", (list(shown), shown["type"], shown["prev_seq"],
                                       shown["interval"]),
                        (CANDLE_MEMBERS, "snapshot", shown["seq"], interval))
        return shown

    def update(self, trades):
        """The updates of the newest trade, `trades` being all up to it, oldest first."""
        for _ in self.shown:
            got = self.stream.next()
            interval = got["interval"]
            before, self.shown[interval] = self.shown[interval], got
            self.table.same("prev_seq", (list(got), got["type"], got["prev_seq"]),
                            (CANDLE_MEMBERS, "update", before["seq"]))
            self.table.same("of the trade", (got["engine_seq"], got["time_ns"]),
                            (trades[-1]["sequence"], trades[-1]["time_ns"]))
            self.table.same(f"{interval}: its trades", values(got["data"]),
                            candles_of(trades, interval)[-1])

    def compare(self, row):
        for interval, shown in self.shown.items():
            rest = self.world.exchange.get(
                f"/api/v1/markets/ETH-PERP/candles?interval={interval}&limit=1").json["candles"]
            self.table.same(f"{row}: {interval} as REST", [shown["data"]], rest)


@suite.case
def candles(world):
    """J9: at each sequence the candle of each interval is GET /candles', from a snapshot and then
    by one update a trade; for those who come late, and after kill -9."""
    table, random = Table(), Random(77)
    maker, taker = world.account(1_000_000), world.account(1_000_000)
    world.trade(maker, taker)
    first = Candles(table, world)
    first.compare("first")
    trades = world.rest(limit=1000)["trades"][::-1]
    for number in range(8):
        for _ in range(1 + number % 3):  # so many trades of one command
            price = ETH_PRICE + random.randrange(-20, 21)
            maker.limit(price, -random.randrange(100, 150), asset=ETH)
        sequence = taker.limit(ETH_PRICE + 20, 450, expiry=IOC, asset=ETH)["sequence"]
        made = [trade for trade in world.rest()["trades"][::-1] if trade["sequence"] == sequence]
        table.same(f"{number}: trades", len(made), 1 + number % 3)
        for trade in made:
            trades.append(trade)
            first.update(trades)
        first.compare(number)
        if number == 4:
            late = Candles(table, world)
            table.same("who comes late", [shown["data"] for shown in late.shown.values()],
                       [shown["data"] for shown in first.shown.values()])
            table.same("seqs", {shown["seq"] for shown in late.shown.values()},
                       {shown["seq"] for shown in first.shown.values()})
        elif number > 4:
            for k in range(len(made)):
                late.update(trades[:len(trades) - len(made) + 1 + k])
            late.compare(number)
    first.stream.ask(op="unsubscribe", channel="candles", market="ETH-PERP", interval="1h")
    table.same("unsubscribe", first.stream.next(), {
        "op": "unsubscribe", "channel": "candles", "market": "ETH-PERP", "interval": "1h"})
    for op, more, parameter in (
            ("subscribe", {}, "interval"), ("subscribe", {"interval": "2m"}, "interval"),
            ("subscribe", {"interval": 60}, "interval"), ("unsubscribe", {}, "interval"),
            ("resume", {"interval": "1m", "from_seq": 1}, "channel"),
            ("subscribe", {"interval": "1m", "market": "NO-PERP"}, "market")):
        first.stream.ask(**{"op": op, "channel": "candles", "market": "ETH-PERP", **more})
        refused = first.stream.next()
        table.same(f"{op} {more}", (refused["op"], refused["problem"]["code"],
                                    refused["problem"]["parameter"]),
                   (op, "invalid_parameter", parameter))
    before = late.shown
    world.again(table, signal.SIGKILL, maker, taker)
    after = Candles(table, world)
    table.same("after a kill", [(shown["seq"], shown["data"]) for shown in after.shown.values()],
               [(shown["seq"], shown["data"]) for shown in before.values()])
    world.trade(maker, taker)
    after.update(world.rest(limit=1000)["trades"][::-1])
    after.compare("after a kill")
    for it in (first, late, after):
        it.stream.end()
    return table.wrong


@suite.case
def liquidations(world):
    """J6, J9: two longs that the fund takes over at the mark (R7, L2), in the channel as in REST,
    page after page, and after kill -9."""
    table, stream, maker = Table(), Stream(world.exchange), world.account()
    path = "/api/v1/markets/BTC-PERP/liquidations"
    assert world.exchange.ack(1006, struct.pack("<Q", 1_000_000 * USDC),
                              world.exchange.operator)["status"] == DONE
    assert maker.limit(BTC_PRICE, -100_000)["status"] == DONE
    for _ in range(2):  # 0.5 BTC at 20x
        assert world.account(2_600).limit(BTC_PRICE, 50_000)["status"] == DONE
    stream.ask(op="subscribe", channel="liquidations", market="BTC-PERP", id=3)
    table.same("the reply", stream.next(), {"op": "subscribe", "id": 3, "channel": "liquidations",
                                           "market": "BTC-PERP", "epoch": 1})
    shown = stream.next()
    table.same("a snapshot", (list(shown), shown["type"], shown["prev_seq"], shown["data"]),
               (MEMBERS, "snapshot", shown["seq"], {}))
    table.same("none", world.exchange.get(path).json["liquidations"], [])
    # 2,450 USDC lost of 2,577.5 after the fee: 3E = 382.5 is below 2MM = 951.
    assert world.exchange.set_price(BTC_PRICE - 49_000, BTC)["status"] == DONE
    got = []
    for _ in range(2):
        before, shown = shown, stream.next()
        table.same("an update", (list(shown), shown["type"], shown["prev_seq"], shown["engine_seq"],
                                 shown["time_ns"]),
                   (MEMBERS, "update", before["seq"], shown["data"]["sequence"],
                    shown["data"]["time_ns"]))
        got.append(shown["data"])
    for row in got:
        table.same("members", list(row), ["side", "price", "size", "level", "sequence", "index",
                                          "time", "time_ns"])
        table.same("which", list(row.values())[:4], ["LONG", "95100", "0.5", 2])
    stream.end()
    for number in range(2):
        rest = world.exchange.get(path).json
        table.same("REST", (rest["market"], rest["liquidations"], rest["seq"] >= shown["seq"]),
                   ("BTC-PERP", got[::-1], True))
        first = world.exchange.get(path + "?limit=1").json
        table.same("a page", first["liquidations"], got[1:])
        at = [first[f"next_before_{name}"] for name in ("sequence", "index")]
        table.same("its end", at, [got[1]["sequence"], got[1]["index"]])
        rest = world.exchange.get(path + f"?before_sequence={at[0]}&before_index={at[1]}").json
        table.same("the next", (rest["liquidations"], rest["next_before_sequence"]),
                   (got[:1], None))
        if number == 0:
            world.exchange.set_price(BTC_PRICE, BTC)
            world.again(table, signal.SIGKILL)
    table.problem("no such market", world.exchange.get("/api/v1/markets/NO-PERP/liquidations"),
                  404, "not_found")
    table.problem("a limit of 0", world.exchange.get(path + "?limit=0"), 400, "invalid_parameter")
    return table.wrong


def resume(table, stream, seq, market="ETH-PERP"):
    stream.ask(op="resume", channel="trades", market=market, from_seq=seq, id=9)
    table.same("the reply", stream.next(), {"op": "resume", "id": 9, "channel": "trades",
                                           "market": market, "from_seq": seq, "epoch": 1})


def all_trades(world):
    """GET /trades page by page: the oldest first."""
    trades, cursor = [], ""
    while cursor is not None:
        page = world.exchange.get(f"/api/v1/markets/ETH-PERP/trades?limit=1000{cursor}").json
        trades += page["trades"]
        cursor = None if page["next_before_sequence"] is None else (
            f"&before_sequence={page['next_before_sequence']}"
            f"&before_index={page['next_before_index']}")
    return trades[::-1]


@suite.case
def resumes(world):
    """J9: after from_seq each trade once, from whichever frame it was, on a stream with others and
    on a new one; after a start from history, which has all of them, however many were missed."""
    table, stream = Table(), Stream(world.exchange)
    maker, taker = world.account(), world.account()
    rich = world.account(1_000_000), world.account(1_000_000)
    world.trade(maker, taker)
    shown = subscribe(table, stream)
    base, seqs, trades = shown["seq"], [shown["seq"]], []
    for _ in range(5):
        world.trade(maker, taker)
        got, seq = follow(table, stream, seqs[-1], 1)
        seqs.append(seq)
        trades += got
    stream.end()
    other = Stream(world.exchange)
    beside = subscribe(table, other, "BTC-PERP")
    for number, seq in enumerate(seqs):
        resume(table, other, seq)
        got, last = follow(table, other, seq, 5 - number)
        table.same(f"after {number}", (got, last), (trades[number:], seqs[-1]))
    resume(table, other, 2**62)
    gap = other.next()
    table.same("a gap", (list(gap), gap["type"], gap["prev_seq"], gap["data"]["from_seq"]),
               (MEMBERS, "gap", 2**62, 2**62))
    table.true("where it is", gap["seq"] >= seqs[-1] > base >= gap["data"]["oldest_seq"], gap)
    world.trade(maker, taker)
    _, last = follow(table, other, gap["seq"], 1)
    assert maker.limit(BTC_PRICE, -100)["status"] == DONE
    assert taker.limit(BTC_PRICE, 100, expiry=IOC)["status"] == DONE
    shown = other.next()
    table.same("the other market has missed nothing",
               (shown["market"], shown["type"], shown["prev_seq"]),
               ("BTC-PERP", "update", beside["seq"]))
    for more, parameter in (({"channel": "mark", "from_seq": 1}, "channel"),
                            ({"channel": "status", "from_seq": 1}, "channel"),
                            *(({"channel": "trades", "from_seq": seq}, "from_seq")
                              for seq in (None, -1, "5", 1.5, 2**64, True)),
                            ({"channel": "trades", "market": "NO-PERP"}, "market")):
        other.ask(**{"op": "resume", "market": "ETH-PERP", **more})
        refused = other.next()
        table.same(f"{more}", (refused["op"], refused["problem"]["code"],
                               refused["problem"]["parameter"]),
                   ("resume", "invalid_parameter", parameter))
    other.end()
    for _ in range(18):  # 1,152 trades, several of one command
        place_bids(world, rich[0], Random(1), (100, 101))
        sold = rich[1].limit(ETH_PRICE - LEVELS, -100 * LEVELS, expiry=IOC, asset=ETH)
        assert sold["status"] == DONE
    world.again(table, signal.SIGKILL, maker, taker)
    stream, rows = Stream(world.exchange), all_trades(world)
    first = next(number for number, row in enumerate(rows) if row == trades[0])
    table.true("more than a page", len(rows) - first > 1150, len(rows))
    resume(table, stream, base)
    got, last = follow(table, stream, base, len(rows) - first)
    table.same("of the life before", got, rows[first:])
    for number, seq in enumerate(seqs):
        resume(table, stream, seq)
        table.same(f"after {number}", follow(table, stream, seq, len(got) - number),
                   (got[number:], last))
    resume(table, stream, 0)
    table.same("all", follow(table, stream, 0, len(rows)), (rows, last))
    world.trade(maker, taker, 2)
    got, _ = follow(table, stream, last, 2)
    table.same("since the start", got[::-1], world.rest(limit=2)["trades"])
    stream.end()
    return table.wrong

def archived(world, table, *accounts):
    """The first segment is in the archive and no longer in the journal."""
    data = world.perpd.folder / "data"
    for turn in range(20):  # a stop makes a snapshot, unless the machine is too slow for it
        with Connection(world.exchange.admin_port) as connection:
            assert connection.exchange(request_bytes("POST", "/admin/seal", b"", [
                world.exchange.bearer])).status == 200
        world.exchange.set_price(ETH_PRICE, ETH)
        world.again(table, signal.SIGTERM, *accounts)
        until = time.monotonic() + (10 if turn else 0)
        while True:
            if (data / "archive/0000000000.seg.zst").exists() and not (
                    data / "journal/0000000000.seg").exists():
                return
            if time.monotonic() > until:
                break
            time.sleep(0.05)
    raise AssertionError(f"nothing is archived: {sorted(data.glob('*/*.seg*'))}\n"
                         f"{world.perpd.log()[-3000:]}")


def lose_history(data):
    shutil.rmtree(data / "history")


class Behind:
    """Who has all that came since a place, and what a client that resumes from there must get."""

    def __init__(self, table, world, account):
        self.table, self.world, self.account = table, world, account
        self.stream = Stream(world.exchange)
        self.begin = self.last = subscribe(table, self.stream)["seq"]
        self.private = Private(table, world, account.api_key).subscribe()
        self.account_begin = self.account_last = self.private.seq
        self.trades, self.events = [], []

    def take(self, trades, events):
        self.last = self.chain(self.stream, self.last, self.trades, trades)
        self.account_last = self.chain(self.private.stream, self.account_last, self.events, events)

    def chain(self, stream, seq, have, count):
        """Adds the next updates, each of which follows the one before. Their last seq."""
        until, beats = len(have) + count, 0
        while len(have) < until:
            shown = json.loads(stream.take()[1])  # other cases look at its form
            if shown["type"] == "heartbeat":
                beats += 1  # of which each comes after all that is to come
                if not self.table.true("no more comes", beats < 3, (len(have), until)):
                    break
                continue
            self.table.same("it follows", (shown["type"], shown.pop("prev_seq")), ("update", seq))
            seq = shown["seq"]
            have.append(shown)
        return seq

    def leave(self):
        self.stream.end()
        self.private.end()

    def again(self, row):
        """All of it, each once; on two new streams, on which nothing more comes."""
        self.stream = Stream(self.world.exchange)
        resume(self.table, self.stream, self.begin)
        self.same(f"{row}: trades", self.stream, self.begin, self.trades)
        self.events_again(row, self.account_begin, self.events)

    def events_again(self, row, seq, want):
        self.private = Private(self.table, self.world, self.account.api_key).resume(seq)
        self.same(f"{row}: events", self.private.stream, seq, want)

    def same(self, row, stream, seq, want):
        got = []
        self.chain(stream, seq, got, len(want))
        self.table.same(row, [pair for pair in zip(got, want) if pair[0] != pair[1]][:1], [])
        stream.ask(op="ping", id=5)
        self.table.same(f"{row}: no more", stream.next().get("id"), 5)

    def gaps(self, row):
        """One gap each from the beginning, to the newest; what happens then follows it."""
        self.stream = Stream(self.world.exchange)
        resume(self.table, self.stream, self.begin)
        self.private = Private(self.table, self.world, self.account.api_key)
        self.private.resume(self.account_begin)
        for name, stream, begin, last in (
                ("trades", self.stream, self.begin, self.last),
                ("events", self.private.stream, self.account_begin, self.events[-1]["seq"])):
            gap = stream.next()
            self.table.same(f"{row}: {name}", (gap["type"], gap["prev_seq"],
                                               gap["data"]["from_seq"]), ("gap", begin, begin))
            self.table.true(f"{row}: {name} go on from the newest", gap["seq"] >= last and
                            gap["data"]["oldest_seq"] > begin, gap)
            setattr(self, "last" if name == "trades" else "account_last", gap["seq"])


@suite.case
def across_the_archive(world):
    """W9: who is thousands of events behind gets each once, in their order, from a history that a
    start has made again of archive and journal; where it could not, one gap is named. A history
    that keeps fewer private events names a gap for what is older, and no other. The thread
    sanitizer has no part in it: a minute of starts, one behind the other."""
    if b"__tsan_init" in pathlib.Path(world.perpd.program).read_bytes():
        return []
    table, (maker, taker) = Table(), (world.account(1_000_000), world.account(1_000_000))
    behind = Behind(table, world, maker)

    def sell():
        place_bids(world, maker, Random(1), (100, 101))
        sold = taker.limit(ETH_PRICE - LEVELS, -100 * LEVELS, expiry=IOC, asset=ETH)
        assert sold["status"] == DONE, sold
        behind.take(LEVELS, 5 * LEVELS)  # an order; fill, balance, position and order

    for number in range(17):
        sell()
        if number % 8 == 7:
            seal(world.exchange)
    table.true("far more than a page", len(behind.trades) > 1000 and len(behind.events) > 5000,
               (len(behind.trades), len(behind.events)))
    behind.leave()
    archived(world, table, maker, taker)
    behind.again("as it was")
    sell()
    options = list(world.perpd.options)
    for row, more, kept in (("made again", (), None), ("fewer kept", (FEW,), FEW_EVENTS),
                            ("not made again", ("--store.remake_history=off",), 0)):
        behind.leave()
        world.perpd.options = [*options, *more]
        world.again(table, signal.SIGKILL, maker, taker, damage=lose_history)
        world.again(table, signal.SIGTERM, maker, taker)  # memory has what was replayed
        if kept is None:
            behind.again(row)
        elif kept:
            behind.events_again(row, behind.events[-kept - 1]["seq"], behind.events[-kept:])
            late = Private(table, world, maker.api_key).resume(behind.account_begin)
            gap = late.stream.next()
            table.same(f"{row}: a gap", (gap["type"], gap["prev_seq"], gap["seq"]),
                       ("gap", behind.account_begin, behind.events[-1]["seq"]))
            late.end()
        else:
            behind.gaps(row)
        if kept is None or not kept:
            sell()
    behind.leave()
    world.perpd.options = options
    world.again(table, signal.SIGTERM, maker, taker, damage=lose_history)
    behind.again("made again at last")
    behind.leave()
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    PATHS[1006] = PATHS[MARKET_STATE]
    sys.exit(test_restart.run(suite, World, *client.LONG_WINDOW))
