"""Deferred work: three queues of items, done in slices by a quota of units (rules.md R3)."""
from collections import deque
from heapq import heappop, heappush

import forced
import funding
import liquidation
import reducing
import risk
import settlement
from wire import CLOSED, UNTRIGGERED
from work_item import (ACCOUNT_LIST, EXCESS, FUNDING, LIQUIDATION, LIST, MARKET_LIST, SCAN,
                       SETTLEMENT, TIMERS, TRIGGER, UNWIND, Item)

SECOND = 1000000000
# In the order of R3, of one deadline.
TIMER_SECOND, TIMER_EXPIRY, TIMER_DEAD_MAN, TIMER_UNFREEZE, TIMER_LIQUIDATION = range(5)
# Kinds that are elsewhere: (exchange, item, units) -> units that are left.
ELSEWHERE = {FUNDING: funding.perform, SETTLEMENT: settlement.perform,
             LIQUIDATION: liquidation.perform, UNWIND: forced.perform_unwind}


class Work:
    def __init__(self, exchange):
        self.exchange = exchange
        self.liquidations, self.scans, self.others = self.queues = deque(), deque(), deque()
        # (deadline, kind, asset, placing sequence or portfolio, number, whose it is)
        self.timers = []
        self.performers = {
            TIMERS: self.perform_timers, SCAN: self.perform_scan,
            LIST: self.perform_list, MARKET_LIST: self.perform_market_list,
            TRIGGER: self.perform_trigger, ACCOUNT_LIST: self.perform_account_list,
            EXCESS: self.perform_excess}
        self.timer_count = 0
        self.timers_queued = False

    def add_second(self, market):
        heappush(self.timers, (market.next_second, TIMER_SECOND, market.id, 0, market))

    def add_timer(self, deadline, kind, rank, what):
        self.timer_count += 1
        heappush(self.timers, (deadline, kind, rank, self.timer_count, what))

    def add_expiry(self, order):
        self.add_timer(order.expiry, TIMER_EXPIRY, order.placed, order)

    def add_dead_man(self, portfolio):
        self.add_timer(portfolio.dead_man, TIMER_DEAD_MAN, portfolio.number, portfolio)

    def add_unfreeze(self, mmp):
        rank = mmp.holding.portfolio.number, mmp.holding.market.id
        self.add_timer(mmp.frozen_until, TIMER_UNFREEZE, rank, mmp)

    @staticmethod
    def stands(deadline, kind, what):
        """Whether a timer is still that of its owner."""
        if kind == TIMER_EXPIRY:
            return what.expiry == deadline and (what.level or what.status == UNTRIGGERED)
        if kind == TIMER_DEAD_MAN:
            return what.dead_man == deadline
        if kind == TIMER_SECOND:
            return what.state != CLOSED
        if kind == TIMER_LIQUIDATION:
            return what.wait_until == deadline
        if kind == TIMER_UNFREEZE:
            return what.frozen_until == deadline
        return True

    def add_wait(self, portfolio):
        self.add_timer(portfolio.wait_until, TIMER_LIQUIDATION, portfolio.number, portfolio)

    def queue_unwind(self, market):
        item = Item(UNWIND)
        item.market, item.inside = market, None
        self.add(item)
        return item

    def due(self, t):
        """The head of the timers when it is due; what its owner no longer has is skipped."""
        timers = self.timers
        while timers and timers[0][0] <= t:
            deadline, kind, _, _, what = timers[0]
            if self.stands(deadline, kind, what):
                return timers[0]
            heappop(timers)
        return None

    def queue_timers(self, t):
        if not self.timers_queued and self.due(t):
            self.timers_queued = True
            self.add(Item(TIMERS))

    def queue_scan(self, market):
        """Once per market; a change during the scan runs it again."""
        if market.scan:
            market.scan.again = market.scan.cursor > 0
            return
        item = market.scan = Item(SCAN)
        item.market, item.cursor, item.again = market, 0, False
        self.add(item)

    def queue_list(self, portfolio, assets):
        """Releases what is dead of a portfolio in these markets: one item a portfolio, which in
        each market goes through the orders once, by placing sequence, to the last one."""
        if portfolio.list is None:
            item = portfolio.list = Item(LIST)
            item.portfolio = portfolio
            self.add(item)
        for asset in assets:
            holding = portfolio.holdings[asset]
            holding.cursor = next(iter(holding.orders))

    def queue_market_list(self, market):
        """Releases what is dead in a market, holder by holder; begins anew when it is queued."""
        if market.list is None:
            item = market.list = Item(MARKET_LIST)
            item.market = market
            self.add(item)
        market.list.portfolio, market.list.inside = 0, False

    def queue_account_list(self, account, market, stamp):
        """The operator's list of a whole account: once an account; for the same markets it begins
        anew, at its place in the queue. False: it has one for others."""
        item = account.list
        if item and item.market is not market:
            return False
        if not item:
            item = account.list = Item(ACCOUNT_LIST)
            item.account, item.market = account, market
            self.add(item)
        item.stamp, item.cursor = stamp, (0, 0)
        return True

    def queue_excess(self, portfolio):
        """One item a portfolio, for its records that exceed."""
        if portfolio.excess_item is None:
            item = portfolio.excess_item = Item(EXCESS)
            item.portfolio = portfolio
            self.add(item)

    def perform_excess(self, item, units):
        """A step: one record, up to 64 orders; a unit an order, or a look that ends none."""
        holdings = item.portfolio.holdings
        holding = next((held for asset in self.exchange.markets
                        if (held := holdings.get(asset)) and held.exceeds), None)
        if holding is None:
            item.portfolio.excess_item = None
            self.done(item)
            return units
        most = min(units, reducing.AT_ONCE)
        gone = reducing.end_hindmost(self.exchange, holding, most)
        holding.exceeds = gone == most
        risk.flush(self.exchange)
        return units - max(1, gone)

    def perform_account_list(self, item, units):
        """One unit a portfolio, by subaccount and index, those made meanwhile too."""
        exchange = self.exchange
        while units:
            subaccount, index = item.cursor
            if subaccount == len(item.account.subaccounts):
                item.account.list = None
                self.done(item)
                break
            portfolios = item.account.subaccounts[subaccount].portfolios
            if index == len(portfolios):
                item.cursor = subaccount + 1, 0
                continue
            item.cursor = subaccount, index + 1
            units -= 1
            if portfolios[index].has_row():
                exchange.protection.hand_over(portfolios[index], item)
            risk.flush(exchange)
        return units

    def taken_out(self, order):
        """Before an order leaves: a list that stands at it goes on to the next one."""
        holding = order.holding
        if holding.cursor is order:
            orders = list(holding.orders)
            holding.cursor = next(iter(orders[orders.index(order) + 1:]), None)

    def first_dead(self, holding):
        """From the cursor on, which stays there; None behind the last."""
        orders = list(holding.orders) if holding.cursor else []
        for order in orders[orders.index(holding.cursor):] if orders else ():
            if self.exchange.dead_state(order):
                holding.cursor = order
                return order
        holding.cursor = None
        return None

    # ---- the queues

    def queue_of(self, item):
        if item.kind in (LIQUIDATION, UNWIND):
            return self.liquidations
        return self.scans if item.kind == SCAN else self.others

    def add(self, item):
        self.queue_of(item).append(item)

    def done(self, item):
        """The head of its queue."""
        self.queue_of(item).popleft()

    def is_busy(self):
        return any(self.queues)

    def is_moving(self):
        """R10: a scan or a liquidation is queued."""
        return bool(self.scans) or any(item.kind == LIQUIDATION for item in self.liquidations)

    def others_wait(self):
        """R3: conditional orders that are due wait, at the head, while their market is in a gap."""
        head = self.others[0]
        if head.kind != TRIGGER:
            return False
        order = self.exchange.conditionals.going or (head.batch[0] if head.batch else None)
        return order is not None and order.market.in_gap

    def head(self, units, reserved):
        """Whose turn it is: of the last quarter, the others'."""
        others = self.others and not self.others_wait()
        if others and units <= reserved:
            return self.others[0]
        for queue in (self.liquidations, self.scans):
            if queue:
                return queue[0]
        return self.others[0] if others else None

    def perform(self, units):
        """Unit by unit, for each may queue what goes before the rest."""
        reserved = units // 4
        while units:
            item = self.head(units, reserved)
            if item is None:
                break
            given = units if item.kind in (TRIGGER, LIQUIDATION, FUNDING, EXCESS) else 1
            if item.kind in ELSEWHERE:
                left = ELSEWHERE[item.kind](self.exchange, item, given)
                risk.flush(self.exchange)
            else:
                left = self.performers[item.kind](item, given)
            units -= given - left
            self.end_gaps()

    def end_gaps(self):
        exchange = self.exchange
        for market in exchange.markets.values():
            if market.in_gap and not market.scan and not any(
                    item.kind == LIQUIDATION for item in self.liquidations):
                exchange.counts["gap ends"] += 1
                market.in_gap, market.checked_mark = False, market.mark

    # Each gives the units that are left. A unit that is used up ends the step at once: whether the
    # item is finished is seen with the next unit to spend.
    def perform_timers(self, item, units):
        exchange = self.exchange
        t = exchange.t
        while units:
            head = self.due(t)
            if head is None:
                self.done(item)
                self.timers_queued = False
                break
            units -= 1
            heappop(self.timers)
            if head[1] == TIMER_SECOND:
                market = head[4]
                market.next_second = (t // SECOND + 1) * SECOND
                self.add_second(market)
                exchange.second(market)
            elif head[1] == TIMER_EXPIRY:
                exchange.expire(head[4])
            elif head[1] == TIMER_LIQUIDATION:
                head[4].wait_until = None
                exchange.counts["liquidation wakes"] += 1
                risk.check(exchange, head[4])
            elif head[1] == TIMER_DEAD_MAN:
                exchange.protection.fire(head[4])
            elif head[1] == TIMER_UNFREEZE:
                exchange.protection.unfreeze(head[4])
            risk.flush(exchange)
        return units

    def perform_scan(self, item, units):
        """One unit a holder, by portfolio number; at its end max|s| is the largest that the scan
        met or a fill made meanwhile (R1)."""
        portfolios, market = self.exchange.by_number, item.market
        while units:
            if item.cursor == 0:
                item.mark, market.scan_position = market.mark, 0
            if item.cursor < len(portfolios):
                holding = portfolios[item.cursor].holdings.get(market.id)
                item.cursor += 1
                if holding is not None and (holding.size or holding.orders):
                    units -= 1
                    market.scan_position = max(market.scan_position, abs(holding.size))
                    risk.scan(self.exchange, holding)
                continue
            market.max_position = market.scan_position
            self.done(item)
            market.scan = None
            if not market.in_gap:
                market.checked_mark = item.mark
            if item.again:  # behind what was queued meanwhile
                self.queue_scan(market)
            break
        return units

    def perform_list(self, item, units):
        """The oldest dead order first; a market whose end is reached is finished."""
        exchange = self.exchange
        while units:
            found = [order for holding in item.portfolio.holdings.values()
                     if (order := self.first_dead(holding))]
            found += [order for order in item.portfolio.conditionals if order.lists]
            if not found:
                item.portfolio.list = None
                self.done(item)
                break
            units -= 1
            order = min(found, key=lambda order: order.placed)
            exchange.release(order)
            risk.flush(exchange)
        return units

    def queue_triggers(self, batch):
        item = Item(TRIGGER)
        item.batch = batch
        self.add(item)

    def perform_trigger(self, item, units):
        """The orders of a batch by placing sequence; one costs a unit for each maker it meets as
        well, and takes all that are left when they are fewer."""
        while units:
            if self.exchange.conditionals.going:
                units = max(0, units - self.exchange.conditionals.go_on())
                risk.flush(self.exchange)
                break
            if not item.batch:
                self.done(item)
                break
            units = max(0, units - self.exchange.conditionals.fire(item.batch[0]))
            risk.flush(self.exchange)
            break
        return units

    def perform_market_list(self, item, units):
        """By portfolio number, then placing sequence; a unit is an order, or the way out of a
        portfolio that has no more."""
        exchange, market, portfolios = self.exchange, item.market, self.exchange.by_number
        while units:
            if not item.inside:
                number = next((number for number in range(item.portfolio, len(portfolios))
                               if (holding := portfolios[number].holdings.get(market.id))
                               and (holding.size or holding.orders)), None)
                if number is None and (order := exchange.conditionals.first_of_closed(market)):
                    units -= 1
                    exchange.release(order)
                    continue
                if number is None:
                    market.list, market.list_stamp = None, 0
                    self.done(item)
                    break
                holding = portfolios[number].holdings[market.id]
                holding.cursor = next(iter(holding.orders), None)
                item.portfolio, item.inside = number, True
            units -= 1
            order = self.first_dead(portfolios[item.portfolio].holdings[market.id])
            if order:
                exchange.remove(order, *exchange.dead_state(order))
                risk.flush(exchange)
            else:
                item.portfolio, item.inside = item.portfolio + 1, False
        return units
