#!/usr/bin/env python3
"""test_gang.py BUILD - the gang (gang.py): its findings are there with the gain that is written
down, its account book takes honest trade for what it is, and a short search finds a hole."""
import os
import sys
import unittest
from unittest import mock

os.environ["PERPD_RULES"] = "former"
# pylint: disable=wrong-import-position
from gang import LEAST, SOURCE, hole
from gang_findings import HOLES
from gang_moves import play
from gang_world import BTC, DOGE, USDC
import market
import walk


def idle(storm):
    return [[[], []]] * len(storm)


class Findings(unittest.TestCase):
    def test_are_there(self):
        for name, (storm, seen, plan, gain) in HOLES.items():
            with self.subTest(name):
                world, found = play(SOURCE, storm, plan)
                self.assertEqual(found, gain)
                self.assertGreaterEqual(found, LEAST)
                self.assertTrue(seen(world.tags))

    def test_are_the_gang_s(self):
        for name, (storm, _, _, _) in HOLES.items():
            with self.subTest(name):
                self.assertEqual(play(SOURCE, storm, idle(storm))[1], 0)

    def gain_without(self, name, thing, attribute, rule):
        storm, _, plan, _ = HOLES[name]
        with mock.patch.object(thing, attribute, rule):
            return play(SOURCE, storm, plan)[1]

    def test_are_of_their_holes(self):
        """One clause of the rules taken out, and the plan gains nothing."""
        self.assertLess(self.gain_without("fault_believed", market.Market, "release",
                                          lambda market: False), LEAST)
        self.assertLess(self.gain_without(
            "sold_under_water", walk, "reducing_rule",
            lambda before, after: after[0] >= after[1]), HOLES["sold_under_water"][3])
        self.assertLess(self.gain_without("mark_moved", market.Market, "update_ema",
                                          lambda market, makers_max: None), LEAST)


class Book(unittest.TestCase):
    """What is no robbery."""

    def gain(self, storm, plan):
        return play(SOURCE, storm, plan)[1]

    def test_luck(self):
        # 100,000 USDC of BTC from the makers' ask, 0.05 % off; the price rises: fees are the gain
        storm = ("calm", 1), ("jump", BTC, 30000), ("calm", 1)
        gain = self.gain(storm, [[[("take_book", 0, BTC, 100000)], []], [[], []], [[], []]])
        self.assertTrue(-100 * USDC < gain < 0)

    def test_a_trade_within_the_gang(self):
        # far from the mark, and back: only fees are lost
        storm = ("calm", 1), ("calm", 1)
        gain = self.gain(storm, [[[("cross", 0, 1, DOGE, 5, 49000)], []],
                                 [[("cross", 1, 0, DOGE, 5, -49000)], []]])
        self.assertTrue(-1000 * USDC < gain < 0)

    def test_a_robbery(self):
        # a planted one: 1 USDC out of nothing in each second
        storm = (("calm", 1),)
        self.assertEqual(self.gain(storm, idle(storm)), 0)

        def paid(world):
            world.members[0].cash += USDC
        with mock.patch("gang_world.World.quote", paid):
            self.assertGreater(self.gain(storm, idle(storm)), 3 * USDC)


class Search(unittest.TestCase):
    def test_finds(self):
        plays, gain, plan = hole("fault_believed", 1, 400)
        self.assertTrue(plan, plays)
        self.assertGreaterEqual(gain, LEAST)

    def test_finds_a_sequence(self):
        for name, seed in (("sold_under_water", 4), ("stale_shield", 7)):
            with self.subTest(name):
                plays, gain, plan = hole(name, seed, 400)
                self.assertTrue(plan, plays)
                self.assertGreaterEqual(gain, LEAST)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
