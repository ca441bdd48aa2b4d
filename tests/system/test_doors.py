"""test_doors.py - who is answered at all and what every answer carries (wire.md W7, W10): Hosts,
the admin token, OPTIONS, proxies, connections of an address, X-Sequence, X-Server-Time-Ns,
Server-Timing.
"""
import re
import socket
import sys
import time

import client
from client import (JSON, PATHS, PLACE_LIMIT, Connection, envelope, limit_body, payload_of,
                    request_bytes)
from harness import Suite, Table
from world import run, seen

suite = Suite("doors")
TIME = "/api/v1/time"
PROXY, GREEDY = "127.0.0.2", "127.0.0.3"  # loopback has many addresses
HEADER = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"  # PROXY v2: TCP over IPv4
CONNECTIONS = 24  # of an address


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        exchange.set_price(1_000_000, 1)
        self.account = client.Account(exchange, 1_000_000_000_000)

    def order(self):
        key = self.account.session
        payload = payload_of(PLACE_LIMIT, limit_body(self.account.id, 900_000, 20), key)
        return payload, key.public, key.sign(payload)


def get(path=TIME, *lines, host="Host: localhost"):
    """A GET with exactly these header lines."""
    return "\r\n".join([f"GET {path} HTTP/1.1", host, *lines]).encode() + b"\r\n\r\n"


@suite.case
def hosts(world):
    """W10: both listeners take only Hosts of net.hosts, the port is not compared; else 421."""
    table = Table()
    exchange = world.exchange
    ports = (("public", exchange.port, TIME), ("admin", exchange.admin_port, "/livez"))
    foreign = ("evil.example", "localhost.evil.example", "evil.example:80", "127.0.0.2",
               "localhost@evil.example", "localhost, evil.example", "[::2]", "")
    for listener, port, path in ports:
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1", f"127.0.0.1:{port}", "[::1]"):
            with Connection(port) as connection:
                table.ok(f"{listener} {host}", connection.exchange(get(path, host=f"Host: {host}")))
        with Connection(port) as connection:  # which stays open
            for host in foreign:
                table.problem(f"{listener} {host}",
                              connection.exchange(get(path, host=f"Host: {host}")), 421,
                              "host_not_allowed")
            table.ok(f"{listener}, then", connection.exchange(get(path)))
        for target, status in (("http://localhost", 200), (f"http://127.0.0.1:{port}", 200),
                               ("http://evil.example", 421), ("http://localhost@evil", 421)):
            with Connection(port) as connection:
                table.same(f"{listener} {target}", connection.exchange(get(target + path)).status,
                           status)
                foreign_host = get(target + path, host="Host: evil.example")
                table.same(f"{listener} {target}, foreign Host",
                           connection.exchange(foreign_host).status, 421)
    for path in ("/livez", "/readyz", "/metrics", "/audit", "/admin/withdrawals", "/nowhere"):
        with Connection(exchange.admin_port) as connection:
            table.problem(f"rebound {path}",
                          connection.exchange(get(path, host="Host: evil.example")), 421,
                          "host_not_allowed")
    text = envelope(*world.order())
    head = (f"POST {PATHS[PLACE_LIMIT]} HTTP/1.1\r\nHost: evil.example\r\nContent-Length: "
            f"{len(text)}\r\nContent-Type: application/json\r\n")
    with exchange.open() as connection:
        table.problem("a write", connection.exchange(head.encode() + b"\r\n" + text), 421,
                      "host_not_allowed")
        table.ok("its body is passed over", connection.exchange(get()))
    with exchange.open() as connection:
        connection.send(head.encode() + b"Expect: 100-continue\r\n\r\n")
        table.problem("no 100", connection.receive(), 421, "host_not_allowed")
    for version in ("HTTP/1.0", "HTTP/1.1"):
        with exchange.open() as connection:
            connection.send(f"GET {TIME} {version}\r\n\r\n".encode())
            table.problem(f"{version} without Host", connection.receive(), 400,
                          "malformed_request")
            table.true(f"{version} without Host: closes", connection.closed(), "stays open")
    return table.wrong


