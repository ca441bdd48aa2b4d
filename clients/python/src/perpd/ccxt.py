"""ccxt.py - a class for users of ccxt: `perpd` is a ccxt.async_support.Exchange. It needs ccxt:
`perpd[ccxt]`.
"""
from __future__ import annotations

from .ccxt_more import HAS_MORE, HAS_NOT
from .ccxt_shape import Dict
from .ccxt_watch import HAS_WATCH, Watch


class perpd(Watch):
    """Config: apiKey, privateKey (the text of a session's key file, or the Base64 of its seed),
    urls.api, options.subaccount, options.portfolio, options.allowPlain,
    options.streamOrders (signed requests go over the stream). Amounts as strings are
    exact; a float is taken by its shortest decimal, and one between two steps raises InvalidOrder
    with both neighbours."""

    def describe(self) -> Dict:
        return self.deep_extend(super().describe(), {
            "has": {**dict.fromkeys((*HAS_MORE, *HAS_WATCH), True),
                    **dict.fromkeys(HAS_NOT, False)}})
