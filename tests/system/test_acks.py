"""test_acks.py - the three forms of an acknowledgement from outside: brief, X-Ack: full, and the 64
bytes, of envelopes and frames, of duplicates and of what the network thread refuses.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import struct
import sys
import time

from client import (ALL_ASSETS, CANCEL, CANCEL_ALL, CREATE_API_KEY, CREATE_SESSION, IOC, JSON,
                    OCTETS, PATHS, PLACE_LIMIT, PLACE_MARKET, REDUCE, REPLACE, Account, Ed25519Key,
                    api_key_body, cancel_all_body, cancel_body, envelope, frame, id_text,
                    limit_body, market_order_body, new_id, payload_of, reduce_body, replace_body,
                    request_bytes, session_body)
from harness import Suite, Table
from records import EVIDENCE
from world import BTC, BTC_PRICE, ETH, SOL, USDC, run

suite = Suite("acks")
FULL, BINARY = ("X-Ack", "full"), ("X-Ack", "binary")
ACCEPT = ("Accept", "application/octet-stream")
ORDER_MEMBERS = ("order_status", "remaining_size", "filled_size", "average_price",
                 "quantity_ahead", "book_handle")
NO_ORDER = dict.fromkeys(ORDER_MEMBERS)
STATUS = {"request_completed": 0, "duplicate_request_id": 1, "rejected_unauthorized": 4,
          "rejected_invalid_price": 12, "rejected_size_zero": 14, "rejected_order_not_found": 16,
          "rejected_market_not_found": 26, "rejected_invalid_order_flags": 19}  # W3, from 0
OPEN, FILLED, CANCELED, REJECTED, PARTLY, NONE = 0, 1, 2, 3, 5, 255  # W3, order_status


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        for asset, price in ((BTC, BTC_PRICE), (ETH, 300_000), (SOL, 1_500_000)):
            done = exchange.set_price(price, asset)
            assert done["status"] == "request_completed", done

    def account(self, usdc=100_000):
        return Account(self.exchange, usdc * USDC)


def send(world, account, code, body, headers=(), request_id=None, binary=False, key=None):
    return world.exchange.send(code, body, key or account.session, request_id, binary, headers)


def evidence(table, row, response, status="request_completed", sequenced=True, **want):
    """J4, X-Ack: full: exactly its members in its order, each of its type; those named equal."""
    body = table.ok(row, response)
    if not body:
        return {}
    names = [name for name in EVIDENCE if sequenced or name != "sequence"]
    more = [name for name in ("reason", "original_status", "original_processed_at_ns")
            if name in want]
    at = names.index("order_status")
    names[at:at] = more
    table.same(f"{row}: members in order", list(body), names)
    table.members(row, body, {name: EVIDENCE.get(name, "ns" if name.endswith("_ns") else "str")
                              for name in names})
    table.same(f"{row}: status", body.get("status"), status)
    table.same(f"{row}: it rests", body.get("book_handle") is None,
               body.get("quantity_ahead") is None)
    for name, value in want.items():
        if value is not ...:
            table.same(f"{row}: {name}", body.get(name), value)
    stages = body.get("timing_ns") or {}
    table.same(f"{row}: stages", list(stages), ["verified", "sequenced", "matched", "ack"])
    if sequenced:
        values = list(stages.values())
        table.true(f"{row}: stages grow", all(type(value) is int and value > 0
                                              for value in values) and values == sorted(values)
                   and values[-1] < 20_000_000_000, stages)
    return body


class Ack64:
    """W5: the 64 bytes."""

    def __init__(self, table, row, response):
        table.same(f"{row}: form", (response.status, response.header("content-type"),
                                    len(response.body)), (200, "application/octet-stream", 64))
        parts = struct.unpack("<HBB4sQQ16sQQII", response.body.ljust(64, b"\0")[:64])
        (self.status, self.order_status, self.version, self.pad, self.processed_at_ns,
         self.sequence, self.request_id, self.remaining, self.quantity_ahead, self.verify_ns,
         self.match_ns) = parts
        table.same(f"{row}: version, pad", (self.version, self.pad), (1, bytes(4)))
        table.true(f"{row}: now", abs(self.processed_at_ns - time.time_ns()) < 60_000_000_000,
                   self.processed_at_ns)


@suite.case
def full_of_placing(world):
    """J4: an order that rests, one behind another, one that trades, one canceled, one refused."""
    table = Table()
    it, maker = world.account(), world.account()

    def place(row, price, quantity, who=it, request_id=None, **want):
        flags = {name: want.pop(name) for name in ("expiry", "stp", "post_only", "asset")
                 if name in want}
        return evidence(table, row, send(world, who, PLACE_LIMIT, limit_body(
            who.id, price, quantity, **flags), [FULL], request_id), **want)

    first = place("the first of its level", 990_000, 1_000, order_status="OPEN",
                  remaining_size="0.01", filled_size="0", average_price=None, quantity_ahead="0",
                  best_bid="99000", best_ask=None)
    read = world.exchange.get("/api/v1/markets/BTC-PERP/book")
    book_seq, same = read.json["seq"], int(read.header("x-sequence")) == first["sequence"]
    # A tick between the two may move the mark, which counts as well.
    table.true("book_seq is the book's", first["book_seq"] == book_seq or
               (not same and first["book_seq"] < book_seq), (first, read.json["seq"], same))
    place("the second", 990_000, 200, order_status="OPEN", remaining_size="0.002",
          quantity_ahead="0.01", best_bid="99000", best_ask=None)
    place("another's, the third", 990_000, 200, maker, quantity_ahead="0.012")
    place("alone below", 980_000, 20, quantity_ahead="0", best_bid="99000")
    place("an ask", 1_010_000, -300, maker, order_status="OPEN", remaining_size="0.003",
          quantity_ahead="0", best_bid="99000", best_ask="101000")
    place("an ask behind", 1_011_000, -300, maker, best_ask="101000")
    shown = place("trades, used up", 1_010_000, 100, order_status="FILLED", remaining_size="0",
                  filled_size="0.001", average_price="101000", quantity_ahead=None,
                  best_ask="101000")
    table.true("book_seq grows", shown["book_seq"] > first["book_seq"], shown)
    place("trades at two prices, the rest rests", 1_011_000, 1_000, order_status="PARTIALLY_FILLED",
          remaining_size="0.005", filled_size="0.005", average_price="101060", quantity_ahead="0",
          best_bid="101100", best_ask=None)
    place("IOC without a fill", 1_000_000, 50, expiry=IOC, order_status="CANCELED",
          remaining_size="0.0005", filled_size="0", average_price=None, quantity_ahead=None)
    place("IOC in part", 1_011_000, -900, maker, expiry=IOC, order_status="CANCELED",
          remaining_size="0.004", filled_size="0.005", average_price="101100",
          quantity_ahead=None, best_bid="99000", best_ask=None)
    # W5: of an order that R11 refuses from row 13 on, REJECTED is kept (R3); before, none is.
    place("row 20", 2_000_000, 100, status="rejected_invalid_price", order_status="REJECTED",
          remaining_size="0.001", filled_size="0", average_price=None, quantity_ahead=None,
          best_bid="99000", best_ask=None)
    place("row 11", 990_000, 100, stp=9, status="rejected_invalid_order_flags", **NO_ORDER,
          best_bid="99000", best_ask=None)
    place("row 8: no market", 990_000, 100, asset=99, status="rejected_market_not_found",
          **NO_ORDER, best_bid=None, best_ask=None, book_seq=None)
    place("an empty market", 290_000, 1_000, asset=ETH, best_bid="2900", best_ask=None,
          order_status="OPEN", quantity_ahead="0")
    for _ in range(5):  # a full second of the market between the two raises it as well
        shown = place("another market's book_seq", 1_490_000, 1_000, asset=SOL,
                      order_status="OPEN")["book_seq"]
        after = world.exchange.get("/api/v1/markets/SOL-PERP/book").json["seq"]
        if shown == after:
            break
    table.same("its book's", shown, after)
    for who in (it, maker):
        who.cancel_all()
    return table.wrong


@suite.case
def single_orders(world):
    """J6: the orders of a book one by one, with the handle that acks and orders name."""
    table = Table()
    it, maker = world.account(), world.account()
    exchange, path = world.exchange, "/api/v1/markets/BTC-PERP/book"
    ids = {name: new_id() for name in ("first", "second", "below", "ask")}

    def place(name, who, price, quantity):
        before = exchange.get(path).json["seq"]
        ack = evidence(table, name, send(world, who, PLACE_LIMIT, limit_body(
            who.id, price, quantity), [FULL], ids[name]), order_status="OPEN")
        table.true(f"{name}: seq of its add", before < ack["book_handle"] < ack["book_seq"],
                   (before, ack))
        return ack["book_handle"]

    def orders(query=""):
        body = table.ok("l3", exchange.get(f"{path}/l3{query}"))
        table.members("l3", body, {"market": "str", "seq": "int", "engine_seq": "int",
                                   "time_ns": "ns", "orders": "list"})
        return [(row["handle"], row["side"], row["price"], row["size"]) for row in body["orders"]]

    def handle_of(name, who):
        return exchange.get(f"/api/v1/orders/{id_text(ids[name])}", who.api_key).json["book_handle"]

    first = place("first", it, 990_000, 1_000)
    second = place("second", maker, 990_000, 200)
    ask = place("ask", maker, 1_010_000, -300)
    below = place("below", it, 980_000, 20)
    full = [(first, "LONG", "99000", "0.01"), (second, "LONG", "99000", "0.002"),
            (below, "LONG", "98000", "0.0002"), (ask, "SHORT", "101000", "0.003")]
    table.same("best first, each level by its queue", orders(), full)
    table.same("of each side one", orders("?depth=1"), [full[0], full[3]])
    table.same("of each side two", orders("?depth=2"), [*full[:2], full[3]])
    table.same("the orders name them", [handle_of(name, who) for name, who in (
        ("first", it), ("second", maker), ("below", it), ("ask", maker))],
        [first, second, below, ask])
    send(world, it, PLACE_LIMIT, limit_body(it.id, 1_010_000, 100, expiry=IOC))
    send(world, it, REDUCE, reduce_body(it.id, ids["first"], 400))
    table.same("filled and reduced: they keep their places", orders(), [
        (first, "LONG", "99000", "0.006"), *full[1:3], (ask, "SHORT", "101000", "0.002")])
    shown = evidence(table, "larger", send(world, it, REPLACE, replace_body(
        it.id, ids["first"], 990_000, 700), [FULL]), order_status="OPEN")
    table.true("a new place, a new handle", shown["book_handle"] > ask, shown)
    table.same("behind the other", orders("?depth=2")[:2], [
        full[1], (shown["book_handle"], "LONG", "99000", "0.007")])
    table.same("the order names it", handle_of("first", it), shown["book_handle"])
    for value in ("0", "1001", "x"):
        table.problem(value, exchange.get(f"{path}/l3?depth={value}"), 400, "invalid_parameter",
                      parameter="depth")
    table.problem("no market", exchange.get("/api/v1/markets/NO-PERP/book/l3"), 404, "not_found")
    for who in (it, maker):
        who.cancel_all()
    table.same("empty", orders(), [])
    table.same("an ended order has none", handle_of("first", it), None)
    return table.wrong


@suite.case
def full_of_the_rest(world):
    """J4: market orders, reductions, replacements, cancels, cancel-all; others have no evidence."""
    table = Table()
    it, maker = world.account(), world.account()
    front, order, behind, ask = new_id(), new_id(), new_id(), new_id()
    maker.limit(990_000, 300, front)
    it.limit(990_000, 1_000, order)
    it.limit(990_000, 500, behind)
    maker.limit(1_010_000, -300, ask)
    best = {"best_bid": "99000", "best_ask": "101000"}

    def do(row, code, body, who=it, **want):
        return evidence(table, row, send(world, who, code, body, [FULL]), **want)

    do("reduced, its place kept", REDUCE, reduce_body(it.id, order, 400), order_status="OPEN",
       remaining_size="0.006", filled_size="0", average_price=None, quantity_ahead="0.003", **best)
    # Refused from row 14 on: the order was found, and stands as it did.
    found = dict(order_status="OPEN", remaining_size="0.006", filled_size="0",
                 quantity_ahead="0.003", **best)
    do("row 14", REDUCE, reduce_body(it.id, order, 400, expected=1),
       status="rejected_size_not_equal", **found)
    do("row 15", REDUCE, reduce_body(it.id, order, 0), status="rejected_size_zero", **found)
    do("row 14", REPLACE, replace_body(it.id, order, 990_000, 500, expected=1),
       status="rejected_size_not_equal", **found)
    do("row 20", REPLACE, replace_body(it.id, order, 1_200_000, 500),
       status="rejected_invalid_price", **found)
    do("replaced in place", REPLACE, replace_body(it.id, order, 990_000, 500),
       order_status="OPEN", remaining_size="0.005", quantity_ahead="0.003", **best)
    do("the one behind", REPLACE, replace_body(it.id, behind, 990_000, 500),
       order_status="OPEN", remaining_size="0.005", quantity_ahead="0.008", **best)
    do("larger: to the back", REPLACE, replace_body(it.id, order, 990_000, 510),
       order_status="OPEN", remaining_size="0.0051", quantity_ahead="0.008", **best)
    do("another price", REPLACE, replace_body(it.id, order, 995_000, 510), order_status="OPEN",
       quantity_ahead="0", best_bid="99500", best_ask="101000")
    do("it trades", REPLACE, replace_body(it.id, order, 1_010_000, 100), order_status="FILLED",
       remaining_size="0", filled_size="0.001", average_price="101000", quantity_ahead=None, **best)
    do("not found", REDUCE, reduce_body(it.id, new_id(), 1), status="rejected_order_not_found",
       **NO_ORDER, **best)
    do("not found", REPLACE, replace_body(it.id, order, 990_000, 10),
       status="rejected_order_not_found", **NO_ORDER, **best)
    do("a market order", PLACE_MARKET, market_order_body(it.id, 500), order_status="CANCELED",
       remaining_size="0.003", filled_size="0.002", average_price="101000", quantity_ahead=None,
       best_bid="99000", best_ask=None)
    do("an empty side", PLACE_MARKET, market_order_body(it.id, 500), order_status="CANCELED",
       remaining_size="0.005", filled_size="0", average_price=None, quantity_ahead=None)
    do("reduced by all", REDUCE, reduce_body(it.id, behind, 500), order_status="CANCELED",
       filled_size="0", quantity_ahead=None, best_bid="99000", best_ask=None)
    do("canceled", CANCEL, cancel_body(maker.id, front), maker, order_status="CANCELED",
       remaining_size="0.003", filled_size="0", average_price=None, quantity_ahead=None,
       best_bid=None, best_ask=None)
    do("canceled already", CANCEL, cancel_body(maker.id, front), maker,
       status="rejected_order_not_found", best_bid=None, best_ask=None)
    it.limit(990_000, 100)
    do("cancel-all of a market", CANCEL_ALL, cancel_all_body(it.id, asset=BTC), **NO_ORDER,
       best_ask=None, book_seq=...)
    do("cancel-all of all", CANCEL_ALL, cancel_all_body(it.id, asset=ALL_ASSETS), **NO_ORDER,
       best_bid=None, best_ask=None, book_seq=None)
    # Evidence is for codes 0 to 8: others answer as ever.
    response = send(world, it, CREATE_API_KEY, api_key_body(it.id), [FULL])
    table.success("an API key", response, True, "request_completed", api_key_id=..., api_key=...)
    response = send(world, it, CREATE_SESSION, session_body(it.id, Ed25519Key().public), [FULL],
                    key=it.master)
    table.success("a session", response, True, "session_created", session_id=..., expires_at=...)
    maker.cancel_all()
    return table.wrong


@suite.case
def sixty_four_bytes(world):
    """W5: byte by byte, for JSON with Accept and for frames with either header."""
    table = Table()
    exchange = world.exchange
    ways = (("envelope, Accept", [ACCEPT], False), ("frame, Accept", [ACCEPT], True),
            ("frame, X-Ack: binary", [BINARY], True),
            ("frame, both", [ACCEPT, BINARY], True), ("envelope, both", [ACCEPT, BINARY], False),
            ("full and Accept", [FULL, ACCEPT], False))
    for way, headers, binary in ways:
        it, taker = world.account(), world.account()

        def ask(row, status, code, body, order_status, remaining, ahead, who=it, request_id=None,
                key=None):
            request_id = request_id or new_id()
            ack = Ack64(table, f"{way}: {row}", send(world, who, code, body, headers, request_id,
                                                     binary, key))
            table.same(f"{way}: {row}", (ack.status, ack.order_status, ack.remaining,
                                         ack.quantity_ahead, ack.request_id),
                       (STATUS[status], order_status, remaining, ahead, request_id))
            return ack

        done, order = "request_completed", new_id()
        ack = ask("first", done, PLACE_LIMIT, limit_body(it.id, 990_000, 1_000), OPEN, 1_000, 0,
                  request_id=order)
        record = it.order(order).json
        table.same(f"{way}: sequence and time", (ack.sequence, ack.processed_at_ns),
                   (record["sequence"], record["time_ns"]))
        table.true(f"{way}: stages", 0 < ack.verify_ns <= ack.match_ns < 2**32 - 1,
                   (ack.verify_ns, ack.match_ns))
        ask("second", done, PLACE_LIMIT, limit_body(it.id, 990_000, 200), OPEN, 200, 1_000)
        ask("taker", done, PLACE_LIMIT, limit_body(taker.id, 990_000, -300), FILLED, 0, 0, taker)
        ask("reduced", done, REDUCE, reduce_body(it.id, order, 200), PARTLY, 500, 0)
        ask("anew", done, REPLACE, replace_body(it.id, order, 990_000, 600), PARTLY, 600, 200)
        ask("market order", done, PLACE_MARKET, market_order_body(taker.id, -150), FILLED, 0, 0,
            taker)
        ask("no order", "rejected_order_not_found", CANCEL, cancel_body(it.id, new_id()), NONE, 0,
            0)
        ask("row 11", "rejected_invalid_order_flags", PLACE_LIMIT,
            limit_body(it.id, 990_000, 10, stp=7), NONE, 0, 0)
        ask("canceled", done, CANCEL, cancel_body(it.id, order), CANCELED, 600, 0)
        ask("cancel-all", done, CANCEL_ALL, cancel_all_body(it.id), NONE, 0, 0)
        again = ask("a duplicate", "duplicate_request_id", PLACE_LIMIT,
                    limit_body(it.id, 990_000, 1_000), NONE, 0, 0, request_id=order)
        table.same(f"{way}: a duplicate has no sequence", again.sequence, 0)
        refused = ask("an unknown key", "rejected_unauthorized", PLACE_LIMIT,
                      limit_body(it.id, 990_000, 1_000), NONE, 0, 0, key=Ed25519Key())
        table.same(f"{way}: an unknown key", (refused.sequence, refused.match_ns), (0, 0))
        payload = payload_of(PLACE_LIMIT, limit_body(it.id, 990_000, 10), it.session)
        parts = payload, it.session.public, bytes(64)
        response = exchange.raw(request_bytes(
            "POST", PATHS[PLACE_LIMIT], frame(*parts) if binary else envelope(*parts),
            [OCTETS if binary else JSON, *headers]))
        table.problem(f"{way}: a problem stays JSON", response, 401, "invalid_signature")
        response = send(world, it, CREATE_API_KEY, api_key_body(it.id), headers, binary=binary)
        table.same(f"{way}: success style stays JSON", (response.status, response.header(
            "content-type"), response.json.get("success")), (200, "application/json", True))
    return table.wrong


@suite.case
def duplicates(world):
    """W5: a repeat of each code answers with the original outcome, in each form and envelope."""
    table = Table()
    it, maker = world.account(), world.account()
    maker.limit(1_010_000, -500)
    order, ids = new_id(), {}
    bodies = (("placed", PLACE_LIMIT, limit_body(it.id, 990_000, 1_000), order, None),
              ("refused", PLACE_LIMIT, limit_body(it.id, 0, 1_000), None,
               "rejected_invalid_price"),
              ("market", PLACE_MARKET, market_order_body(it.id, 100), None, None),
              ("market refused", PLACE_MARKET, market_order_body(it.id, 0), None,
               "rejected_size_zero"),
              ("reduced", REDUCE, reduce_body(it.id, order, 100), None, None),
              ("reduction refused", REDUCE, reduce_body(it.id, new_id(), 1), None,
               "rejected_order_not_found"),
              ("replaced", REPLACE, replace_body(it.id, order, 991_000, 800), None, None),
              ("replacement refused", REPLACE, replace_body(it.id, new_id(), 991_000, 800), None,
               "rejected_order_not_found"),
              ("canceled", CANCEL, cancel_body(it.id, order), None, None))
    firsts = {}
    for row, code, body, request_id, refused in bodies:
        ids[row] = request_id or new_id()
        firsts[row] = table.ok(row, send(world, it, code, body, (), ids[row]))
        table.same(row, firsts[row].get("status"), refused or "request_completed")
    balance = "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0"
    orders, cash = it.read("/api/v1/orders").json, it.read(balance).json
    for row, code, body, _, refused in bodies:
        original = {"original_status": refused or "request_completed",
                    "original_processed_at_ns": firsts[row]["processed_at_ns"]}
        for binary in (False, True):
            response = send(world, it, code, body, (), ids[row], binary)
            table.ack(f"{row} again, binary {binary}", response, "duplicate_request_id",
                      sequenced=False, **original)
            evidence(table, f"{row} again, full, binary {binary}",
                     send(world, it, code, body, [FULL], ids[row], binary),
                     "duplicate_request_id", sequenced=False, **original, **NO_ORDER,
                     best_bid=None, best_ask="101000", book_seq=...)
            ack = Ack64(table, f"{row} again, 64 bytes", send(world, it, code, body, [ACCEPT],
                                                              ids[row], binary))
            table.same(f"{row} again, 64 bytes", (ack.status, ack.order_status, ack.request_id),
                       (STATUS["duplicate_request_id"], NONE, ids[row]))
    table.same("nothing moved", (it.read("/api/v1/orders").json, it.read(balance).json),
               (orders, cash))
    maker.cancel_all()
    return table.wrong


@suite.case
def forms_asked_for(world):
    """W5: brief without a header; words that are none are 400 and execute nothing."""
    table = Table()
    it = world.account()
    body = limit_body(it.id, 900_000, 20)
    for binary in (False, True):
        table.ack(f"brief, binary {binary}", send(world, it, PLACE_LIMIT, body, (), None, binary),
                  "request_completed")
        for headers in ([("X-Ack", "")], [("X-Ack", "fuller")], [("X-Ack", "full, binary")],
                        [FULL, FULL], [FULL, BINARY]):
            request_id = new_id()
            response = send(world, it, PLACE_LIMIT, body, headers, request_id, binary)
            if len(headers) == 1:
                table.problem(f"{headers}, binary {binary}", response, 400, "invalid_parameter",
                              parameter="X-Ack")
            else:
                table.problem(f"{headers}, binary {binary}", response, 400, "malformed_request")
            table.problem(f"{headers}: nothing was done", it.order(request_id), 404,
                          "order_not_found")
        evidence(table, f"another case, binary {binary}", send(
            world, it, PLACE_LIMIT, body, [("x-ACK", "Full")], None, binary), order_status="OPEN")
    table.problem("binary with an envelope", send(world, it, PLACE_LIMIT, body, [BINARY]), 400,
                  "invalid_parameter", parameter="X-Ack")
    for value in ("*/*", "application/*", "application/json", "text/html",
                  "application/json, application/octet-stream;q=0.1"):
        response = send(world, it, PLACE_LIMIT, body, [("Accept", value)])
        table.ack(f"Accept: {value}", response, "request_completed")
    for value in ("Application/Octet-Stream", "application/octet-stream;q=1",
                  "text/html, application/octet-stream"):
        Ack64(table, f"Accept: {value}", send(world, it, PLACE_LIMIT, body, [("Accept", value)]))
    shown = evidence(table, "an unknown key", send(world, it, PLACE_LIMIT, body, [FULL],
                                                   key=Ed25519Key()),
                     "rejected_unauthorized", sequenced=False, **NO_ORDER, best_bid=None,
                     best_ask=None, book_seq=None)
    table.same("stages not reached", [shown["timing_ns"][name] for name in ("sequenced",
                                                                           "matched")], [0, 0])
    it.cancel_all()
    return table.wrong


def stages_of(world, table):
    """The stages of GET /latency by name."""
    shown = table.ok("/latency", world.exchange.admin("/api/v1/latency"))
    for stage in shown["stages"]:
        uppers = [upper for upper, _ in stage["buckets"]]
        table.same("rising", uppers, sorted(set(uppers)))
        table.same("count", stage["count"], sum(count for _, count in stage["buckets"]))
    return shown["since_ns"], {stage["stage"]: stage for stage in shown["stages"]}


@suite.case
def latency(world):
    """J6: every request is counted once in each stage, in the bucket in which the time of its
    acknowledgement lies; only a testnet's is public (W7)."""
    table, it = Table(), world.account()
    since, before = stages_of(world, table)
    table.same("stages", list(before), ["verified", "pushed", "sequenced", "matched", "released",
                                        "sent", "read"])
    acks = [table.ok("placed", send(world, it, PLACE_LIMIT, limit_body(it.id, 900_000, 20), [FULL]))
            for _ in range(25)]
    again, after = stages_of(world, table)
    table.same("since", again, since)
    for name in ("verified", "sequenced", "matched"):
        had = dict(before[name]["buckets"])
        uppers = sorted(upper for upper, count in after[name]["buckets"]
                        for _ in range(count - had.get(upper, 0)))
        times = sorted(ack["timing_ns"][name] for ack in acks)
        table.same(f"{name}: count", len(uppers), len(times))
        for time_ns, upper in zip(times, uppers):  # it is a 32nd of its octave wide
            table.true(f"{name}: {time_ns} ns in the bucket up to {upper}",
                       upper * 31 // 32 <= time_ns <= upper, uppers)
        table.same(f"{name}: sum", after[name]["sum_ns"] - before[name]["sum_ns"], sum(times))
    table.problem("public", world.exchange.get("/api/v1/latency"), 404, "not_found")
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, ()))
