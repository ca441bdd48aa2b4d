"""test_rates.py - what an account may have executed, from outside: its writes and its cancels in
buckets of their own, and what an address and an API key may ask (wire.md W8; rules.md R11, steps 4
and 12).

The rates are one a second, so that no verdict depends on how fast the machine is: a burst is
sent in much less than the minute that would fill the bucket again. Each case about addresses has
one of its own, of 127.0.0.0/8.
"""
import json
import sys
import time

import client
from client import (CREATE_API_KEY, CREATE_SESSION, JSON, OCTETS, PATHS, PLACE_LIMIT,
                    REVOKE_SESSION, Ed25519Key, account_body, api_key_body, frame, limit_body,
                    new_id, payload_of, request_bytes, revoke_body, session_body)
from harness import Suite, Table, perpd_program
from request_body import ITEM_PLACE, batch_body, batch_item
from soft_passkey import CREATE_PASSKEY_ACCOUNT, OPTIONS, SoftPasskey
from world import BTC, BTC_PRICE, USDC, run

suite = Suite("rates")
BURST = 64
ASKS = 40  # reads of a key, reads of an address and accounts of an address at once
LIMITS = "/api/v1/limits"
BATCH, BATCH_PATH = 8, "/api/v1/trading/order/batch"
BID = BTC_PRICE - 1000
LIMITED = "rejected_rate_limited"
PORTFOLIO = b'{"subaccount_index":0,"portfolio_index":0}'


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        done = exchange.set_price(BTC_PRICE, BTC)
        assert done["status"] == "request_completed", done

    def account(self):
        return client.Account(self.exchange, 100_000 * USDC)


def order(account, request_id, is_forged=False, headers=()):
    payload = payload_of(PLACE_LIMIT, limit_body(account.id, BID, 20), account.session, request_id)
    signature = bytes(64) if is_forged else account.session.sign(payload)
    return request_bytes("POST", PATHS[PLACE_LIMIT],
                         frame(payload, account.session.public, signature), [OCTETS, *headers])


def cancel(account, order_id):
    payload = payload_of(client.CANCEL, client.cancel_body(account.id, order_id), account.session)
    return request_bytes("POST", PATHS[client.CANCEL],
                         frame(payload, account.session.public, account.session.sign(payload)),
                         [OCTETS])


def use_up(world, account):
    """Sends twice the burst at once; the requests and their answers, in order."""
    ids = [new_id() for _ in range(2 * BURST)]
    sent = [order(account, request_id) for request_id in ids]
    with world.exchange.open() as connection:
        connection.send(b"".join(sent))
        return ids, sent, [connection.receive().json for _ in sent]


def write_key(world, account):
    return world.exchange.ack(CREATE_API_KEY, api_key_body(account.id, scope=1),
                              account.session)["api_key"]


def plain_write(key):
    body = {"subaccount_index": 0, "portfolio_index": 0, "leverage": 5, "market": "BTC-PERP"}
    return request_bytes("PUT", "/api/v1/leverage", json.dumps(body).encode(),
                         [JSON, ("X-API-KEY", key)])


def remaining(account):
    return account.read(LIMITS).json["remaining"]


@suite.case
def writes_and_cancels(world):
    """Above the burst: 200 rejected_rate_limited, no sequence, the id is not used; cancels and
    other accounts go on."""
    table = Table()
    account, other = world.account(), world.account()
    left = remaining(account)
    table.true("before: a session and a key are made", BURST - 3 <= left["write"] <= BURST, left)
    table.same("before: cancels", left["cancel"], 2 * BURST)
    ids, sent, answers = use_up(world, account)
    done = [answer["status"] == "request_completed" for answer in answers]
    table.true("the burst", BURST - 3 <= sum(done) < 2 * BURST, sum(done))
    table.true("some are refused", not all(done[-8:]), answers[-1])
    refused = done.index(False)
    table.same("refused", answers[refused]["status"], LIMITED)
    table.same("its members", sorted(answers[refused]),
               ["processed_at_ns", "retry_after_ms", "status"])
    table.true("when again", 0 < answers[refused]["retry_after_ms"] <= 1000, answers[refused])
    table.true("remaining", remaining(account)["write"] <= 1, remaining(account))
    table.same("a cancel", account.cancel(ids[0])["status"], "request_completed")
    table.true("cancels cost cancels", remaining(account)["cancel"] <= 2 * BURST, None)
    table.same("another account", other.limit(BID, 20)["status"], "request_completed")
    until = time.monotonic() + client.PATIENCE_S
    while (again := world.exchange.raw(sent[refused]).json)["status"] == LIMITED and (
            time.monotonic() < until):
        time.sleep(again["retry_after_ms"] / 1000)
    table.same("the same bytes later", again["status"], "request_completed")
    return table.wrong


