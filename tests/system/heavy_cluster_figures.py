#!/usr/bin/env python3
"""heavy_cluster_figures.py BUILD [COUNT] [PART...] - the figures of docs/performance.md, A cluster.
Parts, all of them if none is named:

    load      answers/s and latency of one perpd alone, durability local, and of a cluster, in COUNT
              passes, at most three; the processor time of each; how old a standby's reads are
    catch_up  how fast a node that was away applies what it lacks
    stalls    how long orders stand still when a leader, etcd's leader, or both are killed, and at a
              handover, COUNT times each (20)

The cluster has the bounds of an installation, and nothing stands between its nodes and etcd. All
members of etcd, all nodes and the load share this machine. Without etcd-server it says so and ends
with 77, skipped.
"""
import contextlib
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
from processor import processor_s
from world import BTC_PRICE

BUILD = pathlib.Path(sys.argv[1]).resolve()
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 20
PARTS = [word for word in sys.argv[2:] if not word.isdigit()] or ["load", "catch_up", "stalls"]
BESIDE = 500  # orders/s beside the drill's clients while nodes are killed
LOADS = (("1,000 orders/s", ["--rate", "1000"]),
         ("256 in flight", ["--schedule", "closed", "--pipeline", "4"]),
         ("2,048 in flight", ["--schedule", "closed", "--pipeline", "32"]))
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


def command_of(ports, perpd, words):
    """perp bench run to the nodes of these ports."""
    keys = ["--operator-key", key_file(perpd.folder / "bench-operator.key", perpd.operator),
            "--oracle-key", key_file(perpd.folder / "bench-oracle.key", perpd.oracle)]
    return [perpd_program().with_name("perp"), "bench", "run", "-o", "json", "--url",
            ",".join(f"http://127.0.0.1:{port}" for port in ports), *keys, "--mix",
            "place=1,cancel=1", *words]


def load_of(ports, perpd, words):
    return subprocess.run(command_of(ports, perpd, words), capture_output=True, text=True,
                          check=False)


