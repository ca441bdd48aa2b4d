"""clock.py - the exchange's clock, from its answers; the machine's own is never asked."""
from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

_KEPT, _BEST = 20, 5


class Sample(NamedTuple):
    round_trip_ns: int
    offset_ns: int  # the exchange's clock less the monotonic one


class Clock:
    """offset = the median of the 5 samples of least round trip among the last 20; it is wrong by
    half a round trip at most."""

    def __init__(self, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._monotonic_ns = monotonic_ns
        self._samples: deque[Sample] = deque(maxlen=_KEPT)
        self._is_old = True
        self.newest_ns = 0

    def monotonic_ns(self) -> int:
        return self._monotonic_ns()

    def add(self, server_ns: int, sent_ns: int, got_ns: int) -> None:
        """A time that the exchange told between two moments of the monotonic clock."""
        if self._is_old:
            self._samples.clear()
            self._is_old = False
        self._samples.append(Sample(got_ns - sent_ns, server_ns - (sent_ns + got_ns) // 2))
        self.newest_ns = got_ns

    def forget(self) -> None:
        """What is known holds until the next time that is told, for who asks in between."""
        self._is_old = True

    def _best(self) -> list[Sample]:
        if not self._samples:
            raise RuntimeError("the exchange's time is not known yet")
        return sorted(self._samples)[:_BEST]

    @property
    def is_set(self) -> bool:
        return not self._is_old

    @property
    def offset_ns(self) -> int:
        return int(statistics.median_low(sample.offset_ns for sample in self._best()))

    @property
    def error_ns(self) -> int:
        return max(sample.round_trip_ns for sample in self._best()) // 2

    def now_ns(self) -> int:
        return self._monotonic_ns() + self.offset_ns

    def now_ms(self) -> int:
        return self.now_ns() // 1_000_000
