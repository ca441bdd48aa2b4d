"""binary_vectors.py - makes tests/vectors/perpd/stream_binary.json: messages of the subprotocol
perps.bin.v1, for whoever writes a client. It shares nothing with perpd or its clients.

A vector has the bytes of one message of the WebSocket, `hex`, and what they say, `message`: the
frame's members and `data`, each with its `template`, head and members by the names of wire.md W9;
or the members of an acknowledgement. Ids are UUIDs, null for zero. One without `message` is
refused. Members that a newer exchange has put behind those of wire.md, and templates that it has
added, are passed over: `data` has {"template":..} alone of these."""
import json
import pathlib
import uuid

PATH = pathlib.Path(__file__).resolve().parents[1] / "vectors/perpd/stream_binary.json"
SEQ, ENGINE_SEQ, TIME_NS, BTC = 9002, 4721, 1755582431950112233, 1
FIRST, SECOND = ("0198c0de-0000-7000-8000-0000000000a1", "0198c0de-029c-71cb-8000-00049c000000")
# Layouts of wire.md W9: name and bytes, in order; "-" a pad; a trailing "i" is signed.
LAYOUTS = {
    1: "price 8, size 8, side 1, - 7",
    2: "price 8, size 8, taker_side 1, flags 1, - 6, trade_seq 8",
    3: "bid_price 8, bid_size 8, ask_price 8, ask_size 8",
    4: "order_id u, remaining 8, filled 8, price 8, status 1, reason 1, side 1, - 5",
    5: "fill_id u, order_id u, price 8, size 8, fee 8i, liquidity 1, side 1, - 6",
    6: "status 2, order_status 1, version 1, - 4, processed_at_ns 8, sequence 8, request_id u, "
       "remaining 8, quantity_ahead 8, verify_ns 4, match_ns 4",
    16: "prev_seq 8, engine_seq 8, channel 1, type 1, - 2, crc 4",
    17: "from_seq 8, oldest_seq 8",
    18: "id u, size 8i, cost 8i, net_funding 8i, subaccount_index 4, portfolio_index 4",
    19: "ref_id u, amount 8i, balance_after 8i, subaccount_index 4, portfolio_index 4, index 4, "
        "kind 1, - 3",
    20: "id u, payment 8i, size 8i, rate_ppb 8i, index_price 8, hour_ns 8, subaccount_index 4, "
        "portfolio_index 4, index 4, - 4",
    21: "withdrawal_id u, amount 8i, from_subaccount_index 4, from_portfolio_index 4, "
        "to_subaccount_index 4, to_portfolio_index 4, kind 1, - 7",
    22: "equity 16i, maintenance_margin 16i, price 8, size 8i, subaccount_index 4, "
        "portfolio_index 4, status 1, level 1, - 6",
    23: "frozen_until_ns 8, subaccount_index 4, portfolio_index 4",
    24: "id u, public_key 33h, kind 1, action 1, - 5",
}
CHANNELS, TYPES = ("book", "trades", "bbo", "private"), ("snapshot", "update", "heartbeat", "gap")


def packed(value, kind):
    if kind == "u":
        return bytes(16) if value is None else uuid.UUID(value).bytes
    if kind == "33h":
        return bytes.fromhex(value).ljust(33, b"\0")
    return value.to_bytes(int(kind.rstrip("i")), "little", signed=kind.endswith("i"))


def message(template, values, market=BTC, flags=0, seq=SEQ, time_ns=TIME_NS, more=b""):
    body = b""
    for member in LAYOUTS[template].split(", "):
        name, kind = member.split()
        body += bytes(int(kind)) if name == "-" else packed(values[name], kind)
    head = ((template, 2), (24 + len(body + more), 2), (market, 2), (flags, 2), (seq, 8),
            (time_ns, 8))
    return b"".join(value.to_bytes(size, "little") for value, size in head) + body + more


