#!/usr/bin/env python3
"""test_gang_rules.py BUILD - the gang on the rules: no plan that robs by the former ones
gains anything beyond the allowance of the account book, a short search finds nothing, and the
bystander's bound holds in every command of it, and is seen to be broken when it is."""
import os
import random
import sys
import unittest
from collections import Counter
from unittest import mock

from gang import LEAST, SOURCE, Search
from gang_account_moves import MOVES
from gang_account_robberies import LAWFUL, ROBBERIES as OF_ACCOUNTS
from gang_findings import HOLES
from gang_robberies import ROBBERIES
from gang_moves import play, random_plan, random_storm
from gang_world import BTC, DOGE, FUND, USDC
from portfolio import Holding
import adl
import cash


def robbery(storm, moves, left_out=(), watched=True):
    plan = [[[], []] for _ in storm]
    for event, behind, move in moves:
        if move[0] not in left_out:
            plan[event][behind].append(move)
    return play(SOURCE, storm, plan, 4, watched)


class Rules(unittest.TestCase):
    def test_findings_gain_nothing(self):
        for name, (storm, _, plan, _) in HOLES.items():
            with self.subTest(name):
                world, gain = play(SOURCE, storm, plan, 4, True)
                self.assertLess(gain - world.allowed(), LEAST)
                self.assertEqual(world.bystanders.broken, [])

    def test_robberies_by_hand(self):
        for name, each in {**ROBBERIES, **OF_ACCOUNTS}.items():
            with self.subTest(name):
                world, gain = robbery(*each)
                self.assertLess(gain - world.allowed(), 0)
                self.assertEqual(world.bystanders.broken, [])

    def test_a_short_search(self):
        rng = random.Random(11)
        for _ in range(2):
            search = Search(random_storm(rng), rng)
            for _ in range(150):
                search.step()
            self.assertFalse(search.found(), search.best)


class Accounts(unittest.TestCase):
    """Stops, transfers, withdrawals that come back, protection and the like take nothing."""
    MET = {"fired and accepted": 3, "mmp": 2, "dead-man": 1, "disconnect": 1, "netting": 3,
           "withdrawal reverted": 4, "gap of the clock": 4, "closed by force": 1,
           "closed after its hour": 3, "settled with a loss": 7, "funding skipped behind a gap": 2}

    def gains(self, name):
        """With what an account has beside its orders, and without it."""
        return [robbery(*OF_ACCOUNTS[name], left_out, False)[1] for left_out in ((), MOVES)]

    def test_add_nothing(self):
        counts = Counter()
        for name, each in OF_ACCOUNTS.items():
            world, gain = robbery(*each, (), False)
            counts += world.exchange.counts
            if name not in LAWFUL:
                with self.subTest(name):
                    self.assertLess(gain, robbery(*each, MOVES, False)[1] + USDC)
        self.assertEqual({name: counts[name] for name in self.MET}, self.MET)

    def test_a_broken_one(self):
        """A portfolio under water whose cash counts as free goes on with nothing to lose."""
        with mock.patch.object(cash.Cash, "free", lambda money, portfolio: portfolio.cash):
            more, plain = self.gains("the loser moves his cash away in the gap")
        self.assertGreater(more, plain + 30000 * USDC)

    def test_a_gap_wider_than_the_band(self):
        """The fund owes the winner, who is paid no more than the gang brought in."""
        world, gain = robbery(*OF_ACCOUNTS["a gap wider than the band"])
        self.assertGreater(gain - world.windfall, FUND * USDC)
        self.assertTrue(world.exchange.is_short())
        self.assertLessEqual(world.withdrawn, world.stake)


class AgreedLoss(unittest.TestCase):
    """A loser of a gap in BTC also has a short of DOGE that he sold to a friend 9.8 % below the
    mark; the friend's long has gone on to another one at the mark. R7 (L3) counts a loss from the
    last solvent state, so the honest longs of DOGE, whose price has not moved, give nothing."""
    STORM = ("calm", 1), ("jump", BTC, -80000), ("calm", 1)
    PLAN = [[[("cross", 0, 1, DOGE, 20, -98000), ("hand_over", 1, 3, DOGE, 0, 0),
              ("cross", 2, 0, BTC, 70, 0)], []], [[], []], [[], []]]

    def worth(self, plan):
        """Of an honest long of DOGE at the end."""
        world, _ = play(SOURCE, self.STORM, plan)
        return world.equity(world.exchange.portfolios[6, 0, 0])

    def test_falls_on_nobody_else(self):
        before = self.worth([[[], []]] * len(self.STORM))
        self.assertEqual(self.worth(self.PLAN), before)

    def test_would_by_the_price_of_entry(self):
        before = self.worth([[[], []]] * len(self.STORM))
        with mock.patch.object(Holding, "lost", lambda leg: max(
                0, leg.cost - leg.market.mark * leg.size)):
            self.assertLess(self.worth(self.PLAN), before - 5000 * USDC)


class Bystanders(unittest.TestCase):
    def test_bound(self):
        rng, checked = random.Random(5), 0
        for _ in range(90):
            storm = random_storm(rng)
            world, _ = play(SOURCE, storm, random_plan(rng, storm, 4), 4, True)
            self.assertEqual(world.bystanders.broken, [])
            checked += world.bystanders.checked
        self.assertGreater(checked, 100000)

    def test_a_broken_one(self):
        """A level 3 whose prices know no band takes more than the bound from the other side."""
        storm, _, plan, _ = HOLES["sold_under_water"]

        def far(exchange, legs, equity, maintenance):
            return [leg.market.mark * 2 if leg.size > 0 else 1 for leg in legs]
        with mock.patch.object(adl, "prices_of", far), mock.patch.object(
                adl.Run, "price", lambda run, leg: run.prices[run.at]), mock.patch.object(
                adl, "bearable", lambda leg, holding, price: min(abs(leg.size),
                                                                 abs(holding.size))):
            world, _ = play(SOURCE, storm, plan, 4, True)
        self.assertTrue(world.bystanders.broken)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
