"""test_heads.py - signed heads (journal.md, Heads): what they say, where they are kept, and that an
exchange which drops, reorders or invents an order after one was published is caught by whoever kept
it, although every other sum of the directory is right.

    python3 test_heads.py BUILD [CASE...]
"""
import base64
import ctypes
import hashlib
import json
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time

import client
from client import PLACE_LIMIT, Account, Perpd, id_text, limit_body, new_id, payload_of
from harness import Suite, Table
from world import BTC, BTC_PRICE, USDC
from ws_client import Stream

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))
from journal_reader import RECORD, Directory, blake, crc32c

suite = Suite("heads")
BUILD = pathlib.Path(sys.argv[1])
HEAD = 224
RECEIPT = "/api/v1/requests/{}/receipt"
WAIT_S = 100
REFUSED = 3
_sodium = ctypes.CDLL("libsodium.so.23")


def read_head(data):
    """Its fields, by the offsets of journal.md."""
    assert len(data) == HEAD and data[:16] == b"perpd head 1".ljust(16, b"\0")
    boot, frame, sequence, wall_ns = struct.unpack_from("<QQQQ", data, 64)
    return {"exchange_id": data[16:48], "journal_id": data[48:64], "boot": boot, "frame": frame,
            "sequence": sequence, "wall_ns": wall_ns, "frame_hash": data[96:128],
            "effects_hash": data[128:160]}


def is_signed(data, public):
    return _sodium.crypto_sign_verify_detached(data[160:], data[:160], ctypes.c_ulonglong(160),
                                               public) == 0


def heads_of(exchange, limit=1000):
    """Newest first."""
    return [base64.b64decode(row["head"], validate=True)
            for row in exchange.get(f"/api/v1/heads?limit={limit}").json["heads"]]


def rows_of(data):
    return [data[at:at + HEAD] for at in range(0, len(data), HEAD)]


class World:
    """Orders in three groups, with a head behind each; stopped. `kept` is what GET /heads said."""

    def __init__(self):
        self.perpd = Perpd(BUILD / "perpd", *client.SMALL_TABLES)
        exchange = self.exchange = self.perpd.start()
        self.public = base64.b64decode(exchange.get("/api/v1/exchange").json["signing_public"])
        assert exchange.set_price(BTC_PRICE, BTC)["status"] == "request_completed"
        self.account = Account(exchange, 100_000 * USDC)
        self.orders, self.sent = [], []
        for _ in range(3):
            for _ in range(3):
                self.sent.append(new_id())
                answer = self.account.limit(900_000 + 1000 * len(self.orders), 100, self.sent[-1])
                assert answer["status"] == "request_completed", answer
                self.orders.append(answer["sequence"])
            self.wait(lambda: read_head(heads_of(exchange, 1)[0])["sequence"] >= self.orders[-1])
        self.kept = exchange.get("/api/v1/heads?limit=1000").body
        self.receipts = [self.account.read(RECEIPT.format(id_text(raw))) for raw in self.sent]
        assert self.perpd.stop() == 0
        self.perpd.process.stdout.close()
        self.data = self.perpd.folder / "data"
        self.copies = 0

    def wait(self, look):
        until = time.monotonic() + WAIT_S
        while not look() and time.monotonic() < until:
            time.sleep(0.02)
        assert look()

    def copy(self):
        self.copies += 1
        folder = self.perpd.folder / f"copy{self.copies}"
        subprocess.run(["cp", "-r", "--sparse=always", self.data, folder], check=True)
        return folder

    def audit(self, folder, head=None):
        words = [BUILD / "perp", "audit", "--data", folder, "-o", "json"]
        if head is not None:
            path = self.perpd.folder / "kept"
            path.write_bytes(head)
            words += ["--head", path]
        done = subprocess.run(words, capture_output=True, text=True, timeout=WAIT_S)
        return done.returncode, done.stdout, done.stderr

    def effects_hash(self, folder, sequence):
        done = subprocess.run([BUILD / "perp", "replay", "--hash", "--to", str(sequence), "--data",
                               folder, "-o", "json"], capture_output=True, text=True, check=True,
                              timeout=WAIT_S)
        return bytes.fromhex(json.loads(done.stdout)["effects_hash"])


