"""sign.py - session keys, where they come from, and the signed envelope of a request (W3, W4)."""
from __future__ import annotations

import base64
import importlib
import json
import os
import pathlib
import stat
import struct
import warnings
from collections.abc import Callable
from typing import Protocol, Union
from uuid import UUID

from . import ed25519
from ._wire_gen import HEADER_VERSION
from .body import Body

Secret = Union[str, pathlib.Path, Callable[[], str]]
SEED_BYTES = 32


class SlowSignerWarning(UserWarning):
    """Neither PyNaCl nor cryptography is installed: the built-in signer is slow and not constant
    time. `pip install perpd[fast]` brings PyNaCl."""


class Signer(Protocol):
    """What signs requests: a SessionKey, a MasterKey, or a device of one's own. The type is that of
    the header: 0 Ed25519, 1 secp256k1."""

    @property
    def public(self) -> bytes: ...

    @property
    def exchange_id(self) -> str | None: ...

    @property
    def signature_type(self) -> int: ...

    def sign(self, message: bytes, /) -> bytes: ...


def _backend(seed: bytes) -> tuple[bytes, Callable[[bytes], bytes], str]:
    """The public key, the function that signs, and the library that is used."""
    try:
        signing = importlib.import_module("nacl.signing").SigningKey(seed)
        return bytes(signing.verify_key), lambda m: bytes(signing.sign(m).signature), "PyNaCl"
    except ImportError:
        pass
    try:
        module = importlib.import_module(
            "cryptography.hazmat.primitives.asymmetric.ed25519")
        forms = importlib.import_module("cryptography.hazmat.primitives.serialization")
        key = module.Ed25519PrivateKey.from_private_bytes(seed)
        public = key.public_key().public_bytes(forms.Encoding.Raw, forms.PublicFormat.Raw)
        return bytes(public), lambda m: bytes(key.sign(m)), "cryptography"
    except ImportError:
        pass
    warnings.warn(SlowSignerWarning(SlowSignerWarning.__doc__), stacklevel=3)
    known = ed25519.public_key(seed)
    return known, lambda m: ed25519.sign(seed, known, m), "built-in"


class SessionKey:
    """An Ed25519 key that signs requests. The secret is in no repr, log or pickle. What it signs
    names no exchange; `exchange_id` (hex), where it is not None, is the only one it signs for."""
    signature_type = 0
    __slots__ = ("public", "library", "exchange_id", "_sign")

    def __init__(self, seed: bytes, exchange_id: str | None = None) -> None:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed has {SEED_BYTES} bytes")
        self.exchange_id = exchange_id
        self.public, self._sign, self.library = _backend(bytes(seed))

    @classmethod
    def generate(cls) -> SessionKey:
        return cls(os.urandom(SEED_BYTES))

    @classmethod
    def load(cls, secret: Secret) -> SessionKey:
        """From a file as `perp keys new ed25519` writes it, from `env:NAME`, or from a function:
        the Base64 of the seed, alone or after `secret = `; `exchange = ` binds the key."""
        return cls(*parts_of_key(secret))

    def sign(self, message: bytes) -> bytes:
        return self._sign(message)

    def __repr__(self) -> str:
        return f"SessionKey(public={base64.b64encode(self.public).decode()!r})"

    def __reduce__(self) -> str:
        raise TypeError("a SessionKey is not pickled")


def read_secret(source: Secret) -> str:
    """The text of a secret. A file must be open to nobody but its owner (PermissionError)."""
    if callable(source):
        return source()
    if isinstance(source, str) and source.startswith("env:"):
        try:
            return os.environ[source[4:]]
        except KeyError:
            raise KeyError(f"the environment has no {source[4:]}") from None
    path = pathlib.Path(source)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise PermissionError(f"{path} holds a secret and is open to others: chmod 600 {path}")
    return path.read_text()


def parts_of_key(source: Secret) -> tuple[bytes, str | None]:
    """The secret bytes and the exchange of a key file's text; ValueError for no Base64."""
    text = read_secret(source)
    parts = {name: value for name, equals, value in
             (line.partition(" = ") for line in text.splitlines()) if equals}
    try:
        data = base64.b64decode(parts.get("secret", text).strip(), validate=True)
    except ValueError:
        raise ValueError("the key is no Base64 of its secret") from None
    return data, parts.get("exchange")


def payload_of(body: Body, request_id: UUID, signature_type: int = 0) -> bytes:
    """Header, request id and body: what is signed. 0 is Ed25519."""
    head = struct.pack("<BBHI", HEADER_VERSION, signature_type, body.CODE, 0)
    return head + request_id.bytes + body.pack()


def envelope_of(payload: bytes, signer: Signer) -> bytes:
    """The JSON that is sent: payload, public key and signature in Base64."""
    parts = {"payload": payload, "public_key": signer.public, "signature": signer.sign(payload)}
    return json.dumps({name: base64.b64encode(part).decode()
                       for name, part in parts.items()}).encode()


def explain(payload: bytes, envelope: bytes) -> str:
    """For a signature that the exchange refuses: whether it is good here, and the bytes that were
    signed. So a wrong key is told apart from a wrong payload."""
    parts = {name: base64.b64decode(text) for name, text in json.loads(envelope).items()}
    good = ed25519.verify(parts["public_key"], payload, parts["signature"])
    rows = [f"{name:11} {part.hex()}" for name, part in
            (("header", payload[:8]), ("request_id", payload[8:24]), ("body", payload[24:]),
             ("public_key", parts["public_key"]))]
    verdict = ("the signature is good for these bytes under this key" if good else
               "the signature is not of these bytes under this key: the signer is at fault")
    return "\n".join([verdict, *rows])
