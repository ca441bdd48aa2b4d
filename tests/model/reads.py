"""Reads of the engine against the model: balances, positions, orders, tiers, books, marks, audit.

A read is (request bytes, (check of the reply, its arguments))."""
import struct
from collections import Counter

import wire
from pipe import LENGTH, read_bytes
from shares import SIZES
from wire import PORTFOLIO_CLOSED

# struct row_balance, row_book, row_level, row_mark, row_audit, row_order, row_position, row_account
# and row_subaccount (row.h)
BALANCE = struct.Struct("<QIIqq16s16s16s32sqB7x")
BOOK = struct.Struct("<32sQII8x")
INDEXES = struct.Struct("<II")
LEVELS = struct.Struct("<QQ")
MARK = struct.Struct("<32sQQQqqqQIBBBx")
AUDIT = struct.Struct("<16s16sqq16s16s16s16s16s16s16sqIIH14x")
ORDER = struct.Struct("<QII16s32sQQQ8x16sQQQQ8xQQ16sIBBBBBBB2xBBx8x")
POSITION = struct.Struct("<QII16s32sqqqQ16s16s16sQIBBBx")
ACCOUNT = struct.Struct("<Q8x16siiIBBBx32xQ11I11I")
SUBACCOUNT = struct.Struct("<II8x16sB15x")
ORDERS, POSITIONS = list(SIZES).index("orders"), list(SIZES).index("positions")
BOOK_DEPTH = 1000
PRICE_END = 2**40 - 1  # R1


# Private events of sessions that have expired, by account: when one is told is left to the engine.
expired = Counter()


class Difference(Exception):
    """What ends a run: the engine and the model are not equal."""


def integer(data):
    return int.from_bytes(data, "little", signed=True)


def same(number, what, names, expected, got):
    if got != expected:
        raise Difference(f"after command {number}, {what}: ({names})\n"
                         f"  model  {expected}\n  engine {got}")


def check_balance(number, portfolio_id, expected, reply):
    row = BALANCE.unpack(reply)
    same(number, f"portfolio {portfolio_id}",
         "free, withdrawable, equity, IM, MM, name, withdrawable now, status",
         expected, (row[3], row[4], *(integer(value) for value in row[5:8]),
                    row[8].rstrip(b"\0"), *row[9:11]))


def check_audit(number, expected, reply):
    row = AUDIT.unpack_from(reply)
    cash, cost = integer(row[0]), integer(row[1])
    same(number, "audit", "cash, cost, fee account, withdrawals pending, funding pools, deposits, "
         "faucet, top-ups, withdrawals settled, owed, claims, fund, recount differences, "
         "invariants", expected,
         (cash, cost, row[2], row[3], *(integer(value) for value in row[4:11]), *row[11:13],
          row[14]))


def audit_of(exchange):
    cash = sum(portfolio.cash for portfolio in exchange.by_number)
    cost = sum(holding.cost for portfolio in exchange.by_number
               for holding in portfolio.holdings.values())
    money = exchange.money
    pools = sum(market.funding_pool for market in exchange.markets.values())
    return (cash, cost, exchange.fee_account, money.pending, pools, money.deposited,
            money.faucet, money.top_ups, money.settled, exchange.owed(), exchange.claims(),
            exchange.by_number[0].cash, 0, 1023)


def check_book(number, market, expected, reply):
    _, sequence, bids, asks = BOOK.unpack_from(reply)
    same(number, f"book of market {market}", "seq, bids, asks, levels", expected,
         (sequence, bids, asks, list(LEVELS.iter_unpack(reply[BOOK.size:]))))


def book_of(market):
    sides = [[(level.price, level.size) for level in side.all()][:BOOK_DEPTH]
             for side in (market.bids, market.asks)]
    return market.book_seq, len(sides[0]), len(sides[1]), sides[0] + sides[1]


# ---- marks

def check_mark(number, market, expected, reply):
    row = MARK.unpack(reply)
    same(number, f"mark of market {market}", "seq, mark, index, premium, book term, third price, "
         "clamp, valid, in a gap", expected, (*row[1:5], *row[6:11]))


def mark_of(exchange, market):
    return (market.book_seq, market.mark, market.index, market.premium, market.ema >> 20,
            market.third_price(), market.book_ppm,
            int(market.index_valid(exchange.t, exchange.max_age)), int(market.in_gap))


# ---- fee tiers

def check_account(number, account, expected, reply):
    row = ACCOUNT.unpack(reply)
    used, bounds = list(row[9:20]), list(row[20:31])
    del used[POSITIONS], bounds[ORDERS]
    same(number, f"account {account}", "volume of 14 days, subaccounts, status, fee tier, "
         "private seq, class, rows, bounds", expected,
         (integer(row[1]), *row[4:7], row[8] - expired[account], row[7], *used, *bounds))


def slots(exchange, account):
    """W8, Slots: class, rows, bounds. Records that wait for a step of the work are the engine's."""
    shares = exchange.shares
    bounds = [shares.cap(account, table)[0] for table in SIZES if table != "orders"]
    return (shares.class_of(account),
            *(shares.rows(account, table) for table in SIZES if table != "positions"),
            *(2**32 - 1 if bound is None else bound for bound in bounds))


def check_subaccount(number, which, expected, reply):
    row = SUBACCOUNT.unpack(reply)
    same(number, f"subaccount {which}", "portfolios, free cash, status", expected,
         (row[1], integer(row[2]), row[3]))


def subaccount_of(within):
    """json.md: what the portfolios have that are not CLOSED."""
    live = [one for one in within.portfolios if one.status != PORTFOLIO_CLOSED]
    return len(live), sum(one.balance()[0] for one in live), int(within.closed)


# ---- live orders

