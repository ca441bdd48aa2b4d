#!/usr/bin/env python3
"""test_rules.py BUILD - the worked examples of the rules in their model, each with its numbers
worked out by hand. Fees of R6 tier 0; BTC and DOGE of wire.md W10 unless said."""
import os
import sys
import unittest

from model import Exchange
import forced
import funding
import regimes
import risk
import wire
from gang import SOURCE
from gang_world import RECORDS, configuration
from wire import (AMEND, CANCELED, CONFIGURATION, DEFINE, DEPOSIT, GTC, HALTED, IN_LIQUIDATION,
                  INDEX_ACCEPT, MARKET_ORDER, MARKET_STATE, ORACLE, PLACE, REDUCE_ONLY, STATUSES,
                  TICK, TOP_UP, TRANSFER, WITHDRAW)

USDC, MS, SECOND, HOUR = 10**6, 10**6, 10**9, 3600 * 10**9
START = 1767268800 * SECOND
BTC, DOGE, ETH = 1, 2, 3
PRICE = {BTC: 10, DOGE: 10**6, ETH: 100}       # raw of 1 USDC
SIZE = {BTC: 100000, DOGE: 1, ETH: 10000}      # raw of 1
ETH_RECORD = regimes.record("ETH", 3, 2, tick_size="0.01", lot_size="0.0001", min_size="0.0001",
                            max_order_size="10000000", tiers=regimes.tiers(
                                ("20000000", 50), ("100000000", 25), ("500000000", 10), (None, 5)))


