"""test_keys.py - API keys, device keys and sessions from outside: what each may, a pin's reach,
from which pages a cookie counts; codes 35, 15 and a logout, which count from their answer on.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import base64
import json
import struct
import sys
import threading
import time

from client import (CREATE_API_KEY, CREATE_SESSION, JSON, NO_PIN, PATIENCE_S, PLACE_LIMIT,
                    REVOKE_ALL, REVOKE_API_KEY, REVOKE_SESSION, SECP256K1, Ed25519Key,
                    Secp256k1Key, api_key_body, b64, envelope, header, limit_body, new_id,
                    payload_of, request_bytes, revoke_all_body, revoke_body, revoke_key_body,
                    session_body)
from eip712 import LOGIN
from harness import Suite, Table
import pairing
from world import World, run

suite = Suite("keys")
READS = ("/api/v1/orders", "/api/v1/fills?subaccount_index=0", "/api/v1/positions",
         "/api/v1/portfolio/cash_balances", "/api/v1/subaccounts", "/api/v1/account",
         "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0", "/api/v1/limits",
         "/api/v1/auth/sessions", "/api/v1/api-keys")
DONE = "request_completed"


def raw_id(text):
    return bytes.fromhex(text.replace("-", ""))


def make(world, account, signer=None, **more):
    """The answer of code 34 and the key's id as bytes."""
    made = world.exchange.ack(CREATE_API_KEY, api_key_body(account.id, **more),
                              signer or account.session)
    return made["api_key"], raw_id(made["api_key_id"])


def revoke(world, account, key_id, signer=None, request_id=None):
    return world.exchange.send(REVOKE_API_KEY, revoke_key_body(account.id, key_id),
                               signer or account.session, request_id)


def set_leverage(world, key, leverage=10, subaccount=0):
    body = json.dumps({"leverage": leverage, "market": "BTC-PERP", "portfolio_index": 0,
                       "subaccount_index": subaccount}).encode()
    return world.exchange.kept(request_bytes("PUT", "/api/v1/leverage", body,
                                             [JSON, ("X-API-KEY", key)]))


@suite.case
def scopes(world):
    """W10, R11: READ reads and writes nothing; READ_WRITE does both; a pin keeps to its own."""
    table = Table()
    account = world.account()
    read, _ = make(world, account)
    write, _ = make(world, account, scope=1)
    read_pinned, _ = make(world, account, pin=0)
    write_pinned, _ = make(world, account, scope=1, pin=0)
    for path in READS:
        for key in (read, write, read_pinned, write_pinned):
            table.ok(path, world.exchange.get(path, key))
    for row, key, subaccount, code in (
            ("READ", read, 0, "read_only_key"), ("READ, pinned", read_pinned, 0, "read_only_key"),
            ("READ, pinned elsewhere", read_pinned, 1, "read_only_key"),
            ("READ_WRITE, pinned elsewhere", write_pinned, 1, "subaccount_not_permitted")):
        table.problem(row, set_leverage(world, key, subaccount=subaccount), 403, code)
    for row, key in (("READ_WRITE", write), ("READ_WRITE, pinned", write_pinned)):
        table.ok(row, set_leverage(world, key))
    for row, more in (("scope 2", {"scope": 2}), ("pad", {"pad": b"\1\0\0"}),
                      ("a control character", {"label": b"a\x01"}),
                      ("no such subaccount", {"pin": 1})):
        response = world.exchange.send(CREATE_API_KEY, api_key_body(account.id, **more),
                                       account.session)
        table.success(row, response, False, "order_rejected_invalid")
    response = world.exchange.send(CREATE_API_KEY, api_key_body(account.id, pin=-2),
                                   account.session)
    table.problem("a pin below -1 (W1)", response, 400, "malformed_payload")
    return table.wrong


