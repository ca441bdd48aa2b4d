"""test_poison.py - a command on which the engine aborts (roles.md, Poison command): what the
next start says of it, refuses and remembers, what an operator clears, and what poisons nothing.

perpd_faulty is perpd with an engine in front that breaks on orders of chosen prices; see
tests/system/planted/fault.c.
"""
import os
import pathlib
import re
import resource
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

import client
from client import (CANCEL_ALL, CREATE_API_KEY, PLACE_LIMIT, Account, Connection, Perpd,
                    api_key_body, cancel_all_body, id_text, limit_body, memory_file, new_id,
                    payload_of)
from harness import Sample, Suite, Table, only, perpd_program
from world import BTC, BTC_PRICE, USDC

suite = Suite("poison")
INVARIANT, NOWHERE, ZERO, TRAP, STACK, SLOW, OTHER, PEEK = range(7771, 7779)
DONE, INTERNAL = "request_completed", "order_rejected_internal"
CRASHES = (  # price, the signal that the process ends by
    (INVARIANT, signal.SIGABRT), (NOWHERE, signal.SIGSEGV), (ZERO, signal.SIGFPE),
    (TRAP, signal.SIGILL), (STACK, signal.SIGSEGV))


class World:
    """perpd_faulty, and beside it the perp and perpd of the same build."""

    def __init__(self, build):
        self.build = build
        self.program = build / "tests" / "perpd_faulty"
        instrumented = subprocess.run(["nm", self.program], capture_output=True, text=True).stdout
        self.exact = not re.search("__asan_init|__tsan_init", instrumented)

    def fresh(self, place=None):
        return Exchange(self, place)


class Exchange:
    """One data directory with an account; a context that ends and forgets it."""

    def __init__(self, world, place=None):
        """The page lies in a folder of the test, or where perpd itself puts it: {place: folder} is
        added to its environment."""
        self.world = world
        self.perpd = Perpd(world.program, "--exchange.oracle_max_age_ms=0",
                           *client.LONG_WINDOW, *client.SMALL_TABLES)
        self.run = self.perpd.folder / "run"
        self.place = {"PERPD_NODE_RUN_DIR": str(self.run)} if place is None else place
        os.environ.update(self.place)
        self.data = self.perpd.folder / "data"
        self.public = self.perpd.start()
        assert self.public.set_price(BTC_PRICE, BTC)["status"] == DONE
        self.account = Account(self.public, 100_000 * USDC)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.perpd.remove()
        for name in self.place:
            del os.environ[name]

    def memory(self):
        """The command rings of its perpd, which survive it when it is killed."""
        exchange = (self.data / "exchange").read_bytes()  # journal.md, Data directory
        return self.run / ("perpd-" + exchange[32:64].hex())

    def start(self):
        self.perpd.process.stdout.close()
        self.public = self.account.exchange = self.perpd.start()

    def order(self, price, request_id=None):
        return self.account.limit(price, 200, request_id)

    def crash(self, price, request_id=None):
        """Sends the order that breaks; the process ends and the order is never answered."""
        raw = request_id or new_id()
        with Connection(self.public.port) as connection:
            connection.send(self.public.signed(PLACE_LIMIT, limit_body(self.account.id, price, 200),
                                               self.account.session, raw))
            try:
                raise AssertionError(f"answered: {connection.receive()!r}")
            except (EOFError, ConnectionError):
                pass
        return raw, self.perpd.process.wait(200)

    def new_log(self, act):
        """What the log says more after act()."""
        before = len(self.perpd.log())
        act()
        return self.perpd.log()[before:]

    def refused_start(self):
        """A start that must end by itself: exit code and what it logged."""
        before = len(self.perpd.log())
        with open(self.perpd.folder / "log", "ab") as log:
            code = subprocess.run(self.perpd.arguments(), stdout=subprocess.DEVNULL, stderr=log,
                                  timeout=200).returncode
        return code, self.perpd.log()[before:]

    def clear(self):
        words = [self.world.build / "perp", "admin", "clear-poison", "--data", self.data]
        return subprocess.run(words, capture_output=True, text=True, timeout=200)

    def metric(self, name):
        text = self.public.admin("/metrics").body.decode()
        return int(re.search(rf"^perpd_{name} (\d+)$", text, re.M)[1])


