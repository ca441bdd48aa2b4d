"""test_streams.py - GET /api/v1/stream from outside: handshakes, frames that a client may and may
not send, subscriptions, and trades that equal REST's through reconnections and kill -9.

W: wire.md, J: json.md, RFC: 6455.
"""
import os
import signal
import struct
import sys
import time
from random import Random

import client
import test_restart
from client import (IOC, OCTETS, PLACE_LIMIT, REDUCE, REPLACE, Connection, frame as write_frame,
                    limit_body, new_id, payload_of, portfolio_bytes, reduce_body, replace_body,
                    request_bytes)
from harness import Suite, Table
from world import ETH
from ws_client import CLOSE, ENDS, PING, PONG, TEXT, Book, Queue, Stream, frame, handshake

suite = Suite("streams")
ETH_PRICE = 300_000
BATCH, LEVELS = 8, 64
MEMBERS = ["channel", "market", "seq", "prev_seq", "engine_seq", "time_ns", "type", "data"]


class World(test_restart.World):
    def trade(self, maker, taker, count=1):
        for _ in range(count):
            maker.limit(ETH_PRICE, -100, asset=ETH)
            taker.limit(ETH_PRICE, 100, expiry=IOC, asset=ETH)

    def rest(self, market="ETH-PERP", limit=50):
        return self.exchange.get(f"/api/v1/markets/{market}/trades?limit={limit}").json


def place_bids(world, account, random, sizes=(1, 500)):
    """Bids at LEVELS prices below ETH_PRICE, of any of the sizes, in one request."""
    items = b"".join(struct.pack("<BBBxIQqQ16s16x", 0, 0, 0, ETH, ETH_PRICE - at,
                                 random.randrange(*sizes), 2 ** 64 - 1, new_id())
                     for at in range(1, LEVELS + 1))
    payload = payload_of(BATCH, portfolio_bytes(account.id) + struct.pack("<HHI", LEVELS, 0, 0) +
                         items, account.session)
    answer = world.exchange.raw(request_bytes("POST", "/api/v1/trading/order/batch", write_frame(
        payload, account.session.public, account.session.sign(payload)), [OCTETS])).json
    assert answer["status"] == "request_completed", answer


def subscribe(table, stream, market="ETH-PERP", **more):
    """Subscribes to trades; the snapshot, its head and reply looked at."""
    stream.ask(op="subscribe", channel="trades", market=market, **more)
    table.same("the reply", stream.next(),
               {"op": "subscribe", **more, "channel": "trades", "market": market, "epoch": 1})
    shown = stream.next()
    table.same("members", list(shown), MEMBERS)
    table.same("a snapshot", (shown["channel"], shown["market"], shown["type"]),
               ("trades", market, "snapshot"))
    table.same("seq and prev_seq", shown["seq"], shown["prev_seq"])
    return shown


def follow(table, stream, seq, count):
    """The data of the next updates; their order is looked at, heartbeats are passed over."""
    got = []
    while len(got) < count:
        shown = stream.next(beats=True)
        table.same("prev_seq", shown["prev_seq"], seq)
        if shown["type"] == "heartbeat":
            table.same("a heartbeat", (shown["seq"], shown["data"]), (seq, {}))
            continue
        table.same("members", list(shown), MEMBERS)
        table.same("type", shown["type"], "update")
        table.true("seq rises", shown["seq"] > seq, (seq, shown["seq"]))
        table.same("engine_seq", (shown["engine_seq"], shown["time_ns"]),
                   (shown["data"]["sequence"], shown["data"]["time_ns"]))
        seq = shown["seq"]
        got.append(shown["data"])
    return got, seq


