"""test_conformance.py - signed requests, seen from outside: R11's network list step by step and in
its order, both envelopes, every code this binary has, duplicates, and the rows a client can reach.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import base64
import dataclasses
import itertools
import json
import os
import struct
import sys
import time

import client
from client import (ALL_ASSETS, CANCEL, CANCEL_ALL, CREATE_ACCOUNT, CREATE_API_KEY, CREATE_SESSION,
                    DEPOSIT, ED25519, FOK, GTC, IOC, JSON, MARKET_DEFINE, OCTETS, ORACLE_PRICE,
                    PASSKEY, PATHS, PLACE_LIMIT, REVOKE_SESSION, SECP256K1, Account, Ed25519Key,
                    Perpd, Secp256k1Key, account_body, api_key_body, b64, cancel_all_body,
                    cancel_body, deposit_body, envelope, frame, header, high_s, id_text,
                    limit_body, market_body, new_id, now_ms, oracle_body, payload_of,
                    request_bytes, revoke_body, session_body)
from harness import Suite, Table, only, perpd_program

suite = Suite("conformance")
SECOND = 1_000_000_000
DAY = 86_400 * SECOND
USDC = 1_000_000
BTC, ETH, SOL, XRP, DOGE, TEST = 1, 2, 3, 4, 5, 6
NO_MARK = DOGE  # no oracle price is ever sent for it
BTC_PRICE = 1_000_000  # 100,000.0 USDC: price_decimals 1


class World:
    """The exchange, with prices, a rich account and a market whose lot is ten raw units."""

    def __init__(self, exchange):
        self.exchange = exchange
        self.btc(BTC_PRICE)
        self.rich = Account(exchange, 1_000_000 * USDC)

    def btc(self, price):
        done = self.exchange.set_price(price, BTC)
        assert done["status"] == "request_completed", done

    def account(self, usdc=100_000):
        return Account(self.exchange, usdc * USDC)


# --- R11, network thread: one fault at a time, then every pair ------------------------------------

@dataclasses.dataclass
class Recipe:
    """A good order in JSON; a fault changes one thing of it."""
    key: Ed25519Key
    account: int
    salt: bytes
    method: str = "POST"
    path: str = PATHS[PLACE_LIMIT]
    headers: list = dataclasses.field(default_factory=lambda: [JSON])
    version: int = 1
    pad: bytes = bytes(4)
    signature_type: int = ED25519
    code: int = PLACE_LIMIT
    body: bytes = b""
    request_id: bytes = dataclasses.field(default_factory=new_id)
    public: bytes = None
    bad_signature: bool = False
    members: dict = dataclasses.field(default_factory=dict)
    drop: tuple = ()
    broken: bytes = None
    spaces: int = 0

    def request(self):
        payload = header(self.code, self.signature_type, self.version, self.pad) + (
            self.request_id + self.body)
        signature = bytearray(self.key.sign(payload, self.salt))
        if self.bad_signature:
            signature[5] ^= 1
        parts = {"payload": b64(payload), "signature": b64(bytes(signature)),
                 "public_key": b64(self.public or self.key.public)}
        parts.update(self.members)
        for name in self.drop:
            del parts[name]
        text = json.dumps(parts).encode() + b" " * self.spaces
        if self.broken is not None:
            text = text.replace(b"{", self.broken, 1)
        return request_bytes(self.method, self.path, text, self.headers)


def fault(step, status, code, **extra):
    def keep(function):
        FAULTS.append((step, function.__name__, function, status, code, extra))
        return function
    return keep


FAULTS = []  # in the order in which a client observes them (R11)


@fault(1, 404, "not_found")
def unknown_path(recipe):
    recipe.path = "/api/v1/trading/order/place/limitless"


@fault(1.1, 405, "method_not_allowed")
def wrong_method(recipe):
    recipe.method = "PUT"


@fault(2, 413, "payload_too_large")
def body_too_large(recipe):  # W1: 16,384 with a credential_id, 8,192 without
    recipe.spaces += 16_385


@fault(3, 415, "unsupported_media_type")
def wrong_media_type(recipe):
    recipe.headers = [("Content-Type", "text/plain")]


@fault(5, 400, "malformed_json")
def broken_json(recipe):
    recipe.broken = b"{{"


@fault(5.1, 400, "malformed_payload")
def member_missing(recipe):  # W1: an envelope member that is missing
    recipe.drop = ("signature",)


@fault(5.2, 400, "invalid_base64")
def url_safe_base64(recipe):  # W1: standard alphabet only
    recipe.members["public_key"] = "-_" + b64(recipe.public or recipe.key.public)[2:]


@fault(6, 400, "unsupported_version")
def version_two(recipe):
    recipe.version = 2


@fault(6.1, 400, "malformed_payload")
def header_pad(recipe):  # W1: a non-zero pad byte of the Header
    recipe.pad = b"\0\0\0\1"


@fault(6.2, 400, "malformed_payload")
def unknown_signature_type(recipe):  # W3, Auth part: any other signature_type
    recipe.signature_type = 3


@fault(6.3, 400, "request_type_not_allowed", request_type=CANCEL)
def code_of_another_path(recipe):
    recipe.code = CANCEL


@fault(6.4, 400, "malformed_payload")
def body_too_long(recipe):
    recipe.body += bytes(8)


@fault(7, 400, "request_id_not_v7")
def id_of_version_4(recipe):  # W5: byte 6, high nibble 7
    raw = bytearray(recipe.request_id)
    raw[6] = 0x40 | raw[6] & 0x0F
    recipe.request_id = bytes(raw)


@fault(8, 400, "request_timestamp_out_of_window")
def id_of_last_minute(recipe):  # W5: at most 30,000 ms old
    recipe.request_id = (now_ms() - 60_000).to_bytes(6, "big") + recipe.request_id[6:]


@fault(9, 401, "signature_type_mismatch")
def key_of_the_other_curve(recipe):  # W3, Auth part
    recipe.public = Secp256k1Key().public


@fault(10, 401, "invalid_signature")
def signature_changed(recipe):
    recipe.bad_signature = True


def recipe_of(world):
    account = world.rich
    return Recipe(account.session, account.id, world.exchange.salt,
                  body=limit_body(account.id, 900_000, 20))


@suite.case
def one_fault(world):
    """R11, network thread: each step has its answer."""
    table = Table()
    for _, name, change, status, code, extra in FAULTS:
        recipe = recipe_of(world)
        change(recipe)
        table.problem(name, world.exchange.raw(recipe.request()), status, code, **extra)
    response = world.exchange.raw(recipe_of(world).request())
    table.ack("no fault", response, "request_completed")
    return table.wrong


@suite.case
def two_faults(world):
    """R11, network thread: of two faults the earlier step answers."""
    table = Table()
    for early, late in itertools.combinations(FAULTS, 2):
        recipe = recipe_of(world)
        late[2](recipe)
        early[2](recipe)
        response = world.exchange.raw(recipe.request())
        table.problem(f"{early[1]} before {late[1]}", response, early[3], early[4])
    return table.wrong


@suite.case
def unknown_key_comes_last(world):
    """R11, step 11 after 10: an unknown key is only said of a good signature."""
    table = Table()
    recipe = recipe_of(world)
    recipe.key = Ed25519Key()
    body = table.ack("unknown key", world.exchange.raw(recipe.request()), "rejected_unauthorized",
                     sequenced=False)  # "at once, not sequenced"
    table.true("no sequence", "sequence" not in body, body)
    recipe = recipe_of(world)
    recipe.key, recipe.bad_signature = Ed25519Key(), True
    table.problem("unknown key, bad signature", world.exchange.raw(recipe.request()), 401,
                  "invalid_signature")
    recipe = recipe_of(world)
    recipe.body = limit_body(world.rich.id + 1_000_000, 900_000, 20)
    table.ack("known key, another account", world.exchange.raw(recipe.request()),
              "rejected_unauthorized", sequenced=False)  # R10: (account_id, public_key)
    return table.wrong


def json_text(world, **members):
    account = world.rich
    payload = payload_of(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session)
    parts = {"payload": b64(payload), "signature": b64(account.session.sign(payload)),
             "public_key": b64(account.session.public)}
    parts.update(members)
    return {name: value for name, value in parts.items() if value is not ...}


@suite.case
def json_envelope(world):
    """W1: one UTF-8 object, no duplicate member, unknown ones ignored, strict Base64."""
    table = Table()
    path = PATHS[PLACE_LIMIT]

    def post(text, content_type=JSON):
        return world.exchange.raw(request_bytes("POST", path, text, [content_type]))

    good = json.dumps(json_text(world)).encode()
    public = b64(world.rich.session.public)
    refused = [
        ("empty body", b"", "malformed_json"),
        ("no JSON", b"payload", "malformed_json"),
        ("an array", b"[" + good + b"]", "malformed_json"),
        ("a string", b'"payload"', "malformed_json"),
        ("two objects", good + good, "malformed_json"),
        ("a byte order mark", b"\xef\xbb\xbf" + good, "malformed_json"),
        ("a trailing comma", good[:-1] + b",}", "malformed_json"),
        ("a NUL behind it", good + b"\0", "malformed_json"),
        ("not UTF-8", good[:-1] + b',"x":"\xff"}', "malformed_json"),
        ("a lone surrogate", good[:-1] + b',"x":"\\ud800"}', "malformed_json"),
        ("a control character", good[:-1] + b',"x":"\n"}', "malformed_json"),
        ("a leading zero", good[:-1] + b',"x":01}', "malformed_json"),
        ("NaN", good[:-1] + b',"x":NaN}', "malformed_json"),
        ("a duplicate member", good[:-1] + b',"public_key":"' + public.encode() + b'"}',
         "malformed_json"),
        ("a duplicate member, escaped", good[:-1] + b',"public\\u005fkey":"x"}',
         "malformed_json"),
        ("a duplicate unknown member", good[:-1] + b',"x":1,"x":1}', "malformed_json"),
        ("depth 9", good[:-1] + b',"x":' + b"[" * 8 + b"]" * 8 + b"}", "malformed_json"),
    ]
    for name in ("payload", "signature", "public_key"):
        refused.append((f"{name} missing", json_text(world, **{name: ...}), "malformed_payload"))
        refused.append((f"{name} null", json_text(world, **{name: None}), "malformed_payload"))
        refused.append((f"{name} a number", json_text(world, **{name: 7}), "malformed_payload"))
        value = json_text(world)[name]
        for row, text in (("URL-safe", "_-" + value[2:]), ("short", value[:-1]),
                          ("a space", value[:-4] + " " + value[-3:]),
                          ("padding inside", "AA==" + value[4:]),
                          ("a character beyond", value[:-4] + "A\u00e9AA"),
                          ("a line break", value[:-4] + "\r\n" + value[-2:])):
            refused.append((f"{name} {row}", json_text(world, **{name: text}), "invalid_base64"))
    # Ed25519 keys end in one "=": the last character before it has two unused bits.
    loose = public[:-2] + chr(ord(public[-2]) + 1) + "="
    refused.append(("unused bits", json_text(world, public_key=loose), "invalid_base64"))
    for name, length in (("public_key", 31), ("public_key", 34), ("public_key", 0),
                         ("signature", 63), ("signature", 65), ("signature", 0)):
        refused.append((f"{name} of {length} bytes", json_text(world, **{name: b64(bytes(length))}),
                        "malformed_payload"))
    for length in (0, 8, 23, 24, 71, 73, 80, 4_152):
        payload = (header(0, 0) + new_id() + bytes(4_200))[:length]
        refused.append((f"payload of {length} bytes", json_text(world, payload=b64(payload)),
                        "malformed_payload"))
    for row, text, code in refused:
        if isinstance(text, dict):
            text = json.dumps(text).encode()
        table.problem(row, post(text), 400, code)
    accepted = [
        ("unknown members", {"x": {"y": [1, None, True, -1.5e3]}, "": ""}),
        ("depth 8", {"x": [[[[[[[]]]]]]]}),
    ]
    for row, members in accepted:
        table.ack(row, post(json.dumps(json_text(world, **members)).encode()),
                  "request_completed")
    text = json.dumps(json_text(world), indent="\t").encode()
    table.ack("white space", post(b" \r\n\t" + text + b"\n"), "request_completed")
    escaped = json.dumps(json_text(world)).replace("/", "\\/").replace("A", "\\u0041").encode()
    table.ack("escapes", post(escaped), "request_completed")
    text = json.dumps(json_text(world)).encode()
    table.ack("8,192 bytes", post(text.ljust(8_192)), "request_completed")
    text = json.dumps(json_text(world)).encode()
    table.problem("8,193 bytes", post(text.ljust(8_193)), 413, "payload_too_large",
                  max_bytes=8_192)  # W1, once it is parsed
    table.problem("8,193 bytes of no JSON", post(b"x".ljust(8_193)), 400, "malformed_json")
    for row, value in (("upper case", "Application/JSON"),
                       ("parameters", "application/json; charset=utf-8"),
                       ("no space", "application/json;charset=utf-8")):  # R11
        text = json.dumps(json_text(world)).encode()
        table.ack(row, post(text, ("Content-Type", value)), "request_completed")
    for row, value in (("another type", "text/json"), ("a longer one", "application/json5"),
                       ("empty", ""), ("a list", "application/json, text/plain")):
        table.problem(row, post(good, ("Content-Type", value)), 415, "unsupported_media_type")
    response = world.exchange.raw(request_bytes("POST", path, good))
    table.problem("no Content-Type", response, 415, "unsupported_media_type")
    return table.wrong


@suite.case
def binary_frame(world):
    """W3, Auth part: [payload || public_key || signature], split by header byte 1."""
    table = Table()
    account, exchange = world.rich, world.exchange
    path = PATHS[PLACE_LIMIT]

    def post(body, where=path):
        return exchange.raw(request_bytes("POST", where, body, [OCTETS]))

    def order(**more):
        payload = payload_of(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session)
        payload = more.get("change", bytes)(payload)
        return frame(payload, account.session.public, account.session.sign(payload))

    def patched(offset, value):
        return lambda payload: payload[:offset] + bytes([value]) + payload[offset + 1:]

    table.ack("an order", post(order()), "request_completed")
    good = order()
    rows = [
        ("empty", b"", "malformed_payload"),
        ("one byte", b"\1", "malformed_payload"),
        ("95 bytes", good[:95], "malformed_payload"),
        ("96 bytes", good[:96], "malformed_payload"),
        ("a byte short", good[:-1], "malformed_payload"),
        ("a byte more", good + b"\0", "malformed_payload"),
        ("8 bytes more", good + bytes(8), "malformed_payload"),
        ("version 2", order(change=patched(0, 2)), "unsupported_version"),
        ("version 0", order(change=patched(0, 0)), "unsupported_version"),
        ("header pad", order(change=patched(4, 1)), "malformed_payload"),
        ("signature type 3", order(change=patched(1, 3)), "malformed_payload"),
        ("passkey", order(change=patched(1, PASSKEY)), "passkey_requires_json"),
        ("id not v7", order(change=patched(14, 0x10)), "request_id_not_v7"),
        ("id of another variant", order(change=patched(16, 0xC0)), "request_id_not_v7"),
    ]
    for row, body, code in rows:
        table.problem(row, post(body), 400, code)
    table.problem("secp256k1 on an order", post(good[:1] + b"\1" + good[2:72] + bytes(97)), 400,
                  "request_type_not_allowed", request_type=PLACE_LIMIT)
    table.problem("4,242 bytes", post(bytes(4_242)), 413, "payload_too_large", max_bytes=4_241)
    broken = bytearray(good)
    broken[-1] ^= 0x80
    table.problem("signature changed", post(bytes(broken)), 401, "invalid_signature")
    broken = bytearray(good)
    broken[40] ^= 1
    table.problem("payload changed", post(bytes(broken)), 401, "invalid_signature")
    for offset in range(72, 104, 7):
        broken = bytearray(good)
        broken[offset] ^= 1
        table.problem(f"key byte {offset - 72}", post(bytes(broken)), 401, "invalid_signature")
    master = Secp256k1Key()
    payload = payload_of(CREATE_ACCOUNT, account_body(Ed25519Key().public), master)
    body = frame(payload, master.public, master.sign(payload, exchange.salt))
    table.success("secp256k1 in a frame", post(body, PATHS[CREATE_ACCOUNT]), True,
                  "account_created_with_session", account_id=..., session_id=..., expires_at=...)
    return table.wrong


@suite.case
def codes_and_paths(world):
    """W2: a code goes to its path only; reserved and unknown codes; codes of no handler."""
    table = Table()
    exchange, account = world.exchange, world.rich
    unbuilt = ("trading/order/update", "trading/order/place/market",
               "trading/order/place/conditional", "trading/order/cancel/conditional",
               "trading/order/batch", "cash/transfer", "cash/withdraw", "auth/sessions/revoke-all",
               "auth/admin-keys/add", "auth/admin-keys/remove", "auth/scoped-keys/add",
               "auth/scoped-keys/remove", "account/close", "subaccounts/create",
               "subaccounts/close", "portfolio/create", "trading/schedule-cancel",
               "trading/mmp/set", "trading/mmp/reset", "login", "logout", "api-keys/revoke")
    for path in unbuilt:  # a code whose handler is not there has no route
        body = envelope(payload_of(1, bytes(48), account.session), account.session.public,
                        bytes(64))
        table.problem(path, exchange.raw(request_bytes("POST", f"/api/v1/{path}", body, [JSON])),
                      404, "not_found")
    numbers = [1, 2, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
               29, 30, 31, 32, 33, 35, 36, 99, 999, 1002, 1004, 1005, 1006, 1007, 1008, 1009, 1010,
               1099, 2000, 2001, 2013, 2014, 2015, 2099, 2100, 2199, 65535]
    for path in (PATHS[PLACE_LIMIT], PATHS[ORACLE_PRICE]):
        for code in numbers:
            payload = header(code, ED25519) + new_id() + bytes(48)
            body = envelope(payload, account.session.public, account.session.sign(payload))
            response = exchange.kept(request_bytes("POST", path, body, [JSON]))
            table.problem(f"{code} on {path}", response, 400, "request_type_not_allowed",
                          request_type=code)
    for code, path in itertools.product(PATHS, sorted(set(PATHS.values()))):
        if PATHS[code] == path:
            continue
        payload = header(code, ED25519) + new_id() + bytes(48)
        body = envelope(payload, account.session.public, account.session.sign(payload))
        response = exchange.kept(request_bytes("POST", path, body, [JSON]))
        table.problem(f"{code} on {path}", response, 400, "request_type_not_allowed",
                      request_type=code)
    return table.wrong


@suite.case
def who_may_sign(world):
    """R11, steps 6, 9, 11 and row 3: which curve and which key signs which code."""
    table = Table()
    exchange = world.exchange
    account = world.account(1)
    salt = exchange.salt

    def raw(path, payload, public, signature, **more):
        return exchange.raw(request_bytes("POST", path,
                                          envelope(payload, public, signature, **more), [JSON]))

    def send(code, body, signature_type, key):
        payload = header(code, signature_type) + new_id() + body
        return raw(PATHS[code], payload, key.public, key.sign(payload, salt))

    orders = {PLACE_LIMIT: limit_body(account.id, 900_000, 20),
              CANCEL: cancel_body(account.id, new_id()), CANCEL_ALL: cancel_all_body(account.id)}
    for code, body in orders.items():
        table.problem(f"secp256k1 signs {code}", send(code, body, SECP256K1, account.master), 400,
                      "request_type_not_allowed", request_type=code)
    body = account_body(Ed25519Key().public)
    payload = header(CREATE_ACCOUNT, PASSKEY) + new_id() + body
    passkey = {"credential_id": b64(bytes(16)), "authenticator_data": b64(bytes(37)),
               "client_data_json": b64(b"{}")}
    table.problem("passkey signs 11", raw(PATHS[CREATE_ACCOUNT], payload, account.master.public,
                                          bytes(64), **passkey), 400, "request_type_not_allowed")
    table.problem("Ed25519 signs 11", send(CREATE_ACCOUNT, body, ED25519, Ed25519Key()), 400,
                  "request_type_not_allowed")
    for code, body in ((ORACLE_PRICE, oracle_body(BTC_PRICE)),
                       (DEPOSIT, deposit_body(account.id, 1))):
        table.problem(f"secp256k1 signs {code}", send(code, body, SECP256K1, Secp256k1Key()), 400,
                      "request_type_not_allowed")
    # The header says one curve, the key is of the other: 401 before any signature is looked at.
    body = session_body(account.id, Ed25519Key().public)
    payload = header(CREATE_SESSION, SECP256K1) + new_id() + body
    table.problem("Ed25519 key under header 1",
                  raw(PATHS[CREATE_SESSION], payload, account.session.public,
                      account.session.sign(payload)), 401, "signature_type_mismatch")
    payload = header(CREATE_SESSION, ED25519) + new_id() + body
    table.problem("secp256k1 key under header 0",
                  raw(PATHS[CREATE_SESSION], payload, account.master.public,
                      account.master.sign(payload, salt)), 401, "signature_type_mismatch")
    payload = header(CREATE_SESSION, PASSKEY) + new_id() + body
    table.problem("a plain envelope under header 2",
                  raw(PATHS[CREATE_SESSION], payload, account.master.public,
                      account.master.sign(payload, salt)), 401, "signature_type_mismatch")
    payload = header(CREATE_SESSION, SECP256K1) + new_id() + body
    table.problem("a passkey envelope under header 1",
                  raw(PATHS[CREATE_SESSION], payload, account.master.public,
                      account.master.sign(payload, salt), **passkey), 401,
                  "signature_type_mismatch")
    # R11: 13-15 by a session -> session_rejected; on /sessions/revoke by the network thread.
    table.success("a session makes a session", send(CREATE_SESSION, body, ED25519,
                                                    account.session),
                  False, "session_rejected", sequenced=None)
    table.success("a session revokes one", send(
        REVOKE_SESSION, revoke_body(account.id, account.session.public), ED25519,
        account.session), False, "session_rejected", sequenced=False)
    table.success("an unknown session revokes one", send(
        REVOKE_SESSION, revoke_body(account.id, account.session.public), ED25519, Ed25519Key()),
        False, "session_rejected", sequenced=False)
    table.success("an unknown master makes a session", send(CREATE_SESSION, body, SECP256K1,
                                                            Secp256k1Key()),
                  False, "session_rejected", sequenced=False)
    table.success("an unknown session makes an API key", send(
        CREATE_API_KEY, api_key_body(account.id), ED25519, Ed25519Key()), False,
        "rejected_unauthorized", sequenced=False)
    # W3a: the oracle's key signs 1000 and nothing else, the operator's all others.
    for row, code, body, key in (
            ("operator's key", ORACLE_PRICE, oracle_body(BTC_PRICE), exchange.operator),
            ("oracle's key", DEPOSIT, deposit_body(account.id, USDC), exchange.oracle),
            ("oracle's key", MARKET_DEFINE, market_body({}), exchange.oracle),
            ("a session", DEPOSIT, deposit_body(account.id, USDC), account.session),
            ("an unknown key", ORACLE_PRICE, oracle_body(BTC_PRICE), Ed25519Key())):
        table.ack(f"{row} on {code}", send(code, body, ED25519, key), "rejected_unauthorized",
                  sequenced=None)
    return table.wrong


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
def clock_window(world):
    """W5: -30,000 ms <= id - now <= 5,000 ms; the problem tells the server's time."""
    table = Table()
    account = world.rich
    for offset, good in ((-29_000, True), (4_000, True), (-31_000, False), (6_000, False),
                         (-10_000_000, False), (10_000_000, False)):
        request_id = new_id(now_ms() + offset)
        response = world.exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20),
                                       account.session, request_id)
        if good:
            table.ack(f"{offset} ms", response, "request_completed")
            continue
        table.problem(f"{offset} ms", response, 400, "request_timestamp_out_of_window")
        if response.status == 400:
            table.true(f"{offset} ms: server_time_ms",
                       abs(response.json["server_time_ms"] - now_ms()) < 2_000, response)
    for row, request_id in (("all zero but the version", bytes(6) + b"\x70\0\x80" + bytes(7)),
                            ("the last millisecond", b"\xff" * 6 + b"\x70\0\x80" + bytes(7))):
        response = world.exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20),
                                       account.session, request_id)
        table.problem(row, response, 400, "request_timestamp_out_of_window")
    return table.wrong


