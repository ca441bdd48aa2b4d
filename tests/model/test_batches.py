#!/usr/bin/env python3
"""test_batches.py BUILD - batches, the dead-man, makers' protection, disconnect and the operator's
cancel in the model against values worked out by hand; planted faults that must be found."""
import sys
import unittest

import batches
import conditionals
import model
import protection
import streams
import test_conditionals
import test_model
import wire
from wire import (ALL16, ALL32, BATCH, GTC, OPERATOR_CANCEL, RESET_MMP, SCHEDULE_CANCEL, SET_MMP,
                  STOP_MARKET)

SECOND = 10**9
PLACE, REDUCE, REPLACE, CANCEL = range(4)
DONE, NOT_FOUND = "request_completed", "rejected_order_not_found"


class Batches(test_conditionals.Bench):
    """R11 note Batch; the mark is 1,000,000, everybody has 1,000,000 USDC at 20x"""

    def item(self, op, price=0, quantity=0, order_id=None, post_only=0, expected=0):
        if order_id is None:
            self.stream.id_count += 1
            order_id = wire.uuid7(self.stream.clock // 10**6, 2**60 + self.stream.id_count)
        return wire.BATCH_ITEM.pack(op, post_only, 0, 0, 1, 0, price, quantity, GTC, order_id,
                                    expected, 0)

    def batch(self, account, atomic, *items):
        body = wire.BATCH_HEAD.pack(account, 0, 0, len(items), atomic, bytes(5)) + b"".join(items)
        return wire.STATUSES[self.send(BATCH, body, self.stream.fresh[account])]

    def results(self):
        """Status of each item, in the order of the 2100s; then that of the batch."""
        return [(wire.STATUSES[row[2]], row[4]) for row in self.effects(2100)]

    def test_one_by_one(self):
        # the second item crosses the first of its own account: EXPIRE_TAKER, no fill
        status = self.batch(1, 0, self.item(PLACE, 1000000, 1000),
                            self.item(PLACE, 999000, -500), self.item(PLACE, 0, 500),
                            self.item(CANCEL, order_id=wire.uuid7(1, 1)))
        self.assertEqual(status, DONE)
        self.assertEqual(self.results(), [(DONE, 0), ("self_trade_prevention", 1),
                                          ("rejected_invalid_price", 2), (NOT_FOUND, 3),
                                          (DONE, 255)])
        self.assertEqual(len(self.exchange.orders), 1)

    def test_atomic_overlay(self):
        # its own ask at 1,000,500 goes, so a post-only bid may stand there
        self.place(1, 1000500, -1000)
        order = self.id
        bid = self.item(PLACE, 1000500, 1000, post_only=1)
        self.assertEqual(self.batch(1, 1, bid, self.item(CANCEL, order_id=order)), DONE)
        self.assertEqual([row[4] for row in self.effects(2101)], [wire.CANCELED, wire.OPEN])

    def test_atomic_aborts(self):
        self.place(1, 990000, 1000)
        order = self.id
        self.place(2, 1000500, -1000)
        status = self.batch(1, 1, self.item(REDUCE, quantity=400, order_id=order),
                            self.item(PLACE, 1000500, 1000, post_only=1),
                            self.item(PLACE, 980000, 1000))
        self.assertEqual(status, "rejected_post_only_would_cross_book")
        self.assertEqual(self.results(), [
            (DONE, 0), (status, 1), ("order_rejected_invalid", 2), (status, 255)])
        self.assertEqual(self.exchange.orders[1, order].remaining, 1000)
        self.assertEqual(self.effects(2101), [])

    def test_atomic_margin_once(self):
        # 1,000,000 USDC bear 20,000,000 at 20x: each of two bids of 12,000,000 alone, not both;
        # but 12 of a bid go with another of 12 that is canceled
        both = (self.item(PLACE, 1000000, 12000000, post_only=1),
                self.item(PLACE, 1000000, 12000000, post_only=1))
        self.assertEqual(self.batch(1, 1, *both), "insufficient_margin_to_place")
        self.assertEqual(self.results()[:2], [(DONE, 0), (DONE, 1)])
        self.place(1, 1000000, 12000000)
        self.assertEqual(self.batch(1, 1, self.item(PLACE, 1000000, 12000000, post_only=1),
                                    self.item(CANCEL, order_id=self.id)), DONE)
        self.assertEqual(self.exchange.portfolios[1, 0, 0].risk()[1], 600000 * 10**6)

    def test_ids(self):
        one = self.item(PLACE, 990000, 1000)
        self.batch(1, 0, one, one)
        self.assertEqual(self.results()[:2], [(DONE, 0), ("duplicate_request_id", 1)])
        self.batch(1, 0, one)
        self.assertEqual(self.results()[0], ("duplicate_request_id", 0))


class Protection(test_conditionals.Bench):
    """R10"""

    def schedule(self, account, ahead):
        return self.order(SCHEDULE_CANCEL, account, self.stream.clock + 10**6 + ahead)

    def test_dead_man(self):
        self.assertEqual(self.schedule(1, SECOND - 1), "order_rejected_invalid")
        self.assertEqual(self.schedule(1, 86400 * SECOND + 1), "order_rejected_invalid")
        self.place(1, 990000, 1000)
        self.conditional(1, STOP_MARKET, 1010000, 1000)
        self.conditional(1, STOP_MARKET, 1010000, 1000, reduce_only=1)
        self.assertEqual(self.schedule(1, SECOND), DONE)
        self.stream.clock += SECOND
        self.tick()
        while self.exchange.work.is_busy() and len(self.effects(2115)) == 0:
            self.tick()
        self.assertEqual([row[3] for row in self.effects(2115)], [1])
        while self.exchange.work.is_busy():
            self.tick()
        owner = self.exchange.portfolios[1, 0, 0]
        self.assertEqual((owner.order_count, [one.reduce_only for one in owner.conditionals]),
                         (0, [1]))

    def test_what_is_entered_behind_lives(self):
        self.schedule(1, SECOND)
        self.place(1, 990000, 1000)
        self.stream.clock += SECOND
        self.place(1, 980000, 1000)
        while self.exchange.work.is_busy():
            self.tick()
        self.assertEqual([order.price for order in self.exchange.orders.values()], [980000])
        self.stream.clock += SECOND
        self.assertEqual(self.conditional(1, STOP_MARKET, 1010000, 1000), DONE)
        self.assertEqual(len(self.exchange.portfolios[1, 0, 0].conditionals), 1)

    def mmp(self, account, window_ms, frozen_ms, most, most_net):
        return self.order(SET_MMP, account, 1, 0, window_ms, frozen_ms, 0, most, most_net)

    def test_mmp(self):
        self.assertEqual(self.mmp(1, 0, 5, 100, 0), "order_rejected_invalid")
        self.assertEqual(self.mmp(1, 100, 5, 0, 0), "order_rejected_invalid")
        self.assertEqual(self.mmp(1, 1000, 50, 3000, 0), DONE)
        self.place(1, 990000, 1500, post_only=1)
        self.place(1, 1010000, -5000, post_only=1)
        self.place(1, 980000, 100)
        self.place(2, 990000, -1500)
        self.assertEqual(self.effects(2116), [])
        self.place(2, 1010000, 1489)
        self.assertEqual(self.effects(2116), [])
        self.place(2, 1010000, 11)  # 3,000 in the window
        self.assertEqual([row[3] for row in self.effects(2116)], [self.exchange.t + 50 * 10**6])
        self.assertIn((3500, 1500, wire.CANCELED, "mmp"), self.states())
        self.assertEqual(self.place(1, 970000, 100, post_only=1), "order_rejected_invalid")
        self.assertEqual(wire.reason_name(self.exchange.reason), "mmp_frozen")
        self.assertEqual(self.place(1, 970000, 100), DONE)
        self.stream.clock += 50 * 10**6
        self.assertEqual(self.place(1, 960000, 100, post_only=1), DONE)

    def test_mmp_window(self):
        # steps of 10 ms: a fill counts in its own step and the 63 behind it
        self.mmp(1, 640, 0, 2000, 0)
        self.place(1, 990000, 3000, post_only=1)
        self.stream.clock = self.stream.clock // 10**7 * 10**7
        self.place(2, 990000, -1000)
        self.stream.clock += 639 * 10**6 - 10**6  # the last ms of the 63rd step behind
        self.place(2, 990000, -990)
        self.assertEqual(self.effects(2116), [])
        self.stream.clock += 10**6
        self.place(2, 990000, -10)  # the first fill is out
        self.assertEqual(self.effects(2116), [])
        self.order(RESET_MMP, 1, 1, 0, 0)

    def test_operator(self):
        self.place(1, 990000, 1000)
        order = self.id
        for where, status in (((2, 0, 0), NOT_FOUND),
                              ((3000, 0, 0), "rejected_invalid_portfolio_id"),
                              ((1, ALL32, 0), "rejected_invalid_portfolio_id"),
                              ((1, ALL32, ALL32), DONE)):
            body = wire.OPERATOR_CANCEL_BODY.pack(*where, order, 1, 0, 0)
            self.assertEqual(wire.STATUSES[self.send(OPERATOR_CANCEL, body, streams.OPERATOR)],
                             status)
        self.assertEqual(self.states(), [(1000, 0, wire.CANCELED, "operator")])
        self.place(1, 990000, 1000)
        body = wire.OPERATOR_CANCEL_BODY.pack(1, 0, ALL32, bytes(16), ALL16, 0, 0)
        self.send(OPERATOR_CANCEL, body, streams.OPERATOR)
        self.assertEqual(self.states(), [(1000, 0, wire.CANCELED, "operator")])


class Planted(unittest.TestCase):
    """A model with one rule wrong must differ from the engine."""

    run_stream = test_model.Planted.run_stream
    differs = test_model.Planted.differs

    def test_wrong(self):
        self.differs(batches.Batch, "margin_refused", lambda *_: 1, "batches")
        self.differs(batches, "id_count", lambda body: 10**9, "batches")
        self.differs(protection, "STEPS", 6, "protected", 9000)
        self.differs(model, "ARRIVING", (), "protected")  # seqs of private events
        self.differs(protection.Protection, "before_entry", lambda *_: None, "protected", 15000)
        self.differs(protection, "reason_of", lambda lists: lists[max(lists)][1], "protected",
                     60000)
        self.differs(conditionals.Conditionals, "cancel_group", lambda *_: None, "triggers")
        self.differs(conditionals.Conditional, "holds",
                     lambda order, price: price > order.trigger, "triggers")
        self.differs(conditionals.Conditionals, "traded", lambda *_: None, "cascade")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
