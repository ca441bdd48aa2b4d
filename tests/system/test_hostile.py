"""test_hostile.py - peers that mean harm or are broken, while one good client trades: no crash, no
500, memory bounded, the good client served, every later answer right, /audit balanced.

The data directory is in memory where it can be: what a peer can do to others is asked here, not
how long the machine's disk is busy with other tests. All randomness is seeded: HOSTILE_SEED=n
repeats a run, the seed is printed. Limits of time, not of count, so that a sanitizer build does the
same work more slowly and not for longer; but a phase lasts until the good client has done its
rounds and the phase enough to be judged, however slow the machine is.
"""
import errno
import multiprocessing
import os
import pathlib
import random
import re
import resource
import select
import socket
import struct
import sys
import threading
import time

import client
from client import (CANCEL, CANCEL_ALL, CREATE_ACCOUNT, CREATE_API_KEY, CREATE_SESSION, DEPOSIT,
                    JSON, MARKET_DEFINE, OCTETS, ORACLE_PRICE, PATHS, PATIENCE_S, PLACE_LIMIT,
                    REVOKE_SESSION, Account, Connection, Ed25519Key, Perpd, Secp256k1Key, envelope,
                    frame, id_text, limit_body, new_id, payload_of, request_bytes)
from harness import PHASE_S, Suite, Table, only, perpd_program

suite = Suite("hostile")
SEED = int(os.environ.get("HOSTILE_SEED", random.SystemRandom().randrange(10**6)))
USDC = 1_000_000
LATE_S = 20  # in a flood of so long the first ids leave their window (W5)
OUTPUT_POOL = 64 << 20
# Tables of fixed size come into use page by page: what a phase may add, what each round of orders
# may (measured: 8 KiB at first, under 1 KiB after 20,000), and what all of them together may.
PHASE_GROWTH_MAX = 16 << 20
ROUND_GROWTH_MAX = 12 << 10
NET_THREADS = int(os.environ.get("PERPD_NET_THREADS", "1"))
REPLIES = 64 * (512 << 10)  # pages in progress of one net thread
GROWTH_MAX = NET_THREADS * (OUTPUT_POOL + REPLIES) + (192 << 20)


class GoodClient:
    """Places, reads and cancels, one after the other, for as long as the suite runs: a process of
    its own, so that what it waits for is the server and not this suite's interpreter."""

    def __init__(self, exchange):
        self.exchange = exchange
        self.account = Account(exchange, 1_000_000 * USDC)
        fork = multiprocessing.get_context("fork")
        self._rounds, self._not_ready = fork.Value("q", 0), fork.Value("q", 0)
        self._slowest, self._done = fork.Value("d", 0.0), fork.Event()
        self._wrong = fork.Queue()
        self._process = fork.Process(target=self.run, daemon=True)
        self.wrong = []

    def start(self):
        self._process.start()

    def stop(self):
        self._done.set()
        self._process.join(PATIENCE_S)
        return self.faults()

    def lap(self):
        """Rounds so far and the slowest since the last call, in seconds."""
        slowest, self._slowest.value = self._slowest.value, 0.0
        return self._rounds.value, slowest

    def lives(self):
        return self._process.is_alive()

    @property
    def rounds(self):
        return self._rounds.value

    @property
    def not_ready(self):
        return self._not_ready.value

    def faults(self):
        while not self._wrong.empty():
            self.wrong.append("the good client: " + self._wrong.get())
        return self.wrong

    def run(self):
        self.exchange.forget_connections()
        while not self._done.is_set():
            begun = time.monotonic()
            try:
                self.round()
            except Exception as error:
                self._wrong.put(repr(error))
                return
            self._slowest.value = max(self._slowest.value, time.monotonic() - begun)
            self._rounds.value += 1

    def round(self):
        order_id = new_id()
        self.expect(self.account.limit(900_000, 20, order_id)["status"], "request_completed")
        response = self.account.order(order_id)
        until = time.monotonic() + PATIENCE_S
        while response.status == 503 and time.monotonic() < until:  # Flow control: replies all out
            self._not_ready.value += 1
            time.sleep(0.02)
            response = self.account.order(order_id)
        record = response.json
        self.expect((record.get("id"), record.get("order_status", record.get("code"))),
                    (id_text(order_id), "OPEN"))
        self.expect(self.account.cancel(order_id)["status"], "request_completed")

    def expect(self, got, want):
        if got != want:
            raise AssertionError(f"expected {want}, got {got}")