@suite.case
def long_assertions(world):
    """A passkey's assertion costs one more for each full 512 bytes that the journal keeps of it."""
    table = Table()
    passkey = SoftPasskey()
    account = world.exchange.ack(CREATE_PASSKEY_ACCOUNT, account_body(Ed25519Key().public),
                                 passkey)["account_id"]
    key = world.exchange.ack(CREATE_API_KEY, api_key_body(account), passkey)["api_key"]

    def left():
        with world.exchange.open() as connection:
            return connection.exchange(request_bytes("GET", LIMITS, headers=[("X-API-KEY", key)])
                                       ).json["remaining"]["write"]

    begun, before = time.monotonic(), left()
    rows = (300, 1), (511, 1), (512, 2), (1535, 3), (1792, 4)
    for kept, _ in rows:
        payload = payload_of(CREATE_SESSION, session_body(account, Ed25519Key().public), passkey)
        data = passkey.authenticator_data()
        text = passkey.client_data(payload, pad="")
        pad = kept - 8 - len(passkey.credential_id) - len(data) - len(text)
        text = passkey.client_data(payload, pad="p" * pad)
        answer = world.exchange.raw(request_bytes(
            "POST", PATHS[CREATE_SESSION], passkey.envelope(payload, data, text), [JSON]))
        table.true(f"{kept} bytes", answer.json.get("success"), answer.body)
    spent, cost = before - left(), sum(cost for _, cost in rows)
    come = int(time.monotonic() - begun) + 1  # of 1 a second
    table.true("the cost", cost - come <= spent <= cost, (spent, cost, come))
    return table.wrong


def receipts(world, table):
    """An order that asks for its receipt costs two."""
    account = world.account()
    before, begun = remaining(account)["write"], time.monotonic()
    sent = [order(account, new_id(), headers=[("X-Ack", "receipt")]) for _ in range(20)]
    with world.exchange.open() as connection:
        connection.send(b"".join(sent))
        answers = [connection.receive().json for _ in sent]
    left = remaining(account)["write"]
    table.true("each is answered with one", all(answer["receipt"] for answer in answers), answers)
    table.true("each costs two", before - left >= 2 * len(sent) - (time.monotonic() - begun) - 1,
               (before, left))


