"""binary.py - reads what a stream of the subprotocol perps.bin.v1 sends (wire.md W9).

`WebSocket.open(origin, target, SUBPROTOCOL)` opens one; `read` takes each of its binary messages.
Numbers are raw: prices and sizes of the market with that asset id, amounts in micro-USDC.
"""
from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union
from uuid import UUID

SUBPROTOCOL = "perps.bin.v1"
CHANNELS = {1: "book", 2: "trades", 3: "bbo", 4: "private"}
TYPES = {1: "snapshot", 2: "update", 3: "heartbeat", 4: "gap"}
NOWHERE = 0xFFFFFFFF  # an index of a transfer: outside of the exchange
UNTIL_RESET = 2**64 - 1  # Mmp.frozen_until_ns
_HEAD = struct.Struct("<4H2Q")
_FRAME, _ACK = 16, 6
_HAS_CRC = 1
_NO_ID = bytes(16)


@dataclass(frozen=True, slots=True)
class Head:
    """What each message begins with; `market` is an asset id, 0: none."""
    template: int
    length: int
    market: int
    flags: int
    seq: int
    time_ns: int


@dataclass(frozen=True, slots=True)
class Level:
    head: Head
    price: int
    size: int  # 0: the level is gone
    is_ask: bool


@dataclass(frozen=True, slots=True)
class Trade:
    head: Head
    price: int
    size: int
    taker_side: int  # 0 LONG, 1 SHORT
    is_liquidation: bool
    trade_seq: int


@dataclass(frozen=True, slots=True)
class Best:
    """A side that is empty has price and size 0."""
    head: Head
    bid_price: int
    bid_size: int
    ask_price: int
    ask_size: int


@dataclass(frozen=True, slots=True)
class OrderState:
    head: Head
    order_id: UUID
    remaining: int
    filled: int
    price: int  # 0: the kind of order has none
    status: int
    reason: int
    side: int


@dataclass(frozen=True, slots=True)
class Fill:
    head: Head
    fill_id: UUID
    order_id: UUID
    price: int
    size: int
    fee: int
    liquidity: int  # 0 TAKER, 1 MAKER
    side: int


@dataclass(frozen=True, slots=True)
class Gap:
    head: Head
    from_seq: int
    oldest_seq: int


@dataclass(frozen=True, slots=True)
class Position:
    """The average entry price is cost / size."""
    head: Head
    id: UUID | None  # None: closed
    size: int  # signed
    cost: int
    net_funding: int
    subaccount_index: int
    portfolio_index: int


@dataclass(frozen=True, slots=True)
class Balance:
    head: Head
    ref_id: UUID | None
    amount: int
    balance_after: int
    subaccount_index: int
    portfolio_index: int
    index: int
    kind: int


@dataclass(frozen=True, slots=True)
class Funding:
    head: Head
    id: UUID
    payment: int
    size: int
    rate_ppb: int
    index_price: int
    hour_ns: int
    subaccount_index: int
    portfolio_index: int
    index: int


@dataclass(frozen=True, slots=True)
class Transfer:
    head: Head
    withdrawal_id: UUID | None
    amount: int
    from_subaccount_index: int
    from_portfolio_index: int
    to_subaccount_index: int
    to_portfolio_index: int
    kind: int


@dataclass(frozen=True, slots=True)
class Liquidation:
    """Without a market it is a change of the status alone: price, size and level are 0."""
    head: Head
    equity: int
    maintenance_margin: int
    price: int
    size: int
    subaccount_index: int
    portfolio_index: int
    status: int
    level: int


@dataclass(frozen=True, slots=True)
class Mmp:
    head: Head
    frozen_until_ns: int  # 0: not frozen
    subaccount_index: int
    portfolio_index: int


@dataclass(frozen=True, slots=True)
class Session:
    head: Head
    id: UUID | None  # of a master key None
    public_key: bytes  # 33 bytes; of a session 32 and a zero, of a secret zeros
    kind: int
    action: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """A message of a template that this reader does not know: newer than it."""
    head: Head
    data: bytes


