"""test_orders.py BUILD - what perp signs for conditional orders, batches, protection, cash and the
operator: every byte of the payload, worked out from wire.md W3 and W3a."""
import base64
import json
import pathlib
import struct
import sys
import time
import uuid

from fake import Exchange, Perp, check, vectors

perp = Perp(sys.argv[1])
exchange = Exchange()
seed = vectors("ed25519.json")["place_limit_gtc_post_only"]
key = perp.key("session.key", "ed25519", seed["seed"],
               base64.b64decode(seed["envelope"]["public_key"]).hex())
GTC = 2**64 - 1
OCO = "0198c0de-0000-7000-8000-0000000000b2"
TARGET = "0198c0de-0000-7000-8000-0000000000a7"
oco, target = uuid.UUID(OCO).bytes, uuid.UUID(TARGET).bytes


def body(code, *words, flags=()):
    """The body of the payload that the words sign, behind its checked head."""
    done = perp.run(*words, *flags, "--url", exchange.url, "--dry-run", "--id", seed["request_id"])
    check(done.returncode == 0, (words, done.stderr))
    payload = base64.b64decode(json.loads(done.stdout)["payload"])
    check(payload[0] == 1 and payload[1] == 0 and payload[4:8] == bytes(4), words)
    check(int.from_bytes(payload[2:4], "little") == code, words)
    check(payload[8:24] == uuid.UUID(seed["request_id"]).bytes, words)
    return payload[24:]


def session(code, *words):
    return body(code, *words, flags=("--account", "7", "--session-key", key))


def operator(code, *words):
    return body(code, *words, flags=("--operator-key", key))


PORTFOLIO = struct.pack("<QII", 7, 0, 0)

# Code 6: portfolio 16, trigger, price, quantity, expiry, post_only, reduce_only, stp, order_type,
# asset, pad 2, slippage u32, source, live_tif, pad 2, oco 16.
rows = [
    (["stop", "BTC-PERP", "sell", "0.5", "99000"], 990000, 0, -50000, GTC, 0, 0, 0, 3, 1, 0, 0, 0,
     bytes(16)),
    (["stop", "BTC-PERP", "buy", "0.5", "last:101000", "101500.5"], 1010000, 1015005, 50000, GTC,
     0, 0, 0, 2, 1, 0, 1, 2, bytes(16)),
    (["take-profit", "ETH-PERP", "sell", "1", "INDEX:4000", "--reduce-only", "--oco", OCO,
      "--max-slippage", "0.5%"], 400000, 0, -10000, GTC, 0, 1, 0, 5, 2, 5000, 2, 0, oco),
    (["take-profit", "BTC-PERP", "buy", "1", "mark:90000", "89000", "--tif", "fok", "--stp",
      "DECREMENT", "--expires", "2030-01-31T12:00:00Z"], 900000, 890000, 100000,
     1896091200 * 10**9, 0, 0, 3, 4, 1, 0, 0, 1, bytes(16)),
    (["stop", "BTC-PERP", "buy", "1", "110000", "111000", "--tif", "GTC", "--post-only"], 1100000,
     1110000, 100000, GTC, 1, 0, 0, 2, 1, 0, 0, 2, bytes(16)),
]
for (words, trigger, price, quantity, expiry, post_only, reduce_only, stp, kind, asset, slippage,
     source, live, group) in rows:
    want = PORTFOLIO + struct.pack("<QQqQBBBBHHIBBH", trigger, price, quantity, expiry, post_only,
                                   reduce_only, stp, kind, asset, 0, slippage, source, live,
                                   0) + group
    check(session(6, *words) == want, words)

check(session(7, "cancel-conditional", "ETH-PERP", TARGET) ==
      PORTFOLIO + target + struct.pack("<HHI", 2, 0, 0))
check(session(4, "cancel-all", "--conditional") ==
      PORTFOLIO + struct.pack("<HHBBH", 0xFFFF, 0, 0, 1, 0))
check(session(26, "mmp", "set", "BTC-PERP", "1000", "0", "2", "0.5") ==
      PORTFOLIO + struct.pack("<HHIIIQQ", 1, 0, 1000, 0, 0, 200000, 50000))
check(session(26, "mmp", "off", "BTC-PERP") == PORTFOLIO + struct.pack("<HHIIIQQ", 1, *[0] * 6))
check(session(27, "mmp", "reset", "ETH-PERP") == PORTFOLIO + struct.pack("<HHI", 2, 0, 0))
check(session(25, "schedule-cancel", "off") == PORTFOLIO + bytes(8))
begun_ns = time.time_ns()
deadline = struct.unpack("<Q", session(25, "schedule-cancel", "60")[16:])[0]
check(begun_ns <= deadline - 60 * 10**9 <= time.time_ns(), deadline)

# Code 8: portfolio 16, count u16, atomic, pad 5; items of 64.
lines = f"""atomic
# comment
order BTC-PERP buy 0.1 95000 post-only
cancel ETH-PERP {TARGET}  # behind it
replace BTC-PERP {TARGET} sell 0.2 105000.5 post-only reduce-only stp=EXPIRE_BOTH
reduce BTC-PERP {TARGET} 0.3
order ETH-PERP sell 1 4000 tif=IOC
"""
path = pathlib.Path(perp.held.name) / "batch"
with open(path, "w") as file:
    file.write(lines)
done = session(8, "batch", str(path))
check(done[:24] == PORTFOLIO + struct.pack("<HB5x", 5, 1), done[:24])
items = [done[24 + 64 * i:88 + 64 * i] for i in range(5)]
check(len(done) == 24 + 5 * 64)


