"""test_rotate.py BUILD - perp keys rotate (journal.md, Signing key): another key takes the place of
the one with which an exchange signs. Heads and receipts of before are met by the former key, later
ones by the new one; a crash at any step leaves one key; a copy and what is restored have it.
"""
import base64
import ctypes
import json
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time

from fake import check
from house import House
from journal_reader import SLOT, Directory, blake, crc32c

build = pathlib.Path(sys.argv[1]).resolve()
house = House(build)
sodium = ctypes.CDLL("libsodium.so.23")
HEADER, ROW, HEAD, SIGNING_KEY = 128, 96, 224, 2018


def is_signed(data, signed, public):
    return sodium.crypto_sign_verify_detached(data[signed:], data[:signed],
                                              ctypes.c_ulonglong(signed), public) == 0


def shown():
    return base64.b64decode(house.client("exchange")["signing_public"])


def rotate(data, code=0):
    done = house.perp.run("keys", "rotate", data, "-o", "json", code=code)
    return base64.b64decode(json.loads(done.stdout)["signing_public"]) if code == 0 else done.stderr


def own_key(data):
    file = (data / "signing.key").read_bytes()
    check(struct.unpack_from("<I", file, 12)[0] == crc32c(file[16:]))
    return file[80:112], [file[at:at + ROW] for at in range(HEADER, len(file), ROW)]


def rotations(data):
    return [record for record in Directory(data).records if record.code == SIGNING_KEY]


def heads(data):
    file = (data / "heads").read_bytes()
    return [file[at:at + HEAD] for at in range(0, len(file), HEAD)]


def place(price):
    return house.client("order", "BTC-PERP", "buy", "0.01", price, who="b")


def receipt(request, name):
    path = house.folder / name
    path.write_text(json.dumps(house.client("receipt", "get", request, who="b")))
    return path


def verify(path, *words, code=0):
    return house.perp.run("receipt", "verify", path, *words, code=code).stderr


def run(data, is_restored=False):
    """A start, an order and a stop; the key that it shows."""
    house.start(data)
    public = shown()
    if is_restored:
        house.client("market", "state", "BTC-PERP", "ACTIVE")
    place("98500")
    check(house.stop() == 0)
    return public


# Two boots under the first key; what it signed is kept by somebody.
check(house.perp.run("keys", "rotate", house.folder / "nothing", code=3))
house.start()
first = shown()
house.open_accounts()
before = place("98000")["request_id"]
old_receipt = receipt(before, "old.json")
time.sleep(1.1)
place("98100")
check("stop perpd first" in rotate(house.data, code=3))
check(house.stop() == 0)
kept = house.folder / "kept.heads"
shutil.copyfile(house.data / "heads", kept)
check(own_key(house.data) == (first, []))
old = house.copy("old")

# The file has the new key, and what the former one signed: 16 bytes of name, exchange, new key.
second = rotate(house.data)
check(second != first and (house.data / "signing.key").stat().st_mode & 0o777 == 0o600)
public, rows = own_key(house.data)
exchange_id = Directory(house.data).exchange_id
check(public == second and len(rows) == 1 and rows[0][:32] == second)
message = b"perpd rotate 1".ljust(16, b"\0") + exchange_id + second
check(sodium.crypto_sign_verify_detached(rows[0][32:], message, ctypes.c_ulonglong(80), first) == 0)
pending = house.copy("pending")
check(house.store("audit", data=pending)["passed"])
verify(old_receipt, "--journal", pending)

# The next start writes 2018 behind its 2014, with these bytes, and signs with the new key.
house.start()
check(shown() == second)
after = place("98200")["request_id"]
new_receipt = receipt(after, "new.json")
again = receipt(before, "again.json")
verify(new_receipt, "--url", house.url)
# By the exchange alone the former key is unknown: no receipt of before is called false. Who may see
# the request asks again: what the new key signs of it must be the same, byte for byte.
said = base64.b64decode(json.loads(old_receipt.read_text())["receipt"])
renewed = base64.b64decode(json.loads(again.read_text())["receipt"])
check(said[:216] == renewed[:216] and said[216:] != renewed[216:])
check(is_signed(said, 216, first) and is_signed(renewed, 216, second))
check("not proved and not refuted" in verify(old_receipt, "--url", house.url, code=3))
check("not proved and not refuted" in verify(
    old_receipt, "--url", house.url, "--profile", "a", code=3))
proved = house.client("receipt", "verify", old_receipt, who="b")
check(proved["asked_again"] and not proved["in_journal"] and proved["request_id"] == before, proved)
check(not house.client("receipt", "verify", new_receipt, who="b")["asked_again"])
lie = house.folder / "lie"
for at in (90, 120, 144, 152, 160, 168, 180, 208, 210):
    lie.write_bytes(said[:at] + bytes([said[at] ^ 1]) + said[at + 1:])
    check("signs something else" in verify(lie, "--url", house.url, "--profile", "b", code=1), at)
time.sleep(1.1)
place("98300")
check(house.stop() == 0)
told = rotations(house.data)
check([record.payload for record in told] == rows)
codes = [record.code for record in Directory(house.data).records]
check(codes[codes.index(SIGNING_KEY) - 1] == 2014 and codes.count(2013) == 1, codes)
count = len(heads(old))
check(all(is_signed(head, 160, first) for head in heads(house.data)[:count]))
check(len(heads(house.data)) > count and
      all(is_signed(head, 160, second) for head in heads(house.data)[count:]))
