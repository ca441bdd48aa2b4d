"""test_verifier.py - how perpd verifies Ed25519 signatures, as an operator sees it: the path that
crypto.verify names, the tables of keys of sessions, limits of what an address may cost.

    python3 test_verifier.py BUILD [CASE...]
"""
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time

import client
from client import (CREATE_SESSION, OCTETS, PATHS, PLACE_LIMIT, REVOKE_SESSION, Account,
                    Ed25519Key, Perpd, frame, limit_body, payload_of, request_bytes, revoke_body,
                    session_body)
from eip712 import TRANSFER
from harness import Suite, Table, only, perpd_program

suite = Suite("verifier")
USDC = 1_000_000
SHADOW_INTERVAL = 4096  # signatures.md, Verdict audit
WRONG_PRICE = 7781  # planted/verdict.c
# signatures.md, Paths, and whether the lanes are built at all.
NEEDED = {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512ifma", "avx512vbmi",
          "avx512_vbmi2"}
HAS_AVX512 = NEEDED <= set(re.search(r"^flags\s*:(.*)$", pathlib.Path(
    "/proc/cpuinfo").read_text(), re.M)[1].split())


class World:
    def __init__(self, program):
        self.program = program
        self.running = []

    def perpd(self, *options):
        perpd = Perpd(self.program, "--exchange.oracle_max_age_ms=0", *options,
                      *client.SMALL_TABLES)
        self.running.append(perpd)
        return perpd

    def end(self):
        for perpd in self.running:
            perpd.stop(signal.SIGKILL)
            perpd.remove()
        self.running = []


def metrics(perpd):
    """Name, labels included: value."""
    page = perpd.exchange.admin("/metrics").body.decode()
    return {match[1]: int(match[2]) for match in re.finditer(r"^(\S+) (\d+)$", page, re.M)}


def wait_for(perpd, name, want, seconds=client.PATIENCE_S):
    """The value of the metric, as soon as it is the wanted one."""
    until = time.monotonic() + seconds
    while (value := metrics(perpd).get(name)) != want and time.monotonic() < until:
        time.sleep(0.01)
    return value


def rich(exchange):
    done = exchange.set_price(1_000_000)
    assert done["status"] == "request_completed", done
    return Account(exchange, 100_000 * USDC)


def order(account, key, good=True, price=900_000):
    payload = payload_of(PLACE_LIMIT, limit_body(account.id, price, 20), key)
    signature = bytearray(key.sign(payload))
    signature[10] ^= not good
    return request_bytes("POST", PATHS[PLACE_LIMIT], frame(payload, key.public, bytes(signature)),
                         [OCTETS])


def path_of(perpd):
    paths = [name for name, value in metrics(perpd).items()
             if name.startswith("perpd_signature_path{") and value]
    return re.search(r'path="(\w+)"', paths[0])[1] if len(paths) == 1 else paths


@suite.case
def paths(world):
    """Each path takes right signatures and refuses wrong ones; one that the machine has not is
    refused when it is named."""
    table = Table()
    for asked in ("auto", "lanes", "comb", "library"):
        perpd = world.perpd(f"--crypto.verify={asked}")
        if asked == "lanes" and not HAS_AVX512:
            ended = subprocess.run(perpd.arguments(), capture_output=True, text=True, timeout=200,
                                   check=False)
            table.same("lanes: exit code", ended.returncode, 2)
            table.true("lanes: why", "AVX-512" in ended.stderr, ended.stderr)
            continue
        exchange = perpd.start()
        account = rich(exchange)
        used = path_of(perpd)
        table.true(f"{asked}: path", used == asked or asked == "auto", used)
        table.true(f"{asked}: log", f"path={used}" in perpd.log(), perpd.log())
        if asked != "library":
            wait_for(perpd, "perpd_key_tables", 3)  # operator, oracle, session
        for number in range(40):  # each alone, then many at once
            good = number % 4 != 3
            response = exchange.raw(order(account, account.session, good))
            table.same(f"{asked}: order {number}", response.status, 200 if good else 401)
        with exchange.open() as connection:
            connection.send(b"".join(order(account, account.session) for _ in range(37)))
            for number in range(37):
                table.same(f"{asked}: one of many {number}", connection.receive().status, 200)
        tables = metrics(perpd).get("perpd_key_tables")
        table.same(f"{asked}: tables", tables, None if asked == "library" else 3)
        table.same(f"{asked}: differences",
                   metrics(perpd)["perpd_keys_shadow_differences_total"], 0)
        table.same(f"{asked}: exit code", perpd.stop(), 0)
    return table.wrong