@suite.case
def every_kind_of_write(world):
    """A batch costs its items; success style, plain writes and their problems."""
    table = Table()
    account = world.account()
    key = write_key(world, account)
    body = batch_body(account.id, [batch_item(ITEM_PLACE, BID, 20, new_id())
                                   for _ in range(BURST - 8)])
    payload = payload_of(BATCH, body, account.session)
    answer = world.exchange.raw(request_bytes(
        "POST", BATCH_PATH, frame(payload, account.session.public, account.session.sign(payload)),
        [OCTETS])).json
    table.same("a batch", (answer["status"], set(answer.get("results", []))),
               ("request_completed", {"request_completed"}))
    table.true("costs its items", remaining(account)["write"] <= 8 + client.PATIENCE_S,
               remaining(account))
    use_up(world, account)
    answer = world.exchange.ack(CREATE_SESSION, session_body(account.id, Ed25519Key().public),
                                account.master)
    table.same("success style", (answer["success"], answer["message"]), (False, LIMITED))
    table.true("success style: when", 0 < answer["retry_after_ms"] <= 1000, answer)
    place = {"portfolio_index": 0, "subaccount_index": 0}
    name = {"subaccount_index": 0, "name": "a"}
    for method, path, members in (
            ("PUT", "/api/v1/leverage", {**place, "leverage": 5, "market": "BTC-PERP"}),
            ("POST", "/api/v1/portfolio/close", place),
            ("POST", "/api/v1/portfolio/reopen", place),
            ("POST", "/api/v1/faucet", {**place, "amount": "1"}),
            ("PATCH", "/api/v1/portfolio/0/name", name), ("PATCH", "/portfolio/0/name", name)):
        response = world.exchange.raw(request_bytes(
            method, path, json.dumps(members).encode(), [JSON, ("X-API-KEY", key)]))
        table.problem(path, response, 429, "rate_limited")
        table.same(f"{path}: Retry-After", response.header("retry-after"), "1")
    body = revoke_body(account.id, account.session.public)
    table.problem("logout", world.exchange.raw(world.exchange.wrap(
        "/api/v1/logout", payload_of(REVOKE_SESSION, body, account.session), account.session)),
        429, "rate_limited")
    table.same("reads go on", account.read("/api/v1/orders").status, 200)
    receipts(world, table)
    return table.wrong


@suite.case
def plain_writes_do_not_stop_a_connection(world):
    """Above the account's rate each is answered, and the cancel behind them is executed; the
    address pays no public read."""
    table = Table()
    account = world.account()
    key = write_key(world, account)
    with world.exchange.open(source="127.0.0.21") as connection:
        before = tokens(connection.exchange(read_bytes("/api/v1/time")))[1]
        connection.send(plain_write(key) * (3 * BURST) + cancel(account, new_id()))
        answers = [connection.receive() for _ in range(3 * BURST + 1)]
        after = tokens(connection.exchange(read_bytes("/api/v1/time")))[1]
    refused = [answer.json["detail"] for answer in answers if answer.status == 429]
    table.true("refused by the account's bucket", len(refused) > BURST // 2 and
               all("write_rate" in text for text in refused), refused[:3])
    done = answers[-1].json
    table.true("a cancel behind them", "status" in done and done["status"] != LIMITED, done)
    table.true("no public read", after >= before - 1, (before, after))
    return table.wrong


def tokens(response):
    return tuple(int(response.header(f"ratelimit-{name}") or -1)
                 for name in ("limit", "remaining", "reset"))


def read_bytes(path, key=None, method="GET"):
    return request_bytes(method, path, None, [] if key is None else [("X-API-KEY", key)])