Data = Union[Level, Trade, Best, OrderState, Fill, Gap, Position, Balance, Funding, Transfer,
             Liquidation, Mmp, Session, Unknown]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of json.md J9; `market` is an asset id, 0 of private."""
    channel: str
    type: str
    market: int
    seq: int
    prev_seq: int
    engine_seq: int
    time_ns: int
    crc: int | None
    data: tuple[Data, ...]


@dataclass(frozen=True, slots=True)
class Ack:
    """The answer to a signed request that was sent as a binary message (wire.md W5)."""
    status: int
    order_status: int  # 255: none
    processed_at_ns: int
    sequence: int  # 0: it was refused before it had one
    request_id: UUID
    remaining: int
    quantity_ahead: int
    verify_ns: int
    match_ns: int


class Malformed(ValueError):
    """Bytes that are no message of this subprotocol."""


def _id(data: bytes) -> UUID:
    return UUID(bytes=data)


def _id_or_none(data: bytes) -> UUID | None:
    return None if data == _NO_ID else UUID(bytes=data)


def _signed(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


def _trade(head: Head, price: int, size: int, side: int, flags: int, trade_seq: int) -> Trade:
    return Trade(head, price, size, side, bool(flags & 1), trade_seq)


_Maker = Callable[..., Data]


def _through(kind: _Maker, *reads: Callable[[bytes], object]) -> _Maker:
    """Makes a `kind` whose first values behind the head go through `reads`."""
    def make(head: Head, *values: Any) -> Data:
        first = (read(value) for read, value in zip(reads, values))
        return kind(head, *first, *values[len(reads):])
    return make


# Template: the layout behind the head, and what its values make.
_LAYOUTS: dict[int, tuple[struct.Struct, _Maker]] = {
    1: (struct.Struct("<2Q?7x"), Level),
    2: (struct.Struct("<2Q2B6xQ"), _trade),
    3: (struct.Struct("<4Q"), Best),
    4: (struct.Struct("<16s3Q3B5x"), _through(OrderState, _id)),
    5: (struct.Struct("<16s16s2Qq2B6x"), _through(Fill, _id, _id)),
    17: (struct.Struct("<2Q"), Gap),
    18: (struct.Struct("<16s3q2I"), _through(Position, _id_or_none)),
    19: (struct.Struct("<16s2q3IB3x"), _through(Balance, _id_or_none)),
    20: (struct.Struct("<16s3q2Q3I4x"), _through(Funding, _id)),
    21: (struct.Struct("<16sq4IB7x"), _through(Transfer, _id_or_none)),
    22: (struct.Struct("<16s16sQq2I2B6x"), _through(Liquidation, _signed, _signed)),
    23: (struct.Struct("<Q2I"), Mmp),
    24: (struct.Struct("<16s33s2B5x"), _through(Session, _id_or_none)),
}
_FRAME_LAYOUT = struct.Struct("<2Q2B2xI")
_ACK_LAYOUT = struct.Struct("<H2B4x2Q16s2Q2I")


def _head(message: bytes, at: int) -> tuple[Head, bytes]:
    """The head there, and what its message has behind it."""
    if len(message) - at < _HEAD.size:
        raise Malformed(f"{len(message) - at} bytes are no head")
    head = Head(*_HEAD.unpack_from(message, at))
    if head.length < _HEAD.size or head.length % 8 or at + head.length > len(message):
        raise Malformed(f"a length of {head.length} at {at} of {len(message)}")
    return head, message[at + _HEAD.size:at + head.length]


def _behind(layout: struct.Struct, head: Head, body: bytes) -> tuple[Any, ...]:
    """The values; what a newer exchange has put behind them is passed over."""
    if len(body) < layout.size:
        raise Malformed(f"template {head.template} has {head.length} bytes")
    return layout.unpack_from(body)


def _ack(status: int, order_status: int, _version: int, processed_at_ns: int, sequence: int,
         request_id: bytes, *rest: int) -> Ack:
    return Ack(status, order_status, processed_at_ns, sequence, _id(request_id), *rest)


def _data(message: bytes, at: int) -> tuple[Data, int]:
    head, body = _head(message, at)
    if head.template not in _LAYOUTS:
        return Unknown(head, body), head.length
    layout, make = _LAYOUTS[head.template]
    return make(head, *_behind(layout, head, body)), head.length


def read(message: bytes) -> Frame | Ack:
    """One binary message of the WebSocket, whole. Malformed: it is none of this subprotocol."""
    head, body = _head(message, 0)
    if head.template == _ACK:
        return _ack(*_behind(_ACK_LAYOUT, head, body))
    if head.template != _FRAME:
        raise Malformed(f"a message begins with template {head.template}")
    prev_seq, engine_seq, channel, kind, crc = _behind(_FRAME_LAYOUT, head, body)
    if channel not in CHANNELS or kind not in TYPES:
        raise Malformed(f"channel {channel}, type {kind}")
    data: list[Data] = []
    at = head.length
    while at < len(message):
        one, length = _data(message, at)
        data.append(one)
        at += length
    return Frame(CHANNELS[channel], TYPES[kind], head.market, head.seq, prev_seq, engine_seq,
                 head.time_ns, crc if head.flags & _HAS_CRC else None, tuple(data))