@suite.case
def tables(world):
    """A session has a table from a moment after it is made until it is revoked, and again after a
    start; it works before, and other sessions do meanwhile."""
    table = Table()
    perpd = world.perpd("--crypto.verify=comb")
    exchange = perpd.start()
    account = rich(exchange)
    name = "perpd_key_tables"
    table.same("operator, oracle, session", wait_for(perpd, name, 3), 3)
    keys = [Ed25519Key() for _ in range(8)]
    for key in keys:
        made = exchange.ack(CREATE_SESSION, session_body(account.id, key.public), account.master)
        table.same("made", made["message"], "session_created")
        table.same("used at once", exchange.raw(order(account, key)).status, 200)
    table.same("all", wait_for(perpd, name, 11), 11)
    for key in keys[:4]:
        done = exchange.ack(REVOKE_SESSION, revoke_body(account.id, key.public),
                            account.master)
        table.same("revoked", done["message"], "session_revoked")
        table.same("the others", exchange.raw(order(account, keys[5])).status, 200)
    table.same("without the revoked", wait_for(perpd, name, 7), 7)
    for number in (signal.SIGTERM, signal.SIGKILL):
        perpd.stop(number)
        exchange = perpd.start()
        account.exchange = exchange
        table.same(f"after {number.name}", wait_for(perpd, name, 7), 7)
        table.same("works", exchange.raw(order(account, keys[6])).status, 200)
        table.same("a revoked one does not",
                   exchange.raw(order(account, keys[0])).json.get("status"),
                   "rejected_unauthorized")
    return table.wrong


@suite.case
def every_refusal(world):
    """crypto.shadow=rejects: each refused signature is computed again, off the hot path."""
    table = Table()
    perpd = world.perpd("--crypto.verify=comb", "--crypto.shadow=rejects")
    account = rich(perpd.start())
    for _ in range(25):
        table.same("refused", perpd.exchange.raw(order(account, account.session, False)).status,
                   401)
    table.same("looked at", wait_for(perpd, "perpd_keys_shadows_total", 25), 25)
    table.same("alike", metrics(perpd)["perpd_keys_shadow_differences_total"], 0)
    return table.wrong


