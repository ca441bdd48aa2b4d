"""test_console_faults.py BUILD - the trader's page when something is wrong between it and perpd: a
subscription that is refused, frames that are dropped, repeated and reordered, a stream that falls
silent, one that is closed for slowness. The page says each by name and is right again; what is
wrong with the page itself is shown, too; its policy holds. Skipped where tools/setup --browser was
not called.
"""
import pathlib
import random
import sys
import time

import chromium
import proxy
from console_page import FILL, Console, check, same
from test_console import BTC_PRICE, equals_the_book, typed

from client import PATIENCE_S, SMALL_TABLES, Account, Perpd
from ports import free_port

# Which words the chip has had; the longest silence of a subscription when the page said so; what
# was sent on streams.
WITNESS = """window.chips = []; window.sent = []; window.bannerAt = null;
{ const Real = window.WebSocket;
  window.WebSocket = class extends Real {
    constructor(...all) {
      super(...all);
      this.addEventListener('open', () => (window.frames = new Map()));
      this.addEventListener('message', ({ data }) => {
        const { op, channel, market } = JSON.parse(data);
        if (op === undefined) window.frames.set(channel + market, performance.now());
      });
    }
    send(text) { window.sent.push(JSON.parse(text)); super.send(text); }
  };
  new MutationObserver(() => {
    const word = document.querySelector('.chips .chip')?.textContent;
    if (word !== undefined && window.chips.at(-1) !== word) window.chips.push(word);
    const isStale = /stale since/.test(document.querySelector('.banner')?.textContent ?? '');
    if (isStale) window.bannerAt ??= performance.now() - Math.min(...window.frames.values());
    else window.bannerAt = null;
  }).observe(document, { subtree: true, childList: true, characterData: true }); }
window.confirm = (text) => { window.asked = text; return true; };"""


def shows(console, selector, text):
    """Waits until what is there says this."""
    console.until(f"/{text}/.test(document.querySelector('{selector}')?.textContent ?? '')")


def refused(console, perpd):
    """A subscription that the exchange refuses is no loading one: what, why, and what helps."""
    perpd.options.append("--limits.stream_subscriptions=2")
    perpd.start()
    console.page.call("Page.navigate", url=console.url)
    shows(console, ".chips", "Incomplete")
    text = console.page.run("document.querySelector('.pane-trades').textContent")
    check("at most 2 subscriptions" in text and "limits.stream_subscriptions" in text, text)
    check("loading" not in text, text)
    check(console.page.run("document.querySelector('.ladder') !== null"), "the book is not shown")
    shows(console, ".banner", "subscriptions are refused")
    console.picture("console-refused")
    console.tab("Health")
    rows = """[...document.querySelectorAll('.pane-health tbody tr')].map((row) =>
      [row.cells[0].textContent.trim(), row.cells[1]?.textContent])"""
    console.until(f"""{rows}.filter(([name]) => /^(status|book)/.test(name))
      .every(([, state]) => state === 'live')""")
    console.until(f"""{rows}.filter(([name, state]) => /^(trades|mark BTC|bbo BTC)/.test(name) &&
      state === 'refused').length === 3""")
    # Asked for again, it is refused again and not forgotten.
    before = console.page.run("window.sent.length")
    console.page.run("document.querySelector('.pane-trades .refused button').click()")
    console.until(f"window.sent.slice({before}).some((one) => one.channel === 'trades')")
    console.until("document.querySelector('.pane-trades .refused') !== null")
    perpd.options.pop()
    perpd.stop()
    exchange = perpd.start()
    shows(console, ".chips", "Live")
    console.until("document.querySelector('.pane-trades .refused') === null")
    console.tab("Open orders")
    return exchange


def place(console, price, size):
    typed(console, price, size)
    console.until("document.querySelector('.place').disabled === false")
    console.place()


def account(console):
    console.press("Open account")
    console.press("Create an account")
    shows(console, ".chip.account", "^Account")
    console.press("Get 10000 test USDC")
    console.until("document.querySelector('.equity')?.textContent === '10,000.00 USDC'")
    console.press("close")


