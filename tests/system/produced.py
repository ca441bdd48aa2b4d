"""produced.py - which case produces which answer of which route.

  produced.py          names the statuses of routes and the problem codes that no case produces
  produced.py FILE...  adds rows for them from what suites wrote with PERPD_PRODUCED=FILE

produced.txt has a row an answer: method, path, status, problem code, suite, case; "-" for none. A
suite fails when a case that it ran did not produce the answers of its rows. Method and path "-" are
of any request. A suite "net/test_x.c" is a program that receives the answer, for answers that need
a fault or a rate that no client can be sure of: test_checks_openapi runs it and looks.

The answers of R11's steps (src/base/rule.h), which net gives in the engine's place, have
STATUS/SCHEME as code: a status without a sequence, and the signature_type of its request, "-" of
programs.
"""
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "produced.txt"
ROOT = HERE.parents[1]
DOCUMENT = ROOT / "docs/openapi.json"

# Problem codes and statuses of routes that are not built, and where those would begin: the first
# route there ends the exception.
ABSENT = {}

# Where an answer is that this step alone can have given: no row of the engine answers without a
# sequence but 0 to 2, and those answer with other statuses on these paths.
STEPS = {
    "not_ready": ("-", "-", "retry_required/-"),
    "revoked_by_session": ("POST", "/api/v1/auth/sessions/revoke", "session_rejected/ed25519"),
    "key_absent": ("POST", "/api/v1/trading/order/place/limit", "rejected_unauthorized/ed25519"),
    "key_of_session_codes": (
        "POST", "/api/v1/auth/sessions/create", "session_rejected/secp256k1"),
    "key_of_key_codes": ("POST", "/api/v1/auth/admin-keys/add",
                         "master_key_rejected_unauthorized/secp256k1"),
    "account_rate": ("-", "-", "rejected_rate_limited/-"),
    "no_credit": ("-", "-", "request_dropped/-"),
}
SCHEMES = ("ed25519", "secp256k1", "passkey")


def operations(document):
    """[(method, compiled path, path)]; those with fewer arguments first."""
    rows = [(method.upper(), re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))), path)
            for path, item in document["paths"].items() for method in item]
    return sorted(rows, key=lambda row: row[2].count("{"))


def unsequenced(body):
    """The status of an acknowledgement without a sequence, or None."""
    if not isinstance(body, dict) or "sequence" in body or "processed_at_ns" not in body:
        return None
    return body.get("status", body.get("message"))


def scheme_of(request):
    """The signature_type of a signed request by name; "-" of one that has none."""
    body = request.partition(b"\r\n\r\n")[2]
    try:
        if body[:1] == b"{":
            body = base64.b64decode(json.loads(body)["payload"])
        return SCHEMES[body[1]]
    except (IndexError, KeyError, ValueError):
        return "-"


class Produced:
    """What the cases of one suite saw."""

    def __init__(self):
        self.rows = set()
        self.case = "-"
        self._operations = operations(json.loads(DOCUMENT.read_text()))

    def watch(self, connections):
        """Sees each request that one of the class sends with `exchange`, and its answer."""
        ask = connections.exchange

        def asked(connection, request):
            answer = ask(connection, request)
            self.see(request, answer)
            return answer
        connections.exchange = asked

    def see(self, request, answer):
        match = re.match(rb"([A-Z]+) (?:http://[^/]*)?(/[^\s?]*)(?:\?\S*)? HTTP/1\.[01]\r\n",
                         request)
        if match is None:
            method = path = "-"
        else:
            method, target = match[1].decode(), match[2].decode("latin-1")
            path = next((path for verb, known, path in self._operations
                         if verb == method and known.fullmatch(target)), "-")
        code = "-"
        if answer.header("content-type") == "application/problem+json":
            code = answer.json.get("code", "-")
        if path == "-":
            method = "-"
        self.rows.add((method, path, answer.status, code, self.case))
        if answer.status == 200 and answer.header("content-type") == "application/json":
            status = unsequenced(answer.json)
            if status is not None:
                self.rows.add((method, path, 200, f"{status}/{scheme_of(request)}", self.case))

    def problem(self, status, code):
        """A problem that a case met some other way."""
        self.rows.add(("-", "-", status, code, self.case))

    def lacking(self, suite, cases):
        """What the table says that these cases produce and they did not."""
        file = os.environ.get("PERPD_PRODUCED")
        if file:
            with open(file, "a") as out:
                for row in sorted(self.rows, key=str):
                    out.write(json.dumps([*row[:4], suite, row[4]]) + "\n")
        return [f"{method} {path} {status} {code}: produced.txt says that {case} produces it"
                for method, path, status, code, by, case in table()
                if by == suite and case in cases
                and (method, path, status, code, case) not in self.rows]


