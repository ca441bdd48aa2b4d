"""test_notify.py - what the service manager is told (sd_notify(3); roles.md, Roles are
steps), seen by a manager that is only a socket: READY=1 not before the ready line, WATCHDOG=1 in
time while the roles turn and none before READY=1 or after STOPPING=1, and a manager that reads
nothing holds up no answer.

    python3 test_notify.py BUILD [CASE...]
"""
import os
import pathlib
import shutil
import signal
import socket
import sys
import tempfile
import time

from client import forget_memory
from test_start import CLEAN, SMALL, Perpd

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


class World:
    def __init__(self, program, folder):
        self.program, self.folder, self.count = program, folder, 0

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
