"""test_requests.py - GET /api/v1/requests/{id}: every sequenced request of an account is found with
its outcome and what it made; what was not executed is not there.

Expected values are the specification's, the section named beside them. W: wire.md, R: rules.md,
J: json.md.
"""
import sys
import threading

from client import (CANCEL, CANCEL_ALL, CREATE_ACCOUNT, CREATE_API_KEY, CREATE_SESSION, DEPOSIT,
                    IOC, JSON, PATHS, PLACE_LIMIT, PLACE_MARKET, REDUCE, REPLACE, REVOKE_ALL,
                    REVOKE_API_KEY, REVOKE_SESSION, Ed25519Key, Secp256k1Key, account_body,
                    api_key_body, b64, cancel_all_body, cancel_body, deposit_body, envelope,
                    id_text, limit_body, market_order_body, new_id, now_ms, payload_of,
                    reduce_body, replace_body, request_bytes, revoke_all_body, revoke_body,
                    revoke_key_body, session_body)
from harness import Suite, Table
from records import REQUEST, in_order
from world import USDC, World, run

suite = Suite("requests")
REQUESTS = "/api/v1/requests/"


def raw_id(text):
    return bytes.fromhex(text.replace("-", ""))


def found(table, row, response, request_id, name, status, answer, **made):
    """The record of J2: the answer's own sequence and time, a reason, what the request made."""
    record = table.ok(row, response)
    if not record:
        return {}
    types = {"request_id": "uuid", "request_type": "str", "status": "str"}
    if "reason" in made:
        types["reason"] = "str"
    types.update(sequence="int", processed_at_ns="ns")
    for member in made:
        if member != "reason":
            types[member] = "int" if member == "account_id" else "uuid"
    in_order(table, row, [record], types)
    want = {"request_id": id_text(request_id), "request_type": name, "status": status,
            "sequence": answer["sequence"], "processed_at_ns": answer["processed_at_ns"], **made}
    for member, value in want.items():
        table.same(f"{row}: {member}", record.get(member), value)
    shown = response.header("x-sequence") or ""
    table.true(f"{row}: X-Sequence", shown.isdigit() and int(shown) >= answer["sequence"], shown)
    return record


