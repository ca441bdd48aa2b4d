"""tls_crowd.py - cases of test_tls.py: more handshakes from one address than there are places, more
connections than it may have, and records that hold next to nothing.
"""
import os
import re
import resource
import signal
import socket
import struct
import time

from client import PATIENCE_S, SMALL_TABLES, Connection, Perpd, request_bytes
from harness import Table
from tls_peer import TlsSocket, wrapper
from world import seen

SO_TIMESTAMPNS = 35  # Linux; socket has no name for it
INTERNAL_ERROR = bytes([21, 3, 1, 0, 2, 2, 80])


def status_of(peer):
    """Of the answer to a request on this session."""
    connection = Connection.__new__(Connection)
    connection.socket, connection.buffer = peer, b""
    return connection.exchange(request_bytes("GET", "/api/v1/time")).status


def crowd(world):
    """A handshake outlives those of an address that opens more than there are places, 2,048 a net
    thread; the crowd's own are closed, the oldest first."""
    threads = int(os.environ.get("PERPD_NET_THREADS", "1"))
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    address = "127.0.0.1", world.exchange.port
    for _ in range(5):
        table, before, begun = Table(), world.counted("handshakes_evicted"), time.monotonic()
        quiet = [socket.create_connection(address, PATIENCE_S, ("127.0.0.2", 0)) for _ in range(4)]
        held = [socket.create_connection(address, PATIENCE_S) for _ in range(2_300 * threads)]
        table.true("evicted",
                   seen(lambda: world.counted("handshakes_evicted") - before >= 200, True))
        try:
            for raw in quiet:
                status = status_of(TlsSocket(raw, world.context).handshake())
                table.same("older, of another address", status, 200)
        except (EOFError, OSError) as error:
            table.true("older, of another address", False, repr(error))
        for raw in quiet + held:
            raw.close()
        if time.monotonic() - begun < 9:
            return table.wrong
    print("five times 10 s were too short for the crowd to connect: nothing was learned")
    return []


def arrival_ns(raw):
    """When the first byte of the answer came, by the kernel's clock; None: there was none."""
    _, marks, _, _ = raw.recvmsg(1, 256)
    if not marks:
        return None
    seconds, rest = struct.unpack("qq", marks[0][2])
    return seconds * 10**9 + rest


def answers_to(world, sources):
    """Sends a hello from each address to a perpd that is stopped meanwhile; when each was
    answered."""
    hello = TlsSocket(None, world.context).hello()
    address, process = ("127.0.0.1", world.exchange.port), world.perpd.process
    peers = [socket.create_connection(address, PATIENCE_S, (source, 0)) for source in sources]
    process.send_signal(signal.SIGSTOP)
    try:
        for raw in peers:
            raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            raw.sendall(hello)
    finally:
        process.send_signal(signal.SIGCONT)
    times = [arrival_ns(raw) for raw in peers]
    for raw in peers:
        raw.close()
    return times


def behind_a_crowd(world):
    """A handshake does not wait for all those of another address that came before it. A stopped
    perpd finds them together; the kernel says which it answered first."""
    table, half = Table(), ["127.0.0.3"] * 60
    for _ in range(5):
        times = answers_to(world, half + ["127.0.0.4"] + half)
        if None not in times:
            before = sum(at < times[len(half)] for at in times)
            table.true("few of the crowd came first", before < len(half) // 2, before)
            return table.wrong
    print("five times 10 s were too short for the crowd's handshakes: nothing was learned")
    return []


def connections(world):
    """W10: a connection above limits.connections gets the alert internal_error and is closed."""
    table = Table()
    certificate, key = world.pair
    perpd = Perpd(world.perpd.program, f"--net.tls_certificate={certificate}",
                  f"--net.tls_key={key}", "--limits.connections=2", *SMALL_TABLES)
    try:
        address = "127.0.0.1", perpd.start().port
        held = [TlsSocket(socket.create_connection(address, PATIENCE_S), world.context).handshake()
                for _ in range(2)]  # each network thread accepts when it likes
        with socket.create_connection(address, PATIENCE_S) as raw:
            table.same("one more", raw.recv(64), INTERNAL_ERROR)
            table.same("closed", raw.recv(64), b"")
        for peer in held:
            table.same("within", status_of(peer), 200)
        table.same("stop", perpd.stop(), 0)
    finally:
        perpd.remove()
    return table.wrong


def small_records(world):
    """W8: of records with less than 64 bytes each 16 cost the address a public read, which it may
    owe; its connections that send on are not read on."""
    table = Table()
    perpd = Perpd(world.perpd.program, "--limits.public_rate=1", "--limits.public_burst=100",
                  f"--net.tls_certificate={world.pair[0]}", f"--net.tls_key={world.pair[1]}",
                  *SMALL_TABLES)
    long = request_bytes("GET", "/api/v1/time", headers=[("X-Pad", "p" * 300)])

    def received():
        return int(re.search(r"^perpd_net_received_bytes_total (\d+)$",
                             exchange.admin("/metrics").body.decode(), re.M)[1])

    def left(connection, data, step):
        for at in range(0, len(data), step):
            connection.send(data[at:at + step])
        answer = connection.receive()
        return answer.status, int(answer.header("ratelimit-remaining"))

    try:
        exchange = perpd.start()
        exchange.wrap_socket = wrapper(world.context)
        begun = time.monotonic()

        def same(row, got, want):
            come = int(time.monotonic() - begun) + 1  # of 1 a second
            table.true(row, got[0] == 200 and want <= got[1] <= want + come, (got, want, come))

        with exchange.open(source="127.0.0.31") as one, exchange.open(source="127.0.0.31") as two:
            want = 99
            same("one record", left(one, long, len(long)), want)
            want -= 1
            same("records of 64 bytes", left(one, long, 64), want)
            want -= 1 + (len(long) - 1) // 16
            same("records of a byte", left(two, long, 1), want)
        endless = b"GET /api/v1/time HTTP/1.1\r\nX-Pad: " + b"p" * 20000
        with exchange.open(source="127.0.0.31") as flood:
            got = [0, 0]
            for turn in (0, 1):  # the first is on its way before the address owes
                for at in range(len(endless)):
                    flood.socket.tls.write(endless[at:at + 1])
                data, sent = flood.socket.take(), 0
                flood.socket.settimeout(2)
                try:
                    while sent < len(data):
                        sent += flood.socket.raw.send(data[sent:sent + 4096])
                    flood.receive()
                    table.true("no head is whole", False)
                except TimeoutError:
                    pass
                while (now := received()) > got[turn] + 1000:  # but for this question
                    got[turn] = now
                    time.sleep(0.5)
            table.true("not received from", got[1] - got[0] < 200_000 < len(data), got)
            with exchange.open(source="127.0.0.31") as again:
                answer = again.exchange(request_bytes("GET", "/api/v1/time"))
                table.problem("it owes", answer, 429, "rate_limited")
            with exchange.open(source="127.0.0.32") as other:
                answer = other.exchange(request_bytes("GET", "/api/v1/time"))
                table.same("another address", answer.status, 200)
        table.same("exit code", perpd.stop(), 0)
    finally:
        perpd.remove()
    return table.wrong
