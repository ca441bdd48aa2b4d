"""test_public.py - public reads from outside: trades with their pages, status, limits, books.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import json
import pathlib
import re
import sys
import threading
import time

import schema
from client import (CREATE_API_KEY, IOC, JSON, PATIENCE_S, Account, api_key_body, b64, new_id,
                    request_bytes)
from harness import Suite, Table
from records import TRADE, decimal, in_order
from world import BTC, BTC_PRICE, ETH, SOL, USDC, run, seen, while_it_lasts

suite = Suite("public")
TRADES = "/api/v1/markets/{}/trades"


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        for asset, price in ((BTC, BTC_PRICE), (ETH, 300_000), (SOL, 1_500_000)):
            done = exchange.set_price(price, asset)
            assert done["status"] == "request_completed", done

    def account(self, usdc=1_000_000):
        return Account(self.exchange, usdc * USDC)


def read(world, table, path, key=None):
    response = world.exchange.get("/api/v1" + path, key)
    table.true(f"{path}: X-Sequence", (response.header("x-sequence") or "").isdigit(), response)
    return table.ok(path, response)


def page(world, table, market, query=""):
    """The trades, and the cursor of the next page or None; members and order looked at."""
    body = read(world, table, f"/markets/{market}/trades{query}")
    table.same("members", list(body), ["market", "seq", "trades", "next_before_sequence",
                                       "next_before_index"])
    table.same("market", body["market"], market)
    table.true("seq", type(body["seq"]) is int, body["seq"])
    in_order(table, "trade", body["trades"], TRADE)
    places = [(record["sequence"], record["index"]) for record in body["trades"]]
    table.same("newest first", places, sorted(set(places), reverse=True))
    cursor = body["next_before_sequence"], body["next_before_index"]
    if cursor == (None, None):
        return body["trades"], None
    table.true("a cursor is two integers", all(type(part) is int for part in cursor), cursor)
    return body["trades"], "before_sequence={}&before_index={}".format(*cursor)


@suite.case
def trades(world):
    """J6, J9: members and values of a trade, newest first; the place is the maker's fill's."""
    table = Table()
    maker, taker = world.account(), world.account()
    table.same("none", page(world, table, "SOL-PERP"), ([], None))
    maker.limit(1_500_000, -300, asset=SOL)
    maker.limit(1_500_010, -700, asset=SOL)
    bought = taker.limit(1_500_010, 500, asset=SOL)
    maker.limit(1_490_000, 250, asset=SOL)
    sold = taker.limit(1_480_000, -250, expiry=IOC, asset=SOL)
    shown, cursor = page(world, table, "SOL-PERP")
    table.same("a last page", cursor, None)

    def trade(ack, index, number, price, size, side):
        return {"price": price, "size": size, "taker_side": side, "liquidation": False,
                "trade_seq": number, "sequence": ack["sequence"], "index": index,
                "time": ack["processed_at_ns"] // 1_000_000, "time_ns": ack["processed_at_ns"]}

    first = shown[-1]["trade_seq"] if shown else 0
    # W3c: a fill that opens is 2102, 2102, 2104 (fee), 2104 (fee); the second begins at 4.
    table.same("three", shown, [trade(sold, 0, first + 2, "149", "2.5", "SHORT"),
                                trade(bought, 4, first + 1, "150.001", "2", "LONG"),
                                trade(bought, 0, first, "150", "3", "LONG")])
    fills = maker.read("/api/v1/fills?subaccount_index=0").json
    table.same("the maker's fills", [[record[name] for name in ("sequence", "index", "trade_seq")]
                                     for record in fills],
               [[record[name] for name in ("sequence", "index", "trade_seq")]
                for record in shown])
    before = read(world, table, "/markets/SOL-PERP/trades")["seq"]
    maker.limit(1_400_000, 100, asset=SOL)
    # A mark that is computed meanwhile counts too: the book's lies between two of the trades.
    after, book, later = (read(world, table, f"/markets/SOL-PERP/{name}")["seq"]
                          for name in ("trades", "book", "trades"))
    table.true("seq is the book's", before < after <= book <= later, (before, after, book, later))
    table.same("another market's", page(world, table, "ETH-PERP"), ([], None))
    for who in (maker, taker):
        who.cancel_all()
    return table.wrong


@suite.case
def trade_pages(world):
    """J1, W7: limit, default 100, cursors until both are null, also while trades come in."""
    table = Table()
    maker, taker = world.account(), world.account()
    for _ in range(12):
        for number in range(10):
            maker.limit(300_000 + number, -100, asset=ETH)
        taker.limit(300_010, 1_000, expiry=IOC, asset=ETH)
    everything, cursor = page(world, table, "ETH-PERP", "?limit=1000")
    table.same("all", (len(everything), cursor), (120, None))
    table.same("trade_seq", [record["trade_seq"] for record in everything],
               list(range(everything[0]["trade_seq"], everything[0]["trade_seq"] - 120, -1)))
    table.same("prices", [record["price"] for record in everything[:10]],
               [decimal(300_009 - number, 2) for number in range(10)])
    shown, cursor = page(world, table, "ETH-PERP")
    table.same("the default", shown, everything[:100])
    table.true("there is more", cursor is not None, cursor)
    # A cursor behind the last row: the list is exactly as long as a page.
    table.same("exactly all", page(world, table, "ETH-PERP", "?limit=120"), (everything, None))
    for limit in (1, 7, 40, 119):
        got, cursor, pages = [], "", 0
        while cursor is not None and len(got) <= 120:
            shown, cursor = page(world, table, "ETH-PERP", f"?limit={limit}&{cursor}")
            table.true("a full page, but the last", len(shown) == limit or cursor is None, shown)
            got += shown
            pages += 1
        table.same(f"by {limit}", got, everything)
        table.same(f"pages by {limit}", pages, -(-120 // limit))
    at = everything[50]
    query = "?limit=5&before_sequence={}".format(at["sequence"])
    table.same("before_index is 0", page(world, table, "ETH-PERP", query)[0], [
        record for record in everything if record["sequence"] < at["sequence"]][:5])
    table.same("before all", page(world, table, "ETH-PERP", "?before_sequence=1"), ([], None))
    table.same("from far above", page(world, table, "ETH-PERP",
                                      f"?limit=3&before_sequence={2**63 - 1}")[0], everything[:3])
    stop, grown = threading.Event(), [0]

    def grow():
        while not stop.is_set():
            maker.limit(300_000, -100, asset=ETH)
            taker.limit(300_000, 100, expiry=IOC, asset=ETH)
            grown[0] += 1

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        until = time.monotonic() + PATIENCE_S
        while grown[0] < 20 and time.monotonic() < until:
            got, cursor = [], ""
            while cursor is not None and len(got) < 5_000:
                shown, cursor = page(world, table, "ETH-PERP", f"?limit=23&{cursor}")
                got += shown
            numbers = [record["trade_seq"] for record in got]
            table.same("none twice, none missed", numbers,
                       list(range(numbers[0], numbers[0] - len(numbers), -1)))
            table.same("the old ones", got[-120:], everything)
    finally:
        stop.set()
        thread.join()
    table.true("it grew", grown[0] >= 20, grown)
    return table.wrong


@suite.case
def parameters(world):
    """W7: bad values 400 invalid_parameter by name; a market in a path 404; 405."""
    table = Table()
    exchange = world.exchange
    bad = ("-1", "", "x", "1.0", "0x1", "%201", "+1", "1e2", "18446744073709551616", "1%00",
           "18446744073709551617", "99999999999999999999999999")
    for name, values in (("limit", (*bad, "0", "1001", "4294967297")), ("before_sequence", bad),
                         ("before_index", bad)):
        for value in values:
            response = exchange.get(TRADES.format("BTC-PERP") + f"?{name}={value}")
            table.problem(f"trades {name}={value}", response, 400, "invalid_parameter",
                          parameter=name)
        response = exchange.get(TRADES.format("BTC-PERP") + f"?{name}=1&{name}=1")
        table.problem(f"trades {name} twice", response, 400, "invalid_parameter", parameter=name)
    table.ok("unknown names", exchange.get(TRADES.format("BTC-PERP") + "?colour=red&Limit=0"))
    for market in ("NONE-PERP", "btc-perp", "1", "BTC", "BTC-PERP%20", "X" * 300, "."):
        for path in (TRADES.format(market), f"/api/v1/markets/{market}/book",
                     f"/api/v1/markets/{market}"):
            table.problem(path, exchange.get(path), 404, "not_found")
    for path in (TRADES.format("BTC-PERP"), "/api/v1/status", "/api/v1/limits",
                 "/api/v1/markets/BTC-PERP/book", "/api/v1/time"):
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            table.problem(f"{method} {path}", exchange.raw(request_bytes(
                method, path, b"{}", [JSON])), 405, "method_not_allowed")
        table.problem(f"{path}/", exchange.get(path + "/"), 404, "not_found")
    return table.wrong


@suite.case
def status(world):
    """J6, J9: ready, applied and durable as sequences, the lag in ms; they follow the writes."""
    table = Table()
    body = read(world, table, "/status")
    body.pop("head", None)  # test_heads.py
    table.members("status", body, {"state": "str", "applied": "int", "durable": "int",
                                   "lag_ms": "int", "history_from_sequence": "int"})
    table.same("ready", body["state"], "ready")
    table.true("a small lag", 0 <= body["lag_ms"] < 5_000, body)
    account = world.account()
    applied = 0
    for _ in range(10):
        ack = account.limit(900_000, 20)
        response = world.exchange.get("/api/v1/status")
        shown = response.json
        # What is acknowledged is durable; status tells of a lag and does not wait for its end.
        table.true("durable", shown["durable"] >= ack["sequence"], (shown, ack))
        table.true("applied", applied <= shown["applied"] <= shown["durable"], (shown, applied))
        table.true("X-Sequence", int(response.header("x-sequence")) >= shown["durable"], response)
        applied = shown["applied"]
    account.order(new_id())
    shown = world.exchange.get("/api/v1/status").json["applied"]
    table.true("a read that shows it has waited for it", shown >= ack["sequence"], shown)
    account.cancel_all()
    return table.wrong


@suite.case
def limits(world):
    """J6: the limits of /exchange, with a key and without."""
    table = Table()
    exchange, account = world.exchange, world.account()
    shown = read(world, table, "/exchange")["limits"]
    body = read(world, table, "/limits")
    table.members("limits", body, {"limits": "object", "rate_limits": "bool",
                                   "remaining": "object"})
    of_address = {"public": "int", "signature": "int", "creation": "int"}
    table.members("remaining of an address", body["remaining"], of_address)
    table.same("as /exchange", body["limits"], shown)
    body = read(world, table, "/limits", account.api_key)
    table.members("with a key", body, {"limits": "object", "rate_limits": "bool",
                                       "remaining": "object", "slots": "object"})
    table.same("slots", body["slots"], read(world, table, "/account", account.api_key)["slots"])
    table.members("remaining", body["remaining"], {
        **of_address, "read": "int", "write": "int", "cancel": "int"})
    table.same("as /exchange", body["limits"], shown)
    for name, kind in ((name, type(value)) for name, value in shown.items()):
        table.true(f"limits.{name} is int", kind is (bool if name == "rate_limits" else int), kind)
    for key in ("", "x", b64(bytes(32)), account.api_key[:-1]):
        table.problem(f"key {key!r}", exchange.get("/api/v1/limits", key), 401, "invalid_api_key")
    pinned = exchange.ack(CREATE_API_KEY, api_key_body(account.id, pin=0),
                          account.session)["api_key"]
    table.same("pinned", read(world, table, "/limits", pinned)["limits"], shown)
    return table.wrong


@suite.case
def books(world):
    """J6, R3: fills, reductions of a level and an order past its expiry in the published book."""
    table = Table()
    maker, taker = world.account(), world.account()

    def book():
        body = read(world, table, "/markets/BTC-PERP/book")
        return body["bids"], body["asks"]

    table.same("empty", book(), ([], []))
    low, high = new_id(), new_id()
    maker.limit(990_000, 1_000, low)
    maker.limit(990_000, 500)
    maker.limit(1_010_000, -2_000, high)
    table.same("two sides", book(), ([["99000", "0.015"]], [["101000", "0.02"]]))
    taker.limit(1_010_000, 500, expiry=IOC)
    table.same("filled in part", book(), ([["99000", "0.015"]], [["101000", "0.015"]]))
    taker.limit(1_010_000, 2_000)
    table.same("taken, the rest stands", book(), ([["101000", "0.005"], ["99000", "0.015"]], []))
    maker.cancel(low)
    table.same("canceled", book(), ([["101000", "0.005"], ["99000", "0.005"]], []))

    def brief(expiry):
        maker.limit(980_000, 100, expiry=expiry)
        return book()[0][-1]

    table.same("an order for a moment", while_it_lasts(brief), ["98000", "0.001"])
    gone = [["101000", "0.005"], ["99000", "0.005"]], []
    table.same("gone", seen(book, gone), gone)
    for who in (maker, taker):
        who.cancel_all()
    table.same("empty", book(), ([], []))
    return table.wrong


@suite.case
def openapi(world):
    """J6: /openapi.json is the document of the tree, and what each read answers validates by it:
    GET /latency too, which net.latency shows here."""
    table = Table()
    exchange, account = world.exchange, world.account(1_000)
    text = pathlib.Path(__file__).resolve().parents[2].joinpath("docs/openapi.json").read_text()
    response = exchange.get("/api/v1/openapi.json")
    table.same("the document", response.body.decode(), text)
    stream = pathlib.Path(__file__).resolve().parents[2].joinpath("docs/asyncapi.json").read_text()
    table.same("the stream's", exchange.get("/api/v1/asyncapi.json").body.decode(), stream)
    document = json.loads(text)
    placed = account.limit(900_000, 20, asset=BTC)
    order = account.read("/api/v1/orders?limit=1").json[0]["id"]
    values = {"{id}": order, "{request_id}": order, "{market}": "BTC-PERP", "{request_type}": "13"}
    table.same("an order", placed["status"], "request_completed")
    seen = 0
    for path, item in document["paths"].items():
        if "get" not in item or "servers" in item["get"] or "{pairing_id}" in path or (
                "101" in item["get"]["responses"]):
            continue  # a pairing is test_keys' own: it takes a token
        target = re.sub(r"{\w+}", lambda part: values[part[0]], path)
        required = [f"{row['name']}={row['schema'].get('enum', [0])[0]}"
                    for row in item["get"]["parameters"]
                    if row["in"] == "query" and row["required"]]
        target += "?" + "&".join(required) if required else ""
        shown = table.ok(path, exchange.get(target, account.api_key))
        wrong = schema.faults(document, schema.answer_of(document, "GET", path), shown, path)
        table.same(f"{path} validates", wrong, [])
        missing = exchange.get(target.replace("BTC", "NO"))
        if missing.status != 200:
            problem = schema.answer_of(document, "GET", path, missing.status)
            table.same(f"{path}: its problem", schema.faults(document, problem, missing.json), [])
        seen += 1
    table.true("every read", seen >= 22, seen)
    for path in ("/livez", "/readyz", "/audit", "/admin/withdrawals"):
        answer = json.loads(exchange.admin(path).body)
        wanted = schema.answer_of(document, "GET", path)
        table.same(path, schema.faults(document, wanted, answer, path), [])
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, ("--net.latency=on",)))
