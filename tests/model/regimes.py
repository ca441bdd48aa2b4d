"""What streams are made of: markets, and regimes, each a set of numbers; what a regime leaves out
comes from CALM."""
import json

import wire

USDC = 1000000

FEES = [{"tier": tier, "maker_fee_rate": maker, "taker_fee_rate": taker} for tier, maker, taker in
        ((0, "0.00015", "0.00045"), (1, "0.00012", "0.0004"), (2, "0.00008", "0.00035"),
         (3, "0.00004", "0.0003"), (4, "0", "0.00028"), (5, "-0.00002", "0.00026"))]
# Other ladders: rates that tell the tiers apart, rebates from -100 to -50 ppm.
LADDER = [{"tier": tier, "maker_fee_rate": maker, "taker_fee_rate": taker} for tier, maker, taker in
          ((0, "0.0009", "0.0019"), (1, "0.0007", "0.0017"), (2, "0.0005", "0.0013"),
           (3, "0.0003", "0.0011"), (4, "0.0001", "0.0007"), (5, "-0.0003", "0.0005"))]
REBATES = [dict(row, maker_fee_rate="-0.0000%d" % (99 - 10 * row["tier"])) for row in FEES]


def tiers(*rows):
    return [{"upper_notional": upper, "max_leverage": leverage} for upper, leverage in rows]


def record(symbol, number, price_decimals, **values):
    base = {"market": symbol + "-PERP", "asset_id": number, "base": symbol,
            "price_decimals": price_decimals, "size_decimals": 6 - price_decimals,
            "tick_size": "1", "lot_size": "1", "min_size": "1", "max_order_size": "1",
            "min_notional": "10", "impact_notional": "20000", "max_leverage": 50,
            "tiers": tiers(("50000", 50), ("200000", 25), (None, 10)), "price_band_ppm": 100000,
            "max_slippage_ppm": 50000, "fees": FEES}
    base.update(values)
    return wire.pad8(json.dumps(base, separators=(",", ":")).encode())


# What the markets of the streams set otherwise than by default, by number.
MEMBERS = {2: {"mark_book_ppm": 4000, "oracle_sources_min": 3},
           3: {"position_limit": "40000", "open_interest_limit": "90000"},
           5: {"mark_book_ppm": 0}}


def listed(symbol, number, price_decimals, **values):
    return record(symbol, number, price_decimals, **values, **MEMBERS.get(number, {}))


# (record, first index raw, quantity raw worth about 1,000 USDC)
MARKETS = (
    (listed("BTC", 1, 1, tick_size="0.1", lot_size="0.00001", min_size="0.00001",
            max_order_size="10995116.27775"), 1000000, 1000),
    (listed("ETH", 2, 2, tick_size="0.05", lot_size="0.001", min_size="0.005",
            max_order_size="400", impact_notional="6000", max_leverage=20,
            tiers=tiers(("20000", 20), ("80000", 10), (None, 3))), 300000, 3330),
    (listed("XRP", 3, 6, tick_size="0.0001", lot_size="1", min_size="1", max_order_size="400000",
            impact_notional="3000", max_leverage=20, fees=REBATES,
            tiers=tiers(("30000", 20), ("100000", 10), (None, 3))), 2500000, 400),
    # Positions so large that a jump of the index passes R1's bound of the mark.
    (listed("SHIB", 4, 6, tick_size="0.000001", max_order_size="1000000000000",
            min_notional="0"), 1040, 200000000000),
    # Room for the volumes of the highest tiers.
    (listed("SOL", 5, 4, tick_size="0.001", lot_size="0.01", min_size="0.01",
            max_order_size="10000000", impact_notional="6000", max_leverage=100, fees=LADDER,
            max_slippage_ppm=20000, tiers=tiers(("900000000", 100), (None, 20))), 1500000, 667),
    # More markets than a portfolio may be in (R1).
    *((listed("M%d" % number, number, 2 + number % 5, tick_size="0.01", max_order_size="100000",
              max_leverage=20, tiers=tiers((None, 20))), 50 * 10**(2 + number % 5),
       20 * 10**(4 - number % 5)) for number in range(6, 73)),
)

