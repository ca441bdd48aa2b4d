"""Robberies thought out by hand against the rules, to be played by test_gang_rules.py: of each the
storm, and what the gang does: (event, 0 before it or 1 behind it, move). None may gain above the
allowance of the account book."""
from gang_world import BTC, DOGE
from wire import ACTIVE, CANCEL_ONLY, HALTED

ROBBERIES = {
    "loss moved by agreement, short": (
        (("calm", 1), ("jump", BTC, 80000), ("calm", 1)),
        ((0, 0, ("cross", 1, 0, DOGE, 20, 98000)), (0, 0, ("hand_over", 1, 3, DOGE, 0, 0)), (0,
         0, ("cross", 0, 2, BTC, 70, 0)))),
    "loss moved, oracle of the leg silent": (
        (("calm", 1), ("silence", DOGE), ("jump", BTC, -80000), ("calm", 1)),
        ((0, 0, ("cross", 0, 1, DOGE, 20, -98000)), (0, 0, ("hand_over", 1, 3, DOGE, 0, 0)), (0,
         0, ("cross", 2, 0, BTC, 70, 0)))),
    "loss moved, leg halted at the gap": (
        (("calm", 1), ("halt", DOGE, HALTED), ("jump", BTC, -80000), ("halt", DOGE, ACTIVE)),
        ((0, 0, ("cross", 0, 1, DOGE, 20, -98000)), (0, 0, ("hand_over", 1, 3, DOGE, 0, 0)), (0,
         0, ("cross", 2, 0, BTC, 70, 0)))),
    "gap market halted, other leg pays": (
        (("calm", 1), ("jump", BTC, -80000), ("halt", BTC, HALTED), ("calm", 1), ("halt", BTC,
         ACTIVE)),
        ((0, 0, ("cross", 0, 1, DOGE, 20, -98000)), (0, 0, ("hand_over", 1, 3, DOGE, 0, 0)), (0,
         0, ("cross", 2, 0, BTC, 70, 0)))),
    "agreed loss in two steps around the gap": (
        (("calm", 1), ("jump", BTC, -50000), ("jump", BTC, -50000), ("calm", 1)),
        ((0, 0, ("cross", 0, 1, DOGE, 10, -98000)), (0, 0, ("cross", 2, 0, BTC, 50, 0)), (1, 1,
         ("cross", 0, 1, DOGE, 10, -98000)))),
    "agreed loss while in the gap": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 80, 0)), (1, 1, ("cross", 0, 1, DOGE, 20, -98000)))),
    "winner withdraws at once": (
        (("calm", 1), ("jump", BTC, -80000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 95, 0)), (1, 1, ("close", 2, BTC)), (1, 1, ("take", 2)))),
    "loser hands over in the gap": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 80, 0)), (1, 1, ("hand_over", 0, 2, BTC, 0, 0)), (1, 1,
         ("take", 2)))),
    "two portfolios of one account": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 2, 3, BTC, 80, 0)),)),
    "same account, dust kept": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 2, 3, BTC, 80, 0)), (1, 1, ("hand_over", 3, 2, BTC, 11, 0)))),
    "rest bids for the forced sale": (
        (("calm", 1), ("slide", BTC, -3000, 9), ("calm", 1)),
        ((0, 0, ("cross", 1, 0, BTC, 50, 0)), (0, 0, ("rest", 2, BTC, 100000, -20000)))),
    "frame with thin book": (
        (("calm", 1), ("leave", DOGE), ("calm", 2), ("calm", 2), ("come", DOGE)),
        ((0, 0, ("frame", 3, 1, DOGE, 0, 20000000)), (1, 0, ("rest", 2, DOGE, 100000, 49000)),
         (4, 0, ("rest", 1, DOGE, -100000, 0)))),
    "lean both sides without makers": (
        (("calm", 1), ("leave", BTC), ("calm", 2), ("calm", 2), ("come", BTC)),
        ((1, 1, ("rest", 0, BTC, 100000, -20000)), (1, 1, ("rest", 1, BTC, -100000, -5000)), (1,
         1, ("take_book", 2, BTC, -20000)))),
    "shield by a halted leg": (
        (("calm", 1), ("halt", DOGE, HALTED), ("slide", BTC, -9000, 10), ("halt", DOGE,
         ACTIVE)),
        ((0, 0, ("cross", 0, 1, BTC, 90, 0)), (0, 0, ("take_book", 1, DOGE, 15)))),
    "shield by a market that takes cancels": (
        (("calm", 1), ("halt", BTC, CANCEL_ONLY), ("slide", BTC, -9000, 10), ("halt", BTC,
         ACTIVE)),
        ((0, 0, ("cross", 0, 1, BTC, 90, 0)),)),
    "fault up then down": (
        (("calm", 1), ("fault", BTC, 10, 3), ("jump", BTC, -50000), ("calm", 1)),
        ((0, 0, ("cross", 0, 1, BTC, 90, 0)), (1, 1, ("rest", 2, BTC, 100000, 0)))),
    "voice behind silence": (
        (("calm", 1), ("silence", BTC), ("jump", BTC, -90000), ("voice", BTC), ("calm", 1)),
        ((0, 0, ("cross", 0, 1, BTC, 50, 0)), (2, 1, ("close", 1, BTC)), (2, 1, ("hand_over", 1,
         2, BTC, 0, 0)))),
    "withdraw profit against a stale market": (
        (("calm", 1), ("silence", DOGE), ("jump", BTC, 60000), ("calm", 1)),
        ((0, 0, ("take_book", 0, DOGE, 100000)), (0, 0, ("cross", 1, 0, BTC, 50, 0)), (2, 1,
         ("take", 0)))),
    "far bids that pay": (
        (("calm", 1), ("jump", BTC, -40000), ("calm", 1)),
        ((0, 0, ("rest", 0, BTC, -100000, 2000000)), (0, 0, ("rest", 0, BTC, 100000, 99000)),
         (0, 0, ("cross", 1, 0, BTC, 50, 99000)))),
    "sell maintenance margin": (
        (("calm", 1), ("slide", BTC, -3000, 6), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 90, 0)), (1, 1, ("hand_over", 0, 1, BTC, 0, -100000)))),
    "sell equity below the mark before the gap": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 80, 0)), (0, 0, ("hand_over", 0, 1, BTC, 0, -20000)))),
    "round trips off the mark, then a gap": (
        (("calm", 1), ("calm", 1), ("jump", BTC, -60000)),
        ((0, 0, ("cross", 0, 1, BTC, 50, 99000)), (0, 0, ("cross", 1, 0, BTC, 50, -49000)), (1,
         0, ("cross", 1, 0, DOGE, 50, 99000)))),
    "fund sells to a waiting bid": (
        (("calm", 1), ("slide", DOGE, -9000, 4), ("calm", 1), ("calm", 1)),
        ((0, 0, ("cross", 1, 0, DOGE, 90, 0)), (0, 0, ("rest", 2, DOGE, 100000, -5000)))),
    "three legs of agreed losses": (
        (("calm", 1), ("jump", BTC, -90000), ("calm", 1)),
        ((0, 0, ("cross", 0, 1, DOGE, 5, -98000)), (0, 0, ("cross", 0, 1, DOGE, 5, -98000)), (0,
         0, ("cross", 0, 3, DOGE, 5, -98000)), (0, 0, ("cross", 2, 0, BTC, 70, 0)))),
}
