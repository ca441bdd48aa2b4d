"""One market: its record (json.md J5), its book, its index and mark (rules.md R3, R5).

Sides are +1 (buy, LONG) and -1 (sell, SHORT). A book side keeps its prices as keys price * -side
in one sorted list, so that the best level is always keys[0]."""
import json
from bisect import bisect_left, insort
from collections import deque

from wire import ACTIVE, CLOSED, HALTED, REDUCE_ONLY

PPM = 1000000
SECOND = 1000000000
REST = SECOND // 4  # an order counts in the impact prices that has rested so long
CLOSING_S = 1800
CLOSING_FROM = CLOSING_S * SECOND  # behind the announcement


def cdiv(value, divisor):
    return -(-value // divisor)


def tdiv(value, divisor):
    quotient = abs(value) // abs(divisor)
    return quotient if (value < 0) == (divisor < 0) else -quotient


def decimal(text, decimals):
    """An exact decimal as an integer of 10^-decimals."""
    sign = -1 if text.startswith("-") else 1
    whole, _, part = text.lstrip("-").partition(".")
    assert len(part) <= decimals, text
    return sign * int(whole + part.ljust(decimals, "0"))


class Order:
    __slots__ = ("id", "owner", "holding", "market", "side", "price", "remaining", "filled",
                 "expiry", "reduce_only", "post_only", "stp", "stamp", "level", "type",
                 "value", "placed", "status", "lists", "handle", "entered", "was_reducing")


class Level:
    __slots__ = ("price", "size", "orders")

    def __init__(self, price):
        self.price = price
        self.size = 0
        self.orders = {}  # order id with account -> Order, oldest first


class Side:
    __slots__ = ("sign", "keys", "levels")

    def __init__(self, sign):
        self.sign = sign
        self.keys = []
        self.levels = {}

    def best(self):
        return -self.sign * self.keys[0] if self.keys else 0

    def insert(self, order):
        level = self.levels.get(order.price)
        if level is None:
            level = self.levels[order.price] = Level(order.price)
            insort(self.keys, -self.sign * order.price)
        level.orders[order] = order
        level.size += order.remaining
        order.level = level

    def remove(self, order):
        level = order.level
        del level.orders[order]
        level.size -= order.remaining
        order.level = None
        if not level.orders:
            del self.levels[level.price]
            del self.keys[bisect_left(self.keys, -self.sign * level.price)]

    def all(self):
        """Every level, best first."""
        for key in self.keys:
            yield self.levels[-self.sign * key]

    def crossing(self, limit):
        """Levels that a taker of the other side with that limit meets, best first."""
        bound = -self.sign * limit
        for key in self.keys:
            if key > bound:
                return
            yield self.levels[-self.sign * key]


class Market:
    def __init__(self, record, t):
        rec = json.loads(record)
        self.id, self.symbol = rec["asset_id"], rec["market"]
        price, size = rec["price_decimals"], rec["size_decimals"]
        self.tick = decimal(rec["tick_size"], price)
        self.lot = decimal(rec["lot_size"], size)
        self.min_size = decimal(rec["min_size"], size)
        self.max_size = decimal(rec["max_order_size"], size)
        self.min_notional = decimal(rec["min_notional"], 6)
        self.impact_notional = decimal(rec["impact_notional"], 6)
        self.max_price = min(2**40 - 1, self.tick * (2**24 - 1))
        self.max_leverage = rec["max_leverage"]
        self.leverage = min(20, self.max_leverage)  # unless a portfolio set another one
        self.band = rec["price_band_ppm"]
        self.slippage = rec["max_slippage_ppm"]
        # by fee tier
        self.maker_ppm = [decimal(row["maker_fee_rate"], 6) for row in rec["fees"]]
        self.taker_ppm = [decimal(row["taker_fee_rate"], 6) for row in rec["fees"]]
        self.set_tiers(rec["tiers"])
        self.book_ppm = rec.get("mark_book_ppm", self.tiers[0][2] // 4)  # b of R5
        self.sources_min = rec.get("oracle_sources_min", 1)
        self.position_limit = decimal(rec.get("position_limit", "0"), 6)  # 0: none
        self.interest_limit = decimal(rec.get("open_interest_limit", "0"), 6)
        self.bids, self.asks = Side(1), Side(-1)
        self.state = self.former_state = ACTIVE
        self.kept = None        # state to return to while the clock has a gap
        self.passes_hour = False  # until its next second
        self.index = 0          # last accepted oracle price
        self.index_at = 0       # its publish time
        self.valid_at = 0       # t at which it was taken
        self.publish_ts = 0     # of the newest update, held or not
        self.is_held = False
        self.run = []           # (publish time, price) while held: within 2 % of each other
        self.anchor = 0         # reference when the first of holds in a row began
        self.hold_until = None  # t of the end of the last hold
        self.taken_at = -1      # t of the last price taken by a run or by the operator
        self.checked_mark = 0   # at which the last finished scan began, in a gap: before it
        self.in_gap = False
        self.announced_at = None  # t at which its closing was announced
        self.signature = bytes(64)  # of the newest update that was accepted
        self.mark = 0
        self.shown_valid = 0    # what the last 2109 said
        self.ema = 0
        self.last = 0
        self.trade_seq = 0
        self.book_seq = 0
        self.max_position = 0   # R1: running maximum of |s|
        self.scan_position = 0  # of the running scan
        self.next_second = (t // SECOND + 1) * SECOND
        self.scan = None        # the queued mark scan
        self.list = None        # the queued release of its cancellation list
        self.list_stamp = 0     # while it is queued
        self.premium = self.premium_sum = self.premium_count = 0  # of the hour's samples
        self.premium_slot, self.funding_hour = t // (5 * SECOND), t // (3600 * SECOND)
        self.epoch = self.epoch_hour = self.funding_pool = 0
        self.funding = None     # the queued item of the open epoch
        self.waited = False     # somebody's liquidation waits for it (R7)
        self.unwind = None      # the queued item of the fund's selling
        self.samples = deque()  # (second, index, t) of the last half hour (R9)
        self.settling = False   # CLOSED and its settlement not complete
        self.gains = self.shortfall = 0
        self.ordinal = 0        # place in the order of definition

    def set_tiers(self, tiers):
        """R4: (upper, imr, mmr, im deduction, mm deduction) of each tier."""
        self.tiers = []
        before = None
        for tier in tiers:
            upper = tier["upper_notional"]
            imr = PPM // tier["max_leverage"]
            mmr = imr // 2
            im_off = mm_off = 0
            if before:
                im_off = before[3] + cdiv(before[0] * (imr - before[1]), PPM)
                mm_off = before[4] + cdiv(before[0] * (mmr - before[2]), PPM)
            before = (2**200 if upper is None else decimal(upper, 6), imr, mmr, im_off, mm_off)
            self.tiers.append(before)

    def side(self, sign):
        return self.bids if sign > 0 else self.asks

    def tier(self, notional):
        for tier in self.tiers:
            if notional <= tier[0]:
                return tier

    def initial_margin(self, notional, leverage):
        _, imr, _, im_off, _ = self.tier(notional)
        return max(-(-notional // leverage), -(-notional * imr // PPM) - im_off)

    def maintenance_margin(self, notional):
        _, _, mmr, _, mm_off = self.tier(notional)
        return max(0, -(-notional * mmr // PPM) - mm_off)

    def index_valid(self, t, max_age):
        if self.state == CLOSED:
            return not self.settling
        return self.index > 0 and not self.is_held and (
            max_age == 0 or t - self.index_at <= max_age)

    def matches(self, t, max_age):
        """R9: whether the book trades, at a mark that is valid."""
        return self.state in (ACTIVE, REDUCE_ONLY) and self.index_valid(t, max_age)

    def frozen(self, t, max_age):
        """R4: its mark is that of another time."""
        return self.state == HALTED or not self.index_valid(t, max_age)

    def stress(self, notional, t):
        """R4: what a frozen market takes off: a tenth, or all of it."""
        if (self.state == HALTED or self.is_held or self.settling
                or t - self.index_at > 60 * SECOND):
            return notional
        return cdiv(notional, 10)

    def won_in_gap(self, size):
        """R4: what a gap has given the position so far."""
        return max(0, (self.mark - self.checked_mark) * size) if self.in_gap else 0

    def better(self, size):
        """R7: of mark and index the better one for the owner of that position."""
        return max(self.mark, self.index) if size > 0 else min(self.mark, self.index)

    def band_of(self, mark):
        """Prices within the band of a mark: (lowest, highest), R3."""
        return (max(1, cdiv(mark * (PPM - self.band), PPM)), mark * (PPM + self.band) // PPM)

    def impact(self, side, exchange):
        """Numerator and denominator of the average price of impact_notional, or None (R5)."""
        notional = size = met = 0
        for level in side.all():
            for order in level.orders:
                if met == exchange.makers_max:
                    return None
                met += 1
                if exchange.t - order.entered < REST:  # and so are those behind it
                    exchange.counts["impact price without a young order"] += 1
                    break
                if order.reduce_only or order.was_reducing:
                    exchange.counts["impact price without a " + (
                        "reduce-only order" if order.reduce_only else "turned order")] += 1
                    continue
                value = level.price * order.remaining
                if notional + value >= self.impact_notional:
                    rest = self.impact_notional - notional
                    # quantity = size + rest / price, average = impact_notional / quantity
                    return self.impact_notional * level.price, size * level.price + rest
                notional += value
                size += order.remaining
        return None

    def matches_state(self):
        return self.state in (ACTIVE, REDUCE_ONLY)

    def may_be_met(self):
        """A taker may meet what rests: the market matches, and not in a gap (R3)."""
        return self.matches_state() and not self.in_gap

    def update_ema(self, exchange):
        """R5: the premium's moving average in Q20."""
        excess = 0
        below = above = None
        if self.may_be_met() and self.book_ppm:
            below = self.impact(self.bids, exchange)
            above = self.impact(self.asks, exchange)
        if below and above:
            bound = self.index * self.book_ppm // PPM
            middle = (below[0] // below[1] + cdiv(above[0], above[1])) // 2
            excess = min(max(middle - self.index, -bound), bound)
        self.ema += tdiv((excess << 20) - self.ema, 150)

    def next_mark(self, t):
        """R5: the median, clamped; while it closes, on its way to the settlement price."""
        if self.announced_at is not None and t >= self.announced_at + CLOSING_FROM:
            return max(1, self.closing_mark(t))
        low = cdiv(self.index * (PPM - self.book_ppm), PPM)
        high = self.index * (PPM + self.book_ppm) // PPM
        one, two = self.index, self.index + (self.ema >> 20)
        third = self.third_price()
        mark = sorted((one, two, third))[1] if third else (one + two) // 2
        return max(1, min(max(mark, low), high))

    def third_price(self):
        """R5: what the book has to say, clamped; 0: nothing."""
        known = sorted(price for price in (self.bids.best(), self.asks.best(), self.last) if price)
        if not known or not self.matches_state():
            return 0
        third = known[1] if len(known) == 3 else sum(known) // len(known)
        return min(max(third, cdiv(self.index * (PPM - self.book_ppm), PPM)),
                   self.index * (PPM + self.book_ppm) // PPM)

    def closing_mark(self, t):
        passed = (t - self.announced_at - CLOSING_FROM) // SECOND
        mean = self.mean_of_samples(t)
        if mean is None:
            return self.index
        return self.index + tdiv((mean - self.index) * min(CLOSING_S, passed), CLOSING_S)

    def mean_of_samples(self, t, least=1):
        """T of R9: of the last half hour; None of fewer."""
        since = t // SECOND - CLOSING_S
        known = [index for second, index, _ in self.samples if second > since]
        return sum(known) // len(known) if len(known) >= least else None

    # ---- updates that are far off (R5)

    def reference(self, t):
        """0: every price is taken."""
        since = t // SECOND - 60
        known = sorted(index for second, index, at in self.samples
                       if second > since and at > self.taken_at)
        return known[(len(known) - 1) // 2] if known else self.index

    def is_far(self, price, reference):
        return reference > 0 and abs(price - reference) * 100 > reference * 10

    def begin_hold(self, reference, t):
        if self.hold_until is None or t - self.hold_until > 60 * SECOND:
            self.anchor = reference
        self.is_held, self.run = True, []

    def end_hold(self, t):
        self.is_held, self.run, self.hold_until = False, [], t

    def join_run(self, publish_ts, price):
        """Whether the run is taken with this update."""
        prices = [price, *(each for _, each in self.run)]
        if (max(prices) - min(prices)) * 100 > min(prices) * 2:
            self.run = []
        self.run.append((publish_ts, price))
        return (len(self.run) >= 3 and publish_ts - self.run[0][0] >= 2 * SECOND
                and abs(price - self.anchor) * 100 <= self.anchor * 20)
