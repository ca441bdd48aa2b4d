"""test_signatures.py - what a signature must be, both curves, and the data that a wallet signs.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import hashlib
import json
import struct
import sys

import client
import eip712
import mistakes
from client import (CREATE_SESSION, JSON, OCTETS, PATHS, PLACE_LIMIT, Ed25519Key, Secp256k1Key,
                    account_body, b64, envelope, high_s, limit_body, new_id, payload_of,
                    request_bytes, session_body)
from harness import Suite, Table
from soft_passkey import CREATE_PASSKEY_ACCOUNT, OPTIONS, SoftPasskey
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
    for code in (0, 3, 4, 12, 18, 21, 37, 1000, 1003, 2000, 65535, 65549, -13, "x", "13x", "0x0d"):
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


DEBUG = "/api/v1/debug/payload"
CHECKS = ["envelope", "header", "request_type", "body", "signer", "request_id", "clock",
          "signature_type", "signature", "key"]


def report(world, table, name, body, media=JSON):
    request = request_bytes("POST", DEBUG, body, [media])
    shown = table.ok(name, world.exchange.raw(request))
    table.same(f"{name}: checks", [check["check"] for check in shown["checks"]], CHECKS)
    return shown, {check["check"]: check for check in shown["checks"]}


@suite.case
def usual_mistakes(world):
    """W7: each usual mistake of a client that signs is named, and no other one."""
    table = Table()
    account = world.account(1)
    for name, wanted, proved, sent in mistakes.made(account.session, account.master, account.id,
                                                    world.exchange.salt):
        shown, checks = report(world, table, name, json.dumps(sent).encode())
        table.same(name, {row["mistake"] for row in shown["mistakes"]}, wanted)
        table.same(f"{name}: proved", shown["proved"], proved)
        table.same(f"{name}: signature", checks["signature"]["ok"],
                   not proved and wanted != {"address_as_key"})
        executed = world.exchange.raw(request_bytes("POST", PATHS[PLACE_LIMIT],
                                                    json.dumps(sent).encode(), [JSON]))
        table.true(f"{name}: is refused", executed.status in (400, 401) or
                   executed.json["status"] != "request_completed", executed)
        for mistake, said in (("wallet_signature", "leave out v"), ("der_signature", "DER")):
            if mistake in wanted:
                problem = table.problem(name, executed, 400, "malformed_payload")
                table.true(f"{name}: says so", said in executed.json["detail"], problem)
    return table.wrong


@suite.case
def debug_payload(world):
    """J6: the fields cover the payload byte for byte, every check of R11 has its verdict."""
    table = Table()
    account = world.account(1)
    payload = payload_of(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session)
    signature = account.session.sign(payload)
    frame = payload + account.session.public + signature
    for name, body, media in (("envelope", envelope(payload, account.session.public, signature),
                               JSON), ("frame", frame, OCTETS)):
        shown, checks = report(world, table, name, body, media)
        table.same(f"{name}: bytes", "".join(row["hex"] for row in shown["fields"]), payload.hex())
        table.same(f"{name}: names", shown["name"], "place_limit_order")
        table.same(f"{name}: id", shown["request_id"], eip712.id_text(payload[8:24]))
        table.same(f"{name}: digest", shown["digest"], hashlib.sha512(payload).hexdigest())
        table.true(f"{name}: all good", all(row["ok"] for row in checks.values()), checks)
        table.same(f"{name}: no mistake", (shown["mistakes"], shown["proved"]), ([], False))
    table.same("nothing was executed", account.read("/api/v1/orders").json, [])
    _, checks = report(world, table, "no signature",
                       json.dumps({"payload": b64(payload)}).encode())
    table.same("no signature: what could not be judged has no code",
               {name: row.get("code") for name, row in checks.items() if not row["ok"]},
               {"envelope": "malformed_payload", "signature": None, "key": None,
                "signature_type": None})

    def first_fault(change):
        changed = change(payload)
        body = envelope(changed, account.session.public,
                        account.session.sign(changed, world.exchange.salt))
        _, checks = report(world, table, "changed", body)
        return [(name, row.get("code")) for name, row in checks.items() if not row["ok"]][0]

    for name, wanted, change in (
            ("version", ("header", "unsupported_version"), lambda p: b"\2" + p[1:]),
            ("pad", ("header", "malformed_payload"), lambda p: p[:4] + b"\1" + p[5:]),
            ("code", ("request_type", "request_type_not_allowed"),
             lambda p: p[:2] + b"\x12" + p[3:]),
            ("length", ("body", "malformed_payload"), lambda p: p + bytes(8)),
            ("operator", ("key", "rejected_unauthorized"),
             lambda p: p[:2] + struct.pack("<H", 1006) + p[4:24] + bytes(8)),
            ("old", ("clock", "request_timestamp_out_of_window"),
             lambda p: p[:8] + new_id(1_500_000_000_000) + p[24:]),
            ("signer", ("signer", "request_type_not_allowed"), lambda p: p[:1] + b"\2" + p[2:]),
            ("type", ("signature_type", "signature_type_mismatch"),
             lambda p: p[:1] + b"\1" + struct.pack("<H", 22) + p[4:32]),
            ("stranger", ("key", "rejected_unauthorized"),
             lambda p: p[:24] + struct.pack("<Q", account.id + 1000) + p[32:])):
        table.same(name, first_fault(change), wanted)
    for body in (b"", b"{}", b"[", b"{\"payload\":\"AA==\"}"):
        shown, checks = report(world, table, str(body), body)
        table.same(f"{body}: nothing is known", (shown["name"], shown["fields"], shown["digest"]),
                   (None, [], None))
        table.true(f"{body}: a problem", checks["envelope"]["code"], checks)
    return table.wrong


@suite.case
def debug_passkey(world):
    """W4: the checks of an assertion, with the code of the first that fails."""
    table = Table()
    passkey, stranger = SoftPasskey(), SoftPasskey()
    payload = payload_of(CREATE_PASSKEY_ACCOUNT, account_body(Ed25519Key().public), passkey)
    shown, checks = report(world, table, "a new passkey", passkey.envelope(payload))
    table.same("digest", shown["digest"], hashlib.sha256(payload).hexdigest())
    table.true("all good", all(row["ok"] for row in checks.values()), checks)
    account = world.exchange.ack(CREATE_PASSKEY_ACCOUNT, account_body(Ed25519Key().public),
                                 passkey)["account_id"]
    payload = payload_of(CREATE_SESSION, session_body(account, Ed25519Key().public), passkey)
    client_data = passkey.client_data(payload, origin="https://evil.example")
    for name, body, faults in (
            ("good", passkey.envelope(payload, public=False), {}),
            ("origin", passkey.envelope(payload, client=client_data),
             {"signature": "passkey_origin"}),
            ("key", passkey.envelope(payload, public_key=b64(stranger.public)),
             {"signature": "passkey_public_key_mismatch"}),
            ("stranger", stranger.envelope(payload),
             {"signature": "invalid_signature", "key": "invalid_signature"}),
            ("no id", passkey.envelope(payload, credential_id=""),
             {"envelope": "malformed_payload", "signature": None, "key": None})):
        _, checks = report(world, table, name, body)
        table.same(name, {check: row.get("code") for check, row in checks.items()
                          if not row["ok"]}, faults)
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, options=("--limits.open_orders=20", "--net.debug_payload=on",
                                 *OPTIONS)))
