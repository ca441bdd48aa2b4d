"""trading.py - the signed requests of a session: orders, cancels, batches, the dead-man, cash."""
from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from ._types_gen import Order as OrderRecord
from ._wire_gen import (BatchItem, CancelAllOrders, ConditionalOrderCancel, LiveTif, Op,
                        OrderBatch, OrderCancel, OrderReduction, OrderReplacement, OrderType,
                        PlaceConditionalOrder, PlaceLimitOrder, PlaceMarketOrder,
                        ScheduleCancelAll, Side, Stp, Transfer, TriggerSource, Withdraw)
from .account import Account
from .address import AddressLike, address_of
from .amount import Amount, AmountLike
from .body import Body, PortfolioId
from .errors import PerpdError, Rejected
from .ids import following_id
from .market import Market
from .order import Direction, Order
from .requests import Outcome
from .session import Session

IOC, FOK, GTC = 0, 1, 2**64 - 1
ALL_ASSETS, ALL_PORTFOLIOS = 0xFFFF, 0xFFFFFFFF
USDC_DECIMALS = 6
TimeInForce = Literal["GTC", "IOC", "FOK"]
Trigger = Literal["STOP_LIMIT", "STOP_MARKET", "TAKE_PROFIT", "TAKE_PROFIT_MARKET"]
_EXPIRY = {"GTC": GTC, "IOC": IOC, "FOK": FOK}


@dataclass(frozen=True)
class Placement:
    """A limit order of a batch. `expires_at_ns` instead of `tif`: good till that time."""
    market: Market
    side: Direction
    size: AmountLike
    price: AmountLike
    post_only: bool = False
    reduce_only: bool = False
    tif: TimeInForce = "GTC"
    expires_at_ns: int | None = None
    stp: Stp = field(default=Stp.EXPIRE_TAKER)

    @property
    def expiry(self) -> int:
        return _EXPIRY[self.tif] if self.expires_at_ns is None else self.expires_at_ns

    @property
    def quantity(self) -> int:
        return signed(self.side, self.market.raw_size(self.size))

    @property
    def raw_price(self) -> int:
        return self.market.raw_price(self.price)


def signed(side: Direction, raw_size: int) -> int:
    """W3: positive buys, negative sells."""
    if side not in ("buy", "sell"):
        raise ValueError(f"the side is 'buy' or 'sell', not {side!r}")
    return raw_size if side == "buy" else -raw_size


