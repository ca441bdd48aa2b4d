"""test_console_session.py BUILD - a session of the trader's page on a market that moves fast: after
10,000 updates its ladder is what the read says in every grouping; an account, its money, an order,
its change and its end by keys alone; kill -9 while orders come: no fill missed or shown twice; the
API key is told to nobody. Skipped where tools/setup --browser was not called.
"""
import pathlib
import random
import sys
import threading
import time

import chromium
from console_page import Console, check, same
from test_console import BTC_PRICE, typed

from client import (CANCEL, GTC, IOC, PATHS, PATIENCE_S, PLACE_LIMIT, REDUCE, REPLACE, SMALL_TABLES,
                    Account, Perpd, cancel_body, limit_body, new_id, payload_of, reduce_body,
                    replace_body)
from ports import free_port

UPDATES = 10_000
STEPS = (1, 10, 100, 1000)  # ticks
ROWS = 25
CHUNK = 1000  # orders between two looks at the page
ORDERS_MAX = 600
FARTHEST = 60_000
LOAD = 100  # orders a second while perpd is killed
FILLS, FILL_LOTS = 40, 50  # fewer than the list has rows of one read
# What came of the book; how many fills were told; the API key, as the answer that makes it has it.
WITNESS = """window.book = { snapshot: 0, update: 0, heartbeat: 0, gap: 0 };
window.told = 0;
{ const Real = window.WebSocket;
  window.WebSocket = class extends Real {
    constructor(...all) {
      super(...all);
      this.addEventListener('message', ({ data }) => {
        const { channel, type } = JSON.parse(data);
        if (channel === 'book' && type !== undefined) window.book[type]++;
        if (/"event":"fill"/.test(data)) window.told++;
      });
    }
  };
  const real = window.fetch;
  window.fetch = async (...all) => {
    if (window.held && /\\/fills/.test(all[0])) {
      await window.held;
      delete all[1].signal; // it may have waited for longer than the page does
    }
    const answer = await real(...all);
    const key = /"api_key":"([^"]+)"/.exec(await answer.clone().text());
    if (key !== null) window.secret = key[1];
    return answer;
  }; }"""
HELD = "window.held = new Promise((done) => (window.release = done));"


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
    return crowd


KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38}


def key(console, name, modifiers=0, seconds=0.0):
    """Pressed, and held for so long."""
    what = {"key": name, "code": name, "windowsVirtualKeyCode": KEYS[name], "modifiers": modifiers}
    text = {"text": "\r"} if name == "Enter" else {}
    for turn in range(1 + int(seconds * 20)):
        console.page.call("Input.dispatchKeyEvent", type="keyDown", autoRepeat=turn > 0, **what,
                          **text)
        time.sleep(0.05 if seconds else 0)
    console.page.call("Input.dispatchKeyEvent", type="keyUp", **what)


def reach(console, condition):
    """Tab, until what has the focus is this; the focus is seen there."""
    for _ in range(120):
        if console.page.run(f"(({condition}))(document.activeElement)"):
            return same(condition, console.page.run(
                "getComputedStyle(document.activeElement).outlineStyle"), "solid")
        key(console, "Tab")
        check(console.page.run("document.activeElement !== null"), "the focus is lost")
    raise AssertionError(f"not reached: {condition}")


def enter(console, price):
    """Types a price into the ticket and sends the order by keys alone: Enter shows its bytes,
    Ctrl and Enter send it once, however long they are held."""
    console.page.call("Input.insertText", text=price)
    key(console, "Enter", seconds=1)
    same("previewed", console.page.run("""[document.activeElement.className.split(' ')[0],
      document.querySelector('details.signed').open,
      document.querySelector('.outcome') === null]"""), ["place", True, True])
    key(console, "Enter", 2, seconds=1)
    console.until("document.querySelector('.outcome.tone-good') !== null")


