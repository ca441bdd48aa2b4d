"""binary_python.py - the Python library's streams of perps.bin.v1 (wire.md W9) where they break: a
perpd that is killed, and a peer whose books are wrong.
"""
import asyncio
import contextlib

import client
from peers import BinaryPeer, BookFaults, FakeStream

import perpd
from perpd.binary_stream import BinaryStream
from perpd.http import Origin


async def faults(table, here):
    """The faults of a book, each of which brings a new subscription."""
    script = BookFaults()
    async with perpd.connect(here.url, binary=True) as ex, \
            FakeStream(lambda peer: script.play(BinaryPeer(peer))) as fake:
        ex.stream = BinaryStream(Origin(fake.url), ex.session)
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
