"""Batches of orders (code 8; rules.md R11, Batch).

An atomic batch is tried on the model itself, its items acting one after the other, and everything
is put back before it is carried out, or refused."""
import risk
from amend import (cancel_order, enter_again, find, judge, keep, keeps_place, of_kind, put_back,
                   reduce_by, reduce_order, reduce_rows, replace_order, replace_terms,
                   size_expected, take_out_of_sums)
from market import Order
from place import act, addressed, cross_refused, limit_order, place_limit
from rows import first_rows, limit_rows, status_of
from walk import Walk
from wire import (ALL16, BATCH_HEAD, BATCH_ITEM, CANCELED, REASON, STATUS, is_uuid7, uuid_ms)

S = STATUS
OP_PLACE, OP_REDUCE, OP_REPLACE, OP_CANCEL = range(4)
OPS = "place reduction replacement cancel".split()


class Item:
    __slots__ = ("number", "op", "post_only", "reduce_only", "stp", "asset", "pad", "price",
                 "quantity", "expiry", "order_id", "expected", "reserved", "portfolio", "market")

    def __init__(self, number, body, portfolio, markets):
        (self.op, self.post_only, self.reduce_only, self.stp, self.asset, self.pad, self.price,
         self.quantity, self.expiry, self.order_id, self.expected, self.reserved) = \
            BATCH_ITEM.unpack(body)
        self.number, self.portfolio = number, portfolio
        self.market = markets.get(self.asset)

    def order(self, exchange):
        exchange.item = self.number
        return limit_order(exchange, self.order_id, self.portfolio, self.market,
                           (self.price, self.quantity, self.expiry, self.post_only,
                            self.reduce_only, self.stp))


def id_count(body):
    """Ids that a batch uses beside its own (row 2)."""
    items = BATCH_ITEM.iter_unpack(body[BATCH_HEAD.size:])
    return sum(fields[0] == OP_PLACE for fields in items)


def place_batch(exchange, request_id, body):
    account, subaccount, index, count, atomic, pad = BATCH_HEAD.unpack_from(body)
    portfolio = exchange.hierarchy.open_portfolio((account, subaccount, index))
    if portfolio is None:
        return S["rejected_invalid_portfolio_id"]
    exchange.protection.before_entry(portfolio)
    risk.touch(exchange, portfolio)
    if any(pad) or atomic > 1 or count == 0:
        return S["order_rejected_invalid"]
    items = [Item(number, body[at:at + BATCH_ITEM.size], portfolio, exchange.markets)
             for number, at in enumerate(range(BATCH_HEAD.size, len(body), BATCH_ITEM.size))]
    batch = Batch(exchange, request_id, portfolio, items, atomic)
    return batch.all_or_none() if atomic else batch.one_by_one()


