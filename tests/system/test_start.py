"""test_start.py - how perpd starts, refuses and ends: exit codes (roles.md, Configuration),
what is left behind, and that a next start finds the directory whole.

    python3 test_start.py BUILD [CASE...]
"""
import ctypes
import pathlib
import os
import json
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from client import forget_memory
from harness import Sample

CLEAN, FAILED, CONFIGURATION, REFUSED, KERNEL = 0, 1, 2, 3, 4
READY_S, END_S = 200, 200
FEES = ",".join(f'{{"tier":{tier},"maker_fee_rate":"0","taker_fee_rate":"0"}}' for tier in range(6))
RECORD = ('{"market":"%s-PERP","asset_id":%d,"base":"%s","price_decimals":1,"size_decimals":5,'
          '"tick_size":"0.1","lot_size":"0.00001","min_size":"0.00001","max_order_size":"1000",'
          '"min_notional":"10","impact_notional":"20000","max_leverage":50,'
          '"tiers":[{"upper_notional":null,"max_leverage":50}],"price_band_ppm":100000,'
          '"max_slippage_ppm":50000,"fees":[' + FEES + "]}")
SMALL = ["--engine.accounts=64", "--engine.portfolios=64", "--engine.orders=4096",
         "--engine.positions=256", "--engine.credentials=256", "--engine.deposits=1024",
         "--limits.duplicate_slots=4096", "--limits.total_rate=64", "--limits.write_rate=10",
         "--engine.ladder_pages=1024"]


class Perpd:
    """One process; standard output and the log are read to their end when it has ended."""

    def __init__(self, program, data, *options, prepare=None, listen="127.0.0.1:0"):
        self.process = subprocess.Popen(
            [program, f"--store.data={data}", f"--net.listen={listen}",
             "--admin.listen=127.0.0.1:0", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=prepare)
        self.lines, self.ports, self.data = [], {}, data

    def ready(self):
        """Waits for the line on standard output; the ports are those of the log."""
        line = self.process.stdout.readline()
        assert re.fullmatch(r"ready http://127\.0\.0\.1:\d+\n", line), (line, self.end()[1])
        self.ports["net"] = int(line.rsplit(":", 1)[1])
        while "admin" not in self.ports:
            self.lines.append(self.process.stderr.readline())
            if match := re.search(r"admin_port=(\d+)", self.lines[-1]):
                self.ports["admin"] = int(match[1])
        return self

    def get(self, path, port="admin"):
        try:
            token = (self.data / "admin.token").read_text().strip()
            request = urllib.request.Request(f"http://127.0.0.1:{self.ports[port]}{path}",
                                             headers={"Authorization": f"Bearer {token}"})
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def end(self, number=None, seconds=END_S):
        """The exit code and the whole log; fails when it does not end in time."""
        if number is not None:
            self.process.send_signal(number)
        try:
            _, log = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"still running {seconds} s after signal {number}") from None
        return self.process.returncode, "".join(self.lines) + log


class World:
    def __init__(self, program, folder):
        self.program, self.folder, self.count = str(program), folder, 0

    def fresh(self):
        self.count += 1
        return self.folder / f"data{self.count}"

    def run(self, data, *options, **more):
        """A start that must not reach `ready`: its exit code and log."""
        return Perpd(self.program, data, *SMALL, *options, **more).end()

    def start(self, data, *options, **more):
        return Perpd(self.program, data, *SMALL, *options, **more).ready()

    def is_usable(self, data, *options):
        """A start without the obstacle serves: nothing was left locked or half made."""
        perpd = self.start(data, *options)
        status, body = perpd.get("/readyz")
        code, log = perpd.end(signal.SIGTERM)
        assert (status, code) == (200, CLEAN), (status, body, code, log)


def names(error, log, code, want_code):
    assert code == want_code, (code, log)
    assert error in log, (error, log)


