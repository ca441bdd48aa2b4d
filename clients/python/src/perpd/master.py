"""master.py - master keys on secp256k1: they open accounts and let session keys and API keys in."""
from __future__ import annotations

import base64
import importlib
import os
import warnings
from collections.abc import Callable

from . import secp256k1
from .sign import Secret, parts_of_key
from .typed_data import digest_of, typed_data


class SlowMasterWarning(UserWarning):
    """Neither coincurve nor cryptography is installed: the built-in secp256k1 is slow and not
    constant time. `pip install perpd[fast]` brings coincurve."""


def _backend(secret: bytes) -> tuple[Callable[[bytes], bytes], str]:
    """The function that signs a digest, and the library that is used."""
    try:
        key = importlib.import_module("coincurve").PrivateKey(secret)
        return lambda digest: bytes(key.sign_recoverable(digest, hasher=None)[:64]), "coincurve"
    except ImportError:
        pass
    try:
        curves = importlib.import_module("cryptography.hazmat.primitives.asymmetric.ec")
        utils = importlib.import_module("cryptography.hazmat.primitives.asymmetric.utils")
        hashes = importlib.import_module("cryptography.hazmat.primitives.hashes")
    except ImportError:
        warnings.warn(SlowMasterWarning(SlowMasterWarning.__doc__), stacklevel=3)
        return lambda digest: secp256k1.sign(secret, digest), "built-in"
    held = curves.derive_private_key(int.from_bytes(secret, "big"), curves.SECP256K1())
    method = curves.ECDSA(utils.Prehashed(hashes.SHA256()))

    def sign(digest: bytes) -> bytes:
        r, s = utils.decode_dss_signature(held.sign(digest, method))
        return secp256k1.low_s(r, s)
    return sign, "cryptography"


class MasterKey:
    """A key on secp256k1 that owns an account. It signs EIP-712 typed data, which names the
    exchange, `exchange_id` (hex). The secret is in no repr, log or pickle."""
    signature_type = 1
    __slots__ = ("public", "library", "exchange_id", "_sign")

    def __init__(self, secret: bytes, exchange_id: str) -> None:
        """ValueError for bytes that are no key of secp256k1, or no id of an exchange."""
        if len(bytes.fromhex(exchange_id)) != 32:
            raise ValueError("an exchange's id has 32 bytes")
        self.exchange_id = exchange_id
        self.public = secp256k1.public_key(secret)
        self._sign, self.library = _backend(secret)

    @classmethod
    def generate(cls, exchange_id: str) -> MasterKey:
        return cls(os.urandom(32), exchange_id)

    @classmethod
    def load(cls, secret: Secret, exchange_id: str | None = None) -> MasterKey:
        """From a file as `perp keys new secp256k1` writes it, from `env:NAME`, or from a function:
        the Base64 of the secret, alone or after `secret = `. `exchange = ` binds the key; without
        that line `exchange_id` is needed."""
        data, bound = parts_of_key(secret)
        exchange = bound or exchange_id
        if exchange is None or exchange_id not in (None, exchange):
            raise ValueError("a master key signs for one exchange, and this is none or another")
        return cls(data, exchange)

    def sign(self, payload: bytes) -> bytes:
        """The 64-byte signature of a payload; ValueError for one that no master key signs."""
        return self._sign(digest_of(typed_data(payload, self.exchange_id)))

    def __repr__(self) -> str:
        return f"MasterKey(public={base64.b64encode(self.public).decode()!r})"

    def __reduce__(self) -> str:
        raise TypeError("a MasterKey is not pickled")
