"""client.py - connect() and the Client: reads, plain writes, trading, streams of one exchange."""
from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from types import TracebackType
from typing import Any, cast
from uuid import UUID

from . import _types_gen as records
from .account import Account, Private, PrivateEvent
from .amount import AmountLike
from .binary_stream import BinaryStream
from .book import Book
from .market import Market
from .order import Order
from .requests import Outcome
from .session import Session
from .sign import Secret, SessionKey, Signer, read_secret
from .sinks import BookSink, Consumer, Events, Newest, Trades
from .stream import PRIVATE, Arm, Event, Stream
from .trading import Trading
from .views import Bbo, Mark, Trade

_PAGE = 1000
_TRADES_ROOM = 10_000


def connect(url: str | Sequence[str], *, key: Secret | Signer | None = None,
            api_key: Secret | None = None, subaccount: int = 0, portfolio: int = 0,
            allow_plain: bool = False, timeout_s: float = 10, binary: bool = False,
            stream_orders: bool = False,
            on_intent: Callable[[UUID, bytes], None] = lambda request_id, envelope: None) -> Client:
    """A client of the exchange at this address, or at those of the nodes of its cluster, to be used
    by `async with`. `key`: the session key that signs; it needs an API key beside it, which proves
    what became of requests. Both are files open to nobody else, `env:NAME`, or functions.
    `on_intent` gets the id and the bytes of each request before it is sent. `binary`: streams are
    of the subprotocol perps.bin.v1, which has books, best prices, trades and the account; another
    watch_... raises ValueError then.
    `stream_orders`: signed requests go over the stream while it is there, else over HTTP, as
    cancels always do."""
    if key is not None and api_key is None:
        raise ValueError("key= needs api_key=: reads prove what became of requests")
    signer = key if key is None or hasattr(key, "sign") else SessionKey.load(cast(Secret, key))
    text = None if api_key is None else read_secret(api_key).strip()
    return Client(session_of(url, cast("Signer | None", signer), text, subaccount, portfolio,
                             allow_plain, timeout_s, on_intent), binary, stream_orders)


def session_of(url: str | Sequence[str], signer: Signer | None, api_key: str | None,
               subaccount: int, portfolio: int, allow_plain: bool, timeout_s: float,
               on_intent: Callable[[UUID, bytes], None] = lambda request_id, envelope: None
               ) -> Session:
    """A connection to the exchange at this address, or at those of the nodes of its cluster."""
    urls = [url] if isinstance(url, str) else list(url)
    return Session(urls, signer, api_key, subaccount, portfolio, allow_plain, timeout_s, on_intent)


