#!/usr/bin/env python3
"""test_model.py BUILD - the model against values worked out by hand from the rule book, and the
comparison against planted faults: a model that is wrong must be found to differ."""
import base64
import os
import sys
import unittest
from types import SimpleNamespace

import amend
import evidence
import fees
import heavy_model
import keys
import market
import model
import portfolio
import reads
import regimes
import rows
import streams
import walk
import wire
from fees import Volumes
from market import Market, Order, cdiv, tdiv
from portfolio import Holding, Portfolio
from wire import (ALL16, AMEND, CANCEL_ALL, DEFINE, FOK, GTC, IOC, LEVERAGE, MARKET_ORDER, ORACLE,
                  PLACE, REPLACE, TICK)
BUILD = sys.argv[1] if len(sys.argv) > 1 else "build/release"
SOURCE = os.environ.get("PERPD_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
USDC = 1000000
# Tiers of BTC in R4: $20 m 50x, $100 m 25x, $500 m 10x, rest 5x.
BTC = regimes.record("BTC", 1, 1, tick_size="0.1", lot_size="0.00001", min_size="0.00001",
                     max_order_size="10995116.27775", tiers=regimes.tiers(
                         ("20000000", 50), ("100000000", 25), ("500000000", 10), (None, 5)))


def make_market(mark=0):
    made = Market(BTC.rstrip(b"\0").decode(), 0)
    made.mark = mark
    return made


class Bench(unittest.TestCase):
    """An exchange with one market and four accounts of 1,000,000 USDC."""

    def setUp(self):
        regimes.REGIMES["bench"] = {"accounts": 4, "records": (0,), "deposit": (1000000, 1000001),
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
        terms = tif, post_only, reduce_only, stp, 0, 1, 0
        return self.order(PLACE, account, price, quantity, *terms)

    def order(self, code, account, *fields):
        """Sends the fields behind the portfolio id; the id of a placement stays in self.id."""
        body = wire.BODIES[code].pack(account, 0, 0, *fields)
        status = wire.STATUSES[self.send(code, body, self.stream.fresh[account])]
        if code in (PLACE, MARKET_ORDER):
            self.id = self.exchange.request_id
        return status

    def amend(self, account, order_id, by, expected=0):
        return self.order(AMEND, account, order_id, by, expected, 1, 0, 0)

    def replace(self, account, order_id, price, quantity, tif=GTC, post_only=0, reduce_only=0,
                stp=0, expected=0):
        terms = tif, post_only, reduce_only, stp, 0, 1, 0, expected
        return self.order(REPLACE, account, order_id, price, quantity, *terms)

    def market(self, account, quantity, ppm=0, reduce_only=0, stp=0):
        return self.order(MARKET_ORDER, account, quantity, ppm, 1, 0, reduce_only, stp, bytes(6))

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
        self.assertEqual(made.initial_margin(notional, 20), 1500000 * USDC)  # N / 20 is larger
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


class Marks(unittest.TestCase):
    """R5"""

    def setUp(self):
        self.market = make_market()
        self.market.index, self.market.book_ppm = 1000, 50000
        self.exchange = SimpleNamespace(makers_max=4096, t=10**9, counts=heavy_model.Counter())

    def rest(self, side, price, quantity, reduce=0):
        order = Order()
        order.side, order.price, order.remaining, order.reduce_only = side, price, quantity, reduce
        order.entered, order.was_reducing = 0, False
        self.market.side(side).insert(order)

    def test_median(self):
        self.assertEqual(self.market.next_mark(0), 1000)
        self.market.ema = 31 << 20
        self.assertEqual(self.market.next_mark(0), 1015)  # mean (floor) of 1000 and 1031
        self.market.last = 1010
        self.assertEqual(self.market.next_mark(0), 1010)
        self.rest(1, 1020, 1)
        self.assertEqual(self.market.next_mark(0), 1015)  # third = mean of 1020 and 1010
        self.rest(-1, 1030, 1)
        self.assertEqual(self.market.next_mark(0), 1020)  # third = median of all three

    def test_clamp(self):
        self.market.index, self.market.ema, self.market.last = 1010, 200 << 20, 1300
        self.assertEqual(self.market.next_mark(0), 1060)  # 1060.5
        self.market.ema, self.market.last = -200 << 20, 800
        self.assertEqual(self.market.next_mark(0), 960)   # 959.5 is below the bound

    def test_ema(self):
        self.market.impact_notional = 1000
        self.rest(1, 1010, 1)
        self.market.update_ema(self.exchange)
        self.assertEqual(self.market.ema, 0)  # no asks: 0 goes to 0
        self.rest(-1, 1021, 1)
        self.market.update_ema(self.exchange)  # mid 1015: tdiv(15 << 20, 150)
        self.assertEqual(self.market.ema, 104857)
        self.market.ema, self.market.book_ppm = 0, 10000
        self.market.update_ema(self.exchange)  # at most 1 %: tdiv(10 << 20, 150)
        self.assertEqual(self.market.ema, 69905)
        for change in ({"state": wire.CANCEL_ONLY}, {"book_ppm": 0}, {"impact_notional": 1011}):
            before = {name: getattr(self.market, name) for name in change}
            vars(self.market).update(change, ema=-1000)
            self.market.update_ema(self.exchange)
            self.assertEqual(self.market.ema, -994)  # tdiv(1000, 150) = 6
            vars(self.market).update(before)

    def test_impact(self):
        for order in ((101, 1000, 7), (100, 5), (90, 10)):  # reduce-only: nothing
            self.rest(1, *order)
        for notional, price in ((500, 100), (950, 95), (1400, 93)):  # 1400 / 15 = 93.3
            self.market.impact_notional = notional
            above, below = self.market.impact(self.market.bids, self.exchange)
            self.assertEqual(above // below, price)
        self.assertEqual(cdiv(above, below), 94)
        for self.exchange.makers_max, self.market.impact_notional in ((2, 1400), (4096, 1401)):
            self.assertIsNone(self.market.impact(self.market.bids, self.exchange))

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
        self.oracle(1130000)                        # more than 2 % off: a run of its own
        self.stream.clock += 1990 * 10**6
        self.oracle(1120000)
        self.stream.clock += 5 * 10**6
        self.oracle(1121000)                        # three, 1.999 s behind the first
        self.assertEqual(first.state, wire.CANCEL_ONLY)
        self.oracle(1121000)
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


class Amendments(Bench):
    """R3 Reduction and Replacement, R11 codes 1 and 2"""

    def two_buys(self):
        self.place(1, 1000000, 1000)
        first = self.id
        self.place(2, 1000000, 1000)
        return first

    def filled(self):
        """(size, own order) of the fills that the makers had."""
        return [(row[2], row[0]) for row in self.effects(2102)[::2]]

    def test_reduction_keeps_place(self):
        first = self.two_buys()
        self.assertEqual(self.amend(1, first, 400, 1000), "request_completed")
        self.assertEqual(self.states(), [(600, 0, wire.OPEN, "none")])
        self.assertEqual([row[2] for row in self.effects(2107)], [400])
        self.assertEqual(self.effects(2106)[0][:3], (1000000, 1600, 2))
        self.place(3, 1000000, -500)
        self.assertEqual(self.filled(), [(500, first)])
        self.assertEqual(self.amend(1, first, 40), "request_completed")
        self.assertEqual(self.states(), [(60, 500, wire.PARTIALLY_FILLED, "none")])

    def test_reduction_rows(self):
        first = self.two_buys()
        self.assertEqual(self.amend(2, first, 1), "rejected_order_not_found")
        self.assertEqual(self.amend(1, first, 0, 999), "rejected_size_not_equal")  # 14 before 15
        self.assertEqual(self.amend(1, first, 0), "rejected_size_zero")
        self.assertEqual(self.amend(1, first, 2**64 - 1), "request_completed")
        self.assertEqual(self.states(), [(1000, 0, wire.CANCELED, "user_cancel")])
        self.assertEqual(self.amend(1, first, 1), "rejected_order_not_found")

    def test_place_kept_or_lost(self):
        # same price and not more: kept, whatever flags and expiry; more, or a new price: lost
        for price, quantity, kept in ((1000000, 1000, True), (1000000, 1, True),
                                      (1000000, 1001, False), (999999, 1000, False)):
            self.setUp()
            first = self.two_buys()
            self.exchange.markets[1].min_notional = 0
            self.assertEqual(self.replace(1, first, price, quantity, self.stream.clock + 10**10,
                                          post_only=1, stp=2), "request_completed")
            self.place(3, 990000, -1)
            self.assertEqual(self.filled()[0][1] == first, kept)

    def test_reentry(self):
        # 4 of 10 filled; the rest goes up, meets 3 and rests with 5 at the back of its new level
        self.place(1, 1000000, 10000)
        order = self.id
        self.place(2, 1000000, -4000)
        self.place(3, 1000100, -3000)
        self.place(4, 1000050, 1000)
        self.assertEqual(self.replace(1, order, 1000100, 8000, expected=6000), "request_completed")
        self.assertEqual([row[0] for row in self.exchange.effects][:3], [2107, 2106, 2108])
        self.assertEqual(self.effects(2107)[0][2], 6000)
        self.assertEqual(self.filled()[0][0], -3000)
        self.assertEqual(self.states()[-1], (5000, 7000, wire.PARTIALLY_FILLED, "none"))
        self.assertEqual(self.effects(2101)[-1][0], order)
        self.assertEqual(self.replace(1, order, 1000100, 8000, expected=6000),
                         "rejected_size_not_equal")

    def test_refusals_change_nothing(self):
        first = self.two_buys()
        self.place(3, 1000500, -1000)
        before = (self.exchange.portfolios[1, 0, 0].balance(),
                  reads.orders_of(self.exchange, self.exchange.portfolios[1, 0, 0]))
        for status, *fields in (
                ("rejected_invalid_order_flags", 1000000, 1000, IOC),
                ("rejected_invalid_size", 1000000, -1000),
                ("rejected_size_zero", 1000000, 0),
                ("rejected_invalid_price", 1100001, 1000),
                ("rejected_invalid_size", 1000000, 9),  # below 10 USDC
                ("invalid_reduce_only_order", 1000000, 500, GTC, 0, 1),
                ("rejected_post_only_would_cross_book", 1000500, 1000, GTC, 1),
                ("insufficient_margin_to_place", 999999, 21000000),
                ("insufficient_margin_to_trade", 1000500, 21000000)):
            self.assertEqual(self.replace(1, first, *fields), status)
            self.assertEqual([row[0] for row in self.exchange.effects], [2100])  # not REJECTED
            self.assertEqual(before, (
                self.exchange.portfolios[1, 0, 0].balance(),
                reads.orders_of(self.exchange, self.exchange.portfolios[1, 0, 0])))

    def test_old_self_does_not_block(self):
        # equity 1,000,000 at 20x: 20,000,000 of initial margin, once
        self.place(1, 1000000, 19000000)
        self.assertEqual(self.replace(1, self.id, 999999, 19900000), "request_completed")


class MarketOrders(Bench):
    """R3 Market, R11 row 22"""

    def test_limit(self):
        made = make_market(1000003)
        made.tick = 10
        # 1,000,003 * 1.0001 = 1,000,103.0003 and * 0.9999 = 999,902.9997: the tick inside
        self.assertEqual((rows.slippage_limit(made, 1, 100), rows.slippage_limit(made, -1, 100)),
                         (1000100, 999910))
        self.assertEqual(rows.slippage_limit(made, -1, 2000000), 10)  # at least one tick
        made.mark = made.max_price
        self.assertEqual(rows.slippage_limit(made, 1, 50000), made.max_price)

    def test_slippage(self):
        self.place(1, 1001000, -1000)
        self.assertEqual(self.market(2, 1000, 999), "rejected_slippage_exceeds_maximum")
        self.assertEqual(self.states(), [(1000, 0, wire.REJECTED,
                                          "rejected_slippage_exceeds_maximum")])
        self.assertEqual(self.effects(2101)[0][3], 0)  # no price
        self.assertEqual(self.market(2, 1000, 50001), "rejected_slippage_exceeds_maximum")
        self.assertEqual(self.market(2, 1000, 1000), "request_completed")
        self.assertEqual(self.states()[-1], (0, 1000, wire.FILLED, "none"))

    def test_remainder(self):
        self.place(1, 1000500, -300)
        self.place(1, 1001500, -700)
        self.assertEqual(self.market(2, 1000, 1000), "request_completed")
        self.assertEqual(self.states()[-1], (700, 300, wire.CANCELED, "time_in_force"))
        self.assertEqual(self.market(2, -1000), "request_completed")  # nobody buys
        self.assertEqual(self.states()[-1], (1000, 0, wire.CANCELED, "time_in_force"))


class Tiers(unittest.TestCase):
    """R6"""

    def test_thresholds_and_days(self):
        volumes, day = Volumes(), fees.DAY
        volumes.add(20 * day, 5000000 * USDC - 1)
        self.assertEqual(volumes.tier(20 * day + 5), 0)
        self.assertEqual(volumes.tier(21 * day), 0)
        volumes.add(21 * day - 1, 1)
        self.assertEqual(volumes.tier(21 * day - 1), 0)  # of the days before, not of today
        self.assertEqual(volumes.tier(21 * day), 1)
        volumes.add(33 * day, 1995000000 * USDC)
        self.assertEqual(volumes.shown(33 * day), 2000000000 * USDC)
        self.assertEqual(volumes.tier(34 * day), 5)      # day 20 is the oldest of fourteen
        self.assertEqual(volumes.shown(34 * day), 1995000000 * USDC)
        self.assertEqual(volumes.tier(35 * day), 4)
        self.assertEqual((volumes.tier(47 * day), volumes.tier(48 * day)), (4, 0))

    def test_fees(self):
        # 1,000.00005 USDC at 450 ppm: 0.4500000225 up; the rebate of 20 ppm down
        self.assertEqual(fees.fee_of(1000000050, 450), 450001)
        self.assertEqual(fees.fee_of(1000000050, -20), -20000)


class Leverage(Bench):
    """R4, R11 code 2001"""

    def set(self, leverage, account=1, key=1):
        key_id = list(self.exchange.credentials.api_keys)[key - 1]
        body = wire.LEVERAGE_BODY.pack(key_id, account, 0, 0, leverage, 1, 0)
        self.stream.clock += 1000000
        status = self.exchange.apply(0, LEVERAGE, body, b"", self.stream.clock)[2]
        return wire.STATUSES[status], wire.reason_name(self.exchange.reason)

    def test_edge(self):
        # 10 BTC at 100,000: IM 1,000,000 / leverage, but never below the tier's 2 %
        self.place(1, 1000000, 1000000)
        for leverage, margin in ((50, 20000), (20, 50000), (1, 1000000)):
            self.assertEqual(self.set(leverage)[0], "request_completed")
            self.assertEqual(self.exchange.portfolios[1, 0, 0].risk()[1], margin * USDC)
        self.set(50)
        self.place(1, 900000, 20)  # 0.0002 BTC more, which count 20 USDC at the mark: E < IM at 1x
        self.assertEqual(self.set(1), ("order_rejected_invalid", "insufficient_free_equity"))
        self.assertEqual(self.exchange.portfolios[1, 0, 0].risk()[1], 20000400000)

    def test_refusals(self):
        for leverage in (0, 51):
            self.assertEqual(self.set(leverage), ("order_rejected_invalid", "invalid_parameter"))
        self.assertEqual(self.set(5, account=2), ("rejected_invalid_portfolio_id", "none"))


class Wire(unittest.TestCase):
    def test_vector(self):
        # wire.md W4, the Ed25519 vector
        request_id = bytes.fromhex("0198c0de0000700080000000000000a1")
        payload = wire.SESSION_HEADERS[PLACE] + request_id + wire.PLACE_BODY.pack(
            7, 0, 0, 1000000, -50000, GTC, 1, 0, 0, 0, 1, 0)
        self.assertEqual(base64.b64encode(payload).decode(),
                         "AQAAAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAAAAAAAAAAAAEBCDwAAAAAA"
                         "sDz//////////////////wEAAAABAAAA")
        self.assertTrue(wire.is_uuid7(request_id))
        self.assertEqual(wire.uuid_ms(request_id), 0x0198c0de0000)

    def test_engine_ids(self):
        # json.md J2: the fill and the position that it opened, sequence 4720
        for index, text in ((0, "0198c0de029c71cb800000049c000000"),
                            (1, "0198c0de029c71cb800000049c000001")):
            self.assertEqual(wire.uuid7_of(1755582431900112233, 4720, index).hex(), text)

    def test_liquidation_price(self):
        # json.md J2: short 0.3 BTC at 100,000, mark 99,990, MM 299.97, liquidated at 131,998.3.
        # cash = 9,995.5: 9,995.5 + 0.3 * (100,000 - x) = 0.01 * 0.3 * x at x = 131,998.35
        owner = Portfolio(7, 1)
        owner.cash = 9995500000
        holding = owner.holding(make_market(999900))
        holding.size, holding.cost = -30000, -30000 * 1000000
        self.assertEqual(holding.margins()[1], 299970000)
        self.assertEqual(reads.liquidation_price(owner, holding), 1319983)
        # long 1 BTC bought at 100,000 with 10,000 of cash: 10,000 + x - 100,000 = 0.01 x
        holding.size, holding.cost = 100000, 100000 * 1000000
        owner.cash = 10000 * USDC
        self.assertEqual(reads.liquidation_price(owner, holding), 909091)  # 90,909.0909 up
        owner.cash = 100000 * USDC
        self.assertEqual(reads.liquidation_price(owner, holding), 0)       # even at price 0

    def test_base_point(self):
        # RFC 8032: the base point's y is 4/5
        self.assertEqual(keys.BASE_Y.to_bytes(32, "little").hex(), "58" + "66" * 31)


class Planted(unittest.TestCase):
    """A model with one rule wrong must differ from the engine."""

    def run_stream(self, regime, commands, seed=1):
        return heavy_model.run_stream(BUILD, SOURCE, regime, seed, commands)

    def differs(self, owner, name, wrong, regime, commands=3000, seed=1):
        right = getattr(owner, name)
        setattr(owner, name, wrong)
        try:
            with self.assertRaisesRegex(heavy_model.Difference, "^(?!the engine ended)", msg=name):
                self.run_stream(regime, commands, seed)
        finally:
            setattr(owner, name, right)

    def test_right(self):
        self.assertEqual(self.run_stream("calm", 3000)["halted by mark"], 0)

    def test_wrong(self):
        self.differs(fees, "cdiv", lambda value, by: value // by, "calm")
        self.differs(portfolio, "tdiv", lambda value, by: value // by, "calm", 9000)
        self.differs(walk, "reducing_rule", lambda *_: True, "broke")
        self.differs(Holding, "open_loss", lambda holding: 0, "poor", 9000)
        self.differs(Market, "impact", lambda *_: None, "calm", 9000)
        self.differs(Market, "is_far", lambda *_: False, "fast", 9000)
        self.differs(walk, "STP_BOTH", 1, "self")
        self.differs(model.Exchange, "end_reduce_only", lambda *_: None, "reducing", 9000)

    def test_wrong_orders(self):
        self.differs(amend, "keeps_place", lambda *_: False, "amending")
        self.differs(amend, "take_out_of_sums", lambda old: setattr(old.owner, "order_count",
                     old.owner.order_count - 1), "leveraged", 20000)
        self.differs(amend, "size_expected", lambda *_: True, "amending")
        self.differs(rows, "slippage_limit", lambda market, side, ppm: (
            market.mark * (10**6 + 2 * side * ppm) // 10**6), "thin", 9000)
        self.differs(fees.Volumes, "tier", lambda volumes, t: 0, "daily", 9000)
        self.differs(evidence, "of_order", lambda order: (None,) * 5, "calm")
        self.differs(fees, "DAYS", 15, "daily", 60000)
        self.differs(Holding, "initial_margin", lambda holding, notional: (
            holding.market.initial_margin(notional, 20)), "leveraged")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
