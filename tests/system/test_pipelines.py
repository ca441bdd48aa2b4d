"""test_pipelines.py - many requests in one packet: they take effect in order, a read shows every
write before it, answers come in request order and each in the form that was asked for.

Expected values are the specification's, the section named beside them: roles.md, Order
within a connection. W: wire.md, R: rules.md, J: json.md.
"""
import json
import sys

from client import (CANCEL, CREATE_API_KEY, IOC, JSON, PLACE_LIMIT, PLACE_MARKET, REDUCE, REPLACE,
                    REVOKE_ALL, REVOKE_API_KEY, Account, api_key_body, cancel_body, id_text,
                    limit_body, market_order_body, new_id, reduce_body, replace_body,
                    request_bytes, revoke_all_body, revoke_key_body)
from harness import Suite, Table
from world import BTC, BTC_PRICE, ETH, USDC, run

suite = Suite("pipelines")
DONE = "request_completed"
FULL, ACCEPT = ("X-Ack", "full"), ("Accept", "application/octet-stream")


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        for asset, price in ((BTC, BTC_PRICE), (ETH, 300_000)):
            assert exchange.set_price(price, asset)["status"] == DONE

    def account(self, usdc=100_000):
        return Account(self.exchange, usdc * USDC)


class Packet:
    """Requests of one account, sent at once, and their responses in order."""

    def __init__(self, world, account, key=None):
        self.exchange, self.account = world.exchange, account
        self.key, self.parts = key or account.api_key, []

    def read(self, path):
        self.parts.append(request_bytes("GET", path, None, [("X-API-KEY", self.key)]))

    def write(self, code, body, request_id=None, headers=(), key=None):
        binary = len(self.parts) % 2 == 1
        self.parts.append(self.exchange.signed(code, body, key or self.account.session, request_id,
                                               binary, headers))

    def leverage(self, value):
        body = json.dumps({"leverage": value, "market": "BTC-PERP", "portfolio_index": 0,
                           "subaccount_index": 0}).encode()
        self.parts.append(request_bytes("PUT", "/api/v1/leverage", body, [
            JSON, ("X-API-KEY", self.key)]))

    def send(self):
        with self.exchange.open() as connection:
            connection.send(b"".join(self.parts))
            return [connection.receive() for _ in self.parts]


@suite.case
def life_of_an_order(world):
    """A read shows every write before it; a write behind it need not wait, so it may show more."""
    table = Table()
    it, maker = world.account(), world.account()
    maker.limit(1_000_000, -300)
    states = [("OPEN", "0.01", "0"), ("OPEN", "0.008", "0"),
              ("PARTIALLY_FILLED", "0.002", "0.003"), ("CANCELED", "0.002", "0.003")]
    order = new_id()
    path = f"/api/v1/orders/{id_text(order)}"
    packet, kinds = Packet(world, it), []
    for code, body, request_id in (
            (PLACE_LIMIT, limit_body(it.id, 990_000, 1_000), order),
            (REDUCE, reduce_body(it.id, order, 200), None),
            (REPLACE, replace_body(it.id, order, 1_000_000, 500), None),
            (CANCEL, cancel_body(it.id, order), None)):
        packet.write(code, body, request_id)
        for read in (path, "/api/v1/orders", "/api/v1/fills?subaccount_index=0",
                     "/api/v1/positions", f"/api/v1/requests/{id_text(order)}"):
            packet.read(read)
    got = packet.send()
    sequence, at_least = 0, 0
    for at in range(4):
        ack, *reads = got[6 * at:6 * at + 6]
        table.ack(f"write {at}", ack, DONE)
        table.true(f"write {at}: in order", ack.json["sequence"] > sequence, ack)
        sequence = ack.json["sequence"]
        for read in reads:
            table.true(f"reads behind write {at}: X-Sequence",
                       int(read.header("x-sequence")) >= sequence, read)
        record = reads[0].json
        state = tuple(record.get(name) for name in ("order_status", "remaining_size",
                                                    "filled_size"))
        if table.true(f"behind write {at}", state in states[at:], record):
            shows = states.index(state)
            table.true(f"behind write {at}: never back", shows >= at_least, record)
            at_least = shows
        table.same(f"listed behind write {at}", [record["id"] for record in reads[1].json],
                   [id_text(order)])
        table.same(f"found behind write {at}", reads[4].status, 200)
        kinds.append((len(reads[2].json), len(reads[3].json)))
    table.same("a fill and a position behind the third", kinds[2:], [(1, 1), (1, 1)])
    maker.cancel_all()
    return table.wrong


@suite.case
def settings_between_orders(world):
    """A setting of leverage takes its place: margin before and after it, positions at each."""
    table = Table()
    it, maker = world.account(1_000), world.account()
    key = world.exchange.ack(CREATE_API_KEY, api_key_body(it.id, scope=1),
                             it.session)["api_key"]
    packet = Packet(world, it, key)
    packet.write(PLACE_LIMIT, limit_body(it.id, 1_000_000, 20_000))  # all of 1,000 at 20
    packet.write(PLACE_LIMIT, limit_body(it.id, 1_000_000, 20_000))  # no more
    packet.leverage(40)                                              # needs 500 now
    packet.write(PLACE_LIMIT, limit_body(it.id, 1_000_000, 20_000))  # and 500
    packet.leverage(20)                                              # 2,000 > 1,000
    packet.leverage(50)                                              # 800
    packet.read("/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0")
    got = packet.send()
    table.same("orders", [got[at].json.get("status") for at in (0, 1, 3)],
               [DONE, "insufficient_margin_to_place", DONE])
    table.same("settings", [(got[at].status, got[at].json.get("leverage"),
                             got[at].json.get("code")) for at in (2, 4, 5)],
               [(200, 40, None), (409, None, "insufficient_free_equity"), (200, 50, None)])
    table.same("margin", got[6].json["initial_margin"], "800")
    for who in (it, maker):
        who.cancel_all()
    return table.wrong