@suite.case
def what_a_head_says(world):
    """Signature, ids, frame, hash and effects hash; one a second; in GET /heads, in the file."""
    table = Table()
    published = [base64.b64decode(row["head"]) for row in json.loads(world.kept)["heads"]]
    own = rows_of((world.data / "heads").read_bytes())
    chain = Directory(world.data)
    table.same("the file begins with what was published", own[:len(published)], published[::-1])
    last = read_head(own[-1])
    table.same("the last names the closing frame", (last["frame"], last["sequence"]),
               (chain.frames[-1].number, chain.frames[-1].last))
    table.same("which has no records", chain.frames[-1].records, [])
    walls = []
    for data in own:
        head = read_head(data)
        frame = chain.frames[head["frame"] - 1]
        walls.append(head["wall_ns"])
        table.true("signature", is_signed(data, world.public))
        table.true("no other key's", not is_signed(data, bytes(32)))
        table.same("exchange", head["exchange_id"], chain.exchange_id)
        table.same("journal", head["journal_id"], chain.journal_id)
        table.same("boot", head["boot"], frame.boot)
        table.same("sequence", head["sequence"], frame.last)
        table.same("frame hash", head["frame_hash"], blake(frame.data))
    for data in (own[0], own[-1]):
        head = read_head(data)
        table.same("effects hash", head["effects_hash"],
                   world.effects_hash(world.data, head["sequence"]))
    between = [b - a for a, b in zip(walls[1:-2], walls[2:-1])]
    table.true("no more than one a second", min(between, default=10**9) > 900_000_000, between)
    code, out, err = world.audit(world.data, world.kept)
    table.same("audit", (code, err), (0, ""))
    table.same("audit compares", json.loads(out)["heads"], len(own) + len(published))
    return table.wrong


def sealed(chain, folder, first, contents):
    """Writes the frames from number `first` on anew, with these records each, every sum right: CRC,
    hashes, sequences, the witness. Snapshots and heads go: nobody has to have them."""
    before, number = chain.frames[first - 2], first
    place = before.offset + before.length
    previous, sequence = blake(before.data), before.last + 1
    with open(folder / "journal/0000000000.seg", "r+b") as file:
        file.seek(place)
        file.write(bytes(sum(len(frame.data) for frame in chain.frames[first - 1:]) + (1 << 16)))
    block = 4096 if all(frame.length % 4096 == 0 for frame in chain.frames) else 512
    for frame, records in zip(chain.frames[first - 1:], contents):
        body = b"".join(records)
        size = (128 + len(body) + block - 1) // block * block
        data = bytearray(frame.data[:128] + body).ljust(size, b"\0")
        struct.pack_into("<QQQQ", data, 48, number, sequence, sequence + len(records) - 1,
                         min(frame.durable, number - 1))
        struct.pack_into("<III", data, 80, size, len(records), len(body))
        data[96:128] = previous
        struct.pack_into("<I", data, 12, crc32c(data[16:]))
        with open(folder / "journal/0000000000.seg", "r+b") as file:
            file.seek(place)
            file.write(data)
        place, number, previous = place + size, number + 1, blake(bytes(data))
        sequence += len(records)
        tail = frame
    tail.number, tail.last = number - 1, sequence - 1
    chain.folder = folder
    chain.name_in_witness(tail, previous)
    for path in (folder / "snapshot").iterdir():
        path.unlink()
    (folder / "heads").unlink()


def raw(frame, record):
    return frame.data[record.at:record.at + record.length]


