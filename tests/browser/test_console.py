"""test_console.py BUILD - the trader's page in Debian's Chromium on a running perpd: live panes
that equal the reads, at three widths, light and dark, without an error, a foreign request or a
violation of the page's own policy. PERPD_SHOTS=FOLDER keeps pictures. Needs tools/setup --browser.
"""
import pathlib
import sys
import time

import chromium
from console_page import AXE, FILL, SIZES, WAIT_S, Console, check, same

from client import (PATIENCE_S, REDUCE, REPLACE, SMALL_TABLES, Account, Perpd,
                    new_id, reduce_body, replace_body, state_body)
from ports import free_port

BTC_PRICE = 1_000_000
ACTIVE, HALTED = 0, 4  # W3a


def padded(text, decimals):
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction.ljust(decimals, '0')}"


def equals_the_book(console, exchange):
    """Every level of the ladder, and its sums."""
    book = exchange.get("/api/v1/markets/BTC-PERP/book?depth=25").json
    for side in ("bids", "asks"):
        total, wanted = 0, []
        for price, size in book[side]:
            total += round(float(size) * 100_000)
            wanted.append([padded(price, 1), padded(size, 5),
                           f"{total // 100_000}.{total % 100_000:05}"])
        console.comes_to(f".ladder .{side}", wanted[::-1] if side == "asks" else wanted)


def equals_the_trades(console, exchange):
    trades = exchange.get("/api/v1/markets/BTC-PERP/trades?limit=50").json["trades"]
    console.comes_to(".pane-trades tbody", [[padded(trade["price"], 1), padded(trade["size"], 5)]
                                            for trade in trades])


def equals_the_candles(console, exchange, more):
    """What the pane counts from the trades of the stream is what the read says, in each length."""
    console.press("table")
    for length in ("1m", "1h", "1d"):
        console.page.run(f"""{{ const pick = document.querySelector('.pane-candles select');
          Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set
            .call(pick, '{length}');
          pick.dispatchEvent(new Event('change', {{ bubbles: true }})); }}""")
        console.until("document.querySelector('.pane-candles tbody tr') !== null")
        more()
        candles = exchange.get(
            f"/api/v1/markets/BTC-PERP/candles?interval={length}&limit=100").json["candles"]
        console.comes_to(".pane-candles tbody", [
            [time.strftime("%Y-%m-%d" if length == "1d" else "%m-%d %H:%M",
                           time.gmtime(row["start_time"] / 1000)),
             *(padded(row[name], 1) for name in ("open", "high", "low", "close")),
             padded(row["volume"], 5), str(row["trade_count"])] for row in candles[::-1]])
    console.press("table")
    console.until("document.querySelector('.pane-candles canvas') !== null")


def equals_the_mark(console, exchange):
    """The mark moves by itself: the page's and the read's meet."""
    end = time.monotonic() + WAIT_S
    while console.rows(".pane-markets tbody", 2)[0] != ["BTC", padded(
            exchange.get("/api/v1/markets/BTC-PERP/mark").json["mark_price"], 1)]:
        check(time.monotonic() < end, "the mark is another one")


def live(console, exchange, maker, taker):
    """Books, trades and marks on the page are those of the reads, and go on with the exchange."""
    for step in range(20):
        maker.limit(BTC_PRICE + 1 + step, -(step + 1) * 1000)
        maker.limit(BTC_PRICE - 1 - step, (step + 1) * 500)
    console.open()
    equals_the_book(console, exchange)
    taker.limit(BTC_PRICE + 3, 4000, expiry=0)
    taker.limit(BTC_PRICE - 2, -700, expiry=0)
    equals_the_book(console, exchange)
    equals_the_trades(console, exchange)
    equals_the_candles(console, exchange, lambda: [
        taker.limit(BTC_PRICE + 5, 300, expiry=0), taker.limit(BTC_PRICE - 3, -50, expiry=0)])
    newest = exchange.get("/api/v1/markets/BTC-PERP/trades?limit=1").json["trades"][0]
    console.page.run("document.querySelector('.pane-trades tbody button').click()")
    console.until("document.querySelector('.pane-trades .details') !== null")
    same("a trade to the nanosecond", console.page.run(
        "Object.fromEntries([...document.querySelectorAll('.pane-trades .details div')]"
        ".map((one) => [one.children[0].textContent, one.children[1].textContent]))"),
         {name: str(value).lower() if isinstance(value, bool) else str(value)
          for name, value in newest.items()})
    equals_the_mark(console, exchange)
    check(console.page.run("crossOriginIsolated"), "not isolated")
    console.tab("Health")
    console.until("[...document.querySelectorAll('.pane-health tr')].some((row) => "
                  "/^book/.test(row.textContent) && "
                  "/^([2-9]|..+) . 0$/.test(row.cells[7].textContent))")
    console.tab("Open orders")