@suite.case
def lists(world):
    """J2: live sessions and API keys, newest first; a pinned key sees those of its pin alone."""
    table = Table()
    exchange, account = world.exchange, world.account()
    first = account.read("/api/v1/auth/sessions").json
    table.same("the first session", len(first), 1)
    born = first[0]
    table.same("its key", (born["session_public_key"], born["master_public_key"], born["scope"]),
               (b64(account.session.public), b64(account.master.public), "FULL_ACCESS"))
    table.same("not pinned", sorted(born), ["created_at", "expires_at", "master_public_key",
                                            "scope", "session_id", "session_public_key"])
    pinned, gone = Ed25519Key(), Ed25519Key()
    made = exchange.ack(CREATE_SESSION, session_body(account.id, pinned.public, pin=0, scope=1),
                        account.master)
    exchange.ack(CREATE_SESSION, session_body(account.id, gone.public), account.master)
    exchange.ack(REVOKE_SESSION, revoke_body(account.id, gone.public), account.master)
    key, key_id = make(world, account, pin=0, label=b"desk")
    _, ended = make(world, account)
    revoke(world, account, ended)
    listed = account.read("/api/v1/auth/sessions").json
    table.same("newest first", [row["session_public_key"] for row in listed],
               [b64(pinned.public), b64(account.session.public)])
    table.same("pinned", (listed[0]["subaccount_index"], listed[0]["scope"],
                          listed[0]["session_id"], listed[0]["expires_at"]),
               (0, "TRADING_ONLY", made["session_id"], made["expires_at"]))
    table.same("seen by a pinned key", exchange.get("/api/v1/auth/sessions", key).json,
               listed[:1])
    keys = account.read("/api/v1/api-keys").json["api_keys"]
    table.same("keys", [raw_id(row["api_key_id"]) for row in keys][:1], [key_id])
    table.same("a key", (keys[0]["scope"], keys[0]["subaccount_index"], keys[0]["label"],
                         sorted(keys[0])),
               ("READ", 0, "desk", ["api_key_id", "created_at", "label", "scope",
                                    "subaccount_index"]))
    table.same("the revoked one", [row for row in keys if raw_id(row["api_key_id"]) == ended], [])
    table.same("keys seen by a pinned key", exchange.get("/api/v1/api-keys", key).json,
               {"api_keys": keys[:1], "device_keys": []})
    for path in ("/api/v1/auth/sessions", "/api/v1/api-keys"):
        table.problem(path, exchange.get(path), 401, "invalid_api_key")
    return table.wrong


def login_body(account, expires_ns=0, pin=NO_PIN, pad=bytes(4)):
    """W3 code 33, 24 bytes."""
    return struct.pack("<QQi", account, expires_ns, pin) + pad


def login(world, account, signer=None, headers=(), request_id=None, **more):
    """The response of code 33."""
    signer = signer or account.session
    payload = payload_of(LOGIN, login_body(account.id, **more), signer, request_id)
    return world.exchange.kept(world.exchange.wrap("/api/v1/login", payload, signer,
                                                   headers=headers))


def logout(world, account, named, signer, device=None):
    payload = payload_of(REVOKE_SESSION, revoke_body(account.id, named.public), signer)
    headers = [("X-DEVICE-KEY", device)] if device else []
    return world.exchange.kept(world.exchange.wrap("/api/v1/logout", payload, signer,
                                                   headers=headers))


def by_device(world, path, device, *more):
    return world.exchange.get(path, headers=[("X-DEVICE-KEY", device), *more])


