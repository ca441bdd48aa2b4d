"""What ends orders for their owner (rules.md R3, R10): cancellation lists, cancel-all (code 4), the
dead-man (25), makers' protection (26, 27), disconnect (2011, 2012) and the operator's cancel
(1007)."""
import risk
from place import addressed
from wire import (ALL16, ALL32, ARM_BODY, CANCELED, CANCEL_ALL_BODY, DISCONNECT_BODY, MMP_BODY,
                  OPERATOR_CANCEL_BODY, PORTFOLIO_CLOSED, REASON, RESET_MMP_BODY, SCHEDULE_BODY,
                  STATUS)

S = STATUS
MS, SECOND = 10**6, 10**9
# Lists that an order may be on; of equally old ones the first gives the reason.
SIDE, PORTFOLIO, REDUCE_ONLY_LIST, MARKET, POST_ONLY_LIST = range(5)
TIMER_DEAD_MAN, TIMER_DISCONNECT, TIMER_MMP = 1, 2, 3  # kinds of a 2115
SHORTEST, LONGEST = SECOND, 86400 * SECOND
STEPS = 64
STEP_OF_MS = 15625  # ns of a step for each ms of the window
FOR_EVER = 2**64 - 1
GRACE_MOST = 10000
ARMS_MOST = 256  # an account
NO_ORDER = bytes(16)
AT_ONCE = 64  # portfolios that an operator's cancel of an account ends in the command


class Mmp:
    """The window and the limits of a portfolio in a market."""
    __slots__ = ("holding", "step", "frozen_ms", "most", "most_net", "fills", "frozen_until",
                 "reached")

    def __init__(self, holding):
        self.holding = holding
        self.frozen_until = 0
        self.reached = False  # in this command or unit

    def sums(self, t):
        """Signed and unsigned, of the current step and the 63 before it."""
        now = t // self.step
        self.fills = {step: both for step, both in self.fills.items() if step > now - STEPS}
        return (sum(both[0] for both in self.fills.values()),
                sum(both[1] for both in self.fills.values()))


def reason_of(lists):
    """Of the oldest list; each is as old as its last renewal."""
    return lists[min(lists, key=lambda slot: (lists[slot][0], slot))][1]


def with_rows(portfolios):
    """Without those that are CLOSED and have none (R10)."""
    return [one for one in portfolios if one.number is not None]


