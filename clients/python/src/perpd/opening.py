"""opening.py - an account from nothing: a master key opens it, a session key may then trade for it,
and an API key reads.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ._wire_gen import CreateAccountSecp256k1, CreateApiKey, Scope, SessionScope
from .client import session_of
from .errors import PerpdError
from .master import MasterKey
from .sign import SessionKey

_DAY_NS = 86_400_000_000_000
_WHOLE_ACCOUNT = -1
_TRIES = 2


@dataclass(frozen=True)
class Opened:
    """What was opened. The API key is a secret, which is in no repr; the exchange shows it once."""
    account_id: int
    api_key: str = field(repr=False)


async def open_account(url: str | Sequence[str], master: MasterKey, session: SessionKey, *,
                       days: int = 7, label: str = "", allow_plain: bool = False,
                       timeout_s: float = 10) -> Opened:
    """Opens an account of `master`, lets `session` trade for it for so many days, and makes an API
    key that reads and sets. Both secrets stay with the caller: who loses that of `master` loses the
    account. Rejected: the key has an account already (`creation_rejected`), or the exchange takes
    none now; OutcomePending, Problem, Lost: what became of it is not known, and a call with the
    same keys tells an account that is there by `creation_rejected`. Where
    the answer with the API key is lost another one is made, once; PerpdError: that is lost too."""
    made = session_of(url, master, None, 0, 0, allow_plain, timeout_s)
    try:
        await made.open()
        expires = made.clock.now_ms() * 1_000_000 + days * _DAY_NS
        opened = await made.sender.result(made.sender.begin(CreateAccountSecp256k1(
            session.public, expires, label, SessionScope.TRADING_ONLY)))
        account = int(opened.answer["account_id"])
        for _ in range(_TRIES):  # the answer to a repetition shows no key
            shown = await made.sender.result(made.sender.begin(CreateApiKey(
                account, _WHOLE_ACCOUNT, Scope.READ_WRITE, label)))
            api_key = shown.answer.get("api_key")
            if isinstance(api_key, str):
                return Opened(account, api_key)
        raise PerpdError(f"account {account} is open; the answers with its API keys were lost")
    finally:
        await made.close()
