"""sinks.py - what subscriptions do with their frames: keep the newest, a book, or trades."""
from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from .book import Book, Fault
from .errors import Overrun, PerpdError


class Sink(Protocol):
    """What a subscription does with its frames, in their order. Fault: ask for the whole again.
    `lose`: a new snapshot comes next; with `is_other`, of another epoch."""

    async def take(self, frame: dict[str, Any]) -> None: ...
    def lose(self, is_other: bool = False) -> None: ...
    def fail(self, error: PerpdError) -> None: ...


class Signal:
    """Wakes every waiter each time something changed; `count` says how often it did."""

    def __init__(self) -> None:
        self.count = 0
        self._error: PerpdError | None = None
        self._waiters: list[asyncio.Future[None]] = []

    def tell(self, error: PerpdError | None = None) -> None:
        self.count += 1
        self._error = error or self._error
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def after(self, count: int) -> int:
        """Waits until the count is above this one; the new count."""
        while self.count <= count:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
        if self._error is not None:
            raise self._error
        return self.count


class Newest:
    """The sink of what only the newest value of matters."""

    def __init__(self) -> None:
        self.value: dict[str, Any] | None = None
        self.signal = Signal()

    async def take(self, frame: dict[str, Any]) -> None:
        if frame["type"] != "heartbeat":
            self.value = frame
            self.signal.tell()

    def lose(self, is_other: bool = False) -> None:
        if is_other:
            self.value = None

    def fail(self, error: PerpdError) -> None:
        self.signal.tell(error)


class BookSink:
    """The sink that keeps a Book."""

    def __init__(self, book: Book) -> None:
        self.book, self.signal = book, Signal()

    async def take(self, frame: dict[str, Any]) -> None:
        self.book.apply(frame)
        if frame["type"] != "heartbeat":
            self.signal.tell()

    def lose(self, is_other: bool = False) -> None:
        if self.book.is_live:
            self.book.discard()
            self.signal.tell()

    def fail(self, error: PerpdError) -> None:
        self.signal.tell(error)


class Trades:
    """The sink of trades: none is missing or comes twice, also across reconnections. `older` reads
    the trades after a number from REST, oldest first."""

    def __init__(self, older: Callable[[int], Awaitable[list[dict[str, Any]]]]) -> None:
        self._older = older
        self._last: int | None = None
        self.consumers: set[Consumer] = set()

    async def take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "update":
            self._give(frame["data"])
        elif frame["type"] == "snapshot":
            shown = frame["data"]["trades"][::-1]
            if self._last is None:
                self._last = shown[-1]["trade_seq"] if shown else 0
                return
            # Those of a binary stream have no sequence: REST has it.
            lacks = shown[-1]["sequence"] is None if shown else False
            if shown and shown[-1 if lacks else 0]["trade_seq"] > self._last + (not lacks):
                for trade in await self._older(self._last):
                    self._give(trade)
            for trade in shown:
                self._give(trade)

    def _give(self, trade: dict[str, Any]) -> None:
        assert self._last is not None
        if trade["trade_seq"] <= self._last:
            return
        if trade["trade_seq"] != self._last + 1:
            raise Fault(f"trade {self._last + 1} is missing")
        if trade["sequence"] is None:
            raise Fault(f"trade {self._last + 1} is not in REST yet")
        self._last = trade["trade_seq"]
        for consumer in self.consumers:
            consumer.put(trade)

    def lose(self, is_other: bool = False) -> None:
        if is_other:
            self._last = None

    def fail(self, error: PerpdError) -> None:
        for consumer in self.consumers:
            consumer.end(error)


class Events:
    """The sink of a channel that nothing keeps: every update of a connection, and Overrun for who
    was there before a break, in which some may have been missed."""

    def __init__(self) -> None:
        self.consumers: set[Consumer] = set()

    async def take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "update":
            for consumer in self.consumers:
                consumer.put(frame["data"])

    def lose(self, is_other: bool = False) -> None:
        self.fail(Overrun("the connection broke: what came meanwhile is in the reads"))

    def fail(self, error: PerpdError) -> None:
        for consumer in self.consumers:
            consumer.end(error)


class Consumer:
    """A bounded queue of one consumer. It ends with Overrun rather than lose a value."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._values: deque[dict[str, Any]] = deque()
        self._signal = Signal()
        self._error: PerpdError | None = None

    def put(self, value: dict[str, Any]) -> None:
        if self._error is None and len(self._values) == self._room:
            self.end(Overrun(f"{self._room} values were not taken in time"))
        elif self._error is None:
            self._values.append(value)
            self._signal.tell()

    def end(self, error: PerpdError) -> None:
        self._error = error
        self._signal.tell()

    async def next(self) -> dict[str, Any]:
        while not self._values:
            if self._error is not None:
                raise self._error
            await self._signal.after(self._signal.count)
        return self._values.popleft()
