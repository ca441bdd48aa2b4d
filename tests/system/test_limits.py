"""test_limits.py - each member of `limits` in GET /limits and GET /exchange is enforced: what it
lets in is let in, and one more gets its answer (wire.md W8; rules.md R11). A member without a row
here fails: who serves a new one says here how it is met.
"""
import pathlib
import re
import socket
import struct
import sys
import time

import client
from client import (CREATE_API_KEY, CREATE_SESSION, DEPOSIT, OCTETS, PATHS, PLACE_LIMIT, REDUCE,
                    REVOKE_SESSION, Connection, Ed25519Key, Perpd, Secp256k1Key, api_key_body,
                    deposit_body, frame, limit_body, payload_of, reduce_body, request_bytes,
                    revoke_body, session_body)
from eip712 import ADD_ADMIN, ADD_SCOPED, CREATE_PORTFOLIO, CREATE_SUBACCOUNT, LOGIN
from harness import Suite, Table, perpd_program
from request_body import conditional_body, portfolio_body
from world import BTC, BTC_PRICE, SECOND, USDC, run
from ws_client import Stream, handshake

suite = Suite("limits")
HERE = pathlib.Path(__file__).resolve().parent
DONE, LIMIT = "request_completed", "limit_reached"
BID = BTC_PRICE - 1000
CONDITIONAL = 6
LOW = {"sessions": 3, "sessions_per_parent": 2, "admin_keys": 2, "scoped_keys": 1, "api_keys": 2,
       "device_keys": 1, "subaccounts": 2, "portfolios": 2, "open_orders": 2,
       "account_open_orders": 3, "conditional_orders": 1, "session_life_default_s": 100,
       "session_life_max_s": 1000, "gtt_max_s": 1000, "write_rate": 1, "write_burst": 64,
       "unknown_key_rate": 50, "bad_signature_rate": 50, "connections": 32,
       "stream_connections": 2, "stream_subscriptions": 1}
# Met by the cases of other suites, which have what they need: a reader that is slow, other
# addresses, other rates.
ELSEWHERE = {"stream_backlog": ("test_streams.py", "slow_readers"),
             **{f"{name}_{part}": ("test_rates.py", case) for part in ("rate", "burst")
                for name, case in (("read", "reads_of_a_key"), ("public", "reads_of_an_address"),
                                   ("creation", "accounts_of_an_address"))},
             **dict.fromkeys(("total_rate", "signature_rate"),
                             ("test_rates.py", "all_accounts_and_signed_requests")),
             "account_portfolios": ("test_slots.py", "eight_fill_portfolios"),
             "account_conditionals": ("test_slots.py", "conditionals"),
             "account_rows": ("test_slots.py", "leverage_rows"),
             "account_credentials": ("test_slots.py", "credentials_come_and_go"),
             "account_withdrawals": ("test_slots.py", "withdrawals_of_one"),
             **dict.fromkeys(("funding_small", "funding_full"), ("test_slots.py", "classes")),
             **dict.fromkeys(("share_unfunded_ppm", "share_small_ppm"),
                             ("test_slots.py", "accounts_at_full_speed")),
             "unfunded_life_s": ("test_slots.py", "newcomer_takes_the_oldest"),
             "unfunded_burst": ("test_slots.py", "one_address")}
PATHS.update({ADD_ADMIN: "/api/v1/auth/admin-keys/add", ADD_SCOPED: "/api/v1/auth/scoped-keys/add",
              LOGIN: "/api/v1/login", CREATE_SUBACCOUNT: "/api/v1/subaccounts/create",
              CREATE_PORTFOLIO: "/api/v1/portfolio/create",
              CONDITIONAL: "/api/v1/trading/order/place/conditional"})


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        assert exchange.set_price(BTC_PRICE, BTC)["status"] == DONE

    def account(self):
        return client.Account(self.exchange, 100_000 * USDC)


