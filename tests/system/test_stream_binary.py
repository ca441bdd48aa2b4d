"""test_stream_binary.py - the subprotocol perps.bin.v1: event by event what a stream of texts gets,
with the same seqs; orders as binary messages; what has no binary form is refused.

W: wire.md, J: json.md.
"""
import json
import os
import pathlib
import signal
import struct
import sys
from decimal import Decimal
from random import Random

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python/src"))

import client  # noqa: E402
import test_restart  # noqa: E402
from client import (CREATE_API_KEY, DEPOSIT, IOC, MARKET_STATE,  # noqa: E402
                    PLACE_LIMIT, REVOKE_API_KEY, Ed25519Key, api_key_body, deposit_body,
                    frame as write_frame, id_text, limit_body, market_order_body, new_id,
                    payload_of, portfolio_bytes, revoke_key_body, state_body)
from harness import Suite, Table  # noqa: E402
from perpd import binary  # noqa: E402
from request_body import withdraw_body  # noqa: E402
from test_restart import DONE  # noqa: E402
from test_stream_private import (SETTLE, WITHDRAW, key_of, subaccount, transfer)  # noqa: E402
from test_streams import ETH_PRICE, World, place_bids  # noqa: E402
from world import ETH, USDC  # noqa: E402
from ws_client import BINARY, TEXT, Stream, crc32c, frame, handshake  # noqa: E402

suite = Suite("stream_binary")
PLACE_MARKET, SET_MMP = 5, 26
BEATS_MAX = 24  # of 5 s each, for a machine that is slow
client.PATHS.update({SET_MMP: "/api/v1/trading/mmp/set"})
PRICE_SCALE, SIZE_SCALE, MICRO = 2, 4, 6  # of ETH-PERP (W10), of USDC
SIDES = ("LONG", "SHORT")
ORDER_STATUSES = ("OPEN", "FILLED", "CANCELED", "REJECTED", "UNTRIGGERED", "PARTIALLY_FILLED",
                  "EXPIRED")
# rules.md R2, json.md J9: in their order.
CASH_KINDS = ("trade", "fee", "funding", "transfer", "deposit", "withdrawal",
              "withdrawal_reverted")
TRANSFERS = ("transfer", "deposit", "faucet", "withdrawal", "withdrawal_settled",
             "withdrawal_reverted")
KEY_KINDS, ACTIONS = ("session", "api_key", "device_key", "master_key"), ("added", "removed",
                                                                          "expired")


class Binary(Stream):
    """A stream of perps.bin.v1; `shown` gives the next frame that is no heartbeat."""

    def __init__(self, world, **more):
        super().__init__(world.exchange, subprotocol=binary.SUBPROTOCOL, **more)
        assert self.subprotocol == binary.SUBPROTOCOL, self.subprotocol

    def any(self):
        """A reply, a text, or what `binary.read` makes of bytes."""
        opcode, data = self.take()
        assert opcode in (TEXT, BINARY), (opcode, data)
        return binary.read(data) if opcode == BINARY else json.loads(data)

    def shown(self, beats=False):
        while True:
            got = self.any()
            assert isinstance(got, binary.Frame), got
            if beats or got.type != "heartbeat":
                return got

    def reply(self):
        while True:
            got = self.any()
            if not isinstance(got, binary.Frame) or got.type != "heartbeat":
                return got


def dec(raw, scale):
    """J1."""
    text = format(Decimal(raw).scaleb(-scale).normalize(), "f")
    return "0" if text == "-0" else text


def head_of(shown):
    """What a frame of either form says outside of its data."""
    if isinstance(shown, binary.Frame):
        assert shown.market == (0 if shown.channel == "private" else ETH), shown
        return (shown.channel, shown.type, shown.seq, shown.prev_seq, shown.engine_seq,
                shown.time_ns, shown.crc)
    return (*(shown[name] for name in ("channel", "type", "seq", "prev_seq", "engine_seq",
                                       "time_ns")), shown.get("crc"))


def trade_text(trade):
    return {name: trade[name] for name in ("price", "size", "taker_side", "liquidation",
                                           "trade_seq", "time_ns")}


def trade_of(trade):
    assert trade.head.market == ETH
    return {"price": dec(trade.price, PRICE_SCALE), "size": dec(trade.size, SIZE_SCALE),
            "taker_side": SIDES[trade.taker_side], "liquidation": trade.is_liquidation,
            "trade_seq": trade.trade_seq, "time_ns": trade.head.time_ns}


