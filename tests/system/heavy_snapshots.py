"""heavy_snapshots.py - the snapshotter's child of a real perpd (roles.md, Snapshots and
history; docs/decisions/0041, 0042): two snapshots are kept, what lies below is archived and given
back; a child that is killed loses nothing; after kill -9 and after a stop under load the state is
that of the newest snapshot and the records behind it; pages of orders, fills and requests are as
before.

    python3 heavy_snapshots.py BUILD
"""
import os
import pathlib
import re
import signal
import socket
import struct
import sys
import tempfile
import threading
import time

from client import MARKET_DEFINE, Account, Perpd, id_text, new_id

BATCH, SEGMENT = 16, 64 << 20
BODY = b"{" + b" " * 4095 + b"}" + bytes(7)  # a record of 4 KiB that the engine refuses
DONE = "request_completed"
FILL_S_MAX = 400  # the snapshotter's child has what the CPUs' other work leaves
ORDERS, FILLS = "/api/v1/orders", "/api/v1/fills?subaccount_index=0"


def fill(exchange, enough):
    """Refused records of 4 KiB until it is enough."""
    until = time.monotonic() + FILL_S_MAX
    with socket.create_connection(("127.0.0.1", exchange.port)) as connection:
        connection.settimeout(200)
        while not enough():
            assert time.monotonic() < until
            for _ in range(8):
                connection.sendall(b"".join(
                    exchange.signed(MARKET_DEFINE, BODY, exchange.operator, None, True)
                    for _ in range(BATCH)))
                text = b""
                while len(re.findall(rb'"sequence":(\d+)[,}]', text)) < BATCH:
                    text += connection.recv(1 << 20)


def metric(exchange, name):
    text = exchange.admin("/metrics").body.decode()
    return int(re.search(rf"^perpd_{name} (\d+)$", text, re.M)[1])


def turns(exchange):
    """The histogram of the matcher's turns: what a snapshot does to it would show here."""
    text = exchange.admin("/metrics").body.decode()
    return dict(re.findall(r'^perpd_matcher_turn_ns\{quantile="([\d.]+)"\} (\d+)$', text, re.M))


def snapshots(perpd):
    return sorted(int(path.stem) for path in (perpd.folder / "data/snapshot").glob("*.snap"))


def segments(perpd):
    return sorted(int(path.stem) for path in (perpd.folder / "data/journal").glob("*.seg"))


def recovered(perpd):
    """What the last start said: {snapshot, records, ...}."""
    line = [line for line in perpd.log().splitlines() if " recovered " in line][-1]
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", line)}


def head(path):
    """journal.md, Snapshot: sequence, frame, t_ns, boot."""
    return struct.unpack_from("<QQQQ", path.read_bytes(), 80)


def open_orders(trader):
    page = trader.read(ORDERS + "?status=OPEN&limit=1000").json
    return {row["id"] for row in page}


def check_kept(perpd, exchange):
    """Two are kept, and archive and journal meet."""
    fill(exchange, lambda: metric(exchange, "snapshots_total") >= 3 and
         metric(exchange, "archived_segments_total") >= 1)
    kept, standing = snapshots(perpd), segments(perpd)
    assert len(kept) == 2, kept
    archived = sorted(int(path.name.split(".")[0])
                      for path in (perpd.folder / "data/archive").glob("*.seg.zst"))
    assert archived[0] == 0 and archived == list(range(len(archived))), archived
    assert standing[0] <= len(archived) and standing == list(range(standing[0], standing[-1] + 1))
    assert metric(exchange, "snapshot_sequence") == kept[-1]
    assert metric(exchange, "snapshot_failures_total") == 0
    assert metric(exchange, "snapshot_age_seconds") < FILL_S_MAX
    print("turns of the matcher, ns:", turns(exchange))


def child_of(perpd):
    for task in pathlib.Path(f"/proc/{perpd.process.pid}/task").glob("*/children"):
        for pid in task.read_text().split():
            arguments = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"--snapshot" in arguments:
                return int(pid), pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1]
    return None


def check_killed_child(perpd, exchange):
    """kill -9 of the child: counted, said, tried again; it stood aside while it ran."""
    killed, before = [], metric(exchange, "snapshots_total")

    def hunt():
        while not killed:
            try:
                found = child_of(perpd)
                if found and found[1].split()[19 - 3] == "19":  # proc(5): it has made way
                    offered = pathlib.Path(f"/proc/{found[0]}/oom_score_adj").read_text()
                    os.kill(found[0], signal.SIGKILL)
                    assert offered == "1000\n", offered
                    killed.append(found[1].split())
            except (OSError, ProcessLookupError):
                pass  # it was quicker

    hunter = threading.Thread(target=hunt, daemon=True)
    hunter.start()
    fill(exchange, lambda: killed)
    hunter.join()
    until = time.monotonic() + FILL_S_MAX
    while metric(exchange, "snapshots_total") == before:
        assert time.monotonic() < until
        time.sleep(0.2)
    assert metric(exchange, "snapshot_failures_total") == 1
    assert "ended by signal 9" in perpd.log() and metric(exchange, "snapshot_alarm") == 0


