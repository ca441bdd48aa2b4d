"""requests.py - the one way a signed request is sent: it cannot execute twice, and its outcome is
known in the end.

The bytes are made once. They are sent again, never made again, until an answer ends the matter or
their id is too old; then GET /requests/{id} tells the outcome. A 404 counts as "not executed" only
once the applied state has passed every moment at which the id could have been admitted. What nobody
has admitted ends with the call that asked for it.

Answers are believed: README.md says what who forges them can do.
"""
from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from .body import Body
from .buckets import Buckets
from .clock import Clock
from .errors import Lost, NotExecuted, PerpdError, Problem, Rejected
from .http import Answer, members_of, problem_of
from .ids import Ids, id_time_ms
from .sign import Signer, envelope_of, explain, payload_of

Post = Callable[[str, bytes, bool, float], Awaitable[Answer]]
LIMITED = "rejected_rate_limited"  # by the account's own rate
AGAIN = ("request_dropped", "retry_required", LIMITED)
_NO_TURN = "none; its call ended before its turn came"
_TOO_OLD = "none; its turn came when its id was too old"
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.05, 2.0
_MARGIN_MS = 2000  # before the end of the window: a sending takes time
_ENGINE_MS = 5000  # the engine admits an id that much longer than the network (W5)


@dataclass(frozen=True)
class Outcome:
    """What became of a request. `answer` has the members of its acknowledgement or record;
    `is_first` is False when they are not of the sending that executed it."""
    request_id: UUID
    status: str
    reason: str | None
    sequence: int | None
    is_first: bool
    answer: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(eq=False)
class Request:
    """One intent: its id, known before it is sent, and its bytes. Awaited, it gives the Outcome."""
    id: UUID
    body: Body
    payload: bytes
    envelope: bytes
    resumed: bool
    is_out: bool = False  # it was sent, and no answer says that it was not executed
    is_told: bool = False  # a caller was told this id: it is not made again with another one
    is_given_up: bool = False  # nobody waits for it: it is not sent again
    task: asyncio.Task[Outcome] | None = None

    def __await__(self) -> Generator[Any, None, Outcome]:
        assert self.task is not None
        return asyncio.shield(self.task).__await__()


class OutcomePending(PerpdError):
    """The deadline passed before the outcome is known. The request is still looked after: await
    `request` for the outcome. A new request for the same intent could execute it twice."""

    def __init__(self, request: Request) -> None:
        self.request, self.request_id = request, request.id
        super().__init__(f"the outcome of request {request.id} is not known yet")


def _withdrawn(request: Request) -> bool:
    """Ends a request that cannot have been executed; whether it was one."""
    request.is_told = True
    if request.is_out or request.resumed or request.task is None or not request.task.cancel():
        return False
    request.is_given_up = True
    return True


