"""A naive exchange: what the rule book says, with dictionaries and sorted lists and no thought of
speed of matching. It is written from the rules and shares nothing with the engine but them; what
it takes for granted where they are silent is in README.md.

Exchange.apply takes what the pipe takes and gives (sequence, t, status, original status) and the
list of effects (code, 48 bytes) in the order of wire.md W3c."""
from base64 import b64decode
from collections import Counter
from functools import partial
from heapq import heappop, heappush

import amend
import batches
import forced
import funding
import liquidation
import protection
import risk
import settlement
import states
from cash import Cash
from closed import ClosedRows
from conditionals import Conditionals
from credentials import ADDING, Credentials, REMOVING, SIGNUPS, refusal
from deferred import Work
from hierarchy import Hierarchy
from market import Market, SECOND
from place import place, place_market
from protection import Protection, REDUCE_ONLY_LIST
from reclaim import Reclaim
from shares import Shares
from walks import Walks
from wire import (ADD, ALL16, AMEND, ARM, BATCH, BOOT, BOOT_BODY, CANCEL, CANCELED, CANCEL_ALL,
                  CANCEL_ONLY, CASH_DEPOSIT, CASH_FAUCET, CASH_TRANSFER, CLOCK_CONFIRM, CLOSED,
                  CLOSE_ACCOUNT, CLOSE_PORTFOLIO, CLOSE_SUBACCOUNT, CONDITIONAL, CONDITIONAL_CANCEL,
                  CONFIGURATION, CREATE_KEY, CREATE_PASSKEY_ACCOUNT, CREATE_PORTFOLIO,
                  CREATE_SESSION, CREATE_SUBACCOUNT, DEFINE, DELETE, DEPOSIT, DISCONNECT, EXPIRED,
                  FAUCET, FEE_TIER, HALTED, HALT_ALL, INDEX_ACCEPT, INDEX_ACCEPT_BODY, LEVERAGE,
                  LEVERAGE_BODY, LOGIN, MARKET_ORDER, MARKET_STATE, OPERATOR_CANCEL, ORACLE,
                  ORACLE_BODY, PACK, PLACE, PORTFOLIO_CLOSED, REASON, RENAME, REOPEN_PORTFOLIO,
                  REPLACE, RESET_MMP, RESTORED, REVOKE_ALL, REVOKE_KEY, REVOKE_SESSION,
                  SCHEDULE_CANCEL, SETTLE, SET_MMP, SIGNING_KEY, STATUS, SUSPEND, TICK, TOP_UP,
                  TRANSFER, UNTRIGGERED, WITHDRAW, uuid_ms)

S = STATUS
MS = 1000000
WORK_TICK_UNITS = 1024
MARK_VALUE_MAX = 2**60
SLICE_MS = 16
ACCOUNT_OPEN_ORDERS = 10000
KEPT_FOR = {AMEND, CANCEL, CANCEL_ALL, CONDITIONAL_CANCEL}  # an eighth of the duplicate set
ACCOUNT_TIER = 3  # what a 2119 tells
# The effects that are private events (W3c), and which of their fields is the account.
PRIVATE = {2101: None, 2102: None, 2103: 0, 2104: 0, 2105: 0, 2112: 0, 2113: 0, 2116: 0, 2118: 1,
           2120: 1}
ARRIVING = (CASH_DEPOSIT, CASH_FAUCET)


