"""test_hostile_reads.py - reads, settings and amendments of peers that mean harm, while one good
client trades: what test_hostile.py asks of every phase is asked of these.
"""
import json
import random
import struct
import sys
import threading
import time

from client import (CANCEL, CREATE_API_KEY, IOC, JSON, PATIENCE_S, PLACE_LIMIT, PLACE_MARKET,
                    REDUCE, REPLACE, REVOKE_ALL, REVOKE_API_KEY, Account, Secp256k1Key,
                    api_key_body, cancel_body, id_text, limit_body, market_order_body, new_id,
                    reduce_body, replace_body, request_bytes)
from harness import PHASE_S, Suite
from test_hostile import NET_THREADS, OUTPUT_POOL, REPLIES, SEED, USDC, answers, main, phase

suite = Suite("hostile_reads")
READS_S = PHASE_S / 2
# Unknown ids spread over a whole index, whose huge pages nothing touched before: it grows once, by
# as much for 400 ids as for 80,000.
ID_INDEX = 16 << 20
LISTS = ("/api/v1/orders?", "/api/v1/fills?subaccount_index=0&", "/api/v1/positions?",
         "/api/v1/markets/BTC-PERP/trades?", "/api/v1/markets/BTC-PERP/book?",
         "/api/v1/portfolio/balance?", "/api/v1/portfolio/cash_balances?", "/api/v1/subaccounts?",
         "/api/v1/account?", "/api/v1/status?", "/api/v1/limits?")
NAMES = ("limit", "offset", "before_sequence", "before_index", "portfolio_index",
         "subaccount_index", "market", "status", "depth", "x", "", "%6cimit", "LIMIT", "limit[]")
VALUES = ("0", "1", "-0", "-1", "+1", "1000", "1001", "00001", "9" * 19, "9" * 20, "9" * 4_000,
          "18446744073709551615", "18446744073709551616", "9223372036854775807", "1e3", "0x10",
          "1.5", "NaN", "null", "", "%", "%0", "%zz", "%00", "%31", "%2531", "%C0%80", "%FF",
          "%ED%A0%80", "\xe9", "1+1", "1;limit=2", "'%20OR%201=1", "../..", "BTC-PERP", "OPEN",
          "%42TC-PERP", "BTC%2dPERP", "A" * 8_000)
READS = (200, 400, 403, 404)


def keyed(world, path, more=()):
    return request_bytes("GET", path, None, [("X-API-KEY", world.account.api_key), *more])


def fill_account(world, orders):
    """Orders and fills of the hostile account, so that its lists are long; all ended at the end."""
    if getattr(world, "filled", 0) >= orders:
        return
    other = Account(world.exchange, 1_000_000 * USDC)
    session, number = world.account.session, world.account.id
    with world.exchange.open() as connection:
        for begin in range(world.filled if hasattr(world, "filled") else 0, orders, 100):
            data = b"".join(world.exchange.signed(
                PLACE_LIMIT, limit_body(number, 1_000_000, -20), session, None, True)
                for _ in range(100))
            connection.send(data)
            for _ in range(100):
                connection.receive()
            other.limit(1_000_000, 2_000, expiry=0)
            world.filled = begin + 100


@phase(least=5, orders=2_000, to=suite)
def strange_parameters(world, table):
    """Any query of any read: 200, 400, 403 or 404, and every 200 is a list within its limit."""
    fill_account(world, 1_000)
    going = world.going(2 * READS_S)
    number, connection = 0, world.exchange.open()
    while going():
        number += 1
        source = world.random
        pairs = [f"{source.choice(NAMES)}={source.choice(VALUES)}"
                 for _ in range(source.choice((1, 1, 2, 3, 8)))]
        if number % 50 == 0:
            pairs = pairs * 40 + ["&" * 200]
        path = source.choice(LISTS) + source.choice(("&", "&", "?", "&&", "#")).join(pairs)
        row = f"seed {SEED}, query {number}: {path:.200}"
        try:
            response = connection.exchange(keyed(world, path))
        except (EOFError, ConnectionError):
            table.true(row, False, "closed without an answer")
            connection = world.exchange.open()
            continue
        table.true(row, response.status in (*READS, 431), response)
        if response.status == 200 and isinstance(response.json, list):
            table.true(row, len(response.json) <= 1_000, len(response.json))
        if response.status in (400, 431) and response.header("connection") == "close":
            connection.close()
            connection = world.exchange.open()
    connection.close()