def set_aside(table, it, row, broken):
    """A start with this file `poison` serves, keeps the file beside it and says so."""
    (it.data / "poison").write_bytes(broken)
    log = it.new_log(it.start)
    table.true(f"{row}: says so", " error poison the file `poison` is damaged" in log, log)
    table.same(f"{row}: metric", it.metric("poison_file_damaged"), 1)
    table.same(f"{row}: kept", (it.data / "poison.damaged").read_bytes(), broken)
    table.same(f"{row}: stopped", it.perpd.stop(), 0)


def ended_by(world, table, row, got, want):
    """A sanitizer reports some signals itself and exits with a code of its own."""
    if world.exact or want == signal.SIGABRT:
        table.same(row, got, -want)
    else:
        table.true(row, got != 0, got)


@suite.case
def refused_once_found(world):
    """The request that crashed is never answered, logged by the next start, and refused at the
    peek under its id; every other request goes on, and nothing of it is in the journal."""
    table = Table()
    with world.fresh() as it:
        kept = new_id()
        table.same("an order before", it.order(900_000, kept)["status"], DONE)
        raw, code = it.crash(INVARIANT)
        ended_by(world, table, "ended by", code, signal.SIGABRT)
        table.true("the memory survives", it.memory().exists())
        log = it.new_log(it.start)
        payload = payload_of(PLACE_LIMIT, limit_body(it.account.id, INVARIANT, 200),
                             it.account.session, raw).hex()
        for what in ("signal 6", "type=place_limit_order", f"account={it.account.id} ",
                     f"id={id_text(raw)}", payload):
            table.true(f"the log has {what}", what in log, log)
        table.true("and no more than the payload", re.search(rf"hex={payload}$", log, re.M), log)
        for again in range(2):
            body = it.order(INVARIANT, raw)
            table.same(f"again {again}", (body["status"], "sequence" in body), (INTERNAL, False))
        table.same("the id with another price", it.order(900_000, raw)["status"], INTERNAL)
        response = it.account.read(f"/api/v1/requests/{id_text(raw)}")
        table.problem("it was not executed", response, 404, "request_not_found")
        table.same("another order", it.order(900_000)["status"], DONE)
        table.same("an executed id", it.order(900_000, kept)["status"], "duplicate_request_id")
        other = Account(it.public, 100_000 * USDC)
        table.same("the same id of another account", other.limit(900_000, 200, raw)["status"],
                   DONE)
        table.same("requests", it.metric("poisoned_requests"), 1)
        table.same("types", it.metric("poisoned_types"), 0)
        table.same("readyz", it.public.admin("/readyz").status, 200)
        audit = it.public.audit()
        table.true("audit", all(audit[f"i{n}"] for n in range(1, 7)), audit)
        table.same("SIGTERM", it.perpd.stop(), 0)
        table.true("a clean stop leaves no memory", not it.memory().exists())
        it.start()
        table.same("remembered", it.order(900_000, raw)["status"], INTERNAL)
    return table.wrong


@suite.case
def every_signal(world):
    """SIGSEGV, SIGFPE, SIGILL and a full stack are found as INVARIANT is, and end the process."""
    table = Table()
    with world.fresh() as it:
        for price, number in CRASHES:
            raw, code = it.crash(price)
            ended_by(world, table, f"{price} ended by", code, number)
            log = it.new_log(it.start)
            table.true(f"{price} is logged", id_text(raw) in log and f"signal {int(number)}" in log,
                       log)
            table.same(f"{price} refused", it.order(900_000, raw)["status"], INTERNAL)
            it.perpd.stop()
            done = it.clear()
            table.same(f"{price} cleared", (done.returncode, id_text(raw) in done.stdout),
                       (0, True))
            it.start()
            table.same(f"{price} forgotten", it.order(900_000, raw)["status"], DONE)
    return table.wrong