class Protection:
    def __init__(self, exchange):
        self.exchange = exchange
        self.mmps = {}     # holding -> Mmp
        self.reached = []  # in the order of reaching
        self.arms = {}     # arm id -> (account, subaccount, grace)

    # ---- lists

    def cover(self, orders, slot, reason):
        """Puts orders of a portfolio on a list: dead at once, released by the work."""
        orders, exchange = list(orders), self.exchange
        for order in orders:
            order.lists[slot] = exchange.next_stamp(), reason
        if orders:
            exchange.work.queue_list(orders[0].owner, [order.market.id for order in orders])

    def cover_all(self, portfolio, reason):
        """The portfolio's list."""
        self.cover((order for holding in portfolio.holdings.values() for order in holding.orders),
                   PORTFOLIO, reason)

    def dead_man_passed(self, order):
        owner = order.owner
        return 0 < owner.dead_man <= self.exchange.t and not (
            order.reduce_only and order in owner.conditionals)

    # ---- code 4

    def cancel_all(self, body):
        (account, subaccount, index, asset, pad, side, conditional, pad2) = \
            CANCEL_ALL_BODY.unpack(body)
        exchange = self.exchange
        if index == ALL32:
            within = exchange.hierarchy.subaccount(account, subaccount)
            portfolios = with_rows(within.portfolios) if within else ()
        else:
            portfolio = exchange.hierarchy.open_portfolio((account, subaccount, index))
            portfolios = (portfolio,) if portfolio else ()
        if not portfolios:
            return S["rejected_invalid_portfolio_id"]
        for portfolio in portfolios:
            risk.touch(exchange, portfolio)
        if asset == 0:
            return S["order_rejected_invalid_market"]
        if asset != ALL16 and asset not in exchange.markets:
            return S["rejected_market_not_found"]
        if pad or pad2 or side > 2:
            return S["order_rejected_invalid"]
        if conditional > 1:
            return S["rejected_invalid_order_flags"]
        sides = ((1, -1), (1,), (-1,))[side]
        for portfolio in portfolios:
            self.cover((order for holding in portfolio.holdings.values()
                        if asset in (ALL16, holding.market.id)
                        for order in holding.orders if order.side in sides),
                       SIDE, REASON["cancel_all"])
            if conditional:
                exchange.conditionals.doom(portfolio, REASON["cancel_all"],
                                           exchange.markets.get(asset), sides)
        return 0

    # ---- dead-man

    def schedule(self, body):
        """Code 25."""
        account, subaccount, index, deadline = SCHEDULE_BODY.unpack(body)
        exchange = self.exchange
        portfolio = exchange.hierarchy.open_portfolio((account, subaccount, index))
        if portfolio is None:
            return S["rejected_invalid_portfolio_id"]
        self.before_entry(portfolio)
        risk.touch(exchange, portfolio)
        if deadline and not SHORTEST <= deadline - exchange.t <= LONGEST:
            return S["order_rejected_invalid"]
        exchange.counts["dead-man " + ("set" if deadline else "cleared")] += 1
        portfolio.dead_man = deadline
        if deadline:
            exchange.work.add_dead_man(portfolio)
        return 0

    def before_entry(self, portfolio):
        """A deadline that has come fires before an order of the portfolio is entered."""
        if 0 < portfolio.dead_man <= self.exchange.t:
            self.exchange.counts["dead-man by touch"] += 1
            self.fire(portfolio)

    def fire(self, portfolio):
        self.exchange.counts["dead-man"] += 1
        portfolio.dead_man = 0
        self.end_for_owner(portfolio, TIMER_DEAD_MAN, REASON["dead_man"])

    def end_for_owner(self, portfolio, kind, reason):
        """2115, the portfolio's list, its conditionals that are not reduce-only."""
        self.exchange.emit(2115, *portfolio.id(), kind, 0)
        self.cover_all(portfolio, reason)
        self.exchange.conditionals.doom(portfolio, reason, reduce_only=(0,))

    # ---- makers' protection

    def mmp_rows(self, portfolio_id, asset, padded):
        """Rows 5 to 9: (status, holding)."""
        status, portfolio, market = addressed(self.exchange, portfolio_id, asset, padded)
        return status, None if status else portfolio.holding(market)

    def set_mmp(self, body):
        (account, subaccount, index, asset, pad, window, frozen, pad2, most, most_net) = \
            MMP_BODY.unpack(body)
        is_off = not (window or frozen or most or most_net)
        status, holding = self.mmp_rows(
            (account, subaccount, index), asset,
            pad or pad2 or not is_off and (window == 0 or most == most_net == 0))
        if status:
            return status
        mmp = self.mmps.get(holding)
        if is_off:
            if mmp:
                self.thaw(mmp)
                del self.mmps[holding]
            self.exchange.counts["mmp off"] += 1
            return 0
        if mmp is None:
            if not self.exchange.shares.fits(account, "mmps"):
                self.exchange.reason = REASON["limit_reached"]
                return S["order_rejected_invalid"]
            mmp = self.mmps[holding] = Mmp(holding)
        mmp.step, mmp.frozen_ms, mmp.fills = window * STEP_OF_MS, frozen, {}
        mmp.most, mmp.most_net = most, most_net
        self.exchange.counts["mmp set"] += 1
        return 0

    def reset_mmp(self, body):
        account, subaccount, index, asset, pad, pad2 = RESET_MMP_BODY.unpack(body)
        status, holding = self.mmp_rows((account, subaccount, index), asset, pad or pad2)
        if status:
            return status
        mmp = self.mmps.get(holding)
        if mmp:
            self.exchange.counts["mmp reset " + ("frozen" if mmp.frozen_until else "open")] += 1
            mmp.fills = {}
            self.thaw(mmp)
        return 0

    def thaw(self, mmp):
        if mmp.frozen_until:
            mmp.frozen_until = 0
            self.tell(mmp)

    def tell(self, mmp):
        holding = mmp.holding
        self.exchange.emit(2116, *holding.portfolio.id(), mmp.frozen_until, holding.market.id)

    def frozen(self, portfolio, market):
        holding = portfolio.holdings.get(market.id)
        mmp = self.mmps.get(holding) if holding else None
        return bool(mmp) and self.exchange.t < mmp.frozen_until

    def maker_filled(self, holding, quantity):
        """A fill of a resting order, signed."""
        mmp = self.mmps.get(holding)
        if mmp is None:
            return
        t = self.exchange.t
        net, gross = mmp.fills.get(t // mmp.step, (0, 0))
        mmp.fills[t // mmp.step] = net + quantity, gross + abs(quantity)
        net, gross = mmp.sums(t)
        if t < mmp.frozen_until or mmp.reached:
            return
        if mmp.most and gross >= mmp.most or mmp.most_net and abs(net) >= mmp.most_net:
            mmp.reached = True
            self.reached.append(mmp)

    def freeze(self):
        """At the end of a command's own effect, and behind the last unit: who reached a limit."""
        exchange = self.exchange
        for mmp in self.reached:
            holding = mmp.holding
            mmp.reached = False
            mmp.frozen_until = exchange.t + mmp.frozen_ms * MS if mmp.frozen_ms else FOR_EVER
            exchange.counts["mmp"] += 1
            self.tell(mmp)
            self.cover((order for order in holding.orders if order.post_only), POST_ONLY_LIST,
                       REASON["mmp"])
            holding.post_stamp = exchange.next_stamp()
            if holding.orders:  # the list is queued where orders of another kind stand as well
                exchange.work.queue_list(holding.portfolio, [holding.market.id])
            if mmp.frozen_ms:
                exchange.work.add_unfreeze(mmp)
        self.reached = []

    def unfreeze(self, mmp):
        owner, market = mmp.holding.portfolio, mmp.holding.market
        self.exchange.counts["mmp freeze ends by time"] += 1
        self.exchange.emit(2115, *owner.id(), TIMER_MMP, market.id)
        self.thaw(mmp)

    # ---- disconnect

    def arm(self, body):
        """Code 2012: (status, reason)."""
        arm_id, key_id, account, subaccount, grace, armed, pad = ARM_BODY.unpack(body)
        exchange = self.exchange
        refused = exchange.hierarchy.key_refused(key_id, account, subaccount)
        if refused:
            return refused
        if exchange.hierarchy.subaccount(account, subaccount) is None:
            return "rejected_invalid_portfolio_id", None
        if any(pad) or armed > 1 or grace > GRACE_MOST:
            return "order_rejected_invalid", "invalid_parameter"
        before = self.arms.get(arm_id)
        if before and before[0] != account:
            return "order_rejected_invalid", "invalid_parameter"
        refused = before and exchange.hierarchy.key_refused(key_id, account, before[1])
        if refused:
            return refused
        if not armed:
            self.arms.pop(arm_id, None)
            exchange.counts["disarmed"] += 1
            return "request_completed", None
        if not before and not exchange.shares.fits(account, "arms"):
            return "order_rejected_invalid", "limit_reached"
        self.arms[arm_id] = account, subaccount, grace
        exchange.counts["armed for disconnect"] += 1
        return "request_completed", None

    def disconnect(self, body):
        """Code 2011."""
        arm = self.arms.pop(DISCONNECT_BODY.unpack(body)[0], None)
        if arm is None:
            return "request_completed", None
        account = self.exchange.hierarchy.accounts[arm[0]]
        self.exchange.counts["disconnect"] += 1
        for portfolio in account.volumes.portfolios:  # in the order of their rows
            if portfolio.subaccount == arm[1] and portfolio.status != PORTFOLIO_CLOSED:
                self.end_for_owner(portfolio, TIMER_DISCONNECT, REASON["disconnect"])
        return "request_completed", None

    # ---- the operator

    def operator_cancel(self, body):
        """Code 1007."""
        account, subaccount, index, order_id, asset, pad, pad2 = OPERATOR_CANCEL_BODY.unpack(body)
        exchange = self.exchange
        named = self.named(account, subaccount, index)
        if not named:
            return S["rejected_invalid_portfolio_id"]
        if pad or pad2:
            return S["order_rejected_invalid"]
        if asset == 0 or asset == ALL16 and order_id != NO_ORDER:
            return S["order_rejected_invalid_market"]
        market = exchange.markets.get(asset)
        if market is None and asset != ALL16:
            return S["rejected_market_not_found"]
        if order_id != NO_ORDER:
            return self.cancel_one(named, account, order_id, market)
        exchange.counts["operator cancels all"] += 1
        if subaccount == ALL32 and self.cover_account(named, account, market):
            return 0
        for portfolio in with_rows(named):
            risk.touch(exchange, portfolio)
            if market is None:
                self.cover_all(portfolio, REASON["operator"])
            elif market.id in portfolio.holdings:
                self.cover(portfolio.holdings[market.id].orders, SIDE, REASON["operator"])
            exchange.conditionals.doom(portfolio, REASON["operator"], market)
        return 0

    def cover_account(self, portfolios, account, market):
        """R10: dead at once, handed over later. False: few, or a list for others."""
        exchange = self.exchange
        known = exchange.hierarchy.accounts[account]
        if len(with_rows(portfolios)) <= AT_ONCE or not exchange.work.queue_account_list(
                known, market, exchange.next_stamp()):
            return False
        slot = PORTFOLIO if market is None else SIDE
        for portfolio in portfolios:
            for holding in portfolio.holdings.values():
                for order in holding.orders:
                    if market in (None, order.market):
                        order.lists[slot] = exchange.next_stamp(), REASON["operator"]
            for order in portfolio.conditionals:
                if market in (None, order.market) and not order.lists:
                    order.swept = True
        exchange.counts["operator cancels a large account"] += 1
        return True

    def hand_over(self, portfolio, item):
        """The account's list has come to a portfolio."""
        exchange = self.exchange
        risk.touch(exchange, portfolio)
        oldest = {holding.market.id: next(iter(holding.orders)) for holding in
                  portfolio.holdings.values() if holding.orders}
        assets = [asset for asset, order in oldest.items()
                  if item.market in (None, order.market)
                  and order.placed[0] << 16 < item.stamp]
        if assets:
            exchange.work.queue_list(portfolio, assets)
        exchange.conditionals.doom_swept(portfolio)

    def named(self, account, subaccount, index):
        """Portfolios of the body, CLOSED ones too; empty: unknown."""
        known = self.exchange.hierarchy.accounts.get(account)
        if known is None or subaccount == ALL32 and index != ALL32:
            return []
        if subaccount == ALL32:
            return [one for within in known.subaccounts for one in within.portfolios]
        if subaccount >= len(known.subaccounts):
            return []
        within = known.subaccounts[subaccount].portfolios
        return within if index == ALL32 else within[index:index + 1]

    def cancel_one(self, named, account, order_id, market):
        exchange = self.exchange
        order = (exchange.orders.get((account, order_id))
                 or exchange.conditionals.orders.get((account, order_id)))
        if (order is None or order.owner not in named or order.market is not market
                or exchange.dead_state(order)):
            return S["rejected_order_not_found"]
        risk.touch(exchange, order.owner)
        exchange.counts["operator cancels one"] += 1
        exchange.end_order(order, CANCELED, REASON["operator"])
        return 0