@suite.case
def handshakes(world):
    """RFC 4.2: what is no handshake gets a problem, and the connection goes on as HTTP."""
    table = Table()
    ask = world.exchange.raw
    for name, changes in (("Upgrade", {"Upgrade": None}), ("Upgrade", {"Upgrade": "h2c"}),
                          ("Upgrade", {"Connection": "keep-alive"}),
                          ("Sec-WebSocket-Version", {"Sec_WebSocket_Version": "8"}),
                          ("Sec-WebSocket-Version", {"Sec_WebSocket_Version": None}),
                          ("Sec-WebSocket-Key", {"Sec_WebSocket_Key": "AAAA"}),
                          ("Sec-WebSocket-Key", {"Sec_WebSocket_Key": "!" * 24})):
        answer = ask(handshake(**changes))
        table.problem(f"{changes}", answer, 400, "invalid_parameter")
        table.same(f"{changes}: parameter", answer.json.get("parameter"), name)
    table.problem("a foreign page", ask(handshake(Origin="https://evil.example")), 403,
                  "origin_not_allowed")
    table.same("an own page", ask(handshake(Origin="http://localhost")).status, 101)
    answer = ask(handshake(Sec_WebSocket_Extensions="permessage-deflate; client_max_window_bits"))
    table.same("compression is offered, and not taken",
               (answer.status, answer.header("sec-websocket-extensions")), (101, None))
    behind = Stream(world.exchange, before=2 * request_bytes("GET", "/api/v1/status"))
    behind.ask(op="ping", id=3)
    table.same("behind requests", list(behind.next()), ["op", "id", "time_ns"])
    behind.end()
    return table.wrong


@suite.case
def frames(world):
    """RFC 5 to 7: fragments, control frames between them, and the close code of each fault."""
    table = Table()
    ping = b'{"op":"ping","id":5}'
    letter = '{"op":"ping","id":5,"note":"\u20ac"}'.encode()
    for name, has_pong, data in (
            *((f"a letter cut behind byte {at}", False, frame(TEXT, letter[:at], fin=False) +
               frame(0, fin=False) + frame(0, letter[at:])) for at in range(26, 31)),
            ("fragments", False, frame(TEXT, ping[:4], fin=False) + frame(0, ping[4:9], fin=False) +
             frame(0, ping[9:])),
            ("a ping between", True, frame(TEXT, ping[:7], fin=False) + frame(PING, b"x") +
             frame(0, ping[7:]))):
        stream = Stream(world.exchange)
        stream.raw(data)
        if has_pong:
            table.same(f"{name}: pong", stream.take(), (PONG, b"x"))
        table.same(name, stream.next()["id"], 5)
        stream.end()
    slow = Stream(world.exchange)
    for byte in frame(TEXT, ping):
        slow.raw(bytes([byte]))
    table.same("one byte at a time", slow.next()["op"], "ping")
    slow.raw(frame(PING, b"y" * 125) + frame(PONG, b"z"))
    table.same("a long ping", slow.take(), (PONG, b"y" * 125))
    slow.raw(frame(CLOSE, b"\x03\xe8bye"))
    table.same("close is answered", slow.closed(), 1000)
    for name, data, code in ENDS:
        stream = Stream(world.exchange)
        stream.raw(data)
        table.same(name, stream.closed(), code)
        stream.end()
    return table.wrong


@suite.case
def refused_ops(world):
    """J9: each failure is a problem with the op and the id, and the connection stays."""
    table = Table()
    stream = Stream(world.exchange)
    for op, name, code, parameter in (
            ({"op": "subscribe", "id": 1}, "subscribe", "invalid_parameter", "channel"),
            ({"op": "subscribe", "channel": "ticks", "market": "ETH-PERP"}, "subscribe",
             "invalid_parameter", "channel"),
            ({"op": "subscribe", "channel": "bbo"}, "subscribe", "invalid_parameter", "market"),
            *(({"op": "subscribe", "channel": "book", "market": "ETH-PERP", "depth": depth},
               "subscribe", "invalid_parameter", "depth")
              for depth in (0, 2, -1, 1001, 50.5, "50", True, None, [50], 2**64 + 50)),
            ({"op": "subscribe", "channel": "trades"}, "subscribe", "invalid_parameter", "market"),
            ({"op": "subscribe", "channel": "trades", "market": "NO-PERP"}, "subscribe",
             "invalid_parameter", "market"),
            ({"op": "subscribe", "channel": "trades", "market": "X" * 99}, "subscribe",
             "invalid_parameter", "market"),
            ({"op": "signed"}, "signed", "invalid_parameter", "id"),
            ({"op": "signed", "id": 3, "ack": "binary"}, "signed", "invalid_parameter", "ack"),
            ({"op": "cancel", "id": 4}, None, "invalid_parameter", "op"),
            ({"id": 9}, None, "invalid_parameter", "op"),
            ({"op": "ping", "id": "x"}, "ping", "invalid_parameter", "id")):
        stream.ask(**op)
        answer = stream.next()
        table.same(f"{op}", (answer["op"], answer.get("id"), answer["problem"]["code"],
                             answer["problem"]["parameter"]),
                   (name, op.get("id") if op.get("id") != "x" else None, code, parameter))
    for text in (b"", b"[]", b"{", b'{"op":"ping","op":"ping"}'):
        stream.raw(frame(TEXT, text))
        answer = stream.next()
        table.same(f"{text}", (answer["op"], answer["problem"]["code"]), (None, "malformed_json"))
    stream.end()
    return table.wrong


