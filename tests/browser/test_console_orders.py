"""test_console_orders.py BUILD - what a trader does after the first order, on the trader's page in
Chromium: changes an order in its place, lets orders wait for a trigger, chooses a leverage,
presses twice and in two tabs, arms what ends the orders, looks after the keys, forgets them.
PERPD_SHOTS=FOLDER keeps pictures. Skipped where tools/setup --browser was not called.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import time

import chromium
from console_page import FILL, Console, check, same
from test_console import BTC_PRICE
from test_console_faults import account, place, shows

from client import (PATIENCE_S, SMALL_TABLES, Account, Ed25519Key, Perpd, limit_body,
                    new_id)
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
    console.place()


def by_perp(console, words):
    """The command beside the bytes, run by perp of this build, signs the same but for the id."""
    shown, command = console.page.run("""[[...document.querySelectorAll('.ticket .signed tbody tr')]
      .map((row) => row.cells[3].textContent).join(''),
      document.querySelector('.ticket .signed .same pre').textContent]""")
    check(words in command, words, command)
    key = pathlib.Path(os.environ["TMPDIR"] if "TMPDIR" in os.environ else "/tmp",
                       f"by_perp.{os.getpid()}")
    made = Ed25519Key()
    key.write_text(f"curve = ed25519\npublic = {base64.b64encode(made.public).decode()}\n"
                   f"secret = {base64.b64encode(made._secret[:32]).decode()}\n")
    key.chmod(0o600)
    try:
        done = subprocess.run([f"{sys.argv[1]}/perp", *command.split()[1:], "--session-key", key,
                               "--dry-run", "-o", "json"], capture_output=True, text=True,
                              timeout=PATIENCE_S)
    finally:
        key.unlink()
    check(done.returncode == 0, command, done.stdout, done.stderr)
    payload = base64.b64decode(json.loads(done.stdout)["payload"]).hex()
    same(command, payload[:16] + payload[48:], shown[:16] + shown[48:])


def line(exchange, price):
    """The sizes that rest at a price, the first to trade first."""
    orders = exchange.get("/api/v1/markets/BTC-PERP/book/l3").json["orders"]
    return [row["size"] for row in orders if row["price"] == price]


def changed(console, exchange, maker):
    """A smaller order keeps its priority, a larger one does not; what has traded
    meanwhile is not bought twice."""
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
    by_perp(console, "perp amend BTC-PERP ")
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
    console.place()
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
    by_perp(console, "perp stop BTC-PERP sell 0.01 99000 ")
    console.pictures("stop", "Trade")
    submit(console, "Sell 0.01000 BTC-PERP once the mark price is at 99,000.0 or below, at the "
                    "market")
    console.comes_to(ROW, [["BTC-PERP", "sell", "market from 99000.0", "0.01000"]])
    kind(console, "take")
    console.page.run("[...document.querySelectorAll('.switch')].find((one) => "
                     "/at a limit/.test(one.textContent)).click()")
    fill(console, "ticket-trigger", "100500")
    fill(console, "ticket-price", "100400")
    by_perp(console, "perp take-profit BTC-PERP sell 0.01 100500 100400 --tif GTC ")
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


def grouped(console, exchange, maker):
    """A stop and a take profit of one group: the first that fires cancels the other."""
    kind(console, "sell")
    kind(console, "stop")
    console.page.run("""{ const limit = [...document.querySelectorAll('.switch')].find((one) =>
        /at a limit/.test(one.textContent)).querySelector('input');
      if (limit.checked) limit.click(); }""")
    fill(console, "ticket-trigger", "99000")
    fill(console, "ticket-size", "0.01")
    console.page.run("""{ const group = document.getElementById('ticket-oco');
      group.value = 'new';
      group.dispatchEvent(new Event('change', { bubbles: true })); }""")
    shows(console, ".sentence", "of a group of which the first that fires cancels the others")
    by_perp(console, "--oco ")
    submit(console, "Sell 0.01000 BTC-PERP once the mark price is at 99,000.0 or below")
    console.comes_to(ROW, [["BTC-PERP", "sell", "market from 99000.0", "0.01000"]])
    kind(console, "take")
    fill(console, "ticket-trigger", "100500")
    submit(console, "Sell 0.01000 BTC-PERP once the mark price is at 100,500.0 or above.*group")
    console.comes_to(ROW, [["BTC-PERP", "sell", "market from 100500.0", "0.01000"],
                           ["BTC-PERP", "sell", "market from 99000.0", "0.01000"]])
    maker.limit(988_000, 1000, new_id())
    exchange.set_price(985_000, 1)
    shows(console, ".pane-account", "no open orders")
    console.tab("History")
    shows(console, ".pane-history tbody", "0.00000 . 0.01000.*canceled")
    press_in_row(console, "canceled", "all")
    shows(console, ".pane-history .whole pre", '"request_type":"place_conditional_order"')
    console.tab("Open orders")
    exchange.set_price(BTC_PRICE, 1)
    kind(console, "limit")
    kind(console, "buy")


def reduced(console, exchange, maker):
    """A part of an order is taken off, which keeps its place; what is no part is refused. More
    fills than are kept are there a page at a time."""
    place(console, "97000", "0.06")
    shows(console, ROW, "97,000.0")
    behind = new_id()
    maker.limit(970_000, 1000, behind)
    for text, left in (("0.06", "0.06"), ("0.000001", "0.06"), ("0.0045", "0.0555")):
        console.page.run(f"window.prompt = () => '{text}'")
        press_in_row(console, "97,000.0", "reduce")
        console.until(f"/{left}/.test(document.querySelector('{ROW}').textContent)")
        console.until(f"(document.querySelector('.pane-account .tone-bad') !== null) === "
                      f"{str(left == '0.06').lower()}")
    same("keeps its place", line(exchange, "97000"), ["0.0555", "0.01"])
    maker.cancel(behind)
    for _ in range(55):
        maker.limit(970_000, -100, expiry=0)
    maker.limit(970_000, -50, expiry=0)
    shows(console, ".pane-account", "no open orders")
    console.open()
    console.tab("Fills")
    console.until(f"document.querySelectorAll('{ROW} tr').length === 50")
    console.press("older")
    shows(console, ".pane-account .nothing", "that is all")
    rows = console.rows(ROW, 4)
    same("fills at 97,000", sum(row[2] == "97000.0" for row in rows), 56)
    console.tab("Open orders")


def armed(console, exchange):
    """What ends the orders when the page is gone is armed, shown, and does it."""
    def switch(name, words):
        console.page.run(f"document.getElementById('arm-{name}').click()")
        console.until(f"[...document.querySelectorAll('.top .chip')].some((one) => "
                      f"/armed: {words}/.test(one.textContent))")

    def leaves():
        """The page is left, and the browser may keep it: the order ends all the same."""
        shows(console, ROW, "96,000.0")
        same("rests", line(exchange, "96000"), ["0.01"])
        console.page.call("Page.navigate", url="about:blank")
        end = time.monotonic() + PATIENCE_S
        while line(exchange, "96000") != []:
            check(time.monotonic() < end, "the order outlives the page")
            time.sleep(0.1)

    console.page.run("document.querySelector('.chip.account').click()")
    switch("disconnect", "disconnect")
    console.press("close")
    place(console, "96000", "0.01")
    leaves()
    console.page.run("history.back()")  # as it was, or loaded again
    console.until("document.querySelector('.chip.tone-good') !== null")
    shows(console, ".chip.account", "^Account")
    console.open()
    console.page.run("document.querySelector('.chip.account').click()")
    switch("dead-man", "60 s")
    switch("disconnect", "disconnect, 60 s")
    console.until("!document.getElementById('arm-disconnect').disabled")
    console.pictures("armed")
    same("nothing went wrong", console.page.run(
        "document.querySelector('dialog[open] .tone-bad') === null"), True)
    console.press("close")
    place(console, "96000", "0.01")
    leaves()
    console.open()
    console.until("document.querySelector('.equity') !== null")
    console.page.run("document.querySelector('.chip.account').click()")
    same("armed by nobody", console.page.run("document.getElementById('arm-disconnect').checked"),
         False)
    console.press("close")


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


def once(console, browser, exchange, maker):
    """Two presses of one button give one order, also when the bytes that were shown are too old to
    be sent; the same order from a second tab is sent only after a question, also one for a time,
    which ends in each tab at another time."""
    def resting():
        return line(exchange, "98000")

    fill(console, "ticket-price", "98000")
    fill(console, "ticket-size", "0.011")
    console.until("/98,000.0/.test(document.querySelector('.sentence')?.textContent ?? '')")
    console.page.run("new Promise((done) => setTimeout(done, 10500))")
    console.page.run("window.confirm = () => true; for (let turn = 0; turn < 2; turn++) "
                     "document.querySelector('.place').click()")
    shows(console, ROW, "98,000.0")
    console.until("document.querySelector('.outcome.tone-good') !== null")
    second = Console(browser, console.url)
    second.open()
    second.until("document.querySelector('.equity') !== null")
    same("orders of two presses", resting(), ["0.011"])
    tabs = (console, second)
    for tif, size, words in (("GTC", "0.012", "good till"), ("GTT", "0.014", "for 1 day")):
        for tab in tabs:
            fill(tab, "ticket-price", "98000")
            fill(tab, "ticket-size", size)
            tab.page.run(f"""{{ const field = document.getElementById('ticket-tif');
              field.value = '{tif}';
              field.dispatchEvent(new Event('change', {{ bubbles: true }})); }}""")
            tab.until(f"/{size}00 .* 98,000.0, {words}/.test("
                      "document.querySelector('.sentence')?.textContent)")
            tab.page.run("window.asked = []; "
                         "window.confirm = (text) => (window.asked.push(text), false)")
        for tab in tabs:
            tab.place()
        second.until("window.asked.length === 1")
        same("asked", [tab.page.run("window.asked") for tab in tabs],
             [[], ["Another tab of this browser sends the same order, or has just sent it. "
                   "Send it once more?"]])
    # What the second would have sent could be in the book by the time of another order of it.
    fill(second, "ticket-size", "0.013")
    second.until("/0.01300 /.test(document.querySelector('.sentence')?.textContent)")
    second.place()
    second.until("document.querySelector('.outcome.tone-good') !== null")
    same("orders of two tabs", resting(), ["0.011", "0.012", "0.014", "0.013"])
    same("faults of the second", second.faults(), [])
    second.page.call("Page.navigate", url="about:blank")
    console.page.call("Page.bringToFront")  # or it is not painted


def listed(console, exchange, maker):
    """The keys of the account: this browser's are marked, another program's is let in and ended, a
    former browser's are ended; what cannot be read says so."""
    def tables():
        return console.page.run("""[...document.querySelectorAll('.pane-keys tbody')].map((one) =>
          [...one.rows].map((row) => row.textContent))""")

    def counts(*wanted):
        console.until(f"""[...document.querySelectorAll('.pane-keys tbody')].map((one) =>
          one.rows.length).join() === '{",".join(map(str, wanted))}'""")

    def signed(what):
        shows(console, ".pane-keys .sentence", what)
        console.press("Sign by the master key")
        shows(console, ".pane-keys .outcome.tone-good", f"{what}.*done")

    console.page.run("""{ window.fetched = window.fetch;
      window.fetch = (...all) => (/auth.sessions/.test(all[0]) ? Promise.reject(new Error('lost'))
        : window.fetched(...all)); }""")
    console.tab("Keys")
    shows(console, ".pane-account", "the exchange did not answer.*try again")
    console.page.run("window.fetch = window.fetched")
    console.press("try again")
    counts(1, 1, 1)
    check(all("this browser" in tables()[at][0] for at in (0, 1)), tables())
    check("passkeyadmin" in tables()[2][0], tables())
    key = Ed25519Key()
    number = int(console.page.run("document.querySelector('.chip.account').textContent")[8:])
    body = limit_body(number, 970_000, 1000)
    same("before", exchange.ack(0, body, key)["status"], "rejected_unauthorized")
    fill(console, "session-key", "ab")
    shows(console, ".pane-keys .fault", "64 hexadecimal digits")
    fill(console, "session-key", key.public.hex())
    console.press("Review")
    console.pictures("keys", "Orders")
    name = key.public.hex()[:8]
    signed(f"Let the key {name}")
    counts(2, 1, 1)
    same("admitted", exchange.ack(0, body, key)["status"], "request_completed")
    press_in_keys = f"""[...[...document.querySelectorAll('.pane-keys tr')].find((row) =>
      row.textContent.includes('{name}')).querySelectorAll('button')][0].click()"""
    console.page.run(press_in_keys)
    signed(f"End the session {name}")
    counts(1, 1, 1)
    same("ended", exchange.ack(0, body, key)["status"], "rejected_unauthorized")
    # The browser has lost its keys; those of before can be ended by who signs in again.
    console.page.call("Page.navigate", url="about:blank")
    console.page.call("Storage.clearDataForOrigin", origin=console.url.rstrip("/"),
                      storageTypes="indexeddb")
    console.open()
    console.press("Open account")
    console.press("I have one: sign in")
    shows(console, ".chip.account", "^Account")
    console.press("close")
    console.tab("Keys")
    counts(2, 2, 1)
    for table, what in ((0, "End the session"), (1, "Revoke the key")):
        console.page.run(f"""document.querySelectorAll('.pane-keys tbody')[{table}]
          .querySelector('button').click()""")
        signed(what)
    counts(1, 1, 1)
    check(all("this browser" in tables()[at][0] for at in (0, 1)), tables())
    console.tab("Open orders")


