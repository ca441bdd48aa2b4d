"""test_http.py - HTTP as wire.md W10 states it: what is refused, what closes, what stays open, in
which order answers come, and the time a slow peer is given.
"""
import socket
import sys
import threading
import time

import client
from client import (JSON, OCTETS, PATHS, PLACE_LIMIT, Connection, b64, envelope, frame,
                    id_text, limit_body, new_id, payload_of, request_bytes)
from harness import Suite, Table
from world import run

suite = Suite("http")
TIME = "/api/v1/time"


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        exchange.set_price(1_000_000, 1)
        self.account = client.Account(exchange, 1_000_000_000_000)
        self.slow = [threading.Thread(target=check, args=(self,), daemon=True)
                     for check in self.slow_checks()]
        self.slow_wrong = []
        for thread in self.slow:
            thread.start()

    def slow_checks(self):
        return slow_head, slow_body, dripping_head, idle

    def order(self, request_id=None, **more):
        key = self.account.session
        payload = payload_of(PLACE_LIMIT, limit_body(self.account.id, 900_000, 20, **more), key,
                             request_id)
        return payload, key.public, key.sign(payload)


def get(path=TIME, *lines, version="HTTP/1.1", host="Host: localhost"):
    """A GET with exactly these header lines; latin-1, so that any byte can be sent."""
    head = [f"GET {path} {version}"] + ([host] if host else []) + list(lines)
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n"


def refused(world, table, row, data, status=400, code="malformed_request", close=True):
    with world.exchange.open() as connection:
        try:
            connection.send(data)
        except ConnectionError:
            pass  # refused before it was all sent
        try:
            table.problem(row, connection.receive(), status, code)
        except (EOFError, ConnectionError):
            table.true(row, False, "closed without an answer")
            return
        if close:
            table.true(f"{row}: closes", connection.closed(), "stays open")


@suite.case
def broken_heads(world):
    """W10: bare LF or CR, missing or second Host, obs-fold, other versions -> 400 and close."""
    table = Table()
    host = b"Host: localhost\r\n"
    line = f"GET {TIME} HTTP/1.1\r\n".encode()
    rows = [
        ("bare LF after the request line", line[:-2] + b"\n" + host + b"\r\n"),
        ("bare LF after a header", line + b"Host: localhost\n\r\n"),
        ("bare LF as the last line", line + host + b"\n"),
        ("bare LF everywhere", line[:-2] + b"\nHost: localhost\n\n"),
        ("bare CR in a value", line + host + b"X: a\rb\r\n\r\n"),
        ("bare CR before a header", line + host + b"\rX: a\r\n\r\n"),
        ("CR CR LF", line[:-2] + b"\r\r\n" + host + b"\r\n"),
        ("no Host", line + b"\r\n"),
        ("no Host among others", line + b"Accept: */*\r\nX-Host: localhost\r\n\r\n"),
        ("a second Host", line + host + b"Host: localhost\r\n\r\n"),
        ("a second Host of another case", line + host + b"X: 1\r\nhOST: other\r\n\r\n"),
        ("obs-fold", line + host + b"X: a\r\n b\r\n\r\n"),
        ("obs-fold with a tab", line + host + b"X: a\r\n\tb\r\n\r\n"),
        ("obs-fold first", line + b" Host: localhost\r\n\r\n"),
        ("a space before the colon", line + b"Host : localhost\r\n\r\n"),
        ("no colon", line + host + b"Accept\r\n\r\n"),
        ("an empty name", line + host + b": x\r\n\r\n"),
        ("a name with a space", line + host + b"X Y: x\r\n\r\n"),
        ("a name that is no token", line + host + b"X(1): x\r\n\r\n"),
        ("NUL in a value", line + host + b"X: a\0b\r\n\r\n"),
        ("NUL in the path", b"GET /api\0/v1/time HTTP/1.1\r\n" + host + b"\r\n"),
        ("a control character in the path", b"GET /api/v1/t\x01 HTTP/1.1\r\n" + host + b"\r\n"),
        ("HTTP/2.0", line.replace(b"1.1", b"2.0") + host + b"\r\n"),
        ("HTTP/1.2", line.replace(b"1.1", b"1.2") + host + b"\r\n"),
        ("HTTP/0.9", line.replace(b"1.1", b"0.9") + host + b"\r\n"),
        ("HTTP/1.10", line.replace(b"1.1", b"1.10") + host + b"\r\n"),
        ("http/1.1", line.replace(b"HTTP", b"http") + host + b"\r\n"),
        ("no version", f"GET {TIME}\r\n".encode() + host + b"\r\n"),
        ("two spaces", line.replace(b"GET ", b"GET  ") + host + b"\r\n"),
        ("a space at the end", line[:-2] + b" \r\n" + host + b"\r\n"),
        ("a tab", line.replace(b" ", b"\t") + host + b"\r\n"),
        ("no method", line[3:] + host + b"\r\n"),
        ("a method that is no token", line.replace(b"GET", b"G(T") + host + b"\r\n"),
        ("a path without a slash", b"GET api/v1/time HTTP/1.1\r\n" + host + b"\r\n"),
        ("garbage", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40) + b"\r\n\r\n"),
    ]
    for row, data in rows:
        refused(world, table, row, data)
    return table.wrong


