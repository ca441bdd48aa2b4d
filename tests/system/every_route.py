"""every_route.py - each operation of docs/openapi.json answers with each of its statuses (R11's
network steps, json.md J2, J3, J8). The loops go over the document: a new route is asked like the
others, and a status that these rows do not cause needs a case of its own (produced.py names it)."""
import json
import pathlib
import re
import struct

from client import (CREATE_API_KEY, ED25519, JSON, OCTETS, PATHS, Ed25519Key, Secp256k1Key,
                    api_key_body, envelope, frame, header, id_text, new_id, payload_of,
                    request_bytes)
from harness import Table
from request_body import ITEM_CANCEL, batch_body, batch_item, portfolio_body

DOCUMENT = json.loads((pathlib.Path(__file__).resolve().parents[2] / "docs/openapi.json")
                      .read_text())
PLACE = {"subaccount_index": 0, "portfolio_index": 0}
BODIES = {  # good bodies of plain writes; the portfolio is filled in
    "/api/v1/leverage": {**PLACE, "leverage": 3, "market": "BTC-PERP"},
    "/api/v1/portfolio/close": PLACE,
    "/api/v1/portfolio/reopen": PLACE,
    "/api/v1/faucet": {**PLACE, "amount": "1"},
    "/api/v1/portfolio/{portfolio_index}/name": {"subaccount_index": 0, "name": "N"},
    "/portfolio/{portfolio_index}/name": {"subaccount_index": 0, "name": "N"},
}
NOWHERE = {"id": "0198c0de-0000-7000-8000-0000000000a1", "market": "NO-PERP",
           "request_id": "0198c0de-0000-7000-8000-0000000000a1", "request_type": "999"}


def operations(method, wanted):
    return [(path, item[method]) for path, item in DOCUMENT["paths"].items()
            if method in item and wanted(item[method])]


def is_pairing(operation):
    """Its steps follow each other: pairing.py has them."""
    return any(name in row for row in operation["security"]
               for name in ("device_key", "pairing_token")) and not any(
        "api_key" in row for row in operation["security"])


def query_of(operation, **changed):
    """The parameters that the operation must have, and those asked for."""
    values = {row["name"]: row["schema"].get("enum", ["0"])[0] for row in operation["parameters"]
              if row["in"] == "query" and row["required"]}
    values.update(changed)
    return "?" + "&".join(f"{name}={value}" for name, value in values.items()) if values else ""


def names_of(operation):
    return [row["name"] for row in operation["parameters"] if row["in"] == "query"]


def body_of(code):
    if code == 8:  # a batch of one cancel
        return batch_body(0, [batch_item(ITEM_CANCEL, order_id=new_id(), expiry=0)])
    return bytes(DOCUMENT["x-request-types"][str(code)]["body_bytes"])


def signed_writes(world):
    """R11, network thread: 200 for a good signature, whoever made it; 400, 401, 413, 415."""
    table, exchange = Table(), world.exchange
    for path, operation in operations("post", lambda one: "x-request-types" in one):
        code = operation["x-request-types"][0]
        row = DOCUMENT["x-request-types"][str(code)]
        key = (Secp256k1Key() if row["signer"] in ("master", "admin", "new_secp256k1")
               else Ed25519Key())
        PATHS.setdefault(code, path)
        payload = payload_of(code, body_of(code), key)
        parts = payload, key.public, key.sign(payload, exchange.salt)
        answer = exchange.raw(request_bytes("POST", path, envelope(*parts), [JSON]))
        table.same(f"{path} {answer!r}", answer.status, 200)
        wrong = bytes([parts[2][0] ^ 1]) + parts[2][1:]
        answer = exchange.raw(request_bytes("POST", path, frame(*parts[:2], wrong), [OCTETS]))
        table.problem(f"{path}, signature", answer, 401, "invalid_signature")
        answer = exchange.raw(request_bytes("POST", path, frame(*parts)[:-1], [OCTETS]))
        table.problem(f"{path}, length", answer, 400, "malformed_payload")
        answer = exchange.raw(request_bytes("POST", path, b" " * 16_385, [JSON]))
        table.problem(f"{path}, size", answer, 413, "payload_too_large")
        answer = exchange.raw(request_bytes("POST", path, b"{}", [("Content-Type", "text/plain")]))
        table.problem(f"{path}, type", answer, 415, "unsupported_media_type")
    return table.wrong


