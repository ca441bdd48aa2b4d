"""tls_crowd.py - a case of test_tls.py: more handshakes from one address than there are places.
"""
import os
import resource
import socket
import time

from client import PATIENCE_S, Connection, request_bytes
from harness import Table
from tls_peer import TlsSocket
from world import seen


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
                connection = Connection.__new__(Connection)
                connection.socket = TlsSocket(raw, world.context).handshake()
                connection.buffer = b""
                answer = connection.exchange(request_bytes("GET", "/api/v1/time"))
                table.same("older, of another address", answer.status, 200)
        except (EOFError, OSError) as error:
            table.true("older, of another address", False, repr(error))
        for raw in quiet + held:
            raw.close()
        if time.monotonic() - begun < 9:
            return table.wrong
    print("five times 10 s were too short for the crowd to connect: nothing was learned")
    return []
