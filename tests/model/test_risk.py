#!/usr/bin/env python3
"""test_risk.py BUILD - funding, liquidation, auto-deleveraging and settlement in the model: values
worked out by hand from rules.md R5, R7 and R9."""
import sys
import unittest
from unittest import mock

import adl
import forced
import funding
import liquidation
import market
import risk
import settlement
import streams
import test_model
import wire
from portfolio import Holding, reducing_rule
from test_model import USDC
from wire import CLOSED, IN_LIQUIDATION, MARKET_STATE, REDUCE_ONLY, TICK, TOP_UP

HOUR = funding.HOUR


class RiskBench(test_model.Bench):
    """Account 1 is long 200 BTC at 100,000, account 2 short; E of 1: 1,000,000 - 3,000 of fee."""

    def open(self):
        self.exchange.apply(*self.stream.deposit(2, 1000000 * USDC))
        self.place(1, 1000000, 20000000)
        self.assertEqual(self.place(2, 1000000, -20000000), "request_completed")

    def work(self, commands=1):
        """The effects of that many work ticks."""
        found = []
        for _ in range(commands):
            self.stream.clock += 1000
            self.exchange.apply(0, TICK, b"\1" + bytes(7), b"", self.stream.clock)
            found += self.exchange.effects
        self.exchange.effects = found

    def top_up(self, amount):
        self.send(TOP_UP, wire.TOP_UP_BODY.pack(amount * USDC), streams.OPERATOR)

    def fall_to(self, price):
        """The index, the mark with it, and what follows from it."""
        self.oracle(price)
        self.assertEqual(self.exchange.markets[1].mark, price)
        before = self.exchange.effects
        self.work()
        self.exchange.effects = before + self.exchange.effects

    def portfolio(self, account):
        return self.exchange.portfolios[account, 0, 0]

    def size(self, account):
        return self.portfolio(account).holdings[1].size

    def rows(self):
        """(account, amount, kind) of each 2104."""
        return [(row[0], row[3], row[6]) for row in self.effects(2104)]


