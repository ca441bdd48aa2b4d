#!/usr/bin/env python3
"""test_conditionals.py BUILD - conditional orders, OCO and triggers in the model against values
worked out by hand."""
import sys
import unittest
from types import SimpleNamespace
from unittest import mock

import test_model
import wire
from wire import (CONDITIONAL, CONDITIONAL_CANCEL, GTC, STOP_LIMIT, STOP_MARKET, TAKE_PROFIT,
                  TAKE_PROFIT_MARKET, TICK)

MARK, LAST, INDEX = range(3)
NONE = bytes(16)


class Bench(test_model.Bench):
    def conditional(self, account, kind, trigger, quantity, price=0, expiry=GTC, post_only=0,
                    reduce_only=0, source=MARK, tif=0, group=NONE, slippage=0):
        self.order(CONDITIONAL, account, trigger, price, quantity, expiry, post_only, reduce_only,
                   0, kind, 1, 0, slippage, source, tif, 0, group)
        self.id = self.exchange.request_id
        return wire.STATUSES[self.exchange.ended]

    def tick(self):
        self.stream.clock += 1000000
        self.exchange.apply(0, TICK, bytes(8), b"", self.stream.clock)

    def told(self):
        """(filled, status, reason, type) of each 2101."""
        return [(row[2], row[4], wire.reason_name(row[5]), row[7]) for row in self.effects(2101)]


class Placing(Bench):
    """R8, R11 rows 9 to 25; the mark is 1,000,000"""

    def test_rows(self):
        done, invalid = "request_completed", "rejected_invalid_trigger"
        held = "rejected_trigger_already_satisfied"
        for want, kind, trigger, quantity, extra in (
                (done, STOP_MARKET, 1000001, 1000, {}), (done, STOP_MARKET, 999999, -1000, {}),
                (done, TAKE_PROFIT_MARKET, 999999, 1000, {}),
                (done, TAKE_PROFIT_MARKET, 1000001, -1000, {}),
                # equality satisfies, on either side
                (held, STOP_MARKET, 1000000, 1000, {}), (held, STOP_MARKET, 1000000, -1000, {}),
                (held, TAKE_PROFIT_MARKET, 1000000, 1000, {}),
                (held, STOP_MARKET, 1000000, 1000, {"source": INDEX}),
                # nothing has traded: a last price does not exist
                (done, STOP_MARKET, 5, 1000, {"source": LAST}),
                ("order_rejected_invalid", 1, 1000001, 1000, {}),
                ("order_rejected_invalid", 6, 1000001, 1000, {}),
                ("rejected_invalid_order_flags", STOP_MARKET, 1000001, 1000, {"tif": 1}),
                ("rejected_invalid_order_flags", STOP_LIMIT, 1000001, 1000, {"tif": 3}),
                ("rejected_invalid_order_flags", STOP_LIMIT, 1000001, 1000,
                 {"price": 1000000, "tif": 0, "post_only": 1}),
                ("rejected_invalid_order_flags", STOP_MARKET, 1000001, 1000, {"expiry": 1}),
                ("rejected_conditional_order_expired", STOP_MARKET, 1000001, 1000, {"expiry": 2}),
                ("rejected_size_zero", STOP_MARKET, 1000001, 0, {}),
                ("rejected_invalid_price", STOP_LIMIT, 1000001, 1000, {"price": 2**40 - 1}),
                (invalid, STOP_MARKET, 0, 1000, {}), (invalid, STOP_MARKET, 2**30, 1000, {}),
                (invalid, STOP_MARKET, 1000001, 1000, {"source": 3}),
                (invalid, STOP_MARKET, 1000001, 1000, {"price": 5}),
                (invalid, STOP_LIMIT, 1000001, 1000, {}),
                # 9 * 10^-5 BTC at 100,000 USDC are 9 USDC
                ("rejected_invalid_size", STOP_MARKET, 1000001, 9, {}),
                (done, STOP_MARKET, 1000001, 9, {"reduce_only": 1}),
                ("rejected_slippage_exceeds_maximum", STOP_MARKET, 1000001, 1000,
                 {"slippage": 50001}),
                # no band: far from the mark, it will be asked when it fires
                (done, STOP_LIMIT, 1500000, 1000, {"price": 1500000, "tif": 2})):
            self.assertEqual(self.conditional(1, kind, trigger, quantity, **extra), want,
                             (kind, trigger, quantity, extra))

    def test_count(self):
        self.exchange.limits["limits.conditional_orders"] = 2
        statuses = [self.conditional(1, STOP_MARKET, 1000001, 1000) for _ in range(3)]
        self.assertEqual(statuses[1:], ["request_completed",
                                        "rejected_max_conditional_orders_exceeded"])
        self.exchange.limits["limits.portfolios"] = 1  # of the account 2 * 1: here met by both
        self.assertEqual(self.conditional(1, STOP_MARKET, 1000001, 1000),
                         "rejected_max_conditional_orders_exceeded")
        # R4: nothing is reserved while they wait
        self.assertEqual(self.exchange.portfolios[1, 0, 0].risk()[1], 0)

    def test_cancel(self):
        self.conditional(1, STOP_MARKET, 1000001, 1000)
        for account, want in ((2, "conditional_order_not_found"), (1, "request_completed"),
                              (1, "conditional_order_not_found")):
            self.assertEqual(self.order(CONDITIONAL_CANCEL, account, self.id, 1, 0, 0), want)
        self.place(1, 990000, 1000)  # never a conditional
        self.assertEqual(self.order(CONDITIONAL_CANCEL, 1, self.id, 1, 0, 0),
                         "conditional_order_not_found")


