"""test_signatures.py - what a signature must be, both curves, and the data that a wallet signs.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import json
import sys

import client
import eip712
from client import (CREATE_SESSION, JSON, PATHS, PLACE_LIMIT, Ed25519Key, Secp256k1Key, envelope,
                    high_s, limit_body, new_id, payload_of, request_bytes, session_body)
from harness import Suite, Table
from world import run

suite = Suite("signatures")


@suite.case
def secp256k1_signatures(world):
    """W4: low s only, over the EIP-712 digest of this exchange's domain."""
    table = Table()
    exchange, account = world.exchange, world.account(1)

    def post(signature_of, public=None, change=bytes):
        payload = payload_of(CREATE_SESSION, session_body(account.id, Ed25519Key().public),
                             account.master)
        signature = signature_of(payload)
        return exchange.raw(request_bytes(
            "POST", PATHS[CREATE_SESSION],
            envelope(change(payload), public or account.master.public, signature), [JSON]))

    def good(payload):
        return account.master.sign(payload, exchange.salt)

    made = {"session_id": ..., "expires_at": ...}
    table.success("low s", post(good), True, "session_created", **made)
    order = client.SECP256K1_ORDER.to_bytes(32, "big")
    rows = [
        ("high s", lambda payload: high_s(good(payload))),
        ("another domain's salt", lambda payload: account.master.sign(payload, bytes(32))),
        ("signed as raw bytes", lambda payload: account.master.sign_digest(
            client.keccak256(payload))),
        ("struct hash only", lambda payload: account.master.sign_digest(
            client.eip712_struct(payload))),
        ("another key", lambda payload: Secp256k1Key().sign(payload, exchange.salt)),
        ("zero", lambda payload: bytes(64)),
        ("r = 0", lambda payload: bytes(32) + good(payload)[32:]),
        ("s = 0", lambda payload: good(payload)[:32] + bytes(32)),
        ("r = n", lambda payload: order + good(payload)[32:]),
        ("s = n", lambda payload: good(payload)[:32] + order),
        ("all ones", lambda payload: b"\xff" * 64),
    ]
    for row, signature_of in rows:
        table.problem(row, post(signature_of), 401, "invalid_signature")
    table.problem("payload changed", post(good, change=lambda p: p[:-1] + b"\1"), 401,
                  "invalid_signature")
    public = account.master.public
    for row, other in (("the other y", bytes([public[0] ^ 1]) + public[1:]),
                       ("no point", b"\x02" + b"\xff" * 32),
                       ("prefix 4", b"\x04" + public[1:]),
                       ("prefix 0", b"\x00" + public[1:])):
        table.problem(row, post(good, public=other), 401, "invalid_signature")
    return table.wrong


@suite.case
def ed25519_signatures(world):
    """W4: verdicts of crypto_sign_verify_detached; small-order and non-canonical refused."""
    table = Table()
    account = world.rich
    order = 2**252 + 27742317777372353535851937790883648493

    def post(change, public=None):
        payload = payload_of(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session)
        signature = change(account.session.sign(payload))
        return world.exchange.raw(request_bytes(
            "POST", PATHS[PLACE_LIMIT],
            envelope(payload, public or account.session.public, signature), [JSON]))

    def add_order(signature):
        s = int.from_bytes(signature[32:], "little") + order
        return signature[:32] + s.to_bytes(32, "little")

    table.problem("s + L", post(add_order), 401, "invalid_signature")
    table.problem("s = 0", post(lambda s: s[:32] + bytes(32)), 401, "invalid_signature")
    table.problem("zero", post(lambda s: bytes(64)), 401, "invalid_signature")
    identity = b"\1" + bytes(31)
    table.problem("the identity as key", post(lambda s: identity + bytes(32), identity), 401,
                  "invalid_signature")
    table.problem("a non-canonical key", post(bytes, b"\xee" + b"\xff" * 30 + b"\x7f"), 401,
                  "invalid_signature")
    return table.wrong


@suite.case
def typed_data(world):
    """J6, W4: the types a wallet signs, by code; any code that no Secp256k1 key signs: 404."""
    table = Table()
    exchange = world.exchange
    salt = "0x" + exchange.salt.hex()
    for code in eip712.EIP712:
        body = table.ok(f"{code}", exchange.get(f"/api/v1/eip712/{code}"))
        payload = client.header(code, 1) + new_id() + bytes(80)
        primary, members = eip712.eip712_members(payload)
        table.same(f"{code}", body, {
            "types": {"EIP712Domain": [{"name": "name", "type": "string"},
                                       {"name": "version", "type": "string"},
                                       {"name": "salt", "type": "bytes32"}],
                      primary: [{"name": name, "type": kind} for name, kind, _ in members]},
            "primaryType": primary,
            "domain": {"name": "Perpetuals", "version": "1", "salt": salt}})
    for code in (0, 3, 4, 12, 18, 21, 36, 1000, 1003, 2000, 65535, 65549, -13, "x", "13x", "0x0d"):
        response = exchange.get(f"/api/v1/eip712/{code}")
        table.problem(f"{code}", response, 404, "not_found")
    return table.wrong


@suite.case
def preview(world):
    """W4, W7: the filled typed data of a payload and its digest, as an encoder of its own."""
    table = Table()
    payload = client.header(15, 1) + new_id() + (1 << 53).to_bytes(8, "little")
    body = json.dumps({"payload": client.b64(payload)}).encode()
    request = client.request_bytes("POST", "/api/v1/eip712/preview", body, [client.JSON])
    shown = table.ok("preview", world.exchange.raw(request))
    _, members = eip712.eip712_members(payload)
    message = shown["typed_data"]["message"]
    table.same("members", list(message), [name for name, _, _ in members])
    table.same("an integer above 2^53 - 1", message["accountId"], str(1 << 53))
    table.same("payload", message["payload"], "0x" + payload.hex())
    table.same("digest", shown["digest"], client.eip712_digest(payload, world.exchange.salt).hex())
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite))
