"""test_console_session.py BUILD - a session of the trader's page on a market that moves fast: after
10,000 updates its ladder is what the read says in every grouping. Skipped where tools/setup
--browser was not called.
"""
import pathlib
import random
import sys

import chromium
from console_page import Console, check, same
from test_console import BTC_PRICE

from client import (CANCEL, GTC, IOC, PATHS, PATIENCE_S, PLACE_LIMIT, REDUCE, REPLACE, SMALL_TABLES,
                    Account, Perpd, cancel_body, limit_body, new_id, payload_of, reduce_body,
                    replace_body, request_bytes)
from ports import free_port

UPDATES = 10_000
STEPS = (1, 10, 100, 1000)  # ticks
ROWS = 25
CHUNK = 1000  # orders between two looks at the page
ORDERS_MAX = 600
FARTHEST = 60_000
# What came of the book.
WITNESS = """window.book = { snapshot: 0, update: 0, heartbeat: 0, gap: 0 };
{ const Real = window.WebSocket;
  window.WebSocket = class extends Real {
    constructor(...all) {
      super(...all);
      this.addEventListener('message', ({ data }) => {
        const { channel, type } = JSON.parse(data);
        if (channel === 'book' && type !== undefined) window.book[type]++;
      });
    }
  }; }"""


class Crowd:
    """Accounts whose orders rest at random prices, shrink, move, end, and trade."""

    def __init__(self, exchange, seed):
        self.exchange, self.random = exchange, random.Random(seed)
        self.accounts = [Account(exchange, 10 ** 15) for _ in range(3)]
        self.orders = []  # (id, account, side) of those that may rest

    def resting(self, side):
        distance = 1 + int(self.random.expovariate(1 / self.random.choice((3, 30, 300, 3000))))
        return BTC_PRICE - side * min(distance, FARTHEST)

    def order(self):
        """Code, body, session and id of the next request."""
        chance, pick = self.random.random(), self.random.choice
        account, side = pick(self.accounts), pick((-1, 1))
        lots = side * self.random.randrange(50, 3000)
        if chance < 0.08:
            price = BTC_PRICE + side * self.random.randrange(100)
            return PLACE_LIMIT, limit_body(account.id, price, lots, IOC), account, new_id()
        if (chance < 0.6 and len(self.orders) < ORDERS_MAX) or not self.orders:
            self.orders.append((new_id(), account, side))
            body = limit_body(account.id, self.resting(side), lots, GTC)
            return PLACE_LIMIT, body, account, self.orders[-1][0]
        at = self.random.randrange(len(self.orders))
        known, account, side = self.orders[at]
        if chance < 0.7:
            body = reduce_body(account.id, known, self.random.randrange(1, 500))
            return REDUCE, body, account, new_id()
        if chance < 0.8:
            body = replace_body(account.id, known, self.resting(side), side * abs(lots))
            return REPLACE, body, account, new_id()
        self.orders[at] = self.orders[-1]
        self.orders.pop()
        return CANCEL, cancel_body(account.id, known), account, new_id()

    def send(self, count):
        """So many requests; the sequence of the last."""
        with self.exchange.open() as connection:
            for _ in range(0, count, 50):
                connection.send(b"".join(self.request() for _ in range(50)))
                answers = [connection.receive() for _ in range(50)]
                check(all(answer.status == 200 for answer in answers), answers)
        return max(answer.json["sequence"] for answer in answers)

    def request(self):
        code, body, account, request_id = self.order()
        payload = payload_of(code, body, account.session, request_id)
        return self.exchange.wrap(PATHS[code], payload, account.session, binary=True)


def joined(levels, side, step):
    """The rows of a ladder whose prices are joined, from the text of the read alone."""
    rungs, total = {}, 0
    for price, size in levels:
        raw, lots = (int(text.replace(".", "")) for text in (f"{float(price):.1f}",
                                                             f"{float(size):.5f}"))
        at = raw // step * step if side == "bids" else -(-raw // step) * step
        total += lots
        rungs[at] = rungs.get(at, (0, 0))[0] + lots, total
    shown = [[f"{at // 10}.{at % 10}", *(f"{one // 100_000}.{one % 100_000:05}" for one in sums)]
             for at, sums in list(rungs.items())[:ROWS]]
    return shown[::-1] if side == "asks" else shown


def equals_the_read(console, exchange, step, sequence):
    book = exchange.get("/api/v1/markets/BTC-PERP/book?depth=1000",
                        headers=[("X-Min-Sequence", str(sequence))]).json
    for side in ("bids", "asks"):
        check(50 < len(book[side]) < 1000, "levels", side, len(book[side]))
        console.comes_to(f".ladder .{side}", joined(book[side], side, step))


def groups(console, step):
    console.page.run(f"""{{ const pick = document.querySelector('.pane-book select');
      pick.value = '{step}';
      pick.dispatchEvent(new Event('change', {{ bubbles: true }})); }}""")


def ladders(console, exchange):
    """The ladder follows 10,000 updates of a book that is deeper than what it shows, a part of them
    in each grouping; then it is what the read says in all of them."""
    crowd = Crowd(exchange, 20)
    sequence = crowd.send(1000)
    console.open()
    for turn, step in enumerate(STEPS):
        groups(console, step)
        while console.page.run("window.book.update") < (turn + 1) * UPDATES / len(STEPS):
            sequence = crowd.send(CHUNK)
            equals_the_read(console, exchange, step, sequence)
        if step > 1:
            console.picture(f"console-grouped-{step}")
    for step in STEPS[::-1]:
        groups(console, step)
        equals_the_read(console, exchange, step, sequence)
    console.tab("Health")
    row = "[...document.querySelectorAll('.pane-health tr')].find((row) => " \
          "/^book/.test(row.textContent)).cells"
    same("gaps, faults of checksums", console.page.run(
        f"[{row}[5].textContent, {row}[7].textContent.split(' / ')[1]]"), ["0", "0"])
    print(f"frames of the book: {console.page.run('window.book')}")


def main():
    if chromium.program() is None:
        print("skipped: chromium is not installed (tools/setup --browser installs it)")
        return 77
    port = free_port()
    perpd = Perpd(pathlib.Path(sys.argv[1]) / "perpd", "--exchange.testnet=on",
                  f"--exchange.passkey_origins=http://localhost:{port}",
                  f"--net.listen=127.0.0.1:{port}", "--exchange.oracle_max_age_ms=0",
                  "--limits.rate_limits=off", *SMALL_TABLES)
    try:
        exchange = perpd.start()
        exchange.set_price(BTC_PRICE, 1)
        with chromium.Chromium(5 * PATIENCE_S) as browser:
            console = Console(browser, f"http://localhost:{exchange.port}/")
            console.page.call("Page.addScriptToEvaluateOnNewDocument", source=WITNESS)
            ladders(console, exchange)
            same("faults", console.faults(), [])
        print("a session of the console: passed")
        return 0
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.exit(main())
