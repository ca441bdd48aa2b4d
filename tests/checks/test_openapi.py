"""test_openapi.py BUILD - docs/openapi.json is what the tables say, is sound as OpenAPI 3.1, has
each route and no other, and each example of docs/spec/json.md validates.
"""
import copy
import json
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/system"))
import produced  # noqa: E402  (the folder comes first)
from schema import examples, faults  # noqa: E402

TEXT = (SOURCE / "docs/openapi.json").read_text()
DOCUMENT = json.loads(TEXT)
TABLES = json.loads(subprocess.run([BUILD / "perp-reference", "--json"], capture_output=True,
                                   text=True, check=True).stdout)


def check(good, *what):
    if not good:
        sys.exit(f"failed: {what}")


def made(tables):
    return subprocess.run([SOURCE / "tools/openapi"], input=json.dumps(tables), text=True,
                          capture_output=True)


check(made(TABLES).stdout == TEXT, "docs/openapi.json is old: "
      "build/release/perp-reference --json | tools/openapi > docs/openapi.json")
reads = subprocess.run([SOURCE / "tools/reads"], input=TEXT, text=True, capture_output=True,
                       check=True).stdout
check(reads == (SOURCE / "docs/reads.md").read_text(), "docs/reads.md is old: "
      "tools/reads < docs/openapi.json > docs/reads.md")
flow = subprocess.run([SOURCE / "tools/asyncapi"], input=TEXT, text=True, capture_output=True,
                      check=True).stdout
check(flow == (SOURCE / "docs/asyncapi.json").read_text(), "docs/asyncapi.json is old: "
      "tools/asyncapi < docs/openapi.json > docs/asyncapi.json")
# Each status of each route, and each problem code, has a case that produces it.
rows = produced.table()
check(not list(produced.stale(DOCUMENT, rows)), *produced.stale(DOCUMENT, rows))
check(not produced.missing(DOCUMENT, rows), "an answer that no case produces",
      produced.missing(DOCUMENT, rows))
lacking = list(produced.not_received(BUILD, rows))
check(not lacking, *lacking)
ghost = ("-", "-", 200, "request_dropped/-", "net/test_pages.c", "-")
check(len(list(produced.not_received(BUILD, [ghost]))) == 1, "what no program receives is named")
for gone in (("GET", "/api/v1/account", 401, "-"), ("-", "-", 401, "passkey_rp_id"),
             ("-", "-", 204, "-"), ("-", "-", 200, "request_dropped/-"),
             ("POST", "/api/v1/auth/sessions/revoke", 200, "session_rejected/ed25519")):
    left = [row for row in rows if not produced.produces(row, gone)]
    check(gone in produced.missing(DOCUMENT, left), gone)
produced.ABSENT["portfolio_not_empty"] = "/api/v1/nowhere"
without = [row for row in rows if row[3] != "portfolio_not_empty"]
check(not produced.missing(DOCUMENT, without), "an exception")
check(list(produced.stale(DOCUMENT, rows)), "an exception that is produced is seen")
planted = copy.deepcopy(DOCUMENT)
planted["paths"]["/api/v1/nowhere"] = {"post": {"responses": {"201": {}, "default": {}}}}
check({("POST", "/api/v1/nowhere", 201, "-"), ("-", "-", 409, "portfolio_not_empty")}
      <= set(produced.missing(planted, without)), "a route that is built ends its exceptions")
del produced.ABSENT["portfolio_not_empty"]
del planted["paths"]["/api/v1/account"]
check(list(produced.stale(planted, rows)), "a row without its route is seen")
planted = copy.deepcopy(TABLES)
planted["routes"].pop()
check(made(planted).returncode != 0, "a route that is gone is seen")
planted["routes"].append({"method": "GET", "path": "/api/v1/new", "admin": False, "codes": []})
check(made(planted).returncode != 0, "a route that is new is seen")

# Each route is in it, and no other.
routes = {(route["method"].lower(), route["path"]) for route in TABLES["routes"]}
shown = {(method, path) for path, item in DOCUMENT["paths"].items() for method in item}
check(routes == shown, routes ^ shown)


def references(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        value = list(value.values())
    for part in value if isinstance(value, list) else []:
        yield from references(part)


# Structure.
check(re.fullmatch(r"3\.1\.\d", DOCUMENT["openapi"]) and DOCUMENT["info"]["title"] == "perpd")
schemas = DOCUMENT["components"]["schemas"]
there = {f"#/components/{kind}/{name}" for kind in ("schemas", "responses")
         for name in DOCUMENT["components"][kind]}
used = set(references(DOCUMENT))
check(used == there, "components that are used", used ^ there)
names = []
for path, item in DOCUMENT["paths"].items():
    for method, operation in item.items():
        names.append(operation["operationId"])
        parameters = operation.get("parameters", [])
        check({row["name"] for row in parameters if row["in"] == "path"} ==
              set(re.findall(r"{(\w+)}", path)), path)
        check(all(row["required"] for row in parameters if row["in"] == "path"), path)
        check(len({(row["name"], row["in"]) for row in parameters}) == len(parameters), path)
        check({"default"} < set(operation["responses"]) & {"101", "200", "201", "default"}, path)
        check(("requestBody" in operation) == (method != "get" and not path.startswith("/admin/")),
              path, method)
        for row in operation["security"]:
            check(set(row) <= set(DOCUMENT["components"]["securitySchemes"]), path)
        for code in operation.get("x-request-types", []):
            check(str(code) in DOCUMENT["x-request-types"], path, code)
check(len(names) == len(set(names)) and all(re.fullmatch(r"[a-z0-9_]+", name) for name in names))

# The examples of json.md, by the record that their members make them.
seen = 0
for target, pointer, value in examples(DOCUMENT):
    schema = {"$ref": pointer}
    check(faults(DOCUMENT, schema, value) == [], target, faults(DOCUMENT, schema, value))
    if isinstance(value, dict):  # and a member too many, or one too few, is seen
        check(faults(DOCUMENT, schema, {**value, "more": 1}), target)
        check(faults(DOCUMENT, schema, {}), target)
    seen += 1
check(seen >= 18, seen)
