"""nodes.py - the nodes of one exchange: which one is asked next, and who leads (replication.md)."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .errors import Lost, PerpdError
from .http import Answer, Http, Origin, problem_of


def is_for_another(answer: Answer) -> bool:
    """Whether a signed request with this answer is to be sent again, to another node."""
    return answer.status in (421, 503) or b'"request_dropped"' in answer.body or \
        b'"retry_required"' in answer.body


class Nodes:
    """One address or several. Reads go to the node that answered last; what is signed goes to the
    leader that a node has told, or there too. `on_move` is told of each change of the node."""

    def __init__(self, urls: Sequence[str], allow_plain: bool, timeout_s: float,
                 on_answer: Callable[[Answer], None], on_move: Callable[[], None]) -> None:
        if not urls:
            raise ValueError("no address")
        self._allow_plain, self._timeout_s = allow_plain, timeout_s
        self._on_answer, self._on_move = on_answer, on_move
        self.origins = [Origin(url, allow_plain) for url in urls]
        self._https = [self._http(origin) for origin in self.origins]
        self._at = 0
        self._leader: Http | None = None
        self.newest = 0  # the highest sequence that an answer has shown

    def _http(self, origin: Origin) -> Http:
        return Http(origin, timeout_s=self._timeout_s, on_answer=self._heard)

    def _heard(self, answer: Answer) -> None:
        shown = answer.headers.get("x-sequence", "")
        if shown.isascii() and shown.isdigit():
            self.newest = max(self.newest, int(shown))
        self._on_answer(answer)

    @property
    def current(self) -> Http:
        return self._https[self._at]

    def least(self, least: int | None) -> int | None:
        """What a read must show: of several nodes none goes back behind another's answer."""
        if len(self._https) == 1 or not self.newest:
            return least
        return max(self.newest, least or 0)

    def forget(self) -> None:
        """Sequences begin again: another epoch has begun."""
        self.newest = 0

    def move(self) -> None:
        """The next node is asked from now on."""
        if len(self._https) > 1:
            self._at = (self._at + 1) % len(self._https)
            self._on_move()

    async def read(self, method: str, target: str, headers: Mapping[str, str],
                   body: bytes | None = None) -> Answer:
        """One answer; a node that gives none, or that is not ready, is not asked next."""
        try:
            answer = await self.current.request(method, target, headers, body)
        except Lost:
            self.move()
            raise
        if answer.status == 503:
            self.move()
        elif answer.status == 421:
            self._follow(answer)
        return answer

    async def post(self, path: str, envelope: bytes, urgent: bool, timeout_s: float) -> Answer:
        """One answer to a signed request. One without an answer, or with 421, 503, request_dropped
        or retry_required, is to be sent again: it goes to the leader told then, else to the next
        node."""
        asked = self._leader or self.current
        try:
            answer = await asked.request("POST", path, {"Content-Type": "application/json",
                                                        "X-Ack": "full"},
                                         envelope, urgent, timeout_s)
        except Lost:
            self._pass_over(asked)
            raise
        if answer.status == 421:
            self._forget(asked)
            self._follow(answer)
        elif is_for_another(answer):
            self._pass_over(asked)
        return answer

    def _forget(self, asked: Http) -> None:
        if asked is self._leader:
            self._leader = None
            asked.close()

    def _pass_over(self, asked: Http) -> None:
        self._forget(asked)
        if asked is self.current:
            self.move()

    def _follow(self, answer: Answer) -> None:
        """Who leads, by this answer of a node that does not. Where that is none of the addresses,
        only what is signed goes there: no API key."""
        told = problem_of(answer).members.get("leader")
        if not isinstance(told, str):
            self.move()
            return
        for at, http in enumerate(self._https):
            if http.origin.authority == told:
                if at != self._at:
                    self._at = at
                    self._on_move()
                return
        if self._leader is not None and self._leader.origin.authority == told:
            return
        scheme = "https" if self.current.origin.is_tls else "http"
        try:
            self._leader = self._http(Origin(f"{scheme}://{told}", self._allow_plain))
        except (PerpdError, ValueError):
            self.move()

    def close(self) -> None:
        for http in self._https:
            http.close()
        if self._leader is not None:
            self._leader.close()
