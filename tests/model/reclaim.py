"""The slots of old accounts that brought in nothing go to newcomers (wire.md W8, slots)."""
from collections import Counter
from heapq import heappop, heappush

from shares import UNFUNDED
from wire import IN_LIQUIDATION

LOOKS_MOST, TAKES_MOST = 64, 4
SECOND = 1000000000
LIFE_S = 3600


class Reclaim:
    def __init__(self, exchange):
        self.exchange = exchange
        self.since = {}               # account -> t since when it is unfunded, or was passed over
        self.created = {}             # account -> t
        self.slots = 0                # ever used, account 0 apart
        self.generations = Counter()  # by slot
        self.free_slots, self.free_portfolios = [], []

    # ---- ids and numbers

    def next_id(self):
        slot = self.free_slots[0] if self.free_slots else self.slots + 1
        return self.generations[slot] << 32 | slot

    def likely_id(self):
        """What the next creation will give, if it can: also when it has to take a slot."""
        oldest = self.oldest()
        if self.exchange.shares.fits_new() or oldest is None:
            return self.next_id()
        return min(self.next_id(), oldest[2] + (1 << 32), key=lambda one: one & 0xFFFFFFFF)

    def take_id(self):
        made = self.next_id()
        if self.free_slots:
            heappop(self.free_slots)
        else:
            self.slots += 1
        self.since[made] = self.created[made] = self.exchange.t
        return made

    def portfolio_number(self):
        """Where the next portfolio stands in by_number."""
        return heappop(self.free_portfolios) if self.free_portfolios else len(
            self.exchange.by_number)

    def has_portfolio_number(self):
        return bool(self.free_portfolios) or (
            len(self.exchange.by_number) < self.exchange.limits["engine.portfolios"])

    def free_portfolio(self, number):
        heappush(self.free_portfolios, number)

    # ---- taking

    def oldest(self):
        return min(((since, account & 0xFFFFFFFF, account) for account, since in self.since.items()
                    if self.exchange.shares.class_of(account) == UNFUNDED), default=None)

    def make_room(self):
        exchange, taken = self.exchange, 0
        shares, limits = exchange.shares, exchange.limits
        life = limits.get("limits.unfunded_life_s", LIFE_S) * SECOND
        for _ in range(LOOKS_MOST):
            if taken == TAKES_MOST or shares.fits_new() or exchange.run is not None:
                break
            oldest = self.oldest()
            if oldest is None or exchange.t - oldest[0] < life:
                break
            if self.may_take(oldest[2]):
                self.take(oldest[2])
                taken += 1
            else:
                self.since[oldest[2]] = exchange.t
                exchange.counts["account passed over"] += 1
        return shares.fits_new()

    def may_take(self, number):
        exchange, account = self.exchange, self.exchange.hierarchy.accounts[number]
        shares = exchange.shares
        if (account.suspended or account.list is not None or shares.withdrawals[number]
                or exchange.t - self.created[number] <= shares.keep_until() - exchange.t):
            return False
        return not any(one.cash or one.order_count or one.conditionals or one.list or one.changed
                       or one.liquidation or one.owed or one.status == IN_LIQUIDATION
                       or any(holding.size or holding.orders for holding in one.holdings.values())
                       for one in shares.portfolios_of(number))

    def take(self, number):
        exchange = self.exchange
        account = exchange.hierarchy.accounts[number]
        exchange.credentials.forget(number)
        if not account.closed:
            account.closed = True
            exchange.hierarchy.tell((number, 0, 0), 1, 0)
        exchange.counts["account taken"] += 1
        exchange.shares.forget(number)
        protection = exchange.protection
        for arm in [arm for arm, (owner, *_) in protection.arms.items() if owner == number]:
            del protection.arms[arm]
        for holding in [one for one in protection.mmps if one.portfolio.account == number]:
            protection.mmps.pop(holding).frozen_until = 0
        for within in account.subaccounts:
            for portfolio in within.portfolios:
                portfolio.dead_man = 0
                del exchange.portfolios[portfolio.id()]
                exchange.closed.forget(portfolio)
                if portfolio.has_row():
                    self.free_portfolio(portfolio.number)
        del exchange.hierarchy.accounts[number], exchange.volumes[number], self.since[number]
        exchange.private_seq.pop(number, None)
        slot = number & 0xFFFFFFFF
        self.generations[slot] += 1
        heappush(self.free_slots, slot)
