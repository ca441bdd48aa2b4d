"""restored.py - a change of epoch over a real exchange (wire.md W9): perp restore takes it back to
an earlier sequence while clients are connected; the numbers of what was given up are used again.
"""
import client
from ws_client import Stream

KEPT, GIVEN_UP, ANEW = "98000", "98100", "98200"  # prices of own orders that rest
TRADED = {KEPT: "100010", GIVEN_UP: "100020", ANEW: "100030"}
BOOK = {"channel": "book", "market": "BTC-PERP", "depth": 10}


class Restored:
    """Each part of the history is an order of the rich account that rests, and two trades of it."""

    def __init__(self, here):
        self.here = here
        here.rich.cancel_all()
        here.other.cancel_all()
        self.kept_to = self.go_on(KEPT)

    def go_on(self, price):
        """The sequence of its end."""
        traded = round(float(TRADED[price]) * 10)
        self.here.rich.limit(int(price) * 10, 20)
        for _ in range(2):
            self.here.rich.limit(traded, -10)
            done = self.here.other.limit(traded, 10, expiry=client.IOC)
        return done["sequence"]

    def resting(self):
        rows = self.here.rich.read("/api/v1/orders?status=OPEN").json
        return sorted(row["price"] for row in rows)

    def trades(self):
        """(trade_seq, price) of the newest two."""
        rows = self.here.exchange.get("/api/v1/markets/BTC-PERP/trades?limit=2").json["trades"]
        return [(row["trade_seq"], row["price"]) for row in reversed(rows)]


class Raw:
    """A client that knows W9 alone: what it was told last of each channel, and in which epoch."""

    def __init__(self, here, api_key):
        self.here, self.api_key = here, api_key
        self.epoch, self.last, self.heard = None, {}, []

    def connect(self):
        """Whether another epoch than the one before is told."""
        self.stream = Stream(self.here.exchange)
        epoch = self._ask(op="login", api_key=self.api_key)["epoch"]
        before, self.epoch = self.epoch, epoch
        return before not in (None, epoch)

    def _ask(self, **op):
        self.stream.ask(**op)
        while "op" not in (reply := self.stream.next()):
            self.take(reply)
        assert "problem" not in reply, reply
        return reply

    def subscribe(self, **what):
        """The snapshot, by which what was known is replaced."""
        self._ask(op="subscribe", **what)
        shown = self.stream.next()
        assert shown["type"] == "snapshot" and shown["channel"] == what["channel"], shown
        self.last[what["channel"]] = shown["seq"]
        return shown["data"]

    def resume(self, **what):
        """(the epoch that the reply tells, the frame that comes first)."""
        reply = self._ask(op="resume", from_seq=self.last[what["channel"]], **what)
        return reply["epoch"], self.stream.next()

    def take(self, frame):
        """In order: the rule of W9."""
        assert frame["prev_seq"] == self.last[frame["channel"]], frame
        self.last[frame["channel"]] = frame["seq"]
        if frame["channel"] == "trades":
            self.heard.append((frame["data"]["trade_seq"], frame["data"]["price"]))

    def until_traded(self, want):
        while self.heard[-len(want):] != want:
            self.take(self.stream.next())


def raw_before(here, api_key):
    raw = Raw(here, api_key)
    raw.connect()
    for what in ({"channel": "trades", "market": "BTC-PERP"}, {"channel": "private"}, BOOK):
        raw.subscribe(**what)
    return raw


def raw_after(table, here, raw, state):
    """It meets the other epoch, is told that what it has is not followed, and begins again."""
    table.true("another epoch", raw.connect(), raw.epoch)
    former = dict(raw.last)
    for what in ({"channel": "trades", "market": "BTC-PERP"}, {"channel": "private"}):
        epoch, first = raw.resume(**what)
        table.same("in the reply", epoch, 2)
        table.same("what is not reached is a gap", (first["type"], first["channel"]),
                   ("gap", what["channel"]))
        table.true("a lower seq", first["seq"] < former[what["channel"]], first)
        raw.last[what["channel"]] = first["seq"]
    shown = raw.subscribe(**BOOK)
    rest = here.exchange.get("/api/v1/markets/BTC-PERP/book?depth=10").json
    table.same("the book", (shown["bids"], shown["asks"]), (rest["bids"], rest["asks"]))
    table.same("without what was given up", [price for price, _ in rest["bids"]], [KEPT])
    table.same("nor its order", state.resting(), [KEPT])


def raw_end(table, raw, before, after):
    """Every trade of both histories once; their numbers are the same, so the epoch alone tells."""
    raw.until_traded(after)
    table.same("each once", raw.heard, before + after)
    table.same("the same numbers", [seq for seq, _ in before], [seq for seq, _ in after])
    raw.stream.end()
