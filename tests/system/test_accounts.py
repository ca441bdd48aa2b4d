"""test_accounts.py - accounts, sessions, keys and operator commands seen from outside.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import base64
import os
import struct
import sys
import time

import eip712
from client import (ALL_ASSETS, CREATE_ACCOUNT, CREATE_API_KEY, CREATE_SESSION, DEPOSIT, JSON,
                    ORACLE_PRICE, PATHS, PLACE_LIMIT, REVOKE_ALL, REVOKE_SESSION, Ed25519Key,
                    Secp256k1Key, account_body, api_key_body, b64, deposit_body, limit_body,
                    new_id, oracle_body, payload_of, request_bytes, revoke_all_body, revoke_body,
                    session_body)
from eip712 import (ADD_ADMIN, ADD_ADMIN_PASSKEY, ADD_SCOPED, ADD_SCOPED_PASSKEY, FIND_ACCOUNT,
                    REMOVE_ADMIN, REMOVE_SCOPED_PASSKEY)
from harness import Suite, Table
from soft_passkey import (CREATE_PASSKEY_ACCOUNT, OPTIONS, ORIGIN, RP_ID, UP, UV, SoftPasskey)
from world import DAY, ETH, SECOND, USDC, run, while_it_lasts

suite = Suite("accounts")
PATHS.update({ADD_ADMIN: "/api/v1/auth/admin-keys/add",
              ADD_ADMIN_PASSKEY: "/api/v1/auth/admin-keys/add",
              REMOVE_ADMIN: "/api/v1/auth/admin-keys/remove",
              ADD_SCOPED: "/api/v1/auth/scoped-keys/add",
              ADD_SCOPED_PASSKEY: "/api/v1/auth/scoped-keys/add",
              REMOVE_SCOPED_PASSKEY: "/api/v1/auth/scoped-keys/remove",
              FIND_ACCOUNT: "/api/v1/account/find"})


@suite.case
def accounts(world):
    """R11, code 11, and W6: members of the answer and of its duplicate."""
    table = Table()
    exchange = world.exchange
    master, session, request_id = Secp256k1Key(), Ed25519Key(), new_id()
    body = account_body(session.public, label="Kästchen 7".encode())
    born = table.success("created", exchange.send(CREATE_ACCOUNT, body, master, request_id), True,
                         "account_created_with_session", account_id=..., session_id=...,
                         expires_at=...)
    table.true("account id", born["account_id"] >= 1, born)  # R1: account 0 is reserved
    expiry = born["processed_at_ns"] + 30 * DAY  # W3, code 13: 0 = now + 30 d
    table.same("expires_at", born["expires_at"], eip712.utc(expiry // 1_000_000))
    again = table.success(
        "duplicate", exchange.send(CREATE_ACCOUNT, body, master, request_id), False,
        "duplicate_request_id", sequenced=False, original_status="account_created_with_session",
        original_processed_at_ns=born["processed_at_ns"], account_id=born["account_id"],
        session_id=born["session_id"], expires_at=born["expires_at"])
    table.true("duplicate has no sequence", "sequence" not in again, again)
    table.success("the master key again", exchange.send(
        CREATE_ACCOUNT, account_body(Ed25519Key().public), master), False, "creation_rejected")
    rows = [
        ("pad", account_body(Ed25519Key().public, pad=b"\0\0\0\0\0\0\1")),
        ("control character", account_body(Ed25519Key().public, label=b"a\nb")),
        ("U+007F", account_body(Ed25519Key().public, label=b"a\x7fb")),
        ("U+0085", account_body(Ed25519Key().public, label="a\u0085b".encode())),
    ]
    for row, text in rows:
        table.success(row, exchange.send(CREATE_ACCOUNT, text, Secp256k1Key()), False,
                      "creation_rejected")
    for row, text in (("not UTF-8", b"\xff\xfe"), ("cut UTF-8", b"a\xc3"),
                      ("an overlong form", b"\xc0\xaf"), ("a surrogate", b"\xed\xa0\x80"),
                      ("a NUL inside", b"a\0b")):  # W1: 400 before the signature
        response = exchange.send(CREATE_ACCOUNT, account_body(Ed25519Key().public, label=text),
                                 Secp256k1Key())
        table.problem(row, response, 400, "malformed_payload", field="label")
    table.success("a label of 32 bytes", exchange.send(
        CREATE_ACCOUNT, account_body(Ed25519Key().public, label=b"x" * 32), Secp256k1Key()), True,
        "account_created_with_session", account_id=..., session_id=..., expires_at=...)
    now = time.time_ns()
    small_order = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
    for row, text in (("expired", account_body(Ed25519Key().public, expires_ns=1)),
                      ("too long", account_body(Ed25519Key().public, expires_ns=now + 181 * DAY)),
                      ("small order", account_body(small_order)),
                      ("the identity", account_body(b"\1" + bytes(31))),
                      ("not canonical", account_body(b"\xee" + b"\xff" * 30 + b"\x7f"))):
        table.success(row, exchange.send(CREATE_ACCOUNT, text, Secp256k1Key()), True,
                      "account_created_session_failed", account_id=...)
    return table.wrong


@suite.case
def passkeys(world):
    """W4, codes 12, 13, 15 and 34: an account of a passkey, from its creation to an order."""
    table = Table()
    exchange = world.exchange
    table.same("the relying party", exchange.get("/api/v1/exchange").json["passkey"],
               {"rp_id": RP_ID, "origins": [f"https://{RP_ID}", ORIGIN]})
    for size in (1, 256):  # W1: bytes of a credential id
        passkey, session, request_id = SoftPasskey(os.urandom(size)), Ed25519Key(), new_id()
        body = account_body(session.public, label=b"passkey")
        born = table.success("created", exchange.send(CREATE_PASSKEY_ACCOUNT, body, passkey,
                                                      request_id), True,
                             "account_created_with_session", account_id=..., session_id=...,
                             expires_at=...)
        table.success("duplicate", exchange.send(
            CREATE_PASSKEY_ACCOUNT, body, passkey, request_id), False, "duplicate_request_id",
            sequenced=False, original_status="account_created_with_session",
            original_processed_at_ns=born["processed_at_ns"], account_id=born["account_id"],
            session_id=born["session_id"], expires_at=born["expires_at"])
    account = born["account_id"]
    table.success("the passkey again", exchange.send(
        CREATE_PASSKEY_ACCOUNT, account_body(Ed25519Key().public), passkey), False,
        "creation_rejected")
    key = table.success("an API key", exchange.send(CREATE_API_KEY, api_key_body(account),
                                                    passkey), True, "request_completed",
                        api_key_id=..., api_key=...)
    table.same("the label", exchange.get("/api/v1/account", key["api_key"]).json["label"],
               "passkey")
    other = Ed25519Key()
    body = session_body(account, other.public)
    payload = payload_of(CREATE_SESSION, body, passkey)
    table.success("a session, its key known by the credential id", exchange.raw(request_bytes(
        "POST", PATHS[CREATE_SESSION], passkey.envelope(payload, public=False), [JSON])), True,
        "session_created", session_id=..., expires_at=...)
    exchange.ack(DEPOSIT, deposit_body(account, 1000 * USDC), exchange.operator)
    for row, signer in (("the first session's order", session), ("the second's", other)):
        table.ack(row, exchange.send(PLACE_LIMIT, limit_body(account, 900_000, 20), signer),
                  "request_completed")
    table.success("all revoked", exchange.send(REVOKE_ALL, revoke_all_body(account), passkey),
                  True, "session_revoked")
    table.ack("an order of a revoked one", exchange.send(
        PLACE_LIMIT, limit_body(account, 900_000, 20), other), "rejected_unauthorized",
        sequenced=None)
    return table.wrong


def padded(body):
    return body + bytes(-len(body) % 8)


def admin_body(account, key):
    """16, 17, 20, 29, 31 (W3)."""
    return struct.pack("<Q33s7x", account, key.public)


def passkey_admin_body(account, key):
    return padded(struct.pack("<Q33sxH", account, key.public, len(key.credential_id)) +
                  key.credential_id)


def scoped_body(account, key, pin, scope):
    return struct.pack("<QiB3x33s7x", account, pin, scope, key.public)


def passkey_scoped_body(account, key, pin, scope):
    return padded(struct.pack("<QiB3x33sxH", account, pin, scope, key.public,
                              len(key.credential_id)) + key.credential_id)


@suite.case
def master_keys(world):
    """R11, codes 16 to 20 and 28 to 31; J2, master keys."""
    table = Table()
    exchange, account = world.exchange, world.account(100)
    first, scoped, stranger = account.master, Secp256k1Key(), Secp256k1Key()
    passkey, trader = SoftPasskey(os.urandom(64)), SoftPasskey(os.urandom(1))
    steps = (("a passkey", ADD_ADMIN_PASSKEY, passkey_admin_body(account.id, passkey), first),
             ("a scoped wallet", ADD_SCOPED, scoped_body(account.id, scoped, 0, 0), passkey),
             ("a scoped passkey", ADD_SCOPED_PASSKEY,
              passkey_scoped_body(account.id, trader, -1, 1), first))
    for row, code, body, signer in steps:
        table.success(row, exchange.send(code, body, signer), True, "master_key_added")
        table.success(row + " again", exchange.send(code, body, signer), False,
                      "master_key_rejected_invalid")
    other = SoftPasskey(passkey.credential_id)
    table.success("a credential id that is taken", exchange.send(
        ADD_ADMIN_PASSKEY, passkey_admin_body(account.id, other), first), False,
        "master_key_rejected_invalid")
    table.success("the x of no point", exchange.send(
        ADD_ADMIN, struct.pack("<Q33s7x", account.id, b"\2" + b"\xff" * 32), first), False,
        "master_key_rejected_invalid")
    for row, signer in (("a stranger", stranger), ("a scoped key", scoped),
                        ("a session", account.session)):
        sequenced = None if signer is stranger else True
        table.success(row + " adds a key", exchange.send(
            ADD_ADMIN, admin_body(account.id, stranger), signer), False,
            "master_key_rejected_unauthorized", sequenced=sequenced)
    short = passkey_admin_body(account.id, SoftPasskey(os.urandom(9)))
    table.problem("a length that the body does not have", exchange.send(
        ADD_ADMIN_PASSKEY, short[:42] + b"\x0f\0" + short[44:], first), 400, "malformed_payload",
        field="credential_id_len")
    listed = exchange.get("/api/v1/auth/master-keys", account.api_key).json["master_keys"]
    table.same("the list", [{name: key[name] for name in key if name != "created_at"}
                            for key in listed], [
        {"public_key": b64(first.public), "curve": "SECP256K1", "kind": "ADMIN"},
        {"public_key": b64(passkey.public), "curve": "PASSKEY", "kind": "ADMIN",
         "credential_id": b64(passkey.credential_id)},
        {"public_key": b64(scoped.public), "curve": "SECP256K1", "kind": "SCOPED",
         "scope": "FULL_ACCESS", "subaccount_index": 0},
        {"public_key": b64(trader.public), "curve": "PASSKEY", "kind": "SCOPED",
         "credential_id": b64(trader.credential_id), "scope": "TRADING_ONLY"}])
    mine = Ed25519Key()
    table.success("a wider session", exchange.send(
        CREATE_SESSION, session_body(account.id, mine.public), trader), False, "session_rejected")
    table.success("a session", exchange.send(
        CREATE_SESSION, session_body(account.id, mine.public, scope=1), trader), True,
        "session_created", session_id=..., expires_at=...)
    table.ack("its order", exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20), mine),
              "request_completed")
    table.success("removed", exchange.send(
        REMOVE_SCOPED_PASSKEY, admin_body(account.id, trader), passkey), True,
        "master_key_removed")
    table.ack("the session has ended", exchange.send(
        PLACE_LIMIT, limit_body(account.id, 900_000, 20), mine), "rejected_unauthorized",
        sequenced=None)
    table.success("itself", exchange.send(REMOVE_ADMIN, admin_body(account.id, first), first),
                  False, "master_key_rejected_self_removal")
    table.success("the first", exchange.send(REMOVE_ADMIN, admin_body(account.id, first),
                                             passkey), True, "master_key_removed")
    elsewhere = world.account(100)
    table.success("it is free", exchange.send(
        ADD_ADMIN, admin_body(elsewhere.id, first), elsewhere.master), True, "master_key_added")
    table.success("and signs for the other account alone", exchange.send(
        REVOKE_ALL, revoke_all_body(account.id), first), False, "session_rejected",
        sequenced=None)
    return table.wrong


@suite.case
def found_accounts(world):
    """R11, code 36: a key finds its account."""
    table = Table()
    exchange, account = world.exchange, world.account()
    first, scoped, trader = account.master, Secp256k1Key(), SoftPasskey()
    for code, body in ((ADD_SCOPED, scoped_body(account.id, scoped, 0, 0)),
                       (ADD_SCOPED_PASSKEY, passkey_scoped_body(account.id, trader, -1, 1))):
        table.success("a key", exchange.send(code, body, first), True, "master_key_added")
    for row, signer, members in (
            ("an admin key", first, {"kind": "ADMIN"}),
            ("a scoped key", scoped, {"kind": "SCOPED", "scope": "FULL_ACCESS",
                                      "subaccount_index": 0}),
            ("a scoped passkey", trader, {"kind": "SCOPED", "scope": "TRADING_ONLY"})):
        table.success(row, exchange.send(FIND_ACCOUNT, bytes(8), signer), True,
                      "request_completed", sequenced=False, account_id=account.id, **members)
    table.success("a stranger finds none", exchange.send(FIND_ACCOUNT, bytes(8), Secp256k1Key()),
                  False, "rejected_unauthorized", sequenced=False)
    table.success("nor does a session", exchange.send(FIND_ACCOUNT, bytes(8), account.session),
                  False, "rejected_unauthorized", sequenced=False)
    table.problem("nor a strange passkey", exchange.send(
        FIND_ACCOUNT, bytes(8), SoftPasskey()), 401, "invalid_signature")
    table.problem("a body that is not zero", exchange.send(FIND_ACCOUNT, b"\1" + bytes(7), first),
                  400, "malformed_payload")
    table.success("removed", exchange.send(
        REMOVE_SCOPED_PASSKEY, admin_body(account.id, trader), first), True, "master_key_removed")
    response = exchange.send(FIND_ACCOUNT, bytes(8), trader)
    if response.status == 401:  # its tombstone is gone
        table.problem("a removed passkey", response, 401, "invalid_signature")
    else:
        table.success("a removed passkey", response, False, "rejected_unauthorized",
                      sequenced=False)
    return table.wrong


@suite.case
def passkey_refusals(world):
    """W4's checks in their order, each with its own code; nothing is executed."""
    table = Table()
    exchange = world.exchange
    passkey, stranger = SoftPasskey(), SoftPasskey()
    account = exchange.ack(CREATE_PASSKEY_ACCOUNT, account_body(Ed25519Key().public),
                           passkey)["account_id"]
    body = session_body(account, Ed25519Key().public)

    def refused(row, code, *, status=401, signer=passkey, client=(), **parts):
        payload = payload_of(CREATE_SESSION, body, signer)
        if client:
            parts["client"] = signer.client_data(payload, **dict(client))
        response = exchange.raw(request_bytes("POST", PATHS[CREATE_SESSION],
                                              signer.envelope(payload, **parts), [JSON]))
        table.problem(row, response, status, code)

    refused("client data that is no object", "malformed_payload", status=400,
            client_data_json=b64(b"[]"))
    refused("a member twice", "malformed_payload", status=400,
            client_data_json=b64(b'{"type":"webauthn.get","type":"webauthn.get"}'))
    refused("authenticator data of 36 bytes", "malformed_payload", status=400, data=bytes(36))
    refused("authenticator data of 1,025 bytes", "malformed_payload", status=400,
            data=bytes(1025))
    refused("client data of more than 2,048 bytes", "malformed_payload", status=400,
            client=(("x", "y" * 2048),))
    refused("a credential id of 257 bytes", "malformed_payload", status=400,
            credential_id=b64(bytes(257)))
    refused("an unknown credential id", "invalid_signature", signer=stranger)
    refused("another public key", "passkey_public_key_mismatch", public_key=b64(stranger.public),
            client=(("type", "x"),))
    refused("the type of a creation", "passkey_type",
            client=(("type", "webauthn.create"), ("challenge", "")))
    refused("another challenge", "passkey_challenge",
            client=(("challenge", "AAAA"), ("origin", "https://evil.example")))
    refused("another origin", "passkey_origin",
            client=(("origin", f"{ORIGIN}.evil.example"), ("crossOrigin", True)))
    refused("a frame of another origin", "passkey_cross_origin", client=(("crossOrigin", True),),
            data=passkey.authenticator_data("evil.example"))
    refused("another relying party", "passkey_rp_id",
            data=passkey.authenticator_data("evil.example", 0))
    refused("nobody was there", "passkey_user_presence", data=passkey.authenticator_data(flags=UV))
    refused("nobody was verified", "passkey_user_verification",
            data=passkey.authenticator_data(flags=UP))
    refused("a wrong signature", "invalid_signature", signature=bytes(31) + b"\1" + bytes(32))
    payload = payload_of(CREATE_PASSKEY_ACCOUNT, account_body(Ed25519Key().public), stranger)
    table.problem("no key for a new account", exchange.raw(request_bytes(
        "POST", PATHS[CREATE_PASSKEY_ACCOUNT], stranger.envelope(payload, public=False), [JSON])),
        400, "malformed_payload", field="public_key")
    table.problem("a wallet's account", exchange.send(
        CREATE_ACCOUNT, account_body(Ed25519Key().public), stranger), 400,
        "request_type_not_allowed")
    table.problem("an order", exchange.send(PLACE_LIMIT, limit_body(account, 900_000, 20),
                                            passkey), 400, "request_type_not_allowed")
    table.success("the good one", exchange.send(CREATE_SESSION, body, passkey), True,
                  "session_created", session_id=..., expires_at=...)
    return table.wrong


