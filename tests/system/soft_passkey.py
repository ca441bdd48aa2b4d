"""soft_passkey.py - an authenticator and its browser in software: the passkey of W4.

The key is OpenSSL's through ctypes; client data, authenticator data and r || s are made here.
"""
import base64
import ctypes
import hashlib
import json
import os

from client import CREATE_ACCOUNT, PASSKEY, PATHS, b64

RP_ID = "perps.example"
ORIGIN = "https://app.perps.example"
OPTIONS = (f"--exchange.passkey_rp_id={RP_ID}",
           f"--exchange.passkey_origins=https://{RP_ID},{ORIGIN}")
UP, UV = 1, 4
CREATE_PASSKEY_ACCOUNT = 12
PATHS[CREATE_PASSKEY_ACCOUNT] = PATHS[CREATE_ACCOUNT]

_crypto = ctypes.CDLL("libcrypto.so.3")
for _name in ("EC_KEY_new_by_curve_name", "EC_KEY_get0_group", "EC_KEY_get0_public_key"):
    getattr(_crypto, _name).restype = ctypes.c_void_p
PRIME256V1, COMPRESSED = 415, 2


def _integer(der, at):
    """An INTEGER of DER as 32 bytes, and where the next begins."""
    size = der[at + 1]
    value = int.from_bytes(der[at + 2:at + 2 + size], "big")
    return value.to_bytes(32, "big"), at + 2 + size


class SoftPasskey:
    signature_type = PASSKEY

    def __init__(self, credential_id=None):
        self.credential_id = os.urandom(20) if credential_id is None else credential_id
        self.sign_count = 0
        self._key = ctypes.c_void_p(_crypto.EC_KEY_new_by_curve_name(PRIME256V1))
        assert _crypto.EC_KEY_generate_key(self._key) == 1
        public = ctypes.create_string_buffer(33)
        size = _crypto.EC_POINT_point2oct(
            ctypes.c_void_p(_crypto.EC_KEY_get0_group(self._key)),
            ctypes.c_void_p(_crypto.EC_KEY_get0_public_key(self._key)), COMPRESSED, public,
            ctypes.c_size_t(33), None)
        assert size == 33
        self.public = public.raw

    def sign_bytes(self, message):
        """ES256 over the message as r || s; s is high or low as it comes."""
        der, size = ctypes.create_string_buffer(80), ctypes.c_uint(80)
        digest = hashlib.sha256(message).digest()
        assert _crypto.ECDSA_sign(0, digest, 32, der, ctypes.byref(size), self._key) == 1
        r, at = _integer(der.raw, 2)
        return r + _integer(der.raw, at)[0]

    def client_data(self, payload, **changes):
        challenge = base64.urlsafe_b64encode(hashlib.sha256(payload).digest()).rstrip(b"=")
        data = {"type": "webauthn.get", "challenge": challenge.decode(), "origin": ORIGIN,
                "crossOrigin": False, "other_keys_can_be_added_here": "do not compare", **changes}
        return json.dumps(data).encode()

    def authenticator_data(self, rp_id=RP_ID, flags=UP | UV):
        self.sign_count += 1
        return (hashlib.sha256(rp_id.encode()).digest() + bytes([flags])
                + self.sign_count.to_bytes(4, "big"))

    def envelope(self, payload, data=None, client=None, signature=None, public=True, **more):
        """The body of a request; each part may be another than the good one."""
        data = self.authenticator_data() if data is None else data
        client = self.client_data(payload) if client is None else client
        if signature is None:
            signature = self.sign_bytes(data + hashlib.sha256(client).digest())
        parts = {"payload": b64(payload), "signature": b64(signature),
                 "credential_id": b64(self.credential_id), "authenticator_data": b64(data),
                 "client_data_json": b64(client), **more}
        if public:
            parts.setdefault("public_key", b64(self.public))
        return json.dumps(parts).encode()