def vector(name, channel, kind, data, prev_seq=9001, crc=None, more=b"", extra=None):
    """`data`: pairs of template and members, and what differs in the head."""
    market = 0 if channel == "private" else BTC
    frame = {"prev_seq": prev_seq, "engine_seq": ENGINE_SEQ, "channel": CHANNELS.index(channel) + 1,
             "type": TYPES.index(kind) + 1, "crc": crc or 0}
    raw, said = message(16, frame, market, int(crc is not None), more=more), []
    for template, values, *head in data:
        head = {"market": BTC, "flags": 0, "seq": SEQ, "time_ns": TIME_NS,
                **(head[0] if head else {})}
        raw += message(template, values, **head)
        head.pop("more", None)
        said.append({"template": template, **head, **values})
    raw += extra or b""
    if extra:
        said.append({"template": int.from_bytes(extra[:2], "little")})
    return {"name": name, "hex": raw.hex(), "message": {
        "channel": channel, "type": kind, "market": market, "seq": SEQ, "prev_seq": prev_seq,
        "engine_seq": ENGINE_SEQ, "time_ns": TIME_NS, "crc": crc, "data": said}}


def private(name, template, **values):
    head = values.pop("head", {})
    return vector(name, "private", "update", [(template, values, head)])


def level(price, size, side):
    return (1, {"price": price, "size": size, "side": side})


def trade(trade_seq, **head):
    flags = head.pop("liquidation", 0)
    return (2, {"price": 1_000_000, "size": 20_000, "taker_side": trade_seq % 2, "flags": flags,
                "trade_seq": trade_seq}, head)


def shortened(raw):
    """A message without its last 8 bytes, whose length says so."""
    return raw[:2] + (len(raw) - 8).to_bytes(2, "little") + raw[4:-8]


def refused(ack):
    good = bytes.fromhex(vector("", "bbo", "heartbeat", [])["hex"])
    changed = {"no bytes": b"", "half a head": good[:12], "a frame cut off": good[:40],
               "a length below a head": good[:2] + b"\x10\0" + good[4:],
               "a length that is no multiple of 8": good[:2] + b"\x2f\0" + good[4:],
               "a length beyond the end": good[:2] + b"\x38\0" + good[4:],
               "an unknown channel": good[:40] + b"\x09" + good[41:],
               "an unknown type": good[:41] + b"\x07" + good[42:],
               "data without a frame": message(*level(1, 1, 0)),
               "a frame shorter than its members": message(17, {"from_seq": 1, "oldest_seq": 2}
                                                           ).replace(b"\x11", b"\x10", 1),
               "bytes behind the data": good + bytes(8),
               "known data that is too short": good + shortened(message(*level(1, 1, 0))),
               "an acknowledgement that is too short": shortened(message(6, ack, market=0, seq=1)),
               "data that is cut off": good + message(*level(1, 1, 0))[:-8]}
    return [{"name": name, "hex": raw.hex()} for name, raw in changed.items()]


