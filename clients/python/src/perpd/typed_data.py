"""typed_data.py - what a master key signs: EIP-712 typed data, whose every member comes from the
bytes of the payload (wire.md W4)."""
from __future__ import annotations

import datetime
from typing import Any, NamedTuple, Union
from uuid import UUID

from ._wire_gen import REQUESTS, TYPED
from .amount import Amount
from .body import TypedField
from .ids import id_time_ms
from .keccak import keccak_256

_HEAD_BYTES, _BODY_AT = 8, 24
_MICRO = 6
_YEAR_10000_MS = 253_402_300_800_000
_WHOLE = 0xFFFFFFFF
_DOMAIN = (("name", "string"), ("version", "string"), ("salt", "bytes32"))
_PORTFOLIO = (("account_id", "uint64", 0, 8), ("subaccount_index", "uint32", 8, 12),
              ("portfolio_index", "uint32", 12, 16))

Value = Union[str, int, bool]


class Row(NamedTuple):
    """A member: integers and bytes as text in hexadecimal digits where `type` says so."""
    name: str
    type: str
    value: Value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _time_text(ms: int) -> str:
    if ms >= _YEAR_10000_MS:
        return str(ms)
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=ms)
    return moment.isoformat(timespec="milliseconds") + "Z"


def _value(field: TypedField, data: bytes) -> Value:
    kind, number = field.kind, _number(data)
    if kind == "bool":
        return number == 1
    if kind == "pin":
        return "whole account" if number == _WHOLE else f"subaccount {number}"
    if kind == "enum":
        return field.names[number] if number < len(field.names) else str(number)
    if kind == "amount":
        return f"{Amount(number, _MICRO)} USDC"
    if kind == "time":
        return "default" if number == 0 else _time_text(number // 1_000_000)
    if kind == "uuid":
        return str(UUID(bytes=data))
    if kind == "text":
        return data.rstrip(b"\0").decode()
    return "0x" + data.hex() if field.type in ("bytes", "address") else number


def _rows(field: TypedField, data: bytes) -> list[Row]:
    if field.kind != "portfolio":
        return [Row(_camel(field.name), field.type, _value(field, data))]
    before = "" if field.name == "portfolio_id" else field.name + "_"
    return [Row(_camel(before + name), kind, _number(data[start:end]))
            for name, kind, start, end in _PORTFOLIO]


def members_of(payload: bytes) -> list[Row]:
    """The members of a payload's typed data; ValueError for a request without typed data."""
    code = _number(payload[2:4])
    if code not in TYPED:
        raise ValueError(f"request {code} has no typed data: no master key signs it")
    request_id = UUID(bytes=payload[_HEAD_BYTES:_BODY_AT])
    rows, body = [Row("action", "string", REQUESTS[code].NAME)], payload[_BODY_AT:]
    length = 0
    for field in TYPED[code]:
        size = length if field.size is None else field.size
        data = body[field.offset:field.offset + size]
        if field.kind == "length":
            length = _number(data)
        else:
            rows += _rows(field, data)
    return [*rows, Row("requestId", "string", str(request_id)),
            Row("signedAt", "string", _time_text(id_time_ms(request_id))),
            Row("payload", "bytes", "0x" + payload.hex())]


def typed_data(payload: bytes, exchange_id: str) -> dict[str, Any]:
    """The document that eth_signTypedData_v4 takes, for the exchange of this id (hexadecimal)."""
    rows = members_of(payload)
    name = REQUESTS[_number(payload[2:4])].NAME
    kind = "".join(part.capitalize() for part in name.split("_"))
    return {
        "types": {"EIP712Domain": [{"name": member, "type": type_} for member, type_ in _DOMAIN],
                  kind: [{"name": row.name, "type": row.type} for row in rows]},
        "primaryType": kind,
        "domain": {"name": "Perpetuals", "version": "1", "salt": "0x" + exchange_id},
        "message": {row.name: row.value if isinstance(row.value, bool) else str(row.value)
                    for row in rows}}


def _word(kind: str, value: Any) -> bytes:
    if kind == "string":
        return keccak_256(str(value).encode())
    if kind == "bytes":
        return keccak_256(bytes.fromhex(str(value)[2:]))
    if kind in ("address", "bytes32"):
        return bytes.fromhex(str(value)[2:]).rjust(32, b"\0")
    return int(value).to_bytes(32, "big")


def hash_struct(typed: dict[str, Any], name: str, values: dict[str, Any]) -> bytes:
    """EIP-712's hashStruct of one of the document's types."""
    members = [(one["type"], one["name"]) for one in typed["types"][name]]
    text = f"{name}({','.join(' '.join(one) for one in members)})"
    return keccak_256(keccak_256(text.encode()) + b"".join(
        _word(kind, values[member]) for kind, member in members))


def digest_of(typed: dict[str, Any]) -> bytes:
    """The 32 bytes that a signature of the document signs."""
    return keccak_256(b"\x19\x01" + hash_struct(typed, "EIP712Domain", typed["domain"]) +
                      hash_struct(typed, typed["primaryType"], typed["message"]))
