"""test_restart.py - everything that reads show, before and after perpd is killed or ends, and what
still answers as it did: duplicates, revoked keys, settings, places in the queue.

A read after a start is what it was before, or 503 where rows are no longer kept: never another
page. W: wire.md, R: rules.md, J: json.md.
"""
import json
import signal
import sys
import time

import client
import pairing
from client import (CREATE_API_KEY, CREATE_SESSION, IOC, JSON, PLACE_LIMIT, PLACE_MARKET, REDUCE,
                    REPLACE, REVOKE_ALL, REVOKE_API_KEY, Account, Ed25519Key, Perpd, api_key_body,
                    id_text, limit_body, market_order_body, new_id, payload_of, reduce_body,
                    replace_body, request_bytes, revoke_all_body, revoke_key_body, session_body)
from eip712 import LOGIN
from harness import Suite, Table, only, perpd_program
from world import BTC, BTC_PRICE, ETH, SECOND, USDC, begin_away_from_the_hour

suite = Suite("restart")
DONE = "request_completed"


class World:
    def __init__(self, perpd):
        self.perpd, self.exchange = perpd, perpd.exchange
        for asset, price in ((BTC, BTC_PRICE), (ETH, 300_000)):
            assert self.exchange.set_price(price, asset)["status"] == DONE

    def account(self, usdc=100_000):
        return Account(self.exchange, usdc * USDC)

    def again(self, table, number, *accounts, damage=lambda data: None):
        """Ends perpd by the signal and starts it on the same data, after `damage` to it; accounts
        find the new port."""
        if number == signal.SIGKILL:
            self.perpd.process.kill()
            self.perpd.process.wait()
        else:
            table.same("ends with 0", self.perpd.stop(number), 0)
        self.perpd.process.stdout.close()
        damage(self.perpd.folder / "data")
        self.exchange = self.perpd.start()
        for account in accounts:
            account.exchange = self.exchange


def flip_roots(data):
    """Changes both meta pages of the history's file: where its trees begin."""
    path = data / "history/data.mdb"
    file = bytearray(path.read_bytes())
    for at in (16 + 112, 4096 + 16 + 112):
        file[at] ^= 1
    path.write_bytes(file)


def shown(account, requests):
    """Every read of the account and of its markets, by path."""
    paths = ["/api/v1/orders?limit=1000", "/api/v1/orders?limit=3&offset=2",
             "/api/v1/orders?status=OPEN", "/api/v1/orders?status=CANCELED",
             "/api/v1/orders?market=ETH-PERP", "/api/v1/fills?subaccount_index=0&limit=1000",
             "/api/v1/fills?subaccount_index=0&limit=2&offset=1", "/api/v1/positions",
             "/api/v1/cash/history?subaccount_index=0&limit=1000",
             "/api/v1/portfolio/cash_balances", "/api/v1/subaccounts", "/api/v1/account",
             "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0"]
    paths += [f"/api/v1/markets/{market}/{what}" for market in ("BTC-PERP", "ETH-PERP")
              for what in ("trades", "book", "funding-rates", "liquidations",
                           "ticker", "candles?interval=1m", "candles?interval=1d&start_time=0")]
    paths += ["/api/v1/insurance-fund", "/api/v1/fee-account"]
    paths += [f"/api/v1/requests/{id_text(raw)}" for raw in requests]
    paths += [f"/api/v1/orders/{id_text(raw)}" for raw in requests]
    got = {}
    for path in paths:
        response = account.read(path)
        body = response.json
        # Each second may move the mark, which raises seq (W3c).
        for name in ("seq", "engine_seq", "time_ns", "mark_price"):
            if "/markets/" in path:
                body.pop(name, None)
        got[path] = (response.status, body)
    return got


def same(table, row, before, after):
    """Equal; of a problem the code alone."""
    for path, was in before.items():
        status, body = after[path]
        if status != 200 and was[0] == status:
            table.same(f"{row} {path}", body["code"], was[1]["code"])
        else:
            table.same(f"{row} {path}", (status, body), was)