@suite.case
def lengths(world):
    """W10: both Content-Length and Transfer-Encoding, unreadable lengths -> 400 and close."""
    table = Table()
    start = f"POST {PATHS[PLACE_LIMIT]} HTTP/1.1\r\nHost: localhost\r\nContent-Type: " \
            "application/json\r\n"
    rows = [
        ("both", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ("both, the other way round",
         "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ("two lengths that differ", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"),
        ("two lengths that agree", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"),
        ("a list of lengths", "Content-Length: 2, 2\r\n\r\n{}"),
        ("a sign", "Content-Length: +2\r\n\r\n{}"),
        ("negative", "Content-Length: -2\r\n\r\n{}"),
        ("hexadecimal", "Content-Length: 0x2\r\n\r\n{}"),
        ("empty", "Content-Length:\r\n\r\n{}"),
        ("a fraction", "Content-Length: 2.0\r\n\r\n{}"),
        ("words", "Content-Length: two\r\n\r\n{}"),
        ("space inside", "Content-Length: 1 2\r\n\r\n{}"),
        ("another coding", "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ("identity", "Transfer-Encoding: identity\r\n\r\n{}"),
        ("chunked twice", "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
        ("two headers of it",
         "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("a vertical tab", "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"),
    ]
    for row, rest in rows:
        refused(world, table, row, (start + rest).encode("latin-1"))
    for row, rest in (("a GET with a body", "Content-Length: 5\r\n\r\nhello"),
                      ("a GET in chunks", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),):
        refused(world, table, row, f"GET {TIME} HTTP/1.1\r\nHost: localhost\r\n{rest}".encode())
    with world.exchange.open() as connection:
        connection.send(f"HEAD {TIME} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
                        .encode())
        table.same("a HEAD with a body", connection.receive(body=False).status, 400)
        table.true("a HEAD with a body: closes, no body", connection.closed(), connection.buffer)
    table.ok("a GET with Content-Length: 0", world.exchange.raw(get(TIME, "Content-Length: 0")))
    return table.wrong


@suite.case
def size_of_heads(world):
    """W10: request line and headers <= 16,384 bytes and <= 64 headers, else 431."""
    table = Table()
    exchange = world.exchange
    fill = [f"X-{number}: {number}" for number in range(64)]
    table.ok("64 headers", exchange.raw(get(TIME, *fill[:63])))
    refused(world, table, "65 headers", get(TIME, *fill), 431, "headers_too_large", close=False)
    empty = len(get(TIME, "X: "))
    table.ok("16,384 bytes", exchange.raw(get(TIME, "X: " + "y" * (16_384 - empty))))
    for row, count in (("16,385 bytes", 16_385), ("20,000 bytes", 20_000),
                       ("1 MB", 1_000_000)):
        refused(world, table, row, get(TIME, "X: " + "y" * (count - empty)), 431,
                "headers_too_large", close=False)
    refused(world, table, "a long path", get("/" + "a" * 20_000), 431, "headers_too_large",
            close=False)
    refused(world, table, "no end", b"GET /" + b"a" * 40_000, 431, "headers_too_large",
            close=False)
    table.ok("a long query", exchange.raw(get(TIME + "?" + "q" * 8_000)))
    return table.wrong


@suite.case
def size_of_bodies(world):
    """W1: frame 4,241, envelope 8,192 (16,384 with credential_id); larger -> 413."""
    table = Table()
    exchange = world.exchange

    def post(length, body, kind):
        head = (f"POST {PATHS[PLACE_LIMIT]} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
                f"Content-Length: {length}\r\n\r\n")
        return exchange.raw(head.encode() + body)

    octets, plain = "application/octet-stream", "application/json"
    for row, length, kind in (("a frame of 4,242", 4_242, octets),
                              ("a frame of 1 GB", 10**9, octets),
                              ("an envelope of 16,385", 16_385, plain),
                              ("2^63", 2**63, plain), ("2^64 - 1", 2**64 - 1, plain)):
        table.problem(f"{row}, announced", post(length, b"", kind), 413, "payload_too_large")
    table.problem("a frame's bound", post(4_242, b"", octets), 413, "payload_too_large",
                  max_bytes=4_241)
    response = post(10**30, b"", plain)
    table.true("10^30", response.status in (400, 413), response)
    for kind in (octets, plain):
        chunks = b"1000\r\n" + b"x" * 4096 + b"\r\n"
        head = (f"POST {PATHS[PLACE_LIMIT]} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
                "Transfer-Encoding: chunked\r\n\r\n").encode()
        table.problem(f"chunks, {kind}", exchange.raw(head + chunks * 5), 413,
                      "payload_too_large")
    with exchange.open() as connection:
        table.problem("one huge chunk, announced", connection.exchange(head + b"ffffffff\r\n"), 413,
                      "payload_too_large")
    return table.wrong


@suite.case
def chunked_bodies(world):
    """W10: chunked bodies are accepted without trailers and extensions."""
    table = Table()
    head = (f"POST {PATHS[PLACE_LIMIT]} HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
            "application/json\r\nTransfer-Encoding: chunked\r\n\r\n").encode()

    def chunks(text, size, upper=False, zeros=""):
        out = b""
        for at in range(0, len(text), size):
            part = text[at:at + size]
            number = f"{len(part):X}" if upper else f"{len(part):x}"
            out += f"{zeros}{number}\r\n".encode() + part + b"\r\n"
        return out

    end = b"0\r\n\r\n"
    for row, size, upper, zeros in (("one chunk", 10_000, False, ""), ("of 100", 100, True, ""),
                                    ("of 1", 1, False, ""), ("zeros", 64, False, "000")):
        text = envelope(*world.order())
        response = world.exchange.raw(head + chunks(text, size, upper, zeros) + end)
        table.ack(row, response, "request_completed")
    text = chunks(envelope(*world.order()), 60)
    with world.exchange.open() as connection:
        for byte in range(0, len(head + text + end), 7):
            connection.send((head + text + end)[byte:byte + 7])
            if byte % 70 == 0:
                time.sleep(0.001)
        table.ack("seven bytes at a time", connection.receive(), "request_completed")
        connection.send(get())
        table.ok("and the next request", connection.receive())
    text = envelope(*world.order())
    good = chunks(text, 50)
    rows = [
        ("an extension", head + b"5;a=b\r\n" + text[:5] + b"\r\n" + end),
        ("a bare extension", head + b"5;\r\n" + text[:5] + b"\r\n" + end),
        ("a space", head + b"5 \r\n" + text[:5] + b"\r\n" + end),
        ("a trailer", head + good + b"0\r\nX: y\r\n\r\n"),
        ("no size", head + b"\r\n" + text[:5] + b"\r\n" + end),
        ("no hexadecimal", head + b"g\r\n" + text[:5] + b"\r\n" + end),
        ("0x", head + b"0x5\r\n" + text[:5] + b"\r\n" + end),
        ("a sign", head + b"+5\r\n" + text[:5] + b"\r\n" + end),
        ("negative", head + b"-5\r\n" + text[:5] + b"\r\n" + end),
        ("2^64 + 5", head + b"10000000000000005\r\n" + text[:5] + b"\r\n" + end),
        ("bare LF after the size", head + b"5\n" + text[:5] + b"\r\n" + end),
        ("bare LF after the data", head + b"5\r\n" + text[:5] + b"\n" + end),
        ("more data than its size", head + b"5\r\n" + text[:6] + b"\r\n" + end),
        ("an extension at the end", head + good + b"0;x\r\n\r\n"),
        ("bare LF at the end", head + good + b"0\n\n"),
    ]
    for row, data in rows:
        with world.exchange.open() as connection:
            connection.send(data)
            response = connection.receive()
            table.true(row, response.status in (400, 413), response)
            if response.status == 400:
                table.problem(row, response, 400, "malformed_request")
            table.true(f"{row}: closes", connection.closed(), "stays open")
    return table.wrong


@suite.case
def methods(world):
    """R11, step 1: path before method; HEAD -> 405 (W10) without a body that could be misread."""
    table = Table()
    exchange = world.exchange
    for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE", "get", "FROB"):
        body = b"" if method in ("POST", "PUT", "PATCH") else None
        for path in (TIME, "/api/v1/account", "/api/v1/markets/BTC-PERP/book"):
            table.problem(f"{method} {path}", exchange.raw(request_bytes(method, path, body)), 405,
                          "method_not_allowed")
    for method in ("GET", "PUT", "DELETE"):
        for path in (PATHS[PLACE_LIMIT], "/api/v1/operator", "/api/v1/account/create"):
            table.problem(f"{method} {path}", exchange.raw(request_bytes(method, path)), 405,
                          "method_not_allowed")
    for path in ("/api", "/api/v1", "/api/v1/", TIME + "/", TIME + "x", "/api/v2/time",
                 "/API/v1/time", "//api/v1/time", "/api/v1/../v1/time", "/api/v1/orders/",
                 "/api/v1/markets/", "/api/v1/markets/BTC-PERP/", "/api/v1/markets/BTC-PERP/books",
                 "/livez", "/readyz", "/metrics", "/audit", "/admin/withdrawals"):
        table.problem(f"GET {path}", exchange.raw(get(path)), 404, "not_found")
    with exchange.open() as connection:
        connection.send(request_bytes("HEAD", TIME) + get())
        response = connection.receive(body=False)
        table.same("HEAD", response.status, 405)
        table.ok("the answer behind it", connection.receive())
    for path, status in (("/livez", 200), ("/api/v1/time", 404), (PATHS[PLACE_LIMIT], 404)):
        table.same(f"admin {path}", exchange.admin(path).status, status)
    with Connection(exchange.admin_port) as connection:
        table.problem("admin POST", connection.exchange(request_bytes("POST", "/audit", b"")), 405,
                      "method_not_allowed")
    return table.wrong


@suite.case
def kept_alive(world):
    """W10: 1.1 stays open, 1.0 and Connection: close do not; header names in any case."""
    table = Table()
    with world.exchange.open() as connection:
        for number in range(5):
            table.ok(f"request {number}", connection.exchange(get()))
        table.problem("a 404", connection.exchange(get("/nowhere")), 404, "not_found")
        table.problem("a 405", connection.exchange(request_bytes("PUT", TIME, b"")), 405,
                      "method_not_allowed")
        payload, public, _ = world.order()
        bad = request_bytes("POST", PATHS[PLACE_LIMIT], envelope(payload, public, bytes(64)),
                            [JSON])
        table.problem("a 401", connection.exchange(bad), 401, "invalid_signature")
        bad = request_bytes("POST", PATHS[PLACE_LIMIT], b"{", [JSON])
        table.problem("a 400 of the content", connection.exchange(bad), 400, "malformed_json")
        bad = request_bytes("POST", PATHS[PLACE_LIMIT], b"{}", [("Content-Type", "x/y")])
        table.problem("a 415", connection.exchange(bad), 415, "unsupported_media_type")
        table.ok("still open", connection.exchange(get()))
        table.ok("close", connection.exchange(get(TIME, "Connection: close")))
        table.true("closes", connection.closed(), "stays open")
    for row, data in (("another case", get(TIME, "cOnNeCtIoN: CLOSE")),
                      ("in a list", get(TIME, "Connection: x, close")),
                      ("HTTP/1.0", get(version="HTTP/1.0"))):
        with world.exchange.open() as connection:
            table.ok(row, connection.exchange(data))
            table.true(f"{row}: closes", connection.closed(), "stays open")
    request = envelope(*world.order())
    head = (f"POST {PATHS[PLACE_LIMIT]} HTTP/1.1\r\nhOST:localhost\r\n"
            f"CONTENT-TYPE:\tapplication/json \r\ncontent-length:  {len(request)}\t\r\n\r\n"
            ).encode()
    table.ack("names and white space", world.exchange.raw(head + request), "request_completed")
    with world.exchange.open() as connection:
        connection.send(b"\r\n" + get())  # RFC 9112 2.2: a server SHOULD pass over one empty line
        response = connection.receive()
        table.true("an empty line first", response.status in (200, 400), response)
    return table.wrong


@suite.case
def expectations(world):
    """W10: Expect: 100-continue is answered 100."""
    table = Table()
    text = envelope(*world.order())
    head = (f"POST {PATHS[PLACE_LIMIT]} HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Type: application/json\r\nExpect: 100-continue\r\n"
            f"Content-Length: {len(text)}\r\n\r\n").encode()
    with world.exchange.open() as connection:
        connection.send(head)
        table.same("100", connection.receive().status, 100)
        connection.send(text)
        table.ack("then the answer", connection.receive(), "request_completed")
        table.ok("and the next", connection.exchange(get()))
    with world.exchange.open() as connection:  # a client need not wait
        connection.send(head + envelope(*world.order()))
        response = connection.receive()
        if response.status == 100:
            response = connection.receive()
        table.ack("without waiting", response, "request_completed")
    with world.exchange.open() as connection:
        connection.send(head.replace(b"/place/limit", b"/place/limitless"))
        table.problem("no 100 for a 404", connection.receive(), 404, "not_found")
    with world.exchange.open() as connection:
        connection.send(head.replace(f"{len(text)}".encode(), b"99999"))
        table.problem("no 100 for a 413", connection.receive(), 413, "payload_too_large")
    return table.wrong


@suite.case
def pipelining(world):
    """roles.md, Order within a connection: answers in request order, effects too."""
    table = Table()
    account = world.account
    key_header = ("X-API-KEY", account.api_key)

    def order(request_id, **more):
        return request_bytes("POST", PATHS[PLACE_LIMIT], envelope(*world.order(request_id, **more)),
                             [JSON])

    def read(request_id):
        return request_bytes("GET", f"/api/v1/orders/{id_text(request_id)}", None, [key_header])

    ids = [new_id() for _ in range(30)]
    with world.exchange.open() as connection:
        data = b""
        for request_id in ids:  # write, read of it, a fault, a public read
            data += order(request_id) + read(request_id) + get("/nowhere") + get(
                "/api/v1/markets/BTC-PERP")
        connection.send(data)
        last = 0
        for number, request_id in enumerate(ids):
            ack = table.ack(f"write {number}", connection.receive(), "request_completed")
            table.true("in order", ack["sequence"] > last, ack)
            last = ack["sequence"]
            response = connection.receive()
            record = table.ok(f"read {number}", response)
            table.same(f"read {number}: id", record.get("id"), id_text(request_id))
            table.true("X-Sequence", int(response.header("x-sequence")) >= last, response)
            table.problem(f"fault {number}", connection.receive(), 404, "not_found")
            table.same(f"market {number}", table.ok("market", connection.receive()).get("market"),
                       "BTC-PERP")
    # A write behind a read does not change what the read shows... it may only come later.
    first, second = new_id(), new_id()
    with world.exchange.open() as connection:
        connection.send(order(first) + read(second) + order(second) + read(second))
        table.ack("a write", connection.receive(), "request_completed")
        response = connection.receive()
        table.true("a read before its write", response.status in (200, 404), response)
        table.ack("the write behind it", connection.receive(), "request_completed")
        table.ok("the read behind it", connection.receive())
    # Split at every byte, and a request that closes in the middle.
    request_id = new_id()
    data = order(request_id) + read(request_id)
    with world.exchange.open() as connection:
        for byte in range(0, len(data), 3):
            connection.send(data[byte:byte + 3])
        table.ack("three bytes at a time", connection.receive(), "request_completed")
        table.ok("and its read", connection.receive())
    with world.exchange.open() as connection:
        connection.send(get() + get(TIME, "Connection: close") + get() + get())
        table.ok("before close", connection.receive())
        table.ok("close", connection.receive())
        table.true("nothing behind close", connection.closed(), connection.buffer)
    with world.exchange.open() as connection:
        connection.send(get() + order(new_id()) + b"GARBAGE\r\n\r\n" + get())
        table.ok("before a fault", connection.receive())
        table.ack("before a fault", connection.receive(), "request_completed")
        table.problem("the fault", connection.receive(), 400, "malformed_request")
        table.true("nothing behind the fault", connection.closed(), connection.buffer)
    account.cancel_all()
    return table.wrong


@suite.case
def half_closed(world):
    """A client that shuts its sending side still gets the answers to what it sent."""
    table = Table()
    with world.exchange.open() as connection:
        connection.send(request_bytes("POST", PATHS[PLACE_LIMIT], envelope(*world.order()), [JSON])
                        + get())
        connection.socket.shutdown(socket.SHUT_WR)
        table.ack("the order", connection.receive(), "request_completed")
        table.ok("the read", connection.receive())
        table.true("then the end", connection.closed(), "stays open")
    return table.wrong


@suite.case
def frames_and_envelopes_mixed(world):
    """Both envelopes on one connection, in any order."""
    table = Table()
    with world.exchange.open() as connection:
        for number in range(10):
            payload, public, signature = world.order()
            if number % 2:
                data = request_bytes("POST", PATHS[PLACE_LIMIT],
                                     frame(payload, public, signature), [OCTETS])
            else:
                data = request_bytes("POST", PATHS[PLACE_LIMIT],
                                     envelope(payload, public, signature), [JSON])
            table.ack(f"order {number}", connection.exchange(data), "request_completed")
    world.account.cancel_all()
    return table.wrong


# --- time: begun with the suite, asked for at its end --------------------------------------------

def within(table, row, begun, low, high):
    elapsed = time.monotonic() - begun
    table.true(f"{row}: after {low} to {high} s", low <= elapsed <= high, f"{elapsed:.1f} s")


def timed_out(world, row, data, low, high):
    table = Table()
    try:
        with world.exchange.open() as connection:
            begun = time.monotonic()
            connection.send(data)
            table.problem(row, connection.receive(), 408, "request_timeout")
            within(table, row, begun, low, high)
            table.true(f"{row}: closes", connection.closed(), "stays open")
    except Exception as error:
        table.true(row, False, repr(error))
    world.slow_wrong += table.wrong


def slow_head(world):
    timed_out(world, "a head that does not end", b"GET /api/v1/time HTTP/1.1\r\nHo", 9.5, 60)


def slow_body(world):
    timed_out(world, "a body that does not come", (
        f"POST {PATHS[PLACE_LIMIT]} HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\n"
        "Content-Length: 400\r\n\r\n{").encode(), 29.5, 90)


def dripping_head(world):
    """A byte now and then does not prolong the 10 s."""
    table = Table()
    try:
        with world.exchange.open() as connection:
            begun = time.monotonic()
            connection.send(b"GET /api/v1/time HTTP/1.1\r\nHost: localhost\r\nX: ")
            connection.socket.settimeout(0.5)
            while not connection.buffer and time.monotonic() - begun < 60:
                try:
                    connection._more()
                except TimeoutError:
                    connection.send(b"y")
            table.problem("a dripping head", connection.receive(), 408, "request_timeout")
            within(table, "a dripping head", begun, 9.5, 60)
    except Exception as error:
        table.true("a dripping head", False, repr(error))
    world.slow_wrong += table.wrong


def idle(world):
    table = Table()
    try:
        with world.exchange.open() as connection:
            table.ok("a request", connection.exchange(get()))
            time.sleep(20)
            table.ok("20 s later", connection.exchange(get()))
    except Exception as error:
        table.true("an idle connection", False, repr(error))
    world.slow_wrong += table.wrong


@suite.case
def slow_peers(world):
    """W10: 10 s from a head's first byte, 30 s for a body, else 408 and close; idle stays 75 s."""
    for thread in world.slow:
        thread.join(400)
    return world.slow_wrong


if __name__ == "__main__":
    sys.exit(run(suite, World, ()))
