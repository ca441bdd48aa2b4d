"""ccxt_watch.py - watch... of the class of ccxt, by the stream of the library: each call waits for
what is new since the one before. No trade, order or fill is missing or comes twice; NetworkError
says where some may be. Of books, tickers, balances and positions the newest state is given.
"""
from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, cast

from . import _types_gen as records
from .account import Account, PrivateEvent
from .book import Book
from .ccxt_more import More
from .ccxt_rest import SIDE, none_of
from .ccxt_shape import Dict, Number
from .client import Client
from .errors import Lost, PerpdError
from .market import Market
from .order import Direction
from .sinks import Signal
from .views import Bbo, Mark, Trade

_ccxt: Any = importlib.import_module("ccxt.async_support")
HAS_WATCH = ("cancelOrderWs", "createOrderWs", "editOrderWs", "unWatchBidsAsks", "unWatchMyTrades",
             "unWatchOHLCV", "unWatchOrderBook", "unWatchOrders", "unWatchPositions",
             "unWatchTicker", "unWatchTickers", "unWatchTrades", "watchBalance", "watchBidsAsks",
             "watchLiquidations", "watchMyTrades", "watchOHLCV", "watchOrderBook", "watchOrders",
             "watchPositions", "watchTicker", "watchTickers", "watchTrades")
_DEPTHS = (1, 10, 50, 1000)
_PACE_S = 1.0  # between two reads of what no channel has
Key = tuple[str, ...]
Make = Callable[[Client], AsyncIterator[Any]]


class _Topic:
    """One iterator of the library. Calls that wait at once get the same value."""

    def __init__(self, values: AsyncIterator[Any]) -> None:
        self.values = values
        self._next: asyncio.Future[Any] | None = None

    def waiting(self) -> asyncio.Future[Any]:
        if self._next is None or (self._next.done() and self._next.cancelled()):
            self._next = asyncio.ensure_future(self._take())
        return self._next

    async def _take(self) -> Any:
        return await anext(self.values)

    def take(self, task: asyncio.Future[Any]) -> Any:
        """The value of a wait that is done; the next call waits for the next one."""
        if self._next is task:
            self._next = None
        return task.result()

    async def leave(self) -> None:
        if self._next is not None:
            self._next.cancel()
            await asyncio.wait([self._next])
        await cast(Any, self.values).aclose()