def check_orders(number, account, expected, reply):
    got = []
    for row in ORDER.iter_unpack(reply):
        got.append((row[3].hex(), *row[5:8], integer(row[8]), *row[9:]))
    same(number, f"orders of account {account}",
         "id, initial, remaining, filled, filled notional, price, expiry, sequence, time, handle, "
         "trigger price, group, index, status, type, side, reason, post_only, reduce_only, stp, "
         "trigger source, live tif", expected, got)


def orders_of(exchange, portfolio):
    """Newest placing first; one that is dead is shown as it will end."""
    return all_orders(exchange, [portfolio])


def all_orders(exchange, portfolios):
    rows = []
    for portfolio in portfolios:
        rows += orders_in(exchange, portfolio)
    return [row[1:] for row in sorted(rows, key=lambda row: row[0], reverse=True)]


def orders_in(exchange, portfolio):
    rows = []
    for orders in (portfolio.conditionals, *(one.orders for one in portfolio.holdings.values())):
        for order in orders:
            live = wire.PARTIALLY_FILLED if order.filled else wire.OPEN
            if order.status == wire.UNTRIGGERED:
                live = order.status
            dead = exchange.dead_state(order)
            status, reason = dead or (live, 0)
            trigger = trigger_of(order)
            rows.append((order.placed, order.id.hex(), order.filled + order.remaining,
                         order.remaining, order.filled, order.value, order.price, order.expiry,
                         *order.placed[:2], 0 if dead else order.handle, *trigger[:2],
                         order.placed[2], status, order.type,
                         int(order.side < 0), reason, int(order.post_only),
                         int(order.reduce_only), order.stp, *trigger[2:]))
    return rows


def trigger_of(order):
    """(trigger price, group, source, live_tif) of a conditional kind, triggered or not."""
    if order.type < wire.STOP_LIMIT:
        return 0, bytes(16), 0, 0
    return order.trigger, order.group, order.source, order.live_tif


# ---- positions

def check_positions(number, account, expected, reply):
    got = []
    for row in POSITION.iter_unpack(reply):
        got.append((row[3].hex(), *row[5:9], *(integer(value) for value in row[9:12]), *row[12:14]))
    same(number, f"positions of account {account}",
         "id, size, cost, net funding, mark, unrealised, IM, MM, liquidation price, leverage",
         expected, got)


def positions_of(portfolio):
    rows = []
    for _, holding in sorted(portfolio.holdings.items()):
        if holding.size:
            mark = holding.market.mark
            rows.append((holding.position_id.hex(), holding.size, holding.cost, holding.net_funding,
                         mark,
                         mark * holding.size - holding.cost, *holding.margins(),
                         liquidation_price(portfolio, holding), holding.leverage))
    return rows


def liquidation_price(portfolio, holding):
    """R7: the price of this market alone at which E = MM, to the tick toward the mark; 0: none.

    E - MM rises with the price for a long position and falls for a short one, for a price takes
    more from E than from MM: the tick where it changes its sign is found by halving."""
    equity, _, maintenance = portfolio.risk()
    market, size = holding.market, holding.size
    others = maintenance - holding.margins()[1]

    def left(price):
        return (equity + (price - market.mark) * size - others
                - market.maintenance_margin(abs(size) * price))

    low, high = 0, PRICE_END // market.tick + 1  # ticks; the root lies between
    # E >= MM at the side where it must fail, E < MM at the side where it must hold: no root
    fails, holds = (0, high * market.tick) if size > 0 else (high * market.tick, 0)
    if left(fails) >= 0 or left(holds) < 0:
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        if left(middle * market.tick) >= 0 if size > 0 else left(middle * market.tick) < 0:
            high = middle
        else:
            low = middle
    at = high if size > 0 else low  # the tick next to the root on the side without liquidation
    if left(at * market.tick) and left(market.mark) < 0:
        at = low + high - at
    return at * market.tick


def all_of(exchange, number):
    """Every read of every account, at the state after a command: (request, its checks)."""
    for request, check in reads_of(exchange, number):
        yield request, [check]


def reads_of(exchange, number):
    yield read_bytes("a"), (check_audit, (number, audit_of(exchange)))
    for market in exchange.markets.values():
        symbol = market.symbol.encode().ljust(32, b"\0")
        yield (read_bytes("k", 0, symbol + LENGTH.pack(BOOK_DEPTH)),
               (check_book, (number, market.id, book_of(market))))
        yield read_bytes("m", 0, symbol), (check_mark, (number, market.id,
                                                        mark_of(exchange, market)))
    for account in exchange.hierarchy.accounts.values():
        if account.number:
            yield from of_account(exchange, number, account)


def of_account(exchange, number, account):
    volumes, name = account.volumes, account.number
    portfolios = [one for within in account.subaccounts for one in within.portfolios]
    for one in portfolios:
        yield (read_bytes("b", name, INDEXES.pack(one.subaccount, one.index)),
               (check_balance, (number, one.id(), (*one.balance(), one.name,
                                                exchange.money.withdrawable_now(one),
                                                one.status))))
    yield (read_bytes("u", name),
           (check_account, (number, name, (volumes.shown(exchange.t), len(account.subaccounts),
                                           int(account.closed),
                                           volumes.shown_tier(exchange.t),
                                           exchange.private_seq[name],
                                           *slots(exchange, name)))))
    for index, within in enumerate(account.subaccounts):
        yield (read_bytes("s", name, INDEXES.pack(index, 0)),
               (check_subaccount, (number, (name, index), subaccount_of(within))))
    if any(one.order_count or one.conditionals for one in portfolios):
        yield (read_bytes("o", name),
               (check_orders, (number, name, all_orders(exchange, portfolios))))
    yield (read_bytes("p", name),
           (check_positions, (number, name, [row for one in portfolios
                                             for row in positions_of(one)])))
