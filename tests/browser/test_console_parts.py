"""test_console_parts.py BUILD - the parts of the console that need no page, in node: exact amounts,
64-bit integers, checksums, ladders, queues, percentiles, typed data, contrasts, all types;
the byte table of every request that the page makes is that of perp decode, and a running perpd
reads the amounts that were typed. Skipped without the
packages of web/package-lock.json.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import packages

sys.path += [str(packages.SOURCE / "tests/system"), str(packages.SOURCE / "tests")]
from client import (CREATE_SESSION, SMALL_TABLES, Account, Ed25519Key, Perpd, b64,
                    session_body)

WEB = packages.SOURCE / "web"
VECTORS = packages.SOURCE / "tests/vectors/perpd/eip712.json"
PARTS = ("account", "api", "arming", "book", "candles", "crc32c", "decimal", "decoder",
         "depth_chart", "json", "latency", "line_chart", "market", "bytes", "command", "metrics",
         "older", "payload", "queue", "secp_master", "stages", "stream", "submission", "ticket",
         "typed_data", "wire.gen", "withdraw")


def decodes(request):
    """perp decode names the same bytes by the same names, and its value has the page's in it."""
    got = json.loads(subprocess.run([sys.argv[1] + "/perp", "decode", "-o", "json",
                                     request["payload"]], check=True,
                                    stdout=subprocess.PIPE).stdout)["fields"]
    shown = {row["offset"]: row for row in request["rows"]}
    for field in got:
        row = shown.get(field["offset"])
        if field["name"].split(".")[0] != field["name"]:  # one row of the page for a portfolio
            assert any(row["name"] == field["name"].split(".")[0] and
                       row["offset"] <= field["offset"] < row["offset"] + row["size"] and
                       field["hex"] in row["hex"] for row in request["rows"]), (request, field)
            continue
        same = [row[name] == field[name] for name in ("name", "size", "hex")]
        assert all(same), (request["name"], field, row)
        value = row["value"].split(",")[0].lower().removeprefix("0x")
        assert field["kind"] == "pad" or value in field["value"].lower(), (field, row)
    assert sum(row["size"] for row in request["rows"]) == sum(one["size"] for one in got), request


# What canvases draw on a pane: (CSS names, with the part of it that is seen in 255ths), least
# contrast of WCAG 2.2 (1.4.3 text, 1.4.11 lines and bars). The grid says nothing of its own.
DRAWN = {("dim", 255): 4.5, ("buy", 255): 3, ("sell", 255): 3, ("accent", 255): 3,
         ("warn", 255): 3, ("buy", 0xc0): 3, ("sell", 0xc0): 3}


def luminance(colour):
    parts = [value / 255 for value in colour]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(share * one for share, one in zip((0.2126, 0.7152, 0.0722), linear))


def contrasts():
    """Each palette of app.css: light and dark, and of either the other pair of side colours."""
    text = (WEB / "src/app.css").read_text()
    found = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})[;} ]", block))
             for block in re.findall(r":root[^{]*\{([^}]*)\}", text)]
    grounds = [one for one in found if "pane" in one]
    sides = [one for one in found if "pane" not in one and "buy" in one]
    assert len(grounds) == 3 and grounds[1] == grounds[2], grounds  # light; dark by either way
    assert len(sides) == 3 and sides[1] == sides[2], sides
    drawn = re.findall(r"colour\(([^()]*)\)", "".join(
        (WEB / f"src/{name}.ts").read_text() for name in ("candle_chart", "line_chart")))
    assert not set(re.findall(r"'([\w-]+)'", "".join(drawn))) - {name for name, _ in DRAWN} - {
        "pane", "line"}, drawn
    for ground, side in ((grounds[0], sides[0]), (grounds[1], sides[1])):
        for palette in (ground, ground | side):
            rgb = {name: bytes.fromhex(value[1:]) for name, value in palette.items()}
            for (name, part), least in DRAWN.items():
                seen = [(part * of + (255 - part) * behind) / 255
                        for of, behind in zip(rgb[name], rgb["pane"])]
                light, dark = sorted(map(luminance, (seen, rgb["pane"])), reverse=True)
                ratio = (light + 0.05) / (dark + 0.05)
                assert ratio >= least, f"{name} at {part} of 255 on {palette['pane']}: {ratio:.2f}"


def money(module):
    """A perpd reads every digit that was typed, from the signed bytes and from orders that rest."""
    perpd = Perpd(pathlib.Path(sys.argv[1]) / "perpd", "--net.debug_payload=on",
                  "--limits.rate_limits=off", "--exchange.oracle_max_age_ms=0", *SMALL_TABLES)
    try:
        exchange = perpd.start()
        exchange.set_price(1_000_000)
        account = Account(exchange, 10 ** 15)
        seed = bytes(range(32))
        session = Ed25519Key(seed)
        exchange.ack(CREATE_SESSION, session_body(account.id, session.public), account.master)
        key = bytes.fromhex("302e020100300506032b657004220420") + seed  # RFC 8410
        return packages.run("money.mjs", module, exchange.port, account.id, b64(key),
                            b64(session.public), account.api_key).strip()
    finally:
        perpd.remove()


contrasts()
if missing := packages.lacking_of_console():
    print(f"skipped: {', '.join(missing)} not installed (tools/setup --browser installs it)")
    sys.exit(77)
subprocess.run([WEB / "node_modules/.bin/tsc", "-p", WEB], check=True)
with tempfile.TemporaryDirectory() as folder:
    module = pathlib.Path(folder, "parts.mjs")
    exports = "".join(f"export * from './{part}';\n" for part in PARTS)
    subprocess.run([WEB / "node_modules/.bin/esbuild", "--bundle", "--format=esm",
                    "--jsx=automatic", "--jsx-import-source=preact", "--target=es2022",
                    "--log-level=warning",
                    f"--outfile={module}"], input=exports, text=True, check=True, cwd=WEB / "src")
    requests, checks = packages.run("console.mjs", module, VECTORS).splitlines()
    for request in json.loads(requests):
        decodes(request)
    print(f"{checks} checks, {len(json.loads(requests))} requests as perp decode reads them, "
          f"{money(module)} checks of amounts that perpd has read")
