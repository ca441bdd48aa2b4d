"""test_lists.py - GET orders and GET fills: members and types of json.md, values worked out by
hand, filters, pages that neither repeat nor miss while the list grows, parameters and credentials.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import sys
import threading
import time
from decimal import Decimal

from client import (CREATE_API_KEY, FOK, IOC, PATIENCE_S, PLACE_MARKET, Account, api_key_body, b64,
                    id_text, market_order_body, new_id)
from harness import Suite, Table
from records import FILL, ORDER, WITH_REASON, engine_id, in_order
from world import BTC, BTC_PRICE, ETH, SECOND, USDC, run, seen

suite = Suite("lists")
ORDERS, FILLS = "/api/v1/orders", "/api/v1/fills"


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        for asset, price in ((BTC, BTC_PRICE), (ETH, 300_000)):
            done = exchange.set_price(price, asset)
            assert done["status"] == "request_completed", done

    def account(self, usdc=100_000):
        return Account(self.exchange, usdc * USDC)

    def mixed(self, life=SECOND):
        """An account with orders in every state that a limit or market order can have."""
        maker, taker = self.account(), self.account()
        ids = {}

        def place(name, who, price, quantity, **more):
            ids[name] = new_id()
            who.limit(price, quantity, ids[name], **more)

        place("partly", maker, 1_000_000, -1_000)
        place("open", maker, 900_000, 20)
        place("eth", maker, 280_000, 100, asset=ETH, post_only=1, stp=2)
        place("taken", maker, 999_000, -100)
        place("canceled", maker, 910_000, 20)
        maker.cancel(ids["canceled"])
        place("rejected", maker, 2_000_000, 20)  # R11, row 20: kept (R3)
        place("nowhere", maker, 900_000, 20, stp=9)  # row 11: kept nowhere
        place("ioc", maker, 900_000, -20, expiry=IOC, reduce_only=1)  # row 24
        expiry = time.time_ns() + life
        place("expired", maker, 920_000, 20, expiry=expiry)
        if time.time_ns() >= expiry:  # it may never have rested: others, with more time
            for who in (maker, taker):
                who.cancel_all()
            return self.mixed(4 * life)
        place("taker", taker, 1_000_000, 500, expiry=FOK)  # 100 of "taken", 400 of "partly"
        ids["market"] = new_id()
        self.exchange.ack(PLACE_MARKET, market_order_body(maker.id, 50), maker.session,
                          ids["market"])  # no seller but itself
        seen(lambda: maker.order(ids["expired"]).json["order_status"], "EXPIRED")
        return maker, taker, {name: id_text(raw) for name, raw in ids.items()}


def rows(table, who, path, **query):
    """The list, after a look at its order: (sequence, index) descends strictly (W7)."""
    text = "&".join(f"{name}={value}" for name, value in query.items())
    response = who.read(f"{path}?{text}")
    table.true("X-Sequence", (response.header("x-sequence") or "").isdigit(), response)
    got = table.ok(f"{path}?{text}", response)
    if not isinstance(got, list):
        table.true(f"{path}?{text}: a bare array (J1)", False, got)
        return []
    places = [(record["sequence"], record["index"]) for record in got]
    table.same(f"{path}?{text}: newest first", places, sorted(set(places), reverse=True))
    return got


@suite.case
def orders_of_every_state(world):
    """J2, interface: members, types and values; each row is what GET orders/{id} shows."""
    table = Table()
    maker, taker, ids = world.mixed()
    shown = rows(table, maker, ORDERS)
    by_id = {record["id"]: record for record in shown}
    table.same("placed, newest first", [record["id"] for record in shown], [ids[name] for name in (
        "market", "expired", "ioc", "rejected", "canceled", "taken", "eth", "open", "partly")])
    for record in shown:
        types = dict(ORDER)
        if record["order_status"] in ("CANCELED", "REJECTED"):
            types = WITH_REASON
        table.members(record["order_status"], record, types)
        table.same("order of members", list(record), list(types))
        table.same("the same by id", maker.read(f"{ORDERS}/{record['id']}").json, record)
        table.same("time", record["time"], record["time_ns"] // 1_000_000)
        changed = record["order_status"] not in ("OPEN", "REJECTED")
        table.true("updated_at_ns", record["updated_at_ns"] > record["time_ns"] if changed else
                   record["updated_at_ns"] == record["time_ns"], record)

    def state(name, *values):
        record = by_id[ids[name]]
        table.same(name, tuple(record.get(member) for member in (
            "order_status", "market", "order_type", "side", "time_in_force", "initial_size",
            "remaining_size", "filled_size", "price", "average_price", "reason")), values)

    state("partly", "PARTIALLY_FILLED", "BTC-PERP", "LIMIT", "SHORT", "GTC", "0.01", "0.006",
          "0.004", "100000", "100000", None)
    state("open", "OPEN", "BTC-PERP", "LIMIT", "LONG", "GTC", "0.0002", "0.0002", "0", "90000",
          None, None)
    state("eth", "OPEN", "ETH-PERP", "LIMIT", "LONG", "GTC", "0.01", "0.01", "0", "2800", None,
          None)
    state("taken", "FILLED", "BTC-PERP", "LIMIT", "SHORT", "GTC", "0.001", "0", "0.001", "99900",
          "99900", None)
    state("canceled", "CANCELED", "BTC-PERP", "LIMIT", "LONG", "GTC", "0.0002", "0.0002", "0",
          "91000", None, "user_cancel")
    state("rejected", "REJECTED", "BTC-PERP", "LIMIT", "LONG", "GTC", "0.0002", "0.0002", "0",
          "200000", None, "rejected_invalid_price")
    state("ioc", "REJECTED", "BTC-PERP", "LIMIT", "SHORT", "IOC", "0.0002", "0.0002", "0", "90000",
          None, "invalid_reduce_only_order")
    table.same("ioc's flags", [by_id[ids["ioc"]][name] for name in ("post_only", "reduce_only",
                                                                   "expires_at")],
               [False, True, None])
    state("expired", "EXPIRED", "BTC-PERP", "LIMIT", "LONG", "GTT", "0.0002", "0.0002", "0",
          "92000", None, None)
    record = by_id[ids["expired"]]
    table.true("expires_at in ns", 0 < record["expires_at"] - record["time_ns"] < SECOND, record)
    table.same("eth's flags", [by_id[ids["eth"]][name] for name in ("post_only", "stp",
                                                                   "expires_at")],
               [True, "EXPIRE_BOTH", None])
    # W10: price null for MARKET; J2: IOC for market kinds. It met its own sell: row 29.
    state("market", "REJECTED", "BTC-PERP", "MARKET", "LONG", "IOC", "0.0005", "0.0005", "0", None,
          None, "self_trade_prevention")
    table.same("the taker's", [record["id"] for record in rows(table, taker, ORDERS)],
               [ids["taker"]])
    table.same("a new account", rows(table, world.account(0), ORDERS), [])
    table.same("a new account's fills", rows(table, world.account(0), FILLS, subaccount_index=0),
               [])
    maker.cancel_all()
    return table.wrong


@suite.case
def fills_of_a_trade(world):
    """J2, R3, R6, W3c: both sides of two fills, ids and places of the engine, fees by hand."""
    table = Table()
    maker, taker = world.account(), world.account()
    asks = [new_id(), new_id(), new_id()]
    maker.limit(1_000_000, -300, asks[0])
    maker.limit(1_000_001, -700, asks[1])
    bought = new_id()
    ack = taker.limit(1_000_001, 500, bought)
    sequence, when = ack["sequence"], ack["processed_at_ns"]
    sold, got = (rows(table, who, FILLS, subaccount_index=0) for who in (maker, taker))
    in_order(table, "a fill", sold + got, FILL)
    # W3c, by fill: 2102 maker, 2102 taker, 2104 taker's fee, 2104 maker's fee: four indices each.
    # Ids: maker's fill, maker's position if new, taker's fill, taker's position if new.
    # 0.003 * 100,000 = 300 USDC: 150 ppm 0.045, 450 ppm 0.135.
    # 0.002 * 100,000.1 = 200.0002 USDC: 150 ppm 0.03000003 -> 0.030001; 450 -> 0.090001.
    def fill(who, side, liquidity, order_id, place, number, price, quantity, fee):
        return {"account_id": who.id, "subaccount_index": 0, "portfolio_index": 0,
                "id": engine_id(when, sequence, number), "request_id": id_text(order_id),
                "market": "BTC-PERP", "side": side, "liquidity": liquidity, "price": price,
                "quantity": quantity, "fee": fee, "time": when // 1_000_000,
                "sequence": sequence, "index": place, "time_ns": when}

    def without_trade(records):
        return [{name: value for name, value in record.items() if name != "trade_seq"}
                for record in records]

    table.same("maker's", without_trade(sold), [
        fill(maker, "SHORT", "MAKER", asks[1], 4, 4, "100000.1", "0.002", "0.030001"),
        fill(maker, "SHORT", "MAKER", asks[0], 0, 0, "100000", "0.003", "0.045")])
    table.same("taker's", without_trade(got), [
        fill(taker, "LONG", "TAKER", bought, 5, 5, "100000.1", "0.002", "0.090001"),
        fill(taker, "LONG", "TAKER", bought, 1, 2, "100000", "0.003", "0.135")])
    # J2: trade_seq joins both sides and the public trade.
    public = world.exchange.get("/api/v1/markets/BTC-PERP/trades?limit=2").json["trades"]
    table.same("trade_seq", [record["trade_seq"] for record in sold],
               [record["trade_seq"] for record in got])
    table.same("and the trade's", [record["trade_seq"] for record in sold],
               [record["trade_seq"] for record in public])
    # The next trade turns the taker: it closes 0.005 and opens 0.001 the other way. Realised
    # profit is a cash row (2104 trade) before the fee; no new index before the fills.
    bid = new_id()
    maker.limit(1_000_000, 600, bid, stp=1)
    ack = taker.limit(1_000_000, -600, new_id())
    sold, got = (rows(table, who, FILLS, subaccount_index=0, limit=1) for who in (maker, taker))
    table.same("a flip", [record[name] for record in sold + got for name in (
        "side", "liquidity", "quantity", "price", "sequence", "index")],
        ["LONG", "MAKER", "0.006", "100000", ack["sequence"], 0,
         "SHORT", "TAKER", "0.006", "100000", ack["sequence"], 1])
    for who in (maker, taker):
        who.cancel_all()
    return table.wrong


SPANS = {"1m": 60_000, "5m": 300_000, "15m": 900_000, "1h": 3_600_000, "4h": 14_400_000,
         "1d": 86_400_000}
CANDLES = "/api/v1/markets/BTC-PERP/candles?interval="


def candles_of(trades, interval):
    """J6, J9: what the trades, oldest first, make of each interval that has one."""
    made = {}
    for trade in trades:
        start = trade["time"] // SPANS[interval] * SPANS[interval]
        price, size = Decimal(trade["price"]), Decimal(trade["size"])
        old = made.get(start)
        made[start] = (old[0] if old else price, max(old[1], price) if old else price,
                       min(old[2], price) if old else price, price,
                       (old[4] if old else 0) + size, (old[5] if old else 0) + price * size,
                       (old[6] if old else 0) + 1)
    return [(start, *made[start]) for start in sorted(made)]


@suite.case
def candles_of_trades(world):
    """W7, J6: candles of each interval are the public trades; both ends, limit and parameters."""
    table, exchange = Table(), world.exchange
    maker, taker = world.account(), world.account()
    for price, size in ((1_000_000, 300), (1_000_300, 200), (999_900, 100), (1_000_100, 400)):
        maker.limit(price, -size)
        taker.limit(price, size)

    def read(more):
        answer = exchange.get(CANDLES + more).json
        table.same(more, (answer["market"], list(answer)), ("BTC-PERP", [
            "market", "interval", "candles"]))
        table.same(f"{more}, of it", {answer["interval"]} | {
            row["interval"] for row in answer["candles"]}, {more.partition("&")[0]})
        return [(row["start_time"], *(Decimal(row[name]) for name in (
            "open", "high", "low", "close", "volume", "notional")), row["trade_count"])
            for row in answer["candles"]]

    trades = exchange.get("/api/v1/markets/BTC-PERP/trades?limit=1000").json["trades"][::-1]
    for interval, span in SPANS.items():
        want = candles_of(trades, interval)
        table.same(interval, read(interval), want)
        table.same(f"{interval}, the last", read(f"{interval}&limit=1"), want[-1:])
        first, last = want[0][0], want[-1][0]
        table.same(f"{interval}, the first", read(f"{interval}&start_time=0&limit=1"), want[:1])
        for bounds, rows in ((f"start_time={last}", want[-1:]), (f"start_time={last + 1}", []),
                             (f"end_time={first}", want[:1]), (f"end_time={first - 1}", []),
                             (f"start_time={first}&end_time={last}", want),
                             (f"start_time={last + 1}&end_time={first}", []),
                             (f"start_time={last + span}", []), (f"start_time={2**43}", []),
                             (f"start_time={first}&end_time={2**43}", want)):
            table.same(f"{interval}, {bounds}", read(f"{interval}&{bounds}"), rows)
    for bad in ("", "interval=2m", "interval=1M", "interval=1m&limit=0", "interval=1m&limit=1001",
                "interval=1m&start_time=x", f"interval=1m&end_time={2**43 + 1}",
                "interval=1m&interval=1m", "interval="):
        table.problem(bad, exchange.get(f"/api/v1/markets/BTC-PERP/candles?{bad}"), 400,
                      "invalid_parameter")
    table.problem("a market", exchange.get("/api/v1/markets/NO-PERP/candles?interval=1m"), 404,
                  "not_found")
    return table.wrong


@suite.case
def tickers(world):
    """W7, J6: a market at a glance is its trades, best prices and mark; all markets at once."""
    table, exchange = Table(), world.exchange
    maker, taker = world.account(), world.account()
    before = exchange.get("/api/v1/markets/BTC-PERP/ticker").json
    for price, size in ((1_000_200, 300), (1_000_700, 200), (999_600, 100)):
        maker.limit(price, -size)
        taker.limit(price, size)
    maker.limit(1_000_900, -40)
    taker.limit(999_100, 30)
    path, mark, after = "/api/v1/markets/BTC-PERP/mark", None, {}
    while mark is None or mark["mark_price"] != after["mark_price"]:  # a second may have passed
        mark = exchange.get(path).json
        ticker = exchange.get("/api/v1/markets/BTC-PERP/ticker").json
        every = exchange.get("/api/v1/tickers").json
        after = exchange.get(path).json
    table.same("members", list(ticker), [
        "market", "seq", "last_price", "mark_price", "index_price", "bid_price", "ask_price",
        "open_24h", "high_24h", "low_24h", "volume_24h", "notional_24h", "open_interest"])
    trades = exchange.get("/api/v1/markets/BTC-PERP/trades?limit=1000").json["trades"]
    prices = [Decimal(trade["price"]) for trade in trades]
    book = exchange.get("/api/v1/markets/BTC-PERP/book?depth=1").json
    dec = {name: ticker[name] and Decimal(ticker[name]) for name in list(ticker)[2:]}
    table.same("its trades", [dec[name] for name in (
        "last_price", "open_24h", "high_24h", "low_24h")],
        [prices[0], prices[-1], max(prices), min(prices)])
    table.same("their sums", (dec["volume_24h"], dec["notional_24h"]), (
        sum(Decimal(trade["size"]) for trade in trades),
        sum(Decimal(trade["size"]) * Decimal(trade["price"]) for trade in trades)))
    table.same("its best prices", (ticker["bid_price"], ticker["ask_price"]),
               ("99910", "100090"))
    table.same("as the book", (book["bids"][0][0], book["asks"][0][0]), ("99910", "100090"))
    table.same("its marks", (ticker["mark_price"], ticker["index_price"]),
               (mark["mark_price"], mark["index_price"]))
    table.same("open interest", Decimal(ticker["open_interest"]) - Decimal(
        before["open_interest"]), Decimal("0.006"))
    table.same("all", list(every), ["tickers"])
    table.same("by asset id", [row["market"] for row in every["tickers"]],
               [row["market"] for row in exchange.get("/api/v1/markets").json["markets"]])
    one = next(row for row in every["tickers"] if row["market"] == "BTC-PERP")
    for row in (one, ticker):
        row.pop("seq")
    table.same("the same market", one, ticker)
    table.problem("a market", exchange.get("/api/v1/markets/NO-PERP/ticker"), 404, "not_found")
    for who in (maker, taker):
        who.cancel_all()
    return table.wrong


@suite.case
def filters(world):
    """W7: market, status, portfolio_index, subaccount_index; together; unknown names ignored."""
    table = Table()
    maker, taker, _ = world.mixed()
    everything = rows(table, maker, ORDERS)
    for status in ("OPEN", "FILLED", "CANCELED", "REJECTED", "UNTRIGGERED", "PARTIALLY_FILLED",
                   "EXPIRED"):
        table.same(status, rows(table, maker, ORDERS, status=status),
                   [record for record in everything if record["order_status"] == status])
    for market in ("BTC-PERP", "ETH-PERP", "SOL-PERP"):
        want = [record for record in everything if record["market"] == market]
        table.same(market, rows(table, maker, ORDERS, market=market), want)
        table.same(f"{market}, OPEN", rows(table, maker, ORDERS, status="OPEN", market=market),
                   [record for record in want if record["order_status"] == "OPEN"])
    table.same("portfolio 0", rows(table, maker, ORDERS, portfolio_index=0), everything)
    table.same("portfolio 1", rows(table, maker, ORDERS, portfolio_index=1), [])
    table.same("subaccount 0", rows(table, maker, ORDERS, subaccount_index=0), everything)
    table.same("subaccount 1", rows(table, maker, ORDERS, subaccount_index=1), [])
    table.same("the largest", rows(table, maker, ORDERS, subaccount_index=2**31 - 1,
                                   portfolio_index=2**31 - 1), [])
    table.same("unknown names", rows(table, maker, ORDERS, colour="red", Limit=1, before=1),
               everything)
    table.same("a filter and a page", rows(table, maker, ORDERS, market="BTC-PERP", limit=2,
                                           offset=1),
               [record for record in everything if record["market"] == "BTC-PERP"][1:3])
    table.same("a filter and a cursor", rows(
        table, maker, ORDERS, market="BTC-PERP", before_sequence=everything[3]["sequence"],
        before_index=everything[3]["index"]),
        [record for record in everything[4:] if record["market"] == "BTC-PERP"])
    everything = rows(table, taker, FILLS, subaccount_index=0)
    table.same("two fills", len(everything), 2)
    table.same("portfolio 0", rows(table, taker, FILLS, subaccount_index=0, portfolio_index=0),
               everything)
    table.same("portfolio 1", rows(table, taker, FILLS, subaccount_index=0, portfolio_index=1), [])
    table.same("subaccount 1", rows(table, taker, FILLS, subaccount_index=1), [])
    maker.cancel_all()
    return table.wrong


@suite.case
def pages(world):
    """W7: limit and offset cut the list; beyond the end it is empty; the default limit is 100."""
    table = Table()
    maker, taker = world.account(), world.account()
    ids = [new_id() for _ in range(130)]
    for number, order_id in enumerate(ids):
        maker.limit(1_000_000, -20, order_id)
        if number % 10 == 9:
            taker.limit(1_000_000, 200, expiry=IOC)
    orders = rows(table, maker, ORDERS, limit=1000)
    table.same("all orders", [record["id"] for record in orders],
               [id_text(order_id) for order_id in reversed(ids)])
    fills = rows(table, taker, FILLS, subaccount_index=0, limit=1000)
    table.same("all fills", len(fills), 130)
    table.same("makers filled in order", [record["trade_seq"] for record in fills],
               sorted((record["trade_seq"] for record in fills), reverse=True))
    for who, path, more, everything in ((maker, ORDERS, {}, orders),
                                        (taker, FILLS, {"subaccount_index": 0}, fills)):
        table.same(f"{path}: default", rows(table, who, path, **more), everything[:100])
        for limit, offset in ((1, 0), (1, 129), (7, 0), (7, 126), (100, 100), (1000, 1), (50, 130),
                              (1, 131), (1000, 10**6), (1000, 2**63 - 1), (1, 2**32)):
            table.same(f"{path}: limit {limit}, offset {offset}",
                       rows(table, who, path, limit=limit, offset=offset, **more),
                       everything[offset:offset + limit])
        for limit in (1, 13, 64):
            got, cursor = [], {}
            while len(got) <= len(everything):
                page = rows(table, who, path, limit=limit, **cursor, **more)
                got += page
                if len(page) < limit:
                    break
                cursor = {"before_sequence": page[-1]["sequence"],
                          "before_index": page[-1]["index"]}
            table.same(f"{path}: cursor by {limit}", got, everything)
        # before_index is 0 by default: no row of that sequence.
        at = everything[60]["sequence"]
        table.same(f"{path}: before_sequence alone",
                   rows(table, who, path, before_sequence=at, **more),
                   [record for record in everything if record["sequence"] < at][:100])
        table.same(f"{path}: offset behind a cursor",
                   rows(table, who, path, before_sequence=at, offset=5, limit=5, **more),
                   [record for record in everything if record["sequence"] < at][5:10])
        table.same(f"{path}: before everything",
                   rows(table, who, path, before_sequence=1, **more), [])
        for place in (2**62, 2**63 - 1):
            table.same(f"{path}: before {place}", rows(
                table, who, path, before_sequence=place, **more), everything[:100])
    # The rows of one command: ten fills, two rows (2102) and two fees apart.
    last = fills[:10]
    table.same("one sequence", len({record["sequence"] for record in last}), 1)
    table.same("index", [record["index"] for record in last], [37 - 4 * at for at in range(10)])
    for at in range(10):
        table.same(f"within a sequence, {at}", rows(
            table, taker, FILLS, subaccount_index=0, limit=4, before_index=last[at]["index"],
            before_sequence=last[at]["sequence"]), fills[at + 1:at + 5])
    return table.wrong


@suite.case
def pages_while_it_grows(world):
    """W7: with before_sequence and before_index nothing is repeated or missed meanwhile."""
    table = Table()
    maker, taker = world.account(), world.account()
    for _ in range(60):
        maker.limit(1_000_000, -20)
    taker.limit(1_000_000, 60 * 20, expiry=IOC)
    known = {ORDERS: rows(table, maker, ORDERS, limit=1000),
             FILLS: rows(table, maker, FILLS, subaccount_index=0, limit=1000)}
    stop = threading.Event()
    placed = []

    def grow():
        while not stop.is_set():
            order_id = new_id()
            maker.limit(1_000_000, -20, order_id)
            taker.limit(1_000_000, 20, expiry=IOC)
            placed.append(order_id)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        until = time.monotonic() + PATIENCE_S
        while len(placed) < 20 and time.monotonic() < until:
            for path, more in ((ORDERS, {}), (FILLS, {"subaccount_index": 0})):
                first = page = rows(table, maker, path, limit=7, **more)
                got = list(first)
                while page and len(got) < 1_000:
                    page = rows(table, maker, path, limit=7, before_index=page[-1]["index"],
                                before_sequence=page[-1]["sequence"], **more)
                    got += page
                names = [record["id"] for record in got]
                table.same(f"{path}: nothing twice", len(set(names)), len(names))
                table.same(f"{path}: the old ones", got[-60:], known[path])
                whole = rows(table, maker, path, limit=1000, **more)
                whole = [record["id"] for record in whole]
                begin = whole.index(names[0])
                table.same(f"{path}: nothing missed", names, whole[begin:])
    finally:
        stop.set()
        thread.join()
    table.true("it grew", len(placed) >= 20, len(placed))
    return table.wrong


@suite.case
def parameters(world):
    """W7: bad values are 400 invalid_parameter by name, an unknown market invalid_market."""
    table = Table()
    account = world.account()
    account.limit(900_000, 20)
    bad = ("-1", "", "x", "1.0", "0x1", "%201", "1%20", "+1", "1e2", "18446744073709551616",
           "18446744073709551617", "99999999999999999999999999", "--1", "1,1", "null", "%00",
           "1%00", "%D9%A1")
    cases = {"limit": ("0", "1001", "2147483647", "4294967297", "-0x1"),
             "offset": ("-9223372036854775808",),
             "before_sequence": (), "before_index": (),
             "portfolio_index": ("2147483648", "4294967296"),
             "subaccount_index": ("2147483648", "4294967296")}
    for path, more in ((ORDERS, ""), (FILLS, "&subaccount_index=0")):
        for name, values in cases.items():
            rest = "" if name == "subaccount_index" else more
            for value in (*bad, *values):
                table.problem(f"{path} {name}={value}",
                              account.read(f"{path}?{name}={value}{rest}"), 400,
                              "invalid_parameter", parameter=name)
            response = account.read(f"{path}?{name}=1&{name}=1{rest}")
            table.problem(f"{path} {name} twice", response, 400, "invalid_parameter",
                          parameter=name)
            table.ok(f"{path} {name}=1", account.read(f"{path}?{name}=1{rest}"))
    for value in ("open", "Open", "DONE", "", "OPEN,FILLED", "0", "OPEN%00", "ACTIVE"):
        table.problem(f"status={value}", account.read(f"{ORDERS}?status={value}"), 400,
                      "invalid_parameter", parameter="status")
    table.same("an encoded name", account.read(f"{ORDERS}?status=O%50EN").json,
               account.read(f"{ORDERS}?status=OPEN").json)
    for value in ("NONE-PERP", "btc-perp", "BTC", "1", "X" * 500, "BTC-PERP%20", "%42TC"):
        table.problem(f"market={value:.20}", account.read(f"{ORDERS}?market={value}"), 400,
                      "invalid_market")
    for query in ("", "?portfolio_index=0", "?limit=1", "?Subaccount_index=0"):
        table.problem(f"fills{query}", account.read(FILLS + query), 400, "invalid_parameter",
                      parameter="subaccount_index")
    return table.wrong


@suite.case
def credentials(world):
    """W10, W7: 401 without a good key; pinned elsewhere 403; a foreign list is one's own."""
    table = Table()
    exchange, account, other = world.exchange, world.account(), world.account()
    order_id = new_id()
    account.limit(900_000, 20, order_id)
    other.limit(900_000, 20)
    for path in (ORDERS, f"{FILLS}?subaccount_index=0"):
        for key in (None, "", "x", b64(bytes(32)), account.api_key[:-1], "A" * 3_000):
            table.problem(f"{path} {key!r:.20}", exchange.get(path, key), 401, "invalid_api_key")
    table.same("each its own", [[record["account_id"] for record in rows(table, who, ORDERS)]
                                for who in (account, other)], [[account.id], [other.id]])
    table.same("an account as parameter is none", [
        record["id"] for record in account.read(f"{ORDERS}?account_id={other.id}").json],
        [id_text(order_id)])
    pinned = exchange.ack(CREATE_API_KEY, api_key_body(account.id, pin=0),
                          account.session)["api_key"]
    table.same("pinned: its own", exchange.get(ORDERS, pinned).json, account.read(ORDERS).json)
    for path in (f"{ORDERS}?subaccount_index=0", f"{FILLS}?subaccount_index=0"):
        table.ok(f"pinned: {path}", exchange.get(path, pinned))
    for path in (f"{ORDERS}?subaccount_index=1", f"{ORDERS}?subaccount_index=2147483647&limit=1",
                 f"{FILLS}?subaccount_index=1", f"{FILLS}?subaccount_index=7&portfolio_index=0"):
        table.problem(f"pinned: {path}", exchange.get(path, pinned), 403,
                      "subaccount_not_permitted")
    table.problem("another's order by id", other.read(f"{ORDERS}/{id_text(order_id)}"), 404,
                  "order_not_found")
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, ()))
