"""amount.py - exact decimals: prices, sizes and cash. No float enters or leaves."""
from __future__ import annotations

import re
from functools import total_ordering
from typing import Literal, Union

Rounding = Literal["down", "up"]
AmountLike = Union["Amount", str, int]
_FORM = re.compile(r"(-?)(\d+)(?:\.(\d+))?")
_LONGEST = 40  # digits of a text that is read


def _ten(power: int) -> int:
    """10 ** power as the int that it is: a negative power would make a float."""
    return int("1" + "0" * power)


@total_ordering
class Amount:
    """`raw` units of 10 ** -decimals. Two amounts of one value are equal, of whatever decimals."""
    __slots__ = ("raw", "decimals")

    def __init__(self, raw: int, decimals: int) -> None:
        if type(raw) is not int or type(decimals) is not int or decimals < 0:
            raise TypeError("an Amount is made of two integers; Amount.of reads a text")
        self.raw, self.decimals = raw, decimals

    @classmethod
    def of(cls, value: AmountLike) -> Amount:
        """The amount of a decimal text, of an integer or of an Amount. TypeError for a float: it
        has no exact decimal; ValueError for a text of another form."""
        if isinstance(value, Amount):
            return value
        if type(value) is int:
            return cls(value, 0)
        if not isinstance(value, str):
            raise TypeError(f"a decimal string or an Amount is needed, not {type(value).__name__}")
        match = _FORM.fullmatch(value)
        if not match or not value.isascii() or len(value) > _LONGEST:
            raise ValueError(f"{value!r} is no decimal")
        digits = match[3] or ""
        return cls(int(match[1] + match[2] + digits), len(digits))

    def at(self, decimals: int) -> int:
        """The raw integer with so many decimals; ValueError when digits would be lost."""
        if decimals >= self.decimals:
            return self.raw * _ten(decimals - self.decimals)
        raw, rest = divmod(self.raw, _ten(self.decimals - decimals))
        if rest:
            raise ValueError(f"{self} has more than {decimals} decimals")
        return raw

    def rounded(self, step: Amount, direction: Rounding) -> Amount:
        """The nearest multiple of `step` that is not above (down) or not below (up) this."""
        if direction not in ("down", "up"):
            raise ValueError(f"the direction is 'down' or 'up', not {direction!r}")
        decimals = max(self.decimals, step.decimals)
        unit = step.at(decimals)
        count = self.at(decimals) // unit if direction == "down" else -(-self.at(decimals) // unit)
        return Amount(count * step.raw, step.decimals)

    def times_bps(self, bps: int) -> Amount:
        """This and so many ten-thousandths of it: 100 times_bps(-10) is 99.9. Exact."""
        if type(bps) is not int:
            raise TypeError("basis points are an integer")
        return Amount(self.raw * (10_000 + bps), self.decimals + 4)

    def _paired(self, other: Amount) -> tuple[int, int, int]:
        decimals = max(self.decimals, other.decimals)
        return self.at(decimals), other.at(decimals), decimals

    def __add__(self, other: object) -> Amount:
        if not isinstance(other, Amount):
            return NotImplemented
        left, right, decimals = self._paired(other)
        return Amount(left + right, decimals)

    def __sub__(self, other: object) -> Amount:
        if not isinstance(other, Amount):
            return NotImplemented
        return self + -other

    def __mul__(self, other: int | Amount) -> Amount:
        if isinstance(other, Amount):
            return Amount(self.raw * other.raw, self.decimals + other.decimals)
        if type(other) is not int:
            return NotImplemented
        return Amount(self.raw * other, self.decimals)

    __rmul__ = __mul__

    def __neg__(self) -> Amount:
        return Amount(-self.raw, self.decimals)

    def __abs__(self) -> Amount:
        return Amount(abs(self.raw), self.decimals)

    def __bool__(self) -> bool:
        return self.raw != 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Amount):
            return NotImplemented
        left, right, _ = self._paired(other)
        return left == right

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Amount):
            return NotImplemented
        left, right, _ = self._paired(other)
        return left < right

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        """As the exchange writes it: no exponent, no trailing zero."""
        digits = str(abs(self.raw)).rjust(self.decimals + 1, "0")
        whole, fraction = digits[:len(digits) - self.decimals], digits[len(digits) - self.decimals:]
        fraction = fraction.rstrip("0")
        return ("-" if self.raw < 0 else "") + whole + ("." + fraction if fraction else "")

    def __repr__(self) -> str:
        return f"Amount({str(self)!r})"
