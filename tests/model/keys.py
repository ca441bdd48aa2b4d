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


def assertion(key):
    """The WebAuthn fields that a passkey's command ends with (journal.md, Record): the credential
    id of 1 to 256 bytes, authenticator data and client data. No count, no extension."""
    credential_id = hashlib.shake_256(key).digest(1 + key[31])
    return b"".join((len(credential_id).to_bytes(2, "little"), b"\x25\0\2\0\0\0", credential_id,
                     bytes(37), b"{}"))


def duplicate_account(key):
    """W5: the account of the duplicate set where no account is named."""
    digest = hashlib.blake2b(key, digest_size=32).digest()
    return int.from_bytes(digest[:8], "little") | 1 << 63
