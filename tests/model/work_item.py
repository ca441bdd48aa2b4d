"""What the queue of deferred work holds (rules.md R3)."""

(TIMERS, SCAN, LIST, MARKET_LIST, TRIGGER, FUNDING, LIQUIDATION, SETTLEMENT, UNWIND,
 ACCOUNT_LIST, EXCESS) = range(11)


class Item:
    __slots__ = ("kind", "market", "cursor", "again", "portfolio", "inside", "batch", "account",
                 "stamp", "mark")

    def __init__(self, kind):
        self.kind = kind