def until(table, row, bodies, send, message, **more):
    """Sends each body but the last, which are let in, then the last, which is not."""
    for number, body in enumerate(bodies[:-1]):
        answer = send(body)
        table.true(f"{row} {number}", answer.get("success", answer.get("status") == DONE), answer)
    answer = send(bodies[-1])
    table.same(f"{row}: one more", answer.get("message", answer.get("status")), message)
    for name, value in more.items():
        table.same(f"{row}: {name}", answer.get(name), value)


def add_admin(world, account):
    """A further admin key of the account."""
    key = Secp256k1Key()
    done = world.exchange.ack(ADD_ADMIN, admin_body(account, key), account.master)
    assert done["message"] == "master_key_added", done
    return key


def admin_body(account, key):
    return struct.pack("<Q", account.id) + key.public + bytes(7)


def scoped_body(account, key):
    return struct.pack("<QiB3x", account.id, -1, 0) + key.public + bytes(7)


def sessions_of(account, count):
    return [session_body(account.id, Ed25519Key().public) for _ in range(count)]


def sessions(world, table):
    account = world.account()  # it has one
    second = add_admin(world, account)
    until(table, "the first parent", sessions_of(account, 2),
          lambda body: world.exchange.ack(CREATE_SESSION, body, account.master),
          "session_rejected_max_sessions", reason="max_sessions_exceeded")
    until(table, "the account", sessions_of(account, 2),
          lambda body: world.exchange.ack(CREATE_SESSION, body, second),
          "session_rejected_max_sessions", reason="max_sessions_exceeded")


def admin_keys(world, table):
    account = world.account()
    until(table, "16", [admin_body(account, Secp256k1Key()) for _ in range(2)],
          lambda body: world.exchange.ack(ADD_ADMIN, body, account.master),
          "master_key_rejected_invalid", reason=LIMIT)


def scoped_keys(world, table):
    account = world.account()
    until(table, "28", [scoped_body(account, Secp256k1Key()) for _ in range(2)],
          lambda body: world.exchange.ack(ADD_SCOPED, body, account.master),
          "master_key_rejected_invalid", reason=LIMIT)


def api_keys(world, table):
    account = world.account()  # it has one
    until(table, "34", [api_key_body(account.id)] * 2,
          lambda body: world.exchange.ack(CREATE_API_KEY, body, account.session),
          "order_rejected_invalid", reason=LIMIT)


def device_keys(world, table):
    account = world.account()
    until(table, "33", [struct.pack("<QQi4x", account.id, 0, -1)] * 2,
          lambda body: world.exchange.ack(LOGIN, body, account.session), "session_rejected")


def subaccounts(world, table):
    account = world.account()
    until(table, "22", [struct.pack("<Q", account.id)] * 2,
          lambda body: world.exchange.ack(CREATE_SUBACCOUNT, body, account.master),
          "order_rejected_invalid", reason=LIMIT)


def portfolios(world, table):
    account = world.account()
    until(table, "24", [portfolio_body(account.id)] * 2,
          lambda body: world.exchange.ack(CREATE_PORTFOLIO, body, account.session),
          "order_rejected_invalid", reason=LIMIT)


def order_counts(world, table):
    account = world.account()
    world.exchange.ack(CREATE_PORTFOLIO, portfolio_body(account.id), account.session)
    done = world.exchange.ack(DEPOSIT, deposit_body(account.id, 100_000 * USDC, portfolio=1),
                              world.exchange.operator)
    table.same("deposit", done["status"], DONE)

    def place(portfolio):
        return world.exchange.ack(PLACE_LIMIT, limit_body(account.id, BID, 20, portfolio=portfolio),
                                  account.session)

    until(table, "a portfolio", [0] * 3, place, "rejected_max_open_orders_exceeded")
    until(table, "the account", [1] * 2, place, "rejected_max_open_orders_exceeded")


def conditional_orders(world, table):
    account = world.account()
    until(table, "6", [conditional_body(account.id, BTC_PRICE - 5000, -20)] * 2,
          lambda body: world.exchange.ack(CONDITIONAL, body, account.session),
          "rejected_max_conditional_orders_exceeded")