@phase(least=1, to=suite)
def bodies_and_methods(world, table):
    """W10: a GET with a body is 400 and a close; HEAD 405; what follows a close is not read."""
    going = world.going(READS_S)
    while going():
        ask_with_bodies_and_methods(world, table)


def ask_with_bodies_and_methods(world, table):
    path = "/api/v1/orders?limit=1"
    for body in (b"x", b"{}", b" " * 4_000, b"0\r\n\r\n"):
        with world.exchange.open() as connection:
            connection.send(request_bytes("GET", path, body, [("X-API-KEY",
                                                               world.account.api_key)]))
            response = connection.receive()
            table.problem(f"GET with {body!r:.20}", response, 400, "malformed_request")
            table.true("closed", connection.closed(), body)
    chunked = (b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\n"
               b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")
    with world.exchange.open() as connection:
        connection.send(chunked)
        table.same("GET, chunked", [response.status for response in answers(
            connection, table, "chunked")], [400])
    with world.exchange.open() as connection:
        connection.send(request_bytes("HEAD", path, None, [("X-API-KEY", world.account.api_key)]))
        table.same("HEAD", connection.receive(body=False).status, 405)
    for method in ("TRACE", "CONNECT", "PROPFIND", "get", "G" * 300, "OPTIONS"):
        response = world.exchange.raw(request_bytes(method, path, None, [
            ("X-API-KEY", world.account.api_key)]))
        wanted = (204,) if method == "OPTIONS" else (400, 405, 404)  # W7
        table.true(method, response.status in wanted, response)
    with world.exchange.open() as connection:  # a length of 0 is no body
        response = connection.exchange(request_bytes("GET", path, b"", [
            ("X-API-KEY", world.account.api_key)]))
        table.true("Content-Length: 0", response.status in (200, 400), response)


def together(table, count, work):
    """Runs work(number) on threads; an exception is a fault."""
    def guarded(number):
        try:
            work(number)
        except Exception as error:
            table.true(f"thread {number}", False, repr(error))

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def descending(table, row, response):
    """True for a page in its order, False for a 503 not_ready; anything else is a fault."""
    if response.status == 503:
        table.same(row, response.json.get("code"), "not_ready")
        return False
    if not table.same(row, response.status, 200):
        return False
    body = response.json
    rows = body["trades"] if isinstance(body, dict) else body
    places = [(record["sequence"], record["index"]) for record in rows]
    table.true(f"{row}: strictly descending", places == sorted(set(places), reverse=True), row)
    return True


@phase(least=5, orders=4_000, growth=NET_THREADS * REPLIES, to=suite)
def pages_in_floods(world, table):
    """Thousands of pipelined lists while orders flow: every answer whole and right, or 503."""
    fill_account(world, 3_000)
    paths = [f"{path}limit={limit}&offset={offset}" for path in (LISTS[0], LISTS[1], LISTS[3])
             for limit in (1, 100, 1000) for offset in (0, 1_500, 2_999, 10**6, 2**63 - 1)
             if path != LISTS[3] or offset == 0]
    served, refused = [0] * 6, [0] * 6
    going = world.going(2 * READS_S, lambda: sum(served) > sum(refused))
    data = b"".join(keyed(world, path) for path in paths)

    def work(number):
        with world.exchange.open() as connection:
            if number == 0:  # orders flow meanwhile
                while going():
                    order_id = new_id()
                    world.account.limit(900_000, 20, order_id)
                    world.account.cancel(order_id)
                return
            while going():
                connection.send(data)
                for path in paths:
                    if descending(table, path, connection.receive()):
                        served[number] += 1
                    else:
                        refused[number] += 1

    together(table, 6, work)
    print(f"    {sum(served)} lists, {sum(refused)} times not_ready")
    table.true("lists are served", sum(served) > sum(refused), (served, refused))


@phase(least=5, orders=4_000, growth=NET_THREADS * (OUTPUT_POOL + REPLIES), to=suite)
def pages_never_read(world, table):
    """Floods of the largest pages on 40 connections, none read; then closed: nothing is left."""
    fill_account(world, 3_000)
    data = keyed(world, "/api/v1/orders?limit=1000") * 100
    held = [world.exchange.open() for _ in range(40)]
    for connection in held:
        connection.socket.setblocking(False)
        try:
            connection.send(data)
        except OSError:
            pass
    going, served, count = world.going(READS_S), 0, 0
    while going():
        response = world.exchange.get("/api/v1/orders?limit=10", world.account.api_key)
        served += descending(table, "another reader", response)
        count += 1
        time.sleep(0.01)
    print(f"    another reader: {served} of {count} served")
    # Replies may all be out for a moment; once all of them stall, nobody else is kept waiting.
    until, in_a_row = time.monotonic() + PATIENCE_S, 0
    while in_a_row < 20 and time.monotonic() < until:
        response = world.exchange.get("/api/v1/orders?limit=1000", world.account.api_key)
        in_a_row = in_a_row + 1 if descending(table, "another reader", response) else 0
    table.true("another reader, twenty pages in a row", in_a_row == 20, in_a_row)
    reader = held.pop()
    reader.socket.setblocking(True)
    reader.socket.settimeout(3)
    served = 0
    try:
        for _ in range(50):
            served += descending(table, "read at last", reader.receive())
    except (EOFError, ConnectionError, TimeoutError):
        pass  # what did not fit into the socket was never sent
    print(f"    read at last: {served} pages")
    for connection in (reader, *held):
        connection.close()


@phase(least=5, orders=20_000, growth=NET_THREADS * REPLIES, to=suite)
def deep_pages(world, table):
    """Pages that look at 20,000 rows to show none, 64 behind each other on six connections: each
    is answered, and a reader of one row is not kept waiting or refused for long."""
    account, exchange = Account(world.exchange, 1_000_000 * USDC), world.exchange
    with exchange.open() as connection:
        for _ in range(200):
            connection.send(b"".join(exchange.signed(
                PLACE_LIMIT, limit_body(account.id, 900_000, 20, expiry=IOC), account.session,
                None, True) for _ in range(100)))
            for _ in range(100):
                connection.receive()
    deep = [f"/api/v1/orders?{query}" for query in (
        "status=UNTRIGGERED", "market=SOL-PERP", "offset=19990&limit=10", "offset=20000")]
    slowest, served, refused = [0.0], [0] * 7, [0] * 7
    going = world.going(2 * READS_S, lambda: served[0] > 10 * refused[0])

    def work(number):
        with exchange.open() as connection:
            while going():
                paths = [deep[at % 4] for at in range(64)] if number else [
                    "/api/v1/orders?limit=1"]
                begun = time.monotonic()
                connection.send(b"".join(request_bytes("GET", path, None, [
                    ("X-API-KEY", account.api_key)]) for path in paths))
                for path in paths:
                    response = connection.receive()
                    good = descending(table, path, response)
                    (served if good else refused)[number] += 1
                    if good:
                        table.same(f"{path}: rows", len(response.json),
                                   1 if number == 0 else 10 if "limit=10" in path else 0)
                if number == 0:
                    slowest[0] = max(slowest[0], time.monotonic() - begun)

    together(table, 7, work)
    print(f"    deep: {sum(served[1:])} served, {sum(refused[1:])} refused; one row: {served[0]}"
          f" served, {refused[0]} refused, slowest {slowest[0] * 1000:.0f} ms")
    table.true("one row is served", served[0] > 10 * refused[0], (served[0], refused[0]))


@phase(least=5, orders=2_000, to=suite)
def settings_in_floods(world, table):
    """PUT /leverage by six at once, good and nonsense, with revoked keys in between."""
    going = world.going(READS_S)
    account, exchange = world.account, world.exchange
    key = exchange.ack(CREATE_API_KEY, api_key_body(account.id, scope=1),
                       account.session)["api_key"]

    def work(number):
        source = random.Random(SEED + number)
        with exchange.open() as connection:
            while going():
                body = {"leverage": source.choice((1, 2, 20, 50, 51, 0, -1, 2**31, 2**63, 2**64,
                                                   1.5, "7", None, True, [], {})),
                        "market": source.choice(("BTC-PERP", "BTC-PERP", "SOL-PERP", "NONE", "",
                                                 "\0", "A" * 3_000, 7)),
                        "portfolio_index": source.choice((0, 0, 0, 1, -1, 2**31, "0")),
                        "subaccount_index": source.choice((0, 0, 0, 1, 2**32, None))}
                text = json.dumps(body).encode()
                if source.random() < 0.2:
                    text = text[:source.randrange(len(text))] + source.randbytes(3)
                used = key if source.random() < 0.9 else key[:-2] + "A="
                row = f"seed {SEED}, {text!r:.300}"
                response = connection.exchange(request_bytes(
                    "PUT", "/api/v1/leverage", text, [JSON, ("X-API-KEY", used)]))
                table.true(row, response.status in (200, 400, 401, 404, 409, 503), response)
                if response.status == 200:
                    table.same(row, response.json["leverage"], body["leverage"])

    together(table, 6, work)


@phase(least=5, orders=6_000, to=suite)
def amendments_in_storms(world, table):
    """Six connections amend, reduce, take and cancel the same few orders; the sums stay right."""
    exchange, account = world.exchange, Account(world.exchange, 1_000_000 * USDC)
    taker = Account(exchange, 1_000_000 * USDC)
    statuses = set(exchange.get("/api/v1/exchange").json["statuses"])
    shared = [new_id() for _ in range(4)]
    for order_id in shared:
        account.limit(1_020_000, -5_000, order_id)
    going = world.going(2 * READS_S)

    def work(number):
        source = random.Random(SEED + number)
        with exchange.open() as connection:
            while going():
                at = source.randrange(4)
                order_id, kind, who = shared[at], source.randrange(6), account
                if kind == 0:
                    code, body = REDUCE, reduce_body(account.id, order_id, source.randrange(1, 99))
                elif kind in (1, 2):
                    code, body = REPLACE, replace_body(
                        account.id, order_id, 1_020_000 + source.randrange(-9, 9),
                        -source.randrange(100, 5_000), stp=source.randrange(4))
                elif kind == 3:
                    code, who = PLACE_MARKET, taker
                    body = market_order_body(taker.id, source.choice((-50, 50)), stp=1)
                elif kind == 4 and source.random() < 0.05:
                    code, body = CANCEL, cancel_body(account.id, order_id)
                else:
                    code, order = PLACE_LIMIT, new_id()
                    body = limit_body(account.id, 1_020_000, -source.randrange(50, 500),
                                      stp=source.randrange(4))
                    shared[at] = order
                response = connection.exchange(exchange.signed(
                    code, body, who.session, order if code == PLACE_LIMIT else None,
                    source.random() < 0.5, [("X-Ack", "full")] if source.random() < 0.5 else ()))
                table.true(f"seed {SEED}, code {code}", response.status == 200
                           and response.json["status"] in statuses, response)

    together(table, 6, work)
    for who in (account, taker):
        who.cancel_all()
    audit = exchange.audit()
    table.same("audit", [audit[f"i{index}"] for index in range(1, 7)], [True] * 6)
    table.same("recount", audit["recount_differences"], 0)
    # Every order is what its fills say.
    filled, cursor = {}, ""
    for _ in range(100):
        page = account.read(f"/api/v1/fills?subaccount_index=0&limit=1000{cursor}").json
        for record in page:
            whole, _, part = record["quantity"].partition(".")
            units = int(whole) * 100_000 + int(part.ljust(5, "0"))
            filled[record["request_id"]] = filled.get(record["request_id"], 0) + units
        if len(page) < 1000:
            break
        cursor = "&before_sequence={sequence}&before_index={index}".format(**page[-1])
    for record in account.read("/api/v1/orders?limit=1000").json:
        whole, _, part = record["filled_size"].partition(".")
        units = int(whole) * 100_000 + int(part.ljust(5, "0"))
        table.same(f"order {record['id']}: filled", units, filled.get(record["id"], 0))


@phase(least=5, orders=3_000, to=suite)
def signed_nonsense(world, table):
    """Bodies of codes 1, 2, 5, 15 and 35 with edges in every field: a status of the list or 400."""
    exchange, source = world.exchange, world.random
    account = Account(exchange, 1_000_000 * USDC)
    statuses = set(exchange.get("/api/v1/exchange").json["statuses"])
    sizes = {REDUCE: 56, REPLACE: 72, PLACE_MARKET: 40, REVOKE_ALL: 8, REVOKE_API_KEY: 24}
    edges = (0, 1, 2, 50, 2**31, 2**32 - 1, 2**40 - 1, 2**40, 2**50, 2**63 - 1, 2**63, 2**64 - 1,
             900_000, 1_000_000)
    order_id = new_id()
    account.limit(950_000, 1_000, order_id)
    going, number = world.going(READS_S), 0
    with exchange.open() as connection:
        while going():
            number += 1
            code = source.choice(list(sizes))
            body = bytearray(source.randbytes(sizes[code]) if source.random() < 0.1
                             else bytes(sizes[code]))
            for _ in range(source.randrange(5)):
                struct.pack_into("<Q", body, 8 * source.randrange(len(body) // 8),
                                 source.choice(edges))
            if source.random() < 0.9:
                struct.pack_into("<Q", body, 0, account.id)
            if code in (REDUCE, REPLACE) and source.random() < 0.8:
                body[8:32] = bytes(8) + order_id
                struct.pack_into("<HH", body, 48 if code == REDUCE else 60, 1, 0)
            if code == REPLACE and source.random() < 0.8:
                body[56:60] = bytes((source.randrange(2), source.randrange(2),
                                     source.randrange(4), 0))
            if code == PLACE_MARKET and source.random() < 0.8:
                body[8:16], body[28:40] = bytes(8), b"\1" + bytes(11)
            key = account.session if code != REVOKE_ALL else Secp256k1Key()
            response = connection.exchange(exchange.signed(
                code, bytes(body), key, None, bool(number % 2),
                [("X-Ack", "full")] if number % 3 else ()))
            row = f"seed {SEED}, code {code}, body {bytes(body).hex()}"
            if response.status == 200:
                status = response.json.get("status") or response.json.get("message")
                table.true(row, status in statuses, response)
            else:
                table.true(row, response.status == 400, response)
            if account.order(order_id).json["order_status"] not in ("OPEN", "PARTIALLY_FILLED"):
                order_id = new_id()
                account.limit(950_000, 1_000, order_id)
    account.cancel_all()


@phase(least=5, growth=ID_INDEX, to=suite)
def requests_nobody_made(world, table):
    """Thousands of unknown request and order ids, pipelined: 404 each, in order."""
    count = 0
    going = world.going(READS_S, lambda: count >= 200)
    with world.exchange.open() as connection:
        while going():
            kinds = [("requests", "request_not_found"), ("orders", "order_not_found")] * 50
            connection.send(b"".join(keyed(world, f"/api/v1/{kind}/{id_text(new_id())}")
                                     for kind, _ in kinds))
            for kind, code in kinds:
                response = connection.receive()
                table.true(kind, response.status == 404 and response.json["code"] == code,
                           response)
            count += len(kinds)
    table.true("some hundred", count >= 200, count)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(suite))