@suite.case
def sessions(world):
    """R11, codes 13 and 14."""
    table = Table()
    exchange, account = world.exchange, world.account(100)
    master = account.master

    def create(body, request_id=None):
        return exchange.send(CREATE_SESSION, body, master, request_id)

    made = {"session_id": ..., "expires_at": ...}
    key, request_id = Ed25519Key(), new_id()
    born = table.success("created", create(session_body(account.id, key.public), request_id), True,
                         "session_created", **made)
    table.success("duplicate", create(session_body(account.id, key.public), request_id), False,
                  "duplicate_request_id", sequenced=False, original_status="session_created",
                  original_processed_at_ns=born["processed_at_ns"],
                  session_id=born["session_id"], expires_at=born["expires_at"])
    table.same("its first order", exchange.ack(
        PLACE_LIMIT, limit_body(account.id, 900_000, 20), key)["status"], "request_completed")
    now = time.time_ns()
    fresh = Ed25519Key().public
    for row, body in (
            ("pad", session_body(account.id, fresh, pad=b"\0\0\1")),
            ("already a session", session_body(account.id, key.public)),
            ("small order", session_body(account.id, b"\0" * 32)),
            ("not canonical", session_body(account.id, b"\xf0" + b"\xff" * 30 + b"\x7f")),
            ("expired", session_body(account.id, fresh, expires_ns=now - SECOND)),
            ("longer than 180 days", session_body(account.id, fresh, now + 181 * DAY)),
            ("the last nanosecond", session_body(account.id, fresh, 2**64 - 1)),
            ("unknown scope", session_body(account.id, fresh, scope=2)),
            ("pinned to a missing subaccount", session_body(account.id, fresh, pin=7))):
        table.success(row, create(body), False, "session_rejected")
    response = create(session_body(account.id, fresh, pin=-2))
    table.problem("a pin below -1", response, 400, "malformed_payload")  # W1
    expiry = now + 179 * DAY
    body = table.success("179 days", create(session_body(account.id, fresh, expiry)), True,
                         "session_created", **made)
    table.same("its expires_at", body["expires_at"], eip712.utc(expiry // 1_000_000))
    # R10: TRADING_ONLY = codes 0-8, 25-27 and 14 on /logout.
    trading = Ed25519Key()
    table.success("TRADING_ONLY", create(session_body(account.id, trading.public, scope=1)), True,
                  "session_created", **made)
    table.same("it trades", exchange.ack(
        PLACE_LIMIT, limit_body(account.id, 900_000, 20), trading)["status"], "request_completed")
    table.success("it makes no API key", exchange.send(CREATE_API_KEY, api_key_body(account.id),
                                                       trading), False, "rejected_unauthorized",
                  sequenced=None)
    pinned = Ed25519Key()
    table.success("pinned", create(session_body(account.id, pinned.public, pin=0)), True,
                  "session_created", **made)
    table.same("in its subaccount", exchange.ack(
        PLACE_LIMIT, limit_body(account.id, 900_000, 20), pinned)["status"], "request_completed")
    table.ack("outside (row 3 before row 5)", exchange.send(
        PLACE_LIMIT, limit_body(account.id, 900_000, 20, subaccount=1), pinned),
        "rejected_unauthorized", sequenced=None)
    table.success("its API key reaches no further", exchange.send(
        CREATE_API_KEY, api_key_body(account.id), pinned), False, "order_rejected_invalid",
        sequenced=None)

    def revoke(target, signer=master, request_id=None, owner=None):
        return exchange.send(REVOKE_SESSION, revoke_body(owner or account.id, target), signer,
                             request_id)

    table.success("an unknown session", revoke(Ed25519Key().public), False, "session_rejected")
    request_id = new_id()
    gone = table.success("revoked", revoke(key.public, request_id=request_id), True,
                         "session_revoked")
    table.success("revoke again", revoke(key.public, request_id=request_id), False,
                  "duplicate_request_id", sequenced=False, original_status="session_revoked",
                  original_processed_at_ns=gone["processed_at_ns"])
    table.ack("its orders are refused", exchange.send(
        PLACE_LIMIT, limit_body(account.id, 900_000, 20), key), "rejected_unauthorized",
        sequenced=None)
    table.success("revoked twice", revoke(key.public), False, "session_rejected")
    other = world.account(1)
    table.success("another account's session", revoke(other.session.public), False,
                  "session_rejected")
    table.success("in another account's name", revoke(other.session.public, owner=other.id), False,
                  "session_rejected", sequenced=False)
    short = Ed25519Key()
    made_once = while_it_lasts(
        lambda expiry: create(session_body(account.id, short.public, expiry)))
    table.success("a short life", made_once, True, "session_created", **made)
    table.ack("is over", exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20), short),
              "rejected_unauthorized", sequenced=None)
    return table.wrong


