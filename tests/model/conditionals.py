"""Conditional orders (rules.md R8): placing and canceling (codes 6, 7), evaluation, firing, OCO."""
import risk
import rows
from amend import target_rows
from market import Order
from place import (act, addressed, enter, finish, new_order, refuse, refuse_row,
                   shown_price)
from rows import limit_rows, market_rows, status_of
from walk import Walk, decide
from wire import (ACTIVE, CANCELED, CANCEL_BODY, CLOSED, CONDITIONAL_BODY, FOK, GTC, IOC,
                  PARTIALLY_FILLED, REASON, REDUCE_ONLY, STATUS, STOP_LIMIT, STOP_MARKET,
                  TAKE_PROFIT_MARKET, UNTRIGGERED)

S = STATUS
MARK, LAST, INDEX = range(3)
LIVE_TIF = (IOC, FOK, GTC)
KINDS = range(STOP_LIMIT, TAKE_PROFIT_MARKET + 1)
STOPS = (STOP_LIMIT, STOP_MARKET)
MARKET_KINDS = (STOP_MARKET, TAKE_PROFIT_MARKET)
NO_GROUP = bytes(16)
SOURCES = "MARK LAST INDEX".split()


class Conditional(Order):
    """`expiry` is that of its life while it is UNTRIGGERED."""
    __slots__ = ("trigger", "source", "live_tif", "slippage", "group", "batch", "armed",
                 "satisfied", "swept")

    def holds(self, price):
        """R8: whether the price satisfies it."""
        above = (self.side > 0) == (self.type in STOPS)
        return price >= self.trigger if above else price <= self.trigger


