#!/usr/bin/env python3
"""heavy_cluster_rejoin.py BUILD [SECONDS] - an old leader with frames that the log does not have
comes back, and its process is killed before a call that changes a file, one after the other as far
as SECONDS (240) go, else in equal steps (planted/killed.c; replication.md, A node): the next start
keeps exactly these frames in discarded/, and its journal and what it shows are the others'.

Without etcd-server it says so and ends with 77, skipped.
"""
import pathlib
import shutil
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import test_cluster
from cluster import Cluster, until
from cluster_chain import chain_of
from cluster_load import World, end_load, nothing_is_lost
from harness import perpd_program

SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 240
LEAST = 20  # calls at which it is killed


def cut_off(world):
    """A leader that etcd did not hear until another led, and the frames that it alone has."""
    cluster = world.cluster

    def attempt():
        old = cluster.hold_leader()
        old.proxy.tell("hold")
        old.state = None  # it forms frames for a moment, and none of them counts
        cluster.leader()
        world.await_acks()
        old.kill()
        old.proxy.tell("pass")  # what it had sent is refused by now
        theirs = {frame.number: frame.data for frame in chain_of(cluster.leader().folder)}
        alone = [frame for frame in chain_of(old.folder) if theirs.get(frame.number) != frame.data]
        if not alone:  # of a slow machine: it had lost its session before
            old.rejoin()
        return (old, alone) if alone else None

    found = until(attempt, lambda: "frame of an old leader alone: " + cluster.tails())
    end_load(world)
    return found


def kept(node):
    """What is in its discarded/, by name."""
    return {path.name: path.read_bytes() for path in (node.folder / "discarded").glob("*")}


def sizes(files):
    return {name: len(data) for name, data in files.items()}


def starts(node, **environment):
    """Starts it on the old leader's directory or what a start before has made of it; whether it
    came so far as to serve."""
    node.environment = environment
    node.start()
    node.may_end = True
    until(lambda: node.state or node.process.poll() is not None,
          lambda: f"start with {environment}: " + node.whereabouts())
    return node.process.poll() is None


def reads(node, world, sequence):
    """What the node shows of the accounts at this sequence."""
    def read(account, target):
        got = node.exchange().get(target, headers=[("X-API-KEY", account.api_key),
                                                   ("X-Min-Sequence", str(sequence))])
        return (got.status, got.json) if got.status == 200 else None

    return [until(lambda target=target, worker=worker: read(worker.account, target),
                  lambda: f"reads: {node.whereabouts()}")
            for worker in world.workers
            for target in ("/api/v1/account", "/api/v1/orders?limit=100",
                           "/api/v1/fills?subaccount_index=0")]


def check(world, node, wanted, shown):
    """What is wrong with a node that has rejoined."""
    problems = []
    if (got := kept(node)) != wanted:
        problems.append(f"discarded/ has {sizes(got)}, and {sizes(wanted)} was expected")
    if reads(node, world, shown[0]) != shown[1]:
        problems.append("it shows other orders or balances than the leader")
    theirs = {frame.number: frame.data for frame in chain_of(world.cluster.leader().folder)}
    ours = chain_of(node.folder)
    if ours[-1].number < shown[2] or any(theirs.get(frame.number, frame.data) != frame.data
                                         for frame in ours):
        problems.append(f"its journal, up to frame {ours[-1].number}, is not the leader's")
    return problems


def calls_to_be_killed_at(count, seconds_each):
    """All, or as many in equal steps as there is time for."""
    step = max(1, -(-count * seconds_each // SECONDS))
    return range(1, count + 1, int(min(step, max(1, count // LEAST))))


def drill(world):
    world.begin()
    node, alone = cut_off(world)
    wanted = {f"{alone[0].boot}-{alone[0].number}-{alone[-1].number}.frames":
              b"".join(frame.data for frame in alone)}
    leader = world.cluster.leader()
    last = max(ack[2] or 0 for worker in world.workers for ack in worker.acked)
    shown = last, reads(leader, world, last), chain_of(leader.folder)[-1].number
    before = node.folder.with_name("before")
    shutil.copytree(node.folder, before)

    def again():
        node.kill()
        shutil.rmtree(node.folder)
        shutil.copytree(before, node.folder)

    node.program = perpd_program().parent / "tests" / "perpd_killed"
    called, begun = world.cluster.home / "calls", time.monotonic()
    if not starts(node, KILLED_CALLS=str(called)):
        return [f"not killed: {node.log()[-1000:]}"]
    count = called.stat().st_size
    problems = check(world, node, wanted, shown)
    killed = 0
    chosen = calls_to_be_killed_at(count, 2 * (time.monotonic() - begun))
    for call in chosen:
        again()
        if starts(node, KILLED_AT=str(call)):
            continue  # a call that this start did not need
        killed += 1
        node.kill()
        problems += [f"killed at call {call} of {count}: {text}" for text in
                     ([f"no start: {node.log()[-1000:]}"] if not starts(node)
                      else check(world, node, wanted, shown))]
        if problems:
            return problems
    print(f"cluster rejoin: {len(alone)} frames of an old leader alone; killed at {killed} of "
          f"{count} calls")
    if killed < min(LEAST, count) * 3 // 4:
        problems.append(f"killed at {killed} calls of {list(chosen)}")
    return problems + nothing_is_lost(world)


def main():
    if shutil.which("etcd") is None:
        print("cluster rejoin: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    cluster = Cluster(perpd_program(), test_cluster.prepare, "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0", "--limits.open_orders=100000",
                      "--limits.account_open_orders=1000000")
    try:
        problems = drill(World(cluster))
    finally:
        cluster.remove()
    print("\n".join(problems) if problems else "cluster rejoin: passed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
