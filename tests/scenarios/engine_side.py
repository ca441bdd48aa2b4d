"""A scenario's exchange as the engine alone, behind the pipe of tests/model."""
import base64
import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "model"))
# pylint: disable=wrong-import-position
import keys as model_keys
import reads
import wire
from pipe import REPLY, Pipe, command_bytes, read_bytes

SOURCE = str(pathlib.Path(__file__).resolve().parents[2])
HAS_RESULTS = struct.Struct("<Q")
TICK, TIME, WORK = 2000, 0, 1
PROBLEMS = {"rejected_unauthorized": "invalid_api_key",
            "rejected_invalid_portfolio_id": "portfolio_not_found",
            "rejected_market_not_found": "invalid_market"}


class Key:
    def __init__(self, public):
        self.public = public


class EngineSide:
    """Every method that http_side.HttpSide has, with the same meaning."""

    def __init__(self, build):
        self.build, self.pipe = build, None
        self.ed25519 = model_keys.ed25519_keys()
        self.masters = 0
        self.operator, self.oracle_key = self.session_key(), self.session_key()
        self.met = set()  # (code, status, reason)

    def session_key(self):
        return Key(next(self.ed25519))

    def master_key(self):
        self.masters += 1
        return Key(model_keys.secp256k1_public(self.masters))

    # --- life ---------------------------------------------------------------------------------

    def begin(self, config, clock_ns, markets):
        self.pipe, self.clock_ns, self.id_count = Pipe(self.build), clock_ns, 0
        self.works = True
        self.orders, self.marks, self.states, self.withdrawals = {}, {}, {}, []
        values = {"exchange.operator_key": base64.b64encode(self.operator.public).decode(),
                  "exchange.oracle_keys": base64.b64encode(self.oracle_key.public).decode(),
                  "engine.accounts": "4096", "engine.portfolios": "8192",
                  "engine.orders": "65536", "engine.positions": "65536",
                  "engine.credentials": "16384", "engine.deposits": "65536",
                  "limits.duplicate_slots": str(1 << 21),
                  "limits.funding_small": "0", "limits.funding_full": "0"}
        values.update({key: value for key, value in config.items() if not is_of_process(key)})
        self.boot(0)
        assert self.node(2013, wire.configuration(SOURCE, values))["status"] == "request_completed"
        for market in markets:
            assert self.node(1001, market.body())["status"] == "request_completed", market.symbol
            self.states.setdefault(market.asset, "ACTIVE")

    def boot(self, step_ns):
        """Another start: only scenarios of the engine alone have one."""
        self.node(2014, struct.pack("<QIIq", 1, 7, 0, step_ns))

    def end(self):
        return self.pipe.close() == 0

    def advance(self, step_ns):
        self.clock_ns += step_ns
        self.node(TICK, struct.pack("<B7x", TIME))

    # --- commands -----------------------------------------------------------------------------

    def new_id(self):
        self.id_count += 1
        return wire.uuid7(self.clock_ns // 10**6, self.id_count)

    def _reply(self, request):
        replies = self.pipe.run([request])
        if not replies:
            raise AssertionError(f"the engine ended with {self.pipe.close()}")
        return replies[0]

    def _apply(self, request, code):
        reply = self._reply(request)
        sequence, t_ns, status, reason, original, _, count, account, work = REPLY.unpack_from(reply)
        out = {"status": wire.STATUSES[status], "reason": wire.reason_name(reason),
               "sequence": sequence, "t_ns": t_ns, "account_id": account, "results": [],
               "original_status": wire.STATUSES[original], "id": wire.uuid7_of(t_ns, sequence, 0)}
        at = len(reply) - 56 * count
        for index in range(count):
            effect, body = wire.EFFECTS.unpack_from(reply, at + 56 * index)
            self._note(effect, body, out)
        self.met.add((code, out["status"], out["reason"]))
        for status_of_item in out["results"]:
            self.met.add((code, status_of_item, "item"))
        while work and self.works:
            work = self._work()
        return out

    def set_work(self, works):
        """Whether deferred work runs to its end behind each command."""
        self.works = works
        while works and self._work():
            pass

    def _work(self):
        reply = self._reply(command_bytes(0, TICK, struct.pack("<B7x", WORK), b"", self.clock_ns))
        *_, count, _, work = REPLY.unpack_from(reply)
        at = len(reply) - 56 * count
        for index in range(count):
            self._note(*wire.EFFECTS.unpack_from(reply, at + 56 * index), None)
        return work

    def _note(self, code, body, out):
        if code == 2100 and out is not None:
            status, item = struct.unpack_from("<HxB", body, 24)
            if item != 255:
                out["results"].append(wire.STATUSES[status])
        elif code == 2101:
            order_id, remaining, filled, _, status, reason = struct.unpack_from("<16sQQQBB", body)
            self.orders[order_id] = (ORDER_STATES[status], remaining, filled,
                                     wire.reason_name(reason))
        elif code == 2109:
            index, mark, _, _, asset, valid = struct.unpack_from("<QQqqHxxB", body)
            self.marks[asset] = (mark, index, bool(valid))
        elif code == 2111:
            asset, state = struct.unpack_from("<HxxB", body)
            self.states[asset] = MARKET_STATES[state]
        elif code == 2120:
            self.withdrawals.append(body[:16])
            if out is not None:
                out["withdrawal_id"] = body[:16]

    def request(self, code, body, key, request_id):
        kind = 0 if len(key.public) == 32 else 1
        payload = struct.pack("<BBHI", 1, kind, code, 0) + request_id + body
        extra = request_id + request_id if code == 34 else b""
        return self._apply(command_bytes(1, code, payload, key.public, self.clock_ns, extra), code)

    def node(self, code, body):
        return self._apply(command_bytes(0, code, body, b"", self.clock_ns), code)

    def setting(self, code, actor, body):
        """A JSON write: the node's command in its place; `ok` or the code of its problem."""
        out = self.node(code, actor["api_key_id"] + body)
        if out["status"] == "request_completed":
            return "ok"
        return PROBLEMS.get(out["status"], out["reason"]) if out["reason"] == "none" else \
            out["reason"]

    # --- reads --------------------------------------------------------------------------------

    def balance(self, _actor, place):
        account, subaccount, portfolio = place
        row = self._reply(read_bytes("b", account, struct.pack("<II", subaccount, portfolio)))
        if not row:
            return None
        row = reads.BALANCE.unpack(row)
        return {"free": row[3], "withdrawable": row[4], "equity": reads.integer(row[5]),
                "now": row[9], "initial": reads.integer(row[6]),
                "maintenance": reads.integer(row[7]),
                "status": PORTFOLIO_STATES[row[10]]}

    def positions(self, _actor, account):
        rows = []
        for row in reads.POSITION.iter_unpack(self._reply(read_bytes("p", account))):
            rows.append({"place": row[:3], "market": row[4].rstrip(b"\0").decode(), "size": row[5],
                         "cost": row[6], "net_funding": row[7], "pnl": reads.integer(row[9]),
                         "liquidation": row[12], "leverage": row[13]})
        return rows

    def order(self, _actor, order_id):
        return self.orders.get(order_id)

    def open_orders(self, _actor, place):
        rows = reads.ORDER.iter_unpack(self._reply(read_bytes("o", place[0])))
        live = [row for row in rows if row[:3] == place]
        return sum(row[ORDER_STATUS] in (0, 5) for row in live)

    def book(self, market, depth=1000):
        symbol = market.symbol.encode().ljust(32, b"\0")
        reply = self._reply(read_bytes("k", 0, symbol + struct.pack("<I", depth)))
        _, _, bids, _ = reads.BOOK.unpack_from(reply)
        levels = list(reads.LEVELS.iter_unpack(reply[reads.BOOK.size:]))
        return levels[:bids], levels[bids:]

    def mark(self, market):
        return self.marks.get(market.asset, (0, 0, False))

    def market_state(self, market):
        return self.states[market.asset]

    def tier(self, _actor, account):
        return reads.ACCOUNT.unpack(self._reply(read_bytes("u", account)))[6]

    def fund(self):
        balance = self.balance(None, (0, 0, 0))
        return balance["equity"] - sum(row["pnl"] for row in self.positions(None, 0))

    def audit(self):
        row = reads.AUDIT.unpack_from(self._reply(read_bytes("a")))
        return {"holds": row[14] == 1023 and row[12] == 0, "fee_account": row[2],
                "withdrawals_pending": row[3]}


ORDER_STATES = ["OPEN", "FILLED", "CANCELED", "REJECTED", "UNTRIGGERED", "PARTIALLY_FILLED",
                "EXPIRED"]
ORDER_STATUS = 17  # place of the status in a row of reads.ORDER
MARKET_STATES = ["ACTIVE", "POST_ONLY", "REDUCE_ONLY", "CANCEL_ONLY", "HALTED", "CLOSED"]
PORTFOLIO_STATES = ["ACTIVE", "IN_LIQUIDATION", "CLOSED"]


def is_of_process(key):
    """Options that record 2013 does not carry."""
    return key.startswith(("net.", "node.", "store.", "admin.")) or key in (
        "exchange.restart", "exchange.markets", "limits.rate_limits")
