"""book.py - a book kept from the stream: checked, never half applied (json.md J9)."""
from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import Any

from .amount import Amount
from .market import Market

_CHECKED = 25  # levels of each side that the checksum covers
_POLYNOMIAL = 0x82F63B78


def _crc_row(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_CRC = [_crc_row(byte) for byte in range(256)]


def crc32c(data: bytes) -> int:
    """CRC-32C (RFC 3720)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Fault(Exception):
    """A frame contradicts the book: it is discarded and asked for again."""


class Side:
    """The levels of one side: raw prices, best first, with their raw sizes."""

    def __init__(self, sign: int) -> None:
        self._sign = sign  # -1: the highest price is best
        self._keys: list[int] = []
        self._sizes: dict[int, int] = {}

    def set(self, price: int, size: int) -> None:
        """Size 0 deletes."""
        if size == 0:
            if self._sizes.pop(price, None) is None:
                raise Fault(f"a level that is not there was deleted: {price}")
            del self._keys[bisect_left(self._keys, price * self._sign)]
            return
        if price not in self._sizes:
            insort(self._keys, price * self._sign)
        self._sizes[price] = size

    def levels(self, count: int | None = None) -> Iterable[tuple[int, int]]:
        for key in self._keys[:count]:
            yield key * self._sign, self._sizes[key * self._sign]

    def best(self) -> int | None:
        return self._keys[0] * self._sign if self._keys else None

    def __len__(self) -> int:
        return len(self._keys)


class Book:
    """Bids and asks of a market, as deep as was asked for. While `is_live` is False it is empty:
    the stream is away, or a fault was found and the whole is on its way."""

    def __init__(self, market: Market, depth: int) -> None:
        self.market, self.depth = market, depth
        self.checks = self.faults = 0
        self.discard()

    def discard(self) -> None:
        self._bids, self._asks, self.is_live = Side(-1), Side(1), False
        self.seq = self.engine_seq = self.time_ns = 0

    def apply(self, frame: dict[str, Any]) -> None:
        """Takes a snapshot, update or heartbeat whose order was checked; Fault leaves the book
        discarded."""
        try:
            if frame["type"] == "snapshot":
                self.discard()
            self._set(self._bids, frame["data"].get("bids", ()))
            self._set(self._asks, frame["data"].get("asks", ()))
            self._check(frame)
        except Fault:
            self.faults += 1
            self.discard()
            raise
        self.seq, self.engine_seq = frame["seq"], frame["engine_seq"]
        self.time_ns, self.is_live = frame["time_ns"], True

    def _set(self, side: Side, levels: Iterable[tuple[str, str] | tuple[int, int]]) -> None:
        """Decimal texts, or raw numbers."""
        for price, size in levels:
            if isinstance(price, int) and isinstance(size, int):
                side.set(price, size)
            else:
                side.set(Amount.of(price).at(self.market.price_decimals),
                         Amount.of(size).at(self.market.size_decimals))

    def _check(self, frame: dict[str, Any]) -> None:
        bid, ask = self._bids.best(), self._asks.best()
        if bid is not None and ask is not None and bid >= ask:
            raise Fault(f"the book is crossed: {bid} and {ask}")
        if "crc" in frame:
            self.checks += 1
            if self.crc() != frame["crc"]:
                raise Fault(f"the checksum at seq {frame['seq']}")

    def crc(self) -> int:
        """The checksum of the 25 best levels of each side, as the exchange makes it."""
        return crc32c("".join(f"{price}:{size};" for side in (self.bids, self.asks)
                              for price, size in side(_CHECKED)).encode())

    def _amounts(self, side: Side, count: int | None) -> list[tuple[Amount, Amount]]:
        return [(Amount(price, self.market.price_decimals), Amount(size, self.market.size_decimals))
                for price, size in side.levels(count)]

    def bids(self, count: int | None = None) -> list[tuple[Amount, Amount]]:
        """(price, size) of the best levels, best first."""
        return self._amounts(self._bids, count)

    def asks(self, count: int | None = None) -> list[tuple[Amount, Amount]]:
        return self._amounts(self._asks, count)

    def best(self) -> tuple[Amount | None, Amount | None]:
        """The best bid and the best ask."""
        decimals = self.market.price_decimals
        bid, ask = self._bids.best(), self._asks.best()
        return (None if bid is None else Amount(bid, decimals),
                None if ask is None else Amount(ask, decimals))

    def cost(self, side: str, size: Amount) -> Amount | None:
        """What buying or selling so much would exchange in USDC, exact; None where the shown
        levels have less."""
        left, raw = size.at(self.market.size_decimals), 0
        for price, there in (self._asks if side == "buy" else self._bids).levels():
            part = min(left, there)
            raw, left = raw + price * part, left - part
            if left == 0:
                return Amount(raw, self.market.price_decimals + self.market.size_decimals)
        return None
