"""Fees (rules.md R6): rates of a tier, and the tier that 14 days of volume give."""
from market import cdiv

DAY = 86400 * 10**9
USDC = 10**6
# 14-day volume from which on a tier holds, tier 0 first.
THRESHOLDS = [volume * 10**6 * USDC for volume in (0, 5, 25, 100, 500, 2000)]
DAYS = 14


def fee_of(notional, ppm):
    return cdiv(notional * ppm, 10**6) if ppm >= 0 else -(notional * -ppm // 10**6)


class Volumes:
    """The notional that an account traded on each day, as maker and taker."""
    __slots__ = ("days", "stored", "touched", "override", "portfolios")

    def __init__(self):
        self.portfolios = []  # of the account
        self.override = None  # the tier that the operator set
        self.days = {}     # UTC day -> notional, by day
        self.stored = 0    # the tier as of the last touch
        self.touched = -1  # day of that touch

    def tier(self, t):
        """What an eager computation gives at 00:00 of t's day, before today has a bucket."""
        today = t // DAY
        volume = sum(notional for day, notional in self.days.items()
                     if today - DAYS <= day < today)
        return max(tier for tier, least in enumerate(THRESHOLDS) if volume >= least)

    def touch(self, t):
        """Whether the tier in force changes at the first touch of a day."""
        if self.touched == t // DAY:
            return False
        self.touched = today = t // DAY
        before, self.stored = self.rate, self.tier(t)
        self.days = {day: notional for day, notional in self.days.items()
                     if day >= today - DAYS}
        return self.rate != before

    @property
    def rate(self):
        """The tier in force."""
        return self.stored if self.override is None else self.override

    def add(self, t, notional):
        today = t // DAY
        self.days[today] = self.days.get(today, 0) + notional

    def shown(self, t):
        """volume_14d of a read: 14 buckets with today's."""
        today = t // DAY
        return sum(notional for day, notional in self.days.items() if day > today - DAYS)

    def shown_tier(self, t):
        return self.tier(t) if self.override is None else self.override
