"""Placing a limit order: rows 5 to 35 of R11 that code 0 can meet, walk then act (rules.md R3)."""
from market import Order, cdiv
from portfolio import reducing_rule
from wire import (ACTIVE, ADD, CANCELED, CASH_FEE, CASH_TRADE, EXECUTE, FILLED, FOK, GTC, HALTED,
                  IOC, OPEN, PARTIALLY_FILLED, PLACE_BODY, REASON, REDUCE, REJECTED, STATUS)

S = STATUS
SIZE_MAX = 2**40 - 1
POSITION_MAX, NOTIONAL_MAX, COST_MAX = 2**42, 2**50, 2**52
STP_TAKER, STP_MAKER, STP_BOTH, STP_DECREMENT = range(4)
SELF, MARGIN = S["self_trade_prevention"], S["insufficient_margin_to_trade"]  # as reasons
# What the walk decided about one maker.
DROP, FILL, SHRINK = range(3)


def flags_refused(order, limits, t):
    """Row 11."""
    expiry = order.expiry
    if order.post_only > 1 or order.reduce_only > 1:
        return "11 bool"
    if order.stp > 3:
        return "11 stp"
    if order.post_only and expiry in (IOC, FOK):
        return "11 post-only"
    if expiry not in (IOC, FOK, GTC) and (expiry > t + limits["limits.gtt_max_s"] * 10**9
                                          or expiry > 2**63 - 1):
        return "11 expiry"
    return ""


def size_refused(order, quantity, size, holding):
    """Row 16."""
    market = order.market
    if quantity == -2**63 or size > SIZE_MAX:
        return "16 beyond 2^40"
    if size % market.lot:
        return "16 lot"
    if size < market.min_size:
        return "16 min"
    if size > market.max_size:
        return "16 max"
    resting = (holding.all_buy if quantity > 0 else holding.all_sell) if holding else 0
    position = abs(holding.size) if holding else 0
    return "16 position" if position + resting + size > POSITION_MAX else ""


def price_refused(order):
    """Row 17."""
    if order.price == 0:
        return "17 zero"
    if order.price % order.market.tick:
        return "17 tick"
    return "17 max" if order.price > order.market.max_price else ""


def notional_refused(order, size, holding):
    """Row 17b."""
    value = order.price * size
    if value > NOTIONAL_MAX:
        return "17b notional"
    if holding is None:
        return ""
    resting = holding.all_buy_notional if order.side > 0 else holding.all_sell_notional
    return "17b cost" if abs(holding.cost) + resting + value > COST_MAX else ""


def marks_refused(exchange, portfolio, order):
    """Row 19."""
    t, age = exchange.t, exchange.max_age
    if order.market.mark == 0:
        return "19 never"
    if order.reduce_only:
        return ""
    if not order.market.trusted(t, age):
        return "19 here"
    for holding in portfolio.holdings.values():
        if (holding.size or holding.orders) and not holding.market.trusted(t, age):
            return "19 elsewhere"
    return ""


def reduce_only_refused(order, size, holding):
    """Row 24."""
    position = holding.size if holding else 0
    if position * order.side >= 0:
        return "24 no position"
    return "24 FOK" if order.expiry == FOK and size > abs(position) else ""


def early_rows(exchange, order, quantity, portfolio):
    """Rows 10 to 26: (status, which row and case)."""
    market, t, price = order.market, exchange.t, order.price
    size = abs(quantity)
    if market.state == HALTED:
        return "rejected_market_halted", "10 halted"
    if market.state != ACTIVE:
        return "rejected_market_cancel_only", "10 cancel-only"
    if case := flags_refused(order, exchange.limits, t):
        return "rejected_invalid_order_flags", case
    if order.expiry not in (IOC, FOK) and order.expiry <= t:
        return "order_rejected_expired", "12"
    if quantity == 0:
        return "rejected_size_zero", "15"
    holding = portfolio.holdings.get(market.id)
    if case := size_refused(order, quantity, size, holding):
        return "rejected_invalid_size", case
    if case := price_refused(order):
        return "rejected_invalid_price", case
    if case := notional_refused(order, size, holding):
        return "rejected_invalid_size", case
    if case := marks_refused(exchange, portfolio, order):
        return "rejected_mark_price_zero", case
    if order.side * (price - market.mark) * 10**6 > market.mark * market.band:
        return "rejected_invalid_price", "20"
    if price * size < market.min_notional and not order.reduce_only:
        return "rejected_invalid_size", "21"
    if order.reduce_only and (case := reduce_only_refused(order, size, holding)):
        return "invalid_reduce_only_order", case
    if order.expiry not in (IOC, FOK) and portfolio.order_count >= exchange.open_orders:
        return "rejected_max_open_orders_exceeded", "26"
    return "", ""


