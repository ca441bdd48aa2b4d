"""test_python.py BUILD - clients/python: its bytes against the vectors, its arithmetic, its ids,
its types, its wheel. W: wire.md.
"""
import asyncio
import base64
import dataclasses
import hashlib
import importlib
import json
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from random import Random
from types import SimpleNamespace
from unittest import mock
from uuid import UUID

import binary_vectors
import book_vectors
from python_library import PYTHON, ROOT, Hidden, vectors
from harness import Suite, Table, only  # noqa: E402  (python_library finds the folders)
import client_wheel  # noqa: E402
import packages  # noqa: E402

from perpd import (Amount, Client, MasterKey, Order, PortfolioId, SessionKey,  # noqa: E402
                   SlowMasterWarning, SlowSignerWarning, WrongChecksum, address_of, address_text)
from perpd import _wire_gen as wire  # noqa: E402
from perpd import binary, binary_private, ed25519, secp256k1, sign, sync, typed_data  # noqa: E402
from perpd.book import Book, Fault  # noqa: E402
from perpd.buckets import Bucket  # noqa: E402
from perpd.errors import Lost  # noqa: E402
from perpd.http import Answer, problem_of  # noqa: E402
from perpd.keccak import keccak_256  # noqa: E402
from perpd.ids import Ids, following_id, id_time_ms, is_v7  # noqa: E402
from perpd.stream import read_object  # noqa: E402
from perpd.trading import Trading  # noqa: E402
import sending_python  # noqa: E402

suite = Suite("client python")


def raises(kind, act):
    try:
        act()
    except kind as error:
        return str(error) or True
    return False


@suite.case
def book_of_the_vectors(_):
    """J9: 1,000 frames of a book, with gaps, wrong checksums, conflation and a lag."""
    table, met = Table(), {"ok": 0, "gap": 0, "fault": 0}
    table.same("the file is what makes it", book_vectors.PATH.read_text(), book_vectors.written())
    whole = json.loads(book_vectors.PATH.read_text())
    market = SimpleNamespace(price_decimals=whole["price_decimals"],
                             size_decimals=whole["size_decimals"])
    book = Book(market, whole["depth"])
    for number, step in enumerate(whole["steps"]):
        frame, expect = step["frame"], step["expect"]
        met[expect] += 1
        is_next = frame["type"] == "snapshot" or frame["prev_seq"] == book.seq
        if not table.same(f"{number}: in order", is_next, expect != "gap"):
            break
        if expect == "gap":
            book.discard()
            continue
        failed = raises(Fault, lambda: book.apply(frame))
        table.same(f"{number}: fault", bool(failed), expect == "fault")
        table.same(f"{number}: live", book.is_live, expect == "ok")
        if expect == "ok" and not table.same(f"{number}: crc", book.crc(), step["crc"]):
            break
    table.same("steps", met, {"ok": 959, "gap": 21, "fault": 20})
    return table.wrong


def said(one):
    """A message that `binary.read` has read, by the names of the vectors."""
    names = {"is_ask": "side", "is_liquidation": "flags"}
    members = {names.get(field.name, field.name): getattr(one, field.name)
               for field in dataclasses.fields(one)}
    head = members.pop("head")
    if isinstance(one, binary.Unknown):
        return {"template": head.template}
    for name, value in members.items():
        members[name] = (str(value) if isinstance(value, UUID) else
                         value.hex() if isinstance(value, bytes) else
                         int(value) if isinstance(value, bool) else value)
    return {"template": head.template, "market": head.market, "flags": 0, "seq": head.seq,
            "time_ns": head.time_ns, **members}


@suite.case
def binary_messages(_):
    """W9, Binary messages: what each says, with what a newer exchange adds; what is none."""
    table, met = Table(), {"frames": 0, "acks": 0, "refused": 0}
    table.same("the file is what makes it", binary_vectors.PATH.read_text(),
               binary_vectors.written())
    for vector in vectors("stream_binary"):
        raw, name = bytes.fromhex(vector["hex"]), vector["name"]
        if "message" not in vector:
            met["refused"] += 1
            table.true(name, raises(binary.Malformed, lambda: binary.read(raw)))
            continue
        got, want = binary.read(raw), vector["message"]
        members = {field.name: getattr(got, field.name) for field in dataclasses.fields(got)}
        if isinstance(got, binary.Ack):
            met["acks"] += 1
            table.same(name, {**members, "request_id": str(got.request_id), "version": 1}, want)
            continue
        met["frames"] += 1
        table.same(name, {**members, "data": [said(one) for one in got.data]}, want)
        for cut in range(len(raw)):
            if cut not in {48 + at for at in range(0, len(raw), 8)}:
                table.true(f"{name}: {cut} bytes", raises(
                    binary.Malformed, lambda: binary.read(raw[:cut])))
    table.same("vectors", met, {"frames": 32, "acks": 2, "refused": 14})
    return table.wrong


