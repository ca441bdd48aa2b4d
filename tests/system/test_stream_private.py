"""test_stream_private.py - the channel `private`: every event once, with its seq, as REST has it;
who may see which; over lost connections, kill -9 and a stop. Clients that read slowly.

W: wire.md, J: json.md.
"""
import json
import os
import pathlib
import re
import signal
import struct
import sys
import time
from random import Random

import client
import test_restart
from client import (CREATE_API_KEY, DEPOSIT, IOC, OCTETS, PATHS, PATIENCE_S, REVOKE_API_KEY,
                    Connection, api_key_body, b64, deposit_body, frame, id_text, new_id,
                    payload_of, portfolio_bytes, request_bytes, revoke_key_body)
from harness import Suite, Table
from request_body import withdraw_body
from test_restart import DONE
from test_streams import ETH_PRICE, World, follow_book, place_bids, rest_book
from world import ETH, USDC
from ws_client import CLOSE, TEXT, Stream, frame as ws_frame

suite = Suite("stream_private")
# Kept of each account, at least; at most a step and some rows more (private_keep.h).
PRIVATE_EVENTS, STEP, BLOCK = 300, 256, 48
CREATE_SUBACCOUNT, TRANSFER, WITHDRAW, LOGIN, SETTLE = 22, 9, 10, 33, 1004
PATHS.update({CREATE_SUBACCOUNT: "/api/v1/subaccounts/create", TRANSFER: "/api/v1/cash/transfer",
              WITHDRAW: "/api/v1/cash/withdraw", LOGIN: "/api/v1/login",
              SETTLE: "/api/v1/operator"})
MEMBERS = ["channel", "seq", "prev_seq", "engine_seq", "time_ns", "type", "data"]
ORDER, FILL, POSITION, BALANCE, TRANSFERRED = "order", "fill", "position", "balance", "transfer"


class Private:
    """A stream that is logged in, and what it must get next: seq, prev_seq."""

    def __init__(self, table, world, secret, device=False):
        self.table, self.stream = table, Stream(world.exchange)
        self.stream.ask(op="login", id=1, **{"device_key" if device else "api_key": secret})
        self.login = self.stream.next()
        self.seq = None

    def subscribe(self):
        self.stream.ask(op="subscribe", channel="private", id=2)
        self.table.same("the reply", self.stream.next(),
                        {"op": "subscribe", "id": 2, "channel": "private", "epoch": 1})
        shown = self.stream.next()
        self.table.same("a snapshot", (list(shown), shown["type"], shown["data"]),
                        (MEMBERS, "snapshot", {}))
        self.table.same("prev_seq", shown["prev_seq"], shown["seq"])
        self.seq = shown["seq"]
        return self

    def resume(self, seq):
        self.stream.ask(op="resume", channel="private", from_seq=seq, id=3)
        self.table.same("the reply", self.stream.next(),
                        {"op": "resume", "id": 3, "channel": "private", "from_seq": seq,
                         "epoch": 1})
        self.seq = seq
        return self

    def take(self, count, step=1):
        """The next frames, heads looked at. `step`: how far apart seqs are, None: any rise."""
        got = []
        for _ in range(count):
            shown = self.stream.next()
            self.table.same("members", (list(shown), shown["channel"], shown["type"]),
                            (MEMBERS, "private", "update"))
            self.table.same("prev_seq", shown["prev_seq"], self.seq)
            self.table.true("seq", shown["seq"] == self.seq + step if step else
                            shown["seq"] > self.seq, shown)
            self.seq = shown["seq"]
            got.append(shown)
        return got

    def nothing(self, what):
        self.stream.ask(op="ping", id=99)
        self.table.same(what, self.stream.next().get("id"), 99)

    def end(self):
        self.stream.end()


def events(frames):
    return [shown["data"]["event"] for shown in frames]


def without(data, *names):
    return {name: value for name, value in data.items() if name not in ("event", *names)}


def key_of(world, account, pin=client.NO_PIN, scope=0):
    return world.exchange.ack(CREATE_API_KEY, api_key_body(account.id, pin, scope),
                              account.session)


def subaccount(world, account):
    done = world.exchange.ack(CREATE_SUBACCOUNT, struct.pack("<Q", account.id), account.master)
    assert done["status"] == DONE, done
    return done["subaccount_index"]


def transfer(world, account, amount, origin, target):
    body = (portfolio_bytes(account.id, *origin) + portfolio_bytes(account.id, *target) +
            struct.pack("<Q", amount))
    done = world.exchange.ack(TRANSFER, body, account.session)
    assert done["status"] == DONE, done
    return done