class Walk:
    """The plan of one taker: what happens to each maker met, and how the taker ends."""

    def __init__(self, exchange, order, portfolio):
        self.exchange = exchange
        self.order = order
        self.portfolio = portfolio
        self.actions = []    # (DROP, maker, (status, reason)) (FILL, maker, quantity)
        #                      (SHRINK, maker, by)
        self.left = order.remaining
        self.filled = 0      # quantity
        self.value = 0       # notional
        self.fees = 0        # of the taker
        self.contact = False       # own maker met
        self.contact_first = False  # ... before any fill
        self.ended = 0       # reason why the remainder is CANCELED
        self.runs = {}       # maker's holding -> its state in this walk
        self.met = 0

    def run(self):
        order, exchange = self.order, self.exchange
        room = None
        if order.reduce_only:
            room = abs(self.portfolio.holding(order.market).size)
        book = order.market.side(-order.side)
        for level in book.crossing(order.price):
            for maker in level.orders:
                if self.left == 0 or self.ended:
                    return
                if room is not None and self.filled == room:
                    self.ended = REASON["reduce_only"]
                    return
                if self.met == exchange.makers_max:
                    self.ended = REASON["match_limit"]
                    return
                self.met += 1
                self.meet(maker, level.price, room)
        if room is not None and self.filled == room and self.left and not self.ended:
            self.ended = REASON["reduce_only"]

    def meet(self, maker, price, room):
        state = self.exchange.dead_state(maker)
        if state:
            self.actions.append((DROP, maker, state))
        elif maker.owner.account == self.order.owner.account:
            self.meet_self(maker)
        else:
            self.meet_other(maker, price, room)

    def meet_self(self, maker):
        """R3, self-trade modes of the taker."""
        mode = self.order.stp
        self.contact = True
        if mode == STP_TAKER:
            self.contact_first = self.filled == 0
            self.ended = SELF
            return
        if mode == STP_DECREMENT:
            by = min(maker.remaining, self.left)
            if maker.remaining > self.left:
                self.actions.append((SHRINK, maker, by))
                self.ended = SELF
            else:
                self.actions.append((DROP, maker, (CANCELED, SELF)))
                if maker.remaining == self.left:
                    self.ended = SELF
                else:
                    self.left -= by
            return
        self.actions.append((DROP, maker, (CANCELED, SELF)))
        if mode == STP_BOTH:
            self.ended = SELF

    def meet_other(self, maker, price, room):
        holding = maker.holding
        run = self.runs.get(holding)
        if run is None:
            equity, initial, maintenance = maker.owner.risk()
            others = maintenance - holding.margins()[1]
            # position, equity, MM of the other markets, flagged (R7)
            run = self.runs[holding] = [holding.size, equity, others, equity < initial]
        size, equity, others, flagged = run
        side, market = maker.side, maker.market
        quantity = maker.remaining
        if maker.reduce_only:
            quantity = min(quantity, abs(size)) if size * side < 0 else 0
            if quantity == 0:
                self.actions.append((DROP, maker, (CANCELED, REASON["reduce_only"])))
                return
        quantity = min(quantity, self.left)
        if room is not None:
            quantity = min(quantity, room - self.filled)
        after = size + side * quantity
        fee = fee_of(price * quantity, market.maker_ppm)
        equity_after = equity + (market.mark - price) * side * quantity - fee
        worse = (price - market.mark) * side > 0
        if worse or flagged:
            margin_after = others + market.maintenance_margin(abs(after) * market.mark)
            self.exchange.counts["maker test"] += 1
            if size * side >= 0 or quantity > abs(size):
                passed = equity_after >= margin_after
            elif worse:
                margin = others + market.maintenance_margin(abs(size) * market.mark)
                passed = reducing_rule((equity, margin), (equity_after, margin_after))
            else:
                passed = True
            if not passed:
                self.actions.append((DROP, maker, (CANCELED, MARGIN)))
                return
        run[0], run[1] = after, equity_after
        self.actions.append((FILL, maker, quantity))
        self.left -= quantity
        self.filled += quantity
        self.value += price * quantity
        self.fees += fee_of(price * quantity, market.taker_ppm)
        if maker.reduce_only and after == 0 and quantity < maker.remaining and self.left:
            self.actions.append((DROP, maker, (CANCELED, REASON["reduce_only"])))

    def rests(self):
        return self.left > 0 and not self.ended and self.order.expiry not in (IOC, FOK)