@suite.case
def admin_token(world):
    """W10: /audit and /admin/ need the content of admin.token; the others nothing. Frames have
    bounds."""
    table = Table()
    exchange = world.exchange
    for path in ("/audit", "/admin/withdrawals"):
        for header in ((), ("Authorization: Bearer " + "0" * 64,), ("X-API-KEY: x",)):
            with Connection(exchange.admin_port) as connection:
                table.problem(f"{path} {header}", connection.exchange(get(path, *header)), 401,
                              "invalid_token")
        table.ok(path, exchange.admin(path))
    bearer = ": ".join(exchange.bearer)
    for target, status, code in (("/admin/frames?from=1", 200, None),
                                 ("/admin/frames?from=0", 400, "invalid_parameter"),
                                 ("/admin/frames?from=1&skip=1048576", 404, "not_found"),
                                 ("/admin/cluster", 404, "not_found")):
        for header, want, problem in (((), 401, "invalid_token"), ((bearer,), status, code)):
            with Connection(exchange.admin_port) as connection:
                answer = connection.exchange(get(target, *header))
                table.same(f"{target} {bool(header)}", (answer.status, answer.json.get("code")),
                           (want, problem))
    post = "POST /admin/seal HTTP/1.1\r\nHost: localhost\r\n{}Content-Length: 0\r\n\r\n"
    for header, status in (("", 401), (bearer + "\r\n", 200)):
        with Connection(exchange.admin_port) as connection:
            answer = connection.exchange(post.format(header).encode())
            table.same("POST /admin/seal", answer.status, status)
    for header, want in (("", (401, "invalid_token")), (bearer + "\r\n", (404, "not_found"))):
        with Connection(exchange.admin_port) as connection:
            answer = connection.exchange(
                post.replace("/admin/seal", "/admin/handover").format(header).encode())
            table.same("POST /admin/handover", (answer.status, answer.json["code"]), want)
    with Connection(exchange.admin_port) as connection:
        answer = connection.exchange(
            post.replace("/admin/seal", "/admin/maintenance?at_ns=0").format("").encode())
        table.same("POST /admin/maintenance", (answer.status, answer.json["code"]),
                   (401, "invalid_token"))
    for path in ("/livez", "/readyz", "/metrics"):
        with Connection(exchange.admin_port) as connection:
            answer = connection.exchange(get(path))
            table.same(f"{path} {answer.body[:200]}", answer.status, 200)
    return table.wrong


@suite.case
def options(world):
    """W7: 204 with the methods of a path that exists; nothing for pages that are not listed."""
    table = Table()
    page = "Origin: https://page.example"
    for path, methods in ((TIME, "GET"), (PATHS[PLACE_LIMIT], "POST"), ("/api/v1/leverage", "PUT"),
                          ("/api/v1/orders/x", "GET"), ("/portfolio/0/name", "PATCH")):
        for lines in ((), (page, "Access-Control-Request-Method: POST")):
            with world.exchange.open() as connection:
                response = connection.exchange(
                    get(path, *lines).replace(b"GET", b"OPTIONS", 1))
                table.same(f"{path} {lines}", response.status, 204)
                table.same(f"{path}: Allow", response.header("allow"), methods + ", OPTIONS")
                table.same(f"{path}: no body", response.header("content-length"), None)
                table.same(f"{path}: no page", response.header("access-control-allow-origin"), None)
                table.ok(f"{path}: then", connection.exchange(get()))
    with world.exchange.open() as connection:
        response = connection.exchange(get("/nowhere").replace(b"GET", b"OPTIONS", 1))
        table.problem("no path", response, 404, "not_found")
    table.same("GET", world.exchange.raw(get(TIME, page)).header("vary"), None)
    return table.wrong


@suite.case
def sequence_and_time(world):
    """W7: X-Sequence of every answer is at or above what was acknowledged; X-Server-Time-Ns."""
    table = Table()
    account = world.account
    requests = [get(TIME), get("/api/v1/exchange"), get("/api/v1/limits"), get("/nowhere"),
                get("/api/v1/markets/BTC-PERP"), get("/api/v1/eip712/13"),
                get(TIME).replace(b"GET", b"OPTIONS", 1), get("/api/v1/status"),
                get("/api/v1/account", f"X-API-KEY: {account.api_key}"), get("/api/v1/account")]
    with world.exchange.open() as connection:
        for number in range(30):
            connection.send(request_bytes("POST", PATHS[PLACE_LIMIT], envelope(*world.order()),
                                          [JSON, ("X-Timing", "1")]))
            response = connection.receive()
            ack = table.ack(f"write {number}", response, "request_completed")
            stages = [part.split(";dur=") for part in response.header("server-timing").split(", ")]
            table.same("stages", [name for name, _ in stages],
                       ["verified", "sequenced", "matched", "total"])
            times = [float(duration) for _, duration in stages]
            table.true("in order", 0 < times[0] <= times[1] <= times[2] <= times[3], times)
            connection.send(b"".join(requests))
            for request in requests:
                response = connection.receive()
                shown = int(response.header("x-sequence") or -1)
                table.true(f"{number} {request[:40]}", shown >= ack["sequence"], (shown, ack))
                late = time.time_ns() - int(response.header("x-server-time-ns") or 0)
                table.same("no-store", response.header("cache-control"), "no-store")
                table.same("nosniff", response.header("x-content-type-options"), "nosniff")
                table.true("X-Server-Time-Ns", 0 <= late < 60 * 10**9, late)
                table.same("not asked", response.header("server-timing"), None)
    return table.wrong