class Firing(Bench):
    """R8; two units a command"""

    def test_market(self):
        # a stop of 1 that buys at 1,000,500 fires when the mark is there; 3 sells at 1,000,600
        self.place(3, 1000600, -1000)
        self.conditional(1, STOP_MARKET, 1000500, 1000)
        self.oracle(1000499)
        self.assertEqual(self.effects(2114), [])
        self.oracle(1001000)  # median(1,001,000; the same; 1,000,600)
        self.assertEqual(self.exchange.markets[1].mark, 1001000)
        while self.exchange.work.is_busy() and not self.effects(2114):
            self.tick()
        self.assertEqual([row[1] for row in self.effects(2114)], [1001000])
        self.assertEqual(self.told(), [(1000, wire.FILLED, "none", 1),
                                       (1000, wire.FILLED, "none", STOP_MARKET)])
        self.assertEqual(self.exchange.portfolios[1, 0, 0].conditionals, {})

    def test_rejected(self):
        # reduce-only without a position is asked when it fires (row 24)
        self.conditional(1, STOP_MARKET, 1000500, 1000, reduce_only=1)
        self.oracle(1001000)
        while self.exchange.work.is_busy() and not self.effects(2114):
            self.tick()
        self.assertEqual(self.told(), [(0, wire.REJECTED, "invalid_reduce_only_order",
                                        STOP_MARKET)])

    def test_group(self):
        group = b"g" * 16
        self.conditional(1, TAKE_PROFIT, 990000, 1000, price=989000, tif=2, group=group)
        self.conditional(1, STOP_LIMIT, 1001000, 1000, price=995000, tif=2, group=group)
        self.conditional(2, STOP_LIMIT, 1009000, 1000, price=995000, tif=2, group=group)
        self.oracle(1001000)
        while self.exchange.work.is_busy() and not self.effects(2114):
            self.tick()
        # 1's other order dies before the stop rests; 2's group is another one
        self.assertEqual(self.told(), [(0, wire.CANCELED, "oco", TAKE_PROFIT),
                                       (0, wire.OPEN, "none", STOP_LIMIT)])
        self.assertEqual(len(self.exchange.portfolios[2, 0, 0].conditionals), 1)

    def test_last(self):
        # the trade at 1,000,500 satisfies both by the last price, in order of placing
        self.conditional(1, STOP_LIMIT, 1000500, 1000, price=995000, tif=2, source=LAST)
        self.conditional(2, TAKE_PROFIT, 1000500, -1000, price=1009000, tif=2, source=LAST)
        first = self.exchange.orders
        self.place(3, 1000500, -1000)
        self.place(4, 1000500, 1000)
        self.assertEqual(len(self.effects(2114)), 2)
        self.assertEqual([row[3] for row in self.effects(2101)[2:]], [995000, 1009000])
        self.assertEqual(len(first), 2)

    def test_slices(self):
        # 1's stop meets three makers: with the order itself four units, in one step of two
        for price in (1000501, 1000502, 1000503):
            self.place(3, price, -1000)
        self.conditional(1, STOP_MARKET, 1000500, 3000, source=LAST)
        self.conditional(2, STOP_LIMIT, 1000500, 1000, price=995000, tif=2, source=LAST)
        self.place(3, 1000500, -1000)
        self.place(4, 1000500, 1000)
        self.assertEqual(len(self.effects(2114)), 1)
        self.assertEqual(len(self.effects(2108)), 4)
        self.tick()
        self.assertEqual(len(self.effects(2114)), 1)

    def test_states(self):
        # CANCEL_ONLY while it is queued: it waits armed, and the next mark takes it up
        self.conditional(1, STOP_LIMIT, 1000500, 1000, price=995000, tif=2)
        self.exchange.units = 1  # the scan has no unit, the trigger is next
        self.exchange.markets[1].state = wire.CANCEL_ONLY
        self.oracle(1001000)
        self.assertFalse(self.exchange.work.is_busy() and self.effects(2114))
        self.exchange.markets[1].state = wire.ACTIVE
        self.oracle(1001000)
        while self.exchange.work.is_busy() and not self.effects(2114):
            self.tick()
        self.assertEqual(len(self.effects(2114)), 1)

    def test_expiry(self):
        self.conditional(1, STOP_MARKET, 1000500, 1000, expiry=self.stream.clock + 5000000)
        self.stream.clock += 5000000
        self.tick()
        self.assertEqual(self.told(), [(0, wire.EXPIRED, "none", STOP_MARKET)])
        self.assertEqual(len(self.effects(2115)), 1)

    def test_position_gone(self):
        # a bracket of a position dies with it
        self.place(3, 1000000, -1000)
        self.place(1, 1000000, 1000)
        self.conditional(1, STOP_MARKET, 990000, -1000, reduce_only=1)
        self.conditional(1, STOP_MARKET, 980000, -1000)
        self.place(3, 1000000, 1000)
        self.place(1, 1000000, -1000)
        self.assertIn((0, wire.CANCELED, "reduce_only", STOP_MARKET), self.told())
        self.assertEqual(len(self.exchange.portfolios[1, 0, 0].conditionals), 1)


class Going(Bench):
    def test_its_portfolio_stays(self):
        """R10: an order that fired and goes on has not ended."""
        portfolio = self.exchange.portfolios[1, 0, 0]
        portfolio.cash = 0
        hierarchy, conditionals = self.exchange.hierarchy, self.exchange.conditionals
        with mock.patch.object(hierarchy, "portfolio_of_key", lambda *_: portfolio):
            conditionals.going = SimpleNamespace(owner=portfolio)
            body = wire.PORTFOLIO_BODY.pack(bytes(16), *portfolio.id())
            self.assertEqual(hierarchy.close_portfolio(body),
                             ("order_rejected_invalid", "portfolio_not_empty"))
            conditionals.going = None
            self.assertEqual(hierarchy.close_portfolio(body), ("request_completed", None))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
