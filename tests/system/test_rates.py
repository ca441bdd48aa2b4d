"""test_rates.py - what an account may have executed, from outside: its writes and its cancels in
buckets of their own (wire.md W8; rules.md R11, step 12).

The rate is one write a second, so that no verdict depends on how fast the machine is: a burst is
sent in much less than the minute that would fill the bucket again.
"""
import json
import struct
import sys
import time

import client
from client import (CREATE_API_KEY, CREATE_SESSION, JSON, OCTETS, PATHS, PLACE_LIMIT,
                    REVOKE_SESSION, Ed25519Key, api_key_body, frame, limit_body, new_id,
                    payload_of, portfolio_bytes, request_bytes, revoke_body, session_body)
from harness import Suite, Table
from world import BTC, BTC_PRICE, USDC, run

suite = Suite("rates")
BURST = 64
LIMITS = "/api/v1/limits"
BATCH, BATCH_PATH = 8, "/api/v1/trading/order/batch"
BID = BTC_PRICE - 1000
LIMITED = "rejected_rate_limited"


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        done = exchange.set_price(BTC_PRICE, BTC)
        assert done["status"] == "request_completed", done

    def account(self):
        return client.Account(self.exchange, 100_000 * USDC)


def order(account, request_id):
    payload = payload_of(PLACE_LIMIT, limit_body(account.id, BID, 20), account.session, request_id)
    return request_bytes("POST", PATHS[PLACE_LIMIT],
                         frame(payload, account.session.public, account.session.sign(payload)),
                         [OCTETS])


def use_up(world, account):
    """Sends twice the burst at once; the requests and their answers, in order."""
    ids = [new_id() for _ in range(2 * BURST)]
    sent = [order(account, request_id) for request_id in ids]
    with world.exchange.open() as connection:
        connection.send(b"".join(sent))
        return ids, sent, [connection.receive().json for _ in sent]


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
def every_kind_of_write(world):
    """A batch costs its items; success style, plain writes and their problems."""
    table = Table()
    account = world.account()
    key = world.exchange.ack(CREATE_API_KEY, api_key_body(account.id, scope=1),
                             account.session)["api_key"]
    items = b"".join(struct.pack("<BBBxIQqQ16s16x", 0, 0, 0, BTC, BID, 20, 2 ** 64 - 1, new_id())
                     for _ in range(BURST - 8))
    body = portfolio_bytes(account.id) + struct.pack("<HHI", BURST - 8, 0, 0) + items
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
    return table.wrong


if __name__ == "__main__":
    sys.exit(run(suite, World, ("--exchange.testnet=on", "--limits.write_rate=1",
                                f"--limits.write_burst={BURST}")))
