"""test_console_wallet.py BUILD - accounts of the console whose master key is a wallet (ethers,
behind EIP-1193 and EIP-6963) or a key file: made, signed in to, withdrawn from; what is wrong with
a wallet, or with what the exchange says of the bytes, stops before anything is sent. Skipped where
tools/setup --browser was not called.
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import chromium
import packages
from console_page import FILL, WEB, Console, check, same

from client import PATIENCE_S, SMALL_TABLES, Perpd, Secp256k1Key, payload_of
from ports import free_port

TO = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
CREATE_PORTFOLIO = 24
# What was sent to the exchange to be executed, and what the page may be told wrongly.
WITNESS = """window.posts = [];
{ const real = window.fetch;
  window.fetch = async (...all) => {
    const [path, init] = all;
    if (init?.method === 'POST' && !path.endsWith('/preview')) window.posts.push(path);
    const answer = await real(...all);
    const lie = sessionStorage.getItem('lie');
    if (lie === null || !path.includes(lie)) return answer;
    const body = JSON.parse((await answer.text()).replace('whole account', 'subaccount 0')
      .replace('"testnet":true', '"testnet":false'));
    return new Response(JSON.stringify(body), { status: answer.status, headers: answer.headers });
  }; }"""


def wallet_script():
    """The wallet as one script for the page."""
    return subprocess.run(
        [WEB / "node_modules/.bin/esbuild", "--bundle", "--format=iife", "--log-level=warning",
         pathlib.Path(__file__).with_name("wallet_page.js")], check=True, text=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "NODE_PATH": str(packages.FOLDER / "node_modules")}).stdout


def keep(console, name, value):
    console.page.run(f"sessionStorage.setItem('{name}', '{value}')" if value is not None else
                     f"sessionStorage.removeItem('{name}')")


def says(console, selector, text):
    console.until(f"document.querySelector('{selector}')?.textContent.includes({text!r}) === true")


def is_stopped(console, button, text):
    """What is pressed ends with these words and sends nothing."""
    before = console.page.run("window.posts.length")
    console.press(button)
    says(console, "dialog .outcome, .withdraw .outcome", text)
    same(f"sent after {text}", console.page.run("window.posts.length"), before)


def faults(console):
    """A wallet that refuses, or that signs with another key; an exchange that reads the bytes
    otherwise: words, and nothing is sent."""
    console.press("Open account")
    console.picture("wallet-choices")
    create = "Create by Test <b>wallet</b>"
    check(console.page.run("document.querySelector('dialog b') === null"), "a name became HTML")
    keep(console, "walletFault", "refuse")
    is_stopped(console, create, "it was refused there; nothing was sent")
    keep(console, "walletFault", "other")
    is_stopped(console, create, "the wallet signed by 0x1563915e194d8cfba1943570603f7606a3115508")
    keep(console, "walletFault", None)
    keep(console, "lie", "/eip712/preview")
    console.page.run("window.walletCalls.length = 0")
    # The first request of signing in has no member that the lie alters; the second has.
    console.press(create)
    console.until("window.posts.filter((one) => one.endsWith('/account/create')).length === 1")
    says(console, "dialog .outcome", "the exchange reads these bytes otherwise")
    same("asked of the wallet", console.page.run(
        "window.walletCalls.filter((one) => one === 'eth_signTypedData_v4').length"), 1)
    keep(console, "lie", None)


def account(console):
    """The account is there now: signing in finds it, by EIP-6963 and by window.ethereum."""
    console.press("Sign in by Test <b>wallet</b>")
    console.until("/^Account/.test(document.querySelector('.chip.account').textContent)")
    says(console, "dialog .details", "a wallet 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a")
    number = console.page.run("document.querySelector('.chip.account').textContent")
    console.press("Forget this device")
    console.until("document.querySelector('.chip.account').textContent === 'Open account'")
    keep(console, "walletFault", "old")
    console.open()
    console.press("Open account")
    console.press("Sign in by the browser’s wallet")
    console.until(f"document.querySelector('.chip.account').textContent === '{number}'")
    keep(console, "walletFault", None)
    console.press("Get 10000 test USDC")
    console.until("document.querySelector('.equity')?.textContent === '10,000.00 USDC'")
    console.press("close")


def fill(console, amount, to):
    console.page.run(f"{{ {FILL} fill('withdraw-amount', '{amount}'); "
                     f"fill('withdraw-destination', '{to}') }}")


def withdraw(console, exchange):
    """The wallet withdraws what was typed, to where it was typed; another wallet does not."""
    console.open()
    console.until("document.querySelector('.equity') !== null")
    console.tab("Balance")
    fill(console, "0.5", TO)
    says(console, ".withdraw .fault", "the least is 1 USDC")
    fill(console, "250.000001", TO[:-1] + "D")
    console.press("Review")
    says(console, ".withdraw .outcome", "typing mistake")
    fill(console, "250.000001", TO)
    console.press("Review")
    says(console, ".withdraw .typed", "250.000001 USDC")
    keep(console, "walletFault", "unknown")
    is_stopped(console, "Sign and withdraw 250.000001 USDC", "the account belongs to 0x19e7")
    says(console, ".withdraw .outcome", "the wallet offers 0x1563")
    keep(console, "walletFault", None)
    console.press("Review")
    says(console, ".withdraw .typed", TO.lower())
    console.pictures("withdraw", "Orders", "document.querySelector('.withdraw').scrollIntoView()")
    shown = console.page.run("""Object.fromEntries([...document.querySelectorAll('.typed div')]
      .map((one) => [one.children[0].textContent, one.children[1].textContent]))""")
    console.press("Sign and withdraw 250.000001 USDC")
    says(console, ".withdraw .outcome.tone-good", "is on its way")
    same("the wallet saw", console.page.run("window.walletShown"), shown)
    row = exchange.admin("/admin/withdrawals").json["withdrawals"][0]
    same("withdrawal", [row["amount"], row["destination"]], ["250.000001", TO.lower()])
    console.until("document.querySelector('.equity').textContent === '9,749.999999 USDC'")


def transfer(console, exchange):
    """Money goes to another portfolio of the account, once there is one; the rows sum up."""
    def submit(words):
        console.page.run("document.querySelectorAll('form.withdraw')[1].requestSubmit()")
        says(console, "form.withdraw:last-of-type", words)

    number = int(console.page.run("document.querySelector('.chip.account').textContent")[8:])
    check(console.page.run("document.getElementById('transfer-amount') === null"), "to where?")
    key = Secp256k1Key(b"\x11" * 32)  # wallet_page.js
    payload = payload_of(CREATE_PORTFOLIO, struct.pack("<QII", number, 0, 0) +
                         b"Reserve".ljust(32, b"\0"), key)
    same("a portfolio", exchange.kept(exchange.wrap("/api/v1/portfolio/create", payload, key)).json
         .get("status"), "request_completed")
    console.open()
    console.tab("Balance")
    console.until("document.getElementById('transfer-destination')?.value === '0/1'")
    console.page.run(f"{{ {FILL} fill('transfer-amount', '1000.5') }}")
    submit("Transfer 1,000.500000 USDC to 0/1.")
    says(console, "form.withdraw:last-of-type .typed", "1000.5 USDC")
    console.pictures("transfer", "Orders",
                     "document.querySelectorAll('.withdraw')[1].scrollIntoView()")
    submit("The money has moved.")
    console.comes_to(".pane-account table:has(tfoot)", [
        ["Portfolio", "Name", "Cash USDC", "Equity"],
        ["0/0", "Main", "8749.499999", "8749.499999"],
        ["0/1", "Reserve", "1000.500000", "1000.500000"], ["all", "", "9749.999999", ""]])


def key_file(console, folder, perp):
    """On a test exchange alone the page makes a key, which must be saved before it is used, and
    is kept nowhere."""
    console.page.run("document.querySelector('.chip.account').click()")
    console.press("Forget this device")
    console.until("document.querySelector('.chip.account').textContent === 'Open account'")
    console.press("Make a key")
    console.until(
        "/2. Create an account with it/.test(document.querySelector('dialog').textContent)")
    check(console.page.run("""[...document.querySelectorAll('dialog button')].find((one) =>
      /^2. Create/.test(one.textContent)).disabled"""), "used before it was saved")
    console.press("1. Save the key file")
    console.press("2. Create an account with it")
    console.until("/^Account/.test(document.querySelector('.chip.account').textContent)")
    says(console, "dialog .details", "a key file, which you have")
    console.press("close")
    saved = folder / "perpd.master"
    end = time.monotonic() + PATIENCE_S
    while not saved.exists():
        check(time.monotonic() < end, "no file was saved")
        time.sleep(0.05)
    saved.chmod(0o600)
    shown = subprocess.run([perp, "keys", "show", saved], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    check("secp256k1" in shown.lower(), shown)
    secret = saved.read_text().split("secret = ")[1].split("\n")[0]
    kept = console.page.run("""(async () => {
      const [{ name }] = await indexedDB.databases();
      const open = indexedDB.open(name);
      await new Promise((done) => (open.onsuccess = done));
      const read = open.result.transaction('credentials').objectStore('credentials').get('own');
      await new Promise((done) => (read.onsuccess = done));
      open.result.close();
      return [read.result.master, Object.keys(read.result).sort(), localStorage.length]; })()""")
    same("kept", kept, [{"kind": "file"}, ["account", "apiKeyId", "master", "nonce", "sealed",
                                            "sessionExpires", "sessionKey", "sessionPublic",
                                            "wrapKey"], 0])
    check(secret not in console.page.run("document.documentElement.outerHTML"), "a secret is shown")
    console.tab("Balance")
    says(console, ".pane-account", "signed by its key file")
    console.page.run("document.querySelector('.chip.account').click()")
    console.press("Forget this device")
    says(console, "dialog", "revoke it by perp and your key file")
    keep(console, "lie", "/exchange")
    console.open()
    console.press("Open account")
    says(console, "dialog", "A wallet")
    check(not console.page.run("/Make a key/.test(document.querySelector('dialog').textContent)"),
          "offered with real money")


def main():
    if chromium.program() is None or packages.lacking("ethers") or packages.lacking_of_console():
        print("skipped: chromium, ethers or esbuild is not installed (tools/setup --browser "
              "installs it)")
        return 77
    port = free_port()
    build = pathlib.Path(sys.argv[1])
    perpd = Perpd(build / "perpd", "--exchange.testnet=on", f"--net.listen=127.0.0.1:{port}",
                  "--exchange.oracle_max_age_ms=0", *SMALL_TABLES)
    try:
        exchange = perpd.start()
        exchange.set_price(1_000_000, 1)
        with chromium.Chromium(5 * PATIENCE_S) as browser, tempfile.TemporaryDirectory() as folder:
            console = Console(browser, f"http://localhost:{port}/")
            browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
            for script in (WITNESS, wallet_script()):
                console.page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
            console.open()
            faults(console)
            account(console)
            withdraw(console, exchange)
            transfer(console, exchange)
            key_file(console, pathlib.Path(folder), build / "perp")
            same("faults", console.faults(), [])
        print("accounts of wallets and key files: passed")
        return 0
    finally:
        perpd.remove()


if __name__ == "__main__":
    sys.exit(main())