@suite.case
def second_of_a_type(world):
    """Two crashes on one request type put the type off, 503, over restarts, until an operator
    clears it; cancels go on. The tool refuses while perpd runs."""
    table = Table()
    with world.fresh() as it:
        first, _ = it.crash(INVARIANT)
        it.start()
        second, _ = it.crash(NOWHERE)
        log = it.new_log(it.start)
        table.true("told", "requests of type place_limit_order are put off" in log, log)
        for row in ("at once", "after a clean stop"):
            response = it.public.send(PLACE_LIMIT, limit_body(it.account.id, 900_000, 200),
                                      it.account.session)
            table.problem(row, response, 503, "not_ready")
            table.true(row, "place_limit_order" in response.json["detail"], response)
            body = it.public.ack(CANCEL_ALL, cancel_all_body(it.account.id), it.account.session)
            table.same(f"cancels {row}", body["status"], DONE)
            table.same(f"reads {row}", it.account.read("/api/v1/orders").status, 200)
            table.same("requests", it.metric("poisoned_requests"), 2)
            table.same("types", it.metric("poisoned_types"), 1)
            table.same("readyz", it.public.admin("/readyz").status, 200)
            if row == "at once":
                done = it.clear()
                table.same("not while it runs", done.returncode, 1)
                table.true("and says why", "runs" in done.stderr, done.stderr)
                it.perpd.stop()
                it.start()
        it.perpd.stop()
        done = it.clear()
        table.same("cleared", done.returncode, 0)
        for raw in (first, second):
            table.true("names it", id_text(raw) in done.stdout, done.stdout)
        table.same("nothing left", (it.clear().returncode, it.clear().stdout),
                   (0, "nothing to clear\n"))
        it.start()
        table.same("works again", it.order(900_000)["status"], DONE)
        table.same("requests", it.metric("poisoned_requests"), 0)
    return table.wrong


@suite.case
def innocent(world):
    """kill -9 under load and within a command, a signal from outside within one, a fault of another
    thread, and one of the matcher's thread that is not within a command poison nothing."""
    table = Table()
    with world.fresh() as it:
        def begin(price, number):
            raw = new_id()
            connection = Connection(it.public.port)
            connection.send(it.public.signed(PLACE_LIMIT, limit_body(it.account.id, price, 200),
                                             it.account.session, raw))
            if number is not None:
                time.sleep(1)
                it.perpd.process.send_signal(number)
            it.perpd.process.wait(200)
            connection.close()
            return raw

        for price, number in ((SLOW, signal.SIGKILL), (SLOW, signal.SIGABRT),
                              (SLOW, signal.SIGSEGV), (OTHER, None), (PEEK, None)):
            raw = begin(price, number)
            log = it.new_log(it.start)
            table.true(f"{price} {number} says nothing", "poison" not in log, log)
            table.same(f"{price} {number}", it.order(900_000, raw)["status"], DONE)
        busy = it.public.open()
        orders = [it.public.signed(PLACE_LIMIT, limit_body(it.account.id, 900_000, 20),
                                   it.account.session) for _ in range(200)]
        for turn in range(3):
            busy.send(b"".join(orders))
            busy.receive()
            it.perpd.process.kill()
            it.perpd.process.wait()
            log = it.new_log(it.start)
            table.true(f"kill -9 under load {turn}", "poison" not in log, log)
            busy = it.public.open()
        table.same("requests", it.metric("poisoned_requests"), 0)
    return table.wrong


@suite.case
def command_of_the_node(world):
    """A tick on which the engine aborts: the next start logs it and exits 1, and so does every
    further one, until an operator clears it."""
    table = Table()
    with world.fresh() as it:
        it.perpd.stop()
        os.environ["FAULTY_CODE"] = "2000"
        try:
            it.perpd.process.stdout.close()
            code = subprocess.run(it.perpd.arguments(), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=200).returncode
        finally:
            del os.environ["FAULTY_CODE"]
        ended_by(world, table, "ended by", code, signal.SIGABRT)
        for turn in range(2):
            code, log = it.refused_start()
            table.same(f"start {turn}", code, 1)
            table.true(f"says why {turn}", "no start" in log and "type=tick" in log, log)
            table.same(f"found once {turn}", "by signal 6" in log, turn == 0)
        done = it.clear()
        table.same("cleared", (done.returncode, "tick" in done.stdout), (0, True))
        it.start()
        table.same("works again", it.order(900_000)["status"], DONE)
    return table.wrong