def gap(console, exchange, between, maker):
    """Frames are dropped, repeated and reordered: the page says "Gap" and ends with what the reads
    say."""
    for step in range(20):
        maker.limit(BTC_PRICE + 1 + step, -(step + 1) * 1000)
        maker.limit(BTC_PRICE - 1 - step, (step + 1) * 500)
    equals_the_book(console, exchange)
    place(console, "99990", "0.01")
    shows(console, ".pane-account tbody", "99,990.0")
    between.fault = "shuffle"
    order = random.Random(18)
    end = time.monotonic() + PATIENCE_S
    while (min(between.counts.values()) < 3 or
           not console.page.run("window.chips.some((word) => /Gap/.test(word))")):
        check(time.monotonic() < end, between.counts, console.page.run("window.chips"))
        maker.limit(BTC_PRICE + order.randrange(-30, 30), order.choice((-1, 1)) * 100)
        console.page.run("0")
    between.fault = None
    equals_the_book(console, exchange)
    gaps = console.page.run("window.chips.filter((word) => /Gap/.test(word)).length")
    print(f"frames: {between.counts}; the chip said Gap {gaps} times")


def silent(console, exchange, between):
    """A stream that stays open and says nothing is stale after 12 s; cancels work then."""
    place(console, "99000", "0.01")
    shows(console, ".pane-account tbody", "99,000.0")
    between.fault = "silent"
    console.until("window.bannerAt !== null")
    after = console.page.run("window.bannerAt")
    print(f"stale {after:.0f} ms after the last frame of a subscription")
    check(after >= 12_000, "stale too early", after)
    book = exchange.get("/api/v1/markets/BTC-PERP/book").json
    check(["99000", "0.01"] in book["bids"], book)
    console.page.run(f"{{ {FILL} fill('ticket-price', '98000'); fill('ticket-size', '0.01') }}")
    console.picture("console-stale")
    console.press("cancel all")
    end = time.monotonic() + PATIENCE_S
    while ["99000", "0.01"] in exchange.get("/api/v1/markets/BTC-PERP/book").json["bids"]:
        check(time.monotonic() < end, "not cancelled while stale")
        time.sleep(0.05)
    check(console.page.run("/Cancel all [0-9]+ open/.test(window.asked)"), "asked otherwise")
    check(console.page.run("/stale since/.test(document.querySelector('.banner').textContent)"),
          "not stale any more")
    place(console, "98000", "0.01")
    console.until("/stale. Send the order all the same/.test(window.asked)")
    between.fault = None
    between.end_streams(1001)  # the present one has lost what came meanwhile
    console.until("document.querySelector('.chip.tone-good') !== null")
    console.until("!/stale since/.test(document.querySelector('.banner')?.textContent ?? '')")
    equals_the_book(console, exchange)


def slow(console, exchange, between):
    """Closed for slowness it says so and comes back; the second time with a short book."""
    def depths():
        return console.page.run("window.sent.filter((one) => one.channel === 'book')"
                                ".map((one) => one.depth)")

    console.page.run("window.sent.length = window.chips.length = 0")
    for wanted in ([50], [50, 10]):
        between.admits.clear()  # or the page may be back before it shows that it was away
        between.end_streams(4008)
        console.until("/Too slow/.test(window.chips.join())")
        between.admits.set()
        console.until(f"window.sent.filter((one) => one.channel === 'book').length === "
                      f"{len(wanted)}")
        console.until("document.querySelector('.chip.tone-good') !== null")
        same("depth", depths(), wanted)
        console.page.run("window.chips.length = 0")
    console.until("document.querySelectorAll('.ladder .bids tr:not(.empty)').length === 10")
    check(len(exchange.get("/api/v1/markets/BTC-PERP/book").json["bids"]) > 10, "a short book")


