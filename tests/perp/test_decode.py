"""test_decode.py BUILD - perp decode names every byte, and refuses what is no payload."""
import base64
import json
import pathlib
import random
import subprocess
import sys

from fake import Perp, check, vectors

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
import client
import mistakes

perp = Perp(sys.argv[1])
ED25519 = vectors("ed25519.json")
EIP712 = vectors("eip712.json")
ORDER = bytes.fromhex(ED25519["place_limit_gtc_post_only"]["payload_hex"])

# Every valid vector decodes; the rows cover it byte for byte.
for row in [*ED25519.values(), *EIP712.values()]:
    if not row["valid"] or "request_type" not in row:
        continue
    refused = 5 if "unknown" in row["name"] else 0  # a code that no enum has
    done = perp.run("decode", "-o", "json", row["payload_hex"], code=refused)
    fields = json.loads(done.stdout)["fields"]
    at = 0
    for field in fields:
        check(field["offset"] == at and len(field["hex"]) == 2 * field["size"], row["name"])
        at += field["size"]
    check("".join(field["hex"] for field in fields) == row["payload_hex"], row["name"])
    if "binary_frame_hex" in row:
        older = row["name"].startswith("operator")  # of rules 5: over the payload alone
        done = perp.run("decode", "--frame", "-o", "json", row["binary_frame_hex"],
                        code=5 if older else refused)
        check(not older or '"mistake":"operator_domain"' in done.stdout, done.stdout)
        tail = json.loads(done.stdout)["fields"][-2:]
        check([field["name"] for field in tail] == ["public_key", "signature"], row["name"])
        check(tail[0]["hex"] + tail[1]["hex"] == base64.b64decode(
            row["envelope"]["public_key"]).hex() + base64.b64decode(
            row["envelope"]["signature"]).hex(), row["name"])

# Values of W4's example, by name.
fields = {field["name"]: field["value"] for field in json.loads(
    perp.run("decode", "-o", "json", base64.b64encode(ORDER).decode()).stdout)["fields"]}
check(fields["portfolio_id.account_id"] == "7" and fields["price"] == "1000000 raw")
check(fields["quantity"] == "-50000 raw, sell" and fields["expiry"] == "GTC")
check(fields["post_only"] == "true" and fields["stp"] == "0 EXPIRE_TAKER")
check(fields["request_id"].startswith("0198c0de-0000-7000-8000-0000000000a1"))
check("2025-08-19T05:47:11.232Z" in fields["request_id"])

# A market record is judged as the exchange judges it (J5): the first rule it breaks, by its field.
SPEC = pathlib.Path(__file__).resolve().parents[2] / "docs/spec/json.md"
BTC = json.loads(next(line for line in SPEC.read_text().splitlines()
                      if line.startswith('{"market":"BTC-PERP","asset_id"')))