def reads(world):
    """J2, W7: 200, a bad value, no key, another subaccount than the key's, what is not there; the
    sequence that the answer must show."""
    table, account = Table(), world.account()
    exchange, order = account.exchange, new_id()
    account.limit(900_000, 1000, order)
    pinned = exchange.ack(CREATE_API_KEY, api_key_body(account.id, 0), account.session)["api_key"]
    here = {"id": id_text(order), "request_id": id_text(order), "market": "BTC-PERP",
            "request_type": "15"}
    for path, operation in operations(
            "get", lambda one: "servers" not in one and not is_pairing(one)
            and "101" not in one["responses"]):  # a WebSocket: test_streams.py
        target = re.sub(r"{(\w+)}", lambda match: here[match[1]], path)
        absent = re.sub(r"{(\w+)}", lambda match: NOWHERE[match[1]], path)
        names, query = names_of(operation), query_of(operation)
        table.same(path, account.read(target + query).status, 200)
        for least, status in (("1", 200), ("-1", 400)):
            answer = exchange.get(target + query, account.api_key, [("X-Min-Sequence", least)])
            table.same(f"{path}, from sequence {least}", answer.status, status)
        if "401" in operation["responses"]:
            bad = [("X-API-KEY", "A" * 43 + "=")]
            table.problem(f"{path}, key", exchange.get(target + query, headers=bad), 401,
                          "invalid_api_key")
        if "400" in operation["responses"]:
            bad = target + query_of(operation, **{names[0]: "x"}) if names else (
                path.partition("{")[0] + "x")
            table.same(f"{path}, bad value", account.read(bad).status, 400)
        if "403" in operation["responses"]:
            other = target + query_of(operation, subaccount_index=1)
            table.problem(f"{path}, pin", exchange.get(other, pinned), 403,
                          "subaccount_not_permitted")
        if "404" in operation["responses"]:
            gone = absent + (query_of(operation, portfolio_index=9) if absent == path else query)
            table.same(f"{path}, not there", account.read(gone).status, 404)
    return table.wrong


def plain_writes(world):
    """J3: each refusal of each plain write; the POSTs that write nothing refuse such bodies."""
    table, account = Table(), world.account()
    exchange = account.exchange
    key = exchange.ack(CREATE_API_KEY, api_key_body(account.id, scope=1),
                       account.session)["api_key"]
    account.limit(900_000, 1000)

    def send(method, path, body, media="application/json", by=key, portfolio=0):
        target = path.replace("{portfolio_index}", str(portfolio))
        headers = [("Content-Type", media)] + ([("X-API-KEY", by)] if by else [])
        return exchange.raw(request_bytes(method, target, body, headers))

    for method in ("put", "post", "patch"):
        for path, operation in operations(
                method, lambda one: "x-request-types" not in one and "servers" not in one
                and not is_pairing(one)):
            verb, statuses = method.upper(), operation["responses"]
            rows = [("413", b" " * 16_385, "application/json", key),
                    ("415", b"{}", "text/plain", key), ("400", b"{", "application/json", key)]
            good = BODIES.get(path)
            if good is not None:
                text = json.dumps(good).encode()
                rows += [("401", text, "application/json", None),
                         ("403", text, "application/json", account.api_key)]
            for status, body, media, by in rows:
                if status in statuses:
                    answer = send(verb, path, body, media, by)
                    table.same(f"{verb} {path}: {answer!r}", answer.status, int(status))
            if good is not None:
                lost = json.dumps({**good, "portfolio_index": 9} if "portfolio_index" in good
                                  else good).encode()
                table.problem(f"{verb} {path}, not there", send(verb, path, lost, portfolio=9), 404,
                              "portfolio_not_found")
    states(table, world, account, send)
    return table.wrong


