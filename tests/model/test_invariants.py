#!/usr/bin/env python3
"""test_invariants.py BUILD - the invariants of the rules in random streams on their model."""
import os
import sys
import unittest
from collections import Counter

from model import Exchange
import streams
from gang import SOURCE
from wire import IN_LIQUIDATION


class Invariants(unittest.TestCase):
    """The sums of positions and of cash, books that do not cross, dust, what is owed only in
    liquidation, and profits that wait while the exchange is short. Most of the regimes are those of
    risk."""
    regimes = ("slices", "backstop", "deleverage", "deficit", "closing", "hours", "fast", "broke",
               "states", "cash")

    def sums(self, exchange):
        """Both sides of I2, less each other."""
        money = exchange.money
        held = sum(portfolio.cash - sum(holding.cost for holding in portfolio.holdings.values())
                   for portfolio in exchange.by_number)
        pools = sum(market.funding_pool for market in exchange.markets.values())
        given = money.deposited + money.faucet + money.top_ups - money.settled
        return held + exchange.fee_account + money.pending + pools - given

    def check_dust(self, exchange, market):
        """Below min_notional is at most the first order of a level (reduce-only ones aside)."""
        for side in (market.bids, market.asks):
            for level in side.all():
                dust = [at for at, order in enumerate(level.orders) if not order.reduce_only
                        and order.remaining * level.price < market.min_notional]
                self.assertIn(dust, ([], [0]))
                exchange.counts["dust"] += len(dust)

    def check(self, exchange):
        self.assertEqual(self.sums(exchange), 0)
        for asset, market in exchange.markets.items():
            sizes = sum(portfolio.holdings[asset].size for portfolio in exchange.by_number
                        if asset in portfolio.holdings)
            if not market.settling:  # its positions leave one by one
                self.assertEqual(sizes, 0)
            if market.bids.keys and market.asks.keys:
                self.assertLess(market.bids.best(), market.asks.best())
            self.check_dust(exchange, market)
        for portfolio in exchange.by_number:
            if portfolio.status != IN_LIQUIDATION:
                self.assertEqual(portfolio.owed, 0)

    def test_streams(self):
        counts = Counter()
        for regime in self.regimes:
            exchange, stream = Exchange(), streams.Stream(regime, 3, SOURCE, 2500)
            setup = stream.setup()
            for number in range(2500):
                exchange.apply(*(next(setup, None) or stream.next(exchange)))
                if number % 10 == 0:
                    self.check(exchange)
            counts += exchange.counts
        for name in ("gap", "hold", "L1", "L3", "ADL", "row 10 gap", "dust"):
            self.assertGreater(counts[name], 0, name)

    def test_profits_wait(self):
        """While the exchange is short nobody takes out more than he has brought. No stream makes it
        short and withdraws: from the end of the setup on it is taken to be short, and all that the
        accounts hold to be a profit."""
        falls = 0
        for seed in (1, 2, 3):
            exchange, stream = Exchange(), streams.Stream("cash", seed, SOURCE, 2500)
            for command in stream.setup():
                exchange.apply(*command)
            exchange.is_short = lambda: True
            for account in exchange.money.net:
                exchange.money.net[account] = 0
            before = {}
            for _ in range(2500):
                exchange.apply(*stream.next(exchange))
                for account, net in exchange.money.net.items():
                    self.assertGreaterEqual(net, 0)
                    falls += net < before.get(account, net)
                before = dict(exchange.money.net)
        self.assertGreater(falls, 10)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
