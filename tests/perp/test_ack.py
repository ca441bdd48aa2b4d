"""test_ack.py BUILD - --ack full and binary: what is asked for, and what is shown of the answer."""
import json
import struct
import sys
import uuid

from fake import Exchange, Perp, check

perp = Perp(sys.argv[1])
exchange = Exchange()
perp.run("keys", "new", "ed25519", "session.key")
common = ["--url", exchange.url, "--account", "7", "--session-key", "session.key"]
order = ["order", "BTC-PERP", "buy", "0.5", "100000", *common]
PLACE = "/api/v1/trading/order/place/limit"
ID = "0198c0de-0000-7000-8000-0000000000a1"

# X-Ack: full (W5). Every member is shown; the example of json.md J4.
exchange.answers[PLACE] = (200, json.loads(
    '{"status":"request_completed","processed_at_ns":1755582431240112233,"sequence":4711,'
    '"order_status":"OPEN","remaining_size":"0.5","filled_size":"0","average_price":null,'
    '"quantity_ahead":"1.2","best_bid":"99999.9","best_ask":"100000","book_seq":9001,'
    '"timing_ns":{"verified":4100,"sequenced":5200,"matched":5500,"ack":210000}}'))
shown = perp.run(*order, "--ack", "full").stdout
check(exchange.last()[2].get("x-ack") == "full")
for name, value in (("order_status", "OPEN"), ("quantity_ahead", "1.2"), ("average_price", "-"),
                    ("best_bid", "99999.9"), ("timing_ns.matched", "5500")):
    check(any(line.split() == [name, value] for line in shown.splitlines()), name, shown)
perp.run(*order)
check("x-ack" not in exchange.last()[2] and "accept" not in exchange.last()[2])

# X-Ack: receipt (W5): the receipt is the last member, in a form that `perp receipt verify` reads.
exchange.answers[PLACE] = (200, {"status": "request_completed", "sequence": 4711,
                                 "processed_at_ns": 1755582431240112233, "receipt": "cGVycGQ="})
shown = json.loads(perp.run(*order, "--ack", "receipt", "-o", "json").stdout)
check(exchange.last()[2].get("x-ack") == "receipt" and shown["receipt"] == "cGVycGQ=", shown)


def ack(status, order_status, remaining, ahead, sequence=4711):
    """W5: status u16, order_status u8, version u8, pad4, processed_at_ns u64, sequence u64,
    request_id 16, remaining u64, quantity_ahead u64, verify_ns u32, match_ns u32."""
    return struct.pack("<HBB4xQQ16sQQII", status, order_status, 1, 1755582431240112233, sequence,
                       uuid.UUID(ID).bytes, remaining, ahead, 4100, 300)


def answered(body):
    exchange.answers[PLACE] = ("binary", body)


def shown_as(code=0, *flags):
    done = perp.run(*order, "--ack", "binary", "-o", "json", *flags, code=code)
    return json.loads(done.stdout)


# The 64 bytes, asked for by Accept with an envelope and by X-Ack with a frame.
answered(ack(0, 0, 50000, 120000))
check(shown_as() == {
    "request_id": ID, "status": "request_completed", "processed_at_ns": 1755582431240112233,
    "sequence": 4711, "order_status": "OPEN", "remaining_size": "0.5", "quantity_ahead": "1.2",
    "timing_ns": {"verify": 4100, "match": 300}})
check(exchange.last()[2].get("accept") == "application/octet-stream")
check("x-ack" not in exchange.last()[2])
shown_as(0, "--binary")
check(exchange.last()[2].get("x-ack") == "binary" and "accept" not in exchange.last()[2])
check(exchange.last()[2]["content-type"] == "application/octet-stream")

# Partially filled and resting; filled; no order (255); refused before it was sequenced.
answered(ack(0, 5, 1, 0))
check(shown_as()["remaining_size"] == "0.00001" and shown_as()["quantity_ahead"] == "0")
answered(ack(0, 1, 0, 0))
check(shown_as()["order_status"] == "FILLED" and shown_as()["quantity_ahead"] is None)
answered(ack(0, 255, 0, 0))
check([shown_as()[name] for name in ("order_status", "remaining_size", "quantity_ahead")]
      == [None] * 3)
answered(ack(11, 3, 50000, 0))  # 11: the fifth of the order rejections
check(shown_as(1)["status"] == "rejected_invalid_portfolio_id")
answered(ack(2, 255, 0, 0, sequence=0))
check("sequence" not in shown_as(1) and shown_as(1)["status"] == "request_dropped")

# A duplicate: the bytes do not say how the original ended, so it counts as not done.
answered(ack(1, 255, 0, 0))
done = perp.run(*order, "--ack", "binary", code=1)
check("duplicate_request_id" in done.stderr and "without --ack binary" in done.stderr, done)

# Bytes of another length, version or status are no acknowledgement.
good = ack(0, 0, 1, 1)
for body in (good[:63], good + b"\0", good[:3] + b"\2" + good[4:], b"\x38\0" + good[2:],
             good[:2] + b"\7" + good[3:]):
    answered(body)
    check("not perpd's" in perp.run(*order, "--ack", "binary", code=3).stderr, body)

# --explain's command asks for the same.
line = next(line for line in perp.run(*order, "--dry-run", "--explain", "--ack", "full")
            .stderr.splitlines() if line.startswith("curl "))
check("-H 'X-Ack: full'" in line, line)