@suite.case
def logins(world):
    """J9: what a login answers; what is refused without one; another account."""
    table, account, other = Table(), world.account(), world.account()
    sub = subaccount(world, account)
    pinned = key_of(world, account, pin=sub, scope=1)
    stream = Stream(world.exchange)
    for op in ("subscribe", "resume"):
        stream.ask(op=op, channel="private", from_seq=0, id=4)
        answer = stream.next()
        table.same(f"{op} without login", (answer["op"], answer["id"], answer["problem"]["code"],
                                           answer["problem"]["status"]),
                   (op, 4, "invalid_api_key", 401))
    for members, code in (({}, "invalid_parameter"), ({"api_key": 5}, "invalid_parameter"),
                          ({"api_key": account.api_key, "device_key": account.api_key},
                           "invalid_parameter"),
                          ({"api_key": "AAAA"}, "invalid_api_key"),
                          ({"api_key": "x" * 2000}, "invalid_api_key"),
                          ({"api_key": b64(bytes(32))}, "invalid_api_key"),
                          ({"device_key": b64(bytes(32))}, "invalid_device_key"),
                          ({"device_key": account.api_key}, "invalid_device_key")):
        stream.ask(op="login", id=5, **members)
        answer = stream.next()
        table.same(f"{members}", (answer["op"], answer["id"], answer["problem"]["code"]),
                   ("login", 5, code))
    for secret, want in ((account.api_key, {"scope": "READ"}),
                         (pinned["api_key"], {"scope": "READ_WRITE", "subaccount_index": sub})):
        stream.ask(op="login", api_key=secret, id=6)
        table.same("a login", list(stream.next().items()), list(
            {"op": "login", "id": 6, "account_id": account.id, **want, "epoch": 1}.items()))
    device = world.exchange.ack(LOGIN, struct.pack("<QQi4x", account.id, 0, -1), account.session)
    stream.ask(op="login", device_key=device["device_key"])
    table.same("a device key", stream.next(), {"op": "login", "account_id": account.id,
                                               "scope": "READ_WRITE", "epoch": 1})
    stream.ask(op="login", api_key=other.api_key)
    table.same("another account", stream.next()["problem"]["code"], "invalid_parameter")
    stream.ask(op="subscribe", channel="private")
    table.same("the first is in force", stream.next().get("channel"), "private")
    stream.end()
    return table.wrong


@suite.case
def orders_and_fills(world):
    """W3c, J9: the events of a placement and of a fill for both sides, equal to REST's records."""
    table, maker, taker = Table(), world.account(), world.account()
    one = Private(table, world, maker.api_key).subscribe()
    two = Private(table, world, taker.api_key).subscribe()
    rest_id, take_id = new_id(), new_id()
    placed = maker.limit(ETH_PRICE, -300, rest_id, asset=ETH)
    first, = one.take(1)
    table.same("it has its request", first["data"].pop("request_id"), id_text(rest_id))
    table.same("an order", without(first["data"]), maker.order(rest_id).json)
    table.same("joined", (first["data"]["event"], first["engine_seq"], first["time_ns"]),
               (ORDER, placed["sequence"], placed["processed_at_ns"]))
    done = taker.limit(ETH_PRICE, 100, take_id, expiry=IOC, asset=ETH)
    for who, side, owner, order in (("maker", one, maker, rest_id), ("taker", two, taker, take_id)):
        got = side.take(4)
        table.same(f"{who}: events", events(got), [FILL, BALANCE, POSITION, ORDER])
        table.same(f"{who}: joined", {shown["engine_seq"] for shown in got}, {done["sequence"]})
        fill, balance, position, ended = (shown["data"] for shown in got)
        table.same(f"{who}: the request", ended.pop("request_id"),
                   id_text(take_id) if who == "taker" else None)
        table.same(f"{who}: fill", without(fill),
                   owner.read("/api/v1/fills?subaccount_index=0").json[0])
        table.same(f"{who}: balance", without(balance), owner.read(
            "/api/v1/cash/history?subaccount_index=0").json["history"][0])
        table.same(f"{who}: order", without(ended), owner.order(order).json)
        held = owner.read("/api/v1/positions").json[0]
        table.same(f"{who}: position", list(position.items())[1:],
                   [(name, held[name]) for name in (
                       "account_id", "subaccount_index", "portfolio_index", "id", "market", "side",
                       "size", "average_entry_price", "net_funding")])
    # The position closes: what it earned and the fee, then no position.
    maker.cancel_all(asset=ETH)
    canceled, = one.take(1)
    table.same("canceled by a request", (canceled["data"]["order_status"],
                                         canceled["data"]["reason"],
                                         canceled["data"]["request_id"] is None),
               ("CANCELED", "cancel_all", False))
    maker.limit(ETH_PRICE - 100, 100, asset=ETH)
    one.take(1)
    taker.limit(ETH_PRICE - 100, -100, expiry=IOC, asset=ETH)
    for who, side in (("maker", one), ("taker", two)):
        got = side.take(5)
        table.same(f"{who}: closing", events(got), [FILL, BALANCE, BALANCE, POSITION, ORDER])
        table.same(f"{who}: kinds", [shown["data"]["kind"] for shown in got[1:3]],
                   ["trade", "fee"])
        table.same(f"{who}: closed", {name: got[3]["data"][name] for name in (
            "id", "side", "size", "average_entry_price", "net_funding")},
                   {"id": None, "side": None, "size": "0", "average_entry_price": None,
                    "net_funding": "0"})
        side.nothing(f"{who}: nothing more")
        side.end()
    refused = Private(table, world, taker.api_key).subscribe()
    taker.limit(ETH_PRICE, 10**9, asset=ETH)
    shown, = refused.take(1)
    table.same("a refused placement", (shown["data"]["event"], shown["data"]["order_status"]),
               (ORDER, "REJECTED"))
    refused.end()
    return table.wrong


