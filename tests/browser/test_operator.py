"""test_operator.py BUILD - the operator's page of the admin listener in Chromium: each alarm
appears, is said once and ends; the commands that it composes run with perp as copied, and sign the
bytes that it shows; it holds no key and signs nothing. Needs tools/setup --browser.
"""
import base64
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import time
import uuid

import chromium
from console_page import AXE, FILL, Console, check, same

from client import (PATHS, PATIENCE_S, SMALL_TABLES, Account, Perpd, new_id, portfolio_bytes)

BTC_PRICE = 1_000_000
WITHDRAW = 10
# While window.lie is set, what the page reads has other texts in it; or there is no answer.
LIAR = """{ const real = window.fetch;
  window.lie = null;
  window.fetch = async (...all) => {
    if (window.lie === 'silence') throw new TypeError('planted');
    const answer = await real(...all);
    if (window.lie === null) return answer;
    let text = await answer.text();
    for (const [before, after] of window.lie) text = text.replace(before, after);
    return new Response(text, { status: answer.status });
  }; }"""
OWN = {"invariant": "invariant", "segments": "segments", "segment_error": "prepared",
       "snapshot": "snapshot", "snapshot_put_off": "memory", "follower_lag": "follower",
       "clock": "clock", "clock_gap": "halted", "archive": "archived",
       "fund_deficit": "below zero", "short": "profits wait", "poison": "aborted",
       "history": "past", "restart": "restart", "scrub": "damaged"}
PLANTED = (  # what is read otherwise, and by name the alarms of it with a word of each
    ([[f'perpd_alarm{{name="{name}"}} 0', f'perpd_alarm{{name="{name}"}} 1'] for name in OWN], OWN),
    ([['perpd_alarm{name="clock"} 0', 'perpd_alarm{name="other"} 1'],
      ['perpd_table_alarm{table="orders"} 0', 'perpd_table_alarm{table="orders"} 1'],
      ["perpd_net_second_differences_total 0", "perpd_net_second_differences_total 1"],
      ["perpd_log_dropped_total 0",
       "perpd_log_dropped_total 0\nperpd_tls_certificate_expires_seconds 863999"],
      ['"reasons":[]', '"reasons":["accepting"]']],
     {"other": "other", "table orders": "70 % full", "verifiers": "differ", "certificate": "9 days",
      "reason accepting": "no requests"}),
    ("silence", {"silent": "has not answered since"}),
)


def names(console):
    return console.page.run("[...document.querySelectorAll('[data-alarm]')]"
                            ".map((one) => one.dataset.alarm)")


def comes_to(read, wanted):
    """Reads follow what was executed."""
    end = time.monotonic() + PATIENCE_S
    while (got := read()) != wanted:
        check(time.monotonic() < end, f"expected {wanted}, got {got}")
        time.sleep(0.05)


def alarms(console, exchange):
    """Each alarm that is planted appears with its words and is said once; then it is over. The
    page has words for each that /metrics has."""
    own = set(re.findall(r'^perpd_alarm{name="(\w+)"} ', exchange.admin("/metrics").body.decode(),
                         re.M))
    same("alarms", own, set(OWN))
    console.until("document.querySelector('[data-alarm]') === null")
    console.page.run("""window.news = []; { const place = document.getElementById('alarm-news');
      new MutationObserver(() => window.news.push(place.textContent)).observe(place,
        { childList: true, characterData: true, subtree: true }); }""")
    for lie, wanted in PLANTED:
        console.page.run(f"window.news.length = 0; window.lie = {json.dumps(lie)}; 0")
        comes_to(lambda: set(wanted) - set(names(console)), set())  # a slow machine has its own
        said, texts = " ".join(console.page.run("window.news")), {}
        for name, word in wanted.items():
            texts[name] = console.page.run(
                f"document.querySelector('[data-alarm=\"{name}\"] strong').textContent")[2:]
            check(word in texts[name], name, texts[name])
            same(f"{name} is said", said.count(f"Alarm: {texts[name]}"), 1)
        console.pictures(f"operator-alarms-{len(wanted)}")
        console.page.run("window.lie = null")
        console.until("document.querySelector('[data-alarm]') === null")
        said = " ".join(console.page.run("window.news"))
        for name, text in texts.items():
            same(f"{name} is over", said.count(f"Over: {text}"), 1)
    same("said how", console.page.run(
        "document.getElementById('alarm-news').getAttribute('aria-live')"), "assertive")


def stale_oracle(console, exchange):
    """An alarm of the exchange itself: an index price that grows old, and a newer one."""
    exchange.set_price(BTC_PRICE, 1)
    console.until("document.querySelector('[data-alarm=\"oracle_stale BTC-PERP\"]') !== null")
    end, step = time.monotonic() + PATIENCE_S, 0
    while "oracle_stale BTC-PERP" in names(console):
        check(time.monotonic() < end, "it does not end")
        step += 1
        exchange.set_price(BTC_PRICE + step, 1)
        time.sleep(0.3)


