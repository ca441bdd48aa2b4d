"""console_page.py - a page of the console in Chromium: what it did wrong, its panes as text, its
pictures. PERPD_SHOTS=FOLDER keeps those.
"""
import base64
import os
import pathlib
import sys
import time

import chromium

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "system"), str(HERE.parent)]  # client, ports: of whoever imports
WEB = HERE.parents[1] / "web"
AXE = WEB / "node_modules/axe-core/axe.min.js"
WAIT_S = float(os.environ.get("PERPD_WAIT_S", chromium.PATIENCE_S))
SIZES = ((1440, 900), (768, 1024), (360, 740))
SPY = """window.violations = [];
document.addEventListener('securitypolicyviolation', (event) =>
  window.violations.push(event.violatedDirective + ' ' + event.blockedURI));"""
FILL = """const fill = (id, text) => { const field = document.getElementById(id);
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text);
  field.dispatchEvent(new Event('input', { bubbles: true })); };"""


class Console:
    """The page, what it did wrong, and its panes as text."""

    def __init__(self, browser, url):
        self.browser = browser
        self.page = chromium.Page(browser, "about:blank")
        for domain in ("Runtime", "Log", "Network"):
            self.page.call(f"{domain}.enable")
        self.page.call("Page.addScriptToEvaluateOnNewDocument", source=SPY)
        self.url = url

    def size(self, width, height, theme):
        self.page.call("Emulation.setEmulatedMedia",
                       features=[{"name": "prefers-color-scheme", "value": theme}])
        self.page.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                       deviceScaleFactor=1, mobile=width < 500)

    def open(self, width=1440, height=900, theme="dark"):
        self.size(width, height, theme)
        self.page.call("Page.navigate", url=self.url)
        self.until("document.querySelector('.chip.tone-good') !== null")
        self.until("document.querySelector('.pane-trades tbody, .pane-trades .nothing:not("
                   "[aria-busy])') !== null")

    def until(self, condition):
        """Waits for what the page must come to."""
        end = time.monotonic() + WAIT_S
        while not self.page.run(condition):
            if time.monotonic() > end:
                shown = self.page.run("document.body.innerText")
                raise AssertionError(f"never: {condition}\n{shown}")
            time.sleep(0.05)

    def rows(self, table, columns):
        """The text of a table's first cells, numbers as the interface writes them."""
        return self.page.run(f"""[...document.querySelectorAll('{table} tr')].map((row) =>
          [...row.cells].slice(0, {columns}).map((cell) => cell.textContent
            .replace(/[▲▼,]|bought at|sold at|▸.*$/g, '').trim())).filter((row) => row[0])""")

    def comes_to(self, table, wanted):
        """Waits until a table's rows are these."""
        end = time.monotonic() + WAIT_S
        while (got := self.rows(table, len(wanted[0]))) != wanted:
            check(time.monotonic() < end, table, f"expected {wanted}, got {got}")
            time.sleep(0.05)

    def press(self, text):
        self.until(f"""[...document.querySelectorAll('button')].some((one) =>
          one.textContent === '{text}' && !one.disabled && one.offsetParent !== null)""")
        self.page.run(f"""[...document.querySelectorAll('button')].find((one) =>
          one.textContent === '{text}' && one.offsetParent !== null).click()""")

    def place(self):
        """Signs and sends what the ticket has, its bytes having been looked at."""
        self.page.run("""document.querySelector('.ticket details.signed').open = true;
          document.querySelector('.place').click()""")

    def tab(self, name):
        self.until(f"document.getElementById('tab-{name}') !== null")  # loaded after first paint
        self.page.run(f"document.getElementById('tab-{name}').click()")

    def picture(self, name):
        if folder := os.environ.get("PERPD_SHOTS"):
            self.page.run("new Promise((done) => setTimeout(done, 500))")  # what is drawn later
            data = self.page.call("Page.captureScreenshot", format="png")["data"]
            pathlib.Path(folder, f"{name}.png").write_bytes(base64.b64decode(data))

    def pictures(self, name, tab=None, look=""):
        """One at each width, light and dark; on a phone of the pane under `tab`. `look` is run
        before each. Ends as wide as it began, and dark."""
        for width, height in SIZES:
            for theme in ("light", "dark"):
                self.size(width, height, theme)
                if tab is not None:
                    self.until(f"""[...document.querySelectorAll('.tabs button')]
                      .some((one) => one.textContent === '{tab}')""")
                    self.page.run(f"""[...document.querySelectorAll('.tabs button')]
                      .find((one) => one.textContent === '{tab}').click()""")
                if look:
                    self.page.run(look)
                self.picture(f"{name}-{width}-{theme}")
        self.size(1440, 900, "dark")

    def accessible(self, where):
        """axe, which is in the page, finds nothing of WCAG 2.2 A and AA."""
        for left in range(9, -1, -1):  # what was stale while axe looked, on a slow machine, is dim
            self.until("document.querySelector('.is-stale') === null")
            found = self.page.run("""axe.run(document, { runOnly: ['wcag2a', 'wcag2aa',
              'wcag21a', 'wcag21aa', 'wcag22aa'] }).then((all) => all.violations.map((one) => [
              one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120) +
              (node.any[0]?.message ?? ""))]))""")
            if found == [] or left == 0:
                return same(where, found, [])

    def faults(self):
        """Errors, exceptions, violations, and requests that left this machine."""
        wrong = list(self.page.run("window.violations"))
        for event in self.browser.events:
            kind, what = event.get("method"), event.get("params", {})
            if kind == "Runtime.exceptionThrown":
                wrong.append(what["exceptionDetails"].get("exception", {}).get("description"))
            elif kind == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
                wrong.append(what["args"])
            elif kind == "Log.entryAdded" and what["entry"]["level"] == "error":
                wrong.append(what["entry"])
            elif kind == "Network.requestWillBeSent":
                url = what["request"]["url"]
                if not url.startswith((self.url, "about:", "data:")):
                    wrong.append(f"asks for {url}")
        return wrong


def check(good, *what):
    if not good:
        raise AssertionError(what)


def same(row, got, want):
    check(got == want, row, f"expected {want!r}, got {got!r}")
