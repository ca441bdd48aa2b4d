"""answers.py - each answer that a suite gets validates against docs/openapi.json.

A suite's exchange shows every request and its answer to Answers; the same members of the same route
and status are looked at a few times only. PERPD_ANSWERS=FILE: they are also written there, as lines
of JSON [pointer to the schema, value], for another validator.
"""
import collections
import json
import os
import pathlib
import re

import schema

DOCUMENT = json.loads((pathlib.Path(__file__).resolve().parents[2] / "docs/openapi.json")
                      .read_text())
ENOUGH = 5
PROBLEM = "#/components/schemas/Problem"


def pattern(path):
    return re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))


def pointer(*steps):
    return "#/" + "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)


class Answers:
    def __init__(self):
        self.wrong, self.routes = [], set()
        self._seen = collections.Counter()
        self._paths = [(pattern(path), path) for path in DOCUMENT["paths"]]
        self._file = os.environ.get("PERPD_ANSWERS")

    def _schema(self, method, target, answer):
        """The pointer to the schema of the answer; None where it has no JSON."""
        media = answer.header("content-type")
        if media not in ("application/json", "application/problem+json"):
            return None
        path = next((path for known, path in self._paths if known.fullmatch(target)
                     and method.lower() in DOCUMENT["paths"][path]), None)
        if path is None:  # every other request gets a problem
            return PROBLEM
        self.routes.add((method, path))
        answers = DOCUMENT["paths"][path][method.lower()]["responses"]
        status = str(answer.status)
        status = status if "content" in answers.get(status, ()) else "default"
        if media not in answers[status]["content"]:
            return f"{method} {path}: {media} of {answer.status} is not in the document"
        return pointer("paths", path, method.lower(), "responses", status, "content", media,
                       "schema")

    def watch(self, exchange):
        """Sees each request that the exchange's raw and kept send from now on."""
        for name in ("raw", "kept"):
            def asked(request, ask=getattr(exchange, name)):
                answer = ask(request)
                self.see(request, answer)
                return answer
            setattr(exchange, name, asked)

    def see(self, request, answer):
        match = re.match(rb"([A-Z]+) (\S*?)(\?\S*)? HTTP/1\.[01]\r\n", request)
        if match is None or not answer.body:
            return
        method, target = match[1].decode(), match[2].decode("latin-1")
        where = self._schema(method, re.sub(r"^http://[^/]*", "", target), answer)
        if where is None:
            return
        if not where.startswith("#"):
            self.wrong.append(where)
            return
        value = answer.json
        members = tuple(value) if isinstance(value, dict) else type(value).__name__
        self._seen[where, answer.status, members] += 1
        if self._seen[where, answer.status, members] > ENOUGH:
            return
        self.wrong += schema.faults(DOCUMENT, {"$ref": where}, value, f"{method} {target}")
        if self._file is not None:
            with open(self._file, "a") as file:
                file.write(json.dumps([where, value]) + "\n")
