"""ccxt_python.py - what the class of ccxt for Python does on a running perpd, and, where ccxt is
not installed, a stand-in of what the class uses of it: then ccxt's own shapes are not checked.
"""
import datetime
import importlib
import pathlib
import sys
import types
from decimal import Decimal

import ccxt_watch_python
from peers import Proxy

BTC = "BTC/USDC:USDC"
ERRORS = ("RateLimitExceeded", "AuthenticationError", "PermissionDenied", "InsufficientFunds",
          "OrderNotFound", "OrderImmediatelyFillable", "MarketClosed", "BadSymbol", "BadRequest",
          "AccountSuspended", "ExchangeNotAvailable", "InvalidOrder", "RequestTimeout",
          "NetworkError", "NotSupported", "ExchangeError")
NUMBERS = ("price", "amount", "filled", "remaining", "average", "cost", "last", "bid", "ask",
           "total", "free", "entryPrice", "contracts")


class StandIn:
    """The names of ccxt.async_support.Exchange that the class uses."""

    def __init__(self, config):
        self.markets, self.symbols, self.apiKey, self.privateKey = None, [], "", ""
        self.options, self.timeout = {}, 10_000
        for name, value in self.deep_extend(self.describe(), config).items():
            setattr(self, name, value)

    def describe(self):
        return {"has": {"fetchOrder": None}, "urls": {}}

    def deep_extend(self, *parts):
        made = {}
        for part in parts:
            for name, value in part.items():
                made[name] = self.deep_extend(made.get(name, {}), value) \
                    if isinstance(value, dict) and isinstance(made.get(name), dict) else value
        return made

    async def load_markets(self, reload=False):
        if self.markets is None or reload:
            self.markets = {row["symbol"]: row for row in await self.fetch_markets({})}
            self.symbols = sorted(self.markets)
        return self.markets

    def market(self, symbol):
        if symbol not in self.markets:
            raise sys.modules["ccxt.async_support"].BadSymbol(symbol)
        return self.markets[symbol]

    def safe_symbol(self, market_id):
        return next(row["symbol"] for row in self.markets.values() if row["id"] == market_id)

    def number_to_string(self, value):
        return format(Decimal(repr(value)), "f")

    def parse_number(self, text):
        return None if text is None else float(text)

    def iso8601(self, ms):
        return datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC).isoformat()

    def _numbers(self, row, market=None):
        return {name: self.parse_number(value) if name in NUMBERS else value
                for name, value in row.items()}

    safe_market_structure = safe_ticker = safe_trade = safe_order = safe_position = _numbers

    def safe_balance(self, balance):
        return {name: self._numbers(row) if name != "info" else row
                for name, row in balance.items()}

    def parse_order_book(self, book, symbol, timestamp):
        return {"symbol": symbol, "timestamp": timestamp,
                **{side: [[float(price), float(size)] for price, size in book[side]]
                   for side in ("bids", "asks")}}

    def filter_by_symbol_since_limit(self, rows, symbol, since, limit):
        return [row for row in rows if (symbol is None or row["symbol"] == symbol) and
                (since is None or row["timestamp"] >= since)][:limit]

    def filter_by_array(self, rows, key, values):
        return {row[key]: row for row in rows if values is None or row[key] in values}

    async def close(self):
        pass


def perpd_class():
    """(the class, whether it is of a ccxt that is installed)"""
    try:
        return importlib.import_module("perpd.ccxt").perpd, True
    except ModuleNotFoundError as error:
        if error.name != "ccxt":
            raise
    print("ccxt is not installed: the class is run on a stand-in, its shapes are not checked")
    module = types.ModuleType("ccxt.async_support")
    module.Exchange = StandIn
    for name in ERRORS:
        setattr(module, name, type(name, (Exception,), {}))
    sys.modules["ccxt"], sys.modules["ccxt.async_support"] = types.ModuleType("ccxt"), module
    return importlib.import_module("perpd.ccxt").perpd, False


