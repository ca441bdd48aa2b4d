#!/usr/bin/env python3
"""test_clauses.py BUILD - each clause that keeps a gang out, taken out of the model: the model must
then differ from the engine. So a comparison that finds nothing has met these clauses."""
import sys
import unittest

import adl
import cash
import deferred
import forced
import liquidation
import market
import portfolio
import reducing
import rows
import settlement
import test_model
import walk


class Planted(unittest.TestCase):
    """A model without one clause must differ from the engine."""

    run_stream = test_model.Planted.run_stream
    differs = test_model.Planted.differs

    def test_wrong_margin(self):
        self.differs(deferred.Work, "end_gaps", lambda _: None, "slices")
        self.differs(market.Market, "stress", lambda *_: 0, "states")
        self.differs(market.Market, "won_in_gap", lambda *_: 0, "slices")
        self.differs(portfolio.Holding, "of_account", lambda _, worst: worst, "twins")
        self.differs(walk, "beyond_limits", lambda *_: False, "twins")
        self.differs(rows, "liquidation_refused", lambda *_, **__: "", "slices", seed=2)

    def test_wrong_reduce_only(self):
        self.differs(reducing, "ORDERS", 5, "walls")
        self.differs(reducing, "left", lambda *_: None, "walls")
        self.differs(reducing, "place_in_book", lambda order: order.stamp, "walls")
        self.differs(portfolio.Holding, "excess", lambda *_: 0, "walls")
        self.differs(walk, "excess_behind", lambda walked, holding, size: max(0, holding.reducing(
            -size) - abs(size) + (walked.left if walked.order.reduce_only and walked.rests()
                                  else 0)) if size else 0, "walls", seed=2)

    def test_wrong_prices(self):
        self.differs(market.Market, "reference", lambda market_, _: market_.index, "runs")
        self.differs(market, "REST", 0, "calm")
        self.differs(market, "REST", 10**12, "calm")
        self.differs(market.Market, "closing_mark", lambda market_, _: market_.index, "announced")

    def test_wrong_losses(self):
        self.differs(liquidation, "net", lambda *_: 0, "twins")
        self.differs(adl, "shares_of", lambda legs, *_: [0] * len(legs), "deleverage")
        # from the price of entry
        self.differs(portfolio.Holding, "lost", lambda leg: max(
            0, leg.cost - leg.market.mark * leg.size), "twins")
        self.differs(forced, "chance", lambda *_: 0, "backstop")
        self.differs(cash.Cash, "profit_refused", lambda *_: 0, "owing")
        self.differs(settlement, "shortfall_of", lambda *_: 0, "closing", seed=4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
