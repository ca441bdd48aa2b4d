"""crowd.py - a crowd of placements of one account against a small bucket, and its cancels: what is
shown of both client libraries. PERPD_CROWD=N: as many placements.
"""
import asyncio
import collections
import contextlib
import os
import time

from peers import Proxy, live_world

import client
import perpd

PLACED = int(os.environ.get("PERPD_CROWD", "20000"))
CANCELS, BURST, RATE = 10, 64, 10


class Crowd:
    """What passed the proxy on the way to perpd: `met` are the placements before each cancel."""

    def __init__(self):
        self.placed, self.met, self.sent = 0, [], collections.Counter()
        self.begun = time.monotonic()

    def fate(self, message):
        head, _, body = message.partition(b"\r\n\r\n")
        path = head.split(b"\r\n")[0]
        self.placed += b"place" in path
        if b"cancel" in path:
            self.met.append(self.placed)
            self.sent[body] += 1
        return "pass"

    async def flows(self):
        """Placements go on: the burst is used up."""
        while self.placed < CANCELS + 100:
            await asyncio.sleep(0.01)
        self.before = self.placed

    def judge(self, table):
        """Each cancel went once, between few placements, and perpd refused hardly any of those."""
        took = time.monotonic() - self.begun
        table.true("they wait here rather than be refused",
                   self.placed <= BURST + RATE * took + CANCELS, (self.placed, took))
        between = [at - last for at, last in zip(self.met, [self.before, *self.met])]
        table.true("placements sent while a cancel was", max(between) < PLACED // 4, between)
        table.same("once", list(self.sent.values()), [1] * CANCELS)


@contextlib.asynccontextmanager
async def behind_proxy():
    """A world with a small bucket: its secrets, the proxy's address, what passed."""
    crowd = Crowd()
    with live_world(*client.LONG_WINDOW, f"--limits.write_rate={RATE}",
                    f"--limits.write_burst={BURST}") as here:
        async with Proxy(here.exchange.port, crowd.fate) as proxy:
            yield here.secrets, proxy.url, crowd


async def cancels_first(table):
    """Cancels of the Python library meet few of the placements on their way, and are sent once."""
    async with behind_proxy() as (secrets, url, crowd), perpd.connect(url, **secrets) as ex:
        market = await ex.market("BTC-PERP")

        def place(price):
            return ex.place(market, "buy", "0.001", price, post_only=True)
        orders = [await place("98000") for _ in range(CANCELS)]
        waiting = [asyncio.create_task(place("97000")) for _ in range(PLACED)]
        try:
            await crowd.flows()
            for order in orders:
                await order.cancel()
                table.same("it is gone", order.status, "CANCELED")
            crowd.judge(table)
            table.true("most wait", sum(not one.done() for one in waiting) > PLACED // 2)
        finally:
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