def one_sided(console, maker):
    """A market whose book has one side says so; its address names it."""
    check(maker.limit(300_000, 100, asset=2)["status"] == "request_completed", "no bid")
    console.page.run("location.hash = 'm=ETH-PERP'")
    console.until("/no asks/.test(document.querySelector('.ladder')?.textContent ?? '')")
    console.until("/no trades yet/.test(document.querySelector('.pane-trades').textContent)")
    console.page.run("location.hash = 'm=BTC-PERP'")
    console.until("/spread/.test(document.querySelector('.ladder')?.textContent ?? '')")


def shapes(console):
    """No width scrolls sideways; what is pressed is large enough; nothing is lost on a phone."""
    for theme in ("light", "dark"):
        for width, height in (*SIZES, (320, 640), (640, 400)):  # 1,280 at 200 %
            console.open(width, height, theme)
            console.until("document.querySelector('canvas') !== null")
            console.picture(f"console-{width}-{theme}")
            check(console.page.run("document.documentElement.scrollWidth") <= width, width, theme)
            small = console.page.run("""[...document.querySelectorAll('button, select, input, a')]
              .filter((one) => one.offsetParent !== null && one.tabIndex >= 0)
              .map((one) => [one.textContent,
                (one.closest('label') ?? one).getBoundingClientRect()])
              .filter(([, box]) => box.width < 24 || box.height < 24).map(([text]) => text)""")
            same(f"small at {width}", small, [])
    console.open(360, 740)
    for tab, pane in (("Book", "book"), ("Markets", "markets"), ("Trade", "ticket"),
                      ("Orders", "account"), ("Chart", "depth")):
        console.page.run(f"""[...document.querySelectorAll('.tabs button')]
          .find((one) => one.textContent === '{tab}').click()""")
        console.until(f"document.querySelector('.pane-{pane}').offsetParent !== null")
        same(f"{tab} scrolls sideways", console.page.run(
            """[...document.querySelectorAll('.grid, .pane')]
          .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className)"""), [])
        console.picture(f"console-360-{tab}")


def recoloured(console):
    """The chart takes the colours of the other theme over."""
    console.open(1440, 900, "dark")
    for theme in ("dark", "light", "dark"):
        console.size(1440, 900, theme)
        console.until("""(() => { const canvas = document.querySelector('.pane-candles canvas');
          if (canvas === null) return false;
          const [shown, wanted] = [canvas.getContext('2d').getImageData(2, 2, 1, 1).data,
            getComputedStyle(document.querySelector('.pane-candles')).backgroundColor];
          return wanted === `rgb(${shown[0]}, ${shown[1]}, ${shown[2]})`; })()""")


# What the browser keeps is read so late that an account is there before.
LATE = """{ const get = IDBObjectStore.prototype.get;
  const released = new Promise((done) => (window.release = done));
  IDBObjectStore.prototype.get = function (key) {
    const request = get.call(this, key);
    const late = { get result() { return request.result; } };
    request.onsuccess = () => released.then(() => late.onsuccess());
    return late;
  }; }"""


