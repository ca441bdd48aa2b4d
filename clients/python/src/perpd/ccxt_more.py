"""ccxt_more.py - what the class of ccxt has beside the usual reads and orders: currencies, tiers,
deposits, transfers, withdrawals, batches, orders with exits; what the exchange has not is refused.
"""
from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Any, NoReturn
from uuid import UUID

from . import _types_gen as records
from .body import PortfolioId
from .ccxt_rest import QUOTE, TIF, Rest, count_of, flag_of, none_of, repeated_of
from .ccxt_shape import Dict, Number
from .client import Client
from .errors import Rejected
from .ids import following_id
from .market import Market
from .order import Direction, Order
from .requests import Outcome
from .trading import Placement, Trigger

_ccxt: Any = importlib.import_module("ccxt.async_support")
HAS_MORE = ("createOrderWithTakeProfitAndStopLoss", "createOrders", "fetchADLRank",
            "fetchCurrencies", "fetchDeposits", "fetchLeverage", "fetchLeverageTiers",
            "fetchPosition", "fetchTransfers", "fetchWithdrawals", "transfer", "withdraw")
HAS_NOT = ("borrowCrossMargin", "borrowIsolatedMargin", "createDepositAddress",
           "fetchDepositAddress", "setMarginMode", "setPositionMode")
_DEPOSITS, _WITHDRAWALS = ("deposit", "faucet"), ("withdrawal", "withdrawal_reverted")