@suite.case
def cash_and_keys(world):
    """J9: deposits, transfers, withdrawals, keys; each with the row of the ledger before it."""
    table, account = Table(), world.account()
    sub = subaccount(world, account)
    mine = Private(table, world, account.api_key).subscribe()
    world.exchange.ack(DEPOSIT, deposit_body(account.id, 7 * USDC), world.exchange.operator)
    got = mine.take(2)
    table.same("a deposit", events(got), [BALANCE, TRANSFERRED])
    here, there = ({"subaccount_index": index, "portfolio_index": 0} for index in (0, sub))
    table.same("from outside", without(got[1]["data"]),
               {"kind": "deposit", "amount": "7", "from": None, "to": here})
    transfer(world, account, 3 * USDC, (0, 0), (sub, 0))
    got = mine.take(3)
    table.same("a transfer", events(got), [BALANCE, TRANSFERRED, BALANCE])
    table.same("between", without(got[1]["data"]),
               {"kind": "transfer", "amount": "3", "from": here, "to": there})
    table.same("both rows", [got[at]["data"]["amount"] for at in (0, 2)], ["-3", "3"])
    for outcome, kind in ((0, "withdrawal_settled"), (1, "withdrawal_reverted")):
        done = world.exchange.ack(WITHDRAW, withdraw_body(account.id, 2 * USDC, bytes([7] * 20)),
                                  account.session)
        got = mine.take(2)
        table.same("a withdrawal", events(got), [BALANCE, TRANSFERRED])
        table.same("to outside", without(got[1]["data"]),
                   {"kind": "withdrawal", "amount": "2", "from": here, "to": None,
                    "withdrawal_id": done["withdrawal_id"]})
        raw = bytes.fromhex(done["withdrawal_id"].replace("-", ""))
        world.exchange.ack(SETTLE, raw + struct.pack("<B7x", outcome), world.exchange.operator)
        got = mine.take(1 + outcome)
        table.same(kind, without(got[-1]["data"]),
                   {"kind": kind, "amount": "2", "from": here if outcome == 0 else None,
                    "to": here if outcome == 1 else None, "withdrawal_id": done["withdrawal_id"]})
    key = key_of(world, account)
    world.exchange.ack(REVOKE_API_KEY, revoke_key_body(account.id, bytes.fromhex(
        key["api_key_id"].replace("-", ""))), account.session)
    table.same("a key", [without(shown["data"]) for shown in mine.take(2)],
               [{"kind": "api_key", "action": action, "id": key["api_key_id"]}
                for action in ("added", "removed")])
    mine.nothing("nothing more")
    mine.end()
    return table.wrong