async def thrown(awaitable):
    try:
        await awaitable
    except Exception as error:
        return error
    return None


async def trades(table, here):
    """It trades; what it gives has ccxt's members, what it raises ccxt's classes."""
    kind, _ = perpd_class()
    secrets = {name: pathlib.Path(path).read_text() for name, path in here.secrets.items()}
    config = {"privateKey": secrets["key"], "apiKey": secrets["api_key"].strip(),
              "urls": {"api": here.url}}
    here.rich.cancel_all()
    here.other.cancel_all()
    here.other.limit(1_000_000, -100_000)
    ex = kind(config)
    try:
        await whole(table, here, ex)
        await ccxt_watch_python.money(table, here, ex)
        await ccxt_watch_python.watches(table, here, ex)
        await ccxt_watch_python.orders(table, here, ex)
        refused = [thrown(ex.create_order(BTC, "limit", "buy", "1", "100100", {"postOnly": True})),
                   thrown(ex.create_order(BTC, "limit", "buy", "1", "99000", {"leverage": 3})),
                   thrown(ex.create_order(BTC, "stop", "buy", "1", "99000")),
                   thrown(ex.create_order("GONE/USDC:USDC", "market", "buy", "1")),
                   thrown(ex.fetch_order("0198c0de-0000-7000-8000-0000000000a1")),
                   thrown(kind({**config, "apiKey": "a wrong key"}).fetch_balance())]
        table.same("refusals", [type(await one).__name__ for one in refused],
                   ["OrderImmediatelyFillable", "BadRequest", "BadRequest", "BadSymbol",
                    "OrderNotFound", "AuthenticationError"])
        await repeated(table, here, kind, config, ex)
    finally:
        await ex.close()
        here.other.cancel_all()