def item(op, post_only, reduce_only, stp, asset, price, quantity, expiry, order_id):
    return struct.pack("<BBBBHHQqQ", op, post_only, reduce_only, stp, asset, 0, price, quantity,
                       expiry) + order_id + bytes(16)


for at, want in [
        (0, item(0, 1, 0, 0, 1, 950000, 10000, GTC, items[0][32:48])),
        (1, item(3, 0, 0, 0, 2, 0, 0, 0, target)),
        (2, item(2, 1, 1, 2, 1, 1050005, -20000, GTC, target)),
        (3, item(1, 0, 0, 0, 1, 0, 30000, 0, target)),
        (4, item(0, 0, 0, 0, 2, 400000, -10000, 0, items[4][32:48]))]:
    check(items[at] == want, (at, items[at].hex(), want.hex()))
for at in (0, 4):  # fresh UUIDv7s, told before the request is sent
    check(uuid.UUID(bytes=items[at][32:48]).version == 7)
check(items[0][32:48] != items[4][32:48])

check(session(9, "transfer", "12.5", "0/0", "1/3") ==
      struct.pack("<QIIQIIQ", 7, 0, 0, 7, 1, 3, 12500000))
check(session(10, "withdraw", "1", "0x" + "ab" * 20) ==
      PORTFOLIO + struct.pack("<Q", 1000000) + b"\xab" * 20 + bytes(4))
check(session(24, "portfolio", "create", "Hedge") ==
      struct.pack("<QII", 7, 0, 0) + b"Hedge".ljust(32, b"\0"))

# EIP-55's own examples, and digits in one case, which have no checksum.
for address in ("0x52908400098527886E0F7030069857D2E4169EE7",
                "0xde709f2102306220921060314715629080e2fb77",
                "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
                "fB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"):
    check(session(10, "withdraw", "1", address)[24:44] ==
          bytes.fromhex(address.removeprefix("0x")), address)
check(operator(1004, "withdrawal", "settle", TARGET) == target + bytes(8))
check(operator(1004, "withdrawal", "revert", TARGET) == target + b"\1" + bytes(7))
check(operator(1005, "suspend", "9") == struct.pack("<QB7x", 9, 1))
check(operator(1005, "resume", "9") == struct.pack("<QB7x", 9, 0))
check(operator(1006, "fund", "top-up", "1000000") == struct.pack("<Q", 10**12))
check(operator(1009, "fee-tier", "9", "5") == struct.pack("<QB7x", 9, 5))
check(operator(1009, "fee-tier", "9", "volume") == struct.pack("<QB7x", 9, 255))
check(operator(1010, "index", "accept", "BTC-PERP", "72500") == struct.pack("<QH6x", 725000, 1))
ALL = 2**32 - 1
for words, whose, order_id, asset in [
        (["7"], (7, ALL, ALL), bytes(16), 0xFFFF),
        (["7/0", "ETH-PERP"], (7, 0, ALL), bytes(16), 2),
        (["7/0/1", "BTC-PERP", TARGET], (7, 0, 1), target, 1)]:
    check(operator(1007, "operator", "cancel", *words) ==
          struct.pack("<QII", *whose) + order_id + struct.pack("<H6x", asset), words)
check(operator(1002, "market", "state", "BTC-PERP", "closed", "--force") ==
      struct.pack("<HHBBH", 1, 0, 5, 1, 0))

# What cannot be meant is refused before anything is signed.
common = ["--url", exchange.url, "--account", "7", "--session-key", key, "--dry-run"]
for words, part in [
        (["stop", "BTC-PERP", "buy", "1", "110000", "--tif", "IOC"], "fires as a market order"),
        (["stop", "BTC-PERP", "buy", "1", "110000", "111000", "--tif", "GTT:2030-01-31T12:00:00Z"],
         "--expires"),
        (["stop", "BTC-PERP", "buy", "1", "high:110000"], "TRIGGER"),
        (["stop", "BTC-PERP", "buy", "1", "110000", "--oco", "x"], "--oco"),
        (["transfer", "0", "0/0", "0/1"], "AMOUNT"),
        (["transfer", "1", "0", "0/1"], "FROM"),
        (["withdraw", "1", "0x12"], "ADDRESS"),
        (["withdraw", "1", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"],
         "ADDRESS 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD has a wrong checksum (EIP-55); these "
         "digits are spelled 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
        (["withdraw", "1", "FB6916095ca1df60bb79ce92ce3ea74c37c5d359"],
         "wrong checksum"),
        (["schedule-cancel", "0"], "SECONDS"),
        (["mmp", "set", "BTC-PERP", "0", "0", "1", "1"], "WINDOW_MS"),
        (["market", "halt-all", "CLOSED"], "one market at a time")]:
    flags = common if words[0] != "market" else ["--url", exchange.url, "--operator-key", key]
    done = perp.run(*words, *flags, code=2)
    check(part in done.stderr, (words, done.stderr))
for line, part in [("sell BTC-PERP 1", "begins with order"), ("order BTC-PERP buy 1", "SIDE"),
                   ("cancel BTC-PERP x", "ORDER_ID"), ("", "holds no item"),
                   ("order BTC-PERP buy 1 9 tif=GTT", "tif=GTC"),
                   ("\n".join([f"cancel BTC-PERP {TARGET}"] * 65), "at most 64")]:
    with open(path, "w") as file:
        file.write(line + "\n")
    done = perp.run("batch", str(path), *common, code=2)
    check(part in done.stderr, (line[:40], done.stderr))
print("ok")
