#!/usr/bin/env python3
"""heavy_cluster_vault.py BUILD - a standby whose next frames are in the vault alone, which hangs
(planted/vault.c; replication.md, Vault): it keeps its session, says after 10 s in its log, its
metrics and its status what it waits for, stops in bounded time, and goes on when the vault does.

Without etcd-server it says so and ends with 77, skipped.
"""
import pathlib
import shutil
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import test_cluster
from cluster import Cluster, until
from cluster_load import end_load, nothing_is_lost
from harness import perpd_program

LATE = "a read of it has not returned for 1"
BACK = "the read of it has returned"


def only_in_vault(world):
    """A standby that was stopped, and whose next frame and last one have left the log."""
    cluster = world.cluster
    away = next(node for node in cluster.nodes if node is not cluster.leader())
    away.kill()
    last = test_cluster.chain_of(away.folder)[-1].number
    for _ in range(2):
        leader = cluster.leader()
        number = leader.metric("cluster_vault_segments")
        until(lambda: leader.seal().json.get("sealed"), "seal: " + leader.log()[-500:])
        until(lambda: leader.metric("cluster_vault_segments") > number, "segment in the vault")
        begun = world.acks()
        until(lambda: world.acks() > begun + 400, "400 orders, more than 64 KiB")
    until(lambda: leader.metric("cluster_log_lowest_frame") > last + 1, f"frame {last + 1} deleted")
    return away


def begin(node, hangs, load):
    """Starts it so that this load of the vault hangs, and the later ones."""
    hangs.touch()
    node.environment = {"VAULT_HANGS": f"{load}:{hangs}"}
    node.start()


def stops(node, what):
    begun = time.monotonic()
    code = node.stop()
    took = time.monotonic() - begun
    print(f"cluster vault: {what} stopped with {code} after {took:.1f} s")
    return code


def drill(world, hangs):
    cluster, problems = world.cluster, []
    world.begin()
    node = only_in_vault(world)
    lines = node.log().count(LATE)
    begin(node, hangs, 1)  # the start asks which frame both have
    until(lambda: node.log().count(LATE) > lines, "alarm of a start: " + node.log()[-1500:])
    stops(node, "a start that waits for the vault")
    begin(node, hangs, 2)
    until(lambda: node.state == "standby", "standby: " + node.log()[-1500:])
    lines = node.log().count(LATE)
    until(lambda: node.log().count(LATE) > lines, "alarm: " + node.log()[-1500:])
    page = node.exchange().admin("/admin/cluster").json
    if not any(text.startswith("this node has waited 1") for text in page["problems"]):
        problems.append(f"problems: {page['problems']}")
    if node.metric("cluster_vault_late_ns") < 10**10:
        problems.append("cluster_vault_late_ns is below 10 s")
    rows = {row["node"]: row["state"] for row in
            cluster.leader().exchange().admin("/admin/cluster").json["nodes"]}
    if rows.get(node.name) != "behind":
        problems.append(f"its session, as the leader sees it: {rows}")
    if (code := stops(node, "a standby that waits for the vault")) != 0:
        problems.append(f"exit {code} of a stop: {node.log()[-1500:]}")
    begin(node, hangs, 2)
    until(lambda: node.state == "standby", "standby: " + node.log()[-1500:])
    lines = node.log().count(LATE)
    until(lambda: node.log().count(LATE) > lines, "alarm: " + node.log()[-1500:])
    hangs.unlink()
    until(lambda: BACK in node.log(), "answer of the vault: " + node.log()[-1500:])
    until(lambda: node.metric("cluster_vault_late_ns") == 0, "no read that is late")
    received = cluster.leader().metric("cluster_received_frame")
    until(lambda: node.metric("cluster_received_frame") > received, "frames of the log")
    return problems


def main():
    if shutil.which("etcd") is None:
        print("cluster vault: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    cluster = Cluster(perpd_program(), test_cluster.prepare, "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0", "--limits.open_orders=100000",
                      "--limits.account_open_orders=1000000")
    try:
        for node in cluster.nodes:
            node.program = perpd_program().parent / "tests" / "perpd_vaulted"
        world = test_cluster.World(cluster)
        problems = drill(world, cluster.home / "hangs") + end_load(world) + nothing_is_lost(world)
    finally:
        cluster.remove()
    print("\n".join(problems) if problems else "cluster vault: passed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
