#!/usr/bin/env python3
"""heavy_cluster_upgrade.py BUILD - the binaries of a cluster are changed under load
(docs/operations.md). To another one of the same rules_version: node by node, and nobody is stopped
who leads. To the next rules_version (perpd_next): a node of it waits, the leader closes the chain
when it is told to, the one that waited leads from its snapshot, and a node of the old binary ends
with exit code 3 and a sentence. What was written under the old one replays to the hash that it had.
Before that a leader is killed in the middle of it: nobody leads while the key `upgrade` keeps the
lead for the one that waits, then one of the old binary does, and that one waits on. And the vault
of a leader hangs in the middle of it: its stop ends after the 60 s of that key.

Without etcd-server it says so and ends with 77, skipped.
"""
import base64
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import client
import test_cluster
from cluster import Cluster, until
from harness import perpd_program
from test_notify import Manager

REFUSED = 3
WAITS = "waiting: frames are kept and not applied"
LEADS_FROM = "this node begins again with it"
NEW_LOG = "the log goes on under another rules_version"
GIVEN_UP = "it was given up: a call of the vault has not returned"
TESTS = perpd_program().parent / "tests"


def is_shown(cluster, node, state):
    rows = cluster.shown().get("nodes", ())
    return (node.name, state) in [(row["node"], row["state"]) for row in rows]


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
        until(lambda: is_shown(cluster, node, "current"),
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


def upgrade(leader, node, is_taken):
    """perp cluster upgrade NODE, asked of the leader; what is wrong with its answer."""
    done = subprocess.run(
        [perpd_program().with_name("perp"), "cluster", "upgrade", node.name, "-o", "json",
         "--data", leader.folder, "--admin-url",
         f"http://127.0.0.1:{leader.exchange().admin_port}"],
        capture_output=True, text=True, check=False)
    is_good = (done.returncode == 0 and json.loads(done.stdout)["node"] == node.name) \
        if is_taken else (done.returncode != 0 and "is waiting" in done.stderr)
    return [] if is_good else [f"upgrade: {done}, is to be taken: {is_taken}"]


def wait_with(cluster, node, program):
    """The node, started with the next binary, waits: it has all frames and applies none, and its
    service manager learns that it is ready and lives."""
    manager = Manager(pathlib.Path(tempfile.mkdtemp(dir=cluster.home)))
    node.stop()
    node.program, node.environment = program, manager.environment
    node.start()
    node.environment = {}
    until(lambda: is_shown(cluster, node, "waiting"),
          lambda: f"{node.name} waiting: " + node.log()[-1500:])
    problems = [] if WAITS in node.log() else [f"{node.name} does not say that it waits"]
    if not manager.listen(60, "READY=1") or not manager.listen(60, "WATCHDOG=1"):
        problems.append(f"{node.name} waits, and its manager was told: {manager.messages}")
    manager.socket.close()
    return problems


def lease_of_upgrade(cluster):
    """The lease of the key `upgrade`; None: there is no such key."""
    key = base64.b64encode(f"perp/{cluster.name}/upgrade".encode()).decode()
    rows = cluster.etcd.insist("/v3/kv/range", {"key": key}).get("kvs", [])
    return rows[0]["lease"] if rows else None


def lead(cluster, node):
    until(lambda: cluster.leader() is node or
          cluster.leader().post(f"/admin/handover?node={node.name}") is None,
          lambda: "handover: " + cluster.tails())


def hung_leader(world, leader, first, hangs):
    """The vault hangs when a leader has put `upgrade`: it gives the upgrade up, and stops."""
    hangs.touch()
    leader.may_end = True
    begun = time.monotonic()
    problems = upgrade(leader, first, True)
    code = leader.process.wait(150)
    print(f"cluster upgrade: a leader whose vault hangs stopped with {code} after "
          f"{time.monotonic() - begun:.1f} s")
    if code != 1 or GIVEN_UP not in leader.log()[-3000:]:
        problems.append(f"a leader whose vault hangs: exit {code}: {leader.log()[-1500:]}")
    hangs.unlink()
    world.await_acks()
    leader.rejoin()
    return problems


def killed_leader(world, first, new):
    """A leader is killed when it has put `upgrade` and not yet `upgraded`."""
    cluster, hangs = world.cluster, world.cluster.home / "upload"
    leader = next(node for node in cluster.nodes if node is not first and
                  node is not cluster.leader())
    leader.stop()
    leader.program = TESTS / "perpd_vaulted"
    leader.environment = {"VAULT_HANGS": "0:/nowhere", "VAULT_UPLOAD_HANGS": str(hangs)}
    leader.rejoin()
    lead(cluster, leader)
    problems = upgrade(leader, first, False) + wait_with(cluster, first, new)
    world.await_acks()  # the old ones go on
    problems += hung_leader(world, leader, first, hangs)
    lead(cluster, leader)
    until(lambda: is_shown(cluster, first, "waiting"),
          lambda: f"{first.name} waiting: " + first.log()[-1500:])
    hangs.touch()
    leader.may_end = True
    problems += upgrade(leader, first, True)
    lease = until(lambda: lease_of_upgrade(cluster),
                  lambda: "key upgrade: " + leader.log()[-1500:])
    leader.kill()
    hangs.unlink()
    next_one = cluster.leader()
    if next_one is first or WAITS not in first.log():
        problems.append(f"{first.name} leads without a snapshot: {first.log()[-1500:]}")
    left = cluster.etcd.insist("/v3/lease/timetolive", {"ID": lease}).get("TTL", "0")
    if int(left) > 0:
        problems.append(f"{next_one.name} leads while `upgrade` has {left} s")
    world.await_acks()
    leader.program, leader.environment = perpd_program(), {}
    leader.rejoin()
    return problems


def next_rules(world):
    """One node waits, the leader is told to upgrade, the third follows as an old one and ends."""
    cluster, problems = world.cluster, []
    old, new = perpd_program(), TESTS / "perpd_next"
    first = next(node for node in cluster.nodes if node is not cluster.leader())
    problems += killed_leader(world, first, new)
    leader = cluster.leader()
    second = next(node for node in cluster.nodes if node not in (leader, first))
    until(lambda: is_shown(cluster, first, "waiting"),
          lambda: f"{first.name} waiting: " + first.log()[-1500:])
    first.kill()
    problems += wait_with(cluster, first, new)
    leader.may_end = second.may_end = True
    begun = time.monotonic()
    problems += upgrade(leader, first, True)
    if (code := leader.process.wait(120)) != 0:
        problems.append(f"the old leader: exit {code}: {leader.log()[-1500:]}")
    world.await_acks()
    world.stalls["another rules_version"].append(world.gap(begun))
    if first not in cluster.leaders() or LEADS_FROM not in first.log():
        problems.append(f"{first.name} does not lead: {first.log()[-1500:]}")
    if (code := second.process.wait(120)) != REFUSED or NEW_LOG not in second.log()[-3000:]:
        problems.append(f"an old standby: exit {code}: {second.log()[-1500:]}")
    frames = test_cluster.chain_of(leader.folder)
    sequence = [frame.records[-1].sequence for frame in frames if frame.records][-1]
    before = hash_of(leader.folder, sequence)
    problems += refused(second, old, NEW_LOG, "an old binary that follows")
    for node in (leader, second):  # the snapshot of its stop; that of the vault
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
