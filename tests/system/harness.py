"""harness.py - cases, expectations of json.md J8 and J4, and the run of a suite against one perpd.

A case is a function of the suite's world; each may fail alone. A suite ends with "N passed, N
failed" and exit code 1 when one failed.
"""
import json
import os
import pathlib
import sys
import time
import traceback

from client import Connection, title
from produced import Produced

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from sample import Sample

PROBLEM = {"type", "title", "status", "code", "detail"}
PROBLEM_EXTRA = {  # J8: code -> member: (type, whether it must be there)
    "request_timestamp_out_of_window": ("server_time_ms", int, True),
    "request_type_not_allowed": ("request_type", int, True),
    "invalid_parameter": ("parameter", str, True),
    "malformed_payload": ("field", str, False),
    "invalid_base64": ("field", str, False),
    "payload_too_large": ("max_bytes", int, True),
    "rate_limited": ("retry_after_ms", int, True),
    "not_ready": ("lag_ms", int, False),
}


# How long hostile peers keep up each attack. docs/reliability.md has the full length.
PHASE_S = float(os.environ.get("PERPD_PHASE_S", "1"))

PRODUCED = Produced()
PRODUCED.watch(Connection)


class Suite:
    """Collects cases in the order written and runs them."""

    def __init__(self, name):
        self.name, self.cases = name, []

    def case(self, function):
        self.cases.append(function)
        return function

    def run(self, world, only=()):
        """PERPD_SAMPLE=N: one case in N."""
        failed, sample, ran = 0, Sample(), set()
        for number, function in enumerate(self.cases):
            if function.__name__ not in only if only else not sample.takes(number):
                continue
            begun = time.monotonic()
            PRODUCED.case = function.__name__
            ran.add(function.__name__)
            try:
                problems = function(world) or []
            except Exception as error:  # a case that breaks is a case that fails
                trace = traceback.extract_tb(error.__traceback__)
                lines = [frame.lineno for frame in trace]
                problems = [f"{type(error).__name__} at lines {lines}: {error}"]
            if problems:
                failed += 1
                print(f"FAILED {function.__name__}: {(function.__doc__ or '').strip()}")
                for text in problems:
                    print("   ", text)
            elapsed = time.monotonic() - begun
            if elapsed > 5:
                print(f"{function.__name__} took {elapsed:.1f} s")
        lacking = PRODUCED.lacking(self.name.replace(" ", "_"), ran)
        if lacking:
            failed += 1
            print("FAILED produced.txt:", *lacking, sep="\n    ")
        print(f"{self.name}: {len(self.cases) - failed} passed, {failed} failed")
        return 1 if failed else 0


