"""test_requests.py BUILD - what perp signs is, byte for byte, what the vectors of wire.md state."""
import base64
import json
import sys
import uuid

from fake import Exchange, Perp, check, vectors

perp = Perp(sys.argv[1])
exchange = Exchange()
ED25519 = vectors("ed25519.json")
EIP712 = vectors("eip712.json")

seed = ED25519["place_limit_gtc_post_only"]
key = perp.key("session.key", "ed25519", seed["seed"],
               base64.b64decode(seed["envelope"]["public_key"]).hex())
common = ["--url", exchange.url, "--account", "7", "--session-key", key]

# W4 Vectors: account 7/0/0, price 1,000,000 raw, quantity -50,000, GTC, post_only, market 1.
order = ["order", "BTC-PERP", "sell", "0.5", "100000", "--post-only", "--tif", "GTC",
         "--id", seed["request_id"], *common]
envelope = json.loads(perp.run(*order, "--dry-run").stdout)
check(envelope == seed["envelope"], envelope)
frame = perp.run(*order, "--dry-run", "--binary", text=False).stdout
check(frame.hex() == seed["binary_frame_hex"])

# --explain prints a curl command that carries the very same bytes.
done = perp.run(*order, "--dry-run", "--explain")
line = next(line for line in done.stderr.splitlines() if line.startswith("curl "))
check(f"{exchange.url}/api/v1/trading/order/place/limit" in line, line)
check(json.loads(line.split(" -d '")[1].rstrip("'")) == seed["envelope"])
check("100000 USDC (raw 1000000)" in done.stderr and "-0.5 sell (raw -50000)" in done.stderr,
      done.stderr)
line = next(line for line in perp.run(*order, "--dry-run", "--explain", "--binary",
                                      text=False).stderr.decode().splitlines()
            if line.startswith("printf "))
check(base64.b64decode(line.split("'")[1]).hex() == seed["binary_frame_hex"])


def payload(*words):
    done = perp.run(*words, "--id", seed["request_id"], "--dry-run", *common)
    return base64.b64decode(json.loads(done.stdout)["payload"])


# W3: every field of code 0 at its offset.
IOC, FOK, GTC = 0, 1, 2**64 - 1
rows = [  # words, price raw, quantity raw, expiry, post_only, reduce_only, stp, asset
    (["BTC-PERP", "buy", "0.00001", "0.1"], 1, 1, GTC, 0, 0, 0, 1),
    (["ETH-PERP", "buy", "12", "3500.25", "--tif", "IOC"], 350025, 120000, IOC, 0, 0, 0, 2),
    (["ETH-PERP", "SELL", "0.0001", "1", "--tif=fok", "--reduce-only"], 100, -1, FOK, 0, 1, 0, 2),
    (["BTC-PERP", "long", "1", "99999.9", "--stp", "decrement"], 999999, 100000, GTC, 0, 0, 3, 1),
    (["BTC-PERP", "short", "1.5", "7", "--tif", "GTT:2030-01-31T12:00:00Z"], 70, -150000,
     1896091200 * 10**9, 0, 0, 0, 1),
]
for words, price, quantity, expiry, post_only, reduce_only, stp, asset in rows:
    body = payload("order", *words)[24:]
    check(len(body) == 48, words)
    check(int.from_bytes(body[16:24], "little") == price, words)
    check(int.from_bytes(body[24:32], "little", signed=True) == quantity, words)
    check(int.from_bytes(body[32:40], "little") == expiry, words)
    check(body[40:44] == bytes([post_only, reduce_only, stp, 0]), words)
    check(body[44:48] == bytes([asset, 0, 0, 0]), words)

# W3: cancel and cancel-all; 0xFFFF = all markets, 0xFFFFFFFF = every portfolio.
body = payload("cancel", "ETH-PERP", "0198C0DE-0000-7000-8000-0000000000A2", "--subaccount", "3",
               "--portfolio", "4")[24:]
check(body == (7).to_bytes(8, "little") + bytes([3, 0, 0, 0, 4, 0, 0, 0])
      + bytes.fromhex("0198c0de00007000800000000000" "00a2") + bytes([2, 0, 0, 0, 0, 0, 0, 0]))
check(payload("cancel-all")[40:] == bytes([0xff, 0xff, 0, 0, 0, 0, 0, 0]))
check(payload("cancel-all", "BTC-PERP", "--side", "sells", "--all")[36:]
      == bytes([0xff] * 4 + [1, 0, 0, 0, 2, 0, 0, 0]))