@suite.case
def reads_survive(world):
    """W5, W10: orders in every state, fills, positions, requests; by kill -9, SIGTERM, kill -9."""
    table = Table()
    it, maker = world.account(), world.account()
    exchange, sent = world.exchange, []

    def send(who, code, body, keep=True):
        raw = new_id()
        response = exchange.send(code, body, who.session, raw)
        if keep:
            sent.append(raw)
        return raw, response.json

    open_order, _ = send(it, PLACE_LIMIT, limit_body(it.id, 900_000, 200))
    first, _ = send(it, PLACE_LIMIT, limit_body(it.id, 950_000, 300))
    second, _ = send(it, PLACE_LIMIT, limit_body(it.id, 950_000, 300))
    send(it, REDUCE, reduce_body(it.id, first, 100))
    send(it, REPLACE, replace_body(it.id, open_order, 910_000, 150, post_only=1))
    maker.limit(1_000_000, -500)
    maker.limit(1_000_100, -500)
    send(it, PLACE_MARKET, market_order_body(it.id, 700))
    send(it, PLACE_LIMIT, limit_body(it.id, 1_000_100, 900))
    send(it, PLACE_LIMIT, limit_body(it.id, 2_000_000, 20))
    send(it, PLACE_LIMIT, limit_body(it.id, 1_000_000, 20, stp=9))
    send(it, PLACE_LIMIT, limit_body(it.id, 280_000, 1_000, asset=ETH))
    gone, _ = send(it, PLACE_LIMIT, limit_body(it.id, 905_000, 20))
    it.cancel(gone)
    short, _ = send(it, PLACE_LIMIT, limit_body(it.id, 905_000, 20,
                                                expiry=time.time_ns() + SECOND))
    maker.limit(950_000, -100, expiry=IOC)
    key = exchange.ack(CREATE_API_KEY, api_key_body(it.id, scope=1), it.session)["api_key"]
    body = json.dumps({"leverage": 7, "market": "BTC-PERP", "portfolio_index": 0,
                       "subaccount_index": 0}).encode()
    table.same("leverage", exchange.raw(request_bytes("PUT", "/api/v1/leverage", body, [
        JSON, ("X-API-KEY", key)])).status, 200)
    until_ns = time.monotonic_ns() + 200 * SECOND
    while it.order(short).json["order_status"] != "EXPIRED" and time.monotonic_ns() < until_ns:
        time.sleep(0.1)
    before = shown(it, sent)
    for row, number in (("killed", signal.SIGKILL), ("ended", signal.SIGTERM),
                        ("killed again", signal.SIGKILL)):
        damaged = row == "killed again"
        world.again(table, number, it, maker, **{"damage": flip_roots} if damaged else {})
        metrics = world.exchange.admin("/metrics").body.decode()
        table.true(f"{row}: the history's state",
                   f"\nperpd_history_damaged {int(damaged)}\n" in metrics and
                   f'\nperpd_alarm{{name="history"}} {int(damaged)}\n' in metrics)
        table.same(f"{row}: the history begins", it.read("/api/v1/status").json[
            "history_from_sequence"], 1)
        same(table, row, before, shown(it, sent))
        table.same(f"{row}: leverage", [record["leverage"] for record in it.read(
            "/api/v1/positions").json], [7])
    exchange = world.exchange
    # The places in the queue: the first still stands before the second.
    maker.limit(950_000, -650, expiry=IOC)  # 500 at 100,010, then 150
    table.same("the queue", [it.order(raw).json["filled_size"] for raw in (first, second)],
               ["0.0015", "0"])
    # A fill after the start goes on in trade_seq.
    newest = it.read("/api/v1/fills?subaccount_index=0&limit=1").json[0]
    known = before["/api/v1/fills?subaccount_index=0&limit=1000"][1][0]
    table.true("trade_seq goes on", newest["trade_seq"] == known["trade_seq"] + 2,
               (newest["trade_seq"], known["trade_seq"]))
    for who in (it, maker):
        who.cancel_all()
    return table.wrong