def by_keys(console, exchange, maker):
    """Keys choose side, market and pane; two escapes cancel all; none works where text is typed. A
    position is closed by one press and one order; what ended is in the history, with its reason."""
    def key(name):
        for kind in ("keyDown", "keyUp"):
            text = {"text": name} if kind == "keyDown" and len(name) == 1 else {}
            console.page.call("Input.dispatchKeyEvent", type=kind, key=name, **text)

    console.open()
    console.until("document.querySelector('.equity') !== null")
    key("s")
    console.until("document.activeElement.id === 'ticket-price' && "
                  "document.querySelector('.choice-sell').ariaPressed === 'true'")
    key("b")  # is typed
    same("typed", console.page.run("[document.activeElement.value, "
                                   "document.querySelector('.choice-sell').ariaPressed]"),
         ["b", "true"])
    console.page.run("document.activeElement.blur()")
    key("b")
    console.until("document.querySelector('.choice-buy').ariaPressed === 'true'")
    console.page.run("document.activeElement.blur()")
    key("/")
    console.until("document.activeElement.type === 'search'")
    console.page.run("document.activeElement.blur()")
    key("?")
    console.until("/cancel all orders/.test(document.querySelector('dialog[open]')?.textContent)")
    key("4")  # dead in a dialog
    console.press("close")
    console.until("document.querySelector('dialog[open]') === null")
    console.page.run("document.activeElement.blur()")
    key("1")
    console.until("document.getElementById('tab-Open orders').ariaSelected === 'true'")
    place(console, "97000", "0.01")
    shows(console, ".pane-account tbody", "97,000.0")
    console.page.run("document.activeElement.blur(); window.asked = ''")
    key("Escape")
    same("asked after one", console.page.run("window.asked"), "")
    key("Escape")
    console.until("document.querySelector('.pane-account tbody') === null")
    check("Cancel all" in console.page.run("window.asked"), "not asked")
    maker.limit(BTC_PRICE + 400, -1000)
    place(console, "100040", "0.01")
    key("2")
    console.tab("Positions")
    shows(console, ".pane-account tbody", "▲ long")
    size = console.page.run("document.querySelector('.pane-account tbody tr').cells[2].textContent")
    maker.limit(BTC_PRICE - 400, 1_000_000)
    console.press("close")
    console.until("/^Sell [0-9.]+ BTC-PERP at the market, .*only to reduce/"
                  ".test(document.querySelector('.sentence')?.textContent ?? '')")
    same("all of it", console.page.run("document.getElementById('ticket-size').value"),
         size.rstrip("0"))
    console.place()
    shows(console, ".pane-account", "no positions")
    console.page.run("document.activeElement.blur()")
    key("4")
    shows(console, ".pane-history tbody", "canceled: you cancelled all")
    rows = console.rows(".pane-history tbody", 4)
    same("the newest order", rows[0][:3], ["BTC-PERP", "sell", "market"])
    same("all of it is filled", rows[0][3], f"{size} / {size}")
    console.pictures("history", "Orders")
    console.press("cash")
    shows(console, ".pane-history tbody", "faucet")
    console.until("document.querySelector('.pane-history tbody tr:last-child').cells[2]"
                  ".textContent === '10,000.000000'")
    shows(console, ".pane-history", "that is all")


STILL = """window.still = new Promise((done) => {
  const colours = new Map(), changes = new Map();
  let versions = 0, shown = '', moving = 0;
  const begun = performance.now();
  const look = () => {
    const text = document.querySelector('.ladder').textContent;
    versions += text !== shown;
    shown = text;
    moving += document.getAnimations().length;
    for (const one of document.querySelectorAll('body *')) {
      const colour = getComputedStyle(one).backgroundColor;
      if (colours.has(one) && colours.get(one) !== colour)
        changes.set(one, (changes.get(one) ?? 0) + 1);
      colours.set(one, colour);
    }
    if (performance.now() - begun < 1000) requestAnimationFrame(look);
    else done([versions, moving, Math.max(0, ...changes.values())]);
  };
  look(); }); 0"""


