"""session.py - a connection to one exchange: HTTP, its clock, its markets, and whom it is for."""
from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

from ._types_gen import Exchange
from ._wire_gen import REQUESTS
from .body import PortfolioId
from .buckets import Buckets
from .clock import Clock
from .errors import Lost, PerpdError, Problem, WrongExchange
from .http import Answer, Http
from .market import Market
from .nodes import Nodes, is_for_another
from .requests import Sender
from .sign import Signer

API = "/api/v1"
_TIME_SAMPLES, _DRIFT_S = 5, 30.0
_TRIES, _WAIT_S = 6, 0.05


class Session:
    """What reads, trading and streams share. `open` asks the exchange who it is."""

    def __init__(self, urls: Sequence[str], signer: Signer | None, api_key: str | None,
                 subaccount: int, portfolio: int, allow_plain: bool, timeout_s: float,
                 on_intent: Callable[[UUID, bytes], None]) -> None:
        self.clock = Clock()
        self.nodes = Nodes(urls, allow_plain, timeout_s, self._heard, self.clock.forget)
        self._signer, self._api_key, self._on_intent = signer, api_key, on_intent
        self.place = PortfolioId(0, subaccount, portfolio)
        self.markets: dict[str, Market] = {}
        self.exchange: Exchange | None = None
        self._sender: Sender | None = None
        self._drift: asyncio.Task[None] | None = None
        self.over_stream: Callable[[bytes, float], Awaitable[Answer | None]] | None = None

    @property
    def api_key(self) -> str | None:
        return self._api_key

    @property
    def http(self) -> Http:
        """To the node that is asked now."""
        return self.nodes.current

    def __repr__(self) -> str:
        return f"<perpd at {self.http.origin.authority}>"

    def _heard(self, answer: Answer) -> None:
        text = answer.headers.get("x-server-time-ns", "")
        if text.isascii() and text.isdigit():
            self.clock.add(int(text), answer.sent_ns, answer.got_ns)

    async def open(self) -> None:
        """WrongExchange: another than the key is bound to, or another version of the wire."""
        await self.resync()
        exchange: Exchange = await self.get("/exchange")
        for row in exchange["request_types"]:
            known = REQUESTS.get(row["code"])
            if known is not None and known.NAME != row["name"]:
                raise WrongExchange(f"request {row['code']} is {row['name']} there, and "
                                    f"{known.NAME} here: another version")
        self.exchange = exchange
        await self.load_markets()
        if self._api_key is not None:
            account = await self.get("/account", private=True)
            self.place = self.place._replace(account_id=account["account_id"])
            # The key sees the requests of this subaccount: else a 404 would prove nothing.
            await self.get("/portfolio/balance", self.place_parameters(), private=True)
        if self._signer is not None:
            buckets = Buckets(lambda: self.get("/limits", private=self._api_key is not None))
            if self._api_key is not None:
                await buckets.refresh()
            self._bind(exchange, buckets)
        self._drift = asyncio.ensure_future(self._keep_time())

    def _bind(self, exchange: Exchange, buckets: Buckets) -> None:
        assert self._signer is not None
        bound = self._signer.exchange_id
        if bound is not None and bound != exchange["exchange_id"]:
            raise WrongExchange(f"the key signs for the exchange {bound} alone, and this is "
                                f"{exchange['exchange_id']}")
        self._sender = Sender(self._post, self.http.timeout_s, self.clock, self._signer,
                              exchange["request_id_window_ms"]["past"], self._look, self._applied,
                              self.resync, self._on_intent, buckets)

    async def _post(self, path: str, envelope: bytes, urgent: bool, timeout_s: float) -> Answer:
        """The answer to a signed request, over the stream while there is one for it. What the node
        of the stream does not do goes on over HTTP, the same bytes; cancels always go so: there
        they wait for no placement."""
        told = None
        if self.over_stream is not None and not urgent:
            told = await self.over_stream(envelope, timeout_s)
            if told is not None and not is_for_another(told):
                return told
        is_doubtful = told is not None and told.status == 503
        try:
            answer = await self.nodes.post(path, envelope, urgent, timeout_s)
        except Lost as lost:
            raise Lost(str(lost), lost.arrived or is_doubtful) from lost
        return replace(answer, is_after_doubt=is_doubtful)

    @property
    def sender(self) -> Sender:
        if self._sender is None:
            raise PerpdError("connect(key=..., api_key=...) is needed to sign requests")
        return self._sender

    async def close(self) -> None:
        if self._drift is not None:
            self._drift.cancel()
            await asyncio.gather(self._drift, return_exceptions=True)
        if self._sender is not None:
            await self._sender.close()
        self.nodes.close()

    async def resync(self) -> None:
        """Measures the exchange's clock again. Lost or Problem when it does not answer."""
        self.clock.forget()
        for _ in range(_TIME_SAMPLES):
            await self.get("/time")
        if not self.clock.is_set:
            raise WrongExchange("the answers tell no X-Server-Time-Ns")

    async def _keep_time(self) -> None:
        while True:
            await asyncio.sleep(_DRIFT_S)
            if self.clock.monotonic_ns() - self.clock.newest_ns > _DRIFT_S * 1e9:
                try:
                    await self.get("/time")
                except PerpdError:
                    pass  # the next requests say so

    async def load_markets(self) -> None:
        shown = await self.get("/markets")
        self.markets = {record["market"]: Market.of(record) for record in shown["markets"]}

    def place_parameters(self) -> dict[str, Any]:
        return {"subaccount_index": self.place.subaccount_index,
                "portfolio_index": self.place.portfolio_index}

    def headers(self, private: bool) -> dict[str, str]:
        if not private:
            return {}
        if self._api_key is None:
            raise PerpdError("connect(api_key=...) is needed to read an account")
        return {"X-API-KEY": self._api_key}

    async def get_answer(self, path: str, parameters: Mapping[str, Any] | None = None,
                         private: bool = False, least: int | None = None) -> Answer:
        """One answer to a GET below /api/v1. `least`: the sequence it must show (503 if it cannot
        within a second)."""
        headers = self.headers(private)
        least = self.nodes.least(least)
        if least is not None:
            headers["X-Min-Sequence"] = str(least)
        known = {name: value for name, value in (parameters or {}).items() if value is not None}
        target = API + quote(path) + ("?" + urlencode(known) if known else "")
        return await self.nodes.read("GET", target, headers)

    async def get(self, path: str, parameters: Mapping[str, Any] | None = None,
                  private: bool = False, least: int | None = None) -> Any:
        """The JSON of a read; Problem, Lost."""
        shown, _ = await _repeated(lambda: self.get_answer(path, parameters, private, least))
        return shown

    async def get_at(self, path: str, parameters: Mapping[str, Any], least: int | None = None
                     ) -> tuple[Any, int]:
        """The JSON of a private read, and the sequence that it is of; Problem, Lost."""
        shown, answer = await _repeated(lambda: self.get_answer(path, parameters, True, least))
        return shown, int(answer.headers["x-sequence"])

    async def write(self, method: str, path: str, members: Mapping[str, Any],
                    again: bool = True) -> Any:
        """The JSON of a plain write. One that says what shall be may be repeated, and is; `again`
        False: it is sent once."""
        headers = {**self.headers(True), "Content-Type": "application/json"}
        body = json.dumps(members).encode()
        shown, _ = await _repeated(
            lambda: self.nodes.read(method, API + path, headers, body), _TRIES if again else 1)
        return shown

    async def _look(self, request_id: UUID) -> Answer:
        return await self.get_answer(f"/requests/{request_id}", private=True)

    async def _applied(self) -> tuple[int, int]:
        market = next(iter(self.markets))
        shown = await self.get(f"/markets/{market}/mark")
        return shown["time_ns"], shown["engine_seq"]


async def _repeated(ask: Callable[[], Awaitable[Answer]], tries: int = _TRIES
                    ) -> tuple[Any, Answer]:
    """A good answer and its JSON; asks again where the connection is lost, and on 408, 429, 5xx."""
    for attempt in range(tries):
        try:
            answer = await ask()
            return answer.good(), answer
        except (Lost, Problem) as error:
            is_final = isinstance(error, Problem) and error.http < 500 and \
                error.http not in (408, 429) and error.code != "not_leader"
            if is_final or attempt == tries - 1:
                raise
        await asyncio.sleep(_WAIT_S * 2 ** attempt)
    raise AssertionError("no try is left")
