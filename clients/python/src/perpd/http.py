"""http.py - an HTTP/1.1 client of one origin: kept connections, one request at a time on each."""
from __future__ import annotations

import asyncio
import json
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from .errors import Lost, PerpdError, Problem

_STATUS_LINE = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r\n]*")
_HEAD_MAX, _BODY_MAX = 65536, 64 << 20
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class Answer:
    """Status, headers by lower-case name, body, and the monotonic ns of sending and receiving."""
    status: int
    headers: Mapping[str, str]
    body: bytes
    sent_ns: int
    got_ns: int
    is_after_doubt: bool = False  # an answer before it left open what became of the request

    def json(self) -> Any:
        """The body's JSON; Lost (arrived) when it is none: somebody else answered."""
        try:
            return read_json(self.body)
        except ValueError:
            raise Lost(f"an answer {self.status} that is no JSON", True) from None

    def good(self) -> Any:
        """The JSON of an answer 200 or 201; else Problem."""
        if self.status in (200, 201):
            return self.json()
        raise problem_of(self)


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text; ValueError when it is none, or nested beyond all reason."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None


def problem_of(answer: Answer) -> Problem:
    """The problem object of the answer; one of its status alone when it has none."""
    try:
        return Problem(answer.status, members_of(read_json(answer.body)))
    except ValueError:
        return Problem(answer.status, {})


def members_of(value: Any) -> dict[str, Any]:
    """The members of a JSON object; of anything else none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


class Origin:
    """Scheme, host and port of an address. Plain http leaves the machine only when it is allowed:
    an API key could be read on the way."""

    def __init__(self, url: str, allow_plain: bool = False) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no http or https address")
        if parts.path not in ("", "/") or parts.query or parts.username:
            raise ValueError(f"{url!r} is more than scheme, host and port")
        self.host, self.is_tls = parts.hostname, parts.scheme == "https"
        self.port = parts.port or (443 if self.is_tls else 80)
        if not self.is_tls and self.host not in _LOOPBACK and not allow_plain:
            raise PerpdError(f"{url} is not encrypted: use https, or allow_plain=True")
        name = f"[{self.host}]" if ":" in self.host else self.host
        self.authority = name if parts.port is None else f"{name}:{self.port}"

    async def open(self) -> Connection:
        """A connection; Lost (not arrived) when there is none."""
        context = ssl.create_default_context() if self.is_tls else None
        try:
            return await asyncio.open_connection(self.host, self.port, ssl=context,
                                                 limit=_HEAD_MAX)
        except OSError as error:
            raise Lost(f"no connection to {self.authority}: {error}", False) from error


class Http:
    """A pool of connections. Urgent requests, which are cancels, have connections of their own, so
    that none waits for placements."""

    def __init__(self, origin: Origin, connections: int = 8, timeout_s: float = 10,
                 on_answer: Callable[[Answer], None] = lambda answer: None) -> None:
        self.origin, self.timeout_s = origin, timeout_s
        self._idle: list[Connection] = []
        self._rooms = {False: asyncio.Semaphore(connections), True: asyncio.Semaphore(connections)}
        self._on_answer = on_answer

    async def request(self, method: str, target: str, headers: Mapping[str, str] | None = None,
                      body: bytes | None = None, urgent: bool = False,
                      timeout_s: float | None = None) -> Answer:
        """One answer of any status. Lost: there is none."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.origin.authority}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a line break in a request's head")
        data = "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")
        limit_s = self.timeout_s if timeout_s is None else timeout_s
        async with self._rooms[urgent]:
            answer = await self._exchange(data, limit_s)
        self._on_answer(answer)
        return answer

    async def _exchange(self, data: bytes, limit_s: float) -> Answer:
        begun, connection = False, None
        try:
            async with asyncio.timeout(limit_s):
                connection = await self._take()
                begun = True
                answer = await _converse(connection, data)
        except Lost:
            _close(connection)
            raise
        except (OSError, TimeoutError, asyncio.IncompleteReadError,
                asyncio.LimitOverrunError, ValueError) as error:
            _close(connection)
            raise Lost(f"no answer: {type(error).__name__} {error}", begun) from error
        except BaseException:
            _close(connection)
            raise
        if answer.headers.get("connection", "").lower() == "close":
            _close(connection)
        else:
            self._idle.append(connection)
        return answer

    async def _take(self) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if not connection[0].at_eof() and not connection[1].is_closing():
                return connection
            _close(connection)
        return await self.origin.open()

    def close(self) -> None:
        while self._idle:
            _close(self._idle.pop())


def _close(connection: Connection | None) -> None:
    if connection is not None:
        connection[1].close()


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """Status and headers, which are joined by a comma where one comes twice."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head[:-4].split(b"\r\n")
    match = _STATUS_LINE.fullmatch(lines[0])
    if not match:
        raise ValueError("no HTTP/1.1 status line")
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or name != name.strip():
            raise ValueError("a header line without a name")
        text = value.strip(" \t")
        headers[name.lower()] = f"{headers[name.lower()]}, {text}" if name.lower() in headers \
            else text
    return int(match[1]), headers


async def _converse(connection: Connection, data: bytes) -> Answer:
    reader, writer = connection
    sent_ns = time.monotonic_ns()
    writer.write(data)
    await writer.drain()
    status, headers = await read_head(reader)
    while 100 <= status < 200:
        status, headers = await read_head(reader)
    length = headers.get("content-length", "0" if status == 204 else "")
    if not length.isascii() or not length.isdigit() or int(length) > _BODY_MAX:
        raise ValueError("a body without one Content-Length")
    body = await reader.readexactly(int(length))
    return Answer(status, headers, body, sent_ns, time.monotonic_ns())
