"""heavy_deaf_streams.py BUILD - over TCP and in real time: a stream that takes nothing for 75 s is
closed (wire.md W9), one that says nothing and one that sends a pong each second; one that reads
stays.
"""
import contextlib
import re
import sys
import time
from random import Random

import client
from harness import Table, perpd_program
from test_streams import World, follow_book, place_bids
from world import ETH
from ws_client import PONG, frame

DEAF_S, LATE_S = 75, 60  # a machine may stop for that long


def metric(exchange, name):
    return int(re.search(rf"^perpd_net_{name} (\d+)$", exchange.admin("/metrics").body.decode(),
                         re.M)[1])


def drain(stream):
    """Takes what has come, heartbeats too."""
    stream.ask(op="ping", id=1)
    while stream.next(beats=True).get("id") != 1:
        pass


def ends(stream):
    """Whether it ends behind what was sent."""
    try:
        while True:
            stream.take()
    except TimeoutError:
        return False
    except (EOFError, OSError):
        return True


def main():
    table, random = Table(), Random(75)
    perpd = client.Perpd(perpd_program(), "--exchange.oracle_max_age_ms=0", *client.LONG_WINDOW,
                         *client.SMALL_TABLES)
    with perpd:
        world = World(perpd)
        account = world.account(1_000_000)
        (silent, _), (loud, _) = (follow_book(table, world, narrow=True) for _ in range(2))
        reader, _ = follow_book(table, world)
        # The kernels take what they may; then bytes wait of both, and no fewer a while later.
        waiting = 0
        while waiting == 0 or waiting > metric(world.exchange, "output_bytes"):
            for _ in range(100):
                place_bids(world, account, random)
                account.cancel_all(asset=ETH)
                drain(reader)
            waiting = metric(world.exchange, "output_bytes")
            time.sleep(1)
        begun, former = time.monotonic(), metric(world.exchange, "timeouts_total")
        while time.monotonic() - begun < DEAF_S - 15:
            time.sleep(1)
            drain(reader)
            world.exchange.get("/api/v1/time")  # the connection of requests is not idle
            loud.raw(frame(PONG))
        table.same("not before", metric(world.exchange, "timeouts_total"), former)
        while time.monotonic() - begun < DEAF_S + LATE_S and \
                metric(world.exchange, "timeouts_total") < former + 2:
            time.sleep(1)
            drain(reader)
            world.exchange.get("/api/v1/time")
            with contextlib.suppress(OSError):
                loud.raw(frame(PONG))
        print(f"closed after {time.monotonic() - begun:.0f} s")
        table.true("the silent one ends", ends(silent))
        table.true("the one that talks ends", ends(loud))
        drain(reader)
    print(*table.wrong, sep="\n")
    return int(bool(table.wrong))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