def account(console, exchange):
    """A passkey makes the account, the faucet its money; the keys stay here and cannot leave."""
    late = console.page.call("Page.addScriptToEvaluateOnNewDocument", source=LATE)
    console.open()
    console.page.call("Page.removeScriptToEvaluateOnNewDocument", **late)
    console.press("Open account")
    console.press("Create an account")
    console.until("/^Account/.test(document.querySelector('.chip.account').textContent)")
    same("the account stays", console.page.run("""(async () => { window.release();
      await new Promise((done) => setTimeout(done, 500));
      return /^Account/.test(document.querySelector('.chip.account').textContent); })()"""), True)
    console.picture("console-account")
    console.until("/^.default.\\nurl = http.*\\naccount = [0-9]+\\n/"
                  ".test(document.querySelector('dialog[open] .command').textContent)")
    console.press("Get 10000 test USDC")
    console.until("document.querySelector('.equity')?.textContent === '10,000.00 USDC'")
    console.press("close")
    name = f"perpd-{exchange.get('/api/v1/exchange').json['exchange_id']}"
    kept = console.page.run(f"""(async () => {{
      const open = indexedDB.open('{name}');
      await new Promise((done) => (open.onsuccess = done));
      const read = open.result.transaction('credentials').objectStore('credentials').get('own');
      await new Promise((done) => (read.onsuccess = done));
      open.result.close();
      const key = read.result.sessionKey;
      const outcome = await crypto.subtle.exportKey('pkcs8', key).catch((error) => error.name);
      return [outcome, key.extractable, read.result.wrapKey.extractable, 'apiKey' in read.result,
        localStorage.length, document.cookie]; }})()""")
    same("kept", kept, ["InvalidAccessError", False, False, False, 0, ""])
    return name


def typed(console, price, size):
    console.page.run(f"{{ {FILL} fill('ticket-price', '{price}'); "
                     f"fill('ticket-size', '{size}') }}")


def orders(console, exchange, maker):
    """What is typed is refused or signed as it is, sent once, shown, cancelled."""
    typed(console, "99990.05", "0.0100001")
    console.until("document.querySelectorAll('.fault').length === 2")
    same("nearest", console.page.run("[...document.querySelectorAll('.fault button')]"
                                     ".map((one) => one.textContent)"),
         ["99990", "99990.1", "0.01", "0.01001"])
    check(console.page.run("document.querySelector('.place').disabled"), "may be sent")
    typed(console, "99990", "0.01")
    console.until("/^Buy 0.01000 BTC-PERP at 99,990.0, good till cancelled, at most 999.900000 /"
                  ".test(document.querySelector('.sentence')?.textContent ?? '')")
    console.until("[...document.querySelectorAll('.bytes tr')].some((row) => row.textContent.trim()"
                  ".startsWith('price40999900'))")
    # The answer is lost after the exchange has executed it; two clicks; one order.
    console.page.run("""{ const real = window.fetch;
      window.fetch = async (...all) => { const answer = await real(...all);
        if (!String(all[0]).includes('/place/')) return answer;
        window.fetch = real;
        throw new TypeError('lost'); }; }""")
    console.page.run("document.querySelector('.place').click()")  # shows the bytes, sends nothing
    same("asked first", console.page.run("""[document.querySelector('details.signed').open,
      document.activeElement.className.split(' ')[0]]"""), [True, "place"])
    console.page.run("for (let i = 0; i < 2; i++) document.querySelector('.place').click()")
    console.comes_to(".pane-account tbody", [["BTC-PERP", "buy", "99990.0", "0.01000"]])
    console.until("/It had arrived/.test(document.querySelector('.outcome.tone-good')"
                  "?.textContent ?? '')")
    console.picture("console-orders")
    book = exchange.get("/api/v1/markets/BTC-PERP/book").json
    check(["99990", "0.01"] in book["bids"], book)
    console.page.run("document.querySelector('.pane-account .acts button').click()")
    console.until("/no open orders/.test(document.querySelector('.pane-account').textContent)")
    # Crosses what the maker offers.
    maker.limit(BTC_PRICE + 1, -2000)
    typed(console, "100000.1", "0.02")
    console.until("/^Buy 0.02000 /.test(document.querySelector('.sentence')?.textContent ?? '')")
    console.place()
    console.tab("Positions")
    console.comes_to(".pane-account tbody", [["BTC-PERP", "long", "0.02000", "100000.1"]])
    console.tab("Fills")
    fill = ["BTC-PERP", "buy", "100000.1", "0.02000", "0.900001"]  # a fee of 0.00045, rounded up
    console.comes_to(".pane-account tbody", [fill])
    console.tab("Open orders")