class More(Rest):
    """Reads, batches and money beside those of Rest."""

    async def fetch_currencies(self, params: Dict | None = None) -> Dict:
        none_of(params)
        return {QUOTE: {"id": QUOTE, "code": QUOTE, "name": "USD Coin", "type": "crypto",
                        "active": True, "deposit": False, "withdraw": True, "fee": None,
                        "precision": 1e-6, "networks": {}, "info": {},
                        "limits": {"amount": {"min": 1e-6, "max": None},
                                   "withdraw": {"min": 1, "max": None}}}}

    async def fetch_leverage_tiers(self, symbols: Sequence[str] | None = None,
                                   params: Dict | None = None) -> Dict:
        none_of(params)
        await self.load_markets()
        markets = await self._with(lambda client: client.markets())
        tiers = {self.safe_symbol(market.name): self._tiers(market.record) for market in markets}
        return {symbol: rows for symbol, rows in tiers.items()
                if symbols is None or symbol in symbols}

    def _tiers(self, market: records.Market) -> list[Dict]:
        rows: list[Dict] = []
        for tier in market["tiers"]:
            upper = tier["upper_notional"]
            rows.append({
                "tier": len(rows) + 1, "symbol": self.safe_symbol(market["market"]),
                "currency": QUOTE, "minNotional": rows[-1]["maxNotional"] if rows else 0.0,
                "maxNotional": None if upper is None else self.parse_number(upper),
                "maintenanceMarginRate": tier["mmr_ppm"] / 1e6,
                "maxLeverage": tier["max_leverage"], "info": tier})
        return rows

    async def fetch_leverage(self, symbol: str, params: Dict | None = None) -> Dict:
        """Of the position: the exchange shows none of a market without one (ExchangeError)."""
        held = await self.fetch_position(symbol, params)
        if held is None:
            raise _ccxt.ExchangeError(f"perpd no position in {symbol}, which would show it")
        leverage = held["info"]["leverage"]
        return {"info": held["info"], "symbol": symbol, "marginMode": "cross",
                "longLeverage": leverage, "shortLeverage": leverage}

    async def fetch_position(self, symbol: str, params: Dict | None = None) -> Dict | None:
        """None without a position."""
        none_of(params)
        found = await self._at(symbol, lambda client, market: client.positions(market))
        return self._position(found[0]) if found else None

    async def fetch_adl_rank(self, symbol: str, params: Dict | None = None) -> Dict:
        """`rank` 0 to 4: 4 is deleveraged first. None without a position."""
        none_of(params)
        found = await self._at(symbol, lambda client, market: client.positions(market))
        rank = found[0]["adl_quantile"] if found else None
        return {"info": found[0] if found else None, "symbol": symbol, "rank": rank, "rating": None,
                "percentage": None, "timestamp": None, "datetime": None}

    async def _of_kinds(self, kinds: Sequence[str], code: str | None, since: int | None,
                        limit: int | None, params: Dict | None) -> list[Dict]:
        """The newest rows of the cash history of these kinds, oldest first."""
        none_of(params)
        if code not in (None, QUOTE):
            return []

        async def work(client: Client) -> list[records.CashRow]:
            rows: list[records.CashRow] = []
            before: tuple[int | None, int | None] = None, None
            while len(rows) < count_of(limit):
                page = await client.cash_history(1000, *before)
                rows += [row for row in page["history"] if row["kind"] in kinds]
                before = page["next_before_sequence"], page["next_before_index"]
                if before[0] is None or (page["history"] and
                                         page["history"][-1]["time"] < (since or 0)):
                    break
            return rows[:count_of(limit)]
        return [{**self._cash(row), "txid": None, "address": None, "tag": None, "fee": None,
                 "network": None, "updated": None, "internal": False}
                for row in reversed(await self._with(work))
                if since is None or row["time"] >= since]

    async def fetch_deposits(self, code: str | None = None, since: int | None = None,
                             limit: int | None = None, params: Dict | None = None) -> list[Dict]:
        return [{**row, "type": "deposit"}
                for row in await self._of_kinds(_DEPOSITS, code, since, limit, params)]

    async def fetch_withdrawals(self, code: str | None = None, since: int | None = None,
                                limit: int | None = None,
                                params: Dict | None = None) -> list[Dict]:
        """What left, and what came back of it: `status` is "failed" then, and the id that of the
        withdrawal in the answer to the request. Else it is None: the exchange shows an account
        what it reverted, and not what it has settled."""
        return [{**row, "type": "withdrawal", "id": row["referenceId"],
                 "status": "failed" if row["direction"] == "in" else None}
                for row in await self._of_kinds(_WITHDRAWALS, code, since, limit, params)]

    async def fetch_transfers(self, code: str | None = None, since: int | None = None,
                              limit: int | None = None, params: Dict | None = None) -> list[Dict]:
        return [{**row, "fromAccount": row["account"] if row["direction"] == "out" else None,
                 "toAccount": row["account"] if row["direction"] == "in" else None}
                for row in await self._of_kinds(("transfer",), code, since, limit, params)]

    async def transfer(self, code: str, amount: Number, from_account: str, to_account: str,
                       params: Dict | None = None) -> Dict:
        """Between subaccounts, by the ids of fetch_accounts; `from_account` is that of
        options.subaccount. It needs a session of scope FULL_ACCESS. `params`: requestId repeats it,
        as in create_order."""
        request_id = repeated_of(params)
        _is_usdc(code)

        async def work(client: Client) -> Outcome:
            place = client.session.place
            if from_account not in (None, str(place.subaccount_index)):
                raise ValueError(f"this one is of subaccount {place.subaccount_index}")
            if re.fullmatch("[0-9]+", str(to_account)) is None:
                raise ValueError(f"{to_account!r} is no id of an account")
            target = PortfolioId(place.account_id, int(to_account), 0)
            return await client.transfer(target, self._text(amount), request_id=request_id,
                                         deadline_s=self.timeout / 1000)
        done = await self._with(work)
        return {**self._moved(done, code, amount), "status": "ok", "fromAccount": from_account,
                "toAccount": to_account}

    async def withdraw(self, code: str, amount: Number, address: str, tag: str | None = None,
                       params: Dict | None = None) -> Dict:
        """It needs a session of scope FULL_ACCESS. Its id is that of the request; `params`:
        requestId repeats it, as in create_order. It is pending until the operator settles it."""
        request_id = repeated_of(params)
        _is_usdc(code)
        if tag is not None:
            raise _ccxt.BadRequest("perpd an address has no tag")
        done = await self._with(lambda client: client.withdraw(
            self._text(amount), address, request_id=request_id, deadline_s=self.timeout / 1000))
        return {**self._moved(done, code, amount), "status": "pending", "address": address,
                "type": "withdrawal"}

    def _moved(self, done: Outcome, code: str, amount: Number) -> Dict:
        self._told(done.sequence)
        return {"id": str(done.request_id), "currency": code, "timestamp": None, "datetime": None,
                "amount": self.parse_number(self._text(amount)), "info": done.answer}

    async def create_orders(self, orders: Sequence[Dict], params: Dict | None = None) -> list[Dict]:
        """Limit orders in one request, of which each is done or refused; a refused one is a row
        with status "rejected". `params`: requestId repeats the whole, as in create_order."""
        request_id = repeated_of(params)
        await self.load_markets()

        async def work(client: Client) -> list[Order | Rejected]:
            items: list[Placement | Order] = []
            for one in orders:
                more = dict(one.get("params") or {})
                tif, post_only = more.pop("timeInForce", None), flag_of(more, "postOnly")
                reduce_only = flag_of(more, "reduceOnly")
                none_of(more)
                if one["type"] != "limit" or one.get("price") is None or tif not in TIF:
                    raise ValueError("a batch has limit orders, GTC, IOC, FOK or PO")
                market = await client.market(str(self.market(one["symbol"])["id"]))
                items.append(Placement(
                    market, one["side"], self._text(one["amount"]), self._text(one["price"]),
                    post_only or tif == "PO", reduce_only, TIF[tif]))
            return await client.batch(items, request_id=request_id,
                                      deadline_s=self.timeout / 1000)
        rows: list[Dict] = []
        for one, done in zip(orders, await self._with(work), strict=True):
            if isinstance(done, Order):
                rows.append(self._own(done, one["symbol"], "limit"))
            else:
                rows.append(self.safe_order({
                    "id": str(done.request_id), "symbol": one["symbol"], "type": "limit",
                    "side": one["side"], "status": "rejected", "info": {"status": done.status}}))
        return rows

    async def create_order_with_take_profit_and_stop_loss(
            self, symbol: str, type: str, side: Direction, amount: Number,
            price: Number | None = None, takeProfit: Number | None = None,
            stopLoss: Number | None = None, params: Dict | None = None) -> Dict:
        """The order, and two that close at the market when the mark is there, of which one ends the
        other. They wait from the beginning and only reduce. InvalidOrder with `order` when that was
        placed and an exit failed: `request_id` is the order's, and the same call with it as
        `requestId` places what is missing, nothing twice."""
        if takeProfit is None or stopLoss is None:
            raise _ccxt.BadRequest("perpd it takes takeProfit and stopLoss")
        given = params or {}
        is_new = given.get("requestId") is None and given.get("clientOrderId") is None
        other: Direction = "sell" if side == "buy" else "buy"
        exits: tuple[tuple[Number, Trigger], ...] = ((stopLoss, "STOP_MARKET"),
                                                     (takeProfit, "TAKE_PROFIT_MARKET"))

        async def judge(_: Client, market: Market) -> None:
            market.raw_size(self._text(amount))
            for trigger, _kind in exits:
                if market.raw_price(self._text(trigger)) <= 0:
                    raise ValueError("the price of an exit is above 0")

        async def work(client: Client, market: Market) -> None:
            for number, (trigger, kind) in enumerate(exits, 1):
                await client.place_trigger(
                    market, other, self._text(amount), self._text(trigger), kind,
                    reduce_only=True, oco_group=following_id(UUID(made["id"]), 3),
                    request_id=following_id(UUID(made["id"]), number), is_new=is_new,
                    deadline_s=self.timeout / 1000)
        await self._at(symbol, judge)
        made = await self.create_order(symbol, type, side, amount, price, params)
        try:
            await self._at(symbol, work)
        except Exception as error:
            failed = _ccxt.InvalidOrder(
                f"perpd order {made['id']} is placed; of its exits: "
                f"{error.__class__.__name__} {error}")
            failed.order, failed.request_id = made, UUID(made["id"])
            raise failed from error
        return made

    async def set_margin_mode(self, margin_mode: str, symbol: str | None = None,
                              params: Dict | None = None) -> NoReturn:
        raise _ccxt.NotSupported("perpd setMarginMode(): every position is of cross margin")

    async def set_position_mode(self, hedged: bool, symbol: str | None = None,
                                params: Dict | None = None) -> NoReturn:
        raise _ccxt.NotSupported("perpd setPositionMode(): a market has one position, long or "
                                 "short")

    async def fetch_deposit_address(self, code: str, params: Dict | None = None) -> NoReturn:
        raise _ccxt.NotSupported("perpd fetchDepositAddress(): what is deposited is credited by "
                                 "the operator, no address belongs to an account")


def _is_usdc(code: str) -> None:
    if code != QUOTE:
        raise _ccxt.BadRequest(f"perpd {code}: only {QUOTE} is held")