# What the pipe's engine is laid out for.
CAPACITY = {"engine.accounts": "4096", "engine.portfolios": "8192", "engine.orders": "65536",
            "engine.positions": "65536", "engine.credentials": "16384",
            "engine.deposits": "65536", "limits.duplicate_slots": "2097152"}

CALM = {
    "accounts": 12, "records": (0, 1, 2), "options": {}, "deposit": (20000, 2000000),
    "step_ms": (1, 12),
    "weights": {"place": 56, "amend": 5, "replace": 14, "cancel": 8, "market": 6,
                "cancel_all": 0.7, "oracle": 6, "tick": 3, "bad": 4, "session": 0.3,
                "signup": 0.1, "duplicate": 1, "window": 0.3, "deposit": 0.2, "leverage": 0.4,
                "api_key": 0.3, "revoke_all": 0.06, "conditional": 3, "conditional_cancel": 0.7,
                "bad_conditional": 0.4, "transfer": 0.5, "withdraw": 0.3, "settle": 0.3,
                "structure": 0.3, "fee_tier": 0.05, "batch": 2, "schedule": 0.4, "mmp": 0.9,
                "arm": 0.25, "operator_cancel": 0.25},
    "tif": (60, 15, 10, 15),          # GTC, IOC, FOK, GTT
    "stp": (1, 1, 1, 1), "post_only": 0.15, "reduce_only": 0.12,
    "spread_ppm": 3000, "far": 0.1,   # how far from the mark a price lies
    "size": 1.0, "gtt_ms": (5, 4000), "move_ppm": 400, "jump": 0.0, "outliers": 0.02,
    "silence": 0.0, "slippage": (0, 0, 0, 100, 1000, 5000, 20000), "midnight": 0.0, "activity": 0.0,
    "trigger_ppm": 900, "group": 0.5, "treasury": False,
}

