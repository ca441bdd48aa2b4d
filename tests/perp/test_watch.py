"""test_watch.py BUILD - perp watch: what a stream says, line by line and in a terminal; streams
that end, lie, leave frames out or refuse; then a perpd with TLS that is killed while book, trades
and account are watched; and perp top on it.
"""
import atexit
import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import socket
import ssl
import struct
import subprocess
import sys
import termios
import threading
import time
import urllib.request

from fake import Exchange, Perp, check, problem
from house import House

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from tls_peer import make_certificate

perp = Perp(sys.argv[1])
exchange = Exchange()
STREAM = "/api/v1/stream"
BOOK = {"op": "subscribe", "channel": "book", "market": "BTC-PERP", "depth": 10}
watch = ["watch", "book", "BTC-PERP", "--url", exchange.url]
started = []  # what still watches when a check fails ends with the test


@atexit.register
def end_started():
    for process in started:
        process.kill()


def crc32c(data):
    """CRC-32C, bit by bit (RFC 3720, B.4)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def frame(peer, kind, seq, prev, channel="book", time_ns=1755582431900112233, **members):
    market = {} if channel == "private" else {"market": "BTC-PERP"}
    peer.send(channel=channel, **market, seq=seq, prev_seq=prev, engine_seq=5, time_ns=time_ns,
              type=kind, **members)


def first(peer, asked=True, depth=10):
    """A snapshot: two bids and an ask."""
    if asked:
        peer.op(**dict(BOOK, depth=depth))
    frame(peer, "snapshot", 7, 7, crc=crc32c(b"99999.9:0.4;99999:1;100000:0.2;"),
          data={"bids": [["99999.9", "0.4"], ["99999", "1"]], "asks": [["100000", "0.2"]]})


def stay(peer):
    """Reads until perp goes."""
    while True:
        peer.take()


def streams(*scripts):
    """One script a connection. A thread whose script fails ends the test."""
    left = iter(scripts)

    def checked(script):
        def run(peer):
            try:
                script(peer)
            except SystemExit:
                end_started()
                os._exit(1)
        return run

    exchange.answers[STREAM] = None
    answer = Exchange.answer

    def choose(method, target):
        if target != STREAM:
            return answer(exchange, method, target)
        script = next(left)
        return ("stream", checked(script)) if callable(script) else script
    exchange.answer = choose


# A snapshot, changes in fragments and around a ping, a heartbeat that agrees.
def changes(peer):
    first(peer)
    update = {"channel": "book", "market": "BTC-PERP", "seq": 9, "prev_seq": 7, "engine_seq": 6,
              "time_ns": 1755582432900112233, "type": "update",
              "data": {"bids": [["99999.9", "0"], ["99998", "2"]], "asks": [["99999.5", "0.3"]]}}
    text = json.dumps(update).encode()
    peer.raw(1, text[:10], fin=False)
    peer.raw(9, b"are you there")
    peer.raw(0, text[10:])
    pong = peer.take()
    check(pong == (10, b"are you there"), pong)
    frame(peer, "heartbeat", 9, 9, crc=crc32c(b"99999:1;99998:2;99999.5:0.3;100000:0.2;"), data={})
    frame(peer, "update", 10, 9, data={"bids": [["99999", "0"], ["99998", "0"]], "asks": []})
    stay(peer)


streams(changes)
lines = perp.run(*watch, "--count", "3").stdout.splitlines()
check(lines == [
    "2025-08-19T05:47:11.900Z  BTC-PERP  book 7  bid 99999.9 x 0.4  ask 100000 x 0.2",
    "2025-08-19T05:47:12.900Z  BTC-PERP  book 9  bid 99999 x 1  ask 99999.5 x 0.3",
    "2025-08-19T05:47:11.900Z  BTC-PERP  book 10  bid - x -  ask 99999.5 x 0.3"], lines)

# -o json: the whole book as GET /book shows it, cut to the depth; the next depth is asked.
streams(lambda peer: (first(peer, depth=10), stay(peer)), lambda peer: (first(peer, depth=50),
                                                                        stay(peer)))
shown = json.loads(perp.run(*watch, "--count", "1", "-o", "json", "--depth", "2").stdout)
check(shown == {"market": "BTC-PERP", "seq": 7, "engine_seq": 5, "time_ns": 1755582431900112233,
                "bids": [["99999.9", "0.4"], ["99999", "1"]], "asks": [["100000", "0.2"]]}, shown)
perp.run(*watch, "--count", "1", "--depth", "11")


# A frame that is missing, a level that is not there, a checksum that is not the book's: the book
# is asked for again, and nothing is shown of what was wrong.
def wrong(kind, seq, prev, **members):
    def script(peer):
        first(peer)
        frame(peer, kind, seq, prev, **members)
        first(peer)
        stay(peer)
    return script


for lie in (wrong("update", 9, 8, data={"bids": [], "asks": []}),
            wrong("update", 9, 7, data={"bids": [["5", "0"]], "asks": []}),
            wrong("update", 9, 7, data={"bids": [["1.23", "1"]], "asks": []}),
            wrong("heartbeat", 7, 7, crc=1, data={}),
            wrong("update", 9, 7, data={"bids": [[str(k + 1), "1"] for k in range(2048)],
                                        "asks": []})):
    streams(lie)
    done = perp.run(*watch, "--count", "2")
    check([line.split()[3] for line in done.stdout.splitlines()] == ["7", "7"], done)
    check("a frame is missing or wrong" in done.stderr, done)


def start(*words, **files):
    started.append(subprocess.Popen([perp.program, *words], cwd=perp.folder, env={
        "HOME": str(perp.folder)}, **files))
    return started[-1]


# Ctrl-C and SIGTERM end it well.
for number in (signal.SIGINT, signal.SIGTERM):
    streams(lambda peer: (first(peer), stay(peer)))
    child = start(*watch, stdout=subprocess.PIPE, text=True)
    check("BTC-PERP" in child.stdout.readline())
    child.send_signal(number)
    check(child.wait(timeout=200) == 0, number)


# A terminal is cleared once, then redrawn in place: home, each line with its rest erased.
def ticking(peer):
    first(peer)
    for seq in range(8, 200):
        frame(peer, "update", seq, seq - 1, data={"bids": [], "asks": [["100000", str(seq)]]})
        time.sleep(0.02)
    stay(peer)


streams(ticking)
main, side = pty.openpty()
child = start(*watch, stdout=side)
os.close(side)
text, deadline = "", time.monotonic() + 200
while text.count("\033[H") < 3 and time.monotonic() < deadline:
    text += os.read(main, 4096).decode()
child.send_signal(signal.SIGINT)
while True:  # a terminal without a writer gives EIO
    try:
        if not os.read(main, 4096):
            break
    except OSError:
        break
check(child.wait(timeout=200) == 0)
check(text.startswith("\033[2J\033[H") and text.count("\033[2J") == 1, repr(text[:80]))
drawn = text.split("\033[H")[1]
check(drawn.endswith("\033[J") and "100000" in drawn and "\n" in drawn, repr(drawn))
check(all(line.endswith("\033[K") for line in drawn[:-3].replace("\r", "").splitlines()
          if line), repr(drawn))

# An exchange that was there is waited for; one that never was, and one that refuses, are errors.
streams(("close", None))
check(perp.run(*watch, code=4).stderr.count("closed the connection") == 1)
streams(problem(404, "not_found"))
perp.run(*watch, code=3)
streams(("raw", b"HTTP/1.1 101 X\r\nSec-WebSocket-Accept: AAAA\r\n\r\n"))
check("of another one" in perp.run(*watch, code=4).stderr)
streams(lambda peer: peer.close(1008, "no"))
done = perp.run(*watch, code=4)
check("1008 no" in done.stderr, done)
streams(lambda peer: peer.raw(2, b"binary"))
check("no frame of a stream" in perp.run(*watch, code=4).stderr)
streams(lambda peer: peer.raw(1, b"[1]"))
check("no JSON object" in perp.run(*watch, code=4).stderr)
streams(lambda peer: (first(peer), peer.close(4008, "slow_consumer")), problem(503, "not_ready"),
        ("close", None), lambda peer: (first(peer), stay(peer)))
done = perp.run(*watch, "--count", "2")
check([line.split()[3] for line in done.stdout.splitlines()] == ["7", "7"], done)
check("4008 slow_consumer" in done.stderr and "not_ready" in done.stderr and
      "closed the connection" in done.stderr, done.stderr)


# Trades: the snapshot from the oldest on, each update, and after the end of a connection and after
# a missing frame what follows the last one. A gap is said.
def trade(number, side="LONG", **members):
    return {"price": "100000", "size": "0.2", "taker_side": side, "liquidation": False,
            "trade_seq": number, "sequence": number, "index": 0, "time": 1755582431950,
            "time_ns": 1755582431950112233, **members}


def trades(peer):
    peer.op(op="subscribe", channel="trades", market="BTC-PERP")
    frame(peer, "snapshot", 20, 20, "trades", data={"trades": [trade(2, "SHORT"), trade(1)]})
    frame(peer, "heartbeat", 20, 20, "trades", data={})
    frame(peer, "update", 24, 20, "trades", data=trade(3, liquidation=True))


def resumed(peer):
    peer.op(op="resume", channel="trades", market="BTC-PERP", from_seq=24)
    frame(peer, "gap", 30, 24, "trades", data={"from_seq": 24, "oldest_seq": 28})
    frame(peer, "update", 33, 31, "trades", data=trade(5))  # the one before is missing
    frame(peer, "update", 34, 33, "trades", data=trade(6))  # so this one is not taken either
    peer.op(op="resume", channel="trades", market="BTC-PERP", from_seq=30)
    frame(peer, "update", 31, 30, "trades", data=trade(4))
    stay(peer)


streams(trades, resumed)
done = perp.run("watch", "trades", "BTC-PERP", "--url", exchange.url, "--count", "4")
check([line.split()[1:] for line in done.stdout.splitlines()] ==
      [["1", "LONG", "100000", "0.2"], ["2", "SHORT", "100000", "0.2"],
       ["3", "LONG", "100000", "0.2", "liquidation"], ["4", "LONG", "100000", "0.2"]], done)
check("after seq 24 up to seq 30" in done.stderr and "a frame is missing" in done.stderr, done)

# Another epoch: nothing is resumed.
streams(trades, lambda peer: (
    check(json.loads(peer.take()[1])["op"] == "resume"),
    peer.send(op="resume", channel="trades", market="BTC-PERP", from_seq=24, epoch=2),
    frame(peer, "update", 25, 24, "trades", data=trade(9)),
    peer.op(op="subscribe", channel="trades", market="BTC-PERP"),
    frame(peer, "snapshot", 3, 3, "trades", data={"trades": [trade(1)]}), stay(peer)))
done = perp.run("watch", "trades", "BTC-PERP", "--url", exchange.url, "--count", "4")
check([line.split()[1] for line in done.stdout.splitlines()] == ["1", "2", "3", "1"], done)
check("another history" in done.stderr, done)


# Private: logs in, subscribes, and is refused without a key, with a bad one, and when it ends.
def private(peer):
    peer.op(op="login", api_key="secret")
    peer.op(op="resume", channel="private", from_seq=0)
    frame(peer, "update", 1, 0, "private", data={
        "event": "position", "account_id": 7, "subaccount_index": 0, "portfolio_index": 1,
        "id": None, "market": "BTC-PERP", "side": None, "size": "0", "average_entry_price": None,
        "net_funding": None})
    frame(peer, "update", 2, 1, "private", data={"event": "later", "account_id": 7, "new": 5,
                                                 "deep": {"a": 1}})


def device(peer):
    peer.op(op="login", device_key="A" * 44)
    peer.op(op="subscribe", channel="private")
    frame(peer, "snapshot", 4, 4, "private", data={})
    peer.close(1008, "invalid_device_key")


account = ["watch", "private", "--url", exchange.url]
streams(private)
lines = perp.run(*account, "--api-key", "secret", "--from", "0",
                 "--count", "2").stdout.splitlines()
check(lines == ["2025-08-19T05:47:11.900Z         1  position    0/1 market=BTC-PERP size=0",
                '2025-08-19T05:47:11.900Z         2  later       0/0 event=later account_id=7 '
                'new=5 deep={"a":1}'], lines)
streams(device)
done = perp.run(*account, "--device-key", "A" * 44, "-o", "json", code=4)
check(json.loads(done.stdout)["type"] == "snapshot" and "invalid_device_key" in done.stderr, done)
check("needs an API key" in perp.run(*account, code=2).stderr)
streams(lambda peer: (peer.take(), peer.send(op="login", problem=problem(
    401, "invalid_api_key")[1]), stay(peer)))
check("HTTP 401 invalid_api_key" in perp.run(*account, "--api-key", "x", code=3).stderr)

# A perpd that is killed and started again while all three are watched. Each trade and each event is
# there once, and the last book is GET /book's.
with socket.socket() as taken:
    taken.bind(("127.0.0.1", 0))
    PORT = taken.getsockname()[1]


class Placed(House):
    """It is at the same place after each start, with TLS."""

    def __init__(self, build):
        super().__init__(build)
        self.certificate, self.secret = make_certificate(self.folder, "exchange")
        config = self.folder / ".config/perp/config"
        config.write_text(config.read_text().replace("]\n", f"]\nca = {self.certificate}\n"))

    def arguments(self, data, *options):
        return [*(f"--net.listen=127.0.0.1:{PORT}" if str(word).startswith("--net.listen=")
                  else word for word in super().arguments(data, *options)),
                f"--net.tls_certificate={self.certificate}", f"--net.tls_key={self.secret}"]


class Watching:
    """A perp that watches, and the rows that it has shown."""

    def __init__(self, *words):
        self.child = start("watch", *words, "--url", house.url, "--profile", "a", "-o", "json",
                           "--config", house.folder / ".config/perp/config",
                           stdout=subprocess.PIPE, text=True)
        self.rows = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.child.stdout:
            self.rows.append(json.loads(line))

    def await_row(self, wanted):
        until = time.monotonic() + 100
        while not any(map(wanted, self.rows[-1:])) and time.monotonic() < until:
            time.sleep(0.02)
        check(any(map(wanted, self.rows[-1:])), self.rows[-3:])

    def end(self):
        self.child.send_signal(signal.SIGTERM)
        check(self.child.wait(timeout=200) == 0)
        self.thread.join()


house = Placed(sys.argv[1])
house.start()
check(house.url.startswith("https://"))
# Who does not trust the certificate sees nothing.
for words in (("watch", "trades", "BTC-PERP"), ("top",)):
    done = perp.run(*words, "--url", house.url, code=4)
    check("pass --ca FILE" in done.stderr and done.stdout == "", done)
house.open_accounts()
book, trades, account = (Watching("book", "BTC-PERP"), Watching("trades", "BTC-PERP"),
                         Watching("private"))
for watcher in (book, trades, account):
    watcher.await_row(lambda row: True)  # it has subscribed
house.trade(2)
house.kill()
house.start()
house.client("oracle", "BTC-PERP", "100000")
house.trade(2)
public = house.client("trades", "BTC-PERP")["trades"]
last = house.client("book", "BTC-PERP")
# Its seq is that of the book's last change; a mark may have come since, which raises the read's.
book.await_row(lambda row: all(row[side] == last[side] for side in ("bids", "asks")) and
               row["seq"] <= last["seq"])
trades.await_row(lambda row: row["data"].get("trade_seq") == public[0]["trade_seq"])
updates = [row["data"] for row in trades.rows if row["type"] == "update"]
check(trades.rows[0]["data"] == {"trades": []} and len(updates) == len(public) == 4)
check(updates == public[::-1], updates, public)


def picture(columns, rows, wanted):
    """The rows that perp top shows in such a terminal when they are as wanted."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    child = start("top", "--url", house.url, "--ca", house.certificate, "--interval", "0.1",
                  stdout=side)
    os.close(side)
    text, shown, until = "", [], time.monotonic() + 100
    while time.monotonic() < until and not (shown and wanted(shown)):
        text += os.read(main, 65536).decode()
        whole = re.findall(r"\033\[H([^\033]*(?:\033\[K[^\033]*)*)\033\[J", text)
        shown = whole[-1].replace("\033[K", "").split("\r\n") if whole else []
    check(wanted(shown), shown)
    shown = [row.rstrip("\r") for row in shown]
    check(len(shown) <= rows and max(map(len, shown)) <= columns, shown)
    child.send_signal(signal.SIGINT)
    while child.poll() is None:
        try:
            os.read(main, 65536)
        except OSError:
            break
    check(child.wait(timeout=200) == 0)
    return shown


