"""test_alone.py BUILD - a perpd without cluster.name reaches nothing of nghttp2 (replication.md):
with a library in front whose every function aborts, it starts, takes orders, answers and ends. One
with cluster.name aborts in it, so the library is in front.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import client
from client import Account, Perpd
from harness import perpd_program
from world import BTC, BTC_PRICE, USDC

SKIPPED = 77


def names(program, *options):
    out = subprocess.run(["nm", *options, program], capture_output=True, text=True).stdout
    return [line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()]


def make_trap(program, folder):
    """A library that has each function of nghttp2 that the program names."""
    wanted = [name for name in names(program, "-D", "--undefined-only")
              if name.startswith("nghttp2_")]
    assert len(wanted) > 10, wanted
    source, library = folder / "trap.c", folder / "trap.so"
    source.write_text("void abort(void);\n" +
                      "".join(f"void {name}(void) {{ abort(); }}\n" for name in wanted))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def case_alone(program):
    perpd = Perpd(program, *client.SMALL_TABLES, *client.LONG_WINDOW,
                  "--exchange.oracle_max_age_ms=0")
    try:
        exchange = perpd.start()
        exchange.set_price(BTC_PRICE, BTC)
        account = Account(exchange, 1_000_000 * USDC)
        answer = account.limit(BTC_PRICE * 9 // 10, 20)
        assert answer["status"] == "request_completed", answer
        assert exchange.get("/api/v1/markets").status == 200
        assert perpd.stop() == 0, perpd.log()
    finally:
        perpd.remove()


def case_cluster(program, folder):
    with socket.create_server(("127.0.0.1", 0)) as etcd:
        (folder / "vault").mkdir()
        perpd = Perpd(program, *client.SMALL_TABLES, "--cluster.name=x", "--cluster.node=n0",
                      f"--cluster.etcd=127.0.0.1:{etcd.getsockname()[1]}",
                      f"--cluster.vault=file:{folder}/vault")
        try:
            with open(os.devnull, "w") as log:
                process = subprocess.Popen(perpd.arguments(), stdout=log, stderr=log)
            try:
                assert process.wait(client.PATIENCE_S) == -signal.SIGABRT, process.returncode
            finally:
                process.kill()
        finally:
            perpd.remove()


def main():
    program = perpd_program()
    if any(name.startswith(("__asan_", "__tsan_")) for name in names(program)):
        print("alone: skipped: a sanitizer lets no other library come first")
        return SKIPPED
    folder = pathlib.Path(tempfile.mkdtemp(prefix="perpd-alone-"))
    os.environ["LD_PRELOAD"] = str(make_trap(program, folder))
    try:
        case_alone(program)
        case_cluster(program, folder)
    finally:
        del os.environ["LD_PRELOAD"]
        shutil.rmtree(folder, ignore_errors=True)
    print("alone: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
