"""test_notify.py - what the service manager is told (sd_notify(3); roles.md, Roles are
steps), seen by a manager that is only a socket: READY=1 not before the ready line, WATCHDOG=1 in
time while the roles turn and none before READY=1 or after STOPPING=1, and a manager that reads
nothing holds up no answer. And what the installed unit allows is enough, and little (F7).

    python3 test_notify.py BUILD [CASE...]
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import client
from client import forget_memory
from test_start import CLEAN, SMALL, Perpd
from under_unit import settings

SEGMENT = 64 << 20  # bytes of a journal's segment
WATCHDOG_US = 3000000  # its half is what a busy machine may delay a ping


class Manager:
    """A NOTIFY_SOCKET; every message with the time it came."""

    def __init__(self, folder, watchdog_us=WATCHDOG_US):
        self.path = str(folder / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(0.05)
        self.environment = {"NOTIFY_SOCKET": self.path}
        if watchdog_us:
            self.environment["WATCHDOG_USEC"] = str(watchdog_us)
        self.messages = []

    def listen(self, seconds, until=None):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                text = self.socket.recv(65536).decode()
            except TimeoutError:
                continue
            self.messages.append((time.monotonic(), text))
            if until is not None and until in text.split("\n"):
                return True
        return until is None

    def index(self, line):
        return next(i for i, (_, text) in enumerate(self.messages) if line in text.split("\n"))

    def times(self, line):
        return [at for at, text in self.messages if line in text.split("\n")]


def start(world, manager):
    os.environ.update(manager.environment)
    try:
        return Perpd(world.program, world.fresh(), *SMALL)
    finally:
        for name in manager.environment:
            del os.environ[name]


def case_ready_watchdog_stopping(world):
    """READY once, pings at least every watchdog's time, STOPPING before the end, in this order."""
    manager = Manager(world.fresh_folder())
    perpd = start(world, manager)
    assert manager.listen(200, "READY=1"), manager.messages
    perpd.ready()
    manager.listen(4 * WATCHDOG_US / 1e6)
    pings = manager.times("WATCHDOG=1")
    ready = manager.times("READY=1")
    gaps = [b - a for a, b in zip(ready + pings, pings)]
    assert len(pings) >= 4 and max(gaps) < WATCHDOG_US / 1e6, gaps
    perpd.process.send_signal(signal.SIGTERM)
    assert manager.listen(200, "STOPPING=1"), manager.messages
    code, log = perpd.end()
    assert code == CLEAN, (code, log)
    manager.listen(0.2)
    assert len(ready) == 1 and len(manager.times("STOPPING=1")) == 1, manager.messages
    assert not [text for _, text in manager.messages[:manager.index("READY=1")]
                if "WATCHDOG=1" in text]
    assert not [text for _, text in manager.messages[manager.index("STOPPING=1"):]
                if "WATCHDOG=1" in text]
    assert any("STATUS=" in text for _, text in manager.messages)


def case_no_watchdog_wanted(world):
    """Without WATCHDOG_USEC nothing is fed."""
    manager = Manager(world.fresh_folder(), watchdog_us=0)
    perpd = start(world, manager)
    assert manager.listen(200, "READY=1"), manager.messages
    perpd.ready()
    manager.listen(1)
    assert not manager.times("WATCHDOG=1"), manager.messages
    assert perpd.end(signal.SIGTERM)[0] == CLEAN


def case_nobody_reads(world):
    """A manager whose socket is full: everything is served, and the stop ends."""
    manager = Manager(world.fresh_folder(), watchdog_us=100000)
    perpd = start(world, manager)
    perpd.ready()
    for _ in range(30):  # more pings than a socket holds
        assert perpd.get("/readyz")[0] == 200
        time.sleep(0.1)
    code, log = perpd.end(signal.SIGTERM, seconds=200)
    assert code == CLEAN, (code, log)


def manager_runs(*command):
    """A tool of the service manager; what it said of perpd."""
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stdout + done.stderr


