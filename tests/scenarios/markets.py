"""The markets that every scenario begins with (wire.md W10, rules.md R4, R6) and their numbers.

Decimal texts of a script become raw integers here: exactly, or the script is refused."""
import json
from decimal import Decimal

FEES = [("0.00015", "0.00045"), ("0.00012", "0.0004"), ("0.00008", "0.00035"),
        ("0.00004", "0.0003"), ("0", "0.00028"), ("-0.00002", "0.00026")]
LARGE = [("20000000", 50), ("100000000", 25), ("500000000", 10), (None, 5)]
SMALL = [("5000000", 20), ("20000000", 10), (None, 3)]
RAW_MAX = 2**40 - 1


class Wrong(Exception):
    """A script that cannot be read."""


def text_of(value):
    """A decimal as the service writes it: no exponent, no trailing zeros."""
    text = format(Decimal(value), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def record(base, asset_id, price_decimals, tick, lot, tiers, impact):
    size_decimals = 6 - price_decimals
    lot_raw = int(Decimal(lot).scaleb(size_decimals))
    return {
        "market": f"{base}-PERP", "asset_id": asset_id, "base": base,
        "price_decimals": price_decimals, "size_decimals": size_decimals,
        "tick_size": tick, "lot_size": lot, "min_size": lot,
        "max_order_size": text_of(Decimal(RAW_MAX - RAW_MAX % lot_raw).scaleb(-size_decimals)),
        "min_notional": "10", "impact_notional": impact, "max_leverage": tiers[0][1],
        "tiers": [{"upper_notional": upper, "max_leverage": most} for upper, most in tiers],
        "price_band_ppm": 100000, "max_slippage_ppm": 50000,
        "fees": [{"tier": tier, "maker_fee_rate": maker, "taker_fee_rate": taker}
                 for tier, (maker, taker) in enumerate(FEES)],
    }


def standard():
    return [record("BTC", 1, 1, "0.1", "0.00001", LARGE, "20000"),
            record("ETH", 2, 2, "0.01", "0.0001", LARGE, "20000"),
            record("SOL", 3, 4, "0.001", "0.01", SMALL, "6000"),
            record("XRP", 4, 6, "0.0001", "1", SMALL, "6000"),
            record("DOGE", 5, 6, "0.00001", "1", SMALL, "6000")]


class Market:
    """What a script needs of a market: its asset id and its scales."""

    def __init__(self, own):
        self.own = own
        self.symbol, self.asset = own["market"], own["asset_id"]
        self.price_decimals, self.size_decimals = own["price_decimals"], own["size_decimals"]

    def price(self, text):
        return raw(text, self.price_decimals)

    def size(self, text):
        return raw(text, self.size_decimals)

    def price_text(self, number):
        return text_of(Decimal(number).scaleb(-self.price_decimals))

    def size_text(self, number):
        return text_of(Decimal(number).scaleb(-self.size_decimals))

    def body(self):
        text = json.dumps(self.own, separators=(",", ":")).encode()
        return text + bytes(-len(text) % 8)


def raw(text, decimals):
    """The raw integer of a decimal; `raw:N` stands for N itself, whatever it is."""
    if text.startswith("raw:"):
        return int(text[4:])
    value = Decimal(text).scaleb(decimals)
    if value != int(value):
        raise Wrong(f"{text} has more than {decimals} decimals")
    return int(value)


def usdc(text):
    return raw(text, 6)


def usdc_text(number):
    return text_of(Decimal(number).scaleb(-6))