def case_clean_stop(world):
    """SIGTERM and SIGINT end a served start with 0; the next start says that the stop was clean."""
    data = world.fresh()
    for number in (signal.SIGTERM, signal.SIGINT):
        code, log = world.start(data).end(number)
        assert code == CLEAN, (code, log)
    perpd = world.start(data)
    assert any("clean_stop=1" in line for line in perpd.lines), perpd.lines
    assert perpd.end(signal.SIGTERM)[0] == CLEAN


def case_stop_during_start(world):
    """A stop asked at any moment of a start, recovery included, ends the process with 0."""
    for step in range(8):
        data = world.fresh()
        perpd = Perpd(world.program, data, *SMALL)
        while not data.exists():  # signals are taken from here on
            time.sleep(0.001)
        time.sleep(0.025 * step)
        code, log = perpd.end(signal.SIGTERM)
        assert code == CLEAN, (step, code, log)
        if step % 4 == 0:
            world.is_usable(data)


def case_nobody_reads(world):
    """Without readers of output and log it serves; no file of its own takes their descriptors."""
    def close():
        for file in range(3):
            os.close(file)

    for prepare in (None, close):
        data = world.fresh()
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.Popen([world.program, f"--store.data={data}", *SMALL,
                                    "--net.listen=127.0.0.1:0", "--admin.listen=127.0.0.1:0"],
                                   stdout=writer, stderr=writer, preexec_fn=prepare)
        os.close(writer)
        until = time.monotonic() + READY_S
        while process.poll() is None and not any(data.glob("journal/*.seg")):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert process.poll() is None, process.returncode
        held = [os.readlink(f"/proc/{process.pid}/fd/{file}") for file in range(3)]
        assert prepare is None or held == ["/dev/null"] * 3, held
        for ignored in (signal.SIGUSR1, signal.SIGUSR2):
            process.send_signal(ignored)
        process.send_signal(signal.SIGTERM)
        assert process.wait(END_S) == CLEAN, process.returncode
    world.is_usable(data)