@suite.case
def proxies(world):
    """W10: PROXY v2 is believed, and needed, from net.proxy_from; from others it is no HTTP."""
    table = Table()
    named = HEADER + bytes((192, 0, 2, 7, 127, 0, 0, 1, 1, 2, 0, 8))

    def answer(source, data):
        address = ("127.0.0.1", world.exchange.port)
        with socket.create_connection(address, 60, source_address=(source, 0)) as connection:
            connection.sendall(data)
            try:
                return connection.recv(12)
            except ConnectionResetError:
                return b""

    table.same("named", answer(PROXY, named + get()), b"HTTP/1.1 200")
    table.same("no header", answer(PROXY, get()), b"")
    table.same("another header", answer(PROXY, b"PROXY TCP4 192.0.2.7 127.0.0.1 1 80\r\n" + get()),
               b"")
    table.same("forged", answer("127.0.0.1", named + get()), b"HTTP/1.1 400")
    table.same("from none", answer("127.0.0.1", get()), b"HTTP/1.1 200")
    return table.wrong


@suite.case
def connections(world):
    """W10: limits.connections of an address, behind a proxy of the client that it names; one more
    gets 503 and is closed. Other addresses, the admin listener and open connections do not feel
    it."""
    table = Table()
    exchange = world.exchange

    def dial(source, first=b"", port=exchange.port):
        connection = Connection.__new__(Connection)
        connection.socket = socket.create_connection(("127.0.0.1", port), 60,
                                                     source_address=(source, 0))
        connection.buffer = b""
        if first:
            connection.send(first)
        return connection

    def named(last):
        return HEADER + bytes((192, 0, 2, last, 127, 0, 0, 1, 1, 2, 0, 8))

    def refused(connection):
        try:
            table.problem("one more", connection.receive(), 503, "too_many_connections")
            table.true("one more closes", connection.closed(), "stays open")
        except OSError as error:
            table.true("one more", False, repr(error))
        connection.close()

    for source, first in ((GREEDY, b""), (PROXY, named(8))):
        held = [dial(source, first) for _ in range(CONNECTIONS)]
        for connection in held:
            table.ok("within", connection.exchange(get()))
        refused(dial(source, first))
        for connection in held:
            table.ok("open ones go on", connection.exchange(get()))
        with dial(GREEDY, port=exchange.admin_port) as connection:
            table.same("admin", connection.exchange(get("/livez")).status, 200)
        with dial("127.0.0.4") as connection:
            table.ok("another address", connection.exchange(get()))
        with dial(PROXY, named(9)) as connection:
            table.ok("another client of the proxy", connection.exchange(get()))
        response = world.account.limit(900_000, 20)
        table.same("an order of another", response["status"], "request_completed")
        held.pop().close()

        def place_is_free():
            with dial(source, first) as connection:
                try:
                    return connection.exchange(get()).status
                except OSError:
                    return None

        table.true("a place is given back", seen(place_is_free, 200), "still refused")
        for connection in held:
            connection.close()
    with Connection(exchange.admin_port) as connection:
        text = connection.exchange(get("/metrics")).body.decode()
    count = int(re.search(r"^perpd_net_connections_refused_total (\d+)$", text, re.M)[1])
    table.true("counted", count >= 2, count)
    table.same("/exchange", exchange.get("/api/v1/exchange").json["limits"]["connections"],
               CONNECTIONS)
    return table.wrong


if __name__ == "__main__":
    sys.exit(run(suite, World, ("--limits.open_orders=100", f"--net.proxy_from={PROXY}",
                                f"--limits.connections={CONNECTIONS}")))