def check_kill9(perpd, exchange, trader, closed):
    """A start from a snapshot: the same open orders; orders that ended before it, fills and
    requests are as before."""
    want, newest = open_orders(trader), snapshots(perpd)[-1]
    paths = (ORDERS + "?limit=1000", ORDERS + "?status=CANCELED", ORDERS + "/" + id_text(closed))
    before = [trader.read(path).json for path in paths]
    assert [row["id"] for row in before[1]] == [id_text(closed)] and len(before[0]) >= 3, before
    perpd.stop(signal.SIGKILL)
    perpd.process.stdout.close()
    exchange = trader.exchange = perpd.start()
    said = recovered(perpd)
    assert said["snapshot"] == newest and said["records"] > 0, said
    assert open_orders(trader) == want and len(want) > 0
    assert trader.read(FILLS).status == 200
    assert trader.read("/api/v1/requests/" + id_text(closed)).json["request_id"] == id_text(closed)
    for path, was in zip(paths, before):
        assert trader.read(path).json == was, path
    placed = new_id()
    assert trader.limit(900_000, 1_000, placed)["status"] == DONE
    page = trader.read(ORDERS + "?limit=1").json
    assert [row["id"] for row in page] == [id_text(placed)], page
    assert trader.read("/api/v1/requests/" + id_text(placed)).status == 200
    late = Account(exchange, 1_000_000_000)  # it has nothing before
    assert late.read(ORDERS).json == [] and late.read(FILLS).status == 200
    return exchange


def check_stop_under_load(perpd, exchange, trader):
    """SIGTERM while orders come: all that was acknowledged is there, and nothing is replayed."""
    acknowledged, stopping = [], threading.Event()

    def send():
        while True:
            request = new_id()
            try:
                answer = trader.limit(900_000, 1_000, request)
            except (OSError, EOFError, AssertionError):
                assert stopping.is_set()
                return
            if answer["status"] == DONE:
                acknowledged.append((answer["sequence"], id_text(request)))

    senders = [threading.Thread(target=send) for _ in range(4)]
    for sender in senders:
        sender.start()
    until = time.monotonic() + 200
    time.sleep(1)
    while len(acknowledged) <= 100 and time.monotonic() < until:
        time.sleep(0.01)
    stopping.set()
    assert perpd.stop(signal.SIGTERM) == 0, perpd.log()
    perpd.process.stdout.close()
    for sender in senders:
        sender.join()
    newest = snapshots(perpd)[-1]
    sequence, _, _, _ = head(perpd.folder / f"data/snapshot/{newest}.snap")
    assert sequence == newest >= max(acknowledged)[0] and len(snapshots(perpd)) == 2
    trader.exchange = perpd.start()
    said = recovered(perpd)
    assert (said["snapshot"], said["records"]) == (newest, 0), said
    assert len(acknowledged) > 100
    for _, request in acknowledged:
        assert trader.read(ORDERS + "/" + request).json["order_status"] == "OPEN", request
    assert perpd.stop(signal.SIGTERM) == 0, perpd.log()
    print(f"stop under load: {len(acknowledged)} acknowledged, snapshot at {newest}")


def deaf(folder, program):
    """A perpd whose starter ignores the end of children, which it inherits."""
    path = pathlib.Path(folder) / "perpd"
    path.write_text(f"#!/bin/sh\ntrap '' CHLD\nexec '{program}' \"$@\"\n")
    path.chmod(0o700)
    return path


def main():
    with tempfile.TemporaryDirectory() as folder, \
         Perpd(deaf(folder, pathlib.Path(sys.argv[1]).resolve() / "perpd"),
               "--exchange.oracle_max_age_ms=0",
               "--store.snapshot_tail=64M", "--limits.open_orders=100000") as perpd:
        exchange = perpd.exchange
        trader, closed = Account(exchange, 100_000_000_000_000), new_id()
        assert exchange.set_price(1_000_000)["status"] == DONE
        for request in (closed, new_id(), new_id()):
            assert trader.limit(900_000, 1_000, request)["status"] == DONE
        assert trader.cancel(closed)["status"] == DONE
        check_kept(perpd, exchange)
        check_killed_child(perpd, exchange)
        exchange = check_kill9(perpd, exchange, trader, closed)
        check_stop_under_load(perpd, exchange, trader)


if __name__ == "__main__":
    main()