class World:
    def __init__(self, perpd):
        self.perpd, self.exchange = perpd, perpd.exchange
        self.random = random.Random(SEED)
        self.exchange.set_price(1_000_000)
        self.account = Account(self.exchange, 1_000_000 * USDC)
        self.good = GoodClient(self.exchange)
        for _ in range(200):
            self.good.round()
        self.warm = perpd.rss_bytes()
        self.wanted = 0  # rounds of the good client at which a phase may end
        self.good.start()

    def going(self, seconds, enough=lambda: True):
        """Gives what says whether a phase goes on: for so long, and until the good client has done
        its rounds and `enough` agrees. Neither is waited for in vain for ever."""
        end, limit = time.monotonic() + seconds, time.monotonic() + PATIENCE_S

        def goes_on():
            now = time.monotonic()
            return now < end or (now < limit and self.good.lives() and not (
                self.good.rounds >= self.wanted and enough()))
        return goes_on

    def order(self, binary=False):
        key = self.account.session
        payload = payload_of(PLACE_LIMIT, limit_body(self.account.id, 900_000, 20), key)
        if binary:
            return request_bytes("POST", PATHS[PLACE_LIMIT],
                                 frame(payload, key.public, key.sign(payload)), [OCTETS])
        return request_bytes("POST", PATHS[PLACE_LIMIT],
                             envelope(payload, key.public, key.sign(payload)), [JSON])


def phase(least, orders=0, growth=0, to=suite):
    """The case runs beside the good client, which must finish so many rounds meanwhile. Orders:
    how many it places itself, at most; growth: bytes that its own buffers may take."""
    def wrap(function):
        def run(world):
            table = Table()
            (rounds, _), before = world.good.lap(), world.perpd.rss_bytes()
            world.wanted = rounds + least
            function(world, table)
            now, slowest = world.good.lap()
            rounds = now - rounds
            table.true("the process lives", world.perpd.process.poll() is None, world.perpd.log())
            table.true("the good client is served", rounds >= least,
                       f"{rounds} rounds, slowest {slowest:.2f} s")
            table.wrong += world.good.faults()
            after = world.perpd.rss_bytes()
            allowed = PHASE_GROWTH_MAX + growth + ROUND_GROWTH_MAX * (rounds + orders)
            if not world.instrumented:
                table.true("memory of the phase", after - before <= allowed,
                           f"grew by {(after - before) >> 20} MiB, {allowed >> 20} allowed")
                table.true("memory", after - world.warm <= GROWTH_MAX,
                           f"grew by {(after - world.warm) >> 20} MiB")
            print(f"  {function.__name__}: {rounds} rounds of the good client, slowest"
                  f" {slowest * 1000:.0f} ms, {(after - before) >> 20} MiB more,"
                  f" {world.good.not_ready} times not_ready so far")
            return table.wrong
        run.__name__, run.__doc__ = function.__name__, function.__doc__
        return to.case(run)
    return wrap


def answers(connection, table, row, allowed=None):
    """Everything that comes until the server closes or is silent: a list of responses."""
    got = []
    try:
        while True:
            got.append(connection.receive())
    except (EOFError, ConnectionError, TimeoutError):
        pass
    for response in got:
        if response.status >= 500 or (allowed and response.status not in allowed):
            table.true(row, False, response)
    return got


