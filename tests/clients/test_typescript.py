"""test_typescript.py BUILD - clients/ts: it compiles without a finding, a number as price does not,
and what it makes equals the vectors (typescript.mjs). Skipped where tools/setup --browser was not
called.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/browser"))
import packages  # noqa: E402  (the folder comes first)

packages.skip_without("typescript")
LOOKED = 10_234  # lines of typescript.mjs that compare something, as often as each runs


def check(good, *what):
    if not good:
        sys.exit(f"failed: {what}")


def compiled(folder):
    """What tsc says of a copy of the sources, which it compiles into folder/dist."""
    return subprocess.run([packages.FOLDER / "node_modules/.bin/tsc", "-p", folder],
                          capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name, "ts")
    shutil.copytree(SOURCE / "clients/ts", folder)
    said = compiled(folder)
    check(said == "", said)
    done = subprocess.run(["node", SOURCE / "tests/clients/typescript.mjs", folder / "dist",
                           SOURCE / "tests/vectors/perpd"], capture_output=True, text=True,
                          env={"PATH": "/usr/local/bin:/usr/bin:/bin", "NODE_NO_WARNINGS": "1"})
    check(done.returncode == 0 and done.stdout == f"{LOOKED}\n", done.stdout, done.stderr)
    (folder / "src/planted.ts").write_text(
        'import { Amount } from "./amount.js";\nexport const planted = Amount.of(1.5);\n')
    check("planted.ts(2,34): error TS2345" in compiled(folder), "a number as a price")