def best_of(best):
    return {name: dec(value, scale) if best_price else None for side in ("bid", "ask")
            for best_price in (getattr(best, f"{side}_price"),)
            for name, value, scale in (
                (f"{side}_price", best_price, PRICE_SCALE),
                (f"{side}_size", getattr(best, f"{side}_size"), SIZE_SCALE))}


def levels_of(data):
    return {name: [[dec(level.price, PRICE_SCALE), dec(level.size, SIZE_SCALE)]
                   for level in data if level.is_ask == is_ask]
            for name, is_ask in (("bids", False), ("asks", True))}


def public_of(shown):
    """The data of a frame of either form, as far as the binary one has it."""
    if isinstance(shown, dict):
        if shown["channel"] != "trades" or shown["type"] == "gap":
            return shown["data"]
        return ([trade_text(trade) for trade in shown["data"]["trades"]]
                if shown["type"] == "snapshot" else [trade_text(shown["data"])])
    for one in shown.data:
        assert shown.channel == "trades" and shown.type == "snapshot" or (
            one.head.seq, one.head.time_ns) == (shown.seq, shown.time_ns), shown
    if shown.type == "gap":
        gap, = shown.data
        return {"from_seq": gap.from_seq, "oldest_seq": gap.oldest_seq}
    if shown.channel == "trades":
        return [trade_of(trade) for trade in shown.data]
    return best_of(*shown.data) if shown.channel == "bbo" else levels_of(shown.data)


def id_or_none(value):
    return None if value is None else str(value)


def order_of(one, world):
    reason = world.reasons[one.reason]
    return {"event": "order", "id": str(one.order_id),
            "remaining_size": dec(one.remaining, SIZE_SCALE),
            "filled_size": dec(one.filled, SIZE_SCALE),
            "price": dec(one.price, PRICE_SCALE) if one.price else None,
            "order_status": ORDER_STATUSES[one.status], "side": SIDES[one.side],
            "reason": reason, "market": "ETH-PERP"}


def where(one, prefix=""):
    index = getattr(one, f"{prefix}subaccount_index")
    if index == binary.NOWHERE:
        return None
    return {"subaccount_index": index, "portfolio_index": getattr(one, f"{prefix}portfolio_index")}


def event_of(one, world):
    """A private event as json.md has it, with the members that the binary form has."""
    market = {"market": "ETH-PERP" if one.head.market == ETH else None}
    match one:
        case binary.OrderState():
            return order_of(one, world)
        case binary.Fill():
            return {"event": "fill", "id": str(one.fill_id), "request_id": str(one.order_id),
                    "price": dec(one.price, PRICE_SCALE), "quantity": dec(one.size, SIZE_SCALE),
                    "fee": dec(one.fee, MICRO), "liquidity": ("TAKER", "MAKER")[one.liquidity],
                    "side": SIDES[one.side], **market}
        case binary.Position():
            return {"event": "position", "id": id_or_none(one.id), **where(one), **market,
                    "side": SIDES[one.size < 0] if one.size else None,
                    "size": dec(abs(one.size), SIZE_SCALE),
                    "net_funding": dec(one.net_funding, MICRO)}
        case binary.Balance():
            return {"event": "balance", **where(one), "kind": CASH_KINDS[one.kind],
                    "amount": dec(one.amount, MICRO), "index": one.index, **market,
                    "balance_after": dec(one.balance_after, MICRO),
                    "ref_id": id_or_none(one.ref_id)}
        case binary.Transfer():
            return {"event": "transfer", "kind": TRANSFERS[one.kind],
                    "amount": dec(one.amount, MICRO), "from": where(one, "from_"),
                    "to": where(one, "to_"), "withdrawal_id": id_or_none(one.withdrawal_id)}
        case binary.Mmp():
            return {"event": "mmp", **where(one), **market, "frozen": one.frozen_until_ns != 0,
                    "frozen_until_ns": None if one.frozen_until_ns in (0, binary.UNTIL_RESET)
                    else one.frozen_until_ns}
        case binary.Session():
            key = one.public_key.rstrip(b"\0") if one.kind in (1, 2) else one.public_key[
                :32 if one.kind == 0 else 33]
            return {"event": "session", "kind": KEY_KINDS[one.kind], "id": id_or_none(one.id),
                    "action": ACTIONS[one.action],
                    "public_key": client.b64(key) if key else None}
    raise AssertionError(one)


def text_of(data, like):
    """The members of a text's event that the binary form has."""
    return {name: data.get(name) for name in like}