def told(console, maker):
    """Orders, fills and positions follow the stream alone; a reload reads the same."""
    def lists_read():
        return sum(event.get("method") == "Network.requestWillBeSent" and
                   event["params"]["request"]["url"].split("?")[0].endswith(("/orders", "/fills"))
                   for event in console.browser.events)

    console.press("Open orders")
    typed(console, "100000", "0.01")
    console.until("/100,000.0, /.test(document.querySelector('.sentence')?.textContent ?? '')")
    console.place()
    console.comes_to(".pane-account tbody", [["BTC-PERP", "buy", "100000.0", "0.01000"]])
    before = lists_read()
    for left in ("0.00800", "0.00500"):
        maker.limit(BTC_PRICE, -(200 if left == "0.00800" else 300), expiry=0)
        console.comes_to(".pane-account tbody", [["BTC-PERP", "buy", "100000.0", left]])
    maker.limit(BTC_PRICE, -500, expiry=0)
    console.until("/no open orders/.test(document.querySelector('.pane-account').textContent)")
    console.tab("Fills")
    sizes = [["BTC-PERP", "buy", "100000.0", size] for size in ("0.00500", "0.00300", "0.00200")]
    rows = [*sizes, ["BTC-PERP", "buy", "100000.1", "0.02000"]]
    console.comes_to(".pane-account tbody", rows)
    console.tab("Positions")
    console.comes_to(".pane-account tbody", [["BTC-PERP", "long", "0.03000"]])
    same("lists read again", lists_read(), before)
    console.open()
    console.tab("Fills")
    console.comes_to(".pane-account tbody", rows)
    console.tab("Funding")
    console.until("/no funding payments/.test(document.querySelector('.pane-account').textContent)")
    console.tab("Health")
    console.until("[...document.querySelectorAll('.pane-health tr')].some((row) => "
                  "/^private/.test(row.textContent) && row.cells[1].textContent === 'live')")
    console.tab("Open orders")


def queued(console, exchange, maker, taker):
    """What is ahead of an own order is what the book's single orders say, as those before it trade,
    shrink, go and lose their place."""
    def ahead(size):
        console.comes_to(".pane-account tbody", [["BTC-PERP", "buy", "100000.0", "0.01234", size]])
        orders = exchange.get("/api/v1/markets/BTC-PERP/book/l3").json["orders"]
        line = [row["size"] for row in orders if row["price"] == "100000"]
        before = sum(round(float(one) * 100_000) for one in line[:line.index("0.01234")])
        same("by the read", before, round(float(size) * 100_000))

    first, second = new_id(), new_id()
    maker.limit(BTC_PRICE, 1000, first)
    maker.limit(BTC_PRICE, 2000, second)
    typed(console, "100000", "0.01234")
    console.until("/^Buy 0.01234 /.test(document.querySelector('.sentence')?.textContent ?? '')")
    console.place()
    ahead("0.03000")
    maker.limit(BTC_PRICE, 3000)
    taker.limit(BTC_PRICE, -400, expiry=0)
    ahead("0.02600")
    exchange.ack(REDUCE, reduce_body(maker.id, second, 500), maker.session)
    ahead("0.02100")
    same("in the ladder", console.page.run("document.querySelector('.ladder tr.own').title"),
         "0.01234 yours, 0.02100 ahead of you")
    same("its mark", console.page.run("document.querySelector('.ladder tr.own .mine button')"
                                      ".textContent"), "▸ 0.01234 (0.021 ahead)")
    console.picture("console-queued")
    console.tab("Positions")
    console.page.run("document.querySelector('.ladder tr.own .mine button').click()")
    console.until("document.activeElement.closest('tr[data-order]') !== null")
    maker.cancel(first)
    ahead("0.01500")
    exchange.ack(REPLACE, replace_body(maker.id, second, BTC_PRICE, 9000), maker.session)
    ahead("0.00000")
    console.page.run("document.querySelector('.pane-account .acts button').click()")
    console.until("/no open orders/.test(document.querySelector('.pane-account').textContent)")
    console.until("document.querySelector('.ladder tr.own') === null")
    taker.limit(BTC_PRICE, -12000, expiry=0)


