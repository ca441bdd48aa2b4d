"""ccxt_rest.py - the usual reads and orders of the class of ccxt. What it makes obeys the shapes of
ccxt; what it sends goes through Client alone.
"""
from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, cast
from uuid import UUID

from . import _types_gen as records
from .amount import Amount
from .ccxt_failure import raise_failure
from .ccxt_shape import Dict, Exchange, Number
from .client import Client, connect
from .errors import PerpdError
from .ids import id_time_ms
from .market import Market
from .order import Direction, Order
from .requests import Outcome
from .trading import TimeInForce, Trigger

Result = TypeVar("Result")
_ccxt: Any = importlib.import_module("ccxt.async_support")

QUOTE, _LIMIT_MAX = "USDC", 1000
_FRAMES = ("1m", "5m", "15m", "1h", "4h", "1d")
_HAS = ("cancelAllOrders", "cancelOrder", "cancelOrders", "closePosition", "createLimitOrder",
        "createMarketOrder", "createOrder", "createPostOnlyOrder", "createReduceOnlyOrder",
        "createStopLossOrder", "createTakeProfitOrder", "createTriggerOrder", "editOrder",
        "fetchAccounts", "fetchBalance", "fetchBidsAsks", "fetchFundingRates", "fetchL3OrderBook",
        "fetchLedger", "fetchMarkPrices", "fetchOpenInterest", "fetchTradingFee",
        "fetchTradingFees", "fetchCanceledOrders", "fetchClosedOrders",
        "fetchFundingHistory", "fetchFundingRate", "fetchFundingRateHistory", "fetchL2OrderBook",
        "fetchMarkets", "fetchMyTrades", "fetchOHLCV", "fetchOpenOrders", "fetchOrder",
        "fetchOrderBook", "fetchOrders", "fetchPositions", "fetchStatus", "fetchTicker",
        "fetchTickers", "fetchTime", "fetchTrades", "setLeverage", "swap")
_HAS_NOT = ("CORS", "spot", "margin", "future", "option", "createMarketOrderWs")
_STATE = {"OPEN": "open", "PARTIALLY_FILLED": "open", "UNTRIGGERED": "open", "FILLED": "closed",
          "CANCELED": "canceled", "REJECTED": "rejected", "EXPIRED": "expired"}
TIF: dict[object, TimeInForce] = {None: "GTC", "PO": "GTC", "GTC": "GTC", "IOC": "IOC",
                                   "FOK": "FOK"}
_TRIGGER: dict[tuple[bool, bool], Trigger] = {  # by: is it a stop, has it a limit
    (True, True): "STOP_LIMIT", (True, False): "STOP_MARKET", (False, True): "TAKE_PROFIT",
    (False, False): "TAKE_PROFIT_MARKET"}
SIDE: dict[str, Direction] = {"LONG": "buy", "SHORT": "sell"}


def none_of(params: Dict | None) -> None:
    if params:
        raise _ccxt.BadRequest(f"perpd no such parameter: {', '.join(params)}")


def repeated_of(params: Dict | None) -> UUID | None:
    """The `requestId` of what takes no other parameter."""
    others = dict(params or {})
    again = others.pop("requestId", None)
    none_of(others)
    return _again((again, None))


def flag_of(params: Dict, name: str) -> bool:
    """Takes a flag out of the parameters; BadRequest when it is no boolean."""
    flag = params.pop(name, None)
    if flag is not None and not isinstance(flag, bool):
        raise _ccxt.BadRequest(f"perpd {name} is True or False, not {flag!r}")
    return flag is True


