"""Every scenario passes on the engine alone. Every status that src/base/status.h calls the engine's
is met by a scenario, under a code that it belongs to; and no scenario meets one of the others. The
engine answers by the name of every row (R11, src/base/rule.h) with a status that a scenario meets.
Net answers by the name of every step, and tests/system/produced.txt has a case that receives it;
the statuses that net alone produces are those of steps.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
TABLE = FOLDER.parents[1] / "src" / "base" / "status.h"


# The engine of a scenario has no grant of ids, an option of the process: met by this program.
OF_THE_PROCESS = {
    "duplicates_share": ("tests/engine/test_engine.c", "test_engine_engine",
                         "== STATUS_rejected_rate_limited && host.is_peeked);")}


def table():
    """{name: who produces it}."""
    rows = re.findall(r"X\((\w+),\s*\d+,\s*(\w+)\)", TABLE.read_text())
    assert len(rows) >= 56, len(rows)
    return dict(rows)


def rules(kind):
    """[(number, name, status)] of R11's ROW or STEP list."""
    text = (TABLE.parent / "rule.h").read_text()
    listed = text.split(f"#define {kind}_LIST(X)")[1].split("\n\n")[0]
    rows = re.findall(r'X\("(\w+)",\s*(\w+),\s*(\w+),', listed)
    assert len(rows) >= {"ROW": 43, "STEP": 6}[kind], (kind, len(rows))
    return rows


def unused(kind, layer, root=TABLE.parents[2]):
    """The rows or steps by whose name no code of the layer refuses."""
    code = "".join(path.read_text() for path in (root / "src" / layer).rglob("*.c"))
    return [name for _, name, _ in rules(kind) if f"{kind}_STATUS({name})" not in code]


def met(build):
    """The statuses that the scenarios met, and whether all of them passed."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = subprocess.run([sys.executable, str(FOLDER / "run.py"), build, "--statuses",
                               file.name], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout[-4000:], done.stderr[-4000:])
        rows = json.loads(pathlib.Path(file.name).read_text())
        return {status for _, status, _ in rows}, done.returncode == 0


def main():
    rows, (seen, passed) = table(), met(sys.argv[1])
    unmet = sorted(name for name, by in rows.items() if by == "ENGINE" and name not in seen)
    others = sorted(name for name, by in rows.items() if by != "ENGINE" and name in seen)
    broken = [f"row {name}: the engine never answers by it" for name in unused("ROW", "engine")]
    broken += [f"step {name}: net never answers by it" for name in unused("STEP", "net")]
    broken += [f"row {number} {name}: no scenario meets {status}"
               for number, name, status in rules("ROW")
               if status not in seen and name not in OF_THE_PROCESS]
    broken += [f"row {name}: {path} does not meet it" for name, (path, program, check)
               in OF_THE_PROCESS.items() if check not in (TABLE.parents[2] / path).read_text() or
               subprocess.run([f"{sys.argv[1]}/tests/{program}"], check=False).returncode != 0]
    of_steps = {status for _, _, status in rules("STEP")}
    broken += [f"{name}: neither the engine nor a step of net answers it"
               for name, by in rows.items() if by != "ENGINE" and name not in of_steps]
    for line in broken:
        print(f"FAILED {line}")
    for name in unmet:
        print(f"FAILED {name}: no scenario meets it")
    for name in others:
        print(f"FAILED {name}: {rows[name]} produces it, says the table, and a scenario met it")
    failed = len(unmet) + len(others) + len(broken)
    if not passed:
        print("FAILED a scenario")
    print(f"{len(rows) - len(unmet) - len(others)} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