def flattened(console, maker):
    """Every order is cancelled and every position closed, once the page has asked; what fails is
    told, and stops no other. So is a copy that the browser refuses."""
    maker.limit(BTC_PRICE - 1, 50_000)  # who buys it
    typed(console, "99000", "0.01")
    console.until("/99,000.0, /.test(document.querySelector('.sentence')?.textContent ?? '')")
    console.place()
    console.comes_to(".pane-account tbody", [["BTC-PERP", "buy", "99000.0", "0.01000"]])
    console.tab("Positions")
    console.page.run("window.confirm = (text) => { window.asked = text; return true; }")
    console.page.run("""window.alert = (text) => (window.told = text);
      crypto.subtle.sign = async () => {
        delete crypto.subtle.sign;
        throw new Error('no key'); };""")
    console.press("close all")
    console.until("/no positions/.test(document.querySelector('.pane-account').textContent)")
    same("asked", console.page.run("window.asked"),
         "Cancel all 1 open orders, and close all 1 positions at the market?")
    console.until("window.told !== undefined")
    same("told", console.page.run("window.told"), "orders: no key")
    console.tab("Open orders")
    console.page.run("""navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));
      document.querySelector('.pane-account button.id').click()""")
    console.until("document.querySelector('.pane-account button.id').textContent === 'not copied'")
    console.press("cancel all")
    console.until("/no open orders/.test(document.querySelector('.pane-account').textContent)")


ACKS = """{ const real = window.fetch; const seen = new Set(); window.acks = [];
  window.fetch = async (...all) => {
    const body = all[1]?.body;
    const isAgain = seen.has(body);
    seen.add(body);
    const answer = await real(...all);
    const { timing_ns: timing } = isAgain || body === undefined ? {} : await answer.clone().json();
    if (timing !== undefined) window.acks.push(timing);
    return answer;
  }; }"""


