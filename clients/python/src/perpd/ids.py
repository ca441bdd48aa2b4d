"""ids.py - request ids: UUIDv7 of the exchange's time, strictly rising."""
from __future__ import annotations

import os
from collections.abc import Callable
from uuid import UUID

_COUNT_MAX = 0xFFF  # the 12 bits of rand_a
_RANDOM = (1 << 62) - 1  # rand_b
_STEP = 0x1E3779B97F4A7C15  # odd: no two of 2^62 are equal


def id_time_ms(request_id: UUID) -> int:
    """The unix milliseconds in the id."""
    return int.from_bytes(request_id.bytes[:6], "big")


def is_v7(request_id: UUID) -> bool:
    """W5: version 7, variant 10."""
    return request_id.bytes[6] >> 4 == 7 and request_id.bytes[8] >> 6 == 2


def following_id(request_id: UUID, number: int) -> UUID:
    """Another id of the same time for each number above 0, always the same one: what belongs to a
    request has it when the request is repeated."""
    tail = (request_id.int & _RANDOM) + number * _STEP & _RANDOM
    return UUID(int=request_id.int & ~_RANDOM | tail)


class Ids:
    """Makes ids of the time that `now_ms` tells. Within a millisecond rand_a counts up, so a later
    id of one Ids is always the higher, also when the clock is set back."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._ms, self._count = 0, 0

    def next(self) -> UUID:
        now = self._now_ms()
        if now > self._ms:
            self._ms = now
            self._count = int.from_bytes(os.urandom(2), "big") & _COUNT_MAX >> 1
        elif self._count < _COUNT_MAX:
            self._count += 1
        else:
            self._ms, self._count = self._ms + 1, 0
        head = self._ms << 16 | 7 << 12 | self._count
        tail = 2 << 62 | int.from_bytes(os.urandom(8), "big") >> 2
        return UUID(int=head << 64 | tail)