REGIMES = {
    "calm": {},
    "thin": {"options": {"exchange.oracle_max_age_ms": "0"}, "silence": 0.01,
             "tif": (25, 15, 45, 15), "post_only": 0.35, "accounts": 6, "spread_ppm": 6000,
             "weights": dict(CALM["weights"], cancel=30)},
    "poor": {"options": {"exchange.oracle_max_age_ms": "700"}, "deposit": (50, 3000),
             "size": 2.5, "move_ppm": 9000, "spread_ppm": 20000,
             "accounts": 16, "weights": dict(CALM["weights"], oracle=16, deposit=0.05)},
    "broke": {"deposit": (100, 500), "size": 0.6, "move_ppm": 16000, "spread_ppm": 30000,
              "accounts": 16, "far": 0.3, "jump": 0.05,
              "weights": dict(CALM["weights"], oracle=20, deposit=0.1)},
    "reducing": {"reduce_only": 0.55, "size": 1.5, "spread_ppm": 2500,
                 "options": {"engine.work_per_command": "3"}},
    "self": {"accounts": 3, "spread_ppm": 2500, "tif": (45, 20, 20, 15), "reduce_only": 0.2},
    "fast": {"move_ppm": 20000, "jump": 0.03, "silence": 0.004, "spread_ppm": 20000,
             "step_ms": (1, 60), "weights": dict(CALM["weights"], oracle=25)},
    "short": {"gtt_ms": (1, 60), "tif": (10, 10, 5, 75), "step_ms": (1, 9),
              "options": {"engine.work_per_command": "2"},
              "weights": dict(CALM["weights"], cancel_all=2.5)},
    "bad": {"share": 3,
            "weights": dict(CALM["weights"], bad=40, duplicate=8, window=4, session=5, signup=1,
                            api_key=2, leverage=2, revoke_all=0.02, device_key=1),
            "options": {"limits.open_orders": "5", "limits.sessions_per_parent": "3",
                    "limits.api_keys": "6", "limits.device_keys": "4"}},
    "keys": {"accounts": 5,
             "weights": dict(CALM["weights"], master_key=30, last_key=18, session=3, api_key=2,
                             transfer=2, withdraw=2, device_key=1),
             "options": {"limits.admin_keys": "3", "limits.scoped_keys": "2",
                         "limits.sessions": "5", "limits.sessions_per_parent": "3"}},
    "crowded": {"accounts": 30, "spread_ppm": 900, "options": {"engine.makers_max": "5",
                "engine.work_per_command": "7"}, "size": 2.0, "move_ppm": 2000},
    "full": {"options": {"limits.duplicate_slots": "1024", "exchange.clock_past_ms": "1000",
                         "exchange.clock_future_ms": "100"}, "step_ms": (1, 9),
             "weights": dict(CALM["weights"], revoke_all=0)},
    "halt": {"share": 4,
             "records": (0, 3), "deposit": (900000000, 2000000000), "halt_at": 0.5, "streams": 8,
             "size": 1.3, "weights": dict(CALM["weights"], bad=6, replace=20)},
    "amending": {"accounts": 7, "spread_ppm": 1200, "move_ppm": 900, "slippage": (0, 50, 200, 700),
                 "weights": dict(CALM["weights"], place=30, amend=16, replace=40)},
    "leveraged": {"deposit": (20, 400), "size": 1.2, "move_ppm": 4000, "spread_ppm": 6000,
                  "accounts": 14, "options": {"exchange.oracle_max_age_ms": "900"},
                  "weights": dict(CALM["weights"], leverage=9, api_key=1, replace=20, oracle=12)},
    # Days of some 900 commands; all six tiers are gained and lost.
    "daily": {"records": (0, 4, 2), "accounts": 14, "deposit": (200000000, 4000000000),
              "size": 6000.0, "gtt_ms": (5, 90000000), "midnight": 0.0014, "activity": 1.5,
              "options": {"exchange.oracle_max_age_ms": "0",
                          "limits.session_life_default_s": "315360000",
                          "limits.session_life_max_s": "315360000"}, "streams": 5, "times": 2},
    "wide": {"records": tuple(range(5, 72)), "accounts": 3, "deposit": (5000000, 9000000),
             "options": {"exchange.oracle_max_age_ms": "0", "engine.work_per_command": "128"},
             "far": 0.5, "tif": (90, 4, 2, 4), "move_ppm": 100, "outliers": 0.0,
             "reduce_only": 0.03,
             "weights": dict(CALM["weights"], oracle=12, cancel=12, cancel_all=0,
                            leverage=4)},
    "table": {"options": {"engine.orders": "90"}, "far": 0.4},
    # Markets change their states while orders rest, lists are worked off and indexes are held.
    "states": {"options": {"engine.work_per_command": "3"}, "far": 0.3, "reduce_only": 0.35,
               "post_only": 0.35, "move_ppm": 4000, "jump": 0.02, "outliers": 0.05,
               "weights": dict(CALM["weights"], state=4, gap=6, replace=20, cancel_all=2,
                               oracle=9)},
    # Orders that wait for a price: brackets, groups, cascades that are cut into slices.
    "triggers": {"options": {"engine.work_per_command": "5", "limits.conditional_orders": "6"},
                 "move_ppm": 1500, "reduce_only": 0.3, "group": 0.8, "accounts": 8,
                 "weights": dict(CALM["weights"], place=30, conditional=22, conditional_cancel=3,
                                 bad_conditional=4, cancel_all=1.2, oracle=9, state=0.3)},
    "cascade": {"options": {"engine.work_per_command": "2", "engine.makers_max": "6"},
                "spread_ppm": 1500, "trigger_ppm": 500, "group": 0.7, "size": 1.6, "move_ppm": 1200,
                "outliers": 0.0, "weights": dict(CALM["weights"], conditional=26, oracle=8,
                                                 bad_conditional=1, market=12)},
    # Cash goes round between portfolios that come and go, accounts are suspended and closed.
    "cash": {"options": {"exchange.testnet": "on", "limits.subaccounts": "6",
                         "limits.portfolios": "5", "engine.work_per_command": "9"},
             "deposit": (500, 30000), "treasury": True, "accounts": 9, "silence": 0.003,
             "weights": dict(CALM["weights"], place=20, transfer=14, withdraw=9, settle=8,
                             structure=16, faucet=4, top_up=1, suspend=0.7, fee_tier=1.5,
                             close_early=13, ending=0.5, end_step=2.5, deposit=2, api_key=1.5,
                             session=0.8)},
    # Accounts of each class that use up their shares, and their own bounds.
    "shares": {"accounts": 12, "deposit": (2, 1600), "size": 0.05, "far": 0.4, "streams": 4,
               "options": {"exchange.testnet": "on", "engine.accounts": "320",
                           "engine.portfolios": "150", "engine.orders": "70",
                           "engine.credentials": "420", "limits.account_portfolios": "9",
                           "limits.account_conditionals": "8", "limits.account_rows": "3",
                           "limits.account_credentials": "14",
                           "limits.account_withdrawals": "4",
                           "limits.session_life_default_s": "20",
                           "limits.share_unfunded_ppm": "60000",
                           "limits.share_small_ppm": "130000"},
               "weights": dict(CALM["weights"], place=40, signup=3, session=4, api_key=3,
                               device_key=1, master_key=3, structure=5, conditional=12, mmp=5,
                               leverage=4, withdraw=4, settle=3, faucet=2, deposit=2, transfer=2,
                               cancel=14)},
    # Accounts that are taken for newcomers, and come again; the tables are always short.
    "slots": {"accounts": 12, "deposit": (2, 1600), "size": 0.05, "far": 0.4,
              "step_ms": (1, 2500),
              "options": {"exchange.testnet": "on", "engine.accounts": "100",
                          "engine.portfolios": "150", "engine.credentials": "900",
                          "limits.share_unfunded_ppm": "60000", "limits.unfunded_life_s": "60"},
              "weights": dict(CALM["weights"], place=20, signup=6, ending=2, end_step=7, session=4,
                              api_key=3, device_key=1, master_key=3, structure=5, mmp=3,
                              schedule=3, arm=3, leverage=4, withdraw=8, settle=8, faucet=1,
                              deposit=3, transfer=2, suspend=0.5, cancel=8)},
    # A few small accounts that take all the rows that they may have.
    "crowd": {"accounts": 6, "deposit": (12, 90), "size": 0.02, "far": 0.8,
              "options": {"exchange.testnet": "on", "engine.portfolios": "150",
                          "engine.orders": "300", "engine.credentials": "200",
                          "limits.portfolios": "30", "limits.account_portfolios": "40",
                          "limits.conditional_orders": "60"},
              "weights": dict(CALM["weights"], place=20, structure=30, conditional=30, api_key=10,
                              cancel=1, cancel_all=0.1, deposit=0.5, signup=1)},
    # Batches, all or none and one by one, with orders of each kind in them.
    "batches": {"accounts": 7, "spread_ppm": 2000, "options": {"engine.work_per_command": "6"},
                "weights": dict(CALM["weights"], place=22, batch=30, oracle=7, conditional=5)},
    # Batches that walk far and are refused; who owes for it waits. What rests expires at once.
    "walkers": {"accounts": 9, "deposit": (2, 12), "size": 0.03, "step_ms": (1, 3),
                "spread_ppm": 900, "tif": (50, 5, 5, 40), "gtt_ms": (20, 900),
                "options": {"engine.makers_max": "150", "engine.work_per_command": "2",
                            "limits.share_unfunded_ppm": "1000000",
                            "limits.share_small_ppm": "1000000"},
                "weights": dict(CALM["weights"], place=60, batch=12, walk=14, cancel=2,
                                cancel_all=0.1, deposit=0.1)},
    # Deadlines, windows and disconnects end orders while others are entered.
    "protected": {"accounts": 8, "post_only": 0.5, "spread_ppm": 1800, "step_ms": (1, 30),
                  "options": {"engine.work_per_command": "4"},
                  "weights": dict(CALM["weights"], place=50, mmp=9, schedule=7, arm=4,
                                  operator_cancel=3, conditional=6, cancel_all=1.5, batch=4)},
}

# The same with old accounts that hold a little cash: no newcomer may take them.
REGIMES["passed_over"] = {**REGIMES["slots"], "deposit": (2, 12)}