class Trading:
    """Each method waits for the definite outcome, or raises OutcomePending after `deadline_s`. A
    refusal is Rejected. `request_id` repeats an intent that may have been sent before; with
    `is_new` it is that of a new one, and stays it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def _send(self, body: Body, deadline_s: float | None, urgent: bool = False,
                    request_id: UUID | None = None, is_new: bool = False) -> Outcome:
        sender = self._session.sender
        return await sender.result(sender.begin(body, urgent, request_id, is_new, is_new),
                                   deadline_s)

    async def order_record(self, order_id: UUID, least: int | None = None) -> OrderRecord:
        record: OrderRecord = await self._session.get(f"/orders/{order_id}", private=True,
                                                      least=least)
        return record

    async def order_at(self, order_id: UUID, least: int | None = None) -> tuple[OrderRecord, int]:
        """The order's record, and the sequence that it is of."""
        return await self._session.get_at(f"/orders/{order_id}", {}, least)

    async def follow_account(self) -> Account:
        """The account view, once it is live, kept until the client is closed; the orders of this
        client follow their events from then on."""
        raise PerpdError("only a Client has a stream")

    async def account_changed(self) -> None:
        """Waits for the next change of the account that is followed."""
        raise PerpdError("only a Client has a stream")

    async def place(self, market: Market, side: Direction, size: AmountLike,
                    price: AmountLike | None = None, *, post_only: bool = False,
                    reduce_only: bool = False, tif: TimeInForce = "GTC",
                    expires_at_ns: int | None = None, stp: Stp = Stp.EXPIRE_TAKER,
                    max_slippage_ppm: int = 0, request_id: UUID | None = None,
                    deadline_s: float | None = None) -> Order:
        """A limit order, or without `price` a market order (max_slippage_ppm 0: the market's
        own). `tif` or `expires_at_ns`, for limit orders alone."""
        if price is None:
            if post_only or expires_at_ns is not None or tif != "GTC":
                raise ValueError("a market order takes neither post_only, tif nor expires_at_ns")
            body: Body = PlaceMarketOrder(
                self._session.place, signed(side, market.raw_size(size)), max_slippage_ppm,
                market.asset_id, reduce_only, stp)
        else:
            if max_slippage_ppm:
                raise ValueError("a limit order has no slippage")
            one = Placement(market, side, size, price, post_only, reduce_only, tif, expires_at_ns,
                            stp)
            body = PlaceLimitOrder(self._session.place, one.raw_price, one.quantity,
                                        one.expiry, post_only, reduce_only, stp, market.asset_id)
        order = Order(self, UUID(int=0), market, side, _optional(price), Amount.of(size),
                      post_only=post_only, reduce_only=reduce_only)
        return await self._placed(body, order, request_id, deadline_s)

    async def place_trigger(self, market: Market, side: Direction, size: AmountLike,
                            trigger_price: AmountLike, kind: Trigger, *,
                            price: AmountLike | None = None,
                            source: TriggerSource = TriggerSource.MARK,
                            post_only: bool = False, reduce_only: bool = False,
                            live_tif: LiveTif | None = None,
                            expires_at_ns: int | None = None,
                            stp: Stp = Stp.EXPIRE_TAKER, max_slippage_ppm: int = 0,
                            oco_group: UUID | None = None, request_id: UUID | None = None,
                            is_new: bool = False, deadline_s: float | None = None) -> Order:
        """A conditional order. `price` for STOP_LIMIT and TAKE_PROFIT, which then wait as GTC
        unless `live_tif` says otherwise; the market kinds are IOC."""
        tif = live_tif if live_tif is not None else (
            LiveTif.IOC if price is None else LiveTif.GTC)
        body = PlaceConditionalOrder(
            self._session.place, market.raw_price(trigger_price),
            0 if price is None else market.raw_price(price), signed(side, market.raw_size(size)),
            GTC if expires_at_ns is None else expires_at_ns, post_only, reduce_only, stp,
            OrderType[kind], market.asset_id, max_slippage_ppm, source, tif,
            oco_group or UUID(int=0))
        order = Order(self, UUID(int=0), market, side, _optional(price), Amount.of(size),
                      is_conditional=True, post_only=post_only, reduce_only=reduce_only)
        return await self._placed(body, order, request_id, deadline_s, is_new)

    async def _placed(self, body: Body, order: Order, request_id: UUID | None,
                      deadline_s: float | None, is_new: bool = False) -> Order:
        outcome = await self._send(body, deadline_s, False, request_id, is_new)
        order.id = outcome.request_id
        return await self._seen(order, outcome)

    async def _seen(self, order: Order, outcome: Outcome) -> Order:
        """The order with what the outcome shows of it, or else with what a read shows."""
        if not order.acknowledge(outcome):
            await order.refresh(outcome.sequence)
        return order

    async def replace(self, order: Order, price: AmountLike, size: AmountLike, *,
                      post_only: bool | None = None,
                      expected_remaining: AmountLike | None = None,
                      deadline_s: float | None = None) -> Order:
        """`size` is the new remaining size; post_only None: as it is. It is good till canceled
        then."""
        market = order.market
        body = OrderReplacement(
            self._session.place, order.id, market.raw_price(price),
            signed(order.side, market.raw_size(size)), GTC,
            order.post_only if post_only is None else post_only, order.reduce_only,
            Stp.EXPIRE_TAKER, market.asset_id, _expected(market, expected_remaining))
        outcome = await self._send(body, deadline_s)
        order.price = Amount.of(price)
        return await self._seen(order, outcome)

    async def reduce(self, order: Order, by: AmountLike, *,
                     expected_remaining: AmountLike | None = None,
                     deadline_s: float | None = None) -> Order:
        body = OrderReduction(self._session.place, order.id, order.market.raw_size(by),
                                   _expected(order.market, expected_remaining),
                                   order.market.asset_id)
        return await self._seen(order, await self._send(body, deadline_s))

    async def cancel(self, order: Order, *, deadline_s: float | None = None) -> Order:
        kind = ConditionalOrderCancel if order.is_conditional else OrderCancel
        body = kind(self._session.place, order.id, order.market.asset_id)
        return await self._seen(order, await self._send(body, deadline_s, urgent=True))

    async def cancel_all(self, market: Market | None = None, *, side: Side = Side.BOTH,
                         include_conditional: bool = True,
                         deadline_s: float | None = None) -> Outcome:
        """Every order of the portfolio, in one market or in all."""
        return await self._send(CancelAllOrders(
            self._session.place, ALL_ASSETS if market is None else market.asset_id, side,
            include_conditional), deadline_s, urgent=True)

    async def batch(self, items: Sequence[Placement | Order], *, atomic: bool = False,
                    request_id: UUID | None = None,
                    deadline_s: float | None = None) -> list[Order | Rejected]:
        """Places the Placements and cancels the Orders, in one request and in this order: of each
        the order, or why it was refused. The ids of the orders follow from that of the request. An
        order that could not be read afterwards is shown as it was placed or canceled."""
        session, sender = self._session, self._session.sender
        batch_id = request_id or sender.new_id()
        ids = [item.id if isinstance(item, Order) else following_id(batch_id, number)
               for number, item in enumerate(items, 1)]
        body = OrderBatch(session.place, atomic, tuple(
            _item(item, order_id) for item, order_id in zip(items, ids)))
        request = sender.begin(body, False, batch_id, own_ids=True, is_new=request_id is None)
        outcome = await sender.result(request, deadline_s)
        results = outcome.answer.get("results")
        if results is None:  # of a duplicate: its record has them
            outcome = await sender.settled(request.id)
            results = outcome.answer["results"]
        done: list[Order | Rejected] = []
        for item, order_id, status in zip(items, ids, results, strict=True):
            if status != "request_completed":
                done.append(Rejected(status, None, order_id))
                continue
            order = item if isinstance(item, Order) else Order(
                self, order_id, item.market, item.side, Amount.of(item.price),
                Amount.of(item.size), post_only=item.post_only, reduce_only=item.reduce_only)
            order.executed(outcome, is_cancel=isinstance(item, Order))
            with suppress(PerpdError):  # it is known what was done: to fail would have it repeated
                await order.refresh(outcome.sequence)
            done.append(order)
        return done

    async def schedule_cancel_all(self, deadline_ns: int | None, *,
                                  deadline_s: float | None = None) -> Outcome:
        """The dead-man: at this time of the exchange's clock every order is canceled, unless it is
        set again before; None clears it."""
        return await self._send(ScheduleCancelAll(self._session.place, deadline_ns or 0),
                                deadline_s, urgent=True)

    async def transfer(self, to: PortfolioId, amount: AmountLike, *,
                       request_id: UUID | None = None,
                       deadline_s: float | None = None) -> Outcome:
        """USDC to another portfolio; needs a session of scope FULL_ACCESS."""
        return await self._send(Transfer(self._session.place, to,
                                              Amount.of(amount).at(USDC_DECIMALS)),
                                deadline_s, False, request_id)

    async def withdraw(self, amount: AmountLike, destination: AddressLike, *,
                       request_id: UUID | None = None,
                       deadline_s: float | None = None) -> Outcome:
        """USDC to an address, whose checksum (EIP-55) is judged where its text has one; needs a
        session of scope FULL_ACCESS."""
        return await self._send(Withdraw(self._session.place,
                                              Amount.of(amount).at(USDC_DECIMALS),
                                              address_of(destination)),
                                deadline_s, False, request_id)


def _optional(price: AmountLike | None) -> Amount | None:
    return None if price is None else Amount.of(price)


def _expected(market: Market, size: AmountLike | None) -> int:
    return 0 if size is None else Amount.of(size).at(market.size_decimals)


def _item(item: Placement | Order, order_id: UUID) -> BatchItem:
    if isinstance(item, Order):
        return BatchItem(Op.CANCEL, False, False, Stp.EXPIRE_TAKER,
                              item.market.asset_id, 0, 0, 0, order_id, 0)
    return BatchItem(Op.PLACE_LIMIT, item.post_only, item.reduce_only, item.stp,
                          item.market.asset_id, item.raw_price, item.quantity, item.expiry,
                          order_id, 0)
