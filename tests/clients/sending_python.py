"""sending_python.py - when the Sender of clients/python sends, with a `post` of the test: what a
call that has ended leaves behind. W: wire.md.
"""
import asyncio
import base64
import json
import time
from types import SimpleNamespace
from unittest import mock
from uuid import UUID

import perpd
from perpd import PortfolioId, opening, requests
from perpd import _wire_gen as wire
from perpd.buckets import Buckets
from perpd.http import Answer

PAST_MS = 30_000
ORDER = wire.PlaceMarketOrder(PortfolioId(7, 0, 0), 100, 0, 0, False, wire.Stp.EXPIRE_TAKER)
DEAD_MAN = wire.ScheduleCancelAll(PortfolioId(7, 0, 0), 1)
DONE = {"status": "request_completed", "sequence": 1}
LIMITED = {"status": "rejected_rate_limited", "retry_after_ms": 300}
STALE = {"code": "request_timestamp_out_of_window"}
OFTEN = {"limits": {"write_rate": 10, "write_burst": 2}, "rate_limits": True,
         "remaining": {"write": 2, "cancel": 4}}


def answer(members, status=200):
    return Answer(status, {}, json.dumps(members).encode(), 0, 0)


async def said(awaitable):
    """The name of what it raises, else the status of the outcome."""
    try:
        return (await awaitable).status
    except perpd.PerpdError as error:
        return type(error).__name__