def by_keys(console):
    """An account, its money, an order, its change and its end by keys alone."""
    console.open()
    reach(console, "(one) => one.textContent === 'Open account'")
    key(console, "Enter")
    for button, then in (
            ("Create an account",
             "/^Account/.test(document.querySelector('.account').textContent)"),
            ("Get 10000 test USDC",
             "document.querySelector('.equity')?.textContent === '10,000.00 USDC'")):
        console.until("document.querySelector('dialog[open]') !== null")
        reach(console, f"(one) => one.textContent === '{button}' && !one.disabled")
        key(console, "Enter")
        console.until(then)
    key(console, "Escape")
    console.until("document.querySelector('dialog[open]') === null")
    check(console.page.run("document.activeElement.matches('.chip.account')"), "the focus is lost")
    lists(console)
    reach(console, "(one) => one.id === 'ticket-size'")
    console.page.call("Input.insertText", text="0.01")
    key(console, "Tab", 8)  # with Shift: backwards
    reach(console, "(one) => one.id === 'ticket-price'")
    enter(console, "99970")
    console.comes_to(".pane-account tbody", [["BTC-PERP", "buy", "99970.0", "0.01000"]])
    reach(console, "(one) => one.textContent === 'change' && one.closest('tr') !== null")
    key(console, "Enter")
    console.until("document.querySelector('.changes') !== null")
    reach(console, "(one) => one.id === 'ticket-price'")  # what Tab comes to is selected whole
    enter(console, "99960")
    console.comes_to(".pane-account tbody", [["BTC-PERP", "buy", "99960.0", "0.01000"]])
    reach(console, "(one) => one.textContent === 'cancel' && one.closest('tr') !== null")
    key(console, "Enter")
    console.until("/no open orders/.test(document.querySelector('.pane-account').textContent)")


def lists(console):
    """Arrows go through the markets. Prices are spoken once that is asked for."""
    reach(console, "(one) => one.matches('.pane-markets tbody a')")
    for name, row in (("ArrowDown", 1), ("ArrowUp", 0)):
        key(console, name)
        same(name, console.page.run("[...document.querySelectorAll('.pane-markets tbody a')]"
                                    ".indexOf(document.activeElement)"), row)
    same("nothing is spoken", console.page.run("document.getElementById('spoken').textContent"), "")
    console.page.run("""{ document.querySelector('.help').click();
      const pick = document.querySelector('dialog[open] select:has([value=on]:last-child)');
      pick.value = 'on';
      pick.dispatchEvent(new Event('change', { bubbles: true })); }""")
    console.until("/^BTC-PERP: best bid [0-9.,]+, best ask ([0-9.,]+|none), last [0-9]/"
                  ".test(document.getElementById('spoken').textContent)")
    console.page.run("document.querySelector('dialog[open]').close()")


class Load(threading.Thread):
    """Orders at a rate, while perpd goes and comes back; each tenth takes of the best bid."""

    def __init__(self, crowd):
        super().__init__(daemon=True)
        self.crowd, self.ends, self.sent, self.wrong = crowd, False, 0, None

    def run(self):
        connection, begun = None, time.monotonic()
        while not self.ends:
            try:
                connection = connection or self.crowd.exchange.open()
                answer = connection.exchange(self.request())
                if answer.status not in (200, 503):  # 503: it starts
                    self.wrong = answer
            except (EOFError, OSError):
                connection = None
            self.sent += 1
            time.sleep(max(0, begun + self.sent / LOAD - time.monotonic()))

    def request(self):
        account = self.crowd.accounts[self.sent % 3]
        side = self.sent % 2 * 2 - 1
        body = limit_body(account.id, self.crowd.resting(side), side * 100)
        if self.sent % 10 == 0:
            body = limit_body(account.id, BTC_PRICE, -FILL_LOTS, IOC)
        payload = payload_of(PLACE_LIMIT, body, account.session)
        return self.crowd.exchange.wrap(PATHS[PLACE_LIMIT], payload, account.session, binary=True)