def perpd_program():
    """perpd of the build folder, the first argument."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD [CASE...]")
    program = pathlib.Path(sys.argv[1]) / "perpd"
    if not program.exists():
        sys.exit(f"no {program}")
    return program


def only():
    return sys.argv[2:]


class Table:
    """Row by row: what differs from what the specification says."""

    def __init__(self):
        self.wrong = []

    def same(self, row, got, want):
        if got != want or type(got) is not type(want):
            self.wrong.append(f"{row}: expected {want!r}, got {got!r}")
        return got == want

    def true(self, row, condition, got=None):
        if not condition:
            self.wrong.append(f"{row}: {got!r}")
        return condition

    def problem(self, row, response, status, code, **extra):
        """J8: the media type, every member, and the one extra member that the code has."""
        if response.status != status:
            self.wrong.append(f"{row}: expected {status} {code}, got {response!r}")
            return
        try:
            body = response.json
        except json.JSONDecodeError:
            self.wrong.append(f"{row}: no JSON: {response!r}")
            return
        self.same(f"{row}: media type", response.header("content-type"),
                  "application/problem+json")
        if body.get("code") != code:
            self.wrong.append(f"{row}: expected {code}, got {body}")
            return
        want = set(PROBLEM)
        name, kind, required = PROBLEM_EXTRA.get(code, (None, None, False))
        if name is not None and (required or name in body):
            want.add(name)
            self.true(f"{row}: {name} is {kind.__name__}", type(body.get(name)) is kind, body)
        self.same(f"{row}: members", sorted(body), sorted(want))
        self.same(f"{row}: type", body.get("type"), f"urn:perps:problem:{code}")
        self.same(f"{row}: title", body.get("title"), title(status))
        self.same(f"{row}: status", body.get("status"), status)
        self.same(f"{row}: phrase", response.phrase, title(status))
        self.true(f"{row}: detail", isinstance(body.get("detail"), str) and body["detail"], body)
        for member, value in extra.items():
            self.same(f"{row}: {member}", body.get(member), value)
        PRODUCED.problem(status, code)

    def ok(self, row, response):
        """200 application/json; its object, or {} after a note of what came instead."""
        if response.status != 200:
            self.wrong.append(f"{row}: expected 200, got {response!r}")
            return {}
        self.same(f"{row}: media type", response.header("content-type"), "application/json")
        return response.json

    def ack(self, row, response, status, sequenced=True, **more):
        """J4, RequestAck. sequenced=None: the specification leaves open which check finds it."""
        body = self.ok(row, response)
        if not body or not self.same(row, body.get("status"), status):
            return body
        want = {"status", "processed_at_ns"} | set(more)
        if sequenced or (sequenced is None and "sequence" in body):
            want.add("sequence")
        self.answer(row, body, want, more)
        return body

    def success(self, row, response, done, message, sequenced=True, **more):
        """J4, success style. A value of ... means: there, whatever it is."""
        body = self.ok(row, response)
        if not body or not self.same(row, body.get("message"), message):
            return body
        self.same(f"{row}: success", body.get("success"), done)
        want = {"success", "message", "processed_at_ns"} | set(more)
        if sequenced or (sequenced is None and "sequence" in body):
            want.add("sequence")
        self.answer(row, body, want, more)
        return body

    def answer(self, row, body, want, more):
        self.same(f"{row}: members", sorted(body), sorted(want))
        self.true(f"{row}: processed_at_ns is now",
                  abs(body.get("processed_at_ns", 0) - time.time_ns()) < 60_000_000_000, body)
        if "sequence" in want:
            self.true(f"{row}: sequence", type(body.get("sequence")) is int, body)
        for member, value in more.items():
            if value is not ...:
                self.same(f"{row}: {member}", body.get(member), value)

    def members(self, row, record, types):
        """Exactly these members, each of one of the J1 types named (see IS)."""
        self.same(f"{row}: members", sorted(record), sorted(types))
        for name, kinds in types.items():
            if name in record and not any(IS[kind](record[name]) for kind in kinds.split("|")):
                self.wrong.append(f"{row}: {name} is no {kinds}: {record[name]!r}")


def is_decimal(value):
    """J1 dec: optional -, no exponent, no trailing zeros, no needless leading ones, no -0."""
    if not isinstance(value, str):
        return False
    digits = value.removeprefix("-")
    whole, dot, fraction = digits.partition(".")
    if not (whole.isascii() and whole.isdigit()) or (len(whole) > 1 and whole[0] == "0"):
        return False
    if dot and not (fraction.isascii() and fraction.isdigit() and fraction[-1] != "0"):
        return False
    return value != "-0"


def matches(pattern):
    import re
    compiled = re.compile(pattern)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


IS = {  # J1
    "dec": is_decimal,
    "int": lambda value: type(value) is int and -2**63 <= value < 2**64,
    "ms": lambda value: type(value) is int and 1.6e12 < value < 4e12,
    "ns": lambda value: type(value) is int and 1.6e18 < value < 2**64,
    "bool": lambda value: type(value) is bool,
    "str": lambda value: isinstance(value, str),
    "null": lambda value: value is None,
    "uuid": matches(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
    "iso": matches(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
    "b64": matches(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"),
    "hex": matches(r"[0-9a-f]+"),
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
