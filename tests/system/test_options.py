"""test_options.py - what an operator sets and what a client sees of it (roles.md,
Configuration): refused options and files, precedence, keys, markets, and a second start.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import client
from client import (CREATE_ACCOUNT, DEPOSIT, ORACLE_PRICE, PLACE_LIMIT, Account, Ed25519Key, Perpd,
                    Secp256k1Key, account_body, b64, deposit_body, id_text, limit_body, new_id,
                    oracle_body)
from harness import Suite, Table, only, perpd_program
from world import seen

suite = Suite("options")
USDC = 1_000_000


class World:
    def __init__(self, program, folder):
        self.program, self.folder = str(program), pathlib.Path(folder)
        self.count = 0

    def fresh(self):
        self.count += 1
        return self.folder / f"data-{self.count}"

    def run(self, *options, environment=None, data=None):
        """Runs perpd until it ends by itself or says ready: (exit code or None, stdout, stderr)."""
        arguments = [self.program, f"--store.data={data or self.fresh()}", *client.SMALL_TABLES]
        for key in ("net", "admin"):
            if not any(option.startswith(f"--{key}.listen") for option in options):
                arguments.append(f"--{key}.listen=127.0.0.1:0")
        process = subprocess.Popen(arguments + list(options), stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.PIPE,
                                   env={**os.environ, **(environment or {})})
        line = process.stdout.readline()
        if line.startswith("ready "):
            process.terminate()
            rest, errors = process.communicate(timeout=200)
            return None, line + rest, errors
        rest, errors = process.communicate(timeout=200)
        return process.returncode, line + rest, errors


@suite.case
def refused_options(world):
    """Unknown keys name the nearest, parts not built and bad values are refused: exit 2."""
    table = Table()
    key = b64(Ed25519Key().public)
    rows = [  # option, what the message must name
        ("--net.lisen=127.0.0.1:0", "net.listen"),
        ("--net.listn=127.0.0.1:0", "net.listen"),
        ("--exchange.operator_keys=" + key, "exchange.operator_key"),
        ("--limits.open_order=5", "limits.open_orders"),
        ("--store.durabilty=none", "store.durability"),
        ("--engine.account=64", "engine.accounts"),
        ("--node.topology=both", "node.topology"),
        ("--net.threads=0", "net.threads"),
        ("--net.threads=33", "net.threads"),
        ("--engine.spin=yes", "engine.spin"),
        ("--engine.core=4096", "engine.core"),
        ("--engine.core=4095", "engine.core"),  # a CPU that no machine of these tests has
        ("--store.durability=replicated", "store.durability"),
        ("--exchange.restart=stage", "exchange.restart"),
        ("--net.tls_certificate=/etc/x.pem", "net.tls_certificate"),
        ("--net.tls_key=/etc/x.pem", "net.tls_key"),
        ("--net.debug_payload=yes", "net.debug_payload"),
        ("--net.cors_origins=page.example", "net.cors_origins"),
        ("--store.snapshot_tail=1M", "store.snapshot_tail"),  # below a segment
        ("--store.archive_keep=0", "store.archive_keep"),
        ("--store.archive_keep=never", "store.archive_keep"),
        ("--exchange.testnet=yes", "exchange.testnet"),
        ("--exchange.passkey_rp_id=x", "exchange.passkey_origins"),
        ("--exchange.passkey_rp_id=X", "exchange.passkey_rp_id"),
        ("--exchange.passkey_rp_id=localhost", "exchange.testnet"),
        ("--exchange.passkey_origins=https://x.example", "exchange.passkey_rp_id"),
        ("--limits.rate_limits=maybe", "limits.rate_limits"),
        ("--limits.unknown_key_rate=0", "limits.unknown_key_rate"),
        ("--limits.signature_rate=0", "limits.signature_rate"),
        ("--crypto.verify=openssl", "crypto.verify"),
        ("--crypto.shadow=all", "crypto.shadow"),
        ("--limits.total_rate=63", "limits.total_rate"),
        ("--limits.read_rate=0", "limits.read_rate"),
        ("--limits.portfolios=0", "limits.portfolios"),
        ("--limits.stream_backlog=9M", "limits.stream_backlog"),
        ("--net.listen=nowhere", "net.listen"),
        ("--net.listen=127.0.0.1", "net.listen"),
        ("--net.listen=127.0.0.1:65536", "net.listen"),
        ("--net.listen=127.0.0.1:-1", "net.listen"),
        ("--net.listen=", "net.listen"),
        ("--net.listen=0.0.0.0:0", "net.allow_plain"),  # plain HTTP beyond loopback
        ("--net.hosts=exchange.example:443", "net.hosts"),
        ("--net.proxy_from=proxy.example", "net.proxy_from"),
        ("--net.proxy_from=127.0.0.1,", "net.proxy_from"),
        ("--admin.listen=192.0.2.1:0", "admin.allow_plain"),
        ("--admin.listen=300.0.0.1:0", "admin.listen"),
        ("--node.topology=fast", "node.topology"),
        ("--node.follower_lag_max=-1", "node.follower_lag_max"),
        ("--store.durability=yes", "store.durability"),
        ("--engine.orders=many", "engine.orders"),
        ("--engine.orders=-1", "engine.orders"),
        ("--engine.orders=0", "engine.orders"),
        ("--engine.orders=1.5", "engine.orders"),
        ("--engine.orders=99999999999999999999", "engine.orders"),
        ("--limits.duplicate_slots=1000", "limits.duplicate_slots"),  # W5: below window * rate
        ("--limits.duplicate_slots=1000000", "limits.total_rate"),  # W5: 45 s of 90,000 a second
        ("--limits.write_rate=10400", "limits.write_rate"),  # W8: 3 * 45 s of it over a third
        ("--limits.duplicate_slots=268435456", "limits.duplicate_slots"),  # W5: to 2^27
        ("--exchange.id=" + "0" * 63, "exchange.id"),
        ("--exchange.id=" + "g" * 64, "exchange.id"),
        ("--exchange.operator_key=AAAA", "exchange.operator_key"),
        ("--exchange.operator_key=" + key[:-1], "exchange.operator_key"),
        ("--exchange.oracle_keys=" + key + ",", "exchange.oracle_keys"),
        ("--exchange.oracle_keys=" + key + ",AAAA", "exchange.oracle_keys"),
        ("--exchange.markets=/nowhere/markets.json", "markets"),
        ("--net.credit_wait_ms", "net.credit_wait_ms"),
        ("--config=/nowhere/perpd.ini", "/nowhere/perpd.ini"),
        ("--config=/", "/: it is not a regular file"),
        ("--config=/dev/zero", "/dev/zero: it is not a regular file"),  # one without an end
        ("--config=/proc/self/mem", "/proc/self/mem: Input/output error"),  # no end
        ("--quiet", "quiet"),
        ("listen", "listen"),
    ]
    for option, named in rows:
        code, out, errors = world.run(option)
        table.same(f"{option}: exit code", code, 2)
        table.true(f"{option} names {named}", named in errors, errors[-300:])
        table.same(f"{option}: stdout", out, "")
    return table.wrong


@suite.case
def configuration_file(world):
    """INI file, environment, flags: precedence flag, environment, file, default."""
    table = Table()
    path = world.folder / "perpd.ini"

    def shown(*options, environment=None):
        done = subprocess.run([world.program, *options, "--print-config"], capture_output=True,
                              text=True, env={**os.environ, **(environment or {})})
        table.same(f"{options}: exit code", done.returncode, 0)
        return done.stdout

    def value(text, section, key):
        if match := re.search(rf"^\[{section}\]\n((?:(?!\[).*\n?)*)", text, re.M):
            if match := re.search(rf"^\s*{key}\s*=\s*(.*?)\s*(?:[;#].*)?$", match[1], re.M):
                return match[1]
        return None

    path.write_text("; a comment\n[limits]\nopen_orders = 77\n[engine]\nmakers_max=512\n")
    file = ("--config", str(path))
    environment = {"PERPD_LIMITS_OPEN_ORDERS": "88"}
    flag = "--limits.open_orders=99"
    for row, text, want in (
            ("default", shown(), "2000"), ("file", shown(*file), "77"),
            ("environment", shown(environment=environment), "88"),
            ("environment before file", shown(*file, environment=environment), "88"),
            ("flag before all", shown(*file, flag, environment=environment), "99"),
            ("flag", shown(flag), "99")):
        table.same(row, value(text, "limits", "open_orders"), want)
    table.same("another key of the file", value(shown(*file), "engine", "makers_max"), "512")
    for row, text, named in (
            ("unknown key", "[limits]\nopen_order = 77\n", "open_orders"),
            ("unknown section", "[limit]\nopen_orders = 77\n", "limits.open_orders"),
            ("no section", "open_orders = 77\n", "open_orders"),
            ("no value", "[limits]\nopen_orders\n", str(path)),
            ("no cluster", "[store]\ndurability = replicated\n", "store.durability"),
            ("a bad value", "[limits]\nopen_orders = lots\n", "limits.open_orders")):
        path.write_text(text)
        code, _, errors = world.run(*file)
        table.same(f"{row}: exit code", code, 2)
        table.true(f"{row} names {named}", named in errors, errors[-300:])
    pipe = world.folder / "pipe.ini"
    os.mkfifo(pipe)
    path.write_text("; 1 MiB\n" + ";" * ((1 << 20) - 8))
    table.same("1 MiB", value(shown(*file), "limits", "open_orders"), "2000")
    large, dead = world.folder / "large.ini", world.folder / "dead.ini"
    large.write_bytes(path.read_bytes() + b";")
    dead.write_bytes(bytes(4096))  # of a file system that lost what was written
    for other, why in ((pipe, "not a regular file"), (large, "larger than 1 MiB"),
                       (dead, "a byte 0")):
        code, _, errors = world.run("--config", str(other))
        table.same(f"{other.name}: exit code", code, 2)
        table.true(f"{other.name}: {why}", why in errors, errors[-300:])
    code, _, errors = world.run(environment={"PERPD_STORE_DURABILITY": "replicated"})
    table.same("environment, replicated", code, 2)
    table.true("environment names it", "store.durability" in errors or
               "PERPD_STORE_DURABILITY" in errors, errors)
    done = subprocess.run([world.program, "--help"], capture_output=True, text=True)
    table.same("--help", done.returncode, 0)
    for key in ("net.listen", "exchange.oracle_keys", "limits.open_orders", "store.durability"):
        table.true(f"--help has {key}", key in done.stdout, done.stdout[:200])
    printed = shown()
    path.write_text(printed)
    again = subprocess.run([world.program, *file, "--print-config"], capture_output=True, text=True)
    bare = [re.sub(r" *;.*", "", text) for text in (again.stdout, printed)]
    table.same("--print-config reads its own output", (again.returncode, bare[0]), (0, bare[1]))
    return table.wrong


@suite.case
def data_directory(world):
    """Exit 3: locked, of another exchange id; private; one line on standard output when ready."""
    table = Table()
    data = world.fresh()
    with Perpd(world.program, f"--store.data={data}", *client.SMALL_TABLES) as first:
        first_id = first.exchange.salt.hex()
        code, out, errors = world.run(data=data)
        table.same("a second perpd", code, 3)
        table.true("says so", re.search("lock|in use|another", errors), errors)
        table.same("and nothing on stdout", out, "")
        table.same("the first goes on", first.exchange.get("/api/v1/time").status, 200)
        table.same("SIGTERM", first.stop(), 0)
        table.same("stdout", first.process.stdout.read(), b"")
    for path in data.iterdir():
        table.same(f"{path.name} is private", oct(path.stat().st_mode & 0o077), oct(0))
    code, _, errors = world.run("--exchange.id=" + "ab" * 32, data=data)
    table.same("another exchange.id", code, 3)
    table.true("names it", "exchange.id" in errors, errors)
    code, _, _ = world.run(f"--exchange.id={first_id}", data=data)
    table.same("its own exchange.id", code, None)
    memory = pathlib.Path(tempfile.mkdtemp(prefix="perpd-options-", dir="/dev/shm"))
    for named, options in ((None, ["--store.allow_memory=on"]), (None, ["--store.durability=none"]),
                           ("store.allow_memory", [])):
        code, _, errors = world.run(*options, data=memory / "data",
                                    environment={"PERPD_STORE_ALLOW_MEMORY": "off"})
        table.same(f"in memory, {options}", code, 3 if named else None)
        table.true("names the way out", not named or named in errors, errors)
        shutil.rmtree(memory / "data")
    memory.rmdir()
    file = data / "exchange"
    good = file.read_bytes()
    for slots in (1, 4):  # one damaged slot is mended, four are the end
        for at in range(0, 4096, 41 * 16):
            broken = bytearray(good)
            for slot in range(slots):
                broken[(at // 656 + slot) % 4 * 4096 + at] ^= 0x10
            file.write_bytes(broken)
            table.same(f"exchange file, byte {at}, {slots} slots", world.run(data=data)[0],
                       None if slots == 1 else 3)
    file.write_bytes(good)
    table.same("and good again", world.run(data=data)[0], None)
    chosen = os.urandom(32).hex()  # another one of the same id may not run beside it
    with Perpd(world.program, f"--exchange.id={chosen}", *client.SMALL_TABLES) as perpd:
        table.same("a chosen id", perpd.exchange.salt.hex(), chosen)
    return table.wrong


@suite.case
def stops_with_open_connections(world):
    """SIGTERM: drains, exits 0 though peers keep connections open; what was answered is there."""
    table = Table()
    with Perpd(world.program, "--exchange.oracle_max_age_ms=0", *client.SMALL_TABLES) as perpd:
        exchange = perpd.exchange
        exchange.set_price(1_000_000)
        account = Account(exchange, 1_000_000 * USDC)
        idle, half = exchange.open(), exchange.open()
        half.send(b"POST /api/v1/tr")
        busy = exchange.open()
        ids = [new_id() for _ in range(50)]
        busy.send(b"".join(exchange.signed(PLACE_LIMIT, limit_body(account.id, 900_000, 20),
                                           account.session, request_id) for request_id in ids))
        first = busy.receive()
        table.same("the first of 50", first.json["status"], "request_completed")
        begun = time.monotonic()
        table.same("exit code", perpd.stop(), 0)
        table.true("soon", time.monotonic() - begun < 60, time.monotonic() - begun)
        answered = 1
        try:
            while True:
                busy.receive()
                answered += 1
        except (EOFError, ConnectionError):
            pass
        for connection in (idle, half):
            table.true("closed", connection.closed(), "stays open")
            connection.close()
        busy.close()
        perpd.process.stdout.close()
        exchange = perpd.start()
        for number, request_id in enumerate(ids[:answered]):
            response = exchange.get(f"/api/v1/orders/{id_text(request_id)}", account.api_key)
            table.same(f"order {number} of {answered}", response.status, 200)
    return table.wrong


@suite.case
def starts_again(world):
    """After SIGTERM and after kill -9: id, accounts, orders, sequence, duplicates are there."""
    table = Table()
    with Perpd(world.program, "--exchange.oracle_max_age_ms=0", *client.LONG_WINDOW,
               *client.SMALL_TABLES) as perpd:
        exchange = perpd.exchange
        salt, epoch = exchange.salt, exchange.get("/api/v1/exchange").json["epoch"]
        exchange.set_price(1_000_000)
        account = Account(exchange, 1_000_000 * USDC, label=b"kept")
        master, request_id = Secp256k1Key(), new_id()
        body = account_body(Ed25519Key().public)
        born = exchange.ack(CREATE_ACCOUNT, body, master, request_id)
        resting, canceled, filled = new_id(), new_id(), new_id()
        ack = account.limit(900_000, 20, resting)
        account.limit(900_000, 20, canceled)
        account.cancel(canceled)
        other = Account(exchange, 1_000_000 * USDC)
        other.limit(1_000_000, -100)
        account.limit(1_000_000, 100, filled)
        balance = "/api/v1/portfolio/balance?subaccount_index=0&portfolio_index=0"
        for number in (signal.SIGTERM, signal.SIGKILL):
            before = {order: account.order(order).json for order in (resting, canceled, filled)}
            money = account.read(balance).json
            shown = exchange.get("/api/v1/markets/BTC-PERP/book").json
            table.same(f"signal {number}", perpd.stop(number),
                       0 if number == signal.SIGTERM else -signal.SIGKILL)
            perpd.process.stdout.close()
            exchange = account.exchange = other.exchange = perpd.start()
            table.same("exchange id", exchange.salt, salt)
            table.same("epoch", exchange.get("/api/v1/exchange").json["epoch"], epoch)  # W9
            for order, record in before.items():
                table.same("order", account.order(order).json, record)
            table.same("balance", account.read(balance).json, money)
            table.same("account", account.read("/api/v1/account").json["label"], "kept")
            again = exchange.get("/api/v1/markets/BTC-PERP/book").json
            for name in ("bids", "asks"):
                table.same(f"book: {name}", again[name], shown[name])
            table.true("book: seq", again["seq"] >= shown["seq"], (again, shown))  # marks raise it
            response = exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20),
                                     account.session, resting)
            table.ack("duplicate", response, "duplicate_request_id", sequenced=False,
                      original_status="request_completed",
                      original_processed_at_ns=ack["processed_at_ns"])
            response = exchange.send(CREATE_ACCOUNT, body, master, request_id)
            table.success("duplicate account", response, False, "duplicate_request_id",
                          sequenced=False, original_status="account_created_with_session",
                          original_processed_at_ns=born["processed_at_ns"],
                          account_id=born["account_id"], session_id=born["session_id"],
                          expires_at=born["expires_at"])
            later = account.limit(900_000, 20)
            table.true("sequence goes on", later["sequence"] > ack["sequence"], later)
            table.true("time goes on", later["processed_at_ns"] > ack["processed_at_ns"], later)
            account.cancel_all(side=1)
            resting = new_id()
            ack = account.limit(900_000, 20, resting)
            audit = exchange.audit()
            table.same("audit", [audit[f"i{index}"] for index in range(1, 7)], [True] * 6)
    return table.wrong


@suite.case
def operator_keys(world):
    """W3a: a treasury key takes 1003 from the operator's; without keys operator codes fail."""
    table = Table()
    treasury, oracles = Ed25519Key(), [Ed25519Key(), Ed25519Key()]
    listed = ",".join(b64(key.public) for key in oracles)
    with Perpd(world.program, f"--exchange.treasury_key={b64(treasury.public)}",
               f"--exchange.oracle_keys={listed}", *client.SMALL_TABLES) as perpd:
        exchange = perpd.exchange
        account = Account(exchange)
        for row, key, status in (("operator", perpd.operator, "rejected_unauthorized"),
                                 ("treasury", treasury, "request_completed")):
            response = exchange.send(DEPOSIT, deposit_body(account.id, USDC), key)
            table.ack(row, response, status, sequenced=None)
        for number, key in enumerate(oracles):
            table.ack(f"oracle {number}", exchange.send(ORACLE_PRICE, oracle_body(1_000_000), key),
                      "request_completed")
        table.ack("treasury on 1000", exchange.send(ORACLE_PRICE, oracle_body(1_000_000), treasury),
                  "rejected_unauthorized", sequenced=None)
    with Perpd(world.program, "--exchange.operator_key=", "--exchange.oracle_keys=",
               *client.SMALL_TABLES) as perpd:
        response = perpd.exchange.send(ORACLE_PRICE, oracle_body(1_000_000), perpd.oracle)
        table.ack("no keys", response, "rejected_unauthorized", sequenced=None)
    return table.wrong


