"""test_snapshot.py BUILD - perp snapshot ls, verify and dump say of a snapshot what journal.md's
tables find in it; a damaged one is named, and a forged one, whose checksums are right, differs from
the replayed state in the very row that was forged."""
import json
import struct
import sys

from fake import check
from house import House
from journal_reader import Directory, blake, crc32c

HEAD = struct.Struct("<8sHHI16s32s16sQQQQIIQ32s32s32s")
SECTION = struct.Struct("<IIQQII")

house = House(sys.argv[1])
house.start()
house.open_accounts()
house.trade(2)
check(house.stop() == 0)
house.start()
house.trade(1)
check(house.stop() == 0)
directory = Directory(house.data)


class Snapshot:
    def __init__(self, path):
        self.path, self.data = path, bytearray(path.read_bytes())
        (magic, version, size, self.crc, self.journal_id, self.exchange_id, _, self.sequence,
         self.frame, self.t_ns, self.boot, self.rules, count, self.image_bytes, self.effects_hash,
         self.image_hash, self.frame_hash) = HEAD.unpack_from(self.data)
        check((magic, version, size) == (b"perpdSNP", 1, 256), path)
        self.sections = [list(SECTION.unpack_from(self.data, 256 + 32 * i)) for i in range(count)]
        self.table_end = 256 + 32 * count

    def body(self, section):
        _, _, offset, size, _, _ = section
        return self.data[offset:offset + size]

    def whole(self):
        image = b"".join(self.body(section) for section in self.sections)
        return (self.crc == crc32c(self.data[16:self.table_end]) and len(image) == self.image_bytes
                and blake(image) == self.image_hash
                and all(crc32c(self.body(section)) == section[4] for section in self.sections))

    def seal(self):
        """Every checksum and the image hash made right again, and the file written."""
        for i, section in enumerate(self.sections):
            section[4] = crc32c(self.body(section))
            SECTION.pack_into(self.data, 256 + 32 * i, *section)
        self.data[160:192] = blake(b"".join(self.body(section) for section in self.sections))
        struct.pack_into("<I", self.data, 12, crc32c(self.data[16:self.table_end]))
        self.path.write_bytes(self.data)


files = sorted(int(path.stem) for path in (house.data / "snapshot").glob("*.snap"))
listed = house.store("snapshot", "ls")
check([row["sequence"] for row in listed] == files[::-1] and len(files) == 2, listed, files)
frames = {frame.number: frame for frame in directory.frames}
for row in listed:
    snapshot = Snapshot(house.data / f"snapshot/{row['sequence']}.snap")
    check(snapshot.whole(), "the second implementation finds it whole")
    frame = frames[snapshot.frame]  # journal.md: it covers whole frames, and chains to its last
    check(frame.last == snapshot.sequence and blake(frame.data) == snapshot.frame_hash)
    last = max(r.t_ns for r in directory.records if r.sequence <= snapshot.sequence)
    want = {"sequence": snapshot.sequence, "frame": snapshot.frame, "t_ns": last,
            "boot": frame.boot, "rules_version": snapshot.rules,
            "section_count": len(snapshot.sections), "image_bytes": snapshot.image_bytes,
            "effects_hash": snapshot.effects_hash.hex(), "image_hash": snapshot.image_hash.hex(),
            "frame_hash": snapshot.frame_hash.hex()}
    check(row == want, row, want)
    # A replay from the first record gives both hashes.
    hashes = house.store("replay", "--to", row["sequence"], "--hash", "--from-snapshot", 0)
    check((hashes["image_hash"], hashes["effects_hash"]) ==
          (row["image_hash"], row["effects_hash"]), hashes, row)
check(house.store("snapshot", "verify") == {"snapshots": 2, "whole": 2})
check(house.store("replay", "--diff")["snapshots_equal"] == 2)
proof = house.store("audit")
check([proof[name] for name in ("snapshots", "snapshot_frames", "witness_slots")] == [2, 2, 4],
      proof)
check(house.store("replay", "--diff", files[0])["sequence"] == files[0])

# The dump names every row; of two states only what changed differs.
first, second = (house.perp.run("snapshot", "dump", sequence, "--data", house.data).stdout
                 .splitlines() for sequence in files)
snapshot = Snapshot(house.data / f"snapshot/{files[0]}.snap")
heads = [line.split() for line in first if line.startswith("section ")]
check([(int(head[1]), int(head[6])) for head in heads] ==
      [(section[0], section[3]) for section in snapshot.sections], heads)
check(len(first) == sum(1 + int(head[8]) for head in heads), "a line for each row")
accounts = next(section for section in snapshot.sections if section[0] == 3)
check(sum(line.startswith("accounts ") for line in first) == 3)  # 0, a and b
engine = next(line for line in first if line.startswith("engine 0 "))
check(f"  sequence={files[0]}  t_ns={listed[1]['t_ns']}  boot=1  " in engine, engine)
check("  deposits=20000000000  " in engine, engine)  # twice 10,000 USDC in micro-USDC
orders = [line for line in first if line.startswith("orders ")]
# Two sells of 0.02, of which the two buys of 0.01 took the cheaper one; of two bids one is left.
check(["  remaining=1000  " in orders[0], "  remaining=2000  " in orders[1], len(orders)] ==
      [True, True, 2], orders)
