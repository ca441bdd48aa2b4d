"""crowd_python.py - a crowd of placements of one account against a small bucket, and its cancels.
"""
import asyncio
import collections
import time

from peers import Proxy, live_world

import client
import perpd

PLACED, CANCELS = 20_000, 10


async def cancels_first(table):
    """Cancels meet few of the placements on their way, and are sent once."""
    passed, sent = {"place": 0}, collections.Counter()

    def fate(message):
        head, _, body = message.partition(b"\r\n\r\n")
        passed["place"] += b"place" in head.split(b"\r\n")[0]
        sent[body] += b"cancel" in head.split(b"\r\n")[0]
        return "pass"
    with live_world(*client.LONG_WINDOW, "--limits.write_rate=10",
                    "--limits.write_burst=64") as here:
        async with Proxy(here.exchange.port, fate) as proxy, perpd.connect(
                proxy.url, **here.secrets) as ex:
            market = await ex.market("BTC-PERP")

            def place(price):
                return ex.place(market, "buy", "0.001", price, post_only=True)
            begun = time.monotonic()
            orders = [await place("98000") for _ in range(CANCELS)]
            crowd = [asyncio.create_task(place("97000")) for _ in range(PLACED)]
            try:
                while passed["place"] < CANCELS + 100:
                    await asyncio.sleep(0.01)
                met = []
                for order in orders:
                    before = passed["place"]
                    await order.cancel()
                    met.append(passed["place"] - before)
                    table.same("it is gone", order.status, "CANCELED")
                took = time.monotonic() - begun
                table.true("they wait here rather than be refused",
                           passed["place"] <= 64 + 10 * took + CANCELS, (passed, took))
                table.true("most wait", sum(not one.done() for one in crowd) > PLACED // 2)
                table.true("placements sent while a cancel was", max(met) < PLACED // 4, met)
                table.same("once", [count for count in sent.values() if count], [1] * CANCELS)
            finally:
                for one in crowd:
                    one.cancel()
                await asyncio.gather(*crowd, return_exceptions=True)