@suite.case
def pins(world):
    """J9: a pinned login has the events of its subaccount; seq jumps, prev_seq names the frame
    before."""
    table, account = Table(), world.account()
    sub = subaccount(world, account)
    transfer(world, account, 5_000 * USDC, (0, 0), (sub, 0))
    mine = Private(table, world, key_of(world, account, pin=sub)["api_key"]).subscribe()
    whole = Private(table, world, account.api_key).subscribe()
    for index in (0, sub, 0, sub):
        account.limit(ETH_PRICE - 500, 100, asset=ETH, subaccount=index)
    transfer(world, account, USDC, (0, 0), (sub, 0))
    key_of(world, account)
    got, every = mine.take(4, step=None), whole.take(8)
    table.same("of the subaccount", [shown["seq"] for shown in got],
               [every[at]["seq"] for at in (1, 3, 5, 6)])
    table.same("the same events", [shown["data"] for shown in got],
               [every[at]["data"] for at in (1, 3, 5, 6)])
    mine.nothing("and no other")
    again = Private(table, world, key_of(world, account, pin=sub)["api_key"]).resume(got[0]["seq"])
    table.same("resumed", [shown["data"] for shown in again.take(3, step=None)],
               [shown["data"] for shown in got[1:]])
    account.cancel_all(asset=ETH)
    for one in (mine, whole, again):
        one.end()
    return table.wrong


@suite.case
def ended_keys(world):
    """A key that is revoked ends its stream, whatever it was about to get; the others go on."""
    table, account = Table(), world.account()
    key = key_of(world, account)
    mine = Private(table, world, key["api_key"]).subscribe()
    other = Private(table, world, account.api_key).subscribe()
    world.exchange.ack(REVOKE_API_KEY, revoke_key_body(account.id, bytes.fromhex(
        key["api_key_id"].replace("-", ""))), account.session)
    account.limit(ETH_PRICE - 500, 100, asset=ETH)
    try:
        code, seen = None, []
        while code is None:
            opcode, data = mine.stream.take()
            code = struct.unpack(">H", data[:2])[0] if opcode == 8 else None
            seen.append(data)
        table.same("closed", code, 1008)
        table.same("with nothing before", len(seen), 1)
    except EOFError:
        table.true("a close frame", False, "the connection ended without one")
    table.same("the other has both", events(other.take(2)), ["session", ORDER])
    late = Private(table, world, key["api_key"])
    table.same("it cannot log in", late.login["problem"]["code"], "invalid_api_key")
    for one in (mine, other, late):
        one.end()
    return table.wrong


@suite.case
def resumed(world):
    """W9: after lost connections, kill -9 and a stop nothing is missing and nothing comes twice."""
    table, maker, taker = Table(), world.account(), world.account()
    witness = Private(table, world, maker.api_key).subscribe()
    base, have = witness.seq, []
    maker.limit(ETH_PRICE, -3000, asset=ETH)
    have += witness.take(1)
    for number, ends in enumerate((None, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, None)):
        for _ in range(3):
            taker.limit(ETH_PRICE, 100, expiry=IOC, asset=ETH)
        have += witness.take(12)
        if ends is not None:
            witness.end()
            world.again(table, ends, maker, taker)
            witness = Private(table, world, maker.api_key).resume(have[-1]["seq"])
            witness.nothing(f"{number}: nothing twice")
        taker.limit(ETH_PRICE, 100, expiry=IOC, asset=ETH)
        have += witness.take(4)
        again = Private(table, world, maker.api_key).resume(base)
        table.same(f"{number}: each once", again.take(len(have)), have)
        again.nothing(f"{number}: no more")
        again.end()
    ahead = Private(table, world, maker.api_key).resume(have[-1]["seq"] + 1)
    shown = ahead.stream.next()
    table.same("a seq that is not reached", (shown["type"], shown["prev_seq"], shown["seq"]),
               ("gap", have[-1]["seq"] + 1, have[-1]["seq"]))
    taker.limit(ETH_PRICE, 100, expiry=IOC, asset=ETH)
    ahead.seq = have[-1]["seq"]
    table.same("goes on", [one["data"] for one in ahead.take(4)],
               [one["data"] for one in witness.take(4)])
    maker.cancel_all(asset=ETH)
    for one in (ahead, witness):
        one.end()
    return table.wrong


def seal(exchange):
    """Begins a segment of the journal: a start then begins with the snapshot, not the journal."""
    with Connection(exchange.admin_port) as connection:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            answer = connection.exchange(("POST /admin/seal HTTP/1.1\r\nHost: localhost\r\n" +
                                          ": ".join(exchange.bearer) +
                                          "\r\nContent-Length: 0\r\n\r\n").encode())
            if answer.json["open_segment"] != 0:
                return
            time.sleep(0.1)  # no other segment was ready
    raise AssertionError("segment 0 is open")