@suite.case
def reads_of_an_address(world):
    """Public reads and mistakes cost the address one each, told to the token; signed requests and
    other addresses go on."""
    table = Table()
    account = world.account()
    costly = (("a read", read_bytes("/api/v1/time"), 200),
              ("another", read_bytes("/api/v1/markets"), 200),
              ("404", read_bytes("/api/v1/nothing"), 404),
              ("405", read_bytes("/api/v1/time", method="DELETE"), 405),
              ("a bad parameter", read_bytes("/api/v1/markets/BTC-PERP/book?depth=0"), 400),
              ("a signed request's", request_bytes("POST", PATHS[PLACE_LIMIT], b"{", [JSON]), 400),
              ("a wrong signature", order(account, new_id(), is_forged=True), 401),
              ("a READ key's write", request_bytes("POST", "/api/v1/portfolio/close", PORTFOLIO,
                                                   [JSON, ("X-API-KEY", account.api_key)]), 403),
              ("text", request_bytes("POST", PATHS[PLACE_LIMIT], b"{}",
                                     [("Content-Type", "text/plain")]), 415),
              ("another host", request_bytes("GET", "/api/v1/time", None,
                                             [("Host", "evil.example")], host=False), 421),
              ("no key", read_bytes("/api/v1/account"), 401),
              ("an unknown key", read_bytes("/api/v1/account", client.b64(bytes(32))), 401),
              ("a long body", request_bytes("POST", PATHS[PLACE_LIMIT], None,
                                            [OCTETS, ("Content-Length", "65536")]), 413),
              ("a long head", request_bytes("GET", "/api/v1/time", None, [("A", "b" * 40_000)]),
               431),
              ("allowances", read_bytes(LIMITS), 200))
    with world.exchange.open(source="127.0.0.9") as connection:
        left = ASKS
        for name, data, status in costly:
            if status in (413, 431):  # they end their connection
                with world.exchange.open(source="127.0.0.9") as other:
                    response = other.exchange(data)
            else:
                response = connection.exchange(data)
            table.same(name, response.status, status)
            limit, remaining, reset = tokens(response)
            # A token comes back each second; the machine may be slow.
            table.true(f"{name}: tokens", limit == ASKS and left - 1 <= remaining < ASKS,
                       (limit, remaining))
            table.true(f"{name}: full again", ASKS - remaining <= reset + 1 <= ASKS - remaining + 2,
                       (remaining, reset))
            left = remaining
        table.same("GET /limits tells the same", response.json["remaining"]["public"], left)
        free = connection.exchange(order(account, new_id()))
        table.same("an order", (free.status, tokens(free)), (200, (-1, -1, -1)))
        keyed = connection.exchange(read_bytes("/api/v1/orders", account.api_key))
        table.true("a read with a key", keyed.status == 200 and tokens(keyed)[1] >= ASKS - 8,
                   tokens(keyed))
        connection.send(read_bytes("/api/v1/time") * (ASKS + 5))
        answers = [connection.receive() for _ in range(ASKS + 5)]
        refused = next(answer for answer in answers if answer.status != 200)
        table.problem("used up", refused, 429, "rate_limited")
        table.same("when again", (refused.header("retry-after"), tokens(refused)[1]), ("1", 0))
        table.same("an order still", connection.exchange(order(account, new_id())).json["status"],
                   "request_completed")
    with world.exchange.open(source="127.0.0.10") as connection:
        table.same("another address", connection.exchange(read_bytes("/api/v1/time")).status, 200)
    return table.wrong


@suite.case
def reads_of_a_key(world):
    """A key's reads are its own, from whatever address; a deep page costs more."""
    table = Table()
    account, other = world.account(), world.account()
    data = read_bytes("/api/v1/orders", account.api_key)
    first = account.read("/api/v1/orders")
    table.same("one", tokens(first)[:2], (ASKS, ASKS - 1))
    deep = account.read("/api/v1/orders?offset=200000")
    table.true("20 times 10,000 rows", ASKS - 22 <= tokens(deep)[1] <= ASKS - 20, tokens(deep))
    with world.exchange.open(source="127.0.0.12") as connection:
        connection.send(data * ASKS)
        answers = [connection.receive() for _ in range(ASKS)]
        table.problem("used up", answers[-1], 429, "rate_limited")
        table.same("the read after it", connection.exchange(data).status, 429)
        table.same("an order behind them", connection.exchange(order(account, new_id())).status,
                   200)
    table.same("from another address", account.read("/api/v1/orders").status, 429)
    table.same("another key", other.read("/api/v1/orders").status, 200)
    return table.wrong


@suite.case
def a_key_that_does_not_stop(world):
    """What a key's bucket refuses costs the address public reads: 16 connections that pipeline
    reads of one key get as many answers as 16 that ask without. A cancel behind such reads waits
    for a token and is executed; one of another connection of the address does not wait."""
    table = Table()
    account, done = world.account(), "request_completed"
    first, second = new_id(), new_id()
    table.same("two orders", [account.limit(BID, 20, name)["status"] for name in (first, second)],
               [done, done])
    data = read_bytes("/api/v1/orders", account.api_key)
    with world.exchange.open(source="127.0.0.19") as connection:
        connection.send(data * ASKS)
        for _ in range(ASKS):
            connection.receive()
    begun = time.monotonic()
    held = [world.exchange.open(source="127.0.0.17") for _ in range(16)]
    for connection in held:
        connection.send(data * 200)
    with (world.exchange.open(source="127.0.0.18") as behind,
          world.exchange.open(source="127.0.0.18") as other):
        behind.send(data * (ASKS + 12) + cancel(account, first))
        table.same("a cancel of another connection",
                   other.exchange(cancel(account, second)).json["status"], done)
        answers = [behind.receive() for _ in range(ASKS + 12)]
        refused = [answer for answer in answers if answer.status != 200]
        table.problem("a read", refused[0], 429, "rate_limited")
        table.same("tells of the key", tokens(refused[0])[:2], (ASKS, 0))
        table.same("the cancel behind them", behind.receive().json["status"], done)
    waited = time.monotonic() - begun  # one of the 52 may have found a token of the key
    table.true("it has waited for a token of the address", waited >= 1, waited)
    got = b"".join(drained(connection) for connection in held)
    refusals, most = got.count(b"HTTP/1.1 429 "), time.monotonic() - begun
    # Ten in a row, then each connection may have met its first refusal; a token a second.
    table.true("refusals", ASKS <= refusals <= ASKS + 10 + 16 + 11 * most, (refusals, most))
    for connection in held:
        connection.close()
    return table.wrong


