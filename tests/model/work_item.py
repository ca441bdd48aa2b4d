"""What the queue of deferred work holds (rules.md R3)."""

(TIMERS, SCAN, LIST, MARKET_LIST, TRIGGER, FUNDING, LIQUIDATION, SETTLEMENT, UNWIND) = range(9)


class Item:
    __slots__ = ("kind", "market", "cursor", "again", "portfolio", "inside", "batch")

    def __init__(self, kind):
        self.kind = kind
