"""stream.py - one WebSocket for every subscription: it comes back by itself, subscribes again,
checks the order of frames, and takes silence for death.
"""
from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

from .book import Fault
from .errors import Lost, Problem
from .http import Answer, Origin, members_of, read_json
from .sinks import Signal, Sink
from .ws import WebSocket

TARGET = "/api/v1/stream"
PRIVATE = "private"
ARM = "cancel_on_disconnect"
_FOR_GOOD = (401, 403)
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.25, 10.0
_SILENCE_S = 12.0  # two heartbeats and two seconds
_EVENTS_KEPT = 1000

Kind = Literal["live", "gap", "stale", "reconnecting", "epoch_changed", "resumed", "armed",
               "disarmed"]


def read_object(text: str) -> dict[str, Any]:
    message = read_json(text)
    if not isinstance(message, dict):
        raise ValueError("a message that is no object")
    return members_of(message)


@dataclass(frozen=True)
class Event:
    """What happened to the connection ("reconnecting", "epoch_changed"), to an arm of
    cancel-on-disconnect ("armed" again, "disarmed" by a refusal), or to a subscription."""
    kind: Kind
    channel: str = ""
    market: str = ""
    detail: str = ""


class Subscription:
    """One channel of one market, and what was seen of it. One with `caught_up` goes on after a
    break by the op `resume`, and that is called when nothing of the break is still to come."""

    def __init__(self, channel: str, market: str, sink: Sink, depth: int | None,
                 caught_up: Callable[[], None] | None = None) -> None:
        self.channel, self.market, self.sink, self.depth = channel, market, sink, depth
        self.caught_up = caught_up
        self.last: int | None = None  # the newest that the sink has taken
        self.users = 0
        self.seq: int | None = None  # None: a snapshot is awaited
        self.heard_s = time.monotonic()
        self.gaps = 0

    @property
    def key(self) -> tuple[str, str]:
        return self.channel, self.market

    @property
    def resumes(self) -> bool:
        return self.caught_up is not None and self.last is not None

    def op(self, name: str, number: int) -> str:
        members: dict[str, Any] = {"op": name, "id": number, "channel": self.channel}
        if name == "resume":
            members["from_seq"] = self.last
        if self.market:
            members["market"] = self.market
        if self.depth is not None and name == "subscribe":
            members["depth"] = self.depth
        return json.dumps(members)


@dataclass
class Arm:
    """Cancel-on-disconnect of one subaccount: when the connection is lost and it is not armed again
    within the grace, the exchange cancels its orders (wire.md W9)."""
    subaccount_index: int
    grace_ms: int
    id: str = field(default_factory=lambda: str(uuid4()))

    def text(self, enabled: bool = True) -> str:
        return json.dumps({"arm_id": self.id, "subaccount_index": self.subaccount_index,
                           "enabled": enabled, "grace_ms": self.grace_ms})[1:-1]