class Pair:
    """A stream of texts and one of binary messages that ask the same; what both get is compared."""

    def __init__(self, table, world, secret=None):
        self.table, self.world = table, world
        self.text, self.binary = Stream(world.exchange), Binary(world)
        if secret is not None:
            self.both(op="login", api_key=secret)

    def both(self, **op):
        for stream in (self.text, self.binary):
            stream.ask(id=7, **op)
        replies = self.text.next(), self.binary.reply()
        self.table.same(f"{op['op']}: the reply", replies[1], replies[0])
        return replies[0]

    def same(self, count, data_of=None):
        """The next frames of both, equal in their heads and their data."""
        got = []
        for _ in range(count):
            text, shown = self.text.next(), self.binary.shown()
            self.table.same("the head", head_of(shown), head_of(text))
            if data_of is None:
                self.table.same("the data", public_of(shown), public_of(text))
            else:
                one = data_of(shown)
                self.table.same("the event", one, text_of(text["data"], one))
            got.append(text)
        return got

    def nothing(self):
        self.both(op="unsubscribe", channel="trades", market="BTC-PERP")

    def end(self):
        self.text.end()
        self.binary.end()


def event_in(world):
    def event(shown):
        if shown.type != "update":
            assert not shown.data, shown
            return {}
        one, = shown.data
        assert (one.head.seq, one.head.time_ns) == (shown.seq, shown.time_ns), shown
        return event_of(one, world)
    return event


def name_reasons(world):
    """The names of reasons by their numbers (W3, Enum codes), null for none."""
    shown = world.exchange.get("/api/v1/exchange").json
    world.reasons = {**dict(enumerate(shown["statuses"])), 0: None,
                     **{row["code"]: row["name"] for row in shown["reasons"]}}


@suite.case
def agreed(world):
    """RFC 6455, 4.2.2: the subprotocol is agreed when it is asked for, by its name alone; without
    it a binary message closes the stream, and texts are what they were."""
    table = Table()
    for asked, agreed_on in (("perps.bin.v1", "perps.bin.v1"),
                             ("chat, perps.bin.v1", "perps.bin.v1"),
                             ("perps.bin.v1,perps.bin.v9", "perps.bin.v1"), ("PERPS.BIN.V1", None),
                             ("perps.bin.v10", None), ("perps.bin.v", None), (None, None)):
        stream = Stream(world.exchange, subprotocol=asked)
        table.same(f"{asked}", stream.subprotocol, agreed_on)
        stream.ask(op="ping", id=4)
        table.same(f"{asked}: a ping", stream.next()["id"], 4)
        stream.raw(frame(BINARY, b"x"))
        if agreed_on:
            table.same(f"{asked}: bytes", stream.next()["problem"]["code"], "malformed_payload")
        else:
            table.same(f"{asked}: bytes", stream.closed(), 1003)
        stream.end()
    twice = handshake(Sec_WebSocket_Protocol="a").replace(
        b"\r\n\r\n", b"\r\nSec-WebSocket-Protocol: perps.bin.v1\r\n\r\n")
    answer = world.exchange.raw(twice)
    table.same("in a second header", (answer.status, answer.header("Sec-WebSocket-Protocol")),
               (101, "perps.bin.v1"))
    return table.wrong


@suite.case
def absent(world):
    """W9: a channel without a binary form is refused, and says so; the stream goes on."""
    table, stream = Table(), Binary(world)
    for channel, more in (("mark", {}), ("market_state", {}), ("funding", {}), ("liquidations", {}),
                          ("book_l3", {}), ("candles", {"interval": "1m"}), ("status", None)):
        named = {"channel": channel} | ({} if more is None else {"market": "ETH-PERP", **more})
        stream.ask(op="subscribe", id=9, **named)
        got = stream.reply()
        table.same(channel, (got["op"], got["id"], got["problem"]["code"],
                             got["problem"].get("parameter"), "perps.bin.v1" in
                             got["problem"]["detail"]),
                   ("subscribe", 9, "invalid_parameter", "channel", True))
    stream.ask(op="subscribe", channel="bbo", market="ETH-PERP")
    table.same("bbo", (stream.reply()["channel"], stream.shown().channel), ("bbo", "bbo"))
    stream.end()
    return table.wrong


def is_of_one_thread():
    """Whether one network thread serves both, so that what is conflated is the same."""
    return int(os.environ.get("PERPD_NET_THREADS", "1")) == 1


