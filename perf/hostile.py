#!/usr/bin/env python3
"""hostile.py KIND - a hostile peer to run next to a measurement, until it is killed.

    build/release/perf-orders --seconds 8 --beside "python3 perf/hostile.py slow"

PERF_URL names the exchange, PERF_KEY an API key of an account with many portfolios (`portfolios`),
PERF_OPERATOR the seed of the operator's key, as base64: eight accounts get 2,000 USDC each.
Kinds are below. All come from 127.77.0.0/16.
"""
import base64
import collections
import contextlib
import json
import os
import pathlib
import resource
import select
import socket
import sys
import time
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "system"))
import client  # noqa: E402
import ws_client  # noqa: E402
from eip712 import CREATE_PORTFOLIO  # noqa: E402
from request_body import ITEM_PLACE, batch_body, batch_item  # noqa: E402
from request_body import conditional_body, portfolio_body  # noqa: E402

SLOW, FORGERS = 5_000, 16
CONDITIONAL, BATCH = 6, 8


class Exchange(client.Exchange):
    """It has the creations of accounts of 127.77.0.0/16 too, not those that a measurement needs."""

    def open(self, timeout=client.PATIENCE_S, source="127.77.1.1"):
        return super().open(timeout, source)


def connect(port, source):
    """From the source-th address of 127.77.0.0/16."""
    address = f"127.77.{source // 250}.{source % 250 + 1}"
    return socket.create_connection(("127.0.0.1", port), 10, (address, 0))


def slow(port):
    text = client.request_bytes("GET", "/api/v1/time", headers=[("X-Slow", "y" * 4_000)])
    held = [connect(port, 1 + number % 20) for number in range(SLOW)]
    for at in range(len(text)):
        begun = time.monotonic()
        for number, connection in enumerate(held):
            try:
                connection.send(text[at:at + 1])
            except OSError:  # the server closed it
                connection.close()
                held[number] = connect(port, 1 + number % 20)
        time.sleep(max(0.0, 1 - (time.monotonic() - begun)))


def flood(port, count, piece, sources, first=b""):
    """Each connection sends `first`, has one `piece` in flight and sends the next when an answer
    arrives. They are of so many addresses."""
    held = []
    for number in range(count):
        connection = connect(port, 1 + number % sources)
        connection.sendall(first or piece)
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
    exchange = Exchange(port, None, None, None, None)
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
    flood(port, FORGERS, orders, FORGERS)


def get(path, *headers):
    return client.request_bytes("GET", path, headers=headers)


def keyreads(port):
    """Reads of one key, far above its rate, on 64 connections of one address."""
    read = get("/api/v1/orders", ("X-API-KEY", os.environ["PERF_KEY"]))
    flood(port, 64, read * 64, 1)


def portfolios(port):
    """Of each connection one positions and one balances after the other."""
    key = ("X-API-KEY", os.environ["PERF_KEY"])
    flood(port, 4, get("/api/v1/positions", key) + get("/api/v1/portfolio/cash_balances", key), 4)


def deaf(port):
    """Connections that send as much as they are let and read nothing."""
    held = [connect(port, 1 + number % 8) for number in range(256)]
    piece = get("/api/v1/markets") * 512
    left = {connection: piece for connection in held}
    for connection in held:
        connection.setblocking(False)
    while True:
        for connection in select.select([], held, [], 1)[1]:
            try:
                sent = connection.send(left[connection])
                left[connection] = left[connection][sent:] or piece
            except BlockingIOError:
                pass
            except OSError:
                held[held.index(connection)] = again = connect(port, 1)
                again.setblocking(False)
                left[again] = piece


def idle(port):
    """16,400 connections that ask nothing, of 41 addresses; those that are closed come again. With
    poll() each look would take the kernel milliseconds, in which nothing else runs there."""
    held = {}
    with select.epoll() as look:
        def come(source):
            try:
                connection = connect(port, source)
            except OSError:
                return
            held[connection.fileno()] = connection, source
            look.register(connection, select.EPOLLIN)

        for number in range(16_400):
            come(1 + number % 41)
        while True:
            for file, _ in look.poll(1, 200):
                connection, source = held.pop(file)
                connection.close()
                come(source)
            time.sleep(0.01)


