"""test_numbers.py - R1's bounds of positions and notional as codes 0, 2 and 5 meet them, averages
rounded half-even, tiers of margin, fees of the smallest trades: by hand, from outside.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import sys

from client import (CREATE_API_KEY, DEPOSIT, FOK, IOC, MARKET_DEFINE, PLACE_LIMIT, PLACE_MARKET,
                    REDUCE, REPLACE, Account, api_key_body, deposit_body, limit_body,
                    market_body, market_order_body, new_id, reduce_body, replace_body)
from harness import Suite, Table
from records import ceiling, usdc
from test_keys import set_leverage
from world import BTC, BTC_PRICE, DOGE, ETH, USDC, run

suite = Suite("numbers")
DONE, SIZE = "request_completed", "rejected_invalid_size"
MOST = 2**40 - 1
BALANCE = "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0"


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        for asset, price in ((BTC, BTC_PRICE), (ETH, 300_000), (DOGE, 10)):
            assert exchange.set_price(price, asset)["status"] == DONE
            self.lift_limits(asset)

    def lift_limits(self, asset):
        """R1's bounds lie far above the limits of the default markets (W10)."""
        record = next(record for record in self.exchange.get("/api/v1/markets").json["markets"]
                      if record["asset_id"] == asset)
        for name in ("funding_interval_s", "max_price", "state"):
            del record[name]
        record["tiers"] = [{name: tier[name] for name in ("upper_notional", "max_leverage")}
                           for tier in record["tiers"]]
        record.update(position_limit="0", open_interest_limit="0")
        done = self.exchange.ack(MARKET_DEFINE, market_body(record), self.exchange.operator)
        assert done["status"] == DONE, done

    def account(self, usdc=100_000):
        return Account(self.exchange, usdc * USDC)


class Sender(Table):
    """Sends and compares what is answered."""

    def __init__(self, world):
        super().__init__()
        self.exchange = world.exchange

    def limit(self, row, status, who, price, quantity, **more):
        order_id = new_id()
        self.ack(row, self.exchange.send(PLACE_LIMIT, limit_body(who.id, price, quantity, **more),
                                         who.session, order_id), status)
        return order_id

    def send(self, row, status, who, code, body):
        self.ack(row, self.exchange.send(code, body, who.session), status)


@suite.case
def sums_of_quantity(world):
    """R1: |s| + B and |s| + S are at most 2^42, with this order; row 16 of codes 0, 2 and 5."""
    table = Sender(world)
    it = world.account(20_000_000)
    # Raw price 10 is 0.00001 USDC: 2^40 - 1 DOGE are 11 million.
    doge = {"asset": DOGE}
    ids = [table.limit(f"order {number}", DONE, it, 10, MOST, **doge) for number in range(4)]
    # 4 * (2^40 - 1) = 2^42 - 4; 2,000,000 of them are 20 USDC: enough for row 21.
    few = 2_000_000
    table.limit("one too many", SIZE, it, 10, few, **doge)
    table.limit("reduce-only counts too", SIZE, it, 10, few, reduce_only=1, **doge)
    table.send("a market order", SIZE, it, PLACE_MARKET, market_order_body(it.id, few, **doge))
    table.send("reduced", DONE, it, REDUCE, reduce_body(it.id, ids[0], few - 4, **doge))
    table.limit("exactly 2^42", DONE, it, 10, few, **doge)
    table.send("replaced by itself", DONE, it, REPLACE, replace_body(
        it.id, ids[1], 10, MOST, post_only=1, **doge))
    table.send("replaced by more", SIZE, it, REPLACE, replace_body(
        it.id, ids[0], 10, MOST - few + 5, **doge))
    table.send("replaced by as much", DONE, it, REPLACE, replace_body(
        it.id, ids[0], 10, MOST - few + 4, **doge))
    it.cancel_all()
    return table.wrong


@suite.case
def sums_of_notional(world):
    """R1: |c| + bn is at most 2^52, an order 2^50: rows 16 and 17b of codes 0, 2 and 5."""
    table = Sender(world)
    it = world.account(3_000_000_000)
    # At 100,000: 2^50 = 1,125,899,906,842,624 micro-USDC, so 1,125,899,906 raw are the most.
    table.limit("17b", SIZE, it, 1_000_000, 1_125_899_907)
    ids = [table.limit(f"order {number}", DONE, it, 1_000_000, 1_125_899_906)
           for number in range(3)]
    # 3 orders leave 4,503,599,627,370,496 - 3,377,699,718,000,000 = 1,125,899,909,370,496.
    table.limit("the fourth", DONE, it, 1_000_000, 1_125_000_000)
    # 899,909,370,496 are left: 899,909 raw.
    table.limit("too much", SIZE, it, 1_000_000, 899_910)
    table.send("too much at the market's 5 %", SIZE, it, PLACE_MARKET,
               market_order_body(it.id, 860_000))
    table.send("not at the mark", DONE, it, PLACE_MARKET,
               market_order_body(it.id, 860_000, slippage_ppm=1_000))
    table.limit("exactly", DONE, it, 1_000_000, 899_909)
    table.limit("10 USDC more", SIZE, it, 1_000_000, 10)
    # Without its own rest 1,125,899,906,370,496 are left: this is more, and less than 2^50.
    table.send("a replacement", SIZE, it, REPLACE, replace_body(
        it.id, ids[2], 1_000_002, 1_125_897_655))
    table.send("its own rest is out", DONE, it, REPLACE, replace_body(
        it.id, ids[2], 999_900, 1_125_899_906))
    it.cancel_all()
    return table.wrong


