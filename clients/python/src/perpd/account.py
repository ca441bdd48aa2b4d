"""account.py - one's own orders, positions and cash, kept from REST and the channel `private`, and
the events of that channel, none missing and none twice (json.md J9).
"""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from .amount import Amount
from .errors import Overrun, PerpdError
from .order import OPEN, Order, is_open_state
from .session import Session
from .sinks import Consumer, Signal

_PAGE = 1000
_ENDED_KEPT = 10_000  # orders that ended: their events may come before their acknowledgement
_CASH_DECIMALS = 6
_HELD = ("id", "market", "side", "size", "average_entry_price", "net_funding")


@dataclass(frozen=True)
class PrivateEvent:
    """An event of the account: its name and members (J9), its number among those of the account,
    and the sequence of the command that caused it."""
    event: str
    data: Mapping[str, Any]
    seq: int
    engine_seq: int
    time_ns: int


class Account:
    """The account view of one portfolio. `orders`: the open ones by id, as GET /orders has them.
    `positions`: by market, with the members of GET /positions that no price moves. `cash`: the
    sum of GET /cash/history. Each is as of `engine_seq`, or later where it was read later: the
    events between are not applied again. `is_live` is False before all is read and while the
    stream is away; what is shown then is what was known last."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.is_live = False
        self.orders: dict[str, dict[str, Any]] = {}
        self.positions: dict[str, dict[str, Any]] = {}
        self.cash = Amount(0, _CASH_DECIMALS)
        self.seq, self.engine_seq = 0, 0
        self._orders_at, self._positions_at, self._cash_at = 0, 0, 0
        self._row_at: dict[str, int] = {}
        self._ended: OrderedDict[str, tuple[int, dict[str, Any]]] = OrderedDict()
        self._heard_at: dict[str, int] = {}
        self._followed: WeakValueDictionary[str, Order] = WeakValueDictionary()

    def copy(self) -> Account:
        """The view as it is now, which follows nothing."""
        view = Account(self._session)
        view.is_live, view.cash, view.seq, view.engine_seq = (self.is_live, self.cash, self.seq,
                                                              self.engine_seq)
        view.orders, view.positions = dict(self.orders), dict(self.positions)
        return view

    def follow(self, order: Order) -> None:
        """The order shows from now on what its events say, also those that have come before its
        acknowledgement."""
        key = str(order.id)
        self._followed[key] = order
        if key in self._ended:
            order.hear(self._ended[key][1], self._ended[key][0])
        elif key in self.orders:
            order.hear(self.orders[key], self._heard_at.get(key, self._row_at.get(key, 0)))

    async def read(self, least: int) -> None:
        """Takes the whole from REST, as of this sequence or later. Lost, Problem: nothing is
        changed."""
        orders, rows_at, orders_at = await self._read_orders(least)
        held, positions_at = await self._session.get_at(
            "/positions", self._session.place_parameters(), least)
        cash, cash_at = await self._session.get_at(
            "/cash/history", {**self._session.place_parameters(), "limit": 1}, least)
        self.orders, self._row_at, self._orders_at = orders, rows_at, orders_at
        self.positions = {row["market"]: {name: row[name] for name in _HELD} for row in held}
        newest = cash["history"][:1]
        self.cash = Amount.of(newest[0]["balance_after"] if newest else 0)
        self._positions_at, self._cash_at = positions_at, cash_at
        self._heard_at.clear()
        self._ended.clear()
        for key, order in list(self._followed.items()):
            if key in orders:
                order.hear(orders[key], rows_at[key])
            elif order.is_open:
                await order.refresh(least)

    async def _read_orders(self, least: int) -> tuple[dict[str, Any], dict[str, int], int]:
        """The open orders, the sequence that each row is of, and the first of these."""
        orders: dict[str, Any] = {}
        rows_at: dict[str, int] = {}
        first: int | None = None
        for status in OPEN:
            before: dict[str, Any] = {}
            while True:
                rows, at = await self._session.get_at(
                    "/orders", {**self._session.place_parameters(), "status": status,
                                "limit": _PAGE, **before}, least)
                first = at if first is None else first
                orders.update((row["id"], row) for row in rows)
                rows_at.update((row["id"], at) for row in rows)
                if len(rows) < _PAGE:
                    break
                before = {"before_sequence": rows[-1]["sequence"],
                          "before_index": rows[-1]["index"]}
        assert first is not None
        return orders, rows_at, first

    async def apply(self, frame: Mapping[str, Any]) -> None:
        """An update of the channel."""
        data, at = frame["data"], frame["engine_seq"]
        if data["event"] == "order":
            await self._order(data, at)
        elif data["event"] == "position" and self._is_here(data) and at > self._positions_at:
            if data["id"] is None:
                self.positions.pop(data["market"], None)
            else:
                self.positions[data["market"]] = {name: data[name] for name in _HELD}
        elif data["event"] == "balance" and self._is_here(data) and at > self._cash_at:
            self.cash = Amount.of(data["balance_after"])

    def _is_here(self, data: Mapping[str, Any]) -> bool:
        place = self._session.place
        return (data["subaccount_index"], data["portfolio_index"]) == (
            place.subaccount_index, place.portfolio_index)

    async def _order(self, data: Mapping[str, Any], at: int) -> None:
        key, known = data["id"], self.orders.get(data["id"])
        record = {name: value for name, value in data.items() if name not in ("event",
                                                                              "request_id")}
        if key in self._followed:
            self._followed[key].hear(record, at)
        if at <= self._row_at.get(key, self._orders_at):
            return
        is_open = is_open_state(record["order_status"])
        if "subaccount_index" not in record:  # a binary message: it has fewer members
            if known is not None or not is_open:
                record = {**(known or {}), **record}
            else:
                record, self._row_at[key] = await self._session.get_at(f"/orders/{key}", {}, at)
                is_open = is_open_state(record["order_status"])
        if known is None and "subaccount_index" in record and not self._is_here(record):
            return
        if is_open:
            self.orders[key], self._heard_at[key] = record, at
            return
        self.orders.pop(key, None)
        self._row_at.pop(key, None)
        self._heard_at.pop(key, None)
        self._ended[key] = at, record
        if len(self._ended) > _ENDED_KEPT:
            self._ended.popitem(last=False)


class Private:
    """The sink of the channel `private`: keeps an Account, and gives its events to consumers."""

    def __init__(self, account: Account) -> None:
        self.account, self.signal = account, Signal()
        self.consumers: set[Consumer] = set()
        self._is_known = False

    async def take(self, frame: dict[str, Any]) -> None:
        account, kind = self.account, frame["type"]
        if kind in ("snapshot", "gap"):
            self.lose()
            await account.read(frame["engine_seq"])
            if self._is_known and account.seq != frame["seq"]:
                self._end(Overrun(f"events {account.seq + 1} to {frame['seq']} are not kept"))
            self._is_known = True
        elif kind == "update":
            await account.apply(frame)
            for consumer in self.consumers:
                consumer.put(frame)
        account.seq, account.engine_seq = frame["seq"], frame["engine_seq"]
        if kind in ("snapshot", "gap"):
            self.caught_up()
        elif kind != "heartbeat":
            self.signal.tell()

    def caught_up(self) -> None:
        """Nothing of the time without a connection is still to come."""
        self.account.is_live = True
        self.signal.tell()

    def lose(self, is_other: bool = False) -> None:
        if is_other and self._is_known:
            self._is_known = False
            self._end(Overrun("another epoch: the events before it are of another history"))
        if self.account.is_live:
            self.account.is_live = False
            self.signal.tell()

    def fail(self, error: PerpdError) -> None:
        self.signal.tell(error)
        self._end(error)

    def _end(self, error: PerpdError) -> None:
        for consumer in self.consumers:
            consumer.end(error)