@suite.case
def outcomes_survive(world):
    """W5: duplicates answer as before the kill; revoked keys and sessions stay revoked.
    W7: pairings are forgotten."""
    table = Table()
    it, exchange = world.account(), world.exchange
    bodies = []
    order = new_id()
    for code, body, raw in (
            (PLACE_LIMIT, limit_body(it.id, 900_000, 200), order),
            (PLACE_LIMIT, limit_body(it.id, 0, 200), new_id()),
            (REDUCE, reduce_body(it.id, order, 50), new_id()),
            (REPLACE, replace_body(it.id, order, 901_000, 100), new_id()),
            (PLACE_MARKET, market_order_body(it.id, 50), new_id())):
        bodies.append((code, body, raw, exchange.ack(code, body, it.session, raw)))
    made = exchange.ack(CREATE_API_KEY, api_key_body(it.id), it.session)
    revoked = bytes.fromhex(made["api_key_id"].replace("-", ""))
    request_35 = new_id()
    done_35 = exchange.ack(REVOKE_API_KEY, revoke_key_body(it.id, revoked), it.session, request_35)
    other, old = world.account(), None
    old = other.session
    exchange.ack(REVOKE_ALL, revoke_all_body(other.id), other.master)
    fresh = Ed25519Key()
    exchange.ack(CREATE_SESSION, session_body(other.id, fresh.public), other.master)
    login = payload_of(LOGIN, it.id.to_bytes(8, "little") + bytes(8) + b"\xff" * 4 + bytes(4),
                       it.session)
    device = exchange.kept(exchange.wrap("/api/v1/login", login, it.session)).json["device_key"]
    for row, number in (("killed", signal.SIGKILL), ("ended", signal.SIGTERM)):
        made_before = pairing.opened(table, world, device)
        path = f"{pairing.PATH}/{made_before['pairing_id']}"
        table.ok(f"{row}: a pairing", exchange.get(path, headers=[pairing.device(device)]))
        world.again(table, number, it, other)
        exchange = world.exchange
        table.problem(f"{row}: a pairing", exchange.get(path, headers=[pairing.device(device)]),
                      404, "not_found")
        table.problem(f"{row}: its token", exchange.get(path + "/result", headers=[
            pairing.bearer(made_before["write_token"])]), 404, "not_found")
        table.ok(f"{row}: a device key", exchange.get("/api/v1/auth/sessions", headers=[
            ("X-DEVICE-KEY", device)]))
        for code, body, raw, first in bodies:
            table.ack(f"{row}: code {code}", exchange.send(code, body, it.session, raw),
                      "duplicate_request_id", sequenced=False, original_status=first["status"],
                      original_processed_at_ns=first["processed_at_ns"])
        table.success(f"{row}: 35", exchange.send(
            REVOKE_API_KEY, revoke_key_body(it.id, revoked), it.session, request_35), False,
            "duplicate_request_id", sequenced=False, original_status=DONE,
            original_processed_at_ns=done_35["processed_at_ns"])
        table.problem(f"{row}: a revoked key", exchange.get("/api/v1/account", made["api_key"]),
                      401, "invalid_api_key")
        table.ok(f"{row}: a live one", it.read("/api/v1/account"))
        body = limit_body(other.id, 900_000, 20)
        table.ack(f"{row}: a revoked session", exchange.send(PLACE_LIMIT, body, old),
                  "rejected_unauthorized", sequenced=None)
        table.ack(f"{row}: a live one", exchange.send(PLACE_LIMIT, body, fresh), DONE)
    it.cancel_all()
    return table.wrong


@suite.case
def another_rules_version(_):
    """The binary of the next rules_version goes on with the rows of this one (operations.md). Rows
    that are lost then it cannot make again: refused, not shown as if there had been none; with a
    copy of the file they are back."""
    table = Table()
    perpd = Perpd(perpd_program(), "--exchange.oracle_max_age_ms=0", *client.SMALL_TABLES)
    try:
        perpd.start()
        world = World(perpd)
        it, maker = world.account(), world.account()
        sent = [new_id() for _ in range(6)]
        for raw in sent:
            it.limit(900_000, 100, raw)
        for raw in sent[:3]:
            it.cancel(raw)
        maker.limit(1_000_000, -500)
        it.limit(1_000_000, 200, expiry=IOC)
        before = shown(it, sent)
        table.same("ends with 0", perpd.stop(), 0)
        file = perpd.folder / "data/history/data.mdb"
        kept = file.read_bytes()
        perpd.program = str(perpd_program().with_name("tests") / "perpd_next")
        for row, number, damage in (
                ("the next one", signal.SIGTERM, lambda data: None),
                ("killed", signal.SIGKILL, lambda data: None),
                ("lost", signal.SIGKILL, lambda data: file.unlink()),
                ("put back", signal.SIGKILL, lambda data: file.write_bytes(kept))):
            if row == "the next one":
                perpd.process.stdout.close()
                world.exchange = it.exchange = maker.exchange = perpd.start()
            else:
                world.again(table, number, it, maker, damage=damage)
            begins = it.read("/api/v1/status").json["history_from_sequence"]
            now = shown(it, sent)
            if row != "lost":
                table.same(f"{row}: the history begins", begins, 1)
                same(table, row, before, now)
                continue
            table.true(f"{row}: the history begins", begins > 1, begins)
            differ = [path for path, answer in now.items() if answer != before[path]]
            table.true(f"{row}: some", f"/api/v1/orders/{id_text(sent[0])}" in differ, differ)
            table.same(f"{row}: each is refused", {now[path][0] for path in differ}, {503})
        table.same("ends with 0", perpd.stop(), 0)
    finally:
        perpd.remove()
    return table.wrong


def run(suite, make_world, *options):
    """Runs the suite on a world made of a fresh perpd with these options, which must then pass its
    audit and stop; the exit code."""
    client.check_vectors()
    begin_away_from_the_hour()
    perpd = Perpd(perpd_program(), "--exchange.oracle_max_age_ms=0", *client.SMALL_TABLES, *options)
    try:
        perpd.start()
        result = suite.run(make_world(perpd), only())
        audit = perpd.exchange.audit()
        if not all(audit[f"i{number}"] for number in range(1, 7)) or audit["recount_differences"]:
            print(f"FAILED audit (R2): {audit}")
            result = 1
        if perpd.stop() != 0:
            print(f"FAILED stop\n{perpd.log()}")
            result = 1
        return result
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    # Ids are taken for ten minutes: a start beside other work, with sanitizers, takes one.
    sys.exit(run(suite, World, "--exchange.clock_past_ms=600000", "--limits.total_rate=2000"))