def session_lives(world, table):
    account = world.account()
    born = world.exchange.ack(CREATE_SESSION, session_body(account.id, Ed25519Key().public),
                              account.master)
    made = time.strptime(born["expires_at"][:19], "%Y-%m-%dT%H:%M:%S")
    lives = (time.mktime(made) - time.timezone) - born["processed_at_ns"] // SECOND
    table.same("the default", int(lives), LOW["session_life_default_s"])
    world.exchange.ack(REVOKE_SESSION, revoke_body(account.id, account.session.public),
                       account.master)
    now = time.time_ns()
    until(table, "13", [session_body(account.id, Ed25519Key().public, now + life * SECOND)
                        for life in (900, 1200)],
          lambda body: world.exchange.ack(CREATE_SESSION, body, account.master), "session_rejected")


def gtt_max_s(world, table):
    account, now = world.account(), time.time_ns()
    until(table, "0", [limit_body(account.id, BID, 20, expiry=now + life * SECOND)
                       for life in (900, 1200)],
          lambda body: world.exchange.ack(PLACE_LIMIT, body, account.session),
          "rejected_invalid_order_flags")


def order(account, session, payload=None):
    payload = payload or payload_of(PLACE_LIMIT, limit_body(account, BID, 20), session)
    return request_bytes("POST", PATHS[PLACE_LIMIT],
                         frame(payload, session.public, session.sign(payload)), [OCTETS])


def writes(world, table):
    account = world.account()
    sent = [order(account.id, account.session) for _ in range(2 * LOW["write_burst"])]
    with world.exchange.open() as connection:
        connection.send(b"".join(sent))
        answers = [connection.receive().json for _ in sent]
    refused = [answer for answer in answers if answer["status"] == "rejected_rate_limited"]
    table.true("some are refused, not all", 0 < len(refused) < len(answers), answers[-1])
    table.true("the rate: a second a write", all(
        0 < answer["retry_after_ms"] <= 1000 for answer in refused), refused[:1])


def dial(world, source):
    connection = Connection.__new__(Connection)
    connection.socket = socket.create_connection(("127.0.0.1", world.exchange.port),
                                                 client.PATIENCE_S, source_address=(source, 0))
    connection.buffer = b""
    return connection


def flood(world, table, row, request, within):
    """Sends from an address of its own until one is refused by its rate."""
    connection, seen = dial(world, "127.0.0.9"), set()
    until_s = time.monotonic() + client.PATIENCE_S
    while 429 not in seen and time.monotonic() < until_s:
        connection.send(b"".join(request() for _ in range(200)))
        answers = [connection.receive() for _ in range(200)]
        seen |= {answer.status for answer in answers}
        for answer in answers:
            if answer.status == 429:
                table.problem(row, answer, 429, "rate_limited")
                table.true(f"{row}: Retry-After", answer.header("retry-after"), answer)
                break
    table.same(row, seen, {within, 429})
    connection.close()


def unknown_key_rate(world, table):
    flood(world, table, "unknown keys", lambda: order(1, Ed25519Key()), 200)


def bad_signature_rate(world, table):
    account = world.account()

    def forged():
        payload = payload_of(PLACE_LIMIT, limit_body(account.id, BID, 20), account.session)
        return request_bytes("POST", PATHS[PLACE_LIMIT],
                             payload + account.session.public + bytes(64), [OCTETS])

    flood(world, table, "wrong signatures", forged, 401)


def connections(world, table):
    held = [dial(world, "127.0.0.8") for _ in range(LOW["connections"])]
    for connection in held:
        table.same("within", connection.exchange(request_bytes("GET", "/api/v1/time")).status, 200)
    more = dial(world, "127.0.0.8")
    table.problem("one more", more.receive(), 503, "too_many_connections")
    for connection in (*held, more):
        connection.close()


def stream_connections(world, table):
    held = [Stream(world.exchange) for _ in range(LOW["stream_connections"])]
    with world.exchange.open() as connection:
        table.problem("one more", connection.exchange(handshake()), 429, "rate_limited")
    for stream in held:
        stream.connection.close()


def stream_of_a_freed_place(world):
    """A stream, once the exchange has seen that others closed."""
    until_s = time.monotonic() + client.PATIENCE_S
    while True:
        try:
            return Stream(world.exchange)
        except AssertionError as error:
            if b" 429 " not in error.args[0] or time.monotonic() > until_s:
                raise
            time.sleep(0.01)