@suite.case
def wrong_verdicts(world):
    """A fast path that errs (perpd_erring) is found by the library's second look, told, and out
    of use: a right signature that it refused is taken from then on, a wrong one that it took is
    not."""
    table = Table()
    for is_right in (True, False):
        perpd = world.perpd("--crypto.shadow=" + ("rejects" if is_right else "sampled"),
                            "--crypto.verify=comb", "--net.threads=1", "--limits.rate_limits=off")
        perpd.program = str(pathlib.Path(world.program).parent / "tests" / "perpd_erring")
        account = rich(perpd.start())
        name = "perpd_keys_shadow_differences_total"
        table.same("an order that nothing errs about",
                   perpd.exchange.raw(order(account, account.session)).status, 200)
        with perpd.exchange.open() as connection:
            # The sample is drawn: 20 intervals miss it once in 5 * 10^8 runs.
            for turn in range(1 if is_right else 20 * SHADOW_INTERVAL // 64):
                count = 1 if is_right else 64
                connection.send(b"".join(
                    order(account, account.session, is_right, WRONG_PRICE) for _ in range(count)))
                first = [connection.receive() for _ in range(count)][0]
                if turn == 0:
                    table.same(f"{is_right}: what it says", first.status, 401 if is_right else 200)
                if turn % 16 == 15 and metrics(perpd)[name]:
                    break
        # A batch that is verified while the first is found may hold another of the sample.
        while not (found := metrics(perpd)[name]):
            time.sleep(0.01)
        table.true(f"{is_right}: differences", found == 1 or found > 1 and not is_right, found)
        table.same(f"{is_right}: path", path_of(perpd), "library")
        table.true(f"{is_right}: log", "signatures are verified by library" in perpd.log())
        table.same(f"{is_right}: again",
                   perpd.exchange.raw(order(account, account.session, is_right,
                                            WRONG_PRICE)).status, 200 if is_right else 401)
        table.same(f"{is_right}: exit code", perpd.stop(), 0)
    return table.wrong


@suite.case
def two_paths(world):
    """T9: what is no order has a good signature by two paths before it is executed. A transfer that
    nobody signed and that the fast path calls good (perpd_erring) moves nothing and is told."""
    table = Table()
    perpd = world.perpd("--crypto.verify=comb", "--limits.rate_limits=off")
    perpd.program = str(pathlib.Path(world.program).parent / "tests" / "perpd_erring")
    account = rich(perpd.start())
    seconds, differences = "perpd_net_second_verdicts_total", "perpd_net_second_differences_total"
    before = metrics(perpd)
    table.true("price, account, session, deposit", before[seconds] >= 4, before[seconds])
    table.same("an order", perpd.exchange.raw(order(account, account.session)).status, 200)
    table.same("is verified once", metrics(perpd)[seconds], before[seconds])
    thief = Ed25519Key()
    payload = payload_of(TRANSFER, struct.pack("<QIIQIIQ", account.id, 0, 0, account.id, 0, 1,
                                               7 * USDC), thief)
    forged = request_bytes("POST", "/api/v1/cash/transfer",
                           frame(payload, account.session.public, thief.sign(payload)), [OCTETS])
    table.same("forged", perpd.exchange.raw(forged).json["status"], "retry_required")
    table.same("told", (metrics(perpd)[seconds], metrics(perpd)[differences]),
               (before[seconds] + 1, before[differences] + 1))
    table.same("the path is dropped",
               wait_for(perpd, "perpd_keys_shadow_differences_total", 1), 1)
    table.same("path", path_of(perpd), "library")
    table.true("log", thief.sign(payload).hex() not in perpd.log()
               and account.session.public.hex() in perpd.log(), perpd.log())
    table.same("refused from then on", perpd.exchange.raw(forged).status, 401)
    # Nobody is left to judge the library: what is worth more than an order waits for a sound start.
    done = perpd.exchange.raw(request_bytes(
        "POST", "/api/v1/cash/transfer", frame(payload, account.session.public,
                                               account.session.sign(payload)), [OCTETS]))
    table.same("by one path alone", done.json["status"], "retry_required")
    table.same("orders go on", perpd.exchange.raw(order(account, account.session)).status, 200)
    table.same("exit code", perpd.stop(), 0)
    return table.wrong


@suite.case
def limits(world):
    """R11, W8: unknown keys and wrong signatures of an address, 429 above their rates; whoever
    signs rightly goes on. The rates are those of one network thread."""
    table = Table()
    perpd = world.perpd("--net.threads=1", "--limits.unknown_key_rate=5",
                        "--limits.bad_signature_rate=10")
    exchange = perpd.start()
    account = rich(exchange)
    shown = exchange.get("/api/v1/exchange").json["limits"]
    table.same("shown", (shown["unknown_key_rate"], shown["bad_signature_rate"],
                         shown["rate_limits"]), (5, 10, True))
    with exchange.open() as trader, exchange.open() as stranger, exchange.open() as forger:
        def send(connection, key, good=True):
            connection.send(order(account, key, good))
            return connection.receive()

        table.same("trader", send(trader, account.session).status, 200)
        def send_all(connection, orders):
            """At once, so that the time between them is the server's alone."""
            connection.send(b"".join(orders))
            return [connection.receive() for _ in orders]

        seen = send_all(stranger, [order(account, Ed25519Key()) for _ in range(30)])
        table.true("strangers verified", 3 <= sum(r.status == 200 for r in seen) <= 15,
                   [r.status for r in seen])
        table.problem("a stranger too many", seen[-1], 429, "rate_limited")
        table.true("when again", 0 < seen[-1].json["retry_after_ms"] <= 200, seen[-1])
        seen = send_all(forger, [order(account, account.session, False) for _ in range(60)])
        table.true("forgeries verified", 10 <= sum(r.status == 401 for r in seen) <= 40,
                   [r.status for r in seen])
        # The last one may find a token again where the server takes seconds for them.
        refused = [answer for answer in seen if answer.status != 401] or seen
        table.problem("a forgery too many", refused[-1], 429, "rate_limited")
        table.same("trader meanwhile", send(trader, account.session).status, 200)
        time.sleep(1.2)
        table.same("forger, rightly, later", send(forger, account.session).status, 200)
        table.same("stranger later", send(stranger, Ed25519Key()).json["status"],
                   "rejected_unauthorized")
    table.true("counted", metrics(perpd)["perpd_net_rate_limited_total"] >= 40)
    perpd = world.perpd("--limits.rate_limits=off", "--limits.unknown_key_rate=1")
    account = rich(perpd.start())
    for _ in range(20):
        table.same("off", perpd.exchange.raw(order(account, Ed25519Key())).status, 200)
    return table.wrong


if __name__ == "__main__":
    world = World(perpd_program())
    try:
        sys.exit(suite.run(world, only()))
    finally:
        world.end()