def creations(port):
    """Accounts as fast as they can be signed, each of the next of 250 addresses."""
    exchange = Exchange(port, None, None, None, None)
    held = {}
    for number in range(1 << 30):
        source = 1 + number % 250
        if source not in held:
            held[source] = connect(port, source)
        request = exchange.signed(client.CREATE_ACCOUNT,
                                  client.account_body(client.Ed25519Key().public),
                                  client.Secp256k1Key())
        try:
            held[source].sendall(request)
            if not held[source].recv(1 << 16):
                raise ConnectionError
        except OSError:
            held.pop(source).close()


def burst(port):
    """300 orders at once on one connection of an account without money, again and again."""
    exchange = Exchange(port, None, None, None, None)
    account = client.Account(exchange)
    with client.Connection(port, source="127.77.0.1") as connection:
        while True:
            for _ in range(300):
                payload = client.payload_of(client.PLACE_LIMIT, client.limit_body(
                    account.id, 400_000, 20), account.session)
                connection.send(exchange.wrap(client.PATHS[client.PLACE_LIMIT], payload,
                                              account.session, binary=True))
            for _ in range(300):
                connection.receive()


def rich_accounts(port):
    """The exchange, and eight accounts of the class full."""
    operator = client.Ed25519Key(base64.b64decode(os.environ["PERF_OPERATOR"]))
    exchange = Exchange(port, None, operator, None, None)
    return exchange, [client.Account(exchange, 2_000 * 10**6) for _ in range(8)]


def in_turns(port, accounts, requests):
    """Each account has a connection of an address of its own and so many requests in flight as
    requests(account, answers of before) gives."""
    with contextlib.ExitStack() as stack:
        held = {account: stack.enter_context(client.Connection(port, source=f"127.77.0.{number}"))
                for number, account in enumerate(accounts, 1)}
        flying = dict.fromkeys(accounts, 0)
        while True:
            for account, connection in held.items():
                answers = [connection.receive() for _ in range(flying[account])]
                data = requests(account, answers)
                connection.send(b"".join(data))
                flying[account] = len(data)


def commands(port, path, body):
    """Signed commands of eight accounts, 16 of each in flight."""
    exchange, accounts = rich_accounts(port)

    def requests(account, _):
        return [exchange.wrap(path, client.payload_of(*body(account), account.session),
                              account.session, binary=True) for _ in range(16)]
    in_turns(port, accounts, requests)


def conditional(account):
    return CONDITIONAL, conditional_body(account.id, 400_000, -20)


def batch(account):
    """64 orders far from the book, which have their ids in the set of duplicates."""
    return BATCH, batch_body(account.id, [batch_item(ITEM_PLACE, 400_000, 100, client.new_id())
                                          for _ in range(64)])


def portfolio(account):
    return CREATE_PORTFOLIO, portfolio_body(account.id)


def leverages(port):
    """PUT /leverage of eight keys that may write, of 5 and 20, the default, in turns."""
    exchange, accounts = rich_accounts(port)
    keys = {account: exchange.ack(client.CREATE_API_KEY, client.api_key_body(account.id, scope=1),
                                  account.session)["api_key"] for account in accounts}

    def requests(account, _):
        return [client.request_bytes("PUT", "/api/v1/leverage", json.dumps(
            {"subaccount_index": 0, "portfolio_index": 0, "market": "BTC-PERP",
             "leverage": leverage}).encode(), [client.JSON, ("X-API-KEY", keys[account])])
                for leverage in (5, 20) * 8]
    in_turns(port, accounts, requests)


def credentials(port):
    """API keys that are made and revoked."""
    exchange, accounts = rich_accounts(port)

    def requests(account, answers):
        made = [answer.json["api_key_id"] for answer in answers
                if "api_key_id" in (answer.json or {})]
        if not made:
            return [exchange.signed(client.CREATE_API_KEY, client.api_key_body(account.id),
                                    account.session) for _ in range(16)]
        return [exchange.signed(client.REVOKE_API_KEY, client.revoke_key_body(
            account.id, uuid.UUID(key).bytes), account.session) for key in made]
    in_turns(port, accounts, requests)


def streams(port, count, piece, sources):
    """The same on WebSockets: each has one `piece` in flight."""
    flood(port, count, piece, sources, ws_client.handshake())