class Rest(Exchange):
    """What needs one request, or a few."""

    def __init__(self, config: Dict | None = None) -> None:
        super().__init__(config or {})
        self._opened: Client | None = None
        self._opening = asyncio.Lock()
        self._least: int | None = None  # the sequence of the newest own request

    def describe(self) -> Dict:
        return self.deep_extend(super().describe(), {
            "id": "perpd", "name": "perpd", "countries": [], "precisionMode": 4, "rateLimit": 5,
            "has": {**dict.fromkeys(_HAS, True), **dict.fromkeys(_HAS_NOT, False)},
            "timeframes": {frame: frame for frame in _FRAMES},
            "requiredCredentials": {"apiKey": True, "secret": False, "privateKey": True},
            "urls": {"api": "http://127.0.0.1:8080"}})

    async def _client(self) -> Client:
        async with self._opening:
            if self._opened is None:
                key, api_key, options = self.privateKey, self.apiKey, self.options
                self._opened = await connect(
                    str(self.urls["api"]), key=(lambda: key) if key else None,
                    api_key=(lambda: api_key) if api_key else None,
                    subaccount=int(options.get("subaccount", 0)),
                    portfolio=int(options.get("portfolio", 0)),
                    allow_plain=options.get("allowPlain") is True,
                    stream_orders=options.get("streamOrders") is True,
                    timeout_s=self.timeout / 1000).__aenter__()
            return self._opened

    async def _with(self, work: Callable[[Client], Awaitable[Result]]) -> Result:
        """Runs work on the client, which the first one connects. Errors are those of ccxt."""
        try:
            return await work(await self._client())
        except (PerpdError, ValueError, TypeError) as error:
            raise_failure(error)

    async def _at(self, symbol: str,
                  work: Callable[[Client, Market], Awaitable[Result]]) -> Result:
        """Runs work on a market, given by its symbol."""
        await self.load_markets()
        name = str(self.market(symbol)["id"])

        async def there(client: Client) -> Result:
            return await work(client, await client.market(name))
        return await self._with(there)

    async def _perhaps_at(self, symbol: str | None,
                          work: Callable[[Client, Market | None], Awaitable[Result]]) -> Result:
        if symbol is not None:
            return await self._at(symbol, work)
        await self.load_markets()
        return await self._with(lambda client: work(client, None))

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.__aexit__(None, None, None)
        await super().close()

    async def fetch_time(self, params: Dict | None = None) -> int:
        none_of(params)

        async def work(client: Client) -> int:
            await client.session.get("/time")
            return int(client.session.clock.now_ms())
        return await self._with(work)

    async def fetch_status(self, params: Dict | None = None) -> Dict:
        none_of(params)
        info = await self._with(lambda client: client.status())
        return {"status": "ok" if info["state"] == "ready" else "maintenance", "updated": None,
                "eta": None, "url": None, "info": info}

    async def fetch_markets(self, params: Dict | None = None) -> list[Dict]:
        none_of(params)
        markets = await self._with(lambda client: client.markets())
        return [self._market(market.record) for market in markets]

    def _market(self, record: records.Market) -> Dict:
        number, base, fees = self.parse_number, record["base"], record["fees"]
        return self.safe_market_structure({
            "id": record["market"], "symbol": f"{base}/{QUOTE}:{QUOTE}", "base": base,
            "quote": QUOTE, "settle": QUOTE, "baseId": base, "quoteId": QUOTE,
            "settleId": QUOTE, "type": "swap", "spot": False, "margin": False, "swap": True,
            "future": False, "option": False, "active": record["state"] == "ACTIVE",
            "contract": True, "linear": True, "inverse": False, "contractSize": 1,
            "maker": number(fees[0]["maker_fee_rate"]) if fees else None,
            "taker": number(fees[0]["taker_fee_rate"]) if fees else None,
            "precision": {"price": number(record["tick_size"]),
                          "amount": number(record["lot_size"])},
            "limits": {"amount": {"min": number(record["min_size"]),
                                  "max": number(record["max_order_size"])},
                       "price": {"min": number(record["tick_size"]),
                                 "max": number(record["max_price"])},
                       "cost": {"min": number(record["min_notional"]), "max": None},
                       "leverage": {"min": 1, "max": record["max_leverage"]}}, "info": record})

    def _ticker(self, info: records.Ticker) -> Dict:
        return self.safe_ticker({
            "symbol": self.safe_symbol(info["market"]), "high": info["high_24h"],
            "low": info["low_24h"], "bid": info["bid_price"], "ask": info["ask_price"],
            "open": info["open_24h"], "last": info["last_price"], "close": info["last_price"],
            "baseVolume": info["volume_24h"], "quoteVolume": info["notional_24h"],
            "markPrice": info["mark_price"], "indexPrice": info["index_price"], "info": info})

    async def fetch_ticker(self, symbol: str, params: Dict | None = None) -> Dict:
        none_of(params)
        return self._ticker(await self._at(symbol, lambda client, market: client.ticker(market)))

    async def fetch_tickers(self, symbols: Sequence[str] | None = None,
                            params: Dict | None = None) -> Dict:
        none_of(params)
        rows = await self._perhaps_at(None, lambda client, market: client.tickers())
        return self.filter_by_array([self._ticker(row) for row in rows], "symbol", symbols)

    async def fetch_bids_asks(self, symbols: Sequence[str] | None = None,
                              params: Dict | None = None) -> Dict:
        return await self.fetch_tickers(symbols, params)

    async def fetch_mark_prices(self, symbols: Sequence[str] | None = None,
                                params: Dict | None = None) -> Dict:
        return await self.fetch_tickers(symbols, params)

    async def fetch_open_interest(self, symbol: str, params: Dict | None = None) -> Dict:
        none_of(params)
        info = await self._at(symbol, lambda client, market: client.ticker(market))
        return {"symbol": symbol, "openInterestAmount": self.parse_number(info["open_interest"]),
                "openInterestValue": None, "timestamp": None, "datetime": None, "info": info}

    async def fetch_l3_order_book(self, symbol: str, limit: int | None = None,
                                  params: Dict | None = None) -> Dict:
        none_of(params)
        book = cast(records.BookOrders, await self._at(
            symbol, lambda client, market: client.session.get(f"/markets/{market}/book/l3")))
        timestamp = book["time_ns"] // 1_000_000
        shown = {side: [[self.parse_number(row["price"]), self.parse_number(row["size"]),
                         str(row["handle"])]
                        for row in book["orders"] if row["side"] == name][:limit]
                 for side, name in (("bids", "LONG"), ("asks", "SHORT"))}
        return {**shown, "symbol": symbol, "timestamp": timestamp, "nonce": book["seq"],
                "datetime": self.iso8601(timestamp)}

    async def fetch_accounts(self, params: Dict | None = None) -> list[Dict]:
        none_of(params)
        rows = cast("list[records.Subaccount]", await self._with(
            lambda client: client.session.get("/subaccounts", private=True)))
        return [{"id": str(row["subaccount_index"]), "type": "swap", "code": QUOTE, "info": row}
                for row in rows]

    async def fetch_trading_fees(self, params: Dict | None = None) -> Dict:
        none_of(params)
        await self.load_markets()
        info = await self._with(lambda client: client.account())
        markets = await self._with(lambda client: client.markets())
        return {symbol: {"symbol": symbol, "maker": self.parse_number(info["maker_fee_rate"]),
                         "taker": self.parse_number(info["taker_fee_rate"]), "percentage": True,
                         "tierBased": True, "info": info}
                for symbol in (self.safe_symbol(market.name) for market in markets)}

    async def fetch_trading_fee(self, symbol: str, params: Dict | None = None) -> Dict:
        fees = await self.fetch_trading_fees(params)
        self.market(symbol)
        return cast(Dict, fees[symbol])

    async def fetch_ledger(self, code: str | None = None, since: int | None = None,
                           limit: int | None = None, params: Dict | None = None) -> list[Dict]:
        none_of(params)
        shown = await self._with(lambda client: client.cash_history(count_of(limit)))
        return [self._cash(row) for row in reversed(shown["history"])
                if code in (None, QUOTE) and (since is None or row["time"] >= since)]

    def _cash(self, row: records.CashRow) -> Dict:
        number, amount = self.parse_number, Amount.of(row["amount"])
        after = Amount.of(row["balance_after"])
        return {"id": f"{row['sequence']}-{row['index']}", "timestamp": row["time"],
                "datetime": self.iso8601(row["time"]),
                "direction": "out" if amount.raw < 0 else "in", "currency": QUOTE,
                "account": str(row["subaccount_index"]), "referenceId": row["ref_id"],
                "type": row["kind"], "status": "ok",
                "amount": number(str(abs(amount))), "after": number(str(after)),
                "before": number(str(after - amount)), "info": row}

    async def fetch_funding_rates(self, symbols: Sequence[str] | None = None,
                                  params: Dict | None = None) -> Dict:
        none_of(params)
        await self.load_markets()
        markets = await self._with(lambda client: client.markets())
        rows = [await self.fetch_funding_rate(self.safe_symbol(market.name)) for market in markets]
        return self.filter_by_array(rows, "symbol", symbols)

    async def fetch_order_book(self, symbol: str, limit: int | None = None,
                               params: Dict | None = None) -> Dict:
        none_of(params)
        book = await self._at(symbol, lambda client, market: client.book_snapshot(
            market, 50 if limit is None else limit))
        shown = self.parse_order_book(cast(Dict, book), symbol, book["time_ns"] // 1_000_000)
        return {**shown, "nonce": book["seq"]}

    async def fetch_trades(self, symbol: str, since: int | None = None, limit: int | None = None,
                           params: Dict | None = None) -> list[Dict]:
        none_of(params)
        shown = await self._at(symbol, lambda client, market: client.trades(
            market, limit=count_of(limit)))
        info = self.market(symbol)
        rows = [self.safe_trade({
            "id": str(row["trade_seq"]), "timestamp": row["time"],
            "datetime": self.iso8601(row["time"]), "symbol": symbol,
            "side": SIDE[row["taker_side"]], "price": row["price"], "amount": row["size"],
            "info": row}, info) for row in reversed(shown["trades"])]
        return self.filter_by_symbol_since_limit(rows, symbol, since, limit)

    async def fetch_ohlcv(self, symbol: str, timeframe: str = "1m", since: int | None = None,
                          limit: int | None = None,
                          params: Dict | None = None) -> list[list[float]]:
        none_of(params)
        return await self._candles(symbol, timeframe, since, limit, None)

    async def _candles(self, symbol: str, timeframe: str, since: int | None, limit: int | None,
                       least: int | None) -> list[list[float]]:
        shown = cast(records.Candles, await self._at(
            symbol, lambda client, market: client.session.get(
                f"/markets/{market}/candles", {"interval": timeframe,
                                               "limit": count_of(limit, 100)}, least=least)))
        rows = [[row["start_time"], *(self.parse_number(text) for text in (
            row["open"], row["high"], row["low"], row["close"], row["volume"]))]
            for row in shown["candles"]]
        return sorted(row for row in rows if since is None or row[0] >= since)

    async def fetch_funding_rate(self, symbol: str, params: Dict | None = None) -> Dict:
        none_of(params)
        info = cast(records.Mark, await self._at(symbol, lambda client, market: client.session.get(
            f"/markets/{market}/mark")))
        timestamp = info["time_ns"] // 1_000_000
        following = (timestamp // 3_600_000 + 1) * 3_600_000
        return {"info": info, "symbol": symbol, "markPrice": self.parse_number(info["mark_price"]),
                "indexPrice": self.parse_number(info["index_price"]), "timestamp": timestamp,
                "datetime": self.iso8601(timestamp),
                "fundingRate": self.parse_number(info["predicted_funding_rate"]),
                "fundingTimestamp": following, "fundingDatetime": self.iso8601(following),
                "interval": "1h"}

    async def fetch_funding_rate_history(self, symbol: str, since: int | None = None,
                                         limit: int | None = None,
                                         params: Dict | None = None) -> list[Dict]:
        none_of(params)
        shown = await self._at(symbol, lambda client, market: client.funding_rates(
            market, limit=count_of(limit)))
        rows: list[Dict] = [{"info": row, "symbol": symbol, "timestamp": row["time"],
                             "datetime": self.iso8601(row["time"]),
                             "fundingRate": self.parse_number(row["funding_rate"])}
                            for row in reversed(shown["funding_rates"])]
        return self.filter_by_symbol_since_limit(rows, symbol, since, limit)

    async def fetch_balance(self, params: Dict | None = None) -> Dict:
        none_of(params)
        return self._balance(await self._with(lambda client: client.balance()))

    def _balance(self, info: records.Balance) -> Dict:
        return self.safe_balance({"info": info, QUOTE: {"total": info["equity"],
                                                        "free": info["cash_balance"]}})

    async def fetch_positions(self, symbols: Sequence[str] | None = None,
                              params: Dict | None = None) -> list[Dict]:
        none_of(params)
        found = await self._perhaps_at(None, lambda client, market: client.positions())
        rows = [self._position(row) for row in found]
        return [row for row in rows if symbols is None or row["symbol"] in symbols]

    def _position(self, row: records.Position) -> Dict:
        number, liquidation = self.parse_number, row["liquidation_price"]
        return self.safe_position({
            "info": row, "id": row["id"], "symbol": self.safe_symbol(row["market"]),
            "side": "long" if row["side"] == "LONG" else "short",
            "contracts": number(row["size"]), "contractSize": 1,
            "entryPrice": number(row["average_entry_price"]),
            "markPrice": number(row["mark_price"]), "leverage": row["leverage"], "hedged": False,
            "unrealizedPnl": number(row["unrealized_pnl"]), "marginMode": "cross",
            "liquidationPrice": None if liquidation is None else number(liquidation),
            "initialMargin": number(row["initial_margin"]),
            "maintenanceMargin": number(row["maintenance_margin"])})

    async def fetch_my_trades(self, symbol: str | None = None, since: int | None = None,
                              limit: int | None = None,
                              params: Dict | None = None) -> list[Dict]:
        none_of(params)
        found = await self._perhaps_at(symbol, lambda client, market: client.fills(
            market, count_of(limit)))
        return self.filter_by_symbol_since_limit([self._fill(row) for row in reversed(found)],
                                                 symbol, since, limit)

    def _fill(self, row: records.Fill) -> Dict:
        return self.safe_trade({
            "id": row["id"], "order": row["request_id"], "timestamp": row["time"],
            "datetime": self.iso8601(row["time"]), "symbol": self.safe_symbol(row["market"]),
            "side": SIDE[row["side"]], "takerOrMaker": row["liquidity"].lower(),
            "price": row["price"], "amount": row["quantity"],
            "fee": {"cost": row["fee"], "currency": QUOTE}, "info": row})

    async def fetch_funding_history(self, symbol: str | None = None, since: int | None = None,
                                    limit: int | None = None,
                                    params: Dict | None = None) -> list[Dict]:
        none_of(params)
        found = await self._perhaps_at(symbol, lambda client, market: client.funding_payments(
            market, count_of(limit)))
        rows: list[Dict] = [{"info": row, "id": row["id"], "code": QUOTE,
                             "symbol": self.safe_symbol(row["market"]), "timestamp": row["time"],
                             "datetime": self.iso8601(row["time"]),
                             "amount": self.parse_number(row["payment"])}
                            for row in reversed(found)]
        return self.filter_by_symbol_since_limit(rows, symbol, since, limit)

    def _order(self, info: records.Order) -> Dict:
        return self.safe_order({
            "id": info["id"], "clientOrderId": info["id"], "timestamp": info["time"],
            "datetime": self.iso8601(info["time"]), "symbol": self.safe_symbol(info["market"]),
            "lastUpdateTimestamp": info["updated_at_ns"] // 1_000_000,
            "type": "market" if "MARKET" in info["order_type"] else "limit",
            "side": SIDE[info["side"]], "price": info["price"], "amount": info["initial_size"],
            "filled": info["filled_size"], "remaining": info["remaining_size"],
            "average": info["average_price"], "status": _STATE[info["order_status"]],
            "timeInForce": "PO" if info["post_only"] else info["time_in_force"],
            "postOnly": info["post_only"], "reduceOnly": info["reduce_only"],
            "triggerPrice": info["trigger_price"], "info": info})

    def _own(self, order: Order, symbol: str, kind: str) -> Dict:
        """What the acknowledgement of an order showed."""
        timestamp, outcome = id_time_ms(order.id), order.outcome
        if outcome is not None:
            self._told(outcome.sequence)
        average = order.average_price
        return self.safe_order({
            "id": str(order.id), "clientOrderId": str(order.id), "timestamp": timestamp,
            "datetime": self.iso8601(timestamp), "symbol": symbol, "type": kind,
            "side": order.side, "price": None if order.price is None else str(order.price),
            "amount": str(order.size), "filled": str(order.filled),
            "remaining": str(order.remaining), "status": _STATE[order.status],
            "average": None if average is None else str(average), "postOnly": order.post_only,
            "reduceOnly": order.reduce_only, "info": {} if outcome is None else outcome.answer})

    async def fetch_order(self, id: str, symbol: str | None = None,
                          params: Dict | None = None) -> Dict:
        none_of(params)

        async def work(client: Client, market: Market | None) -> records.Order:
            return await client.order_record(UUID(id), self._least)
        return self._order(await self._perhaps_at(symbol, work))

    async def _orders(self, statuses: Sequence[str | None], symbol: str | None,
                      since: int | None, limit: int | None, params: Dict | None) -> list[Dict]:
        none_of(params)

        async def work(client: Client, market: Market | None) -> list[records.Order]:
            return [row for status in statuses
                    for row in await client.orders(market, status, count_of(limit))]
        rows = sorted(await self._perhaps_at(symbol, work), key=lambda row: row["time_ns"])
        return self.filter_by_symbol_since_limit([self._order(row) for row in rows], symbol,
                                                 since, limit)

    async def fetch_orders(self, symbol: str | None = None, since: int | None = None,
                           limit: int | None = None, params: Dict | None = None) -> list[Dict]:
        return await self._orders([None], symbol, since, limit, params)

    async def fetch_open_orders(self, symbol: str | None = None, since: int | None = None,
                                limit: int | None = None,
                                params: Dict | None = None) -> list[Dict]:
        return await self._orders(["OPEN", "PARTIALLY_FILLED", "UNTRIGGERED"], symbol, since,
                                  limit, params)

    async def fetch_closed_orders(self, symbol: str | None = None, since: int | None = None,
                                  limit: int | None = None,
                                  params: Dict | None = None) -> list[Dict]:
        return await self._orders(["FILLED"], symbol, since, limit, params)

    async def fetch_canceled_orders(self, symbol: str | None = None, since: int | None = None,
                                    limit: int | None = None,
                                    params: Dict | None = None) -> list[Dict]:
        return await self._orders(["CANCELED"], symbol, since, limit, params)

    def _told(self, sequence: int | None) -> None:
        """Reads of own orders are as of this sequence or later."""
        if sequence is not None:
            self._least = max(self._least or 0, sequence)

    def _text(self, value: Number) -> str:
        return value if isinstance(value, str) else self.number_to_string(value)

    async def create_order(self, symbol: str, type: str, side: Direction, amount: Number,
                           price: Number | None = None, params: Dict | None = None) -> Dict:
        """`params`: timeInForce, postOnly, reduceOnly, requestId or clientOrderId (the order's id,
        a UUIDv7); triggerPrice or stopLossPrice, or takeProfitPrice (of the mark) for an order that
        waits. An outcome that is not known in `timeout` ms raises RequestTimeout with
        `request_id`; the same call with it as `requestId` cannot execute twice."""
        others = dict(params or {})
        tif, post_only = others.pop("timeInForce", None), flag_of(others, "postOnly")
        reduce_only = flag_of(others, "reduceOnly")
        made = (others.pop("requestId", None), others.pop("clientOrderId", None))
        given = [(name, others.pop(name, None))
                 for name in ("triggerPrice", "stopLossPrice", "takeProfitPrice")]
        triggers = [(name, value) for name, value in given if value is not None]
        none_of(others)

        async def work(client: Client, market: Market) -> Order:
            if type not in ("limit", "market"):
                raise ValueError("the type is limit or market")
            if type == "limit" and price is None:
                raise ValueError("a limit order has a price")
            if triggers:
                if tif is not None or len(triggers) > 1:
                    raise ValueError("an order that waits takes one trigger and no timeInForce")
                name, trigger = triggers[0][0], Amount.of(self._text(triggers[0][1]))
                if trigger.raw <= 0:
                    raise ValueError(f"{name} is above 0")
                kind = _TRIGGER[name != "takeProfitPrice", type == "limit"]
                return await client.place_trigger(
                    market, side, self._text(amount), trigger, kind,
                    price=None if type == "market" or price is None else self._text(price),
                    post_only=post_only, reduce_only=reduce_only,
                    request_id=_again(made), deadline_s=self.timeout / 1000)
            if type == "market" and (post_only or tif is not None):
                raise ValueError("a market order takes neither postOnly nor timeInForce")
            if tif not in TIF:
                raise ValueError(f"no such timeInForce: {tif}")
            return await client.place(
                market, side, self._text(amount),
                None if type == "market" or price is None else self._text(price),
                post_only=post_only or tif == "PO", reduce_only=reduce_only,
                tif=TIF[tif], request_id=_again(made), deadline_s=self.timeout / 1000)
        return self._own(await self._at(symbol, work), symbol, type)

    async def _known(self, client: Client, order_id: str) -> tuple[Order, records.Order]:
        """The order of this id, as of the newest own request or later."""
        record = await client.order_record(UUID(order_id), self._least)
        order = Order(client, UUID(order_id), await client.market(record["market"]),
                      SIDE[record["side"]], None, Amount.of(record["initial_size"]),
                      is_conditional=record["order_status"] == "UNTRIGGERED",
                      post_only=record["post_only"], reduce_only=record["reduce_only"])
        return order, record

    async def edit_order(self, id: str, symbol: str, type: str, side: Direction, amount: Number,
                         price: Number, params: Dict | None = None) -> Dict:
        """`amount` is what shall be left of the order, whose id stays."""
        none_of(params)

        async def work(client: Client, market: Market) -> Order:
            order, record = await self._known(client, id)
            if record["market"] != market.name or order.side != side or type != "limit":
                raise ValueError(f"order {id} is a limit order to {order.side} {record['market']}")
            return await order.replace(self._text(price), self._text(amount),
                                       deadline_s=self.timeout / 1000)
        return self._own(await self._at(symbol, work), symbol, type)

    async def cancel_order(self, id: str, symbol: str | None = None,
                           params: Dict | None = None) -> Dict:
        none_of(params)

        async def work(client: Client, market: Market | None) -> Order:
            order, _ = await self._known(client, id)
            return await order.cancel(deadline_s=self.timeout / 1000)
        order = await self._perhaps_at(symbol, work)
        return self._own(order, self.safe_symbol(order.market.name), "limit")

    async def cancel_all_orders(self, symbol: str | None = None,
                                params: Dict | None = None) -> list[Dict]:
        none_of(params)
        outcome = await self._perhaps_at(symbol, lambda client, market: client.cancel_all(
            market, deadline_s=self.timeout / 1000))
        self._told(outcome.sequence)
        return [self.safe_order({"info": outcome.answer})]

    async def cancel_orders(self, ids: Sequence[str], symbol: str | None = None,
                            params: Dict | None = None) -> list[Dict]:
        """All are sent, whatever becomes of the others; then the first failure is raised."""
        await self.load_markets()
        done = await asyncio.gather(*(self.cancel_order(one, symbol, params) for one in ids),
                                    return_exceptions=True)
        for error in [one for one in done if isinstance(one, BaseException)]:
            raise error
        rows = [row for row in done if not isinstance(row, BaseException)]
        return rows

    async def cancel_all_orders_after(self, timeout: int, params: Dict | None = None) -> Dict:
        """The dead-man: in so many ms all orders are canceled, unless it is set again before; 0
        clears it."""
        none_of(params)

        async def work(client: Client) -> Outcome:
            at_ns = (int(client.session.clock.now_ms()) + timeout) * 1_000_000
            return await client.schedule_cancel_all(at_ns if timeout else None,
                                                    deadline_s=self.timeout / 1000)
        return {"info": (await self._with(work)).answer}

    async def close_position(self, symbol: str, side: str | None = None,
                             params: Dict | None = None) -> Dict:
        """A market order that only reduces, of the position's size."""
        none_of(params)

        async def work(client: Client, market: Market) -> Order:
            held = await client.positions(market)
            if not held:
                raise _ccxt.InvalidOrder(f"perpd no position in {symbol}")
            return await client.place(market, "sell" if held[0]["side"] == "LONG" else "buy",
                                      held[0]["size"], reduce_only=True,
                                      deadline_s=self.timeout / 1000)
        return self._own(await self._at(symbol, work), symbol, "market")

    async def set_leverage(self, leverage: int, symbol: str, params: Dict | None = None) -> Dict:
        none_of(params)
        return {"info": await self._at(symbol, lambda client, market: client.set_leverage(
            market, leverage))}


def _again(made: tuple[object, object]) -> UUID | None:
    again = made[1] if made[0] is None else made[0]
    try:
        return None if again is None else UUID(str(again))
    except ValueError:
        raise _ccxt.BadRequest(f"perpd {again!r} is no UUID") from None


def count_of(limit: int | None, usual: int = 50) -> int:
    return min(usual if limit is None else limit, _LIMIT_MAX)