def dumps_core(number, *command):
    """Whether a process that the signal ends leaves a core dump, where the machine makes them."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   cwd=folder, preexec_fn=lambda: resource.setrlimit(
                                       resource.RLIMIT_CORE, (1 << 20, resource.RLIM_INFINITY)))
        process.stdout.readline()
        process.send_signal(number)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = 0  # it was waited for
        process.stdout.close()
        return os.WCOREDUMP(status)


def case_secrets(world):
    """F7: perpd makes no core dump, and refuses an admin.token that others may read."""
    data = world.fresh()
    program = str(pathlib.Path(world.program).resolve())
    assert not dumps_core(signal.SIGSEGV, program, f"--store.data={data}", *SMALL,
                          "--net.listen=127.0.0.1:0", "--admin.listen=127.0.0.1:0")
    if not dumps_core(signal.SIGSEGV, "sh", "-c", "echo; exec sleep 9"):
        print("no process of this machine makes core dumps: perpd's were not looked at")
    token = data / "admin.token"
    for mode in (0o640, 0o604, 0o666):
        token.chmod(mode)
        code, log = world.run(data)
        names("admin.token", log, code, REFUSED)
    token.chmod(0o400)
    world.is_usable(data)


MAPPED = 8 << 20  # bytes of pagemap in one look


def pages_of(first, end, map_):
    """The addresses of a mapping's pages that are in memory."""
    map_.seek(first // 4096 * 8)
    for begin in range(first, end, MAPPED // 8 * 4096):
        entries = map_.read(min(MAPPED, (end - begin) // 4096 * 8))
        if entries.count(0) < len(entries):
            for at, entry in enumerate(memoryview(entries).cast("Q")):
                if entry >> 63:
                    yield begin + 4096 * at


def regions_with(pid, secret):
    """The flags of each mapping of the process that holds the bytes in a page of its own."""
    found, pages = [], 0
    with open(f"/proc/{pid}/mem", "rb", 0) as memory, open(f"/proc/{pid}/pagemap", "rb", 0) as map_:
        for text in re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )",
                             pathlib.Path(f"/proc/{pid}/smaps").read_text())[1:]:
            first, end = (int(part, 16) for part in text.split()[0].split("-"))
            if not text.split()[1].startswith("rw-p"):
                continue
            for page in pages_of(first, end, map_):
                pages += 1
                memory.seek(page)
                if secret in memory.read(4096):
                    found.append(re.search(r"VmFlags:(.*)", text)[1].split())
    assert pages > 1000, pages
    return found


def without_locks():
    """For a child: it may lock no memory, whoever runs it."""
    PR_CAPBSET_DROP, CAP_IPC_LOCK = 24, 14
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0)


def case_locked_secrets(world):
    """F7: each page of memory with a secret key is locked and kept out of dumps; without a limit of
    locked memory that suffices a start says so. (mlock refused: test_kernel.sh.)"""
    data = world.fresh()
    perpd = world.start(data)  # and asked nothing: a request brings the token by itself
    # Nobody but root may look into a process that makes no dumps; a sanitizer makes mlock do
    # nothing.
    sanitized = re.search(b"__asan_init|__tsan_init", pathlib.Path(world.program).read_bytes())
    if os.geteuid() == 0 and not sanitized:
        secrets = {"secret_key": (data / "exchange").read_bytes()[80:112],
                   "admin.token": (data / "admin.token").read_bytes().strip(),
                   "signing.key": (data / "signing.key").read_bytes()[48:80]}
        for name, secret in secrets.items():
            flags = regions_with(perpd.process.pid, secret)
            assert flags, name
            assert all({"lo", "dd"} <= set(one) for one in flags), (name, flags)
    code, log = perpd.end(signal.SIGTERM)
    assert code == CLEAN and " secrets " not in "".join(perpd.lines) + log, log
    perpd = Perpd(world.program, data, *SMALL, prepare=without_locks)
    serves = perpd.process.stdout.readline() != ""  # where io_uring is charged to no limit
    code, log = perpd.end(signal.SIGTERM if serves else None)
    names("ulimit -l", log, code, CLEAN if serves else KERNEL)


def case_few_files(world):
    """F9: with 64 descriptors it starts and serves; with 63 it says what it needs."""
    def files(count):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

    data = world.fresh()
    code, log = world.run(data, prepare=files(63))
    names("needs 64", log, code, KERNEL)
    assert "LimitNOFILE" in log and not data.exists(), log
    for _ in range(2):
        perpd = world.start(data, prepare=files(64))
        assert perpd.get("/readyz")[0] == 200
        assert perpd.get("/api/v1/markets", "net")[0] == 200
        assert perpd.end(signal.SIGTERM)[0] == CLEAN


def case_small_group(world):
    """F9: with default options it starts, stops and starts again in a group of 2 GiB of memory."""
    root = pathlib.Path("/sys/fs/cgroup")
    root, limit = ((root, "memory.max") if (root / "cgroup.controllers").exists() else
                   (root / "memory", "memory.limit_in_bytes"))
    group = root / f"perpd-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / limit).write_text(str(2 << 30))
    except OSError as error:
        print(f"no group of the memory controller can be made here: {error}")
        return
    data = world.fresh()
    try:
        for _ in range(2):
            perpd = Perpd(world.program, data, "--store.durability=none", prepare=lambda: (
                group / "cgroup.procs").write_text(str(os.getpid()))).ready()
            assert perpd.get("/readyz")[0] == 200
            assert f"/{group.name}\n" in pathlib.Path(
                f"/proc/{perpd.process.pid}/cgroup").read_text()
            assert perpd.end(signal.SIGTERM)[0] == CLEAN
    finally:
        for _ in range(100):
            try:
                group.rmdir()
                break
            except OSError:  # its last process is being taken away
                time.sleep(0.05)


def case_bad_options(world):
    """Exit 2, the option is named, the data directory is not even made."""
    for option, word in (("--engine.orders=1", "engine.orders"),
                         ("--engine.orders=many", "engine.orders"),
                         ("--no.such=1", "no.such"),
                         ("--node.topology=both", "node.topology"),
                         ("--engine.core=4095", "engine.core"),
                         ("--store.durability=replicated", "store.durability"),
                         ("--net.tls_certificate=x", "net.tls_certificate"),
                         ("--exchange.id=12", "exchange.id"),
                         ("--exchange.operator_key=AAAA", "exchange.operator_key"),
                         ("--exchange.markets=/nonexistent", "exchange.markets")):
        data = world.fresh()
        code, log = world.run(data, option)
        names(word, log, code, CONFIGURATION)
        assert not data.exists(), option


def case_bad_markets(world):
    """exchange.markets with a record that 1001 would refuse: exit 2 before anything is written."""
    btc = RECORD % ("BTC", 1, "BTC")
    for text, word in (("{", "byte"), ('{"markets":[]}', "no member"),
                       ('{"markets":[%s,%s]}' % (btc, RECORD % ("ETH", 1, "ETH")), "record 2"),
                       ('{"markets":[%s,%s]}' % (btc, RECORD % ("BTC", 2, "BTC")), "record 2"),
                       ('{"markets":[{"market":"BTC-PERP"}]}', "record 1")):
        path, data = world.folder / "markets.json", world.fresh()
        path.write_text(text)
        code, log = world.run(data, f"--exchange.markets={path}")
        names(word, log, code, CONFIGURATION)
        assert not data.exists(), text
    path.write_text('{"markets":[%s]}' % btc)
    perpd = world.start(world.fresh(), f"--exchange.markets={path}")
    assert perpd.get("/api/v1/markets", "net")[1].count('"asset_id"') == 1
    assert perpd.end(signal.SIGTERM)[0] == CLEAN


def case_port_in_use(world):
    """Exit 1, the address is named, and the directory is free again."""
    data = world.fresh()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        code, log = world.run(data, listen=address)
        names(address, log, code, FAILED)
        code, log = world.run(data, f"--admin.listen={address}")
        names(address, log, code, FAILED)
    world.is_usable(data)


def case_second_primary(world):
    """A second perpd on a directory exits 3 and does not disturb the first."""
    data = world.fresh()
    first = world.start(data)
    for _ in range(2):
        code, log = world.run(data)
        names("lock", log, code, REFUSED)
    assert first.get("/readyz")[0] == 200
    assert first.end(signal.SIGTERM)[0] == CLEAN
    world.is_usable(data)


def case_killed(world):
    """kill -9 leaves nothing locked; the next start recovers and says that it was no clean stop."""
    data = world.fresh()
    assert world.start(data).end(signal.SIGKILL)[0] == -signal.SIGKILL
    perpd = world.start(data)
    assert any("clean_stop=0" in line for line in perpd.lines), perpd.lines
    assert perpd.end(signal.SIGTERM)[0] == CLEAN


def case_data_not_a_directory(world):
    path = world.folder / "file"
    path.write_text("")
    code, log = world.run(path)
    names(str(path), log, code, FAILED)
    code, log = world.run(path / "below")
    names(str(path), log, code, FAILED)


def case_no_space(world):
    """A machine that takes no segment: exit 1 and no signal; later the start goes on."""
    data = world.fresh()

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    code, log = world.run(data, prepare=limit)
    names("File too large", log, code, FAILED)
    world.is_usable(data)


def case_address_space(world):
    """F9: with default options it starts, twice, in 8 GiB of addresses, and commits at most 7 GiB,
    and half a GiB for each further network thread, as strict overcommit counts: private writable
    mappings. In too few it says what it needs."""
    GIB = 1 << 30
    most = 7 * GIB + (int(os.environ.get("PERPD_NET_THREADS", 1)) - 1) * GIB // 2

    def start(data, addresses):
        return Perpd(world.program, data, "--store.durability=none",
                     prepare=lambda: resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses)))

    data = world.fresh()
    if b"__asan" in pathlib.Path(world.program).read_bytes():
        return  # the sanitizer maps terabytes
    for _ in range(2):
        perpd = start(data, 8 * GIB).ready()
        assert perpd.get("/readyz")[0] == 200
        assert perpd.get("/api/v1/markets", "net")[0] == 200
        committed = 0
        maps = pathlib.Path(f"/proc/{perpd.process.pid}/maps").read_text()
        assert "/history/data.mdb" in maps, maps  # with its history
        for line in maps.splitlines():
            addresses, access = line.split()[:2]
            if access[1] == "w" and access[3] == "p":
                first, end = (int(part, 16) for part in addresses.split("-"))
                committed += end - first
        assert committed <= most, committed
        assert perpd.end(signal.SIGTERM)[0] == CLEAN
    for addresses, words in ((3 * GIB, "bytes, twice"), (GIB, "connections")):
        code, log = start(data, addresses).end()
        names(words, log, code, KERNEL)
        assert "bytes" in log and ("engine.orders" in log or "net.output_pool" in log), log
    perpd = start(data, 8 * GIB).ready()
    assert perpd.end(signal.SIGTERM)[0] == CLEAN


