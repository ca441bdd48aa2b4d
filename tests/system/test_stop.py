"""test_stop.py - SIGTERM under load (roles.md, Configuration; docs/decisions/0042): exit 0,
a snapshot at the last sequence whose image is that of every record replayed, everything that was
acknowledged is there after the next start, and a start goes on without the snapshots as well.

    python3 test_stop.py BUILD
"""
import pathlib
import re
import signal
import struct
import subprocess
import sys
import threading
import time

from client import SMALL_TABLES, Account, Perpd, id_text, new_id

DONE, SENDERS, LOAD_S = "request_completed", 3, 1.0
LOAD_S_MAX, ENOUGH = 200, 20
ORDERS = "/api/v1/orders/"


def snapshots(perpd):
    return sorted((perpd.folder / "data/snapshot").glob("*.snap"), key=lambda path: int(path.stem))


def recovered(perpd):
    line = [line for line in perpd.log().splitlines() if " recovered " in line][-1]
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", line)}


def load_and_stop(perpd, traders):
    """Orders until the stop has closed the door; what was acknowledged: (sequence, trader, id)."""
    acknowledged, stopping = [], threading.Event()

    def send(trader):
        while True:
            request = new_id()
            try:
                answer = trader.limit(900_000, 1_000, request)
            except (OSError, EOFError, AssertionError):
                assert stopping.is_set()
                return
            if answer["status"] == DONE:
                acknowledged.append((answer["sequence"], trader, id_text(request)))

    senders = [threading.Thread(target=send, args=(trader,)) for trader in traders]
    for sender in senders:
        sender.start()
    until = time.monotonic() + LOAD_S_MAX
    time.sleep(LOAD_S)
    while len(acknowledged) <= ENOUGH and time.monotonic() < until:
        time.sleep(0.01)
    stopping.set()
    code = perpd.stop(signal.SIGTERM)
    perpd.process.stdout.close()
    for sender in senders:
        sender.join()
    assert code == 0, perpd.log()
    assert len(acknowledged) > ENOUGH, len(acknowledged)
    return acknowledged


def check_snapshot(build, perpd, acknowledged):
    """journal.md, Snapshot: its place in the chain, and its image that of the records."""
    head = snapshots(perpd)[-1].read_bytes()[:256]
    sequence, frame, _, boot = struct.unpack_from("<QQQQ", head, 80)
    assert sequence == int(snapshots(perpd)[-1].stem) >= max(acknowledged, key=lambda a: a[0])[0]
    assert frame > 0 and boot > 0
    told = subprocess.run([build / "perp", "replay", "--hash", "--data", perpd.folder / "data",
                           "--to", str(sequence)], capture_output=True, text=True, check=True)
    assert head[160:192].hex() in told.stdout, (head[160:192].hex(), told.stdout)
    return sequence


def check_there(acknowledged, traders, exchange):
    for trader in traders:
        trader.exchange = exchange
    for _, trader, request in acknowledged:
        answer = trader.read(ORDERS + request)
        assert answer.status == 200 and answer.json["order_status"] == "OPEN", (request, answer)


def main():
    build = pathlib.Path(sys.argv[1])
    with Perpd(build / "perpd", "--exchange.oracle_max_age_ms=0", "--limits.open_orders=100000",
               *SMALL_TABLES) as perpd:
        exchange = perpd.exchange
        assert exchange.set_price(1_000_000)["status"] == DONE
        traders = [Account(exchange, 100_000_000_000_000) for _ in range(SENDERS)]
        acknowledged = load_and_stop(perpd, traders)
        sequence = check_snapshot(build, perpd, acknowledged)

        exchange = perpd.start()  # young: every record, and the snapshot is compared in passing
        assert recovered(perpd)["records"] == sequence, recovered(perpd)
        assert recovered(perpd)["clean_stop"] == 1
        check_there(acknowledged, traders, exchange)
        for trader in traders:
            trader.exchange = exchange
        acknowledged += load_and_stop(perpd, traders)
        check_snapshot(build, perpd, acknowledged)
        assert len(snapshots(perpd)) == 2

        for path in snapshots(perpd):  # not whole: they do not count, and nothing is lost
            damaged = bytearray(path.read_bytes())
            damaged[len(damaged) // 2] ^= 1
            path.write_bytes(damaged)
        exchange = perpd.start()
        check_there(acknowledged, traders, exchange)
        assert perpd.stop() == 0, perpd.log()
        print(f"stop: {len(acknowledged)} acknowledged in two stops under load")


if __name__ == "__main__":
    main()