@suite.case
def no_secret_is_told(world):
    """W6: of a request that makes a secret the log has the payload, neither the signature nor the
    keyed hash that the command carries; the secret itself is nowhere in memory that survives."""
    table = Table()
    with world.fresh() as it:
        it.perpd.stop()
        os.environ["FAULTY_CODE"] = str(CREATE_API_KEY)
        try:
            it.start()
        finally:
            del os.environ["FAULTY_CODE"]
        raw, body, key = new_id(), api_key_body(it.account.id), it.account.session
        request = it.public.signed(CREATE_API_KEY, body, key, raw)
        with Connection(it.public.port) as connection:
            connection.send(request)
            it.perpd.process.wait(200)
        payload = payload_of(CREATE_API_KEY, body, key, raw)
        log = it.new_log(it.start)
        lines = [line for line in log.splitlines() if " poison" in line]
        table.same("two lines", len(lines), 2)
        table.true("the payload", lines[1].endswith(f"offset=0 hex={payload.hex()}"), lines)
        table.true("no signature", key.sign(payload).hex() not in log, log)
        response = it.public.send(CREATE_API_KEY, body, key, raw)
        table.same("refused", (response.json["success"], response.json["message"]),
                   (False, INTERNAL))
    return table.wrong


@suite.case
def crash_between_notes(world):
    """A start that ends between its note and its clearing of the page does not count twice: the
    page of a run that is noted says nothing new."""
    table = Table()
    with world.fresh() as it:
        it.crash(INVARIANT)
        page = it.memory().read_bytes()
        it.start()
        it.perpd.stop()
        it.memory().write_bytes(page)
        it.memory().chmod(0o600)
        log = it.new_log(it.start)
        table.true("not told again", "by signal" not in log, log)
        table.same("requests", it.metric("poisoned_requests"), 1)
        table.same("the type is on", it.order(900_000)["status"], DONE)
    return table.wrong


@suite.case
def strange_files(world):
    """The page is another process's word: every field of it broken is bounded; a file of others is
    refused. A damaged `poison` is exit 3, as any file of the directory."""
    table = Table()
    with world.fresh() as it:
        it.crash(INVARIANT)
        memory = it.memory()
        page = memory.read_bytes()
        run, applying = 56, 128  # src/node/recover/poison_page.c, struct poison_head
        place = struct.unpack_from("<Q", page, applying)[0]
        table.same("the mark", (place >> 63, page[applying + 8]), (1, 6))
        stride = (struct.unpack_from("<I", page, 16)[0] + 33) * 128  # the slots and their tail
        slot = 4096 + (place >> 32 & 0x3FFFFFFF) * (stride + -stride % 4096)
        slot += (place & 0xFFFFFFFF) * 128
        rows = [("empty", b""), ("cut", page[:100]), ("noise", os.urandom(len(page))),
                ("version", page[:8] + b"\2" + page[9:])]
        for name, broken in rows:
            memory.write_bytes(broken)
            log = it.new_log(it.start)
            table.true(f"{name}: no fault", "poison" not in log, log)
            table.same(f"{name}: stop", it.perpd.stop(), 0)
            memory.touch(0o600)
        rows = [("slot", applying, struct.pack("<Q", place | 0xFFFFFFFF)),
                ("ring", applying, struct.pack("<Q", place | 0x3FFFFFFF << 32)),
                ("payload_bytes", slot + 12, b"\xff\xff"), ("key_bytes", slot + 14, b"\xff\xff"),
                ("kind", slot + 10, b"\x09"), ("code", slot + 8, b"\xfe\xfe"),
                ("no place", applying, bytes(8)), ("rings", 12, b"\xff\xff\xff\xff")]
        for number, (name, at, value) in enumerate(rows):
            broken = page[:at] + value + page[at + len(value):]
            memory.write_bytes(broken[:run] + struct.pack("<Q", number + 1) + broken[run + 8:])
            memory.chmod(0o600)
            if name == "rings":
                log = it.new_log(it.start)
                table.true(f"{name}: no fault", "poison" not in log, log)
                it.perpd.stop()
                continue
            code, log = it.refused_start()
            table.same(name, (code, "type=unknown" in log), (1, True))
            table.same(f"{name}: cleared", it.clear().returncode, 0)
        memory.write_bytes(page)
        memory.chmod(0o644)
        code, log = it.refused_start()
        table.same("others may read", (code, "others may use it" in log), (1, True))
        memory.unlink()
        memory.symlink_to(it.data / "exchange")
        table.same("a link", it.refused_start()[0], 1)
        memory.unlink()
        file = it.data / "poison"
        good = file.read_bytes()
        sample = Sample()
        for at in range(61 * sample.offset, len(good), 61 * sample.step):
            broken = bytearray(good)
            broken[at] ^= 0x10
            file.write_bytes(broken)
            set_aside(table, it, f"poison, byte {at}", bytes(broken))
        set_aside(table, it, "poison, too long", good + b"\0")
        file.write_bytes(good)
        it.start()
    return table.wrong


