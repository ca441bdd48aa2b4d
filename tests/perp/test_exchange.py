"""test_exchange.py BUILD - perp and perpd together: an account from its keys to its fills, every
read, and a restart in between. Figures are worked by hand from the rules."""
import json
import pathlib
import re
import signal
import subprocess
import sys

from fake import Perp, check

build = pathlib.Path(sys.argv[1])
perp = Perp(build)
config = perp.folder / ".config/perp/config"


def public(name, curve="ed25519"):
    return json.loads(perp.run("keys", "new", curve, name, "-o", "json").stdout)["public_key"]


class Perpd:
    """perpd on a data directory beside the client's keys."""
    arguments = [build / "perpd", f"--store.data={perp.folder}/data", "--net.listen=127.0.0.1:0",
                 "--admin.listen=127.0.0.1:0", f"--exchange.operator_key={public('operator.key')}",
                 f"--exchange.oracle_keys={public('oracle.key')}", "--exchange.oracle_max_age_ms=0",
                 "--engine.accounts=256", "--engine.portfolios=256", "--engine.orders=4096",
                 "--engine.positions=1024", "--engine.credentials=1024", "--engine.deposits=256",
                 "--engine.ladder_pages=4096", "--limits.duplicate_slots=65536",
                 "--limits.total_rate=1000", "--limits.write_rate=100",
                 "--limits.funding_small=0", "--limits.funding_full=0"]

    def start(self):
        self.process = subprocess.Popen(self.arguments, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline()
        check(line.startswith("ready http://"), line)
        self.url = line.split()[1]

    def end(self, number):
        self.process.send_signal(number)
        code = self.process.wait(60)
        self.process.stdout.close()
        return code


perpd = Perpd()
perpd.start()


def run(*words, code=0, who="a"):
    return perp.run(*words, "--profile", who, "--url", perpd.url, code=code)


def answer(*words, code=0, who="a"):
    done = run(*words, "-o", "json", code=code, who=who)
    return json.loads(done.stdout)


def rejected(*words, who="a"):
    return answer(*words, code=1, who=who)["status"]


def trader(name):
    with open(config, "a", encoding="utf-8") as file:
        file.write(f"[{name}]\nmaster_key = {perp.folder}/{name}.master\n"
                   f"session_key = {perp.folder}/{name}.session\n"
                   f"operator_key = {perp.folder}/operator.key\n"
                   f"oracle_key = {perp.folder}/oracle.key\n")
    account = answer("account", "create", "--save", who=name)["account_id"]
    answer("apikey", "create", "--scope", "READ_WRITE", "--save", who=name)
    answer("deposit", "10000", who=name)
    return account


try:
    config.parent.mkdir(parents=True)
    a, b = trader("a"), trader("b")
    answer("oracle", "BTC-PERP", "100000")
    clock = answer("time")
    check(clock["verdict"] == "ok" and abs(clock["offset_ns"]) < 10**9, clock)

    # Two orders at a price: the second stands behind the first; a reduction keeps its place.
    first = answer("order", "BTC-PERP", "sell", "0.02", "100010", "--ack", "full")
    check((first["order_status"], first["quantity_ahead"], first["best_bid"])
          == ("OPEN", "0", None), first)
    second = answer("order", "BTC-PERP", "sell", "0.03", "100010", "--ack", "binary")
    check((second["order_status"], second["remaining_size"], second["quantity_ahead"])
          == ("OPEN", "0.03", "0.02"), second)
    framed = answer("order", "BTC-PERP", "sell", "0.01", "100030", "--ack", "binary", "--binary")
    check((framed["order_status"], framed["quantity_ahead"]) == ("OPEN", "0"), framed)
    first, second, framed = (one["request_id"] for one in (first, second, framed))
    reduced = answer("amend", "BTC-PERP", first, "--reduce-by", "0.005", "--ack", "full")
    check((reduced["remaining_size"], reduced["quantity_ahead"]) == ("0.015", "0"), reduced)
    check(rejected("amend", "BTC-PERP", first, "--reduce-by", "0.005", "--expected-remaining",
                   "0.02") == "rejected_size_not_equal")

    # The guard of a size that is kept: filled to 0.01 after the read, 0.015 is not put back.
    taken = answer("order", "BTC-PERP", "buy", "0.005", "--market", "--max-slippage", "0.1%",
                   "--ack", "full", who="b")
    check((taken["order_status"], taken["average_price"]) == ("FILLED", "100010"), taken)
    check(rejected("amend", "BTC-PERP", first, "--side", "sell", "--size", "0.015", "--price",
                   "100020", "--expected-remaining", "0.015") == "rejected_size_not_equal")
    moved = answer("amend", "BTC-PERP", first, "--price", "100020", "--ack", "full")
    check((moved["order_status"], moved["remaining_size"], moved["filled_size"])
          == ("PARTIALLY_FILLED", "0.01", "0.005"), moved)
    shown = answer("show", first)
    check((shown["price"], shown["initial_size"], shown["remaining_size"])
          == ("100020", "0.015", "0.01"), shown)
    # A market order further from the mark than the market allows is refused with what to look at.
    done = run("order", "BTC-PERP", "buy", "1", "--market", "--max-slippage", "99%", code=1,
               who="b")
    check("rejected_slippage_exceeds_maximum" in done.stderr and "perp markets" in done.stderr)

    # What the operator is refused names the field and its rule.
    done = run("withdrawal", "settle", first, code=1)
    check("withdrawal_id must be: of a pending withdrawal" in done.stderr, done.stderr)

    # Lists. Seller's orders: newest placing first, all live.
    live = answer("orders", "--open")
    check([row["id"] for row in live] == [framed, second, first], live)
    check([row["id"] for row in answer("orders", "--market", "ETH-PERP")] == [])
    check([row["id"] for row in answer("orders", "--limit", "1", "--before",
                                       f"{live[0]['sequence']}:{live[0]['index']}")] == [second])
    refused, market_order = answer("orders", who="b")
    check(answer("orders", "--status", "FILLED", who="b") == [market_order])
    check((refused["order_status"], refused["order_type"], refused["reason"], refused["price"])
          == ("REJECTED", "MARKET", "rejected_slippage_exceeds_maximum", None), refused)
    check((market_order["order_type"], market_order["price"], market_order["order_status"])
          == ("MARKET", None, "FILLED"), market_order)

    # One trade of 0.005 at 100,010: 500.05 USDC; taker 0.045 % = 0.225023 (rounded up to a
    # micro-USDC), maker 0.015 % = 0.075008.
    [maker], [taker], trades = answer("fills"), answer("fills", who="b"), answer(
        "trades", "BTC-PERP")["trades"]
    check((maker["liquidity"], maker["side"], maker["price"], maker["quantity"], maker["fee"])
          == ("MAKER", "SHORT", "100010", "0.005", "0.075008"), maker)
    check((taker["liquidity"], taker["request_id"], taker["fee"])
          == ("TAKER", market_order["id"], "0.225023"), taker)
    check([(row["price"], row["size"], row["taker_side"], row["trade_seq"]) for row in trades]
          == [("100010", "0.005", "LONG", maker["trade_seq"])], trades)

    # Leverage: shown beside the position, set by a key that writes.
    check([(row["side"], row["size"], row["leverage"]) for row in answer("positions")]
          == [("SHORT", "0.005", 20)])
    check(answer("leverage", "BTC-PERP")["leverage"] == 20)
    check(answer("leverage", "BTC-PERP", "10")["account_id"] == a)
    check(answer("leverage", "BTC-PERP")["leverage"] == 10)
    check(answer("leverage", "ETH-PERP")["leverage"] is None)
    run("leverage", "BTC-PERP", "101", code=3)
    reader = answer("apikey", "create")
    done = run("leverage", "BTC-PERP", "5", "--api-key", reader["api_key"], code=3)
    check("read_only_key" in done.stderr and "READ_WRITE" in done.stderr, done.stderr)

    # Accounts' reads.
    check([row["name"] for row in answer("balances")] == ["Main"])
    check([row["subaccount_index"] for row in answer("subaccounts")] == [0])
    check(answer("request", second)["request_type"] == "place_limit_order")
    check("request_not_found" in run("request", "0198c0de-0000-7000-8000-0000000000a1",
                                     code=3).stderr)
    check(answer("status")["state"] == "ready")
    limits = answer("limits")
    check(limits["limits"]["open_orders"] == 2000 and limits["rate_limits"] is True, limits)
    lines = run("watch", "book", "BTC-PERP", "--count", "1").stdout
    check(len(re.findall(r"ask 100010 x 0\.03$", lines, re.M)) == 1, lines)

    # A kill and a restart: the same again, from the journal.
    perpd.end(signal.SIGKILL)
    run("status", code=4)
    perpd.start()
    check([row["id"] for row in answer("orders", "--open")] == [framed, second, first])
    check(answer("fills") == [maker] and answer("leverage", "BTC-PERP")["leverage"] == 10)

    # Master keys: an admin key and a scoped one that opens sessions of its scope; then both go.
    def masters():
        return [(row["public_key"], row["kind"], row.get("scope"), row.get("subaccount_index"))
                for row in answer("masterkey", "list")["master_keys"]]

    first = masters()
    check(len(first) == 1 and first[0][1:] == ("ADMIN", None, None), first)
    second_key, scoped = public("second.master", "secp256k1"), public("scoped.master", "secp256k1")
    check(answer("masterkey", "add", second_key)["message"] == "master_key_added")
    check(answer("masterkey", "add", "scoped.master", "--scope", "TRADING_ONLY", "--pin", "0")[
        "message"] == "master_key_added")
    check(masters() == first + [(second_key, "ADMIN", None, None),
                                (scoped, "SCOPED", "TRADING_ONLY", 0)])
    public("third.session")
    opened = answer("session", "create", "--master-key", "scoped.master", "--new-key",
                    "third.session", "--scope", "TRADING_ONLY", "--pin", "0")
    check(opened["message"] == "session_created")
    live = answer("session", "list")
    check([row["scope"] for row in live] == ["TRADING_ONLY", "FULL_ACCESS"] and
          live[0]["session_id"] == opened["session_id"], live)
    check("--pin goes with --scope" in run("masterkey", "add", scoped, "--pin", "0", code=2).stderr)
    check("neither the Base64" in run("masterkey", "add", "absent", code=2).stderr)
    stranger = public("stranger.master", "secp256k1")
    check("no such master key" in run("masterkey", "remove", stranger, code=3).stderr)
    for key in ("scoped.master", second_key):
        check(answer("masterkey", "remove", key)["message"] == "master_key_removed")
    check(masters() == first)
    kept = run("masterkey", "remove", "a.master", code=1)
    check("master_key_rejected_" in kept.stdout and "admin key" in kept.stderr, kept.stderr)
    listed = answer("apikey", "list")["api_keys"]
    check([(row["api_key_id"] == reader["api_key_id"], row["scope"]) for row in listed]
          == [(True, "READ"), (False, "READ_WRITE")], listed)
    check("READ_WRITE" in run("apikey", "list").stdout)

    # Ends of keys: the API key named is gone, the other one stays; then every session.
    check(answer("apikey", "revoke", reader["api_key_id"])["success"])
    check("invalid_api_key" in run("orders", "--api-key", reader["api_key"], code=3).stderr)
    check(len(answer("orders", "--open")) == 3)
    # cancel-all leaves what waits for a trigger, says so, and says how to end it.
    stop = answer("stop", "BTC-PERP", "sell", "0.01", "80000")["request_id"]
    rise = answer("stop", "BTC-PERP", "buy", "0.01", "120000")["request_id"]
    check([row["order_status"] for row in answer("orders", "--open")][:2] == ["UNTRIGGERED"] * 2)
    shown = run("orders", "--open").stdout.splitlines()
    check("trigger_price" in shown[0] and "80000" in shown[2] and "STOP_MARKET" in shown[2], shown)
    check("2 conditional orders still wait: --conditional" in run("cancel-all").stderr)
    check([row["id"] for row in answer("orders", "--open")] == [rise, stop])
    check(run("cancel-all", "ETH-PERP", "--side", "buys").stderr == "")
    said = run("cancel-all", "--side", "sells").stderr
    check(said == "1 conditional order still waits: --conditional cancels them too\n", said)
    check("2 conditional" in run("cancel-all", "BTC-PERP").stderr)
    check(run("cancel-all", "--portfolio", "1", code=1).stderr != said)
    said = run("cancel-all", "--api-key", "").stderr
    check(said == "conditional orders stay: --conditional cancels them too\n", said)
    check(run("cancel-all", "--conditional").stderr == "")
    check(answer("orders", "--open") == [] and run("cancel-all").stderr == "")

    # A device that is lost: its key is found and ended without it.
    lost = answer("login")
    rows = answer("device", "list")["device_keys"]
    check([row["device_key_id"] for row in rows] == [lost["device_key_id"]], rows)
    shown = run("device", "list").stdout
    check(lost["device_key_id"] in shown and lost["device_key"] not in shown, shown)
    check(answer("device", "revoke", lost["device_key_id"])["success"])
    check(answer("device", "list")["device_keys"] == [])

    # A device key is made, kept, and ends with the session on logout; a second logout does nothing.
    device = answer("login")["device_key"]
    ended = answer("logout", "--device-key", device)
    check(ended["device_key_deleted"] is True and ended["session_revoked"] is True, ended)
    check(rejected("order", "BTC-PERP", "sell", "0.01", "100010") == "rejected_unauthorized")
    again = run("logout", "--device-key", device, code=1)
    check("session_not_revoked" in again.stderr and "perp session list" in again.stderr, again)
    check(answer("session", "revoke-all")["message"] == "session_revoked")
    check(rejected("order", "BTC-PERP", "sell", "0.01", "100010") == "rejected_unauthorized")
    check(perpd.end(signal.SIGTERM) == 0)
finally:
    if perpd.process.poll() is None:
        perpd.end(signal.SIGKILL)