@suite.case
def newer_codes(_):
    """W9: a code that is newer than the library is a text; an order in such a state is open."""
    table = Table()
    market = SimpleNamespace(name="BTC-PERP", price_decimals=1, size_decimals=5)
    state = binary.OrderState(binary.Head(4, 64, 1, 0, 9, 1), UUID(int=1), 1, 0, 5, 9, 0, 1)
    event = binary_private.event_of(state, market)
    table.same("the state", (event["order_status"], event["side"]), ("UNKNOWN_9", "SHORT"))
    order = Order(None, UUID(int=1), market, "sell", None, Amount.of("1"))
    order.hear(event, 9)
    table.same("is open", (order.status, order.is_open), ("UNKNOWN_9", True))
    return table.wrong


@suite.case
def newest_of_an_order(_):
    """J9: an order shows its newest event; one that comes late changes nothing."""
    table = Table()
    order = Order(None, UUID(int=1), SimpleNamespace(), "buy", None, Amount.of("1"))
    for at, status, remaining, want in ((7, "FILLED", "0", "FILLED"), (5, "OPEN", "1", "FILLED"),
                                        (8, "CANCELED", "0", "CANCELED")):
        order.hear({"order_status": status, "remaining_size": remaining, "filled_size": "0"}, at)
        table.same(f"after {at}", order.status, want)
    return table.wrong


@suite.case
def bytes_of_the_vectors(_):
    """Each body is read and packed again to the same bytes; a changed one is refused (W1, W3)."""
    table, packed = Table(), 0
    for vector in vectors("ed25519") + vectors("eip712") + vectors("passkey"):
        payload = bytes.fromhex(vector["payload_hex"])
        code = int.from_bytes(payload[2:4], "little")
        kind, request_id = wire.REQUESTS[code], UUID(bytes=payload[8:24])
        if vector["name"] == "create_session_unknown_scope":
            table.true(vector["name"], raises(ValueError, lambda: kind.unpack(payload[24:])))
            continue
        body = kind.unpack(payload[24:])
        table.same(vector["name"], sign.payload_of(body, request_id, payload[1]), payload)
        table.true("too short", raises(ValueError, lambda: kind.unpack(payload[24:-8])))
        packed += 1
    table.same("vectors", packed, 80)
    limit = wire.PlaceLimitOrder(PortfolioId(7, 0, 0), 1_000_000, -50_000, 2**64 - 1, True, False,
                                 wire.Stp.EXPIRE_TAKER, 1)
    payload = sign.payload_of(limit, UUID("0198c0de-0000-7000-8000-0000000000a1"))
    table.same("W4, Vectors", base64.b64encode(payload).decode(),
               "AQAAAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAAAAAAAAAAAAEBCDwAAAAAAsDz/"
               "/////////////////wEAAAABAAAA")
    pads = bytearray(limit.pack())
    pads[43] = 1
    table.true("a pad", raises(ValueError, lambda: wire.PlaceLimitOrder.unpack(bytes(pads))))
    table.true("a float", raises(TypeError, lambda: wire.FundTopUp(1.5).pack()))
    table.true("too large", raises(ValueError, lambda: wire.FundTopUp(2**64).pack()))
    long = wire.CreatePortfolio(1, 0, "é" * 17)
    table.true("34 bytes of text", raises(ValueError, long.pack))
    table.true("31 bytes of key", raises(ValueError, wire.RevokeSession(1, bytes(31)).pack))
    return table.wrong


BUILT_IN = "built-in"


def envelopes(table, library):
    """Each good vector of a session key is signed to the same envelope by this library."""
    signed = 0
    for vector in vectors("ed25519"):
        if not vector["valid"]:
            continue
        key = SessionKey(bytes.fromhex(vector["seed"]))
        table.same("library", key.library, library)
        envelope = sign.envelope_of(bytes.fromhex(vector["payload_hex"]), key)
        table.same(vector["name"], json.loads(envelope), vector["envelope"])
        signed += 1
    table.same("signed", signed, 23)


