#!/usr/bin/env python3
"""heavy_cluster_clocks.py BUILD [TAKEOVERS] - a cluster whose clocks are wrong: by 200 ms to either
side, one too fast and one too slow by 500 ppm. Leaders are killed under load TAKEOVERS times (10):
t rises from record to record in the journals of all nodes, and nothing is lost. Then the clock of
one node is further off than cluster.clock_ms: it says so within 2 s, and leads never again.

perpd_stepped is perpd with a wall clock that a test sets (planted/step.c). Without etcd-server it
says so and ends with 77, skipped.
"""
import os
import pathlib
import shutil
import struct
import sys
import tempfile
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import test_cluster
from cluster import Cluster, Node, until
from harness import perpd_program

TAKEOVERS = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 10
CLOCK_MS = 500  # of the cluster: two nodes may be 400 ms apart, and drift
OFFSETS_MS = {"n0": -200, "n1": 200, "n2": 0}
DRIFTS_PPM = {"n0": 500, "n1": -500, "n2": 0}
OFF_MS = 2000
ALARM = "nodes that cannot lead for their clocks: 1"


class Clocks(threading.Thread):
    """Writes the file of each clock; a drift begins anew after 200 ms."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.offsets, self.ends = folder, dict(OFFSETS_MS), False
        for name in [*OFFSETS_MS, "origin"]:
            self.path(name).write_bytes(bytes(8))

    def path(self, name):
        return self.folder / f"clock-{name}"

    def environment(self, name):
        return {"STEPPED_CLOCK": str(self.path(name))}

    def run(self):
        begun = time.monotonic()
        while not self.ends:
            passed_ns = int((time.monotonic() - begun) * 1e9)
            for name, offset_ms in self.offsets.items():
                drifted_ns = passed_ns % 400_000_000_000 * DRIFTS_PPM[name] // 10**6
                ns = offset_ms * 1_000_000 + drifted_ns
                with open(self.path(name), "r+b") as file:
                    file.write(struct.pack("<q", ns))
            time.sleep(0.02)


def takeovers(world):
    """Kills whoever leads, again and again."""
    cluster = world.cluster

    world.begin()
    for _ in range(TAKEOVERS):
        world.stall("leader", cluster.kill_leader, Node.rejoin)
    return []


def one_is_off(world, clocks):
    """A standby that starts with a wrong clock alarms, and does not lead when the leader ends."""
    cluster, problems = world.cluster, []
    away = next(node for node in cluster.nodes if node is not cluster.leader())

    def start_with(offset_ms):
        away.kill()
        clocks.offsets[away.name] = offset_ms
        time.sleep(0.2)  # the file is written
        away.start()
        until(lambda: away.state, "standby: " + away.log()[-2000:])

    def alarms():
        return sum(node.log().count(ALARM) for node in cluster.nodes)

    before = alarms()
    start_with(-OFF_MS)
    begun = time.monotonic()
    until(lambda: alarms() > before, "alarm: " + cluster.tails())
    took = time.monotonic() - begun
    if took > 2 + 1:  # the journal's thread of a loaded machine has a second
        problems.append(f"the alarm came after {took:.1f} s")
    for _ in range(2):
        leader = cluster.leader()
        leader.kill()
        world.await_acks()
        if cluster.leader() is away:
            problems.append(f"{away.name} leads, whose clock is {OFF_MS} ms behind")
        leader.rejoin()
    start_with(OFFSETS_MS[away.name])
    print(f"cluster clocks: the alarm after {took:.2f} s")
    until(lambda: any("clocks of all nodes agree again" in node.log() for node in cluster.nodes),
          "the alarm's end")
    return problems


def main():
    if shutil.which("etcd") is None:
        print("cluster clocks: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    program = perpd_program().parent / "tests" / "perpd_stepped"
    with tempfile.TemporaryDirectory(prefix="perpd-clocks-") as folder:
        clocks = Clocks(pathlib.Path(folder))
        os.environ.update(clocks.environment("origin"))
        clocks.start()
        cluster = Cluster(program, test_cluster.prepare, "--limits.rate_limits=off",
                          "--exchange.oracle_max_age_ms=0", "--limits.open_orders=100000",
                          "--limits.account_open_orders=1000000",
                          environment=clocks.environment,
                          node_options=[f"--cluster.clock_ms={CLOCK_MS}"])
        try:
            world = test_cluster.World(cluster)
            problems = (takeovers(world) + one_is_off(world, clocks) +
                        test_cluster.end_load(world) + test_cluster.nothing_is_lost(world))
        finally:
            cluster.remove()
            clocks.ends = True
            clocks.join()
    print("\n".join(problems) if problems else "cluster clocks: passed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
