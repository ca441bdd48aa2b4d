"""restored_python.py - the Python library and a client that knows W9 alone while the exchange is
restored (restored.py).
"""
import asyncio
import contextlib
import pathlib

from account_python import as_rest
from restored import ANEW, GIVEN_UP, KEPT, Restored, raw_after, raw_before, raw_end

import perpd


class Follower:
    """What a client of the library is told."""

    def __init__(self, ex, is_binary):
        self.ex, self.is_binary = ex, is_binary
        self.trades, self.seqs, self.events, self.book, self.ended = [], [], [], None, None

    async def begin(self):
        self.ex.stream._first_wait_s = 0.01
        market = await self.ex.market("BTC-PERP")
        self.view = await self.ex.follow_account()
        self.tasks = [asyncio.create_task(one) for one in (
            self._each(self.ex.watch_trades(market), lambda one: self.trades.append(
                (one.trade_seq, str(one.price)))),
            self._each(self.ex.watch_book(market, 10), lambda one: setattr(self, "book", one)),
            self._each(self.ex.watch_events(), lambda one: self.events.append(
                (one.kind, one.channel, one.detail))),
            self._private())]

    async def _each(self, values, take):
        async for value in values:
            take(value)

    async def _private(self):
        try:
            await self._each(self.ex.watch_private(), lambda one: self.seqs.append(one.seq))
        except perpd.Overrun as error:
            self.ended = str(error)

    def is_live(self):
        subscriptions = self.ex.stream._subscriptions.values()
        return self.view.is_live and self.book is not None and self.book.is_live and all(
            one.seq is not None for one in subscriptions)

    async def end(self):
        for task in self.tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def judge(table, here, until):
    """W9: another epoch is told once, what was known is dropped, the account and the book are read
    anew, and of both histories every trade comes once."""
    state = Restored(here)
    raw = raw_before(here, pathlib.Path(here.secrets["api_key"]).read_text().strip())
    async with contextlib.AsyncExitStack() as stack:
        both = [Follower(await stack.enter_async_context(perpd.connect(
            here.url, **here.secrets, binary=is_binary)), is_binary) for is_binary in (False, True)]
        for one in both:
            await one.begin()
            await until(one.is_live)
        first_seq = [one.view.seq for one in both]
        state.go_on(GIVEN_UP)
        before = state.trades()
        raw.until_traded(before)
        for one in both:
            await until(lambda one=one: one.trades[-2:] == before)
            await as_rest(table, here, one.view, one.is_binary)
        table.same("both rest", state.resting(), [KEPT, GIVEN_UP])
        former = both[0].view.seq
        here.restore(state.kept_to)
        raw_after(table, here, raw, state)
        for one in both:
            await until(lambda one=one: one.ex.stream.epoch == 2 and one.is_live())
            await as_rest(table, here, one.view, one.is_binary)
            table.true("its events begin again", one.view.seq < former, one.view.seq)
        state.go_on(ANEW)
        after = state.trades()
        raw_end(table, raw, before, after)
        book = here.exchange.get("/api/v1/markets/BTC-PERP/book?depth=10").json
        for one, seq in zip(both, first_seq):
            await until(lambda one=one: one.trades[-2:] == after and
                        len(one.book.bids()) == len(book["bids"]))
            table.same("each trade once", one.trades, before + after)
            table.same("the book", [str(price) for price, _ in one.book.bids()], [ANEW, KEPT])
            await as_rest(table, here, one.view, one.is_binary)
            table.same("each event once, and the end is told",
                       (one.seqs, one.ended and one.ended.split(":")[0]),
                       (list(range(seq + 1, former + 1)), "another epoch"))
            table.same("said once", [detail for kind, _, detail in one.events
                                     if kind == "epoch_changed"], ["1 to 2"])
            await one.end()
