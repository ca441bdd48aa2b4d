"""The world in which a gang acts: an exchange, honest accounts that follow simple policies, an
oracle that may fail, and an account book of what the gang's trades explain.

Prices and sizes are raw; money is micro-USDC. `true` prices are those of the world: what the oracle
publishes is true unless the storm makes it fail."""
from rule_book import IS_FORMER  # first: it says where the others come from
from model import Exchange  # before the others: it knows the order in which they load
import place
import regimes
import wire
from streams import CAPACITY
from gang_bystanders import Bystanders, Nobody
from wire import (ADL_TYPE, CANCEL_ALL, CONFIGURATION, DEFINE, GTC, HALTED, IOC, IN_LIQUIDATION,
                  LIQUIDATE_TYPE, MARKET_STATE, ORACLE, PLACE, TICK, TOP_UP, WITHDRAW)

USDC, MS, SECOND, PPM = 10**6, 10**6, 10**9, 10**6
START = 1767268800 * SECOND
BTC, DOGE = 1, 2
MAKERS, GANG_FIRST = (1, 2), 101
RECORDS = (
    regimes.record("BTC", 1, 1, tick_size="0.1", lot_size="0.00001", min_size="0.00001",
                   max_order_size="10995116.27775", tiers=regimes.tiers(
                       ("20000000", 50), ("100000000", 25), ("500000000", 10), (None, 5))),
    regimes.record("DOGE", 2, 6, tick_size="0.00001", lot_size="1", min_size="1",
                   max_order_size="1000000000000", max_leverage=20, impact_notional="6000",
                   tiers=regimes.tiers(("5000000", 20), ("20000000", 10), (None, 3))))
FIRST = {BTC: 1000000, DOGE: 200000}
LEVERAGE = {BTC: 50, DOGE: 20}
LOT = {BTC: 1, DOGE: 1}
TICK_SIZE = {BTC: 1, DOGE: 10}
QUOTE = {BTC: 200000 * USDC, DOGE: 100000 * USDC}  # what a maker quotes on a side, notional
# account -> (deposit in USDC, {market: notional in USDC, negative: short})
HOLDERS = {
    4: (150000, {BTC: 1000000}), 5: (1500000, {BTC: -1000000}),
    6: (90000, {DOGE: 400000}), 7: (90000, {DOGE: -400000}),
    8: (2000000, {DOGE: -40}), 9: (2000000, {DOGE: 40}),
    10: (30000, {BTC: 400000}), 11: (30000, {BTC: -400000}),
    12: (40000, {DOGE: 250000}), 13: (40000, {DOGE: -250000}),
    14: (17800, {DOGE: 250000}), 15: (17800, {DOGE: -250000}),
    16: (6500, {DOGE: -90000}), 17: (6500, {DOGE: 90000})}
MEMBERS = ((GANG_FIRST, 0), (GANG_FIRST + 1, 0), (GANG_FIRST + 2, 0), (GANG_FIRST + 2, 1))
STAKE = 100000  # USDC of a member, 2 * STAKE of the last two together
FUND = 50000
_configurations = {}


class Quiet(Exchange):
    """Tells nothing but who comes into liquidation."""

    def emit(self, code, *fields, owner=None):
        if code == 2121:  # before the position goes
            self.world.bystanders.settled(self.portfolios[fields[:3]], self.markets[fields[6]],
                                          fields[3], fields[5])
        if code == 2112 and fields[-1] == IN_LIQUIDATION:
            portfolio, maintenance = self.portfolios[fields[:3]], fields[4]
            self.world.needless += (portfolio not in self.world.is_member
                                    and self.world.equity(portfolio) >= maintenance)

    def show(self, order, action, quantity):
        pass

    def show_position(self, holding):
        pass