@suite.case
def who_waits_is_not_refused(world):
    """After ten refusals in a row each request of the connection waits for a token and is answered
    with it: no further one is refused in between. (A machine that stands still for a second has a
    token left over, which ends the row: then it is asked again.)"""
    table, then = Table(), []
    for source in ("127.0.0.20", "127.0.0.21", "127.0.0.22"):
        with world.exchange.open(source=source) as connection:
            connection.send(read_bytes("/api/v1/time") * (20 * ASKS + 200))
            row, asked = 0, 0
            while row < 10 and asked < 20 * ASKS + 190:
                row = row + 1 if connection.receive().status == 429 else 0
                asked += 1
            then.append((row, *(connection.receive().status for _ in range(3))))
        if then[-1] == (10, 200, 200, 200):
            return table.wrong
    table.same("ten in a row, then", then, [(10, 200, 200, 200)])
    return table.wrong


@suite.case
def two_buckets_of_a_connection(world):
    """A connection waits for its address's reads, then for its accounts: each is answered."""
    table = Table()
    accounts = []
    for _ in range(ASKS + 12):
        key = client.Secp256k1Key()
        body = client.account_body(Ed25519Key().public)
        accounts.append(world.exchange.wrap(PATHS[client.CREATE_ACCOUNT],
                                            payload_of(client.CREATE_ACCOUNT, body, key), key))
    with world.exchange.open(source="127.0.0.23") as connection:
        connection.send(read_bytes("/api/v1/time") * (ASKS + 12) + b"".join(accounts))
        reads = [connection.receive().status for _ in range(ASKS + 12)]
        made = [connection.receive().json["success"] for _ in accounts]
    table.true("reads are refused", 429 in reads, reads)
    refused = made.index(False) if False in made else len(made)
    table.true("an account too", True in made[refused:], made)
    return table.wrong


@suite.case
def accounts_of_an_address(world):
    """Above the burst: rejected_rate_limited, and the same bytes pass later."""
    table = Table()
    sent, answers = [], []
    with world.exchange.open(source="127.0.0.13") as connection:
        for _ in range(ASKS + 3):
            key = client.Secp256k1Key()
            body = client.account_body(Ed25519Key().public)
            sent.append(world.exchange.wrap(PATHS[client.CREATE_ACCOUNT],
                                            payload_of(client.CREATE_ACCOUNT, body, key), key))
            answers.append(connection.exchange(sent[-1]).json)
        made = [answer["success"] for answer in answers]
        table.true("the burst", all(made[:ASKS]), made)
        if all(made):  # so slow that each new token came in time
            return table.wrong
        refused = made.index(False)
        table.same("refused", answers[refused]["message"], LIMITED)
        table.true("when again", 0 < answers[refused]["retry_after_ms"] <= 1000, answers[refused])
        until = time.monotonic() + client.PATIENCE_S
        while not (again := connection.exchange(sent[refused]).json)["success"] and (
                time.monotonic() < until):
            time.sleep(again["retry_after_ms"] / 1000)
        table.true("the same bytes later", again["success"], again)
    return table.wrong


