"""test_console_parts.py BUILD - the parts of the console that need no page, in node: exact amounts,
64-bit integers, checksums, ladders, and the types of all of it. Skipped without the packages of
web/package-lock.json.
"""
import pathlib
import subprocess
import sys
import tempfile

import packages

WEB = packages.SOURCE / "web"
PARTS = ("account", "book", "crc32c", "decimal", "json", "latency", "market", "bytes", "payload",
         "queue", "ticket")

if missing := packages.lacking_of_console():
    print(f"skipped: {', '.join(missing)} not installed (tools/setup --browser installs it)")
    sys.exit(77)
subprocess.run([WEB / "node_modules/.bin/tsc", "-p", WEB], check=True)
with tempfile.TemporaryDirectory() as folder:
    module = pathlib.Path(folder, "parts.mjs")
    exports = "".join(f"export * from './{part}';\n" for part in PARTS)
    subprocess.run([WEB / "node_modules/.bin/esbuild", "--bundle", "--format=esm",
                    "--target=es2022", "--log-level=warning", f"--outfile={module}"],
                   input=exports, text=True, check=True, cwd=WEB / "src")
    print(packages.run("console.mjs", module).strip(), "checks")
