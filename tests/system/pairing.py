"""pairing.py - device pairing from outside (wire.md W7, json.md J3, interface.md): each step once,
each refusal by its code, and the attacks on it: another account, a wrong token, one too many."""
import base64
import calendar
import json
import threading
import time

from client import JSON, b64, new_id, id_text, request_bytes
from harness import Table

PATH = "/api/v1/device-pairing"
POINT = bytes.fromhex(  # the generator of P-256 (SP 800-186, 3.2.1.3)
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
SESSION = bytes(range(32))
DEPOSIT = {"ecdh_pub": b64(POINT), "session_pub": b64(SESSION)}


def device(key):
    return ("X-DEVICE-KEY", key)


def bearer(token):
    return ("Authorization", f"Bearer {token}")


def ask(world, method, path, *headers, body=None):
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
    media = [JSON] if body is not None else []
    return world.exchange.kept(request_bytes(method, path, body, [*media, *headers]))


def opened(table, world, key):
    answer = ask(world, "POST", PATH, device(key))
    table.same(f"opened {answer!r}", answer.status, 201)
    table.same("members", sorted(answer.json), ["expires_at", "pairing_id", "write_token"])
    return answer.json


def steps(world, login):
    """W7: POST, PUT, GET, complete, result; each step is done once."""
    table, account = Table(), world.account()
    key = login(world, account).json["device_key"]
    begun = time.time()
    made = opened(table, world, key)
    token, path = made["write_token"], f"{PATH}/{made['pairing_id']}"
    table.same("32 bytes", len(base64.b64decode(token)), 32)
    until = time.strptime(made["expires_at"][:19], "%Y-%m-%dT%H:%M:%S")
    left = calendar.timegm(until) - begun
    table.true("120 s", 118 <= left <= 122, left)
    shown = {"pairing_id": made["pairing_id"], "status": "PENDING"}
    nothing = {"ecdh_pub": None, "session_pub": None}
    table.same("pending", ask(world, "GET", path, device(key)).json, {**shown, **nothing})
    table.same("no result", ask(world, "GET", path + "/result", bearer(token)).json,
               {**shown, "ciphertext": None})
    table.problem("too early", ask(world, "POST", path + "/complete", device(key),
                                   body={"ciphertext": "AAAA"}), 409, "pairing_not_deposited")
    shown["status"] = "DEPOSITED"
    table.same("deposit", ask(world, "PUT", path, bearer(token), body=DEPOSIT).json, shown)
    table.problem("deposited", ask(world, "PUT", path, bearer(token), body=DEPOSIT), 409,
                  "pairing_already_used")
    table.same("deposited", ask(world, "GET", path, device(key)).json, {**shown, **DEPOSIT})
    small = ("authorization", f"bearer {token}")  # a scheme compares without case
    table.same("no result yet", ask(world, "GET", path + "/result", small).json,
               {**shown, "ciphertext": None})
    text = b64(bytes(3072))
    table.same("4,096 characters", len(text), 4096)
    shown["status"] = "COMPLETED"
    table.same("complete", ask(world, "POST", path + "/complete", device(key),
                               body={"ciphertext": text}).json, shown)
    table.problem("completed", ask(world, "POST", path + "/complete", device(key),
                                   body={"ciphertext": "AAAA"}), 409, "pairing_already_used")
    table.same("completed", ask(world, "GET", path, device(key)).json, {**shown, **DEPOSIT})
    table.same("result", ask(world, "GET", path + "/result", bearer(token)).json,
               {**shown, "ciphertext": text})
    table.problem("read", ask(world, "GET", path + "/result", bearer(token)), 409,
                  "pairing_already_used")
    return table.wrong


def refusals(world, login):
    """W7, J3: whose it is, which token, what is wrong with a body; the ninth of an account."""
    table, account, other = Table(), world.account(), world.account()
    key, pinned, foreign = (login(world, of, pin=pin).json["device_key"]
                            for of, pin in ((account, -1), (account, 0), (other, -1)))
    made = opened(table, world, key)
    token, path = made["write_token"], f"{PATH}/{made['pairing_id']}"
    lost = f"{PATH}/{id_text(new_id())}"
    text = {"ciphertext": "AAAA"}
    wrong = b64(base64.b64decode(token)[:31] + bytes([base64.b64decode(token)[31] ^ 1]))
    for row, method, target, header, body, status, code in (
            ("no key", "POST", PATH, None, None, 401, "invalid_device_key"),
            ("an API key", "POST", PATH, ("X-API-KEY", account.api_key), None, 401,
             "invalid_device_key"),
            ("a cookie", "POST", PATH, ("Cookie", f"device_key={key}"), None, 401,
             "invalid_device_key"),
            ("no object", "POST", PATH, device(key), b"[]", 400, "malformed_payload"),
            ("no key", "GET", path, None, None, 401, "invalid_device_key"),
            ("the token", "GET", path, bearer(token), None, 401, "invalid_device_key"),
            ("another account", "GET", path, device(foreign), None, 404, "not_found"),
            ("a pin that it has not", "GET", path, device(pinned), None, 404, "not_found"),
            ("unknown", "GET", lost, device(key), None, 404, "not_found"),
            ("no UUID", "GET", PATH + "/x", device(key), None, 400, "invalid_parameter"),
            ("no key", "POST", path + "/complete", None, text, 401, "invalid_device_key"),
            ("another account", "POST", path + "/complete", device(foreign), text, 404,
             "not_found"),
            ("no token", "PUT", path, None, DEPOSIT, 401, "invalid_token"),
            ("the device key", "PUT", path, device(key), DEPOSIT, 401, "invalid_token"),
            ("another token", "PUT", path, bearer(wrong), DEPOSIT, 401, "invalid_token"),
            ("a short token", "PUT", path, bearer(token[:40]), DEPOSIT, 401, "invalid_token"),
            ("basic", "PUT", path, ("Authorization", f"Basic {token}"), DEPOSIT, 401,
             "invalid_token"),
            ("unknown", "PUT", lost, bearer(token), DEPOSIT, 404, "not_found"),
            ("another token", "GET", path + "/result", bearer(wrong), None, 401, "invalid_token"),
            ("no UUID", "GET", PATH + "/x/result", bearer(token), None, 400, "invalid_parameter"),
            ("unknown", "GET", lost + "/result", bearer(token), None, 404, "not_found")):
        answer = ask(world, method, target, *([header] if header else []), body=body)
        table.problem(f"{row}: {method} {target}", answer, status, code)
    bodies(table, world, path, token, key)
    table.same("still pending", ask(world, "GET", path, device(key)).json["status"], "PENDING")
    for _ in range(7):
        opened(table, world, key)
    ninth = ask(world, "POST", PATH, device(pinned))
    table.problem("the ninth", ninth, 429, "rate_limited")
    left = ninth.json["retry_after_ms"]
    table.true("until the first expires", 60_000 <= left <= 120_000, left)
    table.same("Retry-After", ninth.header("retry-after"), str(-(-left // 1000)))
    opened(table, world, foreign)
    return table.wrong


def bodies(table, world, path, token, key):
    """Bodies of the wrong form change nothing."""
    off = POINT[:64] + bytes([POINT[64] ^ 1])
    for row, member, value in (
            ("off the curve", "ecdh_pub", b64(off)), ("all zero", "ecdh_pub", b64(bytes(65))),
            ("hybrid", "ecdh_pub", b64(b"\7" + POINT[1:])), ("compressed", "ecdh_pub",
                                                             b64(b"\3" + POINT[1:33])),
            ("66 bytes", "ecdh_pub", b64(POINT + b"\0")), ("a number", "ecdh_pub", 4),
            ("null", "session_pub", None), ("31 bytes", "session_pub", b64(SESSION[:31])),
            ("33 bytes", "session_pub", b64(SESSION + b"\0")),
            ("URL-safe", "session_pub", base64.urlsafe_b64encode(b"\xff" * 32).decode()),
            ("no padding", "session_pub", b64(SESSION).rstrip("="))):
        answer = ask(world, "PUT", path, bearer(token), body={**DEPOSIT, member: value})
        table.problem(row, answer, 400, "malformed_payload", field=member)
    for member in DEPOSIT:
        body = {name: value for name, value in DEPOSIT.items() if name != member}
        table.problem(f"no {member}", ask(world, "PUT", path, bearer(token), body=body), 400,
                      "malformed_payload", field=member)
    for row, text in (("none", None), ("empty", ""), ("4,100 characters", "AAAA" * 1025),
                      ("not Base64", "AAA*")):
        answer = ask(world, "POST", path + "/complete", device(key), body={"ciphertext": text})
        table.problem(row, answer, 400, "malformed_payload", field="ciphertext")
    for target, header, method in ((path, bearer(token), "PUT"), (PATH, device(key), "POST"),
                                   (path + "/complete", device(key), "POST")):
        for row, data, media, status, code in (
                ("broken", b"{", JSON, 400, "malformed_payload"),
                ("text", b"{}", ("Content-Type", "text/plain"), 415, "unsupported_media_type"),
                ("long", b" " * 8193, JSON, 413, "payload_too_large")):
            answer = world.exchange.raw(request_bytes(method, target, data, [media, header]))
            table.problem(f"{row} {method} {target}", answer, status, code)
    for target, allow in ((PATH, "POST, OPTIONS"), (path, "GET, PUT, OPTIONS"),
                          (path + "/complete", "POST, OPTIONS"),
                          (path + "/result", "GET, OPTIONS")):
        answer = ask(world, "OPTIONS", target)
        table.same(target, (answer.status, answer.header("allow")), (204, allow))


def races(world, login):
    """Of eight deposits at once one is taken, of eight reads of the result one shows it."""
    table, account = Table(), world.account()
    key = login(world, account).json["device_key"]
    made = opened(table, world, key)
    token, path = made["write_token"], f"{PATH}/{made['pairing_id']}"

    def at_once(method, target, body=None):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(
            ask(world, method, target, bearer(token), body=body).status)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        table.same(f"{method} {target}", sorted(answers), [200] + [409] * 7)

    at_once("PUT", path, DEPOSIT)
    table.ok("complete", ask(world, "POST", path + "/complete", device(key),
                             body={"ciphertext": "AAAA"}))
    at_once("GET", path + "/result")
    return table.wrong


def add_to(suite, login):
    def with_login(case):
        def run(world):
            return case(world, login)
        run.__name__, run.__doc__ = f"pairing_{case.__name__}", case.__doc__
        return run
    for case in (steps, refusals, races):
        suite.case(with_login(case))