class Exchange:
    def __init__(self):
        self.t = self.sequence = 0
        self.limits = {}
        self.markets = {}
        self.portfolios = {}      # (account, subaccount, portfolio) -> Portfolio
        self.by_number = []       # index = creation number
        self.orders = {}          # (account, order id) -> resting Order
        self.volumes = {}         # account -> Volumes
        self.credentials = Credentials(self)
        self.seen = {}            # (account, request id) -> (status, t)
        self.slices = {}          # slice number -> keys of seen
        self.oldest = []          # heap of the slice numbers in use
        self.reclaim, self.closed = Reclaim(self), ClosedRows(self)
        self.hierarchy = Hierarchy(self)
        self.money = Cash(self)
        self.conditionals = Conditionals(self)
        self.protection = Protection(self)
        self.shares = Shares(self)
        self.orders_needed = 0  # rows that an atomic batch needs, while it is judged
        self.entered = self.item = 0  # orders that this command has entered; item of a batch
        self.walks = Walks(self)
        self.accounts = self.fee_account = 0  # accounts: the last that was made
        self.work = Work(self)
        self.changed = []         # portfolios to check
        self.run = None           # the L3 run that is under way
        self.paid_day = self.paid = 0  # R7: the day, and what the fund has paid in it
        self.extra = b""
        self.payments = 0         # of funding, ever
        self.mark_epoch = 0       # raised when a mark moves and when an epoch of funding opens
        self.gap = 0  # the step of the gap of the clock that is open
        self.effects = []
        self.private_seq = Counter()  # account -> its private events (W9)
        self.id_index = 0
        self.counts, self.ends = Counter(), Counter()  # what was met
        self.hierarchy.new_account(0)  # the fund
        self.handlers = {
            AMEND: lambda body: amend.reduce(self, body),
            REPLACE: lambda body: amend.replace(self, body),
            CANCEL: lambda body: amend.cancel(self, body),
            MARKET_STATE: lambda body: states.set_one(self, body, True),
            HALT_ALL: lambda body: states.set_all(self, body, True),
            CANCEL_ALL: self.protection.cancel_all, ORACLE: self.oracle,
            INDEX_ACCEPT: self.index_accept,
            CLOCK_CONFIRM: lambda body: states.confirm_gap(self, body, True),
            DEPOSIT: self.money.deposit,
            CONDITIONAL_CANCEL: self.conditionals.cancel,
            SCHEDULE_CANCEL: self.protection.schedule, SET_MMP: self.protection.set_mmp,
            RESET_MMP: self.protection.reset_mmp,
            OPERATOR_CANCEL: self.protection.operator_cancel,
            TRANSFER: self.money.transfer, WITHDRAW: self.money.withdraw,
            SETTLE: self.money.settle, TOP_UP: self.money.top_up,
            CREATE_SUBACCOUNT: self.hierarchy.create_subaccount,
            CLOSE_SUBACCOUNT: self.hierarchy.close_subaccount,
            CREATE_PORTFOLIO: self.hierarchy.create_portfolio,
            CLOSE_ACCOUNT: self.hierarchy.close_account,
            SUSPEND: self.hierarchy.suspend, FEE_TIER: self.hierarchy.set_fee_tier,
            CREATE_SESSION: self.credentials.create_session,
            REVOKE_ALL: self.credentials.revoke_all, REVOKE_KEY: self.credentials.revoke_key}
        self.placing = {
            PLACE: partial(place, self), MARKET_ORDER: partial(place_market, self),
            BATCH: partial(batches.place_batch, self), CONDITIONAL: self.conditionals.place}
        self.plain = {  # give (status, reason)
            LEVERAGE: self.set_leverage, CLOSE_PORTFOLIO: self.hierarchy.close_portfolio,
            REOPEN_PORTFOLIO: self.hierarchy.reopen_portfolio, RENAME: self.hierarchy.rename,
            FAUCET: self.money.faucet_credit, ARM: self.protection.arm,
            DISCONNECT: self.protection.disconnect}

    # ---- effects and coverage

    def refuse(self, rule, status="order_rejected_invalid"):
        """The rule that an operator's command breaks; returns the status."""
        self.rule = rule
        return S[status]

    def emit(self, code, *fields, owner=None):
        """`owner`: the portfolio of a 2101 or 2102, which do not name it."""
        self.effects.append((code, PACK[code](*fields)))
        if code in PRIVATE:
            account = owner.account if owner else fields[PRIVATE[code]]
            self.private_seq[account] += 1
            if code == 2104 and (fields[6] in ARRIVING
                                 or (fields[6] == CASH_TRANSFER and fields[3] < 0)):
                self.private_seq[account] += 1  # W9: the balance, then the transfer

    def note_tiers(self, maker, taker, maker_fee):
        counts = self.counts
        counts["maker tier %d" % maker.owner.volumes.rate] += 1
        counts["taker tier %d" % taker.owner.volumes.rate] += 1
        if maker_fee < 0:
            counts["rebate"] += 1

    def note_state(self, status, reason):
        self.ends[status, reason] += 1

    def show(self, order, action, quantity):
        """2107 and 2106 of an order whose change is done: what was added, or taken away."""
        market = order.market
        market.book_seq += 1
        if action == ADD:
            order.handle = market.book_seq
        self.emit(2107, order.id, order.price, quantity, market.book_seq, market.id, order.side < 0,
                  action)
        level = market.side(order.side).levels.get(order.price)
        market.book_seq += 1
        self.emit(2106, order.price, level.size if level else 0, len(level.orders) if level else 0,
                  order.side < 0, market.book_seq, market.id)

    def show_position(self, holding):
        owner = holding.portfolio
        self.emit(2103, owner.account, owner.subaccount, owner.index, holding.size, holding.cost,
                  holding.net_funding, holding.market.id)

    def cash(self, portfolio, amount, ref, kind):
        before, portfolio.cash = portfolio.cash, portfolio.cash + amount
        if portfolio.number == 0:
            risk.fund_moved(self)
        else:
            risk.changed(self, portfolio)
        self.emit(2104, portfolio.account, portfolio.subaccount, portfolio.index, amount,
                  portfolio.cash, ref, kind)
        if portfolio.number == 0 and (before < 0) != (portfolio.cash < 0):
            self.counts["fund below 0" if portfolio.cash < 0 else "fund at 0 again"] += 1
            self.emit(2117, portfolio.cash, amount, portfolio.cash < 0)

    # ---- check-on-touch

    def touch(self, portfolio):
        """R3, as far as it tells something: the fee tier of the day (R6)."""
        before = portfolio.volumes.rate
        if portfolio.volumes.touch(self.t):
            tier = portfolio.volumes.rate
            self.counts["tier rises" if tier > before else "tier falls"] += 1
            self.emit(2119, portfolio.account, 0, 0, 0, tier, ACCOUNT_TIER)

    # ---- solvency (R2)

    def owed(self):
        return sum(portfolio.owed for portfolio in self.by_number)

    def is_short(self):
        return self.by_number[0].cash + self.fee_account - self.owed() < 0

    def claims(self):
        return sum(max(0, portfolio.cash) for portfolio in self.by_number[1:])

    def open_interest(self, market, walk=None):
        """The sum of long positions, behind the plan of a walk when there is one."""
        total = sum(max(0, portfolio.holdings[market.id].size) for portfolio in self.by_number
                    if market.id in portfolio.holdings)
        if walk is None:
            return total
        own = walk.portfolio.holding(market).size
        total += max(0, own + walk.order.side * walk.filled) - max(0, own)
        return total + sum(max(0, run[0]) - max(0, holding.size)
                           for holding, run in walk.runs.items())

    # ---- orders that end

    def dead_state(self, order):
        """R3: (status, reason) of an order that is dead at t, else None. A list goes before a
        dead-man deadline that has not fired, that before the expiry."""
        if order.lists:
            return CANCELED, protection.reason_of(order.lists)
        if order.status == UNTRIGGERED and order.swept:
            return CANCELED, REASON["operator"]
        if order.owner.dead_man and self.protection.dead_man_passed(order):
            return CANCELED, REASON["dead_man"]
        if order.status == UNTRIGGERED and order.market.state == CLOSED:
            return CANCELED, REASON["market_state"]
        return (EXPIRED, 0) if order.expiry <= self.t else None

    def take_out(self, order):
        """Out of book and sums; `remaining` stays as it is."""
        holding = order.holding
        self.work.taken_out(order)
        risk.changed(self, order.owner)
        holding.count(order, -order.remaining)
        del holding.orders[order]
        order.owner.order_count -= 1
        order.market.side(order.side).remove(order)
        del self.orders[order.owner.account, order.id]

    def remove(self, order, status, reason):
        order.status = status
        self.note_state(status, reason)
        self.take_out(order)
        self.emit(2101, order.id, order.remaining, order.filled, order.price, status, reason,
                  order.side < 0, order.type, order.market.id, owner=order.owner)
        self.show(order, DELETE, order.remaining)

    def end_all_orders(self, portfolio, reason):
        self.protection.cover_all(portfolio, reason)
        self.conditionals.doom(portfolio, reason)

    def end_reduce_only(self, holding, used_up=None):
        holding.list_stamp = self.next_stamp()
        self.protection.cover((order for order in holding.orders
                               if order.reduce_only and order is not used_up),
                              REDUCE_ONLY_LIST, REASON["reduce_only"])
        self.conditionals.doom(holding.portfolio, REASON["reduce_only"], holding.market,
                               reduce_only=(1,))

    def expire(self, order):
        owner = order.owner
        self.emit(2115, owner.account, owner.subaccount, owner.index, 0, order.market.id)
        self.release(order)
        self.counts["expired by timer"] += 1

    def release(self, order):
        """Of a dead order."""
        self.end_order(order, *self.dead_state(order))

    def end_order(self, order, status, reason):
        if order.status == UNTRIGGERED:
            self.conditionals.end(order, status, reason)
        else:
            self.remove(order, status, reason)

    def next_stamp(self):
        """R3, the age of an order: the stamp of the next order that enters or list made."""
        return self.sequence << 16 | self.entered

    def take_stamp(self):
        self.entered += 1
        return self.next_stamp() - 1

    # ---- marks

    def second(self, market):
        """The full second of a market: ema, then mark (R5)."""
        if market.index_valid(self.t, self.max_age):
            market.update_ema(self)
            self.recompute(market)
            settlement.sample(self, market)
        elif market.shown_valid:
            self.show_mark(market, 0)
        funding.hour(self, market)
        funding.sample(self, market)
        market.passes_hour = False
        forced.queue_unwind(self, market)

    def recompute(self, market):
        if market.state == HALTED or not market.index_valid(self.t, self.max_age):
            return
        mark = market.next_mark(self.t)
        if mark * market.max_position > MARK_VALUE_MAX:
            self.counts["halted by mark"] += 1
            states.enter(self, market, HALTED, states.CAUSE_ORACLE)
            return
        # also when it is valid again: who waited for it is checked
        changed = mark != market.mark or not market.shown_valid
        market.mark = mark
        self.mark_epoch += changed
        self.show_mark(market, 1)
        if changed:
            self.work.queue_scan(market)
        checked = market.checked_mark
        if checked and abs(mark - checked) * 10**6 > checked * market.tiers[0][2]:
            self.counts["gap"] += not market.in_gap
            market.in_gap = True
        self.conditionals.mark_computed(market)
        liquidation.market_moved(self, market)

    def show_state(self, market, cause, price=0):
        market.book_seq += 1
        self.emit(2111, market.id, market.state, cause, price)

    def show_mark(self, market, valid):
        market.shown_valid = valid
        market.book_seq += 1
        self.emit(2109, market.index, market.mark, market.ema, market.premium, market.id, valid)

    def oracle(self, body):
        publish_ts, price, asset, pad, sources, pad2 = ORACLE_BODY.unpack(body)
        market = self.markets.get(asset)
        if pad or pad2 or market and sources < market.sources_min:
            return S["order_rejected_invalid"]
        if asset in (0, ALL16):
            return S["order_rejected_invalid_market"]
        if market is None:
            return S["rejected_market_not_found"]
        if market.state == CLOSED:
            return S["market_closed"]
        if price == 0 or price > 2**40 - 1:
            return S["rejected_invalid_price"]
        if publish_ts <= market.publish_ts or publish_ts >= 2**63 or self.max_age and not (
                self.t - self.max_age <= publish_ts <= self.t + SECOND):
            return S["order_rejected_expired"]
        market.publish_ts = publish_ts
        market.signature = self.extra or bytes(64)
        reference = market.reference(self.t)
        if not market.is_far(price, reference):
            if market.is_held:
                self.end_hold(market, "by a near price")
            self.accept(market, price)
        elif not market.is_held:
            self.counts["hold"] += 1
            market.begin_hold(reference, self.t)
            market.former_state = states.own(market)
            market.join_run(publish_ts, price)
            if states.own(market) < CANCEL_ONLY:
                states.enter(self, market, CANCEL_ONLY, states.CAUSE_ORACLE)
            if market.shown_valid:
                self.show_mark(market, 0)
        elif market.join_run(publish_ts, price):
            self.take_held(market, price, "by a run")
        return 0

    def end_hold(self, market, how):
        self.counts["hold ended " + how] += 1
        market.end_hold(self.t)
        states.enter(self, market, market.former_state, states.CAUSE_ORACLE)

    def take_held(self, market, price, how):
        market.taken_at = self.t
        self.end_hold(market, how)
        self.accept(market, price)

    def index_accept(self, body):
        """Code 1010: the newest held price, which the operator names within 2 %."""
        price, asset, pad = INDEX_ACCEPT_BODY.unpack(body)
        if asset in (0, ALL16):
            return S["order_rejected_invalid_market"]
        market = self.markets.get(asset)
        if market is None:
            return S["rejected_market_not_found"]
        if any(pad):
            return S["order_rejected_invalid"]
        if market.state == CLOSED:
            return S["market_closed"]
        if not market.is_held:
            return S["order_rejected_invalid"]
        newest = market.run[-1][1]
        if abs(price - newest) * 100 > newest * 2:
            return S["rejected_invalid_price"]
        self.take_held(market, newest, "by the operator")
        return 0

    def accept(self, market, price):
        market.index, market.index_at = price, market.publish_ts
        if market.waited and market.state == HALTED:
            self.counts["index of a halted market waited for"] += 1
        liquidation.market_moved(self, market)
        self.recompute(market)

    # ---- commands

    def configure(self, body):
        for line in body.rstrip(b"\0").decode().splitlines():
            key, value = line.split("=", 1)
            self.limits[key] = int(value) if value.isdigit() else value
        self.oracle_keys = self.key_list("exchange.oracle_keys")
        self.operator_keys = self.key_list("exchange.operator_key")
        self.treasury_keys = self.key_list("exchange.treasury_key") or self.operator_keys
        self.max_age = self.limits["exchange.oracle_max_age_ms"] * MS
        self.makers_max = self.limits["engine.makers_max"]
        self.open_orders = self.limits["limits.open_orders"]
        self.account_open_orders = self.limits.get("limits.account_open_orders",
                                                   ACCOUNT_OPEN_ORDERS)
        self.units = self.limits["engine.work_per_command"]
        self.past = self.limits["exchange.clock_past_ms"] + 5000
        self.future = self.limits["exchange.clock_future_ms"] + 5000
        self.order_slots = self.limits["engine.orders"]
        self.slots = self.limits["limits.duplicate_slots"]

    def keys_of(self, code):
        """Who signs an operator code (W3a)."""
        if code == ORACLE:
            return self.oracle_keys
        return self.treasury_keys if code in (DEPOSIT, SETTLE, TOP_UP) else self.operator_keys

    def key_list(self, name):
        return [b64decode(text) for text in self.limits[name].split(",") if text]

    def set_leverage(self, body):
        """Code 2001: (status, reason)."""
        key_id, account, subaccount, index, leverage, asset, _ = LEVERAGE_BODY.unpack(body)
        portfolio = self.hierarchy.portfolio_of_key(key_id, (account, subaccount, index), False)
        if isinstance(portfolio, tuple):
            if portfolio[1]:
                self.counts["leverage " + {"read_only_key": "read-only key",
                                           "subaccount_not_permitted": "pinned key"}[
                                               portfolio[1]]] += 1
            return portfolio
        if portfolio.status == PORTFOLIO_CLOSED:
            return "order_rejected_invalid", "portfolio_not_active"
        risk.touch(self, portfolio)
        market = self.markets.get(asset)
        if market is None:
            return "rejected_market_not_found", None
        if not 1 <= leverage <= market.max_leverage:
            self.counts["leverage invalid"] += 1
            return "order_rejected_invalid", "invalid_parameter"
        holding = portfolio.holding(market)
        before, holding.leverage = holding.leverage, leverage
        risk.changed(self, portfolio)
        equity, initial, _ = portfolio.risk()
        stress = portfolio.stress(self.t, self.max_age)
        if leverage < before and equity - stress < initial:
            holding.leverage = before
            self.counts["leverage refused by equity"] += 1
            return "order_rejected_invalid", "insufficient_free_equity"
        chosen, holding.chosen = holding.chosen, False
        if leverage != market.leverage and not chosen and not self.shares.fits(account,
                                                                               "leverages"):
            holding.leverage = before
            return "order_rejected_invalid", "limit_reached"
        holding.chosen = leverage != market.leverage
        self.counts["leverage " + ("kept" if leverage == before else "back to default"
                                   if leverage == market.leverage else "lowered"
                                   if leverage < before else "raised")] += 1
        return "request_completed", None

    def unsigned(self, code, body):
        units = self.units if self.limits else 0
        self.status = 0
        if code == CONFIGURATION:
            self.configure(body)
        elif code == DEFINE:
            market = Market(body.rstrip(b"\0").decode(), self.t)
            market.ordinal = len(self.markets)
            self.markets[market.id] = market
            self.work.add_second(market)
            self.show_state(market, states.CAUSE_OPERATOR)
            if self.gap:
                states.halt_by_clock(self, market)
        elif code == BOOT:
            states.begin_gap(self, BOOT_BODY.unpack(body)[3])
        elif code in (RESTORED, SIGNING_KEY):
            self.status = (states.restore if code == RESTORED else states.change_key)(self)
        elif code == CLOCK_CONFIRM:
            self.status = states.confirm_gap(self, body, False)
        elif code in (MARKET_STATE, HALT_ALL):
            self.status = (states.set_one if code == MARKET_STATE else states.set_all)(
                self, body, False)
        elif code in self.plain:
            status, reason = self.plain[code](body)
            self.status, self.reason = S[status], REASON[reason] if reason else 0
        elif code == TICK and body[0] == 1:
            units = WORK_TICK_UNITS
        return units

    def drop_slices(self, t):
        """W5: a slice goes when no id that the window lets through can fall in it."""
        first = (t // MS - self.past) // SLICE_MS
        while self.oldest and self.oldest[0] < first:
            for entry in self.slices.pop(heappop(self.oldest)):
                del self.seen[entry]

    def remember(self, entry, status, milliseconds):
        self.seen[entry] = status, self.t
        number = milliseconds // SLICE_MS
        if number not in self.slices:
            self.slices[number] = []
            heappush(self.oldest, number)
        self.slices[number].append(entry)

    def queue_timers(self):
        if not self.gap:  # nothing is due while the clock has a gap (R9)
            self.work.queue_timers(self.t)

    def apply(self, kind, code, payload, key, clock, extra=b""):
        self.t_now = t = max(self.t + 1, clock)
        self.effects = []
        self.id_index = self.reason = self.rule = self.entered = self.item = 0
        self.subject = self.own_order = None  # made or found; the second: not by the work behind it
        self.extra = extra
        self.walks.begin()
        if kind == 0:
            self.t = t
            self.sequence += 1
            self.queue_timers()
            self.shares.release()
            units = self.unsigned(code, payload)
            risk.flush(self)
            if self.limits:
                self.drop_slices(t)
            self.protection.freeze()
            self.work.perform(units)
            self.protection.freeze()
            return self.sequence, t, self.status, 0
        request_id, body = payload[8:24], payload[24:]
        self.request_id = request_id
        milliseconds = uuid_ms(request_id)
        if not t // MS - self.past <= milliseconds <= t // MS + self.future:
            return 0, t, S["request_dropped"], 0
        account, refused = self.credentials.check(code, body, key, t)
        entry = account, request_id
        if account is not None:
            if entry in self.seen:
                return 0, t, S["duplicate_request_id"], self.seen[entry][0]
            if refusal_of_peek := self.peek(code, body, account, t):
                return 0, t, S[refusal_of_peek], 0
        self.t = t
        self.sequence += 1
        self.queue_timers()
        self.shares.release()
        self.drop_slices(t)
        status = self.execute(code, body, key, request_id, refused, extra)
        self.walks.end(account)
        if account is not None:
            self.remember(entry, status, milliseconds)
        else:
            account = 0  # the id stays unused: there is no duplicate key
        risk.flush(self)
        if status in (S["account_created_with_session"], S["account_created_session_failed"]):
            account = self.accounts
        self.protection.freeze()
        self.ended = status
        self.emit(2100, request_id, account, status, self.reason, 255, self.rule)
        self.own_order = self.subject
        self.work.perform(self.units)
        self.protection.freeze()
        return self.sequence, t, status, 0

    def peek(self, code, body, account, t):
        """Row 2."""
        uses = 1 + (batches.id_count(body) if code == BATCH else 0)
        kept = 0 if code in KEPT_FOR or code >= ORACLE else self.slots // 8
        if len(self.seen) + uses > self.slots - kept:
            return "retry_required"
        return "rejected_rate_limited" if self.walks.owes(code, body, account, t) else None

    def execute(self, code, body, key, request_id, refused, extra):
        if refused:
            return S[refusal(code)]
        if code < ORACLE and self.credentials.suspended(code, int.from_bytes(body[:8], "little")):
            return S["rejected_account_suspended"]
        if code in self.placing:
            return self.placing[code](request_id, body)
        if code in SIGNUPS:
            self.counts["accounts of passkeys"] += code == CREATE_PASSKEY_ACCOUNT
            return self.credentials.create_account(body, key)
        if code == CREATE_KEY:
            return self.credentials.create_key(body, extra[-32:])
        if code in (LOGIN, REVOKE_SESSION):
            done = self.credentials.login if code == LOGIN else self.credentials.revoke_session
            return done(body, extra[-32:] if code == LOGIN else extra)
        if code in ADDING or code in REMOVING:
            return self.credentials.change_keys(code, body)
        return self.handlers[code](body)
