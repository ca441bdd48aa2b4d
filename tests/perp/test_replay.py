"""test_replay.py BUILD - perp replay and perp audit: equal states give equal hashes, and a forged
record, signature or effects hash is found at its sequence. The forgeries are sealed again, so that
every frame is whole and chained: only a replay can see them."""
import collections
import json
import pathlib
import shutil
import struct
import subprocess
import sys

from fake import check
from hdr_reader import decode
from house import House
from journal_reader import Directory, blake

house = House(sys.argv[1])
house.start()
house.open_accounts()
house.trade(2)
house.client("leverage", "BTC-PERP", "5", who="a")
house.client("portfolio", "rename", "Reserve", who="a")
check(house.stop() == 0)
records = Directory(house.data).records
last = records[-1].sequence


def replay(*words, data=None, code=0):
    return house.store("replay", *words, data=data, code=code)


def copy(name):
    target = house.copy(name)
    for snapshot in (target / "snapshot").glob("*.snap"):  # the forged are no longer of it
        snapshot.unlink()
    (target / "heads").unlink()  # nor are its heads: tests/system/test_heads.py
    return target, Directory(target)


def forged(name, sequence, change, is_witnessed=True):
    """A copy in which `change` has altered the bytes of a record."""
    target, directory = copy(name)
    frame, record = directory.record(sequence)
    data = bytearray(frame.data)
    change(data, record)
    directory.write(frame.number, data)
    check(house.store("journal", "verify", data=target)["whole"], name)
    if is_witnessed:  # the forger seals what lies beside the chain, too
        end = Directory(target).frames[-1]
        directory.name_in_witness(end, blake(end.data))
    return target


# The same records give the same hashes, whatever the path; another sequence gives others.
whole = replay("--hash", "--from-snapshot", 0)
check((whole["sequence"], whole["t_ns"]) == (last, records[-1].t_ns), whole)
check((whole["records"], whole["from_snapshot"]) == (last, 0), whole)
check(replay("--hash", "--to", last)["image_hash"] == whole["image_hash"])
earlier = replay("--hash", "--to", last - 1)
check(earlier["sequence"] == last - 1 and earlier["image_hash"] != whole["image_hash"])
done = house.perp.run("replay", "--to", last + 1, "--data", house.data, code=1)
check(f"the journal ends at sequence {last}" in done.stderr, done.stderr)

# --timing: every record's time, by its kind; the state is what it is without.
timed = replay("--hash", "--timing", "--results", house.folder / "timing", "--from-snapshot", 0)
check({name: timed[name] for name in whole} == whole, timed, whole)
rows = {row["command"]: row for row in timed["timing"]}
check(rows.pop("all")["count"] == last and timed["tick_ns"] > 0, timed)
codes = collections.Counter(record.code for record in records)
names = {0: "place_limit_order", 11: "create_account_secp256k1", 1000: "oracle_price", 2014: "boot"}
check({names[code]: codes[code] for code in names} == {
    name: rows[name]["count"] for name in names.values()}, rows, codes)
check(sorted(row["count"] for row in rows.values()) == sorted(codes.values()), rows, codes)
for row in timed["timing"]:
    times = [row[name] for name in ("p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")]
    check(times == sorted(times) and times[-1] > 0, row)
check(timed["engine_commands_per_s"] >= timed["replay_commands_per_s"] > 0, timed)
folder = pathlib.Path(house.folder / "timing")
log = [line.split(",") for line in (folder / "timing.hlog").read_text().splitlines()
       if line.startswith("Tag=")]
check({line[0][4:]: sum(decode(line[4]).values()) for line in log} ==
      {row["command"]: row["count"] for row in timed["timing"]}, log)
check(f"Total count    = {last:12}]" in (folder / "timing.hgrm").read_text())
for words, said in ((("--timing", "--diff"), "compares no state"),
                    (("--results", "x"), "--results is for --timing")):
    done = house.perp.run("replay", *words, "--data", house.data, code=2)
    check(said in done.stderr, done.stderr)