# W3: market orders, code 5. 1 % is 10,000 ppm; 0 leaves the slippage to the market.
rows = [  # words, quantity raw, slippage ppm, asset, reduce_only, stp
    (["BTC-PERP", "buy", "0.5", "--market"], 50000, 0, 1, 0, 0),
    (["ETH-PERP", "sell", "2", "--market", "--max-slippage", "0.5%"], -20000, 5000, 2, 0, 0),
    (["--market", "BTC-PERP", "buy", "1", "--max-slippage=99.9999%"], 100000, 999999, 1, 0, 0),
    (["BTC-PERP", "--market", "sell", "1", "--max-slippage", "7ppm", "--reduce-only", "--stp",
      "EXPIRE_BOTH"], -100000, 7, 1, 1, 2),
]
for words, quantity, slippage, asset, reduce_only, stp in rows:
    whole = payload("order", *words)
    check(whole[:8] == bytes([1, 0, 5, 0, 0, 0, 0, 0]) and len(whole) == 24 + 40, words)
    check(whole[24:] == (7).to_bytes(8, "little") + bytes(8)
          + quantity.to_bytes(8, "little", signed=True) + slippage.to_bytes(4, "little")
          + bytes([asset, 0, 0, 0, reduce_only, stp, 0, 0, 0, 0, 0, 0]), words, whole.hex())

# W3: reduction, code 1.
ORDER = "0198c0de-0000-7000-8000-0000000000a2"
where = (7).to_bytes(8, "little") + bytes(8) + bytes.fromhex(ORDER.replace("-", ""))


def u64(value):
    return value.to_bytes(8, "little")


whole = payload("amend", "BTC-PERP", ORDER, "--reduce-by", "0.3")
check(whole[2:4] == bytes([1, 0]) and whole[24:] == where + u64(30000) + u64(0)
      + bytes([1, 0, 0, 0, 0, 0, 0, 0]), whole.hex())
whole = payload("amend", "ETH-PERP", ORDER, "--reduce-by", "1", "--expected-remaining", "2.5")
check(whole[24:] == where + u64(10000) + u64(25000) + bytes([2, 0, 0, 0, 0, 0, 0, 0]))

# W3: replacement, code 2. With --side nothing is read: the rest is as in a new order.
count = len(exchange.seen)
whole = payload("amend", "BTC-PERP", ORDER, "--side", "sell", "--size", "0.5", "--price", "99",
                "--tif", "GTT:2030-01-31T12:00:00Z", "--post-only", "--stp", "DECREMENT",
                "--expected-remaining", "1")
check(whole[2:4] == bytes([2, 0]) and len(whole) == 24 + 72)
check(whole[24:] == where + u64(990) + (-50000).to_bytes(8, "little", signed=True)
      + u64(1896091200 * 10**9) + bytes([1, 0, 3, 0, 1, 0, 0, 0]) + u64(100000), whole.hex())
check(not any("/orders/" in target for _, target, *_ in exchange.seen[count:]))

# Without --side what is not named stays as the exchange shows it; a size that is kept must still be
# so (perp.md, Orders): expected_remaining is the one read.
resting = {"id": ORDER, "market": "BTC-PERP", "side": "LONG", "remaining_size": "0.2",
           "initial_size": "0.5", "price": "100000.5", "time_in_force": "GTT",
           "expires_at": 1896091200 * 10**9 + 1, "post_only": True, "reduce_only": False,
           "stp": "EXPIRE_MAKER", "order_status": "PARTIALLY_FILLED"}
exchange.answers[f"/api/v1/orders/{ORDER}"] = (200, resting)
read = ["--api-key", "a2V5"]
late = u64(1896091200 * 10**9 + 1)
rows = [  # flags, price, quantity, expiry, post_only, reduce_only, stp, expected_remaining
    (["--price", "100001"], 1000010, 20000, late, 1, 0, 1, 20000),
    (["--size", "0.1"], 1000005, 10000, late, 1, 0, 1, 0),
    (["--size", "0.1", "--expected-remaining", "0.2"], 1000005, 10000, late, 1, 0, 1, 20000),
    (["--tif", "GTC", "--reduce-only"], 1000005, 20000, u64(2**64 - 1), 1, 1, 1, 20000),
    (["--stp", "expire_both"], 1000005, 20000, late, 1, 0, 2, 20000),
]
for flags, price, quantity, expiry, post_only, reduce_only, stp, expected in rows:
    whole = payload("amend", "BTC-PERP", ORDER, *flags, *read)
    check(whole[24:] == where + u64(price) + u64(quantity) + expiry
          + bytes([post_only, reduce_only, stp, 0, 1, 0, 0, 0]) + u64(expected), flags, whole.hex())
