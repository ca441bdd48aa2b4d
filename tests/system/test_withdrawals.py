#!/usr/bin/env python3
"""GET /admin/withdrawals (json.md J7, wire.md W7): the rows that code 1004 needs, their filters and
pages, who may ask; and the same over a kill and over a clean stop.

Expected values are the specification's; amounts and destinations are those of the requests."""
import signal
import struct
import sys

import client
from client import PATHS, Account, Perpd, portfolio_bytes
from harness import Table, perpd_program
from world import USDC

OPERATOR = "/api/v1/operator"
PATHS.update({10: "/api/v1/cash/withdraw", 1004: OPERATOR})
PATH = "/admin/withdrawals"
SETTLED, REVERTED = 0, 1
MEMBERS = {"withdrawal_id": "uuid", "account_id": "int", "subaccount_index": "int",
           "portfolio_index": "int", "amount": "dec", "destination": "str",
           "requested_at_ns": "ns", "status": "str", "sequence": "int", "index": "int"}


def withdraw(account, amount, destination):
    body = portfolio_bytes(account.id) + struct.pack("<Q", amount) + destination + bytes(4)
    done = account.exchange.ack(10, body, account.session)
    assert done["status"] == "request_completed", done
    return {"withdrawal_id": done["withdrawal_id"], "account_id": account.id,
            "subaccount_index": 0, "portfolio_index": 0, "amount": f"{amount / USDC:g}",
            "destination": "0x" + destination.hex(), "requested_at_ns": done["processed_at_ns"],
            "status": "pending", "sequence": done["sequence"], "index": 0}


def settle(table, exchange, row, outcome):
    raw = bytes.fromhex(row["withdrawal_id"].replace("-", ""))
    done = exchange.ack(1004, raw + struct.pack("<B7x", outcome), exchange.operator)
    table.same("1004", done["status"], "request_completed")
    row["status"] = "reverted" if outcome == REVERTED else "settled"


def listed(table, exchange, query, limit):
    """All rows of a query, page by page; each page but the last is full."""
    rows, more = [], ""
    while True:
        page = table.ok(PATH, exchange.admin(f"{PATH}?{query}limit={limit}{more}"))
        table.same("members", list(page),
                   ["withdrawals", "next_before_sequence", "next_before_index"])
        rows += page["withdrawals"]
        if page["next_before_sequence"] is None:
            table.same("both null", page["next_before_index"], None)
            return rows
        table.same("a full page", len(page["withdrawals"]), limit)
        more = (f"&before_sequence={page['next_before_sequence']}"
                f"&before_index={page['next_before_index']}")


def check_lists(table, exchange, want):
    for limit in (1, 3, 7, 100):
        table.same(f"all by {limit}", listed(table, exchange, "", limit), want)
        for status in ("pending", "settled", "reverted"):
            some = [row for row in want if row["status"] == status]
            table.same(f"{status} by {limit}", listed(table, exchange, f"status={status}&", limit),
                       some)
    table.same("offset", listed(table, exchange, "offset=2&", 100), want[2:])
    table.same("offset of pending", listed(table, exchange, "status=pending&offset=1&", 100),
               [row for row in want if row["status"] == "pending"][1:])


def check_refusals(table, exchange):
    table.problem("a status that is none", exchange.admin(PATH + "?status=PENDING"), 400,
                  "invalid_parameter", parameter="status")
    table.problem("limit 0", exchange.admin(PATH + "?limit=0"), 400, "invalid_parameter",
                  parameter="limit")
    table.problem("on the public listener", exchange.get(PATH), 404, "not_found")
    page = table.ok("unknown names are ignored", exchange.admin(PATH + "?account_id=1"))
    table.true("they are", len(page["withdrawals"]) > 1, page)


def main():
    table = Table()
    client.check_vectors()
    perpd = Perpd(perpd_program(), *client.SMALL_TABLES)
    try:
        exchange = perpd.start()
        table.same("none", exchange.admin(PATH).json,
                   {"withdrawals": [], "next_before_sequence": None, "next_before_index": None})
        accounts = [Account(exchange, 1000 * USDC) for _ in range(2)]
        rows = [withdraw(accounts[k % 2], (k + 1) * USDC + k * 10_000, bytes([k + 1] * 20))
                for k in range(9)]
        settle(table, exchange, rows[2], SETTLED)
        settle(table, exchange, rows[5], REVERTED)
        settle(table, exchange, rows[8], SETTLED)
        table.same("amount", rows[1]["amount"], "2.01")
        want = rows[::-1]
        table.members("row", exchange.admin(PATH).json["withdrawals"][0], MEMBERS)
        table.same("order", list(exchange.admin(PATH).json["withdrawals"][0]), list(MEMBERS))
        check_lists(table, exchange, want)
        check_refusals(table, exchange)

        perpd.stop(signal.SIGKILL)
        exchange = perpd.start()  # from the journal's first record: memory is made again
        check_lists(table, exchange, want)

        settle(table, exchange, rows[0], REVERTED)
        table.same("stop", perpd.stop(), 0)
        exchange = perpd.start()
        check_lists(table, exchange, want)
        table.true("audit", exchange.audit()["i2"])
    finally:
        perpd.remove()
    for text in table.wrong:
        print("FAILED", text)
    return 1 if table.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