def keep(book, data):
    """What an update makes of a book (J9)."""
    for side in ("bids", "asks"):
        for price, size in data[side]:
            book[side].pop(price, None)
            if size != "0":
                book[side][price] = size


def listed(book):
    return {side: [[price, levels[price]] for price in
                   sorted(levels, key=Decimal, reverse=side == "bids")]
            for side, levels in book.items()}


@suite.case
def books(world):
    """W9: the books of both forms: equal frames where both are of one network thread, and
    everywhere REST's book in the end; heartbeats carry the checksum of the last frame's state."""
    table, random = Table(), Random(15)
    account, taker = world.account(1_000_000), world.account(1_000_000)
    pair, kept = Pair(table, world), {"bids": {}, "asks": {}}
    pair.both(op="subscribe", channel="book", market="ETH-PERP", depth=50)
    first, = pair.same(1)
    keep(kept, first["data"])
    texts = {(first["seq"], first["prev_seq"]): first}
    frames, compared = [], 0
    for number in range(12):
        place_bids(world, account, random, (100, 600))
        account.limit(ETH_PRICE + 1 + number, -100, asset=ETH)
        taker.limit(ETH_PRICE - 1 - number, -150, expiry=IOC, asset=ETH)
        if number % 3 == 2:
            account.cancel_all(asset=ETH)
    account.limit(ETH_PRICE + 20, -100, asset=ETH)  # else all of it may be conflated to nothing
    beats = 0
    while beats < BEATS_MAX:
        shown = pair.binary.shown(beats=True)
        last = frames[-1].seq if frames else first["seq"]
        table.same("prev_seq", shown.prev_seq, last)
        if shown.type == "update":
            frames.append(shown)
            keep(kept, public_of(shown))
            continue
        beats += 1
        table.same("a heartbeat", (shown.type, shown.seq, shown.data, shown.crc),
                   ("heartbeat", last, (), checksum(listed(kept))))
        rest = world.exchange.get("/api/v1/markets/ETH-PERP/book?depth=50").json
        if frames and listed(kept) == {side: rest[side] for side in ("bids", "asks")}:
            break
    table.true("as REST", beats < BEATS_MAX, beats)
    quiet, seq = 0, first["seq"]
    while seq < frames[-1].seq and quiet < 2:
        text = pair.text.next(beats=True)
        quiet = quiet + 1 if text["type"] == "heartbeat" else 0
        seq = text["seq"]
        texts[seq, text["prev_seq"]] = text
    for shown in frames:
        like = texts.get((shown.seq, shown.prev_seq))
        if like is not None:
            compared += 1
            table.same("the head", head_of(shown), head_of(like))
            table.same("the data", public_of(shown), public_of(like))
    table.true("compared", compared == len(frames) or not is_of_one_thread(),
               (compared, len(frames)))
    account.cancel_all(asset=ETH)
    pair.end()
    return table.wrong


def checksum(book):
    return crc32c("".join(f"{price}:{size};" for side in ("bids", "asks")
                          for price, size in book[side][:25]).encode())


@suite.case
def depths_and_best(world):
    """W9: each depth, and bbo with a side that is empty: snapshots equal those of texts."""
    table, random, account = Table(), Random(16), world.account(1_000_000)
    place_bids(world, account, random, (100, 600))
    pair = Pair(table, world)
    for depth in (1, 10, 1000):
        pair.both(op="subscribe", channel="book", market="ETH-PERP", depth=depth)
        shown, = pair.same(1)
        table.same(f"{depth}: so deep", len(shown["data"]["bids"]), min(depth, 64))
    pair.both(op="unsubscribe", channel="book", market="ETH-PERP")
    pair.both(op="subscribe", channel="bbo", market="ETH-PERP")
    shown, = pair.same(1)
    table.same("an empty side", shown["data"]["ask_price"], None)
    account.limit(ETH_PRICE + 50, -100, asset=ETH)
    shown, = pair.same(1)
    table.same("both sides", (shown["data"]["ask_price"], shown["data"]["ask_size"]),
               (dec(ETH_PRICE + 50, PRICE_SCALE), "0.01"))
    account.cancel_all(asset=ETH)
    pair.end()
    return table.wrong


