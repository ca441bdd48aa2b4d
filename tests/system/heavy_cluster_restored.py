#!/usr/bin/env python3
"""heavy_cluster_restored.py BUILD - an etcd that is put back to an older state, and one that holds
another exchange's cluster of this name (replication.md, A start): every node refuses to start, with
exit code 3 and a sentence of its own, and cuts nothing of its journal.

Without etcd-server it says so and ends with 77, skipped.
"""
import pathlib
import shutil
import signal
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import test_cluster
from cluster import Cluster, until
from cluster_load import judged
from harness import perpd_program

REFUSED = 3
OLDER = "the log's term is"
OTHER = "the cluster drill in etcd is another exchange's"


def end_all(processes):
    for process in processes:
        process.kill()
        process.wait()


def swap(etcd, change):
    """All members end, `change` happens to their folders, and they start again."""
    end_all(etcd.processes)
    for number in range(len(etcd.processes)):
        change(etcd.folder / f"etcd{number}", etcd.folder / f"kept{number}")
    for number in range(len(etcd.processes)):
        etcd.start(number)
    until(lambda: etcd.leader() is not None, "leader of etcd")


def copy_aside(folder, kept):
    shutil.copytree(folder, kept)


def put_back(folder, kept):
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)


def refusals(cluster, sentence):
    """Every node ends with 3 and this sentence, and its journal is as it was."""
    problems = []
    before = {node.name: len(test_cluster.chain_of(node.folder)) for node in cluster.nodes}
    for node in cluster.nodes:
        node.start()
        node.may_end = True
        code = node.process.wait(120)
        if code != REFUSED or sentence not in node.log()[-3000:]:
            problems.append(f"{node.name}: exit {code}: {node.log()[-600:]}")
        if len(test_cluster.chain_of(node.folder)) != before[node.name]:
            problems.append(f"{node.name} has cut frames")
    return problems


def drill(world, other):
    cluster = world.cluster
    world.begin()
    swap(cluster.etcd, copy_aside)
    world.await_acks()
    leader = cluster.leader()  # of a later term than the copy's
    leader.kill()
    world.await_acks()
    leader.rejoin()
    world.await_acks()
    test_cluster.end_load(world)
    last = max(ack[2] or 0 for worker in world.workers for ack in worker.acked)
    for node in cluster.nodes:  # each has frames of the later term
        until(lambda: node.exchange().get("/api/v1/markets", headers=[
            ("X-Min-Sequence", str(last))]).status == 200, f"sequence {last} on {node.name}")
    for node in cluster.nodes:
        node.may_end = True
        node.process.send_signal(signal.SIGKILL)
        node.process.wait()
    problems = judged(world, test_cluster.chain_of(cluster.nodes[0].folder))
    swap(cluster.etcd, put_back)
    problems += refusals(cluster, OLDER)
    # The other cluster has the same name, in an etcd of its own.
    for first, (node, stranger) in enumerate(zip(cluster.nodes, other.nodes)):
        node.proxy.end()
        node.proxy = type(stranger.proxy)(other.etcd, first)
    other.leader()
    for node in other.nodes:
        node.kill()
    time.sleep(3)  # the sessions of the other nodes end
    return problems + refusals(cluster, OTHER)


def main():
    if shutil.which("etcd") is None:
        print("cluster restored: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    options = ("--limits.rate_limits=off", "--exchange.oracle_max_age_ms=0")
    cluster = Cluster(perpd_program(), test_cluster.prepare, *options)
    try:
        other = Cluster(perpd_program(), test_cluster.prepare, *options)
        try:
            problems = drill(test_cluster.World(cluster), other)
        finally:
            other.remove()
    finally:
        cluster.remove()
    print("\n".join(problems) if problems else "cluster restored: passed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
