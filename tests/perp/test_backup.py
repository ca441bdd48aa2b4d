"""test_backup.py BUILD - the backup runbook of docs/operations.md, its very commands: taken beside
a running perpd, proven, restored elsewhere, started; equal hashes, equal answers, a new boot
number."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from fake import check
from house import House
from journal_reader import Directory

build = pathlib.Path(sys.argv[1]).resolve()
page = (pathlib.Path(__file__).resolve().parents[2] / "docs/operations.md").read_text()
blocks = dict(re.findall(r"^```sh (\w+)\n(.*?)^```$", page, re.M | re.S))
check(set(blocks) == {"backup", "prove", "stopped", "restore"}, list(blocks))
house = House(build)
places = {"DATA": house.data, "BACKUP": house.folder / "backup",
          "RESTORED": house.folder / "restored"}


def shell(*names, code=0, **other):
    """Blocks in one shell that ends at the first failure."""
    text = "set -eu\n" + "\n".join(blocks[name] for name in names)
    env = {"HOME": str(house.folder), "PATH": f"{build}:/usr/bin:/bin"}
    env.update({name: str(path) for name, path in {**places, **other}.items()})
    done = subprocess.run(["bash", "-c", text], env=env, capture_output=True, text=True,
                          timeout=200)
    check((done.returncode == 0) == (code == 0), done.stdout, done.stderr)
    return done


def answers():
    """What clients see of the state, without what every request or second changes."""
    return [house.client("book", "BTC-PERP")["bids"], house.client("book", "BTC-PERP")["asks"],
            house.client("balances"), house.client("positions"),
            house.client("balances", who="b"), house.client("positions", who="b")]


# A directory with an archived, a sealed and an open segment: what two starts have journalled, moved
# apart; its first snapshot stands, for nothing below it was changed.
house.start()
house.open_accounts()
house.trade(3)
young = shell("backup", code=1, BACKUP=house.folder / "young")  # nothing is sealed: no empty backup
check("no segment is sealed yet" in young.stderr and not (house.folder / "young").exists(), young)
check(house.stop() == 0)
first = house.store("snapshot", "ls")
check(len(first) == 1, first)
house.start()
house.trade(2)
check(house.stop() == 0)
directory = Directory(house.data)
for path in (house.data / "snapshot").glob("*.snap"):
    if path.name != f"{first[0]['sequence']}.snap":
        path.unlink()
second_boot = next(frame.number for frame in directory.frames if frame.boot == 2)
directory.split([second_boot, len(directory.frames)])
subprocess.run([build / "tests/archive_segment", house.data, "0"], check=True)
rows = house.store("journal", "ls")
check([(row["state"], row["in_journal"]) for row in rows[:3]] ==
      [("sealed", False), ("sealed", True), ("open", True)], rows)
whole = Directory(house.data)  # the second implementation reads archive and journal
check(len(whole.frames) == len(directory.frames) and len(whole.records) == len(directory.records))
shown = house.perp.run("journal", "cat", "-o", "json", "--data", house.data).stdout
check(shown.count('"archived":true') == sum(frame.boot == 1 and len(frame.records) or 0
                                            for frame in whole.frames), "records of the archive")
proof = house.store("journal", "verify")
check(proof["archived_frames"] == second_boot - 1 and proof["segments"] == 3, proof)
from_archive = house.store("replay", "--hash", "--from-snapshot", 0)
from_snapshot = house.store("replay", "--hash")
check(from_snapshot["from_snapshot"] == first[0]["sequence"])
check(from_archive["image_hash"] == from_snapshot["image_hash"])

# The runbook, beside the running primary.
house.start()
before = answers()
shell("backup", "prove")
last = house.store("replay", data=places["BACKUP"])["sequence"]
check(last == max(r.sequence for frame in whole.frames if frame.boot <= 2 for r in frame.records))
check("no slot of `witness`" in house.perp.run("audit", "--data", places["BACKUP"], code=1).stderr)
check(sorted(path.name for path in (places["BACKUP"] / "journal").iterdir()) ==
      ["0000000001.seg"], "the sealed one")
check([path.name for path in (places["BACKUP"] / "snapshot").iterdir()] ==
      [f"{first[0]['sequence']}.snap"])
check(answers() == before, "the primary went on")
refused = house.refused(house.data)
check("in use by another process" in refused, refused)
house.stop()

# Restored: the same hashes, the same answers, a boot number of its own.
blocks["last"] = f"last={last}"
shell("last", "restore")
check(house.store("replay", "--diff", places["RESTORED"])["equal_to"] == last)
house.start(places["RESTORED"])
house.client("market", "state", "BTC-PERP", "ACTIVE")  # all come up HALTED
check(answers() == before, answers(), before)
house.client("order", "BTC-PERP", "sell", "0.01", "100500")
check(house.stop() == 0)
restored = Directory(places["RESTORED"])
boots = [frame.boot for frame in restored.frames]
check(restored.boot == boots[-1] == 4 and 3 not in boots, boots)  # the third was the old one's
check(house.store("audit", "signatures", data=places["RESTORED"])["passed"])
again = house.store("replay", "--to", last, "--hash", "--from-snapshot", 0,
                    data=places["RESTORED"])
check(again["image_hash"] == from_archive["image_hash"], again)

# Both snapshots lost: the archive gives the same state.
shutil.rmtree(places["RESTORED"])
shell("last", "restore")
for path in (places["RESTORED"] / "snapshot").glob("*.snap"):
    path.unlink()
house.start(places["RESTORED"])
house.client("market", "state", "BTC-PERP", "ACTIVE")  # all come up HALTED
check(answers() == before)
check(house.stop() == 0)

# A stopped one: all of it.
other = house.folder / "stopped"
os.mkdir(other)
shell("stopped", BACKUP=other)
check(house.store("replay", "--hash", data=other)["image_hash"] ==
      house.store("replay", "--hash")["image_hash"])

# The newest segments of that one are lost: refused with both ends until the operator accepts it.
for path in (other / "snapshot").glob("*.snap"):
    if path.name != f"{first[0]['sequence']}.snap":
        path.unlink()
for path in (other / "journal").glob("*.seg"):
    if int(path.name[:10]) > 1:
        path.unlink()
refused = house.refused(other)
check(f"sequence {last}, the witness names" in refused, refused)
accept = ("recover", other, "--reason", "its disk is gone", "--accept-end")
check(f"--accept-end {last}" in house.perp.run(*accept, last - 1, code=1).stderr)
check(house.perp.run(*accept, "x", code=2) and house.perp.run(*accept[:2], code=2))
accepted = json.loads(house.perp.run(*accept, last, "-o", "json").stdout)
check(accepted["accepted_end"] == last < accepted["witness_sequence"], accepted)
check("no lost end" in house.perp.run(*accept, last, code=1).stderr)
check("reason=its disk is gone\n" in (other / "recovered").read_text())
# What goes on from that end begins with its state.
house.store("snapshot", "verify", last, data=other)
check(last > first[0]["sequence"])
check(house.store("replay", "--hash", data=other)["from_snapshot"] == last)
check(len({house.store("replay", "--hash", "--to", last, "--from-snapshot", sequence,
                       data=other)["image_hash"] for sequence in (0, last)}) == 1)
house.start(other)
check(house.client("exchange")["epoch"] == accepted["epoch"] == 2)
house.client("market", "state", "BTC-PERP", "ACTIVE")
check(answers() == before)
check(house.stop() == 0)

# A segment is archived, and gives its name away, while the archive is copied: it is in the backup
# all the same.
raced, tools = house.folder / "raced", house.folder / "tools"
shutil.copytree(house.data, raced)
check(subprocess.run(["ls", raced / "journal"], capture_output=True, text=True,
                     check=True).stdout.split()[0] == "0000000001.seg")
tools.mkdir()
(tools / "cp").write_text(f"""#!/bin/sh
/bin/cp "$@" || exit
case "$*" in
*/archive/*)
    [ -e {tools}/done ] && exit
    : > {tools}/done
    {build}/tests/archive_segment {raced} 1
    ;;
esac
""")
(tools / "cp").chmod(0o700)
shell("backup", "prove", DATA=raced, BACKUP=house.folder / "meanwhile",
      PATH=f"{tools}:{build}:/usr/bin:/bin")
check((tools / "done").exists() and (raced / "archive/0000000001.seg.zst").exists())
check((house.folder / "meanwhile/journal/0000000001.seg").exists())

# A backup that is damaged, or lacks a segment, is not proven.
name = places["BACKUP"] / "journal/0000000001.seg"
data = bytearray(name.read_bytes())
data[4096 + 200] ^= 1
name.write_bytes(data)
house.perp.run("journal", "verify", "--data", places["BACKUP"], code=1)
house.perp.run("audit", "--data", places["BACKUP"], code=1)
archived = places["BACKUP"] / "archive/0000000000.seg.zst"
archived.write_bytes(archived.read_bytes()[:-9])
shutil.rmtree(places["RESTORED"])
shell("prove", code=1)
