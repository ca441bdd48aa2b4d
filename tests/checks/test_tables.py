"""test_tables.py BUILD - from perp-reference --json alone a client packs a request and names its
typed data: the vectors of tests/vectors say the same bytes and the same types. And each rule of
the operator's bodies has a C test that expects it by name, each usual mistake of a client that
signs a request that shows it.
"""
import base64
import functools
import json
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/system"))
import client  # noqa: E402  (the folder comes first)
import mistakes  # noqa: E402

TABLES = json.loads(subprocess.run([BUILD / "perp-reference", "--json"], capture_output=True,
                                   text=True, check=True).stdout)
REQUESTS = {row["name"]: row for row in TABLES["requests"]}
KINDS = {row["kind"]: row for row in TABLES["kinds"]}


def check(good, *what):
    if not good:
        sys.exit(f"failed: {what}")


def vectors(name):
    path = SOURCE / "tests/vectors/perpd" / name
    return [row for row in json.loads(path.read_text())["vectors"] if row["valid"]]


def pack(fields, body_bytes, values):
    body = bytearray(body_bytes)
    for field in fields:
        value = values.get(field["name"], 0)
        if field["kind"] == "portfolio":
            account, subaccount, portfolio = value
            raw = (account.to_bytes(8, "little") + subaccount.to_bytes(4, "little") +
                   portfolio.to_bytes(4, "little"))
        else:
            raw = value.to_bytes(field["size"], "little", signed=value < 0)
        body[field["offset"]:field["offset"] + field["size"]] = raw
    return bytes(body)


# wire.md W4, the order of the Vectors.
order = REQUESTS["place_limit_order"]
values = {"portfolio_id": (7, 0, 0), "price": 1_000_000, "quantity": -50_000,
          "expiry": 2**64 - 1, "post_only": 1, "asset": 1}
payload = (bytes([1, 0]) + order["code"].to_bytes(2, "little") + bytes(4) +
           bytes.fromhex("0198c0de0000700080000000000000a1") +
           pack(order["fields"], order["body_bytes"], values))
wanted = ("AQAAAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAAAAAAAAAAAAEBCDwAAAAAAsDz/////////////////"
          "/wEAAAABAAAA")
check(base64.b64encode(payload).decode() == wanted, payload.hex())

# Each body is covered byte for byte, and so is the item of a batch.
for row in TABLES["requests"] + [{"name": "item", "body_bytes": 64,
                                  "fields": TABLES["batch_item"]}]:
    at = 0
    for field in row["fields"]:
        check(field["offset"] == at, row["name"], field)
        at += field["size"] or 0
        if field["size"] is not None and KINDS[field["kind"]]["bytes"] is not None:
            check(field["size"] == KINDS[field["kind"]]["bytes"], row["name"], field)
    check(row["body_bytes"] is None or at == row["body_bytes"], row["name"], at)


def camel(words, first):
    head, *tail = words.split("_")
    return (head.capitalize() if first else head) + "".join(word.capitalize() for word in tail)


def members(row):
    """W4's members by the rule: parts of a portfolio id; each field that is no pad or length."""
    yield "action", "string"
    for field in row["fields"]:
        if field["kind"] == "portfolio":
            prefix = "" if field["name"] == "portfolio_id" else field["name"]
            for part, kind in (("account_id", "uint64"), ("subaccount_index", "uint32"),
                               ("portfolio_index", "uint32")):
                yield camel(f"{prefix}_{part}" if prefix else part, False), kind
        elif field["kind"] not in ("pad", "length"):
            yield camel(field["name"], False), KINDS[field["kind"]]["eip712"]
    yield from (("requestId", "string"), ("signedAt", "string"), ("payload", "bytes"))


seen = set()
for vector in vectors("eip712.json"):
    row = next(row for row in TABLES["requests"] if row["code"] == vector["request_type"])
    text = camel(row["name"], True) + "(" + ",".join(
        f"{kind} {name}" for name, kind in members(row)) + ")"
    check(text == vector["encode_type"], text, vector["encode_type"])
    seen.add(row["code"])
check(len(seen) >= 15, seen)
check(TABLES["statuses"][0] == "request_completed" and len(TABLES["statuses"]) == 56)
check({"http": 401, "code": "invalid_signature"} in TABLES["problems"])
check({"method": "GET", "path": "/api/v1/markets/{market}/book", "admin": False, "codes": []} in
      TABLES["routes"])

# The worked signatures of docs/reference.md are those that W4 publishes.
page = (SOURCE / "docs/reference.md").read_text()
for value in (wanted, "MDOYaB3LoxeAoDfi7JgBluJZrLngl/B9omH1yjEviFMI8tE0wk7OT9K6zlbyBIMvhPkZf",
              "45459a89edbad3282de2de53a75ee66f51b8ffc279db19d2bf364610cd1fdabd",
              "4ffadfeb69dd9f0fde48d1f59409f6a12a21ae2622e1050affdd95b762fbde83"):
    check(value in page, value)


@functools.cache
def expected(text):
    """The rules that a C test names: OPERATOR_RULE_x, RULE(x), or the third of a ROW."""
    code = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', "_", text, flags=re.S)
    return set(re.findall(r"\bOPERATOR_RULE_(\w+)|\bRULE\((\w+)\)|\bROW\(_,\s*\w+,\s*(\w+)", code))


def untested(texts):
    """Rules of operator_rule.h that none of the texts names, in its order."""
    named = {name for text in texts for names in expected(text) for name in names}
    return [rule for rule in RULES if rule not in named]


# Each refusal of an operator's body names field and rule (json.md J4): a test expects each rule.
RULES = re.findall(r"^    X\((\w+),", (SOURCE / "src/base/operator_rule.h").read_text(), re.M)
check(len(RULES) == len(TABLES["operator_rules"]), len(RULES), len(TABLES["operator_rules"]))
tests = [path.read_text() for path in sorted((SOURCE / "tests").glob("*/*.c"))]
check(not untested(tests), "rules that no test expects", untested(tests))
for rule in ("record_closed", "fee_maker", "close_notice"):  # one of each way to name it
    gone = [re.sub(rf"(OPERATOR_RULE_|RULE\(|INVALID, ){rule}\b", r"\1none", text)
            for text in tests]
    check(untested(gone) == [rule], rule, untested(gone))
check(untested(['"RULE(pad)" /* RULE(pad) */ RULE(force) ROW("a", INVALID, asset, 1)']) ==
      [rule for rule in RULES if rule not in ("force", "asset")], "text and comments name none")

# Each mistake that a refused signature may be explained by has a request that shows it: those that
# test_signatures.py sends, each expected to be named, and no other one.
text = (SOURCE / "src/crypto/signing_mistake.h").read_text().split("LIST(X)")[1]
named = set(re.findall(r"^    X\((\w+),", text, re.M))
check(len(named) >= 21, named)


def unshown(rows):
    return sorted(named ^ {mistake for _, shown, *_ in rows for mistake in shown})


rows = list(mistakes.made(client.Ed25519Key(), client.Secp256k1Key(), 7, bytes(range(1, 33))))
check(not unshown(rows), "mistakes that no request shows, or that are none", unshown(rows))
for mistake in sorted(named):
    check(mistake in unshown([row for row in rows if mistake not in row[1]]), mistake)
