"""test_orders.py - orders from outside: duplicates, and the rows of R11 that a client can reach.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import json
import sys
import time

from client import (ALL_ASSETS, CANCEL, CANCEL_ALL, CREATE_API_KEY, CREATE_SESSION, FOK, IOC, JSON,
                    MARKET_DEFINE, PATHS, PLACE_LIMIT, Ed25519Key, api_key_body, cancel_all_body,
                    cancel_body, envelope, frame, limit_body, market_body, new_id, payload_of,
                    request_bytes, session_body)
from harness import Suite, Table
from world import BTC, DAY, NO_MARK, SECOND, SOL, TEST, USDC, run, seen, while_it_lasts

suite = Suite("orders")


# --- W5, W6: duplicates, accounts, sessions, API keys --------------------------------------------

@suite.case
def duplicates_of_orders(world):
    """W5: a replay answers with the original outcome; 4xx and unknown keys leave an id unused."""
    table = Table()
    exchange, account, other = world.exchange, world.account(), world.account()
    request_id = new_id()
    first = account.limit(900_000, 20, request_id)
    for binary in (False, True):
        response = exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session,
                                 request_id, binary)
        table.ack(f"again, binary {binary}", response, "duplicate_request_id", sequenced=False,
                  original_status="request_completed",
                  original_processed_at_ns=first["processed_at_ns"])
    response = exchange.send(CANCEL, cancel_body(account.id, request_id), account.session,
                             request_id)
    table.ack("another code", response, "duplicate_request_id", sequenced=False,
              original_status="request_completed",
              original_processed_at_ns=first["processed_at_ns"])
    second = Ed25519Key()
    exchange.ack(CREATE_SESSION, session_body(account.id, second.public), account.master)
    response = exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20), second, request_id)
    table.ack("another session of the account", response, "duplicate_request_id", sequenced=False,
              original_status="request_completed",
              original_processed_at_ns=first["processed_at_ns"])
    response = exchange.send(PLACE_LIMIT, limit_body(other.id, 900_000, 20), other.session,
                             request_id)
    table.ack("another account", response, "request_completed")
    request_id = new_id()
    refused = account.limit(900_000, 0, request_id)
    table.same("a refused order", refused["status"], "rejected_size_zero")
    response = exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session,
                             request_id)
    table.ack("after a rejection", response, "duplicate_request_id", sequenced=False,
              original_status="rejected_size_zero",
              original_processed_at_ns=refused["processed_at_ns"])
    request_id = new_id()
    payload = payload_of(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session,
                         request_id)
    exchange.raw(request_bytes("POST", PATHS[PLACE_LIMIT],
                               envelope(payload, account.session.public, bytes(64)), [JSON]))
    table.ack("after a 401", exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20),
                                           account.session, request_id), "request_completed")
    stranger, request_id = Ed25519Key(), new_id()
    exchange.ack(PLACE_LIMIT, limit_body(account.id, 900_000, 20), stranger, request_id)
    exchange.ack(CREATE_SESSION, session_body(account.id, stranger.public), account.master)
    table.ack("after an unknown key", exchange.send(
        PLACE_LIMIT, limit_body(account.id, 900_000, 20), stranger, request_id),
        "request_completed")
    return table.wrong


@suite.case
def one_id_at_once(world):
    """W5: the same request on eight connections at once is executed once."""
    table = Table()
    account, exchange = world.account(), world.exchange
    for number in range(20):
        request_id = new_id()
        data = exchange.signed(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session,
                               request_id, binary=bool(number % 2))
        connections = [exchange.open() for _ in range(8)]
        for connection in connections:
            connection.send(data)
        answers = [connection.receive().json for connection in connections]
        for connection in connections:
            connection.close()
        done = [body for body in answers if body["status"] == "request_completed"]
        table.same(f"round {number}: executed", len(done), 1)
        for body in answers:
            if done and body is not done[0]:
                table.same(f"round {number}", [body["status"], body.get("original_status"),
                                               body.get("original_processed_at_ns")],
                           ["duplicate_request_id", "request_completed",
                            done[0]["processed_at_ns"]])
        account.cancel(request_id)
    return table.wrong





def market_record():
    """TEST-PERP: lot 0.01 = 10 raw units, tick 0.01 = 10 raw units."""
    return {"market": "TEST-PERP", "asset_id": TEST, "base": "TEST", "price_decimals": 3,
            "size_decimals": 3, "tick_size": "0.01", "lot_size": "0.01", "min_size": "0.05",
            "max_order_size": "1000000", "min_notional": "10", "impact_notional": "6000",
            "max_leverage": 20,
            "tiers": [{"upper_notional": "5000000", "max_leverage": 20},
                      {"upper_notional": None, "max_leverage": 3}],
            "price_band_ppm": 100000, "max_slippage_ppm": 50000,
            "fees": [{"tier": tier, "maker_fee_rate": "0.0001", "taker_fee_rate": "0.0005"}
                     for tier in range(6)]}


@suite.case
def markets_defined(world):
    """R11 code 1001, J5: strict, and R10: what may change later."""
    table = Table()
    exchange = world.exchange

    def define(body):
        return exchange.send(MARKET_DEFINE, body, exchange.operator)

    bad = [("no JSON", b"{nothing".ljust(16, b"\0")), ("empty", bytes(8)),
           ("an array", market_body([])), ("a duplicate member", market_body(
               market_record())[:-8].rstrip(b"\0}").ljust(8, b" ") + b',"market":"TEST-PERP"}')]
    changes = {"an unknown member": {"colour": "red"}, "asset 0": {"asset_id": 0},
               "asset 65535": {"asset_id": 65535}, "decimals that make 7": {"size_decimals": 4},
               "another base": {"base": "TOAST"}, "lower case": {"market": "test-PERP"},
               "no -PERP": {"market": "TEST"}, "tick 0": {"tick_size": "0"},
               "tick below a raw unit": {"tick_size": "0.0001"}, "tick a number": {"tick_size": 1},
               "exponent": {"tick_size": "1e-2"}, "min no lot multiple": {"min_size": "0.015"},
               "leverage 0": {"max_leverage": 0}, "leverage 101": {"max_leverage": 101},
               "band 0": {"price_band_ppm": 0}, "band 1,000,000": {"price_band_ppm": 1000000},
               "no tiers": {"tiers": []}, "interval": {"funding_interval_s": 60},
               "another max_price": {"max_price": "1"}, "five fees": {
                   "fees": market_record()["fees"][:5]},
               "tiers descending": {"tiers": [
                   {"upper_notional": "9", "max_leverage": 20},
                   {"upper_notional": "8", "max_leverage": 5},
                   {"upper_notional": None, "max_leverage": 3}]}}
    for row, change in changes.items():
        bad.append((row, market_body({**market_record(), **change})))
    for name in market_record():
        record = market_record()
        del record[name]
        bad.append((f"without {name}", market_body(record)))
    for row, body in bad:
        body += bytes(-len(body) % 8)
        fields = {"asset 0": "asset_id", "no tiers": "tiers", "no JSON": "body",
                  "tiers descending": "tiers.upper_notional", "another base": "base"}
        field = row.split()[-1] if row.startswith("without") else fields.get(row, ...)
        table.ack(row, define(body), "order_rejected_invalid", field=field, rule=...)
    # W1, W3a: at most 4,120 bytes of text; in a frame 4,241 of all.
    for binary in (False, True):
        response = exchange.send(MARKET_DEFINE, b"{}".ljust(4_120, b"\0"), exchange.operator,
                                 binary=binary)
        table.ack(f"4,120 bytes, binary {binary}", response, "order_rejected_invalid",
                  field="market", rule=...)
        response = exchange.send(MARKET_DEFINE, b"{}".ljust(4_128, b"\0"), exchange.operator,
                                 binary=binary)
        if binary:
            table.problem("4,128 bytes in a frame", response, 413, "payload_too_large",
                          max_bytes=4_241)
        else:
            table.problem("4,128 bytes in JSON", response, 400, "malformed_payload")
        response = exchange.send(MARKET_DEFINE, b"{}".ljust(12, b"\0"), exchange.operator,
                                 binary=binary)
        table.problem(f"no multiple of 8, binary {binary}", response, 400, "malformed_payload")
    table.problem("not there", exchange.get("/api/v1/markets/TEST-PERP"), 404, "not_found")
    table.ack("defined", define(market_body(market_record())), "request_completed")
    shown = exchange.get("/api/v1/markets/TEST-PERP").json
    want = market_record()
    want["tiers"] = [  # R4: imr = floor(1e6 / leverage), mmr = floor(imr / 2)
        {"upper_notional": "5000000", "max_leverage": 20, "imr_ppm": 50000, "mmr_ppm": 25000},
        {"upper_notional": None, "max_leverage": 3, "imr_ppm": 333333, "mmr_ppm": 166666}]
    want.update(mark_book_ppm=6250, oracle_sources_min=1, position_limit="0",
                open_interest_limit="0",
                funding_interval_s=3600, state="ACTIVE",
                max_price="167772.15")  # W7: tick * (2^24 - 1)
    table.same("shown", shown, want)
    table.ack("the band changed", define(market_body({**market_record(),
                                                      "price_band_ppm": 90000})),
              "request_completed")
    table.same("shown", exchange.get("/api/v1/markets/TEST-PERP").json["price_band_ppm"], 90000)
    for row, change, field in (
            ("tick", {"tick_size": "0.1"}, "tick_size"), ("lot", {"lot_size": "0.05"}, ...),
            ("decimals", {"price_decimals": 2, "size_decimals": 4}, "price_decimals"),
            ("id", {"asset_id": 9}, "market")):
        table.ack(f"another {row}", define(market_body({**market_record(), **change})),
                  "order_rejected_invalid", field=field, rule=...)
    table.ack("its band is back", define(market_body(market_record())), "request_completed")
    # J5: a name has at most 32 bytes; paths, parameters and plain writes take all of them.
    longest = "ABCDEFGHIJKLMNOPQRSTUVWXYZ1-PERP"
    named = {**market_record(), "asset_id": TEST + 1, "market": longest, "base": longest[:-5]}
    table.ack("32 bytes", define(market_body(named)), "request_completed")
    table.same("its name", exchange.get(f"/api/v1/markets/{longest}").json["market"], longest)
    table.same("its book", exchange.get(f"/api/v1/markets/{longest}/book").json["market"], longest)
    table.problem("33 bytes", exchange.get(f"/api/v1/markets/A{longest}"), 404, "not_found")
    account = world.account()
    table.same("a filter", exchange.get(f"/api/v1/positions?market={longest}",
                                        account.api_key).json, [])
    text = json.dumps({"subaccount_index": 0, "portfolio_index": 0, "market": longest,
                       "leverage": 3}).encode()
    key = exchange.ack(CREATE_API_KEY, api_key_body(account.id, scope=1),
                       account.session)["api_key"]
    table.same("leverage", exchange.raw(request_bytes(
        "PUT", "/api/v1/leverage", text, [JSON, ("X-API-KEY", key)])).json.get(
            "market"), longest)
    exchange.set_price(100_000, TEST)  # 100.000 USDC
    return table.wrong


# --- R11, engine rows that a limit order, a cancel or a cancel-all can meet -----------------------

@suite.case
def order_rows(world):
    """R11, rows 3-24: one fault each, and two at once -> the earlier row."""
    table = Table()
    exchange, account = world.exchange, world.account()

    def send(expected, row, price=1_000_000, quantity=20, **more):
        response = exchange.send(PLACE_LIMIT, limit_body(account.id, price, quantity, **more),
                                 account.session)
        table.ack(f"row {row} {more} price {price} quantity {quantity}", response, expected)

    now = time.time_ns()
    far, past = now + 91 * DAY, now - SECOND
    portfolio, market = "rejected_invalid_portfolio_id", "order_rejected_invalid_market"
    missing, invalid = "rejected_market_not_found", "order_rejected_invalid"
    flags, expired = "rejected_invalid_order_flags", "order_rejected_expired"
    zero, size, price = "rejected_size_zero", "rejected_invalid_size", "rejected_invalid_price"
    send(portfolio, 5, subaccount=1)
    send(portfolio, 5, portfolio=1)
    send(portfolio, 5, portfolio=0xFFFFFFFF)
    send(portfolio, "5 before 7", portfolio=1, asset=0)
    send(market, 7, asset=0)
    send(market, 7, asset=ALL_ASSETS)
    send(market, "7 before 9", asset=0, pad43=1)
    send(missing, 8, asset=77)
    send(missing, "8 before 9", asset=77, pad43=1)
    send(invalid, 9, pad43=1)
    send(invalid, 9, pad46=0x100)
    send(invalid, "9 before 11", pad46=1, stp=4)
    send(flags, 11, post_only=2)
    send(flags, 11, reduce_only=255)
    send(flags, 11, stp=4)
    send(flags, 11, post_only=1, expiry=IOC)
    send(flags, 11, post_only=1, expiry=FOK)
    send(flags, 11, expiry=far)
    send(flags, 11, expiry=2**63)
    send(flags, 11, expiry=2**64 - 2)
    send(flags, "11 before 12", stp=4, expiry=past)
    send(expired, 12, expiry=past)
    send(expired, 12, expiry=2)
    send(expired, "12 before 15", expiry=past, quantity=0)
    send(zero, 15, quantity=0)
    send(zero, "15 before 17", quantity=0, price=0)
    send(size, 16, quantity=-2**63)
    send(size, 16, quantity=2**40)
    send(size, 16, quantity=-2**40)
    send(size, "16, |q| <= 2^40 - 1 before the price", quantity=2**40, price=0)
    send(size, "17b, notional above 2^50", quantity=2**40 - 1)
    send(price, 17, price=0)
    send(price, 17, price=2**40)
    send(price, "17, above max_price", price=16_777_216)
    send(price, 17, price=2**64 - 1)
    send(price, "17 before 19", price=0, asset=NO_MARK)
    send("rejected_mark_price_zero", 19, asset=NO_MARK, price=100_000, quantity=1_000)
    send("rejected_mark_price_zero", "19, reduce-only too", asset=NO_MARK, price=100_000,
         quantity=1_000, reduce_only=1)
    send(price, 20, price=1_100_001)
    send(price, 20, price=899_999, quantity=-20)
    send(price, "20 before 21", price=1_100_001, quantity=1)
    send(size, 21, quantity=9)  # 9.0 USDC
    send("invalid_reduce_only_order", 24, reduce_only=1)
    send("invalid_reduce_only_order", "24, 21 is not for it", reduce_only=1, quantity=1)
    send("request_completed", "20, the edge", price=1_100_000, quantity=-20)
    send("request_completed", "20, the edge", price=900_000)
    send("request_completed", "21, the edge", price=1_000_000, quantity=10)
    send("request_completed", "12, GTT", price=900_000, expiry=now + 89 * DAY)
    # TEST-PERP: lot and tick are ten raw units, min_size 0.05 = 50.
    exchange.set_price(100_000, TEST)
    send(size, "16, off lot", asset=TEST, price=100_000, quantity=205)
    send(size, "16, below min", asset=TEST, price=100_000, quantity=40)
    send(size, "16, above max", asset=TEST, price=100_000, quantity=1_000_000_010)
    send(price, "17, off tick", asset=TEST, price=100_005, quantity=200)
    send(size, "16 before 17", asset=TEST, price=100_005, quantity=205)
    send("request_completed", "16, 17", asset=TEST, price=100_010, quantity=200)
    account.cancel_all()
    return table.wrong


@suite.case
def cancel_rows(world):
    """R11: codes 3 and 4."""
    table = Table()
    exchange, account, other = world.exchange, world.account(), world.account()

    def cancel(row, expected, order_id, **more):
        table.ack(row, exchange.send(CANCEL, cancel_body(account.id, order_id, **more),
                                     account.session), expected)

    order_id = new_id()
    account.limit(900_000, 20, order_id)
    version4 = order_id[:6] + b"\x40" + order_id[7:]
    cancel("row 5", "rejected_invalid_portfolio_id", order_id, portfolio=1)
    cancel("row 5 before 6", "rejected_invalid_portfolio_id", version4, subaccount=1)
    cancel("row 6", "rejected_invalid_uuid", version4)
    cancel("row 6", "rejected_invalid_uuid", bytes(16))
    cancel("row 6 before 7", "rejected_invalid_uuid", version4, asset=0)
    cancel("row 7", "order_rejected_invalid_market", order_id, asset=0)
    cancel("row 7", "order_rejected_invalid_market", order_id, asset=ALL_ASSETS)
    cancel("row 8", "rejected_market_not_found", order_id, asset=99)
    cancel("row 8 before 9", "rejected_market_not_found", order_id, asset=99, pad=1)
    cancel("row 9", "order_rejected_invalid", order_id, pad=1)
    cancel("row 9", "order_rejected_invalid", order_id, asset_pad=1)
    cancel("row 9 before 13", "order_rejected_invalid", new_id(), pad=1)
    cancel("row 13, unknown", "rejected_order_not_found", new_id())
    cancel("row 13, another market", "rejected_order_not_found", order_id, asset=SOL)
    foreign = new_id()
    other.limit(900_000, 20, foreign)
    cancel("row 13, another account's", "rejected_order_not_found", foreign)
    cancel("canceled", "request_completed", order_id)
    cancel("row 13, final", "rejected_order_not_found", order_id)

    def everything(row, expected, **more):
        table.ack(row, exchange.send(CANCEL_ALL, cancel_all_body(account.id, **more),
                                     account.session), expected)

    everything("nothing there", "request_completed")
    everything("one market", "request_completed", asset=BTC, portfolio=0)
    everything("row 5", "rejected_invalid_portfolio_id", portfolio=1)
    everything("row 5", "rejected_invalid_portfolio_id", subaccount=4)
    everything("row 7", "order_rejected_invalid_market", asset=0)
    everything("row 8", "rejected_market_not_found", asset=99)
    everything("row 9, side", "order_rejected_invalid", side=3)
    everything("row 9, pad", "order_rejected_invalid", pad=1)
    everything("row 11, bool", "rejected_invalid_order_flags", conditional=2)
    ids = [new_id() for _ in range(4)]
    for at, (asset, price, quantity) in enumerate((
            (BTC, 900_000, 20), (BTC, 1_100_000, -20), (TEST, 95_000, 200), (TEST, 105_000, -200))):
        table.same("placed", account.limit(price, quantity, ids[at], asset=asset)["status"],
                   "request_completed")

    def states():
        return [account.order(order_id).json["order_status"] for order_id in ids]

    everything("buys of BTC", "request_completed", asset=BTC, side=1)
    table.same("buys of BTC", states(), ["CANCELED", "OPEN", "OPEN", "OPEN"])
    everything("sells", "request_completed", side=2)
    table.same("sells", states(), ["CANCELED", "CANCELED", "OPEN", "CANCELED"])
    everything("the rest", "request_completed", conditional=1, portfolio=0)
    table.same("the rest", states(), ["CANCELED"] * 4)
    table.same("reason", account.order(ids[0]).json["reason"], "cancel_all")
    return table.wrong


@suite.case
def matching(world):
    """R3: times in force, post-only, reduce-only, self-trade modes; R11, rows 24-33."""
    table = Table()
    maker, taker = world.account(), world.account()

    def place(row, who, expected, price, quantity, **more):
        order_id = new_id()
        table.same(row, who.limit(price, quantity, order_id, **more)["status"], expected)
        return order_id

    def state(row, who, order_id, status, filled=None, reason=None):
        record = who.order(order_id).json
        table.same(row, record.get("order_status"), status)
        if filled is not None:
            table.same(f"{row}: filled", record.get("filled_size"), filled)
        table.same(f"{row}: reason", record.get("reason"), reason)

    done = "request_completed"
    ask = place("maker", maker, done, 1_000_500, -1_000)  # 0.01 BTC at 100,050
    order = place("IOC below", taker, done, 1_000_400, 100, expiry=IOC)
    state("IOC below", taker, order, "CANCELED", "0", "time_in_force")
    order = place("IOC", taker, done, 1_000_500, 400, expiry=IOC)
    state("IOC", taker, order, "FILLED", "0.004")
    state("maker", maker, ask, "PARTIALLY_FILLED", "0.004")
    place("row 30", taker, "rejected_f_o_k_not_fully_filled_low_liquidity", 1_000_500, 601,
          expiry=FOK)
    state("untouched", maker, ask, "PARTIALLY_FILLED", "0.004")
    order = place("FOK", taker, done, 1_000_500, 100, expiry=FOK)
    state("FOK", taker, order, "FILLED", "0.001")
    order = place("row 28", taker, "rejected_post_only_would_cross_book", 1_000_500, 20,
                  post_only=1)
    state("row 28", taker, order, "REJECTED", "0", "rejected_post_only_would_cross_book")
    order = place("post-only rests", taker, done, 1_000_400, 20, post_only=1)
    state("post-only rests", taker, order, "OPEN", "0")
    taker.cancel(order)
    state("canceled", taker, order, "CANCELED", "0", "user_cancel")
    order = place("IOC for more", taker, done, 1_000_500, 600, expiry=IOC)
    state("IOC for more", taker, order, "CANCELED", "0.005", "time_in_force")
    state("maker is done", maker, ask, "FILLED", "0.01")
    # taker is long 0.01, maker short 0.01
    place("row 24, the same side", taker, "invalid_reduce_only_order", 1_000_000, 20,
          reduce_only=1)
    place("row 24, FOK above the position", taker, "invalid_reduce_only_order", 1_000_000, -1_001,
          reduce_only=1, expiry=FOK)
    bid = place("a bid", maker, done, 1_000_000, 300)
    order = place("reduce-only is clipped", taker, done, 1_000_000, -5_000, reduce_only=1,
                  expiry=IOC)
    state("reduce-only is clipped", taker, order, "CANCELED", "0.003", "time_in_force")
    state("the bid", maker, bid, "FILLED", "0.003")
    # Self-trade modes: EXPIRE_TAKER, EXPIRE_MAKER, EXPIRE_BOTH, DECREMENT (R3).
    own = place("own ask", maker, done, 1_000_500, -100)
    order = place("mode 0", maker, "self_trade_prevention", 1_000_500, 50, stp=0)
    state("mode 0", maker, order, "REJECTED", "0", "self_trade_prevention")
    place("row 29, FOK in mode 2", maker, "self_trade_prevention", 1_000_500, 50, stp=2,
          expiry=FOK)
    place("row 28 before 29", maker, "rejected_post_only_would_cross_book", 1_000_500, 50,
          post_only=1)
    place("row 29 before 30", maker, "self_trade_prevention", 1_000_500, 5_000, expiry=FOK)
    state("own ask stands", maker, own, "OPEN", "0")
    order = place("mode 1", maker, done, 1_000_500, 50, stp=1)
    state("mode 1: taker rests", maker, order, "OPEN", "0")
    state("mode 1: maker", maker, own, "CANCELED", "0", "self_trade_prevention")
    own = place("mode 2", maker, done, 1_000_400, -50, stp=2)
    state("mode 2: taker", maker, own, "CANCELED", "0", "self_trade_prevention")
    state("mode 2: maker", maker, order, "CANCELED", "0", "self_trade_prevention")
    own = place("own ask", maker, done, 1_000_500, -100)
    order = place("mode 3, smaller taker", maker, done, 1_000_500, 40, stp=3)
    state("mode 3: taker", maker, order, "CANCELED", "0", "self_trade_prevention")
    record = maker.order(own).json
    table.same("mode 3: maker", [record[name] for name in (
        "order_status", "initial_size", "remaining_size")], ["OPEN", "0.0006", "0.0006"])
    order = place("mode 3, larger taker", maker, done, 1_000_500, 100, stp=3)
    record = maker.order(order).json
    table.same("mode 3: taker", [record[name] for name in (
        "order_status", "initial_size", "remaining_size")], ["OPEN", "0.0004", "0.0004"])
    state("mode 3: maker", maker, own, "CANCELED", "0", "self_trade_prevention")
    maker.cancel_all()
    # Rows 31-33: margin. 1 USDC against 100,000.
    poor = world.account(1)
    place("row 33", poor, "insufficient_margin_to_place", 1_000_000, 100_000)
    ask = place("an ask", maker, done, 1_000_100, -10_000)
    place("row 32", poor, "insufficient_margin_to_trade", 1_000_100, 10_000)
    place("row 32, IOC", poor, "insufficient_margin_to_trade", 1_000_100, 10_000, expiry=IOC)
    place("row 31", poor, "rejected_f_o_k_not_fully_filled_insufficient_margin", 1_000_100, 10_000,
          expiry=FOK)
    place("row 30 before 31", poor, "rejected_f_o_k_not_fully_filled_low_liquidity", 1_000_100,
          20_000, expiry=FOK)
    state("the ask stands", maker, ask, "OPEN", "0")
    maker.cancel_all()
    # Row 26: the rig allows 20 resting orders.
    ids = [place(f"order {number}", taker, done, 950_000, 20) for number in range(20)]
    place("row 26", taker, "rejected_max_open_orders_exceeded", 950_000, 20)
    ask = place("an ask", maker, done, 1_000_100, -1_000)
    place("row 26 before 28", taker, "rejected_max_open_orders_exceeded", 1_000_100, 20,
          post_only=1)
    place("row 26, an IOC does not rest", taker, done, 1_000_100, 20, expiry=IOC)
    taker.cancel(ids[0])
    place("one place again", taker, done, 950_000, 20)
    # Expiry.
    taker.cancel_all()
    maker.cancel_all()

    def brief(expiry):
        order_id = new_id()
        status = taker.limit(950_000, 20, order_id, expiry=expiry)["status"]
        return order_id, expiry, status, taker.order(order_id).json

    order_id, expiry, status, record = while_it_lasts(brief)
    table.same("GTT", status, done)
    table.same("GTT", [record["order_status"], record["time_in_force"], record["expires_at"]],
               ["OPEN", "GTT", expiry])
    seen(lambda: taker.order(order_id).json["order_status"], "EXPIRED")
    state("expired", taker, order_id, "EXPIRED", "0")
    table.same("row 13", taker.cancel(order_id)["status"], "rejected_order_not_found")
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite))