class Sender:
    """Signs and sends. `post` sends an envelope to a path, urgent or not, for so many seconds;
    `proof` reads (time_ns, engine_seq) of the applied state, of any market;
    `look` reads a request's record; `resync` asks for the exchange's time; a request is sent when
    `buckets` let it."""

    def __init__(self, post: Post, timeout_s: float, clock: Clock, signer: Signer, past_ms: int,
                 look: Callable[[UUID], Awaitable[Answer]],
                 proof: Callable[[], Awaitable[tuple[int, int]]],
                 resync: Callable[[], Awaitable[None]],
                 on_intent: Callable[[UUID, bytes], None], buckets: Buckets) -> None:
        self._post, self._timeout_s, self._buckets = post, timeout_s, buckets
        self._clock, self._signer, self._past_ms = clock, signer, past_ms
        self._look, self._proof, self._resync = look, proof, resync
        self._on_intent = on_intent
        self._ids = Ids(clock.now_ms)
        self._tasks: set[asyncio.Task[Outcome]] = set()

    def new_id(self) -> UUID:
        return self._ids.next()

    def _make(self, body: Body, request_id: UUID | None, is_new: bool = False) -> Request:
        made = request_id or self.new_id()
        payload = payload_of(body, made, self._signer.signature_type)
        request = Request(made, body, payload, envelope_of(payload, self._signer),
                          request_id is not None and not is_new)
        self._on_intent(request.id, request.envelope)
        return request

    def begin(self, body: Body, urgent: bool = False, request_id: UUID | None = None,
              own_ids: bool = False, is_new: bool = False) -> Request:
        """Signs, and sends until the outcome is known. `request_id`: of an intent that may have
        been sent before, which is then not executed again, unless it `is_new`. `own_ids`: the body
        has further ids of this time, so it is not made again."""
        request = self._make(body, request_id, is_new)
        request.task = asyncio.ensure_future(self._run(request, urgent, own_ids))
        self._tasks.add(request.task)
        request.task.add_done_callback(self._ended)
        return request

    def _ended(self, task: asyncio.Task[Outcome]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # who does not await a request is not warned of its exception

    async def result(self, request: Request, deadline_s: float | None = None) -> Outcome:
        """The outcome that was completed; Rejected, Problem, NotExecuted, OutcomePending. What
        waits for its turn, or pauses behind a refusal, when the deadline passes or the caller is
        cancelled ends there: it is not sent. What is on its way when the caller is cancelled is
        not sent again."""
        try:
            async with asyncio.timeout(deadline_s):
                outcome = await request
        except TimeoutError:
            if _withdrawn(request):
                raise NotExecuted(request.id, _NO_TURN) from None
            raise OutcomePending(request) from None
        except asyncio.CancelledError:
            if not _withdrawn(request):
                request.is_given_up = True
            raise
        if outcome.status not in DONE:
            raise Rejected(outcome.status, outcome.reason, outcome.request_id)
        return outcome

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._buckets.close()

    def _left_s(self, request: Request) -> float:
        end = id_time_ms(request.id) + self._past_ms - _MARGIN_MS
        return (end - self._clock.now_ms()) / 1000

    def _renew(self, request: Request) -> None:
        """Makes a request that was never admitted again, with an id of now."""
        fresh = self._make(request.body, None)
        request.id, request.payload, request.envelope = fresh.id, fresh.payload, fresh.envelope

    async def _run(self, request: Request, urgent: bool, own_ids: bool) -> Outcome:
        try:
            return await self._sent(request, urgent, own_ids)
        except asyncio.CancelledError:
            if request.is_given_up and not request.is_out and not request.resumed:
                raise NotExecuted(request.id, _NO_TURN) from None
            raise

    async def _sent(self, request: Request, urgent: bool, own_ids: bool) -> Outcome:
        unanswered, wait_s, last, renewed = request.resumed, _FIRST_WAIT_S, "none", own_ids
        sent = False
        while self._left_s(request) > 0 or not (sent or unanswered):
            await self._buckets.take(request.body)
            if self._left_s(request) <= 0 and (sent or unanswered) or request.is_given_up:
                break
            if self._left_s(request) <= 0:
                if own_ids:
                    raise NotExecuted(request.id, _TOO_OLD)
                self._renew(request)  # it waited for its turn: nobody has seen the old one
            left_s, sent = self._left_s(request), True
            pause_s, request.is_out = 0.0, True
            try:
                answer = await self._post(request.body.PATH, request.envelope, urgent,
                                          max(0.1, min(self._timeout_s, left_s)))
                unanswered = unanswered or answer.is_after_doubt
                verdict = judge(request, answer)
            except Lost as lost:
                unanswered, last = unanswered or lost.arrived, str(lost)
            else:
                if isinstance(verdict, Outcome):
                    return verdict
                last = verdict.said
                if verdict.is_stale and not (unanswered or renewed or request.is_told):
                    renewed, request.is_out = True, False
                    await self._resync()
                    self._ids = Ids(self._clock.now_ms)  # those of a wrong time do not count
                    self._renew(request)
                    continue
                if verdict.final is not None and not unanswered:
                    raise verdict.final
                unanswered, pause_s = unanswered or verdict.is_doubtful, verdict.pause_s
                if verdict.is_limited:
                    self._buckets.refused(request.body, pause_s)
            request.is_out = unanswered
            if request.is_given_up:
                break
            await asyncio.sleep(max(0.0, min(max(wait_s, pause_s), self._left_s(request))))
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
        if not unanswered:
            raise NotExecuted(request.id, last)
        return await self.settled(request.id, last)

    async def settled(self, request_id: UUID, last: str = "none") -> Outcome:
        """What became of a request that is no longer sent; NotExecuted with proof of it."""
        passed_ns = (id_time_ms(request_id) + self._past_ms + _ENGINE_MS) * 1_000_000
        wait_s, proved = _FIRST_WAIT_S, None
        while True:
            try:
                answer = await self._look(request_id)
                if answer.status == 200:
                    return outcome_of_record(request_id, answer.json())
                if answer.status in (400, 401, 403):
                    raise problem_of(answer)
                if answer.status == 404:
                    shown = int(answer.headers.get("x-sequence", "-1"))
                    if proved is not None and shown >= proved:
                        raise NotExecuted(request_id, last)
                    if proved is None:
                        time_ns, engine_seq = await self._proof()
                        if time_ns > passed_ns:
                            proved = engine_seq
                            continue
            except (Lost, Problem) as error:
                if isinstance(error, Problem) and error.http in (400, 401, 403):
                    raise
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)


