"""market.py - a market, its grid, and the round of numbers onto it on demand."""
from __future__ import annotations

from dataclasses import dataclass

from ._types_gen import Market as MarketRecord
from .amount import Amount, AmountLike, Rounding
from .errors import NotOnGrid


@dataclass(frozen=True)
class Market:
    """The market record's numbers as Amounts; `record` is the whole (json.md J5)."""
    name: str
    asset_id: int
    price_decimals: int
    size_decimals: int
    tick: Amount
    lot: Amount
    record: MarketRecord

    @classmethod
    def of(cls, record: MarketRecord) -> Market:
        return cls(record["market"], record["asset_id"], record["price_decimals"],
                   record["size_decimals"], Amount.of(record["tick_size"]),
                   Amount.of(record["lot_size"]), record)

    def __str__(self) -> str:
        return self.name

    def round_price(self, price: AmountLike, direction: Rounding) -> Amount:
        """The nearest price of the grid that is not above (down) or not below (up)."""
        return Amount.of(price).rounded(self.tick, direction)

    def round_size(self, size: AmountLike, direction: Rounding) -> Amount:
        return Amount.of(size).rounded(self.lot, direction)

    def raw_price(self, price: AmountLike) -> int:
        """The price in raw units; NotOnGrid between two ticks, ValueError at or below 0."""
        return _on_grid("price", price, self.tick, self.price_decimals)

    def raw_size(self, size: AmountLike) -> int:
        """The size in raw units; NotOnGrid between two lots, ValueError at or below 0."""
        return _on_grid("size", size, self.lot, self.size_decimals)


def _on_grid(what: str, value: AmountLike, step: Amount, decimals: int) -> int:
    amount = Amount.of(value)
    if amount.raw <= 0:
        raise ValueError(f"a {what} is above 0, not {amount}")
    lower, upper = amount.rounded(step, "down"), amount.rounded(step, "up")
    if lower != upper:
        raise NotOnGrid(what, amount, lower, upper)
    return amount.at(decimals)
