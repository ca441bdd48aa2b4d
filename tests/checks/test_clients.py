"""test_clients.py BUILD - clients/schema/wire.json and every generated file of clients/ is what the
tables say; a field that is added to a table shows in each of them.
"""
import json
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools"))
import client_python  # noqa: E402  (the folder comes first)
import client_typescript  # noqa: E402


def check(good, *what):
    if not good:
        sys.exit(f"failed: {what}")


done = subprocess.run([SOURCE / "tools/clients", "check"], capture_output=True, text=True,
                      env={"PERPD_BUILD": str(BUILD), "PATH": "/usr/bin:/bin"})
check(done.returncode == 0, done.stdout + done.stderr)

TABLES = json.loads((SOURCE / "clients/schema/wire.json").read_text())
for language in (client_python, client_typescript):
    before = language.wire(TABLES)
    TABLES["requests"][3]["fields"].append({"name": "planted", "kind": "u64", "offset": 40,
                                            "size": 8})
    after = language.wire(TABLES)
    TABLES["requests"][3]["fields"].pop()
    check("planted" in after and "planted" not in before, "a field that was added")
    TABLES["statuses"].append("planted_status")
    check("planted_status" in language.wire(TABLES), "a status that was added")
    TABLES["statuses"].pop()
    check(language.wire(TABLES) == before, "the same tables")

ROWS = {row["code"]: row for row in TABLES["requests"]}
check(ROWS[0]["body_bytes"] == 48 and len(ROWS) > 50, "the tables are whole")
