"""errors.py - what the library raises. Every class is a PerpdError."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID


class PerpdError(Exception):
    """The base of all."""


class Problem(PerpdError):
    """The exchange answered with a problem object (json.md J8): `code` says which."""

    def __init__(self, http: int, members: Mapping[str, Any], request_id: UUID | None = None,
                 hint: str = "") -> None:
        self.http, self.members, self.request_id = http, dict(members), request_id
        self.code = str(members.get("code", "unknown"))
        self.detail = str(members.get("detail", ""))
        super().__init__(f"{http} {self.code}: {self.detail}" + (f"\n{hint}" if hint else ""))


class Rejected(PerpdError):
    """The exchange executed the request's id and refused what it asks for."""

    def __init__(self, status: str, reason: str | None, request_id: UUID) -> None:
        self.status, self.reason, self.request_id = status, reason, request_id
        super().__init__(status + (f" ({reason})" if reason else ""))


class NotExecuted(PerpdError):
    """The request was not executed and never will be: a new one may be made."""

    def __init__(self, request_id: UUID, last: str) -> None:
        self.request_id = request_id
        super().__init__(f"request {request_id} was not executed; the last answer: {last}")


class Lost(PerpdError):
    """The connection ended without an answer. `arrived` is False where nothing can have been
    received: no connection was made."""

    def __init__(self, what: str, arrived: bool) -> None:
        self.arrived = arrived
        super().__init__(what)


class NotOnGrid(PerpdError, ValueError):
    """A price or size between two steps of the market. Nothing is rounded silently: `lower` and
    `upper` are the neighbours."""

    def __init__(self, what: str, value: object, lower: object, upper: object) -> None:
        self.lower, self.upper = lower, upper
        super().__init__(f"{what} {value} is between {lower} and {upper}")


class WrongChecksum(PerpdError, ValueError):
    """An address in large and small letters whose checksum (EIP-55) is wrong: a letter or digit of
    it is. `given` and `right` are the two spellings of these digits."""

    def __init__(self, given: str, right: str) -> None:
        self.given, self.right = given, right
        super().__init__(f"{given} has a wrong checksum (EIP-55): its digits are spelled {right}; "
                         "compare all of them with the address you mean")


class WrongExchange(PerpdError):
    """The address is another exchange than the session key is bound to, or it speaks another
    version of the wire."""


class Overrun(PerpdError):
    """A consumer of trades was too slow: its queue was full, and its iteration ends."""
