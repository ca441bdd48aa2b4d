"""streams.py [--subscribers N] [--rate R] [--rounds N] [--seconds S] [--of KINDS] [PERPD] - what
streams cost.

    python3 perf/streams.py --subscribers 1000 --rate 50 build/release/perpd
    python3 perf/streams.py --of trades,trades:binary,book_l3,private,private:binary

One exchange trades R times a second, each by an order of its own, in turns without subscribers and
with N of them on each of the channels of KINDS (trades), as text or `:binary`, so that both meet
the same load of the machine; a figure is the median of the rounds. One process sends, and reads all
sockets (perf/streams.c, built as perf-streams beside PERPD); it shares the machine with perpd.
  net       CPU of perpd's network threads an update and subscriber, beyond the run without any
  matcher   CPU of the matcher's thread a command, without subscribers and with them
  delay     from an acknowledgement, which leaves as soon as its command is durable, to the update
            of the same command, both as the client reads them
"""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
sys.path.insert(0, str(ROOT / "tools"))
import client  # noqa: E402
import command_line  # noqa: E402

BTC_PRICE, REQUEST_BYTES = 1_000_000, 336
OPTIONS = ("--exchange.oracle_max_age_ms=0", "--limits.rate_limits=off",
           "--limits.connections=16384", "--exchange.clock_past_ms=120000",
           "--node.topology=dedicated", "--net.threads=1", "--engine.spin=off")


def sign(account, count, file):
    """Writes requests that each take from one order that rests."""
    body = client.limit_body(account.id, BTC_PRICE, 20, client.IOC)
    with open(file, "wb") as out:
        for _ in range(count):
            payload = client.payload_of(client.PLACE_LIMIT, body, account.session)
            frame = client.frame(payload, account.session.public, account.session.sign(payload))
            head = (f"POST {client.PATHS[client.PLACE_LIMIT]} HTTP/1.1\r\nHost: localhost\r\n"
                    f"Content-Type: application/octet-stream\r\n"
                    f"Content-Length: {len(frame)}\r\nX-Pad: ").encode()
            pad = REQUEST_BYTES - len(head) - len(frame) - 4
            out.write(head + b"x" * pad + b"\r\n\r\n" + frame)


def cpu_s(perpd):
    """Seconds of CPU by thread."""
    text = perpd.exchange.admin("/metrics").body.decode()
    return {name: float(value) for name, value in re.findall(
        r'^perpd_thread_cpu_seconds_total\{thread="([^"]+)"\} ([\d.]+)$', text, re.M)}


def run(perpd, program, subscribers, rate, seconds, kind="trades"):
    """CPU by thread, trades, updates, delays."""
    channel, _, form = kind.partition(":")
    file = perpd.folder / "requests"
    sign(perpd.taker, rate * seconds, file)
    perpd.maker.limit(BTC_PRICE, -20 * rate * seconds)
    before = cpu_s(perpd)
    said = subprocess.run([program.parent / "perf-streams", str(perpd.exchange.port),
                           str(subscribers), str(rate), str(seconds), file, channel,
                           form or "text", perpd.taker.api_key],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    trades, updates, p50, p99, early = map(int, said.split())
    after = cpu_s(perpd)
    each = updates / max(1, trades * subscribers)  # of private several events
    if trades != rate * seconds or subscribers and (
            each != int(each) or each < 1 or channel != "private" and each != 1):
        sys.exit(f"perf/streams.py: {said.strip()}: not every trade came to everybody")
    used = {name: after[name] - before.get(name, 0) for name in after}
    return used, trades, p50, p99, early / max(1, updates), updates


def value_of(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def program_of_words():
    """The perpd that the command line names: its first word that belongs to no option."""
    words = [word for at, word in enumerate(sys.argv[1:], 1)
             if not word.startswith("--") and not sys.argv[at - 1].startswith("--")]
    return pathlib.Path(words[0] if words else "build/release/perpd").resolve()


def part(cpu, word):
    return sum(seconds for name, seconds in cpu.items() if word in name)


def main():
    subscribers, rate = value_of("--subscribers", 1000), value_of("--rate", 50)
    rounds, seconds = value_of("--rounds", 5), value_of("--seconds", 5)
    kinds = sys.argv[sys.argv.index("--of") + 1].split(",") if "--of" in sys.argv else ["trades"]
    program = program_of_words()
    with client.Perpd(program, *client.SMALL_TABLES, *OPTIONS,
                      f"--limits.stream_connections={subscribers + 1}") as perpd:
        perpd.exchange.set_price(BTC_PRICE)
        perpd.maker = client.Account(perpd.exchange, 100_000_000_000_000)
        perpd.taker = client.Account(perpd.exchange, 100_000_000_000_000)
        rows = {kind: [] for kind in kinds}
        for _ in range(rounds):
            bare = run(perpd, program, 0, rate, seconds)
            for kind in kinds:
                rows[kind].append((bare, run(perpd, program, subscribers, rate, seconds, kind)))
                time.sleep(0.2)
    for kind in kinds:
        report(kind, rows[kind], subscribers, rate, seconds)


def report(kind, rows, subscribers, rate, seconds):
    def middle(of):
        return statistics.median(of(bare, full) for bare, full in rows)
    net = middle(lambda bare, full: (part(full[0], "net") - part(bare[0], "net")) /
                 full[5]) * 1e6
    apart = [middle(lambda *row, at=at: part(row[at][0], "matcher") / row[at][1]) * 1e6
             for at in (0, 1)]
    ratio = middle(lambda bare, full: part(full[0], "matcher") / part(bare[0], "matcher"))
    each = rows[0][1][5] // rows[0][1][1] // subscribers
    print(f"{kind}: load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs, {len(rows)} rounds of "
          f"{seconds} s, {subscribers} subscribers, {rate} trades/s, {each} updates of each, "
          f"{each * subscribers * rate} updates/s")
    print(f"net      {net:.2f} us an update and subscriber")
    print(f"matcher  {apart[0]:.1f} us a command without subscribers, {apart[1]:.1f} with them, "
          f"ratio {ratio:.2f}")
    print(f"delay    p50 {middle(lambda bare, full: full[2]):.0f} us, "
          f"p99 {middle(lambda bare, full: full[3]):.0f} us, "
          f"{100 * middle(lambda bare, full: full[4]):.1f} % before the acknowledgement")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        command_line.check(__doc__, 0, 0)
    main()