class Bench(unittest.TestCase):
    units = 64

    def setUp(self):
        self.clock, self.number = START, 0
        self.exchange = exchange = Exchange()
        exchange.credentials.check = lambda code, body, key, t: (
            int.from_bytes(body[:8], "little") if code < ORACLE else 0, False)
        exchange.credentials.suspended = lambda code, account: False
        self.unsigned(CONFIGURATION, configuration(SOURCE))
        exchange.units = self.units
        for record in (*RECORDS, ETH_RECORD):
            self.unsigned(DEFINE, record)

    # ---- commands

    def unsigned(self, code, body):
        self.clock += 1000
        return self.exchange.apply(0, code, body, b"", self.clock)

    def send(self, code, body, extra=b""):
        self.clock += 1000
        self.number += 1
        payload = bytes(8) + wire.uuid7(self.clock // MS, self.number) + body
        self.id = payload[8:24]
        return STATUSES[self.exchange.apply(1, code, payload, b"", self.clock, extra)[2]]

    def account(self, number, usdc=0):
        self.exchange.hierarchy.new_account(number)
        if usdc:
            self.deposit(number, usdc)

    def deposit(self, number, usdc):
        self.number += 1
        return self.send(DEPOSIT, wire.DEPOSIT_BODY.pack(number, 0, 0, round(usdc * USDC),
                                                         self.number.to_bytes(32, "little")))

    def oracle(self, asset, price, at=None):
        """At a time in ns behind START when it is given."""
        self.clock = self.clock + MS if at is None else START + at
        self.send(ORACLE, wire.ORACLE_BODY.pack(self.clock, self.raw(asset, price), asset, 0, 3,
                                                0))

    def raw(self, asset, price):
        return round(price * PRICE[asset])

    def place(self, account, asset, price, size, tif=GTC, post_only=0, reduce_only=0, index=0):
        return self.send(PLACE, wire.PLACE_BODY.pack(
            account, 0, index, self.raw(asset, price), round(size * SIZE[asset]), tif, post_only,
            reduce_only, 0, 0, asset, 0))

    def market_order(self, account, asset, size):
        return self.send(MARKET_ORDER, wire.MARKET_BODY.pack(
            account, 0, 0, round(size * SIZE[asset]), 0, asset, 0, 0, 0, bytes(6)))

    def state(self, asset, state, force=0):
        return self.send(MARKET_STATE, wire.STATE_BODY.pack(asset, 0, state, force, 0))

    def withdraw(self, account, usdc):
        status = self.send(WITHDRAW, wire.WITHDRAW_BODY.pack(account, 0, 0, round(usdc * USDC),
                                                             b"\1" * 20, 0))
        return status, wire.reason_name(self.exchange.reason)

    def fund(self, usdc):
        self.send(TOP_UP, wire.TOP_UP_BODY.pack(usdc * USDC))

    def tick(self, at=None):
        if at is not None:
            self.clock = START + at - 1000
        self.unsigned(TICK, b"\1" + bytes(7))

    # ---- what is there

    def portfolio(self, account, index=0):
        return self.exchange.portfolios[account, 0, index]

    def equity(self, account, index=0):
        return self.portfolio(account, index).risk()[0] / USDC

    def cash(self, account, index=0):
        return self.portfolio(account, index).cash / USDC

    def size(self, account, asset=BTC, index=0):
        return self.portfolio(account, index).holding(self.exchange.markets[asset]).size

    def effects(self, code):
        layout = wire.struct.Struct(wire.LAYOUTS[code][0])
        return [layout.unpack(body) for found, body in self.exchange.effects if found == code]

    def open(self, long, short, asset, size, price, indexes=(0, 0)):
        for account, index in ((long, indexes[0]), (short, indexes[1])):
            owner = self.portfolio(account, index)
            owner.holding(self.exchange.markets[asset]).leverage = 50 if asset != DOGE else 20
            owner.cash += 10**9 * USDC
            risk.check(self.exchange, owner)
        self.assertEqual(self.place(short, asset, price, -size, index=indexes[1]),
                         "request_completed")
        self.assertEqual(self.place(long, asset, price, size, index=indexes[0]),
                         "request_completed")
        for account, index in ((long, indexes[0]), (short, indexes[1])):
            self.portfolio(account, index).cash -= 10**9 * USDC

    def set_equity(self, account, usdc, index=0):
        """E0: behind the opening fee."""
        owner = self.portfolio(account, index)
        owner.cash += round(usdc * USDC) - owner.risk()[0]
        risk.check(self.exchange, owner)

    def long_and_short(self, size=1, equity=2000, short_equity=10**6):
        """1 long from 100,000, 2 short."""
        self.account(1)
        self.account(2)
        self.oracle(BTC, 100000)
        self.open(1, 2, BTC, size, 100000)
        self.set_equity(1, equity)
        self.set_equity(2, short_equity)

    def check_sums(self):
        """I1, I2 but for what the bench gave."""
        for asset in self.exchange.markets:
            self.assertEqual(sum(owner.holdings[asset].size for owner in self.exchange.by_number
                                 if asset in owner.holdings), 0)


class Index(Bench):
    def test_1_mark(self):
        self.account(1, 10**6)
        self.account(2, 10**6)
        self.oracle(BTC, 100000)
        self.place(1, BTC, 100400, 1)
        self.place(2, BTC, 100600, -1)
        self.tick(SECOND)
        market = self.exchange.markets[BTC]
        self.assertEqual((market.ema, market.mark), (17476266, 1000016))

    def test_2_a_lost_decimal(self):
        market = self.exchange.markets[BTC]
        for second in range(1, 4):
            self.oracle(BTC, 100000, second * SECOND)
        self.oracle(BTC, 109900)
        self.assertEqual((market.index, market.is_held), (1099000, False))
        self.oracle(BTC, 120780)
        self.assertEqual((market.index, market.is_held, market.state),
                         (1099000, True, wire.CANCEL_ONLY))
        self.oracle(BTC, 109900)
        self.assertEqual((market.index, market.is_held, market.state),
                         (1099000, False, wire.ACTIVE))

    def accept(self, price):
        return self.send(INDEX_ACCEPT, wire.INDEX_ACCEPT_BODY.pack(self.raw(BTC, price), BTC,
                                                                   bytes(6)))

    def test_3_a_run_and_its_anchor(self):
        market = self.exchange.markets[BTC]
        for second in range(1, 4):
            self.oracle(BTC, 100000, second * SECOND)
        half, begin = SECOND // 2, 4 * SECOND + 1000000
        for number in range(4):
            self.oracle(BTC, 85000, begin + number * half)
            self.assertEqual((market.index, market.is_held), (1000000, True))
        self.oracle(BTC, 85000, begin + 4 * half)
        self.assertEqual((market.index, market.is_held), (850000, False))
        for number in range(1, 51):
            self.oracle(BTC, 72000, begin + 4 * half + number * SECOND // 10)
            self.assertEqual((market.index, market.is_held), (850000, True))
        self.assertEqual(self.accept(74000), "rejected_invalid_price")
        self.assertEqual(self.accept(72500), "request_completed")
        self.assertEqual((market.index, market.is_held), (720000, False))
        self.assertEqual(self.accept(72500), "order_rejected_invalid")

    def test_three_within_milliseconds(self):
        market = self.exchange.markets[BTC]
        for second in range(1, 4):
            self.oracle(BTC, 100000, second * SECOND)
        for _ in range(3):
            self.oracle(BTC, 10000)
        self.assertEqual((market.index, market.is_held), (1000000, True))

    def test_a_state_set_in_a_hold(self):
        market = self.exchange.markets[BTC]
        self.oracle(BTC, 100000, SECOND)
        self.oracle(BTC, 80000)
        self.state(BTC, HALTED)
        self.assertEqual(market.state, HALTED)
        self.state(BTC, REDUCE_ONLY)
        self.assertEqual(market.state, wire.CANCEL_ONLY)
        self.oracle(BTC, 99000)
        self.assertEqual((market.state, market.index), (REDUCE_ONLY, 990000))

    def test_12_premium_and_rate(self):
        self.account(1, 10**7)
        self.account(2, 10**7)
        self.oracle(BTC, 100000)
        market = self.exchange.markets[BTC]
        self.place(1, BTC, 100500, 1)
        self.place(2, BTC, 101000, -1)
        self.assertEqual(funding.premium(market, self.exchange), 0)  # nobody could meet them yet
        self.exchange.t += SECOND // 4
        self.assertEqual(funding.premium(market, self.exchange), 2500000)
        self.assertEqual(funding.rate_of(720 * 2500000, 720, 20000), 250000)
        self.assertEqual(funding.rate_of(720 * 10**9, 720, 20000), 5000000)

    def test_an_order_has_rested(self):
        self.account(1, 10**7)
        self.oracle(BTC, 100000)
        market = self.exchange.markets[BTC]
        self.place(1, BTC, 100500, 1)
        self.place(1, BTC, 100600, 1)
        order, = market.bids.levels[1006000].orders
        self.exchange.t = order.entered + SECOND // 4 - 1
        below, above = market.impact(market.bids, self.exchange)
        self.assertEqual(below // above, 1005000)
        self.exchange.t += 1
        below, above = market.impact(market.bids, self.exchange)
        self.assertEqual(below // above, 1006000)

    def test_14_closing(self):
        market = self.exchange.markets[BTC]
        begin = START + 10 * SECOND
        second = begin // SECOND
        self.clock = begin - 1000
        self.state(BTC, REDUCE_ONLY, 1)
        self.assertEqual(market.announced_at, begin)
        market.samples.extend((second + number, 1000000 if number <= 1800 else 980000,
                               begin + number * SECOND) for number in range(1, 2700))
        market.index = 980000
        self.assertEqual(market.next_mark(begin + 2700 * SECOND), 985002)
        self.clock = begin + 3600 * SECOND - 2000
        self.assertEqual(self.state(BTC, wire.CLOSED), "order_rejected_invalid")
        market.samples.clear()
        market.samples.extend((second + number, 980000, begin + number * SECOND)
                              for number in range(1801, 3600))
        self.clock = begin + 3600 * SECOND - 1000
        self.assertEqual(self.state(BTC, wire.CLOSED), "request_completed")
        self.assertEqual(market.mark, 980000)

    def test_a_closing_called_off(self):
        self.state(BTC, REDUCE_ONLY, 1)
        self.state(BTC, REDUCE_ONLY)
        self.assertIsNone(self.exchange.markets[BTC].announced_at)
        self.clock += HOUR
        self.assertEqual(self.state(BTC, wire.CLOSED), "order_rejected_invalid")


class Gaps(Bench):
    units = 4

    def crowd(self):
        """200 holders of an order before 1 and 2."""
        self.oracle(BTC, 100000)
        for number in range(10, 210):
            self.account(number, 10)
        for number in range(10, 210):
            owner = self.portfolio(number)
            owner.cash += 10**6 * USDC
            self.assertEqual(self.place(number, BTC, 50000, 0.001), "request_completed")
        self.long_and_short()
        self.finish()

    def finish(self):
        while self.exchange.work.is_busy():
            self.tick()

    def test_4_closing_a_loser(self):
        self.crowd()
        self.oracle(BTC, 97000)
        self.assertTrue(self.exchange.markets[BTC].in_gap)
        self.assertEqual(self.place(1, BTC, 97000, -1, reduce_only=1),
                         "rejected_market_post_only")
        self.assertEqual(wire.reason_name(self.exchange.reason), "market_gap")

    def test_4_under_water(self):
        self.long_and_short()
        self.portfolio(1).cash -= 2001 * USDC
        self.portfolio(1).status = IN_LIQUIDATION
        self.portfolio(1).run = None
        self.assertLess(self.equity(1), 0)
        self.assertEqual(self.place(1, BTC, 100000, -1, reduce_only=1),
                         "insufficient_margin_to_place")

    def test_15_orders_in_a_gap(self):
        self.crowd()
        self.account(300, 10**6)
        self.finish()
        self.oracle(BTC, 98900)
        self.assertEqual(self.market_order(300, BTC, 0.01), "rejected_market_post_only")
        self.assertEqual(self.place(300, BTC, 98000, 0.01, post_only=1), "request_completed")
        self.finish()
        self.assertFalse(self.exchange.markets[BTC].in_gap)
        self.place(2, BTC, 98950, -0.01)
        self.assertEqual(self.market_order(300, BTC, 0.01), "request_completed")
        self.assertEqual(self.size(300), 1000)


class Liquidation(Bench):
    def steps_to(self, price):
        """By less than 1 % a step, so that no gap is made."""
        market = self.exchange.markets[BTC]
        while market.index / 10 - price > 900:
            self.oracle(BTC, market.index / 10 - 900)
            self.tick()
        self.oracle(BTC, price)

    def test_5_book(self):
        self.long_and_short()
        self.account(3, 10**6)
        self.place(3, BTC, 98247.2, 0.2)
        self.place(3, BTC, 98890, 0.30526)
        self.steps_to(98900)
        orders = [row for row in self.effects(2101) if row[7] == wire.LIQUIDATE_TYPE]
        self.assertEqual([(row[2], row[3]) for row in orders], [(30526, 982473)])
        self.assertEqual([(row[1], row[3]) for row in self.effects(2102) if row[5] == 0],
                         [(988900, 75467904)])
        self.assertEqual(self.equity(1), 821.479496)

    def test_5_limit(self):
        self.long_and_short()
        self.account(3, 10**6)
        self.place(3, BTC, 98247.2, 0.2)
        self.steps_to(98900)
        self.assertEqual((self.size(1), self.size(3)), (100000, 0))

    def test_6_whole(self):
        # 0.0192 BTC: N 1,898.88 at 98,900; E0 38.4: E 17.28, MM 18.9888, 51.84 >= 37.9776
        self.long_and_short(0.0192, 38.4)
        self.account(3, 10**6)
        self.place(3, BTC, 98890, 1)
        self.steps_to(98900)
        self.assertEqual(self.size(1), 0)

    def test_7_fund_refuses(self):
        self.fund(10000)
        self.long_and_short(0.25, 625)
        self.steps_to(98100)
        self.assertEqual((self.size(1), self.cash(1), self.size(0), self.cash(0)),
                         (0, 0, 0, 10000))
        self.assertEqual([row[3:7] for row in self.effects(2113)], [(975000, 25000, BTC, 3)])

    def test_7_fund_takes(self):
        self.fund(20000)
        self.long_and_short(0.25, 625)
        self.steps_to(98100)
        self.assertEqual((self.size(1), self.cash(1), self.size(0), self.cash(0)),
                         (0, 0, 25000, 20150))

    def two_longs(self):
        for number in (1, 2, 3):
            self.account(number)
        self.oracle(BTC, 100000)
        self.open(1, 3, BTC, 1, 100000)
        self.open(2, 3, BTC, 1, 100000)
        self.set_equity(1, 2000)
        self.set_equity(2, 2000)
        self.set_equity(3, 100000)
        self.oracle(BTC, 95000)
        self.tick()

    def prices(self):
        return [row[3] for row in self.effects(2113)]

    def test_8_without_a_fund(self):
        self.two_longs()
        self.assertEqual([self.size(number) for number in (1, 2, 3)], [0, 0, 0])
        self.assertEqual((self.cash(0), self.cash(1), self.cash(2), self.cash(3)),
                         (0, 0, 0, 104000))

    def test_8_with_a_fund(self):
        self.fund(20000)
        self.two_longs()
        # 1 at 97,000: the fund pays 1,000; 2 at 98,000
        self.assertEqual((self.cash(0), self.cash(1), self.cash(2), self.cash(3)),
                         (19000, 0, 0, 105000))

    def test_9_netting(self):
        for number in (1, 2):
            self.account(number)
        self.exchange.hierarchy.new_portfolio(self.exchange.hierarchy.accounts[1], 0)
        self.oracle(BTC, 100000)
        self.open(2, 1, BTC, 1, 100000, (0, 0))
        self.open(1, 2, BTC, 1, 100000, (1, 0))
        self.set_equity(1, 3030, 0)
        self.set_equity(1, 2455, 1)
        self.set_equity(2, 10**6)
        self.oracle(BTC, 95000)
        self.tick()
        self.assertEqual((self.size(1), self.size(1, index=1), self.cash(0)), (0, 0, 0))
        self.assertEqual((self.cash(1), self.cash(1, 1)), (5485, 0))

    def test_a_fund_that_has_too_much(self):
        # 100,000 > 10 * 9,999: deleveraged at the mark until 40,000 <= 5 * 9,999
        for number in (1, 2, 3):
            self.account(number)
        self.oracle(BTC, 100000)
        self.open(1, 2, BTC, 0.6, 100000)
        self.open(1, 3, BTC, 0.4, 100000)
        for number in (1, 2, 3):
            self.set_equity(number, 10**5)
        owner, fund = self.portfolio(1), self.portfolio(0)
        own, held = owner.holdings[BTC], fund.holding(self.exchange.markets[BTC])
        held.size, held.cost, own.size, own.cost = own.size, own.cost, 0, 0
        fund.cash = 9999 * USDC
        self.oracle(BTC, 99999.9)
        self.tick()
        self.assertEqual([self.size(number) for number in (0, 2, 3)], [40000, 0, -40000])
        self.assertEqual(self.equity(2), 10**5 + 0.06)

    def test_17_a_leg_that_lost_nothing(self):
        for number in (1, 2, 3):
            self.account(number)
        self.oracle(BTC, 100000)
        self.oracle(ETH, 3600)
        self.open(1, 2, BTC, 200, 100000)
        self.open(1, 3, ETH, 500, 3600)
        self.set_equity(1, 500000)
        self.set_equity(2, 10**7)
        self.set_equity(3, 10**6)
        self.oracle(BTC, 95000)
        self.tick()
        self.assertEqual((self.size(1), self.size(1, ETH), self.equity(3)), (0, 0, 10**6))


class Stress(Bench):
    def test_10_a_stale_market(self):
        self.account(1, 1000)
        self.account(2, 10**6)
        self.oracle(BTC, 100000)
        self.oracle(DOGE, 0.2)
        self.assertEqual(self.place(1, DOGE, 0.19, 100), "request_completed")
        free, money = self.portfolio(1), self.exchange.money
        self.tick(12 * SECOND)
        self.oracle(BTC, 100000)
        self.assertEqual(money.free(free), 997 * USDC)
        self.assertEqual(self.place(1, BTC, 90000, 0.001), "request_completed")
        self.place(1, BTC, 90000, 0)
        self.send(wire.CANCEL_ALL, wire.CANCEL_ALL_BODY.pack(1, 0, 0, BTC, 0, 0, 0, 0))
        self.tick()
        self.state(DOGE, HALTED)
        self.assertEqual(money.free(free), 979 * USDC)
        self.assertEqual(self.place(1, BTC, 90000, 0.001), "request_completed")
        self.assertEqual(self.place(1, DOGE, 0.19, 100), "rejected_market_halted")

    def test_13_the_rest_of_a_reduction(self):
        self.account(1, 1000)
        self.oracle(BTC, 100000)
        self.assertEqual(self.place(1, BTC, 100000, 0.0001), "request_completed")
        target = self.id

        def reduce(by):
            return self.send(AMEND, wire.AMEND_BODY.pack(1, 0, 0, target, by, 0, BTC, 0, 0))
        self.assertEqual(reduce(1), "rejected_invalid_size")
        self.assertEqual(reduce(10), "request_completed")
        self.assertEqual([row[4] for row in self.effects(2101)], [CANCELED])

    def test_16_tiers_of_the_account(self):
        for number, expected in ((1, "insufficient_margin_to_trade"), (2, "request_completed")):
            self.account(number)
            self.account(number + 10)
            self.exchange.hierarchy.new_portfolio(self.exchange.hierarchy.accounts[number], 0)
            self.oracle(BTC, 100000)
            self.open(number, number + 10, BTC, 200, 100000)
            self.set_equity(number, 10**6)
            self.set_equity(number + 10, 10**8)
            second = self.portfolio(number, 1)
            second.holding(self.exchange.markets[BTC]).leverage = 50
            second.cash = 608000 * USDC if number == 1 else 609100 * USDC
            risk.check(self.exchange, second)
            self.place(number + 10, BTC, 100000, -200)
            self.assertEqual(self.place(number, BTC, 100000, 200, wire.IOC, index=1), expected)
            self.send(wire.CANCEL_ALL, wire.CANCEL_ALL_BODY.pack(number + 10, 0, 0, BTC, 0, 0, 0,
                                                                 0))

    def test_transfer_under_stress(self):
        self.account(1, 1000)
        self.exchange.hierarchy.new_portfolio(self.exchange.hierarchy.accounts[1], 0)
        self.oracle(DOGE, 0.2)
        self.place(1, DOGE, 0.19, 100)
        self.tick(12 * SECOND)

        def transfer(micro):
            return self.send(TRANSFER, wire.TRANSFER_BODY.pack(1, 0, 0, 1, 0, 1, micro))
        self.assertEqual(transfer(997 * USDC + 1), "rejected_insufficient_free_equity")
        self.assertEqual(transfer(997 * USDC), "request_completed")


class Fired(Bench):
    """R3: a fired order that meets makers_max goes on; another taker does not."""
    units = 1

    def test_goes_on(self):
        self.exchange.makers_max = 3
        for number in (1, 2):
            self.account(number, 10**6)
        self.oracle(BTC, 100000)
        self.place(2, BTC, 100000, 0.001)
        self.place(1, BTC, 100000, -0.001)
        for number in range(5):
            self.place(2, BTC, 99000 - number, 0.01)
        body = wire.CONDITIONAL_BODY.pack(
            1, 0, 0, self.raw(BTC, 99500), 0, -5000, GTC, 0, 0, 0, wire.STOP_MARKET, BTC, 0, 0, 0,
            0, 0, bytes(16))
        self.assertEqual(self.send(wire.CONDITIONAL, body), "request_completed")
        target = self.id
        self.oracle(BTC, 99400)
        ended = []
        for _ in range(6):
            self.tick()
            ended += [row[1:5] for row in self.effects(2101) if row[0] == target]
        self.assertEqual(ended, [(0, 5000, 0, wire.FILLED)])
        self.assertEqual(self.size(1), -5100)

    def test_another_taker(self):
        self.exchange.makers_max = 3
        for number in (1, 2):
            self.account(number, 10**6)
        self.oracle(BTC, 100000)
        for number in range(5):
            self.place(2, BTC, 99000 - number, 0.01)
        self.assertEqual(self.place(1, BTC, 98000, -0.05, wire.IOC), "request_completed")
        self.assertEqual([(row[1], row[4], wire.reason_name(row[5])) for row in
                          self.effects(2101)][-1], (2000, CANCELED, "match_limit"))


class Withdrawals(Bench):
    def test_11_while_short(self):
        self.account(1, 10000)
        self.portfolio(1).cash = 12000 * USDC
        self.portfolio(0).cash, self.exchange.fee_account = -100 * USDC, 40 * USDC
        refused = "rejected_insufficient_free_equity", "insurance_fund_deficit"
        self.assertEqual(self.withdraw(1, 10000.000001), refused)
        self.assertEqual(self.withdraw(1, 10000), ("request_completed", "none"))
        self.assertEqual(self.withdraw(1, 1), refused)
        self.exchange.fee_account = 100 * USDC
        self.assertEqual(self.withdraw(1, 2000), ("request_completed", "none"))


class Settlement(Bench):
    def test_18_a_dust_leg(self):
        # 1 long 1 BTC; T 90,000: loses 10,000 of E0 1,000: E -9,000
        for number in (1, 2, 3):
            self.account(number)
        self.oracle(BTC, 100000)
        self.oracle(ETH, 3600)
        self.open(1, 2, BTC, 1, 100000)
        self.open(1, 3, ETH, 0.01, 3600)
        for number, equity in ((1, 1000), (2, 10**5), (3, 1000)):
            self.set_equity(number, equity + (1500 if number == 1 else 0))
        self.portfolio(1).cash -= 1500 * USDC
        market = self.exchange.markets[BTC]
        market.announced_at = self.clock
        market.samples.extend((self.clock // SECOND, 900000, self.clock) for _ in range(60))
        self.state(BTC, wire.CLOSED, 1)
        self.tick()
        self.assertEqual((self.size(1), self.equity(1)), (0, 0))
        # the winner's 10,000 are cut by 9,000; who is on the other side of ETH pays nothing
        self.assertEqual((self.equity(2), self.equity(3)), (10**5 + 1000, 1000))


class Unwinding(unittest.TestCase):
    def test_chance(self):
        # splitmix's finalizer of 1: 0x5692161d100b05e5
        self.assertEqual(forced.chance((1).to_bytes(64, "little"), 0), 0x05E5)
        self.assertEqual(forced.chance(bytes(64), 0), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
