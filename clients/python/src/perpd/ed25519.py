"""ed25519.py - Ed25519 in plain Python (RFC 8032), for machines with neither PyNaCl nor
cryptography. It is not constant time, so sign.py warns when it is used.
"""
from __future__ import annotations

import hashlib

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)  # of -1

Point = tuple[int, int, int, int]  # extended coordinates: x/z, y/z, z, x*y/z
_ZERO: Point = (0, 1, 1, 0)


def _add(a: Point, b: Point) -> Point:
    left, right = (a[1] - a[0]) * (b[1] - b[0]) % _P, (a[1] + a[0]) * (b[1] + b[0]) % _P
    t, z = 2 * a[3] * b[3] * _D % _P, 2 * a[2] * b[2] % _P
    e, f, g, h = right - left, z - t, z + t, right + left
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(count: int, point: Point) -> Point:
    result = _ZERO
    while count:
        if count & 1:
            result = _add(result, point)
        point = _add(point, point)
        count >>= 1
    return result


def _recover_x(y: int, sign: int) -> int | None:
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    return _P - x if x & 1 != sign else x


def _encode(point: Point) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _decode(data: bytes) -> Point | None:
    number = int.from_bytes(data, "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    x = _recover_x(y, sign) if y < _P else None
    return None if x is None else (x, y, 1, x * y % _P)


_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_BASE_X = _recover_x(_BASE_Y, 0)
assert _BASE_X is not None
_BASE: Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)


def _comb() -> list[list[Point]]:
    """Row i: the multiples 0 to 15 of 16 ** i times the base point."""
    rows: list[list[Point]] = []
    point = _BASE
    for _ in range(64):
        row = [_ZERO]
        for _ in range(15):
            row.append(_add(row[-1], point))
        rows.append(row)
        point = _add(row[-1], point)
    return rows


_ROWS: list[list[Point]] = []


def _times_base(count: int) -> Point:
    if not _ROWS:
        _ROWS.extend(_comb())
    result = _ZERO
    for row in _ROWS:
        result = _add(result, row[count & 15])
        count >>= 4
    return result


def _hash(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def _expand(seed: bytes) -> tuple[int, bytes]:
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | 1 << 254
    return scalar, digest[32:]


def public_key(seed: bytes) -> bytes:
    """The 32-byte public key of a 32-byte seed."""
    return _encode(_times_base(_expand(seed)[0]))


def sign(seed: bytes, public: bytes, message: bytes) -> bytes:
    """The 64-byte signature; `public` must be the seed's key."""
    scalar, prefix = _expand(seed)
    nonce = _hash(prefix, message) % _L
    point = _encode(_times_base(nonce))
    return point + ((nonce + _hash(point, public, message) * scalar) % _L).to_bytes(32, "little")


# y of the points whose order divides 8, without the sign of x.
_Y8 = int.from_bytes(bytes.fromhex(
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little")
_SMALL = frozenset((0, 1, _P - 1, _Y8, _P - _Y8))


def _is_small(data: bytes) -> bool:
    return (int.from_bytes(data, "little") & (1 << 255) - 1) % _P in _SMALL


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature is good by the five rules of signatures.md."""
    key = _decode(public)
    s = int.from_bytes(signature[32:], "little")
    if key is None or len(signature) != 64 or s >= _L:
        return False
    if _is_small(public) or _is_small(signature[:32]):
        return False
    h = _hash(signature[:32], public, message) % _L
    minus = (_P - key[0], key[1], 1, _P - key[3])
    return _encode(_add(_times_base(s), _times(h, minus))) == signature[:32]
