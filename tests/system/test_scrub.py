"""test_scrub.py - what lies still is read again: a bit that changes in an archived file, in a
sealed segment or in a snapshot is told with file and range, and whole files are not (journal.md,
Scrub).

    python3 test_scrub.py BUILD [CASE...]
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import client
from client import Account, Perpd
from harness import Suite, Table
from world import BTC, BTC_PRICE, USDC

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))
from journal_reader import Directory

suite = Suite("scrub")
BUILD = pathlib.Path(sys.argv[1])
WAIT_S = 200


class World:
    """Segment 0 is archived, segment 1 sealed, segment 2 open; two snapshots."""

    def __init__(self):
        self.copy = pathlib.Path(tempfile.mkdtemp(prefix="perpd-archive-copy-"))
        # No snapshot is late, however slow the machine: segment 1 stays.
        self.perpd = Perpd(BUILD / "perpd", *client.SMALL_TABLES, "--store.scrub_rate=1G",
                           "--store.restart_target=3600")
        exchange = self.perpd.start()
        assert exchange.set_price(BTC_PRICE, BTC)["status"] == "request_completed"
        account = Account(exchange, 100_000 * USDC)
        assert account.limit(900_000, 100)["status"] == "request_completed"
        self.stop()
        self.perpd.start()
        self.stop()
        self.data = self.perpd.folder / "data"
        directory = Directory(self.data)
        second = next(frame.number for frame in directory.frames if frame.boot == 2)
        for path in (self.data / "snapshot").glob("*.snap"):
            path.unlink()  # they name frames as they were
        directory.split([second, len(directory.frames)])
        for _ in range(2):
            self.perpd.start()
            self.stop()
        subprocess.run([BUILD / "tests/archive_segment", self.data, "0"], check=True)
        self.exchange = self.perpd.start()

    def stop(self):
        assert self.perpd.stop() == 0
        self.perpd.process.stdout.close()

    def metric(self, name):
        page = self.exchange.admin("/metrics").body.decode()
        found = re.search(rf"^perpd_scrub_{name} (\d+)$", page, re.M)
        return int(found[1]) if found else None

    def wait(self, look):
        until = time.monotonic() + WAIT_S
        while not look() and time.monotonic() < until:
            time.sleep(0.05)
        return look()


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))


@suite.case
def one_bit_is_found(world):
    """Two rounds find nothing; then each kind of file in turn; mended, it is well again."""
    table = Table()
    table.true("two rounds", world.wait(lambda: world.metric("rounds_total") >= 2))
    table.same("nothing is wrong", world.metric("faults_total"), 0)
    snapshots = sorted((world.data / "snapshot").glob("*.snap"))
    files = [world.data / "archive/0000000000.seg.zst", world.data / "journal/0000000001.seg",
             snapshots[-1]]
    rounds, read = world.metric("rounds_total"), world.metric("files_total")
    table.true("all of them are read", read >= rounds * (1 + 1 + len(snapshots)), (rounds, read))
    table.true("the age of a round", world.metric("round_age_seconds") is not None)
    frame = Directory(world.data)
    place = next(each.offset for each in frame.frames if each.segment == 1)
    for path, at in zip(files, (path.stat().st_size // 2 if path.suffix != ".seg" else place + 200
                                for path in files)):
        before, log = world.metric("faults_total"), len(world.perpd.log())
        flip(path, at)
        table.true(f"{path.name}: found", world.wait(
            lambda: world.metric("faults_total") > before))
        line = re.compile(rf"error scrub file={path.relative_to(world.data)} "
                          r"bytes=(\d+)\.\.(\d+): ")
        # It is counted before it is told.
        found = world.wait(lambda: line.search(world.perpd.log()[log:]))
        table.true(f"{path.name}: told", found is not None, world.perpd.log()[log:])
        if found:
            table.true(f"{path.name}: the range holds it",
                       int(found[1]) <= at < int(found[2]), found[0])
        flip(path, at)
    rounds = world.metric("rounds_total")
    world.wait(lambda: world.metric("rounds_total") > rounds)
    before, rounds = world.metric("faults_total"), world.metric("rounds_total")
    world.wait(lambda: world.metric("rounds_total") > rounds)
    table.same("mended", world.metric("faults_total"), before)
    table.same("it serves all the same", world.exchange.admin("/readyz").status, 200)
    return table.wrong


@suite.case
def second_place(world):
    """store.archive_copy: it has the archive's files, and each place is mended from the other,
    while perpd runs and at a start."""
    table = Table()
    world.stop()
    world.perpd.options.append(f"--store.archive_copy={world.copy}")
    world.exchange = world.perpd.start()
    places = [folder / "archive/0000000000.seg.zst" for folder in (world.data, world.copy)]
    table.true("it is written", world.wait(places[1].exists))
    table.true("it is counted", world.wait(
        lambda: re.search(r"^perpd_archive_copy_segments [1-9]",
                          world.exchange.admin("/metrics").body.decode(), re.M)))
    whole = places[0].read_bytes()
    table.same("with the same bytes", places[1].read_bytes(), whole)
    for path, name in zip(places, ("archive/", "store.archive_copy:archive/")):
        log = len(world.perpd.log())
        flip(path, 60)
        table.true(f"{name}: mended", world.wait(
            lambda: f"file={name}0000000000.seg.zst" in world.perpd.log()[log:]))
        table.true(f"{name}: told", "taken from the other place" in world.perpd.log()[log:])
        table.same(f"{name}: the bytes", path.read_bytes(), whole)
    table.true("counted", world.metric("mended_total") >= 2)
    world.stop()
    places[0].unlink()
    log = len(world.perpd.log())
    world.exchange = world.perpd.start()
    table.true("a start takes it, too", "files=1 were missing" in world.perpd.log()[log:])
    table.same("as it was", places[0].read_bytes(), whole)
    world.stop()
    places[0].unlink()
    places[1].unlink()
    refused = subprocess.run(world.perpd.arguments(), capture_output=True, timeout=WAIT_S)
    table.same("and is refused without both", refused.returncode, 3)
    places[0].write_bytes(whole)
    world.exchange = world.perpd.start()
    table.true("the copy is made again", world.wait(places[1].exists))
    return table.wrong


@suite.case
def damaged_is_read_from_the_copy(world):
    """A start that makes a lost history again, perp audit and perp backup read a damaged archived
    file in the second place; without that they say which file it is."""
    table, files = Table(), [folder / "archive/0000000000.seg.zst"
                             for folder in (world.data, world.copy)]

    def perp(*words):
        return subprocess.run([BUILD / "perp", *words], capture_output=True, text=True,
                              timeout=WAIT_S)

    where = ("--data", world.data)
    copy = ("--archive-copy", world.copy)
    whole = files[0].read_bytes()
    table.true("both have it", world.wait(lambda: files[1].exists() and
                                          files[1].read_bytes() == whole))
    world.stop()
    flip(files[0], 60)
    damaged = files[0].read_bytes()
    refused = perp("audit", *where)
    table.same("audit alone", (refused.returncode, "archive/index" in refused.stderr), (1, True))
    table.same("audit with it", perp("audit", *where, *copy).returncode, 0)
    table.same("and it mends nothing", files[0].read_bytes(), damaged)
    table.same("of no folder", perp("audit", *where, "--archive-copy", world.data / "x").returncode,
               3)
    shutil.rmtree(world.data / "history")
    world.perpd.options = [option for option in world.perpd.options if "scrub_rate" not in option]
    # The archive is read first, then a sealed segment, for a quarter of an hour.
    world.perpd.options.append("--store.scrub_rate=64K")
    world.exchange = world.perpd.start()
    table.same("no gap", world.exchange.get("/api/v1/status").json["history_from_sequence"], 1)
    table.true("mended then", world.wait(lambda: (world.metric("files_total") or 0) >= 2))
    flip(files[0], 60)
    admin = ("--admin-url", f"http://127.0.0.1:{world.exchange.admin_port}")
    refused = perp("backup", world.perpd.folder / "one", *where, *admin)
    table.same("backup alone", (refused.returncode, "--archive-copy" in refused.stderr), (1, True))
    done = perp("backup", world.perpd.folder / "two", *where, *admin, *copy)
    table.same("backup with it", done.returncode, 0)
    table.same("what it took", (world.perpd.folder / "two/archive/0000000000.seg.zst").read_bytes(),
               whole)
    table.same("the backup is whole", perp("audit", "--data",
                                           world.perpd.folder / "two").returncode, 0)
    return table.wrong


if __name__ == "__main__":
    world = World()
    try:
        code = suite.run(world, sys.argv[2:])
    finally:
        world.perpd.remove()
        shutil.rmtree(world.copy)
    sys.exit(code)
