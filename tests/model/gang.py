#!/usr/bin/env python3
"""gang.py [--former] [--seconds S] [--seed N] [--hole NAME] - an economic fuzzer: two
to four accounts that act together search for sequences of commands that take other people's money.

The world (gang_world.py) has honest makers and holders, an oracle with jumps and faults, and an
operator. A storm is what happens to it; a plan is what the gang does. Plans are drawn at random and
improved by hill climbing. The objective is what the gang has at the end beyond its stake, at true
prices, less what its trades explain: the moves of what it held, and the distance of its fills from
the true price where the other side agreed to the price or was liquidated with reason.

Each finding is printed with storm, plan and gain, so that it can be played again. Exit 1 when one
is found in random storms, or when the rules let a bystander lose more than their bound.
--hole NAME or --hole all searches what the holes are that gang_findings.py names, each from its
storm. --table N says what N storms do to the honest without a gang, --no-faults leaves the faults
of the oracle out. The rules are those of the engine, with --former the frozen ones of former/."""
import argparse
import os
import random
import sys
import time

if "--former" in sys.argv:
    os.environ["PERPD_RULES"] = "former"
# pylint: disable=wrong-import-position
from rule_book import IS_FORMER
from gang_findings import HOLES
from gang_moves import mutated, play, random_plan, random_storm
from gang_world import USDC

SOURCE = os.environ.get("PERPD_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAST = 1000 * USDC  # a gain that counts

class Search:
    """Hill climbing over the plans of one storm, with a new start where it is stuck."""

    def __init__(self, storm, rng, members=4, seen=None):
        self.storm, self.rng, self.members = storm, rng, members
        self.above = seen is None  # only what is above the world's allowance counts
        self.watched = self.above and not IS_FORMER
        self.seen = seen or (lambda tags: True)
        self.best = None     # ((seen, gain), plan) ever
        self.at = None       # of this climb
        self.stuck = self.plays = 0

    def step(self):
        plan = (random_plan(self.rng, self.storm, self.members) if self.at is None
                else mutated(self.rng, self.at[1], self.members))
        watched = self.watched and self.plays % 8 == 0
        world, gain = play(SOURCE, self.storm, plan, self.members, watched)
        if watched and world.bystanders.broken:
            print("bystanders", self.storm, plan, world.bystanders.broken[:3], flush=True)
            raise SystemExit(1)
        self.plays += 1
        found = (self.seen(world.tags), gain - (world.allowed() if self.above else 0)), plan
        self.stuck += 1
        if self.at is None or found[0] > self.at[0]:
            self.at, self.stuck = found, 0
        if self.best is None or found[0] > self.best[0]:
            self.best = found
        if self.stuck > 60:
            self.at, self.stuck = None, 0

    def found(self):
        return self.best is not None and self.best[0][0] and self.best[0][1] >= LEAST


def reduced(storm, plan, members, keeps):
    """The plan without every move that it does not need to keep half of its gain."""
    for slots in plan:
        for moves in slots:
            at = 0
            while at < len(moves):
                left = moves.pop(at)
                if not keeps(*play(SOURCE, storm, plan, members)):
                    moves.insert(at, left)
                    at += 1
    return plan


def hole(name, seed, plays):
    """Searches one hole; gives (plays, gain, plan), gain None when it is not found."""
    storm, seen = HOLES[name][:2]
    search = Search(storm, random.Random(f"{name} {seed}"), 4, seen)
    while search.plays < plays and not search.found():
        search.step()
    if not search.found():
        return search.plays, None, None
    floor = search.best[0][1] // 2
    plan = reduced(storm, search.best[1], 4,
                   lambda world, gain: seen(world.tags) and gain >= floor)
    return search.plays, play(SOURCE, storm, plan)[1], plan


def storms(seconds, seed):
    """Random storms until the CPU time is spent; gives the findings."""
    rng, found, plays, end = random.Random(seed), [], 0, time.process_time() + seconds
    while time.process_time() < end:
        search = Search(random_storm(rng), rng, rng.choice((2, 3, 4)))
        for _ in range(150):
            search.step()
        plays += search.plays
        if search.found():
            found.append((search.best[0][1], search.storm, search.best[1], search.members))
            show(search.best[0][1], search.storm, search.best[1])
    return plays, found


def show(gain, storm, plan):
    print(f"gain {gain / USDC:,.2f} USDC\n  storm {storm}\n  plan  {plan}", flush=True)


def search_hole(name, arguments):
    """True when it is found; the storms take 150 to 200 plays a second."""
    plays, gain, plan = hole(name, arguments.seed, int(150 * arguments.seconds))
    print(f"{name}: {plays} plays{'' if plan else ', not found'}")
    if plan:
        show(gain, HOLES[name][0], plan)
    return plan is not None


def table(number, seed, calm):
    """What the storms alone do to honest holders: the gang stays away."""
    rng, lows, losses, begun, spent, needless = random.Random(seed), [], [], 0, 0, 0
    for _ in range(number):
        storm = random_storm(rng)
        if calm:  # without the faults of the oracle
            storm = tuple(event for event in storm if event[0] != "fault")
        world, _ = play(SOURCE, storm, [[[], []]] * len(storm), 2)
        lows.append(world.fund_low)
        losses.append(world.adl_loss)
        begun += world.exchange.counts["liquidation begins"]
        needless += world.needless
        spent += world.exchange.counts["L3 paid by the fund"]
    print(f"{number} storms: fund's lowest {min(lows) / USDC:,.0f} USDC, below 0 in "
          f"{sum(low < 0 for low in lows)}; paid by the fund {spent} times; losses by ADL beside "
          f"the mark {sum(losses) / USDC:,.0f} USDC, at most {max(losses) / USDC:,.0f} in one; "
          f"portfolios liquidated {begun}, {needless} of them sound at true prices")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--former", action="store_true")
    parser.add_argument("--table", type=int, metavar="STORMS")
    parser.add_argument("--no-faults", action="store_true")
    parser.add_argument("--hole", choices=(*HOLES, "all"))
    arguments = parser.parse_args()
    if arguments.hole:
        return 0 if all([search_hole(name, arguments) for name in
                         (HOLES if arguments.hole == "all" else [arguments.hole])]) else 1
    if arguments.table:
        table(arguments.table, arguments.seed, arguments.no_faults)
        return 0
    plays, found = storms(arguments.seconds, arguments.seed)
    print(f"{plays} plays, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
