"""test_exit_codes.py BUILD - every exit code of docs/perp.md, and what is said beside it."""
import json
import os
import socket
import sys
import threading
import time

from fake import Exchange, Perp, check, problem

perp = Perp(sys.argv[1])
PLACE = "/api/v1/trading/order/place/limit"
exchange = Exchange()
perp.run("keys", "new", "ed25519", "session.key")
common = ["--url", exchange.url, "--account", "7", "--session-key", "session.key"]
order = ["order", "BTC-PERP", "buy", "0.1", "100000", *common]


def answered(status, body):
    exchange.answers[PLACE] = (status, body)


# 0 accepted; the order's id is shown, in JSON too.
answered(200, {"status": "request_completed", "processed_at_ns": 1755582431240112233,
               "sequence": 4711})
done = perp.run(*order, "--id", "0198c0de-0000-7000-8000-0000000000a1")
check("0198c0de-0000-7000-8000-0000000000a1" in done.stdout and "4711" in done.stdout)
check("2025-08-19T05:47:11.240Z" in done.stdout, done.stdout)
answer = json.loads(perp.run(*order, "-o", "json").stdout)
check(answer["status"] == "request_completed" and answer["sequence"] == 4711)
check(answer["processed_at_ns"] == 1755582431240112233)  # beyond 2^53: kept whole
check(answer["request_id"][14] == "7")
method, target, headers, body = exchange.last()
check((method, target) == ("POST", PLACE) and headers["content-type"] == "application/json")
perp.run(*order, "--binary")
check(exchange.last()[2]["content-type"] == "application/octet-stream")
check(len(exchange.last()[3]) == 72 + 32 + 64)

# 1 rejected, with a hint; a duplicate counts as its original did.
answered(200, {"status": "rejected_invalid_price", "processed_at_ns": 1, "sequence": 2})
done = perp.run(*order, code=1)
check("rejected_invalid_price" in done.stderr and "tick" in done.stderr)
answered(200, {"status": "duplicate_request_id", "processed_at_ns": 5,
               "original_status": "request_completed", "original_processed_at_ns": 4})
perp.run(*order, code=0)
answered(200, {"status": "duplicate_request_id", "processed_at_ns": 5,
               "original_status": "insufficient_margin_to_place", "original_processed_at_ns": 4})
check("insufficient_margin_to_place" in perp.run(*order, code=1).stderr)

# 3 problem objects: code, detail, what they name, the clock's difference.
answered(*problem(401, "invalid_signature"))
done = perp.run(*order, code=3)
check("HTTP 401 invalid_signature: detail of invalid_signature" in done.stderr, done.stderr)
answered(*problem(400, "request_timestamp_out_of_window", server_time_ms=1))
check("clock is +" in perp.run(*order, code=3).stderr)
answered(*problem(400, "malformed_payload", field="label"))
check("(label)" in perp.run(*order, code=3).stderr)
check(json.loads(perp.run(*order, "-o", "json", code=3).stdout)["code"] == "malformed_payload")
answered(502, b"<html>bad gateway</html>")
check("not perpd's" in perp.run(*order, code=3).stderr)
check("not_found" in perp.run("book", "BTC-PERP", "--url", exchange.url, code=3).stderr)