async def _newest(values: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The newest of values that are taken as fast as they come."""
    held: list[Any] = [None]
    signal, count = Signal(), 0

    async def drain() -> None:
        try:
            async for one in values:
                held[0] = one
                signal.tell()
            signal.tell(Lost("it is not watched any more", False))
        except PerpdError as error:
            signal.tell(error)
    draining = asyncio.ensure_future(drain())
    try:
        while True:
            count = await signal.after(count)
            yield held[0]
    finally:
        draining.cancel()
        await asyncio.wait([draining])
        await cast(Any, values).aclose()


class Watch(More):
    """What of the stream a user of ccxt watches, and orders that go over it."""

    def __init__(self, config: Dict | None = None) -> None:
        super().__init__(config)
        self._topics: dict[Key, _Topic] = {}
        self._read_s: dict[Key, float] = {}
        self._owed: dict[Key, int | None] = {}  # what has changed and was not read since
        self._depths: dict[str, int] = {}
        self._deepening = asyncio.Lock()
        self._held: dict[Key, dict[str, records.Position]] = {}
        self._over_stream: Watch | None = None

    async def close(self) -> None:
        for key in list(self._topics):
            await self._leave(key)
        self._owed.clear()
        self._depths.clear()
        self._held.clear()
        other, self._over_stream = self._over_stream, None
        if other is not None:
            await other.close()
        await super().close()

    async def _leave(self, key: Key) -> None:
        self._owed.pop(key, None)
        topic = self._topics.pop(key, None)
        if topic is not None:
            await topic.leave()

    async def _first(self, makes: Mapping[Key, Make]) -> dict[Key, Any]:
        """What has come of these topics, one at least."""
        async def work(client: Client) -> dict[Key, Any]:
            topics: dict[Key, _Topic] = {}
            for key, make in makes.items():
                if key not in self._topics:
                    self._topics[key] = _Topic(make(client))
                topics[key] = self._topics[key]
            waits = {key: topic.waiting() for key, topic in topics.items()}
            await asyncio.wait(waits.values(), return_when=asyncio.FIRST_COMPLETED)
            ready = {key: wait for key, wait in waits.items() if wait.done()}
            for key, wait in ready.items():  # first: what has come of others stays to be taken
                if not wait.cancelled() and wait.exception() is None:
                    continue
                try:
                    topics[key].take(wait)
                except asyncio.CancelledError:
                    raise Lost("it is not watched any more", False) from None
                except (PerpdError, StopAsyncIteration) as error:
                    if self._topics.get(key) is topics[key]:
                        del self._topics[key]
                    if isinstance(error, PerpdError):
                        raise
                    raise Lost("it is not watched any more", False) from None
            return {key: topics[key].take(wait) for key, wait in ready.items()}
        return await self._with(work)

    async def _of(self, key: Key, make: Make) -> Any:
        return (await self._first({key: make}))[key]

    async def _market_of(self, symbol: str) -> Market:
        async def work(client: Client, market: Market) -> Market:
            return market
        return await self._at(symbol, work)

    async def _pace(self, key: Key) -> None:
        await asyncio.sleep(self._read_s.get(key, 0) + _PACE_S - time.monotonic())
        self._read_s[key] = time.monotonic()

    async def watch_order_book(self, symbol: str, limit: int | None = None,
                               params: Dict | None = None) -> Dict:
        none_of(params)
        market, wanted = await self._market_of(symbol), 50 if limit is None else limit
        depth = next((one for one in _DEPTHS if one >= wanted), _DEPTHS[-1])
        while True:
            async with self._deepening:
                if depth > self._depths.get(symbol, depth):  # a book is of one depth at a time
                    self._depths[symbol] = depth
                    await self._leave(("book", symbol))
                shown = self._depths.setdefault(symbol, depth)
            try:
                book: Book = await self._of(("book", symbol), self._book_of(market, shown))
            except _ccxt.NetworkError:
                if self._depths.get(symbol, 0) > shown:  # left for a deeper one
                    continue
                raise
            if book.is_live:
                break
        number, timestamp = self.parse_number, book.time_ns // 1_000_000
        return {"symbol": symbol, "timestamp": timestamp, "datetime": self.iso8601(timestamp),
                "nonce": book.seq,
                **{side: [[number(str(price)), number(str(size))] for price, size in levels]
                   for side, levels in (("bids", book.bids(wanted)), ("asks", book.asks(wanted)))}}

    @staticmethod
    def _book_of(market: Market, depth: int) -> Make:
        return lambda client: client.watch_book(market, depth)

    async def watch_trades(self, symbol: str, since: int | None = None, limit: int | None = None,
                           params: Dict | None = None) -> list[Dict]:
        none_of(params)
        market = await self._market_of(symbol)
        one: Trade = await self._of(("trades", symbol), lambda client: client.watch_trades(market))
        row = self.safe_trade({
            "id": str(one.trade_seq), "timestamp": one.time_ns // 1_000_000,
            "datetime": self.iso8601(one.time_ns // 1_000_000), "symbol": symbol,
            "side": SIDE[one.taker_side], "price": str(one.price), "amount": str(one.size),
            "info": {"sequence": one.sequence, "liquidation": one.is_liquidation}},
            self.market(symbol))
        return self.filter_by_symbol_since_limit([row], symbol, since, limit)

    async def watch_liquidations(self, symbol: str, since: int | None = None,
                                 limit: int | None = None,
                                 params: Dict | None = None) -> list[Dict]:
        none_of(params)
        market = await self._market_of(symbol)
        info: Dict = await self._of(("liquidations", symbol),
                                    lambda client: client.watch_liquidations(market))
        row = {"info": info, "symbol": symbol, "contracts": self.parse_number(info["size"]),
               "contractSize": 1, "price": self.parse_number(info["price"]),
               "side": "sell" if info["side"] == "LONG" else "buy", "timestamp": info["time"],
               "datetime": self.iso8601(info["time"])}
        return self.filter_by_symbol_since_limit([row], symbol, since, limit)

    async def _symbols(self, symbols: Sequence[str] | None) -> list[str]:
        await self.load_markets()
        names = list(self.symbols if symbols is None else symbols)
        if not names:
            raise _ccxt.BadRequest("perpd it takes a symbol at least")
        return names

    async def watch_bids_asks(self, symbols: Sequence[str] | None = None,
                              params: Dict | None = None) -> Dict:
        none_of(params)
        markets = {symbol: await self._market_of(symbol) for symbol in await self._symbols(symbols)}

        def make(market: Market) -> Make:
            return lambda client: client.watch_bbo(market)
        got: dict[Key, Bbo] = await self._first({
            ("bbo", symbol): make(market) for symbol, market in markets.items()})
        return {key[1]: self.safe_ticker({
            "symbol": key[1], "timestamp": one.time_ns // 1_000_000,
            "datetime": self.iso8601(one.time_ns // 1_000_000),
            **{name: None if value is None else str(value) for name, value in (
                ("bid", one.bid_price), ("bidVolume", one.bid_size), ("ask", one.ask_price),
                ("askVolume", one.ask_size))}, "info": {"seq": one.seq}})
            for key, one in got.items()}

    async def watch_tickers(self, symbols: Sequence[str] | None = None,
                            params: Dict | None = None) -> Dict:
        """Behind a change of a best price or a mark, as GET /tickers shows them: at most one read a
        second."""
        none_of(params)
        names = await self._symbols(symbols)
        makes: dict[Key, Make] = {}

        def make(market: Market, name: str) -> Make:
            return lambda client: cast("AsyncIterator[Bbo | Mark]", client.watch_bbo(market)
                                       if name == "bbo" else client.watch_mark(market))
        for symbol in names:
            market = await self._market_of(symbol)
            for name in ("bbo", "mark"):
                makes["ticker", symbol, name] = make(market, name)
        owed: set[Key] = {("ticker", symbol) for symbol in names}
        if owed.isdisjoint(self._owed):
            self._owed |= {("ticker", key[1]): None for key in await self._first(makes)}
        await self._pace(("ticker", *names))
        moved = owed.intersection(self._owed) or owed
        rows = await self.fetch_tickers(sorted(key[1] for key in moved))
        for key in moved:
            self._owed.pop(key, None)
        return rows

    async def watch_ticker(self, symbol: str, params: Dict | None = None) -> Dict:
        return cast(Dict, (await self.watch_tickers([symbol], params))[symbol])

    async def watch_ohlcv(self, symbol: str, timeframe: str = "1m", since: int | None = None,
                          limit: int | None = None,
                          params: Dict | None = None) -> list[list[float]]:
        """Behind a trade, as GET /candles shows them: at most one read a second."""
        none_of(params)
        market, key = await self._market_of(symbol), ("ohlcv", symbol, timeframe)
        if key not in self._owed:
            one: Trade = await self._of(key, lambda client: _newest(client.watch_trades(market)))
            self._owed[key] = one.sequence
        await self._pace(key)
        least = self._owed.get(key)
        rows = await self._candles(symbol, timeframe, since, limit, least)
        self._read(key, least)
        return rows

    def _read(self, key: Key, least: int | None) -> None:
        """What had changed at this sequence was read."""
        if key in self._owed and self._owed[key] == least:
            del self._owed[key]

    async def _event(self, kind: str, symbol: str | None) -> Dict:
        """The next event of this kind, of this portfolio."""
        wanted = None if symbol is None else str(self.market(symbol)["id"])
        while True:
            one: PrivateEvent = await self._of((kind, symbol or ""),
                                               lambda client: client.watch_private())
            data = dict(one.data)
            at = data.get("subaccount_index"), data.get("portfolio_index")
            if one.event == kind and wanted in (None, data["market"]) and at == (
                    int(self.options.get("subaccount", 0)), int(self.options.get("portfolio", 0))):
                return data

    async def watch_orders(self, symbol: str | None = None, since: int | None = None,
                           limit: int | None = None, params: Dict | None = None) -> list[Dict]:
        none_of(params)
        await self.load_markets()
        row = self._order(cast(records.Order, await self._event("order", symbol)))
        return self.filter_by_symbol_since_limit([row], symbol, since, limit)

    async def watch_my_trades(self, symbol: str | None = None, since: int | None = None,
                              limit: int | None = None, params: Dict | None = None) -> list[Dict]:
        none_of(params)
        await self.load_markets()
        row = self._fill(cast(records.Fill, await self._event("fill", symbol)))
        return self.filter_by_symbol_since_limit([row], symbol, since, limit)

    async def _changed(self, key: Key, path: str) -> Any:
        """What a read shows behind a change; one whose read failed is read by the next call."""
        if key not in self._owed:
            view: Account = await self._of(key, lambda client: client.watch_account())
            self._owed[key] = view.engine_seq
        await self._pace(key)
        least = self._owed.get(key)
        shown = await self._with(lambda client: client.session.get(
            path, client.session.place_parameters(), private=True, least=least))
        self._read(key, least)
        return shown

    async def watch_balance(self, params: Dict | None = None) -> Dict:
        """Behind a change of the account, as of it or later: at most one read a second."""
        none_of(params)
        return self._balance(await self._changed(("balance",), "/portfolio/balance"))

    async def watch_positions(self, symbols: Sequence[str] | None = None,
                              since: int | None = None, limit: int | None = None,
                              params: Dict | None = None) -> list[Dict]:
        """Behind a change of the account, as of it or later: at most one read a second. One that
        was closed has `contracts` 0."""
        none_of(params)
        await self.load_markets()
        key: Key = ("positions", *sorted(() if symbols is None else await self._symbols(symbols)))
        before = self._held.get(key, {})  # calls that wait at once all see the change
        while True:
            found = cast("list[records.Position]", await self._changed(key, "/positions"))
            self._held[key] = now = {row["market"]: row for row in found}
            moved = [market for market in {**before, **now}
                     if _size(before.get(market)) != _size(now.get(market))]
            rows = [self._position(now[market]) if market in now else self._closed(market)
                    for market in moved]
            rows = [row for row in rows if symbols is None or row["symbol"] in symbols]
            if rows:
                return rows

    def _closed(self, market: str) -> Dict:
        return self.safe_position({"info": {}, "symbol": self.safe_symbol(market), "side": None,
                                   "contracts": 0.0, "contractSize": 1, "marginMode": "cross"})

    async def un_watch_order_book(self, symbol: str, params: Dict | None = None) -> None:
        self._depths.pop(symbol, None)
        await self._leave(("book", symbol))

    async def un_watch_trades(self, symbol: str, params: Dict | None = None) -> None:
        await self._leave(("trades", symbol))

    async def un_watch_ohlcv(self, symbol: str, timeframe: str = "1m",
                             params: Dict | None = None) -> None:
        await self._leave(("ohlcv", symbol, timeframe))

    async def un_watch_bids_asks(self, symbols: Sequence[str] | None = None,
                                 params: Dict | None = None) -> None:
        for symbol in await self._symbols(symbols):
            await self._leave(("bbo", symbol))

    async def un_watch_tickers(self, symbols: Sequence[str] | None = None,
                               params: Dict | None = None) -> None:
        for symbol in await self._symbols(symbols):
            self._owed.pop(("ticker", symbol), None)
            for name in ("bbo", "mark"):
                await self._leave(("ticker", symbol, name))

    async def un_watch_ticker(self, symbol: str, params: Dict | None = None) -> None:
        await self.un_watch_tickers([symbol], params)

    async def un_watch_orders(self, symbol: str | None = None, params: Dict | None = None) -> None:
        await self._leave(("order", symbol or ""))

    async def un_watch_my_trades(self, symbol: str | None = None,
                                 params: Dict | None = None) -> None:
        await self._leave(("fill", symbol or ""))

    async def un_watch_positions(self, symbols: Sequence[str] | None = None,
                                 params: Dict | None = None) -> None:
        """Of these symbols as they were watched; without any, all that is watched of positions."""
        for key in [key for key in self._topics if key[0] == "positions"]:
            if symbols is None or key[1:] == tuple(sorted(symbols)):
                await self._leave(key)
                self._held.pop(key, None)

    def _ws(self) -> Watch:
        """The same account, whose signed requests go over its stream."""
        if self._over_stream is None:
            self._over_stream = type(self)({
                "apiKey": self.apiKey, "privateKey": self.privateKey, "timeout": self.timeout,
                "urls": {"api": self.urls["api"]},
                "options": {**self.options, "streamOrders": True}})
        self._over_stream._told(self._least)
        return self._over_stream

    def _same(self, row: Dict) -> Dict:
        if self._over_stream is not None:
            self._told(self._over_stream._least)
        return row

    async def create_order_ws(self, symbol: str, type: str, side: Direction, amount: Number,
                              price: Number | None = None, params: Dict | None = None) -> Dict:
        return self._same(await self._ws().create_order(symbol, type, side, amount, price, params))

    async def edit_order_ws(self, id: str, symbol: str, type: str, side: Direction,
                            amount: Number, price: Number, params: Dict | None = None) -> Dict:
        return self._same(await self._ws().edit_order(id, symbol, type, side, amount, price,
                                                      params))

    async def cancel_order_ws(self, id: str, symbol: str | None = None,
                              params: Dict | None = None) -> Dict:
        """A cancel waits behind no order: the library sends it beside the stream, over HTTP."""
        return self._same(await self._ws().cancel_order(id, symbol, params))


def _size(row: records.Position | None) -> tuple[str, str] | None:
    return None if row is None else (row["side"], row["size"])