resting.update(side="SHORT", time_in_force="GTC", expires_at=None, post_only=False)
whole = payload("amend", "BTC-PERP", ORDER, "--price", "5", *read)
check(whole[24:] == where + u64(50) + (-20000).to_bytes(8, "little", signed=True)
      + u64(2**64 - 1) + bytes([0, 0, 1, 0, 1, 0, 0, 0]) + u64(20000), whole.hex())
check("is of BTC-PERP" in perp.run("amend", "ETH-PERP", ORDER, "--price", "5", *common,
                                   *read, code=2).stderr)

# Operator codes 1003 and 1000 (W3a), signed by the keys of their settings.
done = perp.run("deposit", "1250.5", "--account", "9", "--ref", "ab" * 32, "--operator-key", key,
                "--url", exchange.url, "--dry-run", "--id", seed["request_id"])
body = base64.b64decode(json.loads(done.stdout)["payload"])
check(body[:4] == bytes([1, 0]) + (1003).to_bytes(2, "little"))
check(body[24:] == (9).to_bytes(8, "little") + bytes(8) + (1250500000).to_bytes(8, "little")
      + b"\xab" * 32)
done = perp.run("oracle", "BTC-PERP", "100000.5", "--sources", "3", "--oracle-key", key,
                "--url", exchange.url, "--dry-run")
body = base64.b64decode(json.loads(done.stdout)["payload"])
check(body[2:4] == (1000).to_bytes(2, "little"))
check(body[32:] == (1000005).to_bytes(8, "little") + bytes([1, 0, 0, 0, 3, 0, 0, 0]))

# Operator codes 1002 and 1008 (W3a): asset, pad, state, force 0, pad; the state of all, pad.
for words, code, want in (
        (("state", "BTC-PERP", "ACTIVE"), 1002, [1, 0, 0, 0, 0, 0, 0, 0]),
        (("state", "ETH-PERP", "reduce_only"), 1002, [2, 0, 0, 0, 2, 0, 0, 0]),
        (("halt-all",), 1008, [4, 0, 0, 0, 0, 0, 0, 0]),
        (("halt-all", "CANCEL_ONLY"), 1008, [3, 0, 0, 0, 0, 0, 0, 0])):
    done = perp.run("market", *words, "--operator-key", key, "--url", exchange.url, "--dry-run")
    body = base64.b64decode(json.loads(done.stdout)["payload"])
    check(body[2:4] == code.to_bytes(2, "little") and body[24:] == bytes(want), words, body.hex())

# Wallet signatures: EIP-712 over the exchange id that GET /exchange names (W4).
session = EIP712["create_session"]["payload_hex"][64:128]
master = perp.key("master.key", "secp256k1", EIP712["create_session"]["private_key"],
                  EIP712["create_session"]["public_key"])
known_session = perp.folder / "known.key"


def wallet(name, *words):
    row = EIP712[name]
    done = perp.run(*words, "--id", row["request_id"], "--dry-run", "--explain", "--url",
                    exchange.url, "--master-key", master)
    check(json.loads(done.stdout) == row["envelope"], name, done.stdout)
    check(row["digest"] in done.stderr and row["struct_hash"] in done.stderr, name)


wallet("create_api_key", "apikey", "create", "--account", "7", "--signer", "master", "--pin", "0",
       "--label", "reader")
wallet("create_api_key_read_write", "apikey", "create", "--account", "7", "--signer", "master",
       "--scope", "read_write")
wallet("revoke_all_sessions", "session", "revoke-all", "--account", "7")
row = EIP712["revoke_api_key"]
key_id = bytes.fromhex(row["payload_hex"][64:96])
wallet("revoke_api_key", "apikey", "revoke", str(uuid.UUID(bytes=key_id)), "--account", "7",
       "--signer", "master")
whole = payload("apikey", "revoke", str(uuid.UUID(bytes=key_id)))
check(whole[:4] == bytes([1, 0, 35, 0]) and whole[24:] == u64(7) + key_id, whole.hex())
wallet("revoke_session", "session", "revoke", base64.b64encode(bytes.fromhex(
    EIP712["revoke_session"]["payload_hex"][64:128])).decode(), "--account", "7")

# Without --id every request has an id of its own, a UUIDv7 of this moment.
ids = {payload_bytes[8:24] for payload_bytes in (
    base64.b64decode(json.loads(perp.run("cancel-all", *common, "--dry-run").stdout)["payload"])
    for _ in range(5))}
check(len(ids) == 5 and all(one[6] >> 4 == 7 and one[8] >> 6 == 2 for one in ids))