@suite.case
def logins(world):
    """R11, code 33, W6, W7: a device key's secret is shown once, with its cookie; bounds."""
    table = Table()
    exchange, account = world.exchange, world.account()
    request_id = new_id()
    response = login(world, account, request_id=request_id)
    born = table.success("by a session", response, True, DONE, device_key_id=..., device_key=...,
                         expires_at=...)
    secret = born["device_key"]
    table.same("32 bytes", len(base64.b64decode(secret)), 32)
    table.same("cookie, unkept", [response.header(at) for at in ("set-cookie", "cache-control")],
               [f"device_key={secret}; HttpOnly; Secure; SameSite=Strict", "no-store"])
    again = login(world, account, request_id=request_id)
    table.success("duplicate", again, False, "duplicate_request_id", sequenced=False,
                  original_status=DONE, original_processed_at_ns=born["processed_at_ns"],
                  device_key_id=born["device_key_id"], expires_at=born["expires_at"])
    table.same("no cookie again", again.header("set-cookie"), None)
    foreign = login(world, account, account.master, [("Origin", "https://evil.example")])
    table.same("no cookie for a page of another origin", foreign.header("set-cookie"), None)
    own = login(world, account, account.master, [("Origin", "http://localhost")])
    table.true("a cookie for a page of this origin", own.header("set-cookie"), own)
    trader = Ed25519Key()
    exchange.ack(CREATE_SESSION, session_body(account.id, trader.public, scope=1), account.master)
    pinned = Ed25519Key()
    exchange.ack(CREATE_SESSION, session_body(account.id, pinned.public, pin=0), account.master)
    now = time.time_ns()
    for row, got in (
            ("TRADING_ONLY", login(world, account, trader)),
            ("beyond the signer's pin", login(world, account, pinned)),
            ("a missing subaccount", login(world, account, pin=5)),
            ("pad", login(world, account, pad=b"\1\0\0\0")),
            ("expired", login(world, account, expires_ns=now - 1)),
            ("beyond the longest life",
             login(world, account, expires_ns=now + 181 * 86400 * 10**9)),
            ("unknown key", login(world, account, Ed25519Key()))):
        table.true(row, not got.json["success"] and got.json["message"] == "session_rejected", got)
        table.same(row + ", no cookie", got.header("set-cookie"), None)
    table.success("pinned", login(world, account, pinned, pin=0), True, DONE, device_key_id=...,
                  device_key=..., expires_at=...)
    for number in range(12):  # with the four above: 16
        assert login(world, account).json["success"], number
    table.success("number 17", login(world, account), False, "session_rejected")
    table.success("of another account", login(world, world.account()), True, DONE,
                  device_key_id=..., device_key=..., expires_at=...)
    for path in ("/api/v1/auth/sessions", "/api/v1/api-keys", "/api/v1/auth/master-keys"):
        table.ok(path, by_device(world, path, secret))
        table.problem(path + ", unknown", by_device(world, path, b64(bytes(32))), 401,
                      "invalid_device_key")
        table.problem(path + ", no secret", by_device(world, path, "AAAA"), 401,
                      "invalid_device_key")
        table.problem(path + ", a wrong API key goes first", by_device(
            world, path, secret, ("X-API-KEY", b64(bytes(32)))), 401, "invalid_api_key")
        table.problem(path + ", twice", by_device(world, path, secret, ("X-DEVICE-KEY", secret)),
                      400, "malformed_request")
        table.problem(path + ", as an API key", exchange.get(path, secret), 401,
                      "invalid_api_key")
        table.problem(path + ", an API key as a device key",
                      by_device(world, path, account.api_key), 401, "invalid_device_key")
    table.problem("other reads", by_device(world, "/api/v1/orders", secret), 401,
                  "invalid_api_key")
    return table.wrong


