#!/usr/bin/env python3
"""test_vault_hangs.py BUILD - a leader whose vault never returns from a call (planted/vault.c)
stops in bounded time all the same, says what it leaves undone, and its next start has nothing to
apply.

Without etcd-server it says so and ends with 77, skipped.
"""
import pathlib
import shutil
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import test_cluster
from cluster import WAIT_S, Cluster, until
from harness import perpd_program

HANGS = "a call of the vault has not returned 5 s after the stop"


def main():
    if shutil.which("etcd") is None:
        print("vault hangs: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    cluster = Cluster(perpd_program().parent / "tests" / "perpd_vaulted", test_cluster.prepare,
                      count=1)
    try:
        leader = cluster.leader()
        time.sleep(1)  # its vault is asked for the first segment
        leader.may_end = True
        leader.process.terminate()
        code = leader.process.wait(WAIT_S)
        assert code == 0, f"exit code {code}: {leader.log()[-2000:]}"
        assert HANGS in leader.log(), leader.log()[-2000:]
        leader.state = None
        leader.start()
        until(lambda: leader.state == "ready", "ready: " + leader.log()[-2000:])
        start = leader.log().rsplit("recovered", 1)[1]
        assert "records=0 frames=0 cut_bytes=0" in start, start
    finally:
        cluster.remove()
    print("vault hangs: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
