"""Regimes in which portfolios break, hours are settled and markets close; `crash`: how often a move
aims at the book, at the backstop, below 0, and just above the maintenance margin."""
from generate_scenes import STAKE
from regimes import CALM, REGIMES

BREAKING = dict(CALM["weights"], place=30, replace=7, pair=30, lever=3, crash=24, heal=2, fund=0.2,
                wait=8, oracle=3, deposit=8, bad=1, session=0.1)
NEVER_STALE = {"exchange.oracle_max_age_ms": "0"}
RISKY = {"streams": 16,  # what breaks in one is broken for long
         "crash": (5, 3, 2, 1), "gap": 0.0, "top_up": (1, 3000), "keep": 1,
         "times": 2,  # as many commands as another regime: liquidations are rare
         "deposit": (500, 20000), "accounts": 10, "spread_ppm": 4000, "move_ppm": 600,
         "weights": BREAKING}

REGIMES.update({
    # Deep books and small moves: most of it is sold there, large positions by fifths.
    "book": dict(RISKY, options=NEVER_STALE, deposit=(5000, 200000), crash=(10, 1, 0, 3), size=4.0,
                 spread_ppm=8000,
                 weights=dict(BREAKING, place=60, wait=25, crash=34)),
    "slices": dict(RISKY, size=3.0, spread_ppm=8000, accounts=14, crash=(8, 3, 2, 1),
                   step_ms=(1, 60), options=dict(NEVER_STALE, **{"engine.work_per_command": "1"}),
                   weights=dict(BREAKING, withdraw=13, settle=3, profit=28)),
    # A fund that can take much, then one that has nothing.
    "backstop": dict(RISKY, options=NEVER_STALE, crash=(1, 8, 2, 1), top_up=(1000, 200000),
                     streams=80, times=4,
                     weights=dict(BREAKING, fund=3, oracle=2, crash=34)),
    "deleverage": dict(RISKY, options=NEVER_STALE, crash=(1, 2, 8, 0), gap=0.15, accounts=8,
                       weights=dict(BREAKING, fund=0.02, place=25)),
    "deficit": dict(RISKY, crash=(2, 3, 3, 1), gap=0.3, top_up=(1, 40000), accounts=8,
                    options={"engine.work_per_command": "5", "exchange.oracle_max_age_ms": "700"},
                    weights=dict(BREAKING, fund=3, state=3, oracle=14)),
    # Hours of some 700 commands over many markets.
    "hours": dict(RISKY, records=(0, 1, 2, *range(5, 17)), accounts=8, deposit=(200000, 4000000),
                  step_ms=(500, 9500), gtt_ms=(500, 90000000), far=0.3, crash=(1, 1, 1, 10),
                  options={"exchange.oracle_max_age_ms": "0", "engine.work_per_command": "16"},
                  weights=dict(BREAKING, hour=1.2, crash=1, oracle=20, pair=3, state=0.6)),
    "closing": dict(RISKY, records=tuple(range(5, 25)), streams=60, times=4, crash=(1, 1, 3, 1),
                    options={"exchange.oracle_max_age_ms": "0", "engine.work_per_command": "4"},
                    deposit=(2000, 50000), step_ms=(1, 700),
                    weights=dict(BREAKING, close=4, pair=50, crash=2, oracle=12, fund=1,
                                 hour=0.3)),
    # Accounts on both sides, runs of held prices, closings that are announced, a fund that owes.
    "twins": dict(RISKY, options=NEVER_STALE, crash=(2, 4, 4, 1), gap=0.1, top_up=(1, 40000),
                  accounts=6, weights=dict(BREAKING, twins=30, pair=10, fund=1, place=15)),
    "runs": dict(RISKY, options={"exchange.oracle_max_age_ms": "4000"}, streams=4,
                 weights=dict(BREAKING, run=8, accept=4, announce=1, state=2, crash=6)),
    "announced": dict(RISKY, options=NEVER_STALE, records=tuple(range(5, 15)), streams=6,
                      weights=dict(BREAKING, announce=6, close=1, oracle=12, crash=4)),
    "owing": dict(RISKY, options={"exchange.oracle_max_age_ms": "2000",
                                  "engine.work_per_command": "9"},
                  crash=(1, 2, 6, 0), gap=0.2, top_up=(1, 20), streams=8, silence=0.02,
                  weights=dict(BREAKING, fund=1, withdraw=12, settle=6, twins=8, accept=2)),
    # Both sides of an account that breaks; who would have to give has nothing either.
    "netted": dict(RISKY, options=NEVER_STALE, accounts=5, records=(0, 4),
                   weights=dict(BREAKING, netted=90, place=5, replace=1, pair=1, heal=1, crash=0.3,
                                oracle=1, deposit=1, lever=0)),
    "cornered": dict(RISKY, options=dict(NEVER_STALE, **{"engine.work_per_command": "2"}),
                     accounts=3, records=(0, 4), weights={"cornered": 60, "place": 2, "tick": 1}),
    "leaning": dict(RISKY, options=NEVER_STALE, accounts=3, records=(0, 4), streams=4,
                    weights={"leaning": 60, "place": 1, "tick": 1}),
    # Reduce-only orders beyond the positions of who has little.
    "walls": dict(CALM, options=NEVER_STALE, accounts=6, records=(0, 4), streams=4,
                  deposit=(200, 9000), reduce_only=0.6, spread_ppm=6000, move_ppm=700,
                  trigger_ppm=900,
                  weights={"wall": 30, "cut": 10, "replace": 34, "conditional": 14, "cancel": 16,
                           "place": 8, "oracle": 6, "batch": 5, "market": 4, "amend": 4, "tick": 2,
                           "deposit": 0.6, "cancel_all": 0.5, "transfer": 0.6, "leverage": 1}),
    # The same of accounts that are in a market with more portfolios than 16.
    "siblings": dict(CALM, options=NEVER_STALE, accounts=3, records=(0, 4), streams=4, times=3,
                     deposit=(9000, 200000), reduce_only=0.4, spread_ppm=6000, move_ppm=500,
                     weights={"sibling": 26, "wall": 40, "cut": 2, "replace": 6, "cancel": 6,
                              "place": 5, "oracle": 5, "batch": 2, "market": 3, "amend": 2,
                              "conditional": 2, "tick": 2, "cancel_all": 0.3, "deposit": 0.4}),
    # What fires meets one maker at a time.
    "going": dict(REGIMES["cascade"], tif=(80, 5, 5, 10), post_only=0.05, move_ppm=2000,
                  trigger_ppm=300, reduce_only=0.02, group=0.2,
                  options={"engine.makers_max": "1", "engine.work_per_command": "3"},
                  weights=dict(REGIMES["cascade"]["weights"], conditional=75, oracle=16)),
})

