"""sync.py - the Client for programs without a loop of their own, as notebooks: each call waits for
its end. One background thread has the loop on which everything runs.
"""
from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast
from uuid import UUID

from . import client as aio
from .account import Account
from .amount import AmountLike
from .book import Book
from .errors import Rejected
from .order import Order as AioOrder
from .requests import Outcome, OutcomePending
from .trading import Placement

P = ParamSpec("P")
R = TypeVar("R")
_STOP_S = 10.0


class _Loop:
    """A loop that runs in a thread of its own until `stop`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._left: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="perpd", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        """What the coroutine gives or raises; it is canceled when this thread is interrupted."""
        if threading.current_thread() is self._thread or not self._thread.is_alive():
            work.close()
            raise RuntimeError("this client is not open, or called by a function that it calls")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def leave(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs the end of an iteration; one that a closed client left is ended."""
        if not self._thread.is_alive():
            work.close()
        elif threading.current_thread() is self._thread:  # the garbage collector came by
            self._left.add(task := self._loop.create_task(work))
            task.add_done_callback(self._left.discard)
        else:
            self.wait(work)

    def stop(self) -> None:
        """Ends the iterators that are left, the loop and its thread."""
        self.wait(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_S)
        self._loop.close()


class _Shown(Generic[R]):
    """A member of an order, read and never set."""

    def __init__(self, read: Callable[[AioOrder], R]) -> None:
        self._read = read

    def __get__(self, order: Order, kind: type[Order]) -> R:
        return self._read(order.aio)


class Order:
    """perpd.Order whose methods wait. `aio` is that order, which `loop` alone may use."""
    id = _Shown(lambda order: order.id)
    market = _Shown(lambda order: order.market)
    side = _Shown(lambda order: order.side)
    price = _Shown(lambda order: order.price)
    size = _Shown(lambda order: order.size)
    status = _Shown(lambda order: order.status)
    remaining = _Shown(lambda order: order.remaining)
    filled = _Shown(lambda order: order.filled)
    average_price = _Shown(lambda order: order.average_price)
    outcome = _Shown(lambda order: order.outcome)
    is_open = _Shown(lambda order: order.is_open)
    is_conditional = _Shown(lambda order: order.is_conditional)
    post_only = _Shown(lambda order: order.post_only)
    reduce_only = _Shown(lambda order: order.reduce_only)

    def __init__(self, loop: _Loop, order: AioOrder) -> None:
        self.loop, self.aio = loop, order

    def refresh(self, least: int | None = None) -> Order:
        """Reads the order, as of the sequence `least` or later."""
        self.loop.wait(self.aio.refresh(least))
        return self

    def replace(self, price: AmountLike, size: AmountLike, *, post_only: bool | None = None,
                expected_remaining: AmountLike | None = None,
                deadline_s: float | None = None) -> Order:
        """Another price and remaining size under the same id."""
        self.loop.wait(self.aio.replace(price, size, post_only=post_only,
                                        expected_remaining=expected_remaining,
                                        deadline_s=deadline_s))
        return self

    def reduce(self, by: AmountLike, *, expected_remaining: AmountLike | None = None,
               deadline_s: float | None = None) -> Order:
        """A smaller size; the place in the queue stays."""
        self.loop.wait(self.aio.reduce(by, expected_remaining=expected_remaining,
                                       deadline_s=deadline_s))
        return self

    def cancel(self, *, deadline_s: float | None = None) -> Order:
        self.loop.wait(self.aio.cancel(deadline_s=deadline_s))
        return self

    def done(self) -> Order:
        """Waits until the order is open no more, by the account's events."""
        self.loop.wait(self.aio.done())
        return self

    def __repr__(self) -> str:
        return repr(self.aio)


def _waits(method: Callable[Concatenate[aio.Client, P], Coroutine[Any, Any, R]]
           ) -> Callable[Concatenate[Client, P], R]:
    def call(self: Client, /, *words: P.args, **named: P.kwargs) -> R:
        return self.loop.wait(method(self.aio, *words, **named))
    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


def _orders(method: Callable[Concatenate[aio.Client, P], Coroutine[Any, Any, AioOrder]]
            ) -> Callable[Concatenate[Client, P], Order]:
    def call(self: Client, /, *words: P.args, **named: P.kwargs) -> Order:
        return Order(self.loop, self.loop.wait(method(self.aio, *words, **named)))
    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