class Batch:
    def __init__(self, exchange, request_id, portfolio, items, atomic):
        self.exchange, self.request_id = exchange, request_id
        self.portfolio, self.items, self.atomic = portfolio, items, atomic
        self.own = {request_id}  # ids that it has used

    # ---- rows 6 to 9 of an item

    def id_refused(self, item):
        """Row 6, and of op 0 rows 0 and 1."""
        exchange = self.exchange
        if not is_uuid7(item.order_id):
            return S["rejected_invalid_uuid"]
        if item.op != OP_PLACE:
            return 0
        now, milliseconds = exchange.t // 10**6, uuid_ms(item.order_id)
        if not now - exchange.past <= milliseconds <= now + exchange.future:
            return S["request_dropped"]
        if item.order_id in self.own or (self.portfolio.account, item.order_id) in exchange.seen:
            return S["duplicate_request_id"]
        return 0

    def form_refused(self, item):
        """Rows 7 to 9."""
        if item.asset in (0, ALL16):
            return S["order_rejected_invalid_market"]
        if item.market is None:
            return S["rejected_market_not_found"]
        enters = item.op in (OP_PLACE, OP_REPLACE)
        if (item.op > OP_CANCEL or item.pad or item.reserved
                or self.atomic and enters and item.post_only != 1):
            return S["order_rejected_invalid"]
        if enters and item.post_only == 1 and self.exchange.protection.frozen(self.portfolio,
                                                                              item.market):
            self.exchange.reason = REASON["mmp_frozen"]
            self.exchange.counts["refused by mmp"] += 1
            return S["order_rejected_invalid"]
        return 0

    def use_id(self, item, status):
        self.own.add(item.order_id)
        self.exchange.remember((self.portfolio.account, item.order_id), status,
                               uuid_ms(item.order_id))

    def tell(self, item, status, reason=0):
        self.exchange.emit(2100, self.request_id, self.portfolio.account, status, reason,
                           item.number, 0)

    # ---- not atomic

    def one_by_one(self):
        exchange = self.exchange
        for item in self.items:
            exchange.reason = exchange.walks.met = 0
            exchange.item = item.number
            status = self.id_refused(item)
            uses = not status and item.op == OP_PLACE
            status = status or self.form_refused(item) or self.run(item)
            exchange.walks.of_batch += exchange.walks.met
            if uses:
                self.use_id(item, status)
            risk.flush(exchange)
            self.note(item, status)
            self.tell(item, status, exchange.reason)
        exchange.reason, exchange.subject = 0, None
        return 0

    def note(self, item, status):
        kind = "atomic" if self.atomic else "batch"
        op = OPS[item.op] if item.op <= OP_CANCEL else "unknown"
        self.exchange.counts[f"{kind} {op}"] += 1
        if not status:
            self.exchange.counts[f"{kind} {op} done"] += 1

    def run(self, item):
        exchange, where = self.exchange, (self.portfolio, item.market, item.order_id)
        if item.op == OP_PLACE:
            return place_limit(exchange, item.order(exchange), item.quantity)
        if item.op == OP_REPLACE:
            return replace_order(exchange, item.order(exchange), item.quantity, item.expected)
        if item.op == OP_CANCEL:
            return cancel_order(exchange, *where)
        return reduce_order(exchange, *where, item.quantity, item.expected)

    # ---- atomic

    def all_or_none(self):
        exchange, items = self.exchange, self.items
        self.known = {order.id for holding in self.portfolio.holdings.values()
                      for order in holding.orders}
        first_refused = self.check_ids()
        acting = sorted(items, key=lambda item: item.op != OP_CANCEL)
        exchange.orders_needed = len(exchange.orders) + sum(item.op == OP_PLACE for item in items)
        trial = Trial(exchange, self.portfolio, items)
        refused, walks = {}, exchange.walks
        for item in acting:
            walks.met = 0
            status, action = self.judge(item)
            if not first_refused[item.number]:
                walks.of_batch += walks.met
            status = first_refused[item.number] or status
            if status:
                refused[item.number] = status
            else:
                action(True)
        status = refused[min(refused)] if refused else self.margin_refused(trial)
        trial.undo()
        exchange.orders_needed, looked = 0, walks.of_batch
        walks.of_batch, walks.tried = 0, set()
        if status:
            walks.refused += looked
            self.abort(first_refused)
            exchange.counts["atomic aborted " + ("by an item" if refused else "by margin")] += 1
            exchange.reason = REASON["batch_aborted"]
            return status
        exchange.reason = 0
        for item in acting:
            self.judge(item)[1](False)
        for item in items:
            if item.op == OP_PLACE:
                self.use_id(item, 0)
            self.note(item, 0)
            self.tell(item, 0)
        exchange.counts["atomic done"] += 1
        exchange.subject = None
        return 0

    def check_ids(self):
        refused = []
        for item in self.items:
            status = self.id_refused(item)
            refused.append(status)
            if not status and item.op == OP_PLACE:
                self.own.add(item.order_id)
        return refused

    def margin_refused(self, trial):
        """Rows 31 to 33, once: nothing trades, so E is what it was."""
        exchange, equity = self.exchange, self.portfolio.risk()[0]
        initial = self.portfolio.entry_initial()
        if self.beyond_limits(trial):
            return S["insufficient_margin_to_place"]
        if equity - self.portfolio.stress(exchange.t, exchange.max_age) >= initial:
            return 0
        if initial <= trial.initial:  # nothing trades: the reducing rule holds
            return 0
        return S["insufficient_margin_to_place"]

    def beyond_limits(self, trial):
        """R4, on the final state: what rests has grown beyond the market's limit."""
        for key, holding in self.portfolio.holdings.items():
            market, before = holding.market, trial.rests.get(key, (0, 0))
            if (market.position_limit and (holding.buy > before[0] or holding.sell > before[1])
                    and holding.of_account(holding.worst_without_reducing()) * market.mark
                    > market.position_limit):
                return True
        return False

    def abort(self, first_refused):
        """What each item alone would have been answered."""
        exchange, answers = self.exchange, []
        self.own = {self.request_id}
        for item in self.items:
            exchange.reason = 0
            trial = Trial(exchange, self.portfolio, [item])
            status, action = self.id_refused(item), None
            exchange.walks.met = 0
            if not status:
                status, action = self.judge(item)
            exchange.walks.of_batch += exchange.walks.met
            if action and status in (0, S["order_rejected_internal"]):  # 31 to 33 come before 34
                action(True)
                status = self.margin_refused(trial) or status
            trial.undo()
            answers.append((item, status))
        for item, status in answers:
            if item.op == OP_PLACE and not first_refused[item.number]:
                self.use_id(item, status)
            self.note(item, status or -1)
            self.tell(item, status)
        exchange.walks.refused += exchange.walks.of_batch
        exchange.walks.tried = set()
        exchange.subject = None

    def judge(self, item):
        """Rows 7 to 28 and 34: (status, what carries it out). `quiet`: dead orders stay."""
        if status := self.form_refused(item):
            return status, None
        judges = self.judge_place, self.judge_reduce, self.judge_replace, self.judge_cancel
        return judges[item.op](item)

    def judge_place(self, item):
        exchange, order = self.exchange, item.order(self.exchange)
        case = (first_rows(exchange, order)
                or limit_rows(exchange, order, item.quantity, self.portfolio))
        if case:
            return S[status_of(case)], None
        walk = Walk(exchange, order, self.portfolio)
        crosses = cross_refused(walk)
        exchange.walks.met = walk.met
        if crosses:
            return S["rejected_post_only_would_cross_book"], None
        return 0, lambda quiet: self.enter(walk, quiet)

    def enter(self, walk, quiet):
        if quiet:
            walk.actions = []
            self.exchange.walks.tried.add(walk.order)
        act(self.exchange, walk)

    def target(self, item):
        """Row 13: as they stood before the batch."""
        if item.order_id not in self.known:
            return None
        return find(self.exchange, self.portfolio, item.order_id, item.market)

    def judge_cancel(self, item):
        order = self.target(item)
        if order is None:
            return S["rejected_order_not_found"], None
        return 0, lambda quiet: self.exchange.remove(order, CANCELED, REASON["user_cancel"])

    def judge_reduce(self, item):
        order = self.target(item)
        if order is None:
            return S["rejected_order_not_found"], None
        status = reduce_rows(self.exchange, order, item.quantity, item.expected)
        return status, lambda quiet: reduce_by(self.exchange, order, item.quantity)

    def judge_replace(self, item):
        exchange, new = self.exchange, item.order(self.exchange)
        if case := replace_terms(exchange, new):
            return S[status_of(case)], None
        old = self.target(item)
        if old is None:
            return S["rejected_order_not_found"], None
        if not size_expected(exchange, 2, old, item.expected):
            return S["rejected_size_not_equal"], None
        new = of_kind(new, old)
        new.filled, new.value, new.placed = old.filled, old.value, old.placed
        rest = old.remaining
        take_out_of_sums(old)
        status, walk = judge(exchange, new, item.quantity, old, (rest, None), False)
        exchange.walks.met = walk.met if walk else 0
        put_back(old, rest)
        if status:
            return status, None
        return 0, lambda quiet: self.replace(old, new, walk, rest, quiet)

    def replace(self, old, new, walk, rest, quiet):
        if keeps_place(new, old, rest):
            keep(self.exchange, old, new)
            return
        if quiet:
            walk.actions = []
            self.exchange.walks.tried.add(walk.order)
        enter_again(self.exchange, old, walk)