async def whole(table, here, ex):
    """One order from its placement to its end, one that fills, and every read."""
    wrong = [name for name, has in ex.has.items() if has is True and name != "swap" and
             not hasattr(ex, snake(name)) and name not in (  # ccxt's own, by way of create_order
                 "createLimitOrder", "createMarketOrder", "fetchL2OrderBook",
                 "createPostOnlyOrder", "createReduceOnlyOrder", "createStopLossOrder",
                 "createTakeProfitOrder", "createTriggerOrder")]
    table.same("a method for each flag", wrong, [])
    await ex.load_markets()
    market = ex.market(BTC)
    table.same("market", (market["id"], market["type"], market["precision"], len(ex.symbols)),
               ("BTC-PERP", "swap", {"price": 0.1, "amount": 1e-5}, 5))
    table.same("status", (await ex.fetch_status())["status"], "ok")
    table.true("time", abs(await ex.fetch_time() - here.exchange.get("/api/v1/time").json[
        "time_ns"] // 1_000_000) < 60_000)
    placed = await ex.create_order(BTC, "limit", "buy", 0.01, 99000.5, {"postOnly": True})
    table.same("placed", [placed[name] for name in ("status", "side", "price", "amount",
                                                    "remaining", "symbol")],
               ["open", "buy", 99000.5, 0.01, 0.01, BTC])
    read = await ex.fetch_order(placed["id"])
    table.same("read", [read[name] for name in ("id", "status", "price", "timeInForce", "type")],
               [placed["id"], "open", 99000.5, "PO", "limit"])
    edited = await ex.edit_order(placed["id"], BTC, "limit", "buy", "0.02", "99000")
    table.same("edited", [edited[name] for name in ("id", "price", "remaining")],
               [placed["id"], 99000.0, 0.02])
    await ex.fetch_order(placed["id"])  # what is read after it is as new as the last own request
    table.same("open", [(row["id"], row["price"]) for row in await ex.fetch_open_orders(BTC)],
               [(placed["id"], 99000.0)])
    off = await thrown(ex.create_order(BTC, "limit", "buy", "0.01", 99000.05))
    table.same("off the grid", (type(off).__name__, "99000 and 99000.1" in str(off)),
               ("InvalidOrder", True))
    table.same("canceled", ((await ex.cancel_order(placed["id"]))["status"],
                            (await ex.fetch_order(placed["id"]))["status"]),
               ("canceled", "canceled"))
    taken = await ex.create_order(BTC, "market", "buy", "0.01")
    table.same("taken", [taken[name] for name in ("status", "filled", "average", "type")],
               ["closed", 0.01, 100_000.0, "market"])
    await ex.fetch_order(taken["id"])
    fill = (await ex.fetch_my_trades(BTC))[-1]
    table.same("fill", [fill[name] for name in ("order", "side", "takerOrMaker", "amount",
                                                "price")],
               [taken["id"], "buy", "taker", 0.01, 100_000.0])
    held = here.rich.read("/api/v1/positions?market=BTC-PERP").json[0]
    position, = await ex.fetch_positions([BTC])
    table.same("position", [position[name] for name in ("side", "contracts", "entryPrice",
                                                        "marginMode")],
               [held["side"].lower(), float(held["size"]), float(held["average_entry_price"]),
                "cross"])
    table.true("balance", (await ex.fetch_balance())["USDC"]["total"] > 0)
    book = await ex.fetch_order_book(BTC, 10)
    table.same("book", (book["symbol"], list(book["asks"][0])), (BTC, [100_000.0, 0.99]))
    ticker = await ex.fetch_ticker(BTC)
    table.same("ticker", (ticker["last"], ticker["ask"]), (100_000.0, 100_000.0))
    table.same("tickers", sorted(await ex.fetch_tickers()), sorted(ex.symbols))
    trade = (await ex.fetch_trades(BTC, limit=1))[-1]
    table.same("trade", (trade["side"], trade["price"], trade["amount"]), ("buy", 100_000.0, 0.01))
    while not (candles := await ex.fetch_ohlcv(BTC, "1d", limit=1)):
        pass
    table.same("candle", (len(candles[-1]), candles[-1][4]), (6, 100_000.0))
    rate = await ex.fetch_funding_rate(BTC)
    table.same("rate", (rate["markPrice"], rate["fundingTimestamp"] > rate["timestamp"],
                        rate["fundingTimestamp"] % 3_600_000), (100_000.0, True, 0))
    shown = here.exchange.get("/api/v1/markets/BTC-PERP/funding-rates?limit=50").json
    table.same("funding", ([row["timestamp"] for row in await ex.fetch_funding_rate_history(BTC)],
                           [row["id"] for row in await ex.fetch_funding_history(BTC)]),
               ([row["time"] for row in reversed(shown["funding_rates"])],  # none but at an hour
                [row["id"] for row in reversed(here.rich.read(
                    "/api/v1/funding-payments?subaccount_index=0&portfolio_index=0").json)]))
    table.same("closed", ((await ex.fetch_closed_orders(BTC))[-1]["id"],
                          (await ex.fetch_canceled_orders(BTC))[-1]["id"]),
               (taken["id"], placed["id"]))
    table.same("leverage", (await ex.set_leverage(10, BTC))["info"]["leverage"], 10)
    await more(table, here, ex)


async def more(table, here, ex):
    """The reads and orders beside the usual ones."""
    ticker, read = (await ex.fetch_bids_asks([BTC]))[BTC], here.rich.read
    marks = await ex.fetch_mark_prices([BTC])
    table.same("asks", (ticker["ask"], float(marks[BTC]["markPrice"])), (100_000.0, 100_000.0))
    shown = here.exchange.get("/api/v1/markets/BTC-PERP/ticker").json
    table.same("interest", (await ex.fetch_open_interest(BTC))["openInterestAmount"],
               float(shown["open_interest"]))
    single = here.exchange.get("/api/v1/markets/BTC-PERP/book/l3").json["orders"][0]
    table.same("one by one", (await ex.fetch_l3_order_book(BTC))["asks"][0],
               [float(single["price"]), float(single["size"]), str(single["handle"])])
    table.same("accounts", [row["id"] for row in await ex.fetch_accounts()], ["0"])
    table.same("fees", (await ex.fetch_trading_fee(BTC))["taker"],
               float(read("/api/v1/account").json["taker_fee_rate"]))
    cash = "/api/v1/cash/history?subaccount_index=0&portfolio_index=0&limit=2"
    rows = read(cash).json["history"]
    ledger = await ex.fetch_ledger("USDC", None, 2)
    table.same("ledger", [(row["after"], row["before"], row["type"]) for row in ledger],
               [(float(row["balance_after"]),
                 float(Decimal(row["balance_after"]) - Decimal(row["amount"])), row["kind"])
                for row in reversed(rows)])
    table.same("rates", sorted(await ex.fetch_funding_rates()), sorted(ex.symbols))
    waiting = [await ex.create_order(BTC, kind, "sell", "0.01", price, params)
               for kind, price, params in (
                   ("market", None, {"triggerPrice": "90000"}),
                   ("limit", "89000", {"stopLossPrice": "90000", "reduceOnly": True}),
                   ("limit", "110000", {"takeProfitPrice": "110000"}))]
    table.same("they wait", [here.rich.order(bytes.fromhex(one["id"].replace("-", ""))).json[
        "order_type"] for one in waiting], ["STOP_MARKET", "STOP_LIMIT", "TAKE_PROFIT"])
    wrong = [await thrown(ex.create_order(BTC, "market", "sell", "0.01", None, params))
             for params in ({"triggerPrice": 0}, {"stopLossPrice": "-1"},
                            {"triggerPrice": "90000", "stopLossPrice": "90000"},
                            {"triggerPrice": 0, "takeProfitPrice": "110000"})]
    table.same("no trigger, or two", [type(one).__name__ for one in wrong], ["BadRequest"] * 4)
    none = "0198c0de-0000-7000-8000-0000000000a1"
    failed = await thrown(ex.cancel_orders([none, *(one["id"] for one in waiting[:2])]))
    table.same("the others are canceled", (type(failed).__name__, [
        (await ex.fetch_order(one["id"]))["status"] for one in waiting]),
        ("OrderNotFound", ["canceled", "canceled", "open"]))
    gone = await ex.cancel_orders([waiting[2]["id"]])
    table.same("canceled", [row["status"] for row in gone], ["canceled"])
    for after in (60_000, 0):
        table.same("dead-man", (await ex.cancel_all_orders_after(after))["info"]["status"],
                   "request_completed")
    held = float(read("/api/v1/positions?market=BTC-PERP").json[0]["size"])
    here.other.limit(999_000, 100_000)
    closed = await ex.close_position(BTC)
    table.same("closed", (closed["side"], closed["filled"], closed["reduceOnly"]),
               ("sell", held, True))
    table.same("nothing to close", type(await thrown(ex.close_position(BTC))).__name__,
               "InvalidOrder")


async def repeated_more(table, here, proxy, fates, far, ex):
    """The same of a withdrawal, a batch, and an order whose second exit has no answer."""
    batch = [{"symbol": BTC, "type": "limit", "side": "buy", "amount": "0.01", "price": price}
             for price in ("98000", "98001")]
    calls = (lambda params: far.withdraw("USDC", "2.25", "0x" + "11" * 20, None, params),
             lambda params: far.create_orders(batch, params))
    shown = []
    for call in calls:
        fates[0], far.timeout = "lost_after", 300
        late = await thrown(call({}))
        fates[0], far.timeout = "pass", 30_000
        shown.append((type(late).__name__, await call({"requestId": late.request_id})))
    table.same("late", [name for name, _ in shown], ["RequestTimeout"] * 2)
    ids = sorted(row["id"] for row in shown[1][1])
    await far.fetch_order(ids[0])
    table.same("a batch once", sorted(row["id"] for row in await ex.fetch_open_orders(BTC)), ids)
    await ccxt_watch_python.settled(ex.fetch_withdrawals, shown[0][1]["id"])
    left = [row["id"] for row in await ex.fetch_withdrawals() if row["amount"] == 2.25]
    table.same("a withdrawal once", left, [shown[0][1]["id"]])
    client = await far._client()
    real = client.order_at

    async def lost(*_):
        raise importlib.import_module("perpd").Lost("planted", True)
    client.order_at = lost
    rows = await far.create_orders([{**one, "price": "98002"} for one in batch])
    client.order_at = real
    table.same("a batch that cannot be read", [row["status"] for row in rows], ["open", "open"])
    await far.cancel_all_orders(BTC)

    def fate(message):
        exits.extend([1] * (b"conditional" in message.split(b" ", 2)[1]))
        far.timeout = 300 if exits else 30_000  # of the exit that comes next
        return "lost_after" if len(exits) > 1 else "pass"
    exits, place = [], far.create_order_with_take_profit_and_stop_loss
    proxy._fate, count = fate, len(proxy.seen)
    off = [await thrown(place(BTC, "limit", "buy", "0.01", "97000", *prices)) for prices in (
        ("120000", "80000.05"), ("0", "80000"), ("120000", None))]
    table.same("nothing is sent", ([type(one).__name__ for one in off], [
        path for path, _ in proxy.seen[count:] if "trading" in path]),
        (["InvalidOrder", "BadRequest", "BadRequest"], []))
    failed = await thrown(place(BTC, "limit", "buy", "0.01", "97000", "120000", "80000"))
    table.same("an exit without answer", (type(failed).__name__, failed.order["price"],
                                          str(failed.request_id)),
               ("InvalidOrder", 97000.0, failed.order["id"]))
    proxy._fate, far.timeout = (lambda _: "pass"), 30_000
    again = await place(BTC, "limit", "buy", "0.01", "97000", "120000", "80000",
                        {"requestId": failed.request_id})
    while len(rows := here.rich.read("/api/v1/orders?status=UNTRIGGERED").json) < 2:
        pass
    table.same("exits once", sorted(row["order_type"] for row in rows),
               ["STOP_MARKET", "TAKE_PROFIT_MARKET"])
    await far.fetch_order(again["id"])
    table.same("an entry once", [row["id"] for row in await ex.fetch_open_orders(BTC)
                                 if row["price"] == 97000.0], [again["id"]])
    await far.cancel_all_orders(BTC)


async def repeated(table, here, kind, config, ex):
    """An answer that is lost for longer than the time-out; the same call with its id executes
    once."""
    fates = ["lost_after"]

    def fate(_):
        return fates[0]
    async with Proxy(here.exchange.port, fate) as proxy:
        far = kind({**config, "urls": {"api": proxy.url}, "timeout": 30_000})
        await far.load_markets()
        far.timeout = 300  # before its id is old enough for GET /requests/{id}
        late = await thrown(far.create_order(BTC, "limit", "buy", "0.03", "98000"))
        fates[0], far.timeout = "pass", 30_000
        again = await far.create_order(BTC, "limit", "buy", "0.03", "98000",
                                       {"requestId": late.request_id})
        await far.fetch_order(again["id"])
        table.same("late", (type(late).__name__, again["id"]),
                   ("RequestTimeout", str(late.request_id)))
        table.same("once", [row["price"] for row in await ex.fetch_open_orders(BTC)],
                   [98000.0])
        await far.cancel_all_orders(BTC)
        await far.fetch_order(again["id"])
        table.same("none", await ex.fetch_open_orders(BTC), [])
        await repeated_more(table, here, proxy, fates, far, ex)
        await far.close()


def snake(name):
    """fetchOHLCV as fetch_ohlcv, fetchMyTrades as fetch_my_trades."""
    text = name.replace("OHLCV", "Ohlcv").replace("ADL", "Adl")
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in text)
