"""test_console_panes.py BUILD - what each pane of the trader's page shows while it loads, without
rows, when a read fails, live, at the end of a list, when the stream is stale and when it is gone.
PERPD_SHOTS=FOLDER keeps pictures. Skipped where tools/setup --browser was not called.
"""
import pathlib
import sys

import chromium
import proxy
from console_page import Console, check, same
from test_console import BTC_PRICE
from test_console_faults import place, shows

from client import (PATIENCE_S, PLACE_LIMIT, SMALL_TABLES, Account, Perpd, envelope, limit_body,
                    payload_of)
from ports import free_port

# The reads of the page whose path is like sessionStorage's `like` do as its `reads` says.
READS = """{ const real = window.fetch;
  window.fetch = (...all) => {
    const [reads, like] = ['reads', 'like'].map((one) => sessionStorage.getItem(one));
    if (reads === null || all[1]?.method !== undefined || !new RegExp(like).test(all[0]))
      return real(...all);
    return reads === 'hold' ? new Promise(() => {}) : Promise.resolve(reads === 'fail'
      ? new Response('{"code":"not_ready","detail":"planted"}', { status: 503 })
      : new Response(reads));
  }; }"""
STREAMED = ("book", "trades", "candles", "depth")
# Tabs of the account, what each says without rows, and the read that it makes for itself.
TABS = {"Open orders": "no open orders", "Positions": "no positions", "Fills": "no fills",
        "Funding": "no funding payments.*no hour has ended yet", "Balance": "Withdrawable now",
        "History": "no order has ended", "Keys": "this browser"}
OWN = {"Funding": ("/funding-rates", "loading rates", "planted"),
       "History": ("/orders.*limit=50$", "loading orders", "planted.*try again"),
       "Keys": ("/auth/", "loading keys", "planted.*try again"),
       "Balance": ("/cash_balances", "Withdrawable now", "planted"),
       "Latency": ("/latency", "loading the exchange", "planted|not answer")}


def reads(console, what, like="."):
    """From now on the page's reads like this hang, fail or are this text; None: they pass."""
    console.page.run("sessionStorage.clear()" if what is None else
                     f"sessionStorage.setItem('reads', {what!r}); "
                     f"sessionStorage.setItem('like', {like!r})")


def navigate(console):
    console.page.call("Page.navigate", url=console.url)
    console.until("document.querySelector('.pane-book') !== null")


def pane(console, name, text):
    shows(console, f".pane-{name}", text)


def tab(console, name, text):
    console.tab(name)
    pane(console, "account", text)


def markets(console):
    """No record of the exchange, none of a market, no market, no market of that name."""
    console.open()
    for what, said in (("hold", "loading markets"), ('{"markets":[]}', "no markets yet")):
        reads(console, what, "/markets$")
        navigate(console)
        pane(console, "markets", said)
        pane(console, "book", "no market chosen")
    reads(console, "fail", "/markets$")
    navigate(console)
    shows(console, ".banner", "records are not there: planted")
    reads(console, None)
    console.open()
    console.page.run("""{ const find = document.querySelector('input[type=search]');
      find.value = 'nothing';
      find.dispatchEvent(new Event('input', { bubbles: true })); }""")
    pane(console, "markets", "no market has this name")


def streamed(console, between):
    """What comes by the stream: on its way, stale, gone, empty."""
    between.fault = "silent"
    reads(console, "hold", "/candles|/book")
    navigate(console)
    for name, said in zip(STREAMED, ("loading book", "loading trades", "loading candles",
                                     "loading")):
        pane(console, name, said)
    shows(console, ".chips", "Loading")
    console.pictures("pane-loading")
    reads(console, "fail", "/candles|/book")
    pane(console, "depth", "planted")
    between.admits.clear()  # stale, the page closes the stream, and none is to be had
    shows(console, ".banner", "stale since")
    shows(console, ".chips", "Reconnecting.*Retry now")
    for name in STREAMED:
        console.until(f"document.querySelector('.pane-{name}').matches('.is-stale')")
        pane(console, name, "stale")
    console.pictures("pane-gone")
    between.fault = None
    between.admits.set()
    shows(console, ".chips", "Live")
    pane(console, "candles", "no candles: planted")
    reads(console, None)
    for name, said in zip(STREAMED, ("no orders", "no trades yet", "no trades yet", "no orders")):
        pane(console, name, said)
        console.until(f"document.querySelector('.pane-{name}').matches('.is-live')")


