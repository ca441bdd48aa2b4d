#!/usr/bin/env python3
"""heavy_cluster_upgrade.py BUILD - the binaries of a cluster are changed under load
(docs/operations.md). To another one of the same rules_version: node by node, and nobody is stopped
who leads. To the next rules_version (perpd_next): what does not belong together is refused with
exit code 3 and a sentence, the chain is closed by the old binary and goes on with the new one, and
what was written under the old one replays to the hash that it had.

Without etcd-server it says so and ends with 77, skipped.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import client
import test_cluster
from cluster import Cluster, until
from harness import perpd_program

REFUSED = 3
OLD_JOURNAL = "was written under rules_version"
NEW_LOG = "the log goes on under another rules_version"
TESTS = perpd_program().parent / "tests"


def is_current(cluster, node):
    rows = cluster.shown().get("nodes", ())
    return (node.name, "current") in [(row["node"], row["state"]) for row in rows]


def hand_over(world, old):
    """The lead goes to another node; the longest time without an acknowledgement."""
    cluster, begun = world.cluster, time.monotonic()

    def handed():
        if cluster.leader() is not old:
            return True
        old.post("/admin/handover")
        return None

    until(handed, lambda: "handover: " + cluster.tails())
    world.await_acks()
    return world.gap(begun)


def same_rules(world):
    """Standbys first, then a handover and the last one: each with another binary."""
    cluster, problems = world.cluster, []
    leader = cluster.leader()
    for node in [*(node for node in cluster.nodes if node is not leader), leader]:
        if node is leader and cluster.leader() is leader:
            world.stalls["handover"].append(hand_over(world, leader))
        if (code := node.stop()) != 0:
            problems.append(f"{node.name}: exit {code} at a stop: {node.log()[-600:]}")
        node.program = TESTS / "perpd_bare"
        node.rejoin()
        until(lambda: is_current(cluster, node),
              lambda: f"{node.name} current: " + node.log()[-1500:])
    world.await_acks()
    return problems


def refused(node, program, sentence, what):
    """The node started with this binary ends with 3 and the sentence."""
    node.program = program
    node.start()
    node.may_end = True
    code = node.process.wait(120)
    if code != REFUSED or sentence not in node.log()[-3000:]:
        return [f"{what}: exit {code}: {node.log()[-1000:]}"]
    return []


def hash_of(folder, sequence):
    """The effects hash of the old binary at this sequence."""
    done = subprocess.run([perpd_program().with_name("perp"), "replay", "--to", str(sequence),
                           "--hash", "--from-snapshot", "0", "-o", "json", "--data", folder],
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def next_rules(world):
    """All stop, the leader last; its directory goes on under the next rules_version."""
    cluster, problems, home = world.cluster, [], world.cluster.home
    old, new = perpd_program(), TESTS / "perpd_next"
    closed = cluster.leader()  # its chain is closed, but another one of the old binary leads on
    closed.stop()
    world.await_acks()
    problems += refused(closed, new, NEW_LOG, "a new binary that follows")
    closed.program = old
    closed.rejoin()
    leader = cluster.leader()
    standbys = [node for node in cluster.nodes if node is not leader]
    for node in standbys:
        node.stop()
    problems += refused(standbys[0], new, OLD_JOURNAL, "a new binary on a standby's journal")
    world.await_acks()  # the leader goes on
    begun = time.monotonic()
    if (code := leader.stop()) != 0:
        problems.append(f"the leader: exit {code} at a stop: {leader.log()[-1000:]}")
    frames = test_cluster.chain_of(leader.folder)
    sequence = [frame.records[-1].sequence for frame in frames if frame.records][-1]
    before = hash_of(leader.folder, sequence)
    left = home / "left"  # a node that is forgotten
    standbys[0].folder.rename(left)
    for node in standbys:
        shutil.rmtree(node.folder, ignore_errors=True)
        shutil.copytree(leader.folder, node.folder)
    for node in [leader, *standbys]:
        node.program = new
        node.start()
    world.await_acks()
    world.stalls["another rules_version"].append(time.monotonic() - begun)
    cluster.revive()
    shutil.rmtree(standbys[0].folder)
    standbys[0].kill()
    left.rename(standbys[0].folder)
    problems += refused(standbys[0], old, NEW_LOG, "an old binary that follows")
    shutil.rmtree(standbys[0].folder)
    standbys[1].stop()
    shutil.copytree(standbys[1].folder, standbys[0].folder)
    for node in standbys:
        node.program = new
        node.rejoin()
    after = hash_of(leader.folder, sequence)
    if not isinstance(before, dict) or before != after:
        problems.append(f"replay to {sequence}: {before} before, {after} after")
    world.await_acks()
    return problems


def main():
    if shutil.which("etcd") is None:
        print("cluster upgrade: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    cluster = Cluster(perpd_program(), test_cluster.prepare, "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0", "--limits.open_orders=100000",
                      "--limits.account_open_orders=1000000")
    try:
        world = test_cluster.World(cluster)
        world.begin()
        problems = (same_rules(world) + next_rules(world) + test_cluster.end_load(world) +
                    test_cluster.nothing_is_lost(world))
        client.forget_memory(cluster.home)
    finally:
        cluster.remove()
    print("\n".join(problems) if problems else "cluster upgrade: passed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
