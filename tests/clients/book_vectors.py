"""book_vectors.py - makes tests/vectors/perpd/book.json: 1,000 frames of the channel `book`, for
whoever writes a client. It shares nothing with perpd or its clients.

Each step has a frame and what a client must make of it: `ok`, and the checksum of the 25 best
levels then; `gap`, for its prev_seq is not the seq of the frame before; `fault`, for its checksum
is not the book's. After a gap or a fault a client drops its book until a snapshot comes. Updates
also tell of several changes at once, and a snapshot may come unasked (json.md J9, wire.md W9)."""
import json
import pathlib
from random import Random

PATH = pathlib.Path(__file__).resolve().parents[1] / "vectors/perpd/book.json"
DEPTH, STEPS, SEED = 50, 1000, 20261126
PRICE_DECIMALS, SIZE_DECIMALS = 1, 5


def text(raw, decimals):
    whole, part = divmod(raw, 10**decimals)
    return f"{whole}.{part:0{decimals}d}".rstrip("0").rstrip(".")


def shifted(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


SHIFTED = [shifted(byte) for byte in range(256)]


def crc32c(data):
    """RFC 3720, B.4."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ SHIFTED[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


class Exchange:
    """A book that changes, and its best levels as they were told last."""

    def __init__(self):
        self.random, self.seq, self.engine_seq, self.sent = Random(SEED), 9000, 4000, 0
        self.sides = {"bids": {}, "asks": {}}
        for at in range(60):
            self.sides["bids"][999_990 - 3 * at] = 1000 * (at + 1)
            self.sides["asks"][1_000_000 + 3 * at] = 700 * (at + 1)
        self.told = self.view()

    def view(self):
        return {side: dict(sorted(levels.items(), reverse=side == "bids")[:DEPTH])
                for side, levels in self.sides.items()}

    def change(self):
        """An order enters, shrinks or leaves; the book never crosses."""
        side = self.random.choice(("bids", "asks"))
        levels, sign = self.sides[side], -1 if side == "bids" else 1
        other = self.sides["asks" if side == "bids" else "bids"]
        bound = min(other) - 1 if side == "bids" else max(other) + 1
        price = (bound if self.random.random() < 0.2 else
                 self.random.choice(sorted(levels, reverse=side == "bids")[:30]) +
                 sign * self.random.randrange(3))
        price = min(price, bound) if side == "bids" else max(price, bound)
        if price in levels and self.random.random() < 0.5 and len(levels) > 12:
            del levels[price]
        else:
            levels[price] = self.random.randrange(1, 10**7)
        self.seq += 2
        self.engine_seq += 1

    def crc(self):
        return crc32c("".join(
            f"{text(price, PRICE_DECIMALS)}:{text(size, SIZE_DECIMALS)};"
            for side in ("bids", "asks")
            for price, size in list(self.told[side].items())[:25]).encode())

    def frame(self, kind, data, crc=None):
        seq = self.sent if kind == "heartbeat" else self.seq
        made = {"channel": "book", "market": "BTC-PERP", "seq": seq,
                "prev_seq": seq if kind == "snapshot" else self.sent,
                "engine_seq": self.engine_seq, "time_ns": 10**18 + 1000 * self.engine_seq,
                "type": kind}
        if crc is not None:
            made["crc"] = crc
        self.sent = seq
        return {**made, "data": data}

    def snapshot(self):
        self.told = self.view()
        return self.frame("snapshot", {side: [
            [text(price, PRICE_DECIMALS), text(size, SIZE_DECIMALS)]
            for price, size in levels.items()] for side, levels in self.told.items()}, self.crc())

    def update(self, changes):
        """What differs from what was told, after so many changes and at least one difference."""
        before = self.told
        while changes > 0 or self.view() == before:
            self.change()
            changes -= 1
        self.told = self.view()
        data = {}
        for side, now in self.told.items():
            was = before[side]
            data[side] = [[text(price, PRICE_DECIMALS), text(now.get(price, 0), SIZE_DECIMALS)]
                          for price in sorted({*was, *now}, reverse=side == "bids")
                          if was.get(price) != now.get(price)]
        return self.frame("update", data)


def made():
    exchange, steps = Exchange(), []

    def step(frame, expect="ok"):
        steps.append({"frame": frame, "expect": expect,
                      **({"crc": exchange.crc()} if expect == "ok" else {})})

    step(exchange.snapshot())
    while len(steps) < STEPS:
        what = exchange.random.random()
        if what < 0.75:
            step(exchange.update(1))
        elif what < 0.85:
            step(exchange.update(exchange.random.randrange(2, 9)))  # conflated
        elif what < 0.93:
            step(exchange.frame("heartbeat", {}, exchange.crc()))
        elif what < 0.96:
            exchange.change()
            step(exchange.snapshot())  # unasked, after a lag
        elif what < 0.98:
            exchange.update(1)  # is lost
            step(exchange.update(1), "gap")
            step(exchange.snapshot())
        else:
            step(exchange.frame("heartbeat", {}, exchange.crc() ^ 1), "fault")
            step(exchange.snapshot())
    return {"depth": DEPTH, "price_decimals": PRICE_DECIMALS, "size_decimals": SIZE_DECIMALS,
            "steps": steps[:STEPS]}


def written():
    """The file: a line for each step."""
    whole = made()
    steps = ",\n".join(json.dumps(one, separators=(",", ":")) for one in whole.pop("steps"))
    return json.dumps(whole)[:-1] + ',"steps":[\n' + steps + "\n]}\n"


if __name__ == "__main__":
    PATH.write_text(written())