def stream_subscriptions(world, table):
    stream = stream_of_a_freed_place(world)
    stream.ask(op="subscribe", channel="status", id=1)
    first = stream.next()
    table.true("the first", first["id"] == 1 and "problem" not in first, first)
    stream.ask(op="subscribe", channel="trades", market="BTC-PERP", id=2)
    while (answer := stream.next()).get("id") != 2:
        pass
    table.true("one more", "problem" in answer, answer)
    stream.connection.close()


def unlimited(world, table):
    """limits.rate_limits=off, and a small duplicate set, on an exchange of their own."""
    perpd = Perpd(perpd_program(), "--exchange.oracle_max_age_ms=0", "--limits.rate_limits=off",
                  "--limits.write_rate=1", "--limits.write_burst=64",
                  "--limits.duplicate_slots=1024", *client.SMALL_TABLES)
    with perpd:
        exchange = perpd.exchange
        table.same("shown", [exchange.get(f"/api/v1/{path}").json["limits"]["rate_limits"]
                             for path in ("limits", "exchange")], [False, False])
        table.same("shown again", exchange.get("/api/v1/limits").json["rate_limits"], False)
        exchange.set_price(BTC_PRICE, BTC)
        account = client.Account(exchange, 100_000 * USDC)
        table.true("no remaining", "remaining" not in account.read("/api/v1/limits").json, None)
        payload = [payload_of(REDUCE, reduce_body(account.id, bytes(16), 1), account.session)
                   for _ in range(1100)]
        sent = [request_bytes("POST", PATHS[REDUCE], frame(one, account.session.public,
                                                      account.session.sign(one)), [OCTETS])
                for one in payload]
        with exchange.open() as connection:
            connection.send(b"".join(sent[:200]))
            seen = [connection.receive().json["status"] for _ in range(200)]
            table.true("no rate", "rejected_rate_limited" not in seen, seen[-1])
            connection.send(b"".join(sent[200:]))
            seen = {connection.receive().json["status"] for _ in range(900)}
            table.true("the set is full", seen & {"retry_required", "rejected_rate_limited"}, seen)


DRIVERS = {
    "sessions": sessions, "sessions_per_parent": sessions, "admin_keys": admin_keys,
    "scoped_keys": scoped_keys, "api_keys": api_keys, "device_keys": device_keys,
    "subaccounts": subaccounts, "portfolios": portfolios, "open_orders": order_counts,
    "account_open_orders": order_counts, "conditional_orders": conditional_orders,
    "session_life_default_s": session_lives, "session_life_max_s": session_lives,
    "gtt_max_s": gtt_max_s, "write_rate": writes, "write_burst": writes,
    "unknown_key_rate": unknown_key_rate, "bad_signature_rate": bad_signature_rate,
    "connections": connections, "stream_connections": stream_connections,
    "stream_subscriptions": stream_subscriptions, "rate_limits": unlimited,
    "duplicate_slots": unlimited}


@suite.case
def every_member_is_enforced(world):
    """Each member that GET /limits shows, once by its driver."""
    table = Table()
    shown = world.exchange.get("/api/v1/limits").json["limits"]
    table.same("both show the same", world.exchange.get("/api/v1/exchange").json["limits"], shown)
    table.same("as it was told", {name: shown.get(name) for name in LOW}, LOW)
    table.same("each has a driver", sorted(shown), sorted({*DRIVERS, *ELSEWHERE}))
    for name, (file, case) in ELSEWHERE.items():
        text = (HERE / file).read_text()
        table.true(f"{name}: {file} has {case}", re.search(rf"\ndef {case}\(", text), None)
    for driver in dict.fromkeys(DRIVERS.values()):
        before = len(table.wrong)
        driver(world, table)
        table.wrong[before:] = [f"{driver.__name__}: {line}" for line in table.wrong[before:]]
    return table.wrong


if __name__ == "__main__":
    sys.exit(run(suite, World, [f"--limits.{name}={value}" for name, value in LOW.items()]))
