"""test_restore.py BUILD - perp restore, and what comes up from it (journal.md, Origin): a copy
restored whole and in part, a new journal id and epoch, markets that are HALTED until an operator
opens them, what is refused, and an exchange that was rolled back and is shown as the same one.
"""
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

from fake import check
from house import House
from journal_reader import Directory, blake

build = pathlib.Path(sys.argv[1]).resolve()
house = House(build)
ROW = 192


def restore(copy, data, *words, code=0):
    done = house.perp.run("restore", copy, house.folder / data, "-o", "json", *words, code=code)
    check(code == 0 or not (house.folder / data).exists(), "nothing half made", done)
    return json.loads(done.stdout) if code == 0 else done.stderr


def state():
    with urllib.request.urlopen(house.url + "/api/v1/markets/BTC-PERP", timeout=60) as answer:
        return json.load(answer)["state"]


# An exchange with two boots; what it says of itself is kept by somebody.
house.start()
house.open_accounts()
house.trade(3)
check(house.stop() == 0)
house.start()
house.trade(3)
early = house.client("order", "BTC-PERP", "buy", "0.01", "98000")["sequence"]
time.sleep(1.1)
house.trade(2)
check(house.stop() == 0)
whole = Directory(house.data)
places = [(f.segment, f.offset, f.data) for f in whole.frames]
kept = house.folder / "kept.heads"
shutil.copyfile(house.data / "heads", kept)
check(house.store("audit", "--head", kept)["passed"])

# In part: the frames up to there, byte by byte; another journal, the next epoch; proven.
done = restore(house.data, "part", "--to", early, "--reason", "a bad hour")
part = house.folder / "part"
restored = Directory(part)
count = done["frame"]
check(whole.frames[count - 1].last <= early < whole.frames[count].last, done)
check([(f.segment, f.offset, f.data) for f in restored.frames] == places[:count])
check(done["frame_hash"] == blake(whole.frames[count - 1].data).hex() and not done["whole_copy"])
check(restored.journal_id != whole.journal_id and restored.exchange_id == whole.exchange_id)
check(done["epoch"] == 2 and "reason=a bad hour\n" in (part / "recovered").read_text())
row = (part / "origin").read_bytes()
check(len(row) == ROW and row[:8] == b"perpdORG" and row[80:96] == whole.journal_id and
      row[96:112] == restored.journal_id and row[112:176].rstrip(b"\0") == b"a bad hour")
check(done["snapshot"] == done["sequence"] and done["heads_met"] == 0)  # none is judged with --to
house.store("snapshot", "verify", done["sequence"], data=part)
check(house.store("audit", "signatures", data=part)["passed"])
check(house.store("replay", "--diff", part, "--to", done["sequence"])["equal_to"] ==
      done["sequence"])

# It comes up HALTED, with 2017 as its second record; an operator opens it.
house.start(part)
told = house.client("exchange")
check(told["epoch"] == 2, told)
check(state() == "HALTED", state())
check(house.client("order", "BTC-PERP", "buy", "0.01", "98000", code=1) is not None)
house.client("market", "state", "BTC-PERP", "ACTIVE")
house.trade(2)
check(house.stop(signal.SIGKILL) != 0)
house.start(part)  # the operator's word stands, and nothing is told twice
check(state() == "ACTIVE", state())
house.trade(1)
time.sleep(1.1)
house.trade(1)
check(house.stop() == 0)
grown = Directory(part)
records = [r for f in grown.frames[count:] for r in f.records]
check(records[0].code == 2014 and records[1].code == 2017, [r.code for r in records[:4]])
check(sum(r.code == 2017 for r in records) == 1)
body = records[1].payload
check(body == whole.journal_id + done["sequence"].to_bytes(8, "little") +
      count.to_bytes(8, "little") + bytes.fromhex(done["frame_hash"]) +
      b"a bad hour".ljust(64, b"\0"), body.hex())
check(house.store("audit", "signatures", data=part)["passed"])
check({f.data[16:32] for f in grown.frames[:count]} == {whole.journal_id})
check({f.data[16:32] for f in grown.frames[count:]} == {grown.journal_id})

# Rolled back and shown as the same one: who kept a head of what was given up proves it.
said = house.perp.run("audit", "--data", part, "--head", kept, code=1).stderr
check("is of another journal of this exchange" in said, said)
forged = part / "origin"
saved, name = forged.read_bytes(), (part / "exchange").read_bytes()
forged.unlink()
house.refused(part)  # without the file the former frames are those of another
forged.write_bytes(saved[:100] + bytes([saved[100] ^ 1]) + saved[101:])
check("origin" in house.refused(part))
forged.write_bytes(saved)

# To a time; whole; twice; the copy of a copy.
t = next(r.t_ns for f in whole.frames for r in f.records if r.sequence == early)
text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t // 10**9)) + f".{t // 10**6 % 1000:03}Z"
timed = restore(house.data, "timed", "--to", text)
limit = t // 10**6 * 10**6
ends = list(itertools.takewhile(lambda f: all(r.t_ns <= limit for r in f.records), whole.frames))
check(timed["frame"] == len(ends) and timed["frame"] <= count, timed, len(ends))
all_of_it = restore(part, "again")
check(all_of_it["whole_copy"] and all_of_it["epoch"] == 3)
check(len((house.folder / "again/origin").read_bytes()) == 2 * ROW)
check(house.store("audit", data=house.folder / "again")["passed"])
house.start(house.folder / "again")
check(state() == "HALTED")
check(house.stop() == 0)
check(house.store("audit", "signatures", data=house.folder / "again")["passed"])

