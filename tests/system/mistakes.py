"""mistakes.py - a request for each usual mistake of a client that signs, made from wire.md W1 to W5
and the usual libraries' habits alone: what is sent, and the mistakes that it shows.

made(...) gives (name, mistakes, envelope). An envelope is what is POSTed as JSON.
"""
import base64
import hashlib
import json
import os
import struct
import uuid

from client import (CREATE_SESSION, DEPOSIT, PLACE_LIMIT, b64, deposit_body, header, high_s,
                    limit_body, new_id, session_body)
from eip712 import eip712_digest, eip712_domain, eip712_struct, keccak256

P = 2**256 - 2**32 - 977  # the field of secp256k1


def uncompressed(key):
    x = int.from_bytes(key[1:], "big")
    y = pow(x**3 + 7, (P + 1) // 4, P)
    y = y if y % 2 == key[0] % 2 else P - y
    return b"\4" + x.to_bytes(32, "big") + y.to_bytes(32, "big")


def der(signature):
    def integer(raw):
        raw = raw.lstrip(b"\0")
        raw = b"\0" + raw if raw[0] > 127 else raw
        return b"\2" + bytes([len(raw)]) + raw
    parts = integer(signature[:32]) + integer(signature[32:])
    return b"\x30" + bytes([len(parts)]) + parts


def personal(text):
    return keccak256(b"\x19Ethereum Signed Message:\n" + str(len(text)).encode() + text)


def envelope(payload, key, signature):
    return {"payload": b64(payload), "public_key": b64(key), "signature": b64(signature)}


def url_safe(text):
    return text.replace("+", "-").replace("/", "_")


def ed25519_cases(key, account):
    """Orders of an Ed25519 session; `expiry` is a time, so that its unit can be wrong."""
    def order(expiry, request_id=None, big=False):
        head = header(PLACE_LIMIT, 0)
        body = limit_body(account, 900_000, 20, expiry=expiry)
        if big:
            body = struct.pack(">QIIQqQBBBBHH", account, 0, 0, 900_000, 20, expiry, 0, 0, 0, 0, 1,
                               0)
        return head + (request_id or new_id()) + body

    at = 1_900_000_000_000_000_000
    payload = order(at)
    text, hexed = b64(payload).encode(), payload.hex().encode()
    packed = payload[:67] + payload[68:70]  # without the pads of the body
    signed = {
        "base64 text": (text, {"base64_signed"}),
        "hex": (hexed, {"hex_signed"}),
        "upper hex": (hexed.upper(), {"hex_signed"}),
        "0x hex": (b"0x" + hexed, {"hex_signed"}),
        "SHA-256": (hashlib.sha256(payload).digest(), {"hash_signed"}),
        "SHA-256 in hex": (hashlib.sha256(payload).hexdigest().encode(), {"hash_signed"}),
        "SHA-512": (hashlib.sha512(payload).digest(), {"hash_signed"}),
        "Keccak": (keccak256(payload), {"hash_signed"}),
        "no header": (payload[8:], {"header_missing"}),
        "body alone": (payload[24:], {"header_missing"}),
        "no last pad": (payload[:70], {"padding_missing"}),
        "packed": (packed, {"padding_missing"}),
        "header packed too": (packed[:4] + packed[8:], {"padding_missing"}),
        "big-endian": (order(at, payload[8:24], True), {"big_endian"}),
        "big-endian code": (payload[:2] + struct.pack(">H", PLACE_LIMIT) +
                            order(at, payload[8:24], True)[4:], {"big_endian"}),
        "id as text": (payload[:8] + str(uuid.UUID(bytes=payload[8:24])).encode() + payload[24:],
                       {"id_as_text"}),
        "milliseconds signed": (order(at // 10**6, payload[8:24]), {"time_unit"}),
        "seconds signed": (order(at // 10**9, payload[8:24]), {"time_unit"}),
    }
    for name, (message, mistakes) in signed.items():
        yield name, mistakes, True, envelope(payload, key.public, key.sign(message))
    until_canceled = order(2**64 - 1)  # 0xff: its text differs between the alphabets
    other = url_safe(b64(until_canceled))
    yield ("base64 text, URL-safe", {"base64_signed", "url_safe_base64"}, True,
           envelope(until_canceled, key.public, key.sign(other.encode())))
    credit = header(DEPOSIT, 0) + new_id() + deposit_body(account, 1_000_000)
    yield ("an operator's payload alone", {"operator_domain"}, True,
           envelope(credit, key.public, key.sign(credit)))

    # What the payload shows by itself, rightly signed.
    for name, mistakes, sent in (
            ("id of version 4", {"id_v4"}, order(at, uuid.uuid4().bytes)),
            ("id of seconds", {"time_unit"}, order(at, new_id(1_900_000_000))),
            ("expiry in ms", {"time_unit"}, order(at // 10**6)),
            ("expiry in s", {"time_unit"}, order(at // 10**9)),
            ("big-endian account", {"big_endian"}, order(at, None, True)),
            ("an id of text", {"id_as_text"}, payload[:8] + str(
                uuid.UUID(bytes=payload[8:24])).encode() + payload[24:] + bytes(4)),
            ("no Header", {"header_missing"}, payload[8:]),
            ("no pads", {"padding_missing"}, packed)):
        yield name, mistakes, False, envelope(sent, key.public, key.sign(sent))
    good = envelope(until_canceled, key.public, key.sign(until_canceled))
    yield "URL-safe payload", {"url_safe_base64"}, False, {**good, "payload": other}
    yield "no =", {"unpadded_base64"}, False, {**good, "public_key": b64(key.public).rstrip("=")}


def secp256k1_cases(key, account, salt):
    """Sessions asked for by a Secp256k1 master key."""
    payload = header(CREATE_SESSION, 1) + new_id() + session_body(account, os.urandom(32))
    digest = eip712_digest(payload, salt)
    good = key.sign_digest(digest)
    struct_hash, prefix = eip712_struct(payload), b"\x19\x01"

    def domain(kind, *words):
        return keccak256(keccak256(kind) + keccak256(b"Perpetuals") + keccak256(b"1") +
                         b"".join(words))

    chain = (1).to_bytes(32, "big")
    name_version = b"EIP712Domain(string name,string version"
    digests = {
        "salt of zeros": (keccak256(prefix + eip712_domain(bytes(32)) + struct_hash),
                          {"wrong_salt"}),
        "salt of the vectors": (keccak256(prefix + eip712_domain(bytes(range(32))) + struct_hash),
                                {"wrong_salt"}),
        "salt backwards": (keccak256(prefix + eip712_domain(salt[::-1]) + struct_hash),
                           {"wrong_salt"}),
        "no salt": (keccak256(prefix + domain(name_version + b")") + struct_hash), {"wrong_salt"}),
        "chainId": (keccak256(prefix + domain(name_version + b",uint256 chainId)", chain) +
                              struct_hash), {"wrong_salt"}),
        "chainId and salt": (keccak256(prefix + domain(
            name_version + b",uint256 chainId,bytes32 salt)", chain, salt) + struct_hash),
            {"wrong_salt"}),
        "struct alone": (struct_hash, {"domain_missing"}),
        "personal_sign of the payload": (personal(payload), {"personal_sign"}),
        "personal_sign of Base64": (personal(b64(payload).encode()), {"personal_sign"}),
        "personal_sign of hex": (personal(b"0x" + payload.hex().encode()), {"personal_sign"}),
        "personal_sign of the digest": (personal(digest), {"personal_sign"}),
        "personal_sign of its hex": (personal(b"0x" + digest.hex().encode()), {"personal_sign"}),
        "Keccak of the payload": (keccak256(payload), {"hash_signed"}),
        "SHA-256 of the payload": (hashlib.sha256(payload).digest(), {"hash_signed"}),
        "the digest hashed again": (keccak256(digest), {"hash_signed"}),
        "Keccak of Base64": (keccak256(b64(payload).encode()), {"base64_signed"}),
        "SHA-256 of hex": (hashlib.sha256(payload.hex().encode()).digest(), {"hex_signed"}),
    }
    for name, (signed, mistakes) in digests.items():
        yield name, mistakes, True, envelope(payload, key.public, key.sign_digest(signed))
    wallet = key.sign_digest(personal(b64(payload).encode())) + b"\x1b"
    yield "65 bytes", {"wallet_signature"}, True, envelope(payload, key.public, good + b"\x1c")
    yield ("65 bytes of personal_sign", {"wallet_signature", "personal_sign"}, True,
           envelope(payload, key.public, wallet))
    yield "DER", {"der_signature"}, True, envelope(payload, key.public, der(good))
    yield "high s", {"high_s"}, True, envelope(payload, key.public, high_s(good))
    yield ("DER, high s", {"der_signature", "high_s"}, True,
           envelope(payload, key.public, der(high_s(good))))
    point = uncompressed(key.public)
    yield "uncompressed", {"uncompressed_key"}, True, envelope(payload, point, good)
    yield "uncompressed, no 4", {"uncompressed_key"}, True, envelope(payload, point[1:], good)
    yield ("address", {"address_as_key"}, False,
           envelope(payload, keccak256(point[1:])[12:], good))


def passkey_cases(account):
    """A browser was given the payload as challenge, and the signature in DER, as it makes it."""
    payload = header(CREATE_SESSION, 2) + new_id() + session_body(account, os.urandom(32))
    challenge = base64.urlsafe_b64encode(payload).decode().rstrip("=")
    client_data = json.dumps({"type": "webauthn.get", "challenge": challenge,
                              "origin": "http://localhost"}).encode()
    proof = {"credential_id": b64(bytes(16)), "authenticator_data": b64(bytes(37)),
             "client_data_json": b64(client_data)}
    yield ("challenge of the payload", {"payload_challenge"}, True,
           {"payload": b64(payload), "signature": b64(bytes([1]) * 64), **proof})
    yield ("DER of a passkey", {"payload_challenge", "der_signature"}, True,
           {"payload": b64(payload), "signature": b64(der(bytes([1]) * 64)), **proof})


def made(session, master, account, salt):
    yield from ed25519_cases(session, account)
    yield from secp256k1_cases(master, account, salt)
    yield from passkey_cases(account)