@suite.case
def session_count(world):
    """W8: 16 live sessions a parent; R11: session_rejected_max_sessions with its reason."""
    table = Table()
    account = world.account(1)
    for number in range(15):  # with the account's first one 16
        body = world.exchange.ack(CREATE_SESSION, session_body(account.id, Ed25519Key().public),
                                  account.master)
        table.same(f"session {number + 2}", body["message"], "session_created")
    response = world.exchange.send(CREATE_SESSION, session_body(account.id, Ed25519Key().public),
                                   account.master)
    table.success("one more", response, False, "session_rejected_max_sessions",
                  reason="max_sessions_exceeded")
    world.exchange.ack(REVOKE_SESSION, revoke_body(account.id, account.session.public),
                       account.master)
    response = world.exchange.send(CREATE_SESSION, session_body(account.id, Ed25519Key().public),
                                   account.master)
    table.success("after a revocation", response, True, "session_created", session_id=...,
                  expires_at=...)
    return table.wrong


@suite.case
def api_keys(world):
    """R11, code 34, and W7: the secret is shown once."""
    table = Table()
    exchange, account = world.exchange, world.account(1)

    def create(body, key=None, request_id=None):
        return exchange.send(CREATE_API_KEY, body, key or account.session, request_id)

    request_id = new_id()
    born = table.success("by a session", create(api_key_body(account.id), request_id=request_id),
                         True, "request_completed", api_key_id=..., api_key=...)
    table.same("32 bytes", len(base64.b64decode(born["api_key"])), 32)
    table.success("duplicate without the secret", create(api_key_body(account.id),
                                                         request_id=request_id), False,
                  "duplicate_request_id", sequenced=False, original_status="request_completed",
                  original_processed_at_ns=born["processed_at_ns"],
                  api_key_id=born["api_key_id"])
    second = table.success("by the master", create(
        api_key_body(account.id, scope=1, label=b"bot"), account.master), True,
        "request_completed", api_key_id=..., api_key=...)
    table.true("another secret", second["api_key"] != born["api_key"])
    for row, body in (("pad", api_key_body(account.id, pad=b"\1\0\0")),
                      ("unknown scope", api_key_body(account.id, scope=2)),
                      ("control character", api_key_body(account.id, label=b"\x1b[1m")),
                      ("a missing subaccount", api_key_body(account.id, pin=3))):
        table.success(row, create(body), False, "order_rejected_invalid")
    table.problem("a pin below -1", create(api_key_body(account.id, pin=-7)), 400,
                  "malformed_payload")
    for number in range(29):  # with the account's own and two above: 32
        assert create(api_key_body(account.id)).json["success"], number
    table.success("number 33", create(api_key_body(account.id)), False, "order_rejected_invalid",
                  reason="limit_reached")
    return table.wrong