@suite.case
def repeats_in_a_packet(world):
    """W5: the same request twice: done, then duplicate with the first's outcome, in any form."""
    table = Table()
    it = world.account()
    packet, ids = Packet(world, it), [new_id() for _ in range(30)]
    for request_id in ids:
        body = limit_body(it.id, 900_000, 20)
        packet.write(PLACE_LIMIT, body, request_id)
        packet.write(PLACE_LIMIT, body, request_id)
        packet.write(PLACE_LIMIT, body, request_id, [FULL])
        packet.write(PLACE_LIMIT, body, request_id, [ACCEPT])
    got = packet.send()
    for at, request_id in enumerate(ids):
        first, second, third = (response.json for response in got[4 * at:4 * at + 3])
        table.same("first", first.get("status"), DONE)
        for again in (second, third):
            table.same("again", [again.get(name) for name in (
                "status", "original_status", "original_processed_at_ns")],
                ["duplicate_request_id", DONE, first["processed_at_ns"]])
        last = got[4 * at + 3]
        table.same("64 bytes", (last.header("content-type"), last.body[:4], last.body[24:40]),
                   ("application/octet-stream", b"\1\0\xff\1", request_id))
    table.same("placed once", len(it.read("/api/v1/orders").json), 30)
    it.cancel_all()
    return table.wrong


@suite.case
def revoked_between(world):
    """R11: codes 35 and 15 in a packet: what stands before is served, what stands behind not."""
    table = Table()
    for attempt in range(5):
        it = world.account()
        made = world.exchange.ack(CREATE_API_KEY, api_key_body(it.id, scope=1), it.session)
        raw = bytes.fromhex(made["api_key_id"].replace("-", ""))
        packet = Packet(world, it, made["api_key"])
        packet.read("/api/v1/orders")
        packet.leverage(10)
        packet.write(REVOKE_API_KEY, revoke_key_body(it.id, raw))
        packet.leverage(11)
        packet.read("/api/v1/orders")
        packet.read("/api/v1/limits")
        packet.write(PLACE_LIMIT, limit_body(it.id, 900_000, 20))
        packet.write(REVOKE_ALL, revoke_all_body(it.id), key=it.master)
        packet.write(PLACE_LIMIT, limit_body(it.id, 900_000, 20))
        packet.write(PLACE_MARKET, market_order_body(it.id, 20), None, [FULL])
        packet.read("/api/v1/time")
        got = packet.send()
        table.same(f"{attempt}: statuses", [response.status for response in got],
                   [200, 200, 200, 401, 401, 401, 200, 200, 200, 200, 200])
        table.same(f"{attempt}: 35", got[2].json.get("success"), True)
        for at in (3, 4, 5):
            table.problem(f"{attempt}: behind 35", got[at], 401, "invalid_api_key")
        table.same(f"{attempt}: 15", [got[at].json.get("status") or got[at].json.get("message")
                                      for at in (6, 7, 8, 9)],
                   [DONE, "session_revoked", "rejected_unauthorized", "rejected_unauthorized"])
        table.same(f"{attempt}: one order", len(it.read("/api/v1/orders").json), 1)
    return table.wrong


@suite.case
def mixed_answers(world):
    """Hundreds of requests of every form in one packet, some bad: each answer in its place."""
    table = Table()
    it, maker = world.account(), world.account()
    packet, want = Packet(world, it), []
    for number in range(40):
        maker.limit(1_000_000, -20)
    for number in range(400):
        kind = number % 8
        if kind == 0:
            packet.write(PLACE_LIMIT, limit_body(it.id, 900_000, 20))
            want.append((200, DONE))
        elif kind == 1:
            packet.write(PLACE_LIMIT, limit_body(it.id, 0, 20), None, [FULL])
            want.append((200, "rejected_invalid_price"))
        elif kind == 2:
            packet.write(PLACE_LIMIT, limit_body(it.id, 1_000_000, 20, expiry=IOC), None, [FULL])
            want.append((200, DONE))
        elif kind == 3:
            packet.read("/api/v1/orders?limit=1")
            want.append((200, "list"))
        elif kind == 4:
            packet.read("/api/v1/orders?limit=0")
            want.append((400, "invalid_parameter"))
        elif kind == 5:
            packet.read(f"/api/v1/requests/{id_text(new_id())}")
            want.append((404, "request_not_found"))
        elif kind == 6:
            packet.leverage(10)  # the key only reads
            want.append((403, "read_only_key"))
        else:
            packet.write(CANCEL, cancel_body(it.id, new_id()), None, [ACCEPT])
            want.append((200, "bytes"))
    got = []
    for response in packet.send():
        if len(response.body) == 64 and response.header("content-type") == ACCEPT[1]:
            got.append((response.status, "bytes"))
        elif isinstance(response.json, list):
            got.append((response.status, "list"))
        else:
            got.append((response.status, response.json.get("status") if response.status == 200
                        else response.json.get("code")))
    table.same("every answer", got, want)
    fills = it.read("/api/v1/fills?subaccount_index=0").json
    table.same("fills", len(fills), 40)
    for who in (it, maker):
        who.cancel_all()
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, ()))