def fill(console, **fields):
    for name, text in fields.items():
        console.page.run(f"{{ {FILL} fill('action-{name}', {json.dumps(text)}); }}")


def choose(console, **fields):
    for name, text in fields.items():
        console.page.run(f"""{{ const field = document.getElementById('action-{name}');
          field.value = {json.dumps(text)};
          field.dispatchEvent(new Event('change', {{ bubbles: true }})); }}""")


def tick(console, name, wanted):
    console.page.run(f"""{{ const field = document.getElementById('action-{name}');
      if (field.checked !== {str(wanted).lower()}) field.click(); }}""")


def runs(console, build, *words):
    """The command as it stands, with perp of this build: first what it would sign is what the page
    shows, but for the id; then it is done. Returns the answer."""
    console.until("document.getElementById('command') !== null")
    line = console.page.run("document.getElementById('command').textContent")
    for word in words:
        check(word in line, word, line)
    shown = console.page.run("""[...document.querySelectorAll('.card-actions .bytes tbody tr')]
      .map((row) => row.cells[3].textContent).join('')""")
    path = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}"}

    def perp(more):
        done = subprocess.run(["bash", "-c", line + more], env=path, text=True,
                              capture_output=True, timeout=PATIENCE_S)
        check(done.returncode == 0, line + more, done.stdout, done.stderr)
        return json.loads(done.stdout)

    payload = base64.b64decode(perp(" --dry-run -o json")["payload"]).hex()
    same(line, shown[:16] + shown[48:], payload[:16] + payload[48:])
    return perp(" -o json")


def actions(console, exchange, perpd, build):
    """Each action, as copied: the exchange does it."""
    key = pathlib.Path(perpd.folder, "the operator's.key")
    seed = base64.b64encode(exchange.operator._secret[:32]).decode()
    key.write_text(f"curve = ed25519\npublic = "
                   f"{base64.b64encode(exchange.operator.public).decode()}\nsecret = {seed}\n")
    key.chmod(0o600)
    account = Account(exchange, 10 ** 9)
    body = portfolio_bytes(account.id) + struct.pack("<Q", 3_000_000) + b"\xd0" * 20 + bytes(4)
    PATHS[WITHDRAW] = "/api/v1/cash/withdraw"
    ids = [exchange.ack(WITHDRAW, body, account.session)["withdrawal_id"] for _ in range(2)]
    fill(console, keyFile=str(key), url=f"http://127.0.0.1:{exchange.port}")
    states = exchange.get("/api/v1/markets/BTC-PERP").json
    same("before", states["state"], "ACTIVE")
    for name, state, market in (("market_state", "POST_ONLY", "BTC-PERP"),
                                ("halt_all", "HALTED", None), ("halt_all", "ACTIVE", None)):
        choose(console, name=name)
        choose(console, state=state, **({"market": market} if market else {}))
        runs(console, build, state)
        comes_to(lambda: exchange.get("/api/v1/markets/BTC-PERP").json["state"], state)
        console.until(f"document.querySelector('.card-markets tbody tr').textContent"
                      f".includes('{state}')")
    for outcome, withdrawal in zip(("settle", "revert"), ids):
        choose(console, name="withdrawal_settle")
        fill(console, withdrawal=withdrawal)
        choose(console, outcome=outcome)
        runs(console, build, outcome, withdrawal)
    comes_to(lambda: {row["withdrawal_id"]: row["status"] for row in exchange.admin(
        "/admin/withdrawals").json["withdrawals"]}, {ids[0]: "settled", ids[1]: "reverted"})
    order_id = new_id()
    done = account.limit(BTC_PRICE - 1000, 1000, order_id)
    same("an order", done["status"], "request_completed")
    choose(console, name="operator_cancel")
    for whose, market, order in ((f"{account.id}/0/0", "BTC-PERP", str(uuid.UUID(bytes=order_id))),
                                 (f"{account.id}/0", "BTC-PERP", ""), (str(account.id), "", "")):
        choose(console, market=market)
        fill(console, whose=whose, order=order)
        runs(console, build, whose)
        comes_to(lambda: exchange.get("/api/v1/markets/BTC-PERP/book").json["bids"], [])
        account.limit(BTC_PRICE - 1000, 1000)
    for is_suspended in (True, False):
        choose(console, name="suspend_account")
        fill(console, account=str(account.id))
        tick(console, "suspend", is_suspended)
        runs(console, build, "suspend" if is_suspended else "resume")
        placed = account.limit(BTC_PRICE - 1000, 1000)["status"]
        same("an order", placed != "request_completed", is_suspended)
    fill(console, account="18446744073709551616")
    console.until("/Give the number/.test(document.querySelector('.card-actions').textContent)")