def halves(port):
    """2,000 streams of 20 addresses, each sending a byte a second of a message that never ends."""
    held = [connect(port, 1 + number % 20) for number in range(2_000)]
    for connection in held:
        connection.sendall(ws_client.handshake())
    data = ws_client.frame(ws_client.TEXT, b" " * 16_000)
    for at in range(len(data) - 1):
        begun = time.monotonic()
        for connection in held:
            try:
                connection.send(data[at:at + 1])
                connection.recv(1 << 16, socket.MSG_DONTWAIT)
            except OSError:  # nothing to read, or the server has closed it
                pass
        time.sleep(max(0.0, 1 - (time.monotonic() - begun)))


def text(**op):
    return ws_client.frame(ws_client.TEXT, json.dumps(op).encode())


Kind = collections.namedtuple("Kind", "text settles_s run")
TIME, MISSING = get("/api/v1/time"), get("/api/v1/nothing")
UNKNOWN = get("/api/v1/account", ("X-API-KEY", "A" * 43))
BOOK = get("/api/v1/markets/BTC-PERP/book?depth=1000")
PINGS = ws_client.frame(ws_client.PING, b"x" * 125) * 64
OPS = text(op="ping") * 64
SUBSCRIBES = (text(op="subscribe", channel="book_l3", market="BTC-PERP") +
              text(op="unsubscribe", channel="book_l3", market="BTC-PERP")) * 5_000
KINDS = {
    "slow": Kind("5,000 connections, each sending one byte of a request a second", 3, slow),
    "forged": Kind("16 connections that send orders of a live session with wrong signatures", 0.5,
                   forged),
    "reads1": Kind("1 connection, 64 reads at a time", 0.3,
                   lambda port: flood(port, 1, TIME * 64, 1)),
    "reads16": Kind("16 of one address", 0.3, lambda port: flood(port, 16, TIME * 64, 1)),
    "reads64": Kind("64 of one address", 0.5, lambda port: flood(port, 64, TIME * 64, 1)),
    "readers": Kind("64 of 64 addresses", 0.5, lambda port: flood(port, 64, TIME * 64, 64)),
    "missing": Kind("64 of 64 addresses that ask for what is not there", 0.5,
                    lambda port: flood(port, 64, MISSING * 64, 64)),
    "unknown": Kind("64 of 64 addresses with an unknown API key", 0.5,
                    lambda port: flood(port, 64, UNKNOWN * 64, 64)),
    "keyreads": Kind("64 of one address that read with one key", 0.5, keyreads),
    "books": Kind("256 of 64 addresses that ask for 1,000 levels a side", 0.5,
                  lambda port: flood(port, 256, BOOK * 16, 64)),
    "portfolios": Kind("4 connections: positions and balances of 16,384 portfolios", 0.3,
                       portfolios),
    "deaf": Kind("256 connections with full input that read nothing", 1, deaf),
    "idle": Kind("16,400 connections that ask nothing", 5, idle),
    "creations": Kind("accounts at full speed from 250 addresses", 0.3, creations),
    "pings": Kind("64 streams of 64 addresses, 64 pings of 125 bytes at a time", 0.5,
                  lambda port: streams(port, 64, PINGS, 64)),
    "ops": Kind("64 streams of 64 addresses, 64 of the op ping at a time", 0.5,
                lambda port: streams(port, 64, OPS, 64)),
    "halves": Kind("2,000 streams, each sending one byte of a message a second", 3, halves),
    "subscribes": Kind("16 streams of 16 addresses, 10,000 subscribes and ends at a time", 0.5,
                       lambda port: streams(port, 16, SUBSCRIBES, 16)),
    "fillers": Kind("8 accounts that open portfolios at full speed", 1, lambda port: commands(
        port, "/api/v1/portfolio/create", portfolio)),
    "conditionals": Kind("8 accounts that place orders that wait", 1, lambda port: commands(
        port, "/api/v1/trading/order/place/conditional", conditional)),
    "leverages": Kind("8 accounts that set a leverage, and the default again", 1, leverages),
    "credentials": Kind("8 accounts that make and revoke API keys", 1, credentials),
    "batches": Kind("8 accounts that place 64 orders at a time", 1, lambda port: commands(
        port, "/api/v1/trading/order/batch", batch)),
    "burst": Kind("300 orders at once on one connection", 0.3, burst),
}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in KINDS:
        sys.exit(__doc__ + "\n".join(f"  {name:13}{kind.text}" for name, kind in KINDS.items()))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    KINDS[sys.argv[1]].run(urllib.parse.urlsplit(os.environ["PERF_URL"]).port)


if __name__ == "__main__":
    main()