def forgotten(console, exchange):
    """A tab that was open before another one renewed the session ends the renewed one."""
    name = "perpd-" + exchange.get("/api/v1/exchange").json["exchange_id"]

    def copied(row, to):
        """Copies what the browser keeps; gives the first digits of its key, as the page does."""
        return console.page.run(f"""(async () => {{
          const done = (one) => new Promise((end) => (one.onsuccess = () => end(one.result)));
          const database = await done(indexedDB.open('{name}'));
          const store = database.transaction('credentials', 'readwrite').objectStore('credentials');
          const kept = await done(store.get('{row}'));
          await done(store.put(kept, '{to}'));
          database.close();
          return [...kept.sessionPublic.slice(0, 4)].map((one) =>
            one.toString(16).padStart(2, '0')).join(''); }})()""")

    def menu(text):
        shows(console, ".chip.account", "^Account")
        console.page.run("document.querySelector('.chip.account').click()")
        console.press(text)

    before = copied("own", "before")
    menu("Renew for 7 days")
    end = time.monotonic() + PATIENCE_S
    while (renewed := copied("own", "renewed")) == before:
        check(time.monotonic() < end, "not renewed")
        time.sleep(0.05)
    copied("before", "own")
    console.open()
    shows(console, ".chip.account", "^Account")
    copied("renewed", "own")
    menu("Forget this device")
    console.press("I have one: sign in")
    shows(console, ".chip.account", "^Account")
    console.press("close")
    console.tab("Keys")
    shows(console, ".pane-keys tbody", "this browser")
    listing = console.page.run("document.querySelector('.pane-keys tbody').textContent")
    check(renewed not in listing, f"{renewed} lives on", listing)


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
            grouped(console, exchange, maker)
            reduced(console, exchange, maker)
            armed(console, exchange)
            once(console, browser, exchange, maker)
            listed(console, exchange, maker)
            forgotten(console, exchange)
            same("faults", console.faults(), [])
        print("changed and waiting orders, leverage, one order of two tabs, keys: passed")
        return 0
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.exit(main())