def case_exchange_of_another(world):
    """exchange.id of another exchange: exit 3; the directory's own: served."""
    data = world.fresh()
    own = os.urandom(32).hex()  # another perpd of the same id may not run beside it
    world.is_usable(data, "--exchange.id=" + own)
    code, log = world.run(data, "--exchange.id=" + "22" * 32)
    names("exchange.id", log, code, REFUSED)
    world.is_usable(data, "--exchange.id=" + own)


def case_damaged(world):
    """A damaged `exchange`, a missing one, a missing segment, a header: exit 3, nothing changed."""
    source = world.fresh()
    world.is_usable(source)
    segment = pathlib.Path("journal/0000000000.seg")

    def flip(path, at):
        with open(path, "r+b") as file:
            file.seek(at)
            byte = file.read(1)
            file.seek(at)
            file.write(bytes([byte[0] ^ 1]))

    def every_slot(path):
        for slot in range(4):
            flip(path, 4096 * slot + 40)

    for name, damage in (("exchange", lambda data: every_slot(data / "exchange")),
                         ("witness", lambda data: every_slot(data / "witness")),
                         ("no witness", lambda data: (data / "witness").unlink()),
                         ("missing", lambda data: (data / "exchange").unlink()),
                         ("segment 0", lambda data: (data / segment).unlink()),
                         ("header", lambda data: flip(data / segment, 20)),
                         ("frame", lambda data: flip(data / segment, 4096 + 200))):
        data = world.fresh()
        shutil.copytree(source, data)
        damage(data)
        before = (data / segment).read_bytes() if (data / segment).exists() else None
        code, log = world.run(data)
        assert code == REFUSED, (name, code, log)
        assert " refused " in log, (name, log)
        after = (data / segment).read_bytes() if (data / segment).exists() else None
        assert before == after, name


