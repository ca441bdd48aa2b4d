"""test_reads.py - every read of this binary: members and types of json.md, exact values worked out
by hand from rules.md, API keys, and reads that show what was acknowledged.
"""
import itertools
import os
import sys
import time

import client
from client import (CREATE_API_KEY, FOK, IOC, Account, api_key_body, b64,
                    id_text, new_id, request_bytes)
from harness import Suite, Table
from world import run

suite = Suite("reads")
USDC = 1_000_000
SECOND = 1_000_000_000
MARKETS = ("BTC-PERP", "ETH-PERP", "SOL-PERP", "XRP-PERP", "DOGE-PERP")

ORDER = {  # interface.md and J2
    "account_id": "int", "subaccount_index": "int", "portfolio_index": "int", "id": "uuid",
    "initial_size": "dec", "remaining_size": "dec", "market": "str", "order_status": "str",
    "order_type": "str", "side": "str", "time_in_force": "str", "post_only": "bool",
    "reduce_only": "bool", "expires_at": "int|null", "price": "dec|null", "filled_size": "dec",
    "average_price": "dec|null", "stp": "str", "trigger_price": "null", "trigger_source": "null",
    "oco_group": "null", "sequence": "int", "index": "int", "time": "ms", "time_ns": "ns",
    "updated_at_ns": "ns", "book_handle": "int|null"}
BALANCE = {"account_id": "int", "subaccount_index": "int", "portfolio_index": "int",
           "cash_balance": "dec", "name": "str", "status": "str", "equity": "dec",
           "initial_margin": "dec", "maintenance_margin": "dec", "withdrawable": "dec",
           "withdrawable_now": "dec"}
ACCOUNT = {"account_id": "int", "status": "str", "fee_tier": "int", "maker_fee_rate": "dec",
           "taker_fee_rate": "dec", "volume_14d": "dec", "subaccount_count": "int"}
MARKET = {"market": "str", "asset_id": "int", "base": "str", "price_decimals": "int",
          "size_decimals": "int", "tick_size": "dec", "lot_size": "dec", "min_size": "dec",
          "max_order_size": "dec", "min_notional": "dec", "impact_notional": "dec",
          "max_leverage": "int", "tiers": "list", "price_band_ppm": "int",
          "max_slippage_ppm": "int", "mark_book_ppm": "int", "oracle_sources_min": "int",
          "position_limit": "dec",
          "open_interest_limit": "dec", "fees": "list", "funding_interval_s": "int",
          "max_price": "dec", "state": "str"}
BOOK = {"market": "str", "seq": "int", "engine_seq": "int", "time_ns": "ns", "bids": "list",
        "asks": "list"}
STATUSES = """
request_completed duplicate_request_id request_dropped retry_required rejected_unauthorized
rejected_rate_limited rejected_account_suspended order_rejected_invalid order_rejected_expired
order_rejected_internal order_rejected_invalid_market rejected_invalid_portfolio_id
rejected_invalid_price rejected_invalid_size rejected_size_zero rejected_size_not_equal
rejected_order_not_found rejected_invalid_uuid rejected_mark_price_zero
rejected_invalid_order_flags invalid_reduce_only_order rejected_slippage_exceeds_maximum
rejected_self_transfer self_trade_prevention rejected_max_open_orders_exceeded
rejected_post_only_would_cross_book rejected_market_not_found rejected_market_halted
rejected_market_reduce_only rejected_market_post_only rejected_market_cancel_only market_closed
insufficient_margin_to_place insufficient_margin_to_trade rejected_insufficient_free_equity
rejected_f_o_k_not_fully_filled_insufficient_margin
rejected_f_o_k_not_fully_filled_low_liquidity rejected_max_conditional_orders_exceeded
rejected_trigger_already_satisfied conditional_order_on_books conditional_order_not_found
rejected_conditional_order_expired rejected_invalid_trigger master_key_added master_key_removed
master_key_rejected_invalid master_key_rejected_unauthorized master_key_rejected_self_removal
master_key_rejected_last_key session_created session_revoked session_rejected
session_rejected_max_sessions account_created_with_session creation_rejected
account_created_session_failed""".split()  # the interface's listing order
REASONS = """
match_limit mmp_frozen batch_aborted already_credited max_sessions_exceeded limit_reached
subaccount_not_permitted read_only_key portfolio_not_active portfolio_not_empty
portfolio_not_closed subaccount_not_active subaccount_not_closed withdrawal_pending
insufficient_free_equity invalid_parameter faucet_limit_exceeded user_cancel cancel_all
time_in_force reduce_only oco dead_man disconnect mmp liquidation market_state
operator market_gap
insurance_fund_deficit invalid_destination
""".split()  # W3, from 128


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        for asset, price in ((1, 1_000_000), (2, 300_000), (3, 1_500_000)):
            done = exchange.set_price(price, asset)
            assert done["status"] == "request_completed", done

    def account(self, usdc=10_000, label=b""):
        return Account(self.exchange, usdc * USDC, label)