# --- operator codes -------------------------------------------------------------------------------

@suite.case
def oracle_prices(world):
    """R11 code 1000 and R5: order of publish times, the 10 % hold, its end by a run or at once."""
    table = Table()
    exchange = world.exchange

    def price(value, publish_ns=None, **more):
        return exchange.send(ORACLE_PRICE, oracle_body(value, publish_ns=publish_ns, **more),
                             exchange.oracle)

    asset = {"asset": ETH}
    start = time.time_ns()
    table.ack("first", price(300_000, start, **asset), "request_completed")
    for row, body, status in (
            ("pad", oracle_body(300_000, ETH, pad=1), "order_rejected_invalid"),
            ("no source", oracle_body(300_000, ETH, sources=0), "order_rejected_invalid"),
            ("asset 0", oracle_body(300_000, 0), "order_rejected_invalid_market"),
            ("asset 65535", oracle_body(300_000, ALL_ASSETS), "order_rejected_invalid_market"),
            ("unknown asset", oracle_body(300_000, 77), "rejected_market_not_found"),
            ("price 0", oracle_body(0, ETH), "rejected_invalid_price"),
            ("price 2^40", oracle_body(2**40, ETH), "rejected_invalid_price"),
            ("pad before asset", oracle_body(300_000, 77, pad=1), "order_rejected_invalid"),
            ("price before time", oracle_body(0, ETH, start), "rejected_invalid_price"),
            ("not newer", oracle_body(300_000, ETH, start), "order_rejected_expired"),
            ("older", oracle_body(300_000, ETH, start - 1), "order_rejected_expired")):
        table.ack(row, exchange.send(ORACLE_PRICE, body, exchange.oracle), status)
    account = world.account()
    resting = new_id()
    table.same("an order", account.limit(290_000, 1_000, resting, **asset)["status"],
               "request_completed")
    table.ack("10 % is no more than 10 %", price(330_000, **asset), "request_completed")
    table.same("ACTIVE", exchange.get("/api/v1/markets/ETH-PERP").json["state"], "ACTIVE")
    # The reference is the lower median of one sample a second: three of 3,300 outweigh one.
    time.sleep(3.1)
    table.ack("a jump", price(400_000, **asset), "request_completed")
    table.same("held", exchange.get("/api/v1/markets/ETH-PERP").json["state"], "CANCEL_ONLY")
    table.same("placing", account.limit(400_000, 1_000, **asset)["status"],
               "rejected_market_cancel_only")
    table.same("canceling", account.cancel(resting, **asset)["status"], "request_completed")
    table.ack("within 10 % of the reference", price(331_000, **asset), "request_completed")
    table.same("released", exchange.get("/api/v1/markets/ETH-PERP").json["state"], "ACTIVE")
    # A run: three updates within 2 %, the newest 2 s behind the first, within 20 % of the anchor.
    # The reference is 3,300 or 3,310: 3,800 is 14.8 % or 15.2 % above it.
    for row, value, state in (("a jump", 380_000, "CANCEL_ONLY"),
                              ("within 2 %", 381_000, "CANCEL_ONLY"),
                              ("three within 2 s", 380_500, "CANCEL_ONLY"),
                              ("a fourth", 380_200, "ACTIVE")):
        if state == "ACTIVE":
            time.sleep(2.1)
        table.ack(row, price(value, **asset), "request_completed")
        table.same(row, exchange.get("/api/v1/markets/ETH-PERP").json["state"], state)
    table.same("placing", account.limit(380_000, 1_000, **asset)["status"], "request_completed")
    account.cancel_all()
    return table.wrong