@suite.case
def trades(world):
    """W9: snapshot first, then each trade once with its seq; equal to REST."""
    table = Table()
    maker, taker = world.account(), world.account()
    stream, other = Stream(world.exchange), Stream(world.exchange)
    first = subscribe(table, stream, id=1)
    subscribe(table, other, "BTC-PERP")
    world.trade(maker, taker, 30)
    got, seq = follow(table, stream, first["seq"], 30)
    rest = world.rest()
    table.same("as REST", got[::-1], rest["trades"][:30])
    late = Stream(world.exchange)
    again = subscribe(table, late)
    table.same("a later snapshot is REST's", again["data"]["trades"], rest["trades"])
    # A mark that is computed between the reads counts too.
    seqs = [rest["seq"], again["seq"], world.rest()["seq"]]
    table.same("and its seq lies between two reads", sorted(seqs), seqs)
    stream.ask(op="unsubscribe", channel="trades", market="ETH-PERP", id=4)
    table.same("unsubscribed", stream.next(), {"op": "unsubscribe", "id": 4, "channel": "trades",
                                              "market": "ETH-PERP"})
    world.trade(maker, taker, 2)
    follow(table, late, again["seq"], 2)
    stream.ask(op="ping", id=6)
    table.same("nothing more came", stream.next().get("id"), 6)
    other.ask(op="ping", id=7)
    table.same("nothing of another market", other.next().get("id"), 7)
    for one in (stream, other, late):
        one.end()
    return table.wrong


@suite.case
def under_traffic(world):
    """Snapshot and updates join without a gap while trades happen: each trade exactly once."""
    table = Table()
    maker, taker = world.account(), world.account()
    for _ in range(12):
        stream = Stream(world.exchange)
        maker.limit(ETH_PRICE, -400, asset=ETH)
        taker.limit(ETH_PRICE, 100, expiry=IOC, asset=ETH)
        stream.ask(op="subscribe", channel="trades", market="ETH-PERP")
        for _ in range(3):
            taker.limit(ETH_PRICE, 100, expiry=IOC, asset=ETH)
        stream.next()
        shown = stream.next()
        newest = world.rest()["trades"][0]["trade_seq"]
        have = [record["trade_seq"] for record in shown["data"]["trades"][::-1]]
        got, _ = follow(table, stream, shown["seq"], newest - have[-1])
        have += [record["trade_seq"] for record in got]
        table.same("each once", have, list(range(have[0], newest + 1)))
        stream.end()
    return table.wrong


def announce(world, at_ns):
    with Connection(world.exchange.admin_port) as connection:
        return connection.exchange(request_bytes(
            "POST", f"/admin/maintenance{at_ns}", b"", [world.exchange.bearer]))


def maintenance(table, world, stream):
    """J6: what an operator announces is shown at once, by REST and by the stream."""
    at_ns = (int(time.time()) + 700) * 10 ** 9
    for text in (f"?at_ns={at_ns - 200 * 10 ** 9}", "?at_ns=1", "?at_ns=-1", "",
                 f"?at_ns={at_ns + 367 * 86_400 * 10 ** 9}"):
        table.problem(text, announce(world, text), 400, "invalid_parameter")
    for text, want in ((f"?at_ns={at_ns}", at_ns), ("?at_ns=0", None)):
        table.same(text, announce(world, text).json.get("maintenance_at_ns"), want)
        shown = next(one for one in (stream.next() for _ in range(99)) if one["channel"] ==
                     "status" and one["data"].get("maintenance_at_ns") == want)
        table.same("state", (shown["type"], shown["data"]["state"]), ("update", "ready"))
        table.same("REST", world.exchange.get("/api/v1/status").json.get("maintenance_at_ns"), want)


