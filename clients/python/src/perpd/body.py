"""body.py - the bodies of signed requests as bytes (wire.md W1, W3), by the tables of _wire_gen."""
from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Any, ClassVar, NamedTuple, TypeVar
from uuid import UUID

Made = TypeVar("Made", bound="Body")


class PortfolioId(NamedTuple):
    """An account, one of its subaccounts, one of that one's portfolios."""
    account_id: int
    subaccount_index: int
    portfolio_index: int


class Codec(NamedTuple):
    """How a field is packed: `width` values of struct, made and read by the two functions. The
    width 0 is of what follows the fixed part; `counts` says that the field is that one's length."""
    width: int
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    counts: bool = False


Fields = tuple[tuple[str, Codec], ...]


class TypedField(NamedTuple):
    """A field as typed data shows it: `size` None is of what a length before it counts; `type` is
    that of EIP-712, and empty where there is none."""
    name: str
    kind: str
    type: str
    offset: int
    size: int | None
    names: tuple[str, ...] = ()


def _one(encode: Callable[[Any], object], decode: Callable[[Any], object]) -> Codec:
    def encoded(value: Any) -> tuple[object]:
        return (encode(value),)

    def decoded(values: Sequence[Any]) -> object:
        return decode(values[0])
    return Codec(1, encoded, decoded)


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"an integer is needed, not {value!r}")
    return value


def _count(values: Sequence[Any]) -> int:
    return int(values[0])


def _alone(count: int) -> tuple[int]:
    return (count,)


def _flag(value: object) -> int:
    if not isinstance(value, bool):
        raise TypeError(f"True or False is needed, not {value!r}")
    return int(value)


def _bytes_of_id(value: UUID) -> bytes:
    return value.bytes


def _id_of_bytes(data: bytes) -> UUID:
    return UUID(bytes=data)


def _portfolio(values: Sequence[int]) -> PortfolioId:
    return PortfolioId(*values)


INTEGER = _one(_integer, int)
BOOL = _one(_flag, bool)
ID = _one(_bytes_of_id, _id_of_bytes)
LENGTH = Codec(1, _alone, _count, counts=True)
PORTFOLIO = Codec(3, tuple, _portfolio)
TAIL = Codec(0, bytes, bytes)


def bytes_of(size: int) -> Codec:
    """The codec of exactly so many bytes."""
    def encode(data: bytes) -> bytes:
        if len(data) != size:
            raise ValueError(f"{size} bytes are needed, not {len(data)}")
        return bytes(data)
    return _one(encode, bytes)


def text_of(size: int) -> Codec:
    """The codec of a text of at most so many bytes of UTF-8."""
    def encode(text: str) -> bytes:
        data = text.encode()
        if len(data) > size or b"\0" in data:
            raise ValueError(f"a text of at most {size} bytes, none of them zero, is needed")
        return data
    return _one(encode, lambda data: data.rstrip(b"\0").decode())


def enum_of(kind: type[IntEnum]) -> Codec:
    """The codec of an enum: its number."""
    return _one(lambda value: int(kind(value)), kind)


def items_of(kind: type[Body]) -> Codec:
    """The codec of items of one layout, the tail of a body."""
    size = kind.LAYOUT.size

    def decode(data: Sequence[Any]) -> tuple[Body, ...]:
        return tuple(kind.unpack(bytes(data[at:at + size])) for at in range(0, len(data), size))

    def encode(items: Sequence[Body]) -> bytes:
        return b"".join(item.pack() for item in items)
    return Codec(0, encode, decode)


@dataclass(frozen=True)
class Body:
    """A request's body: its fields as attributes, its bytes by pack and unpack."""
    CODE: ClassVar[int]
    PATH: ClassVar[str]
    NAME: ClassVar[str]
    LAYOUT: ClassVar[Struct]
    FIELDS: ClassVar[Fields] = ()

    def pack(self) -> bytes:
        """The bytes; ValueError when a field does not fit, TypeError when it is of another type."""
        tail, count = b"", 0
        for name, codec in self.FIELDS:
            if codec.width == 0:
                value = getattr(self, name)
                tail, count = bytes(codec.encode(value)), len(value)
        values: list[Any] = []
        for name, codec in self.FIELDS:
            if codec.width:
                values += codec.encode(count if codec.counts else getattr(self, name))
        try:
            data = self.LAYOUT.pack(*values) + tail
        except struct.error as error:
            raise ValueError(f"{self.NAME}: {error}") from None
        return data + bytes(-len(data) % 8)

    @classmethod
    def unpack(cls: type[Made], data: bytes) -> Made:
        """The body of these bytes; ValueError unless they are exactly what pack makes."""
        size = cls.LAYOUT.size
        if len(data) < size:
            raise ValueError(f"{cls.NAME}: {len(data)} bytes are too few")
        values = list(cls.LAYOUT.unpack_from(data))
        members: dict[str, Any] = {}
        count = len(data) - size
        for name, codec in cls.FIELDS:
            taken, values = values[:codec.width], values[codec.width:]
            if codec.counts:
                count = codec.decode(taken)
            elif codec.width:
                members[name] = codec.decode(taken)
            else:
                members[name] = codec.decode(data[size:size + count] if codec is TAIL
                                             else data[size:])
        made = cls(**members)
        if made.pack() != data:
            raise ValueError(f"{cls.NAME}: a pad or a length is wrong")
        return made