@suite.case
def every_request(world):
    """J2, W5: each code of this binary, completed or refused; success style: its message."""
    table = Table()
    exchange = world.exchange
    assert set(REQUEST) == {"request_id", "request_type", "status", "sequence", "processed_at_ns"}
    master, session, spare = Secp256k1Key(), Ed25519Key(), Ed25519Key()
    sent = []

    def send(name, code, body, key, status="request_completed", **made):
        request_id = new_id()
        answer = table.ok(name, exchange.send(code, body, key, request_id))
        got = answer.get("status", answer.get("message"))
        table.same(f"{name} is answered", got, status)
        for member, value in made.items():
            made[member] = answer.get(member) if value is ... else value
        sent.append((request_id, name, status, answer, made))
        return answer

    born = send("create_account_secp256k1", CREATE_ACCOUNT, account_body(session.public), master,
                "account_created_with_session", account_id=..., session_id=...)
    number = born["account_id"]
    made = send("create_api_key", CREATE_API_KEY, api_key_body(number), session, api_key_id=...)
    key = made["api_key"]
    exchange.ack(DEPOSIT, deposit_body(number, 10_000 * USDC), exchange.operator)
    send("create_session", CREATE_SESSION, session_body(number, spare.public), master,
         "session_created", session_id=...)
    send("create_session", CREATE_SESSION, session_body(number, spare.public), master,
         "session_rejected")  # R11: already a session of this account
    orders = [new_id() for _ in range(4)]

    def place(order_id, status, *arguments, **more):
        answer = exchange.ack(PLACE_LIMIT, limit_body(number, *arguments, **more), session,
                              order_id)
        sent.append((order_id, "place_limit_order", status, answer, {}))
        table.same("placed", answer["status"], status)

    place(orders[0], "request_completed", 900_000, 2_000)
    place(orders[1], "request_completed", 910_000, 2_000)
    place(orders[2], "rejected_invalid_price", 0, 2_000)
    place(orders[3], "rejected_invalid_order_flags", 900_000, 2_000, stp=9)
    for status, body in (
            ("request_completed", reduce_body(number, orders[0], 500)),
            ("rejected_size_not_equal", reduce_body(number, orders[0], 500, expected=1)),
            ("rejected_invalid_portfolio_id", reduce_body(number, orders[0], 1, portfolio=1))):
        send("order_reduction", REDUCE, body, session, status)
    for status, body in (("request_completed", replace_body(number, orders[0], 905_000, 700)),
                         ("rejected_order_not_found", replace_body(number, new_id(), 905_000, 7))):
        send("order_replacement", REPLACE, body, session, status)
    send("place_market_order", PLACE_MARKET, market_order_body(number, 50), session)
    send("place_market_order", PLACE_MARKET, market_order_body(number, 0), session,
         "rejected_size_zero")
    send("order_cancel", CANCEL, cancel_body(number, orders[1]), session)
    send("order_cancel", CANCEL, cancel_body(number, orders[1]), session,
         "rejected_order_not_found")
    send("cancel_all_orders", CANCEL_ALL, cancel_all_body(number), session)
    other = send("create_api_key", CREATE_API_KEY, api_key_body(number, scope=1), session,
                 api_key_id=...)
    send("revoke_api_key", REVOKE_API_KEY, revoke_key_body(number, raw_id(other["api_key_id"])),
         session)
    send("revoke_api_key", REVOKE_API_KEY, revoke_key_body(number, raw_id(other["api_key_id"])),
         session, "order_rejected_invalid")
    send("revoke_session", REVOKE_SESSION, revoke_body(number, spare.public), master,
         "session_revoked")
    send("revoke_session", REVOKE_SESSION, revoke_body(number, spare.public), master,
         "session_rejected")
    send("revoke_all_sessions", REVOKE_ALL, revoke_all_body(number), master, "session_revoked")
    stranger = world.account(0)
    for request_id, name, status, answer, made in sent:
        path = REQUESTS + id_text(request_id)
        found(table, f"{name} {status}", exchange.get(path, key), request_id, name, status, answer,
              **made)
        table.problem(f"{name}: another account", stranger.read(path), 404, "request_not_found")
    return table.wrong


@suite.case
def one_shows_what_was_first(world):
    """W5: a duplicate changes nothing; two accounts may use one id, each finds its own."""
    table = Table()
    exchange, one, two = world.exchange, world.account(), world.account()
    request_id = new_id()
    path = REQUESTS + id_text(request_id)
    first = one.limit(900_000, 20, request_id)
    table.problem("only one's so far", two.read(path), 404, "request_not_found")
    second = exchange.ack(CANCEL, cancel_body(two.id, request_id), two.session, request_id)
    again = one.limit(900_000, 30, request_id)
    table.same("a duplicate", again["status"], "duplicate_request_id")
    found(table, "one's", one.read(path), request_id, "place_limit_order", "request_completed",
          first)
    found(table, "two's", two.read(path), request_id, "order_cancel", "rejected_order_not_found",
          second)
    table.same("either case (J1)", one.read(REQUESTS + id_text(request_id).upper()).json,
               one.read(path).json)
    one.cancel_all()
    found(table, "not what became of the order", one.read(path), request_id, "place_limit_order",
          "request_completed", first)
    return table.wrong


