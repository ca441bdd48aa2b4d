"""test_positions.py - positions, balances, subaccounts and leverage from outside: every number
worked out by hand from rules.md R2, R4, R6 and R7, the errors of PUT /api/v1/leverage.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import json
import sys
import time
from fractions import Fraction

from client import (CREATE_API_KEY, IOC, JSON, REVOKE_API_KEY, Account, api_key_body, b64, id_text,
                    new_id, request_bytes, revoke_key_body)
from harness import Suite, Table
from records import BALANCE, LEVERAGE, POSITION, SUBACCOUNT, decimal, engine_id, in_order, usdc
from world import BTC, BTC_PRICE, ETH, SOL, USDC, XRP, run, seen

suite = Suite("positions")
POSITIONS, LEVERAGE_PATH = "/api/v1/positions", "/api/v1/leverage"
BALANCES, SUBACCOUNTS = "/api/v1/portfolio/cash_balances", "/api/v1/subaccounts"
ONE_BALANCE = "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0"


class World:
    """Books are one-sided between commands, so ema stays 0 and every mark is the index (R5)."""

    def __init__(self, exchange):
        self.exchange = exchange
        self.price(BTC, BTC_PRICE)
        self.price(ETH, 300_000)
        self.price(SOL, 1_500_000)
        self.price(XRP, 2_000_000)

    def price(self, asset, price):
        done = self.exchange.set_price(price, asset)
        assert done["status"] == "request_completed", done

    def account(self, usdc=10_000):
        return Account(self.exchange, usdc * USDC)

    def trade(self, maker, taker, price, quantity, **more):
        """quantity > 0: the taker buys; the answer is the taker's."""
        done = maker.limit(price, -quantity, **more)
        assert done["status"] == "request_completed", done
        done = taker.limit(price, quantity, expiry=IOC, **more)
        assert done["status"] == "request_completed", done
        return done


def positions(table, who, query=""):
    got = table.ok(POSITIONS, who.read(POSITIONS + query))
    in_order(table, "position", got, POSITION)
    for record in got:
        table.true("quantile (J2)", record["adl_quantile"] in range(5), record)
        record.pop("adl_quantile", None)
    return got