DONE = ("request_completed", "session_created", "session_revoked", "account_created_with_session",
        "master_key_added", "master_key_removed")


@dataclass(frozen=True)
class Verdict:
    """Of an answer that does not end the matter by itself. `final` is what ends it if no earlier
    sending is unanswered; `is_doubtful`: who answered may have passed the request on;
    `is_limited`: the account has used up its rate."""
    said: str
    final: PerpdError | None = None
    is_stale: bool = False
    is_doubtful: bool = False
    is_limited: bool = False
    pause_s: float = 0.0


def judge(request: Request, answer: Answer) -> Outcome | Verdict:
    """What one answer says of the request."""
    if answer.status == 200:
        return _judge_ack(request, answer)
    problem = problem_of(answer)
    said = f"{problem.http} {problem.code}"
    if answer.status in (408, 429) or answer.status >= 500:
        retry = answer.headers.get("retry-after", "0")
        pause_s = float(retry) if retry.isascii() and retry.isdigit() else 0.0
        return Verdict(said, is_doubtful=answer.status != 429, pause_s=pause_s)
    if problem.code == "not_leader":  # nothing was executed; the next sending goes to another node
        return Verdict(said)
    hint = explain(request.payload, request.envelope) if problem.code == "invalid_signature" else ""
    final = Problem(problem.http, problem.members, request.id, hint)
    return Verdict(said, final, is_stale=problem.code == "request_timestamp_out_of_window")


def _judge_ack(request: Request, answer: Answer) -> Outcome | Verdict:
    members = members_of(answer.json())
    status = members.get("status", members.get("message"))
    if not isinstance(status, str):
        raise Lost("an answer that is no acknowledgement", True)
    if status == "duplicate_request_id":
        return Outcome(request.id, str(members.get("original_status")), None, None, False, members)
    if isinstance(members.get("sequence"), int):
        return Outcome(request.id, status, members.get("reason"), members["sequence"], True,
                       members)
    if status in AGAIN:
        after_ms = members.get("retry_after_ms", 0)
        if not isinstance(after_ms, int) or not 0 <= after_ms < 1 << 63:
            raise Lost(f"a retry_after_ms of {after_ms}", True)
        return Verdict(status, pause_s=after_ms / 1000, is_limited=status == LIMITED)
    return Verdict(status, Rejected(status, members.get("reason"), request.id))


def outcome_of_record(request_id: UUID, record: dict[str, Any]) -> Outcome:
    """The outcome that GET /requests/{id} tells (J2)."""
    return Outcome(request_id, record["status"], record.get("reason"), record["sequence"], False,
                   record)
