"""test_watch.py BUILD - perp watch book: without a terminal, in one, ended, and over a restart."""
import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import time

from fake import Exchange, Perp, check, problem

perp = Perp(sys.argv[1])
exchange = Exchange()
BOOK = "/api/v1/markets/BTC-PERP/book"
turn = itertools.count(1)


def book():
    seq = next(turn)
    return {"market": "BTC-PERP", "seq": seq, "engine_seq": 5, "time_ns": 1,
            "bids": [["99999.9", "0.4"], ["99999", "1"]] if seq % 2 else [],
            "asks": [["100000", "0.2"]]}


exchange.answers[BOOK] = (200, book)
watch = ["watch", "book", "BTC-PERP", "--url", exchange.url, "--interval", "0.05"]

# No terminal: a line a read.
lines = perp.run(*watch, "--count", "3").stdout.splitlines()
check([line.split()[1:] for line in lines] == [
    ["BTC-PERP", "book", str(seq), "bid", *bid, "ask", "100000", "x", "0.2"]
    for seq, bid in ((1, ["99999.9", "x", "0.4"]), (2, ["-", "x", "-"]),
                     (3, ["99999.9", "x", "0.4"]))], lines)
check(exchange.last()[1] == BOOK + "?depth=10")

# -o json: the whole answer, a line a read.
answers = [json.loads(line) for line in
           perp.run(*watch, "--count", "2", "-o", "json", "--depth", "1").stdout.splitlines()]
check([answer["seq"] for answer in answers] == [4, 5] and answers[1]["bids"][1] == ["99999", "1"])
check(exchange.last()[1] == BOOK + "?depth=1")


def start(**streams):
    return subprocess.Popen([perp.program, *watch], cwd=perp.folder, env={
        "HOME": str(perp.folder)}, **streams)


# Ctrl-C and SIGTERM end it well, between two reads.
for number in (signal.SIGINT, signal.SIGTERM):
    child = start(stdout=subprocess.PIPE, text=True)
    check("BTC-PERP" in child.stdout.readline())
    child.send_signal(number)
    check(child.wait(timeout=200) == 0, number)

# A terminal is cleared once, then redrawn in place: home, each line with its rest erased.
main, side = pty.openpty()
child = start(stdout=side)
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
frame = text.split("\033[H")[1]
check(frame.endswith("\033[J") and "100000" in frame and "\n" in frame, repr(frame))
check(all(line.endswith("\033[K") for line in frame[:-3].replace("\r", "").splitlines()
          if line), repr(frame))

# An exchange that was there is waited for; one that never was is an error at once.
exchange.answers[BOOK] = ("close", None)
done = perp.run(*watch, "--count", "5", code=4)
check(done.stderr.count("closed the connection") == 1, done.stderr)
exchange.answers[BOOK] = problem(404, "not_found")
perp.run(*watch, code=3)
script = iter([(200, book), ("close", None), problem(503, "not_ready"), (200, book)])
exchange.answer = lambda method, target: next(script)
done = perp.run(*watch, "--count", "4")
check(len(done.stdout.splitlines()) == 2, done)
check("closed the connection" in done.stderr and "not_ready" in done.stderr, done.stderr)
