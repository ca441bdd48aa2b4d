#!/usr/bin/env python3
"""heavy_cluster_full.py BUILD - a foreign writer uses up etcd's quota under load (replication.md,
Quota): nothing that was acknowledged is lost, no node ends for it, and the steward of the leader
makes room without an operator.

Without etcd-server it says so and ends with 77, skipped.
"""
import base64
import pathlib
import shutil
import sys
import time
import urllib.error

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import test_cluster
from cluster import Cluster, until
from harness import perpd_program

QUOTA = 64 << 20
KEY = base64.b64encode(b"foreign").decode()


def fill(etcd):
    """Writes one key again and again until etcd refuses it."""
    body = {"key": KEY, "value": base64.b64encode(bytes(250_000)).decode()}
    for _ in range(2 * QUOTA // 250_000):
        try:
            etcd.ask(etcd.leader(), "/v3/kv/put", body)
        except urllib.error.HTTPError as refusal:
            if "space exceeded" in refusal.read().decode():
                return
        except (OSError, ValueError, TypeError):
            pass  # no leader for a moment
    raise AssertionError("etcd has taken twice its quota")


def filled(world):
    cluster, problems = world.cluster, []
    starts = [node.starts for node in cluster.nodes]
    fill(cluster.etcd)
    refused, before = time.monotonic(), world.acks()
    until(lambda: any("takes puts again" in node.log() for node in cluster.nodes),
          "reclaim: " + cluster.tails())
    cluster.etcd.insist("/v3/kv/put", {"key": KEY, "value": KEY})
    world.await_acks()
    cluster.revive()
    print(f"cluster full: {time.monotonic() - refused:.1f} s from the refusal to the next "
          f"acknowledgement of all, {world.acks() - before} acknowledged since")
    for node, count in zip(cluster.nodes, starts):
        if node.starts != count + node.lost_sessions:
            problems.append(f"{node.name} ended: {node.log()[-1000:]}")
    return problems


def main():
    if shutil.which("etcd") is None:
        print("cluster full: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    # cluster.etcd_quota is not etcd's: the bounds below it do not act before it is full.
    cluster = Cluster(perpd_program(), test_cluster.prepare, "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0", "--limits.open_orders=100000",
                      "--limits.account_open_orders=1000000", etcd_quota=QUOTA,
                      node_options=["--cluster.etcd_quota=8G"])
    try:
        world = test_cluster.World(cluster)
        world.begin()
        problems = (filled(world) + test_cluster.end_load(world) +
                    test_cluster.nothing_is_lost(world))
    finally:
        cluster.remove()
    print("\n".join(problems) if problems else "cluster full: passed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
