"""cluster_types.py - a part of the drill of test_cluster.py: a request of each type that
docs/openapi.json has is executed, its leader dies, and the same bytes go to the next one. It
executes nothing again and answers with the first outcome and the ids of what was made (wire.md W5).
"""
import struct
import time
import types

import client
from client import new_id, portfolio_bytes
from cluster import Rule, until
from every_route import DOCUMENT, operations
from request_body import batch_body, batch_item, conditional_body, portfolio_body, withdraw_body
from soft_passkey import SoftPasskey
from test_accounts import (admin_body, passkey_admin_body, passkey_scoped_body, scoped_body)
from test_keys import login_body
from test_orders import market_record
from world import BTC_PRICE, USDC

FIND_ACCOUNT = 36  # the one type that is never sequenced (R11)
LOW = BTC_PRICE * 8 // 10
for path, operation in operations("post", lambda one: "x-request-types" in one):
    for code in operation["x-request-types"]:
        client.PATHS.setdefault(code, path)


def bodies(account):
    """By code. What is not here is zeros, behind the account where one signs."""
    number, order, session = account.id, account.order, client.Ed25519Key().public
    master, passkey = client.Secp256k1Key(), SoftPasskey()
    return {
        0: client.limit_body(number, LOW, 20), 1: client.reduce_body(number, order, 20),
        2: client.replace_body(number, order, LOW - 10, 30), 3: client.cancel_body(number, order),
        4: client.cancel_all_body(number), 5: client.market_order_body(number, 20),
        6: conditional_body(number, LOW, -20), 7: client.cancel_body(number, order),
        8: batch_body(number, [batch_item(0, LOW, 20, new_id()), batch_item(3, order_id=order)]),
        9: portfolio_bytes(number) + portfolio_bytes(number, 0, 1) + struct.pack("<Q", USDC),
        10: withdraw_body(number, USDC, bytes(range(20))),
        11: client.account_body(session), 12: client.account_body(session),
        13: client.session_body(number, session),
        14: client.revoke_body(number, account.session.public),
        16: admin_body(number, master), 17: admin_body(number, master),
        19: passkey_admin_body(number, passkey), 20: admin_body(number, passkey),
        24: portfolio_body(number, b"Hedge"),
        28: scoped_body(number, master, -1, 0), 29: admin_body(number, master),
        30: passkey_scoped_body(number, passkey, -1, 0), 31: admin_body(number, passkey),
        33: login_body(number), 34: client.api_key_body(number),
        FIND_ACCOUNT: bytes(8), 1000: client.oracle_body(BTC_PRICE),
        1001: client.market_body(market_record()), 1002: client.state_body(1, 0),
        1003: client.deposit_body(number, USDC), 1005: struct.pack("<QB7x", number, 0),
        1006: struct.pack("<Q", USDC), 1007: client.cancel_body(number, order),
        1009: struct.pack("<QB7x", number, 1)}


def key_of(code, signer, account, origin):
    if signer == "operator":
        return origin.oracle if code == client.ORACLE_PRICE else origin.operator
    if signer in ("master", "admin"):
        return account.master
    return {"new_secp256k1": client.Secp256k1Key, "new_passkey": SoftPasskey}.get(
        signer, lambda: account.session)()


def outcome(answer):
    """That of the first execution, whose answer may have been lost."""
    status = answer.get("original_status", answer.get("status", answer.get("message")))
    return status, answer.get("original_processed_at_ns", answer["processed_at_ns"])


def made(answer):
    return {name: value for name, value in answer.items()
            if name in ("account_id", "subaccount_index", "portfolio_index") or
            name.endswith("_id")}


def every_type(world):
    cluster, rule, problems = world.cluster, Rule(world.cluster), []
    exchange = client.Exchange(0, 0, None, None, "")
    exchange._salt = world.salt

    def send(data):
        got = until(lambda: rule.send(data, time.monotonic() + 60), "an answer")
        return got.json if got.status == 200 else {"problem": got}

    def ack(code, body, key, request_id=None):
        return send(exchange.signed(code, body, key, request_id))

    def open_account():
        """With money, and an order."""
        account = types.SimpleNamespace(master=client.Secp256k1Key(), order=new_id(),
                                        session=client.Ed25519Key())
        account.id = ack(client.CREATE_ACCOUNT, client.account_body(account.session.public),
                         account.master)["account_id"]
        ack(client.DEPOSIT, client.deposit_body(account.id, 1000 * USDC), cluster.origin.operator)
        ack(client.PLACE_LIMIT, client.limit_body(account.id, LOW, 50), account.session,
            account.order)
        return account

    rows = {int(code): row for code, row in DOCUMENT["x-request-types"].items()}
    accounts, sent = {code: open_account() for code in rows}, []
    for code, row in rows.items():
        account = accounts[code]
        zeros = bytes(row["body_bytes"] or 0)
        if row["signer"] != "operator":
            zeros = struct.pack("<Q", account.id) + zeros[8:]
        key = key_of(code, row["signer"], account, cluster.origin)
        data = exchange.signed(code, bodies(account).get(code, zeros), key)
        sent.append((f"{code} {row['name']}", code, data, send(data)))
    old = cluster.kill_leader()
    for name, code, data, first in sent:
        again = send(data)
        is_duplicate = again.get("status", again.get("message")) == "duplicate_request_id"
        if "problem" in first or "problem" in again or \
                is_duplicate == (code == FIND_ACCOUNT) or made(again) != made(first) or \
                outcome(again)[:1 + is_duplicate] != outcome(first)[:1 + is_duplicate]:
            problems.append(f"{name}: first {first}, of the next leader {again}")
    old.rejoin()
    done = [name for name, _, _, first in sent
            if first.get("success") or first.get("status") == "request_completed"]
    print(f"cluster: {len(sent)} types of requests sent again to the next leader, "
          f"{len(done)} of them had been completed")
    return problems[:10]
