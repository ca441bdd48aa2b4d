"""test_first_order.py BUILD - docs/first-order.md run as it stands: the set-up and each program, of
at most 60 lines, against a fresh perpd; the orders rest in the book.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from fake import check
from ports import free_port

BUILD = pathlib.Path(sys.argv[1]).resolve()
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/first-order.md"
BLOCKS = dict(re.findall(r"^```\w+ (\w+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S))
PROGRAMS = {"curl": ("bash", "order.sh"), "python": (sys.executable, "order.py"),
            "node": ("node", "order.mjs")}
check(set(BLOCKS) == {"setup", *PROGRAMS}, set(BLOCKS))
for name, block in BLOCKS.items():
    check(len(block.splitlines()) <= 60, f"{name} has more than 60 lines")


# perpd's tables are made small, and its ports free ones: nothing else of the page is changed.
small = ("engine.accounts=256 engine.portfolios=256 engine.orders=4096 engine.positions=1024 "
         "engine.credentials=1024 engine.deposits=256 engine.ladder_pages=4096 "
         "limits.duplicate_slots=65536 limits.total_rate=1000 limits.write_rate=100 "
         "limits.funding_small=0 "
         "limits.funding_full=0").split()
url = f"http://127.0.0.1:{free_port()}"
folder = pathlib.Path(tempfile.mkdtemp(prefix="perpd-first-"))
environment = {**os.environ, "HOME": str(folder), "PATH": f"{BUILD}:{os.environ['PATH']}",
               "PERPD_NET_LISTEN": url[7:], "PERPD_ADMIN_LISTEN": "127.0.0.1:0",
               "PERP_URL": url,
               **{"PERPD_" + option.split("=")[0].upper().replace(".", "_"): option.split("=")[1]
                  for option in small}}
setup = BLOCKS["setup"].replace("http://127.0.0.1:8080", url)
setup = setup.replace("--save\n", "--save -o json\n", 1)
shell = subprocess.Popen(["bash", "-euc", setup + "echo ready; wait"], cwd=folder, env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         start_new_session=True)
try:
    lines = []
    for line in shell.stdout:
        lines.append(line)
        if line == "ready\n":
            break
    check(lines and lines[-1] == "ready\n", "".join(lines))
    account = next(json.loads(line)["account_id"] for line in lines if '"account_id"' in line)
    placed = 0
    for name, (program, file) in PROGRAMS.items():
        if shutil.which(program) is None:
            print(f"{name}: skipped, {program} is not installed")
            continue
        (folder / file).write_text(BLOCKS[name])
        done = subprocess.run([program, file, url, str(account), "my.session"], cwd=folder,
                              env=environment, capture_output=True, text=True)
        check(done.returncode == 0 and '"status":"request_completed"' in done.stdout, name,
              done.stdout + done.stderr)
        placed += 1
        orders = json.loads(subprocess.run(["perp", "orders", "--open", "-o", "json"], cwd=folder,
                                           env=environment, capture_output=True, text=True,
                                           check=True).stdout)
        orders = orders if isinstance(orders, list) else orders["orders"]
        check(len(orders) == placed, name, orders)
        check({(order["price"], order["initial_size"], order["side"], order["time_in_force"])
               for order in orders} == {("99000", "0.001", "LONG", "GTC")}, name, orders)
    check(placed >= 2, placed)
finally:
    os.killpg(shell.pid, signal.SIGTERM)
    shell.communicate(timeout=200)
    shutil.rmtree(folder)
