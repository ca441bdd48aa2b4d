"""order.py - an order of one's own: what its acknowledgements said last, and what to do with it."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from .amount import Amount, AmountLike
from .market import Market
from .requests import Outcome

if TYPE_CHECKING:
    from .trading import Trading

Direction = Literal["buy", "sell"]
OPEN = ("OPEN", "PARTIALLY_FILLED", "UNTRIGGERED")
_ENDED = ("FILLED", "CANCELED", "REJECTED", "EXPIRED")


def is_open_state(status: str) -> bool:
    """One that is newer than this library counts as open: it may still be filled."""
    return status not in _ENDED


class Order:
    """`status`, `remaining` and `filled` are as of the newest acknowledgement or `refresh`, and of
    the newest event once the account is followed (Client.follow_account)."""

    def __init__(self, trading: Trading, order_id: UUID, market: Market, side: Direction,
                 price: Amount | None, size: Amount, *, is_conditional: bool = False,
                 post_only: bool = False, reduce_only: bool = False) -> None:
        self._trading = trading
        self.id, self.market = order_id, market
        self.side: Direction = side
        self.price, self.size = price, size
        self.is_conditional = is_conditional
        self.post_only, self.reduce_only = post_only, reduce_only
        self.status = "UNTRIGGERED" if is_conditional else "OPEN"
        self.remaining, self.filled = size, Amount(0, 0)
        self.average_price: Amount | None = None
        self.outcome: Outcome | None = None
        self._told_at, self._heard_at = 0, 0  # sequences of what was asked for, and of events

    @property
    def is_open(self) -> bool:
        return is_open_state(self.status)

    def acknowledge(self, outcome: Outcome) -> bool:
        """Takes what an acknowledgement shows; False when it shows no order."""
        self.outcome = outcome
        if outcome.answer.get("order_status") is None:
            return False
        self._tell(outcome.answer, outcome.sequence or 0)
        return True

    def executed(self, outcome: Outcome, is_cancel: bool) -> None:
        """Takes that a batch, whose answer shows no order, placed or canceled it."""
        self.outcome = outcome
        if is_cancel and (outcome.sequence or 0) >= self._heard_at:
            self.status = "CANCELED"

    def _tell(self, members: Mapping[str, Any], at: int) -> None:
        """Takes what an answer shows, as of this sequence, unless an event was newer."""
        if at >= self._heard_at:
            self._told_at = max(self._told_at, at)
            self._take(members)

    def hear(self, record: Mapping[str, Any], at: int) -> None:
        """Takes what an event of this sequence says, unless an answer was as new or another event
        newer."""
        if at <= self._told_at or at < self._heard_at:
            return
        self._heard_at = at
        self._take(record)
        if record.get("price") is not None:
            self.price = Amount.of(record["price"])
        if self.is_conditional:
            self.is_conditional = record["order_status"] == "UNTRIGGERED"

    def _take(self, members: Mapping[str, Any]) -> None:
        self.status = members["order_status"]
        self.remaining = Amount.of(members["remaining_size"])
        self.filled = Amount.of(members["filled_size"])
        if "average_price" in members:  # a binary event has none
            average = members["average_price"]
            self.average_price = None if average is None else Amount.of(average)

    async def refresh(self, least: int | None = None) -> Order:
        """Reads the order, as of the sequence `least` or later."""
        record, at = await self._trading.order_at(self.id, least)
        if at < self._heard_at:
            return self
        self._tell(record, at)
        if record["price"] is not None:
            self.price = Amount.of(record["price"])
        self.post_only, self.reduce_only = record["post_only"], record["reduce_only"]
        self.is_conditional = record["order_status"] == "UNTRIGGERED"
        return self

    async def replace(self, price: AmountLike, size: AmountLike, *, post_only: bool | None = None,
                      expected_remaining: AmountLike | None = None,
                      deadline_s: float | None = None) -> Order:
        """Another price and remaining size under the same id; `expected_remaining` refuses when
        a fill came in between."""
        return await self._trading.replace(self, price, size, post_only=post_only,
                                           expected_remaining=expected_remaining,
                                           deadline_s=deadline_s)

    async def reduce(self, by: AmountLike, *, expected_remaining: AmountLike | None = None,
                     deadline_s: float | None = None) -> Order:
        """A smaller size; the place in the queue stays."""
        return await self._trading.reduce(self, by, expected_remaining=expected_remaining,
                                          deadline_s=deadline_s)

    async def done(self) -> Order:
        """Waits until the order is open no more, by the account's events."""
        account = await self._trading.follow_account()
        account.follow(self)
        await self.refresh()
        while self.is_open:
            await self._trading.account_changed()
        return self

    async def cancel(self, *, deadline_s: float | None = None) -> Order:
        return await self._trading.cancel(self, deadline_s=deadline_s)

    def __repr__(self) -> str:
        return (f"<Order {self.id} {self.side} {self.remaining} of {self.size} {self.market} at "
                f"{self.price}, {self.status}>")