def table():
    rows = [line.split() for line in TABLE.read_text().splitlines() if line[:1] not in ("", "#")]
    return [(method, path, int(status), code, suite, case)
            for method, path, status, code, suite, case in rows]


def listed(name, pattern):
    """The rows of an X-macro list of src/base/problem.h."""
    text = (ROOT / "src/base/problem.h").read_text().split(f"#define {name}(X)")[1]
    return re.findall(pattern, text.split("\n\n")[0])


def steps():
    """[(name, status)] of R11's steps, which net answers by."""
    text = (ROOT / "src/base/rule.h").read_text().split("#define STEP_LIST(X)")[1]
    return re.findall(r'X\("\w+",\s*(\w+),\s*(\w+),', text.split("\n\n")[0])


def needed(document):
    """What a row must produce: (method, path, status, "-"), ("-", "-", status, code), and the
    answers of the steps."""
    rows = [(method.upper(), path, int(status), "-") for path, item in document["paths"].items()
            for method, operation in item.items() for status in operation["responses"]
            if status != "default"]
    absent = {word for word, begin in ABSENT.items()
              if not any(path.startswith(begin) for path in document["paths"])}
    rows += [("-", "-", int(status), code)
             for code, status in listed("PROBLEM_LIST", r"X\((\w+), (\d+)\)")
             if code not in absent]
    for step, status in steps():
        method, path, code = STEPS.get(step, ("-", "-", f"{status}/{step} has no row of STEPS"))
        rows.append((method, path, 200, code if code.startswith(status + "/") else f"step {step}"))
    rows += [("-", "-", int(status), "-")
             for status in listed("HTTP_STATUS_LIST", r"X\((\d+),") if status not in absent]
    return rows


def produces(row, need):
    method, path, status, code = need
    return row[2] == status and path in ("-", row[1]) and method in ("-", row[0]) and (
        code in ("-", row[3]))


def missing(document, rows):
    return [need for need in needed(document) if not any(produces(row, need) for row in rows)]


def stale(document, rows):
    """Rows of routes and programs that are not there, and exceptions that something produces."""
    known = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    for row in rows:
        if row[1] != "-" and row[:2] not in known:
            yield f"{row[0]} {row[1]} is no route"
        if "/" in row[4] and row[3] != "-":
            text = (HERE.parent / row[4]).read_text().replace("\\", "")
            word = row[3].split("/")[0]
            if f'"{word}"' not in text and f"PROBLEM_{word}" not in text:
                yield f"tests/{row[4]} does not name {row[3]}"
        if row[3] in ABSENT:
            yield f"{row[3]} is produced: it is no exception"


def not_received(build, rows):
    """Runs the programs of the table, and names the rows whose answers they did not receive."""
    for suite in sorted({row[4] for row in rows if "/" in row[4]}):
        folder, name = suite.removesuffix(".c").split("/")
        program = f"{build}/tests/test_{folder}_{name.removeprefix('test_')}"
        with tempfile.NamedTemporaryFile() as file:
            done = subprocess.run([program], env={**os.environ, "PERPD_RECEIVED": file.name},
                                  capture_output=True, check=False)
            seen = set(answers_in(file.read()))
        if done.returncode != 0:
            yield f"{suite} failed"
        for method, path, status, code, by, _ in rows:
            if by == suite and (status, code) not in seen:
                yield f"{method} {path} {status} {code}: {suite} does not receive it"


def answers_in(text):
    """(status, problem code or STATUS/-) of each line of PERPD_RECEIVED."""
    for line in text.splitlines():
        status, _, body = line.partition(b" ")
        try:
            body = json.loads(body)
        except ValueError:
            continue
        if isinstance(body, dict):
            word = unsequenced(body)
            yield int(status), body.get("code", "-") if word is None else f"{word}/-"


def add(files):
    """Adds the first row that was seen for each answer that the table lacks."""
    seen = sorted({tuple(json.loads(line)) for file in files
                   for line in pathlib.Path(file).read_text().splitlines()}, key=str)
    rows = table()
    for need in missing(json.loads(DOCUMENT.read_text()), rows):
        row = next((row for row in seen if produces(row, need)), None)
        if row is not None and not any(produces(old, need) for old in rows):
            rows.append(row)
    TABLE.write_text("".join(" ".join(map(str, row)) + "\n" for row in sorted(rows, key=str)))


def main():
    if len(sys.argv) > 1:
        add(sys.argv[1:])
    document, rows = json.loads(DOCUMENT.read_text()), table()
    wrong = list(stale(document, rows))
    wrong += [f"{method} {path} {status} {code}: no case produces it".replace("- - ", "")
              for method, path, status, code in missing(document, rows)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