@suite.case
def logouts(world):
    """W6: a session revokes itself and the device key that it presents, nothing else."""
    table = Table()
    exchange, account, other = world.exchange, world.account(), world.account()

    def session(of=account):
        key = Ed25519Key()
        exchange.ack(CREATE_SESSION, session_body(of.id, key.public), of.master)
        return key

    def device(of=account):
        return login(world, of).json["device_key"]

    def ended(deleted, revoked):
        return {"device_key_deleted": deleted, "session_revoked": revoked}

    first, second, third = session(), session(), session()
    key, theirs, kept = device(), device(other), device()
    table.same("another session", logout(world, account, second, first).json, ended(False, False))
    table.same("another's device key", logout(world, account, first, first, theirs).json,
               ended(False, True))
    table.same("a revoked session", logout(world, account, first, first, kept).json,
               ended(False, False))
    table.ok("its device key lives", by_device(world, "/api/v1/auth/sessions", kept))
    table.ok("the other's too", by_device(world, "/api/v1/auth/sessions", theirs))
    table.same("both", logout(world, account, second, second, key).json, ended(True, True))
    table.problem("deleted", by_device(world, "/api/v1/auth/sessions", key), 401,
                  "invalid_device_key")
    table.same("a session that is not known, and its own key",
               logout(world, account, Ed25519Key(), third, kept).json, ended(True, False))
    table.same("by the master", logout(world, account, third, account.master).json,
               ended(False, True))
    third, key = session(), device()
    payload = payload_of(REVOKE_SESSION, revoke_body(account.id, third.public), third)
    asked = request_bytes("GET", "/api/v1/auth/sessions", None, [("X-DEVICE-KEY", key)])
    closing = request_bytes("POST", "/api/v1/portfolio/close", json.dumps(
        {"subaccount_index": 0, "portfolio_index": 0}).encode(),
        [JSON, ("Cookie", f"device_key={key}")])
    with exchange.open() as connection:  # revoked by a request before it in the same bytes
        connection.send(asked + exchange.wrap("/api/v1/logout", payload, third,
                                              headers=[("X-DEVICE-KEY", key)]) + asked + closing)
        table.ok("before", connection.receive())
        table.same("in the pipeline", connection.receive().json, ended(True, True))
        table.problem("a read behind it", connection.receive(), 401, "invalid_device_key")
        table.problem("a write behind it", connection.receive(), 401, "invalid_device_key")
    table.problem("no secret", logout(world, account, account.session, account.session, "AA=="),
                  401, "invalid_device_key")
    table.success("14 of a session elsewhere", exchange.send(
        REVOKE_SESSION, revoke_body(account.id, account.session.public), account.session), False,
        "session_rejected", sequenced=False)
    table.true("it lives", account.session.public in [
        base64.b64decode(row["session_public_key"])
        for row in account.read("/api/v1/auth/sessions").json])
    return table.wrong


@suite.case
def lost_devices(world):
    """W7: device keys are listed, and code 35 ends one, for what stands behind it too."""
    table = Table()
    exchange, account, pinned = world.exchange, world.account(), Ed25519Key()
    exchange.ack(CREATE_SESSION, session_body(account.id, pinned.public, pin=0), account.master)
    lost, desk = (login(world, account, pin=pin).json for pin in (-1, 0))
    listed, seen = (by_device(world, "/api/v1/api-keys", key["device_key"]).json["device_keys"]
                    for key in (lost, desk))
    table.same("those of a pin", seen, listed[:1])
    table.same("made", {row.pop("created_at")[-1:] for row in listed}, {"Z"})
    wanted = [{name: key[name] for name in ("device_key_id", "expires_at")} for key in (desk, lost)]
    table.same("newest first", listed, [{**wanted[0], "subaccount_index": 0}, wanted[1]])
    lost_id, desk_id = (raw_id(key["device_key_id"]) for key in (lost, desk))
    table.success("other", revoke(world, world.account(), lost_id), False, "order_rejected_invalid")
    table.success("beyond", revoke(world, account, lost_id, pinned), False, "rejected_unauthorized")
    table.success("within it", revoke(world, account, desk_id, pinned), True, DONE)
    read, ended = (request_bytes("GET", "/api/v1/api-keys", None,
                                 [("X-DEVICE-KEY", key["device_key"])]) for key in (lost, desk))
    cookie = [JSON, ("Cookie", f"device_key={lost['device_key']}")]
    close = request_bytes("POST", "/api/v1/portfolio/close",
                          b'{"subaccount_index":0,"portfolio_index":0}', cookie)
    ending = exchange.signed(REVOKE_API_KEY, revoke_key_body(account.id, lost_id), account.session)
    with exchange.open() as connection:
        connection.send(read + ending + read + close + ended)
        table.ok("before", connection.receive())
        table.success("in the pipeline", connection.receive(), True, DONE)
        for row in ("a read", "a write", "the other"):
            table.problem(row, connection.receive(), 401, "invalid_device_key")
    table.success("again", revoke(world, account, lost_id), False, "order_rejected_invalid")
    table.same("none", account.read("/api/v1/api-keys").json["device_keys"], [])
    table.success("API keys", revoke(world, account, make(world, account)[1]), True, DONE)
    return table.wrong