# 4 the connection ends before the answer: the id to repeat is named.
answered("close", None)
done = perp.run(*order, code=4)
check("--id 0" in done.stderr and "closed the connection" in done.stderr, done.stderr)
answered("raw", b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
check("no HTTP/1.1 answer" in perp.run(*order, code=4).stderr)
closed = socket.socket()
closed.bind(("127.0.0.1", 0))
done = perp.run("time", "--url", f"http://127.0.0.1:{closed.getsockname()[1]}", code=4)
check("is perpd running there?" in done.stderr)
silent = socket.socket()
silent.bind(("127.0.0.1", 0))
silent.listen()
done = perp.run("time", "--url", f"http://127.0.0.1:{silent.getsockname()[1]}", "--timeout-ms",
                "200", code=4)
check("within 200 ms" in done.stderr)


def drip(begin, part):
    """An exchange that goes on with its answer for three seconds, without an end."""
    def talk():
        peer = slow.accept()[0]
        try:
            peer.sendall(b"HTTP/1.1 " + begin)
            until = time.monotonic() + 3
            while time.monotonic() < until:
                peer.sendall(part)
                time.sleep(0.05)
        except OSError:
            pass  # perp has gone
        peer.close()

    with socket.create_server(("127.0.0.1", 0)) as slow:
        teller = threading.Thread(target=talk)
        teller.start()
        said = perp.run("time", "--url", f"http://127.0.0.1:{slow.getsockname()[1]}",
                        "--timeout-ms", "400", code=4).stderr
        teller.join()
    check("within 400 ms" in said, said)


# The longest wait is that for the whole answer, however it comes.
drip(b"200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", b" ")
drip(b"200 OK\r\n", b"A: b\r\n")
drip(b"100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n")

def is_loud(said):
    return any(ord(x) < 32 and x != "\n" or 127 <= ord(x) < 160 for x in said)


# No text of an answer commands the terminal, escaped or not, in whichever form it is shown.
LOUD = "\x1b]0;x\x07\u009b2J\r\n\x7f \u00e9"
for text in (json.dumps({"state": LOUD, LOUD: [LOUD]}),
             json.dumps({"state": LOUD[3:]}, ensure_ascii=False).replace("\\r\\n", ""), LOUD):
    exchange.answers["/api/v1/status"] = (200, text.encode())
    for form in ("json", "table"):
        said = perp.run("status", "--url", exchange.url, "-o", form).stdout
        check("]0;x" in said or "2J" in said, said)
        check(not is_loud(said) and "\\u001b" not in said, said)
        check("\u00e9" in said or "\\u00e9" in said, said)
# Nor a byte beyond ASCII that is of no character: a terminal of 8 bits knows commands of one byte.
exchange.answers["/api/v1/status"] = (200, b"\x9b2J\xc3\xa9\xe2\x82\xf5\x80\xc3")
check(perp.run("status", "--url", exchange.url, "-o", "json").stdout.strip() ==
      "?2J\u00e9?????", "bytes")
answered(*problem(400, "bad" + LOUD, field=LOUD))
said = perp.run(*order, code=3).stderr
check("2J" in said and not is_loud(said), said)

# 2 local mistakes: nothing is sent.
count = len(exchange.seen)
rows = [
    (["ordr"], "did you mean 'perp order'"),
    ([], "which command"),
    (["keys"], "perp keys new"),
    (["order", "BTC-PERP", "buy", "1"], "PRICE is missing"),
    (["order", "BTC-PERP", "buy", "1"], "made with --market"),
    ([*order, "--market"], "a market order has no PRICE"),
    (["order", "BTC-PERP", "buy", "1", "--market", "--tif", "IOC"], "never rests"),
    (["order", "BTC-PERP", "buy", "1", "--market", "--post-only"], "never rests"),
    ([*order, "--max-slippage", "1%"], "PRICE bounds a limit order"),
    *[(["order", "BTC-PERP", "buy", "1", "--market", *common, "--max-slippage", text],
       "neither like 0.5% nor like 5000ppm")
      for text in ("1", "0%", "100%", "0.00001%", "0ppm", "1.5ppm", "ppm", "%", "-1%")],
    ([*order, "--ack", "all"], "none of full, binary, receipt"),
    (["batch", "/", *common], "cannot read /: Is a directory"),
    (["time", "--config", "/"], "cannot read /"),
    (["amend", "BTC-PERP", "x", *common], "what should change?"),
    (["amend", "BTC-PERP", "x", "--expected-remaining", "1", *common], "what should change?"),
    (["amend", "BTC-PERP", "x", "--reduce-by", "1", "--price", "2", *common], "leave it out"),
    (["amend", "BTC-PERP", "x", "--price", "2", *common], "is no UUID"),
    (["orders", "--market"], "--market needs a value"),
    (["orders", "--open", "--status", "OPEN"], "neither --status"),
    (["orders", "--status", "OPEN&x=1", "--api-key", "x"], "is no order_status"),
    (["orders", "--limit", "0", "--api-key", "x"], "'0' is no whole number of 1 to 20000"),
    (["orders", "--before", "x", "--api-key", "x"], "is no SEQUENCE:INDEX"),
    (["orders", "--market", "btc", "--api-key", "x"], "is no market name"),
    (["request", "x", "--api-key", "x"], "REQUEST_ID 'x' is no UUID"),
    (["leverage", "BTC-PERP", "0", "--api-key", "x"], "N '0' is no whole number"),
    (["watch", "book", "BTC-PERP", "--interval", "0.01"], "no time of 0.05 to 3600 s"),
    (["sessions", "revoke-all"], "did you mean 'perp session revoke-all'"),
    (["watch"], "perp watch book"),
    (["time", "--count", "0"], "whole number of 1 to 1000"),
    (["order", "BTC-PERP", "buy", "1", "2", "3"], "'3' is one word too many"),
    ([*order, "--postonly"], "did you mean --post-only"),
    ([*order, "--label", "x"], "does not take --label"),
    ([*order, "-o", "yaml"], "neither table nor json"),
    ([*order, "-x"], "unknown flag -x"),
    ([*order, "--tif", "GFD"], "none of GTC, IOC, FOK"),
    ([*order, "--tif", "GTT:2030-02-30T00:00:00Z"], "none of GTC"),
    ([*order, "--stp", "NONE"], "EXPIRE_TAKER, EXPIRE_MAKER, EXPIRE_BOTH, DECREMENT"),
    ([*order, "--id", "0198c0de-0000-4000-8000-0000000000a1"], "not of version 7"),
    ([*order, "--id", "x"], "is no UUID"),
    ([*order, "--account", "seven"], "account 'seven' (flag)"),
    (["order", "BTC-PERP", "up", "1", "2", *common], "neither buy nor sell"),
    (["order", "BTC-PERP", "buy", "1", "2", "--url", exchange.url], "PERP_SESSION_KEY"),
    (["book", "../time", "--url", exchange.url], "no market name"),
    (["time", "--url", "ftp://example.com"], "https://HOST:PORT"),
    (["time", "--url", "example.com"], "http://HOST:PORT"),
    (["time", "--config", "absent"], "cannot read absent"),
    (["keys", "new", "rsa", "x"], "neither ed25519"),
    (["keys", "new", "ed25519", "session.key"], "exists"),
    (["keys", "show", "absent"], "No such file"),
    (["deposit", "0.0000001", "--operator-key", "session.key", "--account", "1"],
     "finer than a micro-USDC"),
    (["market", "state", "BTC-PERP", "OPEN", "--operator-key", "session.key"],
     "state 'OPEN' is none of ACTIVE, POST_ONLY, REDUCE_ONLY, CANCEL_ONLY, HALTED, CLOSED"),
    (["market", "halt-all", "CLOSED", "--operator-key", "session.key"], "one market at a time"),
    (["show", "x"], "is no UUID"),
    (["balance"], "needs an API key"),
    (["session", "revoke", "x", "--master-key", "session.key", "--account", "7"],
     "curve ed25519; master_key has curve secp256k1"),
]
for words, wanted in rows:
    done = perp.run(*words, code=2)
    check(wanted in done.stderr, words, done.stderr)
    check(done.stdout == "", words)
check(len(exchange.seen) == count)

# The market's record decides about decimals and names (nothing but reads are sent).
rows = [
    (["DOGE-PERP", "buy", "1", "1"], "known: BTC-PERP ETH-PERP"),
    (["BTC", "buy", "1", "1"], "did you mean BTC-PERP?"),
    (["BTC-PERP", "buy", "0.000001", "1"], "SIZE '0.000001' has too many decimals"),
    (["BTC-PERP", "buy", "1", "1.05"], "BTC-PERP has 1 (step 0.1)"),
    (["BTC-PERP", "buy", "1e3", "1"], "not a plain decimal"),
    (["BTC-PERP", "buy", "1", "200000000000"], "out of range"),
]
for words, wanted in rows:
    check(wanted in perp.run("order", *words, *common, code=2).stderr, words)
check(all(method == "GET" for method, *_ in exchange.seen[count:]))

# Key files: mode 0600, secrets shown on request only, refused when others may read them.
path = perp.folder / "session.key"
check(os.stat(path).st_mode & 0o777 == 0o600)
secret = next(line.split(" = ")[1] for line in path.read_text().splitlines() if "secret =" in line)
check(secret not in perp.run("keys", "show", "session.key").stdout)
check(secret in perp.run("keys", "show", "session.key", "--show").stdout)
done = perp.run("keys", "new", "secp256k1", "master.key", "-o", "json")
check(set(json.loads(done.stdout)) == {"curve", "public_key", "file"})
path.chmod(0o640)
os.mkfifo(perp.folder / "pipe.key", 0o600)  # nobody writes into it
check("no regular file" in perp.run("keys", "show", "pipe.key", code=2).stderr)
check("mode 0640" in perp.run("keys", "show", "session.key", code=2).stderr)
path.chmod(0o600)
broken = perp.folder / "broken.key"
broken.write_text(path.read_text().replace("secret = ", "secret = A"))
broken.chmod(0o600)
check("not the Base64" in perp.run("keys", "show", "broken.key", code=2).stderr)