# perp top: what the tickers say, then what the stream changes; as many rows and columns as there
# are.
house.client("market", "state", "ETH-PERP", "HALTED")
tickers = house.client("top", "--count", "1")["markets"]
state = {row["market"]: row.pop("state") for row in tickers}
check(all(row.pop("trade_rate") == 0 for row in tickers) and state["ETH-PERP"] == "HALTED", state)
asked = urllib.request.urlopen(house.url + "/api/v1/tickers", timeout=100,
                               context=ssl.create_default_context(cafile=house.certificate))
check([{**row, "seq": 0} for row in tickers] ==
      [{**row, "seq": 0} for row in json.load(asked)["tickers"]], tickers)
made = []


def traded(rows):
    """Trades once the last subscription of the second market is answered, and looks for it beside
    the four that have been made before."""
    count = sum(row.rstrip().endswith("0.01") for row in rows)
    if not made and "HALTED" in rows[4]:
        made.append(count)
        house.trade(1)
    return count == 5


shown = picture(80, 24, traded)
check("ready  sequence" in shown[0] and shown[2].split()[:3] == ["MARKET", "LAST", "24H%"], shown)
check([row.split()[:2] for row in shown[3:5]] == [["BTC-PERP", "100010"], ["ETH-PERP", "HALTED"]],
      shown)
check("INDEX" not in shown[2] and re.fullmatch(
    r"[\d:.]{12}  BTC-PERP      LONG +100010 +0\.01", shown[-1]), shown)
check(made == [4], made)
check("INDEX" in picture(120, 40, lambda rows: "ready" in rows[0])[2])
narrow = picture(45, 12, lambda rows: "ready" in rows[0])
check(narrow[2].split() == ["MARKET", "LAST", "24H%", "BID"], narrow)
check(narrow[-1].startswith("DOGE-PERP"), narrow)
check(picture(80, 6, lambda rows: "ready" in rows[0])[-1] == "and 3 more")
fills = house.client("fills", who="a")
account.await_row(lambda row: row["data"].get("event") == "order" and
                  row["engine_seq"] == fills[0]["sequence"])
seqs = [row["seq"] for row in account.rows]
check(seqs == list(range(seqs[0], seqs[0] + len(seqs))), seqs)
shown = [{name: value for name, value in row["data"].items() if name != "event"}
         for row in account.rows if row["data"].get("event") == "fill"]
check(shown == fills[::-1], shown, fills)
for watcher in (book, trades, account):
    watcher.end()