check("  options=\"engine.accounts=256 " in "".join(first))
changed = {line.split()[0] for line in set(first) ^ set(second)}
check({"engine", "orders", "portfolios", "duplicates", "holdings"} <= changed, changed)
check("configuration" not in changed and "deposits" not in changed, changed)
check(house.perp.run("snapshot", "dump", "--data", house.data).stdout.splitlines() == second)


# Damage at any place is found, and the snapshot is named; a start would take the older one.
target = house.copy("damaged")
path = target / f"snapshot/{files[1]}.snap"
good = path.read_bytes()
image_at = Snapshot(path).sections[0][2]
for at in (0, 9, 13, 33, 81, 100, 120, 161, 193, 250, 257, 280, image_at, len(good) - 1):
    data = bytearray(good)
    data[at] ^= 0x10
    path.write_bytes(data)
    done = house.perp.run("snapshot", "verify", "--data", target, "-o", "json", code=1)
    check(json.loads(done.stdout) == {"snapshots": 2, "whole": 1}, at, done)
    check(f"snapshot {files[1]}: " in done.stderr, done.stderr)
    house.perp.run("snapshot", "verify", files[0], "--data", target)
path.write_bytes(good[:-1])
house.perp.run("snapshot", "verify", files[1], "--data", target, code=1)
house.perp.run("audit", "--data", target, code=1)
check(house.store("replay", "--hash", data=target)["from_snapshot"] == files[0])
path.unlink()
house.perp.run("snapshot", "verify", files[1], "--data", target, code=1)

# The journal cut where no later frame tells of it: the snapshot does.
target = house.copy("cut")
frame = next(frame for frame in directory.frames if frame.last == files[1] and frame.records)
Directory(target).put(frame.segment, frame.offset, bytes(4 << 20))
for words in (("journal", "verify"), ("audit",)):
    said = house.perp.run(*words, "--data", target, code=1).stderr
    check(f"frame {frame.number}, expected in segment 0 at offset {frame.offset}, is missing, but "
          f"snapshot {files[1]}" in said, said)
for sequence in files:
    (target / f"snapshot/{sequence}.snap").unlink()
check(house.store("journal", "verify", data=target)["last_frame"] == frame.number - 1)

# A signature changed below the snapshots, which changes no state, everything sealed again behind it
# and named in the witness: a start passes the older snapshot's frame and finds another hash.
target = house.copy("resealed")
resealed = Directory(target)
place, record = next((frame, record) for frame in resealed.frames for record in frame.records
                     if record.kind == 1 and record.sequence < files[0])
data = bytearray(place.data)
data[record.at + 24 + len(record.payload) + len(record.key)] ^= 1
resealed.write(place.number, data)
end = Directory(target).frames[-1]
resealed.name_in_witness(end, blake(end.data))
refused = house.refused(target)
named = Snapshot(house.data / f"snapshot/{files[0]}.snap").frame
check(f"lacks the frame that its snapshot ends with: snapshot {files[0]} names frame {named}, "
      "which has another hash in the journal" in refused, refused)

# A forgery with right checksums: one more micro-USDC in the cash of portfolio 1.
target = house.copy("forged")
path = target / f"snapshot/{files[0]}.snap"
forged = Snapshot(path)
place = next(section for section in forged.sections if section[0] == 5)
row = place[3] // 3  # portfolios 0, 1 and 2; cash is behind two slacks of 16 bytes or 8
line = next(line for line in first if line.startswith("portfolios 1 "))
cash = int(line.split("  cash=")[1].split()[0])
at = place[2] + row + bytes(forged.data[place[2] + row:place[2] + 2 * row]).index(
    struct.pack("<q", cash))
forged.data[at:at + 8] = struct.pack("<q", cash + 1)
forged.seal()
check(Snapshot(path).whole())
for words in (("replay", "--diff"), ("replay", "--diff", files[0]), ("audit",)):
    said = house.perp.run(*words, "--data", target, code=1).stderr
    check(f"snapshot {files[0]} differs" in said, said)
    check("first difference: section 5 portfolios, row 1\n" in said, said)
    check(f"replayed:  cash={cash}\n" in said and f"snapshot:  cash={cash + 1}\n" in said, said)

# The frame's hash in the older snapshot, sealed again: neither an audit nor a start passes it by.
target = house.copy("frame")
path = target / f"snapshot/{files[0]}.snap"
forged = Snapshot(path)
forged.data[192] ^= 1
forged.seal()
said = house.perp.run("audit", "--data", target, code=1).stderr
check(f"snapshot {files[0]}: frame {forged.frame}, sequence {files[0]}, has another hash" in said,
      said)
