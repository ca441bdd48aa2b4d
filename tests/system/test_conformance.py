"""test_conformance.py - signed requests, seen from outside: R11's network list step by step and in
its order, both envelopes, every code this binary has.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import dataclasses
import itertools
import json
import sys
import time

from client import (CANCEL, CANCEL_ALL, CREATE_ACCOUNT, CREATE_API_KEY, CREATE_SESSION, DEPOSIT,
                    ED25519, JSON, MARKET_DEFINE, OCTETS, ORACLE_PRICE, PASSKEY, PATHS,
                    PLACE_LIMIT, REVOKE_SESSION, SECP256K1, Ed25519Key, Secp256k1Key, account_body,
                    api_key_body, b64, cancel_all_body, cancel_body, deposit_body, envelope, frame,
                    header, limit_body, market_body, new_id, now_ms, oracle_body, payload_of,
                    request_bytes, revoke_body, session_body)
from harness import Suite, Table
from world import BTC_PRICE, USDC, run

suite = Suite("conformance")


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
    for path in ("auth/admin-keys", "auth/scoped-keys/replace"):  # paths of no code
        body = envelope(payload_of(1, bytes(48), account.session), account.session.public,
                        bytes(64))
        table.problem(path, exchange.raw(request_bytes("POST", f"/api/v1/{path}", body, [JSON])),
                      404, "not_found")
    numbers = [1, 2, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
               29, 30, 31, 32, 33, 35, 36, 99, 999, 1004, 1005, 1006, 1007, 1009, 1010, 1011,
               1099, 2000, 2001, 2013, 2014, 2015, 2099, 2100, 2199, 65535]
    operators = (1004, 1005, 1006, 1007, 1009, 1010, 1011)
    for path in (PATHS[PLACE_LIMIT], PATHS[ORACLE_PRICE]):
        for code in numbers:
            if code in operators and path == PATHS[ORACLE_PRICE]:
                continue
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
def clock_window(world):
    """W5: -30,000 ms <= id - now <= 5,000 ms; the problem tells the server's time."""
    table = Table()
    account = world.rich
    for offset, good in ((-29_000, True), (4_000, True), (-31_000, False), (6_000, False),
                         (-10_000_000, False), (10_000_000, False)):
        begun_ms = now_ms() - 1_000
        # Else the id may have left or entered the window on its way.
        while now_ms() - begun_ms > 900:
            begun_ms = now_ms()
            response = world.exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20),
                                           account.session, new_id(begun_ms + offset))
        if good:
            table.ack(f"{offset} ms", response, "request_completed")
            continue
        table.problem(f"{offset} ms", response, 400, "request_timestamp_out_of_window")
        if response.status == 400:
            table.true(f"{offset} ms: server_time_ms",
                       begun_ms - 1 <= response.json["server_time_ms"] <= now_ms() + 1, response)
    for row, request_id in (("all zero but the version", bytes(6) + b"\x70\0\x80" + bytes(7)),
                            ("the last millisecond", b"\xff" * 6 + b"\x70\0\x80" + bytes(7))):
        response = world.exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20),
                                       account.session, request_id)
        table.problem(row, response, 400, "request_timestamp_out_of_window")
    return table.wrong


@suite.case
def asked_for_evidence(world):
    """W5, J4: X-Ack and Accept choose the form of the answer; what is neither is refused."""
    table = Table()
    account, exchange = world.rich, world.exchange

    def place(headers, binary=False):
        payload = payload_of(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session)
        parts = payload, account.session.public, account.session.sign(payload)
        body = frame(*parts) if binary else envelope(*parts)
        media = OCTETS if binary else JSON
        return payload[8:24], exchange.raw(request_bytes("POST", PATHS[PLACE_LIMIT], body,
                                                         [media, *headers]))

    for row, headers, binary in (("another word", [("X-Ack", "brief")], False),
                                 ("binary with an envelope", [("X-Ack", "binary")], False)):
        request_id, response = place(headers, binary)
        table.problem(row, response, 400, "invalid_parameter", parameter="X-Ack")
        table.problem(f"{row}: nothing placed", account.order(request_id), 404, "order_not_found")
    for name, value in (("X-Ack", "full"), ("x-ack", "full")):
        shown = place([(name, value)])[1].json
        table.same("members of X-Ack: full", list(shown), [
            "status", "processed_at_ns", "sequence", "order_status", "remaining_size",
            "filled_size", "average_price", "quantity_ahead", "book_handle", "best_bid",
            "best_ask", "book_seq", "timing_ns"])
        table.same("order_status", shown.get("order_status"), "OPEN")
        table.same("stages", list(shown.get("timing_ns", {})),
                   ["verified", "sequenced", "matched", "ack"])
    octets = ("Accept", "application/octet-stream")
    for row, headers, binary in (("Accept", [octets], False), ("Accept, frame", [octets], True),
                                 ("X-Ack: binary", [("X-Ack", "binary")], True)):
        request_id, response = place(headers, binary)
        table.same(row, (response.status, response.header("content-type"), len(response.body)),
                   (200, "application/octet-stream", 64))
        table.same(f"{row}: status, order_status, version, pad", response.body[:8],
                   b"\0\0\0\1\0\0\0\0")
        table.same(f"{row}: request_id", response.body[24:40], request_id)
    account.cancel_all()
    for value in ("application/json", "*/*", "application/*;q=0.5"):
        payload = payload_of(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session)
        text = envelope(payload, account.session.public, account.session.sign(payload))
        request = request_bytes("POST", PATHS[PLACE_LIMIT], text, [JSON, ("Accept", value)])
        table.ack(f"Accept: {value}", exchange.raw(request), "request_completed")
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, window=()))
