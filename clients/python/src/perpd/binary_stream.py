"""binary_stream.py - a Stream whose frames are those of the subprotocol perps.bin.v1 (wire.md W9).

What it has, it has as Stream: it comes back by itself, subscribes again, and checks the order of
frames; the same sinks take the same frames.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .amount import Amount
from .binary import SUBPROTOCOL, Ack, Best, Data, Frame, Level, Trade, Unknown, read
from .binary_private import SIDES, event_of
from .http import Origin
from .market import Market
from .session import Session
from .sinks import Sink
from .stream import PRIVATE, TARGET, Stream, Subscription, read_object
from .ws import WebSocket

CHANNELS = frozenset({"book", "bbo", "trades", PRIVATE})
_T = TypeVar("_T")


class BinaryStream(Stream):
    """`session` has the markets and their decimals. Channels without binary messages are a
    ValueError."""

    def __init__(self, origin: Origin | Sequence[Origin], session: Session,
                 api_key: str | None = None, **waits: float) -> None:
        super().__init__(origin, api_key=api_key, **waits)
        self._session = session
        self._by_asset: dict[int, Market] = {}

    async def subscribe(self, channel: str, market: str, make: Callable[[], Sink],
                        depth: int | None = None,
                        caught_up: Callable[[], None] | None = None) -> Subscription:
        if channel not in CHANNELS:
            raise ValueError(f"{SUBPROTOCOL} is for {', '.join(sorted(CHANNELS))}: connect without "
                             f"binary=True for {channel}")
        if channel != PRIVATE:
            found = self._session.markets[market]
            self._by_asset[found.asset_id] = found
        return await super().subscribe(channel, market, make, depth, caught_up)

    async def _open(self) -> WebSocket:
        return await WebSocket.open(self._next_origin(), TARGET, SUBPROTOCOL)

    async def _receive(self, socket: WebSocket) -> dict[str, Any]:
        message = await socket.receive_any()
        if isinstance(message, str):
            return read_object(message)
        frame = read(message)
        if isinstance(frame, Ack):
            raise ValueError("an acknowledgement of what nobody sent")
        if frame.channel == PRIVATE:
            return await self._private(frame)
        return self._frame(frame)

    async def _private(self, frame: Frame) -> dict[str, Any]:
        """An event of the account: its market may be newer than this client's list."""
        data: dict[str, Any] = {}
        if frame.type == "update":
            known = [one for one in frame.data if not isinstance(one, Unknown)]
            if len(known) != 1:
                raise ValueError("an update of private that is not one event")
            asset = known[0].head.market
            if asset and asset not in self._markets():
                await self._session.load_markets()
            data = event_of(known[0], self._markets().get(asset))
        return {**self._frame(frame), "market": "", "data": data}

    def _markets(self) -> dict[int, Market]:
        return {market.asset_id: market for market in self._session.markets.values()}

    def _frame(self, frame: Frame) -> dict[str, Any]:
        market = self._by_asset.get(frame.market)
        shown: dict[str, Any] = {
            "channel": frame.channel, "market": market.name if market else "", "type": frame.type,
            "seq": frame.seq, "prev_seq": frame.prev_seq, "engine_seq": frame.engine_seq,
            "time_ns": frame.time_ns, "data": {}}
        if frame.crc is not None:
            shown["crc"] = frame.crc
        if market is not None and frame.type in ("snapshot", "update"):
            parts = [one for one in frame.data if not isinstance(one, Unknown)]
            shown["data"] = _DATA[frame.channel](market, frame, parts)
        return shown


def _book(_market: Market, _frame: Frame, parts: Sequence[Data]) -> dict[str, Any]:
    """Levels as raw numbers, which Book takes as they are."""
    levels: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for one in _only(Level, parts):
        levels[one.is_ask].append((one.price, one.size))
    return {"bids": levels[0], "asks": levels[1]}


def _bbo(market: Market, _frame: Frame, parts: Sequence[Data]) -> dict[str, Any]:
    best, = _only(Best, parts)

    def text(raw: int, size: int, decimals: int) -> str | None:
        return str(Amount(raw, decimals)) if size else None
    return {"bid_price": text(best.bid_price, best.bid_size, market.price_decimals),
            "bid_size": text(best.bid_size, best.bid_size, market.size_decimals),
            "ask_price": text(best.ask_price, best.ask_size, market.price_decimals),
            "ask_size": text(best.ask_size, best.ask_size, market.size_decimals)}


def _trades(market: Market, frame: Frame, parts: Sequence[Data]) -> dict[str, Any]:
    """One trade, or those of a snapshot, whose sequences and indices W9 does not send."""
    shown = [{"price": str(Amount(one.price, market.price_decimals)),
              "size": str(Amount(one.size, market.size_decimals)),
              "taker_side": SIDES[one.taker_side], "liquidation": one.is_liquidation,
              "trade_seq": one.trade_seq, "time_ns": one.head.time_ns,
              "sequence": frame.engine_seq if frame.type == "update" else None}
             for one in _only(Trade, parts)]
    if frame.type == "snapshot":
        return {"trades": shown}
    trade, = shown
    return trade


def _only(kind: type[_T], parts: Sequence[object]) -> list[_T]:
    found = [one for one in parts if isinstance(one, kind)]
    if len(found) != len(parts):
        raise ValueError(f"data of a frame that is no {kind.__name__}")
    return found


_DATA: dict[str, Callable[[Market, Frame, Sequence[Data]], dict[str, Any]]] = {
    "book": _book, "bbo": _bbo, "trades": _trades}
