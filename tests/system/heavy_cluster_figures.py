#!/usr/bin/env python3
"""heavy_cluster_figures.py BUILD [COUNT] - the figures of docs/performance.md, A cluster: how long
orders stand still when the leader or etcd's leader is killed and at a handover, COUNT times each
(20); how old a standby's reads are; how fast one that was away catches up; orders/s and latency of
a cluster, and of one perpd with durability local in the same run.

All members of etcd, all nodes and the load share this machine. Without etcd-server it says so and
ends with 77, skipped.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import client
import test_cluster
from cluster import Cluster, Node, until
from harness import perpd_program
from world import BTC_PRICE

COUNT = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 20
LOADS = (("1,000 orders/s", ["--rate", "1000"]),
         ("as fast as it goes", ["--schedule", "closed", "--pipeline", "4"]))
OPTIONS = ("--limits.rate_limits=off", "--exchange.oracle_max_age_ms=0",
           "--limits.open_orders=100000", "--limits.account_open_orders=1000000")


def quantiles(values):
    ordered = sorted(values)
    return (ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)],
            ordered[-1])


def key_file(path, key):
    path.touch(mode=0o600)
    path.write_text(f"curve = ed25519\npublic = {client.b64(key.public)}\n"
                    f"secret = {client.b64(key._secret[:32])}\n")
    return path


def load_of(ports, perpd, words):
    """perp bench run to the nodes of these ports."""
    keys = ["--operator-key", key_file(perpd.folder / "bench-operator.key", perpd.operator),
            "--oracle-key", key_file(perpd.folder / "bench-oracle.key", perpd.oracle)]
    return subprocess.run(
        [perpd_program().with_name("perp"), "bench", "run", "-o", "json", "--url",
         ",".join(f"http://127.0.0.1:{port}" for port in ports), *keys, "--mix",
         "place=1,cancel=1", *words], capture_output=True, text=True, check=False)


def bench(name, ports, perpd):
    """Both loads, each three times; the medians."""
    found = {}
    for load, words in LOADS:
        done = load_of(ports, perpd, ["--seconds", "4", "--repeats", "3", *words])
        if not done.stdout:
            print(f"{name}, {load}: no figures: {done.stderr}")
            continue
        median = json.loads(done.stdout)["median"]
        found[load] = [median[key]["median"] for key in
                       ("answered_per_s", "latency_us.p50", "latency_us.p99")]
        print("{}, {}: {:.0f} answers/s, p50 {:.1f} ms, p99 {:.1f} ms".format(
            name, load, found[load][0], found[load][1] / 1000, found[load][2] / 1000))
    return found


def alone():
    """One perpd with durability local."""
    perpd = client.Perpd(perpd_program(), *client.SMALL_TABLES, *client.LONG_WINDOW, *OPTIONS)
    try:
        exchange = perpd.start()
        exchange.set_price(BTC_PRICE)
        return bench("alone, local", [exchange.port], perpd)
    finally:
        perpd.remove()


def catch_up(cluster):
    """A standby that was away for a load, most of which the vault alone has by then, applies what
    it lacks: records a second from its first line on, with its connection and all looks."""
    away = next(node for node in cluster.nodes if node is not cluster.leader())
    first = until(lambda: away.metric("follower_applied_sequence"), away.whereabouts)
    away.kill()
    load_of([node.listen for node in cluster.nodes], cluster.origin,
            ["--schedule", "closed", "--pipeline", "4", "--seconds", "20"])
    last = until(lambda: cluster.leader().metric("journal_durable_sequence"), "the leader's end")
    away.start()
    until(lambda: away.state, away.whereabouts)
    begun = time.monotonic()
    until(lambda: away.metric("follower_applied_sequence") >= last, away.whereabouts)
    took = time.monotonic() - begun
    print(f"catching up: {max(0, last - first)} records in {took:.2f} s, "
          f"{max(0, last - first) / took:.0f} a second")


def stalls(world):
    cluster = world.cluster

    for _ in range(COUNT):
        world.stall("leader killed", cluster.kill_leader, Node.rejoin)
    for _ in range(COUNT):
        world.stall("etcd's leader killed", cluster.etcd.kill_leader, cluster.etcd.start)
        time.sleep(1)
    handed = 0
    while handed < COUNT:
        begun = time.monotonic()
        try:
            done = cluster.leader().post("/admin/handover").status == 200
        except (OSError, EOFError):
            done = False
        world.await_acks()
        if done:
            handed += 1
            world.stalls["handover, longest gap between answers"].append(world.gap(begun))
        time.sleep(0.5)
    for kind, times in world.stalls.items():
        print("{}, {} times: p50 {:.2f} s, p99 {:.2f} s, longest {:.2f} s".format(
            kind, len(times), *quantiles(times)))


def staleness(world, what):
    ages = []
    for _ in range(100):
        for node in world.cluster.nodes:
            try:
                seen = node.exchange().get("/api/v1/markets").header("X-Staleness-Ms")
            except (OSError, EOFError, TypeError):
                continue
            if seen is not None:
                ages.append(int(seen))
        time.sleep(0.02)
    print("a standby's reads, {}: p50 {} ms, p99 {} ms old, oldest {} ms".format(
        what, *quantiles(ages)))


def main():
    if shutil.which("etcd") is None:
        print("cluster figures: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} processors")
    one = alone()
    cluster = Cluster(perpd_program(), test_cluster.prepare, *OPTIONS)
    try:
        world = test_cluster.World(cluster)
        cluster.leader()
        many = bench("cluster, replicated", [node.listen for node in cluster.nodes],
                         cluster.origin)
        for load in set(one) & set(many):
            print("cluster : alone, {}: answers/s {:.2f}, p50 {:.2f}, p99 {:.2f}".format(
                load, *(many[load][i] / one[load][i] for i in range(3))))
        time.sleep(3)
        staleness(world, "of an idle cluster")
        catch_up(cluster)
        world.begin()
        staleness(world, "at about 200 orders/s")
        stalls(world)
        test_cluster.end_load(world)
        problems = test_cluster.nothing_is_lost(world)
    finally:
        cluster.remove()
    print(f"load {os.getloadavg()[0]:.1f} after")
    print("\n".join(problems) if problems else "cluster figures: nothing is lost")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
