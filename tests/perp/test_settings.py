"""test_settings.py BUILD - flags, environment, profiles and defaults, and what --save writes."""
import base64
import json
import os
import sys

from fake import EXCHANGE_ID, Exchange, Perp, check, problem

perp = Perp(sys.argv[1])
exchange = Exchange()
perp.run("keys", "new", "ed25519", "session.key")
config = perp.folder / ".config/perp/config"


def account_of(*words, environment=None):
    done = perp.run("cancel-all", "--dry-run", *words, environment=environment)
    return int.from_bytes(base64.b64decode(json.loads(done.stdout)["payload"])[24:32], "little")


# Precedence: flag, environment, profile, default.
config.parent.mkdir(parents=True)
config.write_text(f"# comment\n[default]\nurl = {exchange.url}\naccount = 1\n"
                  f"session_key = {perp.folder}/session.key\n\n"
                  f"[other]\naccount = 2\nsession_key = {perp.folder}/session.key\n")
check(account_of() == 1)
check(account_of("--profile", "other") == 2)
check(account_of(environment={"PERP_PROFILE": "other"}) == 2)
check(account_of(environment={"PERP_ACCOUNT": "3"}) == 3)
check(account_of("--account", "4", environment={"PERP_ACCOUNT": "3"}) == 4)
elsewhere = perp.folder / "elsewhere"
elsewhere.write_text(config.read_text().replace("account = 1", "account = 5"))
check(account_of("--config", elsewhere) == 5)
check(account_of(environment={"PERP_CONFIG": str(elsewhere)}) == 5)

# A profile's mistakes are named with file and line.
elsewhere.write_text("[default]\nacount = 1\n")
done = perp.run("time", "--config", elsewhere, code=2)
check(f"{elsewhere}:2: unknown setting 'acount'; did you mean 'account'?" in done.stderr,
      done.stderr)
check("no profile [third]" in perp.run("time", "--profile", "third", code=2).stderr)

# account create --save and apikey create --save fill the profile; the rest of the file stays.
exchange.answers["/api/v1/account/create"] = (200, {
    "success": True, "message": "account_created_with_session", "processed_at_ns": 1,
    "sequence": 12, "account_id": 42, "session_id": "0198c0de-0008-71cb-8000-000003000000",
    "expires_at": "2025-09-18T05:47:11.240Z"})