class Funding(RiskBench):
    """R5"""

    def test_rates(self):
        # r8 = P + clamp(100,000 - P, +-500,000); an hour is its eighth, at most a quarter of 16 %
        for premium, rate in ((0, 12500), (300000, 12500), (600000, 12500), (600008, 12501),
                              (1000000, 62500), (-400000, 12500), (-400008, 12499),
                              (-1000000, -62500), (10**9, 40000000), (-10**9, -40000000)):
            self.assertEqual(funding.rate_of(premium * 360, 360, 160000), rate)
        self.assertEqual(funding.rate_of(-361, 360, 160000), 12500)    # tdiv: -1
        self.assertEqual(funding.rate_of(10**12, 359, 160000), 12500)  # too few samples

    def test_payments(self):
        # x = 3 * 7 * 0.1 = 2.1: who pays pays 3, who gets gets 2
        self.assertEqual([funding.payment_of(size, 7, 10**8) for size in (3, -3, 10, -10, 1, -1)],
                         [-3, 2, -7, 7, -1, 0])
        self.assertEqual(funding.payment_of(3, 7, -10**8), 2)

    def test_premium(self):
        self.place(1, 999000, 1000000)     # 999,000 USDC: the impact bid is below the index
        self.exchange.t += market.REST
        self.assertEqual(funding.premium(self.exchange.markets[1], self.exchange), 0)
        self.place(2, 999500, -1000000)    # the impact ask too: -(1,000,000 - 999,500)
        self.exchange.t += market.REST
        self.assertEqual(funding.premium(self.exchange.markets[1], self.exchange), -500000)
        self.exchange.markets[1].index = 998000
        # (999,000 - 998,000) / 998,000 = 1,002,004.008 ppb
        self.assertEqual(funding.premium(self.exchange.markets[1], self.exchange), 1002004)

    def test_hour(self):
        # rate 12,500 ppb of 20,000,000 USDC: 250 USDC each way; of 3, -1 and -2 at index 7 the
        # holders' payments do not sum to 0
        self.open()
        one, two = self.cash(1), self.cash(2)
        first = self.exchange.markets[1]
        self.stream.clock = (self.stream.clock // HOUR + 1) * HOUR
        self.fall_to(1000000)
        self.assertEqual([(row[0], row[3], row[5]) for row in self.effects(2105)],
                         [(1, -250 * USDC, 12500), (2, 250 * USDC, 12500)])
        self.assertEqual([(row[1], row[3], row[6]) for row in self.effects(2110)],
                         [(12500, 0, 1), (12500, 0, 0)])
        self.assertEqual((self.cash(1) - one, self.cash(2) - two, first.funding_pool),
                         (-250 * USDC, 250 * USDC, 0))
        self.assertEqual(self.portfolio(1).holdings[1].net_funding, -250 * USDC)

    def test_remainder(self):
        first, fund = self.exchange.markets[1], self.portfolio(0)
        for account, size in ((1, 3), (2, -1), (3, -2)):
            self.portfolio(account).holding(first).size = size
        first.index, first.epoch, first.funding_index, first.funding_rate = 7, 1, 7, 10**8
        item = first.funding = funding.Item(funding.FUNDING)
        item.market, item.cursor = first, 0
        self.exchange.work.add(item)
        funding.complete(self.exchange, first)
        # 3 pays 3; 1 gets floor(0.7), 2 gets floor(1.4): 2 is left
        self.assertEqual(self.rows(), [(1, -3, 2), (3, 1, 2), (0, 2, 10)])
        self.assertEqual((fund.cash, first.funding_pool), (2, 0))


class Book(RiskBench):
    """R7 L1"""

    def test_part(self):
        # 40,350 down: E = 997,000 - 807,000 = 190,000, N = 19,193,000, MM = 191,930, penalty
        # 0.25 %. (12 * MM - 10 * E) / (12 * 1 % - 10 * 0.25 %) = 403,160 / 0.095 =
        # 4,243,789.473685: 44.22227 BTC. (190,000 - 47,982.5) / 200 BTC: 7,100 below
        self.open()
        self.place(3, 955000, 1000000)
        self.fall_to(959650)
        self.assertEqual([(row[0], *row[3:6]) for row in self.effects(2112)],
                         [(1, 190000 * USDC, 191930 * USDC, IN_LIQUIDATION)])
        order = [row for row in self.effects(2101) if row[7] == wire.LIQUIDATE_TYPE]
        self.assertEqual([row[1:6] for row in order],
                         [(3422227, 1000000, 952550, wire.CANCELED, wire.REASON["time_in_force"])])
        # n = 955,000: 0.25 % is 2,387.5
        fills = self.effects(2102)
        self.assertEqual([(row[1], row[2], row[3]) for row in fills],
                         [(955000, 1000000, 143250000), (955000, -1000000, 2387500000)])
        self.assertEqual(self.rows(),
                         [(1, -45000 * USDC, 0), (1, -2387500000, 8), (3, -143250000, 1),
                          (0, 2387500000, 8)])
        self.assertEqual([row[3:7] for row in self.effects(2113)], [(955000, 1000000, 1, 1)])

    def test_gaps(self):
        # nothing for 1 s on that leg; then as much again
        self.open()
        self.fall_to(959650)
        leg = self.portfolio(1).holdings[1]
        self.assertEqual(self.portfolio(1).wait_until, leg.wait_until)
        self.assertGreater(leg.wait_until, self.exchange.t + 999 * 10**6 - 10**7)
        self.stream.clock = leg.wait_until - 1
        self.exchange.apply(0, TICK, b"\1" + bytes(7), b"", self.stream.clock)
        self.assertEqual([row for row in self.effects(2101)], [])
        self.stream.clock += 1
        self.exchange.apply(0, TICK, b"\1" + bytes(7), b"", self.stream.clock)
        self.assertEqual([row[1] for row in self.effects(2101)], [4422227])

    def test_small_position(self):
        # N = 1,900, MM = 19, E = 15: all of it. (15 - 4.75) / 0.02 BTC: 5,125 below, which costs
        # 10.25; the penalty is 0.25 % of 1,889.75
        self.place(1, 1000000, 2000)
        self.place(2, 1000000, -2000)
        self.portfolio(1).cash = 115 * USDC
        risk.check(self.exchange, self.portfolio(1))
        self.place(3, 944875, 2000)
        self.fall_to(950000)
        self.assertEqual(self.rows()[:2], [(1, -110250000, 0), (1, -4724375, 8)])
        self.assertEqual((self.cash(1), self.portfolio(1).status), (25625, wire.PORTFOLIO_ACTIVE))

    def test_limits(self):
        # a short of 200 BTC at 100,500: N = 20,100,000 is in the second tier, MM = 202,000,
        # penalty 0.5 %: 100,500. From the better of mark and index: (E - 100,500) / 200 BTC; the
        # band is 10 %
        self.open()
        leg = self.portfolio(2).holdings[1]
        self.exchange.markets[1].mark = 1005000
        for equity, limit in ((190000, 1004475), (500000, 1019975), (3000000, 1105500),
                              (100000, 1000000)):
            self.assertEqual(liquidation.limit_of(leg, equity * USDC, 202000 * USDC), limit)
        # toward the mark: a sell up, a buy down; prices of the market
        first = self.exchange.markets[1]
        first.tick = 50
        self.assertEqual([forced.limit_inside(first, side, price) for side, price in
                          ((-1, 1014501), (1, 1014549), (-1, 0), (1, 2**50))],
                         [1014550, 1014500, 50, first.max_price // 50 * 50])


class Backstop(RiskBench):
    """R7 L2"""

    def test_takeover(self):
        # mark 954,000: E = 77,000, MM = 190,800, 3E < 2MM. N = 19,080,000 is at most twice the
        # fund's 10,077,000
        self.open()
        self.top_up(10000000)
        self.fall_to(954000)
        self.assertEqual((self.size(1), self.size(0), self.cash(1), self.cash(0)),
                         (0, 20000000, 0, 10077000 * USDC))
        self.assertEqual(self.portfolio(0).holdings[1].cost, 954000 * 20000000)
        self.assertEqual(self.rows(), [(1, -920000 * USDC, 8), (1, -77000 * USDC, 10),
                                       (0, 77000 * USDC, 10)])
        self.assertEqual([row[3:7] for row in self.effects(2113)], [(954000, 20000000, 1, 2)])
        self.assertEqual([row[5] for row in self.effects(2112)], [1, 0])

    def test_not_enough(self):
        # 2 * (9,462,999 + 77,000) < 19,080,000
        self.open()
        self.top_up(9462999)
        self.fall_to(954000)
        self.assertEqual((self.size(0) if 1 in self.portfolio(0).holdings else 0), 0)
        self.assertEqual([row[6] for row in self.effects(2113)], [3])

    def test_unwind(self):
        # r = 10: 5 + 5 % of it: 20 BTC, within 954,000 * 0.999 = 953,046; r = 11: nothing
        self.test_takeover()
        self.place(3, 953046, 500000)
        for drawn in (11, 10):
            self.assertEqual([row for row in self.effects(2101) if row[7] == wire.LIQUIDATE_TYPE],
                             [])
            self.stream.clock += 10**9
            with mock.patch.object(forced, "chance", lambda signature, second, r=drawn: r):
                self.work()
        order = [row for row in self.effects(2101) if row[7] == wire.LIQUIDATE_TYPE]
        self.assertEqual([row[1:4] for row in order], [(1500000, 500000, 953046)])
        # 954 USDC each: 5 BTC lose 477; no fee of the fund, the maker pays 150 ppm of 476,523
        self.assertEqual(self.rows(), [(0, -477 * USDC, 0), (3, -71478450, 1)])
        self.assertEqual(self.effects(2113), [])


class Deleverage(RiskBench):
    """R7 L3"""

    def test_at_the_price_of_bankruptcy(self):
        # E = 77,000: p = 954,000 - 3,850, better than the mark for the short
        self.open()
        self.fall_to(954000)
        self.assertEqual((self.size(1), self.size(2), self.cash(1)), (0, 0, 0))
        fills = self.effects(2102)
        self.assertEqual([(row[1], row[2], row[3]) for row in fills],
                         [(950150, 20000000, 0), (950150, -20000000, 0)])
        self.assertEqual(self.rows(), [(1, -997000 * USDC, 9), (2, 997000 * USDC, 9)])

    def test_second_pass(self):
        # mark 940,000: E = -203,000, p = 950,150. The short has 5,000 of equity: 492,610 units at
        # 10,150 worse; the rest at the mark, the fund pays 198,000.0085
        self.open()
        self.portfolio(2).cash = -1195000 * USDC
        self.fall_to(940000)
        self.assertEqual([(row[1], row[2]) for row in self.effects(2102)[1::2]],
                         [(950150, -492610), (940000, -19507390)])
        self.assertEqual((self.cash(1), self.cash(0)), (0, -198000008500))
        self.assertEqual(self.effects(2117), [(-198000008500, -198000008500, 1)])
        self.assertEqual([row[1:3] for row in self.effects(2111)], [(REDUCE_ONLY, 2)])
        self.top_up(198001)
        self.assertEqual(self.effects(2117), [(991500, 198001 * USDC, 0)])

    def legs(self, *rows):
        """(size, mark, the last at which it was solvent, MM) of each; m1 is 1 %."""
        class Leg:
            lost = Holding.lost

            def __init__(self, size, mark, seen, margin):
                self.size, self.mark_seen = size, seen
                self.market = type("Market", (), {"mark": mark, "tiers": [(0, 0, 10000)],
                                                  "band": 100000})
                self.margins = lambda: (0, margin)
        legs = [Leg(*row) for row in rows]
        owner = type("Owner", (), {"holdings": dict(enumerate(legs))})
        for leg in legs:
            leg.portfolio = owner
        return legs

    def test_shares(self):
        # of equity by margin, floor
        legs = self.legs((10, 100, 115, 60), (-10, 3, 2, 40))
        self.assertEqual(adl.shares_of(legs, 99, 100), [59, 39])
        # the long has lost 150, the short 10: D = 100 is 93.75 and 6.25, rounded up
        self.assertEqual(adl.shares_of(legs, -100, 100), [-94, -7])
        # D = 200, of which no leg shows 40: 24 and 16 by margin, at most 1 % of 1,000 and of 30
        self.assertEqual(adl.shares_of(legs, -200, 100), [-160, -10])

    def test_prices(self):
        # D = 2,000 on 10 at 10,000: 200 each; of it the fund carries 500: 150. At least 1 %
        legs = self.legs((10, 10000, 10200, 1000))
        for fund, price in ((0, 10200), (10000, 10150), (30000, 10100), (50000, 10100)):
            exchange = type("Exchange", (), {
                "t": 86400 * 10**9, "paid_day": 1, "paid": 0,
                "by_number": [type("Fund", (), {"cash": fund})]})
            self.assertEqual(adl.prices_of(exchange, legs, -2000, 1000), [price])
        # never beyond the band
        self.assertEqual(adl.prices_of(exchange, self.legs((10, 10000, 20200, 1000)), -102000,
                                       1000), [11000])

    def test_scores(self):
        holding = self.portfolio(1).holding(self.exchange.markets[1])
        holding.size, holding.cost, holding.market.mark = 10, 800, 100
        self.assertEqual(adl.score_of(holding), 250000)  # 200 / 800
        holding.cost = 1001  # -1000 or so, floor: -999.0009
        self.assertEqual(adl.score_of(holding), -1000)


class Settlement(RiskBench):
    """R9 CLOSED"""

    def close(self, force=1):
        body = wire.STATE_BODY.pack(1, 0, CLOSED, force, 0)
        status = wire.STATUSES[self.send(MARKET_STATE, body, streams.OPERATOR)]
        before = self.exchange.effects
        self.work()
        self.exchange.effects = before + self.exchange.effects
        return status

    def test_shortfall_and_cut(self):
        # T = 940,000: 1 loses 1,200,000 of its 997,000; the fund has 3,000; 2 is cut by the rest
        self.open()
        self.top_up(3000)
        first = self.exchange.markets[1]
        first.announced_at = self.exchange.t
        first.samples.extend((self.exchange.t // 10**9, 940000, 0) for _ in range(60))
        self.assertEqual(self.close(), "request_completed")
        self.assertEqual([row[1:4] for row in self.effects(2111)], [(CLOSED, 0, 940000)])
        self.assertEqual([(row[0], *row[4:6]) for row in self.effects(2121)],
                         [(1, -1200000 * USDC, 0), (2, 1200000 * USDC, 200000 * USDC)])
        self.assertEqual(self.rows(),
                         [(1, -1200000 * USDC, 11), (1, 203000 * USDC, 11), (0, -3000 * USDC, 10),
                          (2, 1200000 * USDC, 11), (2, -200000 * USDC, 11)])
        self.assertEqual((self.size(1), self.size(2), first.funding_pool, first.settling),
                         (0, 0, 0, False))
        self.assertEqual(self.place(3, 940000, 1000), "market_closed")
        self.assertEqual(wire.STATUSES[self.oracle(940000)], "market_closed")

    def test_price(self):
        # fewer than 60 samples: the last mark
        first = self.exchange.markets[1]
        first.announced_at = self.exchange.t
        first.samples.extend((self.exchange.t // 10**9, 940000, 0) for _ in range(59))
        self.close()
        self.assertEqual(first.mark, 1000000)

    def test_last_hour(self):
        self.assertEqual(self.close(0), "order_rejected_invalid")
        body = wire.STATE_BODY.pack(1, 0, REDUCE_ONLY, 1, 0)
        self.send(MARKET_STATE, body, streams.OPERATOR)
        since = self.exchange.t
        self.stream.clock = since + HOUR - 2 * 1000000
        self.assertEqual(self.close(0), "order_rejected_invalid")
        self.stream.clock = since + HOUR
        self.assertEqual(self.close(0), "request_completed")


class ReducingRule(unittest.TestCase):
    """R4"""

    def test_reducing_rule(self):
        # a sale far below the mark that takes out the maintenance margin: E' = 0, MM' = 80,000
        self.assertFalse(reducing_rule((100000, 100000), (0, 80000)))
        self.assertTrue(reducing_rule((100, 100), (80, 80)))
        self.assertTrue(reducing_rule((50, 100), (10, 60)))    # the deficit does not grow
        self.assertFalse(reducing_rule((50, 100), (9, 60)))
        self.assertFalse(reducing_rule((-50, 100), (-50, 60)))  # under water
        self.assertTrue(reducing_rule((-50, 100), (60, 60)))

    def test_reducing_rule_under_stress(self):
        # 100 of equity is shown by a frozen market; 1,000 of notional closed may cost 1
        self.assertTrue(reducing_rule((150, 100), (149, 60), 100, 1000))
        self.assertFalse(reducing_rule((150, 100), (148, 60), 100, 1000))
        self.assertTrue(reducing_rule((150, 100), (148, 48), 100, 1000))  # 148 - 100 >= 48
        self.assertFalse(reducing_rule((-1, 100), (-1, 60), 100, 1000))


class Planted(unittest.TestCase):
    """A model with one rule wrong must differ from the engine."""

    run_stream = test_model.Planted.run_stream
    differs = test_model.Planted.differs

    def test_right(self):
        counts = self.run_stream("backstop", 9000)
        self.assertGreater(min(counts[name] for name in ("L1", "L2", "L3", "ADL")), 0)

    def test_wrong_liquidation(self):
        self.differs(liquidation, "ACTION_GAP", 0, "slices")
        self.differs(liquidation, "PENALTY_PPM", 2000, "slices")
        self.differs(liquidation, "fund_can", lambda *_: False, "backstop", 9000)
        self.differs(adl, "score_of", lambda *_: 0, "backstop")
        self.differs(risk, "scan", lambda *_: None, "slices")

    def test_wrong_hours(self):
        self.differs(funding, "SAMPLES_NEEDED", 1, "hours", 9000, 3)
        self.differs(funding, "SAMPLE", 6 * 10**9, "hours", 9000, 3)
        self.differs(settlement, "SAMPLES_LEAST", 1, "announced")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