# A chain that was written anew, without heads and snapshots: heads kept elsewhere tell, and the
# signature that does not fit.
heads = len(kept.read_bytes()) // 224
met = restore(house.data, "met", "--head", kept)
check(met["heads_met"] >= heads > 0 and met["whole_copy"], met, heads)
check(restore(house.data, "met_part", "--to", early, "--head", kept)["heads_met"] >= heads)
none = house.folder / "none.json"
for text in ('{"heads": []}', '{"heads": {}}', '{"heads": "x"}'):  # proves nothing
    none.write_text(text)
    said = restore(house.data, "no8", "--head", none, code=2)
    check("holds no heads" in said, text, said)
anew = house.copy("anew")
directory = Directory(anew)
for path in (*anew.glob("snapshot/*.snap"), anew / "heads"):
    path.unlink()
frame, record = next((f, r) for f in directory.frames for r in f.records if r.kind != 0)
data = bytearray(frame.data)
data[record.at + 24 + len(record.payload) + len(record.key)] ^= 1
directory.write(frame.number, data)
end = Directory(anew).frames[-1]
check(end.number == directory.frames[-1].number and end.data != directory.frames[-1].data)
directory.name_in_witness(end, blake(end.data))
for words in ((), ("--to", early)):
    said = restore(anew, "no8", "--head", kept, *words, code=1)
    check("the frame has another hash" in said, said)
check(restore(anew, "unproven")["heads_met"] == 0)
check(not house.store("audit", "signatures", data=house.folder / "unproven", code=1)["passed"])

# What is refused.
check("ends with sequence" in restore(house.data, "no1", "--to", 10**9, code=1))
check("no frame" in restore(house.data, "no2", "--to", "2020-01-01T00:00:00Z", code=1))
for bad in ("x", "0", "2020-13-01T00:00:00Z", "2020-01-01T00:00:00", "2020-01-01T00:00:00.1Z"):
    restore(house.data, "no3", "--to", bad, code=2)
restore(house.data, "no3", "--reason", "x" * 65, code=2)
house.start()
before = (house.data / "exchange").read_bytes()
said = house.perp.run("restore", part, house.data, code=3).stderr
check("it holds files already" in said and (house.data / "exchange").read_bytes() == before, said)
check(house.stop() == 0)

# A copy whose last frame was changed, with its checksum and without; one without its end.
lie = house.copy("lie")
last = Directory(lie).frames[-2]
segment = lie / f"journal/{last.segment:010}.seg"
data = bytearray(segment.read_bytes())
data[last.offset + 130] ^= 1
segment.write_bytes(data)
restore(lie, "no4", code=1)
cut = house.copy("cut")
data[last.offset:] = bytes(len(data) - last.offset)
(cut / f"journal/{last.segment:010}.seg").write_bytes(data)
restore(cut, "no5", code=1)

# What lies in the place of a file is neither waited for nor read without end; nothing is half made.
odd = house.copy("odd")
for name in ("exchange", "origin", "signing.key", "heads", "witness", "recovered", "archive/index",
             "journal/0000000000.seg"):
    place, saved = odd / name, odd / "saved"
    if place.exists():
        place.rename(saved)
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        make(place)
        done = subprocess.run([build / "perp", "restore", odd, house.folder / "no6"],
                              capture_output=True, text=True, timeout=200)
        check(done.returncode in (1, 3) and not (house.folder / "no6").exists(), name, done)
        shutil.rmtree(house.folder / "no6.restoring", ignore_errors=True)
        place.unlink()
    if name in ("signing.key", "heads", "recovered"):  # a hole of 1 TiB
        place.touch(0o600)
        os.truncate(place, 1 << 40)
        check("File too large" in restore(odd, "no6", code=3), name)
        shutil.rmtree(house.folder / "no6.restoring", ignore_errors=True)
        place.unlink()
    if saved.exists():
        saved.rename(place)

# A folder that waits under the name of the result is taken when it is empty and one's own alone.
waits, theirs = house.folder / "no7.restoring", house.folder / "theirs"
theirs.mkdir(0o700)
waits.symlink_to(theirs)
check("no folder, or a link" in restore(house.data, "no7", code=3))
check(not any(theirs.iterdir()), "nothing was written through the link")
waits.unlink()
waits.mkdir()
waits.chmod(0o777)
check("others may use" in restore(house.data, "no7", code=3) and not any(waits.iterdir()))
waits.chmod(0o700)
(waits / "journal").mkdir()
check("holds files already" in restore(house.data, "no7", code=3))
check([path.name for path in waits.iterdir()] == ["journal"])
(waits / "journal").rmdir()
restore(house.data, "no7")

# The heads of another exchange beside the frames of this one.
other = House(build)
other.start()
other.open_accounts()
other.trade(1)
check(other.stop() == 0)
swapped = house.copy("swapped")
shutil.copyfile(other.data / "heads", swapped / "heads")
said = house.perp.run("audit", "--data", swapped, "--head", other.data / "heads", code=1).stderr
check("is of another exchange" in said, said)

# Killed when a file of it appears: DATA is not there, or it is whole. A start refuses what is left
# once it holds a frame.
for seen in ("", "journal", "journal/0000000000.seg", "snapshot", "signing.key", "origin",
             "exchange", "witness"):
    target = house.folder / "killed"
    rest = pathlib.Path(f"{target}.restoring")
    with subprocess.Popen([build / "perp", "restore", house.data, target],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (rest / seen).exists() and process.poll() is None:
            time.sleep(0.0005)
        process.kill()
    if target.exists():
        check(house.store("audit", data=target)["passed"])
    elif not (rest / "witness").exists() and any(rest.glob("journal/*.seg")):
        house.refused(rest)
    for path in (target, rest):
        shutil.rmtree(path, ignore_errors=True)