def balance_path(subaccount=0, portfolio=0):
    return (f"/api/v1/portfolio/balance?subaccount_index={subaccount}"
            f"&portfolio_index={portfolio}")


def sequence_of(table, row, response):
    value = response.header("x-sequence")
    if not table.true(f"{row}: X-Sequence", value is not None and value.isdigit(), response):
        return 0
    return int(value)


@suite.case
def public_reads(world):
    """J6: members and types; X-Sequence on each (W7); no credential needed."""
    table = Table()
    exchange = world.exchange

    def read(path):
        response = exchange.get("/api/v1" + path)
        table.true(f"{path}: X-Sequence", sequence_of(table, path, response) > 0)
        return table.ok(path, response)

    begun_ns = time.time_ns()
    now = read("/time")
    table.members("/time", now, {"time_ms": "ms", "time_ns": "ns"})
    table.true("the time", begun_ns < now["time_ns"] + 2 * SECOND < time.time_ns() + 4 * SECOND,
               now)
    table.same("one instant", now["time_ms"], now["time_ns"] // 1_000_000)
    table.ok("a query", exchange.get("/api/v1/time?x=1&&y"))

    shown = read("/exchange")
    # J6 has `passkey` only where there is a relying party (test_accounts.py).
    want = {"exchange_id": "hex", "signing_public": "b64", "eip712_domain": "object",
            "rules_version": "int",
            "epoch": "int", "testnet": "bool", "durability": "str", "operator_domain": "str",
            "request_id_window_ms": "object", "limits": "object", "fee_tiers": "list",
            "request_types": "list", "statuses": "list", "reasons": "list"}
    table.members("/exchange", shown, want)
    table.same("exchange id", len(shown["exchange_id"]), 64)
    table.same("domain", shown["eip712_domain"], {
        "name": "Perpetuals", "version": "1", "salt": "0x" + shown["exchange_id"]})
    table.same("window", shown["request_id_window_ms"], {"past": 30000, "future": 5000})
    table.same("durability", shown["durability"], "local")
    table.same("operator domain (F6)", shown["operator_domain"], "perpd operator 1")
    table.same("testnet", shown["testnet"], False)
    table.same("statuses", shown["statuses"], STATUSES)
    table.same("reasons", shown["reasons"], [
        {"code": 128 + at, "name": name} for at, name in enumerate(REASONS)])
    table.same("56 statuses", len(STATUSES), 56)
    paths = {record["code"]: record["path"] for record in shown["request_types"]}
    for code, path in client.PATHS.items():
        table.same(f"path of {code}", paths.get(code), path)
    for record in shown["request_types"]:
        table.members("request type", record, {"code": "int", "name": "str", "path": "str|null"})
    table.same("path of 12", paths.get(12), "/api/v1/account/create")
    unbuilt = {18, 21}  # reserved (W2)
    table.true("only what is there", not unbuilt & set(paths), paths)
    for name, value in (("sessions", 64), ("sessions_per_parent", 16), ("api_keys", 32),
                        ("open_orders", 2000), ("session_life_default_s", 2592000),
                        ("session_life_max_s", 15552000), ("gtt_max_s", 7776000)):  # W8
        table.same(name, shown["limits"].get(name), value)
    table.same("fee tiers (R6)", shown["fee_tiers"], [
        {"tier": tier, "volume_14d": f"{millions}000000" if millions else "0"}
        for tier, millions in enumerate((0, 5, 25, 100, 500, 2000))])

    shown = read("/markets")
    table.members("/markets", shown, {"markets": "list"})
    table.same("the five of W10", [record["market"] for record in shown["markets"]],
               list(MARKETS))
    for record, name in zip(shown["markets"], MARKETS):
        table.members(name, record, MARKET)
        table.same(f"/markets/{name}", read(f"/markets/{name}"), record)
    # J5's own example, member by member and in its order.
    table.same("BTC-PERP", list(shown["markets"][0].items()), list({
        "market": "BTC-PERP", "asset_id": 1, "base": "BTC", "price_decimals": 1,
        "size_decimals": 5, "tick_size": "0.1", "lot_size": "0.00001", "min_size": "0.00001",
        "max_order_size": "10995116.27775", "min_notional": "10", "impact_notional": "20000",
        "max_leverage": 50, "tiers": [
            {"upper_notional": "20000000", "max_leverage": 50, "imr_ppm": 20000,
             "mmr_ppm": 10000},
            {"upper_notional": "100000000", "max_leverage": 25, "imr_ppm": 40000,
             "mmr_ppm": 20000},
            {"upper_notional": "500000000", "max_leverage": 10, "imr_ppm": 100000,
             "mmr_ppm": 50000},
            {"upper_notional": None, "max_leverage": 5, "imr_ppm": 200000, "mmr_ppm": 100000}],
        "price_band_ppm": 100000, "max_slippage_ppm": 50000, "mark_book_ppm": 2500,
        "oracle_sources_min": 1,
        "position_limit": "50000000", "open_interest_limit": "500000000", "fees": [
            {"tier": 0, "maker_fee_rate": "0.00015", "taker_fee_rate": "0.00045"},
            {"tier": 1, "maker_fee_rate": "0.00012", "taker_fee_rate": "0.0004"},
            {"tier": 2, "maker_fee_rate": "0.00008", "taker_fee_rate": "0.00035"},
            {"tier": 3, "maker_fee_rate": "0.00004", "taker_fee_rate": "0.0003"},
            {"tier": 4, "maker_fee_rate": "0", "taker_fee_rate": "0.00028"},
            {"tier": 5, "maker_fee_rate": "-0.00002", "taker_fee_rate": "0.00026"}],
        "funding_interval_s": 3600, "max_price": "1677721.5", "state": "ACTIVE"}.items()))
    facts = {"ETH-PERP": (2, 2, 4, "0.01", "0.0001", "20000", 50, "167772.15"),
             "SOL-PERP": (3, 4, 2, "0.001", "0.01", "6000", 20, "16777.215"),
             "XRP-PERP": (4, 6, 0, "0.0001", "1", "6000", 20, "1677.7215"),
             "DOGE-PERP": (5, 6, 0, "0.00001", "1", "6000", 20, "167.77215")}  # W10, R5, W7
    for record in shown["markets"][1:]:
        table.same(record["market"], tuple(record[name] for name in (
            "asset_id", "price_decimals", "size_decimals", "tick_size", "lot_size",
            "impact_notional", "max_leverage", "max_price")), facts[record["market"]])
    for path in ("/markets/NONE-PERP", "/markets/btc-perp", "/markets/1",
                 "/markets/NONE-PERP/book", "/markets/" + "X" * 300):
        table.problem(path, exchange.get("/api/v1" + path), 404, "not_found")
    return table.wrong


@suite.case
def reads_without_a_handler(world):
    """What this binary does not have, or has switched off, is no route: 404."""
    table = Table()
    for method, path in (("POST", "/faucet"), ("POST", "/debug/payload")):
        request = request_bytes(method, "/api/v1" + path, b"{}", [client.JSON])
        table.problem(f"{method} {path}", world.exchange.raw(request), 404, "not_found")
    return table.wrong


@suite.case
def books(world):
    """J6: levels best first, sizes summed by price, depth 1..1000."""
    table = Table()
    exchange, account = world.exchange, world.account(1_000_000)
    path = "/api/v1/markets/SOL-PERP/book"  # price_decimals 4, size_decimals 2, tick 10 raw

    def book(query=""):
        response = exchange.get(path + query)
        body = table.ok(path + query, response)
        table.members("book", body, BOOK)
        table.same("engine_seq", body.get("engine_seq"), sequence_of(table, "book", response))
        return body

    empty = book()
    table.same("empty", [empty["market"], empty["bids"], empty["asks"]], ["SOL-PERP", [], []])
    orders = [(1_490_000, 500), (1_490_000, 250), (1_480_010, 1_000), (1_510_000, -300),
              (1_520_000, -1), (1_520_000, -99_999)]
    for price, quantity in orders:
        if price * abs(quantity) < 10 * USDC:  # row 21: below 10 USDC it would be refused
            quantity *= 10
        table.same("placed", account.limit(price, quantity, asset=3)["status"],
                   "request_completed")
    full = book()
    table.same("bids", full["bids"], [["149", "7.5"], ["148.001", "10"]])
    table.same("asks", full["asks"], [["151", "3"], ["152", "1000.09"]])
    table.true("seq grows", full["seq"] > empty["seq"], full)
    one = book("?depth=1")
    table.same("depth 1", [one["bids"], one["asks"]], [[["149", "7.5"]], [["151", "3"]]])
    table.same("depth 1000", book("?depth=1000")["asks"], full["asks"])
    table.same("unknown names", book("?colour=red&depth=1")["bids"], one["bids"])
    for value in ("0", "1001", "-1", "", "x", "1.0", "0x1", " 1", "1e2",
                  "18446744073709551617", "+1", "%31%30%30%31"):
        response = exchange.get(f"{path}?depth={value.replace(' ', '%20')}")
        table.problem(f"depth={value!r}", response, 400, "invalid_parameter", parameter="depth")
    account.cancel_all()
    after = book()
    table.same("empty again", [after["bids"], after["asks"]], [[], []])
    for number in range(60):
        account.limit(1_400_000 + 10 * number, 1_000, asset=3)
    table.same("default depth 50", len(book()["bids"]), 50)
    table.same("best first", book()["bids"][0][0], "140.059")
    table.same("depth 60", len(book("?depth=60")["bids"]), 60)
    account.cancel_all()
    return table.wrong


@suite.case
def api_key_checks(world):
    """W7, W10: 401 invalid_api_key; pinned elsewhere 403; a foreign or missing thing 404."""
    table = Table()
    exchange, account, other = world.exchange, world.account(), world.account()
    order_id = new_id()
    account.limit(900_000, 20, order_id)
    order_path = f"/api/v1/orders/{id_text(order_id)}"
    wrong = [None, "", "x", "AAAA", b64(bytes(31)), b64(bytes(32)), b64(os.urandom(32)),
             account.api_key[:-1], account.api_key + "=", account.api_key.lower(),
             b64(os.urandom(33)), "A" * 4_000, account.api_key.replace("=", "")]
    for path in (order_path, balance_path(), "/api/v1/account"):
        for key in wrong:
            table.problem(f"{path} {key!r:.40}", exchange.get(path, key), 401, "invalid_api_key")
        response = exchange.get(path, None, [("X-DEVICE-KEY", account.api_key)])
        table.true(f"{path}: a device key", response.status == 401, response)
        response = exchange.get(path, None, [("Authorization", f"Bearer {account.api_key}")])
        table.problem(f"{path}: a bearer token", response, 401, "invalid_api_key")
        response = exchange.get(path, None, [("X-API-KEY", account.api_key),
                                             ("X-API-KEY", other.api_key)])
        table.true(f"{path}: two keys", response.status in (400, 401), response)
        table.ok(f"{path}: good", exchange.get(path, account.api_key))
        table.ok(f"{path}: name in another case", exchange.get(
            path, None, [("x-api-key", account.api_key)]))
    table.problem("another account's order", exchange.get(order_path, other.api_key), 404,
                  "order_not_found")
    table.problem("an unknown order", account.order(new_id()), 404, "order_not_found")
    for text in ("x", "0198c0de", id_text(order_id)[:-1], id_text(order_id) + "0",
                 id_text(order_id).replace("-", ""), "{" + id_text(order_id) + "}",
                 "g" + id_text(order_id)[1:]):
        table.problem(f"id {text}", account.read(f"/api/v1/orders/{text}"), 400,
                      "invalid_parameter", parameter="id")
    table.same("upper case", account.read(f"/api/v1/orders/{id_text(order_id).upper()}").json,
               account.order(order_id).json)  # J1: either case in requests
    version4 = id_text(order_id[:6] + b"\x40" + order_id[7:])
    response = account.read(f"/api/v1/orders/{version4}")
    table.true("a UUID of version 4", response.status in (400, 404), response)
    for row, path, name in (
            ("no parameter", "/api/v1/portfolio/balance", None),
            ("no portfolio", "/api/v1/portfolio/balance?subaccount_index=0", "portfolio_index"),
            ("no subaccount", "/api/v1/portfolio/balance?portfolio_index=0", "subaccount_index"),
            ("negative", balance_path(-1), "subaccount_index"),
            ("a word", balance_path(0, "main"), "portfolio_index"),
            ("empty", balance_path(""), "subaccount_index"),
            ("2^31", balance_path(2**31), "subaccount_index"),
            ("2^32", balance_path(0, 2**32), "portfolio_index"),
            ("2^64", balance_path(0, 2**64), "portfolio_index"),
            ("a fraction", balance_path(0, "0.0"), "portfolio_index")):
        extra = {"parameter": name} if name else {}
        table.problem(row, account.read(path), 400, "invalid_parameter", **extra)
    for row, path in (("no such portfolio", balance_path(0, 1)),
                      ("no such subaccount", balance_path(1)),
                      ("the largest", balance_path(2**31 - 1, 2**31 - 1))):
        table.problem(row, account.read(path), 404, "portfolio_not_found")
    pinned = exchange.ack(CREATE_API_KEY, api_key_body(account.id, pin=0),
                          account.session)["api_key"]
    table.ok("pinned: its balance", exchange.get(balance_path(), pinned))
    table.ok("pinned: its order", exchange.get(order_path, pinned))
    table.ok("pinned: account", exchange.get("/api/v1/account", pinned))
    table.problem("pinned: another subaccount", exchange.get(balance_path(1), pinned), 403,
                  "subaccount_not_permitted")
    table.problem("pinned: no such portfolio", exchange.get(balance_path(0, 5), pinned), 404,
                  "portfolio_not_found")
    writer = exchange.ack(CREATE_API_KEY, api_key_body(account.id, scope=1),
                          account.master)["api_key"]
    table.ok("READ_WRITE reads", exchange.get("/api/v1/account", writer))
    return table.wrong


@suite.case
def account_record(world):
    """J2, R6 tier 0, R10: a new account; the label is absent when empty."""
    table = Table()
    plain = world.account(0)
    response = plain.read("/api/v1/account")
    record = table.ok("account", response)
    table.same("slots", len(record.pop("slots")["tables"]), 11)  # test_slots.py has them
    table.members("account", record, ACCOUNT)
    table.same("a new account", record, {
        "account_id": plain.id, "status": "ACTIVE", "fee_tier": 0, "maker_fee_rate": "0.00015",
        "taker_fee_rate": "0.00045", "volume_14d": "0", "subaccount_count": 1})
    label = 'ä "quoted" \\ </script> \u2028'
    named = world.account(0, label.encode()[:32])
    record = named.read("/api/v1/account").json
    del record["slots"]
    table.members("account", record, {**ACCOUNT, "label": "str"})
    table.same("label", record["label"], label.encode()[:32].decode())
    balance = named.read(balance_path()).json
    table.members("balance", balance, BALANCE)
    table.same("a new portfolio", balance, {
        "account_id": named.id, "subaccount_index": 0, "portfolio_index": 0, "cash_balance": "0",
        "name": "Main", "status": "ACTIVE", "equity": "0", "initial_margin": "0",
        "maintenance_margin": "0", "withdrawable": "0",
        "withdrawable_now": "0"})
    return table.wrong


@suite.case
def order_record(world):
    """J2: an order through its life, and the balances that follow from R2, R4 and R6."""
    table = Table()
    maker, taker = world.account(), world.account()
    order_id = new_id()
    ack = maker.limit(1_000_000, -50_000, order_id)  # sells 0.5 BTC at 100,000
    table.same("placed", ack["status"], "request_completed")
    response = maker.order(order_id)
    record = table.ok("order", response)
    table.true("X-Sequence", sequence_of(table, "order", response) >= ack["sequence"])
    table.members("order", record, ORDER)
    placed = ack["processed_at_ns"]
    want = {"account_id": maker.id, "subaccount_index": 0, "portfolio_index": 0,
            "id": id_text(order_id), "initial_size": "0.5", "remaining_size": "0.5",
            "market": "BTC-PERP", "order_status": "OPEN", "order_type": "LIMIT", "side": "SHORT",
            "time_in_force": "GTC", "post_only": False, "reduce_only": False, "expires_at": None,
            "price": "100000", "filled_size": "0", "average_price": None, "stp": "EXPIRE_TAKER",
            "trigger_price": None, "trigger_source": None, "oco_group": None,
            "sequence": ack["sequence"], "index": record["index"], "time": placed // 1_000_000,
            "time_ns": placed, "updated_at_ns": placed, "book_handle": record["book_handle"]}
    table.same("open", list(record.items()), list(want.items()))
    # R4: 0.5 resting: worst = 0.5, N = 50,000; leverage min(20, 50) = 20 -> IM 2,500; MM of no
    # position 0. withdrawable = 10,000 - 2,500.
    table.same("reserved", maker.read(balance_path()).json, {
        "account_id": maker.id, "subaccount_index": 0, "portfolio_index": 0,
        "cash_balance": "7500", "name": "Main", "status": "ACTIVE", "equity": "10000",
        "initial_margin": "2500", "maintenance_margin": "0", "withdrawable": "7500",
        "withdrawable_now": "7500"})
    bought = new_id()
    trade = taker.limit(1_000_000, 30_000, bought, expiry=IOC)
    table.same("taken", trade["status"], "request_completed")
    want.update(remaining_size="0.2", order_status="PARTIALLY_FILLED", filled_size="0.3",
                average_price="100000", updated_at_ns=trade["processed_at_ns"])
    table.same("partly filled", list(maker.order(order_id).json.items()), list(want.items()))
    record = taker.order(bought).json
    table.members("IOC", record, ORDER)
    table.same("IOC", [record[name] for name in (
        "order_status", "side", "time_in_force", "initial_size", "remaining_size", "filled_size",
        "average_price", "expires_at")],
        ["FILLED", "LONG", "IOC", "0.3", "0", "0.3", "100000", None])
    # R6: 30,000 USDC: maker 150 ppm = 4.5, taker 450 ppm = 13.5. R4: maker short 0.3 with 0.2
    # resting: worst 0.5 -> IM 2,500; N = 30,000 -> MM 300. Mark = index = 100,000.
    table.same("maker", maker.read(balance_path()).json, {
        "account_id": maker.id, "subaccount_index": 0, "portfolio_index": 0,
        "cash_balance": "7495.5", "name": "Main", "status": "ACTIVE", "equity": "9995.5",
        "initial_margin": "2500", "maintenance_margin": "300", "withdrawable": "7495.5",
        "withdrawable_now": "7495.5"})
    table.same("taker", taker.read(balance_path()).json, {
        "account_id": taker.id, "subaccount_index": 0, "portfolio_index": 0,
        "cash_balance": "8486.5", "name": "Main", "status": "ACTIVE", "equity": "9986.5",
        "initial_margin": "1500", "maintenance_margin": "300", "withdrawable": "8486.5",
        "withdrawable_now": "8486.5"})
    for who in (maker, taker):
        table.same("volume", who.read("/api/v1/account").json["volume_14d"], "30000")
    gone = maker.cancel(order_id)
    table.same("canceled", gone["status"], "request_completed")
    want.update(order_status="CANCELED", reason="user_cancel",
                updated_at_ns=gone["processed_at_ns"], book_handle=None)
    record = maker.order(order_id).json
    table.members("canceled", record, {**ORDER, "reason": "str"})
    table.same("canceled", record, want)
    # An average of two prices: (0.1 * 100,000 + 0.2 * 100,000.1) / 0.3, 1 + 8 decimals, half-even.
    maker.limit(1_000_000, -10_000)
    maker.limit(1_000_001, -20_000)
    bought = new_id()
    taker.limit(1_000_001, 30_000, bought, expiry=FOK)
    record = taker.order(bought).json
    table.same("average", record["average_price"], "100000.066666667")
    table.same("FOK", [record["order_status"], record["time_in_force"], record["price"]],
               ["FILLED", "FOK", "100000.1"])
    expiry = time.time_ns() + 3_600 * SECOND
    order_id = new_id()
    taker.limit(900_000, 20, order_id, expiry=expiry, post_only=1, stp=3)
    record = taker.order(order_id).json
    table.same("GTT", [record[name] for name in (
        "time_in_force", "expires_at", "post_only", "stp", "price", "initial_size")],
        ["GTT", expiry, True, "DECREMENT", "90000", "0.0002"])
    for stp, name in enumerate(("EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH")):
        order_id = new_id()
        taker.limit(900_000, 20, order_id, stp=stp)
        table.same(name, taker.order(order_id).json["stp"], name)
    order_id = new_id()
    ack = taker.limit(1_000_000, 0, order_id)  # row 15: kept as REJECTED (R3)
    record = taker.order(order_id).json
    table.members("rejected", record, {**ORDER, "reason": "str"})
    table.same("rejected", [record[name] for name in (
        "order_status", "reason", "initial_size", "remaining_size", "sequence", "average_price")],
        ["REJECTED", "rejected_size_zero", "0", "0", ack["sequence"], None])
    order_id = new_id()
    taker.limit(2_000_000, 777, order_id)  # row 20
    record = taker.order(order_id).json
    table.same("rejected", [record[name] for name in (
        "order_status", "reason", "initial_size", "remaining_size", "filled_size", "price")],
        ["REJECTED", "rejected_invalid_price", "0.00777", "0.00777", "0", "200000"])
    order_id = new_id()
    taker.limit(1_000_000, 20, order_id, stp=9)  # row 11: before row 13, kept nowhere
    table.problem("row 11", taker.order(order_id), 404, "order_not_found")
    for who in (maker, taker):
        who.cancel_all()
    return table.wrong


@suite.case
def profit_and_open_loss(world):
    """R2, R4: a trade above the mark, unrealised loss and profit, open loss of a resting order."""
    table = Table()
    maker, taker = world.account(), world.account()
    asset = {"asset": 2}  # mark 3,000.00; price_decimals 2, size_decimals 4
    maker.limit(310_000, -10_000, **asset)  # 1 ETH at 3,100
    taker.limit(310_000, 10_000, **asset)
    # Taker: fee 450 ppm of 3,100 = 1.395; position +1 at 3,100, mark 3,000: uPnL -100.
    # R5: one-sided or empty books leave ema 0, so mark = median(index, index, last) = index.
    # IM = 3,000 / 20 = 150; MM = 1 % of 3,000 = 30.
    table.same("taker", list(taker.read(balance_path()).json.values())[3:], [
        "9748.605", "Main", "ACTIVE", "9898.605", "150", "30", "9748.605", "9748.605"])
    # Maker: fee 150 ppm = 0.465; uPnL +100 counts in equity, not in withdrawable.
    table.same("maker", list(maker.read(balance_path()).json.values())[3:], [
        "9849.535", "Main", "ACTIVE", "10099.535", "150", "30", "9849.535", "9849.535"])
    # A bid 100 above the mark: openloss 100 * 1; worst = |-1 + ...| stays 1 (a buy closes).
    maker.limit(310_000, 10_000, **asset)
    table.same("open loss", list(maker.read(balance_path()).json.values())[3:], [
        "9749.535", "Main", "ACTIVE", "10099.535", "250", "30", "9749.535", "9749.535"])
    # Closing at 3,100: no realised profit for the maker; its maker fee 0.465 again.
    taker.limit(310_000, -10_000, expiry=IOC, **asset)
    table.same("maker flat", list(maker.read(balance_path()).json.values())[3:], [
        "9999.07", "Main", "ACTIVE", "9999.07", "0", "0", "9999.07", "9999.07"])
    table.same("taker flat", list(taker.read(balance_path()).json.values())[3:], [
        "9997.21", "Main", "ACTIVE", "9997.21", "0", "0", "9997.21", "9997.21"])
    return table.wrong


@suite.case
def fees_are_rounded_up(world):
    """R6: taker cdiv(n * 450, 1e6), maker cdiv(n * 150, 1e6), in micro-USDC."""
    table = Table()
    maker, taker = world.account(), world.account()
    maker.limit(1_000_003, -17)  # 100,000.3 * 0.00017 = 17.000051 USDC
    table.same("trade", taker.limit(1_000_003, 17)["status"], "request_completed")
    # 17,000,051 * 450 / 1e6 = 7,650.02 -> 7,651; * 150 / 1e6 = 2,550.007 -> 2,551. Position
    # +-0.00017 at 100,000.3, mark 100,000: uPnL of the taker -51 micro-USDC, of the maker +51.
    table.same("taker", taker.read(balance_path()).json["equity"], "9999.992298")
    table.same("maker", maker.read(balance_path()).json["equity"], "9999.9975")
    # IM = cdiv(17,000,000 / 20) = 0.85; taker's free cash 10,000 - 0.007651 - 0.000051 - 0.85.
    table.same("taker's free cash", taker.read(balance_path()).json["cash_balance"],
               "9999.142298")
    table.same("maker's free cash", maker.read(balance_path()).json["cash_balance"],
               "9999.147449")
    for who in (maker, taker):
        table.same("volume", who.read("/api/v1/account").json["volume_14d"], "17.000051")
    return table.wrong


@suite.case
def acknowledged_is_shown(world):
    """roles.md: a read begun after an acknowledgement shows it, on any connection."""
    table = Table()
    account = world.account()
    readers = [world.exchange.open() for _ in range(4)]
    key = ("X-API-KEY", account.api_key)
    last = 0
    for number, reader in zip(range(100), itertools.cycle(readers)):
        order_id = new_id()
        ack = account.limit(900_000, 20, order_id)
        path = f"/api/v1/orders/{id_text(order_id)}"
        response = reader.exchange(request_bytes("GET", path, None, [key]))
        table.same(f"order {number}", response.json.get("order_status"), "OPEN")
        shown = sequence_of(table, f"order {number}", response)
        table.true("X-Sequence", shown >= ack["sequence"] and shown >= last, (shown, ack))
        last = shown
        account.cancel(order_id)
        response = reader.exchange(request_bytes("GET", path, None, [key]))
        table.same(f"order {number}", response.json.get("order_status"), "CANCELED")
    for reader in readers:
        reader.close()
    return table.wrong


@suite.case
def admin_reads(world):
    """J7: members and types, and sums that the suite's own deposits explain."""
    table = Table()
    exchange = world.exchange
    audit = table.ok("/audit", exchange.admin("/audit"))
    table.members("/audit", audit, {
        "sequence": "int", "markets": "list", "totals": "object", "i1": "bool", "i2": "bool",
        "i3": "bool", "i4": "bool", "i5": "bool", "i6": "bool", "i7": "bool", "i8": "bool",
        "i9": "bool", "i10": "bool", "solvency": "object",
        "recount_differences": "int"})
    table.members("solvency", audit["solvency"], {
        "fund": "dec", "fee_account": "dec", "owed": "dec", "net": "dec", "claims": "dec",
        "short": "bool"})
    for record in audit["markets"]:
        table.members("market", record, {
            "market": "str", "size_sum": "dec", "cost_sum": "dec", "best_bid": "dec|null",
            "best_ask": "dec|null", "funding_pool": "dec"})
        table.same(f"{record['market']}: I1", record["size_sum"], "0")
    totals = audit["totals"]
    table.members("totals", totals, dict.fromkeys((
        "cash", "cost", "fee_account", "withdrawals_pending", "funding_pool", "deposits",
        "faucet", "top_ups", "withdrawals_settled"), "dec"))
    table.same("invariants", [audit[f"i{number}"] for number in range(1, 11)], [True] * 10)
    table.same("recount", audit["recount_differences"], 0)

    def micro(text):
        whole, _, part = text.partition(".")
        value = int(whole.lstrip("-")) * USDC + int(part.ljust(6, "0"))
        return -value if text.startswith("-") else value

    left = (micro(totals["cash"]) - micro(totals["cost"]) + micro(totals["fee_account"])
            + micro(totals["withdrawals_pending"]) + micro(totals["funding_pool"]))
    right = (micro(totals["deposits"]) + micro(totals["faucet"]) + micro(totals["top_ups"])
             - micro(totals["withdrawals_settled"]))
    table.same("I2 (R2)", left, right)
    table.same("/livez", table.ok("/livez", exchange.admin("/livez")), {"live": True})
    ready = table.ok("/readyz", exchange.admin("/readyz"))
    table.members("/readyz", ready, {"ready": "bool", "reasons": "list", "applied": "int",
                                     "durable": "int", "lag_ms": "int",
                                     "clock_difference_ms": "int", "replay_percent": "int"})
    table.same("ready", [ready["ready"], ready["reasons"]], [True, []])
    metrics = exchange.admin("/metrics")
    table.same("/metrics", metrics.status, 200)
    table.true("media type", metrics.header("content-type").startswith("text/plain"), metrics)
    for line in metrics.body.decode().splitlines():
        parts = line.rsplit(" ", 1)
        if not line.startswith("#"):
            try:
                float(parts[1])
            except (IndexError, ValueError):
                table.true("a sample", False, line)
    return table.wrong


if __name__ == "__main__":
    sys.exit(run(suite, World, (), window=()))
