"""keccak.py - Keccak-256 as Ethereum uses it: hashlib has only its successor, SHA-3."""
from __future__ import annotations

_BLOCK = 136  # bytes that are absorbed before a permutation
_LANE = 2**64 - 1


def _offsets() -> list[int]:
    offsets, x, y = [0] * 25, 1, 0
    for step in range(24):
        offsets[x + 5 * y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return offsets


def _constants() -> list[int]:
    constants, register = [0] * 24, 1
    for number in range(24):
        for power in range(7):
            constants[number] |= (register & 1) << ((1 << power) - 1)
            register = register << 1 ^ (0x171 if register & 0x80 else 0)
    return constants


_OFFSETS, _CONSTANTS = _offsets(), _constants()


def _left(lane: int, count: int) -> int:
    return (lane << count | lane >> (64 - count)) & _LANE


def _permuted(lanes: list[int]) -> list[int]:
    for constant in _CONSTANTS:
        column = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
                  for x in range(5)]
        moved = [0] * 25
        for at, lane in enumerate(lanes):
            x, y = at % 5, at // 5
            lane ^= column[(x + 4) % 5] ^ _left(column[(x + 1) % 5], 1)
            moved[y + 5 * ((2 * x + 3 * y) % 5)] = _left(lane, _OFFSETS[at])
        lanes = [moved[y + x] ^ (~moved[y + (x + 1) % 5] & moved[y + (x + 2) % 5])
                 for y in range(0, 25, 5) for x in range(5)]
        lanes[0] ^= constant
    return lanes


def keccak_256(data: bytes) -> bytes:
    """The 32-byte hash of data of any length."""
    padded = bytearray(data + bytes(_BLOCK - len(data) % _BLOCK))
    padded[len(data)] ^= 1
    padded[-1] ^= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), _BLOCK):
        for number in range(_BLOCK // 8):
            at = start + 8 * number
            lanes[number] ^= int.from_bytes(padded[at:at + 8], "little")
        lanes = _permuted(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])
