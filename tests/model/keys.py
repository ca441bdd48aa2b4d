"""Public keys for the model's accounts: Ed25519 points of full order and compressed secp256k1
points, made with plain integers. Nothing is signed: the pipe does not look at signatures."""
import hashlib
from functools import lru_cache

P = 2**255 - 19
D = -121665 * pow(121666, P - 2, P) % P
BASE_Y = 4 * pow(5, P - 2, P) % P
SECP_P = 2**256 - 2**32 - 977


def _recover_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return P - x if x & 1 != sign else x


BASE = (_recover_x(BASE_Y, 0), BASE_Y)


def _add(one, other):
    x1, y1 = one
    x2, y2 = other
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P)
    return x % P, y % P


def _times(scalar, point):
    total = (0, 1)
    while scalar:
        if scalar & 1:
            total = _add(total, point)
        point = _add(point, point)
        scalar >>= 1
    return total


def ed25519_keys():
    """Public keys without end: multiples of 8 of the base point, as clamping makes the scalars."""
    step = _times(8, BASE)
    point = _times(8 * 1000003, BASE)
    while True:
        point = _add(point, step)
        yield (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


@lru_cache(None)
def secp256k1_public(number):
    """A compressed point: the first x at or after a hash of `number` that lies on the curve."""
    x = int.from_bytes(hashlib.sha256(b"model %d" % number).digest(), "big") % SECP_P
    while pow(x * x * x + 7, (SECP_P - 1) // 2, SECP_P) != 1:
        x += 1
    return b"\x02" + x.to_bytes(32, "big")


def is_passkey(key):
    """Whether a master key is taken as one of P-256: one in four. The pipe judges no curve."""
    return len(key) == 33 and key[32] % 4 == 0


P256_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
P256_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B


def _is_square(value, prime):
    return value % prime == 0 or pow(value, (prime - 1) // 2, prime) == 1


def is_point(key, passkey):
    """Whether the 33 bytes are a compressed point of P-256, or of secp256k1."""
    x = int.from_bytes(key[1:], "big")
    if key[0] not in (2, 3):
        return False
    if passkey:
        return x < P256_P and _is_square(x * x * x - 3 * x + P256_B, P256_P)
    return x < SECP_P and _is_square(x * x * x + 7, SECP_P)


@lru_cache(None)
def credential_id(key):
    """Of a passkey: 1 to 256 bytes."""
    return hashlib.shake_256(key).digest(1 + key[31])


def assertion(key):
    """The WebAuthn fields that a passkey's command ends with (journal.md, Record): the credential
    id of 1 to 256 bytes, authenticator data and client data. No count, no extension."""
    name = credential_id(key)
    return b"".join((len(name).to_bytes(2, "little"), b"\x25\0\2\0\0\0", name, bytes(37), b"{}"))


def duplicate_account(key):
    """W5: the account of the duplicate set where no account is named."""
    digest = hashlib.blake2b(key, digest_size=32).digest()
    return int.from_bytes(digest[:8], "little") | 1 << 63
