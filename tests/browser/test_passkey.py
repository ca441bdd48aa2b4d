"""test_passkey.py BUILD - Debian's Chromium with its virtual authenticator creates a passkey
account and signs an accepted order through a session that the passkey made, on a testnet whose
relying party is localhost. Skipped where tools/setup --browser was not called.
"""
import http.server
import pathlib
import sys
import threading

import chromium

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system"))
from client import SMALL_TABLES, Perpd  # noqa: E402  (the folder comes first)


class Files(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        script = self.path == "/page.js"
        body = (HERE / "page.js").read_bytes() if script else (
            b"<!doctype html><title>perpd</title><script src=page.js></script>")
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if script else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def served():
    """A server of the page; its origin."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://localhost:{server.server_port}"


def same(row, got, want):
    if got != want:
        raise AssertionError(f"{row}: expected {want!r}, got {got!r}")


def trade(page, url):
    """From nothing to an order in the book; what each step answered."""
    place = url + "/api/v1/trading/order/place/limit"
    return page.run(f"""(async () => {{
      const steps = {{}};
      globalThis.passkey = await Passkey.create();
      const first = await Session.create();
      const at = "{url}/api/v1";
      steps.account = await passkey.send(at + "/account/create", 12, accountBody(first));
      globalThis.account = steps.account.account_id;
      globalThis.session = await Session.create();
      steps.session = await passkey.send(at + "/auth/sessions/create", 13,
        sessionBody(account, session), {{ withKey: false }});
      steps.key = await session.send(at + "/api-keys", 34, apiKeyBody(account));
      globalThis.apiKey = steps.key.api_key;
      const headers = {{ "X-API-KEY": apiKey, "Content-Type": "application/json" }};
      steps.faucet = await (await fetch(at + "/faucet", {{ method: "POST", headers,
        body: '{{"subaccount_index":0,"portfolio_index":0,"amount":"10000"}}' }})).json();
      const id = newId();
      steps.order = await session.send("{place}", 0, orderBody(account, 990000, 100), id);
      steps.shown = await (await fetch(at + "/orders/" + idText(id), {{ headers }})).json();
      return steps;
    }})()""")


def further_keys(page, url):
    """Codes 19, 20, 30, 31: a second passkey with all rights and one with a scope, made, used and
    removed; what each step answered."""
    return page.run(f"""(async () => {{
      const at = "{url}/api/v1/auth", said = [];
      const open = async (key, body) => (await key.send(at + "/sessions/create", 13,
        body(account, await Session.create()), {{ withKey: false }}));
      const second = await Passkey.create("discouraged");
      const scoped = await Passkey.create("discouraged");
      const step = async (key, path, code, body) => said.push((await key.send(at + path, code,
        body)).message);
      await step(passkey, "/admin-keys/add", 19, addPasskeyBody(account, second));
      said.push((await open(second, sessionBody)).message);
      await step(second, "/scoped-keys/add", 30, addScopedPasskeyBody(account, scoped));
      said.push((await open(scoped, scopedSessionBody)).message);
      said.push((await open(scoped, sessionBody)).message);
      await step(scoped, "/admin-keys/add", 19, addPasskeyBody(account, passkey));
      await step(second, "/admin-keys/remove", 20, removeKeyBody(account, second));
      await step(second, "/scoped-keys/remove", 31, removeKeyBody(account, scoped));
      await step(passkey, "/admin-keys/remove", 20, removeKeyBody(account, second));
      for (const key of [second, scoped]) said.push((await open(key, sessionBody)).code);
      const headers = {{ "X-API-KEY": globalThis.apiKey }};
      const rows = (await (await fetch(at + "/master-keys", {{ headers }})).json()).master_keys;
      said.push(rows.map((row) => row.curve + " " + row.kind).join());
      return said;
    }})()""")


FURTHER = ["master_key_added", "session_created", "master_key_added", "session_created",
           "session_rejected", "master_key_rejected_unauthorized",
           "master_key_rejected_self_removal", "master_key_removed", "master_key_removed",
           "invalid_signature", "invalid_signature", "PASSKEY ADMIN"]


def refusals(page, url):
    """What a page does wrong, by the problem that it gets."""
    return page.run(f"""(async () => {{
      const at = "{url}/api/v1/auth/sessions/create", codes = {{}};
      const wanted = sessionBody(account, await Session.create());
      const tried = async (name, options) => {{
        codes[name] = (await passkey.send(at, 13, wanted, options)).code; }};
      await tried("passkey_challenge", {{ change: (payload) => payload }});
      await tried("passkey_user_verification", {{ verify: "discouraged" }});
      const other = await Passkey.create();
      const mine = passkey.id;
      passkey.id = other.id;
      await tried("invalid_signature", {{ withKey: false }});
      passkey.id = mine;
      const key = passkey.public;
      passkey.public = other.public;
      await tried("passkey_public_key_mismatch", {{}});
      passkey.public = key;
      return codes;
    }})()""")


def both_forms_of_s(page, url):
    """Half of a browser's signatures have an s above half the order; each is accepted."""
    return page.run(f"""(async () => {{
      const seen = {{ true: 0, false: 0 }};
      for (let turn = 0; turn < 64 && !(seen.true && seen.false); turn++) {{
        const answer = await passkey.send("{url}/api/v1/auth/sessions/revoke-all", 15,
          integer(account, 8));
        if (!answer.success) return answer;
        seen[passkey.highS]++;
      }}
      return seen.true > 0 && seen.false > 0;
    }})()""")


def main():
    if chromium.program() is None:
        print("skipped: chromium is not installed (tools/setup --browser installs it)")
        return 77
    (pages, origin), (others, foreign) = served(), served()
    perpd = Perpd(pathlib.Path(sys.argv[1]) / "perpd", "--exchange.testnet=on",
                  "--exchange.oracle_max_age_ms=0", "--exchange.passkey_rp_id=localhost",
                  f"--exchange.passkey_origins={origin}",
                  f"--net.cors_origins={origin},{foreign}", *SMALL_TABLES)
    try:
        exchange = perpd.start()
        exchange.set_price(1_000_000)
        url = f"http://localhost:{exchange.port}"
        with chromium.Chromium() as browser:
            page = chromium.Page(browser, origin)
            steps = trade(page, url)
            same("account", steps["account"].get("message"), "account_created_with_session")
            same("session", steps["session"].get("message"), "session_created")
            same("api key", steps["key"].get("success"), True)
            same("faucet", steps["faucet"].get("cash_balance"), "10000")
            same("order", steps["order"].get("status"), "request_completed")
            same("X-Sequence is shown to the page", int(steps["order"]["sequence"]) > 0, True)
            shown = steps["shown"]
            same("in the book", (shown.get("order_status"), shown.get("price"),
                                 shown.get("initial_size"), shown.get("account_id")),
                 ("OPEN", "99000", "0.001", steps["account"]["account_id"]))
            same("further passkeys", further_keys(page, url), FURTHER)
            codes = refusals(page, url)
            same("refusals", codes, {name: name for name in codes})
            same("four of them", len(codes), 4)
            same("both forms of s", both_forms_of_s(page, url), True)
            # A page of another origin has the same relying party, and no say.
            stranger = chromium.Page(browser, foreign)
            answer = stranger.run(f"""(async () => (await Passkey.create()).send(
              "{url}/api/v1/account/create", 12, accountBody(await Session.create())))()""")
            same("another origin", (answer["http"], answer.get("code")), (401, "passkey_origin"))
        same("exit", perpd.stop(), 0)
        print("passkey in Chromium: account, session, order, further passkeys; 5 refusals")
        return 0
    finally:
        perpd.remove()
        pages.shutdown()
        others.shutdown()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