def case_every_file(world):
    """Each file of a directory deleted, cut, swapped for an older copy, one bit of it flipped: the
    start has the state of before, or ends with exit 3 and the reason, and is repeatable."""
    source = world.fresh()
    world.is_usable(source)
    older = world.fresh()
    shutil.copytree(source, older)
    world.is_usable(source)
    program = pathlib.Path(world.program).parent / "perp"

    def state(data, *options):
        done = subprocess.run([program, "replay", "--hash", "--data", data, *options, "-o", "json"],
                              capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, (data, done.stderr)
        return json.loads(done.stdout)

    def cut(path):
        os.truncate(path, path.stat().st_size // 2)

    def flip(path):
        data = bytearray(path.read_bytes())
        at = [place for place in range(0, min(len(data), 1 << 16), 97) if data[place] != 0]
        place = at[len(at) // 2] if at else 0
        data[place:place + 1] = bytes([data[place] ^ 4]) if data else b"x"
        path.write_bytes(data)

    before = state(source)
    damages = {"deleted": pathlib.Path.unlink, "cut": cut, "flipped": flip}
    rows = [(path, what) for path in sorted(source.rglob("*")) if path.is_file()
            for what in (*damages, "older")]
    assert len({path.name for path, _ in rows} & {"exchange", "witness", "admin.token"}) == 3
    sample, served = Sample(), 0
    for path, what in rows[sample.offset % len(rows)::sample.step]:
        data = world.fresh()
        subprocess.run(["cp", "-a", "--sparse=always", source, data], check=True)
        file = data / path.relative_to(source)
        former = older / path.relative_to(source)
        if what != "older":
            damages[what](file)
        elif former.exists():
            shutil.copy2(former, file)
        perpd = Perpd(world.program, data, *SMALL)
        if perpd.process.stdout.readline() == "":
            code, log = perpd.end()
            assert code == REFUSED, (file, what, code, log)
            assert " refused " in log or " error data " in log, (file, what, log)
            assert world.run(data)[0] == REFUSED, (file, what)
            continue
        served += 1
        assert perpd.end(signal.SIGTERM)[0] == CLEAN, (file, what)
        after = state(data, "--to", str(before["sequence"]))
        assert after["image_hash"] == before["image_hash"], (file, what)
    print(f"damaged files: {len(rows) // sample.step} starts, {served} served")


def case_capacities(world):
    """Lower capacities (roles.md, Configuration) are taken while they hold what there is."""
    data = world.fresh()
    world.is_usable(data)
    for option in ("--engine.orders=64", "--engine.orders=65536", "--engine.credentials=16"):
        world.is_usable(data, option)


def case_pages(world):
    """The admin pages of a served start; /metrics has each name once with its type."""
    perpd = world.start(world.fresh(), "--store.durability=none")
    assert perpd.get("/livez") == (200, '{"live":true}')
    status, body = perpd.get("/metrics")
    assert status == 200
    topology = os.environ.get("PERPD_NODE_TOPOLOGY",
                              "shared" if os.cpu_count() < 4 else "dedicated")
    assert f',durability="none",topology="{topology}"}} 1' in body
    types = re.findall(r"^# TYPE (\S+) (?:counter|gauge|summary|histogram)$", body, re.M)
    assert len(types) == len(set(types)), sorted(types)
    for line in body.splitlines():
        if line.startswith("#"):
            continue
        match = re.fullmatch(r"([a-z_0-9]+)(\{[^}]*\})? -?\d+(\.\d+)?", line)
        assert match, line
        name = re.sub(r"_(sum|count|bucket)$", "", match[1]) if match[1] not in types else match[1]
        assert name in types, line
    for name in ("perpd_journal_durable_sequence", "perpd_follower_applied_sequence",
                 "perpd_segments_ready", "perpd_authored_total", "perpd_net_connections_open"):
        assert name in types, name
    assert "invariants" not in perpd.get("/readyz")[1]
    assert (perpd.data / "admin.token").stat().st_mode & 0o777 == 0o600
    status, body = perpd.get("/audit")
    assert status == 200 and '"i1":true' in body, body
    code, log = perpd.end(signal.SIGTERM)
    assert code == CLEAN and "store.durability=none" in "".join(perpd.lines) + log, log


def main():
    program = pathlib.Path(sys.argv[1]) / "perpd"
    wanted = sys.argv[2:]
    failed, sample = 0, Sample()
    cases = [(name, value) for name, value in globals().items() if name.startswith("case_")]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="perpd-start-"))
    try:
        for number, (name, function) in enumerate(cases):
            if name not in wanted if wanted else not sample.takes(number):
                continue
            begun = time.monotonic()
            try:
                (folder / name).mkdir()
                function(World(program, folder / name))
            except AssertionError as error:
                failed += 1
                print(f"FAILED {name}: {error}")
            print(f"{name} {time.monotonic() - begun:.1f} s")
            forget_memory(folder / name)
            shutil.rmtree(folder / name, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
