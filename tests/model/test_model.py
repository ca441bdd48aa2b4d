#!/usr/bin/env python3
"""test_model.py BUILD - the model against values worked out by hand from the rule book, and the
comparison against planted faults: a model that is wrong must be found to differ."""
import base64
import os
import sys
import unittest

import heavy_model
import keys
import market
import model
import place
import portfolio
import streams
import wire
from market import Market, Order, cdiv, tdiv
from portfolio import Holding, Portfolio, reducing_rule
from wire import ALL16, CANCEL_ALL, DEFINE, FOK, GTC, IOC, ORACLE, PLACE, TICK

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build/release"
SOURCE = os.environ.get("PERPD_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
USDC = 1000000

# Tiers of BTC in R4: $20 m 50x, $100 m 25x, $500 m 10x, rest 5x.
BTC = streams.record("BTC", 1, 1, tick_size="0.1", lot_size="0.00001", min_size="0.00001",
                     max_order_size="10995116.27775", tiers=streams.tiers(
                         ("20000000", 50), ("100000000", 25), ("500000000", 10), (None, 5)))


def make_market(mark=0):
    made = Market(BTC.rstrip(b"\0").decode(), 0)
    made.mark = mark
    return made


class Bench(unittest.TestCase):
    """An exchange with one market and four accounts of 1,000,000 USDC."""

    def setUp(self):
        streams.REGIMES["bench"] = {"accounts": 4, "records": (0,), "deposit": (1000000, 1000001),
                                    "options": {"engine.work_per_command": "2"}}
        self.exchange = model.Exchange()
        self.stream = streams.Stream("bench", 1, SOURCE, 0)
        self.stream.random.random = lambda: 0.5
        for command in self.stream.setup():
            self.exchange.apply(*(command if command[1] != DEFINE else
                                  (0, DEFINE, BTC, b"", command[4])))
        self.oracle(1000000)

    def send(self, code, body, key):
        self.stream.clock += 1000000
        return self.exchange.apply(*self.stream.signed(code, body, key))[2]

    def oracle(self, price):
        self.stream.clock += 1000000
        return self.send(ORACLE, wire.ORACLE_BODY.pack(self.stream.clock, price, 1, 0, 3, 0),
                         streams.ORACLE_KEY)

    def place(self, account, price, quantity, tif=GTC, post_only=0, reduce_only=0, stp=0):
        status = self.send(PLACE, wire.PLACE_BODY.pack(account, 0, 0, price, quantity, tif,
                                                       post_only, reduce_only, stp, 0, 1, 0),
                           self.stream.fresh[account])
        return wire.STATUSES[status]

    def effects(self, code):
        layout = wire.struct.Struct(wire.LAYOUTS[code][0])
        return [layout.unpack(body) for found, body in self.exchange.effects if found == code]

    def states(self):
        """(remaining, filled, status, reason) of each 2101."""
        return [(row[1], row[2], row[4], wire.reason_name(row[5])) for row in self.effects(2101)]

    def cash(self, account):
        return self.exchange.portfolios[account, 0, 0].cash


class Positions(unittest.TestCase):
    """R2"""

    def setUp(self):
        self.holding = Holding(Portfolio(1, 1), make_market())

    def trade(self, quantity, price):
        pnl, opened = self.holding.trade(quantity, price)
        return pnl, opened, self.holding.size, self.holding.cost

    def test_open_reduce_flip(self):
        self.assertEqual(self.trade(10, 100), (0, True, 10, 1000))
        self.assertEqual(self.trade(5, 130), (0, False, 15, 1650))
        # cr = tdiv(1650*6, 15) = 660, cash += 660 - 660 at 110 = 6*110 - 660 = 0
        self.assertEqual(self.trade(-6, 110), (0, False, 9, 990))
        # closes 9 of cost 990 at 90: 810 - 990, then 4 short at 90
        self.assertEqual(self.trade(-13, 90), (-180, True, -4, -360))
        self.assertEqual(self.trade(4, 80), (40, False, 0, 0))

    def test_division_toward_zero(self):
        self.holding.size, self.holding.cost = 3, 100
        self.assertEqual(self.trade(-1, 40), (7, False, 2, 67))  # cr = 33
        self.holding.size, self.holding.cost = -3, -100
        self.assertEqual(self.trade(1, 30), (3, False, -2, -67))  # cr = -33, not -34


class Margin(unittest.TestCase):
    """R4"""

    def test_tiers(self):
        made = make_market()
        # dedM_2 = 20 m * (20,000 - 10,000) ppm = 200,000; dedI_2 = 20 m * 20,000 ppm = 400,000
        self.assertEqual(made.tiers[1], (100 * 10**6 * USDC, 40000, 20000, 400000 * USDC,
                                         200000 * USDC))
        notional = 30 * 10**6 * USDC
        self.assertEqual(made.maintenance_margin(notional), 400000 * USDC)
        self.assertEqual(made.initial_margin(notional), 1500000 * USDC)  # N / 20 is larger
        # the first tier with N <= upper: continuous at the edge, first tier at the edge itself
        edge = 20 * 10**6 * USDC
        self.assertEqual(made.maintenance_margin(edge), 200000 * USDC)
        self.assertEqual(made.maintenance_margin(edge + 50), 200000 * USDC + 1)

    def test_third_rates(self):
        made = make_market()
        made.set_tiers([{"upper_notional": None, "max_leverage": 3}])
        self.assertEqual(made.tiers[0][1:3], (333333, 166666))

    def test_far_bids_pay_for_nothing(self):
        # Mark 100,000. A bid of 10 BTC at 110,000 loses 100,000 USDC when it fills; bids far
        # below the mark must not make up for it.
        holding = Holding(Portfolio(1, 1), make_market(1000000))
        for price, quantity in ((1100000, 1000000), (500000, 9000000)):
            order = Order()
            order.side, order.price, order.remaining, order.reduce_only = 1, price, quantity, 0
            holding.orders[order] = order
            holding.count(order, quantity)
        self.assertEqual(holding.open_loss(), 100000 * USDC)

    def test_reducing_rule(self):
        # a sale far below the mark that takes out the maintenance margin: E' = 0, MM' = 80,000
        self.assertFalse(reducing_rule((100000, 100000), (0, 80000)))
        self.assertTrue(reducing_rule((100, 100), (80, 80)))
        self.assertTrue(reducing_rule((50, 100), (10, 60)))    # the deficit does not grow
        self.assertFalse(reducing_rule((50, 100), (9, 60)))
        self.assertTrue(reducing_rule((-50, 100), (-50, 60)))  # under water, at the mark
        self.assertFalse(reducing_rule((-50, 100), (-51, 0)))


class Marks(unittest.TestCase):
    """R5"""

    def setUp(self):
        self.market = make_market()
        self.market.index = 1000
        self.number = 0

    def rest(self, side, price, quantity):
        order = Order()
        order.side, order.price, order.remaining = side, price, quantity
        self.market.side(side).insert(order)

    def test_median(self):
        self.assertEqual(self.market.next_mark(), 1000)
        self.market.ema = 31 << 20
        self.assertEqual(self.market.next_mark(), 1015)  # mean (floor) of 1000 and 1031
        self.market.last = 1010
        self.assertEqual(self.market.next_mark(), 1010)
        self.rest(1, 1020, 1)
        self.assertEqual(self.market.next_mark(), 1015)  # third = mean of 1020 and 1010
        self.rest(-1, 1030, 1)
        self.assertEqual(self.market.next_mark(), 1020)  # third = median of all three

    def test_clamp(self):
        self.market.index, self.market.ema, self.market.last = 1010, 200 << 20, 1300
        self.assertEqual(self.market.next_mark(), 1060)  # 1060.5
        self.market.ema, self.market.last = -200 << 20, 800
        self.assertEqual(self.market.next_mark(), 960)   # 959.5 is below the bound

    def test_ema(self):
        self.rest(1, 1010, 1)
        self.market.update_ema(4096)
        self.assertEqual(self.market.ema, 0)  # no asks: 0 goes to 0
        self.rest(-1, 1021, 1)
        self.market.update_ema(4096)          # mid 1015, no impact prices: tdiv(15 << 20, 150)
        self.assertEqual(self.market.ema, 104857)
        self.market.ema = -1000
        self.market.asks = market.Side(-1)
        self.market.update_ema(4096)
        self.assertEqual(self.market.ema, -994)  # tdiv(1000, 150) = 6

    def test_impact(self):
        self.rest(1, 100, 5)
        self.rest(1, 90, 10)
        for notional, price in ((500, 100), (950, 95), (1400, 93)):  # 1400 / 15 = 93.3
            self.market.impact_notional = notional
            above, below = self.market.impact(self.market.bids, 4096)
            self.assertEqual(above // below, price)
        self.assertEqual(cdiv(above, below), 94)
        self.assertIsNone(self.market.impact(self.market.bids, 1))  # not within one maker
        self.market.impact_notional = 1401
        self.assertIsNone(self.market.impact(self.market.bids, 4096))

    def test_divisions(self):
        self.assertEqual((tdiv(-7, 2), cdiv(-7, 2), cdiv(7, 2)), (-3, -3, 4))


class Orders(Bench):
    """R3, R6, R11"""

    def test_fill(self):
        # 0.01 BTC at 100,000 = 1,000 USDC: maker 150 ppm 0.15, taker 450 ppm 0.45
        self.place(1, 1000000, 1000)
        self.assertEqual(self.place(2, 999000, -1500), "request_completed")
        self.assertEqual(self.cash(1), 1000000 * USDC - 150000)
        self.assertEqual(self.cash(2), 1000000 * USDC - 450000)
        self.assertEqual(self.exchange.fee_account, 600000)
        self.assertEqual(self.states(), [(0, 1000, wire.FILLED, "none"),
                                         (500, 1000, wire.PARTIALLY_FILLED, "none")])
        self.assertEqual(self.effects(2108)[0][:3], (1000000, 1000, 1))
        self.assertEqual([row[4] for row in self.effects(2102)], [0, 2])  # R3: ids of the fill
        self.assertEqual([row[0] for row in self.exchange.effects],
                         [2108, 2102, 2102, 2104, 2104, 2103, 2103, 2101, 2107, 2106, 2101, 2107,
                          2106, 2100])

    def test_price_time(self):
        for account, price in ((1, 999000), (2, 1000000), (3, 1000000)):
            self.place(account, price, 1000)
        self.place(4, 999000, -2500)
        self.assertEqual([row[1:3] for row in self.effects(2102)[::2]],
                         [(1000000, 1000), (1000000, 1000), (999000, 500)])

    def test_fok(self):
        self.place(1, 1000000, 1000)
        self.assertEqual(self.place(2, 1000000, -1001, FOK),
                         "rejected_f_o_k_not_fully_filled_low_liquidity")
        self.assertEqual(self.place(2, 1000000, -1000, FOK), "request_completed")

    def test_ioc(self):
        self.assertEqual(self.place(2, 1000000, -1000, IOC), "request_completed")
        self.assertEqual(self.states(), [(1000, 0, wire.CANCELED, "time_in_force")])

    def test_post_only(self):
        self.place(1, 1000000, 1000)
        self.assertEqual(self.place(1, 1000000, -1000, post_only=1),
                         "rejected_post_only_would_cross_book")
        self.assertEqual(self.place(1, 1000001, -1000, post_only=1), "request_completed")

    def test_self_trade_modes(self):
        for mode, taker, expected in (
                (0, 700, [(700, 0, wire.REJECTED, "self_trade_prevention")]),
                (1, 700, [(1000, 0, wire.CANCELED, "self_trade_prevention"),
                          (700, 0, wire.OPEN, "none")]),
                (2, 700, [(1000, 0, wire.CANCELED, "self_trade_prevention"),
                          (700, 0, wire.CANCELED, "self_trade_prevention")]),
                (3, 700, [(300, 0, wire.OPEN, "none"),
                          (700, 0, wire.CANCELED, "self_trade_prevention")]),
                (3, 1700, [(1000, 0, wire.CANCELED, "self_trade_prevention"),
                           (700, 0, wire.OPEN, "none")]),
                (3, 1000, [(1000, 0, wire.CANCELED, "self_trade_prevention"),
                           (1000, 0, wire.CANCELED, "self_trade_prevention")])):
            self.setUp()
            self.place(1, 1000000, 1000)
            self.assertEqual(self.place(1, 1000000, -taker, stp=mode),
                             "request_completed" if mode else "self_trade_prevention")
            self.assertEqual(self.states(), expected)

    def test_reduce_only(self):
        self.assertEqual(self.place(1, 1000000, -1000, reduce_only=1),
                         "invalid_reduce_only_order")
        self.place(1, 1000000, 1000)
        self.place(2, 1000000, -1000)
        self.place(3, 1000000, 5000)
        self.assertEqual(self.place(1, 1000000, -1500, FOK, reduce_only=1),
                         "invalid_reduce_only_order")
        self.assertEqual(self.place(1, 1000000, -1500, IOC, reduce_only=1), "request_completed")
        self.assertEqual(self.states()[-1], (500, 1000, wire.CANCELED, "reduce_only"))

    def test_band(self):
        # buy price * 1e6 <= mark * (1e6 + 100,000), inclusive
        self.assertEqual(self.place(1, 1100000, 1000), "request_completed")
        self.assertEqual(self.place(1, 1100001, 1000), "rejected_invalid_price")
        self.assertEqual(self.place(2, 900000, -10, IOC), "rejected_invalid_size")  # 9 USDC
        self.assertEqual(self.place(2, 899999, -1000, IOC), "rejected_invalid_price")

    def test_order_of_rows(self):
        # two faults: the row with the lower number answers
        self.assertEqual(self.place(1, 0, 0), "rejected_size_zero")              # 15 before 17
        self.assertEqual(self.place(1, 0, 0, stp=4), "rejected_invalid_order_flags")
        self.assertEqual(self.place(1, 2000000, 1000, reduce_only=1), "rejected_invalid_price")

    def test_margin_rows(self):
        # equity 1,000,000 at 20x: 20,000,000 notional of initial margin, fees apart
        self.assertEqual(self.place(1, 999000, 21000000), "insufficient_margin_to_place")
        self.assertEqual(self.place(1, 999000, 20000000), "request_completed")
        self.place(2, 1000000, 20000000)
        self.assertEqual(self.place(3, 1000000, -20000000), "insufficient_margin_to_trade")
        self.assertEqual(self.place(3, 1000000, -20000000, FOK),
                         "rejected_f_o_k_not_fully_filled_insufficient_margin")

    def test_hold(self):
        first = self.exchange.markets[1]
        self.assertEqual(self.oracle(1100001), 0)  # beyond 10 %: held
        self.assertEqual((first.state, first.index), (wire.CANCEL_ONLY, 1000000))
        self.assertEqual(self.place(1, 1000000, 1000), "rejected_market_cancel_only")
        self.oracle(1130000)                        # more than 2 % off: not yet
        self.oracle(1120000)
        self.assertEqual(first.state, wire.CANCEL_ONLY)
        self.oracle(1121000)                        # 1,130,000 to 1,120,000: within 2 %
        self.assertEqual((first.state, first.index), (wire.ACTIVE, 1121000))

    def test_deferred_work(self):
        # two units a command: five canceled orders leave in three commands, dead from the first
        for price in range(5):
            self.place(1, 999990 + price, 1000)
        body = wire.CANCEL_ALL_BODY.pack(1, 0, 0, ALL16, 0, 0, 0, 0)
        self.send(CANCEL_ALL, body, self.stream.fresh[1])
        released = [len(self.states())]
        self.assertEqual(self.place(2, 999994, -1000, IOC), "request_completed")
        # the taker passes over the three that are left; it may remove them, as it was accepted
        self.assertEqual([state[2] for state in self.states()], [wire.CANCELED] * 4)
        self.exchange.apply(0, TICK, bytes(8), b"", self.stream.clock)
        self.assertEqual((released, len(self.exchange.orders)), ([2], 0))


class Wire(unittest.TestCase):
    def test_vector(self):
        # wire.md W4, the Ed25519 vector
        request_id = bytes.fromhex("0198c0de0000700080000000000000a1")
        payload = wire.HEADERS[PLACE] + request_id + wire.PLACE_BODY.pack(
            7, 0, 0, 1000000, -50000, GTC, 1, 0, 0, 0, 1, 0)
        self.assertEqual(base64.b64encode(payload).decode(),
                         "AQAAAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAAAAAAAAAAAAEBCDwAAAAAA"
                         "sDz//////////////////wEAAAABAAAA")
        self.assertTrue(wire.is_uuid7(request_id))
        self.assertEqual(wire.uuid_ms(request_id), 0x0198c0de0000)

    def test_base_point(self):
        # RFC 8032: the base point's y is 4/5
        self.assertEqual(keys.BASE_Y.to_bytes(32, "little").hex(), "58" + "66" * 31)


class Planted(unittest.TestCase):
    """A model with one rule wrong must differ from the engine."""

    def run_stream(self, regime, commands):
        return heavy_model.run_stream(BUILD, SOURCE, regime, 1, commands)

    def differs(self, owner, name, wrong, regime, commands=3000):
        right = getattr(owner, name)
        setattr(owner, name, wrong)
        try:
            with self.assertRaises(heavy_model.Difference, msg=name):
                self.run_stream(regime, commands)
        finally:
            setattr(owner, name, right)

    def test_right(self):
        self.assertEqual(self.run_stream("calm", 3000)["halted by mark"], 0)

    def test_wrong(self):
        self.differs(place, "fee_of", lambda notional, ppm: notional * ppm // 10**6, "calm")
        self.differs(portfolio, "tdiv", lambda value, by: value // by, "calm", 9000)
        self.differs(place, "reducing_rule", lambda before, after: True, "broke", 30000)
        self.differs(Holding, "open_loss", lambda holding: 0, "poor", 9000)
        self.differs(Market, "impact", lambda *_: None, "calm", 9000)
        self.differs(Market, "release", lambda market: len(market.held) == 3, "fast", 30000)
        self.differs(place, "STP_BOTH", 1, "self")
        self.differs(model.Exchange, "end_reduce_only", lambda *_: None, "reducing", 9000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
