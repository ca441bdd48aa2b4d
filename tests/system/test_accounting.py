"""test_accounting.py - a random session, and then every number that reads show worked out anew from
fills and orders alone: positions, cash, margin, averages, fees, books, trades, volumes (R2 to R6).

All randomness is seeded: ACCOUNTING_SEED=n repeats a run, the seed is printed. W: wire.md,
R: rules.md, J: json.md.
"""
import fractions
import os
import random
import sys

from client import (CANCEL, FOK, GTC, IOC, PLACE_LIMIT, PLACE_MARKET, REDUCE, REPLACE, Account,
                    cancel_body, limit_body, market_order_body, new_id, reduce_body,
                    replace_body)
from harness import Suite, Table
from records import ceiling, decimal, usdc
from world import BTC, ETH, SOL, USDC, run

suite = Suite("accounting")
SEED = int(os.environ.get("ACCOUNTING_SEED", random.SystemRandom().randrange(10**6)))
COMMANDS = 1_500
LIVE = ("OPEN", "PARTIALLY_FILLED")
BALANCE = "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0"


class Market:
    def __init__(self, asset, name, price, tick, price_decimals, leverage, tier):
        self.asset, self.name, self.price, self.tick = asset, name, price, tick
        self.price_decimals, self.size_decimals = price_decimals, 6 - price_decimals
        self.leverage, self.imr_ppm, self.mmr_ppm = leverage, tier, tier // 2

    def raw_price(self, text):
        return raw(text, self.price_decimals)

    def raw_size(self, text):
        return raw(text, self.size_decimals)

    def average(self, value, size):
        """R1: price_decimals + 8 decimals, half-even; value in micro-USDC, size in raw units."""
        places = self.price_decimals + 8
        exact = fractions.Fraction(value, size) * 10**(places - self.price_decimals)
        return decimal(round(exact), places)  # round() of a Fraction is half-even


MARKETS = {market.name: market for market in (
    Market(BTC, "BTC-PERP", 1_000_000, 1, 1, 20, 20_000),
    Market(ETH, "ETH-PERP", 300_000, 1, 2, 20, 20_000),
    Market(SOL, "SOL-PERP", 1_500_000, 10, 4, 20, 50_000))}


def raw(text, decimals):
    whole, _, part = text.partition(".")
    value = int(whole.lstrip("-") + part.ljust(decimals, "0"))
    return -value if text.startswith("-") else value


