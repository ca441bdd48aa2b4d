"""What walks cost: the makers that the items of a batch share (rules.md R3), and what refused walks
make an account owe (wire.md W8)."""
from collections import Counter

from shares import FULL, SMALL, UNFUNDED
from walk import MODES
from wire import BATCH, BATCH_HEAD, BATCH_ITEM, MARKET_ORDER, PLACE, REPLACE

MS = 1000000
FREE = 16                # makers of each command
MAKER = {FULL: MS // 4, SMALL: 2 * MS, UNFUNDED: 16 * MS}  # ns a maker
BURST = 16000 * MS
MAKER_OF_ALL, BURST_OF_ALL = 8000, 1000 * MS  # of the unfunded accounts together
ENTERING = {0, 2}        # ops of a batch


def enters(code, body):
    if code == BATCH:
        return any(item[0] in ENTERING for item in BATCH_ITEM.iter_unpack(body[BATCH_HEAD.size:]))
    return code in (PLACE, REPLACE, MARKET_ORDER)


class Walks:
    def __init__(self, exchange):
        self.exchange = exchange
        self.met = 0           # makers that the last walk met
        self.passed = 0        # dead ones that the last look of row 22 passed
        self.of_batch = 0      # that the items of a batch have met so far
        self.refused = 0       # that refused orders of this command have met
        self.paid = Counter()  # account -> until when its time pays
        self.paid_by_all = 0
        self.tried = set()     # orders that an atomic batch, while it is judged, has entered

    def left(self):
        return self.exchange.makers_max - self.of_batch

    def begin(self):
        self.met = self.passed = self.of_batch = self.refused = 0

    def note(self, walk, status):
        counts = self.exchange.counts
        if walk.contact:
            counts["contact " + MODES[walk.order.stp]] += 1
        if walk.filled and not status:
            kind = ("IOC", "FOK", "resting kinds")[min(walk.order.expiry, 2)]
            counts["filled " + kind] += 1

    def end(self, account):
        """The command's own effect is over."""
        self.of_batch = 0
        over, t = self.refused - FREE, self.exchange.t
        self.refused = 0
        if over <= 0:
            return
        kind = self.exchange.shares.class_of(account)
        self.paid[account] = max(self.paid[account], t) + over * MAKER[kind]
        if kind == UNFUNDED:
            self.paid_by_all = max(self.paid_by_all, t) + over * MAKER_OF_ALL
        self.exchange.counts["owes for walks"] += 1

    def owes(self, code, body, account, t):
        """Row 2: whether it must wait."""
        if not enters(code, body):
            return False
        late = self.paid[account] > t + BURST
        if self.exchange.shares.class_of(account) == UNFUNDED:
            late = late or self.paid_by_all > t + BURST_OF_ALL
        self.exchange.counts["waits for walks"] += late
        return late
