#!/usr/bin/env python3
"""heavy_cluster_damage.py BUILD - a byte of a frame that counts has changed on a standby's disk
(replication.md, A start): it is fetched again from the log, and once it has left that, from the
vault. A frame that is in neither: exit code 3 with a sentence.

Without etcd-server it says so and ends with 77, skipped.
"""
import base64
import pathlib
import shutil
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import test_cluster
from cluster import Cluster, until
from harness import perpd_program

REFUSED, BACK = 3, 12  # frames from the end: durable long since
LACKING = "begin this node again with a copy of another node's directory"


def damage(node, back=BACK):
    """Changes a byte of a record; the number of the frame."""
    frame = test_cluster.chain_of(node.folder)[-back]
    path = sorted((node.folder / "journal").glob("*.seg"))
    for place in path:
        data = bytearray(place.read_bytes())
        at = data.find(frame.data[:64])
        if at >= 0:
            data[at + 140] ^= 1
            place.write_bytes(data)
            return frame.number
    raise AssertionError(f"frame {frame.number} is nowhere")


def forget(cluster, frame):
    """Neither etcd nor the vault has frames up to this one any more."""
    key, end = (base64.b64encode(f"perp/{cluster.name}/log/{number:016x}".encode()).decode()
                for number in (0, frame + 1))
    cluster.etcd.insist("/v3/kv/deleterange", {"key": key, "range_end": end})
    for path in (cluster.vault / cluster.name / "segment").glob("*"):
        path.unlink()


def drill(world):
    cluster, problems = world.cluster, []
    world.begin()
    node = next(node for node in cluster.nodes if node is not cluster.leader())
    until(lambda: world.acks() > 400, "load")
    node.kill()
    damaged = damage(node)
    node.rejoin()
    world.await_acks()
    if not any(frame.number > damaged for frame in test_cluster.chain_of(node.folder)):
        problems.append(f"{node.name} has no frame behind {damaged}, which was damaged")
    test_cluster.end_load(world)
    lost = test_cluster.nothing_is_lost(world)  # ends all nodes
    damaged = damage(node)
    forget(cluster, damaged)
    node.start()
    node.may_end = True
    code = node.process.wait(120)
    if code != REFUSED or LACKING not in node.log()[-3000:]:
        problems.append(f"frame {damaged} is nowhere: exit {code}: {node.log()[-900:]}")
    return problems + lost


def main():
    if shutil.which("etcd") is None:
        print("cluster damage: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    cluster = Cluster(perpd_program(), test_cluster.prepare, "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0", "--limits.open_orders=100000",
                      "--limits.account_open_orders=1000000")
    try:
        problems = drill(test_cluster.World(cluster))
    finally:
        cluster.remove()
    print("\n".join(problems) if problems else "cluster damage: passed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