@suite.case
def status(world):
    """J9: the status at once and each 5 s; trades have heartbeats as often."""
    table = Table()
    stream = Stream(world.exchange)
    stream.ask(op="subscribe", channel="status", id=2)
    table.same("the reply", stream.next(), {"op": "subscribe", "id": 2, "channel": "status",
                                           "epoch": 1})
    shown = stream.next()
    table.same("data", list(shown["data"]), list(world.exchange.get("/api/v1/status").json))
    table.same("state", (shown["type"], shown["data"]["state"], shown["seq"] ==
                         shown["data"]["applied"]), ("snapshot", "ready", True))
    base = subscribe(table, stream)
    begun, kinds = time.monotonic(), set()
    while len(kinds) < 2 and time.monotonic() - begun < 12:
        frame_shown = stream.next(beats=True)
        kinds.add((frame_shown["channel"], frame_shown["type"]))
        if frame_shown["channel"] == "trades":
            table.same("heartbeat", (frame_shown["seq"], frame_shown["prev_seq"]),
                       (base["seq"], base["seq"]))
    table.same("both", kinds, {("status", "update"), ("trades", "heartbeat")})
    maintenance(table, world, stream)
    stream.end()
    return table.wrong


@suite.case
def subscriptions_and_connections(world):
    """W8: 2 subscriptions a connection and 8 connections an address, as this perpd was told."""
    table = Table()
    stream = Stream(world.exchange)
    subscribe(table, stream, "BTC-PERP")
    subscribe(table, stream, "ETH-PERP")
    subscribe(table, stream, "ETH-PERP")
    stream.ask(op="subscribe", channel="status")
    table.same("a third", stream.next()["problem"]["parameter"], "channel")
    stream.end()
    connections, answer = [], None
    while len(connections) < 9:
        connection = world.exchange.open()
        answer = connection.exchange(handshake())
        if answer.status != 101:
            connection.close()
            break
        connections.append(connection)
    # Whichever threads have them; the stream that has just ended may count for a moment yet.
    table.true("as many as 8", 7 <= len(connections) <= 8, len(connections))
    table.problem("one more", answer, 429, "rate_limited")
    for connection in connections:
        connection.close()
    return table.wrong


@suite.case
def reconnections(world):
    """A client that rebuilds the trades equals REST through lost connections and kill -9."""
    table = Table()
    maker, taker = world.account(), world.account()
    have = {}
    for number in range(6):
        stream = Stream(world.exchange)
        shown = subscribe(table, stream)
        for record in shown["data"]["trades"]:
            table.same("the same trade", have.setdefault(record["trade_seq"], record), record)
        world.trade(maker, taker, 5)
        got, seq = follow(table, stream, shown["seq"], 5)
        have.update((record["trade_seq"], record) for record in got)
        table.true("REST has it", world.rest()["seq"] >= seq, seq)
        if number % 3 == 2:
            world.again(table, signal.SIGKILL, maker, taker)
        stream.end()
    rest = {record["trade_seq"]: record for record in world.rest(limit=1000)["trades"]}
    table.same("REST's trades", {number: rest[number] for number in have}, have)
    table.same("no gap", sorted(have), list(range(min(have), max(rest) + 1)))
    return table.wrong


def follow_book(table, world, depth=None, market="ETH-PERP", narrow=False):
    """Subscribes to a book; the reply and the snapshot's head looked at."""
    stream, more = Stream(world.exchange, narrow), {} if depth is None else {"depth": depth}
    stream.ask(op="subscribe", channel="book", market=market, id=5, **more)
    depth = depth or 50
    table.same("the reply", stream.next(), {"op": "subscribe", "id": 5, "channel": "book",
                                           "market": market, "depth": depth, "epoch": 1})
    book, shown = Book(depth), stream.next()
    table.same("members", list(shown), MEMBERS[:-1] + ["crc", "data"])
    table.same("a snapshot", (shown["channel"], shown["market"], shown["type"]),
               ("book", market, "snapshot"))
    book.apply(shown)
    return stream, book


def rest_book(world, depth, market="ETH-PERP"):
    rest = world.exchange.get(f"/api/v1/markets/{market}/book?depth={depth}").json
    return {side: rest[side] for side in ("bids", "asks")}, rest["seq"]


def until_rest(world, stream, book, market="ETH-PERP"):
    """Takes frames until the book is REST's, which nothing changes now."""
    want, _ = rest_book(world, book.depth, market)
    frames = 0
    while book.shown() != want:
        book.apply(stream.next(beats=True))
        frames += 1
    return frames


def stir(random, account, orders, levels):
    """Changes one level: a limit order at one of `levels` prices a side, or a cancel."""
    if orders and random.random() < 0.45:
        account.cancel(orders.pop(random.randrange(len(orders))), asset=ETH)
        return
    order, away = new_id(), random.randrange(1, levels + 1)
    buys = random.random() < 0.5
    account.limit(ETH_PRICE + (-away if buys else away), 100 if buys else -100, order, asset=ETH)
    orders.append(order)