class Client(Trading):
    """One exchange, one portfolio. Amounts come as decimal strings in records (json.md) and as
    Amount elsewhere."""

    def __init__(self, session: Session, binary: bool = False, stream_orders: bool = False) -> None:
        super().__init__(session)
        origins, api_key = session.nodes.origins, session.api_key
        self.stream = (BinaryStream(origins, session, api_key=api_key) if binary
                       else Stream(origins, api_key=api_key))
        self.stream.on_epoch = session.nodes.forget
        self._stream_orders = stream_orders
        self._followed: Private | None = None

    async def __aenter__(self) -> Client:
        try:
            await self._session.open()
            if self._stream_orders:
                await self.follow_account()
                self._session.over_stream = self.stream.signed
        except BaseException:
            await self.stream.close()
            await self._session.close()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.stream.close()
        await self._session.close()

    @property
    def session(self) -> Session:
        return self._session

    async def market(self, name: str) -> Market:
        """The market; KeyError when there is none of this name."""
        if name not in self._session.markets:
            await self._session.load_markets()
        return self._session.markets[name]

    async def markets(self) -> list[Market]:
        await self._session.load_markets()
        return list(self._session.markets.values())

    async def exchange(self) -> records.Exchange:
        return cast(records.Exchange, await self._session.get("/exchange"))

    async def status(self) -> records.State:
        return cast(records.State, await self._session.get("/status"))

    async def latency(self) -> records.Latency:
        """How long the stages of requests took since the exchange started, in its own buckets: the
        difference of two answers is what happened between them. Problem 404 where net.latency
        keeps it from the public."""
        return cast(records.Latency, await self._session.get("/latency"))

    async def mark(self, market: Market) -> Mark:
        shown = await self._session.get(f"/markets/{market}/mark")
        return Mark.of(shown, shown)

    async def book_snapshot(self, market: Market, depth: int = 50) -> records.Book:
        return cast(records.Book, await self._session.get(f"/markets/{market}/book",
                                                          {"depth": depth}))

    async def trades(self, market: Market, limit: int = 50, before_sequence: int | None = None,
                     before_index: int | None = None) -> records.Trades:
        """Newest first; a page further back by the last one's next_before_*."""
        return cast(records.Trades, await self._session.get(
            f"/markets/{market}/trades", {"limit": limit, "before_sequence": before_sequence,
                                          "before_index": before_index}))

    async def ticker(self, market: Market) -> records.Ticker:
        return cast(records.Ticker, await self._session.get(f"/markets/{market}/ticker"))

    async def tickers(self) -> list[records.Ticker]:
        shown = cast(records.Tickers, await self._session.get("/tickers"))
        return list(shown["tickers"])

    async def funding_rates(self, market: Market, limit: int = 50) -> records.FundingRates:
        return cast(records.FundingRates, await self._session.get(
            f"/markets/{market}/funding-rates", {"limit": limit}))

    async def account(self) -> records.Account:
        return cast(records.Account, await self._session.get("/account", private=True))

    async def balance(self) -> records.Balance:
        return cast(records.Balance, await self._session.get(
            "/portfolio/balance", self._session.place_parameters(), private=True))

    async def _list(self, path: str, **parameters: Any) -> Any:
        return await self._session.get(path, {**self._session.place_parameters(), **parameters},
                                       private=True)

    async def positions(self, market: Market | None = None) -> list[records.Position]:
        return cast("list[records.Position]",
                    await self._list("/positions", market=_name(market)))

    async def orders(self, market: Market | None = None, status: str | None = None,
                     limit: int = 50, before_sequence: int | None = None,
                     before_index: int | None = None) -> list[records.Order]:
        """Newest first; a page further back by sequence and index of the last row."""
        return cast("list[records.Order]", await self._list(
            "/orders", market=_name(market), status=status, limit=limit,
            before_sequence=before_sequence, before_index=before_index))

    async def fills(self, market: Market | None = None, limit: int = 50,
                    before_sequence: int | None = None,
                    before_index: int | None = None) -> list[records.Fill]:
        return cast("list[records.Fill]", await self._list(
            "/fills", market=_name(market), limit=limit, before_sequence=before_sequence,
            before_index=before_index))

    async def funding_payments(self, market: Market | None = None,
                               limit: int = 50) -> list[records.FundingPayment]:
        return cast("list[records.FundingPayment]", await self._list(
            "/funding-payments", market=_name(market), limit=limit))

    async def cash_history(self, limit: int = 50, before_sequence: int | None = None,
                           before_index: int | None = None) -> records.CashHistory:
        """Every change of the portfolio's cash, newest first; a page further back by the last one's
        next_before_*."""
        return cast(records.CashHistory, await self._list(
            "/cash/history", limit=limit, before_sequence=before_sequence,
            before_index=before_index))

    async def outcome(self, request_id: UUID) -> Outcome:
        """What became of a request of this account, also of one that another process sent: waits
        until it is definite; NotExecuted."""
        return await self._session.sender.settled(request_id)

    async def flatten(self, market: Market) -> None:
        """Cancels every order of the market, and closes its position at the market, reducing only;
        what the book has no one for stays. Placements of this client whose calls still wait are
        not ended by it: cancel those calls before."""
        await self.cancel_all(market)
        for row in await self.positions(market):
            await self.place(market, "sell" if row["side"] == "LONG" else "buy", row["size"],
                             reduce_only=True)

    async def set_leverage(self, market: Market, leverage: int) -> records.LeverageSet:
        return cast(records.LeverageSet, await self._session.write(
            "PUT", "/leverage", {"leverage": leverage, "market": market.name,
                                 **self._session.place_parameters()}))

    async def faucet(self, amount: AmountLike) -> records.Balance:
        """Test money. It is sent once: the write has no id, so a repeat could credit twice. After
        Lost read the balance."""
        return cast(records.Balance, await self._session.write(
            "POST", "/faucet", {"amount": str(amount), **self._session.place_parameters()},
            again=False))

    def watch_events(self) -> AsyncIterator[Event]:
        """What happens to the stream and its subscriptions."""
        return self.stream.events()

    async def _newest(self, channel: str, market: Market) -> AsyncIterator[dict[str, Any]]:
        subscription = await self.stream.subscribe(channel, market.name, Newest)
        sink = cast(Newest, subscription.sink)
        count = 0
        try:
            while True:
                if sink.value is not None:
                    count = sink.signal.count
                    yield sink.value
                count = await sink.signal.after(count)
        finally:
            await self.stream.release(subscription)

    async def _private(self) -> Private:
        """The sink of the account's channel, which is kept until the client is closed."""
        if self._followed is None:
            self._session.headers(True)
            sink = Private(Account(self._session))
            found = await self.stream.subscribe(PRIVATE, "", lambda: sink, None, sink.caught_up)
            self._followed = cast(Private, found.sink)  # that of an earlier call, if there was one
        return self._followed

    async def follow_account(self) -> Account:
        """The account view of this portfolio, once it is live, kept until the client is closed. The
        orders of this client show what their events say from then on. Problem: the key is
        refused."""
        sink = await self._private()
        count = sink.signal.count - 1
        while not sink.account.is_live:
            count = await sink.signal.after(count)
        return sink.account

    async def account_changed(self) -> None:
        """Waits for the next change of the account that is followed."""
        sink = await self._private()
        await sink.signal.after(sink.signal.count)

    async def _seen(self, order: Order, outcome: Outcome) -> Order:
        await super()._seen(order, outcome)  # first: an event of before would show a former price
        if self._followed is not None:
            self._followed.account.follow(order)
        return order

    async def watch_account(self) -> AsyncIterator[Account]:
        """The same Account after each change, also when it is lost: see `is_live`."""
        sink = await self._private()
        count = sink.signal.count
        if sink.account.is_live:
            yield sink.account
        while True:
            count = await sink.signal.after(count)
            yield sink.account

    async def watch_private(self, room: int = _TRADES_ROOM) -> AsyncIterator[PrivateEvent]:
        """Every event of the account (J9) from now on, also those of a time without connection.
        Overrun when `room` of them were not taken, or when the exchange keeps them no more."""
        sink = await self._private()
        consumer = Consumer(room)
        sink.consumers.add(consumer)
        try:
            while True:
                frame = await consumer.next()
                yield PrivateEvent(frame["data"]["event"], frame["data"], frame["seq"],
                                   frame["engine_seq"], frame["time_ns"])
        finally:
            sink.consumers.discard(consumer)

    async def cancel_on_disconnect(self, grace_ms: int = 2000) -> Arm:
        """The exchange cancels the orders of this subaccount when the connection is lost and does
        not come back within the grace (wire.md W9); returns when that is durable. The account is
        followed then. `keep_on_disconnect` ends it. Problem: it was refused."""
        await self.follow_account()
        arm = Arm(self._session.place.subaccount_index, grace_ms)
        await self.stream.arm(arm)
        return arm

    async def keep_on_disconnect(self, arm: Arm) -> None:
        """Ends what `cancel_on_disconnect` began: the orders stay. Lost, Problem: perhaps not."""
        await self.stream.disarm(arm)

    async def watch_mark(self, market: Market) -> AsyncIterator[Mark]:
        """The mark price; a consumer that is slow gets the newest value only."""
        async for frame in self._newest("mark", market):
            yield Mark.of(frame, frame["data"])

    async def watch_bbo(self, market: Market) -> AsyncIterator[Bbo]:
        """The best bid and ask; a consumer that is slow gets the newest value only."""
        async for frame in self._newest("bbo", market):
            yield Bbo.of(frame, frame["data"])

    async def watch_book(self, market: Market, depth: int = 50) -> AsyncIterator[Book]:
        """The same Book after each change, also when it is lost: see `is_live`."""
        subscription = await self.stream.subscribe(
            "book", market.name, lambda: BookSink(Book(market, depth)), depth)
        sink = cast(BookSink, subscription.sink)
        count = 0
        try:
            while True:
                count = await sink.signal.after(count)
                yield sink.book
        finally:
            await self.stream.release(subscription)

    async def watch_trades(self, market: Market, room: int = _TRADES_ROOM) -> AsyncIterator[Trade]:
        """Every trade from now on, also those of a time without connection; Overrun when `room`
        of them were not taken."""
        subscription = await self.stream.subscribe(
            "trades", market.name, lambda: Trades(lambda last: self._trades_after(market, last)))
        consumer = Consumer(room)
        trades = cast(Trades, subscription.sink)
        trades.consumers.add(consumer)
        try:
            while True:
                yield Trade.of(await consumer.next())
        finally:
            trades.consumers.discard(consumer)
            await self.stream.release(subscription)

    async def watch_liquidations(self, market: Market,
                                 room: int = _TRADES_ROOM) -> AsyncIterator[records.Liquidation]:
        """Every liquidation from now on; Overrun ends it where some may be missing: behind a break
        of the connection, and when `room` were not taken in time. The reads have them all."""
        consumer = Consumer(room)
        found = await self.stream.subscribe("liquidations", market.name, Events)
        sink = cast(Events, found.sink)
        sink.consumers.add(consumer)
        try:
            while True:
                yield cast(records.Liquidation, await consumer.next())
        finally:
            sink.consumers.discard(consumer)
            await self.stream.release(found)

    async def _trades_after(self, market: Market, last: int) -> list[dict[str, Any]]:
        """The trades above this number, oldest first."""
        found: list[dict[str, Any]] = []
        page = await self.trades(market, _PAGE)
        while True:
            rows = [cast("dict[str, Any]", row) for row in page["trades"]
                    if row["trade_seq"] > last]
            found += rows
            if len(rows) < len(page["trades"]) or page["next_before_sequence"] is None:
                return found[::-1]
            page = await self.trades(market, _PAGE, page["next_before_sequence"],
                                     page["next_before_index"])


def _name(market: Market | None) -> str | None:
    return None if market is None else market.name
