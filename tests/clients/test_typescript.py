"""test_typescript.py BUILD - clients/ts: it compiles without a finding, a number as price does not,
and what it makes equals the vectors (typescript.mjs). Skipped where tools/setup --browser was not
called.
"""
import subprocess
import sys

from typescript_library import ENVIRONMENT, SOURCE, library, said_by_tsc

LOOKED = 17_059  # lines of typescript.mjs that compare something, as often as each runs
EXAMPLE_LINES_MAX = 40


def check(good, *what):
    if not good:
        sys.exit(f"failed: {what}")


with library() as folder:
    done = subprocess.run(["node", SOURCE / "tests/clients/typescript.mjs", folder / "dist",
                           SOURCE / "tests/vectors/perpd"], capture_output=True, text=True,
                          env=ENVIRONMENT)
    check(done.returncode == 0 and done.stdout == f"{LOOKED}\n", done.stdout, done.stderr)
    for example in (folder / "examples").glob("*.ts"):
        lines = len(example.read_text().splitlines())
        check(lines <= EXAMPLE_LINES_MAX, example, lines)
    planted = folder / "src/planted.ts"
    for line, said in (
            ('import { Amount } from "./amount.js";\nexport const x = Amount.of(1.5);\n',
             "planted.ts(2,28): error TS2345"),
            ('import type { Client, Market } from "./index.js";\nexport const x = '
             '(ex: Client, market: Market) => ex.place(market, "buy", 0.01, "99000");\n',
             "planted.ts(2,74): error TS2345")):
        planted.write_text(line)
        check(said in said_by_tsc(folder), "a number as an amount", said_by_tsc(folder))