@suite.case
def books(world):
    """W9: a book rebuilt from the stream is REST's after each command, at every depth: levels that
    leave the depth and that come into it, crc in snapshots and heartbeats."""
    table, random = Table(), Random(20260)
    account, orders = world.account(1_000_000), []
    for _ in range(40):
        stir(random, account, orders, 20)
    followed = [follow_book(table, world, depth) for depth in (1, 10, None, 1000)]
    best = Stream(world.exchange)
    best.ask(op="subscribe", channel="bbo", market="ETH-PERP")
    best.next()
    top = best.next()
    table.same("a bbo", (list(top), top["type"], top["seq"]), (MEMBERS, "snapshot",
                                                              top["prev_seq"]))
    for number in range(150):
        before = [rest_book(world, book.depth)[0] for _, book in followed]
        stir(random, account, orders, 20)
        for (stream, book), was in zip(followed, before):
            want, seq = rest_book(world, book.depth)
            if want == was:
                continue
            shown = stream.next()
            book.apply(shown)
            table.same(f"{number}: depth {book.depth}", book.shown(), want)
            table.true("its seq", seq - 4 <= shown["seq"] <= seq, (shown["seq"], seq))
        first = rest_book(world, 1)[0]
        want = [value for side in ("bids", "asks")
                for value in (first[side][0] if first[side] else [None, None])]
        if first != before[0]:
            shown = best.next()
            table.same("prev_seq", (shown["type"], shown["prev_seq"]), ("update", top["seq"]))
            top = shown
        table.same(f"{number}: bbo", list(top["data"].items()), list(zip(
            ("bid_price", "bid_size", "ask_price", "ask_size"), want)))
    stream, book = followed[2]
    beat = stream.next(beats=True)
    while beat["type"] != "heartbeat":
        beat = stream.next(beats=True)
    table.true("a heartbeat has crc", beat["crc"] == book.crc(), beat)
    stream.ask(op="unsubscribe", channel="book", market="ETH-PERP", id=8)
    table.same("unsubscribed", stream.next(), {"op": "unsubscribe", "id": 8, "channel": "book",
                                              "market": "ETH-PERP"})
    account.cancel_all()
    followed.pop(2)
    for stream, book in followed:
        until_rest(world, stream, book)
    for stream, _ in followed:
        stream.ask(op="ping", id=9)
        table.same("nothing more came", stream.next().get("id"), 9)
        stream.end()
    return table.wrong


def burst_of(world, random, account, count):
    """Requests for bids that rest."""
    return [world.exchange.signed(PLACE_LIMIT, limit_body(
        account.id, ETH_PRICE - random.randrange(1, 30), 100, asset=ETH), account.session)
            for _ in range(count)]


@suite.case
def books_through_crashes(world):
    """The rebuilt book is REST's at every sequence that both show, while orders are sent, through
    reconnections and kill -9; who subscribes while others follow gets what they have."""
    table, random = Table(), Random(20261)
    account, orders = world.account(1_000_000), []
    for number in range(4):
        stream, book = follow_book(table, world, 10)
        for _ in range(12):
            raws = burst_of(world, random, account, 16)
            burst = world.exchange.open()
            burst.send(b"".join(raws))
            late, other = follow_book(table, world, random.choice((1, 10, 50, 1000)))
            seen = {}
            for _ in range(4):
                levels, seq = rest_book(world, 10)
                seen[seq] = levels
            for _ in raws:
                burst.receive()
            burst.close()
            until = rest_book(world, 10)[0]
            while book.shown() != until:
                book.apply(stream.next(beats=True))
                if book.seq in seen:
                    table.same("at one sequence", book.shown(), seen[book.seq])
            until_rest(world, late, other)
            late.end()
        account.cancel_all()
        until_rest(world, stream, book)
        stir(random, account, orders, 5)
        stream.end()
        if number % 2 == 1:
            world.again(table, signal.SIGKILL, account)
    return table.wrong


def follow_orders(table, world):
    stream, queue = Stream(world.exchange), Queue()
    stream.ask(op="subscribe", channel="book_l3", market="ETH-PERP", id=6)
    table.same("the reply", stream.next(), {"op": "subscribe", "id": 6, "channel": "book_l3",
                                           "market": "ETH-PERP", "epoch": 1})
    shown = stream.next()
    table.same("a snapshot", (list(shown), shown["type"]), (MEMBERS, "snapshot"))
    queue.apply(shown)
    return stream, queue