def still(console, maker):
    """With reduced motion nothing moves, and no background changes more than 3 times in a second of
    a fast market."""
    console.page.call("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    versions = 0
    while versions < 5:
        console.page.run(STILL)
        end = time.monotonic() + 1
        order = random.Random(32)
        while time.monotonic() < end:
            maker.limit(BTC_PRICE + order.randrange(-9, 9), order.choice((-1, 1)) * 100)
        versions, moving, most = console.page.run("window.still")
        print(f"{versions} states of the ladder in a second; one background changed {most} times")
        same("animations", moving, 0)
        check(most <= 3, "a background changed", most)


def isolated(console):
    """The clock of the page is fine enough for latencies; no text becomes a script."""
    step = console.page.run("""(() => { let least = 1, before = performance.now();
      for (let turn = 0; turn < 1e6 && least > 0.005; turn++) {
        const now = performance.now();
        if (now > before) least = Math.min(least, now - before);
        before = now;
      }
      return least; })()""")
    check(step <= 0.0101, "the step of the timer, ms", step)
    for text in ("eval('1')", "new Function('return 1')()"):
        answer = console.page.call("Runtime.evaluate", allowUnsafeEvalBlockedByCSP=False,
                                   expression=f"try {{ {text} }} catch (e) {{ e.name }}",
                                   returnByValue=True)
        same(text, answer["result"].get("value"), "EvalError")


def confessed(console):
    """What no part of the page has caught is shown; so is a drawing that does not come."""
    console.page.run("Promise.reject(new Error('planted')); 0")
    console.until("/has a fault .planted/"
                  ".test(document.querySelector('.banner')?.textContent ?? '')")
    console.page.run("""{ HTMLCanvasElement.prototype.getContext = () => {
      throw new Error('no canvas'); };
      location.hash = 'm=ETH-PERP'; }""")
    console.until("/cannot be drawn .no canvas/.test(document.querySelector('.pane-depth')"
                  ".textContent)")


def guarded(console, browser, url):
    """The policy: no eval, no script of the page's text, no frame."""
    refused = console.page.run("""(async () => {
      const outcome = {};
      const script = document.createElement('script');
      try { script.textContent = 'window.inline = true'; document.body.append(script); } catch { }
      try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); outcome.html = 'taken'; }
      catch (error) { outcome.html = error.name; }
      outcome.inline = window.inline ?? 'blocked';
      return outcome; })()""")
    same("refused", refused, {"html": "TypeError", "inline": "blocked"})
    frame = chromium.Page(browser, "about:blank")
    same("in a frame", frame.run(f"""new Promise((done) => {{
      const frame = document.createElement('iframe');
      frame.src = '{url}';
      frame.onload = () => {{
        try {{ done(frame.contentDocument?.title ?? 'closed'); }} catch {{ done('closed'); }}
      }};
      document.body.append(frame); }})"""), "closed")


def main():
    if chromium.program() is None:
        print("skipped: chromium is not installed (tools/setup --browser installs it)")
        return 77
    port = free_port()
    between = proxy.Proxy(port)
    perpd = Perpd(pathlib.Path(sys.argv[1]) / "perpd", "--exchange.testnet=on",
                  f"--exchange.passkey_origins=http://localhost:{between.port}",
                  f"--net.listen=127.0.0.1:{port}", "--exchange.oracle_max_age_ms=0",
                  *SMALL_TABLES)
    try:
        with chromium.Chromium(5 * PATIENCE_S) as browser:
            console = Console(browser, f"http://localhost:{between.port}/")
            console.page.call("Page.addScriptToEvaluateOnNewDocument", source=WITNESS)
            exchange = refused(console, perpd)
            exchange.set_price(BTC_PRICE, 1)
            maker = Account(exchange, 10 ** 15)
            console.open()
            account(console)
            gap(console, exchange, between, maker)
            silent(console, exchange, between)
            slow(console, exchange, between)
            by_keys(console, exchange, maker)
            still(console, maker)
            isolated(console)
            confessed(console)
            guarded(console, browser, console.url)
        print("the console's faults: passed")
        return 0
    finally:
        between.close()
        perpd.remove()


if __name__ == "__main__":
    sys.exit(main())