@contextlib.contextmanager
def beside(cluster, rate):
    """A load of so many orders/s, which goes when this begins and ends with it."""
    ports = [node.listen for node in cluster.nodes]
    process = subprocess.Popen(
        command_of(ports, cluster.origin,
                   ["--rate", str(rate), "--sign", "inline", "--seconds", "3600"]),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        first = cluster.leader().metric("journal_durable_sequence")
        until(lambda: cluster.leader().metric("journal_durable_sequence") > first + 2 * rate,
              f"{rate} orders/s")
        yield
    finally:
        process.kill()
        process.wait()


def idle_s():
    """How long processors had nothing to do, all of them together."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def costs(roles, run):
    """What `run` gives, and a text with the processor time of each role meanwhile, with all that
    `run` prepares; `load` is that of its own children, `idle` what nobody used."""
    def now():
        mine = os.times()
        return {**{role: sum(map(processor_s, of)) for role, of in roles.items()},
                "load": mine.children_user + mine.children_system, "idle": idle_s()}
    before, begun = now(), time.monotonic()
    done = run()
    after, took = now(), time.monotonic() - begun
    return done, f"{took:.1f} s: " + ", ".join(
        f"{role} {after[role] - before[role]:.1f}" for role in after)


def frames(leader):
    """What a leader has sent so far: frames, records in them, nanoseconds until they counted."""
    return [leader.metric(name) for name in
            ("cluster_commit_ns_count", "journal_records_total", "cluster_commit_ns_sum")]


def bench(name, ports, perpd, roles, leader=None):
    """Each load in its passes; the medians; the frames of `leader` in them and what they need."""
    found = {}
    for load, words in LOADS:
        first = leader and frames(leader)
        try:
            done, used = costs(roles, lambda words=words: load_of(
                ports, perpd, ["--seconds", "3", "--repeats", str(min(COUNT, 3)), *words]))
            count, records, spent = ([after - before for after, before in
                                      zip(frames(leader), first)] if leader else (0, 0, 0))
        except OSError as error:  # a node has ended: another one leads, or will
            print(f"{name}, {load}: no figures: {error}")
            continue
        if count:
            used += f"; {count} frames of {records / count:.0f} records, each counted after " \
                    f"{spent / count / 1e6:.1f} ms"
        if not done.stdout:
            print(f"{name}, {load}: no figures: {done.stderr}")
            continue
        median = json.loads(done.stdout)["median"]
        found[load] = [median[key]["median"] for key in
                       ("answered_per_s", "latency_us.p50", "latency_us.p99")]
        print("{}, {}: {:.0f} answers/s, p50 {:.1f} ms, p99 {:.1f} ms; processor time {}".format(
            name, load, found[load][0], found[load][1] / 1000, found[load][2] / 1000, used))
    return found


def alone():
    """One perpd with durability local."""
    perpd = client.Perpd(perpd_program(), *client.SMALL_TABLES, *client.LONG_WINDOW, *OPTIONS)
    try:
        exchange = perpd.start()
        exchange.set_price(BTC_PRICE)
        return bench("alone, local", [exchange.port], perpd, {"perpd": [perpd.process]})
    finally:
        perpd.remove()


def catch_up(cluster):
    """A standby that was away for a load applies what it lacks: records a second from its first
    line on, with its connection and all looks; and from its first record on."""
    away = next(node for node in cluster.nodes if node is not cluster.leader())
    first = until(lambda: away.metric("follower_applied_sequence"), away.whereabouts)
    away.kill()
    load_of([node.listen for node in cluster.nodes if node is not away], cluster.origin,
            ["--schedule", "closed", "--pipeline", "32", "--seconds", "30", "--sign", "inline"])
    last = until(lambda: cluster.leader().metric("journal_durable_sequence"), "the leader's end")
    away.start()
    until(lambda: away.state, away.whereabouts)
    begun = time.monotonic()
    seen = []

    def look():
        seen.append((time.monotonic(), away.metric("follower_applied_sequence")))
        return seen[-1][1] >= last
    until(look, away.whereabouts)
    ended, took = seen[-1][0], seen[-1][0] - begun
    since, applied = next(one for one in reversed(seen) if one[1] <= first or one is seen[0])
    print(f"catching up: {max(0, last - first)} records in {took:.2f} s, "
          f"{max(0, last - first) / took:.0f} a second; from the first one on in "
          f"{ended - since:.2f} s, {max(0, last - applied) / (ended - since):.0f} a second")


def kill_both(cluster):
    """The node that leads and etcd's leader, at once; what brings them back."""
    node, member = cluster.kill_leader(), cluster.etcd.kill_leader()

    def mend(_):
        cluster.etcd.start(member)
        node.rejoin()
    return mend


def handovers(world):
    handed = 0
    while handed < COUNT:
        begun = time.monotonic()
        try:
            done = world.cluster.leader().post("/admin/handover").status == 200
        except (OSError, EOFError):
            done = False
        world.await_acks()
        if done:
            handed += 1
            world.stalls["handover, longest gap between answers"].append(world.gap(begun))
        time.sleep(0.5)


def stalls(cluster):
    world = test_cluster.World(cluster)
    terms = []  # before and after each kill of etcd's leader

    def kill_etcd():
        terms.append(cluster.leader().metric("cluster_term"))
        return cluster.etcd.kill_leader()

    def start_etcd(member):
        terms.append(until(lambda: cluster.leader().metric("cluster_term"), "term"))
        cluster.etcd.start(member)

    world.begin()
    with beside(cluster, BESIDE):
        for _ in range(COUNT):
            world.stall("leader killed", cluster.kill_leader, Node.rejoin)
        for _ in range(COUNT):
            world.stall("etcd's leader killed", kill_etcd, start_etcd)
            time.sleep(1)
        for _ in range(max(1, COUNT // 4)):
            world.stall("both killed", lambda: kill_both(cluster), lambda mend: mend(None))
            time.sleep(1)
        unknown = world.unknown()
        handovers(world)
    for kind, times in world.stalls.items():
        print("{}, {} times: p50 {:.2f} s, p99 {:.2f} s, longest {:.2f} s".format(
            kind, len(times), *quantiles(times)))
    kept = sum(before == after for before, after in zip(terms[::2], terms[1::2]))
    print(f"etcd's leader killed: the term was unchanged in {kept} of {COUNT}; outcomes unknown at "
          f"handovers: {world.unknown() - unknown}")
    test_cluster.end_load(world)
    return test_cluster.nothing_is_lost(world)


def staleness(cluster, what):
    ages = []
    for _ in range(100):
        for node in cluster.nodes:
            try:
                seen = node.exchange().get("/api/v1/markets").header("X-Staleness-Ms")
            except (OSError, EOFError, TypeError):
                continue
            if seen is not None:
                ages.append(int(seen))
        time.sleep(0.02)
    print("a standby's reads, {}: p50 {} ms, p99 {} ms old, oldest {} ms".format(
        what, *quantiles(ages)))


def etcd_alone(cluster):
    """The same members, disk and processors, of which the idle nodes take little: what the leader's
    unit gets alone, one frame in flight and four."""
    program = BUILD / "bench" / "bench_repl"
    done = subprocess.run(
        [program, "--benchmark_min_time=0.5", "--benchmark_format=json",
         "--benchmark_filter=single|frames/(16|64)$"], capture_output=True, text=True, check=False,
        env=dict(os.environ, PERPD_BENCH_ETCD=cluster.leader().addresses()))
    for row in json.loads(done.stdout)["benchmarks"] if done.returncode == 0 else []:
        print("etcd alone, {}: {:.0f} records/s, counted after p50 {:.1f} ms, p99 {:.1f} ms".format(
            row["name"], row["records_per_s"], row["frame_p50_ns"] / 1e6,
            row["frame_p99_ns"] / 1e6))


def loads(cluster):
    """Those of a cluster against those of one perpd alone."""
    one = alone()
    leader = cluster.leader()
    ports = [node.listen for node in cluster.nodes]
    many = bench("cluster, replicated", ports, cluster.origin, {
        "leader": [leader.process],
        "standbys": [node.process for node in cluster.nodes if node is not leader],
        "etcd": cluster.etcd.processes}, leader)
    for load in set(one) & set(many):
        print("cluster : alone, {}: answers/s {:.2f}, p50 {:.2f}, p99 {:.2f}".format(
            load, *(many[load][i] / one[load][i] for i in range(3))))
    etcd_alone(cluster)
    time.sleep(3)
    staleness(cluster, "of an idle cluster")
    with beside(cluster, 1000):
        staleness(cluster, "at 1,000 orders/s")


def main():
    if shutil.which("etcd") is None:
        print("cluster figures: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} processors")
    problems = []
    for name, part in (("load", loads), ("catch_up", catch_up), ("stalls", stalls)):
        if name not in PARTS:
            continue
        cluster = Cluster(perpd_program(), test_cluster.prepare, *OPTIONS, is_drilled=False)
        try:
            cluster.leader()
            problems += part(cluster) or []
        finally:
            cluster.remove()
    print(f"load {os.getloadavg()[0]:.1f} after")
    print("\n".join(problems) if problems else "cluster figures: nothing is lost")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