audited = house.store("audit", "signatures", "--head", kept)
check(audited["passed"] and audited["heads"] == len(heads(house.data)) + count, audited)
for path in (old_receipt, new_receipt, again):
    verify(path, "--journal", house.data)
snapshots = sorted((house.data / "snapshot").glob("*.snap"))
check(snapshots)
check(run(house.data) == second and len(rotations(house.data)) == 1)

# The former key signs nothing of later: a receipt and a head in its name are found.
seed = (old / "signing.key").read_bytes()[48:80]
secret, signature = (ctypes.create_string_buffer(size) for size in (64, 64))
sodium.crypto_sign_seed_keypair(ctypes.create_string_buffer(32), secret, seed)


def forged(data, signed):
    sodium.crypto_sign_detached(signature, None, data[:signed], ctypes.c_ulonglong(signed), secret)
    return data[:signed] + signature.raw


data = base64.b64decode(json.loads(new_receipt.read_text())["receipt"])
lie.write_bytes(forged(data, 216))
check("has not signed" in verify(lie, "--journal", house.data, code=1))
lie.write_bytes(forged(heads(house.data)[-1], 160))
said = house.perp.run("audit", "--data", house.data, "--head", lie, code=1).stderr
check("not signed by a key that this journal had then or later" in said, said)

# A 2018 that the key before it has not signed, every other sum right.
wrong = house.copy("wrong")
chain = Directory(wrong)
frame, record = chain.record(told[0].sequence)
body = bytearray(frame.data)
at = frame.data.index(rows[0])
body[at + 32 + 5] ^= 1
chain.write(frame.number, bytes(body))
said = house.perp.run("audit", "--data", wrong, code=1).stderr
check("the signing key before it has not signed" in said, said)



def name_key(data, public):
    """Lets every slot of `exchange` name it."""
    file = bytearray((data / "exchange").read_bytes())
    for at in range(0, len(file), SLOT):
        file[at + 136:at + 168] = public
        struct.pack_into("<I", file, at + 12, crc32c(file[at + 16:at + SLOT]))
    (data / "exchange").write_bytes(file)


# A crash at each step: the key file is new and `exchange` names the former key; both are new, and
# the journal has no 2018. Each start goes on with the new key, and tells it once.
for name in ("exchange old", "journal old"):
    data = house.folder / name.replace(" ", "")
    shutil.copytree(pending, data)
    if name == "journal old":
        name_key(data, second)
    check(run(data) == second, name)
    check([record.payload for record in rotations(data)] == rows, name)
    check(house.store("audit", data=data)["passed"], name)
# Before the key file got its name, all is as it was; a half written one is no key.
data = house.folder / "unnamed"
shutil.copytree(old, data)
(data / "signing.key.next").write_bytes((house.data / "signing.key").read_bytes()[:100])
check(run(data) == first and rotations(data) == [])
# The frame of the 2018 is torn away: it is told again, with the same bytes.
data = house.folder / "torn"
shutil.copytree(pending, data)
house.start(data)
check(house.stop(signal.SIGKILL) != 0)
chain = Directory(data)
check(len(rotations(data)) == 1)
for number in range(len(Directory(pending).frames), len(chain.frames)):
    frame = chain.frames[number]
    chain.put(frame.segment, frame.offset, bytes(len(frame.data)))
tail = Directory(pending).frames[-1]
chain.name_in_witness(tail, blake(tail.data))  # as that start found it
shutil.copyfile(pending / "heads", data / "heads")
for path in (data / "snapshot").glob("*"):
    if not (pending / "snapshot" / path.name).exists():
        path.unlink()
check(rotations(data) == [])
check(run(data) == second and [record.payload for record in rotations(data)] == rows)

# The former file behind the rotation, one with a bit turned in its row, one cut short: refused.
data = house.copy("refused")
file = (house.data / "signing.key").read_bytes()
for content in ((old / "signing.key").read_bytes(), file[:-1], file[:HEADER],
                file[:150] + bytes([file[150] ^ 1]) + file[151:]):
    (data / "signing.key").write_bytes(content)
    (data / "signing.key").chmod(0o600)
    check("signing.key" in house.refused(data))

# Twice before a start: both are told, in order; a copy that was made before either has them too.
third, fourth = rotate(house.data), rotate(house.data)
check(own_key(house.data)[0] == fourth and len(own_key(house.data)[1]) == 3)
restored = house.folder / "restored"
house.perp.run("restore", old, restored)
shutil.copyfile(house.data / "signing.key", restored / "signing.key")
for data, told in ((house.data, 3), (restored, 3)):
    check(run(data, data == restored) == fourth)
    check([record.payload[:32] for record in rotations(data)] == [second, third, fourth][-told:])
    check(house.store("audit", "signatures", data=data)["passed"])
verify(old_receipt, "--journal", house.data)
verify(new_receipt, "--journal", house.data)
copy = house.folder / "backup"
house.perp.run("restore", house.data, copy)
check(own_key(copy) == own_key(house.data) and run(copy, True) == fourth)
check(house.store("audit", data=copy)["passed"])
print("test_rotate: passed")
