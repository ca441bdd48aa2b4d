"""Robberies thought out by hand with what an account has beside its orders: transfers, withdrawals
that come back, stops, protection, deadlines, closings, and a clock that stands. As those of
gang_robberies.py; and with its moves of gang_account_moves.py none gains more than without them,
but for those of LAWFUL."""
from gang_world import BTC, DOGE
from wire import ACTIVE

# What those moves change by right.
LAWFUL = {
    "the loser moves his free cash away before",  # as if he had brought less
    "stop opens a straddle behind the jump",      # as if he had opened it himself
    "stop flips with reduce-only twins",          # he sells earlier
    "book of bids for L1 hangs up",               # it buys less of what falls on
    "reverted into a portfolio in liquidation",   # it has margin again
}

ROBBERIES = {
    "the winner moves his cash on": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 80, 0)), (1, 1, ("transfer", 2, 3, 100)))),
    "the same in a thin market": (
        (("calm", 1), ("jump", DOGE, -95000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, DOGE, 95, 0)), (1, 1, ("transfer", 2, 3, 100)))),
    "the loser moves his cash away in the gap": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 0, 2, BTC, 80, 0)), (1, 1, ("transfer", 2, 3, 100)))),
    "the loser moves his free cash away before": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 0, 2, BTC, 80, 0)), (0, 0, ("transfer", 2, 3, 100)))),
    "profits moved on between two gaps": (
        (("calm", 1), ("slide", BTC, -3000, 4), ("jump", BTC, -50000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 90, 0)), (1, 1, ("transfer", 2, 3, 100)), (2, 1,
         ("transfer", 2, 3, 100)))),
    "hand the winner's position to a thin one": (
        (("calm", 1), ("jump", DOGE, -95000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, DOGE, 95, 0)), (1, 1, ("hand_over", 2, 1, DOGE, 0, 0)), (1,
         1, ("take", 2)))),
    "hand it on and transfer": (
        (("calm", 1), ("jump", DOGE, -95000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, DOGE, 95, 0)), (1, 1, ("hand_over", 2, 1, DOGE, 0, 0)), (1,
         1, ("transfer", 2, 3, 100)))),
    "stop of the loser against a friend's order": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 80, 0)), (0, 0, ("stop", 0, BTC, -4000000, -10000, 1)),
         (0, 0, ("rest", 2, BTC, 5000000, -50000)))),
    "stop opens a straddle behind the jump": (
        (("calm", 1), ("jump", BTC, -60000), ("jump", BTC, -50000), ("calm", 1)),
        ((0, 0, ("stop", 0, BTC, -3000000, -10000, 0)),
         (0, 0, ("rest", 2, BTC, 3000000, -50000)))),
    "stop flips with reduce-only twins": (
        (("calm", 1), ("slide", BTC, -3000, 6), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 80, 0)), (0, 0, ("stop", 0, BTC, -4000000, -5000, 1)),
         (0, 0, ("stop", 0, BTC, -4000000, -6000, 1)), (0, 0, ("quote", 2, BTC, 100000,
         2000)))),
    "stops push the last price": (
        (("calm", 1), ("leave", BTC), ("calm", 2), ("come", BTC), ("calm", 1)),
        ((1, 0, ("quote", 1, BTC, 100000, 20000)), (1, 0, ("stop", 0, BTC, 100000, 1000,
         0)), (1, 1, ("rest", 2, BTC, 50000, 49000)), (2, 0, ("take_book", 2, BTC,
         50000)))),
    "protected quotes lean and go": (
        (("calm", 1), ("leave", DOGE), ("calm", 2), ("calm", 2), ("come", DOGE), ("calm",
         1)),
        ((0, 0, ("protect", 2, DOGE, 30)), (1, 0, ("quote", 2, DOGE, 30000, 10000)), (1, 1,
         ("rest", 1, DOGE, 30000, 20000)), (2, 0, ("take_book", 0, DOGE, 40)), (3, 0,
         ("cross", 0, 1, DOGE, 50, 0)), (4, 0, ("take_book", 0, DOGE, 100000)))),
    "protected quotes of the winner": (
        (("calm", 1), ("jump", BTC, -80000), ("calm", 1)),
        ((0, 0, ("protect", 2, BTC, 11)), (0, 0, ("quote", 2, BTC, 100000, 100)),
         (0, 0, ("take_book", 1, BTC, 20)), (0, 0,
         ("cross", 2, 0, BTC, 70, 0)))),
    "quotes hang up at the gap": (
        (("calm", 1), ("leave", BTC), ("calm", 2), ("jump", BTC, -80000), ("come", BTC),
         ("calm", 1)),
        ((1, 0, ("quote", 2, BTC, 100000, 5000)), (1, 0, ("cross", 0, 1, BTC, 80, 0)), (3,
         1, ("hang_up", 2)))),
    "book of bids for L1 hangs up": (
        (("calm", 1), ("slide", BTC, -3000, 9), ("calm", 1)),
        ((0, 0, ("cross", 1, 0, BTC, 70, 0)), (0, 0, ("rest", 2, BTC, 100000, -20000)), (1,
         0, ("deadline", 2, 3)))),
    "clock stands over a jump": (
        (("calm", 1), ("stand", 60), ("jump", BTC, -80000), ("confirm", 60), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 70, 0)),)),
    "clock stands over a jump; orders behind": (
        (("calm", 1), ("stand", 60), ("jump", BTC, -60000), ("confirm", 60), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 80, 0)), (0, 0, ("rest", 0, BTC, -100000, 0)), (3, 1,
         ("hand_over", 2, 1, BTC, 0, 0)), (3, 1, ("transfer", 2, 3, 100)), (3, 1, ("take",
         1)))),
    "clock goes back": (
        (("calm", 1), ("stand", -60), ("jump", BTC, -60000), ("confirm", -60), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 80, 0)), (3, 1, ("close", 2, BTC)))),
    "hour of funding in a gap": (
        (("calm", 1), ("pass_time", 3590, 100), ("stand", 7200), ("confirm", 7200), ("calm",
         1)),
        ((0, 0, ("quote", 1, BTC, 100000, 9000)), (1, 1, ("cross", 2, 0, BTC, 60, 0)))),
    "withdrawal under way, reverted behind the loss": (
        (("calm", 1), ("jump", BTC, -80000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 50, 0)), (0, 0, ("take", 0)), (1, 1, ("take_back",
         0)))),
    "reverted into a portfolio in liquidation": (
        (("calm", 1), ("slide", BTC, -3000, 8), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 60, 0)), (0, 0, ("take", 0)), (1, 0, ("take_back",
         0)))),
    "the winner's withdrawal comes back twice": (
        (("calm", 1), ("jump", BTC, -80000), ("calm", 1), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 50, 0)), (0, 0, ("take", 2)), (1, 1, ("take_back", 2)),
         (2, 0, ("take", 2)), (2, 1, ("take_back", 2)), (3, 0, ("take", 2)))),
    "pays in to be solvent again in the gap": (
        (("calm", 1), ("jump", BTC, -30000), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 80, 0)), (1, 1, ("pay_in", 0, 1000)))),
    "pays in and out across the classes of accounts": (
        (("calm", 1), ("slide", BTC, -3000, 4), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 50, 0)), (0, 1, ("pay_in", 1, 1000)), (0, 1, ("take",
         1)), (1, 0, ("pay_in", 1, 5)), (1, 1, ("take", 1)), (2, 0, ("pay_in", 1, 2000)),
         (2, 1, ("take", 1)))),
    "both sides of a closing market": (
        (("calm", 1), ("announce", BTC), ("pass_time", 1800, 60), ("slide", BTC, -5000, 6),
         ("pass_time", 1800, 60), ("shut", BTC, 0), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 60, 0)),)),
    "closing, jump in its last minute": (
        (("calm", 1), ("announce", BTC), ("pass_time", 3590, 60), ("jump", BTC, -80000),
         ("pass_time", 20, 5), ("shut", BTC, 0), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 80, 0)),)),
    "closed by force behind the gap": (
        (("calm", 1), ("jump", BTC, -80000), ("shut", BTC, 1), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 70, 0)), (1, 1, ("wait", 0)))),
    "closing called off": (
        (("calm", 1), ("announce", BTC), ("pass_time", 2700, 60), ("slide", BTC, -5000, 4),
         ("halt", BTC, ACTIVE), ("calm", 1)),
        ((0, 0, ("cross", 2, 0, BTC, 70, 0)), (3, 1, ("close", 2, BTC)))),
    "index against mark while closing": (
        (("calm", 1), ("announce", BTC), ("pass_time", 1790, 30), ("slide", BTC, -8000, 4),
         ("pass_time", 1810, 30), ("shut", BTC, 0), ("calm", 1)),
        ((0, 0, ("cross", 0, 2, BTC, 30, 0)), (3, 1, ("cross", 0, 1, BTC, 30, -40000)), (4,
         0, ("hand_over", 0, 2, BTC, 0, 0)))),
    "a sister moves her profit away before netting": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 0, 2, BTC, 80, 0)), (0, 0, ("cross", 3, 1, BTC, 80, 0)), (1, 1,
         ("transfer", 3, 2, 100)))),
    "a sister hands over before netting": (
        (("calm", 1), ("jump", BTC, -60000), ("calm", 1)),
        ((0, 0, ("cross", 0, 2, BTC, 80, 0)), (0, 0, ("cross", 3, 1, BTC, 80, 0)), (1, 1,
         ("hand_over", 3, 0, BTC, 0, 0)))),
    "the same netting in a thin market": (
        (("calm", 1), ("jump", DOGE, -95000), ("calm", 1)),
        ((0, 0, ("cross", 0, 2, DOGE, 95, 0)), (0, 0, ("cross", 3, 1, DOGE, 95, 0)), (1, 1,
         ("transfer", 3, 2, 100)))),
    "a gap wider than the band": (
        (("calm", 1), ("leave", BTC), ("slide", BTC, 4004, 4), ("jump", BTC, 88828),
         ("jump", BTC, 72562)),
        ((3, 0, ("cross", 0, 1, BTC, 95, 0)),)),
}