def stages(console, exchange):
    """The same pane's figures of all requests are those of GET /latency."""
    console.press("since it started")
    shown = exchange.get("/api/v1/latency").json["stages"]
    wanted = []
    for stage in shown[:5]:  # reads, and what of their answers is sent, go on
        uppers = [upper for upper, count in stage["buckets"] for _ in range(count)]
        row = [str(len(uppers))]
        for share in (500, 900, 990, 999):
            rank = -(-len(uppers) * share // 1000)
            row.append("–" if len(uppers) * (1000 - share) < 10_000
                       else f"{uppers[rank - 1] / 1e6:.3f}")
        wanted.append(row)
    check(int(wanted[3][0]) >= 20, "matched", wanted)
    end = time.monotonic() + WAIT_S
    while (got := [row[1:] for row in console.rows(".exchange-stages tbody", 6)[:5]]) != wanted:
        check(time.monotonic() < end, "stages", f"expected {wanted}, got {got}")
        time.sleep(0.2)


def timed(console, exchange):
    """The pane of latency says what the acknowledgements said, and nothing of too few."""
    console.open()
    console.until("document.querySelector('.equity') !== null")
    console.tab("Latency")
    console.page.run(ACKS)
    console.press("measure")
    console.until("[...document.querySelectorAll('button')].some((one) => one.textContent === "
                  "'measure') && /^[0-9]+ own/.test(document.querySelector('.pane-latency')"
                  ".textContent)")
    console.until("/no open orders|Open orders$/.test(document.getElementById('tab-Open orders')"
                  ".textContent)")
    acks = console.page.run("window.acks")
    check(20 <= len(acks) <= 40, "requests measured", len(acks))
    console.until(f"/^{len(acks)} own requests/.test(document.querySelector('.pane-latency')"
                  ".textContent)")
    rows = console.rows(".pane-latency .scroll tbody", 7)
    for row, name in zip(rows, ("verified", "sequenced", "matched", "ack")):
        values = sorted(ack[name] for ack in acks)
        middle = values[(len(values) + 1) // 2 - 1]
        same(name, row[1:], [f"{ns / 1e6:.3f}" for ns in (acks[-1][name], middle)] +
             ["–"] * 3 + [f"{values[-1] / 1e6:.3f}"])
    console.until("/on a test exchange/.test(document.querySelector('.pane-latency').textContent)")
    stages(console, exchange)
    console.pictures("latency", "Orders")


def keys(console, exchange, name):
    """The keys live through a reload and are renewed; a second browser signs in; what is forgotten
    is revoked."""
    console.open()
    console.until("/^Account/.test(document.querySelector('.chip.account')?.textContent ?? '')")
    session = f"""(async () => {{
      const open = indexedDB.open('{name}');
      await new Promise((done) => (open.onsuccess = done));
      const read = open.result.transaction('credentials').objectStore('credentials').get('own');
      await new Promise((done) => (read.onsuccess = done));
      open.result.close();
      return [...read.result.sessionPublic].join() + read.result.sessionKey.extractable; }})()"""
    before = console.page.run(session)
    console.page.run("document.querySelector('.chip.account').click()")
    console.press("Renew for 7 days")
    console.until(f"{session}.then((now) => now !== '{before}' && now.endsWith('false'))")
    console.press("close")
    typed(console, "99980", "0.01")
    console.until("document.querySelector('.place').disabled === false")
    console.place()
    console.comes_to(".pane-account tbody", [["BTC-PERP", "buy", "99980.0", "0.01000"]])
    console.page.run("document.querySelector('.chip.account').click()")
    console.press("Forget this device")
    console.until("document.querySelector('.chip.account').textContent === 'Open account'")
    same("databases", [row["name"] for row in console.page.run("indexedDB.databases()")
                       if row["name"] == name], [])
    console.press("I have one: sign in")
    console.until("/^Account/.test(document.querySelector('.chip.account').textContent)")
    console.press("close")
    console.comes_to(".pane-account tbody", [["BTC-PERP", "buy", "99980.0", "0.01000"]])


def accessible(console):
    """axe finds nothing of WCAG 2.2 A and AA, in any pane, light and dark, wide and on a phone."""
    if not AXE.exists():
        return print("axe-core is not installed (tools/setup --browser installs it): not looked at")

    for theme in ("light", "dark"):
        for width in (1280, 360):
            console.open(width, 800, theme)
            console.until("document.querySelector('canvas') !== null")
            console.page.run(AXE.read_text() + ";0")
            typed(console, "99990.05", "0.01")
            for name in ("Open orders", "Positions", "Fills", "History", "Funding", "Balance",
                         "Keys", "Latency", "Health", "Decoder"):
                console.tab(name)
                console.accessible(f"{name} {width} {theme}")
            for name in ("Book", "Trade", "Orders", "Markets") if width < 700 else ():
                console.page.run(f"""[...document.querySelectorAll('.tabs button')]
                  .find((one) => one.textContent === '{name}').click()""")
                console.accessible(f"{name} {width} {theme}")
            typed(console, "99990", "0.01")
            console.page.run("document.querySelector('.chip.account').click()")
            console.accessible(f"the dialog {width} {theme}")


def stopped_market(console, exchange):
    """A halted market says so at once, and takes no order."""
    console.open()
    exchange.ack(1002, state_body(1, HALTED), exchange.operator)
    console.until("/halted/.test(document.querySelector('.pane-markets tbody').textContent)")
    console.until("/The market is halted/.test(document.querySelector('.ticket').textContent)")
    exchange.ack(1002, state_body(1, ACTIVE), exchange.operator)
    console.until("!/halted/.test(document.body.textContent)")


def main():
    if chromium.program() is None:
        print("skipped: chromium is not installed (tools/setup --browser installs it)")
        return 77
    port = free_port()
    perpd = Perpd(pathlib.Path(sys.argv[1]) / "perpd", "--exchange.testnet=on",
                  f"--exchange.passkey_origins=http://localhost:{port}",
                  f"--net.listen=127.0.0.1:{port}", "--exchange.oracle_max_age_ms=0",
                  *SMALL_TABLES)
    try:
        exchange = perpd.start()
        exchange.set_price(BTC_PRICE, 1)
        exchange.set_price(300_000, 2)
        maker, taker = (Account(exchange, 10 ** 15) for _ in range(2))
        url = f"http://localhost:{exchange.port}/"
        with chromium.Chromium(5 * PATIENCE_S) as browser:
            console = Console(browser, url)
            live(console, exchange, maker, taker)
            recoloured(console)
            one_sided(console, maker)
            name = account(console, exchange)
            orders(console, exchange, maker)
            told(console, maker)
            queued(console, exchange, maker, taker)
            flattened(console, maker)
            timed(console, exchange)
            keys(console, exchange, name)
            stopped_market(console, exchange)
            shapes(console)
            accessible(console)
            same("faults", console.faults(), [])
        print("the console: passed")
        return 0
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.exit(main())
