"""binary_python.py - the Python library's streams of perps.bin.v1 (wire.md W9) where they break: a
perpd that is killed, and a peer whose books are wrong.
"""
import asyncio
import contextlib
import struct

import client
from peers import BookFaults, FakeStream

import perpd
from perpd.binary_stream import BinaryStream
from perpd.http import Origin

TYPES = {"snapshot": 1, "update": 2, "heartbeat": 3, "gap": 4}


def raw(text, decimals):
    """A decimal text in units of 10 ** -decimals."""
    whole, _, digits = text.partition(".")
    return int(whole + digits.ljust(decimals, "0"))


def book_message(frame):
    """A frame of BTC-PERP's book by W9's table: the frame of template 16, then its levels."""
    def head(template, count, flags=0):
        return struct.pack("<HHHHQQ", template, count, 1, flags, frame["seq"], frame["time_ns"])
    has_crc = "crc" in frame
    parts = [head(16, 48, int(has_crc)), struct.pack(
        "<QQBBHI", frame["prev_seq"], frame["engine_seq"], 1, TYPES[frame["type"]], 0,
        frame.get("crc", 0))]
    for side, levels in enumerate((frame["data"].get("bids", ()), frame["data"].get("asks", ()))):
        for price, size in levels:
            parts += [head(1, 48), struct.pack("<QQB7x", raw(price, 1), raw(size, 5), side)]
    return b"".join(parts)


class BinaryPeer:
    """Sends the frames of a script as binary messages, and its replies as texts."""

    def __init__(self, peer):
        self.peer = peer

    def __getattr__(self, name):
        return getattr(self.peer, name)

    async def send(self, **message):
        if "op" in message:
            await self.peer.send(**message)
            return
        data = book_message(message)
        size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data))
        await self.peer.raw(b"\x82" + size + data)


async def faults(table, here):
    """The faults of a book, each of which brings a new subscription."""
    script = BookFaults()
    async with perpd.connect(here.url, binary=True) as ex, \
            FakeStream(lambda peer: script.play(BinaryPeer(peer))) as fake:
        ex.stream = BinaryStream(Origin(fake.url), lambda name: ex.session.markets[name])
        shown = []
        async for book in ex.watch_book(await ex.market("BTC-PERP"), 10):
            shown.append([book.is_live, *([str(price) for price, _ in side] for side in
                                          (book.bids(), book.asks()))])
            if book.seq == BookFaults.LAST_SEQ:
                break
        script.judge(table, shown, fake)
        await ex.stream.close()


async def after_a_kill(table, here, until):
    """60 trades while the stream is away, more than a snapshot shows; then kill -9 and a start."""
    def swap(count, price):
        for _ in range(count):
            here.rich.limit(price, -10)
            here.other.limit(price, 10, expiry=client.IOC)
    here.rich.cancel_all()
    here.other.cancel_all()
    async with perpd.connect(here.url, binary=True) as ex:
        market = await ex.market("BTC-PERP")
        seen, best = [], []

        async def follow(values, kept):
            async for value in values:
                kept.append(value)
        tasks = [asyncio.create_task(follow(ex.watch_trades(market), seen)),
                 asyncio.create_task(follow(ex.watch_bbo(market), best))]
        await until(lambda: best and ex.stream._subscriptions["trades", "BTC-PERP"].seq is not None)
        swap(1, 1_000_100)
        await until(lambda: seen)
        ex.stream._first_wait_s = 1.0
        ex.stream._socket._writer.transport.abort()
        swap(60, 1_000_200)
        here.restart()
        swap(1, 1_000_300)
        here.rich.limit(1_000_700, -20)
        await until(lambda: str(seen[-1].price) == "100030" and best[-1].ask_price and
                    (str(best[-1].ask_price), str(best[-1].ask_size)) == ("100070", "0.0002"))
        table.same("each once", [trade.trade_seq for trade in seen],
                   list(range(seen[0].trade_seq, seen[0].trade_seq + 62)))
        shown = (await ex.trades(market, 62))["trades"][::-1]
        table.same("as REST has them",
                   [(str(one.price), str(one.size), one.taker_side, one.sequence, one.time_ns)
                    for one in seen],
                   [(row["price"], row["size"], row["taker_side"], row["sequence"], row["time_ns"])
                    for row in shown])
        table.same("no bid", best[-1].bid_price, None)
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
    here.rich.cancel_all()


async def refusals(table, here, raised):
    """What has no binary messages is refused before it is sent, and says what to do."""
    async with perpd.connect(here.url, binary=True) as ex:
        error = await raised(ValueError, anext(ex.watch_mark(await ex.market("BTC-PERP"))))
        table.true("mark", error and "binary=True" in str(error), error)
        refused = await raised(perpd.Problem, _refused(ex))
        table.true("a depth", refused and refused.http == 400, refused)


async def _refused(ex):
    await anext(ex.watch_book(await ex.market("BTC-PERP"), 7))