class Trial:
    """What the items of an atomic batch may change, as it was."""

    def __init__(self, exchange, portfolio, items):
        self.exchange, self.portfolio = exchange, portfolio
        self.initial = portfolio.entry_initial()
        self.rests = {key: (holding.buy, holding.sell)
                      for key, holding in portfolio.holdings.items()}
        self.simple = {name: getattr(exchange, name) for name in
                       ("effects", "id_index", "entered", "item", "subject")}
        self.copies = {name: getattr(exchange, name).copy() for name in
                       ("counts", "ends", "changed", "orders", "private_seq")}
        exchange.effects = []
        self.flags = portfolio.changed, portfolio.order_count
        self.holdings = {key: (holding, slots_of(holding), dict(holding.orders))
                         for key, holding in portfolio.holdings.items()}
        self.orders = [(order, slots_of(order)) for _, _, orders in self.holdings.values()
                       for order in orders]
        self.books = [(market, market.book_seq, [(side, list(side.keys), [
            (price, level, level.size, dict(level.orders)) for price, level in side.levels.items()])
            for side in (market.bids, market.asks)])
            for market in {item.market for item in items if item.market}]

    def undo(self):
        exchange, portfolio = self.exchange, self.portfolio
        for holding in portfolio.holdings.values():
            for order in holding.orders:
                order.level = None  # it never was; the others get theirs back
        for name, value in (self.simple | self.copies).items():
            setattr(exchange, name, value)
        portfolio.changed, portfolio.order_count = self.flags
        portfolio.holdings = {key: holding for key, (holding, _, _) in self.holdings.items()}
        for holding, slots, orders in self.holdings.values():
            restore(holding, slots)
            holding.orders = orders
        for order, slots in self.orders:
            restore(order, slots)
        for market, book_seq, sides in self.books:
            market.book_seq = book_seq
            for side, known, levels in sides:
                side.keys = known
                side.levels = {}
                for price, level, size, orders in levels:
                    side.levels[price] = level
                    level.size, level.orders = size, orders


def slots_of(thing):
    slots = Order.__slots__ if isinstance(thing, Order) else type(thing).__slots__
    return {name: getattr(thing, name) for name in slots if hasattr(thing, name)}


def restore(thing, slots):
    for name, value in slots.items():
        setattr(thing, name, value)
