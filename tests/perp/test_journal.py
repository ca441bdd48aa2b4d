"""test_journal.py BUILD - perp journal ls, cat, verify, stat, follow say of a data directory what a
reader of journal.md's tables finds in it, and name the place of a planted damage."""
import collections
import json
import signal
import subprocess
import sys

from fake import check
from house import House
from journal_reader import Directory

house = House(sys.argv[1])
house.start()
house.open_accounts()
house.trade(2)
check(house.stop() == 0, "a clean stop")
house.start()
house.trade(1)


def lines(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def journal(*words, code=0, data=None):
    return house.perp.run("journal", *words, "--data", str(data or house.data), "-o", "json",
                          code=code)


# follow shows what becomes durable from now on, while the primary runs; --to ends it.
before = lines(journal("cat"))[-1]["sequence"]
follower = subprocess.Popen(
    [house.perp.program, "journal", "follow", "--from", str(before + 1), "--to", str(before + 4),
     "--data", house.data, "-o", "json"], stdout=subprocess.PIPE, text=True,
    env={"HOME": str(house.folder)})
house.trade(2)
followed = [json.loads(line) for line in follower.communicate(timeout=200)[0].splitlines()]
check(follower.returncode == 0)
check(house.stop(signal.SIGKILL) == -signal.SIGKILL)
directory = Directory(house.data)
frames, records = directory.frames, directory.records
check([row["sequence"] for row in followed] == list(range(before + 1, before + 5)), followed)

# cat: every record, with its place, code, time, key and signature.
shown = lines(journal("cat"))
check(len(shown) == len(records) > 30)
places = {record.sequence: frame for frame in frames for record in frame.records}
for row, record in zip(shown, records):
    frame = places[record.sequence]
    want = (record.sequence, record.t_ns, record.code, frame.number, frame.boot, frame.segment,
            record.length, False, ("unsigned", "signed")[record.kind])
    check(want == (row["sequence"], row["t_ns"], row["code"], row["frame"], row["boot"],
                   row["segment"], row["length"], row["archived"], row["kind"]), row, want)
    check(row.get("public_key", "") == record.key.hex(), row)
    check(row.get("signature", "") == record.signature.hex(), row)
check([row for row in shown if row["sequence"] in range(before + 1, before + 5)] == followed)
names = {row["code"]: row["name"] for row in shown}  # wire.md W2, W3a, W3b
check(names == {0: "place_limit_order", 3: "order_cancel", 11: "create_account_secp256k1",
                34: "create_api_key", 1000: "oracle_price", 1001: "market_define",
                1003: "deposit_credit", 2013: "configuration", 2014: "boot",
                **({2000: "tick"} if 2000 in names else {})}, names)

# The fields of a body: W3 code 0 has price at 16 and quantity at 24 of the body.
order = next(record for record in records if record.code == 0)
fields = shown[order.sequence - 1]["fields"]
body = order.payload[24:]
check(fields["price"] == f"{int.from_bytes(body[16:24], 'little')} raw", fields)
check(fields["quantity"].split(" ")[0] == str(int.from_bytes(body[24:32], "little", signed=True)))
check(fields["portfolio_id.account_id"] == str(house.accounts["a"]), fields)
boot = shown[0]["fields"]  # W3b: 2014 is boot u64, rules_version u32, pad, clock_step i64
check(boot["boot"] == "1" and boot["clock_step_ns"] == "0", boot)
options = shown[1]["fields"]["options"]
check("engine.accounts=256\n" in options and options == records[1].payload.rstrip(b"\0").decode())

# Filters.
third = lines(journal("cat", "--from", 3, "--to", 5))
check([row["sequence"] for row in third] == [3, 4, 5])
cancels = lines(journal("cat", "--code", 3))
check([row["sequence"] for row in cancels] ==
      [record.sequence for record in records if record.code == 3] and len(cancels) > 1)
own = lines(journal("cat", "--account", house.accounts["b"]))
check([row["sequence"] for row in own] == [
    record.sequence for record in records
    if record.code in (0, 3, 34, 1003)  # these begin with an account id
    and int.from_bytes(record.payload[24:32], "little") == house.accounts["b"]], own)
text = house.perp.run("journal", "cat", "--to", 1, "--data", house.data).stdout
check(text.startswith("1  20") and "  2014 boot  unsigned  boot=1  rules_version=" in text, text)

# ls, verify and stat.
segments = json.loads(journal("ls").stdout)
check(segments[0]["state"] == "open" and segments[1]["state"] == "prepared")
want = {"frames": len(frames), "first_frame": 1, "last_frame": frames[-1].number,
        "first_sequence": 1, "last_sequence": records[-1].sequence, "first_boot": 1,
        "last_boot": 2, "frame_bytes": sum(frame.length for frame in frames),
        "file_bytes": 64 << 20, "archive_bytes": None, "stray_offset": None}
check({name: segments[0][name] for name in want} == want, segments[0], want)
proof = json.loads(journal("verify").stdout)
want = {"whole": True, "last_sequence": records[-1].sequence, "last_frame": frames[-1].number,
        "frames": len(frames), "records": len(records), "segments": 1, "archived_frames": 0,
        "clean_stop": False, "torn_bytes": 0, "end_segment": 0,
        "durable_frame": max(frame.durable for frame in frames if frame.boot == 2),
        "end_offset": frames[-1].offset + frames[-1].length}
check({name: proof[name] for name in want} == want, proof, want)
stat = json.loads(journal("stat").stdout)
counted = collections.Counter(record.code for record in records)
check({row["code"]: row["records"] for row in stat["codes"]} == counted, stat)
for row in stat["codes"]:
    check(row["bytes"] == sum(one.length for one in records if one.code == row["code"]), row)
written, kept = sum(f.length for f in frames), sum(f.record_bytes for f in frames)
check((stat["written_bytes"], stat["record_bytes"]) == (written, kept), stat)
check(abs(float(stat["written_per_record_byte"]) - written / kept) < 0.001, stat)
check(sum(row["frames"] for row in stat["frame_sizes"]) == len(frames), stat)
span = (records[-1].t_ns - records[0].t_ns) / 1e9
check(abs(float(stat["records_per_s"]) - len(records) / span) < 0.1, stat, len(records) / span)

# Planted damage in a copy: found, at the frame that it hit; an unpromised tail is lawful.
copy = house.folder / "copy"


def damaged(frame, at):
    house.copy("copy")
    Directory(copy).put(frame.segment, frame.offset + at, bytes([frame.data[at] ^ 0x40]))


promised = frames[max(frame.durable for frame in frames) - 1]  # the last that a later one names
for frame, at in [(frames[0], 0), (frames[0], 96), (frames[7], 40), (frames[7], 150),
                  (promised, 20), (promised, promised.length - 1)]:
    damaged(frame, at)
    done = journal("verify", code=1, data=copy)
    said = json.loads(done.stdout)
    check(not said["whole"] and said["last_frame"] == frame.number - 1, said)
    check(f"frame {frame.number}, expected in segment 0 at offset {frame.offset}," in done.stderr,
          done.stderr, frame.number, frame.offset)
    if frame.number > 1:
        check(json.loads(journal("ls", data=copy).stdout)[0]["stray_offset"] == frame.offset)
    house.perp.run("audit", "--data", copy, code=1)
    house.perp.run("replay", "--from-snapshot", 0, "--data", copy, code=1)
damaged(frames[-1], 130)
last = json.loads(journal("verify", data=copy).stdout)
check(last["whole"] and last["last_frame"] == frames[-2].number, last)
check(last["torn_bytes"] == frames[-1].length, last)

# A wrong segment header, another exchange's segment, a record that goes back in time.
damaged(frames[0], 0)
Directory(copy).put(0, 20, b"\xff")
check("segment 0" in journal("verify", code=1, data=copy).stderr)
house.copy("copy")
place, record = directory.record(12)
data = bytearray(place.data)
data[record.at:record.at + 8] = (records[10].t_ns).to_bytes(8, "little")
Directory(copy).write(place.number, data)
check("sequence 12" in journal("verify", code=1, data=copy).stderr)

# In a frame of several records the first that is wrong is named, and one that does not parse.
house.copy("copy")
last_t_ns, last_sequence = records[-1].t_ns, records[-1].sequence
Directory(copy).append_records([(2000, bytes(8), last_t_ns + after) for after in (1, 2, 2, 3, 4)])
said = journal("verify", code=1, data=copy).stderr
check(f"sequence {last_sequence + 3}, " in said and "does not rise" in said, said)
data = bytearray(place.data)
data[record.at + 8:record.at + 12] = (4).to_bytes(4, "little")
house.copy("copy")
Directory(copy).write(place.number, data)
said = journal("verify", code=1, data=copy).stderr
check("sequence 12, " in said and "do not parse" in said, said)

# What is no data directory: exit code 3, and nothing is made there.
nowhere = house.folder / "nowhere"
for words in (("journal", "ls"), ("snapshot", "ls"), ("replay",), ("audit",)):
    check("is no data directory" in house.perp.run(*words, "--data", nowhere, code=3).stderr)
check(not nowhere.exists())
(copy / "exchange").write_bytes(b"x" * 256)
check("exchange is damaged" in journal("ls", code=3, data=copy).stderr)
house.perp.run("journal", "cat", "--from", "x", code=2)