def watched(move_positions):
    """Every fill of a world passes here, those too that the engine makes itself."""
    def moved(exchange, maker, taker, quantity, price):
        if isinstance(exchange, Quiet):
            exchange.world.filled(maker, taker, quantity, price)
        return move_positions(exchange, maker, taker, quantity, price)
    return moved


place.move_positions = watched(place.move_positions)


class World:
    def __init__(self, source, members=len(MEMBERS), bystanders=False):
        self.exchange = exchange = Quiet()
        exchange.world = self
        self.is_member = ()
        self.clock, self.number = START, 0
        self.true, self.published = dict(FIRST), dict(FIRST)
        self.silent, self.makers_away = set(), set()
        self.quoted = {}
        self.before = dict(FIRST)   # the index before its last move, or before a halt
        self.marked = {}            # the mark then: while it stands, nobody can be liquidated anew
        self.explained = 0          # of the gang's gain
        self.windfall = 0           # of it, what the other side gave for the gang's losers
        self.beyond = 0             # what no price within the band could make good of their losses
        self.withdrawn = 0
        self.tags = {}              # what was seen -> how much
        self.needless = 0           # honest portfolios that were liquidated without need
        self.fund_low = FUND * USDC
        self.adl_loss = 0           # of the honest, beside the mark
        self.bystanders = Bystanders(exchange) if bystanders else Nobody()
        exchange.credentials.check = lambda code, body, key, t: (
            int.from_bytes(body[:8], "little") if code < ORACLE else 0, False)
        exchange.credentials.suspended = lambda code, account: False
        self.unsigned(CONFIGURATION, configuration(source))
        for record in RECORDS:
            self.unsigned(DEFINE, record)
        self.publish(BTC)
        self.publish(DOGE)
        self.send(TOP_UP, wire.TOP_UP_BODY.pack(FUND * USDC))
        for account in range(1, 20):
            self.new_account(account, HOLDERS.get(account, (5000000,))[0])
        for number in range(members):
            account, index = MEMBERS[number]
            if index:
                exchange.hierarchy.new_portfolio(exchange.hierarchy.accounts[account], 0)
                self.deposit((account, 0, index), STAKE)
            else:
                self.new_account(account, STAKE)
        self.members = [exchange.portfolios[account, 0, index]
                        for account, index in MEMBERS[:members]]
        self.is_member = set(self.members)
        self.stake = members * STAKE * USDC
        for portfolio in exchange.by_number[1:]:
            for asset, leverage in LEVERAGE.items():
                portfolio.holding(exchange.markets[asset]).leverage = leverage
        self.open_holders()
        self.second()

    # ---- commands

    def unsigned(self, code, body):
        self.clock += 1000
        self.bystanders.before()
        self.exchange.apply(0, code, body, b"", self.clock)
        self.bystanders.after(None)

    def send(self, code, body):
        self.clock += 1000
        self.number += 1
        payload = (bytes(8) + wire.uuid7(self.clock // MS, self.number) + body)
        self.bystanders.before()
        status = self.exchange.apply(1, code, payload, b"", self.clock)[2]
        self.bystanders.after(int.from_bytes(body[:8], "little") if code < ORACLE else None)
        return status

    def new_account(self, number, usdc):
        self.exchange.hierarchy.new_account(number)
        self.deposit((number, 0, 0), usdc)

    def deposit(self, where, usdc):
        self.number += 1
        self.send(wire.DEPOSIT, wire.DEPOSIT_BODY.pack(*where, usdc * USDC,
                                                       self.number.to_bytes(32, "little")))

    def order(self, owner, asset, price, quantity, tif=GTC, post_only=0, reduce_only=0):
        """0 when it is accepted. `owner`: (account, subaccount, index)."""
        tick = TICK_SIZE[asset]
        price = max(tick, price // tick * tick if quantity > 0 else -(-price // tick) * tick)
        return self.send(PLACE, wire.PLACE_BODY.pack(
            *owner, price, quantity, tif, post_only, reduce_only, 1, 0, asset, 0))

    def cancel_all(self, owner, asset):
        return self.send(CANCEL_ALL, wire.CANCEL_ALL_BODY.pack(*owner, asset, 0, 0, 0, 0))

    def work(self):
        """Work ticks until nothing is left, as a node gives them."""
        for _ in range(50):
            if not self.busy():
                break
            self.unsigned(TICK, b"\1" + bytes(7))

    def busy(self):
        return self.exchange.work.is_busy()

    # ---- the oracle and the honest

    def publish(self, asset):
        self.clock += MS
        market = self.exchange.markets[asset]
        moves = market.index not in (0, self.published[asset]) and market.state != HALTED
        if moves and market.mark != self.marked.get(asset):
            self.count_from_here(asset)
        self.send(ORACLE, wire.ORACLE_BODY.pack(self.clock, self.published[asset], asset, 0, 3, 0))
        index = self.exchange.markets[asset].index
        if index and abs(index - self.true[asset]) * 10 > self.true[asset]:
            self.tag("believed", abs(index - self.true[asset]) / self.true[asset])

    def move(self, asset, price):
        """The true price; the gang's gain by it is explained by what it holds."""
        for member in self.members:
            holding = member.holdings.get(asset)
            if holding is not None:
                self.explained += holding.size * (price - self.true[asset])
        self.true[asset] = self.published[asset] = price

    def count_from_here(self, asset):
        """The gap is that of the index from here to the next mark: a halt, or a price that is held
        behind it, may let the index go in steps of which the mark shows none."""
        market = self.exchange.markets[asset]
        self.before[asset], self.marked[asset] = market.index, market.mark

    def state(self, asset, state):
        if state == HALTED:
            self.count_from_here(asset)
        self.send(MARKET_STATE, wire.STATE_BODY.pack(asset, 0, state, 0, 0))

    def second(self):
        """To the next full second: updates, quotes, ticks."""
        self.clock = (self.clock // SECOND + 1) * SECOND
        self.unsigned(TICK, b"\1" + bytes(7))
        for asset in FIRST:
            if asset not in self.silent:
                self.publish(asset)
        self.work()
        self.quote()
        self.watch()

    def quote(self):
        """Both makers around the true price, unless what the exchange believes is far from it."""
        for asset in FIRST:
            price, market = self.true[asset], self.exchange.markets[asset]
            away = (asset in self.makers_away or asset in self.silent
                    or abs(market.index - price) * 50 > price)
            want = None if away else price
            if self.quoted.get(asset) == want and self.stands(asset):
                continue
            self.quoted[asset] = want
            for maker in MAKERS:
                self.cancel_all((maker, 0, 0), asset)
                if want is None:
                    continue
                size = QUOTE[asset] // price
                step = price * 5 * maker // 10000
                self.order((maker, 0, 0), asset, price - step, size, post_only=1)
                self.order((maker, 0, 0), asset, price + step, -size, post_only=1)

    def stands(self, asset):
        market = self.exchange.markets[asset]
        return self.quoted[asset] is None or (market.bids.keys and market.asks.keys)

    def open_holders(self):
        for account, (_, positions) in HOLDERS.items():
            for asset, notional in positions.items():
                quantity, price = notional * USDC // self.true[asset], self.true[asset]
                self.order((1, 0, 0), asset, price, -quantity)
                self.order((account, 0, 0), asset, price, quantity)
                self.cancel_all((1, 0, 0), asset)

    # ---- the account book

    def tag(self, name, value):
        self.tags[name] = max(self.tags.get(name, 0), value)

    def watch(self):
        """Marks far from the index, and who should be in liquidation and is not."""
        self.fund_low = min(self.fund_low, self.exchange.by_number[0].cash)
        for asset, market in self.exchange.markets.items():
            if market.index:
                self.tag("mark off index", abs(market.mark - market.index) / market.index)
        for member in self.members:
            stale = any(member.holdings[asset].size for asset in self.silent)
            if stale and member.status != IN_LIQUIDATION and self.equity(member) < 0:
                self.tag("shielded under water", -self.equity(member) / USDC)

    def equity(self, portfolio):
        """At true prices."""
        return portfolio.cash + sum(self.true[asset] * holding.size - holding.cost
                                    for asset, holding in portfolio.holdings.items())

    def filled(self, maker, taker, quantity, price):
        """Before a fill: what it explains of the gang's gain."""
        members = self.is_member
        gang_makes, gang_takes = maker.owner in members, taker.owner in members
        if gang_makes and gang_takes:
            loser = maker if maker.holding.size * maker.side < 0 else taker
            if loser.holding.size * loser.side < 0 and self.equity(loser.owner) < 0:
                self.tag("sold under water", quantity * price / USDC)
        made_by_engine = taker.type in (LIQUIDATE_TYPE, ADL_TYPE)
        mark = taker.market.mark
        self.bystanders.filled(maker, taker, quantity, price)
        if taker.type == ADL_TYPE and not gang_makes and maker.owner.number:
            self.adl_loss += max(0, (price - mark) * quantity * maker.side)
        if made_by_engine:
            self.tag("engine fill off mark", abs(price - mark) / mark)
        if taker.type == ADL_TYPE and gang_takes:
            gap = abs(self.true[taker.market.id] - self.before[taker.market.id])
            self.beyond += max(0, gap - mark * taker.market.band // PPM) * quantity
        if gang_makes == gang_takes:
            return
        reasoned = taker.owner.number and self.equity(taker.owner) < taker.owner.risk()[2]
        if gang_makes and taker.type == ADL_TYPE and reasoned:
            pass  # its last equity goes to who is deleveraged, as R7 says
        elif taker.type == ADL_TYPE or maker.type in (LIQUIDATE_TYPE, ADL_TYPE):
            asset = taker.market.id
            if gang_takes and maker.owner.number:
                given = (price - self.true[asset]) * quantity * maker.side
                gap = abs(self.true[asset] - self.before[asset])
                self.windfall += min(max(0, given), gap * quantity)
            return
        if taker.type == LIQUIDATE_TYPE and gang_makes and taker.owner.number and not reasoned:
            self.tag("needless liquidation", quantity * price / USDC)
            return
        side = maker.side if gang_makes else taker.side
        self.explained += (self.true[taker.market.id] - price) * quantity * side

    # ---- the end

    def gain(self):
        """micro-USDC that the gang has beyond its stake and what its trades explain. A portfolio
        is worth nothing at least: its owner walks away."""
        for member in self.members:
            for asset in FIRST:
                self.cancel_all(member.id(), asset)
        for _ in range(3):
            self.second()
        for member in self.members:
            self.take(member)
        worth = self.withdrawn + sum(max(0, self.equity(member)) for member in self.members)
        return worth - self.stake - self.explained

    def allowed(self):
        """What the rules let a loser's deficit cost others: of the other side the windfall of
        the gap, of the fund a twentieth, and behind a gap wider than the price band what it lacks.
        The former let it cost nothing. README.md says how it was fitted."""
        if IS_FORMER:
            return 0
        deficit = min(self.beyond, FUND * USDC - self.fund_low)
        return self.windfall + max(FUND * USDC // 20, deficit)

    def take(self, member):
        """Withdraws what is free."""
        amount = member.balance()[0]
        if amount >= USDC and not self.send(WITHDRAW, wire.WITHDRAW_BODY.pack(
                *member.id(), amount, b"\1" * 20, 0)):
            self.withdrawn += amount


def configuration(source):
    if source not in _configurations:
        _configurations[source] = wire.configuration(source, {
            **CAPACITY, "engine.work_per_command": "4", "limits.duplicate_slots": "2097152"})
    return _configurations[source]
