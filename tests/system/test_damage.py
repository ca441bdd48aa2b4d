"""test_damage.py - each file of a stopped data directory, of its archive too, deleted, cut short,
replaced by an older copy, and with a bit changed, in turn: a start either shows what it showed
before, or ends with 3 and the reason (journal.md). FILES names every file that there may be.

    python3 test_damage.py BUILD [CASE...]     PERPD_SAMPLE=N: one way in N of the table
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import time

import client
from client import IOC, Account, Connection, Perpd, id_text, new_id, request_bytes
from harness import Suite, Table
from sample import Sample
from world import BTC, BTC_PRICE, USDC

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))
from journal_reader import crc32c, newest_slot

suite = Suite("damage")
BUILD = pathlib.Path(sys.argv[1])
EXIT_REFUSED = 3
WAIT_S = 100
WAYS = ("deleted", "cut", "older", "flipped", "end")  # end: the last byte flipped
EQUAL, REFUSED = "equal", "refused"
EITHER = (EQUAL, REFUSED)  # by what the segment holds: sealed behind a snapshot, open, prepared
FILES = (  # pattern, the end of each way; None: it cannot be damaged so
    (r"lock", EQUAL, None, None, None, None),  # empty
    (r"admin\.token", EQUAL, REFUSED, EITHER, REFUSED, REFUSED),
    (r"exchange", REFUSED, EQUAL, EQUAL, EQUAL, EQUAL),  # one whole slot suffices
    (r"witness", REFUSED, EQUAL, EQUAL, EQUAL, EQUAL),
    (r"signing\.key", REFUSED, REFUSED, None, REFUSED, REFUSED),
    (r"heads", EQUAL, EQUAL, EQUAL, EQUAL, EQUAL),
    (r"journal/\d{10}\.seg", EITHER, EITHER, EITHER, EITHER, EITHER),
    (r"journal/\d{10}\.next", EQUAL, EQUAL, None, EQUAL, EQUAL),  # it never counts
    (r"snapshot/\d+\.snap", EQUAL, EQUAL, None, EQUAL, EQUAL),  # the older one, or every record
    (r"archive/\d{10}\.seg\.zst", REFUSED, REFUSED, None, EQUAL, EQUAL),  # read by who needs it
    (r"archive/index", EQUAL, EQUAL, EQUAL, EQUAL, EQUAL),
    (r"history/data\.mdb", EQUAL, EQUAL, EQUAL, EQUAL, EQUAL),
)
MORE = (  # the same of a directory that took up an end, behind an abort and a staged start
    (r"exchange", REFUSED, EQUAL, REFUSED, EQUAL, EQUAL),  # an older one is another journal's
    (r"origin", REFUSED, REFUSED, None, REFUSED, REFUSED),
    (r"recovered", EQUAL, EQUAL, None, EQUAL, EQUAL),  # for people
    (r"heads", EQUAL, EQUAL, EQUAL, EQUAL, EQUAL),
    (r"heads\.\d+", EQUAL, EQUAL, None, EQUAL, EQUAL),
    (r"poison", EQUAL, EQUAL, None, EQUAL, EQUAL),
    (r"restart", EQUAL, EQUAL, None, EQUAL, EQUAL),  # markets keep their states
    (r"discarded/.*\.frames", EQUAL, EQUAL, None, EQUAL, EQUAL),  # nobody reads it
    (r"archive/\d{10}\.seg\.zst", EQUAL, EQUAL, None, EQUAL, EQUAL),  # the copy has it
    (r"archive/index", EQUAL, EQUAL, None, EQUAL, EQUAL),
    (r"copy/lock", EQUAL, None, None, None, None),
    (r"copy/archive/\d{10}\.seg\.zst", EQUAL, EQUAL, None, EQUAL, EQUAL),
    (r"copy/archive/index", EQUAL, EQUAL, None, EQUAL, EQUAL),
)
SAID = {  # what a start says of it, for the ways that it can see
    "poison": ("is damaged", ("cut", "flipped", "end")),
    "restart": ("the file restart is damaged", ("cut", "flipped", "end")),
    "archive/0000000000.seg.zst": ("taken from store.archive_copy", ("deleted", "cut")),
}
REASON = re.compile(r" error (refused the data directory|data admin\.token) ")
ROWS = Sample()

def files_of(data):
    return sorted(str(path.relative_to(data)) for path in data.rglob("*") if path.is_file())


def written(path):
    """The bytes up to the last that is not zero: the rest of a segment was never written."""
    data = path.read_bytes()
    return len(data.rstrip(b"\0"))


def listed(data, number):
    """Whether archive/index names the segment."""
    index = data / "archive/index"
    return index.exists() and re.search(rf"(?m)^{number} ", index.read_text()) is not None


class World:
    """`older` is a directory with a segment in the archive, `whole` the same some runs later with
    another one there, killed: its last orders are in the journal alone."""

    def __init__(self):
        self.is_taken_up = False
        self.perpd = Perpd(BUILD / "perpd", *client.SMALL_TABLES)
        self.data, self.older = self.perpd.folder / "data", self.perpd.folder / "older"
        self.whole = self.perpd.folder / "whole"
        exchange = self.perpd.start()
        assert exchange.set_price(BTC_PRICE, BTC)["status"] == "request_completed"
        self.account = Account(exchange, 100_000 * USDC)
        self.orders = [self.order(exchange, 900_000 + 1000 * i) for i in range(3)]
        taker = Account(exchange, 100_000 * USDC)
        assert taker.limit(900_000, -50, expiry=IOC)["status"] == "request_completed"
        self.receipts = [self.receipt(raw) for raw in self.orders]
        self.archive(exchange, 0)
        self.stop()
        self.copy(self.data, self.older)
        exchange = self.archive(self.perpd.start(), 1)
        self.orders += [self.order(exchange, 910_000 + 1000 * i) for i in range(3)]
        last = exchange.get("/api/v1/status").json["durable"]
        self.wait(lambda: self.witnessed() >= last or self.tell(exchange))
        self.kill()
        self.begin_segment()
        self.copy(self.data, self.whole)
        self.before = self.shown(self.perpd.start())
        self.stop()

    def take_up(self):
        """Another directory instead of `whole`: its end was given up, its archive has a second
        place (in the directory, to be damaged like it), a request aborted the process, a kill cut a
        staged start short, and a log did not have some frames."""
        self.copy(self.older, self.data)
        shutil.copy2(self.whole / "witness", self.data / "witness")
        arguments = [BUILD / "perp", "recover", self.data, "--reason", "a test", "--accept-end"]
        said = subprocess.run([*arguments, "1"], capture_output=True, text=True)
        end = re.search(r"--accept-end (\d+)", said.stderr)
        assert said.returncode == 1 and end, said
        subprocess.run([*arguments, end[1]], check=True, capture_output=True)
        copy, exchange_id = self.data / "copy", (self.data / "exchange").read_bytes()[32:64]
        copy.mkdir()
        self.perpd.options += [f"--store.archive_copy={copy}", "--exchange.restart=staged"]
        exchange = self.perpd.start()
        opened = exchange.ack(client.MARKET_STATE, client.state_body(1, 0), exchange.operator)
        assert opened["status"] == "request_completed", opened
        self.wait(lambda: listed(copy, 0))
        self.stop()
        self.account.exchange = self.perpd.start()
        self.wait(lambda: (self.data / "restart").exists())
        self.kill()
        body = exchange_id + struct.pack("<QII", 0, 1, 0) + struct.pack(
            "<Q16sQHBBIQ", self.account.id, new_id(), 1, 2, 1, 0, 6, 0)
        (self.data / "poison").write_bytes(
            b"perpdPSN" + struct.pack("<HHI", 1, 64, crc32c(body)) + body)
        (self.data / "discarded").mkdir()
        (self.data / "discarded/2-5-5.frames").write_bytes(b"\1" * 4096)
        self.orders, self.receipts = self.orders[:3], self.receipts[:3]
        self.copy(self.data, self.whole)
        self.before = self.shown(self.perpd.start())
        self.kill()

    @staticmethod
    def wait(condition):
        until = time.monotonic() + WAIT_S
        while not condition():
            assert time.monotonic() < until
            time.sleep(0.05)

    def kill(self):
        self.perpd.process.kill()
        self.perpd.process.wait()
        self.perpd.process.stdout.close()

    def archive(self, exchange, number):
        """Seals the segment, and stops until two snapshots are behind it and it is archived: twice,
        and more often on a machine that lets a stop make none."""
        with Connection(exchange.admin_port) as connection:
            sealed = connection.exchange(request_bytes("POST", "/admin/seal", b"",
                                                       [exchange.bearer]))
            assert sealed.status == 200, sealed
        for turn in range(20):
            assert exchange.set_price(BTC_PRICE, BTC)["status"] == "request_completed"
            self.stop()
            exchange = self.perpd.start()
            until = time.monotonic() + (10 if turn else 0)
            while not listed(self.data, number) and time.monotonic() < until:
                time.sleep(0.05)
            if listed(self.data, number):
                return exchange
        raise AssertionError(f"segment {number} is not archived\n{self.perpd.log()}")

    def begin_segment(self):
        """What a kill leaves of a segment that is prepared in a file that was used before."""
        newest = max(self.data.glob("journal/*.seg"))
        for path in self.data.glob("journal/*.next"):
            path.unlink()
        begun = self.data / f"journal/{int(newest.stem) + 1:010}.next"
        begun.write_bytes(min(self.data.glob("journal/*.seg")).read_bytes()[:1 << 16])

    def tell(self, exchange):
        """The witness is told once a second while frames are written: a frame more."""
        time.sleep(1)
        assert exchange.set_price(BTC_PRICE, BTC)["status"] == "request_completed"
        return False

    def witnessed(self):
        """The sequence that the newest slot of `witness` names."""
        return struct.unpack_from("<Q", newest_slot((self.data / "witness").read_bytes()), 112)[0]

    @staticmethod
    def copy(source, target):
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", "--sparse=always", source, target], check=True)

    def order(self, exchange, price):
        self.account.exchange = exchange
        assert exchange.set_price(BTC_PRICE, BTC)["status"] == "request_completed"
        raw = new_id()
        answer = self.account.limit(price, 100, raw)
        assert answer["status"] == "request_completed", answer
        return raw

    def receipt(self, raw):
        return self.account.read(f"/api/v1/requests/{id_text(raw)}/receipt").body

    def stop(self):
        assert self.perpd.stop() == 0
        self.perpd.process.stdout.close()

    def shown(self, exchange):
        self.account.exchange = exchange
        paths = ["/api/v1/orders?limit=1000", "/api/v1/cash/history?subaccount_index=0",
                 "/api/v1/subaccounts", "/api/v1/auth/sessions"]
        paths += [f"/api/v1/{what}/{id_text(raw)}" for raw in self.orders
                  for what in ("orders", "requests")]
        paths += [f"/api/v1/fills?subaccount_index=0&limit={limit}" for limit in (1000, 1)]
        rows = [(path, answer.status, answer.json) for path in paths
                for answer in (self.account.read(path),)]
        for what, member in (("trades", "trades"), ("candles?interval=1m&start_time=0", "candles")):
            answer = exchange.get(f"/api/v1/markets/BTC-PERP/{what}")
            rows.append((what, answer.status, answer.json.get(member, answer.json)))
        rows.append(("book", [level for side in ("bids", "asks") for level in
                              exchange.get("/api/v1/markets/BTC-PERP/book").json[side]]))
        public = exchange.get("/api/v1/exchange").json
        return rows + [public["exchange_id"], public["signing_public"], public["epoch"]]


def verified(world, content):
    """The exit code of `perp receipt verify` with the directory, and what it says."""
    path = world.perpd.folder / "receipt"
    path.write_bytes(content)
    done = subprocess.run([BUILD / "perp", "receipt", "verify", path, "--journal", world.data,
                           "-o", "json"], capture_output=True, text=True, timeout=WAIT_S)
    return done.returncode, done.stdout + done.stderr


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 0x10]))


def damage(world, name, way):
    """False: this file cannot be damaged so."""
    path, older = world.data / name, world.older / name
    size = written(path)
    if way == "deleted":
        path.unlink()
        return True
    if way == "older":
        if not older.exists() or older.read_bytes() == path.read_bytes():
            return False
        shutil.copy2(older, path)
        return True
    if size == 0:
        return False
    if way == "cut":
        os.truncate(path, size // 2)
    else:
        flip(path, size // 2 if way == "flipped" else size - 1)
    return True


def judged(world, table, row, name, way):
    """How a start behind the damage ends, and that it is one of the two ends. None: no damage."""
    world.copy(world.whole, world.data)
    if not damage(world, name, way):
        return None
    try:
        exchange = world.perpd.start()
    except AssertionError as refused:
        table.same(f"{row}: exit code", world.perpd.process.returncode, EXIT_REFUSED)
        table.true(f"{row}: the reason", REASON.search(str(refused)), refused)
        return REFUSED
    table.same(f"{row}: equal", world.shown(exchange), world.before)
    world.stop()
    return EQUAL


def walked(world, table, name, wants, ends, number):
    """One file in every way, of those that the run takes; `number` ways came before."""
    for at, (way, want) in enumerate(zip(WAYS, wants, strict=True), number + 1):
        if not ROWS.takes(at):
            continue
        row, logged = f"{name} {way}", len(world.perpd.log())
        end = judged(world, table, row, name, way)
        if end is not None:
            ends[row] = end
        if end is not None or want not in (None, EITHER):
            table.true(f"{row} is {want}", end is not None and end in (want or ()), end)
        said, ways = SAID.get(name, ("", ())) if world.is_taken_up else ("", ())
        if way in ways:
            table.true(f"{row} is said", said in world.perpd.log()[logged:], said)


def every_way(world, patterns, is_all):
    """Each file that a pattern names; with is_all each file must have one."""
    table, ends, files = Table(), {}, files_of(world.whole)
    for count, name in enumerate(files):
        rows = [rows for pattern, *rows in patterns if re.fullmatch(pattern, name)]
        if rows or is_all:
            if table.true(f"{name} is in the table", len(rows) == 1, rows):
                walked(world, table, name, rows[0], ends, len(WAYS) * count)
    for pattern, *_ in patterns:
        table.true(f"{pattern} is there", any(re.fullmatch(pattern, name) for name in files), files)
    print("\n".join(f"{row}: {end}" for row, end in ends.items())
          if os.environ.get("PERPD_SHOW") else f"{len(ends)} ways")
    return table.wrong


@suite.case
def every_file_in_every_way(world):
    """Equal to before, or exit 3 with the reason."""
    return every_way(world, FILES, True)


def lacks_alone(seen, before):
    """What needs the rows that are not there is refused, all else is equal."""
    return seen != before and all(
        a == b or (a[0] == b[0] and a[1] == 503 and "older rows" in a[2]["detail"])
        for a, b in zip(seen, before, strict=True))


def without_history(world, also):
    """The directory with its history lost and a journal that begins above the archive's first
    segment, and with what else is damaged."""
    world.copy(world.whole, world.data)
    (world.data / "journal/0000000000.seg").unlink(missing_ok=True)
    for name, way in (("history/data.mdb", "deleted"), *also):
        damage(world, name, way)


@suite.case
def history_lost(world):
    """Every record makes it again, from the archive too. Where that cannot be, or is not wanted, a
    start has a gap in its history and says so; `perp history rebuild` closes it."""
    table = Table()
    options = world.perpd.options
    first = "archive/0000000000.seg.zst"
    cases = (
        ("whole", (), (), True), ("flipped", ((first, "flipped"),), (), False),
        ("not wanted", (), ("--store.remake_history=off",), False),
        ("index deleted", (("archive/index", "deleted"),), (), True),
        ("index cut", (("archive/index", "cut"),), (), True),
        ("index flipped", (("archive/index", "flipped"),), (), True),
        ("first deleted", (("archive/index", "deleted"), (first, "deleted")), (), False),
        ("neither", (("archive/index", "deleted"), (first, "flipped")), (), None))
    for number, (row, also, more, again) in enumerate(cases):
        if not ROWS.takes(number):
            continue
        without_history(world, also)
        if again is None:
            refused = subprocess.run(world.perpd.arguments(), capture_output=True, text=True,
                                     timeout=WAIT_S)
            table.same(f"{row}: exit code", refused.returncode, EXIT_REFUSED)
            table.true(f"{row}: the reason",
                       "segment 0 cannot help to make it again" in refused.stderr, refused.stderr)
            continue
        world.perpd.options = (*options, *more)
        logged = len(world.perpd.log())
        exchange = world.perpd.start()
        seen = world.shown(exchange)
        begins = exchange.get("/api/v1/status").json["history_from_sequence"]
        world.stop()
        world.perpd.options = options
        table.same(f"{row}: equal", seen == world.before, again)
        table.same(f"{row}: from the first", begins == 1, again)
        table.true(f"{row}: what lacks says so", again or lacks_alone(seen, world.before), seen)
        log = world.perpd.log()[logged:]
        table.same(f"{row}: said of the list", "archive/index was missing, damaged" in log,
                   any(name == "archive/index" for name, _ in also))
        table.same(f"{row}: said of the first", "error archive begins with segment 1" in log,
                   (first, "deleted") in also)
    if ROWS.takes(len(cases)):
        without_history(world, ())
        subprocess.run([BUILD / "perp", "history", "rebuild", "--data", world.data], check=True,
                       capture_output=True)
        table.same("rebuilt", world.shown(world.perpd.start()), world.before)
        world.stop()
    return table.wrong


@suite.case
def older_but_for_heads(world):
    """Every file replaced by an older copy, the witness too, but not `heads`: the exchange's own
    signature says what is lost, and so does the log. With the copy's heads it says nothing. With a
    newer `exchange`, which counts more starts, it is refused, and one command gives up the end."""
    table = Table()
    if not ROWS.takes(0):
        return []
    world.copy(world.older, world.data)
    shutil.copy2(world.whole / "exchange", world.data / "exchange")
    refused = subprocess.run(world.perpd.arguments(), capture_output=True, text=True,
                             timeout=WAIT_S)
    table.same("but for exchange", refused.returncode, EXIT_REFUSED)
    audit = subprocess.run([BUILD / "perp", "audit", "--data", world.data], capture_output=True,
                           text=True, timeout=WAIT_S)
    table.true("and named by an audit", audit.returncode == 1 and
               "older copy than its `exchange`" in audit.stderr, audit)
    end = re.search(r"older copy than its .exchange.*, sequence (\d+)", refused.stderr)
    if table.true("it says where it ends", end, refused.stderr):
        subprocess.run([BUILD / "perp", "recover", world.data, "--reason", "a test",
                        "--accept-end", end[1]], check=True, capture_output=True)
        exchange = world.perpd.start()
        table.same("another epoch", exchange.get("/api/v1/exchange").json["epoch"], 2)
        rows = exchange.get("/api/v1/markets").json["markets"]
        table.same("halted", {row["state"] for row in rows}, {"HALTED"})
        world.stop()
    for newer in (True, False):
        world.copy(world.older, world.data)
        if newer:
            shutil.copy2(world.whole / "heads", world.data / "heads")
        logged = len(world.perpd.log())
        world.perpd.start()
        world.stop()
        table.same(f"said, {newer}", "error heads this exchange has signed a head of frame" in
                   world.perpd.log()[logged:], newer)
    return table.wrong


@suite.case
def history_of_another_course(world):
    """The history of a copy that went on elsewhere, beside the files of the exchange: it has other
    rows of the same sequences, and a start refuses it. Without it the rows are made again."""
    table, other = Table(), world.perpd.folder / "other"
    if not ROWS.takes(0):
        return []
    world.copy(world.whole, world.data)
    world.order(world.perpd.start(), 905_000)
    world.stop()
    world.copy(world.data, other)
    for is_killed in (False, True):
        world.copy(world.whole, world.data)
        exchange = world.perpd.start()
        for price in (906_000, 907_000, 908_000):  # longer than the other
            world.order(exchange, price)
        before = world.shown(exchange)
        world.kill() if is_killed else world.stop()
        shutil.copy2(other / "history/data.mdb", world.data / "history/data.mdb")
        refused = subprocess.run(world.perpd.arguments(), capture_output=True, text=True,
                                 timeout=WAIT_S)
        table.same(f"exit code, {is_killed}", refused.returncode, EXIT_REFUSED)
        table.true(f"the reason, {is_killed}", "of another course" in refused.stderr,
                   refused.stderr)
        (world.data / "history/data.mdb").unlink()
        table.same(f"made again, {is_killed}", world.shown(world.perpd.start()), before)
        world.stop()
    return table.wrong


@suite.case
def history_of_a_longer_course(world):
    """The same, and the copy's rows go further than the journal, which was cut before it went on:
    nothing of them is shown. The rows are made again, or the start is refused with the reason."""
    table, other = Table(), world.perpd.folder / "other.mdb"
    if not ROWS.takes(0):
        return []

    def fill(quantities, exchange=None):
        exchange = exchange or world.perpd.start()
        taker = Account(exchange, 100_000 * USDC)
        for quantity in quantities:
            answer = taker.limit(900_000, -quantity, expiry=IOC)
            assert answer["status"] == "request_completed", answer
        return exchange

    for pause_s in (0, 1.5):  # the other's rows in one commit, or in more
        world.copy(world.whole, world.data)
        exchange = fill([50] * 2)
        time.sleep(pause_s)
        fill([100] * 3, exchange)
        world.stop()
        shutil.copy2(world.data / "history/data.mdb", other)
        for is_killed in (False, True):
            world.copy(world.whole, world.data)
            before = world.shown(fill([100]))
            world.kill() if is_killed else world.stop()
            shutil.copy2(other, world.data / "history/data.mdb")
            row = f"killed {is_killed}, pause {pause_s}"
            try:
                exchange = world.perpd.start()
            except AssertionError as refused:
                table.same(f"exit code, {row}", world.perpd.process.returncode, EXIT_REFUSED)
                table.true(f"the reason, {row}", "of another course" in str(refused), refused)
                (world.data / "history/data.mdb").unlink()
                exchange = world.perpd.start()
            table.same(f"made again, {row}", world.shown(exchange), before)
            world.stop()
    return table.wrong


@suite.case
def receipts_of_the_archive(world):
    """A request whose segment left the journal has the receipt that it had before, and the archive
    proves it; where the archive is damaged neither is so."""
    table = Table()
    world.copy(world.whole, world.data)
    # It is retired when perpd needs its file for another segment, which may be many runs later.
    (world.data / "journal/0000000000.seg").unlink(missing_ok=True)
    world.account.exchange = world.perpd.start()
    for raw, before in zip(world.orders, world.receipts):
        table.true("one was made", b'"receipt"' in before, before)
        table.same("equal", world.receipt(raw), before)
    table.true("one of the journal", b'"receipt"' in world.receipt(world.orders[-1]))
    world.stop()
    for content in world.receipts:
        code, text = verified(world, content)
        table.true("proved", code == 0 and '"in_journal":true' in text.replace(" ", ""), text)
    table.true("damaged", damage(world, "archive/0000000000.seg.zst", "flipped"))
    code, text = verified(world, world.receipts[-1])
    table.true("not proved", code not in (0, 1) or "receipt" in text, text)
    table.true("and refused", code != 0, text)
    world.account.exchange = world.perpd.start()
    answers = [world.receipt(raw) for raw in world.orders[:3]]
    table.true("what is damaged is not signed", all(
        answer == before or b"internal_error" in answer
        for answer, before in zip(answers, world.receipts)), answers)
    world.stop()
    return table.wrong


@suite.case
def every_other_file(world):
    """The same of files that other starts leave. Last: it has another directory."""
    world.take_up()
    world.is_taken_up = True
    known = [(pattern, *rows) for pattern, *rows in FILES
             if not any(pattern == other[0] for other in MORE)]
    table = Table()
    for name in files_of(world.whole):
        table.true(f"{name} is in a table", any(
            re.fullmatch(pattern, name) for pattern, *_ in (*known, *MORE)))
    return table.wrong + every_way(world, MORE, False)


def cases_of_the_run():
    """A run that takes a sample has one of the two directories, by the commit too."""
    names = [case.__name__ for case in suite.cases]
    if ROWS.step == 1:
        return names
    turn = int(os.environ.get("PERPD_SAMPLE_SEED", "0"), 16) // ROWS.step % 2
    return names[-1:] if turn else names[:-1]


if __name__ == "__main__":
    world = World()
    try:
        code = suite.run(world, sys.argv[2:] or cases_of_the_run())
    finally:
        world.perpd.remove()
    sys.exit(code)
