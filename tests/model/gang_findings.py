"""What the gang found: the holes that the rule book has. Of each the storm, what must have been
seen in it (World.tags), a plan that gang.py found, and its gain in micro-USDC."""
from gang_world import BTC, DOGE

GAP = ("calm", 1), ("jump", BTC, -60000), ("calm", 1)

HOLES = {
    # A short of 11 USDC is what a bankrupt portfolio has left: it is deleveraged at a price that
    # makes good the whole loss.
    "adl_far": (
        GAP, lambda tags: tags.get("engine fill off mark", 0) > 1,
        [[[("cross", 1, 2, BTC, 95, 0)], [("take_book", 2, DOGE, 11)]],
         [[], [("hand_over", 2, 1, BTC, 0, 0)]], [[], []]], 158549155300),
    # A bid at the mark and an ask at 21 times the mark: the average of the premium has no bound.
    "mark_moved": (
        (("calm", 1), ("leave", DOGE), ("calm", 2), ("calm", 2), ("come", DOGE)),
        lambda tags: tags.get("mark off index", 0) > 0.03,
        [[[("frame", 3, 1, DOGE, 0, 20000000)], []], [[], [("rest", 2, DOGE, 11, 99000)]],
         [[], []], [[], []], [[("rest", 1, DOGE, -100000, 0)], []]], 4485818405),
    # Behind a gap the loser closes against a friend at the mark, before he is liquidated.
    "sold_under_water": (
        GAP, lambda tags: tags.get("sold under water", 0) > 0,
        [[[], []], [[("cross", 1, 0, BTC, 80, 0)], [("hand_over", 0, 2, BTC, 0, 0)]],
         [[], []]], 113992400000),
    # A position in a market whose index is stale: its owner is not liquidated in another one.
    "stale_shield": (
        (("silence", DOGE), ("slide", BTC, -9000, 10), ("calm", 1)),
        lambda tags: tags.get("shielded under water", 0) > 0,
        [[[("cross", 0, 1, BTC, 90, 0), ("take_book", 1, DOGE, 15)], []], [[], []], [[], []]],
        286982007300),
    # A tenth of the price, three times within 3 ms.
    "fault_believed": (
        (("calm", 1), ("fault", BTC, 10, 3), ("calm", 1)),
        lambda tags: tags.get("believed", 0) > 0.1,
        [[[], []], [[("cross", 1, 2, BTC, 80, 5000)], []], [[], []]], 118690591956),
}