@suite.case
def deposits(world):
    """R11 code 1003, R10: a reference is credited once."""
    table = Table()
    exchange, account = world.exchange, world.account(0)

    def deposit(body, request_id=None):
        return exchange.send(DEPOSIT, body, exchange.operator, request_id)

    reference, request_id = os.urandom(32), new_id()
    first = table.ack("credited", deposit(deposit_body(account.id, 5 * USDC, reference),
                                          request_id), "request_completed")
    table.ack("the same id", deposit(deposit_body(account.id, 5 * USDC, reference), request_id),
              "duplicate_request_id", sequenced=False, original_status="request_completed",
              original_processed_at_ns=first["processed_at_ns"])
    table.ack("the same reference", deposit(deposit_body(account.id, 5 * USDC, reference)),
              "request_completed", reason="already_credited")
    table.ack("the same reference, no account", deposit(deposit_body(10**9, 0, reference)),
              "request_completed", reason="already_credited")
    for row, body, status in (
            ("unknown account", deposit_body(10**9, USDC), "rejected_invalid_portfolio_id"),
            ("account 0", deposit_body(0, USDC, subaccount=1), "rejected_invalid_portfolio_id"),
            ("unknown subaccount", deposit_body(account.id, USDC, subaccount=1),
             "rejected_invalid_portfolio_id"),
            ("no account before no amount", deposit_body(10**9, 0),
             "rejected_invalid_portfolio_id"),
            ("no amount", deposit_body(account.id, 0), "rejected_size_zero"),
            ("above 2^60", deposit_body(account.id, 2**60 + 1), "rejected_invalid_size"),
            ("2^64 - 1", deposit_body(account.id, 2**64 - 1), "rejected_invalid_size")):
        table.ack(row, deposit(body), status)
    table.ack("a missing portfolio", deposit(deposit_body(account.id, USDC, portfolio=9)),
              "request_completed")  # R10: portfolio 0 of the subaccount
    balance = account.read("/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0").json
    table.same("cash", balance["cash_balance"], "6")
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, options=("--limits.open_orders=20", *OPTIONS), audits=True))
