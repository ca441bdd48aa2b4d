"""test_market_orders.py - code 5 from outside: R11's rows in their order, the bound of slippage to
the tick, what becomes of the order.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import sys

from client import (ALL_ASSETS, PLACE_MARKET, Ed25519Key, id_text, market_order_body, new_id)
from harness import Suite, Table
from records import ORDER, WITH_REASON, in_order
from test_amend import DONE, FLAGS, SIZE, World
from world import BTC, BTC_PRICE, NO_MARK, TEST, run, while_it_lasts

suite = Suite("market_orders")
BEYOND = "rejected_slippage_exceeds_maximum"


class Trader:
    def __init__(self, world, table, usdc=100_000):
        self.exchange, self.table = world.exchange, table
        self.account = world.account(usdc)

    def rest(self, price, quantity, **more):
        order_id = new_id()
        body = self.account.limit(price, quantity, order_id, **more)
        self.table.same(f"rests {price} {quantity}", body["status"], DONE)
        return order_id

    def market(self, row, status, quantity, **more):
        order_id = new_id()
        body = market_order_body(self.account.id, quantity, **more)
        self.table.ack(f"{row} {quantity} {more}", self.exchange.send(
            PLACE_MARKET, body, self.account.session, order_id), status)
        return order_id

    def shows(self, row, order_id, status, filled, average=None, reason=None):
        """An order of a market kind: price null, IOC, no expiry (W10, J2)."""
        response = self.account.order(order_id)
        record = self.table.ok(row, response)
        if record:
            in_order(self.table, row, [record], WITH_REASON if reason else ORDER)
            self.table.same(row, tuple(record.get(name) for name in (
                "order_status", "filled_size", "average_price", "reason", "order_type",
                "time_in_force", "price", "expires_at", "post_only")),
                (status, filled, average, reason, "MARKET", "IOC", None, None, False))
        return record

    def clear(self):
        self.account.cancel_all()


@suite.case
def rows(world):
    """R11, code 5: 5, 7 to 9, 11, 15, 16, 17b, 19, 21, 22, 24, and of two faults the earlier."""
    table = Table()
    it, other = Trader(world, table), Trader(world, table)

    def no(row, status, quantity=200, **more):
        return it.market(row, status, quantity, **more)

    no("5", "rejected_invalid_portfolio_id", portfolio=1)
    no("5", "rejected_invalid_portfolio_id", subaccount=1)
    no("5 before 7", "rejected_invalid_portfolio_id", portfolio=1, asset=0)
    no("7", "order_rejected_invalid_market", asset=0)
    no("7", "order_rejected_invalid_market", asset=ALL_ASSETS)
    no("8", "rejected_market_not_found", asset=99)
    no("8 before 9", "rejected_market_not_found", asset=99, asset_pad=1)
    no("9", "order_rejected_invalid", asset_pad=1)
    for at in range(6):
        no(f"9, pad {at}", "order_rejected_invalid", pad=bytes(at) + b"\1" + bytes(5 - at))
    no("9 before 11", "order_rejected_invalid", asset_pad=1, stp=4)
    no("11", FLAGS, reduce_only=2)
    no("11", FLAGS, stp=4)
    unkept = no("11 before 15", FLAGS, 0, stp=4)
    table.problem("kept nowhere (R3: from row 13 on)", it.account.order(unkept), 404,
                  "order_not_found")
    refused = no("15", "rejected_size_zero", 0)
    it.shows("15", refused, "REJECTED", "0", reason="rejected_size_zero")
    no("15 before 22", "rejected_size_zero", 0, slippage_ppm=50_001)
    no("16, INT64_MIN", SIZE, -2**63)
    no("16, 2^40", SIZE, 2**40)
    no("16, off lot", SIZE, 205, asset=TEST)
    no("16, below min", SIZE, 40, asset=TEST)
    no("16, above max", SIZE, 1_000_000_010, asset=TEST)
    no("16 before 22", SIZE, 205, asset=TEST, slippage_ppm=50_001)
    # 17b: 2^50 = 1.1259e15. 11,000 BTC are 1.1e15 at the mark, 1.155e15 at 5 % above it.
    no("17b, at the slippage limit", SIZE, 1_100_000_000)
    no("17b, at 1 % within it, an empty side", DONE, 1_100_000_000, slippage_ppm=10_000)
    no("19", "rejected_mark_price_zero", 100_000, asset=NO_MARK)
    no("19, reduce-only too", "rejected_mark_price_zero", 100_000, asset=NO_MARK, reduce_only=1)
    no("19 before 22", "rejected_mark_price_zero", 100_000, asset=NO_MARK, slippage_ppm=50_001)
    no("21", SIZE, 9)  # 9 USDC at the mark
    no("21 before 22", SIZE, 9, slippage_ppm=50_001)
    no("22, the parameter", BEYOND, slippage_ppm=50_001)
    no("22, the parameter", BEYOND, slippage_ppm=2**32 - 1)
    refused = no("22 before 24", BEYOND, slippage_ppm=50_001, reduce_only=1)
    record = it.shows("22", refused, "REJECTED", "0", reason=BEYOND)
    table.same("22: reduce-only is shown", record.get("reduce_only"), True)
    no("24", "invalid_reduce_only_order", reduce_only=1)
    no("24, 21 is not for it", "invalid_reduce_only_order", 1, reduce_only=1)
    body = market_order_body(it.account.id, 200)
    table.ack("step 11", world.exchange.send(PLACE_MARKET, body, Ed25519Key()),
              "rejected_unauthorized", sequenced=False)
    table.ack("3", world.exchange.send(PLACE_MARKET, body, other.account.session),
              "rejected_unauthorized", sequenced=None)
    # 32: something would trade. 0.5 BTC need 2,500.
    poor = Trader(world, table, 100)
    other.rest(1_000_000, -50_000)
    refused = poor.market("32", "insufficient_margin_to_trade", 50_000)
    poor.shows("32", refused, "REJECTED", "0", reason="insufficient_margin_to_trade")
    other.clear()
    return table.wrong


@suite.case
def filled(world):
    """R3: IOC at mark * (1 +- slippage): fills to the bound, then time_in_force; both sides."""
    table = Table()
    maker, it = Trader(world, table), Trader(world, table)
    order = it.market("an empty side", DONE, 100)
    it.shows("an empty side", order, "CANCELED", "0", reason="time_in_force")
    maker.rest(1_000_000, -100)
    maker.rest(1_000_100, -100)
    maker.rest(1_050_000, -100)  # 5 %: the market's greatest
    maker.rest(1_050_001, -100)
    order = it.market("within", DONE, 150)
    record = it.shows("within", order, "FILLED", "0.0015", "100003.333333333")
    table.same("sizes", (record["initial_size"], record["remaining_size"], record["side"]),
               ("0.0015", "0", "LONG"))
    order = it.market("to the bound, inclusive", DONE, 1_000)
    record = it.shows("to the bound", order, "CANCELED", "0.0015", "103336.666666667",
                      "time_in_force")
    table.same("what was left", record["remaining_size"], "0.0085")
    fills = it.account.read("/api/v1/fills?subaccount_index=0").json
    table.same("its fills", [[record[name] for name in ("request_id", "price", "quantity",
                                                        "liquidity")] for record in fills[:2]],
               [[id_text(order), "105000", "0.001", "TAKER"],
                [id_text(order), "100010", "0.0005", "TAKER"]])
    order = it.market("22, beyond", BEYOND, 100)
    it.shows("22, beyond", order, "REJECTED", "0", reason=BEYOND)
    table.same("the book is untouched", world.exchange.get(
        "/api/v1/markets/BTC-PERP/book").json["asks"], [["105000.1", "0.001"]])
    maker.clear()
    # Selling: 0.003 long from above; reduce-only is clipped to it.
    maker.rest(999_000, 400)
    order = it.market("more than the position", DONE, -1_000, reduce_only=1)
    record = it.account.order(order).json
    table.same("clipped", [record[name] for name in ("filled_size", "order_status",
                                                     "reduce_only", "side")],
               ["0.003", "CANCELED", True, "SHORT"])
    it.market("24, no position is left", "invalid_reduce_only_order", -100, reduce_only=1)
    maker.clear()
    # Self-trade modes as for every taker.
    own = it.rest(1_000_000, -100)
    order = it.market("29", "self_trade_prevention", 100)
    it.shows("29", order, "REJECTED", "0", reason="self_trade_prevention")
    maker.rest(1_000_000, -100)
    order = it.market("mode 1", DONE, 100, stp=1)
    it.shows("mode 1", order, "FILLED", "0.001", "100000")
    table.same("its own", it.account.order(own).json["reason"], "self_trade_prevention")
    for who in (maker, it):
        who.clear()
    return table.wrong


@suite.case
def bounds_to_the_tick(world):
    """R3: the limit is rounded to the tick inside the bound; the parameter narrows it (W3)."""
    table = Table()
    maker, it = Trader(world, table), Trader(world, table)
    test = {"asset": TEST}  # mark 100,000 raw, tick 10
    world.exchange.set_price(100_000, TEST)
    # 155 ppm: 100,015.5 above, so 100,010; 99,984.5 below, so 99,990.
    for side, inside, outside in ((1, 100_010, 100_020), (-1, 99_990, 99_980)):
        maker.rest(inside, -200 * side, **test)
        maker.rest(outside, -200 * side, **test)
        order = it.market(f"side {side}", DONE, 300 * side, slippage_ppm=155, **test)
        it.shows(f"side {side}", order, "CANCELED", "0.2", f"{inside / 1000:.3f}".rstrip("0"),
                 "time_in_force")
        order = it.market(f"side {side}, 22", BEYOND, 300 * side, slippage_ppm=155, **test)
        it.shows(f"side {side}, 22", order, "REJECTED", "0", reason=BEYOND)
        order = it.market(f"side {side}, 200 ppm", DONE, 200 * side, slippage_ppm=200, **test)
        it.shows(f"side {side}, 200 ppm", order, "FILLED", "0.2",
                 f"{outside / 1000:.3f}".rstrip("0"))
        maker.clear()
    # BTC, tick one raw unit: 1 ppm is one tick.
    world.exchange.set_price(BTC_PRICE, BTC)
    maker.rest(1_000_001, -100)
    maker.rest(1_000_002, -100)
    order = it.market("1 ppm", DONE, 200, slippage_ppm=1)
    it.shows("1 ppm", order, "CANCELED", "0.001", "100000.1", "time_in_force")
    it.market("22 at 1 ppm", BEYOND, 200, slippage_ppm=1)
    order = it.market("2 ppm", DONE, 100, slippage_ppm=2)
    it.shows("2 ppm", order, "FILLED", "0.001", "100000.2")
    # R3: an order past its expiry is passed over: row 22 looks at the best live price.
    while_it_lasts(lambda expiry: maker.account.limit(1_000_000, -100, expiry=expiry))
    maker.rest(1_060_000, -100)
    it.market("22, the live one is beyond", BEYOND, 100)
    maker.clear()
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, ()))