def private(console):
    """The lists of the account: without one, while they are read, without rows, when they fail."""
    for name in TABS:
        tab(console, name, "no account on this device")
    console.press("Open account")
    console.press("Create an account")
    shows(console, ".chip.account", "^Account")
    console.press("close")
    for name, said in TABS.items():
        tab(console, name, said)
    tab(console, "History", "no order has ended")
    console.press("cash")
    pane(console, "account", "the cash has not changed")
    tab(console, "Latency", "0 own requests")
    tab(console, "Health", "book BTC-PERP")
    console.tab("Decoder")
    same("decoded", console.page.run("document.querySelectorAll('.pane-decoder tr').length"), 0)
    every = "/orders|/fills|/funding-payments|/positions|/balance"
    for what, said in (("hold", "loading account"), ("fail", "planted")):
        reads(console, what, every)
        navigate(console)
        shows(console, ".chip.account", "^Account")
        for name in TABS:
            tab(console, name, said)
    reads(console, None)
    for name, (like, waits, fails) in OWN.items():
        for what, said in (("hold", waits), ("fail", fails)):
            reads(console, what, like)
            navigate(console)
            shows(console, ".chip.account", "^Account")
            tab(console, name, said)
            if what == "hold":
                continue
            reads(console, None)
            if "try again" in said:
                console.press("try again")
            pane(console, "account", TABS.get(name, "ms until.*count"))


def live(console, exchange, maker, taker):
    """Rows, and the end of each list; a page that fails on the way there is asked for again."""
    console.page.run("document.querySelector('.chip.account').click()")
    console.press("Get 10000 test USDC")
    console.until("document.querySelector('.equity')?.textContent === '10,000.00 USDC'")
    console.press("close")
    maker.limit(BTC_PRICE, -20_000)
    for _ in range(60):
        taker.limit(BTC_PRICE, 10, expiry=0)
    place(console, "100000", "0.01")
    tab(console, "Positions", "▲ long")
    console.tab("Open orders")
    place(console, "99000", "0.01")
    pane(console, "account", "99,000.0")
    for name, rows in (("Positions", "▲ long"), ("Fills", "that is all"), ("History", "filled"),
                       ("Balance", "9,999")):
        tab(console, name, rows)
    tab(console, "History", "that is all")
    console.press("cash")
    pane(console, "account", "faucet.*that is all")
    for name, rows in (("book", "100,000.0"), ("trades", "100,000.0"), ("candles", "volume")):
        pane(console, name, rows)
    pane(console, "depth", "1 bid and 1 ask levels")
    older = ".pane-trades .nothing button"
    reads(console, "fail", "/trades")
    console.until(f"document.querySelector('{older}') !== null")
    console.page.run(f"document.querySelector('{older}').click()")
    pane(console, "trades", "planted.*try again")
    reads(console, None)
    console.page.run(f"document.querySelector('{older}').click()")
    pane(console, "trades", "that is all.*the list stands still")
    wanted = len(exchange.get("/api/v1/markets/BTC-PERP/trades?limit=500").json["trades"])
    check(wanted > 50, "too few trades", wanted)
    same("every trade", len(console.rows(".pane-trades tbody", 2)), wanted)
    taker.limit(BTC_PRICE, 10, expiry=0)
    console.press("newest")
    console.until("document.querySelectorAll('.pane-trades tbody tr').length === 50")
    console.pictures("pane-live")


def decoded(console, maker):
    """What is pasted is no payload; an envelope, of which the exchange says what is wrong."""
    def paste(text):
        console.page.run(f"""{{ const field = document.getElementById('decoder');
          field.value = {text!r};
          field.dispatchEvent(new Event('input', {{ bubbles: true }})); }}""")

    console.tab("Decoder")
    paste("!")
    pane(console, "account", "neither Base64 nor hex")
    payload = payload_of(PLACE_LIMIT, limit_body(maker.id, BTC_PRICE, 100), maker.session)
    for wrong, said in ((0, "✓ signature"), (1, "✗ signature: invalid_signature")):
        signature = bytearray(maker.session.sign(payload))
        signature[0] ^= wrong
        paste(envelope(payload, maker.session.public, bytes(signature)).decode())
        pane(console, "account", "place_limit_order")
        console.press("ask the exchange")
        pane(console, "account", said)


def main():
    if chromium.program() is None:
        print("skipped: chromium is not installed (tools/setup --browser installs it)")
        return 77
    port = free_port()
    between = proxy.Proxy(port)
    perpd = Perpd(pathlib.Path(sys.argv[1]) / "perpd", "--exchange.testnet=on",
                  f"--exchange.passkey_origins=http://localhost:{between.port}",
                  f"--net.listen=127.0.0.1:{port}", "--exchange.oracle_max_age_ms=0",
                  "--net.debug_payload=on",
                  *SMALL_TABLES)
    try:
        exchange = perpd.start()
        exchange.set_price(BTC_PRICE, 1)
        with chromium.Chromium(5 * PATIENCE_S) as browser:
            console = Console(browser, f"http://localhost:{between.port}/")
            console.page.call("Page.addScriptToEvaluateOnNewDocument", source=READS)
            markets(console)
            streamed(console, between)
            private(console)
            maker, taker = (Account(exchange, 10 ** 15) for _ in range(2))
            live(console, exchange, maker, taker)
            decoded(console, maker)
        print("the states of every pane: passed")
        return 0
    finally:
        between.close()
        perpd.remove()


if __name__ == "__main__":
    sys.exit(main())
