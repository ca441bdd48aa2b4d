"""How much of each bounded table an account may have (wire.md W8, slots): classes, shares, bounds
of an account. Everything is counted anew from the state when it is asked for, but keys, sessions
and withdrawals, whose rows are kept for a while when they have ended."""
from collections import Counter
from heapq import heappop, heappush

USDC = 1000000
UNFUNDED, SMALL, FULL = range(3)
RELEASES = 4  # ended rows of each kind that a command gives back
ARMS_MOST = 256
# Rows that one of the class finds while there is room at all; unfunded, small, full.
BASE = ({"orders": 8, "positions": 4, "credentials": 2, "arms": 1, "withdrawals": 1},
        {"subaccounts": 2, "portfolios": 4, "orders": 32, "conditionals": 16, "positions": 8,
         "leverages": 4, "mmps": 4, "credentials": 8, "arms": 4, "withdrawals": 2}, {})
OF_UNFUNDED = {"subaccounts": 1, "portfolios": 2, "credentials": 8, "conditionals": 0, "rows": 0}
# Rows that stop no fall to a lower class, and the rule that says so.
FALL_FEW = {"subaccounts": (1, 75), "portfolios": (2, 74), "orders": (64, 66),
            "conditionals": (0, 67), "positions": (16, 68), "leverages": (0, 69), "mmps": (0, 70),
            "credentials": (8, 71), "arms": (8, 72), "withdrawals": (16, 73)}
OPTIONS = {"limits.account_portfolios": 256, "limits.account_conditionals": 1000,
           "limits.account_rows": 1024, "limits.account_credentials": 160,
           "limits.account_withdrawals": 256,
           "limits.funding_small": 10, "limits.funding_full": 1000,
           "limits.share_unfunded_ppm": 125000, "limits.share_small_ppm": 500000}
SIZES = {"accounts": "accounts", "subaccounts": "portfolios", "portfolios": "portfolios",
         "orders": "orders", "conditionals": "orders", "positions": "positions",
         "leverages": "positions", "mmps": "positions", "credentials": "credentials",
         "arms": "credentials", "withdrawals": "deposits"}


class Row:
    """Of a key or session; `rank` among those that are due at the same time."""
    __slots__ = ("account", "rank", "release")