@suite.case
def trades(world):
    """W9: snapshot, updates, resumes from memory and, behind kill -9, from history, and gaps."""
    table, maker, taker = Table(), world.account(), world.account()
    world.trade(maker, taker, 5)
    pair = Pair(table, world)
    pair.both(op="subscribe", channel="trades", market="ETH-PERP")
    first, = pair.same(1)
    world.trade(maker, taker, 6)
    got = pair.same(6)
    pair.nothing()
    pair.end()
    world.again(table, signal.SIGKILL, maker, taker)
    pair = Pair(table, world)
    for from_seq in (first["seq"], got[2]["seq"]):
        pair.both(op="resume", channel="trades", market="ETH-PERP", from_seq=from_seq)
        missed = pair.same(6 if from_seq == first["seq"] else 3)
        table.same("all of them", [shown["data"] for shown in missed],
                   [shown["data"] for shown in got[-len(missed):]])
    pair.both(op="resume", channel="trades", market="ETH-PERP", from_seq=2**62)
    gap, = pair.same(1)
    table.same("a gap", gap["type"], "gap")
    world.trade(maker, taker)
    pair.same(1)
    pair.end()
    return table.wrong


@suite.case
def private(world):
    """W9: every event of an account: orders of each end, fills, positions that open, grow, turn and
    close, cash, transfers, withdrawals, protection, keys; pinned logins; a resume over kill -9."""
    table, maker, taker = Table(), world.account(), world.account()
    name_reasons(world)
    sub = subaccount(world, maker)
    pair = Pair(table, world, maker.api_key)
    event = event_in(world)
    pair.both(op="subscribe", channel="private")
    base, = pair.same(1, event)
    maker.limit(ETH_PRICE, -300, asset=ETH)
    for quantity in (100, 50):
        taker.limit(ETH_PRICE, quantity, expiry=IOC, asset=ETH)
    maker.cancel_all(asset=ETH)
    taker.limit(ETH_PRICE - 10, -400, asset=ETH)
    taker.limit(ETH_PRICE + 9, -10, asset=ETH)
    world.exchange.ack(PLACE_MARKET, market_order_body(maker.id, 400, asset=ETH), maker.session)
    maker.limit(ETH_PRICE, 10**9, asset=ETH)  # is refused
    world.exchange.ack(DEPOSIT, deposit_body(maker.id, 7 * USDC), world.exchange.operator)
    transfer(world, maker, 3 * USDC, (0, 0), (sub, 0))
    for outcome in (0, 1):
        done = world.exchange.ack(WITHDRAW, withdraw_body(maker.id, 2 * USDC, bytes([7] * 20)),
                                  maker.session)
        raw = bytes.fromhex(done["withdrawal_id"].replace("-", ""))
        world.exchange.ack(SETTLE, raw + struct.pack("<B7x", outcome), world.exchange.operator)
    key = key_of(world, maker)
    world.exchange.ack(REVOKE_API_KEY, revoke_key_body(maker.id, bytes.fromhex(
        key["api_key_id"].replace("-", ""))), maker.session)
    world.exchange.ack(SET_MMP, portfolio_bytes(maker.id) + struct.pack(
        "<HxxIIIQQ", ETH, 60_000, 60_000, 0, 1000, 1000), maker.session)
    maker.limit(ETH_PRICE + 20, -1200, asset=ETH)
    taker.limit(ETH_PRICE + 20, 1200, expiry=IOC, asset=ETH)
    got = [base]
    want = {"order", "fill", "position", "balance", "transfer", "mmp", "session"}
    last = mark_end(world, maker)
    while got[-1]["data"].get("id") != last:
        got += pair.same(1, event)
    kinds = {shown["data"]["event"] for shown in got[1:]}
    table.same("every kind but funding and liquidation", kinds, want)
    table.true("a position that closes or turns, an order without a price",
               {shown["data"].get("price") for shown in got[1:]
                if shown["data"]["event"] == "order"} >= {None})
    pinned = Pair(table, world, key_of(world, maker, pin=sub)["api_key"])
    pinned.both(op="subscribe", channel="private")
    pinned.same(1, event)
    transfer(world, maker, USDC, (0, 0), (sub, 0))
    pinned.same(2, event)
    pinned.end()
    pair.end()
    world.again(table, signal.SIGKILL, maker, taker)
    again = Pair(table, world, maker.api_key)
    again.both(op="resume", channel="private", from_seq=base["seq"])
    table.same("after kill -9 the same", [shown["data"] for shown in again.same(
        len(got) - 1, event)], [shown["data"] for shown in got[1:]])
    again.end()
    return table.wrong


def mark_end(world, account):
    """The id of an order that is placed behind everything before."""
    order_id = new_id()
    account.limit(ETH_PRICE - 9_000, 100, order_id, asset=ETH)
    return id_text(order_id)


