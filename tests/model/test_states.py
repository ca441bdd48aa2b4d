#!/usr/bin/env python3
"""test_states.py BUILD - the states of a market in the model: values worked out by hand, planted
faults that must be found."""
import sys
import unittest

import amend
import deferred
import rows
import states
import streams
import test_model
import wire
from wire import MARKET_STATE, TICK


class States(test_model.Bench):
    """R9, R5 (a hold that the operator ends), codes 1002 and 1008"""

    def state(self, state, by_node=False):
        body = wire.STATE_BODY.pack(1, 0, state, 0, 0)
        if not by_node:
            return wire.STATUSES[self.send(MARKET_STATE, body, streams.OPERATOR)]
        self.stream.clock += 1000000
        return wire.STATUSES[self.exchange.apply(0, MARKET_STATE, body, b"",
                                                 self.stream.clock)[2]]

    def test_row_10(self):
        want = {wire.ACTIVE: ["request_completed"] * 3,
                wire.POST_ONLY: ["rejected_market_post_only", "request_completed",
                                 "rejected_market_post_only"],
                # a reduce-only order gets through to row 24: there is no position
                wire.REDUCE_ONLY: ["rejected_market_reduce_only"] * 2
                                  + ["invalid_reduce_only_order"],
                wire.CANCEL_ONLY: ["rejected_market_cancel_only"] * 3,
                wire.HALTED: ["rejected_market_halted"] * 3}
        want[wire.ACTIVE][2] = "invalid_reduce_only_order"
        for state, statuses in want.items():
            self.state(state)
            self.assertEqual([self.place(1, 990000, 1000), self.place(1, 990000, 1000, post_only=1),
                              self.place(1, 990000, 1000, reduce_only=1)], statuses)
        self.assertEqual(self.state(wire.CLOSED), "order_rejected_invalid")

    def test_list(self):
        # two units a command: 1 has three orders, 2 has one; a unit is also the way out of 1
        for account, price in ((2, 980000), (1, 990000), (1, 990001), (1, 990002)):
            self.place(account, price, 1000)
        self.assertEqual(self.state(wire.REDUCE_ONLY), "request_completed")
        self.assertEqual([row[3] for row in self.effects(2101)], [990000, 990001])
        self.assertEqual({row[3] for row in self.states()}, {"market_state"})
        self.state(wire.REDUCE_ONLY)  # it has that state
        self.assertEqual([row[3] for row in self.effects(2101)], [990002])
        self.exchange.apply(0, TICK, bytes(8), b"", self.stream.clock)
        self.assertEqual([row[3] for row in self.effects(2101)], [980000])

    def test_hold(self):
        # what the hold returns to; meanwhile CANCEL_ONLY or stricter; no price is taken
        first = self.exchange.markets[1]
        self.oracle(1200000)
        self.oracle(1300000)
        self.state(wire.CANCEL_ONLY, by_node=True)
        self.assertEqual((first.is_held, first.index, first.former_state),
                         (True, 1000000, wire.CANCEL_ONLY))
        self.assertEqual(self.effects(2111), [])
        self.state(wire.HALTED)
        self.assertEqual([row[1:3] for row in self.effects(2111)], [(wire.HALTED, 0)])
        self.state(wire.POST_ONLY)
        self.assertEqual((first.is_held, first.index, first.mark, first.state, first.former_state),
                         (True, 1000000, 1000000, wire.CANCEL_ONLY, wire.POST_ONLY))
        self.oracle(1010000)
        self.assertEqual((first.is_held, first.index, first.state),
                         (False, 1010000, wire.POST_ONLY))


class Planted(unittest.TestCase):
    """A model with one rule wrong must differ from the engine."""

    run_stream = test_model.Planted.run_stream
    differs = test_model.Planted.differs

    def test_wrong_states(self):
        self.differs(states, "CAUSE_RESTART", 0, "states", 9000)
        self.differs(rows, "state_refused", lambda order, waits=False: (
            "10 halted" if order.market.state == wire.HALTED else ""), "states")
        self.differs(amend, "joins_list", lambda *_: False, "states", 20000)
        self.differs(deferred.Work, "queue_market_list", lambda *_: None, "states")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
