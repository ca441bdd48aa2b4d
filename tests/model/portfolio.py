"""Portfolios: exact positions and cash (rules.md R2), margin (R4)."""
from market import cdiv, tdiv
from wire import PORTFOLIO_ACTIVE


class Holding:
    """A portfolio in one market: position and resting orders."""
    __slots__ = ("portfolio", "market", "leverage", "chosen", "size", "cost", "orders", "buy",
                 "sell", "buy_notional", "sell_notional", "all_buy", "all_sell", "all_buy_notional",
                 "all_sell_notional", "position_id", "list_stamp", "post_stamp", "cursor",
                 "mark_seen", "epoch", "wait_until",
                 "net_funding", "exceeds")

    def __init__(self, portfolio, market):
        self.portfolio = portfolio
        self.market = market
        self.leverage = market.leverage
        self.chosen = False  # by a setting that is not the default
        self.list_stamp = self.post_stamp = 0  # of the last lists of reduce-only, post-only orders
        self.exceeds = False    # queued for its reduce-only orders (R3)
        self.cursor = None      # order that a cancellation list goes on at
        self.size = self.cost = self.net_funding = 0
        self.mark_seen = market.mark  # the last at which the portfolio was solvent (R7)
        self.epoch = market.epoch     # up to which its funding is settled (R5)
        self.wait_until = None          # t from which on level 1 may sell of it again (R7)
        self.orders = {}  # Order -> Order, by placing sequence
        self.buy = self.sell = self.buy_notional = self.sell_notional = 0
        self.all_buy = self.all_sell = self.all_buy_notional = self.all_sell_notional = 0

    def count(self, order, quantity):
        """Adds `quantity` of a resting order to the sums (negative: takes it away)."""
        value = quantity * order.price
        if order.side > 0:
            self.all_buy += quantity
            self.all_buy_notional += value
            if not order.reduce_only:
                self.buy += quantity
                self.buy_notional += value
        else:
            self.all_sell += quantity
            self.all_sell_notional += value
            if not order.reduce_only:
                self.sell += quantity
                self.sell_notional += value

    def open_loss(self):
        """R4: each order alone, reduce-only excluded."""
        mark, loss = self.market.mark, 0
        if self.buy or self.sell:
            for order in self.orders:
                if not order.reduce_only:
                    worse = (order.price - mark) * order.side
                    if worse > 0:
                        loss += worse * order.remaining
        return loss

    def initial_margin(self, notional):
        """R4 IM(N) at the leverage that the portfolio has set in this market."""
        return self.market.initial_margin(notional, self.leverage)

    def reducing(self, side):
        """The total of the reduce-only orders of a side."""
        return self.all_buy - self.buy if side > 0 else self.all_sell - self.sell

    def excess(self, size=None):
        """R4: what the reduce-only orders against a position exceed it by."""
        size = self.size if size is None else size
        return max(0, self.reducing(-size) - abs(size)) if size else 0

    def resting(self):
        """B and S of R4."""
        buy, sell = self.buy, self.sell
        return (buy + self.excess(), sell) if self.size < 0 else (buy, sell + self.excess())

    def worst(self):
        buy, sell = self.resting()
        return max(abs(self.size), abs(self.size + buy), abs(self.size - sell))

    def worst_without_reducing(self):
        return max(abs(self.size), abs(self.size + self.buy), abs(self.size - self.sell))

    def entry_margin(self, worst):
        """R4, tiers of entry: IM of the worst position, by the account's tier when that is more."""
        mark = self.market.mark
        alone, whole = self.initial_margin(worst * mark), self.of_account(worst)
        if whole <= worst:
            return alone
        return max(alone, cdiv(self.initial_margin(whole * mark) * worst, whole))

    def of_account(self, worst):
        """G of R4: |s| of the account's portfolios, this one at worst."""
        return worst + sum(abs(other.holdings[self.market.id].size)
                           for other in self.portfolio.siblings
                           if other is not self.portfolio and self.market.id in other.holdings)

    def margins(self):
        """(IM, MM) of this market."""
        size, market = self.size, self.market
        if not size and not self.buy and not self.sell:
            return 0, 0
        initial = self.initial_margin(self.worst() * market.mark) + self.open_loss()
        maintenance = market.maintenance_margin(abs(size) * market.mark) if size else 0
        return initial, maintenance

    def lost(self):
        """R7 L3: since the portfolio was last solvent."""
        return max(0, (self.mark_seen - self.market.mark) * self.size)

    def after(self, quantity, price):
        """(size, cost) after a trade that is not made."""
        before = self.size, self.cost
        self.trade(quantity, price)
        after, (self.size, self.cost) = (self.size, self.cost), before
        return after

    def trade(self, quantity, price):
        """R2. Gives (realised PnL, whether a position was opened or flipped)."""
        size, value = self.size, price * quantity
        if size == 0 or (size > 0) == (quantity > 0):
            self.size += quantity
            self.cost += value
            return 0, size == 0
        if abs(quantity) <= abs(size):
            closed = tdiv(self.cost * abs(quantity), abs(size))
            self.cost -= closed
            self.size += quantity
            return -value - closed, False
        realised = price * size - self.cost  # the closing part trades -size
        self.size = size + quantity
        self.cost = price * self.size
        return realised, True