def money(console, exchange):
    """A wrong token is refused in the exchange's words; the right one opens audit and withdrawals,
    and is nowhere but in memory."""
    token = exchange.bearer[1].split()[-1]
    for text, found in (("0" * 64, "[role=alert]"), (token, ".checks")):
        console.page.run(f"{{ {FILL} fill('token', '{text}'); }}")
        console.press("open")
        console.until(f"document.querySelector('.card-money {found}') !== null")
    same("all hold", console.page.run(
        "[...document.querySelectorAll('.checks li')].map((one) => one.textContent[0]).join('')"),
         "✓" * 12)
    console.until("document.querySelectorAll('.card-money tbody tr').length === 2")
    same("kept", console.page.run("""(async () => [localStorage.length, sessionStorage.length,
      document.cookie, (await indexedDB.databases()).length, location.href])()"""),
         [0, 0, "", 0, console.url])
    check(token not in console.page.run("document.documentElement.outerHTML"), "the token is shown")


def shapes(console):
    for theme in ("light", "dark"):
        for width, height in ((1440, 900), (768, 1024), (360, 740), (320, 640)):
            console.size(width, height, theme)
            console.picture(f"operator-{width}-{theme}")
            wide = console.page.run("""[document.documentElement, document.querySelector('.watch'),
              ...document.querySelectorAll('.pane')].filter((one) =>
              one.scrollWidth > one.clientWidth + 1).map((one) => one.className)""")
            same(f"scrolls sideways at {width}", wide, [])
            small = console.page.run("""[...document.querySelectorAll('button, select, input')]
              .map((one) => [one.id || one.textContent,
                (one.closest('label') ?? one).getBoundingClientRect()])
              .filter(([, box]) => box.width < 24 || box.height < 24).map(([text]) => text)""")
            same(f"small at {width}", small, [])
    if AXE.exists():
        for width in (1280, 360):
            for theme in ("light", "dark"):
                console.size(width, 800, theme)
                console.accessible(f"the operator's page {width} {theme}")


def signs_nothing(console, exchange):
    """No file that the page loads has code that signs; there is no console of traders here, and
    no operator's page there."""
    loaded = {event["params"]["request"]["url"].split("/", 3)[3] for event in console.browser.events
              if event.get("method") == "Network.requestWillBeSent"
              and "/console/" in event["params"]["request"]["url"]}
    texts = {path: exchange.admin("/" + path).body for path in loaded}
    check(len(texts) >= 4 and any("operator" in path for path in texts), texts.keys())
    for path, text in texts.items():
        check(b"subtle.sign" not in text and b"generateKey" not in text, path)
    check(b"operator" in exchange.admin("/").body, "another page")
    check(b"perpd operator" not in exchange.get("/", api_key=None).body, "on the public listener")


def main():
    if chromium.program() is None:
        print("skipped: chromium is not installed (tools/setup --browser installs it)")
        return 77
    build = pathlib.Path(sys.argv[1]).resolve()
    perpd = Perpd(build / "perpd", "--exchange.testnet=on", "--exchange.oracle_max_age_ms=3000",
                  *SMALL_TABLES)
    try:
        exchange = perpd.start()
        with chromium.Chromium(5 * PATIENCE_S) as browser:
            console = Console(browser, f"http://localhost:{exchange.admin_port}/")
            console.page.call("Page.addScriptToEvaluateOnNewDocument", source=LIAR)
            console.size(1440, 900, "dark")
            console.page.call("Page.navigate", url=console.url)
            console.until("document.querySelector('#state.tone-good') !== null")
            alarms(console, exchange)
            stale_oracle(console, exchange)
            console.page.call("Page.navigate", url="about:blank")
            perpd.stop()
            perpd.options[1] = "--exchange.oracle_max_age_ms=0"
            exchange = perpd.start()
            exchange.set_price(BTC_PRICE, 1)
            console.url = f"http://localhost:{exchange.admin_port}/"
            console.page.call("Page.navigate", url=console.url)
            console.until("document.querySelector('#token') !== null")
            console.page.run(AXE.read_text() + ";0" if AXE.exists() else "0")
            actions(console, exchange, perpd, build)
            money(console, exchange)
            shapes(console)
            signs_nothing(console, exchange)
            # What is meant: the first start was at another port, and a wrong token is refused.
            faults = [one for one in console.faults() if "(Unauthorized)" not in str(one) and
                      not str(one).startswith("asks for http://localhost:")]
            same("faults", faults, [])
        print("the operator's page: passed")
        return 0
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.exit(main())
