"""buckets.py - what an account may send, kept here: a request waits for its turn rather than be
refused. Cancels and reductions have a bucket of their own and wait behind no placement; nor does
the dead-man, whose time would be over.
"""
from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from ._wire_gen import (CancelAllOrders, ConditionalOrderCancel, OrderCancel, OrderReduction,
                        ScheduleCancelAll)
from .body import Body
from .errors import Lost, PerpdError
from .http import members_of

_CANCELS = (OrderReduction, OrderCancel, CancelAllOrders, ConditionalOrderCancel)  # W8
_LOOK_S = 5.0


def _cost(body: Body) -> int:
    return len(getattr(body, "items", ())) or 1


def _tokens(shown: Any, name: str) -> float:
    """A count of tokens; Lost (arrived) where it is none: somebody else answered."""
    value = members_of(shown).get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e300:
        return float(value)
    raise Lost(f"an answer of GET /limits with {name} {value}", True)


class Bucket:
    """Tokens that come at a rate, at most a burst of them. Who needs more than there are waits; the
    first to come is the first to go on."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._rate, self._burst, self._left, self._at = 0.0, 0.0, 0.0, now_s()
        self._turn = asyncio.Lock()

    def set(self, rate: float, burst: float, left: float | None) -> None:
        """What is in force; `left`: the tokens that the exchange says are there."""
        self._fill()
        self._rate, self._burst = rate, burst
        self._left = min(burst, self._left if left is None else left)

    def _fill(self) -> None:
        now_s = self._now_s()
        self._left = min(self._burst, self._left + max(0.0, now_s - self._at) * self._rate)
        self._at = max(self._at, now_s)

    def refused(self, after_s: float, cost: int = 1) -> None:
        """The exchange has less: after this time what was refused may be sent (W8)."""
        self._fill()
        self._left = min(self._left, min(cost, self._burst) - after_s * self._rate)

    def wait_s(self, cost: int) -> float:
        """How long until a request of this cost may be sent; 0: now. One that costs more than the
        bucket holds waits until it is full."""
        if self._rate <= 0:
            return 0.0
        self._fill()
        return max(0.0, (min(cost, self._burst) - self._left) / self._rate)

    def owe(self, cost: int) -> None:
        """Takes the tokens at once, also those that are not there: who comes behind waits for
        them."""
        self._fill()
        self._left -= cost

    async def take(self, cost: int, waits: Callable[[], Awaitable[None]]) -> None:
        """Takes the tokens, once they are there. While they are not `waits` is called, again and
        again: what an exchange refused may have been for another reason, and be over. It is not
        waited for longer than for the tokens."""
        async with self._turn:
            while (wait_s := self.wait_s(cost)) > 0:
                await asyncio.wait({asyncio.ensure_future(waits())},
                                   timeout=min(wait_s, _LOOK_S))
                await asyncio.sleep(min(wait_s, self.wait_s(cost), _LOOK_S))
            self._left -= cost


class Buckets:
    """The two of an account. `look` reads GET /limits."""

    def __init__(self, look: Callable[[], Awaitable[Any]],
                 now_s: Callable[[], float] = time.monotonic) -> None:
        self._look, self._now_s = look, now_s
        self._writes, self._cancels = Bucket(now_s), Bucket(now_s)
        self._looked_at = -_LOOK_S
        self._looks: set[asyncio.Task[None]] = set()

    async def refresh(self) -> None:
        """What is in force now: an account that has been funded has more. Problem, Lost."""
        self._looked_at = self._now_s()
        shown = members_of(await self._look())
        limits, remaining = shown.get("limits"), members_of(shown.get("remaining"))
        rate, burst = _tokens(limits, "write_rate"), _tokens(limits, "write_burst")
        left = {name: _tokens(remaining, name) for name in ("write", "cancel") if name in remaining}
        in_force = rate if shown.get("rate_limits") is True else 0.0
        self._writes.set(in_force, burst, left.get("write"))
        self._cancels.set(in_force * 2, burst * 2, left.get("cancel"))

    async def _waits(self) -> None:
        if self._looks or self._now_s() - self._looked_at < _LOOK_S:
            return
        look = asyncio.ensure_future(self._refresh())
        self._looks.add(look)
        look.add_done_callback(self._looks.discard)
        await asyncio.shield(look)

    async def _refresh(self) -> None:
        with suppress(PerpdError):  # what was in force goes on
            await self.refresh()

    async def close(self) -> None:
        """Ends the look that is under way."""
        for look in list(self._looks):
            look.cancel()
        await asyncio.gather(*self._looks, return_exceptions=True)

    def _of(self, body: Body) -> Bucket:
        return self._cancels if isinstance(body, _CANCELS) else self._writes

    async def take(self, body: Body) -> None:
        """Waits until the exchange will take a request with this body; the dead-man goes at
        once."""
        if isinstance(body, ScheduleCancelAll):
            self._writes.owe(1)
            return
        await self._of(body).take(_cost(body), self._waits)

    def refused(self, body: Body, after_s: float) -> None:
        """A request with this body was above the account's rate."""
        self._of(body).refused(after_s, _cost(body))