def met(console, crowd):
    """A fill that was told while its read was on its way, and that the read has, is shown once."""
    held = console.page.call("Page.addScriptToEvaluateOnNewDocument", source=HELD)
    console.open()
    console.page.call("Page.removeScriptToEvaluateOnNewDocument", **held)
    crowd.accounts[0].limit(BTC_PRICE, -FILL_LOTS, expiry=IOC)
    console.until("window.told === 1")
    console.tab("Fills")
    console.page.run("""window.most = 0;
      new MutationObserver(() => (window.most = Math.max(window.most,
        document.querySelectorAll('.pane-account tbody tr').length)))
        .observe(document.body, { subtree: true, childList: true });
      window.release()""")
    console.comes_to(".pane-account tbody", [
        ["BTC-PERP", "buy", "100000.0", f"{FILL_LOTS / 100_000:.5f}"]])
    same("rows at most", console.page.run("window.most"), 1)


def killed(console, perpd, crowd):
    """kill -9 and a start while orders come and the page's own is filled: the page says so, every
    pane is live again, and each fill is shown once."""
    console.open()
    typed(console, "100000", f"{FILLS * FILL_LOTS / 100_000}")
    console.until("document.querySelector('.place').disabled === false")
    console.place()
    console.until("document.querySelector('.outcome.tone-good') !== null")
    met(console, crowd)
    rows = "document.querySelectorAll('.pane-account tbody tr').length"
    load = Load(crowd)
    load.start()
    try:
        console.until(f"{rows} >= {FILLS // 4}")
        perpd.stop(9)
        console.until("document.querySelector('.chip.tone-bad') !== null")
        console.until("/stale since/.test(document.querySelector('.banner')?.textContent ?? '')")
        check(console.page.run(rows) < FILLS, "all was filled before")
        exchange = perpd.start()
        begun = time.monotonic()
        console.until("document.querySelector('.chip.tone-good, .chip.tone-warn') !== null && "
                      "document.querySelector('.pane[class*=is-]:not(.is-live)') === null")
        print(f"every pane live {time.monotonic() - begun:.1f} s after the start, "
              f"{load.sent} orders sent")
        console.until(f"{rows} >= {FILLS}")
    finally:
        load.ends = True
        load.join()
    same("answers", load.wrong, None)
    fills = exchange.get("/api/v1/fills?subaccount_index=0&portfolio_index=0&limit=100",
                         console.page.run("window.secret")).json
    same("fills", [fill["quantity"] for fill in fills], [f"{FILL_LOTS / 100_000}"] * FILLS)
    same("ids", len({fill["id"] for fill in fills}), FILLS)
    console.comes_to(".pane-account tbody", [
        ["BTC-PERP", "buy", "100000.0", f"{FILL_LOTS / 100_000:.5f}"]] * FILLS)
    console.tab("Positions")
    console.comes_to(".pane-account tbody", [
        ["BTC-PERP", "long", f"{FILLS * FILL_LOTS / 100_000:.5f}", "100000.0"]])


def secret(console):
    """The API key is in no line of the console, no address, no text or field of the page, and
    nowhere that keeps texts."""
    of_account = console.page.run("window.secret")
    check(len(of_account) >= 40, "no API key", of_account)
    events = [(event["method"], event["params"]) for event in console.browser.events
              if "method" in event]
    told = [what for name, what in events if name in
            ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
    asked = [what["request"]["url"] for name, what in events
             if name == "Network.requestWillBeSent"]
    asked += [what["url"] for name, what in events if name == "Network.webSocketCreated"]
    shown = console.page.run("""[document.documentElement.outerHTML, location.href, document.cookie,
      JSON.stringify([localStorage, sessionStorage, history.state]),
      ...[...document.querySelectorAll('input, textarea, select')].map((one) => one.value)]""")
    check(len(asked) > 20, "requests", asked)
    for name, texts in (("console", told), ("addresses", asked), ("page", shown)):
        check(not any(of_account in str(text) for text in texts), "the API key is in", name)


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
            crowd = ladders(console, exchange)
            by_keys(console)
            of_account = console.page.run("window.secret")
            same("faults", console.faults(), [])
            console.page.call("Page.addScriptToEvaluateOnNewDocument",
                              source=f"window.secret = '{of_account}'")
            killed(console, perpd, crowd)
            secret(console)
        print("a session of the console: passed")
        return 0
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.exit(main())