@suite.case
def where_the_page_lies(world):
    """What the service manager made, else a folder of /dev/shm that nobody else can have made: a
    crash is found there after it. A folder into which others may write is refused."""
    table = Table()
    with world.fresh({}) as it:
        memory = memory_file(it.data)
        folder = memory.parent
        table.true("its name tells nothing", re.fullmatch("perpd-[0-9a-f]{32}", folder.name) and
                   folder.name[6:] not in memory.name, folder)
        table.same("its mode", stat.S_IMODE(folder.stat().st_mode), 0o700)
        it.crash(INVARIANT)
        table.true("found", " poison " in it.new_log(it.start))
        table.same("SIGTERM", it.perpd.stop(), 0)
        table.true("a clean stop leaves no folder", not folder.exists())
        folder.mkdir()
        folder.chmod(0o777)
        code, log = it.refused_start()
        table.same("others may write", (code, f"{folder}, the folder" in log), (1, True))
        folder.rmdir()
        folder.symlink_to(it.data)
        table.same("a link", it.refused_start()[0], 1)
        folder.unlink()
        it.start()
    made = pathlib.Path(tempfile.mkdtemp(prefix="perpd-made-"))
    with world.fresh({"RUNTIME_DIRECTORY": f"{made}:/nowhere"}) as it:
        it.run = made
        it.crash(INVARIANT)
        table.true("of the manager", it.memory().exists())
        table.true("found there", " poison " in it.new_log(it.start))
        table.same("SIGTERM", it.perpd.stop(), 0)
        table.same("the manager's folder stays", list(made.iterdir()), [])
        os.environ["RUNTIME_DIRECTORY"] = "/nowhere"
        table.same("a folder that is missing", it.refused_start()[0], 1)
    made.rmdir()
    return table.wrong


@suite.case
def one_exchange_once(world):
    """A copy of a data directory beside the perpd of the original is refused, exit 3."""
    table = Table()
    with world.fresh() as it:
        copy = it.perpd.folder / "copy"
        copy.mkdir(mode=0o700)
        for name in ("exchange", "signing.key"):
            (copy / name).touch(mode=0o600)
            (copy / name).write_bytes((it.data / name).read_bytes())
        arguments = [text if not text.startswith("--store.data") else f"--store.data={copy}"
                     for text in it.perpd.arguments()]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=200)
        table.same("refused", done.returncode, 3)
        table.true("says why", "exchange.id runs already" in done.stderr, done.stderr)
        table.same("the first goes on", it.order(900_000)["status"], DONE)
        table.same("SIGTERM", it.perpd.stop(), 0)
    return table.wrong


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    build = perpd_program().parent
    sys.exit(suite.run(World(build), only()))
