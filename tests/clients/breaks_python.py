"""breaks_python.py - the stream of the Python library through breaks: a hundred of them with perpd,
and one after which another epoch is told.
"""
import asyncio
import json
from random import Random

from peers import BTC, FakeStream, move, trade

import perpd
from perpd.http import Origin
from perpd.stream import Stream


async def until(look):
    while not look():
        await asyncio.sleep(0.01)


async def hundred(table, here):
    """Trades go on before and after each break."""
    async with perpd.connect(here.url) as ex:
        ex.stream = Stream(Origin(here.url), first_wait_s=0.01)
        markets, trades, books = await ex.markets(), [], {}

        async def follow(values, take):
            async for value in values:
                take(value)
        tasks = [asyncio.create_task(follow(*pair)) for market in markets for pair in (
            (ex.watch_mark(market), len), (ex.watch_bbo(market), len),
            (ex.watch_book(market, 10), lambda book: books.update({book.market.name: book})),
            (ex.watch_trades(market), lambda one: trades.append(one.trade_seq)))]
        known = ex.stream._subscriptions

        def is_live():
            return len(known) == 20 and all(one.seq is not None for one in known.values())
        await until(is_live)
        await move(here, Random(0), 20)
        await until(lambda: trades)
        for number in range(1, 101):
            await move(here, Random(number), 4)
            ex.stream._socket._writer.transport.abort()
            await move(here, Random(-number), 4)
            await until(lambda: ex.stream.reconnections == number and is_live())
        last = (await ex.trades(await ex.market("BTC-PERP"), 1))["trades"][0]["trade_seq"]
        await until(lambda: trades[-1] == last)
        table.same("trades", trades, list(range(trades[0], last + 1)))
        table.same("checksums", [book.faults for book in books.values()], [0] * 5)
        for task in tasks:
            task.cancel()


async def epoch(table, here):
    """The first connection tells epoch 1, the second epoch 2 and trades of lower numbers."""
    async def play(peer):
        epoch_now, first = (1, 50) if fake.connections == 1 else (2, 9)
        for _ in range(2):
            op = json.loads((await peer.receive())[1])
            head = {**BTC, "channel": op["channel"], "type": "snapshot", "seq": 1, "prev_seq": 1}
            await peer.send(op="subscribe", id=op["id"], channel=op["channel"], epoch=epoch_now,
                            market=op["market"])
            await peer.send(**head, data={"trades": [trade(first)]} if op["channel"] == "trades"
                            else {"bids": [[str(first), "1"]], "asks": []})
        await peer.send(**BTC | {"channel": "trades"}, type="update", seq=first + 1, prev_seq=1,
                        data=trade(first + 1))
        await (asyncio.sleep(0.1) if epoch_now == 1 else peer.receive())

    async with perpd.connect(here.url) as ex, FakeStream(play) as fake:
        ex.stream = Stream(Origin(fake.url), first_wait_s=0.01)
        market, events = await ex.market("BTC-PERP"), ex.watch_events()
        trades, books = ex.watch_trades(market), ex.watch_book(market, 10)
        heard, looking = asyncio.create_task(anext(trades)), asyncio.create_task(anext(books))
        changed_once = asyncio.create_task(anext(
            event async for event in events if event.kind == "epoch_changed"))
        table.same("before", ((await heard).trade_seq, (await looking).seq), (51, 1))
        table.same("said", (await changed_once).detail, "1 to 2")
        table.same("after", (await anext(trades)).trade_seq, 10)
        await until(lambda: ex.stream._subscriptions["book", "BTC-PERP"].sink.book.is_live)
        async for book in books:
            if book.is_live:
                break
        table.same("the book", [str(price) for price, _ in book.bids()], ["9"])
        await ex.stream.close()