@suite.case
def cookies(world):
    """W7, W10: the cookie closes, reopens and renames, for pages of this origin, and no more."""
    table = Table()
    exchange, account = world.exchange, world.account()
    secret, pinned = (login(world, account, account.session, pin=pin).json["device_key"]
                      for pin in (-1, 0))
    write_key, _ = make(world, account, scope=1)
    place = {"subaccount_index": 0, "portfolio_index": 0}

    def send(method, path, body, *headers):
        return exchange.kept(request_bytes(method, path, json.dumps(body).encode(), headers))

    def rename(*headers, media=JSON, path="/api/v1/portfolio/0/name"):
        return send("PATCH", path, {"subaccount_index": 0, "name": "Desk"}, media, *headers)

    cookie = ("Cookie", f"theme=dark; device_key={secret}; lang=en")
    table.ok("rename", rename(cookie))
    table.ok("rename, the other path", rename(cookie, path="/portfolio/0/name"))
    for row, header in (("own origin", ("Origin", "http://localhost")),
                        ("own origin, in capitals", ("Origin", "https://LOCALHOST")),
                        ("same-origin", ("Sec-Fetch-Site", "same-origin")),
                        ("typed by the user", ("Sec-Fetch-Site", "none"))):
        table.ok(row, rename(cookie, header))
    for row, *headers in (
            ("another origin", ("Origin", "https://evil.example")),
            ("another port", ("Origin", "http://localhost:81")),
            ("a longer name", ("Origin", "http://localhost.evil.example")),
            ("a file", ("Origin", "null")), ("of nothing", ("Origin", "")),
            ("an origin without a scheme", ("Origin", "localhost")),
            ("cross-site", ("Sec-Fetch-Site", "cross-site")),
            ("same-site", ("Sec-Fetch-Site", "same-site")),
            ("both", ("Sec-Fetch-Site", "cross-site"), ("Origin", "http://localhost"))):
        table.problem(row, rename(cookie, *headers), 403, "origin_not_allowed")
        table.ok(row + ", with an API key", rename(("X-API-KEY", write_key), *headers))
    for row, value in (("no such key", b64(bytes(32))), ("no secret", "x")):
        table.problem(row, rename(("Cookie", f"device_key={value}")), 401, "invalid_device_key")
    for first in (secret, ""):
        both = f"device_key={first}; device_key={secret}"
        table.problem(f"two, {both}", rename(("Cookie", both)), 401, "invalid_api_key")
    table.problem("two headers", rename(cookie, cookie), 400, "malformed_request")
    table.problem("a form of a page", rename(cookie, media=("Content-Type", "text/plain")), 415,
                  "unsupported_media_type")
    table.problem("a wrong API key goes first", rename(cookie, ("X-API-KEY", b64(bytes(32)))), 401,
                  "invalid_api_key")
    table.problem("the header is for reads", rename(("X-DEVICE-KEY", secret)), 401,
                  "invalid_api_key")
    for method, path, body in (
            ("PUT", "/api/v1/leverage", {**place, "leverage": 5, "market": "BTC-PERP"}),):
        table.problem(path, send(method, path, body, JSON, cookie), 401, "invalid_api_key")
    for path in ("/api/v1/auth/sessions", "/api/v1/orders"):
        table.problem(path, exchange.get(path, headers=[cookie]), 401, "invalid_api_key")
    table.problem("a portfolio with cash", send("POST", "/api/v1/portfolio/close", place, JSON,
                                                cookie), 409, "portfolio_not_empty")
    table.problem("not closed", send("POST", "/api/v1/portfolio/reopen", place, JSON, cookie), 409,
                  "portfolio_not_closed")
    table.problem("pinned elsewhere", send("POST", "/api/v1/portfolio/close",
                                           {**place, "subaccount_index": 1}, JSON,
                                           ("Cookie", f"device_key={pinned}")), 403,
                  "subaccount_not_permitted")
    return table.wrong


