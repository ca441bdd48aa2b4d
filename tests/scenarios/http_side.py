"""A scenario's exchange as clients see it: signed requests and reads over HTTP, on a perpd whose
clock stands still (planted/stand.c) until the script moves it."""
import json
import mmap
import os
import pathlib
import re
import struct
import sys
import time
import uuid

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
# pylint: disable=wrong-import-position
import client
from bodies import STATES
from markets import raw, usdc

# W2: the paths that client.PATHS, of the codes that it signs itself, does not have.
PATHS = {
    6: "/api/v1/trading/order/place/conditional", 7: "/api/v1/trading/order/cancel/conditional",
    8: "/api/v1/trading/order/batch", 9: "/api/v1/cash/transfer", 10: "/api/v1/cash/withdraw",
    22: "/api/v1/subaccounts/create", 23: "/api/v1/subaccounts/close",
    24: "/api/v1/portfolio/create", 25: "/api/v1/trading/schedule-cancel",
    26: "/api/v1/trading/mmp/set", 27: "/api/v1/trading/mmp/reset", 32: "/api/v1/account/close",
}
OPERATOR = "/api/v1/operator"
SETTLE_S = 60  # a read that is not yet as expected is repeated for so long
TURN_S = 0.15  # a turn of every role, parked ones included
SECOND_NS = 10**9
MOMENT_NS = 1000


