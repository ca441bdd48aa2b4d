#!/usr/bin/env python3
"""The codes of conditional orders, batches, cash and the hierarchy over HTTP: routes, members of
acknowledgements (json.md J4), plain writes (J3), and the reads that show what they did (J2, J6)."""
import struct
import sys

from client import (CREATE_API_KEY, JSON, PATHS, api_key_body, cancel_body, id_text, new_id,
                    portfolio_bytes, request_bytes)
import every_route
from harness import Suite, Table
from request_body import batch_body, batch_item, conditional_body, portfolio_body, withdraw_body
from world import USDC, World, run

suite = Suite("the rule book over HTTP")
OPERATOR = "/api/v1/operator"
PATHS.update({6: "/api/v1/trading/order/place/conditional",
              7: "/api/v1/trading/order/cancel/conditional", 8: "/api/v1/trading/order/batch",
              9: "/api/v1/cash/transfer", 10: "/api/v1/cash/withdraw",
              24: "/api/v1/portfolio/create", 25: "/api/v1/trading/schedule-cancel",
              26: "/api/v1/trading/mmp/set", 27: "/api/v1/trading/mmp/reset",
              1004: OPERATOR, 1005: OPERATOR, 1006: OPERATOR, 1007: OPERATOR, 1009: OPERATOR})


def plain(world, key, method, path, body):
    headers = [JSON] + ([("X-API-KEY", key)] if key else [])
    return world.exchange.raw(request_bytes(method, path, body.encode(), headers))


def writer(account):
    return account.exchange.ack(CREATE_API_KEY, api_key_body(account.id, scope=1),
                                account.session)["api_key"]


def completed(table, row, answer, **more):
    table.same(row, answer.get("status"), "request_completed")
    for name, value in more.items():
        table.same(f"{row}: {name}", answer.get(name), value)


@suite.case
def conditional_orders(world):
    """Code 6 waits, is shown with its trigger, is canceled by 7; 3 does not know it."""
    table, account, oco = Table(), world.account(), new_id()
    order = new_id()
    done = account.exchange.ack(6, conditional_body(account.id, 900_000, -1000, 890_000, kind=2,
                                                    source=1, live=2, oco=oco),
                                account.session, order)
    table.same("placed with LAST while nothing was traded, or not", done["status"],
               "request_completed")
    shown = account.order(order).json
    for name, value in {"order_status": "UNTRIGGERED", "order_type": "STOP_LIMIT",
                        "time_in_force": "GTC", "trigger_price": "90000",
                        "trigger_source": "LAST", "oco_group": id_text(oco), "price": "89000",
                        "expires_at": None}.items():
        table.same(name, shown[name], value)
    listed = account.read("/api/v1/orders?status=UNTRIGGERED").json
    table.same("listed", [row["id"] for row in listed], [id_text(order)])
    done = account.cancel(order)
    table.same("code 3", done["status"], "rejected_order_not_found")
    done = account.exchange.ack(7, cancel_body(account.id, order), account.session)
    completed(table, "code 7", done)
    shown = account.order(order).json
    table.same("canceled", (shown["order_status"], shown["reason"]), ("CANCELED", "user_cancel"))
    table.same("then its live_tif", shown["time_in_force"], "GTC")
    done = account.exchange.ack(7, cancel_body(account.id, order), account.session)
    table.same("again", done["status"], "conditional_order_not_found")
    refused = new_id()
    done = account.exchange.ack(6, conditional_body(account.id, 990_000, 1000), account.session,
                                refused)  # a stop buys when the mark, 100,000, is at or above it
    table.same("row 23", done["status"], "rejected_trigger_already_satisfied")
    shown = account.order(refused).json
    table.same("kept as REJECTED", (shown["order_status"], shown["trigger_price"]),
               ("REJECTED", "99000"))
    return table.wrong