class World:
    def __init__(self, exchange):
        self.exchange, self.random = exchange, random.Random(SEED)
        print(f"seed {SEED}")
        for market in MARKETS.values():
            assert exchange.set_price(market.price, market.asset)["status"] == "request_completed"
        self.deposits = [100_000, 100_000, 50_000, 20_000, 5_000]
        self.accounts = [Account(exchange, usdc * USDC) for usdc in self.deposits]
        self.orders = [[] for _ in self.accounts]
        self.statuses = {}
        for _ in range(COMMANDS):
            self.command()

    def command(self):
        source = self.random
        at = source.randrange(len(self.accounts))
        account, market = self.accounts[at], source.choice(list(MARKETS.values()))
        side = source.choice((-1, 1))
        step = max(market.tick, market.price // 10_000 // market.tick * market.tick)
        price = market.price + side * source.randrange(-30, 8) * step * -1
        unit = ceiling(10 * USDC, market.price)
        quantity = side * source.choice((1, 2, 3, 5, 8, 20, 100)) * 2 * unit
        flags = {"asset": market.asset, "stp": source.randrange(4)}
        kind = source.random()
        if kind < 0.55 or not self.orders[at]:
            code, request_id = PLACE_LIMIT, new_id()
            body = limit_body(account.id, price, quantity, source.choice((GTC, GTC, GTC, IOC, FOK)),
                              reduce_only=int(source.random() < 0.1), **flags)
            self.orders[at].append((request_id, market, side))
        elif kind < 0.70:
            code, request_id = PLACE_MARKET, new_id()
            body = market_order_body(account.id, quantity, source.choice((0, 100, 5_000)),
                                     reduce_only=int(source.random() < 0.2), **flags)
        else:
            target, market, side = source.choice(self.orders[at][-8:])
            request_id = new_id()
            if kind < 0.80:
                code, body = REDUCE, reduce_body(account.id, target, source.randrange(1, 200),
                                                 asset=market.asset)
            elif kind < 0.95:
                step = max(market.tick, market.price // 10_000 // market.tick * market.tick)
                code, body = REPLACE, replace_body(
                    account.id, target, market.price - side * source.randrange(-8, 30) * step,
                    side * source.randrange(1, 50) * 2 * ceiling(10 * USDC, market.price),
                    asset=market.asset, stp=source.randrange(4))
            else:
                code, body = CANCEL, cancel_body(account.id, target, asset=market.asset)
        status = self.exchange.ack(code, body, account.session, request_id, True)["status"]
        self.statuses[status] = self.statuses.get(status, 0) + 1


def everything(account, path):
    """All rows, oldest first."""
    rows, cursor = [], ""
    for _ in range(100):
        page = account.read(f"{path}limit=1000{cursor}").json
        rows += page
        if len(page) < 1000:
            break
        cursor = "&before_sequence={sequence}&before_index={index}".format(**page[-1])
    return rows[::-1]


class Books:
    """R2, R6: what the fills of an account make of its deposit."""

    def __init__(self, deposit, fills):
        self.cash, self.fees, self.volume = deposit, 0, 0
        self.positions = {name: (0, 0) for name in MARKETS}
        for fill in fills:
            market = MARKETS[fill["market"]]
            price, quantity = market.raw_price(fill["price"]), market.raw_size(fill["quantity"])
            quantity = quantity if fill["side"] == "LONG" else -quantity
            ppm = 150 if fill["liquidity"] == "MAKER" else 450
            notional = price * abs(quantity)
            self.fees += ceiling(notional * ppm, 1_000_000)
            self.volume += notional
            self.trade(fill["market"], price, quantity)
        self.cash -= self.fees

    def trade(self, name, price, quantity):
        size, cost = self.positions[name]
        if size * quantity < 0:
            part = -size if abs(quantity) > abs(size) else quantity
            closed = abs(cost) * abs(part) // abs(size) * (1 if cost >= 0 else -1)
            self.cash += -price * part - closed
            size, cost, quantity = size + part, cost - closed, quantity - part
        self.positions[name] = (size + quantity, cost + price * quantity)


def settled(account):
    """Positions, balance and orders between two equal looks at the marks."""
    for _ in range(20):
        before = account.read("/api/v1/positions").json
        balance, orders = account.read(BALANCE).json, everything(account, "/api/v1/orders?")
        if account.read("/api/v1/positions").json == before:
            return before, balance, orders
    raise AssertionError("the marks never rest")


def marks(world):
    """The mark of each market, as some position of it says."""
    found = {}
    for account in world.accounts:
        for record in account.read("/api/v1/positions").json:
            found[record["market"]] = MARKETS[record["market"]].raw_price(record["mark_price"])
    return found


@suite.case
def orders_and_fills(world):
    """J2, R6: sizes, averages and states of every order by its fills; the fee of every fill."""
    table = Table()
    print("  " + ", ".join(f"{count} {status}" for status, count in sorted(
        world.statuses.items(), key=lambda item: -item[1])))
    for account in world.accounts:
        fills = everything(account, "/api/v1/fills?subaccount_index=0&")
        by_order = {}
        for fill in fills:
            market = MARKETS[fill["market"]]
            notional = market.raw_price(fill["price"]) * market.raw_size(fill["quantity"])
            ppm = 150 if fill["liquidity"] == "MAKER" else 450
            table.same(f"fee of {fill['id']}", fill["fee"], usdc(ceiling(notional * ppm, 10**6)))
            by_order.setdefault(fill["request_id"], []).append(fill)
        table.same("fill ids differ", len({fill["id"] for fill in fills}), len(fills))
        for order in everything(account, "/api/v1/orders?"):
            market, row = MARKETS[order["market"]], f"order {order['id']}"
            parts = by_order.pop(order["id"], [])
            filled = sum(market.raw_size(part["quantity"]) for part in parts)
            value = sum(market.raw_size(part["quantity"]) * market.raw_price(part["price"])
                        for part in parts)
            sizes = {name: market.raw_size(order[name]) for name in (
                "initial_size", "remaining_size", "filled_size")}
            table.same(f"{row}: filled", sizes["filled_size"], filled)
            table.same(f"{row}: initial = filled + remaining", sizes["initial_size"],
                       sizes["remaining_size"] + sizes["filled_size"])
            table.same(f"{row}: average", order["average_price"],
                       market.average(value, filled) if filled else None)
            table.true(f"{row}: side and market of its fills", all(
                part["side"] == order["side"] and part["market"] == order["market"]
                for part in parts), parts)
            state = order["order_status"]
            table.true(f"{row}: state", {
                "OPEN": filled == 0 and sizes["remaining_size"] > 0,
                "PARTIALLY_FILLED": filled > 0 and sizes["remaining_size"] > 0,
                "FILLED": filled > 0 and sizes["remaining_size"] == 0,
                "REJECTED": filled == 0, "CANCELED": True, "EXPIRED": True}[state], order)
        table.same("fills without an order", by_order, {})
    return table.wrong


@suite.case
def positions_and_cash(world):
    """R2, R4: size, cost, average, uPnL, equity, IM, MM and free cash of every portfolio."""
    table = Table()
    fees = compared = 0
    for deposit, account in zip(world.deposits, world.accounts):
        records, balance, orders = settled(account)
        books = Books(deposit * USDC, everything(account, "/api/v1/fills?subaccount_index=0&"))
        fees += books.fees
        want, known = {}, marks(world)
        pnl = initial = maintenance = 0
        for name, (size, cost) in books.positions.items():
            market, mark = MARKETS[name], known.get(name, MARKETS[name].price)
            buys = sells = loss = reducing = 0
            for order in orders:
                if order["market"] != name or order["order_status"] not in LIVE:
                    continue
                rest, price = market.raw_size(order["remaining_size"]), market.raw_price(
                    order["price"])
                if order["reduce_only"]:
                    reducing += rest  # of the side that opposes the position
                elif order["side"] == "LONG":
                    buys, loss = buys + rest, loss + max(0, price - mark) * rest
                else:
                    sells, loss = sells + rest, loss + max(0, mark - price) * rest
            excess = max(0, reducing - abs(size))
            buys, sells = (buys + excess, sells) if size < 0 else (buys, sells + excess)
            worst = max(abs(size), abs(size + buys), abs(size - sells)) * mark
            margin = max(ceiling(worst, market.leverage),
                         ceiling(worst * market.imr_ppm, 10**6)) + loss
            held = ceiling(abs(size) * mark * market.mmr_ppm, 10**6)
            initial, maintenance = initial + margin, maintenance + held
            pnl += mark * size - cost
            if size:
                want[name] = (
                    "LONG" if size > 0 else "SHORT", decimal(abs(size), market.size_decimals),
                    market.average(cost, size), "0", decimal(mark, market.price_decimals),
                    usdc(mark * size - cost), 20, usdc(margin), usdc(held))
        shown = {record["market"]: tuple(record[name] for name in (
            "side", "size", "average_entry_price", "net_funding", "mark_price", "unrealized_pnl",
            "leverage", "initial_margin", "maintenance_margin")) for record in records}
        again, _, _ = settled(account)
        if again != records:
            continue  # a mark moved meanwhile
        compared += 1
        table.same(f"positions of {account.id}", shown, want)
        free = books.cash + min(0, pnl) - initial
        table.same(f"balance of {account.id}", [balance[name] for name in (
            "equity", "initial_margin", "maintenance_margin", "withdrawable", "cash_balance",
            "withdrawable_now")],
            [usdc(books.cash + pnl), usdc(initial), usdc(maintenance), usdc(free),
             usdc(max(0, free)), usdc(max(0, free))])
        table.same(f"volume of {account.id}", account.read("/api/v1/account").json["volume_14d"],
                   usdc(books.volume))
    table.true("most were compared", compared >= 3, compared)
    table.same("the fee account", world.exchange.audit()["totals"]["fee_account"],
               usdc(fees))
    return table.wrong


@suite.case
def books_and_trades(world):
    """R3, J6: the published books are the live orders, the trades are the makers' fills."""
    table = Table()
    makers = {name: [] for name in MARKETS}
    levels = {name: {"LONG": {}, "SHORT": {}} for name in MARKETS}
    takers = {}
    for account in world.accounts:
        for fill in everything(account, "/api/v1/fills?subaccount_index=0&"):
            if fill["liquidity"] == "MAKER":
                makers[fill["market"]].append(fill)
            else:
                takers[fill["market"], fill["trade_seq"]] = fill
        for order in everything(account, "/api/v1/orders?"):
            if order["order_status"] in LIVE:
                market = MARKETS[order["market"]]
                side = levels[order["market"]][order["side"]]
                price = market.raw_price(order["price"])
                side[price] = side.get(price, 0) + market.raw_size(order["remaining_size"])
    for name, market in MARKETS.items():
        book = world.exchange.get(f"/api/v1/markets/{name}/book?depth=1000").json
        for side, member, best_first in (("LONG", "bids", True), ("SHORT", "asks", False)):
            table.same(f"{name} {member}", book[member], [
                [decimal(price, market.price_decimals), decimal(size, market.size_decimals)]
                for price, size in sorted(levels[name][side].items(), reverse=best_first)])
        trades, cursor = [], ""
        for _ in range(100):
            body = world.exchange.get(f"/api/v1/markets/{name}/trades?limit=1000{cursor}").json
            trades += body["trades"]
            if body["next_before_sequence"] is None:
                break
            cursor = (f"&before_sequence={body['next_before_sequence']}"
                      f"&before_index={body['next_before_index']}")
        fills = sorted(makers[name], key=lambda fill: -fill["trade_seq"])
        table.same(f"{name} trades", [
            {**trade, "taker_side": None, "liquidation": None} for trade in trades], [
            {"price": fill["price"], "size": fill["quantity"], "taker_side": None,
             "liquidation": None, "trade_seq": fill["trade_seq"], "sequence": fill["sequence"],
             "index": fill["index"], "time": fill["time"], "time_ns": fill["time_ns"]}
            for fill in fills])
        for trade, fill in zip(trades, fills):
            taker = takers.get((name, trade["trade_seq"]), {})
            table.same(f"{name} trade {trade['trade_seq']}: both sides", (
                taker.get("side"), taker.get("price"), taker.get("quantity"),
                taker.get("sequence"), trade["taker_side"] != fill["side"]),
                (trade["taker_side"], fill["price"], fill["quantity"], fill["sequence"], True))
        table.true(f"{name} traded", len(trades) > 20, len(trades))
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, ()))