# Directed at what is rare; beside the others, whose share of the commands stays what it is.
SLOW = {"options": dict(NEVER_STALE, **{"engine.work_per_command": "3"}),
        "records": tuple(range(5, 9))}
SCENES = {
    "settled": {"records": tuple(range(5, 25)), "times": 4, "deposit": (20, 200), "streams": 240,
                "top_up": (1, 300), "step_ms": (1, 9)},
    "hour": {"records": tuple(range(5, 30)), "streams": 60, "step_ms": (1, 9)},
    "loss": {"records": (0, 4), "accounts": 3, "times": 6, "deposit": (500, 20000), "streams": 60,
             "step_ms": (1, 150), "weights": {"scene": 60, "place": 1, "tick": 3}},
    "spent": dict(SLOW, times=3), "clock": dict(SLOW, times=2),
    "gap": {"records": (0, 4), "accounts": 8,
            "options": dict(NEVER_STALE, **{"engine.work_per_command": "1"})},
    "bounds": {"deposit": (2000, 5000), "streams": 2,
               "options": {**NEVER_STALE, "limits.account_portfolios": "9",
                           "limits.account_credentials": "14"}},
}
REGIMES.update({"scene_" + name: {
    **RISKY, "options": NEVER_STALE, "scene": name, "accounts": 4, "deposit": STAKE, "streams": 4,
    "times": 1, "beside": True, "weights": {"scene": 60, "place": 1, "tick": 1}, **own}
    for name, own in SCENES.items()})