@phase(least=5)
def random_bytes(world, table):
    """Anything on the wire is answered 4xx or closed; never 2xx, never 5xx."""
    going = world.going(PHASE_S)
    number = 0
    while going():
        number += 1
        data = world.random.randbytes(world.random.choice((1, 7, 100, 2_000, 30_000)))
        kind = world.random.randrange(4)
        if kind == 1:
            data = data.replace(b"\0", b"\r\n") + b"\r\n\r\n"
        elif kind == 2:
            data = f"POST {PATHS[PLACE_LIMIT]} HTTP/1.1\r\nHost: localhost\r\n".encode() + data
        elif kind == 3:
            data = request_bytes("POST", PATHS[PLACE_LIMIT], data, [OCTETS])
        with world.exchange.open() as connection:
            try:
                connection.send(data)
                connection.socket.shutdown(socket.SHUT_WR)
            except ConnectionError:
                continue
            except OSError as error:
                if error.errno != errno.ENOTCONN:
                    raise
                continue
            answers(connection, table, f"seed {SEED}, bytes {number}",
                    (400, 404, 405, 408, 413, 415, 431))


def mutated(source, data):
    data = bytearray(data)
    for _ in range(source.choice((1, 1, 1, 2, 5))):
        kind, at = source.randrange(7), source.randrange(len(data))
        if kind == 0:
            data[at] ^= 1 << source.randrange(8)
        elif kind == 1:
            data[at] = source.randrange(256)
        elif kind == 2:
            del data[at:at + source.choice((1, 2, 16, 200))]
        elif kind == 3:
            data[at:at] = source.randbytes(source.choice((1, 2, 16)))
        elif kind == 4:
            end = at + source.choice((1, 8, 60))
            data[at:at] = data[at:end]
        elif kind == 5:
            data[at:at] = source.choice((b"\r\n", b"\0", b"\n", b"\r", b"\x80", b": ", b"{", b'"',
                                         b"\\u0000", b"0x", b"-", b"18446744073709551616"))
        else:
            del data[at:]
        if not data:
            data = bytearray(b"\n")
    return bytes(data)


@phase(least=5, orders=1_000)
def mutations(world, table):
    """A changed request is refused or, where the change means nothing, executed as it stands."""
    going = world.going(2 * PHASE_S)
    number = 0
    while going():
        number += 1
        good = world.order(binary=number % 2 == 0)
        bad = mutated(world.random, good)
        with world.exchange.open(timeout=5) as connection:
            try:
                connection.send(bad)
                connection.socket.shutdown(socket.SHUT_WR)
            except OSError:
                continue
            got = answers(connection, table, f"seed {SEED}, mutation {number}")
        signed = good.split(b"\r\n\r\n", 1)[1]
        for response in got:
            if number % 2 == 0 and response.status == 200 and signed not in bad:
                body = response.json
                table.true(f"seed {SEED}, mutation {number}: a changed frame is executed",
                           body.get("status") not in ("request_completed",), (bad, body))