@suite.case
def asked_for_evidence(world):
    """X-Ack and Accept: application/octet-stream are parts this binary does not have: 400."""
    table = Table()
    account, exchange = world.rich, world.exchange
    for name, value in (("X-Ack", "full"), ("X-Ack", "binary"), ("x-ack", "FULL"),
                        ("Accept", "application/octet-stream")):
        payload = payload_of(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session)
        text = envelope(payload, account.session.public, account.session.sign(payload))
        request = request_bytes("POST", PATHS[PLACE_LIMIT], text, [JSON, (name, value)])
        table.problem(f"{name}: {value}", exchange.raw(request), 400, "invalid_parameter")
        response = account.order(payload[8:24])
        table.problem(f"{name}: {value}: nothing placed", response, 404, "order_not_found")
    for value in ("application/json", "*/*", "application/*;q=0.5"):
        payload = payload_of(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session)
        text = envelope(payload, account.session.public, account.session.sign(payload))
        request = request_bytes("POST", PATHS[PLACE_LIMIT], text, [JSON, ("Accept", value)])
        table.ack(f"Accept: {value}", exchange.raw(request), "request_completed")
    return table.wrong


# --- W5, W6: duplicates, accounts, sessions, API keys --------------------------------------------

@suite.case
def duplicates_of_orders(world):
    """W5: a replay answers with the original outcome; 4xx and unknown keys leave an id unused."""
    table = Table()
    exchange, account, other = world.exchange, world.account(), world.account()
    request_id = new_id()
    first = account.limit(900_000, 20, request_id)
    for binary in (False, True):
        response = exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session,
                                 request_id, binary)
        table.ack(f"again, binary {binary}", response, "duplicate_request_id", sequenced=False,
                  original_status="request_completed",
                  original_processed_at_ns=first["processed_at_ns"])
    response = exchange.send(CANCEL, cancel_body(account.id, request_id), account.session,
                             request_id)
    table.ack("another code", response, "duplicate_request_id", sequenced=False,
              original_status="request_completed",
              original_processed_at_ns=first["processed_at_ns"])
    second = Ed25519Key()
    exchange.ack(CREATE_SESSION, session_body(account.id, second.public), account.master)
    response = exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20), second, request_id)
    table.ack("another session of the account", response, "duplicate_request_id", sequenced=False,
              original_status="request_completed",
              original_processed_at_ns=first["processed_at_ns"])
    response = exchange.send(PLACE_LIMIT, limit_body(other.id, 900_000, 20), other.session,
                             request_id)
    table.ack("another account", response, "request_completed")
    request_id = new_id()
    refused = account.limit(900_000, 0, request_id)
    table.same("a refused order", refused["status"], "rejected_size_zero")
    response = exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session,
                             request_id)
    table.ack("after a rejection", response, "duplicate_request_id", sequenced=False,
              original_status="rejected_size_zero",
              original_processed_at_ns=refused["processed_at_ns"])
    request_id = new_id()
    payload = payload_of(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session,
                         request_id)
    exchange.raw(request_bytes("POST", PATHS[PLACE_LIMIT],
                               envelope(payload, account.session.public, bytes(64)), [JSON]))
    table.ack("after a 401", exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20),
                                           account.session, request_id), "request_completed")
    stranger, request_id = Ed25519Key(), new_id()
    exchange.ack(PLACE_LIMIT, limit_body(account.id, 900_000, 20), stranger, request_id)
    exchange.ack(CREATE_SESSION, session_body(account.id, stranger.public), account.master)
    table.ack("after an unknown key", exchange.send(
        PLACE_LIMIT, limit_body(account.id, 900_000, 20), stranger, request_id),
        "request_completed")
    return table.wrong


