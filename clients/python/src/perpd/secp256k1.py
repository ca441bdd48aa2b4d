"""secp256k1.py - ECDSA of master keys in plain Python (RFC 6979), for machines without coincurve
and cryptography. It is not constant time, so master.py warns when it is used.
"""
from __future__ import annotations

import hashlib
import hmac

_P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_BASE = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
         0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)

Point = tuple[int, int]
Wide = tuple[int, int, int]  # Jacobian coordinates: x / z^2, y / z^3
_NONE: Wide = (1, 1, 0)


def _double(point: Wide) -> Wide:
    x, y, z = point
    square = y * y % _P
    s, m = 4 * x * square % _P, 3 * x * x % _P
    x3 = (m * m - 2 * s) % _P
    return x3, (m * (s - x3) - 8 * square * square) % _P, 2 * y * z % _P


def _add(point: Wide, other: Point) -> Wide:
    x, y, z = point
    if z == 0:
        return other[0], other[1], 1
    z2 = z * z % _P
    h, r = (other[0] * z2 - x) % _P, (other[1] * z2 * z - y) % _P
    if h == 0:
        return _double(point) if r == 0 else _NONE
    h2 = h * h % _P
    h3, v = h * h2 % _P, x * h2 % _P
    x3 = (r * r - h3 - 2 * v) % _P
    return x3, (r * (v - x3) - y * h3) % _P, z * h % _P


def _times(count: int, point: Point) -> Wide:
    result = _NONE
    for bit in range(count.bit_length() - 1, -1, -1):
        result = _double(result)
        if count >> bit & 1:
            result = _add(result, point)
    return result


def _narrow(point: Wide) -> Point | None:
    if point[2] == 0:
        return None
    inverse = pow(point[2], -1, _P)
    return point[0] * inverse**2 % _P, point[1] * inverse**3 % _P


def _decode(public: bytes) -> Point | None:
    if len(public) != 33 or public[0] not in (2, 3):
        return None
    x = int.from_bytes(public[1:], "big")
    square = (x * x * x + 7) % _P
    y = pow(square, (_P + 1) // 4, _P)
    if x >= _P or y * y % _P != square:
        return None
    return x, y if y & 1 == public[0] & 1 else _P - y


def public_key(secret: bytes) -> bytes:
    """The 33 compressed bytes of a 32-byte secret; ValueError for one that is no key."""
    number = int.from_bytes(secret, "big")
    point = _narrow(_times(number, _BASE)) if 0 < number < N and len(secret) == 32 else None
    if point is None:
        raise ValueError("the secret is no key of secp256k1")
    return bytes([2 + (point[1] & 1)]) + point[0].to_bytes(32, "big")


def low_s(r: int, s: int) -> bytes:
    """r || s with the lower of the two values of s, as the exchange takes it alone."""
    return r.to_bytes(32, "big") + min(s, N - s).to_bytes(32, "big")


def sign(secret: bytes, digest: bytes) -> bytes:
    """The 64-byte signature of a 32-byte digest, the same one each time."""
    number, z = int.from_bytes(secret, "big"), int.from_bytes(digest, "big") % N
    tail = secret + z.to_bytes(32, "big")
    key, value = bytes(32), b"\1" * 32
    for mark in (b"\0", b"\1"):
        key = hmac.digest(key, value + mark + tail, hashlib.sha256)
        value = hmac.digest(key, value, hashlib.sha256)
    while True:
        value = hmac.digest(key, value, hashlib.sha256)
        k = int.from_bytes(value, "big")
        point = _narrow(_times(k, _BASE)) if 0 < k < N else None
        r = 0 if point is None else point[0] % N
        s = pow(k, -1, N) * (z + r * number) % N if r else 0
        if s:
            return low_s(r, s)
        key = hmac.digest(key, value + b"\0", hashlib.sha256)
        value = hmac.digest(key, value, hashlib.sha256)


def verify(public: bytes, digest: bytes, signature: bytes) -> bool:
    """Whether the signature is good; a high s is not."""
    key = _decode(public)
    r, s = (int.from_bytes(part, "big") for part in (signature[:32], signature[32:]))
    if key is None or len(signature) != 64 or not 0 < r < N or not 0 < s <= N // 2:
        return False
    inverse, z = pow(s, -1, N), int.from_bytes(digest, "big")
    ours, theirs = z * inverse % N, r * inverse % N
    first = _narrow(_times(ours, _BASE))
    sum_ = _times(theirs, key)
    point = _narrow(sum_ if first is None else _add(sum_, first))
    return point is not None and point[0] % N == r