check("timing" not in whole and "tick_ns" not in whole, whole)

# A signed command tells its answer at least (W3c: 2100), so the effects hash behind it is another.
answered = [record.sequence for record in records if record.kind == 1][-1]
before, behind = (replay("--hash", "--to", to)["effects_hash"] for to in (answered - 1, answered))
check(before != behind and len(behind) == 64, before, behind)

# A tick with nothing to do tells no effect: the state has another time, the effects hash is as it
# was. The first of so many ends what work may be left.
TICKS = 8
target, directory = copy("ticks")
for i in range(1, TICKS + 1):
    directory.append(2000, bytes(8), records[-1].t_ns + i)  # W3b: kind TIME
    directory = Directory(target)
before, behind = (replay("--hash", "--to", last + to, data=target) for to in (TICKS - 1, TICKS))
check((behind["sequence"], behind["t_ns"]) == (last + TICKS, records[-1].t_ns + TICKS), behind)
check(before["effects_hash"] == behind["effects_hash"], before, behind)
check(before["image_hash"] != behind["image_hash"], before, behind)

# A copy is equal to the end; one that goes on is no difference, and is said.
target, directory = copy("longer")
body = last.to_bytes(8, "little") + bytes.fromhex(whole["effects_hash"])  # W3b: 2015
directory.append(2015, body, records[-1].t_ns + 1)
equal = replay("--diff", target)
check(equal == {"equal_to": last, "last_sequence": last, "other_last_sequence": last + 1}, equal)

# That 2015 states the right hash: it is compared, and the invariants are checked there.
check(replay(data=target)["effects_hashes_equal"] == 1)
audited = house.store("audit", "signatures", data=target)
check(audited["passed"] and audited["findings"] == 0, audited)
signed = [record for record in records if record.kind == 1]
want = {"last_sequence": last + 1, "records": last + 1, "effects_hashes": 1, "invariant_checks": 2,
        "signatures": len(signed), "unsigned": last + 1 - len(signed)}
check({name: audited[name] for name in want} == want, audited, want)
check("signatures" not in house.store("audit"))

# A 2015 that states another hash, or another sequence, is found there.
for name, body in (("hash", last.to_bytes(8, "little") + blake(b"another")),
                   ("place", (last - 1).to_bytes(8, "little") + body[8:])):
    target, directory = copy(f"wrong-{name}")
    directory.append(2015, body, records[-1].t_ns + 1)
    for words in (("replay",), ("replay", "--diff"), ("audit",)):
        said = house.perp.run(*words, "--data", target, code=1).stderr
        check(f"sequence {last + 1}, code 2015" in said, said)

# Behind 65,536 sequences a 2015 must be there: a journal from which it was cut is found.
target, directory = copy("checkpoint")
directory.added = 0
while last + directory.added < 65536:
    count = min(30000, 65536 - last - directory.added)
    directory.append_records([(2000, bytes(8), records[-1].t_ns + directory.added + 1 + i)
                              for i in range(count)])
    added = directory.added + count
    directory = Directory(target)
    directory.added = added
far = replay("--hash", "--to", 65536, data=target)
cut, shorter = copy("uncheckpointed")
subprocess.run(["cp", target / "journal/0000000000.seg", cut / "journal"], check=True)
t_ns = records[-1].t_ns + directory.added
for place, first in ((target, 2015), (cut, 2000)):
    body = bytes(8) if first == 2000 else (65536).to_bytes(8, "little") + bytes.fromhex(
        far["effects_hash"])
    Directory(place).append_records([(first, body, t_ns + 1), (2000, bytes(8), t_ns + 2)])
check(house.store("audit", data=target)["effects_hashes"] == 1)
said = house.perp.run("audit", "--data", cut, code=1).stderr
check("0 checkpoints (2015) are there, and 1 must be" in said, said)

# A record that was changed: the first difference of two directories is its sequence.
order = [record for record in records if record.code == 0][2]


def cheaper(data, record):
    data[record.at + 24 + 24 + 16] ^= 1  # W3: the lowest bit of the price