def liquidation_price(size, cost, rest, mark, mmr_ppm, tick, decimals):
    """R7: E = MM in one position of the first tier, toward the mark. Money in micro-USDC; `rest` is
    cash + uPnL - MM of everything else: rest + p s - c = p |s| mmr."""
    rate = Fraction(mmr_ppm, 1_000_000)
    price = (cost - rest) / (size - abs(size) * rate) / tick
    whole = -(-price.numerator // price.denominator) if size > 0 else (
        price.numerator // price.denominator)
    return decimal(whole * tick, decimals) if whole > 0 else None


@suite.case
def one_position(world):
    """J2, R2, R4, R7: 0.3 BTC bought at 100,000; then the mark at 99,990 and 101,000."""
    table = Table()
    maker, taker = world.account(), world.account()
    table.same("none", positions(table, taker), [])
    ack = world.trade(maker, taker, 1_000_000, 30_000)
    # R6: taker 13.5, maker 4.5. Ids of the fill: maker's 0, maker's position 1, taker's 2, 3.
    sequence, when = ack["sequence"], ack["processed_at_ns"]

    def want(who, number, side, mark, pnl, margin, maintenance, liquidation):
        return {"account_id": who.id, "subaccount_index": 0, "portfolio_index": 0,
                "id": engine_id(when, sequence, number), "market": "BTC-PERP", "side": side,
                "size": "0.3", "average_entry_price": "100000", "net_funding": "0",
                "mark_price": mark, "unrealized_pnl": pnl, "liquidation_price": liquidation,
                "leverage": 20, "initial_margin": margin, "maintenance_margin": maintenance}

    short = liquidation_price(-30_000, -30_000 * USDC, 9_995_500_000, 0, 10_000, 1, 1)
    table.same("J2's example", short, "131998.3")
    # Long: 9,986.5 + 0.3 p - 30,000 = 0.003 p -> p = 67,385.52..., up to the tick.
    long = liquidation_price(30_000, 30_000 * USDC, 9_986_500_000, 0, 10_000, 1, 1)
    table.same("by hand", long, "67385.6")
    table.same("taker", positions(table, taker), [
        want(taker, 3, "LONG", "100000", "0", "1500", "300", long)])
    table.same("maker", positions(table, maker), [
        want(maker, 1, "SHORT", "100000", "0", "1500", "300", short)])
    # 0.3 at 99,990: N 29,997, IM / 20 = 1,499.85, MM 1 % = 299.97, as J2's short has it.
    world.price(BTC, 999_900)
    table.same("taker", positions(table, taker), [
        want(taker, 3, "LONG", "99990", "-3", "1499.85", "299.97", long)])
    table.same("maker", positions(table, maker), [
        want(maker, 1, "SHORT", "99990", "3", "1499.85", "299.97", short)])
    world.price(BTC, 1_010_000)
    table.same("taker", positions(table, taker), [
        want(taker, 3, "LONG", "101000", "300", "1515", "303", long)])
    # Profit does not free cash: 9,986.5 - 1,515; loss does: 9,995.5 - 300 - 1,515 (R4).
    for who, numbers in ((taker, ("8471.5", "10286.5", "1515", "303", "8471.5")),
                         (maker, ("8180.5", "9695.5", "1515", "303", "8180.5"))):
        record = table.ok("balance", who.read(ONE_BALANCE))
        in_order(table, "balance", [record], BALANCE)
        table.same("balance", tuple(record[name] for name in (
            "cash_balance", "equity", "initial_margin", "maintenance_margin", "withdrawable")),
            numbers)
        table.same("cash_balances", who.read(BALANCES).json, [record])
        shown = table.ok("subaccounts", who.read(SUBACCOUNTS))
        in_order(table, "subaccount", shown, SUBACCOUNT)
        table.same("subaccounts", shown, [{"subaccount_index": 0, "status": "ACTIVE",
                                           "portfolio_count": 1, "cash_balance": numbers[0]}])
    world.price(BTC, BTC_PRICE)
    return table.wrong


@suite.case
def life_of_a_position(world):
    """R2: the average of a cost, a part closed, a flip; R2: a new id from zero or by a flip."""
    table = Table()
    maker, taker = world.account(100_000), world.account(100_000)

    def one():
        records = positions(table, taker)
        table.same("one position", len(records), 1)
        return records[0]

    first = world.trade(maker, taker, 1_000_000, 100)
    world.trade(maker, taker, 1_000_001, 200)
    # (0.001 * 100,000 + 0.002 * 100,000.1) / 0.003 = 100,000.0666..., 1 + 8 decimals.
    record = one()
    table.same("added", [record[name] for name in ("size", "average_entry_price",
                                                   "unrealized_pnl")],
               ["0.003", "100000.066666667", "-0.0002"])
    opened = record["id"]
    table.same("its id", opened, engine_id(first["processed_at_ns"], first["sequence"], 3))
    # 0.001 closed: cr = tdiv(300.0002 * 100 / 300) = 100.000066; left 200.000134 of 0.002.
    world.trade(maker, taker, 1_000_000, -100)
    record = one()
    table.same("reduced", [record[name] for name in ("id", "size", "average_entry_price")],
               [opened, "0.002", "100000.067"])
    table.same("its loss", record["unrealized_pnl"], "-0.000134")
    done = world.trade(maker, taker, 1_000_000, -300)
    record = one()
    table.same("flipped", [record[name] for name in (
        "side", "size", "average_entry_price", "unrealized_pnl")],
        ["SHORT", "0.001", "100000", "0"])
    # Both flip: maker's fill 0, its position 1, taker's fill 2, its position 3.
    table.same("a new id", record["id"],
               engine_id(done["processed_at_ns"], done["sequence"], 3))
    # Half-even of an exact half is not reached here; a fifth: 2 at 1,000,000, 3 at 1,000,003.
    world.trade(maker, taker, 1_000_000, 100)
    table.same("closed", positions(table, taker), [])
    table.same("closed for the maker", positions(table, maker), [])
    for who in (maker, taker):
        record = who.read(ONE_BALANCE).json
        table.same("nothing bound", [record["initial_margin"], record["maintenance_margin"]],
                   ["0", "0"])
        table.same("all of it free", record["cash_balance"], record["equity"])
    return table.wrong


def parts(table, holder, markets):
    """W7: limit and offset of the lists without pages; by portfolio and asset id."""
    for query, part in (("limit=2", markets[:2]), ("limit=2&offset=2", markets[2:]),
                        ("offset=1", markets[1:]), ("limit=1000", markets), ("offset=3", []),
                        (f"offset={2**64 - 1}", []), ("limit=1&offset=1", markets[1:2]),
                        ("market=SOL-PERP&limit=1", markets[2:]), ("market=SOL-PERP&offset=1", [])):
        table.same(query, [record["market"] for record in holder.read(
            f"{POSITIONS}?{query}").json], part)
    for path in (BALANCES, SUBACCOUNTS):
        whole = holder.read(path).json
        table.same(path, [len(whole)] + [holder.read(f"{path}?{query}").json for query in (
            "limit=1", "limit=1000&offset=0", "offset=1")], [1, whole, whole, []])
    for path in (POSITIONS, BALANCES, SUBACCOUNTS):
        for name, value in (("limit", "0"), ("limit", "1001"), ("limit", ""), ("offset", "-1"),
                            ("offset", str(2**64))):
            table.problem(f"{path}?{name}={value}", holder.read(f"{path}?{name}={value}"), 400,
                          "invalid_parameter", parameter=name)


@suite.case
def two_markets(world):
    """R4, R7: one pool: the liquidation price of each holds the other's mark; filters."""
    table = Table()
    maker, holder = world.account(1_000_000), world.account(5_000)
    world.trade(maker, holder, 1_000_000, 20_000)             # +0.2 BTC, N 20,000, fee 9
    world.trade(maker, holder, 300_000, -50_000, asset=ETH)   # -5 ETH, N 15,000, fee 6.75
    world.trade(maker, holder, 1_500_000, 1_000, asset=SOL)   # +10 SOL, N 1,500, fee 0.675
    world.price(ETH, 301_000)  # 3,010: the short has lost 50
    cash = (5_000_000_000 - 9_000_000 - 6_750_000 - 675_000)
    # MM: BTC, ETH 1 % of N; SOL max 20x: imr 50,000, mmr 25,000.
    margins = {BTC: 200_000_000, ETH: 150_500_000, SOL: 37_500_000}
    pnl = {BTC: 0, ETH: -50_000_000, SOL: 0}

    def rest(asset):
        return cash + sum(pnl[other] - margins[other] for other in pnl if other != asset)

    want = {
        "BTC-PERP": ("LONG", "0.2", "100000", "100000", "0", 20, "1000", "200", liquidation_price(
            20_000, 20_000 * USDC, rest(BTC), 0, 10_000, 1, 1)),
        "ETH-PERP": ("SHORT", "5", "3000", "3010", "-50", 20, "752.5", "150.5", liquidation_price(
            -50_000, -15_000 * USDC, rest(ETH), 0, 10_000, 1, 2)),
        "SOL-PERP": ("LONG", "10", "150", "150", "0", 20, "75", "37.5", liquidation_price(
            1_000, 1_500 * USDC, rest(SOL), 0, 25_000, 10, 4))}
    table.same("SOL has none: 10 * 150 cannot take 4,500", want["SOL-PERP"][-1], None)
    shown = positions(table, holder)
    table.same("three", {record["market"]: tuple(record[name] for name in (
        "side", "size", "average_entry_price", "mark_price", "unrealized_pnl", "leverage",
        "initial_margin", "maintenance_margin", "liquidation_price")) for record in shown}, want)
    equity = cash - 50_000_000
    record = holder.read(ONE_BALANCE).json
    table.same("the pool", [record[name] for name in (
        "equity", "initial_margin", "maintenance_margin", "withdrawable", "cash_balance")],
        [usdc(equity), "1827.5", "388", usdc(equity - 1_827_500_000),
         usdc(equity - 1_827_500_000)])
    for query, markets in (("?market=ETH-PERP", ["ETH-PERP"]), ("?market=XRP-PERP", []),
                           ("?portfolio_index=0", list(want)), ("?portfolio_index=1", []),
                           ("?portfolio_index=2147483647", []),
                           ("?portfolio_index=0&market=SOL-PERP", ["SOL-PERP"]),
                           ("?colour=red", list(want))):
        got = positions(table, holder, query)
        table.same(query, sorted(record["market"] for record in got), sorted(markets))
    parts(table, holder, list(want))
    for value in ("NONE-PERP", "", "btc-perp", "1", "BTC-PERP%20", "BTC"):
        table.problem(f"market={value}", holder.read(f"{POSITIONS}?market={value}"), 400,
                      "invalid_market")
    for value in ("-1", "", "x", "2147483648", "4294967296", "0.0", "+0", "%200"):
        table.problem(f"portfolio_index={value}",
                      holder.read(f"{POSITIONS}?portfolio_index={value}"), 400,
                      "invalid_parameter", parameter="portfolio_index")
    # A resting order binds margin of its portfolio; it is no position.
    holder.limit(1_000_000, 1_000)  # + 0.01 BTC, worst 0.21: IM 1,050
    table.same("no position", len(positions(table, holder)), 3)
    table.same("margin", holder.read(ONE_BALANCE).json["initial_margin"], "1877.5")
    holder.cancel_all()
    world.price(ETH, 300_000)
    return table.wrong


@suite.case
def quantiles(world):
    """J2: 0 to 4, 4 the first to be deleveraged: five shorts by the price they sold at (R7)."""
    table = Table()
    buyer = world.account(100_000)
    sellers = [world.account() for _ in range(5)]
    for number, seller in enumerate(sellers):  # 2.00 to 2.08 USDC, mark 2: the last has most
        world.trade(seller, buyer, 2_000_000 + 20_000 * number, 1_000, asset=XRP)

    def shown(accounts):
        return [account.read(POSITIONS).json[0]["adl_quantile"] for account in accounts]

    by_score = [0, 1, 2, 3, 4]
    table.same("by score", seen(lambda: shown(sellers), by_score), by_score)
    table.same("alone on its side", seen(lambda: shown([buyer]), [4]), [4])
    return table.wrong


def put(exchange, key, body, headers=(), method="PUT", media=JSON):
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    headers = ([media] if media else []) + list(headers)
    if key is not None:
        headers.append(("X-API-KEY", key))
    return exchange.kept(request_bytes(method, LEVERAGE_PATH, body, headers))


def setting(leverage, market="BTC-PERP", portfolio=0, subaccount=0):
    return {"leverage": leverage, "market": market, "portfolio_index": portfolio,
            "subaccount_index": subaccount}


@suite.case
def leverage(world):
    """R4, interface: the setting and its answer, IM and positions at it, E >= IM when lowered."""
    table = Table()
    maker, holder = world.account(1_000_000), world.account(3_000)
    exchange = world.exchange
    key = exchange.ack(CREATE_API_KEY, api_key_body(holder.id, scope=1), holder.session)["api_key"]

    def choose(row, value, market="BTC-PERP"):
        response = put(exchange, key, setting(value, market))
        record = table.ok(row, response)
        in_order(table, row, [record] if record else [], LEVERAGE)
        table.same(row, record, {**setting(value, market), "account_id": holder.id})

    choose("before any position", 50)
    world.trade(maker, holder, 1_000_000, 20_000)  # N 20,000, fee 9, E 2,991
    record = positions(table, holder)[0]
    table.same("at 50", [record[name] for name in ("leverage", "initial_margin",
                                                   "maintenance_margin")], [50, "400", "200"])
    # The setting is no part of E = MM (R7).
    want = liquidation_price(20_000, 20_000 * USDC, 2_991_000_000, 0, 10_000, 1, 1)
    for value, margin in ((49, "408.163266"), (20, "1000"), (7, "2857.142858"), (50, "400"),
                          (7, "2857.142858")):
        choose(f"to {value}", value)  # cdiv(20,000 USDC, leverage)
        record = positions(table, holder)[0]
        table.same(f"at {value}", [record[name] for name in (
            "leverage", "initial_margin", "maintenance_margin", "liquidation_price")],
            [value, margin, "200", want])
        table.same(f"balance at {value}", holder.read(ONE_BALANCE).json["initial_margin"], margin)
    # 20,000 / 6 = 3,333.3 > 2,991.
    for value in (6, 1):
        table.problem(f"to {value}", put(exchange, key, setting(value)), 409,
                      "insufficient_free_equity")
    table.same("unchanged", positions(table, holder)[0]["leverage"], 7)
    choose("the same again", 7)
    # Orders reserve at the setting: 0.001 BTC more is 100 / 7; free is 2,991 - 2,857.142858.
    table.same("an order", holder.limit(1_000_000, 100)["status"], "request_completed")
    table.same("margin", holder.read(ONE_BALANCE).json["initial_margin"], "2871.428572")
    holder.cancel_all()
    choose("another market", 3, "SOL-PERP")
    choose("a market without a mark, no position there", 5, "DOGE-PERP")
    table.same("BTC keeps its own", positions(table, holder)[0]["leverage"], 7)
    world.trade(maker, holder, 1_000_000, -20_000)
    table.same("flat", positions(table, holder), [])
    world.trade(maker, holder, 1_000_000, 1_000)
    table.same("the setting outlives a position", positions(table, holder)[0]["leverage"], 7)
    table.same("the maker has the default", positions(table, maker)[0]["leverage"], 20)
    world.trade(maker, holder, 1_000_000, -1_000)
    return table.wrong


@suite.case
def leverage_refused(world):
    """W10, R11 code 2001, J3: 400, 401, 403, 404, 405, 415 in R11's order."""
    table = Table()
    exchange, account, other = world.exchange, world.account(), world.account()

    def key_of(who, **more):
        return exchange.ack(CREATE_API_KEY, api_key_body(who.id, **more), who.session)["api_key"]

    write, read = key_of(account, scope=1), account.api_key
    pinned, foreign = key_of(account, scope=1, pin=0), key_of(other, scope=1)
    table.ok("READ_WRITE", put(exchange, write, setting(10)))
    table.ok("pinned", put(exchange, pinned, setting(10)))
    for key in (None, "", "x", b64(bytes(32)), write[:-1]):
        table.problem(f"key {key!r}", put(exchange, key, setting(10)), 401, "invalid_api_key")
    table.problem("READ", put(exchange, read, setting(10)), 403, "read_only_key")
    table.problem("READ before the portfolio", put(exchange, read, setting(10, portfolio=9)), 403,
                  "read_only_key")
    table.problem("READ and pinned: the scope first",
                  put(exchange, key_of(account, pin=0), setting(10, subaccount=1)), 403,
                  "read_only_key")
    table.problem("pinned elsewhere", put(exchange, pinned, setting(10, subaccount=1)), 403,
                  "subaccount_not_permitted")
    for row, more in (("no portfolio", {"portfolio": 1}), ("no subaccount", {"subaccount": 1}),
                      ("the largest", {"portfolio": 2**31 - 1, "subaccount": 2**31 - 1})):
        table.problem(row, put(exchange, write, setting(10, **more)), 404, "portfolio_not_found")
    table.problem("portfolio before market", put(exchange, write, setting(
        10, "NONE-PERP", portfolio=1)), 404, "portfolio_not_found")
    for market in ("NONE-PERP", "", "btc-perp", "X" * 40):
        table.problem(f"market {market!r}", put(exchange, write, setting(10, market)), 400,
                      "invalid_market")
    table.problem("market before leverage", put(exchange, write, setting(0, "NONE-PERP")), 400,
                  "invalid_market")
    for market, value in (("BTC-PERP", 0), ("BTC-PERP", -1), ("BTC-PERP", 51), ("SOL-PERP", 21),
                          ("BTC-PERP", 2**31 - 1), ("BTC-PERP", -2**31)):
        table.problem(f"{market} at {value}", put(exchange, write, setting(value, market)), 400,
                      "invalid_parameter", parameter="leverage")
    for name in ("leverage", "market", "portfolio_index", "subaccount_index"):
        body = setting(10)
        del body[name]
        table.problem(f"without {name}", put(exchange, write, body), 400, "invalid_parameter",
                      parameter=name)
        wrong = [None, True, [], {}, 1.5] + ([7] if name == "market" else ["10", 2**31, 2**64])
        if name.endswith("index"):
            wrong.append(-1)
        for value in wrong:
            table.problem(f"{name}: {value!r}", put(exchange, write, {**setting(10), name: value}),
                          400, "invalid_parameter", parameter=name)
    text = json.dumps(setting(10)).encode()
    for row, body in (("empty", b""), ("an array", b"[" + text + b"]"), ("cut", text[:-1]),
                      ("twice", text + text), ("a duplicate", text[:-1] + b',"leverage":10}'),
                      ("a NUL", text + b"\0"), ("no UTF-8", text[:-1] + b',"x":"\xff"}'),
                      ("depth 9", text[:-1] + b',"x":' + b"[" * 8 + b"]" * 8 + b"}"),
                      ("a leading zero", text.replace(b"10", b"010"))):
        table.problem(row, put(exchange, write, body), 400, "malformed_json")
    table.ok("unknown members", put(exchange, write, {**setting(10), "x": [{"y": None}]}))
    table.ok("parameters of the type", put(exchange, write, setting(10), media=(
        "Content-Type", "Application/JSON; charset=utf-8")))
    for media in (None, ("Content-Type", "text/plain"),
                  ("Content-Type", "application/octet-stream")):
        table.problem(f"media {media}", put(exchange, write, setting(10), media=media), 415,
                      "unsupported_media_type")
    for method in ("GET", "POST", "DELETE", "PATCH"):
        body = None if method == "GET" else text
        response = exchange.raw(request_bytes(method, LEVERAGE_PATH, body,
                                              [JSON, ("X-API-KEY", write)]))
        table.problem(method, response, 405, "method_not_allowed")
    response = put(exchange, write, text.ljust(20_000))
    table.problem("20,000 bytes", response, 413, "payload_too_large")
    table.problem("another account's key acts on its own", put(exchange, foreign, setting(
        10, portfolio=1)), 404, "portfolio_not_found")
    before = other.read(ONE_BALANCE).json["account_id"]
    shown = table.ok("its own", put(exchange, foreign, setting(10))).get("account_id")
    table.same("its own", shown, before)
    made = exchange.ack(CREATE_API_KEY, api_key_body(account.id, scope=1), account.session)
    raw = bytes.fromhex(made["api_key_id"].replace("-", ""))
    exchange.ack(REVOKE_API_KEY, revoke_key_body(account.id, raw), account.session)
    table.problem("revoked", put(exchange, made["api_key"], setting(10)), 401, "invalid_api_key")
    return table.wrong


@suite.case
def who_may_read(world):
    """W10, W7: 401 on each; a key sees its own account; a pinned one its subaccount."""
    table = Table()
    exchange, account, other = world.exchange, world.account(), world.account(0)
    world.trade(account, world.account(), 1_000_000, 100)
    pinned = exchange.ack(CREATE_API_KEY, api_key_body(account.id, pin=0),
                          account.session)["api_key"]
    for path in (POSITIONS, BALANCES, SUBACCOUNTS, ONE_BALANCE):
        for key in (None, "", "x", b64(bytes(32)), account.api_key[:-1]):
            table.problem(f"{path} {key!r}", exchange.get(path, key), 401, "invalid_api_key")
        response = account.read(path)
        table.true(f"{path}: X-Sequence", (response.header("x-sequence") or "").isdigit(), response)
        table.same(f"{path}: pinned", exchange.get(path, pinned).json, response.json)
        for method in ("POST", "PUT", "DELETE"):
            table.problem(f"{method} {path}", exchange.raw(request_bytes(
                method, path, b"{}", [JSON, ("X-API-KEY", account.api_key)])), 405,
                "method_not_allowed")
    table.problem("pinned: another subaccount", exchange.get(
        ONE_BALANCE.replace("subaccount_index=0", "subaccount_index=1"), pinned), 403,
        "subaccount_not_permitted")
    table.same("an empty account", [other.read(path).json for path in (POSITIONS, SUBACCOUNTS)],
               [[], [{"subaccount_index": 0, "status": "ACTIVE", "portfolio_count": 1,
                      "cash_balance": "0"}]])
    record = other.read(BALANCES).json
    in_order(table, "balance", record, BALANCE)
    table.same("an empty account", record, [{
        "account_id": other.id, "subaccount_index": 0, "portfolio_index": 0, "cash_balance": "0",
        "name": "Main", "status": "ACTIVE", "equity": "0", "initial_margin": "0",
        "maintenance_margin": "0", "withdrawable": "0", "withdrawable_now": "0"}])
    # R4: free = max(0, withdrawable); a loss on paper takes it away, and more.
    holder, maker = world.account(1_100), world.account()
    world.trade(maker, holder, 1_000_000, 20_000)  # N 20,000: E 1,091, IM 1,000
    world.price(BTC, 995_000)  # 0.2 * -500 = -100; N 19,900, IM 995
    record = holder.read(ONE_BALANCE).json
    table.same("below 0", [record[name] for name in ("equity", "initial_margin", "withdrawable",
                                                     "cash_balance", "withdrawable_now")],
               ["991", "995", "-4", "0", "0"])
    table.same("aggregate free cash", holder.read(SUBACCOUNTS).json[0]["cash_balance"], "0")
    world.price(BTC, BTC_PRICE)
    order_id = new_id()
    account.limit(900_000, 20, order_id)
    table.same("pinned: an order by id", exchange.get(
        f"/api/v1/orders/{id_text(order_id)}", pinned).json["order_status"], "OPEN")
    account.cancel_all()
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, ()))
