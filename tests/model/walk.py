"""Walk, then act (rules.md R3): what a taker would do to each maker, and rows 28 to 34 on it."""
import risk
from fees import fee_of
from portfolio import reducing_rule
from wire import CANCELED, FOK, IOC, REASON, STATUS

S = STATUS
MODES = "EXPIRE_TAKER EXPIRE_MAKER EXPIRE_BOTH DECREMENT".split()
STP_TAKER, STP_MAKER, STP_BOTH, STP_DECREMENT = range(4)
SELF, MARGIN = S["self_trade_prevention"], S["insufficient_margin_to_trade"]  # as reasons
# What the walk decided about one maker.
DROP, FILL, SHRINK = range(3)


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
        self.rest_before = 0  # of a replacement: what the order had, unless reduce-only
        self.met = 0
        self.most = exchange.walks.left()
        self.forced = None   # an order of the engine's own (forced.py)

    def run(self):
        order, exchange = self.order, self.exchange
        exchange.touch(self.portfolio)
        self.taker_ppm = order.market.taker_ppm[self.portfolio.volumes.rate]
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
                if self.met == self.most:
                    self.ended = REASON["match_limit"]
                    return
                self.met += 1
                self.meet(maker, level.price, room)
        if room is not None and self.filled == room and self.left and not self.ended:
            self.ended = REASON["reduce_only"]

    def meet(self, maker, price, room):
        risk.touch(self.exchange, maker.owner)
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
            self.met -= 1  # R3 counts makers that are filled or canceled
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
        self.exchange.touch(maker.owner)
        holding = maker.holding
        run = self.runs.get(holding)
        if run is None:
            equity, initial, maintenance = maker.owner.risk()
            others = maintenance - holding.margins()[1]
            # position, equity, MM of the other markets, flagged (R7), stress of the others
            stress = maker.owner.stress(self.exchange.t, self.exchange.max_age, maker.market)
            run = self.runs[holding] = [holding.size, equity, others, equity < initial, stress]
        size, equity, others, flagged, stress = run
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
        fee = (fee_of(price * quantity, market.maker_ppm[maker.owner.volumes.rate])
               if self.forced is None else self.forced.maker_fee(maker, price * quantity))
        equity_after = equity + (market.mark - price) * side * quantity - fee
        worse = (price - market.mark) * side > 0
        if worse or flagged:
            margin_after = others + market.maintenance_margin(abs(after) * market.mark)
            self.exchange.counts["maker test"] += 1
            if size * side >= 0 or quantity > abs(size):
                passed = equity_after - stress >= margin_after
            elif worse:
                margin = others + market.maintenance_margin(abs(size) * market.mark)
                passed = reducing_rule((equity, margin), (equity_after, margin_after), stress,
                                       quantity * market.mark)
            else:
                passed = True
            if not passed:
                self.actions.append((DROP, maker, (CANCELED, MARGIN)))
                return
        run[0], run[1] = after, equity_after
        if self.forced is not None:
            self.forced.walked(fee)
        self.actions.append((FILL, maker, quantity))
        self.left -= quantity
        self.filled += quantity
        self.value += price * quantity
        self.fees += fee_of(price * quantity, self.taker_ppm)
        if maker.reduce_only and after == 0 and quantity < maker.remaining and self.left:
            self.actions.append((DROP, maker, (CANCELED, REASON["reduce_only"])))

    def rests(self):
        return self.left > 0 and not self.ended and self.order.expiry not in (IOC, FOK)