target = forged("price", order.sequence, cheaper)
done = house.perp.run("replay", "--diff", target, "--data", house.data, code=1)
check(f"sequence {order.sequence} is the first that differs: its record" in done.stderr, done)
shown = done.stdout.splitlines()
check(len(shown) == 2 and all(f" {order.sequence}  " in line for line in shown), shown)
check(shown[0].split("price=")[1].split()[0] != shown[1].split("price=")[1].split()[0], shown)
check(replay("--hash", data=target)["image_hash"] != whole["image_hash"])

# Signatures: each kind of key, a changed payload, a changed signature; only 'signatures' looks.
master = next(record for record in records if record.code == 11)


def scratch(data, record):
    data[record.at + 24 + len(record.payload) + len(record.key) + 40] ^= 1


for name, sequence, change, what in (
        ("payload", order.sequence, cheaper, "its Ed25519 signature is wrong"),
        ("ed25519", order.sequence, scratch, "its Ed25519 signature is wrong"),
        ("secp256k1", master.sequence, scratch, "its Secp256k1 signature is wrong")):
    target = forged(f"signature-{name}", sequence, change)
    house.perp.run("audit", "--data", target)
    done = house.perp.run("audit", "signatures", "--data", target, "-o", "json", code=1)
    check(f"sequence {sequence}, code" in done.stderr and what in done.stderr, done.stderr)
    said = json.loads(done.stdout)
    check(said["findings"] == 1 and not said["passed"], said)
    check(said["signatures"] == len(signed) - 1, said)

# A record that perpd would not have let in: its signer was never a key of the account, or not the
# operator's. The replay refuses what it asks for; the audit says that it cannot have come so.
def stranger(data, record):
    data[record.at + 24 + len(record.payload)] ^= 1


oracle = next(record for record in records if record.code == 1000)
for name, sequence, what in (
        ("session", order.sequence, "its key was never one of the account"),
        ("operator", oracle.sequence, "its key is not configured for it")):
    target = forged(f"stranger-{name}", sequence, stranger)
    done = house.perp.run("audit", "--data", target, "-o", "json", code=1)
    check(f"sequence {sequence}, code" in done.stderr and what in done.stderr, done.stderr)
    check(json.loads(done.stdout)["findings"] == 1, done)


# Writes that nobody signed name an API key; a 2016 has the boot (1) as its term.
def unknown_key(data, record):
    data[record.at + 24] ^= 1


def lead(term, epoch=7, previous=0):
    def change(data, record):
        struct.pack_into("<H", data, record.at + 12, 2016)
        data[record.at + 24:record.at + 24 + 64] = struct.pack("<QQ16sQQB7sq", term, epoch, b"a",
                                                               previous, 0, 0, bytes(7), 0)
    return change


leverage, rename = (next(record for record in records if record.code == code)
                    for code in (2001, 2010))
for name, record, change, what in (
        ("api-key", leverage, unknown_key, "no key ever had the id that it names"),
        ("other-term", rename, lead(2), "its term is not the boot of the 2014 before it"),
        ("epoch", rename, lead(1, epoch=0), "its epoch is none, or that of the term before"),
        ("former-term", rename, lead(1, previous=1), "its previous term is not between"),
        ("term", rename, lead(1), None)):
    target = forged(f"stranger-{name}", record.sequence, change)
    done = house.perp.run("audit", "--data", target, code=0 if what is None else 1)
    said = f"sequence {record.sequence}, code" in done.stderr
    check(not said if what is None else said and what in done.stderr, name, done.stderr)

