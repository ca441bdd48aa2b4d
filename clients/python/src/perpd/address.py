"""address.py - addresses that withdrawals go to, and the checksum in their spelling (EIP-55)."""
from __future__ import annotations

import re
from typing import Union

from .errors import WrongChecksum

AddressLike = Union[str, bytes]
_FORM = re.compile(r"(?:0x)?([0-9a-fA-F]{40})")
_BLOCK = 136  # bytes of Keccak-256 before a permutation
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


def keccak_256(data: bytes) -> bytes:
    """The hash of less than 136 bytes, as Ethereum uses it: hashlib has only its successor."""
    if len(data) >= _BLOCK:
        raise ValueError("longer than one block")
    block = bytearray(data.ljust(_BLOCK, b"\0") + bytes(200 - _BLOCK))
    block[len(data)] ^= 1
    block[_BLOCK - 1] ^= 0x80
    lanes = [int.from_bytes(block[at:at + 8], "little") for at in range(0, 200, 8)]
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
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def address_text(address: bytes) -> str:
    """The spelling of EIP-55: a letter is large where its digit of the hash is above 7."""
    if len(address) != 20:
        raise ValueError(f"an address has 20 bytes, not {len(address)}")
    digits = address.hex()
    digest = keccak_256(digits.encode()).hex()
    return "0x" + "".join(digit.upper() if int(mark, 16) > 7 else digit
                          for digit, mark in zip(digits, digest))


def address_of(value: AddressLike) -> bytes:
    """The 20 bytes of an address: bytes, or 40 hexadecimal digits with 0x or without. Digits in
    both cases carry a checksum; another one than theirs is WrongChecksum. ValueError for a text of
    another form."""
    if isinstance(value, bytes):
        if len(value) != 20:
            raise ValueError(f"an address has 20 bytes, not {len(value)}")
        return value
    match = _FORM.fullmatch(value)
    if not match:
        raise ValueError(f"{value!r} is no address: 40 hexadecimal digits")
    digits, address = match[1], bytes.fromhex(match[1])
    right = address_text(address)
    if digits not in (digits.lower(), digits.upper(), right[2:]):
        raise WrongChecksum(value, right)
    return address
