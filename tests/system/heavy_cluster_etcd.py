#!/usr/bin/env python3
"""heavy_cluster_etcd.py BUILD [LOSSES] [SECONDS] - what etcd and the vault may do to a cluster
under load (replication.md): both leaders die at once; a member is apart; LOSSES answers (200) are
lost on their way to the leader, one by one; all members are gone for SECONDS (60); the vault takes
nothing until etcd is nearly full; a second process has a node's name. Nothing that was
acknowledged is lost, nothing is executed twice, and at the end the directories of all nodes pass
`perp audit` and have the same state.

Without etcd-server it says so and ends with 77, skipped.
"""
import collections
import json
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

import client
from cluster import NOT_YET, Cluster, Node, Rule, until
from cluster_load import World, end_load, nothing_is_lost, prepare
from harness import Suite, perpd_program
from heavy_cluster_figures import key_file
from world import BTC_PRICE

suite = Suite("cluster etcd")
NUMBERS = [int(word) for word in sys.argv[2:] if word.isdigit()]
LOSSES, SECONDS = [*NUMBERS, *(200, 60)[len(NUMBERS):]]
MEMORY_KB = 16 << 10  # what a leader that waits may take beyond its first 10 s: answers, counters
REFUSED = 3
perp = perpd_program().resolve().with_name("perp")


def found_there(world):
    return sum(until(lambda node=node: [node.metric("cluster_found_there_total")],
                     lambda node=node: "metrics: " + node.whereabouts())[0]
               for node in world.cluster.nodes)


@suite.case
def both_leaders(world):
    """The node that leads and etcd's leader die at the same moment."""
    cluster = world.cluster

    def kill_both():
        return cluster.kill_leader(), cluster.etcd.kill_leader()

    def mend(killed):
        node, member = killed
        cluster.etcd.start(member)
        node.rejoin()

    world.begin()
    for _ in range(3):
        world.stall("both leaders", kill_both, mend)


@suite.case
def member_apart(world):
    """A member of etcd that does not lead stands still for 5 s: the node of its machine goes on
    with another one."""
    etcd = world.cluster.etcd

    def stop_member():
        member = next(i for i in range(3) if i != etcd.leader())
        etcd.processes[member].send_signal(signal.SIGSTOP)
        return member

    def let_go(member):
        time.sleep(5)
        etcd.processes[member].send_signal(signal.SIGCONT)

    world.stall("member apart", stop_member, let_go)


@suite.case
def lost_answers(world):
    """Each answer that is lost is found out by the same bytes again: some had landed."""
    before, turns = found_there(world), 0
    for _ in range(LOSSES):
        until(lambda: world.cluster.leader().proxy.tell("lose 1") is None, "a leader")
        count = world.acks()
        until(lambda count=count: world.acks() > count + 1,
              lambda: "acknowledgement: " + world.cluster.tails())
        turns += 1
    found = found_there(world) - before
    print(f"cluster etcd: {turns} answers lost, {found} frames found there")
    return [] if found > 0 else ["no frame was found there"]