@phase(least=5, orders=3_000)
def signed_nonsense(world, table):
    """Bodies of random bytes under good signatures, every code: a status of the list or a 400."""
    exchange, account, source = world.exchange, world.account, world.random
    statuses = set(exchange.get("/api/v1/exchange").json["statuses"])
    sizes = {PLACE_LIMIT: 48, CANCEL: 40, CANCEL_ALL: 24, CREATE_ACCOUNT: 80, CREATE_SESSION: 56,
             REVOKE_SESSION: 40, CREATE_API_KEY: 48, ORACLE_PRICE: 24, DEPOSIT: 56,
             MARKET_DEFINE: 96}
    edges = (0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1, 2**40 - 1, 2**40, 2**50, 2**60, 2**63 - 1, 2**63,
             2**64 - 2, 2**64 - 1, 1_000_000, 900_000)

    def body_of(code):
        body = bytearray(source.randbytes(sizes[code]) if source.random() < 0.2
                         else bytes(sizes[code]))
        for _ in range(source.randrange(6)):
            at = 8 * source.randrange(len(body) // 8)
            struct.pack_into("<Q", body, at, source.choice(edges))
        if code == MARKET_DEFINE:
            text = source.choice((b"{", b"[[[[[[[[[[[[", b'{"market":', b'{"tiers":[', b'"', b"1e9",
                                  b'{"a":"\\ud800"}', b"\xff"))
            return (text * source.randrange(1, 300))[:4_000].ljust(4_000, b"\0")
        if code not in (CREATE_ACCOUNT, ORACLE_PRICE) and source.random() < 0.9:
            struct.pack_into("<Q", body, 0, account.id)
            if code in (PLACE_LIMIT, CANCEL, CANCEL_ALL, DEPOSIT) and source.random() < 0.9:
                body[8:16] = bytes(8)
            if code == PLACE_LIMIT and source.random() < 0.9:
                body[40:48] = bytes((source.randrange(2), source.randrange(2), source.randrange(4),
                                     0, source.randrange(1, 4), 0, 0, 0))
        return bytes(body)

    going = world.going(PHASE_S)
    number = 0
    with exchange.open() as connection:
        while going():
            number += 1
            code = source.choice(list(sizes))
            if code in (CREATE_SESSION, REVOKE_SESSION):
                key = account.master
            elif code == CREATE_ACCOUNT:
                key = Secp256k1Key()
            elif code >= 1000:
                key = exchange.oracle if code == ORACLE_PRICE else exchange.operator
            else:
                key = account.session
            body = body_of(code)
            if code == REVOKE_SESSION and account.session.public in body:
                continue
            if code == ORACLE_PRICE and body[16:18] == b"\1\0":
                continue  # the good client's market keeps its price
            row = f"seed {SEED}, code {code}, body {body.hex()}"
            response = connection.exchange(exchange.signed(code, body, key,
                                                           binary=bool(number % 2)))
            if response.status == 200:
                status = response.json.get("status") or response.json.get("message")
                table.true(row, status in statuses, response)
            else:
                table.true(row, response.status == 400, response)
    audit = exchange.audit()
    table.same("audit", [audit[f"i{index}"] for index in range(1, 7)], [True] * 6)


@phase(least=5)
def half_open(world, table):
    """2,000 connections that begin a request and stop; they are closed and the rest is served."""
    held = []
    pieces = (b"", b"G", b"GET /api/v1/time HTTP/1.1\r\nHost: localhost\r\n", world.order()[:150],
              world.order()[:-5],
              b"POST " + PATHS[PLACE_LIMIT].encode() + b" HTTP/1.1\r\nHost: localhost\r\n"
              b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n")
    for number in range(2_000):
        try:
            connection = socket.create_connection(("127.0.0.1", world.exchange.port), PATIENCE_S)
            connection.sendall(pieces[number % len(pieces)])
        except OSError:
            break
        held.append(connection)
    table.true("connections", len(held) >= min(2_000, world.files - 100), len(held))
    table.same("a new one", world.exchange.raw(request_bytes("GET", "/api/v1/time")).status, 200)
    for connection in held:  # a byte more of each, slowly
        if connection.fileno() % 7 == 0:
            try:
                connection.send(b"x")
            except OSError:
                pass
    going = world.going(0.5)
    while going():
        time.sleep(0.01)
    table.same("a new one", world.exchange.raw(request_bytes("GET", "/api/v1/time")).status, 200)
    for connection in held:
        connection.close()


@phase(least=5, growth=NET_THREADS * (OUTPUT_POOL + REPLIES))
def never_reading(world, table):
    """Requests in floods, no answer read: the sender stalls or is closed, memory stays bounded."""
    data = request_bytes("GET", "/api/v1/markets") * 200
    held = [socket.create_connection(("127.0.0.1", world.exchange.port), PATIENCE_S)
            for _ in range(40)]
    for connection in held:
        connection.setblocking(False)
    sent = dict.fromkeys(held, 0)
    going = world.going(PHASE_S)
    open_ones = set(held)
    while going():
        _, writable, _ = select.select([], open_ones, [], 0.1)
        for connection in writable:
            at = sent[connection] % len(data)
            try:
                sent[connection] += connection.send(data[at:])
            except BlockingIOError:
                pass
            except OSError:
                open_ones.discard(connection)
    if not world.instrumented:
        grown = world.perpd.rss_bytes() - world.warm
        table.true("memory meanwhile", grown <= GROWTH_MAX, f"grew by {grown >> 20} MiB")
    # One that stalled reads at last: whole answers, in order, none mixed up.
    whole = 0
    if open_ones:
        connection = Connection(world.exchange.port)
        connection.socket.close()
        connection.socket = open_ones.pop()
        connection.socket.settimeout(PATIENCE_S)
        try:
            while whole < 200:
                response = connection.receive()
                table.true("a whole answer", response.status in (200, 503) and response.json,
                           response)
                whole += 1
                connection.socket.settimeout(2)  # what did not fit into the socket was never sent
        except (EOFError, ConnectionError, TimeoutError):
            pass
        connection.close()
        table.true("answers wait for their reader", whole > 0, whole)
    for connection in held:
        connection.close()


@phase(least=5)
def endless_heads(world, table):
    """Headers without end: 431, and a close soon after, however much still comes."""
    for number in range(4):
        with world.exchange.open() as connection:
            begun = time.monotonic()
            closed = False
            try:
                connection.send(b"GET /api/v1/time HTTP/1.1\r\nHost: localhost\r\n")
                while time.monotonic() - begun < PATIENCE_S:
                    connection.send(f"X-{number}: ".encode() + b"y" * 5_000 if number % 2
                                    else b"X: y\r\n" * 100)
                    time.sleep(0.001)
            except OSError:
                closed = True
            table.true("closed in time", closed, f"{time.monotonic() - begun:.1f} s")
    going = world.going(0)
    while going():
        time.sleep(0.01)


@phase(least=5, orders=3_000)
def opened_and_closed(world, table):
    """Connections by the thousand, closed or reset at once, some in the middle of an answer: not
    more than the server can keep up with on a shared machine, or only its backlog is measured."""
    begun, going = time.monotonic(), world.going(PHASE_S, lambda: number > 100)
    reset = struct.pack("ii", 1, 0)
    number = 0
    order = world.order()
    while going():
        if number >= 1_000 * min(time.monotonic() - begun, PHASE_S):  # a bound, to catch up with
            time.sleep(0.005)
            continue
        number += 1
        try:
            connection = socket.create_connection(("127.0.0.1", world.exchange.port), PATIENCE_S)
            if number % 3 == 1:
                connection.sendall(order)
            elif number % 3 == 2:
                connection.sendall(request_bytes("GET", "/api/v1/exchange") * 5)
            if number % 2:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            connection.close()
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                table.true("connect", False, error)
                break
            time.sleep(0.01)
    table.true("some hundred", number > 100, number)


def flood(world, table, requests, allowed):
    """Eight connections send the requests again and again and read the answers."""
    counts, begun, going = [], time.monotonic(), world.going(PHASE_S)

    def work(part):
        count, data = 0, b"".join(part)
        try:
            with world.exchange.open() as connection:
                while going():
                    connection.send(data)
                    for _ in part:
                        response = connection.receive()
                        text = response.body.decode()
                        late = time.monotonic() > begun + LATE_S
                        if not any(word in text for word in allowed) and not (
                                late and "request_timestamp_out_of_window" in text):
                            table.true("an answer of the flood", False, response)
                            return
                    count += len(part)
        except Exception as error:
            table.true("a connection of the flood", False, repr(error))
        counts.append(count)

    threads = [threading.Thread(target=work, args=(requests[at::8],)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"    {sum(counts) / (time.monotonic() - begun):.0f} answers/s")


@phase(least=10)
def bad_signatures(world, table):
    """Good keys, bad signatures of both curves: 401, and good orders pass meanwhile."""
    requests = []
    for number in range(160):
        if number % 4:
            key = world.account.session
            payload = payload_of(PLACE_LIMIT, limit_body(world.account.id, 900_000, 20), key)
            path = PATHS[PLACE_LIMIT]
        else:
            key = world.account.master
            payload = payload_of(CREATE_SESSION, client.session_body(
                world.account.id, Ed25519Key().public), key)
            path = PATHS[CREATE_SESSION]
        signature = bytearray(key.sign(payload, world.exchange.salt))
        signature[10] ^= 1
        requests.append(request_bytes("POST", path, frame(payload, key.public, bytes(signature)),
                                      [OCTETS]))
    flood(world, table, requests, ("invalid_signature", "rate_limited"))


@phase(least=10)
def unknown_keys(world, table):
    """Good signatures of keys nobody knows: refused without a sequence."""
    before = world.exchange.get("/api/v1/time").header("x-sequence")
    requests = []
    for _ in range(160):
        key = Ed25519Key()
        payload = payload_of(PLACE_LIMIT, limit_body(world.account.id, 900_000, 20), key)
        requests.append(request_bytes("POST", PATHS[PLACE_LIMIT],
                                      frame(payload, key.public, key.sign(payload)), [OCTETS]))
    flood(world, table, requests, ("rejected_unauthorized", "rate_limited"))
    table.true("sequences", before is not None, before)


@phase(least=10)
def replays(world, table):
    """The same good orders again and again, above an account's rate: nothing grows."""
    requests = [world.order(binary=bool(number % 2)) for number in range(160)]
    flood(world, table, requests, ("request_completed", "duplicate_request_id",
                                   "rejected_rate_limited"))
    world.account.cancel_all()


def afterwards(world):
    """The server still answers rightly, the books balance, nothing was logged as an error."""
    table = Table()
    table.wrong += world.good.stop()
    exchange = world.exchange
    account = Account(exchange, 1_000 * USDC)
    order_id = new_id()
    table.same("an order", account.limit(900_000, 20, order_id)["status"], "request_completed")
    table.same("is shown", account.order(order_id).json["order_status"], "OPEN")
    table.same("a balance", account.read(
        "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0").json["equity"], "1000")
    audit = exchange.audit()
    table.same("audit", [audit[f"i{index}"] for index in range(1, 7)], [True] * 6)
    table.same("recount", audit["recount_differences"], 0)
    table.same("ready", exchange.admin("/readyz").json["ready"], True)
    metrics = exchange.admin("/metrics").body.decode()
    if match := re.search(r"^perpd_net_connections_open (\d+)$", metrics, re.M):
        table.true("connections are given back", int(match[1]) < 50, match[0])
    for line in world.perpd.log().splitlines():
        table.true("the log", " error " not in line and "ERROR" not in line, line)
    return table.wrong


def folder_in_memory():
    """/dev/shm if it has room for the journal's segments, else None."""
    try:
        room = os.statvfs("/dev/shm")
    except OSError:
        return None
    return "/dev/shm" if room.f_bavail * room.f_frsize >= 1 << 30 else None


def main(suite, options=("--limits.connections=16384",)):
    """Runs the phases of a suite and, at the end, what must hold after any of them."""
    suite.case(afterwards)
    program = perpd_program()
    cache = pathlib.Path(sys.argv[1]) / "CMakeCache.txt"
    instrumented = bool(cache.exists() and re.search(r"^PERPD_(SANITIZE:\w+=.|COVERAGE:\w+=ON)",
                                                     cache.read_text(), re.M))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = 8_192 if hard == resource.RLIM_INFINITY else min(8_192, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    print(f"seed {SEED}")
    perpd = Perpd(program, "--exchange.oracle_max_age_ms=0", "--node.follower_lag_max=1000",
                  f"--net.output_pool={OUTPUT_POOL}", *client.SMALL_TABLES, *options,
                  parent=folder_in_memory())
    try:
        perpd.start()
        World.instrumented, World.files = instrumented, files
        result = suite.run(World(perpd), only())
        code = perpd.stop()
        if code != 0:
            print(f"FAILED stop: exit code {code}\n{perpd.log()}")
            result = 1
        return result
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.exit(main(suite))
