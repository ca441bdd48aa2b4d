"""test_topology.py - what a client and an operator see of the topologies (roles.md, Threads
and budgets): threads and CPUs, several net threads on one port, reads that see what was
acknowledged on another net thread, a stop under load.

    python3 test_topology.py BUILD [CASE...]
"""
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

import client
from client import (CREATE_SESSION, PLACE_LIMIT, Account, Ed25519Key, Perpd, id_text, limit_body,
                    new_id, session_body)
from harness import Suite, Table, only, perpd_program

suite = Suite("topology")
USDC = 1_000_000
DEDICATED = ("--node.topology=dedicated", "--net.threads=3", "--engine.spin=off")
WOKEN_S = 2  # half of the longest sleep of perpd_sleeping
CONNECTIONS = 40
LOAD_S_MAX = 200
CPUS = sorted(os.sched_getaffinity(0))


class World:
    def __init__(self, program):
        self.program = program
        self.running = []

    def perpd(self, *options, program=None):
        perpd = Perpd(program or self.program, "--exchange.oracle_max_age_ms=0", *options,
                      *client.SMALL_TABLES)
        self.running.append(perpd)
        return perpd

    def end(self):
        for perpd in self.running:
            perpd.stop(signal.SIGKILL)
            perpd.remove()
        self.running = []


def threads_of(perpd):
    """Name of each thread that /metrics shows: seconds of CPU time."""
    page = perpd.exchange.admin("/metrics").body.decode()
    return {match[1]: float(match[2]) for match in
            re.finditer(r'^perpd_thread_cpu_seconds_total\{thread="([^"]+)"\} (\S+)$', page, re.M)}


def cpus_of(perpd):
    """Name of each thread of the process: the CPUs it may run on. Not those of a sanitizer."""
    found = {}
    for task in pathlib.Path(f"/proc/{perpd.process.pid}/task").iterdir():
        is_main = task.name == str(perpd.process.pid)
        if not is_main and (task / "comm").read_text().strip() == "perpd":
            continue
        allowed = re.search(r"Cpus_allowed_list:\s*(\S+)", (task / "status").read_text())[1]
        cpus = set()
        for part in allowed.split(","):
            first, _, last = part.partition("-")
            cpus |= set(range(int(first), int(last or first) + 1))
        found[(task / "comm").read_text().strip()] = cpus
    return found


def rich(exchange):
    done = exchange.set_price(1_000_000)
    assert done["status"] == "request_completed", done
    return Account(exchange, 100_000 * USDC)


@suite.case
def threads(world):
    """Each topology has its threads, and serves and stops in each."""
    table = Table()
    rows = [
        (("--node.topology=shared",), {"net-matcher", "journal-follower"}, "shared"),
        (DEDICATED, {"net-0", "net-1", "net-2", "matcher", "journal", "follower"}, "dedicated"),
        (("--node.topology=dedicated", "--net.threads=1", "--engine.spin=on"),
         {"net-0", "matcher", "journal", "follower"}, "dedicated"),
    ]
    for options, want, name in rows:
        perpd = world.perpd(*options)
        if name == "shared":  # one net thread, whatever the environment says
            perpd.options.append("--net.threads=1")
        account = rich(perpd.start())
        table.same(f"{options}: order", account.limit(900_000, 20)["status"], "request_completed")
        got = threads_of(perpd)
        if len(CPUS) > 1 or name == "dedicated":
            table.same(f"{options}: threads", sorted(got),
                       sorted(want | {"history", "keys", "prepare", "scrub"}))
        table.true(f"{options}: CPU time", sum(got.values()) > 0, got)
        page = perpd.exchange.admin("/metrics").body.decode()
        table.true(f"{options}: build info", f'topology="{name}"' in page)
        table.same(f"{options}: exit code", perpd.stop(), 0)
    return table.wrong


@suite.case
def one_cpu(world):
    """With one CPU all roles are one thread's; nothing else changes."""
    table = Table()
    perpd = world.perpd("--node.topology=shared", "--net.threads=1")
    taken = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {CPUS[0]})
    try:
        exchange = perpd.start()
    finally:
        os.sched_setaffinity(0, taken)
    account = rich(exchange)
    order = new_id()
    table.same("order", account.limit(900_000, 20, order)["status"], "request_completed")
    table.same("read", account.order(order).status, 200)
    table.same("threads", sorted(threads_of(perpd)), ["all", "history", "keys", "prepare", "scrub"])
    table.same("exit code", perpd.stop(), 0)
    return table.wrong


@suite.case
def pinned(world):
    """engine.core pins the matcher's thread; the others keep off that CPU where they can."""
    table = Table()
    core = CPUS[-1]
    for options, matcher in ((DEDICATED, "perpd-matcher"),
                             (("--node.topology=shared", "--net.threads=1"), "perpd")):
        perpd = world.perpd(*options, f"--engine.core={core}")
        rich(perpd.start())
        cpus = cpus_of(perpd)
        table.same(f"{options}: {matcher}", cpus.get(matcher), {core})
        others = set(CPUS) - {core} or {core}
        for name, allowed in cpus.items():
            if name != matcher:
                table.same(f"{options}: {name}", allowed, others)
        table.same("exit code", perpd.stop(), 0)
    return table.wrong