@suite.case
def revoked_at_once(world):
    """R11 code 35: from its answer on the key is refused, on every connection; the others work."""
    table = Table()
    account, exchange = world.account(), world.exchange
    other, _ = make(world, account)
    readers = [exchange.open() for _ in range(4)]
    for number in range(12):
        signer = account.master if number % 3 == 0 else account.session
        key, key_id = make(world, account, signer, scope=number % 2)
        path = READS[number % len(READS)]
        table.ok(f"{number}: before", exchange.get(path, key))
        response = revoke(world, account, key_id, signer)
        table.success(f"{number}: revoked", response, True, DONE)
        for reader in readers:
            response = reader.exchange(request_bytes("GET", path, None, [("X-API-KEY", key)]))
            table.problem(f"{number}: {path}", response, 401, "invalid_api_key")
        table.problem(f"{number}: leverage", set_leverage(world, key), 401, "invalid_api_key")
        table.ok(f"{number}: another key", exchange.get(path, other))
    # One connection, all in one packet: what is behind the revocation is behind it.
    for number in range(10):
        key, key_id = make(world, account, scope=1)
        read = request_bytes("GET", "/api/v1/account", None, [("X-API-KEY", key)])
        data = exchange.signed(REVOKE_API_KEY, revoke_key_body(account.id, key_id),
                               account.session)
        with exchange.open() as connection:
            connection.send(read + data + read)
            table.ok(f"pipelined {number}", connection.receive())
            table.same(f"pipelined {number}", connection.receive().json.get("success"), True)
            response = connection.receive()
            table.problem(f"pipelined {number}: behind it", response, 401, "invalid_api_key")
    for reader in readers:
        reader.close()
    return table.wrong


@suite.case
def revocation_rows(world):
    """R11 code 35, 34 again: unknown keys, foreign ones, signers without reach, repeats (W5)."""
    table = Table()
    account, other, exchange = world.account(), world.account(), world.exchange
    key, key_id = make(world, account)
    foreign, foreign_id = make(world, other)
    for row, unknown in (("never was", new_id()), ("zero", bytes(16)), ("another's", foreign_id)):
        table.success(row, revoke(world, account, unknown), False, "order_rejected_invalid")
    table.ok("another's key works", exchange.get("/api/v1/account", foreign))
    table.success("step 11", revoke(world, account, key_id, Ed25519Key()), False,
                  "rejected_unauthorized", sequenced=False)
    table.success("3, another account's session", revoke(world, account, key_id, other.session),
                  False, "rejected_unauthorized", sequenced=None)
    table.success("3, another account's master", revoke(world, account, key_id, other.master),
                  False, "rejected_unauthorized", sequenced=None)
    trader = Ed25519Key()  # TRADING_ONLY: codes 0-8, 25-27 (R10)
    exchange.ack(CREATE_SESSION, session_body(account.id, trader.public, scope=1), account.master)
    table.same("it trades", exchange.ack(PLACE_LIMIT, limit_body(account.id, 900_000, 20),
                                         trader)["status"], DONE)
    table.success("3, TRADING_ONLY revokes", revoke(world, account, key_id, trader), False,
                  "rejected_unauthorized")
    response = exchange.send(CREATE_API_KEY, api_key_body(account.id), trader)
    table.success("3, TRADING_ONLY makes", response, False, "rejected_unauthorized")
    pinned = Ed25519Key()
    exchange.ack(CREATE_SESSION, session_body(account.id, pinned.public, pin=0), account.master)
    table.success("a pinned session, an account-wide key", revoke(world, account, key_id, pinned),
                  False, "rejected_unauthorized")
    table.ok("still there", exchange.get("/api/v1/account", key))
    own, own_id = make(world, account, pinned, pin=0)
    table.success("a pinned session, its own", revoke(world, account, own_id, pinned), True, DONE)
    table.problem("gone", exchange.get("/api/v1/account", own), 401, "invalid_api_key")
    response = exchange.send(CREATE_API_KEY, api_key_body(account.id), pinned)
    table.success("a pin beyond the signer's", response, False, "order_rejected_invalid")
    request_id = new_id()
    first = table.success("revoked", revoke(world, account, key_id, request_id=request_id), True,
                          DONE)
    table.success("again, the same request", revoke(world, account, key_id, request_id=request_id),
                  False, "duplicate_request_id", sequenced=False, original_status=DONE,
                  original_processed_at_ns=first["processed_at_ns"])
    table.success("again, another request", revoke(world, account, key_id), False,
                  "order_rejected_invalid")
    # W5: a repeat of 34 tells the id, never the secret, revoked or not.
    request_id = new_id()
    made = exchange.ack(CREATE_API_KEY, api_key_body(account.id), account.session, request_id)
    for row in ("live", "revoked"):
        response = exchange.send(CREATE_API_KEY, api_key_body(account.id), account.session,
                                 request_id)
        table.success(f"34 again, {row}", response, False, "duplicate_request_id",
                      sequenced=False, original_status=DONE,
                      original_processed_at_ns=made["processed_at_ns"],
                      api_key_id=made["api_key_id"])
        revoke(world, account, raw_id(made["api_key_id"]))
    account.cancel_all()
    return table.wrong