def _iterates(method: Callable[Concatenate[aio.Client, P], AsyncIterator[R]]
              ) -> Callable[Concatenate[Client, P], Iterator[R]]:
    async def next_of(values: AsyncIterator[R], turn: asyncio.Lock) -> R:
        async with turn:
            value = await anext(values)
        if isinstance(value, Book):  # it goes on changing while the caller reads it
            return cast(R, copy.deepcopy(value, {id(value.market): value.market}))
        if isinstance(value, Account):
            return cast(R, value.copy())
        return value

    async def end(values: AsyncIterator[R], turn: asyncio.Lock) -> None:
        async with turn:  # a next that was interrupted is still being left
            await cast("AsyncGenerator[R, None]", values).aclose()

    def call(self: Client, /, *words: P.args, **named: P.kwargs) -> Iterator[R]:
        values, turn = method(self.aio, *words, **named), asyncio.Lock()
        try:
            while True:
                yield self.loop.wait(next_of(values, turn))
        finally:
            self.loop.leave(end(values, turn))
    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


class Client:
    """perpd.Client whose methods wait, to be used by `with`. An iteration gives each value when it
    is there. Threads may share it; functions that it calls, such as on_intent, may not call it."""

    def __init__(self, client: aio.Client) -> None:
        self.aio, self.loop = client, _Loop()

    def __enter__(self) -> Client:
        self.loop.start()
        try:
            self.loop.wait(self.aio.__aenter__())
        except BaseException:
            self.loop.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            self.loop.wait(self.aio.__aexit__(None, None, None))
        finally:
            self.loop.stop()

    def settle(self, pending: OutcomePending, deadline_s: float | None = None) -> Outcome:
        """The outcome of a request whose deadline passed; OutcomePending again, Rejected."""
        return self.loop.wait(self.aio.session.sender.result(pending.request, deadline_s))

    def batch(self, items: Sequence[Placement | Order], *, atomic: bool = False,
              request_id: UUID | None = None,
              deadline_s: float | None = None) -> list[Order | Rejected]:
        """Places the Placements and cancels the Orders, in one request and in this order."""
        done = self.loop.wait(self.aio.batch(
            [item.aio if isinstance(item, Order) else item for item in items], atomic=atomic,
            request_id=request_id, deadline_s=deadline_s))
        return [one if isinstance(one, Rejected) else Order(self.loop, one) for one in done]

    place = _orders(aio.Client.place)
    place_trigger = _orders(aio.Client.place_trigger)
    cancel_all = _waits(aio.Client.cancel_all)
    schedule_cancel_all = _waits(aio.Client.schedule_cancel_all)
    transfer = _waits(aio.Client.transfer)
    withdraw = _waits(aio.Client.withdraw)
    order_record = _waits(aio.Client.order_record)
    outcome = _waits(aio.Client.outcome)
    set_leverage = _waits(aio.Client.set_leverage)
    faucet = _waits(aio.Client.faucet)
    flatten = _waits(aio.Client.flatten)
    market = _waits(aio.Client.market)
    markets = _waits(aio.Client.markets)
    exchange = _waits(aio.Client.exchange)
    status = _waits(aio.Client.status)
    latency = _waits(aio.Client.latency)
    mark = _waits(aio.Client.mark)
    ticker = _waits(aio.Client.ticker)
    tickers = _waits(aio.Client.tickers)
    book_snapshot = _waits(aio.Client.book_snapshot)
    trades = _waits(aio.Client.trades)
    funding_rates = _waits(aio.Client.funding_rates)
    account = _waits(aio.Client.account)
    balance = _waits(aio.Client.balance)
    positions = _waits(aio.Client.positions)
    orders = _waits(aio.Client.orders)
    fills = _waits(aio.Client.fills)
    funding_payments = _waits(aio.Client.funding_payments)
    cash_history = _waits(aio.Client.cash_history)
    cancel_on_disconnect = _waits(aio.Client.cancel_on_disconnect)
    keep_on_disconnect = _waits(aio.Client.keep_on_disconnect)
    follow_account = _waits(aio.Client.follow_account)
    account_changed = _waits(aio.Client.account_changed)
    order_at = _waits(aio.Client.order_at)
    watch_account = _iterates(aio.Client.watch_account)
    watch_private = _iterates(aio.Client.watch_private)
    watch_events = _iterates(aio.Client.watch_events)
    watch_mark = _iterates(aio.Client.watch_mark)
    watch_bbo = _iterates(aio.Client.watch_bbo)
    watch_book = _iterates(aio.Client.watch_book)
    watch_trades = _iterates(aio.Client.watch_trades)
    watch_liquidations = _iterates(aio.Client.watch_liquidations)


def _made(make: Callable[P, aio.Client]) -> Callable[P, Client]:
    def call(*words: P.args, **named: P.kwargs) -> Client:
        return Client(make(*words, **named))
    call.__name__, call.__doc__ = make.__name__, make.__doc__
    return call


connect = _made(aio.connect)