@suite.case
def single_orders(world):
    """J9: the orders kept from book_l3 are GET /book/l3's, order for order, while they rest, are
    filled, canceled, made smaller and moved; for those who come late, and after kill -9."""
    table, random = Table(), Random(20262)
    account, taker, orders = world.account(1_000_000), world.account(1_000_000), []
    path, actions = "/api/v1/markets/ETH-PERP/book/l3", []
    for number in range(2):
        stream, queue = follow_orders(table, world)
        other = Stream(world.exchange)  # of another market: nothing of this one comes
        other.ask(op="subscribe", channel="book_l3", market="BTC-PERP")
        table.same("no order there", [other.next(), other.next()["data"]][1], {"orders": []})
        for turn in range(60):
            stir(random, account, orders, 4)
            if turn % 3 == 0:
                taker.limit(ETH_PRICE - 2, -random.randrange(20, 250), expiry=IOC, asset=ETH)
            if turn % 5 == 0 and orders:
                world.exchange.ack(REDUCE, reduce_body(account.id, orders[0], 40, asset=ETH),
                                   account.session)
                world.exchange.ack(REPLACE, replace_body(account.id, orders[-1], ETH_PRICE - 3,
                                                         150, asset=ETH), account.session)
            if turn % 6 == 0:
                raws = burst_of(world, random, account, 16)
                burst = world.exchange.open()
                burst.send(b"".join(raws))
                late, joined = follow_orders(table, world)  # while they come
                for _ in raws:
                    burst.receive()
                burst.close()
                rest = world.exchange.get(path).json
                for one, kept in ((stream, queue), (late, joined)):
                    beats = 0  # of which each comes after all that is to come
                    while kept.shown() != rest["orders"]:
                        kept.apply(shown := one.next(beats=True))
                        beats += shown["type"] == "heartbeat"
                        assert beats < 3, (kept.shown(), rest)
                    table.true("no later than REST", kept.seq <= rest["seq"], (kept.seq, rest))
                late.end()
        actions += queue.actions
        stream.ask(op="unsubscribe", channel="book_l3", market="ETH-PERP", id=7)
        while "op" not in (shown := stream.next()):
            queue.apply(shown)
        other.ask(op="ping", id=8)
        table.same("nothing of another market", other.next()["op"], "ping")
        for one in (stream, other):
            one.end()
        if number == 0:
            world.again(table, signal.SIGKILL, account, taker)
    account.cancel_all()
    table.same("each action", set(actions), {"add", "reduce", "delete", "execute"})
    return table.wrong


def deaf_for(world, seconds):
    """A stream that asks for far more than kernels keep, and reads nothing for so long."""
    deaf = Stream(world.exchange)
    try:
        deaf.connection.socket.settimeout(5)
        for _ in range(4000):
            deaf.ask(op="subscribe", channel="trades", market="ETH-PERP")
    except OSError:
        pass
    time.sleep(seconds)
    return deaf


@suite.case
def slow_readers(world):
    """W8: who does not read is closed with 4008, and orders go on. How long perpd takes to fill
    what kernels keep is the machine's affair: who reads again before that is no slow reader."""
    table = Table()
    maker, taker = world.account(), world.account()
    code = None
    for seconds in (0, 1, 4, 16, 60):
        deaf = deaf_for(world, seconds)
        stream = Stream(world.exchange)
        shown = subscribe(table, stream)
        world.trade(maker, taker, 3)
        follow(table, stream, shown["seq"], 3)
        deaf.connection.socket.settimeout(3)  # before its next heartbeat
        try:
            code = deaf.closed()
        except TimeoutError:
            code = None
        deaf.end()
        stream.end()
        if code is not None:
            break
    table.same("closed", code, 4008)
    return table.wrong


@suite.case
def a_stop(world):
    """A stop closes streams with 1001."""
    table = Table()
    stream = Stream(world.exchange)
    subscribe(table, stream)
    table.same("stops with 0", world.perpd.stop(signal.SIGTERM), 0)
    table.same("going away", stream.closed(), 1001)
    world.perpd.process.stdout.close()
    world.exchange = world.perpd.start()
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(test_restart.run(suite, World, *client.LONG_WINDOW, "--limits.stream_subscriptions=2",
                              "--limits.stream_connections=8", "--limits.stream_backlog=64K"))