@suite.case
def process_options(world):
    """durability none says so; oracle age; the id window is an engine option."""
    table = Table()
    with Perpd(world.program, "--store.durability=none", "--exchange.oracle_max_age_ms=1500",
               "--exchange.clock_past_ms=3000", *client.SMALL_TABLES) as perpd:
        exchange = perpd.exchange
        shown = exchange.get("/api/v1/exchange").json
        table.same("durability", shown["durability"], "none")
        table.true("loud in the log", re.search(r"warn.*(durab|none)", perpd.log()), perpd.log())
        table.same("window", shown["request_id_window_ms"], {"past": 3000, "future": 5000})
        table.same("a price", exchange.set_price(1_000_000)["status"], "request_completed")
        account = Account(exchange, 1_000 * USDC)

        def placed():
            exchange.set_price(1_000_000)
            return account.limit(900_000, 20)["status"]

        raw = new_id()
        table.same("an order", account.limit(900_000, 20, raw)["status"], "request_completed")
        table.problem("no receipts", account.read(f"/api/v1/requests/{id_text(raw)}/receipt"), 404,
                      "not_found")
        answer = exchange.send(client.PLACE_LIMIT, client.limit_body(account.id, 900_000, 20),
                               account.session, headers=[("X-Ack", "receipt")])
        table.same("nor in an answer", (answer.json["status"], answer.json["receipt"]),
                   ("request_completed", None))

        table.same("fresh", seen(placed, "request_completed"), "request_completed")
        time.sleep(2)
        table.same("stale (R5, row 19)", account.limit(900_000, 20)["status"],
                   "rejected_mark_price_zero")
        table.same("a cancel is free of it", account.cancel_all()["status"], "request_completed")
        old = oracle_body(1_000_000, publish_ns=time.time_ns() - 1_600_000_000)
        table.same("too old to publish", exchange.ack(ORACLE_PRICE, old, exchange.oracle)["status"],
                   "order_rejected_expired")
        ahead = oracle_body(1_000_000, publish_ns=time.time_ns() + 60_000_000_000)
        table.same("too far ahead", exchange.ack(ORACLE_PRICE, ahead, exchange.oracle)["status"],
                   "order_rejected_expired")
        response = exchange.send(PLACE_LIMIT, limit_body(account.id, 900_000, 20), account.session,
                                 new_id(client.now_ms() - 4_000))
        table.problem("4 s old", response, 400, "request_timestamp_out_of_window")
    return table.wrong