class Conditionals:
    def __init__(self, exchange):
        self.exchange = exchange
        self.orders = {}   # (account, order id) -> untriggered Conditional
        self.going = None  # a fired order that met makers_max: it goes on as deferred work
        self.firing = None

    # ---- rows

    def first_rows(self, order):
        """Rows 10 to 12."""
        exchange, expiry = self.exchange, order.expiry
        if case := rows.state_refused(order, True):
            return case
        if order.post_only > 1 or order.reduce_only > 1 or order.stp > 3:
            return "11 bool"
        if order.live_tif > 2 or order.type in MARKET_KINDS and order.live_tif:
            return "11 live_tif"
        if order.post_only and order.live_tif != 2:
            return "11 post-only"
        if expiry in (IOC, FOK):
            return "11 IOC FOK"
        if expiry != GTC and (expiry > 2**63 - 1 or expiry > exchange.t
                              + exchange.limits["limits.gtt_max_s"] * 10**9):
            return "11 expiry"
        return "12 conditional" if expiry <= exchange.t else ""

    def later_rows(self, order, quantity):
        """Rows 15 to 27."""
        exchange, market, size = self.exchange, order.market, abs(quantity)
        holding = order.owner.holdings.get(market.id)
        of_market = order.type in MARKET_KINDS
        if case := rows.size_refused(order, quantity, size, holding):
            return case
        bound, order.price = order.price, 0
        if of_market:
            if market.mark:
                order.price = rows.slippage_limit(market, order.side,
                                                  order.slippage or market.slippage)
        else:
            order.price = bound
            if bound and (case := rows.price_refused(order)):
                return case
        case = rows.notional_refused(order, size, holding)
        order.price = bound
        if case:
            return case
        if order.trigger == 0 or order.trigger % market.tick or order.trigger > market.max_price:
            return "18 price"
        if order.source > INDEX:
            return "18 source"
        if of_market != (bound == 0):
            return "18 kind"
        if case := rows.marks_refused(exchange, order):
            return case
        if (bound or market.mark) * size < market.min_notional and not order.reduce_only:
            return "21"
        if order.slippage > market.slippage:
            return "22 parameter"
        price = self.price(market, order.source)
        if price and order.holds(price):
            return "23"
        if self.waits_too_often(order.owner):
            return "25"
        return rows.liquidation_refused(order, size, True)

    def waits_too_often(self, owner):
        exchange = self.exchange
        return (len(owner.conditionals) >= exchange.limits["limits.conditional_orders"]
                or not exchange.shares.fits(owner.account, "conditionals"))

    @staticmethod
    def price(market, source):
        return (market.mark, market.last, market.index)[source]

    # ---- codes 6 and 7

    def place(self, request_id, body):
        (owner, subaccount, index, trigger, price, quantity, expiry, post_only, reduce_only, stp,
         kind, asset, pad, slippage, source, live_tif, pad2, group) = CONDITIONAL_BODY.unpack(body)
        exchange = self.exchange
        status, portfolio, market = addressed(exchange, (owner, subaccount, index), asset,
                                              pad or pad2 or kind not in KINDS, True)
        if status:
            return status
        order = Conditional()
        new_order(exchange, request_id, portfolio, market, quantity, order)
        order.price, order.expiry, order.type = price, expiry, kind
        order.post_only, order.reduce_only, order.stp = post_only, reduce_only, stp
        order.trigger, order.source, order.live_tif = trigger, source, live_tif
        order.slippage, order.group = slippage, group
        order.batch, order.armed, order.satisfied, order.swept = None, False, 0, False
        case = self.first_rows(order) or self.later_rows(order, quantity)
        if case:
            exchange.counts["conditional row " + case] += 1
            return refuse_row(exchange, order, case)
        order.status, exchange.subject = UNTRIGGERED, order
        self.orders[owner, request_id] = portfolio.conditionals[order] = order
        exchange.counts["conditional placed " + SOURCES[source]] += 1
        if group != NO_GROUP:
            exchange.counts["conditional placed in a group"] += 1
        self.tell(order, UNTRIGGERED, 0)
        if expiry != GTC:
            exchange.work.add_expiry(order)
        return 0

    def cancel(self, body):
        account, subaccount, index, order_id, asset, pad, pad2 = CANCEL_BODY.unpack(body)
        exchange = self.exchange
        status, portfolio, market = target_rows(exchange, (account, subaccount, index), order_id,
                                                asset, pad or pad2)
        if status:
            return status
        order = self.orders.get((account, order_id))
        if order and order.owner is portfolio and order.market is market and not self.dead(order):
            exchange.subject = order
            self.end(order, CANCELED, REASON["user_cancel"])
            return 0
        order = exchange.orders.get((account, order_id))
        if (order and order.owner is portfolio and order.market is market and order.type in KINDS
                and not exchange.dead_state(order)):
            return S["conditional_order_on_books"]
        return S["conditional_order_not_found"]

    # ---- how they end

    def tell(self, order, status, reason):
        order.status = status
        self.exchange.note_state(status, reason)
        self.exchange.emit(2101, order.id, order.remaining, order.filled, shown_price(order),
                           status, reason, order.side < 0, order.type, order.market.id,
                           owner=order.owner)

    def dead(self, order):
        return self.exchange.dead_state(order)

    @staticmethod
    def leave_batch(order):
        if order.batch:
            order.batch.remove(order)
            order.batch = None

    def forget(self, order):
        self.leave_batch(order)
        del self.orders[order.owner.account, order.id]
        del order.owner.conditionals[order]

    def end(self, order, status, reason):
        self.tell(order, status, reason)
        self.forget(order)

    def doom(self, portfolio, reason, market=None, sides=(1, -1), reduce_only=(0, 1), before=None):
        """Puts untriggered orders on the portfolio's cancellation list. The first list counts.
        `before`: only those placed before that sequence."""
        self.put_on_list(portfolio, [
            order for order in portfolio.conditionals
            if market in (None, order.market) and order.side in sides
            and order.reduce_only in reduce_only and not order.lists
            and (before is None or order.placed[0] < before)], reason)

    def doom_swept(self, portfolio):
        """The operator's list of the account has come to the portfolio."""
        self.put_on_list(portfolio, [order for order in portfolio.conditionals
                                     if order.swept and not order.lists], REASON["operator"])

    def put_on_list(self, portfolio, found, reason):
        for order in found:
            order.lists[0] = 0, REASON["operator"] if order.swept else reason
            self.leave_batch(order)
        if found:
            self.exchange.work.queue_list(portfolio, ())

    def first_of_closed(self, market):
        """Of a market that is CLOSED: the oldest, which its list releases behind its holders."""
        return min((order for order in self.orders.values() if order.market is market),
                   key=lambda order: order.placed, default=None) if market.state == CLOSED else None

    # ---- evaluation

    def may_fire(self, market):
        exchange = self.exchange
        return (market.state in (ACTIVE, REDUCE_ONLY) and market.mark > 0
                and market.index_valid(exchange.t, exchange.max_age))

    def mark_computed(self, market):
        """Marks and indexes are one batch, with those that are armed."""
        self.evaluate(market, (MARK, INDEX))

    def traded(self, market):
        self.evaluate(market, (LAST,))

    def evaluate(self, market, sources):
        if not self.orders or not self.may_fire(market):
            return
        batch = []
        for order in self.orders.values():
            if order.market is not market or order.batch or (
                    self.dead(order) and not (order.swept and not order.lists)):
                continue
            price = self.price(market, order.source)
            if order.armed and MARK in sources:
                batch.append(order)
            elif not order.armed and order.source in sources and order.holds(price):
                order.satisfied = price
                batch.append(order)
        if batch:
            batch.sort(key=lambda order: order.placed)
            for order in batch:
                order.batch, order.armed = batch, False
            self.exchange.counts["trigger batch"] += 1
            self.exchange.work.queue_triggers(batch)

    # ---- firing

    def fire(self, order):
        """One unit and one a maker met: gives the units."""
        exchange, owner, market = self.exchange, order.owner, order.market
        self.leave_batch(order)
        if state := self.dead(order):
            self.end(order, *state)
            return 1
        if not self.may_fire(market):
            order.armed = True
            exchange.counts["armed"] += 1
            return 1
        exchange.protection.before_entry(owner)
        risk.touch(exchange, owner)
        if state := self.dead(order):  # by what the touch has found
            self.end(order, *state)
            return 1
        exchange.counts["trigger"] += 1
        exchange.counts["fired " + SOURCES[order.source]] += 1
        exchange.emit(2114, order.id, order.satisfied, market.id)
        self.cancel_group(order)
        return 1 + self.go_live(order)

    def cancel_group(self, order):
        if order.group == NO_GROUP:
            return
        for other in list(order.owner.conditionals):
            if other is not order and other.group == order.group and not self.dead(other):
                self.exchange.counts["oco"] += 1
                self.end(other, CANCELED, REASON["oco"])

    def go_live(self, order):
        """The place path: rows 10, 16, 17b, 19 to 22, 24 and 26 to 34. Gives the makers met."""
        exchange, quantity = self.exchange, order.side * order.remaining
        order.expiry, order.stamp = LIVE_TIF[order.live_tif], exchange.take_stamp()
        order.entered = exchange.t
        self.forget(order)
        if order.post_only and exchange.protection.frozen(order.owner, order.market):
            exchange.counts["fired into a freeze"] += 1
            refuse(exchange, order, REASON["mmp_frozen"])
            return 0
        if order.type in MARKET_KINDS:
            order.price, order.expiry = 0, IOC
            case = market_rows(exchange, order, quantity, order.owner, order.slippage)
        else:
            case = rows.state_refused(order) or limit_rows(exchange, order, quantity, order.owner)
        if case:
            status = S[status_of(case)]
            exchange.counts["fired row " + case] += 1
            exchange.counts["fired and rejected"] += 1
            refuse(exchange, order, status)
            return 0
        self.firing = order
        status = enter(exchange, order)
        self.firing = None
        exchange.counts["fired and " + ("rejected" if status else "accepted")] += 1
        return exchange.walks.met

    # ---- a fired order that met makers_max (R3)

    def keeps(self, order):
        """Whether what is left of an order goes on; its limit stays as it was when it fired."""
        if order is not self.firing or order.expiry != IOC:
            return False
        self.exchange.counts["fired order goes on"] += 1
        self.going = order
        order.status = PARTIALLY_FILLED if order.filled else UNTRIGGERED
        return True

    def go_on(self):
        """Gives the units: one and one a maker met."""
        exchange, order = self.exchange, self.going
        self.going = None
        risk.touch(exchange, order.owner)
        if not self.may_fire(order.market):
            finish(exchange, order, CANCELED, REASON["market_state"])
            return 1
        if rows.liquidation_refused(order, order.remaining):
            finish(exchange, order, CANCELED, S["insufficient_margin_to_trade"])
            return 1
        walk = Walk(exchange, order, order.owner)
        self.firing = order
        if status := decide(exchange, walk):
            finish(exchange, order, CANCELED, status)
        else:
            act(exchange, walk)
        self.firing = None
        return 1 + walk.met
