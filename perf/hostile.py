#!/usr/bin/env python3
"""hostile.py KIND - a hostile peer to run next to a measurement, until it is killed.

    build/release/perf-orders --seconds 8 --beside "python3 perf/hostile.py slow"

PERF_URL names the exchange. KIND:
  slow    5,000 connections, each sending one byte of a request a second
  reads   64 connections that ask for /api/v1/time, 64 at a time, as fast as they are answered
  forged  16 connections that send orders of a live session with wrong signatures, 32 at a time
"""
import os
import pathlib
import resource
import select
import socket
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "system"))
import client  # noqa: E402

SLOW, READERS, FORGERS = 5_000, 64, 16


def connect(port):
    return socket.create_connection(("127.0.0.1", port), 10)


def slow(port):
    text = client.request_bytes("GET", "/api/v1/time", headers=[("X-Slow", "y" * 4_000)])
    held = [connect(port) for _ in range(SLOW)]
    for at in range(len(text)):
        begun = time.monotonic()
        for number, connection in enumerate(held):
            try:
                connection.send(text[at:at + 1])
            except OSError:  # the server closed it
                connection.close()
                held[number] = connect(port)
        time.sleep(max(0.0, 1 - (time.monotonic() - begun)))


def flood(port, count, piece):
    """Each connection has one `piece` in flight and sends the next when an answer arrives."""
    held = []
    for _ in range(count):
        connection = connect(port)
        connection.sendall(piece)
        connection.setblocking(False)
        held.append(connection)
    left = {connection: b"" for connection in held}  # the rest of a piece that was sent in part
    while held:
        for connection in select.select(held, [], [])[0]:
            try:
                if not connection.recv(1 << 20):
                    raise ConnectionError
                data = left[connection] or piece
                left[connection] = data[connection.send(data):]
            except BlockingIOError:
                pass
            except OSError:
                held.remove(connection)


def forged(port):
    exchange = client.Exchange(port, None, None, None)
    account = client.Account(exchange)
    orders = b""
    for _ in range(32):
        payload = client.payload_of(client.PLACE_LIMIT, client.limit_body(account.id, 900_000, 100),
                                    account.session)
        signature = bytearray(account.session.sign(payload))
        signature[40] ^= 1
        data = client.frame(payload, account.session.public, bytes(signature))
        orders += client.request_bytes("POST", client.PATHS[client.PLACE_LIMIT], data,
                                       [("Content-Type", "application/octet-stream")])
    flood(port, FORGERS, orders)


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("slow", "reads", "forged"):
        sys.exit(__doc__)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    port = urllib.parse.urlsplit(os.environ["PERF_URL"]).port
    if sys.argv[1] == "slow":
        slow(port)
    elif sys.argv[1] == "reads":
        flood(port, READERS, client.request_bytes("GET", "/api/v1/time") * 64)
    else:
        forged(port)


if __name__ == "__main__":
    main()