def record(text):
    body = text.encode()
    payload = ORDER[:2] + (1001).to_bytes(2, "little") + ORDER[4:24] + body
    return payload.ljust((len(payload) + 7) // 8 * 8, b"\0").hex()


for change, field, rule in (
        ({}, None, None), ({"tick_size": "0"}, "tick_size", "required; decimal text, 1 to 2^40"),
        ({"tick_size": 1}, "tick_size", "required"),
        ({"colour": "red"}, "body", "no member beside"),
        ({"fees": BTC["fees"][:5]}, "fees", "6 objects"),
        ({"tiers": [{**BTC["tiers"][0], "imr_ppm": 1}]}, "tiers.imr_ppm", "rounded down"),
        ({"asset_id": 65535}, "asset_id", "1 to 65534")):
    text = record(json.dumps({**BTC, **change}))
    done = perp.run("decode", text, code=5 if field else 0)
    check(not field or f"the market record: {field} must be: " in done.stderr and
          rule in done.stderr, change, done)
    shown = json.loads(perp.run("decode", "-o", "json", text, code=5 if field else 0).stdout)
    check(shown.get("field") == field and (not rule or rule in shown["rule"]), change, shown)
check("body must be: one JSON object" in perp.run(
    "decode", record(json.dumps(BTC) + "{}"), code=5).stderr)

# Forms of input: hex with 0x, standard input, raw bytes, a whole envelope.
want = perp.run("decode", ORDER.hex()).stdout
envelope = json.dumps(ED25519["place_limit_gtc_post_only"]["envelope"])
check(perp.run("decode", "0x" + ORDER.hex().upper()).stdout == want)
check(perp.run("decode", stdin=ORDER.hex() + "\n").stdout == want)
check(perp.run("decode", "--format", "raw", stdin=ORDER, text=False).stdout.decode() == want)
check(perp.run("decode", stdin=envelope).stdout == want + "signature: good\n")
check(perp.run("decode", "-", stdin=envelope).stdout == want + "signature: good\n")


def changed(offset, value):
    return (ORDER[:offset] + bytes([value]) + ORDER[offset + 1:]).hex()


# What is no payload: nothing on standard output, the offset and the reason on standard error.
rows = [
    ("", "nothing to decode"),
    ("zzzz!", "character 4, '!'"),
    ("AQEN_AAA", "URL-safe"),
    ("AQE", "no multiple of 4"),
    ("{\"payload\":1}", "no 'payload' that is a string"),
    ("{\"payload\":\"AQ==\"", "no JSON"),
    ("00" * 23, "24 to 4144 bytes; these are 23"),
    (ORDER[:64].hex(), "ends inside 'post_only'"),
    (ORDER.hex() + "00" * 8, "offset 72: bytes beyond the body"),
    (changed(0, 2), "offset 0: version is 2"),
    (changed(1, 3), "offset 1: signature_type is 3"),
    (changed(2, 18), "offset 2: request_type 18 is reserved"),
    (changed(3, 7), "not in the table"),
    ((ORDER[:2] + (2000).to_bytes(2, "little") + ORDER[4:32]).hex(), "a record of the journal"),
]
for text, wanted in rows:
    for more in ([], ["-o", "json"]):
        done = perp.run("decode", *more, code=5, stdin=text)
        check(wanted in done.stderr, text, done.stderr)
        check(done.stdout == "", text)
done = perp.run("decode", "--frame", ORDER.hex(), code=5)
check("at least 120 bytes" in done.stderr, done.stderr)

# The signature of an envelope or frame: its verdict, and the mistake that fits.
session, master, salt = client.Ed25519Key(), client.Secp256k1Key(), bytes(range(5, 37))
CASES = {"base64 text", "packed", "expiry in ms", "URL-safe payload", "no =", "chainId",
         "65 bytes of personal_sign", "DER, high s", "uncompressed", "address",
         "challenge of the payload"}
seen = 0
for name, wanted, proved, sent in mistakes.made(session, master, 7, salt):
    if name not in CASES:
        continue
    done = perp.run("decode", "-o", "json", "--exchange-id", salt.hex(), code=5,
                    stdin=json.dumps(sent))
    shown = json.loads(done.stdout)
    check({row["mistake"] for row in shown["mistakes"]} == wanted, name, done.stdout)
    check(not proved or shown["signature"] == "bad", name, done.stdout)
    check("usual mistake" in done.stderr, name, done.stderr)
    done = perp.run("decode", "--exchange-id", salt.hex(), code=5, stdin=json.dumps(sent))
    check(all(f"\nmistake {mistake}: " in "\n" + done.stdout for mistake in wanted), done.stdout)
    seen += 1
check(seen == len(CASES), seen)
for row, more, verdict, code in (
        (EIP712["create_session"], [], "unknown", 0),
        (EIP712["create_session"], ["--exchange-id", EIP712["create_session"]["exchange_id"]],
         "good", 0),
        (EIP712["create_session"], ["--exchange-id", "00" * 32], "bad", 5),
        (ED25519["place_limit_gtc_post_only"], [], "good", 0)):
    done = perp.run("decode", *more, code=code, stdin=json.dumps(row["envelope"]))
    check(done.stdout.splitlines()[-1] == f"signature: {verdict}", done.stdout)
    check(code == 0 or "does not verify" in done.stderr, done.stderr)
perp.run("decode", "--exchange-id", "00", code=2, stdin=envelope)

# Bytes that are a payload, but one that the exchange refuses: shown, with the offset, and exit 5.
rows = [
    (changed(4, 1), "offset 4: padding must be zero"),
    (changed(67, 9), "offset 67: padding must be zero"),
    (changed(14, 0x40), "offset 8: a request id is a UUIDv7"),
    (changed(64, 2), "offset 64: a bool is 0 or 1"),
    (changed(66, 4), "offset 66: no such code"),
    (changed(68, 0), "offset 68: asset 0 is no market"),
]
for text, wanted in rows:
    done = perp.run("decode", text, code=5)
    check(wanted in done.stdout, wanted, done.stdout)
    check("refuses 1 of these" in done.stderr, wanted)

# Whatever the bytes are: shown or refused, never anything else.
random = random.Random(20)
for _ in range(150):
    row = random.choice([row for row in EIP712.values() if "request_type" in row])
    data = bytearray.fromhex(row["payload_hex"])
    for _ in range(random.randrange(1, 4)):
        data[random.randrange(len(data))] = random.randrange(256)
    data = data[:random.choice([len(data), len(data), random.randrange(len(data) + 1)])]
    data += bytes(random.choice([0, 0, 1, 8, 64, 97]))
    words = ["decode", "--format", "raw"] + random.choice([[], ["--frame"], ["-o", "json"]])
    done = subprocess.run([perp.program, *words], input=bytes(data), capture_output=True,
                          env=perp.environment())
    check(done.returncode in (0, 5), data.hex(), done.stderr.decode())
    check((done.returncode == 5) == bool(done.stderr), data.hex(), done.stderr.decode())
