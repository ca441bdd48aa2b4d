"""views.py - what streams and reads of a market show, as Amounts."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .amount import Amount


def _amount(text: str | None) -> Amount | None:
    return None if text is None else Amount.of(text)


@dataclass(frozen=True)
class Mark:
    """The mark price of a market. `valid` is False where the oracle is silent or gave nothing yet:
    `price` is then the last one, or 0 before the first."""
    price: Amount
    index: Amount | None
    valid: bool
    predicted_funding_rate: Amount
    seq: int
    time_ns: int

    @classmethod
    def of(cls, frame: Mapping[str, Any], data: Mapping[str, Any]) -> Mark:
        return cls(_amount(data["mark_price"]) or Amount(0, 0), _amount(data["index_price"]),
                   data["valid"] and data["mark_price"] is not None,
                   Amount.of(data["predicted_funding_rate"]), frame["seq"], frame["time_ns"])


@dataclass(frozen=True)
class Bbo:
    """The best bid and the best ask with their sizes; None: that side is empty."""
    bid_price: Amount | None
    bid_size: Amount | None
    ask_price: Amount | None
    ask_size: Amount | None
    seq: int
    time_ns: int

    @classmethod
    def of(cls, frame: Mapping[str, Any], data: Mapping[str, Any]) -> Bbo:
        return cls(_amount(data["bid_price"]), _amount(data["bid_size"]),
                   _amount(data["ask_price"]), _amount(data["ask_size"]), frame["seq"],
                   frame["time_ns"])


@dataclass(frozen=True)
class Trade:
    """A public trade. `trade_seq` counts the trades of its market without a gap."""
    price: Amount
    size: Amount
    taker_side: str
    is_liquidation: bool
    trade_seq: int
    sequence: int
    time_ns: int

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Trade:
        return cls(Amount.of(data["price"]), Amount.of(data["size"]), data["taker_side"],
                   data["liquidation"], data["trade_seq"], data["sequence"], data["time_ns"])
