"""heavy_full_disk.py - no segment can be prepared any more, as with a full disk: commands wait and
say so on /readyz, in the log and the metrics; reads go on; nothing is acknowledged that is not
durable; a stop ends with exit 1 after its time; the next start has all that was acknowledged
(architecture.md, Journal and Flow control).

    python3 heavy_full_disk.py BUILD
"""
import pathlib
import re
import signal
import socket
import sys
import time

from client import MARKET_DEFINE, Connection, Perpd, request_bytes

BATCH = 16
BODY = b"{" + b" " * 4095 + b"}" + bytes(7)  # a record of 4 KiB that the engine refuses
STUCK_S, END_S = 4, 40


def fill(exchange):
    """Sends until answers stop coming; the highest sequence that was acknowledged."""
    last, until = 0, time.monotonic() + 120
    with socket.create_connection(("127.0.0.1", exchange.port)) as connection:
        connection.settimeout(STUCK_S)
        while time.monotonic() < until:
            connection.sendall(b"".join(exchange.signed(MARKET_DEFINE, BODY, exchange.operator,
                                                        None, True) for _ in range(BATCH)))
            text = b""
            try:
                while len(re.findall(rb'"sequence":(\d+)}', text)) < BATCH:
                    text += connection.recv(1 << 20)
            except TimeoutError:
                return max([last, *map(int, re.findall(rb'"sequence":(\d+)}', text))])
            last = max(map(int, re.findall(rb'"sequence":(\d+)}', text)))
    raise AssertionError("the journal never ran out of segments")


def processor_s(perpd):
    fields = pathlib.Path(f"/proc/{perpd.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def main():
    with Perpd(pathlib.Path(sys.argv[1]) / "perpd") as perpd:
        exchange = perpd.exchange
        journal = perpd.folder / "data" / "journal"
        journal.rename(journal.with_name("journal.away"))  # preparation fails from here on
        acknowledged = fill(exchange)
        assert acknowledged > 1000, acknowledged

        ready = exchange.admin("/readyz")
        assert ready.status == 503 and ready.json["reasons"] == ["segments"], ready
        metrics = exchange.admin("/metrics").body.decode()
        assert re.search(r"^perpd_segments_ready 0$", metrics, re.M)
        assert re.search(r"^perpd_segment_error [1-9]", metrics, re.M)
        assert re.search(r"^perpd_journal_starved_total [1-9]", metrics, re.M)
        assert "preparation failed" in perpd.log()
        with Connection(exchange.port) as reader:
            read = reader.exchange(request_bytes("GET", "/api/v1/markets"))
        assert read.status == 200 and int(read.header("x-sequence")) >= acknowledged, read
        begun = processor_s(perpd)
        time.sleep(2)
        assert processor_s(perpd) - begun < 0.5, "it spins while it waits"

        begun = time.monotonic()
        code = perpd.stop(signal.SIGTERM, END_S)
        assert code == 1, (code, perpd.log())
        print(f"acknowledged {acknowledged}, ended after {time.monotonic() - begun:.1f} s")
        perpd.process.stdout.close()

        journal.with_name("journal.away").rename(journal)
        exchange = perpd.start()
        read = exchange.get("/api/v1/markets")
        assert int(read.header("x-sequence")) > acknowledged, (read, acknowledged)
        assert exchange.admin("/readyz").status == 200
        assert perpd.stop() == 0, perpd.log()


if __name__ == "__main__":
    main()
