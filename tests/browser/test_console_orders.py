"""test_console_orders.py BUILD - what a trader does after the first order, on the trader's page in
Chromium: changes an order in its place, lets orders wait for a trigger, chooses a leverage.
PERPD_SHOTS=FOLDER keeps pictures. Skipped where tools/setup --browser was not called.
"""
import pathlib
import sys

import chromium
from console_page import FILL, Console, check, same
from test_console import BTC_PRICE
from test_console_faults import account, place, shows

from client import PATIENCE_S, SMALL_TABLES, Account, Perpd, new_id
from ports import free_port

ROW = ".pane-account tbody"


def press_in_row(console, text, what):
    """Presses the button `what` of the row that has `text`."""
    console.until(f"""[...document.querySelectorAll('{ROW} tr')].some((row) =>
      row.textContent.includes('{text}'))""")
    console.page.run(f"""[...[...document.querySelectorAll('{ROW} tr')]
      .find((row) => row.textContent.includes('{text}')).querySelectorAll('button')]
      .find((one) => one.textContent === '{what}').click()""")
    if what == "change":
        console.until("document.querySelector('.changes') !== null")


def fill(console, field, text):
    console.until(f"document.getElementById('{field}') !== null")
    console.page.run(f"{{ {FILL} fill('{field}', '{text}') }}")


def kind(console, name):
    console.page.run(f"document.querySelector('.choice-{name}').click()")


def submit(console, sentence):
    """Signs what the ticket says, once it says this."""
    console.until(f"/^{sentence}/.test(document.querySelector('.sentence')?.textContent ?? '')")
    console.until("document.querySelector('.place').disabled === false")
    console.page.run("document.querySelector('.place').click()")


def line(exchange, price):
    """The sizes that rest at a price, the first to trade first."""
    orders = exchange.get("/api/v1/markets/BTC-PERP/book/l3").json["orders"]
    return [row["size"] for row in orders if row["price"] == price]


def changed(console, exchange, maker):
    """A smaller order keeps its place, another price does not; the second page is refused."""
    place(console, "99000", "0.02")
    shows(console, ROW, "99,000.0")
    behind = new_id()
    check(maker.limit(990_000, 1000, behind)["status"] == "request_completed", "no order behind")
    press_in_row(console, "99,000.0", "change")
    same("filled in", console.page.run("['price', 'size'].map((one) => "
                                       "document.getElementById(`ticket-${one}`).value)"),
         ["99000", "0.02"])
    fill(console, "ticket-size", "0.015")
    console.pictures("change", "Trade")
    submit(console, "Buy 0.01500 BTC-PERP at 99,000.0, at most 1,485.000000 USDC. "
                    "It keeps its place in the queue")
    console.comes_to(ROW, [["BTC-PERP", "buy", "99000.0", "0.01500", "0.00000"]])
    same("before the other", line(exchange, "99000"), ["0.015", "0.01"])
    console.until("document.querySelector('.changes') === null")
    press_in_row(console, "99,000.0", "change")
    fill(console, "ticket-size", "0.03")
    submit(console, "Buy 0.03000 .* It goes to the end of the queue at its price")
    console.comes_to(ROW, [["BTC-PERP", "buy", "99000.0", "0.03000", "0.01000"]])
    same("behind the other", line(exchange, "99000"), ["0.01", "0.03"])
    # What trades between the click and the signature is not bought twice.
    press_in_row(console, "99,000.0", "change")
    fill(console, "ticket-price", "99001")
    console.until("/99,001.0/.test(document.querySelector('.sentence')?.textContent ?? '')")
    maker.cancel(behind)
    maker.limit(990_000, -1000, expiry=0)
    console.comes_to(ROW, [["BTC-PERP", "buy", "99000.0", "0.02000", "0.00000"]])
    console.page.run("document.querySelector('.place').click()")
    shows(console, ".outcome.tone-bad", "has changed on the way")
    same("as it was", line(exchange, "99000"), ["0.02"])
    console.press("leave it")
    console.until("document.querySelector('.changes') === null")
    press_in_row(console, "99,000.0", "cancel")
    shows(console, ".pane-account", "no open orders")


def waiting(console, exchange, maker):
    """An order waits for its trigger, is seen to wait, fires, and one whose trigger is met is
    refused before it is sent."""
    kind(console, "sell")
    kind(console, "stop")
    fill(console, "ticket-trigger", "100001")
    fill(console, "ticket-size", "0.01")
    shows(console, ".fault", "is there already")
    check(console.page.run("document.querySelector('.place').disabled"), "may be sent")
    fill(console, "ticket-trigger", "99000.05")
    same("nearest", console.page.run("[...document.querySelectorAll('.fault button')]"
                                     ".map((one) => one.textContent)"), ["99000", "99000.1"])
    fill(console, "ticket-trigger", "99000")
    console.pictures("stop", "Trade")
    submit(console, "Sell 0.01000 BTC-PERP once the mark price is at 99,000.0 or below, at the "
                    "market")
    console.comes_to(ROW, [["BTC-PERP", "sell", "market from 99000.0", "0.01000"]])
    kind(console, "take")
    console.page.run("[...document.querySelectorAll('.switch')].find((one) => "
                     "/at a limit/.test(one.textContent)).click()")
    fill(console, "ticket-trigger", "100500")
    fill(console, "ticket-price", "100400")
    submit(console, "Sell 0.01000 BTC-PERP once the mark price is at 100,500.0 or above, at "
                    "100,400.0, good till cancelled")
    console.comes_to(ROW, [["BTC-PERP", "sell", "100400.0 from 100500.0", "0.01000"],
                           ["BTC-PERP", "sell", "market from 99000.0", "0.01000"]])
    console.pictures("waiting", "Orders")
    press_in_row(console, "100,400.0", "cancel")
    console.comes_to(ROW, [["BTC-PERP", "sell", "market from 99000.0", "0.01000"]])
    # The mark falls: it fires, and sells what was bought before.
    maker.limit(988_000, 1000, new_id())
    exchange.set_price(985_000, 1)
    shows(console, ".pane-account", "no open orders")
    console.tab("History")
    shows(console, ".pane-history tbody", "BTC-PERP▼ sellmarket0.01000 . 0.01000")
    console.tab("Open orders")
    exchange.set_price(BTC_PRICE, 1)
    kind(console, "limit")
    kind(console, "buy")


def leverage(console, exchange, maker):
    """What is chosen is in force and shown; what the market does not have cannot be sent."""
    most = exchange.get("/api/v1/markets").json["markets"][0]["max_leverage"]
    fill(console, "leverage", most + 1)
    check(console.page.run("document.querySelector('.leverage button').disabled"), "may be sent")
    fill(console, "leverage", "7")
    console.page.run("document.querySelector('.leverage button').click()")
    shows(console, ".leverage .outcome.tone-good", "The leverage of BTC-PERP is 7×")
    maker.limit(BTC_PRICE + 10, -1000)
    place(console, "100001", "0.01")
    shows(console, ".leverage label", "Leverage 7×")
    console.pictures("leverage", "Trade")


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
        maker = Account(exchange, 10 ** 15)
        with chromium.Chromium(5 * PATIENCE_S) as browser:
            console = Console(browser, f"http://localhost:{port}/")
            console.open()
            account(console)
            changed(console, exchange, maker)
            waiting(console, exchange, maker)
            leverage(console, exchange, maker)
            same("faults", console.faults(), [])
        print("changed and waiting orders, leverage: passed")
        return 0
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.exit(main())