@suite.case
def as_many_as_allowed(world):
    """W8: 32 API keys an account; a revoked one makes room."""
    table = Table()
    account = world.account(0)  # it has one
    keys = [make(world, account) for _ in range(31)]
    table.same("all different", len({key for key, _ in keys} | {account.api_key}), 32)
    response = world.exchange.send(CREATE_API_KEY, api_key_body(account.id), account.session)
    table.success("the 33rd", response, False, "order_rejected_invalid", reason="limit_reached")
    table.success("one less", revoke(world, account, keys[7][1]), True, DONE)
    table.ok("one more", world.exchange.get("/api/v1/account", make(world, account)[0]))
    response = world.exchange.send(CREATE_API_KEY, api_key_body(account.id), account.session)
    table.success("the 33rd", response, False, "order_rejected_invalid", reason="limit_reached")
    table.problem("the revoked one", world.exchange.get("/api/v1/account", keys[7][0]), 401,
                  "invalid_api_key")
    table.ok("its neighbour", world.exchange.get("/api/v1/account", keys[8][0]))
    return table.wrong


@suite.case
def all_sessions_revoked(world):
    """R11 code 15: every session of the account at once; keys, orders and masters stay."""
    table = Table()
    account, other, exchange = world.account(), world.account(), world.exchange
    sessions = [account.session] + [Ed25519Key() for _ in range(5)]
    for number, session in enumerate(sessions[1:]):
        exchange.ack(CREATE_SESSION, session_body(account.id, session.public, scope=number % 2),
                     account.master)
    shared = Ed25519Key()  # R10: the same key may serve two accounts
    for who in (account, other):
        exchange.ack(CREATE_SESSION, session_body(who.id, shared.public), who.master)
    order_id = new_id()
    account.limit(900_000, 20, order_id)

    def order(session, who=account):
        return exchange.send(PLACE_LIMIT, limit_body(who.id, 900_000, 20), session)

    for session in (*sessions, shared):
        table.ack("before", order(session), DONE)
    # By a session: 3, session_rejected; by another account's master too.
    body = revoke_all_body(account.id)
    table.success("a session", exchange.send(REVOKE_ALL, body, account.session), False,
                  "session_rejected", sequenced=None)
    table.success("another's master", exchange.send(REVOKE_ALL, body, other.master), False,
                  "session_rejected", sequenced=None)
    table.success("an unknown master", exchange.send(REVOKE_ALL, body, Secp256k1Key()), False,
                  "session_rejected", sequenced=False)
    table.ack("none is gone", order(account.session), DONE)
    request_id = new_id()
    first = table.success("15", exchange.send(REVOKE_ALL, body, account.master, request_id), True,
                          "session_revoked")
    for number, session in enumerate((*sessions, shared)):
        table.ack(f"session {number} after", order(session), "rejected_unauthorized",
                  sequenced=None)
    table.ack("the shared key for the other account", order(shared, other), DONE)
    table.success("a session makes no key", exchange.send(
        CREATE_API_KEY, api_key_body(account.id), account.session), False,
        "rejected_unauthorized", sequenced=None)
    table.success("15 again, the same request", exchange.send(REVOKE_ALL, body, account.master,
                                                              request_id), False,
                  "duplicate_request_id", sequenced=False, original_status="session_revoked",
                  original_processed_at_ns=first["processed_at_ns"])
    table.success("15 with none left", exchange.send(REVOKE_ALL, body, account.master), True,
                  "session_revoked")
    record = account.order(order_id).json
    table.same("its order stands", record["order_status"], "OPEN")
    table.success("one of them alone: unknown now", exchange.send(
        REVOKE_SESSION, revoke_body(account.id, shared.public), account.master), False,
        "session_rejected")
    fresh = Ed25519Key()
    exchange.ack(CREATE_SESSION, session_body(account.id, fresh.public), account.master)
    table.ack("a new session", order(fresh), DONE)
    table.success("the old one cannot come back as it is", exchange.send(
        CREATE_SESSION, session_body(account.id, Ed25519Key().public), account.session), False,
        "session_rejected", sequenced=None)
    # A frame and an envelope that say another account than the key's.
    payload = header(REVOKE_ALL, SECP256K1) + new_id() + revoke_all_body(other.id)
    response = exchange.raw(request_bytes("POST", "/api/v1/auth/sessions/revoke-all", envelope(
        payload, account.master.public, account.master.sign(payload, exchange.salt)), [JSON]))
    table.success("another account's id", response, False, "session_rejected", sequenced=None)
    table.ack("untouched", order(other.session, other), DONE)
    return table.wrong


