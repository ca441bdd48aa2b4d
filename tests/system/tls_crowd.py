"""tls_crowd.py - cases of test_tls.py: more handshakes from one address than there are places, and
more connections than it may have.
"""
import os
import resource
import socket
import time

from client import PATIENCE_S, SMALL_TABLES, Connection, Perpd, request_bytes
from harness import Table
from tls_peer import TlsSocket
from world import seen

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