@suite.case
def not_executed(world):
    """W5: what was not sequenced is 404 request_not_found, with X-Sequence."""
    table = Table()
    exchange, account = world.exchange, world.account()

    def missing(row, request_id):
        response = account.read(REQUESTS + id_text(request_id))
        table.problem(row, response, 404, "request_not_found")
        table.true(f"{row}: X-Sequence", (response.header("x-sequence") or "").isdigit(), response)

    missing("never sent", new_id())
    missing("old", new_id(now_ms() - 10**9))
    body = limit_body(account.id, 900_000, 20)
    request_id = new_id()
    payload = payload_of(PLACE_LIMIT, body, account.session, request_id)
    response = exchange.raw(request_bytes("POST", PATHS[PLACE_LIMIT], envelope(
        payload, account.session.public, bytes(64)), [JSON]))
    table.problem("a bad signature", response, 401, "invalid_signature")
    missing("a bad signature", request_id)
    request_id = new_id(now_ms() - 60_000)
    table.problem("too old", exchange.send(PLACE_LIMIT, body, account.session, request_id), 400,
                  "request_timestamp_out_of_window")
    missing("too old", request_id)
    request_id = new_id()
    exchange.ack(PLACE_LIMIT, body, Ed25519Key(), request_id)
    missing("an unknown key", request_id)
    # W5: the account of an operator's command is derived from its key, so it is nobody's.
    request_id = new_id()
    exchange.ack(DEPOSIT, deposit_body(account.id, 1), exchange.operator, request_id)
    missing("an operator's deposit", request_id)
    return table.wrong


@suite.case
def parameters_and_credentials(world):
    """W10: a bad uuid 400, 401 without a key, 405; a pinned key finds what names its subaccount."""
    table = Table()
    exchange, account = world.exchange, world.account()
    request_id = new_id()
    answer = account.limit(900_000, 20, request_id)
    text = id_text(request_id)
    for value in ("x", text[:-1], text + "0", text.replace("-", ""), "{" + text + "}",
                  "g" + text[1:], text[:8] + "_" + text[9:], "%30" * 36):
        response = account.read(REQUESTS + value)
        table.problem(f"id {value:.40}", response, 400, "invalid_parameter")
    for value in ("", text + "/", text + "/x"):
        response = account.read(REQUESTS + value)
        table.true(f"path {value!r}", response.status in (400, 404), response)
    for key in (None, "", "x", b64(bytes(32)), account.api_key[:-1]):
        table.problem(f"key {key!r}", exchange.get(REQUESTS + text, key), 401, "invalid_api_key")
    for method in ("POST", "PUT", "DELETE"):
        table.problem(method, exchange.raw(request_bytes(
            method, REQUESTS + text, b"{}", [JSON, ("X-API-KEY", account.api_key)])), 405,
            "method_not_allowed")
    pinned = exchange.ack(CREATE_API_KEY, api_key_body(account.id, pin=0),
                          account.session)["api_key"]
    found(table, "pinned: its subaccount's", exchange.get(REQUESTS + text, pinned), request_id,
          "place_limit_order", "request_completed", answer)
    request_id = new_id()
    exchange.ack(CREATE_SESSION, session_body(account.id, Ed25519Key().public), account.master,
                 request_id)
    path = REQUESTS + id_text(request_id)
    table.ok("account-wide: found", account.read(path))
    table.problem("pinned: account-wide", exchange.get(path, pinned), 404, "request_not_found")
    request_id = new_id()
    body = limit_body(account.id, 900_000, 20, subaccount=1)
    refused = exchange.ack(PLACE_LIMIT, body, account.session, request_id)
    path = REQUESTS + id_text(request_id)
    found(table, "another subaccount's", account.read(path), request_id, "place_limit_order",
          "rejected_invalid_portfolio_id", refused)
    table.problem("pinned: another subaccount's", exchange.get(path, pinned), 404,
                  "request_not_found")
    account.cancel_all()
    return table.wrong


@suite.case
def found_as_soon_as_answered(world):
    """roles.md: a read begun after an answer shows it, on any connection, of any account."""
    table = Table()
    accounts = [world.account() for _ in range(4)]
    wrong = []

    def work(account):
        for number in range(60):
            request_id = new_id()
            answer = account.limit(900_000 if number % 2 else 1_000_000, 20, request_id,
                                   expiry=IOC)
            response = account.read(REQUESTS + id_text(request_id))
            if response.status != 200 or response.json["sequence"] != answer["sequence"]:
                wrong.append((answer, response))

    threads = [threading.Thread(target=work, args=(account,)) for account in accounts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    table.same("all found", wrong[:3], [])
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(run(suite, World, (), window=()))