class HttpSide:
    def __init__(self, build):
        self.build = pathlib.Path(build)
        self.operator, self.oracle_key = client.Ed25519Key(), client.Ed25519Key()
        self.perpd, self.met, self.api_key = None, set(), None

    @staticmethod
    def session_key():
        return client.Ed25519Key()

    @staticmethod
    def master_key():
        return client.Secp256k1Key()

    # --- life ---------------------------------------------------------------------------------

    def begin(self, config, clock_ns, markets):
        options = dict(option[2:].split("=", 1) for option in client.SMALL_TABLES)
        options = {"exchange.oracle_max_age_ms": 10000} | options | config  # the default, as run.py
        self.perpd = client.Perpd(self.build / "tests" / "perpd_standing",
                                  *(f"--{key}={value}" for key, value in options.items()))
        self.perpd.operator, self.perpd.oracle = self.operator, self.oracle_key
        folder = self.perpd.folder
        (folder / "markets").write_text(json.dumps({"markets": [m.own for m in markets]}))
        self.perpd.options.append(f"--exchange.markets={folder / 'markets'}")
        self.perpd.options.append("--store.durability=none")
        (folder / "clock").write_bytes(struct.pack("<Q", clock_ns))
        self.next_audit_ns, self.api_key = 0, None
        self.clock_ns = clock_ns
        with open(folder / "clock", "r+b") as file:
            self.clock = mmap.mmap(file.fileno(), 8)
        os.environ["STANDING_CLOCK"] = str(folder / "clock")
        self.exchange = self.perpd.start()

    def end(self):
        code = self.perpd.stop()
        self.perpd.remove()
        self.perpd = None
        return code == 0

    def give_up(self):
        if self.perpd is not None:
            self.perpd.remove()

    def advance(self, step_ns):
        before = self.progress()[0]
        self.move(step_ns)
        time.sleep(TURN_S)
        # Where nothing is due no tick is written, unless a reader misses a request when t is more
        # than a second old (W3b).
        asks = step_ns >= SECOND_NS and self.api_key is not None
        if asks and self.progress()[0] == before:
            self.move(MOMENT_NS)
            self.exchange.get(f"/api/v1/requests/{uuid.UUID(bytes=self.new_id())}", self.api_key)
        self.rest(before + asks)

    def move(self, step_ns):
        self.clock_ns += step_ns
        self.clock[:] = struct.pack("<Q", self.clock_ns)

    def progress(self):
        """The last sequence that is durable, the last that is shown, and the work that is left."""
        page = self.exchange.admin("/metrics").body.decode()
        return [int(re.search(rf"^perpd_{name} (\d+)$", page, re.M)[1]) for name in (
            "journal_durable_sequence", "follower_applied_sequence", "deferred_work_items")]

    def rest(self, least=0):
        """Waits until deferred work has run to its end, behind this sequence at least."""
        until = time.monotonic() + SETTLE_S
        while time.monotonic() < until:
            durable, applied, work = self.progress()
            if applied >= durable >= least and work == 0:
                return
        raise AssertionError(f"deferred work does not end: {durable}, {applied}, {work}")

    def settled(self, see):
        """What `see` gives once both sides agree, or at last."""
        until = time.monotonic() + SETTLE_S
        got, want = see()
        while got != want and time.monotonic() < until:
            time.sleep(0.01)
            got, want = see()
        return got, want

    # --- commands -----------------------------------------------------------------------------

    def new_id(self):
        return client.new_id(self.clock_ns // 10**6)

    def request(self, code, body, key, request_id):
        path = OPERATOR if code >= 1000 else PATHS.get(code) or client.PATHS[code]
        payload = client.payload_of(code, body, key, request_id)
        response = self.exchange.kept(self.exchange.wrap(path, payload, key))
        answer = response.json
        out = {"status": answer.get("status", answer.get("message")), "reason": "none",
               "results": answer.get("results", [])}
        if response.status != 200:
            out["status"] = answer["code"]
            return out
        out.update({name: answer[name] for name in ("reason", "account_id", "api_key",
                                                    "original_status") if name in answer})
        for name, member in (("id", "api_key_id"), ("withdrawal_id", "withdrawal_id")):
            if member in answer:
                out[name] = bytes.fromhex(answer[member].replace("-", ""))
        out.setdefault("id", b"")
        self.api_key = out.get("api_key", self.api_key)
        self.rest()
        return out

    def setting(self, code, actor, body):
        _, subaccount, portfolio = struct.unpack_from("<QII", body)
        where = {"subaccount_index": subaccount, "portfolio_index": portfolio}
        method, path = "POST", "/api/v1/portfolio/" + {2002: "close", 2003: "reopen"}.get(code, "")
        if code == 2001:
            leverage, asset = struct.unpack_from("<IH", body, 16)
            where.update(market=self.symbol(asset), leverage=leverage)
            method, path = "PUT", "/api/v1/leverage"
        elif code == 2009:
            amount = struct.unpack_from("<Q", body, 16)[0]
            where["amount"] = f"{amount // 10**6}.{amount % 10**6:06}"
            path = "/api/v1/faucet"
        elif code == 2010:
            where = {"subaccount_index": subaccount,
                     "name": body[16:].rstrip(b"\0").decode()}
            method, path = "PATCH", f"/api/v1/portfolio/{portfolio}/name"
        data = json.dumps(where).encode()
        response = self.exchange.kept(client.request_bytes(
            method, path, data, [client.JSON, ("X-API-KEY", actor["api_key"])]))
        self.rest()
        return "ok" if response.status == 200 else response.json["code"]

    # --- reads --------------------------------------------------------------------------------

    def get(self, path, actor=None):
        response = self.exchange.get(path, actor["api_key"] if actor else None)
        return response.json if response.status == 200 else None

    def symbol(self, asset):
        for row in self.get("/api/v1/markets")["markets"]:
            if row["asset_id"] == asset:
                return row["market"]
        return f"NONE{asset}-PERP"

    def balance(self, actor, place):
        row = self.get("/api/v1/portfolio/balance?subaccount_index=%d&portfolio_index=%d"
                       % place[1:], actor)
        if row is None:
            return None
        return {"free": usdc(row["cash_balance"]), "withdrawable": usdc(row["withdrawable"]),
                "now": usdc(row["withdrawable_now"]),
                "equity": usdc(row["equity"]), "initial": usdc(row["initial_margin"]),
                "maintenance": usdc(row["maintenance_margin"]), "status": row["status"]}

    def positions(self, actor, _account):
        scales = {row["market"]: (row["price_decimals"], row["size_decimals"])
                  for row in self.get("/api/v1/markets")["markets"]}
        rows = []
        for row in self.get("/api/v1/positions", actor):
            price_decimals, size_decimals = scales[row["market"]]
            size = raw(row["size"], size_decimals) * (1 if row["side"] == "LONG" else -1)
            pnl = usdc(row["unrealized_pnl"])
            liquidation = row["liquidation_price"]
            rows.append({
                "place": (row["account_id"], row["subaccount_index"], row["portfolio_index"]),
                "market": row["market"], "size": size, "pnl": pnl,
                "cost": raw(row["mark_price"], price_decimals) * size - pnl,
                "net_funding": usdc(row["net_funding"]), "leverage": row["leverage"],
                "liquidation": raw(liquidation, price_decimals) if liquidation else 0})
        return rows

    def order(self, actor, order_id):
        row = self.get("/api/v1/orders/" + client.id_text(order_id), actor)
        if row is None:
            return None
        decimals = next(market["size_decimals"] for market in self.get("/api/v1/markets")["markets"]
                        if market["market"] == row["market"])
        return (row["order_status"], raw(row["remaining_size"], decimals),
                raw(row["filled_size"], decimals), row.get("reason", "none"))

    def open_orders(self, actor, place):
        count = 0
        for status in ("OPEN", "PARTIALLY_FILLED"):
            rows = self.get("/api/v1/orders?limit=1000&status=%s&subaccount_index=%d"
                            "&portfolio_index=%d" % (status, *place[1:]), actor)
            count += len(rows["orders"] if isinstance(rows, dict) else rows)
        return count

    def book(self, market, depth=1000):
        row = self.get(f"/api/v1/markets/{market.symbol}/book?depth={depth}")
        return [[(market.price(price), market.size(size)) for price, size in row[side]]
                for side in ("bids", "asks")]

    def mark(self, market):
        row = self.get(f"/api/v1/markets/{market.symbol}/mark")
        if row is None or row["mark_price"] is None:
            return 0, 0, False
        return market.price(row["mark_price"]), market.price(row["index_price"]), row["valid"]

    def market_state(self, market):
        return self.get(f"/api/v1/markets/{market.symbol}")["state"]

    def tier(self, actor, _account):
        return self.get("/api/v1/account", actor)["fee_tier"]

    def fund(self):
        return usdc(self.get("/api/v1/insurance-fund")["balance"])

    def audit(self):
        if self.clock_ns < self.next_audit_ns:  # one a second is computed, and the clock stands
            self.advance(self.next_audit_ns - self.clock_ns)
        self.next_audit_ns = self.clock_ns + SECOND_NS
        response = self.exchange.admin("/audit").json
        return {"holds": all(response[f"i{number}"] for number in range(1, 11))
                         and response["recount_differences"] == 0,
                "fee_account": usdc(response["totals"]["fee_account"]),
                "withdrawals_pending": usdc(response["totals"]["withdrawals_pending"])}


__all__ = ["HttpSide", "STATES"]