def made():
    ack = {"status": 0, "order_status": 5, "version": 1, "processed_at_ns": TIME_NS,
           "sequence": 4721, "request_id": FIRST, "remaining": 2**40, "quantity_ahead": 2**64 - 1,
           "verify_ns": 4100, "match_ns": 5500}
    at = {"subaccount_index": 3, "portfolio_index": 2}
    return [
        vector("a book, whole", "book", "snapshot", [level(999_999, 40_000, 0),
                                                     level(1_000_000, 20_000, 1)], SEQ, 0xC0FFEE01),
        vector("levels that change and go", "book", "update", [
            level(999_998, 2**40, 0), level(999_999, 0, 0), level(1_000_000, 0, 1)]),
        vector("a book without levels", "book", "snapshot", [], SEQ, 0),
        vector("a heartbeat of a book", "book", "heartbeat", [], SEQ, 0xFFFFFFFF),
        vector("trades, the newest first", "trades", "snapshot", [
            trade(78, seq=9000, time_ns=TIME_NS - 5),
            trade(77, seq=8998, time_ns=TIME_NS - 9)], SEQ),
        vector("a trade", "trades", "update", [trade(79)]),
        vector("a trade of a liquidation", "trades", "update", [trade(80, liquidation=1)]),
        vector("trades that are lost", "trades", "gap", [
            (17, {"from_seq": 17, "oldest_seq": 8000})], 17),
        vector("best prices", "bbo", "update", [(3, {
            "bid_price": 999_999, "bid_size": 1, "ask_price": 1_000_000, "ask_size": 2**40 - 1})]),
        vector("an empty side", "bbo", "snapshot", [(3, {
            "bid_price": 0, "bid_size": 0, "ask_price": 5, "ask_size": 7})], SEQ),
        vector("a heartbeat", "bbo", "heartbeat", [], SEQ),
        vector("private begins", "private", "snapshot", [], SEQ),
        private("an order", 4, order_id=FIRST, remaining=20_000, filled=30_000, price=1_000_000,
                status=5, reason=0, side=1),
        private("an order that ended", 4, order_id=FIRST, remaining=1, filled=0, price=0,
                status=2, reason=145, side=0),
        private("a fill", 5, fill_id=SECOND, order_id=FIRST, price=1_000_000, size=30_000,
                fee=-600_000, liquidity=1, side=1),
        private("a position", 18, id=SECOND, size=-30_000, cost=-30_000_000_000,
                net_funding=-1, **at),
        private("a position that closed", 18, id=None, size=0, cost=0, net_funding=0, **at),
        private("cash", 19, ref_id=SECOND, amount=-4_500_000, balance_after=-(2**62), index=3,
                kind=1, **at),
        private("cash of no market", 19, ref_id=None, amount=7, balance_after=9, index=0, kind=4,
                head={"market": 0}, **at),
        private("funding", 20, id=SECOND, payment=-125, size=-30_000, rate_ppb=-12_500,
                index_price=999_990, hour_ns=1755579600 * 10**9, index=70_000, **at),
        private("a transfer", 21, withdrawal_id=None, amount=3_000_000, from_subaccount_index=0,
                from_portfolio_index=1, to_subaccount_index=3, to_portfolio_index=0, kind=0,
                head={"market": 0}),
        private("a withdrawal", 21, withdrawal_id=SECOND, amount=2_000_000, from_subaccount_index=0,
                from_portfolio_index=0, to_subaccount_index=2**32 - 1,
                to_portfolio_index=2**32 - 1, kind=3, head={"market": 0}),
        private("a liquidation", 22, equity=-(2**70), maintenance_margin=2**70 + 1, price=900_000,
                size=30_000, status=1, level=2, **at),
        private("a portfolio that recovers", 22, equity=5, maintenance_margin=4, price=0, size=0,
                status=0, level=0, head={"market": 0}, **at),
        private("a protection", 23, frozen_until_ns=TIME_NS + 10**9, **at),
        private("until it is reset", 23, frozen_until_ns=2**64 - 1, **at),
        private("a session", 24, id=SECOND, public_key="03a107bff3ce10be1d70dd18e74bc09967e4d6309ba"
                "50d5f1ddc8664125531b8" + "00", kind=0, action=0, head={"market": 0}),
        private("a key", 24, id=SECOND, public_key="00" * 33, kind=1, action=2, head={"market": 0}),
        private("a master key", 24, id=None, public_key="02" + "5a" * 32, kind=3, action=1,
                head={"market": 0}),
        vector("a newer frame", "bbo", "heartbeat", [], SEQ, more=bytes(range(8))),
        vector("newer data", "book", "update", [(*level(999_998, 1, 0), {"more": b"\xff" * 16})]),
        vector("a template that is not known", "book", "update", [level(999_998, 1, 0)],
               extra=message(17, {"from_seq": 1, "oldest_seq": 2}).replace(b"\x11", b"\x63", 1)),
        {"name": "an acknowledgement", "message": ack,
         "hex": message(6, ack, market=0, seq=ack["sequence"]).hex()},
        {"name": "refused before it had a sequence", "message": refusal(ack),
         "hex": message(6, refusal(ack), market=0, seq=0).hex()},
        *refused(ack)]


def refusal(ack):
    return {**ack, "status": 2, "order_status": 255, "sequence": 0, "remaining": 0,
            "quantity_ahead": 0, "match_ns": 0}


def written():
    """The file: a line for each vector."""
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in made())
    return '{"vectors":[\n' + lines + "\n]}\n"


if __name__ == "__main__":
    PATH.write_text(written())
