"""address.py - addresses that withdrawals go to, and the checksum in their spelling (EIP-55)."""
from __future__ import annotations

import re
from typing import Union

from .errors import WrongChecksum
from .keccak import keccak_256

AddressLike = Union[str, bytes]
_FORM = re.compile(r"(?:0x)?([0-9a-fA-F]{40})")


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
