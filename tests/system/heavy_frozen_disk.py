"""heavy_frozen_disk.py - a disk that stands still under load (a frozen file system on a loop
device): nothing is acknowledged that is not on it, what no longer fits is answered request_dropped
and was never executed, and when the disk goes on so do the orders that were let in
(roles.md, Flow control and Journal).

    python3 heavy_frozen_disk.py BUILD

Needs to mount; where that is not allowed it is skipped (exit 77).
"""
import collections
import os
import pathlib
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import time

from client import (DEPOSIT, LONG_WINDOW, PATHS, PLACE_LIMIT, Account, Connection, Perpd, frame,
                    limit_body, new_id, payload_of, request_bytes)

SKIPPED = 77
IMAGE_BYTES = 1 << 30
CONNECTIONS, ORDERS_EACH = 360, 60  # more than 2 x 8,192 credits; a connection may have 64 pending
FROZEN_S, SETTLE_S, ANSWERED_S = 4.0, 0.5, 60
USDC = 1_000_000


def run(*command):
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


class Mount:
    """A file system of its own, which can be frozen; `ok` says whether this machine lets us."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="perpd-frozen-"))
        self.image, self.path, self.frozen = self.folder / "image", self.folder / "mount", False
        self.path.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(IMAGE_BYTES)
        self.ok = (run("mkfs.ext4", "-q", str(self.image)) and
                   run("mount", "-o", "loop", str(self.image), str(self.path)))
        return self

    def freeze(self, on):
        self.frozen = on
        assert run("fsfreeze", "-f" if on else "-u", str(self.path))

    def __exit__(self, *_):
        if self.frozen:
            self.freeze(False)
        if self.ok:
            run("umount", "-l", str(self.path))
        run("rm", "-rf", str(self.folder))


class Sender:
    """One connection that sends all its orders at once and notes when each answer came."""

    def __init__(self, exchange, account):
        self.socket = socket.create_connection(("127.0.0.1", exchange.port))
        self.socket.setblocking(False)
        self.orders, self.answers, self.text = [], [], b""
        for i in range(ORDERS_EACH):
            request_id = new_id()
            body = limit_body(account.id, 900_000 + i, 100)
            payload = payload_of(PLACE_LIMIT, body, account.session, request_id)
            data = frame(payload, account.session.public, account.session.sign(payload))
            self.orders.append((request_id, request_bytes(
                "POST", PATHS[PLACE_LIMIT], data,
                [("Content-Type", "application/octet-stream")])))
        self.out = b"".join(order for _, order in self.orders)

    def write(self):
        try:
            self.out = self.out[self.socket.send(self.out):]
        except BlockingIOError:
            pass

    def read(self):
        self.text += self.socket.recv(1 << 20)
        while match := re.search(rb"\r\n\r\n(\{[^{}]*\})", self.text):
            status = re.search(rb'"status":"(\w+)"', match[1])
            self.answers.append((time.monotonic(), status[1].decode()))
            self.text = self.text[match.end():]


def serve(senders, until):
    """Sends and receives until `until()` or all is answered."""
    with selectors.DefaultSelector() as selector:
        for sender in senders:
            selector.register(sender.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, sender)
        while not until() and any(len(s.answers) < ORDERS_EACH for s in senders):
            for key, events in selector.select(0.05):
                sender = key.data
                if events & selectors.EVENT_READ:
                    sender.read()
                if events & selectors.EVENT_WRITE:
                    sender.write()
                    if not sender.out:
                        selector.modify(sender.socket, selectors.EVENT_READ, sender)


def check(perpd, mount):
    exchange = perpd.exchange
    exchange.set_price(1_000_000)
    accounts = [Account(exchange, 10_000_000 * USDC) for _ in range(CONNECTIONS // 30)]
    senders = [Sender(exchange, accounts[i % len(accounts)]) for i in range(CONNECTIONS)]

    mount.freeze(True)
    begun = time.monotonic()
    serve(senders, lambda: time.monotonic() > begun + FROZEN_S and (
        sum(len(s.answers) for s in senders) > 100 or time.monotonic() > begun + ANSWERED_S))
    frozen = [word for s in senders for at, word in s.answers if at > begun + SETTLE_S]
    mount.freeze(False)
    thawed = time.monotonic()
    serve(senders, lambda: time.monotonic() > thawed + ANSWERED_S)

    counts = collections.Counter(word for s in senders for _, word in s.answers)
    print(f"while frozen {collections.Counter(frozen)}, in all {counts}")
    assert all(len(s.answers) == ORDERS_EACH for s in senders), "answers are missing"
    assert set(frozen) <= {"request_dropped"}, "acknowledged without a disk"
    assert set(counts) <= {"request_completed", "request_dropped",
                           "rejected_max_open_orders_exceeded"}, counts
    assert counts["request_completed"] > 1000 and counts["request_dropped"] > 100, counts

    for sender, account in zip(senders, (accounts * CONNECTIONS)[:CONNECTIONS]):
        seen = set()
        for (request_id, order), (_, word) in zip(sender.orders, sender.answers):
            if word in seen:
                continue
            seen.add(word)
            with Connection(exchange.port) as connection:
                again = connection.exchange(order).json
            if word == "request_dropped":  # was never executed: its bytes are new
                assert again["status"] != "duplicate_request_id", (word, again)
            else:
                assert again["status"] == "duplicate_request_id", (word, again)
    audit = exchange.audit()
    assert all(audit[f"i{k}"] for k in range(1, 7)), audit


def main():
    with Mount() as mount:
        if not mount.ok:
            print("skipped: this machine does not let us mount")
            return SKIPPED
        # All orders come at once: limits.total_rate, whose grant a larger set of ids holds.
        perpd = Perpd(pathlib.Path(sys.argv[1]) / "perpd", "--exchange.oracle_max_age_ms=0",
                      *LONG_WINDOW, "--limits.total_rate=30000",
                      "--limits.duplicate_slots=16777216", parent=mount.path)
        try:
            perpd.start()
            check(perpd, mount)
            code = perpd.stop()
            assert code == 0, (code, perpd.log())
        finally:
            if mount.frozen:
                mount.freeze(False)
            perpd.remove()
    return 0


if __name__ == "__main__":
    os.environ.setdefault("PERPD_STORE_DURABILITY", "local")
    sys.exit(main())