@suite.case
def batches(world):
    """results in item order, in the answer and in GET /requests; atomic: all or nothing."""
    table, account = Table(), world.account()
    first, second, batch = new_id(), new_id(), new_id()
    done = account.exchange.ack(8, batch_body(account.id, [
        batch_item(0, 950_000, 1000, first), batch_item(0, 940_000, 0, second),
        batch_item(3, order_id=new_id()), batch_item(1, quantity=400, order_id=first)]),
        account.session, batch)
    want = ["request_completed", "rejected_size_zero", "rejected_order_not_found",
            "request_completed"]
    completed(table, "batch", done, results=want)
    table.same("first", account.order(first).json["remaining_size"], "0.006")
    shown = account.order(second).json
    table.same("second", (shown["order_status"], shown["price"]), ("REJECTED", "94000"))
    listed = [(row["id"], row["sequence"]) for row in account.read("/api/v1/orders").json]
    table.same("both listed, the later item first", listed,
               [(id_text(second), done["sequence"]), (id_text(first), done["sequence"])])
    known = account.read("/api/v1/requests/" + id_text(batch)).json
    table.same("GET /requests", (known["request_type"], known["results"]), ("order_batch", want))
    third = new_id()
    done = account.exchange.ack(8, batch_body(account.id, [
        batch_item(0, 930_000, 1000, third, post_only=1), batch_item(3, order_id=new_id())], 1),
        account.session)
    table.same("atomic", (done["status"], done["reason"], done["results"]),
               ("rejected_order_not_found", "batch_aborted",
                ["request_completed", "rejected_order_not_found"]))
    table.problem("nothing placed", account.order(third), 404, "order_not_found")
    response = account.exchange.send(8, batch_body(account.id, [batch_item(0, 1, 1, bytes(16))]),
                                     account.session)
    table.problem("an id that is no UUIDv7", response, 400, "request_id_not_v7")
    body = bytearray(batch_body(account.id, [batch_item(3, order_id=first)]))
    body[16] = 2
    table.problem("another length", account.exchange.send(8, bytes(body), account.session), 400,
                  "malformed_payload", field="payload")
    return table.wrong


@suite.case
def cash_and_portfolios(world):
    """24, 9, 10, 1004; rename, close, reopen; what reads show of it."""
    table, account = Table(), world.account(1000)
    exchange, key = account.exchange, writer(account)
    done = exchange.ack(24, portfolio_body(account.id, b"Hedge"), account.session)
    completed(table, "create", done, portfolio_index=1, subaccount_index=None)
    move = portfolio_bytes(account.id) + portfolio_bytes(account.id, 0, 1)
    done = exchange.ack(9, move + struct.pack("<Q", 300 * USDC), account.session)
    completed(table, "transfer", done)
    balances = account.read("/api/v1/portfolio/cash_balances").json
    table.same("balances", [(row["name"], row["cash_balance"]) for row in balances],
               [("Main", "700"), ("Hedge", "300")])
    request = new_id()
    body = withdraw_body(account.id, 300 * USDC, bytes(range(20)), portfolio=1)
    done = exchange.ack(10, body, account.session, request)
    completed(table, "withdraw", done)
    withdrawal = done["withdrawal_id"]
    known = account.read("/api/v1/requests/" + id_text(request)).json
    table.same("GET /requests", known["withdrawal_id"], withdrawal)
    again = exchange.ack(10, body, account.session, request)
    table.same("again", (again["status"], again.get("withdrawal_id")),
               ("duplicate_request_id", withdrawal))
    raw = bytes.fromhex(withdrawal.replace("-", ""))
    done = exchange.ack(1004, raw + bytes(8), exchange.operator)
    completed(table, "settled", done)
    path = "/api/v1/portfolio/1/name"
    response = plain(world, key, "PATCH", path, '{"subaccount_index":0,"name":"Gr\u00f6\u00dfe"}')
    table.same("rename", (response.status, response.json["name"], response.json["cash_balance"]),
               (200, "Gr\u00f6\u00dfe", "0"))
    for index in ("2147483648", "4294967297", "-1", "x"):
        response = plain(world, key, "PATCH", f"/api/v1/portfolio/{index}/name",
                         '{"subaccount_index":0,"name":"N"}')
        table.problem(f"portfolio {index}", response, 400, "invalid_parameter",
                      parameter="portfolio_index")
    place = '{"subaccount_index":0,"portfolio_index":%d}'
    response = plain(world, key, "POST", "/api/v1/portfolio/close", place % 0)
    table.problem("not empty", response, 409, "portfolio_not_empty")
    for step, path, status in (("close", "/api/v1/portfolio/close", "CLOSED"),
                               ("reopen", "/api/v1/portfolio/reopen", "ACTIVE")):
        response = plain(world, key, "POST", path, place % 1)
        table.same(step, (response.status, response.json),
                   (200, {"account_id": account.id, "subaccount_index": 0, "portfolio_index": 1,
                          "status": status}))
    response = plain(world, key, "POST", "/api/v1/portfolio/reopen", place % 1)
    table.problem("twice", response, 409, "portfolio_not_closed")
    response = plain(world, key, "POST", "/api/v1/portfolio/close", place % 9)
    table.problem("missing", response, 404, "portfolio_not_found")
    response = plain(world, account.api_key, "POST", "/api/v1/portfolio/close", place % 1)
    table.problem("READ", response, 403, "read_only_key")
    return table.wrong


