"""test_stale_marks.py - what answers while a mark is not valid (R5: the oracle's price is too old):
placing and replacing wait for it, in any market; reducing, canceling and reduce-only orders do not.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import json
import sys
import time

from client import (CREATE_API_KEY, IOC, JSON, PLACE_LIMIT, PLACE_MARKET, REDUCE, REPLACE, Account,
                    api_key_body, limit_body, market_order_body, new_id, reduce_body,
                    replace_body, request_bytes)
from harness import Suite, Table
from world import BTC, BTC_PRICE, ETH, USDC, run

suite = Suite("stale_marks")
MAX_AGE_S = 3
DONE, NO_MARK = "request_completed", "rejected_mark_price_zero"
BALANCE = "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0"


class World:
    def __init__(self, exchange):
        self.exchange = exchange

    def fresh(self, *assets):
        """Sets the prices of these markets; the others age."""
        for asset in assets:
            price = BTC_PRICE if asset == BTC else 300_000
            assert self.exchange.set_price(price, asset)["status"] == DONE

    def account(self, usdc=10_000):
        return Account(self.exchange, usdc * USDC)


@suite.case
def while_btc_is_stale(world):
    """R5, R9, R11 row 19 for codes 0, 1, 2, 3 and 5, and code 2001."""
    table = Table()
    exchange = world.exchange
    holder, maker, stranger = world.account(), world.account(), world.account()
    key = exchange.ack(CREATE_API_KEY, api_key_body(holder.id, scope=1), holder.session)["api_key"]
    order, bid = new_id(), new_id()
    for row, who, price, quantity, more in (
            ("a sale", maker, 1_000_000, -2_000, {}),
            ("a position", holder, 1_000_000, 2_000, {"expiry": IOC}),
            ("an order", holder, 990_000, 500, {"request_id": order}),
            ("a bid", maker, 995_000, 500, {"request_id": bid})):
        world.fresh(BTC, ETH)
        table.same(row, who.limit(price, quantity, **more)["status"], DONE)

    def send(row, status, code, body, who=holder):
        world.fresh(ETH)  # each command finds it so, however slow the machine is
        table.ack(row, exchange.send(code, body, who.session), status)

    def leverage(market):
        body = json.dumps({"leverage": 10, "market": market, "portfolio_index": 0,
                           "subaccount_index": 0}).encode()
        return exchange.kept(request_bytes("PUT", "/api/v1/leverage", body,
                                           [JSON, ("X-API-KEY", key)]))

    time.sleep(MAX_AGE_S + 0.2)
    world.fresh(ETH)
    before = holder.read("/api/v1/positions").json[0]
    table.same("valued at the last mark", (before["mark_price"], before["size"]),
               ("100000", "0.02"))
    send("19, limit", NO_MARK, PLACE_LIMIT, limit_body(holder.id, 990_000, 500))
    send("19, market", NO_MARK, PLACE_MARKET, market_order_body(holder.id, 500))
    send("19, replacement, smaller too", NO_MARK, REPLACE, replace_body(
        holder.id, order, 990_000, 400))
    send("17 before 19", "rejected_invalid_price", REPLACE, replace_body(holder.id, order, 0, 400))
    send("19 before 20", NO_MARK, PLACE_LIMIT, limit_body(holder.id, 1_200_000, 500))
    send("a frozen market forbids nothing in another", DONE, PLACE_LIMIT, limit_body(
        holder.id, 290_000, 1_000, asset=ETH))
    send("a stranger to BTC trades ETH", DONE, PLACE_LIMIT, limit_body(
        stranger.id, 290_000, 1_000, asset=ETH), stranger)
    send("and not BTC", NO_MARK, PLACE_LIMIT, limit_body(stranger.id, 990_000, 500), stranger)
    for market in ("BTC-PERP", "ETH-PERP"):  # the stress of 0.025 BTC is far below its equity
        table.ok(f"2001, {market}", leverage(market))
    send("a reduction", DONE, REDUCE, reduce_body(holder.id, order, 100))
    send("reduce-only, market", DONE, PLACE_MARKET, market_order_body(
        holder.id, -300, reduce_only=1))
    send("reduce-only, limit", DONE, PLACE_LIMIT, limit_body(
        holder.id, 995_000, -300, expiry=IOC, reduce_only=1))
    send("20, at the last mark", "rejected_invalid_price", PLACE_LIMIT, limit_body(
        holder.id, 890_000, -300, reduce_only=1))
    record = holder.read("/api/v1/positions").json[0]
    # 0.003 by the market order, 0.002 by the limit order: that is what the bid had.
    table.same("reduced", record["size"], "0.015")
    table.same("a cancel", holder.cancel(order)["status"], DONE)
    world.fresh(BTC)
    send("a fresh price", DONE, PLACE_LIMIT, limit_body(holder.id, 990_000, 500))
    world.fresh(BTC)
    table.ok("2001", leverage("BTC-PERP"))
    table.same("leverage", holder.read("/api/v1/positions").json[0]["leverage"], 10)
    for who in (holder, maker, stranger):
        who.cancel_all()
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, (f"--exchange.oracle_max_age_ms={int(MAX_AGE_S * 1000)}",)))
