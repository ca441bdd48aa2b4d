"""test_large.py - what only thousands of orders show from outside: the queue ahead of an order, one
command of 4,096 fills and its pages, how many refused orders are kept.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import sys

from client import (FOK, PLACE_LIMIT, PLACE_MARKET, REDUCE, Account, id_text,
                    limit_body, market_order_body, new_id, reduce_body)
from harness import Suite, Table
from records import FILL, in_order
from world import BTC, BTC_PRICE, ETH, USDC, run

suite = Suite("large")
MAKERS_MAX = 4_096  # R3
AHEAD_MAX = 2_048  # J4
LEVEL = 5_000
DONE = "request_completed"


class World:
    """One level of 5,000 asks of 20 raw units, placed by four accounts in turn."""

    def __init__(self, exchange):
        self.exchange = exchange
        for asset, price in ((BTC, BTC_PRICE), (ETH, 300_000)):
            assert exchange.set_price(price, asset)["status"] == DONE
        self.makers = [self.account() for _ in range(4)]
        self.level = []
        while len(self.level) < LEVEL:  # an id is young when it is sent
            ids = [new_id() for _ in range(100)]
            self.place([(self.makers[at % 4], limit_body(self.makers[at % 4].id, 1_000_000, -20),
                         order_id) for at, order_id in enumerate(ids)], DONE)
            self.level += ids

    def account(self, usdc=1_000_000):
        return Account(self.exchange, usdc * USDC)

    def place(self, orders, status):
        """Placed in one order on one connection, a hundred in a packet."""
        with self.exchange.open() as connection:
            for begin in range(0, len(orders), 100):
                part = orders[begin:begin + 100]
                connection.send(b"".join(self.exchange.signed(
                    PLACE_LIMIT, body, who.session, order_id, True)
                    for who, body, order_id in part))
                for _ in part:
                    body = connection.receive().json
                    assert body["status"] == status, body

    def full(self, who, code, body, request_id=None):
        return self.exchange.send(code, body, who.session, request_id, True,
                                  [("X-Ack", "full")]).json


@suite.case
def queue_ahead(world):
    """J4: exact up to 2,048 orders from either end of the level, else null."""
    table = Table()

    def ahead(at):
        who = world.makers[at % 4]
        # Row 14 finds the order and leaves it as it is.
        body = reduce_body(who.id, world.level[at], 20, expected=7)
        shown = world.full(who, REDUCE, body)
        table.same(f"{at}: found", (shown.get("status"), shown.get("order_status"),
                                    shown.get("remaining_size")),
                   ("rejected_size_not_equal", "OPEN", "0.0002"))
        return shown.get("quantity_ahead")

    def size(orders):
        return f"{orders * 20 / 100_000:.4f}".rstrip("0").rstrip(".") or "0"

    for at in (0, 1, 2, 500, 1_000, 2_000, AHEAD_MAX - 10, LEVEL - AHEAD_MAX + 10, LEVEL - 500,
               LEVEL - 2, LEVEL - 1):
        table.same(f"order {at} of {LEVEL}", ahead(at), size(at))
    for at in (AHEAD_MAX + 10, 2_500, LEVEL - AHEAD_MAX - 10):
        table.same(f"order {at} of {LEVEL}", ahead(at), None)
    table.same("the level", world.exchange.get(
        "/api/v1/markets/BTC-PERP/book?depth=1").json["asks"], [["100000", "1"]])
    return table.wrong


@suite.case
def one_command_of_many_fills(world):
    """R3: at most engine.makers_max makers, then match_limit; FOK: refused; pages in a sequence."""
    table = Table()
    taker = world.account()
    order = new_id()
    # FOK: to meet 5,000 makers would be one too many (row 30): the book is untouched.
    refused = world.full(taker, PLACE_LIMIT, limit_body(taker.id, 1_000_000, 20 * LEVEL,
                                                        expiry=FOK))
    table.same("FOK", refused["status"], "rejected_f_o_k_not_fully_filled_low_liquidity")
    done = world.full(taker, PLACE_MARKET, market_order_body(taker.id, 20 * LEVEL), order)
    table.same("a market order", [done[name] for name in (
        "status", "order_status", "filled_size", "average_price", "best_ask")],
        [DONE, "CANCELED", "0.8192", "100000", "100000"])  # 4,096 * 0.0002
    record = taker.order(order).json
    table.same("why it ended", [record["order_status"], record["reason"],
                                record["remaining_size"]], ["CANCELED", "match_limit", "0.1808"])
    states = [world.makers[at % 4].order(world.level[at]).json["order_status"]
              for at in (0, MAKERS_MAX - 1, MAKERS_MAX, LEVEL - 1)]
    table.same("makers by arrival", states, ["FILLED", "FILLED", "OPEN", "OPEN"])

    def pages(who, limit):
        got, cursor = [], ""
        while len(got) <= LEVEL:
            answer = who.read(f"/api/v1/fills?subaccount_index=0&limit={limit}{cursor}")
            assert answer.status == 200, answer
            page = answer.json
            got += page
            if len(page) < limit:
                break
            cursor = "&before_sequence={sequence}&before_index={index}".format(**page[-1])
        return got

    fills = pages(taker, 1000)
    in_order(table, "fill", fills[:3], FILL)
    table.same("one sequence", {record["sequence"] for record in fills}, {done["sequence"]})
    # W3c: 2102, 2102, 2104, 2104 a fill while positions only open.
    table.same("places", [record["index"] for record in fills],
               [4 * at + 1 for at in reversed(range(MAKERS_MAX))])
    table.same("trade_seq", [fills[0]["trade_seq"] - record["trade_seq"] for record in fills],
               list(range(MAKERS_MAX)))
    table.same("ids are different", len({record["id"] for record in fills}), MAKERS_MAX)
    table.same("by another limit", pages(taker, 777), fills)
    table.same("by offset", taker.read(
        "/api/v1/fills?subaccount_index=0&limit=5&offset=4093").json, fills[-3:])
    shown, at = [], ""
    while at is not None and len(shown) <= LEVEL:
        body = world.exchange.get(f"/api/v1/markets/BTC-PERP/trades?limit=1000{at}").json
        shown += body["trades"]
        at = "&before_sequence={next_before_sequence}&before_index={next_before_index}".format(
            **body) if body["next_before_sequence"] is not None else None
    table.same("trades", [(record["sequence"], record["index"], record["trade_seq"])
                          for record in shown],
               [(record["sequence"], record["index"] - 1, record["trade_seq"])
                for record in fills])
    table.same("every maker's part", [len(pages(maker, 1000)) for maker in world.makers],
               [MAKERS_MAX // 4] * 4)
    # 0.8192 BTC at 100,000, taker 450 ppm: each fill 20 USDC, 0.009.
    table.same("fees", {record["fee"] for record in fills}, {"0.009"})
    for who in (*world.makers, taker):
        who.cancel_all()
    table.same("canceled", world.exchange.get("/api/v1/markets/BTC-PERP/book").json["asks"], [])
    return table.wrong


@suite.case
def refused_orders_kept(world):
    """R3, W10: the last 1,024 placements that were refused from row 13 on, an account's own."""
    table = Table()
    it, other = world.account(), world.account()
    kept = new_id()
    it.limit(900_000, 20, kept)
    early = new_id()
    other.limit(0, 20, early)
    ids = [new_id() for _ in range(1_100)]
    world.place([(it, limit_body(it.id, 0, 20), order_id) for order_id in ids],
                "rejected_invalid_price")
    got, cursor = [], ""
    while len(got) <= 1_100:
        page = it.read(f"/api/v1/orders?status=REJECTED&limit=500{cursor}").json
        got += [record["id"] for record in page]
        if len(page) < 500:
            break
        cursor = "&before_sequence={sequence}&before_index={index}".format(**page[-1])
    table.same("the newest 1,024", got, [id_text(raw) for raw in reversed(ids[-1_024:])])
    everything = it.read("/api/v1/orders?limit=1000&offset=1000").json
    table.same("others stay", [record["id"] for record in everything],
               [id_text(raw) for raw in reversed(ids[-1_024:])][1_000:] + [id_text(kept)])
    table.problem("the 1,025th", it.order(ids[-1_025]), 404, "order_not_found")
    table.same("the 1,024th", it.order(ids[-1_024]).json["order_status"], "REJECTED")
    table.same("another account's", other.order(early).json["order_status"], "REJECTED")
    it.cancel_all()
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, ()))
