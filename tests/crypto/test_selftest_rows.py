#!/usr/bin/env python3
"""test_selftest_rows.py - the rows that src/crypto/ed25519_selftest.c calls made, computed again by
plain arithmetic of the curve: each has its bytes, and is good, or good but for one check.

    python3 test_selftest_rows.py BUILD
"""
import hashlib
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).parents[2] / "src" / "crypto" / "ed25519_selftest.c"
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # of -1
ONE = (0, 1)
PATTERN = bytes((i * 131 + (i >> 8) * 17 + 7) & 255 for i in range(4192))
# Both sides of each end of a block, the longest request, the longest message of an operator.
LENGTHS = (0, 72, 111, 112, 127, 128, 239, 240, 4144, 4192)


def add(a, b):
    k = D * a[0] * b[0] * a[1] * b[1] % P
    return ((a[0] * b[1] + b[0] * a[1]) * pow(1 + k, -1, P) % P,
            (a[1] * b[1] + a[0] * b[0]) * pow(1 - k, -1, P) % P)


def times(n, point):
    total = ONE
    while n:
        if n & 1:
            total = add(total, point)
        point, n = add(point, point), n >> 1
    return total


def point_of(y, sign):
    x2 = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * ROOT % P
    assert (x * x - x2) % P == 0
    return (P - x if x % 2 != sign else x, y)


def encode(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def hashed(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % L


BASE = point_of(4 * pow(5, -1, P) % P, 0)
EIGHT = point_of(int.from_bytes(bytes.fromhex(
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"), 0)
SMALL = [times(i, EIGHT) for i in range(8)]
SECRET = hashed(b"perpd self-test key")


def small_encodings():
    """The 14 encodings of small order: of seven y, two of them not below p, with both signs."""
    ys = [0, 1, SMALL[1][1], SMALL[3][1], P - 1, P, P + 1]
    found = []
    for y in ys:
        for sign in (0, 1):
            order = [i for i in range(8) if SMALL[i][1] == y % P
                     and (SMALL[i][0] & 1 == sign or SMALL[i][0] == 0)][0]
            found.append(((y | sign << 255).to_bytes(32, "little"), order))
    return found


def rows():
    key = times(SECRET, BASE)
    for n in LENGTHS:
        r = hashed(b"nonce", n.to_bytes(4, "little"))
        point = encode(times(r, BASE))
        h = hashed(point, encode(key), PATTERN[:n])
        yield n, True, encode(key), point + ((r + h * SECRET) % L).to_bytes(32, "little")
    mixed = add(key, EIGHT)
    for point, order in small_encodings():  # S B - h (key + EIGHT) is the point: - h EIGHT
        n = next(n for n in range(4192)
                 if -hashed(point, encode(mixed), PATTERN[:n]) % 8 == order)
        h = hashed(point, encode(mixed), PATTERN[:n])
        s = h * SECRET % L
        assert add(times(s, BASE), times(h, (P - mixed[0], mixed[1]))) == SMALL[order]
        yield n, False, encode(mixed), point + s.to_bytes(32, "little")
    for number, (small, order) in enumerate(small_encodings()):  # h times the key is the identity
        r = hashed(b"nonce of a small key", bytes([number]))
        point = encode(times(r, BASE))
        n = next(n for n in range(4192) if hashed(point, small, PATTERN[:n]) * order % 8 == 0)
        yield n, False, small, point + r.to_bytes(32, "little")
    for s in (L - 1, L, 2**252):
        point = encode(times(hashed(b"nonce S"), BASE))
        yield 72, False, encode(key), point + s.to_bytes(32, "little")


def main():
    table = SOURCE.read_text().split("} made[] = {")[1].split("};")[0]
    found = re.findall(r'\{ (\d+), (true|false),\s+"(\w{64})",\s+"(\w{64})"\s+"(\w{64})" \}', table)
    wanted = [(str(n), str(good).lower(), key.hex(), signature[:32].hex(), signature[32:].hex())
              for n, good, key, signature in rows()]
    assert len(wanted) == 41 and len({row[2:] for row in wanted}) == 41
    if found != wanted:
        sys.exit(f"{SOURCE.name}: {sum(a != b for a, b in zip(found, wanted))} rows differ, "
                 f"{len(found)} of {len(wanted)} are there")


if __name__ == "__main__":
    main()