# Each slot of the witness is compared, not the newest alone; one that is not there is a finding.
target = forged("witness", order.sequence, cheaper, is_witnessed=False)
done = house.perp.run("audit", "--data", target, "-o", "json", code=1)
said = json.loads(done.stdout)
check((said["witness_slots"], said["snapshot_frames"]) == (4, 0) and not said["passed"], said)
check(said["findings"] == done.stderr.count(", has another hash\n") > 0, done)
check(f", sequence {last}, has another hash\n" in done.stderr, done)
end = Directory(target).frames[-1]
directory.folder = target
directory.name_in_witness(end, blake(end.data))
house.perp.run("audit", "--data", target)
slots = bytearray((target / "witness").read_bytes())
slots[2 * 4096 + 112] ^= 1
(target / "witness").write_bytes(slots)
done = house.perp.run("audit", "--data", target, "-o", "json", code=1)
check("witness slot 2: not compared" in done.stderr, done.stderr)
check((json.loads(done.stdout)["witness_slots"], json.loads(done.stdout)["findings"]) == (3, 1))
(target / "witness").unlink()
done = house.perp.run("audit", "--data", target, code=1)
check(f"no slot of `witness` names the end of this journal, sequence {last}" in done.stderr, done)
house.perp.run("audit", "--data", target, "--accept-end", last)
done = house.perp.run("audit", "--data", target, "--accept-end", last - 1, code=1)
check(f"the journal ends with sequence {last}, not {last - 1}" in done.stderr, done.stderr)
house.perp.run("audit", "--data", target, "--accept-end", "x", code=2)

# A record of another rules_version is not replayed: it is named, with the version of this binary.
target = forged("rules", 1, lambda data, record: data.__setitem__(record.at + 24 + 8, 99))
said = house.perp.run("replay", "--data", target, code=1).stderr
check("rules_version" in said, said)

house.perp.run("replay", "word", "--data", house.data, code=2)
house.perp.run("audit", "word", "--data", house.data, code=2)


# The rows of the past: made again from the records they are what perpd wrote, row by row (the sums
# are of the rows' CRCs); a file that is lost, damaged or another's is no hindrance.
def history(*words, data=None, code=0):
    return house.store("history", *words, data=data, code=code)


def tables(data=None):
    return {row["table"]: (row["rows"], row["sum"]) for row in history("stat", data=data)}


def of_rows(shown):
    """Without `private`: how many events share a row of it depends on the commits."""
    check(shown["private"][0] > 0, shown)
    return {table: row for table, row in shown.items() if table != "private"}


written = tables()
said = history("verify")
check((said["applied"], said["from"]) == (last, 1), said, last)
check(said["rows"] == sum(rows for rows, _ in written.values()), said, written)
check((written["trades"][0], written["fills"][0]) == (2, 4), written)  # two trades of two sides
check(written["requests"][0] >= 8, written)
target = house.copy("past")
file = target / "history/data.mdb"
for damage in ("lost", "flipped", "cut", "folder"):
    if damage == "flipped":
        data = bytearray(file.read_bytes())
        for at in (16, 4096 + 16):  # of both pages of LMDB's that name the trees
            data[at] ^= 1
        file.write_bytes(data)
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:3 * 4096])
    elif damage == "lost":
        file.unlink()
    else:
        shutil.rmtree(target / "history")
    done = house.perp.run("history", "verify", "--data", target, code=3 if damage in (
        "lost", "folder") else 1)
    check(("is damaged" if done.returncode == 1 else "No such file") in done.stderr, damage, done)
    made = history("rebuild", data=target)
    check((made["applied"], made["from"]) == (last, 1), damage, made)
    check(of_rows(tables(target)) == of_rows(written), damage, tables(target), written)
    check(not (target / "history.new").exists(), damage)
# A start goes on from it: nothing is refused, nothing begins later.
house.start(target)
house.perp.run("history", "rebuild", "--data", target, code=3)  # its lock is perpd's
check(house.stop() == 0 and history("verify", data=target)["from"] == 1)
# A journal that has another frame than its witness names leaves the file as it is.
target, directory = copy("past_torn")
frame = directory.frames[2]
data = bytearray(frame.data)
data[-1] ^= 1
directory.write(frame.number, data)  # it and the frames behind it are sealed again
before = (target / "history/data.mdb").read_bytes()
said = house.perp.run("history", "rebuild", "--data", target, code=1).stderr
check("witness" in said, said)
check((target / "history/data.mdb").read_bytes() == before)
check(not (target / "history.new").exists())