exchange.answers["/api/v1/api-keys"] = (200, {
    "success": True, "message": "request_completed", "processed_at_ns": 1, "sequence": 13,
    "api_key_id": "0198c0de-0008-71cb-8000-000003000001",
    "api_key": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U="})
# A profile or a file that is not there yet is made by the command that saves into it, by no other.
done = perp.run("account", "create", "--profile", "new", "--master-key", "n.key", "--session-key",
                "o.key", "--save", "--url", exchange.url, "--label", "mine")
check("[new]" in config.read_text() and account_of("--profile", "new", "--url", exchange.url) == 42)
fresh = perp.folder / "fresh" / "config"
check("cannot read" in perp.run("time", "--config", fresh, code=2).stderr)
loop = perp.folder / "loop"  # it is there, and cannot be read
loop.symlink_to("loop")
check("cannot read" in perp.run("account", "create", "--config", loop, "--save", "--master-key",
                                "x.key", "--session-key", "y.key", "--url", exchange.url,
                                code=2).stderr)
perp.run("account", "create", "--config", fresh, "--profile", "b", "--master-key", "p.key",
         "--session-key", "q.key", "--save", "--url", exchange.url)
check(account_of("--config", fresh, "--profile", "b", "--url", exchange.url) == 42)
done = perp.run("account", "create", "--master-key", "m.key", "--session-key", "s.key", "--save",
                "--label", "mine")
check("42" in done.stdout and "made the key file m.key" in done.stderr)
check(account_of() == 42)
check(f"master_key = {perp.folder}/m.key" in config.read_text())
check("# comment" in config.read_text() and "[other]\naccount = 2" in config.read_text())
done = perp.run("apikey", "create", "--save")
check("c2VjcmV0" not in done.stdout + done.stderr)
check("api_key = c2VjcmV0" in config.read_text())
exchange.answers["/api/v1/account"] = (200, {"account_id": 42, "status": "ACTIVE"})
check("ACTIVE" in perp.run("account", "show").stdout)
check(exchange.last()[2]["x-api-key"] == "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U=")

# The secret goes to a file of mode 0600, and is read back from it; without either it is shown.
done = perp.run("apikey", "create", "--out", "api.key")
check("c2VjcmV0" not in done.stdout and (perp.folder / "api.key").stat().st_mode & 0o777 == 0o600)
perp.run("account", "show", "--api-key", "@api.key")
check(exchange.last()[2]["x-api-key"] == "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U=")
check("exists" in perp.run("apikey", "create", "--out", "api.key", code=2).stderr)
check("c2VjcmV0" in perp.run("apikey", "create").stdout)

# So it is with a device key; logout sends the one of the profile.
exchange.answers["/api/v1/login"] = (200, {
    "success": True, "message": "request_completed", "processed_at_ns": 1, "sequence": 14,
    "device_key_id": "0198c0de-0008-71cb-8000-000003000002",
    "device_key": "ZGV2aWNlZGV2aWNlZGV2aWNlZGV2aWNlZGV2aWNlZGU="})
exchange.answers["/api/v1/logout"] = (200, {"device_key_deleted": True, "session_revoked": True})
check("needs a device key (perp login" in perp.run("logout", code=2).stderr)
done = perp.run("login", "--save", "--out", "device.key")
check("ZGV2aWNl" not in done.stdout + done.stderr)
check("device_key = ZGV2aWNl" in config.read_text())
check((perp.folder / "device.key").read_text().startswith("ZGV2aWNl"))
check("exists" in perp.run("login", "--out", "device.key", code=2).stderr)
for words in ((), ("--device-key", "@device.key")):
    perp.run("logout", *words)
    method, path, headers = exchange.last()[:3]
    check((method, path) == ("POST", "/api/v1/logout"), path)
    check(headers["x-device-key"] == "ZGV2aWNlZGV2aWNlZGV2aWNlZGV2aWNlZGV2aWNlZGU=")
check("longer than 44" in perp.run("logout", "--device-key", "A" * 45, code=2).stderr)
exchange.answers["/api/v1/logout"] = (200, {"device_key_deleted": True, "session_revoked": False})
check("session_not_revoked" in perp.run("logout", code=1).stderr)

# Reads: what is asked, and how a book is shown.
exchange.answers["/api/v1/portfolio/balance"] = (200, {"cash_balance": "7495.75", "name": "Main"})
check("7495.75" in perp.run("balance", "--subaccount", "2").stdout)
check(exchange.last()[1] == "/api/v1/portfolio/balance?subaccount_index=2&portfolio_index=0")
exchange.answers["/api/v1/markets/BTC-PERP/book"] = (200, {
    "market": "BTC-PERP", "seq": 9001, "engine_seq": 4720, "time_ns": 1755582431900112233,
    "bids": [["99999.9", "0.4"], ["99999.8", "1"]], "asks": [["100000", "0.2"], ["100001", "3"]]})
lines = perp.run("book", "BTC-PERP", "--depth", "2").stdout.splitlines()
check(exchange.last()[1].endswith("?depth=2"))
# All prices have the digits of the one that has most, and the spread stands between the sides.
check([line.split()[:2] for line in lines[2:]] ==
      [["ask", "100001.0"], ["ask", "100000.0"], ["spread", "0.1"], ["bid", "99999.9"],
       ["bid", "99999.8"]], lines)
check(json.loads(perp.run("book", "BTC-PERP", "-o", "json").stdout)["seq"] == 9001)
check("limits.sessions" in perp.run("exchange").stdout)
exchange.answers["/api/v1/portfolio/balance"] = problem(404, "portfolio_not_found")
check("portfolio_not_found" in perp.run("balance", code=3).stderr)

# A session key is bound to the exchange that it is admitted to: the file names it, and another
# exchange gets nothing that the key signed (F6).
bound = f"exchange = {EXCHANGE_ID}\n"
check(bound in (perp.folder / "s.key").read_text())
check(EXCHANGE_ID in perp.run("keys", "show", "s.key").stdout)
check("exchange_id" not in perp.run("keys", "show", "session.key").stdout)
other = Exchange()
other_id = EXCHANGE_ID[::-1]
other.answers["/api/v1/exchange"] = (200, {"exchange_id": other_id})


def refused(*words):
    done = perp.run(*words, "--url", other.url, code=2)
    check(EXCHANGE_ID in done.stderr and other_id in done.stderr, done.stderr)
    check(done.stdout == "" and all(row[0] == "GET" for row in other.seen), done.stdout)


refused("cancel-all", "--session-key", "s.key")
refused("cancel-all", "--session-key", "s.key", "--dry-run")
refused("logout", "--session-key", "s.key")
refused("session", "create", "--new-key", "s.key")
refused("account", "create", "--session-key", "s.key")
session_path = "/api/v1/auth/sessions/create"
for exchange_of in (exchange, other):
    exchange_of.answers[session_path] = exchange.answers["/api/v1/account/create"]
    exchange_of.answers["/api/v1/cancel"] = (200, {"status": "request_completed"})
os.symlink("session.key", perp.folder / "link.key")
free = (perp.folder / "session.key").read_text()
perp.run("session", "create", "--new-key", "link.key", "--dry-run")
check((perp.folder / "session.key").read_text() == free)  # as is a key that no exchange admitted
perp.run("cancel-all", "--session-key", "session.key", "--url", other.url, "--dry-run")
perp.run("session", "create", "--new-key", "link.key", "--dry-run", "--url", other.url)
perp.run("session", "create", "--new-key", "link.key")
check(exchange.last()[:2] == ("POST", session_path), exchange.last())
check((perp.folder / "session.key").read_text() == free + bound)
check((perp.folder / "link.key").is_symlink())
check((perp.folder / "session.key").stat().st_mode & 0o777 == 0o600)
refused("cancel-all", "--session-key", "session.key")
perp.run("cancel-all", "--session-key", "session.key", "--dry-run")
(perp.folder / "session.key").write_text(free + bound[:-3] + "\n")
check("64 hex digits" in perp.run("keys", "show", "session.key", code=2).stderr)
