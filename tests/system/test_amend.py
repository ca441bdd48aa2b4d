"""test_amend.py - reductions and replacements from outside: R11's rows for codes 1 and 2 in their
order, what becomes of the order, its place in the queue and its fills.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import sys
import time

from client import (ALL_ASSETS, FOK, IOC, MARKET_DEFINE, REDUCE, REPLACE, Account, Ed25519Key,
                    id_text, market_body, new_id, reduce_body, replace_body)
from harness import Suite, Table
from test_orders import market_record
from world import BTC, BTC_PRICE, DAY, SECOND, SOL, TEST, USDC, run, seen, while_it_lasts

suite = Suite("amend")
DONE, SIZE, PRICE = "request_completed", "rejected_invalid_size", "rejected_invalid_price"
FLAGS, MISSING = "rejected_invalid_order_flags", "rejected_order_not_found"
ORDER_LIMIT = 30


class World:
    """BTC at 100,000; TEST-PERP (lot and tick ten raw units, min_size 50 raw) at 100."""

    def __init__(self, exchange):
        self.exchange = exchange
        record = market_body(market_record())
        assert exchange.ack(MARKET_DEFINE, record, exchange.operator)["status"] == DONE
        for asset, price in ((BTC, BTC_PRICE), (TEST, 100_000), (SOL, 1_500_000)):
            assert exchange.set_price(price, asset)["status"] == DONE

    def account(self, usdc=100_000):
        return Account(self.exchange, usdc * USDC)


class Amender:
    """Places, reduces and replaces orders of one account and compares what is answered."""

    def __init__(self, world, table, usdc=100_000):
        self.exchange, self.table = world.exchange, table
        self.account = world.account(usdc)

    def place(self, price, quantity, status=DONE, **more):
        order_id = new_id()
        body = self.account.limit(price, quantity, order_id, **more)
        self.table.same(f"placed {price} {quantity} {more}", body["status"], status)
        return order_id

    def reduce(self, row, status, order_id, by, **more):
        body = reduce_body(self.account.id, order_id, by, **more)
        return self.table.ack(row, self.exchange.send(REDUCE, body, self.account.session), status)

    def replace(self, row, status, order_id, price, quantity, **more):
        body = replace_body(self.account.id, order_id, price, quantity, **more)
        return self.table.ack(row, self.exchange.send(REPLACE, body, self.account.session),
                              status)

    def shows(self, row, order_id, **want):
        """The members named, and `reason` absent unless named; the whole record."""
        record = self.account.order(order_id).json
        want.setdefault("reason", None)
        for name, value in want.items():
            self.table.same(f"{row}: {name}", record.get(name), value)
        return record

    def fills(self, limit=100):
        return self.account.read(f"/api/v1/fills?subaccount_index=0&limit={limit}").json


def version4(order_id):
    return order_id[:6] + b"\x40" + order_id[7:]


@suite.case
def reduction_rows(world):
    """R11, code 1: 3, 5 to 9, 13 to 16, and of two faults the earlier row."""
    table = Table()
    it, other = Amender(world, table), world.account()
    foreign = new_id()
    other.limit(900_000, 20, foreign)
    order = it.place(90_000, 500, asset=TEST)
    test = {"asset": TEST}
    before = it.account.order(order).json
    it.reduce("5", "rejected_invalid_portfolio_id", order, 10, portfolio=1, **test)
    it.reduce("5", "rejected_invalid_portfolio_id", order, 10, subaccount=1, **test)
    it.reduce("5", "rejected_invalid_portfolio_id", order, 10, portfolio=0xFFFFFFFF, **test)
    it.reduce("5 before 6", "rejected_invalid_portfolio_id", version4(order), 10, portfolio=1)
    it.reduce("6", "rejected_invalid_uuid", version4(order), 10, **test)
    it.reduce("6", "rejected_invalid_uuid", bytes(16), 10, **test)
    it.reduce("6 before 7", "rejected_invalid_uuid", version4(order), 10, asset=0)
    it.reduce("7", "order_rejected_invalid_market", order, 10, asset=0)
    it.reduce("7", "order_rejected_invalid_market", order, 10, asset=ALL_ASSETS)
    it.reduce("7 before 9", "order_rejected_invalid_market", order, 10, asset=0, pad=1)
    it.reduce("8", "rejected_market_not_found", order, 10, asset=99)
    it.reduce("8 before 9", "rejected_market_not_found", order, 10, asset=99, pad=1)
    it.reduce("9", "order_rejected_invalid", order, 10, pad=1, **test)
    it.reduce("9", "order_rejected_invalid", order, 10, asset_pad=1, **test)
    it.reduce("9 before 13", "order_rejected_invalid", new_id(), 10, pad=1, **test)
    it.reduce("13, unknown", MISSING, new_id(), 10, **test)
    it.reduce("13, another market", MISSING, order, 10, asset=BTC)
    it.reduce("13, another account's", MISSING, foreign, 10)
    it.reduce("13 before 14", MISSING, new_id(), 10, expected=7, **test)
    it.reduce("14", "rejected_size_not_equal", order, 10, expected=499, **test)
    it.reduce("14", "rejected_size_not_equal", order, 10, expected=2**64 - 1, **test)
    it.reduce("14 before 15", "rejected_size_not_equal", order, 0, expected=501, **test)
    it.reduce("15", "rejected_size_zero", order, 0, **test)
    it.reduce("15, the right remaining", "rejected_size_zero", order, 0, expected=500, **test)
    it.reduce("16, off lot", SIZE, order, 5, **test)
    it.reduce("16, off lot", SIZE, order, 499, **test)
    table.same("untouched", it.account.order(order).json, before)
    it.reduce("35", DONE, order, 10, expected=500, **test)
    body = reduce_body(it.account.id, order, 10, **test)
    stranger = Ed25519Key()
    table.ack("step 11", world.exchange.send(REDUCE, body, stranger), "rejected_unauthorized",
              sequenced=False)
    table.ack("3", world.exchange.send(REDUCE, body, other.session), "rejected_unauthorized",
              sequenced=None)
    it.account.cancel_all()
    it.reduce("13, final", MISSING, order, 10, **test)
    other.cancel_all()
    return table.wrong


@suite.case
def reduced_in_place(world):
    """R3, W3: the order keeps its id, its times and its place; initial = filled + remaining."""
    table = Table()
    it, taker = Amender(world, table), world.account()
    first, second = it.place(1_000_000, -1_000), it.place(1_000_000, -1_000)
    before = it.account.order(first).json
    done = it.reduce("by 300", DONE, first, 300)
    after = it.shows("by 300", first, remaining_size="0.007", initial_size="0.007",
                     filled_size="0", order_status="OPEN", price="100000")
    table.same("all else", after, {**before, "remaining_size": "0.007", "initial_size": "0.007",
                                   "updated_at_ns": done["processed_at_ns"]})
    taker.limit(1_000_000, 800, expiry=IOC)
    it.shows("it was the first", first, order_status="FILLED", filled_size="0.007",
             initial_size="0.007", remaining_size="0")
    it.shows("then the second", second, order_status="PARTIALLY_FILLED", filled_size="0.001",
             initial_size="0.01", remaining_size="0.009", average_price="100000")
    it.reduce("with CAS", DONE, second, 400, expected=900)
    it.shows("filled stays", second, order_status="PARTIALLY_FILLED", filled_size="0.001",
             initial_size="0.006", remaining_size="0.005", average_price="100000")
    it.reduce("the rest", DONE, second, 500)
    it.shows("canceled", second, order_status="CANCELED", filled_size="0.001",
             reason="user_cancel", average_price="100000", remaining_size="0.005",
             initial_size="0.006")  # W10: what was left unfilled when it ended
    for by in (200, 201, 2**40, 2**63, 2**64 - 1):
        order = it.place(1_000_000, -200)
        it.reduce(f"200 by {by}", DONE, order, by)
        it.shows(f"200 by {by}", order, order_status="CANCELED", reason="user_cancel")
    # R3: no rest below min_notional at its price. W3: reduce_by >= remaining cancels, whatever the
    # lot.
    order = it.place(90_000, 200, asset=TEST)
    it.reduce("below min_notional", "rejected_invalid_size", order, 160, asset=TEST)
    it.shows("as it was", order, order_status="OPEN", remaining_size="0.2")
    it.reduce("by 245 of 200", DONE, order, 245, asset=TEST)
    it.shows("by 245 of 200", order, order_status="CANCELED", reason="user_cancel")
    # Margin is given back: 1,000 * 0.01 / 20 a BTC order of 0.01 at 100,000.
    path = "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0"
    order = it.place(900_000, 10_000)
    full = it.account.read(path).json["initial_margin"]
    it.reduce("by half", DONE, order, 5_000)
    half = it.account.read(path).json["initial_margin"]
    # The short of 0.008 from above needs 40; worst = max(0.008, 0.1 - 0.008): 0.092, then 0.042.
    table.same("margin", (full, half), ("460", "210"))
    it.account.cancel_all()
    return table.wrong


@suite.case
def replacement_rows(world):
    """R11, code 2: 5 to 9, 11 to 17b, 20, 21, 24, in order; the original stays as it was."""
    table = Table()
    it, other = Amender(world, table), world.account()
    foreign = new_id()
    other.limit(900_000, 20, foreign)
    order = it.place(90_000, 500, asset=TEST)
    before = it.account.order(order).json
    now = time.time_ns()
    far, past, v4 = now + 91 * DAY, now - SECOND, version4(order)

    def no(row, status, price=90_000, quantity=500, order_id=order, **more):
        it.replace(f"{row} {price} {quantity} {more}", status, order_id, price, quantity,
                   **{"asset": TEST, **more})

    no("5", "rejected_invalid_portfolio_id", portfolio=1)
    no("5", "rejected_invalid_portfolio_id", subaccount=1)
    no("5 before 6", "rejected_invalid_portfolio_id", order_id=v4, portfolio=1)
    no("6", "rejected_invalid_uuid", order_id=v4)
    no("6 before 7", "rejected_invalid_uuid", order_id=v4, asset=0)
    no("7", "order_rejected_invalid_market", asset=0)
    no("7", "order_rejected_invalid_market", asset=ALL_ASSETS)
    no("8", "rejected_market_not_found", asset=99)
    no("8 before 9", "rejected_market_not_found", asset=99, pad59=1)
    no("9", "order_rejected_invalid", pad59=1)
    no("9", "order_rejected_invalid", asset_pad=1)
    no("9 before 11", "order_rejected_invalid", pad59=1, stp=4)
    no("11", FLAGS, post_only=2)
    no("11", FLAGS, reduce_only=2)
    no("11", FLAGS, stp=4)
    no("11, IOC", FLAGS, expiry=IOC)
    no("11, FOK", FLAGS, expiry=FOK)
    no("11, 91 days", FLAGS, expiry=far)
    no("11, > INT64_MAX", FLAGS, expiry=2**63)
    no("11 before 12", FLAGS, expiry=past, stp=4)
    no("11 before 13", FLAGS, order_id=new_id(), expiry=IOC)
    no("12", "order_rejected_expired", expiry=past)
    no("12", "order_rejected_expired", expiry=2)
    no("12 before 13", "order_rejected_expired", order_id=new_id(), expiry=past)
    no("13, unknown", MISSING, order_id=new_id())
    no("13, another market", MISSING, asset=BTC)
    no("13, another account's", MISSING, order_id=foreign, asset=BTC)
    no("13 before 14", MISSING, order_id=new_id(), expected=7)
    no("14", "rejected_size_not_equal", expected=499)
    no("14 before 15", "rejected_size_not_equal", expected=499, quantity=0)
    no("15", "rejected_size_zero", quantity=0)
    no("15 before 17", "rejected_size_zero", quantity=0, price=0)
    no("16, off lot", SIZE, quantity=505)
    no("16, below min", SIZE, quantity=40)
    no("16, above max", SIZE, quantity=1_000_000_010)
    no("16, INT64_MIN", SIZE, quantity=-2**63)
    no("16, the other side", SIZE, quantity=-500)
    no("16 before 17", SIZE, quantity=505, price=0)
    no("17, 0", PRICE, price=0)
    no("17, off tick", PRICE, price=90_005)
    no("17, above max_price", PRICE, price=167_772_160)
    no("17", PRICE, price=2**64 - 1)
    no("17 before 20", PRICE, price=110_015)
    no("20", PRICE, price=110_010)
    no("20 before 21", PRICE, price=110_010, quantity=50)
    no("21", SIZE, price=90_000, quantity=110)  # 9.9 USDC
    no("24", "invalid_reduce_only_order", reduce_only=1)
    no("24, 21 is not for it", "invalid_reduce_only_order", reduce_only=1, quantity=50)
    table.same("untouched", it.account.order(order).json, before)
    no("20, the edge", DONE, price=110_000, quantity=500)
    order = it.place(1_000_000, 20)
    it.replace("17b, notional above 2^50", SIZE, order, 1_000_000, 2**40 - 1)
    it.account.cancel_all()
    it.replace("13, final", MISSING, order, 1_000_000, 20)
    refused = it.place(1_000_000, 0, "rejected_size_zero")
    it.replace("13, REJECTED", MISSING, refused, 1_000_000, 20)
    it.reduce("13, REJECTED", MISSING, refused, 20)
    other.cancel_all()
    return table.wrong


@suite.case
def place_in_the_queue(world):
    """R3: kept iff price unchanged and new remaining <= old remaining, whatever the flags."""
    table = Table()
    soon = time.time_ns() + 3_600 * SECOND
    cases = (("smaller", True, {"quantity": -60}), ("the same", True, {}),
             ("larger", False, {"quantity": -110}), ("another price and back", None, {}),
             ("post_only", True, {"post_only": 1}), ("stp", True, {"stp": 3}),
             ("expiry", True, {"expiry": soon}), ("larger, flags", False, {
                 "quantity": -200, "post_only": 1}))
    for row, kept, more in cases:
        it, taker = Amender(world, table), world.account()
        first, second = it.place(1_000_000, -100), it.place(1_000_000, -100)
        placed = it.account.order(first).json
        change = {"quantity": -100, **more}
        quantity = change.pop("quantity")
        if kept is None:
            it.replace(row, DONE, first, 1_000_001, quantity)
            it.replace(row, DONE, first, 1_000_000, quantity)
        else:
            done = it.replace(row, DONE, first, 1_000_000, quantity, **change)
            record = it.shows(row, first, id=id_text(first), order_status="OPEN",
                              sequence=placed["sequence"], index=placed["index"],
                              time_ns=placed["time_ns"], order_type="LIMIT")
            table.same(f"{row}: updated", record["updated_at_ns"], done["processed_at_ns"])
            table.same(f"{row}: flags", [record[name] for name in (
                "post_only", "stp", "expires_at", "time_in_force")], [
                bool(more.get("post_only")), "DECREMENT" if "stp" in more else "EXPIRE_TAKER",
                more.get("expiry"), "GTT" if "expiry" in more else "GTC"])
            table.same(f"{row}: sizes", (record["initial_size"], record["remaining_size"]),
                       ({-60: "0.0006", -100: "0.001", -110: "0.0011", -200: "0.002"}[quantity],)
                       * 2)
        taker.limit(1_000_000, 50, expiry=IOC)
        hit, spared = (first, second) if kept else (second, first)
        it.shows(f"{row}: hit", hit, filled_size="0.0005", order_status="PARTIALLY_FILLED")
        it.shows(f"{row}: spared", spared, filled_size="0", order_status="OPEN")
        it.account.cancel_all()
    return table.wrong


@suite.case
def entered_anew(world):
    """R3: through the full place path: fills as a taker, STP, post-only, partly filled before."""
    table = Table()
    it, maker = Amender(world, table), Amender(world, table)
    ask = maker.place(1_000_100, -300)
    order = it.place(990_000, 500)
    placed = it.account.order(order).json
    it.replace("28", "rejected_post_only_would_cross_book", order, 1_000_100, 500, post_only=1)
    table.same("28: untouched", it.account.order(order).json, placed)
    done = it.replace("crosses", DONE, order, 1_000_100, 500)
    it.shows("filled in part, rests", order, order_status="PARTIALLY_FILLED", filled_size="0.003",
             remaining_size="0.002", initial_size="0.005", price="100010",
             average_price="100010", sequence=placed["sequence"], time_ns=placed["time_ns"],
             updated_at_ns=done["processed_at_ns"])
    maker.shows("the ask", ask, order_status="FILLED")
    fill = it.fills(1)[0]
    table.same("its fill", [fill[name] for name in ("request_id", "liquidity", "side", "quantity",
                                                    "sequence", "time_ns")],
               [id_text(order), "TAKER", "LONG", "0.003", done["sequence"],
                done["processed_at_ns"]])
    # Partly filled before: filled stays, the new remaining counts; the average is of both.
    it.replace("smaller", DONE, order, 1_000_100, 100, expected=200)
    it.shows("smaller", order, order_status="PARTIALLY_FILLED", filled_size="0.003",
             remaining_size="0.001", initial_size="0.004")
    ask = maker.place(1_000_200, -700)
    it.replace("up again", DONE, order, 1_000_200, 700, expected=100)
    it.shows("FILLED", order, order_status="FILLED", filled_size="0.01", remaining_size="0",
             initial_size="0.01", average_price="100017")  # 0.003 * 100,010 + 0.007 * 100,020
    it.replace("13, final", MISSING, order, 1_000_200, 700)
    # STP: its other orders meet it, its old self does not.
    own = it.place(1_000_300, -100)
    order = it.place(999_000, 200)
    before = it.account.order(order).json
    it.replace("29, mode 0", "self_trade_prevention", order, 1_000_300, 200)
    table.same("29: untouched", it.account.order(order).json, before)
    it.shows("29: the other too", own, order_status="OPEN", remaining_size="0.001")
    it.replace("mode 1", DONE, order, 1_000_300, 200, stp=1)
    it.shows("mode 1: the other", own, order_status="CANCELED", reason="self_trade_prevention")
    it.shows("mode 1: rests", order, order_status="OPEN", remaining_size="0.002", price="100030",
             stp="EXPIRE_MAKER")
    own = it.place(1_000_400, -100)
    it.replace("mode 2", DONE, order, 1_000_400, 200, stp=2)
    for order_id in (own, order):
        it.shows("mode 2: both", order_id, order_status="CANCELED",
                 reason="self_trade_prevention")
    own = it.place(1_000_400, -100)
    order = it.place(999_000, 300)
    it.replace("mode 3", DONE, order, 1_000_400, 300, stp=3)
    it.shows("mode 3: the smaller", own, order_status="CANCELED", reason="self_trade_prevention")
    it.shows("mode 3: the larger", order, order_status="OPEN", initial_size="0.002",
             remaining_size="0.002")
    for who in (it, maker):
        who.account.cancel_all()
    return table.wrong


@suite.case
def bounds_and_margin(world):
    """R11, rows 24 to 33 for code 2; the order's own rest neither blocks nor pays."""
    table = Table()
    it, maker = Amender(world, table, 1_000), Amender(world, table)
    # 0.2 BTC at 100,000 needs 1,000: all there is. To move it needs no more than that.
    order = it.place(1_000_000, 20_000)
    it.replace("a tick lower", DONE, order, 999_999, 20_000)
    it.replace("33, larger", "insufficient_margin_to_place", order, 999_999, 20_001)
    it.replace("33, above the mark", "insufficient_margin_to_place", order, 1_000_100, 20_000)
    it.shows("unchanged", order, remaining_size="0.2", price="99999.9", order_status="OPEN")
    maker.place(1_000_000, -100)
    # E' = 999.955 after the fee, IM' = 1,000. Without its own rest the order has no margin that it
    # could keep within (R3, a replacement is judged without its own rest): what would trade needs
    # E' >= IM'.
    for quantity in (20_001, 20_000):
        it.replace("32, something would trade", "insufficient_margin_to_trade", order, 1_000_000,
                   quantity)
    it.shows("unchanged", order, remaining_size="0.2", price="99999.9", filled_size="0")
    it.replace("smaller pays the fee", DONE, order, 1_000_000, 19_999)
    it.shows("traded", order, order_status="PARTIALLY_FILLED", filled_size="0.001",
             remaining_size="0.19899", initial_size="0.19999")
    it.replace("33, no larger", "insufficient_margin_to_place", order, 1_000_000, 19_900)
    it.replace("33, as it is", DONE, order, 1_000_000, 19_899)
    it.account.cancel_all()
    maker.account.cancel_all()
    # Row 26: the place an order has counts for itself.
    full = Amender(world, table)
    ids = [full.place(950_000, 20) for _ in range(ORDER_LIMIT)]
    full.place(950_000, 20, "rejected_max_open_orders_exceeded")
    full.replace("26, anew", DONE, ids[3], 951_000, 25)
    full.replace("26, in place", DONE, ids[4], 950_000, 20, post_only=1)
    full.account.cancel_all()
    # Row 24: reduce_only by a replacement needs an opposite position; it ends with it (R3).
    holder, buyer = Amender(world, table), Amender(world, table)
    holder.place(1_000_000, 100)
    buyer.place(1_000_000, -100)
    order = holder.place(1_000_500, -60)
    buyers = buyer.place(999_000, 60)
    holder.replace("24, in place", DONE, order, 1_000_500, -60, reduce_only=1)
    holder.shows("reduce-only", order, reduce_only=True, order_status="OPEN")
    buyer.replace("24 for a short's buy", DONE, buyers, 999_000, 60, reduce_only=1)
    wrong = buyer.place(1_001_000, -60)
    buyer.replace("24, the same side", "invalid_reduce_only_order", wrong, 1_001_000, -60,
                  reduce_only=1)
    buyer.account.cancel(wrong)
    holder.place(1_000_000, -100)
    buyer.place(1_000_000, 100)
    holder.shows("its position is gone", order, order_status="CANCELED", reason="reduce_only")
    # An expiry that a replacement sets counts from then on.
    def brief(expiry):
        order = holder.place(990_000, 100)
        body = replace_body(holder.account.id, order, 990_000, 100, expiry=expiry)
        answer = holder.account.exchange.ack(REPLACE, body, holder.account.session)
        return order, answer["status"], holder.account.order(order).json

    order, status, record = while_it_lasts(brief)
    table.same("GTT", [status, record["order_status"], record["time_in_force"]],
               [DONE, "OPEN", "GTT"])
    seen(lambda: holder.account.order(order).json["order_status"], "EXPIRED")
    holder.shows("expired", order, order_status="EXPIRED")
    holder.replace("13, expired", MISSING, order, 990_000, 100)
    for who in (holder, buyer):
        who.account.cancel_all()
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, (f"--limits.open_orders={ORDER_LIMIT}",)))