@suite.case
def who_does_not_stop(world):
    """An address that its bucket refused ten times in a row is not answered until there is a
    token: 16 connections that pipeline reads, mistakes and unknown keys cost a few answers, and a
    maker's every order is executed beside them."""
    table = Table()
    maker = world.account()
    floods = {"127.0.0.14": read_bytes("/api/v1/time"), "127.0.0.15": read_bytes("/nothing"),
              "127.0.0.16": read_bytes("/api/v1/account", client.b64(bytes(32)))}
    connections, begun = [], time.monotonic()
    for source, data in floods.items():
        connections += [(source, world.exchange.open(source=source)) for _ in range(16)]
        for _, connection in connections[-16:]:
            connection.send(data * 200)
    done = [maker.limit(BID, 20)["status"] for _ in range(20)]
    table.same("the maker's orders", set(done), {"request_completed"})
    took = time.monotonic() - begun
    for source in floods:
        got = b"".join(drained(connection) for name, connection in connections if name == source)
        answers, refusals = got.count(b"HTTP/1.1 "), got.count(b"HTTP/1.1 429 ")
        # Ten in a row, then each connection may have met its first refusal; a token a second.
        most = time.monotonic() - begun
        table.true(f"{source}: refusals", 10 <= refusals <= 10 + 16 + 11 * most, (refusals, took))
        table.true(f"{source}: answers", ASKS <= answers - refusals <= ASKS + most + 1, answers)
    # They go on with a token each, and are not refused again for it.
    source, connection = next((name, one) for name, one in connections if name == "127.0.0.14")
    waiting = [one for name, one in connections if name == source]
    until, again = time.monotonic() + client.PATIENCE_S, b""
    while b"HTTP/1.1 200 " not in again and time.monotonic() < until:
        again = b"".join(drained(one) for one in waiting)
    table.true("read on with a token", b"HTTP/1.1 200 " in again, again[:200])
    for _, connection in connections:
        connection.close()
    return table.wrong


@suite.case
def all_accounts_and_signed_requests(_):
    """limits.total_rate bounds all accounts together, limits.signature_rate an address before
    anything of its requests is read."""
    table = Table()
    with client.Perpd(perpd_program(), "--exchange.oracle_max_age_ms=0", "--limits.total_rate=100",
                      "--limits.signature_rate=200", *client.SMALL_TABLES) as perpd:
        world = World(perpd.exchange)
        one, other = world.account(), world.account()
        key = write_key(world, one)
        sent = [order((one, other)[number % 2], new_id()) for number in range(1000)]
        with perpd.exchange.open(source="127.0.0.20") as connection:
            connection.send(b"".join(sent))
            answers = [connection.receive()]
            while answers[-1].status != 429 and len(answers) < len(sent):
                answers.append(connection.receive())
        statuses = [answer.json.get("status") for answer in answers]
        table.true("executed", statuses.count("request_completed") >= 75, statuses)
        table.true("of all accounts", statuses.count(LIMITED) > 10, statuses)
        refused = next((answer for answer in answers if answer.status == 429), None)
        table.true("of the address", refused is not None, statuses)
        if refused is not None:
            table.problem("of the address", refused, 429, "rate_limited")
        with perpd.exchange.open(source="127.0.0.22") as connection:
            connection.send(plain_write(key) * 600)
            refused = [connection.receive().json.get("detail", "") for _ in range(600)]
        table.true("plain writes of an address", any("signature_rate" in text for text in refused),
                   refused[-3:])
    return table.wrong


def drained(connection):
    """What has come and comes within a moment."""
    connection.socket.settimeout(0.02)
    got = b""
    try:
        while data := connection.socket.recv(1 << 20):
            got += data
    except TimeoutError:
        pass
    return got


if __name__ == "__main__":
    sys.exit(run(suite, World, (
        "--exchange.testnet=on", "--limits.write_rate=1", f"--limits.write_burst={BURST}",
        "--limits.read_rate=1", f"--limits.read_burst={ASKS}", "--limits.public_rate=1",
        f"--limits.public_burst={ASKS}", "--limits.creation_rate=1",
        f"--limits.creation_burst={ASKS}", *OPTIONS)))
