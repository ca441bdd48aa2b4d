"""test_wallets.py BUILD - ethers and viem sign accepted typed data: accounts and sessions, and an
order by each session; and for every payload of the vectors of EIP-712 both come to the digest of
the preview. Skipped where tools/setup --browser was not called.
"""
import json
import struct
import sys

import packages

packages.skip_without("ethers", "viem")
sys.path.insert(0, str(packages.SOURCE / "tests/system"))
from client import SECP256K1, SMALL_TABLES, Perpd, b64, header, new_id  # noqa: E402

VECTORS = json.loads((packages.SOURCE / "tests/vectors/perpd/eip712.json").read_text())["vectors"]
# Bodies of the codes without a vector (reference.md), of account 7.
ACCOUNT, KEY = struct.pack("<Q", 7), bytes([3]) * 33
MORE = {20: ACCOUNT + KEY + bytes(7), 22: ACCOUNT, 29: ACCOUNT + KEY + bytes(7),
        30: ACCOUNT + struct.pack("<iI", -1, 1) + KEY + struct.pack("<xH", 3) + b"abc" + bytes(1),
        31: ACCOUNT + KEY + bytes(7), 32: ACCOUNT, 36: bytes(8)}
SIGNED = {*range(9, 12), *range(13, 18), 19, 20, 22, 23, 24, *range(28, 37)}  # W4


def main():
    good = [vector for vector in VECTORS if vector["valid"]]
    perpd = Perpd(sys.argv[1] + "/perpd", "--exchange.testnet=on",
                  "--exchange.oracle_max_age_ms=0", *SMALL_TABLES)
    try:
        exchange = perpd.start()
        exchange.set_price(1_000_000)
        known = {code for code in SIGNED
                 if exchange.get(f"/api/v1/eip712/{code}").status == 200}
        good = [vector for vector in good if vector["request_type"] in known]
        tried = {vector["request_type"] for vector in good} | set(MORE)
        if known - tried:
            sys.exit(f"no payload of codes {sorted(known - tried)}")
        payloads = [bytes.fromhex(vector["payload_hex"]) for vector in good]
        payloads += [header(code, SECP256K1) + new_id() + body
                     for code, body in MORE.items() if code in known]
        print(packages.run("wallets.mjs", f"http://127.0.0.1:{exchange.port}",
                           text=json.dumps([b64(payload) for payload in payloads])), end="")
        return perpd.stop()
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
