"""heavy_full_disk.py - no segment can be prepared any more, as with a full disk. While there is
still room the node brings every market to CANCEL_ONLY: orders are refused, cancels are taken,
/readyz, the log and the metrics say why. When space is back the operator opens the markets. When it
is not, commands wait at last; reads go on; nothing is acknowledged that is not durable; a stop ends
with exit 1 after its time; the next start has all that was acknowledged (roles.md, Journal
and Flow control; rules.md R9).

    python3 heavy_full_disk.py BUILD
"""
import pathlib
import re
import signal
import socket
import sys
import time

from client import (MARKET_DEFINE, MARKET_STATE, Account, Connection, Perpd, new_id, request_bytes,
                    state_body)
from processor import processor_s

BATCH = 16
BODY = b"{" + b" " * 4095 + b"}" + bytes(7)  # a record of 4 KiB that the engine refuses
STUCK_S, END_S = 4, 200
ACTIVE, DONE = 0, "request_completed"


def fill(exchange, enough=lambda: False):
    """Sends until answers stop coming, or until it is enough; the highest sequence that was
    acknowledged."""
    last, until = 0, time.monotonic() + 400
    with socket.create_connection(("127.0.0.1", exchange.port)) as connection:
        connection.settimeout(STUCK_S)
        while time.monotonic() < until:
            connection.sendall(b"".join(exchange.signed(MARKET_DEFINE, BODY, exchange.operator,
                                                        None, True) for _ in range(BATCH)))
            text = b""
            while len(re.findall(rb'"sequence":(\d+)[,}]', text)) < BATCH:
                try:
                    text += connection.recv(1 << 20)
                except TimeoutError:  # the machine may be slow, or no segment is left
                    if metric(exchange, "segments_ready") == 0:
                        return max([last, *map(int, re.findall(rb'"sequence":(\d+)[,}]', text))])
                    assert time.monotonic() < until
            last = max(map(int, re.findall(rb'"sequence":(\d+)[,}]', text)))
            if last % 64 < BATCH and enough():
                return last
    raise AssertionError("the journal never ran out of segments")


def states(exchange):
    return {row["state"] for row in exchange.get("/api/v1/markets").json["markets"]}


def metric(exchange, name):
    text = exchange.admin("/metrics").body.decode()
    return int(re.search(rf"^perpd_{name} (\d+)$", text, re.M)[1])


def wait_for(what, seconds=200):
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


def check_closed_in_time(perpd, exchange):
    """The markets close while there is room, and open when the operator says so."""
    trader, order = Account(exchange, 100_000_000_000), new_id()
    assert exchange.set_price(1_000_000)["status"] == DONE
    assert trader.limit(990_000, 1_000, order)["status"] == DONE
    journal = perpd.folder / "data" / "journal"
    away = journal.with_name("journal.away")
    wait_for(lambda: metric(exchange, "segments_ready") == 2)
    assert states(exchange) == {"ACTIVE"}
    journal.rename(away)  # preparation fails from here on
    fill(exchange, lambda: "ACTIVE" not in states(exchange))
    wait_for(lambda: states(exchange) == {"CANCEL_ONLY"})

    assert metric(exchange, "segments_ready") == 1, "the reserve is there"
    assert metric(exchange, "segment_closings_total") == 5
    ready = exchange.admin("/readyz")
    assert ready.status == 503 and ready.json["reasons"] == ["segments"], ready
    assert "preparation failed" in perpd.log() and "takes cancels only" in perpd.log()
    refused = trader.limit(990_000, 1_000)
    assert refused["status"] == "rejected_market_cancel_only", refused
    assert trader.cancel(order)["status"] == DONE
    opened = exchange.ack(MARKET_STATE, state_body(1, ACTIVE), exchange.operator)
    assert opened["status"] == DONE
    assert trader.limit(990_000, 1_000)["status"] == "rejected_market_cancel_only", "closed again"

    away.rename(journal)  # space is back
    wait_for(lambda: exchange.admin("/readyz").status == 200)
    assert states(exchange) == {"CANCEL_ONLY"}, "the operator's turn"
    for asset in range(1, 6):
        opened = exchange.ack(MARKET_STATE, state_body(asset, ACTIVE), exchange.operator)
        assert opened["status"] == DONE, opened
    assert states(exchange) == {"ACTIVE"}
    assert trader.limit(990_000, 1_000)["status"] == DONE


def check_full(perpd, exchange):
    """Nobody helps: what is left is used up, then commands wait. The last sequence acknowledged."""
    journal = perpd.folder / "data" / "journal"
    journal.rename(journal.with_name("journal.away"))
    acknowledged = fill(exchange)
    assert acknowledged > 1000, acknowledged

    ready = exchange.admin("/readyz")
    assert ready.status == 503 and ready.json["reasons"] == ["segments"], ready
    assert metric(exchange, "segments_ready") == 0
    assert metric(exchange, "segment_error") > 0
    assert metric(exchange, "journal_starved_total") > 0
    with Connection(exchange.port) as reader:
        read = reader.exchange(request_bytes("GET", "/api/v1/markets"))
    assert read.status == 200 and int(read.header("x-sequence")) >= acknowledged, read
    assert states(exchange) == {"CANCEL_ONLY"}
    begun = processor_s(perpd.process)
    time.sleep(2)
    assert processor_s(perpd.process) - begun < 0.5, "it spins while it waits"
    return acknowledged


def main():
    with Perpd(pathlib.Path(sys.argv[1]) / "perpd", "--exchange.oracle_max_age_ms=0") as perpd:
        exchange = perpd.exchange
        check_closed_in_time(perpd, exchange)
        acknowledged = check_full(perpd, exchange)
        begun = time.monotonic()
        code = perpd.stop(signal.SIGTERM, END_S)
        assert code == 1, (code, perpd.log())
        print(f"acknowledged {acknowledged}, ended after {time.monotonic() - begun:.1f} s")
        perpd.process.stdout.close()

        journal = perpd.folder / "data" / "journal"
        journal.with_name("journal.away").rename(journal)
        exchange = perpd.start()
        read = exchange.get("/api/v1/markets")
        assert int(read.header("x-sequence")) > acknowledged, (read, acknowledged)
        assert exchange.admin("/readyz").status == 200
        assert states(exchange) == {"CANCEL_ONLY"}, "a restart keeps them"
        opened = exchange.ack(MARKET_STATE, state_body(1, ACTIVE), exchange.operator)
        assert opened["status"] == DONE and "ACTIVE" in states(exchange)
        assert perpd.stop() == 0, perpd.log()


if __name__ == "__main__":
    main()
