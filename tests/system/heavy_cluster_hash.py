#!/usr/bin/env python3
"""heavy_cluster_hash.py BUILD - the vote of a cluster on the state of its leader (replication.md,
Hash vote): a standby whose engines differ ends at the next 2015, and the cluster goes on; a leader
whose second engine differs, and one that differs from two others, end before they write it, and
another leads. Each comes back as a standby, and the journals are equal.

perpd_faulty is perpd with an engine in front that errs on a chosen order (planted/fault.c).
Without etcd-server it says so and ends with 77, skipped.
"""
import os
import pathlib
import shutil
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import client
import test_cluster
from cluster import Cluster, Rule, until
from cluster_load import judged
from harness import perpd_program

INTERVAL = 65536  # sequences between two 2015 (wire.md W3b)
PIPELINE = 64
OTHER_COURSE = "of another course of this exchange; keep it elsewhere"


def start_faulty(node, where, price):
    """Starts the node with an engine that errs on orders of that price."""
    node.kill()
    os.environ["FAULTY_STATE"] = f"{where}:{price}"
    node.start()
    del os.environ["FAULTY_STATE"]
    until(lambda: node.state, lambda: "standby: " + node.log()[-2000:])
    until(lambda: "current" in states(node).get(node.name, ""), f"{node.name} current")


def states(node):
    """The state of each node, as the survey of this one has it."""
    try:
        page = node.exchange().admin("/admin/cluster").json
        return {row["node"]: row["state"] for row in page.get("nodes", [])}
    except (OSError, EOFError, IndexError):
        return {}


def lead(cluster, node):
    """The lead goes to that node."""
    def handed():
        if node.state == "ready":
            return True
        cluster.leader().post(f"/admin/handover?node={node.name}")
        time.sleep(0.2)
        return False
    until(handed, f"the lead of {node.name}")


class Load(threading.Thread):
    """Commands one behind the other to whoever leads, until told to end."""

    def __init__(self, cluster, salt, account):
        super().__init__(daemon=True)
        self.cluster, self.account, self.ends, self.sequence = cluster, account, False, 0
        self.exchange = client.Exchange(0, 0, None, None, "")
        self.exchange._salt = salt

    def turn(self, connection):
        body = client.cancel_all_body(self.account.id)
        connection.send(b"".join(
            self.exchange.signed(client.CANCEL_ALL, body, self.account.session)
            for _ in range(PIPELINE)))
        for _ in range(PIPELINE):
            answer = connection.receive()
            if answer.status != 200:
                raise EOFError
            self.sequence = int(answer.json.get("sequence") or self.sequence)

    def run(self):
        while not self.ends:
            try:
                with client.Connection(self.cluster.leader().port, 5) as connection:
                    while not self.ends:
                        self.turn(connection)
            except (OSError, EOFError, TypeError):
                time.sleep(0.05)


def differ(world, where, name, price, sentence):
    """The node `name` errs; under load it ends by itself with 1 and says why."""
    cluster, problems = world["cluster"], []
    node = next(node for node in cluster.nodes if node.name == name)
    rule, account = Rule(cluster), world["accounts"][0]
    exchange = client.Exchange(0, 0, None, None, "")
    exchange._salt = world["salt"]
    begun = time.monotonic()
    body = client.limit_body(account.id, price, 200)
    data = exchange.signed(client.PLACE_LIMIT, body, account.session)
    rule.send(data, time.monotonic() + 60)  # a leader that errs answers as it errs
    loads = [Load(cluster, world["salt"], account) for account in world["accounts"]]
    for load in loads:
        load.start()
    until(lambda: node.process.poll() is not None, lambda: f"the end of {name}: " + cluster.tails())
    sequence = max(load.sequence for load in loads)
    code = node.process.returncode
    if code != 1 or sentence not in node.log():
        problems.append(f"{where}: {name} ended with {code}: {node.log()[-1500:]}")
    if not all((node.folder / f"divergence-{part}.image").exists()
               for part in ("primary", "follower")):
        problems.append(f"{where}: {name} left no images")
    leader = cluster.leader()
    if leader is node:
        problems.append(f"{where}: {name} leads still")
    until(lambda: max(load.sequence for load in loads) > sequence + INTERVAL // 8, "acks after it")
    for load in loads:
        load.ends = True
        load.join(60)
    come_back(node)
    make_room(cluster)
    print(f"cluster hash: {where}: {name} ended after sequence {sequence}, "
          f"{time.monotonic() - begun:.0f} s")
    return problems


def come_back(node):
    """Starts it again. Where the wrong state has written rows, the start refuses them, and what
    operations.md says of that is done."""
    node.may_end = True
    node.start()
    node.may_end = True
    until(lambda: node.state or node.process.poll() is not None, lambda: node.whereabouts())
    if node.state is None and node.process.returncode == 3 and OTHER_COURSE in node.log():
        shutil.move(node.folder / "history", node.folder.parent / f"history-{node.name}")
        node.rejoin()


def make_room(cluster):
    """What the load has put into etcd goes into the vault."""
    def has_room():
        try:
            cluster.leader().seal()  # once in 10 s
            return cluster.leader().metric("cluster_etcd_used_percent") < 40
        except (OSError, EOFError, TypeError):
            return False
    until(has_room, "room in etcd")


def drill(clients):
    cluster = clients.cluster
    salt, accounts = cluster.prepared  # what the load cancels is its own
    world = {"cluster": cluster, "salt": salt, "accounts": accounts[test_cluster.WORKERS:]}
    clients.begin()
    leader = cluster.leader()
    standby = next(node for node in cluster.nodes if node is not leader)
    start_faulty(standby, "both", 7780)
    problems = differ(world, "a standby differs", standby.name, 7780,
                      "the state of this node is not the leader's")
    for where, price, sentence in (
            ("once", 7781, "is not that of its second engine"),
            ("both", 7782, "is not that of two other nodes, which agree")):
        node = next(node for node in cluster.nodes if node is not cluster.leader())
        start_faulty(node, where, price)
        lead(cluster, node)
        problems += differ(world, f"a leader differs ({where})", node.name, price, sentence)
    test_cluster.end_load(clients)
    return problems + equal_at_rest(clients)


def equal_at_rest(clients):
    """All nodes have the frames of the one that has most, and no two differ."""
    cluster = clients.cluster
    time.sleep(2)
    for node in cluster.nodes:
        node.kill()
    chains = [test_cluster.chain_of(node.folder) for node in cluster.nodes]
    shortest = min(len(chain) for chain in chains)
    if any(a.data != b.data for chain in chains[1:] for a, b in zip(chain, chains[0])):
        return ["journals differ"]
    codes = [record.code for frame in chains[0][:shortest] for record in frame.records]
    problems = judged(clients, max(chains, key=len))
    return problems + ([] if codes.count(2015) >= 3 else [f"{codes.count(2015)} records 2015"])


def main():
    if shutil.which("etcd") is None:
        print("cluster hash: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    program = perpd_program().parent / "tests" / "perpd_faulty"
    cluster = Cluster(program, lambda exchange: test_cluster.prepare(exchange,
                                                                     2 * test_cluster.WORKERS),
                      "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0")
    try:
        problems = drill(test_cluster.World(cluster))
    finally:
        cluster.remove()
    print("\n".join(problems) if problems else "cluster hash: passed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