@suite.case
def faucet(world):
    """2009 with exchange.testnet=on: the balance is the answer, the limit W7's."""
    table, account = Table(), world.account(0)
    key = writer(account)
    body = '{"subaccount_index":0,"portfolio_index":0,"amount":"%s"}'
    response = plain(world, key, "POST", "/api/v1/faucet", body % "99999.5")
    table.same("first", (response.status, response.json["cash_balance"]), (200, "99999.5"))
    response = plain(world, key, "POST", "/api/v1/faucet", body % "0.500001")
    table.problem("beyond 100,000", response, 409, "faucet_limit_exceeded")
    response = plain(world, key, "POST", "/api/v1/faucet", body % "0.5")
    table.same("up to it", response.json["cash_balance"], "100000")
    response = plain(world, key, "POST", "/api/v1/faucet", body % "0")
    table.problem("nothing", response, 400, "invalid_parameter", parameter="amount")
    return table.wrong


@suite.case
def house(world):
    """J6: the fund and its history, the fee account, a ledger, marks; 1005, 1006 and 1009."""
    table, exchange = Table(), world.exchange
    before = exchange.get("/api/v1/insurance-fund").json
    done = exchange.ack(1006, struct.pack("<Q", 5_000 * USDC), exchange.operator)
    completed(table, "top-up", done)
    after = exchange.get("/api/v1/insurance-fund?limit=1").json
    table.same("balance", float(after["balance"]) - float(before["balance"]), 5000.0)
    row = after["history"][0]
    table.same("history", (row["sequence"], row["kind"], row["amount"], row["balance_after"],
                           row["ref_id"]),
               (done["sequence"], "fund", "5000", after["balance"], None))
    maker, taker = world.account(), world.account()
    maker.limit(1_000_000, -1000)
    fees = float(exchange.get("/api/v1/fee-account").json["balance"])
    traded = taker.limit(1_000_000, 1000)  # 0.01 BTC at 100,000: 1,000 USDC
    shown = exchange.get("/api/v1/fee-account?limit=2").json
    table.same("fees", round(float(shown["balance"]) - fees, 6), 0.6)  # 450 and 150 ppm
    rows = [(row["sequence"], row["kind"], row["amount"], row["market"])
            for row in shown["history"]]
    table.same("their rows", rows, [(traded["sequence"], "fee", "0.15", "BTC-PERP"),
                                    (traded["sequence"], "fee", "0.45", "BTC-PERP")])
    table.same("sum", shown["history"][0]["balance_after"], shown["balance"])
    mark = exchange.get("/api/v1/markets/BTC-PERP/mark").json
    table.same("mark", (mark["market"], mark["index_price"], mark["valid"]),
               ("BTC-PERP", "100000", True))
    table.same("its parts", (mark["clamp_ppm"], mark["in_gap"],
                             abs(float(mark["book_term"])) <= 250,
                             abs(float(mark["third_price"]) - 100_000) <= 250),
               (2500, False, True, True))
    table.same("not yet", [exchange.get("/api/v1/markets/DOGE-PERP/mark").json[name]
                           for name in ("mark_price", "index_price", "valid", "third_price")],
               [None, None, False, None])
    table.same("clamp", exchange.get("/api/v1/markets/BTC-PERP").json["mark_book_ppm"], 2500)
    table.same("rates", exchange.get("/api/v1/markets/BTC-PERP/funding-rates").json,
               {"market": "BTC-PERP", "funding_rates": [], "next_before_sequence": None,
                "next_before_index": None})
    path = "/api/v1/funding-payments?subaccount_index=0&portfolio_index=0"
    table.same("payments", taker.read(path).json, [])
    table.problem("no portfolio_index", taker.read("/api/v1/funding-payments?subaccount_index=0"),
                  400, "invalid_parameter", parameter="portfolio_index")
    ledger = taker.read("/api/v1/cash/history?subaccount_index=0").json["history"]
    table.same("ledger", [(row["sequence"], row["kind"], row["amount"]) for row in ledger][:1],
               [(traded["sequence"], "fee", "-0.45")])
    table.same("and a deposit", [row["kind"] for row in ledger], ["fee", "deposit"])
    table.same("its sum", round(float(ledger[1]["amount"]) - 0.45, 6),
               float(ledger[0]["balance_after"]))
    table.problem("no such kind", taker.read("/api/v1/cash/history?subaccount_index=0&kind=gift"),
                  400, "invalid_parameter", parameter="kind")
    completed(table, "tier", exchange.ack(1009, struct.pack("<QB7x", taker.id, 4),
                                          exchange.operator))
    table.same("fee_tier", taker.read("/api/v1/account").json["fee_tier"], 4)
    completed(table, "suspend", exchange.ack(1005, struct.pack("<QB7x", taker.id, 1),
                                             exchange.operator))
    table.same("suspended", taker.limit(1_000_000, 1000)["status"], "rejected_account_suspended")
    completed(table, "resume", exchange.ack(1005, struct.pack("<QB7x", taker.id, 0),
                                            exchange.operator))
    return table.wrong


every_route.add_to(suite)

if __name__ == "__main__":
    sys.exit(run(suite, World, ("--exchange.testnet=on", "--net.debug_payload=on")))