@suite.case
def file_of_markets(world):
    """exchange.markets: read for an empty directory (J5), later compared and not applied."""
    table = Table()
    record = {"market": "ONE-PERP", "asset_id": 9, "base": "ONE", "price_decimals": 4,
              "size_decimals": 2, "tick_size": "0.001", "lot_size": "0.01", "min_size": "0.01",
              "max_order_size": "1000000", "min_notional": "10", "impact_notional": "6000",
              "max_leverage": 10, "tiers": [{"upper_notional": None, "max_leverage": 10}],
              "price_band_ppm": 50000, "max_slippage_ppm": 50000,
              "fees": [{"tier": tier, "maker_fee_rate": "0", "taker_fee_rate": "0.0005"}
                       for tier in range(6)], "state": "POST_ONLY"}
    path = world.folder / "markets.json"
    option = f"--exchange.markets={path}"
    path.write_text(json.dumps({"markets": [record]}))
    with Perpd(world.program, option, *client.SMALL_TABLES) as perpd:
        exchange = perpd.exchange
        shown = exchange.get("/api/v1/markets").json["markets"]
        table.same("one market", [market["market"] for market in shown], ["ONE-PERP"])
        table.same("its first state", shown[0]["state"], "POST_ONLY")
        table.same("a whole record", exchange.get("/api/v1/markets/ONE-PERP").json, shown[0])
        exchange.set_price(10_000, 9)
        account = Account(exchange, 1_000 * USDC)
        table.same("POST_ONLY (row 10)", account.limit(10_000, 2_000, asset=9)["status"],
                   "rejected_market_post_only")
        table.same("post-only", account.limit(10_000, 2_000, asset=9, post_only=1)["status"],
                   "request_completed")
        table.same("stop", perpd.stop(), 0)
        # The same file: the members that it leaves out are those that stand, nothing differs.
        begun = len(perpd.log())
        perpd.process.stdout.close()
        perpd.start()
        table.true("the same file", "exchange.markets" not in perpd.log()[begun:],
                   perpd.log()[begun:])
        table.true("no table is full", "rows are used" not in perpd.log(), perpd.log())
        table.same("stop again", perpd.stop(), 0)
        path.write_text(json.dumps({"markets": [{**record, "price_band_ppm": 60000}]}))
        begun = len(perpd.log())
        perpd.process.stdout.close()
        perpd.start()
        shown = perpd.exchange.get("/api/v1/markets/ONE-PERP").json
        table.same("as it was", [shown["price_band_ppm"], shown["state"]], [50000, "POST_ONLY"])
        table.true("reported", re.search(r"ONE-PERP|exchange\.markets", perpd.log()[begun:]),
                   perpd.log()[begun:])
    for row, text in (("no JSON", "{"), ("no list", "{}"), ("an unknown member", json.dumps(
            {"markets": [{**record, "colour": "red"}]})), ("one id twice", json.dumps(
                {"markets": [record, {**record, "market": "TWO-PERP", "base": "TWO"}]})),
                      ("nothing in it", "")):
        path.write_text(text)
        code, out, errors = world.run(option)
        table.same(f"{row}: exit code", code, 2)
        table.true(f"{row}: named", "exchange.markets" in errors or str(path) in errors, errors)
        table.same(f"{row}: stdout", out, "")
    return table.wrong


def main():
    with tempfile.TemporaryDirectory(prefix="perpd-options-") as folder:
        return suite.run(World(perpd_program(), folder), only())


if __name__ == "__main__":
    sys.exit(main())