class Shares:
    def __init__(self, exchange):
        self.exchange = exchange
        self.funding = Counter()   # account -> the larger of net deposits and cash, when last moved
        self.credentials = Counter()  # account -> rows of keys and sessions
        self.withdrawals = Counter()
        self.due = []              # heap of (release, rank, row)
        self.due_withdrawals = []  # heap of (release, sequence, portfolio)

    def option(self, name):
        return self.exchange.limits.get(name, OPTIONS.get(name))

    def size(self, table):
        return self.exchange.limits["engine." + SIZES[table]]

    # ---- classes

    def refund(self, account):
        exchange = self.exchange
        cash = sum(portfolio.cash for within in exchange.hierarchy.accounts[account].subaccounts
                   for portfolio in within.portfolios)
        before = self.class_of(account)
        self.funding[account] = max(exchange.money.net[account], cash)
        if before != UNFUNDED and self.class_of(account) == UNFUNDED:
            exchange.reclaim.since[account] = exchange.t

    def class_of(self, account):
        return FULL if account == 0 else self.class_of_funding(self.funding[account])

    def class_of_funding(self, amount):
        amount = max(0, amount)
        if amount < self.option("limits.funding_small") * USDC:
            return UNFUNDED
        return SMALL if amount < self.option("limits.funding_full") * USDC else FULL

    # ---- rows

    def portfolios_of(self, account):
        return (portfolio for within in self.exchange.hierarchy.accounts[account].subaccounts
                for portfolio in within.portfolios)

    def rows(self, account, table):
        exchange = self.exchange
        if table == "accounts":
            return 1
        if table == "credentials":
            return self.credentials[account]
        if table == "withdrawals":
            return self.withdrawals[account]
        if table == "arms":
            return sum(arm[0] == account for arm in exchange.protection.arms.values())
        if table == "subaccounts":
            return sum(one.has_row for one in exchange.hierarchy.accounts[account].subaccounts)
        if table == "mmps":
            return sum(holding.portfolio.account == account for holding in exchange.protection.mmps)
        count = {"portfolios": lambda portfolio: portfolio.has_row(),
                 "orders": lambda portfolio: portfolio.order_count,
                 "conditionals": lambda portfolio: len(portfolio.conditionals),
                 "positions": lambda portfolio: sum(1 for holding in portfolio.holdings.values()
                                                    if holding.size or holding.orders),
                 "leverages": lambda portfolio: sum(holding.chosen for holding in
                                                    portfolio.holdings.values())}[table]
        return sum(count(portfolio) for portfolio in self.portfolios_of(account))

    def room(self, kind, table, end=FULL + 1):
        """How many rows more accounts of this class may have together, by the bounds of the
        classes below `end`. What newcomers have not used of theirs is not for the others."""
        size = self.size(table)
        small = size * self.option("limits.share_small_ppm") // 10**6
        bounds = (size * self.option("limits.share_unfunded_ppm") // 10**6, small, size)
        used = Counter()
        for account in self.exchange.hierarchy.accounts:
            used[self.class_of(account)] += self.rows(account, table)
        left = [bounds[upto] - sum(used[one] for one in range(upto + 1))
                for upto in range(FULL + 1)]
        if kind != UNFUNDED:
            kept = max(0, self.newcomers(table) - used[UNFUNDED])
            left[SMALL] -= kept
            left[FULL] -= kept
        return min(left[kind:end])

    def newcomers(self, table):
        """What is kept for the unfunded: their share, at most what small ones have beside it."""
        if not self.option("limits.funding_small"):
            return 0
        small, unfunded = (self.size(table) * self.option("limits.share_%s_ppm" % name) // 10**6
                           for name in ("small", "unfunded"))
        return max(0, min(unfunded, small - unfunded))

    def class_leaves(self, kind, table, has, end=FULL + 1, count=1):
        """Whether the class leaves one of it that has `has` rows `count` more. What all have beyond
        their base is at most half of what the class may have without what is for newcomers."""
        if self.room(kind, table, end) < count:
            return False
        if end > FULL and not self.last_leaves(kind, table, has, count):
            self.exchange.counts["share of what is left: " + table] += 1
            return False
        base = BASE[kind].get(table)
        if base is None or has + count <= base:
            return True
        ppm = self.option("limits.share_%s_ppm" % ("unfunded", "small")[kind])
        most = self.size(table) * ppm // 10**6
        most -= self.newcomers(table) if kind == SMALL else 0
        extra = sum(max(0, self.rows(account, table) - base)
                    for account in self.exchange.hierarchy.accounts
                    if self.class_of(account) == kind)
        if extra + min(count, has + count - base) <= most // 2:
            return True
        self.exchange.counts["half of a class: " + table] += 1
        return False

    def last_leaves(self, kind, table, has, count):
        """While less than a quarter of the table is left for those with funds, one of them has a
        row more only if it has less than half as many as are left."""
        if kind == UNFUNDED or not any(self.option("limits.funding_" + one)
                                       for one in ("small", "full")):
            return True
        left = max(0, self.room(FULL, table))
        return left >= self.size(table) // 4 or 2 * (has + count - 1) < left

    def cap(self, account, table):
        """(bound of the account, rows that count)."""
        unfunded = self.class_of(account) == UNFUNDED
        name = {"portfolios": "account_portfolios", "conditionals": "account_conditionals",
                "leverages": "account_rows", "mmps": "account_rows", "subaccounts": "subaccounts",
                "credentials": "account_credentials",
                "withdrawals": "account_withdrawals"}.get(table)
        bound = ARMS_MOST if table == "arms" else self.option("limits." + name) if name else None
        kind = "rows" if table in ("leverages", "mmps") else table
        has = (sum(self.rows(account, one) for one in ("leverages", "mmps")) if kind == "rows"
               else self.rows(account, table))
        if unfunded and kind in OF_UNFUNDED:
            bound = min(bound, OF_UNFUNDED[kind])
        return bound, has

    def fits(self, account, table, count=1):
        bound, has = self.cap(account, table)
        kind = self.class_of(account)
        if bound is not None and has + count > bound:
            self.exchange.counts["bound of an account: " + table] += 1
            return False
        if not self.class_leaves(kind, table, self.rows(account, table), count=count):
            self.exchange.counts["share of a class: " + table] += 1
            return False
        return True

    def fall_stopped(self, account, amount):
        """The rule that a withdrawal breaks which would bring the account into a lower class: of
        each table it has few rows, or so many as that class has room for; 0: it breaks none."""
        exchange = self.exchange
        cash = sum(portfolio.cash for portfolio in self.portfolios_of(account))
        before = self.class_of(account)
        after = self.class_of_funding(max(exchange.money.net[account], cash) - amount)
        if account == 0 or after >= before:
            return 0
        for table, (few, rule) in FALL_FEW.items():
            has = self.rows(account, table) + (table == "withdrawals")
            if has <= few:
                continue
            short = not self.class_leaves(after, table, 0, before, has)
            if table in ("subaccounts", "portfolios") and after == UNFUNDED:
                short = True
            if short:
                exchange.counts["rows stop a fall: " + table] += 1
                return rule
        return 0

    def fits_new(self):
        """Whether an account can be made, with its portfolio, master key and session."""
        kind = UNFUNDED if self.option("limits.funding_small") else (
            SMALL if self.option("limits.funding_full") else FULL)
        return all(self.room(kind, table) >= count for table, count in
                   (("accounts", 1), ("subaccounts", 1), ("portfolios", 1), ("credentials", 2)))

    def resting_fits(self, account):
        """Row 26."""
        kind = self.class_of(account)
        far = self.size("orders") - len(self.exchange.orders) - self.newcomers("orders")
        if (kind == FULL and far >= max(1, self.size("orders") // 4)
                or self.class_leaves(kind, "orders", self.rows(account, "orders"))):
            return True
        self.exchange.counts["share of a class: orders"] += 1
        return False

    def record_fits(self, account):
        """Row 16, of a market where the portfolio has nothing."""
        return self.class_leaves(self.class_of(account), "positions",
                                 self.rows(account, "positions"))

    # ---- rows that are kept when they have ended

    def keep_until(self):
        """A second behind the last t at which a repetition passes the window (W5)."""
        limits = self.exchange.limits
        window = limits["exchange.clock_past_ms"] + limits["exchange.clock_future_ms"] + 11000
        return self.exchange.t + window * 1000000

    def made(self, credential, is_master=False, expires_at=None):
        row = credential.row = Row()
        row.account, row.rank = credential.account, (self.exchange.sequence, not is_master)
        row.release = None
        self.credentials[row.account] += 1
        if expires_at is not None:
            self.give_back(row, max(expires_at, self.keep_until()))

    def ended(self, credential):
        self.give_back(credential.row, self.keep_until())

    def give_back(self, row, release):
        row.release = release
        heappush(self.due, (release, row.rank, row))

    def forget(self, account):
        """All rows of the account are given back."""
        for _, _, row in self.due:
            if row.account == account:
                row.release = None
        del self.credentials[account], self.funding[account]

    def withdrawal_ended(self, portfolio, sequence):
        heappush(self.due_withdrawals, (self.keep_until(), sequence, portfolio))

    def release(self):
        """Before each command."""
        t, left = self.exchange.t, RELEASES
        while left and self.due and self.due[0][0] <= t:
            release, _, row = heappop(self.due)
            if row.release == release:  # else it was revoked meanwhile
                row.release = None
                self.credentials[row.account] -= 1
                self.exchange.counts["row of a key given back"] += 1
                left -= 1
        left = RELEASES
        while left and self.due_withdrawals and self.due_withdrawals[0][0] <= t:
            portfolio = heappop(self.due_withdrawals)[2]
            portfolio.kept -= 1
            self.withdrawals[portfolio.account] -= 1
            self.exchange.counts["row of a withdrawal given back"] += 1
            left -= 1
        self.exchange.closed.release()