def invented(world, like, t_ns):
    """The record of an order that the account's own key signed, which nobody ever sent."""
    key = world.account.session
    payload = payload_of(PLACE_LIMIT, limit_body(world.account.id, 905_000, 100), key,
                         new_id(t_ns // 10**6))
    signature = key.sign(payload, world.perpd.exchange.salt)
    length = (24 + len(payload) + 32 + 64 + 7) // 8 * 8
    assert len(payload) == len(like.payload) and like.length == length
    return (RECORD.pack(t_ns, length, like.code, like.kind, 0, len(payload), 32, 0, 0) + payload +
            key.public + signature).ljust(length, b"\0")


def tampered(world, how, at):
    """A copy of the directory in which order number `at` is gone, exchanged with the next one, or
    follows one that nobody sent; and the first sequence that differs."""
    folder = world.copy()
    chain = Directory(folder)
    frame, record = chain.record(world.orders[at])
    contents = [[raw(each, row) for row in each.records] for each in chain.frames]
    row = frame.records.index(record)
    first = frame.number
    if how == "removed":
        del contents[first - 1][row]
        if not contents[first - 1]:  # the closing frame alone has none
            del contents[first - 1], chain.frames[first - 1]
    elif how == "swapped":
        other, next_record = chain.record(world.orders[at + 1])
        a, b = raw(frame, record), raw(other, next_record)
        contents[first - 1][row] = a[:8] + b[8:]
        contents[other.number - 1][other.records.index(next_record)] = b[:8] + a[8:]
    else:
        contents[first - 1].insert(row, invented(world, record, record.t_ns - 1))
    sealed(chain, folder, first, contents[first - 1:])
    return folder, record.sequence


@suite.case
def no_order_is_dropped_reordered_or_invented(world):
    """Audit alone finds nothing wrong with the directory; with a head it does, and says where."""
    table = Table()
    for how in ("removed", "swapped", "inserted"):
        folder, wrong = tampered(world, how, 4)
        code, out, err = world.audit(folder)
        table.same(f"{how}: every sum is right", (code, err), (0, ""))
        table.same(f"{how}: no head is compared", json.loads(out or "{}").get("heads"), 0)
        code, out, err = world.audit(folder, world.kept)
        table.same(f"{how}: a kept head finds it", code, 1)
        said = [line for line in err.splitlines() if "first difference" in line]
        table.same(f"{how}: it says where", len(said), 1)
        words = (said or ["sequence 0 after 0"])[0].replace(",", "").split()
        after, until = [int(word) for word in words if word.isdigit()][-2:]
        table.true(f"{how}: between two heads", after < wrong <= until, (after, wrong, until))
        table.true(f"{how}: as closely as heads can", world.orders[2] <= after and
                   until < world.orders[6], (after, until, world.orders))
        one = base64.b64decode(json.loads(world.kept)["heads"][0]["head"])
        table.same(f"{how}: one head is enough", world.audit(folder, one)[0], 1)
        shutil.rmtree(folder)
    return table.wrong


def verify(world, content, *words):
    """Its exit code and what it says."""
    path = world.perpd.folder / "receipt"
    path.write_bytes(content)
    done = subprocess.run([BUILD / "perp", "receipt", "verify", path, *words, "-o", "json"],
                          capture_output=True, text=True, timeout=WAIT_S)
    return done.returncode, done.stdout, done.stderr


@suite.case
def what_a_receipt_says(world):
    """T4: of each order its frame, its bytes and its signer, signed; whoever keeps one shows that
    the order was dropped, moved or that others came in front of it."""
    table = Table()
    chain = Directory(world.data)
    exchange_id = read_head(base64.b64decode(json.loads(world.kept)["heads"][0]["head"]))
    for raw_id, sequence, answer in zip(world.sent, world.orders, world.receipts):
        text = table.ok("receipt", answer).get("receipt", "")
        data = base64.b64decode(text, validate=True)
        frame, record = chain.record(sequence)
        table.same("length", len(data), 280)
        table.same("members", list(answer.json), ["receipt"])
        table.same("it says", data[:216], b"perpd receipt 1\0" + exchange_id["exchange_id"] +
                   exchange_id["journal_id"] + raw_id + hashlib.sha256(record.payload).digest() +
                   hashlib.sha256(world.account.session.public).digest() +
                   struct.pack("<QQQQ", world.account.id, sequence, record.t_ns, frame.number) +
                   blake(bytes(frame.data[:frame.length])) + struct.pack("<HB5x", 0, 0))
        table.true("signed", _sodium.crypto_sign_verify_detached(
            data[216:], data[:216], ctypes.c_ulonglong(216), world.public) == 0)
        code, out, err = verify(world, answer.body, "--journal", world.data)
        table.same("verify", (code, err, json.loads(out or "{}").get("in_journal")), (0, "", True))
        table.same("its bytes", verify(world, data, "--journal", world.data)[0], 0)
    kept = world.receipts[4].body
    data = base64.b64decode(json.loads(kept)["receipt"])
    for place in (20, 70, 150, 190, 208, 215, 279):
        bad = data[:place] + bytes([data[place] ^ 1]) + data[place + 1:]
        table.true(f"a bit at {place}", verify(world, bad, "--journal", world.data)[0] != 0)
    for how in ("removed", "swapped", "inserted"):
        folder, _ = tampered(world, how, 4)
        code, _, err = verify(world, kept, "--journal", folder)
        table.same(f"{how}: the receipt finds it", (code, "receipt" in err), (1, True))
        shutil.rmtree(folder)
    return table.wrong


def refused_receipts(table, exchange, key, own):
    other = Account(exchange, 100 * USDC).api_key
    for row, name, who, status, problem in (
            ("no request", id_text(new_id()), key, 404, "request_not_found"),
            ("another's", own, other, 404, "request_not_found"),
            ("no key", own, None, 401, "invalid_api_key"),
            ("no id", "x", key, 400, "invalid_parameter")):
        table.problem(row, exchange.get(RECEIPT.format(name), who), status, problem)


def receipts_in_answers(table, exchange):
    """X-Ack: receipt: what GET gives, in the answer to the request."""
    asks, account = [("X-Ack", "receipt")], Account(exchange, 100_000 * USDC)

    def send(code, body, key, raw, *more):
        return exchange.send(code, body, key, raw, headers=[*asks, *more])

    def shown(row, raw, answer, *members):
        """The members and a receipt, which is last and that of the request; its status."""
        table.ok(row, answer)
        table.same(f"{row}: members", list(answer.json), [*members, "receipt"])
        kept = account.read(RECEIPT.format(id_text(raw))).json
        table.same(f"{row}: the receipt", {"receipt": answer.json["receipt"]}, kept)
        return struct.unpack_from("<H", base64.b64decode(kept["receipt"]), 208)[0]

    ack = "status", "processed_at_ns", "sequence"
    raw, body = new_id(), limit_body(account.id, 900_000, 100)
    table.same("an order", shown("an order", raw, send(
        client.PLACE_LIMIT, body, account.session, raw), *ack), 0)
    again = send(client.PLACE_LIMIT, body, account.session, raw)
    table.same("a duplicate has that of the first", shown(
        "a duplicate", raw, again, *ack[:2], "original_status", "original_processed_at_ns"), 0)
    table.same("and says so", again.json["status"], "duplicate_request_id")
    raw = new_id()
    refused = send(client.PLACE_LIMIT, limit_body(account.id, 900_000, 10**9), account.session, raw)
    table.true("refused by the engine", shown("refused", raw, refused, *[
        name for name in refused.json if name != "receipt"]) != 0, refused)
    raw, key = new_id(), client.Ed25519Key()
    made = send(client.CREATE_SESSION, client.session_body(account.id, key.public), account.master,
                raw)
    shown("a session", raw, made, *[name for name in made.json if name != "receipt"])
    table.same("it is made", made.json.get("message"), "session_created")
    raw = new_id()
    made = send(client.CREATE_API_KEY, client.api_key_body(account.id), key, raw)
    shown("a secret", raw, made, *[name for name in made.json if name != "receipt"])
    table.same("it is good", exchange.get("/api/v1/orders", made.json["api_key"]).status, 200)
    born = send(client.CREATE_ACCOUNT, client.account_body(key.public), client.Secp256k1Key(),
                new_id()).json
    table.true("an account", born["success"] and len(base64.b64decode(born["receipt"])) == 280,
               born)
    stranger = send(client.PLACE_LIMIT, body, client.Ed25519Key(), new_id()).json
    table.true("not sequenced: none", "sequence" not in stranger and
               stranger["receipt"] is None, stranger)
    shape = ("the form", send(client.PLACE_LIMIT, body, account.session, new_id(),
                              ("Accept", "application/octet-stream")))
    ended = exchange.kept(exchange.wrap("/api/v1/logout", client.payload_of(
        client.REVOKE_SESSION, client.revoke_body(account.id, key.public), key), key,
        headers=asks))
    for row, answer in (shape, ("a logout", ended)):
        table.problem(row, answer, 400, "invalid_parameter")
    sent = [exchange.signed(client.PLACE_LIMIT, body, account.session, new_id(), headers=asks)
            for _ in range(8)]
    with exchange.open() as connection:
        connection.send(b"".join(sent))
        answers = [connection.receive().json for _ in sent]
    receipts = [base64.b64decode(answer["receipt"] or "") for answer in answers]
    table.same("in their order", [struct.unpack_from("<Q", data, 152)[0] for data in receipts],
               [answer["sequence"] for answer in answers])


def follow_status(table, world):
    """The channel `status` tells a head when it is made, not at its next beat of 5 s; it is one of
    GET /heads, and signed."""
    stream = Stream(world.exchange)
    stream.ask(op="subscribe", channel="status")
    stream.next()
    shown = [stream.next()["data"]["head"]]
    table.true("GET /status", "head" in world.exchange.get("/api/v1/status").json)
    for _ in range(4):
        last = heads_of(world.exchange, 1)
        Account(world.exchange, 100 * USDC)
        world.wait(lambda: heads_of(world.exchange, 1) != last)
    newest, until = heads_of(world.exchange, 1)[0], time.monotonic() + WAIT_S
    while base64.b64decode(shown[-1]) != newest and time.monotonic() < until:
        shown.append(stream.next()["data"]["head"])
        newest = heads_of(world.exchange, 1)[0]
    heads = [base64.b64decode(head) for head in dict.fromkeys(shown)]
    table.true("at once", len(heads) > 3, len(heads))
    table.true("the newest", heads[-1] == newest)
    table.true("each is of GET /heads", set(heads) <= set(heads_of(world.exchange)))
    table.true("each is signed", all(is_signed(head, world.public) for head in heads))
    stream.end()


@suite.case
def the_key_is_never_made_again(world):
    """A start without the key, with a damaged one and with another's is refused; the own is back,
    and heads of before are shown."""
    table = Table()
    folder, key = world.data, (world.data / "signing.key").read_bytes()
    other = bytearray(key)
    other[60] ^= 1
    foreign = bytearray(key)
    pair = client.Ed25519Key()
    foreign[48:80], foreign[80:112] = pair._secret[:32], pair.public
    struct.pack_into("<I", foreign, 12, crc32c(bytes(foreign[16:])))
    for row, content in (("missing", None), ("damaged", bytes(other)), ("short", key[:-1]),
                         ("another", bytes(foreign))):
        (folder / "signing.key").unlink(missing_ok=True)
        if content is not None:
            (folder / "signing.key").write_bytes(content)
            (folder / "signing.key").chmod(0o600)
        done = subprocess.run(world.perpd.arguments(), capture_output=True, text=True,
                              timeout=WAIT_S)
        table.same(f"{row}: exit code", done.returncode, REFUSED)
        table.true(f"{row}: the reason", "signing.key" in done.stderr, done.stderr)
        table.same(f"{row}: nothing is made", (folder / "signing.key").exists(),
                   content is not None)
    (folder / "signing.key").write_bytes(key)
    (folder / "signing.key").chmod(0o600)
    own = rows_of((folder / "heads").read_bytes())
    world.exchange = world.perpd.start()
    world.wait(lambda: len(heads_of(world.exchange)) > len(own))
    table.same("after a start", heads_of(world.exchange)[-len(own):], own[::-1])
    for limit, status in (("1", 200), ("1000", 200), ("0", 400), ("1001", 400), ("x", 400)):
        answer = world.exchange.get(f"/api/v1/heads?limit={limit}")
        table.same(f"limit {limit}", answer.status, status)
    table.same("one head", len(heads_of(world.exchange, 1)), 1)
    table.same("a receipt after a start", world.exchange.get(
        RECEIPT.format(id_text(world.sent[0])), world.account.api_key).body,
        world.receipts[0].body)
    refused_receipts(table, world.exchange, world.account.api_key, id_text(world.sent[0]))
    table.same("verified by GET /exchange", verify(
        world, world.receipts[0].body, "--url", f"http://127.0.0.1:{world.exchange.port}")[0], 0)
    receipts_in_answers(table, world.exchange)
    follow_status(table, world)
    world.perpd.process.send_signal(signal.SIGKILL)
    world.perpd.process.wait()
    table.same("audit after a kill", world.audit(folder)[0], 0)
    return table.wrong


if __name__ == "__main__":
    world = World()
    try:
        code = suite.run(world, sys.argv[2:])
    finally:
        world.perpd.remove()
    sys.exit(code)
