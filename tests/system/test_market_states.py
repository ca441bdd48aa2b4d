"""test_market_states.py - the states that an operator gives to markets: what each of them lets in,
what happens to resting orders, over HTTP and over a restart.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import struct
import sys
import time

from client import (CANCEL, HALT_ALL, INDEX_ACCEPT, IOC, MARKET_STATE, PATIENCE_S, PLACE_LIMIT,
                    PLACE_MARKET, REDUCE, REPLACE, Account, Ed25519Key, cancel_body, limit_body,
                    market_order_body, new_id, reduce_body, replace_body, state_body)
from harness import Suite, Table
from world import BTC, BTC_PRICE, ETH, run

suite = Suite("market_states")
ACTIVE, POST_ONLY, REDUCE_ONLY, CANCEL_ONLY, HALTED, CLOSED = range(6)
NAMES = "ACTIVE POST_ONLY REDUCE_ONLY CANCEL_ONLY HALTED CLOSED".split()
DONE = "request_completed"
FAR = 950_000  # a bid that meets nobody


class World:
    """A long and a short account in BTC-PERP, and what the operator may say."""

    def __init__(self, exchange):
        self.exchange = exchange
        for asset, price in ((BTC, BTC_PRICE), (ETH, 300_000)):
            assert exchange.set_price(price, asset)["status"] == DONE
        self.long, self.short = self.account(), self.account()
        assert self.long.limit(BTC_PRICE, 20_000)["status"] == DONE
        assert self.short.limit(BTC_PRICE, -20_000, expiry=IOC)["status"] == DONE

    def account(self):
        return Account(self.exchange, 100_000_000_000)

    def set(self, asset, state, **more):
        return self.exchange.ack(MARKET_STATE, state_body(asset, state, **more),
                                 self.exchange.operator)["status"]

    def states(self):
        rows = self.exchange.get("/api/v1/markets").json["markets"]
        return [row["state"] for row in rows]

    def until(self, what):
        """R3: lists are worked off in slices."""
        end = time.monotonic() + PATIENCE_S
        while not what():
            assert time.monotonic() < end
            time.sleep(0.02)


@suite.case
def what_each_state_lets_in(world):
    """R9 and R11 row 10, for codes 0, 1, 2, 3 and 5."""
    table, short = Table(), world.short
    refused = {POST_ONLY: "rejected_market_post_only", REDUCE_ONLY: "rejected_market_reduce_only",
               CANCEL_ONLY: "rejected_market_cancel_only", HALTED: "rejected_market_halted"}
    for state in (ACTIVE, POST_ONLY, REDUCE_ONLY, CANCEL_ONLY, HALTED):
        assert world.set(BTC, ACTIVE) == DONE
        target = new_id()
        table.same("a reduce-only order", short.limit(FAR, 5_000, target, reduce_only=1,
                                                      post_only=1)["status"], DONE)
        table.same(f"to {NAMES[state]}", world.set(BTC, state), DONE)
        table.same("shown", world.states()[0], NAMES[state])
        for post, reduce in ((0, 0), (1, 0), (0, 1), (1, 1)):
            passes = (state == ACTIVE or state == POST_ONLY and post
                      or state == REDUCE_ONLY and reduce)
            want = DONE if passes else refused[state]
            row = f"{NAMES[state]} post_only {post} reduce_only {reduce}"
            table.ack(row, world.exchange.send(PLACE_LIMIT, limit_body(
                short.id, FAR, 1_000, post_only=post, reduce_only=reduce), short.session), want)
            table.ack(f"{row} replaced", world.exchange.send(REPLACE, replace_body(
                short.id, target, FAR, 4_000, post_only=post, reduce_only=reduce), short.session),
                want)
        table.ack(f"{NAMES[state]} at market", world.exchange.send(PLACE_MARKET, market_order_body(
            short.id, 1_000, reduce_only=1), short.session),
            DONE if state in (ACTIVE, REDUCE_ONLY) else refused[state])
        table.ack(f"{NAMES[state]} reduce", world.exchange.send(REDUCE, reduce_body(
            short.id, target, 1_000), short.session), DONE)
        table.ack(f"{NAMES[state]} cancel", world.exchange.send(CANCEL, cancel_body(
            short.id, target), short.session), DONE)
        table.same(f"{NAMES[state]} cancel all", short.cancel_all()["status"], DONE)
    assert world.set(BTC, ACTIVE) == DONE
    return table.wrong


@suite.case
def reduce_only_cancels_the_rest(world):
    """R9: entering REDUCE_ONLY cancels resting non-reduce-only orders; R10 reason market_state."""
    table, orders, kept = Table(), [], new_id()
    for number in range(150):  # more than one slice of 64 units
        orders.append(new_id())
        assert world.long.limit(900_000 + number, 200, orders[-1])["status"] == DONE
    assert world.long.limit(1_090_000, -1_000, kept, reduce_only=1)["status"] == DONE
    table.same("REDUCE_ONLY", world.set(BTC, REDUCE_ONLY), DONE)
    world.until(lambda: world.long.order(orders[-1]).json["order_status"] == "CANCELED")
    for order in orders:
        shown = world.long.order(order).json
        table.same("canceled", (shown["order_status"], shown["reason"]),
                   ("CANCELED", "market_state"))
    table.same("kept", world.long.order(kept).json["order_status"], "OPEN")
    table.same("canceled already", world.long.cancel(orders[0])["status"],
               "rejected_order_not_found")
    assert world.set(BTC, ACTIVE) == DONE and world.long.cancel(kept)["status"] == DONE
    return table.wrong


@suite.case
def all_markets(world):
    """1008 (W3a, R11): every market takes the state; a halted one forbids nothing in another."""
    table, exchange = Table(), world.exchange
    halt = exchange.ack(HALT_ALL, bytes([HALTED]) + bytes(7), exchange.operator)
    table.same("halted", halt["status"], DONE)
    table.same("all", world.states(), ["HALTED"] * 5)
    table.same("reads go on", world.long.read(
        "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0").status, 200)
    assert world.set(ETH, ACTIVE) == DONE
    table.ack("a halted leg forbids nothing elsewhere", exchange.send(PLACE_LIMIT, limit_body(
        world.long.id, 290_000, 1_000, asset=ETH), world.long.session), DONE)
    table.same("canceled", world.long.cancel_all()["status"], DONE)
    other = exchange.ack(HALT_ALL, bytes([ACTIVE]) + bytes(7), exchange.operator)
    table.same("active", other["status"], DONE)
    table.same("all active", world.states(), ["ACTIVE"] * 5)
    return table.wrong


@suite.case
def refusals(world):
    """R11 for 1002 and 1008; CLOSED without its hour of REDUCE_ONLY (R9)."""
    table, exchange = Table(), world.exchange
    for row, body, status, field in (
            ("asset 0", state_body(0, 9, pad=1), "order_rejected_invalid_market", "asset"),
            ("all", state_body(0xFFFF, HALTED), "order_rejected_invalid_market", "asset"),
            ("unknown", state_body(77, 9), "rejected_market_not_found", "asset"),
            ("pad 2", state_body(BTC, HALTED, pad=1), "order_rejected_invalid", "pad"),
            ("pad 6", state_body(BTC, HALTED, pad6=256), "order_rejected_invalid", "pad"),
            ("force", state_body(BTC, HALTED, force=2), "order_rejected_invalid", "force"),
            ("state", state_body(BTC, 6), "order_rejected_invalid", "state"),
            ("CLOSED", state_body(BTC, CLOSED), "order_rejected_invalid", "force")):
        table.ack(row, exchange.send(MARKET_STATE, body, exchange.operator), status, field=field,
                  rule=...)
    for row, body, field in (("CLOSED", bytes([CLOSED]) + bytes(7), "state"),
                             ("pad", bytes([HALTED, 1]) + bytes(6), "pad")):
        table.ack(f"all {row}", exchange.send(HALT_ALL, body, exchange.operator),
                  "order_rejected_invalid", field=field, rule=...)
    for row, key in (("oracle", exchange.oracle), ("stranger", Ed25519Key()),
                     ("session", world.long.session)):
        table.ack(row, exchange.send(MARKET_STATE, state_body(BTC, HALTED), key),
                  "rejected_unauthorized", sequenced=False)
        table.ack(row, exchange.send(HALT_ALL, bytes([HALTED]) + bytes(7), key),
                  "rejected_unauthorized", sequenced=False)
    table.problem("too short", exchange.send(MARKET_STATE, bytes(16), exchange.operator), 400,
                  "malformed_payload")
    table.same("nothing changed", world.states(), ["ACTIVE"] * 5)
    request = new_id()
    first = exchange.ack(MARKET_STATE, state_body(ETH, POST_ONLY), exchange.operator, request)
    again = exchange.ack(MARKET_STATE, state_body(ETH, ACTIVE), exchange.operator, request)
    table.same("once", (first["status"], again["status"], again["original_status"]),
               (DONE, "duplicate_request_id", DONE))
    table.same("the first counts", world.states()[1], "POST_ONLY")
    assert world.set(ETH, ACTIVE) == DONE
    return table.wrong


@suite.case
def a_hold_ends_by_the_operator(world):
    """R5: a move beyond 10 % is held, CANCEL_ONLY; 1002 takes no price and sets what it returns to;
    1010 takes the newest, which the operator names within 2 %."""
    table, exchange = Table(), world.exchange
    assert exchange.set_price(300_000, ETH)["status"] == DONE  # a hold needs one of the last minute
    table.same("held", exchange.set_price(360_000, ETH)["status"], DONE)
    table.same("CANCEL_ONLY", world.states()[1], "CANCEL_ONLY")
    table.same("operator", world.set(ETH, ACTIVE), DONE)
    table.same("still held", world.states()[1], "CANCEL_ONLY")
    for row, price, status in (("2.1 % off", 352_400, "rejected_invalid_price"),
                               ("2 % off", 352_800, DONE),
                               ("not held", 360_000, "order_rejected_invalid")):
        body = struct.pack("<QHHI", price, ETH, 0, 0)
        table.ack(f"1010: {row}", exchange.send(INDEX_ACCEPT, body, exchange.operator), status)
    table.same("ACTIVE", world.states()[1], "ACTIVE")
    for price, status in ((397_000, "rejected_invalid_price"), (395_000, DONE)):
        table.ack(f"10 % around 3,600: {price}", exchange.send(PLACE_LIMIT, limit_body(
            world.long.id, price, 1_000, asset=ETH), world.long.session), status)
    table.same("canceled", world.long.cancel_all()["status"], DONE)
    return table.wrong


if __name__ == "__main__":
    sys.exit(run(suite, World, options=()))