def master_envelopes(table, library):
    """Likewise of a master key; the signatures of `cryptography` are other ones, and good."""
    signed = 0
    for vector in vectors("eip712"):
        if not vector["valid"]:
            continue
        key = MasterKey(bytes.fromhex(vector["private_key"]), vector["exchange_id"])
        table.same("library", key.library, library)
        envelope = json.loads(sign.envelope_of(bytes.fromhex(vector["payload_hex"]), key))
        if library == "cryptography":
            table.true(vector["name"], secp256k1.verify(
                key.public, bytes.fromhex(vector["digest"]),
                base64.b64decode(envelope["signature"])))
            envelope["signature"] = vector["envelope"]["signature"]
        table.same(vector["name"], envelope, vector["envelope"])
        signed += 1
    table.same("signed", signed, 21)


def by_each_library(table, envelopes_of, libraries):
    """Every library that is here makes the signatures, then the built-in one with all hidden:
    the categories of what it warns of."""
    hidden = []
    for module, library in libraries:
        with Hidden(*hidden):
            try:
                importlib.import_module(module)
            except ImportError:
                print(f"{library} is not installed: not tried")
            else:
                envelopes_of(table, library)
        hidden.append(module)
    with Hidden(*hidden), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        envelopes_of(table, BUILT_IN)
    return {one.category for one in heard}


@suite.case
def signatures(_):
    """W4: every library that is here, and the built-in one with PyNaCl, cryptography and coincurve
    hidden, makes the vectors' signatures; each vector is accepted or refused as it says."""
    table = Table()
    heard = by_each_library(table, envelopes, (("nacl", "PyNaCl"),
                                               ("cryptography", "cryptography")))
    table.same("the warning", heard, {SlowSignerWarning})
    for vector in vectors("ed25519"):
        key, payload, signature = (base64.b64decode(vector["envelope"][name])
                                   for name in ("public_key", "payload", "signature"))
        table.same(vector["name"], ed25519.verify(key, payload, signature), vector["valid"])
    heard = by_each_library(table, master_envelopes, (("coincurve", "coincurve"),
                                                      ("cryptography", "cryptography")))
    table.same("the warning", heard, {SlowMasterWarning})
    return table.wrong


@suite.case
def documents(_):
    """W4: what a wallet shows of each vector, its hashes and its digest; signatures that are
    refused; the challenges that passkeys sign."""
    table = Table()
    for vector in vectors("eip712"):
        typed = typed_data.typed_data(bytes.fromhex(vector["payload_hex"]), vector["exchange_id"])
        digest = typed_data.digest_of(typed)
        table.same(vector["name"], secp256k1.verify(
            bytes.fromhex(vector["public_key"]), digest, bytes.fromhex(vector["signature"])),
            vector["valid"])
        if not vector["valid"]:
            continue
        table.same(vector["name"], typed, vector["typed_data"])
        for name, kind, values in (("domain_separator", "EIP712Domain", typed["domain"]),
                                   ("struct_hash", typed["primaryType"], typed["message"])):
            table.same(f"{vector['name']}: {name}",
                       typed_data.hash_struct(typed, kind, values).hex(), vector[name])
        table.same(vector["name"], digest.hex(), vector["digest"])
    for vector in vectors("passkey"):
        digest = hashlib.sha256(bytes.fromhex(vector["payload_hex"])).digest()
        table.same(vector["name"], base64.urlsafe_b64encode(digest).decode().rstrip("="),
                   vector["challenge_b64url"])
    order = bytes.fromhex(vectors("ed25519")[0]["payload_hex"])
    table.true("an order", raises(ValueError, lambda: typed_data.typed_data(order, "00" * 32)))
    return table.wrong