@suite.case
def one_id_at_once(world):
    """W5: the same request on eight connections at once is executed once."""
    table = Table()
    account, exchange = world.account(), world.exchange
    for number in range(20):
        request_id = new_id()
        data = exchange.signed(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session,
                               request_id, binary=bool(number % 2))
        connections = [exchange.open() for _ in range(8)]
        for connection in connections:
            connection.send(data)
        answers = [connection.receive().json for connection in connections]
        for connection in connections:
            connection.close()
        done = [body for body in answers if body["status"] == "request_completed"]
        table.same(f"round {number}: executed", len(done), 1)
        for body in answers:
            if done and body is not done[0]:
                table.same(f"round {number}", [body["status"], body.get("original_status"),
                                               body.get("original_processed_at_ns")],
                           ["duplicate_request_id", "request_completed",
                            done[0]["processed_at_ns"]])
        account.cancel(request_id)
    return table.wrong


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
    table.same("expires_at", born["expires_at"], client._utc(expiry // 1_000_000))
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
    table.same("its expires_at", body["expires_at"], client._utc(expiry // 1_000_000))
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
    table.success("a short life", create(session_body(account.id, short.public,
                                                      time.time_ns() + SECOND // 2)), True,
                  "session_created", **made)
    time.sleep(0.7)
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
    """R11 code 1000 and R5: order of publish times, the 10 % hold and its end."""
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
    table.ack("a jump", price(400_000, **asset), "request_completed")
    table.same("held", exchange.get("/api/v1/markets/ETH-PERP").json["state"], "CANCEL_ONLY")
    table.same("placing", account.limit(400_000, 1_000, **asset)["status"],
               "rejected_market_cancel_only")
    table.same("canceling", account.cancel(resting, **asset)["status"], "request_completed")
    table.ack("within 2 %", price(404_000, **asset), "request_completed")
    table.same("still held", exchange.get("/api/v1/markets/ETH-PERP").json["state"],
               "CANCEL_ONLY")
    table.ack("a third", price(402_000, **asset), "request_completed")
    table.same("released", exchange.get("/api/v1/markets/ETH-PERP").json["state"], "ACTIVE")
    table.same("placing", account.limit(400_000, 1_000, **asset)["status"], "request_completed")
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


def market_record():
    """TEST-PERP: lot 0.01 = 10 raw units, tick 0.01 = 10 raw units."""
    return {"market": "TEST-PERP", "asset_id": TEST, "base": "TEST", "price_decimals": 3,
            "size_decimals": 3, "tick_size": "0.01", "lot_size": "0.01", "min_size": "0.05",
            "max_order_size": "1000000", "min_notional": "10", "impact_notional": "6000",
            "max_leverage": 20,
            "tiers": [{"upper_notional": "5000000", "max_leverage": 20},
                      {"upper_notional": None, "max_leverage": 3}],
            "price_band_ppm": 100000, "max_slippage_ppm": 50000,
            "fees": [{"tier": tier, "maker_fee_rate": "0.0001", "taker_fee_rate": "0.0005"}
                     for tier in range(6)]}


@suite.case
def markets_defined(world):
    """R11 code 1001, J5: strict, and R10: what may change later."""
    table = Table()
    exchange = world.exchange

    def define(body):
        return exchange.send(MARKET_DEFINE, body, exchange.operator)

    bad = [("no JSON", b"{nothing".ljust(16, b"\0")), ("empty", bytes(8)),
           ("an array", market_body([])), ("a duplicate member", market_body(
               market_record())[:-8].rstrip(b"\0}").ljust(8, b" ") + b',"market":"TEST-PERP"}')]
    changes = {"an unknown member": {"colour": "red"}, "asset 0": {"asset_id": 0},
               "asset 65535": {"asset_id": 65535}, "decimals that make 7": {"size_decimals": 4},
               "another base": {"base": "TOAST"}, "lower case": {"market": "test-PERP"},
               "no -PERP": {"market": "TEST"}, "tick 0": {"tick_size": "0"},
               "tick below a raw unit": {"tick_size": "0.0001"}, "tick a number": {"tick_size": 1},
               "exponent": {"tick_size": "1e-2"}, "min no lot multiple": {"min_size": "0.015"},
               "leverage 0": {"max_leverage": 0}, "leverage 101": {"max_leverage": 101},
               "band 0": {"price_band_ppm": 0}, "band 1,000,000": {"price_band_ppm": 1000000},
               "no tiers": {"tiers": []}, "interval": {"funding_interval_s": 60},
               "another max_price": {"max_price": "1"}, "five fees": {
                   "fees": market_record()["fees"][:5]},
               "tiers descending": {"tiers": [
                   {"upper_notional": "9", "max_leverage": 20},
                   {"upper_notional": "8", "max_leverage": 5},
                   {"upper_notional": None, "max_leverage": 3}]}}
    for row, change in changes.items():
        bad.append((row, market_body({**market_record(), **change})))
    for name in market_record():
        record = market_record()
        del record[name]
        bad.append((f"without {name}", market_body(record)))
    for row, body in bad:
        body += bytes(-len(body) % 8)
        table.ack(row, define(body), "order_rejected_invalid")
    # W1, W3a: at most 4,120 bytes of text; in a frame 4,241 of all.
    for binary in (False, True):
        response = exchange.send(MARKET_DEFINE, b"{}".ljust(4_120, b"\0"), exchange.operator,
                                 binary=binary)
        table.ack(f"4,120 bytes, binary {binary}", response, "order_rejected_invalid")
        response = exchange.send(MARKET_DEFINE, b"{}".ljust(4_128, b"\0"), exchange.operator,
                                 binary=binary)
        if binary:
            table.problem("4,128 bytes in a frame", response, 413, "payload_too_large",
                          max_bytes=4_241)
        else:
            table.problem("4,128 bytes in JSON", response, 400, "malformed_payload")
        response = exchange.send(MARKET_DEFINE, b"{}".ljust(12, b"\0"), exchange.operator,
                                 binary=binary)
        table.problem(f"no multiple of 8, binary {binary}", response, 400, "malformed_payload")
    table.problem("not there", exchange.get("/api/v1/markets/TEST-PERP"), 404, "not_found")
    table.ack("defined", define(market_body(market_record())), "request_completed")
    shown = exchange.get("/api/v1/markets/TEST-PERP").json
    want = market_record()
    want["tiers"] = [  # R4: imr = floor(1e6 / leverage), mmr = floor(imr / 2)
        {"upper_notional": "5000000", "max_leverage": 20, "imr_ppm": 50000, "mmr_ppm": 25000},
        {"upper_notional": None, "max_leverage": 3, "imr_ppm": 333333, "mmr_ppm": 166666}]
    want.update(funding_interval_s=3600, state="ACTIVE",
                max_price="167772.15")  # W7: tick * (2^24 - 1)
    table.same("shown", shown, want)
    table.ack("the band changed", define(market_body({**market_record(),
                                                      "price_band_ppm": 90000})),
              "request_completed")
    table.same("shown", exchange.get("/api/v1/markets/TEST-PERP").json["price_band_ppm"], 90000)
    for row, change in (("tick", {"tick_size": "0.1"}), ("lot", {"lot_size": "0.05"}),
                        ("decimals", {"price_decimals": 2, "size_decimals": 4}),
                        ("id", {"asset_id": 9})):
        table.ack(f"another {row}", define(market_body({**market_record(), **change})),
                  "order_rejected_invalid")
    table.ack("its band is back", define(market_body(market_record())), "request_completed")
    exchange.set_price(100_000, TEST)  # 100.000 USDC
    return table.wrong


# --- R11, engine rows that a limit order, a cancel or a cancel-all can meet -----------------------

@suite.case
def order_rows(world):
    """R11, rows 3-24: one fault each, and two at once -> the earlier row."""
    table = Table()
    exchange, account = world.exchange, world.account()

    def send(expected, row, price=1_000_000, quantity=20, **more):
        response = exchange.send(PLACE_LIMIT, limit_body(account.id, price, quantity, **more),
                                 account.session)
        table.ack(f"row {row} {more} price {price} quantity {quantity}", response, expected)

    now = time.time_ns()
    far, past = now + 91 * DAY, now - SECOND
    portfolio, market = "rejected_invalid_portfolio_id", "order_rejected_invalid_market"
    missing, invalid = "rejected_market_not_found", "order_rejected_invalid"
    flags, expired = "rejected_invalid_order_flags", "order_rejected_expired"
    zero, size, price = "rejected_size_zero", "rejected_invalid_size", "rejected_invalid_price"
    send(portfolio, 5, subaccount=1)
    send(portfolio, 5, portfolio=1)
    send(portfolio, 5, portfolio=0xFFFFFFFF)
    send(portfolio, "5 before 7", portfolio=1, asset=0)
    send(market, 7, asset=0)
    send(market, 7, asset=ALL_ASSETS)
    send(market, "7 before 9", asset=0, pad43=1)
    send(missing, 8, asset=77)
    send(missing, "8 before 9", asset=77, pad43=1)
    send(invalid, 9, pad43=1)
    send(invalid, 9, pad46=0x100)
    send(invalid, "9 before 11", pad46=1, stp=4)
    send(flags, 11, post_only=2)
    send(flags, 11, reduce_only=255)
    send(flags, 11, stp=4)
    send(flags, 11, post_only=1, expiry=IOC)
    send(flags, 11, post_only=1, expiry=FOK)
    send(flags, 11, expiry=far)
    send(flags, 11, expiry=2**63)
    send(flags, 11, expiry=2**64 - 2)
    send(flags, "11 before 12", stp=4, expiry=past)
    send(expired, 12, expiry=past)
    send(expired, 12, expiry=2)
    send(expired, "12 before 15", expiry=past, quantity=0)
    send(zero, 15, quantity=0)
    send(zero, "15 before 17", quantity=0, price=0)
    send(size, 16, quantity=-2**63)
    send(size, 16, quantity=2**40)
    send(size, 16, quantity=-2**40)
    send(size, "16, |q| <= 2^40 - 1 before the price", quantity=2**40, price=0)
    send(size, "17b, notional above 2^50", quantity=2**40 - 1)
    send(price, 17, price=0)
    send(price, 17, price=2**40)
    send(price, "17, above max_price", price=16_777_216)
    send(price, 17, price=2**64 - 1)
    send(price, "17 before 19", price=0, asset=NO_MARK)
    send("rejected_mark_price_zero", 19, asset=NO_MARK, price=100_000, quantity=1_000)
    send("rejected_mark_price_zero", "19, reduce-only too", asset=NO_MARK, price=100_000,
         quantity=1_000, reduce_only=1)
    send(price, 20, price=1_100_001)
    send(price, 20, price=899_999, quantity=-20)
    send(price, "20 before 21", price=1_100_001, quantity=1)
    send(size, 21, quantity=9)  # 9.0 USDC
    send("invalid_reduce_only_order", 24, reduce_only=1)
    send("invalid_reduce_only_order", "24, 21 is not for it", reduce_only=1, quantity=1)
    send("request_completed", "20, the edge", price=1_100_000, quantity=-20)
    send("request_completed", "20, the edge", price=900_000)
    send("request_completed", "21, the edge", price=1_000_000, quantity=10)
    send("request_completed", "12, GTT", price=900_000, expiry=now + 89 * DAY)
    # TEST-PERP: lot and tick are ten raw units, min_size 0.05 = 50.
    exchange.set_price(100_000, TEST)
    send(size, "16, off lot", asset=TEST, price=100_000, quantity=205)
    send(size, "16, below min", asset=TEST, price=100_000, quantity=40)
    send(size, "16, above max", asset=TEST, price=100_000, quantity=1_000_000_010)
    send(price, "17, off tick", asset=TEST, price=100_005, quantity=200)
    send(size, "16 before 17", asset=TEST, price=100_005, quantity=205)
    send("request_completed", "16, 17", asset=TEST, price=100_010, quantity=200)
    account.cancel_all()
    return table.wrong


@suite.case
def cancel_rows(world):
    """R11: codes 3 and 4."""
    table = Table()
    exchange, account, other = world.exchange, world.account(), world.account()

    def cancel(row, expected, order_id, **more):
        table.ack(row, exchange.send(CANCEL, cancel_body(account.id, order_id, **more),
                                     account.session), expected)

    order_id = new_id()
    account.limit(900_000, 20, order_id)
    version4 = order_id[:6] + b"\x40" + order_id[7:]
    cancel("row 5", "rejected_invalid_portfolio_id", order_id, portfolio=1)
    cancel("row 5 before 6", "rejected_invalid_portfolio_id", version4, subaccount=1)
    cancel("row 6", "rejected_invalid_uuid", version4)
    cancel("row 6", "rejected_invalid_uuid", bytes(16))
    cancel("row 6 before 7", "rejected_invalid_uuid", version4, asset=0)
    cancel("row 7", "order_rejected_invalid_market", order_id, asset=0)
    cancel("row 7", "order_rejected_invalid_market", order_id, asset=ALL_ASSETS)
    cancel("row 8", "rejected_market_not_found", order_id, asset=99)
    cancel("row 8 before 9", "rejected_market_not_found", order_id, asset=99, pad=1)
    cancel("row 9", "order_rejected_invalid", order_id, pad=1)
    cancel("row 9", "order_rejected_invalid", order_id, asset_pad=1)
    cancel("row 9 before 13", "order_rejected_invalid", new_id(), pad=1)
    cancel("row 13, unknown", "rejected_order_not_found", new_id())
    cancel("row 13, another market", "rejected_order_not_found", order_id, asset=SOL)
    foreign = new_id()
    other.limit(900_000, 20, foreign)
    cancel("row 13, another account's", "rejected_order_not_found", foreign)
    cancel("canceled", "request_completed", order_id)
    cancel("row 13, final", "rejected_order_not_found", order_id)

    def everything(row, expected, **more):
        table.ack(row, exchange.send(CANCEL_ALL, cancel_all_body(account.id, **more),
                                     account.session), expected)

    everything("nothing there", "request_completed")
    everything("one market", "request_completed", asset=BTC, portfolio=0)
    everything("row 5", "rejected_invalid_portfolio_id", portfolio=1)
    everything("row 5", "rejected_invalid_portfolio_id", subaccount=4)
    everything("row 7", "order_rejected_invalid_market", asset=0)
    everything("row 8", "rejected_market_not_found", asset=99)
    everything("row 9, side", "order_rejected_invalid", side=3)
    everything("row 9, pad", "order_rejected_invalid", pad=1)
    everything("row 11, bool", "rejected_invalid_order_flags", conditional=2)
    ids = [new_id() for _ in range(4)]
    for at, (asset, price, quantity) in enumerate((
            (BTC, 900_000, 20), (BTC, 1_100_000, -20), (TEST, 95_000, 200), (TEST, 105_000, -200))):
        table.same("placed", account.limit(price, quantity, ids[at], asset=asset)["status"],
                   "request_completed")

    def states():
        return [account.order(order_id).json["order_status"] for order_id in ids]

    everything("buys of BTC", "request_completed", asset=BTC, side=1)
    table.same("buys of BTC", states(), ["CANCELED", "OPEN", "OPEN", "OPEN"])
    everything("sells", "request_completed", side=2)
    table.same("sells", states(), ["CANCELED", "CANCELED", "OPEN", "CANCELED"])
    everything("the rest", "request_completed", conditional=1, portfolio=0)
    table.same("the rest", states(), ["CANCELED"] * 4)
    table.same("reason", account.order(ids[0]).json["reason"], "cancel_all")
    return table.wrong


@suite.case
def matching(world):
    """R3: times in force, post-only, reduce-only, self-trade modes; R11, rows 24-33."""
    table = Table()
    maker, taker = world.account(), world.account()

    def place(row, who, expected, price, quantity, **more):
        order_id = new_id()
        table.same(row, who.limit(price, quantity, order_id, **more)["status"], expected)
        return order_id

    def state(row, who, order_id, status, filled=None, reason=None):
        record = who.order(order_id).json
        table.same(row, record.get("order_status"), status)
        if filled is not None:
            table.same(f"{row}: filled", record.get("filled_size"), filled)
        table.same(f"{row}: reason", record.get("reason"), reason)

    done = "request_completed"
    ask = place("maker", maker, done, 1_000_500, -1_000)  # 0.01 BTC at 100,050
    order = place("IOC below", taker, done, 1_000_400, 100, expiry=IOC)
    state("IOC below", taker, order, "CANCELED", "0", "time_in_force")
    order = place("IOC", taker, done, 1_000_500, 400, expiry=IOC)
    state("IOC", taker, order, "FILLED", "0.004")
    state("maker", maker, ask, "PARTIALLY_FILLED", "0.004")
    place("row 30", taker, "rejected_f_o_k_not_fully_filled_low_liquidity", 1_000_500, 601,
          expiry=FOK)
    state("untouched", maker, ask, "PARTIALLY_FILLED", "0.004")
    order = place("FOK", taker, done, 1_000_500, 100, expiry=FOK)
    state("FOK", taker, order, "FILLED", "0.001")
    order = place("row 28", taker, "rejected_post_only_would_cross_book", 1_000_500, 20,
                  post_only=1)
    state("row 28", taker, order, "REJECTED", "0", "rejected_post_only_would_cross_book")
    order = place("post-only rests", taker, done, 1_000_400, 20, post_only=1)
    state("post-only rests", taker, order, "OPEN", "0")
    taker.cancel(order)
    state("canceled", taker, order, "CANCELED", "0", "user_cancel")
    order = place("IOC for more", taker, done, 1_000_500, 600, expiry=IOC)
    state("IOC for more", taker, order, "CANCELED", "0.005", "time_in_force")
    state("maker is done", maker, ask, "FILLED", "0.01")
    # taker is long 0.01, maker short 0.01
    place("row 24, the same side", taker, "invalid_reduce_only_order", 1_000_000, 20,
          reduce_only=1)
    place("row 24, FOK above the position", taker, "invalid_reduce_only_order", 1_000_000, -1_001,
          reduce_only=1, expiry=FOK)
    bid = place("a bid", maker, done, 1_000_000, 300)
    order = place("reduce-only is clipped", taker, done, 1_000_000, -5_000, reduce_only=1,
                  expiry=IOC)
    state("reduce-only is clipped", taker, order, "CANCELED", "0.003", "time_in_force")
    state("the bid", maker, bid, "FILLED", "0.003")
    # Self-trade modes: EXPIRE_TAKER, EXPIRE_MAKER, EXPIRE_BOTH, DECREMENT (R3).
    own = place("own ask", maker, done, 1_000_500, -100)
    order = place("mode 0", maker, "self_trade_prevention", 1_000_500, 50, stp=0)
    state("mode 0", maker, order, "REJECTED", "0", "self_trade_prevention")
    place("row 29, FOK in mode 2", maker, "self_trade_prevention", 1_000_500, 50, stp=2,
          expiry=FOK)
    place("row 28 before 29", maker, "rejected_post_only_would_cross_book", 1_000_500, 50,
          post_only=1)
    place("row 29 before 30", maker, "self_trade_prevention", 1_000_500, 5_000, expiry=FOK)
    state("own ask stands", maker, own, "OPEN", "0")
    order = place("mode 1", maker, done, 1_000_500, 50, stp=1)
    state("mode 1: taker rests", maker, order, "OPEN", "0")
    state("mode 1: maker", maker, own, "CANCELED", "0", "self_trade_prevention")
    own = place("mode 2", maker, done, 1_000_400, -50, stp=2)
    state("mode 2: taker", maker, own, "CANCELED", "0", "self_trade_prevention")
    state("mode 2: maker", maker, order, "CANCELED", "0", "self_trade_prevention")
    own = place("own ask", maker, done, 1_000_500, -100)
    order = place("mode 3, smaller taker", maker, done, 1_000_500, 40, stp=3)
    state("mode 3: taker", maker, order, "CANCELED", "0", "self_trade_prevention")
    record = maker.order(own).json
    table.same("mode 3: maker", [record[name] for name in (
        "order_status", "initial_size", "remaining_size")], ["OPEN", "0.0006", "0.0006"])
    order = place("mode 3, larger taker", maker, done, 1_000_500, 100, stp=3)
    record = maker.order(order).json
    table.same("mode 3: taker", [record[name] for name in (
        "order_status", "initial_size", "remaining_size")], ["OPEN", "0.0004", "0.0004"])
    state("mode 3: maker", maker, own, "CANCELED", "0", "self_trade_prevention")
    maker.cancel_all()
    # Rows 31-33: margin. 1 USDC against 100,000.
    poor = world.account(1)
    place("row 33", poor, "insufficient_margin_to_place", 1_000_000, 100_000)
    ask = place("an ask", maker, done, 1_000_100, -10_000)
    place("row 32", poor, "insufficient_margin_to_trade", 1_000_100, 10_000)
    place("row 32, IOC", poor, "insufficient_margin_to_trade", 1_000_100, 10_000, expiry=IOC)
    place("row 31", poor, "rejected_f_o_k_not_fully_filled_insufficient_margin", 1_000_100, 10_000,
          expiry=FOK)
    place("row 30 before 31", poor, "rejected_f_o_k_not_fully_filled_low_liquidity", 1_000_100,
          20_000, expiry=FOK)
    state("the ask stands", maker, ask, "OPEN", "0")
    maker.cancel_all()
    # Row 26: the rig allows 20 resting orders.
    ids = [place(f"order {number}", taker, done, 950_000, 20) for number in range(20)]
    place("row 26", taker, "rejected_max_open_orders_exceeded", 950_000, 20)
    ask = place("an ask", maker, done, 1_000_100, -1_000)
    place("row 26 before 28", taker, "rejected_max_open_orders_exceeded", 1_000_100, 20,
          post_only=1)
    place("row 26, an IOC does not rest", taker, done, 1_000_100, 20, expiry=IOC)
    taker.cancel(ids[0])
    place("one place again", taker, done, 950_000, 20)
    # Expiry.
    taker.cancel_all()
    maker.cancel_all()
    expiry = time.time_ns() + 2 * SECOND // 5
    order_id = new_id()
    table.same("GTT", taker.limit(950_000, 20, order_id, expiry=expiry)["status"], done)
    record = taker.order(order_id).json
    table.same("GTT", [record["order_status"], record["time_in_force"], record["expires_at"]],
               ["OPEN", "GTT", expiry])
    time.sleep(0.7)
    state("expired", taker, order_id, "EXPIRED", "0")
    table.same("row 13", taker.cancel(order_id)["status"], "rejected_order_not_found")
    return table.wrong


def main():
    client.check_vectors()
    perpd = Perpd(perpd_program(), "--exchange.oracle_max_age_ms=0", "--limits.open_orders=20",
                  *client.SMALL_TABLES)
    try:
        result = suite.run(World(perpd.start()), only())
        audit = perpd.exchange.admin("/audit").json
        if not all(audit[f"i{number}"] for number in range(1, 7)) or audit["recount_differences"]:
            print(f"FAILED audit (R2): {audit}")
            result = 1
        code = perpd.stop()
        if code != 0:
            print(f"FAILED stop: exit code {code}\n{perpd.log()}")
            result = 1
        return result
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