def default_name(index):
    return b"Portfolio %d" % index if index else b"Main"


class Portfolio:
    __slots__ = ("account", "subaccount", "index", "number", "cash", "holdings", "order_count",
                 "list", "slack_maintenance", "slack_initial", "changed", "checked", "volumes",
                 "liquidation", "run", "action", "acted_at", "wait_until",
                 "status", "conditionals", "dead_man", "name", "moved", "siblings", "owed",
                 "netted", "excess_item", "kept")

    def __init__(self, account, number, volumes=None, subaccount=0, index=0):
        self.account = account
        self.volumes = volumes  # of the account
        self.subaccount, self.index = subaccount, index
        self.number = number  # None: CLOSED, without a row
        self.kept = 0         # withdrawals from it that have rows
        self.name = default_name(index)
        self.status = PORTFOLIO_ACTIVE
        self.conditionals = {}  # untriggered orders by placing: Order -> Order
        self.dead_man = 0       # deadline of the dead-man, 0: none
        self.cash = 0
        self.holdings = {}  # market id -> Holding
        self.order_count = 0
        self.excess_item = None
        self.list = None    # the queued item of the deferred work that releases its orders
        self.slack_maintenance = self.slack_initial = 0  # R7
        self.changed = False  # to be checked at the end of this command
        self.siblings = volumes.portfolios if volumes else ()  # the portfolios of its account
        self.owed = 0         # R2, at its last check
        self.netted = False   # behind the netting of its liquidation (R7)
        self.moved = False    # in the market that a run ranks, and not looked at since
        self.checked = -1     # mark_epoch of the last check
        self.liquidation = None  # the queued item of its liquidation (R7)
        self.run = self.action = None  # of level 3, of level 1, while it is under way
        self.acted_at = None     # t at which the last action of level 1 began
        self.wait_until = None   # t of its timer

    def holding(self, market):
        holding = self.holdings.get(market.id)
        if holding is None:
            holding = self.holdings[market.id] = Holding(self, market)
        return holding

    def id(self):
        return self.account, self.subaccount, self.index

    def has_row(self):
        return self.number is not None

    def busy(self):
        return self.run is not None or self.action is not None

    def risk(self):
        """R4: (equity, IM, MM)."""
        equity, initial, maintenance = self.cash, 0, 0
        for holding in self.holdings.values():
            if holding.size or holding.buy or holding.sell:
                equity += holding.market.mark * holding.size - holding.cost
                im, mm = holding.margins()
                initial += im
                maintenance += mm
        return equity, initial, maintenance

    def stress(self, t, max_age, left_out=None):
        """R4: what frozen markets take off, and what a gap has given so far."""
        total = 0
        for holding in self.holdings.values():
            market = holding.market
            if market is left_out or not (holding.size or holding.buy or holding.sell):
                continue
            total += market.won_in_gap(holding.size)
            if market.frozen(t, max_age):
                total += market.stress(holding.worst() * market.mark, t)
        return total

    def entry_initial(self):
        """IM as the taker test counts it."""
        total = 0
        for holding in self.holdings.values():
            if holding.size or holding.buy or holding.sell:
                total += holding.entry_margin(holding.worst()) + holding.open_loss()
        return total

    def balance(self):
        """(free, withdrawable, equity, IM, MM) as a read shows them (R4)."""
        equity, initial, maintenance = self.risk()
        unrealised = equity - self.cash
        # 64 bits carry it: orders within R1's bounds may need more than that of initial margin
        withdrawable = max(-2**63, self.cash + min(0, unrealised) - initial)
        return max(0, withdrawable), withdrawable, equity, initial, maintenance


def reducing_rule(before, after, stress=0, closed_value=0):
    """R4's reducing rule; each side is (equity, MM). `closed_value`: |closed| * mark."""
    if after[0] - stress >= after[1]:
        return True
    if after[0] < 0:
        return False
    if stress:
        return after[0] >= before[0] - cdiv(closed_value, 1000)
    return after[0] - after[1] >= before[0] - before[1]