@suite.case
def kept(world):
    """W9: after a start from a snapshot, whose log is empty, history has the newest
    store.private_events of the account, over more than one page, also for a client that reads
    slowly, whatever op comes beside them; what is older is one gap."""
    table, maker, taker = Table(), world.account(), world.account()
    witness = Private(table, world, maker.api_key).subscribe()
    base, have = witness.seq, []
    maker.limit(ETH_PRICE, -100_000, asset=ETH)
    have += witness.take(1)
    while len(have) < 2 * PRIVATE_EVENTS + STEP + 3 * BLOCK:
        taker.limit(ETH_PRICE, 100, expiry=IOC, asset=ETH)
        have += witness.take(4)
    seal(world.exchange)
    witness.end()
    world.again(table, signal.SIGTERM, maker, taker)
    last = have[-1]["seq"]
    for missed in (1, 3, PRIVATE_EVENTS // 2, PRIVATE_EVENTS):
        again = Private(table, world, maker.api_key).resume(last - missed)
        again.stream.ask(op="ping", id=98)
        got, pings = [], 0
        while len(got) < missed:
            shown = again.stream.next()
            if shown.get("op") == "ping":
                pings += 1
            else:
                got.append(shown)
        again.seq = last
        table.same(f"{missed} missed", got, have[-missed:])
        if pings == 0:
            table.same("the ping", again.stream.next().get("id"), 98)
        again.nothing("nothing twice")
        again.end()
    slow = Private(table, world, maker.api_key).resume(last - PRIVATE_EVENTS)
    for shown in have[-PRIVATE_EVENTS:]:
        time.sleep(0.0005)
        table.same("slowly", slow.stream.next(), shown)
    slow.end()
    for seq in (0, base):
        late = Private(table, world, maker.api_key).resume(seq)
        gap = late.stream.next()
        table.same("a gap", (list(gap), gap["type"], gap["seq"], gap["prev_seq"],
                             gap["data"]["from_seq"]), (MEMBERS, "gap", last, seq, seq))
        oldest = gap["data"]["oldest_seq"]
        table.true("what can be resumed", seq < oldest <= last, gap)
        late.nothing("no more")
        late.resume(oldest)
        table.same("from there", late.take(last - oldest), have[len(have) - (last - oldest):])
        late.end()
    after = Private(table, world, maker.api_key).resume(last)
    taker.limit(ETH_PRICE, 100, expiry=IOC, asset=ETH)
    have += after.take(4)
    both = Private(table, world, maker.api_key).resume(last - 2)
    table.same("of history and of memory", both.take(6), have[-6:])
    world.again(table, signal.SIGKILL, maker, taker)
    both = Private(table, world, maker.api_key).resume(last - 200)
    table.same("of three starts", both.take(204), have[-204:])
    both.end()
    return table.wrong


class Hostile:
    """A stream of the account that says the same ops again and again and reads nothing."""

    def __init__(self, world, secret, *ops):
        self.stream, self.sent, self.is_open = Stream(world.exchange, narrow=True), 0, True
        self.stream.ask(op="login", api_key=secret)
        self.stream.ask(op="subscribe", channel="private")
        self.data = b"".join(ws_frame(TEXT, json.dumps(op).encode()) for op in ops) * 50
        self.stream.connection.socket.setblocking(False)

    def push(self):
        """Sends what the exchange takes now."""
        try:
            while self.data and self.is_open:
                at = self.sent % len(self.data)
                self.sent += self.stream.connection.socket.send(self.data[at:])
        except BlockingIOError:
            pass
        except OSError:
            self.is_open = False

    def read(self, last):
        """What it was sent, up to that seq or the close frame, whose code comes with it."""
        self.stream.connection.socket.settimeout(PATIENCE_S)
        messages = []
        while not messages or messages[-1].get("seq", 0) < last:
            opcode, data = self.stream.take()
            if opcode == CLOSE:
                return messages, struct.unpack(">H", data[:2])[0]
            messages.append(json.loads(data))
        return messages, None


def placed_and_canceled(table, account, private):
    """An order far from the market is placed and canceled; the two events come."""
    order_id = new_id()
    done = [account.limit(ETH_PRICE - 5_000, 100, order_id, asset=ETH),
            account.cancel(order_id, asset=ETH)]
    shown = private.take(2)
    table.same("joined", [(frame["data"]["event"], frame["engine_seq"]) for frame in shown],
               [(ORDER, ack["sequence"]) for ack in done])


HOSTILE, ROUNDS = 8, 150
GROWTH_MAX = 64 << 20  # bytes of a network thread: its pool keeps 16 MiB, 24 streams have 64 KiB


def quiet(senders):
    """Whether a time comes in which nothing of what they send is taken."""
    until, before = time.monotonic() + 20, None
    while time.monotonic() < until:
        for sender in senders:
            sender.push()
        sent = sum(sender.sent for sender in senders)
        if sent == before:
            return True
        before = sent
        time.sleep(0.3)
    return False


@suite.case
def hostile(world):
    """Clients of one account that never read, subscribe again and again, and resume from its oldest
    event again and again: another client of the account and one of another account get each event
    once, every order is answered, and memory is bounded. Who does not read misses nothing until it
    is closed; what it sends afterwards is not taken."""
    table = Table()
    victim, other = world.account(), world.account()
    good = [(account, Private(table, world, account.api_key).subscribe())
            for account in (victim, other)]
    idle = [Hostile(world, victim.api_key) for _ in range(HOSTILE)]
    loud = [Hostile(world, victim.api_key, {"op": "resume", "channel": "private", "from_seq": 0})
            for _ in range(HOSTILE)]
    loud += [Hostile(world, victim.api_key, {"op": "subscribe", "channel": "private"},
                     {"op": "unsubscribe", "channel": "private"}) for _ in range(HOSTILE)]
    program = pathlib.Path(world.perpd.program).read_bytes()
    is_plain = re.search(b"__asan_init|__tsan_init", program) is None
    before, slowest = world.perpd.rss_bytes(), 0
    for _ in range(ROUNDS):
        for client_ in loud:
            client_.push()
        began = time.monotonic()
        for account, private in good:
            placed_and_canceled(table, account, private)
        slowest = max(slowest, time.monotonic() - began)
    grown, threads = world.perpd.rss_bytes() - before, int(os.environ.get("PERPD_NET_THREADS", 1))
    print(f"hostile: {3 * HOSTILE} streams, {sum(c.sent for c in loud)} bytes of ops, memory grew "
          f"by {grown >> 10} KiB, slowest round of four requests {slowest * 1000:.1f} ms")
    table.true("what is sent after the end is not taken for ever", quiet(loud))
    table.true("memory", not is_plain or grown < GROWTH_MAX * threads, grown)
    codes = []
    for client_ in idle:
        messages, code = client_.read(good[0][1].seq)
        codes.append(code)
        seqs = [shown["seq"] for shown in messages if shown.get("type") in ("snapshot", "update")]
        table.same("each once", seqs, list(range(seqs[0], seqs[0] + len(seqs))))
        table.true("all, or closed", code == 4008 or seqs[-1] == good[0][1].seq, (code, seqs[-1]))
    print(f"hostile: who never read was closed with {codes}")
    for client_ in idle + loud:
        client_.stream.end()
    for account, private in good:
        placed_and_canceled(table, account, private)
        private.end()
    return table.wrong


def reread(world, seen):
    levels, seq = rest_book(world, 50)
    seen[seq] = levels


@suite.case
def books_read_slowly(world):
    """W9: who does not read while the book changes gets no updates for a while, and then the
    whole; what it keeps is REST's at every sequence that both show. How much kernels keep for it
    is the machine's affair: more is changed until a snapshot has come that it did not ask for."""
    table, random, account = Table(), Random(20263), world.account(1_000_000)
    snapshots, compared = 1, 0
    for rounds in (60, 120, 200):
        slow, book = follow_book(table, world, 50, narrow=True)
        seen = {}
        for _ in range(rounds):
            place_bids(world, account, random)
            reread(world, seen)
            account.cancel_all(asset=ETH)
            reread(world, seen)
        place_bids(world, account, random)  # as the book has never been before
        want = rest_book(world, 50)[0]
        while book.shown() != want:
            if book.seq in seen:
                table.same("at one sequence", book.shown(), seen[book.seq])
                compared += 1
            book.apply(slow.next(beats=True))
        account.cancel_all(asset=ETH)
        slow.end()
        snapshots = book.snapshots
        if snapshots > 1:
            break
    table.true("it was given the whole again", snapshots > 1, snapshots)
    table.true("compared", compared > 20, compared)
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(test_restart.run(suite, World, f"--store.private_events={PRIVATE_EVENTS}",
                              "--limits.stream_backlog=64K", *client.LONG_WINDOW))