class Sending:
    """A Sender whose sendings are given `answers` in turn, the last one again and again; `sent` has
    the ids. An answer that is an Event is waited for first."""

    def __init__(self, *answers, shown=OFTEN, now_ms=lambda: time.time_ns() // 1_000_000):
        self.answers, self.sent = list(answers), []
        self.buckets = Buckets(lambda: self._shown(shown))
        key = SimpleNamespace(signature_type=0, public=bytes(32), sign=lambda _: bytes(64))
        self.sender = requests.Sender(
            self._post, 10, SimpleNamespace(now_ms=now_ms), key, PAST_MS, self._look, self._proof,
            self._resync, lambda *_: None, self.buckets)

    async def __aenter__(self):
        await self.buckets.refresh()
        return self

    async def __aexit__(self, *_):
        await self.sender.close()

    async def _shown(self, shown):
        return await shown() if callable(shown) else shown

    async def _post(self, _path, envelope, _urgent, _timeout_s):
        payload = base64.b64decode(json.loads(envelope)["payload"])
        self.sent.append(UUID(bytes=payload[8:24]))
        one = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(one, asyncio.Event):
            await one.wait()
            one = self.answers[0]
        if isinstance(one, Exception):
            raise one
        return one

    async def _look(self, _):
        return Answer(404, {"x-sequence": "10"}, b"{}", 0, 0)

    async def _proof(self):
        return 10**30, 5

    async def _resync(self):
        pass

    def begin(self, body=ORDER, **how):
        return self.sender.begin(body, **how)

    def call(self, deadline_s=None, body=ORDER, **how):
        return self.sender.result(self.begin(body, **how), deadline_s)


async def ended_calls(table):
    """A request that nobody can have executed ends with its call: at the deadline NotExecuted, and
    it is never sent; one that is on its way has the id that its caller was told, to the end."""
    async with Sending(answer(DONE)) as here:
        here.buckets.refused(ORDER, 0.5)
        table.same("no turn", await said(here.call(0.02)), "NotExecuted")
        cancelled = asyncio.ensure_future(here.call())
        await asyncio.sleep(0.02)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        kept = here.begin()
        table.same("the next", await said(here.sender.result(kept)), "request_completed")
        await asyncio.sleep(0.3)
        table.same("sent", here.sent, [kept.id])
        table.same("begun at once", await said(here.call(0)), "OutcomePending")
    async with Sending(answer(LIMITED)) as here:  # nothing was executed
        table.same("behind a refusal", await said(here.call(0.05)), "NotExecuted")
        await asyncio.sleep(0.4)
        table.same("sent once", len(here.sent), 1)
    for last, want in ((answer(STALE, 400), "Problem"), (answer(DONE), "request_completed")):
        come = asyncio.Event()
        async with Sending(come, last) as here:
            request = here.begin()
            table.same("on its way", await said(here.sender.result(request, 0.02)),
                       "OutcomePending")
            come.set()
            table.same("the end", await said(request), want)
            table.same("one id", here.sent, [request.id])
    come = asyncio.Event()
    async with Sending(come, answer(LIMITED)) as here:
        request = here.begin()
        call = asyncio.ensure_future(here.sender.result(request))
        await asyncio.sleep(0.02)
        call.cancel()
        come.set()
        table.same("cancelled on its way", await said(request), "NotExecuted")
        table.same("sent once", len(here.sent), 1)


async def dead_man(table):
    """The dead-man is sent while placements wait; its token is owed."""
    async with Sending(answer(DONE)) as here:
        here.buckets.refused(ORDER, 1e9)
        waits = here.begin()
        await asyncio.sleep(0)
        table.same("goes", await said(here.call(body=DEAD_MAN)), "request_completed")
        table.same("alone", (len(here.sent), waits.id in here.sent), (1, False))


async def looks(table):
    """A GET /limits that hangs holds no cancel: it goes when its token is there."""
    hangs = asyncio.Event()
    first = [OFTEN]

    async def shown():
        if first:
            return first.pop()
        await hangs.wait()
        return OFTEN
    cancel = wire.CancelAllOrders(PortfolioId(7, 0, 0), 0, wire.Side.BOTH, False)
    async with Sending(answer(DONE), shown=shown) as here:
        here.buckets._looked_at = -1e9
        here.buckets.refused(cancel, 0.1)
        table.same("a cancel", await said(here.call(60, cancel)), "request_completed")
        table.same("it hangs", (first, len(here.buckets._looks)), ([], 1))
        hangs.set()


async def malformed(table):
    """What no exchange says, of limits or of a pause, is told as an answer that was lost."""
    limits = {"write_rate": 10, "write_burst": 2}
    for shown in (None, 7, {}, {"limits": None}, {"limits": {**limits, "write_rate": "x"}},
                  {"limits": {**limits, "write_burst": -1}},
                  {"limits": limits, "remaining": {"write": None}}):
        async def look(shown=shown):
            return shown
        table.same(shown, await said(Buckets(look).refresh()), "Lost")
    for later in ("x", -1, None, {}):
        now = [time.time_ns() // 1_000_000]
        limited = answer({**LIMITED, "retry_after_ms": later})
        async with Sending(limited, answer({"code": "no"}, 400), now_ms=lambda n=now: n[0]) as here:
            request = here.begin()
            await asyncio.sleep(0.1)
            now[0] += PAST_MS
            table.same(f"after {later}", await said(request), "NotExecuted")  # by proof


async def keys(table):
    """json.md: the answer to a repetition shows no API key; another one is made, once."""
    async def nothing():
        pass
    for answers, want in (([{"account_id": 7}, {}, {"api_key": "k"}], (7, "k")),
                          ([{"account_id": 7}, {}, {}], "PerpdError account 7")):
        left = [SimpleNamespace(answer=one) for one in answers]

        async def result(_, left=left):
            return left.pop(0)
        made = SimpleNamespace(open=nothing, close=nothing,
                               clock=SimpleNamespace(now_ms=lambda: 0), sender=SimpleNamespace(
                                   begin=lambda body: body, result=result))
        with mock.patch.object(opening, "session_of", lambda *_, made=made: made):
            try:
                opened = await opening.open_account("", None, SimpleNamespace(public=bytes(32)))
                got = opened.account_id, opened.api_key
            except perpd.PerpdError as error:
                got = f"{type(error).__name__} {error}"[:len("PerpdError account 7")]
        table.same("the key", (got, left), (want, []))


async def own_ids(table):
    """What has ids of its own is not sent when they have become too old: nobody has seen it."""
    async with Sending(answer(DONE)) as here:
        old = UUID(int=(time.time_ns() // 1_000_000 - PAST_MS) << 80 | 7 << 76 | 2 << 62)
        table.same("too old", await said(here.call(
            request_id=old, own_ids=True, is_new=True)), "NotExecuted")
        table.same("not sent", here.sent, [])