def margin_passed(walk, initial_before=None):
    """R4's taker test on the state after the plan. `initial_before`: of a replacement, whose old
    rest is in no sum but this one, and pays for no trade."""
    order, portfolio, exchange = walk.order, walk.portfolio, walk.exchange
    equity, _, maintenance = portfolio.risk()
    initial = portfolio.entry_initial()
    if initial_before is None or walk.filled:
        initial_before = initial
    market = order.market
    holding = portfolio.holding(market)
    loss = holding.open_loss()
    im_here, mm_here = holding.entry_margin(holding.worst()) + loss, holding.margins()[1]
    buy, sell = holding.buy, holding.sell
    size = holding.size + order.side * walk.filled
    if walk.rests() and not order.reduce_only:
        loss += max(0, (order.price - market.mark) * order.side) * walk.left
        if order.side > 0:
            buy += walk.left
        else:
            sell += walk.left
    if beyond_limits(walk, holding, size, max(abs(size), abs(size + buy), abs(size - sell))):
        exchange.counts["beyond a limit of the market"] += 1
        return False
    excess = excess_behind(walk, holding, size)
    if size < 0:
        buy += excess
    else:
        sell += excess
    worst = max(abs(size), abs(size + buy), abs(size - sell))
    initial_after = initial - im_here + holding.entry_margin(worst) + loss
    maintenance_after = (maintenance - mm_here
                         + market.maintenance_margin(abs(size) * market.mark))
    equity_after = (equity + order.side * (market.mark * walk.filled - walk.value) - walk.fees)
    stress = portfolio.stress(exchange.t, exchange.max_age)
    if equity_after - stress >= initial_after:
        return True
    exchange.counts["needs margin for reduce-only orders"] += bool(excess and order.reduce_only)
    closed = min(abs(holding.size), walk.filled) if holding.size * order.side < 0 else 0
    if initial_after <= initial_before and reducing_rule(
            (equity, maintenance), (equity_after, maintenance_after), stress,
            closed * market.mark):
        exchange.counts["passed by the reducing rule"] += 1
        return True
    return False


def excess_behind(walk, holding, size):
    """R4, the excess behind the plan: of the other orders, for which a plan that makes the
    position smaller does not pay, and what the rest of this one adds."""
    order, before = walk.order, holding.size
    excess = holding.excess(size)
    more = 0
    if order.reduce_only and walk.rests():  # a position is left, of the same side
        whole = holding.reducing(order.side) + walk.left
        more = max(0, whole - abs(size)) - excess
    if before * size > 0 and abs(size) < abs(before):
        walk.exchange.counts["excess that a plan does not pay for"] += bool(excess)
        excess = max(0, holding.excess() - (abs(before) - abs(size)))
    walk.exchange.counts["reduce-only excess"] += bool(excess + more)
    return excess + more


def beyond_limits(walk, holding, size, worst):
    """R4: limits of the account's position and of the market's open interest, for an effect that
    makes the position or the resting part larger."""
    order, market = walk.order, walk.order.market
    rests = walk.left if walk.rests() and not order.reduce_only else 0
    if abs(size) <= abs(holding.size) and rests <= walk.rest_before:
        return False
    if market.position_limit and holding.of_account(worst) * market.mark > market.position_limit:
        return True
    return bool(walk.filled and market.interest_limit and walk.exchange.open_interest(market, walk)
                * market.mark > market.interest_limit)


def cross_refused(walk):
    """Row 28; the dead orders that it passes over go when the order is accepted. What an atomic
    batch has tried so far is looked at behind the book."""
    exchange, order, crosses = walk.exchange, walk.order, False
    opposite = order.market.side(-order.side)
    for level in opposite.crossing(order.price):
        for maker in level.orders:
            if maker in exchange.walks.tried:
                crosses = True
                continue
            state = exchange.dead_state(maker)
            if not state or walk.met == walk.most:
                return True
            walk.met += 1
            walk.actions.append((DROP, maker, state))
    return crosses


def decide(exchange, walk, initial_before=None):
    """Rows 28 to 33, and what the walk costs."""
    status = decide_rows(walk, initial_before)
    exchange.walks.met = walk.met
    if status:
        exchange.walks.refused += walk.met
    return status


def decide_rows(walk, initial_before):
    order = walk.order
    if order.post_only:
        if cross_refused(walk):
            return S["rejected_post_only_would_cross_book"]
    else:
        walk.run()
        if walk.contact_first:
            return S["self_trade_prevention"]
        if order.expiry == FOK:
            if walk.contact and order.stp in (STP_TAKER, STP_BOTH):
                return S["self_trade_prevention"]
            if walk.filled < order.remaining:
                return S["rejected_f_o_k_not_fully_filled_low_liquidity"]
    if not margin_passed(walk, initial_before):
        if order.expiry == FOK:
            return S["rejected_f_o_k_not_fully_filled_insufficient_margin"]
        return S["insufficient_margin_to_trade" if walk.filled else "insufficient_margin_to_place"]
    return 0