@suite.case
def secrets(_):
    """A key is read from a file of its owner alone, and nothing shows its secret."""
    table, seed = Table(), bytes(range(32))
    text = base64.b64encode(seed).decode()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "my.session")
        path.write_text(f"# A key of perp.\ncurve = ed25519\nsecret = {text}\n"
                        "exchange = 00ff\n")
        path.chmod(0o640)
        table.true("open to a group", raises(PermissionError, lambda: SessionKey.load(path)))
        path.chmod(0o600)
        key = SessionKey.load(path)
    table.same("public", base64.b64encode(key.public).decode(),
               "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=")
    table.same("its exchange", key.exchange_id, "00ff")
    table.same("by a function", SessionKey.load(lambda: text).public, key.public)
    table.true("no Base64", raises(ValueError, lambda: SessionKey.load(lambda: "secret = ***")))
    table.true("repr", text not in repr(key) and text not in str(vars(SessionKey)), repr(key))
    table.true("pickle", raises(TypeError, lambda: pickle.dumps(key)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlowMasterWarning)
        master = MasterKey.load(lambda: text, "ab" * 32)
    shown = repr(master) + str([getattr(master, name) for name in ("public", "exchange_id")])
    table.true("of a master key", text not in shown and seed.hex() not in shown, shown)
    table.true("not pickled", raises(TypeError, lambda: pickle.dumps(master)))
    for wrong in (lambda: MasterKey.load(lambda: text), lambda: MasterKey(bytes(32), "ab" * 32),
                  lambda: MasterKey.load(lambda: f"secret = {text}\nexchange = 00", "ab" * 32)):
        table.true("no exchange, no key, another exchange", raises(ValueError, wrong))
    return table.wrong


@suite.case
def amounts(_):
    """Exact in every direction: Python's integers are the measure."""
    table, random = Table(), Random(18)
    for text, raw, decimals, shown in (
            ("0", 0, 0, "0"), ("-0.0", 0, 1, "0"), ("0.10", 10, 2, "0.1"), ("-12", -12, 0, "-12"),
            ("9223372036854775807", 2**63 - 1, 0, "9223372036854775807"),
            ("-0.000001", -1, 6, "-0.000001"), ("100000.50", 10000050, 2, "100000.5")):
        amount = Amount.of(text)
        table.same(text, (amount.raw, amount.decimals, str(amount)), (raw, decimals, shown))
    for _ in range(10_000):
        raw, decimals = random.randrange(-2**63, 2**63), random.randrange(0, 9)
        amount = Amount(raw, decimals)
        table.same("there and back", Amount.of(str(amount)).at(decimals), raw)
    for text in ("", "1e5", "1.", ".5", "+1", " 1", "1_000", "٣", "1" * 41, "0x1", "NaN"):
        table.true(f"{text!r} is refused", raises(ValueError, lambda: Amount.of(text)))
    for value in (1.5, 0.0, None, True, b"1"):
        table.true(f"{value!r} is refused", raises(TypeError, lambda: Amount.of(value)))
    tick = Amount.of("0.5")
    for text, down, up in (("100.74", "100.5", "101"), ("100.5", "100.5", "100.5"),
                           ("-0.2", "-0.5", "0"), ("0.49", "0", "0.5")):
        got = (str(Amount.of(text).rounded(tick, "down")), str(Amount.of(text).rounded(tick, "up")))
        table.same(text, got, (down, up))
    table.same("10 bps below", str(Amount.of("100000.1").times_bps(-10)), "99900.0999")
    table.same("equal", (Amount.of("1.50") == Amount.of("1.5"), hash(Amount.of("1.50"))),
               (True, hash(Amount.of("1.5"))))
    table.same("order", Amount.of("0.09") < Amount.of("0.1"), True)
    table.true("too fine", raises(ValueError, lambda: Amount.of("0.05").at(1)))
    table.true("times a float", raises(TypeError, lambda: tick * 0.5))
    table.same("sums", str(Amount.of("0.1") + Amount.of("0.02") - Amount.of("1") * 2), "-1.88")
    return table.wrong


@suite.case
def addresses(_):
    """F8: the spellings that EIP-55 gives as examples; other letters are refused, with both."""
    table = Table()
    table.same("Keccak-256 of nothing", keccak_256(b"").hex(),
               "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
    trading = Trading(SimpleNamespace(place=PortfolioId(7, 0, 0), sender=None))
    for right in ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
                  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
                  "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
                  "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"):
        raw = bytes.fromhex(right[2:])
        table.same(right, address_text(raw), right)
        for text in (right, right[2:], right.lower(), "0x" + right[2:].upper(), raw):
            table.same(f"{text!r}", address_of(text), raw)
        for wrong in (right.swapcase().replace("X", "x"), right[:-1] + "0"):
            try:
                asyncio.run(trading.withdraw("1", wrong))
                table.true(wrong, False, "it was not refused")
            except WrongChecksum as error:
                spelled = address_text(bytes.fromhex(wrong[2:]))
                table.same(wrong, (error.given, error.right), (wrong, spelled))
                table.true("both are told", wrong in str(error) and spelled in str(error), error)
    for text in ("", "0x", right[:-1], right + "0", "0X" + right[2:], " " + right, "0x" + "g" * 40,
                 bytes(19), bytes(21)):
        table.true(f"{text!r} is refused", raises(ValueError, lambda: address_of(text)))
    return table.wrong


@suite.case
def ids(_):
    """W5: UUIDv7 of the time that is told; strictly rising though the clock goes back."""
    table, now = Table(), [1_755_582_431_232]
    for vector in vectors("uuid7"):
        made = UUID(hex=vector["hex"])
        table.same(vector["name"], (is_v7(made), str(made)), (vector["is_v7"], vector["text"]))
        table.same(vector["name"], id_time_ms(made), vector["unix_ms"])
    made = Ids(lambda: now[0])
    found = [made.next() for _ in range(10_000)]
    now[0] -= 60_000
    found += [made.next() for _ in range(100)]
    table.same("rising", found, sorted(set(found)))
    table.true("version 7", all(map(is_v7, found)))
    table.same("the time", id_time_ms(found[0]), 1_755_582_431_232)
    one = UUID("0198c0de-1234-7abc-8000-000000000001")
    table.same("following", [str(following_id(one, number)) for number in (1, 3)],
               ["0198c0de-1234-7abc-9e37-79b97f4a7c16", "0198c0de-1234-7abc-9aa6-6d2c7ddf7440"])
    table.true("not far ahead", id_time_ms(found[-1]) - 1_755_582_431_232 <= 10_000 // 2048 + 1)
    return table.wrong


@suite.case
def rates(_):
    """W8: a request waits for its token rather than be refused; one that costs more than the bucket
    holds waits until it is full and owes the rest; a refusal counts."""
    table, now = Table(), [100.0]
    bucket = Bucket(lambda: now[0])
    table.same("no limit", bucket.wait_s(64), 0.0)
    bucket.set(10.0, 4.0, 1)
    left = [bucket.wait_s(1)]
    asyncio.run(bucket.take(1, None))
    left += [bucket.wait_s(1), bucket.wait_s(9)]
    now[0] += 0.4
    left += [bucket.wait_s(9)]
    asyncio.run(bucket.take(9, None))
    left += [bucket.wait_s(1)]
    bucket.refused(2.0)
    left += [bucket.wait_s(1)]
    now[0] += 60
    left += [bucket.wait_s(4)]
    bucket.refused(0.6, 3)  # what costs 3 may go then, and one that costs 9 once it is full
    left += [bucket.wait_s(3)]
    now[0] += 60
    bucket.refused(0.6, 9)
    left += [bucket.wait_s(9)]
    table.same("waits", [round(one, 6) for one in left],
               [0, 0.1, 0.4, 0, 0.6, 2.0, 0, 0.6, 0.6])
    slept, looks = [], []

    async def sleep(seconds):
        slept.append(seconds)

    async def look():
        looks.append(len(looks))
        if len(looks) == 3:
            bucket.set(10.0, 4.0, 4)

    bucket.refused(1e9)  # whoever said so: GET /limits is asked every five seconds
    with mock.patch("asyncio.sleep", sleep):
        asyncio.run(bucket.take(1, look))
    table.same("looks again", slept, [5.0, 5.0, 0.0])
    return table.wrong


@suite.case
def ended_calls(_):
    """A call that has ended leaves no order behind that would be sent later, or twice."""
    table = Table()
    asyncio.run(sending_python.ended_calls(table))
    return table.wrong


@suite.case
def dead_man_first(_):
    """A placement that waits holds no dead-man back."""
    table = Table()
    asyncio.run(sending_python.dead_man(table))
    return table.wrong


@suite.case
def malformed(_):
    """Whoever answers cannot end a request by an error that is none of the library's."""
    table = Table()
    asyncio.run(sending_python.malformed(table))
    return table.wrong


@suite.case
def keys(_):
    """An account that was opened has an API key in hand, or the error names it."""
    table = Table()
    asyncio.run(sending_python.keys(table))
    return table.wrong


@suite.case
def own_ids(_):
    """A batch whose turn comes after its ids' window is not sent."""
    table = Table()
    asyncio.run(sending_python.own_ids(table))
    return table.wrong


@suite.case
def looks(_):
    """What an account may send is asked beside those who wait."""
    table = Table()
    asyncio.run(asyncio.wait_for(sending_python.looks(table), 30))
    return table.wrong


@suite.case
def no_answers(_):
    """JSON that is nested beyond all reason is like any other text: no answer of the exchange."""
    table = Table()
    deep = Answer(400, {}, b"[" * 1_000_000, 0, 1)
    table.true("lost", raises(Lost, deep.json))
    table.same("problem", problem_of(deep).http, 400)
    table.true("stream", raises(ValueError, lambda: read_object(deep.body.decode())))
    return table.wrong


PLANTED = "from perpd import Amount, Client, Market\nAmount.of(1.5)\n\n\n" \
    "async def work(ex: Client, market: Market) -> None:\n" \
    "    await ex.place(market, \"buy\", \"0.01\", 99000.5)\n"


@suite.case
def types(_):
    """mypy --strict and pyright in strict mode find a float that is planted as an amount and as a
    price, and nothing else, the examples included."""
    table = Table()
    scripts = sorted(PYTHON.glob("examples/*.py"))
    for script in scripts:
        table.true("at most 40 lines", len(script.read_text().splitlines()) <= 40, script)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "python")
        shutil.copytree(PYTHON, folder, ignore=shutil.ignore_patterns("__pycache__"))
        planted = folder / "examples/planted.py"
        planted.write_text(PLANTED)
        if shutil.which("mypy") is None:
            print("mypy is not installed: it is not run")
        else:
            done = subprocess.run(["mypy", "--strict", "--no-error-summary", "--cache-dir", name,
                                   "src", *sorted(folder.glob("examples/*.py"))],
                                  cwd=folder, capture_output=True, text=True)
            table.same("mypy", [line.split(":")[1:3] + [line.split("incompatible type ")[-1][:7]]
                                for line in done.stdout.splitlines()],
                       [["2", " error", '"float"'], ["6", " error", '"float"']])
        pyright = packages.FOLDER / "node_modules/.bin/pyright"
        if packages.lacking("pyright"):
            print("pyright is not installed: it is not run")
        else:
            done = subprocess.run([pyright, "-p", folder, "--outputjson"], capture_output=True,
                                  text=True, cwd=folder)
            said = json.loads(done.stdout)
            table.same("pyright", [(pathlib.Path(one["file"]).name, one["range"]["start"]["line"],
                                    one["severity"], one["rule"])
                                   for one in said["generalDiagnostics"]],
                       [("planted.py", 1, "error", "reportArgumentType"),
                        ("planted.py", 5, "error", "reportArgumentType")])
            table.true("files", said["summary"]["filesAnalyzed"] > len(scripts), said["summary"])
    return table.wrong


@suite.case
def facade(_):
    """perpd.sync has every public method of the client and of its orders."""
    table = Table()
    for kind, other, left_out in (  # those of a client that take an order are the order's own
            (Client, sync.Client, {"cancel", "reduce", "replace", "session"}),
            (Order, sync.Order, {"acknowledge", "executed", "hear"})):
        lacking = {name for name in dir(kind) if not name.startswith("_")} - set(dir(other))
        table.same(kind.__name__, lacking, left_out)
    return table.wrong


@suite.case
def wheel(_):
    """The wheel has the same bytes each time and is imported from an empty folder."""
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([ROOT / "tools/clients", "pack", pathlib.Path(folder, "a")],
                              capture_output=True, text=True)
        made = [pathlib.Path(done.stdout.split()[0]),
                client_wheel.pack(PYTHON, ROOT / "LICENSE", pathlib.Path(folder, "b"))]
        table.same("the same bytes", made[0].read_bytes(), made[1].read_bytes())
        compiler = ROOT / "build/browser/node_modules/.bin/tsc"
        table.same("the tarball", (done.returncode, len(done.stdout.split()), not done.stderr),
                   (0, 2, True) if compiler.exists() else (1, 1, False))
        empty = pathlib.Path(folder, "empty")
        with zipfile.ZipFile(made[0]) as archive:
            table.same("sound", archive.testzip(), None)
            names = set(archive.namelist())
            record = archive.read(next(n for n in names if n.endswith("RECORD"))).decode()
            table.same("RECORD", {line.split(",")[0] for line in record.splitlines()}, names)
            text = archive.read(next(n for n in names if n.endswith("METADATA"))).decode()
            table.true("its licence", any(n.endswith("dist-info/LICENSE") for n in names), names)
            table.true("nothing required", all("extra ==" in line for line in text.splitlines()
                                               if line.startswith("Requires-Dist")), text)
            archive.extractall(empty)
        done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, "
                               f"{str(empty)!r}); import perpd; print(perpd.__file__)"],
                              capture_output=True, text=True)
        table.same("imported", done.stdout.strip(), str(empty / "perpd/__init__.py"))
    return table.wrong


if __name__ == "__main__":
    sys.exit(suite.run(None, only()))