def signed(stream, code, body, key, request_id=None, salt=None):
    payload = payload_of(code, body, key, request_id)
    stream.raw(frame(BINARY, write_frame(payload, key.public, key.sign(payload, salt))))
    return payload[8:24]


@suite.case
def orders(world):
    """W5, W9: an order as a binary message is answered by the 64 bytes, what has no such answer by
    a text with its request id; answers come in the order of requests."""
    table, account, stream = Table(), world.account(), Binary(world)
    statuses = world.exchange.get("/api/v1/exchange").json["statuses"]
    body = limit_body(account.id, ETH_PRICE - 900, 100, asset=ETH)
    raw = signed(stream, PLACE_LIMIT, body, account.session)
    ack, order = stream.reply(), account.order(raw).json
    table.same("an order", (statuses[ack.status], ORDER_STATUSES[ack.order_status], ack.sequence,
                            ack.processed_at_ns, ack.request_id.bytes, ack.remaining),
               (DONE, "OPEN", order["sequence"], order["time_ns"], raw, 100))
    signed(stream, PLACE_LIMIT, body, account.session, raw)
    ack = stream.reply()
    table.same("again", (statuses[ack.status], ack.request_id.bytes), ("duplicate_request_id", raw))
    raw = signed(stream, PLACE_LIMIT, limit_body(account.id, ETH_PRICE, 0, asset=ETH),
                 account.session)
    ack = stream.reply()
    table.same("refused by the engine", (statuses[ack.status], ack.request_id.bytes,
                                         ack.order_status), ("rejected_size_zero", raw, 3))
    burst = [signed(stream, PLACE_LIMIT, limit_body(
        account.id, ETH_PRICE - 800 - at, 100, asset=ETH), account.session) for at in range(20)]
    acks = [stream.reply() for _ in burst]
    table.same("in order", [ack.request_id.bytes for ack in acks], burst)
    table.true("sequences rise", all(a.sequence < b.sequence for a, b in zip(acks, acks[1:])), acks)
    raw = signed(stream, CREATE_API_KEY, api_key_body(account.id), account.session)
    made = stream.reply()
    table.same("a key", (made["op"], made["request_id"], made["success"]),
               ("signed", id_text(raw), True))
    table.same("a secret that is good", world.exchange.get(
        "/api/v1/account", made["api_key"]).json["account_id"], account.id)
    raw = signed(stream, PLACE_LIMIT, body, Ed25519Key())
    bad = stream.reply()
    table.true("an unknown key", isinstance(bad, binary.Ack) and bad.request_id.bytes == raw, bad)
    payload = payload_of(PLACE_LIMIT, body, account.session)
    for name, data, code, named in (
            ("a wrong signature", write_frame(payload, account.session.public, bytes(64)),
             "invalid_signature", id_text(payload[8:24])),
            ("an old id", write_frame(old := payload_of(PLACE_LIMIT, body, account.session, new_id(
                1_600_000_000_000)), account.session.public, account.session.sign(old)),
             "request_timestamp_out_of_window", id_text(old[8:24])),
            ("nothing", b"", "malformed_payload", None),
            ("a byte", b"\1", "malformed_payload", None),
            ("24 bytes", payload[:24], "malformed_payload", id_text(payload[8:24])),
            ("a passkey", b"\1\2" + payload[2:], "passkey_requires_json", id_text(payload[8:24])),
            ("too long", bytes(4242), "payload_too_large", id_text(bytes(16)))):
        stream.raw(frame(BINARY, data))
        got = stream.reply()
        table.same(name, (got["op"], got.get("request_id"), got["problem"]["code"], list(got)[-1]),
                   ("signed", named, code, "problem"))
    signed(stream, PLACE_LIMIT, body, account.session)
    table.same("and a good one", statuses[stream.reply().status], DONE)
    stream.ask(op="ping", id=3)
    table.same("texts beside", stream.reply()["id"], 3)
    whole = write_frame(payload, account.session.public, account.session.sign(payload))
    stream.raw(frame(BINARY, whole[:50], fin=False) + frame(0, whole[50:]))
    table.same("in fragments", statuses[stream.reply().status], DONE)
    world.exchange.ack(MARKET_STATE, state_body(ETH, 4), world.exchange.operator)
    signed(stream, PLACE_LIMIT, body, account.session)
    table.same("a halted market", "market" in statuses[stream.reply().status], True)
    world.exchange.ack(MARKET_STATE, state_body(ETH, 0), world.exchange.operator)
    stream.end()
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(test_restart.run(suite, World, *client.LONG_WINDOW))