class Stream:
    """The task that owns the socket. It is connected while there is a subscription. With an API key
    it logs in first."""

    def __init__(self, origin: Origin | Sequence[Origin], silence_s: float = _SILENCE_S,
                 first_wait_s: float = _FIRST_WAIT_S, api_key: str | None = None) -> None:
        self._origins = [origin] if isinstance(origin, Origin) else list(origin)
        self._silence_s, self._first_wait_s = silence_s, first_wait_s
        self._api_key = api_key
        self._calls: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._pings: dict[int, Subscription] = {}
        self._arms: dict[str, Arm] = {}
        self._subscriptions: dict[tuple[str, str], Subscription] = {}
        self._asked: dict[int, Subscription] = {}
        self._number, self.epoch, self.reconnections = 0, 0, 0
        self.on_epoch: Callable[[], None] = lambda: None  # called when another epoch is told
        self._socket: WebSocket | None = None
        self._is_ready = False  # logged in
        self._ready = Signal()
        self._task: asyncio.Task[None] | None = None
        self._waits: set[asyncio.Task[None]] = set()
        self._events: deque[Event] = deque(maxlen=_EVENTS_KEPT)
        self._signal = Signal()

    async def subscribe(self, channel: str, market: str, make: Callable[[], Sink],
                        depth: int | None = None,
                        caught_up: Callable[[], None] | None = None) -> Subscription:
        """The subscription of this channel, which `release` gives back. All users of a channel
        share its sink; ValueError when they want books of different depth."""
        found = self._subscriptions.get((channel, market))
        if found is None:
            found = Subscription(channel, market, make(), depth, caught_up)
            self._subscriptions[found.key] = found
            if self._socket is not None:
                with contextlib.suppress(Lost):  # the next connection asks
                    await self._ask(self._socket, found)
        elif found.depth != depth:
            raise ValueError(f"the book of {market} is subscribed with depth {found.depth}")
        found.users += 1
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        return found

    async def release(self, subscription: Subscription) -> None:
        """Ends it with its last user."""
        subscription.users -= 1
        if subscription.users or self._subscriptions.pop(subscription.key, None) is None:
            return
        if self._socket is not None:
            self._number += 1
            try:
                await self._socket.send(subscription.op("unsubscribe", self._number))
            except Lost:
                pass

    async def events(self) -> AsyncIterator[Event]:
        """What happens from now on."""
        count = self._signal.count
        while True:
            now = await self._signal.after(count)
            fresh = list(self._events)[-min(now - count, len(self._events)):]
            count = now
            for event in fresh:
                yield event

    def _tell(self, kind: Kind, subscription: Subscription | None = None, detail: str = "") -> None:
        channel, market = subscription.key if subscription else ("", "")
        self._events.append(Event(kind, channel, market, detail))
        self._signal.tell()

    async def close(self) -> None:
        for wait in self._waits:
            wait.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._socket is not None:
            await self._socket.close()

    async def _begin(self, op: str, members: str) -> asyncio.Future[dict[str, Any]]:
        """Sends an op that is no subscription; its reply, or Lost. `members`: JSON, no braces."""
        socket = self._socket
        if socket is None:
            raise Lost("the stream is away", False)
        self._number += 1
        number = self._number
        reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._calls[number] = reply
        await socket.send(f'{{"op":"{op}","id":{number},{members}}}')
        return reply

    async def _call(self, op: str, members: str, timeout_s: float) -> dict[str, Any]:
        """The reply to an op. Lost (arrived): it may have been sent, and there is none."""
        try:
            async with asyncio.timeout(timeout_s):
                return await (await self._begin(op, members))
        except TimeoutError:
            raise Lost(f"no reply to {op} in {timeout_s} s", True) from None

    async def signed(self, envelope: bytes, timeout_s: float) -> Answer | None:
        """What the exchange says of a signed request, as over HTTP; None when there is no
        connection that is logged in. Lost: it was sent, and nothing came."""
        if not self._is_ready:
            return None
        sent_ns = time.monotonic_ns()
        reply = await self._call("signed", '"ack":"full",' + envelope.decode()[1:-1], timeout_s)
        problem = reply.get("problem")
        headers: dict[str, str] = {}
        if problem is not None and "retry_after_ms" in problem:
            headers["retry-after"] = str(-(-int(problem["retry_after_ms"]) // 1000))
        shown = reply if problem is None else problem
        return Answer(200 if problem is None else problem["status"], headers,
                      json.dumps(shown).encode(), sent_ns, time.monotonic_ns())

    async def arm(self, arm: Arm) -> None:
        """Arms it, and again after each break. Problem: it was refused. Lost: it was disarmed."""
        self._arms[arm.id] = arm
        while True:
            while not self._is_ready:
                await self._ready.after(self._ready.count)
            try:
                await self._hold(arm)
                return
            except Lost:
                if arm.id not in self._arms:
                    raise
                await asyncio.sleep(self._first_wait_s)

    async def disarm(self, arm: Arm) -> None:
        """The orders stay when the connection is lost. Lost, Problem: it may still be armed."""
        self._arms.pop(arm.id, None)
        _good(await self._call(ARM, arm.text(False), self._silence_s))

    async def _hold(self, arm: Arm, reply: asyncio.Future[dict[str, Any]] | None = None) -> None:
        """Arms it on this connection, as often as that takes; `reply` is that to the first try.
        Lost: the connection has ended, or it was disarmed. Problem: refused for good."""
        socket = self._socket
        while socket is not None and self._socket is socket and arm.id in self._arms:
            wait_s = self._first_wait_s
            try:
                _good(await (reply or self._call(ARM, arm.text(), self._silence_s)))
                return
            except Problem as problem:
                is_elsewhere = problem.http >= 500 or problem.code == "not_leader"
                if is_elsewhere and len(self._origins) > 1:  # another node may do it
                    self._later(socket.close(1001))
                    raise Lost(str(problem), True) from problem
                if problem.http < 500 and problem.http != 429:
                    self._arms.pop(arm.id, None)
                    raise
                wait_s = max(wait_s, problem.members.get("retry_after_ms", 0) / 1e3)
            except Lost:
                pass  # the condition says whether the connection has ended
            reply = None
            await asyncio.sleep(wait_s)
        raise Lost("the connection has ended, or it was disarmed", True)

    async def _arm_again(self, arm: Arm, reply: asyncio.Future[dict[str, Any]]) -> None:
        try:
            await self._hold(arm, reply)
            self._tell("armed", None, arm.id)
        except Problem as problem:
            self._tell("disarmed", None, f"{arm.id}: {problem}")
        except Lost:
            pass  # the next connection arms it

    async def _log_in(self, socket: WebSocket) -> None:
        """Problem: the key is refused."""
        if self._api_key is None:
            return
        await socket.send(json.dumps({"op": "login", "id": 0, "api_key": self._api_key}))
        async with asyncio.timeout(self._silence_s):
            reply = await self._receive(socket)
        try:
            _good(reply)
        except Problem as problem:
            if problem.http >= 500:  # a node that does not know the key yet
                raise Lost(str(problem), True) from problem
            raise

    async def _run(self) -> None:
        wait_s = self._first_wait_s
        while True:
            before = self.reconnections
            try:
                self._socket = await self._open()
                await self._log_in(self._socket)
                self._is_ready = self._api_key is not None
                for arm in list(self._arms.values()):  # first: their graces run
                    self._later(self._arm_again(arm, await self._begin(ARM, arm.text())))
                self._ready.tell()
                for subscription in list(self._subscriptions.values()):
                    await self._ask(self._socket, subscription)
                while True:
                    await self._take(await self._message(self._socket))
                    wait_s = self._first_wait_s
            except Problem as problem:
                self.reconnections = before + 1
                self._refused(problem)
            except Exception as error:  # whatever it is: the next connection may do better
                self.reconnections = before + 1
                self._tell("reconnecting", None, str(error) or type(error).__name__)
            finally:
                socket, self._socket, self._is_ready = self._socket, None, False
                for reply in self._calls.values():
                    if not reply.done():
                        reply.set_exception(Lost("the stream broke", True))
                self._calls.clear()
                self._asked.clear()
                self._pings.clear()
                for subscription in self._subscriptions.values():
                    subscription.sink.lose()
                    subscription.seq = None
                if socket is not None:
                    await socket.close(1001)
            await asyncio.sleep(wait_s * random.uniform(0.8, 1.2))
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)

    def _refused(self, problem: Problem) -> None:
        """A login or a read for a subscription was refused: what needs the key ends if that is for
        good."""
        self._tell("reconnecting", None, str(problem))
        if problem.http in _FOR_GOOD:
            self._api_key = None
            self._arms.clear()
            self._ready.tell(problem)
            for key in [key for key in self._subscriptions if key[0] == PRIVATE]:
                self._subscriptions.pop(key).sink.fail(problem)

    async def _message(self, socket: WebSocket) -> dict[str, Any]:
        """The next message; Lost when a subscription was silent for too long."""
        while True:
            oldest = min(self._subscriptions.values(), key=lambda one: one.heard_s, default=None)
            heard_s = time.monotonic() if oldest is None else oldest.heard_s
            try:
                async with asyncio.timeout(heard_s + self._silence_s - time.monotonic()):
                    message = await self._receive(socket)
            except TimeoutError:
                if oldest is None or oldest.key not in self._subscriptions or \
                        oldest.heard_s > heard_s:
                    continue
                self._tell("stale", oldest)
                raise Lost(f"nothing came for {self._silence_s} s", True) from None
            return message

    async def _open(self) -> WebSocket:
        return await WebSocket.open(self._next_origin(), TARGET)

    def _next_origin(self) -> Origin:
        """Of several nodes the one behind that which the last connection was to."""
        return self._origins[self.reconnections % len(self._origins)]

    async def _receive(self, socket: WebSocket) -> dict[str, Any]:
        """A reply or a frame as in json.md J9."""
        return read_object(await socket.receive())

    async def _ask(self, socket: WebSocket, subscription: Subscription) -> None:
        self._number += 1
        self._asked[self._number] = subscription
        subscription.seq, subscription.heard_s = None, time.monotonic()
        if not subscription.resumes:
            await socket.send(subscription.op("subscribe", self._number))
            return
        await socket.send(subscription.op("resume", self._number))
        self._number += 1  # answered behind what the resume sends
        self._pings[self._number] = subscription
        await socket.send(json.dumps({"op": "ping", "id": self._number}))

    def _ask_later(self, subscription: Subscription, wait_s: float) -> None:
        """Asks once more behind the wait, unless the connection or the subscription has ended."""
        socket = self._socket
        subscription.heard_s = time.monotonic() + wait_s

        async def ask() -> None:
            await asyncio.sleep(wait_s * random.uniform(1, 1.2))
            if socket is not None and self._socket is socket and \
                    self._subscriptions.get(subscription.key) is subscription:
                with contextlib.suppress(Lost):
                    await self._ask(socket, subscription)

        self._later(ask())

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._waits.add(task)
        task.add_done_callback(self._waits.discard)

    async def _take(self, message: dict[str, Any]) -> None:
        if "op" in message:
            await self._reply(message)
            return
        subscription = self._subscriptions.get((message["channel"], message.get("market", "")))
        if subscription is None:
            return
        subscription.heard_s = time.monotonic()
        if message["type"] == "snapshot":
            kind: Kind = "live" if subscription.gaps == 0 and self.reconnections == 0 else "resumed"
            if subscription.seq is None:
                self._tell(kind, subscription)
        elif subscription.seq is None:
            return  # of the subscription before the snapshot that was asked for
        elif message["prev_seq"] != subscription.seq:
            await self._gap(subscription, f"prev_seq {message['prev_seq']}, not {subscription.seq}")
            return
        subscription.seq = message["seq"]
        try:
            await subscription.sink.take(message)
            subscription.last = subscription.seq
        except Fault as fault:
            subscription.last = None
            await self._gap(subscription, str(fault))

    async def _gap(self, subscription: Subscription, detail: str) -> None:
        subscription.gaps += 1
        subscription.sink.lose()
        self._tell("gap", subscription, detail)
        assert self._socket is not None
        await self._ask(self._socket, subscription)

    async def _reply(self, message: dict[str, Any]) -> None:
        number = message.get("id", 0)
        subscription = self._asked.pop(number, None)
        if number in self._calls:
            reply = self._calls.pop(number)
            if not reply.done():
                reply.set_result(message)
        elif number in self._pings:
            resumed = self._pings.pop(number)
            if resumed.seq is not None and resumed.caught_up is not None:
                resumed.caught_up()
        elif subscription is None:
            return
        elif "problem" in message:
            self._refuse(subscription, message["problem"])
        else:
            is_other = self.epoch not in (0, message["epoch"])
            if is_other:
                self._tell("epoch_changed", None, f"{self.epoch} to {message['epoch']}")
                for each in self._subscriptions.values():
                    each.sink.lose(is_other=True)
                    each.last = None
                self.on_epoch()
            self.epoch = message["epoch"]
            # Another epoch may have been told by an earlier reply: then nothing is left to resume.
            if message["op"] == "resume" and (is_other or subscription.last is None):
                assert self._socket is not None
                await self._ask(self._socket, subscription)
            elif message["op"] == "resume":
                subscription.seq = message["from_seq"]
                self._tell("resumed", subscription)

    def _refuse(self, subscription: Subscription, problem: dict[str, Any]) -> None:
        status = problem["status"]
        if status == 429:  # its bucket has no token (W8)
            self._ask_later(subscription, problem.get("retry_after_ms", 1000) / 1e3)
        elif status >= 500:  # it may pass
            raise Lost(f"a subscription was answered {status}", True)
        else:
            self._subscriptions.pop(subscription.key, None)
            subscription.sink.fail(Problem(status, problem))


def _good(reply: dict[str, Any]) -> None:
    """Problem where the reply is one."""
    if "problem" in reply:
        raise Problem(reply["problem"]["status"], reply["problem"])
