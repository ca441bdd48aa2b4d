"""ccxt_failure.py - errors of the library as those of ccxt."""
from __future__ import annotations

import importlib
import re
from typing import Any, NoReturn

from .errors import (Lost, NotExecuted, NotOnGrid, Overrun, PerpdError, Problem, Rejected,
                     WrongExchange)
from .requests import OutcomePending

_ccxt: Any = importlib.import_module("ccxt.async_support")
_FAILURES = tuple((re.compile(words), name) for words, name in (
    ("^rate_limited|rejected_rate_limited|too_many_connections", "RateLimitExceeded"),
    ("invalid_(signature|api_key|device_key)|unauthorized|signature_type_mismatch",
     "AuthenticationError"),
    ("read_only_key|not_permitted", "PermissionDenied"),
    ("insufficient", "InsufficientFunds"),
    ("order_not_found|conditional_order_not_found", "OrderNotFound"),
    ("post_only_would_cross_book", "OrderImmediatelyFillable"),
    ("market_(halted|closed|reduce_only|post_only|cancel_only)|mark_price_zero", "MarketClosed"),
    ("invalid_market|market_not_found", "BadSymbol"),
    ("account_suspended", "AccountSuspended"),
    ("not_ready|internal_error", "ExchangeNotAvailable"),
    ("order|invalid_(price|size)|size_|trigger|slippage|self_trade", "InvalidOrder")))


def raise_failure(error: PerpdError | ValueError | TypeError) -> NoReturn:
    """As ccxt's class for it, which names the cause."""
    name = "ExchangeError"
    if isinstance(error, NotOnGrid):
        name = "InvalidOrder"
    elif isinstance(error, (Problem, Rejected)):
        code = error.code if isinstance(error, Problem) else error.status
        name = next((name for words, name in _FAILURES if words.search(code)), name)
    elif isinstance(error, OutcomePending):
        name = "RequestTimeout"
    elif isinstance(error, (Lost, Overrun)):
        name = "NetworkError"
    elif isinstance(error, (ValueError, TypeError)):
        name = "BadRequest"
    else:
        assert isinstance(error, (NotExecuted, WrongExchange, PerpdError))
    made = getattr(_ccxt, name)(f"perpd {error}")
    made.request_id = getattr(error, "request_id", None)
    raise made from error