def case_unit_is_installed(world):
    """The unit names the perpd beside it, says nothing that the manager does not know, and is
    exposed by 2.5 at most; its user and its folder are made."""
    unit = world.unit()
    root = unit.parents[3]
    command = settings(unit)["ExecStart"][0].split()
    assert command[0] == str(root / "bin/perpd") and os.access(command[0], os.X_OK), command
    kept = [settings(unit)[f"RuntimeDirectory{end}"] for end in ("", "Mode", "Preserve")]
    assert kept == [["perpd"], ["0700"], ["yes"]], kept  # test_poison.py, where_the_page_lies
    _, said = manager_runs("systemd-analyze", "verify", "--man=no", str(unit))
    assert "perpd.service" not in said, said
    code, said = manager_runs("systemd-analyze", "security", "--offline=true", "--threshold=25",
                              str(unit))
    level = re.search(r"Overall exposure level for perpd.service: ([\d.]+)", said)
    assert level and float(level[1]) <= 2.5 and code == 0, said
    if os.geteuid() != 0:
        return  # only root makes users and gives folders away
    system = world.fresh_folder()
    (system / "etc/perpd").mkdir(mode=0o777, parents=True)
    for tool in ("sysusers", "tmpfiles --create"):
        code, said = manager_runs(*f"systemd-{tool}".split(), f"--root={system}",
                                  str(root / f"lib/{tool.split()[0]}.d/perpd.conf"))
        assert code == 0, (tool, said)
    user = settings(unit)["User"][0]
    assert f"\n{user}:" in "\n" + (system / "etc/passwd").read_text()
    group = re.search(rf"^{user}:\w*:(\d+):", (system / "etc/group").read_text(), re.M)
    made = (system / "etc/perpd").stat()
    assert (made.st_mode & 0o7777, made.st_uid, made.st_gid) == (0o750, 0, int(group[1])), made


def has_sanitizer(world):
    """One makes system calls of its own."""
    return re.search(b"__asan_init|__tsan_init", pathlib.Path(world.program).read_bytes())


class BoundPerpd(client.Perpd):
    """perpd within the bounds of the unit."""

    def __init__(self, unit, program):
        super().__init__(program, *SMALL)
        self.unit = str(unit)

    def arguments(self):
        launcher = pathlib.Path(__file__).with_name("under_unit.py")
        return [sys.executable, str(launcher), self.unit, *super().arguments()]


def case_unit_is_enough(world):
    """Within the unit's bounds perpd starts, trades, is looked at, recovers and stops: it makes no
    call that the unit does not allow."""
    if has_sanitizer(world):
        return
    perpd = BoundPerpd(world.unit(), world.program)
    try:
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
            exchange = perpd.start()
            exchange.set_price(500000)
            account = client.Account(exchange, 10**12)
            assert account.limit(400000, 1000)["status"] == "request_completed"
            assert exchange.admin("/metrics").status == 200 and exchange.audit()
            status = pathlib.Path(f"/proc/{perpd.process.pid}/status").read_text()
            assert re.search(r"^CapPrm:\s+0+$", status, re.M), status
            code = perpd.stop(number)
            assert code == (-number if number == signal.SIGKILL else CLEAN), (code, perpd.log())
    finally:
        perpd.remove()


def case_unit_is_enough_for_a_snapshot(world):
    """The snapshotter asks what memory is free and what its engine takes, and its child writes a
    snapshot, within the unit's bounds."""
    if has_sanitizer(world):
        return
    launcher = [sys.executable, str(pathlib.Path(__file__).with_name("under_unit.py")),
                str(world.unit())]
    host = pathlib.Path(world.program).parent / "tests/test_node_snapshot_child"
    done = subprocess.run([*launcher, str(host)], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)
    perpd = client.Perpd(world.program, *SMALL)
    try:
        perpd.start().set_price(500000)
        assert perpd.stop() == CLEAN, perpd.log()
        data = perpd.folder / "data"
        for path in (data / "snapshot").glob("*"):
            path.unlink()
        child = subprocess.run([*launcher, world.program, "--snapshot", str(data), "0",
                                str(SEGMENT), str(os.getpid()), "idle"],
                               capture_output=True, text=True)
        assert child.returncode == CLEAN, (child.returncode, child.stderr)
        assert len(list((data / "snapshot").glob("*.snap"))) == 1
    finally:
        perpd.remove()


class World:
    def __init__(self, program, folder):
        self.program, self.folder, self.count = program, folder, 0
        self.installed = None

    def unit(self):
        """The unit of an installation of this build."""
        if self.installed is None:
            self.installed = self.fresh_folder()
            done = subprocess.run(["cmake", "--install", str(pathlib.Path(self.program).parent),
                                   "--prefix", str(self.installed)], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return self.installed / "lib/systemd/system/perpd.service"

    def fresh(self):
        self.count += 1
        return self.folder / f"data{self.count}"

    def fresh_folder(self):
        folder = self.fresh()
        folder.mkdir()
        return folder


def main():
    program = pathlib.Path(sys.argv[1]) / "perpd"
    cases = [value for name, value in list(globals().items()) if name.startswith("case_")
             and (len(sys.argv) < 3 or name[5:] in sys.argv[2:])]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="perpd-notify-"))
    try:
        world = World(str(program), folder)
        for case in cases:
            case(world)
        print(f"notify: {len(cases)} passed")
    finally:
        forget_memory(folder)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
