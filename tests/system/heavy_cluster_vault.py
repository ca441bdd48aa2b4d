#!/usr/bin/env python3
"""heavy_cluster_vault.py BUILD - a standby whose next frames are in the vault alone, which hangs
(planted/vault.c; replication.md, Vault): it keeps its session, says after 10 s in its log, its
metrics and its status what it waits for, stops in bounded time, and goes on when the vault does,
with the log as soon as that has the next frame.

Without etcd-server it says so and ends with 77, skipped.
"""
import pathlib
import re
import shutil
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import test_cluster
from cluster import Cluster, until
from cluster_load import end_load, nothing_is_lost
from harness import perpd_program

LATE = "a read of it has not returned for"
HANGS = "a call of the vault has not returned 5 s after the stop"
GONE = r"frame (\d+) is in the log no more"
BACK = "the read of it has returned"


def only_in_vault(world):
    """A standby that was stopped, and whose next frame and last one have left the log."""
    cluster = world.cluster
    away = next(node for node in cluster.nodes if node is not cluster.leader())
    away.kill()
    last = test_cluster.chain_of(away.folder)[-1].number
    for _ in range(2):
        cluster.seal()
        begun = world.acks()
        until(lambda: world.acks() > begun + 400, "400 orders, more than 64 KiB")
    until(lambda: cluster.leader().metric("cluster_log_lowest_frame") > last + 1,
          f"frame {last + 1} deleted")
    return away


def begin(node, hangs, load):
    """Starts it so that this load of the vault hangs, and the later ones for longer."""
    hangs.touch()
    node.program = perpd_program().parent / "tests" / "perpd_vaulted"
    node.environment = {"VAULT_HANGS": f"{load}:{hangs}"}
    node.start()


def until_late(node):
    """Until it has said that a read of the vault does not return."""
    lines = node.log().count(LATE)
    until(lambda: node.log().count(LATE) > lines, lambda: "alarm: " + node.log()[-1500:])


def stops(node, what):
    """A stop does not wait for the vault: it says so, and ends as it would have."""
    lines = node.log().count(HANGS)
    begun = time.monotonic()
    code = node.stop()
    print(f"cluster vault: {what} stopped with {code} after {time.monotonic() - begun:.1f} s")
    if code == 0 and node.log().count(HANGS) == lines + 1:
        return []
    return [f"a stop of {what}: exit {code}, {node.log()[-1500:]}"]


def shows(node, leader):
    """What a node that waits for the vault shows of it, and who leads of the node."""
    def waits():
        page = node.exchange().admin("/admin/cluster").json
        return any(re.match(r"this node has waited \d+ s for segment \d+ of the vault", text)
                   for text in page["problems"])

    def is_behind():
        rows = leader().exchange().admin("/admin/cluster").json["nodes"]
        return {row["node"]: row["state"] for row in rows}[node.name] == "behind"

    until(waits, "problem on the page of the cluster")
    until(is_behind, "session, as the leader sees it")
    if node.metric("cluster_vault_late_ns") < 10**10:
        return ["cluster_vault_late_ns is below 10 s"]
    return []


def drill(world, hangs):
    cluster, later = world.cluster, hangs.with_suffix(".later")
    later.touch()
    world.begin()
    node = only_in_vault(world)
    begin(node, hangs, 1)  # the start asks which frame both have
    until_late(node)
    problems = stops(node, "a start that waits for the vault")
    begin(node, hangs, 2)
    until(lambda: node.state == "standby", lambda: "standby: " + node.log()[-1500:])
    until_late(node)
    problems += shows(node, cluster.leader)
    problems += stops(node, "a standby that waits for the vault")
    begin(node, hangs, 2)
    until_late(node)
    gone = len(re.findall(GONE, node.log()))
    hangs.unlink()
    until(lambda: BACK in node.log(), lambda: "answer of the vault: " + node.log()[-1500:])
    # If the log has the frames of the next segment it goes on, though the vault hangs again.
    received = until(lambda: cluster.leader().metric("cluster_received_frame"), "received frame")
    until(lambda: len(re.findall(GONE, node.log())) > gone or
          node.metric("cluster_received_frame") > received,
          lambda: "frames of the log: " + node.log()[-1500:])
    later.unlink()
    if len(again := re.findall(GONE, node.log())) > gone:  # on a slow machine the log may lack it
        if (lowest := cluster.etcd.frames(cluster.name)[1]) <= int(again[-1]):
            problems.append(f"frame {again[-1]} was awaited of the vault, the log has {lowest}")
    until(lambda: node.metric("cluster_received_frame") > received,
          lambda: "frames of the log: " + node.log()[-1500:])
    until(lambda: node.metric("cluster_vault_late_ns") == 0, "no read that is late")
    return problems


def main():
    if shutil.which("etcd") is None:
        print("cluster vault: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    cluster = Cluster(perpd_program(), test_cluster.prepare, "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0", "--limits.open_orders=100000",
                      "--limits.account_open_orders=1000000")
    try:
        world = test_cluster.World(cluster)
        problems = drill(world, cluster.home / "hangs") + end_load(world) + nothing_is_lost(world)
    finally:
        cluster.remove()
    print("\n".join(problems) if problems else "cluster vault: passed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