@suite.case
def averages(world):
    """R1: price_decimals + 8 decimals, half-even: Order.average_price, average_entry_price."""
    table = Sender(world)
    for odd, want in ((13, "100000.002539062"), (11, "100000.002148438")):
        # 512 in all, `odd` of them a tick higher: odd / 512 of a tick of 0.1 ends in a half.
        maker, it = world.account(), world.account()
        maker.limit(1_000_000, odd - 512)
        maker.limit(1_000_001, -odd)
        order = table.limit("taken", DONE, it, 1_000_001, 512, expiry=FOK)
        table.same(f"{odd} of 512", it.order(order).json["average_price"], want)
        table.same(f"{odd} of 512, both positions", [
            who.read("/api/v1/positions").json[0]["average_entry_price"] for who in (it, maker)],
            [want, want])
    return table.wrong


@suite.case
def margin_by_tiers(world):
    """R4: continuous over the tiers' edges, and max(1 / leverage, tier): BTC at 20 and 50."""
    table = Sender(world)
    maker, it = world.account(60_000_000), world.account(60_000_000)
    key = world.exchange.ack(CREATE_API_KEY, api_key_body(it.id, scope=1),
                             it.session)["api_key"]
    million = 10**6 * USDC
    # Tiers 20 m 2 %, 100 m 4 %, 500 m 10 %; mmr half of it. Deductions: 20 m * 1 % = 0.2 m and
    # 20 m * 2 % = 0.4 m; then + 100 m * 3 % = 3.2 m and + 100 m * 6 % = 6.4 m.
    size = 0
    for notional in (20, 21, 100, 130):
        # A million USDC is ten BTC at 100,000.
        more = (notional - size) * 10 * 100_000
        table.same("made", [maker.limit(1_000_000, -more)["status"],
                            it.limit(1_000_000, more, expiry=IOC)["status"]], [DONE, DONE])
        size = notional
        if notional <= 20:
            maintenance, tier = notional * million // 100, notional * million // 50
        elif notional <= 100:
            maintenance = notional * million // 50 - 2 * million // 10
            tier = notional * million // 25 - 4 * million // 10
        else:
            maintenance = notional * million // 20 - 32 * million // 10
            tier = notional * million // 10 - 64 * million // 10
        for leverage in (20, 50, 33):
            table.same(f"leverage {leverage}", set_leverage(world, key, leverage).status, 200)
            record = it.read("/api/v1/positions").json[0]
            initial = max(ceiling(notional * million, leverage), tier)
            table.same(f"{notional} m at {leverage}", (
                record["initial_margin"], record["maintenance_margin"]),
                (usdc(initial), usdc(maintenance)))
    return table.wrong


@suite.case
def smallest_trades(world):
    """R6: fees are whole micro-USDC, rounded up on either side; and their sum in the books."""
    table = Sender(world)
    maker, it = world.account(), world.account()
    before = world.exchange.audit()["totals"]["fee_account"]
    ask = table.limit("an ask", DONE, maker, 1_000_000, -10)
    table.limit("a bid of 10 USDC", DONE, it, 1_000_000, 10, expiry=IOC)
    fills = [who.read("/api/v1/fills?subaccount_index=0").json[0]["fee"] for who in (maker, it)]
    table.same("10 USDC: 150 and 450 ppm", fills, ["0.0015", "0.0045"])
    # A remainder of less than min_notional still trades: 3 raw at 100,000.1 are 3.000003 USDC. It
    # comes of a fill, never of a reduction (R3).
    ask = table.limit("an ask", DONE, maker, 1_000_001, -13)
    table.send("all but 3", "rejected_invalid_size", maker, REDUCE, reduce_body(maker.id, ask, 10))
    table.limit("takes 10", DONE, it, 1_000_001, 10, expiry=IOC)
    table.limit("takes 3", DONE, it, 1_000_001, 10, expiry=IOC)
    fills = [who.read("/api/v1/fills?subaccount_index=0").json[0] for who in (maker, it)]
    # 3,000,003 * 150 / 1e6 = 450.00045 -> 451; * 450 / 1e6 = 1,350.00135 -> 1,351. Of 10,000,010:
    # 1,500.0015 -> 1,501; 4,500.0045 -> 4,501.
    table.same("3 USDC and a bit", [(record["quantity"], record["fee"]) for record in fills],
               [("0.00003", "0.000451"), ("0.00003", "0.001351")])
    after = world.exchange.audit()["totals"]["fee_account"]

    def micro(text):
        whole, _, part = text.partition(".")
        return int(whole) * USDC + int(part.ljust(6, "0"))

    table.same("the fee account", micro(after) - micro(before),
               1_500 + 4_500 + 1_501 + 4_501 + 451 + 1_351)
    table.same("volume_14d", [who.read("/api/v1/account").json["volume_14d"]
                              for who in (maker, it)], ["23.000013", "23.000013"])
    done = world.exchange.ack(DEPOSIT, deposit_body(it.id, 0), world.exchange.operator)
    table.same("a deposit of 0", done["status"], "rejected_size_zero")
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, ()))
