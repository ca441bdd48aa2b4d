"""Every status that src/base/status.h calls the engine's is met by a scenario, under a code that it
belongs to; and no scenario meets one of the others."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
TABLE = FOLDER.parents[1] / "src" / "base" / "status.h"


def table():
    """{name: who produces it}."""
    rows = re.findall(r"X\((\w+),\s*\d+,\s*(\w+)\)", TABLE.read_text())
    assert len(rows) >= 56, len(rows)
    return dict(rows)


def met(build):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = subprocess.run([sys.executable, str(FOLDER / "run.py"), build, "--statuses",
                               file.name], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout[-4000:], done.stderr[-4000:])
        return {status for _, status, _ in json.loads(pathlib.Path(file.name).read_text())}


def main():
    rows, seen = table(), met(sys.argv[1])
    unmet = sorted(name for name, by in rows.items() if by == "ENGINE" and name not in seen)
    others = sorted(name for name, by in rows.items() if by != "ENGINE" and name in seen)
    for name in unmet:
        print(f"FAILED {name}: no scenario meets it")
    for name in others:
        print(f"FAILED {name}: {rows[name]} produces it, says the table, and a scenario met it")
    print(f"{len(rows) - len(unmet) - len(others)} passed, {len(unmet) + len(others)} failed")
    return 1 if unmet or others else 0


if __name__ == "__main__":
    sys.exit(main())
