"""test_console_parts.py BUILD - the parts of the console that need no page, in node: exact amounts,
64-bit integers, checksums, ladders, queues, percentiles, typed data, and the types of all of it;
the byte table of every request that the page makes is that of perp decode. Skipped without the
packages of web/package-lock.json.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import packages

WEB = packages.SOURCE / "web"
VECTORS = packages.SOURCE / "tests/vectors/perpd/eip712.json"
PARTS = ("account", "api", "arming", "book", "crc32c", "decimal", "decoder", "depth_chart",
         "json", "latency", "line_chart", "market", "bytes", "command", "metrics", "older",
         "payload", "queue", "secp_master", "stages", "stream", "ticket", "typed_data", "wire.gen",
         "withdraw")


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
    print(f"{checks} checks, {len(json.loads(requests))} requests as perp decode reads them")