def wait_for(condition, seconds=PATIENCE_S):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.002)


@suite.case
def nothing_after_the_answer(world):
    """R11: orders of all sessions in flight while 15 is answered: none is executed after it."""
    table = Table()
    exchange = world.exchange
    for _ in range(3):
        account = world.account()
        sessions = [Ed25519Key() for _ in range(4)]
        for session in sessions:
            exchange.ack(CREATE_SESSION, session_body(account.id, session.public), account.master)
        done, acks = threading.Event(), []

        def work(session):
            while not done.is_set():
                acks.append(exchange.ack(PLACE_LIMIT, limit_body(account.id, 900_000, 20),
                                         session))

        threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(acks) >= 40)
        answer = exchange.ack(REVOKE_ALL, revoke_all_body(account.id), account.master)
        before = len(acks)
        wait_for(lambda: len(acks) >= before + 40)
        done.set()
        for thread in threads:
            thread.join()
        late = [ack for ack in acks
                if ack["status"] == DONE and ack["sequence"] > answer["sequence"]]
        table.same("executed behind 15", late[:2], [])
        table.true("some before", any(ack["status"] == DONE for ack in acks), len(acks))
        # What a thread got before the answer it may add to the list at last.
        for session in sessions:
            table.same("refused behind it", exchange.ack(
                PLACE_LIMIT, limit_body(account.id, 900_000, 20), session)["status"],
                "rejected_unauthorized")
        shown = account.read("/api/v1/orders?limit=1000").json
        table.same("orders", sorted(record["sequence"] for record in shown),
                   sorted(ack["sequence"] for ack in acks if ack["status"] == DONE))
    return table.wrong


pairing.add_to(suite, login)

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, ()))