def fee_of(notional, ppm):
    """R6."""
    return cdiv(notional * ppm, 10**6) if ppm >= 0 else -(notional * -ppm // 10**6)


def margin_passed(walk):
    """R4's taker test on the state after the plan."""
    order, portfolio = walk.order, walk.portfolio
    equity, initial, maintenance = portfolio.risk()
    market = order.market
    holding = portfolio.holding(market)
    im_here, mm_here = holding.margins()
    buy, sell, loss = holding.buy, holding.sell, holding.open_loss()
    size = holding.size + order.side * walk.filled
    if walk.rests() and not order.reduce_only:
        loss += max(0, (order.price - market.mark) * order.side) * walk.left
        if order.side > 0:
            buy += walk.left
        else:
            sell += walk.left
    worst = max(abs(size), abs(size + buy), abs(size - sell))
    initial_after = initial - im_here + market.initial_margin(worst * market.mark) + loss
    maintenance_after = (maintenance - mm_here
                         + market.maintenance_margin(abs(size) * market.mark))
    equity_after = (equity + order.side * (market.mark * walk.filled - walk.value) - walk.fees)
    if equity_after >= initial_after:
        return True
    if initial_after <= initial and reducing_rule((equity, maintenance),
                                                  (equity_after, maintenance_after)):
        walk.exchange.counts["passed by the reducing rule"] += 1
        return True
    return False


def decide(exchange, walk):
    """Rows 28 to 33."""
    order = walk.order
    if order.post_only:
        opposite = order.market.side(-order.side)
        for level in opposite.crossing(order.price):
            for maker in level.orders:
                state = exchange.dead_state(maker)
                walk.met += 1
                if not state or walk.met > exchange.makers_max:
                    return S["rejected_post_only_would_cross_book"]
                walk.actions.append((DROP, maker, state))
    else:
        walk.run()
        if walk.contact_first:
            return S["self_trade_prevention"]
        if order.expiry == FOK:
            if walk.contact and order.stp in (STP_TAKER, STP_BOTH):
                return S["self_trade_prevention"]
            if walk.filled < order.remaining:
                return S["rejected_f_o_k_not_fully_filled_low_liquidity"]
    if not margin_passed(walk):
        if order.expiry == FOK:
            return S["rejected_f_o_k_not_fully_filled_insufficient_margin"]
        return S["insufficient_margin_to_trade" if walk.filled else "insufficient_margin_to_place"]
    if len(exchange.orders) >= exchange.order_slots:
        return S["order_rejected_internal"]
    return 0


def refuse(exchange, order, size, status):
    exchange.emit(2101, order.id, size, 0, order.price, REJECTED, status, order.side < 0, 1,
                  order.market.id)
    return status


def place(exchange, account, request_id, body):
    """Code 0 from row 5 on. Gives the status."""
    (owner, subaccount, index, price, quantity, expiry, post_only, reduce_only, stp, pad, asset,
     pad2) = PLACE_BODY.unpack(body)
    portfolio = exchange.portfolios.get((owner, subaccount, index))
    if portfolio is None:
        return S["rejected_invalid_portfolio_id"]
    if asset in (0, 0xFFFF):
        return S["order_rejected_invalid_market"]
    market = exchange.markets.get(asset)
    if market is None:
        return S["rejected_market_not_found"]
    if pad or pad2:
        return S["order_rejected_invalid"]
    order = Order()
    order.id, order.owner, order.market = request_id, portfolio, market
    order.side = 1 if quantity >= 0 else -1
    order.price, order.expiry = price, expiry
    order.post_only, order.reduce_only, order.stp = post_only, reduce_only, stp
    order.remaining, order.filled = abs(quantity), 0
    order.sequence, order.dead, order.level = exchange.sequence, None, None
    status, case = early_rows(exchange, order, quantity, portfolio)
    if status:
        exchange.counts["row " + case] += 1
        kept = int(case[:2]) >= 13  # in the history, as REJECTED
        return refuse(exchange, order, order.remaining, S[status]) if kept else S[status]
    walk = Walk(exchange, order, portfolio)
    status = decide(exchange, walk)
    exchange.note_walk(walk, status)
    if status:
        return refuse(exchange, order, order.remaining, status)
    act(exchange, walk)
    return 0


def act(exchange, walk):
    """Executes the plan, then settles what is left of the taker."""
    order, portfolio, market = walk.order, walk.portfolio, walk.order.market
    order.holding = portfolio.holding(market)
    for kind, maker, what in walk.actions:
        if kind == DROP:  # a fill before it may have put the maker on a list
            exchange.remove(maker, *(exchange.dead_state(maker) or what))
        elif kind == FILL:
            fill(exchange, order, maker, what)
        else:
            shrink(exchange, maker, what)
    order.remaining = walk.left
    if walk.left == 0:
        finish(exchange, order, FILLED if order.filled else CANCELED, 0)
    elif walk.rests():
        finish(exchange, order, PARTIALLY_FILLED if order.filled else OPEN, 0)
        rest(exchange, order)
    else:
        finish(exchange, order, CANCELED, walk.ended or REASON["time_in_force"])


def finish(exchange, order, status, reason):
    exchange.note_state(status, reason)
    exchange.emit(2101, order.id, order.remaining, order.filled, order.price, status, reason,
                  order.side < 0, 1, order.market.id)


def rest(exchange, order):
    holding = order.holding
    holding.orders[order] = order
    holding.count(order, order.remaining)
    order.owner.order_count += 1
    order.market.side(order.side).insert(order)
    exchange.orders[order.owner.account, order.id] = order
    exchange.show(order, ADD, order.remaining)
    if order.expiry != GTC:
        exchange.work.add_expiry(order)


def shrink(exchange, maker, by):
    """DECREMENT on the larger maker."""
    maker.holding.count(maker, -by)
    maker.remaining -= by
    maker.level.size -= by
    finish(exchange, maker, PARTIALLY_FILLED if maker.filled else OPEN, 0)
    exchange.show(maker, REDUCE, by)


def fill(exchange, taker, maker, quantity):
    market, price = maker.market, maker.price
    market.trade_seq += 1
    market.book_seq += 1
    exchange.emit(2108, price, quantity, market.trade_seq, market.book_seq, market.id,
                  taker.side < 0, 0)
    notional = price * quantity
    maker_fee = fee_of(notional, market.maker_ppm)
    taker_fee = fee_of(notional, market.taker_ppm)
    maker_before, taker_before = maker.holding.size, taker.holding.size
    maker_pnl, maker_new = maker.holding.trade(maker.side * quantity, price)
    taker_pnl, taker_new = taker.holding.trade(taker.side * quantity, price)
    maker_index = exchange.id_index
    taker_index = maker_index + 1 + maker_new
    exchange.id_index = taker_index + 1 + taker_new
    exchange.emit(2102, maker.id, price, maker.side * quantity, maker_fee, maker_index, 1)
    exchange.emit(2102, taker.id, price, taker.side * quantity, taker_fee, taker_index, 0)
    pay(exchange, taker.owner, taker_pnl, taker_fee, taker_index)
    pay(exchange, maker.owner, maker_pnl, maker_fee, maker_index)
    exchange.fee_account += maker_fee + taker_fee
    exchange.show_position(maker.holding)
    exchange.show_position(taker.holding)
    market.last = price
    market.max_position = max(market.max_position, abs(maker.holding.size),
                              abs(taker.holding.size))
    taker.filled += quantity
    maker.filled += quantity
    maker.holding.count(maker, -quantity)
    maker.remaining -= quantity
    maker.level.size -= quantity
    if maker.remaining == 0:
        finish(exchange, maker, FILLED, 0)
        exchange.take_out(maker)
    else:
        finish(exchange, maker, PARTIALLY_FILLED, 0)
    exchange.show(maker, EXECUTE, quantity)
    for holding, before in ((maker.holding, maker_before), (taker.holding, taker_before)):
        if before * holding.size <= 0 and before:
            exchange.end_reduce_only(holding)


def pay(exchange, portfolio, realised, fee, index):
    if realised:
        exchange.cash(portfolio, realised, index, CASH_TRADE)
    if fee:
        exchange.cash(portfolio, -fee, index, CASH_FEE)