def memory_kb(node):
    status = pathlib.Path(f"/proc/{node.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


@suite.case
def gone(world):
    """Without etcd nothing is acknowledged and everybody is told so; memory stays as it is."""
    cluster, problems = world.cluster, []
    exchange = client.Exchange(0, 0, None, None, "")
    exchange._salt = world.salt
    worker = world.workers[0]
    node = until(cluster.leaders, "a leader")[0]
    for member in range(3):
        cluster.etcd.kill(member)
    begun, first, took = time.monotonic(), None, collections.defaultdict(list)
    while time.monotonic() < begun + SECONDS:
        body = client.limit_body(worker.account.id, BTC_PRICE * 9 // 10, 20)
        data = exchange.signed(client.PLACE_LIMIT, body, worker.account.session)
        try:
            shown, asked = node.exchange(), time.monotonic()
            answer = shown.kept(data)
        except NOT_YET:  # not before it was a leader that could not tell
            time.sleep(1)
            continue
        what = answer.json.get("status", answer.json.get("code"))
        took[what].append((time.monotonic() - asked) * 1000)
        if what not in ("request_dropped", "not_ready", "outcome_unknown", "not_leader",
                        503, 421):
            problems.append(f"without etcd: {answer!r}")
        if first is None and time.monotonic() > begun + 10:
            first = memory_kb(node), node.starts
        time.sleep(0.2)
    if first is not None and first[1] == node.starts and memory_kb(node) > first[0] + MEMORY_KB:
        problems.append(f"memory grew from {first[0]} to {memory_kb(node)} KiB")
    for what, times in took.items():
        print(f"cluster etcd: without etcd {len(times)} writes were answered {what}, after "
              f"{statistics.median(times):.1f} ms, at most {max(times):.1f} ms")
    for member in range(3):
        cluster.etcd.start(member)
    back = time.monotonic()
    world.await_acks()
    world.stalls["etcd back"].append(time.monotonic() - back)
    print(f"cluster etcd: service again {time.monotonic() - back:.2f} s after etcd's members began")
    cluster.revive()
    return problems[:5]


def load_hard(cluster):
    """A load that fills etcd within a minute or two."""
    origin = cluster.origin
    keys = [f"--operator-key={key_file(origin.folder / 'bench-operator.key', origin.operator)}",
            f"--oracle-key={key_file(origin.folder / 'bench-oracle.key', origin.oracle)}"]
    return subprocess.Popen(
        [perp, "bench", "run", "-o", "json", "--url",
         ",".join(f"http://127.0.0.1:{node.listen}" for node in cluster.nodes), *keys, "--schedule",
         "closed", "--sign", "inline", "--pipeline", "8", "--connections", "16", "--seconds", "600",
         "--mix", "place=1,cancel=1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@suite.case
def vault_full(world):
    """The vault takes nothing: the log grows past 50 % (alarm), 70 and 80 % (cancels only), never
    to the whole quota, and shrinks by itself when the vault does again."""
    cluster, rule = world.cluster, Rule(world.cluster)
    folder = cluster.vault / cluster.name / "segment"
    aside = cluster.vault / "aside"
    order = client.limit_body(world.workers[0].account.id, BTC_PRICE * 9 // 10, 20)

    def used():
        return until(lambda: [cluster.leader().metric("cluster_etcd_used_percent")], "percent")[0]

    def send(code, body, key):
        exchange = client.Exchange(0, 0, None, None, "")
        exchange._salt = world.salt
        data = exchange.signed(code, body, key)
        return until(lambda: rule.send(data, time.monotonic() + 60).json["status"], "answer")

    def is_closed():
        return send(client.PLACE_LIMIT, order, world.workers[0].account.session) == \
            "rejected_market_cancel_only"

    def logged(text):
        """Meanwhile segments are sealed, so that the log can go piece by piece."""
        cluster.leader().seal()
        return any(text in node.log() for node in cluster.nodes)

    world.rests.set()
    folder.rename(aside)
    folder.write_text("no folder\n")
    load, passed = load_hard(cluster), []
    try:
        for percent in (50, 70, 80):
            until(lambda percent=percent: logged(f"above {percent} %"),
                  lambda: f"the alarm at {percent} %, {used()} % used: " + cluster.tails(), 900)
            passed.append((time.monotonic(), until(
                lambda: cluster.leader().metric("journal_durable_sequence"), "sequence")))
        until(is_closed, lambda: f"CANCEL_ONLY at {used()} %: " + cluster.tails())
    finally:
        load.kill()
        load.wait()
        load.stderr.close()
        folder.unlink()
        aside.rename(folder)
    print("cluster etcd: without the vault {} records/s from 50 to 70 % of the quota, {} to 80 %"
          .format(*(f"{(count - first) / (at - begun):.0f}" for (begun, first), (at, count) in
                    zip(passed, passed[1:]))))
    failures = max(until(lambda node=node: [node.metric("cluster_vault_failures_total")],
                         "metrics")[0] for node in cluster.nodes)

    def shrinks():
        cluster.leader().seal()
        return used() < 50

    until(shrinks, lambda: f"room in etcd, {used()} %: " + cluster.tails(), 900)

    def opens():
        return send(client.MARKET_STATE, client.state_body(1, 0), cluster.origin.operator) == \
            "request_completed" and not is_closed()

    until(opens, lambda: "open market: " + cluster.tails())
    world.rests.clear()
    world.await_acks()
    return ([] if failures > 0 else ["no failure of the vault was counted"]) + [
        f"{node.name} found etcd full" for node in cluster.nodes if "etcd is full" in node.log()]


@suite.case
def same_name(world):
    """A second process with the name of a node that runs: exit 3 with its own sentence."""
    cluster = world.cluster
    folder = cluster.home / "twin"
    shutil.copytree(cluster.origin.folder / "data", folder)
    standby = until(lambda: next(node for node in cluster.nodes if node.state == "standby"),
                    "a standby")
    twin = Node(cluster, standby.name, folder)
    twin.folder = cluster.home / "twins" / "twin"  # its log is twins/NAME.log
    twin.folder.parent.mkdir()
    folder.rename(twin.folder)
    try:
        twin.start(f"--node.run_dir={cluster.home / 'twins' / 'run'}")
        twin.may_end = True
        code = twin.process.wait(200)
        said = "another process of this cluster has the name of this node" in twin.log()
        return [] if (code, said) == (REFUSED, True) else [f"exit {code}: {twin.log()[-600:]}"]
    finally:
        twin.process.kill()
        twin.process.wait()
        twin.process.stdout.close()
        twin.proxy.end()


def hash_of(folder, sequence):
    done = subprocess.run([perp, "replay", "--hash", "--to", str(sequence), "--data", folder],
                          capture_output=True, text=True, check=False)
    return sorted(line for line in done.stdout.splitlines() if "hash" in line) or done.stderr


@suite.case
def at_rest(world):
    """What was acknowledged is there once; each node's directory is whole, and their states are
    equal."""
    problems = end_load(world) + nothing_is_lost(world)
    audits, ends = [], []
    for node in world.cluster.nodes:
        done = subprocess.run([perp, "audit", "--data", node.folder, "-o", "json"],
                              capture_output=True, text=True, check=False)
        audits.append((node.name, done.returncode))
        if done.returncode != 0:
            problems.append(f"perp audit of {node.name}: {done.stdout[-800:]}{done.stderr[-400:]}")
        else:
            ends.append(json.loads(done.stdout)["last_sequence"])
    if len(ends) == len(world.cluster.nodes):
        hashes = [hash_of(node.folder, min(ends)) for node in world.cluster.nodes]
        if any(one != hashes[0] for one in hashes):
            problems.append(f"states at {min(ends)} differ: {hashes}")
    return problems


def main():
    if shutil.which("etcd") is None:
        print("cluster etcd: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    cluster = Cluster(perpd_program(), prepare, "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0", "--limits.open_orders=100000",
                      "--limits.account_open_orders=1000000", etcd_quota=64 << 20)
    try:
        return suite.run(World(cluster))
    finally:
        cluster.remove()


if __name__ == "__main__":
    sys.exit(main())
