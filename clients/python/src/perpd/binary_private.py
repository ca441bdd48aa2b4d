"""binary_private.py - events of the account of a binary stream by the names of json.md J9, with the
members that W9's messages have.
"""
from __future__ import annotations

import base64
from typing import Any

from .amount import Amount
from .binary import (NOWHERE, UNTIL_RESET, Balance, Data, Fill, Funding, Liquidation, Mmp,
                     OrderState, Position, Transfer)
from .binary import Session as SessionKeys
from .market import Market

SIDES = ("LONG", "SHORT")
_ORDER = ("OPEN", "FILLED", "CANCELED", "REJECTED", "UNTRIGGERED", "PARTIALLY_FILLED", "EXPIRED")
_CASH = ("trade", "fee", "funding", "transfer", "deposit", "withdrawal", "withdrawal_reverted",
         "faucet", "liquidation", "adl", "fund", "settlement")
_TRANSFER = ("transfer", "deposit", "faucet", "withdrawal", "withdrawal_settled",
             "withdrawal_reverted")
_KEY, _ACTION = ("session", "api_key", "device_key", "master_key"), ("added", "removed", "expired")
_LIQUIDITY, _STATUS = ("TAKER", "MAKER"), ("ACTIVE", "IN_LIQUIDATION")
_KEY_BYTES = {0: 32, 3: 33}
_MICRO, _BILLION = 6, 9
_AVERAGE_MORE = 8  # decimals of an average beyond those of the price (J1)


def event_of(one: Data, market: Market | None) -> dict[str, Any]:
    """The event's name and members. ValueError: it is none, or of a market that is not known."""
    if isinstance(one, (Balance, Transfer, SessionKeys)):
        return _of_the_account(one, market)
    if isinstance(one, Liquidation):
        return _liquidation(one, market)
    if market is None:
        raise ValueError(f"an event of market {one.head.market}, which is not known")
    if isinstance(one, OrderState):
        return {"event": "order", "id": str(one.order_id), "market": market.name,
                "order_status": _of(_ORDER, one.status), "side": _of(SIDES, one.side),
                "remaining_size": _size(one.remaining, market),
                "filled_size": _size(one.filled, market),
                "price": _price(one.price, market) if one.price else None}
    if isinstance(one, Fill):
        return {"event": "fill", "id": str(one.fill_id), "request_id": str(one.order_id),
                "market": market.name, "side": _of(SIDES, one.side),
                "liquidity": _of(_LIQUIDITY, one.liquidity),
                "price": _price(one.price, market),
                "quantity": _size(one.size, market), "fee": _cash(one.fee)}
    if isinstance(one, Position):
        return {"event": "position", **_place(one), "id": _id(one.id), "market": market.name,
                "side": SIDES[one.size < 0] if one.size else None,
                "size": _size(abs(one.size), market),
                "average_entry_price": _average(one, market) if one.size else None,
                "net_funding": _cash(one.net_funding)}
    if isinstance(one, Funding):
        return {"event": "funding", **_place(one), "id": str(one.id), "market": market.name,
                "payment": _cash(one.payment), "side": SIDES[one.size < 0],
                "size": _size(abs(one.size), market),
                "funding_rate": str(Amount(one.rate_ppb, _BILLION)),
                "index_price": _price(one.index_price, market), "hour_ns": one.hour_ns,
                "index": one.index}
    if isinstance(one, Mmp):
        until = None if one.frozen_until_ns in (0, UNTIL_RESET) else one.frozen_until_ns
        return {"event": "mmp", **_place(one), "market": market.name,
                "frozen": one.frozen_until_ns != 0, "frozen_until_ns": until}
    raise ValueError(f"template {one.head.template} in an update of private")


def _of_the_account(one: Balance | Transfer | SessionKeys, market: Market | None
                    ) -> dict[str, Any]:
    if isinstance(one, Balance):
        return {"event": "balance", **_place(one), "kind": _of(_CASH, one.kind),
                "amount": _cash(one.amount), "balance_after": _cash(one.balance_after),
                "index": one.index, "ref_id": _id(one.ref_id),
                **({} if market is None else {"market": market.name})}
    if isinstance(one, Transfer):
        return {"event": "transfer", "kind": _of(_TRANSFER, one.kind),
                "amount": _cash(one.amount),
                "from": _end(one.from_subaccount_index, one.from_portfolio_index),
                "to": _end(one.to_subaccount_index, one.to_portfolio_index),
                "withdrawal_id": _id(one.withdrawal_id)}
    size = _KEY_BYTES.get(one.kind, 0)
    key = {"public_key": base64.b64encode(one.public_key[:size]).decode()} if size else {}
    return {"event": "session", "kind": _of(_KEY, one.kind),
            "action": _of(_ACTION, one.action), "id": _id(one.id), **key}


def _liquidation(one: Liquidation, market: Market | None) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "event": "liquidation", **_place(one), "status": _of(_STATUS, one.status),
        "equity": _cash(one.equity), "maintenance_margin": _cash(one.maintenance_margin)}
    if market is None:
        return shown
    return {**shown, "market": market.name, "level": one.level, "price": _price(one.price, market),
            "size": str(Amount(one.size, market.size_decimals))}


def _of(names: tuple[str, ...], code: int) -> str:
    """The name of a code; of one that is newer than this library a text that says so."""
    return names[code] if code < len(names) else f"UNKNOWN_{code}"


def _place(one: Balance | Position | Funding | Mmp | Liquidation) -> dict[str, int]:
    return {"subaccount_index": one.subaccount_index, "portfolio_index": one.portfolio_index}


def _end(subaccount: int, portfolio: int) -> dict[str, int] | None:
    return None if subaccount == NOWHERE else {"subaccount_index": subaccount,
                                               "portfolio_index": portfolio}


def _id(value: object) -> str | None:
    return None if value is None else str(value)


def _price(raw: int, market: Market) -> str:
    return str(Amount(raw, market.price_decimals))


def _size(raw: int, market: Market) -> str:
    return str(Amount(raw, market.size_decimals))


def _cash(raw: int) -> str:
    return str(Amount(raw, _MICRO))


def _average(one: Position, market: Market) -> str:
    """cost / size, half to even as GET /positions rounds it."""
    decimals = market.price_decimals + _AVERAGE_MORE
    power = decimals + market.size_decimals - _MICRO
    cost, size = abs(one.cost), abs(one.size)
    scaled, unit = cost * _ten(max(power, 0)), size * _ten(max(-power, 0))
    raw, rest = divmod(scaled, unit)
    raw += 2 * rest > unit or 2 * rest == unit and raw % 2 == 1
    return str(Amount(raw, decimals))


def _ten(power: int) -> int:
    return int("1" + "0" * power)
