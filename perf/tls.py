"""tls.py [--rounds N] [--seconds S] [PERPD] - what TLS costs, against the same perpd without it.

    python3 perf/tls.py build/release/perpd

Two exchanges, one with TLS (a P-256 certificate), are asked by wrk in turns, so that both meet the
same load of the machine; a column is the median of the rounds. Needs wrk. CPU is that of perpd's
process, user and system, a request; client and server share the machine.
  small    GET /api/v1/time, 16 connections that stay open
  large    GET /api/v1/openapi.json, 4 connections
  connect  GET /api/v1/time on a connection of its own each; with TLS a handshake each
  orders   signed orders (binary frames, IOC), each id once, 64 connections
"""
import os
import pathlib
import re
import ssl
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
sys.path.insert(0, str(ROOT / "tools"))
import client  # noqa: E402
import command_line  # noqa: E402
from processor import processor_s  # noqa: E402
from tls_peer import make_certificate  # noqa: E402

KINDS = {"small": ("/api/v1/time", 16, ()), "large": ("/api/v1/openapi.json", 4, ()),
         "connect": ("/api/v1/time", 16, ("-H", "Connection: close")),
         "orders": (client.PATHS[client.PLACE_LIMIT], 64, ("-s", ROOT / "perf/orders.lua"))}
ORDERS_A_SECOND = 40_000  # signed before a run: more than are asked for
BTC_PRICE = 1_000_000


def sign(account, count, file):
    """Writes orders that cancel at once, for perf/orders.lua."""
    body = client.limit_body(account.id, BTC_PRICE - 1000, 20, client.IOC)
    with open(file, "wb") as out:
        for _ in range(count):
            payload = client.payload_of(client.PLACE_LIMIT, body, account.session)
            out.write(client.frame(payload, account.session.public, account.session.sign(payload)))


def run(perpd, scheme, kind, seconds):
    """Requests a second, microseconds of perpd's CPU a request."""
    path, connections, more = KINDS[kind]
    frames = perpd.folder / "frames"
    if kind == "orders":
        sign(perpd.trader, seconds * ORDERS_A_SECOND, frames)
    before = processor_s(perpd.process)
    said = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", *more,
                           f"{scheme}://127.0.0.1:{perpd.exchange.port}{path}"],
                          capture_output=True, text=True, check=True,
                          env={**os.environ, "PERF_FRAMES": str(frames)}).stdout
    if "Non-2xx" in said:
        sys.exit(f"perf/tls.py: {kind}: {said}")
    count = int(re.search(r"(\d+) requests in", said)[1])
    rate = float(re.search(r"Requests/sec:\s*([\d.]+)", said)[1])
    return rate, (processor_s(perpd.process) - before) / count * 1e6


def value_of(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def main():
    rounds, seconds = value_of("--rounds", 5), value_of("--seconds", 2)
    words = [word for at, word in enumerate(sys.argv[1:], 1)
             if not word.startswith("--") and not sys.argv[at - 1].startswith("--")]
    program = pathlib.Path(words[0] if words else "build/release/perpd").resolve()
    with tempfile.TemporaryDirectory(prefix="perpd-tls-") as name:
        pair = make_certificate(pathlib.Path(name), "perf")
        options = (*client.SMALL_TABLES, "--exchange.oracle_max_age_ms=0",
                   "--limits.rate_limits=off", "--limits.connections=16384")
        with client.Perpd(program, *options) as plain, client.Perpd(
                program, *options, f"--net.tls_certificate={pair[0]}",
                f"--net.tls_key={pair[1]}") as secure:
            context = ssl.create_default_context(cafile=pair[0])
            secure.exchange.wrap_socket = lambda raw: context.wrap_socket(
                raw, server_hostname="localhost")
            for perpd in (plain, secure):
                perpd.exchange.set_price(BTC_PRICE)
                perpd.trader = client.Account(perpd.exchange, 100_000_000_000)
            measure(plain, secure, rounds, seconds)


def measure(plain, secure, rounds, seconds):
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs, {rounds} rounds of {seconds} s")
    print("kind     plain/s   TLS/s  plain us  TLS us")
    for kind in KINDS:
        rows = [(run(plain, "http", kind, seconds), run(secure, "https", kind, seconds))
                for _ in range(rounds)]
        middle = [statistics.median(row[place][part] for row in rows)
                  for part in (0, 1) for place in (0, 1)]
        print(f"{kind:8}{middle[0]:8.0f}{middle[1]:8.0f}{middle[2]:10.1f}{middle[3]:8.1f}")
    text = secure.exchange.admin("/metrics").body.decode()
    made, took = (int(re.search(rf"^perpd_net_tls_{name} (\d+)$", text, re.M)[1])
                  for name in ("handshakes_total", "handshake_ns_total"))
    print(f"{made} handshakes, {took / made / 1e3:.0f} us of the net thread each")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        command_line.check(__doc__, 0, 0)
    main()