def states(table, world, account, send):
    """J3: 409 by the state of a portfolio; 200 beside it."""
    exchange = world.exchange

    def plain(path, status, code=None, **more):
        body = {**BODIES[path], **more}
        verb = {"/api/v1/leverage": "PUT"}.get(path, "PATCH" if "name" in path else "POST")
        answer = send(verb, path, json.dumps(body).encode(), portfolio=1)
        if code is None:
            table.same(f"{path}: {answer!r}", answer.status, status)
        else:
            table.problem(f"{path} {more}", answer, status, code)

    PATHS.update({22: "/api/v1/subaccounts/create", 23: "/api/v1/subaccounts/close"})
    plain("/api/v1/portfolio/close", 409, "portfolio_not_empty")
    plain("/api/v1/portfolio/reopen", 409, "portfolio_not_closed")
    plain("/api/v1/faucet", 200)
    plain("/api/v1/faucet", 409, "faucet_limit_exceeded", amount="100000")
    plain("/api/v1/leverage", 200)
    made = exchange.ack(24, portfolio_body(account.id, b"Hedge"), account.session)
    table.same("a portfolio", made.get("portfolio_index"), 1)
    plain("/api/v1/portfolio/{portfolio_index}/name", 200)
    plain("/portfolio/{portfolio_index}/name", 200)
    plain("/api/v1/portfolio/close", 200, portfolio_index=1)
    for path in ("/api/v1/portfolio/close", "/api/v1/leverage", "/api/v1/faucet"):
        plain(path, 409, "portfolio_not_active", portfolio_index=1)
    plain("/api/v1/portfolio/reopen", 200, portfolio_index=1)
    made = exchange.ack(22, struct.pack("<Q", account.id), account.master)
    table.same("a subaccount", made.get("subaccount_index"), 1)
    plain("/api/v1/portfolio/close", 200, subaccount_index=1)
    done = exchange.ack(23, struct.pack("<QI4x", account.id, 1), account.master)
    table.same("it is closed", done["status"], "request_completed")
    plain("/api/v1/portfolio/reopen", 409, "subaccount_not_active", subaccount_index=1)


def admin(world):
    """J7: the pages of admin.listen; a token where the document asks for one, bad parameters."""
    table, exchange = Table(), world.exchange
    from client import Connection

    def ask(target, headers, method="GET"):
        with Connection(exchange.admin_port) as connection:
            body = b"{}" if method == "POST" else None
            return connection.exchange(request_bytes(method, target, body, headers))

    for path, operation in operations("post", lambda one: "servers" in one):
        table.true(f"POST {path} names 401", "401" in operation["responses"], operation)
        table.problem(f"POST {path}, token", ask(path, [JSON], "POST"), 401,
                      "invalid_token")
    for target in ("/admin/handover", "/admin/handover?upgrade=1"):  # J7: without cluster.name
        table.problem(target, ask(target, [exchange.bearer, JSON], "POST"), 404, "not_found")
    for path, operation in operations("get", lambda one: "servers" in one):
        until = 200
        needed = [f"{one['name']}={one['schema'].get('minimum', 0)}"
                  for one in operation.get("parameters", ())
                  if one["in"] == "query" and one.get("required")]
        target = path + "?" * bool(needed) + "&".join(needed)
        while (answer := ask(target, [exchange.bearer])).status == 503 and until:
            until -= 1
        if path == "/admin/cluster":  # J7: without cluster.name
            table.problem(path, answer, 404, "not_found")
        else:
            table.same(path, answer.status, 200)
        if "401" in operation["responses"]:
            table.problem(f"{path}, token", ask(path, []), 401, "invalid_token")
        if "400" in operation["responses"]:
            table.same(f"{path}, bad value",
                       ask(f"{path}?{names_of(operation)[0]}=x", [exchange.bearer]).status, 400)
    return table.wrong


def add_to(suite):
    for case in (signed_writes, reads, plain_writes, admin):
        suite.case(case)