@suite.case
def taken_port(world):
    """A port that another perpd shares among its net threads is taken: exit 1, and it says so."""
    table = Table()
    first = world.perpd(*DEDICATED)
    port = first.start().port
    for threads in (1, 2):
        second = subprocess.run(
            [str(world.program), f"--store.data={first.folder / 'other'}", *client.SMALL_TABLES,
             "--node.topology=dedicated", f"--net.threads={threads}", "--admin.listen=127.0.0.1:0",
             f"--net.listen=127.0.0.1:{port}"], capture_output=True, text=True, timeout=200)
        table.same(f"{threads} net threads: exit code", second.returncode, 1)
        table.true("it names the option", "net.listen" in second.stderr, second.stderr[-300:])
    table.same("exit code", first.stop(), 0)
    return table.wrong


def orders_and_reads(exchange, account, key, connections, table):
    """On each connection an order, on another its read: how long each took, s."""
    orders, reads = [], []
    for number, connection in enumerate(connections):
        order, begun = new_id(), time.monotonic()
        connection.send(exchange.signed(PLACE_LIMIT, limit_body(account.id, 900_000, 20), key,
                                        order))
        table.ack(f"order {number}", connection.receive(), "request_completed")
        orders.append(time.monotonic() - begun)
        time.sleep(0.002)  # long enough that everybody sleeps
        reader = connections[(number + 7) % len(connections)]
        begun = time.monotonic()
        reader.send(client.request_bytes(
            "GET", "/api/v1/orders/" + id_text(order), None,
            [("X-API-KEY", account.api_key)]))
        table.same(f"read {number}", reader.receive().status, 200)
        reads.append(time.monotonic() - begun)
        time.sleep(0.002)
    return statistics.median(orders), statistics.median(reads)


@suite.case
def every_net_thread(world):
    """Connections are dealt out; a key made through one is known to all at once, and a read on any
    sees what was acknowledged on another (roles.md, Followers serve). Who sleeps is woken: most of
    them do not take what a thread sleeps that nobody wakes (planted/sleep.c)."""
    table = Table()
    perpd = world.perpd("--limits.open_orders=1000", *DEDICATED,
                        program=world.program.parent / "tests" / "perpd_sleeping")
    exchange = perpd.start()
    account = rich(exchange)
    connections = [exchange.open() for _ in range(CONNECTIONS)]
    key = Ed25519Key()
    exchange.ack(CREATE_SESSION, session_body(account.id, key.public), account.master)
    orders_s, reads_s = orders_and_reads(exchange, account, key, connections, table)
    table.true("orders wake who sleeps", orders_s < WOKEN_S, orders_s)
    table.true("reads wake who sleeps", reads_s < WOKEN_S, reads_s)
    used = threads_of(perpd)
    for name in ("net-0", "net-1", "net-2"):  # missed by all connections once in 3.7 million runs
        table.true(f"{name} works", used[name] > 0.0005, used)
    page = exchange.admin("/metrics").body.decode()
    counted = int(re.search(r"^perpd_net_connections_open (\d+)$", page, re.M)[1])
    table.true("connections of all are counted", counted >= len(connections), counted)
    answers = int(re.search(r'^perpd_answers_total\{status="request_completed"\} (\d+)$', page,
                            re.M)[1])
    pushed = int(re.search(r"^perpd_net_commands_pushed_total (\d+)$", page, re.M)[1])
    table.true("commands of all are counted", pushed >= answers >= CONNECTIONS, (pushed, answers))
    for connection in connections:
        connection.close()
    table.same("exit code", perpd.stop(), 0)
    return table.wrong


def load(exchange, account, stop, acknowledged):
    """Orders on one connection until the other side ends it."""
    try:
        with exchange.open() as connection:
            while not stop.is_set():
                order = new_id()
                connection.send(exchange.signed(PLACE_LIMIT, limit_body(
                    account.id, 900_000, 20), account.session, order, binary=True))
                if connection.receive().json["status"] == "request_completed":
                    acknowledged.append(order)
    except (OSError, EOFError):
        pass  # closed by the stop


@suite.case
def stop_under_load(world):
    """SIGTERM while every net thread has requests in flight: exit 0, and what was acknowledged is
    there after the next start."""
    table = Table()
    for round_number, options in enumerate((DEDICATED, DEDICATED,
                                            ("--node.topology=shared", "--net.threads=1"))):
        perpd = world.perpd("--limits.open_orders=100000", *options)
        exchange = perpd.start()
        account = rich(exchange)
        stop, acknowledged = threading.Event(), []
        clients = [threading.Thread(target=load, args=(exchange, account, stop, acknowledged))
                   for _ in range(8)]
        for thread in clients:
            thread.start()
        until = time.monotonic() + LOAD_S_MAX
        time.sleep(0.7)
        while len(acknowledged) <= 8 and time.monotonic() < until:
            time.sleep(0.01)
        begun = time.monotonic()
        table.same(f"round {round_number}: exit code", perpd.stop(), 0)
        table.true("the stop is short", time.monotonic() - begun < 60,
                   time.monotonic() - begun)
        stop.set()
        for thread in clients:
            thread.join()
        account.exchange = perpd.start()
        table.true("the stop was clean", "clean_stop=1" in perpd.log())
        table.true("there was load", len(acknowledged) > 8, len(acknowledged))
        for order in acknowledged[-20:]:
            table.same("an acknowledged order", account.order(order).status, 200)
        table.same("second exit code", perpd.stop(), 0)
    return table.wrong


def main():
    client.check_vectors()
    world = World(perpd_program())
    try:
        return suite.run(world, only())
    finally:
        world.end()


if __name__ == "__main__":
    sys.exit(main())
